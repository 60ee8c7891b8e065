"""Connections between two members of a channel."""

from __future__ import annotations

import asyncio
import os
import re
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from logging import getLogger
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gambeson._inputs import buffer
from gambeson.channel._envelope import Envelope, Kind, unwrap
from gambeson.channel._inbox import Demand, Inbox
from gambeson.errors import ChannelError, ChannelOver, DeadlineExceeded, NotConnected, of_channel

if TYPE_CHECKING:
    from typing_extensions import Buffer

PART = 45 * 1024
"""Bytes of a connection's message that one message of the channel carries, which has at most 48 KiB with all that stands around them."""

MAX_MESSAGE = 4 * 1024 * 1024
"""The largest message of a connection, in bytes, unless its two ends say otherwise."""

MAX_UNREAD = 16 * 1024 * 1024
"""What may wait in a connection that is not read, in bytes, before it is closed, with what has come of a message that is not whole; or two
of the largest messages, if that is more. In all connections of a member to one listener four times as much may wait, and in all that it
has sixteen times."""

BACKLOG = 16
"""How many connections may wait for who listens, unless it says otherwise."""

MAX_CONNECTIONS = 256
"""How many connections a listener has at once, unless it says otherwise."""

MAX_PER_MEMBER = 16
"""How many of these one member has."""

IDLE = 600.0
"""After how many seconds of silence a listener asks whether the other end is there, unless it says otherwise."""

_EACH = 256
"""What a message that waits costs besides its bytes."""

_Key = tuple[str, bytes]
_log = getLogger(__name__)


class Connection:
    """Messages in both directions between this member and `peer`, in order, each whole: what the other members can read and do not
    see, for the channel is theirs as well.

        async with await channel.connect(did, "echo") as connection:
            await connection.send(b"hello")
            print(await connection.receive())
    """

    peer: str
    """The DID of the other end."""

    protocol: str
    """What is spoken, as who connected named it."""

    def __init__(self, switchboard: Switchboard, peer: str, id: bytes, protocol: str, max_message: int) -> None:
        self.peer = peer
        self.protocol = protocol
        self._switchboard = switchboard
        self._id = id
        self._max = max_message
        self._inbox: Inbox[bytes] = Inbox(switchboard.demand)
        self._begun = bytearray()
        self._unread = 0
        self._sent = 0
        self._taken = 0
        self._order = asyncio.Lock()
        self._listener: Listener | None = None
        self._watch: _Watch | None = None

    @property
    def closed(self) -> bool:
        """Whether one end closed it, or the other end is gone."""
        return self._inbox.ended

    async def send(self, data: Buffer) -> None:
        """Sends a message. One that was begun goes out whole, even if the caller is cancelled meanwhile."""
        message = buffer(data)
        if len(message) > self._max:
            raise of_channel("message-too-large", f"a message of {len(message)} bytes; this connection takes {self._max}")
        await self._switchboard.unbroken(self._send(message))

    async def _send(self, data: bytes) -> None:
        async with self._order:
            parts = [data[start : start + PART] for start in range(0, len(data), PART)] or [b""]
            for left, part in zip(range(len(parts) - 1, -1, -1), parts):
                self._inbox.check()
                number, self._sent = self._sent, self._sent + 1
                kind = Kind.PART if left else Kind.WHOLE
                await self._switchboard.say(kind, self.peer, self._id, number.to_bytes(8, "big") + part)

    async def receive(self) -> bytes:
        """The next message. Cancelling it loses none; at the end it raises `NotConnected`."""
        data = await self._inbox.take()
        self._unread -= len(data) + _EACH
        return data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """All messages until one end closes it. Every other end is raised."""
        while True:
            try:
                data = await self.receive()
            except NotConnected as end:
                if end.code == "done":
                    return
                raise
            yield data

    async def close(self, reason: str = "done") -> None:
        """Closes both directions, behind what was sent. `reason` is the `code` that the other end sees."""
        if self._switchboard.forget(self, reason):
            await self._switchboard.unbroken(self._close(reason))

    async def _close(self, reason: str) -> None:
        # Who is in the channel no more has nobody to tell.
        with suppress(ChannelOver):
            async with self._order:
                await self._switchboard.say(Kind.CLOSE, self.peer, self._id, reason.encode())

    def _came(self, kind: Kind, body: bytes) -> str | None:
        """Takes a part; what it returns is why the connection has to be closed."""
        number, part = int.from_bytes(body[:8], "big"), body[8:]
        if len(body) < 8 or number != self._taken:
            return "gap"
        self._taken += 1
        self._begun += part
        if len(self._begun) > self._max:
            return "message-too-large"
        whole = kind is Kind.WHOLE
        if self._held + whole * _EACH > _room(self._max) and len(self._inbox):
            return "unread"
        if self._listener is not None and self._listener._crowded(self.peer):
            return "unread"
        if whole:
            self._unread += len(self._begun) + _EACH
            self._inbox.put(bytes(self._begun))
            self._begun.clear()
        return None

    @property
    def _held(self) -> int:
        """What waits here, in bytes."""
        return self._unread + len(self._begun)

    def _over(self, error: Callable[[], Exception]) -> None:
        """Nothing more comes."""
        self._inbox.end(error)
        self._begun.clear()
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Connection({self.protocol!r} with {self.peer}{', closed' if self.closed else ''})"


class Listener:
    """Connections that other members open for a protocol.

    async with channel.listen("echo") as listener:
        async for connection in listener:
            async for message in connection:
                await connection.send(message)
    """

    def __init__(self, switchboard: Switchboard, protocol: str, terms: Terms) -> None:
        self.protocol = protocol
        self._switchboard = switchboard
        self._terms = terms
        self._inbox: Inbox[Connection] = Inbox(switchboard.demand)
        # Also those that have ended, as long as somebody has them.
        self._taken: weakref.WeakSet[Connection] = weakref.WeakSet()

    async def accept(self) -> Connection:
        """The next connection. Cancelling it loses none."""
        return await self._inbox.take()

    async def __aiter__(self) -> AsyncIterator[Connection]:
        while True:
            yield await self.accept()

    def _came(self, peer: str, id: bytes) -> Connection | str:
        """A new connection, or why there is none."""
        terms = self._terms
        try:
            admitted = terms.admit is None or terms.admit(peer)
        except Exception:
            _log.exception("`admit` failed, and %s was not admitted", peer)
            admitted = False
        if not admitted:
            return "not-permitted"
        if len(self._inbox) >= terms.backlog:
            return "busy"
        # One that has ended is there until what came before is read.
        present = [it for it in self._taken if len(it._inbox) or not it.closed]
        of_member = [it for it in present if it.peer == peer]
        for some, most in ((of_member, terms.max_per_member), (present, terms.max_connections)):
            if len(some) >= most:
                self._ask_one(some)
                return "busy"
        connection = Connection(self._switchboard, peer, id, self.protocol, terms.max_message)
        connection._listener = self
        if terms.idle is not None:
            connection._watch = _Watch(connection, terms.idle)
        self._taken.add(connection)
        self._inbox.put(connection)
        return connection

    def _ask_one(self, connections: list[Connection]) -> None:
        """Asks the other end that has been silent for the longest time: if it is gone, who comes next finds room."""
        watches = [it._watch for it in connections if it._watch is not None]
        if watches:
            min(watches, key=lambda it: it.heard).ask()

    def _crowded(self, peer: str) -> bool:
        """Whether too much waits in all connections of a member, or of everybody."""
        room = _room(self._terms.max_message)
        of_member = sum(it._held for it in self._taken if it.peer == peer)
        return of_member > 4 * room or sum(it._held for it in self._taken) > 16 * room

    async def close(self) -> None:
        """Takes no more connections; those that were taken go on."""
        self._switchboard.unlisten(self)
        self._inbox.end(lambda: NotConnected("done", "this listener was closed"))
        await self._switchboard.unbroken(self._turn_away())

    async def _turn_away(self) -> None:
        while len(self._inbox):
            await (await self._inbox.take()).close("no-service")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a listener takes connections: `Channel.listen`."""

    admit: Callable[[str], bool] | None = None
    backlog: int = BACKLOG
    max_message: int = MAX_MESSAGE
    max_connections: int = MAX_CONNECTIONS
    max_per_member: int = MAX_PER_MEMBER
    idle: float | None = IDLE


class _Watch:
    """Asks an end that is silent whether it is there, and closes the connection if there is no answer."""

    def __init__(self, connection: Connection, idle: float) -> None:
        self._connection = connection
        self._idle = idle
        self._loop = asyncio.get_running_loop()
        self.heard = self._loop.time()
        self._asked: float | None = None
        self._timer = self._loop.call_later(idle, self._look)

    def hear(self) -> None:
        self.heard = self._loop.time()
        self._asked = None

    def ask(self) -> None:
        if self._asked is None:
            self._asked = self._loop.time()
            self._connection._switchboard._answer(Kind.ASK, self._connection.peer, self._connection._id, b"")

    def stop(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        last = self.heard if self._asked is None else self._asked
        left = last + self._idle - self._loop.time()
        if left <= 0:
            if self._asked is not None:
                self._connection._switchboard._break(self._connection, "silent")
                return
            self.ask()
            left = self._idle
        self._timer = self._loop.call_later(left, self._look)


class Switchboard:
    """Sorts what arrives on a channel: for the application, or for a connection."""

    def __init__(self, me: str, carry: Callable[[bytes], Awaitable[None]], demand: Demand) -> None:
        self.demand = demand
        self._me = me
        self._carry = carry
        self._opening: dict[_Key, asyncio.Future[None]] = {}
        self._connections: dict[_Key, Connection] = {}
        self._listeners: dict[str, Listener] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def say(self, kind: Kind, to: str, id: bytes, body: bytes) -> None:
        await self._carry(Envelope(kind, to, id, body).to_bytes())

    async def unbroken(self, work: Coroutine[Any, Any, None]) -> None:
        """Awaits what goes on when the caller is cancelled."""
        await asyncio.shield(self._begin(work))

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        # Who was cancelled meanwhile looks at no exception, and asyncio need not say so.
        if not task.cancelled():
            task.exception()

    async def settle(self) -> None:
        """Returns when everything that was begun is said."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def _answer(self, kind: Kind, to: str, id: bytes, body: bytes) -> None:
        """Says what nobody waits for: that it cannot be said is found by whom it concerns."""

        async def quietly() -> None:
            try:
                await self.say(kind, to, id, body)
            except ChannelError:
                pass

        self._begin(quietly())

    async def connect(self, to: str, protocol: str, timeout: float | None, max_message: int) -> Connection:
        key = (to, os.urandom(16))
        connection = Connection(self, to, key[1], protocol, max_message)
        accepted = self._opening[key] = asyncio.get_running_loop().create_future()
        # The other end may speak first, and its first words follow its acceptance at once.
        self._connections[key] = connection
        try:
            async with Deadline(timeout, f"{to} did not take the connection"):
                await self.say(Kind.OPEN, *key, protocol.encode())
                with self.demand:
                    await accepted
        except BaseException:
            if self._connections.pop(key, None) is not None:
                self._answer(Kind.CLOSE, *key, b"done")
            raise
        finally:
            del self._opening[key]
        return connection

    def listen(self, protocol: str, terms: Terms) -> Listener:
        if protocol in self._listeners:
            raise of_channel("usage", f"something listens for {protocol!r} on this channel already")
        listener = self._listeners[protocol] = Listener(self, protocol, terms)
        # Whoever connects is answered, also while the last one is being talked to.
        self.demand.__enter__()
        return listener

    def unlisten(self, listener: Listener) -> None:
        if self._listeners.get(listener.protocol) is listener:
            del self._listeners[listener.protocol]
            self.demand.__exit__()

    def forget(self, connection: Connection, reason: str) -> bool:
        """Whether the connection was open until now."""
        connection._over(lambda: NotConnected(reason, "this end closed the connection"))
        return self._connections.pop((connection.peer, connection._id), None) is not None

    def came(self, sender: str, data: bytes) -> bytes | None:
        """Bytes for the application, or nothing if they were for something else."""
        match unwrap(data):
            case bytes(plain):
                return plain
            case Envelope(kind, to, id, body) if to == self._me:
                self._deliver(kind, (sender, id), body)
        return None

    def _deliver(self, kind: Kind, key: _Key, body: bytes) -> None:
        match kind:
            case Kind.OPEN:
                self._open(key, _text(body))
            case Kind.ACCEPT:
                accepted = self._opening.get(key)
                if accepted is not None and not accepted.done():
                    accepted.set_result(None)
            case Kind.PART | Kind.WHOLE | Kind.ASK | Kind.HERE:
                self._hear(kind, key, body)
            case Kind.CLOSE:
                self._end(key, _word(body), f"{key[0]} closed the connection")

    def _hear(self, kind: Kind, key: _Key, body: bytes) -> None:
        """A word on a connection."""
        connection = self._connections.get(key)
        if connection is None:
            # Nobody asked who is here.
            if kind is not Kind.HERE:
                self._answer(Kind.CLOSE, *key, b"unknown-connection")
            return
        if connection._watch is not None:
            connection._watch.hear()
        if kind is Kind.ASK:
            self._answer(Kind.HERE, *key, b"")
        elif kind is not Kind.HERE and (why := connection._came(kind, body)) is not None:
            self._break(connection, why)

    def _break(self, connection: Connection, why: str) -> None:
        """Ends a connection from here, and says why."""
        key = (connection.peer, connection._id)
        self._end(key, why, f"the connection with {key[0]} could not go on")
        self._answer(Kind.CLOSE, *key, why.encode())

    def _open(self, key: _Key, protocol: str) -> None:
        if key in self._connections:
            return
        listener = self._listeners.get(protocol)
        came = "no-service" if listener is None else listener._came(*key)
        if isinstance(came, str):
            self._answer(Kind.CLOSE, *key, came.encode())
        else:
            self._connections[key] = came
            self._answer(Kind.ACCEPT, *key, b"")

    def _end(self, key: _Key, code: str, detail: str) -> None:
        opening = self._opening.get(key)
        if opening is not None and not opening.done():
            opening.set_exception(NotConnected(code, detail))
        connection = self._connections.pop(key, None)
        if connection is not None:
            connection._over(lambda: NotConnected(code, detail))

    def left(self, did: str) -> None:
        """A member is one no more: who waits for it need not."""
        self._all(lambda peer: peer == did, "peer-left", f"{did} is in the channel no more")

    def end(self, code: str, detail: str) -> None:
        """The channel is closed here."""
        self._all(lambda peer: True, code, detail)
        for listener in list(self._listeners.values()):
            self.unlisten(listener)
            listener._inbox.end(lambda: NotConnected(code, detail))

    def _all(self, which: Callable[[str], bool], code: str, detail: str) -> None:
        for key in [key for key in self._connections if which(key[0])]:
            self._end(key, code, detail)


class Deadline:
    """As `asyncio.timeout`, with the exception of this package."""

    def __init__(self, seconds: float | None, what: str) -> None:
        self._timeout = asyncio.timeout(seconds)
        self._what = f"{what} within {seconds} seconds"

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise DeadlineExceeded("deadline", self._what) from None


def _room(max_message: int) -> int:
    """What may wait in a connection."""
    return max(MAX_UNREAD, 2 * max_message)


def _text(body: bytes) -> str:
    """A peer's words, no longer than a line."""
    return body[:200].decode(errors="replace")


def _word(body: bytes) -> str:
    """The word with which a peer closes, if it is one."""
    word = _text(body)
    return word if re.fullmatch("[a-z0-9-]{1,64}", word) else "closed"
