//! A decapsulation key in the standard's form, where its bytes are.

use core::fmt;
use core::marker::PhantomData;

use super::compact::{Encoded, scrubbed};
use super::params::ParameterSet;
use super::pke::{DecryptionKey, EncryptionKey};
use super::ring::Ntt;
use super::{DecapsulationKeyError, SharedSecret, encode, kem, small};
use crate::Bytes;
use crate::secret::Secret;
use crate::sha3::Sha3_256;
use crate::small::{Small, Stack, Workspace};

/// A decapsulation key in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z, borrowed: for a device that keeps such bytes, and has
/// no room for another form.
///
/// No heap. [`Small`](crate::Small) makes it the form with the least stack of all.
///
/// ```
/// use gambeson::Small;
/// use gambeson::mlkem::{DecapsulationKey, DecapsulationKeyRef, MlKem768, SharedSecret};
///
/// let dk = DecapsulationKey::<MlKem768>::from_seed(&[7; 64]);
/// let (c, shared) = dk.encapsulation_key().encapsulate()?;
/// let mut stored = [0; 2400];
/// DecapsulationKey::<MlKem768>::encoded_from_seed(&[7; 64], &mut stored);
///
/// let key = DecapsulationKeyRef::<Small<MlKem768>>::from_ref(&stored)?;
/// let mut same = SharedSecret::new([0; 32]);
/// key.decapsulate_into(&c, &mut same);
/// assert_eq!(same.expose(), shared.expose());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DecapsulationKeyRef<'a, P: ParameterSet> {
    bytes: &'a [u8],
    parameters: PhantomData<P>,
}

impl<'a, P: ParameterSet> DecapsulationKeyRef<'a, P> {
    /// The key with these bytes, without a copy; `ek` is hashed once.
    ///
    /// # Errors
    ///
    /// By FIPS 203, §7.3: [`DecapsulationKeyError::Length`] and [`DecapsulationKeyError::Hash`]; by §7.2 for the
    /// encapsulation key inside, [`DecapsulationKeyError::Modulus`].
    pub fn from_ref(bytes: &'a [u8]) -> Result<Self, DecapsulationKeyError> {
        let key = Self::parse(bytes)?;
        key.check(&Sha3_256::digest(key.ek()))?;
        Ok(key)
    }

    /// The shared secret that `c` carries, to `shared`.
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    pub fn decapsulate_into(&self, c: &P::Ciphertext, shared: &mut SharedSecret) {
        scrubbed::<
            P,
            { small::DECAPS_ENCODED[0] },
            { small::DECAPS_ENCODED[1] },
            { small::DECAPS_ENCODED[2] },
            _,
        >(|| {
            if small::runs::<P>() {
                small::decapsulate_encoded::<P>(self, c.as_ref(), shared.expose_mut(), Stack);
            } else {
                decapsulate(self, c.as_ref(), shared.expose_mut());
            }
        });
    }

    /// Cuts the bytes; what they hold is still to be checked.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, DecapsulationKeyError> {
        let expected = P::DecapsulationKeyBytes::LEN;
        if bytes.len() != expected {
            return Err(DecapsulationKeyError::Length { expected, actual: bytes.len() });
        }
        Ok(Self { bytes, parameters: PhantomData })
    }

    /// ŝ, encoded.
    pub(super) fn s(&self) -> &'a [u8] {
        &self.bytes[..384 * P::K]
    }

    pub(super) fn ek(&self) -> &'a [u8] {
        &self.bytes[384 * P::K..][..P::EncapsulationKeyBytes::LEN]
    }

    /// H(ek), as it stands there.
    pub(super) fn h(&self) -> &'a [u8; 32] {
        self.bytes[self.bytes.len() - 64..].first_chunk().expect("64 bytes")
    }

    /// What the rejection secret is made of.
    pub(super) fn z(&self) -> &'a [u8; 32] {
        self.bytes.last_chunk().expect("a key ends with z")
    }

    /// The checks of FIPS 203, §7.3 and §7.2, with H(ek) computed.
    pub(super) fn check(&self, h: &[u8; 32]) -> Result<(), DecapsulationKeyError> {
        if self.h() != h {
            return Err(DecapsulationKeyError::Hash);
        }
        if !encode::is_reduced(&self.ek()[..384 * P::K]) {
            return Err(DecapsulationKeyError::Modulus);
        }
        Ok(())
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
        workspace.run::<{ small::IN_WORKSPACE }, _>(|memory| small::hash(key.ek(), &mut h, memory));
        key.check(&h)?;
        Ok(key)
    }

    /// [`decapsulate_into`](Self::decapsulate_into) in a workspace.
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    pub fn decapsulate_in(&self, c: &P::Ciphertext, shared: &mut SharedSecret, workspace: &mut Workspace<P>) {
        workspace.run::<{ small::IN_WORKSPACE }, _>(|memory| {
            small::decapsulate_encoded::<Small<P>>(self, c.as_ref(), shared.expose_mut(), memory);
        });
    }
}

#[inline(never)]
fn decapsulate<P: ParameterSet>(key: &DecapsulationKeyRef<'_, P>, c: &[u8], shared: &mut [u8; 32]) {
    kem::decaps::<P>(key, key.h(), key.z(), c, shared);
}

impl<P: ParameterSet> EncryptionKey<P> for DecapsulationKeyRef<'_, P> {
    fn multiply_add_a(&self, sum: &mut Ntt, i: usize, j: usize, x: &Ntt) {
        EncryptionKey::<P>::multiply_add_a(&Encoded(self.ek()), sum, i, j, x);
    }

    fn multiply_add_t(&self, sum: &mut Ntt, j: usize, row: &Ntt, y: &Ntt) {
        EncryptionKey::<P>::multiply_add_t(&Encoded(self.ek()), sum, j, row, y);
    }
}

impl<P: ParameterSet> DecryptionKey for DecapsulationKeyRef<'_, P> {
    #[inline(never)]
    fn multiply_add_s(&self, sum: &mut Ntt, j: usize, x: &Ntt) {
        let mut s = Secret::new(Ntt::ZERO);
        encode::decode(s.expose_mut(), self.s(), j);
        sum.multiply_add(x, s.expose());
    }
}

impl<P: ParameterSet> fmt::Debug for DecapsulationKeyRef<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DecapsulationKeyRef").field(&P::NAME).finish_non_exhaustive()
    }
}
