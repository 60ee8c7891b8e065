//! Keccak-p\[1600, n\] for RV32I, of interleaved lanes.
//!
//! RV32I has neither rotations nor and-not: a word that is turned takes three instructions, and six lanes are kept complemented
//! («lane complementing» of the Keccak implementation overview). It has registers enough for what θ adds, ten words, and for the
//! ten parities of the next round, gathered while χ makes its results; so each word is loaded and stored once a round:
//!
//! * A plane is made half by half, of five words, and written where these were read, each lane to its own column: after four
//!   rounds all are back (the «in-place» order of the same overview). ρ by an odd number exchanges halves; those too are back.
//! * Where a word stands and by how much it is turned is known to the assembler; the text says lane and offset of the standard.
//!
//! No branch and no address depends on the state.

use core::arch::naked_asm;

use crate::sha3::State;

/// The rounds with these constants, a multiple of four, of interleaved lanes.
pub(crate) fn last_rounds(state: &mut State, constants: &[u64]) {
    debug_assert!(!constants.is_empty() && constants.len() & 3 == 0);
    let constants = constants.as_ptr_range();
    // SAFETY: the state is the caller's alone, and the constants are there up to the end; at least one turn of four.
    unsafe { turns_of_four(state, constants.start, constants.end) }
}

/// Keccak-p of the state, with constants from `constant` up to `end`, four at a time.
#[unsafe(naked)]
unsafe extern "C" fn turns_of_four(state: *mut State, constant: *const u64, end: *const u64) {
    naked_asm!(include_str!("rv32.s"), options(raw));
}
