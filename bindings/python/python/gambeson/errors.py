"""Exceptions: each carries a stable reason code, the same in Rust, TypeScript and the test vectors.

    try:
        key.verify(signature, message)
    except gambeson.InvalidSignature as refused:
        print(refused.code)  # bad-signature
"""

from __future__ import annotations

__all__ = [
    "BrokenCards",
    "BrokenLog",
    "ChannelError",
    "ChannelOver",
    "DeadlineExceeded",
    "Error",
    "Expired",
    "InvalidSignature",
    "Malformed",
    "Missed",
    "NotConnected",
    "NotExportable",
    "NotInLog",
    "NotPermitted",
    "NotYetValid",
    "RandomError",
    "Refused",
    "Replayed",
    "Revoked",
    "StatusUnknown",
    "StorageError",
    "UnknownSigner",
    "Unreachable",
    "Unsigned",
    "UsageError",
    "VerificationError",
    "Wiped",
    "WrongAudience",
    "WrongPassphrase",
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
    """The signature is not this key's over these bytes in this context; or a seal or a hash does not fit them."""


class Malformed(VerificationError, ValueError):
    """Bytes that are not what they should be: no key, no JSON of one meaning, no DID, too long, of another type."""


class Expired(VerificationError):
    """Its time is over."""


class NotYetValid(VerificationError):
    """Its time has not come."""


class UnknownSigner(VerificationError):
    """Nobody here knows the DID, or its document has no such key."""


class Revoked(VerificationError):
    """The key or the credential was revoked or suspended."""


class NotPermitted(VerificationError):
    """Who signed this may not do so, or not this: another purpose, beyond what was delegated, not approved."""


class WrongAudience(VerificationError):
    """It was made for somebody else, or for another question."""


class Replayed(VerificationError):
    """It was shown here before."""


class Unsigned(VerificationError):
    """Nothing signs it, or the signature leaves out what must be signed."""


class StatusUnknown(VerificationError):
    """Nobody here can tell whether it was revoked."""


class WrongPassphrase(VerificationError):
    """The passphrase does not open the file, or the file asks for more work than is done here."""


class BrokenCards(VerificationError):
    """The identity cards do not follow from the DID or from each other, or newer ones are known."""


class BrokenLog(VerificationError):
    """A log does not hold what was shown: the entry is not in it, it does not go on from where it was, or files were changed."""


class NotInLog(Error, LookupError):
    """The log has no such entry, or is not there."""


class StorageError(Error):
    """Files could not be read or written."""


class ChannelError(Error):
    """Something on a channel did not do what it should."""


class ChannelOver(ChannelError):
    """This member is in the channel no more: it left, was removed, or the agent was closed."""


class DeadlineExceeded(ChannelError, TimeoutError):
    """There was no answer in time. What was asked may have been done."""


class Missed(ChannelError):
    """Messages came while nobody read them, and more than are kept in memory. `Channel.history` has them."""


class NotConnected(ChannelError):
    """A connection was not taken, or has ended: `code` says why, and is `done` when an end closed it in order."""


class Refused(ChannelError):
    """The rules of the channel, of MLS or of this agent do not allow it: `code` says which."""


class Unreachable(ChannelError):
    """No node, or no delivery service, answers."""


_CLASSES: dict[str, type[Error]] = {
    "bad-context": UsageError,
    "bad-length": UsageError,
    "context-too-long": UsageError,
    "usage": UsageError,
    "wrong-seed": UsageError,
    "not-exportable": NotExportable,
    "wiped": Wiped,
    "no-randomness": RandomError,
    "bad-signature": InvalidSignature,
    "bad-algorithm": Malformed,
    "bad-did": Malformed,
    "bad-encoding": Malformed,
    "bad-form": Malformed,
    "bad-json": Malformed,
    "bad-key": Malformed,
    "bad-path": Malformed,
    "bad-time": Malformed,
    "bad-type": Malformed,
    "non-contributory": Malformed,
    "too-large": Malformed,
    "expired": Expired,
    "not-yet-valid": NotYetValid,
    "unknown-did": UnknownSigner,
    "unknown-key": UnknownSigner,
    "key-revoked": Revoked,
    "wrong-purpose": NotPermitted,
    "bad-archive": Malformed,
    "bad-checkpoint": Malformed,
    "bad-disclosure": Malformed,
    "bad-shares": Malformed,
    "bad-words": Malformed,
    "too-much-work": WrongPassphrase,
    "wrong-passphrase": WrongPassphrase,
    "cannot-open": InvalidSignature,
    "wrong-hash": InvalidSignature,
    "other-recipient": WrongAudience,
    "irreversible": UsageError,
    "out-of-range": UsageError,
    "uncovered": Unsigned,
    "unsecured": Unsigned,
    "revoked": Revoked,
    "suspended": Revoked,
    "stale-status": StatusUnknown,
    "unknown-status": StatusUnknown,
    "wrong-holder": NotPermitted,
    "wrong-issuer": NotPermitted,
    "wrong-nonce": WrongAudience,
    "replayed": Replayed,
    "wrong-audience": WrongAudience,
    "other-signer": NotPermitted,
    "wrong-digest": InvalidSignature,
    "untrusted-root": NotPermitted,
    "widened": NotPermitted,
    "too-deep": NotPermitted,
    "wrong-delegate": NotPermitted,
    "not-permitted": NotPermitted,
    "over-count": NotPermitted,
    "over-budget": NotPermitted,
    "not-approved": NotPermitted,
    "long-lived": NotPermitted,
    "broken-chain": BrokenCards,
    "not-bound": BrokenCards,
    "stale-card": BrokenCards,
    "bad-digest": InvalidSignature,
    "damaged-log": BrokenLog,
    "inconsistent": BrokenLog,
    "not-included": BrokenLog,
    "not-in-log": NotInLog,
    "storage-failed": StorageError,
}


_CHANNEL: dict[str, type[Error]] = {
    "deadline": DeadlineExceeded,
    "forked": ChannelError,
    "full": ChannelError,
    "message-too-large": ChannelError,
    "no-checkpoint": ChannelError,
    "no-key-package": ChannelError,
    "no-randomness": RandomError,
    "over": ChannelOver,
    "service-failed": ChannelError,
    "storage-failed": StorageError,
    "too-large": ChannelError,
    "unknown-card": ChannelError,
    "unreachable": Unreachable,
    "usage": UsageError,
}


def of_channel(code: str, detail: str) -> Error:
    """The exception of what went wrong on a channel. A code without a class is a refusal."""
    return _CHANNEL.get(code, Refused)(code, detail)


def of_code(code: str, detail: str) -> Error:
    """The exception of a reason code; the native module raises with it. A code without a class is a refusal."""
    return _CLASSES.get(code, VerificationError)(code, detail)
