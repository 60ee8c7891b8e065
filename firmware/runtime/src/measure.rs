//! A call between two marks, on a painted stack.
#![allow(unsafe_code)] // The call is assembly: it sees the stack pointer.

use core::arch::global_asm;
use core::ffi::c_void;
use core::mem::transmute;

/// Bytes below the caller that are painted.
pub const PAINTED: usize = 96 * 1024;

/// What the stack is painted with.
const PATTERN: u32 = 0xa5c3_965a;

unsafe extern "C" {
    /// The bytes that changed, and in the upper half those that hold something.
    fn gambeson_measure(work: extern "C" fn(*mut c_void), subject: *mut c_void) -> u64;
}

/// What a call did to the stack below it, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// Down to the lowest word that changed, [`PAINTED`] if the paint did not reach.
    pub changed: u32,
    /// Down to the lowest of these words that is not zero: what lies deeper was wiped.
    pub left: u32,
}

/// Calls `work` on `subject`, and tells of the stack below.
///
/// A store to the address `_mark` of the memory map comes before the call, then one of the word below the stack pointer,
/// which tells it to whoever watches; a store to `_mark` + 4 comes after.
#[must_use]
pub fn measure<T>(subject: &mut T, work: extern "C" fn(&mut T)) -> Stack {
    let subject: *mut T = subject;
    // SAFETY: the two types of functions differ in that of their pointer alone. The assembly keeps to the procedure call standard,
    // hands the pointer on, and writes only below its own frame, where nothing lives, and to `_mark`.
    let both = unsafe {
        let work = transmute::<extern "C" fn(&mut T), extern "C" fn(*mut c_void)>(work);
        gambeson_measure(work, subject.cast())
    };
    Stack { changed: both as u32, left: (both >> 32) as u32 }
}

#[cfg(target_arch = "arm")]
global_asm!(
    ".syntax unified",
    ".section .text.gambeson_measure, \"ax\"",
    ".global gambeson_measure",
    ".type gambeson_measure, %function",
    ".thumb_func",
    "gambeson_measure:",
    "push {{r3, r4, r5, r6, r7, lr}}",
    "mov r5, r0",
    "mov r0, r1",
    "ldr r4, =_mark",
    "ldr r6, ={pattern}",
    "sub r1, sp, #{painted}",
    "1: cmp r1, sp",
    "beq 2f",
    "str r6, [r1], #4",
    "b 1b",
    "2: mov r3, r6",
    "str r0, [r4]",
    "push {{r3}}",
    "pop {{r3}}",
    "blx r5",
    "str r0, [r4, #4]",
    "sub r1, sp, #{painted}",
    "3: cmp r1, sp",
    "beq 4f",
    "ldr r2, [r1], #4",
    "cmp r2, r6",
    "beq 3b",
    "sub r1, r1, #4",
    "4: sub r0, sp, r1",
    "5: cmp r1, sp",
    "beq 6f",
    "ldr r2, [r1], #4",
    "cmp r2, #0",
    "beq 5b",
    "sub r1, r1, #4",
    "6: sub r1, sp, r1",
    "pop {{r3, r4, r5, r6, r7, pc}}",
    ".ltorg",
    ".size gambeson_measure, . - gambeson_measure",
    pattern = const PATTERN,
    painted = const PAINTED,
);

#[cfg(target_arch = "riscv32")]
global_asm!(
    ".section .text.gambeson_measure, \"ax\"",
    ".global gambeson_measure",
    ".type gambeson_measure, %function",
    "gambeson_measure:",
    "addi sp, sp, -16",
    "sw ra, 12(sp)",
    "sw s0, 8(sp)",
    "sw s1, 4(sp)",
    "mv t2, a0",
    "mv a0, a1",
    "la s0, _mark",
    "li s1, {pattern}",
    "li t1, {painted}",
    "sub t1, sp, t1",
    "1: beq t1, sp, 2f",
    "sw s1, 0(t1)",
    "addi t1, t1, 4",
    "j 1b",
    "2: sw a0, 0(s0)",
    "sw s1, -4(sp)",
    "jalr t2",
    "sw a0, 4(s0)",
    "li t1, {painted}",
    "sub t1, sp, t1",
    "3: beq t1, sp, 4f",
    "lw t2, 0(t1)",
    "bne t2, s1, 4f",
    "addi t1, t1, 4",
    "j 3b",
    "4: sub a0, sp, t1",
    "5: beq t1, sp, 6f",
    "lw t2, 0(t1)",
    "bnez t2, 6f",
    "addi t1, t1, 4",
    "j 5b",
    "6: sub a1, sp, t1",
    "lw ra, 12(sp)",
    "lw s0, 8(sp)",
    "lw s1, 4(sp)",
    "addi sp, sp, 16",
    "ret",
    ".size gambeson_measure, . - gambeson_measure",
    pattern = const PATTERN,
    painted = const PAINTED,
);
