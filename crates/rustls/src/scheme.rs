//! Signature schemes: which algorithm has which number.

use std::fmt;
use std::sync::Arc;

use gambeson_pki::{Algorithm, PrivateKey};
use rustls::SignatureScheme;
use rustls::sign::SigningKey;

use crate::{signing, verification};

/// The number by which a handshake names an algorithm that signs.
///
/// Those of ML-DSA and Ed448 are registered. Composite signatures have none yet: [`Scheme::MLDSA87_ED448`] has one from the range
/// for private use (0xFE00 to 0xFFFF), and [`Scheme::composite`] gives any to any of them, except those that other schemes have.
/// [`Scheme::slh_dsa`] has the numbers of draft-reddy-tls-slhdsa.
///
/// ```
/// use gambeson_pki::Algorithm;
/// use gambeson_rustls::{Builder, Preset, Scheme};
///
/// let scheme = Scheme::composite(Algorithm::MlDsa65Ed25519, 0xfe34)?;
/// let provider = Builder::new(Preset::Default).scheme(scheme).build()?;
/// let offered = provider.signature_verification_algorithms.supported_schemes();
/// assert_eq!(u16::from(offered[0]), 0xfe34);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    number: u16,
    algorithm: Algorithm,
}

impl Scheme {
    /// `mldsa44`, 0x0904 (draft-ietf-tls-mldsa).
    pub const ML_DSA_44: Self = Self { number: 0x0904, algorithm: Algorithm::MlDsa44 };
    /// `mldsa65`, 0x0905 (draft-ietf-tls-mldsa).
    pub const ML_DSA_65: Self = Self { number: 0x0905, algorithm: Algorithm::MlDsa65 };
    /// `mldsa87`, 0x0906 (draft-ietf-tls-mldsa).
    pub const ML_DSA_87: Self = Self { number: 0x0906, algorithm: Algorithm::MlDsa87 };
    /// `ed448`, 0x0808 (RFC 8446).
    pub const ED448: Self = Self { number: 0x0808, algorithm: Algorithm::Ed448 };
    /// MLDSA87-Ed448-SHAKE256, 0xFE12: private use.
    pub const MLDSA87_ED448: Self = Self { number: 0xfe12, algorithm: Algorithm::MlDsa87Ed448 };

    /// The scheme of a parameter set of SLH-DSA, 0x0911 to 0x091C (draft-reddy-tls-slhdsa). Only [`Builder::slh_dsa`] and
    /// [`Builder::scheme`] enable it.
    ///
    /// 0x0912, `slhdsa_sha2_128f`, was the number of a composite in old drafts of composites: a peer that implements such a draft takes
    /// one for the other, and the handshake fails. [`Scheme::composite`] refuses the numbers of SLH-DSA, so one provider never has both.
    ///
    /// ```
    /// use gambeson_pki::{Algorithm, PrivateKey};
    /// use gambeson_rustls::Scheme;
    ///
    /// let scheme = Scheme::slh_dsa(Algorithm::SlhDsaSha2_128f)?;
    /// assert_eq!(scheme.number(), 0x0912);
    /// let key = scheme.signing_key(PrivateKey::generate(Algorithm::SlhDsaSha2_128f)?)?;
    /// # let _ = key;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`Builder::slh_dsa`]: crate::Builder::slh_dsa
    /// [`Builder::scheme`]: crate::Builder::scheme
    ///
    /// # Errors
    /// [`SchemeError::NotSlhDsa`].
    pub fn slh_dsa(algorithm: Algorithm) -> Result<Self, SchemeError> {
        let scheme = SLH_DSA.iter().find(|scheme| scheme.algorithm == algorithm);
        scheme.copied().ok_or(SchemeError::NotSlhDsa { algorithm })
    }

    /// A scheme of a composite algorithm, under a number on which both sides have agreed.
    ///
    /// # Errors
    /// [`SchemeError::NotComposite`]; [`SchemeError::NeverNegotiated`]; [`SchemeError::Taken`].
    pub fn composite(algorithm: Algorithm, number: u16) -> Result<Self, SchemeError> {
        if !verification::is_composite(algorithm) {
            return Err(SchemeError::NotComposite { algorithm });
        }
        // rustls takes the high byte for a hash function and the low one for an algorithm, as TLS 1.2 did, and drops schemes with
        // those that TLS 1.3 forbids: none, MD5, SHA-1, SHA-224; anonymous, RSA, DSA.
        let [hash, signature] = number.to_be_bytes();
        if hash <= 3 || signature <= 2 {
            return Err(SchemeError::NeverNegotiated { number });
        }
        let known = SignatureScheme::from(number).as_str().is_some();
        // Registered schemes that rustls does not name: RSA PKCS#1 v1.5 of clients (RFC 9963), ECCSI, IBS, SM2 and GOST, and the curves
        // of brainpool (RFC 8734).
        let registered = matches!(number, 0x0420 | 0x0520 | 0x0620 | 0x0704..=0x070f | 0x081a..=0x081c);
        // Drafts of composites once had 0x0912.
        let slh_dsa = SLH_DSA.iter().any(|scheme| scheme.number == number);
        if known || registered || slh_dsa {
            return Err(SchemeError::Taken { number });
        }
        Ok(Self { number, algorithm })
    }

    /// The number in `signature_algorithms`.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.number
    }

    /// The algorithm of keys and certificates.
    #[must_use]
    pub const fn algorithm(self) -> Algorithm {
        self.algorithm
    }

    /// A key that signs handshakes under this number, for who has the key and no file of it.
    ///
    /// # Errors
    /// [`SchemeError::OtherAlgorithm`] for a key of another algorithm.
    pub fn signing_key(self, key: PrivateKey) -> Result<Arc<dyn SigningKey>, SchemeError> {
        if key.algorithm() != self.algorithm {
            return Err(SchemeError::OtherAlgorithm { expected: self.algorithm, actual: key.algorithm() });
        }
        Ok(Arc::new(signing::Key::new(self, key)))
    }

    pub(crate) fn for_rustls(self) -> SignatureScheme {
        SignatureScheme::from(self.number)
    }
}

/// All schemes of SLH-DSA (draft-reddy-tls-slhdsa).
pub(crate) const SLH_DSA: [Scheme; 12] = [
    Scheme { number: 0x0911, algorithm: Algorithm::SlhDsaSha2_128s },
    Scheme { number: 0x0912, algorithm: Algorithm::SlhDsaSha2_128f },
    Scheme { number: 0x0913, algorithm: Algorithm::SlhDsaSha2_192s },
    Scheme { number: 0x0914, algorithm: Algorithm::SlhDsaSha2_192f },
    Scheme { number: 0x0915, algorithm: Algorithm::SlhDsaSha2_256s },
    Scheme { number: 0x0916, algorithm: Algorithm::SlhDsaSha2_256f },
    Scheme { number: 0x0917, algorithm: Algorithm::SlhDsaShake128s },
    Scheme { number: 0x0918, algorithm: Algorithm::SlhDsaShake128f },
    Scheme { number: 0x0919, algorithm: Algorithm::SlhDsaShake192s },
    Scheme { number: 0x091a, algorithm: Algorithm::SlhDsaShake192f },
    Scheme { number: 0x091b, algorithm: Algorithm::SlhDsaShake256s },
    Scheme { number: 0x091c, algorithm: Algorithm::SlhDsaShake256f },
];

/// Why there is no such scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemeError {
    /// The algorithm is no composite signature: it has its number already, or does not sign.
    NotComposite {
        /// Which was given.
        algorithm: Algorithm,
    },
    /// The algorithm is no parameter set of SLH-DSA.
    NotSlhDsa {
        /// Which was given.
        algorithm: Algorithm,
    },
    /// rustls drops numbers with a high byte of 0 to 3 or a low byte of 0 to 2.
    NeverNegotiated {
        /// Which was given.
        number: u16,
    },
    /// The number is that of another scheme.
    Taken {
        /// Which was given.
        number: u16,
    },
    /// The key is of another algorithm.
    OtherAlgorithm {
        /// That of the scheme.
        expected: Algorithm,
        /// That of the key.
        actual: Algorithm,
    },
}

impl fmt::Display for SchemeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotComposite { algorithm } => write!(f, "{algorithm} is no composite signature"),
            Self::NotSlhDsa { algorithm } => write!(f, "{algorithm} is no parameter set of SLH-DSA"),
            Self::NeverNegotiated { number } => write!(
                f,
                "the signature scheme {number:#06x} would never be negotiated: its high byte must be above 3 and its low byte above 2"
            ),
            Self::Taken { number } => write!(f, "{number:#06x} is the number of another signature scheme"),
            Self::OtherAlgorithm { expected, actual } => {
                write!(f, "a key of {actual}, where the signature scheme has {expected}")
            }
        }
    }
}

impl std::error::Error for SchemeError {}
