"""Forks and sub-interpreters: what would hang, or be counted twice, raises."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from channels import identity

import gambeson
from gambeson import Agent, CardStore, Ledger, Policy, ReplayCache
from gambeson.asgi import SignedRequests

BANK = "did:web:bank.example"


def forked(work: Callable[[], object]) -> str:
    """What the work returns, or raises, in a child; one that hangs fails after a minute."""
    reads, writes = os.pipe()
    with warnings.catch_warnings():
        # This process has threads: that is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writes, said.encode())
        os._exit(0)
    os.close(writes)
    until = time.monotonic() + 60
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("the child hangs")
        time.sleep(0.01)
    with os.fdopen(reads) as answer:
        return answer.read()


def script(text: str) -> str:
    """The output of a program in a process of its own."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(text)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


USED = """
    import asyncio, os, sys
    import gambeson
    from gambeson.channel import Agent, Delivery, Hub

    def identity():
        agent = gambeson.Agent.generate()
        return agent, agent.first_card(valid_for=3600, groups=["group-ml-dsa-65"])

    def raised(work):
        try:
            value = work()
            if asyncio.iscoroutine(value):
                asyncio.run(asyncio.wait_for(value, 20))
        except gambeson.UsageError as error:
            assert error.code == "usage", error.code
            assert str(os.getppid()) in error.detail and "fork" in error.detail, error.detail
        else:
            raise AssertionError("nothing was raised")

    async def use(child):
        hub = Hub()
        async with Agent(*identity(), hub) as ada, Agent(*identity(), hub) as ben:
            channel = await ada.create()
            await channel.invite(ben.did)
            await ben.join(by=ada.did)
            await channel.send(b"hello")
            # With everything open, as `multiprocessing` does it from a thread.
            await asyncio.to_thread(child, ada, channel)
            await channel.send(b"again")

    def in_child(work):
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                work()
                status = 0
            except BaseException:
                import traceback
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        import signal, time
        for _ in range(6000):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                assert status == 0, status
                return
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        raise AssertionError("the child hangs")
"""


def test_a_child_of_a_process_that_used_channels_is_refused_and_does_not_hang() -> None:
    said = script(
        USED
        + """
    def child(ada, channel):
        def work():
            native = channel._native
            for it in (
                lambda: channel.members, lambda: channel.epoch, lambda: channel.authenticator, lambda: repr(channel),
                lambda: ada.channels(), lambda: native.take(), lambda: native.close(), lambda: native.id and native.members(),
            ):
                raised(it)
            asyncio.set_event_loop(None)
            for begin in (
                lambda: native.send(b"x"), lambda: native.request(b"x", 1.0), lambda: native.history(0, 1), lambda: native.ready(),
                lambda: native.rotate(), lambda: native.leave(), lambda: native.give_back(None), lambda: ada._node.create({}, "member"),
                lambda: ada._node.invited(), lambda: ada._node.close(), lambda: ada._node.invitation(),
            ):
                async def within(begin=begin):
                    await begin()
                raised(within)
        in_child(work)

    asyncio.run(use(child))
    print("parent goes on")

    async def anew():
        async with Agent(*identity(), Hub()):
            pass

    async def served():
        async with Delivery("http://127.0.0.1:1"):
            pass

    def after():
        raised(anew)
        raised(served)

    in_child(after)
    # All that is left of the parent's objects goes with the child, too.
    import gc
    in_child(gc.collect)
    print("done")
    """
    )
    assert said == "parent goes on\ndone\n"


def test_a_forked_child_ends_by_itself() -> None:
    """`sys.exit` runs what was registered to run at the end."""
    said = script(
        USED
        + """
    async def nothing():
        async with Agent(*identity(), Hub()) as ada:
            return await ada.create()

    kept = asyncio.run(nothing())
    child = os.fork()
    if child == 0:
        import time
        time.sleep(0.1)
        del kept
        sys.exit(0)
    import time
    began = time.monotonic()
    assert os.waitpid(child, 0)[1] == 0
    assert time.monotonic() - began < 2, "it waited for threads that are not there"
    print("done")
    """
    )
    assert said == "done\n"


def test_a_child_uses_channels_where_its_parent_did_not() -> None:
    said = script(
        USED
        + """
    hub, ids = Hub(), identity()

    async def main():
        async with Agent(*ids, hub) as ada:
            await (await ada.create()).send(b"hello")
            print("child", flush=True)

    in_child(lambda: asyncio.run(main()))
    in_child(lambda: asyncio.run(main()))
    asyncio.run(main())
    """
    )
    assert said == "child\nchild\nchild\n"


class World:
    def __init__(self) -> None:
        self.agent, self.root = Agent.generate(), Agent.generate()
        cards = [it.first_card(valid_for=86_400) for it in (self.agent, self.root)]
        self.trust = CardStore(*cards)
        capability = {"action": "tools/call/pay", "resource": BANK}
        self.chain = [self.root.delegate(self.agent.did, [capability], valid_for=3600, max_calls=1)]
        self.policy = Policy(trust=[(BANK, self.root.did)])

    def pay(self, replay: Any, ledger: Ledger) -> str:
        action = self.agent.mcp_action("tools/call", {"name": "pay"}, audience=BANK, chain=self.chain)
        token = self.agent.sign_action(action)
        known: dict[str, Any] = {"audience": BANK, "resolver": self.trust, "chain": self.chain}
        known |= {"replay": replay, "ledger": ledger, "policy": self.policy}
        gambeson.verify_action(action.to_json(), token, **known)
        return "paid"


class Shared:
    """A memory of everybody, such as a database."""

    def remember(self, id: bytes, until: int, now: int) -> bool:
        return True


def test_what_was_counted_in_memory_is_not_counted_again_in_a_child() -> None:
    world = World()
    refused = "UsageError: a {} of process " + str(os.getpid())
    assert forked(lambda: world.pay(ReplayCache(), Ledger())) == "paid"
    replay, ledger = ReplayCache(), Ledger()
    assert forked(lambda: world.pay(replay, Ledger())).startswith(refused.format("ReplayCache"))
    assert forked(lambda: world.pay(Shared(), ledger)).startswith(refused.format("Ledger"))
    assert forked(lambda: world.pay(ReplayCache(), ledger)).startswith(refused.format("Ledger"))
    assert forked(lambda: len(replay)).startswith(refused.format("ReplayCache"))
    assert world.pay(replay, ledger) == "paid"
    with pytest.raises(gambeson.NotPermitted):
        world.pay(replay, ledger)


def test_a_server_that_was_made_before_a_fork_says_so_to_its_owner_and_not_to_who_asks() -> None:
    world = World()

    async def nothing(scope: Any, receive: Any, send: Any) -> None: ...

    app: Any = SignedRequests(nothing, origin="https://bank.example", resolver=world.trust)
    fields = world.agent.sign_http("GET", "https://bank.example/pay", [])
    scope = {"type": "http", "method": "GET", "path": "/pay", "query_string": b""}

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(_message: Any) -> None:
        raise AssertionError("nothing is answered")

    scope["headers"] = [(name.encode(), value.encode()) for name, value in fields]
    assert forked(lambda: asyncio.run(app(scope, receive, send))).startswith("UsageError: a ReplayCache of process ")
    asyncio.run(app(scope, receive, send))


def test_agents_and_keys_sign_and_verify_in_a_child() -> None:
    agent = Agent.generate()
    trust = CardStore(agent.first_card(valid_for=60))
    one, other = (forked(lambda: agent.sign(b"data", b"test").hex()) for _ in range(2))
    assert one != other
    for signature in (one, other):
        gambeson.verify(bytes.fromhex(signature), b"data", b"test", signer=agent.key_url(), resolver=trust)


def test_an_audit_log_in_two_processes_does_not_fork(tmp_path: Path) -> None:
    agent = Agent.generate()
    log = gambeson.AuditLog.create(agent, tmp_path / "log", "agent.example/log")
    assert forked(lambda: log.append(agent, [b"child"])) == "0"
    with pytest.raises(gambeson.Error):
        log.append(agent, [b"parent"])
    again = gambeson.AuditLog.open(agent, tmp_path / "log", "agent.example/log")
    assert [again.entry(0), again.append(agent, [b"parent"])] == [b"child", 1]


def test_a_sub_interpreter_is_refused_at_the_import() -> None:
    said = script(
        """
    import _xxsubinterpreters as interpreters
    import gambeson

    other = interpreters.create()
    try:
        interpreters.run_string(other, "import gambeson")
    except interpreters.RunFailedError as error:
        print("ImportError" in str(error) and "one interpreter" in str(error))
    """
    )
    assert said == "True\n"


def test_the_guard_is_of_this_process() -> None:
    """What is open here stays so, whatever children did."""
    agent, cards = identity()

    async def main() -> None:
        from gambeson.channel import Agent as Member
        from gambeson.channel import Hub

        async with Member(agent, cards, Hub()) as member:
            channel = await member.create()
            assert list(channel.members) == [agent.did]

    asyncio.run(main())
