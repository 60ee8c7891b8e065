"""SLH-DSA, the hash-based signature of FIPS 205, in the manner of `cryptography`.

    from gambeson.slhdsa import SLHDSAPrivateKey, SLHDSAPublicKey

    key = SLHDSAPrivateKey.generate("SLH-DSA-SHA2-128f")
    signature = key.sign(b"message", context=b"letters v1")  # 17088 bytes

    sent = key.public_key().public_bytes_raw()
    public = SLHDSAPublicKey.from_public_bytes(sent, "SLH-DSA-SHA2-128f")
    public.verify(signature, b"message", context=b"letters v1")  # returns, or raises InvalidSignature

| each with SHA2 and SHAKE            | public key | private key | signature    |
| ----------------------------------- | ---------- | ----------- | ------------ |
| SLH-DSA-SHA2-128s, …-128f           | 32         | 64          | 7856, 17088  |
| SLH-DSA-SHA2-192s, …-192f           | 48         | 96          | 16224, 35664 |
| SLH-DSA-SHA2-256s, …-256f           | 64         | 128         | 29792, 49856 |

Sets whose names end in `s` have small signatures, those in `f` sign fast. `from_private_bytes` makes the public key again to check it, in the time
of `generate`.

Signing is hedged, unless it is `deterministic`. HashSLH-DSA signs a digest, by the name of the function that made it, such as SHA2-512 or SHAKE-256
(64 bytes; SHAKE-128 gives 32):

    digest = hashlib.sha512(b"message").digest()
    signature = key.sign_prehashed(digest, "SHA2-512")
    public.verify_prehashed(signature, digest, "SHA2-512")

A private key is wiped by `wipe()`, at the end of a `with`, or when nothing refers to it. Data may be `bytes`, `bytearray`, `memoryview` or
another buffer of bytes.
"""

from gambeson._native import SLHDSAPrivateKey, SLHDSAPublicKey

__all__ = ["SLHDSAPrivateKey", "SLHDSAPublicKey"]
