//! Vectors of fixed weight: from positions that are all different, in constant time, to bits.

use super::params::MAX_WEIGHT;
use crate::secret::{Secret, barrier};

/// Positions, in chunks of sixteen; those behind the weight are no positions.
pub(super) type Positions = [[u32; 16]; 10];

/// What stands in the place of a position where there is none.
pub(super) const NONE: u32 = u32::MAX;

const _: () = assert!(MAX_WEIGHT <= 160);

/// All zeros if x is zero, else one.
#[inline(always)]
const fn nonzero(x: u32) -> u32 {
    (x | x.wrapping_neg()) >> 31
}

/// One if `position` is none of those, else zero.
#[inline(always)]
pub(super) fn is_absent(positions: &Positions, position: u32) -> u32 {
    let mut absent = 1;
    for other in positions.as_flattened() {
        absent &= nonzero(other ^ position);
    }
    absent
}

/// The positions of Sendrier's sampler, each uniform among those from i on; of two that are equal the last is kept, and position i takes the place of
/// the other: CHES 2021, "Secure sampling of constant-weight words", Algorithm 5.
#[inline(always)]
pub(super) fn positions_of(n: u32, bytes: &[u8], positions: &mut Positions) {
    let words = bytes.as_chunks::<4>().0;
    *positions = [[NONE; 16]; 10];
    for ((i, word), position) in (0..).zip(words).zip(positions.as_flattened_mut()) {
        let scaled = u64::from(u32::from_le_bytes(*word)) * u64::from(n - i);
        *position = i + (scaled >> 32) as u32;
    }
    for i in (0..words.len() - 1).rev() {
        let position = positions[i >> 4][i & 15];
        let mut all_differ = [1; 16];
        for (chunk, places) in positions[i >> 4..].iter().zip((i as u32 >> 4..).map(|chunk| chunk << 4)) {
            for (lane, all_differ) in all_differ.iter_mut().enumerate() {
                let is_before = (i as u32).wrapping_sub(places + lane as u32).wrapping_add(1 << 31) >> 31;
                *all_differ &= nonzero(chunk[lane] ^ position) | is_before;
            }
        }
        let differ = barrier(all_differ.iter().fold(1, |all, one| all & one)).wrapping_neg();
        positions[i >> 4][i & 15] = i as u32 ^ (i as u32 ^ position) & differ;
    }
}

/// The words that have the bits of the positions: every word is compared with every position.
#[inline(always)]
pub(super) fn write(words: &mut [u64], positions: &Positions, weight: usize) {
    let mut bits = Secret::new([[0_u64; 2]; MAX_WEIGHT]);
    let bits = &mut bits.expose_mut()[..weight];
    for (bit, position) in bits.iter_mut().zip(positions.as_flattened()) {
        *bit = [u64::from(position >> 6), 1 << (position & 63)];
    }
    for (tile, words) in (0..).map(|tile| 8 * tile).zip(words.chunks_mut(8)) {
        let mut sums = [0; 8];
        for [place, bit] in &*bits {
            for (sum, i) in sums.iter_mut().zip(0..) {
                // One where the places are equal, else zero.
                let equal = (place ^ (tile + i)).wrapping_sub(1) >> 63;
                *sum |= bit & equal.wrapping_neg();
            }
        }
        words.copy_from_slice(&sums[..words.len()]);
    }
}
