"""What Python's JSON reader takes and JSON does not have is refused with a typed error, wherever it comes in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from test_agent import refused

import gambeson
from gambeson import Action, Agent, CardStore, ReplayCache


def deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


NOT_JSON = [json.loads('{"a": 1e999}'), {"a": float("nan")}, {"a": "\ud800"}, {"\udfff": 1}, deep(100_000), "\ud800"]


@pytest.mark.parametrize("value", NOT_JSON, ids=["infinity", "nan", "surrogate", "key", "deep", "text"])
def test_values_that_are_no_json_are_refused(value: Any) -> None:
    agent = Agent.generate()
    trust = CardStore(agent.first_card(valid_for=60))
    asked: dict[str, Any] = {"audience": "a", "resolver": trust, "replay": ReplayCache()}
    refused(gambeson.Malformed, "bad-json", gambeson.canonicalize, value)
    refused(gambeson.Malformed, "bad-json", Action.from_json, value)
    refused(gambeson.Malformed, "bad-json", gambeson.verify_mcp, "tools/call", value, **asked)
    refused(gambeson.Malformed, "bad-json", agent.mcp_action, "tools/call", value, audience="a")


def test_what_no_text_of_json_can_be_stays_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError):
        gambeson.canonicalize({"a": object()})
