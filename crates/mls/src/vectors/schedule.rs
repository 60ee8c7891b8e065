//! The key schedule (RFC 9420, section 8), the secret tree (section 9), and transcripts (section 8.2).

use mls_rs_core::crypto::CipherSuiteProvider;
use serde_json::Value;

use super::wire::{
    Judged, check, derive, derive_tree, expand, extract, group_context, hex, list, number, said, same, text,
    vector,
};
use crate::SuiteProvider;

/// Secrets of an epoch: what the file calls them, and their labels.
const SECRETS: [(&str, &str); 9] = [
    ("init_secret", "init"),
    ("sender_data_secret", "sender data"),
    ("encryption_secret", "encryption"),
    ("exporter_secret", "exporter"),
    ("epoch_authenticator", "authentication"),
    ("external_secret", "external"),
    ("confirmation_key", "confirm"),
    ("membership_key", "membership"),
    ("resumption_psk", "resumption"),
];

/// `key-schedule`.
pub(super) fn epochs(suite: &SuiteProvider, case: &Value) -> Judged {
    let len = suite.kdf_extract_size();
    let mut init = hex(&case["initial_init_secret"])?;
    for (number_of, epoch) in list(&case["epochs"])?.iter().enumerate() {
        let (tree, transcript) = (hex(&epoch["tree_hash"])?, hex(&epoch["confirmed_transcript_hash"])?);
        let context = group_context(suite, &hex(&case["group_id"])?, number_of as u64, &tree, &transcript);
        same(epoch, "group_context", &context)?;
        let before = extract(suite, &init, &hex(&epoch["commit_secret"])?)?;
        let joiner = expand(suite, &before, "joiner", &context, len)?;
        same(epoch, "joiner_secret", &joiner)?;
        let of_epoch = Epoch::of(suite, &joiner, &hex(&epoch["psk_secret"])?, &context)?;
        same(epoch, "welcome_secret", &of_epoch.welcome)?;
        for (name, label) in SECRETS {
            same(epoch, name, &derive(suite, &of_epoch.secret, label)?)?;
        }
        let (_, public) = suite.kem_derive(&hex(&epoch["external_secret"])?).map_err(said)?;
        same(epoch, "external_pub", public.as_ref())?;
        let v = &epoch["exporter"];
        let secret = derive(suite, &hex(&epoch["exporter_secret"])?, text(&v["label"])?)?;
        let hash = suite.hash(&hex(&v["context"])?).map_err(said)?;
        same(v, "secret", &expand(suite, &secret, "exported", &hash, number(&v["length"])?)?)?;
        init = hex(&epoch["init_secret"])?;
    }
    Ok(())
}

/// What follows from the secret that joiners get.
pub(super) struct Epoch {
    pub(super) welcome: Vec<u8>,
    pub(super) secret: Vec<u8>,
}

impl Epoch {
    pub(super) fn of(
        suite: &SuiteProvider,
        joiner: &[u8],
        psk: &[u8],
        context: &[u8],
    ) -> Result<Self, String> {
        let member = extract(suite, joiner, psk)?;
        let secret = expand(suite, &member, "epoch", context, suite.kdf_extract_size())?;
        Ok(Self { welcome: derive(suite, &member, "welcome")?, secret })
    }
}

/// `psk_secret` (section 8.4).
pub(super) fn pre_shared_keys(suite: &SuiteProvider, case: &Value) -> Judged {
    let len = suite.kdf_extract_size();
    let psks = list(&case["psks"])?;
    let short = |number: usize| u16::try_from(number).map(u16::to_be_bytes).map_err(said);
    let mut secret = vec![0; len];
    for (index, psk) in psks.iter().enumerate() {
        let extracted = extract(suite, &vec![0; len], &hex(&psk["psk"])?)?;
        // An external one.
        let id = [&[1][..], &vector(&hex(&psk["psk_id"])?), &vector(&hex(&psk["psk_nonce"])?)].concat();
        let label = [&id[..], &short(index)?, &short(psks.len())?].concat();
        let input = expand(suite, &extracted, "derived psk", &label, len)?;
        secret = extract(suite, &input, &secret)?;
    }
    same(case, "psk_secret", &secret)
}

/// `secret-tree`.
pub(super) fn secret_tree(suite: &SuiteProvider, case: &Value) -> Judged {
    let v = &case["sender_data"];
    let (key, nonce) = sender_data_keys(suite, &hex(&v["sender_data_secret"])?, &hex(&v["ciphertext"])?)?;
    same(v, "key", &key)?;
    same(v, "nonce", &nonce)?;
    let leaves = list(&case["leaves"])?;
    let root = hex(&case["encryption_secret"])?;
    let mut seen = 0;
    for (leaf, generations) in leaves.iter().enumerate() {
        for v in list(generations)? {
            let generation = u32::try_from(number(&v["generation"])?).map_err(said)?;
            for ratchet in ["application", "handshake"] {
                let (key, nonce) = message_keys(suite, &root, leaves.len(), leaf, ratchet, generation)?;
                same(v, &format!("{ratchet}_key"), &key)?;
                same(v, &format!("{ratchet}_nonce"), &nonce)?;
                seen += 1;
            }
        }
    }
    check(seen > 0, "no generation of any leaf")
}

/// Key and nonce of what tells the sender (section 6.3.2).
pub(super) fn sender_data_keys(
    suite: &SuiteProvider,
    secret: &[u8],
    ciphertext: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), String> {
    let sample = &ciphertext[..ciphertext.len().min(suite.kdf_extract_size())];
    let expand = |label, len| expand(suite, secret, label, sample, len);
    Ok((expand("key", suite.aead_key_size())?, expand("nonce", suite.aead_nonce_size())?))
}

/// Key and nonce of a message, from the root of a tree of so many leaves.
pub(super) fn message_keys(
    suite: &SuiteProvider,
    root: &[u8],
    leaves: usize,
    leaf: usize,
    ratchet: &str,
    generation: u32,
) -> Result<(Vec<u8>, Vec<u8>), String> {
    let len = suite.kdf_extract_size();
    check(leaf < leaves, "a leaf beyond the tree")?;
    let mut secret = root.to_vec();
    for level in (0..leaves.next_power_of_two().trailing_zeros()).rev() {
        let side = if leaf >> level & 1 == 0 { "left" } else { "right" };
        secret = expand(suite, &secret, "tree", side.as_bytes(), len)?;
    }
    secret = expand(suite, &secret, ratchet, b"", len)?;
    for before in 0..generation {
        secret = derive_tree(suite, &secret, "secret", before, len)?;
    }
    let key = derive_tree(suite, &secret, "key", generation, suite.aead_key_size())?;
    Ok((key, derive_tree(suite, &secret, "nonce", generation, suite.aead_nonce_size())?))
}

/// `transcript-hashes`.
pub(super) fn transcripts(suite: &SuiteProvider, case: &Value) -> Judged {
    let content = hex(&case["authenticated_content"])?;
    let confirmed = hex(&case["confirmed_transcript_hash_after"])?;
    // The tag is what the content ends with.
    let tag = vector(&suite.mac(&hex(&case["confirmation_key"])?, &confirmed).map_err(said)?);
    let before = content.strip_suffix(&tag[..]).ok_or("the confirmation tag")?;
    let before = [&hex(&case["interim_transcript_hash_before"])?[..], before].concat();
    same(case, "confirmed_transcript_hash_after", &suite.hash(&before).map_err(said)?)?;
    same(case, "interim_transcript_hash_after", &suite.hash(&[confirmed, tag].concat()).map_err(said)?)
}
