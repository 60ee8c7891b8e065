"""Signed tool calls over the Model Context Protocol, for the official SDK (`pip install gambeson[mcp]`).

The caller signs each tool call with its agent's key; the proof travels in `params._meta`:

    signer = gambeson.mcp.Signer(agent, audience="did:web:bank.example")
    async with mcp.Client(signer.transport(stdio_client(parameters))) as client:
        await client.call_tool("pay", {"amount": 5})

The server refuses what is not signed, not for it, not now, not for the first time, or by somebody it does not know:

    verify = gambeson.mcp.ProofMiddleware(audience="did:web:bank.example", resolver=trust)
    server = MCPServer("bank", middleware=[verify])

    @server.tool()
    def pay(amount: int) -> str:
        return f"{gambeson.mcp.caller()['did']} pays {amount}"

What is signed is the method, the tool's name and its arguments, with all other parameters except `_meta`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, Self

from mcp.client import Transport
from mcp.server import ServerRequestContext
from mcp.server.context import CallNext, HandlerResult
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, JSONRPCRequest

from gambeson._native import MCP_PROOF as PROOF
from gambeson._native import (
    Agent,
    CardDirectory,
    CardStore,
    Ledger,
    Policy,
    ReplayCache,
    StatusStore,
    WebResolver,
    verify_mcp,
)
from gambeson.errors import Error

__all__ = ["PROOF", "ProofMiddleware", "Signer", "caller"]

_TOOL_CALLS = frozenset({"tools/call"})


class Signer:
    """Signs an agent's requests to one server, its `audience`: the name by which the server knows itself."""

    def __init__(
        self,
        agent: Agent,
        *,
        audience: str,
        chain: Sequence[str] = (),
        approvals: Sequence[str] = (),
        methods: Collection[str] = _TOOL_CALLS,
    ) -> None:
        """`chain` is the delegation under which the agent acts, from its root; `approvals` go beside every call."""
        self._agent = agent
        self._audience = audience
        self._chain = list(chain)
        self._approvals = list(approvals)
        self._methods = frozenset(methods)

    def meta(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The `_meta` of one request with a new proof in it, for who sends requests without `transport`."""
        params = dict(params or {})
        action = self._agent.mcp_action(method, params, audience=self._audience, chain=self._chain)
        proof = self._agent.mcp_proof(action, chain=self._chain, approvals=self._approvals)
        return {**(params.get("_meta") or {}), PROOF: proof}

    @asynccontextmanager
    async def transport(
        self, transport: Transport | AbstractAsyncContextManager[_Streams]
    ) -> AsyncIterator[_Streams]:
        """A transport that signs what goes through it: each try of a request gets a proof of its own."""
        async with transport as (reads, writes):
            yield reads, _SigningStream(writes, self)

    def _signed(self, item: SessionMessage) -> SessionMessage:
        message = item.message
        if not isinstance(message, JSONRPCRequest) or message.method not in self._methods:
            return item
        params = {**(message.params or {}), "_meta": self.meta(message.method, message.params)}
        return replace(item, message=message.model_copy(update={"params": params}))


class _SigningStream:
    """A stream of outgoing messages that are signed on their way."""

    def __init__(self, stream: WriteStream[SessionMessage], signer: Signer) -> None:
        self._stream = stream
        self._signer = signer

    async def send(self, item: SessionMessage, /) -> None:
        await self._stream.send(self._signer._signed(item))

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


class ProofMiddleware:
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
        methods: Collection[str] = _TOOL_CALLS,
    ) -> None:
        """`audience` is how this server is named by who signs for it; `replay` remembers what was taken, and is shared by all
        who answer to that name.

        Without a `policy`, whoever the resolver knows may call. With one, the decision is as in `gambeson.verify_action`: who
        is trusted, by which delegation, within which count and budget, with whose approval. `authorize` is asked last, about
        verified claims, and refuses by raising a `gambeson.Error`.
        """
        self._audience = audience
        self._resolver = resolver
        self._replay = replay if replay is not None else ReplayCache()
        self._policy = policy
        self._ledger = ledger if ledger is not None or policy is None else Ledger()
        self._status = status
        self._cost = cost
        self._authorize = authorize
        self._methods = frozenset(methods)

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.request_id is None or ctx.method not in self._methods:
            return await call_next(ctx)
        try:
            claims = verify_mcp(
                ctx.method,
                dict(ctx.params or {}),
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
        except Error as refused:
            raise MCPError(INVALID_REQUEST, f"refused: {refused}", {"reason": refused.code}) from None
        token = _caller.set(claims)
        try:
            return await call_next(ctx)
        finally:
            _caller.reset(token)


_Streams = tuple[ReadStream[SessionMessage | Exception], WriteStream[SessionMessage]]
_Resolver = CardStore | CardDirectory | WebResolver


class _Memory(Protocol):
    """A memory of what was taken that outlives the process or is shared by many: a table in a database."""

    def remember(self, id: bytes, until: int, now: int, /) -> bool:
        """Stores the id until then, and returns whether it is new."""
        ...
