//! Public keys in SPKI: what is read is written as it came.
#![no_main]

use gambeson_pki::PublicKey;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(key) = PublicKey::read(data) else { return };
    let again = PublicKey::from_spki_der(&key.to_spki_der()).expect("what we wrote can be read");
    assert_eq!(again.as_bytes(), key.as_bytes());
    let again = PublicKey::from_spki_pem(&key.to_spki_pem()).expect("what we wrote can be read");
    assert_eq!(again.as_bytes(), key.as_bytes());
});
