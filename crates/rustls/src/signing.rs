//! Private keys that sign handshakes.

use std::fmt;
use std::sync::Arc;

use gambeson::secret::StackGuard;
use gambeson_pki::{Algorithm, Form, PrivateKey};
use rustls::crypto::KeyProvider;
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};
use zeroize::Zeroize;

use crate::scheme::Scheme;
use crate::{base, classical};

/// Loads PKCS#8 of every algorithm that a provider has a scheme for; RSA, PKCS#1 and SEC 1 as the base does.
#[derive(Debug)]
pub(crate) struct Keys {
    pub(crate) schemes: Vec<Scheme>,
    /// Whether keys of the base's algorithms are taken: RSA, ECDSA, Ed25519.
    pub(crate) classical: bool,
}

/// Bytes of stack that the base's loaders may leave pieces of a key in.
const DEPTH: usize = 32 << 10;

impl KeyProvider for Keys {
    fn load_private_key(&self, der: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        let _guard = StackGuard::<DEPTH>;
        self.load(der)
    }
}

impl Keys {
    #[inline(never)]
    fn load(&self, mut der: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        let PrivateKeyDer::Pkcs8(file) = &der else {
            return self.base(der);
        };
        let key = match PrivateKey::from_pkcs8_der(file.secret_pkcs8_der()) {
            // RSA, which the base may know.
            Err(gambeson_pki::Error::Algorithm { .. }) if self.classical => return self.base(der),
            result => result,
        };
        der.zeroize();
        let key = key.map_err(|error| Error::General(error.to_string()))?;
        let algorithm = key.algorithm();
        if let Some(scheme) = self.schemes.iter().find(|scheme| scheme.algorithm() == algorithm) {
            return Ok(Arc::new(Key::new(*scheme, key)));
        }
        match algorithm {
            Algorithm::Ed25519 | Algorithm::EcdsaP256 | Algorithm::EcdsaP384 if self.classical => {
                // Written anew, because bases differ in what they read: some want the public key inside.
                let file = key.to_pkcs8_der(Form::Seed).map_err(|error| Error::General(error.to_string()))?;
                (base::active()?.curve_key)(&file, algorithm, key.public_key().to_spki_der())
            }
            _ if !algorithm.signs() => Err(Error::General(format!("a key of {algorithm} does not sign"))),
            _ => {
                Err(Error::General(format!("this provider has no signature scheme for keys of {algorithm}")))
            }
        }
    }

    fn base(&self, mut der: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        if !self.classical {
            der.zeroize();
            let why = "this provider has no signature scheme for RSA, and takes keys as PKCS#8 alone";
            return Err(Error::General(why.into()));
        }
        if let Some(key) = classical::p521_key(&der) {
            der.zeroize();
            return Ok(key);
        }
        match base::active() {
            Ok(base) => (base.provider)().key_provider.load_private_key(der),
            Err(error) => {
                der.zeroize();
                Err(error.into())
            }
        }
    }
}

/// A private key of ours under the number of its scheme.
pub(crate) struct Key {
    scheme: Scheme,
    key: Arc<PrivateKey>,
    /// SubjectPublicKeyInfo.
    public: Vec<u8>,
}

impl Key {
    /// The key is one of the scheme's algorithm.
    pub(crate) fn new(scheme: Scheme, key: PrivateKey) -> Self {
        Self { scheme, public: key.public_key().to_spki_der(), key: Arc::new(key) }
    }
}

impl SigningKey for Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let scheme = self.scheme.for_rustls();
        offered
            .contains(&scheme)
            .then(|| -> Box<dyn Signer> { Box::new(Once { scheme, key: Arc::clone(&self.key) }) })
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(&self.public[..]))
    }

    /// Of cipher suites of TLS 1.2, none of which is for the keys here.
    fn algorithm(&self) -> SignatureAlgorithm {
        match self.scheme.algorithm() {
            Algorithm::Ed448 => SignatureAlgorithm::ED448,
            _ => SignatureAlgorithm::Unknown(0),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, [redacted])", self.scheme.algorithm())
    }
}

/// The signature of one handshake.
#[derive(Debug)]
struct Once {
    scheme: SignatureScheme,
    key: Arc<PrivateKey>,
}

impl Signer for Once {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.key.sign(message).map_err(|error| Error::General(error.to_string()))
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}
