//! Extensions: what they say, read once, and how they are written (RFC 5280, §4.2).

use std::collections::BTreeSet;
use std::fmt;

use der::asn1::{AnyRef, ObjectIdentifier, OctetString, UintRef};
use der::flagset::FlagSet;
use der::oid::AssociatedOid;
use der::{Decode, Encode, Reader, SliceReader};
use sha2::{Digest, Sha256};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{
    self, AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsages, SubjectAltName,
    SubjectKeyIdentifier,
};

use crate::constraints::NameConstraints;
use crate::error::Error;
use crate::general_name::GeneralName;
use crate::name::AltName;

/// What a key may be used for (RFC 5280, §4.2.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyUsage {
    /// Signatures that are neither on certificates nor on revocation lists, such as those of TLS
    DigitalSignature,
    /// Signatures that bind who made them
    NonRepudiation,
    /// Transport of keys, such as by ML-KEM
    KeyEncipherment,
    /// Encryption of data itself
    DataEncipherment,
    /// Agreement on keys
    KeyAgreement,
    /// Signatures on certificates
    KeyCertSign,
    /// Signatures on revocation lists
    CrlSign,
    /// With `KeyAgreement`: encryption alone
    EncipherOnly,
    /// With `KeyAgreement`: decryption alone
    DecipherOnly,
}

const KEY_USAGES: [(KeyUsage, KeyUsages, &str); 9] = [
    (KeyUsage::DigitalSignature, KeyUsages::DigitalSignature, "digitalSignature"),
    (KeyUsage::NonRepudiation, KeyUsages::NonRepudiation, "nonRepudiation"),
    (KeyUsage::KeyEncipherment, KeyUsages::KeyEncipherment, "keyEncipherment"),
    (KeyUsage::DataEncipherment, KeyUsages::DataEncipherment, "dataEncipherment"),
    (KeyUsage::KeyAgreement, KeyUsages::KeyAgreement, "keyAgreement"),
    (KeyUsage::KeyCertSign, KeyUsages::KeyCertSign, "keyCertSign"),
    (KeyUsage::CrlSign, KeyUsages::CRLSign, "cRLSign"),
    (KeyUsage::EncipherOnly, KeyUsages::EncipherOnly, "encipherOnly"),
    (KeyUsage::DecipherOnly, KeyUsages::DecipherOnly, "decipherOnly"),
];

impl KeyUsage {
    /// Whether a key of that kind can do this (RFC 9881, §5 and RFC 9935, §5; the composite drafts say the same).
    pub(crate) fn fits(self, signs: bool) -> bool {
        match self {
            Self::DigitalSignature | Self::NonRepudiation | Self::KeyCertSign | Self::CrlSign => signs,
            Self::KeyEncipherment => !signs,
            _ => false,
        }
    }
}

impl fmt::Display for KeyUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(KEY_USAGES[*self as usize].2)
    }
}

/// What a certificate is for (RFC 5280, §4.2.1.12).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// A server of TLS
    ServerAuth,
    /// A client of TLS
    ClientAuth,
    /// Signatures on programs
    CodeSigning,
    /// Mail
    EmailProtection,
    /// Time stamps
    TimeStamping,
    /// Answers about revocation
    OcspSigning,
    /// Any of them
    Any,
    /// Another one, by its object identifier in dots
    Other(String),
}

const PURPOSES: [(Purpose, ObjectIdentifier, &str); 7] = [
    (Purpose::ServerAuth, ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1"), "serverAuth"),
    (Purpose::ClientAuth, ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2"), "clientAuth"),
    (Purpose::CodeSigning, ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.3"), "codeSigning"),
    (Purpose::EmailProtection, ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.4"), "emailProtection"),
    (Purpose::TimeStamping, ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.8"), "timeStamping"),
    (Purpose::OcspSigning, ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.9"), "OCSPSigning"),
    (Purpose::Any, ObjectIdentifier::new_unwrap("2.5.29.37.0"), "anyExtendedKeyUsage"),
];

impl Purpose {
    /// The key usages of which one must be allowed where there is an extension for them (RFC 5280, §4.2.1.12); none for purposes without such a rule. Handshakes of TLS
    /// have a rule of their own.
    pub(crate) const fn usages(&self) -> &'static [KeyUsage] {
        use KeyUsage::{DigitalSignature, KeyAgreement, KeyEncipherment, NonRepudiation};
        match self {
            Self::CodeSigning => &[DigitalSignature],
            Self::EmailProtection => &[DigitalSignature, NonRepudiation, KeyEncipherment, KeyAgreement],
            Self::TimeStamping | Self::OcspSigning => &[DigitalSignature, NonRepudiation],
            _ => &[],
        }
    }

    fn of(oid: &ObjectIdentifier) -> Self {
        let known = PURPOSES.into_iter().find(|(_, known, _)| known == oid);
        known.map_or_else(|| Self::Other(oid.to_string()), |(purpose, _, _)| purpose)
    }

    fn oid(&self) -> Result<ObjectIdentifier, Error> {
        match (self, PURPOSES.iter().find(|(purpose, _, _)| purpose == self)) {
            (_, Some((_, oid, _))) => Ok(*oid),
            (Self::Other(oid), None) => {
                ObjectIdentifier::new(oid).map_err(|_| Error::Extension { oid: oid.clone() })
            }
            _ => Err(Error::Der),
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, PURPOSES.iter().find(|(purpose, _, _)| purpose == self)) {
            (_, Some((_, _, name))) => f.pad(name),
            (Self::Other(oid), None) => f.pad(oid),
            _ => Ok(()),
        }
    }
}

/// The object identifier of name constraints.
pub(crate) const NAME_CONSTRAINTS: ObjectIdentifier = pkix::NameConstraints::OID;

/// What the extensions of a certificate or of a request say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extensions {
    pub(crate) is_authority: bool,
    pub(crate) path_length: Option<u8>,
    pub(crate) key_usage: Option<Vec<KeyUsage>>,
    pub(crate) purposes: Option<Vec<Purpose>>,
    /// True if the extension of the purposes is critical.
    pub(crate) purposes_are_critical: bool,
    pub(crate) alt_names: Vec<AltName>,
    /// All names of the subject, those of other forms included.
    pub(crate) general_names: Vec<GeneralName>,
    pub(crate) subject_key: Option<Vec<u8>>,
    pub(crate) authority_key: Option<Vec<u8>>,
    pub(crate) constraints: Option<NameConstraints>,
    /// All but those that are read above.
    pub(crate) others: Vec<OtherExtension>,
    /// Critical, and not among the above.
    pub(crate) unknown_critical: Option<ObjectIdentifier>,
}

impl Extensions {
    /// The names of other forms than [`AltName`] has, as text.
    pub(crate) fn other_names(&self) -> Vec<String> {
        let others = self.general_names.iter().filter(|name| AltName::of(name).is_none());
        others.map(ToString::to_string).collect()
    }

    pub(crate) fn read(extensions: &[Extension]) -> Result<Self, Error> {
        let mut seen = BTreeSet::new();
        let mut read = Self::default();
        for extension in extensions {
            if !seen.insert(extension.extn_id) {
                return Err(Error::DuplicateExtension { oid: extension.extn_id.to_string() });
            }
            match extension.extn_id {
                BasicConstraints::OID => {
                    let constraints: BasicConstraints = decode(extension).map_err(|error| {
                        if has_long_path(extension.extn_value.as_bytes()) { Error::LongPath } else { error }
                    })?;
                    read.is_authority = constraints.ca;
                    read.path_length = constraints.path_len_constraint;
                }
                pkix::KeyUsage::OID => {
                    let usage: pkix::KeyUsage = decode(extension)?;
                    let all = KEY_USAGES.into_iter().filter(|(_, bit, _)| usage.0.contains(*bit));
                    read.key_usage = Some(all.map(|(usage, _, _)| usage).collect());
                }
                ExtendedKeyUsage::OID => {
                    let usage: ExtendedKeyUsage = decode(extension)?;
                    read.purposes = Some(usage.0.iter().map(Purpose::of).collect());
                    read.purposes_are_critical = extension.critical;
                }
                SubjectAltName::OID => {
                    let names = GeneralName::read_all(extension.extn_value.as_bytes());
                    read.general_names = names.ok_or_else(|| unreadable(extension))?;
                    read.alt_names = read.general_names.iter().filter_map(AltName::of).collect();
                }
                SubjectKeyIdentifier::OID => {
                    let identifier: SubjectKeyIdentifier = decode(extension)?;
                    read.subject_key = Some(identifier.0.as_bytes().to_vec());
                }
                AuthorityKeyIdentifier::OID => {
                    let identifier: AuthorityKeyIdentifier = decode(extension)?;
                    read.authority_key = identifier.key_identifier.map(|bytes| bytes.as_bytes().to_vec());
                }
                NAME_CONSTRAINTS => {
                    read.others.push(OtherExtension::of(extension));
                    let constraints = NameConstraints::read(extension.extn_value.as_bytes());
                    read.constraints = Some(constraints.ok_or_else(|| unreadable(extension))?);
                }
                oid => {
                    read.others.push(OtherExtension::of(extension));
                    if extension.critical {
                        read.unknown_critical.get_or_insert(oid);
                    }
                }
            }
        }
        Ok(read)
    }
}

/// An extension that nothing here looks into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherExtension {
    oid: ObjectIdentifier,
    is_critical: bool,
    must_staple: bool,
}

/// The extensions that are met in certificates and requests (RFC 5280, §4.2; RFC 7633; RFC 6962; RFC 6960; Netscape's and Microsoft's).
const NAMES: [(&str, &str); 20] = [
    ("2.5.29.9", "subjectDirectoryAttributes"),
    ("2.5.29.18", "issuerAltName"),
    ("2.5.29.30", "nameConstraints"),
    ("2.5.29.31", "cRLDistributionPoints"),
    ("2.5.29.32", "certificatePolicies"),
    ("2.5.29.33", "policyMappings"),
    ("2.5.29.36", "policyConstraints"),
    ("2.5.29.46", "freshestCRL"),
    ("2.5.29.54", "inhibitAnyPolicy"),
    ("1.3.6.1.5.5.7.1.1", "authorityInfoAccess"),
    ("1.3.6.1.5.5.7.1.3", "qcStatements"),
    ("1.3.6.1.5.5.7.1.11", "subjectInfoAccess"),
    ("1.3.6.1.5.5.7.1.24", "tlsFeature"),
    ("1.3.6.1.5.5.7.48.1.5", "OCSP no check"),
    ("1.3.6.1.4.1.11129.2.4.2", "signed certificate timestamps"),
    ("1.3.6.1.4.1.11129.2.4.3", "precertificate poison"),
    ("2.16.840.1.113730.1.1", "Netscape certificate type"),
    ("2.16.840.1.113730.1.13", "Netscape comment"),
    ("1.3.6.1.4.1.311.20.2", "Microsoft certificate type"),
    ("1.3.6.1.4.1.311.21.7", "Microsoft certificate template"),
];

impl OtherExtension {
    fn of(extension: &Extension) -> Self {
        // The feature of TLS that status_request is (RFC 7633, §4.2.1).
        let features = Vec::<u16>::from_der(extension.extn_value.as_bytes());
        let is_feature = extension.extn_id == ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.24");
        let must_staple = is_feature && features.is_ok_and(|features| features.contains(&5));
        Self { oid: extension.extn_id, is_critical: extension.critical, must_staple }
    }

    /// Its object identifier, in dots.
    #[must_use]
    pub fn oid(&self) -> String {
        self.oid.to_string()
    }

    /// Whether a reader that does not know it must refuse the certificate.
    #[must_use]
    pub const fn is_critical(&self) -> bool {
        self.is_critical
    }
}

impl fmt::Display for OtherExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let oid = self.oid.to_string();
        match NAMES.iter().find(|(known, _)| *known == oid) {
            Some((_, name)) => f.write_str(name)?,
            None => f.write_str(&oid)?,
        }
        f.write_str(if self.must_staple { " (must-staple)" } else { "" })?;
        f.write_str(if self.is_critical { " (critical)" } else { "" })
    }
}

/// Returns true for basic constraints with a path length of more than 255.
fn has_long_path(der: &[u8]) -> bool {
    let length = AnyRef::from_der(der).and_then(|constraints| {
        let mut fields = SliceReader::new(constraints.value())?;
        let _: Option<bool> = fields.decode()?;
        fields.decode::<UintRef<'_>>()
    });
    length.is_ok_and(|length| length.as_bytes().len() > 1)
}

fn decode<'a, T: Decode<'a>>(extension: &'a Extension) -> Result<T, Error> {
    T::from_der(extension.extn_value.as_bytes()).map_err(|_| unreadable(extension))
}

fn unreadable(extension: &Extension) -> Error {
    Error::Extension { oid: extension.extn_id.to_string() }
}

/// An extension, written.
pub(crate) fn extension<T: AssociatedOid + Encode>(critical: bool, value: &T) -> Result<Extension, Error> {
    let der = value.to_der().map_err(|_| Error::Der)?;
    let extn_value = OctetString::new(der).map_err(|_| Error::Der)?;
    Ok(Extension { extn_id: T::OID, critical, extn_value })
}

pub(crate) fn key_usage(usages: &[KeyUsage]) -> Result<Extension, Error> {
    let bits: FlagSet<KeyUsages> =
        usages.iter().fold(FlagSet::default(), |bits, usage| bits | KEY_USAGES[*usage as usize].1);
    extension(true, &pkix::KeyUsage(bits))
}

pub(crate) fn purposes(critical: bool, purposes: &[Purpose]) -> Result<Extension, Error> {
    let oids = purposes.iter().map(Purpose::oid).collect::<Result<_, _>>()?;
    extension(critical, &ExtendedKeyUsage(oids))
}

/// Critical when it is the only name (RFC 5280, §4.2.1.6).
pub(crate) fn alt_names(names: &[AltName], subject_is_empty: bool) -> Result<Extension, Error> {
    let names = names.iter().map(AltName::to_general).collect::<Result<_, _>>()?;
    extension(subject_is_empty, &SubjectAltName(names))
}

pub(crate) fn basic_constraints(ca: bool, path_length: Option<u8>) -> Result<Extension, Error> {
    extension(true, &BasicConstraints { ca, path_len_constraint: path_length })
}

pub(crate) fn subject_key(identifier: &[u8]) -> Result<Extension, Error> {
    extension(false, &SubjectKeyIdentifier(OctetString::new(identifier).map_err(|_| Error::Der)?))
}

pub(crate) fn authority_key(identifier: &[u8]) -> Result<Extension, Error> {
    let key_identifier = Some(OctetString::new(identifier).map_err(|_| Error::Der)?);
    extension(false, &AuthorityKeyIdentifier { key_identifier, ..AuthorityKeyIdentifier::default() })
}

/// The identifier of a key: the first 160 bits of SHA-256 of its bytes (RFC 7093, §2, method 1).
pub(crate) fn key_identifier(public: &[u8]) -> [u8; 20] {
    *Sha256::digest(public).first_chunk().expect("a digest has 32 bytes")
}
