//! Texts that claim to be proofs of inclusion: what is read is written again as it was, and no text but ours verifies.
#![no_main]

use gambeson_identity::tlog::{Log, MemoryStorage, Proof, SignedCheckpoint};
use gambeson_identity::{Agent, MasterSeed, Role, Timestamp, VerifyingKey};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

const NOW: Timestamp = Timestamp(1_795_330_800);

fn key() -> &'static VerifyingKey {
    static KEY: OnceLock<VerifyingKey> = OnceLock::new();
    KEY.get_or_init(|| {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[7; 32]));
        let key = agent.key(Role::Log);
        let log = Log::create(MemoryStorage::default(), "example.com/log", key, NOW).expect("a log");
        drop(log);
        key.verifying_key()
    })
}

fuzz_target!(|data: &[u8]| {
    if let Ok(note) = SignedCheckpoint::parse(data) {
        assert!(note.to_string().as_bytes() == data, "a note has one form");
        assert!(note.verify("example.com/log", key(), NOW).is_err());
    }
    if let Ok(proof) = Proof::parse(data) {
        assert!(proof.to_string().as_bytes() == data, "a proof has one form");
        assert!(proof.verify(b"entry", "example.com/log", key(), NOW).is_err());
    }
});
