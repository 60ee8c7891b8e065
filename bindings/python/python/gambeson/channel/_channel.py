"""A channel, as a member sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from logging import getLogger
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from gambeson._inputs import buffer, texts
from gambeson.channel._connections import (
    BACKLOG,
    IDLE,
    MAX_CONNECTIONS,
    MAX_MESSAGE,
    MAX_PER_MEMBER,
    Connection,
    Listener,
    Switchboard,
    Terms,
)
from gambeson.channel._envelope import plain, unwrap
from gambeson.channel._inbox import Demand, Inbox
from gambeson.errors import ChannelError, Error, Missed, of_channel

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from gambeson._native import NativeChannel

MAX_UNREAD = 10_000
"""How many messages wait for who does not read them, while connections of the same channel are used."""

_log = getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a channel."""

    did: str
    role: Literal["listener", "member", "moderator", "owner"]
    behind: int
    """How many of this member's own messages it has given no receipt for."""
    heard: float | None
    """When it was last heard of, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a member said. The channel proves who it was: `sender` is its DID."""

    sender: str
    data: bytes
    id: str
    expects_reply: bool
    """Whether it is a request: `Channel.request`."""
    replies_to: str | None
    """The `id` of the request that it answers."""
    position: int
    """Its place in this member's history."""
    time: float
    """When it came here, in seconds since 1970."""
    _send: Callable[[str, bytes], Awaitable[str]] | None = field(default=None, repr=False, compare=False)

    async def reply(self, data: Buffer) -> str:
        """Answers a request; all members see it."""
        if self._send is None or not self.expects_reply:
            raise of_channel("usage", "nobody waits for an answer to this message")
        return await self._send(self.id, buffer(data))


@dataclass(frozen=True, slots=True)
class FarMessage:
    """What a classical client behind a bridge said. `Channel.event` and `Channel.history` give it.

    The channel proves which member is the bridge; who the client is, the bridge says, and it was told by SLIM.
    """

    bridge: str
    """The DID of the member that is the bridge."""
    client: str
    """The client's name in SLIM."""
    kind: str
    """What the client calls the kind of its data, such as `text/plain`."""
    data: bytes
    position: int
    time: float
    """When it came here, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a channel besides messages.

    A `bridge` to stock clients of SLIM says how it stands: when it begins, when something of it changes, and once a minute.
    """

    kind: Literal["joined", "left", "removed", "policy", "rotated", "returned", "bridge", "warning", "fork"]
    members: tuple[str, ...]
    """Whom it concerns, by DID."""
    by: str | None
    """Who did it, if somebody did."""
    detail: str
    """A sentence, for bridges, warnings and forks; else empty."""
    position: int
    time: float


class Channel:
    """A channel that this agent is a member of; `Agent.create` and `Agent.join` give it.

        async for message in channel:
            print(message.sender, message.data)

    Everything is for one event loop. Cancelling a call loses nothing: a message that came is still the next, and one that was
    being sent is sent.
    """

    def __init__(self, native: NativeChannel, heard: int = 0, since: float = 0.0) -> None:
        self._native = native
        self._demand = Demand()
        self._inbox: Inbox[Message | FarMessage | Event] = Inbox(self._demand)
        # What is given a second time is not given to connections: they would do again what they were asked for. It stands before this
        # position, or came before this agent was opened.
        self._heard = heard
        self._since = since
        self._board = Switchboard(native.did, self._carry, self._demand)
        self._missed = 0
        self._pump: asyncio.Task[None] | None = asyncio.create_task(self._run())

    @property
    def id(self) -> str:
        """Which channel: 64 hexadecimal digits."""
        return self._native.id

    @property
    def did(self) -> str:
        """The DID of this member."""
        return self._native.did

    @property
    def members(self) -> dict[str, Member]:
        """The members, by DID."""
        return {it[0]: Member(*it[:3], it[3] / 1000 or None) for it in self._native.members()}

    @property
    def epoch(self) -> int:
        """The epoch: each change of members or keys begins another."""
        return self._native.epoch

    @property
    def authenticator(self) -> bytes:
        """16 bytes of the epoch authenticator (RFC 9420, section 8.7): the same at all members of an epoch, or somebody is deceived."""
        return self._native.authenticator

    @property
    def closed(self) -> bool:
        """Whether this member is in the channel no more, or the agent was closed."""
        return self._inbox.ended

    async def send(self, data: Buffer) -> str:
        """Says something to all members, at most 49,152 bytes, and returns its id once it is kept: it goes out even if this process ends now."""
        return await self._native.send(plain(buffer(data)))

    async def request(self, data: Buffer, *, timeout: float = 30.0) -> Message:
        """Says something that asks for a reply, at most 49,152 bytes, and returns the first; `DeadlineExceeded` if there is none within so many
        seconds."""
        id, sender, reply = await self._native.request(plain(buffer(data)), timeout)
        carried = unwrap(reply)
        said = carried if isinstance(carried, bytes) else reply
        return Message(sender, said, id, False, None, 0, 0.0)

    async def receive(self) -> Message:
        """The next message of another member, and of no client behind a bridge. Cancelling this loses none."""
        while True:
            if isinstance(item := await self.event(), Message):
                return item

    async def event(self) -> Message | FarMessage | Event:
        """The next message of another member or of a client behind a bridge, or what else happened. Cancelling this loses nothing."""
        if self._missed:
            missed, self._missed = self._missed, 0
            raise Missed("missed", f"{missed} messages came while nobody read; `history` has them")
        return await self._inbox.take()

    async def __aiter__(self) -> AsyncIterator[Message]:
        """All messages of others until this member is out or closes the channel; then it ends."""
        while True:
            try:
                message = await self.receive()
            except ChannelError as error:
                if error.code != "over":
                    raise
                return
            yield message

    async def history(self, start: int = 0, limit: int = 100) -> list[Message | FarMessage | Event]:
        """What happened here from a position on, this member's own messages among it; what belongs to connections is left out."""
        read = [self._read(*it) for it in await self._native.history(start, limit)]
        return [it for it in read if it is not None]

    async def invite(self, *dids: str, delegation: Iterable[str] = ()) -> None:
        """Makes agents members, who need not be there; they come when they accept.

        `delegation`: the links of a chain, from the root, that lends this member the right to do so: action `channel/invite` on resource
        `urn:gambeson:channel:` and the channel's id.
        """
        await self._native.invite(list(dids), texts("delegation", delegation))

    async def remove(self, *dids: str) -> None:
        """Removes members: what is said from now on they cannot read."""
        await self._native.remove(list(dids))

    async def rotate(self) -> None:
        """Gives this member new keys: what leaked before helps nobody after this."""
        await self._native.rotate()

    async def leave(self) -> None:
        """Leaves the channel: its secrets are wiped here, and the others go on without this member."""
        await self._native.leave()
        await self._close("over", "this member left the channel")

    async def end(self) -> None:
        """Ends the channel for everybody: removes all others, and leaves."""
        await self._native.end()
        await self._close("over", "this member ended the channel")

    async def rejoin(self) -> None:
        """Comes back from the newest checkpoint. After a fork, this takes the side that the log shows."""
        await self._native.rejoin()

    async def connect(
        self, to: str, protocol: str, *, timeout: float | None = 10.0, max_message: int = MAX_MESSAGE
    ) -> Connection:
        """Connects with a member that listens for the protocol, a name of at most 200 bytes.

        `NotConnected` says why not: `no-service`, `busy`, `not-permitted`, `not-a-member`.
        """
        if to == self.did:
            raise of_channel("usage", "a member does not connect with itself")
        return await self._board.connect(to, protocol, timeout, max_message)

    def listen(
        self,
        protocol: str,
        *,
        admit: Callable[[str], bool] | None = None,
        backlog: int = BACKLOG,
        max_message: int = MAX_MESSAGE,
        max_connections: int = MAX_CONNECTIONS,
        max_per_member: int = MAX_PER_MEMBER,
        idle: float | None = IDLE,
    ) -> Listener:
        """Takes connections for a protocol, of all members or of those whose DID `admit` takes; `backlog` may wait.

        There are `max_connections` at once, and `max_per_member` of one member; who would have more is told `busy`. An end that says
        nothing for `idle` seconds is asked whether it is there, which its program answers by itself as long as it reads; without an answer
        in as many seconds more, the connection ends with `silent`. None: it may be silent for ever.
        """
        terms = Terms(admit, backlog, max_message, max_connections, max_per_member, idle)
        return self._board.listen(protocol, terms)

    async def _carry(self, data: bytes) -> None:
        await self._native.send(data)

    async def _run(self) -> None:
        """Takes what comes, as long as somebody waits for something."""
        try:
            while True:
                await self._demand.wait()
                while (came := self._native.take()) is None:
                    await self._native.ready()
                if came[1] / 1000 >= self._since:
                    # All that follows is new, whatever the clock says.
                    self._since = 0.0
                item = self._read(*came, deliver=True)
                self._heard = max(self._heard, came[0] + 1)
                if item is not None:
                    self._put(item)
        except Error as error:
            self._end(error.code, error.detail)

    def _put(self, item: Message | FarMessage | Event) -> None:
        self._inbox.put(item)
        # Who only serves connections here reads no messages, and these may not pile up for ever.
        if len(self._inbox) > MAX_UNREAD:
            self._inbox.drop()
            self._missed += 1

    def _read(
        self, position: int, time: int, kind: str, *rest: Any, deliver: bool = False
    ) -> Message | FarMessage | Event | None:
        if kind == "message":
            return self._message(position, time / 1000, *rest, deliver=deliver)
        if kind == "far":
            return FarMessage(rest[0], rest[1], rest[2], rest[3], position, time / 1000)
        event = Event(kind, tuple(rest[0]), rest[1], rest[2], position, time / 1000)  # type: ignore[arg-type]
        if deliver:
            if kind in ("left", "removed"):
                for did in event.members:
                    self._board.left(did)
            if kind in ("warning", "fork"):
                _log.warning("channel %s: %s", self.id[:8], event.detail)
        return event

    def _message(
        self, position: int, time: float, id: str, sender: str, purpose: str, of: str | None, data: bytes, *, deliver: bool
    ) -> Message | None:
        own = sender == self.did
        # Its own words an agent knows, and replies to its requests are given to who asked.
        if deliver and (own or (of is not None and of.startswith(f"{self.did}/"))):
            return None
        if deliver and position >= self._heard and time >= self._since:
            carried = self._board.came(sender, data)
        else:
            word = unwrap(data)
            carried = word if isinstance(word, bytes) else None
        if carried is None:
            return None
        return Message(sender, carried, id, purpose == "request", of, position, time, self._native.reply)

    def _end(self, code: str, detail: str) -> None:
        self._inbox.end(lambda: of_channel(code, detail))
        self._board.end(code, detail)

    async def _close(self, code: str, detail: str, *, again: bool = False) -> None:
        await self._board.settle()
        # Where the channel ended by itself, nothing comes again: what is left stays here to take.
        unread = self._inbox.empty() if again and not self._inbox.ended else None
        self._end(code, detail)
        pump, self._pump = self._pump, None
        if pump is not None:
            # At once: what it took from here on would be lost.
            pump.cancel()
            await self._board.unbroken(self._rest(pump, unread))

    async def _rest(self, pump: asyncio.Task[None], unread: list[Message | FarMessage | Event] | None) -> None:
        await asyncio.wait([pump])
        try:
            if unread is not None:
                await self._native.give_back(unread[0].position if unread else None)
        except Error as error:
            _log.warning("channel %s: what was not received does not come again: %s", self.id[:8], error.detail)
        finally:
            self._native.close()

    async def close(self) -> None:
        """Stops reading and speaking here; this agent stays a member, and finds the channel again: `Agent.channels`.

        What came and was not received yet comes there.
        """
        await self._close("over", "the channel was closed here", again=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Channel({self.id[:8]}…, {len(self._native.members())} members, epoch {self.epoch})"
