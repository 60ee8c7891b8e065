//! Identities and recipients in bech32: what is read is written as it came.
#![no_main]

use gambeson_age::{Identity, Recipient};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(identity) = text.parse::<Identity>() {
        assert!(identity.encode().eq_ignore_ascii_case(text));
    }
    if let Ok(recipient) = text.parse::<Recipient>() {
        assert!(recipient.to_string().eq_ignore_ascii_case(text));
    }
    let _ = Identity::parse_file(text);
    let _ = Recipient::parse_file(text);
});
