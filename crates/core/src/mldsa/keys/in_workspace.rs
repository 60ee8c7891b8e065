//! The doors that work in memory of the caller's.

use super::super::compact::of_parts;
use super::super::small::{self, IN_WORKSPACE, KEY_GEN_IN_WORKSPACE};
use super::{InvalidSignature, Message, ParameterSet, SigningKey, VerifyingKeyRef};
use crate::{Small, Workspace};

impl<P: ParameterSet> SigningKey<Small<P>> {
    /// [`from_seed_into`](Self::from_seed_into) in a workspace, or, where `vk` is not asked for, [`from_seed`](Self::from_seed).
    ///
    /// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal).
    // Inlined, so that a program that asks for one holds the code of one.
    #[inline]
    #[must_use]
    pub fn from_seed_in(
        seed: &[u8; 32],
        vk: Option<&mut P::VerifyingKeyBytes>,
        workspace: &mut Workspace<P>,
    ) -> Self {
        let mut tr = [0; 64];
        workspace.run::<KEY_GEN_IN_WORKSPACE, _>(|memory| match vk {
            Some(vk) => small::key_gen::<Small<P>>(seed, vk.as_mut(), &mut tr, memory),
            None => small::hash_of_public_key::<Small<P>>(seed, &mut tr, memory),
        });
        of_parts(seed, &tr)
    }

    /// [`verifying_key_into`](Self::verifying_key_into) in a workspace.
    pub fn verifying_key_in(&self, vk: &mut P::VerifyingKeyBytes, workspace: &mut Workspace<P>) {
        workspace.run::<KEY_GEN_IN_WORKSPACE, _>(|memory| {
            small::public_key::<Small<P>>(self.form.seed.expose(), vk.as_mut(), memory);
        });
    }

    /// [`sign_with_rnd_into`](Self::sign_with_rnd_into) in a workspace.
    ///
    /// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal).
    pub fn sign_with_rnd_in<'m>(
        &self,
        rnd: &[u8; 32],
        message: impl Into<Message<'m>>,
        signature: &mut P::Signature,
        workspace: &mut Workspace<P>,
    ) {
        let message = message.into();
        workspace.run::<IN_WORKSPACE, _>(|memory| {
            let key = (self.form.seed.expose(), &self.form.tr);
            small::sign_seed::<Small<P>>(key, &message, rnd, signature.as_mut(), memory);
        });
    }
}

impl<P: ParameterSet> VerifyingKeyRef<'_, Small<P>> {
    /// [`verify`](Self::verify) in a workspace.
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`], as there.
    pub fn verify_in<'m>(
        &self,
        message: impl Into<Message<'m>>,
        signature: &[u8],
        workspace: &mut Workspace<P>,
    ) -> Result<(), InvalidSignature> {
        let message = message.into();
        workspace
            .run::<0, _>(|memory| small::verify::<Small<P>>(self.bytes.as_ref(), &message, signature, memory))
    }
}
