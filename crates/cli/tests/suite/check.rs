//! `vectors check`: it counts, and nothing that proves nothing passes.

use crate::program::Folder;
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use std::io::Write;

/// SHA3-256 of nothing.
const EMPTY: &str = "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a";

fn gzip(text: &str) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

/// A folder `v` with files of these texts.
fn with(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("v/family")).unwrap();
    for (name, text) in files {
        folder.write(&format!("v/family/{name}.jsonl.gz"), gzip(text));
    }
    folder
}

fn good() -> String {
    format!(r#"{{"id":1,"alg":"SHA3-256","op":"hash","message":"","expect":{{"md":"{EMPTY}"}}}}"#)
}

#[test]
fn tests_are_counted_a_file() {
    let refused = r#"{"alg":"ML-DSA-44","op":"verify","pk":"00","signature":"","message":"","expect":{"testPassed":false}}"#;
    let any = r#"{"alg":"ML-KEM-512","op":"encaps","ek":"00","m":"00","expect":{"error":"any"}}"#;
    let other = r#"{"alg":"HQC-1","op":"keygen","seed":"00","expect":{"ek":"00"}}"#;
    let folder =
        with(&[("a", &format!("{}\n{refused}\n{any}\n", good())), ("b", &format!("{other}\n{}", good()))]);
    let rows = folder.run("vectors check v --json").exits(0).rows();
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[0]["passed"], &rows[0]["skipped"]), (&3.into(), &0.into()));
    assert_eq!((&rows[1]["passed"], &rows[1]["skipped"]), (&1.into(), &1.into()));
    assert_eq!(
        (&rows[2]["passed"], &rows[2]["failed"], &rows[2]["ok"]),
        (&4.into(), &0.into(), &true.into())
    );
    let portable = folder.run("vectors check v --limit portable --json").exits(0).rows();
    assert_eq!((&portable[2]["passed"], &portable[2]["level"]), (&4.into(), &"portable".into()));
    folder.run("vectors check v --limit sse2").exits(2);
    folder.run("vectors check v --skip family/c").exits(2).tells("family/c");
    folder.run("vectors check v --skip family").exits(3).tells("no files");
    let text = folder.run("vectors check v").exits(0);
    assert!(text.text().contains("4 passed, 0 failed, 0 unsupported, 1 skipped"), "{}", text.text());
}

/// The canary: one wrong digit is seen.
#[test]
fn a_flipped_vector_is_a_failure() {
    let flipped = good().replace("a7ff", "a7fe");
    let folder = with(&[("a", &format!("{}\n{flipped}\n{}\n", good(), good()))]);
    let rows = folder.run("vectors check v --json").exits(1).rows();
    assert_eq!((&rows[0]["passed"], &rows[0]["failed"]), (&2.into(), &1.into()));
    assert!(rows[0]["complaints"][0].as_str().unwrap().contains("a.jsonl.gz:2"));
    assert_eq!(rows[1]["ok"], false);
    // A signature that should be refused and is not would be seen as well.
    let accepted = r#"{"alg":"ML-KEM-512","op":"checkEk","ek":"00","expect":{"testPassed":true}}"#;
    with(&[("a", accepted)]).run("vectors check v").exits(1);
}

#[test]
fn unsupported_for_a_listed_algorithm_is_a_failure() {
    let unsupported = good().replace("\"hash\"", "\"sign\"");
    let folder = with(&[("a", &format!("{}\n{unsupported}\n", good()))]);
    let rows = folder.run("vectors check v --json").exits(1).rows();
    assert_eq!((&rows[0]["passed"], &rows[0]["unsupported"]), (&1.into(), &1.into()));
}

#[test]
fn nothing_to_check_is_a_failure() {
    let folder = with(&[]);
    folder.run("vectors check v").exits(3).tells("no files of test vectors");
    folder.run("vectors check missing").exits(3).tells("missing");
    folder.run("vectors check").exits(2);
    with(&[("a", "")]).run("vectors check v").exits(1);
    // Skipped tests alone prove nothing.
    with(&[("a", r#"{"alg":"HQC-1","op":"keygen","expect":{"ek":"00"}}"#)]).run("vectors check v").exits(1);
}

#[test]
fn an_unreadable_line_is_a_failure() {
    for unreadable in ["{", "[]", "", "\u{0}", &good().replace("expect", "expected")] {
        let folder = with(&[("a", &format!("{}\n{unreadable}\n{}\n", good(), good())), ("b", &good())]);
        let rows = folder.run("vectors check v --json").exits(1).rows();
        assert!(rows[0]["detail"].is_string(), "{unreadable:?}");
        assert_eq!(rows[1]["passed"], 1, "the other file still runs");
    }
    let folder = with(&[("a", &good())]);
    folder.write("v/plain.jsonl.gz", good());
    folder.run("vectors check v").exits(1);
    let mut cut = gzip(&good());
    cut.truncate(cut.len() - 6);
    folder.write("v/plain.jsonl.gz", cut);
    folder.run("vectors check v").exits(1);
}

/// The files of the identity layer in this repository.
fn own() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

#[test]
fn the_vectors_of_the_identity_layer_hold() {
    let folder = Folder::new();
    let rows = folder.run(&format!("vectors check {} --json", own().display())).exits(0).rows();
    let counts = [
        ("a2a", 50),
        ("action", 102),
        ("backup", 75),
        ("card-log", 84),
        ("data-integrity", 39),
        ("delegation", 349),
        ("did", 265),
        ("httpsig", 214),
        ("json", 105),
        ("jws", 99),
        ("kdf", 218),
        ("log", 77),
        ("memory", 27),
        ("recovery", 55),
        ("sd-jwt", 77),
        ("sealed", 67),
        ("session", 73),
        ("signed-file", 48),
        ("state", 32),
        ("status", 53),
        ("vc", 269),
        ("vc-jwt", 120),
    ];
    for (subject, count) in counts {
        let row = rows.iter().find(|row| row["file"] == format!("{subject}.json")).unwrap();
        assert_eq!((&row["passed"], &row["failed"]), (&count.into(), &0.into()), "{row}");
    }
    let row = rows.iter().find(|row| row["file"] == "c2sp/httpsig-pq.json").unwrap();
    assert_eq!((&row["passed"], &row["failed"]), (&3.into(), &0.into()), "{row}");
    let clients = [("passive-client", 13), ("passive-client-openmls", 10), ("passive-client-renumbered", 11)];
    for (kind, count) in clients {
        let row = rows.iter().find(|row| row["file"] == format!("mls/{kind}.json.gz")).unwrap();
        assert_eq!((&row["passed"], &row["failed"]), (&count.into(), &0.into()), "{row}");
        let suites = row["suites"].as_object().unwrap();
        assert!(suites.len() == count && suites.values().all(|held| *held == 1), "{row}");
    }
    let theirs = [("c2sp/", &THEIRS[..1]), ("wycheproof/", &THEIRS[1..])];
    for (folder, (name, passed, skipped)) in
        theirs.iter().flat_map(|(folder, files)| files.iter().map(move |file| (folder, file)))
    {
        let row = rows.iter().find(|row| row["file"] == format!("{folder}{name}.json.gz")).unwrap();
        assert_eq!((&row["passed"], &row["failed"]), (&(*passed).into(), &0.into()), "{row}");
        assert_eq!(row["skipped"], *skipped, "{row}");
    }
    let sums = rows.last().unwrap();
    assert_eq!(
        (&sums["files"], &sums["skipped"]),
        (&(counts.len() + clients.len() + 1 + THEIRS.len()).into(), &179.into()),
        "every file has a judge"
    );
}

/// Files of other projects: cases that hold, and cases of parameters that the product does not have. Those of Wycheproof come after the first.
const THEIRS: [(&str, u64, u64); 19] = [
    ("ed25519vectors", 768, 0),
    ("aes_gcm_test", 137, 179),
    ("chacha20_poly1305_test", 325, 0),
    ("ecdh_secp256r1_ecpoint_test", 355, 0),
    ("ecdh_secp256r1_test", 612, 0),
    ("ecdh_secp384r1_ecpoint_test", 790, 0),
    ("ecdsa_secp256r1_sha256_test", 484, 0),
    ("ecdsa_secp256r1_sha512_test", 554, 0),
    ("ecdsa_secp384r1_sha256_test", 472, 0),
    ("ecdsa_secp384r1_sha384_test", 504, 0),
    ("ecdsa_secp384r1_sha512_test", 542, 0),
    ("ed25519_test", 151, 0),
    ("hkdf_sha256_test", 86, 0),
    ("hkdf_sha384_test", 83, 0),
    ("hkdf_sha512_test", 83, 0),
    ("hmac_sha256_test", 174, 0),
    ("hmac_sha384_test", 174, 0),
    ("hmac_sha512_test", 174, 0),
    ("x25519_test", 518, 0),
];

/// In every file of another project, one case that holds and is told to be refused, and one the other way round.
#[test]
fn a_mistake_in_the_files_of_other_projects_is_seen() {
    let mut seen = 0;
    for (name, passed, _) in THEIRS {
        let path = if name == "ed25519vectors" { "c2sp" } else { "wycheproof" };
        let file = std::fs::File::open(own().join(format!("{path}/{name}.json.gz"))).unwrap();
        let file: Value = serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap();
        for (from, to) in [("valid", "invalid"), ("invalid", "valid")] {
            let mut file = file.clone();
            let changed = match file.as_array_mut() {
                Some(cases) => relabelled(cases, from),
                None => {
                    let groups = file["testGroups"].as_array_mut().unwrap().iter_mut();
                    let mut tests = groups.flat_map(|group| group["tests"].as_array_mut().unwrap());
                    tests.find(|test| test["result"] == from).map(|test| test["result"] = to.into())
                }
            };
            if changed.is_none() {
                assert_eq!(name, "x25519_test", "nothing is refused there");
                continue;
            }
            let folder = with(&[]);
            folder.write("v/family/file.json", file.to_string());
            let row = &folder.run("vectors check v --json").exits(1).rows()[0];
            assert_eq!(
                (&row["passed"], &row["failed"]),
                (&(passed - 1).into(), &1.into()),
                "{name}, {from}: {row}"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 2 * THEIRS.len() - 1);
}

/// The first of the edge cases of Ed25519 that holds, or that does not, with the flags of the others.
fn relabelled(cases: &mut [Value], from: &str) -> Option<()> {
    let harmless = |case: &Value| {
        let mut flags = case["Flags"].as_array().into_iter().flatten();
        flags.all(|flag| flag.as_str().unwrap().starts_with("LowOrderComponent"))
    };
    let case = cases.iter_mut().find(|case| harmless(case) == (from == "valid"))?;
    case["Flags"] = serde_json::json!([if from == "valid" { "LowOrderA" } else { "LowOrderComponentA" }]);
    Some(())
}

/// The published files of MLS and HPKE, by kind and suite.
#[test]
fn the_published_vectors_of_mls_and_hpke_hold() {
    let Some(shared) = gambeson_vectors::shared() else { return };
    let folder = Folder::new();
    let rows = |family: &str| {
        folder.run(&format!("vectors check {} --json", shared.join(family).display())).exits(0).rows()
    };
    let mls = rows("mls");
    let counts = [
        ("crypto-basics", 1, 2),
        ("key-schedule", 1, 2),
        ("message-protection", 1, 2),
        ("passive-client-handling-commit", 13, 26),
        ("passive-client-welcome", 8, 16),
        ("psk_secret", 11, 22),
        ("secret-tree", 3, 6),
        ("transcript-hashes", 1, 2),
        ("treekem", 11, 22),
        ("welcome", 1, 2),
    ];
    for (kind, of_a_suite, skipped) in counts {
        let row = mls.iter().find(|row| row["file"] == format!("{kind}.json.gz")).unwrap();
        let held = |suite: &str| (suite.to_owned(), of_a_suite.into());
        let suites = ["0x0001", "0x0002", "0x0003", "0x0005", "0x0007"].map(held);
        assert_eq!(row["suites"], Value::Object(suites.into_iter().collect()), "{row}");
        assert_eq!((&row["failed"], &row["skipped"]), (&0.into(), &skipped.into()), "suites 4 and 6: {row}");
    }
    assert_eq!(mls.len(), counts.len() + 1, "every file there is judged");
    let hpke = rows("hpke-pq");
    let runs = hpke.iter().find(|row| row["file"] == "hpke-pq.json.gz").unwrap();
    assert_eq!((&runs["passed"], &runs["failed"], &runs["skipped"]), (&13.into(), &0.into(), &0.into()));
    assert_eq!(runs["suites"].as_object().unwrap().len(), 13, "a suite each");
}

/// A folder `v/family` with one such file.
fn array(name: &str, text: &str) -> Folder {
    let folder = with(&[]);
    folder.write(&format!("v/family/{name}.json.gz"), gzip(text));
    folder
}

#[test]
fn a_published_file_of_which_nothing_runs_or_something_fails_is_a_failure() {
    let case = |suite: u64, secret: &str| serde_json::json!({"cipher_suite": suite, "psks": [], "psk_secret": secret});
    let (good, bad) = (case(1, &"00".repeat(32)), case(1, &"01".repeat(32)));
    let run = |name: &str, cases: &[&Value]| {
        array(name, &serde_json::to_string(cases).unwrap()).run("vectors check v --json")
    };
    let row = &run("psk_secret", &[&good, &case(4, "")]).exits(0).rows()[0];
    assert_eq!((&row["passed"], &row["skipped"]), (&1.into(), &1.into()));
    let row = &run("psk_secret", &[&good, &bad]).exits(1).rows()[0];
    assert_eq!((&row["passed"], &row["failed"]), (&1.into(), &1.into()));
    assert_eq!(row["complaints"][0], "case 2 (0x0001): psk_secret");
    for cases in [&[][..], &[&case(4, "")]] {
        assert!(run("psk_secret", cases).exits(1).rows()[0]["detail"].as_str().unwrap().contains("no case"));
    }
    run("hpke-pq", &[&serde_json::json!({"mode": 0, "kem_id": 0x41, "kdf_id": 1, "aead_id": 1})]).exits(1);
    run("hpke-pq", &[&serde_json::json!({"mode": 1})]).exits(1);
    array("treekem", "{}").run("vectors check v").exits(1);
    array("tree-math", "[]").run("vectors check v").exits(1);
}

/// The sum of a run, which must not be well, and the files that it did not run.
fn not_run(folder: &Folder) -> Vec<String> {
    let text = folder.run("vectors check v").exits(1);
    let rows = folder.run("vectors check v --json").exits(1).rows();
    let sums = rows.last().unwrap();
    assert_eq!(sums["ok"], false, "{sums}");
    let names = sums["notRun"].as_array().unwrap().iter();
    let names: Vec<String> = names.map(|name| name.as_str().unwrap().to_owned()).collect();
    assert!(text.text().contains(&format!("{} not run", names.len())), "{}", text.text());
    for name in &names {
        assert!(text.text().contains(name), "{name}: {}", text.text());
        assert!(rows.iter().any(|row| row["file"] == **name && row["detail"].is_string()), "{name}");
    }
    names
}

#[test]
fn a_file_that_is_not_run_is_counted_and_named_and_the_run_is_not_well() {
    let case = r#"{"n_leaves":1,"n_nodes":1,"root":0,"left":[null],"right":[null],"parent":[null],"sibling":[null]}"#;
    let acvp = r#"{"vsId":0,"algorithm":"LMS","mode":"keyGen","testGroups":[]}"#;
    let lines = "{\"i\":\"00\",\"q\":0}\n{\"i\":\"00\",\"q\":1}\n";
    let other_suites = r#"[{"cipher_suite":4,"psks":[],"psk_secret":""}]"#;
    for (name, text) in [
        ("tree-math.json.gz", gzip(&format!("[{case}]"))),
        ("tree-math.json", format!("[{case}]").into()),
        ("prompt.json", acvp.into()),
        ("kat.jsonl", lines.into()),
        ("kat.jsonl.gz", gzip(lines)),
        ("kat.rsp", "# HQC-1\n\ncount = 0\nseed = 00\n".into()),
        ("kat.rsp.gz", gzip("# HQC-1\n\ncount = 0\nseed = 00\n")),
        ("empty.json", Vec::new()),
        ("empty.jsonl.gz", gzip("")),
        ("none.json", "[]".into()),
        ("number.json", "7".into()),
        ("mixed.json", format!("[{case}, 7]").into()),
        ("binary", vec![0, 1, 2, 0xff]),
        ("suites.json", other_suites.into()),
        ("algorithms.jsonl", r#"{"alg":"HQC-1","op":"keygen","expect":{"ek":"00"}}"#.into()),
    ] {
        let folder = with(&[("a", &good())]);
        folder.write(&format!("v/family/{name}"), &text);
        assert_eq!(not_run(&folder), [format!("family/{name}")]);
        // Nor does it run alone.
        std::fs::remove_file(folder.path("v/family/a.jsonl.gz")).unwrap();
        assert_eq!(not_run(&folder), [format!("family/{name}")]);
    }
}

/// A file of the program's own documents is not one of vectors; it is counted.
#[test]
fn documents_are_told_from_vectors_by_their_names() {
    let folder = with(&[("a", &good())]);
    for name in ["README.md", "LICENSE", "check.py"] {
        folder.write(&format!("v/family/{name}"), "text\n");
    }
    let rows = folder.run("vectors check v --json").exits(0).rows();
    let sums = rows.last().unwrap();
    assert_eq!(
        (&sums["files"], &sums["documents"], &sums["notRun"]),
        (&1.into(), &3.into(), &Value::Array(vec![]))
    );
}

#[test]
fn formats_are_told_from_content() {
    let unpacked = |path: &str| {
        let mut text = String::new();
        let file = std::fs::File::open(own().join(path)).unwrap();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).unwrap();
        text
    };
    let clients = unpacked("mls/passive-client.json.gz");
    let subject = std::fs::read_to_string(own().join("json.json")).unwrap();
    let one_line = serde_json::from_str::<Value>(&subject).unwrap().to_string();
    for (name, text, passed) in [
        ("passive-client-random.json.gz", gzip(&clients), 13),
        ("passive-client-random.json", clients.clone().into(), 13),
        ("treekem.json.gz", gzip(&clients), 13),
        ("clients", clients.into(), 13),
        ("requests.txt", good().into(), 1),
        ("requests.gzip", gzip(&good()), 1),
        ("requests.json", good().into(), 1),
        ("subject.jsonl", subject.clone().into(), 105),
        ("subject.json.gz", gzip(&subject), 105),
        ("line.jsonl.gz", gzip(&one_line), 105),
        ("marked.json", format!("\u{feff}{subject}").into(), 105),
    ] {
        let folder = with(&[]);
        folder.write(&format!("v/family/{name}"), &text);
        let rows = folder.run("vectors check v --json").exits(0).rows();
        assert_eq!(
            (&rows[0]["passed"], &rows[0]["failed"]),
            (&passed.into(), &0.into()),
            "{name}: {}",
            rows[0]
        );
    }
}

/// Of every kind of vector of logs, one that holds and one mistake in what it tells.
#[test]
fn a_mistake_in_the_vectors_of_logs_is_seen() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("v")).unwrap();
    let file: Value = serde_json::from_slice(&std::fs::read(own().join("log.json")).unwrap()).unwrap();
    let run = |ids: &[&str], change: &dyn Fn(&mut Value)| {
        let chosen = file["vectors"].as_array().unwrap().iter();
        let mut chosen: Vec<Value> =
            chosen.filter(|it| ids.contains(&it["id"].as_str().unwrap())).cloned().collect();
        assert_eq!(chosen.len(), ids.len());
        change(chosen.last_mut().unwrap());
        let count = chosen.len();
        let file = serde_json::json!({"subject": "log", "version": 1, "count": count, "vectors": chosen});
        folder.write("v/log.json", file.to_string());
        folder.run("vectors check v --json")
    };
    let flipped = |value: &Value| {
        let text = value.as_str().unwrap();
        let other = if text.starts_with('0') { "1" } else { "0" };
        Value::from(format!("{other}{}", &text[1..]))
    };
    let (mut seen, proof) = (0, &["proof", "proof-with-a-witness"][..]);
    for (ids, change) in [
        (
            &["tree-257"][..],
            &(|it: &mut Value| it["expect"]["root"] = flipped(&it["expect"]["root"])) as &dyn Fn(&mut Value),
        ),
        (&["tree-257"], &|it| {
            it["expect"]["files"][0]["sha256"] = flipped(&it["expect"]["files"][0]["sha256"])
        }),
        (&["tree-257"], &|it| {
            it["expect"]["files"][2]["sha256"] = flipped(&it["expect"]["files"][2]["sha256"])
        }),
        (&["tree-257"], &|it| it["expect"]["files"].as_array_mut().unwrap().truncate(1)),
        (&["tree-257"], &|it| it["size"] = "258".into()),
        (&["tree-257"], &|it| it["seed"] = flipped(&it["seed"])),
        (&["tree-257"], &|it| it["now"] = "2026-11-22T07:00:01Z".into()),
        (&["tree-257"], &|it| it["size"] = "99999999999".into()),
        (&["inclusion-4-7"], &|it| it["expect"] = false.into()),
        (&["inclusion-4-7"], &|it| it["root"] = flipped(&it["root"])),
        (&["inclusion-4-7"], &|it| it["path"] = "none".into()),
        (&["inclusion-cut"], &|it| it["reason"] = "bad-form".into()),
        (&["consistency-3-7"], &|it| it["old_root"] = flipped(&it["old_root"])),
        (&["consistency-3-7"], &|it| it["expect"] = Value::Null),
        (&["consistency-forked"], &|it| it["result"] = "accept".into()),
        (proof, &|it| it["expect"]["index"] = "5".into()),
        (proof, &|it| it["expect"]["signed"] = "2026-11-22T07:00:01Z".into()),
        (proof, &|it| it["of"] = "another".into()),
        (&["proof", "proof-leading-zero"], &|it| it["edit"] = serde_json::json!(["nothing", "of it"])),
        (&["proof", "proof-under-another-key"], &|it| it["key"] = "example.com/log+00000000+Bg==".into()),
    ] {
        run(ids, &|_| ()).exits(0);
        run(ids, change).exits(1);
        seen += 1;
    }
    assert_eq!(seen, 20);
}

#[test]
fn a_mistake_in_the_vectors_of_the_identity_layer_is_seen() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("v")).unwrap();
    let text = std::fs::read_to_string(own().join("json.json")).unwrap();
    let run = |text: String| {
        folder.write("v/json.json", text);
        folder.run("vectors check v --json")
    };
    run(text.clone()).exits(0);
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let changed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut file = file.clone();
        change(&mut file);
        file.to_string()
    };
    let refused = file["vectors"].as_array().unwrap().iter().position(|it| it["result"] == "reject").unwrap();
    for change in [
        &|it: &mut serde_json::Value| it["vectors"][refused]["reason"] = "other".into(),
        &|it: &mut serde_json::Value| it["vectors"][refused]["result"] = "accept".into(),
        &|it: &mut serde_json::Value| it["vectors"][0]["canonical"] = "other".into(),
        &|it: &mut serde_json::Value| it["vectors"][0]["result"] = "reject".into(),
        &|it: &mut serde_json::Value| it["vectors"][0]["kind"] = "other".into(),
        &|it: &mut serde_json::Value| it["vectors"][0]["id"] = it["vectors"][1]["id"].clone(),
        &|it: &mut serde_json::Value| it["count"] = 99.into(),
        &|it: &mut serde_json::Value| it["version"] = 2.into(),
    ] as [&dyn Fn(&mut serde_json::Value); 8]
    {
        run(changed(change)).exits(1);
    }
    run("[]".to_owned()).exits(1);
    run("{".to_owned()).exits(1);
    // A subject that this version does not know is skipped, which alone proves nothing.
    let rows = run(changed(&|it| it["subject"] = "of tomorrow".into())).exits(1).rows();
    assert_eq!((&rows[0]["skipped"], &rows[0]["passed"]), (&105.into(), &0.into()));
}

#[test]
fn the_vectors_beside_this_repository() {
    let Some(shared) = gambeson_vectors::shared() else { return };
    let folder = Folder::new();
    // Trees of 2^15 to 2^25 leaves: `tall` has parts of them.
    let arguments = format!("vectors check {} --json --skip lms/tall --skip xmss/tall", shared.display());
    let rows = folder.run(&arguments).exits(1).rows();
    let sums = rows.last().unwrap();
    assert_eq!((&sums["failed"], &sums["unsupported"]), (&0.into(), &0.into()), "{sums}");
    // Schemes and forms that are not built here.
    let others = ["composite-kem/", "hqc/", "identity/", "lms/", "pkcs11-profiles/", "xmss/"];
    for name in sums["notRun"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()) {
        assert!(others.iter().any(|folder| name.starts_with(folder)), "{name} is not run");
    }
    let of_slh_dsa = [
        ("acvp-keyGen", 120),
        ("acvp-sigGen-1-per-group", 72),
        ("acvp-sigGen-digests", 196),
        ("acvp-sigVer-sample", 35),
        ("acvp-sigver-internal", 27),
    ]
    .map(|(name, count)| (format!("slh-dsa/{name}.jsonl.gz"), count));
    let of_lms = [("keyGen", 128), ("sigGen", 64), ("sigVer", 320)]
        .map(|(name, count)| (format!("lms/kat-{name}.jsonl.gz"), count));
    let of_xmss = [("kat-keyGen", 40), ("kat-sigGen", 40), ("kat-sigVer", 64), ("liboqs-verify", 37)]
        .map(|(name, count)| (format!("xmss/{name}.jsonl.gz"), count));
    for (name, count) in of_slh_dsa.into_iter().chain(of_lms).chain(of_xmss) {
        let row = rows.iter().find(|row| row["file"] == *name).unwrap();
        assert_eq!((&row["passed"], &row["failed"]), (&count.into(), &0.into()), "{row}");
    }
    for row in rows.iter().filter(|row| row["passed"] == 0) {
        assert!(sums["notRun"].as_array().unwrap().contains(&row["file"]), "{row}");
    }
}

/// An expectation that the program does not know is no success.
#[test]
fn members_and_results_that_are_not_known_are_failures_that_name_them() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("v")).unwrap();
    let run = |file: &Value| {
        folder.write("v/file.json", file.to_string());
        let rows = folder.run("vectors check v --json").exits(1).rows();
        assert_eq!(rows[0]["file"], "file.json");
        rows[0].to_string()
    };
    let mut seen = 0;
    for subject in ["sealed", "recovery"] {
        let file: Value =
            serde_json::from_slice(&std::fs::read(own().join(format!("{subject}.json"))).unwrap()).unwrap();
        let expecting: Vec<usize> = (0..file["vectors"].as_array().unwrap().len())
            .filter(|at| file["vectors"][at]["expect"].is_object())
            .collect();
        for at in expecting {
            let mut more = file.clone();
            more["vectors"][at]["expect"]["bogus"] = "00".into();
            let told = run(&more);
            assert!(told.contains("bogus"), "{told}");
            for name in file["vectors"][at]["expect"].as_object().unwrap().keys() {
                let mut less = file.clone();
                less["vectors"][at]["expect"].as_object_mut().unwrap().remove(name);
                let told = run(&less);
                assert!(told.contains(name.as_str()) || name == "seed", "{told}");
                seen += 1;
            }
        }
        let mut unknown = file.clone();
        unknown["vectors"][0]["result"] = "refuse".into();
        let told = run(&unknown);
        assert!(told.contains("unknown `result`") && told.contains("refuse"), "{told}");
    }
    assert!(seen > 40, "{seen}");

    for name in ["x25519_test", "hkdf_sha256_test", "aes_gcm_test"] {
        let file = std::fs::File::open(own().join(format!("wycheproof/{name}.json.gz"))).unwrap();
        let file: Value = serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap();
        for result in [Value::from("refused"), Value::from("Valid"), Value::Null, Value::from(true)] {
            let mut changed = file.clone();
            changed["testGroups"][0]["tests"][0]["result"] = result.clone();
            let told = run(&changed);
            assert!(
                told.contains("unknown `result`") && told.contains("valid, acceptable, invalid"),
                "{told}"
            );
        }
        for algorithm in ["XDHX", "EDDSA", "BOGUS", ""] {
            let mut changed = file.clone();
            changed["algorithm"] = algorithm.into();
            run(&changed);
        }
    }
    let mut changed: Value = {
        let file = std::fs::File::open(own().join("wycheproof/x25519_test.json.gz")).unwrap();
        serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap()
    };
    changed["algorithm"] = "XDHX".into();
    let told = run(&changed);
    assert!(told.contains("unknown `algorithm`") && told.contains("XDHX"), "{told}");
}
