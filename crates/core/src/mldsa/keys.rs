//! The compact forms of a key: bytes, and a seed.

use core::fmt;
use core::marker::PhantomData;

use rand_core::TryCryptoRng;

use super::dsa::{self, Seeds, VerifyingForm, h};
use super::encode;
use super::kernels::Kernels;
use super::message::{ContextTooLong, Message, MuHasher};
use super::params::{ParameterSet, T1_BYTES};
use super::ring::Poly;
use super::sample::sample_a;
use super::small;
use crate::Bytes;
use crate::rng::draw;
use crate::secret::{Secret, StackGuard};
use crate::small::Stack;

mod in_workspace;

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

/// A public key: its bytes, from which each verification makes the matrix again.
///
/// Every string of the right length is a public key (FIPS 204, Algorithm 23 (pkDecode)). 1312, 1952 or 2592 bytes.
///
/// ```
/// use gambeson::mldsa::{MlDsa87, SigningKey, VerifyingKey};
///
/// let key = SigningKey::<MlDsa87>::from_seed(&[7; 32]);
/// let received = key.verifying_key().as_bytes().to_vec();
///
/// let public = VerifyingKey::<MlDsa87>::try_from(received.as_slice())?;
/// public.verify(b"message", &key.sign_deterministic(b"message"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey<P: ParameterSet> {
    bytes: P::VerifyingKeyBytes,
}

impl<P: ParameterSet> VerifyingKey<P> {
    /// The key with these bytes.
    #[must_use]
    pub fn from_bytes(bytes: &P::VerifyingKeyBytes) -> Self {
        Self { bytes: *bytes }
    }

    /// The encoding of FIPS 204, Algorithm 22 (pkEncode): ρ and t1.
    #[must_use]
    pub fn as_bytes(&self) -> &P::VerifyingKeyBytes {
        &self.bytes
    }

    /// Verifies `signature` over `message`.
    ///
    /// FIPS 204, Algorithm 3 (ML-DSA.Verify), and Algorithm 5 (HashML-DSA.Verify) for a digest. No input makes it panic.
    ///
    /// With feature `alloc`, and where the table in force is for vectors, the matrix is made on the heap.
    ///
    /// # Errors
    ///
    /// [`InvalidSignature`] for a signature of a wrong length, one that is malformed, and one that is not of
    /// this message by this key.
    pub fn verify<'m>(
        &self,
        message: impl Into<Message<'m>>,
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        if signature.len() != P::Signature::LEN {
            return Err(InvalidSignature);
        }
        if P::SMALL {
            return small::verify::<P>(self.bytes.as_ref(), &message.into(), signature, Stack);
        }
        let message = message.into();
        // With wide tables the heap is faster than the stack: all sponges run side by side.
        #[cfg(feature = "alloc")]
        if super::is_wide() {
            return self.verify_once(&message, signature);
        }
        PublicKey(self.bytes.as_ref()).verify::<P>(&message, signature)
    }

    /// Starts μ of a message of any size, for [`Message::mu`].
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn mu_hasher(&self, context: &[u8]) -> Result<MuHasher, ContextTooLong> {
        MuHasher::new(&self.tr(), context)
    }

    /// H(pk, 64).
    pub(super) fn tr(&self) -> [u8; 64] {
        PublicKey(self.bytes.as_ref()).tr()
    }

    #[cfg(feature = "alloc")]
    pub(super) fn rho(&self) -> &[u8; 32] {
        self.bytes.as_ref().first_chunk().expect("a public key is longer than ρ")
    }

    /// NTT(-2^d·t1\[row\]).
    #[cfg(feature = "alloc")]
    pub(super) fn minus_t1_2d_hat(&self, kernels: &Kernels, row: usize, out: &mut Poly) {
        PublicKey(self.bytes.as_ref()).minus_t1_2d_hat(kernels, row, out);
    }
}

/// The bytes of a public key.
pub(super) struct PublicKey<'a>(pub(super) &'a [u8]);

impl PublicKey<'_> {
    /// Verifies `signature` over `message`, on the stack.
    pub(super) fn verify<P: ParameterSet>(
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

    /// NTT(-2^d·t1\[row\]).
    fn minus_t1_2d_hat(&self, kernels: &Kernels, row: usize, out: &mut Poly) {
        encode::unpack_minus_t1_2d(kernels, &self.0[32 + row * T1_BYTES..][..T1_BYTES], out);
        (kernels.ntt)(out);
    }
}

impl VerifyingForm for PublicKey<'_> {
    fn row(&self, kernels: &Kernels, row: usize, factors: &[Poly], w: &mut Poly, scratch: &mut Poly) {
        let (c_hat, z_hat) = factors.split_last().expect("more than one");
        let rho = self.0.first_chunk().expect("a public key is longer than ρ");
        self.minus_t1_2d_hat(kernels, row, w);
        (kernels.multiply)(w, c_hat);
        for (column, z_hat) in z_hat.iter().enumerate() {
            sample_a(kernels, rho, row, column, scratch);
            (kernels.multiply_add)(w, scratch, z_hat);
        }
    }
}

impl<P: ParameterSet> fmt::Debug for VerifyingKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey<{}>({:02x?}..)", P::NAME, &self.bytes.as_ref()[..8])
    }
}

impl<P: ParameterSet> AsRef<[u8]> for VerifyingKey<P> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl<P: ParameterSet> TryFrom<&[u8]> for VerifyingKey<P> {
    type Error = VerifyingKeyLength;

    fn try_from(bytes: &[u8]) -> Result<Self, VerifyingKeyLength> {
        let expected = P::VerifyingKeyBytes::LEN;
        let bytes = bytes.try_into().map_err(|_| VerifyingKeyLength { expected, actual: bytes.len() })?;
        Ok(Self { bytes })
    }
}

/// The bytes are not a public key of this parameter set: their number is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyingKeyLength {
    /// The length of a public key of the set.
    pub expected: usize,
    /// The length that was given.
    pub actual: usize,
}

impl fmt::Display for VerifyingKeyLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a public key has {} bytes, not {}", self.expected, self.actual)
    }
}

impl core::error::Error for VerifyingKeyLength {}

/// The signature is not one of this message, in this context, by this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSignature;

impl fmt::Display for InvalidSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the signature is invalid")
    }
}

impl core::error::Error for InvalidSignature {}

/// A private key in 96 bytes: the seed ξ and the hash of the public key; each signing makes the rest again.
///
/// It does so on the stack. With feature `alloc`, and where the table in force is for vectors, it does so on the
/// heap, where all sponges run side by side, which is faster; it is wiped after each operation.
///
/// Wiped when dropped. For many signatures with one key, [`SigningKey::expand`] it.
///
/// ```
/// use gambeson::mldsa::{MlDsa65, SigningKey};
///
/// let key = SigningKey::<MlDsa65>::generate()?;
/// let signature = key.sign(b"message")?;
/// key.verifying_key().verify(b"message", &signature)?;
///
/// let stored: [u8; 32] = *key.seed().expose();
/// assert_eq!(SigningKey::<MlDsa65>::from_seed(&stored).verifying_key(), key.verifying_key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SigningKey<P: ParameterSet> {
    seed: Secret<[u8; 32]>,
    tr: [u8; 64],
    set: PhantomData<P>,
}

const _: () = assert!(size_of::<SigningKey<super::MlDsa87>>() <= 128, "compact");

impl<P: ParameterSet> SigningKey<P> {
    /// Makes a key from the operating system's randomness (FIPS 204, Algorithm 1 (ML-DSA.KeyGen)).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives none.
    #[cfg(feature = "getrandom")]
    pub fn generate() -> Result<Self, crate::RngError> {
        Ok(Self::from_seed(crate::rng::system()?.expose()))
    }

    /// Makes a key from `rng`.
    ///
    /// # Errors
    ///
    /// What `rng` reports; then no key is made.
    pub fn generate_with<R: TryCryptoRng + ?Sized>(rng: &mut R) -> Result<Self, R::Error> {
        Ok(Self::from_seed(draw(rng)?.expose()))
    }

    /// The key of the seed ξ (FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal)).
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
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

    /// Inlined: a copy of the seed in a frame of its own would stay there.
    #[inline(always)]
    fn from_parts(seed: &[u8; 32], tr: [u8; 64]) -> Self {
        // The seed goes through a register.
        let _guard = StackGuard::<0>;
        Self { seed: Secret::new(*seed), tr, set: PhantomData }
    }

    /// The key of the seed ξ, and its public key to `vk`: both in the time of one.
    ///
    /// With [`Small`](crate::Small) `vk` is worked in: until this returns it holds secrets, so it should not lie where others
    /// read.
    ///
    /// ```
    /// use gambeson::Small;
    /// use gambeson::mldsa::{MlDsa65, SigningKey};
    ///
    /// let mut vk = [0; 1952];
    /// let key = SigningKey::<Small<MlDsa65>>::from_seed_into(&[7; 32], &mut vk);
    /// assert_eq!(key.verifying_key().as_bytes(), &vk);
    /// ```
    ///
    /// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal).
    #[must_use]
    pub fn from_seed_into(seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) -> Self {
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

    /// The seed ξ: all that has to be stored.
    #[must_use]
    pub const fn seed(&self) -> &Secret<[u8; 32]> {
        &self.seed
    }

    /// The public key, made again.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey<P> {
        let mut vk = P::VerifyingKeyBytes::zeroed();
        self.verifying_key_into(&mut vk);
        VerifyingKey { bytes: vk }
    }

    /// The bytes of the public key, made again in the caller's memory, under the conditions of
    /// [`from_seed_into`](Self::from_seed_into).
    pub fn verifying_key_into(&self, vk: &mut P::VerifyingKeyBytes) {
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

    /// Signs `message`, hedged: with the operating system's randomness, and safe should that be bad
    /// (FIPS 204, Algorithm 2 (ML-DSA.Sign)).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives none; then nothing is signed.
    #[cfg(feature = "getrandom")]
    pub fn sign<'m>(&self, message: impl Into<Message<'m>>) -> Result<P::Signature, crate::RngError> {
        Ok(self.sign_with_rnd(crate::rng::system()?.expose(), message))
    }

    /// Signs `message`, hedged, with randomness from `rng`.
    ///
    /// # Errors
    ///
    /// What `rng` reports; then nothing is signed.
    pub fn sign_with<'m, R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: impl Into<Message<'m>>,
    ) -> Result<P::Signature, R::Error> {
        Ok(self.sign_with_rnd(draw(rng)?.expose(), message))
    }

    /// Signs `message` without randomness: the same message gives the same signature. Where an attacker can make
    /// a device fail in the middle of a signature, prefer [`SigningKey::sign_with`].
    #[must_use]
    pub fn sign_deterministic<'m>(&self, message: impl Into<Message<'m>>) -> P::Signature {
        self.sign_with_rnd(&[0; 32], message)
    }

    /// Signs `message` with the randomness `rnd` (FIPS 204, Algorithm 7 (ML-DSA.Sign_internal)).
    #[must_use]
    pub fn sign_with_rnd<'m>(&self, rnd: &[u8; 32], message: impl Into<Message<'m>>) -> P::Signature {
        let mut signature = P::Signature::zeroed();
        self.sign_guarded(message.into(), rnd, signature.as_mut());
        signature
    }

    /// The same, to the caller's `signature`.
    ///
    /// It holds secrets until this returns, so it should not lie where others read.
    pub fn sign_with_rnd_into<'m>(
        &self,
        rnd: &[u8; 32],
        message: impl Into<Message<'m>>,
        signature: &mut P::Signature,
    ) {
        self.sign_guarded(message.into(), rnd, signature.as_mut());
    }

    #[inline(never)]
    fn sign_guarded(&self, message: Message<'_>, rnd: &[u8; 32], signature: &mut [u8]) {
        if P::SMALL {
            return scrubbed::<P, { small::SIGN_44 }, { small::SIGN_65 }, { small::SIGN_87 }, _>(|| {
                small::sign_seed::<P>((self.seed.expose(), &self.tr), &message, rnd, signature, Stack);
            });
        }
        #[cfg(feature = "alloc")]
        if super::is_wide() {
            return wide::sign(self, message, rnd, signature);
        }
        let mu = message.representative(&self.tr);
        scrubbed::<P, 10_496, 12_672, 14_848, _>(|| self.sign_mu(&mu, rnd, signature));
    }

    #[inline(never)]
    fn sign_mu(&self, mu: &[u8; 64], rnd: &[u8; 32], signature: &mut [u8]) {
        dsa::sign::<P, _>(&Seeds::<P>::new(self.seed.expose()), mu, rnd, signature, &mut |_| ());
    }

    /// Starts μ of a message of any size, for [`Message::mu`].
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn mu_hasher(&self, context: &[u8]) -> Result<MuHasher, ContextTooLong> {
        MuHasher::new(&self.tr, context)
    }
}

/// The work of compact keys on the heap, in functions of their own: their frames are large, and those of doors, where seeds stand, are small.
#[cfg(feature = "alloc")]
mod wide {
    use super::{Message, ParameterSet, SigningKey};
    use crate::mldsa::ExpandedSigningKey;

    #[inline(never)]
    pub(super) fn tr<P: ParameterSet>(seed: &[u8; 32]) -> [u8; 64] {
        *ExpandedSigningKey::<P>::from_seed(seed).tr()
    }

    #[inline(never)]
    pub(super) fn public_key_and_tr<P: ParameterSet>(
        seed: &[u8; 32],
        vk: &mut P::VerifyingKeyBytes,
    ) -> [u8; 64] {
        let key = ExpandedSigningKey::<P>::from_seed(seed);
        *vk = *key.verifying_key().as_bytes();
        *key.tr()
    }

    #[inline(never)]
    pub(super) fn public_key<P: ParameterSet>(seed: &[u8; 32], vk: &mut P::VerifyingKeyBytes) {
        *vk = *ExpandedSigningKey::<P>::from_seed(seed).verifying_key().as_bytes();
    }

    #[inline(never)]
    pub(super) fn sign<P: ParameterSet>(
        key: &SigningKey<P>,
        message: Message<'_>,
        rnd: &[u8; 32],
        signature: &mut [u8],
    ) {
        key.expand().sign_guarded(message, rnd, signature);
    }
}

/// The hash tr of the public key of the seed ξ. In a frame of its own: it has room for a public key, and the frames of doors, where seeds stand,
/// are small.
#[inline(never)]
fn tr<P: ParameterSet>(seed: &[u8; 32]) -> [u8; 64] {
    let mut bytes = P::VerifyingKeyBytes::zeroed();
    fill_public_key::<P>(seed, bytes.as_mut());
    VerifyingKey::<P> { bytes }.tr()
}

fn fill_public_key<P: ParameterSet>(seed: &[u8; 32], pk: &mut [u8]) {
    #[inline(never)]
    fn work<P: ParameterSet>(seed: &[u8; 32], bytes: &mut [u8]) {
        dsa::public_key::<P>(&Seeds::new(seed), bytes);
    }
    scrubbed::<P, 8_176, 9_200, 11_248, _>(|| work::<P>(seed, pk));
}

impl<P: ParameterSet> fmt::Debug for SigningKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey<{}>([redacted])", P::NAME)
    }
}
