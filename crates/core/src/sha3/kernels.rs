//! Which permutation runs: the plugged-in one, else the best table at or below `cpu::level()`.

#![allow(unsafe_code)] // A function pointer is kept in an atomic.

#[cfg(gambeson_dsp)]
pub(super) mod armv7em;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(super) mod interleaved;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
#[cfg(gambeson_rv32)]
pub(super) mod rv32;
#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
mod simd128;

use core::fmt;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::{State, keccak};
use crate::cpu::{self, Level};

/// The permutations of one instruction set.
pub(super) struct Kernels {
    level: Level,
    permute_many: fn(&mut [State]),
    permute_aligned: fn(&mut [Aligned]),
    chain: Option<ChainSteps>,
}

/// Steps of chains of hashes side by side, in as many states as there are lanes. Each state is a message of one block that has, from the
/// word of the first number on, as many words of a value as the second says, and before them a word whose last byte counts the steps. A step
/// puts the first words of the permuted state in the place of the value and adds one to the count.
pub(crate) type ChainSteps = fn(states: &mut [Aligned; super::LANES], place: usize, words: usize, steps: u32);

/// The steps of [`ChainSteps`] in lanes, the first `words` of each state; `count` adds one to a counter.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn chain<L: keccak::Lane>(
    lanes: &mut [L; 25],
    place: usize,
    words: usize,
    steps: u32,
    count: impl Fn(L) -> L,
) {
    debug_assert!(words <= 4);
    for _ in 0..steps {
        let mut permuted = *lanes;
        keccak::permute(&mut permuted);
        // Constant places, so that the permuted words stay in registers.
        for (i, word) in permuted[..4].iter().enumerate() {
            if i < words {
                lanes[place + i] = *word;
            }
        }
        lanes[place - 1] = count(lanes[place - 1]);
    }
}

static PORTABLE: Kernels = Kernels {
    level: if cfg!(gambeson_dsp) {
        Level::Armv7em
    } else if cfg!(gambeson_rv32) {
        Level::Rv32
    } else {
        Level::Portable
    },
    permute_many: permute_portable,
    // A copy of the permutation for such states would take the compiler a second.
    permute_aligned: |states| {
        states.iter_mut().for_each(|state| permute_portable(core::slice::from_mut(&mut state.0)))
    },
    chain: None,
};

/// A state that begins at a line of the cache: loads and stores of whole lines do not cross into the next, which saves a
/// twentieth of a permutation of eight states.
#[derive(Clone)]
#[repr(align(64))]
pub(crate) struct Aligned(pub State);

/// Eight sponges that are only squeezed: word i of all of them stands side by side, and stays so from one block to the next.
#[repr(align(64))]
// Without memory nothing is done in batches; only x86-64 does eight at once.
#[cfg_attr(not(all(feature = "alloc", target_arch = "x86_64")), allow(dead_code))]
pub(crate) struct Abreast([[u64; 8]; 25]);

#[cfg_attr(not(feature = "alloc"), allow(dead_code))]
impl Abreast {
    /// SHAKE128 of 34 bytes each, before its first permutation.
    pub(crate) fn of_seeds<'s>(seeds: impl Iterator<Item = (&'s [u8; 32], [u8; 2])>) -> Self {
        let mut words = [[0; 8]; 25];
        for (lane, (seed, place)) in seeds.enumerate() {
            for (word, bytes) in words.iter_mut().zip(seed.as_chunks().0) {
                word[lane] = u64::from_le_bytes(*bytes);
            }
            words[4][lane] = u64::from(u16::from_le_bytes(place)) | 0x1f << 16;
        }
        words[(super::Shake128::RATE >> 3) - 1] = [1 << 63; 8];
        Self(words)
    }
}

/// What one of them gives: the first 24 words.
#[repr(align(64))]
#[cfg_attr(not(feature = "alloc"), allow(dead_code))]
pub(crate) struct Block([u8; 192]);

#[cfg_attr(not(feature = "alloc"), allow(dead_code))]
impl Block {
    pub(crate) const ZERO: Self = Self([0; 192]);

    pub(crate) fn shake128(&self) -> &[u8; super::Shake128::RATE] {
        self.0.first_chunk().expect("168 of 192 bytes")
    }
}

/// A value with a state to permute.
// Microcontrollers have no table that takes both kinds.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
trait Holder {
    fn state(&mut self) -> &mut State;
}

impl Holder for State {
    #[inline(always)]
    fn state(&mut self) -> &mut State {
        self
    }
}

impl Holder for Aligned {
    #[inline(always)]
    fn state(&mut self) -> &mut State {
        &mut self.0
    }
}

/// Permutes fewer states than there are lanes; the idle ones hold zeros.
#[cfg(target_arch = "x86_64")]
#[inline(never)] // its states would widen the frame of every permutation
fn padded<H: Holder, const N: usize>(few: &mut [H], permute: impl FnOnce(&mut [Aligned; N])) {
    let mut all = [const { Aligned(State::new()) }; N];
    for (all, few) in all.iter_mut().zip(&mut *few) {
        all.0.0 = few.state().0;
    }
    permute(&mut all);
    for (few, all) in few.iter_mut().zip(&mut all) {
        few.state().0 = all.0.0;
        zeroize::Zeroize::zeroize(&mut all.0);
    }
}

fn active() -> &'static Kernels {
    match cpu::level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => &avx512::AVX512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => &avx2::AVX2,
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        Level::Neon => neon::table().unwrap_or(&PORTABLE),
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        Level::Simd128 => &simd128::SIMD128,
        _ => &PORTABLE,
    }
}

/// The permutation of each state without vectors, whatever the machine offers: what a plugged-in one must equal.
pub fn permute_portable(states: &mut [State]) {
    for state in states {
        if interleaved::IN_FORCE {
            interleaved::as_interleaved(state, interleaved::permute);
        } else {
            keccak::permute(&mut state.0);
        }
    }
}

/// Permutes the state of a sponge, whose lanes are as `interleaved` has them.
pub fn permute_sponge(state: &mut State) {
    match plugged() {
        None if interleaved::IN_FORCE => interleaved::permute(state),
        None => (active().permute_many)(core::slice::from_mut(state)),
        Some(permutation) => {
            interleaved::as_words(state, |state| permutation(core::slice::from_mut(state)));
        }
    }
}

/// Permutes each state by Keccak-f\[1600\] (FIPS 202, §3.3), through the plugged-in permutation or the kernel
/// table in force. Batches let wide tables fill their lanes.
pub fn permute_many(states: &mut [State]) {
    match plugged() {
        None => (active().permute_many)(states),
        Some(permutation) => permutation(states),
    }
}

/// The states of sponges that are aligned.
pub(crate) fn permute_aligned(states: &mut [Aligned]) {
    match plugged() {
        _ if interleaved::IN_FORCE => states.iter_mut().for_each(|state| permute_sponge(&mut state.0)),
        None => (active().permute_aligned)(states),
        Some(permutation) => {
            states.iter_mut().for_each(|state| permutation(core::slice::from_mut(&mut state.0)))
        }
    }
}

/// The steps of chains in columns, if the table has such.
pub(crate) fn chain_steps() -> Option<ChainSteps> {
    if plugged().is_some() { None } else { active().chain }
}

/// What permutes eight sponges abreast and brings a block of each together, if the table has such.
#[cfg(feature = "alloc")]
pub(crate) fn squeeze_eight() -> Option<fn(&mut Abreast, &mut [Block; 8])> {
    #[cfg(target_arch = "x86_64")]
    if plugged().is_none() && kernels() == Level::Avx512 {
        return Some(avx512::SQUEEZE_EIGHT);
    }
    None
}

/// Whether a permutation is plugged in.
pub(super) fn is_plugged() -> bool {
    plugged().is_some()
}

fn plugged() -> Option<fn(&mut [State])> {
    let plugged = PLUGGED.load(Ordering::Acquire);
    // SAFETY: null, or a `fn(&mut [State])`: `set_permutation` alone stores here, and stores such.
    unsafe { core::mem::transmute::<*mut (), Option<fn(&mut [State])>>(plugged) }
}

/// The kernel table that would run, if no permutation is plugged in.
#[must_use]
pub fn kernels() -> Level {
    active().level
}

/// Null, or a `fn(&mut [State])`.
static PLUGGED: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// The function is not Keccak-f\[1600\]: it disagrees with the portable permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongPermutation;

impl fmt::Display for WrongPermutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the plugged-in permutation is not Keccak-f[1600]")
    }
}

impl core::error::Error for WrongPermutation {}

/// Makes every hash of this process run through `permutation`, which must apply Keccak-f\[1600\] to each state
/// of its slice, of any length.
///
/// Call it once, at start-up. It must not hash through this crate itself.
///
/// # Errors
///
/// [`WrongPermutation`] if its results on three test states, alone and together, are not those of the portable
/// permutation; what ran before then stays.
pub fn set_permutation(permutation: fn(&mut [State])) -> Result<(), WrongPermutation> {
    let start = [State([0; 25]), State([u64::MAX; 25]), State(core::array::from_fn(|i| i as u64 + 1))];
    let mut expected = start.clone();
    permute_portable(&mut expected);

    let mut together = start.clone();
    permutation(&mut together);
    let mut alone = start;
    alone.chunks_mut(1).for_each(permutation);
    if together != expected || alone != expected {
        return Err(WrongPermutation);
    }
    PLUGGED.store(permutation as *mut (), Ordering::Release);
    Ok(())
}

/// Takes the plugged-in permutation out again: the kernel tables run.
pub fn clear_permutation() {
    PLUGGED.store(core::ptr::null_mut(), Ordering::Release);
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[cfg(all(feature = "alloc", target_arch = "x86_64"))]
    #[test]
    fn eight_sponges_abreast_give_the_blocks_of_each() {
        use super::super::Shake128;
        if cpu::detected() < Level::Avx512 {
            return;
        }
        let seeds: [[u8; 32]; 8] =
            core::array::from_fn(|lane| core::array::from_fn(|i| (31 * lane + 7 * i) as u8));
        let mut outputs: Vec<_> = (0..)
            .zip(&seeds)
            .map(|(lane, seed)| Shake128::new().update(seed).update(&[lane, 3]).finalize_xof())
            .collect();
        let mut sponges = Abreast::of_seeds((0..).zip(&seeds).map(|(lane, seed)| (seed, [lane, 3])));
        let mut blocks = [const { Block::ZERO }; 8];
        for _ in 0..6 {
            (avx512::SQUEEZE_EIGHT)(&mut sponges, &mut blocks);
            for (block, output) in blocks.iter().zip(&mut outputs) {
                let mut expected = [0; Shake128::RATE];
                output.squeeze(&mut expected);
                assert_eq!(*block.shake128(), expected);
            }
        }
    }

    #[test]
    fn every_table_permutes_any_number_of_states_as_the_portable_one() {
        let mut tables = Vec::from([&PORTABLE]);
        #[cfg(target_arch = "x86_64")]
        {
            tables.extend((cpu::detected() >= Level::Avx2).then_some(&avx2::AVX2));
            tables.extend((cpu::detected() >= Level::Avx512).then_some(&avx512::AVX512));
        }
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        tables.extend(neon::table());
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        tables.push(&simd128::SIMD128);
        for table in tables {
            for n in 0..20 {
                let states: Vec<State> = (0..n)
                    .map(|i| {
                        State(core::array::from_fn(|lane| {
                            ((25 * i + lane + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
                        }))
                    })
                    .collect();
                let (mut ours, mut expected) = (states.clone(), states.clone());
                (table.permute_many)(&mut ours);
                expected.iter_mut().for_each(|state| keccak::permute(&mut state.0));
                assert_eq!(ours, expected, "{n} states, {}", table.level);
                let mut aligned: Vec<Aligned> = states.into_iter().map(Aligned).collect();
                (table.permute_aligned)(&mut aligned);
                assert!(aligned.iter().map(|aligned| &aligned.0).eq(&expected));
            }
        }
    }
}
