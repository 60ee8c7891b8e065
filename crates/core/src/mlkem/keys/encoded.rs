//! The doors of a decapsulation key in the standard's form.

use super::super::compact::Encoded;
use super::super::depth::{self, DECAPS_ENCODED, IN_WORKSPACE, scrubbed};
use super::super::encoded::{DecapsulationKeyRef, check};
use super::super::{DecapsulationKeyError, SharedSecret, kem, small};
use super::ParameterSet;
use crate::sha3::Sha3_256;
use crate::workspace::{Small, Stack, Workspace};

impl<'a, P: ParameterSet> DecapsulationKeyRef<'a, P> {
    /// The key with these bytes, without a copy; `ek` is hashed once.
    ///
    /// # Errors
    ///
    /// By FIPS 203, §7.3: [`DecapsulationKeyError::Length`] and [`DecapsulationKeyError::Hash`]; by §7.2 for the
    /// encapsulation key inside, [`DecapsulationKeyError::Modulus`].
    pub fn from_ref(bytes: &'a [u8]) -> Result<Self, DecapsulationKeyError> {
        let key = Self::parse(bytes)?;
        check::<P>(key.ek(), key.h(), &Sha3_256::digest(key.ek()))?;
        Ok(key)
    }

    /// The shared secret that `c` carries, to `shared`.
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    pub fn decapsulate_into(&self, c: &P::Ciphertext, shared: &mut SharedSecret) {
        scrubbed::<P, { DECAPS_ENCODED[0] }, { DECAPS_ENCODED[1] }, { DECAPS_ENCODED[2] }, _>(|| {
            if depth::small::<P>() {
                small::decapsulate_encoded::<P>(self, c.as_ref(), shared.expose_mut(), Stack);
            } else {
                decapsulate(self, c.as_ref(), shared.expose_mut());
            }
        });
    }
}

impl<'a, P: ParameterSet> DecapsulationKeyRef<'a, Small<P>> {
    /// [`from_ref`](Self::from_ref) in a workspace.
    ///
    /// # Errors
    ///
    /// Those of [`from_ref`](Self::from_ref).
    pub fn from_ref_in(bytes: &'a [u8], workspace: &mut Workspace<P>) -> Result<Self, DecapsulationKeyError> {
        let key = Self::parse(bytes)?;
        let mut h = [0; 32];
        workspace.run::<{ IN_WORKSPACE }, _>(|memory| small::hash(key.ek(), &mut h, memory));
        check::<P>(key.ek(), key.h(), &h)?;
        Ok(key)
    }

    /// [`decapsulate_into`](Self::decapsulate_into) in a workspace.
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    pub fn decapsulate_in(&self, c: &P::Ciphertext, shared: &mut SharedSecret, workspace: &mut Workspace<P>) {
        workspace.run::<{ IN_WORKSPACE }, _>(|memory| {
            small::decapsulate_encoded::<Small<P>>(self, c.as_ref(), shared.expose_mut(), memory);
        });
    }
}

#[inline(never)]
fn decapsulate<P: ParameterSet>(key: &DecapsulationKeyRef<'_, P>, c: &[u8], shared: &mut [u8; 32]) {
    kem::decaps::<P>(&Encoded(key.ek()), key, key.h(), key.z(), c, shared);
}
