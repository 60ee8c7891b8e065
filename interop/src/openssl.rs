//! The program `openssl` of the machine: keys, chains, requests and revocation lists of classical algorithms.

use std::fs;
use std::path::{Path, PathBuf};

use gambeson_pki::{Algorithm, Certificate, Encryption, Form, PrivateKey, PublicKey, Template};
use libtest_mimic::Trial;

use crate::tools::{Result, check, command, run, succeed, unavailable};
use crate::x509::{self, Chain};

/// What OpenSSL 3.0 has, and what its command line calls it.
const ALGORITHMS: [(Algorithm, &[&str]); 4] = [
    (Algorithm::Ed25519, &["-algorithm", "ED25519"]),
    (Algorithm::Ed448, &["-algorithm", "ED448"]),
    (Algorithm::EcdsaP256, &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
    (Algorithm::EcdsaP384, &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]),
];

/// Tests for every algorithm.
#[must_use]
pub fn trials(scratch: &Path) -> Vec<Trial> {
    if let Err(reason) = succeed(command("openssl").arg("version"), b"") {
        return vec![unavailable("openssl", reason.message().unwrap_or_default())];
    }
    let mut trials = Vec::new();
    for (algorithm, options) in ALGORITHMS {
        let folder = scratch.join(format!("openssl-{algorithm}"));
        let mut add = |name: &str, test: fn(&Folder, Algorithm, &[&str]) -> Result| {
            let folder = Folder(folder.join(name));
            trials.push(Trial::test(format!("openssl::{algorithm}::{name}"), move || {
                fs::create_dir_all(&folder.0).map_err(text)?;
                test(&folder, algorithm, options)
            }));
        };
        add("reads_our_keys_and_we_read_its", keys);
        add("verifies_our_certificates", verifies_ours);
        add("we_verify_its_certificates", verifies_theirs);
        add("opens_our_pkcs12", opens_pkcs12);
    }
    trials
}

/// Where the files of one test stand.
struct Folder(PathBuf);

impl Folder {
    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result {
        fs::write(self.0.join(name), content).map_err(|error| text(error).into())
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        fs::read(self.0.join(name)).map_err(|error| text(error).into())
    }

    /// Runs the program in the folder; what it prints.
    fn openssl(&self, arguments: &[&str]) -> Result<String> {
        let output = succeed(command("openssl").args(arguments).current_dir(&self.0), b"")?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Runs the program, which must refuse with these words.
    fn refuses(&self, arguments: &[&str], words: &str) -> Result {
        let output = run(command("openssl").args(arguments).current_dir(&self.0), b"")?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        check(!output.status.success() && said.contains(words), format!("no {words:?} in {said}"))
    }
}

fn keys(folder: &Folder, algorithm: Algorithm, options: &[&str]) -> Result {
    let key = PrivateKey::generate(algorithm).map_err(text)?;
    folder.write("plain.pem", key.to_pkcs8_pem(Form::Seed).map_err(text)?.as_bytes())?;
    folder.write("public.pem", key.public_key().to_spki_pem())?;
    folder.openssl(&["pkey", "-in", "plain.pem", "-check", "-noout"])?;
    // What it writes of our keys is what we write.
    folder.openssl(&["pkey", "-in", "plain.pem", "-out", "again.pem"])?;
    check(folder.read("again.pem")? == folder.read("plain.pem")?, "the same private key")?;
    folder.openssl(&["pkey", "-in", "plain.pem", "-pubout", "-out", "again.pub"])?;
    check(folder.read("again.pub")? == folder.read("public.pem")?, "the same public key")?;
    for encryption in [Encryption::Pbkdf2, Encryption::Scrypt] {
        let pem = key.to_encrypted_pkcs8_pem(Form::Seed, b"correct horse", encryption).map_err(text)?;
        folder.write("encrypted.pem", pem)?;
        let read = ["pkey", "-in", "encrypted.pem", "-passin", "pass:correct horse", "-out", "again.pem"];
        folder.openssl(&read)?;
        check(folder.read("again.pem")? == folder.read("plain.pem")?, "the same key, decrypted")?;
    }

    let generate = [&["genpkey"], options, &["-out", "its.pem"]].concat();
    folder.openssl(&generate)?;
    folder.openssl(&["pkey", "-in", "its.pem", "-pubout", "-out", "its.pub"])?;
    let its = PrivateKey::read(&folder.read("its.pem")?, None).map_err(text)?;
    check(its.algorithm() == algorithm, "the algorithm")?;
    check(its.public_key() == PublicKey::read(&folder.read("its.pub")?).map_err(text)?, "its public key")?;
    let encrypt = ["pkcs8", "-topk8", "-in", "its.pem", "-out", "its.enc", "-passout", "pass:correct horse"];
    folder.openssl(&encrypt)?;
    let decrypted = PrivateKey::read(&folder.read("its.enc")?, Some(b"correct horse")).map_err(text)?;
    check(decrypted.public_key() == its.public_key(), "its encrypted key")
}

fn verifies_ours(folder: &Folder, algorithm: Algorithm, _: &[&str]) -> Result {
    let ours = Chain::new(algorithm)?;
    folder.write("root.pem", ours.root.to_pem())?;
    folder.write("middle.pem", ours.middle.to_pem())?;
    folder.write("leaf.pem", ours.leaf.to_pem())?;
    folder.write("list.pem", ours.list.to_pem())?;
    folder.write("request.pem", ours.request.to_pem())?;
    let verify = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "root.pem"];
    let with = |more: &[&'static str]| [&verify[..], more].concat();
    folder.openssl(&with(&["-untrusted", "middle.pem", "-verify_hostname", "example.com", "leaf.pem"]))?;
    folder.openssl(&with(&["-untrusted", "middle.pem", "-verify_ip", "192.0.2.7", "leaf.pem"]))?;
    let other = with(&["-untrusted", "middle.pem", "-verify_hostname", "example.org", "leaf.pem"]);
    folder.refuses(&other, "hostname mismatch")?;
    folder.refuses(&with(&["leaf.pem"]), "unable to get local issuer certificate")?;
    let revoked = with(&["-untrusted", "middle.pem", "-crl_check", "-CRLfile", "list.pem", "leaf.pem"]);
    folder.refuses(&revoked, "certificate revoked")?;
    folder.openssl(&["req", "-in", "request.pem", "-noout", "-verify"])?;
    let shown = folder.openssl(&["x509", "-in", "leaf.pem", "-noout", "-text"])?;
    for words in ["CA:FALSE", "DNS:example.com", "IP Address:192.0.2.7", "URI:did:web:example.com"] {
        check(shown.contains(words), format!("no {words} in {shown}"))?;
    }
    let shown = folder.openssl(&["crl", "-in", "list.pem", "-noout", "-text"])?;
    check(shown.contains("Key Compromise"), shown)
}

/// What `openssl ca` needs to know.
const CONFIGURATION: &str = "
[ca]
default_ca = middle
[middle]
database = index.txt
new_certs_dir = .
certificate = middle.pem
private_key = middle.key
crlnumber = number
default_md = default
default_crl_days = 1
[root]
basicConstraints = critical, CA:TRUE, pathlen:1
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:example.com
[asked]
subjectAltName = DNS:example.com
[req]
distinguished_name = nobody
prompt = no
[nobody]
";

fn verifies_theirs(folder: &Folder, algorithm: Algorithm, options: &[&str]) -> Result {
    folder.write("ca.cnf", CONFIGURATION)?;
    folder.write("index.txt", "")?;
    folder.write("number", "07\n")?;
    for key in ["root.key", "middle.key", "leaf.key"] {
        folder.openssl(&[&["genpkey"], options, &["-out", key]].concat())?;
    }
    let request = ["req", "-new", "-config", "ca.cnf", "-batch"];
    let with = |more: &[&'static str]| [&request[..], more].concat();
    let root =
        ["-x509", "-key", "root.key", "-subj", "/O=Peer/CN=Root", "-extensions", "root", "-out", "root.pem"];
    folder.openssl(&with(&root))?;
    folder.openssl(&with(&["-key", "middle.key", "-subj", "/O=Peer/CN=Middle", "-out", "middle.csr"]))?;
    let leaf = ["-key", "leaf.key", "-subj", "/O=Peer/CN=Leaf", "-reqexts", "asked", "-out", "leaf.csr"];
    folder.openssl(&with(&leaf))?;
    for (subject, issuer, extensions) in [("middle", "root", "authority"), ("leaf", "middle", "server")] {
        let (csr, pem) = (format!("{subject}.csr"), format!("{subject}.pem"));
        let (certificate, key) = (format!("{issuer}.pem"), format!("{issuer}.key"));
        let sign = ["x509", "-req", "-in", &csr, "-CA", &certificate, "-CAkey", &key, "-out", &pem];
        let more = ["-CAcreateserial", "-extfile", "ca.cnf", "-extensions", extensions];
        folder.openssl(&[&sign[..], &more].concat())?;
    }
    folder.openssl(&["ca", "-config", "ca.cnf", "-revoke", "leaf.pem", "-crl_reason", "superseded"])?;
    folder.openssl(&["ca", "-config", "ca.cnf", "-gencrl", "-out", "list.pem"])?;
    let file = |name: &str| folder.read(name);
    x509::judge(
        algorithm,
        &file("root.pem")?,
        &file("middle.pem")?,
        &file("leaf.pem")?,
        &file("list.pem")?,
        &file("leaf.csr")?,
    )
}

fn opens_pkcs12(folder: &Folder, algorithm: Algorithm, _: &[&str]) -> Result {
    let (root_key, key) =
        (PrivateKey::generate(algorithm).map_err(text)?, PrivateKey::generate(algorithm).map_err(text)?);
    let name = |name: &str| name.parse().map_err(text);
    let root = Template::authority(name("CN=Root")?).self_signed(&root_key).map_err(text)?;
    let leaf = Template::new(name("CN=Leaf")?);
    let leaf = leaf.issue(&key.public_key(), &root, &root_key).map_err(text)?;
    let file = key.to_pkcs12(Form::Seed, &[leaf.clone(), root.clone()], "example", "correct horse");
    folder.write("example.p12", file.map_err(text)?)?;
    let open = ["pkcs12", "-in", "example.p12", "-passin", "pass:correct horse"];
    folder.openssl(&[&open[..], &["-nocerts", "-nodes", "-out", "opened.key"]].concat())?;
    let opened = PrivateKey::read(pem_of(&folder.read("opened.key")?)?, None).map_err(text)?;
    check(opened.public_key() == key.public_key(), "the key")?;
    folder.openssl(&[&open[..], &["-nokeys", "-out", "opened.pem"]].concat())?;
    let chain = Certificate::read_all(&folder.read("opened.pem")?).map_err(text)?;
    check(chain == [leaf, root], "the certificates")?;
    let output = run(command("openssl").args(open).args(["-info", "-noout"]).current_dir(&folder.0), b"")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for words in [
        "MAC: sha256, Iteration 300000",
        "PBES2, PBKDF2, AES-256-CBC, Iteration 300000, PRF hmacWithSHA256",
        "Shrouded Keybag",
        "Certificate bag",
    ] {
        check(said.contains(words), format!("no {words} in {said}"))?;
    }
    folder.refuses(&["pkcs12", "-in", "example.p12", "-passin", "pass:wrong", "-noout"], "invalid password")
}

/// The block after the attributes that the program prints before a key.
fn pem_of(file: &[u8]) -> Result<&[u8]> {
    let begin = file.windows(5).position(|window| window == b"-----").ok_or("no PEM")?;
    Ok(&file[begin..])
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
