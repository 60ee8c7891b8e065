//! Peers that take minutes to build: OpenSSL 3.6 and 4, with their own algorithms and with our provider, and wolfSSL.
//!
//! `cargo xtask interop --heavy` runs them: it names a folder for what is built in `GAMBESON_INTEROP_HEAVY`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use gambeson_hybrid::kem::{DecapsulationKey, EncapsulationKey, X448_MLKEM1024};
use gambeson_pki::Algorithm::{
    self, EcdsaP256, EcdsaP384, Ed448, Ed25519, MlDsa44, MlDsa65, MlDsa65Ed25519, MlDsa87, MlDsa87Ed448,
};
use gambeson_pki::{Certificate, Form, PrivateKey, Template, Verifier};
use gambeson_rustls::Group;
use libtest_mimic::Trial;

use super::conversation::{Program, connects};
use super::peers::{Find, NUMBERED, Peer, QUANTUM, openssl_name};
use super::with_peers;
use crate::composite::FORGERIES;
use crate::forged::{Parties, Place};
use crate::running::Running;
use crate::tools::{Result, built, cargo, check, command, succeed};

/// Where this variable is set, it names the folder.
const FOLDER: &str = "GAMBESON_INTEROP_HEAVY";

/// What `interop/heavy` calls them.
const OPENSSL_3_6: &str = "openssl-3.6";
const OPENSSL_4: &str = "openssl";

const FINDERS: [(&str, Find); 5] = [
    ("openssl_3_6", |folder| find_openssl(folder, OPENSSL_3_6)),
    ("openssl_3_6_with_us", |folder| find_provider(folder, OPENSSL_3_6)),
    ("openssl_4", |folder| find_openssl(folder, OPENSSL_4)),
    ("openssl_4_with_us", |folder| find_provider(folder, OPENSSL_4)),
    ("wolfssl", find_wolfssl),
];

/// What the provider adds to the groups and the kinds.
const WITH_PROVIDER: &[u16] =
    &[0xfe48, 0x2fb7, 0x11ec, 0x11eb, 0x11ed, 0x0200, 0x0201, 0x0202, 0x001d, 0x001e, 0x0017, 0x0018];
const WITH_COMPOSITES: &[Algorithm] =
    &[MlDsa87Ed448, MlDsa44, MlDsa65, MlDsa87, EcdsaP256, EcdsaP384, Ed25519, Ed448];
/// It has ML-KEM-768 with X448, and not ML-KEM-1024.
const WOLFSSL: &[u16] =
    &[0x11ec, 0x11eb, 0x11ed, 0x2fb7, 0x0200, 0x0201, 0x0202, 0x001d, 0x001e, 0x0017, 0x0018];

/// None, unless they are asked for.
#[must_use]
pub fn trials() -> Option<Vec<Trial>> {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from)?;
    let mut trials = with_peers("heavy", &folder, &FINDERS);
    for (name, library) in [("openssl_3_6", OPENSSL_3_6), ("openssl_4", OPENSSL_4)] {
        let (scratch, again, signed) =
            (folder.clone(), folder.clone(), folder.join(format!("{library}-cms")));
        trials
            .push(Trial::test(format!("heavy::the_kem_of_{name}_and_ours_give_the_same_bytes"), move || {
                same_kem(&openssl(&scratch, library)?)
            }));
        let scratch = folder.clone();
        trials.push(Trial::test(format!("heavy::certificates_of_slh_dsa_by_{name}_and_us"), move || {
            slh_dsa_certificates(&scratch, library)
        }));
        let signs = format!("heavy::{name}_signs_cms_with_its_keys_and_ours");
        trials.push(Trial::test(signs, move || signs_cms(&signed, library)));
        let refuses = format!("heavy::{name}_with_our_provider_refuses_forged_composites");
        trials.push(Trial::test(refuses, move || {
            refuses_forgeries(&again.join(format!("{library}-forged")), library)
        }));
    }
    Some(trials)
}

/// Where a library is installed, which is built now unless it was.
fn library(folder: &Path, name: &str) -> Result<PathBuf> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("heavy/Cargo.toml");
    let mut build = cargo();
    build
        .args(["run", "--quiet", "--locked", "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .arg(name)
        .arg(folder);
    let said = String::from_utf8(succeed(build.env("MAKEFLAGS", "-j2"), b"")?)?;
    Ok(said.lines().last().ok_or("it named no folder")?.into())
}

/// A program of ours in C, with a library that is built now unless it was, in the files that it needs.
fn compiled(folder: &Path, name: &str, library_name: &str, libraries: &[&str]) -> Result<PathBuf> {
    let installed = library(folder, library_name)?;
    let program = folder.join(format!("{library_name}-peer"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("peers/{name}.c"));
    let mut cc = command("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-O1", "-o"]).arg(&program).arg(source);
    cc.arg("-I").arg(installed.join("include"));
    cc.args(libraries.iter().map(|library| installed.join("lib").join(library)));
    succeed(cc.args(["-lm", "-ldl", "-lpthread"]), b"")?;
    Ok(program)
}

fn version(program: &Path) -> Result<String> {
    Ok(String::from_utf8(succeed(command(program).arg("version"), b"")?)?.trim().to_owned())
}

fn openssl(folder: &Path, library: &str) -> Result<PathBuf> {
    compiled(folder, "openssl", library, &["libssl.a", "libcrypto.a"])
}

/// The finders have folders below that of all.
fn above(folder: &Path) -> &Path {
    folder.parent().unwrap_or(folder)
}

fn find_openssl(folder: &Path, library: &str) -> Result<Vec<Peer>> {
    let program = openssl(above(folder), library)?;
    Ok(vec![Peer {
        name: format!("OpenSSL {}", version(&program)?),
        program: Program::Script(program, Vec::new(), openssl_name),
        groups: NUMBERED,
        algorithms: QUANTUM,
        verifies_chains: true,
    }])
}

/// The same program, which is told by a configuration to load the provider.
fn find_provider(folder: &Path, library: &str) -> Result<Vec<Peer>> {
    let program = openssl(above(folder), library)?;
    let module = built("gambeson-openssl", "libgambeson_openssl.so")?;
    let module = module.display();
    let configuration = folder.join("openssl.cnf");
    fs::write(
        &configuration,
        format!(
            "openssl_conf = init\n[init]\nproviders = providers\n[providers]\ndefault = default_section\n\
             gambeson = gambeson_section\n[default_section]\nactivate = 1\n[gambeson_section]\n\
             module = {module}\nactivate = 1\ncomposite-sigalg = 0xfe12\n"
        ),
    )?;
    let version = version(&program)?;
    let variable = PathBuf::from(format!("OPENSSL_CONF={}", configuration.display()));
    Ok(vec![Peer {
        name: format!("OpenSSL {version} with our provider"),
        program: Program::Script("env".into(), vec![variable, program], openssl_name),
        groups: WITH_PROVIDER,
        algorithms: WITH_COMPOSITES,
        verifies_chains: true,
    }])
}

fn find_wolfssl(folder: &Path) -> Result<Vec<Peer>> {
    let program = compiled(above(folder), "wolfssl", "wolfssl", &["libwolfssl.a"])?;
    Ok(vec![Peer {
        name: format!("wolfSSL {}", version(&program)?),
        program: Program::Script(program, Vec::new(), |group: &Group| group.number().to_string()),
        groups: WOLFSSL,
        algorithms: QUANTUM,
        verifies_chains: true,
    }])
}

/// OpenSSL's own X448MLKEM1024, which serves where our provider adds only the group of TLS, and ours: each takes the other's key and
/// ciphertext, and both have the same 88 bytes.
fn same_kem(program: &Path) -> Result {
    let mut peer = command(program);
    let mut peer = Running::start(peer.args(["kem", "X448MLKEM1024"]))?;
    let mut stdin = peer.input()?;
    let said = |peer: &mut Running| -> Result<Vec<u8>> { Ok(hex::decode(peer.line()?.trim())?) };
    let theirs = EncapsulationKey::from_bytes(&X448_MLKEM1024, &said(&mut peer)?)?;
    let (c, k) = theirs.encapsulate()?;
    writeln!(stdin, "{}", hex::encode(c.as_bytes()))?;
    let its = said(&mut peer)?;
    check(its.len() == 88 && its == k.expose(), "it decapsulates what we encapsulated")?;
    let key = DecapsulationKey::generate(&X448_MLKEM1024)?;
    writeln!(stdin, "{}", hex::encode(key.encapsulation_key().as_bytes()))?;
    let (c, its) = (said(&mut peer)?, said(&mut peer)?);
    let ours = key.decapsulate(&c)?;
    check(its.len() == 88 && its == ours.expose(), "we decapsulate what it encapsulated")
}

/// Each side verifies the other's certificates of SLH-DSA, of every parameter set.
fn slh_dsa_certificates(scratch: &Path, library: &str) -> Result {
    let program = openssl(scratch, library)?;
    let folder = scratch.join(format!("{library}-slh-dsa"));
    fs::create_dir_all(&folder)?;
    let mut met = 0;
    for algorithm in Algorithm::ALL.iter().filter(|algorithm| algorithm.name().starts_with("SLH-DSA")) {
        let (root_key, key) = (PrivateKey::generate(*algorithm)?, PrivateKey::generate(*algorithm)?);
        let root = Template::authority("CN=Root".parse()?).self_signed(&root_key)?;
        let leaf = Template::new("CN=Leaf".parse()?).issue(&key.public_key(), &root, &root_key)?;
        let files = [folder.join("root.pem"), folder.join("leaf.pem")];
        fs::write(&files[0], root.to_pem())?;
        fs::write(&files[1], leaf.to_pem())?;
        let its = succeed(command(&program).args(["x509", algorithm.name()]).args(files), b"")
            .map_err(|error| format!("{algorithm}: {}", error.message().unwrap_or_default()))?;
        let its = Certificate::read_all(&its)?;
        let [its_root, its_leaf] = its.as_slice() else { return Err("two certificates".into()) };
        check(its_leaf.public_key()?.algorithm() == *algorithm, "the algorithm of its key")?;
        Verifier::new(std::slice::from_ref(its_root)).verify(its_leaf, &[])?;
        let refused = its_leaf.verify_signature(&root_key.public_key()).is_err();
        check(refused, "its leaf verifies with another key")?;
        met += 1;
    }
    check(met == 12, "every parameter set")
}

/// CMS by the library, with keys of its own algorithms and of the provider's.
fn signs_cms(folder: &Path, library: &str) -> Result {
    fs::create_dir_all(folder)?;
    let peer = find_provider(folder, library)?.pop().ok_or("one peer")?;
    let Program::Script(env, words, _) = &peer.program else { return Err("no program".into()) };
    for algorithm in [Ed25519, MlDsa65, MlDsa87Ed448, MlDsa65Ed25519] {
        let key = PrivateKey::generate(algorithm)?;
        let certificate = Template::new("CN=Signer".parse()?).self_signed(&key)?;
        let (chain, file) = (folder.join("signer.pem"), folder.join("signer.key"));
        fs::write(&chain, certificate.to_pem())?;
        fs::write(&file, key.to_pkcs8_pem(Form::Seed)?.as_bytes())?;
        succeed(command(env).args(words).arg("cms").args([&chain, &file]), b"")
            .map_err(|error| format!("{algorithm}: {}", error.message().unwrap_or_default()))?;
    }
    Ok(())
}

/// Another TLS stack looks at a server's composite signatures with our provider: it takes right ones, and no forgery.
fn refuses_forgeries(folder: &Path, library: &str) -> Result {
    fs::create_dir_all(folder)?;
    let peer = find_provider(folder, library)?.pop().ok_or("one peer")?;
    let parties = Parties::new(MlDsa87Ed448, 0xfe12)?;
    let (roots, group) = (folder.join("root.pem"), &gambeson_rustls::X448_MLKEM1024);
    fs::write(&roots, parties.root.to_pem())?;
    for place in [Place::CertificateVerify, Place::Chain] {
        let met = |forgery| connects(&peer, &roots, group, group, parties.forging_server(place, forgery)?);
        met(None).map_err(|error| format!("right signatures: {}", error.message().unwrap_or_default()))?;
        for forgery in &FORGERIES {
            let error = met(Some(forgery)).err().ok_or_else(|| format!("{} is taken", forgery.0))?;
            let said = error.message().unwrap_or_default();
            check(said.contains("DecryptError"), format!("{}, {place:?}: {said}", forgery.0))?;
        }
    }
    Ok(())
}
