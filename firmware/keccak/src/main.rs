//! The permutations of this processor against FIPS 202, step by step as it stands there: `cargo xtask firmware keccak` runs it, and
//! runs it again with broken instructions.

#![no_std]
#![no_main]

use core::panic::PanicInfo;
use gambeson::sha3::{Shake128, State, TurboShake128, kernels, permute_many};
use gambeson_firmware::{entry, exit, print};

/// How many permutations, each of what the one before left.
const STEPS: usize = 200;

/// 24 rounds, then 12.
#[entry]
fn main() -> ! {
    print(kernels().name());
    print("\n");
    // All 64 places of a bit, then whatever comes.
    let mut state = State(core::array::from_fn(|lane| 1 << (5 * lane & 63)));
    let mut expected = state.0;
    for _ in 0..STEPS {
        permute_many(core::slice::from_mut(&mut state));
        rounds(&mut expected, 0);
        check(state.0 == expected, "Keccak-f[1600]");
    }
    for length in 0..Shake128::RATE {
        let input = [length as u8; Shake128::RATE];
        let mut output = [0; 32];
        TurboShake128::new().update(&input[..length]).finalize_xof().squeeze(&mut output);
        let mut lanes = [0; 25];
        let bytes = input.iter().take(length).chain(&[0x1f]).zip(0..);
        bytes.for_each(|(byte, place)| lanes[place >> 3] ^= u64::from(*byte) << (8 * (place & 7)));
        lanes[20] ^= 1 << 63;
        rounds(&mut lanes, 12);
        let same =
            output.as_chunks().0.iter().zip(lanes).all(|(word, lane)| u64::from_le_bytes(*word) == lane);
        check(same, "TurboSHAKE128");
    }
    print("as the standard\n");
    exit(true)
}

fn check(same: bool, what: &str) {
    if !same {
        print(what);
        print(": another result\n");
        exit(false);
    }
}

/// Keccak-p\[1600\] (FIPS 202, §3.3) from round `first` to the last; lane (x, y) at x + 5y.
fn rounds(a: &mut [u64; 25], first: usize) {
    let mut register = 1u8;
    for round in 0..24 {
        // Algorithm 5 (rc) and 6 (ι).
        let mut constant = 0;
        for j in 0..7 {
            constant |= u64::from(register & 1) << ((1 << j) - 1);
            register = register << 1 ^ (register >> 7) * 0x71;
        }
        if round < first {
            continue;
        }
        // Algorithm 1 (θ).
        let column = |x: usize| (0..5).fold(0, |sum, y| sum ^ a[x % 5 + 5 * y]);
        let d: [u64; 5] = core::array::from_fn(|x| column(x + 4) ^ column(x + 1).rotate_left(1));
        (0..25).for_each(|i| a[i] ^= d[i % 5]);
        // Algorithm 2 (ρ) and 3 (π), along the places that ρ walks.
        let (mut x, mut y, mut moved) = (1, 0, a[1]);
        for t in 0..24 {
            (x, y) = (y, (2 * x + 3 * y) % 5);
            let turned = moved.rotate_left((t + 1) * (t + 2) / 2 % 64);
            moved = core::mem::replace(&mut a[x + 5 * y], turned);
        }
        // Algorithm 4 (χ).
        for row in a.as_chunks_mut::<5>().0 {
            let before = *row;
            (0..5).for_each(|x| row[x] ^= !before[(x + 1) % 5] & before[(x + 2) % 5]);
        }
        a[0] ^= constant;
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    print("a panic\n");
    exit(false)
}
