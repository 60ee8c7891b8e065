"""A queue that a cancelled reader loses nothing of."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Demand:
    """Whether anybody waits for what the channel brings: nothing is taken from it otherwise."""

    def __init__(self) -> None:
        self._waiting = 0
        self._some = asyncio.Event()

    def __enter__(self) -> None:
        self._waiting += 1
        self._some.set()

    def __exit__(self, *_error: object) -> None:
        self._waiting -= 1
        if not self._waiting:
            self._some.clear()

    async def wait(self) -> None:
        """Returns when somebody waits."""
        await self._some.wait()


class Inbox(Generic[T]):
    """Things in their order, and then an end. It belongs to one event loop."""

    def __init__(self, demand: Demand) -> None:
        self._demand = demand
        self._items: deque[T] = deque()
        self._end: Callable[[], Exception] | None = None
        self._changed = asyncio.Event()

    def put(self, item: T) -> None:
        """One more, unless the end came before."""
        if self._end is None:
            self._items.append(item)
            self._changed.set()

    def end(self, error: Callable[[], Exception]) -> None:
        """Nothing more comes: who takes gets what is here, and then the error. Only the first end counts."""
        if self._end is None:
            self._end = error
            self._changed.set()

    @property
    def ended(self) -> bool:
        """Whether the end came, even if something is left to take."""
        return self._end is not None

    def check(self) -> None:
        """Raises the end, if it came."""
        if self._end is not None:
            raise self._end()

    def drop(self) -> T:
        """Takes the oldest away, for there is too much."""
        return self._items.popleft()

    def empty(self) -> list[T]:
        """Takes all that is here."""
        items = list(self._items)
        self._items.clear()
        return items

    def __len__(self) -> int:
        return len(self._items)

    async def take(self) -> T:
        """The next. It leaves the queue in the same step of the event loop in which it is returned: cancelling loses none."""
        while not self._items:
            self.check()
            self._changed.clear()
            with self._demand:
                await self._changed.wait()
        return self._items.popleft()
