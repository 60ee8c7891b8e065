//! Private keys in PKCS#8, from files and into files. With the tables of base points that `gambeson-pki` asks for.

use super::Instrument;
use crate::hunt::Hunt;
use crate::marked::VERDICTS;
use crate::{canary, secrets, valgrind};
use gambeson_pki::{Algorithm, Form, PrivateKey};
use std::hint::black_box;
use std::ops::Range;

/// Walks through every algorithm.
pub fn all(gate: &mut impl Instrument) {
    let all = Algorithm::ALL.iter().filter(|algorithm| !algorithm.is_stateful());
    // Of SLH-DSA one set of each family: the others are the same text, and take minutes under valgrind.
    let all = all.filter(|it| !it.name().starts_with("SLH-DSA") || it.name().ends_with("128f"));
    all.for_each(|algorithm| file(gate, *algorithm));
}

/// Adds the secret parts of a key.
pub fn private_key(hunt: &mut Hunt, key: &PrivateKey) {
    hunt.bytes("the seed", key.seed().unwrap_or_default());
    let inner = key.to_expanded_bytes();
    secret_parts(key, &inner).into_iter().for_each(|part| secrets::scalar(hunt, &inner[part]));
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

/// A file whose secrets are found and marked as below, and a branch on each of their bytes.
pub fn planted() {
    let key = PrivateKey::generate(Algorithm::MlDsa65Ed25519).expect("random bytes");
    let mut der = key.to_pkcs8_der(forms(&key)[0]).expect("a form that it has").to_vec();
    for secret in marked(&key, &mut der) {
        black_box(canary::branch(secret));
    }
}

fn file<G: Instrument>(gate: &mut G, algorithm: Algorithm) {
    let name = algorithm.name();
    // RustCrypto's P-256 and P-384 branch on verdicts, as in the part `verdicts`.
    let weierstrass = ["P256", "P384", "P-256", "P-384"].iter().any(|curve| name.contains(curve));
    let verdicts = if weierstrass { VERDICTS } else { 0 };
    gate.allow(verdicts);
    let key = PrivateKey::generate(algorithm).expect("random bytes");
    let public = key.public_key().to_spki_der();
    gate.secrets(|hunt| private_key(hunt, &key));
    for form in forms(&key) {
        let mut der = key.to_pkcs8_der(*form).expect("a form that it has").to_vec();
        let form_name = &*format!("{form:?}");
        if G::SEARCHES {
            let pem = key.to_pkcs8_pem(*form).expect("a form that it has");
            gate.run((name, "PEM in", form_name), || PrivateKey::read(pem.as_bytes(), None).is_ok());
            gate.run((name, "PEM out", form_name), || key.to_pkcs8_pem(*form).is_ok());
        }
        marked(&key, &mut der);
        let read = gate.run_ok((name, "PKCS#8 in", form_name), || PrivateKey::from_pkcs8_der(&der));
        // Its point is decoded in variable time; that it is public valgrind does not know.
        gate.allow(if algorithm.signs() { VERDICTS } else { verdicts });
        let told = gate.run((name, "public key", form_name), || read.public_key().to_spki_der());
        gate.allow(verdicts);
        valgrind::mark_public(&told);
        assert!(told == public, "{name}: another key");
        let written = gate.run_ok((name, "PKCS#8 out", form_name), || read.to_pkcs8_der(*form));
        valgrind::mark_public(&der);
        valgrind::mark_public(&written);
        assert!(*written == der, "{name}: another file");
        if algorithm.signs() {
            // The length of a signature in DER is public too, and each copy of it a branch: still less than a table's.
            gate.allow(2 * verdicts);
            let signature = gate.run_ok((name, "sign", form_name), || read.sign(b"message"));
            gate.allow(verdicts);
            valgrind::mark_public(&signature);
            key.public_key().verify(b"message", &signature).expect("our own signature");
        }
        gate.run_drop(name, read);
    }
    gate.run_fresh((name, "generate", ""), |keep| {
        // Not moved: that would leave a copy here, which is nobody's to wipe but the caller's.
        let key = PrivateKey::generate(algorithm);
        let key = key.as_ref().expect("random bytes");
        let inner = key.to_expanded_bytes();
        secret_parts(key, &inner).into_iter().for_each(|part| keep(&inner[part]));
        keep(key.seed().unwrap_or_default());
    });
}

/// The forms in which a key can be written: those of ML-KEM and ML-DSA have three, all others one.
pub fn forms(key: &PrivateKey) -> &'static [Form] {
    match key {
        key if key.algorithm().has_forms() => &[Form::Seed, Form::Expanded, Form::Both],
        _ => &[Form::Seed],
    }
}

/// The secret parts of `inner`, the key's [`PrivateKey::to_expanded_bytes`]. What FIPS 203, 204 and 205 put beside them is public, and so is
/// the DER of a curve's key.
fn secret_parts(key: &PrivateKey, inner: &[u8]) -> Vec<Range<usize>> {
    let len = inner.len();
    let ml_kem = |k: usize| vec![0..384 * k, len - 32..len];
    // K, s1 and s2; t0 counts as public.
    let ml_dsa = |k: usize| vec![32..64, 128..len - 416 * k];
    match key.algorithm() {
        Algorithm::MlKem512 => ml_kem(2),
        Algorithm::MlKem768 => ml_kem(3),
        Algorithm::MlKem1024 => ml_kem(4),
        Algorithm::MlDsa44 => ml_dsa(4),
        Algorithm::MlDsa65 => ml_dsa(6),
        Algorithm::MlDsa87 => ml_dsa(8),
        // SK.seed and SK.prf.
        _ if matches!(key, PrivateKey::SlhDsa(_)) => vec![0..len / 4, len / 4..len / 2],
        _ => {
            let (seed, header) = match key {
                PrivateKey::Composite(_) => (32, 0),
                PrivateKey::CompositeKem(_) => (64, 0),
                // CurvePrivateKey: an OCTET STRING.
                _ => (0, 2),
            };
            // ECPrivateKey: SEQUENCE, INTEGER 1, OCTET STRING of 32 or 48 bytes.
            let scalar = inner[seed..].windows(5).position(|it| matches!(it, [2, 1, 1, 4, 32 | 48]));
            let curve = match scalar.map(|at| seed + at + 5) {
                Some(at) => at..at + usize::from(inner[at - 1]),
                None => seed + header..len,
            };
            [0..seed, curve].into_iter().filter(|part| !part.is_empty()).collect()
        }
    }
}
