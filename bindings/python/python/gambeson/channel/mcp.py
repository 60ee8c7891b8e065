"""The Model Context Protocol between two members of a channel, for the official SDK (which the extra `mcp` brings).

One member serves, any other calls; each connection is one of its own, and there may be many at once:

    async with gambeson.channel.mcp.serve(channel, server):  # an `MCPServer` or a `Server` of the SDK
        ...

    async with mcp.Client(gambeson.channel.mcp.client(channel, did)) as client:
        await client.call_tool("pay", {"amount": 5})

A tool knows who calls, for the channel proves it: `gambeson.channel.mcp.caller()` is the caller's DID. What a member may do there
the server decides, by `admit`, or call for call by `gambeson.mcp.ServerMiddleware`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from logging import getLogger
from typing import Any

from gambeson._extras import require

require(__name__, "mcp", "mcp")

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.server import MCPServer, Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from gambeson.channel import Channel, Connection
from gambeson.channel._connections import BACKLOG, IDLE, MAX_CONNECTIONS, MAX_MESSAGE, MAX_PER_MEMBER
from gambeson.channel._tasks import Beside
from gambeson.errors import ChannelError

__all__ = ["PROTOCOL", "caller", "client", "serve"]

PROTOCOL = "mcp"
"""What connections of this protocol are called."""

_log = getLogger(__name__)
_caller: ContextVar[str] = ContextVar("gambeson.channel.mcp.caller")


def caller() -> str:
    """The DID of the member whose request is being handled; `LookupError` where none is."""
    return _caller.get()


@asynccontextmanager
async def client(
    channel: Channel, server: str, *, timeout: float | None = 10.0, max_message: int = MAX_MESSAGE
) -> AsyncIterator[TransportStreams]:
    """A transport to the member `server`, for `mcp.Client` or `mcp.ClientSession`.

    `timeout` is for the connection; a call has the session's `read_timeout_seconds`. A request above `max_message` bytes is answered
    here, with an error.
    """
    async with (
        await channel.connect(server, PROTOCOL, timeout=timeout, max_message=max_message) as connection,
        _streams(connection, None) as streams,
    ):
        yield streams


@asynccontextmanager
async def serve(
    channel: Channel,
    server: MCPServer | Server[Any],
    *,
    admit: Callable[[str], bool] | None = None,
    backlog: int = BACKLOG,
    max_message: int = MAX_MESSAGE,
    max_connections: int = MAX_CONNECTIONS,
    max_per_member: int = MAX_PER_MEMBER,
    idle: float | None = IDLE,
) -> AsyncIterator[None]:
    """Serves the members of a channel while the block lasts: all, or those whose DID `admit` takes.

    An answer above `max_message` bytes becomes an error. How many connections there are, and what becomes of silent ones, is as with
    `Channel.listen`.
    """
    # The SDK's own in-memory transport reaches the inner server in the same way.
    inner: Server[Any] = server._lowlevel_server if isinstance(server, MCPServer) else server

    async def converse(connection: Connection) -> None:
        _caller.set(connection.peer)
        try:
            async with connection, _streams(connection, connection.peer) as (reads, writes):
                await inner.run(reads, writes, inner.create_initialization_options())
        except Exception:
            # One caller's end is not that of the others.
            _log.exception("a connection of MCP ended")

    listening = channel.listen(
        PROTOCOL,
        admit=admit,
        backlog=backlog,
        max_message=max_message,
        max_connections=max_connections,
        max_per_member=max_per_member,
        idle=idle,
    )
    async with (
        listening as listener,
        Beside() as tasks,
    ):

        async def accept() -> None:
            try:
                async for connection in listener:
                    tasks.start(converse(connection))
            except ChannelError:
                pass  # The channel is closed, and every connection with it.

        tasks.start(accept())
        yield


@asynccontextmanager
async def _streams(connection: Connection, caller: str | None) -> AsyncIterator[TransportStreams]:
    """The pair of streams that a session of the SDK lives on."""
    arrived: MemoryObjectSendStream[SessionMessage | Exception]
    reads: MemoryObjectReceiveStream[SessionMessage | Exception]
    writes: MemoryObjectSendStream[SessionMessage]
    leaving: MemoryObjectReceiveStream[SessionMessage]
    arrived, reads = anyio.create_memory_object_stream(0)
    writes, leaving = anyio.create_memory_object_stream(0)
    metadata = None if caller is None else ServerMessageMetadata(request_context=caller)

    async def receive() -> None:
        async with arrived:
            try:
                async for data in connection:
                    await arrived.send(_read(data, metadata))
            except (ChannelError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # The session sees the end of its stream, and fails what waits.

    async def send() -> None:
        async with leaving:
            try:
                async for item in leaving:
                    instead = await _written(connection, item)
                    if instead is not None:
                        await arrived.send(instead)
            except (ChannelError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await arrived.aclose()
            except Exception:
                # Who waits for what was not sent sees the end instead.
                _log.exception("a connection of MCP ended")
                await arrived.aclose()
                await connection.close()

    async with arrived, reads, writes, leaving, Beside() as tasks:
        tasks.start(receive())
        tasks.start(send())
        yield reads, writes


def _read(data: bytes, metadata: ServerMessageMetadata | None) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(data, by_name=False), metadata)
    except ValueError as error:
        return error  # The session answers that it is no JSON-RPC.


async def _written(connection: Connection, item: SessionMessage) -> SessionMessage | None:
    """Sends a message. A request that cannot be sent, such as one that is too large, is answered here, and such an answer becomes an error."""
    message = item.message
    try:
        await connection.send(_bytes(item))
    except ChannelError as error:
        if error.code not in ("message-too-large", "bad-json"):
            raise
        match message:
            case JSONRPCRequest():
                return _failure(message.id, INVALID_REQUEST, error)
            case JSONRPCResponse() | JSONRPCError():
                await connection.send(_bytes(_failure(message.id, INTERNAL_ERROR, error)))
            case _:
                _log.warning("a notification was not sent: %s", error)
    return None


def _failure(id: int | str | None, code: int, error: ChannelError) -> SessionMessage:
    said = ErrorData(code=code, message=error.detail, data={"reason": error.code})
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id, error=said))


def _bytes(item: SessionMessage) -> bytes:
    try:
        return item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        # Half a character, which Python's text may have.
        raise ChannelError("bad-json", "a message that cannot be written as JSON") from None
