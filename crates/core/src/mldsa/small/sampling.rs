//! FIPS 204, §7.3: polynomials from hashes, which are used as they come.

use crate::mldsa::kernels::{
    GROUP, HALF, add_products_vartime, bounded_one, candidate_one, half_ntt, number_at, read_half,
    write_group,
};
use crate::mldsa::params::sealed::Parameters;
use crate::mldsa::ring::{N, Poly};
use crate::mldsa::sample::absorbed;
use crate::secret::declassify_value;
use crate::sha3::{Shake128, Shake256, Sponge};
use crate::small::Memory;

/// A polynomial of the matrix, coefficient by coefficient.
pub(crate) struct StreamedEntry<'a> {
    sponge: &'a mut Sponge,
    /// Eight, of three bytes each.
    candidates: [u8; 24],
    taken: usize,
}

impl<'a> StreamedEntry<'a> {
    /// FIPS 204, Algorithm 32 (ExpandA), one polynomial.
    pub(crate) fn new(sponge: &'a mut Sponge, rho: &[u8; 32], row: usize, column: usize) -> Self {
        absorbed(sponge, Shake128::RATE, rho, &[column as u8, row as u8]);
        Self { sponge, candidates: [0; 24], taken: 8 }
    }

    /// Those that are not taken, of which there is one at least.
    #[inline(always)]
    fn rest(&mut self) -> &[[u8; 3]] {
        if self.taken == 8 {
            self.sponge.squeeze(&mut self.candidates);
            self.taken = 0;
        }
        self.candidates.as_chunks().0.get(self.taken..).unwrap_or_default()
    }

    /// Adds the products of the next coefficients and the factors, times 2^-32, to the sums.
    #[inline(always)]
    pub(crate) fn add_products_vartime(&mut self, sums: &mut [i32; HALF], factors: &[i32; HALF]) {
        let mut n = 0;
        while let (Some(sums), Some(factors @ [_, ..])) = (sums.get_mut(n..), factors.get(n..)) {
            let (added, taken) = add_products_vartime(sums, factors, self.rest());
            n += added;
            self.taken += taken;
        }
    }

    /// Hands over the next `count`: FIPS 204, Algorithm 30 (RejNTTPoly).
    ///
    /// Variable time: the matrix is public.
    #[inline(always)]
    pub(crate) fn each_vartime(&mut self, count: usize, mut take: impl FnMut(usize, u32)) {
        let mut n = 0;
        while n < count {
            let mut taken = 0;
            for candidate in self.rest() {
                taken += 1;
                if let Some(z) = candidate_one(*candidate) {
                    take(n, z);
                    n += 1;
                    if n == count {
                        break;
                    }
                }
            }
            self.taken += taken;
        }
    }
}

/// Adds Â\[row, column\] ∘ NTT(`high` - x), the numbers x being packed, times 2^-32, to `sum`, whose bound grows by 2q.
#[inline(never)]
pub(crate) fn add_entry(
    sum: &mut Poly,
    sponge: &mut Sponge,
    rho: &[u8; 32],
    (row, column): (usize, usize),
    packed: &[u8],
    high: i32,
    memory: impl Memory,
) {
    memory.lend(|half: &mut [i32; HALF], _| {
        let mut entry = StreamedEntry::new(sponge, rho, row, column);
        for (upper, sum) in sum.0.as_chunks_mut::<HALF>().0.iter_mut().enumerate() {
            read_half(packed, high, upper, half);
            half_ntt(half, upper);
            entry.add_products_vartime(sum, half);
        }
    });
}

/// Hands over a polynomial of s1 or s2, group by group.
///
/// FIPS 204, Algorithm 33 (ExpandS), one polynomial, by Algorithm 31 (RejBoundedPoly).
#[inline(never)]
pub(crate) fn each_bounded(
    sponge: &mut Sponge,
    rho_prime: &[u8; 64],
    place: usize,
    eta: i32,
    take: &mut dyn FnMut(usize, &[i32; GROUP]),
) {
    absorbed(sponge, Shake256::RATE, rho_prime, &(place as u16).to_le_bytes());
    let mut group = [0; GROUP];
    let mut filled = 0;
    loop {
        let mut bytes = [0; 8];
        sponge.squeeze(&mut bytes);
        for half in bytes.into_iter().flat_map(|byte| [byte & 15, byte >> 4]) {
            let (coefficient, accepted) = bounded_one(u32::from(half), eta);
            group[filled & 7] = coefficient;
            // public: which half bytes were refused; they are independent of the accepted ones, and say nothing of them.
            if declassify_value(accepted) == 1 {
                filled += 1;
                if filled & 7 == 0 {
                    take((filled >> 3) - 1, &group);
                }
                if filled == N {
                    return;
                }
            }
        }
    }
}

/// A polynomial of s1 or s2, packed as in a private key, in 32·bitlen(2η) bytes.
#[inline(never)]
pub(crate) fn expand_s(sponge: &mut Sponge, rho_prime: &[u8; 64], place: usize, eta: i32, packed: &mut [u8]) {
    let width = packed.len() >> 5;
    each_bounded(sponge, rho_prime, place, eta, &mut |g, s| {
        if let Some(packed) = packed.get_mut(width * g..).and_then(|rest| rest.get_mut(..width)) {
            write_group(packed, |i| (eta - s[i]) as u32);
        }
    });
}

/// Hands over the polynomial of y of this number, group by group.
///
/// FIPS 204, Algorithm 34 (ExpandMask), one polynomial.
#[inline(never)]
pub(crate) fn each_mask<P: Parameters>(
    sponge: &mut Sponge,
    rho_second: &[u8; 64],
    number: u16,
    take: &mut dyn FnMut(usize, &[i32; GROUP]),
) {
    absorbed(sponge, Shake256::RATE, rho_second, &number.to_le_bytes());
    // Four groups are whole words.
    let mut bytes = [0; 80];
    let bytes = &mut bytes[..P::Z_BYTES >> 3];
    for first in (0..N >> 3).step_by(4) {
        sponge.squeeze(bytes);
        for group in 0..4 {
            let y = |i| P::GAMMA1 - number_at(bytes, P::Z_BYTES >> 5, GROUP * group + i) as i32;
            take(first + group, &core::array::from_fn(y));
        }
    }
}
