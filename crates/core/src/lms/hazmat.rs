//! Signing with a leaf that the caller names: for tests against published vectors. Whoever signs two messages with one leaf gives the
//! key away.

use alloc::vec;
use alloc::vec::Vec;

use super::params::{LmotsType, LmsType};
use super::tree::{Signed, Tree};
use crate::secret::StackGuard;

/// The stack that the making of a tree uses at most.
const DEPTH: usize = 32 * 1024;

/// A key of these types by I and SEED, whose secrets are made as RFC 8554, Appendix A, makes them; `None` if the types do not go together or SEED has another
/// length than a node.
fn tree<'a>(lms: LmsType, ots: LmotsType, identifier: &'a [u8; 16], seed: &[u8]) -> Option<Tree<'a>> {
    (lms.goes_with(ots) && seed.len() == lms.0.n).then_some(Tree { lms: lms.0, ots: ots.0, identifier })
}

/// The verifying key.
#[must_use]
pub fn verifying_key(lms: LmsType, ots: LmotsType, identifier: &[u8; 16], seed: &[u8]) -> Option<Vec<u8>> {
    let tree = tree(lms, ots, identifier, seed)?;
    let _guard = StackGuard::<DEPTH>;
    let root = tree.root(seed, None);
    Some([&lms.code().to_be_bytes()[..], &ots.code().to_be_bytes(), identifier, &root[..lms.0.n]].concat())
}

/// The signature of a message with this leaf, and with C, which is made of SEED if there is none: RFC 8554, Algorithm 5. `None` also if there is
/// no such leaf.
#[must_use]
pub fn sign(
    lms: LmsType,
    ots: LmotsType,
    (identifier, seed): (&[u8; 16], &[u8]),
    leaf: u32,
    c: Option<&[u8]>,
    message: &[u8],
) -> Option<Vec<u8>> {
    let tree = tree(lms, ots, identifier, seed).filter(|_| leaf >> lms.height() == 0)?;
    let n = lms.0.n;
    let mut signature = vec![0; lms.signature_len(ots)?];
    let _guard = StackGuard::<DEPTH>;
    let made = tree.randomizer(seed, leaf);
    let c = c.unwrap_or(&made[..n]);
    if c.len() != n {
        return None;
    }
    signature[..4].copy_from_slice(&leaf.to_be_bytes());
    signature[4..8].copy_from_slice(&ots.code().to_be_bytes());
    signature[8..8 + n].copy_from_slice(c);
    let (chains, rest) = signature[8 + n..].split_at_mut(n * ots.0.p);
    let (code, path) = rest.split_at_mut(4);
    code.copy_from_slice(&lms.code().to_be_bytes());
    tree.root(seed, Some(Signed { leaf, digits: tree.digits(leaf, c, &[message]), signature: chains, path }));
    Some(signature)
}
