//! What can be wrong with a file, named for the mistake.

use std::fmt;

use gambeson::lms;
use gambeson::mldsa::SigningKeyError;
use gambeson::mlkem::{DecapsulationKeyError, EncapsulationKeyError};
use gambeson::xmss;
use gambeson_hybrid::{composite, kem};

use crate::algorithm::{Algorithm, name_of_unsupported};

/// Why a key, a certificate, a request or a revocation list was not read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file is neither PEM (RFC 7468) nor DER.
    Pem,
    /// A block of PEM is damaged.
    PemBlock {
        /// The label in its BEGIN line.
        label: &'static str,
        /// Its fault.
        what: &'static str,
    },
    /// It is PEM of something else.
    Label {
        /// What was wanted, such as `PRIVATE KEY`.
        expected: &'static str,
        /// What stands in the BEGIN line.
        found: String,
    },
    /// The file holds several objects, where one is needed.
    Several {
        /// What they are.
        objects: &'static str,
        /// How many there are.
        count: usize,
    },
    /// The file is another one than was wanted.
    AnotherFile {
        /// What was wanted.
        expected: &'static str,
        /// What its outline is that of.
        found: &'static str,
    },
    /// The bytes are not the DER of a key.
    Der,
    /// A certificate, a request or a revocation list has a field that cannot be read.
    Malformed {
        /// Which of them.
        object: &'static str,
        /// The field, by the name that the standard gives it.
        field: &'static str,
    },
    /// One of several objects in a file cannot be read.
    Numbered {
        /// What it is.
        object: &'static str,
        /// Which one, from 1 on.
        number: usize,
        /// Its fault.
        error: Box<Error>,
    },
    /// The key is of an algorithm that is not supported here.
    Algorithm {
        /// The object identifier in the file.
        oid: String,
    },
    /// The algorithm identifier has parameters, which must be absent, or names no curve for ECDSA.
    Parameters,
    /// The private key is neither a seed, nor an expanded key, nor both (RFC 9935, §6; RFC 9881, §6).
    PrivateKey,
    /// The seed has the wrong length.
    SeedLength {
        /// The length for the algorithm.
        expected: usize,
        /// The length in the file.
        actual: usize,
    },
    /// The expanded key is not what the seed beside it makes: the file was damaged or forged.
    SeedMismatch,
    /// The public key in the file is not that of the private key.
    PublicKeyMismatch,
    /// The expanded ML-KEM key is not valid (FIPS 203, §7.3).
    DecapsulationKey(DecapsulationKeyError),
    /// The expanded ML-DSA key is not valid.
    SigningKey(SigningKeyError),
    /// The ML-KEM public key is not valid (FIPS 203, §7.2).
    EncapsulationKey(EncapsulationKeyError),
    /// The public key of a signature has the wrong length.
    VerifyingKeyLength {
        /// The length for the algorithm.
        expected: usize,
        /// The length in the file.
        actual: usize,
    },
    /// The private key of SLH-DSA has the wrong length.
    PrivateKeyLength {
        /// The length for the algorithm.
        expected: usize,
        /// The length in the file.
        actual: usize,
    },
    /// The public key of HSS is not valid (RFC 8554, §6.1).
    HssKey(lms::VerifyingKeyError),
    /// The public key of XMSS or XMSS^MT is not valid (RFC 8391, Appendix B.3 and Appendix C.3).
    XmssKey(xmss::VerifyingKeyError),
    /// Keys of the algorithm have a state, and signing with them needs the key store, which does not exist yet.
    Stateful {
        /// The algorithm, of those for which [`Algorithm::is_stateful`] holds.
        algorithm: Algorithm,
    },
    /// The key was imported without its seed, so no form with a seed can be written.
    NoSeed,
    /// The file is encrypted, and no passphrase was given.
    Encrypted,
    /// A passphrase was given, but it is empty.
    EmptyPassphrase,
    /// The passphrase is wrong, or the file was damaged.
    WrongPassphrase,
    /// The file is encrypted in a way that is not supported (PBES1, Triple DES or SHA-1, for instance).
    UnsupportedEncryption {
        /// What it is called, or its object identifier.
        name: String,
    },
    /// The file asks for more work on the passphrase than is reasonable: it may be an attack.
    ExcessiveWork,
    /// Keys of this algorithm have one form, in a file: neither seeds nor expanded keys.
    OneForm,
    /// The composite signature key is not valid.
    Composite(composite::KeyError),
    /// The composite KEM key is not valid.
    CompositeKem(kem::Error),
    /// The public key is a compressed point of its curve, a form that is optional (RFC 5480, §2.2) and not supported.
    CompressedPoint,
    /// The key is none of its curve: no point, no scalar, no `ECPrivateKey` (RFC 5915), or halves that do not fit.
    CurveKey,
    /// The key receives encapsulated secrets and does not sign.
    NotASigningKey,
    /// The signature is named as one of another algorithm than the key's, or of an unsupported one.
    SignatureAlgorithm {
        /// The object identifier of the signature.
        oid: String,
    },
    /// The signature is not one of this key over these bytes.
    Signature,
    /// The text is not a distinguished name (RFC 4514).
    Name,
    /// The text is not a DNS name, an IP address or a URI.
    AltName {
        /// The text.
        text: String,
    },
    /// An extension cannot be read.
    Extension {
        /// Its object identifier.
        oid: String,
    },
    /// An extension stands there twice.
    DuplicateExtension {
        /// Its object identifier.
        oid: String,
    },
    /// The file names one signature algorithm inside what is signed and another one outside.
    TwoAlgorithms,
    /// The time is before 1970 or after 9999, or the end is not after the beginning.
    Time,
    /// The certificate of the issuer is not that of an authority: it may not sign this.
    NotAnAuthority,
    /// The issuer's path length leaves no room for this authority.
    PathLength,
    /// The private key is not that of the certificate.
    KeyMismatch,
    /// Basic constraints have a path length of more than 255, which is not supported.
    LongPath,
    /// A certificate for time stamps is to have other purposes, too (RFC 3161, §2.3).
    Purposes,
    /// A signature's key cannot have this key usage, or an encapsulation's cannot (RFC 9881, §5; RFC 9935, §5).
    KeyUsage,
    /// The name of the entry or the passphrase has a character that PKCS#12 has no room for: beyond the first 65,536 of Unicode.
    Entry,
    /// The operating system's random number generator failed.
    Random(gambeson::RngError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pem => f.write_str("neither PEM nor DER"),
            Self::PemBlock { label, what } => write!(f, "the PEM block {label} {what}"),
            Self::Label { expected, found } => {
                write!(f, "a PEM file of {} {found}, not of {} {expected}", article(found), article(expected))?;
                match found == "AGE ENCRYPTED FILE" {
                    true => f.write_str("; open it first"),
                    false => Ok(()),
                }
            }
            Self::Several { objects, count: 2 } => write!(f, "holds two {objects}, where one is needed"),
            Self::Several { objects, count } => write!(f, "holds {count} {objects}, where one is needed"),
            Self::AnotherFile { expected, found } => write!(f, "is {found}, where a {expected} is needed"),
            Self::Der => f.write_str("not the DER encoding of a key"),
            Self::Malformed { object, field } => write!(f, "the {field} of the {object} cannot be read"),
            Self::Numbered { object, number, error } => write!(f, "{object} {number}: {error}"),
            Self::Algorithm { oid } => match name_of_unsupported(oid) {
                Some(name) => write!(f, "a key of {name} ({oid}), which is not supported"),
                None => write!(f, "a key of an unsupported algorithm ({oid})"),
            },
            Self::Parameters => f.write_str(
                "the algorithm identifier has parameters where there must be none, or for ECDSA names no curve (explicit parameters of a \
                 curve are not supported)",
            ),
            Self::PrivateKey => {
                f.write_str("the private key is neither a seed, nor an expanded key, nor both")
            }
            Self::SeedLength { expected, actual } => {
                write!(f, "the seed has {actual} bytes, where {expected} are needed")
            }
            Self::SeedMismatch => f.write_str("the expanded key is not what the seed beside it makes"),
            Self::PublicKeyMismatch => {
                f.write_str("the public key in the file is not that of the private key")
            }
            Self::DecapsulationKey(error) => error.fmt(f),
            Self::SigningKey(error) => error.fmt(f),
            Self::EncapsulationKey(error) => error.fmt(f),
            Self::VerifyingKeyLength { expected, actual } => {
                write!(f, "a public key of {actual} bytes, where {expected} are needed")
            }
            Self::PrivateKeyLength { expected, actual } => {
                write!(f, "a private key of {actual} bytes, where {expected} are needed")
            }
            Self::HssKey(error) => error.fmt(f),
            Self::XmssKey(error) => error.fmt(f),
            Self::Stateful { algorithm } => write!(
                f,
                "signing with {algorithm} keys needs the key store, which does not exist yet; their signatures can be verified"
            ),
            Self::NoSeed => f.write_str("the key was imported without its seed"),
            Self::Encrypted => f.write_str("the key is encrypted: a passphrase is needed"),
            Self::EmptyPassphrase => f.write_str("the passphrase is empty"),
            Self::WrongPassphrase => f.write_str("wrong passphrase, or a damaged file"),
            Self::UnsupportedEncryption { name } => write!(
                f,
                "the key is encrypted with {name}, which is not supported; \
                 `openssl pkcs8 -topk8 -v2 aes-256-cbc -v2prf hmacWithSHA256` encrypts it anew"
            ),
            Self::ExcessiveWork => f.write_str("the file asks for excessive work on the passphrase"),
            Self::OneForm => f.write_str("keys of this algorithm have one form: no seed and no expanded key"),
            Self::Composite(error) => error.fmt(f),
            Self::CompositeKem(error) => error.fmt(f),
            Self::CompressedPoint => f.write_str(
                "its public key is a compressed point, which is not supported: `openssl ec -conv_form uncompressed` (`-pubin` for a public \
                 key) writes it in full",
            ),
            Self::CurveKey => f.write_str("the key is not valid on its curve"),
            Self::NotASigningKey => f.write_str("a key for key encapsulation, which does not sign"),
            Self::SignatureAlgorithm { oid } => match name_of_unsupported(oid) {
                Some(name) => {
                    write!(f, "the signature's algorithm, {name} ({oid}), is not supported")
                }
                None => {
                    write!(f, "the signature's algorithm ({oid}) is not supported, or not that of the key")
                }
            },
            Self::Signature => f.write_str("the signature is invalid"),
            Self::Name => f.write_str("not a distinguished name, such as CN=Example,O=Company"),
            Self::AltName { text } => write!(f, "not a DNS name, an IP address or a URI: {text}"),
            Self::Extension { oid } => write!(f, "an extension cannot be read ({oid})"),
            Self::DuplicateExtension { oid } => write!(f, "an extension appears twice ({oid})"),
            Self::TwoAlgorithms => f.write_str("two different signature algorithms are named"),
            Self::Time => f.write_str("the time is outside of 1970 to 9999, or ends before it begins"),
            Self::NotAnAuthority => {
                f.write_str("the issuer's certificate is not that of an authority that may sign this")
            }
            Self::PathLength => f.write_str("the issuer's path length permits no other authority below it"),
            Self::LongPath => {
                f.write_str("the path length (basic constraints) is more than 255, which is not supported")
            }
            Self::Purposes => {
                f.write_str("a certificate for time stamps has no other purpose (RFC 3161, section 2.3)")
            }
            Self::KeyMismatch => f.write_str("the private key is not that of the certificate"),
            Self::KeyUsage => f.write_str("the key usage is not possible for a key of this algorithm"),
            Self::Entry => {
                f.write_str("the name or the passphrase has a character that PKCS#12 cannot hold (beyond U+FFFF)")
            }
            Self::Random(error) => error.fmt(f),
        }
    }
}

/// The article before the label of PEM, by how that is said.
fn article(label: &str) -> &'static str {
    let letters = ["RSA", "X509", "X.509", "SSH", "SM2", "ML-", "MLS", "HSS", "LMS", "XMSS", "FN-", "SLH"];
    let vowel = label.starts_with(['A', 'E', 'I', 'O']);
    if vowel || letters.iter().any(|spelt| label.starts_with(spelt)) { "an" } else { "a" }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::DecapsulationKey(error) => Some(error),
            Self::SigningKey(error) => Some(error),
            Self::EncapsulationKey(error) => Some(error),
            Self::HssKey(error) => Some(error),
            Self::XmssKey(error) => Some(error),
            Self::Composite(error) => Some(error),
            Self::CompositeKem(error) => Some(error),
            Self::Random(error) => Some(error),
            Self::Numbered { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<DecapsulationKeyError> for Error {
    fn from(error: DecapsulationKeyError) -> Self {
        Self::DecapsulationKey(error)
    }
}

impl From<SigningKeyError> for Error {
    fn from(error: SigningKeyError) -> Self {
        Self::SigningKey(error)
    }
}

impl From<EncapsulationKeyError> for Error {
    fn from(error: EncapsulationKeyError) -> Self {
        Self::EncapsulationKey(error)
    }
}

impl From<gambeson::RngError> for Error {
    fn from(error: gambeson::RngError) -> Self {
        Self::Random(error)
    }
}

impl From<composite::KeyError> for Error {
    fn from(error: composite::KeyError) -> Self {
        Self::Composite(error)
    }
}

impl From<kem::Error> for Error {
    fn from(error: kem::Error) -> Self {
        Self::CompositeKem(error)
    }
}
