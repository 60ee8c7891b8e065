"""Post-quantum cryptography and identities for agents, from one core in Rust.

    me = gambeson.Agent.generate()
    cards = me.first_card(valid_for=timedelta(days=365))
    trust = gambeson.CardStore(cards)

An agent's keys come from one seed; its DID and its identity cards say which they are. No private key of an agent can be
taken out of it. The primitives stand in modules of their own: `gambeson.mldsa`, `gambeson.mlkem`, `gambeson.xwing`.
"""

from gambeson._native import (
    Agent,
    CardDirectory,
    CardLog,
    CardStore,
    WebResolver,
    verify,
)
from gambeson.errors import (
    BrokenCards,
    Error,
    Expired,
    InvalidSignature,
    Malformed,
    NotExportable,
    NotPermitted,
    NotYetValid,
    RandomError,
    Replayed,
    Revoked,
    UnknownSigner,
    UsageError,
    VerificationError,
    Wiped,
    WrongAudience,
)

__all__ = [
    "Agent",
    "BrokenCards",
    "CardDirectory",
    "CardLog",
    "CardStore",
    "Error",
    "Expired",
    "InvalidSignature",
    "Malformed",
    "NotExportable",
    "NotPermitted",
    "NotYetValid",
    "RandomError",
    "Replayed",
    "Revoked",
    "UnknownSigner",
    "UsageError",
    "VerificationError",
    "WebResolver",
    "Wiped",
    "WrongAudience",
    "verify",
]
