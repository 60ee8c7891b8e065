//! The same operations in memory of the caller's.

use super::{Input, Operation, dsa, kem};
use gambeson::mldsa::{self, SigningKey, VerifyingKeyRef};
use gambeson::mlkem::{self, DecapsulationKey, EncapsulationKeyRef};
use gambeson::{Small, Workspace};

/// What can be done in a workspace.
pub trait Works: Operation {
    /// The memory that it takes.
    type Workspace: Default;

    /// As `prepare`.
    fn prepare_in(&mut self, input: &mut Input, _: &mut Self::Workspace) {
        self.prepare(input);
    }

    /// As `run`.
    fn run_in(&mut self, workspace: &mut Self::Workspace);
}

/// An operation with its workspace.
pub struct In<O: Works> {
    operation: O,
    workspace: O::Workspace,
}

impl<O: Works> Operation for In<O> {
    const KEY: usize = O::KEY;
    const WORKSPACE: usize = size_of::<O::Workspace>();

    fn new() -> Self {
        Self { operation: O::new(), workspace: O::Workspace::default() }
    }

    fn prepare(&mut self, input: &mut Input) {
        self.operation.prepare_in(input, &mut self.workspace);
    }

    fn run(&mut self) {
        self.operation.run_in(&mut self.workspace);
    }

    fn check(&self, expected: &mut Input) -> bool {
        self.operation.check(expected)
    }
}

impl<P: mlkem::ParameterSet> Works for kem::KeyGen<Small<P>> {
    type Workspace = Workspace<P>;

    fn run_in(&mut self, workspace: &mut Workspace<P>) {
        self.dk = Some(DecapsulationKey::from_seed_in(&self.seed, Some(&mut self.ek), workspace));
    }
}

impl<P: mlkem::ParameterSet> Works for kem::Encaps<Small<P>> {
    type Workspace = Workspace<P>;

    fn run_in(&mut self, workspace: &mut Workspace<P>) {
        if let Ok(ek) = EncapsulationKeyRef::<Small<P>>::from_ref(&self.ek) {
            ek.encapsulate_deterministic_in(&self.m, &mut self.c, &mut self.shared, workspace);
        }
    }
}

impl<P: mlkem::ParameterSet> Works for kem::Decaps<Small<P>> {
    type Workspace = Workspace<P>;

    fn prepare_in(&mut self, input: &mut Input, workspace: &mut Workspace<P>) {
        let mut seed = [0; 64];
        input.read(&mut seed);
        self.dk = Some(DecapsulationKey::from_seed_in(&seed, Some(&mut self.ek), workspace));
        input.read(self.c.as_mut());
    }

    fn run_in(&mut self, workspace: &mut Workspace<P>) {
        if let Some(dk) = &self.dk {
            dk.decapsulate_in(&self.c, &mut self.shared, workspace);
        }
    }
}

impl<P: mlkem::ParameterSet> Works for kem::DecapsEncoded<Small<P>> {
    type Workspace = Workspace<P>;

    fn run_in(&mut self, workspace: &mut Workspace<P>) {
        if let Some(dk) = &self.dk {
            dk.decapsulate_in(&self.c, &mut self.shared, workspace);
        }
    }
}

impl<P: mldsa::ParameterSet> Works for dsa::KeyGen<Small<P>> {
    type Workspace = Workspace<P>;

    fn run_in(&mut self, workspace: &mut Workspace<P>) {
        self.key = Some(SigningKey::from_seed_in(&self.seed, Some(&mut self.vk), workspace));
    }
}

impl<P: mldsa::ParameterSet> Works for dsa::SignSeed<Small<P>> {
    type Workspace = Workspace<P>;

    fn prepare_in(&mut self, input: &mut Input, workspace: &mut Workspace<P>) {
        let mut seed = [0; 32];
        input.read(&mut seed);
        self.key = Some(SigningKey::from_seed_in(&seed, Some(&mut self.vk), workspace));
        input.read(&mut self.message);
    }

    fn run_in(&mut self, workspace: &mut Workspace<P>) {
        if let Some(key) = &self.key {
            key.sign_with_rnd_in(&[0; 32], &self.message, &mut self.signature, workspace);
        }
    }
}

impl<P: mldsa::ParameterSet> Works for dsa::Sign<Small<P>> {
    type Workspace = Workspace<P>;

    fn run_in(&mut self, workspace: &mut Workspace<P>) {
        if let Some(key) = &self.key {
            key.sign_with_rnd_in(&[0; 32], &self.message, &mut self.signature, workspace);
        }
    }
}

impl<P: mldsa::ParameterSet> Works for dsa::Verify<Small<P>> {
    type Workspace = Workspace<P>;

    fn run_in(&mut self, workspace: &mut Workspace<P>) {
        let vk = VerifyingKeyRef::<Small<P>>::from_ref(&self.vk);
        self.valid = vk.verify_in(&self.message, self.signature.as_ref(), workspace).is_ok();
    }
}
