//! What the operations of the list leave, with every table of kernels: 500 kB of dead stack, every block that was freed and the vector
//! registers, searched for pieces of the secrets in each form in which the code may hold them. Run by `cargo xtask residue`.
//!
//! `gate-residue PART`: `primitives`, `files` or `mls`.

#[path = "residue/doors.rs"]
mod doors;

use gambeson::cpu::{self, Level};
use gambeson_gates::hunt::{Gate, Hunt, Window, hunted};
use gambeson_gates::operations::{self, Instrument, hybrid};
use gambeson_gates::secrets::Q_KEM;
use gambeson_gates::{bytes, c, canary, heap};
use std::env;
use std::hint::black_box;
use std::process::ExitCode;

#[global_allocator]
static HEAP: heap::Watched = heap::Watched;

/// Number of planted mistakes.
const CANARIES: usize = 9;

fn main() -> ExitCode {
    let part = env::args().nth(1).unwrap_or_default();
    let mut gate = Gate::default();
    let mut best = None;
    for level in Level::ALL.iter().copied() {
        cpu::limit(level);
        if cpu::level() != level {
            continue;
        }
        println!("{level}");
        best = Some(level);
        match part.as_str() {
            "primitives" => {
                operations::primitives(&mut gate);
                hybrid::all(&mut gate);
                hybrid::weierstrass(&mut gate);
            }
            "files" => {
                operations::files::all(&mut gate);
                doors::all(&mut gate);
            }
            "mls" => operations::mls::all(&mut gate),
            _ => {
                eprintln!("usage: gate-residue primitives|files|mls");
                return ExitCode::from(2);
            }
        }
    }
    assert_eq!(best, Some(cpu::detected()), "the best table of this machine did not run");
    println!("{} operations, {} with residue", gate.ran, gate.failed);
    let caught = canaries();
    println!("{caught} of {CANARIES} canaries found");
    ExitCode::from(u8::from(gate.failed != 0 || caught != CANARIES))
}

/// Runs the planted mistakes; returns how many were found.
fn canaries() -> usize {
    let secret: [u8; 32] = bytes("canary");
    let coefficients: Vec<u32> = (0..256).map(|i| (i * i * 7 + 11 * i + 5) % Q_KEM).collect();
    let mut hunt = Hunt::default();
    hunt.bytes("bytes", &secret);
    hunt.polynomial("polynomial", Window { width: 2, modulus: Q_KEM, length: 8 }, &coefficients);
    // Stored as differences from q, times 2^16: the hunt must see through both.
    let mut stored = Vec::new();
    for c in &coefficients {
        let value = (*c << 16) % Q_KEM;
        stored.extend_from_slice(&(value as i16 - Q_KEM as i16).to_le_bytes());
    }
    let catches = [
        hunted(&hunt, || _ = black_box(canary::left_on_stack(&secret))),
        hunted(&hunt, || _ = black_box(canary::left_on_heap(&secret))),
        hunted(&hunt, || _ = black_box(canary::left_on_stack(&stored))),
        hunted(&hunt, || _ = black_box(canary::left_on_heap(&stored))),
        hunted(&hunt, || canary::left_in_register(secret.first_chunk().expect("16 of 32 bytes"))),
        // By the C interface: a key that its owner does not wipe, and a permutation that keeps what it is given.
        hunted(&hunt, || {
            let mut key = [0; 96];
            c::DSAS[0].keys.key_generate(
                &mut key,
                None,
                Some(&c::Randomness::callback(&mut secret.as_slice())),
            );
            black_box(&key);
        }),
        hunted(&hunt, || {
            let mut digest = [0; 32];
            c::plugged(canary::keeping_keccak, || c::HASHES[1].whole(&mut digest, &secret));
        }),
    ];
    let mut gate = Gate::default();
    gate.run_fresh(("canary", "drawn", "stack"), |keep| {
        keep(&secret);
        black_box(canary::left_on_stack(&secret));
    });
    gate.run_fresh(("canary", "drawn", "heap"), |keep| {
        keep(&secret);
        black_box(canary::left_on_heap(&secret));
    });
    let clean = hunted(&hunt, || _ = black_box(canary::big_frame()));
    assert!(clean.is_empty(), "what leaves nothing is not blamed: {clean:?}");
    gate.failed + catches.iter().filter(|found| !found.is_empty()).count()
}
