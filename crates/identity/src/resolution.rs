//! The functions of DID Core 1.0, §7: a DID resolved, a DID URL dereferenced, with the metadata that the standard names.
//!
//! ```
//! use gambeson_identity::{CardStore, Timestamp, resolution};
//!
//! let (cards, now) = (CardStore::default(), Timestamp(1_795_330_800));
//! let found = resolution::dereference(&cards, "did:web:bank.example#signing-0", None, now);
//! assert_eq!(found.metadata["error"], "notFound");
//! assert_eq!(found.refusal.unwrap().reason().code(), "unknown-did");
//! ```

use crate::document::CONTEXT;
use crate::{Did, DidDocument, DidUrl, Error, Method, Reason, Resolver, Timestamp, json};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The media type of a DID document in JSON (§6.2): without `@context`.
pub const DID_JSON: &str = "application/did+json";
/// The media type of a DID document in JSON-LD (§6.3): `@context` is, or begins with, `https://www.w3.org/ns/did/v1`.
pub const DID_LD_JSON: &str = "application/did+ld+json";

/// What a function returns, found or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// About the process (§7.1.2, §7.2.2): `contentType` of a representation; without content `error`, one of `invalidDid`, `invalidDidUrl`,
    /// `notFound` and `representationNotSupported`.
    pub metadata: Map<String, Value>,
    /// The document, or what of it a URL names.
    pub content: Option<Map<String, Value>>,
    /// About the document (§7.1.3): of a `did:gambeson` the number of its card as `versionId`, and when the card begins, `created` for the
    /// first and `updated` for a later one. When the first began no later one says. Of anything else nothing.
    pub content_metadata: Map<String, Value>,
    /// Why there is no content, more exactly than the standard's `error`.
    pub refusal: Option<Error>,
}

impl Resolution {
    /// The content in bytes, in canonical JSON; none without content.
    pub fn stream(&self) -> Vec<u8> {
        self.content.as_ref().and_then(|content| json::canonicalize_object(content).ok()).unwrap_or_default()
    }

    /// All of it in one object, as other languages have it: `metadata`, `content`, `contentMetadata`, and `reason`, the code of the refusal.
    pub fn into_json(self) -> Map<String, Value> {
        let reason = self.refusal.map(|error| error.reason().code());
        Map::from_iter([
            ("metadata".to_owned(), self.metadata.into()),
            ("content".to_owned(), self.content.into()),
            ("contentMetadata".to_owned(), self.content_metadata.into()),
            ("reason".to_owned(), reason.into()),
        ])
    }
}

/// `resolve` (§7.1): the document as it holds at this time.
pub fn resolve(resolver: &dyn Resolver, did: &str, now: Timestamp) -> Resolution {
    answer(found(resolver, did.parse(), INVALID_DID, now).map(|document| Resolution {
        content: Some(document.json().clone()),
        content_metadata: about(&document),
        ..Resolution::default()
    }))
}

/// `resolveRepresentation` (§7.1): the document in the representation of a media type, [`DID_JSON`] or [`DID_LD_JSON`]; without `accept`
/// in JSON-LD, if it has the context.
pub fn resolve_representation(
    resolver: &dyn Resolver,
    did: &str,
    accept: Option<&str>,
    now: Timestamp,
) -> Resolution {
    answer(found(resolver, did.parse(), INVALID_DID, now).and_then(|document| represented(&document, accept)))
}

/// `dereference` (§7.2): of a DID alone its document, of another URL the verification method or service that has it as `id`, in JSON-LD with
/// the `@context` of the document. `accept` is as in [`resolve_representation`]. No parameter of §3.2.1 chooses another version or a service; `versionTime` must be a time all the same.
pub fn dereference(resolver: &dyn Resolver, url: &str, accept: Option<&str>, now: Timestamp) -> Resolution {
    let parsed = url.parse::<DidUrl>().and_then(|url| version_time(url.query()).map(|()| url));
    answer(parsed.map_err(|error| (INVALID_DID_URL, error)).and_then(|url| {
        let document = found(resolver, Ok(url.did().clone()), INVALID_DID_URL, now)?;
        let whole = represented(&document, accept)?;
        if url.to_string() == url.did().as_str() {
            return Ok(whole);
        }
        let named = document.part(&url).ok_or_else(|| {
            (NOT_FOUND, Error::new(Reason::UnknownKey, format_args!("the document has no entry {url}")))
        })?;
        let mut part = named.clone();
        // In JSON-LD a part means what the contexts of its document say.
        if let Some(context) = whole.content.as_ref().and_then(|whole| whole.get("@context")) {
            part.insert("@context".into(), context.clone());
        }
        Ok(Resolution { content: Some(part), content_metadata: Map::new(), ..whole })
    }))
}

const INVALID_DID: &str = "invalidDid";
const INVALID_DID_URL: &str = "invalidDidUrl";
const NOT_FOUND: &str = "notFound";

/// The standard's keyword of an error, and ours.
type Refused = (&'static str, Error);

fn answer(found: Result<Resolution, Refused>) -> Resolution {
    found.unwrap_or_else(|(keyword, error)| Resolution {
        metadata: Map::from_iter([("error".to_owned(), keyword.into())]),
        refusal: Some(error),
        ..Resolution::default()
    })
}

fn found(
    resolver: &dyn Resolver,
    did: crate::Result<Did>,
    invalid: &'static str,
    now: Timestamp,
) -> Result<Arc<DidDocument>, Refused> {
    let did = did.map_err(|error| (invalid, error))?;
    resolver.resolve(&did, now).map_err(|error| (NOT_FOUND, error))
}

/// The document in a representation (§6), with its media type.
pub(crate) fn represented(document: &DidDocument, accept: Option<&str>) -> Result<Resolution, Refused> {
    let linked = context(document.json()).is_some_and(|first| first == CONTEXT);
    let accepted = |kind: &str| accept.is_none_or(|accept| accept.eq_ignore_ascii_case(kind));
    let mut content = document.json().clone();
    let content_type = match () {
        () if linked && accepted(DID_LD_JSON) => DID_LD_JSON,
        () if accepted(DID_JSON) => {
            content.remove("@context");
            DID_JSON
        }
        () => {
            let why = format_args!("the document is not available as {:?}", accept.unwrap_or_default());
            return Err(("representationNotSupported", Error::new(Reason::BadType, why)));
        }
    };
    Ok(Resolution {
        metadata: Map::from_iter([("contentType".to_owned(), content_type.into())]),
        content: Some(content),
        content_metadata: about(document),
        refusal: None,
    })
}

/// The first or only context of a document.
fn context(document: &Map<String, Value>) -> Option<&Value> {
    match document.get("@context") {
        Some(Value::Array(items)) => items.first(),
        one => one,
    }
}

fn about(document: &DidDocument) -> Map<String, Value> {
    let card = document.json().get("card").filter(|_| document.id().method() == Method::Gambeson);
    let version = card.and_then(|card| card["version"].as_u64());
    let from = card.and_then(|card| card["validFrom"].as_str()?.parse::<Timestamp>().ok());
    let (Some(version), Some(from)) = (version, from) else { return Map::new() };
    let event = if version == 1 { "created" } else { "updated" };
    Map::from_iter([
        ("versionId".to_owned(), version.to_string().into()),
        (event.to_owned(), from.to_string().into()),
    ])
}

/// A `versionTime` is a time in UTC without fraction (§3.2.1).
fn version_time(query: &str) -> crate::Result<()> {
    query.split('&').filter_map(|pair| pair.strip_prefix("versionTime=")).try_for_each(|value| {
        let text = percent_decode_str(value).decode_utf8_lossy();
        match text.parse::<Timestamp>()?.to_string() == text {
            true => Ok(()),
            false => Err(Error::new(Reason::BadTime, "versionTime must be in UTC without a fraction")),
        }
    })
}
