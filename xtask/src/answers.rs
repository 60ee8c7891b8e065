//! The answers of `gambeson vectors serve`: with every check on, and the same as in the release.

use crate::c::PREHASHES;
use crate::checks;
use crate::run::{Workspace, empty_folder, files_below, files_in, side_by_side};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

/// Builds the program with checks.
pub fn checked(workspace: &Workspace) -> Result<PathBuf> {
    workspace.logged("build-checked", &mut checks::everything(workspace, &PROGRAM))?;
    Ok(workspace.built("checked", "gambeson"))
}

/// An example brings the features of the tests, for which what is checked is built already.
const PROGRAM: [&str; 6] = ["build", "--quiet", "--bin", "gambeson", "--example", "passive_clients"];

/// Asks the program with checks everything, and another if there is one, and compares line by line.
pub fn compare(workspace: &Workspace, other: Option<&Path>) -> Result<String> {
    let checked = checked(workspace)?;
    let mut requests = made_requests(&checked)?;
    let made = requests.len();
    if let Some(folder) = workspace.shared_vectors() {
        requests.extend(lines_below(&folder)?);
    }
    let programs: Vec<&Path> = [Some(&*checked), other].into_iter().flatten().collect();
    let answers = side_by_side(&programs, |_, program| serve(program, &requests))?;
    let (one, others) = answers.split_first().context("a program answers")?;
    let mut errors = Vec::new();
    for two in others {
        for (request, (one, two)) in requests.iter().zip(one.iter().zip(two)) {
            if one != two {
                errors.push(format!("{}\n  checked: {}\n  without: {}", cut(request), cut(one), cut(two)));
            }
        }
    }
    let code = |answer: &String| Some(read(answer).ok()?["error"].as_str()?.to_owned());
    let codes: BTreeSet<String> = one.iter().filter_map(code).collect();
    let wanted =
        ["bad-json", "bad-request", "unsupported", "bad-hex", "bad-length", "bad-key", "bad-context"];
    for code in wanted.into_iter().filter(|code| !codes.contains(*code)) {
        errors.push(format!("no request was answered with {code}"));
    }
    if codes.contains("internal") {
        errors.push("a request was answered with internal".into());
    }
    ensure!(errors.is_empty(), "{} faults\n{}", errors.len(), errors[..errors.len().min(20)].join("\n"));
    let shared = match requests.len() - made {
        0 => "../shared/vectors is not there".to_owned(),
        shared => format!("{shared} from ../shared/vectors"),
    };
    let how = other.map_or("with checks", |_| "identical with checks and without");
    Ok(format!("{} answers {how} ({made} made here, {shared})", requests.len()))
}

/// The files of vectors of the identity layer, and of sessions.
const SUBJECTS: usize = 22;
/// The files of passive clients of MLS, and how many of those there are.
const CLIENTS: (usize, u64) = (3, 13 + 10 + 11);
/// The files of C2SP and of Wycheproof.
const THEIRS: usize = 2 + 18;

/// The vectors of the identity layer; and each file with one planted mistake, which must be seen.
pub fn subjects(workspace: &Workspace) -> Result<String> {
    let program = checked(workspace)?;
    let own = workspace.root.join("vectors");
    let check = |name: &str, folder: &Path| {
        let mut check = workspace.command(&program, &["vectors", "check", "--json"]);
        workspace.tried(&format!("vectors-{name}"), check.arg(folder))
    };
    let (success, text) = check("identity", &own)?;
    ensure!(success, "the vectors of the identity layer do not hold:\n{text}");
    let rows = text.lines().map(read).collect::<Result<Vec<_>>>()?;
    let sums = rows.last().context("a sum")?;
    let files = files_in(&own, ".json")?.len();
    ensure!(
        files == SUBJECTS && sums["files"] == files + CLIENTS.0 + THEIRS,
        "{files} files, not {SUBJECTS}: {sums}"
    );
    let of_mls = |row: &&Value| row["file"].as_str().is_some_and(|file| file.starts_with("mls/"));
    let ours = || rows.iter().filter(|row| row["file"].as_str().is_some_and(|file| !file.contains('/')));
    let held: u64 = rows.iter().filter(of_mls).filter_map(|row| row["passed"].as_u64()).sum();
    ensure!(held == CLIENTS.1, "{held} passive clients of MLS hold, not {}", CLIENTS.1);
    ensure!(sums["notRun"] == Value::Array(Vec::new()), "a file without a judge: {sums}");
    let skipped = ours().filter(|row| row["skipped"] != 0).count();
    ensure!(skipped == 0 && sums["unsupported"] == 0, "a case without a judge: {sums}");
    // In those of others, the tests of `gambeson-mls` and `gambeson-cli` change texts.
    let judged = ours().filter(|row| row["passed"].as_u64() > Some(0));
    let names: Vec<&str> = judged.filter_map(|row| row["file"].as_str()).collect();
    side_by_side(&names, |_, name| {
        let mut file: Value = serde_json::from_slice(&fs::read(own.join(name))?)?;
        let vectors = file["vectors"].as_array_mut().context("vectors")?;
        let refused = vectors.iter_mut().find(|vector| vector["result"] == "reject");
        refused.context("a vector that is refused")?["reason"] = "planted".into();
        let folder = workspace.target.join("xtask/vectors").join(name);
        empty_folder(&folder)?;
        fs::write(folder.join(name), file.to_string())?;
        let (success, text) = check(&format!("planted-{name}"), &folder)?;
        ensure!(!success, "canary: a wrong reason in {name} was not seen:\n{text}");
        Ok(())
    })?;
    let planted = names.len();
    ensure!(planted == files, "{planted} mistakes were planted, not one in each of {files} files");
    Ok(format!("{} passed, none of {files} files skipped; {planted} planted mistakes seen", sums["passed"]))
}

/// Folders of published vectors whose schemes or forms are not built: their files are named as not run.
const NOT_BUILT: [&str; 7] =
    ["composite-kem/", "hqc/", "identity/", "lms/acvp-", "lms/bc-", "lms/rfc8554-", "pkcs11-profiles/"];

/// Folders that take minutes to hours. Tests of the workspace compute parts of the tall trees, and run SLH-DSA at the highest level; the core's
/// tests compare the tables of all levels.
const LONG: [&str; 3] = ["lms/tall", "xmss/tall", "slh-dsa"];

/// The levels of this architecture, the lowest first.
const LEVELS: &[&str] =
    if cfg!(target_arch = "x86_64") { &["portable", "avx2", "avx512"] } else { &["portable", "neon"] };

/// The published vectors beside this repository, with the tables of every level that this machine can run.
pub fn check_shared(workspace: &Workspace, folder: &Path) -> Result<String> {
    let mut doctor = workspace.command(checked(workspace)?, &["doctor", "--json"]);
    let doctor = read(&workspace.logged("doctor", &mut doctor)?)?;
    let best = doctor["cpu"]["detected"].as_str().context("the program names its level")?;
    let place = LEVELS.iter().position(|level| *level == best).context("the program names a level")?;
    let sums = side_by_side(&LEVELS[..=place], |_, level| {
        let mut command =
            workspace.command(workspace.built("checked", "gambeson"), &["vectors", "check", "--json"]);
        command.args(LONG.iter().flat_map(|folder| ["--skip", folder])).args(["--limit", level]);
        // Files of schemes that are not built make it fail; what is wrong with any other is told in its sum.
        let (_, text) = workspace.tried(&format!("vectors-check-{level}"), command.arg(folder))?;
        let sum = read(text.lines().last().context("nothing was printed")?)?;
        let wrong = ["failed", "unsupported", "unreadable"].iter().any(|name| sum[name] != 0);
        ensure!(!wrong, "with the {level} tables, a vector does not hold: {sum}");
        ensure!(sum["level"] == *level, "the {level} tables did not run: {sum}");
        let not_run = sum["notRun"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let known = not_run.filter(|name| !NOT_BUILT.iter().any(|folder| name.starts_with(folder)));
        let known: Vec<&str> = known.collect();
        ensure!(known.is_empty(), "with the {level} tables, files are not run: {known:?}");
        Ok(sum)
    })?;
    let sum = sums.last().context("the portable tables ran")?;
    let [files, passed, failed, skipped] = ["files", "passed", "failed", "skipped"].map(|name| &sum[name]);
    let not_run = sum["notRun"].as_array().map_or(0, Vec::len);
    Ok(format!(
        "{files} files, {not_run} of them of schemes that are not built: {passed} passed, {failed} failed, {skipped} skipped (not listed by `info`); each with {}",
        LEVELS[..=place].join(", ")
    ))
}

fn read(json: &str) -> Result<Value> {
    Ok(serde_json::from_str(json)?)
}

/// A good vector passes `vectors check`; the same with one bit flipped, an unreadable line and an empty folder do not.
pub fn canary(workspace: &Workspace) -> Result<String> {
    let program = checked(workspace)?;
    let requests = keygen_requests();
    let answers = serve(&program, &requests)?;
    let mut lines = Vec::new();
    for (request, answer) in requests.iter().zip(&answers) {
        let (mut test, mut expect) = (read(request)?, read(answer)?);
        expect.as_object_mut().context("an answer is an object")?.remove("id");
        test["expect"] = expect;
        lines.push(test.to_string());
    }
    let good = lines.join("\n") + "\n";
    let last = good.rfind(['0', '1']).context("a key has such a digit")?;
    let mut flipped = good.clone();
    let other = if good[last..].starts_with('0') { "1" } else { "0" };
    flipped.replace_range(last..=last, other);
    let unknown = good.replacen("\"keygen\"", "\"keyjen\"", 1);
    let cases = [
        ("good", Some(good.clone()), true),
        ("flipped", Some(flipped), false),
        ("unreadable", Some(good + "{\n"), false),
        ("unsupported", Some(unknown), false),
        ("empty", None, false),
    ];
    let count = cases.len() - 1;
    for (name, content, right) in cases {
        let folder = workspace.target.join("xtask/vectors").join(name);
        empty_folder(&folder)?;
        if let Some(content) = content {
            let file = folder.join("keygen.jsonl");
            fs::write(&file, content)?;
            workspace.logged("gzip", workspace.command("gzip", &["-f"]).arg(&file))?;
        }
        let mut check = workspace.command(&program, &["vectors", "check"]);
        let (success, text) = workspace.tried(&format!("vectors-{name}"), check.arg(&folder))?;
        let ended = if success { "passed" } else { "failed" };
        ensure!(success == right, "canary: vectors check on the {name} folder {ended}:\n{text}");
    }
    Ok(format!("a good folder passes; {count} bad ones, one with a flipped bit, are refused"))
}

/// Sends all requests to one process, and reads as many answers.
pub fn serve(program: &Path, requests: &[String]) -> Result<Vec<String>> {
    let mut child = Command::new(program)
        .args(["vectors", "serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| program.display().to_string())?;
    let mut input = child.stdin.take().context("a pipe was asked for")?;
    let output = child.stdout.take().context("a pipe was asked for")?;
    let text = requests.join("\n") + "\n";
    let writer = thread::spawn(move || input.write_all(text.as_bytes()));
    let answers = BufReader::new(output).lines().collect::<Result<Vec<_>, _>>()?;
    let written = writer.join().map_err(|_| anyhow::anyhow!("the writer panicked"))?;
    let status = child.wait()?;
    if !status.success() || written.is_err() || answers.len() != requests.len() {
        bail!("{}: {} answers to {} requests, {status}", program.display(), answers.len(), requests.len());
    }
    Ok(answers)
}

/// Every line of every compressed file below the folder.
fn lines_below(folder: &Path) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for file in files_below(folder, ".jsonl.gz")? {
        lines.extend(unpacked(&file)?.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    Ok(lines)
}

/// The text in a file of vectors.
pub fn unpacked(file: &Path) -> Result<String> {
    let output = Command::new("gzip").arg("-dc").arg(file).output()?;
    ensure!(output.status.success(), "{} is not gzip", file.display());
    Ok(String::from_utf8(output.stdout)?)
}

const KEMS: &[&str] = &["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"];
const SIGNATURES: &[&str] = &["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"];
/// Hybrids, with the length of the curve's scalar.
const HYBRIDS: &[(&str, usize)] = &[
    ("X25519MLKEM768", 32),
    ("SecP256r1MLKEM768", 32),
    ("SecP384r1MLKEM1024", 48),
    ("X448MLKEM768", 56),
    ("X448MLKEM1024", 56),
    ("MLKEM768-X25519-SHA3-256", 32),
    ("MLKEM768-ECDH-P256-SHA3-256", 32),
    ("MLKEM768-ECDH-P384-SHA3-256", 48),
    ("MLKEM1024-ECDH-P384-SHA3-256", 48),
    ("MLKEM1024-X448-SHA3-256", 56),
];
/// Composites, with what stands around the second secret, and its length.
const COMPOSITES: &[(&str, &str, usize, &str)] = &[
    ("MLDSA87-Ed448-SHAKE256", "", 57, ""),
    ("MLDSA87-ECDSA-P384-SHA512", "303e0201010430", 48, "a00706052b81040022"),
    ("MLDSA65-Ed25519-SHA512", "", 32, ""),
    ("MLDSA65-ECDSA-P384-SHA512", "303e0201010430", 48, "a00706052b81040022"),
    ("MLDSA65-ECDSA-P256-SHA512", "30310201010420", 32, "a00a06082a8648ce3d030107"),
    ("MLDSA44-Ed25519-SHA512", "", 32, ""),
    ("MLDSA44-ECDSA-P256-SHA256", "30310201010420", 32, "a00a06082a8648ce3d030107"),
];

fn hex(label: &str, length: usize) -> String {
    // A small generator of our own: what it draws need not be good, only the same in every run.
    let mut state = label.bytes().fold(0x9e37_79b9_7f4a_7c15_u64, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    });
    let mut text = String::with_capacity(2 * length);
    for _ in 0..length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text += &format!("{:02x}", state >> 56);
    }
    text
}

/// A key of every algorithm.
pub fn keygen_requests() -> Vec<String> {
    let mut requests = Vec::new();
    for alg in KEMS {
        requests.push(json!({"alg": alg, "op": "keygen", "d": hex(alg, 32), "z": hex("z", 32)}));
    }
    for alg in SIGNATURES {
        requests.push(json!({"alg": alg, "op": "keygen", "seed": hex(alg, 32)}));
    }
    requests.push(json!({"alg": "X-Wing", "op": "keygen", "seed": hex("x", 32)}));
    for (alg, length) in HYBRIDS {
        let (d, z, x) = (hex(alg, 32), hex("z", 32), hex("s", *length));
        requests.push(json!({"alg": alg, "op": "keygen", "d": d, "z": z, "x": x}));
    }
    requests.iter().map(Value::to_string).collect()
}

/// A corpus that needs no file: keys, then what can be done with them, rightly and wrongly.
fn made_requests(program: &Path) -> Result<Vec<String>> {
    let mut corpus = Corpus { program, requests: Vec::new() };
    let mut keys = BTreeMap::new();
    let keygen = keygen_requests().iter().map(|text| read(text)).collect::<Result<_>>()?;
    for (request, key) in corpus.answered(keygen)? {
        let alg = request["alg"].as_str().context("ours")?.to_owned();
        ensure!(key.get("error").is_none(), "{} is answered with {key}", cut(&request.to_string()));
        keys.insert(alg, key);
    }
    let field = |alg: &str, name: &str| keys[alg][name].as_str().unwrap_or_default().to_owned();
    let mut sends: Vec<Value> = Vec::new();
    for alg in KEMS {
        sends.push(json!({"alg": alg, "op": "encaps", "ek": field(alg, "ek"), "m": hex("m", 32)}));
    }
    sends.push(json!({"alg": "X-Wing", "op": "encaps", "ek": field("X-Wing", "ek"), "eseed": hex("e", 64)}));
    for (request, answer) in corpus.answered(sends)? {
        let alg = request["alg"].as_str().context("ours")?;
        let c = answer["c"].as_str().unwrap_or_default();
        let (dk, ek) = (field(alg, "dk"), field(alg, "ek"));
        for c in [c.to_owned(), flip(c), c.get(2..).unwrap_or_default().to_owned(), c.to_uppercase()] {
            corpus.ask(json!({"alg": alg, "op": "decaps", "dk": dk, "c": c}));
        }
        corpus.ask(json!({"alg": alg, "op": "decaps", "d": hex(alg, 32), "z": hex("z", 32), "c": c}));
        corpus.ask(json!({"alg": alg, "op": "decaps", "dk": flip(&dk), "c": c}));
        let unreduced = format!("ffff{}", ek.get(4..).unwrap_or_default());
        for ek in [&ek, &unreduced, &ek[2..].to_owned()] {
            let (m, eseed) = (hex("m", 32), hex("e", 64));
            corpus.ask(json!({"alg": alg, "op": "encaps", "ek": ek, "m": m, "eseed": eseed}));
            corpus.ask(json!({"alg": alg, "op": "checkEk", "ek": ek}));
        }
        corpus.ask(json!({"alg": alg, "op": "checkDk", "dk": dk}));
        corpus.ask(json!({"alg": alg, "op": "checkDk", "dk": flip(&dk)}));
    }
    signature_requests(&mut corpus, &field)?;
    hybrid_requests(&mut corpus, &field)?;
    composite_requests(&mut corpus)?;
    // Behind those of SHA-2.
    for alg in PREHASHES[6..].iter().chain(&["cSHAKE-128", "cSHAKE-256"]) {
        for length in [0, 1, 71, 72, 135, 136, 137, 167, 168, 169, 400] {
            let whole = json!({"outLen": 8 * length, "functionName": "", "customization": hex("c", length)});
            let pieces = json!({"outLen": 1600, "absorb": [0, length, 0], "squeeze": [0, 1, 135, 0, 2],
                "functionName": "4e", "customization": ""});
            for mut request in [whole, pieces] {
                request["alg"] = json!(alg);
                request["op"] = json!("hash");
                request["message"] = json!(hex("h", length));
                corpus.ask(request);
            }
        }
    }
    for alg in ["KMAC-128", "KMAC-256"] {
        for length in [0, 1, 168, 300] {
            let (key, message) = (hex("k", length), hex("h", length));
            corpus.ask(json!({"alg": alg, "op": "mac", "key": key, "message": message, "macLen": 256,
                "customization": ""}));
        }
    }
    corpus.requests.extend(WRONG.iter().map(|&request| request.to_owned()));
    Ok(corpus.requests)
}

/// Requests, and a program that answers those on whose answers others depend.
struct Corpus<'a> {
    program: &'a Path,
    requests: Vec<String>,
}

impl Corpus<'_> {
    fn ask(&mut self, request: Value) {
        self.requests.push(request.to_string());
    }

    /// Adds requests. Returns each with its answer.
    fn answered(&mut self, requests: Vec<Value>) -> Result<Vec<(Value, Value)>> {
        let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
        let answers = serve(self.program, &lines)?;
        self.requests.extend(lines);
        let answered = requests.into_iter().zip(answers);
        answered.map(|(request, answer)| Ok((request, read(&answer)?))).collect()
    }
}

/// Adds what the hybrids send, rightly and wrongly.
fn hybrid_requests(corpus: &mut Corpus<'_>, field: &dyn Fn(&str, &str) -> String) -> Result<()> {
    let mut sends = Vec::new();
    for (alg, length) in HYBRIDS {
        let x = hex("e", *length);
        sends.push(json!({"alg": alg, "op": "encaps", "ek": field(alg, "ek"), "m": hex("m", 32), "x": x}));
    }
    for (request, answer) in corpus.answered(sends)? {
        let alg = request["alg"].as_str().context("ours")?;
        let c = answer["c"].as_str().with_context(|| format!("{alg}: {answer}"))?;
        let (dk, ek) = (field(alg, "dk"), field(alg, "ek"));
        for c in [c.to_owned(), flip(c), c[2..].to_owned(), "00".repeat(c.len() / 2)] {
            corpus.ask(json!({"alg": alg, "op": "decaps", "dk": dk, "c": c}));
        }
        for ek in [flip(&ek), ek[2..].to_owned(), "ff".repeat(ek.len() / 2), "00".repeat(ek.len() / 2)] {
            let mut wrong = request.clone();
            wrong["ek"] = ek.into();
            corpus.ask(wrong);
        }
    }
    Ok(())
}

/// Adds keys, signatures and verdicts of the composites, rightly and wrongly.
fn composite_requests(corpus: &mut Corpus<'_>) -> Result<()> {
    for (alg, head, length, tail) in COMPOSITES {
        let sk = format!("{}{head}{}{tail}", hex(alg, 32), hex("s", *length));
        let made = corpus.answered(vec![
            json!({"alg": alg, "op": "pubkey", "sk": sk}),
            json!({"alg": alg, "op": "sign", "sk": sk, "message": hex("h", 99), "context": "01"}),
            json!({"alg": alg, "op": "sign", "sk": sk, "message": "", "rnd": hex("r", 32)}),
        ])?;
        let [(_, public), (_, signed), _] = &made[..] else { bail!("three answers") };
        let pk = public["pk"].as_str().with_context(|| format!("{alg}: {public}"))?;
        let signature = signed["signature"].as_str().with_context(|| format!("{alg}: {signed}"))?;
        for (pk, signature) in [
            (pk.to_owned(), signature.to_owned()),
            (pk.to_owned(), flip(signature)),
            (pk.to_owned(), signature[2..].to_owned()),
            (flip(pk), signature.to_owned()),
            (pk[2..].to_owned(), signature.to_owned()),
            ("ff".repeat(pk.len() / 2), signature.to_owned()),
        ] {
            corpus.ask(json!({"alg": alg, "op": "verify", "pk": pk, "signature": signature,
                "message": hex("h", 99), "context": "01"}));
        }
        corpus.ask(json!({"alg": alg, "op": "pubkey", "sk": sk[2..]}));
        corpus.ask(json!({"alg": alg, "op": "pubkey", "sk": flip(&sk)}));
        let context = hex("c", 256);
        corpus.ask(json!({"alg": alg, "op": "sign", "sk": sk, "message": "", "context": context}));
    }
    Ok(())
}

/// Adds signatures of every interface by both forms of a key, and verdicts on them, rightly and wrongly.
fn signature_requests(corpus: &mut Corpus<'_>, field: &dyn Fn(&str, &str) -> String) -> Result<()> {
    for alg in SIGNATURES {
        let (sk, pk) = (field(alg, "sk"), field(alg, "pk"));
        let mut variants = vec![
            json!({"message": hex("msg", 33)}),
            json!({"message": "", "context": hex("ctx", 255)}),
            json!({"message": "", "context": hex("ctx", 256)}),
            json!({"message": hex("msg", 70), "signatureInterface": "internal"}),
            json!({"mu": hex("mu", 64), "externalMu": true, "signatureInterface": "internal"}),
            json!({"mu": hex("mu", 63), "externalMu": true}),
            json!({"message": "00", "externalMu": true}),
            json!({"message": "00", "preHash": "preHash", "hashAlg": "MD5"}),
        ];
        for hash in PREHASHES {
            variants.push(json!({"message": hex("msg", 20), "preHash": "preHash", "hashAlg": hash}));
        }
        let with = |request: &Value, more: Value| {
            let mut request = request.clone();
            let fields = more.as_object().into_iter().flatten();
            fields.for_each(|(name, value)| request[name] = value.clone());
            request
        };
        for variant in &variants {
            let signs = [("seed", hex(alg, 32)), ("sk", sk.clone())].map(|(name, key)| {
                with(variant, json!({"alg": alg, "op": "sign", name: key, "rnd": hex("rnd", 32)}))
            });
            for (_, answer) in corpus.answered(signs.into())? {
                let signature = answer["signature"].as_str().unwrap_or_default().to_owned();
                let short = signature.get(2..).unwrap_or_default().to_owned();
                for signature in [flip(&signature), short, signature] {
                    let verify = json!({"alg": alg, "op": "verify", "pk": pk, "signature": signature});
                    corpus.ask(with(variant, verify));
                }
            }
        }
        // s1 with a coefficient that no honest key has.
        let bad = format!("{}ff{}", &sk[..256], &sk[258..]);
        corpus.ask(json!({"alg": alg, "op": "sign", "sk": bad, "message": ""}));
        corpus.ask(json!({"alg": alg, "op": "sign", "sk": sk, "seed": hex(alg, 32), "message": ""}));
    }
    Ok(())
}

/// The same string with another digit in the middle.
fn flip(hex: &str) -> String {
    let middle = hex.len() / 2;
    let other = if hex[middle..].starts_with('0') { "1" } else { "0" };
    hex.get(middle + 1..).map_or_else(String::new, |rest| format!("{}{other}{rest}", &hex[..middle]))
}

const WRONG: &[&str] = &[
    "{",
    "[]",
    "null",
    "\"op\"",
    "{}",
    "{\"id\":7}",
    "{\"id\":\"a\",\"op\":\"info\"}",
    "{\"alg\":\"ML-KEM-768\"}",
    "{\"alg\":\"ML-KEM-768\",\"op\":\"keygen\"}",
    "{\"alg\":\"ML-KEM-768\",\"op\":\"keygen\",\"d\":1,\"z\":2}",
    "{\"alg\":\"ML-KEM-768\",\"op\":\"keygen\",\"d\":\"0\",\"z\":\"00\"}",
    "{\"alg\":\"ML-KEM-768\",\"op\":\"keygen\",\"d\":\"zz\",\"z\":\"00\"}",
    "{\"alg\":\"ML-KEM-768\",\"op\":\"keygen\",\"d\":\"00\",\"z\":\"00\"}",
    "{\"alg\":\"ML-KEM-769\",\"op\":\"keygen\"}",
    "{\"alg\":\"ML-KEM-768\",\"op\":\"sing\"}",
    "{\"alg\":\"SHAKE-128\",\"op\":\"hash\",\"message\":\"\",\"outLen\":7}",
    "{\"alg\":\"SHAKE-128\",\"op\":\"hash\",\"message\":\"\",\"outLen\":-8}",
    "{\"alg\":\"SHA3-256\",\"op\":\"hash\",\"message\":\"00\",\"absorb\":[2]}",
    "{\"alg\":\"ML-DSA-44\",\"op\":\"verify\",\"pk\":\"\",\"message\":\"\",\"signature\":\"\"}",
];

fn cut(text: &str) -> String {
    let mut end = text.len().min(200);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flip_changes_one_digit() {
        assert_eq!(flip("0000"), "0010");
        assert_eq!(flip("00f0"), "0000");
        assert_eq!(flip(""), "");
    }

    #[test]
    fn drawn_bytes_repeat_and_differ() {
        assert_eq!(hex("a", 4), hex("a", 4));
        assert_ne!(hex("a", 32), hex("b", 32));
        assert_eq!(hex("a", 9).len(), 18);
    }
}
