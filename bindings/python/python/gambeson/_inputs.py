"""Arguments that a constructor would turn into something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from gambeson.errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Buffer


def buffer(data: Buffer) -> bytes:
    """The bytes of a buffer: `bytes(5)` would be five zeros."""
    return memoryview(data).tobytes()


def texts(name: str, items: Iterable[str]) -> list[str]:
    """The items of a list of texts: `list("pay")` would be three characters."""
    if isinstance(items, str | bytes | bytearray):
        raise TypeError(f"{name} must be a list of strings, not one: [{items!r}]")
    found = list(items)
    for item in found:
        if not isinstance(item, str):
            raise TypeError(f"{name} is a list of texts, not of {type(item).__name__}")
    return found


def checked_role(role: Literal["identity", "signing"]) -> Literal["identity", "signing"]:
    """The role in which HTTP is signed, if it is one."""
    if role not in ("identity", "signing"):
        raise UsageError("usage", f"the role must be 'identity' or 'signing', not {role!r}")
    return role


def checked_origin(origin: str) -> str:
    """Scheme and authority of a server, without a slash behind them."""
    try:
        parts = urlsplit(origin)
        _ = parts.port
    except ValueError as error:
        raise UsageError("usage", f"the origin {origin!r} is no address: {error}") from None
    rest = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if parts.scheme not in ("http", "https") or not parts.hostname or rest or not set("?#@").isdisjoint(origin):
        raise UsageError("usage", f"an origin must be a scheme and an authority, such as 'https://bank.example', not {origin!r}")
    return origin.rstrip("/")
