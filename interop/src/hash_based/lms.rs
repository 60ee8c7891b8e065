//! HSS with Bouncy Castle: 1 to 3 levels of trees of height 5, with each hash function and length.

use std::sync::Arc;

use gambeson::lms::{HssSigningKey, HssVerifyingKey, LmotsType, LmsType};
use gambeson::stateful::hazmat::MemoryStore;
use gambeson::stateful::{Signer, TreeOptions};
use libtest_mimic::Trial;

use super::{ANOTHER_MESSAGE, MESSAGE};
use crate::bouncy_castle::BouncyCastle;
use crate::tools::{Result, check};

/// Types of a tree and of its one-time signatures.
type Level = (LmsType, LmotsType);

/// The trees of height 5, each with its one-time signatures of W1, W2, W4 and W8.
const TREES: [(LmsType, [LmotsType; 4]); 4] = [
    (
        LmsType::SHA256_M32_H5,
        [
            LmotsType::SHA256_N32_W1,
            LmotsType::SHA256_N32_W2,
            LmotsType::SHA256_N32_W4,
            LmotsType::SHA256_N32_W8,
        ],
    ),
    (
        LmsType::SHA256_M24_H5,
        [
            LmotsType::SHA256_N24_W1,
            LmotsType::SHA256_N24_W2,
            LmotsType::SHA256_N24_W4,
            LmotsType::SHA256_N24_W8,
        ],
    ),
    (
        LmsType::SHAKE_M32_H5,
        [LmotsType::SHAKE_N32_W1, LmotsType::SHAKE_N32_W2, LmotsType::SHAKE_N32_W4, LmotsType::SHAKE_N32_W8],
    ),
    (
        LmsType::SHAKE_M24_H5,
        [LmotsType::SHAKE_N24_W1, LmotsType::SHAKE_N24_W2, LmotsType::SHAKE_N24_W4, LmotsType::SHAKE_N24_W8],
    ),
];

/// Returns a test for each tree and number of levels.
///
/// # Panics
///
/// If there are not 12.
pub(super) fn trials(peer: &Arc<BouncyCastle>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (tree, [w1, w2, w4, w8]) in TREES {
        let mut add = |levels: usize, keys: Vec<(Vec<Level>, u64)>| {
            let peer = Arc::clone(peer);
            let name = tree.name().trim_start_matches("LMS_");
            let name =
                format!("bouncy_castle::HSS-{levels}-{name}::verifies_our_signatures_and_we_verify_its");
            trials.push(Trial::test(name, move || {
                keys.iter().try_for_each(|(levels, leaf)| both_ways(&peer, levels, *leaf))
            }));
        };
        // The leaves of several levels are those after the first tree of each.
        let level = |ots| (tree, ots);
        add(1, [w1, w2, w4, w8].map(|ots| (vec![level(ots)], 31)).to_vec());
        add(2, vec![([w8, w4].map(level).to_vec(), 32 + 1)]);
        add(3, vec![([w4, w8, w2].map(level).to_vec(), 32 * 32 + 32 + 1)]);
    }
    assert_eq!(trials.len(), 12);
    trials
}

fn both_ways(peer: &BouncyCastle, levels: &[Level], leaf: u64) -> Result {
    let mut signer =
        Signer::new(HssSigningKey::generate(levels, TreeOptions::new())?, MemoryStore::new(leaf));
    let index = signer.reserve_one()?;
    check(index.index() == leaf, "the leaf")?;
    let signature = hex::encode(signer.sign(index, MESSAGE)?);
    let public = hex::encode(signer.key().verifying_key().to_bytes());
    let valid = |message| -> Result<bool> {
        let fields = [("public", &*public), ("message", &hex::encode(message)), ("signature", &signature)];
        Ok(peer.ask("hss_verify", &fields)?.text("valid")? == "true")
    };
    check(valid(MESSAGE)?, "it verifies ours")?;
    check(!valid(ANOTHER_MESSAGE)?, "it refuses ours over another message")?;

    let types: Vec<_> = levels.iter().map(|(lms, ots)| format!("{}:{}", lms.code(), ots.code())).collect();
    let (types, leaf, message) = (types.join(","), leaf.to_string(), hex::encode(MESSAGE));
    let made = peer.ask("hss_sign", &[("levels", &types), ("leaf", &leaf), ("message", &message)])?;
    let (key, signature) = (HssVerifyingKey::from_bytes(&made.bytes("public")?)?, made.bytes("signature")?);
    let top = key.top();
    check(key.levels() as usize == levels.len(), "the levels of its key")?;
    check((top.lms_type(), top.lmots_type()) == levels[0], "the types of its key")?;
    key.verify(MESSAGE, &signature).map_err(|error| format!("we verify its: {error}"))?;
    check(key.verify(ANOTHER_MESSAGE, &signature).is_err(), "we refuse its over another message")
}
