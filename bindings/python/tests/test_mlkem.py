"""ML-KEM against `cryptography`, and ML-KEM-512, which it does not have, against `pqcrypto`; X-Wing by its draft."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from conftest import buffers
from cryptography.hazmat.primitives.asymmetric import mlkem as peer
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from pqcrypto.kem import ml_kem_512  # type: ignore[import-untyped]

import gambeson
from gambeson import mlkem, xwing

SETS = [("512", 800, 768), ("768", 1184, 1088), ("1024", 1568, 1568)]
SEED = bytes(range(64))


def classes(module: Any, name: str) -> tuple[Any, Any]:
    return getattr(module, f"MLKEM{name}PrivateKey"), getattr(module, f"MLKEM{name}PublicKey")


@pytest.mark.parametrize(("name", "ek", "c"), SETS)
def test_both_sides_find_the_same_secret(name: str, ek: int, c: int) -> None:
    private, public = classes(mlkem, name)
    key = private.generate()
    sent = key.public_key().public_bytes_raw()
    assert len(sent) == ek
    theirs = public.from_public_bytes(sent)
    # The first encapsulation of a key takes another way than those after it.
    for _ in range(3):
        shared, ciphertext = theirs.encapsulate()
        assert (len(shared), len(ciphertext)) == (32, c)
        assert key.decapsulate(ciphertext) == shared
        for same in buffers(ciphertext):
            assert key.decapsulate(same) == shared
        changed = bytes([ciphertext[0] ^ 1]) + ciphertext[1:]
        assert key.decapsulate(changed) != shared
    again = private.from_seed_bytes(key.private_bytes_raw())
    assert again.public_key() == key.public_key()


@pytest.mark.parametrize("name", ["768", "1024"])
def test_the_peer_agrees(name: str) -> None:
    private, public = classes(mlkem, name)
    their_private, their_public = classes(peer, name)
    ours, theirs = private.from_seed_bytes(SEED), their_private.from_seed_bytes(SEED)
    published = theirs.public_key().public_bytes_raw()
    assert ours.public_key().public_bytes_raw() == published
    shared, ciphertext = public.from_public_bytes(published).encapsulate()
    assert theirs.decapsulate(ciphertext) == shared
    shared, ciphertext = their_public.from_public_bytes(published).encapsulate()
    assert ours.decapsulate(ciphertext) == shared


def test_the_peer_agrees_on_the_smallest_set() -> None:
    published, secret = ml_kem_512.keygen()
    shared, ciphertext = mlkem.MLKEM512PublicKey.from_public_bytes(published).encapsulate()
    assert ml_kem_512.decaps(secret, ciphertext) == shared

    key = mlkem.MLKEM512PrivateKey.generate()
    ciphertext, shared = ml_kem_512.encaps(key.public_key().public_bytes_raw())
    assert key.decapsulate(ciphertext) == shared


def test_a_key_with_a_coefficient_of_q_is_refused() -> None:
    for key in (mlkem.MLKEM768PublicKey, xwing.XWingPublicKey):
        length = 1184 if key is mlkem.MLKEM768PublicKey else 1216
        with pytest.raises(gambeson.Malformed) as refused:
            key.from_public_bytes(b"\xff" * length)
        assert refused.value.code == "bad-key"


def test_xwing_is_what_its_draft_says() -> None:
    """Decapsulation again, from ML-KEM and X25519 of the peer and SHA-3 of the standard library."""
    seed = bytes(range(32))
    key = xwing.XWingPrivateKey.from_seed_bytes(seed)
    assert key.private_bytes_raw() == seed
    expanded = hashlib.shake_256(seed).digest(96)
    kem = peer.MLKEM768PrivateKey.from_seed_bytes(expanded[:64])
    x25519 = X25519PrivateKey.from_private_bytes(expanded[64:])
    x_public = x25519.public_key().public_bytes_raw()
    public = key.public_key()
    assert public.public_bytes_raw() == kem.public_key().public_bytes_raw() + x_public
    for encapsulate, decapsulate in (
        (public.encapsulate, key.decapsulate),
        (public.encapsulate_contributory, key.decapsulate_contributory),
    ):
        shared, ciphertext = encapsulate()
        c_m, c_x = ciphertext[:1088], ciphertext[1088:]
        ss_x = x25519.exchange(X25519PublicKey.from_public_bytes(c_x))
        text = kem.decapsulate(c_m) + ss_x + c_x + x_public + rb"\.//^" + b"\\"
        assert hashlib.sha3_256(text).digest() == shared == decapsulate(ciphertext)


def test_a_share_of_low_order_is_refused_where_asked() -> None:
    key = xwing.XWingPrivateKey.generate()
    _, ciphertext = key.public_key().encapsulate()
    low = ciphertext[:1088] + bytes(32)
    assert len(key.decapsulate(low)) == 32
    with pytest.raises(gambeson.VerificationError) as refused:
        key.decapsulate_contributory(low)
    assert refused.value.code == "non-contributory"
    public = xwing.XWingPublicKey.from_public_bytes(key.public_key().public_bytes_raw()[:1184] + bytes(32))
    assert len(public.encapsulate()[0]) == 32
    with pytest.raises(gambeson.VerificationError):
        public.encapsulate_contributory()
