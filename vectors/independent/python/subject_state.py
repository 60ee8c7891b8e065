"""state.json: docs/spec/state.md."""

import hmac

import blake3
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt
from nacl.exceptions import CryptoError

import keys
from reading import Refused, need

SUITES = {"default": 1, "cnsa2": 2}


def open_state(suite, seed, label, sealed):
    magic = b"gambeson state\x01" + bytes([SUITES[suite]])
    need(len(sealed) >= 64 and sealed.startswith(magic), "bad-form")
    header, body = sealed[:48], sealed[48:]
    key = keys.derive(suite, seed, "State", 0)
    try:
        if suite == "default":
            piece = blake3.blake3(header + label.encode(), key=key).digest()
            return crypto_aead_xchacha20poly1305_ietf_decrypt(body, header, bytes(24), piece)
        piece = keys.expand_sha384(hmac.digest(header, key, "sha384"), label.encode(), 32)
        return AESGCM(piece).decrypt(bytes(12), body, header)
    except (InvalidTag, CryptoError):
        raise Refused("cannot-open") from None


def changed(whole, name):
    """The bytes of a vector with the changes that it asks for."""
    data = bytearray.fromhex(whole[name])
    if "flip" in whole:
        data[whole["flip"]] ^= 1
    return bytes(data[: whole.get("keep", len(data))]) + bytes.fromhex(whole.get("append", ""))


def check(vector, by_id):
    whole = {**by_id[vector["of"]], **vector} if "of" in vector else vector
    state = open_state(whole["suite"], bytes.fromhex(whole["seed"]), whole["label"], changed(whole, "sealed"))
    assert state.hex() == whole["state"]
