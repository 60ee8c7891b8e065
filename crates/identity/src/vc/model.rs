//! The form of credentials and presentations (W3C Verifiable Credentials Data Model 2.0, §4 and §5), before anything is
//! believed: what a reader without JSON-LD can check, including terms that an inline context defines wrongly.

use crate::document::is_uri;
use crate::error::bad;
use crate::{Error, Reason, Result, Timestamp};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The first context of every credential and presentation (§4.3).
pub const CONTEXT: &str = "https://www.w3.org/ns/credentials/v2";

/// Gives every term that no other context defines a meaning of its issuer's (§5.2).
pub const UNDEFINED_TERMS: &str = "https://www.w3.org/ns/credentials/undefined-terms/v2";

/// What the base context defines for every object, and protects (§5.2, Appendix B.1).
const BASE_TERMS: [&str; 16] = [
    "id",
    "type",
    "description",
    "digestMultibase",
    "digestSRI",
    "mediaType",
    "name",
    "VerifiableCredential",
    "EnvelopedVerifiableCredential",
    "VerifiablePresentation",
    "EnvelopedVerifiablePresentation",
    "JsonSchemaCredential",
    "JsonSchema",
    "BitstringStatusListCredential",
    "BitstringStatusList",
    "BitstringStatusListEntry",
];

/// What the base context defines for subjects that are status lists.
const LIST_TERMS: [&str; 6] =
    ["statusPurpose", "encodedList", "ttl", "statusReference", "statusSize", "statusMessage"];

/// The type of embedded proofs, which the base context defines too.
const PROOF_TYPE: &str = "DataIntegrityProof";

/// Checks the form of a credential (§4.2 to §4.12, §5.3 to §5.6, §5.10).
///
/// ```
/// use gambeson_identity::vc::check_credential;
/// use serde_json::json;
///
/// let credential = json!({
///     "@context": ["https://www.w3.org/ns/credentials/v2"],
///     "type": ["VerifiableCredential"],
///     "issuer": "did:web:example.com",
///     "credentialSubject": {"id": "did:web:example.org"},
/// });
/// check_credential(credential.as_object().unwrap())?;
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// # Errors
///
/// [`Reason::BadForm`] with the member that is wrong, [`Reason::BadTime`] for a time that is not a `dateTimeStamp`.
pub fn check_credential(credential: &Map<String, Value>) -> Result<()> {
    let terms = Terms::read(credential)?;
    optional_id(credential, "a credential")?;
    terms.types(credential, Some("VerifiableCredential"), "a credential")?;
    language_text(credential)?;
    issuer(credential)?;
    subjects(credential, &terms)?;
    validity(credential)?;
    for (name, id_required) in [
        ("credentialStatus", false),
        ("credentialSchema", true),
        ("refreshService", false),
        ("termsOfUse", false),
        ("evidence", false),
        ("confidenceMethod", false),
        ("renderMethod", false),
        ("proof", false),
    ] {
        terms.typed(credential, name, id_required)?;
    }
    related_resources(credential)
}

/// Checks the form of a presentation (§4.13), and of the credentials that stand in it.
///
/// # Errors
///
/// As [`check_credential`].
pub fn check_presentation(presentation: &Map<String, Value>) -> Result<()> {
    let terms = Terms::read(presentation)?;
    optional_id(presentation, "a presentation")?;
    terms.types(presentation, Some("VerifiablePresentation"), "a presentation")?;
    for name in ["termsOfUse", "proof"] {
        terms.typed(presentation, name, false)?;
    }
    let holder = match presentation.get("holder") {
        None => None,
        Some(holder) => Some(url_or_object(holder, "holder")?),
    };
    for credential in objects(presentation, "verifiableCredential")? {
        if has_type(credential, ENVELOPED_CREDENTIAL) {
            enveloped(credential, ENVELOPED_CREDENTIAL)?;
            continue;
        }
        check_credential(credential)?;
        if !credential.contains_key("proof")
            && (holder.is_none() || issuer(credential)? != holder.unwrap_or(""))
        {
            return Err(bad(
                "a credential without a proof of its own is one that the holder issued (§4.13.4)",
            ));
        }
    }
    Ok(())
}

/// The type of a secured credential in an object (§4.13.1).
pub(crate) const ENVELOPED_CREDENTIAL: &str = "EnvelopedVerifiableCredential";

/// The type of presentations (§4.13).
pub(crate) const PRESENTATION: &str = "VerifiablePresentation";

/// The type of a secured presentation in an object (§4.13.2).
pub(crate) const ENVELOPED_PRESENTATION: &str = "EnvelopedVerifiablePresentation";

/// The media type and the content of the `data:` URL of an enveloped object (§4.13.1, §4.13.2).
fn enveloped<'a>(object: &'a Map<String, Value>, kind: &str) -> Result<(&'a str, &'a str)> {
    // A text is enough, as the standard's own examples have it (§4.13.1).
    if object.get("@context").and_then(Value::as_str) != Some(CONTEXT) {
        Terms::read(object)?;
    }
    match object.get("type") {
        Some(Value::String(found)) if found == kind => {}
        Some(Value::Array(found)) if found.len() == 1 && found[0] == kind => {}
        _ => return Err(bad(format_args!("the type of an enveloped object is {kind} and no other"))),
    }
    object
        .get("id")
        .and_then(Value::as_str)
        .and_then(|id| id.strip_prefix("data:"))
        .and_then(|data| data.split_once(','))
        .ok_or_else(|| bad("the id of an enveloped object must be a data: URL that contains it"))
}

/// The content of an enveloped object, which has this media type.
pub(crate) fn content<'a>(object: &'a Map<String, Value>, kind: &str, media: &str) -> Result<&'a str> {
    match enveloped(object, kind)? {
        (found, content) if found.eq_ignore_ascii_case(media) => Ok(content),
        (found, _) => {
            Err(Error::new(Reason::BadType, format_args!("the media type is {found:?}, expected {media:?}")))
        }
    }
}

/// Whether `type` names this.
pub(crate) fn has_type(object: &Map<String, Value>, kind: &str) -> bool {
    match object.get("type") {
        Some(Value::String(found)) => found == kind,
        Some(Value::Array(found)) => found.iter().any(|found| found == kind),
        _ => false,
    }
}

/// The URL of the issuer, which may stand in an object (§4.7).
pub(crate) fn issuer(credential: &Map<String, Value>) -> Result<&str> {
    let issuer = credential.get("issuer").ok_or_else(|| bad("a credential must name its issuer"))?;
    let url = url_or_object(issuer, "issuer")?;
    if let Value::Object(issuer) = issuer {
        language_text(issuer)?;
    }
    Ok(url)
}

/// `validFrom` and `validUntil` (§4.9), and what the data model 1.1 calls so: `issuanceDate` and `expirationDate`, where they are narrower.
pub(crate) fn validity(object: &Map<String, Value>) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
    let (from, until) = (time(object, "validFrom")?, time(object, "validUntil")?);
    match (from, until) {
        (Some(from), Some(until)) if until < from => Err(bad("validUntil is before validFrom")),
        _ => {
            let (issued, expires) = (time(object, "issuanceDate")?, time(object, "expirationDate")?);
            let until = match (until, expires) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            Ok((from.max(issued), until))
        }
    }
}

/// A member that is a `dateTimeStamp`.
pub(crate) fn time(object: &Map<String, Value>, name: &str) -> Result<Option<Timestamp>> {
    let not_a_time = || Error::new(Reason::BadTime, format_args!("{name} is not a dateTimeStamp"));
    object.get(name).map(|value| value.as_str().ok_or_else(not_a_time)?.parse()).transpose()
}

/// The objects of a member that holds one or more; none if it is missing.
pub(crate) fn objects<'a>(object: &'a Map<String, Value>, name: &str) -> Result<Vec<&'a Map<String, Value>>> {
    let wrong = || bad(format_args!("{name} must be an object or a list of objects"));
    match object.get(name) {
        None => Ok(Vec::new()),
        Some(Value::Object(one)) => Ok(vec![one]),
        Some(Value::Array(all)) if !all.is_empty() => {
            all.iter().map(|one| one.as_object().ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

/// The terms that the contexts define, as far as they can be known without fetching any.
struct Terms<'a> {
    defined: BTreeMap<&'a str, (&'a Value, bool)>,
    /// A context that is not inline may define anything.
    open: bool,
    vocabulary: bool,
}

impl<'a> Terms<'a> {
    /// §4.3: a list, first the base context, then URLs and objects.
    fn read(object: &'a Map<String, Value>) -> Result<Self> {
        let contexts = object
            .get("@context")
            .and_then(Value::as_array)
            .filter(|contexts| contexts.first().and_then(Value::as_str) == Some(CONTEXT))
            .ok_or_else(|| bad(format_args!("@context must be a list that begins with {CONTEXT}")))?;
        let mut terms = Self { defined: BTreeMap::new(), open: false, vocabulary: false };
        for context in &contexts[1..] {
            match context {
                Value::String(url) if is_uri(url) => terms.open |= url != CONTEXT,
                Value::Object(context) => terms.define(context)?,
                _ => return Err(bad("a context must be a URL or an object")),
            }
        }
        Ok(terms)
    }

    fn define(&mut self, context: &'a Map<String, Value>) -> Result<()> {
        let protected = context.get("@protected") == Some(&Value::Bool(true));
        match context.get("@vocab") {
            None => {}
            Some(Value::Null) => self.vocabulary = false,
            Some(Value::String(url)) if url.is_empty() || is_uri(url) => self.vocabulary = true,
            Some(_) => return Err(bad("@vocab must be a URL or null")),
        }
        for (term, definition) in context.iter().filter(|(term, _)| !term.starts_with('@')) {
            let same_alias =
                matches!((term.as_str(), definition.as_str()), ("id", Some("@id")) | ("type", Some("@type")));
            if (BASE_TERMS.contains(&term.as_str()) || term == PROOF_TYPE) && !same_alias {
                return Err(bad(format_args!(
                    "a context redefines {term:?}, which the base context protects (§5.2)"
                )));
            }
            if self
                .defined
                .get(term.as_str())
                .is_some_and(|(known, protected)| *protected && *known != definition)
            {
                return Err(bad(format_args!("a context redefines {term:?}, which an earlier one protects")));
            }
            let target = match definition {
                Value::Object(definition) => definition.get("@id"),
                other => Some(other),
            };
            let resolves = match target {
                None | Some(Value::Null) => true,
                Some(Value::String(url)) => {
                    url.starts_with('@') || is_uri(url) || (self.vocabulary && plain(url))
                }
                Some(_) => false,
            };
            if !resolves {
                return Err(bad(format_args!("a context maps {term:?} to a value that is not a URL")));
            }
            self.defined.insert(term, (definition, protected));
        }
        Ok(())
    }

    /// §4.5: one or more terms or absolute URLs.
    fn types(&self, object: &Map<String, Value>, required: Option<&str>, what: &str) -> Result<()> {
        let found: Vec<&str> = match object.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(all)) if !all.is_empty() => all
                .iter()
                .map(|one| one.as_str().ok_or_else(|| bad("a type must be a term or a URL")))
                .collect::<Result<_>>()?,
            _ => return Err(bad(format_args!("{what} must have a type"))),
        };
        if let Some(required) = required.filter(|required| !found.contains(required)) {
            return Err(bad(format_args!("{what} must have the type {required}")));
        }
        match found.iter().find(|found| !(is_uri(found) || self.knows(found))) {
            None => Ok(()),
            Some(unknown) => {
                Err(bad(format_args!("the type {unknown:?} is not a URL, and no context defines it")))
            }
        }
    }

    fn knows(&self, term: &str) -> bool {
        let null = self.defined.get(term).is_some_and(|(definition, _)| definition.is_null());
        plain(term)
            && !null
            && (self.open
                || self.vocabulary
                || self.defined.contains_key(term)
                || BASE_TERMS.contains(&term)
                || term == PROOF_TYPE)
    }

    /// Objects that have a type, and an `id` that is a URL if there is one.
    fn typed(&self, object: &Map<String, Value>, name: &str, id_required: bool) -> Result<()> {
        for one in objects(object, name)? {
            self.types(one, None, name)?;
            optional_id(one, name)?;
            if id_required && !one.contains_key("id") {
                return Err(bad(format_args!("{name} must have an id")));
            }
        }
        Ok(())
    }
}

/// No space and no colon: a term.
fn plain(term: &str) -> bool {
    !term.is_empty() && !term.contains(|c: char| c.is_whitespace() || c == ':')
}

/// §4.4: one URL.
fn optional_id(object: &Map<String, Value>, what: &str) -> Result<()> {
    match object.get("id") {
        None => Ok(()),
        Some(Value::String(id)) if is_uri(id) => Ok(()),
        Some(_) => Err(bad(format_args!("the id of {what} must be one URL"))),
    }
}

fn url_or_object<'a>(value: &'a Value, name: &str) -> Result<&'a str> {
    let id = match value {
        Value::Object(object) => object.get("id"),
        other => Some(other),
    };
    id.and_then(Value::as_str)
        .filter(|url| is_uri(url))
        .ok_or_else(|| bad(format_args!("{name} must be a URL or an object whose id is a URL")))
}

/// §4.6 and §11.1: `name` and `description` are text, or values with a language and a direction.
fn language_text(object: &Map<String, Value>) -> Result<()> {
    for name in ["name", "description"] {
        let valid = match object.get(name) {
            None | Some(Value::String(_)) => true,
            Some(Value::Array(all)) => !all.is_empty() && all.iter().all(language_value),
            Some(one) => language_value(one),
        };
        if !valid {
            return Err(bad(format_args!(
                "{name} must be a string or values with @value, @language and @direction"
            )));
        }
    }
    Ok(())
}

fn language_value(value: &Value) -> bool {
    value.as_object().is_some_and(|value| {
        value.get("@value").is_some_and(Value::is_string)
            && value.iter().all(|(name, value)| match name.as_str() {
                "@value" => true,
                "@language" => value.as_str().is_some_and(language_tag),
                "@direction" => matches!(value.as_str(), Some("ltr" | "rtl")),
                _ => false,
            })
    })
}

/// The shape of a language tag (BCP 47): subtags of one to eight letters and digits, first letters.
fn language_tag(tag: &str) -> bool {
    tag.starts_with(|first: char| first.is_ascii_alphabetic())
        && tag.split('-').all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// §4.8: one or more objects with at least one claim; and §5.2: the contexts define every claim.
fn subjects(credential: &Map<String, Value>, terms: &Terms<'_>) -> Result<()> {
    let subjects = objects(credential, "credentialSubject")?;
    if subjects.is_empty() || subjects.iter().any(|subject| subject.is_empty()) {
        return Err(bad("credentialSubject must be one or more objects with claims"));
    }
    for subject in subjects {
        optional_id(subject, "a subject")?;
        let defined =
            |name: &&String| terms.knows(name) || is_uri(name) || LIST_TERMS.contains(&name.as_str());
        if let Some(undefined) = subject.keys().find(|name| !defined(name)) {
            return Err(bad(format_args!(
                "no context defines the claim {undefined:?}; {UNDEFINED_TERMS} would (§5.2)"
            )));
        }
    }
    Ok(())
}

/// §5.3: each has an `id` of its own and a digest.
fn related_resources(credential: &Map<String, Value>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for resource in objects(credential, "relatedResource")? {
        let id = resource.get("id").and_then(Value::as_str).filter(|id| is_uri(id));
        if !id.is_some_and(|id| seen.insert(id)) {
            return Err(bad("a related resource must have a unique URL as id"));
        }
        let digests = [("digestSRI", sri as fn(&str) -> bool), ("digestMultibase", multibase)];
        let mut found = 0;
        for (name, valid) in digests {
            match resource.get(name) {
                None => {}
                Some(Value::String(digest)) if valid(digest) => found += 1,
                Some(_) => return Err(bad(format_args!("{name} of a related resource is not a digest"))),
            }
        }
        if found == 0 {
            return Err(bad("a related resource must have digestSRI or digestMultibase"));
        }
        if !resource
            .get("mediaType")
            .is_none_or(|media| media.as_str().is_some_and(|media| media.contains('/')))
        {
            return Err(bad("mediaType of a related resource must be a media type"));
        }
    }
    Ok(())
}

/// Subresource Integrity, §3.1.
fn sri(digest: &str) -> bool {
    digest.split(' ').all(|one| {
        one.split_once('-').is_some_and(|(algorithm, hash)| {
            matches!(algorithm, "sha256" | "sha384" | "sha512")
                && hash.len() >= 43
                && hash.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte))
        })
    })
}

/// A base and digits in it (Controlled Identifiers 1.0, §2.4).
fn multibase(digest: &str) -> bool {
    let digits = digest.get(1..).unwrap_or_default();
    match digest.as_bytes().first() {
        Some(b'u') => crate::encoding::decode(digits, 128).is_ok_and(|bytes| bytes.len() > 2),
        Some(b'z') => {
            digits.len() > 2
                && digits.bytes().all(|byte| byte.is_ascii_alphanumeric() && !b"0OIl".contains(&byte))
        }
        _ => false,
    }
}
