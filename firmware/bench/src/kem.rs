//! ML-KEM. Keys and outputs are the caller's, that is, in the operation.

use super::{Input, Operation};
use gambeson::Bytes;
use gambeson::mlkem::{DecapsulationKey, EncapsulationKeyRef, ExpandedKeyRef, ParameterSet, SharedSecret};

/// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal): the key in 96 bytes, and the encapsulation key.
pub struct KeyGen<P: ParameterSet> {
    seed: [u8; 64],
    dk: Option<DecapsulationKey<P>>,
    ek: P::EncapsulationKeyBytes,
}

impl<P: ParameterSet> Operation for KeyGen<P> {
    const KEY: usize = size_of::<DecapsulationKey<P>>();

    fn new() -> Self {
        Self { seed: [0; 64], dk: None, ek: P::EncapsulationKeyBytes::zeroed() }
    }

    fn prepare(&mut self, input: &mut Input) {
        input.read(&mut self.seed);
    }

    fn run(&mut self) {
        self.dk = Some(DecapsulationKey::from_seed_into(&self.seed, &mut self.ek));
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(self.ek.as_ref())
    }
}

/// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal), with the check of the key.
pub struct Encaps<P: ParameterSet> {
    ek: P::EncapsulationKeyBytes,
    m: [u8; 32],
    c: P::Ciphertext,
    shared: SharedSecret,
}

impl<P: ParameterSet> Operation for Encaps<P> {
    const KEY: usize = P::EncapsulationKeyBytes::LEN;

    fn new() -> Self {
        Self {
            ek: P::EncapsulationKeyBytes::zeroed(),
            m: [0; 32],
            c: P::Ciphertext::zeroed(),
            shared: SharedSecret::new([0; 32]),
        }
    }

    fn prepare(&mut self, input: &mut Input) {
        input.read(self.ek.as_mut());
        input.read(&mut self.m);
    }

    fn run(&mut self) {
        if let Ok(ek) = EncapsulationKeyRef::<P>::borrowed(&self.ek) {
            ek.encapsulate_deterministic_into(&self.m, &mut self.c, &mut self.shared);
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(self.c.as_ref()) && expected.is(self.shared.expose())
    }
}

/// FIPS 203, Algorithm 21 (ML-KEM.Decaps), from the key in 96 bytes.
pub struct Decaps<P: ParameterSet> {
    dk: Option<DecapsulationKey<P>>,
    c: P::Ciphertext,
    shared: SharedSecret,
}

impl<P: ParameterSet> Operation for Decaps<P> {
    const KEY: usize = size_of::<DecapsulationKey<P>>();

    fn new() -> Self {
        Self { dk: None, c: P::Ciphertext::zeroed(), shared: SharedSecret::new([0; 32]) }
    }

    fn prepare(&mut self, input: &mut Input) {
        let mut seed = [0; 64];
        input.read(&mut seed);
        self.dk = Some(DecapsulationKey::from_seed(&seed));
        input.read(self.c.as_mut());
    }

    fn run(&mut self) {
        if let Some(dk) = &self.dk {
            dk.decapsulate_into(&self.c, &mut self.shared);
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(self.shared.expose())
    }
}

/// FIPS 203, Algorithm 21 (ML-KEM.Decaps), from the standard's bytes, which were checked when they were read.
pub struct DecapsEncoded<P: ParameterSet> {
    dk: Option<ExpandedKeyRef<'static, P>>,
    c: P::Ciphertext,
    shared: SharedSecret,
}

impl<P: ParameterSet> Operation for DecapsEncoded<P> {
    const KEY: usize = P::ExpandedKeyBytes::LEN;

    fn new() -> Self {
        Self { dk: None, c: P::Ciphertext::zeroed(), shared: SharedSecret::new([0; 32]) }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.dk = ExpandedKeyRef::borrowed(input.next(P::ExpandedKeyBytes::LEN)).ok();
        input.read(self.c.as_mut());
    }

    fn run(&mut self) {
        if let Some(dk) = &self.dk {
            dk.decapsulate_into(&self.c, &mut self.shared);
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(self.shared.expose())
    }
}
