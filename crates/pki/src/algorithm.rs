//! The algorithms whose keys are read and written.

use std::fmt;
use std::str::FromStr;

use der::asn1::{AnyRef, ObjectIdentifier};
use gambeson_hybrid::composite;
use gambeson_hybrid::kem::HybridKem;
use spki::AlgorithmIdentifierRef;

use crate::error::Error;

/// What a key is for: ML-KEM, ML-DSA, a composite of one of them with a curve, or a curve alone.
///
/// ```
/// use gambeson_pki::Algorithm;
///
/// assert_eq!(Algorithm::MlKem768.oid(), "2.16.840.1.101.3.4.4.2");
/// assert_eq!("ML-DSA-87".parse(), Ok(Algorithm::MlDsa87));
/// assert!("MLDSA87-Ed448-SHAKE256".parse::<Algorithm>()?.signs());
/// # Ok::<(), gambeson_pki::UnknownAlgorithm>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// ML-KEM-512
    MlKem512,
    /// ML-KEM-768
    MlKem768,
    /// ML-KEM-1024
    MlKem1024,
    /// ML-DSA-44
    MlDsa44,
    /// ML-DSA-65
    MlDsa65,
    /// ML-DSA-87
    MlDsa87,
    /// ML-DSA-87 and Ed448: the strongest signature here
    MlDsa87Ed448,
    /// ML-DSA-87 and ECDSA on P-384
    MlDsa87EcdsaP384,
    /// ML-DSA-65 and Ed25519
    MlDsa65Ed25519,
    /// ML-DSA-65 and ECDSA on P-384
    MlDsa65EcdsaP384,
    /// ML-DSA-65 and ECDSA on P-256
    MlDsa65EcdsaP256,
    /// ML-DSA-44 and Ed25519
    MlDsa44Ed25519,
    /// ML-DSA-44 and ECDSA on P-256
    MlDsa44EcdsaP256,
    /// ML-KEM-1024 and X448
    MlKem1024X448,
    /// ML-KEM-1024 and ECDH on P-384
    MlKem1024EcdhP384,
    /// ML-KEM-768 and ECDH on P-384
    MlKem768EcdhP384,
    /// ML-KEM-768 and ECDH on P-256
    MlKem768EcdhP256,
    /// ML-KEM-768 and X25519
    MlKem768X25519,
    /// Ed25519 (RFC 8410)
    Ed25519,
    /// Ed448 (RFC 8410)
    Ed448,
    /// ECDSA on P-256 (RFC 5480), which signs with SHA-256
    EcdsaP256,
    /// ECDSA on P-384 (RFC 5480), which signs with SHA-384
    EcdsaP384,
}

/// `id-ecPublicKey`; the curve is its parameter.
const EC_PUBLIC_KEY: &str = "1.2.840.10045.2.1";
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");

impl Algorithm {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::MlKem512,
        Self::MlKem768,
        Self::MlKem1024,
        Self::MlDsa44,
        Self::MlDsa65,
        Self::MlDsa87,
        Self::MlDsa87Ed448,
        Self::MlDsa87EcdsaP384,
        Self::MlDsa65Ed25519,
        Self::MlDsa65EcdsaP384,
        Self::MlDsa65EcdsaP256,
        Self::MlDsa44Ed25519,
        Self::MlDsa44EcdsaP256,
        Self::MlKem1024X448,
        Self::MlKem1024EcdhP384,
        Self::MlKem768EcdhP384,
        Self::MlKem768EcdhP256,
        Self::MlKem768X25519,
        Self::Ed25519,
        Self::Ed448,
        Self::EcdsaP256,
        Self::EcdsaP384,
    ];

    /// The name: that of FIPS 203 or 204, of the composite drafts without `id-`, or the curve's.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MlKem512 => "ML-KEM-512",
            Self::MlKem768 => "ML-KEM-768",
            Self::MlKem1024 => "ML-KEM-1024",
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa87 => "ML-DSA-87",
            Self::MlDsa87Ed448 => "MLDSA87-Ed448-SHAKE256",
            Self::MlDsa87EcdsaP384 => "MLDSA87-ECDSA-P384-SHA512",
            Self::MlDsa65Ed25519 => "MLDSA65-Ed25519-SHA512",
            Self::MlDsa65EcdsaP384 => "MLDSA65-ECDSA-P384-SHA512",
            Self::MlDsa65EcdsaP256 => "MLDSA65-ECDSA-P256-SHA512",
            Self::MlDsa44Ed25519 => "MLDSA44-Ed25519-SHA512",
            Self::MlDsa44EcdsaP256 => "MLDSA44-ECDSA-P256-SHA256",
            Self::MlKem1024X448 => "MLKEM1024-X448-SHA3-256",
            Self::MlKem1024EcdhP384 => "MLKEM1024-ECDH-P384-SHA3-256",
            Self::MlKem768EcdhP384 => "MLKEM768-ECDH-P384-SHA3-256",
            Self::MlKem768EcdhP256 => "MLKEM768-ECDH-P256-SHA3-256",
            Self::MlKem768X25519 => "MLKEM768-X25519-SHA3-256",
            Self::Ed25519 => "Ed25519",
            Self::Ed448 => "Ed448",
            Self::EcdsaP256 => "ECDSA-P256",
            Self::EcdsaP384 => "ECDSA-P384",
        }
    }

    /// The object identifier of a key, in dots: RFC 9935, §3; RFC 9881, §2; the composite drafts; RFC 8410; RFC 5480, where it is
    /// the same for both curves and the curve is a parameter.
    #[must_use]
    pub const fn oid(self) -> &'static str {
        match self {
            Self::MlKem512 => "2.16.840.1.101.3.4.4.1",
            Self::MlKem768 => "2.16.840.1.101.3.4.4.2",
            Self::MlKem1024 => "2.16.840.1.101.3.4.4.3",
            Self::MlDsa44 => "2.16.840.1.101.3.4.3.17",
            Self::MlDsa65 => "2.16.840.1.101.3.4.3.18",
            Self::MlDsa87 => "2.16.840.1.101.3.4.3.19",
            Self::MlDsa87Ed448 => "1.3.6.1.5.5.7.6.51",
            Self::MlDsa87EcdsaP384 => "1.3.6.1.5.5.7.6.49",
            Self::MlDsa65Ed25519 => "1.3.6.1.5.5.7.6.48",
            Self::MlDsa65EcdsaP384 => "1.3.6.1.5.5.7.6.46",
            Self::MlDsa65EcdsaP256 => "1.3.6.1.5.5.7.6.45",
            Self::MlDsa44Ed25519 => "1.3.6.1.5.5.7.6.39",
            Self::MlDsa44EcdsaP256 => "1.3.6.1.5.5.7.6.40",
            Self::MlKem1024X448 => "1.3.6.1.5.5.7.6.65",
            Self::MlKem1024EcdhP384 => "1.3.6.1.5.5.7.6.63",
            Self::MlKem768EcdhP384 => "1.3.6.1.5.5.7.6.60",
            Self::MlKem768EcdhP256 => "1.3.6.1.5.5.7.6.59",
            Self::MlKem768X25519 => "1.3.6.1.5.5.7.6.58",
            Self::Ed25519 => "1.3.101.112",
            Self::Ed448 => "1.3.101.113",
            Self::EcdsaP256 | Self::EcdsaP384 => EC_PUBLIC_KEY,
        }
    }

    /// Whether keys of the algorithm sign; the others receive encapsulated secrets.
    #[must_use]
    pub const fn signs(self) -> bool {
        !matches!(
            self,
            Self::MlKem512
                | Self::MlKem768
                | Self::MlKem1024
                | Self::MlKem1024X448
                | Self::MlKem1024EcdhP384
                | Self::MlKem768EcdhP384
                | Self::MlKem768EcdhP256
                | Self::MlKem768X25519
        )
    }

    /// Whether private keys have the forms of [`Form`](crate::Form): ML-KEM and ML-DSA. All others have one form.
    #[must_use]
    pub const fn has_forms(self) -> bool {
        matches!(
            self,
            Self::MlKem512 | Self::MlKem768 | Self::MlKem1024 | Self::MlDsa44 | Self::MlDsa65 | Self::MlDsa87
        )
    }

    /// The composite signature algorithm of that name, if it is one.
    pub(crate) fn composite(self) -> Option<&'static composite::Algorithm> {
        composite::Algorithm::by_name(self.name())
    }

    /// The composite KEM of that name, if it is one.
    pub(crate) fn composite_kem(self) -> Option<&'static HybridKem> {
        HybridKem::by_name(self.name())
    }

    /// Parsed by the compiler: a key in a file is looked up among all.
    fn object_identifier(self) -> ObjectIdentifier {
        static IDENTIFIERS: [ObjectIdentifier; Algorithm::ALL.len()] = {
            let mut identifiers = [P256; Algorithm::ALL.len()];
            let mut at = 0;
            while at < identifiers.len() {
                let algorithm = Algorithm::ALL[at];
                identifiers[algorithm as usize] = ObjectIdentifier::new_unwrap(algorithm.oid());
                at += 1;
            }
            identifiers
        };
        IDENTIFIERS[self as usize]
    }

    const fn curve(self) -> Option<&'static ObjectIdentifier> {
        match self {
            Self::EcdsaP256 => Some(&P256),
            Self::EcdsaP384 => Some(&P384),
            _ => None,
        }
    }

    /// The identifier of a key; its parameters are absent, but for the curve of ECDSA.
    pub(crate) fn identifier(self) -> AlgorithmIdentifierRef<'static> {
        AlgorithmIdentifierRef { oid: self.object_identifier(), parameters: self.curve().map(AnyRef::from) }
    }

    /// The identifier of a signature: that of the key, but for ECDSA (RFC 5758).
    pub(crate) fn signature_identifier(self) -> AlgorithmIdentifierRef<'static> {
        let oid = match self {
            Self::EcdsaP256 => ECDSA_WITH_SHA256,
            Self::EcdsaP384 => ECDSA_WITH_SHA384,
            _ => self.object_identifier(),
        };
        AlgorithmIdentifierRef { oid, parameters: None }
    }

    /// The algorithm of a file. All the documents say that the parameters MUST be absent, but for the curve of ECDSA.
    pub(crate) fn of(identifier: &AlgorithmIdentifierRef<'_>) -> Result<Self, Error> {
        let mut same = Self::ALL.iter().copied().filter(|known| known.object_identifier() == identifier.oid);
        let first =
            same.clone().next().ok_or_else(|| Error::Algorithm { oid: identifier.oid.to_string() })?;
        match (first.curve(), identifier.parameters) {
            (None, None) => Ok(first),
            (None, Some(_)) | (Some(_), None) => Err(Error::Parameters),
            (Some(_), Some(parameters)) => {
                let curve = parameters.decode_as::<ObjectIdentifier>().map_err(|_| Error::Parameters)?;
                same.find(|known| known.curve() == Some(&curve))
                    .ok_or_else(|| Error::Algorithm { oid: curve.to_string() })
            }
        }
    }
}

/// The name of an algorithm that files may have and that is recognised here by its object identifier alone: keys and
/// signatures of SLH-DSA (RFC 9909, §3), as FIPS 205 calls its parameter sets, of RSA, and of other curves. Nothing is computed with them.
///
/// ```
/// assert_eq!(gambeson_pki::name_of_unsupported("2.16.840.1.101.3.4.3.20"), Some("SLH-DSA-SHA2-128s"));
/// assert_eq!(gambeson_pki::name_of_unsupported("2.16.840.1.101.3.4.3.18"), None, "ML-DSA-65 is supported");
/// ```
#[must_use]
pub fn name_of_unsupported(oid: &str) -> Option<&'static str> {
    if let Some((_, name)) = CLASSICAL.iter().find(|(known, _)| *known == oid) {
        return Some(name);
    }
    let last: u8 = oid.strip_prefix("2.16.840.1.101.3.4.3.")?.parse().ok()?;
    UNSUPPORTED.iter().find(|(number, _)| *number == last).map(|(_, name)| *name)
}

/// RSA (RFC 8017), and curves and groups that nothing here computes with.
const CLASSICAL: [(&str, &str); 12] = [
    ("1.2.840.113549.1.1.1", "RSA"),
    ("1.2.840.113549.1.1.5", "RSA with SHA-1"),
    ("1.2.840.113549.1.1.10", "RSASSA-PSS"),
    ("1.2.840.113549.1.1.11", "RSA with SHA-256"),
    ("1.2.840.113549.1.1.12", "RSA with SHA-384"),
    ("1.2.840.113549.1.1.13", "RSA with SHA-512"),
    ("1.2.840.10040.4.1", "DSA"),
    ("1.2.840.113549.1.3.1", "Diffie-Hellman"),
    ("1.3.101.110", "X25519"),
    ("1.3.101.111", "X448"),
    ("1.3.132.0.10", "ECDSA on secp256k1"),
    ("1.3.132.0.35", "ECDSA on P-521"),
];

/// Below NIST's `sigAlgs`, 2.16.840.1.101.3.4.3.
const UNSUPPORTED: [(u8, &str); 24] = [
    (20, "SLH-DSA-SHA2-128s"),
    (21, "SLH-DSA-SHA2-128f"),
    (22, "SLH-DSA-SHA2-192s"),
    (23, "SLH-DSA-SHA2-192f"),
    (24, "SLH-DSA-SHA2-256s"),
    (25, "SLH-DSA-SHA2-256f"),
    (26, "SLH-DSA-SHAKE-128s"),
    (27, "SLH-DSA-SHAKE-128f"),
    (28, "SLH-DSA-SHAKE-192s"),
    (29, "SLH-DSA-SHAKE-192f"),
    (30, "SLH-DSA-SHAKE-256s"),
    (31, "SLH-DSA-SHAKE-256f"),
    (35, "HashSLH-DSA-SHA2-128s-with-SHA256"),
    (36, "HashSLH-DSA-SHA2-128f-with-SHA256"),
    (37, "HashSLH-DSA-SHA2-192s-with-SHA512"),
    (38, "HashSLH-DSA-SHA2-192f-with-SHA512"),
    (39, "HashSLH-DSA-SHA2-256s-with-SHA512"),
    (40, "HashSLH-DSA-SHA2-256f-with-SHA512"),
    (41, "HashSLH-DSA-SHAKE-128s-with-SHAKE128"),
    (42, "HashSLH-DSA-SHAKE-128f-with-SHAKE128"),
    (43, "HashSLH-DSA-SHAKE-192s-with-SHAKE256"),
    (44, "HashSLH-DSA-SHAKE-192f-with-SHAKE256"),
    (45, "HashSLH-DSA-SHAKE-256s-with-SHAKE256"),
    (46, "HashSLH-DSA-SHAKE-256f-with-SHAKE256"),
];

/// `ecdsa-with-SHA256`
pub(crate) const ECDSA_WITH_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
/// `ecdsa-with-SHA384`
pub(crate) const ECDSA_WITH_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3");
/// `ecdsa-with-SHA512`
pub(crate) const ECDSA_WITH_SHA512: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.4");

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let matches = |algorithm: &Self| algorithm.name().eq_ignore_ascii_case(name);
        Self::ALL.iter().copied().find(matches).ok_or(UnknownAlgorithm)
    }
}

/// The name is that of no algorithm here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm;

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown algorithm; there are")?;
        Algorithm::ALL.iter().try_for_each(|algorithm| write!(f, " {algorithm}"))
    }
}

impl std::error::Error for UnknownAlgorithm {}
