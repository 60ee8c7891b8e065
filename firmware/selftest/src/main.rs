//! Published vectors of every parameter set by every door of the keys: both schedules, a workspace, the heap, and the standard's encodings.
//! They are in the file `vectors`, which lies beside the program: `cargo xtask firmware` writes it, and has its form.

#![no_std]
#![no_main]

extern crate alloc;

mod case;
mod dsa;
mod kem;

// What serves the allocator where nothing else interrupts.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

use case::Kind;
use core::fmt::Write;
use core::panic::PanicInfo;
use embedded_alloc::LlffHeap;
use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
use gambeson_firmware::{Console, entry, exit};

#[global_allocator]
static HEAP: LlffHeap = LlffHeap::empty();

/// What prepared keys take at most, twice, and a case.
const HEAP_BYTES: usize = 384 * 1024;

/// Every case in turn.
#[entry]
fn main() -> ! {
    #[allow(unsafe_code)]
    // SAFETY: it happens once, before anything is allocated, and the memory is nobody else's.
    unsafe {
        embedded_alloc::init!(HEAP, HEAP_BYTES);
    }
    let (mut cases, mut refused) = (0, 0);
    for case in case::all() {
        let accepted = match case.kind {
            Kind::OfKem(kind) => {
                [kem::run::<MlKem512>, kem::run::<MlKem768>, kem::run::<MlKem1024>][case.set](kind, &case)
            }
            Kind::OfDsa(kind) => {
                [dsa::run::<MlDsa44>, dsa::run::<MlDsa65>, dsa::run::<MlDsa87>][case.set](kind, &case)
            }
        };
        assert!(accepted == case.valid, "case {cases}, {:?}: not as published", case.kind);
        cases += 1;
        refused += usize::from(!accepted);
    }
    // The console writes all that it is given.
    _ = writeln!(Console, "{cases} cases, {refused} of them refused");
    exit(true)
}

/// What all doors give, which must be the same; or what the one of this number gives, where there are too many cases for all.
fn agreed<T: PartialEq>(only: Option<usize>, doors: [&dyn Fn() -> T; 4]) -> T {
    if let Some(number) = only {
        return doors[number % doors.len()]();
    }
    let [first, others @ ..] = doors;
    let first = first();
    for (number, other) in (1..).zip(others) {
        assert!(other() == first, "door {number} gives another result than the first");
    }
    first
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // As above.
    _ = writeln!(Console, "{info}");
    exit(false)
}
