"""vc.json: what the VC Data Model 2.0 says of a reader, by docs/spec/credentials.md."""

from credentials import Resolver, Status, check_credential, check_presentation, verify_credential, verify_presentation


def check(vector, _):
    kind, value = vector["kind"], vector["input"]
    if kind == "credential":
        check_credential(value)
    elif kind == "presentation":
        check_presentation(value)
    elif kind == "secured-presentation":
        request = {"audience": vector["audience"], "nonce": vector["nonce"], "maxAge": 120, "binding": "subject"}
        verify_presentation(value, Resolver(()), vector["now"], request, Status("required"))
    else:
        assert kind == "secured"
        verify_credential(value, Resolver(()), vector["now"], Status("required"))
