//! The commands that measure, show and describe.

#[cfg(target_os = "linux")]
use crate::program::has_program;
use crate::program::{Folder, finish, noise, program};

#[test]
fn bench_measures_ours_and_others() {
    let folder = Folder::new();
    let rows = folder.run("bench --json --seconds 0.001 --op x25519").exits(0).rows();
    assert_eq!(rows.len(), 2);
    let rows = folder.run("bench --json --seconds 0.001 --limit portable --op ml-kem-768").exits(0).rows();
    assert_eq!(rows.len(), 6);
    for row in &rows {
        assert_eq!(row["alg"], "ML-KEM-768");
        assert_eq!(row["level"], "portable");
        assert!(row["medianNs"].as_f64().unwrap() > 0.0);
        assert!(row["opsPerSecond"].as_f64().unwrap() > 0.0);
    }
    let rows = folder.run("bench --json --seconds 0.001 --op dsa-44").exits(0).rows();
    let names: Vec<String> = rows.iter().map(|row| format!("{} {}", row["op"], row["form"])).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    let rows = folder.run("bench --json --seconds 0.001 --op blake3").exits(0).rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["library"], "blake3");
    assert!(rows[0]["bytesPerSecond"].as_f64().unwrap() > 1e6);
    let rows = folder.run("bench --json --seconds 0.001 --op xchacha20-poly1305").exits(0).rows();
    let names: Vec<&str> = rows.iter().map(|row| row["op"].as_str().unwrap()).collect();
    assert_eq!(names, ["seal", "open"]);
    let table = folder.run("bench --seconds 0.001 --op shake256").exits(0);
    assert!(table.text().contains("SHAKE256") && table.text().contains("MB"), "{}", table.text());
    assert!(table.text().contains("kernels:"));
}

#[test]
fn every_row_of_the_bench_runs() {
    let rows = Folder::new().run("bench --json --seconds 0.001").exits(0).rows();
    for algorithm in [
        "ML-KEM-512",
        "ML-KEM-768",
        "ML-KEM-1024",
        "ML-DSA-44",
        "ML-DSA-65",
        "ML-DSA-87",
        "X-Wing",
        "SLH-DSA-SHA2-128s",
        "SLH-DSA-SHAKE-256f",
        "SHA3-256",
        "SHAKE128",
        "SHAKE256",
        "BLAKE3",
        "XChaCha20-Poly1305",
        "RSA-2048",
        "DH-2048",
        "P-256",
        "X25519",
        "X448",
    ] {
        assert!(rows.iter().any(|row| row["alg"] == algorithm), "{algorithm}");
    }
    assert_eq!(rows.iter().filter(|row| row["alg"].as_str().unwrap().starts_with("SLH-DSA")).count(), 36);
    for set in ["LMS-SHA256-192-H10-W8", "LMS-SHA256-H10-W8", "XMSS-SHA2_10_192", "XMSS-SHA2_10_256"] {
        let of_set: Vec<_> = rows.iter().filter(|row| row["alg"] == set).collect();
        let names: Vec<_> = of_set.iter().map(|row| row["op"].as_str().unwrap()).collect();
        assert_eq!(names, ["keygen", "sign", "verify"], "{set}");
    }
    let lengths = |set: &str| {
        let row = rows.iter().find(|row| row["alg"] == set).unwrap();
        (row["publicBytes"].as_u64(), row["signatureBytes"].as_u64())
    };
    assert_eq!(lengths("ML-DSA-65"), (Some(1952), Some(3309)));
    assert_eq!(lengths("SLH-DSA-SHA2-128s"), (Some(32), Some(7856)));
    assert_eq!(lengths("LMS-SHA256-H10-W8"), (Some(56), Some(1452)));
    assert_eq!(lengths("XMSS-SHA2_10_256"), (Some(68), Some(2500)));
    assert_eq!(lengths("ML-KEM-768"), (None, None));
}

#[test]
fn bench_agent_has_every_row_of_the_published_benchmark() {
    let folder = Folder::new();
    let rows = folder.run("bench agent --json --seconds 0.001").exits(0).rows();
    let (last, rows) = rows.split_last().unwrap();
    assert_eq!(last["type"], "promise");
    assert!(last["figure"].as_f64().unwrap() > 0.0);
    let names: Vec<String> = rows
        .iter()
        .map(|row| {
            format!("{} {} {} {}", row["alg"], row["op"], row["form"], row["library"]).replace('"', "")
        })
        .collect();
    for signature in ["Key Generation", "Sign", "Verify"] {
        for by in ["gambeson", "RustCrypto"] {
            assert!(names.contains(&format!("ML-DSA-65 {signature}  {by}")), "{names:?}");
        }
    }
    for kem in ["Key Generation", "Encapsulate", "Decapsulate", "Full key exchange"] {
        for by in ["gambeson", "RustCrypto"] {
            assert!(names.contains(&format!("ML-KEM-768 {kem}  {by}")), "{names:?}");
        }
    }
    for keys in ["Key derivation", "Five session keys"] {
        for by in ["gambeson", "blake3"] {
            assert!(names.contains(&format!("BLAKE3 {keys}  {by}")), "{names:?}");
        }
    }
    for size in ["15 B", "64 B", "1 KiB", "64 KiB", "1 MiB"] {
        assert!(names.contains(&format!("BLAKE3 Hash {size} blake3")), "{names:?}");
        for op in ["Encrypt", "Decrypt"] {
            assert!(names.contains(&format!("XChaCha20-Poly1305 {op} {size} chacha20poly1305")), "{names:?}");
        }
    }
    assert_eq!(rows.len(), 33);
    folder.run("bench --check").exits(2);
}

#[test]
fn bench_http_measures_what_is_refused() {
    let folder = Folder::new();
    let rows = folder.run("bench http --json --seconds 0.001").exits(0).rows();
    let (last, rows) = rows.split_last().unwrap();
    assert_eq!((&last["type"], rows.len()), (&"promise".into(), 8));
    assert!(last["figure"].as_f64().unwrap() > 0.0);
}

#[test]
fn bench_refuses_nonsense() {
    let folder = Folder::new();
    folder.run("bench --op nonsense").exits(2).tells("--op");
    for wrong in ["--limit sse2", "--seconds 0", "--seconds -1", "--seconds NaN", "--seconds 1e9"] {
        folder.run(&format!("bench {wrong}")).exits(2);
    }
}

#[test]
fn demo_shows_the_whole_job_and_every_refusal() {
    let folder = Folder::new();
    let rows = folder.run("demo --json").exits(0).rows();
    let (last, steps) = rows.split_last().unwrap();
    assert_eq!(last["ok"], true);
    assert_eq!(steps.len(), 14 + 23 + 8);
    assert!(steps.iter().all(|step| step["ok"] == true));
    let refused = steps.iter().filter(|step| step["detail"].as_str().unwrap().starts_with("refused")).count();
    assert_eq!(refused, 5 + 11 + 2);
    let text = folder.run("demo").exits(0);
    assert!(text.text().contains("every step behaved"));
    assert!(folder.names().is_empty(), "the demonstration leaves nothing");
}

/// In a network of its own, where not even the loopback device is up; a node of SLIM would need that, and is not found.
#[cfg(target_os = "linux")]
#[test]
fn demo_needs_no_network_and_less_than_a_minute() {
    let alone = ["--map-root-user", "--net"];
    if !has_program("unshare", &[&alone[..], &["true"]].concat()) {
        return;
    }
    let folder = Folder::new();
    let mut command = std::process::Command::new("unshare");
    command.args(alone).arg(env!("CARGO_BIN_EXE_gambeson")).args(["demo", "--json"]);
    command.current_dir(folder.path("")).env("PATH", "/usr/bin:/bin").env("XDG_DATA_HOME", folder.path(""));
    command.env_remove("GAMBESON_SLIM_PYTHON");
    let begun = std::time::Instant::now();
    let rows = finish(command, b"").exits(0).rows();
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(rows.last().unwrap()["ok"], true);
    let link = |row: &serde_json::Value| {
        row["detail"].as_str().is_some_and(|text| text.starts_with("in-process link, not SLIM"))
    };
    assert!(rows.iter().any(link), "{rows:?}");
}

#[test]
fn demo_takes_any_file() {
    let folder = Folder::new();
    for (name, content) in
        [("empty", Vec::new()), ("one", vec![7]), ("chunk", noise(65_536)), ("more", noise(200_001))]
    {
        folder.write(name, &content);
        let outcome = folder.run(&format!("demo {name}")).exits(0);
        assert!(outcome.text().contains("every step behaved"), "{}", outcome.text());
        assert_eq!(folder.read(name), content, "the file itself is left alone");
    }
    folder.run("demo missing").exits(3).tells("missing");
}

#[test]
fn doctor_finds_all_well() {
    let folder = Folder::new();
    let report = folder.run("doctor --json").exits(0).json();
    assert_eq!(report["ok"], true);
    assert!(report["checks"].as_array().unwrap().len() >= 6);
    assert!(report["cpu"]["detected"].is_string());
    let text = folder.run("doctor").exits(0);
    assert!(text.text().contains("all is well"));
}

#[test]
fn completions_and_pages_are_made() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&format!("completions {shell}")).exits(0);
        assert!(script.text().contains("gambeson"), "{shell}");
    }
    folder.run("completions cmd").exits(2);
    std::fs::create_dir(folder.path("man")).unwrap();
    let pages = folder.run("man man --json").exits(0).json();
    let pages: Vec<&str> =
        pages["pages"].as_array().unwrap().iter().map(|page| page.as_str().unwrap()).collect();
    for page in ["gambeson.1", "gambeson-key-gen.1", "gambeson-vectors-serve.1", "gambeson-seal.1"] {
        assert!(pages.contains(&page), "{pages:?}");
        let text = String::from_utf8(folder.read(&format!("man/{page}"))).unwrap();
        assert!(text.contains(".TH") && text.contains("SYNOPSIS"), "{page}");
    }
    folder.run("man nowhere").exits(3).tells("nowhere");
    folder.write("man/gambeson.1", "older");
    folder.run("man man").exits(3).tells("gambeson.1: exists already; --force replaces it");
    assert_eq!(folder.read("man/gambeson.1"), b"older");
    folder.run("man man --force").exits(0);
    assert_ne!(folder.read("man/gambeson.1"), b"older");
}

#[test]
fn usage_is_told_and_help_is_no_error() {
    let folder = Folder::new();
    folder.run("").exits(2);
    folder.run("--version").exits(0);
    folder.run("--help").exits(0);
    folder.run("help sign").exits(0);
    folder.run("key").exits(2);
    folder.run("vectors serve extra").exits(2);
}

#[test]
fn a_reader_of_a_report_may_go_away() {
    // Gone before the program starts: later it might have written all of its report.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = program();
    command.args(["bench", "--seconds", "0.001", "--op", "x25519"]);
    command.stdin(std::process::Stdio::null()).stdout(writer).stderr(std::process::Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_input_output_error() {
    let mut command = program();
    command.args(["doctor"]).stdout(std::fs::File::create("/dev/full").unwrap());
    let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let mut command = program();
    command.arg("completions").arg("bash");
    assert!(finish(command, b"").exits(0).stdout.len() > 1000);
}

/// With `--json`, what the command line gets wrong is told as every other error is.
#[test]
fn errors_of_the_command_line_are_json_where_that_is_asked_for() {
    let folder = Folder::new();
    for (line, what) in [
        ("--json frobnicate", "frobnicate"),
        ("frobnicate --json", "frobnicate"),
        ("key gen --json", "--alg"),
        ("key gen --json --alg rsa -o x", "rsa"),
        ("sign --json --bogus file", "--bogus"),
        ("cert new -o x --levels 9 --json", "--levels"),
        ("--json", "command"),
        ("agent --json", "command"),
        ("kem encaps --json -c", "-c"),
    ] {
        let told = folder.run(line).exits(2);
        let report = told.json();
        assert_eq!(report["exitStatus"], 2, "{line}");
        let error = report["detail"].as_str().unwrap();
        assert!(error.contains(what.trim_start_matches('-')), "{line}: {error}");
        assert!(!error.starts_with("error") && !error.contains('\n'), "{error}");
        assert!(told.stderr.starts_with("gambeson: "), "{}", told.stderr);
    }
    // Without it, and for help, it is text.
    assert!(folder.run("frobnicate").exits(2).stdout.is_empty());
    assert!(folder.run("--help --json").exits(0).text().contains("Usage"));
    // Behind `--` it is another program's.
    assert!(folder.run("provider --bogus -- x --json").exits(2).stdout.is_empty());
}

/// One thing is one thing.
#[test]
fn counts_have_the_number_of_their_nouns() {
    let folder = Folder::new();
    folder.write("file", "x");
    folder.run("key gen --alg x-wing -o x.key -p x.pub").exits(0);
    folder.run("key gen --alg ml-dsa-44 -o k.key -p k.pub").exits(0);
    folder.run("cert new --levels 2 --alg ed25519 -o pki").exits(0);
    for line in [
        "seal -R x.pub file -o sealed",
        "open -i x.key sealed -o opened",
        "sign -k k.key file -o file.sig",
        "verify -k k.pub file -s file.sig",
        "cert pkcs12 pki/server.pem -k pki/server.key -o p12",
        "vectors check v",
    ] {
        if line.starts_with("vectors") {
            std::fs::create_dir(folder.path("v")).unwrap();
            folder.write("v/a.json", "[]");
        }
        let told = folder.run_with(line, b"", &[("GAMBESON_PASSPHRASE", "correct horse")]);
        assert!(told.text().contains("1 ") || told.text().contains("one "), "{}", told.text());
        for plural in ["1 bytes", "1 files", "1 certificates", "certificate(s)", "1 recipients"] {
            assert!(!format!(" {}", told.text()).contains(&format!(" {plural}")), "{}", told.text());
            assert!(!told.text().contains(&format!("({plural}")), "{}", told.text());
        }
    }
    folder.run("seal -a -R x.pub file -o armored").exits(0);
    folder.run("cert show armored").exits(3).tells("an AGE ENCRYPTED FILE").tells("open it first");
    folder.run("key show armored").exits(2).tells("sealed to recipients, not under a passphrase");
    folder.run("seal -R armored file -o no").exits(3).tells("is an age file").tells("recipients");
    let text = String::from_utf8(folder.read("armored")).unwrap();
    folder.write("other", text.replace("AGE ENCRYPTED", "OLD ENCRYPTED"));
    folder.run("open -i x.key other -o no").exits(1).tells("BEGIN AGE ENCRYPTED FILE");
}
