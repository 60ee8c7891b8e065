//! Any bytes as an encoded status list; one that is read is written and read again.
#![no_main]

use gambeson_identity::vc::{StatusList, StatusPurpose};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else { return };
    if let Ok(list) = StatusList::decode(StatusPurpose::Revocation, text) {
        assert_eq!(StatusList::decode(StatusPurpose::Revocation, &list.encode()), Ok(list));
    }
});
