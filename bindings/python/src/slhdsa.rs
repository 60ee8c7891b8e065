//! SLH-DSA (FIPS 205) for Python: one class of each kind for every parameter set.

use gambeson::secret::Secret;
use gambeson::slhdsa::{
    DigestRef, Message, ParameterSet, PreHash, SigningKey, SigningKeyError, VerifyingKey,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{BAD_KEY, BAD_LENGTH, BAD_SIGNATURE, CONTEXT_TOO_LONG, RANDOM, USAGE, error};
use crate::held::Held;
use crate::input::Input;
use crate::private_key_methods;

/// A function and its arguments, of which pickle makes an object.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, &'static str));

fn set(py: Python<'_>, name: &str) -> PyResult<ParameterSet> {
    let found = ParameterSet::ALL.iter().copied().find(|set| set.name() == name);
    found.ok_or_else(|| error(py, USAGE, "unknown parameter set (expected a name such as SLH-DSA-SHA2-128s)"))
}

fn signed(
    py: Python<'_>,
    key: &Held<SigningKey>,
    message: Message<'_>,
    deterministic: bool,
) -> PyResult<Py<PyBytes>> {
    let signature = if deterministic {
        key.with(py, |key| key.sign_deterministic(message))?
    } else {
        key.with(py, |key| key.sign(message))?.map_err(|reason| error(py, RANDOM, reason))?
    };
    Ok(PyBytes::new(py, &signature).unbind())
}

fn pure<'a>(py: Python<'_>, data: &'a Input<'_>, context: Option<&'a Input<'_>>) -> PyResult<Message<'a>> {
    Message::pure(data.as_slice(), context.map_or(&[], Input::as_slice))
        .map_err(|reason| error(py, CONTEXT_TOO_LONG, reason))
}

fn prehashed<'a>(
    py: Python<'_>,
    digest: &'a Input<'_>,
    prehash: &str,
    context: Option<&'a Input<'_>>,
) -> PyResult<Message<'a>> {
    let function: PreHash = prehash.parse().map_err(|reason| error(py, USAGE, reason))?;
    let digest =
        DigestRef::from_bytes(function, digest.as_slice()).map_err(|reason| error(py, BAD_LENGTH, reason))?;
    Message::prehashed(digest, context.map_or(&[], Input::as_slice))
        .map_err(|reason| error(py, CONTEXT_TOO_LONG, reason))
}

/// An SLH-DSA private key (FIPS 205).
#[pyclass(frozen, module = "gambeson.slhdsa")]
pub struct SLHDSAPrivateKey(Held<SigningKey>, ParameterSet);

private_key_methods!(SLHDSAPrivateKey);

#[pymethods]
impl SLHDSAPrivateKey {
    /// Makes a key from the operating system's randomness.
    #[staticmethod]
    fn generate(py: Python<'_>, parameter_set: &str) -> PyResult<Self> {
        let set = set(py, parameter_set)?;
        let key = py.detach(|| SigningKey::generate(set)).map_err(|reason| error(py, RANDOM, reason))?;
        Ok(Self(Held::new(key), set))
    }

    /// The key of SK.seed, SK.prf and PK.seed, one behind the other: 48, 72 or 96 bytes (FIPS 205, Algorithm 18).
    #[staticmethod]
    fn from_seed_bytes(py: Python<'_>, data: Input<'_>, parameter_set: &str) -> PyResult<Self> {
        let set = set(py, parameter_set)?;
        let (seeds, n) = (data.as_slice(), set.seed_len());
        if seeds.len() != 3 * n {
            let detail = format_args!("the seeds of {set} have {} bytes, not {}", 3 * n, seeds.len());
            return Err(error(py, BAD_LENGTH, detail));
        }
        let (sk_seed, rest) = seeds.split_at(n);
        let (sk_prf, pk_seed) = rest.split_at(n);
        let key = py.detach(|| SigningKey::from_seeds(set, sk_seed, sk_prf, pk_seed));
        Ok(Self(Held::new(key.map_err(|reason| error(py, BAD_LENGTH, reason))?), set))
    }

    /// The key of its 64, 96 or 128 bytes, in which the public key is checked.
    #[staticmethod]
    fn from_private_bytes(py: Python<'_>, data: Input<'_>, parameter_set: &str) -> PyResult<Self> {
        let set = set(py, parameter_set)?;
        let bytes = data.as_slice();
        let key = py.detach(|| SigningKey::from_bytes(set, bytes)).map_err(|reason| match reason {
            SigningKeyError::Length(_) => error(py, BAD_LENGTH, reason),
            _ => error(py, BAD_KEY, reason),
        })?;
        Ok(Self(Held::new(key), set))
    }

    /// SK.seed, SK.prf, PK.seed and PK.root, one behind the other: keep it secret.
    fn private_bytes_raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.with(py, |key| Secret::new(key.expose_bytes().to_vec()))?;
        Ok(PyBytes::new(py, bytes.expose()))
    }

    /// The name of the parameter set.
    #[getter]
    fn parameter_set(&self) -> &'static str {
        self.1.name()
    }

    /// The public key.
    fn public_key(&self, py: Python<'_>) -> PyResult<SLHDSAPublicKey> {
        Ok(SLHDSAPublicKey { key: self.0.with(py, SigningKey::verifying_key)? })
    }

    /// Signs `data`, hedged or `deterministic`. `context` has at most 255 bytes.
    #[pyo3(signature = (data, context=None, *, deterministic=false))]
    fn sign(
        &self,
        py: Python<'_>,
        data: Input<'_>,
        context: Option<Input<'_>>,
        deterministic: bool,
    ) -> PyResult<Py<PyBytes>> {
        signed(py, &self.0, pure(py, &data, context.as_ref())?, deterministic)
    }

    /// Signs a digest that the hash function `prehash` made of the message: HashSLH-DSA, whose signatures are not those of `sign`.
    #[pyo3(signature = (digest, prehash, context=None, *, deterministic=false))]
    fn sign_prehashed(
        &self,
        py: Python<'_>,
        digest: Input<'_>,
        prehash: &str,
        context: Option<Input<'_>>,
        deterministic: bool,
    ) -> PyResult<Py<PyBytes>> {
        signed(py, &self.0, prehashed(py, &digest, prehash, context.as_ref())?, deterministic)
    }
}

/// An SLH-DSA public key (FIPS 205).
#[pyclass(frozen, module = "gambeson.slhdsa")]
pub struct SLHDSAPublicKey {
    key: VerifyingKey,
}

impl SLHDSAPublicKey {
    fn verified(&self, py: Python<'_>, message: Message<'_>, signature: &Input<'_>) -> PyResult<()> {
        let signature = signature.as_slice();
        py.detach(|| self.key.verify(message, signature)).map_err(|reason| error(py, BAD_SIGNATURE, reason))
    }
}

#[pymethods]
impl SLHDSAPublicKey {
    /// The key of its 32, 48 or 64 bytes.
    #[staticmethod]
    fn from_public_bytes(py: Python<'_>, data: Input<'_>, parameter_set: &str) -> PyResult<Self> {
        let key = VerifyingKey::from_bytes(set(py, parameter_set)?, data.as_slice());
        Ok(Self { key: key.map_err(|reason| error(py, BAD_LENGTH, reason))? })
    }

    /// The name of the parameter set.
    #[getter]
    fn parameter_set(&self) -> &'static str {
        self.key.parameter_set().name()
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
        self.verified(py, pure(py, &data, context.as_ref())?, &signature)
    }

    /// Like `verify`, over a digest that the hash function `prehash` made of the message.
    #[pyo3(signature = (signature, digest, prehash, context=None))]
    fn verify_prehashed(
        &self,
        py: Python<'_>,
        signature: Input<'_>,
        digest: Input<'_>,
        prehash: &str,
        context: Option<Input<'_>>,
    ) -> PyResult<()> {
        self.verified(py, prehashed(py, &digest, prehash, context.as_ref())?, &signature)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let make = this.get_type().getattr("from_public_bytes")?;
        let bytes = PyBytes::new(this.py(), this.get().key.as_bytes());
        Ok((make, (bytes, this.get().parameter_set())))
    }
}

crate::public_key_values!(SLHDSAPublicKey);
