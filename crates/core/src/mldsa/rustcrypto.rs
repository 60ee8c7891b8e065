//! The traits of the crate `signature`, for generic code of the RustCrypto family.
//!
//! They sign the message itself with an empty context. `Signer` and `MultipartSigner` are hedged with the operating
//! system's randomness (feature `getrandom`), the `Randomized` ones with the caller's.

use core::fmt;

use signature::{
    Error, Keypair, MultipartVerifier, RandomizedMultipartSigner, RandomizedSigner, SignatureEncoding,
    Verifier, rand_core::TryCryptoRng,
};
#[cfg(feature = "getrandom")]
use signature::{MultipartSigner, Signer};

use super::message::{Message, MuHasher};
use super::{ParameterSet, SigningKey, VerifyingKey};

/// A signature as a type of its own, as the traits of the crate `signature` want it.
///
/// ```
/// use gambeson::mldsa::{MlDsa65, Signature, SigningKey};
/// use signature::{Keypair, Signer, Verifier};
///
/// fn round_trip<K: Signer<S> + Keypair<VerifyingKey: Verifier<S>>, S>(key: &K) -> Result<(), signature::Error> {
///     let signature = key.try_sign(b"message")?;
///     key.verifying_key().verify(b"message", &signature)
/// }
///
/// let key = SigningKey::<MlDsa65>::generate()?;
/// round_trip::<_, Signature<MlDsa65>>(&key)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature<P: ParameterSet>(P::Signature);

impl<P: ParameterSet> Signature<P> {
    /// The signature with these bytes; whether they are one, verification tells.
    #[must_use]
    pub fn from_bytes(bytes: &P::Signature) -> Self {
        Self(*bytes)
    }

    /// Its bytes (FIPS 204, Algorithm 26 (sigEncode)).
    #[must_use]
    pub fn as_bytes(&self) -> &P::Signature {
        &self.0
    }
}

impl<P: ParameterSet> AsRef<[u8]> for Signature<P> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl<P: ParameterSet> TryFrom<&[u8]> for Signature<P> {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self).map_err(|_| Error::new())
    }
}

impl<P: ParameterSet> SignatureEncoding for Signature<P> {
    type Repr = Self;
}

impl<P: ParameterSet> fmt::Debug for Signature<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature<{}>({:02x?}..)", P::NAME, &self.as_ref()[..8])
    }
}

/// μ of a message in parts, with an empty context.
fn mu(hasher: Result<MuHasher, super::ContextTooLong>, parts: &[&[u8]]) -> [u8; 64] {
    let mut hasher = hasher.expect("an empty context is short enough");
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

impl<P: ParameterSet> Keypair for SigningKey<P> {
    type VerifyingKey = VerifyingKey<P>;

    fn verifying_key(&self) -> VerifyingKey<P> {
        self.verifying_key()
    }
}

#[cfg(feature = "getrandom")]
impl<P: ParameterSet> Signer<Signature<P>> for SigningKey<P> {
    fn try_sign(&self, message: &[u8]) -> Result<Signature<P>, Error> {
        self.sign(message).map(Signature).map_err(Error::from_source)
    }
}

#[cfg(feature = "getrandom")]
impl<P: ParameterSet> MultipartSigner<Signature<P>> for SigningKey<P> {
    fn try_multipart_sign(&self, parts: &[&[u8]]) -> Result<Signature<P>, Error> {
        let mu = mu(self.mu_hasher(&[]), parts);
        self.sign(Message::mu(&mu)).map(Signature).map_err(Error::from_source)
    }
}

impl<P: ParameterSet> RandomizedSigner<Signature<P>> for SigningKey<P> {
    fn try_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: &[u8],
    ) -> Result<Signature<P>, Error> {
        self.sign_with(rng, message).map(Signature).map_err(|_| Error::from_source(crate::RngError))
    }
}

impl<P: ParameterSet> RandomizedMultipartSigner<Signature<P>> for SigningKey<P> {
    fn try_multipart_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        parts: &[&[u8]],
    ) -> Result<Signature<P>, Error> {
        let mu = mu(self.mu_hasher(&[]), parts);
        self.sign_with(rng, Message::mu(&mu)).map(Signature).map_err(|_| Error::from_source(crate::RngError))
    }
}

impl<P: ParameterSet> Verifier<Signature<P>> for VerifyingKey<P> {
    fn verify(&self, message: &[u8], signature: &Signature<P>) -> Result<(), Error> {
        self.verify(message, signature.as_ref()).map_err(Error::from_source)
    }
}

impl<P: ParameterSet> MultipartVerifier<Signature<P>> for VerifyingKey<P> {
    fn multipart_verify(&self, parts: &[&[u8]], signature: &Signature<P>) -> Result<(), Error> {
        let mu = mu(self.mu_hasher(&[]), parts);
        self.verify(Message::mu(&mu), signature.as_ref()).map_err(Error::from_source)
    }
}
