"""Signed HTTP where something is odd: targets, redirects, resolvers that take their time."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest
from test_agent import refused
from test_http import World, echo

import gambeson
from gambeson import Agent
from gambeson.asgi import SignedRequests
from gambeson.http import Signed

ORIGIN = "https://bank.example"


def ask(app: Any, scope: dict[str, Any], body: bytes = b"") -> int:
    """The status of an answer."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    asyncio.run(app({"type": "http", "method": "GET", "query_string": b"", **scope}, receive, send))
    return int(sent[0]["status"])


def signed(agent: Agent, address: str) -> list[tuple[bytes, bytes]]:
    return [(n.encode(), v.encode()) for n, v in agent.sign_http("GET", address, [], b"")]


@pytest.mark.parametrize("target", [".evil.example/pay", ":8443/pay", "@evil.example/pay", "http://evil.example/", "*", ""])
def test_a_target_that_is_no_path_does_not_extend_the_origin(target: str) -> None:
    world = World()
    app: Any = SignedRequests(echo, origin=ORIGIN, resolver=world.trust)
    try:
        # As signed for another server.
        headers = signed(world.agent, ORIGIN + target)
    except gambeson.Malformed:
        headers = []  # No address of any server.
    scope = {"headers": headers, "path": target, "raw_path": target.encode()}
    assert ask(app, scope) == 401
    assert ask(app, {"headers": signed(world.agent, ORIGIN + "/pay"), "path": "/pay", "raw_path": b"/pay"}) == 200


def test_a_path_is_encoded_again_where_the_server_gives_no_other() -> None:
    world = World()
    app: Any = SignedRequests(echo, origin=ORIGIN, resolver=world.trust)
    headers = signed(world.agent, ORIGIN + "/pay/Ada%20L/%C3%A9/a:b@c;d=1?to=%20x")
    assert ask(app, {"headers": headers, "path": "/pay/Ada L/é/a:b@c;d=1", "query_string": b"to=%20x"}) == 200


def test_a_slow_resolver_stops_nobody_else() -> None:
    world = World()

    class Table:
        def remember(self, id: bytes, until: int, now: int, /) -> bool:
            time.sleep(0.5)
            return True

    app: Any = SignedRequests(echo, origin=ORIGIN, resolver=world.trust, replay=Table())
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async def run() -> None:
        ticking = asyncio.create_task(tick())
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        scope = {"type": "http", "method": "GET", "path": "/a", "query_string": b"", "headers": signed(world.agent, ORIGIN + "/a")}
        await app(scope, receive, send)
        assert sent[0]["status"] == 200
        ticking.cancel()

    asyncio.run(run())
    assert ticks >= 3


def test_a_redirect_of_a_signed_request_is_not_taken() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        if request.url.path == "/old":
            return httpx.Response(307, headers={"location": "https://thief.example/new"})
        return httpx.Response(200)

    transport, agent = httpx.MockTransport(answer), Agent.generate()
    with httpx.Client(transport=transport, auth=Signed(agent)) as client:
        assert client.get(ORIGIN + "/old").status_code == 307
        assert asked == [ORIGIN + "/old"]
        refused(gambeson.UsageError, "usage", client.get, ORIGIN + "/old", follow_redirects=True)
        assert client.get(ORIGIN + "/new", follow_redirects=True).status_code == 200
