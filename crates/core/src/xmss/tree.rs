//! RFC 8391, §3 and §4: one-time signatures and trees.

#[cfg(all(feature = "alloc", feature = "hazmat"))]
use alloc::vec;

use super::hash::{Address, Hash};
use super::params::MAX_N;
#[cfg(all(feature = "alloc", feature = "hazmat"))]
use crate::secret::Secret;

/// The most chains of a one-time signature.
const MAX_CHAINS: usize = 2 * MAX_N + 3;
/// The bytes of the chains of the one-time keys that are computed together: of four with n = 32, of five with n = 24.
#[cfg(all(feature = "alloc", feature = "hazmat"))]
const TOGETHER: usize = 4 * 67 * 32;
/// The largest digit of base w.
const LAST_STEP: u8 = 15;

/// A tree of a key: its layer, and its number in the layer.
pub(super) struct Tree<'a> {
    pub hash: &'a Hash,
    pub layer: u32,
    pub tree: u64,
}

/// The digits of a digest, and of its checksum.
pub(super) struct Digits([u8; MAX_CHAINS]);

impl Digits {
    /// RFC 8391, Algorithm 1 (base_w) and Algorithm 5, with w = 16 and len_2 = 3.
    pub(super) fn new(digest: &[u8]) -> Self {
        let mut digits = [0; MAX_CHAINS];
        let (of_digest, rest) = digits.split_at_mut(2 * digest.len());
        for (digits, byte) in of_digest.as_chunks_mut().0.iter_mut().zip(digest) {
            *digits = [byte >> 4, byte & 15];
        }
        let sum: u16 = of_digest.iter().map(|digit| u16::from(LAST_STEP - digit)).sum();
        for (digit, shift) in rest.iter_mut().zip([8, 4, 0]) {
            *digit = (sum >> shift & 15) as u8;
        }
        Self(digits)
    }
}

impl Tree<'_> {
    fn chain(&self, leaf: u32, chain: usize, step: u8) -> Address {
        Address::chain(self.layer, self.tree, leaf, chain as u32, step.into())
    }

    /// The ends of the chains of one-time keys from `first` on become their leaves, n bytes each, one after the other: RFC 8391, Algorithm 8 (ltree).
    fn l_trees(&self, first: u32, count: usize, values: &mut [u8]) {
        let (n, chains) = (self.hash.params.n, self.hash.params.chains());
        let (mut len, mut height) = (chains, 0);
        while len > 1 {
            let jobs = (0..count).flat_map(|key| (0..len >> 1).map(move |i| (key, i)));
            let jobs = jobs.map(|(key, i)| {
                let leaf = first + key as u32;
                let start = key * chains;
                let address = Address::l_tree(self.layer, self.tree, leaf, height, i as u32);
                (address, start + 2 * i, start + i)
            });
            self.hash.pairs(jobs, values);
            if len & 1 == 1 {
                for start in (0..count).map(|key| key * chains) {
                    values.copy_within((start + len - 1) * n..(start + len) * n, (start + (len >> 1)) * n);
                }
            }
            len = len.div_ceil(2);
            height += 1;
        }
        for key in 1..count {
            values.copy_within(key * chains * n..(key * chains + 1) * n, key * n);
        }
    }

    /// The root that a one-time signature of the digits and a path lead to: RFC 8391, Algorithm 13 (XMSS_rootFromSig).
    pub(super) fn root_of(&self, leaf: u32, digits: &Digits, chains: &[u8], path: &[u8]) -> [u8; MAX_N] {
        let n = self.hash.params.n;
        let mut values = [0; MAX_CHAINS * MAX_N];
        let values = &mut values[..chains.len()];
        values.copy_from_slice(chains);
        let jobs = (0..self.hash.params.chains()).zip(digits.0);
        self.hash.chains(
            jobs.map(|(chain, digit)| (self.chain(leaf, chain, digit), u32::from(LAST_STEP - digit))),
            values,
        );
        self.l_trees(leaf, 1, values);
        let mut number = leaf;
        let pair = &mut values[..2 * n];
        for (height, sibling) in (0..).zip(path.chunks_exact(n)) {
            if number & 1 == 1 {
                pair.copy_within(..n, n);
                pair[..n].copy_from_slice(sibling);
            } else {
                pair[n..].copy_from_slice(sibling);
            }
            number >>= 1;
            let address = Address::node(self.layer, self.tree, height, number);
            self.hash.pairs([(address, 0, 0)].into_iter(), pair);
        }
        let mut root = [0; MAX_N];
        root[..n].copy_from_slice(&pair[..n]);
        root
    }
}

/// Signing, in the sets of SP 800-208.
#[cfg(all(feature = "alloc", feature = "hazmat"))]
impl Tree<'_> {
    /// Fills `nodes` with the leaves from `first` on: RFC 8391, Algorithm 9, with the secrets of SP 800-208, Algorithm 10'.
    fn leaves(&self, secret: &[u8], first: u32, nodes: &mut [u8]) {
        let (n, chains) = (self.hash.params.n, self.hash.params.chains());
        let keys = if n == 24 { 5 } else { 4 };
        let mut values = Secret::new([0; TOGETHER]);
        for (leaf, nodes) in (first..).step_by(keys).zip(nodes.chunks_mut(keys * n)) {
            let count = nodes.chunks_exact(n).len();
            let values = &mut values.expose_mut()[..count * chains * n];
            let addresses = || {
                let leaves = leaf..leaf + count as u32;
                leaves.flat_map(|leaf| (0..chains).map(move |chain| self.chain(leaf, chain, 0)))
            };
            self.hash.secrets(secret, count * chains, addresses(), values);
            self.hash.chains(addresses().map(|address| (address, LAST_STEP.into())), values);
            self.l_trees(leaf, count, values);
            nodes.copy_from_slice(&values[..count * n]);
        }
    }

    /// Hashes the pairs of the nodes of a height, of which the first has this number, in place.
    fn pairs(&self, height: u32, first: u32, nodes: &mut [u8]) {
        let count = nodes.chunks_exact(2 * self.hash.params.n).len();
        let jobs = (0..count).map(|i| {
            let address = Address::node(self.layer, self.tree, height, (first >> 1) + i as u32);
            (address, 2 * i, i)
        });
        self.hash.pairs(jobs, nodes);
    }

    /// The root; the siblings of the ancestors of `leaf` go to `path`: RFC 8391, Algorithm 9 and §4.1.9 (buildAuth).
    pub(super) fn root(&self, secret: &[u8], leaf: u32, path: &mut [u8]) -> [u8; MAX_N] {
        let n = self.hash.params.n;
        let mut nodes = vec![0; n << self.hash.params.height];
        let mut nodes = &mut nodes[..];
        self.leaves(secret, 0, nodes);
        for (height, node) in (0..).zip(path.chunks_exact_mut(n)) {
            node.copy_from_slice(&nodes[(leaf >> height ^ 1) as usize * n..][..n]);
            self.pairs(height, 0, nodes);
            let half = nodes.len() >> 1;
            nodes = &mut nodes[..half];
        }
        let mut root = [0; MAX_N];
        root[..n].copy_from_slice(nodes);
        root
    }

    /// The one-time signature of the digits: RFC 8391, Algorithm 5 (WOTS_sign).
    pub(super) fn sign(&self, secret: &[u8], leaf: u32, digits: &Digits, signature: &mut [u8]) {
        let chains = self.hash.params.chains();
        let addresses = || (0..chains).map(|chain| self.chain(leaf, chain, 0));
        let mut values = Secret::new([0; TOGETHER]);
        let values = &mut values.expose_mut()[..signature.len()];
        self.hash.secrets(secret, chains, addresses(), values);
        self.hash.chains(addresses().zip(digits.0.map(u32::from)), values);
        signature.copy_from_slice(values);
    }
}
