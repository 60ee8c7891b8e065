"""docs/spec/action.md and docs/spec/mcp.md."""

import keys
from jws import Jws
from reading import Refused, canonical, decode, from_multibase, is_integer, multibase, need, parse_object, within

SKEW = 30
MAX_TOKEN = 16384
PROOF, RECEIPT = "io.github.gambeson-pq/proof", "io.github.gambeson-pq/receipt"


def name_by_hash(data):
    return multibase(keys.multihash("default", data))


def names(name, data):
    return name in (name_by_hash(data), multibase(keys.multihash("cnsa2", data)))


def is_name(name):
    try:
        data = from_multibase(name, 50)
    except Refused:
        return False
    return (len(data), data[:2]) in ((34, b"\x1e\x20"), (50, b"\x20\x30"))


class Memory:
    """Of nonces, until what carried them ends."""

    def __init__(self, capacity):
        self.capacity, self.ends = capacity, {}

    def remember(self, signer, nonce, end, now):
        self.ends = {key: until for key, until in self.ends.items() if until >= now}
        need((signer, nonce) not in self.ends, "replayed")
        need(len(self.ends) < self.capacity, "cache-full")
        self.ends[signer, nonce] = end


class Action:
    """An action that was read."""

    def __init__(self, data):
        value = parse_object(data, 1048576)
        known = {"v", "aud", "method", "name", "arguments", "params", "iat", "exp", "nonce", "delegation"}
        need(set(value) <= known and value.get("v") == 1 and not isinstance(value["v"], bool), "bad-form")
        for name in ("aud", "method", "name", "nonce") + (("delegation",) if "delegation" in value else ()):
            need(isinstance(value.get(name), str) and len(value[name].encode()) <= 8192, "bad-form")
        for name in ("arguments",) + (("params",) if "params" in value else ()):
            need(isinstance(value.get(name), dict), "bad-form")
        for name in ("iat", "exp"):
            need(is_integer(value.get(name)) and value[name] >= 0, "bad-form")
        need(value["aud"] and value["method"], "bad-form")
        need(len(decode(value["nonce"], 16, "bad-form")) == 16, "bad-form")
        need("delegation" not in value or is_name(value["delegation"]), "bad-form")
        if value.get("params") == {}:
            del value["params"]
        self.json, self.signed = value, canonical(value)

    @property
    def action(self):
        return f"{self.json['method']}/{self.json['name']}" if self.json["name"] else self.json["method"]


def verify(data, token, audience, lifetime, resolve, now, memory):
    """The action and the URL of the key that signed it."""
    action = Action(data)
    jws = read_detached(token, "gambeson-action+jws", action.signed)
    value = action.json
    need(value["aud"] == audience, "wrong-audience")
    need(value["iat"] <= value["exp"], "bad-form")
    need(value["exp"] - value["iat"] <= lifetime, "long-lived")
    within(now + SKEW, value["iat"], None)
    within(now, None, value["exp"])
    did, _ = jws.key_id()
    jws.verify(resolve(did, now).key_for(jws.header["kid"], "JsonWebKey", "capabilityInvocation", now))
    memory.remember(did, value["nonce"], value["exp"], now)
    return action, jws.header["kid"]


def read_detached(token, kind, payload):
    jws = Jws(token, MAX_TOKEN, payload)
    jws.expect_type(kind)
    return jws


def signed_members(value):
    return {name: member for name, member in value.items() if name != "_meta" and member is not None}


def meta(value, key):
    found = value.get("_meta")
    need(isinstance(found, dict) and key in found, "unsecured")
    return found[key]


def call(method, params):
    """What a request says of an action."""
    rest = signed_members(params)
    named_by = "uri" if method in ("resources/read", "resources/subscribe", "resources/unsubscribe") else "name"
    name, arguments = rest.pop(named_by, ""), rest.pop("arguments", {})
    need(isinstance(name, str) and isinstance(arguments, dict), "bad-form")
    found = {"method": method, "name": name, "arguments": arguments}
    return {**found, "params": rest} if rest else found


def verify_call(method, params, audience, lifetime, resolve, now, memory):
    proof = meta(params, PROOF)
    need(isinstance(proof, dict), "bad-form")
    token = proof.get("jws")
    need(isinstance(token, str), "bad-form")
    for name in ("chain", "approvals"):
        tokens = proof.get(name, [])
        need(isinstance(tokens, list), "bad-form")
        need(len(tokens) <= 8, "too-deep")
        need(all(isinstance(one, str) for one in tokens), "bad-form")
    stated = {name: member for name, member in proof.items() if name not in ("jws", "chain", "approvals")}
    need(set(stated) <= {"v", "aud", "iat", "exp", "nonce", "delegation"}, "bad-form")
    action = {**call(method, params), **stated}
    return verify(canonical(action), token, audience, lifetime, resolve, now, memory)


def verify_receipt(result, action, server, resolve, now):
    """The name in the receipt and the URL of the key."""
    entry = meta(result, RECEIPT)
    need(isinstance(entry, dict) and is_integer(entry.get("iat")) and entry["iat"] >= 0, "bad-form")
    need(is_integer(entry.get("v")) and entry["v"] == 1 and len(entry) == 4, "bad-form")
    need(isinstance(entry.get("action"), str), "bad-form")
    need(names(entry["action"], action.signed), "wrong-audience")
    need(isinstance(entry.get("jws"), str), "bad-form")
    payload = {"v": 1, "action": entry["action"], "iat": entry["iat"], "result": signed_members(result)}
    jws = read_detached(entry["jws"], "gambeson-receipt+jws", canonical(payload))
    did, _ = jws.key_id()
    need(did == server, "wrong-audience")
    within(now + SKEW, entry["iat"], None)
    jws.verify(resolve(did, now).key_for(jws.header["kid"], "JsonWebKey", "assertionMethod", now))
    return entry["action"], jws.header["kid"]
