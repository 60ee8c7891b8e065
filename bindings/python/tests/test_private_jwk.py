"""Private keys as JWK (RFC 9964): read where `priv` and `pub` are of one key, and written by a function whose name says so; wrong lengths."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from conftest import PUBLIC
from test_agent import refused

import gambeson
from gambeson import Agent, mldsa, mlkem, slhdsa, tlog, xwing
from gambeson.mldsa import private_key_from_jwk, private_key_to_jwk

SETS: list[tuple[str, Any]] = [
    ("ML-DSA-44", mldsa.MLDSA44PrivateKey),
    ("ML-DSA-65", mldsa.MLDSA65PrivateKey),
    ("ML-DSA-87", mldsa.MLDSA87PrivateKey),
]


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@pytest.mark.parametrize(("algorithm", "private"), SETS)
def test_a_private_key_is_read_and_written(algorithm: str, private: Any) -> None:
    key = private.generate()
    jwk = private_key_to_jwk(key)
    assert jwk == {**key.public_key().to_jwk(), "priv": encoded(key.private_bytes_raw())}
    assert (jwk["kty"], jwk["alg"]) == ("AKP", algorithm)
    for given in (jwk, json.dumps(jwk), json.dumps(jwk).encode(), {**jwk, "kid": "a", "use": "sig", "key_ops": ["sign", "verify"]}):
        again = private_key_from_jwk(given)
        assert type(again) is private and again.private_bytes_raw() == key.private_bytes_raw()
        again.public_key().verify(key.sign(b"data"), b"data")
    # No public key has it, and no public key is one.
    assert "priv" not in key.public_key().to_jwk()
    refused(gambeson.Malformed, "bad-key", gambeson.key_from_jwk, jwk)
    refused(gambeson.Malformed, "bad-key", private_key_from_jwk, key.public_key().to_jwk())
    key.wipe()
    refused(gambeson.Wiped, "wiped", private_key_to_jwk, key)


def test_a_jwk_of_the_standard_is_read() -> None:
    """A seed of zeros, as in the examples of RFC 9964."""
    key = mldsa.MLDSA44PrivateKey.from_seed_bytes(bytes(32))
    jwk = {"kty": "AKP", "alg": "ML-DSA-44", "priv": "A" * 43, "pub": encoded(key.public_key().public_bytes_raw())}
    assert private_key_to_jwk(private_key_from_jwk(jwk)) == jwk


def test_what_is_no_private_key_is_refused() -> None:
    key, other = mldsa.MLDSA65PrivateKey.generate(), mldsa.MLDSA65PrivateKey.generate()
    good = private_key_to_jwk(key)
    seed = key.private_bytes_raw()
    bad: list[tuple[str, Any]] = [
        ("bad-key", good | {"pub": other.public_key().to_jwk()["pub"]}),
        ("bad-key", good | {"priv": encoded(other.private_bytes_raw())}),
        ("bad-key", good | {"kty": "OKP"}),
        ("bad-key", good | {"priv": encoded(seed[:31])}),
        ("bad-key", good | {"priv": encoded(seed + b"x")}),
        ("bad-key", good | {"priv": ""}),
        ("bad-key", good | {"pub": encoded(key.public_key().public_bytes_raw()[:-1])}),
        ("bad-key", good | {"use": "enc"}),
        ("bad-key", good | {"key_ops": ["verify"]}),
        ("bad-algorithm", good | {"alg": "EdDSA"}),
        ("bad-algorithm", good | {"alg": "ML-DSA-44x"}),
        ("bad-encoding", good | {"priv": encoded(seed) + "="}),
        ("bad-encoding", good | {"priv": "*" * 43}),
        # The last character has two bits of the seed too many.
        ("bad-encoding", good | {"priv": encoded(bytes(32))[:-1] + "B"}),
        ("bad-form", {name: value for name, value in good.items() if name != "pub"}),
        ("bad-form", {name: value for name, value in good.items() if name != "alg"}),
        ("bad-form", good | {"priv": 5}),
        ("bad-form", []),
        ("bad-json", "{"),
        ("bad-json", json.dumps(good)[:-1] + ',"priv":"A"}'),
    ]
    for code, jwk in bad:
        with pytest.raises(gambeson.Error) as caught:
            private_key_from_jwk(jwk)
        assert caught.value.code == code, (jwk, caught.value)
        assert encoded(seed) not in str(caught.value)
    for wrong in (key.public_key(), Agent.generate(), mlkem.MLKEM512PrivateKey.generate(), 5):
        with pytest.raises(TypeError):
            private_key_to_jwk(wrong)  # type: ignore[arg-type]


def test_a_wrong_length_has_one_code() -> None:
    """`bad-length` of bytes, and `bad-key` of what stands in a JWK or a Multikey."""
    for public in PUBLIC:
        # The bytes of SLH-DSA do not name their set.
        named = ("SLH-DSA-SHA2-128f",) if public is slhdsa.SLHDSAPublicKey else ()
        for length in (0, 1, 31, 5000, 100_000):
            refused(gambeson.UsageError, "bad-length", public.from_public_bytes, bytes(length), *named)
    for private in (mldsa.MLDSA44PrivateKey, mlkem.MLKEM768PrivateKey, xwing.XWingPrivateKey, Agent):
        for length in (0, 31, 33, 65, 100_000):
            refused(gambeson.UsageError, "bad-length", private.from_seed_bytes, bytes(length))
    key = mldsa.MLDSA65PrivateKey.generate().public_key()
    jwk, raw = key.to_jwk(), key.public_bytes_raw()
    for length in (0, 1, 1951, 1953):
        data = (raw * 5)[:length]
        refused(gambeson.Malformed, "bad-key", gambeson.key_from_jwk, jwk | {"pub": encoded(data)})
        refused(gambeson.Malformed, "bad-key", gambeson.key_from_multikey, "u" + encoded(b"\x91\x24" + data))
    for length in (0, 31, 33):
        refused(gambeson.UsageError, "bad-length", tlog.verify_inclusion, bytes(length), [], index=0, size=1, root=bytes(32))
