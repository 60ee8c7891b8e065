//! Who does what, and who may: `action`, `delegation`.

use super::identity::{File, Found, now, size, text};
use gambeson_identity::action::{self, Action, Expectations};
use gambeson_identity::delegation::{
    Amount, Authority, Evidence, Ledger, MemoryLedger, Policy, StatusCheck, authorize,
};
use gambeson_identity::{CardLog, Did, Error, MemoryReplayCache, Reason, Suite, Timestamp, mcp};
use serde_json::{Map, Value, json};

/// `action`, `mcp`, `receipt`.
pub(super) fn calls(file: &File, vector: &Value) -> Option<Found> {
    let now = now(vector);
    let mut expected = Expectations::new(text(vector, "audience"));
    if let Some(seconds) = vector["maxLifetime"].as_u64() {
        expected = expected.lasting(seconds);
    }
    let mut replay = MemoryReplayCache::new(size(vector, "capacity", 100));
    let object = |name: &str| vector[name].as_object().cloned().unwrap_or_default();
    let found = |signer: String, digest: String| vec![("signer", signer.into()), ("digest", digest.into())];
    let mut once = || -> Option<Found> {
        match text(vector, "kind") {
            "cards" => Some(CardLog::verify(text(vector, "log").as_bytes()).map(|_| Vec::new())),
            "action" => {
                let payload = text(vector, "payload").as_bytes();
                let token = text(vector, "token");
                Some(
                    action::verify(payload, token, &expected, file.cards(), now, &mut replay)
                        .map(|it| found(it.signer().to_string(), it.digest(Suite::Default))),
                )
            }
            "mcp" => Some(
                mcp::verify(
                    text(vector, "method"),
                    &object("params"),
                    &expected,
                    file.cards(),
                    now,
                    &mut replay,
                )
                .map(|(it, _)| found(it.signer().to_string(), it.digest(Suite::Default))),
            ),
            "receipt" => {
                let judged = || {
                    let action = Action::from_json(text(vector, "payload").as_bytes())?;
                    let server: Did = text(vector, "server").parse()?;
                    mcp::verify_receipt(&object("response"), &action, &server, file.cards(), now)
                };
                Some(judged().map(|it| found(it.signer().to_string(), it.action.clone())))
            }
            _ => None,
        }
    };
    if vector["repeat"] == true {
        once()?.ok()?;
    }
    once()
}

/// `cards`, `token`, `authorize`.
pub(super) fn delegation(file: &File, vector: &Value) -> Option<Found> {
    match text(vector, "kind") {
        "cards" => Some(CardLog::verify(text(vector, "log").as_bytes()).map(|_| Vec::new())),
        // Tokens are named by the vectors that are judged.
        "token" => Some(Ok(Vec::new())),
        "authorize" => {
            let mut ledger = MemoryLedger::new(size(vector, "capacity", 100));
            for earlier in vector["before"].as_array().into_iter().flatten() {
                decide(file, file.find(earlier)?, &mut ledger).ok()?;
            }
            Some(decide(file, vector, &mut ledger))
        }
        _ => None,
    }
}

/// The lists that a vector knows: by their URL, the indexes that are revoked.
struct Lists<'a>(&'a Value);

impl StatusCheck for Lists<'_> {
    fn check(&self, issuer: &Did, entry: &Map<String, Value>, _: Timestamp) -> Result<(), Error> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        let revoked = self.0.get(text("statusListCredential")).and_then(Value::as_array);
        let revoked = revoked.ok_or_else(|| Error::new(Reason::UnknownStatus, "no such list"))?;
        let asked = text("statusListIndex").parse::<u64>().ok();
        match asked.is_some_and(|asked| revoked.iter().any(|index| index.as_u64() == Some(asked))) {
            true => Err(Error::new(Reason::Revoked, format_args!("{issuer} revoked it"))),
            false => Ok(()),
        }
    }
}

fn decide(file: &File, vector: &Value, ledger: &mut dyn Ledger) -> Found {
    let now = now(vector);
    let payload = text(vector, "payload").as_bytes();
    let audience =
        serde_json::from_slice::<Value>(payload).map(|it| text(&it, "aud").to_owned()).unwrap_or_default();
    let expected = Expectations::new(&audience).lasting(3600);
    let mut replay = MemoryReplayCache::new(1);
    let action = action::verify(payload, text(vector, "token"), &expected, file.cards(), now, &mut replay)?;
    let mut policy = Policy::default();
    for root in vector["roots"].as_array().into_iter().flatten() {
        policy = policy.trust(text(root, "resource").parse()?, text(root, "did").parse()?);
    }
    for rule in vector["approvalRules"].as_array().into_iter().flatten() {
        let approvers = rule["approvers"].as_array().into_iter().flatten();
        let approvers = approvers.map(|did| did.as_str().unwrap_or_default().parse());
        policy = policy
            .require_approval(text(rule, "action").parse()?, approvers.collect::<Result<Vec<Did>, _>>()?);
    }
    let tokens = |name: &str| -> Vec<String> {
        let ids = vector[name].as_array().into_iter().flatten();
        ids.map(|id| file.find(id).map(|it| text(it, "token")).unwrap_or_default().to_owned()).collect()
    };
    let evidence = Evidence { chain: tokens("chain"), approvals: tokens("approvals") };
    let cost = vector.get("cost").map(|cost| Amount {
        amount: cost["amount"].as_u64().unwrap_or_default(),
        unit: text(cost, "unit").to_owned(),
    });
    let status = Lists(&vector["status"]);
    let authority = Authority { policy: &policy, resolver: file.cards(), status: &status };
    let it = authorize(&action, &evidence, cost.as_ref(), &authority, ledger, now)?;
    let dids = |dids: &[Did]| json!(dids.iter().map(Did::as_str).collect::<Vec<_>>());
    Ok(vec![
        ("signer", it.signer().to_string().into()),
        ("root", it.root.as_str().into()),
        ("path", dids(&it.path)),
        ("approvers", dids(&it.approvers)),
    ])
}
