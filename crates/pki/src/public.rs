//! Public keys: SubjectPublicKeyInfo (RFC 5280, §4.1.2.7), whose bit string holds the bytes of the standard.

use std::fmt;

use der::asn1::BitStringRef;
use der::pem::LineEnding;
use der::{Decode, Document, Encode};
use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87, VerifyingKey};
use gambeson::mlkem::{EncapsulationKey, MlKem512, MlKem768, MlKem1024};
use gambeson::{Bytes, mldsa, mlkem, slhdsa};
use gambeson_hybrid::{composite, kem as hybrid};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use crate::algorithm::{Algorithm, ECDSA_WITH_SHA256, ECDSA_WITH_SHA384, ECDSA_WITH_SHA512};
use crate::curve::CurveVerifyingKey;
use crate::error::Error;
use crate::outline;
use crate::pem::{PemBlock, der_of};
use crate::stateful::StatefulVerifyingKey;

const LABEL: &str = "PUBLIC KEY";

/// A public key of any algorithm here, on the heap.
///
/// ```
/// use gambeson_pki::{Algorithm, PrivateKey, PublicKey};
///
/// let key = PrivateKey::generate(Algorithm::MlKem768)?.public_key();
/// let der = key.to_spki_der();
/// assert_eq!(der.len(), 22 + 1184);
/// assert_eq!(PublicKey::from_spki_der(&der)?, key);
/// # Ok::<(), gambeson_pki::Error>(())
/// ```
#[non_exhaustive]
pub enum PublicKey {
    /// ML-KEM-512
    MlKem512(Box<EncapsulationKey<MlKem512>>),
    /// ML-KEM-768
    MlKem768(Box<EncapsulationKey<MlKem768>>),
    /// ML-KEM-1024
    MlKem1024(Box<EncapsulationKey<MlKem1024>>),
    /// ML-DSA-44
    MlDsa44(Box<VerifyingKey<MlDsa44>>),
    /// ML-DSA-65
    MlDsa65(Box<VerifyingKey<MlDsa65>>),
    /// ML-DSA-87
    MlDsa87(Box<VerifyingKey<MlDsa87>>),
    /// SLH-DSA, of the key's parameter set
    SlhDsa(Box<slhdsa::VerifyingKey>),
    /// HSS, XMSS or XMSS^MT
    Stateful(Box<StatefulVerifyingKey>),
    /// A composite of ML-DSA and a curve
    Composite(Box<composite::VerifyingKey>),
    /// A composite of ML-KEM and a curve
    CompositeKem(Box<hybrid::EncapsulationKey>),
    /// A curve alone
    Curve(Box<CurveVerifyingKey>),
}

impl PublicKey {
    /// Which algorithm the key is for.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::MlKem512(_) => Algorithm::MlKem512,
            Self::MlKem768(_) => Algorithm::MlKem768,
            Self::MlKem1024(_) => Algorithm::MlKem1024,
            Self::MlDsa44(_) => Algorithm::MlDsa44,
            Self::MlDsa65(_) => Algorithm::MlDsa65,
            Self::MlDsa87(_) => Algorithm::MlDsa87,
            Self::SlhDsa(key) => key.parameter_set().name().parse().expect("both tables have its name"),
            Self::Stateful(key) => key.algorithm(),
            Self::Composite(key) => key.algorithm().name().parse().expect("both tables have its name"),
            Self::CompositeKem(key) => key.kem().name().parse().expect("both tables have its name"),
            Self::Curve(key) => key.algorithm(),
        }
    }

    /// The bytes of the key in the standard's encoding.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::MlKem512(key) => key.as_bytes(),
            Self::MlKem768(key) => key.as_bytes(),
            Self::MlKem1024(key) => key.as_bytes(),
            Self::MlDsa44(key) => key.as_bytes(),
            Self::MlDsa65(key) => key.as_bytes(),
            Self::MlDsa87(key) => key.as_bytes(),
            Self::SlhDsa(key) => key.as_bytes(),
            Self::Stateful(key) => key.as_bytes(),
            Self::Composite(key) => key.as_bytes(),
            Self::CompositeKem(key) => key.as_bytes(),
            Self::Curve(key) => key.as_bytes(),
        }
    }

    /// The key of these bytes in the standard's encoding.
    ///
    /// # Errors
    /// [`Error::EncapsulationKey`], [`Error::VerifyingKeyLength`], [`Error::HssKey`], [`Error::XmssKey`], [`Error::Composite`], [`Error::CompositeKem`],
    /// [`Error::CurveKey`].
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        if let Some(composite) = algorithm.composite() {
            return Ok(Self::Composite(Box::new(composite::VerifyingKey::from_bytes(composite, bytes)?)));
        }
        if let Some(kem) = algorithm.composite_kem() {
            return Ok(Self::CompositeKem(Box::new(hybrid::EncapsulationKey::from_bytes(kem, bytes)?)));
        }
        if let Some(set) = algorithm.slh_dsa() {
            let key = slhdsa::VerifyingKey::from_bytes(set, bytes).map_err(|error| {
                Error::VerifyingKeyLength { expected: error.expected, actual: error.actual }
            })?;
            return Ok(Self::SlhDsa(Box::new(key)));
        }
        Ok(match algorithm {
            Algorithm::MlKem512 => Self::MlKem512(kem(bytes)?),
            Algorithm::MlKem768 => Self::MlKem768(kem(bytes)?),
            Algorithm::MlKem1024 => Self::MlKem1024(kem(bytes)?),
            Algorithm::MlDsa44 => Self::MlDsa44(dsa(bytes)?),
            Algorithm::MlDsa65 => Self::MlDsa65(dsa(bytes)?),
            Algorithm::MlDsa87 => Self::MlDsa87(dsa(bytes)?),
            stateful if stateful.is_stateful() => {
                Self::Stateful(Box::new(StatefulVerifyingKey::new(stateful, bytes)?))
            }
            curve => Self::Curve(Box::new(CurveVerifyingKey::new(curve, bytes)?)),
        })
    }

    /// Verifies what [`PrivateKey::sign`](crate::PrivateKey::sign) makes, or a signature of HSS, XMSS or XMSS^MT.
    ///
    /// # Errors
    /// [`Error::NotASigningKey`], [`Error::Signature`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        self.verify_as(&self.algorithm().signature_identifier(), message, signature)
    }

    /// Verifies a signature that a file names by its algorithm.
    pub(crate) fn verify_as(
        &self,
        scheme: &AlgorithmIdentifierRef<'_>,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        if !self.algorithm().signs() {
            return Err(Error::NotASigningKey);
        }
        if scheme.parameters.is_some() {
            return Err(Error::Parameters);
        }
        let hashes = [ECDSA_WITH_SHA256, ECDSA_WITH_SHA384, ECDSA_WITH_SHA512];
        let fits = match self.algorithm() {
            Algorithm::EcdsaP256 | Algorithm::EcdsaP384 => hashes.contains(&scheme.oid),
            algorithm => algorithm.identifier().oid == scheme.oid,
        };
        if !fits {
            return Err(Error::SignatureAlgorithm { oid: scheme.oid.to_string() });
        }
        let valid = match self {
            Self::MlDsa44(key) => key.verify(message, signature).is_ok(),
            Self::MlDsa65(key) => key.verify(message, signature).is_ok(),
            Self::MlDsa87(key) => key.verify(message, signature).is_ok(),
            Self::SlhDsa(key) => key.verify(message, signature).is_ok(),
            Self::Stateful(key) => key.verify(message, signature).is_ok(),
            Self::Composite(key) => key.verify(message, b"", signature).is_ok(),
            Self::Curve(key) => key.verify_as(scheme.oid, message, signature).is_ok(),
            _ => false,
        };
        if valid { Ok(()) } else { Err(Error::Signature) }
    }

    /// Reads PEM or DER, whichever it is.
    ///
    /// # Errors
    /// Those of [`from_spki_pem`](Self::from_spki_pem) and [`from_spki_der`](Self::from_spki_der).
    pub fn read(file: &[u8]) -> Result<Self, Error> {
        Self::from_spki_der(&der_of(file, &[LABEL], "public keys")?).map_err(|error| {
            let others = outline::of_another(file).filter(|_| error == Error::Der);
            let others = others.filter(|found| !outline::KEYS.contains(found));
            others.map_or(error, |found| Error::AnotherFile {
                expected: "public key (SubjectPublicKeyInfo)",
                found,
            })
        })
    }

    /// Reads PEM with the label `PUBLIC KEY`.
    ///
    /// # Errors
    /// [`Error::Pem`], [`Error::Label`], [`Error::Several`], and those of [`from_spki_der`](Self::from_spki_der).
    pub fn from_spki_pem(text: &str) -> Result<Self, Error> {
        Self::from_spki_der(PemBlock::read_one(text.as_bytes(), &[LABEL], "public keys")?.as_der())
    }

    /// Reads DER.
    ///
    /// # Errors
    /// [`Error::Der`], [`Error::Algorithm`], [`Error::Parameters`], and those of [`from_bytes`](Self::from_bytes).
    pub fn from_spki_der(der: &[u8]) -> Result<Self, Error> {
        Self::from_info(&SubjectPublicKeyInfoRef::from_der(der).map_err(|_| Error::Der)?)
    }

    pub(crate) fn from_info(info: &SubjectPublicKeyInfoRef<'_>) -> Result<Self, Error> {
        let algorithm = Algorithm::of(&info.algorithm)?;
        Self::from_bytes(algorithm, info.subject_public_key.as_bytes().ok_or(Error::Der)?)
    }

    /// The key as DER.
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        self.document().into_vec()
    }

    /// The key as PEM.
    #[must_use]
    pub fn to_spki_pem(&self) -> String {
        self.document().to_pem(LABEL, LineEnding::LF).expect("a key is short enough for PEM")
    }

    fn document(&self) -> Document {
        let bytes = BitStringRef::from_bytes(self.as_bytes()).expect("a key is short enough for DER");
        let info =
            SubjectPublicKeyInfoRef { algorithm: self.algorithm().identifier(), subject_public_key: bytes };
        let der = info.to_der().expect("a key is short enough for DER");
        Document::try_from(der).expect("DER was just written")
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.algorithm() == other.algorithm() && self.as_bytes() == other.as_bytes()
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.algorithm())
    }
}

fn kem<P: mlkem::ParameterSet>(bytes: &[u8]) -> Result<Box<EncapsulationKey<P>>, Error> {
    Ok(Box::new(EncapsulationKey::try_from(bytes)?))
}

fn dsa<P: mldsa::ParameterSet>(bytes: &[u8]) -> Result<Box<VerifyingKey<P>>, Error> {
    let expected = P::VerifyingKeyBytes::LEN;
    let key = VerifyingKey::try_from(bytes)
        .map_err(|_| Error::VerifyingKeyLength { expected, actual: bytes.len() })?;
    Ok(Box::new(key))
}
