//! ML-KEM against published vectors, accumulated digests, and itself.

use gambeson::mlkem::ParameterSet;

mod accumulated;
mod properties;
mod wycheproof;

/// A parameter set with the keys of `P` in its own form, or in another.
pub trait FormOf<P: ParameterSet>:
    ParameterSet<
        EncapsulationKeyBytes = P::EncapsulationKeyBytes,
        Ciphertext = P::Ciphertext,
        DecapsulationKeyBytes = P::DecapsulationKeyBytes,
    >
{
}

impl<P: ParameterSet, F> FormOf<P> for F where
    F: ParameterSet<
            EncapsulationKeyBytes = P::EncapsulationKeyBytes,
            Ciphertext = P::Ciphertext,
            DecapsulationKeyBytes = P::DecapsulationKeyBytes,
        >
{
}

#[test]
fn every_wycheproof_case_has_its_published_result() {
    wycheproof::run_all();
}
