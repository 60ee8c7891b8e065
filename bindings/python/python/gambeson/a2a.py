"""Signed AgentCards of the Agent2Agent protocol, for the official SDK (which the extra `a2a` brings).

    card = gambeson.a2a.sign(agent, card)  # an `a2a.types.AgentCard`, with one signature more

    verify = gambeson.a2a.verifier(resolver=trust, expected="did:gambeson:...")
    card = await A2ACardResolver(client, "https://agent.example").get_agent_card(signature_verifier=verify)

The signature is a JWS with ML-DSA-65 over the canonical card, as the protocol says; its key comes from the signer's DID and
from nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gambeson._extras import require

require(__name__, "a2a", "a2a")

from a2a.types import AgentCard
from google.protobuf.json_format import MessageToDict, ParseDict  # type: ignore[import-untyped]

from gambeson._native import Agent, CardDirectory, CardStore, WebResolver, verify_agent_card

__all__ = ["sign", "verifier", "verify"]


def sign(agent: Agent, card: AgentCard) -> AgentCard:
    """The card with one signature more, by the agent's signing key. The card itself stays as it was."""
    signed = AgentCard()
    ParseDict(agent.sign_agent_card(_json(card)), signed)
    return signed


def verify(
    card: AgentCard, *, resolver: CardStore | CardDirectory | WebResolver, expected: str | None = None
) -> dict[str, Any]:
    """Who signed the card, and what was signed of it: `signer`, `did`, `card`.

    A card does not tell which DID may speak for its agent: name the one that is `expected`, or look at the signer.
    """
    return verify_agent_card(_json(card), resolver=resolver, expected=expected)


def verifier(
    *, resolver: CardStore | CardDirectory | WebResolver, expected: str | None = None
) -> Callable[[AgentCard], None]:
    """`verify` in the form of the SDK's `signature_verifier`."""

    def check(card: AgentCard) -> None:
        verify(card, resolver=resolver, expected=expected)

    return check


def _json(card: AgentCard) -> dict[str, Any]:
    members: dict[str, Any] = MessageToDict(card)
    return members
