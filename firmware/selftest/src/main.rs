//! Every parameter set in both profiles, against the accumulated vectors of C2SP/CCTV (`ML-KEM/README.md`, `ML-DSA/README.md`): a
//! digest of many random operations. Keys on the heap must give the same results on the way.
//!
//! A hundred steps of ML-DSA, whose digests are published there; a thousand of ML-KEM, computed with an independent implementation
//! that meets the published digests of ten thousand.

#![no_std]
#![no_main]

mod dsa;
mod kem;

// What serves the allocator where nothing else interrupts.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

use core::fmt::Write;
use core::panic::PanicInfo;
use embedded_alloc::LlffHeap;
use gambeson::Small;
use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
use gambeson_firmware::{Console, entry, exit};

const ML_KEM_512: &str = "9144b1054d29546b0f7fdd2e48dbb6d68c573dd468845c5e97eb2dba77a8f1e9";
const ML_KEM_768: &str = "5706194c22e3e0977b570e636de7364abce0609b341433cc4eb48062080b7c76";
const ML_KEM_1024: &str = "df23d235ef494a38b2de2deda2704bb1312dd88ef6987ec4fc6f08fe5963ed7f";
const ML_DSA_44: &str = "d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4";
const ML_DSA_65: &str = "8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199";
const ML_DSA_87: &str = "8c3ad714777622b8f21ce31bb35f71394f23bc0fcf3c78ace5d608990f3b061b";

#[global_allocator]
static HEAP: LlffHeap = LlffHeap::empty();

/// What expanded keys take at most, twice.
const HEAP_BYTES: usize = 384 * 1024;

/// Every set in both profiles.
#[entry]
fn main() -> ! {
    #[allow(unsafe_code)]
    // SAFETY: it happens once, before anything is allocated, and the memory is nobody else's.
    unsafe {
        embedded_alloc::init!(HEAP, HEAP_BYTES);
    }
    let ran = [
        kem::accumulate::<MlKem512>(ML_KEM_512),
        kem::accumulate::<Small<MlKem512>>(ML_KEM_512),
        kem::accumulate::<MlKem768>(ML_KEM_768),
        kem::accumulate::<Small<MlKem768>>(ML_KEM_768),
        kem::accumulate::<MlKem1024>(ML_KEM_1024),
        kem::accumulate::<Small<MlKem1024>>(ML_KEM_1024),
        dsa::accumulate::<MlDsa44>(ML_DSA_44),
        dsa::accumulate::<Small<MlDsa44>>(ML_DSA_44),
        dsa::accumulate::<MlDsa65>(ML_DSA_65),
        dsa::accumulate::<Small<MlDsa65>>(ML_DSA_65),
        dsa::accumulate::<MlDsa87>(ML_DSA_87),
        dsa::accumulate::<Small<MlDsa87>>(ML_DSA_87),
    ];
    // The console writes all that it is given.
    _ = writeln!(Console, "{} runs, {} steps", ran.len(), ran.iter().sum::<usize>());
    exit(true)
}

/// Fails unless the bytes are what the hexadecimal digits say.
fn is(what: &str, steps: usize, found: &[u8; 32], digest: &str) {
    let digits = digest.as_bytes().as_chunks::<2>().0;
    let digit = |digit: u8| (digit as char).to_digit(16).unwrap_or(16);
    let equal = digits
        .iter()
        .zip(found)
        .all(|([high, low], byte)| digit(*high) * 16 + digit(*low) == u32::from(*byte));
    assert!(equal && digits.len() == 32, "{what}: the digest of {steps} steps is another");
}

/// Fails unless the two are equal.
fn same(what: &str, step: usize, left: &[u8], right: &[u8]) {
    assert!(left == right, "{what} of step {step} is another");
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // As above.
    _ = writeln!(Console, "{info}");
    exit(false)
}
