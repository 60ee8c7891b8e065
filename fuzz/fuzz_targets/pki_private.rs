//! Private keys in PKCS#8: what is read can be written and read again.
#![no_main]

use gambeson_pki::{Form, PrivateKey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(key) = PrivateKey::read(data, None) else { return };
    let expanded = key.to_expanded_bytes();
    let form = if key.seed().is_some() { Form::Seed } else { Form::Expanded };
    let der = key.to_pkcs8_der(form).expect("a key that was read can be written");
    let again = PrivateKey::from_pkcs8_der(&der).expect("what we wrote can be read");
    assert_eq!(again.to_expanded_bytes(), expanded);
    assert_eq!(again.public_key().as_bytes(), key.public_key().as_bytes());
});
