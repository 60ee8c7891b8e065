"""What an agent keeps: its seed in shares and age files, memory objects, state at rest, and its log for others to read."""

from __future__ import annotations

import hashlib
import io
import resource
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from test_agent import NOW, refused

import gambeson
from gambeson import Agent, AuditLog, CardStore, ObjectDirectory, ObjectStore, mldsa, tlog

DAY = timedelta(days=1)
MIB = 1 << 20


def test_some_of_the_shares_make_the_agent_again() -> None:
    words = gambeson.generate_words()
    agent = Agent.from_words(words)
    shares = gambeson.share_words(words, 2, 3)
    assert len(shares) == 3 and {len(share.split()) for share in shares} == {46}
    cards = agent.rotate(agent.first_card(valid_for=DAY, now=NOW), roles=["signing"], valid_for=DAY, now=NOW)
    for some in (shares[:2], shares[::-2], shares):
        assert Agent.from_shares(some).did == agent.did
    assert Agent.from_shares(shares[1:], cards=cards).key_url() == agent.key_url()
    assert Agent.from_shares(shares[1:], suite="cnsa2").did == Agent.from_words(words, suite="cnsa2").did
    other = gambeson.share_words(gambeson.generate_words(), 2, 3)
    for wrong in ([], shares[:1], [shares[0], shares[0]], [shares[0], other[1]], ["word", "list"], shares * 6):
        refused(gambeson.Malformed, "bad-shares", Agent.from_shares, wrong)
    for threshold, count in ((0, 1), (1, 2), (3, 2), (2, 17)):
        refused(gambeson.Malformed, "bad-shares", gambeson.share_words, words, threshold, count)
    refused(gambeson.Malformed, "bad-words", gambeson.share_words, "words", 2, 3)


def test_an_age_file_keeps_the_seed() -> None:
    words = gambeson.generate_words()
    file = gambeson.age_file(words, "correct horse", work_factor=10)
    assert file.startswith(b"-----BEGIN AGE ENCRYPTED FILE-----")
    assert Agent.from_age_file(bytearray(file), "correct horse").did == Agent.from_words(words).did
    agent = Agent.from_age_file(file, "correct horse", suite="cnsa2")
    assert agent.did == Agent.from_words(words, suite="cnsa2").did
    refused(gambeson.WrongPassphrase, "wrong-passphrase", Agent.from_age_file, file, "wrong horse")
    refused(gambeson.WrongPassphrase, "too-much-work", Agent.from_age_file, file, "correct horse", max_work_factor=9)
    refused(gambeson.Malformed, "bad-form", Agent.from_age_file, file[:-40], "correct horse")
    refused(gambeson.UsageError, "usage", gambeson.age_file, words, "")
    for factor in (0, 23, 255):
        refused(gambeson.UsageError, "usage", gambeson.age_file, words, "correct horse", work_factor=factor)
        refused(gambeson.UsageError, "usage", Agent.from_age_file, file, "correct horse", max_work_factor=factor)


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_memory_objects_are_named_by_their_hashes(kind: str, tmp_path: Path) -> None:
    objects: Any = ObjectStore() if kind == "memory" else ObjectDirectory(tmp_path / "objects")
    assert objects.ids() == []
    name = objects.put(bytearray(b"one"))
    assert name == gambeson.object_id(b"one") and objects.put(b"one") == name
    assert objects.get(name) == b"one" and objects.get(gambeson.object_id(b"two")) is None
    large = bytes(range(256)) * (MIB // 100)
    manifest = objects.store(large)
    assert objects.load(manifest) == large and objects.load(objects.store(b"")) == b""
    ids = objects.ids()
    assert ids == sorted(ids) and {name, manifest} < set(ids)
    assert objects.load(manifest, max_len=len(large)) == large
    refused(gambeson.Malformed, "too-large", objects.load, manifest, max_len=len(large) - 1)
    refused(gambeson.Malformed, "too-large", objects.put, bytes(MIB + 1))
    refused(gambeson.Malformed, "bad-form", objects.get, "b3:00")
    refused(gambeson.Malformed, "bad-json", objects.load, name)
    refused(gambeson.InvalidSignature, "wrong-hash", objects.load, gambeson.object_id(b"two"))


def test_an_object_that_was_changed_on_disk_is_not_given_out(tmp_path: Path) -> None:
    objects = ObjectDirectory(tmp_path)
    name = objects.put(b"one")
    [file] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert file == tmp_path / name[3:5] / name[5:]
    file.write_bytes(b"two")
    refused(gambeson.InvalidSignature, "wrong-hash", objects.get, name)


@pytest.mark.parametrize("suite", ["default", "cnsa2"])
def test_a_signature_beside_a_file_says_who_signed_it(suite: Any, tmp_path: Path) -> None:
    agent = Agent.generate(suite=suite)
    trust = CardStore(agent.first_card(valid_for=DAY, now=NOW))
    asked: dict[str, Any] = {"resolver": trust, "now": NOW + 9}
    path, data = tmp_path / "report", bytes(range(256)) * (3 * MIB // 256) + b"the end"
    path.write_bytes(data)
    with path.open("rb") as file:
        signature = agent.sign_file(file, now=NOW)
    with path.open("rb") as file:
        claims = gambeson.verify_file(signature, file, **asked)
    digest = gambeson.object_id(data) if suite == "default" else "sha384:" + hashlib.sha384(data).hexdigest()
    assert claims == {"signer": agent.key_url(), "did": agent.did, "hash": digest, "size": len(data), "issued": NOW}

    class Slow:
        """Gives less than it is asked for, in other buffers."""

        rest = data

        def read(self, size: int, /) -> bytearray:
            piece, self.rest = self.rest[: size // 3], self.rest[size // 3 :]
            return bytearray(piece)

    assert gambeson.verify_file(signature, Slow(), **asked) == claims
    for other in (data[:-1], data + b"!", b"", bytes([1]) + data[1:]):
        refused(gambeson.InvalidSignature, "bad-digest", gambeson.verify_file, signature, io.BytesIO(other), **asked)
    late = asked | {"now": NOW + 86_401}
    refused(gambeson.Expired, "expired", gambeson.verify_file, signature, io.BytesIO(data), **late)
    nobody = asked | {"resolver": CardStore()}
    refused(gambeson.UnknownSigner, "unknown-did", gambeson.verify_file, signature, io.BytesIO(data), **nobody)
    refused(gambeson.Malformed, "bad-form", gambeson.verify_file, "no signature", io.BytesIO(data), **asked)

    begun = io.BytesIO(b"head" + data)
    begun.seek(4)
    assert gambeson.verify_file(signature, begun, **asked) == claims and begun.read() == b""
    with path.open("rb") as closed:
        pass
    with pytest.raises(ValueError, match="closed file"):
        agent.sign_file(closed)
    for wrong in (io.StringIO("text"), b"bytes", str(path)):
        with pytest.raises(TypeError):
            agent.sign_file(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("suite", ["default", "cnsa2"])
def test_state_at_rest_opens_for_its_agent_and_label_alone(suite: Any) -> None:
    agent = Agent.generate(suite=suite)
    sealed = agent.seal_state("ledger", b"3 calls")
    assert agent.open_state("ledger", memoryview(sealed)) == b"3 calls" and b"3 calls" not in sealed
    refused(gambeson.InvalidSignature, "cannot-open", agent.open_state, "replay", sealed)
    refused(gambeson.InvalidSignature, "cannot-open", Agent.generate(suite=suite).open_state, "ledger", sealed)
    refused(gambeson.Malformed, "bad-form", agent.open_state, "ledger", b"")


def test_others_read_and_watch_a_log(tmp_path: Path) -> None:
    agent, origin = Agent.generate(), "agent.example/log"
    trust = CardStore(agent.first_card(valid_for=DAY, now=NOW))
    signer = agent.key_url("log")
    asked: dict[str, Any] = {"origin": origin, "signer": signer, "resolver": trust, "now": NOW + 9}
    log = AuditLog.create(agent, tmp_path, origin, now=NOW)
    assert (log.origin, len(log)) == (origin, 0)
    log.append(agent, [b"entry %d" % number for number in range(300)], now=NOW)
    old = tlog.verify_checkpoint(log.checkpoint, **asked)
    assert old == {"signer": signer, "size": 300, "root": log.root, "signed": NOW}
    log.append(agent, [b"one more"], now=NOW + 1)

    read = AuditLog.read(tmp_path, **asked)
    assert (read.root, read.checkpoint, read.entry(300)) == (log.root, log.checkpoint, b"one more")
    read.audit()
    new = tlog.verify_checkpoint(read.checkpoint, **asked)
    path = read.prove_consistency(300)
    states: dict[str, Any] = {"old": (old["size"], old["root"]), "new": (new["size"], new["root"])}
    tlog.verify_consistency(path, **states)
    forked = states | {"old": (300, bytes(32))}
    refused(gambeson.BrokenLog, "inconsistent", tlog.verify_consistency, path, **forked)
    leaf = tlog.leaf_hash(b"one more")
    root = hashlib.sha256(b"\x01" + old["root"] + leaf).digest()
    tlog.verify_inclusion(leaf, [old["root"]], index=256, size=257, root=root)
    refused(gambeson.BrokenLog, "not-included", tlog.verify_inclusion, leaf, [old["root"]], index=0, size=2, root=root)

    key = gambeson.resolve_key(signer, "log", resolver=trust, now=NOW)
    assert isinstance(key, mldsa.MLDSA44PublicKey)
    by_key: dict[str, Any] = {"origin": origin, "signer": key, "now": NOW + 9}
    assert AuditLog.read(tmp_path, **by_key).root == log.root
    assert tlog.verify_checkpoint(log.checkpoint, **by_key) == new | {"signer": key.to_did()}
    claims = tlog.verify_log_proof(read.prove(7), b"entry 7", **by_key)
    assert (claims["index"], claims["size"], claims["root"]) == (7, 301, log.root)
    assert tlog.log_verifier_key(origin, key).startswith(origin + "+")

    refused(gambeson.NotPermitted, "wrong-purpose", AuditLog.read, tmp_path, **(asked | {"signer": agent.key_url()}))
    refused(gambeson.UsageError, "usage", AuditLog.read, tmp_path, origin, signer=signer)
    refused(gambeson.UsageError, "bad-length", tlog.verify_consistency, [b"short"], **states)
    refused(gambeson.NotInLog, "not-in-log", read.prove_consistency, 302)
    other = mldsa.MLDSA65PrivateKey.generate().public_key()
    refused(gambeson.Malformed, "bad-algorithm", tlog.log_verifier_key, origin, other)
    refused(gambeson.Malformed, "bad-algorithm", AuditLog.read, tmp_path, **(by_key | {"signer": other}))
    with pytest.raises(TypeError):
        AuditLog.read(tmp_path, origin, signer=7)  # type: ignore[arg-type]

    tile = tmp_path / "tile" / "0" / "001.p" / "45"
    tile.write_bytes(bytes(len(tile.read_bytes())))
    refused(gambeson.BrokenLog, "damaged-log", AuditLog.read, tmp_path, **asked)


def test_two_who_write_one_log_sign_no_fork(tmp_path: Path) -> None:
    agent, origin = Agent.generate(), "agent.example/log"
    AuditLog.create(agent, tmp_path, origin, now=NOW)
    one, other = (AuditLog.open(agent, tmp_path, origin, now=NOW) for _ in range(2))
    assert one.append(agent, [b"one"], now=NOW) == 0
    refused(gambeson.BrokenLog, "inconsistent", other.append, agent, [b"other"], now=NOW)
    assert (len(other), (tmp_path / "checkpoint").read_text(encoding="utf-8")) == (0, one.checkpoint)
    assert AuditLog.open(agent, tmp_path, origin, now=NOW).append(agent, [b"other"], now=NOW) == 1

    def write(writer: int) -> list[str]:
        signed: list[str] = []
        while len(signed) < 10:
            log = AuditLog.open(agent, tmp_path, origin, now=NOW)
            try:
                log.append(agent, [b"%d of %d" % (len(signed), writer)], now=NOW)
                signed.append(log.checkpoint)
            except gambeson.BrokenLog as behind:
                assert behind.code == "inconsistent"
        return signed

    with ThreadPoolExecutor(4) as pool:
        signed = [checkpoint for written in pool.map(write, range(4)) for checkpoint in written]
    log = AuditLog.open(agent, tmp_path, origin, now=NOW)
    log.audit()
    asked: dict[str, Any] = {
        "origin": origin, "signer": agent.key_url("log"), "now": NOW,
        "resolver": CardStore(agent.first_card(valid_for=DAY, now=NOW)),
    }  # fmt: skip
    sizes = set()
    for checkpoint in signed:
        old = tlog.verify_checkpoint(checkpoint, **asked)
        states: dict[str, Any] = {"old": (old["size"], old["root"]), "new": (len(log), log.root)}
        tlog.verify_consistency(log.prove_consistency(old["size"]), **states)
        sizes.add(old["size"])
    assert sizes == set(range(3, 43)) and len(log) == 42
    entries = {log.entry(number) for number in range(2, 42)}
    assert entries == {b"%d of %d" % (number, writer) for number in range(10) for writer in range(4)}


def test_after_a_checkpoint_that_may_be_lost_a_log_signs_no_other(tmp_path: Path) -> None:
    agent, origin = Agent.generate(), "agent.example/log"
    log = AuditLog.create(agent, tmp_path, origin, now=NOW)
    before = log.checkpoint
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The tiles are short enough; the checkpoint, signed by then, is not.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        refused(gambeson.StorageError, "storage-failed", log.append, agent, [b"lost"], now=NOW)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(before) > 1024 and (log.checkpoint, len(log)) == (before, 0)
    refused(gambeson.BrokenLog, "inconsistent", log.append, agent, [b"another"], now=NOW)
    again = AuditLog.open(agent, tmp_path, origin, now=NOW)
    assert (again.append(agent, [b"another"], now=NOW), again.entry(0)) == (0, b"another")
    again.audit()
