//! `gambeson._native`: what the Python package is made of.
//!
//! Types are converted, errors are mapped, and the work is called; nothing else happens here. Every operation runs detached
//! from the interpreter, so that other threads go on meanwhile.
//!
//! # Layout
//!
//! * `input`: bytes from Python; `error`: exceptions; `held`: private keys that can be wiped
//! * `mldsa`, `mlkem`, `xwing`: the primitives
//! * `identity`: agents and all that they sign; `convert`: JSON and time

mod convert;
mod error;
mod held;
mod identity;
mod input;
mod mldsa;
mod mlkem;
mod xwing;

use pyo3::prelude::*;

/// The native half of the package `gambeson`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    use super::identity::{
        actions::{Action, ReplayCache, verify_action, verify_mcp, verify_mcp_receipt},
        agent::Agent,
        cards::{CardDirectory, CardLog, CardStore, WebResolver, verify},
        credentials::{
            StatusList, StatusStore, sd_jwt_disclosable, sd_jwt_disclose, verify_credential, verify_document,
            verify_presentation, verify_sd_jwt,
        },
        delegation::{Ledger, Policy, verify_chain},
        forms::{canonicalize, check_credential, check_did_document, check_presentation, verify_jws},
        http::{verify_agent_card, verify_http, verify_http_response},
        log::{AuditLog, verify_log_proof},
        sealed::{generate_words, object_id, protect_words},
    };
    #[pymodule_export]
    use super::mldsa::{
        MLDSA44PrivateKey, MLDSA44PublicKey, MLDSA65PrivateKey, MLDSA65PublicKey, MLDSA87PrivateKey,
        MLDSA87PublicKey,
    };
    #[pymodule_export]
    use super::mlkem::{
        MLKEM512PrivateKey, MLKEM512PublicKey, MLKEM768PrivateKey, MLKEM768PublicKey, MLKEM1024PrivateKey,
        MLKEM1024PublicKey,
    };
    #[pymodule_export]
    use super::xwing::{XWingPrivateKey, XWingPublicKey};

    /// The reason codes of the identity layer.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let codes = gambeson_identity::Reason::ALL.iter().map(|reason| reason.code());
        module.add("MCP_PROOF", gambeson_identity::mcp::PROOF)?;
        module.add("MCP_RECEIPT", gambeson_identity::mcp::RECEIPT)?;
        module.add("REASONS", PyTuple::new(module.py(), codes.collect::<Vec<_>>())?)
    }
}
