//! Any bytes as a credential: a token, JSON with a proof, the payload of a token, and a form to check.
#![no_main]

use gambeson_identity::vc::{Credential, Status, StatusStore, check_credential, check_presentation};
use gambeson_identity::{CardStore, Timestamp, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (cards, lists, now) = (CardStore::default(), StatusStore::default(), Timestamp(1_795_330_800));
    if let Ok(object) = json::parse_object(data, 1 << 16) {
        let _ = check_credential(&object);
        let _ = check_presentation(&object);
    }
    let Ok(text) = core::str::from_utf8(data) else { return };
    assert!(Credential::verify(text, &cards, now, Status::Required(&lists)).is_err(), "nobody signed that");
});
