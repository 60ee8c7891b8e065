//! XMSS and XMSS^MT with Bouncy Castle: the sets of SP 800-208 whose trees have height 5 or 10.

use std::path::Path;
use std::sync::Arc;

use gambeson::stateful::hazmat::MemoryStore;
use gambeson::stateful::{Signer, StatefulKey, TreeOptions};
use gambeson::xmss::{ParameterSet, SigningKey, VerifyingKey};
use libtest_mimic::Trial;

use super::{ANOTHER_MESSAGE, MESSAGE};
use crate::bouncy_castle::BouncyCastle;
use crate::tools::{Result, check, unavailable};

/// Returns a test for each set and direction, and one of the difference of Bouncy Castle 1.85.
///
/// # Panics
///
/// If there are not 20 of our signatures and 10 of its.
pub(super) fn trials(peer: &Arc<BouncyCastle>, scratch: &Path) -> Vec<Trial> {
    let corrected = match BouncyCastle::with_sp_800_208(scratch) {
        Ok(peer) => Arc::new(peer),
        Err(reason) => {
            return vec![unavailable("bouncy_castle::XMSS", reason.message().unwrap_or_default())];
        }
    };
    let add = |set: &ParameterSet, name: &str, test: fn(&BouncyCastle, ParameterSet) -> Result| {
        let (peer, set) = (Arc::clone(if has_short_nodes(*set) { &corrected } else { peer }), *set);
        Trial::test(format!("bouncy_castle::{set}::{name}"), move || test(&peer, set))
    };
    let approved = || ParameterSet::XMSS.iter().chain(ParameterSet::XMSS_MT).filter(|set| set.is_approved());
    let ours = approved().filter(|set| is_quick_for_us(**set));
    let ours: Vec<_> = ours.map(|set| add(set, "verifies_our_signatures", verifies_ours)).collect();
    let its = approved().filter(|set| is_quick_for_it(**set));
    let its: Vec<_> = its.map(|set| add(set, "we_verify_its_signatures", verifies_its)).collect();
    assert_eq!((ours.len(), its.len()), (20, 10));
    let peer = Arc::clone(peer);
    let name = "bouncy_castle::XMSS_with_nodes_of_24_bytes_is_not_that_of_sp_800_208";
    let differs = Trial::test(name, move || differs(&peer));
    ours.into_iter().chain(its).chain([differs]).collect()
}

/// Sets whose functions differ from SP 800-208 in Bouncy Castle 1.85: `KeyedHashFunctions.java` corrects them.
fn has_short_nodes(set: ParameterSet) -> bool {
    set.name().ends_with("_192")
}

/// Neither side verifies the other's signatures without the correction. If this fails, the correction can go.
fn differs(peer: &BouncyCastle) -> Result {
    for set in [ParameterSet::MT_SHA2_20_4_192, ParameterSet::MT_SHAKE256_20_4_192] {
        let refused = |side: Result, reason: &str| {
            let error = side.err().ok_or_else(|| format!("{set}: verified without the correction"))?;
            let text = error.message().unwrap_or_default();
            check(text.starts_with(reason), format!("{set}: refused for another reason: {text}"))
        };
        refused(verifies_ours(peer, set), "it verifies ours")?;
        refused(verifies_its(peer, set), "we verify its")?;
    }
    Ok(())
}

/// Two trees of height 10 at most, or any number of height 5.
fn is_quick_for_us(set: ParameterSet) -> bool {
    let tree = set.height() / set.layers();
    tree == 5 || tree == 10 && set.layers() <= 2
}

/// Eight trees of height 5 at most, or one of height 10 with short nodes.
fn is_quick_for_it(set: ParameterSet) -> bool {
    let tree = set.height() / set.layers();
    tree == 5 && set.layers() <= 8 || tree == 10 && set.layers() == 1 && has_short_nodes(set)
}

fn verifies_ours(peer: &BouncyCastle, set: ParameterSet) -> Result {
    let key = SigningKey::generate(set, TreeOptions::new())?;
    // 1010…10 in binary: the leaves of the layers differ.
    let leaf = key.capacity() / 3 * 2;
    let mut signer = Signer::new(key, MemoryStore::new(leaf));
    let index = signer.reserve_one()?;
    check(index.index() == leaf, "the leaf")?;
    let signature = hex::encode(signer.sign(index, MESSAGE)?);
    let public = hex::encode(signer.key().verifying_key().to_bytes());
    let valid = |message| -> Result<bool> {
        let more = [("public", &*public), ("message", &hex::encode(message)), ("signature", &signature)];
        let (op, number) = (format!("{}_verify", family(set)), set.oid().to_string());
        let fields = [&[("set", &*number)], &more[..]].concat();
        Ok(peer.ask(&op, &fields)?.text("valid")? == "true")
    };
    check(valid(MESSAGE)?, "it verifies ours")?;
    check(!valid(ANOTHER_MESSAGE)?, "it refuses ours over another message")
}

fn verifies_its(peer: &BouncyCastle, set: ParameterSet) -> Result {
    // A leaf below the second tree of the lowest layer of XMSS^MT. It takes the time of a signature to skip one.
    let fields = [("set", &*set.oid().to_string()), ("leaf", "33"), ("message", &hex::encode(MESSAGE))];
    let made = peer.ask(&format!("{}_sign", family(set)), &fields)?;
    let (public, signature) = (made.bytes("public")?, made.bytes("signature")?);
    let read = if set.is_multi_tree() { VerifyingKey::from_mt_bytes } else { VerifyingKey::from_bytes };
    let key = read(&public)?;
    check(key.parameter_set() == set, "the set of its key")?;
    key.verify(MESSAGE, &signature).map_err(|error| format!("we verify its: {error}"))?;
    check(key.verify(ANOTHER_MESSAGE, &signature).is_err(), "we refuse its over another message")
}

/// The first word of the peer's requests.
fn family(set: ParameterSet) -> &'static str {
    if set.is_multi_tree() { "xmssmt" } else { "xmss" }
}
