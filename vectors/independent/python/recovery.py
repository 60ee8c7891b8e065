"""docs/spec/recovery.md and docs/spec/keystore.md: the seed in words, in age files, in keystore files."""

import base64
import binascii
import hashlib
import hmac
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from mnemonic import Mnemonic
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt
from nacl.exceptions import CryptoError

from keys import expand_sha384
from reading import Refused, need

NUMBERS = {word: number for number, word in enumerate(Mnemonic("english").wordlist)}


def from_words(text):
    """BIP-39: 24 words are the entropy and one byte of its hash."""
    code = "bad-words"
    need(len(text.encode()) <= 4096, code)
    words = text.lower().split()
    need(len(words) == 24 and all(word in NUMBERS for word in words), code)
    whole = 0
    for word in words:
        whole = whole << 11 | NUMBERS[word]
    seed, checksum = (whole >> 8).to_bytes(32, "big"), whole & 255
    need(hashlib.sha256(seed).digest()[0] == checksum, code)
    return seed


# age


def dearmored(file):
    if not file.lstrip().startswith(b"-----BEGIN"):
        return file
    *lines, end = file.strip().split(b"\n")
    need(lines and lines[0] == b"-----BEGIN AGE ENCRYPTED FILE-----" and end == b"-----END AGE ENCRYPTED FILE-----", "bad-form")
    need(all(len(line) == 64 for line in lines[1:-1]) and 0 < len(lines[-1]) <= 64, "bad-form")
    return from64(b"".join(lines[1:]))


def from64(data):
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        raise Refused("bad-form") from None


def hkdf_sha256(key, salt, info):
    return hmac.digest(hmac.digest(salt or bytes(32), key, "sha256"), info + b"\1", "sha256")


HEADER = rb"age-encryption\.org/v1\n-> scrypt ([A-Za-z0-9+/]{22}) ([1-9][0-9]?)\n([A-Za-z0-9+/]{43})\n---"


def from_age(file, passphrase, limit):
    code = "bad-form"
    data = dearmored(file)
    match = re.match(HEADER + rb" ([A-Za-z0-9+/]{43})\n", data)
    need(match, code)
    salt, body, mac = (from64(part + b"=" * (-len(part) % 4)) for part in (match[1], match[3], match[4]))
    factor = int(match[2])
    need(factor <= limit, "too-much-work")
    wrap = hashlib.scrypt(
        passphrase.encode(), salt=b"age-encryption.org/v1/scrypt" + salt, n=1 << factor, r=8, p=1, maxmem=2**31 - 1, dklen=32
    )
    try:
        key = ChaCha20Poly1305(wrap).decrypt(bytes(12), body, b"")
    except InvalidTag:
        raise Refused("wrong-passphrase") from None
    header = re.match(HEADER, data)[0]
    need(hmac.digest(hkdf_sha256(key, b"", b"header"), header, "sha256") == mac, code)
    rest = data[match.end() :]
    need(len(rest) >= 32, code)
    return from_words(without_comments(stream(hkdf_sha256(key, rest[:16], b"payload"), rest[16:])))


def stream(key, data):
    out = b""
    chunks = [data[at : at + 65552] for at in range(0, len(data), 65552)]
    for number, chunk in enumerate(chunks):
        nonce = number.to_bytes(11, "big") + bytes([number == len(chunks) - 1])
        try:
            out += ChaCha20Poly1305(key).decrypt(nonce, chunk, b"")
        except InvalidTag:
            raise Refused("bad-form") from None
    return out


def without_comments(data):
    need(len(data) <= 4096, "bad-words")
    return " ".join(line for line in data.decode("utf-8", "replace").splitlines() if not line.startswith("#"))


# Keystore files


def from_keystore(file, passphrase):
    """The suite of the agent and its seed."""
    code = "bad-form"
    need(168 <= len(file) <= 168 + 2**20 and file[:16] == b"gambeson secret\x01" and file[16] in (1, 2), code)
    suite = file[16]
    memory, passes, lanes = (int.from_bytes(file[at : at + 4], "big") for at in (20, 24, 28))
    purpose, salt, nonce, commitment = file[32:64], file[64:96], file[96:120], file[120:152]
    need(not any(file[17:20]) and (suite == 1 or not (memory or lanes or any(nonce[12:]))), code)
    if suite == 1:
        fits = 1 <= lanes <= 16 and 1 <= passes <= 64 and 8 * lanes <= memory <= 2**20 and memory * passes <= 2**22
        need(fits, "too-much-work")
    else:
        need(1000 <= passes <= 10_000_000, "too-much-work")
    names = {1: (b"agent master seed", "default"), 2: (b"agent master seed cnsa2", "cnsa2")}
    need(purpose == names[suite][0].ljust(32, b"\0"), code)
    if suite == 1:
        kdf = Argon2id(salt=salt, length=64, iterations=passes, lanes=lanes, memory_cost=memory)
        derived = kdf.derive(passphrase.encode())
        key, stated = derived[:32], derived[32:]
    else:
        prk = hashlib.pbkdf2_hmac("sha384", passphrase.encode(), salt, passes, 48)
        key, stated = (expand_sha384(prk, b"gambeson secret v1 " + name, 32) for name in (b"key", b"commitment"))
    need(stated == commitment, "wrong-passphrase")
    try:
        if suite == 1:
            seed = crypto_aead_xchacha20poly1305_ietf_decrypt(file[152:], file[:152], nonce, key)
        else:
            seed = AESGCM(key).decrypt(nonce[:12], file[152:], file[:152])
    except (InvalidTag, CryptoError):
        raise Refused(code) from None
    need(len(seed) == 32, code)
    return names[suite][1], seed
