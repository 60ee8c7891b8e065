//! The compact form of a key: an encapsulation key is its bytes, a decapsulation key its seed.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use rand_core::TryCryptoRng;

use super::encode::{self, Writer};
use super::kem;
use super::params::ParameterSet;
use super::pke::{self, DecryptionKey, EncryptionKey};
use super::ring::Ntt;
use super::sample::{Noise, Prf, matrix_entry};
use super::{EncapsulationKeyError, InvalidEncapsulationKey, SharedSecret, kernels, small};
use crate::Bytes;
use crate::cpu::Level;
use crate::rng;
use crate::secret::{Secret, StackGuard, declassify};
use crate::sha3::Sha3_256;
use crate::small::Stack;

#[cfg(gambeson_ct)]
pub mod gate;
mod in_workspace;

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

/// An encapsulation key, as its bytes: owned, or borrowed ([`EncapsulationKeyRef`]).
///
/// Whoever holds one knows that FIPS 203, §7.2 accepts it: every coefficient is below q. Encapsulation samples the
/// matrix and hashes the key each time; [`expand`](Self::expand) does both once.
///
/// ```
/// use gambeson::mlkem::{DecapsulationKey, EncapsulationKey, MlKem768};
///
/// let dk = DecapsulationKey::<MlKem768>::generate()?;
/// let received = *dk.encapsulation_key().as_bytes();
///
/// let ek = EncapsulationKey::<MlKem768>::from_bytes(&received)?;
/// let (c, shared) = ek.encapsulate()?;
/// assert_eq!(dk.decapsulate(&c).expose(), shared.expose());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct EncapsulationKey<P: ParameterSet, B = <P as ParameterSet>::EncapsulationKeyBytes> {
    bytes: B,
    parameters: PhantomData<P>,
}

/// An encapsulation key whose bytes are somewhere else.
pub type EncapsulationKeyRef<'a, P> = EncapsulationKey<P, &'a <P as ParameterSet>::EncapsulationKeyBytes>;

impl<P: ParameterSet> EncapsulationKey<P> {
    /// The key with these bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidEncapsulationKey`] if a coefficient is not below q (FIPS 203, §7.2).
    #[inline]
    pub fn from_bytes(bytes: &P::EncapsulationKeyBytes) -> Result<Self, InvalidEncapsulationKey> {
        EncapsulationKeyRef::<P>::borrowed(bytes)?;
        Ok(Self { bytes: *bytes, parameters: PhantomData })
    }
}

impl<'a, P: ParameterSet> EncapsulationKeyRef<'a, P> {
    /// The key with these bytes, without a copy.
    ///
    /// # Errors
    ///
    /// [`InvalidEncapsulationKey`] if a coefficient is not below q (FIPS 203, §7.2).
    pub fn borrowed(bytes: &'a P::EncapsulationKeyBytes) -> Result<Self, InvalidEncapsulationKey> {
        if !encode::is_reduced(&bytes.as_ref()[..384 * P::K]) {
            return Err(InvalidEncapsulationKey);
        }
        Ok(Self { bytes, parameters: PhantomData })
    }
}

impl<P: ParameterSet> TryFrom<&[u8]> for EncapsulationKey<P> {
    type Error = EncapsulationKeyError;

    #[inline]
    fn try_from(bytes: &[u8]) -> Result<Self, EncapsulationKeyError> {
        let length =
            EncapsulationKeyError::Length { expected: P::EncapsulationKeyBytes::LEN, actual: bytes.len() };
        let bytes = P::EncapsulationKeyBytes::try_from(bytes).map_err(|_| length)?;
        Self::from_bytes(&bytes).map_err(|InvalidEncapsulationKey| EncapsulationKeyError::Modulus)
    }
}

impl<P: ParameterSet, B: Borrow<P::EncapsulationKeyBytes>> EncapsulationKey<P, B> {
    /// The bytes, t̂ encoded and ρ.
    pub fn as_bytes(&self) -> &P::EncapsulationKeyBytes {
        self.bytes.borrow()
    }

    /// A fresh shared secret, and the ciphertext that carries it, with the operating system's randomness.
    ///
    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn encapsulate(&self) -> Result<(P::Ciphertext, SharedSecret), crate::RngError> {
        Ok(self.encapsulate_deterministic(rng::system()?.expose()))
    }

    /// A fresh shared secret, and the ciphertext that carries it, with the caller's randomness.
    ///
    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    ///
    /// # Errors
    ///
    /// The generator's own.
    pub fn encapsulate_with<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> Result<(P::Ciphertext, SharedSecret), R::Error> {
        Ok(self.encapsulate_deterministic(rng::draw(rng)?.expose()))
    }

    /// The shared secret of the message `m`, which must be uniformly random, secret and used once.
    ///
    /// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
    #[must_use]
    pub fn encapsulate_deterministic(&self, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
        let mut c = P::Ciphertext::zeroed();
        let mut shared = Secret::new([0; 32]);
        scrubbed::<P, { small::ENCAPS[0] }, { small::ENCAPS[1] }, { small::ENCAPS[2] }, _>(|| {
            encapsulate::<P>(self.as_bytes().as_ref(), m, c.as_mut(), shared.expose_mut());
            (c, shared.hand_over())
        })
    }

    /// The same, into the caller's memory.
    ///
    /// With [`Small`](crate::Small), and on processors of 32 bits with any set, `c` is worked in: until this returns it holds
    /// secrets, so it should not lie where others read.
    pub fn encapsulate_deterministic_into(
        &self,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        scrubbed::<P, { small::ENCAPS[0] }, { small::ENCAPS[1] }, { small::ENCAPS[2] }, _>(|| {
            encapsulate::<P>(self.as_bytes().as_ref(), m, c.as_mut(), shared.expose_mut());
        });
    }

    /// [`encapsulate`](Self::encapsulate) at the speed of an expanded key, for a key that is used once.
    ///
    /// The matrix is not kept: it stands on the stack meanwhile. 11, 15 or 19 KiB of stack, no heap.
    ///
    /// ```
    /// use gambeson::mlkem::{DecapsulationKey, MlKem768};
    ///
    /// let dk = DecapsulationKey::<MlKem768>::generate()?;
    /// let (c, shared) = dk.encapsulation_key().expand_and_encapsulate()?;
    /// assert_eq!(dk.decapsulate(&c).expose(), shared.expose());
    /// # Ok::<(), gambeson::RngError>(())
    /// ```
    ///
    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(all(feature = "alloc", feature = "getrandom"))]
    pub fn expand_and_encapsulate(&self) -> Result<(P::Ciphertext, SharedSecret), crate::RngError> {
        Ok(self.expand_and_encapsulate_deterministic(rng::system()?.expose()))
    }

    /// The same with the caller's randomness.
    ///
    /// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
    ///
    /// # Errors
    ///
    /// The generator's own.
    #[cfg(feature = "alloc")]
    pub fn expand_and_encapsulate_with<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> Result<(P::Ciphertext, SharedSecret), R::Error> {
        Ok(self.expand_and_encapsulate_deterministic(rng::draw(rng)?.expose()))
    }

    /// The same for the message `m`, which must be uniformly random, secret and used once.
    ///
    /// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn expand_and_encapsulate_deterministic(&self, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
        super::expanded::encapsulate_once::<P>(self.as_bytes().as_ref(), m)
    }

    /// The form that remembers the matrix and the hash of the key, on the heap.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn expand(&self) -> super::ExpandedEncapsulationKey<P> {
        super::ExpandedEncapsulationKey::new(self.as_bytes().as_ref())
    }
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

impl<P: ParameterSet, B: Borrow<P::EncapsulationKeyBytes>> fmt::Debug for EncapsulationKey<P, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EncapsulationKey").field(&P::NAME).finish_non_exhaustive()
    }
}

impl<P: ParameterSet, B: Borrow<P::EncapsulationKeyBytes>> PartialEq for EncapsulationKey<P, B> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<P: ParameterSet, B: Borrow<P::EncapsulationKeyBytes>> Eq for EncapsulationKey<P, B> {}

/// A decapsulation key in 96 bytes: the seed d ‖ z it was made of, and H(ek).
///
/// Each decapsulation makes the key again, one polynomial at a time, and samples the matrix once; it uses
/// less than 7 KiB of stack with the portable tables, less than 10 with others, and no heap. [`expand`](Self::expand) gives the form that is fast.
///
/// ```
/// use gambeson::mlkem::{DecapsulationKey, MlKem1024};
///
/// // The seed is what to store: 64 bytes for every parameter set.
/// let seed = *DecapsulationKey::<MlKem1024>::generate()?.seed().expose();
/// let dk = DecapsulationKey::<MlKem1024>::from_seed(&seed);
/// assert_eq!(size_of_val(&dk), 96);
/// # Ok::<(), gambeson::RngError>(())
/// ```
pub struct DecapsulationKey<P: ParameterSet> {
    seed: Secret<[u8; 64]>,
    h: [u8; 32],
    parameters: PhantomData<P>,
}

impl<P: ParameterSet> DecapsulationKey<P> {
    /// A new key, with the operating system's randomness.
    ///
    /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn generate() -> Result<Self, crate::RngError> {
        Ok(Self::from_seed(rng::system()?.expose()))
    }

    /// A new key, with the caller's randomness.
    ///
    /// FIPS 203, Algorithm 19 (ML-KEM.KeyGen).
    ///
    /// # Errors
    ///
    /// The generator's own.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        Ok(Self::from_seed(rng::draw(rng)?.expose()))
    }

    /// The key of the seed d ‖ z.
    ///
    /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal).
    #[must_use]
    pub fn from_seed(seed: &[u8; 64]) -> Self {
        let mut h = [0; 32];
        scrubbed::<P, { small::HASH[0] }, { small::HASH[1] }, { small::HASH[2] }, _>(|| {
            if P::SMALL {
                small::hash_of_public_key::<P>(seed, &mut h, Stack);
            } else if small::runs::<P>() {
                return Self::from_seed_into(seed, &mut P::EncapsulationKeyBytes::zeroed());
            } else {
                hash_of_public_key::<P>(seed, &mut h);
            }
            Self { seed: Secret::new(*seed), h, parameters: PhantomData }
        })
    }

    /// The key of the seed d ‖ z, and its encapsulation key to `ek`: both in the time of one.
    ///
    /// With [`Small`](crate::Small), and on processors of 32 bits with any set, `ek` is worked in: until this returns it holds
    /// secrets, so it should not lie where others read.
    ///
    /// ```
    /// use gambeson::Small;
    /// use gambeson::mlkem::{DecapsulationKey, MlKem768};
    ///
    /// let mut ek = [0; 1184];
    /// let dk = DecapsulationKey::<Small<MlKem768>>::from_seed_into(&[7; 64], &mut ek);
    /// assert_eq!(dk.encapsulation_key().as_bytes(), &ek);
    /// ```
    ///
    /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal).
    #[must_use]
    pub fn from_seed_into(seed: &[u8; 64], ek: &mut P::EncapsulationKeyBytes) -> Self {
        let mut h = [0; 32];
        scrubbed::<P, { small::KEY_GEN[0] }, { small::KEY_GEN[1] }, { small::KEY_GEN[2] }, _>(|| {
            key_gen::<P>(seed, ek.as_mut(), &mut h);
            Self { seed: Secret::new(*seed), h, parameters: PhantomData }
        })
    }

    /// The seed d ‖ z: the form to store.
    #[must_use]
    pub const fn seed(&self) -> &Secret<[u8; 64]> {
        &self.seed
    }

    /// The encapsulation key, made again.
    #[must_use]
    pub fn encapsulation_key(&self) -> EncapsulationKey<P> {
        let mut bytes = P::EncapsulationKeyBytes::zeroed();
        self.encapsulation_key_into(&mut bytes);
        EncapsulationKey { bytes, parameters: PhantomData }
    }

    /// The bytes of the encapsulation key, made again in the caller's memory, under the conditions of
    /// [`from_seed_into`](Self::from_seed_into).
    pub fn encapsulation_key_into(&self, ek: &mut P::EncapsulationKeyBytes) {
        scrubbed::<P, { small::KEY_GEN[0] }, { small::KEY_GEN[1] }, { small::KEY_GEN[2] }, _>(|| {
            if small::runs::<P>() {
                small::public_key::<P>(self.seed.expose(), ek.as_mut(), Stack);
            } else {
                public_key::<P>(self.seed.expose(), ek.as_mut());
            }
        });
    }

    /// The shared secret that `c` carries.
    ///
    /// It cannot fail: a ciphertext that no encapsulation made yields a secret that nobody else knows (implicit
    /// rejection).
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    #[must_use]
    pub fn decapsulate(&self, c: &P::Ciphertext) -> SharedSecret {
        let mut shared = Secret::new([0; 32]);
        scrubbed::<P, { small::DECAPS[0] }, { small::DECAPS[1] }, { small::DECAPS[2] }, _>(|| {
            decapsulate::<P>(self.seed.expose(), &self.h, c.as_ref(), shared.expose_mut());
            shared.hand_over()
        })
    }

    /// The same, to the caller's `shared`.
    pub fn decapsulate_into(&self, c: &P::Ciphertext, shared: &mut SharedSecret) {
        scrubbed::<P, { small::DECAPS[0] }, { small::DECAPS[1] }, { small::DECAPS[2] }, _>(|| {
            decapsulate::<P>(self.seed.expose(), &self.h, c.as_ref(), shared.expose_mut());
        });
    }

    /// The form that remembers the matrix and the secrets, on the heap.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn expand(&self) -> super::ExpandedDecapsulationKey<P> {
        super::ExpandedDecapsulationKey::from_seed(self.seed.expose())
    }
}

impl<P: ParameterSet> fmt::Debug for DecapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DecapsulationKey").field(&P::NAME).finish_non_exhaustive()
    }
}

const _: () = assert!(size_of::<DecapsulationKey<super::MlKem768>>() == 96);

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
