//! ML-KEM (FIPS 203) for Python.

use gambeson::Bytes;
use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, ParameterSet};
use gambeson::secret::Secret;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{BAD_KEY, RANDOM, error};
use crate::held::Held;
use crate::input::Input;
use crate::{private_key_methods, public_key_methods};

type Pair<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn from_bytes<P: ParameterSet>(py: Python<'_>, data: &Input<'_>) -> PyResult<EncapsulationKey<P>> {
    let bytes: P::EncapsulationKeyBytes =
        data.array(py, "an encapsulation key of this set", P::EncapsulationKeyBytes::LEN)?;
    py.detach(|| EncapsulationKey::from_bytes(&bytes)).map_err(|reason| error(py, BAD_KEY, reason))
}

fn encapsulate<'py, P: ParameterSet>(py: Python<'py>, key: &EncapsulationKey<P>) -> PyResult<Pair<'py>> {
    let made = py.detach(|| key.encapsulate());
    let (ciphertext, shared) = made.map_err(|reason| error(py, RANDOM, reason))?;
    Ok((PyBytes::new(py, shared.expose()), PyBytes::new(py, ciphertext.as_ref())))
}

fn generated<P: ParameterSet>(py: Python<'_>) -> PyResult<Held<DecapsulationKey<P>>> {
    py.detach(DecapsulationKey::generate).map(Held::new).map_err(|reason| error(py, RANDOM, reason))
}

fn from_seed<P: ParameterSet>(py: Python<'_>, seed: &Input<'_>) -> PyResult<Held<DecapsulationKey<P>>> {
    let seed = Secret::new(seed.array::<[u8; 64]>(py, "an ML-KEM seed", 64)?);
    Ok(Held::new(py.detach(|| DecapsulationKey::from_seed(seed.expose()))))
}

fn seed<'py, P: ParameterSet>(
    py: Python<'py>,
    key: &Held<DecapsulationKey<P>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let seed = Secret::new(key.with(py, |key| *key.seed().expect("made of its seed").expose())?);
    Ok(PyBytes::new(py, seed.expose()))
}

fn decapsulate<'py, P: ParameterSet>(
    py: Python<'py>,
    key: &Held<DecapsulationKey<P>>,
    ciphertext: &Input<'_>,
) -> PyResult<Bound<'py, PyBytes>> {
    let ciphertext: P::Ciphertext = ciphertext.array(py, "a ciphertext of this set", P::Ciphertext::LEN)?;
    let shared = key.with(py, |key| key.decapsulate(&ciphertext))?;
    Ok(PyBytes::new(py, shared.expose()))
}

macro_rules! parameter_sets {
    ($($set:ident, $name:literal, $private:ident, $public:ident, $ek:literal, $c:literal;)*) => {$(
        #[doc = concat!("An ", $name, " private key (FIPS 203).")]
        #[pyclass(frozen, module = "gambeson.mlkem")]
        pub struct $private(Held<DecapsulationKey<$set>>);

        private_key_methods!($private);

        #[pymethods]
        impl $private {
            /// Makes a key from the operating system's randomness.
            #[staticmethod]
            fn generate(py: Python<'_>) -> PyResult<Self> {
                generated(py).map(Self)
            }

            /// The key of a seed of 64 bytes, d ‖ z (FIPS 203, Algorithm 16).
            #[staticmethod]
            fn from_seed_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
                from_seed(py, &data).map(Self)
            }

            /// The seed of 64 bytes, which is the whole private key: keep it secret.
            fn private_bytes_raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
                seed(py, &self.0)
            }

            /// The public key.
            fn public_key(&self, py: Python<'_>) -> PyResult<$public> {
                Ok($public { key: self.0.with(py, DecapsulationKey::encapsulation_key)? })
            }

            #[doc = concat!("The shared secret, 32 bytes, of a ciphertext of ", $c, ".")]
            ///
            /// A ciphertext that nobody made for this key gives a secret that nobody else knows: it does not raise.
            fn decapsulate<'py>(
                &self,
                py: Python<'py>,
                ciphertext: Input<'_>,
            ) -> PyResult<Bound<'py, PyBytes>> {
                decapsulate(py, &self.0, &ciphertext)
            }
        }

        #[doc = concat!("An ", $name, " public key (FIPS 203).")]
        #[pyclass(frozen, module = "gambeson.mlkem")]
        pub struct $public {
            key: EncapsulationKey<$set>,
        }

        public_key_methods!($public);

        #[pymethods]
        impl $public {
            #[doc = concat!("The key of its ", $ek, " bytes, checked as FIPS 203, §7.2 demands.")]
            #[staticmethod]
            fn from_public_bytes(py: Python<'_>, data: Input<'_>) -> PyResult<Self> {
                Ok(Self { key: from_bytes(py, &data)? })
            }

            #[doc = concat!("A new shared secret, 32 bytes, and the ciphertext that carries it, ", $c, ".")]
            fn encapsulate<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py>> {
                encapsulate(py, &self.key)
            }
        }
    )*};
}

parameter_sets! {
    MlKem512, "ML-KEM-512", MLKEM512PrivateKey, MLKEM512PublicKey, "800", "768";
    MlKem768, "ML-KEM-768", MLKEM768PrivateKey, MLKEM768PublicKey, "1184", "1088";
    MlKem1024, "ML-KEM-1024", MLKEM1024PrivateKey, MLKEM1024PublicKey, "1568", "1568";
}
