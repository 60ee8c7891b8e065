//! Vectors of fixed weight: from positions that are all different, in constant time, to bits.

use super::params::MAX_WEIGHT;
use crate::secret::{Secret, barrier};

/// Positions, in chunks of sixteen; those behind the weight are no positions.
pub(super) type Positions = [[u32; 16]; 10];

/// Placeholder of a position that is not set.
pub(super) const NONE: u32 = u32::MAX;

const _: () = assert!(MAX_WEIGHT <= 160);

/// All zeros if x is zero, else one.
#[inline(always)]
const fn nonzero(x: u32) -> u32 {
    (x | x.wrapping_neg()) >> 31
}

/// One if all are one.
#[inline(always)]
fn all_of(ones: &[u32; 16]) -> u32 {
    let mut all = 1;
    for one in ones {
        all &= one;
    }
    all
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

/// The positions of Sendrier's sampler (eprint 2021/1631), each uniform among those from i on; of two that are equal the last is kept, and position
/// i takes the place of the other.
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
        let differ = barrier(all_of(&all_differ)).wrapping_neg();
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    const N: u32 = 17669;

    /// The bytes from which the sampler takes these positions before it looks for equal ones.
    #[allow(clippy::integer_division_remainder_used)]
    fn bytes_of(positions: &[u32]) -> Vec<u8> {
        let word = |(i, position): (usize, &u32)| {
            let (i, position) = (i as u64, u64::from(*position));
            ((position - i) << 32).div_ceil(u64::from(N) - i) as u32
        };
        positions.iter().enumerate().flat_map(|place| word(place).to_le_bytes()).collect()
    }

    fn sampled(positions: &[u32]) -> Vec<u32> {
        let mut found = [[0; 16]; 10];
        positions_of(N, &bytes_of(positions), &mut found);
        let (found, rest) = found.as_flattened().split_at(positions.len());
        assert!(rest.iter().all(|position| *position == NONE));
        found.to_vec()
    }

    #[test]
    fn of_equal_positions_the_last_is_kept() {
        assert_eq!(sampled(&[9000, 7, 1000, 17668, 50]), [9000, 7, 1000, 17668, 50]);
        // A sampler that keeps the first would give [9000, 7, 1000, 17668, 50, 5].
        assert_eq!(sampled(&[9000, 7, 1000, 17668, 50, 1000]), [9000, 7, 2, 17668, 50, 1000]);
        assert_eq!(sampled(&[60; 40])[..], (0..39).chain([60]).collect::<Vec<_>>()[..]);
        // A place that was put in for a position counts as a later position: here 3, for the fourth.
        assert_eq!(sampled(&[4, 3, 8, 8, 8]), [4, 1, 2, 3, 8]);
        // Across chunks of sixteen, and in the last places.
        let mut positions: Vec<u32> = (0..149).map(|i| 200 + i).collect();
        for (from, to) in [(0, 16), (15, 148), (31, 32), (47, 147), (146, 145)] {
            positions[from] = positions[to];
        }
        let mut expected = positions.clone();
        expected[0] = 0;
        expected[15] = 15;
        expected[31] = 31;
        expected[47] = 47;
        expected[145] = 145;
        assert_eq!(sampled(&positions), expected);
    }

    #[test]
    fn absence_is_told_for_every_place() {
        let mut positions = [[NONE; 16]; 10];
        for i in 0..MAX_WEIGHT {
            assert_eq!(is_absent(&positions, 1000 + i as u32), 1);
            positions.as_flattened_mut()[i] = 1000 + i as u32;
            for j in 0..MAX_WEIGHT {
                assert_eq!(is_absent(&positions, 1000 + j as u32), u32::from(j > i));
            }
        }
    }

    #[test]
    fn a_vector_has_the_bits_of_its_positions() {
        for (len, positions) in
            [(1, vec![0, 63]), (9, vec![64, 575, 1, 512, 511]), (277, vec![17668, 0, 128])]
        {
            let (mut words, mut expected) = (vec![u64::MAX; len], vec![0; len]);
            let mut all = [[NONE; 16]; 10];
            all.as_flattened_mut()[..positions.len()].copy_from_slice(&positions);
            for position in &positions {
                expected[(position >> 6) as usize] |= 1 << (position & 63);
            }
            write(&mut words, &all, positions.len());
            assert_eq!(words, expected);
        }
    }
}
