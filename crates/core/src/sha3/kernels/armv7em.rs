//! Keccak-p\[1600, n\] for Armv7E-M, of interleaved lanes: 9,370 cycles for 24 rounds on a Cortex-M4 without wait states, 104
//! bytes of stack.
//!
//! The plan, in the words of «An update on Keccak performance on ARMv7-M» (Adomnicai, TCHES 2023) where it is theirs:
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
    #[cfg(not(gambeson_size))]
    naked_asm!(include_str!("armv7em.s"), options(raw));
    #[cfg(gambeson_size)]
    naked_asm!(include_str!("armv7em_size.s"), options(raw));
}
