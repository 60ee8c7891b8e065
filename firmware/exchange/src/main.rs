//! Writes the file `made`: for every parameter set in both profiles a seed, and what the device makes of it. Then, if there is a file
//! `answers`, in which peers have answered each of them, reads it: their ciphertexts, keys and signatures must be good, and with one bit
//! changed they must not.
//!
//! `interop/firmware` is the other side, and has the order of the bytes.

#![no_std]
#![no_main]

mod dsa;
mod kem;

use core::fmt::Write;
use core::panic::PanicInfo;
use gambeson::Small;
use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{MlKem512, MlKem768, MlKem1024};
use gambeson_firmware::{Console, entry, exit};
use semihosting::fs::File;
use semihosting::io::{Read as _, Write as _};

/// A profile, and the two files.
struct Exchange {
    profile: &'static str,
    made: File,
    answers: Option<File>,
    /// Number of peers that answer, the first byte of `answers`.
    peers: u8,
    /// How many of the peers' were met.
    met: usize,
}

impl Exchange {
    fn write(&mut self, bytes: &[u8]) {
        self.made.write_all(bytes).expect("the file can be written");
    }

    fn read(&mut self, bytes: &mut [u8]) {
        let answers = self.answers.as_mut().expect("asked only where there are answers");
        answers.read_exact(bytes).expect("the answers are complete");
    }
}

/// Every set in both profiles.
#[entry]
fn main() -> ! {
    let made = File::create(c"made").expect("the debugger lets files be written");
    let mut files =
        Exchange { profile: "fast", made, answers: File::open(c"answers").ok(), peers: 0, met: 0 };
    if files.answers.is_some() {
        let mut peers = [0];
        files.read(&mut peers);
        [files.peers] = peers;
    }
    kem::exchange::<MlKem512>(&mut files);
    kem::exchange::<MlKem768>(&mut files);
    kem::exchange::<MlKem1024>(&mut files);
    dsa::exchange::<MlDsa44>(&mut files);
    dsa::exchange::<MlDsa65>(&mut files);
    dsa::exchange::<MlDsa87>(&mut files);
    files.profile = "small";
    kem::exchange::<Small<MlKem512>>(&mut files);
    kem::exchange::<Small<MlKem768>>(&mut files);
    kem::exchange::<Small<MlKem1024>>(&mut files);
    dsa::exchange::<Small<MlDsa44>>(&mut files);
    dsa::exchange::<Small<MlDsa65>>(&mut files);
    dsa::exchange::<Small<MlDsa87>>(&mut files);
    // The console writes all that it is given.
    _ = writeln!(Console, "met {} answers", files.met);
    exit(true)
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // As above.
    _ = writeln!(Console, "{info}");
    exit(false)
}
