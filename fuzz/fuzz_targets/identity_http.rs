//! Any lines as target, signature-input, signature, content-digest and another field of a request.
#![no_main]

use gambeson_identity::{
    CardStore, MemoryReplayCache, Timestamp,
    http::{Component, Message, Policy, Signature, verify},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let target = lines.next().unwrap_or_default();
    let names = ["signature-input", "signature", "content-digest", "example"];
    let fields: Vec<_> =
        names.iter().zip(lines).map(|(name, value)| (name.to_string(), value.to_owned())).collect();
    let message = Message::request("POST", target, &fields).with_body(b"body");
    if let Ok(read) = Signature::read(&message, None) {
        for signature in read {
            assert!(signature.base().contains("\"@signature-params\": ("));
            for component in signature.components() {
                let again: Component = component.to_string().parse().expect("its own text");
                assert_eq!(again, *component);
            }
        }
    }
    let mut replay = MemoryReplayCache::new(1);
    assert!(verify(&message, &Policy::default(), &CardStore::default(), Timestamp(1), &mut replay).is_err());
});
