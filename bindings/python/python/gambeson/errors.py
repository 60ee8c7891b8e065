"""Exceptions: each carries a stable reason code, the same in Rust, TypeScript and the test vectors.

    try:
        key.verify(signature, message)
    except gambeson.InvalidSignature as refused:
        print(refused.code)  # bad-signature
"""

from __future__ import annotations

__all__ = [
    "Error",
    "InvalidSignature",
    "NotExportable",
    "RandomError",
    "UsageError",
    "VerificationError",
    "Wiped",
]


class Error(Exception):
    """The base of every exception of this package."""

    code: str
    """Why, in a word that programs compare: `bad-signature`."""

    detail: str
    """Why, in a sentence for people."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.detail} ({self.code})"


class UsageError(Error, ValueError):
    """An argument that cannot be right: a wrong length, a context of more than 255 bytes, bytes that are no key."""


class Wiped(Error):
    """The private key, or the agent, was wiped before."""


class NotExportable(Error, TypeError):
    """A private key was asked to be copied or pickled."""


class RandomError(Error):
    """The operating system gave no randomness; nothing was made."""


class VerificationError(Error):
    """What was shown does not hold. Nothing in it may be believed."""


class InvalidSignature(VerificationError):
    """The signature is not this key's over these bytes in this context."""


_CLASSES: dict[str, type[Error]] = {
    "bad-key": UsageError,
    "bad-length": UsageError,
    "bad-signature": InvalidSignature,
    "context-too-long": UsageError,
    "non-contributory": VerificationError,
    "not-exportable": NotExportable,
    "random": RandomError,
    "wiped": Wiped,
}


def of_code(code: str, detail: str) -> Error:
    """The exception of a reason code; the native module raises with it."""
    return _CLASSES.get(code, VerificationError)(code, detail)
