"""Post-quantum cryptography and identities for agents, from one core in Rust.

    me = gambeson.Agent.generate()
    cards = me.first_card(valid_for=timedelta(days=365))
    trust = gambeson.CardStore(cards)

An agent's keys come from one seed; its DID and its identity cards say which they are. No private key of an agent can be
taken out of it. The primitives stand in modules of their own: `gambeson.mldsa`, `gambeson.slhdsa`, `gambeson.lms`, `gambeson.xmss`, `gambeson.mlkem`, `gambeson.xwing`; transparency
logs in `gambeson.tlog`; agents in groups in `gambeson.channel`. They are loaded when they are asked for: `gambeson.mldsa` needs no import of its own.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from gambeson._native import (
    Action,
    Agent,
    AuditLog,
    CardDirectory,
    CardLog,
    CardStore,
    Ledger,
    ObjectDirectory,
    ObjectStore,
    Policy,
    ReplayCache,
    StatusList,
    StatusStore,
    WebResolver,
    age_file,
    agreement_key,
    canonicalize,
    check_credential,
    check_did_document,
    check_presentation,
    dereference,
    did_web_address,
    format_time,
    generate_words,
    key_from_did,
    key_from_jwk,
    key_from_multikey,
    object_id,
    parse_did,
    parse_did_url,
    parse_path,
    parse_time,
    protect_words,
    resolve_did,
    resolve_key,
    resolve_representation,
    sd_jwt_disclosable,
    sd_jwt_disclose,
    share_words,
    verify,
    verify_action,
    verify_agent_card,
    verify_chain,
    verify_credential,
    verify_document,
    verify_file,
    verify_http,
    verify_http_response,
    verify_jws,
    verify_log_proof,
    verify_mcp,
    verify_mcp_receipt,
    verify_presentation,
    verify_sd_jwt,
)
from gambeson.errors import (
    BrokenCards,
    BrokenLog,
    ChannelError,
    ChannelOver,
    DeadlineExceeded,
    Error,
    Expired,
    InvalidSignature,
    Malformed,
    Missed,
    NotConnected,
    NotExportable,
    NotInLog,
    NotPermitted,
    NotYetValid,
    RandomError,
    Refused,
    Replayed,
    Revoked,
    StatusUnknown,
    StorageError,
    UnknownSigner,
    Unreachable,
    Unsigned,
    UsageError,
    VerificationError,
    Wiped,
    WrongAudience,
    WrongPassphrase,
)

if TYPE_CHECKING:
    from gambeson import a2a as a2a
    from gambeson import asgi as asgi
    from gambeson import channel as channel
    from gambeson import http as http
    from gambeson import lms as lms
    from gambeson import mcp as mcp
    from gambeson import mldsa as mldsa
    from gambeson import mlkem as mlkem
    from gambeson import slhdsa as slhdsa
    from gambeson import tlog as tlog
    from gambeson import xmss as xmss
    from gambeson import xwing as xwing

_SUBMODULES = frozenset({"a2a", "asgi", "channel", "http", "lms", "mcp", "mldsa", "mlkem", "slhdsa", "tlog", "xmss", "xwing"})


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"gambeson.{name}")
    raise AttributeError(f"module 'gambeson' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})


__all__ = [
    "Action",
    "Agent",
    "AuditLog",
    "BrokenCards",
    "BrokenLog",
    "CardDirectory",
    "CardLog",
    "CardStore",
    "ChannelError",
    "ChannelOver",
    "DeadlineExceeded",
    "Error",
    "Expired",
    "InvalidSignature",
    "Ledger",
    "Malformed",
    "Missed",
    "NotConnected",
    "NotExportable",
    "NotInLog",
    "NotPermitted",
    "NotYetValid",
    "ObjectDirectory",
    "ObjectStore",
    "Policy",
    "RandomError",
    "Refused",
    "ReplayCache",
    "Replayed",
    "Revoked",
    "StatusList",
    "StatusStore",
    "StatusUnknown",
    "StorageError",
    "UnknownSigner",
    "Unreachable",
    "Unsigned",
    "UsageError",
    "VerificationError",
    "WebResolver",
    "Wiped",
    "WrongAudience",
    "WrongPassphrase",
    "age_file",
    "agreement_key",
    "canonicalize",
    "check_credential",
    "check_did_document",
    "check_presentation",
    "dereference",
    "did_web_address",
    "format_time",
    "generate_words",
    "key_from_did",
    "key_from_jwk",
    "key_from_multikey",
    "object_id",
    "parse_did",
    "parse_did_url",
    "parse_path",
    "parse_time",
    "protect_words",
    "resolve_did",
    "resolve_key",
    "resolve_representation",
    "sd_jwt_disclosable",
    "sd_jwt_disclose",
    "share_words",
    "verify",
    "verify_action",
    "verify_agent_card",
    "verify_chain",
    "verify_credential",
    "verify_document",
    "verify_file",
    "verify_http",
    "verify_http_response",
    "verify_jws",
    "verify_log_proof",
    "verify_mcp",
    "verify_mcp_receipt",
    "verify_presentation",
    "verify_sd_jwt",
]
