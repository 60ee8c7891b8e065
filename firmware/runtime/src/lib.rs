//! What every program of this workspace stands on: start-up (`cortex-m-rt`, `riscv-rt`), output and exit over semihosting,
//! and [`measure`].
//!
//! The memory maps are in `memory/`; the environment variable `GAMBESON_BOARD` names one: `mps2-an386` and `stm32f407` for
//! Cortex-M4, `virt` for RV32IMAC. The first and the last are QEMU's.

#![no_std]

#[cfg(target_arch = "arm")]
mod cortex_m;
mod measure;
#[cfg(target_arch = "riscv32")]
mod riscv;

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
pub use measure::{PAINTED, Stack, measure};
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;

use core::fmt;
use semihosting::process::ExitCode;
use semihosting::sys::arm_compat::sys_writec;

/// Writes to the debugger, which under QEMU is the standard error.
pub fn print(text: &str) {
    text.bytes().for_each(sys_writec);
}

/// Writes a number in decimal; programs that print through this and [`print`] hold no code of `core::fmt`.
pub fn print_number(number: u32) {
    let (mut digits, mut rest) = ([0; 10], number);
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    digits[first..].iter().copied().for_each(sys_writec);
}

/// [`print`], for `write!`.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        print(text);
        Ok(())
    }
}

/// Ends the program: the exit status of QEMU is 0 if all was `well`, and 1 if not.
pub fn exit(well: bool) -> ! {
    let code = if well { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    code.exit_process()
}
