//! What the test suites of the W3C ask: the endpoints of the VC API as functions, and the file of the DID suite.
//!
//! No HTTP here: a server reads a body, calls one of these, and answers with the status and the JSON.
//!
//! * VC API 0.3 for `vc-data-model-2.0-test-suite`: [`Api::issue`], [`Api::verify_credential`],
//!   [`Api::verify_presentation`]
//! * `did-test-suite`: [`did_suite`]

use super::credential::{self, sign, sign_with_proof};
use super::model::{self, has_type};
use super::presentation::{Asked, Binding};
use super::{MAX_PRESENTATION, Status};
use crate::error::bad;
use crate::resolution::{DID_JSON, DID_LD_JSON, represented};
use crate::{Agent, CardLog, Error, Reason, Resolver, Result, Timestamp, json};
use serde_json::{Map, Value, json};

/// In which form credentials are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An `EnvelopedVerifiableCredential` around a `vc+jwt`.
    Enveloped,
    /// JSON with a `mldsa44-jcs-2024` proof.
    DataIntegrity,
}

/// An issuer and verifier behind the VC API.
pub struct Api<'a> {
    /// Who issues.
    pub agent: &'a Agent,
    /// Who finds documents of issuers and holders.
    pub resolver: &'a dyn Resolver,
    /// What is asked about the status of credentials.
    pub status: Status<'a>,
    /// The form of what is issued.
    pub form: Form,
}

/// The status of HTTP and the body.
pub type Answer = (u16, Value);

impl Api<'_> {
    /// `POST /credentials/issue`: `{"credential": …}`; 201 with `{"verifiableCredential": …}`, or 400.
    pub fn issue(&self, body: &[u8], now: Timestamp) -> Answer {
        let issued = || {
            let credential = member(body, "credential")?;
            match self.form {
                Form::Enveloped => sign(self.agent, &credential).map(|token| credential::enveloped(&token)),
                Form::DataIntegrity => sign_with_proof(self.agent, credential, now).map(Value::Object),
            }
        };
        match issued() {
            Ok(credential) => (201, json!({"verifiableCredential": credential})),
            Err(error) => (400, problem(&error)),
        }
    }

    /// `POST /credentials/verify`: `{"verifiableCredential": …}`; 200 with `{"verified": true}`, or 400.
    pub fn verify_credential(&self, body: &[u8], now: Timestamp) -> Answer {
        answer(|| {
            let secured = member(body, "verifiableCredential")?;
            let verified = match has_type(&secured, model::ENVELOPED_CREDENTIAL) {
                true => credential::verify_enveloped(&secured, None, self.resolver, now, self.status)?,
                false => credential::verify_embedded(&secured, self.resolver, now, self.status)?,
            };
            Ok(verified.json().clone())
        })
    }

    /// `POST /presentations/verify`: `{"verifiablePresentation": …, "options": {"challenge", "domain"}}`; 200 with
    /// `{"verified": true}`, or 400. Without options it verifies for whomever the presentation is.
    pub fn verify_presentation(&self, body: &[u8], now: Timestamp) -> Answer {
        answer(|| {
            let presentation = member(body, "verifiablePresentation")?;
            let options = match json::parse_object(body, MAX_PRESENTATION)?.remove("options") {
                None => Map::new(),
                Some(Value::Object(options)) => options,
                Some(_) => return Err(bad("options must be an object")),
            };
            // What somebody meant to ask for is not passed over because it is no text.
            let option = |name: &str| match options.get(name) {
                None => Ok(None),
                Some(Value::String(text)) => Ok(Some(text.as_str())),
                Some(_) => Err(bad(format_args!("the option {name} must be a string"))),
            };
            let asked = Asked {
                audience: option("domain")?,
                nonce: option("challenge")?,
                max_age: u64::MAX,
                binding: Binding::Bearer,
            };
            let verified = asked.verify_embedded(&presentation, self.resolver, now, self.status)?;
            Ok(verified.json().clone())
        })
    }
}

impl core::fmt::Debug for Api<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Api")
            .field("agent", &self.agent.did())
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}

/// An object in a body of strict JSON.
fn member(body: &[u8], name: &str) -> Result<Map<String, Value>> {
    match json::parse_object(body, MAX_PRESENTATION)?.remove(name) {
        Some(Value::Object(found)) => Ok(found),
        _ => Err(bad(format_args!("the body lacks the object {name}"))),
    }
}

fn answer(verify: impl FnOnce() -> Result<Map<String, Value>>) -> Answer {
    match verify() {
        Ok(verified) => (200, json!({"verified": true, "verifiedDocument": verified})),
        Err(error) => {
            let mut body = problem(&error);
            body["verified"] = false.into();
            (400, body)
        }
    }
}

/// Problem details with the types of the data model (VC Data Model 2.0, §7.2).
fn problem(error: &Error) -> Value {
    let kind = match error.reason() {
        Reason::BadJson | Reason::BadEncoding | Reason::TooLarge => "PARSING_ERROR",
        Reason::BadSignature
        | Reason::BadKey
        | Reason::BadAlgorithm
        | Reason::UnknownKey
        | Reason::UnknownDid
        | Reason::WrongPurpose
        | Reason::KeyRevoked
        | Reason::Unsecured
        | Reason::WrongIssuer
        | Reason::WrongHolder => "CRYPTOGRAPHIC_SECURITY_ERROR",
        Reason::NotYetValid | Reason::Expired | Reason::OutOfRange => "RANGE_ERROR",
        _ => "MALFORMED_VALUE_ERROR",
    };
    json!({
        "errors": [error.to_string()],
        "problemDetails": [{
            "type": format!("https://www.w3.org/TR/vc-data-model#{kind}"),
            "title": error.reason().code(),
            "detail": error.detail(),
        }],
    })
}

/// The implementation file of the W3C `did-test-suite`: the newest card of a log in both representations.
///
/// # Errors
///
/// [`Reason::BadType`] for a document that does not begin with the context of DID Core 1.0, which every card of this crate does.
pub fn did_suite(log: &CardLog) -> Result<Value> {
    let did = log.did().as_str();
    let document = log.newest().document();
    let mut properties = document.json().clone();
    let context = properties.remove("@context");
    let representation = |content_type: &str, entries: Value| -> Result<Value> {
        let found = represented(document, Some(content_type)).map_err(|(_, error)| error)?;
        Ok(json!({
            "didDocumentDataModel": {"representationSpecificEntries": entries},
            "representation": String::from_utf8_lossy(&found.stream()),
            "didDocumentMetadata": found.content_metadata,
            "didResolutionMetadata": found.metadata,
        }))
    };
    let mut file = json!({
        "didMethod": "did:gambeson",
        "implementation": "gambeson-identity",
        "implementer": "The gambeson founders",
        "supportedContentTypes": [DID_LD_JSON, DID_JSON],
        "dids": [did],
        "didParameters": {},
    });
    file[did] = json!({
        "didDocumentDataModel": {"properties": properties},
        DID_LD_JSON: representation(DID_LD_JSON, json!({"@context": context}))?,
        DID_JSON: representation(DID_JSON, json!({}))?,
    });
    Ok(file)
}
