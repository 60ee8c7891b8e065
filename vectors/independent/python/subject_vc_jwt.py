"""vc-jwt.json: docs/spec/credentials.md."""

import functools

from credentials import Resolver, Status, verify_credential, verify_presentation
from reading import canonical


@functools.cache
def resolver(logs):
    return Resolver(logs)


def logs_of(by_id):
    return tuple(vector["log"] for vector in by_id.values() if vector.get("kind") in ("card-log", "cards"))


def check(vector, by_id):
    resolve = resolver(logs_of(by_id))
    if vector["kind"] == "credential":
        found = verify_credential(vector["token"], resolve, vector["now"], Status("required"))
        assert found.signer == vector["signer"]
        assert canonical(found.json) == canonical(vector["payload"])
    elif vector["kind"] == "presentation":
        signer, credentials = verify_presentation(vector["token"], resolve, vector["now"], vector, Status("required"))
        assert (signer, len(credentials)) == (vector["signer"], vector["credentials"])
    else:
        assert vector["kind"] == "card-log"
