//! Private keys: PKCS#8 (RFC 5958), with the three forms of RFC 9935, §6 and RFC 9881, §6 for ML-KEM and ML-DSA.

use std::fmt;

use der::asn1::{AnyRef, OctetStringRef};
use der::pem::LineEnding;
use der::{Decode, Encode, Reader, SecretDocument, Tag, TagNumber, Tagged};
use gambeson::RngError;
use gambeson::mldsa::{self, ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87};
use gambeson::mlkem::{self, ExpandedDecapsulationKey, MlKem512, MlKem768, MlKem1024};
use gambeson::secret::{Secret, equal};
use gambeson_hybrid::{composite, kem as hybrid};
use pkcs8::PrivateKeyInfoRef;
use zeroize::Zeroizing;

use crate::algorithm::Algorithm;
use crate::curve::CurveSigningKey;
use crate::encryption::{self, Encryption};
use crate::error::Error;
use crate::guard::guarded;
use crate::public::{PublicKey, check_label, text_of};

const LABEL: &str = "PRIVATE KEY";
const ENCRYPTED_LABEL: &str = "ENCRYPTED PRIVATE KEY";
/// `[0] IMPLICIT OCTET STRING`
const SEED_TAG: Tag = Tag::ContextSpecific { constructed: false, number: TagNumber(0) };

/// What of a private key of ML-KEM or ML-DSA stands in a file; all other keys have one form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The seed: 64 bytes for ML-KEM, 32 for ML-DSA. The short form, and the one that the RFCs recommend.
    #[default]
    Seed,
    /// The expanded key of FIPS 203 or 204, without the seed: for readers that know nothing else.
    Expanded,
    /// Both, as OpenSSL writes by default.
    Both,
}

/// A private key of any algorithm here, ready for use. It lives on the heap and is wiped when dropped.
///
/// ```
/// use gambeson_pki::{Algorithm, Form, PrivateKey};
///
/// let key = PrivateKey::generate(Algorithm::MlDsa65)?;
/// let pem = key.to_pkcs8_pem(Form::Seed)?;
/// let PrivateKey::MlDsa65(again) = PrivateKey::from_pkcs8_pem(&pem)? else { unreachable!() };
///
/// let signature = again.sign(b"quilted linen")?;
/// again.verifying_key().verify(b"quilted linen", &signature).expect("our own signature");
/// # Ok::<(), gambeson_pki::Error>(())
/// ```
#[non_exhaustive]
pub enum PrivateKey {
    /// ML-KEM-512
    MlKem512(ExpandedDecapsulationKey<MlKem512>),
    /// ML-KEM-768
    MlKem768(ExpandedDecapsulationKey<MlKem768>),
    /// ML-KEM-1024
    MlKem1024(ExpandedDecapsulationKey<MlKem1024>),
    /// ML-DSA-44
    MlDsa44(ExpandedSigningKey<MlDsa44>),
    /// ML-DSA-65
    MlDsa65(ExpandedSigningKey<MlDsa65>),
    /// ML-DSA-87
    MlDsa87(ExpandedSigningKey<MlDsa87>),
    /// A composite of ML-DSA and a curve
    Composite(Box<composite::SigningKey>),
    /// A composite of ML-KEM and a curve
    CompositeKem(Box<hybrid::DecapsulationKey>),
    /// A curve alone
    Curve(Box<CurveSigningKey>),
}

impl PrivateKey {
    /// Makes a key from the operating system's generator.
    ///
    /// # Errors
    /// [`RngError`] when that generator fails.
    pub fn generate(algorithm: Algorithm) -> Result<Self, RngError> {
        guarded(|| {
            if let Some(composite) = algorithm.composite() {
                let key = composite::SigningKey::generate(composite).map_err(|_| RngError)?;
                return Ok(Self::Composite(Box::new(key)));
            }
            if let Some(kem) = algorithm.composite_kem() {
                let key = hybrid::DecapsulationKey::generate(kem).map_err(|_| RngError)?;
                return Ok(Self::CompositeKem(Box::new(key)));
            }
            if !algorithm.has_forms() {
                return Ok(Self::Curve(Box::new(CurveSigningKey::generate(algorithm)?)));
            }
            let mut seed = Secret::new([0; 64]);
            let seed = &mut seed.expose_mut()[..seed_len(algorithm)];
            getrandom::fill(seed).map_err(|_| RngError)?;
            Ok(Self::from_seed(algorithm, seed).expect("the seed has the algorithm's length"))
        })
    }

    /// The key of a seed: d ‖ z for ML-KEM (64 bytes), ξ for ML-DSA (32 bytes), RFC 8032's for Ed25519 (32 bytes) and Ed448 (57
    /// bytes).
    ///
    /// # Errors
    /// [`Error::SeedLength`]; [`Error::OneForm`] for ECDSA and composites, whose keys are no seeds.
    pub fn from_seed(algorithm: Algorithm, seed: &[u8]) -> Result<Self, Error> {
        guarded(|| {
            if algorithm.has_forms() {
                Self::from_parts(algorithm, &Parts::Seed(seed))
            } else {
                Ok(Self::Curve(Box::new(CurveSigningKey::from_seed(algorithm, seed)?)))
            }
        })
    }

    /// The key of an expanded key in the encoding of FIPS 203 or 204.
    ///
    /// # Errors
    /// [`Error::DecapsulationKey`], [`Error::SigningKey`]; [`Error::OneForm`] for other algorithms.
    pub fn from_expanded_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        guarded(|| Self::from_parts(algorithm, &Parts::Expanded(bytes)))
    }

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
            Self::Composite(key) => key.algorithm().name().parse().expect("both tables have its name"),
            Self::CompositeKem(key) => key.kem().name().parse().expect("both tables have its name"),
            Self::Curve(key) => key.algorithm(),
        }
    }

    /// The public half.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        guarded(|| match self {
            Self::MlKem512(key) => PublicKey::MlKem512(Box::new(key.encapsulation_key())),
            Self::MlKem768(key) => PublicKey::MlKem768(Box::new(key.encapsulation_key())),
            Self::MlKem1024(key) => PublicKey::MlKem1024(Box::new(key.encapsulation_key())),
            Self::MlDsa44(key) => PublicKey::MlDsa44(Box::new(key.verifying_key())),
            Self::MlDsa65(key) => PublicKey::MlDsa65(Box::new(key.verifying_key())),
            Self::MlDsa87(key) => PublicKey::MlDsa87(Box::new(key.verifying_key())),
            Self::Composite(key) => PublicKey::Composite(Box::new(key.verifying_key())),
            Self::CompositeKem(key) => PublicKey::CompositeKem(Box::new(key.encapsulation_key())),
            Self::Curve(key) => PublicKey::Curve(Box::new(key.verifying_key())),
        })
    }

    /// The seed, unless the key was imported without it: d ‖ z for ML-KEM, ξ for ML-DSA, RFC 8032's for Ed25519 and Ed448. ECDSA
    /// and composites have none.
    #[must_use]
    pub fn seed(&self) -> Option<&[u8]> {
        match self {
            Self::MlKem512(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlKem768(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlKem1024(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlDsa44(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlDsa65(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlDsa87(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::Composite(_) | Self::CompositeKem(_) => None,
            Self::Curve(key) => key.seed(),
        }
    }

    /// The expanded key in the encoding of FIPS 203 or 204; of other algorithms, what PKCS#8 has inside.
    #[must_use]
    pub fn to_expanded_bytes(&self) -> Zeroizing<Vec<u8>> {
        guarded(|| {
            Zeroizing::new(match self {
                Self::MlKem512(key) => key.to_expanded_bytes().expose().to_vec(),
                Self::MlKem768(key) => key.to_expanded_bytes().expose().to_vec(),
                Self::MlKem1024(key) => key.to_expanded_bytes().expose().to_vec(),
                Self::MlDsa44(key) => key.to_expanded_bytes().expose().to_vec(),
                Self::MlDsa65(key) => key.to_expanded_bytes().expose().to_vec(),
                Self::MlDsa87(key) => key.to_expanded_bytes().expose().to_vec(),
                Self::Composite(key) => key.expose_bytes().to_vec(),
                Self::CompositeKem(key) => key.expose_bytes().to_vec(),
                Self::Curve(key) => return key.to_inner(),
            })
        })
    }

    /// Signs `message` as certificates are signed: ML-DSA and composites hedged, with the empty context; EdDSA; ECDSA in DER with
    /// the curve's own hash.
    ///
    /// # Errors
    /// [`Error::NotASigningKey`], [`Error::Random`].
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        guarded(|| {
            Ok(match self {
                Self::MlKem512(_) | Self::MlKem768(_) | Self::MlKem1024(_) | Self::CompositeKem(_) => {
                    return Err(Error::NotASigningKey);
                }
                Self::MlDsa44(key) => key.sign(message)?.as_ref().to_vec(),
                Self::MlDsa65(key) => key.sign(message)?.as_ref().to_vec(),
                Self::MlDsa87(key) => key.sign(message)?.as_ref().to_vec(),
                Self::Composite(key) => {
                    key.sign(message, b"").map_err(|_| Error::Random(RngError))?.as_bytes().to_vec()
                }
                Self::Curve(key) => key.sign(message),
            })
        })
    }

    /// Reads PEM or DER, encrypted or not, whichever it is. A passphrase for a file that is not encrypted is not used.
    ///
    /// # Errors
    /// [`Error::Encrypted`] when a passphrase is needed and none is given; else those of the functions below.
    pub fn read(file: &[u8], passphrase: Option<&[u8]>) -> Result<Self, Error> {
        guarded(|| {
            let (document, encrypted);
            let der = match text_of(file)? {
                Some(text) => {
                    encrypted = check_label(text, &[LABEL, ENCRYPTED_LABEL])? == ENCRYPTED_LABEL;
                    document = SecretDocument::from_pem(text).map_err(|_| Error::Pem)?.1;
                    document.as_bytes()
                }
                None => {
                    encrypted = looks_encrypted(file);
                    file
                }
            };
            match (encrypted, passphrase) {
                (false, _) => Self::from_pkcs8_der(der),
                (true, None) => Err(Error::Encrypted),
                (true, Some(passphrase)) => Self::from_encrypted_pkcs8_der(der, passphrase),
            }
        })
    }

    /// Reads PEM with the label `PRIVATE KEY`.
    ///
    /// # Errors
    /// [`Error::Pem`], [`Error::Label`], [`Error::Encrypted`], and those of [`from_pkcs8_der`](Self::from_pkcs8_der).
    pub fn from_pkcs8_pem(text: &str) -> Result<Self, Error> {
        guarded(|| {
            if check_label(text, &[LABEL, ENCRYPTED_LABEL])? == ENCRYPTED_LABEL {
                return Err(Error::Encrypted);
            }
            let (_, document) = SecretDocument::from_pem(text).map_err(|_| Error::Pem)?;
            Self::from_pkcs8_der(document.as_bytes())
        })
    }

    /// Reads DER.
    ///
    /// A seed beside an expanded key, and a public key beside a private one, must fit.
    ///
    /// # Errors
    /// [`Error::Der`], [`Error::Encrypted`], [`Error::Algorithm`], [`Error::Parameters`], [`Error::PrivateKey`],
    /// [`Error::SeedLength`], [`Error::SeedMismatch`], [`Error::PublicKeyMismatch`], [`Error::DecapsulationKey`],
    /// [`Error::SigningKey`], [`Error::Composite`], [`Error::CompositeKem`], [`Error::CurveKey`].
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, Error> {
        guarded(|| {
            if looks_encrypted(der) {
                return Err(Error::Encrypted);
            }
            let info = PrivateKeyInfoRef::from_der(der).map_err(|_| Error::Der)?;
            let algorithm = Algorithm::of(&info.algorithm)?;
            let key = Self::from_inner(algorithm, info.private_key.as_bytes())?;
            match info.public_key {
                Some(public) if public.as_bytes() != Some(key.public_key().as_bytes()) => {
                    Err(Error::PublicKeyMismatch)
                }
                _ => Ok(key),
            }
        })
    }

    /// Reads PEM with the label `ENCRYPTED PRIVATE KEY`.
    ///
    /// # Errors
    /// [`Error::Pem`], [`Error::Label`], and those of [`from_encrypted_pkcs8_der`](Self::from_encrypted_pkcs8_der).
    pub fn from_encrypted_pkcs8_pem(text: &str, passphrase: &[u8]) -> Result<Self, Error> {
        guarded(|| {
            check_label(text, &[ENCRYPTED_LABEL])?;
            let (_, document) = SecretDocument::from_pem(text).map_err(|_| Error::Pem)?;
            Self::from_encrypted_pkcs8_der(document.as_bytes(), passphrase)
        })
    }

    /// Reads encrypted DER: PBES2 with PBKDF2 (HMAC with SHA-2) or scrypt, and AES.
    ///
    /// # Errors
    /// [`Error::WrongPassphrase`], [`Error::UnsupportedEncryption`], [`Error::ExcessiveWork`], and those of
    /// [`from_pkcs8_der`](Self::from_pkcs8_der).
    pub fn from_encrypted_pkcs8_der(der: &[u8], passphrase: &[u8]) -> Result<Self, Error> {
        guarded(|| {
            let decrypted = encryption::decrypt(der, passphrase)?;
            // One wrong passphrase in 256 yields bytes with a right padding: they are no DER.
            match Self::from_pkcs8_der(&decrypted) {
                Err(Error::Der | Error::Encrypted) => Err(Error::WrongPassphrase),
                result => result,
            }
        })
    }

    /// The key as DER.
    ///
    /// # Errors
    /// [`Error::NoSeed`] when `form` has a seed and this key was imported without it.
    pub fn to_pkcs8_der(&self, form: Form) -> Result<Zeroizing<Vec<u8>>, Error> {
        guarded(|| Ok(self.document(form)?.to_bytes()))
    }

    /// The key as PEM.
    ///
    /// # Errors
    /// [`Error::NoSeed`].
    pub fn to_pkcs8_pem(&self, form: Form) -> Result<Zeroizing<String>, Error> {
        guarded(|| Ok(to_pem(&self.document(form)?, LABEL)))
    }

    /// The key as DER, encrypted with a passphrase.
    ///
    /// # Errors
    /// [`Error::NoSeed`], [`Error::EmptyPassphrase`], [`Error::Random`].
    pub fn to_encrypted_pkcs8_der(
        &self,
        form: Form,
        passphrase: &[u8],
        encryption: Encryption,
    ) -> Result<Vec<u8>, Error> {
        guarded(|| {
            let document = encryption::encrypt(self.document(form)?.as_bytes(), passphrase, encryption)?;
            Ok(document.as_bytes().to_vec())
        })
    }

    /// The key as PEM, encrypted with a passphrase.
    ///
    /// # Errors
    /// [`Error::NoSeed`], [`Error::EmptyPassphrase`], [`Error::Random`].
    pub fn to_encrypted_pkcs8_pem(
        &self,
        form: Form,
        passphrase: &[u8],
        encryption: Encryption,
    ) -> Result<String, Error> {
        guarded(|| {
            let document = encryption::encrypt(self.document(form)?.as_bytes(), passphrase, encryption)?;
            Ok(to_pem(&document, ENCRYPTED_LABEL).to_string())
        })
    }

    /// What stands in the OCTET STRING of PKCS#8.
    fn from_inner(algorithm: Algorithm, inner: &[u8]) -> Result<Self, Error> {
        if algorithm.has_forms() {
            Self::from_parts(algorithm, &Parts::decode(inner)?)
        } else if let Some(composite) = algorithm.composite() {
            Ok(Self::Composite(Box::new(composite::SigningKey::from_bytes(composite, inner)?)))
        } else if let Some(kem) = algorithm.composite_kem() {
            Ok(Self::CompositeKem(Box::new(hybrid::DecapsulationKey::from_bytes(kem, inner)?)))
        } else {
            Ok(Self::Curve(Box::new(CurveSigningKey::from_inner(algorithm, inner)?)))
        }
    }

    fn document(&self, form: Form) -> Result<SecretDocument, Error> {
        let seed = || self.seed().ok_or(Error::NoSeed);
        let expanded;
        let parts = match form {
            _ if !self.algorithm().has_forms() => {
                expanded = self.to_expanded_bytes();
                return Ok(self.around(&expanded));
            }
            Form::Seed => Parts::Seed(seed()?),
            Form::Expanded => {
                expanded = self.to_expanded_bytes();
                Parts::Expanded(&expanded)
            }
            Form::Both => {
                expanded = self.to_expanded_bytes();
                Parts::Both { seed: seed()?, expanded: &expanded }
            }
        };
        Ok(self.around(&parts.encode()))
    }

    fn around(&self, inner: &[u8]) -> SecretDocument {
        let private_key = OctetStringRef::new(inner).expect("a key is short enough for DER");
        let info = PrivateKeyInfoRef::new(self.algorithm().identifier(), private_key);
        SecretDocument::try_from(info).expect("a key is short enough for DER")
    }

    fn from_parts(algorithm: Algorithm, parts: &Parts<'_>) -> Result<Self, Error> {
        Ok(match algorithm {
            Algorithm::MlKem512 => Self::MlKem512(kem(parts)?),
            Algorithm::MlKem768 => Self::MlKem768(kem(parts)?),
            Algorithm::MlKem1024 => Self::MlKem1024(kem(parts)?),
            Algorithm::MlDsa44 => Self::MlDsa44(dsa(parts)?),
            Algorithm::MlDsa65 => Self::MlDsa65(dsa(parts)?),
            Algorithm::MlDsa87 => Self::MlDsa87(dsa(parts)?),
            _ => return Err(Error::OneForm),
        })
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({}, [redacted])", self.algorithm())
    }
}

/// The CHOICE inside the OCTET STRING of PKCS#8.
enum Parts<'a> {
    Seed(&'a [u8]),
    Expanded(&'a [u8]),
    Both { seed: &'a [u8], expanded: &'a [u8] },
}

impl<'a> Parts<'a> {
    fn decode(der: &'a [u8]) -> Result<Self, Error> {
        let any = AnyRef::from_der(der).map_err(|_| Error::PrivateKey)?;
        match any.tag() {
            SEED_TAG => Ok(Self::Seed(any.value())),
            Tag::OctetString => Ok(Self::Expanded(any.value())),
            Tag::Sequence => any
                .sequence(|reader| {
                    let seed = reader.decode::<&OctetStringRef>()?.as_bytes();
                    let expanded = reader.decode::<&OctetStringRef>()?.as_bytes();
                    Ok::<_, der::Error>(Self::Both { seed, expanded })
                })
                .map_err(|_| Error::PrivateKey),
            _ => Err(Error::PrivateKey),
        }
    }

    fn encode(&self) -> Zeroizing<Vec<u8>> {
        match self {
            Self::Seed(seed) => tlv(SEED_TAG, &[seed]),
            Self::Expanded(expanded) => tlv(Tag::OctetString, &[expanded]),
            Self::Both { seed, expanded } => {
                let (seed, expanded) = (tlv(Tag::OctetString, &[seed]), tlv(Tag::OctetString, &[expanded]));
                tlv(Tag::Sequence, &[&seed, &expanded])
            }
        }
    }
}

/// Tag, length, value; in one allocation, so that no copy of a secret is left behind.
fn tlv(tag: Tag, values: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let len: usize = values.iter().map(|value| value.len()).sum();
    let len = der::Length::try_from(len).expect("a key is short enough for DER");
    let header = der::Header::new(tag, len).to_der().expect("a key is short enough for DER");
    let mut out =
        Zeroizing::new(Vec::with_capacity(header.len() + usize::try_from(len).expect("it was one")));
    out.extend_from_slice(&header);
    values.iter().for_each(|value| out.extend_from_slice(value));
    out
}

fn kem<P: mlkem::ParameterSet>(parts: &Parts<'_>) -> Result<ExpandedDecapsulationKey<P>, Error> {
    let from_seed = |seed: &[u8]| {
        let error = Error::SeedLength { expected: 64, actual: seed.len() };
        Ok::<_, Error>(ExpandedDecapsulationKey::<P>::from_seed(seed.try_into().map_err(|_| error)?))
    };
    Ok(match parts {
        Parts::Seed(seed) => from_seed(seed)?,
        Parts::Expanded(bytes) => ExpandedDecapsulationKey::from_expanded_bytes(bytes)?,
        Parts::Both { seed, expanded } => {
            let key = from_seed(seed)?;
            check_expanded(key.to_expanded_bytes().expose(), expanded)?;
            key
        }
    })
}

fn dsa<P: mldsa::ParameterSet>(parts: &Parts<'_>) -> Result<ExpandedSigningKey<P>, Error> {
    let from_seed = |seed: &[u8]| {
        let error = Error::SeedLength { expected: 32, actual: seed.len() };
        Ok::<_, Error>(ExpandedSigningKey::<P>::from_seed(seed.try_into().map_err(|_| error)?))
    };
    Ok(match parts {
        Parts::Seed(seed) => from_seed(seed)?,
        Parts::Expanded(bytes) => ExpandedSigningKey::from_expanded_bytes(bytes)?,
        Parts::Both { seed, expanded } => {
            let key = from_seed(seed)?;
            check_expanded(key.to_expanded_bytes().expose().as_ref(), expanded)?;
            key
        }
    })
}

fn check_expanded(made: &[u8], found: &[u8]) -> Result<(), Error> {
    if equal(made, found) { Ok(()) } else { Err(Error::SeedMismatch) }
}

const fn seed_len(algorithm: Algorithm) -> usize {
    match algorithm {
        Algorithm::MlKem512 | Algorithm::MlKem768 | Algorithm::MlKem1024 => 64,
        _ => 32,
    }
}

/// An encrypted key is a SEQUENCE and an OCTET STRING; a plain one begins with its version, and what follows the
/// SEQUENCE of a public one is a BIT STRING.
fn looks_encrypted(der: &[u8]) -> bool {
    let tags = AnyRef::from_der(der).and_then(|any| {
        let mut reader = der::SliceReader::new(any.value())?;
        Ok((reader.decode::<AnyRef<'_>>()?.tag(), reader.decode::<AnyRef<'_>>()?.tag()))
    });
    tags == Ok((Tag::Sequence, Tag::OctetString))
}

fn to_pem(document: &SecretDocument, label: &'static str) -> Zeroizing<String> {
    document.to_pem(label, LineEnding::LF).expect("a key is short enough for PEM")
}
