//! XMSS and XMSS^MT (RFC 8391, SP 800-208) for Python: verification.

use gambeson::xmss::{VerifyingKey, VerifyingKeyError};
use pyo3::prelude::*;

use crate::error::{BAD_KEY, BAD_LENGTH, BAD_SIGNATURE, error};
use crate::input::Input;
use crate::lms::Encoded;
use crate::public_key_methods;

fn refused(py: Python<'_>, reason: VerifyingKeyError) -> PyErr {
    let code = match reason {
        VerifyingKeyError::Length { .. } => BAD_LENGTH,
        _ => BAD_KEY,
    };
    error(py, code, reason)
}

macro_rules! public_keys {
    ($($class:ident, $text:literal, $read:ident;)*) => {$(
        #[doc = concat!("An ", $text, " public key (RFC 8391).")]
        #[pyclass(frozen, module = "gambeson.xmss")]
        pub struct $class {
            key: Encoded<VerifyingKey>,
        }

        public_key_methods!($class);

        #[pymethods]
        impl $class {
            /// The key of its 52, 68 or 132 bytes, which name its parameter set.
            #[staticmethod]
            fn from_public_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
                let bytes = data.as_slice();
                let key = VerifyingKey::$read(bytes).map_err(|reason| refused(py, reason))?;
                Ok(Self { key: Encoded { key, bytes: bytes.to_vec() } })
            }

            /// The name of the parameter set.
            #[getter]
            fn parameter_set(&self) -> &'static str {
                self.key.key.parameter_set().name()
            }

            /// Returns if `signature` is this key's over `data`; else it raises `InvalidSignature`.
            fn verify(&self, py: Python<'_>, signature: Input<'_>, data: Input<'_>) -> PyResult<()> {
                let (signature, data) = (signature.as_slice(), data.as_slice());
                let verdict = py.detach(|| self.key.key.verify(data, signature));
                verdict.map_err(|reason| error(py, BAD_SIGNATURE, reason))
            }
        }
    )*};
}

public_keys! {
    XMSSPublicKey, "XMSS", from_bytes;
    XMSSMTPublicKey, "XMSS^MT", from_mt_bytes;
}
