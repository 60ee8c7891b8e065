//! FIPS 205, §5 to §9: verification of a signature that is read piece by piece, one hash after the other.
//!
//! The texts that hash side by side have all of FORS, or all chains of a one-time signature, in memory (decision 50).

use super::address::{Address, Kind};
use super::keys::{MAX_DIGEST, VerifyingKey, digest_of, parts};
use super::message::Message;
use super::params::{MAX_N, Params};
use super::serial::Start;
use super::wots::base_2b;
use crate::serial::Pieces;
use crate::streamed::{Read, StreamError};

impl VerifyingKey {
    /// Verifies a signature of a message. `read` fills its argument with the next bytes of the signature; bytes behind the signature are not read.
    ///
    /// At most as many bytes as a node has are read at a time: 16, 24 or 32.
    ///
    /// FIPS 205, Algorithm 24 (slh_verify) and Algorithm 25 (hash_slh_verify).
    ///
    /// ```
    /// use gambeson::slhdsa::{ParameterSet, StreamError, VerifyingKey};
    ///
    /// let key = VerifyingKey::from_bytes(ParameterSet::SHA2_128S, &[0; 32])?;
    /// let mut flash = &[0; 100][..];
    /// let read = |piece: &mut [u8]| {
    ///     let (next, rest) = flash.split_at_checked(piece.len()).ok_or("end of the flash")?;
    ///     piece.copy_from_slice(next);
    ///     flash = rest;
    ///     Ok(())
    /// };
    /// assert_eq!(key.verify_streamed(b"message", read), Err(StreamError::Read("end of the flash")));
    /// # Ok::<(), gambeson::slhdsa::LengthError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StreamError`].
    pub fn verify_streamed<'m, E>(
        &self,
        message: impl Into<Message<'m>>,
        mut read: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<(), StreamError<E>> {
        self.check(&message.into(), &mut read)
    }

    /// FIPS 205, Algorithm 20 (slh_verify_internal).
    fn check<E>(&self, message: &Message<'_>, read: &mut Read<'_, E>) -> Result<(), StreamError<E>> {
        let params = self.parameter_set().0;
        let (seed, root) = self.halves();
        let mut digest = [0; MAX_DIGEST];
        self.digest(message, &mut digest, read)?;
        let (digest, place) = parts(params, &digest);
        let tree = Serial { params, start: (params.functions.start)(seed) };
        let key = tree.fors_key(digest, place, read).map_err(StreamError::Read)?;
        let found = tree.hypertree_root(key, place, read).map_err(StreamError::Read)?;
        if found[..params.n] == *root { Ok(()) } else { Err(StreamError::Invalid) }
    }

    #[inline(never)]
    fn digest<E>(
        &self,
        message: &Message<'_>,
        digest: &mut [u8; MAX_DIGEST],
        read: &mut Read<'_, E>,
    ) -> Result<(), StreamError<E>> {
        let params = self.parameter_set().0;
        let (seed, root) = self.halves();
        let mut r = [0; MAX_N];
        let r = &mut r[..params.n];
        read(r).map_err(StreamError::Read)?;
        let digest = digest_of(params, digest);
        message.pieces(|pieces| (params.functions.message)([r, seed, root], pieces, digest));
        Ok(())
    }
}

/// The functions of a key.
struct Serial {
    params: &'static Params,
    start: Start,
}

impl Serial {
    /// H or T_l.
    fn long(&self, address: Address, pieces: &mut Pieces<'_>) -> [u8; MAX_N] {
        let mut out = [0; MAX_N];
        (self.params.functions.long)(&self.start, &address, pieces, &mut out[..self.params.n]);
        out
    }

    /// Replaces a value by F of it.
    fn short(&self, address: Address, value: &mut [u8]) {
        let mut out = [0; MAX_N];
        let out = &mut out[..value.len()];
        (self.params.functions.short)(&self.start, &address, &mut |take| take(value), out);
        value.copy_from_slice(out);
    }

    /// The FORS key that a signature leads to: FIPS 205, Algorithm 17 (fors_pkFromSig).
    #[inline(never)]
    fn fors_key<E>(
        &self,
        digest: &[u8],
        (tree, leaf): (u64, u32),
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        let Params { n, a, k, .. } = *self.params;
        let address = Address::new(0, tree, Kind::ForsTree, [leaf, 0, 0]);
        let mut result = Ok(());
        let key = self.long(address.with(Kind::ForsRoots, [leaf, 0, 0]), &mut |take| {
            for (tree, index) in (0..k as u32).zip(base_2b(digest, a as u32)) {
                match self.fors_root(address, (tree << a) + index, read) {
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

    /// The root of a FORS tree; `index` is that of the leaf among the leaves of all trees.
    #[inline(never)]
    fn fors_root<E>(&self, address: Address, index: u32, read: &mut Read<'_, E>) -> Result<[u8; MAX_N], E> {
        let n = self.params.n;
        let mut leaf = [0; MAX_N];
        read(&mut leaf[..n])?;
        self.short(address.at(0, index), &mut leaf[..n]);
        self.path_root(address, leaf, index, self.params.a, read)
    }

    /// The root that a signature of the hypertree leads to: FIPS 205, Algorithm 13 (ht_verify).
    #[inline(never)]
    fn hypertree_root<E>(
        &self,
        mut node: [u8; MAX_N],
        (mut tree, mut leaf): (u64, u32),
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        for layer in 0..self.params.d as u32 {
            let address = Address::new(layer, tree, Kind::Tree, [0; 3]);
            node = self.one_time_key(address, leaf, &node, read)?;
            // FIPS 205, Algorithm 11 (xmss_pkFromSig).
            node = self.path_root(address, node, leaf, self.params.height, read)?;
            (tree, leaf) = self.params.above(tree);
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
        let Params { n, lg_w, len_1, len_2, .. } = *self.params;
        let last = self.params.last_step();
        let of_message = || base_2b(&message[..n], lg_w).take(len_1);
        let checksum: u32 = of_message().map(|digit| last - digit).sum();
        let of_checksum = (0..len_2 as u32).rev().map(|place| checksum >> (place * lg_w) & last);
        let mut digits = (0..).zip(of_message().chain(of_checksum));
        let mut result = Ok(());
        let key = self.long(address.with(Kind::WotsPk, [leaf, 0, 0]), &mut |take| {
            for (chain, start) in &mut digits {
                let mut value = [0; MAX_N];
                let value = &mut value[..n];
                result = read(value);
                if result.is_err() {
                    return;
                }
                let place = address.with(Kind::WotsHash, [leaf, chain, start]);
                (self.params.functions.chain)(&self.start, &place, last - start, value);
                take(value);
            }
        });
        result.map(|()| key)
    }

    /// The root that a node and the siblings on its path lead to.
    #[inline(never)]
    fn path_root<E>(
        &self,
        address: Address,
        mut node: [u8; MAX_N],
        mut number: u32,
        height: usize,
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        let n = self.params.n;
        for level in 1..=height as u32 {
            let mut sibling = [0; MAX_N];
            read(&mut sibling[..n])?;
            let mut pair = [&node[..n], &sibling[..n]];
            if number & 1 == 1 {
                pair.reverse();
            }
            number >>= 1;
            node = self.long(address.at(level, number), &mut |take| {
                pair.iter().for_each(|node| take(node));
            });
        }
        Ok(node)
    }
}
