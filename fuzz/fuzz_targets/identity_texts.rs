//! Names and manifests of memory objects, and words of seeds: what is read is written again as it was.
#![no_main]

use gambeson_identity::memory::{Manifest, ObjectId};
use gambeson_identity::recovery;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(manifest) = Manifest::parse(data) {
        assert!(manifest.to_json().is_ok_and(|text| text == data), "a manifest has one form");
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(id) = text.parse::<ObjectId>() {
        assert!(id.to_string() == text, "a name has one form");
    }
    if let Ok(seed) = recovery::from_words(text) {
        let words: Vec<_> = text.split_whitespace().map(str::to_ascii_lowercase).collect();
        assert!(*recovery::words(&seed) == words.join(" "));
    }
});
