"""Channels, over links of one process."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from channels import agents, channel, identity, run, until

import gambeson
from gambeson.channel import Agent, Channel, Event, FarMessage, Hub, Message, groups
from gambeson.channel._channel import MAX_UNREAD

T = TypeVar("T")


def test_what_one_member_says_the_others_hear_once_in_order_and_of_whom() -> None:
    async def main() -> None:
        async with channel(3) as (ada, ben, cem):
            for number in range(50):
                await ada.send(b"%d" % number)
            for hearer in (ben, cem):
                heard = [await hearer.receive() for _ in range(50)]
                assert [message.data for message in heard] == [b"%d" % number for number in range(50)]
                assert {message.sender for message in heard} == {ada.did}
                assert len({message.id for message in heard}) == 50
            await cem.send(b"")
            assert [(await it.receive()).data for it in (ada, ben)] == [b"", b""]
            assert ada.epoch == ben.epoch == cem.epoch
            assert ada.authenticator == ben.authenticator == cem.authenticator != bytes(16)

    run(main)


def test_what_is_said_at_once_travels_in_one_bundle_where_an_agent_asks_for_it() -> None:
    async def main() -> None:
        for bundle, messages in ((0.1, 1), (0.0, 20)):
            hub = Hub()
            how: dict[str, Any] = {"causal": True, "bundle": bundle}
            async with Agent(*identity(), hub, **how) as one, Agent(*identity(), hub, causal=True) as other:
                ada = await one.create()
                await ada.invite(other.did)
                ben = await other.join(by=one.did)
                ids = await asyncio.gather(*(ada.send(b"%d" % number) for number in range(20)))
                # The sender, the epoch since which it counts, the number of the bundle, and the place in it.
                assert len({id.rpartition("/")[0] for id in ids}) == messages
                assert {(await ben.receive()).data for _ in ids} == {b"%d" % number for number in range(20)}
                await ben.send(b"an answer")
                assert (await ada.receive()).data == b"an answer"
        for wrong in (-0.1, 11.0, float("nan")):
            with pytest.raises(gambeson.UsageError):
                await Agent(*identity(), Hub(), bundle=wrong).__aenter__()

    run(main)


def test_members_are_listed_with_their_roles() -> None:
    async def main() -> None:
        async with agents(3) as (ada, ben, cem):
            first = await ada.create(roles={ben.did: "moderator"}, others="listener")
            await first.invite(ben.did, cem.did)
            second, third = await ben.join(by=ada.did), await cem.join(by=ada.did)
            roles = {ada.did: "owner", ben.did: "moderator", cem.did: "listener"}
            for it in (first, second, third):
                assert {member.did: member.role for member in it.members.values()} == roles
            assert len(first.id) == 64 and first.id == second.id
            with pytest.raises(gambeson.Refused) as refused:
                await third.send(b"hello")
            assert refused.value.code == "listener"

    run(main)


def test_a_cancelled_receive_loses_no_message() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            heard: list[bytes] = []
            sending = asyncio.create_task(say(ada, 100))
            # Cancelled at every moment that there is: before, while and after a message comes.
            for delay in range(200):
                try:
                    async with asyncio.timeout(delay % 7 / 1000):
                        heard.append((await ben.receive()).data)
                except TimeoutError:
                    pass
            await sending
            while len(heard) < 100:
                heard.append((await ben.receive()).data)
            assert heard == [b"%d" % number for number in range(100)]

    run(main)


async def say(channel: Channel, count: int) -> None:
    for number in range(count):
        await channel.send(b"%d" % number)
        await asyncio.sleep(0.001)


def test_what_cancelled_sends_say_is_sent() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            # More than the channel takes at once.
            sending = [asyncio.create_task(ada.send(b"%d" % number)) for number in range(200)]
            # All take their first step, without which nothing is begun.
            await asyncio.sleep(0)
            for task in sending:
                task.cancel()
            # Calls that do not wait for each other are in no order.
            heard = {(await ben.receive()).data for _ in sending}
            assert heard == {b"%d" % number for number in range(200)}

    run(main)


def test_a_cancelled_request_is_said_and_one_that_waits_ends_with_its_agent() -> None:
    async def main() -> None:
        async with agents(2) as (ada, ben):
            first = await ada.create()
            await first.invite(ben.did)
            second = await ben.join(by=ada.did)
            cancelled, waiting = (asyncio.create_task(first.request(word, timeout=600)) for word in (b"1", b"2"))
            await asyncio.sleep(0)
            cancelled.cancel()
            asked = [await second.receive() for _ in range(2)]
            assert {message.data for message in asked} == {b"1", b"2"}
            assert all(message.expects_reply for message in asked)
            await ada.close()
            async with asyncio.timeout(60):
                with pytest.raises(gambeson.ChannelOver):
                    await waiting

    run(main)


def test_a_request_is_answered_or_its_deadline_passes() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):

            async def serve() -> None:
                async for message in ben:
                    assert message.expects_reply
                    if message.data != b"silence":
                        await message.reply(b"re: " + message.data)

            serving = asyncio.create_task(serve())
            replies = await asyncio.gather(*(ada.request(b"%d" % number, timeout=20) for number in range(5)))
            assert [reply.data for reply in replies] == [b"re: %d" % number for number in range(5)]
            assert {reply.sender for reply in replies} == {ben.did}
            with pytest.raises(gambeson.DeadlineExceeded) as passed:
                await ada.request(b"silence", timeout=0.05)
            assert passed.value.code == "deadline" and isinstance(passed.value, TimeoutError)
            with pytest.raises(gambeson.UsageError):
                await ada.request(b"", timeout=-1)
            await ada.send(b"no request")
            serving.cancel()
            # Replies to this member's requests are not among its messages.
            await ben.send(b"after")
            assert (await ada.receive()).data == b"after"

    run(main)


def test_only_a_request_is_replied_to() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            await ada.send(b"hello")
            message = await ben.receive()
            with pytest.raises(gambeson.UsageError):
                await message.reply(b"hello")

    run(main)


def test_a_removed_member_hears_nothing_more_and_is_told() -> None:
    async def main() -> None:
        async with channel(3) as (ada, ben, cem):
            await ada.send(b"before")
            assert (await cem.receive()).data == b"before"
            await ada.remove(cem.did)
            await ada.send(b"after")
            assert [(await ben.receive()).data for _ in range(2)] == [b"before", b"after"]
            assert [message.data async for message in cem] == []
            with pytest.raises(gambeson.ChannelOver):
                await cem.send(b"me too")
            assert set(ben.members) == {ada.did, ben.did}

    run(main)


def test_a_member_leaves_and_the_others_go_on() -> None:
    async def main() -> None:
        async with channel(3) as (ada, ben, cem):
            await cem.leave()
            with pytest.raises(gambeson.ChannelOver):
                await cem.receive()
            await until(lambda: cem.did not in ada.members and cem.did not in ben.members)
            kinds: list[str] = []
            while "left" not in kinds:
                event = await ben.event()
                assert isinstance(event, Event)
                kinds.append(event.kind)
            await ada.send(b"two of us")
            assert (await ben.receive()).data == b"two of us"

    run(main)


def test_who_ends_a_channel_ends_it_for_everybody() -> None:
    async def main() -> None:
        async with channel(3) as (ada, ben, cem):
            with pytest.raises(gambeson.Refused):
                await ben.end()
            await ada.end()
            for member in (ada, ben, cem):
                with pytest.raises(gambeson.ChannelOver):
                    await member.receive()

    run(main)


def test_rotation_begins_an_epoch_in_which_all_agree() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            before = ada.authenticator
            await ben.rotate()
            await until(lambda: ada.epoch == ben.epoch and ada.authenticator == ben.authenticator != before)
            await ada.send(b"new keys")
            assert (await ben.receive()).data == b"new keys"

    run(main)


def test_who_has_a_new_card_goes_on_with_its_key() -> None:
    async def main() -> None:
        seed = os.urandom(32)
        before = gambeson.Agent.from_seed_bytes(seed)
        cards = before.first_card(valid_for=3600, groups=["group-ml-dsa-65"], now=time.time() - 60)
        other = gambeson.Agent.from_seed_bytes(seed)
        longer = other.rotate(cards, roles=["group-ml-dsa-65"], compromised=True, valid_for=3600, now=time.time() - 30)
        hub = Hub()
        async with agents(1, hub) as (ada,), Agent(before, cards, hub) as ben:
            first = await ada.create()
            await first.invite(ben.did)
            joined = await ben.join(by=ada.did)
            before_it = joined.authenticator
            with pytest.raises(gambeson.Refused) as refused:
                await ben.renew(*identity())
            assert refused.value.code == "other-identity"
            await ben.renew(gambeson.Agent.from_seed_bytes(seed, cards=longer), longer)
            await until(lambda: first.authenticator == joined.authenticator != before_it)
            await joined.send(b"by the new key")
            assert (await first.receive()).data == b"by the new key"

    run(main)


def test_an_invitation_of_somebody_else_waits_for_who_wants_it() -> None:
    async def main() -> None:
        async with agents(3) as (ada, ben, cem):
            spam, wanted = await cem.create(), await ada.create()
            await spam.invite(ben.did)
            await wanted.invite(ben.did)
            joined = await ben.join(by=ada.did)
            assert joined.id == wanted.id
            with pytest.raises(gambeson.DeadlineExceeded):
                await ben.join(by=[ada.did], timeout=0.2)
            assert (await ben.join(by=[cem.did])).id == spam.id

    run(main)


def test_an_invitation_says_who_invites_whom_else() -> None:
    async def main() -> None:
        async with agents(2) as (ada, ben):
            first = await ada.create()
            await first.invite(ben.did)
            invitation = await ben.invitation()
            assert (invitation.by, invitation.channel) == (ada.did, first.id)
            second = await invitation.accept()
            await second.send(b"here")
            assert (await first.receive()).data == b"here"

    run(main)


class Never:
    """In place of the native invitation: it is accepted for ever, or fails at once."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    async def accept(self) -> None:
        if self._error is not None:
            raise self._error
        await asyncio.Event().wait()


def test_an_invitation_that_was_not_decided_on_is_there_for_the_next() -> None:
    async def main() -> None:
        async with agents(2) as (ada, ben):
            first = await ada.create()
            await first.invite(ben.did)
            invitation = await ben.invitation()
            for error, raised in ((None, gambeson.DeadlineExceeded), (OSError(), OSError)):
                offer = dataclasses.replace(invitation, _native=Never(error))  # type: ignore[arg-type]
                ben._offers.append(offer)
                with pytest.raises(raised):
                    await ben.join(by=ada.did, timeout=0.2)
                assert await ben.invitation() is offer
            assert (await invitation.accept()).id == first.id

    run(main)


def test_an_invitation_that_cannot_be_accepted_stands_in_no_others_way() -> None:
    async def main() -> None:
        async with agents(2) as (ada, ben):
            first = await ada.create()
            await first.invite(ben.did)
            good = await ben.invitation()
            failure, refusal = gambeson.ChannelError("service-failed", "it is stale"), gambeson.Refused("replayed", "again")
            errors: list[Exception | None] = [None, failure, refusal]
            silent, stale, refused = (
                dataclasses.replace(good, _native=Never(error))  # type: ignore[arg-type]
                for error in errors
            )
            for offers in ([stale], [stale, refused], [refused, stale]):
                ben._offers.extend(offers)
                with pytest.raises(gambeson.ChannelError) as failed:
                    await ben.join(by=ada.did, timeout=5)
                assert failed.value.code == "service-failed"
                assert await ben.invitation() is stale and ben._offers == []
            ben._offers.extend([silent, stale, good])
            with pytest.raises(gambeson.DeadlineExceeded):
                await ben.join(by=ada.did, timeout=0.2)
            assert (await ben.join(by=ada.did)).id == first.id
            assert ben._offers == [silent, stale]

    run(main)


def test_who_may_not_invite_or_remove_is_refused() -> None:
    async def main() -> None:
        hub = Hub()
        async with agents(1, hub) as (nobody,), channel(2, hub) as (ada, ben):
            for act, whom in ((ben.invite, nobody.did), (ben.remove, ada.did)):
                with pytest.raises(gambeson.Refused) as refused:
                    await act(whom)
                assert refused.value.code == "not-permitted"
            with pytest.raises(gambeson.Malformed):
                await ada.invite("nobody")
            stranger, _ = identity()
            with pytest.raises(gambeson.ChannelError) as unknown:
                await ada.invite(stranger.did)
            assert unknown.value.code == "no-key-package"

    run(main)


def test_who_was_lent_the_right_to_invite_does() -> None:
    async def main() -> None:
        hub = Hub()
        (owner, cards), (borrower, card) = identity(), identity()
        async with Agent(owner, cards, hub) as first, Agent(borrower, card, hub) as second, agents(1, hub) as (cem,):
            ada = await first.create()
            await ada.invite(borrower.did)
            ben = await second.join(by=owner.did)
            capability = {"action": "channel/invite", "resource": f"urn:gambeson:channel:{ada.id}"}
            elsewhere = {"action": "channel/invite", "resource": "urn:gambeson:channel:00"}
            lent, other = (owner.delegate(borrower.did, [it], valid_for=3600) for it in (capability, elsewhere))
            with pytest.raises(gambeson.Refused) as refused:
                await ben.invite(cem.did, delegation=[other])
            assert refused.value.code == "bad-delegation"
            await ben.invite(cem.did, delegation=[lent])
            joined = await cem.join(by=borrower.did)
            assert len(joined.members) == 3

    run(main)


def test_the_history_has_what_was_said_with_this_members_own_words() -> None:
    async def main() -> None:
        begun = time.time()
        async with channel(2) as (ada, ben):
            await ada.send(b"1")
            assert (await ben.receive()).data == b"1"
            await ben.send(b"2")
            assert (await ada.receive()).data == b"2"
            for it in (ada, ben):
                said = [item for item in await it.history() if isinstance(item, Message)]
                assert [(message.sender, message.data) for message in said] == [(ada.did, b"1"), (ben.did, b"2")]
                # In whole milliseconds.
                assert all(begun - 0.001 <= message.time <= time.time() for message in said)
            position = said[1].position
            assert [item.position for item in await ben.history(position)][:1] == [position]

    run(main)


def test_an_agent_that_kept_its_channels_comes_back_to_them(tmp_path: Path) -> None:
    async def main() -> None:
        hub, own, other = Hub(), identity(), identity()
        store = tmp_path / "channels"
        async with Agent(*other, hub) as ada:
            first = await ada.create()
            async with Agent(*own, hub, store=store) as ben:
                await first.invite(ben.did)
                second = await ben.join(by=ada.did)
                await first.send(b"one")
                assert (await second.receive()).data == b"one"
            await first.send(b"while ben is away")
            async with Agent(*own, hub, store=store) as ben:
                (again,) = ben.channels()
                assert again.id == first.id
                while (message := await again.receive()).data == b"one":
                    pass  # It was not dealt with when the agent was closed.
                assert message.data == b"while ben is away"
        assert b"while ben" not in store.read_bytes()

    run(main)


@pytest.mark.parametrize("ahead", [False, True])
def test_what_was_not_received_when_a_channel_was_closed_comes_when_it_is_found_again(ahead: bool) -> None:
    async def main() -> None:
        async with agents(2) as (ada, ben):
            first = await ada.create()
            await first.invite(ben.did)
            second = await ben.join(by=ada.did)
            for number in range(3):
                await first.send(b"%d" % number)
            assert (await second.receive()).data == b"0"
            if ahead:
                # The listener has the channel read, and nobody takes what is said to all.
                second.listen("echo")
                await until(lambda: sum(isinstance(it, Message) for it in second._inbox._items) == 2)
            await second.close()
            with pytest.raises(gambeson.ChannelOver):
                await second.receive()
            for data in (b"1", b"2"):
                (again,) = ben.channels()
                assert (await again.receive()).data == data
                await again.close()

    run(main)


def test_a_close_that_is_cancelled_closes_every_channel_and_what_was_not_received_comes_again(tmp_path: Path) -> None:
    async def main() -> None:
        hub, own = Hub(), identity()
        store = tmp_path / "channels"
        async with agents(1, hub) as (ada,):
            ben = await Agent(*own, hub, store=store).__aenter__()
            joined = []
            for _ in range(3):
                first = await ada.create()
                await first.invite(ben.did)
                second = await ben.join(by=ada.did)
                await first.send(b"unread")
                # The listener has the channel read, and nobody takes what is said to all.
                second.listen("echo")
                await until(lambda: any(isinstance(it, Message) for it in second._inbox._items))
                joined.append(second)
            closing = asyncio.create_task(ben.close())
            await asyncio.sleep(0)
            closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
            await ben.close()
            assert [it.closed for it in joined] == [True] * 3
            async with Agent(*own, hub, store=store) as ben:
                again = ben.channels()
                assert [(await it.receive()).data for it in again] == [b"unread"] * 3

    run(main)


def test_what_was_for_a_connection_does_not_come_again_when_a_channel_is_found_again() -> None:
    async def main() -> None:
        async with agents(2) as (ada, ben):
            first = await ada.create()
            await first.invite(ben.did)
            second = await ben.join(by=ada.did)
            async with second.listen("echo") as listener:
                await first.send(b"unread")
                await first.connect(ben.did, "echo")
                await listener.accept()
            await second.close()
            (again,) = ben.channels()
            async with again.listen("echo") as listener:
                assert (await again.receive()).data == b"unread"
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.5):
                        await listener.accept()
                await first.connect(ben.did, "echo")
                await listener.accept()

    run(main)


def test_an_agent_without_keys_for_channels_is_refused() -> None:
    async def main() -> None:
        agent = gambeson.Agent.generate()
        with pytest.raises(gambeson.Refused) as refused:
            async with Agent(agent, agent.first_card(valid_for=3600), Hub()):
                pass
        assert refused.value.code == "no-key"

    run(main)


@pytest.mark.parametrize("preset", ["default", "hybrid", "approved", "cnsa2", "classical"])
def test_agents_whose_cards_list_the_keys_of_a_preset_speak_in_its_suites(preset: Any) -> None:
    def of(hub: Hub) -> Agent:
        agent = gambeson.Agent.generate()
        return Agent(agent, agent.first_card(valid_for=3600, groups=groups(preset)), hub, preset=preset)

    async def main() -> None:
        hub = Hub()
        async with of(hub) as ada, of(hub) as ben:
            first = await ada.create()
            await first.invite(ben.did)
            second = await ben.join(by=ada.did)
            for by, to in ((first, second), (second, first)):
                await by.send(b"hello")
                assert (await to.receive()).data == b"hello"

    run(main)


def test_an_agent_is_used_inside_its_block() -> None:
    async def main() -> None:
        agent = Agent(*identity(), Hub())
        with pytest.raises(gambeson.UsageError):
            await agent.create()
        async with agent:
            kept = await agent.create()
        assert kept.closed
        with pytest.raises(gambeson.ChannelOver):
            await kept.receive()

    run(main)


def test_the_event_loop_goes_on_while_a_call_works() -> None:
    async def main() -> None:
        passes = 0

        async def count() -> None:
            nonlocal passes
            while True:
                passes += 1
                await asyncio.sleep(0)

        async def beside(call: Awaitable[T]) -> T:
            before = passes
            result = await call
            assert passes > before, "the call held the loop until it was done"
            return result

        async with agents(2) as (ada, ben):
            counting = asyncio.create_task(count())
            first = await beside(ada.create())
            # What waits for others is begun before there is anything to wait for: who held the loop would wait for ever.
            joining = asyncio.create_task(ben.join(by=ada.did))
            await beside(first.invite(ben.did))
            second = await joining
            hearing = asyncio.create_task(second.receive())
            await beside(first.send(bytes(40_000)))
            assert (await hearing).data == bytes(40_000)
            asking = asyncio.create_task(first.request(b"?"))
            await beside((await second.receive()).reply(b"!"))
            assert (await asking).data == b"!"
            await beside(first.history())
            await beside(second.rotate())
            await beside(first.remove(ben.did))
            await beside(ben.close())
            counting.cancel()

    run(main)


def test_control_c_ends_a_program_that_waits_for_a_message() -> None:
    script = Path(__file__).with_name("waiting_member.py")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None and program.stdout.readline() == b"waiting\n"
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=30)
    assert out == b"closed in order\n"
    assert b"KeyboardInterrupt" in err and program.returncode in (1, 130, -signal.SIGINT)


def test_a_message_that_looks_like_one_of_a_connection_arrives_as_it_is() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            odd = b"\0gambeson connection\1" + os.urandom(40)
            await ada.send(odd)
            assert (await ben.receive()).data == odd

    run(main)


def test_what_is_too_long_for_the_policy_is_refused() -> None:
    async def main() -> None:
        async with channel(2) as (ada, _):
            with pytest.raises(gambeson.ChannelError) as refused:
                await ada.send(bytes(2 << 20))
            assert refused.value.code in ("too-long", "too-large")

    run(main)


def test_messages_that_nobody_reads_are_dropped_above_a_limit_and_counted() -> None:
    class Many:
        """In place of the native channel: more messages than may wait."""

        did = "did:x:ben"
        reply = None

        def __init__(self) -> None:
            self._next = iter(range(MAX_UNREAD + 3))
            self.over = asyncio.Event()

        def take(self) -> tuple[Any, ...] | None:
            number = next(self._next, None)
            if number is None:
                self.over.set()
                return None
            return number, 0, "message", f"did:x:ada/0/{number}/0", "did:x:ada", "message", None, b"%d" % number

        async def ready(self) -> None:
            await asyncio.Event().wait()

        async def give_back(self, start: int | None) -> None:
            assert start is None, "all that was kept was received"

        def close(self) -> None: ...

    async def main() -> None:
        native = Many()
        async with Channel(native) as ben, ben.listen("echo"):  # type: ignore[arg-type]
            # The listener has the channel read, and nobody takes what is said to all.
            await native.over.wait()
            with pytest.raises(gambeson.Missed) as missed:
                await ben.receive()
            assert missed.value.detail.startswith("3 messages ")
            assert [(await ben.receive()).data for _ in range(MAX_UNREAD)][0] == b"3"

    run(main)


def test_what_comes_through_a_bridge_says_so_and_is_no_message_of_a_member() -> None:
    bridge = "did:x:bridge"
    news = (1, 2000, "bridge", [bridge], bridge, "it stands")
    said = (2, 3000, "far", bridge, "acme/agents/bob", "text/plain", b"hello")
    message = (3, 4000, "message", "did:x:ada/0/1/0", "did:x:ada", "message", None, b"post-quantum")

    class Bridged:
        """In place of the native channel."""

        id = "00" * 32
        did = "did:x:ben"
        reply = None

        def __init__(self) -> None:
            self._next = iter((news, said, said, message))

        def take(self) -> tuple[Any, ...] | None:
            return next(self._next, None)

        async def ready(self) -> None:
            await asyncio.Event().wait()

        async def history(self, start: int, most: int) -> list[tuple[Any, ...]]:
            return [news, said]

        async def give_back(self, start: int | None) -> None: ...

        def close(self) -> None: ...

    async def main() -> None:
        native = Bridged()
        async with Channel(native) as ben:  # type: ignore[arg-type]
            open = Event("bridge", (bridge,), bridge, "it stands", 1, 2.0)
            far = FarMessage(bridge, "acme/agents/bob", "text/plain", b"hello", 2, 3.0)
            assert [await ben.event() for _ in range(2)] == [open, far]
            assert (await ben.receive()).data == b"post-quantum"
            assert await ben.history() == [open, far]

    run(main)


def test_there_is_no_node_where_none_answers() -> None:
    async def main() -> None:
        with pytest.raises(gambeson.Unreachable):
            async with Agent(*identity(), "http://127.0.0.1:1"):
                pass

    run(main)


@pytest.mark.parametrize(
    ("how", "kind"), [({"preset": "none"}, gambeson.UsageError), ({"service": "a/b"}, gambeson.UsageError)]
)
def test_what_cannot_be_meant_is_refused(how: dict[str, Any], kind: type[Exception]) -> None:
    async def main() -> None:
        with pytest.raises(kind):
            async with Agent(*identity(), Hub(), **how):
                pass

    run(main)


def test_a_stock_node_gets_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GAMBESON_PASSPHRASE", "GAMBESON_NEW_PASSPHRASE", "GAMBESON_SLIM_AUTH", "GAMBESON_OTHER"):
        monkeypatch.setenv(name, "hush")
    environment = importlib.import_module("gambeson.channel.__main__").environment()
    assert [name for name, value in environment.items() if value == "hush"] == ["GAMBESON_OTHER"]
    assert "PATH" in environment
