"""session.json: docs/spec/session.md, everything that needs no TLS."""

import functools
import re

from cards import Keeper, verify_log
from did import parse_did
from reading import Refused, need, within

SPKI = {
    "ML-DSA-65": bytes.fromhex("308207b2300b0609608648016503040312038207a100"),
    "ML-DSA-87": bytes.fromhex("30820a32300b060960864801650304031303820a2100"),
}
MOST = {1: 4194304, 2: 512, 3: 0, 4: 512}


def check(vector, by_id):
    if vector["kind"] == "card-log":
        newest = log(vector["log"])[-1]
        assert (newest.did, newest.hash) == (vector["did"], vector["hash"])
    elif vector["kind"] == "key":
        found = log(by_id[vector["of"]]["log"])[-1].document.methods[vector["method"]].key
        assert SPKI[found.algorithm] + found.data == bytes.fromhex(vector["spki"])
    else:
        said = b"".join(part(one, by_id) for one in vector["said"])
        known = log(by_id[vector["known"]]["log"]) if "known" in vector else None
        url, did, length = Side(vector, bytes.fromhex(by_id[vector["key"]]["spki"]), known).hear(said)
        assert (url, did, length) == (vector["method"], vector["peer"], vector["messages"])


@functools.cache
def log(lines):
    return verify_log(lines.encode())


def part(one, by_id):
    if "hex" in one:
        return bytes.fromhex(one["hex"])
    if "text" in one:
        return one["text"].encode()
    return by_id[one["log"]]["log"].replace(one.get("from", ""), one.get("to", ""), 1).encode()


class Side:
    """One that hears the other."""

    def __init__(self, vector, spki, known):
        self.vector, self.spki, self.known = vector, spki, known

    def hear(self, said):
        """The method and the DID of the other side, and the length of its messages."""
        kind, body, rest = message(said)
        need(kind != 4, "refused-by-peer")
        need(kind in (1, 2), "bad-message")
        newest = self.cards(body) if kind == 1 else self.hash(body)
        url = self.judge(newest)
        kind, body, rest = message(rest)
        need(kind != 4, "refused-by-peer")
        need(kind == 3, "bad-message")
        return url, newest.did, len(said) - len(rest)

    def cards(self, body):
        lines = [line for line in body.split(b"\n") if line]
        first = verify_log(lines[0] if lines else b"")[0]
        self.is_expected(first.did)
        found = verify_log(body)
        need(self.method(found[-1]), "other-key")
        keeper = Keeper()
        if self.known and self.known[-1].did == first.did:
            keeper.add(self.known)
        keeper.add(found)
        return found[-1]

    def hash(self, body):
        did, feed, digest = text(body).partition("\n")
        need(feed, "bad-message")
        parse_did(did)
        self.is_expected(did)
        newest = self.known[-1] if self.known else None
        need(newest and (newest.did, newest.hash) == (did, digest) and self.method(newest), "unknown-cards")
        return newest

    def is_expected(self, did):
        need(self.vector.get("expected", did) == did, "other-peer")

    def method(self, card):
        """The URL of the identity key that was shown."""
        for url, method in card.document.methods.items():
            if url.startswith(f"{card.did}#identity-") and SPKI.get(method.key.algorithm, b"?") + method.key.data == self.spki:
                return url
        return None

    def judge(self, card):
        now, url = self.vector["now"], self.method(card)
        within(now, card.valid_from, card.valid_until)
        try:
            card.document.key_for(url, "JsonWebKey", "authentication", now)
        except Refused as refused:
            # That a key was revoked says more than that it has no purpose any more.
            if refused.code == "wrong-purpose":
                card.document.key_of_role(url, "identity", now)
            raise
        need(self.vector.get("admits", True), "not-admitted")
        return url


def message(stream):
    """A type, a body, and what follows."""
    need(stream, "closed-early")
    kind = stream[0]
    need(kind in MOST, "bad-message")
    need(len(stream) >= 5, "closed-early")
    length = int.from_bytes(stream[1:5], "big")
    need(length <= MOST[kind], "too-large" if kind == 1 else "bad-message")
    need(len(stream) >= 5 + length, "closed-early")
    body = stream[5 : 5 + length]
    need(kind != 4 or re.fullmatch(rb"[a-z0-9-]+", body), "bad-message")
    return kind, body, stream[5 + length :]


def text(body):
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise Refused("bad-message") from None
