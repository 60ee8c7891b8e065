"""Who may do what in whose name, and that it is counted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from test_agent import NOW, refused

import gambeson
from gambeson import Agent, CardStore, Ledger, Policy, ReplayCache, StatusList, StatusStore

BANK = "did:web:bank.example"
URL = "https://root.example/status/1"
HOUR = timedelta(hours=1)


def capability(action: str = "tools/call/pay", **caveat: Any) -> dict[str, Any]:
    granted: dict[str, Any] = {"action": action, "resource": BANK}
    return granted | ({"caveats": [caveat]} if caveat else {})


class World:
    """A root, whom the bank trusts, a middle and a leaf."""

    def __init__(self) -> None:
        self.root, self.middle, self.leaf = (Agent.generate() for _ in range(3))
        agents = (self.root, self.middle, self.leaf)
        self.trust = CardStore(*(agent.first_card(valid_for=HOUR * 24, now=NOW) for agent in agents))
        self.policy = Policy(trust=[(BANK, self.root.did)])
        self.ledger, self.replay = Ledger(), ReplayCache()

    def grant(self, by: Agent, to: Agent, **how: Any) -> str:
        with_defaults: dict[str, Any] = {"capabilities": [capability()], "valid_for": HOUR, "now": NOW}
        return by.delegate(to.did, **(with_defaults | how))

    def act(self, by: Agent, chain: list[str], amount: int = 5, name: str = "pay", **how: Any) -> dict[str, Any]:
        action = by.action("tools/call", name, {"amount": amount}, audience=BANK, chain=chain, now=NOW)
        asked: dict[str, Any] = {
            "audience": BANK, "resolver": self.trust, "replay": self.replay, "policy": self.policy,
            "ledger": self.ledger, "chain": chain, "now": NOW + 1,
        }  # fmt: skip
        return gambeson.verify_action(action.to_json(), by.sign_action(action), **(asked | how))


def test_a_chain_of_two_links_permits_what_it_says() -> None:
    world = World()
    first = world.grant(world.root, world.middle, capabilities=[capability("tools/call/*")], max_depth=1)
    second = world.grant(
        world.middle, world.leaf, parent=first, capabilities=[capability(argument="/amount", atMost=10)]
    )
    claims = world.act(world.leaf, [first, second])
    assert claims["did"] == world.leaf.did
    authorized = claims["authorized"]
    assert authorized["root"] == world.root.did
    assert authorized["path"] == [world.root.did, world.middle.did, world.leaf.did]
    assert authorized["capability"] == capability(argument="/amount", atMost=10)
    refused(gambeson.NotPermitted, "not-permitted", world.act, world.leaf, [first, second], amount=11)
    refused(gambeson.NotPermitted, "not-permitted", world.act, world.leaf, [first, second], name="withdraw")
    refused(gambeson.NotPermitted, "wrong-delegate", world.act, world.middle, [first, second])
    refused(gambeson.NotPermitted, "untrusted-root", world.act, world.leaf, [])
    refused(gambeson.VerificationError, "broken-chain", world.act, world.leaf, [second])
    assert len(world.replay) == 1, "who may do nothing fills no memory"
    assert world.act(world.root, [])["authorized"]["capability"] is None

    links = gambeson.verify_chain([first, second], resolver=world.trust, now=NOW)["links"]
    assert [(link["issuer"], link["delegate"], link["max_depth"]) for link in links] == [
        (world.root.did, world.middle.did, 1),
        (world.middle.did, world.leaf.did, 0),
    ]


def test_a_link_cannot_widen() -> None:
    world = World()
    first = world.grant(world.root, world.middle, max_depth=1, max_calls=3, budget=(100, "EUR-cent"))
    within: dict[str, Any] = {"parent": first, "max_calls": 3, "budget": (100, "EUR-cent")}
    assert world.grant(world.middle, world.leaf, **within)
    for change in (
        {"capabilities": [capability("tools/call/*")]},
        {"max_calls": 4},
        {"max_calls": None},
        {"budget": (101, "EUR-cent")},
        {"budget": (1, "BTC")},
        {"valid_for": HOUR * 2},
        {"max_depth": 1},
    ):
        refused(gambeson.NotPermitted, "widened", world.grant, world.middle, world.leaf, **(within | change))
    refused(gambeson.NotPermitted, "wrong-delegate", world.grant, world.leaf, world.middle, **within)
    last = world.grant(world.middle, world.leaf, **within)
    refused(gambeson.NotPermitted, "too-deep", world.grant, world.leaf, world.root, parent=last)
    for wrong in ([], [{"action": "pay"}], [capability("*")], [capability(argument="amount", atMost=1)]):
        refused(gambeson.Malformed, "bad-form", world.grant, world.root, world.middle, capabilities=wrong)
    refused(gambeson.UsageError, "usage", world.grant, world.root, world.middle, capabilities={})


def test_calls_and_costs_are_counted_together() -> None:
    world = World()
    chain = [world.grant(world.root, world.leaf, max_calls=3, budget=(100, "EUR-cent"))]

    def price(claims: dict[str, Any]) -> tuple[int, str]:
        return claims["action"]["arguments"]["amount"], "EUR-cent"

    refused(gambeson.NotPermitted, "over-budget", world.act, world.leaf, chain)
    assert world.act(world.leaf, chain, amount=60, cost=price)
    refused(gambeson.NotPermitted, "over-budget", world.act, world.leaf, chain, amount=60, cost=price)
    assert world.act(world.leaf, chain, amount=20, cost=price)
    assert world.act(world.leaf, chain, amount=20, cost=price)
    refused(gambeson.NotPermitted, "over-count", world.act, world.leaf, chain, amount=0, cost=price)
    refused(gambeson.VerificationError, "cache-full", world.act, world.leaf, chain, ledger=None, cost=price)
    refused(gambeson.UsageError, "usage", world.act, world.leaf, chain, policy=None)


def test_who_may_do_nothing_does_not_fill_the_memory() -> None:
    world = World()
    world.replay = ReplayCache(2)
    for _ in range(3):
        refused(gambeson.NotPermitted, "untrusted-root", world.act, world.leaf, [])
    assert len(world.replay) == 0
    action = world.root.action("tools/call", "pay", {}, audience=BANK, now=NOW)
    asked: dict[str, Any] = {"audience": BANK, "resolver": world.trust, "replay": world.replay, "now": NOW}
    shown = action.to_json(), world.root.sign_action(action)
    assert gambeson.verify_action(*shown, **asked, policy=world.policy)["authorized"]["root"] == world.root.did
    for policy in (world.policy, None):
        refused(gambeson.Replayed, "replayed", gambeson.verify_action, *shown, **asked, policy=policy)
    assert world.act(world.root, []) and len(world.replay) == 2
    refused(gambeson.VerificationError, "cache-full", world.act, world.root, [])


def test_nobody_takes_the_room_of_others() -> None:
    world = World()
    world.replay = ReplayCache(per_signer=1)
    verify: dict[str, Any] = {"policy": None, "ledger": None}
    for agent in (world.leaf, world.middle):
        assert world.act(agent, [], **verify)
        refused(gambeson.VerificationError, "cache-full", world.act, agent, [], **verify)
    assert len(world.replay) == 2

    world.replay, world.ledger = ReplayCache(), Ledger(per_root=1)
    world.policy = Policy(trust=[(BANK, world.root.did), (BANK, world.middle.did)])
    for root in (world.root, world.middle):
        chains = [[world.grant(root, world.leaf, max_calls=9)] for _ in range(2)]
        assert world.act(world.leaf, chains[0]) and world.act(world.leaf, chains[0])
        refused(gambeson.VerificationError, "cache-full", world.act, world.leaf, chains[1])


def test_a_delegation_that_was_taken_back_permits_nothing() -> None:
    world = World()
    chain = [world.grant(world.root, world.leaf, status=[(URL, 5, "revocation")])]
    bits, status = StatusList(), StatusStore()
    refused(gambeson.StatusUnknown, "unknown-status", world.act, world.leaf, chain)
    for at, set_ in ((NOW, False), (NOW + 1, True)):
        bits.set(5, set_) if set_ else None
        listed = world.root.issue_status_list(bits, URL, valid_for=HOUR, now=at)
        status.add(listed, resolver=world.trust, now=at)
        if not set_:
            assert world.act(world.leaf, chain, status=status)
    refused(gambeson.Revoked, "revoked", world.act, world.leaf, chain, status=status)


def test_four_eyes_are_on_exactly_this_action_once() -> None:
    world = World()
    world.policy = Policy(trust=[(BANK, world.root.did)], approvals=[("tools/call/pay", [world.middle.did])])
    refused(gambeson.NotPermitted, "not-approved", world.act, world.root, [])

    action = world.root.action("tools/call", "pay", {"amount": 5}, audience=BANK, now=NOW)
    approval = world.middle.approve(gambeson.Action.from_json(action.to_json()), world.root.did, now=NOW)
    asked: dict[str, Any] = {
        "audience": BANK, "resolver": world.trust, "policy": world.policy, "ledger": world.ledger,
        "approvals": [approval], "now": NOW + 1,
    }  # fmt: skip

    def act(what: gambeson.Action) -> dict[str, Any]:
        token = world.root.sign_action(what)
        return gambeson.verify_action(what.to_json(), token, replay=ReplayCache(), **asked)

    assert act(action)["authorized"]["approvers"] == [world.middle.did]
    refused(gambeson.NotPermitted, "over-count", act, action)
    other = world.root.action("tools/call", "pay", {"amount": 6}, audience=BANK, now=NOW)
    refused(gambeson.NotPermitted, "not-approved", act, other)


def test_an_action_is_a_value_that_names_itself() -> None:
    world = World()
    action = world.root.action("tools/call", "pay", {"amount": 5}, audience=BANK, params={"task": {}}, now=NOW)
    again = gambeson.Action.from_json(action.to_json())
    assert again == action and again.digest() == action.digest() != action.digest(suite="cnsa2")
    assert (again.method, again.name, again.audience, again.issued) == ("tools/call", "pay", BANK, NOW)
    assert (again.arguments, again.params, again.delegation) == ({"amount": 5}, {"task": {}}, None)
    assert again.expires == NOW + 120 and len(again.nonce) == 22
    refused(gambeson.Malformed, "bad-form", gambeson.Action.from_json, {})
    refused(gambeson.UsageError, "usage", action.digest, suite="md5")
