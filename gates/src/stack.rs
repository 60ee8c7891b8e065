//! The stack below a call: how deep it went, and what it left there.
//!
//! Everything runs on a thread of its own, whose stack is large and, at first, all zero.

use std::hint::black_box;
use std::thread;

/// The pattern of untouched stack; not a byte that frames are full of.
const PAINT: u64 = 0xA55A_C33C_9669_F00F;
/// How far below the call we look.
const REACH: usize = 500_000;
/// Left alone directly below the stack pointer. What we do there makes no call, and what calls has no red zone.
const MARGIN: usize = 32;

/// Runs `work` on a fresh thread with eight megabytes of stack.
pub fn on_fresh_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(8 << 20).spawn_scoped(scope, work);
        thread.expect("a thread can be started").join().expect("the measured work does not panic")
    })
}

/// The most stack that `work` used, in bytes below this call, to eight bytes; and what it returned.
#[inline(never)]
pub fn depth<R>(work: impl FnOnce() -> R) -> (usize, R) {
    let top = stack_pointer() - MARGIN;
    let bottom = top - REACH;
    // SAFETY: the thread's stack reaches further down than `bottom`, and nothing alive lies below the stack pointer
    // less the margin; no call is made between here and `call`.
    unsafe {
        let mut word = bottom;
        while word < top {
            (word as *mut u64).write_volatile(PAINT);
            word += 8;
        }
    }
    let result = call(work);
    let mut word = bottom;
    // SAFETY: the same words, only read.
    while word < top && unsafe { (word as *const u64).read_volatile() } == PAINT {
        word += 8;
    }
    (if word == top { 0 } else { top + MARGIN - word }, result)
}

/// Runs `work` in a frame of its own.
#[inline(never)]
pub(crate) fn call<R>(work: impl FnOnce() -> R) -> R {
    let result = work();
    black_box(());
    result
}

/// Runs `work`, which returns nothing, and returns a copy of the dead stack below, lowest address first.
#[inline(never)]
pub fn residue(work: impl FnOnce()) -> Vec<u8> {
    let mut dead = vec![0; REACH];
    let copy = dead.as_mut_ptr();
    let bottom = (stack_pointer() - MARGIN - REACH) & !15;
    let mut offset = 0;
    while offset < REACH {
        // SAFETY: as below; what earlier work left must not be laid to this one.
        unsafe { ((bottom + offset) as *mut u64).write_volatile(0) };
        offset += 8;
    }
    call(work);
    offset = 0;
    // SAFETY: the thread's stack reaches further down than `bottom`; the copy is made word by word without a call, so
    // nothing of it is overwritten before it is read; `dead` has room for REACH bytes, a multiple of eight.
    unsafe {
        while offset < REACH {
            let word = ((bottom + offset) as *const u64).read_volatile();
            copy.add(offset).cast::<u64>().write_unaligned(word);
            offset += 8;
        }
    }
    dead
}

#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer & !15
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary;

    #[test]
    fn a_planted_frame_is_measured() {
        let (depth, _) = on_fresh_stack(|| depth(canary::big_frame));
        assert!((canary::BIG_FRAME..canary::BIG_FRAME + 2_000).contains(&depth), "{depth}");
    }

    #[test]
    fn a_planted_secret_is_found() {
        let secret: [u8; 32] = crate::bytes("a secret");
        let found = on_fresh_stack(|| {
            let dead = residue(|| _ = canary::left_on_stack(&secret));
            dead.windows(32).any(|window| window == secret)
        });
        assert!(found);
    }
}
