"""data-integrity.json: docs/spec/credentials.md, proofs inside."""

import keys
from credentials import Status, our_proof, verify_embedded, verify_signature
from subject_vc_jwt import logs_of, resolver


def check(vector, by_id):
    if vector["kind"] == "credential":
        found = verify_embedded(vector["document"], resolver(logs_of(by_id)), vector["now"], Status("required"))
        assert found.signer == vector["signer"] and "proof" not in found.json
    elif vector["kind"] == "signature":
        document = vector["document"]
        verify_signature(document, our_proof(document), keys.from_multikey(vector["multikey"]))
    else:
        assert vector["kind"] == "card-log" and resolver((vector["log"],))
