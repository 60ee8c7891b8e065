//! Lists of revoked certificates: CRLs (RFC 5280, §5).

use std::fmt;
use std::time::SystemTime;

use der::asn1::{BitString, ObjectIdentifier, Uint};
use der::oid::AssociatedOid;
use der::referenced::RefToOwned;
use der::{Decode, Encode, Tag};
use spki::AlgorithmIdentifierOwned;
use x509_cert::certificate::Version;
use x509_cert::crl::{CertificateList, RevokedCert, TbsCertList};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, CrlNumber, CrlReason};
use x509_cert::serial_number::SerialNumber;

use crate::certificate::Certificate;
use crate::error::Error;
use crate::extensions::{self, KeyUsage};
use crate::fields::{Fields, malformed};
use crate::name::Name;
use crate::pem::{PemBlock, der_of, is_der};
use crate::private::PrivateKey;
use crate::public::PublicKey;
use crate::signed::{Signed, time, without_zeros};
use crate::template::check_issuer;

const LABEL: &str = "X509 CRL";
/// What others call it (RFC 7468, §6).
const LABELS: [&str; 2] = [LABEL, "CRL"];
const OBJECT: &str = "revocation list";
const VERSION: &str = "version";
const ENTRIES: &str = "list of revoked certificates";

/// Why a certificate was revoked (RFC 5280, §5.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Not said
    #[default]
    Unspecified,
    /// The key is in the hands of others
    KeyCompromise,
    /// The authority's key is
    CaCompromise,
    /// The subject is another one now
    AffiliationChanged,
    /// There is a newer certificate
    Superseded,
    /// It is not needed any more
    CessationOfOperation,
    /// For now
    CertificateHold,
    /// The hold is over (lists of changes alone)
    RemoveFromCrl,
    /// The subject may not do this any more
    PrivilegeWithdrawn,
    /// The attribute authority's key is in the hands of others
    AaCompromise,
}

/// `deltaCRLIndicator` and `issuingDistributionPoint` (RFC 5280, §5.2.4, §5.2.5)
const DELTA: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.27");
const PARTITION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.28");

const REASONS: [(Reason, CrlReason, &str); 10] = [
    (Reason::Unspecified, CrlReason::Unspecified, "unspecified"),
    (Reason::KeyCompromise, CrlReason::KeyCompromise, "keyCompromise"),
    (Reason::CaCompromise, CrlReason::CaCompromise, "cACompromise"),
    (Reason::AffiliationChanged, CrlReason::AffiliationChanged, "affiliationChanged"),
    (Reason::Superseded, CrlReason::Superseded, "superseded"),
    (Reason::CessationOfOperation, CrlReason::CessationOfOperation, "cessationOfOperation"),
    (Reason::CertificateHold, CrlReason::CertificateHold, "certificateHold"),
    (Reason::RemoveFromCrl, CrlReason::RemoveFromCRL, "removeFromCRL"),
    (Reason::PrivilegeWithdrawn, CrlReason::PrivilegeWithdrawn, "privilegeWithdrawn"),
    (Reason::AaCompromise, CrlReason::AaCompromise, "aACompromise"),
];

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(REASONS[*self as usize].2)
    }
}

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revoked {
    /// The serial number of the certificate, without zeros in front when it was read.
    pub serial: Vec<u8>,
    /// When it was revoked.
    pub at: SystemTime,
    /// Why.
    pub reason: Reason,
}

/// A list of revoked certificates, signed by their issuer.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use gambeson_pki::{Algorithm, PrivateKey, Reason, RevocationList, Revoked, Template};
///
/// let key = PrivateKey::generate(Algorithm::MlDsa65)?;
/// let root = Template::authority("CN=Example Root".parse()?).self_signed(&key)?;
/// let other = PrivateKey::generate(Algorithm::MlDsa44)?.public_key();
/// let certificate = Template::new("CN=Lost".parse()?).issue(&other, &root, &key)?;
///
/// let now = SystemTime::now();
/// let lost = Revoked { serial: certificate.serial().to_vec(), at: now, reason: Reason::KeyCompromise };
/// let list = RevocationList::new(&root, &key, 1, (now, now + Duration::from_secs(7 * 86_400)), &[lost])?;
/// assert_eq!(list.find(certificate.serial()).map(|entry| entry.reason), Some(Reason::KeyCompromise));
/// # Ok::<(), gambeson_pki::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RevocationList {
    signed: Signed,
    issuer: Name,
    this_update: SystemTime,
    next_update: Option<SystemTime>,
    number: Option<Vec<u8>>,
    revoked: Vec<Revoked>,
    /// A critical extension of the list or of an entry that is not known here.
    unknown_critical: Option<String>,
}

impl RevocationList {
    /// Makes a list: its number (each newer one has a greater number), when it was made and when there will be a newer one, and
    /// what is revoked.
    ///
    /// # Errors
    /// [`Error::KeyMismatch`], [`Error::NotAnAuthority`]; [`Error::Time`]; [`Error::Der`] for a serial number that is empty or has
    /// more than 20 bytes; [`Error::Random`].
    pub fn new(
        issuer: &Certificate,
        key: &PrivateKey,
        number: u64,
        (made, next): (SystemTime, SystemTime),
        revoked: &[Revoked],
    ) -> Result<Self, Error> {
        check_issuer(issuer, key, KeyUsage::CrlSign)?;
        if next <= made {
            return Err(Error::Time);
        }
        let computed = extensions::key_identifier(key.public_key().as_bytes());
        let number = Uint::try_from(number).map_err(|_| Error::Der)?;
        let entries = revoked.iter().map(Revoked::to_entry).collect::<Result<Vec<_>, _>>()?;
        let algorithm = key.algorithm().signature_identifier().ref_to_owned();
        let body = TbsCertList {
            version: Version::V2,
            signature: algorithm.clone(),
            issuer: issuer.subject().0,
            this_update: time(made)?,
            next_update: Some(time(next)?),
            revoked_certificates: (!entries.is_empty()).then_some(entries),
            crl_extensions: Some(vec![
                extensions::authority_key(issuer.subject_key_identifier().unwrap_or(&computed))?,
                extensions::extension(false, &CrlNumber(number))?,
            ]),
        };
        let signature = key.sign(&body.to_der().map_err(|_| Error::Der)?)?;
        let list = CertificateList {
            tbs_cert_list: body,
            signature_algorithm: algorithm,
            signature: BitString::from_bytes(&signature).map_err(|_| Error::Der)?,
        };
        Self::from_der(&list.to_der().map_err(|_| Error::Der)?)
    }

    /// Reads PEM or DER, whichever it is.
    ///
    /// # Errors
    /// [`Error::Pem`], [`Error::Label`], [`Error::Several`], and those of [`from_der`](Self::from_der).
    pub fn read(file: &[u8]) -> Result<Self, Error> {
        Self::from_der(&der_of(file, &LABELS, "revocation lists")?)
    }

    /// Reads all lists of PEM in their order, passing over other blocks, or the one of DER.
    ///
    /// # Errors
    /// [`Error::Pem`], [`Error::Label`], and those of [`from_der`](Self::from_der).
    pub fn read_all(file: &[u8]) -> Result<Vec<Self>, Error> {
        if is_der(file) {
            return Ok(vec![Self::from_der(file)?]);
        }
        PemBlock::read_all(file, &LABELS)?.iter().map(|block| Self::from_der(block.as_der())).collect()
    }

    /// Reads DER. The signature is not verified: [`Verifier`](crate::Verifier) does that.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::AnotherFile`], [`Error::TwoAlgorithms`], [`Error::Extension`].
    pub fn from_der(der: &[u8]) -> Result<Self, Error> {
        let signed = Signed::read(OBJECT, der)?;
        let mut fields = Fields::of_file(OBJECT, signed.body())?;
        // RFC 5280, §5.1.2.1: it is there if the list has extensions, and is 2 then.
        if fields.tag() == Some(Tag::Integer) && fields.read_whole(VERSION)? != [2, 1, 1] {
            return Err(malformed(OBJECT, VERSION));
        }
        if fields.read::<AlgorithmIdentifierOwned>("signature algorithm")? != *signed.algorithm() {
            return Err(Error::TwoAlgorithms);
        }
        let issuer = fields.read_name("issuer")?;
        let this_update = fields.read_time("thisUpdate")?;
        let next_update = if fields.is_time() { Some(fields.read_time("nextUpdate")?) } else { None };
        let (mut number, mut unknown_critical, mut revoked) = (None, None, Vec::new());
        if fields.tag() == Some(Tag::Sequence) {
            let mut entries = fields.read_fields(ENTRIES)?;
            while entries.left() > 0 {
                revoked.push(Revoked::read(entries.read_fields(ENTRIES)?, &mut unknown_critical)?);
            }
        }
        for extension in fields.read_extensions(0)? {
            match extension.extn_id {
                CrlNumber::OID => number = Some(read::<CrlNumber>(&extension)?.0.as_bytes().to_vec()),
                AuthorityKeyIdentifier::OID => {}
                // A list of changes, or of some certificates or reasons: it is no less so where it does not say that this is critical.
                oid @ (DELTA | PARTITION) => unknown_critical = Some(oid.to_string()),
                oid if extension.critical => unknown_critical = Some(oid.to_string()),
                _ => {}
            }
        }
        fields.end()?;
        Ok(Self { signed, issuer, this_update, next_update, number, revoked, unknown_critical })
    }

    /// The bytes.
    #[must_use]
    pub fn as_der(&self) -> &[u8] {
        self.signed.as_der()
    }

    /// The list as PEM.
    #[must_use]
    pub fn to_pem(&self) -> String {
        self.signed.to_pem(LABEL)
    }

    /// Who signed it.
    #[must_use]
    pub fn issuer(&self) -> Name {
        self.issuer.clone()
    }

    /// Its number, big-endian, if it has one.
    #[must_use]
    pub fn number(&self) -> Option<&[u8]> {
        self.number.as_deref()
    }

    /// When it was made.
    #[must_use]
    pub const fn this_update(&self) -> SystemTime {
        self.this_update
    }

    /// By when there will be a newer one.
    #[must_use]
    pub const fn next_update(&self) -> Option<SystemTime> {
        self.next_update
    }

    /// What is revoked.
    #[must_use]
    pub fn revoked(&self) -> &[Revoked] {
        &self.revoked
    }

    /// The entry of a serial number; zeros in front of it make no other.
    #[must_use]
    pub fn find(&self, serial: &[u8]) -> Option<&Revoked> {
        let serial = without_zeros(serial);
        self.revoked.iter().find(|entry| entry.serial == serial)
    }

    /// Verifies the signature alone, under the issuer's key.
    ///
    /// # Errors
    /// [`Error::Signature`], [`Error::SignatureAlgorithm`], [`Error::NotASigningKey`], [`Error::Parameters`].
    pub fn verify_signature(&self, issuer: &PublicKey) -> Result<(), Error> {
        self.signed.verify(issuer)
    }

    pub(crate) const fn signed(&self) -> &Signed {
        &self.signed
    }

    pub(crate) fn unknown_critical(&self) -> Option<&str> {
        self.unknown_critical.as_deref()
    }
}

impl Revoked {
    /// Reads an entry, and notes a critical extension that is not known.
    fn read(mut fields: Fields<'_>, unknown_critical: &mut Option<String>) -> Result<Self, Error> {
        let serial = fields.read_serial()?;
        let at = fields.read_time("time of revocation")?;
        let mut reason = Reason::Unspecified;
        if fields.left() > 0 {
            for extension in fields.read::<Vec<Extension>>("list of an entry's extensions")? {
                match extension.extn_id {
                    CrlReason::OID => {
                        let found: CrlReason = read(&extension)?;
                        let known = REASONS.into_iter().find(|(_, code, _)| *code == found);
                        reason = known.map_or(Reason::Unspecified, |(reason, _, _)| reason);
                    }
                    oid if extension.critical => *unknown_critical = Some(oid.to_string()),
                    _ => {}
                }
            }
        }
        fields.end()?;
        Ok(Self { serial, at, reason })
    }

    fn to_entry(&self) -> Result<RevokedCert, Error> {
        let reason = REASONS[self.reason as usize].1;
        // RFC 5280, §5.3.1: "unspecified" is said by saying nothing.
        let extensions = match self.reason {
            Reason::Unspecified => None,
            _ => Some(vec![extensions::extension(false, &reason)?]),
        };
        Ok(RevokedCert {
            serial_number: SerialNumber::new(&self.serial).map_err(|_| Error::Der)?,
            revocation_date: time(self.at)?,
            crl_entry_extensions: extensions,
        })
    }
}

fn read<'a, T: Decode<'a>>(extension: &'a Extension) -> Result<T, Error> {
    T::from_der(extension.extn_value.as_bytes())
        .map_err(|_| Error::Extension { oid: extension.extn_id.to_string() })
}

impl fmt::Debug for RevocationList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RevocationList({}, {} revoked)", self.issuer(), self.revoked.len())
    }
}
