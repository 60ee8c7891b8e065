//! The algorithms whose keys are read and written.

use std::fmt;
use std::str::FromStr;

use der::asn1::ObjectIdentifier;
use spki::AlgorithmIdentifierRef;

use crate::error::Error;

/// A parameter set of ML-KEM or ML-DSA.
///
/// ```
/// use gambeson_pki::Algorithm;
///
/// assert_eq!(Algorithm::MlKem768.oid(), "2.16.840.1.101.3.4.4.2");
/// assert_eq!("ML-DSA-87".parse(), Ok(Algorithm::MlDsa87));
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
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::MlKem512, Self::MlKem768, Self::MlKem1024, Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// The name in FIPS 203 or 204.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MlKem512 => "ML-KEM-512",
            Self::MlKem768 => "ML-KEM-768",
            Self::MlKem1024 => "ML-KEM-1024",
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa87 => "ML-DSA-87",
        }
    }

    /// The object identifier, in dots: RFC 9935, §3 and RFC 9881, §2.
    #[must_use]
    pub const fn oid(self) -> &'static str {
        match self {
            Self::MlKem512 => "2.16.840.1.101.3.4.4.1",
            Self::MlKem768 => "2.16.840.1.101.3.4.4.2",
            Self::MlKem1024 => "2.16.840.1.101.3.4.4.3",
            Self::MlDsa44 => "2.16.840.1.101.3.4.3.17",
            Self::MlDsa65 => "2.16.840.1.101.3.4.3.18",
            Self::MlDsa87 => "2.16.840.1.101.3.4.3.19",
        }
    }

    const fn object_identifier(self) -> ObjectIdentifier {
        ObjectIdentifier::new_unwrap(self.oid())
    }

    /// The identifier of a file; its parameters are absent.
    pub(crate) fn identifier(self) -> AlgorithmIdentifierRef<'static> {
        AlgorithmIdentifierRef { oid: self.object_identifier(), parameters: None }
    }

    /// The algorithm of a file. Both RFCs say that the parameters MUST be absent.
    pub(crate) fn of(identifier: &AlgorithmIdentifierRef<'_>) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|algorithm| algorithm.object_identifier() == identifier.oid);
        let algorithm = found.ok_or_else(|| Error::Algorithm { oid: identifier.oid.to_string() })?;
        if identifier.parameters.is_some() { Err(Error::Parameters) } else { Ok(algorithm) }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let matches = |algorithm: &Self| algorithm.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(matches).ok_or(UnknownAlgorithm)
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
