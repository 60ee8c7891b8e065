"""The official MCP SDK over a channel: its own client and server pass calls, as they do over its own transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp
import pytest
from channels import channel, run, until
from mcp.client.session import ClientSession
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

import gambeson
import gambeson.channel.mcp
import gambeson.mcp
from gambeson.channel import Channel, Connection
from gambeson.channel.mcp import caller, client, serve


def bank() -> MCPServer:
    server = MCPServer("bank", log_level="CRITICAL")

    @server.tool()
    def pay(amount: int, note: str = "") -> str:
        return f"{caller()} pays {amount}, and notes {len(note)}"

    @server.tool()
    def print_money(length: int) -> str:
        return "$" * length

    @server.tool()
    def tear(refuse: bool) -> str:
        """Says half a character, which JSON cannot carry."""
        if refuse:
            raise mcp.MCPError(code=1, message="\ud800")
        return "\ud800"

    @server.tool()
    async def count(context: Context) -> str:
        for number in range(3):
            await context.report_progress(number, 3)
        return "counted"

    @server.tool()
    async def sleep() -> str:
        await asyncio.sleep(60)
        return "awake"

    return server


@asynccontextmanager
async def banking(**how: Any) -> AsyncIterator[tuple[Channel, Channel, Channel]]:
    async with channel(3) as (ada, ben, cem), serve(ben, bank(), **how):
        yield ada, ben, cem


def text(result: Any) -> str:
    (part,) = result.content
    return str(part.text)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_calls_pass_and_a_tool_knows_its_caller(mode: Any) -> None:
    async def main() -> None:
        async with banking() as (ada, ben, cem):
            async with mcp.Client(client(ada, ben.did), mode=mode) as one, mcp.Client(client(cem, ben.did), mode=mode) as two:
                assert "pay" in [tool.name for tool in (await one.list_tools()).tools]
                calls = [it.call_tool("pay", {"amount": n}) for it in (one, two) for n in range(5)]
                paid = [text(result) for result in await asyncio.gather(*calls)]
                assert paid == [f"{it.did} pays {n}, and notes 0" for it in (ada, cem) for n in range(5)]
                long = await one.call_tool("pay", {"amount": 1, "note": "x" * 200_000})
                assert text(long).endswith("notes 200000")
                assert (await one.call_tool("pay", {"amount": "much"})).is_error
                seen: list[float] = []

                async def progress(progress: float, total: float | None, message: str | None) -> None:
                    seen.append(progress)

                assert text(await one.call_tool("count", {}, progress_callback=progress)) == "counted"
                assert seen == [0, 1, 2]
            with pytest.raises(LookupError):
                caller()

    run(main)


def test_a_client_session_lives_on_the_streams() -> None:
    async def main() -> None:
        async with banking() as (ada, ben, _), client(ada, ben.did) as streams, ClientSession(*streams) as session:
            await session.initialize()
            assert text(await session.call_tool("pay", {"amount": 5})).startswith(ada.did)

    run(main)


def test_what_is_too_large_is_refused_to_the_call_alone() -> None:
    async def main() -> None:
        async with banking(max_message=100_000) as (ada, ben, _):
            async with mcp.Client(client(ada, ben.did, max_message=50_000)) as calls:
                for tool, arguments in (("pay", {"amount": 1, "note": "x" * 50_000}), ("print_money", {"length": 100_000})):
                    with pytest.raises(mcp.MCPError) as refused:
                        await calls.call_tool(tool, arguments)
                    assert refused.value.data == {"reason": "message-too-large"}
                assert text(await calls.call_tool("print_money", {"length": 3})) == "$$$"

    run(main)


def test_what_json_cannot_carry_is_refused_to_the_call_alone() -> None:
    async def main() -> None:
        async with banking() as (ada, ben, _), mcp.Client(client(ada, ben.did), read_timeout_seconds=20) as calls:
            torn: list[tuple[str, dict[str, Any]]] = [
                ("pay", {"amount": 1, "note": "\ud800"}),
                ("tear", {"refuse": False}),
                ("tear", {"refuse": True}),
            ]
            for tool, arguments in torn:
                with pytest.raises(mcp.MCPError) as refused:
                    await calls.call_tool(tool, arguments)
                assert refused.value.data == {"reason": "bad-json"}
            assert text(await calls.call_tool("print_money", {"length": 3})) == "$$$"

    run(main)


def test_calls_end_when_an_answer_cannot_be_sent_for_a_mistake_here(monkeypatch: pytest.MonkeyPatch) -> None:
    written = gambeson.channel.mcp._written

    async def mistaken(connection: Connection, item: SessionMessage) -> SessionMessage | None:
        if isinstance(item.message, JSONRPCResponse):
            raise RuntimeError("a mistake")
        return await written(connection, item)

    async def main() -> None:
        async with banking() as (ada, ben, _), mcp.Client(client(ada, ben.did), read_timeout_seconds=20) as calls:
            monkeypatch.setattr(gambeson.channel.mcp, "_written", mistaken)
            with pytest.raises(mcp.MCPError) as closed:
                await calls.call_tool("print_money", {"length": 1})
            assert "closed" in str(closed.value).lower()

    run(main)


def test_who_is_not_admitted_and_who_serves_nothing_are_not_connected() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            async with serve(ben, bank(), admit=lambda did: False):
                with pytest.raises(gambeson.NotConnected) as refused:
                    await client(ada, ben.did).__aenter__()
                assert refused.value.code == "not-permitted"
            hearing = asyncio.create_task(ben.receive())
            with pytest.raises(gambeson.NotConnected) as refused:
                await client(ada, ben.did).__aenter__()
            assert refused.value.code == "no-service"
            hearing.cancel()

    run(main)


def test_a_member_has_so_many_connections_and_one_that_was_killed_is_found_out() -> None:
    async def main() -> None:
        async with banking(max_per_member=1, idle=1) as (ada, ben, cem):
            async with mcp.Client(client(ada, ben.did)) as calls:
                with pytest.raises(gambeson.NotConnected) as refused:
                    await client(ada, ben.did).__aenter__()
                assert refused.value.code == "busy"
                await asyncio.sleep(3)
                # It is silent, and there.
                assert text(await calls.call_tool("print_money", {"length": 1})) == "$"
                # As if its process were killed: it knows nothing of a connection, and says nothing.
                lost = await cem.connect(ben.did, "mcp")
                cem._board._connections.clear()
                cem._board._answer = lambda *_: None  # type: ignore[method-assign]
                reading = asyncio.create_task(cem.receive())
                await until(lambda: not any(peer == cem.did for peer, _ in ben._board._connections))
                reading.cancel()
                assert not lost.closed
                assert text(await calls.call_tool("print_money", {"length": 1})) == "$"

    run(main)


def test_a_call_has_the_sessions_deadline() -> None:
    async def main() -> None:
        async with banking() as (ada, ben, _), mcp.Client(client(ada, ben.did), read_timeout_seconds=5) as calls:
            with pytest.raises(mcp.MCPError) as passed:
                await calls.call_tool("sleep", {})
            assert "imed out" in str(passed.value)
            assert text(await calls.call_tool("print_money", {"length": 1})) == "$"

    run(main)


def test_calls_end_when_the_server_leaves_the_channel() -> None:
    async def main() -> None:
        async with banking() as (ada, ben, _), mcp.Client(client(ada, ben.did)) as calls:
            sleeping = asyncio.create_task(calls.call_tool("sleep", {}))
            await asyncio.sleep(0.2)
            await ada.remove(ben.did)
            with pytest.raises(mcp.MCPError) as closed:
                await sleeping
            assert "closed" in str(closed.value).lower()

    run(main)


def test_signed_calls_pass_a_policy_over_a_channel_too() -> None:
    async def main() -> None:
        signer = gambeson.Agent.generate()
        trust = gambeson.CardStore(signer.first_card(valid_for=3600))
        verify = gambeson.mcp.ServerMiddleware(audience="did:web:bank.example", resolver=trust)
        server = MCPServer("bank", middleware=[verify], log_level="CRITICAL")

        @server.tool()
        def pay(amount: int) -> str:
            return f"{gambeson.mcp.caller()['did']} pays {amount}"

        async with channel(2) as (ada, ben), serve(ben, server):
            signing = gambeson.mcp.Signer(signer, audience="did:web:bank.example")
            async with mcp.Client(signing.transport(client(ada, ben.did))) as calls:
                assert text(await calls.call_tool("pay", {"amount": 5})) == f"{signer.did} pays 5"
            async with mcp.Client(client(ada, ben.did)) as calls:
                with pytest.raises(mcp.MCPError) as refused:
                    await calls.call_tool("pay", {"amount": 5})
                assert refused.value.data == {"reason": "unsecured"}

    run(main)
