//! Composite signatures: keys of any bytes, and honest signatures with changes. Only what was signed verifies.
#![no_main]

use gambeson_hybrid::composite::{ALGORITHMS, Signature, SigningKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fuzz_target!(|data: &[u8]| {
    static KEYS: OnceLock<Vec<(SigningKey, VerifyingKey, Signature)>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| {
        let made = ALGORITHMS.iter().filter_map(|algorithm| {
            let key = SigningKey::generate(algorithm).ok()?;
            let signature = key.sign(b"message", b"context").ok()?;
            let public = key.verifying_key();
            Some((key, public, signature))
        });
        made.collect()
    });
    let Some((which, data)) = data.split_first() else { return };
    let (key, public, honest) = &keys[usize::from(*which) % keys.len()];
    let algorithm = key.algorithm();

    _ = SigningKey::from_bytes(algorithm, data);
    _ = VerifyingKey::from_bytes(algorithm, data);
    assert!(public.verify(b"message", b"context", data).is_err());
    let mut changed = honest.as_bytes().to_vec();
    let mut other = public.as_bytes().to_vec();
    for edit in data.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
        for bytes in [&mut changed, &mut other] {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = edit[2];
            }
        }
    }
    let same = changed == honest.as_bytes();
    assert_eq!(public.verify(b"message", b"context", &changed).is_ok(), same);
    // Appended or cut.
    changed.extend(data.first());
    assert!(public.verify(b"message", b"context", &changed).is_err() || changed == honest.as_bytes());
    if let Ok(other) = VerifyingKey::from_bytes(algorithm, &other) {
        let verdict = other.verify(b"message", b"context", honest.as_bytes());
        assert_eq!(verdict.is_ok(), other == *public);
    }
});
