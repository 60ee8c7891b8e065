//! Requests for certificates: PKCS#10 (RFC 2986).

use std::fmt;

use der::asn1::{AnyRef, BitString, ObjectIdentifier, SetOfVec};
use der::oid::AssociatedOid;
use der::referenced::RefToOwned;
use der::{Decode, Encode, Reader, SliceReader, Tag, Tagged};
use spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};
use x509_cert::attr::Attribute;
use x509_cert::ext::Extension;
use x509_cert::request::{CertReq, CertReqInfo, ExtensionReq, Version};

use crate::error::Error;
use crate::extensions::{Extensions, KeyUsage, OtherExtension, Purpose};
use crate::fields::{Fields, malformed};
use crate::name::{AltName, Name};
use crate::pem::der_of;
use crate::private::PrivateKey;
use crate::public::PublicKey;
use crate::signed::Signed;
use crate::template::Template;

const LABEL: &str = "CERTIFICATE REQUEST";
/// What others call it (RFC 7468, §7).
const LABELS: [&str; 2] = [LABEL, "NEW CERTIFICATE REQUEST"];
const OBJECT: &str = "certificate request";
const VERSION: &str = "version";
const ATTRIBUTES: &str = "set of attributes";
/// The attribute of old programs of Microsoft for what `extensionRequest` (RFC 2985) is for.
const CERT_EXTENSIONS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.2.1.14");

/// A request for a certificate, whose key has signed it: it is verified when it is read.
///
/// ```
/// use gambeson_pki::{Algorithm, PrivateKey, Request, Template};
///
/// let key = PrivateKey::generate(Algorithm::MlDsa44)?;
/// let template = Template::new("CN=Example".parse()?).alt_name("example.com".parse()?);
/// let request = Request::new(&template, &key)?;
///
/// // At the authority, which takes over the names that it has checked.
/// let request = Request::read(request.to_pem().as_bytes())?;
/// assert_eq!(request.alt_names(), ["example.com".parse()?]);
/// let root_key = PrivateKey::generate(Algorithm::MlDsa87)?;
/// let root = Template::authority("CN=Example Root".parse()?).self_signed(&root_key)?;
/// request.to_template().issue(request.public_key(), &root, &root_key)?;
/// # Ok::<(), gambeson_pki::Error>(())
/// ```
#[derive(PartialEq, Eq)]
pub struct Request {
    signed: Signed,
    subject: Name,
    key: PublicKey,
    extensions: Extensions,
}

impl Request {
    /// Makes a request that says what `template` says, but for its time.
    ///
    /// # Errors
    /// [`Error::NotASigningKey`]: a key that only receives secrets cannot sign its request (RFC 2986 has no other way);
    /// [`Error::KeyUsage`], [`Error::Purposes`], [`Error::AltName`], [`Error::Random`].
    pub fn new(template: &Template, key: &PrivateKey) -> Result<Self, Error> {
        if !key.algorithm().signs() {
            return Err(Error::NotASigningKey);
        }
        let public = key.public_key();
        let extensions = ExtensionReq(template.extensions(&public)?);
        let attribute = Attribute::try_from(extensions).map_err(|_| Error::Der)?;
        let info = CertReqInfo {
            version: Version::V1,
            subject: template.subject().0.clone(),
            public_key: SubjectPublicKeyInfoOwned::from_der(&public.to_spki_der())
                .expect("DER was just written"),
            attributes: SetOfVec::try_from(vec![attribute]).map_err(|_| Error::Der)?,
        };
        let signature = key.sign(&info.to_der().map_err(|_| Error::Der)?)?;
        let request = CertReq {
            info,
            algorithm: key.algorithm().signature_identifier().ref_to_owned(),
            signature: BitString::from_bytes(&signature).map_err(|_| Error::Der)?,
        };
        Self::from_der(&request.to_der().map_err(|_| Error::Der)?)
    }

    /// Reads PEM or DER, whichever it is.
    ///
    /// # Errors
    /// [`Error::Pem`], [`Error::Label`], [`Error::Several`], and those of [`from_der`](Self::from_der).
    pub fn read(file: &[u8]) -> Result<Self, Error> {
        Self::from_der(&der_of(file, &LABELS, "certificate requests")?)
    }

    /// Reads DER, and verifies that the key in it has signed it.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::AnotherFile`], [`Error::Extension`], [`Error::DuplicateExtension`], [`Error::Signature`],
    /// [`Error::SignatureAlgorithm`], and those of [`PublicKey::from_spki_der`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let signed = Signed::read(OBJECT, der)?;
        let mut fields = Fields::of_file(OBJECT, signed.body())?;
        if fields.read_whole(VERSION)? != [2, 1, 0] {
            return Err(malformed(OBJECT, VERSION));
        }
        let subject = fields.read_name("subject")?;
        if !subject.is_text() {
            return Err(malformed(OBJECT, "subject"));
        }
        let info: SubjectPublicKeyInfoRef<'_> = fields.read("key")?;
        let key = PublicKey::from_info(&info)?;
        signed.verify(&key)?;
        // Some programs leave the empty set out.
        let attributes = fields.read_within(0, ATTRIBUTES)?.unwrap_or_default();
        fields.end()?;
        let extensions = Extensions::read(&extensions_of(attributes)?)?;
        Ok(Self { signed, subject, key, extensions })
    }

    /// The bytes.
    #[must_use]
    pub fn as_der(&self) -> &[u8] {
        self.signed.as_der()
    }

    /// The request as PEM.
    #[must_use]
    pub fn to_pem(&self) -> String {
        self.signed.to_pem(LABEL)
    }

    /// Who asks.
    #[must_use]
    pub fn subject(&self) -> Name {
        self.subject.clone()
    }

    /// The key that asks.
    #[must_use]
    pub const fn public_key(&self) -> &PublicKey {
        &self.key
    }

    /// The other names that are asked for.
    #[must_use]
    pub fn alt_names(&self) -> &[AltName] {
        &self.extensions.alt_names
    }

    /// The purposes that are asked for.
    #[must_use]
    pub fn purposes(&self) -> &[Purpose] {
        self.extensions.purposes.as_deref().unwrap_or(&[])
    }

    /// The key usage that is asked for.
    #[must_use]
    pub fn key_usage(&self) -> Option<&[KeyUsage]> {
        self.extensions.key_usage.as_deref()
    }

    /// The names that are asked for in forms that are not read, as text, like those of
    /// [`Certificate::other_names`](crate::Certificate::other_names). No template takes them over.
    #[must_use]
    pub fn other_names(&self) -> Vec<String> {
        self.extensions.other_names()
    }

    /// The extensions that are asked for and not read, but for their names. No template takes them over.
    #[must_use]
    pub fn other_extensions(&self) -> &[OtherExtension] {
        &self.extensions.others
    }

    /// Whether an authority asks to be one.
    #[must_use]
    pub const fn asks_for_authority(&self) -> bool {
        self.extensions.is_authority
    }

    /// How many authorities are to stand below the one that asks to be one, if it says so.
    #[must_use]
    pub const fn path_length(&self) -> Option<u8> {
        self.extensions.path_length
    }

    /// A template with the subject, the names and the purposes that are asked for. It is never one of an authority: whoever signs
    /// decides that, with [`Template::authority`].
    #[must_use]
    pub fn to_template(&self) -> Template {
        let template = Template::new(self.subject());
        let template = self.alt_names().iter().cloned().fold(template, Template::alt_name);
        self.purposes().iter().cloned().fold(template, Template::purpose)
    }
}

/// The extensions that a set of attributes asks for; the order of its elements means nothing.
fn extensions_of(attributes: &[u8]) -> Result<Vec<Extension>, Error> {
    let wrong = || malformed(OBJECT, ATTRIBUTES);
    let mut asked = Vec::new();
    let mut reader = SliceReader::new(attributes).map_err(|_| wrong())?;
    while !reader.is_finished() {
        let attribute: AnyRef<'_> = reader.decode().map_err(|_| wrong())?;
        let mut inside = SliceReader::new(attribute.value()).map_err(|_| wrong())?;
        let oid: ObjectIdentifier = inside.decode().map_err(|_| wrong())?;
        let values: AnyRef<'_> = inside.decode().map_err(|_| wrong())?;
        if attribute.tag() != Tag::Sequence || values.tag() != Tag::Set || !inside.is_finished() {
            return Err(wrong());
        }
        if ![ExtensionReq::OID, CERT_EXTENSIONS].contains(&oid) {
            continue;
        }
        let mut values = SliceReader::new(values.value()).map_err(|_| wrong())?;
        while !values.is_finished() {
            let found: Vec<Extension> =
                values.decode().map_err(|_| Error::Extension { oid: oid.to_string() })?;
            asked.extend(found);
        }
    }
    Ok(asked)
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({})", self.subject())
    }
}
