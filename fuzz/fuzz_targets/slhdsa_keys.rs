//! SLH-DSA signing keys from any bytes: a key that is accepted has these bytes, and its signature verifies.
#![no_main]

use gambeson::slhdsa::{ParameterSet, SigningKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for set in ParameterSet::ALL.iter().copied() {
        assert_eq!(VerifyingKey::from_bytes(set, data).is_ok(), data.len() == set.verifying_key_len());
        if data.len() != set.signing_key_len() {
            assert!(SigningKey::from_bytes(set, data).is_err());
        }
    }
    // The sets that make a key fast: PK.root is computed again.
    for set in [ParameterSet::SHA2_128F, ParameterSet::SHAKE_128F, ParameterSet::SHA2_256F] {
        if let Ok(key) = SigningKey::from_bytes(set, data) {
            assert_eq!(key.expose_bytes(), data);
        }
        // The key of these seeds.
        let n = set.seed_len();
        let Some((seeds, _)) = data.split_at_checked(3 * n) else { continue };
        let key = SigningKey::from_seeds(set, &seeds[..n], &seeds[n..2 * n], &seeds[2 * n..])
            .expect("seeds of the set's length");
        let again = SigningKey::from_bytes(set, key.expose_bytes()).expect("our own key");
        let signature = again.sign_deterministic(b"m");
        key.verifying_key().verify(b"m", &signature).expect("our own signature");
    }
});
