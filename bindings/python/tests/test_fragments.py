"""The short examples for the official SDKs and for HTTP run as they are printed, where what they name is there."""

from __future__ import annotations

import re
import sys
import textwrap
import time
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import a2a.client.card_resolver
import anyio
import httpx
import mcp
import pytest
from mcp.client.stdio import stdio_client
from test_a2a import card, served

import gambeson.a2a
import gambeson.asgi
import gambeson.http
import gambeson.mcp
from gambeson import Agent, CardDirectory, CardStore

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
MCP = README.split("\n## The official MCP SDK\n")[1].split("\n## ")[0]
AUDIENCE = "did:web:bank.example"


def fragments(text: str | None) -> list[str]:
    """The indented blocks of a text; an empty line within one belongs to it."""
    blocks = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", text or "", re.MULTILINE)
    return [textwrap.dedent(block) for block in blocks]


async def run(code: str, names: dict[str, Any]) -> Any:
    """Runs lines that may await, and gives what they named."""
    made: dict[str, Any] = {}
    exec(f"async def fragment({', '.join(names)}):\n{textwrap.indent(code, '    ')}\n    return locals()", made)
    return await made["fragment"](**names)


@pytest.mark.parametrize("text", [MCP, gambeson.mcp.__doc__], ids=["readme", "module"])
def test_calls_are_signed_and_verified(text: str, tmp_path: Path) -> None:
    caller, serving = fragments(text)
    root, agent, stranger = (Agent.generate() for _ in range(3))
    for known in (root, agent):
        cards = known.first_card(valid_for=timedelta(days=1), now=time.time() - 60)
        CardDirectory(tmp_path).path(known.did).write_text(cards.to_lines())
    server = tmp_path / "server.py"
    server.write_text(
        "import gambeson.mcp\nfrom mcp.server import MCPServer\n"
        f"trust = gambeson.CardDirectory({str(tmp_path)!r})\n"
        f"policy = gambeson.Policy(trust=[({AUDIENCE!r}, {root.did!r})])\n"
        f"{serving}\nserver.run()\n"
    )
    capability = {"action": "tools/call/pay", "resource": AUDIENCE, "caveats": []}
    names: dict[str, Any] = {
        "gambeson": gambeson, "mcp": mcp, "stdio_client": stdio_client,
        "parameters": mcp.StdioServerParameters(command=sys.executable, args=[str(server)]),
        "chain": [root.delegate(agent.did, [capability], valid_for=600, now=time.time() - 60)],
    }  # fmt: skip
    anyio.run(run, caller, names | {"agent": agent})
    with pytest.raises(ExceptionGroup) as refused:
        anyio.run(run, caller, names | {"agent": stranger})
    assert "{'reason': 'unknown-did'}" in repr(refused.value)


def test_cards_are_signed_and_verified() -> None:
    (code,) = fragments(gambeson.a2a.__doc__)
    sign, verify = code.split("\n\n")
    agent = Agent.generate()
    names: dict[str, Any] = {
        "gambeson": gambeson, "agent": agent, "trust": CardStore(agent.first_card(valid_for=600)),
        "A2ACardResolver": a2a.client.card_resolver.A2ACardResolver,
    }  # fmt: skip
    signed = anyio.run(run, sign, names | {"card": card()})["card"]

    async def fetch(address: str, did: str) -> Any:
        here = verify.replace("https://agent.example", address).replace("did:gambeson:...", did)
        async with httpx.AsyncClient() as client:
            return (await run(here, names | {"client": client}))["card"]

    with served(signed) as address:
        assert anyio.run(fetch, address, agent.did).name == "Teller"
        with pytest.raises(gambeson.VerificationError) as refused:
            anyio.run(fetch, address, Agent.generate().did)
        assert refused.value.code == "wrong-issuer"


def test_requests_are_signed_and_verified() -> None:
    (client,), (server,) = fragments(gambeson.http.__doc__), fragments(gambeson.asgi.__doc__)
    agent, stranger = Agent.generate(), Agent.generate()
    callers: list[str] = []
    answers: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        callers.append(scope["gambeson"]["did"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def seen(response: httpx.Response) -> None:
        answers.append(response.status_code)

    trust = CardStore(agent.first_card(valid_for=600))
    names: dict[str, Any] = {"gambeson": gambeson, "trust": trust, "app": app}
    exec(server, names)
    transport = httpx.ASGITransport(app=names["app"])
    made = partial(httpx.AsyncClient, transport=transport, event_hooks={"response": [seen]})
    for who in (agent, stranger):
        anyio.run(run, client, {"gambeson": gambeson, "agent": who, "httpx": SimpleNamespace(AsyncClient=made)})
    assert (callers, answers) == ([agent.did], [204, 401])
