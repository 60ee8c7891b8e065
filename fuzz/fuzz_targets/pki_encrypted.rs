//! Encrypted private keys: what opens is a key.
#![no_main]

use gambeson_pki::PrivateKey;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(key) = PrivateKey::read(data, Some(b"passphrase")) {
        assert!(!key.to_expanded_bytes().is_empty());
    }
});
