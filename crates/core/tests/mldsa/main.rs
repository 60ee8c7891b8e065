//! ML-DSA through its public doors: published vectors, accumulated runs, two other implementations, and cases made on
//! purpose.

#![cfg(all(feature = "alloc", feature = "getrandom"))]

mod accumulated;
// Peers take minutes to build; the gate for aarch64 leaves them out.
#[cfg(not(gambeson_without_peers))]
mod differential;
mod doors;
mod malformed;
mod rejections;
mod small;
mod wycheproof;

use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};
use gambeson::sha3::{Shake128, Squeeze};

/// Runs a generic test for each parameter set, in both schedules.
macro_rules! for_each_set {
    ($test:ident) => {{
        $test::<crate::MlDsa44>();
        $test::<crate::MlDsa65>();
        $test::<crate::MlDsa87>();
        $test::<gambeson::Small<crate::MlDsa44>>();
        $test::<gambeson::Small<crate::MlDsa65>>();
        $test::<gambeson::Small<crate::MlDsa87>>();
    }};
}
use for_each_set;
use wycheproof::sign_both;

/// Bytes that look random and are the same on every run.
struct Stream(Squeeze);

impl Stream {
    fn new(name: &str) -> Self {
        Self(Shake128::new().update(name.as_bytes()).finalize_xof())
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.squeeze(&mut bytes);
        bytes
    }

    fn vec(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.squeeze(&mut bytes);
        bytes
    }

    /// A number below `bound`, at most 2^32, nearly uniform.
    fn below(&mut self, bound: usize) -> usize {
        ((u64::from(u32::from_le_bytes(self.array())) * bound as u64) >> 32) as usize
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| {
            let pair = core::str::from_utf8(pair).expect("ASCII");
            u8::from_str_radix(pair, 16).expect("hexadecimal")
        })
        .collect()
}
