"""Bytes and lists as arguments: no constructor turns a number into zeros, or a text into its characters."""

from __future__ import annotations

import array
import asyncio
import ctypes
from typing import Any

import pytest
from channels import channel, run
from test_asgi_targets import ORIGIN, ask
from test_http import World, echo

import gambeson
from gambeson import Agent, mldsa, mlkem, tlog
from gambeson.asgi import SignedRequests
from gambeson.mcp import ServerMiddleware, Signer

NO_BYTES: list[Any] = [5, True, 10**9, "five", None, [1, 2, 3], (1, 2), range(3), {1: 2}, object()]


class Bytesish:
    """An object that `bytes` takes, and that is no buffer."""

    def __bytes__(self) -> bytes:
        return b"five"


@pytest.mark.parametrize("data", [*NO_BYTES, Bytesish()], ids=lambda it: type(it).__name__)
def test_a_channel_says_nothing_that_is_no_bytes(data: Any) -> None:
    async def main() -> None:
        async with channel(2) as (ada, ben):
            for say in (ada.send, ada.request):
                with pytest.raises(TypeError):
                    await say(data)
            asking = asyncio.create_task(ben.request(b"what?", timeout=10))
            question = await ada.receive()
            with pytest.raises(TypeError):
                await question.reply(data)
            await question.reply(b"yes")
            assert (await asking).data == b"yes"
            listener = ben.listen("echo")
            async with await ada.connect(ben.did, "echo") as connection:
                with pytest.raises(TypeError):
                    await connection.send(data)
                other = await listener.accept()
                await connection.send(b"good")
                assert await other.receive() == b"good"
            await ada.send(b"good")
            assert (await ben.receive()).data == b"good"

    run(main)


def test_every_buffer_is_its_bytes() -> None:
    """As `memoryview` has them, in a channel and in the primitives."""
    numbers = array.array("H", [1, 2, 515])
    kinds: list[Any] = [
        b"five",
        bytearray(b"five"),
        memoryview(b"f_i_v_e_")[::2],
        numbers,
        memoryview(numbers)[::2],
        ctypes.create_string_buffer(b"five"),
        (ctypes.c_uint32 * 2)(7, 8),
    ]

    async def main() -> None:
        async with channel(2) as (ada, ben):
            for data in kinds:
                await ada.send(data)
                assert (await ben.receive()).data == memoryview(data).tobytes()

    run(main)
    key = mldsa.MLDSA44PrivateKey.generate()
    for data in kinds:
        key.public_key().verify(key.sign(data), memoryview(data).tobytes())


@pytest.mark.parametrize("data", [*NO_BYTES, Bytesish()], ids=lambda it: type(it).__name__)
def test_the_primitives_and_agents_take_nothing_that_is_no_bytes(data: Any) -> None:
    key, kem, agent = mldsa.MLDSA44PrivateKey.generate(), mlkem.MLKEM512PrivateKey.generate(), Agent.generate()
    calls: list[Any] = [
        key.sign,
        mldsa.MLDSA44PrivateKey.from_seed_bytes,
        kem.decapsulate,
        Agent.from_seed_bytes,
        lambda it: agent.sign(it, b"context"),
        lambda it: agent.sign(b"data", it),
        gambeson.object_id,
        gambeson.ObjectStore().put,
        tlog.leaf_hash,
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call(data)


def test_a_text_is_no_list_of_its_characters() -> None:
    """`frozenset("/health")` has "/": nobody would have to sign what asks for it."""
    world = World()
    asgi: dict[str, Any] = {"origin": ORIGIN, "resolver": world.trust}
    for name in ("exempt", "required"):
        with pytest.raises(TypeError, match=name):
            SignedRequests(echo, **(asgi | {name: "/health"}))
    app: Any = SignedRequests(echo, **asgi, exempt=["/health"])
    assert ask(app, {"headers": [], "path": "/health"}) == 200
    assert ask(app, {"headers": [], "path": "/"}) == 401
    agent = Agent.generate()
    for more in ({"methods": "tools/call"}, {"chain": "e30.e30.e30"}, {"approvals": "e30.e30.e30"}):
        with pytest.raises(TypeError, match=next(iter(more))):
            Signer(agent, audience=world.agent.did, **more)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="methods"):
        ServerMiddleware(audience="did:web:bank.example", resolver=world.trust, methods="tools/call")

    async def main() -> None:
        async with channel(1) as (ada,):
            with pytest.raises(TypeError, match="delegation"):
                await ada.invite(agent.did, delegation="e30.e30.e30")

    run(main)
