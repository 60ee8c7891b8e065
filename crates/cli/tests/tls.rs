//! A server, a client and a scan over real sockets.

#![allow(clippy::unwrap_used)]

mod program;

use program::Folder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};

/// A server that ends with its test.
struct Server {
    child: Child,
    reports: BufReader<ChildStdout>,
    port: u16,
}

impl Server {
    /// `tls serve` with the chain in `pki`.
    fn start(folder: &Folder, more: &str) -> Self {
        let line = format!(
            "tls serve --listen 127.0.0.1:0 --cert pki/server.pem --key pki/server.key --json {more}"
        );
        let mut command = folder.command();
        command.args(line.split_whitespace()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut reports = BufReader::new(child.stdout.take().unwrap());
        let address = next(&mut reports)["address"].as_str().unwrap().to_owned();
        Self { child, reports, port: address.rsplit_once(':').unwrap().1.parse().unwrap() }
    }

    /// What it tells of the next connection that has ended.
    fn tells(&mut self) -> Value {
        next(&mut self.reports)
    }

    fn get(&self, folder: &Folder, path: &str, more: &str) -> program::Outcome {
        folder.run(&format!("tls get https://localhost:{}{path} --ca pki/root.pem {more}", self.port))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn next(reports: &mut impl BufRead) -> Value {
    let mut line = String::new();
    reports.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// A chain of that algorithm, for localhost.
fn with_chain(algorithm: &str) -> Folder {
    let folder = Folder::new();
    folder.run(&format!("cert new --levels 3 --alg {algorithm} -o pki")).exits(0);
    folder
}

#[test]
fn a_hybrid_chain_a_server_and_a_client_come_up_in_three_commands() {
    let folder = Folder::new();
    folder.run("cert new --levels 3 -o pki").exits(0);
    let mut server = Server::start(&folder, "");
    let told = server.get(&folder, "/", "--preset fully-hybrid --json -v").exits(0);
    assert_eq!(told.text(), "gambeson: TLS 1.3, X448MLKEM1024\n");
    let report = told.stderr.lines().find(|line| line.starts_with('{')).unwrap();
    let report: Value = serde_json::from_str(report).unwrap();
    assert_eq!(
        (&report["group"], &report["scheme"]),
        (&"X448MLKEM1024".into(), &"mldsa87_ed448_shake256".into())
    );
    assert_eq!((&report["version"], &report["status"]), (&"TLSv1_3".into(), &200.into()));
    assert_eq!(report["chain"].as_array().unwrap().len(), 2);
    assert!(report["chain"][0].as_str().unwrap().ends_with("(MLDSA87-Ed448-SHAKE256)"));
    for line in ["group   X448MLKEM1024", "scheme  mldsa87_ed448_shake256", "status  200"] {
        assert!(told.stderr.contains(line), "{}", told.stderr);
    }
    let served = server.tells();
    assert_eq!(
        (&served["group"], &served["what"], &served["status"]),
        (&"X448MLKEM1024".into(), &"GET /".into(), &200.into())
    );
}

#[test]
fn every_preset_meets_a_server_with_its_kind_of_certificate() {
    for (algorithm, preset, group, scheme) in [
        ("ml-dsa-65", "default", "X25519MLKEM768", "mldsa65"),
        ("ecdsa-p256", "default", "X25519MLKEM768", "ecdsa_nistp256_sha256"),
        ("ml-dsa-87", "cnsa2", "SecP384r1MLKEM1024", "mldsa87"),
        ("ed448", "classical-448", "X448", "ed448"),
    ] {
        let folder = with_chain(algorithm);
        for narrowed in ["", "--preset"] {
            let more = if narrowed.is_empty() { String::new() } else { format!("--preset {preset}") };
            let server = Server::start(&folder, &more);
            let told = server
                .get(&folder, "/", &format!("--preset {preset} -o body --force --json"))
                .exits(0)
                .json();
            assert_eq!(
                (&told["group"], &told["scheme"]),
                (&group.into(), &scheme.into()),
                "{algorithm} {preset}"
            );
        }
    }
}

#[test]
fn files_are_given_out_and_nothing_beside_them() {
    let folder = with_chain("ml-dsa-44");
    std::fs::create_dir_all(folder.path("www/sub")).unwrap();
    let large = program::noise(3_000_000);
    folder.write("www/index.html", "<p>hello</p>");
    folder.write("www/sub/large.bin", &large);
    folder.write("www/with space.txt", "found");
    folder.write("www/.hidden", "hidden");
    folder.write("secret", "secret");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path("secret"), folder.path("www/link")).unwrap();
    let mut server = Server::start(&folder, "--root www");
    assert_eq!(server.get(&folder, "/", "").exits(0).stdout, b"<p>hello</p>");
    assert_eq!(server.get(&folder, "/with%20space.txt?x#y", "").exits(0).stdout, b"found");
    server.get(&folder, "/sub/large.bin", "-o back").exits(0);
    assert!(folder.read("back") == large);
    for absent in [
        "/../secret",
        "/%2e%2e/secret",
        "/sub/../../secret",
        "/link",
        "/.hidden",
        "/sub/",
        "/absent",
        "/sub%2f..%2f..%2fsecret",
    ] {
        let told = server.get(&folder, absent, "-o x --json").exits(3).json();
        assert_eq!(told["reason"], "status", "{absent}: {told}");
        assert!(told["error"].as_str().unwrap().ends_with("status 404"));
        assert!(!folder.exists("x"));
    }
    assert_eq!(server.tells()["bytes"], 12);
    server.get(&folder, "/", "-o back").exits(3).tells("back");
    server.get(&folder, "/", "-o back --force").exits(0);
}

#[test]
fn what_is_sent_to_an_echo_comes_back() {
    let folder = with_chain("ml-dsa-65");
    let mut server = Server::start(&folder, "--echo");
    // Whatever is no HTTP is not taken for it.
    let told = server.get(&folder, "/", "-o x --json --timeout 1");
    assert_ne!(told.code, 0);
    let served = server.tells();
    assert!(served["failed"].is_string() || served["what"] == "echo", "{served}");
}

#[test]
fn each_failed_check_is_named() {
    let folder = with_chain("ml-dsa-65");
    folder.run("cert new --levels 2 --alg ml-dsa-65 -o other").exits(0);
    folder.run("cert new --levels 1 --alg ml-dsa-65 -o alone").exits(0);
    let server = Server::start(&folder, "");
    let url = format!("https://localhost:{}/", server.port);
    let get = |more: &str| {
        let told = folder.run(&format!("tls get {url} -o x --json {more}"));
        let told = told.exits(1).json();
        told["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(get("--ca alone/server.pem"), "unknown-issuer");
    // Its name is that of the root that is meant.
    assert_eq!(get("--ca other/root.pem"), "bad-signature");
    assert_eq!(get("--ca pki/root.pem --preset classical-448"), "alert");
    assert_eq!(get("--ca pki/root.pem --preset fully-hybrid"), "alert");
    let named = format!("https://elsewhere.example:{}/", server.port);
    let line =
        format!("tls get {named} --connect-to 127.0.0.1:{} -o x --json --ca pki/root.pem", server.port);
    assert_eq!(folder.run(&line).exits(1).json()["reason"], "wrong-name");

    // A chain without what stands between.
    folder.write("whole.pem", folder.read("pki/server.pem"));
    let pem = String::from_utf8(folder.read("pki/server.pem")).unwrap();
    let leaf = pem.split_inclusive("-----END CERTIFICATE-----\n").next().unwrap();
    folder.write("pki/server.pem", leaf);
    let truncated = Server::start(&folder, "");
    let line = format!("tls get https://localhost:{}/ -o x --json --ca pki/root.pem", truncated.port);
    assert_eq!(folder.run(&line).exits(1).json()["reason"], "unknown-issuer");

    // Not TLS, nobody, and no address.
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        let (mut socket, _) = plain.accept().unwrap();
        let mut asked = [0; 16];
        socket.read_exact(&mut asked).unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Let the client read it.
        let _ = socket.read(&mut [0; 4096]);
    });
    let told = folder.run(&format!(
        "tls get https://localhost:{port}/ -o x --json --ca pki/root.pem --connect-to 127.0.0.1:{port}"
    ));
    assert_eq!(told.exits(1).json()["reason"], "not-tls");
    answering.join().unwrap();
    folder
        .run(&format!("tls get https://localhost:{port}/ -o x --connect-to 127.0.0.1:{port}"))
        .exits(3)
        .tells("localhost");
    for (url, part) in [
        ("http://localhost/", "not a URL of https"),
        ("https://", "not HOST:PORT"),
        ("https://localhost:70000/", "not HOST:PORT"),
        ("https://::1/", "not HOST:PORT"),
        ("https://me@localhost/", "names of users"),
    ] {
        folder.run(&format!("tls get {url}")).exits(2).tells(part);
    }
    folder.run("tls get https://localhost/ --ca pki/server.key").exits(3).tells("pki/server.key");
    folder
        .run("tls serve --cert pki/server.pem --key pki/server.pem --listen 127.0.0.1:0")
        .exits(3)
        .tells("pki/server.pem");
    folder
        .run("tls serve --cert pki/server.key --key pki/server.key --listen 127.0.0.1:0")
        .exits(3)
        .tells("no certificate");
    folder
        .run("tls serve --cert other/server.pem --key pki/server.key --listen 127.0.0.1:0")
        .exits(3)
        .tells("other/server.pem");
    folder
        .run("tls serve --cert pki/server.pem --key pki/server.key --root absent --listen 127.0.0.1:0")
        .exits(3)
        .tells("absent");
}

#[test]
fn a_scan_tells_what_a_server_takes() {
    let folder = with_chain("ml-dsa-65");
    for (more, groups, verdict) in [
        ("", 12, "key exchange and certificate are post-quantum"),
        ("--preset default", 6, "key exchange and certificate are post-quantum"),
    ] {
        let server = Server::start(&folder, more);
        let rows = folder.run(&format!(
            "tls scan localhost:{} --connect-to 127.0.0.1:{} --json",
            server.port, server.port
        ));
        let rows = rows.exits(0).rows();
        let taken =
            |kind: &str| rows.iter().filter(|row| row[kind].is_string() && row["taken"] == true).count();
        assert_eq!((taken("group"), taken("scheme")), (groups, 1), "{more}");
        let last = rows.last().unwrap();
        assert_eq!((&last["verdict"], &last["version"]), (&verdict.into(), &"TLSv1_3".into()));
        assert_eq!(last["post_quantum_schemes"], serde_json::json!(["mldsa65"]));
    }
    let folder = with_chain("ed448");
    let server = Server::start(&folder, "--preset classical-448");
    let told = folder.run(&format!("tls scan 127.0.0.1:{}", server.port)).exits(0);
    assert!(told.text().contains("no post-quantum group"), "{}", told.text());
    assert!(
        told.text()
            .lines()
            .any(|line| line.starts_with("group") && line.contains("X448 ") && line.ends_with("taken"))
    );
    folder.run("tls scan nowhere").exits(3);
    folder.run("tls scan :443").exits(2).tells("not HOST:PORT");
}

/// Silent clients keep nobody out for ever.
#[test]
fn silent_clients_lose_their_places() {
    let folder = with_chain("ml-dsa-44");
    let mut server = Server::start(&folder, "--connections 2 --timeout 1");
    let silent: Vec<_> = (0..2).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    server.get(&folder, "/", "").exits(0);
    let told: Vec<Value> = (0..3).map(|_| server.tells()).collect();
    assert_eq!(
        told.iter()
            .filter(|report| report["failed"].as_str().is_some_and(|why| why.contains("silent")))
            .count(),
        2
    );
    drop(silent);
}
