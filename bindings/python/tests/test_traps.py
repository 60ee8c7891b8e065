"""Small traps: submodules that are there, names that differ, limits that are said."""

from __future__ import annotations

import subprocess
import sys

import pytest
from channels import channel, run

import gambeson
import gambeson.channel

SUBMODULES = ["a2a", "asgi", "channel", "errors", "http", "mcp", "mldsa", "mlkem", "tlog", "xwing"]


def fresh(code: str) -> str:
    """What a program prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", SUBMODULES)
def test_a_submodule_is_there_when_it_is_asked_for(name: str) -> None:
    said = fresh(f"import gambeson, sys; print('gambeson.{name}' in sys.modules, gambeson.{name}.__name__, '{name}' in dir(gambeson))")
    loaded = name == "errors"
    assert said == f"{loaded} gambeson.{name} True\n"


def test_what_is_not_there_is_no_attribute_and_an_extra_that_is_missing_is_named() -> None:
    for name in ("nothing", "_nothing", "channels", "__wrapped__"):
        assert not hasattr(gambeson, name)
    said = fresh(
        "import sys; sys.modules['httpx'] = None\n"
        "import gambeson\n"
        "try:\n gambeson.http\n"
        "except ImportError as error:\n print('httpx' in str(error))"
    )
    assert said == "True\n"
    assert fresh("from gambeson import *; print(Agent.__module__)") == "gambeson\n"


def test_two_classes_have_two_names() -> None:
    member = gambeson.channel.ChannelAgent
    assert member.__name__ == member.__qualname__ == "ChannelAgent"
    assert gambeson.Agent.__name__ == "Agent" and id(member) != id(gambeson.Agent)
    # Programs that were written before find it by its former name.
    assert gambeson.channel.Agent is member
    assert "ChannelAgent" in gambeson.channel.__all__


def test_the_largest_message_is_said_and_true() -> None:
    most = gambeson.channel.MAX_SENT
    assert most == 49_152

    async def main() -> None:
        async with channel(2) as (ada, ben):
            await ada.send(bytes(most))
            assert len((await ben.receive()).data) == most
            for say in (ada.send, ada.request):
                with pytest.raises(gambeson.ChannelError) as refused:
                    await say(bytes(most + 1))
                assert f"{most + 1} bytes" in refused.value.detail and f"{most}" in refused.value.detail, refused.value
            # A message that looks like a connection's envelope is wrapped, which takes some of the room.
            from gambeson.channel._envelope import MARK

            with pytest.raises(gambeson.ChannelError):
                await ada.send(MARK + bytes(most - len(MARK)))

    run(main)
    documented = gambeson.channel.Channel.send.__doc__ or ""
    assert "49,152" in documented and "49,152" in (gambeson.channel.Channel.request.__doc__ or "")
