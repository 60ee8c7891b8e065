//! The forms below everything else: canonical JSON, JWS, and what DID Core and the VC Data Model ask of documents.

use gambeson_identity::jose::Jws;
use gambeson_identity::{DidDocument, VerifyingKey, json, vc};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::detached;
use crate::convert::{Json, to_python};
use crate::input::Input;

/// The longest JSON and JWS that are read, unless the caller says otherwise: 1 MiB.
const MAX_LEN: usize = 1 << 20;

/// The canonical form of JSON (RFC 8785, JCS), which signatures cover. What has no single meaning raises (RFC 7493).
#[pyfunction]
#[pyo3(signature = (text, *, max_len=MAX_LEN))]
pub fn canonicalize<'py>(py: Python<'py>, text: Json, max_len: usize) -> PyResult<Bound<'py, PyBytes>> {
    let canonical = detached(py, || json::canonicalize(&json::parse(text.bytes(), max_len)?))?;
    Ok(PyBytes::new(py, &canonical))
}

/// Verifies a compact JWS with ML-DSA (RFC 9964) by a public JWK, and its `typ` if one is named. A detached one is given its
/// `payload`. Returns the header and the payload; nothing of time or signer is checked.
#[pyfunction]
#[pyo3(signature = (token, jwk, *, payload=None, typ=None, max_len=MAX_LEN))]
pub fn verify_jws<'py>(
    py: Python<'py>,
    token: &str,
    jwk: Json,
    payload: Option<Input<'_>>,
    typ: Option<&str>,
    max_len: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyBytes>)> {
    let payload = payload.as_ref().map(Input::as_slice);
    let jws = detached(py, || {
        let key = VerifyingKey::from_jwk(&json::parse_object(jwk.bytes(), MAX_LEN)?)?;
        let jws = match payload {
            Some(payload) => Jws::parse_detached(token, payload, max_len)?,
            None => Jws::parse(token, max_len)?,
        };
        if let Some(typ) = typ {
            jws.expect_type(typ)?;
        }
        jws.verify(&key)?;
        Ok(jws)
    })?;
    Ok((to_python(py, jws.header())?, PyBytes::new(py, jws.payload_unverified())))
}

/// Returns if the JSON is a DID document (DID Core 1.0), else raises; nothing of it is thereby true.
#[pyfunction]
pub fn check_did_document(py: Python<'_>, document: Json) -> PyResult<()> {
    detached(py, || DidDocument::from_json(json::parse_object(document.bytes(), MAX_LEN)?).map(drop))
}

/// Returns if the JSON has the form of a credential (VC Data Model 2.0), else raises; nothing of it is thereby true.
#[pyfunction]
pub fn check_credential(py: Python<'_>, credential: Json) -> PyResult<()> {
    detached(py, || vc::check_credential(&json::parse_object(credential.bytes(), MAX_LEN)?))
}

/// Returns if the JSON has the form of a presentation (VC Data Model 2.0), else raises; nothing of it is thereby true.
#[pyfunction]
pub fn check_presentation(py: Python<'_>, presentation: Json) -> PyResult<()> {
    detached(py, || vc::check_presentation(&json::parse_object(presentation.bytes(), MAX_LEN)?))
}
