"""docs/spec/a2a.md: what of an agent card is signed, and by whom."""

from jws import Jws
from reading import Refused, canonical, need, parse_object

MAX_CARD, MAX_TOKEN = 262144, 16384


class OneOf(dict):
    """A message of which at most one member is there."""


class Named:
    """An object with free names."""

    def __init__(self, shape):
        self.shape = shape


TEXT, WHEN_TRUE, FLAG, FREE = "text", "flag that is written when true", "flag", "JSON object"


def texts(names):
    return dict.fromkeys(names.split(), TEXT)


FLOW = texts("tokenUrl refreshUrl") | {"scopes": Named(TEXT)}
FLOWS = OneOf(
    authorizationCode=FLOW | {"authorizationUrl": TEXT, "pkceRequired": WHEN_TRUE},
    clientCredentials=FLOW,
    implicit=texts("authorizationUrl refreshUrl") | {"scopes": Named(TEXT)},
    password=FLOW,
    deviceCode=FLOW | {"deviceAuthorizationUrl": TEXT},
)
SCHEME = OneOf(
    apiKeySecurityScheme=texts("description location name"),
    httpAuthSecurityScheme=texts("description scheme bearerFormat"),
    oauth2SecurityScheme=texts("description oauth2MetadataUrl") | {"flows": FLOWS},
    openIdConnectSecurityScheme=texts("description openIdConnectUrl"),
    mtlsSecurityScheme=texts("description"),
)
REQUIREMENT = {"schemes": Named({"list": [TEXT]})}
EXTENSION = texts("uri description") | {"required": WHEN_TRUE, "params": FREE}
SKILL = texts("id name description") | {
    "tags": [TEXT], "examples": [TEXT], "inputModes": [TEXT], "outputModes": [TEXT], "securityRequirements": [REQUIREMENT],
}  # fmt: skip
CARD = texts("name description version documentationUrl iconUrl") | {
    "supportedInterfaces": [texts("url protocolBinding tenant protocolVersion")],
    "provider": texts("url organization"),
    "capabilities": {"streaming": FLAG, "pushNotifications": FLAG, "extensions": [EXTENSION], "extendedAgentCard": FLAG},
    "securitySchemes": Named(SCHEME),
    "securityRequirements": [REQUIREMENT],
    "defaultInputModes": [TEXT],
    "defaultOutputModes": [TEXT],
    "skills": [SKILL],
}


def kept(value):
    """`None` for what is empty."""
    return None if value in ("", [], {}) and not isinstance(value, bool) else value


def read(value, shape):
    if shape == TEXT:
        need(isinstance(value, str), "bad-form")
        return kept(value)
    if shape in (WHEN_TRUE, FLAG):
        need(isinstance(value, bool), "bad-form")
        return value if value or shape == FLAG else None
    if isinstance(shape, list):
        need(isinstance(value, list), "bad-form")
        items = [read(item, shape[0]) for item in value]
        return kept([item for item in items if item is not None])
    need(isinstance(value, dict), "bad-form")
    if shape == FREE:
        return clean(value)
    if isinstance(shape, Named):
        return kept(without_none({name: read(member, shape.shape) for name, member in value.items()}))
    return message(value, shape)


def message(value, shape):
    found = {}
    for name, of in shape.items():
        there = [known for known in {name, schema_name(name)} if known in value]
        need(len(there) <= 1, "bad-form")
        if there and value[there[0]] is not None:
            found[name] = value[there[0]]
    need(not isinstance(shape, OneOf) or len(found) <= 1, "bad-form")
    return kept(without_none({name: read(member, shape[name]) for name, member in found.items()}))


def without_none(members):
    return {name: member for name, member in members.items() if member is not None}


def schema_name(name):
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)


def clean(value):
    """Free JSON without what is empty, from the inside out."""
    if isinstance(value, list):
        return kept([item for item in map(clean, value) if item is not None])
    if isinstance(value, dict):
        return kept(without_none({name: clean(member) for name, member in value.items()}))
    return kept(value)


def signed_form(card):
    found = message({name: member for name, member in card.items() if name != "signatures"}, CARD)
    need(found is not None, "bad-form")
    return canonical(found)


def verify(data, expected, resolve, now):
    """What is signed, and the URL of the key."""
    card = parse_object(data, MAX_CARD)
    payload = signed_form(card)
    signatures = card.get("signatures")
    signatures = [] if signatures is None else signatures
    need(isinstance(signatures, list), "bad-form")
    need(len(signatures) <= 8, "too-large")
    refusal = Refused("unsecured")
    for signature in signatures:
        try:
            return payload, verify_one(signature, payload, expected, resolve, now)
        except Refused as refused:
            if refused.code != "bad-algorithm" and refusal.code == "unsecured":
                refusal = refused
    raise refusal


def verify_one(signature, payload, expected, resolve, now):
    need(isinstance(signature, dict), "bad-form")
    parts = [signature.get(name) for name in ("protected", "signature")]
    need(all(isinstance(part, str) for part in parts), "bad-form")
    jws = Jws("..".join(parts), MAX_TOKEN, payload)
    jws.expect_type("JOSE")
    did, _ = jws.key_id()
    need(expected is None or did == expected, "wrong-issuer")
    jws.verify(resolve(did, now).key_for(jws.header["kid"], "JsonWebKey", "assertionMethod", now))
    return jws.header["kid"]
