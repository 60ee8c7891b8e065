"""docs/spec/backup.md."""

import base64
import hmac
import re

import blake3
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

import keys
import sealed
from did import parse_did
from reading import Refused, need
from recovery import hkdf_sha256
from subject_memory import is_name, name_of

# No vector has a greater index; an agent looks as far as 1023.
INDEXES = 16
MOST, ENTRIES, CREDENTIAL, OBJECT, STATE = 2**28, 65536, 2**20, 2**20, 2**24
STATES = ("ledger", "seen", "status-list")

# HPKE with the suite of an age file, and that of a backup.
sealed.SUITES["age"] = (0, 0x647A, 0x0001, 0x0003, 1120, "sha256", "")
INFO = {"age": b"age-encryption.org/mlkem768x25519", "cnsa2": b"gambeson backup cnsa2 v1"}

HEADER = re.compile(rb"age-encryption\.org/v1\n-> mlkem768x25519 ([A-Za-z0-9+/]{1494})\n([A-Za-z0-9+/]{43})\n---")


def contexts(suite, kind, seed, enc):
    for index in range(INDEXES):
        try:
            yield sealed.Context(kind, sealed.decapsulate(kind, keys.derive(suite, seed, "Backup", index), enc), INFO[kind])
        except Refused:
            return


def from_age(seed, file):
    """The one recipient is tried with every key; then the header's MAC and the chunks."""
    header = HEADER.match(file)
    need(header, "bad-form")
    enc, body = (base64.b64decode(part + b"=" * (-len(part) % 4)) for part in header.groups())
    for context in contexts("default", "age", seed, enc):
        try:
            key = ChaCha20Poly1305(context.key).decrypt(context.nonce, body, b"")
        except InvalidTag:
            continue
        mac = re.compile(rb" ([A-Za-z0-9+/]{43})\n").match(file, header.end())
        need(mac and len(file) >= mac.end() + 16, "bad-form")
        expected = hmac.digest(hkdf_sha256(key, b"", b"header"), header[0], "sha256")
        need(base64.b64decode(mac[1] + b"=") == expected, "cannot-open")
        nonce, data = file[mac.end() : mac.end() + 16], file[mac.end() + 16 :]
        return chunks(ChaCha20Poly1305(hkdf_sha256(key, nonce, b"payload")), data)
    raise Refused("cannot-open")


def chunks(cipher, data):
    out = b""
    parts = [data[at : at + 65552] for at in range(0, len(data), 65552)]
    for number, part in enumerate(parts):
        try:
            out += cipher.decrypt(number.to_bytes(11, "big") + bytes([number == len(parts) - 1]), part, b"")
        except InvalidTag:
            raise Refused("cannot-open") from None
    return out


def from_cnsa2(seed, file):
    need(len(file) >= 16 + 1568 + 32 and file.startswith(b"gambeson b cnsa2"), "bad-form")
    start, header = file[: 16 + 1568], file[: 16 + 1568 + 16]
    for context in contexts("cnsa2", "cnsa2", seed, start[16:]):
        cipher = AESGCM(context.key)
        try:
            cipher.decrypt(context.nonce, header[len(start) :], start)
        except InvalidTag:
            continue
        second = context.nonce[:-1] + bytes([context.nonce[-1] ^ 1])
        try:
            return cipher.decrypt(second, file[len(header) :], header)
        except InvalidTag:
            break
    raise Refused("cannot-open")


class Fields(sealed.Fields):
    def take(self, length):
        need(self.at + length <= len(self.data), "bad-archive")
        return super().take(length)

    def text(self):
        try:
            return super().text()
        except Refused:
            raise Refused("bad-archive") from None


def open_backup(suite, seed, did, file):
    need(len(file) <= MOST + 2 * 2**16, "too-large")
    archive = from_age(seed, file) if suite == "default" else from_cnsa2(seed, file)
    key = keys.derive(suite, seed, "BackupMac", 0)
    length = 32 if suite == "default" else 48
    need(len(archive) >= length, "cannot-open")
    archive, mac = archive[:-length], archive[-length:]
    own = blake3.blake3(archive, key=key).digest() if suite == "default" else hmac.digest(key, archive, "sha384")
    need(own == mac, "cannot-open")

    fields = Fields(archive)
    need(fields.take(16) == b"gambeson backup\x01", "bad-archive")
    owner = fields.text()
    try:
        parse_did(owner)
    except Refused:
        raise Refused("bad-archive") from None
    found = {"made": fields.number(8), "cards": None, "credentials": {}, "objects": {}, "state": {}}
    count, last = fields.number(4), (0, b"")
    need(count <= ENTRIES, "bad-archive")
    for _ in range(count):
        kind, name = fields.take(1)[0], fields.text()
        data = fields.take(fields.number(4))
        need(last < (kind, name.encode()), "bad-archive")
        last = (kind, name.encode())
        if kind == 1:
            need(name == "cards.jsonl", "bad-archive")
            try:
                found["cards"] = data.decode()
            except UnicodeDecodeError:
                raise Refused("bad-archive") from None
        elif kind == 2:
            need(re.fullmatch(r"(?!\.)[A-Za-z0-9._-]{1,128}", name) and len(data) <= CREDENTIAL, "bad-archive")
            found["credentials"][name] = data.hex()
        elif kind == 4:
            need(name in STATES and len(data) <= STATE, "bad-archive")
            found["state"][name] = data.hex()
        else:
            need(kind == 3 and is_name(name) and len(data) <= OBJECT, "bad-archive")
            need(name_of(data) == name, "wrong-hash")
            found["objects"][name] = data.hex()
    need(fields.at == len(archive) and owner == did, "bad-archive")
    return found
