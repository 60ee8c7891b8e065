//! The forms of keys: what they hold beside their bytes. The parameter set selects them.

use super::SharedSecret;
use super::params::ParameterSet;
use crate::filled::Holds;
use crate::secret::Secret;

/// The state of an encapsulation key beside its bytes.
pub trait PublicForm<P: ParameterSet>: Clone + Send + Sync + 'static {
    /// The form of a key that was not used yet.
    const NEW: Self;

    /// The shared secret of `m` for the key `ek`, which is used once.
    fn encapsulate_once(ek: &P::EncapsulationKeyBytes, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret);

    /// The shared secret of `m` for the key `ek`, which is used once, into the caller's memory.
    fn encapsulate_once_into(
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    );

    /// The shared secret of `m` for the key `ek`, whose form this is.
    #[inline(always)]
    fn encapsulate(&self, ek: &P::EncapsulationKeyBytes, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
        Self::encapsulate_once(ek, m)
    }

    /// The shared secret of `m` for the key `ek`, whose form this is, into the caller's memory.
    #[inline(always)]
    fn encapsulate_into(
        &self,
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        Self::encapsulate_once_into(ek, m, c, shared);
    }

    /// Makes now what later operations with the key `ek` need.
    fn prepare(&self, _ek: &P::EncapsulationKeyBytes) {}

    /// The prepared key, if it was made.
    #[cfg(feature = "alloc")]
    fn prepared(&self) -> Option<&super::prepared::Prepared> {
        None
    }
}

/// A decapsulation key.
pub trait PrivateForm<P: ParameterSet>: Sized + Send + Sync + 'static {
    /// The key of the seed d ‖ z. The whole key, which is not moved again: a move leaves a copy in the frame.
    fn from_seed<K: Holds<Self>>(seed: &[u8; 64]) -> K;

    /// The key of the seed d ‖ z, and its encapsulation key to `ek`.
    fn from_seed_into<K: Holds<Self>>(seed: &[u8; 64], ek: &mut P::EncapsulationKeyBytes) -> K;

    /// The seed d ‖ z, unless the key was imported without it.
    fn seed(&self) -> Option<&Secret<[u8; 64]>>;

    /// The bytes of the encapsulation key.
    fn encapsulation_key_into(&self, ek: &mut P::EncapsulationKeyBytes);

    /// The encapsulation key, with what is prepared of it.
    fn encapsulation_key(&self) -> super::EncapsulationKey<P>;

    /// The shared secret that `c` carries.
    fn decapsulate(&self, c: &P::Ciphertext) -> SharedSecret;

    /// The shared secret that `c` carries, to the caller's `shared`.
    fn decapsulate_into(&self, c: &P::Ciphertext, shared: &mut SharedSecret);
}
