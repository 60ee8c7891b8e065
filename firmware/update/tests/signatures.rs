//! The signatures in `bench/signatures`, from their seeds. With the environment variable `GAMBESON_BLESS` set, this test writes them.

use gambeson::lms::{self, LmotsType, LmsType};
use gambeson::slhdsa::{ParameterSet, SigningKey};
use gambeson::stateful::hazmat::MemoryStore;
use gambeson::stateful::{Signer, TreeOptions};
use gambeson::xmss;
use std::fs;
use std::path::Path;

const MESSAGES: [[u8; 32]; 2] = [[0x11; 32], [0xee; 32]];

/// Key, message and signature, twice, by two leaves.
fn of_lms(lms: LmsType, ots: LmotsType) -> Vec<u8> {
    let signed = |(message, leaf): (&[u8; 32], u64)| {
        let secret = lms::SigningKey::from_seed(lms, ots, &[1; 16], &[2; 32], TreeOptions::new())
            .expect("types that fit");
        let key = secret.verifying_key().to_bytes();
        let mut signer = Signer::new(secret, MemoryStore::new(leaf));
        let index = signer.reserve_one().expect("a leaf of the tree");
        [&key[..], message, &signer.sign(index, message).expect("an index of the same store")].concat()
    };
    MESSAGES.iter().zip([3, 1020]).flat_map(signed).collect()
}

/// Key, message and signature, twice, by two leaves.
fn of_xmss(set: xmss::ParameterSet) -> Vec<u8> {
    let signed = |(message, leaf): (&[u8; 32], u64)| {
        let secret = xmss::SigningKey::from_seeds(set, &[1; 32], &[2; 32], &[3; 32], TreeOptions::new())
            .expect("seeds of the set's length");
        let key = secret.verifying_key().to_bytes();
        let mut signer = Signer::new(secret, MemoryStore::new(leaf));
        let index = signer.reserve_one().expect("a leaf of the tree");
        [&key[..], message, &signer.sign(index, message).expect("an index of the same store")].concat()
    };
    MESSAGES.iter().zip([3, 1020]).flat_map(signed).collect()
}

/// Key, message and signature, twice.
fn of_slh_dsa(set: ParameterSet) -> Vec<u8> {
    let key = SigningKey::from_seeds(set, &[1; 16], &[2; 16], &[3; 16]).expect("seeds of the set's length");
    let signed = |message: &[u8; 32]| {
        [key.verifying_key().as_bytes(), message, &key.sign_deterministic(message)].concat()
    };
    MESSAGES.iter().flat_map(signed).collect()
}

#[test]
fn the_signatures_that_the_bench_verifies_are_those_of_their_seeds() {
    let files = [
        ("lms-sha256-h10-w8", of_lms(LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W8)),
        ("lms-sha256-h10-w4", of_lms(LmsType::SHA256_M32_H10, LmotsType::SHA256_N32_W4)),
        ("lms-shake-h10-w8", of_lms(LmsType::SHAKE_M32_H10, LmotsType::SHAKE_N32_W8)),
        ("xmss-sha2_10_256", of_xmss(xmss::ParameterSet::SHA2_10_256)),
        ("slh-dsa-sha2-128s", of_slh_dsa(ParameterSet::SHA2_128S)),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/signatures");
    for (name, bytes) in files {
        let file = folder.join(name);
        if std::env::var_os("GAMBESON_BLESS").is_some() {
            fs::write(&file, &bytes).unwrap();
        }
        assert!(fs::read(file).unwrap() == bytes, "{name}");
    }
}
