"""jws.json: docs/spec/jose.md, keys and JWS."""

import keys
from jws import Jws
from reading import canonical, encode


def check(vector, by_id):
    if vector["kind"] == "jwk":
        agree(keys.from_jwk(vector["jwk"]), vector)
    elif vector["kind"] == "multikey":
        agree(keys.from_multikey(vector["multikey"]), vector)
    elif "key" in vector:
        payload = vector["payload"].encode() if vector.get("detached") else None
        jws = Jws(vector["token"], vector.get("max", 8192), payload)
        if "typ" in vector:
            jws.expect_type(vector["typ"])
        if vector.get("kid"):
            jws.key_id()
        jws.verify(keys.from_jwk(by_id[vector["key"]]["jwk"]))
    else:
        good(vector)


def agree(key, vector):
    assert key.algorithm == vector["alg"] and key.jwk() == vector["jwk"] and key.multikey() == vector["multikey"]
    assert keys.from_multikey(vector["multikey"]) == keys.from_jwk(vector["jwk"])


def good(vector):
    payload = vector["payload"].encode()
    jws = Jws(vector["token"], 32768, payload if vector.get("detached") else None)
    key = keys.from_jwk(vector["jwk"])
    jws.verify(key)
    assert jws.payload == payload and jws.header == vector["header"]
    assert vector["token"].startswith(encode(canonical(vector["header"])) + ".")
    assert ("typ" in vector) == ("typ" in jws.header)
    if "typ" in vector:
        jws.expect_type(vector["typ"])
    seed = keys.derive(vector["suite"], bytes.fromhex(vector["seed"]), vector["purpose"], int(vector["index"]))
    assert keys.algorithm(vector["suite"], vector["purpose"]) == key.algorithm
    assert keys.public_key(key.algorithm, seed) == key.data
    assert keys.sign(key.algorithm, seed, jws.input) == jws.signature
