//! LMS and HSS: verifying keys from any bytes, and changed signatures, of which only the honest one passes.
#![no_main]

use gambeson::lms::{HssSigningKey, HssVerifyingKey, LmotsType, LmsType, VerifyingKey};
use gambeson::stateful::{Signer, TreeOptions, hazmat::MemoryStore};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

/// Verifying keys of one and two levels, and their signatures of `message`.
fn honest() -> &'static [(HssVerifyingKey, Vec<u8>)] {
    static HONEST: OnceLock<Vec<(HssVerifyingKey, Vec<u8>)>> = OnceLock::new();
    HONEST.get_or_init(|| {
        let sha256 = (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8);
        let shake = (LmsType::SHAKE_M24_H5, LmotsType::SHAKE_N24_W4);
        let sign = |levels: &[_]| {
            let seed = [9; 32];
            let seed = &seed[..if levels[0] == sha256 { 32 } else { 24 }];
            let key = HssSigningKey::from_seed(levels, &[8; 16], seed, TreeOptions::new())
                .expect("types and lengths fit");
            let verifying = *key.verifying_key();
            let mut signer = Signer::new(key, MemoryStore::new(5));
            let index = signer.reserve_one().expect("the key has leaves");
            (verifying, signer.sign(index, b"message").expect("the index of this store"))
        };
        vec![sign(&[sha256]), sign(&[sha256, sha256]), sign(&[shake, shake])]
    })
}

fuzz_target!(|data: &[u8]| {
    if let Ok(key) = VerifyingKey::from_bytes(data) {
        assert_eq!(key.to_bytes(), data);
        assert!(key.verify(b"message", data).is_err());
    }
    if let Ok(key) = HssVerifyingKey::from_bytes(data) {
        assert_eq!(key.to_bytes(), data);
        assert!(key.verify(b"message", data).is_err());
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
