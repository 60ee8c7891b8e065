//! Keys in their compact form: a verifying key is its bytes, a signing key its seed. Each operation makes the rest again.

use core::fmt;
use core::marker::PhantomData;

use super::dsa;
use super::errors::InvalidSignature;
use super::forms::{ParameterSet, SigningKeyForm, VerifyingKeyForm, guarded, scrubbed};
#[cfg(feature = "alloc")]
use super::lanes::is_wide;
use super::message::{Message, h};
use super::public::PublicKey;
use super::seeds::{self, Seeds};
use super::small;
use crate::Bytes;
use crate::filled::{Holds, filled};
use crate::secret::Secret;
use crate::workspace::Stack;

/// Nothing beside the bytes of a verifying key.
#[derive(Clone, Debug)]
pub struct CompactPublic;

impl<P: ParameterSet> VerifyingKeyForm<P> for CompactPublic {
    const NEW: Self = Self;

    fn verify(
        &self,
        vk: PublicKey<'_>,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        vk.verify::<P>(message, signature)
    }
}

/// The seed ξ, and the hash tr of the verifying key. One layout for every schedule: the C interface has one object for them.
#[repr(C)]
pub struct CompactPrivate<P> {
    pub(super) seed: Secret<[u8; 32]>,
    pub(super) tr: [u8; 64],
    set: PhantomData<P>,
}

const _: () = assert!(size_of::<CompactPrivate<super::MlDsa87>>() == 96);

/// The key of a seed and tr. In a frame of its own, which no other work stands below.
#[inline(never)]
pub(super) fn of_parts<P, K: Holds<CompactPrivate<P>>>(seed: &[u8; 32], tr: &[u8; 64]) -> K {
    let empty = CompactPrivate { seed: Secret::new([0; 32]), tr: *tr, set: PhantomData };
    filled(empty, |form| *form.seed.expose_mut() = *seed)
}

impl<P: ParameterSet> CompactPrivate<P> {
    #[inline(never)]
    fn sign_mu(&self, mu: &[u8; 64], rnd: &[u8; 32], signature: &mut [u8]) {
        let mut k = Secret::new([0; 32]);
        let seeds = Seeds::<P>::new(self.seed.expose(), k.expose_mut());
        dsa::sign::<P, _>(&seeds, k.expose(), mu, rnd, signature);
    }
}

impl<P: ParameterSet> SigningKeyForm<P> for CompactPrivate<P> {
    #[inline(always)]
    fn from_seed<K: Holds<Self>>(seed: &[u8; 32]) -> K {
        if P::SMALL {
            let mut tr = [0; 64];
            guarded::<{ small::TR }, _>(|| small::hash_of_public_key::<P>(seed, &mut tr, Stack));
            return of_parts(seed, &tr);
        }
        #[cfg(feature = "alloc")]
        if is_wide() {
            return of_parts(seed, &wide::tr::<P>(seed, None));
        }
        of_parts(seed, &tr::<P>(seed))
    }

    #[inline(always)]
    fn from_seed_into<K: Holds<Self>>(seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) -> K {
        let mut tr = [0; 64];
        if P::SMALL {
            guarded::<{ small::KEY_GEN }, _>(|| small::key_gen::<P>(seed, vk.as_mut(), &mut tr, Stack));
            return of_parts(seed, &tr);
        }
        #[cfg(feature = "alloc")]
        if is_wide() {
            return of_parts(seed, &wide::tr::<P>(seed, Some(vk)));
        }
        fill_public_key::<P>(seed, vk.as_mut());
        h(&[vk.as_ref()], &mut tr);
        of_parts(seed, &tr)
    }

    fn seed(&self) -> Option<&Secret<[u8; 32]>> {
        Some(&self.seed)
    }

    fn tr(&self) -> &[u8; 64] {
        &self.tr
    }

    fn verifying_key_into(&self, vk: &mut P::VerifyingKeyBytes) {
        let seed = self.seed.expose();
        if P::SMALL {
            return guarded::<{ small::KEY_GEN }, _>(|| small::public_key::<P>(seed, vk.as_mut(), Stack));
        }
        #[cfg(feature = "alloc")]
        if is_wide() {
            wide::tr::<P>(seed, Some(vk));
            return;
        }
        fill_public_key::<P>(seed, vk.as_mut());
    }

    #[inline(never)]
    fn sign(&self, message: Message<'_>, rnd: &[u8; 32], signature: &mut [u8]) {
        if P::SMALL {
            return scrubbed::<P, { small::SIGN_44 }, { small::SIGN_65 }, { small::SIGN_87 }, _>(|| {
                small::sign_seed::<P>((self.seed.expose(), &self.tr), &message, rnd, signature, Stack);
            });
        }
        #[cfg(feature = "alloc")]
        if is_wide() {
            return wide::sign::<P>(self.seed.expose(), message, rnd, signature);
        }
        let mu = message.representative(&self.tr);
        scrubbed::<P, 10_496, 12_672, 14_848, _>(|| self.sign_mu(&mu, rnd, signature));
    }
}

impl<P: ParameterSet> fmt::Debug for CompactPrivate<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompactPrivate<{}>([redacted])", P::NAME)
    }
}

/// The work of compact keys on the heap, in functions of their own: their frames are large, and those of doors, where seeds stand, are small.
#[cfg(feature = "alloc")]
mod wide {
    use super::{Message, ParameterSet, SigningKeyForm};
    use crate::mldsa::prepared::PreparedPrivate;

    fn key<P: ParameterSet>(seed: &[u8; 32]) -> PreparedPrivate<P> {
        PreparedPrivate::of_seed(seed)
    }

    /// tr, and the public key to `vk`.
    #[inline(never)]
    pub(super) fn tr<P: ParameterSet>(seed: &[u8; 32], vk: Option<&mut P::VerifyingKeyBytes>) -> [u8; 64] {
        let key = key::<P>(seed);
        if let Some(vk) = vk {
            key.verifying_key_into(vk);
        }
        *key.tr()
    }

    #[inline(never)]
    pub(super) fn sign<P: ParameterSet>(
        seed: &[u8; 32],
        message: Message<'_>,
        rnd: &[u8; 32],
        signature: &mut [u8],
    ) {
        key::<P>(seed).sign(message, rnd, signature);
    }
}

/// The hash tr of the public key of the seed ξ. In a frame of its own: it has room for a public key, and the frames of doors, where seeds stand,
/// are small.
#[inline(never)]
fn tr<P: ParameterSet>(seed: &[u8; 32]) -> [u8; 64] {
    let mut bytes = P::VerifyingKeyBytes::zeroed();
    fill_public_key::<P>(seed, bytes.as_mut());
    PublicKey(bytes.as_ref()).tr()
}

fn fill_public_key<P: ParameterSet>(seed: &[u8; 32], pk: &mut [u8]) {
    scrubbed::<P, 8_176, 9_200, 11_248, _>(|| seeds::public_key::<P>(seed, pk));
}
