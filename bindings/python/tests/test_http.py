"""Signed HTTP: `httpx` against `uvicorn` on loopback, good requests and bad ones."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PublicKey
from test_agent import refused

import gambeson
from gambeson import Agent, CardStore, ReplayCache
from gambeson.asgi import SignedRequests
from gambeson.http import Signed


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with who asked and what."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    claims = scope.get("gambeson", {})
    answer = json.dumps({"did": claims.get("did"), "tag": claims.get("tag"), "body": body.decode()}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": answer})


class World:
    """An agent whom the server knows, and the server's address."""

    def __init__(self) -> None:
        self.agent = Agent.generate()
        self.trust = CardStore(self.agent.first_card(valid_for=timedelta(days=1), now=time.time() - 60))
        self.address = ""

    @contextmanager
    def server(self, **options: Any) -> Iterator[httpx.Client]:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            # Who connects before the server takes it waits, and is not refused.
            listener.listen()
            self.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with_defaults: dict[str, Any] = {"origin": self.address, "resolver": self.trust}
            app: Any = SignedRequests(echo, **(with_defaults | options))
            server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
            thread = threading.Thread(target=server.run, args=([listener],))
            thread.start()
            try:
                with httpx.Client(base_url=self.address) as client:
                    yield client
            finally:
                server.should_exit = True
                thread.join()


def test_signed_requests_reach_the_application() -> None:
    world = World()
    with world.server(tag="pay", exempt=["/health"]) as client:
        auth = Signed(world.agent, tag="pay")
        for _ in range(2):
            answer = client.post("/pay?to=Ada%20L", json={"amount": 5}, auth=auth)
            assert answer.status_code == 200, answer.text
            assert answer.json() == {"did": world.agent.did, "tag": "pay", "body": '{"amount":5}'}
        assert client.get("/balance", auth=auth).json()["body"] == ""
        long = "x" * 500_000
        assert client.put("/note", content=long, auth=auth).json()["body"] == long
        assert client.get("/health").json()["did"] is None


def sha_512(body: bytes) -> str:
    return "sha-512=:" + base64.b64encode(hashlib.sha512(body).digest()).decode() + ":"


def test_everything_else_is_refused_with_its_reason() -> None:
    world = World()
    agent = world.agent
    seen: list[str] = []
    with world.server(max_body=10_000) as client:

        def ask(
            reason: str,
            fields: list[tuple[str, str]],
            method: str = "POST",
            path: str = "/pay",
            body: bytes = b"5",
        ) -> None:
            answer = client.request(method, path, content=body, headers=fields)
            status = 413 if reason == "too-large" else 401
            assert (answer.status_code, answer.json()["reason"]) == (status, reason), answer.text
            seen.append(reason)

        def signed(
            body: bytes | None = b"5", by: Agent = agent, origin: str = "", **how: Any
        ) -> list[tuple[str, str]]:
            return by.sign_http("POST", (origin or world.address) + "/pay", [], body, **how)

        now, good = time.time(), signed()
        ask("unsecured", [])
        ask("wrong-digest", good, body=b"6")
        ask("bad-signature", [(n, sha_512(b"6") if n == "content-digest" else v) for n, v in good], body=b"6")
        ask("bad-signature", good, path="/pay?to=thief")
        ask("bad-signature", good, path="/other")
        ask("bad-signature", good, method="PUT")
        ask("bad-signature", signed(origin="https://other.example"))
        ask("bad-signature", [(n, v.replace(';nonce="', ';nonce="x')) for n, v in good])
        ask("expired", signed(now=now - 600))
        ask("not-yet-valid", signed(now=now + 600))
        ask("expired", signed(lifetime=10_000, now=now - 300))
        ask("unknown-did", signed(by=Agent.generate()))
        ask("wrong-purpose", signed(role="signing"))
        ask("uncovered", signed(body=None))
        ask("uncovered", signed(components=["@method", "content-digest"]))
        ask("bad-form", [(n, v if n != "signature-input" else "nonsense(") for n, v in good])
        ask("bad-signature", signed() + signed())
        ask("too-large", good, body=b"5" * 10_001)

        thief = Agent.generate()
        cards = thief.first_card(valid_for=timedelta(days=1), now=now - 60)
        stolen = signed(by=thief)
        world.trust.add(thief.rotate(cards, roles=["identity"], compromised=True, valid_for=3600, now=now - 30))
        ask("key-revoked", stolen)

        assert client.post("/pay", content=b"5", headers=good).status_code == 200
        ask("replayed", good)
    assert len(seen) == 20
    assert len(set(seen)) == 12


def test_who_has_only_the_standard_verifies_our_signatures() -> None:
    """The signature base of RFC 9421, §2.5, put together by hand, and the signature by `cryptography`."""
    agent, body = Agent.generate(), b'{"amount":5}'
    fields = [("Content-Type", "application/json")]
    added = dict(agent.sign_http("POST", "https://bank.example/pay?id=7", fields, body))
    assert added["content-digest"] == sha_512(body)
    label, parameters = added["signature-input"].split("=", 1)
    lines = [
        '"@method": POST',
        '"@target-uri": https://bank.example/pay?id=7',
        '"content-type": application/json',
        f'"content-digest": {sha_512(body)}',
        f'"@signature-params": {parameters}',
    ]
    assert parameters.startswith('("@method" "@target-uri" "content-type" "content-digest");created=')
    assert f';alg="ml-dsa-65";keyid="{agent.key_url("identity")}"' in parameters
    signature = base64.b64decode(added["signature"].removeprefix(f"{label}=:").removesuffix(":"))
    MLDSA65PublicKey.from_public_bytes(agent.public_key("identity")).verify(signature, "\n".join(lines).encode())


def test_an_answer_is_signed_for_its_request() -> None:
    server, client, now = Agent.generate(), Agent.generate(), int(time.time())
    trust = CardStore(server.first_card(valid_for=timedelta(days=1), now=now - 60))
    address = "https://bank.example/pay"

    def asked(body: bytes) -> tuple[str, str, list[tuple[str, str]], bytes]:
        return "POST", address, client.sign_http("POST", address, [], body), body

    request, body, replay = asked(b"5"), b"paid", ReplayCache()
    added = server.sign_http_response(200, [], body, request=request, tag="bank", lifetime=60)

    def verify(status: int = 200, body: bytes = body, request: Any = request) -> dict[str, Any]:
        return gambeson.verify_http_response(
            status, added, body, request=request, resolver=trust, replay=replay, tag="bank", required=['"signature";req']
        )

    refused(gambeson.InvalidSignature, "bad-signature", verify, status=500)
    refused(gambeson.VerificationError, "wrong-digest", verify, body=b"not paid")
    refused(gambeson.InvalidSignature, "bad-signature", verify, request=asked(b"5"))
    claims = verify()
    assert (claims["did"], claims["tag"]) == (server.did, "bank")
    assert claims["components"][:3] == ['"@status"', '"@method";req', '"@target-uri";req']
    refused(gambeson.Replayed, "replayed", verify)
    refused(gambeson.UsageError, "usage", server.sign_http_response, 200, [], body, role="did")


def test_components_and_roles_are_checked_before_anything_is_signed() -> None:
    agent = Agent.generate()
    sign: Any = lambda **how: agent.sign_http("GET", "https://a.example/", [], **how)  # noqa: E731
    refused(gambeson.UsageError, "usage", sign, role="did")
    refused(gambeson.Malformed, "bad-form", sign, components=["@nothing"])
    refused(gambeson.Malformed, "bad-form", sign, components=["x-missing"])
    refused(gambeson.Malformed, "bad-form", sign, tag="café")


def test_web_sockets_are_refused_and_the_body_is_given_once() -> None:
    import anyio

    world = World()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    app: Any = SignedRequests(echo, origin="https://bank.example", resolver=world.trust, replay=ReplayCache())

    async def run() -> None:
        await app({"type": "websocket", "path": "/"}, receive, send)
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
        await app(scope, receive, send)

    anyio.run(run)
    assert sent[0] == {"type": "websocket.close", "code": 1008, "reason": "unsecured"}
    assert sent[1]["status"] == 401


def test_what_is_required_is_so_besides_the_usual_components() -> None:
    world = World()
    dated = [("date", "Sun, 22 Nov 2026 12:00:00 GMT")]
    address = "https://a.example/"

    def verify(replay: ReplayCache, components: list[str], required: list[str]) -> list[str]:
        fields = dated + world.agent.sign_http("GET", address, dated, components=components)
        asked: dict[str, Any] = {"resolver": world.trust, "replay": replay, "required": required}
        covered: list[str] = gambeson.verify_http("GET", address, fields, **asked)["components"]
        return covered

    replay = ReplayCache()
    # That it has the date does not say to whom it goes.
    refused(gambeson.Unsigned, "uncovered", verify, replay, ["date"], ["date"])
    refused(gambeson.Unsigned, "uncovered", verify, replay, ["@method", "@target-uri"], ["date"])
    refused(gambeson.Malformed, "bad-form", verify, replay, ["date"], ["@nothing"])
    assert len(replay) == 0
    assert verify(replay, ["@method", "@target-uri", "date"], ["date"])[2] == '"date"'
    assert len(replay) == 1


@pytest.mark.parametrize("body", [b"", b"5"])
def test_an_application_may_ask_for_the_signing_key(body: bytes) -> None:
    world = World()
    fields = world.agent.sign_http("POST", "https://a.example/", [], body, role="signing")
    asked: dict[str, Any] = {"resolver": world.trust, "replay": ReplayCache()}
    claims = gambeson.verify_http("POST", "https://a.example/", fields, body, **asked, role="signing")
    assert claims["signer"] == world.agent.key_url("signing")
    assert claims["components"][:2] == ['"@method"', '"@target-uri"']
