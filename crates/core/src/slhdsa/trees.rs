//! FIPS 205, §6 and §7: XMSS trees and the hypertree.

use super::address::{Address, Kind};
use super::hash::Hash;
use super::params::{MAX_HEIGHT, MAX_N};
use super::wots::Signed;
use crate::secret::{Secret, declassify};

/// The most bytes of leaves that stand in memory together.
const TOGETHER: usize = 4096;
/// The least number of levels whose leaves take this number of bytes.
const LEVELS: u32 = 7;

/// A tree of hashes.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    pub address: Address,
    /// The type of its nodes' addresses and their first word.
    pub nodes: (Kind, u32),
    pub height: u32,
    /// The number of its first leaf.
    pub first: u32,
}

impl Hash<'_> {
    /// The root of a tree. `leaves` makes as many leaves as there is memory for, from a number on; `take` receives the level, the number and
    /// the bytes of each node below the root.
    pub(super) fn root_of_tree(
        &self,
        tree: Tree,
        leaves: &mut dyn FnMut(u32, usize, &mut [u8]),
        take: &mut dyn FnMut(u32, u32, &[u8]),
    ) -> [u8; MAX_N] {
        let n = self.params.n;
        // Nodes of 16 bytes leave room for one more level.
        let levels = tree.height.min(LEVELS + u32::from(n == 16));
        let mut nodes = Secret::new([0; TOGETHER]);
        let nodes = &mut nodes.expose_mut()[..n << levels];
        // A node of each level above those that waits for the node to its right.
        let mut waiting = [[0; MAX_N]; MAX_HEIGHT - LEVELS as usize];
        let mut pair = [0; 2 * MAX_N];
        for part in 0..1_u32 << (tree.height - levels) {
            let first = tree.first + (part << levels);
            leaves(first, 1 << levels, nodes);
            self.reduce(tree, first, levels, nodes, take);
            pair[..n].copy_from_slice(&nodes[..n]);
            // FIPS 205, Algorithm 9 (xmss_node), from the leaves up: the right node of a pair meets the left one.
            let (mut level, mut number) = (levels, part);
            while level < tree.height {
                take(level, (tree.first >> level) + number, &pair[..n]);
                let left = &mut waiting[(level - levels) as usize][..n];
                if number & 1 == 0 {
                    left.copy_from_slice(&pair[..n]);
                    break;
                }
                pair.copy_within(..n, n);
                pair[..n].copy_from_slice(left);
                (level, number) = (level + 1, number >> 1);
                self.join(tree, level, (tree.first >> level) + number, 1, &mut pair);
            }
        }
        let mut root = [0; MAX_N];
        root[..n].copy_from_slice(&pair[..n]);
        root
    }

    /// Reduces leaves by a number of levels, in place; `first` is the number of the first leaf.
    fn reduce(
        &self,
        tree: Tree,
        first: u32,
        levels: u32,
        nodes: &mut [u8],
        take: &mut dyn FnMut(u32, u32, &[u8]),
    ) {
        let n = self.params.n;
        for level in 0..levels {
            let count = 1 << (levels - level);
            for i in 0..count {
                take(level, (first >> level) + i as u32, &nodes[i * n..][..n]);
            }
            self.join(tree, level + 1, first >> (level + 1), count >> 1, nodes);
        }
    }

    /// Nodes of a level, from this number on, of the pairs below them, in place.
    fn join(&self, tree: Tree, level: u32, number: u32, count: usize, pairs: &mut [u8]) {
        let mut next = number;
        let address = || {
            next += 1;
            tree.address.with(tree.nodes.0, [tree.nodes.1, level, next - 1])
        };
        self.long(count, address, 2 * self.params.n, pairs);
    }

    /// The XMSS tree of this number on a layer.
    fn xmss_tree(&self, layer: u32, tree: u64) -> Tree {
        Tree {
            address: Address::new(layer, tree, Kind::Tree, [0; 3]),
            nodes: (Kind::Tree, 0),
            height: self.params.height as u32,
            first: 0,
        }
    }

    /// The root of the highest tree; `take` receives its other nodes.
    ///
    /// FIPS 205, Algorithm 9 (xmss_node).
    pub(super) fn top_tree(&self, sk_seed: &[u8], take: &mut dyn FnMut(u32, u32, &[u8])) -> [u8; MAX_N] {
        let tree = self.xmss_tree(self.params.d as u32 - 1, 0);
        let mut leaves = |first, count, nodes: &mut [u8]| {
            self.one_time_keys(sk_seed, tree.address, (first, count), nodes, None);
        };
        self.root_of_tree(tree, &mut leaves, take)
    }

    /// Signs with a leaf of a tree, whose root it returns: FIPS 205, Algorithm 10 (xmss_sign).
    fn sign_with_tree(
        &self,
        sk_seed: &[u8],
        tree: Tree,
        (leaf, message): (u32, &[u8]),
        signature: &mut [u8],
    ) -> [u8; MAX_N] {
        let n = self.params.n;
        let (one_time, path) = signature.split_at_mut(self.params.chains() * n);
        let mut signed = Signed { leaf, message, signature: one_time };
        let mut leaves = |first: u32, count: usize, nodes: &mut [u8]| {
            let signed = (first..first + count as u32).contains(&leaf).then_some(&mut signed);
            self.one_time_keys(sk_seed, tree.address, (first, count), nodes, signed);
        };
        let mut take = |level: u32, number: u32, node: &[u8]| {
            if leaf >> level ^ 1 == number {
                path[level as usize * n..][..n].copy_from_slice(node);
            }
        };
        self.root_of_tree(tree, &mut leaves, &mut take)
    }

    /// Signs a FORS key with the hypertree, of whose highest tree the nodes may be known: FIPS 205, Algorithm 12 (ht_sign).
    pub(super) fn sign_with_hypertree(
        &self,
        sk_seed: &[u8],
        top: Option<&[u8]>,
        message: &[u8],
        (mut tree, mut leaf): (u64, u32),
        signature: &mut [u8],
    ) {
        let (n, len) = (self.params.n, self.params.xmss_len());
        let mut node = [0; MAX_N];
        node[..n].copy_from_slice(message);
        for layer in 0..self.params.d {
            let signature = &mut signature[layer * len..][..len];
            let xmss = self.xmss_tree(layer as u32, tree);
            match top {
                #[cfg(feature = "alloc")]
                Some(top) if layer + 1 == self.params.d => {
                    let (one_time, path) = signature.split_at_mut(self.params.chains() * n);
                    let signed = Signed { leaf, message: &node[..n], signature: one_time };
                    self.one_time_signature(sk_seed, xmss.address, signed);
                    for level in 0..xmss.height {
                        let place = self.params.place_in_top(level, leaf >> level ^ 1);
                        path[level as usize * n..][..n].copy_from_slice(&top[place..][..n]);
                    }
                }
                _ => node = self.sign_with_tree(sk_seed, xmss, (leaf, &node[..n]), signature),
            }
            // public: it follows from the signature
            declassify(&node);
            (tree, leaf) = self.params.above(tree);
        }
    }
}
