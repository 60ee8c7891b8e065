"""docs/spec/hpke-sealed.md."""

import hashlib
import hmac
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import mlkem, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt
from nacl.exceptions import CryptoError

import keys
from did import parse_did, parse_url
from reading import Refused, need

LABEL = b"gambeson sealed v1"
MAX_PAYLOAD, MAX_ENVELOPE, MAX_DAYS = 2**24, 18939904, 2592000

# suite: byte, KEM, KDF, AEAD, length of enc, hash, algorithm of signatures
SUITES = {
    "default": (1, 0x647A, 0x0001, 0xFFFF, 1120, "sha256", "ML-DSA-65"),
    "cnsa2": (2, 0x0042, 0x0002, 0x0002, 1568, "sha384", "ML-DSA-87"),
}


class Context:
    """The recipient's context of HPKE in base mode (RFC 9180, §5.1)."""

    def __init__(self, suite, shared, info):
        _, kem, kdf, aead, _, self.hash, _ = SUITES[suite]
        self.size = hashlib.new(self.hash).digest_size
        self.id = b"HPKE" + b"".join(number.to_bytes(2, "big") for number in (kem, kdf, aead))
        context = b"\0" + self.extract(b"", b"psk_id_hash", b"") + self.extract(b"", b"info_hash", info)
        secret = self.extract(shared, b"secret", b"")
        self.exporter = self.expand(secret, b"exp", context, self.size)
        if aead != 0xFFFF:
            self.key = self.expand(secret, b"key", context, 32)
            self.nonce = self.expand(secret, b"base_nonce", context, 12)

    def extract(self, salt, label, material):
        return hmac.digest(salt or bytes(self.size), b"HPKE-v1" + self.id + label + material, self.hash)

    def expand(self, key, label, info, length):
        info = length.to_bytes(2, "big") + b"HPKE-v1" + self.id + label + info
        out = block = b""
        while len(out) < length:
            block = hmac.digest(key, block + info + bytes([len(out) // self.size + 1]), self.hash)
            out += block
        return out[:length]

    def export(self, label, length):
        return self.expand(self.exporter, b"sec", label, length)


def decapsulate(suite, seed, enc):
    if suite == "cnsa2":
        return mlkem.MLKEM1024PrivateKey.from_seed_bytes(seed).decapsulate(enc)
    kem, curve = keys.x_wing(seed)
    share = enc[1088:]
    try:
        both = kem.decapsulate(enc[:1088]) + curve.exchange(x25519.X25519PublicKey.from_public_bytes(share))
    except ValueError:
        raise Refused("cannot-open") from None
    return hashlib.sha3_256(both + share + keys.raw(curve.public_key()) + rb"\.//^" + b"\\").digest()


def unseal(suite, seed, index, did, enc, aad, ciphertext):
    """The plaintext, under the key with this index."""
    shared = decapsulate(suite, keys.derive(suite, seed, "Sealed", index), enc)
    context = Context(suite, shared, LABEL + b"\0" + f"{did}#sealed-{index}".encode())
    try:
        if suite == "cnsa2":
            return AESGCM(context.key).decrypt(context.nonce, ciphertext, aad)
        return crypto_aead_xchacha20poly1305_ietf_decrypt(ciphertext, aad, bytes(24), context.export(LABEL, 32))
    except (InvalidTag, CryptoError):
        raise Refused("cannot-open") from None


class Fields:
    """What is left to read."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        need(self.at + length <= len(self.data), "bad-form")
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self, length):
        return int.from_bytes(self.take(length), "big")

    def text(self):
        try:
            return self.take(self.number(2)).decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("bad-form") from None


def padded(length):
    if length < 2:
        return length
    exponent = length.bit_length() - 1
    size = exponent.bit_length()
    step = 1 << max(exponent - size, 0)
    return -(-length // step) * step


def open_envelope(envelope, suite, seed, index, did, resolve, now, opened):
    """Who, what and when."""
    need(len(envelope) <= MAX_ENVELOPE, "too-large")
    need(envelope[:16] == b"gambeson sealed\x01" and len(envelope) > 16, "bad-form")
    byte, _, _, _, enc_length, _, algorithm = SUITES[suite]
    need(envelope[16] == byte, "bad-algorithm")
    start = 17 + enc_length
    need(len(envelope) >= start + 16, "bad-form")
    plaintext = None
    for number in range(index, -1, -1):
        try:
            plaintext = unseal(suite, seed, number, did, envelope[17:start], envelope[:start], envelope[start:])
            break
        except Refused:
            pass
    need(plaintext is not None, "cannot-open")

    fields = Fields(plaintext)
    kind = fields.text()
    need(kind.startswith("gambeson-sealed+"), "bad-form")
    media = kind.removeprefix("gambeson-sealed+")
    sender, recipient = fields.text(), fields.text()
    number, expires = fields.take(16), fields.number(8)
    payload = fields.take(fields.number(4))
    signed = plaintext[: fields.at]
    signature = fields.take(fields.number(2))
    sender_did, _ = parse_url(sender)
    parse_did(recipient)
    need(re.fullmatch("(?=.{1,127}$)[ -~]+/[ -~]+", media) and len(payload) <= MAX_PAYLOAD, "bad-form")
    need(len(plaintext) == padded(fields.at) and not any(plaintext[fields.at :]), "bad-form")
    need(recipient == did, "other-recipient")
    need(now <= expires, "expired")
    need(expires - now <= MAX_DAYS, "bad-time")
    key = resolve(sender_did, now).key_for(sender, "JsonWebKey", "assertionMethod", now)
    need(key.algorithm == algorithm, "bad-algorithm")
    key.verify(signed, signature, LABEL)
    need((sender_did, number) not in opened, "replayed")
    opened.add((sender_did, number))
    return sender, media, number, expires, payload
