"""docs/spec/http-signatures.md, on `http_sf` for structured fields (RFC 9651)."""

import hashlib
import ipaddress
import re
from urllib.parse import parse_qsl, quote

import http_sf

from did import parse_url
from reading import Refused, is_integer, need, within

SKEW = 30
MAX_FIELD = 32768
MAX_HEAD = 131072
LENGTHS = (2420, 3309, 4627)
ALGORITHMS = {"ml-dsa-44": "ML-DSA-44", "ml-dsa-65": "ML-DSA-65", "ml-dsa-87": "ML-DSA-87"}
DERIVED = "@authority @method @path @query @query-param @request-target @scheme @status @target-uri".split()
DICTIONARIES = (
    "accept-signature content-digest priority repr-digest signature signature-input want-content-digest want-repr-digest"
).split()
SINGLE = (
    "age authorization content-length content-location content-range content-type date etag expires from host if-modified-since if-range "
    "if-unmodified-since last-modified location max-forwards origin proxy-authorization range referer retry-after server set-cookie2 "
    "upgrade-insecure-requests user-agent"
).split()
READING = ("content-type", "content-encoding", "content-range")


def values(message, name):
    return [value.strip(" \t") for field, value in message["fields"] if field.lower() == name]


def dictionary(message, name):
    found = values(message, name)
    need(sum(len(value.encode()) for value in found) <= MAX_FIELD, "too-large")
    return structured(", ".join(found))


def structured(text):
    try:
        return http_sf.parse(text.encode("ascii"), tltype="dictionary") if text else {}
    except (http_sf.StructuredFieldError, ValueError):
        need(False, "bad-form")


def is_text(value):
    """A string of structured fields: not a token."""
    return type(value) is str


class Component:
    """A component identifier."""

    def __init__(self, item):
        name, parameters = item
        need(is_text(name), "bad-form")
        for parameter, value in parameters.items():
            flag = parameter in ("req", "bs", "sf") and value is True
            need(flag or parameter in ("key", "name") and is_text(value), "bad-form")
        self.name, self.parameters, self.item = name, dict(parameters), item
        of_field = {"bs", "sf", "key"} & set(parameters)
        if name.startswith("@"):
            fits = name in DERIVED and not of_field and ("name" in parameters) == (name == "@query-param")
        else:
            fits = re.fullmatch(r"[a-z0-9!#$%&'*+\-.^_`|~]+", name) and "name" not in parameters
            fits = fits and len(of_field) <= 1
            fits = fits and not ("sf" in of_field and name not in DICTIONARIES)
        need(fits, "bad-form")

    def __eq__(self, other):
        return (self.name, self.parameters) == (other.name, other.parameters)

    def value(self, message):
        if "req" in self.parameters:
            need("request" in message, "bad-form")
            message = message["request"]
        value = self.derived(message) if self.name.startswith("@") else self.field(message)
        need(re.fullmatch(r"[\t -~]*", value), "bad-form")
        return value

    def derived(self, message):
        if self.name == "@status":
            need(100 <= message.get("status", 0) <= 999, "bad-form")
            return str(message["status"])
        need("target" in message, "bad-form")
        method, target = message["method"], message["target"]
        match = re.fullmatch(r"([A-Za-z]+)://([A-Za-z0-9\-._~!$&'()*+,;=:%\[\]]+)(/[^?#]*)?(?:\?([^#]*))?", target)
        need(match and re.fullmatch("[!-~]+", target) and match[1].lower() in ("http", "https"), "bad-form")
        scheme, path, query = match[1].lower(), match[3] or "/", match[4]
        authority = re.sub(":443$|:$" if scheme == "https" else ":80$|:$", "", match[2].lower())
        need(is_authority(match[2]), "bad-form")
        whole = path if query is None else f"{path}?{query}"
        if self.name == "@authority":
            return authority
        if self.name == "@query-param":
            return query_parameter(query or "", self.parameters["name"])
        if self.name == "@request-target":
            need(method != "CONNECT", "bad-form")
            return whole
        simple = {"@method": method, "@target-uri": f"{scheme}://{authority}{whole}", "@scheme": scheme, "@path": path, "@query": f"?{query or ''}"}
        return simple[self.name]

    def field(self, message):
        found = values(message, self.name)
        need(found, "bad-form")
        if "bs" in self.parameters:
            return http_sf.ser([(value.encode(), {}) for value in found])
        joined = ", ".join(found)
        if "key" in self.parameters:
            member = dictionary(message, self.name).get(self.parameters["key"])
            need(member is not None, "bad-form")
            return http_sf.ser([member])
        if "sf" in self.parameters:
            members = dictionary(message, self.name)
            need(members, "bad-form")
            return http_sf.ser(members)
        return joined


def is_authority(text):
    """A name or an address, with or without a port."""
    match = re.fullmatch(r"(\[([0-9A-Fa-f:.]+)\]|[^:\[\]]+)(:(?:0|[1-9][0-9]*)?)?", text)
    if not match or int((match[3] or "")[1:] or 0) > 65535:
        return False
    if match[2]:
        try:
            return ipaddress.IPv6Address(match[2]) is not None
        except ValueError:
            return False
    return all(match[1].removesuffix(".").split(".")) and not re.search("%(?![0-9A-Fa-f]{2})", match[1])


def query_parameter(query, wanted):
    need(query.count("&") < 1024, "too-large")
    escape = lambda text: quote(text, safe="*-._").replace("~", "%7E")
    pairs = parse_qsl(query, keep_blank_values=True, encoding="utf-8", errors="replace")
    found = [value for name, value in pairs if escape(name) == wanted]
    need(len(found) == 1 and "\ufffd" not in found[0], "bad-form")
    return escape(found[0])


def component(text):
    """A component as policies name it: `@method` or `"@method";req`."""
    return Component(http_sf.parse((text if text.startswith('"') else f'"{text}"').encode(), tltype="item"))


class Signature:
    """What a member of Signature-Input says; nothing of the message was looked at."""

    def __init__(self, label, member):
        items, parameters = member
        need(len(items) <= 64, "too-large")
        self.label, self.member = label, member
        self.components = [Component(item) for item in items]
        need(all(one not in self.components[:at] for at, one in enumerate(self.components)), "bad-form")
        for name, value in parameters.items():
            time = name in ("created", "expires") and is_integer(value) and value >= 0
            need(time or name in ("nonce", "alg", "keyid", "tag") and is_text(value), "bad-form")
            need(name != "alg" or value in ALGORITHMS, "bad-algorithm")
        self.parameters = parameters

    def make_base(self, message):
        lines = [f"{http_sf.ser(one.item)}: {one.value(message)}\n" for one in self.components]
        need(sum(len(line) for line in lines) <= MAX_HEAD, "too-large")
        self.base = "".join(lines) + '"@signature-params": ' + http_sf.ser([self.member])


def read(message, tag):
    """The members of Signature-Input with this tag."""
    inputs = dictionary(message, "signature-input")
    need(len(inputs) <= 8, "too-large")
    need(all(isinstance(member[0], list) for member in inputs.values()), "bad-form")
    of_tag = lambda member: tag is None or is_text(member[1].get("tag")) and member[1]["tag"] == tag
    return [(label, member) for label, member in inputs.items() if of_tag(member)]


def bytes_of(signatures, label):
    need(label in signatures and isinstance(signatures[label][0], bytes), "bad-form")
    return signatures[label][0]


def choose(message, policy):
    """The signature that the policy speaks of; of several, the one that can be read here."""
    found = read(message, policy.get("tag"))
    if len(found) > 1:
        signatures = dictionary(message, "signature")
        found = [one for one in found if counts(one, signatures, policy.get("from"))]
    need(found, "unsecured")
    need(len(found) == 1, "bad-form")
    return found[0]


def counts(one, signatures, signer):
    label, (_, parameters) = one
    algorithm = parameters.get("alg")
    try:
        need(algorithm is None or is_text(algorithm) and algorithm in ALGORITHMS, "bad-algorithm")
        need(is_text(parameters.get("keyid")), "bad-form")
        did, _ = parse_url(parameters["keyid"])
        return signer in (None, did) and len(bytes_of(signatures, label)) in LENGTHS
    except Refused:
        return False


def bound(message):
    """What says which message it is."""
    if "target" in message:
        return ["@method", "@target-uri"]
    if "request" not in message:
        return ["@status"]
    which = [f'"{name}";req' for name in ("signature", "content-digest") if values(message["request"], name)]
    return ["@status", '"@method";req', '"@target-uri";req', *which]


def check_bounds(message):
    fields = message["fields"]
    head = sum(len(text.encode()) for field in fields for text in field)
    head += len(message.get("method", "").encode()) + len(message.get("target", "").encode())
    need(len(fields) <= 256 and head <= MAX_HEAD, "too-large")
    if "request" in message:
        check_bounds(message["request"])


def check_framing(message):
    """Every reader finds the same content, and the same value of a field."""
    need(all(len(values(message, name)) <= 1 for name in SINGLE), "bad-form")
    need(not values(message, "transfer-encoding"), "bad-form")
    for length in values(message, "content-length"):
        need(re.fullmatch("[0-9]+", length) and int(length) < 1 << 64, "bad-form")
        if "body" in message:
            body = message["body"].encode()
            of_another = message.get("status") == 304 or message.get("request", {}).get("method") == "HEAD"
            need(int(length) == len(body) or not body and of_another, "bad-form")
    if "request" in message:
        check_framing(message["request"])


def verify(message, policy, resolve, now, memory):
    """The one signature that the policy speaks of."""
    check_bounds(message)
    check_framing(message)
    signature = Signature(*choose(message, policy))
    required = [component(name) for name in policy.get("required") or bound(message)]
    digest = component("content-digest")
    if message.get("body"):
        required += [digest] + [component(name) for name in READING if values(message, name)]
    need(all(one in signature.components for one in required), "uncovered")
    parameters = signature.parameters
    need("created" in parameters and 1 <= len(parameters.get("nonce", "")) <= 256 and "keyid" in parameters, "bad-form")
    did, _ = parse_url(parameters["keyid"])
    need(policy.get("from") in (None, did), "other-signer")
    created = parameters["created"]
    end = min(created + policy.get("maxAge", 120), parameters.get("expires", created + policy.get("maxAge", 120)))
    within(now + SKEW, created, None)
    within(now, None, end)
    proof = bytes_of(dictionary(message, "signature"), signature.label)
    need(len(proof) in LENGTHS, "bad-signature")
    relationship = policy.get("relationship", "authentication")
    key = resolve(did, now).key_for(parameters["keyid"], "JsonWebKey", relationship, now)
    need(ALGORITHMS.get(parameters.get("alg"), key.algorithm) == key.algorithm, "bad-algorithm")
    signature.make_base(message)
    key.verify(signature.base.encode(), proof)
    if "body" in message and digest in signature.components:
        check_digest(message)
    answered = message.get("request", {})
    if "body" in answered and values(answered, "content-digest"):
        check_digest(answered)
    memory.remember(did, parameters["nonce"], end, now)
    return signature


def check_digest(message):
    compared = 0
    for name, member in dictionary(message, "content-digest").items():
        if name in ("sha-256", "sha-512"):
            need(isinstance(member[0], bytes), "bad-form")
            need(member[0] == hashlib.new(name.replace("-", ""), message["body"].encode()).digest(), "wrong-digest")
            compared += 1
    need(compared, "wrong-digest")
