"""docs/spec/credentials.md: the form of credentials, tokens, proofs, presentations, status."""

import hashlib
import re
import zlib

from cards import Keeper, verify_log
from did import is_uri, of_did_key, parse_did, parse_url
from jws import Jws
from reading import Refused, canonical, from_multibase, is_integer, need, parse_object, parse_time, text, within

BASE = "https://www.w3.org/ns/credentials/v2"
MAX_CREDENTIAL, MAX_STATUS_LIST, MAX_PRESENTATION = 65536, 2097152, 1048576
SKEW = 60
CRYPTOSUITE = "mldsa44-jcs-2024"
KNOWN_TERMS = set(
    "id type description digestMultibase digestSRI mediaType name VerifiableCredential EnvelopedVerifiableCredential"
    " VerifiablePresentation EnvelopedVerifiablePresentation JsonSchemaCredential JsonSchema BitstringStatusListCredential"
    " BitstringStatusList BitstringStatusListEntry DataIntegrityProof".split()
)
LIST_TERMS = ("statusPurpose", "encodedList", "ttl", "statusReference", "statusSize", "statusMessage")


class Resolver:
    """Knows the documents of some logs of cards, and every did:key."""

    def __init__(self, logs):
        self.keeper = Keeper()
        for log in logs:
            self.keeper.add(verify_log(log.encode()))

    def __call__(self, did, now):
        return of_did_key(did) if did.startswith("did:key:") else self.keeper.resolve(did, now)


# The form.


class Terms:
    """What the contexts define, as far as it can be known without fetching any."""

    def __init__(self, value):
        contexts = value.get("@context")
        need(isinstance(contexts, list) and contexts and contexts[0] == BASE, "bad-form")
        self.defined, self.open, self.vocabulary = {}, False, False
        for context in contexts[1:]:
            if isinstance(context, dict):
                self.define(context)
            else:
                need(is_uri(context), "bad-form")
                self.open |= context != BASE

    def define(self, context):
        if "@vocab" in context:
            vocabulary = context["@vocab"]
            need(vocabulary is None or vocabulary == "" or is_uri(vocabulary), "bad-form")
            self.vocabulary = vocabulary is not None
        protected = context.get("@protected") is True
        for term, definition in context.items():
            if term.startswith("@"):
                continue
            alias = (term, definition) in (("id", "@id"), ("type", "@type")) if isinstance(definition, str) else False
            need(term not in KNOWN_TERMS or alias, "bad-form")
            known, locked = self.defined.get(term, (None, False))
            need(not locked or same(known, definition), "bad-form")
            target = definition.get("@id") if isinstance(definition, dict) else definition
            fits = target is None or isinstance(target, str) and (
                target.startswith("@") or is_uri(target) or self.vocabulary and is_term(target)
            )
            need(fits, "bad-form")
            self.defined[term] = (definition, protected)

    def known(self, term):
        if not is_term(term) or term in self.defined and self.defined[term][0] is None:
            return False
        return self.open or self.vocabulary or term in self.defined or term in KNOWN_TERMS

    def types(self, value, required=None):
        found = value.get("type")
        found = [found] if isinstance(found, str) else found
        need(isinstance(found, list) and found and all(isinstance(one, str) for one in found), "bad-form")
        need(required is None or required in found, "bad-form")
        need(all(is_uri(one) or self.known(one) for one in found), "bad-form")

    def typed(self, value, name):
        for one in objects(value, name):
            self.types(one)
            optional_id(one)
            need(name != "credentialSchema" or "id" in one, "bad-form")


def same(a, b):
    return canonical(a) == canonical(b)


def is_term(value):
    return bool(value) and not re.search(r"[\s:]", value)


def objects(value, name):
    """The objects of a member that holds one or more; none if it is missing."""
    if name not in value:
        return []
    found = [value[name]] if isinstance(value[name], dict) else value[name]
    need(isinstance(found, list) and found and all(isinstance(one, dict) for one in found), "bad-form")
    return found


def has_type(value, kind):
    found = value.get("type")
    return found == kind or isinstance(found, list) and kind in found


def optional_id(value):
    need("id" not in value or is_uri(value["id"]), "bad-form")


def url_of(value):
    value = value.get("id") if isinstance(value, dict) else value
    need(is_uri(value), "bad-form")
    return value


def language_text(value):
    for name in ("name", "description"):
        if name in value and not isinstance(value[name], str):
            found = value[name] if isinstance(value[name], list) else [value[name]]
            need(found and all(map(language_value, found)), "bad-form")


def language_value(value):
    if not isinstance(value, dict) or not isinstance(value.get("@value"), str) or set(value) - {"@value", "@language", "@direction"}:
        return False
    if "@language" in value and not (
        isinstance(value["@language"], str) and re.fullmatch("(?=[A-Za-z])[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*", value["@language"])
    ):
        return False
    return "@direction" not in value or value["@direction"] in ("ltr", "rtl")


def optional_time(value, name):
    return parse_time(text(value, name, "bad-time")) if name in value else None


def validity(value):
    begin, end = optional_time(value, "validFrom"), optional_time(value, "validUntil")
    need(begin is None or end is None or begin <= end, "bad-form")
    expires, issued = optional_time(value, "expirationDate"), optional_time(value, "issuanceDate")
    begins, ends = ([time for time in times if time is not None] for times in ((begin, issued), (end, expires)))
    return max(begins, default=None), min(ends, default=None)


def issuer_url(value):
    need("issuer" in value, "bad-form")
    url = url_of(value["issuer"])
    if isinstance(value["issuer"], dict):
        language_text(value["issuer"])
    return url


def check_credential(value):
    terms = Terms(value)
    optional_id(value)
    terms.types(value, "VerifiableCredential")
    language_text(value)
    issuer_url(value)
    subjects = objects(value, "credentialSubject")
    need(subjects and all(subjects), "bad-form")
    for subject in subjects:
        optional_id(subject)
        need(all(terms.known(name) or is_uri(name) or name in LIST_TERMS for name in subject), "bad-form")
    validity(value)
    for name in (
        "credentialStatus credentialSchema refreshService termsOfUse evidence confidenceMethod renderMethod proof".split()
    ):
        terms.typed(value, name)
    related_resources(value)


def related_resources(value):
    seen = set()
    for resource in objects(value, "relatedResource"):
        need(is_uri(resource.get("id")) and resource["id"] not in seen, "bad-form")
        seen.add(resource["id"])
        need("digestSRI" in resource or "digestMultibase" in resource, "bad-form")
        if "digestSRI" in resource:
            sri = r"sha(256|384|512)-[A-Za-z0-9+/=_-]{43,}"
            need(isinstance(resource["digestSRI"], str) and re.fullmatch(f"{sri}( {sri})*", resource["digestSRI"]), "bad-form")
        if "digestMultibase" in resource:
            need(isinstance(resource["digestMultibase"], str) and is_digest(resource["digestMultibase"]), "bad-form")
        media = resource.get("mediaType", "/")
        need(isinstance(media, str) and "/" in media, "bad-form")


def is_digest(digest):
    if digest.startswith("z"):
        return bool(re.fullmatch("z[1-9A-HJ-NP-Za-km-z]{3,}", digest))
    try:
        return len(from_multibase(digest, 128)) >= 3
    except Refused:
        return False


def check_presentation(value):
    terms = Terms(value)
    optional_id(value)
    terms.types(value, "VerifiablePresentation")
    terms.typed(value, "termsOfUse")
    terms.typed(value, "proof")
    holder = url_of(value["holder"]) if "holder" in value else None
    for credential in objects(value, "verifiableCredential"):
        if has_type(credential, "EnvelopedVerifiableCredential"):
            enveloped(credential, "EnvelopedVerifiableCredential")
        else:
            check_credential(credential)
            need("proof" in credential or issuer_url(credential) == holder, "bad-form")


def enveloped(value, kind):
    """Media type and content of an enveloped object."""
    if value.get("@context") != BASE:
        Terms(value)
    need(value.get("type") in (kind, [kind]), "bad-form")
    match = re.fullmatch("data:([^,]*),(.*)", value["id"], re.DOTALL) if isinstance(value.get("id"), str) else None
    need(match, "bad-form")
    return match[1], match[2]


# Tokens.


def envelope(jws, kind):
    jws.expect_type(kind + "+jwt")
    if "cty" in jws.header:
        need(isinstance(jws.header["cty"], str) and jws.header["cty"].lower() == kind, "bad-type")
    need(jws.algorithm in ("ML-DSA-65", "ML-DSA-87"), "bad-algorithm")


def numeric_date(value, name):
    if name in value:
        need(is_integer(value[name]) and value[name] >= 0, "bad-time")
    return value.get(name)


def not_before(seconds):
    """A time of signing, with what clocks may differ."""
    return None if seconds is None else max(seconds - SKEW, 0)


class Verified:
    """A credential that was verified, and the URL of the key that signed it."""

    def __init__(self, json, signer):
        self.json, self.signer = json, signer
        self.subjects = objects(json, "credentialSubject")


def read_issuer(value):
    url = issuer_url(value)
    return parse_did(url)


def verify_credential(secured, resolve, now, status, greatest=MAX_CREDENTIAL):
    if secured.lstrip(" \t\n\r\x0c").startswith("{"):
        return verify_embedded(parse_object(secured.encode(), greatest), resolve, now, status)
    return verify_token(secured, resolve, now, status, greatest)


def verify_token(token, resolve, now, status, greatest=MAX_CREDENTIAL, audience=None):
    jws = Jws(token, greatest)
    envelope(jws, "vc")
    value = parse_object(jws.payload, greatest)
    check_credential(value)
    issuer = read_issuer(value)
    times = registered_claims(jws.header, value, issuer)
    did, _ = jws.key_id()
    need(did == issuer, "wrong-issuer")
    jws.verify(resolve(did, now).key_for(jws.header["kid"], "JsonWebKey", "assertionMethod", now))
    check_audience(value, audience)
    within(now, *times)
    return finish(value, jws.header["kid"], now, status)


def registered_claims(header, value, issuer):
    """What claims of JWT say again must be what the credential says. The times that they set."""
    need("vc" not in value and "vp" not in value, "bad-form")
    repeated = (
        (value, "iss", issuer),
        (header, "iss", issuer),
        (value, "jti", value.get("id")),
        (value, "sub", objects(value, "credentialSubject")[0].get("id")),
    )
    for where, name, expected in repeated:
        need(name not in where or isinstance(where[name], str) and where[name] == expected, "bad-form")
    issued, nbf, exp = (numeric_date(value, name) for name in ("iat", "nbf", "exp"))
    begin, end = validity(value)
    need(None in (nbf, begin) or nbf == begin, "bad-form")
    need(None in (exp, end) or exp == end, "bad-form")
    return max((time for time in (not_before(issued), nbf) if time is not None), default=None), exp


def check_audience(value, audience):
    """A token for others (RFC 7519, section 4.1.3) is not for this verifier, who may have no name."""
    found = value.get("aud")
    ours = audience is not None and (found == audience or isinstance(found, list) and audience in found)
    need("aud" not in value or ours, "wrong-audience")


def finish(value, signer, now, status):
    within(now, *validity(value))
    status.check(value, now)
    return Verified(value, signer)


def verify_embedded(value, resolve, now, status):
    check_credential(value)
    signed, signer = verify_proof(value, resolve, now, "assertionMethod", None, None)
    check_credential(signed)
    issuer = read_issuer(signed)
    times = registered_claims({}, signed, issuer)
    need(issuer == parse_url(signer)[0], "wrong-issuer")
    check_audience(signed, None)
    within(now, *times)
    return finish(signed, signer, now, status)


# Proofs inside.


def our_proof(document):
    ours = [proof for proof in objects(document, "proof") if proof.get("cryptosuite") == CRYPTOSUITE]
    need(ours, "unsecured")
    need(len(ours) == 1, "bad-form")
    need(ours[0].get("type") == "DataIntegrityProof", "bad-type")
    need("previousProof" not in ours[0], "bad-form")
    return ours[0]


def verify_proof(document, resolve, now, purpose, domain, challenge):
    """What was signed, and the URL of the key."""
    proof = our_proof(document)
    need(proof.get("proofPurpose") == purpose, "wrong-purpose")
    created, expires = optional_time(proof, "created"), optional_time(proof, "expires")
    bound(proof, "domain", domain, "wrong-audience")
    bound(proof, "challenge", challenge, "wrong-nonce")
    signer = text(proof, "verificationMethod")
    did, _ = parse_url(signer)
    key = resolve(did, now).key_for(signer, "Multikey", purpose, now)
    signed = verify_signature(document, proof, key)
    within(now, not_before(created), expires)
    return signed, signer


def bound(proof, name, expected, code):
    if expected is None:
        need(name not in proof, code)
    else:
        found = proof.get(name)
        need(found == expected or isinstance(found, list) and expected in found, code)


def verify_signature(document, proof, key):
    options = {name: value for name, value in proof.items() if name != "proofValue"}
    signature = from_multibase(text(proof, "proofValue"), 2420)
    signed = {name: value for name, value in document.items() if name != "proof"}
    if "@context" in options:
        need("@context" in signed and begins_with(signed["@context"], options["@context"]), "bad-form")
        signed["@context"] = options["@context"]
    elif "@context" in signed:
        options["@context"] = signed["@context"]
    need(key.algorithm == "ML-DSA-44", "bad-algorithm")
    key.verify(hashlib.sha256(canonical(options)).digest() + hashlib.sha256(canonical(signed)).digest(), signature)
    return signed


def begins_with(contexts, start):
    contexts, start = (one if isinstance(one, list) else [one] for one in (contexts, start))
    return same(contexts[: len(start)], start)


# Presentations.


def verify_presentation(secured, resolve, now, request, status):
    if not secured.lstrip(" \t\n\r\x0c").startswith("{"):
        return verify_presentation_token(secured, resolve, now, request, status)
    value = parse_object(secured.encode(), MAX_PRESENTATION)
    if has_type(value, "EnvelopedVerifiablePresentation"):
        media, token = enveloped(value, "EnvelopedVerifiablePresentation")
        need(media.lower() == "application/vp+jwt", "bad-type")
        return verify_presentation_token(token, resolve, now, request, status)
    check_presentation(value)
    signed, signer = verify_proof(value, resolve, now, "authentication", request["audience"], request["nonce"])
    holder = holder_of(signed, parse_url(signer)[0])
    need(parse_url(signer)[0] == holder, "wrong-holder")
    proof = our_proof(value)
    created = parse_time(text(proof, "created"))
    within(now, not_before(created), created + request["maxAge"])
    return signer, credentials_of(signed, holder, resolve, now, request, status)


def holder_of(value, signer):
    """The holder that is named, or else the one whose key signed."""
    holder = value.get("holder", signer)
    holder = holder.get("id") if isinstance(holder, dict) else holder
    need(isinstance(holder, str), "bad-form")
    return parse_did(holder)


def verify_presentation_token(token, resolve, now, request, status):
    jws = Jws(token, MAX_PRESENTATION)
    envelope(jws, "vp")
    value = parse_object(jws.payload, MAX_PRESENTATION)
    check_presentation(value)
    need("vc" not in value and "vp" not in value, "bad-form")
    did, _ = jws.key_id()
    holder = holder_of(value, did)
    need(all(where.get("iss", holder) == holder for where in (value, jws.header)), "bad-form")
    need(did == holder, "wrong-holder")
    issued = numeric_date(value, "iat")
    need(issued is not None, "bad-form")
    nbf, exp = numeric_date(value, "nbf"), numeric_date(value, "exp")
    jws.verify(resolve(did, now).key_for(jws.header["kid"], "JsonWebKey", "authentication", now))
    need(value.get("aud") == request["audience"], "wrong-audience")
    need(value.get("nonce") == request["nonce"], "wrong-nonce")
    within(now, not_before(issued), issued + request["maxAge"])
    within(now, nbf, exp)
    return jws.header["kid"], credentials_of(value, holder, resolve, now, request, status)


def credentials_of(value, holder, resolve, now, request, status):
    members = objects(value, "verifiableCredential")
    need(len(members) <= 16, "too-large")
    verified = []
    for member in members:
        if has_type(member, "EnvelopedVerifiableCredential"):
            media, token = enveloped(member, "EnvelopedVerifiableCredential")
            need(media.lower() == "application/vc+jwt", "bad-type")
            credential = verify_token(token, resolve, now, status, audience=request["audience"])
        else:
            credential = verify_embedded(member, resolve, now, status)
        about = all(subject.get("id") == holder for subject in credential.subjects)
        need(request["binding"] != "subject" or about, "wrong-holder")
        verified.append(credential)
    return verified


# Status.


class StatusList:
    """A list that was verified."""

    def __init__(self, secured, resolve, now):
        credential = verify_credential(secured, resolve, now, Status("ignored"), MAX_STATUS_LIST)
        value, subject = credential.json, credential.subjects[0]
        need(has_type(value, "BitstringStatusListCredential") and has_type(subject, "BitstringStatusList"), "bad-type")
        need("id" in value, "bad-form")
        self.url, self.issuer = value["id"], issuer_url(value)
        self.begin, self.end = validity(value)
        packed = text(subject, "encodedList")
        purposes = subject.get("statusPurpose")
        purposes = [purposes] if isinstance(purposes, str) else purposes
        need(isinstance(purposes, list) and purposes and all(isinstance(one, str) for one in purposes), "bad-form")
        need(len(set(purposes)) == len(purposes), "bad-form")
        need("ttl" not in subject or is_integer(subject["ttl"]) and subject["ttl"] >= 0, "bad-form")
        self.purposes = [one for one in purposes if one in ("revocation", "suspension")]
        self.bits = unpack(packed) if self.purposes else b""

    def is_set(self, index):
        need(index < len(self.bits) * 8, "out-of-range")
        return bool(self.bits[index // 8] & (0x80 >> (index % 8)))


def unpack(packed):
    data = from_multibase(packed, MAX_STATUS_LIST)
    reader = zlib.decompressobj(wbits=31)
    try:
        bits = reader.decompress(data, 1048577)
    except zlib.error:
        raise Refused("bad-encoding") from None
    need(len(bits) <= 1048576, "too-large")
    need(reader.eof and not reader.unused_data, "bad-encoding")
    need(len(bits) >= 16384, "out-of-range")
    return bits


class Status:
    """`required`, `if-known` or `ignored`, with the lists that are known."""

    def __init__(self, asked, lists=()):
        self.asked, self.lists = asked, {(known.issuer, known.url): known for known in lists}

    def check(self, credential, now):
        need("status" not in credential or self.asked != "required", "unknown-status")
        for entry in objects(credential, "credentialStatus"):
            self.check_entry(issuer_url(credential), entry, now)

    def check_entry(self, issuer, entry, now):
        if self.asked == "ignored":
            return
        try:
            self.look_up(issuer, entry, now)
        except Refused as refused:
            if refused.code != "unknown-status" or self.asked == "required":
                raise

    def look_up(self, issuer, entry, now):
        need(has_type(entry, "BitstringStatusListEntry"), "unknown-status")
        index = text(entry, "statusListIndex")
        need(re.fullmatch("0|[1-9][0-9]*", index) and int(index) < 2**64, "bad-form")
        url = text(entry, "statusListCredential")
        need(is_uri(url) and entry.get("id") != url, "bad-form")
        purpose = text(entry, "statusPurpose")
        if purpose in ("refresh", "message"):
            return
        need(purpose in ("revocation", "suspension"), "unknown-status")
        need(same(entry.get("statusSize", 1), 1), "bad-form")
        need((issuer, url) in self.lists, "unknown-status")
        found = self.lists[issuer, url]
        need(purpose in found.purposes, "bad-form")
        is_set = found.is_set(int(index))
        try:
            within(now, found.begin, found.end)
            holds = True
        except Refused:
            holds = False
        if is_set and (holds or purpose == "revocation"):
            raise Refused("revoked" if purpose == "revocation" else "suspended")
        need(holds, "unknown-status")
