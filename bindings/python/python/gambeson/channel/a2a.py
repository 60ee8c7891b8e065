"""The Agent2Agent protocol between two members of a channel, for the official SDK (which the extra `a2a` brings).

An agent's interface is its DID, which its AgentCard names; who answers there is who has that DID, for the channel proves it:

    card = gambeson.channel.a2a.identity(card, agent.did)
    async with gambeson.channel.a2a.serve(channel, DefaultRequestHandler(...), card):
        ...

Any other member fetches the card from the agent itself, and calls it with the SDK's own client:

    card = await gambeson.channel.a2a.fetch_card(channel, did)
    factory = gambeson.channel.a2a.register(ClientFactory(...), channel)
    async for event in factory.create(card).send_message(request): ...

The handler sees the caller as an authenticated user, whose name is the caller's DID: tasks are kept apart by it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from logging import getLogger
from typing import Any, TypeVar

from gambeson._extras import require

require(__name__, "a2a", "a2a")

from a2a.auth.user import User
from a2a.client import ClientCallContext, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError, A2AClientTimeoutError, AgentCardResolutionError
from a2a.client.transports.base import ClientTransport
from a2a.extensions.common import HTTP_EXTENSION_HEADER, get_requested_extensions
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.server.request_handlers.response_helpers import build_error_response
from a2a.types import (
    AgentCard,
    AgentInterface,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SendMessageResponse,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)
from a2a.utils.constants import PROTOCOL_VERSION_CURRENT, VERSION_HEADER
from a2a.utils.errors import (
    JSON_RPC_ERROR_CODE_MAP,
    A2AError,
    InternalError,
    InvalidParamsError,
    InvalidRequestError,
    MethodNotFoundError,
    TaskNotFoundError,
)
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError  # type: ignore[import-untyped]

from gambeson.channel import Channel, Connection
from gambeson.channel._connections import BACKLOG, IDLE, MAX_CONNECTIONS, MAX_MESSAGE, MAX_PER_MEMBER
from gambeson.channel._inbox import Demand, Inbox
from gambeson.channel._tasks import Beside
from gambeson.errors import ChannelError, NotConnected

__all__ = ["BINDING", "PROTOCOL", "ChannelTransport", "fetch_card", "identity", "register", "serve"]

PROTOCOL = "a2a"
"""What connections of this protocol are called."""

BINDING = "https://gambeson-pq.github.io/a2a/channel"
"""The protocol binding of an interface whose URL is a DID: who speaks it calls that member of a channel."""

MAX_CALLS = 64
"""How many calls of one connection are answered at once."""

_CARD = "GetAgentCard"
_log = getLogger(__name__)
_M = TypeVar("_M")


def identity(card: AgentCard, did: str) -> AgentCard:
    """A copy of the card whose first interface is the member `did` of a channel. Sign it, if others shall trust what it says:
    `gambeson.a2a.sign`."""
    bound = AgentCard()
    bound.CopyFrom(card)
    others = [interface for interface in bound.supported_interfaces if interface.protocol_binding != BINDING]
    own = AgentInterface(url=did, protocol_binding=BINDING, protocol_version=PROTOCOL_VERSION_CURRENT)
    del bound.supported_interfaces[:]
    bound.supported_interfaces.extend([own, *others])
    return bound


async def fetch_card(
    channel: Channel,
    did: str,
    *,
    timeout: float | None = 10.0,
    verifier: Callable[[AgentCard], None] | None = None,
) -> AgentCard:
    """The card of a member, from itself. One that is another's is refused, and what `verifier` refuses (`gambeson.a2a.verifier`)."""
    async with ChannelTransport(channel, did, timeout=timeout) as transport:
        card = _parsed(await transport._call(_CARD, {}, None), AgentCard())
    if did not in _members(card):
        raise AgentCardResolutionError(f"the card that {did} shows is not its own")
    if verifier is not None:
        verifier(card)
    return card


def register(factory: ClientFactory, channel: Channel) -> ClientFactory:
    """Lets a factory, whose configuration names `BINDING`, make clients for members of the channel."""

    def transport(card: AgentCard, url: str, config: ClientConfig) -> ClientTransport:
        return ChannelTransport(channel, url, card=card)

    factory.register(BINDING, transport)
    return factory


def _members(card: AgentCard) -> list[str]:
    return [it.url for it in card.supported_interfaces if it.protocol_binding == BINDING]


class ChannelTransport(ClientTransport):
    """Calls one member of a channel. It connects at the first call, and again after the connection ended."""

    def __init__(
        self,
        channel: Channel,
        did: str,
        *,
        card: AgentCard | None = None,
        timeout: float | None = 10.0,
        max_message: int = MAX_MESSAGE,
    ) -> None:
        """`timeout`, in seconds, is for the connection and for each answer of a call that brings none of its own."""
        self._channel = channel
        self._did = did
        self._card = card
        self._timeout = timeout
        self._max = max_message
        self._line: _Line | None = None
        self._connecting = asyncio.Lock()

    async def send_message(
        self, request: SendMessageRequest, *, context: ClientCallContext | None = None
    ) -> SendMessageResponse:
        return _parsed(await self._call("SendMessage", request, context), SendMessageResponse())

    async def send_message_streaming(
        self, request: SendMessageRequest, *, context: ClientCallContext | None = None
    ) -> AsyncGenerator[StreamResponse]:
        async for event in self._stream("SendStreamingMessage", request, context):
            yield event

    async def get_task(self, request: GetTaskRequest, *, context: ClientCallContext | None = None) -> Task:
        return _parsed(await self._call("GetTask", request, context), Task())

    async def list_tasks(
        self, request: ListTasksRequest, *, context: ClientCallContext | None = None
    ) -> ListTasksResponse:
        return _parsed(await self._call("ListTasks", request, context), ListTasksResponse())

    async def cancel_task(self, request: CancelTaskRequest, *, context: ClientCallContext | None = None) -> Task:
        return _parsed(await self._call("CancelTask", request, context), Task())

    async def create_task_push_notification_config(
        self, request: TaskPushNotificationConfig, *, context: ClientCallContext | None = None
    ) -> TaskPushNotificationConfig:
        made = await self._call("CreateTaskPushNotificationConfig", request, context)
        return _parsed(made, TaskPushNotificationConfig())

    async def get_task_push_notification_config(
        self, request: GetTaskPushNotificationConfigRequest, *, context: ClientCallContext | None = None
    ) -> TaskPushNotificationConfig:
        found = await self._call("GetTaskPushNotificationConfig", request, context)
        return _parsed(found, TaskPushNotificationConfig())

    async def list_task_push_notification_configs(
        self, request: ListTaskPushNotificationConfigsRequest, *, context: ClientCallContext | None = None
    ) -> ListTaskPushNotificationConfigsResponse:
        found = await self._call("ListTaskPushNotificationConfigs", request, context)
        return _parsed(found, ListTaskPushNotificationConfigsResponse())

    async def delete_task_push_notification_config(
        self, request: DeleteTaskPushNotificationConfigRequest, *, context: ClientCallContext | None = None
    ) -> None:
        await self._call("DeleteTaskPushNotificationConfig", request, context)

    async def subscribe(
        self, request: SubscribeToTaskRequest, *, context: ClientCallContext | None = None
    ) -> AsyncGenerator[StreamResponse]:
        async for event in self._stream("SubscribeToTask", request, context):
            yield event

    async def get_extended_agent_card(
        self, request: GetExtendedAgentCardRequest, *, context: ClientCallContext | None = None
    ) -> AgentCard:
        if self._card is not None and not self._card.capabilities.extended_agent_card:
            return self._card
        return _parsed(await self._call("GetExtendedAgentCard", request, context), AgentCard())

    async def close(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            await line.close()

    async def _call(self, method: str, request: Any, context: ClientCallContext | None) -> dict[str, Any]:
        async with aclosing(self._answers(method, request, context)) as answers:
            async for answer in answers:
                return answer
        raise A2AClientError(f"{self._did} ended its answer before it began")

    async def _stream(
        self, method: str, request: Any, context: ClientCallContext | None
    ) -> AsyncGenerator[StreamResponse]:
        async with aclosing(self._answers(method, request, context)) as answers:
            async for answer in answers:
                yield _parsed(answer, StreamResponse())

    async def _answers(
        self, method: str, request: Any, context: ClientCallContext | None
    ) -> AsyncGenerator[dict[str, Any]]:
        """What is answered to one call, each answer within the time that the call has."""
        timeout = self._timeout if context is None or context.timeout is None else context.timeout
        headers = {VERSION_HEADER: PROTOCOL_VERSION_CURRENT, **((context and context.service_parameters) or {})}
        params = request if isinstance(request, dict) else MessageToDict(request)
        try:
            async with asyncio.timeout(timeout):
                line = await self._connected()
            async with line.call({"method": method, "params": params, "headers": headers}) as answers:
                while True:
                    async with asyncio.timeout(timeout):
                        answer = await answers.take()
                    if "error" in answer:
                        raise _failure(answer["error"])
                    if "result" in answer:
                        yield answer["result"]
                    if answer.get("last", True):
                        return
        except TimeoutError:
            raise A2AClientTimeoutError(f"{self._did} did not answer within {timeout} seconds") from None
        except ChannelError as error:
            raise A2AClientError(str(error)) from error

    async def _connected(self) -> _Line:
        async with self._connecting:
            if self._line is None or self._line.ended:
                connect = self._channel.connect(self._did, PROTOCOL, timeout=self._timeout, max_message=self._max)
                self._line = _Line(await connect)
            return self._line


class _Line:
    """The calls of one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._calls: dict[int, Inbox[dict[str, Any]]] = {}
        self._count = 0
        self._reader = asyncio.create_task(self._read())

    @property
    def ended(self) -> bool:
        return self._connection.closed

    async def close(self) -> None:
        await self._connection.close()
        await self._reader

    @asynccontextmanager
    async def call(self, request: dict[str, Any]) -> AsyncIterator[Inbox[dict[str, Any]]]:
        """Asks, and gives what is answered; an answer that nobody waits for is called off."""
        self._count += 1
        id, answers = self._count, Inbox[dict[str, Any]](Demand())
        self._calls[id] = answers
        try:
            await self._connection.send(_json({"id": id, **request}))
            yield answers
        finally:
            del self._calls[id]
            if not answers.ended:
                with suppress(ChannelError):
                    await self._connection.send(_json({"cancel": id}))

    async def _read(self) -> None:
        code, detail = "done", "the connection was closed"
        try:
            async for data in self._connection:
                answer = _object(data) or {}
                id = answer.get("id")
                answers = self._calls.get(id) if isinstance(id, int) else None
                if answers is not None:
                    answers.put(answer)
                    if answer.get("last", True):
                        answers.end(lambda: A2AClientError("the answer is complete"))
        except ChannelError as error:
            code, detail = error.code, error.detail
        finally:
            for answers in self._calls.values():
                answers.end(lambda: NotConnected(code, detail))


class _Member(User):
    """The member who calls."""

    def __init__(self, did: str) -> None:
        self._did = did

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self._did


@asynccontextmanager
async def serve(
    channel: Channel,
    handler: RequestHandler,
    card: AgentCard,
    *,
    admit: Callable[[str], bool] | None = None,
    backlog: int = BACKLOG,
    max_message: int = MAX_MESSAGE,
    max_connections: int = MAX_CONNECTIONS,
    max_per_member: int = MAX_PER_MEMBER,
    idle: float | None = IDLE,
) -> AsyncIterator[None]:
    """Answers the members of a channel while the block lasts: all, or those whose DID `admit` takes.

    The card must be this member's (`identity`). How many connections there are, and what becomes of silent ones, is as with
    `Channel.listen`.
    """
    if channel.did not in _members(card):
        raise ValueError(f"the card names no interface with the URL {channel.did} and this package's BINDING")
    service = _Service(handler, card)
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
                    tasks.start(service.converse(connection))
            except ChannelError:
                pass  # The channel is closed, and every connection with it.

        tasks.start(accept())
        yield


class _Service:
    """Answers calls by a handler of the SDK."""

    def __init__(self, handler: RequestHandler, card: AgentCard) -> None:
        self._card = MessageToDict(card)
        self._once: dict[str, tuple[type[Any], Callable[[Any, ServerCallContext], Awaitable[Any]]]] = {
            "SendMessage": (SendMessageRequest, handler.on_message_send),
            "GetTask": (GetTaskRequest, handler.on_get_task),
            "ListTasks": (ListTasksRequest, handler.on_list_tasks),
            "CancelTask": (CancelTaskRequest, handler.on_cancel_task),
            "CreateTaskPushNotificationConfig": (
                TaskPushNotificationConfig,
                handler.on_create_task_push_notification_config,
            ),
            "GetTaskPushNotificationConfig": (
                GetTaskPushNotificationConfigRequest,
                handler.on_get_task_push_notification_config,
            ),
            "ListTaskPushNotificationConfigs": (
                ListTaskPushNotificationConfigsRequest,
                handler.on_list_task_push_notification_configs,
            ),
            "DeleteTaskPushNotificationConfig": (
                DeleteTaskPushNotificationConfigRequest,
                handler.on_delete_task_push_notification_config,
            ),
            "GetExtendedAgentCard": (GetExtendedAgentCardRequest, handler.on_get_extended_agent_card),
        }
        self._streams: dict[str, tuple[type[Any], Callable[[Any, ServerCallContext], AsyncGenerator[Any]]]] = {
            "SendStreamingMessage": (SendMessageRequest, handler.on_message_send_stream),
            "SubscribeToTask": (SubscribeToTaskRequest, handler.on_subscribe_to_task),
        }

    async def converse(self, connection: Connection) -> None:
        """Answers the calls of one connection until it ends."""
        calls: dict[int, asyncio.Task[None]] = {}
        try:
            async with connection, Beside() as tasks:
                async for data in connection:
                    call = _object(data)
                    if call is None:
                        return
                    if "cancel" in call:
                        if isinstance(id := call["cancel"], int) and id in calls:
                            calls[id].cancel()
                    elif isinstance(id := call.get("id"), int) and id not in calls:
                        if len(calls) >= MAX_CALLS:
                            await _say(connection, _refusal(id, InvalidRequestError(f"more than {MAX_CALLS} calls at once")))
                            continue
                        calls[id] = tasks.start(self._answer(connection, id, call))
                        calls[id].add_done_callback(lambda _, id=id: calls.pop(id, None))  # type: ignore[misc]
        except ChannelError:
            pass  # The caller is gone, and waits for nothing.

    async def _answer(self, connection: Connection, id: int, call: dict[str, Any]) -> None:
        method = call.get("method")
        many = isinstance(method, str) and method in self._streams
        try:
            try:
                async with aclosing(self._results(connection.peer, id, call)) as results:
                    async for result in results:
                        await _say(connection, {"id": id, "result": result, "last": not many})
                if many:
                    await _say(connection, {"id": id, "last": True})
            except A2AError as error:
                await _say(connection, _refusal(id, error))
            except ChannelError as error:
                if error.code != "message-too-large":
                    raise
                await _say(connection, _refusal(id, InternalError(error.detail)))
            except Exception:
                # What the handler raised is this agent's to know.
                _log.exception("a call of A2A failed")
                await _say(connection, _refusal(id, InternalError("the call failed")))
        except ChannelError:
            pass  # The caller is gone, and waits for nothing.

    async def _results(self, caller: str, id: int, call: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        method, params, headers = call.get("method"), call.get("params", {}), call.get("headers", {})
        if not isinstance(method, str) or not isinstance(headers, dict):
            raise InvalidRequestError("a call must have a method, and headers that are an object")
        if method == _CARD:
            yield self._card
            return
        once, stream = self._once.get(method), self._streams.get(method)
        kind = once or stream
        if kind is None:
            raise MethodNotFoundError(f"no method {method!r}")
        try:
            request = ParseDict(params, kind[0](), ignore_unknown_fields=True)
        except (ParseError, AttributeError, TypeError, ValueError) as error:
            raise InvalidParamsError(data={"parseError": str(error)}) from None
        version = str(headers.get(VERSION_HEADER, ""))
        context = ServerCallContext(
            user=_Member(caller),
            tenant=getattr(request, "tenant", ""),
            state={"method": method, "request_id": id, "headers": {VERSION_HEADER: version}},
            requested_extensions=get_requested_extensions([str(headers.get(HTTP_EXTENSION_HEADER, ""))]),
        )
        if stream is not None:
            async with aclosing(stream[1](request, context)) as events:
                async for event in events:
                    yield MessageToDict(to_stream_response(event))
        elif once is not None:
            yield _result(method, request, await once[1](request, context))


def _result(method: str, request: Any, result: Any) -> dict[str, Any]:
    match method:
        case "SendMessage":
            kind = "message" if isinstance(result, Message) else "task"
            result = SendMessageResponse(**{kind: result})
        case "GetTask" | "CancelTask" if result is None:
            raise TaskNotFoundError
        case "ListTasks":
            listed: dict[str, Any] = MessageToDict(result, always_print_fields_with_no_presence=True)
            for task in [] if request.include_artifacts else listed["tasks"]:
                task.pop("artifacts", None)
            return listed
        case "DeleteTaskPushNotificationConfig":
            return {}
    answer: dict[str, Any] = MessageToDict(result)
    return answer


async def _say(connection: Connection, answer: dict[str, Any]) -> None:
    await connection.send(_json(answer))


def _refusal(id: int, error: A2AError) -> dict[str, Any]:
    return {"id": id, "error": build_error_response(id, error)["error"], "last": True}


_ERRORS = {code: error for error, code in JSON_RPC_ERROR_CODE_MAP.items()}


def _failure(said: object) -> A2AError:
    """The exception of the SDK for what was answered."""
    if not isinstance(said, dict):
        return A2AClientError("an error without a form")
    message = str(said.get("message", ""))
    kind = _ERRORS.get(said["code"]) if isinstance(said.get("code"), int) else None
    details = said.get("data") if isinstance(said.get("data"), list) else []
    found = [it["metadata"] for it in details or [] if isinstance(it, dict) and it.get("metadata")]
    return A2AClientError(message) if kind is None else kind(message, data=found[0] if found else None)


def _parsed(data: object, message: _M) -> _M:
    try:
        parsed: _M = ParseDict(data, message, ignore_unknown_fields=True)
    except (ParseError, AttributeError, TypeError, ValueError) as error:
        raise A2AClientError(f"an answer that is none: {error}") from None
    return parsed


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
