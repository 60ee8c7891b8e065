"""ML-DSA against `cryptography`, which shares no code with ours."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import buffers
from cryptography.exceptions import InvalidSignature as PeerInvalidSignature
from cryptography.hazmat.primitives.asymmetric import mldsa as peer

import gambeson
from gambeson import mldsa

SETS = [("44", 1312, 2420), ("65", 1952, 3309), ("87", 2592, 4627)]
SEED = bytes(range(32))


def classes(module: Any, name: str) -> tuple[Any, Any]:
    return getattr(module, f"MLDSA{name}PrivateKey"), getattr(module, f"MLDSA{name}PublicKey")


@pytest.mark.parametrize(("name", "pk", "sig"), SETS)
def test_a_seed_gives_the_same_key_as_in_the_peer(name: str, pk: int, sig: int) -> None:
    private, _ = classes(mldsa, name)
    theirs, _ = classes(peer, name)
    ours = private.from_seed_bytes(SEED)
    public = ours.public_key().public_bytes_raw()
    assert len(public) == pk
    assert public == theirs.from_seed_bytes(SEED).public_key().public_bytes_raw()
    assert ours.private_bytes_raw() == SEED
    assert len(ours.sign(b"")) == sig


@pytest.mark.parametrize("name", [name for name, _, _ in SETS])
def test_each_verifies_what_the_other_signs(name: str) -> None:
    private, public = classes(mldsa, name)
    their_private, their_public = classes(peer, name)
    ours, theirs = private.generate(), their_private.generate()
    our_public = their_public.from_public_bytes(ours.public_key().public_bytes_raw())
    their_public_key = public.from_public_bytes(theirs.public_key().public_bytes_raw())
    for context in (None, b"", b"context", bytes(255)):
        our_public.verify(ours.sign(b"message", context), b"message", context)
        their_public_key.verify(theirs.sign(b"message", context), b"message", context)
    with pytest.raises(PeerInvalidSignature):
        our_public.verify(ours.sign(b"message"), b"massage")
    with pytest.raises(gambeson.InvalidSignature):
        their_public_key.verify(theirs.sign(b"message"), b"massage")


@pytest.mark.parametrize("name", [name for name, _, _ in SETS])
def test_mu_of_the_message_gives_signatures_of_the_message(name: str) -> None:
    import hashlib

    key = classes(mldsa, name)[0].generate()
    public = key.public_key()
    tr = hashlib.shake_256(public.public_bytes_raw()).digest(64)
    mu = hashlib.shake_256(tr + b"\0\7contextmessage").digest(64)
    public.verify(key.sign_mu(mu), b"message", b"context")
    public.verify_mu(key.sign(b"message", b"context"), mu)
    with pytest.raises(gambeson.InvalidSignature):
        public.verify_mu(key.sign(b"message"), mu)
    for length in (0, 63, 65):
        with pytest.raises(gambeson.UsageError) as refused:
            key.sign_mu(bytes(length))
        assert refused.value.code == "bad-length"


def test_every_kind_of_buffer_is_the_same_message() -> None:
    key = mldsa.MLDSA65PrivateKey.generate()
    public = key.public_key()
    for seed in buffers(SEED):
        assert mldsa.MLDSA65PrivateKey.from_seed_bytes(seed).private_bytes_raw() == SEED
    for message in buffers(b"message"):
        for context in buffers(b"context"):
            for signature in buffers(key.sign(message, context)):
                public.verify(signature, message, context)


def test_signatures_are_hedged() -> None:
    key = mldsa.MLDSA65PrivateKey.from_seed_bytes(SEED)
    assert key.sign(b"message") != key.sign(b"message")


def test_no_changed_signature_verifies() -> None:
    key = mldsa.MLDSA44PrivateKey.generate()
    public, signature = key.public_key(), key.sign(b"message")
    refused = 0
    for at in range(0, len(signature), 11):
        changed = bytearray(signature)
        changed[at] ^= 1
        with pytest.raises(gambeson.InvalidSignature) as error:
            public.verify(changed, b"message")
        assert error.value.code == "bad-signature"
        refused += 1
    for wrong in (b"", signature[:-1], signature + b"\0"):
        with pytest.raises(gambeson.InvalidSignature):
            public.verify(wrong, b"message")
    assert refused == 220


def test_a_context_has_at_most_255_bytes() -> None:
    key = mldsa.MLDSA65PrivateKey.generate()
    with pytest.raises(gambeson.UsageError) as signing:
        key.sign(b"", bytes(256))
    with pytest.raises(gambeson.UsageError) as verifying:
        key.public_key().verify(bytes(3309), b"", bytes(256))
    assert signing.value.code == verifying.value.code == "context-too-long"
