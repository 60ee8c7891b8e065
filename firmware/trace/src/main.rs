//! Each operation eight times, on other secrets: `cargo xtask firmware trace` compares the traces. Built with `--cfg gambeson_ct`.
//!
//! A line `trace NAME` or `canary NAME` comes before the regions of an operation. The public matrix is one for all eight where it is
//! sampled, because how many bytes are refused is public and differs. So key generation, whose seed makes both, is not here, nor
//! signing from the seed; what they do with secrets is: their sampling and transforms in encapsulation, the products and sums in
//! decapsulation and in the import of a key, and the kernels of ML-DSA, one by one.

#![no_std]
#![no_main]

mod dsa;
mod kem;

// What serves the allocator where nothing else interrupts.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

use core::hint::black_box;
use core::panic::PanicInfo;
use embedded_alloc::LlffHeap;
#[cfg(gambeson_ct)]
use gambeson::mldsa::gate;
use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
use gambeson::sha3::{Shake256, State, permute_many};
use gambeson::{Compact, Small};
use gambeson_firmware::{entry, exit, measure, print};

/// How many secrets.
const SECRETS: u8 = 8;

#[global_allocator]
static HEAP: LlffHeap = LlffHeap::empty();

/// What prepared keys take at most, twice.
const HEAP_BYTES: usize = 384 * 1024;

/// All operations, then what must be seen.
#[entry]
fn main() -> ! {
    #[allow(unsafe_code)]
    // SAFETY: it happens once, before anything is allocated, and the memory is nobody else's.
    unsafe {
        embedded_alloc::init!(HEAP, HEAP_BYTES);
    }
    kem::all::<Compact<MlKem512>>("plain ML-KEM-512");
    kem::all::<Small<MlKem512>>("small ML-KEM-512");
    kem::all::<Compact<MlKem768>>("plain ML-KEM-768");
    kem::all::<Small<MlKem768>>("small ML-KEM-768");
    kem::all::<Compact<MlKem1024>>("plain ML-KEM-1024");
    kem::all::<Small<MlKem1024>>("small ML-KEM-1024");
    kem::in_a_workspace::<MlKem512>("workspace ML-KEM-512");
    kem::in_a_workspace::<MlKem768>("workspace ML-KEM-768");
    kem::in_a_workspace::<MlKem1024>("workspace ML-KEM-1024");
    kem::on_the_heap::<MlKem512>("prepared ML-KEM-512");
    kem::on_the_heap::<MlKem768>("prepared ML-KEM-768");
    kem::on_the_heap::<MlKem1024>("prepared ML-KEM-1024");
    dsa::borrowed::<MlDsa44>("ML-DSA-44", 35);
    dsa::borrowed::<MlDsa65>("ML-DSA-65", 9);
    dsa::borrowed::<MlDsa87>("ML-DSA-87", 14);
    dsa::on_the_heap::<MlDsa44>("ML-DSA-44");
    dsa::on_the_heap::<MlDsa65>("ML-DSA-65");
    dsa::on_the_heap::<MlDsa87>("ML-DSA-87");
    permutation();
    #[cfg(gambeson_ct)]
    kernels();
    canaries();
    exit(true)
}

/// `trace` or `canary`, and the name.
fn begin(kind: &str, set: &str, operation: &str) {
    for text in [kind, " ", set, " ", operation, "\n"] {
        print(text);
    }
}

/// Measures `work`; what it changed of the stack is of no interest here.
fn region<T>(subject: &mut T, work: extern "C" fn(&mut T)) {
    black_box(measure(subject, work));
}

/// `N` bytes that look random.
fn bytes<const N: usize>(label: &[u8], number: u8) -> [u8; N] {
    let mut bytes = [0; N];
    Shake256::new().update(label).update(&[number]).finalize_xof().squeeze(&mut bytes);
    bytes
}

fn permutation() {
    extern "C" fn run(states: &mut [State; 3]) {
        permute_many(states);
    }
    begin("trace", "Keccak-f[1600]", "of three states");
    for number in 0..SECRETS {
        let mut states = [0, 1, 2].map(|state| {
            let content: [u8; 200] = bytes(b"state", 3 * number + state);
            let lanes = content.as_chunks::<8>().0;
            State(core::array::from_fn(|lane| u64::from_le_bytes(lanes[lane])))
        });
        region(&mut states, run);
    }
}

/// Every kernel that sees secrets of ML-DSA.
#[cfg(gambeson_ct)]
fn kernels() {
    extern "C" fn run((kernel, secret): &mut (usize, [u8; 1280])) {
        gate::run(*kernel, secret);
    }
    for (kernel, name) in gate::NAMES.iter().enumerate() {
        begin("trace", "ML-DSA", name);
        for number in 0..SECRETS {
            region(&mut (kernel, bytes(b"polynomials", number)), run);
        }
    }
}

/// What the comparison must see: a branch, an index and a division. The last has one trace, and stands in the disassembly.
fn canaries() {
    extern "C" fn branch(secret: &mut u32) {
        if black_box(*secret) & 1 == 1 {
            planted_division(secret);
        }
    }
    extern "C" fn index(secret: &mut u32) {
        static TABLE: [u32; 8] = [3, 1, 4, 1, 5, 9, 2, 6];
        *secret = *black_box(&TABLE).get(*secret as usize & 7).unwrap_or(&0);
    }
    for (name, work) in [("branch", branch as extern "C" fn(&mut u32)), ("index", index)] {
        begin("canary", "planted", name);
        for number in 0..SECRETS {
            region(&mut u32::from(number), work);
        }
    }
}

#[inline(never)]
fn planted_division(secret: &mut u32) {
    *secret = black_box(17_u32).checked_div(*secret).unwrap_or(0);
}

/// Ends the program, which found no inputs as they must be.
fn fail(what: &str) -> ! {
    print(what);
    print("\n");
    exit(false)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    fail("a panic")
}
