"""did.json: what DID Core 1.0 says of a reader, by docs/spec/did.md."""

import re
from urllib.parse import unquote

from cards import verify_log
from did import CONTEXTS, DID_JSON, DID_LD_JSON, RELATIONSHIPS, Document, join, of_did_key, parse_did, read_representation, split_url
from reading import Refused, decode, need, parse_object, parse_time, within


def check(vector, _):
    kind, value = vector["kind"], vector["input"]
    if kind == "did":
        assert parse_did(value) == value
    elif kind == "did-url":
        did, path, query, fragment = split_url(value)
        assert did + path + ("" if query is None else "?" + query) + ("" if fragment is None else "#" + fragment) == value
    elif kind == "relative":
        assert join(value["did"], value["reference"]) == vector["url"]
    elif kind == "document":
        Document(value)
    elif kind == "text":
        Document(parse_object(value.encode(), 65536))
    elif kind == "representation":
        read_representation(value["mediaType"], value["text"].encode())
    elif kind == "signed":
        key = Document(value["document"]).key_for(value["url"], "JsonWebKey", "assertionMethod", 0)
        key.verify(value["message"].encode(), decode(value["signature"], 8192), value["context"].encode())
    else:
        assert kind == "resolution"
        returned(vector)


def returned(vector):
    try:
        content_type, content, about = FUNCTIONS[vector["input"]["function"]](vector["input"])
    except Failed as failed:
        nothing = {"metadata": {"error": failed.keyword}, "content": None, "contentMetadata": {}}
        assert nothing == vector["returned"], failed.keyword
        raise failed.why from None
    metadata = {} if content_type is None else {"contentType": content_type}
    assert {"metadata": metadata, "content": content, "contentMetadata": about} == vector["returned"]


class Failed(Exception):
    """A keyword of the standard, and the refusal behind it."""

    def __init__(self, keyword, why):
        super().__init__(keyword)
        self.keyword, self.why = keyword, why


def or_fail(keyword, work):
    try:
        return work()
    except Refused as why:
        raise Failed(keyword, why) from None


def resolve(given):
    or_fail("invalidDid", lambda: parse_did(given["url"]))
    document = or_fail("notFound", lambda: document_of(given["url"], given))
    return None, document.json, metadata_of(document)


def represent(given):
    or_fail("invalidDid", lambda: parse_did(given["url"]))
    return represented(or_fail("notFound", lambda: document_of(given["url"], given)), given)


def dereference(given):
    url = given["url"]
    did, _, query, _ = or_fail("invalidDidUrl", lambda: split_url(url))
    or_fail("invalidDidUrl", lambda: check_parameters(query or ""))
    document = or_fail("notFound", lambda: document_of(did, given))
    content_type, content, about = represented(document, given)
    if url == did:
        return content_type, content, about
    found = or_fail("notFound", lambda: part(document, url))
    linked = {"@context": content["@context"]} if "@context" in content else {}
    return content_type, {**found, **linked}, {}


FUNCTIONS = {"resolve": resolve, "resolveRepresentation": represent, "dereference": dereference}


def document_of(did, given):
    """With a site that gives one document at every address, and perhaps a log of cards."""
    if did.startswith("did:key:"):
        return of_did_key(did)
    if did.startswith("did:web:"):
        document = Document(given["document"])
        need(document.id == did, "not-bound")
        return document
    need("log" in given, "unknown-did")
    newest = verify_log(given["log"].encode())[-1]
    need(newest.did == did, "unknown-did")
    within(given.get("now", 0), newest.valid_from, newest.valid_until)
    return newest.document


def represented(document, given):
    context = document.json.get("@context")
    first = context[0] if isinstance(context, list) else context
    available = [DID_LD_JSON] * (first == CONTEXTS[0]) + [DID_JSON]
    wanted = given.get("accept", available[0]).lower()
    or_fail("representationNotSupported", lambda: need(wanted in available, "bad-type"))
    dropped = {"@context"} if wanted == DID_JSON else set()
    return wanted, {name: document.json[name] for name in document.json.keys() - dropped}, metadata_of(document)


def metadata_of(document):
    if not document.id.startswith("did:gambeson:"):
        return {}
    card = document.json["card"]
    return {"versionId": str(card["version"]), "created" if card["version"] == 1 else "updated": card["validFrom"]}


def part(document, url):
    for name in ("verificationMethod", "service", *RELATIONSHIPS):
        for entry in document.json.get(name, []):
            if isinstance(entry, dict) and absolute(document.id, entry["id"]) == url:
                return entry
    raise Refused("unknown-key")


def absolute(did, reference):
    """`None` for the id of a service that is no DID URL."""
    try:
        return join(did, reference)
    except Refused:
        return None


def check_parameters(query):
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if name == "versionTime" and equals:
            value = unquote(value)
            parse_time(value)
            need(re.fullmatch(".{19}Z", value), "bad-time")
