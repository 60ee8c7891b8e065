//! Credentials: issued with a builder, read by verification alone.

use super::model::{self, CONTEXT, UNDEFINED_TERMS, has_type, objects};
use super::status::{self, Status, StatusEntry};
use super::{authority, data_integrity, model::check_credential};
use crate::error::bad;
use crate::jose::Jws;
use crate::{
    Agent, Did, DidUrl, Error, Kind, Reason, Relationship, Resolver, Result, Role, Timestamp, Verified, json,
};
use serde_json::{Map, Value, json};

/// The longest credential that is read, in bytes.
pub const MAX_CREDENTIAL: usize = 64 << 10;

/// How far the clocks of issuer and verifier may differ where a token tells when it was signed, in seconds. Twice that of an
/// action ([`crate::action::CLOCK_SKEW`]), which lasts for two minutes.
pub(crate) const SIGNING_SKEW: u64 = 60;

/// What an issuer claims. Only verification makes one; [`Credential::builder`] makes the secured form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    json: Map<String, Value>,
    issuer: Did,
    validity: (Option<Timestamp>, Option<Timestamp>),
}

impl Credential {
    /// Begins a credential.
    pub fn builder() -> CredentialBuilder {
        CredentialBuilder::default()
    }

    /// Verifies a credential: a `vc+jwt`, or JSON with a Data Integrity proof.
    ///
    /// The form is checked (VC Data Model 2.0, §4), then that the issuer controls the key and the key is for assertions,
    /// then the signature, then the time, then the status.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`] beyond [`MAX_CREDENTIAL`]; [`Reason::BadJson`], [`Reason::BadForm`], [`Reason::BadTime`],
    /// [`Reason::BadType`], [`Reason::BadAlgorithm`]; [`Reason::Unsecured`] for JSON without a proof;
    /// [`Reason::WrongIssuer`]; what the resolver says of the issuer; [`Reason::UnknownKey`], [`Reason::WrongPurpose`],
    /// [`Reason::KeyRevoked`]; [`Reason::BadSignature`]; [`Reason::NotYetValid`], [`Reason::Expired`];
    /// [`Reason::UnknownStatus`], [`Reason::Revoked`], [`Reason::Suspended`].
    pub fn verify(
        secured: &str,
        resolver: &dyn Resolver,
        now: Timestamp,
        status: Status<'_>,
    ) -> Result<Verified<Self>> {
        verify(secured, MAX_CREDENTIAL, resolver, now, status)
    }

    /// Reads a credential whose form is right.
    fn read(json: Map<String, Value>) -> Result<Self> {
        check_credential(&json)?;
        let issuer = model::issuer(&json)?.parse()?;
        let validity = model::validity(&json)?;
        Ok(Self { json, issuer, validity })
    }

    /// Its own URL, if it has one.
    pub fn id(&self) -> Option<&str> {
        self.json.get("id").and_then(Value::as_str)
    }

    /// Whether it is of this type.
    pub fn has_type(&self, kind: &str) -> bool {
        has_type(&self.json, kind)
    }

    /// Who issued it.
    pub fn issuer(&self) -> &Did {
        &self.issuer
    }

    /// The claims about the first, and mostly only, subject.
    pub fn subject(&self) -> &Map<String, Value> {
        self.subjects().first().copied().expect("a credential was read with at least one subject")
    }

    /// The claims about each subject.
    pub fn subjects(&self) -> Vec<&Map<String, Value>> {
        objects(&self.json, "credentialSubject").unwrap_or_default()
    }

    /// When it begins and ends.
    pub fn validity(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        self.validity
    }

    /// The whole credential as it was signed: of one with a proof inside, all but the proof.
    pub fn json(&self) -> &Map<String, Value> {
        &self.json
    }
}

/// A credential in the making.
#[derive(Clone, Debug, Default)]
pub struct CredentialBuilder {
    kinds: Vec<String>,
    contexts: Vec<Value>,
    subjects: Vec<Value>,
    status: Vec<Value>,
    members: Map<String, Value>,
}

impl CredentialBuilder {
    /// The credential's own URL.
    #[must_use]
    pub fn id(self, url: &str) -> Self {
        self.member("id", url.into())
    }

    /// A type besides `VerifiableCredential`.
    #[must_use]
    pub fn kind(mut self, kind: &str) -> Self {
        self.kinds.push(kind.to_owned());
        self
    }

    /// A context besides the base one. Without any, terms that the base context lacks are the issuer's own
    /// ([`UNDEFINED_TERMS`]).
    #[must_use]
    pub fn context(mut self, context: Value) -> Self {
        self.contexts.push(context);
        self
    }

    /// The claims about a subject; its DID is `id`.
    #[must_use]
    pub fn subject(mut self, claims: Value) -> Self {
        self.subjects.push(claims);
        self
    }

    /// When it begins and ends, to the second.
    #[must_use]
    pub fn valid(self, from: Timestamp, until: Timestamp) -> Self {
        self.member("validFrom", from.to_string().into()).member("validUntil", until.to_string().into())
    }

    /// Where its status stands. Each call adds an entry.
    #[must_use]
    pub fn status(mut self, entry: &StatusEntry) -> Self {
        self.status.push(entry.to_json());
        self
    }

    /// Any other member of the data model: `credentialSchema`, `evidence`, `name` and so on.
    #[must_use]
    pub fn member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }

    /// Signs it as `vc+jwt` with the agent's signing key; the agent is the issuer.
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`] or [`Reason::BadTime`] for what the data model forbids; [`Reason::BadType`] for what gives authority and
    /// has a door of its own: [`Delegation::sign`](crate::delegation::Delegation::sign),
    /// [`approval::sign`](crate::approval::sign), [`StatusList::issue`](super::StatusList::issue),
    /// [`Presentation::sign`](super::Presentation::sign); [`Reason::WrongIssuer`]; [`Reason::TooLarge`] beyond
    /// [`MAX_CREDENTIAL`], [`Reason::NoRandomness`].
    pub fn issue(self, agent: &Agent) -> Result<String> {
        sign(agent, &self.compose(agent))
    }

    /// Signs it with a Data Integrity proof inside (`mldsa44-jcs-2024`).
    ///
    /// # Errors
    ///
    /// As [`CredentialBuilder::issue`].
    pub fn issue_with_proof(self, agent: &Agent, created: Timestamp) -> Result<Map<String, Value>> {
        sign_with_proof(agent, self.compose(agent), created)
    }

    pub(super) fn compose(self, agent: &Agent) -> Map<String, Value> {
        let mut json = self.members;
        let mut contexts = vec![Value::from(CONTEXT)];
        match self.contexts.is_empty() {
            true => contexts.push(UNDEFINED_TERMS.into()),
            false => contexts.extend(self.contexts),
        }
        let mut kinds = vec![Value::from("VerifiableCredential")];
        kinds.extend(self.kinds.into_iter().map(Value::from));
        json.insert("@context".into(), contexts.into());
        json.insert("type".into(), kinds.into());
        json.entry("issuer").or_insert_with(|| agent.did().as_str().into());
        for (name, all) in [("credentialSubject", self.subjects), ("credentialStatus", self.status)] {
            match all.len() {
                0 => {}
                1 => drop(json.insert(name.into(), all.into_iter().next().unwrap_or_default())),
                _ => drop(json.insert(name.into(), all.into())),
            }
        }
        json
    }
}

/// Signs a credential of whatever origin as `vc+jwt`: claims, and nothing that gives authority.
pub(crate) fn sign(agent: &Agent, credential: &Map<String, Value>) -> Result<String> {
    authority::refuse(credential)?;
    sign_within(agent, credential, MAX_CREDENTIAL)
}

/// Signs a credential of this crate's own making, whatever its type.
pub(super) fn sign_within(agent: &Agent, credential: &Map<String, Value>, limit: usize) -> Result<String> {
    ours(agent, credential)?;
    let header = header("vc+jwt", "vc", &agent.key_url(Role::Signing));
    registered_claims(&header, &Credential::read(credential.clone())?)?;
    let token = Jws::sign(agent.key(Role::Signing), header, &json::canonicalize_object(credential)?)?;
    match token.len() <= limit {
        true => Ok(token),
        false => {
            Err(Error::new(Reason::TooLarge, format_args!("a credential of {} characters", token.len())))
        }
    }
}

/// Signs a credential of whatever origin with a proof inside.
pub(crate) fn sign_with_proof(
    agent: &Agent,
    credential: Map<String, Value>,
    created: Timestamp,
) -> Result<Map<String, Value>> {
    ours(agent, &credential)?;
    registered_claims(&Map::new(), &Credential::read(credential.clone())?)?;
    for_audience(credential.get("aud"), None)?;
    let options = data_integrity::ProofOptions::assertion(created);
    data_integrity::sign(agent, credential, &options)
}

fn ours(agent: &Agent, credential: &Map<String, Value>) -> Result<()> {
    check_credential(credential)?;
    status::check_entries(credential)?;
    if credential.contains_key("proof") {
        return Err(bad("the credential already has a proof"));
    }
    match model::issuer(credential)? == agent.did().as_str() {
        true => Ok(()),
        false => {
            Err(Error::new(Reason::WrongIssuer, format_args!("the agent that signs is {}", agent.did())))
        }
    }
}

pub(crate) fn header(typ: &str, cty: &str, key: &DidUrl) -> Map<String, Value> {
    Map::from_iter(
        [("typ", typ.to_owned()), ("cty", cty.to_owned()), ("kid", key.to_string())]
            .map(|(name, value)| (name.to_owned(), value.into())),
    )
}

/// As [`Credential::verify`], with a limit of its own.
pub(super) fn verify(
    secured: &str,
    max_len: usize,
    resolver: &dyn Resolver,
    now: Timestamp,
    status: Status<'_>,
) -> Result<Verified<Credential>> {
    match secured.trim_ascii_start().starts_with('{') {
        true => {
            let json = json::parse_object(secured.as_bytes(), max_len)?;
            verify_embedded(&json, resolver, now, status)
        }
        false => verify_token(secured, max_len, None, resolver, now, status),
    }
}

/// A credential with a Data Integrity proof, which was read as strict JSON. Registered claims of JWT in it mean what they mean in a token: whoever
/// moves a credential from one form to the other loses no restriction.
pub(super) fn verify_embedded(
    json: &Map<String, Value>,
    resolver: &dyn Resolver,
    now: Timestamp,
    status: Status<'_>,
) -> Result<Verified<Credential>> {
    check_credential(json)?;
    let expected = data_integrity::Expected::assertion();
    let (document, signer) = data_integrity::verify(json, resolver, now, &expected)?.into_parts();
    let credential = Credential::read(document)?;
    let times = registered_claims(&Map::new(), &credential)?;
    signed_by(&credential, &signer)?;
    for_audience(credential.json.get("aud"), None)?;
    times.hold(now, "the credential")?;
    finish(credential, signer, now, status)
}

/// A credential in an envelope (VC Data Model 2.0, §4.13.1): a token, whatever else the text could be. The verifier's name is `audience`.
pub(super) fn verify_enveloped(
    object: &Map<String, Value>,
    audience: Option<&str>,
    resolver: &dyn Resolver,
    now: Timestamp,
    status: Status<'_>,
) -> Result<Verified<Credential>> {
    let token = model::content(object, model::ENVELOPED_CREDENTIAL, "application/vc+jwt")?;
    verify_token(token, MAX_CREDENTIAL, audience, resolver, now, status)
}

fn verify_token(
    token: &str,
    max_len: usize,
    audience: Option<&str>,
    resolver: &dyn Resolver,
    now: Timestamp,
    status: Status<'_>,
) -> Result<Verified<Credential>> {
    let jws = Jws::parse(token, max_len)?;
    jws.expect_profile("vc+jwt", "vc")?;
    let payload = json::parse_object(jws.payload_unverified(), max_len)?;
    let credential = Credential::read(payload)?;
    let times = registered_claims(jws.header(), &credential)?;
    let signer = jws.key_id()?;
    signed_by(&credential, &signer)?;
    let document = resolver.resolve(signer.did(), now)?;
    jws.verify(document.key_for(&signer, Kind::JsonWebKey, Relationship::AssertionMethod, now)?)?;
    for_audience(credential.json.get("aud"), audience)?;
    times.hold(now, "the token")?;
    finish(credential, signer, now, status)
}

/// Refuses a token that is for others (RFC 7519, §4.1.3): whoever verifies a credential by itself is no audience.
pub(super) fn for_audience(found: Option<&Value>, audience: Option<&str>) -> Result<()> {
    let ours = |name: &Value| audience.is_some_and(|audience| name == audience);
    let fits = match found {
        None => true,
        Some(Value::Array(all)) => all.iter().any(ours),
        Some(one) => ours(one),
    };
    match fits {
        true => Ok(()),
        false => Err(Error::new(Reason::WrongAudience, "the credential is for another audience (aud)")),
    }
}

/// What signature and form do not tell: issuer, time, status.
fn finish(
    credential: Credential,
    signer: DidUrl,
    now: Timestamp,
    status: Status<'_>,
) -> Result<Verified<Credential>> {
    signed_by(&credential, &signer)?;
    let (from, until) = credential.validity;
    now.within(from, until, "the credential")?;
    status.check(&credential, now)?;
    Ok(Verified::new(credential, signer))
}

fn signed_by(credential: &Credential, signer: &DidUrl) -> Result<()> {
    match credential.issuer == *signer.did() {
        true => Ok(()),
        false => Err(Error::new(
            Reason::WrongIssuer,
            format_args!("the issuer is {}, but the signing key is of {}", credential.issuer, signer.did()),
        )),
    }
}

/// VC-JOSE-COSE, §3.1.3: claims that say again what the credential says, and must not say otherwise. The times of the
/// token itself.
fn registered_claims(header: &Map<String, Value>, credential: &Credential) -> Result<Times> {
    let json = &credential.json;
    for name in ["vc", "vp"] {
        if json.contains_key(name) {
            return Err(bad(format_args!(
                "the claim {name:?} is not permitted in a credential (VC-JOSE-COSE, §1.1.2.1)"
            )));
        }
    }
    let same = |name: &str, value: Option<&Value>, expected: Option<&str>| match value {
        None => Ok(()),
        Some(Value::String(found)) if Some(found.as_str()) == expected => Ok(()),
        Some(_) => Err(bad(format_args!("the claim {name} contradicts the credential"))),
    };
    let issuer = Some(credential.issuer.as_str());
    same("iss", json.get("iss"), issuer)?;
    same("iss", header.get("iss"), issuer)?;
    same("jti", json.get("jti"), credential.id())?;
    same("sub", json.get("sub"), credential.subject().get("id").and_then(Value::as_str))?;
    let times = Times::of(json)?;
    let (not_before, expires) = (times.not_before, times.expires);
    let (from, until) = credential.validity;
    if not_before.zip(from).is_some_and(|(a, b)| a != b) || expires.zip(until).is_some_and(|(a, b)| a != b) {
        return Err(bad("nbf and exp differ from validFrom and validUntil"));
    }
    Ok(times)
}

/// The times that a token claims (RFC 7519, §4.1).
pub(super) struct Times {
    issued: Option<Timestamp>,
    not_before: Option<Timestamp>,
    expires: Option<Timestamp>,
}

impl Times {
    pub(super) fn of(claims: &Map<String, Value>) -> Result<Self> {
        let date = |name| numeric_date(claims, name);
        Ok(Self { issued: date("iat")?, not_before: date("nbf")?, expires: date("exp")? })
    }

    /// Refuses a time outside of them; the issuer's clock may be ahead by [`SIGNING_SKEW`] where it signed.
    pub(super) fn hold(&self, now: Timestamp, what: &str) -> Result<()> {
        if let Some(issued) = self.issued {
            now.not_before(issued, SIGNING_SKEW, what)?;
        }
        now.within(self.not_before, self.expires, what)
    }
}

/// A NumericDate (RFC 7519, §2) in whole seconds.
pub(crate) fn numeric_date(claims: &Map<String, Value>, name: &str) -> Result<Option<Timestamp>> {
    claims
        .get(name)
        .map(|value| {
            value.as_u64().map(Timestamp).ok_or_else(|| {
                Error::new(Reason::BadTime, format_args!("{name} must be a number of whole seconds"))
            })
        })
        .transpose()
}

/// The object that stands for a token in a presentation (VC Data Model 2.0, §4.13.1).
pub(crate) fn enveloped(token: &str) -> Value {
    json!({
        "@context": [CONTEXT],
        "type": model::ENVELOPED_CREDENTIAL,
        "id": format!("data:application/vc+jwt,{token}"),
    })
}
