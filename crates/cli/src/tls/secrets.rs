//! Files that `tls serve` never gives out: private keys, whatever the name of their file, and the folders of agents.

use gambeson_pki as pki;
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// How much of a file is searched for keys, in bytes.
const SEARCHED: u64 = 1 << 20;

/// Returns why a file below the root is withheld, if it is.
pub(super) fn why_withheld(root: &Path, path: &Path, mut file: &File) -> io::Result<Option<&'static str>> {
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
    if folders.into_iter().any(is_of_agent) {
        return Ok(Some("it is in an agent's folder"));
    }
    let mut content = Vec::new();
    file.by_ref().take(SEARCHED).read_to_end(&mut content)?;
    file.rewind()?;
    Ok(holds_key(&content).then_some("it holds a private key"))
}

/// Returns true if a folder is an agent's.
pub(super) fn is_of_agent(folder: &Path) -> bool {
    folder.join("agent.json").is_file() && folder.join("seed").is_file()
}

fn holds_key(content: &[u8]) -> bool {
    has_mark(content)
        || gambeson_keystore::is_sealed(content)
        || is_der_key(content)
        || is_jwk(content)
        || is_seed(content)
}

/// Returns true if text has the first line of a private key in PEM, of OpenPGP or of age.
fn has_mark(content: &[u8]) -> bool {
    let has = |mark: &[u8]| content.windows(mark.len()).any(|window| window.eq_ignore_ascii_case(mark));
    has(b"PRIVATE KEY-----") || has(b"PRIVATE KEY BLOCK-----") || has(b"AGE-SECRET-KEY-")
}

/// Returns true if DER is a private key, encrypted or not, or a file of PKCS#12, which begins with its version, 3 (RFC 7292, section 4).
fn is_der_key(content: &[u8]) -> bool {
    if !pki::is_der(content) {
        return false;
    }
    let is_key = matches!(pki::PrivateKey::read(content, None), Ok(_) | Err(pki::Error::Encrypted));
    // The DER of a public key has an outline that an encrypted private one could have.
    let is_public = pki::PublicKey::read(content).is_ok();
    is_key && !is_public || content.windows(3).take(8).any(|window| window == [2, 1, 3])
}

/// Returns true if JSON is a private key, or a set of keys with a private one (RFC 7517; RFC 9964 for `priv`).
fn is_jwk(content: &[u8]) -> bool {
    let is_private =
        |key: &Value| key["kty"].is_string() && ["d", "priv", "k"].iter().any(|it| key[it].is_string());
    serde_json::from_slice::<Value>(content).is_ok_and(|json| {
        is_private(&json) || json["keys"].as_array().is_some_and(|keys| keys.iter().any(is_private))
    })
}

/// Returns true if text is the words of an agent's seed.
fn is_seed(content: &[u8]) -> bool {
    let text = std::str::from_utf8(content).ok().filter(|text| text.len() < 1024);
    text.is_some_and(|text| gambeson_identity::recovery::from_words(text).is_ok())
}
