//! The algorithms whose keys are read and written.

use std::fmt;
use std::str::FromStr;

use der::asn1::{AnyRef, ObjectIdentifier};
use gambeson::slhdsa;
use gambeson_hybrid::composite;
use gambeson_hybrid::kem::HybridKem;
use spki::AlgorithmIdentifierRef;

use crate::error::Error;

/// `id-ecPublicKey`; the curve is its parameter.
const EC_PUBLIC_KEY: &str = "1.2.840.10045.2.1";
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");

/// How keys are computed with, and the form in which files have them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    MlKem,
    MlDsa,
    SlhDsa,
    Stateful,
    Composite,
    CompositeKem,
    Curve,
}

macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $oid:expr, $family:ident;)*) => {
        /// Algorithm of a key: ML-KEM, ML-DSA, SLH-DSA, HSS, XMSS, XMSS^MT, a composite of ML-KEM or ML-DSA with a curve, or a curve alone.
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
            $($(#[$doc])* $variant,)*
        }

        impl Algorithm {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name: that of FIPS 203, 204 or 205, of RFC 8554, of the composite drafts without `id-`, or the curve's.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The object identifier of a key, in dots: RFC 9935, §3; RFC 9881, §2; RFC 9909, §3; RFC 9802, §4; the composite drafts; RFC 8410;
            /// RFC 5480, where it is the same for both curves and the curve is a parameter.
            #[must_use]
            pub const fn oid(self) -> &'static str {
                match self {
                    $(Self::$variant => $oid,)*
                }
            }

            pub(crate) const fn family(self) -> Family {
                match self {
                    $(Self::$variant => Family::$family,)*
                }
            }
        }
    };
}

algorithms! {
    /// ML-KEM-512
    MlKem512 = "ML-KEM-512", "2.16.840.1.101.3.4.4.1", MlKem;
    /// ML-KEM-768
    MlKem768 = "ML-KEM-768", "2.16.840.1.101.3.4.4.2", MlKem;
    /// ML-KEM-1024
    MlKem1024 = "ML-KEM-1024", "2.16.840.1.101.3.4.4.3", MlKem;
    /// ML-DSA-44
    MlDsa44 = "ML-DSA-44", "2.16.840.1.101.3.4.3.17", MlDsa;
    /// ML-DSA-65
    MlDsa65 = "ML-DSA-65", "2.16.840.1.101.3.4.3.18", MlDsa;
    /// ML-DSA-87
    MlDsa87 = "ML-DSA-87", "2.16.840.1.101.3.4.3.19", MlDsa;
    /// SLH-DSA-SHA2-128s
    SlhDsaSha2_128s = "SLH-DSA-SHA2-128s", "2.16.840.1.101.3.4.3.20", SlhDsa;
    /// SLH-DSA-SHA2-128f
    SlhDsaSha2_128f = "SLH-DSA-SHA2-128f", "2.16.840.1.101.3.4.3.21", SlhDsa;
    /// SLH-DSA-SHA2-192s
    SlhDsaSha2_192s = "SLH-DSA-SHA2-192s", "2.16.840.1.101.3.4.3.22", SlhDsa;
    /// SLH-DSA-SHA2-192f
    SlhDsaSha2_192f = "SLH-DSA-SHA2-192f", "2.16.840.1.101.3.4.3.23", SlhDsa;
    /// SLH-DSA-SHA2-256s
    SlhDsaSha2_256s = "SLH-DSA-SHA2-256s", "2.16.840.1.101.3.4.3.24", SlhDsa;
    /// SLH-DSA-SHA2-256f
    SlhDsaSha2_256f = "SLH-DSA-SHA2-256f", "2.16.840.1.101.3.4.3.25", SlhDsa;
    /// SLH-DSA-SHAKE-128s
    SlhDsaShake128s = "SLH-DSA-SHAKE-128s", "2.16.840.1.101.3.4.3.26", SlhDsa;
    /// SLH-DSA-SHAKE-128f
    SlhDsaShake128f = "SLH-DSA-SHAKE-128f", "2.16.840.1.101.3.4.3.27", SlhDsa;
    /// SLH-DSA-SHAKE-192s
    SlhDsaShake192s = "SLH-DSA-SHAKE-192s", "2.16.840.1.101.3.4.3.28", SlhDsa;
    /// SLH-DSA-SHAKE-192f
    SlhDsaShake192f = "SLH-DSA-SHAKE-192f", "2.16.840.1.101.3.4.3.29", SlhDsa;
    /// SLH-DSA-SHAKE-256s
    SlhDsaShake256s = "SLH-DSA-SHAKE-256s", "2.16.840.1.101.3.4.3.30", SlhDsa;
    /// SLH-DSA-SHAKE-256f
    SlhDsaShake256f = "SLH-DSA-SHAKE-256f", "2.16.840.1.101.3.4.3.31", SlhDsa;
    /// HSS, whose trees are of LMS (RFC 8554); its keys verify and do not sign
    Hss = "HSS", "1.2.840.113549.1.9.16.3.17", Stateful;
    /// XMSS (RFC 8391); its keys verify and do not sign
    Xmss = "XMSS", "1.3.6.1.5.5.7.6.34", Stateful;
    /// XMSS^MT (RFC 8391); its keys verify and do not sign
    XmssMt = "XMSSMT", "1.3.6.1.5.5.7.6.35", Stateful;
    /// ML-DSA-87 and Ed448: the strongest signature here
    MlDsa87Ed448 = "MLDSA87-Ed448-SHAKE256", "1.3.6.1.5.5.7.6.51", Composite;
    /// ML-DSA-87 and ECDSA on P-384
    MlDsa87EcdsaP384 = "MLDSA87-ECDSA-P384-SHA512", "1.3.6.1.5.5.7.6.49", Composite;
    /// ML-DSA-65 and Ed25519
    MlDsa65Ed25519 = "MLDSA65-Ed25519-SHA512", "1.3.6.1.5.5.7.6.48", Composite;
    /// ML-DSA-65 and ECDSA on P-384
    MlDsa65EcdsaP384 = "MLDSA65-ECDSA-P384-SHA512", "1.3.6.1.5.5.7.6.46", Composite;
    /// ML-DSA-65 and ECDSA on P-256
    MlDsa65EcdsaP256 = "MLDSA65-ECDSA-P256-SHA512", "1.3.6.1.5.5.7.6.45", Composite;
    /// ML-DSA-44 and Ed25519
    MlDsa44Ed25519 = "MLDSA44-Ed25519-SHA512", "1.3.6.1.5.5.7.6.39", Composite;
    /// ML-DSA-44 and ECDSA on P-256
    MlDsa44EcdsaP256 = "MLDSA44-ECDSA-P256-SHA256", "1.3.6.1.5.5.7.6.40", Composite;
    /// ML-KEM-1024 and X448
    MlKem1024X448 = "MLKEM1024-X448-SHA3-256", "1.3.6.1.5.5.7.6.65", CompositeKem;
    /// ML-KEM-1024 and ECDH on P-384
    MlKem1024EcdhP384 = "MLKEM1024-ECDH-P384-SHA3-256", "1.3.6.1.5.5.7.6.63", CompositeKem;
    /// ML-KEM-768 and ECDH on P-384
    MlKem768EcdhP384 = "MLKEM768-ECDH-P384-SHA3-256", "1.3.6.1.5.5.7.6.60", CompositeKem;
    /// ML-KEM-768 and ECDH on P-256
    MlKem768EcdhP256 = "MLKEM768-ECDH-P256-SHA3-256", "1.3.6.1.5.5.7.6.59", CompositeKem;
    /// ML-KEM-768 and X25519
    MlKem768X25519 = "MLKEM768-X25519-SHA3-256", "1.3.6.1.5.5.7.6.58", CompositeKem;
    /// Ed25519 (RFC 8410)
    Ed25519 = "Ed25519", "1.3.101.112", Curve;
    /// Ed448 (RFC 8410)
    Ed448 = "Ed448", "1.3.101.113", Curve;
    /// ECDSA on P-256 (RFC 5480), which signs with SHA-256
    EcdsaP256 = "ECDSA-P256", EC_PUBLIC_KEY, Curve;
    /// ECDSA on P-384 (RFC 5480), which signs with SHA-384
    EcdsaP384 = "ECDSA-P384", EC_PUBLIC_KEY, Curve;
}

impl Algorithm {
    /// Returns true for algorithms whose keys sign; the others receive encapsulated secrets.
    #[must_use]
    pub const fn signs(self) -> bool {
        !matches!(self.family(), Family::MlKem | Family::CompositeKem)
    }

    /// Returns true for HSS, XMSS and XMSS^MT, whose private keys have a state. Their public keys verify; this crate has no private keys of them.
    #[must_use]
    pub const fn is_stateful(self) -> bool {
        matches!(self.family(), Family::Stateful)
    }

    /// Whether private keys have the forms of [`Form`](crate::Form): ML-KEM and ML-DSA. All others have one form.
    #[must_use]
    pub const fn has_forms(self) -> bool {
        matches!(self.family(), Family::MlKem | Family::MlDsa)
    }

    /// The parameter set of SLH-DSA of that name, if it is one.
    pub(crate) fn slh_dsa(self) -> Option<slhdsa::ParameterSet> {
        slhdsa::ParameterSet::ALL.iter().copied().find(|set| set.name() == self.name())
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

/// The name of an algorithm that files may have and that this crate recognises by its object identifier alone: keys and
/// signatures of HashSLH-DSA (RFC 9909, §3), RSA, and of other curves. The crate computes nothing with them.
///
/// ```
/// assert_eq!(gambeson_pki::name_of_unsupported("1.2.840.113549.1.1.11"), Some("RSA with SHA-256"));
/// assert_eq!(gambeson_pki::name_of_unsupported("2.16.840.1.101.3.4.3.18"), None, "ML-DSA-65 is supported");
/// ```
#[must_use]
pub fn name_of_unsupported(oid: &str) -> Option<&'static str> {
    if let Some((_, name)) = NAMED.iter().find(|(known, _)| *known == oid) {
        return Some(name);
    }
    let last: u8 = oid.strip_prefix("2.16.840.1.101.3.4.3.")?.parse().ok()?;
    HASHED.iter().find(|(number, _)| *number == last).map(|(_, name)| *name)
}

/// RSA (RFC 8017), curves and groups that nothing here computes with.
const NAMED: [(&str, &str); 12] = [
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

/// HashSLH-DSA, below NIST's `sigAlgs`, 2.16.840.1.101.3.4.3.
const HASHED: [(u8, &str); 12] = [
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
