"""docs/spec/did.md: identity cards, their log, who keeps it, recovery."""

import keys
from did import Document, split_url, suite
from reading import canonical, decode, encode, from_multibase, is_integer, multibase, need, parse_object, parse_time, text, within

MAX_CARD = 65536
CONTEXT = b"gambeson card v1"

# role: purpose, form, relationships
ROLES = {
    "identity": ("Identity", "JsonWebKey", ("authentication",)),
    "signing": ("Signing", "JsonWebKey", ("assertionMethod", "capabilityInvocation", "capabilityDelegation")),
    "did": ("Did", "JsonWebKey", ()),
    "backup": ("Backup", "JsonWebKey", ("keyAgreement",)),
    "sealed": ("Sealed", "JsonWebKey", ("keyAgreement",)),
    "encapsulation": ("Encapsulation", "JsonWebKey", ("keyAgreement",)),
    "data-integrity": ("DataIntegrity", "Multikey", ("assertionMethod",)),
    "log": ("Log", "JsonWebKey", ()),
}
AGREEMENT = {
    ("backup", "default"): "age-mlkem768x25519",
    ("backup", "cnsa2"): "gambeson-backup-cnsa2-v1",
    ("sealed", "default"): "gambeson-sealed-v1",
    ("sealed", "cnsa2"): "gambeson-sealed-cnsa2-v1",
    ("encapsulation", "default"): "ML-KEM-768",
    ("encapsulation", "cnsa2"): "ML-KEM-1024",
}


class Card:
    """A card that follows from the one before it (`None` for the first)."""

    def __init__(self, line, previous):
        card = parse_object(line, MAX_CARD)
        need(set(card) == {"document", "signature"}, "bad-form")
        need(isinstance(card["document"], dict) and isinstance(card["signature"], str), "bad-form")
        self.signature = decode(card["signature"], 8192)
        self.document = Document(card["document"])
        self.did = self.document.id
        self.suite = suite(self.did)
        self.read(self.document.json.get("card"))
        self.canonical = canonical(card["document"])
        self.hash = multibase(keys.multihash(self.suite, self.canonical))
        self.follow(previous)

    def read(self, member):
        need(isinstance(member, dict), "bad-form")
        self.version = member.get("version")
        need(is_integer(self.version) and self.version > 0, "bad-form")
        self.valid_from = parse_time(text(member, "validFrom"))
        self.valid_until = parse_time(text(member, "validUntil"))
        need(self.valid_from <= self.valid_until, "bad-form")
        self.next = from_multibase(text(member, "next"), 64)
        empty = keys.multihash(self.suite, b"")
        need(len(self.next) == len(empty) and self.next[:2] == empty[:2], "bad-form")
        self.previous = member.get("previous")

    def follow(self, previous):
        key = self.document.key_of_role(f"{self.did}#did-{self.version - 1}", "did", self.valid_from)
        fits = key.algorithm == keys.algorithm(self.suite, "Did")
        hashed = keys.multihash(self.suite, key.data)
        if previous is None:
            need(self.version == 1 and self.previous is None, "broken-chain")
            need(fits and self.did == "did:gambeson:" + multibase(hashed), "not-bound")
        else:
            need(self.did == previous.did and self.version == previous.version + 1, "broken-chain")
            need(self.previous == previous.hash and self.valid_from >= previous.valid_from, "broken-chain")
            need(fits and hashed == previous.next, "broken-chain")
        key.verify(self.canonical, self.signature, CONTEXT)


def verify_log(data):
    """Every card of a log, oldest first."""
    cards = []
    for line in data.split(b"\n"):
        if line:
            need(len(cards) < 1024, "too-large")
            cards.append(Card(line, cards[-1] if cards else None))
    need(cards, "bad-form")
    return cards


class Keeper:
    """Keeps the longest log of each DID."""

    def __init__(self):
        self.logs = {}

    def add(self, cards):
        known = self.logs.get(cards[0].did, [])
        need(all(ours.hash == theirs.hash for ours, theirs in zip(known, cards)), "broken-chain")
        need(len(known) <= len(cards), "stale-card")
        self.logs[cards[0].did] = cards

    def resolve(self, did, now):
        need(did in self.logs, "unknown-did")
        newest = self.logs[did][-1]
        within(now, newest.valid_from, newest.valid_until)
        return newest.document


def method(did, seed, role, index):
    """The verification method of a key from the seed."""
    purpose, form, _ = ROLES[role]
    its_suite = suite(did)
    name = keys.algorithm(its_suite, purpose)
    public = keys.public_key(name, keys.derive(its_suite, seed, purpose, index))
    found = {"id": f"{did}#{role}-{index}", "controller": did, "type": form}
    if form == "Multikey":
        found["publicKeyMultibase"] = multibase(keys.VARINT[name] + public)
    else:
        found["publicKeyJwk"] = {"kty": "AKP", "alg": AGREEMENT.get((role, its_suite), name), "pub": encode(public)}
    return found


def recover(seed, cards):
    """The index of each role, if the seed gives the keys of the newest card."""
    newest = cards[-1]
    its_suite = suite(newest.did)
    first = keys.public_key(keys.algorithm(its_suite, "Did"), keys.derive(its_suite, seed, "Did", 0))
    need(newest.did == "did:gambeson:" + multibase(keys.multihash(its_suite, first)), "wrong-seed")
    indexes = {}
    for found in newest.document.methods.values():
        role, _, index = (split_url(found.url)[3] or "").rpartition("-")
        if role in ROLES and found.expires is None and found.revoked is None:
            indexes[role] = int(index)
    indexes["did"] = newest.version - 1
    for role in ROLES:
        need(method(newest.did, seed, role, indexes.get(role, 0)) in newest.document.json["verificationMethod"], "wrong-seed")
    return indexes
