//! Private keys: PKCS#8 (RFC 5958), with the three forms of RFC 9935, §6 and RFC 9881, §6 for ML-KEM and ML-DSA, and the bare bytes of
//! RFC 9909, §7 for SLH-DSA.

use std::fmt;

use der::asn1::{AnyRef, OctetStringRef};
use der::pem::LineEnding;
use der::{Decode, Reader, SecretDocument, Tag, Tagged};
use gambeson::RngError;
use gambeson::mldsa::{MlDsa44, MlDsa65, MlDsa87, SigningKey};
use gambeson::mlkem::{DecapsulationKey, MlKem512, MlKem768, MlKem1024};
use gambeson::secret::Secret;
use gambeson::slhdsa;
use gambeson_hybrid::{composite, kem as hybrid};
use pkcs8::PrivateKeyInfoRef;
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use crate::algorithm::Algorithm;
use crate::curve::CurveSigningKey;
use crate::encryption::{self, Encryption};
use crate::error::Error;
use crate::forms::{Parts, dsa, kem, lengths};
use crate::guard::guarded;
use crate::outline;
use crate::pem::{PemBlock, is_der};
use crate::public::PublicKey;

const LABEL: &str = "PRIVATE KEY";
const ENCRYPTED_LABEL: &str = "ENCRYPTED PRIVATE KEY";
/// `ECPrivateKey` alone (RFC 5915, §4).
const EC_LABEL: &str = "EC PRIVATE KEY";
const OBJECTS: &str = "private keys";

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
    MlKem512(DecapsulationKey<MlKem512>),
    /// ML-KEM-768
    MlKem768(DecapsulationKey<MlKem768>),
    /// ML-KEM-1024
    MlKem1024(DecapsulationKey<MlKem1024>),
    /// ML-DSA-44
    MlDsa44(SigningKey<MlDsa44>),
    /// ML-DSA-65
    MlDsa65(SigningKey<MlDsa65>),
    /// ML-DSA-87
    MlDsa87(SigningKey<MlDsa87>),
    /// SLH-DSA, of the key's parameter set
    SlhDsa(Box<slhdsa::SigningKey>),
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
    /// [`Error::Random`] when that generator fails; [`Error::Stateful`].
    pub fn generate(algorithm: Algorithm) -> Result<Self, Error> {
        guarded(|| {
            if algorithm.is_stateful() {
                return Err(Error::Stateful { algorithm });
            }
            if let Some(set) = algorithm.slh_dsa() {
                return Ok(Self::SlhDsa(Box::new(slhdsa::SigningKey::generate(set)?)));
            }
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
            let seed = &mut seed.expose_mut()[..lengths(algorithm).seed];
            getrandom::fill(seed).map_err(|_| RngError)?;
            Ok(Self::from_seed(algorithm, seed).expect("the seed has the algorithm's length"))
        })
    }

    /// The key of a seed: d ‖ z for ML-KEM (64 bytes), ξ for ML-DSA (32 bytes), RFC 8032's for Ed25519 (32 bytes) and Ed448 (57
    /// bytes).
    ///
    /// # Errors
    /// [`Error::SeedLength`]; [`Error::OneForm`] for SLH-DSA, ECDSA and composites, whose keys are no seeds.
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
            Self::SlhDsa(key) => key.parameter_set().name().parse().expect("both tables have its name"),
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
            Self::SlhDsa(key) => PublicKey::SlhDsa(Box::new(key.verifying_key())),
            Self::Composite(key) => PublicKey::Composite(Box::new(key.verifying_key())),
            Self::CompositeKem(key) => PublicKey::CompositeKem(Box::new(key.encapsulation_key())),
            Self::Curve(key) => PublicKey::Curve(Box::new(key.verifying_key())),
        })
    }

    /// The seed, unless the key was imported without it: d ‖ z for ML-KEM, ξ for ML-DSA, RFC 8032's for Ed25519 and Ed448. SLH-DSA,
    /// ECDSA and composites have none.
    #[must_use]
    pub fn seed(&self) -> Option<&[u8]> {
        match self {
            Self::MlKem512(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlKem768(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlKem1024(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlDsa44(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlDsa65(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::MlDsa87(key) => key.seed().map(|seed| &seed.expose()[..]),
            Self::SlhDsa(_) | Self::Composite(_) | Self::CompositeKem(_) => None,
            Self::Curve(key) => key.seed(),
        }
    }

    /// The expanded key in the encoding of FIPS 203 or 204; of other algorithms, what PKCS#8 has inside.
    #[must_use]
    pub fn to_expanded_bytes(&self) -> Zeroizing<Vec<u8>> {
        guarded(|| {
            Zeroizing::new(match self {
                Self::MlKem512(key) => key.to_encoded().expose().to_vec(),
                Self::MlKem768(key) => key.to_encoded().expose().to_vec(),
                Self::MlKem1024(key) => key.to_encoded().expose().to_vec(),
                Self::MlDsa44(key) => key.to_encoded().expose().to_vec(),
                Self::MlDsa65(key) => key.to_encoded().expose().to_vec(),
                Self::MlDsa87(key) => key.to_encoded().expose().to_vec(),
                Self::SlhDsa(key) => key.expose_bytes().to_vec(),
                Self::Composite(key) => key.expose_bytes().to_vec(),
                Self::CompositeKem(key) => key.expose_bytes().to_vec(),
                Self::Curve(key) => return key.to_inner(),
            })
        })
    }

    /// Signs `message` as certificates are signed: ML-DSA, SLH-DSA and composites hedged, with the empty context; EdDSA; ECDSA in DER with
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
                Self::SlhDsa(key) => key.sign(message)?,
                Self::Composite(key) => {
                    key.sign(message, b"").map_err(|_| Error::Random(RngError))?.as_bytes().to_vec()
                }
                Self::Curve(key) => key.sign(message),
            })
        })
    }

    /// Reads PEM or DER, encrypted or not, whichever it is. A passphrase for a file that is not encrypted is not used.
    ///
    /// Keys of ECDSA are read from `ECPrivateKey` (RFC 5915) too, with the parameters before them that OpenSSL writes.
    ///
    /// # Errors
    /// [`Error::Encrypted`] when a passphrase is needed and none is given; [`Error::Several`]; [`Error::AnotherFile`]; else those of the functions below.
    pub fn read(file: &[u8], passphrase: Option<&[u8]>) -> Result<Self, Error> {
        guarded(|| {
            if is_der(file) {
                return Self::from_any_der(file, passphrase);
            }
            let block = PemBlock::read_one(file, &[LABEL, ENCRYPTED_LABEL, EC_LABEL], OBJECTS)?;
            match (block.label(), passphrase) {
                (ENCRYPTED_LABEL, None) => encryption::check(block.as_der()).and(Err(Error::Encrypted)),
                (ENCRYPTED_LABEL, Some(passphrase)) => {
                    Self::from_encrypted_pkcs8_der(block.as_der(), passphrase)
                }
                (EC_LABEL, _) => {
                    let parameters = PemBlock::read_one(file, &["EC PARAMETERS"], "EC parameters");
                    let parameters = parameters.as_ref().map_or(&[][..], PemBlock::as_der);
                    Self::from_ec_der(block.as_der(), parameters)
                }
                _ => Self::from_pkcs8_der(block.as_der()),
            }
        })
    }

    fn from_any_der(der: &[u8], passphrase: Option<&[u8]>) -> Result<Self, Error> {
        if outline::is_ec_private_key(der) {
            return Self::from_ec_der(der, &[]);
        }
        let read = match (looks_encrypted(der), passphrase) {
            (false, _) => Self::from_pkcs8_der(der),
            (true, None) => encryption::check(der).and(Err(Error::Encrypted)),
            (true, Some(passphrase)) => Self::from_encrypted_pkcs8_der(der, passphrase),
        };
        read.map_err(|error| {
            let others = outline::of_another(der).filter(|_| error == Error::Der);
            let others = others.filter(|found| !outline::KEYS.contains(found));
            others.map_or(error, |found| Error::AnotherFile { expected: "private key (PKCS#8)", found })
        })
    }

    /// Reads `ECPrivateKey` (RFC 5915, §3); the curve is named inside, or before it in the DER of `parameters`.
    fn from_ec_der(der: &[u8], parameters: &[u8]) -> Result<Self, Error> {
        let curve = outline::curve_of(der).map_or(parameters, |inside| inside);
        let curve = AnyRef::from_der(curve).map_err(|_| Error::Parameters)?;
        let oid = Algorithm::EcdsaP256.identifier().oid;
        let algorithm = Algorithm::of(&AlgorithmIdentifierRef { oid, parameters: Some(curve) })?;
        Self::from_inner(algorithm, der)
    }

    /// Reads PEM with the label `PRIVATE KEY`.
    ///
    /// # Errors
    /// [`Error::Pem`], [`Error::Label`], [`Error::Several`], [`Error::Encrypted`], and those of
    /// [`from_pkcs8_der`](Self::from_pkcs8_der).
    pub fn from_pkcs8_pem(text: &str) -> Result<Self, Error> {
        guarded(|| {
            let block = PemBlock::read_one(text.as_bytes(), &[LABEL, ENCRYPTED_LABEL], OBJECTS)?;
            if block.label() == ENCRYPTED_LABEL {
                return Err(Error::Encrypted);
            }
            Self::from_pkcs8_der(block.as_der())
        })
    }

    /// Reads DER.
    ///
    /// A seed beside an expanded key, and a public key beside a private one, must fit.
    ///
    /// # Errors
    /// [`Error::Der`], [`Error::Encrypted`], [`Error::Algorithm`], [`Error::Parameters`], [`Error::PrivateKey`],
    /// [`Error::SeedLength`], [`Error::SeedMismatch`], [`Error::PublicKeyMismatch`], [`Error::DecapsulationKey`],
    /// [`Error::SigningKey`], [`Error::PrivateKeyLength`], [`Error::Stateful`], [`Error::Composite`], [`Error::CompositeKem`],
    /// [`Error::CurveKey`].
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
            let block = PemBlock::read_one(text.as_bytes(), &[ENCRYPTED_LABEL], OBJECTS)?;
            Self::from_encrypted_pkcs8_der(block.as_der(), passphrase)
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
            let (parts, public) = Parts::read(algorithm, inner)?;
            let key = Self::from_parts(algorithm, &parts)?;
            match public {
                Some(public) if public != key.public_key().as_bytes() => Err(Error::PublicKeyMismatch),
                _ => Ok(key),
            }
        } else if algorithm.is_stateful() {
            Err(Error::Stateful { algorithm })
        } else if let Some(set) = algorithm.slh_dsa() {
            let key = slhdsa::SigningKey::from_bytes(set, inner).map_err(|error| match error {
                slhdsa::SigningKeyError::Length(error) => {
                    Error::PrivateKeyLength { expected: error.expected, actual: error.actual }
                }
                _ => Error::PublicKeyMismatch,
            })?;
            Ok(Self::SlhDsa(Box::new(key)))
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
