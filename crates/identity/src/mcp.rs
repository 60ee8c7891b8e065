//! Signed tool calls in the Model Context Protocol: a proof in `params._meta`, a receipt in `result._meta`.
//!
//! The format is in `docs/spec/mcp.md`. Everything of `params` is signed except `_meta`, which SDKs and proxies write to
//! (progress tokens, trace context, the protocol's version); so nothing that a tool acts on may stand there.

use crate::action::{Action, Call, Expectations, parse_detached, sign_detached};
use crate::delegation::{Evidence, MAX_APPROVALS, MAX_LINKS};
use crate::document::{Kind, Relationship};
use crate::error::bad;
use crate::{
    Agent, Did, Error, Reason, ReplayCache, Resolver, Result, Timestamp, Verified, action, digest, json,
};
use serde_json::{Map, Value, json};

/// The key of a proof in `params._meta`: a reverse DNS prefix and a name, as the protocol's specification of
/// 2026-07-28 asks for.
pub const PROOF: &str = "io.github.gambeson-pq/proof";

/// The key of a receipt in `result._meta`.
pub const RECEIPT: &str = "io.github.gambeson-pq/receipt";

/// The type in the header of a receipt's signature.
pub const RECEIPT_TYPE: &str = "gambeson-receipt+jws";

/// The call of a JSON-RPC request: its method and parameters.
///
/// The name is `params.name`, or `params.uri` where the method is about resources; a member that is `null` counts as absent.
///
/// # Errors
///
/// [`Reason::BadForm`] for a name that is not text or arguments that are not an object.
pub fn call(method: &str, params: &Map<String, Value>) -> Result<Call> {
    let mut rest: Map<String, Value> = params
        .iter()
        .filter(|(name, value)| *name != "_meta" && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let named_by = match method {
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        _ => "name",
    };
    let name = match rest.remove(named_by) {
        None => String::new(),
        Some(Value::String(name)) => name,
        Some(_) => return Err(bad(format_args!("{named_by:?} must be a string"))),
    };
    let arguments = match rest.remove("arguments") {
        None => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(bad("the arguments of a call must be an object")),
    };
    Ok(Call { method: method.into(), name, arguments, params: rest })
}

/// Signs an action, and gives the value of [`PROOF`].
///
/// ```
/// use gambeson_identity::{
///     Agent, CardContent, CardLog, CardStore, MemoryReplayCache, Timestamp,
///     action::{Action, Expectations},
///     delegation::Evidence,
///     mcp,
/// };
/// use serde_json::json;
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let mut known = CardStore::default();
/// known.add(CardLog::new(agent.first_card(now, now.after(86_400), &CardContent::default())?)?)?;
///
/// let mut request = json!({"method": "tools/call", "params": {"name": "pay", "arguments": {"amount": 5}}});
/// let params = request["params"].as_object_mut().unwrap();
/// let action = Action::new(&agent, mcp::call("tools/call", params)?, "did:web:bank.example", now)?;
/// mcp::attach(params, mcp::prove(&agent, &action, &Evidence::default())?)?;
///
/// let bank = Expectations::new("did:web:bank.example");
/// let (call, _) = mcp::verify("tools/call", params, &bank, &known, now, &mut MemoryReplayCache::new(1000))?;
/// assert_eq!(call.call().arguments["amount"], 5);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// # Errors
///
/// [`Reason::NoRandomness`].
pub fn prove(agent: &Agent, action: &Action, evidence: &Evidence) -> Result<Value> {
    let mut proof = Map::from_iter([
        ("v".to_owned(), 1.into()),
        ("aud".to_owned(), action.audience().into()),
        ("iat".to_owned(), action.issued().0.into()),
        ("exp".to_owned(), action.expires().0.into()),
        ("nonce".to_owned(), action.nonce().into()),
        ("jws".to_owned(), action.sign(agent)?.into()),
    ]);
    if let Some(delegation) = action.delegation() {
        proof.insert("delegation".into(), delegation.into());
    }
    for (name, tokens) in [("chain", &evidence.chain), ("approvals", &evidence.approvals)] {
        if !tokens.is_empty() {
            proof.insert(name.into(), tokens.clone().into());
        }
    }
    Ok(proof.into())
}

/// Puts a proof into the parameters of a request.
///
/// # Errors
///
/// [`Reason::BadForm`] if `_meta` is not an object.
pub fn attach(params: &mut Map<String, Value>, proof: Value) -> Result<()> {
    meta_mut(params)?.insert(PROOF.into(), proof);
    Ok(())
}

/// Verifies the proof of a request, as [`action::verify`] does. Then ask [`authorize`](crate::delegation::authorize) whether the signer may.
///
/// # Errors
///
/// [`Reason::Unsecured`] without a proof; [`Reason::BadForm`] for one of another form; [`Reason::TooLarge`] and
/// [`Reason::TooDeep`] for what is beside it; and as [`action::verify`].
pub fn verify(
    method: &str,
    params: &Map<String, Value>,
    expected: &Expectations<'_>,
    resolver: &dyn Resolver,
    now: Timestamp,
    replay: &mut dyn ReplayCache,
) -> Result<(Verified<Action>, Evidence)> {
    let (stated, token, evidence) = read(entry(params, PROOF, "params")?)?;
    let call = call(method, params)?;
    let mut action = Map::from_iter([
        ("method".to_owned(), call.method.into()),
        ("name".to_owned(), call.name.into()),
        ("arguments".to_owned(), call.arguments.into()),
    ]);
    if !call.params.is_empty() {
        action.insert("params".into(), call.params.into());
    }
    action.extend(stated);
    let action = json::canonicalize_object(&action)?;
    Ok((action::verify(&action, &token, expected, resolver, now, replay)?, evidence))
}

/// The members of a proof that belong to the action, its signature, and what is beside it.
fn read(proof: &Value) -> Result<(Map<String, Value>, String, Evidence)> {
    let mut proof = proof.as_object().cloned().ok_or_else(|| bad("a proof must be an object"))?;
    let Some(Value::String(token)) = proof.remove("jws") else {
        return Err(bad("a proof must have its signature in \"jws\""));
    };
    let mut tokens = |name: &str, most: usize| match proof.remove(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() > most => Err(Error::new(
            Reason::TooDeep,
            format_args!("{name:?} has {} entries; the limit is {most}", items.len()),
        )),
        Some(Value::Array(items)) => items
            .into_iter()
            .map(|item| match item {
                Value::String(token) => Ok(token),
                _ => Err(bad(format_args!("{name:?} must be a list of strings"))),
            })
            .collect(),
        Some(_) => Err(bad(format_args!("{name:?} must be a list of strings"))),
    };
    let evidence =
        Evidence { chain: tokens("chain", MAX_LINKS)?, approvals: tokens("approvals", MAX_APPROVALS)? };
    let known = ["v", "aud", "iat", "exp", "nonce", "delegation"];
    match proof.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(bad(format_args!("a proof has an unknown member {name:?}"))),
        None => Ok((proof, token, evidence)),
    }
}

/// A server's word on what it answered to an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The name of the action.
    pub action: String,
    /// When the server answered.
    pub issued: Timestamp,
}

/// Signs the result of an action, and puts the receipt into `result._meta`.
///
/// Everything of the result is signed except `_meta` and members that are `null`.
///
/// # Errors
///
/// [`Reason::BadForm`], [`Reason::BadJson`] for a result without canonical form, [`Reason::NoRandomness`].
pub fn acknowledge(
    agent: &Agent,
    action: &Action,
    result: &mut Map<String, Value>,
    now: Timestamp,
) -> Result<()> {
    let receipt = Receipt { action: action.digest(agent.suite()), issued: now };
    let jws = sign_detached(agent, RECEIPT_TYPE, &receipt.payload(result)?)?;
    let value = json!({"v": 1, "action": receipt.action, "iat": now.0, "jws": jws});
    meta_mut(result)?.insert(RECEIPT.into(), value);
    Ok(())
}

/// Verifies the receipt of a result: that this server answered so to this action.
///
/// # Errors
///
/// [`Reason::Unsecured`] without one; [`Reason::BadForm`], [`Reason::BadType`]; [`Reason::WrongAudience`] if it is for
/// another action or from another agent; [`Reason::NotYetValid`] for one from the future; what the resolver and the key
/// say; [`Reason::BadSignature`].
pub fn verify_receipt(
    result: &Map<String, Value>,
    action: &Action,
    server: &Did,
    resolver: &dyn Resolver,
    now: Timestamp,
) -> Result<Verified<Receipt>> {
    let entry = entry(result, RECEIPT, "result")?;
    let text = |name: &str| entry.get(name).and_then(Value::as_str).ok_or_else(|| bad_receipt(name));
    let issued = entry.get("iat").and_then(Value::as_u64).map(Timestamp).ok_or_else(|| bad_receipt("iat"))?;
    let members = entry.as_object().map_or(0, Map::len);
    if entry.get("v") != Some(&1.into()) || members != 4 {
        return Err(bad_receipt("v"));
    }
    let receipt = Receipt { action: text("action")?.to_owned(), issued };
    let token = text("jws")?;
    if !digest::names(&receipt.action, &action.to_json()) {
        return Err(Error::new(Reason::WrongAudience, "the receipt is for another action"));
    }
    let jws = parse_detached(token, RECEIPT_TYPE, &receipt.payload(result)?)?;
    let signer = jws.key_id()?;
    if signer.did() != server {
        return Err(Error::new(
            Reason::WrongAudience,
            format_args!("the receipt is from {}, not from {server}", signer.did()),
        ));
    }
    now.not_before(issued, action::CLOCK_SKEW, "the receipt")?;
    let document = resolver.resolve(server, now)?;
    jws.verify(document.key_for(&signer, Kind::JsonWebKey, Relationship::AssertionMethod, now)?)?;
    Ok(Verified::new(receipt, signer))
}

impl Receipt {
    fn payload(&self, result: &Map<String, Value>) -> Result<Vec<u8>> {
        let result: Map<String, Value> = result
            .iter()
            .filter(|(name, value)| *name != "_meta" && !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        json::canonicalize(&json!({"v": 1, "action": self.action, "iat": self.issued.0, "result": result}))
    }
}

fn entry<'a>(object: &'a Map<String, Value>, key: &str, what: &str) -> Result<&'a Value> {
    object
        .get("_meta")
        .and_then(|meta| meta.get(key))
        .ok_or_else(|| Error::new(Reason::Unsecured, format_args!("{what}._meta has no {key}")))
}

fn meta_mut(object: &mut Map<String, Value>) -> Result<&mut Map<String, Value>> {
    object
        .entry("_meta")
        .or_insert_with(|| Map::new().into())
        .as_object_mut()
        .ok_or_else(|| bad("_meta must be an object"))
}

fn bad_receipt(member: &str) -> Error {
    bad(format_args!("a receipt must have v, action, iat and jws and no other member: {member:?}"))
}
