//! Python's `cryptography`: keys as files, signatures and encapsulations, both ways.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Arc, Mutex};

use gambeson::mldsa::{self, Message};
use gambeson::{Bytes, mlkem};
use gambeson_pki::{Algorithm, Encryption, Form, PrivateKey, PublicKey};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::tools::{Result, check, command, python_with, unavailable};
use crate::x509;

const PACKAGE: &str = "cryptography==50.0.2";
const PASSPHRASE: &str = "correct horse";
/// What Python's package has; it has no ML-KEM-512.
const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::MlKem768, Algorithm::MlKem1024, Algorithm::MlDsa44, Algorithm::MlDsa65, Algorithm::MlDsa87];

/// Tests for every algorithm.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let python = match Python::start(scratch) {
        Ok(python) => Arc::new(python),
        Err(reason) => return vec![unavailable("python", reason.message().unwrap_or_default())],
    };
    let mut trials = Vec::new();
    for algorithm in ALGORITHMS {
        let mut add = |name: &str, test: fn(&Python, Algorithm) -> Result| {
            let python = Arc::clone(&python);
            trials
                .push(Trial::test(format!("python::{algorithm}::{name}"), move || test(&python, algorithm)));
        };
        add("loads_our_private_keys", loads_our_private_keys);
        add("loads_our_public_keys", loads_our_public_keys);
        add("we_load_its_keys", we_load_its_keys);
        add("works_with_our_keys_and_we_with_its", works);
    }
    for algorithm in x509::ALGORITHMS {
        let mut add = |name: &str, test: fn(&Python, Algorithm) -> Result| {
            let python = Arc::clone(&python);
            trials
                .push(Trial::test(format!("python::{algorithm}::{name}"), move || test(&python, algorithm)));
        };
        add("verifies_our_certificates", verifies_our_certificates);
        add("we_verify_its_certificates", we_verify_its_certificates);
    }
    trials
}

fn verifies_our_certificates(python: &Python, algorithm: Algorithm) -> Result {
    let ours = x509::Chain::new(algorithm)?;
    let is_of_the_web = !matches!(algorithm, Algorithm::Ed25519 | Algorithm::Ed448);
    let answer = python.ask(&json!({
        "op": "look_at_chain",
        "root": ours.root.to_pem(),
        "middle": ours.middle.to_pem(),
        "leaf": ours.leaf.to_pem(),
        "crl": ours.list.to_pem(),
        "request": ours.request.to_pem(),
        "path": is_of_the_web,
    }))?;
    for what in ["crl", "revoked", "csr", "key_identifiers"] {
        check(answer[what] == true, format!("{what}: {answer}"))?;
    }
    check(answer["serial_bits"] == 159, format!("a serial number of 20 bytes: {answer}"))?;
    check(!is_of_the_web || answer["path"] == 3, format!("the path: {answer}"))
}

fn we_verify_its_certificates(python: &Python, algorithm: Algorithm) -> Result {
    let answer = python.ask(&json!({"op": "make_chain", "alg": algorithm.name()}))?;
    let file = |name: &str| answer[name].as_str().unwrap_or_default().as_bytes();
    x509::judge(algorithm, file("root"), file("middle"), file("leaf"), file("crl"), file("request"))
}

/// A Python process that answers line by line.
struct Python {
    pipes: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    child: Mutex<Child>,
}

impl Python {
    /// Makes a virtual environment with the package, unless it is there, and starts the peer in it.
    fn start(scratch: &Path) -> Result<Self> {
        let folder = scratch.join(format!("python-{PACKAGE}"));
        let mut child = command(python_with(&folder, &[PACKAGE])?)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("peer.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(text)?;
        let stdin = child.stdin.take().expect("it was piped");
        let stdout = BufReader::new(child.stdout.take().expect("it was piped"));
        let python = Self { pipes: Mutex::new((stdin, stdout)), child: Mutex::new(child) };
        let version = python.ask(&json!({"op": "version"}))?;
        check(version["version"] == PACKAGE.rsplit('=').next().unwrap_or_default(), version.to_string())?;
        Ok(python)
    }

    /// Asks one question; an error on the other side is one here.
    fn ask(&self, request: &Value) -> Result<Value> {
        let mut pipes = self.pipes.lock().map_err(|_| "another test panicked")?;
        writeln!(pipes.0, "{request}").map_err(text)?;
        let mut line = String::new();
        pipes.1.read_line(&mut line).map_err(text)?;
        let answer: Value = serde_json::from_str(&line).map_err(text)?;
        match answer["error"].as_str() {
            Some(error) => Err(format!("{}: {error}", request["op"]).into()),
            None => Ok(answer),
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        if let Ok(child) = self.child.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

fn bytes(answer: &Value, field: &str) -> Result<Vec<u8>> {
    Ok(hex::decode(answer[field].as_str().ok_or_else(|| format!("no {field} in the answer"))?)
        .map_err(text)?)
}

fn loads_our_private_keys(python: &Python, algorithm: Algorithm) -> Result {
    let key = PrivateKey::generate(algorithm).map_err(text)?;
    let ask = |name: &str, file: &[u8], passphrase: Option<&str>| -> Result {
        let mut request = json!({"op": "private", "alg": algorithm.name(), "private": hex::encode(file)});
        if let Some(passphrase) = passphrase {
            request["passphrase"] = passphrase.into();
        }
        let answer = python.ask(&request).map_err(|error| format!("{name}: {error:?}"))?;
        check(bytes(&answer, "raw")? == key.public_key().as_bytes(), format!("{name}: public key"))?;
        check(Some(&bytes(&answer, "seed")?[..]) == key.seed(), format!("{name}: seed"))
    };
    // Version 50 reads seeds alone; the other two forms are put to AWS-LC.
    ask("DER", &key.to_pkcs8_der(Form::Seed).map_err(text)?, None)?;
    ask("PEM", key.to_pkcs8_pem(Form::Seed).map_err(text)?.as_bytes(), None)?;
    let secret = PASSPHRASE.as_bytes();
    for encryption in [Encryption::Pbkdf2, Encryption::Scrypt] {
        let der = key.to_encrypted_pkcs8_der(Form::Seed, secret, encryption).map_err(text)?;
        ask(&format!("{encryption:?} DER"), &der, Some(PASSPHRASE))?;
        let pem = key.to_encrypted_pkcs8_pem(Form::Seed, secret, encryption).map_err(text)?;
        ask(&format!("{encryption:?} PEM"), pem.as_bytes(), Some(PASSPHRASE))?;
        check(ask("wrong passphrase", &der, Some("wrong")).is_err(), "a wrong passphrase is refused")?;
    }
    Ok(())
}

fn loads_our_public_keys(python: &Python, algorithm: Algorithm) -> Result {
    let key = PrivateKey::generate(algorithm).map_err(text)?.public_key();
    for file in [key.to_spki_der(), key.to_spki_pem().into_bytes()] {
        let request = json!({"op": "public", "alg": algorithm.name(), "public": hex::encode(file)});
        check(bytes(&python.ask(&request)?, "raw")? == key.as_bytes(), "the same public key")?;
    }
    Ok(())
}

fn we_load_its_keys(python: &Python, algorithm: Algorithm) -> Result {
    for encoding in ["DER", "PEM"] {
        for passphrase in [None, Some(PASSPHRASE)] {
            let mut request = json!({"op": "generate", "alg": algorithm.name(), "encoding": encoding});
            if let Some(passphrase) = passphrase {
                request["passphrase"] = passphrase.into();
            }
            let answer = python.ask(&request)?;
            let (private, public) = (bytes(&answer, "private")?, bytes(&answer, "public")?);
            let key = PrivateKey::read(&private, passphrase.map(str::as_bytes)).map_err(text)?;
            let published = PublicKey::read(&public).map_err(text)?;
            check(key.algorithm() == algorithm, "the algorithm")?;
            check(published.as_bytes() == bytes(&answer, "raw")?, "the public key")?;
            check(key.public_key() == published, "the private key makes the public one")?;
            if passphrase.is_some() {
                let wrong = PrivateKey::read(&private, Some(b"wrong")).err();
                check(wrong == Some(gambeson_pki::Error::WrongPassphrase), "a wrong passphrase")?;
            }
            if encoding == "PEM" {
                let again = published.to_spki_pem();
                check(again.as_bytes() == public, "our PEM of the public key is the same text")?;
            }
            if encoding == "PEM" && passphrase.is_none() {
                let again = key.to_pkcs8_pem(Form::Seed).map_err(text)?;
                check(again.as_bytes() == private, "our PEM of the seed is the same text")?;
            }
        }
    }
    Ok(())
}

fn works(python: &Python, algorithm: Algorithm) -> Result {
    let ours = PrivateKey::generate(algorithm).map_err(text)?;
    let request = json!({"op": "generate", "alg": algorithm.name(), "encoding": "DER"});
    let theirs = PrivateKey::from_pkcs8_der(&bytes(&python.ask(&request)?, "private")?).map_err(text)?;
    for key in [&ours, &theirs] {
        match key {
            PrivateKey::MlKem768(kem) => encapsulations(python, key, kem)?,
            PrivateKey::MlKem1024(kem) => encapsulations(python, key, kem)?,
            PrivateKey::MlDsa44(dsa) => signatures(python, key, dsa)?,
            PrivateKey::MlDsa65(dsa) => signatures(python, key, dsa)?,
            PrivateKey::MlDsa87(dsa) => signatures(python, key, dsa)?,
            _ => return Err("an algorithm that Python does not have".into()),
        }
    }
    Ok(())
}

/// A request about `key`, with both its files.
fn about(op: &str, key: &PrivateKey) -> Result<Value> {
    Ok(json!({
        "op": op,
        "alg": key.algorithm().name(),
        "private": hex::encode(&*key.to_pkcs8_der(Form::Seed).map_err(text)?),
        "public": hex::encode(key.public_key().to_spki_der()),
    }))
}

fn encapsulations<P: mlkem::ParameterSet>(
    python: &Python,
    key: &PrivateKey,
    kem: &mlkem::DecapsulationKey<P>,
) -> Result {
    for _ in 0..10 {
        let (c, k) = kem.encapsulation_key().encapsulate().map_err(text)?;
        let mut request = about("decapsulate", key)?;
        request["c"] = hex::encode(c.as_ref()).into();
        check(bytes(&python.ask(&request)?, "k")? == k.expose(), "Python decapsulates ours")?;

        let answer = python.ask(&about("encapsulate", key)?)?;
        let c = bytes(&answer, "c")?;
        let c = P::Ciphertext::try_from(&c[..]).map_err(text)?;
        check(bytes(&answer, "k")? == kem.decapsulate(&c).expose(), "we decapsulate Python's")?;
    }
    check(P::Ciphertext::LEN > 1000, "a ciphertext of one of the larger sets")
}

fn signatures<P: mldsa::ParameterSet>(
    python: &Python,
    key: &PrivateKey,
    dsa: &mldsa::SigningKey<P>,
) -> Result {
    let public = dsa.verifying_key();
    let long = vec![0xa5; 100_000];
    for (message, context) in
        [(&b""[..], &b""[..]), (b"quilted linen", b""), (b"quilted linen", b"a context"), (&long, &[7; 255])]
    {
        let framed = || Message::pure(message, context).map_err(text);
        let with = |op: &str| -> Result<Value> {
            let mut request = about(op, key)?;
            request["message"] = hex::encode(message).into();
            request["context"] = hex::encode(context).into();
            Ok(request)
        };
        for signature in [dsa.sign(framed()?).map_err(text)?, dsa.sign_deterministic(framed()?)] {
            let mut request = with("verify")?;
            request["signature"] = hex::encode(signature.as_ref()).into();
            check(python.ask(&request)?["valid"] == true, "Python verifies ours")?;
            let mut bad = signature;
            bad.as_mut()[20] ^= 1;
            request["signature"] = hex::encode(bad.as_ref()).into();
            check(python.ask(&request)?["valid"] == false, "Python refuses ours when it was changed")?;
        }

        let signature = bytes(&python.ask(&with("sign")?)?, "signature")?;
        public.verify(framed()?, &signature).map_err(text)?;
        let other = Message::pure(message, b"another context").map_err(text)?;
        check(public.verify(other, &signature).is_err(), "we refuse Python's under another context")?;

        let mut hasher = public.mu_hasher(context).map_err(text)?;
        hasher.update(message);
        let mut request = about("sign_mu", key)?;
        request["mu"] = hex::encode(hasher.finalize()).into();
        let signature = bytes(&python.ask(&request)?, "signature")?;
        public
            .verify(framed()?, &signature)
            .map_err(|error| format!("Python's signature of our μ: {error}"))?;
    }
    Ok(())
}
