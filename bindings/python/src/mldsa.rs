//! ML-DSA (FIPS 204) for Python.

use gambeson::Bytes;
use gambeson::mldsa::{Message, MlDsa44, MlDsa65, MlDsa87, ParameterSet, SigningKey, VerifyingKey};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{BAD_SIGNATURE, CONTEXT_TOO_LONG, RANDOM, error};
use crate::held::Held;
use crate::input::Input;
use crate::{private_key_methods, public_key_methods};

fn generated<P: ParameterSet>(py: Python<'_>) -> PyResult<Held<SigningKey<P>>> {
    py.detach(SigningKey::generate).map(Held::new).map_err(|reason| error(py, RANDOM, reason))
}

fn from_seed<P: ParameterSet>(py: Python<'_>, seed: &Input<'_>) -> PyResult<Held<SigningKey<P>>> {
    let seed = gambeson::secret::Secret::new(seed.array::<[u8; 32]>(py, "an ML-DSA seed", 32)?);
    Ok(Held::new(py.detach(|| SigningKey::from_seed(seed.expose()))))
}

fn seed<'py, P: ParameterSet>(py: Python<'py>, key: &Held<SigningKey<P>>) -> PyResult<Bound<'py, PyBytes>> {
    let seed = key.with(py, |key| *key.seed().expect("made of its seed").expose())?;
    let seed = gambeson::secret::Secret::new(seed);
    Ok(PyBytes::new(py, seed.expose()))
}

/// Signs; the message carries its context, or is μ.
fn sign<'py, P: ParameterSet>(
    py: Python<'py>,
    key: &Held<SigningKey<P>>,
    message: Message<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let signature = key.with(py, |key| key.sign(message))?.map_err(|reason| error(py, RANDOM, reason))?;
    Ok(PyBytes::new(py, signature.as_ref()))
}

fn verify<P: ParameterSet>(
    py: Python<'_>,
    key: &VerifyingKey<P>,
    message: Message<'_>,
    signature: &Input<'_>,
) -> PyResult<()> {
    let signature = signature.as_slice();
    py.detach(|| key.verify(message, signature)).map_err(|reason| error(py, BAD_SIGNATURE, reason))
}

fn message<'a>(py: Python<'_>, data: &'a Input<'_>, context: Option<&'a Input<'_>>) -> PyResult<Message<'a>> {
    Message::pure(data.as_slice(), context.map_or(&[], Input::as_slice))
        .map_err(|reason| error(py, CONTEXT_TOO_LONG, reason))
}

macro_rules! parameter_sets {
    ($($set:ident, $name:literal, $private:ident, $public:ident, $pk:literal, $sig:literal;)*) => {$(
        #[doc = concat!("An ", $name, " private key (FIPS 204).")]
        #[pyclass(frozen, module = "gambeson.mldsa")]
        pub struct $private(Held<SigningKey<$set>>);

        private_key_methods!($private);

        #[pymethods]
        impl $private {
            /// Makes a key from the operating system's randomness.
            #[staticmethod]
            fn generate(py: Python<'_>) -> PyResult<Self> {
                generated(py).map(Self)
            }

            /// The key of a seed of 32 bytes (FIPS 204, Algorithm 6).
            #[staticmethod]
            fn from_seed_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
                from_seed(py, &data).map(Self)
            }

            /// The seed of 32 bytes, which is the whole private key: keep it secret.
            fn private_bytes_raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                seed(py, &self.0)
            }

            /// The public key.
            fn public_key(&self, py: Python<'_>) -> PyResult<$public> {
                Ok($public { key: self.0.with(py, SigningKey::verifying_key)? })
            }

            #[doc = concat!("Signs `data`, hedged: ", $sig, " bytes. `context` has at most 255.")]
            #[pyo3(signature = (data, context=None))]
            fn sign<'py>(
                &self,
                py: Python<'py>,
                data: Input<'_>,
                context: Option<Input<'_>>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                sign(py, &self.0, message(py, &data, context.as_ref())?)
            }

            /// Signs the message representative of 64 bytes, computed elsewhere (FIPS 204, Algorithm 7, line 6).
            fn sign_mu<'py>(&self, py: Python<'py>, mu: Input<'_>) -> PyResult<Bound<'py, PyBytes>> {
                let mu: [u8; 64] = mu.array(py, "a message representative", 64)?;
                sign(py, &self.0, Message::mu(&mu))
            }
        }

        #[doc = concat!("An ", $name, " public key (FIPS 204).")]
        #[pyclass(frozen, module = "gambeson.mldsa")]
        pub struct $public {
            pub key: VerifyingKey<$set>,
        }

        public_key_methods!($public);

        impl $public {
            pub fn as_bytes(&self) -> &[u8] {
                self.key.as_bytes()
            }
        }

        #[pymethods]
        impl $public {
            #[doc = concat!("The key of its ", $pk, " bytes.")]
            #[staticmethod]
            fn from_public_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
                let what = concat!("an ", $name, " public key");
                let bytes = data.array(py, what, <$set as ParameterSet>::VerifyingKeyBytes::LEN)?;
                Ok(Self { key: VerifyingKey::from_bytes(&bytes) })
            }

            /// Returns if `signature` is this key's over `data`; else it raises `InvalidSignature`.
            #[pyo3(signature = (signature, data, context=None))]
            fn verify(
                &self,
                py: Python<'_>,
                signature: Input<'_>,
                data: Input<'_>,
                context: Option<Input<'_>>,
            ) -> PyResult<()> {
                let message = message(py, &data, context.as_ref())?;
                verify(py, &self.key, message, &signature)
            }

            /// Like `verify`, over the message representative of 64 bytes.
            fn verify_mu(&self, py: Python<'_>, signature: Input<'_>, mu: Input<'_>) -> PyResult<()> {
                let mu: [u8; 64] = mu.array(py, "a message representative", 64)?;
                verify(py, &self.key, Message::mu(&mu), &signature)
            }
        }
    )*};
}

parameter_sets! {
    MlDsa44, "ML-DSA-44", MLDSA44PrivateKey, MLDSA44PublicKey, "1312", "2420";
    MlDsa65, "ML-DSA-65", MLDSA65PrivateKey, MLDSA65PublicKey, "1952", "3309";
    MlDsa87, "ML-DSA-87", MLDSA87PrivateKey, MLDSA87PublicKey, "2592", "4627";
}
