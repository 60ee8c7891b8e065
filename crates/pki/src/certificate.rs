//! Certificates (RFC 5280), as they are read.

use std::fmt;
use std::time::SystemTime;

use der::Decode;
use der::referenced::OwnedToRef;

use crate::error::Error;
use crate::extensions::{Extensions, KeyUsage, Purpose};
use crate::name::{AltName, Name};
use crate::public::{PublicKey, text_of};
use crate::signed::{Signed, pem_blocks, without_zeros};

const LABEL: &str = "CERTIFICATE";

/// A certificate of any signature algorithm, over a key of any algorithm; only what is asked of it must be known here.
///
/// ```
/// use gambeson_pki::{Algorithm, Certificate, PrivateKey, Template};
///
/// let key = PrivateKey::generate(Algorithm::MlDsa65)?;
/// let root = Template::authority("CN=Example Root".parse()?).self_signed(&key)?;
///
/// let again = Certificate::read(root.to_pem().as_bytes())?;
/// assert_eq!(again.subject().to_string(), "CN=Example Root");
/// assert_eq!(again.public_key()?, key.public_key());
/// again.verify_signature(&key.public_key())?;
/// # Ok::<(), gambeson_pki::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    signed: Signed,
    inside: x509_cert::Certificate,
    extensions: Extensions,
}

impl Certificate {
    /// Reads the first certificate of PEM, or DER, whichever it is.
    ///
    /// # Errors
    /// [`Error::Pem`] where there is none, and those of [`from_der`](Self::from_der).
    pub fn read(file: &[u8]) -> Result<Self, Error> {
        Self::read_all(file)?.into_iter().next().ok_or(Error::Pem)
    }

    /// Reads all certificates of PEM in their order, passing over other blocks, or the one of DER.
    ///
    /// # Errors
    /// The same; a file without certificates is one.
    pub fn read_all(file: &[u8]) -> Result<Vec<Self>, Error> {
        let Some(text) = text_of(file)? else { return Ok(vec![Self::from_der(file)?]) };
        let blocks = pem_blocks(text, LABEL)?;
        if blocks.is_empty() {
            return Err(Error::Pem);
        }
        blocks.iter().map(|der| Self::from_der(der)).collect()
    }

    /// Reads DER. The signature is not verified: [`Verifier`](crate::Verifier) does that.
    ///
    /// # Errors
    /// [`Error::Der`], [`Error::TwoAlgorithms`], [`Error::Extension`], [`Error::DuplicateExtension`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let inside = x509_cert::Certificate::from_der(der).map_err(|_| Error::Der)?;
        if inside.signature_algorithm() != inside.tbs_certificate().signature() {
            return Err(Error::TwoAlgorithms);
        }
        let found = inside.tbs_certificate().extensions().map_or(&[][..], |extensions| extensions);
        let extensions = Extensions::read(found)?;
        Ok(Self { signed: Signed::new(der)?, inside, extensions })
    }

    /// The bytes.
    #[must_use]
    pub fn as_der(&self) -> &[u8] {
        self.signed.as_der()
    }

    /// The certificate as PEM.
    #[must_use]
    pub fn to_pem(&self) -> String {
        self.signed.to_pem(LABEL)
    }

    /// Whose certificate it is.
    #[must_use]
    pub fn subject(&self) -> Name {
        Name(self.inside.tbs_certificate().subject().clone())
    }

    /// Who signed it.
    #[must_use]
    pub fn issuer(&self) -> Name {
        Name(self.inside.tbs_certificate().issuer().clone())
    }

    /// The serial number, without zeros in front.
    #[must_use]
    pub fn serial(&self) -> &[u8] {
        without_zeros(self.inside.tbs_certificate().serial_number().as_bytes())
    }

    /// From when on it is valid.
    #[must_use]
    pub fn not_before(&self) -> SystemTime {
        self.inside.tbs_certificate().validity().not_before.to_system_time()
    }

    /// Until when, this second included.
    #[must_use]
    pub fn not_after(&self) -> SystemTime {
        self.inside.tbs_certificate().validity().not_after.to_system_time()
    }

    /// The key of the subject.
    ///
    /// # Errors
    /// Those of [`PublicKey::from_spki_der`], for keys that are not known here too.
    pub fn public_key(&self) -> Result<PublicKey, Error> {
        PublicKey::from_info(&self.inside.tbs_certificate().subject_public_key_info().owned_to_ref())
    }

    /// The object identifier of the signature's algorithm, in dots.
    #[must_use]
    pub fn signature_algorithm(&self) -> String {
        self.inside.signature_algorithm().oid.to_string()
    }

    /// Whether the subject may sign certificates (basic constraints).
    #[must_use]
    pub const fn is_authority(&self) -> bool {
        self.extensions.is_authority
    }

    /// How many authorities may stand between this one and the last certificate; `None` for any number.
    #[must_use]
    pub const fn path_length(&self) -> Option<u8> {
        self.extensions.path_length
    }

    /// What the key may be used for; `None` where nothing is said.
    #[must_use]
    pub fn key_usage(&self) -> Option<&[KeyUsage]> {
        self.extensions.key_usage.as_deref()
    }

    /// What the certificate is for; `None` where nothing is said.
    #[must_use]
    pub fn purposes(&self) -> Option<&[Purpose]> {
        self.extensions.purposes.as_deref()
    }

    /// The other names of the subject: DNS names, addresses, URIs.
    #[must_use]
    pub fn alt_names(&self) -> &[AltName] {
        &self.extensions.alt_names
    }

    /// The identifier of the subject's key.
    #[must_use]
    pub fn subject_key_identifier(&self) -> Option<&[u8]> {
        self.extensions.subject_key.as_deref()
    }

    /// The identifier of the issuer's key.
    #[must_use]
    pub fn authority_key_identifier(&self) -> Option<&[u8]> {
        self.extensions.authority_key.as_deref()
    }

    /// Verifies the signature alone, under the issuer's key: neither names, nor times, nor rights.
    ///
    /// # Errors
    /// [`Error::Signature`], [`Error::SignatureAlgorithm`], [`Error::NotASigningKey`], [`Error::Parameters`].
    pub fn verify_signature(&self, issuer: &PublicKey) -> Result<(), Error> {
        self.signed.verify(issuer, self.inside.signature_algorithm(), self.inside.signature())
    }

    pub(crate) const fn extensions(&self) -> &Extensions {
        &self.extensions
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({})", self.subject())
    }
}
