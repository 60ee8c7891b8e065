//! The state for machines with 32-bit words: in each lane the even bits stand in the lower half, the odd bits in the upper.
//!
//! So a rotation of 64 bits is two of 32 («bit interleaving» of the Keccak implementation overview). Lanes change their form
//! where they enter and leave a sponge; between two permutations nothing is converted.

#![allow(unsafe_code)] // Lanes are lent under another type.

#[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
use core::sync::atomic::{Ordering, compiler_fence};

#[cfg(all(gambeson_dsp, not(gambeson_size)))]
pub(in crate::sha3) use super::armv7em::absorb;
#[cfg(gambeson_dsp)]
use super::armv7em::last_rounds;
#[cfg(gambeson_rv32)]
use super::rv32::last_rounds;
use crate::sha3::State;
#[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
use crate::sha3::keccak::{Lane, theta};
use crate::sha3::keccak::{ROUND_CONSTANTS, permute_reduced as permute_words_reduced};

/// Whether sponges hold their states so.
pub(crate) const IN_FORCE: bool =
    cfg!(all(target_pointer_width = "32", target_endian = "little", not(target_family = "wasm")));

/// The lane of a sponge for these eight bytes.
#[inline(always)]
pub(crate) fn from_word(word: u64) -> u64 {
    if IN_FORCE { interleave(word) } else { word }
}

/// Adds words to the lanes of a sponge.
#[cfg(any(not(gambeson_dsp), gambeson_size))]
#[inline(always)]
pub(in crate::sha3) fn absorb(lanes: &mut [u64], words: &[[u8; 8]]) {
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane ^= from_word(u64::from_le_bytes(*word));
    }
}

/// The eight bytes of a lane of a sponge.
#[inline(always)]
pub(crate) fn to_word(lane: u64) -> u64 {
    if IN_FORCE { deinterleave(lane) } else { lane }
}

/// The lane of a sponge for bytes from `place` on, which `word` has from its first on.
#[inline(always)]
pub(in crate::sha3) fn from_word_at(word: u64, place: usize) -> u64 {
    if !IN_FORCE {
        return word << (8 * place);
    }
    let lane = interleave(word);
    u64::from((lane as u32) << (4 * place)) | u64::from(((lane >> 32) as u32) << (4 * place)) << 32
}

/// The bytes of a lane of a sponge from `place` on.
#[inline(always)]
pub(in crate::sha3) fn to_word_from(lane: u64, place: usize) -> u64 {
    if !IN_FORCE {
        return lane >> (8 * place);
    }
    deinterleave(u64::from(lane as u32 >> (4 * place)) | u64::from((lane >> 32) as u32 >> (4 * place)) << 32)
}

/// The even and the odd bits of a lane of a sponge, which assembly reads in their places.
#[cfg(all(feature = "alloc", any(not(gambeson_dsp), test)))]
#[inline(always)]
pub(crate) fn halves(lane: u64) -> [u32; 2] {
    let lane = if IN_FORCE { lane } else { interleave(lane) };
    [lane as u32, (lane >> 32) as u32]
}

/// The lane of a sponge for byte `place` of eight, the others being zero.
#[inline(always)]
pub(crate) fn from_byte(byte: u8, place: usize) -> u64 {
    if IN_FORCE { interleave_byte(byte, place) } else { u64::from(byte) << (8 * place) }
}

/// Byte `place` of a lane of a sponge.
#[inline(always)]
pub(in crate::sha3) fn to_byte(lane: u64, place: usize) -> u8 {
    if IN_FORCE { deinterleave_byte(lane, place) } else { (lane >> (8 * place)) as u8 }
}

/// Ordinary lanes in a sponge's place for the time of `permute`.
pub(in crate::sha3) fn as_words(state: &mut State, permute: impl FnOnce(&mut State)) {
    if !IN_FORCE {
        return permute(state);
    }
    state.0.iter_mut().for_each(|lane| *lane = deinterleave(*lane));
    permute(state);
    state.0.iter_mut().for_each(|lane| *lane = interleave(*lane));
}

/// A sponge's form of ordinary lanes for the time of `permute`.
pub(in crate::sha3) fn as_interleaved(state: &mut State, permute: impl FnOnce(&mut State)) {
    state.0.iter_mut().for_each(|lane| *lane = interleave(*lane));
    permute(state);
    state.0.iter_mut().for_each(|lane| *lane = deinterleave(*lane));
}

/// Even bits down, odd bits up.
const fn interleave(word: u64) -> u64 {
    let halves = [word as u32, (word >> 32) as u32];
    let halves = exchange(exchange(exchange(exchange(exchange(halves, 4), 3), 2), 1), 0);
    halves[0] as u64 | (halves[1] as u64) << 32
}

/// A bit has a number of six bits, the first of which is its half: that goes to the end, the others move up, by exchanges of
/// the first with each of them.
const fn deinterleave(lane: u64) -> u64 {
    let halves = [lane as u32, (lane >> 32) as u32];
    let halves = exchange(exchange(exchange(exchange(exchange(halves, 0), 1), 2), 3), 4);
    halves[0] as u64 | (halves[1] as u64) << 32
}

/// By place, the bits whose number has a 0 there.
const EXCHANGES: [u32; 5] = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0x0000_ffff];

/// Exchanges the bits of the lower half whose number has a 1 at this place with those of the upper half whose has a 0.
#[inline(always)]
const fn exchange([low, high]: [u32; 2], place: usize) -> [u32; 2] {
    let difference = (low >> (1 << place) ^ high) & EXCHANGES[place];
    [low ^ difference << (1 << place), high ^ difference]
}

fn interleave_byte(byte: u8, place: usize) -> u64 {
    // 0, 2, 4, 6, 1, 3, 5, 7: four bits for either half.
    let mut x = u32::from(byte);
    let mut t = (x ^ x >> 1) & 0x22;
    x ^= t ^ t << 1;
    t = (x ^ x >> 2) & 0x0c;
    x ^= t ^ t << 2;
    u64::from((x & 15) << (4 * place)) | u64::from(x >> 4 << (4 * place)) << 32
}

fn deinterleave_byte(lane: u64, place: usize) -> u8 {
    let (even, odd) = (lane as u32 >> (4 * place), (lane >> 32) as u32 >> (4 * place));
    let mut x = even & 15 | (odd & 15) << 4;
    let mut t = (x ^ x >> 2) & 0x0c;
    x ^= t ^ t << 2;
    t = (x ^ x >> 1) & 0x22;
    (x ^ t ^ t << 1) as u8
}

/// The round constants in a sponge's form.
#[cfg(not(all(gambeson_dsp, gambeson_size)))]
static CONSTANTS: [u64; 24] = {
    let mut constants = ROUND_CONSTANTS;
    let mut i = 0;
    while i < 24 {
        constants[i] = interleave(constants[i]);
        i += 1;
    }
    constants
};

/// The same in two bytes each: of the odd half bits 0, 1, 3, 7 and 15, its bit 31 at place 4, and bit 0 of the even half at place 2.
/// No constant has other bits.
#[cfg(all(gambeson_dsp, gambeson_size))]
static CONSTANTS: [u16; 24] = {
    let mut constants = [0; 24];
    let mut i = 0;
    while i < 24 {
        let lane = interleave(ROUND_CONSTANTS[i]);
        let (even, odd) = (lane as u32, (lane >> 32) as u32);
        assert!(even >> 1 == 0 && odd & !0x8000_808b == 0);
        constants[i] = (odd & 0x808b | odd >> 31 << 4 | even << 2) as u16;
        i += 1;
    }
    constants
};

/// Keccak-f\[1600\] (FIPS 202, §3.3 and §3.4) of interleaved lanes.
pub(in crate::sha3) fn permute(state: &mut State) {
    last_rounds(state, &CONSTANTS);
}

/// Keccak-p\[1600, 12\] (FIPS 202, §3.3) of a sponge's lanes.
pub(in crate::sha3) fn permute_reduced(state: &mut State) {
    if IN_FORCE {
        last_rounds(state, &CONSTANTS[12..]);
    } else {
        permute_words_reduced(&mut state.0);
    }
}

/// The rounds of these constants.
///
/// In place: `keccak::rounds` would have a second state on the stack, at the deepest place of every operation.
#[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
#[inline(never)]
fn last_rounds(state: &mut State, constants: &[u64]) {
    // SAFETY: `Interleaved` is a `u64`, and the only reference to these for as long as it lives.
    let lanes = unsafe { &mut *(&raw mut state.0).cast::<[Interleaved; 25]>() };
    for constant in constants {
        move_lanes(lanes);
        // χ (FIPS 202, Algorithm 4).
        for row in lanes.as_chunks_mut().0 {
            *row = Lane::chi::<0>(*row);
        }
        lanes[0] = lanes[0].xor(Interleaved(*constant));
    }
}

/// π ∘ ρ ∘ θ (FIPS 202, Algorithms 1 to 3), where π is one cycle.
#[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
#[inline(always)]
fn move_lanes(a: &mut [Interleaved; 25]) {
    // Else the compiler would keep lanes from one line to the next, and spill them.
    let written = || compiler_fence(Ordering::SeqCst);
    let d = theta(a);
    written();
    a[0] = a[0].add(d[0]);
    let mut lane = a[1].add_rotate::<1>(d[1]);
    // Where it goes to, the column of the lane that stands there, and by how much that is turned.
    macro_rules! go_round {
        ($($place:literal $column:literal $turn:literal,)*) => {$(
            let next = a[$place].add_rotate::<$turn>(d[$column]);
            a[$place] = lane;
            lane = next;
            written();
        )*};
    }
    go_round! {
        10 0 3, 7 2 6, 11 1 10, 17 2 15, 18 3 21, 3 3 28, 5 0 36, 16 1 45, 8 3 55, 21 1 2, 24 4 14, 4 4 27,
        15 0 41, 23 3 56, 19 4 8, 13 3 25, 12 2 43, 2 2 62, 20 0 18, 14 4 39, 22 2 61, 9 4 20, 6 1 44,
    }
    a[1] = lane;
    written();
}

/// A lane as the text of the permutation sees it.
#[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Interleaved(u64);

#[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
impl Lane for Interleaved {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    #[inline(always)]
    fn and_not(self, mask: Self) -> Self {
        Self(self.0 & !mask.0)
    }

    /// Of an odd number of places, each half goes to the other.
    #[inline(always)]
    fn rotate_left<const N: u32>(self) -> Self {
        let (even, odd) = (self.0 as u32, (self.0 >> 32) as u32);
        let (even, odd) = if N & 1 == 0 { (even, odd) } else { (odd.rotate_left(1), even) };
        let half = const { N >> 1 };
        Self(u64::from(even.rotate_left(half)) | u64::from(odd.rotate_left(half)) << 32)
    }

    #[inline(always)]
    fn broadcast(word: u64) -> Self {
        Self(word)
    }

    type Theta = Self;

    #[inline(always)]
    fn theta(before: Self, after: Self) -> Self {
        before.xor(after.rotate_left::<1>())
    }

    #[inline(always)]
    fn add(self, theta: Self) -> Self {
        self.xor(theta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha3::keccak;

    fn words() -> impl Iterator<Item = u64> {
        (0..64).map(|bit| 1 << bit).chain((0..200u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    #[test]
    fn even_bits_stand_in_the_lower_half() {
        for word in words() {
            let expected =
                (0..64).fold(0, |lane, bit| lane | (word >> bit & 1) << ((bit >> 1) + 32 * (bit & 1)));
            assert_eq!(interleave(word), expected);
            assert_eq!(deinterleave(expected), word);
        }
    }

    #[test]
    fn bytes_stand_where_their_word_has_them() {
        for word in words() {
            let lane = interleave(word);
            let bytes = word.to_le_bytes();
            let sum = bytes.iter().enumerate().fold(0, |sum, (i, byte)| sum ^ interleave_byte(*byte, i));
            assert_eq!(sum, lane);
            for (i, byte) in bytes.into_iter().enumerate() {
                assert_eq!(deinterleave_byte(lane, i), byte);
            }
        }
    }

    #[test]
    fn interleaved_lanes_are_permuted_as_ordinary_ones() {
        let mut state = State(core::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let mut expected = state.clone();
        for _ in 0..100 {
            as_interleaved(&mut state, permute);
            keccak::permute(&mut expected.0);
            assert_eq!(state, expected);
            as_interleaved(&mut state, |state| last_rounds(state, &CONSTANTS[12..]));
            keccak::permute_reduced(&mut expected.0);
            assert_eq!(state, expected);
        }
    }
}
