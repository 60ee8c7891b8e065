"""recovery.json: docs/spec/recovery.md."""

from recovery import from_age, from_keystore, from_words
from shares import combine


def check(vector, by_id):
    whole = {**by_id[vector["of"]], **vector} if "of" in vector else vector
    kind, suite = vector["kind"], None
    if kind == "words":
        seed = from_words(vector["words"])
    elif kind == "shares":
        seed = combine(vector["shares"])
    else:
        file = bytearray(whole["file"].encode() if kind == "age" else bytes.fromhex(whole["file"]))
        if "flip" in vector:
            file[vector["flip"]] ^= 1
        file = bytes(file[: vector.get("keep", len(file))])
        if kind == "age":
            seed = from_age(file, whole["passphrase"], whole["max_work_factor"])
        else:
            assert kind == "keystore"
            suite, seed = from_keystore(file, whole["passphrase"])
    assert seed.hex() == vector["expect"]["seed"]
    assert suite == vector["expect"].get("suite")
