//! Keys in their compact form: a verifying key is its bytes, a signing key its seed. Each operation makes the rest again.

use core::fmt;
use core::marker::PhantomData;

use super::VerifyingKey;
use super::dsa::{self, Seeds, VerifyingForm, h};
use super::encode;
use super::forms::{PrivateForm, PublicForm};
use super::kernels::Kernels;
use super::keys::InvalidSignature;
use super::message::Message;
use super::params::{ParameterSet, T1_BYTES};
use super::ring::Poly;
use super::sample::sample_a;
use super::small;
use crate::Bytes;
use crate::secret::{Secret, StackGuard};
use crate::small::Stack;

/// Does `work` on secrets, then wipes the stack that it used: `N44`, `N65` or `N87` bytes, as the parameter set says.
///
/// `work` must call a function that is not inlined. The numbers are its measured depth on x86-64, release, plus some.
#[inline(always)]
pub(super) fn scrubbed<P: ParameterSet, const N44: usize, const N65: usize, const N87: usize, T>(
    work: impl FnOnce() -> T,
) -> T {
    match P::K {
        4 => {
            let _guard = StackGuard::<N44>;
            work()
        }
        6 => {
            let _guard = StackGuard::<N65>;
            work()
        }
        _ => {
            let _guard = StackGuard::<N87>;
            work()
        }
    }
}

/// The same for a schedule whose depth is that of every set. Inlined, as [`scrubbed`].
#[inline(always)]
fn scrub_small<const N: usize>(work: impl FnOnce()) {
    let _guard = StackGuard::<N>;
    work();
}

/// The bytes of a public key.
#[derive(Clone, Copy, Debug)]
pub struct PublicKey<'a>(pub(super) &'a [u8]);

impl PublicKey<'_> {
    /// Verifies `signature` over `message`, on the stack.
    pub(super) fn verify_on_stack<P: ParameterSet>(
        &self,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if signature.len() != P::Signature::LEN {
            return Err(InvalidSignature);
        }
        dsa::verify::<P>(self, &self.represent(message), signature)
    }

    /// μ, in a frame that is gone when the work begins.
    #[inline(never)]
    fn represent(&self, message: &Message<'_>) -> [u8; 64] {
        message.representative(&self.tr())
    }

    /// H(pk, 64).
    pub(super) fn tr(&self) -> [u8; 64] {
        let mut tr = [0; 64];
        h(&[self.0], &mut tr);
        tr
    }

    /// ρ.
    pub(super) fn rho(&self) -> &[u8; 32] {
        self.0.first_chunk().expect("a public key is longer than ρ")
    }

    /// NTT(-2^d·t1\[row\]).
    pub(super) fn minus_t1_2d_hat(&self, kernels: &Kernels, row: usize, out: &mut Poly) {
        encode::unpack_minus_t1_2d(kernels, &self.0[32 + row * T1_BYTES..][..T1_BYTES], out);
        (kernels.ntt)(out);
    }
}

impl VerifyingForm for PublicKey<'_> {
    fn row(&self, kernels: &Kernels, row: usize, factors: &[Poly], w: &mut Poly, scratch: &mut Poly) {
        let (c_hat, z_hat) = factors.split_last().expect("more than one");
        self.minus_t1_2d_hat(kernels, row, w);
        (kernels.multiply)(w, c_hat);
        for (column, z_hat) in z_hat.iter().enumerate() {
            sample_a(kernels, self.rho(), row, column, scratch);
            (kernels.multiply_add)(w, scratch, z_hat);
        }
    }
}

/// Nothing beside the bytes of a verifying key.
#[derive(Clone, Debug)]
pub struct Public;

impl<P: ParameterSet> PublicForm<P> for Public {
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

impl PublicKey<'_> {
    /// Verifies once: on the heap where the table in force is for vectors, and all sponges run side by side there; else on the stack.
    pub(super) fn verify<P: ParameterSet>(
        &self,
        message: &Message<'_>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if signature.len() != P::Signature::LEN {
            return Err(InvalidSignature);
        }
        if P::SMALL {
            return small::verify::<P>(self.0, message, signature, Stack);
        }
        #[cfg(feature = "alloc")]
        if super::is_wide() {
            return self.verify_once::<P>(message, signature);
        }
        self.verify_on_stack::<P>(message, signature)
    }
}

/// The seed ξ, and the hash tr of the verifying key. One layout for every schedule: the C interface has one object for them.
#[repr(C)]
pub struct Private<P> {
    pub(super) seed: Secret<[u8; 32]>,
    pub(super) tr: [u8; 64],
    set: PhantomData<P>,
}

const _: () = assert!(size_of::<Private<super::MlDsa87>>() == 96);

impl<P: ParameterSet> Private<P> {
    /// Inlined: a copy of the seed in a frame of its own would stay there.
    #[inline(always)]
    pub(super) fn from_parts(seed: &[u8; 32], tr: [u8; 64]) -> Self {
        // The seed goes through a register.
        let _guard = StackGuard::<0>;
        Self { seed: Secret::new(*seed), tr, set: PhantomData }
    }

    #[inline(never)]
    fn sign_mu(&self, mu: &[u8; 64], rnd: &[u8; 32], signature: &mut [u8]) {
        dsa::sign::<P, _>(&Seeds::<P>::new(self.seed.expose()), mu, rnd, signature, &mut |_| ());
    }
}

impl<P: ParameterSet> PrivateForm<P> for Private<P> {
    fn from_seed(seed: &[u8; 32]) -> Self {
        if P::SMALL {
            let mut tr = [0; 64];
            scrub_small::<{ small::TR }>(|| small::hash_of_public_key::<P>(seed, &mut tr, Stack));
            return Self::from_parts(seed, tr);
        }
        #[cfg(feature = "alloc")]
        if super::is_wide() {
            return Self::from_parts(seed, wide::tr::<P>(seed));
        }
        Self::from_parts(seed, tr::<P>(seed))
    }

    fn from_seed_into(seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) -> Self {
        if P::SMALL {
            let mut tr = [0; 64];
            scrub_small::<{ small::KEY_GEN }>(|| small::key_gen::<P>(seed, vk.as_mut(), &mut tr, Stack));
            return Self::from_parts(seed, tr);
        }
        #[cfg(feature = "alloc")]
        if super::is_wide() {
            return Self::from_parts(seed, wide::public_key_and_tr::<P>(seed, vk));
        }
        fill_public_key::<P>(seed, vk.as_mut());
        let mut tr = [0; 64];
        h(&[vk.as_ref()], &mut tr);
        Self::from_parts(seed, tr)
    }

    fn seed(&self) -> Option<&Secret<[u8; 32]>> {
        Some(&self.seed)
    }

    fn tr(&self) -> &[u8; 64] {
        &self.tr
    }

    fn verifying_key(&self) -> VerifyingKey<P> {
        let mut bytes = P::VerifyingKeyBytes::zeroed();
        self.verifying_key_into(&mut bytes);
        VerifyingKey::from_bytes(&bytes)
    }

    fn verifying_key_into(&self, vk: &mut P::VerifyingKeyBytes) {
        let seed = self.seed.expose();
        if P::SMALL {
            return scrub_small::<{ small::KEY_GEN }>(|| small::public_key::<P>(seed, vk.as_mut(), Stack));
        }
        #[cfg(feature = "alloc")]
        if super::is_wide() {
            return wide::public_key::<P>(seed, vk);
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
        if super::is_wide() {
            return wide::sign::<P>(self.seed.expose(), message, rnd, signature);
        }
        let mu = message.representative(&self.tr);
        scrubbed::<P, 10_496, 12_672, 14_848, _>(|| self.sign_mu(&mu, rnd, signature));
    }
}

impl<P: ParameterSet> fmt::Debug for Private<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Private<{}>([redacted])", P::NAME)
    }
}

/// The work of compact keys on the heap, in functions of their own: their frames are large, and those of doors, where seeds stand, are small.
#[cfg(feature = "alloc")]
mod wide {
    use super::{Message, ParameterSet, PrivateForm};
    use crate::mldsa::prepared::Private;

    #[inline(never)]
    pub(super) fn tr<P: ParameterSet>(seed: &[u8; 32]) -> [u8; 64] {
        *Private::<P>::from_seed(seed).tr()
    }

    #[inline(never)]
    pub(super) fn public_key_and_tr<P: ParameterSet>(
        seed: &[u8; 32],
        vk: &mut P::VerifyingKeyBytes,
    ) -> [u8; 64] {
        let key = Private::<P>::from_seed_into(seed, vk);
        *key.tr()
    }

    #[inline(never)]
    pub(super) fn public_key<P: ParameterSet>(seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) {
        drop(Private::<P>::from_seed_into(seed, vk));
    }

    #[inline(never)]
    pub(super) fn sign<P: ParameterSet>(
        seed: &[u8; 32],
        message: Message<'_>,
        rnd: &[u8; 32],
        signature: &mut [u8],
    ) {
        Private::<P>::from_seed(seed).sign(message, rnd, signature);
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
    #[inline(never)]
    fn work<P: ParameterSet>(seed: &[u8; 32], bytes: &mut [u8]) {
        dsa::public_key::<P>(&Seeds::new(seed), bytes);
    }
    scrubbed::<P, 8_176, 9_200, 11_248, _>(|| work::<P>(seed, pk));
}
