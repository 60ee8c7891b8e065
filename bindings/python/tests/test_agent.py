"""Agents, their cards, and who finds them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import gambeson
from gambeson import Agent, CardDirectory, CardLog, CardStore, WebResolver, _native

NOW = 1_795_330_800
SEED = bytes(range(32))
DAY = timedelta(days=1)
SERVICES = [{"id": "#mcp", "type": "MCP", "serviceEndpoint": "https://example.com/mcp"}]


def refused(error: type[gambeson.Error], code: str, work: Any, *arguments: Any, **keywords: Any) -> None:
    with pytest.raises(error) as caught:
        work(*arguments, **keywords)
    assert caught.value.code == code


def test_a_seed_gives_one_agent_in_each_suite() -> None:
    agent = Agent.from_seed_bytes(SEED)
    assert agent.did == Agent.from_seed_bytes(bytearray(SEED)).did
    assert agent.did.startswith("did:gambeson:uHi") and len(agent.did) == 60
    assert agent.suite == "default"
    other = Agent.from_seed_bytes(SEED, suite="cnsa2")
    assert other.suite == "cnsa2" and other.did != agent.did
    assert Agent.generate().did != Agent.generate().did
    assert agent.child(1).did == agent.child(1).did != agent.child(2).did
    refused(gambeson.UsageError, "usage", Agent.generate, suite="rot13")
    refused(gambeson.UsageError, "bad-length", Agent.from_seed_bytes, SEED[:31])


def test_no_way_leads_out_of_an_agent() -> None:
    public = {
        "action", "approve", "backup", "begin_session", "child", "delegate", "did", "first_card", "from_age_file",
        "from_protected", "from_seed_bytes", "from_shares", "from_words", "generate", "index", "issue", "issue_sd_jwt",
        "issue_status_list", "key_url", "mcp_action", "mcp_proof", "mcp_receipt", "open", "open_state", "present",
        "present_sd_jwt", "public_key", "restore", "rotate", "seal", "seal_state", "sign", "sign_action",
        "sign_agent_card", "sign_document", "sign_file", "sign_http", "sign_http_response", "suite",
        "wipe",
    }  # fmt: skip
    assert {name for name in dir(Agent) if not name.startswith("_")} == public
    agent = Agent.from_seed_bytes(SEED)
    assert len(agent.public_key("did")) == 1952
    assert SEED.hex() not in repr(agent)


def test_every_role_has_a_key_and_a_url() -> None:
    agent, cards = Agent.generate(), None
    cards = agent.first_card(valid_for=DAY, now=NOW)
    methods = {method["id"] for method in cards.document["verificationMethod"]}
    roles: list[Any] = [
        "identity", "signing", "did", "backup", "sealed", "encapsulation", "data-integrity", "log",
    ]  # fmt: skip
    assert {agent.key_url(role) for role in roles} == methods
    assert {agent.index(role) for role in roles} == {0}
    assert len({agent.public_key(role) for role in roles}) == len(roles)
    refused(gambeson.UsageError, "usage", agent.key_url, "king")


def test_a_signature_holds_for_its_context_and_time_alone() -> None:
    agent = Agent.generate()
    trust = CardStore(agent.first_card(valid_for=DAY, now=NOW))
    signature = agent.sign(b"data", b"letters v1")
    common: dict[str, Any] = {"signer": agent.key_url(), "resolver": trust, "now": NOW + 1}
    gambeson.verify(signature, b"data", b"letters v1", **common)
    refused(gambeson.InvalidSignature, "bad-signature", gambeson.verify, signature, b"date", b"letters v1", **common)
    refused(gambeson.InvalidSignature, "bad-signature", gambeson.verify, signature, b"data", b"letters v2", **common)
    for context, code in ((b"", "bad-context"), (b"gambeson card v1", "bad-context"), (bytes(256), "context-too-long")):
        refused(gambeson.UsageError, code, agent.sign, b"data", context)
        refused(gambeson.UsageError, code, gambeson.verify, signature, b"data", context, **common)
    for change, error, code in (
        ({"now": NOW - 1}, gambeson.NotYetValid, "not-yet-valid"),
        ({"now": NOW + 86_401}, gambeson.Expired, "expired"),
        ({"signer": agent.key_url("identity")}, gambeson.NotPermitted, "wrong-purpose"),
        ({"signer": agent.did + "#nobody"}, gambeson.UnknownSigner, "unknown-key"),
        ({"signer": Agent.generate().key_url()}, gambeson.UnknownSigner, "unknown-did"),
        ({"signer": "nobody"}, gambeson.Malformed, "bad-did"),
    ):
        refused(error, code, gambeson.verify, signature, b"data", b"letters v1", **(common | change))


def test_keys_rotate_and_the_seed_finds_them_again() -> None:
    agent = Agent.from_seed_bytes(SEED)
    cards = agent.first_card(valid_for=DAY, now=NOW, also_known_as=["did:web:example.com"], services=SERVICES)
    old = agent.sign(b"data", b"c"), agent.key_url()
    longer = agent.rotate(cards, roles=["signing"], valid_for=DAY, now=NOW + 10, overlap=60)
    assert (len(cards), len(longer), agent.index("signing"), agent.index("identity")) == (1, 2, 1, 0)
    assert longer.document["alsoKnownAs"] == ["did:web:example.com"]
    assert longer.document["service"] == cards.document["service"]
    assert longer.document["card"]["previous"] == cards.hash

    found = Agent.from_seed_bytes(SEED, cards=CardLog.verify(longer.to_lines()))
    assert found.key_url() == agent.key_url() != old[1]
    refused(gambeson.UsageError, "wrong-seed", Agent.from_seed_bytes, bytes(32), cards=longer)
    refused(gambeson.UsageError, "wrong-seed", agent.rotate, cards, valid_for=DAY, now=NOW)

    trust = CardStore(longer)
    check: dict[str, Any] = {"resolver": trust}
    gambeson.verify(found.sign(b"data", b"c"), b"data", b"c", signer=found.key_url(), now=NOW + 30, **check)
    gambeson.verify(old[0], b"data", b"c", signer=old[1], now=NOW + 30, **check)
    refused(gambeson.Expired, "expired", gambeson.verify, old[0], b"data", b"c", signer=old[1], now=NOW + 100, **check)
    refused(gambeson.BrokenCards, "stale-card", trust.add, cards)

    stolen = agent.rotate(longer, roles=["signing"], compromised=True, valid_for=DAY, now=NOW + 200, also_known_as=[], services=[])
    assert "alsoKnownAs" not in stolen.document and "service" not in stolen.document
    trust.add(stolen)
    mine = found.sign(b"data", b"c")
    refused(gambeson.Revoked, "key-revoked", gambeson.verify, mine, b"data", b"c", signer=found.key_url(), now=NOW + 300, **check)


def test_cards_that_were_changed_are_refused() -> None:
    agent = Agent.generate()
    cards = agent.first_card(valid_for=DAY, now=NOW)
    assert CardLog.verify(cards.to_lines()) == cards == CardLog.verify(cards.newest.encode())
    assert cards != agent.first_card(valid_for=DAY, now=NOW + 1)
    card = json.loads(cards.newest)
    card["document"]["card"]["validUntil"] = "2030-01-01T00:00:00Z"
    refused(gambeson.InvalidSignature, "bad-signature", CardLog.verify, json.dumps(card))
    card["document"]["id"] = Agent.generate().did
    with pytest.raises(gambeson.VerificationError):
        CardLog.verify(json.dumps(card))
    refused(gambeson.Malformed, "bad-json", CardLog.verify, '{"document": 1, "document": 2}')
    refused(gambeson.Malformed, "bad-form", CardLog.verify, "")
    refused(gambeson.Malformed, "too-large", CardLog.verify, " " * 70_000)
    other = Agent.generate().first_card(valid_for=DAY, now=NOW)
    with pytest.raises(gambeson.VerificationError):
        cards.append(other.newest)


def test_a_folder_of_cards_resolves(tmp_path: Path) -> None:
    agent, folder = Agent.generate(), CardDirectory(tmp_path)
    refused(gambeson.UnknownSigner, "unknown-did", folder.resolve, agent.did, now=NOW)
    cards = agent.first_card(valid_for=DAY, now=NOW)
    folder.path(agent.did).write_text(cards.to_lines())
    assert folder.resolve(agent.did, now=NOW) == cards.document
    gambeson.verify(agent.sign(b"", b"c"), b"", b"c", signer=agent.key_url(), resolver=folder, now=NOW)


def test_did_web_is_fetched_through_a_function_of_python() -> None:
    asked: list[tuple[str, int]] = []
    document = {"@context": "https://www.w3.org/ns/did/v1", "id": "did:web:example.com"}

    def fetch(address: str, max_len: int) -> bytes:
        asked.append((address, max_len))
        if "down" in address:
            raise OSError("no route")
        return json.dumps(document).encode()

    agent = Agent.generate()
    resolver = WebResolver(fetch, CardStore(agent.first_card(valid_for=DAY, now=NOW)))
    assert resolver.resolve("did:web:example.com", now=NOW) == document
    assert asked == [("https://example.com/.well-known/did.json", 65536)]
    assert resolver.resolve(agent.did, now=NOW)["id"] == agent.did
    refused(gambeson.UnknownSigner, "unknown-did", resolver.resolve, "did:web:down.example", now=NOW)
    refused(gambeson.BrokenCards, "not-bound", resolver.resolve, "did:web:other.example", now=NOW)


def test_times_are_numbers_or_datetimes_with_a_zone() -> None:
    agent = Agent.generate()
    at = datetime.fromtimestamp(NOW, UTC)
    assert agent.first_card(valid_for=60, now=at).validity == (NOW, NOW + 60)
    assert agent.first_card(valid_for=timedelta(minutes=1), now=NOW + 0.5).validity == (NOW, NOW + 60)
    begins, _ = agent.first_card(valid_for=60).validity
    assert abs(begins - datetime.now(UTC).timestamp()) < 60
    for now, error in ((datetime.now(), ValueError), (-1, ValueError), (float("nan"), ValueError), ("today", TypeError)):
        with pytest.raises(error):
            agent.first_card(valid_for=60, now=now)  # type: ignore[arg-type]


def test_a_wiped_agent_does_nothing_more() -> None:
    with Agent.generate() as agent:
        assert agent.did
    for work in (lambda: agent.did, lambda: agent.sign(b"", b"c"), lambda: agent.child(0), lambda: agent.begin_session(1)):
        refused(gambeson.Wiped, "wiped", work)


def test_every_class_of_exceptions_is_of_a_code_that_exists() -> None:
    own = {
        "bad-context", "bad-length", "context-too-long", "non-contributory", "not-exportable", "usage", "wiped",
    }  # fmt: skip
    assert len(_native.REASONS) == len(set(_native.REASONS)) >= 20
    assert set(gambeson.errors._CLASSES) <= {*_native.REASONS, *own}
    assert type(gambeson.errors.of_code("of-tomorrow", "")) is gambeson.VerificationError
