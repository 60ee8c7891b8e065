//! RFC 8554, §4 and §5: one-time signatures and the tree, many hashes at once.

use sha2::{Digest as _, Sha256};

use super::params::{Family, Lms, MAX_N, Ots};
use crate::many::{Function, Input};
#[cfg(feature = "alloc")]
use crate::merkle;
#[cfg(feature = "alloc")]
use crate::secret::Secret;
use crate::sha3::Shake256;

/// The most chains of a one-time signature.
const MAX_P: usize = 265;
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
pub(super) struct Digits([u8; MAX_P]);

impl Digits {
    /// RFC 8554, §3.1.3 (coef) and §4.4 (the checksum).
    fn new(ots: &Ots, digest: &[u8]) -> Self {
        let mut digits = [0; MAX_P];
        // As many in a byte, of two to this power.
        let fold = 3 - ots.w.ilog2();
        let mask = ((1_u32 << ots.w) - 1) as u8;
        let digits_of = |digits: &mut [u8], bytes: &[u8]| {
            for (i, digit) in digits.iter_mut().enumerate() {
                let place = (!i & ((1 << fold) - 1)) as u32 * ots.w;
                *digit = bytes[i >> fold] >> place & mask;
            }
        };
        let (of_digest, of_checksum) = digits[..ots.p].split_at_mut(ots.n << fold);
        digits_of(of_digest, digest);
        let sum: u16 = of_digest.iter().map(|digit| u16::from(mask - digit)).sum();
        digits_of(of_checksum, &(sum << ots.shift).to_be_bytes());
        Self(digits)
    }
}

impl Tree<'_> {
    fn function(&self) -> Function<'static> {
        match self.lms.family {
            Family::Sha256 => Function::SHA_256,
            Family::Shake256 => Function::Shake256(&[]),
        }
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

    /// The digits of H(I ‖ q ‖ D_MESG ‖ C ‖ message): RFC 8554, Algorithm 3, step 3.
    pub(super) fn digits(&self, leaf: u32, c: &[u8], message: &[u8]) -> Digits {
        let head = self.head(leaf, D_MESG);
        let mut digest = [0; MAX_N];
        match self.lms.family {
            Family::Sha256 => {
                let hasher = Sha256::new().chain_update(head).chain_update(c).chain_update(message);
                digest.copy_from_slice(&hasher.finalize());
            }
            Family::Shake256 => {
                Shake256::new().update(&head).update(c).update(message).finalize_xof().squeeze(&mut digest);
            }
        }
        Digits::new(self.ots, &digest[..self.ots.n])
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
        let Ots { n, p, .. } = *self.ots;
        self.secrets(seed, leaf, 1, signature);
        let mut digits = (0_u16..).zip(&digits.0);
        let mut head = || {
            let (chain, digit) = digits.next().unwrap_or((0, &0));
            (self.head_of_step(leaf, chain, 0), u32::from(*digit))
        };
        self.function().chains(n, p, &mut head, signature);
    }

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

    /// The root that a signature leads to: RFC 8554, Algorithm 6a; `chains` and `path` as the signature has them.
    pub(super) fn root_of(&self, leaf: u32, digits: &Digits, chains: &[u8], path: &[u8]) -> [u8; MAX_N] {
        let Ots { n, p, .. } = *self.ots;
        let mut values = [0; MAX_P * MAX_N];
        let values = &mut values[..p * n];
        values.copy_from_slice(chains);
        let mut all = (0_u16..).zip(&digits.0);
        let mut head = || {
            let (chain, digit) = all.next().unwrap_or((0, &0));
            (self.head_of_step(leaf, chain, *digit), self.last_step() - u32::from(*digit))
        };
        self.function().chains(n, p, &mut head, values);
        self.close(leaf, 1, values);
        let mut number = leaf + (1 << self.lms.h);
        let mut pair = [0; 2 * MAX_N];
        pair[..n].copy_from_slice(&values[..n]);
        for sibling in path.chunks_exact(n) {
            if number & 1 == 1 {
                pair.copy_within(..n, n);
                pair[..n].copy_from_slice(sibling);
            } else {
                pair[n..2 * n].copy_from_slice(sibling);
            }
            number >>= 1;
            self.function().many(n, 1, &mut || self.head(number, D_INTR), Input::InPlace(2 * n), &mut pair);
        }
        let mut root = [0; MAX_N];
        root[..n].copy_from_slice(&pair[..n]);
        root
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
