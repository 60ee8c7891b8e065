"""docs/spec/did.md: DIDs, DID URLs, DID documents."""

import re

from keys import ML_DSA, PRIVATE, VerifyingKey, from_jwk, from_multikey
from reading import Refused, decode, from_multibase, need, parse_object, parse_time, text

RELATIONSHIPS = ("authentication", "assertionMethod", "keyAgreement", "capabilityInvocation", "capabilityDelegation")
CONTEXTS = ("https://www.w3.org/ns/did/v1", "https://www.w3.org/ns/did/v1.1", "https://www.w3.org/ns/cid/v1")


def parse_did(did):
    """The text itself, once it is known to be a DID."""
    need(len(did.encode()) <= 4096, "bad-did")
    parts = did.split(":", 2)
    need(len(parts) == 3 and parts[0] == "did", "bad-did")
    method, identifier = parts[1:]
    if method == "gambeson":
        data = from_multibase(identifier, 50, "bad-did")
        need((len(data), data[:2]) in ((34, b"\x1e\x20"), (50, b"\x20\x30")), "bad-did")
    elif method == "key":
        try:
            from_multikey(identifier)
        except Refused:
            raise Refused("bad-did") from None
    elif method == "web":
        web(identifier)
    else:
        need(re.fullmatch("[a-z0-9]+", method), "bad-did")
        need(re.fullmatch("([A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})+", identifier) and identifier[-1] != ":", "bad-did")
    return did


LABEL = "(?!-)[A-Za-z0-9-]{1,63}(?<!-)"


def web(identifier):
    """Host, port and segments of a did:web."""
    host, *segments = identifier.split(":")
    match = re.fullmatch(rf"({LABEL}(?:\.{LABEL})*)(?:%3[Aa]([1-9][0-9]*))?", host)
    need(match and len(match[1]) <= 253, "bad-did")
    need(not re.fullmatch("[0-9]+|0[xX][0-9A-Fa-f]*", match[1].rpartition(".")[2]), "bad-did")
    need(match[2] is None or int(match[2]) <= 65535, "bad-did")
    for segment in segments:
        need(re.fullmatch("[A-Za-z0-9._-]+", segment) and segment not in (".", ".."), "bad-did")
    return match[1], match[2], segments


def web_address(did):
    host, port, segments = web(did.removeprefix("did:web:"))
    path = "/".join(segments) if segments else ".well-known"
    return f"https://{host}{':' + port if port else ''}/{path}/did.json"


def suite(did):
    return "cnsa2" if did.startswith("did:gambeson:u") and from_multibase(did[13:], 50)[0] == 0x20 else "default"


CHARACTER = r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@%s]|%%[0-9A-Fa-f]{2})*"


def split_url(url):
    """DID, path, query and fragment of a DID URL; `None` where there is no query or fragment."""
    did = re.match("[^/?#]*", url)[0]
    path, query, fragment = parts = parts_of(url[len(did) :])
    need(len(url.encode()) - len(did.encode()) <= 4096 and re.fullmatch(CHARACTER % "/", path), "bad-did")
    need(all(re.fullmatch(CHARACTER % "/?", part) for part in parts[1:] if part is not None), "bad-did")
    return parse_did(did), path, query, fragment


def parts_of(text):
    """Path, query and fragment."""
    text, hash_sign, fragment = text.partition("#")
    path, mark, query = text.partition("?")
    return path, query if mark else None, fragment if hash_sign else None


def parse_url(url):
    """DID and fragment of the URL of a key."""
    did, _, _, fragment = split_url(url)
    need(fragment, "bad-did")
    return did, fragment


def join(base, reference):
    """The DID URL of a reference in the document of a DID (RFC 3986, section 5.2)."""
    path = parts_of(reference)[0]
    need(not path.startswith("//"), "bad-did")
    if ":" in path.split("/")[0]:
        base, path, query, fragment = split_url(reference)
    else:
        path, query, fragment = parts_of(reference)
    kept = []
    segments = path.removeprefix("/").split("/")
    for segment in segments:
        if segment == "..":
            kept = kept[:-1]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    url = base + ("/" + "/".join(kept) if path else "")
    url += "" if query is None else "?" + query
    url += "" if fragment is None else "#" + fragment
    split_url(url)
    return url


def is_uri(value):
    return isinstance(value, str) and bool(re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+", value)) and not set(value) & set(
        '"<>\\^`{|}'
    )


class Document:
    """A DID document whose form is good."""

    def __init__(self, value):
        self.json = value
        self.id = parse_did(text(value, "id"))
        contexts(value)
        controllers(value)
        aliases = listed(value, "alsoKnownAs")
        need(all(map(is_uri, aliases)) and len(set(aliases)) == len(aliases), "bad-form")
        services(self.id, value)
        self.methods = {}
        for method in listed(value, "verificationMethod"):
            self.add(method)
        self.relationships = {}
        for name in RELATIONSHIPS:
            urls = []
            need(name not in value or value[name] != [], "bad-form")
            for entry in listed(value, name):
                url = join(self.id, entry) if isinstance(entry, str) else self.add(entry)
                need(url not in urls, "bad-form")
                urls.append(url)
            self.relationships[name] = urls

    def add(self, value):
        need(isinstance(value, dict), "bad-form")
        method = Method(join(self.id, text(value, "id")), value)
        need(method.url not in self.methods, "bad-form")
        self.methods[method.url] = method
        return method.url

    def usable(self, url, now):
        method = self.methods.get(url)
        need(method and method.controller == self.id and split_url(url)[0] == self.id, "unknown-key")
        need(method.revoked is None or method.revoked > now, "key-revoked")
        need(method.expires is None or now <= method.expires, "expired")
        return method

    def key_for(self, url, form, relationship, now):
        method = self.usable(url, now)
        need(url in self.relationships[relationship], "wrong-purpose")
        need(isinstance(method.key, VerifyingKey) and method.form == form, "wrong-purpose")
        return method.key

    def key_of_role(self, url, role, now):
        method = self.usable(url, now)
        named = (split_url(url)[3] or "").startswith(role + "-")
        alone = all(url not in urls for urls in self.relationships.values())
        need(isinstance(method.key, VerifyingKey) and named and alone, "wrong-purpose")
        return method.key

    def agreement_key(self, algorithm, now):
        """The URL and the bytes of the key."""
        for url in sorted(self.relationships["keyAgreement"]):
            try:
                method = self.usable(url, now)
            except Refused:
                continue
            if isinstance(method.key, tuple) and method.key[0] == algorithm:
                return url, method.key[1]
        raise Refused("unknown-key")


class Method:
    """A verification method; its key is for signatures, `(alg, bytes)`, or `None` where nothing here uses it."""

    def __init__(self, url, value):
        self.url = url
        self.controller = parse_did(text(value, "controller"))
        self.expires, self.revoked = (
            parse_time(text(value, name)) if name in value else None for name in ("expires", "revoked")
        )
        kind = text(value, "type")
        need(not ("publicKeyJwk" in value and "publicKeyMultibase" in value), "bad-form")
        self.form = kind
        self.key = None
        jwk, multikey = value.get("publicKeyJwk"), value.get("publicKeyMultibase")
        if kind == "JsonWebKey":
            need(isinstance(jwk, dict), "bad-form")
            self.key = jwk_key(jwk)
        elif kind == "Multikey":
            need(isinstance(multikey, str), "bad-form")
            self.key = multikey_key(multikey)
        elif isinstance(jwk, dict):
            jwk_key(jwk)


def jwk_key(jwk):
    need(not PRIVATE & jwk.keys(), "bad-key")
    if jwk.get("kty") != "AKP":
        return None
    name = text(jwk, "alg")
    if name in ML_DSA:
        try:
            return from_jwk(jwk)
        except Refused as refused:
            if refused.code != "wrong-purpose":
                raise
            return None
    return (name, decode(jwk["pub"], 4096)) if isinstance(jwk.get("pub"), str) else None


def multikey_key(multikey):
    if re.fullmatch("z[1-9A-HJ-NP-Za-km-z]+", multikey):
        return None
    try:
        return from_multikey(multikey)
    except Refused as refused:
        if refused.code != "bad-algorithm":
            raise
        return None


def listed(value, name):
    found = value.get(name, [])
    need(isinstance(found, list), "bad-form")
    return found


def contexts(value):
    if "@context" in value:
        found = value["@context"]
        first = (found[:1] or [None])[0] if isinstance(found, list) else found
        need(first in CONTEXTS, "bad-form")


def controllers(value):
    if "controller" in value:
        found = value["controller"]
        found = [found] if isinstance(found, str) else found
        need(isinstance(found, list) and found, "bad-form")
        for controller in found:
            need(isinstance(controller, str), "bad-form")
            parse_did(controller)


def services(did, value):
    seen = set()
    for service in listed(value, "service"):
        need(isinstance(service, dict), "bad-form")
        name = text(service, "id")
        name = did + name if name.startswith("#") else name
        need(is_uri(name) and name not in seen, "bad-form")
        seen.add(name)
        need(one_or_more(service.get("type"), lambda item: isinstance(item, str)), "bad-form")
        need(one_or_more(service.get("serviceEndpoint"), lambda item: is_uri(item) or isinstance(item, dict)), "bad-form")


def one_or_more(value, fits):
    return bool(value) and all(map(fits, value)) if isinstance(value, list) else fits(value)


DID_JSON, DID_LD_JSON = "application/did+json", "application/did+ld+json"


def read_representation(media_type, data):
    """A document in the representation of a media type."""
    need(media_type.lower() in (DID_JSON, DID_LD_JSON), "bad-type")
    value = parse_object(data, 65536)
    need(media_type.lower() == DID_JSON or "@context" in value, "bad-form")
    return Document(value)


def of_did_key(did):
    """The document of a did:key."""
    multikey = did.removeprefix("did:key:")
    key = from_multikey(multikey)
    urls = [f"{did}#{multikey}", f"{did}#{multikey}-jwk"]
    return Document(
        {
            "id": did,
            "verificationMethod": [
                {"id": urls[0], "controller": did, "type": "Multikey", "publicKeyMultibase": multikey},
                {"id": urls[1], "controller": did, "type": "JsonWebKey", "publicKeyJwk": key.jwk()},
            ],
            **{name: urls for name in RELATIONSHIPS if name != "keyAgreement"},
        }
    )
