"""ML-KEM, the key encapsulation of FIPS 203, in the manner of `cryptography`.

    from gambeson.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey

    key = MLKEM768PrivateKey.generate()
    sent = key.public_key().public_bytes_raw()  # 1184 bytes

    shared, ciphertext = MLKEM768PublicKey.from_public_bytes(sent).encapsulate()
    assert key.decapsulate(ciphertext) == shared  # 32 bytes

|             | public key | ciphertext | private key: seed | shared secret |
| ----------- | ---------- | ---------- | ----------------- | ------------- |
| ML-KEM-512  | 800        | 768        | 64                | 32            |
| ML-KEM-768  | 1184       | 1088       | 64                | 32            |
| ML-KEM-1024 | 1568       | 1568       | 64                | 32            |

`decapsulate` does not raise for a ciphertext that was changed: it gives a secret that nobody else knows.
"""

from gambeson._native import (
    MLKEM512PrivateKey,
    MLKEM512PublicKey,
    MLKEM768PrivateKey,
    MLKEM768PublicKey,
    MLKEM1024PrivateKey,
    MLKEM1024PublicKey,
)

__all__ = [
    "MLKEM1024PrivateKey",
    "MLKEM1024PublicKey",
    "MLKEM512PrivateKey",
    "MLKEM512PublicKey",
    "MLKEM768PrivateKey",
    "MLKEM768PublicKey",
]
