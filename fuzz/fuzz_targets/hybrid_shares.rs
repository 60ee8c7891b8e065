//! Key shares of every hybrid KEM: any key, any ciphertext, and honest ones with changes. Whatever is taken agrees with itself.
#![no_main]

use gambeson_hybrid::kem::{DecapsulationKey, EncapsulationKey, KEMS};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fuzz_target!(|data: &[u8]| {
    static KEYS: OnceLock<Vec<DecapsulationKey>> = OnceLock::new();
    let keys =
        KEYS.get_or_init(|| KEMS.iter().filter_map(|kem| DecapsulationKey::generate(kem).ok()).collect());
    let Some((which, data)) = data.split_first() else { return };
    let ours = &keys[usize::from(*which) % keys.len()];
    let kem = ours.kem();
    let randomness: Vec<u8> = (1..=kem.randomness_len()).map(|i| i as u8).collect();

    // As long as they are, which is refused for the length alone; and in the right one.
    assert!(data.len() == kem.encapsulation_key_len() || EncapsulationKey::from_bytes(kem, data).is_err());
    assert!(data.len() == kem.ciphertext_len() || ours.decapsulate(data).is_err());
    _ = DecapsulationKey::from_bytes(kem, data);
    for honest in [true, false] {
        let public = ours.encapsulation_key();
        let (c, k) = public.encapsulate_deterministic(&randomness).expect("our own key");
        let (mut share, mut ciphertext) = (public.as_bytes().to_vec(), c.as_bytes().to_vec());
        if !honest {
            share.iter_mut().chain(&mut ciphertext).for_each(|byte| *byte = 0);
        }
        for edit in data.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
            for bytes in [&mut share, &mut ciphertext] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = edit[2];
                }
            }
        }
        if let Ok(share) = EncapsulationKey::from_bytes(kem, &share) {
            assert_eq!(EncapsulationKey::from_bytes(kem, share.as_bytes()).as_ref(), Ok(&share));
            if let Ok((c, k)) = share.encapsulate_deterministic(&randomness) {
                assert_eq!(
                    (c.as_bytes().len(), k.expose().len()),
                    (kem.ciphertext_len(), kem.shared_secret_len())
                );
            }
        }
        if let Ok(found) = ours.decapsulate(&ciphertext) {
            // The top bit of X25519's coordinate means nothing, except where the ciphertext is hashed.
            let same = ciphertext == c.as_bytes();
            assert!(!same || found.expose() == k.expose());
        }
    }
});
