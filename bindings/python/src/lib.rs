//! `gambeson._native`: what the Python package is made of.
//!
//! Types are converted, errors are mapped, and the work is called; nothing else happens here. Every operation runs detached
//! from the interpreter, so that other threads go on meanwhile.
//!
//! # Layout
//!
//! * `input`: bytes from Python; `error`: exceptions; `held`: private keys that can be wiped
//! * `mldsa`, `mlkem`, `slhdsa`, `lms`, `xmss`, `xwing`: the primitives
//! * `identity`: agents and all that they sign; `convert`: JSON and time
//! * `channel`: agents in groups, for asyncio; `fork`: what does not go on in forked processes
//! * `vectors`: what only the tests of the vectors see

mod channel;
mod convert;
mod error;
mod fork;
mod held;
mod identity;
mod input;
mod lms;
mod mldsa;
mod mlkem;
mod slhdsa;
#[cfg(feature = "test-vectors")]
mod vectors;
mod xmss;
mod xwing;

use pyo3::prelude::*;

/// The native half of the package `gambeson`.
#[pymodule(gil_used = false)]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    use super::channel::{Delivery, open_delivery};
    #[pymodule_export]
    use super::channel::{Hub, Invitation, NativeChannel, Node, channel_groups, open_node, rest_channels};
    #[pymodule_export]
    use super::identity::{
        actions::{Action, ReplayCache, verify_action, verify_mcp, verify_mcp_receipt},
        agent::Agent,
        cards::{
            CardDirectory, CardLog, CardStore, WebResolver, dereference, resolve_did, resolve_representation,
            verify,
        },
        credentials::{
            StatusList, StatusStore, sd_jwt_disclosable, sd_jwt_disclose, verify_credential, verify_document,
            verify_presentation, verify_sd_jwt,
        },
        delegation::{Ledger, Policy, verify_chain},
        files::verify_file,
        forms::{
            canonicalize, check_credential, check_did_document, check_presentation, format_time, parse_path,
            parse_time, verify_jws,
        },
        http::{verify_agent_card, verify_http, verify_http_response},
        keys::{
            agreement_key, did_web_address, key_from_did, key_from_jwk, key_from_multikey, parse_did,
            parse_did_url, resolve_key,
        },
        log::{
            AuditLog, leaf_hash, log_verifier_key, verify_checkpoint, verify_consistency, verify_inclusion,
            verify_log_proof,
        },
        memory::{ObjectDirectory, ObjectStore, object_id},
        recovery::{age_file, generate_words, protect_words, share_words},
    };
    #[pymodule_export]
    use super::lms::{HSSPublicKey, LMSPublicKey};
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
    use super::slhdsa::{SLHDSAPrivateKey, SLHDSAPublicKey};
    #[cfg(feature = "test-vectors")]
    #[pymodule_export]
    use super::vectors::derived;
    #[pymodule_export]
    use super::xmss::{XMSSMTPublicKey, XMSSPublicKey};
    #[pymodule_export]
    use super::xwing::{XWingPrivateKey, XWingPublicKey};

    /// The reason codes of the identity layer.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::fork::check_interpreter(module.py())?;
        let codes = gambeson_identity::Reason::ALL.iter().map(|reason| reason.code());
        // True for a build for tests.
        module.add("CHECKED", cfg!(debug_assertions))?;
        module.add("MAX_SENT", gambeson_slim::MAX_MESSAGE)?;
        module.add("MCP_PROOF", gambeson_identity::mcp::PROOF)?;
        module.add("MCP_RECEIPT", gambeson_identity::mcp::RECEIPT)?;
        module.add("REASONS", PyTuple::new(module.py(), codes.collect::<Vec<_>>())?)
    }
}
