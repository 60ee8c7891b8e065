//! FIPS 205, §8: FORS.

use super::address::{Address, Kind};
use super::hash::Hash;
use super::params::{MAX_K, MAX_N, Params};
use super::trees::Tree;
use super::wots::base_2b;

impl Hash<'_> {
    /// The leaf of each tree that a digest selects, numbered through all trees: FIPS 205, Algorithm 4 (base_2b).
    pub(super) fn indices(&self, digest: &[u8]) -> [u32; MAX_K] {
        let a = self.params.a as u32;
        let mut indices = [0; MAX_K];
        for ((number, place), index) in (0..).zip(&mut indices[..self.params.k]).zip(base_2b(digest, a)) {
            *place = (number << a) + index;
        }
        indices
    }

    /// Signs a digest, and returns the FORS key.
    ///
    /// FIPS 205, Algorithm 16 (fors_sign) and the result of Algorithm 17 (fors_pkFromSig).
    pub(super) fn sign_with_fors(
        &self,
        sk_seed: &[u8],
        digest: &[u8],
        (tree, leaf): (u64, u32),
        signature: &mut [u8],
    ) -> [u8; MAX_N] {
        let Params { n, a, k, .. } = *self.params;
        let address = Address::new(0, tree, Kind::ForsTree, [0; 3]);
        let mut key = self.messages(1, || address.with(Kind::ForsRoots, [leaf, 0, 0]));
        for (number, index) in self.indices(digest)[..k].iter().enumerate() {
            let signature = &mut signature[number * (a + 1) * n..][..(a + 1) * n];
            let (secret, path) = signature.split_at_mut(n);
            let mut leaves = |first: u32, count: usize, nodes: &mut [u8]| {
                let numbered = |kind| {
                    let mut next = first;
                    move || {
                        next += 1;
                        address.with(kind, [leaf, 0, next - 1])
                    }
                };
                self.prf(sk_seed, count, numbered(Kind::ForsPrf), nodes);
                let place = index.wrapping_sub(first) as usize;
                if place < count {
                    secret.copy_from_slice(&nodes[place * n..][..n]);
                }
                self.f(count, numbered(Kind::ForsTree), nodes);
            };
            let mut take = |level: u32, number: u32, node: &[u8]| {
                if index >> level ^ 1 == number {
                    path[level as usize * n..][..n].copy_from_slice(node);
                }
            };
            let tree = Tree {
                address,
                nodes: (Kind::ForsTree, leaf),
                height: a as u32,
                first: (number as u32) << a,
            };
            let root = self.root_of_tree(tree, &mut leaves, &mut take);
            key.update(|_| &root[..n]);
        }
        let mut out = [0; MAX_N];
        key.finish(n, &mut out);
        out
    }
}
