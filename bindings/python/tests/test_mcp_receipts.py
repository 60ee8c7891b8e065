"""Receipts of MCP servers, the methods that must be signed, and answers that no honest server sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

import gambeson
from gambeson import Agent, CardStore
from gambeson.mcp import ACTING, PROOF, RECEIPT, REFUSED, ServerMiddleware, Signer

AUDIENCE = "did:web:bank.example"
AGENT, BANK, THIEF = (Agent.generate() for _ in range(3))
TRUST = CardStore(*(it.first_card(valid_for=3600) for it in (AGENT, BANK, THIEF)))


def bank(receipts: Agent | None, **options: Any) -> MCPServer[Any]:
    verify = ServerMiddleware(audience=AUDIENCE, resolver=TRUST, receipts=receipts, **options)
    server: MCPServer[Any] = MCPServer("bank", middleware=[verify], log_level="ERROR")

    @server.tool()
    def pay(amount: int) -> str:
        return f"{gambeson.mcp.caller()['did']} pays {amount}"

    @server.resource("bank://balance")
    def balance() -> str:
        return f"{gambeson.mcp.caller()['did']} has 5"

    @server.prompt()
    def ask() -> str:
        return "How much?"

    return server


def talk(server: MCPServer[Any], signer: Signer | None, work: Callable[[Client], Any]) -> None:
    """A client over streams in memory, through a signer's transport."""
    from contextlib import asynccontextmanager

    @asynccontextmanager
    async def transport() -> Any:
        async with create_client_server_memory_streams() as (ours, theirs):
            low: Any = server._lowlevel_server
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: low.run(*theirs, low.create_initialization_options()))
                yield ours
                tasks.cancel_scope.cancel()

    async def run() -> None:
        way: Any = transport() if signer is None else signer.transport(transport())
        async with Client(way, mode="legacy") as client:
            await work(client)

    anyio.run(run)


def test_answers_come_with_a_receipt_and_no_other_answer_is_taken() -> None:
    async def good(client: Client) -> None:
        result = await client.call_tool("pay", {"amount": 5})
        assert result.meta and RECEIPT in result.meta
        assert (await client.read_resource("bank://balance")).contents
        assert (await client.get_prompt("ask")).messages
        assert await client.list_tools()

    def bad(reason: str) -> Callable[[Client], Any]:
        async def work(client: Client) -> None:
            with pytest.raises(MCPError) as error:
                await client.call_tool("pay", {"amount": 5})
            assert (error.value.code, error.value.data) == (REFUSED, {"reason": reason})

        return work

    signer = Signer(AGENT, audience=AUDIENCE, receipts=(BANK.did, TRUST))
    talk(bank(BANK), signer, good)
    talk(bank(None), signer, bad("unsecured"))
    talk(bank(THIEF), signer, bad("wrong-audience"))


def test_every_method_that_acts_must_be_signed() -> None:
    refused: list[str] = []

    async def work(client: Client) -> None:
        assert (await client.list_tools()).tools
        for call in (
            lambda: client.call_tool("pay", {"amount": 5}),
            lambda: client.read_resource("bank://balance"),
            lambda: client.get_prompt("ask"),
        ):
            with pytest.raises(MCPError) as error:
                await call()
            assert (error.value.code, error.value.data) == (REFUSED, {"reason": "unsecured"})
            refused.append("unsecured")

    talk(bank(None), None, work)
    assert len(refused) == 3
    assert {"tools/call", "resources/read", "resources/subscribe", "prompts/get"} == ACTING


def test_a_server_that_cannot_judge_a_call_refuses_it() -> None:
    def cost(claims: dict[str, Any]) -> tuple[int, str] | None:
        return claims["action"]["arguments"]["price"], "EUR"

    async def work(client: Client) -> None:
        with pytest.raises(MCPError) as error:
            await client.call_tool("pay", {"amount": 5})
        assert (error.value.code, error.value.data) == (REFUSED, {"reason": "failed"})

    policy = gambeson.Policy(trust=[(AUDIENCE, AGENT.did)])
    talk(bank(None, policy=policy, cost=cost), Signer(AGENT, audience=AUDIENCE), work)


class Wire:
    """The two ends of a transport by hand."""

    def __init__(self) -> None:
        self.up: list[SessionMessage] = []
        self.down: list[SessionMessage] = []
        self.last_context = "theirs"

    async def __aenter__(self) -> Any:
        return self, self

    async def __aexit__(self, *_: object) -> None: ...

    async def send(self, item: SessionMessage, /) -> None:
        self.up.append(item)

    async def receive(self) -> SessionMessage:
        if not self.down:
            raise anyio.EndOfStream
        return self.down.pop(0)

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


def request(id: int, method: str = "tools/call") -> SessionMessage:
    params = {"name": "pay", "arguments": {"amount": 5}}
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params))


def answer(id: Any, result: dict[str, Any] | None = None) -> SessionMessage:
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=id, result=result or {"content": []}))


@pytest.mark.parametrize("id", [1, "1", "01", " 1"])
def test_an_answer_is_held_against_its_receipt_however_its_id_is_written(id: Any) -> None:
    async def run() -> None:
        wire: Any = Wire()
        async with Signer(AGENT, audience=AUDIENCE, receipts=(BANK.did, TRUST)).transport(wire) as (reads, writes):
            assert getattr(reads, "last_context") == "theirs"  # noqa: B009
            await writes.send(request(1))
            sent: Any = wire.up[0].message
            assert PROOF in sent.params["_meta"]
            wire.down = [answer(id), answer(id)]
            got = [item async for item in reads]
            assert len(got) == 1
            message: Any = got[0]
            assert isinstance(message.message, JSONRPCError)
            assert (message.message.error.code, message.message.error.data) == (REFUSED, {"reason": "unsecured"})

    anyio.run(run)


def test_a_call_that_could_not_be_sent_is_forgotten() -> None:
    class Broken(Wire):
        async def send(self, item: SessionMessage, /) -> None:
            raise anyio.BrokenResourceError

    async def run() -> None:
        wire: Any = Broken()
        async with Signer(AGENT, audience=AUDIENCE, receipts=(BANK.did, TRUST)).transport(wire) as (reads, writes):
            for asked in (request(1), request(2, "tools/list")):
                with pytest.raises(anyio.BrokenResourceError):
                    await writes.send(asked)
            wire.down = [answer(1), answer(2)]
            assert [item async for item in reads] == []

    anyio.run(run)


def test_answers_to_nothing_that_is_asked_do_not_arrive() -> None:
    async def run() -> None:
        wire: Any = Wire()
        async with Signer(AGENT, audience=AUDIENCE, receipts=(BANK.did, TRUST)).transport(wire) as (reads, writes):
            await writes.send(request(1))
            await writes.send(request(2, "tools/list"))
            given_up = JSONRPCNotification(
                jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 1}
            )
            await writes.send(SessionMessage(given_up))
            progress = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="notifications/progress"))
            wire.down = [answer(1), answer(7), answer(2), answer(2), progress]
            got: Any = [item async for item in reads]
            assert [getattr(item.message, "id", None) for item in got] == [2, None]

    anyio.run(run)
