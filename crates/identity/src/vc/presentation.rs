//! Presentations: a holder shows credentials to one verifier, once.

use super::credential::{self, Credential, SIGNING_SKEW, enveloped, header, numeric_date};
use super::model::{self, CONTEXT, check_presentation, has_type, objects};
use super::{MAX_CREDENTIAL, data_integrity, status::Status};
use crate::error::bad;
use crate::jose::Jws;
use crate::{
    Agent, Did, DidUrl, Error, Kind, Reason, Relationship, Resolver, Result, Role, Timestamp, Verified, json,
};
use serde_json::{Map, Value, json};

/// The longest presentation that is read, in bytes.
pub const MAX_PRESENTATION: usize = 1 << 20;

/// The most credentials of a presentation.
pub const MAX_CREDENTIALS: usize = 16;

/// What a verifier asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The verifier's own name: a DID or an address.
    pub audience: &'a str,
    /// The nonce that the verifier made for this request, and takes back once.
    pub nonce: &'a str,
    /// How old the presentation may be, in seconds.
    pub max_age: u64,
    /// Whom the credentials must be about.
    pub binding: Binding,
}

/// Whom the credentials of a presentation must be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The holder: the `id` of every subject is the holder's DID.
    Subject,
    /// Anybody: who holds the credential may show it.
    Bearer,
}

/// A presentation whose holder and credentials were verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presentation {
    holder: Did,
    credentials: Vec<Verified<Credential>>,
    json: Map<String, Value>,
}

impl Presentation {
    /// Signs credentials for a verifier as `vp+jwt`, with the agent's identity key; the agent is the holder.
    ///
    /// A credential is a `vc+jwt`, or JSON with a Data Integrity proof.
    ///
    /// ```
    /// use gambeson_identity::vc::{Binding, Credential, Presentation, Request, Status, StatusStore};
    /// use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Timestamp};
    /// use serde_json::json;
    ///
    /// let (now, lists) = (Timestamp(1_795_330_800), StatusStore::default());
    /// let (issuer, holder) = (Agent::generate()?, Agent::generate()?);
    /// let mut cards = CardStore::default();
    /// for agent in [&issuer, &holder] {
    ///     cards.add(CardLog::new(agent.first_card(now, now.after(60), &CardContent::default())?)?)?;
    /// }
    /// let token = Credential::builder().subject(json!({"id": holder.did().as_str(), "a": 1})).issue(&issuer)?;
    ///
    /// let shown = Presentation::sign(&holder, &[&token], "https://verifier.example", "n-0S6_WzA2Mj", now)?;
    ///
    /// let request = Request {
    ///     audience: "https://verifier.example",
    ///     nonce: "n-0S6_WzA2Mj",
    ///     max_age: 120,
    ///     binding: Binding::Subject,
    /// };
    /// let verified = Presentation::verify(&shown, &cards, now, &request, Status::Required(&lists))?;
    /// assert_eq!(verified.holder(), holder.did());
    /// assert_eq!(verified.credentials()[0].issuer(), issuer.did());
    /// # Ok::<(), gambeson_identity::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`] for more than [`MAX_CREDENTIALS`] or [`MAX_PRESENTATION`]; [`Reason::BadJson`],
    /// [`Reason::BadForm`] for a credential that is none; [`Reason::NoRandomness`].
    pub fn sign(
        agent: &Agent,
        credentials: &[&str],
        audience: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<String> {
        if credentials.len() > MAX_CREDENTIALS {
            return Err(too_many(credentials.len()));
        }
        let members = credentials.iter().map(|secured| match secured.trim_ascii_start().starts_with('{') {
            true => json::parse(secured.as_bytes(), MAX_CREDENTIAL),
            false => Jws::parse(secured, MAX_CREDENTIAL).map(|_| enveloped(secured)),
        });
        let members = members.collect::<Result<Vec<_>>>()?;
        let mut presentation = json!({
            "@context": [CONTEXT],
            "type": ["VerifiablePresentation"],
            "holder": agent.did().as_str(),
            "aud": audience,
            "nonce": nonce,
            "iat": now.0,
        });
        if !members.is_empty() {
            presentation["verifiableCredential"] = members.into();
        }
        presentation.as_object().map_or(Ok(()), check_presentation)?;
        let token = Jws::sign(
            agent.key(Role::Identity),
            header("vp+jwt", "vp", &agent.key_url(Role::Identity)),
            &json::canonicalize(&presentation)?,
        )?;
        match token.len() <= MAX_PRESENTATION {
            true => Ok(token),
            false => Err(Error::new(
                Reason::TooLarge,
                format_args!("a presentation of {} characters", token.len()),
            )),
        }
    }

    /// Verifies a presentation, `vp+jwt` or JSON with a Data Integrity proof for authentication, and every credential in
    /// it. Whoever made the nonce sees to it that it is accepted once.
    ///
    /// # Errors
    ///
    /// As [`Credential::verify`]; [`Reason::WrongHolder`], [`Reason::WrongAudience`], [`Reason::WrongNonce`];
    /// [`Reason::Expired`] beyond `max_age`; [`Reason::Unsecured`] for a credential that nobody signed.
    pub fn verify(
        secured: &str,
        resolver: &dyn Resolver,
        now: Timestamp,
        request: &Request<'_>,
        status: Status<'_>,
    ) -> Result<Verified<Self>> {
        let asked = Asked {
            audience: Some(request.audience),
            nonce: Some(request.nonce),
            max_age: request.max_age,
            binding: request.binding,
        };
        asked.verify(secured, resolver, now, status)
    }

    /// Who shows the credentials.
    pub fn holder(&self) -> &Did {
        &self.holder
    }

    /// The credentials, in their order.
    pub fn credentials(&self) -> &[Verified<Credential>] {
        &self.credentials
    }

    /// The whole presentation, without its proof.
    pub fn json(&self) -> &Map<String, Value> {
        &self.json
    }
}

/// A request that may leave open what only a verifier over the network of the W3C test suites may leave open.
pub(super) struct Asked<'a> {
    pub(super) audience: Option<&'a str>,
    pub(super) nonce: Option<&'a str>,
    pub(super) max_age: u64,
    pub(super) binding: Binding,
}

impl Asked<'_> {
    pub(super) fn verify(
        &self,
        secured: &str,
        resolver: &dyn Resolver,
        now: Timestamp,
        status: Status<'_>,
    ) -> Result<Verified<Presentation>> {
        match secured.trim_ascii_start().starts_with('{') {
            true => {
                let json = json::parse_object(secured.as_bytes(), MAX_PRESENTATION)?;
                self.verify_embedded(&json, resolver, now, status)
            }
            false => self.verify_token(secured, resolver, now, status),
        }
    }

    fn verify_token(
        &self,
        token: &str,
        resolver: &dyn Resolver,
        now: Timestamp,
        status: Status<'_>,
    ) -> Result<Verified<Presentation>> {
        let jws = Jws::parse(token, MAX_PRESENTATION)?;
        jws.expect_profile("vp+jwt", "vp")?;
        let json = json::parse_object(jws.payload_unverified(), MAX_PRESENTATION)?;
        check_presentation(&json)?;
        for name in ["vc", "vp"] {
            if json.contains_key(name) {
                return Err(bad(format_args!("the claim {name:?} is not permitted in a presentation")));
            }
        }
        let signer = jws.key_id()?;
        let holder = holder(&json, &signer)?;
        let contradicts = |claim: Option<&Value>| claim.is_some_and(|issuer| issuer != holder.as_str());
        if contradicts(json.get("iss")) || contradicts(jws.header().get("iss")) {
            return Err(bad("the claim iss contradicts the holder"));
        }
        presented_by(&holder, &signer)?;
        let issued = numeric_date(&json, "iat")?
            .ok_or_else(|| bad("a presentation must say when it was signed (iat)"))?;
        let (not_before, expires) = (numeric_date(&json, "nbf")?, numeric_date(&json, "exp")?);
        let document = resolver.resolve(signer.did(), now)?;
        jws.verify(document.key_for(&signer, Kind::JsonWebKey, Relationship::Authentication, now)?)?;
        same(json.get("aud"), self.audience, Reason::WrongAudience, "aud")?;
        same(json.get("nonce"), self.nonce, Reason::WrongNonce, "nonce")?;
        fresh(issued, self.max_age, now)?;
        now.within(not_before, expires, "the presentation")?;
        self.finish(holder, json, signer, resolver, now, status)
    }

    pub(super) fn verify_embedded(
        &self,
        json: &Map<String, Value>,
        resolver: &dyn Resolver,
        now: Timestamp,
        status: Status<'_>,
    ) -> Result<Verified<Presentation>> {
        if has_type(json, model::ENVELOPED_PRESENTATION) {
            let token = model::content(json, model::ENVELOPED_PRESENTATION, "application/vp+jwt")?;
            return self.verify_token(token, resolver, now, status);
        }
        check_presentation(json)?;
        // The one proof that is verified: what others say, nobody signed.
        let proof = data_integrity::our_proof(json)?;
        let stated = |name: &str| match proof.get(name) {
            Some(Value::Array(all)) => all.first().and_then(Value::as_str),
            other => other.and_then(Value::as_str),
        };
        let expected = data_integrity::Expected {
            purpose: Relationship::Authentication,
            domain: self.audience.or_else(|| stated("domain")),
            challenge: self.nonce.or_else(|| stated("challenge")),
        };
        let (document, signer) = data_integrity::verify(json, resolver, now, &expected)?.into_parts();
        let holder = holder(&document, &signer)?;
        presented_by(&holder, &signer)?;
        let created = model::time(proof, "created")?
            .ok_or_else(|| bad("a proof of authentication must say when it was made"))?;
        fresh(created, self.max_age, now)?;
        self.finish(holder, document, signer, resolver, now, status)
    }

    /// Verifies the credentials inside.
    fn finish(
        &self,
        holder: Did,
        json: Map<String, Value>,
        signer: DidUrl,
        resolver: &dyn Resolver,
        now: Timestamp,
        status: Status<'_>,
    ) -> Result<Verified<Presentation>> {
        let members = objects(&json, "verifiableCredential")?;
        if members.len() > MAX_CREDENTIALS {
            return Err(too_many(members.len()));
        }
        let mut credentials = Vec::with_capacity(members.len());
        for member in members {
            let credential = match has_type(member, model::ENVELOPED_CREDENTIAL) {
                true => credential::verify_enveloped(member, self.audience, resolver, now, status)?,
                false => credential::verify_embedded(member, resolver, now, status)?,
            };
            let about = |subject: &&Map<String, Value>| {
                subject.get("id").and_then(Value::as_str) == Some(holder.as_str())
            };
            if self.binding == Binding::Subject && !credential.subjects().iter().all(about) {
                return Err(Error::new(
                    Reason::WrongHolder,
                    format_args!("a credential is not about the holder {holder}"),
                ));
            }
            credentials.push(credential);
        }
        Ok(Verified::new(Presentation { holder, credentials, json }, signer))
    }
}

/// The DID of the holder: the one that is named, or else the one whose key signed (VC Data Model 2.0, §4.13).
fn holder(json: &Map<String, Value>, signer: &DidUrl) -> Result<Did> {
    let holder = match json.get("holder") {
        None => return Ok(signer.did().clone()),
        Some(Value::Object(holder)) => holder.get("id"),
        other => other,
    };
    holder.and_then(Value::as_str).ok_or_else(|| bad("the holder must be a URL"))?.parse()
}

fn presented_by(holder: &Did, signer: &DidUrl) -> Result<()> {
    match holder == signer.did() {
        true => Ok(()),
        false => Err(Error::new(
            Reason::WrongHolder,
            format_args!("the holder is {holder}, but the signing key is of {}", signer.did()),
        )),
    }
}

/// Refuses what is older than `max_age`, or from the future.
pub(super) fn fresh(made: Timestamp, max_age: u64, now: Timestamp) -> Result<()> {
    now.not_before(made, SIGNING_SKEW, "the presentation")?;
    now.within(None, Some(Timestamp(made.0.saturating_add(max_age))), "the presentation")
}

/// Refuses a text claim that is another than expected.
pub(super) fn same(found: Option<&Value>, expected: Option<&str>, reason: Reason, name: &str) -> Result<()> {
    match expected {
        Some(expected) if found.and_then(Value::as_str) != Some(expected) => {
            Err(Error::new(reason, format_args!("{name} is not {expected:?}")))
        }
        _ => Ok(()),
    }
}

fn too_many(count: usize) -> Error {
    Error::new(
        Reason::TooLarge,
        format_args!("there are {count} credentials; the limit is {MAX_CREDENTIALS}"),
    )
}
