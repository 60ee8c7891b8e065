"""memory.json: docs/spec/memory.md."""

import re

from keys import blake3_256
from reading import canonical, is_integer, need, parse_object

OBJECT, CHUNKS = 2**20, 8192


def contents(value):
    return bytes.fromhex(value["hex"]) if "hex" in value else bytes([value["byte"]]) * value["length"]


def name_of(data):
    return "b3:" + blake3_256(data).hex()


def is_name(value):
    return isinstance(value, str) and re.fullmatch("b3:[0-9a-f]{64}", value)


def load(text, objects, most):
    manifest = parse_object(text, OBJECT)
    size, chunks = manifest.get("size"), manifest.get("chunks")
    need(is_integer(size) and size >= 0 and isinstance(chunks, list), "bad-form")
    need(len(chunks) == -(-size // OBJECT) <= CHUNKS and all(map(is_name, chunks)), "bad-form")
    whole = {"chunks": chunks, "size": size, "type": "gambeson-memory-manifest-v1"}
    need(canonical(whole) == text, "bad-form")
    need(size <= most, "too-large")
    out = b""
    for number, name in enumerate(chunks):
        need(name in objects, "wrong-hash")
        need(len(objects[name]) == min(size - number * OBJECT, OBJECT), "bad-form")
        out += objects[name]
    return out


def check(vector, _):
    if vector["kind"] == "object":
        need(is_name(vector["name"]), "bad-form")
        data = contents(vector["object"])
        need(len(data) <= OBJECT, "too-large")
        need(name_of(data) == vector["name"], "wrong-hash")
        return
    objects = {name_of(data): data for data in map(contents, vector["objects"])}
    whole = load(vector["manifest"].encode(), objects, vector["most"])
    assert name_of(whole) == vector["whole"]
