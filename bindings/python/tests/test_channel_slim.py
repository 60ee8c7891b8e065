"""Channels over a stock node of SLIM, which runs as a process of its own, out of the wheel `slim-bindings`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import mcp
from channels import channel, run
from mcp.server import MCPServer

from gambeson.channel.mcp import caller, client, serve

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_members_talk_through_a_stock_node(node: str) -> None:
    async def main() -> None:
        async with channel(3, node) as (ada, ben, cem):
            for number in range(20):
                await ada.send(b"%d" % number)
            for hearer in (ben, cem):
                assert [(await hearer.receive()).data for _ in range(20)] == [b"%d" % number for number in range(20)]
            await ada.remove(cem.did)
            await ada.send(b"between us")
            assert (await ben.receive()).data == b"between us"
            assert [message.data async for message in cem] == []

    run(main)


def test_tools_are_called_through_a_stock_node(node: str) -> None:
    server = MCPServer("bank", log_level="CRITICAL")

    @server.tool()
    def pay(amount: int) -> str:
        return f"{caller()} pays {amount}"

    async def main() -> None:
        async with channel(2, node) as (ada, ben), serve(ben, server), mcp.Client(client(ada, ben.did)) as calls:
            paid = await asyncio.gather(*(calls.call_tool("pay", {"amount": number}) for number in range(5)))
            said = [part.text for result in paid for part in result.content if part.type == "text"]
            assert said == [f"{ada.did} pays {number}" for number in range(5)]

    run(main)


def test_the_panel_votes_through_a_stock_node(node: str) -> None:
    panel = [sys.executable, "-W", "error", str(EXAMPLES / "panel.py"), node]
    result = subprocess.run(panel, capture_output=True, text=True, timeout=120)
    assert (result.stderr, result.returncode) == ("", 0)
    assert result.stdout.splitlines()[-1] == "The panel votes: 2 for north, 1 for south"
