//! SLH-DSA with the OpenSSL 3.5 inside Node 24, with keys in the formats of RFC 9909.

use std::io::Write;
use std::path::Path;
use std::process::ChildStdin;
use std::sync::{Arc, Mutex};

use gambeson::slhdsa::{Message, ParameterSet, SigningKey, VerifyingKey};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{ANOTHER_MESSAGE, MESSAGE};
use crate::running::Running;
use crate::sockets::{NODES, node};
use crate::tools::{Result, check, command, unavailable};

const CONTEXT: &[u8] = b"interop";

/// Returns a test for each parameter set.
///
/// # Panics
///
/// If there are not 12.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let peer = match Node::start(scratch) {
        Ok(peer) => Arc::new(peer),
        Err(reason) => {
            return vec![unavailable("openssl_3_5", reason.message().unwrap_or_default())];
        }
    };
    let trials = ParameterSet::ALL.iter().map(|set| {
        let peer = Arc::clone(&peer);
        let name = format!("openssl_3_5::{set}::verifies_our_signatures_and_we_verify_its");
        Trial::test(name, move || both_ways(&peer, *set))
    });
    let trials: Vec<_> = trials.collect();
    assert_eq!(trials.len(), 12);
    trials
}

/// A process of Node that answers requests, one JSON document per line.
struct Node(Mutex<(Running, ChildStdin)>);

impl Node {
    /// Starts the peer in Node 24, which npm fetches if it is missing.
    fn start(scratch: &Path) -> Result<Self> {
        let (_, version) = NODES[0];
        let program = node(&scratch.join("sockets/node"), version)?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/slh_dsa.mjs");
        let mut running = Running::start(command(program).arg(script))?;
        let input = running.input()?;
        let node = Self(Mutex::new((running, input)));
        let version = node.ask(&json!({"op": "version"}))?;
        let version = version["version"].as_str().unwrap_or_default();
        check(version.starts_with("3.5."), format!("OpenSSL {version} inside Node, expected 3.5"))?;
        Ok(node)
    }

    /// Sends one request, and returns its answer.
    fn ask(&self, request: &Value) -> Result<Value> {
        let mut peer = self.0.lock().map_err(|_| "another test panicked")?;
        writeln!(peer.1, "{request}")?;
        let answer = peer.0.json()?;
        match answer["error"].as_str() {
            Some(error) => Err(format!("{}: {error}", request["op"]).into()),
            None => Ok(answer),
        }
    }
}

fn both_ways(peer: &Node, set: ParameterSet) -> Result {
    let ours = SigningKey::generate(set)?;
    let public = spki(&ours.verifying_key());
    let signature = ours.sign(Message::pure(MESSAGE, CONTEXT)?)?;
    let valid = |message, context| -> Result<bool> {
        let fields = [public.as_slice(), message, context, &signature].map(hex::encode);
        let [public, message, context, signature] = fields;
        let request = json!({
            "op": "verify", "public": public, "message": message, "context": context, "signature": signature,
        });
        Ok(peer.ask(&request)?["valid"] == true)
    };
    check(valid(MESSAGE, CONTEXT)?, "it verifies ours")?;
    check(!valid(ANOTHER_MESSAGE, CONTEXT)?, "it refuses ours over another message")?;
    check(!valid(MESSAGE, b"")?, "it refuses ours without its context")?;

    let request = json!({
        "op": "sign", "alg": set.name().to_lowercase(),
        "message": hex::encode(MESSAGE), "context": hex::encode(CONTEXT),
    });
    let made = peer.ask(&request)?;
    let bytes = |field: &str| hex::decode(made[field].as_str().unwrap_or_default());
    let (private, public, signature) = (bytes("private")?, bytes("public")?, bytes("signature")?);
    // RFC 9909, §6: the raw key is the end of the PKCS#8 document.
    let raw = private.len().checked_sub(set.signing_key_len()).map(|start| &private[start..]);
    let key = SigningKey::from_bytes(set, raw.ok_or("its private key is too short")?)?.verifying_key();
    check(spki(&key) == public, "its public key")?;
    let verify = |message, context| -> Result<bool> {
        Ok(key.verify(Message::pure(message, context)?, &signature).is_ok())
    };
    check(verify(MESSAGE, CONTEXT)?, "we verify its")?;
    check(!verify(ANOTHER_MESSAGE, CONTEXT)?, "we refuse its over another message")?;
    check(!verify(MESSAGE, b"")?, "we refuse its without its context")
}

/// The SubjectPublicKeyInfo of a key: RFC 9909, §4.
fn spki(key: &VerifyingKey) -> Vec<u8> {
    // RFC 9909, §3: id-slh-dsa-sha2-128s has the last arc 20, then come 128f, 192s to 256f, and the same with SHAKE.
    let name = key.parameter_set().name();
    let family = if name.contains("SHAKE") { 6 } else { 0 };
    let size = key.as_bytes().len() as u8 / 16 - 2;
    let arc = 20 + family + 2 * size + u8::from(name.ends_with('f'));
    let raw = key.as_bytes();
    let algorithm = [0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, arc];
    let string = [0x03, raw.len() as u8 + 1, 0];
    let head = [0x30, (algorithm.len() + string.len() + raw.len()) as u8];
    [&head[..], &algorithm, &string, raw].concat()
}
