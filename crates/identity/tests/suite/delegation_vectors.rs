//! `vectors/delegation.json`: chains, approvals and decisions, and every way in which they are refused.

use crate::vector_file;
use crate::world::{NOW, map};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, Did, DidDocument, Error, MasterSeed, MemoryReplayCache, Reason,
    Resolver, Result, Role, Suite, Timestamp,
    action::{self, Action, Call, Expectations},
    approval,
    delegation::{
        Amount, Authority, Capability, Caveat, Chain, Chains, Delegation, Evidence, MemoryLedger, Policy,
        StatusCheck, Test, authorize,
    },
    jose::Jws,
    json,
};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

const BANK: &str = "did:web:bank.example";
const LIST: &str = "https://root.example/status";

fn agent(seed: u8, suite: Suite) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite).deterministic()
}

/// Status lists as a vector has them: a list of the numbers that are set, by the URL of the list.
struct Lists<'a>(&'a Value);

impl StatusCheck for Lists<'_> {
    fn check(&self, _: &Did, entry: &Map<String, Value>, _: Timestamp) -> Result<()> {
        let list = self.0.get(entry["statusListCredential"].as_str().unwrap());
        let set = list
            .and_then(Value::as_array)
            .ok_or_else(|| Error::new(Reason::UnknownStatus, "no such list"))?;
        let index: u64 = entry["statusListIndex"].as_str().unwrap().parse().unwrap();
        match set.iter().any(|revoked| *revoked == index) {
            true => Err(Error::new(Reason::Revoked, "revoked")),
            false => Ok(()),
        }
    }
}

#[derive(Default)]
struct File {
    vectors: Vec<Value>,
    tokens: BTreeMap<String, String>,
    known: CardStore,
    surprises: Vec<String>,
}

impl File {
    fn tokens(&self, names: &Value) -> Vec<String> {
        let names = names.as_array().map(Vec::as_slice).unwrap_or_default();
        names.iter().map(|name| self.tokens[name.as_str().unwrap()].clone()).collect()
    }

    /// Decides a vector in a ledger.
    fn decide(&self, vector: &Value, ledger: &mut MemoryLedger) -> Result<Map<String, Value>> {
        let now = Timestamp(vector["now"].as_u64().unwrap());
        let (payload, token) = (vector["payload"].as_str().unwrap(), vector["token"].as_str().unwrap());
        let expected = Expectations::new(BANK).lasting(3600);
        let action = action::verify(
            payload.as_bytes(),
            token,
            &expected,
            &self.known,
            now,
            &mut MemoryReplayCache::new(1),
        )?;
        let mut policy = Policy::default();
        for root in vector["roots"].as_array().unwrap() {
            let text = |name: &str| root[name].as_str().unwrap();
            policy = policy.trust(text("resource").parse()?, text("did").parse()?);
        }
        for rule in vector["approvalRules"].as_array().into_iter().flatten() {
            let approvers =
                rule["approvers"].as_array().unwrap().iter().map(|did| did.as_str().unwrap().parse());
            let approvers = approvers.collect::<Result<Vec<Did>>>()?;
            policy = policy.require_approval(rule["action"].as_str().unwrap().parse()?, approvers);
        }
        let evidence =
            Evidence { chain: self.tokens(&vector["chain"]), approvals: self.tokens(&vector["approvals"]) };
        let cost = vector.get("cost").map(|cost| Amount {
            amount: cost["amount"].as_u64().unwrap(),
            unit: cost["unit"].as_str().unwrap().to_owned(),
        });
        let status = Lists(&vector["status"]);
        let authority = Authority { policy: &policy, resolver: &self.known, status: &status };
        let authorized = authorize(&action, &evidence, cost.as_ref(), &authority, ledger, now)?;
        let dids = |dids: &[Did]| dids.iter().map(|did| Value::from(did.as_str())).collect::<Vec<_>>();
        Ok(map(json!({
            "signer": authorized.signer().to_string(), "root": authorized.root.as_str(),
            "path": dids(&authorized.path), "approvers": dids(&authorized.approvers),
        })))
    }

    fn judge(&self, vector: &Value) -> Result<Map<String, Value>> {
        let capacity = vector["capacity"].as_u64().unwrap_or(100);
        let mut ledger = MemoryLedger::new(usize::try_from(capacity).unwrap());
        for earlier in vector["before"].as_array().into_iter().flatten() {
            let earlier = self.vectors.iter().find(|it| it["id"] == *earlier).unwrap();
            self.decide(earlier, &mut ledger).unwrap();
        }
        self.decide(vector, &mut ledger)
    }

    fn token(&mut self, id: &str, token: String) -> String {
        self.vectors.push(json!({"id": id, "kind": "token", "token": token, "result": "accept"}));
        assert!(self.tokens.insert(id.into(), token.clone()).is_none(), "{id}");
        token
    }

    fn add(&mut self, id: &str, vector: Value, expected: Option<&str>) {
        let mut vector = map(vector);
        vector.insert("id".into(), id.into());
        let verdict = self.judge(&Value::Object(vector.clone()));
        let reason = verdict.as_ref().err().map(|error| error.reason().code());
        if reason != expected {
            self.surprises.push(format!("{id}: {reason:?}, not {expected:?}: {verdict:?}"));
        }
        vector.insert("result".into(), if expected.is_none() { "accept" } else { "reject" }.into());
        match verdict {
            Ok(found) => vector.extend(found),
            Err(error) => drop(vector.insert("reason".into(), error.reason().code().into())),
        }
        self.vectors.push(vector.into());
    }
}

fn with(vector: &Value, members: Value) -> Value {
    let mut vector = vector.clone();
    vector.as_object_mut().unwrap().extend(map(members));
    vector
}

struct Cast {
    root: Agent,
    middle: Agent,
    leaf: Agent,
    boss: Agent,
    carol: Agent,
}

impl Cast {
    fn new() -> Self {
        let default = |seed| agent(seed, Suite::Default);
        Self {
            root: default(11),
            middle: default(12),
            leaf: default(13),
            boss: default(14),
            carol: agent(15, Suite::Cnsa2),
        }
    }
}

fn capability(action: &str, caveats: Vec<Caveat>) -> Capability {
    Capability { action: action.parse().unwrap(), resource: BANK.parse().unwrap(), caveats }
}

fn at_most(amount: u64) -> Caveat {
    Caveat::Argument("/amount".into(), Test::AtMost(amount.into()))
}

fn grant(delegate: &Agent) -> Delegation {
    Delegation {
        delegate: delegate.did().clone(),
        from: NOW,
        until: NOW.after(3600),
        capabilities: vec![capability("tools/call/*", vec![at_most(100)])],
        max_depth: 2,
        max_calls: None,
        budget: None,
        status: Vec::new(),
    }
}

/// A call of `pay` by this agent under a chain; `chain` are ids of tokens.
fn request(file: &File, actor: &Agent, root: &Agent, chain: &[&str], amount: u64) -> Value {
    let tokens: Vec<&String> = chain.iter().map(|id| &file.tokens[*id]).collect();
    let call = Call::new("tools/call", "pay", map(json!({"amount": amount})));
    let action = Action::new(actor, call, BANK, NOW).unwrap().under(actor, &tokens);
    json!({
        "kind": "authorize", "payload": String::from_utf8(action.to_json()).unwrap(),
        "token": action.sign(actor).unwrap(), "now": NOW.0, "chain": chain, "approvals": [], "status": {},
        "roots": [{"resource": BANK, "did": root.did().as_str()}],
    })
}

fn action_of(vector: &Value) -> Action {
    Action::from_json(vector["payload"].as_str().unwrap().as_bytes()).unwrap()
}

/// A credential like this token's with a change, signed by that key.
fn forged(agent: &Agent, role: Role, token: &str, header: Value, change: impl FnOnce(&mut Value)) -> String {
    let jws = Jws::parse(token, 64 << 10).unwrap();
    let mut payload = json::parse(jws.payload_unverified(), 64 << 10).unwrap();
    change(&mut payload);
    let mut all = jws.header().clone();
    all.insert("kid".into(), agent.key_url(role).to_string().into());
    all.extend(map(header));
    Jws::sign(agent.key(role), all, &serde_json::to_vec(&payload).unwrap()).unwrap()
}

fn good_chains(file: &mut File, cast: &Cast) {
    let Cast { root, middle, leaf, carol, .. } = cast;
    file.add("root-alone", request(file, root, root, &[], 5), None);
    let first = file.token("root-to-middle", grant(middle).sign(root, None).unwrap());
    file.add("one-link", request(file, middle, root, &["root-to-middle"], 100), None);
    let narrow = Delegation {
        capabilities: vec![
            capability(
                "tools/call/pay",
                vec![at_most(10), Caveat::Argument("/amount".into(), Test::AtLeast(1.into()))],
            ),
            capability("tools/call/files/*", vec![at_most(10)]),
        ],
        max_depth: 1,
        ..grant(leaf)
    };
    let second = file.token("middle-to-leaf", narrow.sign(middle, Some(&first)).unwrap());
    let two = ["root-to-middle", "middle-to-leaf"];
    file.add("two-links", request(file, leaf, root, &two, 10), None);
    let onward = Delegation { delegate: carol.did().clone(), max_depth: 0, ..narrow };
    file.token("leaf-to-carol", onward.sign(leaf, Some(&second)).unwrap());
    let three = ["root-to-middle", "middle-to-leaf", "leaf-to-carol"];
    file.add("three-links-into-cnsa2", request(file, carol, root, &three, 10), None);
    let at = |seconds: i64| json!({"now": NOW.0.checked_add_signed(seconds).unwrap()});
    let one = request(file, middle, root, &["root-to-middle"], 1);
    file.add("link-from-a-clock-30-s-ahead", with(&one, at(-30)), None);
    let below = json!({"roots": [{"resource": "did:web:bank.example/*", "did": root.did().as_str()}]});
    file.add("root-for-what-is-below-only", with(&one, below), Some("untrusted-root"));
}

fn broken_chains(file: &mut File, cast: &Cast) {
    let Cast { root, middle, leaf, carol, boss } = cast;
    let two = ["root-to-middle", "middle-to-leaf"];
    let good = request(file, leaf, root, &two, 10);
    file.add("beyond-a-caveat-of-the-leaf", request(file, leaf, root, &two, 11), Some("not-permitted"));
    file.add("beyond-a-caveat-below", request(file, leaf, root, &two, 0), Some("not-permitted"));
    let one = ["root-to-middle"];
    file.add("beyond-a-caveat-of-the-root", request(file, middle, root, &one, 101), Some("not-permitted"));
    let other = |method: &str, name: &str, arguments: Value| {
        let tokens = [&file.tokens["root-to-middle"], &file.tokens["middle-to-leaf"]];
        let action = Action::new(leaf, Call::new(method, name, map(arguments)), BANK, NOW).unwrap();
        let action = action.under(leaf, &tokens);
        let payload = String::from_utf8(action.to_json()).unwrap();
        with(&good, json!({"payload": payload, "token": action.sign(leaf).unwrap()}))
    };
    let cases = [
        ("another-tool", other("tools/call", "steal", json!({"amount": 5})), Some("not-permitted")),
        ("another-method", other("prompts/get", "pay", json!({"amount": 5})), Some("not-permitted")),
        ("method-without-a-name", other("tools/call", "", json!({"amount": 5})), Some("not-permitted")),
        ("prefix-of-a-tool", other("tools/call", "pay2", json!({"amount": 5})), Some("not-permitted")),
        (
            "below-an-exact-action",
            other("tools/call", "pay/all", json!({"amount": 5})),
            Some("not-permitted"),
        ),
        ("below-a-wildcard", other("tools/call", "files/read", json!({"amount": 5})), None),
        (
            "way-up-from-a-wildcard",
            other("tools/call", "files/../steal", json!({"amount": 5})),
            Some("not-permitted"),
        ),
        (
            "escape-below-a-wildcard",
            other("tools/call", "files/%2e%2e", json!({"amount": 5})),
            Some("not-permitted"),
        ),
        (
            "method-cut-before-its-second-segment",
            other("tools", "call/pay", json!({"amount": 5})),
            Some("not-permitted"),
        ),
        (
            "method-that-takes-from-the-name",
            other("tools/call/files", "read", json!({"amount": 5})),
            Some("not-permitted"),
        ),
        (
            "method-that-holds-the-name",
            other("tools/call/pay", "", json!({"amount": 5})),
            Some("not-permitted"),
        ),
        ("argument-missing", other("tools/call", "pay", json!({})), Some("not-permitted")),
        ("argument-as-text", other("tools/call", "pay", json!({"amount": "5"})), Some("not-permitted")),
    ];
    for (id, vector, expected) in cases {
        file.add(id, vector, expected);
    }
    let roots = |did: &Agent| json!({"roots": [{"resource": BANK, "did": did.did().as_str()}]});
    file.add("root-that-nobody-trusts", with(&good, roots(middle)), Some("untrusted-root"));
    file.add("no-roots", with(&good, json!({"roots": []})), Some("untrusted-root"));
    let elsewhere = json!({"roots": [{"resource": "did:web:other.example", "did": root.did().as_str()}]});
    file.add("root-of-another-resource", with(&good, elsewhere), Some("untrusted-root"));
    file.add("stranger-alone", request(file, leaf, root, &[], 5), Some("untrusted-root"));
    file.add("chain-left-out", with(&good, json!({"chain": []})), Some("broken-chain"));
    file.add("chain-cut", with(&good, json!({"chain": ["root-to-middle"]})), Some("broken-chain"));
    file.add(
        "chain-without-its-root",
        with(&good, json!({"chain": ["middle-to-leaf"]})),
        Some("broken-chain"),
    );
    file.add(
        "chain-in-another-order",
        with(&good, json!({"chain": ["middle-to-leaf", "root-to-middle"]})),
        Some("broken-chain"),
    );
    file.add(
        "chain-with-a-link-twice",
        with(&good, json!({"chain": ["root-to-middle", "root-to-middle", "middle-to-leaf"]})),
        Some("broken-chain"),
    );
    let mut nine = vec!["root-to-middle"; 8];
    nine.push("middle-to-leaf");
    file.add("chain-of-nine", with(&good, json!({"chain": nine})), Some("too-deep"));
    let unnamed = request(file, leaf, root, &[], 5);
    file.add("action-that-names-no-chain", with(&unnamed, json!({"chain": two})), Some("broken-chain"));
    file.add("grant-of-another", request(file, carol, root, &two, 5), Some("wrong-delegate"));

    // Links that do not narrow, each signed by who may sign it.
    let second = file.tokens["middle-to-leaf"].clone();
    let wider =
        |change: &dyn Fn(&mut Value)| forged(middle, Role::Signing, &second, json!({}), |it| change(it));
    let terms = |it: &mut Value, name: &str, value: Value| {
        it["credentialSubject"]["delegation"][name] = value;
    };
    let capability = |action: &str, resource: &str, caveats: Value| json!([{"action": action, "resource": resource, "caveats": caveats}]);
    let ten = json!([{"argument": "/amount", "atMost": 10}]);
    let cases: Vec<(&str, String)> = vec![
        ("action", wider(&|it| terms(it, "capabilities", capability("tools/list", BANK, ten.clone())))),
        ("action-wildcard", wider(&|it| terms(it, "capabilities", capability("tools/*", BANK, ten.clone())))),
        (
            "resource",
            wider(&|it| {
                terms(it, "capabilities", capability("tools/call/pay", "did:web:shop.example", ten.clone()))
            }),
        ),
        (
            "caveat-left-out",
            wider(&|it| terms(it, "capabilities", capability("tools/call/pay", BANK, json!([])))),
        ),
        (
            "caveat-raised",
            wider(&|it| {
                terms(
                    it,
                    "capabilities",
                    capability("tools/call/pay", BANK, json!([{"argument": "/amount", "atMost": 101}])),
                );
            }),
        ),
        (
            "caveat-of-another-argument",
            wider(&|it| {
                terms(
                    it,
                    "capabilities",
                    capability("tools/call/pay", BANK, json!([{"argument": "/sum", "atMost": 10}])),
                );
            }),
        ),
        (
            "caveat-of-another-test",
            wider(&|it| {
                terms(
                    it,
                    "capabilities",
                    capability("tools/call/pay", BANK, json!([{"argument": "/amount", "atLeast": 10}])),
                );
            }),
        ),
        (
            "caveat-of-values-one-beyond",
            wider(&|it| {
                terms(
                    it,
                    "capabilities",
                    capability("tools/call/pay", BANK, json!([{"argument": "/amount", "oneOf": [1, 101]}])),
                );
            }),
        ),
        ("depth", wider(&|it| terms(it, "maxDepth", 2.into()))),
        ("beginning", wider(&|it| it["validFrom"] = Timestamp(NOW.0 - 1).to_string().into())),
        ("end", wider(&|it| it["validUntil"] = NOW.after(3601).to_string().into())),
    ];
    for (id, token) in cases {
        let id = format!("wider-{id}");
        file.token(&format!("link-{id}"), token);
        let chain = ["root-to-middle", &format!("link-{id}")];
        file.add(&id, request(file, leaf, root, &chain, 5), Some("widened"));
    }
    let last = Delegation { max_depth: 0, ..grant(middle) };
    let last = file.token("root-to-middle-and-no-further", last.sign(root, None).unwrap());
    let named = name_of(middle, &last);
    let beyond = forged(middle, Role::Signing, &second, json!({}), |it| terms(it, "parent", named.into()));
    file.token("link-beyond-the-depth", beyond);
    let chain = ["root-to-middle-and-no-further", "link-beyond-the-depth"];
    file.add("beyond-the-depth", request(file, leaf, root, &chain, 5), Some("too-deep"));
    let foreign =
        forged(boss, Role::Signing, &second, json!({}), |it| it["issuer"] = boss.did().as_str().into());
    file.token("link-by-who-is-no-delegate", foreign);
    let chain = ["root-to-middle", "link-by-who-is-no-delegate"];
    file.add("issuer-that-is-no-delegate", request(file, leaf, root, &chain, 5), Some("wrong-delegate"));
}

/// The name of a token as an action has it.
fn name_of(agent: &Agent, token: &str) -> String {
    let action = Action::new(agent, Call::new("x", "", Map::new()), BANK, NOW).unwrap();
    action.under(agent, &[token]).delegation().unwrap().to_owned()
}

fn bad_links(file: &mut File, cast: &Cast) {
    let Cast { root, middle, leaf, boss, .. } = cast;
    let first = file.tokens["root-to-middle"].clone();
    let case = |file: &mut File, id: &str, token: String, expected: &str| {
        file.token(&format!("link-{id}"), token);
        let vector = request(file, middle, root, &[&format!("link-{id}")], 5);
        file.add(id, vector, Some(expected));
    };
    let set = |path: &'static str, value: Value| {
        forged(root, Role::Signing, &first, json!({}), |it| {
            if let Some(there) = it.pointer_mut(path) {
                *there = value;
                return;
            }
            let (parent, name) = path.rsplit_once('/').unwrap();
            it.pointer_mut(parent).unwrap()[name] = value;
        })
    };
    for (id, path, value, expected) in [
        ("type", "/type", json!(["VerifiableCredential"]), "bad-type"),
        ("type-order", "/type", json!(["AgentDelegationCredential", "VerifiableCredential"]), "bad-type"),
        ("context", "/@context", json!(["https://www.w3.org/ns/credentials/v2"]), "bad-form"),
        ("id", "/id", json!("no uri"), "bad-form"),
        ("issuer-as-object", "/issuer", json!({"id": root.did().as_str()}), "bad-form"),
        ("member-of-the-credential", "/evidence", json!([]), "bad-form"),
        ("time", "/validFrom", json!("2026-11-22"), "bad-time"),
        ("end-before-beginning", "/validUntil", json!("2026-11-21T07:00:00Z"), "bad-form"),
        ("status-as-text", "/credentialStatus", json!("x"), "bad-form"),
        ("member-of-the-subject", "/credentialSubject/more", json!(1), "bad-form"),
        ("subject-that-is-no-did", "/credentialSubject/id", json!("bob"), "bad-did"),
        (
            "parent-of-the-first",
            "/credentialSubject/delegation/parent",
            json!(name_of(root, "a")),
            "broken-chain",
        ),
        ("parent-as-number", "/credentialSubject/delegation/parent", json!(1), "bad-form"),
        ("member-of-the-terms", "/credentialSubject/delegation/more", json!(1), "bad-form"),
        ("no-capabilities", "/credentialSubject/delegation/capabilities", json!([]), "bad-form"),
        ("depth-of-eight", "/credentialSubject/delegation/maxDepth", json!(8), "bad-form"),
        ("calls-as-text", "/credentialSubject/delegation/maxCalls", json!("1"), "bad-form"),
        ("calls-below-zero", "/credentialSubject/delegation/maxCalls", json!(-1), "bad-form"),
        ("budget-without-unit", "/credentialSubject/delegation/budget", json!({"amount": 1}), "bad-form"),
        ("wildcard-alone", "/credentialSubject/delegation/capabilities/0/action", json!("*"), "bad-form"),
        (
            "wildcard-in-a-segment",
            "/credentialSubject/delegation/capabilities/0/action",
            json!("tools/ca*"),
            "bad-form",
        ),
        (
            "wildcard-in-the-middle",
            "/credentialSubject/delegation/capabilities/0/resource",
            json!("a/*/b"),
            "bad-form",
        ),
        (
            "caveat-that-is-not-known",
            "/credentialSubject/delegation/capabilities/0/caveats/0",
            json!({"argument": "/a", "matches": "x"}),
            "bad-form",
        ),
        (
            "caveat-of-two-tests",
            "/credentialSubject/delegation/capabilities/0/caveats/0",
            json!({"argument": "/a", "atMost": 1, "atLeast": 1}),
            "bad-form",
        ),
        (
            "caveat-without-pointer",
            "/credentialSubject/delegation/capabilities/0/caveats/0",
            json!({"argument": "amount", "atMost": 1}),
            "bad-form",
        ),
        (
            "caveat-with-a-bad-escape",
            "/credentialSubject/delegation/capabilities/0/caveats/0",
            json!({"argument": "/a~2", "atMost": 1}),
            "bad-form",
        ),
        (
            "caveat-of-no-values",
            "/credentialSubject/delegation/capabilities/0/caveats/0",
            json!({"argument": "/a", "oneOf": []}),
            "bad-form",
        ),
        (
            "caveat-without-approvers",
            "/credentialSubject/delegation/capabilities/0/caveats/0",
            json!({"approval": []}),
            "bad-form",
        ),
    ] {
        case(file, &format!("link-with-{id}"), set(path, value), expected);
    }
    let same = |role: Role, header: Value| forged(root, role, &first, header, |_| ());
    case(file, "link-typed-as-an-action", same(Role::Signing, json!({"typ": action::TYPE})), "bad-type");
    case(file, "link-of-another-content", same(Role::Signing, json!({"cty": "vp"})), "bad-type");
    case(file, "link-of-the-identity-key", same(Role::Identity, json!({})), "wrong-purpose");
    let forged_by = |agent: &Agent| {
        let kid = json!({"kid": root.key_url(Role::Signing).to_string()});
        forged(agent, Role::Signing, &first, kid, |_| ())
    };
    case(file, "link-forged", forged_by(leaf), "bad-signature");
    case(file, "link-of-content-5", same(Role::Signing, json!({"cty": 5})), "bad-type");
    let capital = same(Role::Signing, json!({"cty": "VC"}));
    file.token("link-link-of-content-in-capitals", capital);
    let vector = request(file, middle, root, &["link-link-of-content-in-capitals"], 5);
    file.add("link-of-content-in-capitals", vector, None);
    // For issuers other than the root that the policy trusts.
    let by = |file: &mut File, id: &str, token: String, issuer: &Did, expected: &str| {
        file.token(&format!("link-{id}"), token);
        let vector = request(file, middle, root, &[&format!("link-{id}")], 5);
        let roots = json!({"roots": [{"resource": BANK, "did": issuer.as_str()}]});
        file.add(id, with(&vector, roots), Some(expected));
    };
    let other = set("/issuer", middle.did().as_str().into());
    by(file, "link-with-issuer-that-did-not-sign", other, middle.did(), "wrong-issuer");
    let small = Did::from_key(&root.key(Role::DataIntegrity).verifying_key());
    let kid = json!({"kid": format!("{small}#{}-jwk", small.method_specific_id())});
    let weak = forged(root, Role::DataIntegrity, &first, kid, |it| it["issuer"] = small.as_str().into());
    by(file, "link-of-ml-dsa-44", weak, &small, "bad-algorithm");
    let stranger = agent(99, Suite::Default);
    let theirs = grant(middle).sign(&stranger, None).unwrap();
    by(file, "link-of-a-stranger", theirs, stranger.did(), "unknown-did");
    // Whom to trust is asked before the signature, and what a link grants after it.
    let kid = json!({"kid": stranger.key_url(Role::Signing).to_string()});
    let borrowed =
        forged(leaf, Role::Signing, &first, kid, |it| it["issuer"] = stranger.did().as_str().into());
    case(file, "link-forged-of-a-root-that-nobody-trusts", borrowed, "untrusted-root");
    let below = Delegation { max_depth: 1, ..grant(leaf) }.sign(middle, Some(&first)).unwrap();
    let kid = json!({"kid": middle.key_url(Role::Signing).to_string()});
    let wide = forged(boss, Role::Signing, &below, kid, |it| {
        it["credentialSubject"]["delegation"]["maxDepth"] = 7.into();
    });
    file.token("link-wider-and-forged", wide);
    let chain = ["root-to-middle", "link-wider-and-forged"];
    file.add("wider-and-forged", request(file, leaf, root, &chain, 5), Some("bad-signature"));
    let capabilities = |caveats: Value, count: usize| {
        let one = json!({"action": "tools/call/*", "resource": BANK, "caveats": caveats});
        set("/credentialSubject/delegation/capabilities", vec![one; count].into())
    };
    let caveat = json!({"argument": "/amount", "atMost": 9});
    let most = capabilities(json!(vec![caveat.clone(); 32]), 8);
    file.token("link-link-with-256-caveats", most);
    let vector = request(file, middle, root, &["link-link-with-256-caveats"], 5);
    file.add("link-with-256-caveats", vector, None);
    case(file, "link-with-261-caveats", capabilities(json!(vec![caveat; 29]), 9), "bad-form");
    let values = json!([{"argument": "/amount", "oneOf": (0..57).collect::<Vec<_>>()}]);
    case(file, "link-with-513-values", capabilities(values, 9), "bad-form");
    let approvers = json!([{"approval": vec![middle.did().as_str(); 57]}]);
    case(file, "link-with-513-approvers", capabilities(approvers, 9), "bad-form");
    let future = Delegation { from: NOW.after(31), ..grant(middle) };
    case(file, "link-of-the-future", future.sign(root, None).unwrap(), "not-yet-valid");
    let past = Delegation { from: Timestamp(NOW.0 - 9), until: Timestamp(NOW.0 - 1), ..grant(middle) };
    case(file, "link-that-is-over", past.sign(root, None).unwrap(), "expired");
    let twice = forged_text(root, &first, |text| text.replacen('{', r#"{"id":"urn:a:b","#, 1));
    case(file, "link-with-a-member-twice", twice, "bad-json");
}

fn forged_text(agent: &Agent, token: &str, change: impl FnOnce(String) -> String) -> String {
    let jws = Jws::parse(token, 64 << 10).unwrap();
    let text = change(String::from_utf8(jws.payload_unverified().to_vec()).unwrap());
    Jws::sign(agent.key(Role::Signing), jws.header().clone(), text.as_bytes()).unwrap()
}

fn measures(file: &mut File, cast: &Cast) {
    let Cast { root, middle, leaf, .. } = cast;
    let unit = "EUR-cent";
    let measured = Delegation {
        max_calls: Some(2),
        budget: Some(Amount { amount: 100, unit: unit.into() }),
        ..grant(middle)
    };
    let first = file.token("root-to-middle-twice", measured.sign(root, None).unwrap());
    let less =
        Delegation { delegate: leaf.did().clone(), max_depth: 0, max_calls: Some(2), ..measured.clone() };
    file.token("middle-to-leaf-twice", less.sign(middle, Some(&first)).unwrap());
    let chain = ["root-to-middle-twice", "middle-to-leaf-twice"];
    let cost = |amount: u64| json!({"cost": {"amount": amount, "unit": unit}});
    let by_middle = |file: &File| request(file, middle, root, &chain[..1], 5);
    let by_leaf = |file: &File| request(file, leaf, root, &chain, 5);
    file.add("first-call", with(&by_leaf(file), cost(60)), None);
    file.add("second-call", with(&by_middle(file), with(&cost(40), json!({"before": ["first-call"]}))), None);
    file.add("cheap-call", with(&by_middle(file), cost(1)), None);
    let after = |earlier: &[&str]| json!({"before": earlier});
    file.add(
        "third-call",
        with(&by_leaf(file), with(&cost(0), after(&["first-call", "cheap-call"]))),
        Some("over-count"),
    );
    file.add(
        "call-beyond-the-budget",
        with(&by_middle(file), with(&cost(41), after(&["first-call"]))),
        Some("over-budget"),
    );
    file.add("call-beyond-the-budget-at-once", with(&by_middle(file), cost(101)), Some("over-budget"));
    file.add("call-without-a-cost", by_middle(file), Some("over-budget"));
    let dollars = json!({"cost": {"amount": 1, "unit": "USD-cent"}});
    file.add("call-in-another-unit", with(&by_middle(file), dollars), Some("over-budget"));
    file.add(
        "call-and-a-full-ledger",
        with(&by_leaf(file), with(&cost(1), json!({"capacity": 1}))),
        Some("cache-full"),
    );
    let second = file.tokens["middle-to-leaf-twice"].clone();
    for (id, name, value) in [
        ("calls-left-out", "maxCalls", Value::Null),
        ("calls", "maxCalls", json!(3)),
        ("budget-left-out", "budget", Value::Null),
        ("budget", "budget", json!({"amount": 101, "unit": unit})),
        ("budget-of-another-unit", "budget", json!({"amount": 1, "unit": "USD-cent"})),
    ] {
        let token = forged(middle, Role::Signing, &second, json!({}), |it| {
            let terms = it["credentialSubject"]["delegation"].as_object_mut().unwrap();
            terms.remove(name);
            if !value.is_null() {
                terms.insert(name.into(), value);
            }
        });
        let id = format!("wider-{id}");
        file.token(&format!("link-{id}"), token);
        let vector = request(file, leaf, root, &["root-to-middle-twice", &format!("link-{id}")], 5);
        file.add(&id, with(&vector, cost(1)), Some("widened"));
    }
    let entry = json!({
        "type": "BitstringStatusListEntry", "statusPurpose": "revocation", "statusListIndex": "7",
        "statusListCredential": LIST,
    });
    let revocable = Delegation { status: vec![entry], ..grant(middle) };
    let parent = file.token("root-to-middle-revocable", revocable.sign(root, None).unwrap());
    file.token(
        "middle-to-leaf-below-revocable",
        Delegation { max_depth: 1, ..grant(leaf) }.sign(middle, Some(&parent)).unwrap(),
    );
    let chain = ["root-to-middle-revocable", "middle-to-leaf-below-revocable"];
    let vector = request(file, leaf, root, &chain, 5);
    file.add("status-that-is-good", with(&vector, json!({"status": {LIST: [6, 8]}})), None);
    file.add("status-that-is-revoked", with(&vector, json!({"status": {LIST: [7]}})), Some("revoked"));
    file.add("status-that-nobody-knows", vector, Some("unknown-status"));
}

fn approvals(file: &mut File, cast: &Cast) {
    let Cast { root, middle, leaf, boss, carol } = cast;
    let asks = Delegation {
        capabilities: vec![capability(
            "tools/call/pay",
            vec![Caveat::Approval(vec![boss.did().clone(), carol.did().clone(), middle.did().clone()])],
        )],
        ..grant(middle)
    };
    let parent = file.token("root-to-middle-with-approval", asks.sign(root, None).unwrap());
    let fewer = Delegation {
        delegate: leaf.did().clone(),
        capabilities: vec![capability(
            "tools/call/pay",
            vec![Caveat::Approval(vec![boss.did().clone(), carol.did().clone()])],
        )],
        max_depth: 1,
        ..asks.clone()
    };
    let second = file.token("middle-to-leaf-with-approval", fewer.sign(middle, Some(&parent)).unwrap());
    let chain = ["root-to-middle-with-approval", "middle-to-leaf-with-approval"];
    let vector = request(file, leaf, root, &chain, 5);
    let action = action_of(&vector);
    let yes = |id: &str| json!({"approvals": [id]});
    let say = |file: &mut File, id: &str, approver: &Agent, action: &Action, actor: &Agent| {
        file.token(id, approval::sign(approver, action, actor.did(), NOW).unwrap())
    };
    let by_boss = say(file, "yes-by-boss", boss, &action, leaf);
    say(file, "yes-by-carol", carol, &action, leaf);
    say(file, "yes-by-root", root, &action, leaf);
    say(file, "yes-to-another-agent", boss, &action, middle);
    let other = request(file, leaf, root, &chain, 6);
    say(file, "yes-to-another-action", boss, &action_of(&other), leaf);
    file.add("approved", with(&vector, yes("yes-by-boss")), None);
    file.add("approved-in-cnsa2", with(&vector, yes("yes-by-carol")), None);
    file.add("not-approved", vector.clone(), Some("not-approved"));
    file.add("approved-by-somebody-else", with(&vector, yes("yes-by-root")), Some("not-approved"));
    file.add(
        "approved-for-another-agent",
        with(&vector, yes("yes-to-another-agent")),
        Some("wrong-delegate"),
    );
    file.add("approved-another-action", with(&vector, yes("yes-to-another-action")), Some("not-approved"));
    file.add(
        "approval-used-twice",
        with(&vector, with(&yes("yes-by-boss"), json!({"before": ["approved"]}))),
        Some("over-count"),
    );
    file.add("nine-approvals", with(&vector, json!({"approvals": vec!["yes-by-boss"; 9]})), Some("too-deep"));
    let own = request(file, middle, root, &chain[..1], 5);
    say(file, "yes-to-oneself", middle, &action_of(&own), middle);
    file.add("approved-by-oneself", with(&own, yes("yes-to-oneself")), Some("not-approved"));
    let rule = json!({"approvalRules": [{"action": "tools/call/*", "approvers": [root.did().as_str()]}]});
    file.add(
        "rule-without-its-approval",
        with(&vector, with(&yes("yes-by-boss"), rule.clone())),
        Some("not-approved"),
    );
    let both = json!({"approvals": ["yes-by-boss", "yes-by-root"]});
    file.add("rule-approved-by-an-issuer", with(&vector, with(&both, rule.clone())), Some("not-approved"));
    let by_others = json!({"approvalRules": [
        {"action": "tools/call/*", "approvers": [middle.did().as_str(), carol.did().as_str()]},
    ]});
    say(file, "yes-by-middle", middle, &action, leaf);
    let both = json!({"approvals": ["yes-by-boss", "yes-by-middle"]});
    file.add(
        "rule-approved-by-a-delegate",
        with(&vector, with(&both, by_others.clone())),
        Some("not-approved"),
    );
    let all = json!({"approvals": ["yes-by-boss", "yes-by-middle", "yes-by-carol"]});
    file.add("rule-and-caveat-approved", with(&vector, with(&all, by_others)), None);
    separate_duties(file, cast);
    let elsewhere = json!({"approvalRules": [{"action": "prompts/*", "approvers": [root.did().as_str()]}]});
    file.add("rule-for-something-else", with(&vector, with(&yes("yes-by-boss"), elsewhere)), None);
    // A rule reaches what no wildcard of a capability permits.
    for (id, method, name, rule) in [
        ("empty-segments", "resources/read", "file:///secrets".to_owned(), "resources/read/*"),
        ("a-space", "tools/call", "wire money".to_owned(), "tools/call/*"),
        ("a-way-up", "tools/call", "../call/pay".to_owned(), "tools/call/*"),
        ("5000-bytes", "tools/call", "a".repeat(5000), "tools/call/*"),
        ("another-split", "tools", "call/pay".to_owned(), "tools/call/pay"),
    ] {
        let action = Action::new(root, Call::new(method, &name, Map::new()), BANK, NOW).unwrap();
        let vector = json!({
            "kind": "authorize", "payload": String::from_utf8(action.to_json()).unwrap(),
            "token": action.sign(root).unwrap(), "now": NOW.0, "chain": [], "approvals": [], "status": {},
            "roots": [{"resource": BANK, "did": root.did().as_str()}],
            "approvalRules": [{"action": rule, "approvers": [boss.did().as_str()]}],
        });
        file.add(&format!("rule-for-a-name-with-{id}"), vector.clone(), Some("not-approved"));
        if id == "a-space" {
            say(file, "yes-to-a-name-with-a-space", boss, &action, root);
            file.add(
                "rule-for-a-name-that-is-approved",
                with(&vector, yes("yes-to-a-name-with-a-space")),
                None,
            );
        }
    }
    let wider = forged(middle, Role::Signing, &second, json!({}), |it| {
        it["credentialSubject"]["delegation"]["capabilities"][0]["caveats"] =
            json!([{"approval": [boss.did().as_str(), leaf.did().as_str()]}]);
    });
    file.token("link-wider-approvers", wider);
    let chain = [chain[0], "link-wider-approvers"];
    file.add("wider-approvers", request(file, leaf, root, &chain, 5), Some("widened"));
    let case = |file: &mut File, id: &str, token: String, expected: &str| {
        file.token(&format!("yes-{id}"), token);
        file.add(&format!("approval-{id}"), with(&vector, yes(&format!("yes-{id}"))), Some(expected));
    };
    let form = |value: Value| {
        forged(boss, Role::Signing, &by_boss, json!({}), |it| it["credentialSubject"]["approval"] = value)
    };
    case(file, "of-nothing", form(json!({})), "bad-form");
    case(
        file,
        "that-says-more",
        form(json!({"action": action.digest(Suite::Default), "always": true})),
        "bad-form",
    );
    case(file, "of-a-link", second.clone(), "bad-type");
    case(
        file,
        "of-the-identity-key",
        forged(boss, Role::Identity, &by_boss, json!({}), |_| ()),
        "wrong-purpose",
    );
    let kid = json!({"kid": boss.key_url(Role::Signing).to_string()});
    case(file, "forged", forged(leaf, Role::Signing, &by_boss, kid, |_| ()), "bad-signature");
    let over = |it: &mut Value| {
        it["validFrom"] = Timestamp(NOW.0 - 9).to_string().into();
        it["validUntil"] = Timestamp(NOW.0 - 1).to_string().into();
    };
    case(file, "that-is-over", forged(boss, Role::Signing, &by_boss, json!({}), over), "expired");
}

fn cast_file(cast: &Cast) -> File {
    let mut file = File::default();
    for (id, agent) in [
        ("agent-root", &cast.root),
        ("agent-middle", &cast.middle),
        ("agent-leaf", &cast.leaf),
        ("agent-boss", &cast.boss),
        ("agent-carol", &cast.carol),
    ] {
        let from = Timestamp(NOW.0 - 3600);
        let card = agent.first_card(from, from.after(30 * 86_400), &CardContent::default()).unwrap();
        let log = CardLog::new(card).unwrap();
        file.vectors
            .push(json!({"id": id, "kind": "cards", "did": log.did().as_str(), "log": log.to_lines(),
            "result": "accept"}));
        file.known.add(log).unwrap();
    }
    file
}

#[test]
fn chains_and_approvals_permit_or_refuse_as_the_file_says() {
    let cast = Cast::new();
    let mut file = cast_file(&cast);
    good_chains(&mut file, &cast);
    broken_chains(&mut file, &cast);
    bad_links(&mut file, &cast);
    measures(&mut file, &cast);
    approvals(&mut file, &cast);
    hierarchies(&mut file, &cast);
    parameters_of_segments(&mut file, &cast);
    assert_eq!(file.surprises, Vec::<String>::new());
    let of = |result: &str| {
        let decided = file.vectors.iter().filter(|vector| vector["kind"] == "authorize");
        decided.filter(|vector| vector["result"] == result).count()
    };
    assert_eq!((file.vectors.len(), of("accept"), of("reject")), (349, 44, 192));
    vector_file::committed("delegation", file.vectors, 349);
}

/// A pattern that ends with `/*` covers no text whose segments are ways up once a server has cut their parameters off.
fn parameters_of_segments(file: &mut File, cast: &Cast) {
    let Cast { root, middle, .. } = cast;
    let granted =
        Delegation { capabilities: vec![capability("tools/call/files/*", vec![])], ..grant(middle) };
    let chain = file.token("root-to-middle-for-all-files", granted.sign(root, None).unwrap());
    for (id, name, permitted) in [
        ("a-name-with-parameters", "files/a;b=c", true),
        ("a-way-up-with-parameters", "files/..;b/pay", false),
        ("a-way-to-itself-with-parameters", "files/a/.;", false),
        ("parameters-alone", "files/;a/b", false),
    ] {
        let call = Call::new("tools/call", name, Map::new());
        let action = Action::new(middle, call, BANK, NOW).unwrap().under(middle, &[&chain]);
        let vector = json!({
            "kind": "authorize", "payload": String::from_utf8(action.to_json()).unwrap(),
            "token": action.sign(middle).unwrap(), "now": NOW.0, "chain": ["root-to-middle-for-all-files"], "approvals": [],
            "status": {}, "roots": [{"resource": BANK, "did": root.did().as_str()}],
        });
        file.add(&format!("pattern-and-{id}"), vector, (!permitted).then_some("not-permitted"));
    }
}

/// A prefix of paths and of URLs is one of segments; a text that is read in two ways is below none.
fn hierarchies(file: &mut File, cast: &Cast) {
    let Cast { root, middle, .. } = cast;
    let of = |prefix: &str| Delegation {
        capabilities: vec![capability(
            "tools/call/read",
            vec![Caveat::Argument("/at".into(), Test::Prefix(prefix.into()))],
        )],
        ..grant(middle)
    };
    for (id, prefix) in [
        ("folder", "/home/alice/"),
        ("name", "/home/alice"),
        ("site", "https://bank.example"),
        ("page", "https://bank.example/a/"),
        ("query", "https://bank.example/a?of="),
        ("words", "alice"),
    ] {
        file.token(&format!("root-to-middle-for-a-{id}"), of(prefix).sign(root, None).unwrap());
    }
    for (id, chain, at, permitted) in [
        ("file-below", "folder", "/home/alice/a/b.txt", true),
        ("folder-below", "folder", "/home/alice/a/", true),
        ("dots-in-a-name", "folder", "/home/alice/..a/b...c", true),
        ("question-in-a-name", "folder", "/home/alice/a?b", true),
        ("percent-in-a-name", "folder", "/home/alice/100%25", true),
        ("folder-itself-without-its-end", "folder", "/home/alice", false),
        ("way-up", "folder", "/home/alice/../../etc/shadow", false),
        ("way-up-at-the-end", "folder", "/home/alice/a/..", false),
        ("way-to-itself", "folder", "/home/alice/./a", false),
        ("escaped-way-up", "folder", "/home/alice/%2e%2E/bob", false),
        ("half-escaped-way-up", "folder", "/home/alice/.%2e/bob", false),
        ("twice-escaped-way-up", "folder", "/home/alice/%252e%252e/bob", false),
        ("way-up-with-parameters", "folder", "/home/alice/..;a=b/bob", false),
        ("way-up-behind-a-question", "folder", "/home/alice/a?/../../bob", false),
        ("escaped-separator", "folder", "/home/alice/a%2Fb", false),
        ("escaped-backslash", "folder", "/home/alice/a%5cb", false),
        ("backslash", "folder", "/home/alice/..\\bob", false),
        ("empty-segment", "folder", "/home/alice//a", false),
        ("end-of-text", "folder", "/home/alice/a\0b", false),
        ("escaped-end-of-text", "folder", "/home/alice/a%00b", false),
        ("half-an-escape", "folder", "/home/alice/100%", false),
        ("an-escape-without-digits", "folder", "/home/alice/%zz", false),
        ("an-escape-of-one-digit", "folder", "/home/alice/%2/b", false),
        ("an-escape-of-ecmascript", "folder", "/home/alice/%u002e%u002e/bob", false),
        ("an-overlong-way-up", "folder", "/home/alice/%c0%ae%c0%ae/bob", false),
        ("a-twice-escaped-overlong-way-up", "folder", "/home/alice/%25c0%25ae%25c0%25ae/bob", false),
        ("an-overlong-separator", "folder", "/home/alice/..%e0%80%afbob", false),
        ("an-escaped-byte-that-is-no-text", "folder", "/home/alice/a%ff", false),
        ("escaped-text", "folder", "/home/alice/b%c3%bccher.txt", true),
        ("an-escaped-tab", "folder", "/home/alice/.%09./bob", false),
        ("an-escaped-delete", "folder", "/home/alice/a%7f", false),
        ("an-escaped-control-beyond-ascii", "folder", "/home/alice/a%c2%85b", false),
        ("a-twice-escaped-line-feed", "folder", "/home/alice/a%250ab", false),
        ("a-way-up-escaped-in-its-digits", "folder", "/home/alice/%%32%65./bob", false),
        ("a-way-up-escaped-digit-by-digit", "folder", "/home/alice/%25%32%65./bob", false),
        ("an-escaped-separator-behind-a-malformed-escape", "folder", "/home/alice/%25zz%252f..", false),
        ("an-escaped-end-of-a-way-up", "folder", "/home/alice/..%3ba/bob", false),
        ("nothing-but-parameters", "folder", "/home/alice/;a=b/c", false),
        ("a-way-up-and-a-space", "folder", "/home/alice/.. /bob", false),
        ("a-space-in-a-way-up", "folder", "/home/alice/.%20./bob", false),
        ("a-no-break-space-in-a-way-up", "folder", "/home/alice/.%c2%a0./bob", false),
        ("a-zero-width-space-in-a-way-up", "folder", "/home/alice/.\u{200b}./bob", false),
        ("an-escaped-byte-order-mark-in-a-way-up", "folder", "/home/alice/.%ef%bb%bf./bob", false),
        ("a-soft-hyphen-in-a-way-up", "folder", "/home/alice/.\u{ad}./bob", false),
        ("three-dots", "folder", "/home/alice/.../bob", false),
        ("a-space-alone", "folder", "/home/alice/ /bob", false),
        ("a-space-in-a-name", "folder", "/home/alice/a b.txt", true),
        ("an-escaped-space-in-a-name", "folder", "/home/alice/a%20b.txt", true),
        ("dots-of-full-width", "folder", "/home/alice/\u{ff0e}\u{ff0e}/bob", false),
        ("escaped-dots-of-full-width", "folder", "/home/alice/%ef%bc%8e%EF%BC%8E/bob", false),
        ("one-dot-leaders", "folder", "/home/alice/\u{2024}\u{2024}/bob", false),
        ("a-two-dot-leader", "folder", "/home/alice/\u{2025}/bob", false),
        ("an-ellipsis", "folder", "/home/alice/\u{2026}/bob", false),
        ("small-full-stops", "folder", "/home/alice/\u{fe52}\u{fe52}/bob", false),
        ("ideographic-full-stops", "folder", "/home/alice/\u{3002}\u{3002}/bob", false),
        ("half-width-full-stops", "folder", "/home/alice/\u{ff61}.\u{200d}/bob", false),
        ("vertical-dots", "folder", "/home/alice/\u{fe30}/bob", false),
        ("an-ideographic-full-stop-in-a-name", "folder", "/home/alice/\u{30e2}\u{3002}", true),
        ("separators-of-full-width", "folder", "/home/alice/..\u{ff0f}bob", false),
        ("backslashes-of-full-width", "folder", "/home/alice/a\u{ff3c}..\u{ff3c}b", false),
        ("division-slashes", "folder", "/home/alice/\u{2215}..\u{2215}bob", false),
        ("fraction-slashes", "folder", "/home/alice/a%e2%81%84..", false),
        ("set-minus", "folder", "/home/alice/..\u{2216}bob", false),
        ("an-escape-of-full-width", "folder", "/home/alice/\u{ff05}2e\u{ff05}2e/bob", false),
        ("an-escape-in-digits-of-full-width", "folder", "/home/alice/%ef%bc%85\u{ff12}\u{ff45}./bob", false),
        ("a-percent-sign-of-full-width", "folder", "/home/alice/100\u{ff05}", true),
        ("an-overlong-way-up-in-a-page", "page", "https://bank.example/a/%c0%ae%c0%ae/b", false),
        ("dots-of-full-width-in-a-page", "page", "https://bank.example/a/\u{ff0e}\u{ff0e}/b", false),
        ("half-an-escape-in-a-query", "page", "https://bank.example/a/b?c=100%", true),
        ("name-itself", "name", "/home/alice", true),
        ("below-a-name", "name", "/home/alice/a", true),
        ("longer-name", "name", "/home/alice2", false),
        ("name-with-a-question", "name", "/home/alice?", false),
        ("site-itself", "site", "https://bank.example", true),
        ("below-a-site", "site", "https://bank.example/a/b?c=/../d", true),
        ("site-with-a-query", "site", "https://bank.example?a", true),
        ("longer-site", "site", "https://bank.example.evil.example/", false),
        ("site-as-a-user", "site", "https://bank.example@evil.example/", false),
        ("port-of-a-site", "site", "https://bank.example:8443/", false),
        ("way-up-in-a-page", "page", "https://bank.example/a/../b", false),
        ("escaped-way-up-in-a-page", "page", "https://bank.example/a/%2e%2e/b", false),
        ("empty-segment-in-a-page", "page", "https://bank.example/a//b", false),
        ("page-with-a-fragment", "page", "https://bank.example/a/b#c/..", true),
        ("query-that-begins-so", "query", "https://bank.example/a?of=../b", true),
        ("words-that-begin-so", "words", "alice/../bob", true),
    ] {
        let chain = format!("root-to-middle-for-a-{chain}");
        let call = Call::new("tools/call", "read", map(json!({"at": at})));
        let action = Action::new(middle, call, BANK, NOW).unwrap().under(middle, &[&file.tokens[&chain]]);
        let vector = json!({
            "kind": "authorize", "payload": String::from_utf8(action.to_json()).unwrap(),
            "token": action.sign(middle).unwrap(), "now": NOW.0, "chain": [chain], "approvals": [], "status": {},
            "roots": [{"resource": BANK, "did": root.did().as_str()}],
        });
        file.add(&format!("prefix-and-{id}"), vector, (!permitted).then_some("not-permitted"));
    }
    for (id, parent, child, widened) in [
        ("below", "folder", "/home/alice/a", false),
        ("of-itself", "name", "/home/alice", false),
        ("of-a-longer-name", "name", "/home/alice2", true),
        ("of-a-longer-site", "site", "https://bank.example.evil.example", true),
        ("of-a-page-of-the-site", "site", "https://bank.example/a?b", false),
        ("of-a-longer-query", "query", "https://bank.example/a?of=b", false),
        ("of-longer-words", "words", "alice2", false),
    ] {
        let parent = format!("root-to-middle-for-a-{parent}");
        let link = forged(middle, Role::Signing, &file.tokens["middle-to-leaf"], json!({}), |it| {
            let name = name_of(middle, &file.tokens[&parent]);
            it["credentialSubject"]["delegation"]["parent"] = name.into();
            it["credentialSubject"]["delegation"]["capabilities"] = json!([{
                "action": "tools/call/read", "resource": BANK, "caveats": [{"argument": "/at", "prefix": child}],
            }]);
        });
        let own = format!("middle-to-leaf-{id}");
        file.token(&own, link);
        let call = Call::new("tools/call", "read", map(json!({"at": child})));
        let tokens = [&file.tokens[&parent], &file.tokens[&own]];
        let action = Action::new(&cast.leaf, call, BANK, NOW).unwrap().under(&cast.leaf, &tokens);
        let vector = json!({
            "kind": "authorize", "payload": String::from_utf8(action.to_json()).unwrap(),
            "token": action.sign(&cast.leaf).unwrap(), "now": NOW.0, "chain": [parent, own], "approvals": [],
            "status": {}, "roots": [{"resource": BANK, "did": root.did().as_str()}],
        });
        file.add(&format!("narrower-prefix-{id}"), vector, widened.then_some("widened"));
    }
}

/// A delegate of the chain does not approve the use of its right; the root that granted it may.
fn separate_duties(file: &mut File, cast: &Cast) {
    let Cast { root, middle, leaf, boss, .. } = cast;
    let asks = |delegate: &Agent, max_depth| Delegation {
        delegate: delegate.did().clone(),
        capabilities: vec![capability(
            "tools/call/pay",
            vec![Caveat::Approval([root, middle, boss].map(|agent| agent.did().clone()).into())],
        )],
        max_depth,
        ..grant(delegate)
    };
    let parent = file.token("root-to-middle-who-may-approve", asks(middle, 1).sign(root, None).unwrap());
    file.token("middle-to-its-own-leaf", asks(leaf, 0).sign(middle, Some(&parent)).unwrap());
    let chain = ["root-to-middle-who-may-approve", "middle-to-its-own-leaf"];
    let vector = request(file, leaf, root, &chain, 5);
    let action = action_of(&vector);
    for (id, approver, expected) in
        [("a-delegate", middle, Some("not-approved")), ("the-root", root, None), ("nobody-of-it", boss, None)]
    {
        let token = approval::sign(approver, &action, leaf.did(), NOW).unwrap();
        file.token(&format!("yes-in-a-chain-by-{id}"), token);
        let yes = json!({"approvals": [format!("yes-in-a-chain-by-{id}")]});
        file.add(&format!("approved-in-a-chain-by-{id}"), with(&vector, yes), expected);
    }
}

/// Counts what is resolved.
struct Counting<'a>(&'a CardStore, Cell<usize>);

impl Resolver for Counting<'_> {
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<Arc<DidDocument>> {
        self.1.set(self.1.get() + 1);
        self.0.resolve(did, now)
    }
}

#[test]
fn who_acts_for_no_trusted_root_gets_no_approval_resolved() {
    let cast = Cast::new();
    let file = cast_file(&cast);
    let Cast { root, middle, leaf, boss, .. } = &cast;
    let expected = Expectations::new(BANK);
    let policy = Policy::default()
        .trust(BANK.parse().unwrap(), root.did().clone())
        .require_approval("prompts/*".parse().unwrap(), vec![boss.did().clone()]);
    let below = |issuer: &Agent| grant(leaf).sign(issuer, None).unwrap();
    let asked = |actor: &Agent, chain: Vec<String>| {
        let action = Action::new(actor, Call::new("tools/call", "pay", Map::new()), BANK, NOW).unwrap();
        let action = if chain.is_empty() { action } else { action.under(actor, &chain) };
        let yes = approval::sign(boss, &action, actor.did(), NOW).unwrap();
        let (text, token) = (action.to_json(), action.sign(actor).unwrap());
        let mut seen = MemoryReplayCache::new(1);
        let action = action::verify(&text, &token, &expected, &file.known, NOW, &mut seen).unwrap();
        let resolver = Counting(&file.known, Cell::new(0));
        let authority = Authority { policy: &policy, resolver: &resolver, status: &Lists(&Value::Null) };
        let evidence = Evidence { chain, approvals: vec![yes; 8] };
        let decided = authorize(&action, &evidence, None, &authority, &mut MemoryLedger::new(1), NOW);
        (decided.err().map(|error| error.reason()), resolver.1.get())
    };
    assert_eq!(asked(leaf, Vec::new()), (Some(Reason::UntrustedRoot), 0));
    assert_eq!(asked(leaf, vec![below(middle)]), (Some(Reason::UntrustedRoot), 0));
    // The link of a trusted root that is another's.
    assert_eq!(asked(boss, vec![below(root)]), (Some(Reason::WrongDelegate), 1));
    assert_eq!(asked(root, Vec::new()), (None, 8));
}

#[test]
fn chains_that_are_known_are_found_by_their_name_until_they_end() {
    let cast = Cast::new();
    let file = cast_file(&cast);
    let token = grant(&cast.middle).sign(&cast.root, None).unwrap();
    let chain = Chain::verify(&[&token], &file.known, &Lists(&Value::Null), NOW).unwrap();
    let mut chains = Chains::new(1);
    chains.keep(&chain, NOW).unwrap();
    chains.keep(&chain, NOW).unwrap();
    for agent in [&cast.middle, &cast.carol] {
        assert_eq!(chains.find(&name_of(agent, &token)), Some(&[token.clone()][..]));
    }
    assert_eq!(chains.find("u"), None);
    let other = grant(&cast.leaf).sign(&cast.root, None).unwrap();
    let other = Chain::verify(&[other], &file.known, &Lists(&Value::Null), NOW).unwrap();
    assert_eq!(chains.keep(&other, NOW).unwrap_err().reason(), Reason::CacheFull);
    chains.keep(&chain, NOW).unwrap();
    let mut late = Chains::new(1);
    assert_eq!(late.keep(&chain, NOW.after(3601)).unwrap_err().reason(), Reason::Expired);
}

#[test]
fn a_chain_has_links() {
    let none: [&str; 0] = [];
    let refused = Chain::verify(&none, &CardStore::default(), &Lists(&Value::Null), NOW);
    assert_eq!(refused.unwrap_err().reason(), Reason::BadForm);
}
