//! ML-DSA through its public doors: published vectors, accumulated runs, and cases made on purpose.

mod accumulated;
mod doors;
mod malformed;
mod rejections;
mod small;
mod stream;
mod wycheproof;

use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87};

/// Runs a generic test for each parameter set, in both schedules.
macro_rules! for_each_set {
    ($test:ident) => {{
        $test::<crate::mldsa::MlDsa44>();
        $test::<crate::mldsa::MlDsa65>();
        $test::<crate::mldsa::MlDsa87>();
        $test::<gambeson::Small<crate::mldsa::MlDsa44>>();
        $test::<gambeson::Small<crate::mldsa::MlDsa65>>();
        $test::<gambeson::Small<crate::mldsa::MlDsa87>>();
    }};
}
use for_each_set;
use stream::Stream;
use wycheproof::sign_both;

#[test]
fn every_wycheproof_case_has_its_expected_result() {
    wycheproof::run_all();
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
