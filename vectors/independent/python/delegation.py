"""docs/spec/delegation.md: capabilities, chains, approvals, the decision."""

import re

from actions import is_name, names
from credentials import envelope
from did import is_uri, parse_did
from jws import Jws
from reading import Refused, canonical, is_integer, need, parse_object, parse_time, text, within

SKEW = 30
MAX_AMOUNT = 2**53 - 1
KINDS = {
    "AgentDelegationCredential": ("delegation", "capabilityDelegation"),
    "AgentApproval": ("approval", "assertionMethod"),
}


class Credential:
    """A credential of one of the kinds that was read."""

    def __init__(self, token, kind):
        self.token, self.kind = token, kind
        member, self.relationship = KINDS[kind]
        self.jws = Jws(token, 65536)
        envelope(self.jws, "vc")
        value = parse_object(self.jws.payload, 65536)
        need("type" in value, "bad-form")
        need(value["type"] == ["VerifiableCredential", kind], "bad-type")
        terms = {kind: f"urn:gambeson:{kind}", member: {"@id": f"urn:gambeson:{member}", "@type": "@json"}}
        need(value.get("@context") == ["https://www.w3.org/ns/credentials/v2", terms], "bad-form")
        need(is_uri(text(value, "id")), "bad-form")
        self.issuer = parse_did(text(value, "issuer"))
        self.begin, self.end = parse_time(text(value, "validFrom")), parse_time(text(value, "validUntil"))
        subject = value.get("credentialSubject")
        need(isinstance(subject, dict), "bad-form")
        status = value.get("credentialStatus", [{}])
        need(isinstance(status, dict) or isinstance(status, list) and status, "bad-form")
        self.status = [] if "credentialStatus" not in value else status if isinstance(status, list) else [status]
        self.subject = parse_did(text(subject, "id"))
        self.granted = subject.get(member)
        need(isinstance(self.granted, dict), "bad-form")
        known = {"@context", "type", "id", "issuer", "validFrom", "validUntil", "credentialSubject", "credentialStatus"}
        need(set(value) <= known and set(subject) == {"id", member}, "bad-form")
        need(self.begin <= self.end, "bad-form")

    def verify(self, resolve, status, now):
        within(now + SKEW, self.begin, None)
        within(now, None, self.end)
        did, _ = self.jws.key_id()
        need(did == self.issuer, "wrong-issuer")
        self.jws.verify(resolve(did, now).key_for(self.jws.header["kid"], "JsonWebKey", self.relationship, now))
        for entry in self.status:
            need(isinstance(entry, dict), "bad-form")
            status(self.issuer, entry, now)


# What is granted.


def members(value, known):
    need(isinstance(value, dict) and set(value) <= set(known), "bad-form")
    return value


def count(value, name):
    found = value.get(name)
    need(name not in value or is_integer(found) and 0 <= found <= MAX_AMOUNT, "bad-form")
    return found


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Pattern:
    """A text, or all that is below a prefix."""

    def __init__(self, pattern):
        need(1 <= len(pattern.encode()) <= 4096 and not re.search("[\x00-\x1f\x7f-\x9f]", pattern), "bad-form")
        self.below = pattern.endswith("/*")
        self.prefix = pattern[:-2] if self.below else pattern
        need(self.prefix and "*" not in self.prefix, "bad-form")

    def matches(self, value):
        if not self.below:
            return value == self.prefix
        rest = value.removeprefix(self.prefix + "/")
        if rest == value or len(value.encode()) > 4096:
            return False
        plain = r"[A-Za-z0-9\-._~!$&'()+,;=:@]+"
        return all(re.fullmatch(plain, part) and part.split(";")[0] not in ("", ".", "..") for part in rest.split("/"))

    def reaches(self, value):
        """Whether a rule of this pattern asks about the text, however it goes on."""
        return value.startswith(self.prefix + "/") if self.below else value == self.prefix

    def covers(self, other):
        if not other.below:
            return self.matches(other.prefix)
        return self.below and (self.prefix == other.prefix or self.matches(other.prefix))


def continues(prefix, value):
    rest = value.removeprefix(prefix) if value.startswith(prefix) else None
    if rest is None:
        return False
    if not hierarchical(prefix) or not rest or prefix.endswith("/") or rest.startswith("/"):
        return True
    return not prefix.startswith("/") and (bool(re.search("[?#]", prefix)) or rest[0] in "?#")


def hierarchical(prefix):
    return prefix.startswith("/") or "://" in prefix


def unambiguous(value):
    """The segments of the path are the same to every reader, without a way up."""
    if value.startswith("/"):
        path = value[1:]
    else:
        path = re.split("[?#]", value.split("://", 1)[-1])[0].partition("/")[2]
    *folders, last = path.split("/")
    return all(map(is_name, folders)) and (not last or is_name(last))


BLANK = r"\s\x85\xa0\xad\u034f\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff"
RESEMBLED = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | str.maketrans(
    "\u2024\u2025\u2026\u3002\ufe12\ufe19\ufe30\ufe52\uff61\u2044\u2215\u29f8\u2216\u29f5\u29f9\ufe68\u037e\ufe54\ufe6a", "." * 9 + "/" * 3 + "\\" * 4 + ";;%"
)


def is_name(segment):
    """No reader takes it for a way up, for nothing, or for two segments."""
    if re.search("%(?![0-9a-fA-F]{2})", segment):
        return False
    read, before = segment, None
    while read != before:
        before = read
        try:
            read = decoded(read).decode().translate(RESEMBLED)
        except UnicodeDecodeError:
            return False
    name = read.split(";")[0]
    return not re.search(r"[/\\\x00-\x1f\x7f-\x9f]", read) and not re.fullmatch(rf"[.{BLANK}]*", name)


def decoded(value):
    """Without escapes, and those that come of it."""
    out = bytearray()
    for byte in value.encode():
        out.append(byte)
        while escape := re.search(b"%([0-9a-fA-F]{2})$", bytes(out[-3:])):
            out[-3:] = bytes.fromhex(escape[1].decode())
    return bytes(out)


class Caveat:
    """A condition: on an argument, or that somebody approved."""

    def __init__(self, value):
        members(value, ("argument", "oneOf", "atMost", "atLeast", "prefix", "approval"))
        self.approvers = None
        if set(value) == {"approval"} and isinstance(value["approval"], list):
            for approver in value["approval"]:
                need(isinstance(approver, str), "bad-did")
                parse_did(approver)
            need(1 <= len(value["approval"]) <= 64, "bad-form")
            self.approvers = value["approval"]
            self.listed = len(self.approvers)
            return
        self.pointer = text(value, "argument")
        need(len(value) == 2 and len(self.pointer.encode()) <= 512, "bad-form")
        need(re.fullmatch("/([^~]|~[01])*", self.pointer, re.DOTALL), "bad-form")
        ((self.test, self.value),) = ((name, one) for name, one in value.items() if name != "argument")
        fits = {
            "oneOf": lambda one: isinstance(one, list) and 1 <= len(one) <= 64,
            "atMost": is_number,
            "atLeast": is_number,
            "prefix": lambda one: isinstance(one, str),
        }
        need(self.test in fits and fits[self.test](self.value), "bad-form")
        self.listed = len(self.value) if self.test == "oneOf" else 0

    def met(self, value):
        if self.test == "oneOf":
            return any(canonical(value) == canonical(one) for one in self.value)
        if self.test == "prefix":
            below = isinstance(value, str) and continues(self.value, value)
            return below and (not hierarchical(self.value) or unambiguous(value))
        return is_number(value) and (value <= self.value if self.test == "atMost" else value >= self.value)

    def holds(self, arguments):
        value = arguments
        for part in self.pointer.split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and part in value:
                value = value[part]
            elif isinstance(value, list) and re.fullmatch("0|[1-9][0-9]*", part) and int(part) < len(value):
                value = value[int(part)]
            else:
                return False
        return self.met(value)

    def implies(self, other):
        if self.approvers is not None or other.approvers is not None:
            both = self.approvers is not None and other.approvers is not None
            return both and set(self.approvers) <= set(other.approvers)
        if self.pointer != other.pointer:
            return False
        if self.test == "oneOf":
            return all(map(other.met, self.value))
        if self.test != other.test:
            return False
        if self.test == "prefix":
            return continues(other.value, self.value)
        return self.value <= other.value if self.test == "atMost" else self.value >= other.value


class Capability:
    """A permission."""

    def __init__(self, value):
        members(value, ("action", "resource", "caveats"))
        caveats = value.get("caveats", [])
        need(isinstance(caveats, list) and len(caveats) <= 32, "bad-form")
        self.caveats = [Caveat(one) for one in caveats]
        self.action, self.resource = Pattern(text(value, "action")), Pattern(text(value, "resource"))

    def permits(self, action):
        slashes = action.json["method"].count("/")
        return (
            (slashes == 1 or slashes == 0 and not action.json["name"])
            and self.action.matches(action.action)
            and self.resource.matches(action.json["aud"])
            and all(one.approvers is not None or one.holds(action.json["arguments"]) for one in self.caveats)
        )

    def covers(self, other):
        return (
            self.action.covers(other.action)
            and self.resource.covers(other.resource)
            and all(any(theirs.implies(ours) for theirs in other.caveats) for ours in self.caveats)
        )


class Link:
    """A link that was read."""

    def __init__(self, token):
        self.credential = Credential(token, "AgentDelegationCredential")
        self.token, self.issuer, self.delegate = token, self.credential.issuer, self.credential.subject
        value = self.credential.granted
        need("parent" in value, "bad-form")
        self.parent = value["parent"]
        need(self.parent is None or isinstance(self.parent, str) and is_name(self.parent), "bad-form")
        members(value, ("parent", "capabilities", "maxDepth", "maxCalls", "budget"))
        capabilities = value.get("capabilities")
        need(isinstance(capabilities, list) and 1 <= len(capabilities) <= 64, "bad-form")
        self.capabilities = [Capability(one) for one in capabilities]
        caveats = [caveat for one in self.capabilities for caveat in one.caveats]
        need(len(caveats) <= 256 and sum(caveat.listed for caveat in caveats) <= 512, "bad-form")
        self.depth = count(value, "maxDepth")
        need(self.depth is not None and self.depth <= 7, "bad-form")
        self.budget = None
        if "budget" in value:
            budget = members(value["budget"], ("amount", "unit"))
            amount = count(budget, "amount")
            need(amount is not None, "bad-form")
            self.budget = (amount, text(budget, "unit"))
        self.calls = count(value, "maxCalls")

    def join(self, before):
        need(self.parent is not None and names(self.parent, before.token.encode()), "broken-chain")
        need(self.issuer == before.delegate, "wrong-delegate")

    def narrow(self, before):
        need(before.depth > 0, "too-deep")
        need(self.depth < before.depth, "widened")
        begins, ends = self.credential.begin >= before.credential.begin, self.credential.end <= before.credential.end
        need(begins and ends, "widened")
        need(before.calls is None or self.calls is not None and self.calls <= before.calls, "widened")
        if before.budget is not None:
            need(self.budget is not None and self.budget[1] == before.budget[1] and self.budget[0] <= before.budget[0], "widened")
        covered = all(any(ours.covers(one) for ours in before.capabilities) for one in self.capabilities)
        need(covered, "widened")


def verify_chain(tokens, trusted, resolve, status, now):
    need(len(tokens) <= 8, "too-deep")
    links = []
    for token in tokens:
        link = Link(token)
        if links:
            link.join(links[-1])
        else:
            need(link.parent is None, "broken-chain")
            need(trusted(link.issuer), "untrusted-root")
        link.credential.verify(resolve, status, now)
        if links:
            link.narrow(links[-1])
        links.append(link)
    return links


def verify_approval(token, action, signer, resolve, status, now):
    approval = Credential(token, "AgentApproval")
    name = approval.granted.get("action")
    need(set(approval.granted) == {"action"} and isinstance(name, str) and is_name(name), "bad-form")
    need(names(name, action.signed), "not-approved")
    need(approval.subject == signer, "wrong-delegate")
    approval.verify(resolve, status, now)
    return approval


# The decision.


class Ledger:
    """What was used up, by issuer and token."""

    def __init__(self, capacity):
        self.capacity, self.used = capacity, {}

    def spend(self, charges):
        after = {}
        for key, calls, budget, cost in charges:
            had_calls, had_cost = after.get(key, self.used.get(key, (0, 0)))
            need(calls is None or had_calls + 1 <= calls, "over-count")
            need(budget is None or had_cost + cost <= budget, "over-budget")
            after[key] = (had_calls + 1, had_cost + cost)
        need(len(self.used.keys() | after.keys()) <= self.capacity, "cache-full")
        self.used |= after


class Approvals:
    """Those that were verified, and which of them a decision uses."""

    def __init__(self, verified, parties):
        self.verified, self.parties = verified, parties

    def ask(self, approvers, used, others=()):
        """Those used, with one by the approvers among them who are neither parties nor these others."""
        for approval in self.verified:
            if approval.issuer in approvers and approval.issuer not in [*self.parties, *others]:
                return used if approval in used else used + [approval]
        raise Refused("not-approved")


def authorize(action, signer, evidence, policy, cost, resolve, status, ledger, now):
    """Root, path and approvers."""
    chain, tokens = evidence
    roots, rules = policy
    need(len(tokens) <= 8, "too-deep")
    named = action.json.get("delegation")
    trusted = lambda root: any(did == root and resource.matches(action.json["aud"]) for resource, did in roots)
    if not chain:
        need(named is None, "broken-chain")
        need(trusted(signer), "untrusted-root")
        links = []
    else:
        need(named is not None and names(named, chain[-1].encode()), "broken-chain")
        links = verify_chain(chain, trusted, resolve, status, now)
        need(links[-1].delegate == signer, "wrong-delegate")
    verified = [verify_approval(token, action, signer, resolve, status, now) for token in tokens]
    approvals = Approvals(verified, [signer, *(link.delegate for link in links)])
    used = []
    for pattern, approvers in rules:
        if pattern.reaches(action.action):
            used = approvals.ask(approvers, used, others=[link.issuer for link in links])
    if links:
        used = permitted(links[-1].capabilities, action, approvals, used)
    charges = [one for link in links for one in charge(link, cost)]
    path = [link.issuer for link in links] + [signer]
    ledger.spend([((one.issuer, one.token), 1, None, 0) for one in used] + charges)
    return path[0], path, [one.issuer for one in used]


def permitted(capabilities, action, approvals, used):
    """Those used, for the first capability that permits."""
    refusal = Refused("not-permitted")
    for capability in capabilities:
        if capability.permits(action):
            try:
                found = used
                for caveat in capability.caveats:
                    if caveat.approvers is not None:
                        found = approvals.ask(caveat.approvers, found)
                return found
            except Refused as refused:
                refusal = refused
    raise refusal


def charge(link, cost):
    if link.calls is None and link.budget is None:
        return []
    amount = 0
    if link.budget is not None:
        need(cost is not None and cost["unit"] == link.budget[1], "over-budget")
        amount = cost["amount"]
    return [((link.issuer, link.token), link.calls, link.budget and link.budget[0], amount)]
