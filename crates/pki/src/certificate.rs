//! Certificates (RFC 5280), as they are read.

use std::fmt;
use std::time::SystemTime;

use der::Encode;
use der::referenced::OwnedToRef;
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};

use crate::error::Error;
use crate::extensions::{Extensions, KeyUsage, OtherExtension, Purpose};
use crate::fields::{Fields, malformed};
use crate::name::{AltName, Name};
use crate::pem::{PemBlock, is_der};
use crate::public::PublicKey;
use crate::signed::Signed;

const LABEL: &str = "CERTIFICATE";
/// What others call it (RFC 7468, §5.1).
const LABELS: [&str; 3] = [LABEL, "X509 CERTIFICATE", "X.509 CERTIFICATE"];
const OBJECT: &str = "certificate";
const VERSION: &str = "version";

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
    serial: Vec<u8>,
    issuer: Name,
    validity: (SystemTime, SystemTime),
    subject: Name,
    key: SubjectPublicKeyInfoOwned,
    extensions: Extensions,
}

impl Certificate {
    /// Reads the first certificate of PEM, or DER, whichever it is.
    ///
    /// # Errors
    /// [`Error::Pem`] or [`Error::Label`] where there is none, and those of [`from_der`](Self::from_der).
    pub fn read(file: &[u8]) -> Result<Self, Error> {
        Self::read_all(file)?.into_iter().next().ok_or(Error::Pem)
    }

    /// Reads all certificates of PEM in their order, passing over other blocks, or the one of DER.
    ///
    /// # Errors
    /// The same; [`Error::Numbered`] for a certificate of PEM that cannot be read.
    pub fn read_all(file: &[u8]) -> Result<Vec<Self>, Error> {
        if is_der(file) {
            return Ok(vec![Self::from_der(file)?]);
        }
        let blocks = PemBlock::read_all(file, &LABELS)?;
        let read = |(index, block): (usize, &PemBlock)| {
            let numbered =
                |error| Error::Numbered { object: OBJECT, number: index + 1, error: Box::new(error) };
            Self::from_der(block.as_der()).map_err(numbered)
        };
        blocks.iter().enumerate().map(read).collect()
    }

    /// Reads DER. The signature is not verified: [`Verifier`](crate::Verifier) does that.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::AnotherFile`], [`Error::TwoAlgorithms`], [`Error::Extension`], [`Error::DuplicateExtension`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let signed = Signed::read(OBJECT, der)?;
        let mut fields = Fields::of_file(OBJECT, signed.body())?;
        // RFC 5280, §4.1.2.1: versions 1 to 3, and what is not written is 1.
        if fields.read_within(0, VERSION)?.is_some_and(|version| !matches!(version, [2, 1, 0..=2])) {
            return Err(malformed(OBJECT, VERSION));
        }
        let serial = fields.read_serial()?;
        if fields.read::<AlgorithmIdentifierOwned>("signature algorithm")? != *signed.algorithm() {
            return Err(Error::TwoAlgorithms);
        }
        let issuer = fields.read_name("issuer")?;
        let mut times = fields.read_fields("validity")?;
        let validity = (times.read_time("notBefore")?, times.read_time("notAfter")?);
        times.end()?;
        let subject = fields.read_name("subject")?;
        let key = fields.read("key")?;
        fields.skip(1, "issuerUniqueID")?;
        fields.skip(2, "subjectUniqueID")?;
        let extensions = Extensions::read(&fields.read_extensions(3)?)?;
        fields.end()?;
        Ok(Self { signed, serial, issuer, validity, subject, key, extensions })
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
        self.subject.clone()
    }

    /// Who signed it.
    #[must_use]
    pub fn issuer(&self) -> Name {
        self.issuer.clone()
    }

    /// The serial number, without zeros in front.
    #[must_use]
    pub fn serial(&self) -> &[u8] {
        &self.serial
    }

    /// From when on it is valid.
    #[must_use]
    pub fn not_before(&self) -> SystemTime {
        self.validity.0
    }

    /// Until when, this second included.
    #[must_use]
    pub fn not_after(&self) -> SystemTime {
        self.validity.1
    }

    /// The key of the subject.
    ///
    /// # Errors
    /// Those of [`PublicKey::from_spki_der`], for keys that are not known here too.
    pub fn public_key(&self) -> Result<PublicKey, Error> {
        PublicKey::from_info(&self.key.owned_to_ref())
    }

    /// The object identifier of the signature's algorithm, in dots.
    #[must_use]
    pub fn signature_algorithm(&self) -> String {
        self.signed.algorithm().oid.to_string()
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

    /// The names of the subject in forms that are not read, as text: `SRV:_xmpp.example.com`, `UPN:alice@example.com`, `registeredID:1.2.3`,
    /// `directoryName:CN=Example`.
    #[must_use]
    pub fn other_names(&self) -> Vec<String> {
        self.extensions.other_names()
    }

    /// The extensions that are not read, but for their names.
    #[must_use]
    pub fn other_extensions(&self) -> &[OtherExtension] {
        &self.extensions.others
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
        self.signed.verify(issuer)
    }

    pub(crate) const fn signed(&self) -> &Signed {
        &self.signed
    }

    pub(crate) const fn subject_ref(&self) -> &Name {
        &self.subject
    }

    pub(crate) fn spki_der(&self) -> Vec<u8> {
        self.key.to_der().expect("it was read from DER")
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
