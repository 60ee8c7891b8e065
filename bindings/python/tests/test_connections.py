"""Connections between two members of a channel: whole messages, in order, and why they end."""

from __future__ import annotations

import asyncio
import os

import pytest
from channels import channel, run, until

import gambeson
from gambeson.channel import Channel, Connection
from gambeson.channel import _connections as connections
from gambeson.channel._connections import _EACH, MAX_MESSAGE, MAX_UNREAD, PART, Switchboard, Terms
from gambeson.channel._envelope import MARK, Envelope, Kind, plain, unwrap
from gambeson.channel._inbox import Demand


async def echo(channel: Channel, **how: object) -> None:
    async def one(connection: Connection) -> None:
        async for message in connection:
            await connection.send(message)

    async with channel.listen("echo", **how) as listener, asyncio.TaskGroup() as tasks:  # type: ignore[arg-type]
        async for connection in listener:
            tasks.create_task(one(connection))


class Line:
    """Ends without a channel between them: what is counted is the same, and nothing is encrypted."""

    def __init__(self, *names: str) -> None:
        self.ends: dict[str, Switchboard] = {}
        self.lost: set[str] = set()
        self.said: list[Envelope] = []
        for name in names:
            self.comes(name)

    def comes(self, name: str) -> Switchboard:
        """An end; one that was there before is gone, with all that it knew."""

        async def carry(data: bytes) -> None:
            word = unwrap(data)
            assert isinstance(word, Envelope)
            self.said.append(word)
            if word.to not in self.lost:
                assert self.ends[word.to].came(name, data) is None

        self.ends[name] = Switchboard(name, carry, Demand())
        return self.ends[name]

    async def connect(self, name: str) -> Connection:
        return await self.ends[name].connect("ben", "echo", None, MAX_MESSAGE)

    async def say(self, kind: Kind, connection: Connection, number: int, data: bytes) -> None:
        word = connection._switchboard.say
        await word(kind, connection.peer, connection._id, number.to_bytes(8, "big") + data)


async def ended(work: object, code: str) -> None:
    with pytest.raises(gambeson.NotConnected) as end:
        await work  # type: ignore[misc]
    assert end.value.code == code, str(end.value)


def test_several_connections_at_once_keep_their_order_and_their_messages_apart() -> None:
    async def main() -> None:
        async with channel(3) as (ada, ben, cem):
            serving = asyncio.create_task(echo(ben))

            async def talk(member: Channel, seed: int) -> None:
                async with await member.connect(ben.did, "echo") as connection:
                    said = [bytes([seed]) * size for size in (0, 1, PART, PART + 1, 3 * PART)]
                    for words in said:
                        await connection.send(words)
                    assert [await connection.receive() for _ in said] == said

            await asyncio.gather(*(talk(it, seed) for seed, it in enumerate((ada, cem, ada, cem))))
            # And the channel itself goes on beside them.
            await ada.send(b"to all")
            assert (await cem.receive()).data == (await ben.receive()).data == b"to all"
            serving.cancel()

    run(main)


def test_who_is_not_served_is_told_why() -> None:
    async def main() -> None:
        async with channel(3) as (ada, ben, cem):
            hearing = asyncio.create_task(ben.receive())
            await ended(ada.connect(ben.did, "echo"), "no-service")
            async with ben.listen("echo", admit=lambda did: did == cem.did, backlog=1):
                await ended(ada.connect(ben.did, "echo"), "not-permitted")
                waiting = await cem.connect(ben.did, "echo")
                await ended(cem.connect(ben.did, "echo"), "busy")
                with pytest.raises(gambeson.UsageError):
                    ben.listen("echo")
            # What nobody took is closed with the listener.
            await ended(waiting.receive(), "no-service")
            with pytest.raises(gambeson.UsageError):
                await ada.connect(ada.did, "echo")
            hearing.cancel()

    run(main)


def test_a_listener_whose_close_is_cancelled_tells_everybody_who_waited() -> None:
    async def main() -> None:
        line = Line("ada", "ben")
        ben = line.ends["ben"]
        listener = ben.listen("echo", Terms())
        waiting = [await line.connect("ada") for _ in range(3)]
        closing = asyncio.create_task(listener.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await ben.settle()
        assert [it.closed for it in waiting] == [True] * 3
        await ended(waiting[2].receive(), "no-service")

    run(main)


def test_a_connection_that_nobody_answers_has_a_deadline() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            with pytest.raises(gambeson.DeadlineExceeded):
                await ada.connect(ben.did, "echo", timeout=0.05)

    run(main)


def test_a_connection_ends_in_order_with_a_word_or_with_its_member() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            async with ben.listen("echo") as listener:
                first = await ada.connect(ben.did, "echo")
                async with await listener.accept() as other:
                    await other.send(b"last words")
                assert [words async for words in first] == [b"last words"]
                await ended(first.receive(), "done")
                await ended(first.send(b"too late"), "done")

                second = await ada.connect(ben.did, "echo")
                await (await listener.accept()).close("full-up")
                await ended(second.receive(), "full-up")

                third = await ada.connect(ben.did, "echo")
                await (await listener.accept()).close("Not A Word!")
                await ended(third.receive(), "closed")

                fourth = await ada.connect(ben.did, "echo")
                receiving = asyncio.create_task(fourth.receive())
                await ada.remove(ben.did)
                await ended(receiving, "peer-left")

    run(main)


def test_a_cancelled_receive_loses_nothing_and_a_cancelled_send_goes_out_whole() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            serving = asyncio.create_task(echo(ben))
            async with await ada.connect(ben.did, "echo") as connection:
                words = os.urandom(4 * PART)
                sending = asyncio.create_task(connection.send(words))
                await asyncio.sleep(0)
                sending.cancel()
                await connection.send(b"next")
                received: list[bytes] = []
                while len(received) < 2:
                    try:
                        async with asyncio.timeout(0.002):
                            received.append(await connection.receive())
                    except TimeoutError:
                        pass
                assert received == [words, b"next"]
            serving.cancel()

    run(main)


def test_messages_above_the_limit_of_either_end_are_refused() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            serving = asyncio.create_task(echo(ben, max_message=2 * PART))
            async with await ada.connect(ben.did, "echo", max_message=PART) as connection:
                with pytest.raises(gambeson.ChannelError) as refused:
                    await connection.send(bytes(PART + 1))
                assert refused.value.code == "message-too-large"
                await connection.send(b"still open")
                assert await connection.receive() == b"still open"
            async with await ada.connect(ben.did, "echo") as connection:
                await connection.send(bytes(3 * PART))
                await ended(connection.receive(), "message-too-large")
            serving.cancel()

    run(main)


def test_a_connection_that_nobody_reads_is_closed_above_its_limit() -> None:
    async def main() -> None:
        line = Line("ada", "ben")
        ben = line.ends["ben"]
        listener = ben.listen("echo", Terms())
        connection = await line.connect("ada")
        other = await listener.accept()
        quarter = bytes(MAX_UNREAD // 4 - _EACH)
        for _ in range(4):
            await connection.send(quarter)
        # It is full now; what is read makes room again.
        assert await other.receive() == quarter
        await connection.send(quarter)
        await ben.settle()
        assert not other.closed
        await connection.send(b"")
        await ended(connection.receive(), "unread")
        assert [await other.receive() for _ in range(4)] == [quarter] * 4
        await ended(other.receive(), "unread")

    run(main)


def test_a_member_and_all_together_have_so_many_connections_and_who_comes_when_one_ended_finds_room() -> None:
    async def main() -> None:
        line = Line("ada", "ben", "cem", "dan")
        async with line.ends["ben"].listen("echo", Terms(max_connections=3, max_per_member=2)) as listener:
            taken = []
            for name in ("ada", "ada", "cem"):
                connection = await line.connect(name)
                taken.append((connection, await listener.accept()))
            await ended(line.connect("ada"), "busy")
            await ended(line.connect("dan"), "busy")
            # What was said before the end is still to be read, and takes the room of a connection until it is.
            await taken[0][0].send(b"last words")
            await taken[0][0].close()
            await ended(line.connect("dan"), "busy")
            assert await taken[0][1].receive() == b"last words"
            await line.connect("dan")
            await ended(line.connect("cem"), "busy")

    run(main)


def test_who_opens_and_closes_connections_that_nobody_reads_has_no_more_of_them() -> None:
    async def main() -> None:
        line = Line("ada", "ben")
        async with line.ends["ben"].listen("echo", Terms(max_per_member=4)) as listener:
            reading = []
            for _ in range(4):
                connection = await line.connect("ada")
                await connection.send(b"what nobody reads yet")
                await connection.close()
                reading.append(await listener.accept())
            await ended(line.connect("ada"), "busy")

    run(main)


def test_what_has_come_of_a_message_that_is_not_whole_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr(connections, "MAX_UNREAD", 4 * PART)
        line = Line("ada", "ben", "cem")
        async with line.ends["ben"].listen("echo", Terms(max_message=2 * PART)) as listener:
            connection = await line.connect("ada")
            other = await listener.accept()
            for _ in range(2):
                await connection.send(bytes(2 * PART - _EACH))
            await line.say(Kind.PART, connection, 4, b"x")
            await ended(connection.receive(), "unread")
            assert [len(await other.receive()) for _ in range(2)] == [2 * PART - _EACH] * 2
            await ended(other.receive(), "unread")

            # Half a message in each of many connections: no connection has too much, and the member has.
            begun = [await line.connect("ada") for _ in range(9)]
            taken = [await listener.accept() for _ in begun]
            for connection in begun:
                for number in range(2):
                    await line.say(Kind.PART, connection, number, bytes(PART))
            await line.ends["ben"].settle()
            assert [it.closed for it in taken] == [False] * 8 + [True]
            await ended(begun[-1].receive(), "unread")
            # Another member is none the worse, and what is over holds nothing.
            others = await line.connect("cem")
            await others.send(bytes(2 * PART))
            assert len(await (await listener.accept()).receive()) == 2 * PART
            await begun[0].close()
            assert taken[0]._held == taken[8]._held == 0

    run(main)


def test_parts_of_nothing_cost_nothing() -> None:
    async def main() -> None:
        line = Line("ada", "ben")
        async with line.ends["ben"].listen("echo", Terms()) as listener:
            connection = await line.connect("ada")
            other = await listener.accept()
            for number in range(1000):
                await line.say(Kind.PART, connection, number, b"")
            assert other._begun.__sizeof__() < 1000
            await line.say(Kind.WHOLE, connection, 1000, b"x")
            assert await other.receive() == b"x"

    run(main)


def test_an_end_that_is_gone_is_asked_and_its_connection_ends_while_a_silent_one_stays() -> None:
    async def main() -> None:
        line = Line("ada", "ben", "cem")
        async with line.ends["ben"].listen("echo", Terms(idle=0.25)) as listener:
            async with await line.connect("ada"):
                gone = await listener.accept()
                there = await line.connect("cem")
                silent = await listener.accept()
                line.said.clear()
                line.lost.add("ada")  # Its process is killed: no word comes from it, and none gets there.
                await ended(gone.receive(), "silent")
                asked = [word.to for word in line.said if word.kind is Kind.ASK]
                assert asked.count("ada") == 1 and "cem" in asked
                await asyncio.sleep(1.5)
                assert not silent.closed
                await there.send(b"after a while")
                assert await silent.receive() == b"after a while"
                assert len(line.ends["ben"]._connections) == 1

        async with line.ends["ben"].listen("echo", Terms(idle=None)) as listener:
            await line.connect("cem")
            patient = await listener.accept()
            line.lost.add("cem")
            await asyncio.sleep(0.2)
            assert not patient.closed

    run(main)


def test_who_comes_again_after_a_crash_finds_the_room_of_the_connections_that_it_had() -> None:
    async def main() -> None:
        line = Line("ada", "ben")
        async with line.ends["ben"].listen("echo", Terms(max_per_member=2)) as listener:
            await line.connect("ada")
            await line.connect("ada")
            first, second = await listener.accept(), await listener.accept()
            line.comes("ada")
            await ended(line.connect("ada"), "busy")
            # It was asked for the connection that it was silent on for longest, and knows none.
            await until(lambda: first.closed)
            await ended(first.receive(), "unknown-connection")
            await line.connect("ada")
            assert not second.closed

    run(main)


def test_parts_that_are_missing_repeated_or_of_no_connection_end_it() -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            async with ben.listen("echo") as listener:
                for numbers, code in (([1], "gap"), ([0, 0], "gap")):
                    connection = await ada.connect(ben.did, "echo")
                    other = await listener.accept()
                    for number in numbers:
                        word = Envelope(Kind.WHOLE, ben.did, connection._id, number.to_bytes(8, "big") + b"x")
                        await ada._native.send(word.to_bytes())
                    await ended(connection.receive(), code)
                    if len(numbers) == 2:
                        assert await other.receive() == b"x"
                    await ended(other.receive(), code)
                connection = await ada.connect(ben.did, "echo")
                await ada._native.send(Envelope(Kind.CLOSE, ben.did, connection._id, b"done").to_bytes())
                await ended((await listener.accept()).receive(), "done")
                await connection.send(b"into the void")
                await ended(connection.receive(), "unknown-connection")

    run(main)


def test_envelopes_are_read_as_they_were_written_and_nothing_else_is() -> None:
    word = Envelope(Kind.OPEN, "did:x:ada", bytes(range(16)), b"echo")
    assert unwrap(word.to_bytes()) == word
    for data in (b"", b"hello", MARK[:-1], MARK, MARK + b"\0", MARK * 2):
        assert unwrap(plain(data)) == data
    whole = word.to_bytes()
    for length in range(len(MARK), len(MARK) + 3 + len("did:x:ada") + 16):
        assert unwrap(whole[:length]) is None, length
    assert unwrap(MARK + b"\x09" + whole[len(MARK) + 1 :]) is None
    assert unwrap(MARK + b"\1\0\2\xff\xff" + bytes(16)) is None
    assert unwrap(MARK + b"\1" + (3000).to_bytes(2, "big") + b"a" * 3000 + bytes(16)) is None
