//! Any object as an agent card: the canonical form is its own canonical form, and nobody signed it.
#![no_main]

use gambeson_identity::{CardStore, Timestamp, a2a, json};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    assert!(a2a::verify(data, None, &CardStore::default(), Timestamp(1)).is_err());
    let Ok(card) = json::parse_object(data, a2a::MAX_CARD) else { return };
    if let Ok(canonical) = a2a::canonicalize(&card) {
        let again = json::parse_object(&canonical, canonical.len()).expect("JSON");
        assert_eq!(a2a::canonicalize(&again), Ok(canonical));
    }
});
