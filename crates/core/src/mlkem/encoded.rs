//! A decapsulation key in the standard's form, where its bytes are.

use core::fmt;
use core::marker::PhantomData;

use super::params::ParameterSet;
#[cfg(feature = "alloc")]
use super::params::{Parts, Source};
use super::{DecapsulationKeyError, encode};
use crate::Bytes;

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

    /// The input of decapsulation beside ŝ.
    #[cfg(feature = "alloc")]
    pub(super) fn parts(&self) -> Parts<'a> {
        Parts { source: Source::Bytes(self.ek()), h: self.h(), z: self.z() }
    }
}

/// The checks of FIPS 203, §7.3 and §7.2, of a key that has `h` as H(ek), which was computed, too.
pub(super) fn check<P: ParameterSet>(
    ek: &[u8],
    h: &[u8; 32],
    computed: &[u8; 32],
) -> Result<(), DecapsulationKeyError> {
    if h != computed {
        return Err(DecapsulationKeyError::Hash);
    }
    if !encode::is_reduced(&ek[..384 * P::K]) {
        return Err(DecapsulationKeyError::Modulus);
    }
    Ok(())
}

impl<P: ParameterSet> fmt::Debug for DecapsulationKeyRef<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DecapsulationKeyRef").field(&P::NAME).finish_non_exhaustive()
    }
}
