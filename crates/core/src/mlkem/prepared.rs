//! Keys in their prepared form: matrix, vectors and hash ready, on the heap.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use zeroize::Zeroize;

use super::compact::{self, scrubbed};
use super::encode::{self, Writer};
use super::encoded::DecapsulationKeyRef;
use super::forms::{PrivateForm, PublicForm};
use super::kem::{Elements, decaps_hashed, encaps_hashed};
use super::lanes::{Chain, Hashed, Operation, run_by_rows};
use super::params::{ParameterSet, PreparedSet};
use super::pke::{self, DecryptionKey, decrypt};
use super::ring::Ntt;
use super::{DecapsulationKey, DecapsulationKeyError, EncapsulationKey, SharedSecret, kem, serial};
use crate::Bytes;
use crate::filled::{Holds, filled};
use crate::once::AtSecondUse;
use crate::secret::{Secret, StackGuard, declassify};
use crate::sha3::INTERLEAVED;

/// The stack that the work behind a door of a prepared key uses at most, batches of states included.
const DEPTH: usize = 8 * 1024;

/// An encapsulation key, ready for encapsulation.
#[derive(Debug)]
pub struct Prepared {
    /// Â by rows, then t̂.
    elements: Box<[Ntt]>,
    /// H(ek).
    h: [u8; 32],
}

impl Prepared {
    /// Not inlined: its frame is no part of that of later operations.
    #[inline(never)]
    fn new<P: ParameterSet>(ek: &[u8]) -> Self {
        let mut elements = elements::<P>();
        let mut hashed = Hashed::ZERO;
        Operation::new(&mut hashed).h(Chain::h(ek)).matrix::<P>(rho(ek), &mut elements).run();
        decode_t::<P>(&mut elements, ek);
        Self { elements, h: hashed.hash }
    }

    /// Â by rows, then t̂.
    pub(super) fn elements(&self) -> &[Ntt] {
        &self.elements
    }

    /// H(ek).
    pub(super) const fn h(&self) -> &[u8; 32] {
        &self.h
    }

    /// The shared secret of `m`, and the ciphertext that carries it.
    fn encapsulate<P: ParameterSet>(&self, m: &[u8; 32], c: &mut P::Ciphertext, shared: &mut SharedSecret) {
        if INTERLEAVED {
            let Self { elements, h } = self;
            return scrubbed::<P, { serial::DEPTH[0] }, { serial::DEPTH[1] }, { serial::DEPTH[2] }, _>(
                || {
                    serial::encapsulate::<P>(elements, h, m, c.as_mut(), shared.expose_mut());
                },
            );
        }
        let _guard = StackGuard::<DEPTH>;
        encapsulate::<P>(self, m, c.as_mut(), shared.expose_mut());
    }
}

/// Â by rows and t̂, still to be made.
fn elements<P: ParameterSet>() -> Box<[Ntt]> {
    vec![Ntt::ZERO; P::K * P::K + P::K].into_boxed_slice()
}

/// An encapsulation key prepares itself at its second use.
#[derive(Clone, Debug)]
pub struct Public(AtSecondUse<Prepared>);

impl<P: ParameterSet> PublicForm<P> for Public {
    const NEW: Self = Self(AtSecondUse::NEW);

    fn encapsulate_once(ek: &P::EncapsulationKeyBytes, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
        if INTERLEAVED {
            return <compact::Public as PublicForm<P>>::encapsulate_once(ek, m);
        }
        let mut c = P::Ciphertext::zeroed();
        let mut shared = Secret::new([0; 32]);
        let mut elements = P::elements();
        // Until the secret was taken, which goes through vector registers.
        let _guard = StackGuard::<DEPTH>;
        encapsulate_encoded::<P>(ek.as_ref(), elements.as_mut(), m, c.as_mut(), shared.expose_mut());
        (c, shared.take())
    }

    fn encapsulate_once_into(
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        if INTERLEAVED {
            return <compact::Public as PublicForm<P>>::encapsulate_once_into(ek, m, c, shared);
        }
        let mut elements = P::elements();
        let _guard = StackGuard::<DEPTH>;
        encapsulate_encoded::<P>(ek.as_ref(), elements.as_mut(), m, c.as_mut(), shared.expose_mut());
    }

    fn encapsulate(&self, ek: &P::EncapsulationKeyBytes, m: &[u8; 32]) -> (P::Ciphertext, SharedSecret) {
        let Some(prepared) = self.0.at_second_use(|| Prepared::new::<P>(ek.as_ref())) else {
            return <Self as PublicForm<P>>::encapsulate_once(ek, m);
        };
        let mut c = P::Ciphertext::zeroed();
        let mut shared = Secret::new([0; 32]);
        // Until the secret was taken, which goes through vector registers.
        let _guard = StackGuard::<0>;
        prepared.encapsulate::<P>(m, &mut c, &mut shared);
        (c, shared.take())
    }

    fn encapsulate_into(
        &self,
        ek: &P::EncapsulationKeyBytes,
        m: &[u8; 32],
        c: &mut P::Ciphertext,
        shared: &mut SharedSecret,
    ) {
        match self.0.at_second_use(|| Prepared::new::<P>(ek.as_ref())) {
            None => <Self as PublicForm<P>>::encapsulate_once_into(ek, m, c, shared),
            Some(prepared) => prepared.encapsulate::<P>(m, c, shared),
        }
    }

    fn prepare(&self, ek: &P::EncapsulationKeyBytes) {
        self.0.now(|| Prepared::new::<P>(ek.as_ref()));
    }

    fn prepared(&self) -> Option<&Prepared> {
        self.0.get()
    }
}

#[inline(never)]
fn encapsulate<P: ParameterSet>(key: &Prepared, m: &[u8; 32], c: &mut [u8], shared: &mut [u8; 32]) {
    let mut hashed = Hashed::ZERO;
    hashed.m = *m;
    Operation::new(&mut hashed).secrets::<P>(Some(&key.h)).run();
    encaps_hashed::<P>(&key.elements, &hashed, c, shared);
}

/// Encapsulates to the key of these bytes, which is not kept.
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

/// A decapsulation key: its prepared encapsulation key, ŝ, z, and the seed that both are from.
pub struct Private<P: PreparedSet> {
    ek: Box<EncapsulationKey<P>>,
    s: Secret<Box<[Ntt]>>,
    z: Secret<[u8; 32]>,
    /// The seed, unless the key was imported without it.
    seed: Option<Secret<[u8; 64]>>,
}

impl<P: PreparedSet> Private<P> {
    /// A key still to be filled.
    fn empty() -> Self {
        let ek = EncapsulationKey::from_reduced(P::EncapsulationKeyBytes::zeroed(), Public(AtSecondUse::NEW));
        let s = vec![Ntt::ZERO; P::K].into_boxed_slice();
        Self { ek: Box::new(ek), s: Secret::new(s), z: Secret::new([0; 32]), seed: None }
    }

    fn prepared(&self) -> &Prepared {
        self.ek.prepared().expect("it was made with the key")
    }

    /// Â by rows, then t̂.
    pub(super) fn elements(&self) -> &[Ntt] {
        &self.prepared().elements
    }

    /// H(ek).
    pub(super) fn h(&self) -> &[u8; 32] {
        &self.prepared().h
    }

    pub(super) const fn z(&self) -> &[u8; 32] {
        self.z.expose()
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

impl<P: PreparedSet> PrivateForm<P> for Private<P> {
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

    fn decapsulate(&self, c: &P::Ciphertext) -> SharedSecret {
        let mut shared = Secret::new([0; 32]);
        // Until the secret was taken, which goes through vector registers.
        let _guard = StackGuard::<0>;
        self.decapsulate_into(c, &mut shared);
        shared.take()
    }

    fn decapsulate_into(&self, c: &P::Ciphertext, shared: &mut SharedSecret) {
        if INTERLEAVED {
            let Prepared { elements, h } = self.prepared();
            let (s, z) = (self.s.expose(), self.z.expose());
            return scrubbed::<P, { serial::DEPTH[0] }, { serial::DEPTH[1] }, { serial::DEPTH[2] }, _>(
                || {
                    serial::decapsulate::<P>(elements, s, h, z, c.as_ref(), shared.expose_mut());
                },
            );
        }
        let _guard = StackGuard::<DEPTH>;
        decapsulate(self, c.as_ref(), shared.expose_mut());
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
        let mut shared = Secret::new([0; 32]);
        let mut elements = P::elements();
        let _guard = StackGuard::<DEPTH>;
        decapsulate_encoded(&key, elements.as_mut(), c.as_ref(), shared.expose_mut())?;
        Ok(shared.take())
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
        let mut elements = P::elements();
        // ŝ is on the stack, too.
        let _guard = StackGuard::<{ 8 * 1024 + 640 }>;
        generate_encoded::<P>(seed, elements.as_mut(), bytes.as_mut());
    }
}

/// FIPS 203, Algorithm 16 (ML-KEM.KeyGen_internal), into the heap.
#[inline(never)]
fn fill<P: PreparedSet>(key: &mut Private<P>, seed: &[u8; 64]) {
    let mut elements = elements::<P>();
    let h = generate::<P>(seed, &mut elements, key.s.expose_mut(), key.ek.bytes.as_mut());
    decode_t::<P>(&mut elements, key.ek.bytes.as_ref());
    key.ek.form.0.now(|| Prepared { elements, h });
    key.z.expose_mut().copy_from_slice(&seed[32..]);
    key.seed.insert(Secret::new([0; 64])).expose_mut().copy_from_slice(seed);
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

/// Generates the key from line 2 of Algorithm 13 on.
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
fn export<P: PreparedSet>(key: &Private<P>, bytes: &mut [u8]) {
    let (s, rest) = bytes.split_at_mut(384 * P::K);
    let (ek, rest) = rest.split_at_mut(P::EncapsulationKeyBytes::LEN);
    let (h, z) = rest.split_at_mut(32);
    let mut writer = Writer(s);
    key.s.expose().iter().for_each(|s| encode::put(&mut writer, s));
    ek.copy_from_slice(key.ek.as_bytes().as_ref());
    h.copy_from_slice(key.h());
    z.copy_from_slice(key.z.expose());
}

/// FIPS 203, §7.3, in a frame of its own: the key is moved from there, and the guard above wipes what stays.
#[inline(never)]
fn import<P: PreparedSet>(bytes: &[u8]) -> Result<DecapsulationKey<P>, DecapsulationKeyError> {
    let encoded = DecapsulationKeyRef::<P>::parse(bytes)?;
    // Preparation hashes the key anyway, so the hash is compared after it.
    let prepared = Prepared::new::<P>(encoded.ek());
    encoded.check(&prepared.h)?;
    let ek = P::EncapsulationKeyBytes::try_from(encoded.ek()).expect("the length is the set's");
    let ek: Box<EncapsulationKey<P>> = Box::new(EncapsulationKey::from_reduced(ek, Public(AtSecondUse::NEW)));
    ek.form.0.now(|| prepared);
    let mut s = Secret::new(vec![Ntt::ZERO; P::K].into_boxed_slice());
    for (j, s) in s.expose_mut().iter_mut().enumerate() {
        encode::decode(s, encoded.s(), j);
    }
    Ok(DecapsulationKey { form: Private { ek, s, z: Secret::new(*encoded.z()), seed: None } })
}

#[inline(never)]
fn decapsulate_encoded<P: ParameterSet>(
    key: &DecapsulationKeyRef<'_, P>,
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
fn decapsulate<P: PreparedSet>(key: &Private<P>, c: &[u8], shared: &mut [u8; 32]) {
    let prepared = key.prepared();
    let mut hashed = Hashed::ZERO;
    decrypt::<P>(key, c, &mut hashed.m);
    Operation::new(&mut hashed).j(key.z.expose(), c).secrets::<P>(Some(&prepared.h)).run();
    decaps_hashed::<P>(&prepared.elements, &hashed, c, shared);
}

impl<P: PreparedSet> DecryptionKey for Private<P> {
    fn multiply_add_s(&self, sum: &mut Ntt, j: usize, x: &Ntt) {
        sum.multiply_add(x, &self.s.expose()[j]);
    }
}

impl<P: PreparedSet> fmt::Debug for Private<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Private").field(&P::NAME).finish_non_exhaustive()
    }
}
