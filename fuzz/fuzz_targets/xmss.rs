//! XMSS and XMSS^MT: verifying keys from any bytes, and changed signatures, of which only the honest one passes.
#![no_main]

use gambeson::stateful::{Signer, TreeOptions, hazmat::MemoryStore};
use gambeson::xmss::{ParameterSet, SigningKey, VerifyingKey};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

/// Verifying keys of one tree and of four layers of trees, and their signatures of `message`.
fn honest() -> &'static [(VerifyingKey, Vec<u8>)] {
    static HONEST: OnceLock<Vec<(VerifyingKey, Vec<u8>)>> = OnceLock::new();
    HONEST.get_or_init(|| {
        let sign = |set: ParameterSet| {
            let seeds = [[7; 24], [8; 24], [9; 24]];
            let key = SigningKey::from_seeds(set, &seeds[0], &seeds[1], &seeds[2], TreeOptions::new())
                .expect("seeds of the set's length");
            let verifying = *key.verifying_key();
            let mut signer = Signer::new(key, MemoryStore::new(5));
            let index = signer.reserve_one().expect("the key has leaves");
            (verifying, signer.sign(index, b"message").expect("the index of this store"))
        };
        vec![sign(ParameterSet::SHA2_10_192), sign(ParameterSet::MT_SHAKE256_20_4_192)]
    })
}

fuzz_target!(|data: &[u8]| {
    for read in [VerifyingKey::from_bytes, VerifyingKey::from_mt_bytes] {
        if let Ok(key) = read(data) {
            assert_eq!(key.to_bytes(), data);
            let signature = vec![0xa5; key.parameter_set().signature_len()];
            assert!(key.verify(b"message", &signature).is_err());
            assert!(key.verify(b"message", data).is_err());
        }
    }
    for (key, signature) in honest() {
        let mut changed = signature.clone();
        for edit in data.chunks_exact(3) {
            if let Some(byte) = changed.get_mut(usize::from(u16::from_le_bytes([edit[0], edit[1]]))) {
                *byte = edit[2];
            }
        }
        assert_eq!(key.verify(b"message", &changed).is_ok(), changed == *signature);
        assert!(key.verify(b"message", data).is_err() || data == &signature[..]);
    }
});
