"""docs/spec/credentials.md, SD-JWT VC."""

import hashlib

from credentials import SKEW, check_audience, numeric_date
from did import parse_did, parse_url
from jws import Jws
from reading import decode, encode, need, parse_json, parse_object, text, within

MAX = 65536
NEVER_HIDDEN = ("iss", "nbf", "exp", "cnf", "vct", "vct#integrity", "status")


def not_empty(value, name):
    found = text(value, name)
    need(found, "bad-form")
    return found


def read_token(token, kind):
    jws = Jws(token, MAX)
    jws.expect_type(kind)
    need(jws.header.get("cty", "") == "", "bad-type")
    need(jws.algorithm in ("ML-DSA-65", "ML-DSA-87"), "bad-algorithm")
    return jws, parse_object(jws.payload, MAX)


class Disclosure:
    """Salt, maybe name, and value."""

    def __init__(self, part, algorithm):
        value = parse_json(decode(part, MAX), MAX)
        fits = isinstance(value, list) and len(value) in (2, 3) and isinstance(value[0], str)
        need(fits and (len(value) == 2 or isinstance(value[1], str)), "bad-disclosure")
        self.name = value[1] if len(value) == 3 else None
        need(self.name not in ("_sd", "...", "_sd_alg"), "bad-disclosure")
        self.value, self.used = value[-1], False
        self.digest = digest(algorithm, part)


def digest(algorithm, part):
    return encode(hashlib.new(algorithm.replace("-", ""), part.encode()).digest())


class Claims:
    """Puts together what was disclosed."""

    def __init__(self, disclosures):
        self.disclosures = {one.digest: one for one in disclosures}
        need(len(self.disclosures) == len(disclosures), "bad-disclosure")
        self.seen = set()

    def find(self, one):
        need(isinstance(one, str) and one not in self.seen, "bad-disclosure")
        self.seen.add(one)
        found = self.disclosures.get(one)
        if found:
            found.used = True
        return found

    def whole(self, payload):
        found = self.value({name: member for name, member in payload.items() if name != "_sd_alg"}, 32, True)
        need(all(one.used for one in self.disclosures.values()), "bad-disclosure")
        return found

    def value(self, value, depth, root=False):
        if isinstance(value, dict):
            need(depth > 0, "bad-disclosure")
            return self.members(value, depth - 1, root)
        if isinstance(value, list):
            need(depth > 0, "bad-disclosure")
            return [one for item in value for one in self.elements(item, depth - 1)]
        return value

    def elements(self, item, depth):
        if not (isinstance(item, dict) and "..." in item):
            return [self.value(item, depth)]
        need(len(item) == 1, "bad-disclosure")
        found = self.find(item["..."])
        if found is None:
            return []
        need(found.name is None, "bad-disclosure")
        return [self.value(found.value, depth)]

    def members(self, value, depth, root):
        need("..." not in value and "_sd_alg" not in value, "bad-disclosure")
        hidden = value.get("_sd", [])
        need(isinstance(hidden, list), "bad-disclosure")
        out = {name: self.value(member, depth) for name, member in value.items() if name != "_sd"}
        for one in hidden:
            found = self.find(one)
            if found:
                need(found.name is not None and found.name not in value, "bad-disclosure")
                need(found.name not in out and not (root and found.name in NEVER_HIDDEN), "bad-disclosure")
                out[found.name] = self.value(found.value, depth)
        return out


def verify(presented, resolve, now, request):
    """The claims and the URL of the key."""
    need(len(presented.encode()) <= MAX, "too-large")
    *parts, binding = presented.split("~")
    need(parts, "bad-form")
    token, *disclosures = parts
    need(len(disclosures) <= 256, "too-large")
    jws, payload = read_token(token, "dc+sd-jwt")
    algorithm = payload.get("_sd_alg", "sha-256")
    need(algorithm in ("sha-256", "sha-384"), "bad-algorithm")
    read = [Disclosure(part, algorithm) for part in disclosures]
    did, _ = jws.key_id()
    issuer = parse_did(not_empty(payload, "iss"))
    need(did == issuer, "wrong-issuer")
    signer = jws.header["kid"]
    jws.verify(resolve(did, now).key_for(signer, "JsonWebKey", "assertionMethod", now))
    claims = Claims(read).whole(payload)
    not_empty(claims, "vct")
    issued, nbf, exp = (numeric_date(claims, name) for name in ("iat", "nbf", "exp"))
    within(now, None if issued is None else issued - SKEW, None)
    within(now, nbf, exp)
    check_audience(claims, request.get("audience"))
    need("status" not in claims, "unknown-status")
    holder = None
    if "cnf" in claims:
        need(isinstance(claims["cnf"], dict), "bad-form")
        holder = not_empty(claims["cnf"], "kid")
        parse_url(holder)
    if request["binding"] == "none":
        need(binding == "", "bad-form")
    else:
        verify_binding(presented, binding, holder, algorithm, resolve, now, request)
    return claims, signer


def verify_binding(presented, binding, holder, algorithm, resolve, now, request):
    need(holder is not None, "wrong-holder")
    need(binding, "unsecured")
    jws, payload = read_token(binding, "kb+jwt")
    need(jws.header.get("kid", holder) == holder, "wrong-holder")
    document = resolve(parse_url(holder)[0], now)
    jws.verify(document.key_for(holder, "JsonWebKey", "authentication", now))
    need(payload.get("aud") == request["audience"], "wrong-audience")
    need(payload.get("nonce") == request["nonce"], "wrong-nonce")
    need(payload.get("sd_hash") == digest(algorithm, presented[: len(presented) - len(binding)]), "bad-signature")
    issued = numeric_date(payload, "iat")
    need(issued is not None, "bad-form")
    nbf, exp = numeric_date(payload, "nbf"), numeric_date(payload, "exp")
    within(now, issued - SKEW, issued + request["maxAge"])
    within(now, nbf, exp)
