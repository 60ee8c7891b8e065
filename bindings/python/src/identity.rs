//! The identity layer.
//!
//! # Layout
//!
//! * `agent`: the agent and its keys; `cards`: logs of cards, and resolvers of DIDs
//! * `actions`: signed tool calls, and their proofs in MCP; `delegation`: who may
//! * `credentials`: what agents say of each other, and whether it still holds

pub mod actions;
pub mod agent;
pub mod cards;
pub mod credentials;
pub mod delegation;

use gambeson_identity::Result;
use pyo3::prelude::*;

use crate::error::refused;

/// Works detached, and raises what was refused.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| refused(py, &error))
}
