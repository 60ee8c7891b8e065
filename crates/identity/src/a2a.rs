//! Signed agent cards of the Agent2Agent protocol: `signatures[]` of an `AgentCard` (A2A 1.0).
//!
//! What is signed is the card as the official SDK has it: the message of the protocol's schema, in canonical JSON, without
//! `signatures`, without what is unknown, and without what is empty. The rules are in `docs/spec/a2a.md`.

use crate::action::{MAX_TOKEN, header};
use crate::document::{Kind, Relationship};
use crate::error::bad;
use crate::jose::Jws;
use crate::{Agent, Did, Error, Reason, Resolver, Result, Role, Timestamp, Verified, json};
use schema::{CARD, Unknown};
use serde_json::{Map, Value, json};

mod schema;

/// The longest card that is read, in bytes.
pub const MAX_CARD: usize = 256 << 10;

/// The most signatures that are looked at.
pub const MAX_SIGNATURES: usize = 8;

/// The type in the header of a signature.
const TYPE: &str = "JOSE";

/// A card of which everything was signed: what the signature does not cover is not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCard {
    json: Map<String, Value>,
}

impl AgentCard {
    /// The members of the card that were signed, by the names of the protocol.
    pub fn json(&self) -> &Map<String, Value> {
        &self.json
    }
}

/// The bytes that a signature of this card is of.
///
/// # Errors
///
/// [`Reason::BadForm`] for a member of another type than the protocol's schema has, or a card that says nothing.
pub fn canonicalize(card: &Map<String, Value>) -> Result<Vec<u8>> {
    json::canonicalize_object(&schema::read(card, CARD, Unknown::Dropped)?)
}

/// Adds the agent's signature to a card.
///
/// ```
/// use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Timestamp, a2a};
/// use serde_json::json;
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let mut known = CardStore::default();
/// known.add(CardLog::new(agent.first_card(now, now.after(86_400), &CardContent::default())?)?)?;
///
/// let mut card = json!({"name": "Teller", "version": "1.0.0"}).as_object().unwrap().clone();
/// a2a::sign(&agent, &mut card)?;
///
/// let text = serde_json::to_vec(&card).unwrap();
/// let verified = a2a::verify(&text, Some(agent.did()), &known, now)?;
/// assert_eq!(verified.json()["name"], "Teller");
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// # Errors
///
/// [`Reason::BadForm`] for what the canonical form loses, so that a signature would not cover it: a member that the protocol
/// does not have, a name whose value is empty (such as a required scheme without scopes), an empty item. [`Reason::TooLarge`]
/// with [`MAX_SIGNATURES`] already; [`Reason::NoRandomness`].
pub fn sign(agent: &Agent, card: &mut Map<String, Value>) -> Result<()> {
    let payload = json::canonicalize_object(&schema::read(card, CARD, Unknown::Refused)?)?;
    if signatures(card)?.len() == MAX_SIGNATURES {
        return Err(Error::new(
            Reason::TooLarge,
            format_args!("a card has at most {MAX_SIGNATURES} signatures"),
        ));
    }
    let token = Jws::sign_detached(agent.key(Role::Signing), header(agent, TYPE), &payload)?;
    let (protected, signature) =
        token.split_once("..").expect("a detached JWS must have nothing between its two dots");
    let signature = json!({"protected": protected, "signature": signature});
    match card.entry("signatures").or_insert_with(|| Value::Array(Vec::new())) {
        Value::Array(list) => list.push(signature),
        other => *other = json!([signature]),
    }
    Ok(())
}

/// Verifies a card: one of its signatures is with ML-DSA by a key of a DID, for assertions, and holds.
///
/// The key comes from the DID and from nowhere else: a signature that names an address for keys (`jku`) is passed over,
/// and so are those with other algorithms. A card tells nothing about which DID may speak for the agent: name the one that
/// is expected, or look at [`Verified::signer`].
///
/// # Errors
///
/// [`Reason::TooLarge`], [`Reason::BadJson`], [`Reason::BadForm`]; [`Reason::Unsecured`] if no signature is with ML-DSA;
/// and what is wrong with the first of those that are: [`Reason::BadType`], [`Reason::WrongIssuer`] for another DID than
/// expected, what the resolver and the key say, [`Reason::BadSignature`].
pub fn verify(
    card: &[u8],
    expected: Option<&Did>,
    resolver: &dyn Resolver,
    now: Timestamp,
) -> Result<Verified<AgentCard>> {
    let card = json::parse_object(card, MAX_CARD)?;
    let json = schema::read(&card, CARD, Unknown::Dropped)?;
    let payload = json::canonicalize_object(&json)?;
    let mut refusal = None;
    for signature in signatures(&card)? {
        match verify_one(signature, &payload, expected, resolver, now) {
            Ok(signer) => return Ok(Verified::new(AgentCard { json }, signer)),
            Err(error) if error.reason() == Reason::BadAlgorithm => {}
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    Err(refusal.unwrap_or_else(|| Error::new(Reason::Unsecured, "the card has no signature with ML-DSA")))
}

fn verify_one(
    signature: &Value,
    payload: &[u8],
    expected: Option<&Did>,
    resolver: &dyn Resolver,
    now: Timestamp,
) -> Result<crate::DidUrl> {
    let text = |name: &str| {
        signature
            .get(name)
            .and_then(Value::as_str)
            .ok_or_else(|| bad(format_args!("a signature lacks the string {name:?}")))
    };
    let token = format!("{}..{}", text("protected")?, text("signature")?);
    let jws = Jws::parse_detached(&token, payload, MAX_TOKEN)?;
    jws.expect_type(TYPE)?;
    let signer = jws.key_id()?;
    if let Some(expected) = expected.filter(|expected| *expected != signer.did()) {
        return Err(Error::new(
            Reason::WrongIssuer,
            format_args!("signed by {}, expected {expected}", signer.did()),
        ));
    }
    let document = resolver.resolve(signer.did(), now)?;
    jws.verify(document.key_for(&signer, Kind::JsonWebKey, Relationship::AssertionMethod, now)?)?;
    Ok(signer)
}

fn signatures(card: &Map<String, Value>) -> Result<&[Value]> {
    match card.get("signatures") {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) if list.len() > MAX_SIGNATURES => Err(Error::new(
            Reason::TooLarge,
            format_args!("there are {} signatures; the limit is {MAX_SIGNATURES}", list.len()),
        )),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(bad("\"signatures\" must be a list")),
    }
}
