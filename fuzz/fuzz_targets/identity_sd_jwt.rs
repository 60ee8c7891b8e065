//! Any bytes as an SD-JWT; what a holder can read shows its disclosures, and only those.
#![no_main]

use gambeson_identity::vc::{KeyBinding, SdJwt, SdJwtHeld};
use gambeson_identity::{CardStore, Timestamp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else { return };
    if let Ok(held) = SdJwtHeld::parse(text) {
        let pointers: Vec<&str> = held.disclosable().collect();
        let shown = held.present(&pointers).expect("what can be disclosed is");
        assert!(SdJwtHeld::parse(&shown).is_ok());
    }
    let verdict = SdJwt::verify(text, &CardStore::default(), Timestamp(1_795_330_800), KeyBinding::None);
    assert!(verdict.is_err(), "nobody signed that");
});
