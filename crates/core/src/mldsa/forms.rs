//! FIPS 204, §4: the parameter sets by their encodings, Table 2, and by the forms of their keys.

use core::fmt::Debug;

use super::errors::InvalidSignature;
use super::message::Message;
use super::params::sealed::Parameters;
use super::public::PublicKey;
use crate::Bytes;
use crate::filled::Holds;
use crate::secret::{Secret, StackGuard};

/// A parameter set of ML-DSA: [`MlDsa44`](super::MlDsa44), [`MlDsa65`](super::MlDsa65) or [`MlDsa87`](super::MlDsa87).
///
/// Its associated types are the encodings of FIPS 204, Table 2, as arrays. The trait is sealed.
pub trait ParameterSet: Parameters + Copy + Debug + Eq + Send + Sync {
    /// The name in the standard: `ML-DSA-65`.
    const NAME: &'static str;

    /// A public key (pk).
    type VerifyingKeyBytes: Bytes;

    /// A signature (σ).
    type Signature: Bytes;

    /// A private key in the standard's encoding (sk).
    type SigningKeyBytes: Bytes;

    /// The state of a verifying key beside its bytes.
    #[doc(hidden)]
    type Public: VerifyingKeyForm<Self>;

    /// The content of a signing key.
    #[doc(hidden)]
    type Private: SigningKeyForm<Self>;
}

/// The state of a verifying key beside its bytes.
pub trait VerifyingKeyForm<P: ParameterSet>: Clone + Send + Sync + 'static {
    /// The form of a key that was not used yet.
    const NEW: Self;

    /// Verifies with the key `vk`, whose form this is.
    fn verify(
        &self,
        vk: PublicKey<'_>,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature>;

    /// The hash tr of the key `vk`.
    fn tr(&self, vk: PublicKey<'_>) -> [u8; 64] {
        vk.tr()
    }

    /// Makes now what later verifications with the key `vk` need.
    fn prepare(&self, _vk: PublicKey<'_>) {}
}

/// A signing key.
pub trait SigningKeyForm<P: ParameterSet>: Sized + Send + Sync + 'static {
    /// The key of the seed ξ. The whole key, which is not moved again: a move leaves a copy in the frame.
    fn from_seed<K: Holds<Self>>(seed: &[u8; 32]) -> K;

    /// The key of the seed ξ, and its verifying key to `vk`.
    fn from_seed_into<K: Holds<Self>>(seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) -> K;

    /// The seed ξ, unless the key was imported without it.
    fn seed(&self) -> Option<&Secret<[u8; 32]>>;

    /// The hash tr of the verifying key.
    fn tr(&self) -> &[u8; 64];

    /// The bytes of the verifying key.
    fn verifying_key_into(&self, vk: &mut P::VerifyingKeyBytes);

    /// Signs `message` with the randomness `rnd`.
    fn sign(&self, message: Message<'_>, rnd: &[u8; 32], signature: &mut [u8]);
}

/// Does `work` on secrets, then wipes the stack that it used: `N44`, `N65` or `N87` bytes, as the parameter set says.
///
/// `work` must call a function that is not inlined. The numbers are its measured depth on x86-64, release, plus some.
#[inline(always)]
pub(super) fn scrubbed<P: ParameterSet, const N44: usize, const N65: usize, const N87: usize, T>(
    work: impl FnOnce() -> T,
) -> T {
    match P::K {
        4 => guarded::<N44, T>(work),
        6 => guarded::<N65, T>(work),
        _ => guarded::<N87, T>(work),
    }
}

/// As [`scrubbed`], for work whose depth is that of every set.
#[inline(always)]
pub(super) fn guarded<const N: usize, T>(work: impl FnOnce() -> T) -> T {
    let _guard = StackGuard::<N>;
    work()
}
