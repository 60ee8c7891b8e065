"""a2a.json: docs/spec/a2a.md."""

from a2a import verify
from subject_vc_jwt import logs_of, resolver


def check(vector, by_id):
    if vector["kind"] == "card":
        resolve = resolver(logs_of(by_id))
        payload, signer = verify(vector["card"].encode(), vector.get("expected"), resolve, vector["now"])
        assert (payload.decode(), signer) == (vector["canonical"], vector["signer"])
    else:
        assert vector["kind"] == "card-log"
