//! ML-DSA through its public doors: published vectors, accumulated runs, and cases made on purpose.

mod accumulated;
mod doors;
mod malformed;
mod reference;
mod rejections;
mod small;
mod standard;
mod stream;
mod wycheproof;

use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87, ParameterSet};

/// Runs a generic test for each parameter set, with keys in each form.
macro_rules! for_each_set {
    ($test:ident) => {{
        crate::mldsa::for_each_set!($test, MlDsa44);
        crate::mldsa::for_each_set!($test, MlDsa65);
        crate::mldsa::for_each_set!($test, MlDsa87);
    }};
    ($test:ident, $set:ident) => {{
        $test::<crate::mldsa::$set, crate::mldsa::$set>();
        $test::<crate::mldsa::$set, gambeson::Compact<crate::mldsa::$set>>();
        $test::<crate::mldsa::$set, gambeson::Small<crate::mldsa::$set>>();
    }};
}
use for_each_set;
use stream::Stream;
use wycheproof::sign_by_every_form;

/// A parameter set with the keys of `P` in its own form, or in another.
pub trait FormOf<P: ParameterSet>:
    ParameterSet<
        VerifyingKeyBytes = P::VerifyingKeyBytes,
        Signature = P::Signature,
        SigningKeyBytes = P::SigningKeyBytes,
    >
{
}

impl<P: ParameterSet, F> FormOf<P> for F where
    F: ParameterSet<
            VerifyingKeyBytes = P::VerifyingKeyBytes,
            Signature = P::Signature,
            SigningKeyBytes = P::SigningKeyBytes,
        >
{
}

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
