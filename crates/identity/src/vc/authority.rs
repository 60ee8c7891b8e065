//! The types that give authority: each has a door of its own that signs it, and the signer of claims refuses them all.
//!
//! Credentials of every type have one header and one key. Whoever lets others say what is claimed must not hand out rights so, nor take
//! revocations back.

use super::{model, status};
use crate::{Error, Reason, Result};
use serde_json::{Map, Value};

/// The types, of credentials and of their subjects.
const TYPES: [&str; 7] = [
    crate::delegation::FORM.kind,
    crate::approval::FORM.kind,
    status::LIST_CREDENTIAL,
    status::LIST,
    model::PRESENTATION,
    model::ENVELOPED_PRESENTATION,
    model::ENVELOPED_CREDENTIAL,
];

/// Refuses a credential of such a type, under any of its names.
///
/// # Errors
///
/// [`Reason::BadType`] with the type.
#[inline(never)]
pub(super) fn refuse(credential: &Map<String, Value>) -> Result<()> {
    let subjects = match credential.get("credentialSubject") {
        Some(Value::Array(subjects)) => &subjects[..],
        subject => subject.map_or(&[][..], core::slice::from_ref),
    };
    let mut found = None;
    for part in [credential.get("type"), credential.get("@context")] {
        found = found.or_else(|| part.and_then(named));
    }
    for subject in subjects {
        found = found.or_else(|| subject.get("type").and_then(named));
    }
    match found {
        None => Ok(()),
        Some(kind) => Err(Error::new(
            Reason::BadType,
            format_args!("{kind} gives authority and cannot be issued as a claim"),
        )),
    }
}

/// The type that a text, or one within, names by itself or at the end of an IRI.
fn named(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => {
            let last = text.rsplit(['#', '/', ':']).next()?;
            TYPES.into_iter().find(|kind| *kind == last)
        }
        Value::Array(values) => values.iter().find_map(named),
        Value::Object(members) => members.values().find_map(named),
        _ => None,
    }
}
