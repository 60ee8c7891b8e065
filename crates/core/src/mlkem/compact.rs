//! Keys in their compact form: an encapsulation key is its bytes, a decapsulation key its seed. Each operation makes the rest again.

use core::marker::PhantomData;

use super::depth::{self, scrubbed};
use super::encode::{self, Writer};
use super::encoded::DecapsulationKeyRef;
use super::kem;
use super::params::{EncapsulationKey, ParameterSet, PrivateForm, PublicForm};
use super::pke::{self, DecryptionKey, EncryptionKey};
use super::ring::Ntt;
use super::sample::{Noise, Prf};
use super::{SharedSecret, small};
use crate::Bytes;
use crate::filled::{Holds, filled};
use crate::secret::{Secret, declassify};
use crate::sha3::Sha3_256;
use crate::workspace::{Stack, Zero};

/// Nothing beside the bytes of an encapsulation key.
#[derive(Clone, Debug)]
pub struct CompactPublic;

impl<P: ParameterSet> PublicForm<P> for CompactPublic {
    const NEW: Self = Self;

    #[inline(always)]
    fn encapsulate_once(
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        scrubbed::<P, { depth::ENCAPS[0] }, { depth::ENCAPS[1] }, { depth::ENCAPS[2] }, _>(|| {
            let (ek, c, shared) = (ek.as_ref(), c.as_mut(), shared.expose_mut());
            if depth::small::<P>() {
                small::encapsulate::<P>(ek, m, c, shared, Stack);
            } else {
                encapsulate::<P>(ek, m, c, shared);
            }
        });
    }
}

/// The seed d ‖ z, and H(ek). One layout for every schedule: the C interface has one object for them.
#[repr(C)]
#[derive(Debug)]
pub struct CompactPrivate<P> {
    pub(super) seed: Secret<[u8; 64]>,
    pub(super) h: [u8; 32],
    pub(super) parameters: PhantomData<P>,
}

impl<P: ParameterSet> PrivateForm<P> for CompactPrivate<P> {
    #[inline(always)]
    fn from_seed<K: Holds<Self>>(seed: &[u8; 64]) -> K {
        let mut h = [0; 32];
        scrubbed::<P, { depth::HASH[0] }, { depth::HASH[1] }, { depth::HASH[2] }, _>(|| {
            if P::SMALL {
                small::hash_of_public_key::<P>(seed, &mut h, Stack);
            } else if depth::small::<P>() {
                small::key_gen::<P>(seed, P::EncapsulationKeyBytes::zeroed().as_mut(), &mut h, Stack);
            } else {
                hash_of_public_key::<P>(seed, &mut h);
            }
        });
        of_parts(seed, &h)
    }

    #[inline(always)]
    fn from_seed_into<K: Holds<Self>>(seed: &[u8; 64], ek: &mut P::EncapsulationKeyBytes) -> K {
        let mut h = [0; 32];
        scrubbed::<P, { depth::KEY_GEN[0] }, { depth::KEY_GEN[1] }, { depth::KEY_GEN[2] }, _>(|| {
            if depth::small::<P>() {
                small::key_gen::<P>(seed, ek.as_mut(), &mut h, Stack);
            } else {
                public_key::<P>(seed, ek.as_mut());
                h = Sha3_256::digest(ek.as_ref());
            }
        });
        of_parts(seed, &h)
    }

    fn seed(&self) -> Option<&Secret<[u8; 64]>> {
        Some(&self.seed)
    }

    #[inline(always)]
    fn encapsulation_key_into(&self, ek: &mut P::EncapsulationKeyBytes) {
        scrubbed::<P, { depth::KEY_GEN[0] }, { depth::KEY_GEN[1] }, { depth::KEY_GEN[2] }, _>(|| {
            if depth::small::<P>() {
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
    fn decapsulate(&self, c: &P::Ciphertext, shared: &mut SharedSecret) {
        scrubbed::<P, { depth::DECAPS[0] }, { depth::DECAPS[1] }, { depth::DECAPS[2] }, _>(|| {
            let (seed, c, shared) = (self.seed.expose(), c.as_ref(), shared.expose_mut());
            if depth::small::<P>() {
                small::decapsulate::<P>(seed, &self.h, c, shared, Stack);
            } else {
                decapsulate::<P>(seed, &self.h, c, shared);
            }
        });
    }
}

const _: () = assert!(size_of::<CompactPrivate<super::MlKem768>>() == 96);

/// The key of a seed and H(ek). In a frame of its own, which no other work stands below.
#[inline(never)]
pub(super) fn of_parts<P, K: Holds<CompactPrivate<P>>>(seed: &[u8; 64], h: &[u8; 32]) -> K {
    let empty = CompactPrivate { seed: Secret::new([0; 64]), h: *h, parameters: PhantomData };
    filled(empty, |form| *form.seed.expose_mut() = *seed)
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

#[inline(never)]
fn encapsulate<P: ParameterSet>(ek: &[u8], m: &[u8; 32], c: &mut [u8], shared: &mut [u8; 32]) {
    kem::encaps::<P>(&Encoded(ek), &Sha3_256::digest(ek), m, c, shared);
}

#[inline(never)]
fn decapsulate<P: ParameterSet>(seed: &[u8; 64], h: &[u8; 32], c: &[u8], shared: &mut [u8; 32]) {
    let z = seed.last_chunk().expect("32 of 64 bytes");
    let key = Remade::<P>::new(seed);
    kem::decaps(&key, &key, h, z, c, shared);
}

/// An encryption key that reads its bytes: decodes t̂ and samples Â, each where it is used.
pub(super) struct Encoded<'a>(pub &'a [u8]);

impl<P: ParameterSet> EncryptionKey<P> for Encoded<'_> {
    fn rho(&self) -> &[u8; 32] {
        self.0.last_chunk().expect("a key ends with ρ")
    }

    #[inline(never)]
    fn multiply_add_t(&self, sum: &mut Ntt, j: usize, _row: &Ntt, y: &Ntt) {
        let mut t = Ntt::ZERO;
        encode::decode(&mut t, self.0, j);
        sum.multiply_add(&t, y);
    }
}

/// Both keys, remade from the seed where they are used.
pub(super) struct Remade<P> {
    pub rho: [u8; 32],
    pub sigma: Secret<[u8; 32]>,
    pub parameters: PhantomData<P>,
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
    pub(super) fn public_rows(&self, sink: &mut impl encode::Sink) {
        let mut s = Secret::new(P::Vector::ZERO);
        let s = s.expose_mut().as_mut();
        for (j, s) in s.iter_mut().enumerate() {
            pke::secret::<P>(s, &mut Prf(self.sigma.expose()), j);
        }
        let (mut t, mut e) = (Secret::new(Ntt::ZERO), Secret::new(Ntt::ZERO));
        for i in 0..P::K {
            let multiply_add = |t: &mut Ntt| {
                for (j, s) in s.iter().enumerate() {
                    self.multiply_add_a(t, i, j, s);
                }
            };
            let room = [t.expose_mut(), e.expose_mut()];
            pke::key_gen_row::<P>(i, multiply_add, &mut Prf(self.sigma.expose()), room, sink);
        }
    }
}

impl<P: ParameterSet> EncryptionKey<P> for Remade<P> {
    fn rho(&self) -> &[u8; 32] {
        &self.rho
    }

    #[inline(never)]
    fn multiply_add_t(&self, sum: &mut Ntt, j: usize, row: &Ntt, y: &Ntt) {
        let mut noisy = Secret::new(Ntt::ZERO);
        let noisy = noisy.expose_mut();
        pke::secret::<P>(noisy, &mut Prf(self.sigma.expose()), j);
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
        pke::secret::<P>(s, &mut Prf(self.sigma.expose()), j);
        sum.multiply_add(x, s);
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
