"""log.json: docs/spec/log.md."""

import hashlib

from log import files, leaf, root, verify_consistency, verify_inclusion, verify_proof
from reading import parse_time


def hashes(texts):
    return [bytes.fromhex(text) for text in texts]


def check(vector, by_id):
    whole = {**by_id[vector["of"]], **vector} if "of" in vector else vector
    kind = vector["kind"]
    if kind == "tree":
        tree(vector)
    elif kind == "inclusion":
        (own, tree_root), path = hashes([vector["leaf"], vector["root"]]), hashes(vector["path"])
        verify_inclusion(own, int(vector["index"]), int(vector["size"]), path, tree_root)
    elif kind == "consistency":
        old, new = hashes([vector["old_root"], vector["new_root"]])
        verify_consistency(int(vector["old_size"]), old, int(vector["new_size"]), new, hashes(vector["path"]))
    else:
        assert kind == "proof"
        proof(vector, whole)


def proof(vector, whole):
    text = whole["proof"]
    if "edit" in vector:
        assert vector["edit"][0] in text
        text = text.replace(*vector["edit"], 1)
    text += vector.get("append", "")
    index, size, tree_root, time = verify_proof(text, bytes.fromhex(whole["entry"]), whole["key"], parse_time(whole["now"]))
    expect = vector["expect"]
    assert (str(index), str(size), tree_root.hex()) == (expect["index"], expect["size"], expect["root"])
    assert time == parse_time(expect["signed"])


def tree(vector):
    size, expect = int(vector["size"]), vector["expect"]
    entries = [f"entry {number}".encode() * (number % 5) for number in range(size)]
    assert root([leaf(entry) for entry in entries]).hex() == expect["root"]
    found = files(entries, vector["origin"], bytes.fromhex(vector["seed"]), parse_time(vector["now"]))
    if size > 1000:
        found = {name: data for name, data in found.items() if not name.startswith(("tile/0/", "tile/entries/"))}
    stated = {file["name"]: file["sha256"] for file in expect["files"]}
    assert {name: hashlib.sha256(data).hexdigest() for name, data in found.items()} == stated
