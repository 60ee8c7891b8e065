//! Keys in their compact form: an encapsulation key is its bytes, a decapsulation key its seed. Each operation makes the rest again.

use core::marker::PhantomData;

use super::encode::{self, Writer};
use super::forms::{PrivateForm, PublicForm};
use super::kem;
use super::params::ParameterSet;
use super::pke::{self, DecryptionKey, EncryptionKey};
use super::ring::Ntt;
use super::sample::{Noise, Prf, matrix_entry};
use super::{EncapsulationKey, SharedSecret, kernels, small};
use crate::Bytes;
use crate::cpu::Level;
use crate::filled::{Holds, filled};
use crate::secret::{Secret, StackGuard, declassify};
use crate::sha3::Sha3_256;
use crate::small::Stack;

#[cfg(gambeson_ct)]
pub mod gate;

/// The work behind a door, and what it used of the stack at most (`cargo xtask stack`) overwritten: `N512`, `N768` or `N1024` bytes in
/// that of [`small`]; otherwise the tables for vectors go deeper than the portable one. Inlined: the work's results
/// must not pass through a frame above the guard.
#[inline(always)]
pub(super) fn scrubbed<P: ParameterSet, const N512: usize, const N768: usize, const N1024: usize, T>(
    work: impl FnOnce() -> T,
) -> T {
    match (small::runs::<P>(), P::K) {
        (true, 2) => {
            let _guard = StackGuard::<N512>;
            work()
        }
        (true, 3) => {
            let _guard = StackGuard::<N768>;
            work()
        }
        (true, _) => {
            let _guard = StackGuard::<N1024>;
            work()
        }
        (false, k) if kernels::active().level == Level::Portable => match k {
            2 => {
                let _guard = StackGuard::<5504>;
                work()
            }
            3 => {
                let _guard = StackGuard::<6000>;
                work()
            }
            _ => {
                let _guard = StackGuard::<6512>;
                work()
            }
        },
        _ => {
            let _guard = StackGuard::<{ 9 * 1024 }>;
            work()
        }
    }
}

/// Nothing beside the bytes of an encapsulation key.
#[derive(Clone, Debug)]
pub struct Public;

impl<P: ParameterSet> PublicForm<P> for Public {
    const NEW: Self = Self;

    #[inline(always)]
    fn encapsulate_once(ek: &P::EncapsulationKeyBytes, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
        let mut c = P::Ciphertext::zeroed();
        let mut shared = Secret::new([0; 32]);
        scrubbed::<P, { small::ENCAPS[0] }, { small::ENCAPS[1] }, { small::ENCAPS[2] }, _>(|| {
            encapsulate::<P>(ek.as_ref(), m, c.as_mut(), shared.expose_mut());
            (c, shared.take())
        })
    }

    #[inline(always)]
    fn encapsulate_once_into(
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        scrubbed::<P, { small::ENCAPS[0] }, { small::ENCAPS[1] }, { small::ENCAPS[2] }, _>(|| {
            encapsulate::<P>(ek.as_ref(), m, c.as_mut(), shared.expose_mut());
        });
    }
}

/// The seed d ‖ z, and H(ek). One layout for every schedule: the C interface has one object for them.
#[repr(C)]
#[derive(Debug)]
pub struct Private<P> {
    pub(super) seed: Secret<[u8; 64]>,
    pub(super) h: [u8; 32],
    pub(super) parameters: PhantomData<P>,
}

impl<P: ParameterSet> PrivateForm<P> for Private<P> {
    #[inline(always)]
    fn from_seed<K: Holds<Self>>(seed: &[u8; 64]) -> K {
        let mut h = [0; 32];
        scrubbed::<P, { small::HASH[0] }, { small::HASH[1] }, { small::HASH[2] }, _>(|| {
            if P::SMALL {
                small::hash_of_public_key::<P>(seed, &mut h, Stack);
            } else if small::runs::<P>() {
                key_gen::<P>(seed, P::EncapsulationKeyBytes::zeroed().as_mut(), &mut h);
            } else {
                hash_of_public_key::<P>(seed, &mut h);
            }
        });
        of_parts(seed, &h)
    }

    #[inline(always)]
    fn from_seed_into<K: Holds<Self>>(seed: &[u8; 64], ek: &mut P::EncapsulationKeyBytes) -> K {
        let mut h = [0; 32];
        scrubbed::<P, { small::KEY_GEN[0] }, { small::KEY_GEN[1] }, { small::KEY_GEN[2] }, _>(|| {
            key_gen::<P>(seed, ek.as_mut(), &mut h);
        });
        of_parts(seed, &h)
    }

    fn seed(&self) -> Option<&Secret<[u8; 64]>> {
        Some(&self.seed)
    }

    #[inline(always)]
    fn encapsulation_key_into(&self, ek: &mut P::EncapsulationKeyBytes) {
        scrubbed::<P, { small::KEY_GEN[0] }, { small::KEY_GEN[1] }, { small::KEY_GEN[2] }, _>(|| {
            if small::runs::<P>() {
                small::public_key::<P>(self.seed.expose(), ek.as_mut(), Stack);
            } else {
                public_key::<P>(self.seed.expose(), ek.as_mut());
            }
        });
    }

    fn encapsulation_key(&self) -> EncapsulationKey<P> {
        let mut bytes = P::EncapsulationKeyBytes::zeroed();
        self.encapsulation_key_into(&mut bytes);
        EncapsulationKey::from_reduced(bytes, P::Public::NEW)
    }

    #[inline(always)]
    fn decapsulate(&self, c: &P::Ciphertext) -> SharedSecret {
        let mut shared = Secret::new([0; 32]);
        scrubbed::<P, { small::DECAPS[0] }, { small::DECAPS[1] }, { small::DECAPS[2] }, _>(|| {
            decapsulate::<P>(self.seed.expose(), &self.h, c.as_ref(), shared.expose_mut());
            shared.take()
        })
    }

    #[inline(always)]
    fn decapsulate_into(&self, c: &P::Ciphertext, shared: &mut SharedSecret) {
        scrubbed::<P, { small::DECAPS[0] }, { small::DECAPS[1] }, { small::DECAPS[2] }, _>(|| {
            decapsulate::<P>(self.seed.expose(), &self.h, c.as_ref(), shared.expose_mut());
        });
    }
}

const _: () = assert!(size_of::<Private<super::MlKem768>>() == 96);

/// The key of a seed and H(ek). In a frame of its own, which no other work stands below.
#[inline(never)]
pub(super) fn of_parts<P, K: Holds<Private<P>>>(seed: &[u8; 64], h: &[u8; 32]) -> K {
    let empty = Private { seed: Secret::new([0; 64]), h: *h, parameters: PhantomData };
    filled(empty, |form| *form.seed.expose_mut() = *seed)
}

#[inline(always)]
fn encapsulate<P: ParameterSet>(ek: &[u8], m: &[u8; 32], c: &mut [u8], shared: &mut [u8; 32]) {
    #[inline(never)]
    fn fast<P: ParameterSet>(ek: &[u8], m: &[u8; 32], c: &mut [u8], shared: &mut [u8; 32]) {
        kem::encaps::<P>(&Encoded(ek), &Sha3_256::digest(ek), m, c, shared);
    }
    if small::runs::<P>() {
        small::encapsulate::<P>(ek, m, c, shared, Stack)
    } else {
        fast::<P>(ek, m, c, shared)
    }
}

#[inline(never)]
fn hash_of_public_key<P: ParameterSet>(seed: &[u8; 64], h: &mut [u8; 32]) {
    let key = Remade::<P>::new(seed);
    let mut hasher = Sha3_256::new();
    key.public_rows(&mut hasher);
    *h = hasher.update(&key.rho).finalize();
    declassify(h); // public: the hash of a public key
}

#[inline(never)]
fn public_key<P: ParameterSet>(seed: &[u8; 64], ek: &mut [u8]) {
    let key = Remade::<P>::new(seed);
    let (rows, rho) = ek.split_at_mut(384 * P::K);
    key.public_rows(&mut Writer(rows));
    rho.copy_from_slice(&key.rho);
    declassify(ek); // public: the encapsulation key is published
}

#[inline(always)]
fn key_gen<P: ParameterSet>(seed: &[u8; 64], ek: &mut [u8], h: &mut [u8; 32]) {
    if small::runs::<P>() {
        small::key_gen::<P>(seed, ek, h, Stack);
    } else {
        public_key::<P>(seed, ek);
        *h = Sha3_256::digest(ek);
    }
}

#[inline(always)]
fn decapsulate<P: ParameterSet>(seed: &[u8; 64], h: &[u8; 32], c: &[u8], shared: &mut [u8; 32]) {
    #[inline(never)]
    fn fast<P: ParameterSet>(seed: &[u8; 64], h: &[u8; 32], c: &[u8], shared: &mut [u8; 32]) {
        let z = seed.last_chunk().expect("32 of 64 bytes");
        kem::decaps(&Remade::<P>::new(seed), h, z, c, shared);
    }
    if small::runs::<P>() {
        small::decapsulate::<P>(seed, h, c, shared, Stack)
    } else {
        fast::<P>(seed, h, c, shared)
    }
}

/// An encryption key that reads its bytes: decodes t̂ and samples Â, each where it is used.
pub(super) struct Encoded<'a>(pub &'a [u8]);

impl<P: ParameterSet> EncryptionKey<P> for Encoded<'_> {
    #[inline(never)]
    fn multiply_add_a(&self, sum: &mut Ntt, i: usize, j: usize, x: &Ntt) {
        let mut a = Ntt::ZERO;
        let rho = self.0.last_chunk().expect("a key ends with ρ");
        matrix_entry(&mut a, rho, i, j);
        sum.multiply_add(&a, x);
    }

    #[inline(never)]
    fn multiply_add_t(&self, sum: &mut Ntt, j: usize, _row: &Ntt, y: &Ntt) {
        let mut t = Ntt::ZERO;
        encode::decode(&mut t, self.0, j);
        sum.multiply_add(&t, y);
    }
}

/// Both keys, remade from the seed where they are used.
struct Remade<P> {
    rho: [u8; 32],
    sigma: Secret<[u8; 32]>,
    parameters: PhantomData<P>,
}

impl<P: ParameterSet> Remade<P> {
    /// FIPS 203, Algorithm 13 (K-PKE.KeyGen), line 1.
    fn new(seed: &[u8; 64]) -> Self {
        let rho_sigma = kem::g(&seed[..32], &[P::K as u8]);
        let [rho, sigma] = rho_sigma.expose();
        declassify(rho); // public: ρ is part of the encapsulation key
        Self { rho: *rho, sigma: Secret::new(*sigma), parameters: PhantomData }
    }

    #[inline(never)]
    fn public_rows(&self, sink: &mut impl encode::Sink) {
        let mut s = Secret::new(P::vector());
        let s = s.expose_mut().as_mut();
        for (j, s) in s.iter_mut().enumerate() {
            pke::secret::<P>(s, &Prf(self.sigma.expose()), j);
        }
        pke::key_gen(self, 0..P::K, s, &Prf(self.sigma.expose()), sink);
    }
}

impl<P: ParameterSet> EncryptionKey<P> for Remade<P> {
    #[inline(never)]
    fn multiply_add_a(&self, sum: &mut Ntt, i: usize, j: usize, x: &Ntt) {
        let mut a = Ntt::ZERO;
        matrix_entry(&mut a, &self.rho, i, j);
        sum.multiply_add(&a, x);
    }

    #[inline(never)]
    fn multiply_add_t(&self, sum: &mut Ntt, j: usize, row: &Ntt, y: &Ntt) {
        let mut noisy = Secret::new(Ntt::ZERO);
        let noisy = noisy.expose_mut();
        pke::secret::<P>(noisy, &Prf(self.sigma.expose()), j);
        noisy.scale();
        sum.multiply_add(row, noisy);
        noisy.transform(|e| Prf(self.sigma.expose()).fill(e, P::ETA1, P::K + j));
        sum.multiply_add(noisy, y);
        sum.reduce();
    }
}

impl<P: ParameterSet> DecryptionKey for Remade<P> {
    #[inline(never)]
    fn multiply_add_s(&self, sum: &mut Ntt, j: usize, x: &Ntt) {
        let mut s = Secret::new(Ntt::ZERO);
        let s = s.expose_mut();
        pke::secret::<P>(s, &Prf(self.sigma.expose()), j);
        sum.multiply_add(x, s);
    }
}
