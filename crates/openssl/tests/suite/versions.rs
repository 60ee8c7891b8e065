//! OpenSSL 3.1 to 3.5 and 4.0: Python's `cryptography` carries one in some of its releases, which loads the provider as any other
//! does. Its certificates in the handshake (3.1 has no place for them), and every group against the OpenSSL 3.0 of this machine, where the KEMs are ours, as client
//! and as server: from 3.5 on that of X448MLKEM1024 is the library's own.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::host::{GROUPS, Host, are_there, free_port, must_run};

/// Handshakes inside one process, with a certificate of each kind; a certificate of SLH-DSA, and a changed one; then as a client of others.
const SCRIPT: &str = r#"
import socket, subprocess, sys, threading
from OpenSSL import SSL, crypto
print(SSL.SSLeay_version(SSL.SSLEAY_VERSION).decode().split()[1])
def shake(connection):
    connection.setblocking(True)
    connection.do_handshake()
def client(link, authority):
    context = SSL.Context(SSL.TLS_METHOD)
    context.load_verify_locations(authority)
    context.set_verify(SSL.VERIFY_PEER, lambda connection, certificate, error, depth, ok: bool(ok))
    connection = SSL.Connection(context, link)
    connection.set_connect_state()
    shake(connection)
    assert connection.get_protocol_version_name() == "TLSv1.3"
    return connection.get_peer_certificate().get_signature_algorithm().decode()
for name in ["server", "mldsa", "composite"]:
    context = SSL.Context(SSL.TLS_METHOD)
    try:
        context.use_certificate_file(name + ".pem")
        context.use_privatekey_file(name + ".key")
    except SSL.Error:
        print(name, "is not taken")
        continue
    taken = context
    here, there = socket.socketpair()
    server = SSL.Connection(taken, here)
    server.set_accept_state()
    thread = threading.Thread(target=shake, args=[server])
    thread.start()
    print(name, client(there, name + ".pem"))
    thread.join()
try:
    here, there = socket.socketpair()
    server = SSL.Connection(taken, here)
    server.set_accept_state()
    threading.Thread(target=shake, args=[server]).start()
    client(there, "mldsa.pem")
    print("another authority was taken")
except SSL.Error:
    print("refused")
    there.close()
def verified(der):
    certificate = crypto.load_certificate(crypto.FILETYPE_ASN1, der)
    store = crypto.X509Store()
    store.add_cert(certificate)
    store.set_flags(0x4000) # X509_V_FLAG_CHECK_SS_SIGNATURE
    try:
        crypto.X509StoreContext(store, certificate).verify_certificate()
        return certificate.get_signature_algorithm().decode()
    except crypto.X509StoreContextError:
        return "refused"
der = open("slh_dsa.der", "rb").read()
print(verified(der))
print(verified(der[:-1] + bytes([der[-1] ^ 1])))
for argument in sys.argv[1:]:
    group, port = argument.split("=")
    client(socket.create_connection(("127.0.0.1", int(port))), "server.pem")
    print(group)
    context = SSL.Context(SSL.TLS_METHOD)
    context.use_certificate_file("server.pem")
    context.use_privatekey_file("server.key")
    listener = socket.create_server(("127.0.0.1", 0))
    address = "127.0.0.1:%d" % listener.getsockname()[1]
    command = ["openssl", "s_client", "-connect", address, "-groups", group, "-CAfile", "server.pem", "-verify_return_error"]
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    listener.settimeout(30)
    server = SSL.Connection(context, listener.accept()[0])
    server.set_accept_state()
    shake(server)
    server.send(b"Q")
    server.shutdown()
    assert program.wait(30) == 0
    print(group)
"#;

/// A Python that has this release of `cryptography`; made once, below the target folder.
fn python(release: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cryptography-{release}"));
    let python = folder.join("bin/python");
    let works = |python: &Path| {
        let test = format!("import cryptography, OpenSSL; assert cryptography.__version__ == '{release}'");
        Command::new(python).args(["-c", &test]).output().is_ok_and(|output| output.status.success())
    };
    if !works(&python) {
        let wanted = format!("cryptography=={release}");
        let _ = Command::new("python3").args(["-m", "venv"]).arg(&folder).output();
        let _ = Command::new(&python).args(["-m", "pip", "install", "-q", &wanted, "pyopenssl"]).output();
    }
    if works(&python) {
        return Some(python);
    }
    assert!(!must_run(), "no Python with cryptography {release}");
    println!("skipped: no Python with cryptography {release} can be made here");
    None
}

/// What the script says of each kind of certificate where the library has TLS-SIGALG.
const CERTIFICATES: [&str; 3] =
    ["server ecdsa-with-SHA256", "mldsa ML-DSA-65", "composite MLDSA87-Ed448-SHAKE256"];

fn runs_on(release: &str, version: &str, certificates: [&str; 3]) {
    if !are_there(&["openssl", "python3"]) {
        return;
    }
    let Some(python) = python(release) else { return };
    let host = Host::new();
    host.classical_certificate();
    for (algorithm, key, certificate) in [
        ("ML-DSA-65", "mldsa.key", "mldsa.pem"),
        ("MLDSA87-Ed448-SHAKE256", "composite.key", "composite.pem"),
    ] {
        let new = ["req", "-x509", "-newkey", algorithm, "-nodes", "-keyout", key, "-out", certificate];
        let rest = ["-subj", "/CN=localhost", "-addext", "basicConstraints=critical,CA:TRUE"];
        host.openssl(&[&new[..], &rest].concat());
    }
    let slh_dsa = ["req", "-x509", "-newkey", "SLH-DSA-SHA2-128f", "-nodes", "-keyout", "slh_dsa.key"];
    host.openssl(
        &[&slh_dsa[..], &["-subj", "/CN=localhost", "-outform", "DER", "-out", "slh_dsa.der"]].concat(),
    );
    let peers: Vec<_> = GROUPS
        .map(|group| {
            let port = free_port();
            (host.s_server(group, port), format!("{group}={port}"))
        })
        .into();
    let mut arguments = vec!["-c", SCRIPT];
    arguments.extend(peers.iter().map(|(_, argument)| argument.as_str()));
    let said = host.run(python.to_str().expect("a path"), &arguments);
    let mut lines = said.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with(version)), "{said}");
    // Each group first as a client, then as a server.
    assert!(
        lines.eq(certificates
            .into_iter()
            .chain(["refused", "SLH-DSA-SHA2-128f", "refused"])
            .chain(GROUPS.into_iter().flat_map(|group| [group; 2]))),
        "{said}"
    );
}

#[test]
fn openssl_3_1_takes_groups_and_no_certificates() {
    let certificates = ["server ecdsa-with-SHA256", "mldsa is not taken", "composite is not taken"];
    runs_on("41.0.7", "3.1.", certificates);
}

#[test]
fn openssl_3_2_takes_groups_and_certificates() {
    runs_on("42.0.8", "3.2.", CERTIFICATES);
}

#[test]
fn openssl_3_3_takes_groups_and_certificates() {
    runs_on("43.0.3", "3.3.", CERTIFICATES);
}

#[test]
fn openssl_3_4_takes_groups_and_certificates() {
    runs_on("44.0.3", "3.4.", CERTIFICATES);
}

#[test]
fn openssl_3_5_takes_what_it_lacks() {
    runs_on("46.0.3", "3.5.", CERTIFICATES);
}

#[test]
fn openssl_4_0_takes_what_it_lacks() {
    runs_on("50.0.2", "4.0.", CERTIFICATES);
}
