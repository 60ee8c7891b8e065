//! FIPS 204, §5.2 and §5.4: what is signed. Every form of a message is reduced to μ, 64 bytes.

use crate::prehash::{ContextTooLong, DigestRef, MPrime, check_context};
use crate::sha3::Shake256;

/// What is signed: a message with a context, a digest with a context, or μ itself.
///
/// A byte string converts to the usual form, the message itself with an empty context, so most callers never name
/// this type.
///
/// ```
/// use gambeson::mldsa::{Message, MlDsa44, PreHash, SigningKey};
///
/// let key = SigningKey::<MlDsa44>::from_seed(&[7; 32]);
/// let public = key.verifying_key();
///
/// let signature = key.sign_deterministic(b"as it is");
/// public.verify(b"as it is", &signature)?;
///
/// let in_context = Message::pure(b"as it is", b"example.org/release")?;
/// let signature = key.sign_deterministic(in_context);
/// public.verify(in_context, &signature)?;
/// assert!(public.verify(b"as it is", &signature).is_err());
///
/// let digest = PreHash::Sha2_512.digest(b"large");
/// let signature = key.sign_deterministic(Message::prehashed(&digest, b"")?);
/// public.verify(Message::prehashed(&digest, b"")?, &signature)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Message<'a>(Form<'a>);

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    MPrime(MPrime<'a>),
    Mu(&'a [u8; 64]),
}

impl<'a> Message<'a> {
    /// The message itself, in a context of at most 255 bytes: ML-DSA (FIPS 204, Algorithm 2 (ML-DSA.Sign)).
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn pure(message: &'a [u8], context: &'a [u8]) -> Result<Self, ContextTooLong> {
        Ok(Self(Form::MPrime(MPrime::pure(message, context)?)))
    }

    /// A digest of the message, in a context of at most 255 bytes: HashML-DSA
    /// (FIPS 204, Algorithm 4 (HashML-DSA.Sign)). Its signatures are not those of the message itself.
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn prehashed(digest: impl Into<DigestRef<'a>>, context: &'a [u8]) -> Result<Self, ContextTooLong> {
        Ok(Self(Form::MPrime(MPrime::prehashed(digest.into(), context)?)))
    }

    /// The message representative μ, computed elsewhere, for instance by a [`MuHasher`] (FIPS 204, Algorithm 7 (ML-DSA.Sign_internal),
    /// line 6). The signature is the one of the message that μ was made from.
    ///
    /// μ depends on the public key: μ of another key gives a signature that verifies nothing.
    #[must_use]
    pub const fn mu(mu: &'a [u8; 64]) -> Self {
        Self(Form::Mu(mu))
    }

    /// M′ of the internal interface, as it is, without domain byte or context. For testing only
    /// (FIPS 204, §6): its signatures can collide with those of another message in another context.
    #[must_use]
    pub const fn internal(m_prime: &'a [u8]) -> Self {
        Self(Form::MPrime(MPrime::from_bytes(m_prime)))
    }

    /// μ for the public key with the hash `tr`.
    pub(super) fn representative(&self, tr: &[u8; 64]) -> [u8; 64] {
        let mut mu = [0; 64];
        self.represent(tr, &mut mu, h);
        mu
    }

    /// The same, with H of the caller's.
    pub(super) fn represent(&self, tr: &[u8; 64], mu: &mut [u8; 64], h: impl FnOnce(&[&[u8]], &mut [u8])) {
        match self.0 {
            Form::MPrime(m_prime) => m_prime.pieces(tr, |pieces| h(pieces, mu)),
            Form::Mu(given) => *mu = *given,
        }
    }
}

impl<'a> From<&'a [u8]> for Message<'a> {
    fn from(message: &'a [u8]) -> Self {
        Self(Form::MPrime(MPrime::of(message)))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Message<'a> {
    fn from(message: &'a [u8; N]) -> Self {
        Self::from(message.as_slice())
    }
}

/// Makes μ of a message of any size in pieces, in 208 bytes of memory.
///
/// ```
/// use gambeson::mldsa::{Message, MlDsa65, SigningKey};
///
/// let key = SigningKey::<MlDsa65>::from_seed(&[7; 32]);
/// let mu = key.mu_hasher(b"")?.update(b"a large ").update(b"file").finalize();
/// let signature = key.sign_deterministic(Message::mu(&mu));
/// key.verifying_key().verify(b"a large file", &signature)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MuHasher(Shake256);

impl MuHasher {
    pub(super) fn new(tr: &[u8; 64], context: &[u8]) -> Result<Self, ContextTooLong> {
        check_context(context)?;
        let mut hasher = Shake256::new();
        hasher.update(tr).update(&[0, context.len() as u8]).update(context);
        Ok(Self(hasher))
    }

    /// Takes the next piece of the message; any pieces give the same μ as the whole.
    pub fn update(&mut self, data: &[u8]) -> &mut Self {
        self.0.update(data);
        self
    }

    /// μ of what was given, for [`Message::mu`]. The hasher must not be used again.
    #[must_use]
    pub fn finalize(&mut self) -> [u8; 64] {
        let mut mu = [0; 64];
        self.0.finalize_xof().squeeze(&mut mu);
        mu
    }
}

/// H of the parts, one after the other: SHAKE256 (FIPS 204, §3.7).
pub(super) fn h(parts: &[&[u8]], out: &mut [u8]) {
    let mut hasher = Shake256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize_xof().squeeze(out);
}
