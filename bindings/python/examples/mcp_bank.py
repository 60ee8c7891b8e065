"""An MCP server that takes signed calls only, over standard input and output.

    python mcp_bank.py CARDS OWNER

CARDS is the folder with the identity cards of its callers. OWNER is the DID that may do anything here, and delegate it.
"""

import sys

import gambeson.mcp
from mcp.server import MCPServer

BANK = "did:web:bank.example"

verify = gambeson.mcp.ServerMiddleware(
    audience=BANK,
    resolver=gambeson.CardDirectory(sys.argv[1]),
    policy=gambeson.Policy(trust=[(BANK, sys.argv[2])]),
)
server = MCPServer("bank", middleware=[verify], log_level="ERROR")


@server.tool()
def pay(amount: int) -> str:
    """Pays the amount in the name of the caller."""
    return f"{gambeson.mcp.caller()['did']} pays {amount}"


server.run()
