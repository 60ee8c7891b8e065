"""Signed AgentCards: with the official SDK, served and fetched over loopback HTTP, and verified by its own code."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import anyio
import httpx
import jwt
import pytest
import uvicorn
from a2a.client.card_resolver import A2ACardResolver
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PublicKey
from jwt.algorithms import Algorithm
from starlette.applications import Starlette
from test_agent import refused

import gambeson
import gambeson.a2a
from gambeson import Agent, CardStore


def card(**members: Any) -> AgentCard:
    with_defaults: dict[str, Any] = {
        "name": "Teller",
        "description": "Pays, in the name of who asks: für Sie, 为您",
        "version": "1.0.0",
        "capabilities": AgentCapabilities(streaming=False, push_notifications=True),
        "default_input_modes": ["text/plain"],
        "default_output_modes": ["text/plain"],
        "supported_interfaces": [AgentInterface(url="https://bank.example/a2a", protocol_binding="JSONRPC", protocol_version="1.0")],
        "skills": [AgentSkill(id="pay", name="Pay", description="", tags=["money"])],
    }  # fmt: skip
    return AgentCard(**(with_defaults | members))


@contextmanager
def served(what: AgentCard) -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        # Who connects before the server takes it waits, and is not refused.
        listener.listen()
        app = Starlette(routes=create_agent_card_routes(what))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def fetch(what: AgentCard, verifier: Callable[[AgentCard], None]) -> AgentCard:
    async def get(address: str) -> AgentCard:
        async with httpx.AsyncClient() as client:
            return await A2ACardResolver(client, address).get_agent_card(signature_verifier=verifier)

    with served(what) as address:
        return anyio.run(get, address)


class World:
    """An agent whom a client knows."""

    def __init__(self) -> None:
        self.agent = Agent.generate()
        self.trust = CardStore(self.agent.first_card(valid_for=timedelta(days=1), now=time.time() - 60))

    def verifier(self, **how: Any) -> Callable[[AgentCard], None]:
        return gambeson.a2a.verifier(resolver=self.trust, **how)


def test_a_signed_card_is_fetched_and_verified() -> None:
    world = World()
    plain = card()
    signed = gambeson.a2a.sign(world.agent, plain)
    assert len(plain.signatures) == 0 and len(signed.signatures) == 1
    got = fetch(signed, world.verifier(expected=world.agent.did))
    claims = gambeson.a2a.verify(got, resolver=world.trust)
    assert (claims["did"], claims["signer"]) == (world.agent.did, world.agent.key_url())
    assert claims["card"]["name"] == "Teller" and "signatures" not in claims["card"]

    twice = gambeson.a2a.sign(Agent.generate(), signed)
    assert len(twice.signatures) == 2
    assert gambeson.a2a.verify(twice, resolver=world.trust)["did"] == world.agent.did


def test_other_cards_are_refused_with_a_reason() -> None:
    world = World()
    signed = gambeson.a2a.sign(world.agent, card())

    def changed(change: Callable[[AgentCard], object]) -> AgentCard:
        copy = AgentCard()
        copy.CopyFrom(signed)
        change(copy)
        return copy

    thief = Agent.generate()
    cards = thief.first_card(valid_for=timedelta(days=1), now=time.time() - 60)
    stolen = gambeson.a2a.sign(thief, card())
    world.trust.add(
        thief.rotate(cards, roles=["signing"], compromised=True, valid_for=3600, now=time.time() - 30)
    )
    late = CardStore(world.agent.first_card(valid_for=60, now=time.time() - 3600))
    early = CardStore(world.agent.first_card(valid_for=60, now=time.time() + 3600))
    interface = AgentInterface(url="https://thief.example/a2a", protocol_binding="JSONRPC", protocol_version="1.0")
    cases: list[tuple[str, AgentCard, dict[str, Any], CardStore]] = [
        ("unsecured", card(), {}, world.trust),
        ("bad-signature", changed(lambda it: setattr(it, "name", "Thief")), {}, world.trust),
        ("bad-signature", changed(lambda it: it.supported_interfaces.append(interface)), {}, world.trust),
        ("bad-signature", changed(lambda it: it.skills.pop()), {}, world.trust),
        ("bad-signature", changed(lambda it: setattr(it.capabilities, "streaming", True)), {}, world.trust),
        ("bad-encoding", changed(lambda it: setattr(it.signatures[0], "signature", "!")), {}, world.trust),
        ("wrong-issuer", signed, {"expected": Agent.generate().did}, world.trust),
        ("unknown-did", gambeson.a2a.sign(Agent.generate(), card()), {}, world.trust),
        ("key-revoked", stolen, {}, world.trust),
        ("expired", signed, {}, late),
        ("not-yet-valid", signed, {}, early),
    ]
    for reason, what, how, trust in cases:
        with pytest.raises(gambeson.VerificationError) as error:
            fetch(what, gambeson.a2a.verifier(resolver=trust, **how))
        assert error.value.code == reason, (reason, str(error.value))
    assert len(cases) == 11


class _MlDsa65(Algorithm):
    """ML-DSA-65 for PyJWT by `cryptography`: what somebody without our code registers."""

    def prepare_key(self, key: Any) -> Any:
        return key

    def sign(self, msg: bytes, key: Any) -> bytes:
        raise NotImplementedError

    def verify(self, msg: bytes, key: MLDSA65PublicKey, sig: bytes) -> bool:
        try:
            key.verify(sig, msg)
        except InvalidSignature:
            return False
        return True

    @staticmethod
    def to_jwk(key_obj: Any, as_dict: bool = False) -> Any:
        raise NotImplementedError

    @staticmethod
    def from_jwk(jwk: Any) -> Any:
        raise NotImplementedError


def test_the_verifier_of_the_sdk_accepts_our_signature() -> None:
    jwt.register_algorithm("ML-DSA-65", _MlDsa65())
    try:
        agent = Agent.generate()
        key: Any = MLDSA65PublicKey.from_public_bytes(agent.public_key())
        keys = {agent.key_url(): key}
        verify = create_signature_verifier(lambda kid, jku: keys[kid or ""], ["ML-DSA-65"])
        signed = gambeson.a2a.sign(agent, card())
        verify(signed)
        fetch(signed, verify)
        signed.name = "Thief"
        with pytest.raises(InvalidSignaturesError):
            verify(signed)
    finally:
        jwt.unregister_algorithm("ML-DSA-65")


def test_a_member_that_no_signature_would_cover_is_refused() -> None:
    refused(gambeson.Malformed, "bad-form", Agent.generate().sign_agent_card, {"name": "Teller", "shoe": 43})
