"""Middleware for ASGI servers that lets through only requests that a known agent signed (RFC 9421, with `ml-dsa-65`).

    app = gambeson.asgi.SignedRequests(app, origin="https://bank.example", resolver=trust)

The application finds the verified claims in `scope["gambeson"]`: `signer`, `did`, `components`, `tag`. It needs no package
beside this one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, MutableMapping, Sequence
from datetime import timedelta
from typing import Any, Literal, Protocol
from urllib.parse import quote

from gambeson._inputs import checked_origin, checked_role, texts
from gambeson._native import CardDirectory, CardStore, ReplayCache, WebResolver, verify_http
from gambeson.errors import Error, InvalidSignature, Malformed

__all__ = ["SignedRequests"]

# What stands unencoded in paths (RFC 3986, §3.3).
_PATH = "/:@!$&'()*+,;=~"

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]


class _Memory(Protocol):
    """A memory of what was taken that outlives the process or is shared by many: a table in a database."""

    def remember(self, id: bytes, until: int, now: int, /) -> bool:
        """Stores the id until then, and returns whether it is new."""
        ...


class SignedRequests:
    """Refuses requests whose signature does not hold: status 401 and `{"reason": ..., "detail": ...}`.

    The body is read before the application runs; one of more than `max_body` bytes is refused with status 413. Connections
    that are not HTTP are refused, for nobody signs them; `lifespan` passes.
    """

    def __init__(
        self,
        app: _App,
        *,
        origin: str,
        resolver: CardStore | CardDirectory | WebResolver,
        replay: ReplayCache | _Memory | None = None,
        required: Sequence[str] = (),
        role: Literal["identity", "signing"] = "identity",
        tag: str | None = None,
        signer: str | None = None,
        max_age: float | timedelta = 120,
        max_body: int = 1 << 20,
        exempt: Collection[str] = (),
    ) -> None:
        """`origin` is the scheme and authority under which clients know this server, whatever a proxy or the `Host` field says:
        a signature for another one is not for us. `required` lists components that must be signed besides method and
        address, such as `authorization`; `role`, `tag` and `signer` (a DID) say whose signature counts, and `max_age` how many seconds old it
        may be: `gambeson.http.Signed` takes the same. `exempt` lists paths that anybody may ask for. `replay` remembers what was taken; unless one
        is given, it has room for 100,000 requests, half of them one signer's."""
        self._app = app
        self._origin = checked_origin(origin)
        self._resolver = resolver
        self._replay = replay if replay is not None else ReplayCache(per_signer=50_000)
        self._required = texts("required", required)
        self._role = checked_role(role)
        self._tag = tag
        self._signer = signer
        self._max_age = max_age
        self._max_body = max_body
        self._exempt = frozenset(texts("exempt", exempt))

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] == "lifespan" or (scope["type"] == "http" and scope["path"] in self._exempt):
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008, "reason": "unsecured"})
            return
        body = await self._body(receive)
        if body is None:
            await _refuse(send, 413, "too-large", f"a body of more than {self._max_body} bytes")
            return
        try:
            # Aside, for a resolver may ask the network, and the other requests go on meanwhile.
            claims = await _aside(lambda: self._verify(scope, body))
        except Error as refused:
            if refused.code == "usage":
                raise  # It is this server's to mend, and no answer to who asks.
            await _refuse(send, 401, refused.code, refused.detail)
            return
        given = False

        async def again() -> MutableMapping[str, Any]:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app({**scope, "gambeson": claims}, again, send)

    def _verify(self, scope: _Scope, body: bytes) -> dict[str, Any]:
        # As the client wrote it: `path` is decoded already, and is encoded again where a server gives nothing else.
        target = scope.get("raw_path") or quote(scope["path"], safe=_PATH).encode()
        if not target.startswith(b"/"):
            # It would go on where the origin ends: `.evil.example/pay`, `:8443/pay`.
            raise Malformed("bad-form", "the target of a request must be a path")
        if query := scope.get("query_string"):
            return self._verify_at(scope, body, target + b"?" + query)
        try:
            return self._verify_at(scope, body, target)
        except InvalidSignature as refused:
            # A server does not tell an empty query from none.
            try:
                return self._verify_at(scope, body, target + b"?")
            except InvalidSignature:
                raise refused from None

    def _verify_at(self, scope: _Scope, body: bytes, target: bytes) -> dict[str, Any]:
        return verify_http(
            scope["method"],
            self._origin + target.decode("latin-1"),
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]],
            body,
            resolver=self._resolver,
            replay=self._replay,
            required=self._required,
            role=self._role,
            tag=self._tag,
            signer=self._signer,
            max_age=self._max_age,
        )

    async def _body(self, receive: _Receive) -> bytes | None:
        parts, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                break
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_body:
                return None
            more = message.get("more_body", False)
        return b"".join(parts)


async def _aside(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # Another loop than asyncio's, such as trio's.
        return work()
    return await asyncio.to_thread(work)


async def _refuse(send: _Send, status: int, reason: str, detail: str) -> None:
    body = json.dumps({"reason": reason, "detail": detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
