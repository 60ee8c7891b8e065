//! The forms below everything else: canonical JSON, JWS, and what DID Core and the VC Data Model ask of documents.

use gambeson_identity::jose::Jws;
use gambeson_identity::{DidDocument, Kind, Path, Resolver as _, Timestamp, json, vc};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use super::cards::Resolver;
use super::detached;
use super::keys::{KeyOrJwk, relationship};
use crate::convert::{Json, Time, now, to_python, whole};
use crate::error::{USAGE, error};
use crate::input::Input;

/// The longest JSON and JWS that are read, unless the caller says otherwise: 1 MiB.
const MAX_LEN: usize = 1 << 20;

/// The canonical form of JSON (RFC 8785, JCS), which signatures cover. What has no single meaning raises (RFC 7493), and with
/// `object_only` what is no object.
#[pyfunction]
#[pyo3(signature = (text, *, max_len=MAX_LEN, object_only=false))]
pub fn canonicalize<'py>(
    py: Python<'py>,
    text: Json,
    #[pyo3(from_py_with = whole)] max_len: usize,
    object_only: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let canonical = detached(py, || {
        let value = match object_only {
            true => json::parse_object(text.bytes(), max_len).map(Value::Object),
            false => json::parse(text.bytes(), max_len),
        };
        json::canonicalize(&value?)
    })?;
    Ok(PyBytes::new(py, &canonical))
}

/// Verifies a compact JWS with ML-DSA (RFC 9964), and its `typ` if one is named. A detached one is given its `payload`. Returns
/// the header and the payload; nothing in them is checked.
///
/// The key is the one that is given, as an object of `gambeson.mldsa` or a public JWK, or the one that the header names as a
/// DID URL (`kid`), found by the `resolver` and good for this `purpose`.
#[pyfunction]
#[pyo3(signature = (
    token, key=None, *, resolver=None, purpose="assertionMethod", payload=None, typ=None, max_len=MAX_LEN, now=None
))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub fn verify_jws<'py>(
    py: Python<'py>,
    token: &str,
    key: Option<KeyOrJwk>,
    resolver: Option<Resolver>,
    purpose: &str,
    payload: Option<Input<'_>>,
    typ: Option<&str>,
    #[pyo3(from_py_with = whole)] max_len: usize,
    now: Option<Time>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyBytes>)> {
    if key.is_some() == resolver.is_some() {
        return Err(error(py, USAGE, "give either a key or a resolver"));
    }
    let (relationship, now) = (relationship(py, purpose)?, self::now(now));
    let payload = payload.as_ref().map(Input::as_slice);
    let jws = detached(py, || {
        let key = key.as_ref().map(KeyOrJwk::read).transpose()?;
        let jws = match payload {
            Some(payload) => Jws::parse_detached(token, payload, max_len)?,
            None => Jws::parse(token, max_len)?,
        };
        if let Some(typ) = typ {
            jws.expect_type(typ)?;
        }
        if let Some(key) = key {
            jws.verify(&key)?;
        }
        if let Some(resolver) = &resolver {
            let url = jws.key_id()?;
            let document = resolver.resolve(url.did(), now)?;
            jws.verify(document.key_for(&url, Kind::JsonWebKey, relationship, now)?)?;
        }
        Ok(jws)
    })?;
    Ok((to_python(py, jws.header())?, PyBytes::new(py, jws.payload_unverified())))
}

/// Seconds since 1970 of a time of RFC 3339 with an offset, such as `2026-11-22T07:00:00Z`; fractions are dropped.
#[pyfunction]
pub fn parse_time(py: Python<'_>, text: &str) -> PyResult<u64> {
    detached(py, || text.parse::<Timestamp>()).map(|time| time.0)
}

/// A time as cards and credentials write it: `2026-11-22T07:00:00Z`.
#[pyfunction]
pub fn format_time(time: Time) -> String {
    now(Some(time)).to_string()
}

/// The role and the index of a path of the hierarchy of keys: `(1, 7)` of `m/1'/7'`.
#[pyfunction]
pub fn parse_path(py: Python<'_>, path: &str) -> PyResult<(u8, u64)> {
    detached(py, || path.parse::<Path>()).map(|path| (path.role, path.index))
}

/// Returns if the JSON is a DID document (DID Core 1.0), in the representation of `media_type` if one is given, else raises; nothing of it
/// is thereby true.
#[pyfunction]
#[pyo3(signature = (document, media_type=None))]
pub fn check_did_document(py: Python<'_>, document: Json, media_type: Option<&str>) -> PyResult<()> {
    detached(py, || match media_type {
        Some(media_type) => DidDocument::read(media_type, document.bytes()).map(drop),
        None => DidDocument::from_json(json::parse_object(document.bytes(), MAX_LEN)?).map(drop),
    })
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
