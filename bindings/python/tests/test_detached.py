"""Every operation of the package lets other threads run meanwhile."""

from __future__ import annotations

import inspect
import io
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from conftest import PRIVATE, PUBLIC, VERIFYING, sets

from test_hash_based import PUBLISHED

import gambeson
from gambeson import (
    Action,
    Agent,
    AuditLog,
    CardDirectory,
    CardLog,
    CardStore,
    ObjectDirectory,
    ObjectStore,
    ReplayCache,
    StatusList,
    StatusStore,
    WebResolver,
    _native,
    tlog,
)

Work = Callable[[], object]

# They hand out what is there, and work on nothing. Those of channels are asyncio's, and await.
HAND_OUT = {
    "CardLog.to_lines",
    "format_time",
    *(f"{public.__name__}.public_bytes_raw" for public in [*PUBLIC, *VERIFYING]),
    # The import of a verifying key is a copy: any bytes of the right length are one (FIPS 204, 5.2).
    *(f"MLDSA{number}PublicKey.from_public_bytes" for number in (44, 65, 87)),
    *(f"{name}PublicKey.from_public_bytes" for name in ("SLHDSA", "LMS", "HSS", "XMSS", "XMSSMT")),
}
OF_CHANNELS = {"channel_groups", "open_channel_delivery", "open_channel_node", "rest_channels"}

V2 = "https://www.w3.org/ns/credentials/v2"
LIST = "https://a.example/status/1"
ORIGIN = "agent.example/log"


def lets_others_run(work: Work, seconds: float = 10) -> bool:
    """Whether another thread runs while `work` is done, again and again. With switching on a timer off, only who lets go of the
    interpreter lets others run."""
    other: list[bool] = []
    seen: list[bool] = []

    def run() -> None:
        until = time.monotonic() + seconds
        while not other and time.monotonic() < until:
            work()
        seen.extend(other)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        other.append(True)
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    return bool(seen)


def operations() -> set[str]:
    """Every function of the native module, and every method of its classes."""
    names = {name for name, _ in inspect.getmembers(_native, inspect.isbuiltin)} - OF_CHANNELS
    for kind, value in inspect.getmembers(_native, inspect.isclass):
        if "Channel" not in kind:
            methods = (name for name in vars(value) if not name.startswith("_") and callable(getattr(value, name)))
            names |= {f"{kind}.{name}" for name in methods}
    return names - HAND_OUT


def keys() -> dict[str, Work]:
    table: dict[str, Work] = {}
    for private, public in zip(PRIVATE, PUBLIC, strict=True):
        generate = partial(private.generate, *sets(private))
        key, wiped = generate(), generate()
        wiped.wipe()
        shown, seed = key.public_key(), key.private_bytes_raw()
        encoded = shown.public_bytes_raw()
        of_key: dict[str, Work] = {
            "generate": generate,
            "from_seed_bytes": partial(private.from_seed_bytes, seed),
            "private_bytes_raw": key.private_bytes_raw,
            "public_key": key.public_key,
            "wipe": wiped.wipe,
        }
        of_shown: dict[str, Work] = {}
        if f"{public.__name__}.from_public_bytes" not in HAND_OUT:
            of_shown["from_public_bytes"] = partial(public.from_public_bytes, encoded)
        if hasattr(key, "sign_prehashed"):
            digest, function = bytes(32), "SHA2-256"
            [parameter_set] = sets(private)
            of_key |= {
                "from_seed_bytes": partial(private.from_seed_bytes, bytes(48), parameter_set),
                "from_private_bytes": partial(private.from_private_bytes, seed, parameter_set),
                "sign": partial(key.sign, b"data"),
                "sign_prehashed": partial(key.sign_prehashed, digest, function),
            }
            of_shown |= {
                "verify": partial(shown.verify, key.sign(b"data"), b"data"),
                "verify_prehashed": partial(shown.verify_prehashed, key.sign_prehashed(digest, function), digest, function),
            }
        elif hasattr(key, "sign"):
            signature, mu = key.sign(b"data"), bytes(64)
            of_mu = key.sign_mu(mu)
            of_key |= {"sign": partial(key.sign, b"data"), "sign_mu": partial(key.sign_mu, mu)}
            of_shown |= {
                "verify": partial(shown.verify, signature, b"data"),
                "verify_mu": partial(shown.verify_mu, of_mu, mu),
                "to_jwk": shown.to_jwk, "to_multikey": shown.to_multikey, "to_did": shown.to_did,
            }  # fmt: skip
        for name in ("", "_contributory"):
            if hasattr(key, f"decapsulate{name}"):
                _, ciphertext = shown.encapsulate()
                of_key[f"decapsulate{name}"] = partial(getattr(key, f"decapsulate{name}"), ciphertext)
                of_shown[f"encapsulate{name}"] = getattr(shown, f"encapsulate{name}")
        table |= {f"{private.__name__}.{name}": work for name, work in of_key.items()}
        table |= {f"{public.__name__}.{name}": work for name, work in of_shown.items()}
    trees = PUBLISHED["xmss"]
    published = (PUBLISHED["lms"][0], PUBLISHED["hss"][0], trees[0], next(it for it in trees if it["set"].startswith("XMSSMT")))
    for kind, signed in zip(VERIFYING, published, strict=True):
        pk, signature, message = (bytes.fromhex(signed[name]) for name in ("pk", "signature", "message"))
        table[f"{kind.__name__}.verify"] = partial(kind.from_public_bytes(pk).verify, signature, message)
    return table


def once(work: Work) -> Work:
    """What succeeds once and is refused afterwards: it lets go of the interpreter either way."""

    def tried() -> None:
        with suppress(gambeson.Error):
            work()

    return tried


def agents(folder: Path) -> dict[str, Work]:
    alice, bob, carol, wiped = (Agent.generate() for _ in range(4))
    wiped.wipe()
    cards, first = alice.first_card(valid_for=3600), carol.first_card(valid_for=3600)
    second = carol.rotate(first, valid_for=3600)
    trust = CardStore(cards, bob.first_card(valid_for=3600))
    asked: dict[str, Any] = {"resolver": trust}
    words = gambeson.generate_words()
    shares, of_age = gambeson.share_words(words, 2, 3), gambeson.age_file(words, "correct horse", work_factor=10)
    protected = gambeson.protect_words(words, "correct horse")

    capability = {"action": "tools/call/pay", "resource": "did:web:a.example", "caveats": []}
    chain = [alice.delegate(bob.did, [capability], valid_for=600)]
    params: dict[str, Any] = {"name": "pay", "arguments": {"amount": 5}}
    action = alice.mcp_action("tools/call", params, audience="did:web:a.example", lifetime=600)
    text, token, proof = action.to_json(), alice.sign_action(action), alice.mcp_proof(action)
    proven = {**params, "_meta": {_native.MCP_PROOF: proof}}
    receipt = {"content": [], "_meta": {_native.MCP_RECEIPT: bob.mcp_receipt(action, {"content": []})}}
    credential = alice.issue({"id": bob.did}, valid_for=600)
    embedded = alice.issue({"id": bob.did}, valid_for=600, form="data-integrity")
    shown = bob.present([credential], audience="a", nonce="n")
    issued = alice.issue_sd_jwt("urn:a:b", {"level": 3}, disclosable=["/level"], holder=bob.key_url("identity"), valid_for=600)
    part = bob.present_sd_jwt(issued, ["/level"], audience="a", nonce="n")
    bits = StatusList()
    listed = alice.issue_status_list(bits, LIST, valid_for=600)
    lists = StatusStore()
    lists.add(listed, **asked)
    request: tuple[str, str, list[tuple[str, str]], bytes] = ("POST", "https://a.example/", [("content-type", "a/b")], b"body")
    method, uri, fields, body = request
    sent = [*fields, *alice.sign_http(method, uri, fields, body, lifetime=600)]
    answer = bob.sign_http_response(200, [], b"body", request=(method, uri, sent, body), lifetime=600)
    card = alice.sign_agent_card({"name": "Teller", "version": "1.0.0"})
    sealed, backup, state = bob.seal(b"data", alice.did, **asked), alice.backup(cards=cards), alice.seal_state("a", b"data")
    document, of_file = alice.sign_document({"greeting": "hello"}), alice.sign_file(io.BytesIO(b"data"))
    folder_of_cards = CardDirectory(folder)
    folder_of_cards.path(alice.did).write_text(cards.to_lines())
    web = WebResolver(lambda address, most: b"", trust)
    presentation = {"@context": [V2], "type": ["VerifiablePresentation"], "holder": bob.did}
    signature = alice.sign(b"data", b"test")
    key = gambeson.resolve_key(alice.key_url(), **asked)
    jwk, multikey, did = key.to_jwk(), key.to_multikey(), key.to_did()
    of_web: dict[str, Any] = {"audience": "did:web:a.example", "max_lifetime": 600, **asked}
    long: dict[str, Any] = {"max_age": 600, **asked}
    return {
        "Agent.generate": Agent.generate,
        "Agent.from_seed_bytes": lambda: Agent.from_seed_bytes(bytes(32)),
        "Agent.from_protected": lambda: Agent.from_protected(protected, "correct horse"),
        "Agent.from_words": lambda: Agent.from_words(words),
        "Agent.from_shares": lambda: Agent.from_shares(shares[:2]),
        "Agent.from_age_file": lambda: Agent.from_age_file(of_age, "correct horse"),
        "Agent.index": lambda: alice.index("signing"),
        "Agent.key_url": alice.key_url,
        "Agent.public_key": alice.public_key,
        "Agent.sign": lambda: alice.sign(b"data", b"test"),
        "Agent.child": lambda: alice.child(0),
        "Agent.begin_session": lambda: carol.begin_session(1),
        "Agent.wipe": wiped.wipe,
        "Agent.action": lambda: alice.action("tools/call", "pay", audience="a"),
        "Agent.mcp_action": lambda: alice.mcp_action("tools/call", params, audience="a"),
        "Agent.sign_action": lambda: alice.sign_action(action),
        "Agent.mcp_proof": lambda: alice.mcp_proof(action),
        "Agent.mcp_receipt": lambda: alice.mcp_receipt(action, {}),
        "Agent.delegate": lambda: alice.delegate(bob.did, [capability], valid_for=600),
        "Agent.approve": lambda: bob.approve(action, alice.did),
        "Agent.issue": lambda: alice.issue({"id": bob.did}, valid_for=600),
        "Agent.present": lambda: bob.present([credential], audience="a", nonce="n"),
        "Agent.issue_sd_jwt": lambda: alice.issue_sd_jwt("urn:a:b", {"level": 3}, valid_for=600),
        "Agent.present_sd_jwt": lambda: bob.present_sd_jwt(issued, [], audience="a", nonce="n"),
        "Agent.issue_status_list": lambda: alice.issue_status_list(bits, LIST, valid_for=600),
        "Agent.sign_http": lambda: alice.sign_http(method, uri, fields, body),
        "Agent.sign_http_response": lambda: bob.sign_http_response(200, [], b"body"),
        "Agent.sign_agent_card": lambda: alice.sign_agent_card({"name": "Teller", "version": "1.0.0"}),
        "Agent.seal": lambda: bob.seal(b"data", alice.did, **asked),
        "Agent.open": lambda: alice.open(sealed, replay=ReplayCache(), **asked),
        "Agent.backup": lambda: alice.backup(cards=cards),
        "Agent.restore": lambda: alice.restore(backup),
        "Agent.seal_state": lambda: alice.seal_state("a", b"data"),
        "Agent.open_state": lambda: alice.open_state("a", state),
        "Agent.sign_file": lambda: alice.sign_file(io.BytesIO(b"data")),
        "Agent.sign_document": lambda: alice.sign_document({"greeting": "hello"}),
        "Agent.first_card": lambda: alice.first_card(valid_for=3600),
        "Agent.rotate": once(lambda: bob.rotate(first, valid_for=3600)),
        "CardLog.verify": lambda: CardLog.verify(cards.to_lines()),
        "CardLog.append": lambda: first.append(second.newest),
        "CardLog.key": lambda: cards.key(alice.key_url()),
        "CardLog.agreement_key": lambda: cards.agreement_key("gambeson-sealed-v1"),
        "CardStore.add": lambda: trust.add(cards),
        "CardStore.resolve": lambda: trust.resolve(alice.did),
        "CardDirectory.path": lambda: folder_of_cards.path(alice.did),
        "CardDirectory.resolve": lambda: folder_of_cards.resolve(alice.did),
        "WebResolver.resolve": lambda: web.resolve(alice.did),
        "Action.from_json": lambda: Action.from_json(text),
        "Action.to_json": action.to_json,
        "Action.digest": action.digest,
        "StatusList.set": lambda: bits.set(5, False),
        "StatusList.is_set": lambda: bits.is_set(5),
        "StatusList.encode": bits.encode,
        "StatusStore.add": lambda: lists.add(listed, **asked),
        "StatusStore.get": lambda: lists.get(alice.did, LIST),
        "StatusStore.due": lists.due,
        "verify": lambda: gambeson.verify(signature, b"data", b"test", signer=alice.key_url(), **asked),
        "verify_action": lambda: gambeson.verify_action(text, token, replay=ReplayCache(), **of_web),
        "verify_mcp": lambda: gambeson.verify_mcp("tools/call", proven, replay=ReplayCache(), **of_web),
        "verify_mcp_receipt": lambda: gambeson.verify_mcp_receipt(receipt, action, server=bob.did, **asked),
        "verify_chain": lambda: gambeson.verify_chain(chain, **asked),
        "verify_credential": lambda: gambeson.verify_credential(credential, **asked),
        "verify_presentation": lambda: gambeson.verify_presentation(shown, audience="a", nonce="n", **long),
        "verify_sd_jwt": lambda: gambeson.verify_sd_jwt(part, audience="a", nonce="n", **long),
        "sd_jwt_disclosable": lambda: gambeson.sd_jwt_disclosable(issued),
        "sd_jwt_disclose": lambda: gambeson.sd_jwt_disclose(issued, ["/level"]),
        "verify_document": lambda: gambeson.verify_document(document, **asked),
        "verify_file": lambda: gambeson.verify_file(of_file, io.BytesIO(b"data"), **asked),
        "verify_http": lambda: gambeson.verify_http(method, uri, sent, body, replay=ReplayCache(), **long),
        "verify_http_response": lambda: gambeson.verify_http_response(
            200, answer, b"body", request=(method, uri, sent, body), replay=ReplayCache(), **long
        ),
        "verify_agent_card": lambda: gambeson.verify_agent_card(card, **asked),
        "verify_jws": lambda: gambeson.verify_jws(credential, **asked),
        "resolve_did": lambda: gambeson.resolve_did(alice.did, **asked),
        "resolve_representation": lambda: gambeson.resolve_representation(alice.did, **asked),
        "dereference": lambda: gambeson.dereference(alice.key_url(), **asked),
        "resolve_key": lambda: gambeson.resolve_key(alice.key_url(), **asked),
        "agreement_key": lambda: gambeson.agreement_key(alice.did, "gambeson-sealed-v1", **asked),
        "key_from_jwk": lambda: gambeson.key_from_jwk(jwk),
        "key_from_multikey": lambda: gambeson.key_from_multikey(multikey),
        "key_from_did": lambda: gambeson.key_from_did(did),
        "parse_did": lambda: gambeson.parse_did(alice.did),
        "parse_did_url": lambda: gambeson.parse_did_url(alice.key_url()),
        "did_web_address": lambda: gambeson.did_web_address("did:web:a.example"),
        "parse_path": lambda: gambeson.parse_path("m/1'"),
        "parse_time": lambda: gambeson.parse_time("2026-11-22T07:00:00Z"),
        "canonicalize": lambda: gambeson.canonicalize("{}"),
        "check_did_document": lambda: gambeson.check_did_document(cards.document),
        "check_credential": lambda: gambeson.check_credential(embedded),
        "check_presentation": lambda: gambeson.check_presentation(presentation),
        "generate_words": gambeson.generate_words,
        "protect_words": lambda: gambeson.protect_words(words, "correct horse"),
        "share_words": lambda: gambeson.share_words(words, 2, 3),
        "age_file": lambda: gambeson.age_file(words, "correct horse", work_factor=10),
    }


def kept(folder: Path) -> dict[str, Work]:
    agent = Agent.generate()
    where, data = folder / "log", bytes(100)
    log = AuditLog.create(agent, where, ORIGIN)
    log.append(agent, [data])
    key = gambeson.resolve_key(agent.key_url("log"), "log", resolver=CardStore(agent.first_card(valid_for=3600)))
    asked: dict[str, Any] = {"origin": ORIGIN, "signer": key}
    leaf, proof, checkpoint = tlog.leaf_hash(data), log.prove(0), log.checkpoint
    growing = AuditLog.create(agent, folder / "growing", ORIGIN)
    table: dict[str, Work] = {
        "AuditLog.create": once(lambda: AuditLog.create(agent, where, ORIGIN)),
        "AuditLog.open": lambda: AuditLog.open(agent, where, ORIGIN),
        "AuditLog.read": lambda: AuditLog.read(where, **asked),
        "AuditLog.append": lambda: growing.append(agent, [data]),
        "AuditLog.entry": lambda: log.entry(0),
        "AuditLog.prove": lambda: log.prove(0),
        "AuditLog.prove_consistency": lambda: log.prove_consistency(1),
        "AuditLog.audit": log.audit,
        "verify_log_proof": lambda: tlog.verify_log_proof(proof, data, **asked),
        "verify_checkpoint": lambda: tlog.verify_checkpoint(checkpoint, **asked),
        "leaf_hash": lambda: tlog.leaf_hash(data),
        "verify_inclusion": lambda: tlog.verify_inclusion(leaf, [], index=0, size=1, root=leaf),
        "verify_consistency": lambda: tlog.verify_consistency([], old=(1, leaf), new=(1, leaf)),
        "log_verifier_key": lambda: tlog.log_verifier_key(ORIGIN, key),
        "object_id": lambda: gambeson.object_id(data),
    }
    stores: list[Any] = [ObjectStore(), ObjectDirectory(folder / "objects")]
    for store in stores:
        one, many = store.put(data), store.store(data)
        of_store: dict[str, Work] = {
            "put": partial(store.put, data),
            "get": partial(store.get, one),
            "ids": store.ids,
            "store": partial(store.store, data),
            "load": partial(store.load, many),
        }
        table |= {f"{type(store).__name__}.{name}": work for name, work in of_store.items()}
    return table


def test_a_loop_of_python_keeps_the_interpreter() -> None:
    assert not lets_others_run(lambda: sum(range(100_000)), seconds=0.5)


def test_every_operation_lets_others_run(tmp_path: Path) -> None:
    (tmp_path / "cards").mkdir()
    table = keys() | agents(tmp_path / "cards") | kept(tmp_path)
    assert set(table) == operations()
    for work in table.values():
        work()
    assert [name for name, work in table.items() if not lets_others_run(work)] == []
    assert len(table) > 150
