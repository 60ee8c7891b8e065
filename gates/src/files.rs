//! Where the secrets stand in what PKCS#8 has inside.

use gambeson_pki::{Algorithm, Form, PrivateKey};
use std::ops::Range;

/// The forms in which a key can be written: those of ML-KEM and ML-DSA have three, all others one.
pub fn forms(key: &PrivateKey) -> &'static [Form] {
    match key {
        PrivateKey::Composite(_) | PrivateKey::CompositeKem(_) | PrivateKey::Curve(_) => &[Form::Seed],
        _ => &[Form::Seed, Form::Expanded, Form::Both],
    }
}

/// The secret parts of `inner`, the key's [`PrivateKey::to_expanded_bytes`]. What FIPS 203 and 204 put beside them is public, and so is
/// the DER of a curve's key.
pub fn secret_parts(key: &PrivateKey, inner: &[u8]) -> Vec<Range<usize>> {
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
