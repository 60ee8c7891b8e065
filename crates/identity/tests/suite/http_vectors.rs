//! `vectors/httpsig.json`: signed HTTP messages and every way in which they are refused; the vectors of C2SP
//! `httpsig-pq`; the examples of RFC 9421.

use crate::vector_file;
use crate::world::{NOW, map};
use gambeson::mldsa::{self, MlDsa44, MlDsa65, MlDsa87};
use gambeson_identity::{
    Agent, Algorithm, CardContent, CardLog, CardStore, Error, MasterSeed, MemoryReplayCache, Reason,
    Relationship, Result, Role, Suite, Timestamp, VerifyingKey,
    http::{self, Component, Message, Policy, Signature, Terms},
};
use serde_json::{Map, Value, json};
use sha2::Digest;

const URI: &str = "https://bank.example/pay?id=7&note=a+b%20c";

type Fields = Vec<(String, String)>;

fn agent(seed: u8, suite: Suite) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite).deterministic()
}

fn fields(list: &Value) -> Fields {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(|field| (text(&field[0]), text(&field[1]))).collect()
}

fn components(list: &Value) -> Result<Vec<Component>> {
    list.as_array().into_iter().flatten().map(|name| name.as_str().unwrap().parse()).collect()
}

fn with_message<T>(message: &Value, act: impl FnOnce(&Message<'_>) -> T) -> T {
    let (mut act, mut result) = (Some(act), None);
    compose(message, &mut |made| result = act.take().map(|act| act(made)));
    result.unwrap()
}

fn compose(message: &Value, act: &mut dyn FnMut(&Message<'_>)) {
    let fields = fields(&message["fields"]);
    let made = match message["status"].as_u64() {
        None => {
            let text = |name: &str| message[name].as_str().unwrap();
            Message::request(text("method"), text("target"), &fields)
        }
        Some(status) => Message::response(u16::try_from(status).unwrap(), &fields),
    };
    let made = match message["body"].as_str() {
        Some(body) => made.with_body(body.as_bytes()),
        None => made,
    };
    match message.get("request") {
        Some(request) => compose(request, &mut |request| act(&made.answering(request))),
        None => act(&made),
    }
}

/// Decides one vector from what stands in the file alone.
fn judge(vector: &Value, known: &CardStore) -> Result<Map<String, Value>> {
    let now = Timestamp(vector["now"].as_u64().unwrap());
    let mut policy = Policy { required: components(&vector["required"])?, ..Policy::default() };
    if vector["relationship"] == "capabilityInvocation" {
        policy.relationship = Relationship::CapabilityInvocation;
    }
    policy.tag = vector["tag"].as_str().map(str::to_owned);
    policy.signer = vector["from"].as_str().map(|did| did.parse().unwrap());
    policy.max_age = vector["maxAge"].as_u64().unwrap_or(policy.max_age);
    let capacity = vector["capacity"].as_u64().unwrap_or(100);
    let mut replay = MemoryReplayCache::new(usize::try_from(capacity).unwrap());
    with_message(&vector["message"], |message| {
        if vector["repeat"] == true {
            http::verify(message, &policy, known, now, &mut replay).expect("the first time is good");
        }
        let verified = http::verify(message, &policy, known, now, &mut replay)?;
        Ok(map(
            json!({"signer": verified.signer().to_string(), "label": verified.label(), "base": verified.base()}),
        ))
    })
}

#[derive(Default)]
struct File {
    vectors: Vec<Value>,
    known: CardStore,
    surprises: Vec<String>,
}

impl File {
    fn add(&mut self, id: &str, vector: Value, expected: Option<&str>) {
        let mut vector = map(vector);
        vector.insert("id".into(), id.into());
        vector.insert("kind".into(), "http".into());
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

fn with(vector: &Value, members: Value) -> Value {
    let mut vector = vector.clone();
    vector.as_object_mut().unwrap().extend(map(members));
    vector
}

/// A vector of this message, signed by the agent.
fn signed(agent: &Agent, message: Value, terms: &Terms) -> Value {
    let added = with_message(&message, |message| http::sign(agent, message, terms, NOW)).unwrap();
    let mut message = message;
    let fields = message["fields"].as_array_mut().unwrap();
    fields.extend(added.into_iter().map(|(name, value)| json!([name, value])));
    json!({"message": message, "now": NOW.0})
}

fn request() -> Value {
    json!({"method": "POST", "target": URI, "body": "{\"amount\":5}",
        "fields": [["Host", "bank.example"], ["Content-Type", " application/json "], ["X-Odd", "a"], ["x-odd", "b, c"]]})
}

/// A change of the fields of a message, by name.
fn field(vector: &Value, name: &str, change: impl Fn(&str) -> String) -> Value {
    let mut vector = vector.clone();
    for field in vector["message"]["fields"].as_array_mut().unwrap() {
        if field[0].as_str().unwrap().eq_ignore_ascii_case(name) {
            field[1] = change(field[1].as_str().unwrap()).into();
        }
    }
    vector
}

fn message(vector: &Value, members: Value) -> Value {
    let mut vector = vector.clone();
    vector["message"].as_object_mut().unwrap().extend(map(members));
    vector
}

fn covering(names: &[&str]) -> Terms {
    Terms { components: names.iter().map(|name| name.parse().unwrap()).collect(), ..Terms::default() }
}

fn requests(file: &mut File, alice: &Agent, carol: &Agent) {
    let good = signed(alice, request(), &Terms::default());
    file.add("request", good.clone(), None);
    file.add("request-of-cnsa2", signed(carol, request(), &Terms::default()), None);
    let plain = json!({"method": "GET", "target": "https://bank.example", "fields": []});
    file.add("request-without-body", signed(alice, plain.clone(), &Terms::default()), None);
    let invoking = Terms { role: Role::Signing, tag: Some("gambeson-test".into()), ..Terms::default() };
    let acting = signed(alice, request(), &invoking);
    let capable = json!({"relationship": "capabilityInvocation", "tag": "gambeson-test"});
    file.add("request-that-uses-a-capability", with(&acting, capable), None);
    file.add("request-for-another-purpose", acting.clone(), Some("wrong-purpose"));
    file.add("request-of-another-tag", with(&good, json!({"tag": "gambeson-test"})), Some("unsecured"));
    let everything = [
        "@method",
        "@target-uri",
        "@authority",
        "@scheme",
        "@path",
        "@query",
        "@request-target",
        "\"@query-param\";name=\"id\"",
        "\"@query-param\";name=\"note\"",
        "host",
        "content-type",
        "x-odd",
        "\"x-odd\";bs",
        "content-digest",
        "\"content-digest\";key=\"sha-512\"",
        "\"content-digest\";sf",
    ];
    let mut digested = request();
    let digest = http::content_digest(b"{\"amount\":5}");
    digested["fields"].as_array_mut().unwrap().push(json!(["Content-Digest", digest]));
    let full = signed(alice, digested, &covering(&everything));
    file.add("request-with-every-component", with(&full, json!({"required": everything})), None);
    let mut short = request();
    let sha_256 = format!("sha-256={}", sfv_bytes(&sha2::Sha256::digest(b"{\"amount\":5}")));
    short["fields"].as_array_mut().unwrap().push(json!(["Content-Digest", &sha_256]));
    file.add("request-with-a-sha-256", signed(alice, short, &Terms::default()), None);
    let both = json!(["Content-Digest", sha_256]);
    let mut two = request();
    two["fields"].as_array_mut().unwrap().push(both);
    let mut wrong = signed(alice, two, &Terms::default());
    wrong["message"]["body"] = "{\"amount\":6}".into();
    file.add("request-with-a-wrong-sha-256", wrong, Some("wrong-digest"));
    let at = |seconds: i64| json!({"now": NOW.0.checked_add_signed(seconds).unwrap()});
    file.add("request-from-a-clock-30-s-ahead", with(&good, at(-30)), None);
    file.add("request-from-the-future", with(&good, at(-31)), Some("not-yet-valid"));
    file.add("request-in-its-last-second", with(&good, at(120)), None);
    file.add("request-that-is-over", with(&good, at(121)), Some("expired"));
    let lasting = signed(alice, request(), &Terms { lifetime: 3600, ..Terms::default() });
    file.add("request-older-than-allowed", with(&lasting, at(121)), Some("expired"));
    file.add("request-as-old-as-allowed", with(&lasting, with(&at(121), json!({"maxAge": 600}))), None);
    file.add("request-again", with(&good, json!({"repeat": true})), Some("replayed"));
    file.add("request-and-a-full-cache", with(&good, json!({"capacity": 0})), Some("cache-full"));

    for (id, changed) in [
        ("method", message(&good, json!({"method": "PUT"}))),
        ("path", message(&good, json!({"target": URI.replace("/pay", "/Pay")}))),
        ("query", message(&good, json!({"target": URI.replace("id=7", "id=8")}))),
        ("host", message(&good, json!({"target": URI.replace("bank.", "bank2.")}))),
        ("scheme", message(&good, json!({"target": URI.replace("https", "http")}))),
        ("content-type", field(&good, "content-type", |_| "text/plain".into())),
        ("created", field(&good, "signature-input", |it| it.replace("created=17953308", "created=17953307"))),
        (
            "expires",
            field(&good, "signature-input", |it| it.replace("expires=1795330920", "expires=1795330921")),
        ),
        ("nonce", field(&good, "signature-input", |it| it.replacen("nonce=\"", "nonce=\"A", 1))),
        ("parameter-left-out", field(&good, "signature-input", |it| it.replace(";expires=1795330920", ""))),
    ] {
        file.add(&format!("request-with-another-{id}"), changed, Some("bad-signature"));
    }
    let other = http::content_digest(b"{\"amount\":6}");
    let swapped =
        field(&message(&good, json!({"body": "{\"amount\":6}"})), "content-digest", |_| other.clone());
    file.add("request-with-another-body-and-digest", swapped, Some("bad-signature"));
    file.add(
        "request-with-another-body",
        message(&good, json!({"body": "{\"amount\":6}"})),
        Some("wrong-digest"),
    );
    file.add(
        "request-with-another-digest-field",
        field(&good, "content-digest", |_| "md5=:AAAA:".into()),
        Some("bad-signature"),
    );
    // Signed without the body, as no signer does who has it.
    let digested = |digest: &str| {
        let mut bare = request();
        bare.as_object_mut().unwrap().remove("body");
        bare["fields"].as_array_mut().unwrap().push(json!(["Content-Digest", digest]));
        message(&signed(alice, bare, &Terms::default()), json!({"body": "{\"amount\":5}"}))
    };
    file.add("request-with-no-known-digest", digested("md5=:AAAA:"), Some("wrong-digest"));
    file.add("request-with-a-digest-as-text", digested("sha-512=\"a\""), Some("bad-form"));
    file.add("request-without-its-digest", digested("!"), Some("bad-form"));
    let uncovered = signed(alice, request(), &covering(&["@method", "@target-uri"]));
    file.add("request-with-a-body-that-is-not-covered", uncovered, Some("uncovered"));
    let untyped = signed(alice, request(), &covering(&["@method", "@target-uri", "content-digest"]));
    file.add("request-whose-content-type-is-not-covered", untyped, Some("uncovered"));
    let less = signed(alice, plain.clone(), &covering(&["@method", "@path"]));
    file.add("request-whose-host-is-not-covered", less, Some("uncovered"));
    file.add(
        "request-without-what-the-policy-wants",
        with(&good, json!({"required": ["@authority"]})),
        Some("uncovered"),
    );
    file.add("request-without-signature", json!({"message": request(), "now": NOW.0}), Some("unsecured"));
}

/// Fields by which a server finds out where the content ends, how it is coded and for whom the message is.
fn framing(file: &mut File, alice: &Agent) {
    let body = "{\"amount\":5}";
    let good = signed(alice, request(), &Terms::default());
    let added = |vector: &Value, fields: &[(&str, &str)]| {
        let mut vector = vector.clone();
        let all = vector["message"]["fields"].as_array_mut().unwrap();
        all.extend(fields.iter().map(|(name, value)| json!([name, value])));
        vector
    };
    let fits = body.len().to_string();
    for (id, fields, expected) in [
        ("its-length", &[("Content-Length", &fits[..])][..], None),
        ("a-length-with-zeros-before", &[("Content-Length", "0012")], None),
        ("a-shorter-length", &[("Content-Length", "11")], Some("bad-form")),
        ("a-greater-length", &[("content-length", "13")], Some("bad-form")),
        ("no-length", &[("Content-Length", "")], Some("bad-form")),
        ("a-length-with-a-sign", &[("Content-Length", "+12")], Some("bad-form")),
        ("a-length-in-hexadecimal", &[("Content-Length", "0xc")], Some("bad-form")),
        ("a-length-beyond-64-bits", &[("Content-Length", "18446744073709551628")], Some("bad-form")),
        ("a-list-of-lengths", &[("Content-Length", "12, 12")], Some("bad-form")),
        ("its-length-twice", &[("Content-Length", &fits), ("content-length", &fits)], Some("bad-form")),
        (
            "a-coding-beside-its-length",
            &[("Content-Length", &fits), ("Transfer-Encoding", "chunked")],
            Some("bad-form"),
        ),
        ("a-transfer-coding", &[("Transfer-Encoding", "chunked")], Some("bad-form")),
        ("the-transfer-coding-identity", &[("transfer-encoding", "identity")], Some("bad-form")),
        ("two-hosts", &[("host", "evil.example")], Some("bad-form")),
        ("two-content-types", &[("content-type", "text/plain")], Some("bad-form")),
        ("two-authorizations", &[("authorization", "a"), ("Authorization", "b")], Some("bad-form")),
        ("a-coding-that-is-not-covered", &[("Content-Encoding", "gzip")], Some("uncovered")),
        ("a-range-that-is-not-covered", &[("Content-Range", "bytes 0-11/12")], Some("uncovered")),
    ] {
        file.add(&format!("request-with-{id}"), added(&good, fields), expected);
    }
    let coded =
        added(&json!({"message": request()}), &[("Content-Encoding", "gzip"), ("content-encoding", "br")]);
    file.add("request-with-codings", signed(alice, coded["message"].clone(), &Terms::default()), None);
    // The length of what another method would get (RFC 9110, §8.6).
    let head = json!({"status": 200, "body": "", "fields": [["Content-Length", "500"]],
        "request": {"method": "HEAD", "target": URI, "fields": []}});
    let answer = signed(alice, head.clone(), &Terms::default());
    file.add("response-to-head-with-a-length", answer.clone(), None);
    let mut get = answer;
    get["message"]["request"]["method"] = "GET".into();
    file.add("response-to-get-with-another-length", get, Some("bad-form"));
    let unchanged = json!({"status": 304, "body": "", "fields": [["Content-Length", "500"]]});
    file.add("response-304-with-a-length", signed(alice, unchanged, &Terms::default()), None);
}

/// Other texts of the same target, as clients and proxies write them, and texts of other targets.
fn targets(file: &mut File, alice: &Agent) {
    let covering = covering(&["@method", "@target-uri", "@authority", "@scheme", "@path", "@query"]);
    let required =
        json!({"required": ["@method", "@target-uri", "@authority", "@scheme", "@path", "@query"]});
    let at = |target: &str| json!({"method": "GET", "target": target, "fields": []});
    let one = |target: &str| with(&signed(alice, at(target), &covering), required.clone());
    for (id, signed_at, read_at, expected) in [
        ("host-in-capitals", "https://bank.example/a?b=C", "HTTPS://Bank.EXAMPLE/a?b=C", None),
        ("host-signed-in-capitals", "Https://BANK.example/a?b=C", "https://bank.example/a?b=C", None),
        ("port-of-https", "https://bank.example/a", "https://bank.example:443/a", None),
        ("port-of-https-signed", "https://bank.example:443/a", "https://bank.example/a", None),
        ("port-of-http", "http://bank.example:80/a", "HTTP://bank.example/a", None),
        ("empty-port", "https://bank.example:/a", "https://bank.example/a", None),
        ("empty-path", "https://bank.example", "https://bank.example/", None),
        ("empty-path-and-query", "https://bank.example?a=b", "https://bank.example:443/?a=b", None),
        ("address-and-port", "https://[2001:DB8::443]:443/a", "https://[2001:db8::443]/a", None),
        ("address-of-version-4-in-6", "https://[::FFFF:192.0.2.1]/a", "https://[::ffff:192.0.2.1]/a", None),
        ("root-dot", "https://bank.example.:65535/a", "https://BANK.example.:65535/a", None),
        ("escape-in-a-name", "https://b%C3%BCcher.example/a", "https://b%c3%bccher.example/a", None),
        ("another-port", "https://bank.example/a", "https://bank.example:8443/a", Some("bad-signature")),
        (
            "port-of-http-at-https",
            "https://bank.example/a",
            "https://bank.example:80/a",
            Some("bad-signature"),
        ),
        (
            "port-of-https-at-http",
            "http://bank.example/a",
            "http://bank.example:443/a",
            Some("bad-signature"),
        ),
        ("path-in-capitals", "https://bank.example/a", "https://bank.example/A", Some("bad-signature")),
        ("path-with-two-slashes", "https://bank.example", "https://bank.example//", Some("bad-signature")),
        ("path-with-an-escape", "https://bank.example/a", "https://bank.example/%61", Some("bad-signature")),
        ("empty-query", "https://bank.example/a", "https://bank.example/a?", Some("bad-signature")),
    ] {
        file.add(&format!("target-{id}"), message(&one(signed_at), json!({"target": read_at})), expected);
    }
}

/// Signatures of others beside the one that counts: of a proxy, of another algorithm.
fn beside(file: &mut File, alice: &Agent, carol: &Agent) {
    let good = signed(alice, request(), &Terms::default());
    let key = alice.key_url(Role::Identity);
    let short = ":AAAA:";
    for (id, parameters, bytes, expected) in [
        ("rsa", "created=1795330800;alg=\"rsa-pss-sha512\";keyid=\"proxy\"", short, None),
        ("ecdsa-with-a-did", &format!("alg=\"ecdsa-p256-sha256\";keyid=\"{key}\"")[..], short, None),
        ("no-algorithm", "created=1795330800;keyid=\"https://proxy.example/key\"", short, None),
        ("no-algorithm-and-a-did", &format!("created=1795330800;keyid=\"{key}\""), short, None),
        ("no-key", "created=1795330800", short, None),
        ("ml-dsa-and-no-did", "alg=\"ml-dsa-65\";keyid=\"proxy\"", short, None),
        ("unknown-parameters", "via=\"proxy\";n=1", short, None),
        ("no-bytes", "keyid=\"proxy\"", "1", None),
        // Nothing tells it from the one that is meant.
        ("two-of-one-key", "same", "same", Some("bad-form")),
    ] {
        let more = [("signature-input", parameters), ("signature", bytes)].map(|(name, value)| {
            let own = good["message"]["fields"].as_array().unwrap().iter().find(|it| it[0] == name).unwrap();
            match value {
                "same" => json!([name, own[1].as_str().unwrap().replacen("gambeson=", "proxy=", 1)]),
                value if name == "signature" => json!([name, format!("proxy={value}")]),
                value => json!([name, format!("proxy=(\"@method\" \"x-not-there\");{value}")]),
            }
        });
        let mut both = good.clone();
        both["message"]["fields"].as_array_mut().unwrap().extend(more.clone());
        file.add(&format!("signature-beside-{id}"), both, expected);
        // In one field, and before ours.
        if expected.is_none() {
            let text = |at: usize| more[at][1].as_str().unwrap().to_owned();
            let joined = field(&good, "signature-input", |it| format!("{}, {it}", text(0)));
            let joined = field(&joined, "signature", |it| format!("{}, {it}", text(1)));
            file.add(&format!("signature-before-{id}"), joined, None);
        }
    }
    let tagged = Terms { tag: Some("a".into()), label: "b".into(), ..Terms::default() };
    let two = signed(alice, good["message"].clone(), &tagged);
    file.add("two-signatures-of-one-signer", two.clone(), Some("bad-form"));
    file.add("two-signatures-of-one-signer-and-a-tag", with(&two, json!({"tag": "a"})), None);
    // None of several is one that can be read here.
    let others = json!({"message": {"method": "GET", "target": URI, "fields": [
        ["Signature-Input", "a=();keyid=\"a\", b=();alg=\"ed25519\""], ["Signature", "a=:AAAA:, b=:AAAA:"]]}, "now": NOW.0});
    file.add("signatures-of-others-alone", others, Some("unsecured"));
    let of_carol = signed(carol, good["message"].clone(), &Terms { label: "c".into(), ..Terms::default() });
    file.add("two-signatures-of-two-signers", of_carol.clone(), Some("bad-form"));
    let from = |agent: &Agent| json!({"from": agent.did().as_str()});
    file.add("two-signatures-and-a-signer", with(&of_carol, from(carol)), None);
    file.add("two-signatures-and-the-other-signer", with(&of_carol, from(alice)), None);
    file.add(
        "two-signatures-and-a-stranger",
        with(&of_carol, from(&agent(29, Suite::Default))),
        Some("unsecured"),
    );
    file.add("request-of-the-signer", with(&good, from(alice)), None);
    file.add("request-of-another-signer", with(&good, from(carol)), Some("other-signer"));
}

/// A signer refuses what every verifier would: another digest, a label that is taken.
#[test]
fn a_message_that_its_verifier_would_refuse_is_not_signed() {
    let alice = agent(21, Suite::Default);
    let sign = |extra: Value, terms: &Terms| {
        let mut message = request();
        message["fields"].as_array_mut().unwrap().push(extra);
        with_message(&message, |message| http::sign(&alice, message, terms, NOW))
    };
    let right = http::content_digest(b"{\"amount\":5}");
    let wrong = http::content_digest(b"{\"amount\":6}");
    let uncovered = covering(&["@method"]);
    for (digest, terms, expected) in [
        (&wrong, &Terms::default(), Reason::WrongDigest),
        (&wrong, &uncovered, Reason::WrongDigest),
        (
            &format!("{right}, sha-256=:3DMgKEGTNpEQGPXGJXJ6qTfKzRgCBBLIkZgkPL3Go0c=:"),
            &Terms::default(),
            Reason::WrongDigest,
        ),
        (&"md5=:AAAA:".to_owned(), &Terms::default(), Reason::WrongDigest),
        (&"sha-512=\"a\"".to_owned(), &Terms::default(), Reason::BadForm),
        (&"!".to_owned(), &Terms::default(), Reason::BadForm),
    ] {
        let refused = sign(json!(["Content-Digest", digest]), terms).unwrap_err();
        assert_eq!(refused.reason(), expected, "{digest}");
    }
    assert!(sign(json!(["Content-Digest", right]), &Terms::default()).is_ok());
    let taken = json!(["Signature-Input", "gambeson=()"]);
    assert_eq!(sign(taken.clone(), &Terms::default()).unwrap_err().reason(), Reason::BadForm);
    assert!(sign(taken, &Terms { label: "second".into(), ..Terms::default() }).is_ok());
    // It would be beyond what a verifier reads.
    let long = json!(["Signature-Input", format!("a=(\"{}\")", "a".repeat(http::MAX_FIELD))]);
    let second = Terms { label: "second".into(), ..Terms::default() };
    assert_eq!(sign(long, &second).unwrap_err().reason(), Reason::TooLarge);
    let eight: Vec<String> = (0..http::MAX_SIGNATURES).map(|n| format!("s{n}=()")).collect();
    let eight = json!(["Signature-Input", eight.join(", ")]);
    assert_eq!(sign(eight, &second).unwrap_err().reason(), Reason::TooLarge);
    let short = Terms { lifetime: 0, ..Terms::default() };
    assert!(sign(json!(["X-A", "b"]), &short).is_ok());
}

/// Fields that the signer adds count, too.
#[test]
fn a_message_that_would_be_beyond_the_bounds_is_not_signed() {
    let alice = agent(21, Suite::Default);
    let sign = |fields: &[(String, String)], terms: &Terms| {
        http::sign(&alice, &Message::request("POST", URI, fields).with_body(b"5"), terms, NOW)
            .map_err(|error| error.reason())
    };
    let many = |count: usize| vec![("x-a".to_owned(), String::new()); count];
    for (count, expected) in [(253, Ok(3)), (254, Err(Reason::TooLarge)), (256, Err(Reason::TooLarge))] {
        assert_eq!(sign(&many(count), &Terms::default()).map(|added| added.len()), expected, "{count}");
    }
    let long = |length: usize| [("x-a".to_owned(), "a".repeat(length))];
    assert!(sign(&long(http::MAX_HEAD - 6000), &Terms::default()).is_ok());
    assert_eq!(sign(&long(http::MAX_HEAD - 1000), &Terms::default()), Err(Reason::TooLarge));
    let long = "a".repeat(http::MAX_FIELD);
    for terms in [
        Terms { label: long.clone(), ..Terms::default() },
        Terms { label: long[..30_000].into(), ..Terms::default() },
        Terms { tag: Some(long), ..Terms::default() },
    ] {
        assert_eq!(sign(&[], &terms), Err(Reason::TooLarge));
    }
    let most = Terms { label: "a".repeat(1000), tag: Some("b".repeat(1000)), ..Terms::default() };
    assert!(sign(&[], &most).is_ok());
}

/// Of two signatures by one signer without tags of their own, no policy chooses one.
#[test]
fn a_signature_that_no_verifier_could_choose_is_not_made() {
    let (alice, carol) = (agent(21, Suite::Default), agent(22, Suite::Cnsa2));
    let first =
        signed(&alice, request(), &Terms { tag: Some("a".into()), ..Terms::default() })["message"].clone();
    let second = |agent: &Agent, tag: Option<&str>| {
        let terms = Terms { label: "b".into(), tag: tag.map(str::to_owned), ..Terms::default() };
        with_message(&first, |message| http::sign(agent, message, &terms, NOW))
            .map_err(|error| error.reason())
            .map(drop)
    };
    assert_eq!(second(&alice, Some("b")), Ok(()));
    assert_eq!(second(&carol, Some("a")), Ok(()));
    assert_eq!(second(&carol, None), Ok(()));
    assert_eq!(second(&alice, Some("a")), Err(Reason::BadForm));
    assert_eq!(second(&alice, None), Err(Reason::BadForm));
}

#[test]
fn a_request_to_what_is_no_host_is_not_signed() {
    let alice = agent(21, Suite::Default);
    for host in ["[::1", "h:99999", "a..b", ".a", "a..", "[fe80::1%25eth0]", "h:", "h:1:2", "a%zz"] {
        let target = format!("https://{host}/");
        let signed = http::sign(&alice, &Message::request("GET", &target, &[]), &Terms::default(), NOW);
        match host {
            "h:" => assert!(signed.is_ok()),
            _ => assert_eq!(signed.unwrap_err().reason(), Reason::BadForm, "{host}"),
        }
    }
}

/// The request that is answered, too.
#[test]
fn a_response_to_a_request_with_ambiguous_framing_or_another_digest_is_not_signed() {
    let alice = agent(21, Suite::Default);
    let digest = http::content_digest(b"{\"amount\":6}");
    for (extra, expected) in [
        (["Transfer-Encoding", "chunked"], Reason::BadForm),
        (["Content-Length", "5"], Reason::BadForm),
        (["Host", "b.example"], Reason::BadForm),
        (["Content-Digest", &digest], Reason::WrongDigest),
    ] {
        let mut asked = request();
        asked["fields"].as_array_mut().unwrap().push(json!(extra));
        let answer = json!({"status": 200, "fields": [], "request": asked});
        let refused = with_message(&answer, |message| http::sign(&alice, message, &Terms::default(), NOW));
        assert_eq!(refused.unwrap_err().reason(), expected, "{extra:?}");
    }
}

/// The signer refuses what its verifier refuses.
#[test]
fn a_message_whose_framing_is_ambiguous_is_not_signed() {
    let alice = agent(21, Suite::Default);
    for extra in [["Transfer-Encoding", "chunked"], ["Content-Length", "5"], ["Host", "b.example"]] {
        let mut message = request();
        message["fields"].as_array_mut().unwrap().push(json!(extra));
        let refused = with_message(&message, |message| http::sign(&alice, message, &Terms::default(), NOW));
        assert_eq!(refused.unwrap_err().reason(), Reason::BadForm, "{extra:?}");
    }
}

fn forms(file: &mut File, alice: &Agent, carol: &Agent) {
    let good = signed(alice, request(), &Terms::default());
    let input = |change: &dyn Fn(&str) -> String| field(&good, "signature-input", change);
    let without = |name: &str| {
        input(&|it| {
            let start = it.find(&format!(";{name}=")).unwrap();
            let rest = &it[start + 1..];
            let end = rest.find(';').map_or(it.len(), |end| start + 1 + end);
            format!("{}{}", &it[..start], &it[end..])
        })
    };
    for name in ["created", "nonce", "keyid"] {
        file.add(&format!("form-without-{name}"), without(name), Some("bad-form"));
    }
    file.add("form-without-alg", without("alg"), Some("bad-signature"));
    for (id, from, to, expected) in [
        ("alg-of-rsa", "alg=\"ml-dsa-65\"", "alg=\"rsa-pss-sha512\"", "bad-algorithm"),
        ("alg-of-another-set", "alg=\"ml-dsa-65\"", "alg=\"ml-dsa-87\"", "bad-algorithm"),
        ("unknown-parameter", ";alg=", ";more=1;alg=", "bad-form"),
        ("created-as-text", "created=1795330800", "created=\"1795330800\"", "bad-form"),
        ("created-before-1970", "created=1795330800", "created=-1", "bad-form"),
        ("empty-nonce", "nonce=\"", "nonce=\"\";tag=\"", "bad-form"),
        ("relative-key", "keyid=\"did:", "keyid=\"dad:", "bad-did"),
        ("component-twice", "\"@method\"", "\"@method\" \"@method\"", "bad-form"),
        ("unknown-derived-component", "\"@method\"", "\"@methods\"", "bad-form"),
        ("capital-in-a-field-name", "\"content-type\"", "\"Content-Type\"", "bad-form"),
        ("field-that-is-not-there", "\"content-type\"", "\"content-type\" \"content-length\"", "bad-form"),
        ("component-as-token", "\"@method\"", "method", "bad-form"),
        ("trailer", "\"content-type\"", "\"content-type\";tr", "bad-form"),
        ("bs-of-a-derived-component", "\"@method\"", "\"@method\";bs", "bad-form"),
        ("bs-and-sf", "\"content-digest\"", "\"content-digest\";bs;sf", "bad-form"),
        ("sf-and-key", "\"content-digest\"", "\"content-digest\";key=\"sha-512\";sf", "bad-form"),
        ("sf-of-an-unknown-field", "\"content-type\"", "\"content-type\";sf", "bad-form"),
        (
            "key-that-is-not-there",
            "\"@method\"",
            "\"@method\" \"content-digest\";key=\"sha-256\"",
            "bad-form",
        ),
        ("name-of-a-field", "\"content-type\"", "\"content-type\";name=\"a\"", "bad-form"),
        ("query-parameter-without-name", "\"@method\"", "\"@query-param\"", "bad-form"),
        ("query-parameter-not-there", "\"@method\"", "\"@method\" \"@query-param\";name=\"x\"", "bad-form"),
        ("status-of-a-request", "\"@method\"", "\"@method\" \"@status\"", "bad-form"),
        ("request-of-a-request", "\"@method\"", "\"@method\" \"@method\";req", "bad-form"),
        ("another-component-in-place", "\"@method\"", "\"@scheme\"", "uncovered"),
        ("unclosed-list", "(", "((", "bad-form"),
        ("not-a-list", "gambeson=(", "gambeson=1, b=(", "bad-form"),
    ] {
        let changed = input(&|it| it.replacen(from, to, 1));
        assert_ne!(changed, good, "{id}");
        file.add(&format!("form-{id}"), changed, Some(expected));
    }
    let nine: Vec<String> = (0..8).map(|index| format!("s{index}=()")).collect();
    file.add("form-9-signatures", input(&|it| format!("{}, {it}", nine.join(", "))), Some("too-large"));
    let wide = |count: usize| {
        let mut wide = good.clone();
        let fields = wide["message"]["fields"].as_array_mut().unwrap();
        fields.extend((fields.len()..count).map(|_| json!(["x-a", ""])));
        wide
    };
    file.add("form-256-fields", wide(http::MAX_FIELDS), None);
    file.add("form-257-fields", wide(http::MAX_FIELDS + 1), Some("too-large"));
    let member = json!(["x-long", format!("a={}", "1".repeat(http::MAX_FIELD))]);
    let mut long = request();
    long["fields"].as_array_mut().unwrap().push(member);
    let long = signed(
        alice,
        long,
        &covering(&["@method", "@target-uri", "content-type", "content-digest", "x-long"]),
    );
    let parsed = field(&long, "signature-input", |it| it.replacen("\"x-long\"", "\"x-long\";key=\"a\"", 1));
    file.add("form-member-of-a-long-field", parsed, Some("too-large"));
    file.add("form-a-long-field", long, None);
    // Each covered value has room, and all of them have not.
    let twice = "x".repeat(70 << 10);
    let mut long = request();
    long["fields"].as_array_mut().unwrap().push(json!(["x-long", twice]));
    let terms = covering(&["@method", "@target-uri", "content-type", "content-digest", "x-long"]);
    let long = signed(alice, long, &terms);
    let both = field(&long, "signature-input", |it| it.replacen("\"x-long\"", "\"x-long\" \"x-long\";bs", 1));
    file.add("form-long-components", both, Some("too-large"));
    file.add("form-a-long-component", long, None);
    let of_query =
        |count: usize| message(&good, json!({"target": format!("{URI}{}", "&".repeat(count - 2))}));
    for (id, count, expected) in [("1024", 1024, "bad-signature"), ("1025", 1025, "too-large")] {
        let named = field(&of_query(count), "signature-input", |it| {
            it.replacen("\"@method\"", "\"@method\" \"@query-param\";name=\"id\"", 1)
        });
        file.add(&format!("form-{id}-query-parameters"), named, Some(expected));
    }
    let many: String = (0..65).map(|index| format!("\"a{index}\" ")).collect();
    file.add("form-65-components", input(&|it| it.replacen('(', &format!("({many}"), 1)), Some("too-large"));
    let twice = message(&good, json!({"target": format!("{URI}&id=8")}));
    let named = field(&twice, "signature-input", |it| {
        it.replacen("\"@method\"", "\"@method\" \"@query-param\";name=\"id\"", 1)
    });
    file.add("form-query-parameter-twice", named, Some("bad-form"));
    for (id, target) in [
        ("relative", "/pay"),
        ("of-ftp", "ftp://bank.example/"),
        ("with-a-fragment", "https://bank.example/#a"),
        ("with-a-user", "https://a@bank.example/"),
        ("without-host", "https:///pay"),
        ("with-a-port-alone", "https://:443/pay"),
        ("with-a-backslash", "https://bank.example\\pay"),
        ("with-a-space", "https://bank.example/ a"),
        ("with-an-open-bracket", "https://[::1/pay"),
        ("with-a-bracket-behind", "https://::1]/pay"),
        ("with-no-address-in-brackets", "https://[bank.example]/pay"),
        ("with-an-address-without-brackets", "https://2001:db8::1/pay"),
        ("with-a-zone", "https://[fe80::1%25eth0]/pay"),
        ("with-text-behind-an-address", "https://[::1]a/pay"),
        ("with-port-65536", "https://bank.example:65536/pay"),
        ("with-port-99999-of-an-address", "https://[::1]:99999/pay"),
        ("with-a-port-behind-a-zero", "https://bank.example:0443/pay"),
        ("with-two-gaps-in-an-address", "https://[1::2::3]/pay"),
        ("with-a-port-in-letters", "https://bank.example:https/pay"),
        ("with-a-signed-port", "https://bank.example:+443/pay"),
        ("with-two-ports", "https://bank.example:1:2/pay"),
        ("with-an-empty-label", "https://bank..example/pay"),
        ("with-an-empty-first-label", "https://.bank.example/pay"),
        ("with-two-dots-behind", "https://bank.example../pay"),
        ("with-a-dot-alone", "https://./pay"),
        ("with-a-malformed-escape", "https://bank%2.example/pay"),
    ] {
        file.add(&format!("form-target-{id}"), message(&good, json!({"target": target})), Some("bad-form"));
    }
    let lines = field(&good, "content-type", |_| "text/plain\n\"@method\": GET".into());
    file.add("form-field-of-two-lines", lines, Some("bad-form"));
    file.add("form-field-beyond-ascii", field(&good, "content-type", |_| "té".into()), Some("bad-form"));
    file.add("form-no-bytes", field(&good, "signature", |_| "gambeson=1".into()), Some("bad-form"));
    file.add(
        "form-another-label",
        field(&good, "signature", |it| it.replace("gambeson", "other")),
        Some("bad-form"),
    );
    file.add(
        "form-short-signature",
        field(&good, "signature", |_| "gambeson=:AAAA:".into()),
        Some("bad-signature"),
    );
    file.add(
        "form-long-signature",
        field(&good, "signature", |_| "A".repeat(http::MAX_FIELD + 1)),
        Some("too-large"),
    );
    let mut several = good.clone();
    let second = signed(
        carol,
        request(),
        &Terms { label: "second".into(), tag: Some("b".into()), ..Terms::default() },
    );
    for field in second["message"]["fields"].as_array().unwrap() {
        if field[0].as_str().unwrap().starts_with("signature") {
            several["message"]["fields"].as_array_mut().unwrap().push(field.clone());
        }
    }
    file.add("form-two-signatures", several.clone(), Some("bad-form"));
    // Which one counts is asked before any is read.
    let heavy = field(&several, "signature-input", |it| match it.starts_with("second") {
        true => it.replacen('(', &format!("({many}"), 1),
        false => it.to_owned(),
    });
    file.add("form-two-signatures-one-too-large", heavy, Some("bad-form"));
    file.add("two-signatures-and-a-tag", with(&several, json!({"tag": "b"})), None);

    let stranger = agent(29, Suite::Default);
    file.add("request-of-a-stranger", signed(&stranger, request(), &Terms::default()), Some("unknown-did"));
    let borrowed = signed(&stranger, request(), &Terms::default());
    let name = |agent: &Agent| agent.key_url(Role::Identity).to_string();
    let (ours, theirs) = (name(alice), name(&stranger));
    let borrowed = field(&borrowed, "signature-input", |it| it.replace(&theirs, &ours));
    file.add("request-in-the-name-of-another", borrowed, Some("bad-signature"));
    let missing = field(&good, "signature-input", |it| it.replace("identity-0", "identity-1"));
    file.add("request-of-a-key-that-is-not-there", missing, Some("unknown-key"));
}

fn responses(file: &mut File, server: &Agent, client: &Agent) {
    let plain = json!({"status": 200, "body": "done", "fields": [["content-type", "text/plain"]]});
    let good = signed(server, plain.clone(), &Terms::default());
    file.add("response", good.clone(), None);
    file.add("response-of-another-status", message(&good, json!({"status": 201})), Some("bad-signature"));
    file.add("response-of-status-99", message(&good, json!({"status": 99})), Some("bad-form"));
    let answer = message(&json!({"message": plain}), json!({"request": request()}))["message"].clone();
    let bound = signed(server, answer, &Terms::default());
    let required = json!({"required": ["@status", "\"@method\";req", "\"@target-uri\";req"]});
    file.add("response-to-a-request", with(&bound, required.clone()), None);
    file.add("response-not-bound-to-a-request", with(&good, required), Some("uncovered"));
    file.add("response-to-a-request-by-default", bound.clone(), None);
    let mut unbound = good.clone();
    unbound["message"]["request"] = request();
    file.add("response-that-does-not-say-to-what", unbound, Some("uncovered"));
    // The signature of the request, or else its content, tells one request from the next to the same target.
    for (id, asked) in [
        ("signed-request", signed(client, request(), &Terms::default())["message"].clone()),
        ("digested-request", {
            let mut asked = request();
            let digest = json!(["Content-Digest", http::content_digest(b"{\"amount\":5}")]);
            asked["fields"].as_array_mut().unwrap().push(digest);
            asked
        }),
    ] {
        let answer = |asked: &Value| with(&plain, json!({"request": asked}));
        let bound = signed(server, answer(&asked), &Terms::default());
        file.add(&format!("response-to-a-{id}"), bound.clone(), None);
        let name = if id == "signed-request" { "signature" } else { "content-digest" };
        let mut another = bound.clone();
        for field in another["message"]["request"]["fields"].as_array_mut().unwrap() {
            if field[0].as_str().unwrap().eq_ignore_ascii_case(name) {
                field[1] = "sha-512=:AAAA:".into();
            }
        }
        file.add(&format!("response-to-another-{id}"), another, Some("bad-signature"));
        let less = covering(&[
            "@status",
            "\"@method\";req",
            "\"@target-uri\";req",
            "content-type",
            "content-digest",
        ]);
        let less = signed(server, answer(&asked), &less);
        file.add(&format!("response-to-any-{id}"), less, Some("uncovered"));
    }
    answered_requests(file, server, client, &plain);
    let mut other = bound.clone();
    other["message"]["request"]["method"] = "GET".into();
    file.add("response-to-another-request", other, Some("bad-signature"));
    let mut alone = bound.clone();
    alone["message"].as_object_mut().unwrap().remove("request");
    file.add("response-whose-request-is-not-there", alone, Some("bad-form"));
}

/// The request that is answered is read as one that is verified itself: its framing, and its content against its digest.
fn answered_requests(file: &mut File, server: &Agent, client: &Agent, plain: &Value) {
    let asked = signed(client, request(), &Terms::default())["message"].clone();
    let bound = signed(server, with(plain, json!({"request": asked})), &Terms::default());
    for (id, fields, expected) in [
        ("its-length", &[("Content-Length", "12")][..], None),
        ("a-shorter-length", &[("Content-Length", "11")], Some("bad-form")),
        ("a-greater-length", &[("content-length", "500")], Some("bad-form")),
        ("a-length-with-a-sign", &[("Content-Length", "+12")], Some("bad-form")),
        ("its-length-twice", &[("Content-Length", "12"), ("content-length", "12")], Some("bad-form")),
        ("a-transfer-coding", &[("Transfer-Encoding", "chunked")], Some("bad-form")),
        ("two-hosts", &[("host", "evil.example")], Some("bad-form")),
        ("two-content-types", &[("content-type", "text/plain")], Some("bad-form")),
    ] {
        let mut vector = bound.clone();
        let all = vector["message"]["request"]["fields"].as_array_mut().unwrap();
        all.extend(fields.iter().map(|(name, value)| json!([name, value])));
        file.add(&format!("response-to-a-request-with-{id}"), vector, expected);
    }
    let to = |change: &dyn Fn(&mut Value)| {
        let mut vector = bound.clone();
        change(&mut vector["message"]["request"]);
        vector
    };
    let another = to(&|asked| asked["body"] = "{\"amount\":6}".into());
    file.add("response-to-a-request-with-another-body", another, Some("wrong-digest"));
    let gone = to(&|asked| asked["body"] = "".into());
    file.add("response-to-a-request-whose-body-was-removed", gone, Some("wrong-digest"));
    let unknown = to(&|asked| drop(asked.as_object_mut().unwrap().remove("body")));
    file.add("response-to-a-request-whose-body-is-not-at-hand", unknown, None);
    let digest = http::content_digest(b"{\"amount\":6}");
    let swapped = to(&|asked| {
        asked["body"] = "{\"amount\":6}".into();
        for field in asked["fields"].as_array_mut().unwrap() {
            if field[0] == "content-digest" {
                field[1] = digest.clone().into();
            }
        }
    });
    file.add("response-to-a-request-with-another-body-and-digest", swapped, Some("bad-signature"));
    let names = [
        "@status",
        "\"@method\";req",
        "\"@target-uri\";req",
        "\"signature\";req",
        "content-type",
        "content-digest",
    ];
    let less = signed(
        server,
        bound["message"].clone(),
        &Terms { label: "less".into(), tag: Some("less".into()), ..covering(&names) },
    );
    file.add(
        "response-to-a-signed-request-but-not-its-digest",
        with(&less, json!({"tag": "less"})),
        Some("uncovered"),
    );
}

#[test]
fn messages_are_taken_or_refused_as_the_file_says() {
    let (alice, carol) = (agent(21, Suite::Default), agent(22, Suite::Cnsa2));
    let mut file = File::default();
    for (id, agent) in [("agent-alice", &alice), ("agent-carol", &carol)] {
        let from = Timestamp(NOW.0 - 3600);
        let card = agent.first_card(from, from.after(30 * 86_400), &CardContent::default()).unwrap();
        let log = CardLog::new(card).unwrap();
        file.vectors
            .push(json!({"id": id, "kind": "cards", "did": log.did().as_str(), "log": log.to_lines(),
            "result": "accept"}));
        file.known.add(log).unwrap();
    }
    requests(&mut file, &alice, &carol);
    framing(&mut file, &alice);
    targets(&mut file, &alice);
    beside(&mut file, &alice, &carol);
    forms(&mut file, &alice, &carol);
    responses(&mut file, &alice, &carol);
    assert_eq!(file.surprises, Vec::<String>::new());
    let rejects = file.vectors.iter().filter(|vector| vector["result"] == "reject").count();
    assert_eq!((file.vectors.len(), rejects), (214, 155));
    vector_file::committed("httpsig", file.vectors, 214);
}

#[test]
fn no_more_than_eight_signatures_of_a_message_are_read() {
    let read = |count: usize| {
        let fields: Fields = (0..count)
            .flat_map(|n| [("Signature-Input", format!("s{n}=()")), ("Signature", format!("s{n}=:AAAA:"))])
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        Signature::read(&Message::request("GET", URI, &fields), None).map(|found| found.len())
    };
    assert_eq!(read(http::MAX_SIGNATURES), Ok(8));
    assert_eq!(read(http::MAX_SIGNATURES + 1).unwrap_err().reason(), Reason::TooLarge);
}

#[test]
fn only_the_two_keys_for_it_sign_http() {
    let alice = agent(21, Suite::Default);
    let message = Message::request("GET", URI, &[]);
    for role in Role::ALL.into_iter().filter(|role| !matches!(role, Role::Identity | Role::Signing)) {
        let refused = http::sign(&alice, &message, &Terms { role, ..Terms::default() }, NOW);
        assert_eq!(refused.unwrap_err().reason(), Reason::WrongPurpose, "{role:?}");
    }
}

/// The values of RFC 9421, §2: what each component is of the messages in its examples.
#[test]
fn components_have_the_values_of_rfc_9421() {
    let get = "https://www.example.com/path?param=value&foo=bar&baz=batman&qux=";
    let odd = "https://www.example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value\
        &bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something";
    let list: Fields = [
        ("Host", "www.example.com"),
        ("Date", "Tue, 20 Apr 2021 02:07:56 GMT"),
        ("X-OWS-Header", "  Leading and trailing whitespace.    "),
        ("Cache-Control", "max-age=60"),
        ("Cache-Control", "   must-revalidate"),
        ("Example-Dict", "a=1,    b=2;x=1;y=2,   c=(a   b   c), d"),
        ("X-Empty-Header", ""),
        ("Example-Header", "value, with, lots"),
        ("Example-Header", "of, commas"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let mut checked = 0;
    for (target, component, expected) in [
        (get, "\"@method\"", "POST"),
        (get, "\"@target-uri\"", get),
        ("HTTPS://WWW.Example.COM:443/path", "\"@authority\"", "www.example.com"),
        ("HTTPS://WWW.Example.COM:443", "\"@target-uri\"", "https://www.example.com/"),
        ("http://www.example.com:8080", "\"@authority\"", "www.example.com:8080"),
        ("HTTP://www.example.com", "\"@scheme\"", "http"),
        (get, "\"@request-target\"", "/path?param=value&foo=bar&baz=batman&qux="),
        (get, "\"@path\"", "/path"),
        ("https://www.example.com", "\"@path\"", "/"),
        (get, "\"@query\"", "?param=value&foo=bar&baz=batman&qux="),
        ("https://www.example.com/path?queryString", "\"@query\"", "?queryString"),
        ("https://www.example.com/path", "\"@query\"", "?"),
        (get, "\"@query-param\";name=\"baz\"", "batman"),
        (get, "\"@query-param\";name=\"qux\"", ""),
        (odd, "\"@query-param\";name=\"var\"", "this%20is%20a%20big%0Amultiline%20value"),
        (odd, "\"@query-param\";name=\"bar\"", "with%20plus%20whitespace"),
        (odd, "\"@query-param\";name=\"fa%C3%A7ade%22%3A%20\"", "something"),
        (get, "\"x-ows-header\"", "Leading and trailing whitespace."),
        (get, "\"cache-control\"", "max-age=60, must-revalidate"),
        (get, "\"example-dict\"", "a=1,    b=2;x=1;y=2,   c=(a   b   c), d"),
        (get, "\"example-dict\";key=\"a\"", "1"),
        (get, "\"example-dict\";key=\"b\"", "2;x=1;y=2"),
        (get, "\"example-dict\";key=\"c\"", "(a b c)"),
        (get, "\"example-dict\";key=\"d\"", "?1"),
        (get, "\"x-empty-header\"", ""),
        (get, "\"example-header\";bs", ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:"),
    ] {
        let mut fields = list.clone();
        fields.push(("Signature-Input".into(), format!("s=({component})")));
        fields.push(("Signature".into(), "s=:AAAA:".into()));
        let message = Message::request("POST", target, &fields);
        let read = Signature::read(&message, None).unwrap();
        let line = read[0].base().lines().next().unwrap();
        assert_eq!(line, format!("{component}: {expected}"));
        checked += 1;
    }
    assert_eq!(checked, 26);
}

struct C2sp {
    algorithm: Algorithm,
    key: Vec<u8>,
    base: String,
    input: String,
    signature: Vec<u8>,
}

impl C2sp {
    fn read(&self, input: &str, signature: &[u8], target: &str) -> Result<Signature> {
        let mut signature_field = sfv_bytes(signature);
        signature_field.insert_str(0, "sig1=");
        let fields: Fields = vec![
            ("host".into(), "example.com".into()),
            ("date".into(), "Mon, 06 Jul 2026 20:00:00 GMT".into()),
            ("signature-input".into(), input.into()),
            ("signature".into(), signature_field),
        ];
        Ok(Signature::read(&Message::request("GET", target, &fields), None)?.remove(0))
    }
}

fn sfv_bytes(bytes: &[u8]) -> String {
    sfv::ItemSerializer::new().bare_item(bytes).finish()
}

fn base64(text: &Value) -> Vec<u8> {
    let text = format!(":{}:", text.as_str().unwrap());
    let item: sfv::Item = sfv::Parser::new(&text).parse().unwrap();
    item.bare_item.as_byte_sequence().unwrap().to_vec()
}

/// Its three sets, each with seven changes that must be refused.
#[test]
fn the_vectors_of_c2sp_httpsig_pq_verify() {
    let file: Value = serde_json::from_str(include_str!("../../../../vectors/c2sp/httpsig-pq.json")).unwrap();
    let (mut good, mut bad) = (0, 0);
    let reason = |result: Result<()>| result.unwrap_err().reason();
    for vector in file["vectors"].as_array().unwrap() {
        let name = vector["algorithm"].as_str().unwrap();
        let set = C2sp {
            algorithm: Algorithm::ALL.into_iter().find(|algorithm| algorithm.http() == name).unwrap(),
            key: base64(&vector["public_key_base64"]),
            base: String::from_utf8(base64(&vector["signature_base_base64"])).unwrap(),
            input: vector["serialized_signature_input"].as_str().unwrap()["Signature-Input: ".len()..]
                .to_owned(),
            signature: base64(&vector["deterministic_signature_base64"]),
        };
        let uri = "https://example.com/foo?param=Value&Pet=dog";
        let key = VerifyingKey::from_bytes(set.algorithm, &set.key).unwrap();
        let read = set.read(&set.input, &set.signature, uri).unwrap();
        assert_eq!(read.base(), set.base);
        assert_eq!(read.verify_with(&key), Ok(()));
        let seed = hex(vector["private_key_seed_hex"].as_str().unwrap());
        assert_eq!(
            deterministic(set.algorithm, &seed, set.base.as_bytes()),
            (set.key.clone(), set.signature.clone())
        );
        good += 1;

        let elsewhere =
            set.read(&set.input, &set.signature, "https://example.com/foo?param=value&Pet=dog").unwrap();
        assert_eq!(reason(elsewhere.verify_with(&key)), Reason::BadSignature);
        let later = set.read(&set.input.replace("1783368000", "1783368001"), &set.signature, uri).unwrap();
        assert_eq!(reason(later.verify_with(&key)), Reason::BadSignature);
        let mut flipped = set.signature.clone();
        flipped[100] ^= 1;
        assert_eq!(
            reason(set.read(&set.input, &flipped, uri).unwrap().verify_with(&key)),
            Reason::BadSignature
        );
        let short = &set.signature[..set.signature.len() - 1];
        assert_eq!(reason(set.read(&set.input, short, uri).unwrap().verify_with(&key)), Reason::BadSignature);
        let other = Algorithm::ALL.into_iter().find(|algorithm| *algorithm != set.algorithm).unwrap();
        let renamed = set.read(&set.input.replace(name, other.http()), &set.signature, uri).unwrap();
        assert_eq!(reason(renamed.verify_with(&key)), Reason::BadAlgorithm);
        let foreign = agent(30, Suite::Default).key(Role::Log).verifying_key();
        let stranger = match set.algorithm {
            Algorithm::MlDsa44 => foreign,
            Algorithm::MlDsa65 => agent(30, Suite::Default).key(Role::Signing).verifying_key(),
            Algorithm::MlDsa87 => agent(30, Suite::Cnsa2).key(Role::Signing).verifying_key(),
        };
        assert_eq!(reason(read.verify_with(&stranger)), Reason::BadSignature);
        assert_eq!(
            VerifyingKey::from_bytes(set.algorithm, &set.key[1..]).unwrap_err().reason(),
            Reason::BadKey
        );
        bad += 7;
    }
    assert_eq!((good, bad), (3, 21));
}

fn hex(text: &str) -> [u8; 32] {
    let bytes: Vec<u8> =
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
    bytes.try_into().unwrap()
}

/// The public key of a seed, and the deterministic signature with it.
fn deterministic(algorithm: Algorithm, seed: &[u8; 32], message: &[u8]) -> (Vec<u8>, Vec<u8>) {
    fn of<P: mldsa::ParameterSet>(seed: &[u8; 32], message: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let key = mldsa::SigningKey::<P>::from_seed(seed);
        let signature = key.sign_deterministic(message);
        (key.verifying_key().as_bytes().as_ref().to_vec(), signature.as_ref().to_vec())
    }
    match algorithm {
        Algorithm::MlDsa44 => of::<MlDsa44>(seed, message),
        Algorithm::MlDsa65 => of::<MlDsa65>(seed, message),
        Algorithm::MlDsa87 => of::<MlDsa87>(seed, message),
    }
}
