//! ML-DSA. Keys and outputs are the caller's, that is, in the operation.

use super::{Input, Operation};
use gambeson::Bytes;
use gambeson::mldsa::{ParameterSet, SigningKey, SigningKeyRef, VerifyingKey, VerifyingKeyRef};

/// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal): the key that holds the seed, and the public key.
pub struct KeyGen<P: ParameterSet> {
    pub seed: [u8; 32],
    pub key: Option<SigningKey<P>>,
    pub vk: P::VerifyingKeyBytes,
}

impl<P: ParameterSet> Operation for KeyGen<P> {
    const KEY: usize = size_of::<SigningKey<P>>();
    const GUARDED: Option<bool> = Some(true);

    fn new() -> Self {
        Self { seed: [0; 32], key: None, vk: P::VerifyingKeyBytes::zeroed() }
    }

    fn prepare(&mut self, input: &mut Input) {
        input.read(&mut self.seed);
    }

    fn run(&mut self) {
        self.key = Some(SigningKey::from_seed_into(&self.seed, &mut self.vk));
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(self.vk.as_ref())
    }
}

/// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from the key that holds the seed, which is made as [`KeyGen`] makes it.
pub struct SignSeed<P: ParameterSet> {
    pub key: Option<SigningKey<P>>,
    pub vk: P::VerifyingKeyBytes,
    pub message: [u8; 32],
    pub signature: P::Signature,
}

impl<P: ParameterSet> Operation for SignSeed<P> {
    const KEY: usize = size_of::<SigningKey<P>>();
    const GUARDED: Option<bool> = Some(true);

    fn new() -> Self {
        let (vk, signature) = (P::VerifyingKeyBytes::zeroed(), P::Signature::zeroed());
        Self { key: None, vk, message: [0; 32], signature }
    }

    fn prepare(&mut self, input: &mut Input) {
        let mut seed = [0; 32];
        input.read(&mut seed);
        self.key = Some(SigningKey::from_seed_into(&seed, &mut self.vk));
        input.read(&mut self.message);
    }

    fn run(&mut self) {
        if let Some(key) = &self.key {
            key.sign_with_rnd_into(&[0; 32], &self.message, &mut self.signature);
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(self.signature.as_ref())
    }
}

/// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from the standard's bytes, which were checked when they were read.
pub struct Sign<P: ParameterSet> {
    pub key: Option<SigningKeyRef<'static, P>>,
    pub message: [u8; 32],
    pub signature: P::Signature,
}

impl<P: ParameterSet> Operation for Sign<P> {
    const KEY: usize = P::SigningKeyBytes::LEN;
    const GUARDED: Option<bool> = Some(true);

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: P::Signature::zeroed() }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.key = SigningKeyRef::from_ref(input.next(P::SigningKeyBytes::LEN)).ok();
        input.read(&mut self.message);
    }

    fn run(&mut self) {
        if let Some(key) = &self.key {
            key.sign_with_rnd_into(&[0; 32], &self.message, &mut self.signature);
        }
    }

    fn check(&self, expected: &mut Input) -> bool {
        expected.is(self.signature.as_ref())
    }
}

/// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal).
pub struct Verify<P: ParameterSet> {
    pub vk: P::VerifyingKeyBytes,
    pub message: [u8; 32],
    pub signature: P::Signature,
    pub valid: bool,
}

impl<P: ParameterSet> Operation for Verify<P> {
    const KEY: usize = P::VerifyingKeyBytes::LEN;
    const GUARDED: Option<bool> = Some(false);

    fn new() -> Self {
        Self {
            vk: P::VerifyingKeyBytes::zeroed(),
            message: [0; 32],
            signature: P::Signature::zeroed(),
            valid: false,
        }
    }

    fn prepare(&mut self, input: &mut Input) {
        input.read(self.vk.as_mut());
        input.read(&mut self.message);
        input.read(self.signature.as_mut());
    }

    fn run(&mut self) {
        let vk = VerifyingKeyRef::<P>::from_ref(&self.vk);
        self.valid = vk.verify(&self.message, self.signature.as_ref()).is_ok();
    }

    fn check(&self, _: &mut Input) -> bool {
        self.valid
    }
}

/// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), with a key whose matrix is on the heap.
pub struct SignPrepared<P: ParameterSet> {
    key: Option<SigningKey<P>>,
    message: [u8; 32],
    signature: Option<P::Signature>,
}

impl<P: ParameterSet> Operation for SignPrepared<P> {
    const KEY: usize = size_of::<SigningKey<P>>();
    const HEAP: bool = true;

    fn new() -> Self {
        Self { key: None, message: [0; 32], signature: None }
    }

    fn prepare(&mut self, input: &mut Input) {
        let mut seed = [0; 32];
        input.read(&mut seed);
        // The key before leaves first.
        self.key = None;
        self.key = Some(SigningKey::from_seed(&seed));
        input.read(&mut self.message);
    }

    fn run(&mut self) {
        self.signature = self.key.as_ref().map(|key| key.sign_deterministic(&self.message));
    }

    fn check(&self, expected: &mut Input) -> bool {
        self.signature.as_ref().is_some_and(|signature| expected.is(signature.as_ref()))
    }
}

/// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), with a key whose matrix is on the heap.
pub struct VerifyPrepared<P: ParameterSet> {
    vk: Option<VerifyingKey<P>>,
    message: [u8; 32],
    signature: P::Signature,
    valid: bool,
}

impl<P: ParameterSet> Operation for VerifyPrepared<P> {
    const KEY: usize = size_of::<VerifyingKey<P>>();
    const HEAP: bool = true;

    fn new() -> Self {
        Self { vk: None, message: [0; 32], signature: P::Signature::zeroed(), valid: false }
    }

    fn prepare(&mut self, input: &mut Input) {
        let mut vk = P::VerifyingKeyBytes::zeroed();
        input.read(vk.as_mut());
        // As above.
        self.vk = None;
        let vk = VerifyingKey::from_bytes(&vk);
        vk.prepare();
        self.vk = Some(vk);
        input.read(&mut self.message);
        input.read(self.signature.as_mut());
    }

    fn run(&mut self) {
        self.valid =
            self.vk.as_ref().is_some_and(|vk| vk.verify(&self.message, self.signature.as_ref()).is_ok());
    }

    fn check(&self, _: &mut Input) -> bool {
        self.valid
    }
}
