//! Reports for programs, and the page that describes them.

use crate::program::Folder;
use crate::program::reports::SCHEMA;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The text of all sources below a folder.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { sources(&path) } else { fs::read_to_string(path).unwrap() })
        .collect()
}

#[test]
fn the_page_describes_the_types_that_the_program_prints() {
    assert_eq!(SCHEMA.loose_ends(), [""; 0], "each member is in both tables");
    let text = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let printed: BTreeSet<&str> =
        text.split("\"type\": \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    // Types of credentials and of their parts.
    let foreign = ["DataIntegrityProof", "VerifiablePresentation"];
    let undescribed =
        printed.iter().filter(|name| !SCHEMA.types.contains_key(**name) && !foreign.contains(name));
    assert_eq!(undescribed.collect::<Vec<_>>(), [&""; 0]);
    let unprinted = SCHEMA.types.keys().filter(|name| !text.contains(&format!("\"{name}\"")));
    assert_eq!(unprinted.collect::<Vec<_>>(), [&""; 0]);
}

#[test]
fn reports_that_the_page_does_not_describe_are_seen() {
    let good = json!({"type": "error", "reason": "usage", "detail": "a command is missing", "exitStatus": 2});
    assert_eq!(SCHEMA.fault(&good), None);
    let with = |name: &str, value: serde_json::Value| {
        let mut report = good.clone();
        report[name] = value;
        report
    };
    for (report, fault) in [
        (json!(["error"]), "no object"),
        (json!({"detail": "untyped"}), "no type"),
        (with("type", "mistake".into()), "the type mistake is not in the table"),
        (with("exit_status", 2.into()), "the member exit_status is not in the table"),
        (with("reason", json!(null)), "reason is not of the form text"),
        (with("verified", "no".into()), "verified is not of the form flag"),
        (with("exitStatus", json!(-1)), "exitStatus is not of the form count"),
        (with("validUntil", json!(1_795_330_800_042_u64)), "validUntil is not of the form time"),
        (with("validUntil", "2026-11-22 07:00:00".into()), "validUntil is not of the form time"),
        (
            with("validUntil", "2026-11-22T07:00:00Z".into()),
            "error has other members: validUntil is too many",
        ),
        (with("members", json!([1])), "members is not of the form list of text"),
        (json!({"type": "error", "detail": "no status"}), "error has other members: no exitStatus"),
    ] {
        assert_eq!(SCHEMA.fault(&report).as_deref(), Some(fault), "{report}");
    }
}

#[test]
fn errors_are_objects_whose_verdict_follows_the_exit_status() {
    let folder = Folder::new();
    let usage = folder.run("--json nonsense").exits(2).json();
    assert_eq!((&usage["type"], &usage["exitStatus"]), (&"error".into(), &2.into()));
    assert!(usage["verified"].is_null() && usage["detail"].is_string(), "{usage}");
    let missing = folder.run("--json key show nowhere").exits(3).json();
    assert_eq!(
        (&missing["type"], &missing["exitStatus"], &missing["verified"]),
        (&"error".into(), &3.into(), &json!(null))
    );
    folder.run("key gen --alg ml-dsa-65 -o signer.key -p signer.pub").exits(0);
    folder.write("file", "text");
    folder.run("sign -k signer.key file").exits(0);
    folder.tamper("file");
    let refused = folder.run("verify --json -k signer.pub file").exits(1).json();
    assert_eq!((&refused["type"], &refused["verified"]), (&"verdict".into(), &false.into()));
    folder.run("key gen --alg x-wing -o kem.key -p kem.pub").exits(0);
    folder.run("key gen --alg x-wing -o other.key -p other.pub").exits(0);
    folder.run("seal -R kem.pub file -o file.age").exits(0);
    let closed = folder.run("open --json -i other.key file.age -o out").exits(1).json();
    assert_eq!(
        (&closed["type"], &closed["verified"], &closed["exitStatus"]),
        (&"error".into(), &false.into(), &1.into())
    );
}
