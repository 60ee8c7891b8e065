//! Many operations at once: the sponges of several of them fill the lanes of every permutation.

use alloc::vec;
use alloc::vec::Vec;

use rand_core::TryCryptoRng;

use super::keys::{self, DEPTH, Drawn};
use super::operations::{self, Encapsulation, Source};
use super::params::{ParameterSet, SALT, SEED};
use super::{DecapsulationKey, EncapsulationKey, EncapsulationKeyRef, LengthError, SharedSecret};
use crate::secret::{Secret, StackGuard};

/// A key to which a batch encapsulates: an [`EncapsulationKey`], an [`EncapsulationKeyRef`], or a reference to one.
pub trait Recipient: sealed::Sealed {}

mod sealed {
    use super::Source;

    pub trait Sealed {
        fn source(&self) -> Source<'_>;
    }
}

impl Recipient for EncapsulationKey {}

impl sealed::Sealed for EncapsulationKey {
    fn source(&self) -> Source<'_> {
        self.source()
    }
}

impl Recipient for EncapsulationKeyRef<'_> {}

impl sealed::Sealed for EncapsulationKeyRef<'_> {
    fn source(&self) -> Source<'_> {
        self.source()
    }
}

impl<K: Recipient> Recipient for &K {}

impl<K: sealed::Sealed> sealed::Sealed for &K {
    fn source(&self) -> Source<'_> {
        (**self).source()
    }
}

/// A ciphertext and the shared secret that it carries, one for each key of a batch.
type Sent = Vec<(Vec<u8>, SharedSecret)>;

/// A fresh shared secret for each key, and the ciphertext that carries it, with the operating system's randomness.
///
/// The results are those of [`EncapsulationKey::encapsulate`]. For many secrets to one key, [`prepare`](EncapsulationKey::prepare) it and give
/// references to it. Keys may be of several parameter sets.
///
/// ```
/// use gambeson::hqc::{self, DecapsulationKey, ParameterSet};
///
/// let dk = DecapsulationKey::generate(ParameterSet::HQC_1)?;
/// let ek = dk.encapsulation_key();
/// ek.prepare();
/// let sent = hqc::encapsulate_many(&[&ek; 3])?;
/// let received: Vec<_> = sent.iter().map(|(c, _)| (&dk, c.as_slice())).collect();
/// for ((_, shared), again) in sent.iter().zip(hqc::decapsulate_many(&received)) {
///     assert_eq!(again?.expose(), shared.expose());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`RngError`](crate::RngError) if the operating system gives no randomness.
#[cfg(feature = "getrandom")]
pub fn encapsulate_many<K: Recipient>(keys: &[K]) -> Result<Sent, crate::RngError> {
    draw_and_encapsulate(keys, crate::rng::fill)
}

/// A fresh shared secret for each key, and the ciphertext that carries it, with the caller's randomness.
///
/// As `encapsulate_many`; the secrets are those that a loop with this generator would give.
///
/// # Errors
///
/// The generator's own.
pub fn encapsulate_many_with<K: Recipient, R: TryCryptoRng + ?Sized>(
    keys: &[K],
    rng: &mut R,
) -> Result<Sent, R::Error> {
    draw_and_encapsulate(keys, |bytes| rng.try_fill_bytes(bytes))
}

/// The shared secret of each message, and the ciphertext that carries it, under the conditions of
/// [`EncapsulationKey::encapsulate_deterministic`].
///
/// # Errors
///
/// [`LengthError`] if a message has another length than its set's.
pub fn encapsulate_many_deterministic<K: Recipient>(
    keys: &[(K, &[u8], &[u8; 16])],
) -> Result<Sent, LengthError> {
    let items: Vec<_> = keys.iter().map(|(key, m, salt)| (key.source(), *m, *salt)).collect();
    for (source, m, _) in &items {
        LengthError::check("message", source.set().message_len(), m.len())?;
    }
    Ok(encapsulate_all(&items))
}

fn draw_and_encapsulate<K: Recipient, E>(
    keys: &[K],
    mut fill: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Sent, E> {
    let sources: Vec<_> = keys.iter().map(sealed::Sealed::source).collect();
    let drawn: Vec<Drawn> =
        sources.iter().map(|source| keys::draw(source.set(), &mut fill)).collect::<Result<_, _>>()?;
    let items: Vec<_> = sources
        .into_iter()
        .zip(&drawn)
        .map(|(source, drawn)| {
            let (m, salt) = keys::drawn(source.set(), drawn);
            (source, m, salt)
        })
        .collect();
    Ok(encapsulate_all(&items))
}

fn encapsulate_all(items: &[(Source<'_>, &[u8], &[u8; SALT])]) -> Sent {
    let empty = |set: ParameterSet| (vec![0; set.ciphertext_len()], Secret::new([0; SEED]));
    let mut sent: Sent = items.iter().map(|(source, ..)| empty(source.set())).collect();
    let mut tasks: Vec<_> = items
        .iter()
        .zip(&mut sent)
        .map(|((source, m, salt), (c, shared))| Encapsulation {
            source: *source,
            m,
            salt,
            c,
            shared: shared.expose_mut(),
        })
        .collect();
    let guard = StackGuard::<DEPTH>;
    operations::encapsulate(&mut tasks);
    drop(guard);
    sent
}

/// The shared secret that each ciphertext carries for its key: the results of [`DecapsulationKey::decapsulate`].
///
/// Keys may be of several parameter sets.
#[must_use]
pub fn decapsulate_many(items: &[(&DecapsulationKey, &[u8])]) -> Vec<Result<SharedSecret, LengthError>> {
    let mut shared: Vec<Result<SharedSecret, LengthError>> = items
        .iter()
        .map(|(key, c)| {
            LengthError::check("ciphertext", key.parameter_set().ciphertext_len(), c.len())?;
            Ok(Secret::new([0; SEED]))
        })
        .collect();
    let mut tasks: Vec<_> = items
        .iter()
        .zip(&mut shared)
        .filter_map(|((key, c), shared)| Some(key.task(c, shared.as_mut().ok()?.expose_mut())))
        .collect();
    let guard = StackGuard::<DEPTH>;
    operations::decapsulate(&mut tasks);
    drop(guard);
    shared
}
