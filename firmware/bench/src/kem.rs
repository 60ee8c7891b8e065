//! ML-KEM. Keys and outputs are the caller's, that is, in the operation.

use super::{Input, Operation};
use gambeson::Bytes;
use gambeson::mlkem::{
    DecapsulationKey, DecapsulationKeyRef, EncapsulationKey, EncapsulationKeyRef, ParameterSet, SharedSecret,
};

/// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal): the key in 96 bytes, and the encapsulation key.
pub struct KeyGen<P: ParameterSet> {
    pub seed: [u8; 64],
    pub dk: Option<DecapsulationKey<P>>,
    pub ek: P::EncapsulationKeyBytes,
}

impl<P: ParameterSet> Operation for KeyGen<P> {
    const KEY: usize = size_of::<DecapsulationKey<P>>();
    const GUARDED: Option<bool> = Some(true);

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
    pub ek: P::EncapsulationKeyBytes,
    pub m: [u8; 32],
    pub c: P::Ciphertext,
    pub shared: SharedSecret,
}

impl<P: ParameterSet> Operation for Encaps<P> {
    const KEY: usize = P::EncapsulationKeyBytes::LEN;
    const GUARDED: Option<bool> = Some(true);

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
        if let Ok(ek) = EncapsulationKeyRef::<P>::from_ref(&self.ek) {
            ek.encapsulate_deterministic_into(&self.m, &mut self.c, &mut self.shared);
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(self.c.as_ref()) && expected.is(self.shared.expose())
    }
}

/// FIPS 203, Algorithm 21 (ML-KEM.Decaps), from the key in 96 bytes, which is made as [`KeyGen`] makes it.
pub struct Decaps<P: ParameterSet> {
    pub dk: Option<DecapsulationKey<P>>,
    pub ek: P::EncapsulationKeyBytes,
    pub c: P::Ciphertext,
    pub shared: SharedSecret,
}

impl<P: ParameterSet> Operation for Decaps<P> {
    const KEY: usize = size_of::<DecapsulationKey<P>>();
    const GUARDED: Option<bool> = Some(true);

    fn new() -> Self {
        let (ek, c) = (P::EncapsulationKeyBytes::zeroed(), P::Ciphertext::zeroed());
        Self { dk: None, ek, c, shared: SharedSecret::new([0; 32]) }
    }

    fn prepare(&mut self, input: &mut Input) {
        let mut seed = [0; 64];
        input.read(&mut seed);
        self.dk = Some(DecapsulationKey::from_seed_into(&seed, &mut self.ek));
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
    pub dk: Option<DecapsulationKeyRef<'static, P>>,
    pub c: P::Ciphertext,
    pub shared: SharedSecret,
}

impl<P: ParameterSet> Operation for DecapsEncoded<P> {
    const KEY: usize = P::DecapsulationKeyBytes::LEN;
    const GUARDED: Option<bool> = Some(true);

    fn new() -> Self {
        Self { dk: None, c: P::Ciphertext::zeroed(), shared: SharedSecret::new([0; 32]) }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.dk = DecapsulationKeyRef::from_ref(input.next(P::DecapsulationKeyBytes::LEN)).ok();
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

/// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal), with a key whose matrix is on the heap.
pub struct EncapsPrepared<P: ParameterSet> {
    ek: Option<EncapsulationKey<P>>,
    m: [u8; 32],
    out: Option<(P::Ciphertext, SharedSecret)>,
}

impl<P: ParameterSet> Operation for EncapsPrepared<P> {
    const KEY: usize = size_of::<EncapsulationKey<P>>();
    const HEAP: bool = true;

    fn new() -> Self {
        Self { ek: None, m: [0; 32], out: None }
    }

    fn prepare(&mut self, input: &mut Input) {
        // The key before leaves first.
        self.ek = None;
        self.ek = EncapsulationKey::try_from(input.next(P::EncapsulationKeyBytes::LEN)).ok();
        self.ek.iter().for_each(EncapsulationKey::prepare);
        input.read(&mut self.m);
    }

    fn run(&mut self) {
        self.out = self.ek.as_ref().map(|ek| ek.encapsulate_deterministic(&self.m));
    }

    fn check(&self, expected: &mut Input) -> bool {
        let is = |(c, shared): &(P::Ciphertext, SharedSecret)| {
            expected.is(c.as_ref()) && expected.is(shared.expose())
        };
        self.out.as_ref().is_some_and(is)
    }
}

/// FIPS 203, Algorithm 21 (ML-KEM.Decaps), with a key whose matrix is on the heap.
pub struct DecapsPrepared<P: ParameterSet> {
    dk: Option<DecapsulationKey<P>>,
    c: P::Ciphertext,
    shared: Option<SharedSecret>,
}

impl<P: ParameterSet> Operation for DecapsPrepared<P> {
    const KEY: usize = size_of::<DecapsulationKey<P>>();
    const HEAP: bool = true;

    fn new() -> Self {
        Self { dk: None, c: P::Ciphertext::zeroed(), shared: None }
    }

    fn prepare(&mut self, input: &mut Input) {
        let mut seed = [0; 64];
        input.read(&mut seed);
        // As above.
        self.dk = None;
        self.dk = Some(DecapsulationKey::from_seed(&seed));
        input.read(self.c.as_mut());
    }

    fn run(&mut self) {
        self.shared = self.dk.as_ref().map(|dk| dk.decapsulate(&self.c));
    }

    fn check(&self, expected: &mut Input) -> bool {
        self.shared.as_ref().is_some_and(|shared| expected.is(shared.expose()))
    }
}
