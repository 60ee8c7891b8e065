//! Who is known and trusted, what was seen before, and what is held against that.

#![allow(clippy::too_many_arguments)] // An object of options comes one by one.

use gambeson_identity::action::Expectations;
use gambeson_identity::delegation::{self, Authority, Chain, MemoryLedger, Policy};
use gambeson_identity::vc::{Binding, Credential, Presentation, Request, Status, StatusStore};
use gambeson_identity::{
    CardLog, CardStore, MemoryReplayCache, Relationship, Resolver, Result, Verified, a2a, http, json, mcp,
    sealed,
};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::agent::{AgentHandle, MAX_JSON, amount_of, evidence_of, fields_of, time};
use crate::failure::{GambesonError, refused};

#[wasm_bindgen]
extern "C" {
    /// A function of JavaScript that says what a call costs: JSON, or nothing.
    pub type Price;

    #[wasm_bindgen(method, catch, js_name = call)]
    fn ask(this: &Price) -> Result<Option<String>, JsValue>;
}

/// A verifier's cards, status lists, policy and memory.
#[wasm_bindgen]
pub struct VerifierHandle {
    pub(crate) cards: CardStore,
    lists: StatusStore,
    policy: Policy,
    replay: MemoryReplayCache,
    ledger: MemoryLedger,
}

#[wasm_bindgen]
impl VerifierHandle {
    /// Knows nobody. Remembers so many nonces.
    #[wasm_bindgen(constructor)]
    pub fn new(capacity: usize) -> VerifierHandle {
        Self {
            cards: CardStore::default(),
            lists: StatusStore::default(),
            policy: Policy::default(),
            replay: MemoryReplayCache::new(capacity),
            ledger: MemoryLedger::new(capacity),
        }
    }

    /// Verifies a log of cards and keeps it: its DID.
    #[wasm_bindgen(js_name = addCards)]
    pub fn add_cards(&mut self, lines: &str) -> Result<String, GambesonError> {
        let mut add = || {
            let log = CardLog::verify(lines.as_bytes())?;
            let did = log.did().to_string();
            self.cards.add(log)?;
            Ok(did)
        };
        add().map_err(refused)
    }

    /// Verifies a status list and keeps it.
    #[wasm_bindgen(js_name = addStatusList)]
    pub fn add_status_list(&mut self, secured: &str, now: f64) -> Result<(), GambesonError> {
        self.lists.add(secured, &self.cards, time(now)).map_err(refused)
    }

    /// Trusts a root for resources.
    pub fn trust(&mut self, resource: &str, root: &str) -> Result<(), GambesonError> {
        let mut trust = || {
            self.policy = self.policy.clone().trust(resource.parse()?, root.parse()?);
            Ok(())
        };
        trust().map_err(refused)
    }

    /// Asks for an approval by one of these.
    #[wasm_bindgen(js_name = requireApproval)]
    pub fn require_approval(&mut self, action: &str, approvers: Vec<String>) -> Result<(), GambesonError> {
        let mut require = || {
            let approvers = approvers.iter().map(|did| did.parse()).collect::<Result<_>>()?;
            self.policy = self.policy.clone().require_approval(action.parse()?, approvers);
            Ok(())
        };
        require().map_err(refused)
    }

    /// The document of a DID.
    pub fn resolve(&self, did: &str, now: f64) -> Result<String, GambesonError> {
        let resolve =
            || json::text(&Value::from(self.cards.resolve(&did.parse()?, time(now))?.json().clone()));
        resolve().map_err(refused)
    }

    /// Verifies a signature of bytes by a key that is for assertions.
    pub fn verify(
        &self,
        key_url: &str,
        signature: &[u8],
        message: &[u8],
        context: &[u8],
        now: f64,
    ) -> Result<(), GambesonError> {
        let verify = || {
            let context = gambeson_identity::application_context(context)?;
            let url: gambeson_identity::DidUrl = key_url.parse()?;
            let document = self.cards.resolve(url.did(), time(now))?;
            let (kind, relationship) = (gambeson_identity::Kind::JsonWebKey, Relationship::AssertionMethod);
            document.key_for(&url, kind, relationship, time(now))?.verify(context, message, signature)
        };
        verify().map_err(refused)
    }

    /// Verifies a credential. `offline`: a status that nobody here can look up is let pass.
    pub fn credential(&self, secured: &str, offline: bool, now: f64) -> Result<String, GambesonError> {
        let verified = Credential::verify(secured, &self.cards, time(now), self.status(offline));
        verified.and_then(|verified| json::text(&shown(&verified))).map_err(refused)
    }

    /// Verifies a presentation.
    pub fn presentation(
        &self,
        secured: &str,
        audience: &str,
        nonce: &str,
        max_age: f64,
        bearer: bool,
        now: f64,
    ) -> Result<String, GambesonError> {
        let request = Request {
            audience,
            nonce,
            max_age: max_age as u64,
            binding: if bearer { Binding::Bearer } else { Binding::Subject },
        };
        let verified = Presentation::verify(secured, &self.cards, time(now), &request, self.status(false));
        let verified = verified.map_err(refused)?;
        json::text(&json!({
            "holder": verified.holder().as_str(),
            "signer": verified.signer().to_string(),
            "credentials": verified.credentials().iter().map(shown).collect::<Vec<_>>(),
        }))
        .map_err(refused)
    }

    /// Verifies a chain of delegation, given as JSON with `chain`.
    pub fn delegation(&self, evidence: &str, now: f64) -> Result<String, GambesonError> {
        let verify = || Chain::verify(&evidence_of(evidence)?.chain, &self.cards, &self.lists, time(now));
        let verified = verify().map_err(refused)?;
        let links = verified.links().iter().map(|link| {
            let terms = link.terms();
            let budget = terms.budget.as_ref();
            json!({
                "issuer": link.issuer().as_str(),
                "delegate": terms.delegate.as_str(),
                "from": terms.from.0,
                "until": terms.until.0,
                "capabilities": terms.capabilities.iter().map(|it| it.to_json()).collect::<Vec<_>>(),
                "maxDepth": terms.max_depth,
                "maxCalls": terms.max_calls,
                "budget": budget.map(|it| json!({"amount": it.amount, "unit": it.unit})),
            })
        });
        let links: Vec<Value> = links.collect();
        json::text(&json!({"links": links, "signer": verified.signer().to_string()})).map_err(refused)
    }

    /// Verifies the proof of an MCP request; unless only the signature is asked for, decides whether the signer may.
    #[wasm_bindgen(js_name = toolCall)]
    pub fn tool_call(
        &mut self,
        method: &str,
        params: &str,
        audience: &str,
        lifetime: Option<f64>,
        price: &Price,
        authorize: bool,
        now: f64,
    ) -> Result<String, JsValue> {
        let mut verify = || {
            let params = json::parse_object(params.as_bytes(), MAX_JSON)?;
            let mut expected = Expectations::new(audience);
            if let Some(seconds) = lifetime {
                expected = expected.lasting(seconds as u64);
            }
            mcp::verify(method, &params, &expected, &self.cards, time(now), &mut self.replay)
        };
        let (action, evidence) = verify().map_err(refused)?;
        let mut answer = json!({
            "signer": action.signer().to_string(),
            "agent": action.signer().did().as_str(),
            "action": String::from_utf8_lossy(&action.to_json()),
            "name": action.call().name,
            "arguments": action.call().arguments,
            "chain": evidence.chain,
        });
        if authorize {
            // Asked now, and not before: only now is it certain who calls, and with what.
            let cost = price.ask()?;
            let decide = || {
                let cost =
                    cost.map(|cost| amount_of(&json::parse(cost.as_bytes(), MAX_JSON)?)).transpose()?;
                let authority =
                    Authority { policy: &self.policy, resolver: &self.cards, status: &self.lists };
                delegation::authorize(
                    &action,
                    &evidence,
                    cost.as_ref(),
                    &authority,
                    &mut self.ledger,
                    time(now),
                )
            };
            let authorized = decide().map_err(refused)?;
            answer["root"] = authorized.root.as_str().into();
            answer["path"] = authorized.path.iter().map(|did| did.as_str()).collect();
            answer["capability"] = authorized.capability.as_ref().map(|it| it.to_json()).into();
            answer["approvers"] = authorized.approvers.iter().map(|did| did.as_str()).collect();
        }
        Ok(json::text(&answer).map_err(refused)?)
    }

    /// Verifies the receipt of a result.
    pub fn receipt(&self, result: &str, action: &str, server: &str, now: f64) -> Result<f64, GambesonError> {
        let verify = || {
            let result = json::parse_object(result.as_bytes(), MAX_JSON)?;
            let action = gambeson_identity::action::Action::from_json(action.as_bytes())?;
            mcp::verify_receipt(&result, &action, &server.parse()?, &self.cards, time(now))
        };
        Ok(verify().map_err(refused)?.issued.0 as f64)
    }

    /// Verifies a signed HTTP request: the URL of the key.
    pub fn request(
        &mut self,
        method: &str,
        uri: &str,
        fields: &str,
        body: Option<Vec<u8>>,
        capability: bool,
        tag: Option<String>,
        now: f64,
    ) -> Result<String, GambesonError> {
        let verify = || {
            let fields = fields_of(fields)?;
            let mut message = http::Message::request(method, uri, &fields);
            if let Some(body) = &body {
                message = message.with_body(body);
            }
            let relationship = match capability {
                true => Relationship::CapabilityInvocation,
                false => Relationship::Authentication,
            };
            let policy = http::Policy { relationship, tag, ..http::Policy::default() };
            let verified = http::verify(&message, &policy, &self.cards, time(now), &mut self.replay)?;
            Ok(verified.signer().to_string())
        };
        verify().map_err(refused)
    }

    /// Verifies an A2A agent card: the URL of the key that signed.
    #[wasm_bindgen(js_name = agentCard)]
    pub fn agent_card(&self, card: &str, signer: Option<String>, now: f64) -> Result<String, GambesonError> {
        let verify = || {
            let signer = signer.map(|did| did.parse()).transpose()?;
            a2a::verify(card.as_bytes(), signer.as_ref(), &self.cards, time(now))
        };
        Ok(verify().map_err(refused)?.signer().to_string())
    }

    /// Opens what was sealed to an agent: a line of JSON, a line feed, and the payload.
    pub fn open(&mut self, agent: &AgentHandle, envelope: &[u8], now: f64) -> Result<Vec<u8>, GambesonError> {
        let opened = sealed::open(&agent.0, envelope, &self.cards, &mut self.replay, time(now));
        let opened = opened.map_err(refused)?;
        let head = json!({
            "sender": opened.sender().as_str(),
            "signer": opened.signer().to_string(),
            "mediaType": opened.media_type(),
            "expires": opened.expires().0,
        });
        let head = json::text(&head).map_err(refused)?;
        Ok([head.as_bytes(), b"\n", opened.payload()].concat())
    }

    fn status(&self, offline: bool) -> Status<'_> {
        if offline { Status::IfKnown(&self.lists) } else { Status::Required(&self.lists) }
    }
}

fn shown(verified: &Verified<Credential>) -> Value {
    json!({
        "issuer": verified.issuer().as_str(),
        "signer": verified.signer().to_string(),
        "claims": Value::from(verified.json().clone()),
    })
}
