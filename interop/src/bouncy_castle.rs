//! Bouncy Castle for Java: keys, signatures, encapsulations, certificates and PKCS#12, of composites too.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use gambeson::mlkem;
use gambeson_pki::{Algorithm, Error, Form, PrivateKey, PublicKey, name_of_unsupported};
use libtest_mimic::Trial;

use crate::tools::{Result, check, command, succeed, unavailable};
use crate::{composite, hash_based, stateful, x509};

/// Of all packages but that of TLS.
const VERSION: &str = "1.85";
const PASSPHRASE: &str = "correct horse";
const MESSAGE: &[u8] = b"quilted linen";

/// Tests for every algorithm.
///
/// # Panics
/// When there are not as many as there should be.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    let peer = match BouncyCastle::start(scratch) {
        Ok(peer) => Arc::new(peer),
        Err(reason) => return vec![unavailable("bouncy_castle", reason.message().unwrap_or_default())],
    };
    let mut trials = Vec::new();
    let mut add = |name: &str, algorithm: Algorithm, test: fn(&BouncyCastle, Algorithm) -> Result| {
        let peer = Arc::clone(&peer);
        let name = format!("bouncy_castle::{algorithm}::{name}");
        trials.push(Trial::test(name, move || test(&peer, algorithm)));
    };
    for algorithm in Algorithm::ALL.iter().copied().filter(|algorithm| !algorithm.is_stateful()) {
        add("reads_our_keys_and_we_read_its", algorithm, keys);
        if algorithm.signs() {
            add("verifies_our_certificates", algorithm, verifies_ours);
        }
        // Its chain has five signatures.
        if algorithm.signs() && !is_slow(algorithm) {
            add("we_verify_its_certificates", algorithm, verifies_its);
            add("opens_our_pkcs12", algorithm, opens_pkcs12);
        }
        if gambeson_hybrid::composite::Algorithm::by_name(algorithm.name()).is_some() {
            add("refuses_forged_certificates_as_we_do", algorithm, composite::forgeries_are_refused);
        }
    }
    // 34 kinds of keys, 26 of which sign, 6 of these slowly there, 7 composites.
    assert_eq!(trials.len(), 34 + 26 + 2 * 20 + 7);
    trials.extend(hash_based::trials(&peer, scratch));
    for keys in stateful::Keys::ALL {
        let peer = Arc::clone(&peer);
        let name = format!("bouncy_castle::{}::signatures_and_certificates_hold_both_ways", keys.name());
        trials.push(Trial::test(name, move || stateful::both_ways(&peer, keys)));
    }
    let name = "bouncy_castle::we_name_its_keys_of_hash_slh_dsa_and_refuse_them";
    trials.push(Trial::test(name, move || names_hash_slh_dsa(&peer)));
    trials
}

/// The s sets of SLH-DSA, of which a signature takes the peer seconds.
fn is_slow(algorithm: Algorithm) -> bool {
    algorithm.name().starts_with("SLH-DSA") && algorithm.name().ends_with('s')
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bouncy-castle")
}

/// A folder with the packages. Maven fetches them, unless they are there.
///
/// # Errors
/// There is no Maven, or it finds them nowhere.
pub fn jars(scratch: &Path) -> Result<PathBuf> {
    let folder = scratch.join(format!("bouncy-castle-{VERSION}"));
    let (ready, wanted) = (folder.join("ready"), source().join("pom.xml"));
    let recipe = std::fs::read_to_string(&wanted).map_err(text)?;
    if std::fs::read_to_string(&ready).ok().as_ref() != Some(&recipe) {
        let copy = ["-q", "-B", "dependency:copy-dependencies", "-f"];
        let to = format!("-DoutputDirectory={}", folder.display());
        succeed(command("mvn").args(copy).arg(wanted).arg(to), b"")?;
        std::fs::write(&ready, recipe).map_err(text)?;
    }
    Ok(folder)
}

/// The folder of compiled sources of ours.
fn classes(scratch: &Path, name: &str) -> PathBuf {
    scratch.join(format!("bouncy-castle-{name}"))
}

/// Compiles sources of ours into their folder.
fn compiled(scratch: &Path, name: &str, sources: &[&str]) -> Result<PathBuf> {
    let classes = classes(scratch, name);
    std::fs::create_dir_all(&classes).map_err(text)?;
    let sources = sources.iter().map(|file| source().join(file));
    let jars = jars(scratch)?.join("*");
    succeed(command("javac").arg("-cp").arg(jars).arg("-d").arg(&classes).args(sources), b"")?;
    Ok(classes)
}

/// A Java process that answers line by line.
pub struct BouncyCastle {
    pipes: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    child: Mutex<Child>,
}

/// What it answered, field by field.
pub struct Answer(HashMap<String, String>);

impl BouncyCastle {
    /// Starts the peer on the packages, which Maven fetches if they are missing.
    fn start(scratch: &Path) -> Result<Self> {
        let jars = jars(scratch)?.join("*");
        let classes = compiled(scratch, "peer", &["Peer.java", "HashBased.java"])?;
        let path = std::env::join_paths([classes, jars]).map_err(text)?;
        Self::run(command("java").arg("-cp").arg(path))
    }

    /// Starts the peer that [`Self::start`] compiled once more, with the keyed hash functions of SP 800-208 (`KeyedHashFunctions.java`).
    ///
    /// # Errors
    /// Java fails.
    pub fn with_sp_800_208(scratch: &Path) -> Result<Self> {
        let jars = jars(scratch)?;
        let classes = classes(scratch, "peer");
        let functions = compiled(scratch, "sp-800-208", &["KeyedHashFunctions.java"])?;
        // The class path refuses a class in a package of a signed file; a module can be patched.
        let modules = ["--add-modules", "org.bouncycastle.provider,org.bouncycastle.pkix", "--patch-module"];
        let patch = format!("org.bouncycastle.provider={}", functions.display());
        let mut java = command("java");
        java.arg("--module-path").arg(jars).args(modules).arg(patch).arg("-cp").arg(classes);
        Self::run(&mut java)
    }

    fn run(java: &mut Command) -> Result<Self> {
        let java = java.arg("Peer").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = java.spawn().map_err(|error| format!("java: {error}"))?;
        let stdin = child.stdin.take().expect("it was piped");
        let stdout = BufReader::new(child.stdout.take().expect("it was piped"));
        let peer = Self { pipes: Mutex::new((stdin, stdout)), child: Mutex::new(child) };
        let version = peer.ask("version", &[])?;
        check(version.text("version")? == VERSION, "another version of Bouncy Castle")?;
        Ok(peer)
    }

    /// Asks one question.
    ///
    /// # Errors
    /// An error on the other side.
    pub fn ask(&self, op: &str, fields: &[(&str, &str)]) -> Result<Answer> {
        let mut line = format!("op={op}");
        for (name, value) in fields {
            line.push_str(&format!("\t{name}={value}"));
        }
        let mut pipes = self.pipes.lock().map_err(|_| "another test panicked")?;
        writeln!(pipes.0, "{line}").map_err(text)?;
        line.clear();
        pipes.1.read_line(&mut line).map_err(text)?;
        let fields = line.trim_end_matches('\n').split('\t').filter_map(|field| field.split_once('='));
        let answer = Answer(fields.map(|(name, value)| (name.to_owned(), value.to_owned())).collect());
        match answer.0.get("error") {
            Some(error) => Err(format!("{op}: {error}").into()),
            None => Ok(answer),
        }
    }

    /// Returns true if it verifies the signature.
    ///
    /// # Errors
    /// An error on the other side.
    pub fn verifies(&self, key: &PublicKey, message: &[u8], signature: &[u8]) -> Result<bool> {
        let fields = [
            ("scheme", scheme(key.algorithm())),
            ("public", &*hex::encode(key.to_spki_der())),
            ("message", &hex::encode(message)),
            ("signature", &hex::encode(signature)),
        ];
        Ok(self.ask("verify", &fields)?.text("valid")? == "true")
    }
}

impl Drop for BouncyCastle {
    fn drop(&mut self) {
        if let Ok(child) = self.child.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Answer {
    /// A field.
    ///
    /// # Errors
    /// It is not there.
    pub fn text(&self, field: &str) -> Result<&str> {
        Ok(self.0.get(field).ok_or_else(|| format!("no {field} in the answer"))?)
    }

    /// A field of bytes.
    ///
    /// # Errors
    /// It is not there, or none.
    pub fn bytes(&self, field: &str) -> Result<Vec<u8>> {
        Ok(hex::decode(self.text(field)?).map_err(text)?)
    }
}

/// What Java calls the signature, or the encapsulation, of such keys.
pub(crate) fn scheme(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::EcdsaP256 => "SHA256withECDSA",
        Algorithm::EcdsaP384 => "SHA384withECDSA",
        Algorithm::Hss => "LMS",
        other => other.name(),
    }
}

fn keys(peer: &BouncyCastle, algorithm: Algorithm) -> Result {
    let ours = PrivateKey::generate(algorithm).map_err(text)?;
    let forms =
        if ours.to_pkcs8_der(Form::Seed).map_err(text)? == ours.to_pkcs8_der(Form::Both).map_err(text)? {
            vec![Form::Seed]
        } else {
            vec![Form::Seed, Form::Expanded, Form::Both]
        };
    let made = peer.ask("generate", &[("alg", algorithm.name())])?;
    let its = PrivateKey::from_pkcs8_der(&made.bytes("private")?).map_err(text)?;
    check(its.algorithm() == algorithm, "the algorithm of its key")?;
    let published = made.bytes("public")?;
    check(PublicKey::from_spki_der(&published).map_err(text)? == its.public_key(), "its halves fit")?;
    check(its.public_key().to_spki_der() == published, "our DER of its public key")?;
    let spki = ours.public_key().to_spki_der();
    let again = peer.ask("public", &[("public", &hex::encode(&spki))])?;
    check(again.bytes("public")? == spki, "its DER of our public key")?;
    if is_slow(algorithm) {
        // `hash_based` has it sign.
        let file = hex::encode(&*ours.to_pkcs8_der(Form::Seed).map_err(text)?);
        let again = peer.ask("private", &[("private", &file)])?.bytes("private")?;
        let again = PrivateKey::from_pkcs8_der(&again).map_err(text)?;
        check(again.public_key() == ours.public_key(), "its DER of our private key")?;
        return verifies(peer, &ours);
    }
    for form in forms {
        let file = hex::encode(&*ours.to_pkcs8_der(form).map_err(text)?);
        works(peer, &ours, &file).map_err(|error| format!("our key as {form:?}: {error:?}"))?;
    }
    works(peer, &its, made.text("private")?).map_err(|error| format!("its key: {error:?}"))?;
    Ok(())
}

/// Both sides use a key, each for what the other does; `file` is the private key as the peer shall read it.
fn works(peer: &BouncyCastle, key: &PrivateKey, file: &str) -> Result {
    let (public, scheme) = (key.public_key(), scheme(key.algorithm()));
    if key.algorithm().signs() {
        verifies(peer, key)?;
        let fields = [("scheme", scheme), ("private", file), ("message", &hex::encode(MESSAGE))];
        let signature = peer.ask("sign", &fields)?.bytes("signature")?;
        public.verify(MESSAGE, &signature).map_err(|error| format!("we verify its signature: {error}"))?;
        return check(
            public.verify(b"quilted wool", &signature).is_err(),
            "we refuse its over something else",
        );
    }
    let (c, k) = encapsulate(&public)?;
    let fields = [("scheme", scheme), ("private", file), ("c", &hex::encode(c))];
    check(peer.ask("decapsulate", &fields)?.bytes("k")? == k, "it decapsulates ours")?;
    let made =
        peer.ask("encapsulate", &[("scheme", scheme), ("public", &hex::encode(public.to_spki_der()))])?;
    check(decapsulate(key, &made.bytes("c")?)? == made.bytes("k")?, "we decapsulate its")
}

/// It verifies a signature of ours, and refuses it over something else.
fn verifies(peer: &BouncyCastle, key: &PrivateKey) -> Result {
    let (public, signature) = (key.public_key(), key.sign(MESSAGE).map_err(text)?);
    check(peer.verifies(&public, MESSAGE, &signature)?, "it verifies ours")?;
    check(!peer.verifies(&public, b"quilted wool", &signature)?, "it refuses ours over something else")
}

fn encapsulate(key: &PublicKey) -> Result<(Vec<u8>, Vec<u8>)> {
    fn pure<P: mlkem::ParameterSet>(key: &mlkem::EncapsulationKey<P>) -> Result<(Vec<u8>, Vec<u8>)> {
        let (c, k) = key.encapsulate().map_err(text)?;
        Ok((c.as_ref().to_vec(), k.expose().to_vec()))
    }
    match key {
        PublicKey::MlKem512(key) => pure(key),
        PublicKey::MlKem768(key) => pure(key),
        PublicKey::MlKem1024(key) => pure(key),
        PublicKey::CompositeKem(key) => {
            let (c, k) = key.encapsulate().map_err(text)?;
            Ok((c.as_bytes().to_vec(), k.expose().to_vec()))
        }
        _ => Err("no key of encapsulations".into()),
    }
}

fn decapsulate(key: &PrivateKey, c: &[u8]) -> Result<Vec<u8>> {
    fn pure<P: mlkem::ParameterSet>(key: &mlkem::DecapsulationKey<P>, c: &[u8]) -> Result<Vec<u8>> {
        let c = P::Ciphertext::try_from(c).map_err(text)?;
        Ok(key.decapsulate(&c).expose().to_vec())
    }
    match key {
        PrivateKey::MlKem512(key) => pure(key, c),
        PrivateKey::MlKem768(key) => pure(key, c),
        PrivateKey::MlKem1024(key) => pure(key, c),
        PrivateKey::CompositeKem(key) => Ok(key.decapsulate(c).map_err(text)?.expose().to_vec()),
        _ => Err("no key of encapsulations".into()),
    }
}

fn verifies_ours(peer: &BouncyCastle, algorithm: Algorithm) -> Result {
    let ours = x509::Chain::new(algorithm)?;
    let [root, middle, leaf] = [&ours.root, &ours.middle, &ours.leaf].map(|one| hex::encode(one.as_der()));
    let path = peer.ask("path", &[("root", &root), ("middle", &middle), ("leaf", &leaf)])?;
    check(path.text("valid")? == "true", format!("it verifies our chain: {:?}", path.0))?;
    // The same names, another key.
    let stranger = x509::root(&PrivateKey::generate(algorithm).map_err(text)?)?;
    let stranger = hex::encode(stranger.as_der());
    let path = peer.ask("path", &[("root", &stranger), ("middle", &middle), ("leaf", &leaf)])?;
    check(path.text("valid")? == "false", "another root")?;
    let path = peer.ask("path", &[("root", &root), ("leaf", &leaf)])?;
    check(path.text("valid")? == "false", "a truncated path")?;
    let (list, request) = (hex::encode(ours.list.as_der()), hex::encode(ours.request.as_der()));
    let fields = [("middle", &*middle), ("leaf", &leaf), ("crl", &list), ("request", &request)];
    let seen = peer.ask("look", &fields)?;
    check(seen.text("revoked")? == "true", "the list revokes the server")?;
    check(seen.text("other")? == "false", "the list revokes nothing else")?;
    check(seen.text("request")? == "true", "the signature of the request")
}

fn verifies_its(peer: &BouncyCastle, algorithm: Algorithm) -> Result {
    let its = peer.ask("chain", &[("alg", algorithm.name())])?;
    let file = |name: &str| its.bytes(name);
    x509::judge(algorithm, &file("root")?, &file("middle")?, &file("leaf")?, &file("crl")?, &file("request")?)
}

/// What is known by name alone has the names that the peer has for it.
fn names_hash_slh_dsa(peer: &BouncyCastle) -> Result {
    let named = |error: Option<Error>, expected: &str| match error {
        Some(Error::Algorithm { oid }) => {
            let name = name_of_unsupported(&oid).unwrap_or_default();
            // The peer writes the parameter set and the digest.
            let same = name.trim_start_matches("Hash").eq_ignore_ascii_case(expected);
            check(same, format!("{expected} is {name:?} here ({oid})"))
        }
        error => Err(format!("{expected}: {error:?}").into()),
    };
    let mut met = 0;
    for family in ["SHA2", "SHAKE"] {
        for (size, speed) in [128, 192, 256].into_iter().flat_map(|size| [(size, 'S'), (size, 'F')]) {
            let digest = match (family, size) {
                ("SHA2", 128) => "SHA256",
                ("SHA2", _) => "SHA512",
                (_, 128) => "SHAKE128",
                _ => "SHAKE256",
            };
            let name = format!("SLH-DSA-{family}-{size}{speed}-WITH-{digest}");
            let made = peer.ask("generate", &[("alg", &name)])?;
            named(PrivateKey::from_pkcs8_der(&made.bytes("private")?).err(), &name)?;
            named(PublicKey::from_spki_der(&made.bytes("public")?).err(), &name)?;
            met += 1;
        }
    }
    check(met == 12, "every parameter set with a digest")
}

fn opens_pkcs12(peer: &BouncyCastle, algorithm: Algorithm) -> Result {
    let generate = || PrivateKey::generate(algorithm).map_err(text);
    let (root_key, key) = (generate()?, generate()?);
    let name = |name: &str| name.parse().map_err(text);
    let root = gambeson_pki::Template::authority(name("CN=Root")?).self_signed(&root_key).map_err(text)?;
    let leaf = gambeson_pki::Template::new(name("CN=Leaf")?);
    let leaf = leaf.issue(&key.public_key(), &root, &root_key).map_err(text)?;
    let chain = [leaf, root];
    let file = key.to_pkcs12(Form::Seed, &chain, "example", PASSPHRASE).map_err(text)?;
    let ask = |provider: &str, passphrase: &str| {
        let fields = [
            ("provider", provider),
            ("passphrase", passphrase),
            ("scheme", scheme(algorithm)),
            ("file", &*hex::encode(&file)),
            ("message", &hex::encode(MESSAGE)),
        ];
        peer.ask("pkcs12", &fields)
    };
    // Its own reader of the format, and that of Java, which takes the keys inside from it.
    for provider in ["BC", "SunJSSE"] {
        let opened = ask(provider, PASSPHRASE)?;
        check(opened.text("keys")? == "1", "one key")?;
        check(opened.text("name")? == "example", "the name of the entry")?;
        check(opened.text("certificates")? == "2", "the chain")?;
        check(opened.bytes("leaf")? == chain[0].as_der(), "the certificate of the key")?;
        let signature = opened.bytes("signature")?;
        key.public_key().verify(MESSAGE, &signature).map_err(|error| format!("{provider}: {error}"))?;
    }
    let refused = ask("BC", "wrong").err();
    let words = refused.as_ref().and_then(|error| error.message()).unwrap_or_default();
    check(words.contains("wrong password"), format!("a wrong passphrase: {words:?}"))
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
