//! Certificates, as they are made.

use std::time::{Duration, SystemTime};

use gambeson::RngError;
use spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{Builder, CertificateBuilder};
use x509_cert::certificate::TbsCertificate;
use x509_cert::ext::Extension;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::Validity;

use der::{Decode, Encode};

use crate::certificate::Certificate;
use crate::error::Error;
use crate::extensions::{self, KeyUsage, Purpose};
use crate::name::{AltName, Name};
use crate::private::PrivateKey;
use crate::public::PublicKey;
use crate::signed::{Signature, Signer, time};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a certificate will say, before it has a key and an issuer.
///
/// An authority is valid for ten years unless said otherwise, another subject for 90 days. Identifiers of keys, key usage, basic
/// constraints and a random serial number of 20 bytes are always written, as real verifiers demand.
///
/// ```
/// use gambeson_pki::{Algorithm, PrivateKey, Purpose, Template};
///
/// let root_key = PrivateKey::generate(Algorithm::MlDsa87Ed448)?;
/// let root = Template::authority("CN=Example Root".parse()?).path_length(0).self_signed(&root_key)?;
///
/// let key = PrivateKey::generate(Algorithm::MlDsa65)?;
/// let certificate = Template::new("CN=Example".parse()?)
///     .alt_name("example.com".parse()?)
///     .purpose(Purpose::ServerAuth)
///     .issue(&key.public_key(), &root, &root_key)?;
/// assert_eq!(certificate.issuer(), root.subject());
/// # Ok::<(), gambeson_pki::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    subject: Name,
    valid: Option<(SystemTime, SystemTime)>,
    alt_names: Vec<AltName>,
    purposes: Vec<Purpose>,
    key_usage: Option<Vec<KeyUsage>>,
    is_authority: bool,
    path_length: Option<u8>,
}

impl Template {
    /// For a server, a client, a person: anybody who signs no certificates.
    #[must_use]
    pub const fn new(subject: Name) -> Self {
        Self {
            subject,
            valid: None,
            alt_names: Vec::new(),
            purposes: Vec::new(),
            key_usage: None,
            is_authority: false,
            path_length: None,
        }
    }

    /// For an authority, which signs certificates and revocation lists.
    #[must_use]
    pub fn authority(subject: Name) -> Self {
        let mut template = Self::new(subject);
        template.is_authority = true;
        template
    }

    /// Sets how many authorities may stand between this one and the last certificate.
    #[must_use]
    pub const fn path_length(mut self, authorities: u8) -> Self {
        self.path_length = Some(authorities);
        self
    }

    /// Sets the time of validity, in whole seconds.
    #[must_use]
    pub const fn valid(mut self, not_before: SystemTime, not_after: SystemTime) -> Self {
        self.valid = Some((not_before, not_after));
        self
    }

    /// Adds a DNS name, an address, a URI.
    #[must_use]
    pub fn alt_name(mut self, name: AltName) -> Self {
        self.alt_names.push(name);
        self
    }

    /// Adds a purpose (extended key usage), once. That of time stamps stands alone, in a critical extension (RFC 3161, §2.3).
    #[must_use]
    pub fn purpose(mut self, purpose: Purpose) -> Self {
        if !self.purposes.contains(&purpose) {
            self.purposes.push(purpose);
        }
        self
    }

    /// Sets the key usage; else it is what the kind of subject and of key allow: `keyCertSign` and `cRLSign` of an authority,
    /// `digitalSignature` of another key that signs, `keyEncipherment` of one that receives secrets.
    #[must_use]
    pub fn key_usage(mut self, usage: &[KeyUsage]) -> Self {
        self.key_usage = Some(usage.to_vec());
        self
    }

    /// The subject.
    #[must_use]
    pub const fn subject(&self) -> &Name {
        &self.subject
    }

    /// Makes a certificate that its own key signs: a root, or a lone server.
    ///
    /// # Errors
    /// [`Error::NotASigningKey`], [`Error::KeyUsage`], [`Error::Purposes`], [`Error::AltName`], [`Error::Time`], [`Error::Random`].
    pub fn self_signed(&self, key: &PrivateKey) -> Result<Certificate, Error> {
        let public = key.public_key();
        let identifier = extensions::key_identifier(public.as_bytes());
        self.build(&public, &self.subject, &identifier, key)
    }

    /// Makes the certificate of `subject_key`, signed by an authority.
    ///
    /// # Errors
    /// The same; [`Error::KeyMismatch`] when `issuer_key` is not that of `issuer`, [`Error::NotAnAuthority`] and
    /// [`Error::PathLength`] when the issuer may not sign this.
    pub fn issue(
        &self,
        subject_key: &PublicKey,
        issuer: &Certificate,
        issuer_key: &PrivateKey,
    ) -> Result<Certificate, Error> {
        check_issuer(issuer, issuer_key, KeyUsage::KeyCertSign)?;
        if self.is_authority && issuer.path_length() == Some(0) {
            return Err(Error::PathLength);
        }
        let computed = extensions::key_identifier(issuer_key.public_key().as_bytes());
        let identifier = issuer.subject_key_identifier().unwrap_or(&computed);
        self.build(subject_key, &issuer.subject(), identifier, issuer_key)
    }

    fn build(
        &self,
        subject_key: &PublicKey,
        issuer: &Name,
        authority_key: &[u8],
        key: &PrivateKey,
    ) -> Result<Certificate, Error> {
        if !key.algorithm().signs() {
            return Err(Error::NotASigningKey);
        }
        let mut found = vec![
            extensions::subject_key(&extensions::key_identifier(subject_key.as_bytes()))?,
            extensions::authority_key(authority_key)?,
        ];
        found.append(&mut self.extensions(subject_key)?);
        let profile = Profile { subject: self.subject.clone(), issuer: issuer.clone(), extensions: found };
        let info =
            SubjectPublicKeyInfoOwned::from_der(&subject_key.to_spki_der()).expect("DER was just written");
        let builder = CertificateBuilder::new(profile, serial()?, self.validity()?, info);
        let built = builder.and_then(|builder| builder.build::<_, Signature>(&Signer(key)));
        // The builder has no word for it, and signing fails for no other reason.
        let built = built.map_err(|_| Error::Random(RngError))?;
        Certificate::from_der(&built.to_der().map_err(|_| Error::Der)?)
    }

    /// The other names.
    #[must_use]
    pub fn alt_names(&self) -> &[AltName] {
        &self.alt_names
    }

    /// The purposes.
    #[must_use]
    pub fn purposes(&self) -> &[Purpose] {
        &self.purposes
    }

    /// Returns true for an authority.
    #[must_use]
    pub const fn is_authority(&self) -> bool {
        self.is_authority
    }

    /// How many authorities may stand below this one; without a bound, none.
    #[must_use]
    pub const fn longest_path(&self) -> Option<u8> {
        self.path_length
    }

    /// The key usage of a certificate for this key: what was set, or what the kind of subject and of key allow.
    #[must_use]
    pub fn key_usage_for(&self, subject_key: &PublicKey) -> &[KeyUsage] {
        let usual: &[KeyUsage] = match (self.is_authority, subject_key.algorithm().signs()) {
            (true, _) => &[KeyUsage::KeyCertSign, KeyUsage::CrlSign],
            (false, true) => &[KeyUsage::DigitalSignature],
            (false, false) => &[KeyUsage::KeyEncipherment],
        };
        self.key_usage.as_deref().unwrap_or(usual)
    }

    /// What a certificate and a request say about the subject.
    pub(crate) fn extensions(&self, subject_key: &PublicKey) -> Result<Vec<Extension>, Error> {
        let signs = subject_key.algorithm().signs();
        let usage = self.key_usage_for(subject_key);
        if usage.is_empty() || !usage.iter().all(|usage| usage.fits(signs)) {
            return Err(Error::KeyUsage);
        }
        let mut found = vec![extensions::key_usage(usage)?];
        found.push(extensions::basic_constraints(
            self.is_authority,
            self.path_length.filter(|_| self.is_authority),
        )?);
        if !self.purposes.is_empty() {
            let stamps = !self.is_authority && self.purposes.contains(&Purpose::TimeStamping);
            if stamps && self.purposes.len() > 1 {
                return Err(Error::Purposes);
            }
            found.push(extensions::purposes(stamps, &self.purposes)?);
        }
        if !self.alt_names.is_empty() {
            found.push(extensions::alt_names(&self.alt_names, self.subject.is_empty())?);
        }
        Ok(found)
    }

    fn validity(&self) -> Result<Validity, Error> {
        let (from, to) = self.valid.unwrap_or_else(|| {
            let now = SystemTime::now();
            (now, now + if self.is_authority { 3653 * DAY } else { 90 * DAY })
        });
        if to <= from {
            return Err(Error::Time);
        }
        Ok(Validity::new(time(from)?, time(to)?))
    }
}

/// Whether the key is that of the certificate, and the certificate that of an authority for this.
pub(crate) fn check_issuer(issuer: &Certificate, key: &PrivateKey, usage: KeyUsage) -> Result<(), Error> {
    if issuer.public_key()? != key.public_key() {
        return Err(Error::KeyMismatch);
    }
    let may = issuer.key_usage().is_none_or(|allowed| allowed.contains(&usage));
    if issuer.is_authority() && may { Ok(()) } else { Err(Error::NotAnAuthority) }
}

/// 20 bytes, positive (RFC 5280, §4.1.2.2): 158 random bits.
fn serial() -> Result<SerialNumber, Error> {
    let mut bytes = [0; 20];
    getrandom::fill(&mut bytes).map_err(|_| RngError)?;
    bytes[0] = bytes[0] & 0x3f | 0x40;
    SerialNumber::new(&bytes).map_err(|_| Error::Der)
}

/// What the builder asks for.
struct Profile {
    subject: Name,
    issuer: Name,
    extensions: Vec<Extension>,
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, _: &x509_cert::name::Name) -> x509_cert::name::Name {
        self.issuer.0.clone()
    }

    fn get_subject(&self) -> x509_cert::name::Name {
        self.subject.0.clone()
    }

    fn build_extensions(
        &self,
        _: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        _: &TbsCertificate,
    ) -> x509_cert::builder::Result<Vec<Extension>> {
        Ok(self.extensions.clone())
    }
}
