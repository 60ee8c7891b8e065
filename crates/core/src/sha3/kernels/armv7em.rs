//! Keccak-p\[1600, n\] for Armv7E-M, of interleaved lanes: 24 rounds take 9,550 cycles of the model of a Cortex-M4 without wait
//! states, 6.2 kB of code and 104 bytes of stack; in a build for size, 13,360 cycles, 1.2 kB and 64 bytes.
//!
//! In a build for size each round is a turn of a loop: each word moved along the cycles of π, then χ, of even halves and of odd ones,
//! which gathers the parities. For the other the plan is this, in the words of «An update on Keccak performance on ARMv7-M» (Adomnicai, TCHES 2023) where it is theirs:
//!
//! * A plane is written where its lanes were read, each lane to its own column: after four rounds all are back (the
//!   «in-place» order of the Keccak implementation overview). So the loop has four rounds and no second state.
//! * Rotations are lazy: the second operand of an instruction is turned for nothing, so a word is stored as it is, and how
//!   much it is still to be turned is known to the assembler. Once in four rounds it has to be settled, by three words of five.
//! * Ours: the parities of the next round's θ are gathered while χ makes its results, in five registers, first of the
//!   even halves, then of the odd ones. So θ loads no lane; in exchange, what it adds comes from the stack, two values of
//!   five being left over from the plane before.
//!
//! No branch and no address depends on the state.

use core::arch::naked_asm;

use crate::sha3::State;

/// A round constant, as `interleaved` keeps it.
#[cfg(not(gambeson_size))]
type Constant = u64;
#[cfg(gambeson_size)]
type Constant = u16;

/// The rounds with these constants, a multiple of four, of interleaved lanes.
pub(crate) fn last_rounds(state: &mut State, constants: &[Constant]) {
    debug_assert!(!constants.is_empty() && constants.len() & 3 == 0);
    let constants = constants.as_ptr_range();
    // SAFETY: the state is the caller's alone, and the constants are there up to the end; at least one turn of four.
    unsafe { turns_of_four(state, constants.start, constants.end) }
}

/// Adds the words to as many lanes, or as many as there are.
#[cfg(not(gambeson_size))]
pub(crate) fn absorb(lanes: &mut [u64], words: &[[u8; 8]]) {
    let words = &words[..words.len().min(lanes.len())];
    if !words.is_empty() {
        let words = words.as_ptr_range();
        // SAFETY: one word at least, and as many lanes.
        unsafe { absorb_words(lanes.as_mut_ptr(), words.start, words.end) }
    }
}

#[cfg(not(gambeson_size))]
#[unsafe(naked)]
unsafe extern "C" fn absorb_words(lanes: *mut u64, words: *const [u8; 8], end: *const [u8; 8]) {
    naked_asm!(include_str!("armv7em_absorb.s"), options(raw));
}

/// Keccak-p of the state, with constants from `constant` up to `end`, four at a time.
#[unsafe(naked)]
unsafe extern "C" fn turns_of_four(state: *mut State, constant: *const Constant, end: *const Constant) {
    #[cfg(not(gambeson_size))]
    naked_asm!(include_str!("armv7em.s"), options(raw));
    #[cfg(gambeson_size)]
    naked_asm!(include_str!("armv7em_size.s"), options(raw));
}
