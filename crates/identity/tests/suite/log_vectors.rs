//! `vectors/log.json`: logs, their files, proofs, and what is to be refused.

use crate::vector_file;
use crate::world::{NOW, hex};
use gambeson_identity::tlog::{
    Hash, Log, MemoryStorage, Proof, SignedCheckpoint, leaf_hash, verifier_key, verify_consistency,
    verify_inclusion,
};
use gambeson_identity::{Agent, MasterSeed, Reason, Result, Role, Suite, Timestamp, VerifyingKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const ORIGIN: &str = "example.com/log";

fn agent() -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[7; 32]), Suite::Default).deterministic()
}

/// The entry at an index: the text `entry N`, as often as N has a remainder by 5.
fn entry(index: u64) -> Vec<u8> {
    format!("entry {index}").repeat(usize::try_from(index % 5).unwrap()).into_bytes()
}

fn log_of(size: u64) -> Log<MemoryStorage> {
    let agent = agent();
    let mut log = Log::create(MemoryStorage::default(), ORIGIN, agent.key(Role::Log), NOW).unwrap();
    let entries: Vec<_> = (0..size).map(entry).collect();
    let entries: Vec<_> = entries.iter().map(Vec::as_slice).collect();
    if size > 0 {
        log.append(&entries, agent.key(Role::Log), NOW).unwrap();
    }
    log
}

fn rejected<T>(mut vector: Value, found: Result<T>, reason: Reason) -> Value {
    assert_eq!(found.err().map(|error| error.reason()), Some(reason), "{}", vector["id"]);
    vector["result"] = "reject".into();
    vector["reason"] = reason.code().into();
    vector
}

/// The root and the files of logs of many sizes.
fn trees(all: &mut Vec<Value>) {
    for size in [0, 1, 2, 3, 7, 8, 255, 256, 257, 511, 513, 1000, 65_536, 65_537] {
        let log = log_of(size);
        let files: Vec<_> = log
            .storage()
            .files()
            .filter(|(name, _)| {
                size <= 1000 || !(name.starts_with("tile/0") || name.starts_with("tile/entries"))
            })
            .map(|(name, contents)| json!({"name": name, "sha256": hex(&Sha256::digest(contents))}))
            .collect();
        all.push(json!({
            "id": format!("tree-{size}"), "kind": "tree", "size": size.to_string(), "seed": "07".repeat(32), "origin": ORIGIN, "now": NOW.to_string(),
            "expect": {"root": hex(&log.checkpoint().root), "files": files},
        }));
    }
}

fn inclusions(all: &mut Vec<Value>) {
    for (index, size) in
        [(0, 1), (0, 2), (1, 2), (2, 3), (4, 7), (6, 7), (255, 257), (256, 257), (300, 1000), (999, 1000)]
    {
        let log = log_of(size);
        let proof = log.prove(index).unwrap().to_string();
        let path: Vec<String> = path(&proof).iter().map(|hash| hex(hash)).collect();
        all.push(json!({
            "id": format!("inclusion-{index}-{size}"), "kind": "inclusion", "index": index.to_string(), "size": size.to_string(),
            "leaf": hex(&leaf_hash(&entry(index))), "root": hex(&log.checkpoint().root), "path": path, "expect": true,
        }));
    }
    let log = log_of(7);
    let (leaf, root, good) =
        (leaf_hash(&entry(4)), log.checkpoint().root, path(&log.prove(4).unwrap().to_string()));
    let mut changed = good.clone();
    changed[0][0] ^= 1;
    for (what, index, size, path) in [
        ("another-index", 5, 7, good.clone()),
        ("index-beyond", 7, 7, good.clone()),
        ("no-tree", 0, 0, good.clone()),
        ("another-size", 4, 15, good.clone()),
        ("changed-hash", 4, 7, changed),
        ("cut", 4, 7, good[1..].to_vec()),
        ("longer", 4, 7, [&good[..], &[root]].concat()),
        ("empty", 4, 7, Vec::new()),
    ] {
        let found = verify_inclusion(&leaf, index, size, &path, &root);
        let path: Vec<String> = path.iter().map(|hash| hex(hash)).collect();
        let vector = json!({
            "id": format!("inclusion-{what}"), "kind": "inclusion", "index": index.to_string(), "size": size.to_string(), "leaf": hex(&leaf),
            "root": hex(&root), "path": path,
        });
        all.push(rejected(vector, found, Reason::NotIncluded));
    }
}

/// The lines of hashes of a proof.
fn path(proof: &str) -> Vec<Hash> {
    use base64ct::{Base64, Encoding};
    let (head, _) = proof.split_once("\n\n").unwrap();
    head.lines().skip(2).map(|line| Base64::decode_vec(line).unwrap().try_into().unwrap()).collect()
}

fn consistencies(all: &mut Vec<Value>) {
    let state = |size: u64| (size, log_of(size).checkpoint().root);
    let vector = |id: String, old: (u64, Hash), new: (u64, Hash), path: &[Hash]| {
        let path: Vec<String> = path.iter().map(|hash| hex(hash)).collect();
        json!({
            "id": id, "kind": "consistency", "old_size": old.0.to_string(), "old_root": hex(&old.1),
            "new_size": new.0.to_string(), "new_root": hex(&new.1), "path": path,
        })
    };
    for (old, new) in [
        (0, 0),
        (0, 5),
        (1, 1),
        (1, 2),
        (2, 3),
        (3, 7),
        (4, 7),
        (6, 8),
        (7, 8),
        (256, 1000),
        (257, 1000),
        (1000, 1000),
    ] {
        let path = log_of(new).prove_consistency(old).unwrap();
        let (old, new) = (state(old), state(new));
        verify_consistency((old.0, &old.1), (new.0, &new.1), &path).unwrap();
        let mut vector = vector(format!("consistency-{}-{}", old.0, new.0), old, new, &path);
        vector["expect"] = true.into();
        all.push(vector);
    }
    let (old, new) = (state(3), state(7));
    let good = log_of(7).prove_consistency(3).unwrap();
    let mut changed = good.clone();
    changed[1][31] ^= 1;
    for (what, old, new, path) in [
        ("changed-hash", old, new, changed),
        ("cut", old, new, good[1..].to_vec()),
        ("empty", old, new, Vec::new()),
        ("longer", old, new, [&good[..], &[new.1]].concat()),
        ("another-old-root", (3, new.1), new, good.clone()),
        ("another-new-root", old, (7, old.1), good.clone()),
        ("shrunk", new, old, good.clone()),
        ("forked", (7, old.1), new, Vec::new()),
        ("empty-tree-with-another-root", (0, old.1), new, Vec::new()),
    ] {
        let found = verify_consistency((old.0, &old.1), (new.0, &new.1), &path);
        all.push(rejected(
            vector(format!("consistency-{what}"), old, new, &path),
            found,
            Reason::Inconsistent,
        ));
    }
}

fn verified(proof: &[u8], entry: &[u8], origin: &str, key: &VerifyingKey, now: Timestamp) -> Result<()> {
    Proof::parse(proof)?.verify(entry, origin, key, now).map(drop)
}

fn proofs(all: &mut Vec<Value>) {
    let agent = agent();
    let key = agent.key(Role::Log).verifying_key();
    let log = log_of(11);
    let text = log.prove(4).unwrap().to_string();
    let vkey = verifier_key(ORIGIN, &key).unwrap();
    verified(text.as_bytes(), &entry(4), ORIGIN, &key, NOW).unwrap();
    all.push(json!({
        "id": "proof", "kind": "proof", "proof": text, "entry": hex(&entry(4)), "key": vkey, "now": NOW.to_string(),
        "expect": {"index": "4", "size": "11", "root": hex(&log.checkpoint().root), "signed": NOW.to_string()},
    }));
    let witnessed = format!("{text}\u{2014} witness.example/w1 AAAAAAAA\n");
    verified(witnessed.as_bytes(), &entry(4), ORIGIN, &key, NOW).unwrap();
    all.push(json!({
        "id": "proof-with-a-witness", "kind": "proof", "of": "proof", "append": "\u{2014} witness.example/w1 AAAAAAAA\n",
        "expect": {"index": "4", "size": "11", "root": hex(&log.checkpoint().root), "signed": NOW.to_string()},
    }));

    let hash = text.lines().nth(2).unwrap();
    let root = text.lines().nth(9).unwrap();
    assert_eq!((text.lines().nth(7), text.lines().nth(8)), (Some(ORIGIN), Some("11")));
    let mut edited = |what: &str, from: &str, to: &str, reason: Reason| {
        assert!(text.contains(from), "{what}");
        let found = verified(text.replacen(from, to, 1).as_bytes(), &entry(4), ORIGIN, &key, NOW);
        let vector =
            json!({"id": format!("proof-{what}"), "kind": "proof", "of": "proof", "edit": [from, to]});
        all.push(rejected(vector, found, reason));
    };
    edited("of-another-version", "tlog-proof@v1", "tlog-proof@v2", Reason::BadForm);
    edited("without-index", "index 4\n", "", Reason::BadForm);
    edited("leading-zero", "index 4", "index 04", Reason::BadForm);
    edited("signed-index", "index 4", "index +4", Reason::BadForm);
    edited("another-index", "index 4", "index 5", Reason::NotIncluded);
    edited("short-hash", hash, &hash[4..], Reason::BadForm);
    edited("extra-not-base64", "index 4", "extra ???\nindex 4", Reason::BadForm);
    edited("hash-missing", &format!("{hash}\n"), "", Reason::NotIncluded);
    edited("size-with-zero", "\n11\n", "\n011\n", Reason::BadCheckpoint);
    edited("another-size", "\n11\n", "\n12\n", Reason::BadSignature);
    edited("short-root", root, &root[4..], Reason::BadCheckpoint);
    edited("extension-line", &format!("{root}\n"), &format!("{root}\nextension\n"), Reason::BadCheckpoint);
    edited("another-origin", "\n\nexample.com/log\n", "\n\nexample.com/lag\n", Reason::BadCheckpoint);
    edited("another-signer", "\u{2014} example.com/log ", "\u{2014} example.com/lag ", Reason::BadSignature);
    edited("hyphen-for-dash", "\u{2014} example.com", "- example.com", Reason::BadCheckpoint);
    edited(
        "name-with-plus",
        "\u{2014} example.com/log ",
        "\u{2014} example.com/log+ ",
        Reason::BadCheckpoint,
    );
    edited("control-character", "\n11\n", "\n11\r\n", Reason::BadCheckpoint);
    edited("no-empty-line", "\n\n\u{2014}", "\n\u{2014}", Reason::BadCheckpoint);

    let mut with = |what: &str, entry: &[u8], now: Timestamp, reason: Reason| {
        let found = verified(text.as_bytes(), entry, ORIGIN, &key, now);
        let vector = json!({
            "id": format!("proof-{what}"), "kind": "proof", "of": "proof", "entry": hex(entry), "now": now.to_string(),
        });
        all.push(rejected(vector, found, reason));
    };
    with("of-another-entry", b"another", NOW, Reason::NotIncluded);
    with("from-the-future", &entry(4), Timestamp(NOW.0 - 301), Reason::NotYetValid);

    let other = agent.key(Role::DataIntegrity).verifying_key();
    let found = verified(text.as_bytes(), &entry(4), ORIGIN, &other, NOW);
    let vector = json!({
        "id": "proof-under-another-key", "kind": "proof", "of": "proof", "key": verifier_key(ORIGIN, &other).unwrap(),
    });
    all.push(rejected(vector, found, Reason::BadSignature));
    // A line with the log's name and identifier whose signature is wrong refuses the note, though another is right.
    let line = text.lines().last().unwrap();
    let forged = format!("{}AAAA\n", &line[..line.len() - 4]);
    let found = verified(format!("{text}{forged}").as_bytes(), &entry(4), ORIGIN, &key, NOW);
    let vector = json!({"id": "proof-with-a-forged-line", "kind": "proof", "of": "proof", "append": forged});
    all.push(rejected(vector, found, Reason::BadSignature));
    assert!(SignedCheckpoint::parse(log.signed_checkpoint().to_string().as_bytes()).is_ok());
}

#[test]
fn the_vectors_are_those_that_are_committed() {
    let mut all = Vec::new();
    trees(&mut all);
    inclusions(&mut all);
    consistencies(&mut all);
    proofs(&mut all);
    vector_file::committed("log", all, 77);
}
