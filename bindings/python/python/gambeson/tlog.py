"""Transparency logs: append-only, in the files of C2SP tlog-tiles, with proofs that need no network.

    log = AuditLog.create(agent, "audit", "agent.example/log")
    number = log.append(agent, [b"called tool A"])
    proof = log.prove(number)  # a text to keep beside the entry

    cards = gambeson.CardStore(agent_cards)
    claims = verify_log_proof(proof, b"called tool A", origin="agent.example/log", signer=agent.key_url("log"), resolver=cards)

Who watches a log keeps its last checkpoint, and asks for proof that the newer log begins with the older one:

    old = verify_checkpoint(kept, origin=origin, signer=signer, resolver=cards)
    new = verify_checkpoint(log.checkpoint, origin=origin, signer=signer, resolver=cards)
    path = log.prove_consistency(old["size"])
    verify_consistency(path, old=(old["size"], old["root"]), new=(new["size"], new["root"]))

The tree is that of RFC 6962 with SHA-256; a checkpoint carries an ML-DSA-44 cosignature (c2sp.org/tlog-cosignature). An entry has
at most 65,535 bytes, a checkpoint about 3,400, a proof 45 for each level of the tree beside it. Any web server can serve the
folder; `AuditLog.read` opens somebody else's. A signer is the URL of a key of the role `log`, or the key itself.
"""

from gambeson._native import (
    AuditLog,
    leaf_hash,
    log_verifier_key,
    verify_checkpoint,
    verify_consistency,
    verify_inclusion,
    verify_log_proof,
)

__all__ = [
    "AuditLog",
    "leaf_hash",
    "log_verifier_key",
    "verify_checkpoint",
    "verify_consistency",
    "verify_inclusion",
    "verify_log_proof",
]
