//! A server, a client and a scan over real sockets.

use crate::program;
use crate::program::Folder;
use crate::program::serving::{Server, serve_once, with_chain};
use gambeson_rustls::Scheme;
use gambeson_rustls::rustls::sign::{Signer, SigningKey};
use gambeson_rustls::rustls::{SignatureAlgorithm, SignatureScheme};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_hybrid_chain_a_server_and_a_client_come_up_in_three_commands() {
    let folder = Folder::new();
    folder.run("cert new --levels 3 --alg mldsa87-ed448 -o pki").exits(0);
    let mut server = Server::start(&folder, "");
    let told = server.get(&folder, "/", "--preset fully-hybrid --json -v").exits(0);
    assert_eq!(told.text(), "gambeson: TLS 1.3, X448MLKEM1024\n");
    let report = told.stderr.lines().find(|line| line.starts_with('{')).unwrap();
    let report: Value = serde_json::from_str(report).unwrap();
    assert_eq!(
        (&report["group"], &report["scheme"]),
        (&"X448MLKEM1024".into(), &"mldsa87_ed448_shake256".into())
    );
    assert_eq!((&report["version"], &report["status"]), (&"TLS 1.3".into(), &200.into()));
    assert_eq!(report["chain"].as_array().unwrap().len(), 2);
    assert!(report["chain"][0].as_str().unwrap().ends_with("(MLDSA87-Ed448-SHAKE256)"));
    for line in ["group   X448MLKEM1024", "scheme  mldsa87_ed448_shake256", "status  200"] {
        assert!(told.stderr.contains(line), "{}", told.stderr);
    }
    let served = server.tells();
    assert_eq!(
        (&served["group"], &served["target"], &served["status"]),
        (&"X448MLKEM1024".into(), &"GET /".into(), &200.into())
    );
}

/// Certificates made by default are served and fetched by default.
#[test]
fn the_defaults_meet() {
    let folder = Folder::new();
    folder.run("cert new -o pki").exits(0);
    folder.run("cert new --levels 3 -o chain").exits(0);
    let server = Server::start(&folder, "");
    let get = format!("tls get https://localhost:{}/ --ca pki/server.pem -o body --json", server.port);
    let told = folder.run(&get).exits(0).json();
    assert_eq!((&told["group"], &told["scheme"]), (&"X25519MLKEM768".into(), &"mldsa65".into()));
    let line = "tls serve --listen 127.0.0.1:0 --cert chain/server.pem --key chain/server.key";
    let server = Server::run(&folder, line);
    let get = format!("tls get https://localhost:{}/ --ca chain/root.pem", server.port);
    folder.run(&get).exits(0);
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
fn certificates_of_slh_dsa_are_taken_with_the_option_alone() {
    let folder = with_chain("slh-dsa-sha2-128f");
    let serve = "tls serve --listen 127.0.0.1:0 --cert pki/server.pem --key pki/server.key";
    folder
        .run(serve)
        .exits(2)
        .tells("a key of SLH-DSA-SHA2-128f, which signs handshakes only with --slh-dsa");
    let server = Server::start(&folder, "--slh-dsa");
    let told = server.get(&folder, "/", "--slh-dsa -o body --json").exits(0).json();
    assert_eq!(told["scheme"], "slhdsa_sha2_128f");
    let told =
        server.get(&folder, "/", "-o body --force --json").exits(1).tells("--slh-dsa, for one with").json();
    assert_eq!(told["reason"], "alert");
    let scan = format!("tls scan 127.0.0.1:{} --slh-dsa --json", server.port);
    let rows = folder.run(&scan).exits(0).rows();
    let taken = |row: &&Value| row["type"] == "scheme" && row["taken"] == true;
    let taken: Vec<_> = rows.iter().filter(taken).map(|row| &row["codePoint"]).collect();
    assert_eq!(taken, [0x0912]);
    assert_eq!(rows.last().expect("a verdict")["postQuantumSchemes"][0], "slhdsa_sha2_128f");

    // A server and an authority, with 35,664 bytes of signature each.
    let folder = Folder::new();
    folder.run("cert new --levels 3 --alg slh-dsa-sha2-192f -o pki").exits(0);
    folder.run(&format!("{serve} --slh-dsa")).exits(3).tells("use fewer certificates");
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
    {
        std::os::unix::fs::symlink(folder.path("secret"), folder.path("www/link")).unwrap();
        std::fs::create_dir(folder.path("www/.git")).unwrap();
        folder.write("www/.git/config", "hidden");
        std::os::unix::fs::symlink(".git", folder.path("www/shown")).unwrap();
        std::os::unix::fs::symlink(".hidden", folder.path("www/plain")).unwrap();
    }
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
        "/shown/config",
        "/plain",
        "/.hidden",
        "/sub/",
        "/absent",
        "/sub%2f..%2f..%2fsecret",
    ] {
        let told = server.get(&folder, absent, "-o x --json").exits(3).json();
        assert_eq!(told["reason"], "status", "{absent}: {told}");
        assert!(told["detail"].as_str().unwrap().ends_with("status 404"));
        assert!(!folder.exists("x"));
    }
    assert_eq!(server.tells()["bytes"], 12);
    server.get(&folder, "/", "-o back").exits(3).tells("back");
    server.get(&folder, "/", "-o back --force").exits(0);
}

#[test]
fn a_server_gives_out_no_secrets() {
    let folder = with_chain("ml-dsa-44");
    let passphrase = [("GAMBESON_PASSPHRASE", "six words that nobody else knows")];
    let run = |line: &str| folder.run_with(line, b"", &passphrase).exits(0);
    run("agent init --home agent --words words");
    run("agent card --home agent -o card");
    run("key gen --alg ml-kem-768 --format der -o kem.der -p kem.pub");
    run("key gen --alg ml-dsa-44 --encrypt -o encrypted.pem");
    run("key gen --alg x-wing -o identity.txt -p recipient.txt");
    run("cert pkcs12 pki/server.pem -k pki/server.key -o server.p12");
    let key = String::from_utf8(folder.read("pki/server.key")).unwrap();
    folder.write("notes.txt", format!("{}{key}", "a line of notes\n".repeat(9_000)));
    folder.write("ssh", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl\n-----END OPENSSH PRIVATE KEY-----\n");
    folder.write("jwk.json", r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA", "d": "AA"}]}"#);
    folder.write("public.json", r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA"}]}"#);
    let mut server = Server::start(&folder, "--root .");
    for secret in [
        "pki/server.key",
        "kem.der",
        "encrypted.pem",
        "identity.txt",
        "server.p12",
        "notes.txt",
        "ssh",
        "jwk.json",
        "words",
        "agent/agent.json",
        "agent/seed",
        "agent/cards/",
    ] {
        let told = server.get(&folder, &format!("/{secret}"), "-o x --json").exits(3).json();
        assert!(told["detail"].as_str().unwrap().ends_with("status 404"), "{secret}: {told}");
        let mut told = server.tells();
        if !secret.ends_with('/') {
            assert_eq!(told["target"], format!("/{secret}").as_str(), "{told}");
            assert!(told["detail"].is_string(), "{told}");
            told = server.tells();
        }
        assert_eq!(told["status"], 404, "{told}");
    }
    for public in ["pki/server.pem", "kem.pub", "recipient.txt", "card", "public.json"] {
        server.get(&folder, &format!("/{public}"), "-o x --force").exits(0);
    }
    let line = "tls serve --cert pki/server.pem --key pki/server.key --listen 127.0.0.1:0 --root agent";
    folder.run(line).exits(2).tells("agent's folder");
}

#[test]
fn what_is_sent_to_an_echo_comes_back() {
    let folder = with_chain("ml-dsa-65");
    let mut server = Server::start(&folder, "--echo");
    let mut stream = server.call(&folder);
    let sent = program::noise(100_000);
    let mut back = vec![0; sent.len()];
    // Less at a time than what sockets keep, so that nobody waits for the other.
    for (sent, back) in sent.chunks(10_000).zip(back.chunks_mut(10_000)) {
        stream.write_all(sent).unwrap();
        stream.read_exact(back).unwrap();
    }
    assert!(back == sent);
    stream.conn.send_close_notify();
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
    let served = server.tells();
    assert_eq!((&served["target"], &served["bytes"]), (&"echo".into(), &100_000.into()));
}

/// All that a server says is one alert, and some say nothing: the client tells what it had offered.
#[test]
fn a_handshake_without_anything_in_common_tells_what_was_offered_and_what_to_try() {
    let folder = Folder::new();
    folder.run("cert new --levels 3 --alg mldsa87-ed448 -o pki").exits(0);
    let server = Server::start(&folder, "");
    let port = server.port;
    let get = |port: u16, more: &str| {
        let line = format!("tls get https://localhost:{port}/ -o x --ca pki/root.pem --json {more}");
        let told = folder.run(&line);
        let code = told.code;
        (code, told.json()["detail"].as_str().unwrap().to_owned())
    };
    let (code, told) = get(port, "");
    assert_eq!(code, 1);
    let groups = "--preset default: groups X25519MLKEM768, SecP256r1MLKEM768, SecP384r1MLKEM1024, X25519, ";
    let schemes = "; schemes mldsa65, mldsa87, mldsa44, ";
    assert!(told.starts_with("localhost: try --preset fully-hybrid, "), "the remedy comes first: {told}");
    let scan = format!("`gambeson tls scan localhost:{port}` tells");
    for part in ["alert handshake_failure", groups, schemes, &scan, "with a composite certificate"] {
        assert!(told.contains(part), "{part:?}: {told}");
    }
    assert!(!told.contains("ed448_shake256"), "the one scheme that would do was not offered: {told}");
    server.get(&folder, "/", "--preset fully-hybrid").exits(0);
    let (_, told) = get(port, &format!("--preset cnsa2 --connect-to 127.0.0.1:{port}"));
    assert!(told.contains("--preset cnsa2: groups SecP384r1MLKEM1024, MLKEM1024; schemes mldsa87"), "{told}");
    assert!(told.contains(&format!("scan localhost:{port} --connect-to 127.0.0.1:{port}`")), "{told}");

    // The other way round; and a check that failed for itself has nothing to do with the offer.
    let classical = with_chain("ed25519");
    let server = Server::start(&classical, "");
    let (_, told) = get(server.port, "--preset fully-hybrid");
    assert!(told.ends_with("groups X448MLKEM1024; schemes mldsa87_ed448_shake256"), "{told}");
    assert!(told.starts_with("localhost: try --preset default, "), "{told}");
    let (_, told) = get(server.port, "");
    assert!(!told.contains("offered"), "an unknown issuer: {told}");

    // One that hangs up without a word.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = mute.local_addr().unwrap().port();
    let hanging_up = thread::spawn(move || {
        let (mut socket, _) = mute.accept().unwrap();
        // What has not been read would make it a reset.
        let _ = socket.read(&mut [0; 4096]);
    });
    let (code, told) = get(port, &format!("--connect-to 127.0.0.1:{port}"));
    hanging_up.join().unwrap();
    assert_eq!(code, 3);
    assert!(told.contains("--preset default: groups X25519MLKEM768"), "{told}");
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
        ("http://localhost/", "expected a URL such as https://"),
        ("https://", "not HOST:PORT"),
        ("https://localhost:70000/", "not HOST:PORT"),
        ("https://::1/", "not HOST:PORT"),
        ("https://me@localhost/", "a user name"),
    ] {
        folder.run(&format!("tls get {url}")).exits(2).tells(part);
    }
    folder.run("tls get https://localhost/ --ca pki/server.key").exits(3).tells("pki/server.key");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let again = format!(
        "tls serve --listen {} --cert pki/server.pem --key pki/server.key",
        taken.local_addr().unwrap()
    );
    folder.run(&again).exits(3).tells("give another address");
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
fn a_client_looks_at_usages_roots_and_revocation_lists() {
    let folder = with_chain("ecdsa-p256");
    let mut server = Server::start(&folder, "");
    let crl = "cert crl --issuer pki/authority.pem -k pki/authority.key";
    folder.run(&format!("{crl} -o good.crl")).exits(0);
    folder.run(&format!("{crl} --revoke pki/server.pem -o bad.crl")).exits(0);
    server.get(&folder, "/", "--crl good.crl").exits(0);
    let refused = server.get(&folder, "/", "--crl bad.crl --json -o body").exits(1);
    assert_eq!(refused.json()["reason"], "revoked");
    server.get(&folder, "/", "--crl pki/root.pem").exits(3).tells("pki/root.pem");
    // The root is no authority for servers any more: its file has another certificate of the same name and key.
    let usage = gambeson_pki::KeyUsage::CrlSign;
    let key = gambeson_pki::PrivateKey::read(&folder.read("pki/root.key"), None).unwrap();
    let root = gambeson_pki::Certificate::read(&folder.read("pki/root.pem")).unwrap();
    let template = gambeson_pki::Template::authority(root.subject()).key_usage(&[usage]);
    folder.write("no-root.pem", template.self_signed(&key).unwrap().to_pem());
    let line = format!("tls get https://localhost:{}/ --ca no-root.pem --json -o body", server.port);
    let refused = folder.run(&line).exits(1);
    assert_eq!(refused.json()["reason"], "may-sign-no-certificates");
    folder.run(&line.replace("--json", "")).exits(1).tells("may not sign certificates");
    drop(server.tells());
}

/// As in `cert verify`: a list on the command line is believed to have been looked at.
#[test]
fn a_revocation_list_that_applies_to_nothing_is_an_error() {
    let folder = with_chain("ecdsa-p256");
    folder.run("cert new --levels 2 --alg ecdsa-p256 -o other").exits(0);
    let server = Server::start(&folder, "");
    for (issuer, list) in [("authority", "leaf.crl"), ("root", "authority.crl")] {
        let line = format!("cert crl --issuer pki/{issuer}.pem -k pki/{issuer}.key -o {list}");
        folder.run(&line).exits(0);
    }
    server.get(&folder, "/", "--crl leaf.crl --crl authority.crl").exits(0);
    let key = gambeson_pki::PrivateKey::read(&folder.read("other/root.key"), None).unwrap();
    let stranger =
        gambeson_pki::Template::authority("CN=Stranger".parse().unwrap()).self_signed(&key).unwrap();
    folder.write("stranger.pem", stranger.to_pem());
    folder.run("cert crl --issuer stranger.pem -k other/root.key -o stranger.crl").exits(0);
    for lists in ["--crl stranger.crl", "--crl leaf.crl --crl stranger.crl"] {
        let told = server.get(&folder, "/", &format!("{lists} -o absent --json")).exits(3);
        let told = told.json()["detail"].as_str().unwrap().to_owned();
        let wanted =
            "stranger.crl: the revocation list of CN=Stranger applies to no certificate of this chain";
        assert!(told.contains(wanted), "{told}");
        assert!(!folder.exists("absent"));
    }
}

/// A certificate of a server that the root has issued, made by a template.
fn issued(folder: &Folder, name: &str, template: gambeson_pki::Template) {
    let read = |file: &str| folder.read(&format!("pki/{file}"));
    let root = gambeson_pki::Certificate::read(&read("root.pem")).unwrap();
    let issuer_key = gambeson_pki::PrivateKey::read(&read("root.key"), None).unwrap();
    let key = gambeson_pki::PrivateKey::read(&read("server.key"), None).unwrap();
    let made = template.alt_name("localhost".parse().unwrap());
    let made = made.issue(&key.public_key(), &root, &issuer_key).unwrap();
    folder.write(name, made.to_pem());
}

#[test]
fn no_message_shows_the_names_of_a_library() {
    use gambeson_pki::{Purpose, Template};

    let folder = with_chain("ecdsa-p256");
    let name = || "CN=localhost".parse().unwrap();
    issued(&folder, "authority.pem", Template::authority(name()).path_length(0));
    issued(&folder, "purpose.pem", Template::new(name()).purpose(Purpose::CodeSigning));
    for (chain, part, code) in [
        ("authority.pem", "is the certificate of an authority (CA:TRUE)", "authority"),
        ("purpose.pem", "extended key usage does not allow", "purpose"),
    ] {
        let serve = format!("tls serve --listen 127.0.0.1:0 --cert {chain} --key pki/server.key");
        let mut server = Server::run(&folder, &serve);
        let told = server.get(&folder, "/", "-o x --json").exits(1).json();
        let told = told["detail"].as_str().unwrap();
        assert!(told.contains(part) && !told.contains("Other"), "{told}");
        drop(server.tells());
        let scan = folder.run(&format!("tls scan localhost:{} --json", server.port));
        assert!(!scan.text().contains("Other("), "{}", scan.text());
        // A proxy towards it says the same.
        let proxy = format!(
            "tls proxy --tls --listen 127.0.0.1:0 --connect localhost:{} --ca pki/root.pem",
            server.port
        );
        let mut proxy = Server::run(&folder, &proxy);
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port)).unwrap();
        client.write_all(b"x").unwrap();
        let _ = client.read(&mut [0; 16]);
        let told = std::iter::repeat_with(|| proxy.tells().to_string())
            .find(|told| told.contains(&format!("\"{code}\"")))
            .unwrap();
        assert!(told.contains(part) && !told.contains("Other"), "{told}");
    }
}

#[test]
fn a_scan_tells_what_a_server_takes() {
    let folder = with_chain("ml-dsa-65");
    for (more, groups, verdict) in [
        ("", 12, "key exchange and handshake signature are post-quantum"),
        ("--preset default", 6, "key exchange and handshake signature are post-quantum"),
    ] {
        let server = Server::start(&folder, more);
        let rows = folder.run(&format!(
            "tls scan localhost:{} --connect-to 127.0.0.1:{} --json",
            server.port, server.port
        ));
        let rows = rows.exits(0).rows();
        let taken =
            |kind: &str| rows.iter().filter(|row| row["type"] == kind && row["taken"] == true).count();
        assert_eq!((taken("group"), taken("scheme")), (groups, 1), "{more}");
        let last = rows.last().unwrap();
        assert_eq!((&last["verdict"], &last["version"]), (&verdict.into(), &"TLS 1.3".into()));
        assert_eq!(last["postQuantumSchemes"], serde_json::json!(["mldsa65"]));
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

#[test]
fn a_scan_of_what_is_no_tls_is_one_line() {
    let folder = Folder::new();
    for answer in ["HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-server\r\n"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        let told = folder.run(&format!("tls scan 127.0.0.1:{port}")).exits(1);
        assert_eq!(told.text().lines().count(), 1, "{}", told.text());
        assert!(told.text().contains("does not speak TLS"), "{}", told.text());
        let told = folder.run(&format!("tls scan 127.0.0.1:{port} --json")).exits(1).json();
        assert_eq!(told["reason"], "no-tls");
    }
}

#[test]
fn a_scan_can_demand_post_quantum_groups() {
    let folder = with_chain("ed448");
    let classical = Server::start(&folder, "--preset classical-448");
    let line = format!("tls scan https://127.0.0.1:{}/", classical.port);
    folder.run(&line).exits(0);
    let told = folder.run(&format!("{line} --require-pq --json")).exits(1).rows();
    assert_eq!(told.last().unwrap()["reason"], "no-post-quantum-group");
    let folder = with_chain("ml-dsa-65");
    let hybrid = Server::start(&folder, "");
    folder.run(&format!("tls scan https://127.0.0.1:{} --require-pq", hybrid.port)).exits(0);
    folder.run("tls scan http://127.0.0.1:1").exits(2).tells("https");
    folder.run("tls scan https://127.0.0.1:1/?a=b").exits(2).tells("not HOST:PORT");
}

#[test]
fn addresses_to_listen_on_are_what_other_servers_take() {
    let folder = with_chain("ml-dsa-44");
    for (address, told) in [("localhost:0", "127.0.0.1:"), ("0", "127.0.0.1:"), (":0", "0.0.0.0:")] {
        let line = format!("tls serve --cert pki/server.pem --key pki/server.key --listen {address}");
        let server = Server::run(&folder, &line);
        assert!(server.begun["address"].as_str().unwrap().starts_with(told), "{address}: {}", server.begun);
    }
    for address in ["x", "localhost", "127.0.0.1", "1:2:3", "localhost:70000", "70000", ":"] {
        let line = format!("tls serve --cert pki/server.pem --key pki/server.key --listen {address}");
        folder.run(&line).exits(2).tells("PORT, :PORT or HOST:PORT");
    }
}

/// Silent clients keep nobody out for ever.
#[test]
fn silent_clients_lose_their_places() {
    let folder = with_chain("ml-dsa-44");
    let mut server = Server::start(&folder, "--connections 2 --timeout 3");
    let silent: Vec<_> = (0..2).map(|_| TcpStream::connect(("127.0.0.1", server.port)).unwrap()).collect();
    server.get(&folder, "/", "").exits(0);
    let told: Vec<Value> = (0..3).map(|_| server.tells()).collect();
    assert_eq!(
        told.iter()
            .filter(|report| report["detail"].as_str().is_some_and(|why| why.contains("silent")))
            .count(),
        2
    );
    drop(silent);
}

/// Whoever sends a byte now and then is never silent, and has to go all the same.
#[test]
fn dripping_clients_lose_their_places() {
    let folder = with_chain("ml-dsa-44");
    let mut server = Server::start(&folder, "--connections 1 --timeout 1");
    let mut dripping = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let begun = Instant::now();
    // The header of a record of 16 kB, which would take hours.
    dripping.write_all(&[22, 3, 1, 0x40, 0]).unwrap();
    let dripping = thread::spawn(move || {
        while dripping.write_all(&[0]).is_ok() && begun.elapsed() < Duration::from_secs(30) {
            thread::sleep(Duration::from_millis(200));
        }
    });
    server.get(&folder, "/", "--timeout 30").exits(0);
    assert!(server.tells()["detail"].as_str().unwrap().contains("too slow"));
    dripping.join().unwrap();

    // The same after the handshake.
    let mut dripping = server.call(&folder);
    dripping.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    assert_eq!(server.tells()["target"], "GET /");
    let dripping = thread::spawn(move || {
        while dripping.write_all(b"x").is_ok() && begun.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(200));
        }
    });
    assert!(server.tells()["detail"].as_str().unwrap().contains("too slow"));
    dripping.join().unwrap();
}

#[test]
fn an_answer_that_somebody_cut_is_not_taken_for_whole() {
    let folder = with_chain("ml-dsa-65");
    for (head, goodbye, reason) in [
        ("HTTP/1.0 200 OK\r\n\r\n", false, Some("truncated")),
        ("HTTP/1.0 200 OK\r\n\r\n", true, None),
        ("HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n", false, None),
        ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", true, Some("truncated")),
        ("HTTP/1.0 200 OK\r\nContent-Length: 4\r\nContent-Length: 3\r\n\r\n", true, Some("not-http")),
    ] {
        let (port, serving) = serve_once(
            &folder,
            |key| key,
            1,
            move |stream| {
                let _ = stream.read(&mut [0; 4096]).unwrap();
                stream.write_all(format!("{head}body").as_bytes()).unwrap();
                if goodbye {
                    stream.conn.send_close_notify();
                }
                stream.flush().unwrap();
            },
        );
        let told =
            folder.run(&format!("tls get https://localhost:{port}/ -o x --force --json --ca pki/root.pem"));
        serving.join().unwrap();
        match reason {
            Some(reason) => {
                assert_eq!(told.exits(3).json()["reason"], reason, "{head:?}");
                assert!(!folder.exists("x"));
            }
            None => {
                told.exits(0);
                assert_eq!(folder.read("x"), b"body");
                std::fs::remove_file(folder.path("x")).unwrap();
            }
        }
    }
}

/// Signs with what it has, whatever the client takes.
#[derive(Debug)]
struct Stubborn(Arc<dyn SigningKey>, SignatureScheme);

impl SigningKey for Stubborn {
    fn choose_scheme(&self, _: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        self.0.choose_scheme(&[self.1])
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }
}

#[test]
fn a_server_that_signs_with_something_else_does_not_take_what_was_offered() {
    let folder = with_chain("ml-dsa-65");
    let scheme = SignatureScheme::from(Scheme::ML_DSA_65.number());
    // As many connections as the scan makes, and more.
    let (port, _) = serve_once(&folder, |key| Arc::new(Stubborn(key, scheme)), 100, |_| {});
    let rows = folder.run(&format!("tls scan 127.0.0.1:{port} --json")).exits(0).rows();
    let schemes: Vec<_> = rows.iter().filter(|row| row["type"] == "scheme").collect();
    let taken: Vec<_> = schemes.iter().filter(|row| row["taken"] == true).collect();
    assert!(schemes.len() > 10 && taken.len() == 1, "{schemes:?}");
    assert_eq!(taken[0]["name"], "mldsa65");
    assert!(
        schemes.iter().any(|row| row["detail"] == "it signs with mldsa65 although that was not offered"),
        "{schemes:?}"
    );
}

/// The pipe that takes the reports holds 64 KiB, which these are more than.
#[test]
fn a_server_whose_reports_nobody_reads_goes_on() {
    let folder = with_chain("ml-dsa-44");
    let server = Server::start(&folder, "--connections 2");
    let path = "x".repeat(2000);
    for _ in 0..60 {
        let mut stream = server.call(&folder);
        stream.write_all(format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_was_started_with_nohup_outlives_its_terminal() {
    use rustix::process::Signal;

    let folder = with_chain("ml-dsa-44");
    let serve = "tls serve --listen 127.0.0.1:0 --cert pki/server.pem --key pki/server.key";
    // What a shell ignores, the program that takes its place does as well.
    let mut command = std::process::Command::new("sh");
    command.current_dir(folder.path("")).arg("-c");
    command.arg(format!("trap '' HUP; exec \"$0\" {serve} \"$@\"")).arg(folder.command().get_program());
    let mut server = Server::spawn(command);
    server.signal(Signal::HUP);
    thread::sleep(Duration::from_millis(300));
    server.get(&folder, "/", "").exits(0);
    server.signal(Signal::TERM);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_end_lets_downloads_come_to_their_end() {
    use rustix::process::Signal;

    let folder = with_chain("ml-dsa-44");
    std::fs::create_dir(folder.path("www")).unwrap();
    // More than all sockets on the way keep.
    let large = program::noise(20_000_000);
    folder.write("www/large", &large);
    let mut server = Server::start(&folder, "--root www --timeout 60");
    let mut stream = server.call(&folder);
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = vec![0; 1000];
    stream.read_exact(&mut answer).unwrap();
    server.signal(Signal::TERM);
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", server.port)).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it still takes connections");
        thread::sleep(Duration::from_millis(10));
    }
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(&large), "{} bytes came", answer.len());
    // Some of the looks above may have come before the signal.
    let told = std::iter::repeat_with(|| server.tells()).find(|told| told["target"] == "GET /large");
    assert_eq!(told.unwrap()["bytes"], 20_000_000);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));

    // Without anything that runs, it ends at once.
    let mut server = Server::start(&folder, "");
    server.signal(Signal::INT);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
