"""SLH-DSA, LMS, HSS, XMSS and XMSS^MT against published answers, and what they refuse."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import buffers

import gambeson
from gambeson.lms import HSSPublicKey, LMSPublicKey
from gambeson.slhdsa import SLHDSAPrivateKey, SLHDSAPublicKey
from gambeson.xmss import XMSSMTPublicKey, XMSSPublicKey

PUBLISHED: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "published" / "hash-based.json").read_text(encoding="utf-8")
)
SET = "SLH-DSA-SHAKE-128f"
hexed = bytes.fromhex


def digest_of(function: str, message: bytes) -> bytes:
    """The digest of HashSLH-DSA by Python's own functions."""
    name = function.lower().replace("sha2-", "sha").replace("sha3-", "sha3_").replace("shake-", "shake_").replace("/", "_")
    made = hashlib.new(name, message)
    # The functions of variable length give twice their security (FIPS 205, 10.2.2).
    return made.digest({"shake_128": 32, "shake_256": 64}[name]) if name.startswith("shake") else made.digest()  # type: ignore[call-arg]


def refused(kind: type[gambeson.Error], code: str, call: Any, *arguments: Any, **named: Any) -> None:
    with pytest.raises(kind) as error:
        call(*arguments, **named)
    assert error.value.code == code


def test_keys_of_seeds_are_the_published_ones() -> None:
    for vector in PUBLISHED["slhdsaKeys"]:
        name, seeds, root = vector["set"], hexed(vector["seeds"]), hexed(vector["root"])
        key = SLHDSAPrivateKey.from_seed_bytes(seeds, name)
        assert key.private_bytes_raw() == seeds + root and key.parameter_set == name
        public = key.public_key()
        assert public.public_bytes_raw() == seeds[len(root) * 2 :] + root and public.parameter_set == name
    assert len(PUBLISHED["slhdsaKeys"]) == 12


def test_signatures_are_the_published_ones_and_verify() -> None:
    deterministic = 0
    for vector in PUBLISHED["slhdsaSignatures"]:
        key = SLHDSAPrivateKey.from_private_bytes(hexed(vector["sk"]), vector["set"])
        public, message, context = key.public_key(), hexed(vector["message"]), hexed(vector["context"])
        function = vector["prehash"]
        # Those of given randomness have no door here: they are signed anew.
        is_deterministic = not vector["randomness"]
        if function:
            digest = digest_of(function, message)
            signature = key.sign_prehashed(digest, function, context, deterministic=is_deterministic)
            public.verify_prehashed(signature, digest, function, context)
            refused(gambeson.InvalidSignature, "bad-signature", public.verify, signature, message, context)
        else:
            signature = key.sign(message, context, deterministic=is_deterministic)
            public.verify(signature, message, context)
            refused(gambeson.InvalidSignature, "bad-signature", public.verify, signature, message, context + b"x")
        if is_deterministic:
            assert hashlib.sha256(signature).hexdigest() == vector["sha256"], vector["set"]
            deterministic += 1
    assert (deterministic, len(PUBLISHED["slhdsaSignatures"])) == (10, 16)


def test_published_signatures_by_slh_dsa_are_refused() -> None:
    for vector in PUBLISHED["slhdsaVerified"]:
        public = SLHDSAPublicKey.from_public_bytes(hexed(vector["pk"]), vector["set"])
        signature, message, context = (hexed(vector[name]) for name in ("signature", "message", "context"))
        with pytest.raises(gambeson.InvalidSignature):
            if vector["prehash"]:
                digest = digest_of(vector["prehash"], message)
                public.verify_prehashed(signature, digest, vector["prehash"], context)
            else:
                public.verify(signature, message, context)
    assert len(PUBLISHED["slhdsaVerified"]) == 4


def test_signatures_by_lms_are_judged_as_published() -> None:
    valid = 0
    for vector in PUBLISHED["lms"]:
        public = LMSPublicKey.from_public_bytes(hexed(vector["pk"]))
        assert (public.lms_type, public.lmots_type) == (vector["lmsType"], vector["lmotsType"])
        signature, message = hexed(vector["signature"]), hexed(vector["message"])
        # One level of HSS is the key and the signature of LMS behind a number each.
        top = HSSPublicKey.from_public_bytes(bytes([0, 0, 0, 1]) + hexed(vector["pk"]))
        assert (top.levels, top.lms_type, top.lmots_type) == (1, public.lms_type, public.lmots_type)
        if vector["valid"]:
            valid += 1
            public.verify(signature, message)
            top.verify(bytes(4) + signature, message)
            refused(gambeson.InvalidSignature, "bad-signature", public.verify, signature, message + b"x")
        else:
            refused(gambeson.InvalidSignature, "bad-signature", public.verify, signature, message)
            refused(gambeson.InvalidSignature, "bad-signature", top.verify, bytes(4) + signature, message)
    assert (valid, len(PUBLISHED["lms"])) == (20, 24)


def test_signatures_by_hss_are_those_of_rfc_8554() -> None:
    for vector in PUBLISHED["hss"]:
        public = HSSPublicKey.from_public_bytes(hexed(vector["pk"]))
        assert public.levels == 2
        signature, message = hexed(vector["signature"]), hexed(vector["message"])
        public.verify(signature, message)
        for wrong in (b"", signature[:-1], signature + b"\0", b"\1" + signature[1:], signature[:-1] + b"\0"):
            refused(gambeson.InvalidSignature, "bad-signature", public.verify, wrong, message)
        for at in range(0, len(signature), 97):
            changed = bytearray(signature)
            changed[at] ^= 1
            refused(gambeson.InvalidSignature, "bad-signature", public.verify, changed, message)
    assert len(PUBLISHED["hss"]) == 2


def test_signatures_by_xmss_are_judged_as_published() -> None:
    valid = 0
    for vector in PUBLISHED["xmss"]:
        kind: Any = XMSSMTPublicKey if vector["set"].startswith("XMSSMT") else XMSSPublicKey
        pk, signature, message = (hexed(vector[name]) for name in ("pk", "signature", "message"))
        public = kind.from_public_bytes(pk)
        assert public.parameter_set == vector["set"] and public.public_bytes_raw() == pk
        if vector["valid"]:
            valid += 1
            public.verify(signature, message)
        else:
            refused(gambeson.InvalidSignature, "bad-signature", public.verify, signature, message)
        for wrong in (b"", signature[:-1], signature + b"\0", b"\1" + signature[1:]):
            refused(gambeson.InvalidSignature, "bad-signature", public.verify, wrong, message)
        refused(gambeson.InvalidSignature, "bad-signature", public.verify, signature, message + b"x")
        for cut in (b"", pk[:3], pk[:-1], pk + b"\0"):
            refused(gambeson.UsageError, "bad-length", kind.from_public_bytes, cut)
        refused(gambeson.Malformed, "bad-key", kind.from_public_bytes, bytes(4) + pk[4:])
    assert (valid, len(PUBLISHED["xmss"])) == (7, 9)


def test_every_kind_of_buffer_is_the_same_message() -> None:
    key = SLHDSAPrivateKey.generate(SET)
    public, raw = key.public_key(), key.private_bytes_raw()
    for private in buffers(raw):
        assert SLHDSAPrivateKey.from_private_bytes(private, SET).private_bytes_raw() == raw
    signature = key.sign(b"message", b"context")
    for message, context, given in zip(buffers(b"message"), buffers(b"context"), buffers(signature), strict=True):
        public.verify(given, message, context)


def test_signatures_are_hedged_unless_they_are_deterministic() -> None:
    key = SLHDSAPrivateKey.generate(SET)
    assert key.sign(b"message") != key.sign(b"message")
    assert key.sign(b"message", deterministic=True) == key.sign(b"message", deterministic=True)


def test_wrong_lengths_names_and_keys_are_refused() -> None:
    key = SLHDSAPrivateKey.generate(SET)
    public, raw = key.public_key(), key.private_bytes_raw()
    signature = key.sign(b"message")
    usage, length = (gambeson.UsageError, "usage"), (gambeson.UsageError, "bad-length")
    for name in ("", "SLH-DSA-SHA2-128", "slh-dsa-sha2-128f", "ML-DSA-65"):
        refused(*usage, SLHDSAPrivateKey.generate, name)
        refused(*usage, SLHDSAPublicKey.from_public_bytes, bytes(32), name)
    for wrong in (0, 63, 65, 96):
        refused(*length, SLHDSAPrivateKey.from_private_bytes, bytes(wrong), SET)
    for wrong in (0, 47, 49, 72):
        refused(*length, SLHDSAPrivateKey.from_seed_bytes, bytes(wrong), SET)
    for wrong in (0, 31, 33, 48):
        refused(*length, SLHDSAPublicKey.from_public_bytes, bytes(wrong), SET)
    refused(gambeson.Malformed, "bad-key", SLHDSAPrivateKey.from_private_bytes, raw[:-1] + bytes([raw[-1] ^ 1]), SET)
    for wrong_signature in (b"", signature[:-1], signature + b"\0"):
        refused(gambeson.InvalidSignature, "bad-signature", public.verify, wrong_signature, b"message")
    for at in range(0, len(signature), 997):
        changed = bytearray(signature)
        changed[at] ^= 1
        refused(gambeson.InvalidSignature, "bad-signature", public.verify, changed, b"message")
    for call in (partial_sign(key), partial_verify(public, signature)):
        refused(gambeson.UsageError, "context-too-long", call, bytes(256))
    refused(*usage, key.sign_prehashed, bytes(32), "SHA-256")
    refused(*length, key.sign_prehashed, bytes(31), "SHA2-256")
    refused(*length, public.verify_prehashed, signature, bytes(33), "SHA2-256")
    for kind, good, bad in ((LMSPublicKey, PUBLISHED["lms"][0]["pk"], 3), (HSSPublicKey, PUBLISHED["hss"][0]["pk"], 7)):
        key_bytes = hexed(good)
        for cut in (b"", key_bytes[:3], key_bytes[:-1], key_bytes + b"\0"):
            refused(*length, kind.from_public_bytes, cut)
        changed = bytearray(key_bytes)
        changed[bad] ^= 0x40
        refused(gambeson.Malformed, "bad-key", kind.from_public_bytes, changed)
    for levels in (0, 9):
        refused(gambeson.Malformed, "bad-key", HSSPublicKey.from_public_bytes, bytes([0, 0, 0, levels]) + key_bytes[4:])


def partial_sign(key: SLHDSAPrivateKey) -> Any:
    return lambda context: key.sign(b"message", context)


def partial_verify(public: SLHDSAPublicKey, signature: bytes) -> Any:
    return lambda context: public.verify(signature, b"message", context)
