//! What only the tests of the vectors see, and no wheel has: raw derivations, and agents whose signatures are deterministic.

use gambeson::secret::Secret;
use gambeson_identity::{self as identity, MasterSeed, Purpose};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::identity::agent::{Agent, suite};
use crate::input::Input;

fn seed(py: Python<'_>, seed: &Input<'_>) -> PyResult<MasterSeed> {
    let seed = Secret::new(seed.array::<[u8; 32]>(py, "a master seed", 32)?);
    Ok(MasterSeed::from_bytes(seed.expose()))
}

/// For test vectors alone: the context of a purpose, and the key that is derived for it.
#[pyfunction]
pub fn derived<'py>(
    py: Python<'py>,
    seed: Input<'_>,
    suite: &str,
    purpose: &str,
    index: u64,
) -> PyResult<(&'static str, Bound<'py, PyBytes>)> {
    let (seed, suite) = (self::seed(py, &seed)?, self::suite(py, suite)?);
    let purpose = Purpose::ALL.iter().find(|it| format!("{it:?}") == purpose);
    let purpose = *purpose.ok_or_else(|| PyValueError::new_err("unknown purpose"))?;
    Ok((purpose.context(suite), PyBytes::new(py, &seed.derived(suite, purpose, index))))
}

#[pymethods]
impl Agent {
    /// For test vectors alone: the agent of a seed, with signatures of the deterministic variant.
    #[staticmethod]
    fn deterministic(py: Python<'_>, seed: Input<'_>, suite: &str) -> PyResult<Self> {
        let (seed, suite) = (self::seed(py, &seed)?, self::suite(py, suite)?);
        Ok(Self::of(identity::Agent::with_suite(seed, suite).deterministic()))
    }
}
