//! The forms of keys: what they hold beside their bytes. The parameter set selects them.

use super::VerifyingKey;
use super::compact::PublicKey;
use super::keys::InvalidSignature;
use super::message::Message;
use super::params::ParameterSet;
use crate::secret::Secret;

/// What a verifying key holds beside its bytes.
pub trait PublicForm<P: ParameterSet>: Clone + Send + Sync + 'static {
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
pub trait PrivateForm<P: ParameterSet>: Send + Sync + 'static {
    /// A key still to be filled: filled where it stands, it leaves no copy of its secrets in a frame that it was moved from.
    fn empty() -> Self;

    /// Becomes the key of the seed ξ.
    fn fill(&mut self, seed: &[u8; 32]);

    /// The same, and its verifying key to `vk`.
    fn fill_into(&mut self, seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes);

    /// The seed ξ, unless the key was imported without it.
    fn seed(&self) -> Option<&Secret<[u8; 32]>>;

    /// The hash tr of the verifying key.
    fn tr(&self) -> &[u8; 64];

    /// The verifying key.
    fn verifying_key(&self) -> VerifyingKey<P>;

    /// The bytes of the verifying key.
    fn verifying_key_into(&self, vk: &mut P::VerifyingKeyBytes);

    /// Signs `message` with the randomness `rnd`.
    fn sign(&self, message: Message<'_>, rnd: &[u8; 32], signature: &mut [u8]);
}
