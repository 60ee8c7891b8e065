//! LMS and HSS (RFC 8554, RFC 9858) for Python: verification.

use gambeson::lms::{HssVerifyingKey, VerifyingKey, VerifyingKeyError};
use pyo3::prelude::*;

use crate::error::{BAD_KEY, BAD_LENGTH, BAD_SIGNATURE, error};
use crate::input::Input;
use crate::public_key_methods;

fn refused(py: Python<'_>, reason: VerifyingKeyError) -> PyErr {
    let code = match reason {
        VerifyingKeyError::Length { .. } => BAD_LENGTH,
        _ => BAD_KEY,
    };
    error(py, code, reason)
}

/// A key and the bytes that it was made of.
#[derive(PartialEq)]
pub struct Encoded<K> {
    pub key: K,
    pub bytes: Vec<u8>,
}

impl<K> Encoded<K> {
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// An LMS public key (RFC 8554).
#[pyclass(frozen, module = "gambeson.lms")]
pub struct LMSPublicKey {
    key: Encoded<VerifyingKey>,
}

public_key_methods!(LMSPublicKey);

#[pymethods]
impl LMSPublicKey {
    /// The key of its 48 or 56 bytes, which name its types.
    #[staticmethod]
    fn from_public_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
        let bytes = data.as_slice();
        let key = VerifyingKey::from_bytes(bytes).map_err(|reason| refused(py, reason))?;
        Ok(Self { key: Encoded { key, bytes: bytes.to_vec() } })
    }

    /// The type of the tree, such as `LMS_SHA256_M32_H10`.
    #[getter]
    fn lms_type(&self) -> &'static str {
        self.key.key.lms_type().name()
    }

    /// The type of the one-time signatures, such as `LMOTS_SHA256_N32_W8`.
    #[getter]
    fn lmots_type(&self) -> &'static str {
        self.key.key.lmots_type().name()
    }

    /// Returns if `signature` is this key's over `data`; else it raises `InvalidSignature`.
    fn verify(&self, py: Python<'_>, signature: Input<'_>, data: Input<'_>) -> PyResult<()> {
        let (signature, data) = (signature.as_slice(), data.as_slice());
        let verdict = py.detach(|| self.key.key.verify(data, signature));
        verdict.map_err(|reason| error(py, BAD_SIGNATURE, reason))
    }
}

/// An HSS public key: of one to eight levels of LMS trees (RFC 8554).
#[pyclass(frozen, module = "gambeson.lms")]
pub struct HSSPublicKey {
    key: Encoded<HssVerifyingKey>,
}

public_key_methods!(HSSPublicKey);

#[pymethods]
impl HSSPublicKey {
    /// The key of its 52 or 60 bytes, which name the number of levels and the types of the highest tree.
    #[staticmethod]
    fn from_public_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
        let bytes = data.as_slice();
        let key = HssVerifyingKey::from_bytes(bytes).map_err(|reason| refused(py, reason))?;
        Ok(Self { key: Encoded { key, bytes: bytes.to_vec() } })
    }

    /// The number of levels: 1 to 8.
    #[getter]
    fn levels(&self) -> u32 {
        self.key.key.levels()
    }

    /// The type of the highest tree, such as `LMS_SHA256_M32_H10`.
    #[getter]
    fn lms_type(&self) -> &'static str {
        self.key.key.top().lms_type().name()
    }

    /// The type of the one-time signatures of the highest tree, such as `LMOTS_SHA256_N32_W8`.
    #[getter]
    fn lmots_type(&self) -> &'static str {
        self.key.key.top().lmots_type().name()
    }

    /// Returns if `signature` is this key's over `data`; else it raises `InvalidSignature`.
    fn verify(&self, py: Python<'_>, signature: Input<'_>, data: Input<'_>) -> PyResult<()> {
        let (signature, data) = (signature.as_slice(), data.as_slice());
        let verdict = py.detach(|| self.key.key.verify(data, signature));
        verdict.map_err(|reason| error(py, BAD_SIGNATURE, reason))
    }
}
