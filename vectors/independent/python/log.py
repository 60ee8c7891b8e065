"""docs/spec/log.md: trees, files, checkpoints, proofs."""

import base64
import binascii
import hashlib
import re

import keys
from reading import Refused, need

MAX_CHECKPOINT, MAX_PROOF = 131072, 262144


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def leaf(entry):
    return sha256(b"\0", entry)


def node(left, right):
    return sha256(b"\1", left, right)


def root(hashes):
    """RFC 6962, §2.1, level by level: a hash without a sibling goes up as it is."""
    if not hashes:
        return sha256()
    while len(hashes) > 1:
        pairs = [node(hashes[at], hashes[at + 1]) for at in range(0, len(hashes) - 1, 2)]
        hashes = pairs + hashes[len(hashes) & ~1 :]
    return hashes[0]


def tile_name(number):
    groups = [f"{number % 1000:03}"]
    while number >= 1000:
        number //= 1000
        groups.insert(0, f"x{number % 1000:03}")
    return "/".join(groups)


def tiles(prefix, items):
    """Names and contents of tiles of up to 256 items."""
    for at in range(0, len(items), 256):
        part = items[at : at + 256]
        partial = f".p/{len(part)}" if len(part) < 256 else ""
        yield f"{prefix}/{tile_name(at // 256)}{partial}", b"".join(part)


def files(entries, origin, seed, now):
    """Every file of a log that was written at once, by name."""
    found = dict(tiles("tile/entries", [len(entry).to_bytes(2, "big") + entry for entry in entries]))
    hashes = [leaf(entry) for entry in entries]
    level, number = hashes, 0
    while level:
        found |= tiles(f"tile/{number}", level)
        level = [root(level[at : at + 256]) for at in range(0, len(level) - 255, 256)]
        number += 1
    found["checkpoint"] = checkpoint(origin, len(entries), root(hashes), seed, now).encode()
    return found


def text64(data):
    return base64.b64encode(data).decode()


def from64(text, code):
    try:
        data = base64.b64decode(text.encode(), validate=True)
    except (binascii.Error, ValueError):
        raise Refused(code) from None
    need(text64(data) == text, code)
    return data


def key_id(origin, key):
    return sha256(origin.encode(), b"\n\6", key)[:4]


def cosigned(origin, time, size, tree):
    name = bytes([len(origin.encode())]) + origin.encode()
    return b"subtree/v1\n\0" + name + time + name + bytes(8) + size.to_bytes(8, "big") + tree


def checkpoint(origin, size, tree, seed, now):
    key = keys.derive("default", seed, "Log", 0)
    public = keys.public_key("ML-DSA-44", key)
    time = now.to_bytes(8, "big")
    signature = keys.sign("ML-DSA-44", key, cosigned(origin, time, size, tree))
    line = text64(key_id(origin, public) + time + signature)
    return f"{origin}\n{size}\n{text64(tree)}\n\n— {origin} {line}\n"


def decimal(text, code):
    need(re.fullmatch("0|[1-9][0-9]{0,19}", text) and int(text) < 2**64, code)
    return int(text)


def is_name(name):
    return bool(name) and not re.search(r"[\s+\x00-\x1f\x7f-\x9f]", name)


def read_checkpoint(text, origin, key, now):
    """Size, root and time of a checkpoint that the key signed."""
    code = "bad-checkpoint"
    need(len(text.encode()) <= MAX_CHECKPOINT, "too-large")
    need(not re.search(r"[\x00-\x09\x0b-\x1f]", text) and "\n\n" in text and text.endswith("\n"), code)
    at = text.rindex("\n\n")
    lines, signatures = text[:at].split("\n"), text[at + 2 : -1].split("\n")
    need(len(signatures) <= 32, code)
    read = []
    for line in signatures:
        match = re.fullmatch(r"— (\S+) (\S+)", line)
        need(match and is_name(match[1]), code)
        data = from64(match[2], code)
        need(len(data) >= 5, code)
        read.append((match[1], data))
    need(len(lines) == 3 and is_name(lines[0]) and len(lines[0].encode()) <= 255, code)
    size, tree = decimal(lines[1], code), from64(lines[2], code)
    need(len(tree) == 32, code)
    need(lines[0] == origin, code)
    ours = [data for name, data in read if name == origin and data[:4] == key_id(origin, key.data)]
    need(ours, "bad-signature")
    for data in ours:
        key.verify(cosigned(origin, data[4:12], size, tree), data[12:])
    time = max(int.from_bytes(data[4:12], "big") for data in ours)
    need(time <= now + 300, "not-yet-valid")
    return size, tree, time


def verifier_key(text):
    origin, number, data = text.split("+", 2)
    key = base64.b64decode(data)
    assert key[0] == 6 and key_id(origin, key[1:]).hex() == number
    return origin, keys.VerifyingKey("ML-DSA-44", key[1:])


def verify_proof(text, entry, key, now):
    """Index and checkpoint of a proof that an entry is in a log."""
    need(len(text.encode()) <= MAX_PROOF, "too-large")
    head, empty, note = text.partition("\n\n")
    need(empty, "bad-form")
    version, *lines = head.split("\n")
    need(version == "c2sp.org/tlog-proof@v1" and lines, "bad-form")
    if lines[0].startswith("extra "):
        need(len(from64(lines.pop(0)[6:], "bad-form")) <= 65536, "too-large")
    need(lines and lines[0].startswith("index "), "bad-form")
    index = decimal(lines[0][6:], "bad-form")
    path = [from64(line, "bad-form") for line in lines[1:]]
    need(len(path) <= 64 and all(len(one) == 32 for one in path), "bad-form")
    size, tree, time = read_checkpoint(note, *verifier_key(key), now)
    verify_inclusion(leaf(entry), index, size, path, tree)
    return index, size, tree, time


def verify_inclusion(hash_, index, size, path, tree):
    """RFC 9162, §2.1.3.2."""
    code = "not-included"
    need(index < size, code)
    at, last, found = index, size - 1, hash_
    for one in path:
        need(last > 0, code)
        if at & 1 or at == last:
            found = node(one, found)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            found = node(found, one)
        at, last = at >> 1, last >> 1
    need(last == 0 and found == tree, code)


def verify_consistency(old, old_root, new, new_root, path):
    """RFC 9162, §2.1.4.2."""
    code = "inconsistent"
    need(old <= new, code)
    if old in (0, new):
        need(not path and old_root == (sha256() if old == 0 else new_root), code)
        if old == new:
            need(old_root == new_root, code)
        return
    need(path, code)
    path = ([old_root] if old & (old - 1) == 0 else []) + path
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    first = second = path[0]
    for one in path[1:]:
        need(last > 0, code)
        if at & 1 or at == last:
            first, second = node(one, first), node(one, second)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            second = node(second, one)
        at, last = at >> 1, last >> 1
    need(last == 0 and first == old_root and second == new_root, code)
