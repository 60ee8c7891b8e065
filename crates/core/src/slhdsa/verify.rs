//! FIPS 205, §5 to §8: verification, of many signatures by one key side by side.

use super::address::{Address, Kind};
use super::hash::Hash;
use super::params::{MAX_CHAINS, MAX_K, MAX_N, Params};
use crate::many::longest_first;

/// The most signatures that are verified side by side.
pub(super) const TOGETHER: usize = if cfg!(feature = "alloc") { 8 } else { 1 };

/// A signature under verification.
#[derive(Clone, Copy)]
pub(super) struct Claim<'s> {
    /// The leaves of FORS that sign.
    pub indices: [u32; MAX_K],
    /// The tree of the hypertree's lowest layer and its leaf, then those of the layers above.
    pub place: (u64, u32),
    pub fors: &'s [u8],
    pub hypertree: &'s [u8],
    /// The node that the signature leads to: the FORS key, then the root of each layer.
    pub node: [u8; MAX_N],
}

impl Hash<'_> {
    /// The root that each signature leads to, in its claim, of at most [`TOGETHER`]. `nodes` has [`Params::verification_len`] bytes for each.
    pub(super) fn roots(&self, claims: &mut [Claim<'_>], nodes: &mut [u8]) {
        self.fors_keys(claims, nodes);
        for layer in 0..self.params.d {
            self.roots_of_layer(layer, claims, nodes);
        }
    }

    /// FIPS 205, Algorithm 17 (fors_pkFromSig). All trees go side by side.
    fn fors_keys(&self, claims: &mut [Claim<'_>], nodes: &mut [u8]) {
        let Params { n, a, k, .. } = *self.params;
        let count = claims.len() * k;
        for (c, claim) in claims.iter().enumerate() {
            for tree in 0..k {
                let secret = &claim.fors[tree * (a + 1) * n..][..n];
                nodes[(c * k + tree) * n..][..n].copy_from_slice(secret);
            }
        }
        let each = || claims.iter().flat_map(|claim| (0..k).map(move |tree| (claim, tree)));
        let address = |level: usize, (claim, tree): (&Claim<'_>, usize)| {
            let (number, leaf) = claim.place;
            let words = [leaf, level as u32, claim.indices[tree] >> level];
            Address::new(0, number, Kind::ForsTree, words)
        };
        let mut trees = each().enumerate();
        self.chains(|| trees.next().map(|(i, tree)| (i, address(0, tree), 1)), nodes);
        for level in 0..a {
            let mut trees = each();
            self.pair(count, nodes, || {
                let (claim, tree) = trees.next().expect("a tree each");
                let sibling = &claim.fors[(tree * (a + 1) + level + 1) * n..][..n];
                (sibling, claim.indices[tree] >> level & 1 == 1)
            });
            let mut trees = each();
            self.long(count, || address(level + 1, trees.next().expect("a tree each")), 2 * n, nodes);
        }
        let mut keys = claims.iter().map(|claim| {
            let (tree, leaf) = claim.place;
            Address::new(0, tree, Kind::ForsRoots, [leaf, 0, 0])
        });
        self.long(claims.len(), || keys.next().expect("a key each"), k * n, nodes);
        for (claim, i) in claims.iter_mut().zip(0..) {
            claim.node[..n].copy_from_slice(&nodes[i * n..][..n]);
        }
    }

    /// The roots of a layer: FIPS 205, Algorithm 13 (ht_verify), lines 4 to 9.
    fn roots_of_layer(&self, layer: usize, claims: &mut [Claim<'_>], nodes: &mut [u8]) {
        let Params { n, height, .. } = *self.params;
        let (chains, last) = (self.params.chains(), self.params.last_step());
        let part = |claim: &Claim<'_>| layer * self.params.xmss_len()..claim.hypertree.len();
        for (i, claim) in claims.iter().enumerate() {
            let one_time = &claim.hypertree[part(claim)][..chains * n];
            nodes[i * chains * n..][..chains * n].copy_from_slice(one_time);
        }
        let address = |claim: &Claim<'_>, kind, words| Address::new(layer as u32, claim.place.0, kind, words);
        // FIPS 205, Algorithm 8 (wots_pkFromSig).
        let mut digits = [[0; MAX_CHAINS]; TOGETHER];
        for (digits, claim) in digits.iter_mut().zip(&*claims) {
            *digits = self.digits(&claim.node[..n]);
        }
        // The claim in the upper byte, the chain in the lower.
        let all = digits[..claims.len()].iter().enumerate().flat_map(|(i, digits)| {
            let steps = digits[..chains].iter().map(move |digit| last as usize - usize::from(*digit));
            (0..).zip(steps).map(move |(chain, steps)| ((i as u16) << 8 | chain, steps))
        });
        let mut order = [0; TOGETHER * MAX_CHAINS];
        let mut order = longest_first::<16>(all, &mut order).iter().map(|place| {
            let (i, chain) = (usize::from(place >> 8), usize::from(place & 255));
            let start = u32::from(digits[i][chain]);
            let words = [claims[i].place.1, chain as u32, start];
            (i * chains + chain, address(&claims[i], Kind::WotsHash, words), last - start)
        });
        self.chains(|| order.next(), nodes);
        let mut keys = claims.iter().map(|claim| address(claim, Kind::WotsPk, [claim.place.1, 0, 0]));
        self.long(claims.len(), || keys.next().expect("a key each"), chains * n, nodes);
        // FIPS 205, Algorithm 11 (xmss_pkFromSig).
        for level in 0..height {
            let mut each = claims.iter();
            self.pair(claims.len(), nodes, || {
                let claim = each.next().expect("a claim each");
                let sibling = &claim.hypertree[part(claim)][(chains + level) * n..][..n];
                (sibling, claim.place.1 >> level & 1 == 1)
            });
            let mut above = claims.iter().map(|claim| {
                let words = [0, level as u32 + 1, claim.place.1 >> (level + 1)];
                address(claim, Kind::Tree, words)
            });
            self.long(claims.len(), || above.next().expect("a node each"), 2 * n, nodes);
        }
        for (claim, i) in claims.iter_mut().zip(0..) {
            claim.node[..n].copy_from_slice(&nodes[i * n..][..n]);
            claim.place = self.params.above(claim.place.0);
        }
    }

    /// Puts a sibling beside each node, to the left of it if that is a right one.
    fn pair<'s>(&self, count: usize, nodes: &mut [u8], mut sibling: impl FnMut() -> (&'s [u8], bool)) {
        let n = self.params.n;
        // Backwards, for pairs take the room of two nodes.
        for i in (0..count).rev() {
            nodes.copy_within(i * n..(i + 1) * n, 2 * i * n);
        }
        for i in 0..count {
            let (sibling, is_right) = sibling();
            let pair = &mut nodes[2 * i * n..][..2 * n];
            if is_right {
                pair.copy_within(..n, n);
            }
            pair[if is_right { 0 } else { n }..][..n].copy_from_slice(sibling);
        }
    }
}
