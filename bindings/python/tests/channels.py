"""Agents on a link, in one channel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import gambeson
from gambeson.channel import Agent, Channel, Hub


def identity() -> tuple[gambeson.Agent, gambeson.CardLog]:
    """An agent whose card lists a key for channels."""
    agent = gambeson.Agent.generate()
    return agent, agent.first_card(valid_for=3600, groups=["group-ml-dsa-65"])


@asynccontextmanager
async def agents(count: int, link: str | Sequence[str] | Hub | None = None) -> AsyncIterator[list[Agent]]:
    link = Hub() if link is None else link
    async with AsyncExitStack() as stack:
        them = [Agent(*identity(), link) for _ in range(count)]
        await asyncio.gather(*(stack.enter_async_context(agent) for agent in them))
        yield them


@asynccontextmanager
async def channel(
    count: int, link: str | Sequence[str] | Hub | None = None, **how: Any
) -> AsyncIterator[list[Channel]]:
    """A channel of so many members, each in its own eyes; the first is its owner."""
    async with agents(count, link) as them:
        first = await them[0].create(**how)
        if count > 1:
            await first.invite(*(agent.did for agent in them[1:]))
        others = await asyncio.gather(*(agent.join(by=them[0].did) for agent in them[1:]))
        yield [first, *others]


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a test in a loop of its own; one that hangs fails after five minutes."""

    async def bounded() -> None:
        async with asyncio.timeout(300):
            await test()

    asyncio.run(bounded())


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Waits until something holds that is known to come."""
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.01)
