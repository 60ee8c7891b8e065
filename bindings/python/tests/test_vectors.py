"""`vectors/*.json` of the project: what Rust wrote, and Rust, TypeScript and two independent programs read as well.

Every vector of every file is judged: accepted with what the file tells, or refused with its reason. Derived private keys and
deterministic signatures have no door in the wheel: those come from the same package, built once more with the feature
`test-vectors`, and the wheel is compared with them through what it does show: public keys, DIDs, agents of fleets, logs.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.machinery
import importlib.util
import io
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import gambeson
from gambeson import (
    Action,
    Agent,
    CardLog,
    CardStore,
    Ledger,
    Policy,
    ReplayCache,
    StatusList,
    StatusStore,
    mldsa,
    mlkem,
    tlog,
    xwing,
)

FOLDER = Path(__file__).parents[3] / "vectors"
Vector = dict[str, Any]


def read(subject: str, count: int) -> list[Vector]:
    file = json.loads((FOLDER / f"{subject}.json").read_text(encoding="utf-8"))
    assert (file["version"], file["subject"], file["count"], len(file["vectors"])) == (1, subject, count, count)
    return list(file["vectors"])


class Judge:
    """Compares outcomes with the file, and counts them."""

    def __init__(self, vectors: list[Vector]) -> None:
        self.vectors = vectors
        self.judged: list[str] = []

    def __call__(self, vector: Vector, work: Callable[[], Any]) -> Any:
        expected = vector.get("reason")
        try:
            found, reason = work(), None
        except gambeson.Error as error:
            found, reason = None, error.code
        assert reason == expected, f"{vector['id']}: {reason} instead of {expected}"
        assert (vector.get("result") == "reject") == (expected is not None), vector["id"]
        self.judged.append(vector["id"])
        return found

    def cards(self) -> CardStore:
        """Everybody whose cards are in the file, which are judged as well."""
        store = CardStore()
        for vector in self.vectors:
            if vector["kind"] in ("cards", "card-log"):
                log = self(vector, lambda: CardLog.verify(vector["log"]))
                assert vector.get("did", log.did) == log.did
                store.add(log)
        return store

    def ends(self) -> None:
        """Every vector was judged, once."""
        assert sorted(self.judged) == sorted(vector["id"] for vector in self.vectors)


def read_for(subject: str, count: int) -> tuple[list[Vector], Judge]:
    vectors = read(subject, count)
    return vectors, Judge(vectors)


@pytest.fixture(scope="session")
def unshipped() -> Any:
    """The native module built with what no wheel has."""
    path = os.environ.get("GAMBESON_VECTORS")
    assert path, "GAMBESON_VECTORS names the build for vectors; `cargo xtask python` sets it"
    loader = importlib.machinery.ExtensionFileLoader("_native", path)
    spec = importlib.util.spec_from_file_location("_native", path, loader=loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_wheel_has_neither_raw_derivations_nor_deterministic_signatures(unshipped: Any) -> None:
    shipped = gambeson._native
    extra = {name for name in dir(unshipped) if name not in dir(shipped)}
    assert extra == {"derived"}
    ways = {name for name in dir(unshipped.Agent) if name not in dir(Agent)}
    assert ways == {"deterministic"}
    marker = b"For test vectors alone"
    assert marker in Path(unshipped.__file__).read_bytes()
    assert shipped.__file__ and marker not in Path(shipped.__file__).read_bytes()


def test_every_file_of_vectors_has_its_test() -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    # Sessions are not in the package.
    subjects = sorted({file.stem for file in FOLDER.glob("*.json")} - {"session"})
    assert len(subjects) == 21
    assert [subject for subject in subjects if f'read_for("{subject}", ' not in tests] == []


def test_actions_proofs_and_receipts() -> None:
    vectors, judge = read_for("action", 102)
    trust = judge.cards()
    for vector in vectors:
        if vector["kind"] == "cards":
            continue
        replay = ReplayCache(vector.get("capacity", 100))
        common: Vector = {"resolver": trust, "now": vector["now"]}

        def check(vector: Vector = vector, replay: ReplayCache = replay, common: Vector = common) -> Vector:
            match vector["kind"]:
                case "action":
                    return gambeson.verify_action(
                        vector["payload"], vector["token"], audience=vector["audience"], replay=replay,
                        max_lifetime=vector.get("maxLifetime"), **common,
                    )  # fmt: skip
                case "mcp":
                    return gambeson.verify_mcp(
                        vector["method"], vector["params"], audience=vector["audience"], replay=replay, **common
                    )
                case "receipt":
                    return gambeson.verify_mcp_receipt(
                        vector["response"], Action.from_json(vector["payload"]), server=vector["server"], **common
                    )
                case kind:
                    raise AssertionError(kind)

        if vector.get("repeat"):
            check()
        found = judge(vector, check)
        if found:
            assert found["signer"] == vector["signer"]
            digests = [found["action"]] if vector["kind"] == "receipt" else [
                Action.from_json(found["action"]).digest(suite=suite) for suite in ("default", "cnsa2")
            ]  # fmt: skip
            assert vector["digest"] in digests
    judge.ends()


def test_delegation() -> None:
    vectors, judge = read_for("delegation", 349)
    trust = judge.cards()
    by_id = {vector["id"]: vector for vector in vectors}
    root_did = by_id["agent-root"]["did"]
    root = next(it for it in (Agent.from_seed_bytes(bytes([n]) * 32) for n in range(256)) if it.did == root_did)

    def status(vector: Vector) -> StatusStore | None:
        store = StatusStore() if vector["status"] else None
        for url, numbers in vector["status"].items():
            bits = StatusList()
            for number in numbers:
                bits.set(number)
            assert store
            store.add(
                root.issue_status_list(bits, url, valid_for=3600, now=vector["now"]), resolver=trust, now=vector["now"]
            )
        return store

    def decide(vector: Vector, ledger: Ledger) -> Vector:
        action = json.loads(vector["payload"])
        cost = vector.get("cost")
        return gambeson.verify_action(
            vector["payload"],
            vector["token"],
            audience=action["aud"],
            resolver=trust,
            replay=ReplayCache(),
            chain=[by_id[name]["token"] for name in vector["chain"]],
            approvals=[by_id[name]["token"] for name in vector["approvals"]],
            policy=Policy(
                trust=[(it["resource"], it["did"]) for it in vector["roots"]],
                approvals=[(it["action"], it["approvers"]) for it in vector.get("approvalRules", [])],
            ),
            ledger=ledger,
            status=status(vector),
            cost=(lambda _: (cost["amount"], cost["unit"])) if cost else None,
            max_lifetime=10**9,
            now=vector["now"],
        )

    named: set[str] = set()
    for vector in vectors:
        if vector["kind"] != "authorize":
            continue
        named |= {*vector["chain"], *vector["approvals"]}
        ledger = Ledger(vector.get("capacity", 100))
        for earlier in vector.get("before", []):
            decide(by_id[earlier], ledger)

        def check(vector: Vector = vector, ledger: Ledger = ledger) -> Vector:
            return decide(vector, ledger)

        found = judge(vector, check)
        if found:
            authorized = found["authorized"]
            for name in ("root", "path", "approvers"):
                assert authorized[name] == vector[name], vector["id"]
            assert found["signer"] == vector["signer"]
    # Tokens are judged with the actions that they are shown with, for whether one holds depends on the others.
    for vector in vectors:
        if vector["kind"] == "token":
            assert vector["id"] in named
            judge.judged.append(vector["id"])
    judge.ends()


def test_http_signatures() -> None:
    vectors, judge = read_for("httpsig", 214)
    trust = judge.cards()

    def fields(message: Vector) -> list[tuple[str, str]]:
        return [(name, value) for name, value in message.get("fields", [])]

    def body(message: Vector) -> bytes | None:
        return message["body"].encode() if "body" in message else None

    for vector in vectors:
        if vector["kind"] == "cards":
            continue
        message, replay = vector["message"], ReplayCache(vector.get("capacity", 100))
        asked: Vector = {
            "resolver": trust, "replay": replay, "required": vector.get("required", []), "tag": vector.get("tag"),
            "signer": vector.get("from"),
            "role": "signing" if vector.get("relationship") == "capabilityInvocation" else "identity",
            "max_age": vector.get("maxAge", 120), "now": vector["now"],
        }  # fmt: skip

        def check(message: Vector = message, asked: Vector = asked) -> Vector:
            if "status" not in message:
                return gambeson.verify_http(
                    message["method"], message["target"], fields(message), body(message), **asked
                )
            of = message.get("request")
            request = (of["method"], of["target"], fields(of), body(of)) if of else None
            return gambeson.verify_http_response(
                message["status"], fields(message), body(message), request=request, **asked
            )

        if vector.get("repeat"):
            check()
        found = judge(vector, check)
        if found:
            assert found["signer"] == vector["signer"]
            covered = [line.split(": ")[0] for line in vector["base"].split("\n")[:-1]]
            assert found["components"] == covered
    judge.ends()


def test_credentials_and_presentations() -> None:
    vectors, judge = read_for("vc-jwt", 120)
    trust = judge.cards()
    for vector in vectors:
        common: Vector = {"resolver": trust, "now": vector.get("now")}
        if vector["kind"] == "credential":
            found = judge(vector, lambda: gambeson.verify_credential(vector["token"], **common))
            if found:
                assert (found["signer"], found["credential"]) == (vector["signer"], vector["payload"])
        elif vector["kind"] == "presentation":
            asked = {name: vector[name] for name in ("audience", "nonce")} | common
            asked |= {"max_age": vector["maxAge"], "bearer": vector["binding"] == "bearer"}
            found = judge(vector, lambda: gambeson.verify_presentation(vector["token"], **asked))
            if found:
                assert (found["signer"], len(found["credentials"])) == (vector["signer"], vector["credentials"])
    judge.ends()


def test_status_lists() -> None:
    vectors, judge = read_for("status", 53)
    trust, lists = judge.cards(), StatusStore()
    for vector in vectors:
        if vector["kind"] == "list":
            store = lists if "reason" not in vector else StatusStore()
            judge(vector, lambda: store.add(vector["token"], resolver=trust, now=vector["now"]))
            if "reason" not in vector:
                issuer = json.loads(base64.urlsafe_b64decode(vector["token"].split(".")[1] + "=="))["issuer"]
                found = lists.get(issuer, vector["url"], vector["purpose"])
                assert found and len(found) == vector["entries"]
                assert [number for number in range(len(found)) if found.is_set(number)] == vector["set"]
    for vector in vectors:
        if vector["kind"] == "credential":
            asked: Vector = {"resolver": trust, "now": vector["now"]}
            if vector["status"] != "ignored":
                asked |= {"status": lists, "unknown_status": "refuse" if vector["status"] == "required" else "accept"}
            else:
                # This package always asks; without any list it lets pass what it is told to let pass.
                asked |= {"unknown_status": "accept"}
            judge(vector, lambda: gambeson.verify_credential(vector["token"], **asked))
    judge.ends()


def test_documents_with_proofs() -> None:
    vectors, judge = read_for("data-integrity", 39)
    trust = judge.cards()
    for vector in vectors:
        if vector["kind"] == "credential":
            found = judge(
                vector, lambda: gambeson.verify_credential(vector["document"], resolver=trust, now=vector["now"])
            )
            if found:
                assert found["signer"] == vector["signer"]
        elif vector["kind"] == "signature":
            key = gambeson.key_from_multikey(vector["multikey"])
            found = judge(vector, lambda: gambeson.verify_document(vector["document"], key=key))
            assert found["signer"] == f"did:key:{vector['multikey']}"
            assert found["document"] == {name: it for name, it in vector["document"].items() if name != "proof"}
    judge.ends()


ROLES: dict[str, Any] = {
    "Identity": "identity", "Signing": "signing", "Did": "did", "Backup": "backup", "Sealed": "sealed",
    "Encapsulation": "encapsulation", "DataIntegrity": "data-integrity", "Log": "log",
    "GroupEcdsaP256": "group-ecdsa-p256", "GroupEcdsaP384": "group-ecdsa-p384", "GroupEcdsaP521": "group-ecdsa-p521",
    "GroupMlDsa65Ed25519": "group-mldsa65-ed25519", "GroupMlDsa87EcdsaP384": "group-mldsa87-ecdsa-p384",
}  # fmt: skip
PRIVATE: dict[str, Any] = {
    "ML-DSA-44": mldsa.MLDSA44PrivateKey, "ML-DSA-65": mldsa.MLDSA65PrivateKey, "ML-DSA-87": mldsa.MLDSA87PrivateKey,
    "ML-KEM-768": mlkem.MLKEM768PrivateKey, "ML-KEM-1024": mlkem.MLKEM1024PrivateKey, "X-Wing": xwing.XWingPrivateKey,
}  # fmt: skip


def test_keys_paths_and_dids_of_seeds(unshipped: Any) -> None:
    vectors, judge = read_for("kdf", 218)
    shown: Counter[str] = Counter()

    def derive(vector: Vector) -> None:
        seed, suite, index = bytes.fromhex(vector["seed"]), vector["suite"], int(vector["index"])
        context, key = unshipped.derived(seed, suite, vector["purpose"], index)
        assert (context, len(key), key.hex()) == (vector["context"], vector["length"], vector["key"])
        if vector["path"]:
            assert gambeson.parse_path(vector["path"])[1] == index
        if vector.get("algorithm") in PRIVATE:
            public = PRIVATE[vector["algorithm"]].from_seed_bytes(key).public_key().public_bytes_raw()
            assert gambeson.object_id(public) == "b3:" + vector["public_key_blake3"]
            shown["public keys of derived seeds"] += 1
        # What the wheel shows of the same keys: those of agents before a rotation and after the first, DIDs, fleets.
        if vector["purpose"] in ROLES and index < 2:
            role = ROLES[vector["purpose"]]
            agent = Agent.from_seed_bytes(seed, suite=suite)
            if index == 1:
                agent.rotate(agent.first_card(valid_for=60, now=0), roles=[role], valid_for=60, now=0)
            shown_hash = gambeson.object_id(agent.public_key(role))
            assert (agent.index(role), shown_hash) == (index, "b3:" + vector["public_key_blake3"])
            shown["public keys of agents"] += 1
        if "did" in vector:
            assert Agent.from_seed_bytes(seed, suite=suite).did == vector["did"]
            shown["DIDs"] += 1
        if vector["purpose"] == "Child":
            child = Agent.from_seed_bytes(seed, suite=suite).child(index)
            assert child.did == Agent.from_seed_bytes(key, suite=suite).did
            shown["fleets"] += 1

    for vector in vectors:
        if vector["kind"] == "key":
            judge(vector, lambda: derive(vector))
        else:
            found = judge(vector, lambda: gambeson.parse_path(vector["path"]))
            if found:
                assert found == (vector["role"], int(vector["index"]))
    judge.ends()
    assert shown == {"public keys of derived seeds": 88, "public keys of agents": 78, "DIDs": 4, "fleets": 8}


def test_logs_of_cards() -> None:
    vectors, judge = read_for("card-log", 84)
    cases: Counter[str] = Counter()
    good = {vector["id"]: vector for vector in vectors if "log" in vector}
    for vector in good.values():
        log = judge(vector, lambda: CardLog.verify(vector["log"]))
        lines = vector["log"].splitlines()
        assert log.did == vector["did"]
        for count, expected in enumerate(vector["hashes"], 1):
            assert CardLog.verify("\n".join(lines[:count])).hash == expected
        assert len(log) == len(lines) == len(vector["hashes"])
        agent = Agent.from_seed_bytes(bytes.fromhex(vector["seed"]), suite=vector["suite"], cards=log)
        for role, index in vector["indexes"].items():
            assert agent.index(role) == int(index)
        for case in vector["cases"]:
            cases[answer(log, case)] += 1
    for vector in vectors:
        if "of" in vector:
            judge(vector, lambda: refuse(vector, good))
    judge.ends()
    assert cases == {"resolve": 32, "agreement": 12, "role": 22, "relationship": 82}


def answer(log: CardLog, case: Vector) -> str:
    """Asks a log what a case asks, and gives the case's kind."""
    kind = next(name for name in ("resolve", "agreement", "role", "relationship") if name in case)
    try:
        if kind == "resolve":
            assert CardStore(log).resolve(log.did, now=time_of(case["resolve"])) == log.document
        elif kind == "agreement":
            url, key = log.agreement_key(case["agreement"], now=time_of(case["at"]))
            assert url == case["key"] and len(key) > 1000
        elif kind == "role":
            log.key(case["key"], case["role"], now=time_of(case["at"]))
        else:
            log.key(case["key"], case["relationship"], form=case["form"], now=time_of(case["at"]))
        assert case["result"] == "ok", case
    except gambeson.Error as error:
        assert error.code == case.get("reason"), case
    return kind


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def refuse(vector: Vector, good: dict[str, Vector]) -> None:
    """Makes the log that must be refused from a good one, and shows it."""
    source = good[vector["of"]]
    all_lines = source["log"].splitlines()
    lines = [all_lines[number] for number in vector["lines"]]
    for number, old, new in vector["edits"]:
        assert old in lines[number]
        lines[number] = lines[number].replace(old, new, 1)
    text = "".join(line + "\n" for line in lines)
    if "pad" in vector:
        text = text.rstrip("\n") + " " * (vector["pad"] - len(text.rstrip("\n"))) + "\n"
    log = CardLog.verify(text)
    if "known" in vector:
        store = CardStore(CardLog.verify("\n".join(all_lines[number] for number in vector["known"])))
        store.add(log)
    if "other" in vector:
        CardStore(log).add(CardLog.verify(good[vector["other"]]["log"]))
    if "seed" in vector:
        Agent.from_seed_bytes(bytes.fromhex(vector["seed"]), suite=source["suite"], cards=log)


def test_json_and_times() -> None:
    vectors, judge = read_for("json", 105)
    for vector in vectors:
        if vector["kind"] == "time":
            seconds = judge(vector, lambda: gambeson.parse_time(vector["text"]))
            if seconds is not None:
                assert (seconds, gambeson.format_time(seconds)) == (vector["seconds"], vector["written"])
            continue
        text = bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"]
        asked: Vector = {"max_len": vector.get("max", 1 << 20), "object_only": vector.get("object", False)}
        found = judge(vector, lambda: gambeson.canonicalize(text, **asked))
        if found is not None:
            assert found.decode() == vector["canonical"]
    judge.ends()


def test_jws_and_keys_in_texts() -> None:
    vectors, judge = read_for("jws", 99)
    keys = {it["id"]: it["jwk"] for it in vectors if it["kind"] == "jws" and "jwk" in it}
    for vector in vectors:
        match vector["kind"]:
            case "jwk":
                key = judge(vector, lambda: gambeson.key_from_jwk(vector["jwk"]))
                if key:
                    assert (key.to_jwk(), key.to_jwk()["alg"]) == (vector["jwk"], vector["alg"])
                    assert key.to_multikey() == vector["multikey"]
                    assert gambeson.key_from_multikey(vector["multikey"]) == key
                    assert gambeson.parse_did(key.to_did()) == ("key", vector["multikey"])
                    assert gambeson.key_from_did(key.to_did()) == key
            case "multikey":
                judge(vector, lambda: gambeson.key_from_multikey(vector["multikey"]))
            case "jws":
                jws(vector, keys, judge)
            case kind:
                raise AssertionError(kind)
    judge.ends()


def jws(vector: Vector, keys: dict[str, Vector], judge: Judge) -> None:
    asked: Vector = {
        "payload": vector["payload"].encode() if vector.get("detached") else None, "typ": vector.get("typ"),
        "max_len": vector.get("max", 1 << 20),
    }  # fmt: skip
    if vector.get("kid"):
        # The key is the one that the header names; nobody gets as far as to ask who knows it.
        judge(vector, lambda: gambeson.verify_jws(vector["token"], resolver=CardStore(), **asked))
        return
    of = vector["key"] if "key" in vector else vector["id"]
    jwk = keys[of]
    found = judge(vector, lambda: gambeson.verify_jws(vector["token"], jwk, **asked))
    if not found:
        return
    assert found == (vector["header"], vector["payload"].encode())
    key = gambeson.key_from_jwk(jwk)
    assert gambeson.verify_jws(vector["token"], key, **asked) == found
    agent = Agent.from_seed_bytes(bytes.fromhex(vector["seed"]), suite=vector["suite"])
    assert (vector["index"], agent.public_key(ROLES[vector["purpose"]])) == ("0", key.public_bytes_raw())
    if "kid" in vector["header"]:
        asked |= {"resolver": CardStore(agent.first_card(valid_for=60, now=0)), "now": 0}
        assert gambeson.verify_jws(vector["token"], **asked) == found


def test_what_the_data_model_asks_of_credentials() -> None:
    vectors, judge = read_for("vc", 269)
    checks = {"credential": gambeson.check_credential, "presentation": gambeson.check_presentation}
    for vector in vectors:
        if vector["kind"] in checks:
            judge(vector, lambda: checks[vector["kind"]](vector["input"]))
        elif vector["kind"] == "secured-presentation":
            asked: Vector = {"audience": vector["audience"], "nonce": vector["nonce"], "max_age": 120}
            judge(
                vector,
                lambda: gambeson.verify_presentation(vector["input"], resolver=CardStore(), now=vector["now"], **asked),
            )
        else:
            judge(vector, lambda: gambeson.verify_credential(vector["input"], resolver=CardStore(), now=vector["now"]))
    judge.ends()


def test_what_did_core_asks_of_documents() -> None:
    vectors, judge = read_for("did", 265)
    functions: dict[str, Callable[..., dict[str, Any]]] = {
        "resolve": gambeson.resolve_did,
        "resolveRepresentation": gambeson.resolve_representation,
        "dereference": gambeson.dereference,
    }

    def site(given: Vector) -> gambeson.WebResolver:
        logs = [CardLog.verify(given["log"])] if "log" in given else []
        body = json.dumps(given.get("document")).encode()
        return gambeson.WebResolver(lambda address, most: body, CardStore(*logs))

    def signed(given: Vector) -> None:
        padded = given["signature"] + "=" * (-len(given["signature"]) % 4)
        gambeson.verify(
            base64.urlsafe_b64decode(padded),
            given["message"].encode(),
            given["context"].encode(),
            signer=given["url"],
            resolver=site(given),
        )

    for vector in vectors:
        given = vector["input"]
        match vector["kind"]:
            case "did":
                found = judge(vector, lambda: gambeson.parse_did(given))
                assert found is None or ":".join(("did", *found)) == given
            case "did-url":
                found = judge(vector, lambda: gambeson.parse_did_url(given))
                assert found is None or whole_url(*found) == given
            case "relative":
                found = judge(vector, lambda: gambeson.parse_did_url(given["reference"], base=given["did"]))
                assert found is None or whole_url(*found) == vector["url"]
            case "document" | "text":
                judge(vector, lambda: gambeson.check_did_document(given))
            case "representation":
                judge(vector, lambda: gambeson.check_did_document(given["text"], given["mediaType"]))
            case "signed":
                judge(vector, lambda: signed(given))
            case "resolution":
                asked = {"resolver": site(given), "now": given.get("now", 0)}
                accept = [given["accept"]] if "accept" in given else []
                found = functions[given["function"]](given["url"], *accept, **asked)
                assert found == vector["returned"] | {"reason": vector.get("reason")}, vector["id"]
                assert (vector.get("result") == "reject") == (found["content"] is None), vector["id"]
                judge.judged.append(vector["id"])
            case kind:
                raise AssertionError(kind)
    judge.ends()


def whole_url(did: str, path: str, query: str, fragment: str) -> str:
    return did + path + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")


def test_selective_disclosure() -> None:
    vectors, judge = read_for("sd-jwt", 77)
    trust = judge.cards()
    for vector in vectors:
        if vector["kind"] != "presented":
            continue
        asked: Vector = {"resolver": trust, "now": vector["now"]}
        if vector["binding"] == "required":
            asked |= {"audience": vector["audience"], "nonce": vector["nonce"], "max_age": vector["maxAge"]}
        else:
            asked |= {"bearer": True}
        found = judge(vector, lambda: gambeson.verify_sd_jwt(vector["token"], **asked))
        if found:
            assert (found["signer"], found["claims"]) == (vector["signer"], vector["claims"])
    judge.ends()


def whole(vector: Vector, by_id: dict[str, Vector]) -> Vector:
    """A vector with the members that it takes from another."""
    return by_id[vector["of"]] | vector if "of" in vector else vector


def changed(data: str, vector: Vector) -> bytes:
    """Bytes of another vector, with what is done to them."""
    out = bytearray.fromhex(data)
    if "flip" in vector:
        out[vector["flip"]] ^= 1
    return bytes(out[: vector.get("keep", len(out))]) + bytes.fromhex(vector.get("append", ""))


def test_cards_of_a2a() -> None:
    vectors, judge = read_for("a2a", 50)
    trust = judge.cards()
    for vector in vectors:
        if vector["kind"] == "card":
            asked: Vector = {"resolver": trust, "expected": vector.get("expected"), "now": vector["now"]}
            found = judge(vector, lambda: gambeson.verify_agent_card(vector["card"], **asked))
            if found:
                canonical = gambeson.canonicalize(json.dumps(found["card"])).decode()
                assert (found["signer"], canonical) == (vector["signer"], vector["canonical"])
    judge.ends()


def test_backups(unshipped: Any) -> None:
    vectors, judge = read_for("backup", 75)
    by_id = {vector["id"]: vector for vector in vectors}
    # One agent of each suite made the backups, one after the other, with a counter for randomness.
    makers: dict[str, Any] = {}
    again = 0
    for vector in vectors:
        it = whole(vector, by_id)
        seed, suite = bytes.fromhex(it["seed"]), it["suite"]
        agent = Agent.from_seed_bytes(seed, suite=suite)
        assert agent.did == it["did"]
        found = judge(
            vector, lambda: agent.restore(changed(it["file"], vector), since=vector.get("since", 0))
        )
        if found:
            expected, cards = vector["expect"], found["cards"]
            assert gambeson.format_time(found["made"]) == expected["made"]
            assert (cards and cards.to_lines()) == expected["cards"]
            assert {name: data.encode().hex() for name, data in found["credentials"].items()} == expected["credentials"]
            assert {name: data.hex() for name, data in found["objects"].items()} == expected["objects"]
            assert {name: data.hex() for name, data in found["state"].items()} == expected["state"]
            if cards is None:
                if suite not in makers:
                    makers[suite] = unshipped.Agent.deterministic(seed, suite)
                objects = list(found["objects"].values())
                made = makers[suite].backup(
                    credentials=found["credentials"], objects=objects, state=found["state"], now=found["made"]
                )
                again += made.hex() == vector["file"]
    # All but the two that were made after rotations.
    assert again == 8
    judge.ends()


def test_memory_objects(tmp_path: Path) -> None:
    vectors, judge = read_for("memory", 27)

    def contents(it: Vector) -> bytes:
        return bytes.fromhex(it["hex"]) if "hex" in it else bytes([it["byte"]]) * it["length"]

    def named(vector: Vector) -> None:
        # Under this name on disk lies what the vector says lies there.
        folder, name, data = tmp_path / vector["id"], vector["name"], contents(vector["object"])
        gambeson.ObjectStore().put(data)
        (folder / name[3:5]).mkdir(parents=True)
        (folder / name[3:5] / name[5:]).write_bytes(data)
        assert gambeson.ObjectDirectory(folder).get(name) == data
        assert gambeson.object_id(data) == name

    def loaded(vector: Vector) -> None:
        objects = gambeson.ObjectStore()
        for it in vector["objects"]:
            objects.put(contents(it))
        manifest = objects.put(vector["manifest"].encode())
        data = objects.load(manifest, max_len=vector["most"])
        assert gambeson.object_id(data) == vector["whole"]
        assert objects.store(data) == manifest

    for vector in vectors:
        judge(vector, lambda: {"object": named, "manifest": loaded}[vector["kind"]](vector))
    judge.ends()


def test_signed_files(unshipped: Any) -> None:
    vectors, judge = read_for("signed-file", 48)
    by_id = {vector["id"]: vector for vector in vectors}
    again = 0
    for vector in vectors:
        it = whole(vector, by_id)
        token, data = it["token"] + "A" * vector.get("pad", 0), bytes.fromhex(it["file"])
        asked: Vector = {"resolver": CardStore(CardLog.verify(it["cards"])), "now": time_of(it["now"])}
        found = judge(vector, lambda: gambeson.verify_file(token, io.BytesIO(data), **asked))
        if found:
            issued = gambeson.parse_time(vector["issued"])
            assert (found["signer"], found["issued"], found["size"]) == (vector["signer"], issued, len(data))
            digest = {"b3": gambeson.object_id(data)[3:], "sha384": hashlib.sha384(data).hexdigest()}
            form, hexadecimal = found["hash"].split(":")
            assert hexadecimal == digest[form]
            signer = unshipped.Agent.deterministic(bytes([1]) * 32, "default" if form == "b3" else "cnsa2")
            again += signer.sign_file(io.BytesIO(data), now=issued) == token
    # All that hold but those whose type is written out: nobody here writes it so.
    assert again == 4
    judge.ends()


def test_state_at_rest(unshipped: Any) -> None:
    vectors, judge = read_for("state", 32)
    by_id = {vector["id"]: vector for vector in vectors}
    # One agent of each suite sealed them, one after the other, with a counter for randomness.
    sealers: dict[str, Any] = {}
    for vector in vectors:
        it = whole(vector, by_id)
        seed, suite, label = bytes.fromhex(it["seed"]), it["suite"], it["label"]
        agent = Agent.from_seed_bytes(seed, suite=suite)
        state = judge(vector, lambda: agent.open_state(label, changed(it["sealed"], vector)))
        if state is not None:
            assert state.hex() == vector["state"]
            if suite not in sealers:
                sealers[suite] = unshipped.Agent.deterministic(seed, suite)
            assert sealers[suite].seal_state(label, state).hex() == vector["sealed"]
    judge.ends()


def test_sealed_payloads() -> None:
    vectors, judge = read_for("sealed", 67)
    by_id = {vector["id"]: vector for vector in vectors}
    for vector in vectors:
        it = whole(vector, by_id)
        envelope = changed(it["envelope"], vector)
        lines = by_id[it["sender_cards_of"]] if "sender_cards_of" in it else it
        trust = CardStore(CardLog.verify(lines["sender_cards"]))
        agent = Agent.from_seed_bytes(bytes.fromhex(it["recipient_seed"]), suite=it["suite"])
        assert agent.did == it["recipient"]
        own = agent.first_card(valid_for=3600, now=0)
        for _ in range(int(it["recipient_index"])):
            own = agent.rotate(own, roles=["sealed"], valid_for=3600, now=0)
        asked: Vector = {"resolver": trust, "replay": ReplayCache(), "now": time_of(vector["now"])}
        if vector.get("opened_before"):
            agent.open(envelope, **asked)
        found = judge(vector, lambda: agent.open(envelope, **asked))
        if found:
            expected = vector["expect"]
            assert found["payload"].hex() == expected["payload"]
            if "signer" in expected:
                assert (found["signer"], found["media_type"]) == (expected["signer"], expected["media_type"])
                assert found["id"].hex() == expected["message_id"]
                assert found["expires"] == time_of(expected["expires"]).timestamp()
    judge.ends()


def test_words_files_and_shares_of_seeds() -> None:
    vectors, judge = read_for("recovery", 55)
    by_id = {vector["id"]: vector for vector in vectors}
    for vector in vectors:
        whole = by_id[vector.get("of", vector["id"])]
        passphrase: str = vector.get("passphrase") or whole.get("passphrase", "")
        match vector["kind"]:
            case "words":
                found = judge(vector, lambda: Agent.from_words(vector["words"]))
            case "shares":
                found = judge(vector, lambda: Agent.from_shares(vector["shares"]))
            case "age":
                text = whole["file"].encode()
                text = text[: vector.get("keep", len(text))]
                most: int = (whole | vector)["max_work_factor"]
                found = judge(vector, lambda: Agent.from_age_file(text, passphrase, max_work_factor=most))
            case "keystore":
                file = bytearray.fromhex(whole["file"])
                if "flip" in vector:
                    file[vector["flip"]] ^= 1
                file = file[: vector.get("keep", len(file))]
                found = judge(vector, lambda: Agent.from_protected(file, passphrase))
            case kind:
                raise AssertionError(kind)
        if found:
            seed = bytes.fromhex(vector["expect"]["seed"])
            assert found.did == Agent.from_seed_bytes(seed, suite=vector["expect"].get("suite", "default")).did
    judge.ends()


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where that is possible: a log waits for the disk after each of a thousand files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as made:
        yield Path(made)


def test_transparency_logs(unshipped: Any, folder: Path) -> None:
    vectors, judge = read_for("log", 77)
    by_id = {vector["id"]: vector for vector in vectors}
    for vector in vectors:
        match vector["kind"]:
            case "tree":
                judge(vector, lambda: tree(vector, unshipped, folder / vector["id"]))
            case "inclusion":
                judge(
                    vector,
                    lambda: tlog.verify_inclusion(
                        bytes.fromhex(vector["leaf"]), hashes(vector), index=int(vector["index"]),
                        size=int(vector["size"]), root=bytes.fromhex(vector["root"]),
                    ),
                )  # fmt: skip
            case "consistency":
                old = (int(vector["old_size"]), bytes.fromhex(vector["old_root"]))
                new = (int(vector["new_size"]), bytes.fromhex(vector["new_root"]))
                judge(vector, lambda: tlog.verify_consistency(hashes(vector), old=old, new=new))
            case "proof":
                found = judge(vector, lambda: proof(by_id[vector.get("of", vector["id"])] | vector))
                if found:
                    expected = vector["expect"]
                    assert (found["index"], found["size"]) == (int(expected["index"]), int(expected["size"]))
                    assert (found["root"].hex(), found["signed"]) == (
                        expected["root"],
                        gambeson.parse_time(expected["signed"]),
                    )
            case kind:
                raise AssertionError(kind)
    judge.ends()


def hashes(vector: Vector) -> list[bytes]:
    return [bytes.fromhex(it) for it in vector["path"]]


def proof(vector: Vector) -> Vector:
    text: str = vector["proof"]
    if "edit" in vector:
        old, new = vector["edit"]
        assert old in text
        text = text.replace(old, new, 1)
    text += vector.get("append", "")
    origin, _, encoded = vector["key"].split("+", 2)
    key = mldsa.MLDSA44PublicKey.from_public_bytes(base64.b64decode(encoded)[1:])
    assert tlog.log_verifier_key(origin, key) == vector["key"]
    entry, now = bytes.fromhex(vector["entry"]), gambeson.parse_time(vector["now"])
    return tlog.verify_log_proof(text, entry, origin=origin, signer=key, now=now)


def tree(vector: Vector, unshipped: Any, folder: Path) -> None:
    """Writes the log with deterministic signatures, so that every file is the same; and reads it with the wheel."""
    seed, now = bytes.fromhex(vector["seed"]), gambeson.parse_time(vector["now"])
    writer, size = unshipped.Agent.deterministic(seed, "default"), int(vector["size"])
    log = unshipped.AuditLog.create(writer, folder, vector["origin"], now=now)
    if size:
        log.append(writer, [f"entry {number}".encode() * (number % 5) for number in range(size)], now=now)
    expected = {it["name"]: it["sha256"] for it in vector["expect"]["files"]}
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    assert found.pop(".lock").read_bytes() == b""
    # Above 1000 entries the file leaves out the lowest tiles and the entries, which the root covers.
    listed = {name for name in found if size <= 1000 or not name.startswith(("tile/0", "tile/entries"))}
    assert listed == set(expected)
    for name, sha256 in expected.items():
        assert hashlib.sha256(found[name].read_bytes()).hexdigest() == sha256, name

    agent = Agent.from_seed_bytes(seed)
    assert (agent.public_key("log"), agent.did) == (writer.public_key("log"), writer.did)
    key = mldsa.MLDSA44PublicKey.from_public_bytes(agent.public_key("log"))
    read = tlog.AuditLog.read(folder, vector["origin"], signer=key, now=now)
    read.audit()
    assert (len(read), read.root.hex(), read.origin) == (size, vector["expect"]["root"], vector["origin"])
    assert read.checkpoint == (folder / "checkpoint").read_text(encoding="utf-8")
