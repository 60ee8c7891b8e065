"""The two halves of signed HTTP: the client's options fit the server's, addresses are compared as RFC 9110 has them, refusals say the address."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from test_agent import refused
from test_asgi_targets import ORIGIN
from test_http import World, echo

import gambeson
from gambeson import ReplayCache
from gambeson.asgi import SignedRequests
from gambeson.http import Signed


def ask(world: World, url: str, signing: dict[str, Any], origin: str = ORIGIN, **asked: Any) -> httpx.Response:
    """The answer of a server to a signed request."""
    app: Any = SignedRequests(echo, origin=origin, resolver=world.trust, **asked)
    headers = {"authorization": "Bearer x", "idempotency-key": "5"}

    async def main() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, auth=Signed(world.agent, **signing), headers=headers) as client:
            return await client.post(url, json={"amount": 5})

    return asyncio.run(main())


OPTIONS: list[tuple[dict[str, Any], dict[str, Any], str | None]] = [
    ({}, {}, None),
    ({"required": ["authorization"]}, {"required": ["authorization"]}, None),
    ({"required": ["authorization", "idempotency-key", "content-type"]}, {"required": ["authorization"]}, None),
    ({}, {"required": ["authorization"]}, "uncovered"),
    ({"required": ['"@query"', "@path"]}, {"required": ["@query", "@path"]}, None),
    ({"role": "signing"}, {"role": "signing"}, None),
    ({"role": "signing"}, {}, "wrong-purpose"),
    ({}, {"role": "signing"}, "wrong-purpose"),
    ({"role": "signing", "required": ["authorization"], "tag": "pay"}, {"role": "signing", "required": ["authorization"], "tag": "pay"}, None),
    ({"label": "first", "lifetime": 60}, {"max_age": 60}, None),
]


@pytest.mark.parametrize(("signing", "asked", "reason"), OPTIONS)
def test_what_a_server_asks_for_a_client_can_sign(signing: dict[str, Any], asked: dict[str, Any], reason: str | None) -> None:
    answer = ask(World(), f"{ORIGIN}/pay?id=7", signing, **asked)
    if reason is None:
        assert answer.status_code == 200, answer.text
    else:
        assert (answer.status_code, answer.json()["reason"]) == (401, reason)


def test_a_server_can_ask_for_one_signer() -> None:
    world, other = World(), gambeson.Agent.generate()
    assert ask(world, f"{ORIGIN}/pay", {}, signer=world.agent.did).status_code == 200
    assert ask(world, f"{ORIGIN}/pay", {}, signer=other.did).json()["reason"] == "other-signer"


def test_a_component_that_is_not_there_is_named_before_anything_is_sent() -> None:
    world = World()
    with pytest.raises(gambeson.Malformed, match="x-missing"):
        ask(world, f"{ORIGIN}/pay", {"required": ["x-missing"]})
    for wrong in ("authorization", 5):
        with pytest.raises(TypeError):
            Signed(world.agent, required=wrong)  # type: ignore[arg-type]
    roles: list[Any] = [{"role": "backup"}, {"role": "Signing"}]
    for bad in roles:
        with pytest.raises(gambeson.UsageError):
            Signed(world.agent, **bad)
        with pytest.raises(gambeson.UsageError):
            SignedRequests(echo, origin=ORIGIN, resolver=world.trust, **bad)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://bank.example/pay?", ORIGIN),
        ("https://bank.example/pay", "https://BANK.example"),
        ("https://bank.example/pay", "HTTPS://Bank.Example:443/"),
        ("https://BANK.EXAMPLE:443/pay", ORIGIN),
        ("https://bank.example/pay#receipt", ORIGIN),
        ("https://bank.example/pay?#receipt", ORIGIN),
        ("https://bank.example/pay?a=b#receipt", ORIGIN),
        ("https://bank.example", ORIGIN),
        ("https://bank.example?a=b", ORIGIN),
        ("https://bank.example/p%C3%A4y/a%20b?c=%20d", ORIGIN),
        ("http://[::1]:8443/pay", "http://[::1]:8443"),
    ],
)
def test_addresses_are_compared_as_the_standard_has_them(url: str, origin: str) -> None:
    answer = ask(World(), url, {}, origin)
    assert answer.status_code == 200, answer.text


def test_who_signs_by_hand_is_told_that_a_fragment_is_no_part_of_an_address() -> None:
    world = World()
    url = f"{ORIGIN}/pay"
    fields = world.agent.sign_http("GET", url, [])
    for wrong in (f"{url}#a", f"{url}#"):
        with pytest.raises(gambeson.Malformed, match="fragment"):
            world.agent.sign_http("GET", wrong, [])
        with pytest.raises(gambeson.Malformed, match="fragment"):
            gambeson.verify_http("GET", wrong, fields, resolver=world.trust, replay=ReplayCache())


@pytest.mark.parametrize("origin", ["https://bank.example/app", "bank.example", "ftp://bank.example", "https://", "https://a@bank.example", "https://bank.example?x"])
def test_an_origin_that_is_none_is_refused_where_it_is_given(origin: str) -> None:
    with pytest.raises(gambeson.UsageError, match="origin"):
        SignedRequests(echo, origin=origin, resolver=World().trust)


def test_a_refusal_says_which_address_this_is() -> None:
    world = World()
    said = ask(world, "https://bank.example/pay?id=7", {}, "https://other.example").json()
    assert said["reason"] == "bad-signature"
    assert "POST https://other.example/pay?id=7" in said["detail"], said["detail"]
    fields = world.agent.sign_http("GET", f"{ORIGIN}/pay", [])
    with pytest.raises(gambeson.InvalidSignature) as wrong:
        gambeson.verify_http("GET", f"{ORIGIN}/other", fields, resolver=world.trust, replay=ReplayCache())
    assert f"GET {ORIGIN}/other" in wrong.value.detail
    response = world.agent.sign_http_response(200, [], request=("GET", f"{ORIGIN}/pay", [], None))
    with pytest.raises(gambeson.InvalidSignature) as answered:
        gambeson.verify_http_response(
            200, response, request=("GET", f"{ORIGIN}/other", [], None), resolver=world.trust, replay=ReplayCache()
        )
    assert f"GET {ORIGIN}/other" in answered.value.detail
    refused(gambeson.Malformed, "bad-form", world.agent.sign_http, "GET", "/pay", [])
