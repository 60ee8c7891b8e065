"""Arguments that a constructor would turn into something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


def buffer(data: Buffer) -> bytes:
    """The bytes of a buffer: `bytes(5)` would be five zeros."""
    return memoryview(data).tobytes()


def texts(name: str, items: Iterable[str]) -> list[str]:
    """The items of a list of texts: `list("pay")` would be three characters."""
    if isinstance(items, str | bytes | bytearray):
        raise TypeError(f"{name} is a list of texts, not one: [{items!r}]")
    found = list(items)
    for item in found:
        if not isinstance(item, str):
            raise TypeError(f"{name} is a list of texts, not of {type(item).__name__}")
    return found
