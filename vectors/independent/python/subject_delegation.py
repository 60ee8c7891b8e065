"""delegation.json: docs/spec/delegation.md."""

from actions import Memory, verify
from delegation import Ledger, Pattern, authorize
from did import parse_url
from reading import Refused
from subject_vc_jwt import logs_of, resolver


def check(vector, by_id):
    if vector["kind"] == "cards":
        assert resolver(logs_of(by_id)).keeper.logs[vector["did"]]
    elif vector["kind"] == "token":
        assert any(vector["id"] in other.get("chain", []) + other.get("approvals", []) for other in by_id.values())
        assert vector["token"].count(".") == 2
    else:
        ledger = Ledger(vector.get("capacity", 100))
        for earlier in vector.get("before", []):
            decide(by_id[earlier], by_id, ledger)
        signer, (root, path, approvers) = decide(vector, by_id, ledger)
        assert [signer, root, path, approvers] == [vector[name] for name in ("signer", "root", "path", "approvers")]


def decide(vector, by_id, ledger):
    now, resolve = vector["now"], resolver(logs_of(by_id))
    signed = (vector["payload"].encode(), vector["token"])
    action, signer = verify(*signed, "did:web:bank.example", 3600, resolve, now, Memory(1))
    roots = [(Pattern(root["resource"]), root["did"]) for root in vector["roots"]]
    rules = [(Pattern(rule["action"]), rule["approvers"]) for rule in vector.get("approvalRules", [])]
    evidence = [[by_id[name]["token"] for name in vector[kind]] for kind in ("chain", "approvals")]

    def status(_, entry, __):
        revoked = vector["status"].get(entry["statusListCredential"])
        if revoked is None:
            raise Refused("unknown-status")
        if int(entry["statusListIndex"]) in revoked:
            raise Refused("revoked")

    actor = parse_url(signer)[0]
    return signer, authorize(action, actor, evidence, (roots, rules), vector.get("cost"), resolve, status, ledger, now)
