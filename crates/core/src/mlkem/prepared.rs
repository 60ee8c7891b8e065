//! Keys in their prepared form: matrix, vectors and hash ready, on the heap.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use zeroize::Zeroize;

use super::compact::CompactPublic;
use super::depth::scrubbed;
use super::encode::{self, Writer};
use super::encoded::{DecapsulationKeyRef, check};
use super::lanes::{Chain, HashOfKey, Hashed, Operation, run_by_rows};
use super::operations::{Decapsulation, Encapsulation, decode_t, one, rho};
use super::params::{
    DecapsulationKey, EncapsulationKey, ParameterSet, Parts, PrivateForm, PublicForm, Source,
};
use super::pke::{self, DecryptionKey};
use super::ring::Ntt;
use super::{DecapsulationKeyError, SharedSecret, kem, serial};
use crate::Bytes;
use crate::filled::{Holds, filled};
use crate::once::AtSecondUse;
use crate::secret::{Secret, StackGuard, declassify};
use crate::sha3::INTERLEAVED;
use crate::workspace::Zero;

/// A parameter set whose keys are prepared on the heap: [`MlKem512`](super::MlKem512), [`MlKem768`](super::MlKem768) or
/// [`MlKem1024`](super::MlKem1024) with feature `alloc`.
pub trait PreparedSet: ParameterSet<Public = PreparedPublic, Private = PreparedPrivate<Self>> {}

/// The stack that the work behind a door of a prepared key uses at most, batches of states included.
const DEPTH: usize = 8 * 1024;

/// An encapsulation key, ready for encapsulation.
#[derive(Debug)]
pub struct EncryptionTable {
    /// Â by rows, then t̂.
    elements: Box<[Ntt]>,
    h: KeyHash,
}

/// H(ek). Key generation leaves the blocks that would run alone to the first use of the key.
#[derive(Debug)]
enum KeyHash {
    Known([u8; 32]),
    Begun(HashOfKey, AtSecondUse<AlignedHash>),
}

#[repr(align(8))]
struct AlignedHash([u8; 32]);

impl KeyHash {
    fn of_generation(begun: HashOfKey, ek: &[u8]) -> Self {
        if INTERLEAVED { Self::Known(begun.finish(ek)) } else { Self::Begun(begun, AtSecondUse::NEW) }
    }

    fn get<'a>(&'a self, ek: &[u8]) -> &'a [u8; 32] {
        match self {
            Self::Known(h) => h,
            Self::Begun(begun, h) => &h.now(|| AlignedHash(begun.finish(ek))).0,
        }
    }
}

impl EncryptionTable {
    /// Not inlined: its frame is no part of that of later operations.
    #[inline(never)]
    fn new<P: ParameterSet>(ek: &[u8]) -> Self {
        let mut elements = vec![Ntt::ZERO; P::K * P::K + P::K].into_boxed_slice();
        let mut hashed = Hashed::ZERO;
        Operation::new(&mut hashed).h(Chain::h(ek)).matrix::<P>(rho(ek), &mut elements).run();
        decode_t::<P>(&mut elements, ek);
        Self { elements, h: KeyHash::Known(hashed.hash) }
    }

    /// The input of operations with the key `ek`.
    fn source(&self, ek: &[u8]) -> Source<'_> {
        Source::Prepared { elements: &self.elements, h: self.h.get(ek) }
    }
}

/// An encapsulation key prepares itself at its second use.
#[derive(Clone, Debug)]
pub struct PreparedPublic(AtSecondUse<EncryptionTable>);

impl<P: ParameterSet> PublicForm<P> for PreparedPublic {
    const NEW: Self = Self(AtSecondUse::NEW);

    fn encapsulate_once(
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        if INTERLEAVED {
            return <CompactPublic as PublicForm<P>>::encapsulate_once(ek, m, c, shared);
        }
        let mut elements = P::Elements::ZERO;
        let _guard = StackGuard::<DEPTH>;
        let (source, shared) = (Source::Bytes(ek.as_ref()), shared.expose_mut());
        one(Encapsulation::<P> { source, m, c, shared }, elements.as_mut());
    }

    fn encapsulate(
        &self,
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        let Some(prepared) = self.0.at_second_use(|| EncryptionTable::new::<P>(ek.as_ref())) else {
            return <Self as PublicForm<P>>::encapsulate_once(ek, m, c, shared);
        };
        if INTERLEAVED {
            let EncryptionTable { elements, h } = prepared;
            let h = h.get(ek.as_ref());
            return scrubbed::<P, { serial::DEPTH[0] }, { serial::DEPTH[1] }, { serial::DEPTH[2] }, _>(
                || {
                    serial::encapsulate::<P>(elements, h, m, c.as_mut(), shared.expose_mut());
                },
            );
        }
        let _guard = StackGuard::<DEPTH>;
        let (source, shared) = (prepared.source(ek.as_ref()), shared.expose_mut());
        one(Encapsulation::<P> { source, m, c, shared }, &mut []);
    }

    fn prepare(&self, ek: &P::EncapsulationKeyBytes) {
        self.0.now(|| EncryptionTable::new::<P>(ek.as_ref())).h.get(ek.as_ref());
    }

    fn source<'a>(&'a self, ek: &'a P::EncapsulationKeyBytes) -> Source<'a> {
        let ek = ek.as_ref();
        self.0.get().map_or(Source::Bytes(ek), |prepared| prepared.source(ek))
    }
}

/// A decapsulation key: its prepared encapsulation key, ŝ, z, and the seed that both are from.
pub struct PreparedPrivate<P: PreparedSet> {
    ek: Box<EncapsulationKey<P>>,
    s: Secret<Box<[Ntt]>>,
    z: Secret<[u8; 32]>,
    /// The seed, unless the key was imported without it.
    seed: Option<Secret<[u8; 64]>>,
}

impl<P: PreparedSet> PreparedPrivate<P> {
    /// A key still to be filled.
    fn empty() -> Self {
        let ek = EncapsulationKey::from_reduced(
            P::EncapsulationKeyBytes::zeroed(),
            PreparedPublic(AtSecondUse::NEW),
        );
        let s = vec![Ntt::ZERO; P::K].into_boxed_slice();
        Self { ek: Box::new(ek), s: Secret::new(s), z: Secret::new([0; 32]), seed: None }
    }

    /// Â by rows and t̂; H(ek).
    fn prepared(&self) -> (&[Ntt], &[u8; 32]) {
        let EncryptionTable { elements, h } = self.ek.form.0.get().expect("it was made with the key");
        (elements, h.get(self.ek.bytes.as_ref()))
    }

    /// The input of decapsulation beside ŝ.
    pub(super) fn parts(&self) -> Parts<'_> {
        let (elements, h) = self.prepared();
        Parts { source: Source::Prepared { elements, h }, h, z: self.z.expose() }
    }

    #[cfg(test)]
    pub(super) fn s(&self) -> &[Ntt] {
        self.s.expose()
    }

    #[cfg(feature = "rustcrypto")]
    pub(super) const fn ek(&self) -> &EncapsulationKey<P> {
        &self.ek
    }
}

impl<P: PreparedSet> PrivateForm<P> for PreparedPrivate<P> {
    fn from_seed<K: Holds<Self>>(seed: &[u8; 64]) -> K {
        filled(Self::empty(), |form| {
            let _guard = StackGuard::<DEPTH>;
            fill(form, seed);
        })
    }

    fn from_seed_into<K: Holds<Self>>(seed: &[u8; 64], ek: &mut P::EncapsulationKeyBytes) -> K {
        filled(Self::empty(), |form: &mut Self| {
            let _guard = StackGuard::<DEPTH>;
            fill(form, seed);
            *ek = *form.ek.as_bytes();
        })
    }

    fn seed(&self) -> Option<&Secret<[u8; 64]>> {
        self.seed.as_ref()
    }

    fn encapsulation_key_into(&self, ek: &mut P::EncapsulationKeyBytes) {
        *ek = *self.ek.as_bytes();
    }

    fn encapsulation_key(&self) -> EncapsulationKey<P> {
        (*self.ek).clone()
    }

    fn decapsulate(&self, c: &P::Ciphertext, shared: &mut SharedSecret) {
        if INTERLEAVED {
            let (elements, h) = self.prepared();
            let (s, z) = (self.s.expose(), self.z.expose());
            return scrubbed::<P, { serial::DEPTH[0] }, { serial::DEPTH[1] }, { serial::DEPTH[2] }, _>(
                || {
                    serial::decapsulate::<P>(elements, s, h, z, c.as_ref(), shared.expose_mut());
                },
            );
        }
        let _guard = StackGuard::<DEPTH>;
        let shared = shared.expose_mut();
        one(
            Decapsulation::<P, _> { key: self, parts: self.parts(), c, shared, verdict: &mut Ok(()) },
            &mut [],
        );
    }
}

impl<P: PreparedSet> DecapsulationKey<P> {
    /// The key that another library stored in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z. It has no seed.
    ///
    /// # Errors
    ///
    /// By FIPS 203, §7.3: [`DecapsulationKeyError::Length`] and [`DecapsulationKeyError::Hash`]; by §7.2 for the
    /// encapsulation key inside, [`DecapsulationKeyError::Modulus`].
    pub fn from_encoded(bytes: &[u8]) -> Result<Self, DecapsulationKeyError> {
        let _guard = StackGuard::<DEPTH>;
        import(bytes)
    }

    /// The key in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z, for libraries that want it.
    #[must_use]
    pub fn to_encoded(&self) -> Secret<Vec<u8>> {
        let mut bytes = Secret::new(vec![0; P::DecapsulationKeyBytes::LEN]);
        let _guard = StackGuard::<1024>;
        export(&self.form, bytes.expose_mut());
        bytes
    }
}

impl<P: ParameterSet> DecapsulationKey<P> {
    /// The shared secret that `c` carries for the key in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z.
    ///
    /// As [`from_encoded`](Self::from_encoded) and [`decapsulate`](Self::decapsulate), in two thirds of their time: for a key
    /// that is used once. No heap; the stack holds the matrix: 11, 14 or 18 KiB.
    ///
    /// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
    ///
    /// # Errors
    ///
    /// Those of `from_encoded`.
    pub fn decapsulate_encoded(
        bytes: &[u8],
        c: &P::Ciphertext,
    ) -> Result<SharedSecret, DecapsulationKeyError> {
        let key = DecapsulationKeyRef::<P>::parse(bytes)?;
        let (mut shared, mut verdict) = (Secret::new([0; 32]), Ok(()));
        let mut elements = P::Elements::ZERO;
        let _guard = StackGuard::<DEPTH>;
        let (key, out) = (&key, shared.expose_mut());
        let parts = key.parts();
        one(Decapsulation::<P, _> { key, parts, c, shared: out, verdict: &mut verdict }, elements.as_mut());
        verdict.map(|()| shared.take())
    }

    /// Both keys of the seed d ‖ z in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z, at once: for keys that are stored, and used
    /// later.
    ///
    /// As [`from_seed`](Self::from_seed) and [`to_encoded`](Self::to_encoded), without a heap, in 12, 15 or 19 KiB of stack. The
    /// bytes are secret, and the caller's to wipe; ek stands in them at 384·k.
    ///
    /// ```
    /// use gambeson::mlkem::{DecapsulationKey, MlKem768};
    ///
    /// let mut bytes = [0; 2400];
    /// DecapsulationKey::<MlKem768>::encoded_from_seed(&[7; 64], &mut bytes);
    ///
    /// let dk = DecapsulationKey::<MlKem768>::from_encoded(&bytes)?;
    /// assert_eq!(dk.encapsulation_key().as_bytes(), &bytes[1152..2336]);
    /// # Ok::<(), gambeson::mlkem::DecapsulationKeyError>(())
    /// ```
    ///
    /// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal).
    pub fn encoded_from_seed(seed: &[u8; 64], bytes: &mut P::DecapsulationKeyBytes) {
        let mut elements = P::Elements::ZERO;
        // ŝ is on the stack, too.
        let _guard = StackGuard::<{ 8 * 1024 + 640 }>;
        generate_encoded::<P>(seed, elements.as_mut(), bytes.as_mut());
    }
}

/// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal), into the heap.
#[inline(never)]
fn fill<P: PreparedSet>(key: &mut PreparedPrivate<P>, seed: &[u8; 64]) {
    let mut elements = vec![Ntt::ZERO; P::K * P::K + P::K].into_boxed_slice();
    let h = generate::<P>(seed, &mut elements, key.s.expose_mut(), key.ek.bytes.as_mut());
    decode_t::<P>(&mut elements, key.ek.bytes.as_ref());
    let h = KeyHash::of_generation(h, key.ek.bytes.as_ref());
    key.ek.form.0.now(|| EncryptionTable { elements, h });
    key.z.expose_mut().copy_from_slice(&seed[32..]);
    key.seed.insert(Secret::new([0; 64])).expose_mut().copy_from_slice(seed);
}

#[inline(never)]
fn generate_encoded<P: ParameterSet>(seed: &[u8; 64], elements: &mut [Ntt], bytes: &mut [u8]) {
    let (encoded, rest) = bytes.split_at_mut(384 * P::K);
    let (ek, rest) = rest.split_at_mut(P::EncapsulationKeyBytes::LEN);
    let (h, z) = rest.split_at_mut(32);
    let mut s = Secret::new(P::Vector::ZERO);
    h.copy_from_slice(&generate::<P>(seed, elements, s.expose_mut().as_mut(), ek).finish(ek));
    z.copy_from_slice(&seed[32..]);
    let mut writer = Writer(encoded);
    s.expose().as_ref().iter().for_each(|s| encode::put(&mut writer, s));
}

/// Â, ŝ, and the bytes of the encapsulation key; returns their hash on its way.
///
/// FIPS 203, Algorithm 13 (K-PKE.KeyGen) and the hash of Algorithm 16 (ML-KEM.KeyGen_internal). The rows of t̂ are hashed
/// while the next of Â are sampled.
fn generate<P: ParameterSet>(
    seed: &[u8; 64],
    elements: &mut [Ntt],
    s: &mut [Ntt],
    ek: &mut [u8],
) -> HashOfKey {
    let rho_sigma = kem::g(&seed[..32], &[P::K as u8]);
    let [rho, sigma] = rho_sigma.expose();
    declassify(rho); // public: ρ is part of the encapsulation key
    generate_behind_g::<P>(rho, sigma, elements, s, ek)
}

/// Generates the key from line 2 of Algorithm 13 on.
pub(super) fn generate_behind_g<P: ParameterSet>(
    rho: &[u8; 32],
    sigma: &[u8; 32],
    elements: &mut [Ntt],
    s: &mut [Ntt],
    ek: &mut [u8],
) -> HashOfKey {
    ek[384 * P::K..].copy_from_slice(rho);
    let mut hashed = Hashed::ZERO;
    // Nothing is kept of t̂ here, whose room is where its rows are made.
    let (a, room) = elements.split_at_mut(P::K * P::K);
    let operation = Operation::new(&mut hashed).matrix::<P>(rho, a).noise::<P>(sigma);
    let h = run_by_rows(operation, ek, &mut |i, a, mut noise, ek| {
        if i == 0 {
            for (j, s) in s.iter_mut().enumerate() {
                pke::secret::<P>(s, &mut noise, j);
            }
        }
        let [t, e, ..] = room else { unreachable!("there are two rows or more") };
        let bytes = &mut ek[384 * i..384 * (i + 1)];
        let multiply_add = |t: &mut Ntt| t.add_inner_product(&a[i * P::K..][..P::K], 1, s);
        pke::key_gen_row::<P>(i, multiply_add, &mut noise, [t, e], &mut Writer(bytes));
        declassify(bytes); // public: the encapsulation key is published
    });
    room[..2].iter_mut().for_each(Zeroize::zeroize);
    h
}

#[inline(never)]
fn export<P: PreparedSet>(key: &PreparedPrivate<P>, bytes: &mut [u8]) {
    let (s, rest) = bytes.split_at_mut(384 * P::K);
    let (ek, rest) = rest.split_at_mut(P::EncapsulationKeyBytes::LEN);
    let (h, z) = rest.split_at_mut(32);
    let mut writer = Writer(s);
    key.s.expose().iter().for_each(|s| encode::put(&mut writer, s));
    ek.copy_from_slice(key.ek.as_bytes().as_ref());
    h.copy_from_slice(key.prepared().1);
    z.copy_from_slice(key.z.expose());
}

/// FIPS 203, §7.3, in a frame of its own: the key is moved from there, and the guard above wipes what stays.
#[inline(never)]
fn import<P: PreparedSet>(bytes: &[u8]) -> Result<DecapsulationKey<P>, DecapsulationKeyError> {
    let encoded = DecapsulationKeyRef::<P>::parse(bytes)?;
    // Preparation hashes the key anyway, so the hash is compared after it.
    let prepared = EncryptionTable::new::<P>(encoded.ek());
    check::<P>(encoded.ek(), encoded.h(), prepared.h.get(encoded.ek()))?;
    let ek = P::EncapsulationKeyBytes::try_from(encoded.ek()).expect("the length is the set's");
    let ek: Box<EncapsulationKey<P>> =
        Box::new(EncapsulationKey::from_reduced(ek, PreparedPublic(AtSecondUse::NEW)));
    ek.form.0.now(|| prepared);
    let mut s = Secret::new(vec![Ntt::ZERO; P::K].into_boxed_slice());
    for (j, s) in s.expose_mut().iter_mut().enumerate() {
        encode::decode(s, encoded.s(), j);
    }
    Ok(DecapsulationKey { form: PreparedPrivate { ek, s, z: Secret::new(*encoded.z()), seed: None } })
}

impl<P: PreparedSet> DecryptionKey for PreparedPrivate<P> {
    fn multiply_add_s(&self, sum: &mut Ntt, j: usize, x: &Ntt) {
        sum.multiply_add(x, &self.s.expose()[j]);
    }
}

impl<P: PreparedSet> fmt::Debug for PreparedPrivate<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreparedPrivate").field(&P::NAME).finish_non_exhaustive()
    }
}
