//! X-Wing (draft-connolly-cfrg-xwing-kem) for Python.

use gambeson::secret::Secret;
use gambeson_hybrid::xwing::{
    CIPHERTEXT_LEN, Ciphertext, DecapsulationKey, ENCAPSULATION_KEY_LEN, EncapsulateError, EncapsulationKey,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{BAD_KEY, NON_CONTRIBUTORY, RANDOM, error};
use crate::held::Held;
use crate::input::Input;
use crate::{private_key_methods, public_key_methods};

type Pair<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn ciphertext(py: Python<'_>, bytes: &Input<'_>) -> PyResult<Ciphertext> {
    bytes.array(py, "an X-Wing ciphertext", CIPHERTEXT_LEN)
}

/// An X-Wing private key: ML-KEM-768 and X25519 in one.
#[pyclass(frozen, module = "gambeson.xwing")]
pub struct XWingPrivateKey(Held<DecapsulationKey>);

private_key_methods!(XWingPrivateKey);

#[pymethods]
impl XWingPrivateKey {
    /// Makes a key from the operating system's randomness.
    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        let key = py.detach(DecapsulationKey::generate);
        key.map(|key| Self(Held::new(key))).map_err(|reason| error(py, RANDOM, reason))
    }

    /// The key of a seed of 32 bytes.
    #[staticmethod]
    fn from_seed_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
        let seed = Secret::new(data.array::<[u8; 32]>(py, "an X-Wing seed", 32)?);
        Ok(Self(Held::new(py.detach(|| DecapsulationKey::from_seed(seed.expose())))))
    }

    /// The seed of 32 bytes, which is the whole private key: keep it secret.
    fn private_bytes_raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let seed = Secret::new(self.0.with(py, |key| *key.seed().expose())?);
        Ok(PyBytes::new(py, seed.expose()))
    }

    /// The public key.
    fn public_key(&self, py: Python<'_>) -> PyResult<XWingPublicKey> {
        Ok(XWingPublicKey { key: self.0.with(py, DecapsulationKey::encapsulation_key)? })
    }

    /// The shared secret, 32 bytes, of a ciphertext of 1120; every ciphertext has one.
    fn decapsulate<'py>(&self, py: Python<'py>, ciphertext: Input<'_>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self::ciphertext(py, &ciphertext)?;
        Ok(PyBytes::new(py, self.0.with(py, |key| key.decapsulate(&bytes))?.expose()))
    }

    /// Like `decapsulate`, but a ciphertext whose X25519 share is a low-order point raises (RFC 9180, §7.1.4).
    fn decapsulate_contributory<'py>(
        &self,
        py: Python<'py>,
        ciphertext: Input<'_>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self::ciphertext(py, &ciphertext)?;
        let shared = self.0.with(py, |key| key.decapsulate_contributory(&bytes))?;
        shared
            .map(|shared| PyBytes::new(py, shared.expose()))
            .map_err(|reason| error(py, NON_CONTRIBUTORY, reason))
    }
}

/// An X-Wing public key.
#[pyclass(frozen, module = "gambeson.xwing")]
pub struct XWingPublicKey {
    key: EncapsulationKey,
}

public_key_methods!(XWingPublicKey);

#[pymethods]
impl XWingPublicKey {
    /// The key of its 1216 bytes; the ML-KEM part is checked as FIPS 203, §7.2 demands.
    #[staticmethod]
    fn from_public_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
        let bytes: [u8; ENCAPSULATION_KEY_LEN] =
            data.array(py, "an X-Wing public key", ENCAPSULATION_KEY_LEN)?;
        let key = py.detach(|| EncapsulationKey::from_bytes(&bytes));
        key.map(|key| Self { key }).map_err(|reason| error(py, BAD_KEY, reason))
    }

    /// A new shared secret, 32 bytes, and the ciphertext that carries it, 1120.
    fn encapsulate<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py>> {
        let made = py.detach(|| self.key.encapsulate());
        let (ciphertext, shared) = made.map_err(|reason| error(py, RANDOM, reason))?;
        Ok((PyBytes::new(py, shared.expose()), PyBytes::new(py, &ciphertext)))
    }

    /// Like `encapsulate`, but a key whose X25519 part is a low-order point raises.
    fn encapsulate_contributory<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py>> {
        let (ciphertext, shared) =
            py.detach(|| self.key.encapsulate_contributory()).map_err(|reason| match reason {
                EncapsulateError::NonContributory => error(py, NON_CONTRIBUTORY, reason),
                EncapsulateError::Random(_) => error(py, RANDOM, reason),
            })?;
        Ok((PyBytes::new(py, shared.expose()), PyBytes::new(py, &ciphertext)))
    }
}
