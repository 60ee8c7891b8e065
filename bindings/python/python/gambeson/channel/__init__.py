"""Channels of agents: end-to-end encrypted groups (MLS with post-quantum suites) over nodes of SLIM or in one process, for asyncio.

    async with ChannelAgent(identity, cards, "http://127.0.0.1:46357") as agent:
        channel = await agent.create()
        await channel.invite(other)  # a DID
        await channel.send(b"hello")
        async for message in channel:
            print(message.sender, message.data)

and the other, wherever it runs:

    async with ChannelAgent(identity, cards, "http://127.0.0.1:46357") as agent:
        channel = await agent.join(by=first)
        reply = await channel.request(b"who is here?", timeout=5)

Who said something is proven. What a channel carries is read by its members alone, and by nobody after being removed. Two members can
have connections of their own on a channel (`Channel.connect`, `Channel.listen`); `gambeson.channel.mcp` and `gambeson.channel.a2a` carry
the Model Context Protocol and the Agent2Agent protocol over them.

Whatever is cancelled loses nothing, and nothing here blocks the event loop. A message has at most `MAX_SENT` bytes (49,152), or as many as the policy
of its channel allows; one of a connection as many as its two ends agree on. `gambeson.channel.Agent` is the former name of `ChannelAgent`.
"""

import atexit

from gambeson import _native
from gambeson._native import MAX_SENT
from gambeson.channel._agent import ChannelAgent, Delivery, Hub, Invitation, groups
from gambeson.channel._channel import Channel, Event, FarMessage, Member, Message
from gambeson.channel._connections import Connection, Listener

# Before the interpreter begins to end.
atexit.register(_native.rest_channels)

Agent = ChannelAgent
"""The former name: `gambeson.Agent` is an identity."""

__all__ = [
    "MAX_SENT",
    "Agent",
    "Channel",
    "ChannelAgent",
    "Connection",
    "Delivery",
    "Event",
    "FarMessage",
    "Hub",
    "Invitation",
    "Listener",
    "Member",
    "Message",
    "groups",
]
