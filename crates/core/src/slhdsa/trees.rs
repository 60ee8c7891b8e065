//! FIPS 205, §5 to §8: one-time signatures, XMSS trees, the hypertree and FORS, many hashes at once.

use super::address::{Address, Kind};
use super::hash::Hash;
use super::params::{MAX_N, Params};
use crate::many::Input;
use crate::secret::{Secret, declassify, wipe};

/// The most levels of a tree whose leaves stand in memory together.
const LEVELS: u32 = 8;
/// The most trees of such height that one of a set has: FORS of the sets with 2^14 leaves.
const PARTS: usize = 1 << (14 - LEVELS);
/// The most chains of a one-time signature.
const MAX_CHAINS: usize = 2 * MAX_N + 3;
/// The key pairs of one-time signatures that are made together.
const TOGETHER: usize = 8;

/// Digits of four bits of a message, then of their checksum: FIPS 205, Algorithm 7 (wots_sign), lines 1 to 7.
fn digits(message: &[u8]) -> [u8; MAX_CHAINS] {
    let mut digits = [0; MAX_CHAINS];
    let (of_message, rest) = digits.split_at_mut(2 * message.len());
    for (digits, byte) in of_message.as_chunks_mut().0.iter_mut().zip(message) {
        *digits = [byte >> 4, byte & 15];
    }
    let checksum = of_message.iter().map(|digit| 15 - u16::from(*digit)).sum::<u16>();
    rest[..3].copy_from_slice(&[(checksum >> 8) as u8, (checksum >> 4) as u8 & 15, checksum as u8 & 15]);
    digits
}

/// Numbers of a chain and of its key pair, one after the other.
struct Numbers {
    chains: u32,
    pair: u32,
    chain: u32,
}

impl Numbers {
    const fn new(params: &Params, first: u32) -> Self {
        Self { chains: params.chains() as u32, pair: first, chain: 0 }
    }

    fn next(&mut self) -> (u32, u32) {
        let (pair, chain) = (self.pair, self.chain);
        self.chain += 1;
        if self.chain == self.chains {
            (self.pair, self.chain) = (self.pair + 1, 0);
        }
        (pair, chain)
    }
}

/// The leaf that signs in a tree, and what it signs; its one-time signature is written to `signature`.
pub(super) struct Signed<'m, 's> {
    pub leaf: u32,
    pub message: &'m [u8],
    pub signature: &'s mut [u8],
}

impl Hash<'_> {
    /// The public keys of `count` one-time key pairs of a tree, n bytes each, to `nodes`.
    ///
    /// FIPS 205, Algorithm 6 (wots_pkGen) and, for the pair that signs, Algorithm 7 (wots_sign).
    fn one_time_keys(
        &self,
        sk_seed: &[u8],
        tree: Address,
        first: u32,
        nodes: &mut [u8],
        signed: &mut Option<Signed<'_, '_>>,
    ) {
        let (n, chains) = (self.params.n, self.params.chains());
        let mut values = Secret::new([0; TOGETHER * MAX_CHAINS * MAX_N]);
        for (pairs, nodes) in (first..).step_by(TOGETHER).zip(nodes.chunks_mut(TOGETHER * n)) {
            let count = nodes.chunks_exact(n).count();
            let values = &mut values.expose_mut()[..count * chains * n];
            let mut numbers = Numbers::new(self.params, pairs);
            let prf = || {
                let (pair, chain) = numbers.next();
                tree.with(Kind::WotsPrf, [pair, chain, 0])
            };
            self.short(count * chains, prf, Input::Common(sk_seed), values);

            let mut start = [0; MAX_CHAINS];
            let signing =
                signed.as_mut().filter(|signed| (pairs..pairs + count as u32).contains(&signed.leaf));
            let leaf = signing.as_ref().map(|signed| signed.leaf);
            if let Some(signed) = signing {
                start = digits(signed.message);
                let mut steps = start.iter();
                let mut numbers = Numbers::new(self.params, signed.leaf);
                let secret = &mut values[(signed.leaf - pairs) as usize * chains * n..][..chains * n];
                let address = || {
                    let (pair, chain) = numbers.next();
                    let steps = steps.next().map_or(0, |digit| u32::from(*digit));
                    (tree.with(Kind::WotsHash, [pair, chain, 0]), steps)
                };
                self.chains(chains, address, secret);
                signed.signature.copy_from_slice(secret);
            }
            let mut numbers = Numbers::new(self.params, pairs);
            let address = || {
                let (pair, chain) = numbers.next();
                let start = if Some(pair) == leaf { u32::from(start[chain as usize]) } else { 0 };
                (tree.with(Kind::WotsHash, [pair, chain, start]), 15 - start)
            };
            self.chains(count * chains, address, values);
            let mut pair = pairs;
            let compressed = || {
                pair += 1;
                tree.with(Kind::WotsPk, [pair - 1, 0, 0])
            };
            self.long(count, compressed, chains * n, values);
            nodes.copy_from_slice(&values[..count * n]);
        }
    }

    /// Reduces nodes of a level by so many levels, in place; the first has this number on its level. A sibling of an ancestor of `leaf`
    /// goes to its place in `path`.
    fn reduce(
        &self,
        tree: Address,
        kind: (Kind, u32),
        (below, mut first): (u32, u32),
        levels: u32,
        nodes: &mut [u8],
        mut take: impl FnMut(u32, u32, &[u8]),
    ) {
        let n = self.params.n;
        let mut count = nodes.chunks_exact(n).count();
        for level in below..below + levels {
            for (number, node) in (first..).zip(nodes[..count * n].chunks_exact(n)) {
                take(level, number, node);
            }
            count >>= 1;
            first >>= 1;
            let mut number = first;
            let address = || {
                number += 1;
                tree.with(kind.0, [kind.1, level + 1, number - 1])
            };
            self.long(count, address, 2 * n, nodes);
        }
    }

    /// The root of a tree of one-time keys; with the leaf that signs, its signature and path.
    ///
    /// FIPS 205, Algorithm 9 (xmss_node) and Algorithm 10 (xmss_sign).
    pub(super) fn xmss_tree(
        &self,
        sk_seed: &[u8],
        (layer, tree): (u32, u64),
        mut signed: Option<Signed<'_, '_>>,
        path: &mut [u8],
    ) -> [u8; MAX_N] {
        let n = self.params.n;
        let height = self.params.tree_height() as u32;
        let address = Address::new(layer, tree, Kind::Tree, [0; 3]);
        let leaf = signed.as_ref().map(|signed| signed.leaf);
        let mut take = |level: u32, number: u32, node: &[u8]| {
            if leaf.is_some_and(|leaf| leaf >> level ^ 1 == number) {
                path[level as usize * n..][..n].copy_from_slice(node);
            }
        };
        let levels = height.min(LEVELS);
        let mut nodes = [0; MAX_N << LEVELS];
        let nodes = &mut nodes[..n << levels];
        let mut roots = [0; MAX_N * PARTS];
        let roots = &mut roots[..n << (height - levels)];
        for (part, root) in (0..).zip(roots.chunks_exact_mut(n)) {
            self.one_time_keys(sk_seed, address, part << levels, nodes, &mut signed);
            self.reduce(address, (Kind::Tree, 0), (0, part << levels), levels, nodes, &mut take);
            root.copy_from_slice(&nodes[..n]);
        }
        self.reduce(address, (Kind::Tree, 0), (levels, 0), height - levels, roots, &mut take);
        let mut root = [0; MAX_N];
        root[..n].copy_from_slice(&roots[..n]);
        root
    }

    /// Signs a FORS key with the hypertree: FIPS 205, Algorithm 12 (ht_sign).
    pub(super) fn sign_with_hypertree(
        &self,
        sk_seed: &[u8],
        message: &[u8],
        (mut tree, mut leaf): (u64, u32),
        signature: &mut [u8],
    ) {
        let (n, height) = (self.params.n, self.params.tree_height());
        let mut node = [0; MAX_N];
        node[..n].copy_from_slice(message);
        for (layer, signature) in (0..).zip(signature.chunks_exact_mut(self.params.xmss_len())) {
            let (one_time, path) = signature.split_at_mut(self.params.chains() * n);
            let signed = Signed { leaf, message: &node[..n], signature: one_time };
            node = self.xmss_tree(sk_seed, (layer, tree), Some(signed), path);
            // public: it follows from the signature
            declassify(&node);
            leaf = (tree & ((1 << height) - 1)) as u32;
            tree >>= height;
        }
    }

    /// The root that a signature of the hypertree leads to: FIPS 205, Algorithm 13 (ht_verify).
    pub(super) fn root_of_hypertree(
        &self,
        message: &[u8],
        (mut tree, mut leaf): (u64, u32),
        signature: &[u8],
    ) -> [u8; MAX_N] {
        let (n, chains, height) = (self.params.n, self.params.chains(), self.params.tree_height());
        let mut node = [0; MAX_N];
        node[..n].copy_from_slice(message);
        let mut values = [0; MAX_CHAINS * MAX_N];
        let values = &mut values[..chains * n];
        for (layer, signature) in (0..).zip(signature.chunks_exact(self.params.xmss_len())) {
            let address = Address::new(layer, tree, Kind::Tree, [0; 3]);
            let (one_time, path) = signature.split_at(chains * n);
            // FIPS 205, Algorithm 8 (wots_pkFromSig).
            values.copy_from_slice(one_time);
            let digits = digits(&node[..n]);
            let mut numbers = Numbers::new(self.params, leaf);
            let step = || {
                let (pair, chain) = numbers.next();
                let start = u32::from(digits[chain as usize]);
                (address.with(Kind::WotsHash, [pair, chain, start]), 15 - start)
            };
            self.chains(chains, step, values);
            self.long(1, || address.with(Kind::WotsPk, [leaf, 0, 0]), chains * n, values);
            // FIPS 205, Algorithm 11 (xmss_pkFromSig).
            let mut pair = [0; 2 * MAX_N];
            pair[..n].copy_from_slice(&values[..n]);
            for (level, sibling) in (0..).zip(path.chunks_exact(n)) {
                self.join(&mut pair, sibling, leaf >> level & 1 == 1);
                let above = address.with(Kind::Tree, [0, level + 1, leaf >> (level + 1)]);
                self.long(1, || above, 2 * n, &mut pair);
            }
            node[..n].copy_from_slice(&pair[..n]);
            leaf = (tree & ((1 << height) - 1)) as u32;
            tree >>= height;
        }
        node
    }

    /// Puts the sibling beside the node, with which `pair` begins.
    fn join(&self, pair: &mut [u8], sibling: &[u8], is_right: bool) {
        let n = self.params.n;
        if is_right {
            pair.copy_within(..n, n);
            pair[..n].copy_from_slice(sibling);
        } else {
            pair[n..2 * n].copy_from_slice(sibling);
        }
    }

    /// The index of each FORS tree: FIPS 205, Algorithm 4 (base_2b).
    fn indices<'d>(&self, digest: &'d [u8]) -> impl Iterator<Item = u32> + use<'d> {
        let a = self.params.a;
        (0..self.params.k).map(move |tree| {
            let bits = tree * a..(tree + 1) * a;
            bits.fold(0, |index, bit| index << 1 | u32::from(digest[bit >> 3] >> (7 - (bit & 7)) & 1))
        })
    }

    /// The FORS key of a digest, and its signature.
    ///
    /// FIPS 205, Algorithm 16 (fors_sign) and what Algorithm 17 (fors_pkFromSig) makes of it.
    pub(super) fn sign_with_fors(
        &self,
        sk_seed: &[u8],
        digest: &[u8],
        (tree, leaf): (u64, u32),
        signature: &mut [u8],
    ) -> [u8; MAX_N] {
        let Params { n, a, k, .. } = *self.params;
        let address = Address::new(0, tree, Kind::ForsTree, [0; 3]);
        let mut roots = [0; 35 * MAX_N];
        let roots = &mut roots[..k * n];
        let levels = (a as u32).min(LEVELS);
        let mut nodes = Secret::new([0; MAX_N << LEVELS]);
        let nodes = &mut nodes.expose_mut()[..n << levels];
        let trees = signature.chunks_exact_mut((a + 1) * n).zip(roots.chunks_exact_mut(n));
        for ((number, index), (signature, root)) in (0_u32..).zip(self.indices(digest)).zip(trees) {
            let (secret, path) = signature.split_at_mut(n);
            let index = (number << a) + index;
            let mut take = |level: u32, number: u32, node: &[u8]| {
                if index >> level ^ 1 == number {
                    path[level as usize * n..][..n].copy_from_slice(node);
                }
            };
            let mut parts = [0; MAX_N * PARTS];
            let parts = &mut parts[..n << (a as u32 - levels)];
            for (first, part) in ((number << a)..).step_by(1 << levels).zip(parts.chunks_exact_mut(n)) {
                let numbered = |kind| {
                    let mut next = first;
                    move || {
                        next += 1;
                        address.with(kind, [leaf, 0, next - 1])
                    }
                };
                self.short(1 << levels, numbered(Kind::ForsPrf), Input::Common(sk_seed), nodes);
                if let Some(place) = index.checked_sub(first).filter(|place| *place < 1 << levels) {
                    secret.copy_from_slice(&nodes[place as usize * n..][..n]);
                }
                self.short(1 << levels, numbered(Kind::ForsTree), Input::InPlace(n), nodes);
                self.reduce(address, (Kind::ForsTree, leaf), (0, first), levels, nodes, &mut take);
                part.copy_from_slice(&nodes[..n]);
            }
            let above = (levels, (number << a) >> levels);
            self.reduce(address, (Kind::ForsTree, leaf), above, a as u32 - levels, parts, &mut take);
            root.copy_from_slice(&parts[..n]);
        }
        wipe(nodes);
        self.key_of_roots(address, leaf, roots)
    }

    /// The FORS key that a signature leads to: FIPS 205, Algorithm 17 (fors_pkFromSig). The trees go side by side.
    pub(super) fn key_of_fors(
        &self,
        digest: &[u8],
        (tree, leaf): (u64, u32),
        signature: &[u8],
    ) -> [u8; MAX_N] {
        let Params { n, a, k, .. } = *self.params;
        let address = Address::new(0, tree, Kind::ForsTree, [0; 3]);
        let mut pairs = [0; 35 * 2 * MAX_N];
        let pairs = &mut pairs[..k * 2 * n];
        let each = || signature.chunks_exact((a + 1) * n);
        for (node, signature) in pairs.chunks_exact_mut(n).zip(each()) {
            node.copy_from_slice(&signature[..n]);
        }
        let mut numbers = (0_u32..).zip(self.indices(digest)).map(|(number, index)| (number << a) + index);
        let leaves = || address.with(Kind::ForsTree, [leaf, 0, numbers.next().unwrap_or_default()]);
        self.short(k, leaves, Input::InPlace(n), pairs);
        for level in 0..a {
            // Backwards, for the pairs take the room of two nodes.
            for i in (0..k).rev() {
                pairs.copy_within(i * n..(i + 1) * n, 2 * i * n);
            }
            let indices = self.indices(digest).zip(each()).zip(pairs.chunks_exact_mut(2 * n));
            for ((index, signature), pair) in indices {
                self.join(pair, &signature[(level + 1) * n..][..n], index >> level & 1 == 1);
            }
            let mut numbers =
                (0_u32..).zip(self.indices(digest)).map(|(number, index)| (number << a) + index);
            let above = || {
                let number = numbers.next().unwrap_or_default() >> (level + 1);
                address.with(Kind::ForsTree, [leaf, level as u32 + 1, number])
            };
            self.long(k, above, 2 * n, pairs);
        }
        self.key_of_roots(address, leaf, &mut pairs[..k * n])
    }

    fn key_of_roots(&self, address: Address, leaf: u32, roots: &mut [u8]) -> [u8; MAX_N] {
        let n = self.params.n;
        let len = roots.len();
        self.long(1, || address.with(Kind::ForsRoots, [leaf, 0, 0]), len, roots);
        let mut key = [0; MAX_N];
        key[..n].copy_from_slice(&roots[..n]);
        key
    }
}
