//! Data Integrity proofs with `mldsa44-jcs-2024`: the signature stands inside the JSON.
//!
//! Verifiable Credential Data Integrity 1.0 (W3C Recommendation, 2025-05-15) and Quantum-Resistant Cryptosuites 1.0 (W3C
//! Working Draft, 2026-06-16). The draft defines ML-DSA-44 only and says that its names may change; `vc+jwt` is the first
//! choice.

use super::authority;
use super::model::{objects, time};
use crate::error::bad;
use crate::{
    Agent, Algorithm, DidUrl, Error, Kind, Reason, Relationship, Resolver, Result, Role, Timestamp, Verified,
    VerifyingKey, encoding, json,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The cryptosuite.
pub const CRYPTOSUITE: &str = "mldsa44-jcs-2024";

/// What a proof says besides its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofOptions {
    /// What the signature is for.
    pub purpose: Relationship,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// Whom it is for.
    pub domain: Option<String>,
    /// The verifier's challenge.
    pub challenge: Option<String>,
}

impl ProofOptions {
    /// For claims.
    pub fn assertion(created: Timestamp) -> Self {
        Self { purpose: Relationship::AssertionMethod, created, expires: None, domain: None, challenge: None }
    }
}

/// What a verifier expects of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected<'a> {
    /// The purpose.
    pub purpose: Relationship,
    /// The verifier's own name, if the proof must be for it.
    pub domain: Option<&'a str>,
    /// The challenge that the verifier gave.
    pub challenge: Option<&'a str>,
}

impl Expected<'_> {
    /// A proof for claims, for anybody.
    pub fn assertion() -> Self {
        Self { purpose: Relationship::AssertionMethod, domain: None, challenge: None }
    }
}

/// Adds a proof by the agent's Data Integrity key to a document (Data Integrity 1.0, §4.2).
///
/// ```
/// use gambeson_identity::vc::data_integrity::{Expected, ProofOptions, sign, verify};
/// use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Timestamp};
/// use serde_json::json;
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let mut cards = CardStore::default();
/// cards.add(CardLog::new(agent.first_card(now, now.after(60), &CardContent::default())?)?)?;
///
/// let document = json!({"greeting": "hello"}).as_object().unwrap().clone();
/// let signed = sign(&agent, document, &ProofOptions::assertion(now))?;
/// let verified = verify(&signed, &cards, now, &Expected::assertion())?;
/// assert_eq!(verified["greeting"], "hello");
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// # Errors
///
/// [`Reason::BadForm`] if there is a proof already, [`Reason::BadType`] for claims of a type that gives authority and has a door of its own, such
/// as a status list, [`Reason::BadJson`] for what has no canonical form, [`Reason::NoRandomness`].
pub fn sign(
    agent: &Agent,
    mut document: Map<String, Value>,
    options: &ProofOptions,
) -> Result<Map<String, Value>> {
    if document.contains_key("proof") {
        return Err(bad("the document already has a proof"));
    }
    if options.purpose == Relationship::AssertionMethod {
        authority::refuse(&document)?;
        super::status::check_entries(&document)?;
    }
    let mut proof = Map::from_iter(
        [
            ("type", "DataIntegrityProof".to_owned()),
            ("cryptosuite", CRYPTOSUITE.to_owned()),
            ("created", options.created.to_string()),
            ("verificationMethod", agent.key_url(Role::DataIntegrity).to_string()),
            ("proofPurpose", options.purpose.name().to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), Value::from(value))),
    );
    if let Some(context) = document.get("@context") {
        proof.insert("@context".into(), context.clone());
    }
    let optional = [
        ("expires", options.expires.map(|time| time.to_string())),
        ("domain", options.domain.clone()),
        ("challenge", options.challenge.clone()),
    ];
    proof.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
    let signature = agent.key(Role::DataIntegrity).sign(b"", &hash_data(&proof, &document)?)?;
    proof.insert("proofValue".into(), encoding::multibase(&signature).into());
    document.insert("proof".into(), proof.into());
    Ok(document)
}

/// Verifies the proof of a document (Data Integrity 1.0, §4.4), and gives the document without it.
///
/// Of a set of proofs the one of this cryptosuite counts; others are not looked at.
///
/// # Errors
///
/// [`Reason::Unsecured`] without such a proof; [`Reason::BadForm`], [`Reason::BadTime`], [`Reason::BadType`];
/// [`Reason::WrongPurpose`] if the proof or its key is for something else; [`Reason::WrongAudience`] and
/// [`Reason::WrongNonce`] for domain and challenge; what the resolver and the document say of the key;
/// [`Reason::BadSignature`]; [`Reason::NotYetValid`], [`Reason::Expired`].
pub fn verify(
    document: &Map<String, Value>,
    resolver: &dyn Resolver,
    now: Timestamp,
    expected: &Expected<'_>,
) -> Result<Verified<Map<String, Value>>> {
    let proof = our_proof(document)?;
    let text = |name: &str| proof.get(name).and_then(Value::as_str);
    if text("proofPurpose") != Some(expected.purpose.name()) {
        return Err(Error::new(
            Reason::WrongPurpose,
            format_args!("the purpose of the proof is not {}", expected.purpose.name()),
        ));
    }
    let (created, expires) = (time(proof, "created")?, time(proof, "expires")?);
    bound(proof.get("domain"), expected.domain, Reason::WrongAudience, "domain")?;
    bound(proof.get("challenge"), expected.challenge, Reason::WrongNonce, "challenge")?;
    let signer = DidUrl::of_key(
        text("verificationMethod").ok_or_else(|| bad("a proof must name its verificationMethod"))?,
    )?;
    let resolved = resolver.resolve(signer.did(), now)?;
    let key = resolved.key_for(&signer, Kind::Multikey, expected.purpose, now)?;
    let unsecured = verify_signature(document, proof, key)?;
    if let Some(created) = created {
        now.not_before(created, super::credential::SIGNING_SKEW, "the proof")?;
    }
    now.within(None, expires, "the proof")?;
    Ok(Verified::new(unsecured, signer))
}

/// The bytes that are signed: SHA-256 of the canonical proof options, then SHA-256 of the canonical document
/// (Quantum-Resistant Cryptosuites 1.0, Hashing). The options are the proof without `proofValue`.
///
/// # Errors
///
/// [`Reason::BadJson`] for what has no canonical form.
pub fn hash_data(proof_options: &Map<String, Value>, document: &Map<String, Value>) -> Result<[u8; 64]> {
    let mut out = [0; 64];
    out[..32].copy_from_slice(&Sha256::digest(json::canonicalize_object(proof_options)?));
    out[32..].copy_from_slice(&Sha256::digest(json::canonicalize_object(document)?));
    Ok(out)
}

/// Verifies the signature of a proof with a key that the caller trusts, and nothing else: no purpose, no time, no
/// controller. The document without its proofs.
///
/// # Errors
///
/// As [`verify`], for form and signature.
pub fn verify_with_key(document: &Map<String, Value>, key: &VerifyingKey) -> Result<Map<String, Value>> {
    verify_signature(document, our_proof(document)?, key)
}

/// The one proof of this cryptosuite, which [`verify`] verifies.
pub(super) fn our_proof(document: &Map<String, Value>) -> Result<&Map<String, Value>> {
    let mut ours = objects(document, "proof")?
        .into_iter()
        .filter(|proof| proof.get("cryptosuite").and_then(Value::as_str) == Some(CRYPTOSUITE));
    let proof = ours.next().ok_or_else(|| {
        Error::new(Reason::Unsecured, format_args!("the document has no {CRYPTOSUITE} proof"))
    })?;
    if ours.next().is_some() {
        return Err(bad(format_args!("the document has two {CRYPTOSUITE} proofs")));
    }
    if proof.get("type").and_then(Value::as_str) != Some("DataIntegrityProof") {
        return Err(Error::new(Reason::BadType, "the proof is not a DataIntegrityProof"));
    }
    match proof.contains_key("previousProof") {
        true => Err(bad("proof chains are not supported")),
        false => Ok(proof),
    }
}

fn verify_signature(
    document: &Map<String, Value>,
    proof: &Map<String, Value>,
    key: &VerifyingKey,
) -> Result<Map<String, Value>> {
    let mut options = proof.clone();
    let signature = match options.remove("proofValue") {
        Some(Value::String(value)) => encoding::from_multibase(&value, Algorithm::MlDsa44.signature_len())?,
        _ => return Err(bad("a proof must have a proofValue")),
    };
    let mut unsecured = document.clone();
    unsecured.remove("proof");
    match (options.get("@context"), unsecured.get("@context")) {
        (Some(signed), found) => {
            if !found.is_some_and(|found| begins_with(found, signed)) {
                return Err(bad("the contexts of the document do not begin with those of the proof"));
            }
            // What was signed is the document with the contexts of the proof.
            let signed = signed.clone();
            unsecured.insert("@context".into(), signed);
        }
        // The published vectors leave the contexts out of the proof, and sign its options with those of the document.
        (None, Some(found)) => drop(options.insert("@context".into(), found.clone())),
        (None, None) => {}
    }
    if key.algorithm() != Algorithm::MlDsa44 {
        return Err(Error::new(Reason::BadAlgorithm, format_args!("{CRYPTOSUITE} needs ML-DSA-44 keys")));
    }
    key.verify(b"", &hash_data(&options, &unsecured)?, &signature)?;
    Ok(unsecured)
}

/// Whether a list of contexts begins with another; one context by itself is a list of one.
fn begins_with(contexts: &Value, signed: &Value) -> bool {
    fn list(value: &Value) -> &[Value] {
        value.as_array().map_or(core::slice::from_ref(value), Vec::as_slice)
    }
    list(contexts).starts_with(list(signed))
}

/// A text, or a list of texts, that must hold the expected one; and must not be there if none is expected, since the
/// proof was then made for somebody else's eyes.
fn bound(found: Option<&Value>, expected: Option<&str>, reason: Reason, name: &str) -> Result<()> {
    let fits = match (found, expected) {
        (None, None) => true,
        (Some(Value::String(found)), Some(expected)) => found == expected,
        (Some(Value::Array(all)), Some(expected)) => all.iter().any(|found| found == expected),
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => Err(Error::new(reason, format_args!("the {name} of the proof is not the expected one"))),
    }
}
