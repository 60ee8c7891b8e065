//! Many operations at once: the sponges of several of them fill the lanes of every permutation.

use alloc::vec;
use alloc::vec::Vec;

use rand_core::TryCryptoRng;

use super::encoded::DecapsulationKeyRef;
use super::operations::{Decapsulation, Encapsulation, many};
use super::params::{DecapsulationKey, EncapsulationKey, ParameterSet, Parts, PublicForm, Source};
use super::pke::DecryptionKey;
use super::prepared::{PreparedPrivate, PreparedSet};
use super::{DecapsulationKeyError, EncapsulationKeyRef, SharedSecret};
use crate::Bytes;
use crate::secret::{Secret, StackGuard};

/// The stack that the work behind a door of a batch uses at most.
const DEPTH: usize = 10 * 1024;

/// A ciphertext and the shared secret that it carries, one for each key of a batch.
type Sent<K> = Vec<(<<K as Recipient>::Parameters as ParameterSet>::Ciphertext, SharedSecret)>;

/// A key to which a batch encapsulates: an [`EncapsulationKey`], an [`EncapsulationKeyRef`], or a reference to one.
pub trait Recipient: sealed::Sealed {
    /// The parameter set.
    type Parameters: ParameterSet;
}

mod sealed {
    use super::Source;

    pub trait Sealed {
        fn source(&self) -> Source<'_>;
    }
}

impl<P: ParameterSet> Recipient for EncapsulationKey<P> {
    type Parameters = P;
}

impl<P: ParameterSet> sealed::Sealed for EncapsulationKey<P> {
    fn source(&self) -> Source<'_> {
        self.form.source(&self.bytes)
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
    let mut sent: Sent<K> = Vec::new();
    sent.resize_with(items.len(), || (Bytes::zeroed(), Secret::new([0; 32])));
    let mut tasks = items.zip(&mut sent).map(|((key, m), (c, shared))| Encapsulation {
        source: key.source(),
        m,
        c,
        shared: shared.expose_mut(),
    });
    let _guard = StackGuard::<DEPTH>;
    many::<K::Parameters, Encapsulation<'_, K::Parameters>>(&mut tasks);
    sent
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
    decapsulate_all::<P, _>(items.iter().map(|(key, c)| (Ok(&key.form), *c)), PreparedPrivate::parts).0
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
    let keys: Vec<_> = items.iter().map(|(key, _)| DecapsulationKeyRef::<P>::parse(key)).collect();
    let keys = keys.iter().map(|key| key.as_ref().map_err(|error| *error));
    let (mut shared, verdicts) =
        decapsulate_all::<P, _>(keys.zip(items).map(|(key, (_, c))| (key, *c)), DecapsulationKeyRef::parts);
    let _guard = StackGuard::<0>;
    verdicts.into_iter().zip(&mut shared).map(|(verdict, shared)| verdict.map(|()| shared.take())).collect()
}

/// The shared secrets, and what the checks of the keys gave.
fn decapsulate_all<'a, P: ParameterSet, K: DecryptionKey + 'a>(
    items: impl ExactSizeIterator<Item = (Result<&'a K, DecapsulationKeyError>, &'a P::Ciphertext)>,
    parts: fn(&'a K) -> Parts<'a>,
) -> (Vec<SharedSecret>, Vec<Result<(), DecapsulationKeyError>>) {
    let mut shared = Vec::new();
    shared.resize_with(items.len(), || Secret::new([0; 32]));
    let mut verdicts = vec![Ok(()); items.len()];
    let places = shared.iter_mut().zip(&mut verdicts);
    let mut tasks = items.zip(places).filter_map(|((key, c), (shared, verdict))| match key {
        Ok(key) => {
            Some(Decapsulation::<P, K> { key, parts: parts(key), c, shared: shared.expose_mut(), verdict })
        }
        Err(error) => {
            *verdict = Err(error);
            None
        }
    });
    let _guard = StackGuard::<DEPTH>;
    many::<P, Decapsulation<'_, P, K>>(&mut tasks);
    (shared, verdicts)
}
