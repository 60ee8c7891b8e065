"""An MCP server as anybody would write it, with the middleware: `python mcp_server.py stdio|http FOLDER ROOT`.

Whoever has cards in the folder is known; ROOT may do anything, and delegate it; `status.jwt` is its status list.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import uvicorn
from mcp.server import MCPServer

import gambeson.mcp

AUDIENCE = "did:web:bank.example"

resolver = gambeson.CardDirectory(sys.argv[2])
status = gambeson.StatusStore()
status.add((Path(sys.argv[2]) / "status.jwt").read_text(), resolver=resolver)
verify = gambeson.mcp.ServerMiddleware(
    audience=AUDIENCE,
    resolver=resolver,
    status=status,
    policy=gambeson.Policy(trust=[(AUDIENCE, sys.argv[3])]),
)
server = MCPServer("bank", middleware=[verify], log_level="ERROR")


@server.tool()
def pay(amount: int, to: str = "nobody") -> str:
    """Pays, in the name of who asks."""
    return f"{gambeson.mcp.caller()['did']} pays {amount} to {to}"


if sys.argv[1] == "stdio":
    server.run()
else:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # Who reads the number may connect at once.
        print(listener.getsockname()[1], flush=True)
        uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error")).run([listener])
