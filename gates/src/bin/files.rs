//! Private keys from files, and into files, with their secrets marked undefined: valgrind's memcheck then reports each branch and each
//! address that depends on one. With the tables of base points that `gambeson-pki` asks for, which `gate-ct` is built without.
//!
//! `gate-files operations` must end with status 0, and `gate-files canaries` must be caught. Run by `cargo xtask ct`.

use gambeson::cpu::{self, Level};
use gambeson_gates::files::{forms, secret_parts};
use gambeson_gates::marked::Gate;
use gambeson_gates::{canary, valgrind};
use gambeson_pki::{Algorithm, PrivateKey};
use std::env;
use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let level: Level = arguments.next().map_or(Level::Portable, |name| name.parse().expect("a level"));
    cpu::limit(level);
    assert!(valgrind::running(), "not under valgrind");
    let mut gate = Gate { level, verdicts: false, failed: 0, ran: 0 };
    let failed = match mode.as_str() {
        "operations" => {
            Algorithm::ALL.iter().for_each(|algorithm| file(&mut gate, *algorithm));
            println!("{} operations, {} with more reports than verdicts", gate.ran, gate.failed);
            gate.failed != 0
        }
        "canaries" => {
            gate.run("canary file", planted);
            println!("{} of {} canaries reported", gate.failed, gate.ran);
            gate.failed != gate.ran
        }
        _ => {
            eprintln!("usage: gate-files operations|canaries [LEVEL]");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(u8::from(failed))
}

/// A file whose secrets are found and marked as below, and a branch on each of their bytes.
fn planted() {
    let key = PrivateKey::generate(Algorithm::MlDsa65Ed25519).expect("random bytes");
    let mut der = key.to_pkcs8_der(forms(&key)[0]).expect("a form that it has").to_vec();
    for secret in marked(&key, &mut der) {
        black_box(canary::branch(secret));
    }
}

/// Marks the secrets in a file of that key, and returns them.
fn marked<'a>(key: &PrivateKey, der: &'a mut [u8]) -> Vec<&'a [u8]> {
    let inner = key.to_expanded_bytes();
    let parts = secret_parts(key, &inner).into_iter().map(|part| &inner[part]);
    let mut found = Vec::new();
    for part in parts.chain(key.seed()) {
        found.extend(der.windows(part.len()).position(|window| window == part).map(|at| at..at + part.len()));
    }
    assert!(!found.is_empty(), "{}: no secret is where it should be", key.algorithm());
    found.iter().for_each(|part| valgrind::mark_secret(&mut der[part.clone()]));
    found.into_iter().map(|part| &der[part]).collect()
}

fn file(gate: &mut Gate, algorithm: Algorithm) {
    let name = algorithm.name();
    // RustCrypto's P-256 and P-384 branch on verdicts, as in `gate-ct verdicts`.
    let verdicts = ["P256", "P384", "P-256", "P-384"].iter().any(|curve| name.contains(curve));
    gate.verdicts = verdicts;
    let key = PrivateKey::generate(algorithm).expect("random bytes");
    let public = key.public_key().to_spki_der();
    for form in forms(&key) {
        let mut der = key.to_pkcs8_der(*form).expect("a form that it has").to_vec();
        marked(&key, &mut der);
        let read = gate.run(&format!("{name} PKCS#8 {form:?} in"), || PrivateKey::from_pkcs8_der(&der));
        let read = read.expect("what was written is read");
        // Its point is decoded in variable time; that it is public valgrind does not know.
        gate.verdicts = verdicts || algorithm.signs();
        let told = gate.run(&format!("{name} public key"), || read.public_key().to_spki_der());
        gate.verdicts = verdicts;
        valgrind::mark_public(&told);
        assert!(told == public, "{name}: another key");
        let written = gate.run(&format!("{name} PKCS#8 {form:?} out"), || read.to_pkcs8_der(*form));
        let written = written.expect("a form that it has");
        valgrind::mark_public(&der);
        valgrind::mark_public(&written);
        assert!(*written == der, "{name}: another file");
        if algorithm.signs() {
            let signature =
                gate.run(&format!("{name} sign"), || read.sign(b"message")).expect("a key that signs");
            valgrind::mark_public(&signature);
            key.public_key().verify(b"message", &signature).expect("our own signature");
        }
        gate.run(&format!("{name} drop"), || drop(read));
    }
}
