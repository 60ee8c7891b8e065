//! RFC 8391, §3 and §4: verification of a signature that is read piece by piece, one hash after the other.
//!
//! The text that hashes side by side has all chains of a one-time signature in memory (decision 50).

use super::hash::{Address, Kind};
use super::keys::VerifyingKey;
use super::params::{MAX_N, Params};
use super::serial::Prf;
use super::tree::{Digits, LAST_STEP};
use crate::serial::Take;
use crate::streamed::{Read, StreamError};

/// The most subtrees of an L-tree that wait for their neighbours, and one chain more: 131 chains with n = 64.
const WAITING: usize = 8;
/// The nodes in the memory of a verification: the current one, a key, a mask, and those that wait.
const NODES: usize = 3 + WAITING;

impl VerifyingKey {
    /// Verifies a signature of a message in pieces. `read` fills its argument with the next bytes of the signature; bytes behind the signature are
    /// not read.
    ///
    /// It reads at most a node at a time: 24, 32 or 64 bytes.
    ///
    /// RFC 8391, Algorithm 14 (XMSS_verify) and Algorithm 17 (XMSSMT_verify).
    ///
    /// ```
    /// use gambeson::xmss::{ParameterSet, StreamError, VerifyingKey};
    ///
    /// # let (key, mut flash) = ([&[0, 0, 0, 1][..], &[0; 64]].concat(), &[0, 0, 0, 1, 0, 0, 0, 4][..]);
    /// let key = VerifyingKey::of_set(ParameterSet::SHA2_10_256, &key)?;
    /// let read = |piece: &mut [u8]| {
    ///     let (next, rest) = flash.split_at_checked(piece.len()).ok_or("end of the flash")?;
    ///     piece.copy_from_slice(next);
    ///     flash = rest;
    ///     Ok(())
    /// };
    /// let verified = key.verify_streamed(&[b"header", b"program"], read);
    /// assert_eq!(verified, Err(StreamError::Read("end of the flash")));
    /// # Ok::<(), gambeson::xmss::VerifyingKeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StreamError`].
    pub fn verify_streamed<E>(
        &self,
        message: &[&[u8]],
        mut read: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), StreamError<E>> {
        self.check(message, &mut read)
    }

    pub(super) fn check<E>(&self, message: &[&[u8]], read: &mut Read<'_, E>) -> Result<(), StreamError<E>> {
        if self.parameter_set().0.n <= 32 {
            self.check_with::<{ NODES * 32 }, E>(message, read)
        } else {
            self.check_with::<{ NODES * MAX_N }, E>(message, read)
        }
    }

    /// Verifies with nodes in the frame of this call, so that a short n does not take the stack of a long one.
    #[inline(never)]
    fn check_with<const MEMORY: usize, E>(
        &self,
        message: &[&[u8]],
        read: &mut Read<'_, E>,
    ) -> Result<(), StreamError<E>> {
        self.check_in(&mut [0; MEMORY], message, read)
    }

    #[inline(never)]
    fn check_in<E>(
        &self,
        memory: &mut [u8],
        message: &[&[u8]],
        read: &mut Read<'_, E>,
    ) -> Result<(), StreamError<E>> {
        let (params, seed) = (self.parameter_set().0, self.seed());
        let tree = Serial { params, prf: Prf::new(params.functions, padding(params, Kind::Prf), seed) };
        let (node, nodes) = memory.split_at_mut(params.n);
        let mut index = [0; 8];
        read(&mut index[8 - params.index_len()..]).map_err(StreamError::Read)?;
        let index = u64::from_be_bytes(index);
        if index >> params.all_heights() != 0 {
            return Err(StreamError::Invalid);
        }
        tree.message(self.root(), index, message, node, read).map_err(StreamError::Read)?;
        let mut number = index;
        for layer in 0..params.layers {
            let leaf = (number & ((1 << params.height) - 1)) as u32;
            number >>= params.height;
            let place = (layer, number, leaf);
            tree.one_time_key(place, node, nodes, read).map_err(StreamError::Read)?;
            tree.path_root(place, node, nodes, read).map_err(StreamError::Read)?;
        }
        if *node == *self.root() { Ok(()) } else { Err(StreamError::Invalid) }
    }
}

/// The functions of a key.
struct Serial<'k> {
    params: &'static Params,
    prf: Prf<'k>,
}

/// toByte(kind, padding).
fn padding(params: &Params, kind: Kind) -> &'static [u8] {
    static PADDINGS: [[u8; MAX_N]; 4] = {
        let mut paddings = [[0; MAX_N]; 4];
        let mut kind = 0;
        while kind < 4 {
            paddings[kind][MAX_N - 1] = kind as u8;
            kind += 1;
        }
        paddings
    };
    &PADDINGS[kind as usize][MAX_N - params.padding()..]
}

impl Serial<'_> {
    fn hash(&self, pieces: &[&[u8]], out: &mut [u8]) {
        let mut all = |take: &mut Take<'_>| pieces.iter().for_each(|piece| take(piece));
        (self.params.functions.hash)(&mut all, out);
    }

    /// Replaces a node by F of it, or the left one of two by H of both: RFC 8391, Algorithm 2 and Algorithm 7. The two nodes of `scratch` are
    /// overwritten.
    #[inline(never)]
    fn masked(&self, kind: Kind, address: &mut [u8; 32], scratch: &mut [u8], nodes: &mut [u8]) {
        let n = self.params.n;
        let (key, mask) = scratch.split_at_mut(n);
        let mut prf = |key_and_mask, out: &mut [u8]| {
            address[31] = key_and_mask;
            (self.params.functions.prf)(&self.prf, address, out);
        };
        prf(0, key);
        for (number, place) in [(1, 0), (2, n)] {
            let Some(node) = nodes.get_mut(place..place + n) else { break };
            prf(number, mask);
            node.iter_mut().zip(&*mask).for_each(|(byte, mask)| *byte ^= mask);
        }
        self.hash(&[padding(self.params, kind), key, nodes], mask);
        nodes[..n].copy_from_slice(mask);
    }

    /// Hashes r, which is read, root, toByte(index, n) and a message: RFC 8391, Algorithm 12, H_msg.
    #[inline(never)]
    fn message<E>(
        &self,
        root: &[u8],
        index: u64,
        message: &[&[u8]],
        digest: &mut [u8],
        read: &mut Read<'_, E>,
    ) -> Result<(), E> {
        let n = self.params.n;
        let (mut r, mut number) = ([0; MAX_N], [0; MAX_N]);
        read(&mut r[..n])?;
        number[n - 8..n].copy_from_slice(&index.to_be_bytes());
        let head = [padding(self.params, Kind::Msg), &r[..n], root, &number[..n]];
        let mut all = |take: &mut Take<'_>| head.iter().chain(message).for_each(|piece| take(piece));
        (self.params.functions.hash)(&mut all, digest);
        Ok(())
    }

    /// Replaces a digest by the leaf that its one-time signature leads to: RFC 8391, Algorithm 6 (WOTS_pkFromSig) and Algorithm 8 (ltree). Subtrees
    /// of the L-tree are hashed as their second half ends.
    #[inline(never)]
    fn one_time_key<E>(
        &self,
        (layer, tree, leaf): (u32, u64, u32),
        node: &mut [u8],
        nodes: &mut [u8],
        read: &mut Read<'_, E>,
    ) -> Result<(), E> {
        let (n, chains) = (self.params.n, self.params.chains() as u32);
        let (scratch, waiting) = nodes.split_at_mut(2 * n);
        let digits = Digits::new(node);
        let mut count = 0;
        let join = |scratch: &mut [u8], waiting: &mut [u8], count: &mut usize, height, number| {
            *count -= 1;
            let mut address = Address::l_tree(layer, tree, leaf, height, number).bytes();
            self.masked(Kind::H, &mut address, scratch, &mut waiting[(*count - 1) * n..][..2 * n]);
        };
        for chain in 0..chains {
            let value = &mut waiting[count * n..][..n];
            read(value)?;
            for step in digits.at(chain as usize)..LAST_STEP {
                let mut address = Address::chain(layer, tree, leaf, chain, step.into()).bytes();
                self.masked(Kind::F, &mut address, scratch, value);
            }
            count += 1;
            for height in 0..chain.trailing_ones() {
                join(scratch, waiting, &mut count, height, chain >> (height + 1));
            }
        }
        // The subtrees have the heights of the bits of the number of chains; one without a neighbour rises.
        let mut before = chains;
        while count > 1 {
            before &= before - 1;
            let height = before.trailing_zeros();
            join(scratch, waiting, &mut count, height, (before - 1) >> (height + 1));
        }
        node.copy_from_slice(&waiting[..n]);
        Ok(())
    }

    /// Replaces a leaf by the root that it and its path lead to: RFC 8391, Algorithm 13 (XMSS_rootFromSig).
    #[inline(never)]
    fn path_root<E>(
        &self,
        (layer, tree, leaf): (u32, u64, u32),
        node: &mut [u8],
        nodes: &mut [u8],
        read: &mut Read<'_, E>,
    ) -> Result<(), E> {
        let n = self.params.n;
        let (scratch, waiting) = nodes.split_at_mut(2 * n);
        let pair = &mut waiting[..2 * n];
        for level in 0..self.params.height {
            let number = leaf >> level;
            let (own, other) = if number & 1 == 1 { (n, 0) } else { (0, n) };
            pair[own..][..n].copy_from_slice(node);
            read(&mut pair[other..][..n])?;
            let mut address = Address::node(layer, tree, level, number >> 1).bytes();
            self.masked(Kind::H, &mut address, scratch, pair);
            node.copy_from_slice(&pair[..n]);
        }
        Ok(())
    }
}
