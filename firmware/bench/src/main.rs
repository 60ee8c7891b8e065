//! Runs one operation on each of its inputs, and prints a line for each: `painted=1234`, the bytes of stack that it changed; with a
//! heap another one, `heap=1234`, the most bytes taken while it ran, its key among them.
//!
//! # Layout
//!
//! * `kem`, `dsa`, `hashes`, `keccak`: the operations
//! * `classical`: what stands beside ours
//! * `workspace`: `kem` and `dsa` in memory of the caller's
//! * `heap`: the allocator of those that need one
//! * `nothing`: none, for the size of what every program holds
//! * `build`: which operation, and the inputs

#![no_std]
#![no_main]

#[cfg(feature = "classical")]
#[allow(dead_code)] // One operation of all is this program.
mod classical;
#[allow(dead_code)] // As above.
mod dsa;
#[allow(dead_code)] // As above.
mod hashes;
mod heap;
#[allow(dead_code)]
mod keccak;
#[allow(dead_code)]
mod kem;
#[allow(dead_code)]
mod nothing;
#[allow(dead_code)]
mod workspace;

/// The operation and its inputs, as the build script wrote them.
mod row {
    #![allow(unsafe_code)] // The inputs have a section of their own.
    include!(concat!(env!("OUT_DIR"), "/row.rs"));
}

use core::panic::PanicInfo;
use gambeson_firmware::{Stack, entry, exit, measure, print, print_number};
use row::{INPUTS, Row};

/// An operation with room for its inputs and outputs.
trait Operation {
    /// Bytes of the key that has to stay in memory for it.
    const KEY: usize;

    /// Bytes of memory that it works in beside the stack.
    const WORKSPACE: usize = 0;

    /// Whether it takes memory of the heap.
    const HEAP: bool = false;

    /// Whether it works on secrets, with no key on the heap: then what it used of the stack is wiped, but for the frames of doors. If it
    /// wipes nothing, `false`: then the check of the others must see what is left.
    const GUARDED: Option<bool> = None;

    /// With all buffers zero.
    fn new() -> Self;

    /// Takes the input.
    fn prepare(&mut self, input: &mut Input);

    /// What is measured.
    fn run(&mut self);

    /// Whether the outputs are those that the rest of the input has.
    fn check(&self, expected: &mut Input) -> bool;
}

/// Two operations in one program, for its size. Both are done while the input is read, and nothing is measured.
#[allow(dead_code)] // As above.
struct Both<A, B> {
    first: A,
    second: B,
    right: bool,
}

impl<A: Operation, B: Operation> Operation for Both<A, B> {
    const KEY: usize = 0;

    const HEAP: bool = A::HEAP || B::HEAP;

    fn new() -> Self {
        Self { first: A::new(), second: B::new(), right: false }
    }

    fn prepare(&mut self, input: &mut Input) {
        fn right(operation: &mut impl Operation, input: &mut Input) -> bool {
            operation.prepare(input);
            operation.run();
            operation.check(input)
        }
        self.right = right(&mut self.first, input) && right(&mut self.second, input);
    }

    fn run(&mut self) {}

    fn check(&self, _: &mut Input) -> bool {
        self.right
    }
}

/// The bytes of an input that are not yet read.
struct Input(&'static [u8]);

impl Input {
    /// The next so many.
    fn next(&mut self, count: usize) -> &'static [u8] {
        let (next, rest) = self.0.split_at(count);
        self.0 = rest;
        next
    }

    /// Fills `bytes` with the next.
    #[inline(never)]
    fn read(&mut self, bytes: &mut [u8]) {
        bytes.copy_from_slice(self.next(bytes.len()));
    }

    /// Whether the next bytes are these.
    #[inline(never)]
    fn is(&mut self, bytes: &[u8]) -> bool {
        self.next(bytes.len()) == bytes
    }
}

/// Bytes in which something may be left: the frames of doors, where decapsulation by a plain set has ŷ, which it wipes.
const FRAMES: u32 = 2304;

/// Whether the stack that was used is wiped, but for the frames of doors: the deepest of it first of all.
fn is_wiped(stack: Stack) -> bool {
    stack.left <= FRAMES && stack.left + 256 <= stack.changed
}

extern "C" fn run(row: &mut Row) {
    row.run();
}

/// Every input in turn.
#[entry]
fn main() -> ! {
    print("key=");
    print_number(Row::KEY as u32);
    print("\nworkspace=");
    print_number(Row::WORKSPACE as u32);
    print("\n");
    if Row::HEAP {
        heap::start();
    }
    let mut row = Row::new();
    for input in &INPUTS {
        let mut input = Input(input);
        row.prepare(&mut input);
        if Row::HEAP {
            heap::restart();
        }
        let stack = measure(&mut row, run);
        if !row.check(&mut input) {
            print("another result\n");
            exit(false);
        }
        if Row::GUARDED.is_some_and(|guarded| guarded != is_wiped(stack)) {
            print("left on the stack: ");
            print_number(stack.left);
            print(" bytes of ");
            print_number(stack.changed);
            print("\n");
            exit(false);
        }
        print("painted=");
        print_number(stack.changed);
        print("\n");
        if Row::HEAP {
            print("heap=");
            print_number(heap::most() as u32);
            print("\n");
        }
    }
    exit(true)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    print("a panic\n");
    exit(false)
}
