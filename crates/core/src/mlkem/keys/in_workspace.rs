//! The doors that work in memory of the caller's.

use super::super::compact::of_parts;
use super::super::small::{self, IN_WORKSPACE};
use super::{DecapsulationKey, EncapsulationKeyRef, ParameterSet, SharedSecret};
use crate::{Small, Workspace};

impl<P: ParameterSet> EncapsulationKeyRef<'_, Small<P>> {
    /// [`encapsulate_deterministic_into`](Self::encapsulate_deterministic_into) in a workspace.
    ///
    /// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
    pub fn encapsulate_deterministic_in(
        &self,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
        workspace: &mut Workspace<P>,
    ) {
        workspace.run::<IN_WORKSPACE, _>(|memory| {
            let ek = self.as_bytes().as_ref();
            small::encapsulate::<Small<P>>(ek, m, c.as_mut(), shared.expose_mut(), memory);
        });
    }
}

impl<P: ParameterSet> DecapsulationKey<Small<P>> {
    /// [`from_seed_into`](Self::from_seed_into) in a workspace, or, where `ek` is not asked for, [`from_seed`](Self::from_seed).
    ///
    /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal).
    // Inlined, so that a program that asks for one holds the code of one.
    #[inline]
    #[must_use]
    pub fn from_seed_in(
        seed: &[u8; 64],
        ek: Option<&mut P::EncapsulationKeyBytes>,
        workspace: &mut Workspace<P>,
    ) -> Self {
        let mut h = [0; 32];
        workspace.run::<IN_WORKSPACE, _>(|memory| match ek {
            Some(ek) => small::key_gen::<Small<P>>(seed, ek.as_mut(), &mut h, memory),
            None => small::hash_of_public_key::<Small<P>>(seed, &mut h, memory),
        });
        of_parts(seed, &h)
    }

    /// [`encapsulation_key_into`](Self::encapsulation_key_into) in a workspace.
    pub fn encapsulation_key_in(&self, ek: &mut P::EncapsulationKeyBytes, workspace: &mut Workspace<P>) {
        workspace.run::<IN_WORKSPACE, _>(|memory| {
            small::public_key::<Small<P>>(self.form.seed.expose(), ek.as_mut(), memory);
        });
    }

    /// [`decapsulate_into`](Self::decapsulate_into) in a workspace.
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    pub fn decapsulate_in(&self, c: &P::Ciphertext, shared: &mut SharedSecret, workspace: &mut Workspace<P>) {
        workspace.run::<IN_WORKSPACE, _>(|memory| {
            let seed = self.form.seed.expose();
            small::decapsulate::<Small<P>>(seed, &self.form.h, c.as_ref(), shared.expose_mut(), memory);
        });
    }
}
