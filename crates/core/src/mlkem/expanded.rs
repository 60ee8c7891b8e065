//! The expanded form of a key: matrix, vectors and hash ready, on the heap.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use rand_core::TryCryptoRng;
use zeroize::Zeroize;

use super::encode::{self, Writer};
use super::encoded::ExpandedKeyRef;
use super::kem::{Elements, decaps_hashed, encaps_hashed};
use super::keys::scrubbed;
use super::lanes::{Chain, Hashed, Operation, run_by_rows};
use super::params::ParameterSet;
use super::pke::{self, DecryptionKey, decrypt};
use super::ring::Ntt;
use super::{DecapsulationKeyError, EncapsulationKey, SharedSecret, kem, serial};
use crate::Bytes;
use crate::rng;
use crate::secret::{Secret, StackGuard, declassify};
use crate::sha3::INTERLEAVED;

/// The stack that the work behind a door of an expanded key uses at most, batches of states included.
const DEPTH: usize = 8 * 1024;

/// An encapsulation key that remembers Â, t̂ and H(ek): for many encapsulations to one peer.
///
/// On the heap: 512·(k² + k) bytes of polynomials and the key's own bytes, that is 3.8, 7.2 and 11.6 KiB.
#[derive(Clone)]
pub struct ExpandedEncapsulationKey<P: ParameterSet> {
    /// The key's bytes.
    bytes: Box<[u8]>,
    h: [u8; 32],
    /// Â by rows, then t̂.
    elements: Box<[Ntt]>,
    parameters: PhantomData<P>,
}

impl<P: ParameterSet> ExpandedEncapsulationKey<P> {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut key = Self::of_bytes(bytes.into());
        let mut hashed = Hashed::ZERO;
        let (rho, h) = (rho(&key.bytes), Chain::h(&key.bytes));
        Operation::new(&mut hashed).h(h).matrix::<P>(rho, &mut key.elements).run();
        key.h = hashed.hash;
        decode_t::<P>(&mut key.elements, &key.bytes);
        key
    }

    /// The bytes, and all else still to come.
    fn of_bytes(bytes: Box<[u8]>) -> Self {
        let elements = vec![Ntt::ZERO; P::K * P::K + P::K].into_boxed_slice();
        Self { bytes, h: [0; 32], elements, parameters: PhantomData }
    }

    /// The bytes, t̂ encoded and ρ.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Â by rows, then t̂.
    pub(super) fn elements(&self) -> &[Ntt] {
        &self.elements
    }

    /// H(ek).
    pub(super) const fn h(&self) -> &[u8; 32] {
        &self.h
    }

    /// The compact form.
    #[must_use]
    pub fn compact(&self) -> EncapsulationKey<P> {
        let bytes = P::EncapsulationKeyBytes::try_from(&self.bytes).expect("the length is the set's");
        EncapsulationKey::from_bytes(&bytes).expect("it was checked before it was expanded")
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
        if INTERLEAVED {
            let Self { elements, h, .. } = self;
            scrubbed::<P, { serial::DEPTH[0] }, { serial::DEPTH[1] }, { serial::DEPTH[2] }, _>(|| {
                serial::encapsulate::<P>(elements, h, m, c.as_mut(), shared.expose_mut());
            });
            return (c, shared.hand_over());
        }
        // Until the secret was handed over, which goes through vector registers.
        let _guard = StackGuard::<DEPTH>;
        encapsulate(self, m, c.as_mut(), shared.expose_mut());
        (c, shared.hand_over())
    }
}

#[inline(never)]
fn encapsulate<P: ParameterSet>(
    key: &ExpandedEncapsulationKey<P>,
    m: &[u8; 32],
    c: &mut [u8],
    shared: &mut [u8; 32],
) {
    let mut hashed = Hashed::ZERO;
    hashed.m = *m;
    Operation::new(&mut hashed).secrets::<P>(Some(&key.h)).run();
    encaps_hashed::<P>(&key.elements, &hashed, c, shared);
}

/// The same from the bytes of a key, which is not kept.
pub(super) fn encapsulate_once<P: ParameterSet>(ek: &[u8], m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
    let mut c = P::Ciphertext::zeroed();
    let mut shared = Secret::new([0; 32]);
    let mut elements = P::elements();
    let _guard = StackGuard::<DEPTH>;
    encapsulate_encoded::<P>(ek, elements.as_mut(), m, c.as_mut(), shared.expose_mut());
    (c, shared.hand_over())
}

#[inline(never)]
fn encapsulate_encoded<P: ParameterSet>(
    ek: &[u8],
    elements: &mut [Ntt],
    m: &[u8; 32],
    c: &mut [u8],
    shared: &mut [u8; 32],
) {
    let mut hashed = Hashed::ZERO;
    hashed.m = *m;
    let h = Operation::new(&mut hashed).h(Chain::h(ek));
    h.matrix::<P>(rho(ek), elements).secrets::<P>(None).run();
    decode_t::<P>(elements, ek);
    encaps_hashed::<P>(elements, &hashed, c, shared);
}

/// ρ, with which the bytes of a key end.
pub(super) fn rho(ek: &[u8]) -> &[u8; 32] {
    ek.last_chunk().expect("a key ends with ρ")
}

/// t̂, from the bytes of a key.
pub(super) fn decode_t<P: ParameterSet>(elements: &mut [Ntt], ek: &[u8]) {
    for (j, t) in elements[P::K * P::K..].iter_mut().enumerate() {
        encode::decode(t, ek, j);
    }
}

impl<P: ParameterSet> PartialEq for ExpandedEncapsulationKey<P> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<P: ParameterSet> Eq for ExpandedEncapsulationKey<P> {}

impl<P: ParameterSet> fmt::Debug for ExpandedEncapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExpandedEncapsulationKey").field(&P::NAME).finish_non_exhaustive()
    }
}

/// A decapsulation key that remembers Â, ŝ, t̂ and H(ek): for servers.
///
/// On the heap: that of [`ExpandedEncapsulationKey`] and 512·k bytes of ŝ, which is wiped when dropped.
///
/// ```
/// use gambeson::mlkem::{ExpandedDecapsulationKey, MlKem768};
///
/// let dk = ExpandedDecapsulationKey::<MlKem768>::generate()?;
/// let (c, shared) = dk.expanded_encapsulation_key().encapsulate()?;
/// assert_eq!(dk.decapsulate(&c).expose(), shared.expose());
/// # Ok::<(), gambeson::RngError>(())
/// ```
pub struct ExpandedDecapsulationKey<P: ParameterSet> {
    ek: ExpandedEncapsulationKey<P>,
    s: Secret<Box<[Ntt]>>,
    z: Secret<[u8; 32]>,
    /// The seed, unless the key was imported without it.
    seed: Option<Secret<[u8; 64]>>,
}

impl<P: ParameterSet> ExpandedDecapsulationKey<P> {
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
        let _guard = StackGuard::<DEPTH>;
        expand(seed)
    }

    /// The key that another library stored in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z.
    ///
    /// # Errors
    ///
    /// By FIPS 203, §7.3: [`DecapsulationKeyError::Length`] and [`DecapsulationKeyError::Hash`]; by §7.2 for the
    /// encapsulation key inside, [`DecapsulationKeyError::Modulus`].
    pub fn from_expanded_bytes(bytes: &[u8]) -> Result<Self, DecapsulationKeyError> {
        let _guard = StackGuard::<DEPTH>;
        import(bytes)
    }

    /// The shared secret that `c` carries for the key in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z.
    ///
    /// As [`from_expanded_bytes`](Self::from_expanded_bytes) and [`decapsulate`](Self::decapsulate), in two thirds of
    /// their time: for a key that is used once. No heap; the stack holds the matrix: 11, 14 or 18 KiB.
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    ///
    /// # Errors
    ///
    /// Those of `from_expanded_bytes`.
    pub fn decapsulate_from_bytes(
        bytes: &[u8],
        c: &P::Ciphertext,
    ) -> Result<SharedSecret, DecapsulationKeyError> {
        let key = ExpandedKeyRef::<P>::parse(bytes)?;
        let mut shared = Secret::new([0; 32]);
        let mut elements = P::elements();
        let _guard = StackGuard::<DEPTH>;
        decapsulate_encoded(&key, elements.as_mut(), c.as_ref(), shared.expose_mut())?;
        Ok(shared.hand_over())
    }

    /// The key in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z, for libraries that want it.
    #[must_use]
    pub fn to_expanded_bytes(&self) -> Secret<Vec<u8>> {
        let mut bytes = Secret::new(vec![0; P::ExpandedKeyBytes::LEN]);
        let _guard = StackGuard::<1024>;
        export(self, bytes.expose_mut());
        bytes
    }

    /// Both keys of the seed d ‖ z in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z, at once: for who stores keys, and uses
    /// them later.
    ///
    /// As [`from_seed`](Self::from_seed) and [`to_expanded_bytes`](Self::to_expanded_bytes), without a heap, in 12, 15 or
    /// 19 KiB of stack. The bytes are secret, and the caller's to wipe; ek stands in them at 384·k.
    ///
    /// ```
    /// use gambeson::Bytes;
    /// use gambeson::mlkem::{ExpandedDecapsulationKey, MlKem768};
    ///
    /// let mut bytes = [0; 2400];
    /// ExpandedDecapsulationKey::<MlKem768>::expanded_bytes_from_seed(&[7; 64], &mut bytes);
    ///
    /// let dk = ExpandedDecapsulationKey::<MlKem768>::from_expanded_bytes(&bytes)?;
    /// assert_eq!(dk.encapsulation_key().as_bytes(), &bytes[1152..2336]);
    /// # Ok::<(), gambeson::mlkem::DecapsulationKeyError>(())
    /// ```
    ///
    /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal).
    pub fn expanded_bytes_from_seed(seed: &[u8; 64], bytes: &mut P::ExpandedKeyBytes) {
        let mut elements = P::elements();
        // ŝ is on the stack, too.
        let _guard = StackGuard::<{ 8 * 1024 + 640 }>;
        generate_encoded::<P>(seed, elements.as_mut(), bytes.as_mut());
    }

    /// The seed d ‖ z, unless the key was imported without it.
    #[must_use]
    pub const fn seed(&self) -> Option<&Secret<[u8; 64]>> {
        self.seed.as_ref()
    }

    /// The encapsulation key.
    #[must_use]
    pub fn encapsulation_key(&self) -> EncapsulationKey<P> {
        self.ek.compact()
    }

    /// The encapsulation key, expanded as well.
    #[must_use]
    pub const fn expanded_encapsulation_key(&self) -> &ExpandedEncapsulationKey<P> {
        &self.ek
    }

    #[cfg(test)]
    pub(super) fn s(&self) -> &[Ntt] {
        self.s.expose()
    }

    pub(super) const fn z(&self) -> &[u8; 32] {
        self.z.expose()
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
        if INTERLEAVED {
            let ExpandedEncapsulationKey { elements, h, .. } = &self.ek;
            let (s, z) = (self.s.expose(), self.z.expose());
            scrubbed::<P, { serial::DEPTH[0] }, { serial::DEPTH[1] }, { serial::DEPTH[2] }, _>(|| {
                serial::decapsulate::<P>(elements, s, h, z, c.as_ref(), shared.expose_mut());
            });
            return shared.hand_over();
        }
        // Until the secret was handed over, which goes through vector registers.
        let _guard = StackGuard::<DEPTH>;
        decapsulate(self, c.as_ref(), shared.expose_mut());
        shared.hand_over()
    }
}

/// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal), into the heap.
#[inline(never)]
fn expand<P: ParameterSet>(seed: &[u8; 64]) -> ExpandedDecapsulationKey<P> {
    let bytes = vec![0; P::EncapsulationKeyBytes::LEN].into_boxed_slice();
    let mut ek = ExpandedEncapsulationKey::<P>::of_bytes(bytes);
    let mut s = Secret::new(vec![Ntt::ZERO; P::K].into_boxed_slice());
    ek.h = generate::<P>(seed, &mut ek.elements, s.expose_mut(), &mut ek.bytes);
    decode_t::<P>(&mut ek.elements, &ek.bytes);
    ExpandedDecapsulationKey {
        ek,
        s,
        z: Secret::new(*seed.last_chunk().expect("32 of 64 bytes")),
        seed: Some(Secret::new(*seed)),
    }
}

#[inline(never)]
fn generate_encoded<P: ParameterSet>(seed: &[u8; 64], elements: &mut [Ntt], bytes: &mut [u8]) {
    let (encoded, rest) = bytes.split_at_mut(384 * P::K);
    let (ek, rest) = rest.split_at_mut(P::EncapsulationKeyBytes::LEN);
    let (h, z) = rest.split_at_mut(32);
    let mut s = Secret::new(P::vector());
    h.copy_from_slice(&generate::<P>(seed, elements, s.expose_mut().as_mut(), ek));
    z.copy_from_slice(&seed[32..]);
    let mut writer = Writer(encoded);
    s.expose().as_ref().iter().for_each(|s| encode::put(&mut writer, s));
}

/// Â, ŝ, and the bytes of the encapsulation key; returns their hash.
///
/// FIPS 203, Algorithm 13 (K-PKE.KeyGen) and the hash of Algorithm 16 (ML-KEM.KeyGen_internal). The rows of t̂ are hashed
/// while the next of Â are sampled.
fn generate<P: ParameterSet>(
    seed: &[u8; 64],
    elements: &mut [Ntt],
    s: &mut [Ntt],
    ek: &mut [u8],
) -> [u8; 32] {
    let rho_sigma = kem::g(&seed[..32], &[P::K as u8]);
    let [rho, sigma] = rho_sigma.expose();
    declassify(rho); // public: ρ is part of the encapsulation key
    generate_behind_g::<P>(rho, sigma, elements, s, ek)
}

/// The same from line 2 of Algorithm 13 on.
pub(super) fn generate_behind_g<P: ParameterSet>(
    rho: &[u8; 32],
    sigma: &[u8; 32],
    elements: &mut [Ntt],
    s: &mut [Ntt],
    ek: &mut [u8],
) -> [u8; 32] {
    ek[384 * P::K..].copy_from_slice(rho);
    let mut hashed = Hashed::ZERO;
    // Nothing is kept of t̂ here, whose room is where its rows are made.
    let (a, room) = elements.split_at_mut(P::K * P::K);
    let operation = Operation::new(&mut hashed).matrix::<P>(rho, a).noise::<P>(sigma);
    let h = run_by_rows(operation, ek, &mut |i, a, noise, ek| {
        if i == 0 {
            for (j, s) in s.iter_mut().enumerate() {
                pke::secret::<P>(s, noise, j);
            }
        }
        let [t, e, ..] = room else { unreachable!("there are two rows or more") };
        let bytes = &mut ek[384 * i..384 * (i + 1)];
        pke::key_gen_row::<P>(&Elements(a), i, s, noise, [t, e], &mut Writer(bytes));
        declassify(bytes); // public: the encapsulation key is published
    });
    room[..2].iter_mut().for_each(Zeroize::zeroize);
    h
}

#[inline(never)]
fn export<P: ParameterSet>(key: &ExpandedDecapsulationKey<P>, bytes: &mut [u8]) {
    let (s, rest) = bytes.split_at_mut(384 * P::K);
    let (ek, rest) = rest.split_at_mut(P::EncapsulationKeyBytes::LEN);
    let (h, z) = rest.split_at_mut(32);
    let mut writer = Writer(s);
    key.s.expose().iter().for_each(|s| encode::put(&mut writer, s));
    ek.copy_from_slice(&key.ek.bytes);
    h.copy_from_slice(&key.ek.h);
    z.copy_from_slice(key.z.expose());
}

/// FIPS 203, §7.3, in a frame of its own: the key is moved from there, and the guard above wipes what stays.
#[inline(never)]
fn import<P: ParameterSet>(bytes: &[u8]) -> Result<ExpandedDecapsulationKey<P>, DecapsulationKeyError> {
    let encoded = ExpandedKeyRef::<P>::parse(bytes)?;
    // Expansion hashes the key anyway, so the hash is compared after it.
    let ek = ExpandedEncapsulationKey::new(encoded.ek());
    encoded.check(&ek.h)?;
    let mut key = ExpandedDecapsulationKey::<P> {
        ek,
        s: Secret::new(vec![Ntt::ZERO; P::K].into_boxed_slice()),
        z: Secret::new(*encoded.z()),
        seed: None,
    };
    for (j, s) in key.s.expose_mut().iter_mut().enumerate() {
        encode::decode(s, encoded.s(), j);
    }
    Ok(key)
}

#[inline(never)]
fn decapsulate_encoded<P: ParameterSet>(
    key: &ExpandedKeyRef<'_, P>,
    elements: &mut [Ntt],
    c: &[u8],
    shared: &mut [u8; 32],
) -> Result<(), DecapsulationKeyError> {
    let ek = key.ek();
    let mut hashed = Hashed::ZERO;
    decrypt::<P>(key, c, &mut hashed.m);
    let chains = Operation::new(&mut hashed).h(Chain::h(ek)).j(key.z(), c);
    chains.matrix::<P>(rho(ek), elements).secrets::<P>(Some(key.h())).run();
    key.check(&hashed.hash)?;
    decode_t::<P>(elements, ek);
    decaps_hashed::<P>(elements, &hashed, c, shared);
    Ok(())
}

#[inline(never)]
fn decapsulate<P: ParameterSet>(key: &ExpandedDecapsulationKey<P>, c: &[u8], shared: &mut [u8; 32]) {
    let mut hashed = Hashed::ZERO;
    decrypt::<P>(key, c, &mut hashed.m);
    Operation::new(&mut hashed).j(key.z.expose(), c).secrets::<P>(Some(&key.ek.h)).run();
    decaps_hashed::<P>(&key.ek.elements, &hashed, c, shared);
}

impl<P: ParameterSet> DecryptionKey for ExpandedDecapsulationKey<P> {
    fn multiply_add_s(&self, sum: &mut Ntt, j: usize, x: &Ntt) {
        sum.multiply_add(x, &self.s.expose()[j]);
    }
}

impl<P: ParameterSet> fmt::Debug for ExpandedDecapsulationKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ExpandedDecapsulationKey").field(&P::NAME).finish_non_exhaustive()
    }
}
