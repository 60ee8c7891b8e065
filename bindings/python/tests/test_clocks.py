"""Clocks that differ: a refusal says what time it is here, when the thing begins, and by how much clocks may differ."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gambeson
from gambeson import Agent, AuditLog, CardStore, ReplayCache, tlog
from gambeson.mcp import RECEIPT

NOW = 1_795_330_800
BANK = "did:web:bank.example"


class World:
    def __init__(self, folder: Path) -> None:
        self.agent, self.other = Agent.generate(), Agent.generate()
        cards = [it.first_card(valid_for=86_400, now=NOW - 3600) for it in (self.agent, self.other)]
        self.trust = CardStore(*cards)
        self.folder = folder

    def action(self, early: int) -> object:
        action = self.agent.mcp_action("tools/call", {"name": "pay"}, audience=BANK, now=NOW)
        token = self.agent.sign_action(action)
        known: Any = {"audience": BANK, "resolver": self.trust, "replay": ReplayCache(), "now": NOW - early}
        return gambeson.verify_action(action.to_json(), token, **known)

    def receipt(self, early: int) -> object:
        action = self.agent.mcp_action("tools/call", {"name": "pay"}, audience=BANK, now=NOW)
        result: dict[str, Any] = {"content": []}
        result["_meta"] = {RECEIPT: self.other.mcp_receipt(action, result, now=NOW)}
        known: Any = {"server": self.other.did, "resolver": self.trust, "now": NOW - early}
        return gambeson.verify_mcp_receipt(result, action, **known)

    def delegation(self, early: int) -> object:
        capability = {"action": "tools/call/pay", "resource": BANK}
        chain = [self.agent.delegate(self.other.did, [capability], valid_for=3600, now=NOW)]
        return gambeson.verify_chain(chain, resolver=self.trust, now=NOW - early)

    def request(self, early: int) -> object:
        url = "https://bank.example/pay"
        fields = self.agent.sign_http("GET", url, [], now=NOW)
        return gambeson.verify_http("GET", url, fields, resolver=self.trust, replay=ReplayCache(), now=NOW - early)

    def file(self, early: int) -> object:
        signature = self.agent.sign_file(io.BytesIO(b"a file"), now=NOW)
        return gambeson.verify_file(signature, io.BytesIO(b"a file"), resolver=self.trust, now=NOW - early)

    def presentation(self, early: int) -> object:
        asked: Any = {"audience": BANK, "nonce": "n-0S6_WzA2Mj"}
        token = self.agent.issue({"id": self.other.did}, valid_for=7200, now=NOW - 3600)
        shown = self.other.present([token], **asked, now=NOW)
        return gambeson.verify_presentation(shown, resolver=self.trust, **asked, now=NOW - early)

    def checkpoint(self, early: int) -> object:
        log = AuditLog.create(self.agent, self.folder / str(early), "agent.example/log", now=NOW)
        known: Any = {"origin": "agent.example/log", "signer": self.agent.key_url("log"), "resolver": self.trust}
        return tlog.verify_checkpoint(log.checkpoint, **known, now=NOW - early)


TOLERANCES: list[tuple[Callable[[World, int], object], int]] = [
    (World.action, 30),
    (World.receipt, 30),
    (World.delegation, 30),
    (World.request, 30),
    (World.file, 60),
    (World.presentation, 60),
    (World.checkpoint, 300),
]


@pytest.mark.parametrize(("verify", "tolerance"), TOLERANCES, ids=lambda it: getattr(it, "__name__", str(it)))
def test_a_clock_that_is_behind_is_told_its_own_time(
    verify: Callable[[World, int], object], tolerance: int, tmp_path: Path
) -> None:
    world = World(tmp_path)
    verify(world, tolerance)
    with pytest.raises(gambeson.NotYetValid) as refused:
        verify(world, tolerance + 1)
    said = refused.value.detail
    assert f"it is now {gambeson.format_time(NOW - tolerance - 1)}" in said, said
    assert gambeson.format_time(NOW) in said, said
    assert f"{tolerance} s" in said, said


def test_times_without_a_tolerance_are_told_as_they_are(tmp_path: Path) -> None:
    world = World(tmp_path)
    token = world.agent.issue({"id": world.other.did}, valid_for=60, now=NOW)
    with pytest.raises(gambeson.NotYetValid) as refused:
        gambeson.verify_credential(token, resolver=world.trust, now=NOW - 1)
    assert f"it is now {gambeson.format_time(NOW - 1)}" in refused.value.detail
    with pytest.raises(gambeson.Expired) as over:
        gambeson.verify_credential(token, resolver=world.trust, now=NOW + 61)
    assert f"expired at {gambeson.format_time(NOW + 60)}; it is now {gambeson.format_time(NOW + 61)}" in over.value.detail
