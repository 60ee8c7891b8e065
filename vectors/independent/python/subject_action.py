"""action.json: docs/spec/action.md and docs/spec/mcp.md."""

from actions import Action, Memory, name_by_hash, verify, verify_call, verify_receipt
from subject_vc_jwt import logs_of, resolver


def check(vector, by_id):
    resolve = resolver(logs_of(by_id))
    if vector["kind"] == "cards":
        assert resolve.keeper.logs[vector["did"]]
        return
    memory = Memory(vector.get("capacity", 100))
    for _ in range(2 if vector.get("repeat") else 1):
        digest, signer = once(vector, resolve, memory)
    assert (digest, signer) == (vector["digest"], vector["signer"])


def once(vector, resolve, memory):
    now, lifetime = vector["now"], vector.get("maxLifetime", 120)
    if vector["kind"] == "receipt":
        return verify_receipt(vector["response"], Action(vector["payload"].encode()), vector["server"], resolve, now)
    if vector["kind"] == "mcp":
        request = (vector["method"], vector["params"])
        action, signer = verify_call(*request, vector["audience"], lifetime, resolve, now, memory)
    else:
        signed = (vector["payload"].encode(), vector["token"])
        action, signer = verify(*signed, vector["audience"], lifetime, resolve, now, memory)
    return name_by_hash(action.signed), signer
