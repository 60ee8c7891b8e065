//! Exceptions of a RISC-V processor end the program.
#![allow(unsafe_code)] // The handler has a name that the linker knows.

// SAFETY: `riscv-rt` provides the name for its user to define, with this signature.
#[unsafe(export_name = "ExceptionHandler")]
extern "C" fn exception(_: &riscv_rt::TrapFrame) -> ! {
    crate::print("an exception\n");
    crate::exit(false)
}
