//! A TCG plugin for QEMU (plugin API 1, QEMU 6 and later) that measures the regions of a program between two stores: retired
//! instructions, cycles by a model, the lowest stack address written, and a hash of the trace.
//!
//! The program stores to an address `mark`, then, first of all stores to the stack, one word below its stack pointer; the region
//! begins with that second store, and ends with a store to `mark` + 4. Each region gives a line on standard error:
//!
//! ```text
//! @region instructions=1678495 cycles=2105239 stack=9160 trace=0123456789abcdef
//! ```
//!
//! The hash is of the addresses of all instructions and of all that they load and store, in their order. Arguments: `mark=`,
//! `low=` and `high=`, the bounds of the stack, in hexadecimal; `list=FILE`
//! writes the traces themselves, eight bytes an entry (little-endian; the upper four are 0 for an instruction, 1 for a load, 2
//! for a store and 3 for the end of a region).
//!
//! # Layout
//!
//! * `region`: what is measured
//! * `instruction`: what the models ask of an instruction
//! * `thumb`, `riscv`: the two instruction sets and their cycles
//! * `qemu`: the interface
#![cfg_attr(test, allow(dead_code))] // Tests have no QEMU around them.

mod instruction;
#[cfg(not(test))]
mod qemu;
mod region;
mod riscv;
mod thumb;
