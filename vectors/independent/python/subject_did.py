"""did.json: what DID Core 1.0 says of a reader, by docs/spec/did.md."""

from did import Document, of_did_key, parse_did, parse_url
from reading import need, parse_object


def check(vector, _):
    kind, value = vector["kind"], vector["input"]
    if kind == "did":
        assert parse_did(value) == value
    elif kind == "did-url":
        assert "#".join(parse_url(value)) == value
    elif kind == "document":
        Document(value)
    elif kind == "text":
        Document(parse_object(value.encode(), 65536))
    else:
        assert kind == "resolution"
        resolve(value["did"], value["document"])


def resolve(did, document):
    """With a site that gives this document at every address."""
    parse_did(did)
    if did.startswith("did:key:"):
        return of_did_key(did)
    need(did.startswith("did:web:"), "unknown-did")
    need(Document(document).id == did, "not-bound")
    return document
