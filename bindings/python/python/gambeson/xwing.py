"""X-Wing: ML-KEM-768 and X25519 in one key encapsulation (draft-connolly-cfrg-xwing-kem).

    from gambeson.xwing import XWingPrivateKey

    key = XWingPrivateKey.generate()
    shared, ciphertext = key.public_key().encapsulate()
    assert key.decapsulate(ciphertext) == shared

A public key has 1216 bytes, a ciphertext 1120, a shared secret 32, and the seed, which is the private key, 32. The
methods named `contributory` refuse X25519 shares of low order, as protocols on HPKE do.
"""

from gambeson._native import XWingPrivateKey, XWingPublicKey

__all__ = ["XWingPrivateKey", "XWingPublicKey"]
