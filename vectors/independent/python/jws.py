"""docs/spec/jose.md, JWS."""

from did import parse_url
from keys import ML_DSA, SIGNATURE_LENGTH
from reading import decode, encode, need, parse_object, text

MAX_HEADER = 16384


class Jws:
    """A token that was read, and that nothing vouches for before `verify`."""

    def __init__(self, token, greatest, payload=None):
        need(len(token.encode()) <= greatest, "too-large")
        parts = token.split(".")
        need(len(parts) == 3, "bad-form")
        header, middle, signature = parts
        if payload is None:
            payload = decode(middle, greatest)
        else:
            need(middle == "", "bad-form")
            middle = encode(payload)
        self.payload = payload
        self.header = parse_object(decode(header, MAX_HEADER), MAX_HEADER)
        self.algorithm = self.header.get("alg")
        need(isinstance(self.algorithm, str) and self.algorithm in ML_DSA, "bad-algorithm")
        for name in ("crit", "b64", "jwk", "jku", "x5u", "x5c"):
            need(name not in self.header, "bad-form")
        self.signature = decode(signature, SIGNATURE_LENGTH[self.algorithm])
        need(len(self.signature) == SIGNATURE_LENGTH[self.algorithm], "bad-signature")
        self.input = f"{header}.{middle}".encode()

    def expect_type(self, expected):
        found = self.header.get("typ")
        found = found.lower() if isinstance(found, str) else ""
        need(found.removeprefix("application/") == expected.lower(), "bad-type")

    def key_id(self):
        return parse_url(text(self.header, "kid"))

    def verify(self, key):
        need(key.algorithm == self.algorithm, "bad-algorithm")
        key.verify(self.input, self.signature)
