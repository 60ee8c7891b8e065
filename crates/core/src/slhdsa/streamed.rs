//! FIPS 205, §5 to §8: verification of a signature that is read piece by piece, one hash after the other.
//!
//! The text in `trees` hashes side by side, and has all of FORS or all chains in memory (decision 50).

use super::address::{Address, Kind};
use super::hash::Hash;
use super::params::MAX_N;
use super::trees::digits;
use crate::streamed::Read;

impl Hash<'_> {
    /// The FORS key that a signature leads to: FIPS 205, Algorithm 17 (fors_pkFromSig).
    #[inline(never)]
    pub(super) fn key_of_streamed_fors<E>(
        &self,
        digest: &[u8],
        (tree, leaf): (u64, u32),
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        let (n, a) = (self.params.n, self.params.a as u32);
        let address = Address::new(0, tree, Kind::ForsTree, [leaf, 0, 0]);
        let mut result = Ok(());
        let key = self.long_of(address.with(Kind::ForsRoots, [leaf, 0, 0]), &mut |take| {
            for (number, index) in (0..).zip(self.indices(digest)) {
                match self.root_of_fors_tree(address, (number << a) + index, read) {
                    Ok(root) => take(&root[..n]),
                    Err(error) => {
                        result = Err(error);
                        return;
                    }
                }
            }
        });
        result.map(|()| key)
    }

    #[inline(never)]
    fn root_of_fors_tree<E>(
        &self,
        address: Address,
        index: u32,
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        let n = self.params.n;
        let mut secret = [0; MAX_N];
        read(&mut secret[..n])?;
        let leaf = self.short_of(address.with_place(0, index), &mut |take| take(&secret[..n]));
        self.root_of_path(address, leaf, index, self.params.a as u32, read)
    }

    /// The root that a signature of the hypertree leads to: FIPS 205, Algorithm 13 (ht_verify).
    #[inline(never)]
    pub(super) fn root_of_streamed_hypertree<E>(
        &self,
        mut node: [u8; MAX_N],
        (mut tree, mut leaf): (u64, u32),
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        let height = self.params.tree_height() as u32;
        for layer in 0..self.params.d as u32 {
            let address = Address::new(layer, tree, Kind::Tree, [0; 3]);
            node = self.one_time_key(address, leaf, &node, read)?;
            // FIPS 205, Algorithm 11 (xmss_pkFromSig).
            node = self.root_of_path(address, node, leaf, height, read)?;
            leaf = (tree & ((1 << height) - 1)) as u32;
            tree >>= height;
        }
        Ok(node)
    }

    /// The one-time key that a signature leads to: FIPS 205, Algorithm 8 (wots_pkFromSig).
    #[inline(never)]
    fn one_time_key<E>(
        &self,
        address: Address,
        leaf: u32,
        message: &[u8; MAX_N],
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        let n = self.params.n;
        let digits = digits(&message[..n]);
        let mut result = Ok(());
        let key = self.long_of(address.with(Kind::WotsPk, [leaf, 0, 0]), &mut |take| {
            for (chain, digit) in (0..self.params.chains() as u32).zip(digits) {
                let mut value = [0; MAX_N];
                let value = &mut value[..n];
                result = read(value);
                if result.is_err() {
                    return;
                }
                let start = u32::from(digit);
                let place = address.with(Kind::WotsHash, [leaf, chain, start]);
                self.chains(1, || (place, 15 - start), value);
                take(value);
            }
        });
        result.map(|()| key)
    }

    /// The root that a node and the siblings on its path lead to.
    #[inline(never)]
    fn root_of_path<E>(
        &self,
        address: Address,
        mut node: [u8; MAX_N],
        mut number: u32,
        height: u32,
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        let n = self.params.n;
        for level in 1..=height {
            let mut sibling = [0; MAX_N];
            read(&mut sibling[..n])?;
            let mut pair = [&node[..n], &sibling[..n]];
            if number & 1 == 1 {
                pair.reverse();
            }
            number >>= 1;
            node = self.long_of(address.with_place(level, number), &mut |take| {
                pair.iter().for_each(|node| take(node));
            });
        }
        Ok(node)
    }
}
