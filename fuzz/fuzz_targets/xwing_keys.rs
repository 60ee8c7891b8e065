//! X-Wing: any key and any ciphertext; the contributory door agrees with the draft's or refuses.
#![no_main]

use gambeson_hybrid::xwing::*;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut key = [0; ENCAPSULATION_KEY_LEN];
    let length = data.len().min(key.len());
    key[..length].copy_from_slice(&data[..length]);
    if let Ok(key) = EncapsulationKey::from_bytes(&key) {
        let (c, k) = key.encapsulate_deterministic(&[9; 64]);
        if let Ok((c2, k2)) = key.encapsulate_contributory_deterministic(&[9; 64]) {
            assert!(c == c2 && k.expose() == k2.expose());
        }
    }
    let secret_key = DecapsulationKey::from_seed(&[7; 32]);
    let (mut c, _) = secret_key.encapsulation_key().encapsulate_deterministic(&[9; 64]);
    for edit in data.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
        if let Some(byte) = c.get_mut(at) {
            *byte = edit[2];
        }
    }
    let k = secret_key.decapsulate(&c);
    if let Ok(k2) = secret_key.decapsulate_contributory(&c) {
        assert_eq!(k.expose(), k2.expose());
    }
});
