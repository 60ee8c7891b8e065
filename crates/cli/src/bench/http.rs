//! `bench http`: what a signed HTTP message costs its verifier, and messages that are refused, among them such as an attacker
//! would make to cost the most.

use super::{Case, Work, black_box};
use crate::args::Bench;
use crate::console::{Console, duration};
use crate::error::{Error, Status};
use gambeson_identity::http::{self, Component, Message, Policy, Terms};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, MasterSeed, MemoryReplayCache, Suite, Timestamp,
};
use serde_json::json;

/// The longest time that a message may take which is refused, in nanoseconds.
const ALLOWED: f64 = 1e6;

const URI: &str = "https://bank.example/pay";
const NOW: Timestamp = Timestamp(1_795_330_800);

type Fields = Vec<(String, String)>;

/// A field with a dictionary of 60 members, `len` bytes in all, of which a signature covers each.
fn sixty(len: usize) -> (Fields, Vec<Component>) {
    let keys: Vec<String> = (10..70).map(|n| format!("k{n}")).collect();
    let member = |key: &String| format!("{key}=\"{}\"", "x".repeat(len / 60 - 8));
    let value = keys.iter().map(member).collect::<Vec<_>>().join(", ");
    let names = keys.iter().map(|key| format!("\"odd\";key=\"{key}\""));
    let usual = ["@method", "@target-uri", "content-digest"].map(str::to_owned);
    let parsed = usual.into_iter().chain(names).map(|name| name.parse());
    (vec![("odd".to_owned(), value)], parsed.collect::<Result<_, _>>().expect("components"))
}

/// A request, and the work of its verifier at a time so many seconds after it was signed.
fn request(
    fields: Fields,
    components: Vec<Component>,
    body: usize,
    change: fn(&mut Fields),
    after: u64,
) -> Work {
    let agent = Agent::with_suite(MasterSeed::from_bytes(&[7; 32]), Suite::Default);
    let card = agent.first_card(NOW, NOW.after(86_400), &CardContent::default()).expect("a card");
    let mut known = CardStore::default();
    known.add(CardLog::new(card).expect("a log")).expect("the first log");
    let body = vec![b'x'; body];
    let terms = Terms { components, ..Terms::default() };
    let message = Message::request("POST", URI, &fields).with_body(&body);
    let signed = http::sign(&agent, &message, &terms, NOW).expect("a message that can be signed");
    let mut fields = [fields, signed].concat();
    change(&mut fields);
    Box::new(move || {
        let message = Message::request("POST", URI, &fields).with_body(&body);
        let mut replay = MemoryReplayCache::new(1);
        let verdict = http::verify(&message, &Policy::default(), &known, NOW.after(after), &mut replay);
        _ = black_box(verdict);
    })
}

fn same(_: &mut Fields) {}

fn verified() -> Work {
    request(Fields::new(), Vec::new(), 1024, same, 0)
}

fn expired<const BODY: usize>() -> Work {
    let (fields, components) = sixty(30_000);
    request(fields, components, BODY, same, 121)
}

fn forged() -> Work {
    let (fields, components) = sixty(30_000);
    request(fields, components, 24_000, |fields| fields[0].1 = fields[0].1.replacen('x', "y", 1), 0)
}

/// As much as is covered, each byte of it twice.
fn longest() -> Work {
    let value = "x".repeat(http::MAX_HEAD / 5 * 2);
    let names = ["@method", "@target-uri", "content-digest", "odd", "\"odd\";bs"];
    let components = names.into_iter().map(|name| name.parse().expect("a component")).collect();
    let change = |fields: &mut Fields| fields[0].1.replace_range(..1, "y");
    request(vec![("odd".to_owned(), value)], components, 1024, change, 0)
}

/// As many fields, and as many bytes of them, as are read.
fn widest() -> Work {
    let change = |fields: &mut Fields| {
        let len: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
        let more = http::MAX_FIELDS - fields.len();
        let value = "x".repeat((http::MAX_HEAD - len) / more - 1);
        fields.extend((0..more).map(|_| ("y".to_owned(), value.clone())));
    };
    request(Fields::new(), Vec::new(), 0, change, 121)
}

/// More members of a dictionary than signatures are read.
fn many_signatures() -> Work {
    let change = |fields: &mut Fields| {
        let members: Vec<String> = (0..http::MAX_FIELD / 9).map(|n| format!("s{n:04}=()")).collect();
        fields[1].1 = members.join(",");
    };
    request(vec![("x".to_owned(), String::new())], Vec::new(), 0, change, 0)
}

fn too_large() -> Work {
    let change =
        |fields: &mut Fields| fields.extend((0..500_000).map(|_| ("a".to_owned(), "b, c".to_owned())));
    request(Fields::new(), Vec::new(), 0, change, 0)
}

/// Every row; all but the first are refused.
pub(super) fn cases() -> Vec<Case> {
    let row = |operation, form, prepare: fn() -> Work| Case {
        algorithm: "Signed HTTP",
        operation,
        form,
        by: "gambeson",
        kernels: Some(gambeson::mldsa::kernels),
        bytes: None,
        lengths: None,
        prepare,
        published_us: None,
    };
    vec![
        row("Verify", "1 KiB", verified),
        row("Refuse expired", "56 KB", expired::<24_000>),
        row("Refuse expired", "2.6 MB", expired::<2_600_000>),
        row("Refuse forged", "56 KB", forged),
        row("Refuse forged", "128 KiB", longest),
        row("Refuse expired", "128 KiB", widest),
        row("Refuse many", "32 KiB", many_signatures),
        row("Refuse long", "2.5 MB", too_large),
    ]
}

/// The longest median of a refused message; with `--check`, more than [`ALLOWED`] fails.
pub(super) fn check(console: Console, options: &Bench, medians: &[(&Case, f64)]) -> Result<Status, Error> {
    let refused = medians.iter().filter(|(case, _)| case.operation.starts_with("Refuse"));
    let Some((case, longest)) = refused.max_by(|one, two| one.1.total_cmp(&two.1)) else {
        return Ok(Status::Done);
    };
    let well = *longest <= ALLOWED;
    console.report(
        format_args!(
            "the dearest refused message ({}, {}) {}, at most {} {}",
            case.operation,
            case.form,
            duration(*longest),
            duration(ALLOWED),
            if well { "allowed" } else { "allowed: TOO SLOW" }
        ),
        json!({"type": "promise", "name": "the dearest refused message", "figure": longest, "goal": ALLOWED, "unit": "ns", "ok": well}),
    )?;
    Ok(if options.check && !well { Status::NotVerified } else { Status::Done })
}
