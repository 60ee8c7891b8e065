//! Policies of channels and their signatures, from whoever makes a commit: what is read has one spelling.
#![no_main]

use gambeson_slim::{Policy, SignedPolicy};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let (policy, signature) = data.split_at(data.iter().position(|byte| *byte == 0).unwrap_or(data.len()));
    if let Ok(read) = Policy::from_bytes(policy) {
        assert_eq!(read.to_bytes(), policy);
        let signature = String::from_utf8_lossy(signature.get(1..).unwrap_or_default());
        if let Ok(signed) = SignedPolicy::read(policy, &signature) {
            assert_eq!((signed.bytes(), signed.signature()), (policy, &*signature));
        }
    }
});
