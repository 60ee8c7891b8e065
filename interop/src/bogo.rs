//! BoringSSL's test runner ("BoGo") against rustls with our provider, and with that of aws-lc-rs.
//!
//! The runner comes with the package `boring-sys`, of which nothing is built. The shim that it drives is the program `bogo-shim` of this
//! package; `bogo.toml` lists what rustls has not or does otherwise, each with a reason.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use glob::Pattern;
use libtest_mimic::Trial;
use serde::Deserialize;

use crate::tools::{Result, check, command, exists, go, run, succeed, unavailable};

/// The version of `boring-sys` whose runner needs no newer Go than distributions have, and knows ML-DSA.
const VERSION: &str = "5.2.0";

/// Most tests of TLS 1.3 that the shim may leave out.
const MOST_UNIMPLEMENTED: usize = 50;

/// How names of tests of TLS 1.3 begin that have no version in them, beside those of our groups and schemes.
const WITHOUT_VERSION: [&str; 4] = [
    "KeyUpdate-",
    "PAKE-",
    "PartialServerHelloWithHelloRetryRequest",
    "Resume-Server-OmitAllPSKsOnSecondClientHello",
];

/// Tests that a shim fails which takes every signature.
const CANARY: &str =
    "Client-InvalidSignature-ML-DSA-65-TLS13;Server-InvalidSignature-ECDSA_P256_SHA256-TLS13";

/// The suite with us, judged by `bogo.toml`; and beside the same with AWS-LC.
#[must_use]
pub fn trials(scratch: &Path, shim: &Path) -> Vec<Trial> {
    if let Err(reason) = succeed(go().arg("version"), b"") {
        return vec![unavailable("bogo", reason.message().unwrap_or_default())];
    }
    let suite = Suite { scratch: scratch.join("bogo"), shim: shim.to_owned() };
    let other = suite.clone();
    vec![
        Trial::test("bogo::what_does_not_pass_with_us_is_listed", move || suite.with_us()),
        // The baseline, which takes as long once more.
        Trial::test("bogo::nothing_that_passes_with_aws_lc_fails_with_us", move || other.with_both()),
    ]
}

/// `bogo.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    absent: Vec<Entry>,
    differs: Vec<Entry>,
    unimplemented: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    because: String,
    tests: Vec<String>,
    /// How many tests fail for this reason, and how many the shim leaves out.
    #[serde(default)]
    fails: usize,
    #[serde(default)]
    skips: usize,
}

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Outcome {
    Pass,
    Fail,
    /// The shim knows no such thing.
    Skip,
}

type Outcomes = BTreeMap<String, Outcome>;

/// The least number of tests that BoringSSL's runner has.
const TESTS: usize = 7000;

/// Taken by a trial: both write the same reports.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The runner's folder, and the shim.
#[derive(Clone)]
struct Suite {
    scratch: PathBuf,
    shim: PathBuf,
}

impl Suite {
    /// Builds the runner, and checks that it catches the canary.
    fn runner(&self) -> Result<PathBuf> {
        let runner = build(&self.scratch)?;
        let more = ["-test", CANARY, "-shim-extra-flags", "-canary"];
        let canary = outcomes(&runner, &self.shim, &self.scratch, "gambeson", &more)?;
        let caught = CANARY.split(';').all(|test| canary.get(test) == Some(&Outcome::Fail));
        check(caught, "a shim that verifies no signature is caught")?;
        Ok(runner)
    }

    fn with_us(&self) -> Result {
        let _guard = ONE_AT_A_TIME.lock();
        let ours = outcomes(&self.runner()?, &self.shim, &self.scratch, "gambeson", &[])?;
        check(ours.len() > TESTS, "the whole suite ran")?;
        let listed = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/bogo.toml")).map_err(text)?;
        judge(&toml::from_str(&listed).map_err(text)?, &ours)
    }

    fn with_both(&self) -> Result {
        let _guard = ONE_AT_A_TIME.lock();
        let runner = self.runner()?;
        let suite = |provider| outcomes(&runner, &self.shim, &self.scratch, provider, &[]);
        let (theirs, ours) = (suite("aws-lc-rs")?, suite("gambeson")?);
        compare(&theirs, &ours)
    }
}

/// Checks that whatever passes with AWS-LC passes with us.
fn compare(theirs: &Outcomes, ours: &Outcomes) -> Result {
    check(ours.len() == theirs.len() && ours.len() > TESTS, "both ran the whole suite")?;
    let count = |all: &Outcomes, outcome| all.values().filter(|found| **found == outcome).count();
    for (name, all) in [("aws-lc-rs", theirs), ("gambeson", ours)] {
        eprintln!(
            "bogo, {name}: {} tests, {} passed, {} failed, {} not of this shim",
            all.len(),
            count(all, Outcome::Pass),
            count(all, Outcome::Fail),
            count(all, Outcome::Skip)
        );
    }
    let worse: Vec<&str> = theirs
        .iter()
        .filter(|(name, outcome)| **outcome == Outcome::Pass && ours.get(*name) != Some(&Outcome::Pass))
        .map(|(name, _)| &name[..])
        .collect();
    check(worse.is_empty(), format!("what passes with aws-lc-rs passes with us, but not {worse:?}"))
}

/// Holds the tests of TLS 1.3, by their names, against the list.
fn judge(list: &List, ours: &Outcomes) -> Result {
    let kinds =
        [("absent", &list.absent), ("differs", &list.differs), ("unimplemented", &list.unimplemented)];
    let entries: Vec<(&str, &Entry)> =
        kinds.iter().flat_map(|(kind, entries)| entries.iter().map(|entry| (*kind, entry))).collect();
    let mut passed = 0;
    // How many of each entry fail, and how many are skipped.
    let mut found = vec![(0, 0); entries.len()];
    let mut seen = BTreeMap::new();
    let mut unlisted = Vec::new();
    let has = |name: &str, parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let counted = ours.iter().filter(|(name, _)| {
        !has(name, &["DTLS", "QUIC"])
            && (has(name, &["TLS13"])
                || has(name, &["MLKEM", "ML-DSA"]) && !has(name, &["TLS12"])
                || WITHOUT_VERSION.iter().any(|begin| name.starts_with(begin)))
    });
    for (name, outcome) in counted {
        if *outcome == Outcome::Pass {
            passed += 1;
            continue;
        }
        let mut first = None;
        for (at, (_, entry)) in entries.iter().enumerate() {
            for pattern in &entry.tests {
                let fits = Pattern::new(pattern).map_err(text)?.matches(name);
                *seen.entry(pattern).or_insert(0) += usize::from(fits);
                first = first.or(fits.then_some(at));
            }
        }
        let Some(at) = first else {
            unlisted.push(&name[..]);
            continue;
        };
        let (kind, entry) = entries[at];
        if kind == "unimplemented" {
            eprintln!("bogo, unimplemented: {name}: {}", entry.because);
        }
        let (fails, skips) = &mut found[at];
        *if *outcome == Outcome::Fail { fails } else { skips } += 1;
    }
    let mut left_out = 0;
    eprint!("bogo, TLS 1.3: {passed} passed");
    for (kind, _) in kinds {
        let of_kind = entries.iter().zip(&found).filter(|((of, _), _)| *of == kind);
        let (fails, skips) = of_kind.fold((0, 0), |sum, (_, found)| (sum.0 + found.0, sum.1 + found.1));
        eprint!("; {kind}: {fails} failed, {skips} skipped");
        if kind == "unimplemented" {
            left_out = skips;
        }
    }
    eprintln!();
    check(unlisted.is_empty(), format!("each test that does not pass is listed, but not {unlisted:?}"))?;
    let stale: Vec<_> = seen.iter().filter(|(_, count)| **count == 0).map(|(pattern, _)| pattern).collect();
    check(stale.is_empty(), format!("each pattern is of a test that does not pass, but not {stale:?}"))?;
    // One that begins to pass, or to be left out where it failed, is noticed by these.
    let others: Vec<String> = entries
        .iter()
        .zip(&found)
        .filter(|((_, entry), found)| **found != (entry.fails, entry.skips))
        .map(|((_, entry), (fails, skips))| format!("{}: fails = {fails}, skips = {skips}", entry.because))
        .collect();
    check(
        others.is_empty(),
        format!("as many fail and are skipped as the list says, but\n{}", others.join("\n")),
    )?;
    // What is done otherwise was done, and what the shim leaves out was not even tried.
    let misplaced: Vec<&str> = entries
        .iter()
        .filter(|(kind, entry)| match *kind {
            "differs" => entry.skips > 0,
            "unimplemented" => entry.fails > 0,
            _ => false,
        })
        .map(|(_, entry)| &entry.because[..])
        .collect();
    let which = "what differs fails and what is unimplemented is skipped";
    check(misplaced.is_empty(), format!("{which}, but not {misplaced:?}"))?;
    check(left_out <= MOST_UNIMPLEMENTED, "few tests of TLS 1.3 are unimplemented")?;
    let terse = entries.iter().map(|(_, entry)| &entry.because);
    let terse: Vec<_> = terse.filter(|because| because.split_whitespace().count() < 4).collect();
    check(terse.is_empty(), format!("each reason is a sentence, but not {terse:?}"))
}

/// Runs the suite, or a part of it.
///
/// `-loose-errors`: the shim need not print what BoringSSL calls an error, for rustls has names of its own. That a test which must fail does,
/// and with the alert that it wants, is held all the same: of what `bogo.toml` says differs, `MissingKeyShare-Server-*` fails for its
/// alert alone, and would be found to pass.
fn outcomes(runner: &Path, shim: &Path, scratch: &Path, provider: &str, more: &[&str]) -> Result<Outcomes> {
    #[derive(Deserialize)]
    struct Report {
        tests: BTreeMap<String, Test>,
    }
    #[derive(Deserialize)]
    struct Test {
        actual: Outcome,
    }
    let report = scratch.join(format!("{provider}.json"));
    let mut suite = command(runner);
    suite.args(["-pipe", "-allow-unimplemented", "-loose-errors", "-shim-path"]).arg(shim);
    suite.arg("-json-output").arg(&report).args(more).env("BOGO_PROVIDER", provider);
    // That tests fail is no failure of the run; whether it ran is seen by its report.
    let _ = fs::remove_file(&report);
    let output = run(&mut suite, b"")?;
    if !exists(&report) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let report: Report = serde_json::from_slice(&fs::read(&report).map_err(text)?).map_err(text)?;
    Ok(report.tests.into_iter().map(|(name, test)| (name, test.actual)).collect())
}

/// The runner as a program; made once of each version.
fn build(scratch: &Path) -> Result<PathBuf> {
    let scratch = scratch.join(VERSION);
    let runner = scratch.join("runner");
    if exists(&runner) {
        return Ok(runner);
    }
    let (fetch, source) = (scratch.join("fetch"), scratch.join("source"));
    fs::create_dir_all(&fetch).map_err(text)?;
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\nboring-sys = \"={VERSION}\"\n[workspace]\n"
    );
    fs::write(fetch.join("Cargo.toml"), manifest).map_err(text)?;
    fs::write(fetch.join("lib.rs"), "").map_err(text)?;
    succeed(command("cargo").arg("fetch").current_dir(&fetch), b"")?;
    let mut metadata = command("cargo");
    metadata.args(["metadata", "--format-version", "1"]).current_dir(&fetch);
    let metadata: serde_json::Value = serde_json::from_slice(&succeed(&mut metadata, b"")?).map_err(text)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages.into_iter().find(|package| package["name"] == "boring-sys");
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = Path::new(manifest.ok_or("cargo fetched no boring-sys")?).with_file_name("deps/boringssl");
    let _ = fs::remove_dir_all(&source);
    for part in ["ssl/test/runner", "util/testresult"] {
        copy(&folder.join(part), &source.join(part))?;
    }
    for file in ["go.mod", "go.sum"] {
        fs::copy(folder.join(file), source.join(file)).map_err(text)?;
    }
    let folder = source.join("ssl/test/runner");
    keys(&folder)?;
    succeed(go().args(["test", "-c", "-o"]).arg(&runner).arg(".").current_dir(&folder), b"")?;
    Ok(runner)
}

/// The keys that the runner has in files, which the package leaves out.
fn keys(folder: &Path) -> Result {
    let curve = |name: &str| format!("ec_paramgen_curve:{name}");
    let keys = [
        ("rsa_2048", "RSA", "rsa_keygen_bits:2048".to_owned()),
        ("rsa_1024", "RSA", "rsa_keygen_bits:1024".to_owned()),
        ("ecdsa_p256", "EC", curve("P-256")),
        ("ecdsa_p384", "EC", curve("P-384")),
        ("ecdsa_p521", "EC", curve("P-521")),
        ("channel_id", "EC", curve("P-256")),
        ("ed25519", "ED25519", String::new()),
    ];
    for (name, algorithm, option) in keys {
        let mut make = command("openssl");
        make.args(["genpkey", "-algorithm", algorithm, "-out"]).arg(folder.join(format!("{name}_key.pem")));
        if !option.is_empty() {
            make.args(["-pkeyopt", &option]);
        }
        succeed(&mut make, b"")?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result {
    fs::create_dir_all(to).map_err(text)?;
    for entry in fs::read_dir(from).map_err(text)? {
        let entry = entry.map_err(text)?;
        let target = to.join(entry.file_name());
        match entry.file_type().map_err(text)?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => drop(fs::copy(entry.path(), target).map_err(text)?),
        }
    }
    Ok(())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"
        unimplemented = []
        [[absent]]
        because = "rustls has no such thing"
        tests = ["A-*-TLS13", "B-*"]
        fails = 2
        skips = 1
        [[differs]]
        because = "rustls does it otherwise"
        tests = ["C-TLS13"]
        fails = 1
    "#;
    const FOUND: [(&str, Outcome); 5] = [
        ("A-1-TLS13", Outcome::Fail),
        ("A-2-TLS13", Outcome::Skip),
        ("B-TLS13", Outcome::Fail),
        ("C-TLS13", Outcome::Fail),
        ("D-TLS13", Outcome::Pass),
    ];

    #[test]
    fn a_test_that_comes_out_otherwise_than_the_list_says_is_noticed() {
        let list = toml::from_str(LIST).unwrap();
        let all: Outcomes = FOUND.into_iter().map(|(name, outcome)| (name.to_owned(), outcome)).collect();
        assert!(judge(&list, &all).is_ok());
        let mut noticed = 0;
        for (name, was) in FOUND {
            for outcome in [Outcome::Pass, Outcome::Fail, Outcome::Skip] {
                let mut all = all.clone();
                all.insert(name.to_owned(), outcome);
                assert_eq!(judge(&list, &all).is_ok(), outcome == was, "{name} {outcome:?}");
                noticed += usize::from(outcome != was);
            }
        }
        assert_eq!(noticed, 10);
    }
}
