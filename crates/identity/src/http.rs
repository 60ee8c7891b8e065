//! HTTP Message Signatures (RFC 9421) with ML-DSA (C2SP `httpsig-pq`), and the digest of the content (RFC 9530).
//!
//! What is signed by default, and what a verifier asks for, is in `docs/spec/http-signatures.md`. A signature with
//! ML-DSA-65 is a field of about 4,500 characters: servers allow it in their defaults, but not two of them in all.

use crate::action::CLOCK_SKEW;
use crate::document::{Kind, Relationship};
use crate::error::bad;
use crate::{
    Agent, Did, DidUrl, Error, Reason, ReplayCache, ReplayId, Resolver, Result, Role, Timestamp, Verified,
    encoding,
};
use sfv::{BareItem, Dictionary, Item, ListEntry, Parser};
use sha2::{Digest, Sha256, Sha512};

mod component;
mod message;
mod signature;
#[cfg(test)]
mod tests;

pub use component::Component;
pub use message::Message;
pub use signature::Signature;

use component::Parsed;
use signature::{MAX_NONCE, check_components, inputs, signature_base};

/// The most bytes of a message that is read besides its content: its target, and the names and values of its fields. And the most of what is
/// covered of them.
pub const MAX_HEAD: usize = 128 << 10;

/// The most fields of a message that is read.
pub const MAX_FIELDS: usize = 256;

/// The longest field that is read as a dictionary, such as `signature`, in bytes over all fields of the name.
pub const MAX_FIELD: usize = 32 << 10;

/// The most components of a signature.
pub const MAX_COMPONENTS: usize = 64;

/// The most signatures of a message that is read.
pub const MAX_SIGNATURES: usize = 8;

/// The most parameters of a query of which one is covered.
pub const MAX_PARAMETERS: usize = 1024;

/// How old a signature may be, in seconds, unless a [`Policy`] says otherwise.
pub const MAX_AGE: u64 = 120;

/// How a message is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What is signed; none for the default: `@method` and `@target-uri`, or `@status` and these of the request that is
    /// answered, with its `signature` and `content-digest` where they are there; and `content-type`, `content-encoding`,
    /// `content-range` and `content-digest` where they are there.
    pub components: Vec<Component>,
    /// Components that are signed besides, such as `authorization`: a verifier may require them ([`Policy::required`]).
    pub required: Vec<Component>,
    /// The name among the signatures of the message.
    pub label: String,
    /// What the signature is for, so that it is not taken for another.
    pub tag: Option<String>,
    /// [`Role::Identity`] says who speaks; [`Role::Signing`] uses a capability.
    pub role: Role,
    /// How many seconds it is good for.
    pub lifetime: u64,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            components: Vec::new(),
            required: Vec::new(),
            label: "gambeson".into(),
            tag: None,
            role: Role::Identity,
            lifetime: MAX_AGE,
        }
    }
}

/// Signs a message: the fields to add to it, with names in small letters.
///
/// If the message has a body and no `content-digest`, that field is among them.
///
/// ```
/// use gambeson_identity::{
///     Agent, CardContent, CardLog, CardStore, MemoryReplayCache, Timestamp,
///     http::{self, Message, Policy, Terms},
/// };
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let mut known = CardStore::default();
/// known.add(CardLog::new(agent.first_card(now, now.after(86_400), &CardContent::default())?)?)?;
///
/// let (uri, body) = ("https://bank.example/pay?id=7", br#"{"amount":5}"#);
/// let mut fields = vec![("Content-Type".to_owned(), "application/json".to_owned())];
/// let signed = http::sign(&agent, &Message::request("POST", uri, &fields).with_body(body), &Terms::default(), now)?;
/// fields.extend(signed);
///
/// let received = Message::request("POST", uri, &fields).with_body(body);
/// let mut replay = MemoryReplayCache::new(100_000);
/// let verified = http::verify(&received, &Policy::default(), &known, now, &mut replay)?;
/// assert_eq!(verified.signer().did(), agent.did());
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// # Errors
///
/// What every verifier would refuse: [`Reason::TooLarge`], [`Reason::BadForm`] for a message without what shall be signed, with ambiguous
/// framing, a signature of this label, or one by this agent from which no tag tells it, [`Reason::WrongDigest`] for another `content-digest` than
/// the body's. So it is of the request that is answered. [`Reason::WrongPurpose`] for another role than the two; [`Reason::NoRandomness`].
pub fn sign(
    agent: &Agent,
    message: &Message<'_>,
    terms: &Terms,
    now: Timestamp,
) -> Result<Vec<(String, String)>> {
    let algorithm = match terms.role {
        Role::Identity | Role::Signing => agent.key(terms.role).algorithm(),
        _ => return Err(Error::new(Reason::WrongPurpose, "HTTP is signed as identity or as signing")),
    };
    message.check()?;
    let others = inputs(message, None)?;
    if others.len() >= MAX_SIGNATURES {
        return Err(too_large("signatures", others.len() + 1, MAX_SIGNATURES));
    }
    if others.iter().any(|(label, _)| *label == terms.label) {
        return Err(bad(format_args!("the label {} is taken: use another", terms.label)));
    }
    let mut added = Vec::new();
    match message.body {
        Some(body) if message.has("content-digest") => check_content_digest(message, body)?,
        Some(body) => added.push(("content-digest".to_owned(), content_digest(body))),
        None => {}
    }
    check_answered(message)?;
    let fields = [message.fields, &added].concat();
    let message_fields = message.fields;
    let message = Message { fields: &fields, ..*message };
    let mut components = match terms.components.is_empty() {
        true => default_components(&message)?,
        false => terms.components.clone(),
    };
    for component in &terms.required {
        if !components.contains(component) {
            components.push(component.clone());
        }
    }
    check_components(&components)?;
    let nonce = encoding::encode(&agent.random(&[b"http"])?.expose()[..16]);
    let mut input =
        sfv::InnerList::new(components.iter().map(|component| component.item().clone()).collect());
    let key_id = agent.key_url(terms.role).to_string();
    let text = |text: &str| {
        sfv::String::from_string(text.to_owned())
            .map(BareItem::String)
            .map_err(|_| bad("a parameter of a signature is printable ASCII"))
    };
    let time = |time: Timestamp| {
        i64::try_from(time.0)
            .ok()
            .and_then(|seconds| sfv::Integer::try_from(seconds).ok())
            .map(BareItem::Integer)
            .ok_or_else(|| bad("a time beyond the range of structured fields"))
    };
    let mut parameters = vec![
        ("created", time(now)?),
        ("expires", time(now.after(terms.lifetime))?),
        ("nonce", text(&nonce)?),
        ("alg", text(algorithm.http())?),
        ("keyid", text(&key_id)?),
    ];
    if let Some(tag) = &terms.tag {
        parameters.push(("tag", text(tag)?));
    }
    for (name, value) in parameters {
        input.params.insert(sfv::key_ref(name).to_owned(), value);
    }
    let label = sfv::KeyRef::from_str(&terms.label)
        .map_err(|_| bad("the label of a signature is a key of structured fields"))?;
    let base = signature_base(&message, &components, &input, &mut Parsed::default())?;
    let signature = agent.key(terms.role).sign(b"", base.as_bytes())?;
    let member = |entry: ListEntry| {
        let mut out = sfv::DictSerializer::new();
        out.members([(label, &entry)]);
        out.finish().unwrap_or_default()
    };
    added.push(("signature-input".to_owned(), member(ListEntry::InnerList(input))));
    added.push(("signature".to_owned(), member(ListEntry::Item(Item::new(signature.as_slice())))));
    let fields = [message_fields, &added].concat();
    check_signed(&Message { fields: &fields, ..message }, terms, agent.did())?;
    Ok(added)
}

/// Refuses a message with its signature that a verifier would not read, or in which it would not find that signature.
fn check_signed(message: &Message<'_>, terms: &Terms, did: &Did) -> Result<()> {
    message.check_bounds()?;
    dictionary(message, "signature")?;
    signature::choose(message, terms.tag.as_deref(), Some(did)).map(drop)
}

/// Compares the `content-digest` of the request that is answered with its body, if both are at hand.
#[inline(never)]
fn check_answered(message: &Message<'_>) -> Result<()> {
    match message.request.and_then(|request| Some((request, request.body?))) {
        Some((request, body)) if request.has("content-digest") => check_content_digest(request, body),
        _ => Ok(()),
    }
}

fn default_components(message: &Message<'_>) -> Result<Vec<Component>> {
    let mut names = bound_components(message);
    names.extend(OF_CONTENT.split(' ').filter(|name| message.has(name)));
    names.into_iter().map(str::parse).collect()
}

/// Fields that say how the bytes of the content are read, and its digest.
const OF_CONTENT: &str = "content-type content-encoding content-range content-digest";

/// The components that identify a message: for a response also the request that it answers, by its signature and its content.
fn bound_components(message: &Message<'_>) -> Vec<&'static str> {
    let Some(request) = message.request.filter(|_| !message.is_request()) else {
        return if message.is_request() { vec!["@method", "@target-uri"] } else { vec!["@status"] };
    };
    let mut names = vec!["@status", "\"@method\";req", "\"@target-uri\";req"];
    if request.has("signature") {
        names.push("\"signature\";req");
    }
    if request.has("content-digest") {
        names.push("\"content-digest\";req");
    }
    names
}

/// What a verifier asks of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The components that must be covered besides `content-digest`, which must be if there is a body, and then `content-type`, `content-encoding` and
    /// `content-range` where they are there; none for the default: `@method` and `@target-uri` of a request; `@status` of a response and, if
    /// [`Message::answering`] says to which request, with `req` that one's method, target, and `signature` and
    /// `content-digest` where they are there.
    pub required: Vec<Component>,
    /// What the key must be for: [`Relationship::Authentication`], or [`Relationship::CapabilityInvocation`].
    pub relationship: Relationship,
    /// Only signatures with this tag count.
    pub tag: Option<String>,
    /// Only signatures by keys of this DID count.
    pub signer: Option<Did>,
    /// How old a signature may be, in seconds.
    pub max_age: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            required: Vec::new(),
            relationship: Relationship::Authentication,
            tag: None,
            signer: None,
            max_age: MAX_AGE,
        }
    }
}

/// Verifies the one signature of a message that the policy speaks of, and remembers its nonce.
///
/// It must name its key by a DID URL, its time (`created`) and a nonce, and cover what the policy asks for. Signatures of other algorithms or by
/// keys without a DID may stand beside it, as proxies add them. Whoever reads the message must not
/// find other bytes in it: `Content-Length` fits the body, there is no `Transfer-Encoding`, and fields such as `Host` stand once. So it is of a request
/// that is answered, whose body has its digest; its own signature is not verified. Anybody's signature verifies and takes room in `replay`: see
/// [`ReplayCache`].
///
/// What costs little is checked first: bounds, form, coverage and time before the signer is resolved, and only then the signature, and the
/// digest of the body last.
///
/// # Errors
///
/// [`Reason::TooLarge`], [`Reason::BadForm`] for such a message; [`Reason::Unsecured`] without such a signature; as [`Signature::read`];
/// [`Reason::BadForm`] for several, or without `created`, `nonce` or `keyid`; [`Reason::OtherSigner`]; [`Reason::Uncovered`];
/// [`Reason::NotYetValid`], [`Reason::Expired`]; what the resolver and the key say; [`Reason::BadAlgorithm`], [`Reason::BadSignature`];
/// [`Reason::WrongDigest`]; [`Reason::Replayed`], [`Reason::CacheFull`].
pub fn verify(
    message: &Message<'_>,
    policy: &Policy,
    resolver: &dyn Resolver,
    now: Timestamp,
    replay: &mut dyn ReplayCache,
) -> Result<Verified<Signature>> {
    message.check()?;
    let (label, input) = signature::choose(message, policy.tag.as_deref(), policy.signer.as_ref())?;
    let mut signature = Signature::of_input(label, &input)?;
    signature.covers(message, policy)?;
    let lacks = |name: &str| bad(format_args!("the signature has no {name}"));
    let created = signature.created.ok_or_else(|| lacks("created"))?;
    let nonce = signature.nonce.clone().ok_or_else(|| lacks("nonce"))?;
    if nonce.is_empty() || nonce.len() > MAX_NONCE {
        return Err(bad(format_args!("a nonce has 1 to {MAX_NONCE} characters")));
    }
    let signer = DidUrl::of_key(signature.key_id.as_deref().ok_or_else(|| lacks("keyid"))?)?;
    if let Some(did) = policy.signer.as_ref().filter(|did| *did != signer.did()) {
        let what = format_args!("signed by {}, not by {did}", signer.did());
        return Err(Error::new(Reason::OtherSigner, what));
    }
    let end = created.after(policy.max_age);
    let end = signature.expires.map_or(end, |expires| expires.min(end));
    now.not_before(created, CLOCK_SKEW, "the signature")?;
    now.within(None, Some(end), "the signature")?;
    signature.take_bytes(&dictionary(message, "signature")?)?;
    signature.check_length()?;
    let document = resolver.resolve(signer.did(), now)?;
    let key = document.key_for(&signer, Kind::JsonWebKey, policy.relationship, now)?;
    signature.check_algorithm(key)?;
    signature.make_base(message, &input, &mut Parsed::default())?;
    signature.verify_with(key).map_err(|error| with_address(&error, message))?;
    let digest = "content-digest".parse()?;
    if let Some(body) = message.body.filter(|_| signature.components().contains(&digest)) {
        check_content_digest(message, body)?;
    }
    check_answered(message)?;
    replay.remember(&ReplayId::new("http", signer.did(), &nonce), end, now)?;
    Ok(Verified::new(signature, signer))
}

/// A refused signature, with the request as this verifier knows it: signers that know it under another address sign another.
fn with_address(error: &Error, message: &Message<'_>) -> Error {
    match message.address().filter(|_| error.reason() == Reason::BadSignature) {
        Some((method, target)) => {
            let detail = error.detail();
            Error::new(Reason::BadSignature, format_args!("{detail}; the request here is {method} {target}"))
        }
        None => Error::new(error.reason(), error.detail()),
    }
}

/// The value of `content-digest` for a body: SHA-512, which every suite allows (RFC 9530, §2).
pub fn content_digest(body: &[u8]) -> String {
    let mut out = sfv::DictSerializer::new();
    _ = out.bare_item(sfv::key_ref("sha-512"), &Sha512::digest(body)[..]);
    out.finish().unwrap_or_default()
}

/// Compares `content-digest` of a message with a body: every digest of SHA-256 and SHA-512 that stands there, of which
/// there is at least one.
///
/// # Errors
///
/// [`Reason::BadForm`], [`Reason::TooLarge`], [`Reason::WrongDigest`].
pub fn check_content_digest(message: &Message<'_>, body: &[u8]) -> Result<()> {
    let digests = dictionary(message, "content-digest")?;
    let mut compared = 0;
    for (name, entry) in &digests {
        #[cfg(test)]
        crate::counts::add(|counts| counts.hashes += 1);
        let computed = match name.as_str() {
            "sha-256" => Sha256::digest(body).to_vec(),
            "sha-512" => Sha512::digest(body).to_vec(),
            _ => continue,
        };
        let ListEntry::Item(Item { bare_item: BareItem::ByteSequence(stated), .. }) = entry else {
            return Err(bad("a digest is a byte sequence"));
        };
        if *stated != computed {
            return Err(Error::new(
                Reason::WrongDigest,
                format_args!("the body has another {name} digest than content-digest says"),
            ));
        }
        compared += 1;
    }
    match compared {
        0 => Err(Error::new(Reason::WrongDigest, "content-digest has neither sha-256 nor sha-512")),
        _ => Ok(()),
    }
}

fn dictionary(message: &Message<'_>, name: &str) -> Result<Dictionary> {
    let values: Vec<&str> = message.field(name).collect();
    let len: usize = values.iter().map(|value| value.len()).sum();
    if len > MAX_FIELD {
        return Err(too_large(name, len, MAX_FIELD));
    }
    #[cfg(test)]
    crate::counts::add(|counts| counts.parses += 1);
    Parser::new(&values.join(", "))
        .parse()
        .map_err(|error| bad(format_args!("the field {name} is not a dictionary: {error}")))
}

fn too_large(what: &str, found: usize, most: usize) -> Error {
    Error::new(Reason::TooLarge, format_args!("{what}: {found}, at most {most} are read"))
}
