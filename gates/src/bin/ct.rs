//! The list of operations with the secrets marked undefined: valgrind's memcheck then reports each branch and each address that depends
//! on one.
//!
//! `gate-ct PART LEVEL` walks through a part of the list: `primitives` must end with status 0; `verdicts` (P-256 and P-384), `files`
//! and `mls` may report verdicts, up to the number that the list allows. `gate-ct canaries LEVEL` must be caught. Run by
//! `cargo xtask ct`, in builds with `--cfg gambeson_ct`, where the core's listed declassifications speak to valgrind.

use gambeson::cpu::{self, Level};
use gambeson::{mldsa, mlkem, sha3};
use gambeson_gates::marked::{Gate, VERDICTS, secret};
use gambeson_gates::operations::{self, hybrid};
use gambeson_gates::{canary, valgrind};
use std::env;
use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let part = arguments.next().unwrap_or_default();
    let level: Level = arguments.next().map_or(Level::Portable, |name| name.parse().expect("a level"));
    cpu::limit(level);
    for (family, ran) in [("sha3", sha3::kernels()), ("mlkem", mlkem::kernels()), ("mldsa", mldsa::kernels())]
    {
        assert_eq!(ran, level, "{family} runs the table {ran}");
    }
    let native = env::var_os("GAMBESON_GATE_NATIVE").is_some();
    assert!(native || valgrind::running(), "not under valgrind");
    let mut gate = Gate { level, verdicts: 0, failed: 0, ran: 0 };
    match part.as_str() {
        "primitives" => {
            operations::primitives(&mut gate);
            hybrid::all(&mut gate);
        }
        "verdicts" => {
            // A table that branches must be told from verdicts: the lightest of those that decision 19 met.
            let secret: [u8; 32] = secret("canary");
            gate.verdicts = VERDICTS;
            gate.watch("canary table", || (0..816).for_each(|_| _ = black_box(canary::branch(&secret))));
            assert!(native || gate.failed == 1, "the planted table was taken for verdicts");
            (gate.failed, gate.ran) = (0, 0);
            hybrid::weierstrass(&mut gate);
        }
        #[cfg(feature = "pki")]
        "files" => operations::files::all(&mut gate),
        #[cfg(feature = "mls")]
        "mls" => {
            operations::mls::without_suite(&mut gate);
            operations::mls::all(&mut gate);
        }
        "canaries" => {
            canaries(&mut gate);
            println!("{} of {} canaries reported", gate.failed, gate.ran);
            return ExitCode::from(u8::from(gate.failed != gate.ran));
        }
        _ => {
            eprintln!("usage: gate-ct primitives|verdicts|files|mls|canaries [LEVEL]");
            return ExitCode::from(2);
        }
    }
    println!("{} operations, {} with more reports than verdicts", gate.ran, gate.failed);
    ExitCode::from(u8::from(gate.failed != 0))
}

/// Runs the planted mistakes; valgrind must report each.
fn canaries(gate: &mut Gate) {
    let secret: [u8; 32] = secret("canary");
    gate.watch("canary branch", || _ = black_box(canary::branch(&secret)));
    gate.watch("canary index", || _ = black_box(canary::index(&secret)));
    // Behind the C interface: the marks pass through it.
    #[cfg(feature = "c")]
    gate.watch("canary in C", || {
        use gambeson_gates::c;
        c::plugged(canary::branching_keccak, || c::HASHES[1].whole(&mut [0; 32], &secret));
    });
    #[cfg(feature = "pki")]
    gate.watch("canary file", operations::files::planted);
    #[cfg(feature = "mls")]
    {
        // The list allows verdicts there; a planted table has more.
        gate.verdicts = operations::mls::TAGS;
        gate.watch("canary table", || (0..8).for_each(|_| _ = black_box(canary::branch(&secret))));
    }
    // Not reported by valgrind 3.19, but by the disassembly, which must find it in this program.
    black_box(canary::division(u32::from(secret[0]), 3));
    #[cfg(target_arch = "x86_64")]
    black_box(canary::called_intrinsic([1; 32]));
}
