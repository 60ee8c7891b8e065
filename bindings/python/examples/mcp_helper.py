"""An agent that calls the MCP server of `mcp_bank.py`, which runs in a process of its own, with a delegation of its owner.

    python mcp_helper.py
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import gambeson.mcp
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

BANK = "did:web:bank.example"
SERVER = Path(__file__).with_name("mcp_bank.py")


async def main(folder: str) -> None:
    owner, helper = gambeson.Agent.generate(), gambeson.Agent.generate()
    cards = gambeson.CardDirectory(folder)
    for agent in (owner, helper):
        cards.path(agent.did).write_text(agent.first_card(valid_for=86_400).to_lines())

    # The owner lets the helper pay at most 100 a call, for an hour.
    capability = {"action": "tools/call/pay", "resource": BANK, "caveats": [{"argument": "/amount", "atMost": 100}]}
    chain = [owner.delegate(helper.did, [capability], valid_for=3600)]

    signer = gambeson.mcp.Signer(helper, audience=BANK, chain=chain)
    server = StdioServerParameters(command=sys.executable, args=[str(SERVER), folder, owner.did])
    async with Client(signer.transport(stdio_client(server))) as client:
        for amount in (50, 101):
            try:
                paid = await client.call_tool("pay", {"amount": amount})
                for part in paid.content:
                    if part.type == "text":
                        print(part.text.replace(helper.did, "the helper"))
            except MCPError as refused:
                print(f"{amount} is refused:", refused.data["reason"])


with TemporaryDirectory() as folder:
    asyncio.run(main(folder))
