"""ML-DSA, the signature of FIPS 204, in the manner of `cryptography`.

    from gambeson.mldsa import MLDSA65PrivateKey, MLDSA65PublicKey

    key = MLDSA65PrivateKey.generate()
    signature = key.sign(b"message", context=b"letters v1")  # 3309 bytes

    public = MLDSA65PublicKey.from_public_bytes(key.public_key().public_bytes_raw())
    public.verify(signature, b"message", context=b"letters v1")  # returns, or raises InvalidSignature

|           | public key | signature | private key: seed |
| --------- | ---------- | --------- | ----------------- |
| ML-DSA-44 | 1312       | 2420      | 32                |
| ML-DSA-65 | 1952       | 3309      | 32                |
| ML-DSA-87 | 2592       | 4627      | 32                |

A private key as JSON Web Key (RFC 9964) is `private_key_to_jwk(key)`, and `private_key_from_jwk(jwk)` reads it; `to_jwk` of a public key never
has the seed in it.

Signing is hedged. A private key keeps 30 to 83 KiB until it is wiped: by `wipe()`, at the end of a `with`, or when
nothing refers to it. Data may be `bytes`, `bytearray`, `memoryview` or another buffer of bytes.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from gambeson._native import (
    MLDSA44PrivateKey,
    MLDSA44PublicKey,
    MLDSA65PrivateKey,
    MLDSA65PublicKey,
    MLDSA87PrivateKey,
    MLDSA87PublicKey,
    canonicalize,
)
from gambeson.errors import Malformed

__all__ = [
    "MLDSA44PrivateKey",
    "MLDSA44PublicKey",
    "MLDSA65PrivateKey",
    "MLDSA65PublicKey",
    "MLDSA87PrivateKey",
    "MLDSA87PublicKey",
    "private_key_from_jwk",
    "private_key_to_jwk",
]

PrivateKey = MLDSA44PrivateKey | MLDSA65PrivateKey | MLDSA87PrivateKey

_SETS: dict[str, type[PrivateKey]] = {
    "ML-DSA-44": MLDSA44PrivateKey,
    "ML-DSA-65": MLDSA65PrivateKey,
    "ML-DSA-87": MLDSA87PrivateKey,
}


def private_key_from_jwk(jwk: dict[str, Any] | str | bytes) -> PrivateKey:
    """The private key of a JSON Web Key (RFC 9964, section 3): `kty` AKP, `alg`, `priv`, the seed, and `pub`, which must be its public key."""
    members: dict[str, Any] = json.loads(canonicalize(jwk, object_only=True))
    if members.get("kty") != "AKP":
        raise Malformed("bad-key", "the key type is not AKP (RFC 9964)")
    if "priv" not in members:
        raise Malformed("bad-key", "a public key: a private one has priv")
    alg, priv, pub = (_text(members, name) for name in ("alg", "priv", "pub"))
    if alg not in _SETS:
        raise Malformed("bad-algorithm", "the algorithm is not one of ML-DSA (FIPS 204)")
    if members.get("use", "sig") != "sig" or "sign" not in members.get("key_ops", ["sign"]):
        raise Malformed("bad-key", "use or key_ops of this key do not let it sign")
    seed = _decoded(priv, "priv")
    if len(seed) != 32:
        raise Malformed("bad-key", f"priv is a seed of 32 bytes, not of {len(seed)}")
    key = _SETS[alg].from_seed_bytes(seed)
    if key.public_key().public_bytes_raw() != _decoded(pub, "pub"):
        raise Malformed("bad-key", "pub is not the public key of priv")
    return key


def private_key_to_jwk(key: PrivateKey) -> dict[str, Any]:
    """A private key as JSON Web Key (RFC 9964, section 3). Whoever has it has the key: Python cannot wipe it."""
    if not isinstance(key, PrivateKey):
        raise TypeError("a private key of `gambeson.mldsa` is needed")
    return {**key.public_key().to_jwk(), "priv": _encoded(key.private_bytes_raw())}


def _text(members: dict[str, Any], name: str) -> str:
    text = members.get(name)
    if not isinstance(text, str):
        raise Malformed("bad-form", f"a JWK needs the text {name!r}")
    return text


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str, name: str) -> bytes:
    """The bytes of base64url; only their one canonical text is read."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        data = b""
    if _encoded(data) != text:
        raise Malformed("bad-encoding", f"{name} is not base64url without padding (RFC 4648, section 5)")
    return data
