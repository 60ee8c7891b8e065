//! Bounds of messages, and the order of the checks: counters show what ran before a message was refused.

use super::*;
use crate::counts::{self, Counts};
use crate::{CardContent, CardLog, CardStore, Did, DidDocument, MasterSeed, MemoryReplayCache, Suite};
use core::cell::Cell;

const NOW: Timestamp = Timestamp(1_795_330_800);
const URI: &str = "https://bank.example/pay";

type Fields = Vec<(String, String)>;

/// Resolves the one agent, and counts how often it is asked.
struct Counting(CardStore, Cell<usize>);

impl Resolver for Counting {
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<std::sync::Arc<DidDocument>> {
        self.1.set(self.1.get() + 1);
        self.0.resolve(did, now)
    }
}

fn alice() -> (Agent, Counting) {
    let agent = Agent::with_suite(MasterSeed::from_bytes(&[21; 32]), Suite::Default).deterministic();
    let card = agent.first_card(NOW, NOW.after(86_400), &CardContent::default()).unwrap();
    let mut known = CardStore::default();
    known.add(CardLog::new(card).unwrap()).unwrap();
    (agent, Counting(known, Cell::new(0)))
}

fn field(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

/// A field with a dictionary of 60 members, and what covers each of them besides the usual components.
fn sixty() -> (Fields, Vec<Component>) {
    let keys: Vec<String> = (0..60).map(|n| format!("k{n}")).collect();
    let value =
        keys.iter().map(|key| format!("{key}=\"{}\"", "x".repeat(400))).collect::<Vec<_>>().join(", ");
    let names = keys.iter().map(|key| format!("\"odd\";key=\"{key}\""));
    let usual = ["@method", "@target-uri", "content-digest"].map(str::to_owned);
    let components = usual.into_iter().chain(names).map(|name| name.parse().unwrap()).collect();
    (vec![field("odd", value)], components)
}

fn signed(agent: &Agent, terms: &Terms, mut fields: Fields, body: &[u8]) -> Fields {
    let added = sign(agent, &Message::request("POST", URI, &fields).with_body(body), terms, NOW).unwrap();
    fields.extend(added);
    fields
}

fn replaced(fields: &Fields, name: &str, from: &str, to: &str) -> Fields {
    let change = |(at, value): &(String, String)| match at == name {
        true => {
            assert!(value.contains(from), "{from}");
            field(at, value.replacen(from, to, 1))
        }
        false => field(at, value.as_str()),
    };
    fields.iter().map(change).collect()
}

fn with(fields: &Fields, more: Fields) -> Fields {
    [fields.clone(), more].concat()
}

#[test]
fn no_hash_and_no_signature_operation_runs_before_the_cheap_checks() {
    let (agent, known) = alice();
    let body = vec![b'x'; 2_600_000];
    let (fields, components) = sixty();
    let good = signed(&agent, &Terms { components, ..Terms::default() }, fields, &body);
    let input = |from: &str, to: &str| replaced(&good, "signature-input", from, to);
    let many: String = (0..65).map(|n| format!("\"a{n}\" ")).collect();
    let nine = (0..9).map(|n| format!("a{n}=(\"@method\")")).collect::<Vec<_>>().join(", ");
    let key = agent.key_url(Role::Identity).to_string();
    let case = |at: u64, fields: &Fields, expected| (at, fields.clone(), expected);
    let cases = [
        case(121, &good, Reason::Expired),
        case(0, &input("created=1795330800", "created=1795330831"), Reason::NotYetValid),
        case(0, &input("expires=1795330920", "expires=1795330799"), Reason::Expired),
        case(0, &input("\"content-digest\" ", ""), Reason::Uncovered),
        case(0, &input("\"@target-uri\" ", ""), Reason::Uncovered),
        case(0, &with(&good, vec![field("content-encoding", "gzip")]), Reason::Uncovered),
        case(0, &input("(", &format!("({many}")), Reason::TooLarge),
        case(0, &input("\"@method\"", "\"@method\" \"@method\""), Reason::BadForm),
        case(0, &input("\"@method\"", "\"@method\" \"@methods\""), Reason::BadForm),
        case(0, &input("ml-dsa-65", "rsa-pss-sha512"), Reason::BadAlgorithm),
        case(0, &input(&key, "key-1"), Reason::BadDid),
        case(0, &input(";nonce=", ";nonce=\"\";tag="), Reason::BadForm),
        case(0, &replaced(&good, "signature", "gambeson=:", "gambeson=:AAAA"), Reason::BadSignature),
        case(0, &replaced(&good, "signature", "gambeson=:", "other=:"), Reason::BadForm),
        case(0, &with(&good, vec![field("signature-input", nine)]), Reason::TooLarge),
        case(0, &with(&good, vec![field("a", "a".repeat(MAX_HEAD))]), Reason::TooLarge),
        case(0, &with(&good, vec![field("a", ""); MAX_FIELDS]), Reason::TooLarge),
        case(0, &with(&good, vec![field("host", "a"), field("host", "a")]), Reason::BadForm),
        case(0, &with(&good, vec![field("content-length", "1")]), Reason::BadForm),
    ];
    for (index, (later, fields, expected)) in cases.into_iter().enumerate() {
        let message = Message::request("POST", URI, &fields).with_body(&body);
        let mut replay = MemoryReplayCache::new(1);
        counts::take();
        let refused =
            verify(&message, &Policy::default(), &known, NOW.after(later), &mut replay).unwrap_err();
        let ran = counts::take();
        assert_eq!(refused.reason(), expected, "case {index}: {refused}");
        assert_eq!((ran.hashes, ran.verifications, ran.values), (0, 0, 0), "case {index}");
        assert!(ran.parses <= 2, "case {index}: signature-input and signature, not {}", ran.parses);
        assert_eq!(known.1.take(), 0, "case {index}: the signer was looked up");
    }
    // The signer is not known: looked up, and no more.
    let stranger = Agent::with_suite(MasterSeed::from_bytes(&[29; 32]), Suite::Default).deterministic();
    let fields = signed(&stranger, &Terms::default(), Fields::new(), &body);
    counts::take();
    let message = Message::request("POST", URI, &fields).with_body(&body);
    let refused =
        verify(&message, &Policy::default(), &known, NOW, &mut MemoryReplayCache::new(1)).unwrap_err();
    assert_eq!(
        (refused.reason(), counts::take()),
        (Reason::UnknownDid, Counts { parses: 2, ..Counts::default() })
    );
}

#[test]
fn a_field_is_parsed_once_and_the_content_is_hashed_after_the_signature() {
    let (agent, known) = alice();
    let (fields, components) = sixty();
    let good = signed(&agent, &Terms { components, ..Terms::default() }, fields, b"body");
    let run = |fields: &Fields| {
        counts::take();
        let message = Message::request("POST", URI, fields).with_body(b"body");
        let verdict = verify(&message, &Policy::default(), &known, NOW, &mut MemoryReplayCache::new(1));
        (verdict.err().map(|error| error.reason()), counts::take())
    };
    let once = Counts { hashes: 1, verifications: 1, values: 63, parses: 4 };
    assert_eq!(run(&good), (None, once));
    let forged = replaced(&good, "odd", "xxxx", "yyyy");
    let unhashed = Counts { hashes: 0, parses: 3, ..once };
    assert_eq!(run(&forged), (Some(Reason::BadSignature), unhashed));
}

#[test]
fn a_query_is_decoded_once_and_its_parameters_are_bounded() {
    let (agent, known) = alice();
    let names: Vec<String> = (0..60).map(|n| format!("p{n}")).collect();
    let uri = |more: usize| {
        let pairs = names.iter().map(|name| format!("{name}=1&"));
        format!("{URI}?{}{}", pairs.collect::<String>(), "&".repeat(more))
    };
    let components: Vec<Component> = ["@method".to_owned(), "@target-uri".to_owned()]
        .into_iter()
        .chain(names.iter().map(|name| format!("\"@query-param\";name=\"{name}\"")))
        .map(|name| name.parse().unwrap())
        .collect();
    let terms = Terms { components, ..Terms::default() };
    let target = uri(0);
    let fields = sign(&agent, &Message::request("GET", &target, &[]), &terms, NOW).unwrap();
    counts::take();
    let message = Message::request("GET", &target, &fields);
    verify(&message, &Policy::default(), &known, NOW, &mut MemoryReplayCache::new(1)).unwrap();
    assert_eq!(counts::take(), Counts { hashes: 0, verifications: 1, values: 62, parses: 3 });
    let target = uri(MAX_PARAMETERS);
    let refused = sign(&agent, &Message::request("GET", &target, &[]), &terms, NOW).unwrap_err();
    assert_eq!(refused.reason(), Reason::TooLarge);
}

/// The signer refuses what its verifier refuses for its size.
#[test]
fn a_message_beyond_the_bounds_is_not_signed_and_its_signatures_are_not_read() {
    let (agent, _) = alice();
    let long = [field("a", "a".repeat(MAX_HEAD))];
    let many = vec![field("a", ""); MAX_FIELDS + 1];
    let target = format!("{URI}?{}", "a".repeat(MAX_HEAD));
    let request = Message::request("GET", URI, &long);
    for (message, what) in [
        (Message::request("GET", URI, &long), "a long field"),
        (Message::request("GET", URI, &many), "many fields"),
        (Message::request("GET", &target, &[]), "a long target"),
        (Message::response(200, &[]).answering(&request), "a long request"),
    ] {
        let signed = sign(&agent, &message, &Terms::default(), NOW).unwrap_err().reason();
        assert_eq!(signed, Reason::TooLarge, "{what}");
        assert_eq!(Signature::read(&message, None).unwrap_err().reason(), Reason::TooLarge, "{what}");
    }
    let components = (0..65).map(|n| format!("\"a\";key=\"a{n}\"").parse().unwrap()).collect();
    let fields = [field("a", (0..65).map(|n| format!("a{n}")).collect::<Vec<_>>().join(","))];
    let terms = Terms { components, ..Terms::default() };
    let refused = sign(&agent, &Message::request("GET", URI, &fields), &terms, NOW).unwrap_err();
    assert_eq!(refused.reason(), Reason::TooLarge);
}
