//! The identity layer.
//!
//! # Layout
//!
//! * `agent`: the agent and its keys; `recovery`: how its seed is kept
//! * `cards`: logs of cards, and resolvers of DIDs; `keys`: public keys and their names
//! * `actions`: signed tool calls, and their proofs in MCP; `delegation`: who may
//! * `http`: signed requests, and A2A cards; `sealed`: payloads for one agent, backups, state
//! * `log`: the audit log; `memory`: objects that are named by their hash; `files`: signatures of files
//! * `forms`: JSON, JWS, documents, times
//! * `credentials`: what agents say of each other, and whether it still holds

pub mod actions;
pub mod agent;
pub mod cards;
pub mod credentials;
pub mod delegation;
pub mod files;
pub mod forms;
pub mod http;
pub mod keys;
pub mod log;
pub mod memory;
pub mod recovery;
pub mod sealed;

use gambeson_identity::Result;
use pyo3::prelude::*;

use crate::error::refused;

/// Works detached, and raises what was refused.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| refused(py, &error))
}
