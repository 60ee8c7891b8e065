//! `vectors/backup.json`: backups that open, and what is to be refused.

#![allow(clippy::unwrap_used)] // A test may fail that way.

use super::tests::{NOW, SUITES, agent, cards};
use super::*;
use crate::vector_file;
use crate::{CardContent, Retired};
use serde_json::{Value, json};

const OBJECT_BYTES: &[u8] = b"the user prefers short answers";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Seals an archive to the agent's own key, with its authentication.
fn by_hand(agent: &Agent, archive: &[u8]) -> Vec<u8> {
    encrypt(agent, &[archive, &agent.backup_mac(archive)].concat()).unwrap()
}

fn good(id: &str, agent: &Agent, file: &[u8]) -> Value {
    // A fresh machine: it knows no index.
    let found = Backup::open(&self::agent(agent.suite(), 1), file).unwrap();
    let credentials: serde_json::Map<_, _> =
        found.credentials().map(|(name, bytes)| (name.to_owned(), hex(bytes).into())).collect();
    let objects: serde_json::Map<_, _> =
        found.objects().map(|(id, bytes)| (id.to_string(), hex(bytes).into())).collect();
    let state: serde_json::Map<_, _> = State::ALL
        .into_iter()
        .filter_map(|state| Some((state.name().to_owned(), hex(found.state(state)?).into())))
        .collect();
    json!({
        "id": id, "suite": agent.suite().name(), "seed": "01".repeat(32), "did": agent.did().as_str(), "file": hex(file),
        "expect": {
            "made": found.made().to_string(), "cards": found.cards, "credentials": credentials, "objects": objects,
            "state": state,
        },
    })
}

fn rejected(mut vector: Value, found: Result<Backup>, reason: Reason) -> Value {
    assert_eq!(found.err().map(|error| error.reason()), Some(reason), "{}", vector["id"]);
    vector["result"] = "reject".into();
    vector["reason"] = reason.code().into();
    vector
}

fn of_suite(suite: Suite) -> Vec<Value> {
    let name = suite.name();
    let id = |what: &str| format!("{name}-{what}");
    let mut agent = agent(suite, 1).deterministic();
    let mut backup = Backup::new(&agent, NOW);
    let mut all = vec![good(&id("empty"), &agent, &backup.seal(&agent).unwrap())];
    backup.add_credential("employer.jwt", b"eyJ...").unwrap();
    backup.add_credential("A", b"").unwrap();
    let object = backup.add_object(OBJECT_BYTES).unwrap();
    let file = backup.seal(&agent).unwrap();
    let base = id("base");
    all.push(good(&base, &agent, &file));
    let mut with_state = backup.clone();
    for (state, bytes) in State::ALL.into_iter().zip([&br#"{"version":1,"grants":{}}"#[..], b"", b"\xff\0"]) {
        with_state.set_state(state, bytes).unwrap();
    }
    all.push(good(&id("state"), &agent, &with_state.seal(&agent).unwrap()));
    let mut one = Backup::new(&agent, NOW);
    one.set_state(State::Seen, b"{}").unwrap();
    all.push(good(&id("one-state"), &agent, &one.seal(&agent).unwrap()));

    let with = |what: &str, edit: Value| {
        let mut vector = json!({"id": id(what), "of": base});
        vector.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
        vector
    };
    let header = match suite {
        Suite::Default => file.windows(3).position(|three| three == b"---").unwrap(),
        Suite::Cnsa2 => 16 + 1568,
    };
    for (what, at, reason) in [
        ("magic", 0, Reason::BadForm),
        ("key-check", header + 10, Reason::CannotOpen),
        ("ciphertext", file.len() - 200, Reason::CannotOpen),
        ("tag", file.len() - 1, Reason::CannotOpen),
    ] {
        let mut bad = file.clone();
        bad[at] ^= 1;
        all.push(rejected(with(what, json!({"flip": at})), Backup::open(&agent, &bad), reason));
    }
    for (what, keep, reason) in [
        ("nothing", 0, Reason::BadForm),
        ("half-a-header", 200, Reason::BadForm),
        ("cut", file.len() - 1, Reason::CannotOpen),
    ] {
        let cut = Backup::open(&agent, &file[..keep]);
        all.push(rejected(with(what, json!({"keep": keep})), cut, reason));
    }
    let longer = Backup::open(&agent, &[&file[..], &[0]].concat());
    all.push(rejected(with("longer", json!({"append": "00"})), longer, Reason::CannotOpen));
    let stranger = self::agent(suite, 2);
    let seed = json!({"seed": "02".repeat(32), "did": stranger.did().as_str()});
    all.push(rejected(with("other-seed", seed), Backup::open(&stranger, &file), Reason::CannotOpen));

    // Archives that no honest agent makes.
    let archive = backup.encode().unwrap().to_vec();
    let start = Backup::new(&agent, NOW).encode().unwrap().to_vec();
    let entries = |entries: &[(u8, &str, &[u8])]| {
        let mut out = start[..start.len() - 4].to_vec();
        out.extend_from_slice(&(entries.len() as u32).to_be_bytes());
        for (kind, name, bytes) in entries {
            out.push(*kind);
            put_short(&mut out, name.as_bytes()).unwrap();
            put_long(&mut out, bytes).unwrap();
        }
        out
    };
    let named = object.to_string();
    let other = Backup { did: stranger.did().clone(), ..backup.clone() };
    let mut magic = archive.clone();
    magic[15] = 2;
    for (what, archive, reason) in [
        ("other-magic", magic, Reason::BadArchive),
        ("cut-archive", archive[..archive.len() - 1].to_vec(), Reason::BadArchive),
        ("longer-archive", [&archive[..], &[0]].concat(), Reason::BadArchive),
        ("other-agent", other.encode().unwrap().to_vec(), Reason::BadArchive),
        ("order", entries(&[(2, "b", b""), (2, "a", b"")]), Reason::BadArchive),
        ("twice", entries(&[(2, "a", b""), (2, "a", b"")]), Reason::BadArchive),
        ("kind", entries(&[(5, "seen", b"")]), Reason::BadArchive),
        ("no-kind", entries(&[(0, "seen", b"")]), Reason::BadArchive),
        ("state-by-another-name", entries(&[(4, "log", b"")]), Reason::BadArchive),
        ("state-in-capitals", entries(&[(4, "Seen", b"")]), Reason::BadArchive),
        ("state-order", entries(&[(4, "seen", b""), (4, "ledger", b"")]), Reason::BadArchive),
        ("state-twice", entries(&[(4, "seen", b""), (4, "seen", b"")]), Reason::BadArchive),
        ("state-before-object", entries(&[(4, "seen", b""), (3, &named, OBJECT_BYTES)]), Reason::BadArchive),
        ("cards-by-another-name", entries(&[(1, "cards", b"")]), Reason::BadArchive),
        ("hidden-name", entries(&[(2, ".a", b"")]), Reason::BadArchive),
        ("path-name", entries(&[(2, "a/b", b"")]), Reason::BadArchive),
        ("object-name", entries(&[(3, "a", b"")]), Reason::BadArchive),
        ("other-object", entries(&[(3, &named, b"another")]), Reason::WrongHash),
    ] {
        let file = by_hand(&agent, &archive);
        let vector = with(what, json!({"file": hex(&file)}));
        all.push(rejected(vector, Backup::open(&agent, &file), reason));
    }
    let stolen = agent.key(Role::Signing).sign(b"gambeson backup v1", &archive).unwrap();
    for (what, mac) in [
        ("no-mac", Vec::new()),
        ("mac-of-another", stranger.backup_mac(&archive)),
        ("signature-for-mac", stolen),
    ] {
        let file = encrypt(&agent, &[&archive[..], &mac].concat()).unwrap();
        let vector = with(what, json!({"file": hex(&file)}));
        all.push(rejected(vector, Backup::open(&agent, &file), Reason::CannotOpen));
    }

    // After rotations, with the cards.
    let mut log = cards(&agent);
    for _ in 0..2 {
        let window = (NOW, NOW.after(86_400));
        agent
            .rotate(&mut log, &[Role::Backup], Retired::Compromised, window, &CardContent::default())
            .unwrap();
    }
    let mut backup = Backup::new(&agent, NOW);
    backup.set_cards(&log);
    let file = backup.seal(&agent).unwrap();
    let mut rotated = good(&id("rotated"), &agent, &file);
    rotated["since"] = 3.into();
    all.push(rotated);
    let stale = Backup::open_since(&agent, &file, 4);
    all.push(rejected(json!({"id": id("stale"), "of": id("rotated"), "since": 4}), stale, Reason::StaleCard));
    let none = Backup::open_since(&agent, &by_hand(&agent, &archive), 1);
    all.push(rejected(with("no-cards", json!({"since": 1})), none, Reason::StaleCard));
    if suite == Suite::Default {
        let key = |index| Identity::from_seed(agent.backup_seed(index).expose()).recipient();
        let mut rng = agent.rng(b"vectors");
        let mut two = Encryptor::new_with(&[key(0), key(1)], Vec::new(), Format::Binary, &mut rng).unwrap();
        two.write_all(&[&archive[..], &agent.backup_mac(&archive)].concat()).unwrap();
        let file = two.finish().unwrap();
        let vector = with("two-recipients", json!({"file": hex(&file)}));
        all.push(rejected(vector, Backup::open(&agent, &file), Reason::BadForm));
    }
    all
}

#[test]
fn the_vectors_of_backups() {
    let all = SUITES.into_iter().flat_map(of_suite).collect();
    vector_file::committed("backup", all, 2 * (5 + 32) + 1);
}
