//! RFC 8554, §4 and §5: one-time signatures and the tree, many hashes at once.

use super::params::{Lms, MAX_N, Ots};
use crate::many::{Function, Input};
use crate::secret::Secret;
use crate::sha2_lanes::SIDE_BY_SIDE;
use crate::streamed::{Read, StreamError};

/// The most chains of a one-time signature.
const MAX_P: usize = 265;
/// The chains of a signature that are verified together.
const READ_TOGETHER: usize = if SIDE_BY_SIDE { MAX_P } else { 1 };
/// The chains that are made together: those of one key pair, or of several where it has few.
const TOGETHER: usize = 272;
/// The most levels of a tree whose leaves stand in memory together.
const LEVELS: u32 = 8;
const MAX_H: usize = 25;

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

/// The leaf that signs, and what; its one-time signature without type and C goes to `signature`, and the siblings of its ancestors to `path`.
pub(super) struct Signed<'s> {
    pub leaf: u32,
    pub digits: Digits,
    pub signature: &'s mut [u8],
    pub path: &'s mut [u8],
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
    /// RFC 8554, §4.4 (the checksum).
    fn new(ots: &Ots, digest: &[u8; MAX_N]) -> Self {
        let mut digits = Self { bytes: [0; MAX_N + 2], w: ots.w };
        digits.bytes[..ots.n].copy_from_slice(&digest[..ots.n]);
        let of_digest = ots.n << (3 - ots.w.ilog2());
        let sum: u32 = (0..of_digest).map(|i| (1 << ots.w) - 1 - digits.at(i)).sum();
        let checksum = (sum << ots.shift) as u16;
        digits.bytes[ots.n..ots.n + 2].copy_from_slice(&checksum.to_be_bytes());
        digits
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
    const fn function(&self) -> Function<'static> {
        self.lms.family.function
    }

    /// H(I ‖ u32str(number) ‖ u16str(kind) ‖ pieces).
    fn hash(&self, number: u32, kind: u16, pieces: &[&[u8]]) -> [u8; MAX_N] {
        let head = self.head(number, kind);
        let mut out = [0; MAX_N];
        let mut all = |take: &mut dyn FnMut(&[u8])| {
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

    /// The same with a byte more, which counts the steps of a chain.
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
    pub(super) fn digits(&self, leaf: u32, c: &[u8], message: &[&[u8]]) -> Digits {
        let head = self.head(leaf, D_MESG);
        let mut digest = [0; MAX_N];
        let mut all = |take: &mut dyn FnMut(&[u8])| {
            take(&head);
            take(c);
            message.iter().for_each(|piece| take(piece));
        };
        (self.lms.family.hash)(&mut all, &mut digest[..self.ots.n]);
        Digits::new(self.ots, &digest)
    }

    /// The leaves of `nodes`, from the first on: RFC 8554, Appendix A, Algorithm 1 and §5.3.
    fn leaves(&self, seed: &[u8], first: u32, nodes: &mut [u8], signed: &mut Option<Signed<'_>>) {
        let Ots { n, p, .. } = *self.ots;
        let pairs = (TOGETHER / p).max(1);
        let mut values = Secret::new([0; TOGETHER * MAX_N]);
        for (leaf, nodes) in (first..).step_by(pairs).zip(nodes.chunks_mut(pairs * n)) {
            let count = nodes.len() / n;
            let values = &mut values.expose_mut()[..count * p * n];
            let chains = || (leaf..).flat_map(|leaf| (0..p as u16).map(move |chain| (leaf, chain)));
            let mut all = chains();
            let mut head = || {
                let (leaf, chain) = all.next().unwrap_or_default();
                self.head_of_step(leaf, chain, 0xff)
            };
            self.function().many(n, count * p, &mut head, Input::Common(seed), values);

            let signing = signed.as_mut().filter(|it| (leaf..leaf + count as u32).contains(&it.leaf));
            let mut starts = None;
            if let Some(signed) = signing {
                let own = &mut values[(signed.leaf - leaf) as usize * p * n..][..p * n];
                let mut all = 0_u16..;
                let mut head = || {
                    let chain = all.next().unwrap_or_default();
                    (self.head_of_step(signed.leaf, chain, 0), signed.digits.at(chain.into()))
                };
                self.function().chains(n, p, &mut head, own);
                signed.signature.copy_from_slice(own);
                starts = Some((signed.leaf, signed.digits));
            }
            let mut all = chains();
            let mut head = || {
                let (leaf, chain) = all.next().unwrap_or_default();
                let signing = starts.filter(|(signing, _)| *signing == leaf);
                let start = signing.map_or(0, |(_, digits)| digits.at(chain.into()));
                (self.head_of_step(leaf, chain, start as u8), self.last_step() - start)
            };
            self.function().chains(n, count * p, &mut head, values);
            self.close(leaf, count, values);
            nodes.copy_from_slice(&values[..count * n]);
        }
    }

    /// The ends of the chains of some key pairs become their leaves.
    fn close(&self, first: u32, count: usize, values: &mut [u8]) {
        let Ots { n, p, .. } = *self.ots;
        let mut leaf = first..;
        let mut head = || self.head(leaf.next().unwrap_or_default(), D_PBLC);
        self.function().many(n, count, &mut head, Input::InPlace(p * n), values);
        let mut number = first + (1 << self.lms.h)..;
        let mut head = || self.head(number.next().unwrap_or_default(), D_LEAF);
        self.function().many(n, count, &mut head, Input::InPlace(n), values);
    }

    /// The root: RFC 8554, §5.3; with the leaf that signs, its signature and path.
    pub(super) fn root(&self, seed: &[u8], mut signed: Option<Signed<'_>>) -> [u8; MAX_N] {
        let (n, h) = (self.lms.n, self.lms.h);
        let levels = h.min(LEVELS);
        let mut nodes = [0; MAX_N << LEVELS];
        let nodes = &mut nodes[..n << levels];
        // The left siblings that wait for their right ones, a level each, and behind them the node at hand.
        let mut waiting = [0; (MAX_H + 1) * MAX_N];
        for part in 0..1_u32 << (h - levels) {
            self.leaves(seed, part << levels, nodes, &mut signed);
            let mut first = (1 << h) + (part << levels);
            let mut count = 1 << levels;
            for _ in 0..levels {
                keep(&mut signed, h, first, &nodes[..count * n], n);
                count >>= 1;
                first >>= 1;
                let mut numbers = first..;
                let mut head = || self.head(numbers.next().unwrap_or_default(), D_INTR);
                self.function().many(n, count, &mut head, Input::InPlace(2 * n), nodes);
            }
            let mut pair = [0; 2 * MAX_N];
            pair[..n].copy_from_slice(&nodes[..n]);
            for level in levels..h {
                keep(&mut signed, h, first, &pair[..n], n);
                let place = level as usize * n;
                if first & 1 == 0 {
                    waiting[place..place + n].copy_from_slice(&pair[..n]);
                    break;
                }
                pair.copy_within(..n, n);
                pair[..n].copy_from_slice(&waiting[place..place + n]);
                first >>= 1;
                self.function().many(
                    n,
                    1,
                    &mut || self.head(first, D_INTR),
                    Input::InPlace(2 * n),
                    &mut pair,
                );
            }
            waiting[MAX_H * MAX_N..].copy_from_slice(&pair[..MAX_N]);
        }
        let mut root = [0; MAX_N];
        root[..n].copy_from_slice(&waiting[MAX_H * MAX_N..][..n]);
        root
    }

    /// The hash of a one-time key that a signature leads to: RFC 8554, Algorithm 4b, steps 3 and 4.
    #[inline(never)]
    pub(super) fn one_time_key<E>(
        &self,
        leaf: u32,
        digits: &Digits,
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], StreamError<E>> {
        let Ots { n, p, .. } = *self.ots;
        let head = self.head(leaf, D_PBLC);
        let (mut key, mut result) = ([0; MAX_N], Ok(()));
        let mut ends = |take: &mut dyn FnMut(&[u8])| {
            take(&head);
            for first in (0..p).step_by(READ_TOGETHER) {
                let count = READ_TOGETHER.min(p - first);
                let mut values = [0; READ_TOGETHER * MAX_N];
                let values = &mut values[..count * n];
                result = read(values);
                if result.is_err() {
                    return;
                }
                let mut all = first as u16..;
                let mut head = || {
                    let chain = all.next().unwrap_or_default();
                    let digit = digits.at(chain.into());
                    (self.head_of_step(leaf, chain, digit as u8), self.last_step() - digit)
                };
                (self.lms.family.chains)(n, count, &mut head, values);
                take(values);
            }
        };
        (self.lms.family.hash)(&mut ends, &mut key[..n]);
        result.map(|()| key).map_err(StreamError::Read)
    }

    /// The root that a one-time key and its path lead to: RFC 8554, Algorithm 6a, step 4.
    #[inline(never)]
    pub(super) fn root_of<E>(
        &self,
        leaf: u32,
        key: &[u8; MAX_N],
        read: &mut Read<'_, E>,
    ) -> Result<[u8; MAX_N], E> {
        let n = self.lms.n;
        let mut number = leaf + (1 << self.lms.h);
        let mut node = self.hash(number, D_LEAF, &[&key[..n]]);
        while number > 1 {
            let mut sibling = [0; MAX_N];
            read(&mut sibling[..n])?;
            let mut pair = [&node[..n], &sibling[..n]];
            if number & 1 == 1 {
                pair.reverse();
            }
            number >>= 1;
            node = self.hash(number, D_INTR, &pair);
        }
        Ok(node)
    }

    /// C of a leaf: H(I ‖ q ‖ 0xfffd ‖ 0xff ‖ SEED), as RFC 8554, Appendix A, makes secrets.
    pub(super) fn randomizer(&self, seed: &[u8], leaf: u32) -> [u8; MAX_N] {
        let mut c = [0; MAX_N];
        let n = self.ots.n;
        let head = self.head_of_step(leaf, 0xfffd, 0xff);
        self.function().many(n, 1, &mut || head, Input::Common(seed), &mut c);
        c
    }
}

/// Keeps those of the nodes, of which the first has this number, that are siblings of ancestors of the leaf that signs.
fn keep(signed: &mut Option<Signed<'_>>, h: u32, first: u32, nodes: &[u8], n: usize) {
    let Some(Signed { leaf, path, .. }) = signed else { return };
    let level = h - first.ilog2();
    let sibling = (*leaf + (1 << h)) >> level ^ 1;
    if let Some(node) = sibling.checked_sub(first).and_then(|place| nodes.chunks_exact(n).nth(place as usize))
    {
        path[level as usize * n..][..n].copy_from_slice(node);
    }
}
