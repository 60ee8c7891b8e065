//! Many operations at once: the sponges of several of them fill the lanes of every permutation.

use alloc::vec;
use alloc::vec::Vec;

use rand_core::TryCryptoRng;

use super::encoded::DecapsulationKeyRef;
use super::kem::{decaps_hashed, encaps_hashed};
use super::lanes::{self, Chain, Hashed, Operation};
use super::params::{ParameterSet, PreparedSet};
use super::pke::decrypt;
use super::prepared::{self, decode_t, rho};
use super::ring::Ntt;
use super::{DecapsulationKey, DecapsulationKeyError, EncapsulationKey, EncapsulationKeyRef, SharedSecret};
use crate::Bytes;
use crate::secret::{Secret, StackGuard};

/// The stack that the work behind a door of a batch uses at most.
const DEPTH: usize = 10 * 1024;

/// How many operations share their permutations.
const GROUP: usize = 8;

/// A ciphertext and the shared secret that it carries, one for each key of a batch.
type Sent<K> = Vec<(<<K as Recipient>::Parameters as ParameterSet>::Ciphertext, SharedSecret)>;

/// A key to which a batch encapsulates: an [`EncapsulationKey`], an [`EncapsulationKeyRef`], or a reference to one.
pub trait Recipient: sealed::Sealed {
    /// The parameter set.
    type Parameters: ParameterSet;
}

mod sealed {
    use super::Ntt;

    pub trait Sealed {
        fn source(&self) -> Source<'_>;
    }

    /// What a key has ready.
    #[derive(Clone, Copy, Debug)]
    pub enum Source<'a> {
        Bytes(&'a [u8]),
        Prepared { elements: &'a [Ntt], h: &'a [u8; 32] },
    }
}

use sealed::Source;

impl<P: ParameterSet> Recipient for EncapsulationKey<P> {
    type Parameters = P;
}

impl<P: ParameterSet> sealed::Sealed for EncapsulationKey<P> {
    fn source(&self) -> Source<'_> {
        match self.prepared() {
            Some(prepared) => Source::Prepared { elements: prepared.elements(), h: prepared.h() },
            None => Source::Bytes(self.as_bytes().as_ref()),
        }
    }
}

impl<P: ParameterSet> Recipient for EncapsulationKeyRef<'_, P> {
    type Parameters = P;
}

impl<P: ParameterSet> sealed::Sealed for EncapsulationKeyRef<'_, P> {
    fn source(&self) -> Source<'_> {
        Source::Bytes(self.as_bytes().as_ref())
    }
}

impl<K: Recipient> Recipient for &K {
    type Parameters = K::Parameters;
}

impl<K: sealed::Sealed> sealed::Sealed for &K {
    fn source(&self) -> Source<'_> {
        (**self).source()
    }
}

/// A fresh shared secret for each key, and the ciphertext that carries it, with the operating system's randomness.
///
/// The results are those of [`EncapsulationKey::encapsulate`]: of 64 keys, an operation takes a third of its time with
/// AVX-512, and two thirds with AVX2. For many secrets to one key, [`prepare`](EncapsulationKey::prepare) it and give references to it. On the heap: the
/// results, 32 bytes a key, and up to 100 KiB while it works.
///
/// ```
/// use gambeson::mlkem::{self, DecapsulationKey, MlKem768};
///
/// let keys = [DecapsulationKey::<MlKem768>::generate()?, DecapsulationKey::generate()?];
/// let sent = mlkem::encapsulate_many(&keys.each_ref().map(DecapsulationKey::encapsulation_key))?;
/// for (dk, (c, shared)) in keys.iter().zip(&sent) {
///     assert_eq!(dk.decapsulate(c).expose(), shared.expose());
/// }
///
/// let often = keys[0].encapsulation_key();
/// often.prepare();
/// assert_eq!(mlkem::encapsulate_many(&[&often; 20])?.len(), 20);
/// # Ok::<(), gambeson::RngError>(())
/// ```
///
/// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
///
/// # Errors
///
/// [`RngError`](crate::RngError) if the operating system gives no randomness.
#[cfg(feature = "getrandom")]
pub fn encapsulate_many<K: Recipient>(keys: &[K]) -> Result<Sent<K>, crate::RngError> {
    let mut m = Secret::new(vec![[0; 32]; keys.len()]);
    crate::rng::fill(m.expose_mut().as_flattened_mut())?;
    Ok(encapsulate_all::<K>(keys.iter().zip(m.expose())))
}

/// A fresh shared secret for each key, and the ciphertext that carries it, with the caller's randomness.
///
/// As [`encapsulate_many`]; the secrets are those that a loop with this generator would give.
///
/// FIPS 203, Algorithm 20 (ML-KEM.Encaps).
///
/// # Errors
///
/// The generator's own.
pub fn encapsulate_many_with<K: Recipient, R: TryCryptoRng + ?Sized>(
    keys: &[K],
    rng: &mut R,
) -> Result<Sent<K>, R::Error> {
    let mut m = Secret::new(vec![[0; 32]; keys.len()]);
    m.expose_mut().iter_mut().try_for_each(|m| rng.try_fill_bytes(m))?;
    Ok(encapsulate_all::<K>(keys.iter().zip(m.expose())))
}

/// For each key the shared secret of its message m, which must be uniformly random, secret and used once.
///
/// As [`encapsulate_many`].
///
/// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
#[must_use]
pub fn encapsulate_many_deterministic<K: Recipient>(keys: &[(K, &[u8; 32])]) -> Sent<K> {
    encapsulate_all::<K>(keys.iter().map(|(key, m)| (key, *m)))
}

fn encapsulate_all<'a, K: Recipient + 'a>(
    items: impl ExactSizeIterator<Item = (&'a K, &'a [u8; 32])>,
) -> Sent<K> {
    // Of its final size, so that no secret is left where it was before it grew.
    let mut sent = Vec::with_capacity(items.len());
    let _guard = StackGuard::<DEPTH>;
    encapsulate_groups::<K::Parameters>(&mut items.map(|(key, m)| (key.source(), m)), &mut sent);
    sent
}

#[inline(never)]
fn encapsulate_groups<'a, P: ParameterSet>(
    items: &mut dyn Iterator<Item = (Source<'a>, &'a [u8; 32])>,
    sent: &mut Vec<(P::Ciphertext, SharedSecret)>,
) {
    let mut rooms: Vec<P::Elements> = Vec::new();
    // The first group is the largest: what is in it never moves.
    let mut hashed: Vec<Hashed> = Vec::new();
    loop {
        let group: Vec<_> = items.take(GROUP).collect();
        if group.is_empty() {
            return;
        }
        let fresh = group.iter().filter(|(source, _)| matches!(source, Source::Bytes(_))).count();
        rooms.resize_with(rooms.len().max(fresh), P::elements);
        hashed.resize_with(hashed.len().max(group.len()), || Hashed::ZERO);
        let mut free = rooms.iter_mut();
        let mut operations = Vec::with_capacity(GROUP);
        for ((source, m), hashed) in group.iter().zip(&mut hashed) {
            hashed.m = **m;
            let operation = Operation::new(hashed);
            operations.push(match source {
                Source::Prepared { h, .. } => operation.secrets::<P>(Some(h)),
                Source::Bytes(ek) => {
                    let room = free.next().expect("one for each fresh key").as_mut();
                    decode_t::<P>(room, ek);
                    operation.h(Chain::h(ek)).matrix::<P>(rho(ek), room).secrets::<P>(None)
                }
            });
        }
        lanes::run(&mut operations);
        drop(operations);
        let mut rooms = rooms.iter();
        for ((source, _), hashed) in group.iter().zip(&hashed) {
            let elements = match source {
                Source::Prepared { elements, .. } => elements,
                Source::Bytes(_) => rooms.next().expect("one for each fresh key").as_ref(),
            };
            sent.push((P::Ciphertext::zeroed(), Secret::new([0; 32])));
            let (c, shared) = sent.last_mut().expect("just pushed");
            encaps_hashed::<P>(elements, hashed, c.as_mut(), shared.expose_mut());
        }
    }
}

/// The shared secrets that the ciphertexts carry for their keys.
///
/// The results are those of [`DecapsulationKey::decapsulate`]. On the heap: the results, and up to 20 KiB while it works.
///
/// ```
/// use gambeson::mlkem::{self, DecapsulationKey, MlKem768};
///
/// let dk = DecapsulationKey::<MlKem768>::generate()?;
/// let ek = dk.encapsulation_key();
/// let sent = mlkem::encapsulate_many(&[&ek; 20])?;
///
/// let received: Vec<_> = sent.iter().map(|(c, _)| (&dk, c)).collect();
/// for (shared, (_, expected)) in mlkem::decapsulate_many(&received).iter().zip(&sent) {
///     assert_eq!(shared.expose(), expected.expose());
/// }
/// # Ok::<(), gambeson::RngError>(())
/// ```
///
/// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
#[must_use]
pub fn decapsulate_many<P: PreparedSet>(
    items: &[(&DecapsulationKey<P>, &P::Ciphertext)],
) -> Vec<SharedSecret> {
    let mut shared = Vec::with_capacity(items.len());
    let mut items = items.iter().map(|(key, c)| (Ok(Private::Prepared(&key.form)), (*c).as_ref()));
    let _guard = StackGuard::<DEPTH>;
    decapsulate_groups::<P>(&mut items, &mut |result| {
        shared.push(result.expect("the key was checked when it was made"));
    });
    shared
}

/// The shared secrets that the ciphertexts carry for the keys in the standard's form dk_PKE ‖ ek ‖ H(ek) ‖ z.
///
/// The results are those of [`DecapsulationKey::decapsulate_encoded`], each its own. With AVX-512 an operation
/// of 64 takes 25 % (ML-KEM-512), 6 % (768) and 2 % (1024) less time than one alone, whose long hashes leave little of
/// its lanes empty; with AVX2 it takes about as long. On the heap: the results, and up to 100 KiB while it works.
///
/// FIPS 203, Algorithm 21 (ML-KEM.Decaps).
///
/// # Errors
///
/// Each result has those of `decapsulate_encoded`; one key's mistake leaves the other results alone.
#[must_use]
pub fn decapsulate_many_encoded<P: PreparedSet>(
    items: &[(&[u8], &P::Ciphertext)],
) -> Vec<Result<SharedSecret, DecapsulationKeyError>> {
    let mut shared = Vec::with_capacity(items.len());
    let mut items =
        items.iter().map(|(key, c)| (DecapsulationKeyRef::parse(key).map(Private::Bytes), (*c).as_ref()));
    let _guard = StackGuard::<DEPTH>;
    decapsulate_groups::<P>(&mut items, &mut |result| shared.push(result));
    shared
}

enum Private<'a, P: PreparedSet> {
    Bytes(DecapsulationKeyRef<'a, P>),
    Prepared(&'a prepared::Private<P>),
}

type Decapsulated = Result<SharedSecret, DecapsulationKeyError>;

#[inline(never)]
fn decapsulate_groups<'a, P: PreparedSet>(
    items: &mut dyn Iterator<Item = (Result<Private<'a, P>, DecapsulationKeyError>, &'a [u8])>,
    give: &mut dyn FnMut(Decapsulated),
) {
    let mut rooms: Vec<P::Elements> = Vec::new();
    // The first group is the largest: what is in it never moves.
    let mut hashed: Vec<Hashed> = Vec::new();
    loop {
        let group: Vec<_> = items.take(GROUP).collect();
        if group.is_empty() {
            return;
        }
        let fresh = group.iter().filter(|(key, _)| matches!(key, Ok(Private::Bytes(_)))).count();
        rooms.resize_with(rooms.len().max(fresh), P::elements);
        hashed.resize_with(hashed.len().max(group.len()), || Hashed::ZERO);
        let mut free = rooms.iter_mut();
        let mut operations = Vec::with_capacity(GROUP);
        for ((key, c), hashed) in group.iter().zip(&mut hashed) {
            match key {
                Err(_) => {}
                Ok(Private::Prepared(key)) => {
                    decrypt::<P>(*key, c, &mut hashed.m);
                    let operation = Operation::new(hashed).j(key.z(), c);
                    operations.push(operation.secrets::<P>(Some(key.h())));
                }
                Ok(Private::Bytes(key)) => {
                    decrypt::<P>(key, c, &mut hashed.m);
                    let room = free.next().expect("one for each fresh key").as_mut();
                    decode_t::<P>(room, key.ek());
                    let chains = Operation::new(hashed).h(Chain::h(key.ek())).j(key.z(), c);
                    let matrix = chains.matrix::<P>(rho(key.ek()), room);
                    operations.push(matrix.secrets::<P>(Some(key.h())));
                }
            }
        }
        lanes::run(&mut operations);
        drop(operations);
        let mut rooms = rooms.iter();
        for ((key, c), hashed) in group.into_iter().zip(&hashed) {
            let mut shared = Secret::new([0; 32]);
            let mut finish = |elements: &[Ntt]| {
                decaps_hashed::<P>(elements, hashed, c, shared.expose_mut());
            };
            let verdict = key.and_then(|key| match key {
                Private::Prepared(key) => {
                    finish(key.elements());
                    Ok(())
                }
                Private::Bytes(key) => {
                    let elements = rooms.next().expect("one for each fresh key").as_ref();
                    key.check(&hashed.hash).map(|()| finish(elements))
                }
            });
            give(verdict.map(|()| shared.take()));
        }
    }
}
