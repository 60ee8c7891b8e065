//! An agent, and what it signs. Objects come and go as JSON: the glue would be larger than what it carries.

#![allow(clippy::too_many_arguments)] // An object of options comes one by one.

use gambeson_identity::action::{Action, Call};
use gambeson_identity::delegation::{Amount, Capability, Delegation, Evidence};
use gambeson_identity::vc::{Credential, Presentation};
use gambeson_identity::{
    Agent, CardContent, CardLog, Error, MasterSeed, Reason, Resolver, Result, Role, Timestamp, a2a,
    application_context, approval, http, json, mcp, recovery, sealed,
};
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;
use zeroize::Zeroizing;

use crate::failure::{GambesonError, refused, seed_of};
use crate::verifier::VerifierHandle;

/// The longest JSON that JavaScript may hand over.
pub(crate) const MAX_JSON: usize = 16 << 20;

/// An agent: its seed and what comes from it.
#[wasm_bindgen]
pub struct AgentHandle(pub(crate) Agent);

#[wasm_bindgen]
impl AgentHandle {
    /// A new agent.
    pub fn generate() -> Result<AgentHandle, GambesonError> {
        Agent::generate().map(Self).map_err(refused)
    }

    /// The agent of a seed of 32 bytes.
    #[wasm_bindgen(js_name = fromSeed)]
    pub fn from_seed(seed: Vec<u8>) -> Result<AgentHandle, GambesonError> {
        let seed = Zeroizing::new(seed);
        Ok(Self(Agent::from_seed(MasterSeed::from_bytes(seed_of(&seed)?))))
    }

    /// The agent of 24 words.
    #[wasm_bindgen(js_name = fromWords)]
    pub fn from_words(words: String) -> Result<AgentHandle, GambesonError> {
        let words = Zeroizing::new(words);
        recovery::from_words(&words).map(|seed| Self(Agent::from_seed(seed))).map_err(refused)
    }

    /// The agent of a fleet.
    pub fn child(&self, index: u64) -> AgentHandle {
        Self(self.0.child(index))
    }

    /// The DID.
    pub fn did(&self) -> String {
        self.0.did().to_string()
    }

    /// The URL of the signing key.
    #[wasm_bindgen(js_name = keyUrl)]
    pub fn key_url(&self) -> String {
        self.0.key_url(Role::Signing).to_string()
    }

    /// The first identity card, as a log of one line.
    pub fn card(&self, from: f64, until: f64, content: &str) -> Result<String, GambesonError> {
        let make = || {
            let mut content = json::parse_object(content.as_bytes(), MAX_JSON)?;
            let content = CardContent {
                also_known_as: texts(content.remove("alsoKnownAs"), "alsoKnownAs")?,
                services: list(content.remove("services"), "services")?,
            };
            let card = self.0.first_card(time(from), time(until), &content)?;
            Ok(CardLog::new(card)?.to_lines())
        };
        make().map_err(refused)
    }

    /// Signs bytes with the signing key, in a context of the application's own.
    pub fn sign(&self, message: &[u8], context: &[u8]) -> Result<Vec<u8>, GambesonError> {
        let sign = || self.0.key(Role::Signing).sign(application_context(context)?, message);
        sign().map_err(refused)
    }

    /// Signs a credential: `type` and `@context` are those besides the base ones.
    pub fn issue(&self, credential: &str) -> Result<String, GambesonError> {
        let issue = || {
            let mut builder = Credential::builder();
            for (name, value) in json::parse_object(credential.as_bytes(), MAX_JSON)? {
                builder = match (name.as_str(), value) {
                    ("type", kinds) => {
                        texts(Some(kinds), "type")?.iter().fold(builder, |builder, kind| builder.kind(kind))
                    }
                    ("@context", contexts) => {
                        list(Some(contexts), "@context")?.into_iter().fold(builder, |it, one| it.context(one))
                    }
                    ("credentialSubject", claims) => builder.subject(claims),
                    (_, value) => builder.member(&name, value),
                };
            }
            builder.issue(&self.0)
        };
        issue().map_err(refused)
    }

    /// Signs a presentation of these credentials, a list of texts.
    pub fn present(
        &self,
        credentials: &str,
        audience: &str,
        nonce: &str,
        now: f64,
    ) -> Result<String, GambesonError> {
        let present = || {
            let credentials = texts(Some(json::parse(credentials.as_bytes(), MAX_JSON)?), "credentials")?;
            let credentials: Vec<&str> = credentials.iter().map(String::as_str).collect();
            Presentation::sign(&self.0, &credentials, audience, nonce, time(now))
        };
        present().map_err(refused)
    }

    /// Signs a link of a delegation.
    pub fn delegate(&self, terms: &str, parent: Option<String>) -> Result<String, GambesonError> {
        let sign = || terms_of(terms)?.sign(&self.0, parent.as_deref());
        sign().map_err(refused)
    }

    /// Approves an action of somebody.
    pub fn approve(&self, action: &str, actor: &str, now: f64) -> Result<String, GambesonError> {
        let sign = || {
            let action = Action::from_json(action.as_bytes())?;
            approval::sign(&self.0, &action, &actor.parse()?, time(now))
        };
        sign().map_err(refused)
    }

    /// Makes an action of an MCP request: canonical JSON.
    pub fn action(
        &self,
        method: &str,
        params: &str,
        audience: &str,
        evidence: &str,
        lifetime: Option<f64>,
        now: f64,
    ) -> Result<String, GambesonError> {
        let make = || {
            let call: Call = mcp::call(method, &json::parse_object(params.as_bytes(), MAX_JSON)?)?;
            let mut action = Action::new(&self.0, call, audience, time(now))?
                .under(&self.0, &evidence_of(evidence)?.chain);
            if let Some(seconds) = lifetime {
                action = action.lasting(seconds as u64);
            }
            Ok(action.to_json())
        };
        make().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(refused)
    }

    /// The proof of an action for `params._meta`, as JSON.
    pub fn prove(&self, action: &str, evidence: &str) -> Result<String, GambesonError> {
        let prove = || {
            let action = Action::from_json(action.as_bytes())?;
            json::text(&mcp::prove(&self.0, &action, &evidence_of(evidence)?)?)
        };
        prove().map_err(refused)
    }

    /// Puts a receipt into the result of an MCP request.
    pub fn acknowledge(&self, action: &str, result: &str, now: f64) -> Result<String, GambesonError> {
        let acknowledge = || {
            let mut result = json::parse_object(result.as_bytes(), MAX_JSON)?;
            mcp::acknowledge(&self.0, &Action::from_json(action.as_bytes())?, &mut result, time(now))?;
            json::text(&Value::from(result))
        };
        acknowledge().map_err(refused)
    }

    /// Signs an HTTP request: the fields to add, as pairs.
    #[wasm_bindgen(js_name = signRequest)]
    pub fn sign_request(
        &self,
        method: &str,
        uri: &str,
        fields: &str,
        body: Option<Vec<u8>>,
        capability: bool,
        tag: Option<String>,
        now: f64,
    ) -> Result<String, GambesonError> {
        let sign = || {
            let fields = fields_of(fields)?;
            let mut message = http::Message::request(method, uri, &fields);
            if let Some(body) = &body {
                message = message.with_body(body);
            }
            let role = if capability { Role::Signing } else { Role::Identity };
            let terms = http::Terms { role, tag, ..http::Terms::default() };
            let added = http::sign(&self.0, &message, &terms, time(now))?;
            let added = added.into_iter().map(|(name, value)| Value::from(vec![name, value]));
            json::text(&Value::Array(added.collect()))
        };
        sign().map_err(refused)
    }

    /// Signs an A2A agent card.
    #[wasm_bindgen(js_name = signAgentCard)]
    pub fn sign_agent_card(&self, card: &str) -> Result<String, GambesonError> {
        let sign = || {
            let mut card = json::parse_object(card.as_bytes(), MAX_JSON)?;
            a2a::sign(&self.0, &mut card)?;
            json::text(&Value::from(card))
        };
        sign().map_err(refused)
    }

    /// Seals a payload to the agent of a DID whose card the verifier has.
    pub fn seal(
        &self,
        cards: &VerifierHandle,
        recipient: &str,
        media_type: &str,
        payload: &[u8],
        expires: f64,
        now: f64,
    ) -> Result<Vec<u8>, GambesonError> {
        let seal = || {
            let document = cards.cards.resolve(&recipient.parse()?, time(now))?;
            sealed::seal(&self.0, &document, media_type, payload, time(expires), time(now))
        };
        seal().map_err(refused)
    }
}

/// 24 new words.
#[wasm_bindgen(js_name = newWords)]
pub fn new_words() -> Result<String, GambesonError> {
    MasterSeed::generate().map(|seed| recovery::words(&seed).to_string()).map_err(refused)
}

/// JavaScript's seconds.
pub(crate) fn time(seconds: f64) -> Timestamp {
    Timestamp(seconds as u64)
}

fn bad(what: &str) -> Error {
    Error::new(Reason::BadForm, what)
}

fn list(value: Option<Value>, name: &str) -> Result<Vec<Value>> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(bad(&format!("{name:?} is a list"))),
    }
}

fn texts(value: Option<Value>, name: &str) -> Result<Vec<String>> {
    list(value, name)?
        .into_iter()
        .map(|item| match item {
            Value::String(text) => Ok(text),
            _ => Err(bad(&format!("{name:?} is a list of texts"))),
        })
        .collect()
}

/// A chain and approvals.
pub(crate) fn evidence_of(text: &str) -> Result<Evidence> {
    let mut object = json::parse_object(text.as_bytes(), MAX_JSON)?;
    Ok(Evidence {
        chain: texts(object.remove("chain"), "chain")?,
        approvals: texts(object.remove("approvals"), "approvals")?,
    })
}

/// Pairs of names and values.
pub(crate) fn fields_of(text: &str) -> Result<Vec<(String, String)>> {
    list(Some(json::parse(text.as_bytes(), MAX_JSON)?), "fields")?
        .into_iter()
        .map(|pair| match <[String; 2]>::try_from(texts(Some(pair), "a field")?) {
            Ok([name, value]) => Ok((name, value)),
            Err(_) => Err(bad("a field is a name and a value")),
        })
        .collect()
}

/// So much of something.
pub(crate) fn amount_of(value: &Value) -> Result<Amount> {
    match (value["amount"].as_u64(), value["unit"].as_str()) {
        (Some(amount), Some(unit)) => Ok(Amount { amount, unit: unit.to_owned() }),
        _ => Err(bad("an amount is {\"amount\": a whole number, \"unit\": a text}")),
    }
}

fn terms_of(text: &str) -> Result<Delegation> {
    let mut object: Map<String, Value> = json::parse_object(text.as_bytes(), MAX_JSON)?;
    let whole = |value: Option<Value>, name: &str| match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| bad(&format!("{name:?} is a whole number"))),
    };
    let asked = |value: Option<u64>, name: &str| value.ok_or_else(|| bad(&format!("{name:?} is missing")));
    let delegate = object.remove("delegate");
    let terms = Delegation {
        delegate: delegate.as_ref().and_then(Value::as_str).unwrap_or_default().parse()?,
        from: Timestamp(asked(whole(object.remove("from"), "from")?, "from")?),
        until: Timestamp(asked(whole(object.remove("until"), "until")?, "until")?),
        capabilities: list(object.remove("capabilities"), "capabilities")?
            .iter()
            .map(Capability::from_json)
            .collect::<Result<_>>()?,
        max_depth: u8::try_from(whole(object.remove("maxDepth"), "maxDepth")?.unwrap_or(0))
            .map_err(|_| bad("\"maxDepth\" is a small number"))?,
        max_calls: whole(object.remove("maxCalls"), "maxCalls")?,
        budget: object.remove("budget").as_ref().map(amount_of).transpose()?,
        status: list(object.remove("status"), "status")?,
    };
    match object.keys().next() {
        Some(name) => Err(bad(&format!("a delegation has no {name:?}"))),
        None => Ok(terms),
    }
}
