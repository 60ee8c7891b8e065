"""Post-quantum cryptography and identities for agents, from one core in Rust.

The primitives stand in modules of their own: `gambeson.mldsa`, `gambeson.mlkem`, `gambeson.xwing`.
"""

from gambeson.errors import (
    Error,
    InvalidSignature,
    NotExportable,
    RandomError,
    UsageError,
    VerificationError,
    Wiped,
)

__all__ = [
    "Error",
    "InvalidSignature",
    "NotExportable",
    "RandomError",
    "UsageError",
    "VerificationError",
    "Wiped",
]
