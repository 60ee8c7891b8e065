//! Credentials in leaves: what is read is written as it was.
#![no_main]

use gambeson_slim::Credential;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(credential) = Credential::from_bytes(data) {
        assert_eq!(credential.to_bytes(), data);
    }
});
