"""What one member says to another on a channel that all of them read (docs/spec/channel-connections.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

MARK = b"\0gambeson connection\1"
"""How a message begins that is not for the application. One of the application that begins so too is sent as `Kind.PLAIN`."""

_ID = 16
MAX_DID = 2048


class Kind(IntEnum):
    """What a message is for."""

    PLAIN = 0
    OPEN = 1
    ACCEPT = 2
    PART = 3
    WHOLE = 4
    CLOSE = 5
    ASK = 6
    HERE = 7


@dataclass(frozen=True, slots=True)
class Envelope:
    """A word to one member: `id` is 16 bytes that who connected chose, `body` what the kind says."""

    kind: Kind
    to: str
    id: bytes
    body: bytes

    def to_bytes(self) -> bytes:
        """The mark, the kind, the DID behind its length of two bytes, the id, the body."""
        to = self.to.encode()
        return b"".join([MARK, bytes([self.kind]), len(to).to_bytes(2, "big"), to, self.id, self.body])


def plain(data: bytes) -> bytes:
    """What carries bytes of the application: the bytes themselves, unless they begin like an envelope."""
    return MARK + bytes([Kind.PLAIN]) + data if data.startswith(MARK) else data


def unwrap(data: bytes) -> bytes | Envelope | None:
    """What a message carries: bytes for the application, an envelope, or nothing that is known here."""
    if not data.startswith(MARK):
        return data
    head, rest = data[len(MARK) : len(MARK) + 1], data[len(MARK) + 1 :]
    if head == bytes([Kind.PLAIN]):
        return rest
    try:
        kind = Kind(head[0])
        length = int.from_bytes(rest[:2], "big")
        to, rest = rest[2 : 2 + length].decode(), rest[2 + length :]
    except (IndexError, ValueError):
        return None
    if length > MAX_DID or len(rest) < _ID:
        return None
    return Envelope(kind, to, rest[:_ID], rest[_ID:])
