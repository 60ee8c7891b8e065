//! What the batches of ML-KEM and ML-DSA do with their sponges, lane by lane. Lanes have the form of a sponge's (`interleaved`).

#![allow(unsafe_code)] // Words are read as bytes.

use super::State;
use super::kernels::interleaved::{self, IN_FORCE as INTERLEAVED, from_byte, from_word, to_word};
use super::kernels::{is_plugged, kernels};
use crate::cpu::Level;

/// Whether any table of this target permutes more than two sponges side by side: schedules for that are no code elsewhere.
#[cfg(feature = "alloc")]
pub(crate) const WIDE: bool = cfg!(target_arch = "x86_64");

/// The most sponges that any table permutes side by side; where lanes are interleaved, none does.
pub(crate) const LANES: usize = if INTERLEAVED { 1 } else { 8 };

/// How many sponges what is in force permutes side by side; a plugged-in permutation, as far as we know, one.
pub(crate) fn lanes() -> usize {
    match kernels() {
        _ if is_plugged() => 1,
        Level::Avx512 => LANES,
        Level::Avx2 => 4,
        Level::Neon | Level::Simd128 => 2,
        Level::Portable | Level::Armv7em | Level::Rv32 => 1,
    }
}

/// How many states to permute where so many are busy, with so many lanes: of fewer a table would make an array of its own, and idle
/// states beside the busy ones are cheaper, but for one that is left alone.
#[inline]
pub(crate) fn permuted(busy: usize, lanes: usize) -> usize {
    if lanes < 4 || busy & (lanes - 1) == 1 { busy } else { busy.next_multiple_of(4) }
}

/// Adds whole words.
#[cfg(feature = "alloc")]
pub(crate) fn absorb(words: &mut [u64], bytes: &[u8]) {
    debug_assert!(bytes.len() & 7 == 0);
    interleaved::absorb(words, bytes.as_chunks().0);
}

/// Adds bytes from `place` on.
pub(crate) fn absorb_at(state: &mut State, place: usize, bytes: &[u8]) {
    let (head, bytes) = bytes.split_at(bytes.len().min(place.wrapping_neg() & 7));
    for (place, byte) in (place..).zip(head) {
        state.0[place >> 3] ^= from_byte(*byte, place & 7);
    }
    let lanes = &mut state.0[(place + head.len()) >> 3..];
    let (words, tail) = bytes.as_chunks();
    interleaved::absorb(lanes, words);
    if !tail.is_empty() {
        let word = tail.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        lanes[words.len()] ^= from_word(word);
    }
}

/// The first words of the state.
pub(crate) fn squeeze(state: &State, bytes: &mut [u8]) {
    for (bytes, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(&state.0) {
        *bytes = to_word(*word).to_le_bytes();
    }
}

/// The first `RATE` bytes of the state, for `take` to read.
///
/// On x86-64 and aarch64 where they stand: a copy by words, read at once by wider loads, stalls each of them.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn squeezed<const RATE: usize>(state: &State, take: impl FnOnce(&[u8; RATE]) -> usize) -> usize {
    const { assert!(RATE <= size_of::<State>()) };
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
    {
        // SAFETY: `RATE` bytes are there, any of which may be read as such; the words are little-endian.
        take(unsafe { &*(&raw const state.0).cast::<[u8; RATE]>() })
    }
    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
    {
        let mut bytes = [0; RATE];
        squeeze(state, &mut bytes);
        let taken = take(&bytes);
        crate::secret::wipe(&mut bytes);
        taken
    }
}
