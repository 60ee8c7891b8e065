"""Connections between two members of a channel: whole messages, in order, and why they end."""

from __future__ import annotations

import asyncio
import os

import pytest
from channels import channel, run

import gambeson
from gambeson.channel import Channel, Connection
from gambeson.channel._connections import _EACH, MAX_MESSAGE, MAX_UNREAD, PART, Switchboard
from gambeson.channel._envelope import MARK, Envelope, Kind, plain, unwrap
from gambeson.channel._inbox import Demand


async def echo(channel: Channel, **how: object) -> None:
    async def one(connection: Connection) -> None:
        async for message in connection:
            await connection.send(message)

    async with channel.listen("echo", **how) as listener, asyncio.TaskGroup() as tasks:  # type: ignore[arg-type]
        async for connection in listener:
            tasks.create_task(one(connection))


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
        # Two ends without a channel between them: what is counted is the same, and nothing is encrypted.
        async def to_ada(data: bytes) -> None:
            assert ada.came("ben", data) is None

        async def to_ben(data: bytes) -> None:
            assert ben.came("ada", data) is None

        ada, ben = Switchboard("ada", to_ben, Demand()), Switchboard("ben", to_ada, Demand())
        listener = ben.listen("echo", None, 1, MAX_MESSAGE)
        connection = await ada.connect("ben", "echo", None, MAX_MESSAGE)
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
