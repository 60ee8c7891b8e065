//! Published vectors of trees that take minutes to hours to compute.

use flate2::read::GzDecoder;
use gambeson::lms::{LmotsType, LmsType, SigningKey, VerifyingKey, hazmat};
use gambeson::stateful::{Signer, TreeOptions, hazmat::MemoryStore};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// The lines of a file of `../shared/vectors`, if that folder is there.
fn lines(file: &str) -> Option<Vec<Value>> {
    let file = File::open(gambeson_vectors::shared()?.join(file)).expect("the file of vectors");
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    Some(lines.map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON")).collect())
}

fn text<'v>(vector: &'v Value, field: &str) -> &'v str {
    vector[field].as_str().expect("a text")
}

fn bytes(vector: &Value, field: &str) -> Vec<u8> {
    crate::lms_files::bytes(text(vector, field))
}

/// Types, I and SEED.
fn inputs(vector: &Value) -> (LmsType, LmotsType, [u8; 16], Vec<u8>) {
    let lms = LmsType::ALL.iter().find(|it| it.name() == text(vector, "lmsMode"));
    let ots = LmotsType::ALL.iter().find(|it| it.name() == text(vector, "lmOtsMode"));
    let identifier = bytes(vector, "i").try_into().expect("16 bytes");
    (*lms.expect("a type"), *ots.expect("a type"), identifier, bytes(vector, "seed"))
}

#[test]
fn one_time_signatures_of_tall_trees_are_the_published_ones_and_their_paths_lead_to_the_key() {
    let Some(vectors) = lines("lms/tall/kat-sigGen.jsonl.gz") else { return };
    for vector in &vectors {
        let (lms, ots, identifier, seed) = inputs(vector);
        let leaf = vector["q"].as_u64().expect("a leaf") as u32;
        let (message, signature) = (bytes(vector, "message"), bytes(vector, "signature"));
        let one_time = hazmat::one_time_signature(lms, ots, (&identifier, &seed), leaf, &message)
            .expect("types that fit");
        assert_eq!(signature[..4], leaf.to_be_bytes());
        assert_eq!(signature[4..4 + one_time.len()], one_time, "{lms} {ots} {leaf}");
        let key = VerifyingKey::from_bytes(&bytes(vector, "publicKey")).expect("a key");
        key.verify(&message, &signature).expect("the published signature");
    }
    assert_eq!(vectors.len(), 96);
}

#[test]
#[ignore = "64 trees of 32,768 leaves: minutes"]
fn keys_of_height_15_are_the_published_ones_and_sign_as_published() {
    let (Some(keys), Some(signatures)) =
        (lines("lms/tall/kat-keyGen.jsonl.gz"), lines("lms/tall/kat-sigGen.jsonl.gz"))
    else {
        return;
    };
    let mut ran = 0;
    for vector in keys.iter().chain(&signatures).filter(|vector| text(vector, "lmsMode").ends_with("_H15")) {
        let (lms, ots, identifier, seed) = inputs(vector);
        // A cache that does not hold the tree: the path is computed from a subtree.
        let options = TreeOptions::new().cache_bytes(0);
        let key = SigningKey::from_seed(lms, ots, &identifier, &seed, options).expect("types that fit");
        assert_eq!(key.verifying_key().to_bytes(), bytes(vector, "publicKey"), "{lms} {ots}");
        if let Some(leaf) = vector["q"].as_u64() {
            let mut signer = Signer::new(key, MemoryStore::new(leaf));
            let index = signer.reserve_one().expect("a leaf of the key");
            let signature = signer.sign(index, &bytes(vector, "message")).expect("the index of this store");
            assert_eq!(signature, bytes(vector, "signature"), "{lms} {ots} {leaf}");
        }
        ran += 1;
    }
    assert_eq!(ran, 64 + 32);
}
