//! The working group's vectors where they are found, and ours: how many cases of each kind and suite hold.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use gambeson_mls::vectors::{KINDS, Verdict, judge, kind};
use serde_json::{Value, json};

fn cases(file: &Path) -> Vec<Value> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&std::fs::read(file).unwrap()[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// How many cases of each suite hold; those of suites that nobody here has are left out, and any other must hold.
fn held(folder: &Path, kind: &str) -> BTreeMap<u64, usize> {
    let mut held = BTreeMap::new();
    for (at, case) in cases(&folder.join(kind).with_extension("json.gz")).iter().enumerate() {
        match judge(kind, case).unwrap() {
            Verdict::Holds => *held.entry(case["cipher_suite"].as_u64().unwrap()).or_default() += 1,
            Verdict::OtherSuite => assert!([4, 6].contains(&case["cipher_suite"].as_u64().unwrap())),
            Verdict::Fails(why) => panic!("{kind}, case {at}, suite {}: {why}", case["cipher_suite"]),
        }
    }
    held
}

/// Where the working group's files are.
fn published() -> Option<PathBuf> {
    Some(gambeson_vectors::shared()?.join("mls"))
}

#[test]
fn every_kind_of_the_working_group_holds_on_its_five_suites_that_we_have() {
    let Some(folder) = published() else { return };
    let counts = [
        ("crypto-basics", 1),
        ("key-schedule", 1),
        ("message-protection", 1),
        ("passive-client-handling-commit", 13),
        ("passive-client-welcome", 8),
        ("psk_secret", 11),
        ("secret-tree", 3),
        ("transcript-hashes", 1),
        ("treekem", 11),
        ("welcome", 1),
    ];
    for (kind, count) in counts {
        assert_eq!(
            held(&folder, kind),
            BTreeMap::from([1, 2, 3, 5, 7].map(|suite| (suite, count))),
            "{kind}"
        );
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, counts.len(), "every file there has a kind that is judged");
}

/// Changes one digit of every text of a case, one after the other, and tells how many changes are not seen.
fn unseen(kind: &str, case: &mut Value, path: &str, places: &mut usize) -> Vec<String> {
    let mut found = Vec::new();
    let below: Vec<String> = match case.pointer(path).unwrap() {
        Value::Object(members) => members.keys().map(|name| format!("{path}/{name}")).collect(),
        Value::Array(items) => (0..items.len()).map(|at| format!("{path}/{at}")).collect(),
        Value::String(text) if !text.is_empty() => {
            let good = text.clone();
            // Of the ciphertext of who sends, a sample at the beginning counts.
            let at = good.len() / 4;
            let other = if &good[at..=at] == "1" { "2" } else { "1" };
            *places += 1;
            *case.pointer_mut(path).unwrap() = format!("{}{other}{}", &good[..at], &good[at + 1..]).into();
            if judge(kind, case) == Some(Verdict::Holds) {
                found.push(path.to_owned());
            }
            *case.pointer_mut(path).unwrap() = good.into();
            Vec::new()
        }
        _ => Vec::new(),
    };
    found.extend(below.iter().flat_map(|path| unseen(kind, case, path, places)));
    found
}

#[test]
fn a_changed_digit_anywhere_in_a_case_is_seen() {
    let Some(folder) = published() else { return };
    for kind in KINDS.into_iter().filter(|kind| folder.join(kind).with_extension("json.gz").exists()) {
        // The first one of some kinds has next to nothing in it.
        let (mut case, mut places) = (cases(&folder.join(kind).with_extension("json.gz")).swap_remove(1), 0);
        let unseen = unseen(kind, &mut case, "", &mut places);
        assert!(places > 1, "{kind}");
        assert_eq!(unseen, Vec::<String>::new(), "{kind}");
    }
}

#[test]
fn our_own_passive_clients_hold_on_every_suite_that_is_not_of_rfc_9420() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/mls");
    let once = |suites: &[u64]| -> BTreeMap<u64, usize> { suites.iter().map(|suite| (*suite, 1)).collect() };
    let ours = [(0xf001..=0xf00b).collect(), vec![0xf0a1, 0xf0a2]].concat();
    assert_eq!(held(&folder, "passive-client"), once(&ours));
    let theirs = [0x4f, 0x4e, 0xf042, 0x50, 0x42, 0x52, 0x51, 0x907, 0x4d, 0x906];
    assert_eq!(held(&folder, "passive-client-openmls"), once(&theirs));
    let drafted: Vec<u64> = (0xf001..=0xf00b).collect();
    assert_eq!(held(&folder, "passive-client-renumbered"), once(&drafted));
    // Where the derivation is ours, another word for it changes nothing.
    let labeled = &["/derivation"][..];
    for (file, unseen_at) in
        [("passive-client", labeled), ("passive-client-openmls", &[]), ("passive-client-renumbered", labeled)]
    {
        let mut case = cases(&folder.join(file).with_extension("json.gz")).swap_remove(0);
        let mut places = 0;
        assert_eq!(unseen(file, &mut case, "", &mut places), unseen_at, "{file}");
        assert_eq!(places, 2 + 5 + 2 + 3 * 4 + 1);
    }
}

/// Every case of the published files and of ours is told from its members.
#[test]
fn the_kind_of_a_case_is_told_from_its_members() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/mls");
    for folder in [Some(own), published()].into_iter().flatten() {
        for name in KINDS.into_iter().filter(|name| folder.join(name).with_extension("json.gz").exists()) {
            let expected = if name.starts_with("passive-client") { "passive-client" } else { name };
            for case in cases(&folder.join(name).with_extension("json.gz")) {
                assert_eq!(kind(&case), Some(expected), "{name}");
            }
        }
    }
    for other in
        [Value::Null, json!([]), json!({"n_leaves": 1}), json!({"cipher_suite": 1, "tree": "", "epochs": []})]
    {
        assert_eq!(kind(&other), None);
    }
}

#[test]
fn a_suite_under_another_number_is_the_suite_of_its_case_and_has_no_other_number() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/mls");
    let kind = "passive-client-renumbered";
    for mut case in cases(&folder.join(kind).with_extension("json.gz")) {
        let suite = case["cipher_suite"].clone();
        case["cipher_suite"] = if suite == 0xf001 { 0xf002 } else { suite.as_u64().unwrap() - 1 }.into();
        assert!(matches!(judge(kind, &case), Some(Verdict::Fails(_))), "{suite} as its neighbour");
        case["cipher_suite"] = suite.clone();
        case["number"] = suite.clone();
        assert!(matches!(judge(kind, &case), Some(Verdict::Fails(_))), "{suite} under its own number");
    }
}

#[test]
fn a_kind_or_a_suite_that_is_not_known_is_told_apart_from_a_failure() {
    assert_eq!(judge("tree-math", &Value::Null), None);
    assert_eq!(judge("treekem", &json!({"cipher_suite": 4})), Some(Verdict::OtherSuite));
    for kind in KINDS {
        for case in [
            Value::Null,
            json!({"cipher_suite": "1"}),
            json!({"cipher_suite": 1}),
            json!({"number": 1}),
            json!({"cipher_suite": 1, "number": "1"}),
        ] {
            assert!(matches!(judge(kind, &case), Some(Verdict::Fails(_))), "{kind}: {case}");
        }
    }
}
