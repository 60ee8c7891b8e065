//! RFC 8391, §3 and §4: one-time signatures and trees.

use core::ops::Range;

use super::hash::{Address, Hash};
use super::params::MAX_N;
use crate::many::longest_first;
#[cfg(feature = "alloc")]
use crate::merkle;
#[cfg(feature = "alloc")]
use crate::secret::Secret;

/// The most chains of a one-time signature.
const MAX_CHAINS: usize = 2 * MAX_N + 3;
/// The bytes of the chains of the one-time keys that are computed together: of four with n = 32, of five with n = 24.
#[cfg(feature = "alloc")]
const TOGETHER: usize = 4 * 67 * 32;
/// The largest digit of base w.
pub(super) const LAST_STEP: u8 = 15;

/// A tree of a key: its layer, and its number in the layer.
#[derive(Clone, Copy)]
pub(super) struct Tree<'a> {
    pub hash: &'a Hash,
    pub layer: u32,
    pub tree: u64,
}

/// The digits of a digest and of its checksum, one for each chain: RFC 8391, Algorithm 1 (base_w) and Algorithm 5, with w = 16 and
/// len_2 = 3.
pub(super) struct Digits<'d> {
    digest: &'d [u8],
    /// toByte(csum << 4, 2).
    checksum: [u8; 2],
}

impl<'d> Digits<'d> {
    pub(super) fn new(digest: &'d [u8]) -> Self {
        let sum: u16 = digest.iter().map(|byte| u16::from(2 * LAST_STEP - (byte >> 4) - (byte & 15))).sum();
        Self { digest, checksum: (sum << 4).to_be_bytes() }
    }

    /// The digit of a chain.
    pub(super) fn at(&self, chain: usize) -> u8 {
        let place = chain >> 1;
        let byte = match self.digest.get(place) {
            Some(byte) => *byte,
            None => self.checksum[place - self.digest.len()],
        };
        if chain & 1 == 0 { byte >> 4 } else { byte & 15 }
    }
}

impl Tree<'_> {
    fn chain(&self, leaf: u32, chain: usize, step: u8) -> Address {
        Address::chain(self.layer, self.tree, leaf, chain as u32, step.into())
    }

    /// Takes steps of all chains of a one-time key: `steps` gives those of a chain, and `values` the values before the first.
    fn run_chains(&self, leaf: u32, steps: impl Fn(usize) -> Range<u8>, values: &mut [u8]) {
        let mut order = [0; MAX_CHAINS];
        let all = (0..self.hash.params.chains()).map(|chain| (chain as u16, steps(chain).len()));
        let jobs = longest_first::<16>(all, &mut order).iter().map(|chain| {
            let (chain, steps) = (usize::from(*chain), steps((*chain).into()));
            (chain, self.chain(leaf, chain, steps.start), steps.len() as u32)
        });
        self.hash.chains(jobs, values);
    }

    /// The address of a node above the leaves. RFC 8391 counts heights from the children on, so theirs is one less.
    fn node(&self, level: u32, number: u32) -> Address {
        Address::node(self.layer, self.tree, level - 1, number)
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
    pub(super) fn root_of(&self, leaf: u32, digits: &Digits<'_>, chains: &[u8], path: &[u8]) -> [u8; MAX_N] {
        let n = self.hash.params.n;
        let mut values = [0; MAX_CHAINS * MAX_N];
        let values = &mut values[..chains.len()];
        values.copy_from_slice(chains);
        self.run_chains(leaf, |chain| digits.at(chain)..LAST_STEP, values);
        self.l_trees(leaf, 1, values);
        let mut root = [0; MAX_N];
        root[..n].copy_from_slice(&values[..n]);
        let steps = (1..)
            .zip(path.chunks_exact(n))
            .map(|(level, sibling)| (self.node(level, leaf >> level), sibling, leaf >> (level - 1) & 1 == 1));
        self.hash.climb(&mut root[..n], steps);
        root
    }
}

/// A tree and S_XMSS, of which its one-time keys are derived; in the sets of SP 800-208.
#[cfg(feature = "alloc")]
pub(super) struct Seeded<'a> {
    pub tree: Tree<'a>,
    pub secret: &'a [u8],
}

#[cfg(feature = "alloc")]
impl Seeded<'_> {
    /// The first address of every chain of `count` one-time keys from `first` on.
    fn addresses(&self, first: u32, count: u32) -> impl Iterator<Item = Address> {
        let chains = self.tree.hash.params.chains();
        (first..first + count)
            .flat_map(move |leaf| (0..chains).map(move |chain| self.tree.chain(leaf, chain, 0)))
    }

    /// Signs digits with the one-time key of a leaf: RFC 8391, Algorithm 5 (WOTS_sign).
    pub(super) fn sign(&self, leaf: u32, digits: &Digits<'_>, signature: &mut [u8]) {
        let Tree { hash, .. } = self.tree;
        hash.secrets(self.secret, hash.params.chains(), self.addresses(leaf, 1), signature);
        self.tree.run_chains(leaf, |chain| 0..digits.at(chain), signature);
    }
}

#[cfg(feature = "alloc")]
impl merkle::Tree for Seeded<'_> {
    fn node_len(&self) -> usize {
        self.tree.hash.params.n
    }

    fn height(&self) -> u32 {
        self.tree.hash.params.height
    }

    /// RFC 8391, Algorithm 9 (treeHash), lines 4 to 7, with the one-time keys of SP 800-208, §6.2.
    fn leaves(&self, first: u32, count: usize, nodes: &mut [u8]) {
        let Tree { hash, .. } = self.tree;
        let (n, chains) = (hash.params.n, hash.params.chains());
        let together = if n == 24 { 5 } else { 4 };
        let mut values = Secret::new([0; TOGETHER]);
        let values = values.expose_mut();
        for done in (0..count).step_by(together) {
            let (leaf, keys) = (first + done as u32, together.min(count - done));
            let addresses = || self.addresses(leaf, keys as u32);
            hash.secrets(self.secret, keys * chains, addresses(), values);
            let jobs = addresses().enumerate();
            hash.chains(jobs.map(|(place, address)| (place, address, LAST_STEP.into())), values);
            self.tree.l_trees(leaf, keys, values);
            nodes[done * n..][..keys * n].copy_from_slice(&values[..keys * n]);
        }
    }

    fn parents(&self, level: u32, first: u32, count: usize, nodes: &mut [u8]) {
        let jobs = (0..count).map(|i| (self.tree.node(level, first + i as u32), 2 * i, i));
        self.tree.hash.pairs(jobs, nodes);
    }
}
