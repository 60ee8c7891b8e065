"""Signed HTTP requests (RFC 9421, with `ml-dsa-65`), for `httpx` (which the extra `httpx` brings).

    async with httpx.AsyncClient(auth=gambeson.http.Signed(agent)) as client:
        await client.post("https://bank.example/pay", json={"amount": 5})

Method, address, type and digest of the body are signed, with a time and a nonce. A signature takes about 4,500 characters of
the request's header. `gambeson.asgi` is the other side; `Agent.sign_http` and `Agent.sign_http_response` are there for
other clients and servers.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from datetime import timedelta
from typing import Literal

from gambeson._extras import require

require(__name__, "httpx", "httpx")

import httpx

from gambeson._inputs import checked_role, texts
from gambeson._native import Agent
from gambeson.errors import UsageError

__all__ = ["Signed"]


class Signed(httpx.Auth):
    """Signs each request on its way.

    A signature is for one address, so redirects are not followed: leave `follow_redirects` off, as it is by default, and ask
    the new address yourself. With it on, an answer that came after a redirect raises `gambeson.UsageError`.
    """

    requires_request_body = True

    def __init__(
        self,
        agent: Agent,
        *,
        required: Sequence[str] = (),
        role: Literal["identity", "signing"] = "identity",
        tag: str | None = None,
        label: str = "gambeson",
        lifetime: float | timedelta = 120,
    ) -> None:
        """`required`, `role` and `tag` are those that the server asks for (`gambeson.asgi.SignedRequests`): components that are signed besides
        the usual ones, such as `authorization`; whether the agent says who it is or uses a capability; and what the signatures are for.

        `label` names them among others of the request; they are good for `lifetime` seconds."""
        self._agent = agent
        self._required = texts("required", required)
        self._role = checked_role(role)
        self._tag = tag
        self._label = label
        self._lifetime = lifetime

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        for name in ("signature", "signature-input", "content-digest"):
            request.headers.pop(name, None)
        fields = [(name, value) for name, value in request.headers.multi_items()]
        body = request.content or None
        request.headers.update(
            self._agent.sign_http(
                request.method,
                # A fragment is no part of what is asked for.
                str(request.url).partition("#")[0],
                fields,
                body,
                required=self._required,
                role=self._role,
                tag=self._tag,
                label=self._label,
                lifetime=self._lifetime,
            )
        )
        response = yield request
        if response.history:
            # The fields went along as they were, and whoever answered could not have verified them.
            raise UsageError("usage", "a signed request was redirected: leave follow_redirects off")
