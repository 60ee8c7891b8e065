"""sd-jwt.json: docs/spec/credentials.md, SD-JWT VC."""

from reading import canonical
from sd_jwt import verify
from subject_vc_jwt import logs_of, resolver


def check(vector, by_id):
    if vector["kind"] == "presented":
        claims, signer = verify(vector["token"], resolver(logs_of(by_id)), vector["now"], vector)
        assert canonical(claims) == canonical(vector["claims"])
        assert signer == vector["signer"]
    else:
        assert vector["kind"] == "card-log"
