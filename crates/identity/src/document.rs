//! DID documents (DID Core 1.0, §5): the keys of a DID, and what each may be used for.

use crate::agent::group;
use crate::error::bad;
use crate::resolution::{DID_JSON, DID_LD_JSON};
use crate::{Did, DidUrl, Error, Reason, Result, Role, Timestamp, VerifyingKey, encoding, json, keys};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What a key may be used for (DID Core 1.0, §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relationship {
    /// Proves who speaks: sessions, presentations.
    Authentication,
    /// Makes claims: credentials.
    AssertionMethod,
    /// Receives secrets.
    KeyAgreement,
    /// Uses a capability: actions.
    CapabilityInvocation,
    /// Hands a capability on: delegations.
    CapabilityDelegation,
}

impl Relationship {
    /// Every relationship.
    pub const ALL: [Self; 5] = [
        Self::Authentication,
        Self::AssertionMethod,
        Self::KeyAgreement,
        Self::CapabilityInvocation,
        Self::CapabilityDelegation,
    ];

    /// The member of the document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::AssertionMethod => "assertionMethod",
            Self::KeyAgreement => "keyAgreement",
            Self::CapabilityInvocation => "capabilityInvocation",
            Self::CapabilityDelegation => "capabilityDelegation",
        }
    }
}

/// How a key is written in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `publicKeyJwk`, for JOSE.
    JsonWebKey,
    /// `publicKeyMultibase`, for Data Integrity.
    Multikey,
}

/// One key of a document (DID Core 1.0, §5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationMethod {
    id: DidUrl,
    controller: Did,
    key: Key,
    expires: Option<Timestamp>,
    revoked: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Signature(Kind, VerifyingKey),
    /// The `alg` of a JWK of type AKP that is not for signatures, and its `pub`.
    Other(String, Vec<u8>),
    /// A JWK of a kind that only leaves of groups have, and the key as MLS sends it. Whether its points are on their curves has not been asked.
    Leaf(Role, Vec<u8>),
    /// A kind of key that this crate has no use for.
    Foreign,
}

impl VerificationMethod {
    /// The key's URL.
    pub fn id(&self) -> &DidUrl {
        &self.id
    }

    /// The key, if it verifies ML-DSA signatures.
    pub fn verifying_key(&self) -> Option<&VerifyingKey> {
        match &self.key {
            Key::Signature(_, key) => Some(key),
            Key::Other(..) | Key::Leaf(..) | Key::Foreign => None,
        }
    }

    /// When it was revoked, if it was.
    pub fn revoked(&self) -> Option<Timestamp> {
        self.revoked
    }

    /// When it ends, if it does.
    pub fn expires(&self) -> Option<Timestamp> {
        self.expires
    }

    fn usable(&self, now: Timestamp) -> Result<()> {
        if self.revoked.is_some_and(|revoked| revoked <= now) {
            return Err(Error::new(
                Reason::KeyRevoked,
                format_args!("the key #{} was revoked", self.id.fragment()),
            ));
        }
        now.within(None, self.expires, "the key")
    }
}

/// The keys of a DID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DidDocument {
    id: Did,
    methods: BTreeMap<DidUrl, VerificationMethod>,
    relationships: BTreeMap<Relationship, BTreeSet<DidUrl>>,
    json: Map<String, Value>,
}

impl DidDocument {
    /// Reads a document in its JSON-LD or JSON representation (DID Core 1.0, §6). This checks its form and nothing else:
    /// whether it is to be believed depends on where it came from.
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`], [`Reason::BadDid`], or what is wrong with a key.
    pub fn from_json(json: Map<String, Value>) -> Result<Self> {
        let id: Did = text(&json, "id")?.parse()?;
        context(&json)?;
        controllers(&json)?;
        also_known_as(&json)?;
        services(&id, &json)?;
        let mut document =
            Self { id, methods: BTreeMap::new(), relationships: BTreeMap::new(), json: Map::new() };
        for method in array(&json, "verificationMethod")? {
            document.add(method)?;
        }
        for relationship in Relationship::ALL {
            let mut urls = BTreeSet::new();
            let entries = array(&json, relationship.name())?;
            if entries.is_empty() && json.contains_key(relationship.name()) {
                return Err(bad(format_args!(
                    "{} lists an entry that is not a key (DID Core 1.0, §5.3)",
                    relationship.name()
                )));
            }
            for entry in entries {
                let url = match entry {
                    Value::String(reference) => document.id.join(reference)?,
                    embedded => document.add(embedded)?,
                };
                if !urls.insert(url) {
                    return Err(bad(format_args!("{} names a key twice", relationship.name())));
                }
            }
            document.relationships.insert(relationship, urls);
        }
        document.json = json;
        Ok(document)
    }

    /// Reads a document in the representation of this media type, [`DID_JSON`] or [`DID_LD_JSON`], at most 64 KiB (DID Core 1.0, §6.1).
    ///
    /// # Errors
    ///
    /// [`Reason::BadType`] for another media type, [`Reason::BadForm`] for JSON-LD without `@context`; those of [`json::parse_object`]
    /// and [`DidDocument::from_json`].
    pub fn read(media_type: &str, text: &[u8]) -> Result<Self> {
        let linked = media_type.eq_ignore_ascii_case(DID_LD_JSON);
        if !linked && !media_type.eq_ignore_ascii_case(DID_JSON) {
            return Err(Error::new(
                Reason::BadType,
                format_args!("{media_type:?} is not a known representation of a DID document"),
            ));
        }
        let object = json::parse_object(text, MAX_DOCUMENT)?;
        if linked && !object.contains_key("@context") {
            return Err(bad("a DID document in JSON-LD must have a context (DID Core 1.0, §6.3.1)"));
        }
        Self::from_json(object)
    }

    /// The document of a `did:key`: one key, for every purpose of signatures.
    pub(crate) fn of_did_key(did: &Did) -> Result<Self> {
        let multikey = did.method_specific_id();
        let key = VerifyingKey::from_multikey(multikey)?;
        let method = |fragment: &str, members: [(&str, Value); 2]| {
            let mut method = Map::from_iter([
                ("id".to_owned(), did.url(fragment).to_string().into()),
                ("controller".to_owned(), did.as_str().into()),
            ]);
            method.extend(members.map(|(name, value)| (name.to_owned(), value)));
            Value::Object(method)
        };
        let jwk = format!("{multikey}-jwk");
        let both = vec![Value::from(did.url(multikey).to_string()), did.url(&jwk).to_string().into()];
        let mut json = Map::from_iter([
            (
                "@context".to_owned(),
                serde_json::json!([
                    CONTEXT,
                    "https://w3id.org/security/multikey/v1",
                    "https://w3id.org/security/jwk/v1"
                ]),
            ),
            ("id".to_owned(), did.as_str().into()),
            (
                "verificationMethod".to_owned(),
                vec![
                    method(multikey, [("type", "Multikey".into()), ("publicKeyMultibase", multikey.into())]),
                    method(&jwk, [("type", "JsonWebKey".into()), ("publicKeyJwk", key.to_jwk())]),
                ]
                .into(),
            ),
        ]);
        for relationship in Relationship::ALL.into_iter().filter(|it| *it != Relationship::KeyAgreement) {
            json.insert(relationship.name().to_owned(), both.clone().into());
        }
        Self::from_json(json)
    }

    /// The DID.
    pub fn id(&self) -> &Did {
        &self.id
    }

    /// Every key.
    pub fn methods(&self) -> impl Iterator<Item = &VerificationMethod> {
        self.methods.values()
    }

    /// The verification method or service whose `id` this is, as it stands in the document.
    pub(crate) fn part(&self, url: &DidUrl) -> Option<&Map<String, Value>> {
        let lists =
            ["verificationMethod", "service"].into_iter().chain(Relationship::ALL.map(Relationship::name));
        lists
            .filter_map(|list| self.json.get(list)?.as_array())
            .flatten()
            .filter_map(Value::as_object)
            .find(|part| text(part, "id").and_then(|id| self.id.join(id)).is_ok_and(|id| id == *url))
    }

    /// The document as it was read.
    pub fn json(&self) -> &Map<String, Value> {
        &self.json
    }

    /// The key of this URL, if it is of this kind and may be used so at this time.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownKey`], [`Reason::WrongPurpose`], [`Reason::KeyRevoked`], [`Reason::Expired`].
    pub fn key_for(
        &self,
        url: &DidUrl,
        kind: Kind,
        relationship: Relationship,
        now: Timestamp,
    ) -> Result<&VerifyingKey> {
        let method = self.method_for(url, Some(relationship), now)?;
        match &method.key {
            Key::Signature(found, key) if *found == kind => Ok(key),
            _ => Err(Error::new(
                Reason::WrongPurpose,
                format_args!("the key #{} is not a {kind:?}", url.fragment()),
            )),
        }
    }

    /// The key of this URL that no relationship names, such as that of a log; its fragment must begin with `role-`.
    ///
    /// # Errors
    ///
    /// As [`DidDocument::key_for`].
    pub fn key_of_role(&self, url: &DidUrl, role: Role, now: Timestamp) -> Result<&VerifyingKey> {
        let method = self.method_for(url, None, now)?;
        let named = url.fragment().strip_prefix(role.fragment()).is_some_and(|rest| rest.starts_with('-'));
        let alone = self.relationships.values().all(|urls| !urls.contains(url));
        method.verifying_key().filter(|_| named && alone).ok_or_else(|| {
            Error::new(
                Reason::WrongPurpose,
                format_args!("the key #{} is not one of role {}", url.fragment(), role.fragment()),
            )
        })
    }

    /// The key of a leaf of groups, if it may be used at this time: of several of the role the one that is good longest, since a key that was
    /// superseded has an end. A relationship that names it makes it a key for something else.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownKey`] if the document lists no such key, [`Reason::WrongPurpose`] if it is of another algorithm than the role's, no point of
    /// its curve, or for something else; [`Reason::KeyRevoked`], [`Reason::Expired`]; [`Reason::BadAlgorithm`] for another algorithm than ML-DSA
    /// without feature `groups`.
    pub fn group_key(&self, role: Role, now: Timestamp) -> Result<(&DidUrl, &[u8])> {
        let mut found = Err(Error::new(
            Reason::UnknownKey,
            format_args!("{} has no key of role {}", self.id, role.fragment()),
        ));
        let mut longest = None;
        for method in self.methods.values() {
            let named = method.id.fragment().rsplit_once('-').map(|(name, _)| name);
            if named != Some(role.fragment()) || self.own(&method.id).is_none() {
                continue;
            }
            let key = method.usable(now).and_then(|()| {
                let key = match &method.key {
                    Key::Signature(Kind::JsonWebKey, key)
                        if Some(key.algorithm()) == role.algorithm(self.id.suite()) =>
                    {
                        Some(key.as_bytes())
                    }
                    Key::Leaf(of, key) if *of == role && group::is_public(role, key)? => Some(&key[..]),
                    _ => None,
                };
                let alone = self.relationships.values().all(|urls| !urls.contains(&method.id));
                key.filter(|_| alone && Role::GROUPS.contains(&role)).ok_or_else(|| {
                    Error::new(
                        Reason::WrongPurpose,
                        format_args!(
                            "the key #{} is not one of role {}",
                            method.id.fragment(),
                            role.fragment()
                        ),
                    )
                })
            });
            let end = method.expires.map_or(u64::MAX, |end| end.0);
            match key {
                Ok(key) if longest < Some(end) => {
                    longest = Some(end);
                    found = Ok((&method.id, key));
                }
                Err(error) if longest.is_none() => found = Err(error),
                _ => {}
            }
        }
        found
    }

    /// The usable key for key agreement whose JWK names this algorithm, with its URL: of several the one that is good longest,
    /// since a key that was superseded has an end.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownKey`].
    pub fn agreement_key(&self, algorithm: &str, now: Timestamp) -> Result<(&DidUrl, &[u8])> {
        self.relationships[&Relationship::KeyAgreement]
            .iter()
            .filter_map(|url| self.own(url))
            .filter(|method| method.usable(now).is_ok())
            .filter_map(|method| match &method.key {
                Key::Other(name, bytes) if name == algorithm => Some((method, bytes.as_slice())),
                _ => None,
            })
            .max_by_key(|(method, _)| method.expires.map_or(u64::MAX, |end| end.0))
            .map(|(method, bytes)| (&method.id, bytes))
            .ok_or_else(|| {
                Error::new(Reason::UnknownKey, format_args!("{} has no key for {algorithm}", self.id))
            })
    }

    fn method_for(
        &self,
        url: &DidUrl,
        relationship: Option<Relationship>,
        now: Timestamp,
    ) -> Result<&VerificationMethod> {
        let method = self.own(url).ok_or_else(|| {
            Error::new(Reason::UnknownKey, format_args!("the document has no key #{}", url.fragment()))
        })?;
        // A revoked key has lost its relationships: that it was revoked is the better answer.
        method.usable(now)?;
        match relationship {
            Some(relationship) if !self.relationships[&relationship].contains(url) => Err(Error::new(
                Reason::WrongPurpose,
                format_args!("the key #{} is not for {}", url.fragment(), relationship.name()),
            )),
            _ => Ok(method),
        }
    }

    /// The method of this URL, unless the document only repeats what somebody else controls.
    fn own(&self, url: &DidUrl) -> Option<&VerificationMethod> {
        self.methods.get(url).filter(|method| method.controller == self.id && *url.did() == self.id)
    }

    fn add(&mut self, method: &Value) -> Result<DidUrl> {
        let method = method.as_object().ok_or_else(|| bad("a verification method must be an object"))?;
        let id = self.id.join(text(method, "id")?)?;
        let controller = text(method, "controller")?.parse()?;
        let time = |name: &str| method.get(name).map(|_| text(method, name)?.parse()).transpose();
        let (expires, revoked) = (time("expires")?, time("revoked")?);
        let kind = text(method, "type")?;
        if method.contains_key("publicKeyJwk") && method.contains_key("publicKeyMultibase") {
            return Err(bad("a verification method must hold one key in one form"));
        }
        let key = match (kind, method.get("publicKeyJwk"), method.get("publicKeyMultibase")) {
            ("JsonWebKey", Some(Value::Object(jwk)), None) => jwk_key(jwk)?,
            // Base58 is how the keys of other algorithms are written; those of ML-DSA are in base64url alone.
            ("Multikey", None, Some(Value::String(multikey))) if is_base58(multikey) => Key::Foreign,
            ("Multikey", None, Some(Value::String(multikey))) => {
                match VerifyingKey::from_multikey(multikey) {
                    Err(error) if error.reason() != Reason::BadAlgorithm => return Err(error),
                    found => found.map_or(Key::Foreign, |key| Key::Signature(Kind::Multikey, key)),
                }
            }
            ("JsonWebKey" | "Multikey", _, _) => return Err(bad(format_args!("a {kind} lacks its key"))),
            (_, Some(Value::Object(jwk)), None) => {
                jwk_key(jwk)?;
                Key::Foreign
            }
            (_, None | Some(_), _) => Key::Foreign,
        };
        let method = VerificationMethod { id: id.clone(), controller, key, expires, revoked };
        match self.methods.insert(id.clone(), method) {
            None => Ok(id),
            Some(_) => Err(bad(format_args!("two verification methods have the id {id}"))),
        }
    }
}

/// The first member of `@context` (DID Core 1.0, §6.3.1).
pub(crate) const CONTEXT: &str = "https://www.w3.org/ns/did/v1";

/// The longest document that is read, in bytes.
pub(crate) const MAX_DOCUMENT: usize = 64 << 10;

/// The longest key in a JWK that is read: one of ML-DSA-87.
const MAX_KEY: usize = 4096;

fn jwk_key(jwk: &Map<String, Value>) -> Result<Key> {
    match VerifyingKey::from_jwk(jwk) {
        Ok(key) => Ok(Key::Signature(Kind::JsonWebKey, key)),
        // The document is read, and the key verifies nothing.
        Err(error) if error.reason() == Reason::WrongPurpose => Ok(Key::Foreign),
        Err(error)
            if error.reason() != Reason::BadAlgorithm
                && jwk.get("kty").and_then(Value::as_str) == Some("AKP") =>
        {
            Err(error)
        }
        Err(_) if keys::is_private(jwk) => Err(keys::private()),
        Err(_) => match (jwk.get("kty"), jwk.get("alg"), jwk.get("pub")) {
            (Some(Value::String(kty)), Some(Value::String(algorithm)), Some(Value::String(key)))
                if kty == "AKP" =>
            {
                let key = encoding::decode(key, MAX_KEY)?;
                Ok(leaf_key(jwk).unwrap_or_else(|| Key::Other(algorithm.clone(), key)))
            }
            // What is not such a key is one that nothing here uses.
            _ => Ok(leaf_key(jwk).unwrap_or(Key::Foreign)),
        },
    }
}

fn leaf_key(jwk: &Map<String, Value>) -> Option<Key> {
    group::from_jwk(jwk).map(|(role, key)| Key::Leaf(role, key))
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    object
        .get(name)
        .and_then(Value::as_str)
        .ok_or_else(|| bad(format_args!("the string {name:?} is missing")))
}

fn array<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a [Value]> {
    match object.get(name) {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(bad(format_args!("{name:?} must be a list"))),
    }
}

/// Multibase `z`.
fn is_base58(text: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_alphanumeric() && !b"0OIl".contains(&byte);
    text.strip_prefix('z').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(digit))
}

/// The JSON representation has no context; in JSON-LD it is the one of DIDs, or a list that begins with it.
fn context(json: &Map<String, Value>) -> Result<()> {
    let first = match json.get("@context") {
        None => return Ok(()),
        Some(Value::Array(items)) => items.first(),
        other => other,
    };
    let known = [CONTEXT, "https://www.w3.org/ns/did/v1.1", "https://www.w3.org/ns/cid/v1"];
    match first.and_then(Value::as_str).is_some_and(|first| known.contains(&first)) {
        true => Ok(()),
        false => Err(bad("the first context of a DID document must be that of DID Core")),
    }
}

/// One DID or a set of them (DID Core 1.0, §5.1.2).
fn controllers(json: &Map<String, Value>) -> Result<()> {
    match json.get("controller") {
        None => Ok(()),
        Some(Value::String(controller)) => controller.parse::<Did>().map(drop),
        Some(Value::Array(all)) if !all.is_empty() => all.iter().try_for_each(|one| {
            one.as_str().ok_or_else(|| bad("a controller must be a DID"))?.parse::<Did>().map(drop)
        }),
        Some(_) => Err(bad("a controller must be a DID or a list of DIDs")),
    }
}

/// A set of URIs (DID Core 1.0, §5.1.3).
fn also_known_as(json: &Map<String, Value>) -> Result<()> {
    let mut seen = BTreeSet::new();
    array(json, "alsoKnownAs")?.iter().try_for_each(|name| match name.as_str() {
        Some(name) if is_uri(name) && seen.insert(name) => Ok(()),
        _ => Err(bad("alsoKnownAs must be a set of URIs")),
    })
}

/// `id`, `type` and `serviceEndpoint` of each service (DID Core 1.0, §5.4).
fn services(did: &Did, json: &Map<String, Value>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for service in array(json, "service")? {
        let service = service.as_object().ok_or_else(|| bad("a service must be an object"))?;
        let id = text(service, "id")?;
        let relative = id.starts_with('#');
        if !(relative || is_uri(id))
            || !seen.insert(if relative { format!("{did}{id}") } else { id.to_owned() })
        {
            return Err(bad("the id of a service must be a unique URI"));
        }
        let of_text = |value: &Value| match value {
            Value::String(_) => true,
            Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_string),
            _ => false,
        };
        if !service.get("type").is_some_and(of_text) {
            return Err(bad("the type of a service must be a string or a list of strings"));
        }
        let endpoint = |value: &Value| match value {
            Value::String(uri) => is_uri(uri),
            Value::Object(_) => true,
            _ => false,
        };
        let valid = match service.get("serviceEndpoint") {
            Some(Value::Array(all)) => !all.is_empty() && all.iter().all(endpoint),
            Some(one) => endpoint(one),
            None => false,
        };
        if !valid {
            return Err(bad("the endpoint of a service must be a URI, an object or a list of these"));
        }
    }
    Ok(())
}

/// A scheme, a colon and more, without spaces (RFC 3986, §3).
pub(crate) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !rest.is_empty()
        && rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte))
}
