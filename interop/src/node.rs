//! OpenSSL 3.5 inside Node: keys, signatures and certificates of SLH-DSA, both ways.

use std::path::Path;

use base64ct::{Base64, Encoding};
use gambeson::slhdsa::Message;
use gambeson_pki::{Algorithm, Form, PrivateKey, PublicKey, Template};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::sockets;
use crate::tools::{Result, check, command, succeed, unavailable};

const MESSAGE: &[u8] = b"quilted linen";
const ANOTHER_MESSAGE: &[u8] = b"quilted wool";
const CONTEXT: &[u8] = b"interop";

/// A test for every parameter set.
///
/// # Panics
/// When there are not as many as there should be.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let node = match sockets::newest_node(scratch) {
        Ok(node) => node,
        Err(reason) => return vec![unavailable("node", reason.message().unwrap_or_default())],
    };
    let sets = Algorithm::ALL.iter().copied().filter(|algorithm| algorithm.name().starts_with("SLH-DSA"));
    let trials: Vec<_> = sets
        .map(|algorithm| {
            let node = node.clone();
            let name =
                format!("node::{algorithm}::works_with_our_keys_and_certificates_and_we_with_its_keys");
            Trial::test(name, move || works(&node, algorithm))
        })
        .collect();
    assert_eq!(trials.len(), 12);
    trials
}

fn works(node: &Path, algorithm: Algorithm) -> Result {
    let key = PrivateKey::generate(algorithm).map_err(text)?;
    let name = |name: &str| name.parse().map_err(text);
    let root = Template::authority(name("CN=Root")?).self_signed(&key).map_err(text)?;
    let leaf_key = PrivateKey::generate(algorithm).map_err(text)?.public_key();
    let leaf = Template::new(name("CN=Leaf")?).issue(&leaf_key, &root, &key).map_err(text)?;
    let PrivateKey::SlhDsa(signing_key) = &key else { return Err("no key of SLH-DSA".into()) };
    let in_context = |message| Message::pure(message, CONTEXT).map_err(text);
    let signature = signing_key.sign(in_context(MESSAGE)?).map_err(text)?;
    let private = key.to_pkcs8_pem(Form::Seed).map_err(text)?;
    let public = key.public_key().to_spki_pem();
    let asked = json!({
        "type": algorithm.name().to_lowercase(),
        "private": private.as_str(),
        "public": public,
        "context": Base64::encode_string(CONTEXT),
        "signature": Base64::encode_string(&signature),
        "root": root.to_pem(),
        "leaf": leaf.to_pem(),
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/slh_dsa.mjs");
    let answer = succeed(command(node).arg(script), asked.to_string().as_bytes())?;
    let answer: Value = serde_json::from_slice(&answer).map_err(text)?;
    let told = |field: &str| answer[field].as_str().unwrap_or_default().to_owned();
    check(told("openssl").starts_with("3.5."), format!("OpenSSL {}", told("openssl")))?;
    check(told("type") == algorithm.name().to_lowercase(), "the algorithm")?;
    check(told("privateAgain") == *private && told("publicAgain") == public, "our files as it writes them")?;
    for (field, expected) in [
        ("verified", true),
        ("otherVerified", false),
        ("verifiedWithoutContext", false),
        ("rootHolds", true),
        ("leafHolds", true),
        ("leafHoldsWithOther", false),
    ] {
        check(answer[field] == expected, format!("{field} is {}", answer[field]))?;
    }
    let its = PrivateKey::from_pkcs8_pem(&told("madePrivate")).map_err(text)?;
    let published = PublicKey::from_spki_pem(&told("madePublic")).map_err(text)?;
    check(its.public_key() == published, "its halves fit")?;
    check(
        *its.to_pkcs8_pem(Form::Seed).map_err(text)? == told("madePrivate"),
        "its private key as we write it",
    )?;
    let signature = Base64::decode_vec(&told("signature")).map_err(text)?;
    let verifying_key = signing_key.verifying_key();
    verifying_key.verify(in_context(MESSAGE)?, &signature).map_err(text)?;
    let refused = verifying_key.verify(in_context(ANOTHER_MESSAGE)?, &signature).is_err();
    check(
        refused && verifying_key.verify(MESSAGE, &signature).is_err(),
        "its signature over something else",
    )?;
    if algorithm.name().ends_with('f') {
        let signature = Base64::decode_vec(&told("madeSignature")).map_err(text)?;
        published.verify(MESSAGE, &signature).map_err(text)?;
        check(published.verify(ANOTHER_MESSAGE, &signature).is_err(), "its signature over something else")?;
    }
    Ok(())
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
