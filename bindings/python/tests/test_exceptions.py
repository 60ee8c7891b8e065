"""What is wrong with a value is a `gambeson.Error`, whatever the value: no number is too large for a promise."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from channels import channel, run

import gambeson
from gambeson import Agent, AuditLog, CardStore, Ledger, ObjectStore, ReplayCache, StatusList, tlog
from gambeson.channel import Delivery

HUGE = [-1, -(2**63), 2**64, 2**100]
CAPABILITY = {"action": "tools/call/pay", "resource": "did:web:bank.example"}


def calls(folder: Path) -> list[Any]:
    agent = Agent.generate()
    trust = CardStore(agent.first_card(valid_for=86_400))
    words = gambeson.generate_words()
    log = AuditLog.create(agent, folder / "log", "agent.example/log")
    hash = bytes(32)
    grant: Any = {"valid_for": 60}
    known: Any = {"resolver": trust, "replay": ReplayCache()}
    backup = agent.backup()
    return [
        lambda n: ReplayCache(n),
        lambda n: ReplayCache(per_signer=n),
        lambda n: Ledger(n),
        lambda n: Ledger(per_root=n),
        lambda n: StatusList(entries=n),
        lambda n: StatusList().set(n),
        lambda n: StatusList().is_set(n),
        lambda n: agent.child(n),
        lambda n: agent.begin_session(n),
        lambda n: agent.delegate(agent.did, [CAPABILITY], **grant, max_depth=n),
        lambda n: agent.delegate(agent.did, [CAPABILITY], **grant, max_calls=n),
        lambda n: agent.delegate(agent.did, [CAPABILITY], **grant, budget=(n, "EUR-cent")),
        lambda n: agent.delegate(agent.did, [CAPABILITY], **grant, status=[("https://a.example/1", n, "revocation")]),
        lambda n: agent.issue_sd_jwt("https://card.example", {"a": 1}, valid_for=60, decoys=n),
        lambda n: agent.sign_http_response(n, []),
        lambda n: gambeson.verify_http_response(n, [], **known),
        lambda n: agent.restore(backup, since=n),
        lambda n: log.entry(n),
        lambda n: log.prove(n),
        lambda n: log.prove_consistency(n),
        lambda n: tlog.verify_inclusion(hash, [], index=n, size=1, root=hash),
        lambda n: tlog.verify_inclusion(hash, [], index=0, size=n, root=hash),
        lambda n: tlog.verify_consistency([], old=(n, hash), new=(1, hash)),
        lambda n: gambeson.share_words(words, n, 3),
        lambda n: gambeson.share_words(words, 2, n),
        lambda n: gambeson.age_file(words, "a passphrase", work_factor=n),
        lambda n: gambeson.canonicalize("{}", max_len=n),
        lambda n: ObjectStore().load(gambeson.object_id(b""), max_len=n),
    ]


@pytest.mark.parametrize("number", HUGE)
def test_a_number_out_of_its_bounds_is_a_usage_error(number: int, tmp_path: Path) -> None:
    refusals = 0
    for call in calls(tmp_path):
        try:
            call(number)
        except gambeson.Error:
            refusals += 1
    # Some bounds are wider: 2^64 − 1 fits some of them, and none of these numbers.
    assert refusals == len(calls(tmp_path / "again"))


def test_a_number_that_would_need_more_memory_than_there_is_is_refused() -> None:
    for most in (2**40, 2**62, 2**63):
        try:
            len(ReplayCache(most)), Ledger(most)
            StatusList(entries=most)
        except gambeson.Error:
            pass


@pytest.mark.parametrize(
    "time", [-1, -0.5, float("nan"), float("inf"), 1e300, 10**400, datetime(2026, 1, 1), timedelta(days=-1), timedelta.min]
)
def test_a_time_that_is_none_is_a_usage_error(time: Any) -> None:
    agent = Agent.generate()
    with pytest.raises(gambeson.UsageError):
        agent.first_card(valid_for=60, now=time) if not isinstance(time, timedelta) else agent.first_card(valid_for=time)
    if not isinstance(time, datetime):
        with pytest.raises(gambeson.UsageError):
            agent.first_card(valid_for=time)
    for good in (datetime.max.replace(tzinfo=timezone.utc), 10**15):
        gambeson.format_time(good)


def test_numbers_of_channels_are_bounded_too() -> None:
    async def main() -> None:
        async with channel(1) as (ada,):
            for number in HUGE:
                with pytest.raises(gambeson.UsageError):
                    await ada.history(number)
                with pytest.raises(gambeson.UsageError):
                    await ada.history(0, number)
                with pytest.raises(gambeson.UsageError):
                    async with Delivery("http://127.0.0.1:1", store=number):
                        pass
            for seconds in (-1.0, float("nan"), 1e9):
                with pytest.raises(gambeson.UsageError):
                    await ada.request(b"x", timeout=seconds)

    run(main)


def test_a_cost_that_is_no_amount_is_told_to_the_server() -> None:
    agent = Agent.generate()
    action = agent.mcp_action("tools/call", {"name": "pay"}, audience="did:web:bank.example")
    known: dict[str, Any] = {"resolver": CardStore(agent.first_card(valid_for=60)), "replay": ReplayCache()}
    policy = gambeson.Policy(trust=[("did:web:bank.example", agent.did)])
    for cost, error in (((-5, "EUR"), gambeson.UsageError), ((2**64, "EUR"), gambeson.UsageError), (("5", "EUR"), TypeError)):
        with pytest.raises(error):
            gambeson.verify_action(
                action.to_json(),
                agent.sign_action(action),
                audience="did:web:bank.example",
                policy=policy,
                cost=lambda _: cost,  # type: ignore[arg-type, return-value]  # noqa: B023
                **known,
            )
