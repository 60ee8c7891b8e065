"""Credentials, presentations, selective disclosure, status lists: issued by one agent, verified by another."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from test_agent import NOW, refused

import gambeson
from gambeson import Agent, CardStore, StatusList, StatusStore

DAY = timedelta(days=1)
URL = "https://issuer.example/status/1"


class World:
    """An issuer and a holder who know each other."""

    def __init__(self) -> None:
        self.issuer, self.holder = Agent.generate(), Agent.generate()
        self.trust = CardStore(*(agent.first_card(valid_for=DAY, now=NOW) for agent in (self.issuer, self.holder)))

    def issue(self, **how: Any) -> str:
        subject = {"id": self.holder.did, "mailbox": "support"}
        with_defaults: dict[str, Any] = {"types": ["MailCredential"], "valid_for": DAY, "now": NOW}
        return self.issuer.issue(subject, **(with_defaults | how))

    def verify(self, secured: Any, **how: Any) -> dict[str, Any]:
        with_defaults: dict[str, Any] = {"resolver": self.trust, "now": NOW + 1}
        return gambeson.verify_credential(secured, **(with_defaults | how))


@pytest.mark.parametrize("form", ["jwt", "data-integrity"])
def test_a_credential_says_who_and_what(form: Any) -> None:
    world = World()
    secured = world.issue(form=form, id="urn:uuid:1", members={"name": "Mail"})
    claims = world.verify(secured)
    key = "signing" if form == "jwt" else "data-integrity"
    assert claims["issuer"] == world.issuer.did
    assert claims["signer"] == world.issuer.key_url(key)  # type: ignore[arg-type]
    credential = claims["credential"]
    assert credential["credentialSubject"] == {"id": world.holder.did, "mailbox": "support"}
    assert credential["type"] == ["VerifiableCredential", "MailCredential"]
    assert (credential["id"], credential["name"]) == ("urn:uuid:1", "Mail")
    if form == "data-integrity":
        assert world.verify(json.loads(secured)) == claims


def test_credentials_that_do_not_hold_are_refused() -> None:
    world = World()
    token = world.issue()
    header, payload, signature = token.split(".")
    changed = json.loads(base64.urlsafe_b64decode(payload + "=="))
    changed["credentialSubject"]["mailbox"] = "board"
    forged = base64.urlsafe_b64encode(json.dumps(changed).encode()).decode().rstrip("=")
    refused(gambeson.InvalidSignature, "bad-signature", world.verify, f"{header}.{forged}.{signature}")
    refused(gambeson.NotYetValid, "not-yet-valid", world.verify, world.issue(now=NOW + 3600))
    refused(gambeson.Expired, "expired", world.verify, world.issue(valid_for=0), now=NOW + 3600)
    refused(gambeson.UnknownSigner, "unknown-did", world.verify, World().issue())
    refused(gambeson.Malformed, "bad-form", world.verify, "no token")
    refused(gambeson.Unsigned, "unsecured", world.verify, world.verify(token)["credential"])
    refused(gambeson.Malformed, "bad-time", world.issue, members={"validFrom": 5})
    refused(gambeson.UsageError, "usage", world.issue, form="xml")
    none = json.dumps({"alg": "none", "typ": "vc+jwt", "kid": world.issuer.key_url()})
    none = base64.urlsafe_b64encode(none.encode()).decode().rstrip("=")
    refused(gambeson.Malformed, "bad-algorithm", world.verify, f"{none}.{payload}.")


def test_a_presentation_answers_one_question_of_one_verifier() -> None:
    world = World()
    shown = world.holder.present([world.issue()], audience="https://verifier.example", nonce="n1", now=NOW)
    asked: dict[str, Any] = {
        "audience": "https://verifier.example", "nonce": "n1", "resolver": world.trust, "now": NOW + 1,
    }  # fmt: skip
    claims = gambeson.verify_presentation(shown, **asked)
    assert claims["holder"] == world.holder.did
    assert [credential["issuer"] for credential in claims["credentials"]] == [world.issuer.did]
    verify = gambeson.verify_presentation
    refused(gambeson.WrongAudience, "wrong-audience", verify, shown, **(asked | {"audience": "https://other.example"}))
    refused(gambeson.WrongAudience, "wrong-nonce", verify, shown, **(asked | {"nonce": "n2"}))
    refused(gambeson.Expired, "expired", verify, shown, **(asked | {"now": NOW + 600}))
    stolen = world.issuer.present([world.issue()], audience="https://verifier.example", nonce="n1", now=NOW)
    refused(gambeson.NotPermitted, "wrong-holder", verify, stolen, **asked)
    assert verify(stolen, **asked, bearer=True)["holder"] == world.issuer.did


def test_a_holder_keeps_claims_to_itself() -> None:
    world = World()
    issued = world.issuer.issue_sd_jwt(
        "https://issuer.example/clearance",
        {"level": 3, "name": "Ada"},
        disclosable=["/level", "/name"],
        holder=world.holder.key_url("identity"),
        valid_for=DAY,
        now=NOW,
    )
    assert sorted(gambeson.sd_jwt_disclosable(issued)) == ["/level", "/name"]
    shown = world.holder.present_sd_jwt(issued, ["/level"], audience="v", nonce="n", now=NOW)
    asked: dict[str, Any] = {"audience": "v", "nonce": "n", "resolver": world.trust, "now": NOW + 1}
    claims = gambeson.verify_sd_jwt(shown, **asked)
    assert claims["claims"]["level"] == 3 and "name" not in claims["claims"]
    assert (claims["issuer"], claims["holder"]) == (world.issuer.did, world.holder.key_url("identity"))

    anybody = gambeson.sd_jwt_disclose(issued, ["/name"])
    bearer: dict[str, Any] = {"resolver": world.trust, "now": NOW + 1, "bearer": True}
    assert gambeson.verify_sd_jwt(anybody, **bearer)["claims"]["name"] == "Ada"
    refused(gambeson.Unsigned, "unsecured", gambeson.verify_sd_jwt, anybody, **asked)
    refused(gambeson.WrongAudience, "wrong-nonce", gambeson.verify_sd_jwt, shown, **(asked | {"nonce": "m"}))
    refused(gambeson.UsageError, "usage", gambeson.verify_sd_jwt, shown, resolver=world.trust, audience="v")
    refused(gambeson.Malformed, "bad-form", gambeson.sd_jwt_disclose, issued, ["/shoe"])
    token, *disclosures = issued.split("~")
    refused(
        gambeson.Malformed, "bad-disclosure", gambeson.verify_sd_jwt,
        "~".join([token, disclosures[0], disclosures[0], ""]), resolver=world.trust, now=NOW,
    )  # fmt: skip


def test_what_was_revoked_or_suspended_is_refused() -> None:
    world = World()
    token = world.issue(status=[(URL, 7, "revocation")])
    refused(gambeson.StatusUnknown, "unknown-status", world.verify, token)
    assert world.verify(token, unknown_status="accept")["issuer"] == world.issuer.did
    refused(gambeson.UsageError, "usage", world.verify, token, unknown_status="perhaps")

    bits, store = StatusList(), StatusStore()

    def publish(at: int) -> None:
        listed = world.issuer.issue_status_list(bits, URL, valid_for=3600, ttl=60, now=at)
        store.add(listed, resolver=world.trust, now=at)

    publish(NOW)
    assert world.verify(token, status=store)["issuer"] == world.issuer.did
    bits.set(7)
    publish(NOW + 1)
    assert bits.is_set(7) and not bits.is_set(8) and len(bits) == 131_072
    refused(gambeson.Revoked, "revoked", world.verify, token, status=store)
    assert world.verify(world.issue(status=[(URL, 8, "revocation")]), status=store)
    assert store.due(now=NOW + 2) == [] and store.due(now=NOW + 62) == [URL]

    suspended = StatusList("suspension")
    suspended.set(3)
    other = URL + "/suspended"
    store.add(world.issuer.issue_status_list(suspended, other, valid_for=60, now=NOW), resolver=world.trust, now=NOW)
    refused(gambeson.Revoked, "suspended", world.verify, world.issue(status=[(other, 3, "suspension")]), status=store)
    suspended.set(3, False)
    refused(gambeson.UsageError, "irreversible", bits.set, 7, False)
    refused(gambeson.UsageError, "out-of-range", bits.set, 131_072)
    refused(gambeson.UsageError, "out-of-range", StatusList, entries=8)
    refused(gambeson.UsageError, "usage", StatusList, "gossip")
    foreign = world.holder.issue_status_list(bits, URL, valid_for=60, now=NOW + 5)
    store.add(foreign, resolver=world.trust, now=NOW + 5)  # What others say of the URL neither blocks nor answers.
    refused(gambeson.Revoked, "revoked", world.verify, token, status=store)
    taken_back = world.issuer.issue_status_list(StatusList(), URL, valid_for=60, now=NOW + 5)
    refused(gambeson.StatusUnknown, "stale-status", store.add, taken_back, resolver=world.trust, now=NOW + 5)
    refused(gambeson.Malformed, "bad-type", store.add, world.issue(), resolver=world.trust, now=NOW)


def test_a_document_carries_its_proof() -> None:
    world = World()
    signed = world.issuer.sign_document({"greeting": "hello"}, now=NOW)
    asked: dict[str, Any] = {"resolver": world.trust, "now": NOW + 1}
    claims = gambeson.verify_document(signed, **asked)
    assert claims == {"document": {"greeting": "hello"}, "signer": world.issuer.key_url("data-integrity")}
    refused(
        gambeson.InvalidSignature, "bad-signature", gambeson.verify_document, signed | {"greeting": "bye"}, **asked
    )
    refused(gambeson.Unsigned, "unsecured", gambeson.verify_document, {"greeting": "hello"}, **asked)
    refused(gambeson.Malformed, "bad-json", gambeson.verify_document, '{"a": 1, "a": 2}', **asked)
    with pytest.raises(TypeError):
        world.issuer.sign_document({"greeting": object()})
    refused(gambeson.Malformed, "bad-json", world.issuer.sign_document, {"greeting": float("nan")})
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    refused(gambeson.Malformed, "bad-json", world.issuer.sign_document, {"deep": deep})
    for _ in range(100_000):
        deep = [deep]
    refused(gambeson.Malformed, "bad-json", world.issuer.sign_document, {"deep": deep})
