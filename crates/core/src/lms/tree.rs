//! RFC 8554, §4 and §5: one-time signatures and the tree, many hashes at once.

use core::ops::Range;

use super::params::{Lms, MAX_N, Ots};
#[cfg(feature = "alloc")]
use crate::many::{Function, Input};
use crate::many::{Job, longest_first};
#[cfg(feature = "alloc")]
use crate::merkle;
#[cfg(feature = "alloc")]
use crate::secret::Secret;
use crate::serial::Take;
use crate::sha2_lanes::SIDE_BY_SIDE;
use crate::streamed::{Read, StreamError};

/// The most chains of a one-time signature.
const MAX_P: usize = 265;
/// The chains of a signature that are verified together.
const READ_TOGETHER: usize = if SIDE_BY_SIDE { MAX_P } else { 1 };
/// The chains that are computed together: those of one key pair, or of several with few chains.
#[cfg(feature = "alloc")]
const TOGETHER: usize = 272;

const D_PBLC: u16 = 0x8080;
const D_MESG: u16 = 0x8181;
const D_LEAF: u16 = 0x8282;
const D_INTR: u16 = 0x8383;

/// A tree by its types and its identifier I.
#[derive(Clone, Copy)]
pub(super) struct Tree<'a> {
    pub lms: &'static Lms,
    pub ots: &'static Ots,
    pub identifier: &'a [u8; 16],
}

/// Digits of a digest and of its checksum.
#[derive(Clone, Copy)]
pub(super) struct Digits {
    /// The digest, then the checksum of its digits.
    bytes: [u8; MAX_N + 2],
    /// Bits of a digit.
    w: u32,
}

impl Digits {
    pub(super) const fn new(ots: &Ots) -> Self {
        Self { bytes: [0; MAX_N + 2], w: ots.w }
    }

    /// Appends the checksum to a digest: RFC 8554, §4.4.
    fn close(&mut self, ots: &Ots) {
        let of_digest = ots.n << (3 - ots.w.ilog2());
        let sum: u32 = (0..of_digest).map(|i| (1 << ots.w) - 1 - self.at(i)).sum();
        let checksum = (sum << ots.shift) as u16;
        self.bytes[ots.n..ots.n + 2].copy_from_slice(&checksum.to_be_bytes());
    }

    /// RFC 8554, §3.1.3 (coef).
    fn at(&self, i: usize) -> u32 {
        // A byte has as many digits as two to this power.
        let fold = 3 - self.w.ilog2();
        let place = (!i & ((1 << fold) - 1)) as u32 * self.w;
        u32::from(self.bytes[i >> fold]) >> place & ((1 << self.w) - 1)
    }
}

impl Tree<'_> {
    #[cfg(feature = "alloc")]
    const fn function(&self) -> Function<'static> {
        self.lms.family.many
    }

    /// H(I ‖ u32str(number) ‖ u16str(kind) ‖ pieces).
    fn hash(&self, number: u32, kind: u16, pieces: &[&[u8]]) -> [u8; MAX_N] {
        let head = self.head(number, kind);
        let mut out = [0; MAX_N];
        let mut all = |take: &mut Take<'_>| {
            take(&head);
            pieces.iter().for_each(|piece| take(piece));
        };
        (self.lms.family.hash)(&mut all, &mut out[..self.lms.n]);
        out
    }

    /// I ‖ u32str(number) ‖ u16str(kind).
    fn head(&self, number: u32, kind: u16) -> [u8; 22] {
        let mut head = [0; 22];
        head[..16].copy_from_slice(self.identifier);
        head[16..20].copy_from_slice(&number.to_be_bytes());
        head[20..].copy_from_slice(&kind.to_be_bytes());
        head
    }

    /// A head with one byte more, which counts the steps of a chain.
    fn head_of_step(&self, leaf: u32, chain: u16, step: u8) -> [u8; 23] {
        let mut head = [0; 23];
        head[..22].copy_from_slice(&self.head(leaf, chain));
        head[22] = step;
        head
    }

    const fn last_step(&self) -> u32 {
        (1 << self.ots.w) - 1
    }

    /// Computes the digits of a message, whose C is read.
    #[inline(never)]
    pub(super) fn read_digits<E>(
        &self,
        leaf: u32,
        message: &[&[u8]],
        digits: &mut Digits,
        read: &mut Read<'_, E>,
    ) -> Result<(), StreamError<E>> {
        let mut c = [0; MAX_N];
        let c = &mut c[..self.ots.n];
        read(c).map_err(StreamError::Read)?;
        self.digest(leaf, c, message, digits);
        Ok(())
    }

    /// The digits of a message with this C.
    #[cfg(feature = "alloc")]
    pub(super) fn digits(&self, leaf: u32, c: &[u8], message: &[u8]) -> Digits {
        let mut digits = Digits::new(self.ots);
        self.digest(leaf, c, &[message], &mut digits);
        digits
    }

    /// Computes the digits of H(I ‖ q ‖ D_MESG ‖ C ‖ message): RFC 8554, Algorithm 3, step 3.
    fn digest(&self, leaf: u32, c: &[u8], message: &[&[u8]], digits: &mut Digits) {
        let head = self.head(leaf, D_MESG);
        let mut all = |take: &mut Take<'_>| {
            take(&head);
            take(c);
            message.iter().for_each(|piece| take(piece));
        };
        (self.lms.family.hash)(&mut all, &mut digits.bytes[..self.ots.n]);
        digits.close(self.ots);
    }

    #[cfg(feature = "alloc")]
    /// The secrets of all chains of `count` key pairs from `first` on: RFC 8554, Appendix A.
    fn secrets(&self, seed: &[u8], first: u32, count: usize, values: &mut [u8]) {
        let Ots { n, p, .. } = *self.ots;
        let mut all = chains(first, p);
        let mut head = || {
            let (leaf, chain) = all.next().unwrap_or_default();
            self.head_of_step(leaf, chain, 0xff)
        };
        self.function().many(n, count * p, &mut head, Input::Common(seed), values);
    }

    /// The one-time signature of a leaf without its type and C: RFC 8554, Algorithm 3.
    #[cfg(feature = "alloc")]
    pub(super) fn sign(&self, seed: &[u8], leaf: u32, digits: &Digits, signature: &mut [u8]) {
        self.secrets(seed, leaf, 1, signature);
        self.run_chains(leaf, 0..self.ots.p, |chain| 0..digits.at(chain), signature);
    }

    #[cfg(feature = "alloc")]
    /// Replaces the ends of the chains of `count` key pairs by their leaves.
    fn close(&self, first: u32, count: usize, values: &mut [u8]) {
        let Ots { n, p, .. } = *self.ots;
        let mut leaf = first..;
        let mut head = || self.head(leaf.next().unwrap_or_default(), D_PBLC);
        self.function().many(n, count, &mut head, Input::InPlace(p * n), values);
        let mut number = first + (1 << self.lms.h)..;
        let mut head = || self.head(number.next().unwrap_or_default(), D_LEAF);
        self.function().many(n, count, &mut head, Input::InPlace(n), values);
    }

    /// Computes the hash of the one-time key that a signature leads to: RFC 8554, Algorithm 4b, steps 3 and 4.
    #[inline(never)]
    pub(super) fn one_time_key<E>(
        &self,
        leaf: u32,
        digits: &Digits,
        key: &mut [u8; MAX_N],
        read: &mut Read<'_, E>,
    ) -> Result<(), StreamError<E>> {
        let Ots { n, p, .. } = *self.ots;
        let head = self.head(leaf, D_PBLC);
        let mut result = Ok(());
        let mut ends = |take: &mut Take<'_>| {
            take(&head);
            for first in (0..p).step_by(READ_TOGETHER) {
                let count = READ_TOGETHER.min(p - first);
                let mut values = [0; READ_TOGETHER * MAX_N];
                let values = &mut values[..count * n];
                result = read(values);
                if result.is_err() {
                    return;
                }
                self.run_chains(
                    leaf,
                    first..first + count,
                    |chain| digits.at(chain)..self.last_step(),
                    values,
                );
                take(values);
            }
        };
        (self.lms.family.hash)(&mut ends, &mut key[..n]);
        result.map_err(StreamError::Read)
    }

    /// Takes steps of the chains with these numbers; `steps` gives the steps of a chain, and `values` the value before the first.
    #[inline(always)]
    fn run_chains(
        &self,
        leaf: u32,
        chains: Range<usize>,
        steps: impl Fn(usize) -> Range<u32>,
        values: &mut [u8],
    ) {
        let (n, family, first) = (self.lms.n, self.lms.family, chains.start);
        let job = |index: usize| {
            let steps = steps(first + index);
            let head = self.head_of_step(leaf, (first + index) as u16, steps.start as u8);
            Job { index, head, steps: steps.end - steps.start }
        };
        if SIDE_BY_SIDE {
            let mut order = [0; MAX_P];
            let all = (0..chains.len()).map(|index| (index as u16, steps(first + index).len()));
            let mut order = longest_first::<256>(all, &mut order).iter();
            return family.many.run_chains(n, &mut || order.next().map(|index| job((*index).into())), values);
        }
        for (index, value) in values.chunks_exact_mut(n).enumerate() {
            let Job { head, steps, .. } = job(index);
            (family.chain)(&head, steps, value);
        }
    }

    /// Replaces the hash of a one-time key by the root that it and its path lead to: RFC 8554, Algorithm 6a, step 4.
    #[inline(never)]
    pub(super) fn climb<E>(
        &self,
        leaf: u32,
        node: &mut [u8; MAX_N],
        read: &mut Read<'_, E>,
    ) -> Result<(), StreamError<E>> {
        let n = self.lms.n;
        let mut number = leaf + (1 << self.lms.h);
        *node = self.hash(number, D_LEAF, &[&node[..n]]);
        while number > 1 {
            let mut sibling = [0; MAX_N];
            read(&mut sibling[..n]).map_err(StreamError::Read)?;
            let mut pair = [&node[..n], &sibling[..n]];
            if number & 1 == 1 {
                pair.reverse();
            }
            number >>= 1;
            *node = self.hash(number, D_INTR, &pair);
        }
        Ok(())
    }

    /// A value derived from SEED for a leaf: H(I ‖ u32str(q) ‖ u16str(number) ‖ 0xff ‖ SEED), as RFC 8554, Appendix A, derives secrets of
    /// chains. C has the number 0xfffd (SP 800-208, §6.1).
    #[cfg(feature = "alloc")]
    pub(super) fn derive(&self, seed: &[u8], leaf: u32, number: u16) -> [u8; MAX_N] {
        let mut c = [0; MAX_N];
        let n = self.ots.n;
        let head = self.head_of_step(leaf, number, 0xff);
        self.function().many(n, 1, &mut || head, Input::Common(seed), &mut c);
        c
    }
}

/// The chains of the key pairs from `first` on: leaf and number.
#[cfg(feature = "alloc")]
fn chains(first: u32, p: usize) -> impl Iterator<Item = (u32, u16)> {
    (first..).flat_map(move |leaf| (0..p as u16).map(move |chain| (leaf, chain)))
}

/// A tree and the seed of its secrets.
#[cfg(feature = "alloc")]
pub(super) struct Seeded<'a> {
    pub tree: Tree<'a>,
    pub seed: &'a [u8],
}

#[cfg(feature = "alloc")]
impl merkle::Tree for Seeded<'_> {
    fn node_len(&self) -> usize {
        self.tree.lms.n
    }

    fn height(&self) -> u32 {
        self.tree.lms.h
    }

    /// RFC 8554, §4.3 and §5.3.
    fn leaves(&self, first: u32, count: usize, nodes: &mut [u8]) {
        let Self { tree, seed } = *self;
        let Ots { n, p, .. } = *tree.ots;
        let together = (2..).take_while(|pairs| pairs * p <= TOGETHER).last().unwrap_or(1);
        let mut values = Secret::new([0; TOGETHER * MAX_N]);
        let values = values.expose_mut();
        for done in (0..count).step_by(together) {
            let (leaf, pairs) = (first + done as u32, together.min(count - done));
            tree.secrets(seed, leaf, pairs, values);
            let mut all = chains(leaf, p);
            let mut head = || {
                let (leaf, chain) = all.next().unwrap_or_default();
                (tree.head_of_step(leaf, chain, 0), tree.last_step())
            };
            tree.function().chains(n, pairs * p, &mut head, values);
            tree.close(leaf, pairs, values);
            nodes[done * n..][..pairs * n].copy_from_slice(&values[..pairs * n]);
        }
    }

    fn parents(&self, level: u32, first: u32, count: usize, nodes: &mut [u8]) {
        let mut numbers = (1 << (self.tree.lms.h - level)) + first..;
        let mut head = || self.tree.head(numbers.next().unwrap_or_default(), D_INTR);
        self.tree.function().many(
            self.tree.lms.n,
            count,
            &mut head,
            Input::InPlace(2 * self.tree.lms.n),
            nodes,
        );
    }
}
