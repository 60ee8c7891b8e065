"""Payloads for one agent, backups, words, and the audit log."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from test_agent import NOW, SEED, refused

import gambeson
from gambeson import Agent, AuditLog, CardStore, ReplayCache

DAY = timedelta(days=1)


class World:
    """Two agents who know each other."""

    def __init__(self) -> None:
        self.ada, self.bob = Agent.generate(), Agent.generate()
        self.trust = CardStore(*(agent.first_card(valid_for=DAY, now=NOW) for agent in (self.ada, self.bob)))
        self.asked: dict[str, Any] = {"resolver": self.trust, "now": NOW + 1}


def test_a_sealed_payload_opens_once_for_its_recipient() -> None:
    world = World()
    replay = ReplayCache()
    sealed = world.ada.seal(b"the tower", world.bob.did, media_type="text/plain", **world.asked)
    assert b"tower" not in sealed and world.ada.did.encode() not in sealed
    opened = world.bob.open(bytearray(sealed), replay=replay, **world.asked)
    assert (opened["payload"], opened["media_type"]) == (b"the tower", "text/plain")
    assert (opened["did"], opened["signer"]) == (world.ada.did, world.ada.key_url())
    assert len(opened["id"]) == 16 and opened["expires"] == NOW + 1 + 7 * 86_400 and len(replay) == 1

    refused(gambeson.Replayed, "replayed", world.bob.open, sealed, replay=replay, **world.asked)
    refused(gambeson.InvalidSignature, "cannot-open", world.ada.open, sealed, replay=replay, **world.asked)
    changed = sealed[:-1] + bytes([sealed[-1] ^ 1])
    refused(gambeson.InvalidSignature, "cannot-open", world.bob.open, changed, replay=replay, **world.asked)
    late: dict[str, Any] = {"resolver": world.trust, "now": NOW + 60}
    short = world.ada.seal(b"", world.bob.did, lifetime=10, **world.asked)
    refused(gambeson.Expired, "expired", world.bob.open, short, replay=replay, **late)
    refused(gambeson.Malformed, "bad-form", world.bob.open, b"no envelope", replay=replay, **world.asked)
    nobody = Agent.generate()
    refused(gambeson.UnknownSigner, "unknown-did", world.ada.seal, b"", nobody.did, **world.asked)
    refused(gambeson.Malformed, "bad-time", world.ada.seal, b"", world.bob.did, lifetime=timedelta(days=31), **world.asked)

    class Table:
        def remember(self, id: bytes, until: int, now: int, /) -> bool:
            world.bob.sign(b"the agent can work meanwhile", b"test")
            return False

    again = world.ada.seal(b"", world.bob.did, **world.asked)
    refused(gambeson.Replayed, "replayed", world.bob.open, again, replay=Table(), **world.asked)


def test_the_seed_alone_opens_a_backup() -> None:
    agent = Agent.from_seed_bytes(SEED)
    cards = agent.first_card(valid_for=DAY, now=NOW)
    credential = agent.issue({"id": agent.did}, valid_for=DAY, now=NOW)
    sealed = agent.backup(cards=cards, credentials={"self": credential}, objects=[b"memory", b""], now=NOW)
    assert credential.encode() not in sealed

    restored = Agent.from_seed_bytes(SEED).restore(sealed)
    assert (restored["made"], restored["cards"], restored["credentials"]) == (NOW, cards, {"self": credential})
    assert restored["objects"] == {gambeson.object_id(data): data for data in (b"memory", b"")}
    assert agent.restore(bytearray(sealed), since=1)["cards"] == cards
    refused(gambeson.BrokenCards, "stale-card", agent.restore, sealed, since=2)
    refused(gambeson.InvalidSignature, "cannot-open", Agent.generate().restore, sealed)
    refused(gambeson.InvalidSignature, "cannot-open", agent.restore, sealed[:-1])
    refused(gambeson.Malformed, "bad-form", agent.backup, credentials={"../x": ""})
    with pytest.raises(TypeError):
        agent.backup(credentials={"x": 5})  # type: ignore[dict-item]


def test_a_dictionary_that_others_change_meanwhile_is_backed_up_as_it_was() -> None:
    agent = Agent.from_seed_bytes(SEED)
    credentials = {f"{i}.jwt": "e.y.J" for i in range(30)}
    done = threading.Event()

    def change() -> None:
        number = 0
        while not done.is_set():
            number += 1
            credentials[f"more-{number % 2}.jwt"] = "e.y.J"
            credentials.pop(f"more-{(number + 1) % 2}.jwt", None)

    other = threading.Thread(target=change)
    other.start()
    try:
        kept = agent.restore(agent.backup(credentials=credentials, now=NOW))["credentials"]
    finally:
        done.set()
        other.join()
    assert len([name for name in kept if not name.startswith("more")]) == 30


def test_words_make_the_agent_again() -> None:
    words = gambeson.generate_words()
    assert len(words.split()) == 24 and words != gambeson.generate_words()
    agent = Agent.from_words(words)
    cards = agent.rotate(agent.first_card(valid_for=DAY, now=NOW), roles=["signing"], valid_for=DAY, now=NOW)
    again = Agent.from_words("  " + words.upper().replace(" ", "\n"), cards=cards)
    assert (again.did, again.key_url()) == (agent.did, agent.key_url())
    known = "abandon " * 23 + "art"
    assert Agent.from_words(known).did == Agent.from_seed_bytes(bytes(32)).did
    for wrong in ("", "abandon " * 24, words + " zoo", "xyzzy " + words.split(" ", 1)[1], "a" * 10_000):
        refused(gambeson.Malformed, "bad-words", Agent.from_words, wrong)
    refused(gambeson.UsageError, "wrong-seed", Agent.from_words, known, cards=cards)


def test_a_passphrase_keeps_the_seed_on_disk() -> None:
    words = gambeson.generate_words()
    file = gambeson.protect_words(words, "correct horse", suite="cnsa2")
    agent = Agent.from_protected(file, "correct horse")
    assert (agent.did, agent.suite) == (Agent.from_words(words, suite="cnsa2").did, "cnsa2")
    refused(gambeson.WrongPassphrase, "wrong-passphrase", Agent.from_protected, file, "wrong horse")
    refused(gambeson.UsageError, "usage", Agent.from_protected, file, "")
    refused(gambeson.Malformed, "bad-form", Agent.from_protected, b"no file", "correct horse")


def test_the_audit_log_proves_what_it_holds(tmp_path: Path) -> None:
    agent = Agent.generate()
    trust = CardStore(agent.first_card(valid_for=DAY, now=NOW))
    origin = "agent.example/log"
    log = AuditLog.create(agent, tmp_path, origin, now=NOW)
    entries = [f"entry {number}".encode() for number in range(300)]
    assert log.append(agent, entries[:10], now=NOW) == 0
    assert log.append(agent, entries[10:], now=NOW + 1) == 10
    assert (len(log), log.entry(299)) == (300, b"entry 299")
    log.audit()

    again = AuditLog.open(agent, tmp_path, origin, now=NOW + 2)
    proof = again.prove(123)
    asked: dict[str, Any] = {"origin": origin, "signer": agent.key_url("log"), "resolver": trust, "now": NOW + 3}
    claims = gambeson.verify_log_proof(proof, entries[123], **asked)
    assert claims == {"signer": agent.key_url("log"), "index": 123, "size": 300, "root": log.root, "signed": NOW + 1}
    refused(gambeson.BrokenLog, "not-included", gambeson.verify_log_proof, proof, b"entry 124", **asked)
    refused(gambeson.NotPermitted, "wrong-purpose", gambeson.verify_log_proof, proof, entries[123], **(asked | {"signer": agent.key_url()}))
    with pytest.raises(gambeson.VerificationError):
        gambeson.verify_log_proof(proof, entries[123], **(asked | {"origin": "other.example/log"}))
    refused(gambeson.StorageError, "storage-failed", AuditLog.create, agent, tmp_path, origin, now=NOW)
    refused(gambeson.NotInLog, "not-in-log", again.prove, 300)
    with pytest.raises(gambeson.Error):
        AuditLog.open(Agent.generate(), tmp_path, origin, now=NOW)
