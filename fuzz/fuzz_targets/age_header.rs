//! Any bytes as an age file, binary or armored.
#![no_main]

use gambeson_age::{Identity, open};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let identity = [Identity::from_seed(&[7; 32])];
    assert!(open(&identity, data, std::io::sink()).is_err(), "nobody sealed that");
    let whole = [b"age-encryption.org/v1\n-> ", data].concat();
    assert!(open(&identity, &whole[..], std::io::sink()).is_err(), "nobody sealed that");
});
