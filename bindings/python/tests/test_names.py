"""Public keys by their names, DIDs, and times."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from conftest import PUBLIC
from test_agent import NOW, refused

import gambeson
from gambeson import Agent, CardStore, mldsa

SIGNING: list[Any] = [public for public in PUBLIC if public.__name__.startswith("MLDSA")]


@pytest.mark.parametrize("public", SIGNING)
def test_a_key_comes_back_from_each_of_its_names(public: Any) -> None:
    private = getattr(mldsa, public.__name__.replace("Public", "Private"))
    key = private.generate().public_key()
    jwk = key.to_jwk()
    assert set(jwk) == {"kty", "alg", "pub"} and jwk["kty"] == "AKP"
    assert gambeson.key_from_jwk(jwk) == gambeson.key_from_multikey(key.to_multikey()) == key
    assert gambeson.key_from_did(key.to_did()) == key
    assert type(gambeson.key_from_did(key.to_did())) is public


def test_what_is_no_public_key_is_refused() -> None:
    jwk = mldsa.MLDSA65PrivateKey.generate().public_key().to_jwk()
    refused(gambeson.Malformed, "bad-key", gambeson.key_from_jwk, jwk | {"priv": "AA"})
    refused(gambeson.Malformed, "bad-algorithm", gambeson.key_from_jwk, jwk | {"alg": "EdDSA"})
    refused(gambeson.Malformed, "bad-form", gambeson.key_from_jwk, [])
    refused(gambeson.Malformed, "bad-encoding", gambeson.key_from_multikey, "z6Mk")
    refused(gambeson.Malformed, "bad-did", gambeson.key_from_did, Agent.generate().did)
    refused(gambeson.Malformed, "bad-did", gambeson.key_from_did, "did:key:z6Mk")


def test_a_did_key_is_resolved_by_everybody() -> None:
    key = mldsa.MLDSA65PrivateKey.generate().public_key()
    did = key.to_did()
    url = f"{did}#{key.to_multikey()}-jwk"
    assert gambeson.resolve_key(url, resolver=CardStore()) == key
    assert gambeson.parse_did_url(url) == (did, "", "", f"{key.to_multikey()}-jwk")


def test_a_key_is_found_by_its_url_and_for_its_purpose() -> None:
    agent = Agent.generate()
    cards = agent.first_card(valid_for=60, now=NOW)
    asked: dict[str, Any] = {"resolver": CardStore(cards), "now": NOW}
    signing = gambeson.resolve_key(agent.key_url(), **asked)
    assert signing.public_bytes_raw() == agent.public_key() == cards.key(agent.key_url(), now=NOW).public_bytes_raw()
    signing.verify(agent.sign(b"data", b"test"), b"data", b"test")
    identity = gambeson.resolve_key(agent.key_url("identity"), "authentication", **asked)
    assert identity.public_bytes_raw() == agent.public_key("identity")
    integrity = gambeson.resolve_key(agent.key_url("data-integrity"), form="Multikey", **asked)
    assert integrity.public_bytes_raw() == agent.public_key("data-integrity")
    log = gambeson.resolve_key(agent.key_url("log"), "log", **asked)
    assert log.public_bytes_raw() == agent.public_key("log")
    algorithm = "age-mlkem768x25519"
    assert gambeson.agreement_key(agent.did, algorithm, **asked) == (agent.key_url("backup"), agent.public_key("backup"))
    assert cards.agreement_key(algorithm, now=NOW) == (agent.key_url("backup"), agent.public_key("backup"))

    find = gambeson.resolve_key
    refused(gambeson.NotPermitted, "wrong-purpose", find, agent.key_url(), "authentication", **asked)
    refused(gambeson.NotPermitted, "wrong-purpose", find, agent.key_url(), "log", **asked)
    refused(gambeson.NotPermitted, "wrong-purpose", find, agent.key_url(), form="Multikey", **asked)
    refused(gambeson.UnknownSigner, "unknown-key", find, agent.did + "#signing-1", **asked)
    refused(gambeson.UnknownSigner, "unknown-did", find, Agent.generate().key_url(), **asked)
    refused(gambeson.UsageError, "usage", find, agent.key_url(), "assertion", **asked)
    refused(gambeson.UsageError, "usage", find, agent.key_url(), form="PEM", **asked)
    refused(gambeson.UnknownSigner, "unknown-key", gambeson.agreement_key, agent.did, "HPKE-9", **asked)


def test_a_jws_is_verified_by_a_key_or_by_the_key_that_its_header_names() -> None:
    agent = Agent.generate()
    asked: dict[str, Any] = {"resolver": CardStore(agent.first_card(valid_for=60, now=NOW)), "now": NOW}
    token = agent.issue({"id": "did:web:a.example"}, valid_for=60, now=NOW)
    key = gambeson.resolve_key(agent.key_url(), **asked)
    header, payload = gambeson.verify_jws(token, typ="vc+jwt", **asked)
    assert header["kid"] == agent.key_url() and b"did:web:a.example" in payload
    assert gambeson.verify_jws(token, key) == gambeson.verify_jws(token, key.to_jwk()) == (header, payload)
    verify = gambeson.verify_jws
    refused(gambeson.NotPermitted, "wrong-purpose", verify, token, purpose="authentication", **asked)
    refused(gambeson.Malformed, "bad-type", verify, token, typ="vp+jwt", **asked)
    refused(gambeson.UnknownSigner, "unknown-did", verify, token, resolver=CardStore())
    other = mldsa.MLDSA65PrivateKey.generate().public_key()
    refused(gambeson.InvalidSignature, "bad-signature", verify, token, other)
    refused(gambeson.Malformed, "bad-algorithm", verify, token, mldsa.MLDSA44PrivateKey.generate().public_key())
    refused(gambeson.UsageError, "usage", verify, token)
    refused(gambeson.UsageError, "usage", verify, token, key, **asked)


def test_dids_are_taken_apart() -> None:
    assert gambeson.parse_did("did:web:bank.example%3A8443:a") == ("web", "bank.example%3A8443:a")
    assert gambeson.did_web_address("did:web:bank.example") == "https://bank.example/.well-known/did.json"
    assert gambeson.did_web_address("did:web:bank.example%3A8443:a") == "https://bank.example:8443/a/did.json"
    agent = Agent.generate()
    assert gambeson.parse_did_url(agent.key_url()) == (agent.did, "", "", "signing-0")
    assert gambeson.parse_did_url(f"{agent.did}/a?b") == (agent.did, "/a", "b", "")
    assert gambeson.parse_did_url("../a?b#c", base=agent.did) == (agent.did, "/a", "b", "c")
    for wrong in ("", "did:web", "did:gambeson:uAAAA", "did:web:127.0.0.1"):
        refused(gambeson.Malformed, "bad-did", gambeson.parse_did, wrong)
    for wrong in ("", "#signing-0", f"{agent.did}#a#b"):
        refused(gambeson.Malformed, "bad-did", gambeson.parse_did_url, wrong)
    refused(gambeson.Malformed, "bad-did", gambeson.did_web_address, agent.did)


def test_times_are_read_and_written_as_documents_have_them() -> None:
    assert gambeson.parse_time("2026-11-22T08:00:00.5+01:00") == 1_795_330_800
    assert gambeson.format_time(1_795_330_800) == "2026-11-22T07:00:00Z"
    assert gambeson.format_time(datetime(2026, 11, 22, 7, tzinfo=timezone.utc)) == "2026-11-22T07:00:00Z"
    refused(gambeson.Malformed, "bad-time", gambeson.parse_time, "2026-11-22")
    with pytest.raises(ValueError):
        gambeson.format_time(datetime(2026, 11, 22, 7))
    assert gambeson.parse_path("m/1'/7'") == (1, 7)
    refused(gambeson.Malformed, "bad-path", gambeson.parse_path, "m/1h")
