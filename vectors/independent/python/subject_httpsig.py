"""httpsig.json: docs/spec/http-signatures.md."""

from actions import Memory
from signatures import verify
from subject_vc_jwt import logs_of, resolver


def check(vector, by_id):
    resolve = resolver(logs_of(by_id))
    if vector["kind"] == "cards":
        assert resolve.keeper.logs[vector["did"]]
        return
    assert vector["kind"] == "http"
    memory = Memory(vector.get("capacity", 100))
    for _ in range(2 if vector.get("repeat") else 1):
        found = verify(vector["message"], vector, resolve, vector["now"], memory)
    assert (found.label, found.base) == (vector["label"], vector["base"])
    assert found.parameters["keyid"] == vector["signer"]
