"""The official MCP SDK, its servers as processes of their own: signed calls pass, and nothing else does."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

import gambeson
from gambeson import Agent, CardDirectory, StatusList
from gambeson.mcp import PROOF, Signer

SERVER = Path(__file__).parent / "mcp_server.py"
URL = "https://root.example/status/1"
AUDIENCE = "did:web:bank.example"
PAY: dict[str, Any] = {"name": "pay", "arguments": {"amount": 5, "to": "Ada"}}


def known(agent: Agent, folder: Path) -> gambeson.CardLog:
    """The agent's cards, where the server looks for them."""
    cards = agent.first_card(valid_for=timedelta(days=1), now=time.time() - 60)
    CardDirectory(folder).path(agent.did).write_text(cards.to_lines())
    return cards


class World:
    """A root whom the server trusts, and an agent to whom it delegated; entry 5 of its status list is revoked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root, self.agent = Agent.generate(), Agent.generate()
        known(self.root, folder)
        known(self.agent, folder)
        revoked = StatusList()
        revoked.set(5)
        listed = self.root.issue_status_list(revoked, URL, valid_for=3600, now=time.time() - 60)
        (folder / "status.jwt").write_text(listed)

    def delegate(self, to: Agent, action: str = "tools/call/pay", entry: int = 4, **how: Any) -> list[str]:
        capability = {"action": action, "resource": AUDIENCE, "caveats": [{"argument": "/amount", "atMost": 1000}]}
        with_defaults: dict[str, Any] = {"valid_for": 600, "now": time.time() - 60}
        status: Any = [(URL, entry, "revocation")]
        return [self.root.delegate(to.did, [capability], status=status, **(with_defaults | how))]

    @contextmanager
    def server(self, kind: str) -> Iterator[Callable[[], Any]]:
        """Makes transports to a server that runs elsewhere."""
        arguments = [str(SERVER), kind, str(self.folder), self.root.did]
        if kind == "stdio":
            parameters = StdioServerParameters(command=sys.executable, args=arguments)
            yield lambda: stdio_client(parameters)
            return
        with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout
                address = f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
                yield lambda: streamable_http_client(address)
            finally:
                server.terminate()


WAYS = [("stdio", "legacy"), ("stdio", "auto"), ("http", "legacy"), ("http", "auto")]


@pytest.mark.parametrize(("kind", "mode"), WAYS)
def test_signed_calls_pass(kind: str, mode: Any, tmp_path: Path) -> None:
    world = World(tmp_path)
    signer = Signer(world.agent, audience=AUDIENCE, chain=world.delegate(world.agent))

    async def talk(transport: Callable[[], Any]) -> None:
        async with Client(signer.transport(transport()), mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["pay"]
            for amount in range(3):
                result = await client.call_tool("pay", {"amount": amount, "to": "Ada"})
                assert [part.text for part in result.content if part.type == "text"] == [
                    f"{world.agent.did} pays {amount} to Ada"
                ]
            # The middleware lets the SDK judge the other arguments, and the connection lives on.
            assert (await client.call_tool("pay", {"amount": 1, "to": 5})).is_error

    with world.server(kind) as transport:
        anyio.run(talk, transport)


def forgeries(world: World) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Calls that must be refused: the reason, the parameters, and `_meta`."""
    agent, root, folder = world.agent, world.root, world.folder

    def proof(
        params: dict[str, Any] = PAY,
        method: str = "tools/call",
        by: Agent = root,
        chain: list[str] | None = None,
        **how: Any,
    ) -> dict[str, Any]:
        with_defaults: dict[str, Any] = {"audience": AUDIENCE}
        action = by.mcp_action(method, params, chain=chain or [], **(with_defaults | how))
        return {PROOF: by.mcp_proof(action, chain=chain or [])}

    now = time.time()
    good = proof()
    yield "unsecured", PAY, {}
    # Tampered arguments, another method, another tool, another nonce.
    yield "bad-signature", {"name": "pay", "arguments": {"amount": 500, "to": "Ada"}}, good
    yield "bad-signature", {"name": "pay", "arguments": {"amount": 5}}, good
    yield "bad-signature", PAY, proof(method="tools/list")
    yield "bad-signature", PAY, proof({"name": "look", "arguments": PAY["arguments"]})
    yield "bad-signature", PAY, {PROOF: {**good[PROOF], "nonce": proof()[PROOF]["nonce"]}}
    yield "wrong-audience", PAY, proof(audience="did:web:thief.example")
    yield "expired", PAY, proof(now=now - 600)
    yield "not-yet-valid", PAY, proof(now=now + 600)
    yield "long-lived", PAY, proof(lifetime=3600)
    yield "unknown-did", PAY, proof(by=Agent.generate())
    yield "bad-form", PAY, {PROOF: {**good[PROOF], "jws": 5}}
    yield "bad-form", PAY, {PROOF: {**good[PROOF], "extra": 5}}
    yield "bad-form", PAY, {PROOF: "proof"}

    thief = Agent.generate()
    stolen = known(thief, folder)
    before = proof(by=thief)
    cards = thief.rotate(stolen, roles=["signing"], compromised=True, valid_for=timedelta(days=1), now=now - 30)
    CardDirectory(folder).path(thief.did).write_text(cards.to_lines())
    yield "key-revoked", PAY, before

    # Known and rightly signed, but not permitted.
    granted = world.delegate(agent)
    yield "untrusted-root", PAY, proof(by=agent)
    yield "not-permitted", PAY, proof(by=agent, chain=world.delegate(agent, "tools/call/look"))
    yield "wrong-delegate", PAY, proof(by=thief_of(world), chain=granted)
    yield "revoked", PAY, proof(by=agent, chain=world.delegate(agent, entry=5))
    yield "expired", PAY, proof(by=agent, chain=world.delegate(agent, valid_for=1))
    yield "broken-chain", PAY, {PROOF: {**proof(by=agent, chain=granted)[PROOF], "chain": world.delegate(agent)}}
    dear = {"name": "pay", "arguments": {"amount": 1001}}
    yield "not-permitted", dear, proof(dear, by=agent, chain=granted)


def thief_of(world: World) -> Agent:
    """Somebody whom the server knows, with a chain that is another's."""
    other = Agent.generate()
    known(other, world.folder)
    return other


@pytest.mark.parametrize(("kind", "mode"), WAYS)
def test_everything_else_is_refused_with_its_reason(kind: str, mode: Any, tmp_path: Path) -> None:
    world = World(tmp_path)
    refused: list[str] = []

    async def expect(client: Client, reason: str, params: dict[str, Any], meta: Any) -> None:
        with pytest.raises(MCPError) as error:
            await client.call_tool(params["name"], params["arguments"], meta=meta)
        assert (error.value.code, error.value.data) == (-32600, {"reason": reason}), error.value.message
        refused.append(reason)

    async def talk(transport: Callable[[], Any]) -> None:
        async with Client(transport(), mode=mode) as client:
            for reason, params, meta in forgeries(world):
                await expect(client, reason, params, meta)
            once: Any = Signer(world.root, audience=AUDIENCE).meta("tools/call", PAY)
            assert not (await client.call_tool("pay", PAY["arguments"], meta=once)).is_error
            await expect(client, "replayed", PAY, once)

    with world.server(kind) as transport:
        anyio.run(talk, transport)
    assert len(refused) == 23
    assert len(set(refused)) == 15


def test_authorize_decides_over_verified_claims_and_nobody_else_sees_a_caller() -> None:
    from mcp.server import MCPServer

    agent = Agent.generate()
    trust = gambeson.CardStore(agent.first_card(valid_for=60))
    asked: list[dict[str, Any]] = []

    def authorize(claims: dict[str, Any]) -> None:
        asked.append(claims)
        if claims["action"]["arguments"]["amount"] > 5:
            raise gambeson.NotPermitted("not-permitted", "too much")

    verify = gambeson.mcp.ServerMiddleware(
        audience=AUDIENCE, resolver=trust, authorize=authorize, methods={"tools/call"}
    )
    server = MCPServer("bank", middleware=[verify], log_level="ERROR")

    @server.tool()
    def pay(amount: int) -> str:
        return str(gambeson.mcp.caller()["signer"])

    @server.resource("bank://open")
    def unsigned() -> str:
        with pytest.raises(LookupError):
            gambeson.mcp.caller()
        return "open"

    async def talk() -> None:
        signer = Signer(agent, audience=AUDIENCE)
        async with Client(server) as client:

            async def ask(amount: int) -> Any:
                params = {"name": "pay", "arguments": {"amount": amount}}
                meta: Any = signer.meta("tools/call", params)
                return await client.call_tool("pay", params["arguments"], meta=meta)  # type: ignore[arg-type]

            assert (await ask(5)).content[0].text == agent.key_url()
            with pytest.raises(MCPError) as error:
                await ask(6)
            assert error.value.data == {"reason": "not-permitted"}
            assert (await client.read_resource("bank://open")).contents

    anyio.run(talk)
    assert [claims["did"] for claims in asked] == [agent.did, agent.did]


def test_a_memory_in_python_is_asked_and_its_failure_refuses() -> None:
    agent = Agent.generate()
    trust = gambeson.CardStore(agent.first_card(valid_for=60))
    seen: set[bytes] = set()

    class Table:
        def remember(self, id: bytes, until: int, now: int, /) -> bool:
            if id in seen:
                return False
            assert len(id) == 32 and until > now
            seen.add(id)
            return True

    class Broken:
        def remember(self, id: bytes, until: int, now: int, /) -> bool:
            raise OSError("the database is away")

    meta = Signer(agent, audience=AUDIENCE).meta("tools/call", PAY)
    params = {**PAY, "_meta": meta}

    def verify(replay: Any) -> dict[str, Any]:
        return gambeson.verify_mcp("tools/call", params, audience=AUDIENCE, resolver=trust, replay=replay)

    with pytest.raises(gambeson.VerificationError) as down:
        verify(Broken())
    assert down.value.code == "cache-full" and "the database is away" in down.value.detail
    assert verify(Table())["did"] == agent.did
    with pytest.raises(gambeson.Replayed):
        verify(Table())
    with pytest.raises(TypeError):
        verify(object())
