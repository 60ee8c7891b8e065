"""An agent on a link, and how it comes to its channels."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from gambeson import _native
from gambeson._native import CardLog
from gambeson._native import ChannelHub as Hub
from gambeson.channel._channel import Channel
from gambeson.channel._connections import Deadline
from gambeson.errors import Error, Refused, of_channel

__all__ = ["ChannelAgent", "Delivery", "Hub", "Invitation", "groups"]

SERVICE = "gambeson/services/delivery"
"""The name under which the delivery service listens, unless another is given; that of `gambeson slim up`."""

MAX_OFFERS = 64
"""How many invitations wait for who wants them; more push out the oldest."""

_log = getLogger(__name__)

if TYPE_CHECKING:
    _Preset = Literal["default", "hybrid", "approved", "cnsa2", "classical"]
    _Role = Literal["listener", "member", "moderator", "owner"]


def groups(preset: _Preset = "default") -> list[_native._Group]:
    """The keys that a card must list for its agent to have every suite of `preset`.

    cards = identity.first_card(valid_for=86_400, groups=groups("hybrid"))
    agent = ChannelAgent(identity, cards, link, preset="hybrid")
    """
    return _native.channel_groups(preset)


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation to a channel. Nobody is told whether it is accepted."""

    by: str
    """The DID of who says to invite, which is proven when it is accepted, and not before."""
    channel: str
    """The channel's id."""
    _native: _native.ChannelInvitation
    _agent: ChannelAgent

    async def accept(self) -> Channel:
        """Joins the channel. It raises `Refused` if the invitation is not what it says."""
        return self._agent._of(await self._native.accept())


class ChannelAgent:
    """An agent on a link: it creates channels, and joins those that it is invited to.

        async with ChannelAgent(identity, cards, "http://127.0.0.1:46357") as agent:
            channel = await agent.join(by=friend)

    It belongs to one event loop, and its keys stay in `identity`, which nobody changes meanwhile.
    """

    def __init__(
        self,
        identity: _native.Agent,
        cards: CardLog,
        link: str | Sequence[str] | Hub,
        *,
        service: str = SERVICE,
        store: str | PathLike[str] | None = None,
        preset: _Preset = "default",
        causal: bool = False,
        bundle: float = 0.0,
    ) -> None:
        """`cards` is the identity's own log, whose newest card lists keys for groups (`first_card(groups=groups(preset))`).

        `link` names nodes of SLIM, of which the first that answers is used: `http://host:port`, `https://host:port`; or it is a `Hub`
        of this process. `service` is where the delivery service listens on these nodes, as `organisation/namespace/service`.

        `store` is a file for what the agent keeps of its channels, sealed; without one, it forgets them when it is closed.

        `causal`: nobody hears an answer before what it answers, for a message waits for those that its sender had heard. Who speaks and who
        hears both say so.

        `bundle`: for how many seconds messages are gathered into one of MLS, which costs as much as each without it. Agents that stream
        tokens take 0.02 to 0.05, and do not wait for each: `send` returns when its bundle is kept.
        """
        nodes = [link] if isinstance(link, str) else link
        manner = (preset, causal, bundle)
        self._arguments = (identity, cards, nodes if isinstance(nodes, Hub) else list(nodes), service, store, manner)
        self._node: _native.ChannelNode | None = None
        self._open: list[Channel] = []
        self._since = 0.0
        self._offers: list[Invitation] = []
        self._news = asyncio.Event()
        self._attending: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self.did = identity.did

    async def __aenter__(self) -> Self:
        if self._node is not None:
            raise of_channel("usage", "this agent is open already")
        # As the times of what comes: in whole milliseconds.
        self._since = int(time.time() * 1000) / 1000
        self._node = await _native.open_channel_node(*self._arguments)
        self._attending = asyncio.create_task(self._attend(self._node))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes its channels here, of which it stays a member, and the link. It goes on when the caller is cancelled; who calls again waits for it."""
        if self._closing is None or self._closing.done():
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        node, self._node = self._node, None
        channels, self._open = self._open, []
        if self._attending is not None:
            self._attending.cancel()
            self._offers.clear()
        for channel in channels:
            await channel.close()
        if node is not None:
            await node.close()
        self._news.set()

    async def create(self, *, roles: Mapping[str, _Role] | None = None, others: _Role = "member") -> Channel:
        """Creates a channel with this agent as its owner and only member.

        `roles` are those of DIDs that are not `others`: who will be moderator, who may only listen. They need not be members yet.
        """
        return self._of(await self._opened().create(dict(roles or {}), others))

    async def invitations(self) -> AsyncIterator[Invitation]:
        """The invitations to this agent, each once. Nothing is joined until one is accepted."""
        while True:
            yield await self.invitation()

    async def invitation(self, wanted: Callable[[Invitation], bool] = lambda _: True) -> Invitation:
        """The next invitation that is wanted; others stay for who wants them. Cancelling this loses none."""
        while True:
            self._opened()
            for offer in self._offers:
                if wanted(offer):
                    self._offers.remove(offer)
                    return offer
            await self._news.wait()

    async def join(
        self, *, by: str | Collection[str] | Callable[[Invitation], bool], timeout: float | None = 30.0
    ) -> Channel:
        """Waits for an invitation by one of these DIDs, or one that the function takes, and joins.

        What fails is raised when no other such invitation is here; the one that it failed for stays, behind the others.
        """
        tried: list[Invitation] = []
        failure: Error | None = None

        def wanted(invitation: Invitation) -> bool:
            if invitation in tried:
                return False
            if callable(by):
                return by(invitation)
            return invitation.by == by if isinstance(by, str) else invitation.by in by

        async with Deadline(timeout, "no invitation came"):
            while failure is None or any(map(wanted, self._offers)):
                invitation = await self.invitation(wanted)
                try:
                    return await invitation.accept()
                except Refused as error:
                    # Anybody can put a friend's name on an invitation.
                    _log.warning("an invitation in the name of %s: %s", invitation.by, error)
                except BaseException as error:
                    # Nothing was decided: who wants it next finds it. That of an agent which was closed is worth nothing.
                    tried.append(invitation)
                    if self._node is not None:
                        self._offers.append(invitation)
                        self._tell()
                    if not isinstance(error, Error):
                        raise
                    failure = error
        raise failure

    async def _attend(self, node: _native.ChannelNode) -> None:
        while True:
            await node.invited()
            while (came := node.invitation()) is not None:
                self._offers.append(Invitation(came.by, came.channel, came, self))
            del self._offers[:-MAX_OFFERS]
            self._tell()

    def _tell(self) -> None:
        """Has everybody who waits for an invitation look again."""
        self._news.set()
        self._news = asyncio.Event()

    def channels(self) -> list[Channel]:
        """The channels that this agent is a member of and that are not open: those that its store knows from before."""
        open = {channel.id for channel in self._open if not channel.closed}
        heard = {channel.id: channel._heard for channel in self._open}
        return [self._of(it, heard.get(it.id, 0)) for it in self._opened().channels() if it.id not in open]

    async def renew(self, identity: _native.Agent, cards: CardLog) -> None:
        """Follows the agent to a new card: `identity` is the same agent with its new keys, another object than the one in use, as
        `gambeson.Agent.from_seed_bytes(seed, cards=cards)` gives it, and `cards` its longer log.

        When this returns, others find the card; each channel's key changes soon after (an event `rotated`).
        """
        _, _, link, service, store, manner = self._arguments
        await self._opened().renew(identity, cards, manner[0])
        self._arguments = (identity, cards, link, service, store, manner)

    def _opened(self) -> _native.ChannelNode:
        if self._node is None:
            raise of_channel("usage", "an agent is used inside `async with`")
        return self._node

    def _of(self, native: _native.NativeChannel, heard: int = 0) -> Channel:
        channel = Channel(native, heard, self._since)
        # In place of that which was closed.
        self._open = [it for it in self._open if not it.closed or it.id != channel.id]
        self._open.append(channel)
        return channel


class Delivery:
    """The delivery service of channels on nodes of SLIM: it keeps the order of what is said, for members that are away, and reads
    nothing of it.

        async with Delivery("http://127.0.0.1:46357", file="channels.redb"):
            await asyncio.Event().wait()
    """

    def __init__(
        self,
        link: str | Sequence[str],
        *,
        service: str = SERVICE,
        file: str | PathLike[str] | None = None,
        store: int | None = None,
        keep: int | None = None,
    ) -> None:
        """`file` is where it keeps everything; without one, everything is gone when it ends. In a file are at most `store` bytes (16 GiB, unless
        another number is given), and what a channel said for `keep` seconds, or as long as there is room; but always all since its newest checkpoint."""
        self._arguments = ([link] if isinstance(link, str) else list(link), service, file, store, keep)
        self._server: _native.ChannelDelivery | None = None

    async def __aenter__(self) -> Self:
        self._server = await _native.open_channel_delivery(*self._arguments)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()
