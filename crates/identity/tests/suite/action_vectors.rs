//! `vectors/action.json`: signed tool calls, proofs and receipts of MCP, and every way in which they are refused.

use crate::vector_file;
use crate::world::{NOW, map};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, Error, MasterSeed, MemoryReplayCache, Result, Retired, Role,
    Suite, Timestamp,
    action::{self, Action, Call, Expectations},
    delegation::Evidence,
    jose::Jws,
    mcp,
};
use serde_json::{Map, Value, json};

const BANK: &str = "did:web:bank.example";

fn agent(seed: u8, suite: Suite) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite).deterministic()
}

fn log(agent: &Agent) -> CardLog {
    let from = Timestamp(NOW.0 - 3600);
    CardLog::new(agent.first_card(from, from.after(30 * 86_400), &CardContent::default()).unwrap()).unwrap()
}

fn call() -> Call {
    Call::new("tools/call", "pay", map(json!({"amount": 5, "to": "did:web:shop.example", "é": [1.5, null]})))
}

/// Decides one vector from what stands in the file alone.
fn judge(vector: &Value, known: &CardStore) -> Result<Map<String, Value>> {
    let text = |name: &str| vector[name].as_str().unwrap();
    let now = Timestamp(vector["now"].as_u64().unwrap());
    let mut expected = Expectations::new(vector["audience"].as_str().unwrap_or_default());
    if let Some(seconds) = vector["maxLifetime"].as_u64() {
        expected = expected.lasting(seconds);
    }
    let capacity = vector["capacity"].as_u64().unwrap_or(100);
    let mut replay = MemoryReplayCache::new(usize::try_from(capacity).unwrap());
    let mut once = || match text("kind") {
        "action" => {
            let payload = text("payload").as_bytes();
            action::verify(payload, text("token"), &expected, known, now, &mut replay)
                .map(|action| (action.signer().to_string(), action.digest(Suite::Default)))
        }
        "mcp" => {
            let params = vector["params"].as_object().unwrap();
            mcp::verify(text("method"), params, &expected, known, now, &mut replay)
                .map(|(action, _)| (action.signer().to_string(), action.digest(Suite::Default)))
        }
        "receipt" => {
            let action = Action::from_json(text("payload").as_bytes())?;
            let server = text("server").parse()?;
            mcp::verify_receipt(vector["response"].as_object().unwrap(), &action, &server, known, now)
                .map(|receipt| (receipt.signer().to_string(), receipt.action.clone()))
        }
        kind => panic!("{kind}"),
    };
    if vector["repeat"] == true {
        once().expect("the first time is good");
    }
    once().map(|(signer, digest)| map(json!({"signer": signer, "digest": digest})))
}

struct File {
    vectors: Vec<Value>,
    known: CardStore,
    surprises: Vec<String>,
}

impl File {
    fn cards(&mut self, id: &str, log: CardLog) {
        self.vectors
            .push(json!({"id": id, "kind": "cards", "did": log.did().as_str(), "log": log.to_lines(),
            "result": "accept"}));
        self.known.add(log).unwrap();
    }

    /// Adds a vector after deciding it: the reason that is expected stands in the call.
    fn add(&mut self, id: &str, vector: Value, expected: Option<&str>) {
        let mut vector = map(vector);
        vector.insert("id".into(), id.into());
        let verdict = judge(&Value::Object(vector.clone()), &self.known);
        let reason = verdict.as_ref().err().map(|error: &Error| error.reason().code());
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

fn vector(payload: &[u8], token: &str) -> Value {
    json!({"kind": "action", "payload": std::str::from_utf8(payload).unwrap(), "token": token,
        "audience": BANK, "now": NOW.0})
}

fn with(mut vector: Value, members: Value) -> Value {
    vector.as_object_mut().unwrap().extend(map(members));
    vector
}

fn actions(file: &mut File, alice: &Agent, carol: &Agent, retired: &Agent) {
    let action = Action::new(alice, call(), BANK, NOW).unwrap();
    let payload = action.to_json();
    let token = action.sign(alice).unwrap();
    let good = vector(&payload, &token);
    file.add("action", good.clone(), None);
    let spaced = serde_json::to_string_pretty(&serde_json::from_slice::<Value>(&payload).unwrap()).unwrap();
    file.add("action-in-another-layout", with(good.clone(), json!({"payload": spaced})), None);
    let at = |seconds: i64| json!({"now": NOW.0.checked_add_signed(seconds).unwrap()});
    file.add("action-from-a-clock-30-s-ahead", with(good.clone(), at(-30)), None);
    file.add("action-in-its-last-second", with(good.clone(), at(120)), None);
    file.add("action-from-the-future", with(good.clone(), at(-31)), Some("not-yet-valid"));
    file.add("action-that-is-over", with(good.clone(), at(121)), Some("expired"));
    file.add(
        "action-for-another",
        with(good.clone(), json!({"audience": "did:web:bank.example.com"})),
        Some("wrong-audience"),
    );
    file.add("action-again", with(good.clone(), json!({"repeat": true})), Some("replayed"));
    file.add("action-and-a-full-cache", with(good.clone(), json!({"capacity": 0})), Some("cache-full"));

    let suite = Action::new(carol, Call::new("ping", "", Map::new()), BANK, NOW).unwrap();
    file.add("action-of-cnsa2", vector(&suite.to_json(), &suite.sign(carol).unwrap()), None);
    let mut more = call();
    more.params = map(json!({"requestState": "x"}));
    let chain = ["eyJ.e30.AA"];
    let more = Action::new(alice, more, BANK, NOW).unwrap().under(alice, &chain);
    file.add("action-with-every-member", vector(&more.to_json(), &more.sign(alice).unwrap()), None);

    let long = action.clone().lasting(3600);
    let long_token = long.sign(alice).unwrap();
    let long = vector(&long.to_json(), &long_token);
    file.add("action-of-an-hour", long.clone(), Some("long-lived"));
    file.add("action-of-an-hour-where-allowed", with(long, json!({"maxLifetime": 3600})), None);

    // Each member changed under the signature.
    let plain: Map<String, Value> = map(serde_json::from_slice(&payload).unwrap());
    let changed = |name: &str, value: Value| {
        let mut changed = plain.clone();
        changed.insert(name.into(), value);
        vector(Value::Object(changed).to_string().as_bytes(), &token)
    };
    for (name, value) in [
        ("method", json!("tools/calls")),
        ("name", json!("steal")),
        ("arguments", json!({"amount": 6})),
        ("iat", json!(NOW.0 + 1)),
        ("exp", json!(NOW.0 + 119)),
        ("nonce", json!("AAAAAAAAAAAAAAAAAAAAAA")),
        ("params", json!({"a": 1})),
        ("delegation", json!(more.delegation())),
    ] {
        file.add(&format!("action-with-another-{name}"), changed(name, value), Some("bad-signature"));
    }
    // Forms that are refused before anybody looks at the signature.
    for (id, name, value) in [
        ("version", "v", json!(2)),
        ("version-as-text", "v", json!("1")),
        ("member", "more", json!(1)),
        ("empty-method", "method", json!("")),
        ("empty-audience", "aud", json!("")),
        ("list-of-arguments", "arguments", json!([])),
        ("null-as-params", "params", Value::Null),
        ("time-as-text", "iat", json!("1795330800")),
        ("negative-time", "iat", json!(-1)),
        ("fraction-of-a-second", "exp", json!(1795330900.5)),
        ("end-before-its-beginning", "exp", json!(NOW.0 - 1)),
        ("short-nonce", "nonce", json!("AAAA")),
        ("nonce-in-standard-base64", "nonce", json!("AAAAAAAAAAAAAAAAAAAAA+")),
        ("delegation-that-is-no-hash", "delegation", json!("uAAAA")),
    ] {
        file.add(&format!("action-with-{id}"), changed(name, value), Some("bad-form"));
    }
    for name in ["v", "aud", "method", "name", "arguments", "iat", "exp", "nonce"] {
        let mut changed = plain.clone();
        changed.remove(name);
        let changed = vector(Value::Object(changed).to_string().as_bytes(), &token);
        file.add(&format!("action-without-{name}"), changed, Some("bad-form"));
    }
    let twice = std::str::from_utf8(&payload).unwrap().replacen('{', r#"{"name":"pay","#, 1);
    file.add("action-with-a-member-twice", vector(twice.as_bytes(), &token), Some("bad-json"));
    let huge = std::str::from_utf8(&payload).unwrap().replace("\"amount\":5", "\"amount\":9007199254740993");
    file.add("action-with-an-inexact-number", vector(huge.as_bytes(), &token), Some("bad-json"));

    // Signatures of another kind.
    let signed = |agent: &Agent, role: Role, header: Value| {
        let mut header = map(header);
        header.entry("kid").or_insert_with(|| agent.key_url(role).to_string().into());
        vector(&payload, &Jws::sign_detached(agent.key(role), header, &payload).unwrap())
    };
    let typ = json!({"typ": action::TYPE});
    file.add(
        "token-typed-in-full",
        signed(alice, Role::Signing, json!({"typ": "application/gambeson-action+jws"})),
        None,
    );
    file.add("token-of-another-type", signed(alice, Role::Signing, json!({"typ": "JOSE"})), Some("bad-type"));
    file.add("token-without-type", signed(alice, Role::Signing, json!({})), Some("bad-type"));
    file.add(
        "token-with-a-key-inside",
        signed(alice, Role::Signing, json!({"typ": action::TYPE, "jwk": {}})),
        Some("bad-form"),
    );
    file.add(
        "token-with-crit",
        signed(alice, Role::Signing, json!({"typ": action::TYPE, "crit": ["b64"], "b64": false})),
        Some("bad-form"),
    );
    file.add(
        "token-with-a-relative-key",
        signed(alice, Role::Signing, json!({"typ": action::TYPE, "kid": "#signing-0"})),
        Some("bad-did"),
    );
    file.add("token-of-the-identity-key", signed(alice, Role::Identity, typ.clone()), Some("wrong-purpose"));
    file.add("token-of-the-did-key", signed(alice, Role::Did, typ.clone()), Some("wrong-purpose"));
    file.add("token-of-the-log-key", signed(alice, Role::Log, typ.clone()), Some("wrong-purpose"));
    let missing = json!({"typ": action::TYPE, "kid": alice.did().url("signing-1").to_string()});
    file.add("token-of-a-key-that-is-not-there", signed(alice, Role::Signing, missing), Some("unknown-key"));
    file.add("token-of-a-revoked-key", signed(retired, Role::Signing, typ.clone()), Some("key-revoked"));
    let stranger = agent(9, Suite::Default);
    file.add("token-of-a-stranger", signed(&stranger, Role::Signing, typ.clone()), Some("unknown-did"));
    let borrowed = json!({"typ": action::TYPE, "kid": alice.key_url(Role::Signing).to_string()});
    file.add(
        "token-in-the-name-of-another",
        signed(&stranger, Role::Signing, borrowed),
        Some("bad-signature"),
    );
    let other_suite = json!({"typ": action::TYPE, "kid": alice.key_url(Role::Signing).to_string()});
    file.add("token-of-another-algorithm", signed(carol, Role::Signing, other_suite), Some("bad-algorithm"));

    let token_of = |token: String| vector(&payload, &token);
    let (header, signature) = token.split_once("..").unwrap();
    let es256 = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImdhbWJlc29uLWFjdGlvbitqd3MifQ";
    let none = "eyJhbGciOiJub25lIiwidHlwIjoiZ2FtYmVzb24tYWN0aW9uK2p3cyJ9";
    file.add("token-of-es256", token_of(format!("{es256}..{signature}")), Some("bad-algorithm"));
    file.add("token-of-none", token_of(format!("{none}..")), Some("bad-algorithm"));
    file.add("token-that-is-not-detached", token_of(format!("{header}.e30.{signature}")), Some("bad-form"));
    file.add("token-without-a-dot", token_of(format!("{header}.{signature}")), Some("bad-form"));
    file.add("token-cut-short", token_of(token[..token.len() - 4].to_owned()), Some("bad-signature"));
    file.add("token-with-padding", token_of(format!("{token}==")), Some("bad-encoding"));
    file.add("token-too-long", token_of("A".repeat((16 << 10) + 1)), Some("too-large"));
    let flipped = signature.replacen(&signature[..1], if signature.starts_with('A') { "B" } else { "A" }, 1);
    file.add("token-with-a-bit-changed", token_of(format!("{header}..{flipped}")), Some("bad-signature"));
}

fn proofs(file: &mut File, alice: &Agent, server: &Agent) {
    let mut params = map(json!({
        "name": "pay", "arguments": {"amount": 5}, "task": null,
        "_meta": {"progressToken": 1, "io.modelcontextprotocol/protocolVersion": "2026-07-28"},
    }));
    let action = Action::new(alice, mcp::call("tools/call", &params).unwrap(), BANK, NOW)
        .unwrap()
        .under(alice, &["a.b.c"]);
    let evidence = Evidence { chain: vec!["a.b.c".into()], approvals: vec!["d.e.f".into()] };
    mcp::attach(&mut params, mcp::prove(alice, &action, &evidence).unwrap()).unwrap();
    let vector = |method: &str, params: &Map<String, Value>| json!({"kind": "mcp", "method": method, "params": params, "audience": BANK, "now": NOW.0});
    let good = vector("tools/call", &params);
    file.add("mcp", good.clone(), None);
    let edited = |edit: &dyn Fn(&mut Map<String, Value>)| {
        let mut params = params.clone();
        edit(&mut params);
        vector("tools/call", &params)
    };
    fn proof(params: &mut Map<String, Value>) -> &mut Map<String, Value> {
        params["_meta"][mcp::PROOF].as_object_mut().unwrap()
    }
    file.add("mcp-with-other-meta", edited(&|it| it["_meta"]["traceparent"] = "00-1-2-03".into()), None);
    file.add("mcp-without-what-is-null", edited(&|it| drop(it.remove("task"))), None);
    file.add("mcp-chain-by-name", edited(&|it| drop(proof(it).remove("chain"))), None);
    file.add("mcp-again", with(good.clone(), json!({"repeat": true})), Some("replayed"));
    file.add("mcp-other-method", vector("prompts/get", &params), Some("bad-signature"));
    file.add("mcp-other-tool", edited(&|it| it["name"] = "steal".into()), Some("bad-signature"));
    file.add(
        "mcp-other-arguments",
        edited(&|it| it["arguments"]["amount"] = 6.into()),
        Some("bad-signature"),
    );
    file.add("mcp-without-arguments", edited(&|it| drop(it.remove("arguments"))), Some("bad-signature"));
    file.add(
        "mcp-with-another-parameter",
        edited(&|it| it["task"] = json!({"ttl": 1})),
        Some("bad-signature"),
    );
    file.add(
        "mcp-other-audience",
        edited(&|it| drop(proof(it).insert("aud".into(), "x".into()))),
        Some("wrong-audience"),
    );
    file.add("mcp-without-meta", edited(&|it| drop(it.remove("_meta"))), Some("unsecured"));
    file.add("mcp-without-proof", edited(&|it| it["_meta"] = json!({"progressToken": 1})), Some("unsecured"));
    file.add("mcp-proof-as-text", edited(&|it| it["_meta"][mcp::PROOF] = "x".into()), Some("bad-form"));
    file.add("mcp-proof-without-jws", edited(&|it| drop(proof(it).remove("jws"))), Some("bad-form"));
    file.add(
        "mcp-proof-with-a-name",
        edited(&|it| drop(proof(it).insert("name".into(), "pay".into()))),
        Some("bad-form"),
    );
    file.add(
        "mcp-number-in-chain",
        edited(&|it| drop(proof(it).insert("chain".into(), json!([1])))),
        Some("bad-form"),
    );
    file.add(
        "mcp-nine-links",
        edited(&|it| drop(proof(it).insert("chain".into(), json!(vec!["a"; 9])))),
        Some("too-deep"),
    );
    file.add("mcp-name-as-number", edited(&|it| it["name"] = 1.into()), Some("bad-form"));
    file.add("mcp-arguments-as-list", edited(&|it| it["arguments"] = json!([])), Some("bad-form"));
    let mut read = map(json!({"uri": "file:///a", "_meta": {}}));
    let action = Action::new(alice, mcp::call("resources/read", &read).unwrap(), BANK, NOW).unwrap();
    assert_eq!(action.call().action(), "resources/read/file:///a");
    mcp::attach(&mut read, mcp::prove(alice, &action, &Evidence::default()).unwrap()).unwrap();
    file.add("mcp-resource", vector("resources/read", &read), None);

    let mut response = map(json!({"content": [{"type": "text", "text": "done"}], "structuredContent": null}));
    mcp::acknowledge(server, &action, &mut response, NOW).unwrap();
    let vector = |response: &Map<String, Value>, payload: &[u8], server: &Agent| {
        json!({"kind": "receipt", "payload": std::str::from_utf8(payload).unwrap(), "response": response,
            "server": server.did().as_str(), "now": NOW.0})
    };
    let (payload, other) = (action.to_json(), Action::new(alice, call(), BANK, NOW).unwrap().to_json());
    let edited = |edit: &dyn Fn(&mut Map<String, Value>)| {
        let mut response = response.clone();
        edit(&mut response);
        vector(&response, &payload, server)
    };
    let entry = |it: &mut Map<String, Value>, name: &str, value: Value| {
        it["_meta"][mcp::RECEIPT][name] = value;
    };
    file.add("receipt", edited(&|_| ()), None);
    file.add("receipt-with-other-meta", edited(&|it| it["_meta"]["a"] = 1.into()), None);
    file.add("receipt-of-another-result", edited(&|it| it["content"] = json!([])), Some("bad-signature"));
    file.add(
        "receipt-at-another-time",
        edited(&|it| entry(it, "iat", (NOW.0 - 1).into())),
        Some("bad-signature"),
    );
    file.add("receipt-without-meta", edited(&|it| drop(it.remove("_meta"))), Some("unsecured"));
    file.add("receipt-of-version-2", edited(&|it| entry(it, "v", 2.into())), Some("bad-form"));
    file.add("receipt-with-more", edited(&|it| entry(it, "more", 2.into())), Some("bad-form"));
    file.add("receipt-for-another-action", vector(&response, &other, server), Some("wrong-audience"));
    file.add("receipt-from-another", vector(&response, &payload, alice), Some("wrong-audience"));
    let early = json!({"now": NOW.0 - 31});
    file.add("receipt-from-the-future", with(edited(&|_| ()), early), Some("not-yet-valid"));
}

#[test]
fn actions_proofs_and_receipts_are_taken_or_refused_as_the_file_says() {
    let (alice, carol) = (agent(1, Suite::Default), agent(2, Suite::Cnsa2));
    let (mut turned, server) = (agent(3, Suite::Default), agent(4, Suite::Default));
    let mut file = File { vectors: Vec::new(), known: CardStore::default(), surprises: Vec::new() };
    file.cards("agent-alice", log(&alice));
    file.cards("agent-carol", log(&carol));
    file.cards("agent-server", log(&server));
    let mut story = log(&turned);
    let from = Timestamp(NOW.0 - 1800);
    let content = CardContent::default();
    turned
        .rotate(&mut story, &[Role::Signing], Retired::Compromised, (from, from.after(86_400)), &content)
        .unwrap();
    file.cards("agent-rotated", story);
    actions(&mut file, &alice, &carol, &agent(3, Suite::Default));
    proofs(&mut file, &alice, &server);
    assert_eq!(file.surprises, Vec::<String>::new());
    let count = file.vectors.len();
    let rejects = file.vectors.iter().filter(|vector| vector["result"] == "reject").count();
    assert_eq!((count, rejects), (102, 83));
    vector_file::committed("action", file.vectors, 102);
}

#[test]
fn an_action_beyond_a_mebibyte_is_refused_before_it_is_read() {
    let payload = vec![b' '; action::MAX_ACTION + 1];
    let refused = Action::from_json(&payload).unwrap_err();
    assert_eq!(refused.reason().code(), "too-large");
}
