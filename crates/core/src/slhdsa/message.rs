//! FIPS 205, §10.2: messages, and M′.

use crate::prehash::{ContextTooLong, DigestRef, MPrime};

/// The content of a signature: a message with a context, or a digest with a context.
///
/// A byte string converts to the usual form, the message itself with an empty context, so most callers never name
/// this type.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a>(Form<'a>);

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    External(MPrime<'a>),
    Internal(&'a [u8]),
}

impl<'a> Message<'a> {
    /// The message itself, in a context of at most 255 bytes: SLH-DSA (FIPS 205, Algorithm 22 (slh_sign)).
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn pure(message: &'a [u8], context: &'a [u8]) -> Result<Self, ContextTooLong> {
        Ok(Self(Form::External(MPrime::pure(message, context)?)))
    }

    /// A digest of the message, in a context of at most 255 bytes: HashSLH-DSA (FIPS 205, Algorithm 23 (hash_slh_sign)). Its signatures
    /// are not those of the message itself.
    ///
    /// # Errors
    ///
    /// [`ContextTooLong`] if the context has more than 255 bytes.
    pub fn prehashed(digest: impl Into<DigestRef<'a>>, context: &'a [u8]) -> Result<Self, ContextTooLong> {
        Ok(Self(Form::External(MPrime::prehashed(digest.into(), context)?)))
    }

    /// M′ of the internal interface, as it is, without domain byte or context. For testing only
    /// (FIPS 205, §9): its signatures can collide with those of another message in another context.
    #[must_use]
    pub const fn internal(m_prime: &'a [u8]) -> Self {
        Self(Form::Internal(m_prime))
    }

    /// Calls `take` with the pieces of M′.
    pub(super) fn pieces(&self, take: impl FnOnce(&[&[u8]])) {
        match self.0 {
            Form::External(m_prime) => m_prime.pieces(&[], take),
            Form::Internal(m_prime) => take(&[m_prime]),
        }
    }
}

impl<'a> From<&'a [u8]> for Message<'a> {
    fn from(message: &'a [u8]) -> Self {
        Self(Form::External(MPrime::of(message)))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Message<'a> {
    fn from(message: &'a [u8; N]) -> Self {
        Self::from(message.as_slice())
    }
}
