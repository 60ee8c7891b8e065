//! FIPS 205, §5: one-time signatures.

use super::address::{Address, Kind};
use super::hash::Hash;
use super::params::{MAX_CHAINS, MAX_N};
use crate::secret::Secret;

/// The most chains whose values stand in memory together.
const TOGETHER: usize = 64;

/// Numbers of `b` bits, from the first bit of `bytes` on: FIPS 205, Algorithm 4 (base_2b).
pub(super) fn base_2b(bytes: &[u8], b: u32) -> impl Iterator<Item = u32> {
    let mut bytes = bytes.iter();
    let (mut total, mut bits) = (0_u64, 0);
    core::iter::from_fn(move || {
        while bits < b {
            total = total << 8 | u64::from(*bytes.next()?);
            bits += 8;
        }
        bits -= b;
        Some((total >> bits) as u32 & ((1 << b) - 1))
    })
}

/// Numbers of chains with those of their key pairs: the chains from `first` to `end` of one pair, then those of the next.
struct Numbers {
    first: usize,
    end: usize,
    pair: u32,
    chain: usize,
}

impl Numbers {
    fn next(&mut self) -> (u32, usize) {
        let numbers = (self.pair, self.chain);
        self.chain += 1;
        if self.chain == self.end {
            (self.pair, self.chain) = (self.pair + 1, self.first);
        }
        numbers
    }
}

/// The leaf that signs in a tree and its message; its one-time signature is written to `signature`.
pub(super) struct Signed<'m, 's> {
    pub leaf: u32,
    pub message: &'m [u8],
    pub signature: &'s mut [u8],
}

impl Hash<'_> {
    /// The public keys of `count` one-time key pairs of a tree, a power of two, to `nodes`, n bytes each.
    ///
    /// FIPS 205, Algorithm 6 (wots_pkGen) and, for the pair that signs, Algorithm 7 (wots_sign).
    pub(super) fn one_time_keys(
        &self,
        sk_seed: &[u8],
        tree: Address,
        (first, count): (u32, usize),
        nodes: &mut [u8],
        signed: Option<&mut Signed<'_, '_>>,
    ) {
        let (n, chains, last) = (self.params.n, self.params.chains(), self.params.last_step());
        let mut digits = [0; MAX_CHAINS];
        let (leaf, signature) = match signed {
            Some(Signed { leaf, message, signature }) => {
                digits = self.digits(message);
                (Some(*leaf), &mut **signature)
            }
            None => (None, &mut [][..]),
        };
        let pairs = self.lanes().min(count);
        let most = TOGETHER >> pairs.trailing_zeros();
        let mut values = Secret::new([0; TOGETHER * MAX_N]);
        for offset in (0..count).step_by(pairs) {
            let first = first + offset as u32;
            let mut pair = first;
            let mut keys = self.messages(pairs, || {
                pair += 1;
                tree.with(Kind::WotsPk, [pair - 1, 0, 0])
            });
            for chain in (0..chains).step_by(most) {
                let each = most.min(chains - chain);
                let jobs = pairs * each;
                let values = &mut values.expose_mut()[..jobs * n];
                let numbers = || Numbers { first: chain, end: chain + each, pair: first, chain };
                self.starts(sk_seed, tree, numbers(), jobs, values);
                let mut next = numbers();
                let address = || {
                    let (pair, chain) = next.next();
                    let stop = (Some(pair) == leaf).then(|| u32::from(digits[chain]));
                    (tree.with(Kind::WotsHash, [pair, chain as u32, 0]), last, stop)
                };
                // Values stand pair by pair.
                let signing = leaf.map_or(0, |leaf| leaf.wrapping_sub(first) as usize).wrapping_mul(each);
                self.chains(jobs, address, values, &mut |i, value| {
                    signature[(chain + i - signing) * n..][..n].copy_from_slice(value);
                });
                keys.update(|i| &values[i * each * n..][..each * n]);
            }
            keys.finish(n, &mut nodes[offset * n..]);
        }
    }

    /// Signs with one leaf of a tree: FIPS 205, Algorithm 7 (wots_sign).
    #[cfg(feature = "alloc")]
    pub(super) fn one_time_signature(&self, sk_seed: &[u8], tree: Address, signed: Signed<'_, '_>) {
        let (n, chains) = (self.params.n, self.params.chains());
        let digits = self.digits(signed.message);
        let mut values = Secret::new([0; TOGETHER * MAX_N]);
        for chain in (0..chains).step_by(TOGETHER) {
            let each = TOGETHER.min(chains - chain);
            let values = &mut values.expose_mut()[..each * n];
            let numbers = || Numbers { first: chain, end: chain + each, pair: signed.leaf, chain };
            self.starts(sk_seed, tree, numbers(), each, values);
            let mut next = numbers();
            let address = || {
                let (pair, chain) = next.next();
                (tree.with(Kind::WotsHash, [pair, chain as u32, 0]), u32::from(digits[chain]), None)
            };
            self.chains(each, address, values, &mut |_, _| ());
            signed.signature[chain * n..][..each * n].copy_from_slice(values);
        }
    }

    /// The secret values that `count` chains start with.
    fn starts(&self, sk_seed: &[u8], tree: Address, mut numbers: Numbers, count: usize, values: &mut [u8]) {
        let address = || {
            let (pair, chain) = numbers.next();
            tree.with(Kind::WotsPrf, [pair, chain as u32, 0])
        };
        self.prf(sk_seed, count, address, values);
    }

    /// The digits of a message, then of their checksum: FIPS 205, Algorithm 7 (wots_sign), lines 1 to 7.
    pub(super) fn digits(&self, message: &[u8]) -> [u8; MAX_CHAINS] {
        let params = self.params;
        let mut digits = [0; MAX_CHAINS];
        let mut checksum = 0;
        let (of_message, of_checksum) = digits[..params.chains()].split_at_mut(params.len_1);
        for (place, digit) in of_message.iter_mut().zip(base_2b(message, params.lg_w)) {
            *place = digit as u8;
            checksum += params.last_step() - digit;
        }
        for digit in of_checksum.iter_mut().rev() {
            *digit = (checksum & params.last_step()) as u8;
            checksum >>= params.lg_w;
        }
        digits
    }
}
