"""Signed HTTP requests (RFC 9421, with `ml-dsa-65`), for `httpx` (`pip install gambeson[httpx]`).

    async with httpx.AsyncClient(auth=gambeson.http.Signed(agent)) as client:
        await client.post("https://bank.example/pay", json={"amount": 5})

Method, address, type and digest of the body are signed, with a time and a nonce. A signature takes about 4,500 characters of
the request's header. `gambeson.asgi` is the other side; `Agent.sign_http` serves other clients.
"""

from __future__ import annotations

from collections.abc import Generator

import httpx

from gambeson._native import Agent

__all__ = ["Signed"]


class Signed(httpx.Auth):
    """Signs each request on its way, redirects and retries too."""

    requires_request_body = True

    def __init__(self, agent: Agent, *, tag: str | None = None) -> None:
        """`tag` says what the signatures are for, where a server asks for one."""
        self._agent = agent
        self._tag = tag

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        for name in ("signature", "signature-input", "content-digest"):
            request.headers.pop(name, None)
        fields = [(name, value) for name, value in request.headers.multi_items()]
        body = request.content or None
        request.headers.update(
            self._agent.sign_http(request.method, str(request.url), fields, body, tag=self._tag)
        )
        yield request
