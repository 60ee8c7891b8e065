//! Faults of a Cortex-M end the program.
#![allow(unsafe_code)] // A handler of exceptions is unsafe to write.

use cortex_m_rt::{ExceptionFrame, exception};

// SAFETY: it touches nothing, says so and ends.
#[exception]
unsafe fn HardFault(_: &ExceptionFrame) -> ! {
    crate::print("a hard fault\n");
    crate::exit(false)
}
