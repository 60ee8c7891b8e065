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

Signing is hedged. A private key keeps 30 to 83 KiB until it is wiped: by `wipe()`, at the end of a `with`, or when
nothing refers to it. Data may be `bytes`, `bytearray`, `memoryview` or another buffer of bytes.
"""

from gambeson._native import (
    MLDSA44PrivateKey,
    MLDSA44PublicKey,
    MLDSA65PrivateKey,
    MLDSA65PublicKey,
    MLDSA87PrivateKey,
    MLDSA87PublicKey,
)

__all__ = [
    "MLDSA44PrivateKey",
    "MLDSA44PublicKey",
    "MLDSA65PrivateKey",
    "MLDSA65PublicKey",
    "MLDSA87PrivateKey",
    "MLDSA87PublicKey",
]
