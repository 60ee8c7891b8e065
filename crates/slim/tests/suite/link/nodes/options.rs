//! Nodes that ask for something: TLS, certificates, credentials, post-quantum key exchange.

use super::*;
use base64ct::{Base64UrlUnpadded, Encoding};
use gambeson_pki::{Algorithm, Certificate, Form, PrivateKey, Purpose, Template};
use gambeson_slim::datapath::{Credentials, NodeOptions};
use hmac::{Hmac, KeyInit, Mac};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A node with a configuration of its own, which ends with the value.
struct Configured {
    child: Child,
    address: String,
    _folder: TempDir,
}

impl Drop for Configured {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A node with these lines for its data plane and its server; `None` as of [`nodes`].
async fn node(test: &str, plane: &str, server: &str) -> Option<Configured> {
    let maker = maker(test)?;
    let folder = tempfile::tempdir().unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (path, address) = (folder.path().join("node.yaml"), format!("127.0.0.1:{port}"));
    let configuration = format!(
        "tracing: {{ log_level: warn }}\n\
         runtime: {{ n_cores: 0, thread_name: slim, drain_timeout: 1s }}\n\
         services:\n  slim/1:\n    node_id: slim-1\n    dataplane:\n      {plane}\n      \
         servers: [ {{ endpoint: \"{address}\", {server} }} ]\n      clients: []\n"
    );
    std::fs::write(&path, configuration).unwrap();
    let mut command = match maker {
        Maker::Program(program) => {
            let mut command = Command::new(program);
            command.arg("--config");
            command
        }
        Maker::Wheel(python) => {
            let mut command = Command::new(python);
            command.arg("-c").arg(include_str!("../../../../src/stock_node.py"));
            command
        }
    };
    let log = std::fs::File::create(folder.path().join("node.log")).unwrap();
    let child = command.arg(&path).stdin(Stdio::piped()).stdout(log.try_clone().unwrap()).stderr(log);
    let mut node = Configured { child: child.spawn().unwrap(), address, _folder: folder };
    let begun = Instant::now();
    while TcpStream::connect(&node.address).is_err() {
        if node.child.try_wait().unwrap().is_some() || begun.elapsed() > BACK {
            let log = std::fs::read_to_string(node._folder.path().join("node.log")).unwrap();
            panic!("the node did not come up: {log}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Some(node)
}

/// Two links with these options carry a frame.
async fn carries(options: &NodeOptions) {
    let [sender, link] = [(); 2].map(|()| DatapathLink::connect([options.clone()]));
    let (sender, link) = (sender.await.unwrap(), link.await.unwrap());
    let name = name();
    link.subscribe(&name.clone().with_instance(1)).await.unwrap();
    sender.publish(&name, To::All, Bytes::from_static(b"carried")).await.unwrap();
    assert_eq!(next(&link).await.frame, b"carried"[..]);
}

async fn refused(options: NodeOptions) -> String {
    match DatapathLink::connect([options]).await {
        Err(Error::NoNode(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_enforces_post_quantum_key_exchange_is_connected_to() {
    let test = "a_node_that_enforces_post_quantum_key_exchange_is_connected_to";
    let Some(node) = node(test, "enforce_pqc: true", "tls: { insecure: true }").await else { return };
    let options = NodeOptions::new(&node.address).require_post_quantum();
    assert!(DatapathLink::connect([options.clone()]).await.unwrap().connected().unwrap().post_quantum);
    carries(&options).await;
}

/// A root, and a certificate and key of it for this purpose, in PEM.
fn certified(purpose: Purpose) -> (String, String, String) {
    let key = || PrivateKey::generate(Algorithm::Ed25519).unwrap();
    let (root_key, own_key) = (key(), key());
    let root = Template::authority("CN=Root of a test".parse().unwrap()).self_signed(&root_key).unwrap();
    let own = Template::new("CN=localhost".parse().unwrap())
        .alt_name("localhost".parse().unwrap())
        .purpose(purpose)
        .issue(&own_key.public_key(), &root, &root_key);
    let own_key = own_key.to_pkcs8_pem(Form::Expanded).unwrap();
    (Certificate::to_pem(&root), own.unwrap().to_pem(), own_key.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_over_tls_is_believed_by_its_authority_and_asks_for_a_certificate() {
    let test = "a_node_over_tls_is_believed_by_its_authority_and_asks_for_a_certificate";
    let (root, certificate, key) = certified(Purpose::ServerAuth);
    let (clients, own, own_key) = certified(Purpose::ClientAuth);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let tls = format!(
        "tls: {{ source: {{ type: file, cert: \"{}\", key: \"{}\" }}, client_ca: {{ type: file, path: \"{}\" }} }}",
        file("cert.pem", &certificate),
        file("key.pem", &key),
        file("clients.pem", &clients),
    );
    let Some(node) = node(test, "enforce_pqc: true", &tls).await else { return };
    let endpoint = format!("https://{}", node.address.replace("127.0.0.1", "localhost"));
    let trusting = NodeOptions::new(&endpoint).with_roots(root.as_bytes()).unwrap();
    let known = trusting.clone().with_client_certificate(own.as_bytes(), own_key.as_bytes()).unwrap();
    carries(&known).await;
    carries(&known.clone().require_post_quantum()).await;
    let reason = refused(trusting).await;
    assert!(reason.to_lowercase().contains("certificate"), "{reason}");
    let other = NodeOptions::new(&endpoint).with_roots(clients.as_bytes()).unwrap();
    let reason = refused(other).await;
    assert!(reason.contains("certificate"), "{reason}");
    assert!(!format!("{known:?}").contains(own_key.lines().nth(1).unwrap()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_gets_the_password_that_it_asks_for() {
    let test = "a_node_gets_the_password_that_it_asks_for";
    let server = "tls: { insecure: true }, auth: { type: basic, username: alice, password: sesame }";
    let Some(node) = node(test, "", server).await else { return };
    let options = NodeOptions::new(&node.address);
    carries(&options.clone().with_credentials(Credentials::basic("alice", "sesame").unwrap())).await;
    for wrong in [options.clone(), options.with_credentials(Credentials::basic("alice", "open").unwrap())] {
        let reason = refused(wrong).await;
        assert!(reason.contains("refuses the credentials"), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_gets_the_token_that_it_asks_for() {
    let test = "a_node_gets_the_token_that_it_asks_for";
    let secret = "a secret of at least 32 bytes, as HS256 needs it";
    let server = format!(
        "tls: {{ insecure: true }}, auth: {{ type: jwt, claims: {{ audience: [ nodes ], issuer: tests, subject: alice }}, \
         key: {{ type: decoding, algorithm: HS256, format: pem, key: {{ data: \"{secret}\" }} }} }}"
    );
    let Some(node) = node(test, "", &server).await else { return };
    let token = |secret: &str| {
        let encoded = |json: &str| Base64UrlUnpadded::encode_string(json.as_bytes());
        let claims = r#"{"aud":["nodes"],"iss":"tests","sub":"alice","iat":1700000000,"nbf":1700000000,"exp":4102444800}"#;
        let signed = format!("{}.{}", encoded(r#"{"typ":"JWT","alg":"HS256"}"#), encoded(claims));
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(signed.as_bytes());
        format!("{signed}.{}", Base64UrlUnpadded::encode_string(&mac.finalize().into_bytes()))
    };
    let options =
        |token: &str| NodeOptions::new(&node.address).with_credentials(Credentials::bearer(token).unwrap());
    carries(&options(&token(secret))).await;
    let reason = refused(options(&token("another"))).await;
    assert!(reason.contains("refuses the credentials"), "{reason}");
}
