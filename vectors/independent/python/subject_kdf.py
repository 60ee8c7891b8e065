"""kdf.json: docs/spec/kdf.md."""

import re

import keys
from reading import Refused, multibase, need


def parse_path(path):
    match = re.fullmatch(r"m/([0-7])'(?:/(0|[1-9][0-9]*)')?", path, re.ASCII)
    need(match, "bad-path")
    index = int(match[2] or 0)
    need(index < 2**64, "bad-path")
    return int(match[1]), index


def check(vector, _):
    if vector["kind"] == "path":
        role, index = parse_path(vector["path"])
        assert (role, str(index)) == (vector["role"], vector["index"])
        return
    suite, purpose, index = vector["suite"], vector["purpose"], int(vector["index"])
    role = keys.PURPOSES[purpose][0]
    assert vector["path"] == (None if role is None else f"m/{role}'/{index}'")
    assert (vector["context"], vector["length"]) == keys.context(suite, purpose)
    key = keys.derive(suite, bytes.fromhex(vector["seed"]), purpose, index)
    assert vector["key"] == key.hex() and len(key) == vector["length"]
    name = keys.algorithm(suite, purpose)
    assert vector.get("algorithm") == name
    if name:
        public = keys.public_key(name, key)
        assert vector["public_key_blake3"] == keys.blake3_256(public).hex()
        if purpose == "Did" and index == 0:
            assert vector["did"] == "did:gambeson:" + multibase(keys.multihash(suite, public))
