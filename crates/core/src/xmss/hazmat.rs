//! Signing with an index that the caller names: for tests against published vectors. Two signatures with one index reveal the key.

use alloc::vec;
use alloc::vec::Vec;

use super::hash::Hash;
use super::params::{MAX_N, ParameterSet};
use super::tree::{Digits, Tree};
use crate::secret::StackGuard;

/// The most stack that a tree or a signature needs.
const DEPTH: usize = 32 * 1024;

/// The secrets of a signing key, and SEED; n bytes each.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations)]
pub struct Key<'a> {
    /// S_XMSS, of which the one-time keys are derived (SP 800-208, §6.2).
    pub secret: &'a [u8],
    /// SK_PRF.
    pub sk_prf: &'a [u8],
    /// SEED.
    pub seed: &'a [u8],
}

impl Key<'_> {
    fn fits(&self, set: ParameterSet) -> bool {
        set.is_approved() && [self.secret, self.sk_prf, self.seed].iter().all(|part| part.len() == set.0.n)
    }

    /// The root of the highest tree, whose path to the leaf of this index goes to `path`.
    fn root(&self, set: ParameterSet, hash: &Hash, index: u64, path: &mut [u8]) -> [u8; MAX_N] {
        let (layer, height) = (set.0.layers - 1, set.0.height);
        let leaf = (index >> (layer * height)) as u32;
        Tree { hash, layer, tree: 0 }.root(self.secret, leaf, path)
    }

    /// Returns the verifying key; `None` if the set is not one of SP 800-208, or a part of the key is not n bytes long.
    ///
    /// RFC 8391, Algorithm 10 and Algorithm 15; SP 800-208, §6.2.
    #[must_use]
    pub fn verifying_key(&self, set: ParameterSet) -> Option<Vec<u8>> {
        if !self.fits(set) {
            return None;
        }
        let _guard = StackGuard::<DEPTH>;
        let n = set.0.n;
        let mut path = vec![0; n * set.0.height as usize];
        let root = self.root(set, &Hash::new(set.0, self.seed), 0, &mut path);
        Some([&set.oid().to_be_bytes()[..], &root[..n], self.seed].concat())
    }

    /// Returns the signature of a message with this index; `None` as in [`Self::verifying_key`], or if the key has no such index.
    ///
    /// RFC 8391, Algorithm 12 and Algorithm 16.
    #[must_use]
    pub fn sign(&self, set: ParameterSet, index: u64, message: &[u8]) -> Option<Vec<u8>> {
        if !self.fits(set) || index >> set.height() != 0 {
            return None;
        }
        let _guard = StackGuard::<DEPTH>;
        let params = set.0;
        let (n, height) = (params.n, params.height);
        let hash = Hash::new(params, self.seed);
        let mut path = vec![0; n * height as usize];
        let root = self.root(set, &hash, index, &mut path);
        let r = Hash::randomizer(params, self.sk_prf, index);
        let mut signature = Vec::with_capacity(set.signature_len());
        signature.extend(&index.to_be_bytes()[8 - params.index_len()..]);
        signature.extend(&r[..n]);
        let mut node = hash.message(&r[..n], &root[..n], index, message);
        for layer in 0..params.layers {
            let tree = index >> (layer * height) >> height;
            let leaf = (index >> (layer * height) & ((1 << height) - 1)) as u32;
            let tree = Tree { hash: &hash, layer, tree };
            let start = signature.len();
            signature.resize(start + params.layer_len(), 0);
            let (chains, own_path) = signature[start..].split_at_mut(n * params.chains());
            tree.sign(self.secret, leaf, &Digits::new(&node[..n]), chains);
            if layer + 1 < params.layers {
                node = tree.root(self.secret, leaf, own_path);
            } else {
                own_path.copy_from_slice(&path);
            }
        }
        Some(signature)
    }
}
