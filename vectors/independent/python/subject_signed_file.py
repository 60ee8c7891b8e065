"""signed-file.json: docs/spec/signed-file.md."""

import hashlib
import re

from jws import Jws
from keys import blake3_256
from reading import is_integer, need, parse_object, parse_time
from subject_vc_jwt import resolver

MOST = 16384


def verify(token, file, resolve, now):
    """Who signed it, and when."""
    jws = Jws(token, MOST)
    jws.expect_type("gambeson-file+jws")
    claims = parse_object(jws.payload, MOST)
    need(set(claims) == {"v", "hash", "size", "iat"}, "bad-form")
    need(all(is_integer(claims[name]) and claims[name] >= 0 for name in ("v", "size", "iat")), "bad-form")
    need(isinstance(claims["hash"], str), "bad-form")
    need(re.fullmatch("b3:[0-9a-f]{64}|sha384:[0-9a-f]{96}", claims["hash"]) and claims["v"] == 1, "bad-form")
    did, _ = jws.key_id()
    key = resolve(did, now).key_for(jws.header["kid"], "JsonWebKey", "assertionMethod", now)
    jws.verify(key)
    need(claims["iat"] <= now + 60, "not-yet-valid")
    kind = claims["hash"].split(":")[0]
    digest = blake3_256(file) if kind == "b3" else hashlib.sha384(file).digest()
    need((claims["hash"], claims["size"]) == (f"{kind}:{digest.hex()}", len(file)), "bad-digest")
    return jws.header["kid"], claims["iat"]


def check(vector, by_id):
    whole = {**by_id[vector["of"]], **vector} if "of" in vector else vector
    token = whole["token"] + "A" * whole.get("pad", 0)
    resolve, now = resolver((whole["cards"],)), parse_time(whole["now"])
    found = verify(token, bytes.fromhex(whole["file"]), resolve, now)
    assert found == (whole["signer"], parse_time(whole["issued"]))
