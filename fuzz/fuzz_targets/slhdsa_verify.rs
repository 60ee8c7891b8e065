//! Verification of changed SLH-DSA signatures, of any bytes and under any key: only the honest signature passes.
#![no_main]

use gambeson::slhdsa::{ParameterSet, SigningKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

/// A verifying key and its signature of `message`, for each parameter set.
fn honest() -> &'static [(VerifyingKey, Vec<u8>)] {
    static HONEST: OnceLock<Vec<(VerifyingKey, Vec<u8>)>> = OnceLock::new();
    HONEST.get_or_init(|| {
        let sign = |set: &ParameterSet| {
            let seed = [17; 32];
            let seed = &seed[..set.seed_len()];
            let key = SigningKey::from_seeds(*set, seed, seed, seed).expect("seeds of the set's length");
            (key.verifying_key(), key.sign_deterministic(b"message"))
        };
        ParameterSet::ALL.iter().map(sign).collect()
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, data)) = data.split_first() else { return };
    let honest = honest();
    let (key, signature) = &honest[usize::from(*choice) % honest.len()];
    let mut changed = signature.clone();
    for edit in data.chunks_exact(4) {
        let at = usize::from(edit[0]) << 16 | usize::from(edit[1]) << 8 | usize::from(edit[2]);
        if let Some(byte) = changed.get_mut(at) {
            *byte = edit[3];
        }
    }
    assert_eq!(key.verify(b"message", &changed).is_ok(), changed == *signature);
    assert!(key.verify(b"message", data).is_err() || data == &signature[..]);
    let set = key.parameter_set();
    if let Ok(any) = VerifyingKey::from_bytes(set, &data[..data.len().min(set.verifying_key_len())]) {
        assert_eq!(any.as_bytes(), &data[..set.verifying_key_len()]);
        assert_eq!(any.verify(b"message", signature).is_ok(), any.as_bytes() == key.as_bytes());
    }
});
