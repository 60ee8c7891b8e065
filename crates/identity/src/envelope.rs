//! The credential that delegations and approvals are: VC Data Model 2.0 as `vc+jwt` (VC-JOSE-COSE), and nothing optional.

use crate::action::{CLOCK_SKEW, header};
use crate::document::{Kind, Relationship};
use crate::error::bad;
use crate::jose::Jws;
use crate::{Agent, Did, DidUrl, Error, Reason, Resolver, Result, Role, Timestamp, encoding, json};
use serde_json::{Map, Value, json};

/// The longest credential of this kind that is read, in characters.
pub(crate) const MAX_TOKEN: usize = 64 << 10;

/// A kind of credential: its type, the member of the subject that says what is granted, and whose key signs.
pub(crate) struct Form {
    pub(crate) kind: &'static str,
    pub(crate) member: &'static str,
    pub(crate) relationship: Relationship,
}

/// The members that every credential of these kinds has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub(crate) id: String,
    pub(crate) issuer: Did,
    pub(crate) subject: Did,
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
    /// Entries of status lists, if the issuer can take the credential back.
    pub(crate) status: Vec<Value>,
}

impl Envelope {
    /// A new one with an id of its own.
    pub(crate) fn new(agent: &Agent, subject: Did, from: Timestamp, until: Timestamp) -> Result<Self> {
        let random = agent.random(&[b"credential", subject.as_str().as_bytes()])?;
        Ok(Self {
            id: format!("urn:gambeson:{}", encoding::encode(&random.expose()[..16])),
            issuer: agent.did().clone(),
            subject,
            from,
            until,
            status: Vec::new(),
        })
    }

    /// Signs it with what it grants.
    pub(crate) fn sign(&self, agent: &Agent, form: &Form, granted: Map<String, Value>) -> Result<String> {
        let subject = Map::from_iter([
            ("id".to_owned(), self.subject.as_str().into()),
            (form.member.to_owned(), granted.into()),
        ]);
        let mut credential = Map::from_iter([
            ("@context".to_owned(), context(form)),
            ("type".to_owned(), json!(["VerifiableCredential", form.kind])),
            ("id".to_owned(), self.id.as_str().into()),
            ("issuer".to_owned(), self.issuer.as_str().into()),
            ("validFrom".to_owned(), self.from.to_string().into()),
            ("validUntil".to_owned(), self.until.to_string().into()),
            ("credentialSubject".to_owned(), subject.into()),
        ]);
        if !self.status.is_empty() {
            credential.insert("credentialStatus".into(), self.status.clone().into());
            crate::vc::check_entries(&credential)?;
        }
        let mut header = header(agent, "vc+jwt");
        header.insert("cty".into(), "vc".into());
        let token = Jws::sign(agent.key(Role::Signing), header, &json::canonicalize_object(&credential)?)?;
        match token.len() {
            ..=MAX_TOKEN => Ok(token),
            len => Err(Error::new(
                Reason::TooLarge,
                format_args!("the credential has {len} characters; the limit is {MAX_TOKEN}"),
            )),
        }
    }

    /// Reads a credential and gives what it grants; nothing is verified yet.
    pub(crate) fn read(token: &str, form: &Form) -> Result<Opened> {
        let jws = Jws::parse(token, MAX_TOKEN)?;
        jws.expect_profile("vc+jwt", "vc")?;
        let mut object = json::parse_object(jws.payload_unverified(), MAX_TOKEN)?;
        let mut take = |name: &str| object.remove(name).ok_or_else(|| lacks(name));
        if take("type")? != json!(["VerifiableCredential", form.kind]) {
            return Err(Error::new(Reason::BadType, format_args!("not a credential of type {}", form.kind)));
        }
        if take("@context")? != context(form) {
            return Err(bad(format_args!("the context is not that of {}", form.kind)));
        }
        let text = |value: Value, name: &str| match value {
            Value::String(text) => Ok(text),
            _ => Err(lacks(name)),
        };
        let id = text(take("id")?, "id")?;
        if !crate::document::is_uri(&id) {
            return Err(bad("the id of a credential must be a URI"));
        }
        let issuer = text(take("issuer")?, "issuer")?.parse()?;
        let from: Timestamp = text(take("validFrom")?, "validFrom")?.parse()?;
        let until = text(take("validUntil")?, "validUntil")?.parse()?;
        let Value::Object(mut subject) = take("credentialSubject")? else {
            return Err(lacks("credentialSubject"));
        };
        let status = match object.remove("credentialStatus") {
            None => Vec::new(),
            Some(Value::Array(entries)) if !entries.is_empty() => entries,
            Some(entry @ Value::Object(_)) => vec![entry],
            Some(_) => return Err(lacks("credentialStatus")),
        };
        let subject_id = text(subject.remove("id").ok_or_else(|| lacks("id"))?, "id")?.parse()?;
        let Some(Value::Object(granted)) = subject.remove(form.member) else {
            return Err(lacks(form.member));
        };
        if let Some(name) = object.keys().chain(subject.keys()).next() {
            return Err(bad(format_args!("a credential of this kind has an unknown member {name:?}")));
        }
        if until < from {
            return Err(bad("the credential ends before it begins"));
        }
        let envelope = Self { id, issuer, subject: subject_id, from, until, status };
        Ok(Opened { envelope, granted, jws })
    }
}

/// A credential that was read and not verified.
pub(crate) struct Opened {
    pub(crate) envelope: Envelope,
    pub(crate) granted: Map<String, Value>,
    jws: Jws,
}

impl Opened {
    /// Verifies time and signature: by a key of the issuer, for the purpose of the form. An issuer's clock may be ahead as
    /// that of an action's signer may.
    pub(crate) fn verify(&self, form: &Form, resolver: &dyn Resolver, now: Timestamp) -> Result<DidUrl> {
        now.not_before(self.envelope.from, CLOCK_SKEW, form.kind)?;
        now.within(None, Some(self.envelope.until), form.kind)?;
        let signer = self.jws.key_id()?;
        if *signer.did() != self.envelope.issuer {
            return Err(Error::new(
                Reason::WrongIssuer,
                format_args!("{} signed for {}", signer.did(), self.envelope.issuer),
            ));
        }
        let document = resolver.resolve(signer.did(), now)?;
        self.jws.verify(document.key_for(&signer, Kind::JsonWebKey, form.relationship, now)?)?;
        Ok(signer)
    }
}

/// The terms of the kind are defined in place, so that processors of JSON-LD keep them, and load nothing.
fn context(form: &Form) -> Value {
    json!([
        "https://www.w3.org/ns/credentials/v2",
        {
            (form.kind): format!("urn:gambeson:{}", form.kind),
            (form.member): {"@id": format!("urn:gambeson:{}", form.member), "@type": "@json"},
        }
    ])
}

fn lacks(name: &str) -> Error {
    bad(format_args!("the member {name:?} is missing or has another type"))
}
