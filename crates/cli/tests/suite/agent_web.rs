//! `did:web` over real TLS: servers on loopback under a private root, and what goes wrong with them.

use crate::program::agents::{did, two};
use crate::program::{Folder, Outcome};
use base64ct::{Base64, Encoding};
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use p256::pkcs8::EncodePrivateKey;
use rcgen::{
    BasicConstraints, CertificateParams, IsCa, Issuer, KeyUsagePurpose, PublicKeyData, SerialNumber,
    SignatureAlgorithm,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// A P-256 key, as `rcgen` takes one.
struct Key(SigningKey, Vec<u8>);

impl Key {
    fn new(secret: u8) -> Self {
        let key = SigningKey::from_slice(&[secret; 32]).unwrap();
        let public = key.verifying_key().to_sec1_point(false).as_bytes().to_vec();
        Self(key, public)
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.1
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signature: Signature = self.0.sign(message);
        Ok(signature.to_der().as_bytes().to_vec())
    }
}

/// A private certificate authority, and the servers that have certificates of it.
struct Authority {
    params: CertificateParams,
    key: Key,
}

impl Authority {
    fn new() -> Self {
        let mut params = params(&[]);
        params.distinguished_name.push(rcgen::DnType::CommonName, "a private root");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Self { params, key: Key::new(1) }
    }

    fn pem(&self) -> String {
        pem("CERTIFICATE", self.params.self_signed(&self.key).unwrap().der())
    }

    /// A certificate for a host, good until the end of this year.
    fn server(&self, host: &str, until: i32) -> (CertificateDer<'static>, Key) {
        let (mut params, key) = (params(&[host]), Key::new(2));
        params.not_after = rcgen::date_time_ymd(until, 12, 31);
        let issuer = Issuer::from_params(&self.params, &self.key);
        (params.signed_by(&key, &issuer).unwrap().der().clone(), key)
    }
}

fn params(hosts: &[&str]) -> CertificateParams {
    let mut params =
        CertificateParams::new(hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>()).unwrap();
    params.serial_number = Some(SerialNumber::from(7_u64));
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(2199, 12, 31);
    params
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = Base64::encode_string(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// What a server answers: the path, the status line and fields, the content.
type Answers = Vec<(&'static str, String, Vec<u8>)>;

/// Serves until the test ends; gives the port.
fn serve((certificate, key): (CertificateDer<'static>, Key), answers: impl FnOnce(u16) -> Answers) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answers = answers(port);
    let key = PrivatePkcs8KeyDer::from(key.0.to_pkcs8_der().unwrap().as_bytes().to_vec());
    let config = ServerConfig::builder_with_provider(Arc::new(gambeson_rustls::provider().unwrap()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::from(key))
        .unwrap();
    let config = Arc::new(config);
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that does not trust this server goes away.
            let _ = answer(stream.unwrap(), &config, &answers);
        }
    });
    port
}

fn answer(mut stream: TcpStream, config: &Arc<ServerConfig>, answers: &Answers) -> std::io::Result<()> {
    let mut connection = ServerConnection::new(config.clone()).unwrap();
    let mut tls = Stream::new(&mut connection, &mut stream);
    let (mut request, mut piece) = (Vec::new(), [0; 1024]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = tls.read(&mut piece)?;
        request.extend_from_slice(&piece[..read]);
    }
    let line = String::from_utf8_lossy(&request);
    let path = line.split(' ').nth(1).unwrap_or_default();
    let (head, content) = match answers.iter().find(|(known, ..)| *known == path) {
        Some((_, head, content)) => (head.as_str(), content.as_slice()),
        None => ("404 Not Found\r\nContent-Length: 0", &b""[..]),
    };
    tls.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes())?;
    tls.write_all(content)?;
    tls.conn.send_close_notify();
    tls.flush()
}

/// A good answer with this content.
fn ok(path: &'static str, content: impl Into<Vec<u8>>) -> (&'static str, String, Vec<u8>) {
    let content = content.into();
    let head = format!("200 OK\r\nContent-Type: application/did+json\r\nContent-Length: {}", content.len());
    (path, head, content)
}

/// The document of alice under another DID.
fn document(folder: &Folder, did_web: &str) -> String {
    let document = folder.run("agent card --document --home alice").exits(0);
    document.text().replace(&did(folder, "alice"), did_web)
}

/// Loopback is not public, and nobody is led there by a DID unless this is said.
const PRIVATE: (&str, &str) = ("GAMBESON_WEB_PRIVATE", "1");

/// Bob asks for a document.
fn ask(folder: &Folder, did_web: &str, options: &str) -> Outcome {
    let line = format!("agent card --document --of {did_web} --home bob --web --json {options}");
    folder.run_with(&line, b"", &[PRIVATE])
}

fn reason(outcome: &Outcome) -> Value {
    serde_json::from_str::<Value>(outcome.stderr.lines().last().unwrap()).unwrap()["reason"].clone()
}

#[test]
fn a_document_is_fetched_from_a_server_whose_root_is_named() {
    let (folder, authority) = (two(), Authority::new());
    folder.write("root.pem", authority.pem());
    let port = serve(authority.server("localhost", 2199), |port| {
        vec![
            ok("/.well-known/did.json", document(&folder, &format!("did:web:localhost%3A{port}"))),
            ok(
                "/staff/alice/did.json",
                document(&folder, &format!("did:web:localhost%3A{port}:staff:alice")),
            ),
        ]
    });
    for did_web in [format!("did:web:localhost%3A{port}"), format!("did:web:localhost%3A{port}:staff:alice")]
    {
        let found = ask(&folder, &did_web, "--web-roots root.pem").exits(0);
        assert_eq!(serde_json::from_slice::<Value>(&found.stdout).unwrap()["id"], did_web);
    }
    let did_web = format!("did:web:localhost%3A{port}");
    let line = format!("agent card --document --of {did_web} --home bob --web");
    folder.run_with(&line, b"", &[("GAMBESON_WEB_ROOTS", "root.pem"), PRIVATE]).exits(0);
    folder.run_with(&line, b"", &[("GAMBESON_WEB_ROOTS", "root.pem")]).exits(1).tells("not public");
    // What others seal to that recipient alice opens.
    let line = format!("agent card --recipient --of {did_web} --home bob --web --web-roots root.pem");
    let recipient =
        folder.run_with(&line, b"", &[PRIVATE]).exits(0).text().lines().last().unwrap().to_owned();
    let own = folder.run("agent show --recipient --home alice").exits(0);
    assert_eq!(own.text().trim_end(), recipient);

    // The certificates of a file stand in the place of Mozilla's; without it the server is nobody's.
    let unknown = ask(&folder, &did_web, "").exits(1).tells("its issuer is not known");
    assert_eq!(reason(&unknown), "unknown-did");
    let other = pem("CERTIFICATE", &authority.server("localhost", 2199).0);
    folder.write("other.pem", other);
    ask(&folder, &did_web, "--web-roots other.pem").exits(1).tells("was not fetched");
}

#[test]
fn what_a_server_answers_is_refused_for_what_is_wrong_with_it() {
    let (folder, authority) = (two(), Authority::new());
    folder.write("root.pem", authority.pem());
    let port = serve(authority.server("localhost", 2199), |port| {
        let host = format!("did:web:localhost%3A{port}");
        let large = format!("{}{}", document(&folder, &format!("{host}:large")), " ".repeat(70_000));
        let cut = document(&folder, &format!("{host}:cut"));
        vec![
            ok("/other/did.json", document(&folder, &host)),
            (
                "/moved/did.json",
                format!(
                    "302 Found\r\nLocation: https://localhost:{port}/there/did.json\r\nContent-Length: 0"
                ),
                Vec::new(),
            ),
            ok("/there/did.json", document(&folder, &format!("{host}:moved"))),
            ok("/large/did.json", large.clone()),
            ("/endless/did.json", "200 OK".to_owned(), large.into_bytes()),
            ok("/text/did.json", "no JSON"),
            ok("/twice/did.json", r#"{"id": "did:web:a", "id": "did:web:b"}"#),
            ok("/form/did.json", "{}"),
            ("/cut/did.json", format!("200 OK\r\nContent-Length: {}", cut.len()), cut[..500].into()),
            (
                "/coded/did.json",
                "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2".to_owned(),
                b"\x1f\x8b".to_vec(),
            ),
            (
                "/framed/did.json",
                "200 OK\r\nTransfer-Encoding: gzip, chunked".to_owned(),
                b"2\r\n{}\r\n0\r\n\r\n".to_vec(),
            ),
            ("/broken/did.json", "500 Internal Server Error\r\nContent-Length: 0".to_owned(), Vec::new()),
        ]
    });
    let mut ran = 0;
    for (name, expected, told) in [
        ("other", "not-bound", "the document at the address of did:web:localhost%3A"),
        ("moved", "unknown-did", "status 302 Found; redirects are not followed"),
        ("large", "too-large", "/large/did.json has more than 65536 bytes"),
        ("endless", "too-large", "/endless/did.json has more than 65536 bytes"),
        ("text", "bad-json", "/text/did.json: "),
        ("twice", "bad-json", "/twice/did.json: "),
        ("form", "bad-form", "/form/did.json: the string \"id\" is missing"),
        ("cut", "unknown-did", "/cut/did.json was not fetched"),
        ("coded", "unknown-did", "its content has the coding \"gzip\", which was not asked for"),
        ("framed", "unknown-did", "transfer coding"),
        ("broken", "unknown-did", "status 500"),
        ("nowhere", "unknown-did", "status 404 Not Found"),
    ] {
        let did_web = format!("did:web:localhost%3A{port}:{name}");
        let refused = ask(&folder, &did_web, "--web-roots root.pem").exits(1).tells(told);
        assert_eq!(reason(&refused), expected, "{name}");
        assert!(refused.stdout.is_empty());
        ran += 1;
    }
    assert_eq!(ran, 12);
}

#[test]
fn a_certificate_that_does_not_hold_is_told() {
    let (folder, authority) = (two(), Authority::new());
    folder.write("root.pem", authority.pem());
    for (host, until, told) in [
        ("localhost", 2021, "expired"),
        ("example.com", 2199, "the certificate is for another name: it is for example.com"),
    ] {
        let port = serve(authority.server(host, until), |port| {
            vec![ok("/.well-known/did.json", document(&folder, &format!("did:web:localhost%3A{port}")))]
        });
        let did_web = format!("did:web:localhost%3A{port}");
        let refused = ask(&folder, &did_web, "--web-roots root.pem").exits(1).tells(told);
        assert_eq!(reason(&refused), "unknown-did");
    }
}

/// Chains of these servers obey the rules of every other chain.
#[test]
fn a_root_that_may_not_sign_certificates_is_no_root() {
    let (folder, mut authority) = (two(), Authority::new());
    authority.params.key_usages = vec![KeyUsagePurpose::CrlSign];
    folder.write("root.pem", authority.pem());
    let port = serve(authority.server("localhost", 2199), |port| {
        vec![ok("/.well-known/did.json", document(&folder, &format!("did:web:localhost%3A{port}")))]
    });
    let did_web = format!("did:web:localhost%3A{port}");
    let refused = ask(&folder, &did_web, "--web-roots root.pem").exits(1).tells("may not sign certificates");
    assert_eq!(reason(&refused), "unknown-did");
}

#[test]
fn a_file_of_roots_holds_certificates() {
    let (folder, authority) = (two(), Authority::new());
    let did_web = "did:web:localhost%3A1";
    ask(&folder, did_web, "--web-roots missing.pem").exits(3).tells("missing.pem");
    for (text, told) in [
        (String::new(), "no certificate"),
        (pem("PRIVATE KEY", b"key"), "no certificate"),
        (pem("CERTIFICATE", b"no DER"), "certificate 1"),
        (format!("{}{}", authority.pem(), pem("CERTIFICATE", b"no DER")), "certificate 2"),
        ("-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n".to_owned(), "is not base64"),
    ] {
        folder.write("bad.pem", &text);
        ask(&folder, did_web, "--web-roots bad.pem").exits(3).tells(told);
    }
    folder.write("root.pem", authority.pem());
    folder.run("agent show --home bob --web-roots root.pem").exits(2).tells("--web-roots needs --web");
}
