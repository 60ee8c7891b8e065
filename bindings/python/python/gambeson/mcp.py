"""Signed tool calls over the Model Context Protocol, for the official SDK (which the extra `mcp` brings).

The caller signs each tool call with its agent's key; the proof travels in `params._meta`:

    signer = gambeson.mcp.Signer(agent, audience="did:web:bank.example")
    async with mcp.Client(signer.transport(stdio_client(parameters))) as client:
        await client.call_tool("pay", {"amount": 5})

The server refuses what is not signed, not for it, not now, not for the first time, or by somebody it does not know:

    verify = gambeson.mcp.ServerMiddleware(audience="did:web:bank.example", resolver=trust)
    server = MCPServer("bank", middleware=[verify])

    @server.tool()
    def pay(amount: int) -> str:
        return f"{gambeson.mcp.caller()['did']} pays {amount}"

With `receipts` on both sides, the server signs its answers, and the client takes no other.

What is signed is the method, the tool's name and its arguments, with all other parameters except `_meta`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from logging import getLogger
from types import TracebackType
from typing import Any, Protocol, Self

from gambeson._extras import require

require(__name__, "mcp", "mcp")

import anyio.to_thread
from mcp.client import Transport
from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import BaseModel

from gambeson._inputs import texts
from gambeson._native import MCP_PROOF as PROOF
from gambeson._native import MCP_RECEIPT as RECEIPT
from gambeson._native import (
    Action,
    Agent,
    CardDirectory,
    CardStore,
    Ledger,
    Policy,
    ReplayCache,
    StatusStore,
    WebResolver,
    verify_mcp,
    verify_mcp_receipt,
)
from gambeson.errors import Error

__all__ = ["ACTING", "PROOF", "RECEIPT", "REFUSED", "ServerMiddleware", "Signer", "caller"]

_log = getLogger(__name__)

ACTING = frozenset({"tools/call", "resources/read", "resources/subscribe", "prompts/get"})
"""The methods that act, which are signed and must be (docs/spec/mcp.md)."""

REFUSED = INVALID_REQUEST
"""The code of the JSON-RPC error that refuses a call; `data["reason"]` says why."""


class Signer:
    """Signs an agent's requests to one server, its `audience`: the name by which the server knows itself."""

    def __init__(
        self,
        agent: Agent,
        *,
        audience: str,
        chain: Sequence[str] = (),
        approvals: Sequence[str] = (),
        methods: Collection[str] = ACTING,
        receipts: tuple[str, _Resolver] | None = None,
    ) -> None:
        """`chain` is the delegation under which the agent acts, from its root; `approvals` go beside every call.

        `receipts` is the DID of the server and who knows its card: answers to signed calls without a good receipt of it become
        refusals, and answers to nothing that was asked do not arrive."""
        self._agent = agent
        self._audience = audience
        self._chain = texts("chain", chain)
        self._approvals = texts("approvals", approvals)
        self._methods = frozenset(texts("methods", methods))
        self._receipts = receipts

    def meta(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The `_meta` of one request with a new proof in it, for who sends requests without `transport`."""
        return self._proven(method, dict(params or {}))[1]

    def _proven(self, method: str, params: dict[str, Any]) -> tuple[Action, dict[str, Any]]:
        action = self._agent.mcp_action(method, params, audience=self._audience, chain=self._chain)
        proof = self._agent.mcp_proof(action, chain=self._chain, approvals=self._approvals)
        return action, {**(params.get("_meta") or {}), PROOF: proof}

    @asynccontextmanager
    async def transport(
        self, transport: Transport | AbstractAsyncContextManager[_Streams]
    ) -> AsyncIterator[_Streams]:
        """A transport that signs what goes through it: each try of a request gets a proof of its own."""
        async with transport as (reads, writes):
            opened: _Open = {}
            signing = _SigningStream(writes, self, opened)
            if self._receipts is None:
                yield reads, signing
            else:
                yield _ReceiptStream(reads, self._receipts, opened), signing

    def _signed(self, item: SessionMessage, opened: _Open) -> SessionMessage:
        message = item.message
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            opened.pop(_key((message.params or {}).get("requestId")), None)
        if not isinstance(message, JSONRPCRequest):
            return item
        action = None
        if message.method in self._methods:
            params = dict(message.params or {})
            action, params["_meta"] = self._proven(message.method, params)
            item = replace(item, message=message.model_copy(update={"params": params}))
        if self._receipts is not None:
            opened[_key(message.id)] = action
        return item


def _key(id: object) -> object:
    """What an id stands for: the SDK takes `"1"` as an answer to `1`, so both are one here."""
    try:
        return int(id) if isinstance(id, str) else id
    except ValueError:
        return id


class _Stream:
    """A stream of the SDK, closed as it closes."""

    _stream: ReadStream[SessionMessage | Exception] | WriteStream[SessionMessage]

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)


class _ReceiptStream(_Stream):
    """A stream of incoming messages, in which an answer to a signed call has a receipt."""

    def __init__(
        self, stream: ReadStream[SessionMessage | Exception], receipts: tuple[str, _Resolver], opened: _Open
    ) -> None:
        self._stream: ReadStream[SessionMessage | Exception] = stream
        self._server, self._resolver = receipts
        self._opened = opened

    def __getattr__(self, name: str) -> Any:
        # The SDK's streams have more than the protocol says, such as `last_context`.
        return getattr(self._stream, name)

    async def receive(self) -> SessionMessage | Exception:
        return await self._next(self._stream.receive)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return await self._next(self._stream.__anext__)

    async def _next(self, draw: Callable[[], Awaitable[SessionMessage | Exception]]) -> SessionMessage | Exception:
        while True:
            item = await draw()
            if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse | JSONRPCError):
                return item
            message, key = item.message, _key(item.message.id)
            known, action = key in self._opened, self._opened.pop(key, None)
            # A refusal has no receipt: it promises nothing.
            if isinstance(message, JSONRPCError):
                return item
            if not known:
                continue
            if action is None:
                return item
            try:
                await anyio.to_thread.run_sync(self._verify, message.result, action)
            except Error as refused:
                said = ErrorData(code=REFUSED, message=f"refused: {refused}", data={"reason": refused.code})
                return replace(item, message=JSONRPCError(jsonrpc="2.0", id=message.id, error=said))
            return item

    def _verify(self, result: dict[str, Any], action: Action) -> None:
        verify_mcp_receipt(result, action, server=self._server, resolver=self._resolver)


class _SigningStream(_Stream):
    """A stream of outgoing messages that are signed on their way."""

    def __init__(self, stream: WriteStream[SessionMessage], signer: Signer, opened: _Open) -> None:
        self._stream: WriteStream[SessionMessage] = stream
        self._signer = signer
        self._opened = opened

    async def send(self, item: SessionMessage, /) -> None:
        signed = self._signer._signed(item, self._opened)
        try:
            await self._stream.send(signed)
        except BaseException:
            # What was not sent is not answered.
            if isinstance(item.message, JSONRPCRequest):
                self._opened.pop(_key(item.message.id), None)
            raise


_caller: ContextVar[dict[str, Any] | None] = ContextVar("gambeson.mcp.caller", default=None)


def caller() -> dict[str, Any]:
    """The verified claims of the request that is being handled: `did`, `signer`, `action`, `chain`, `approvals`, and
    `authorized` where a policy decided.

    It raises `LookupError` where no signed request is being handled.
    """
    claims = _caller.get()
    if claims is None:
        raise LookupError("no signed request is being handled here")
    return claims


class ServerMiddleware:
    """Refuses requests whose proof does not hold, before the server looks at them.

    Give it to `MCPServer(middleware=[...])` or append it to `Server.middleware`. A request is refused with the error code
    -32600, and `data: {"reason": ...}` says why in the word that all languages share.
    """

    def __init__(
        self,
        *,
        audience: str,
        resolver: _Resolver,
        replay: ReplayCache | _Memory | None = None,
        policy: Policy | None = None,
        ledger: Ledger | None = None,
        status: StatusStore | None = None,
        cost: Callable[[dict[str, Any]], tuple[int, str] | None] | None = None,
        authorize: Callable[[dict[str, Any]], object] | None = None,
        methods: Collection[str] = ACTING,
        receipts: Agent | None = None,
    ) -> None:
        """`audience` is how this server is named by who signs for it; `replay` remembers what was taken, and is shared by all
        who answer to that name. Unless one is given, it has room for 100,000 requests, half of them one signer's.

        Without a `policy`, whoever the resolver knows may call. With one, the decision is as in `gambeson.verify_action`: who
        is trusted, by which delegation, within which count and budget, with whose approval. `authorize` is asked last, about
        verified claims, and refuses by raising a `gambeson.Error`. All of this runs in a thread of its own, for a resolver or
        a `cost` may ask the network.

        `receipts` signs the answers.
        """
        self._audience = audience
        self._resolver = resolver
        self._replay = replay if replay is not None else ReplayCache(per_signer=50_000)
        self._policy = policy
        self._ledger = ledger if ledger is not None or policy is None else Ledger()
        self._status = status
        self._cost = cost
        self._authorize = authorize
        self._methods = frozenset(texts("methods", methods))
        self._receipts = receipts

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or ctx.method not in self._methods:
            return await call_next(ctx)
        try:
            claims = await anyio.to_thread.run_sync(self._verify, ctx.method, dict(ctx.params or {}))
        except Exception as failure:
            if isinstance(failure, Error) and failure.code != "usage":
                raise MCPError(REFUSED, f"refused: {failure}", {"reason": failure.code}) from None
            # What `cost` or `authorize` raised is this server's to know, and no answer to who called.
            _log.exception("a call could not be judged")
            said = "refused: the call could not be judged (failed)"
            raise MCPError(REFUSED, said, {"reason": "failed"}) from failure
        token = _caller.set(claims)
        try:
            result = await call_next(ctx)
        finally:
            _caller.reset(token)
        return result if self._receipts is None else self._acknowledged(self._receipts, claims, result)

    def _verify(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        claims = verify_mcp(
            method,
            params,
            audience=self._audience,
            resolver=self._resolver,
            replay=self._replay,
            policy=self._policy,
            ledger=self._ledger,
            status=self._status,
            cost=self._cost,
        )
        if self._authorize is not None:
            self._authorize(claims)
        return claims

    @staticmethod
    def _acknowledged(agent: Agent, claims: dict[str, Any], result: HandlerResult) -> HandlerResult:
        if isinstance(result, BaseModel):
            result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        result = dict(result or {})
        receipt = agent.mcp_receipt(Action.from_json(claims["action"]), result)
        return {**result, "_meta": {**(result.get("_meta") or {}), RECEIPT: receipt}}


# What was asked and not answered yet, and the action where it was signed.
_Open = dict[object, Action | None]
_Streams = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]
_Resolver = CardStore | CardDirectory | WebResolver


class _Memory(Protocol):
    """A memory of what was taken that outlives the process or is shared by many: a table in a database."""

    def remember(self, id: bytes, until: int, now: int, /) -> bool:
        """Stores the id until then, and returns whether it is new."""
        ...
