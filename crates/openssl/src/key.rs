//! Keys of every algorithm of the table, and what can be done with them. Nothing here knows OpenSSL.

use std::sync::{Arc, OnceLock};

use gambeson::Bytes;
use gambeson::mldsa::{self, Message, MuHasher, PreHasher, SigningKey, VerifyingKey};
use gambeson::mlkem::{self, DecapsulationKey, EncapsulationKey};
use gambeson::slhdsa;
use gambeson_hybrid::composite::SignError;
use gambeson_hybrid::{composite, kem};
use gambeson_pki::{Algorithm, PrivateKey, PublicKey};
use zeroize::Zeroizing;

use crate::error::{Error, Reason};
use crate::table::{Row, Scheme};

/// A key as OpenSSL holds it: of an algorithm from the beginning on, and with its bytes once they came. Then it never changes, so
/// any number of threads may use it.
pub struct Key {
    row: &'static Row,
    pair: OnceLock<Arc<Pair>>,
}

/// A public key, and its private half if we have it.
pub struct Pair {
    public: Public,
    private: Option<Private>,
}

enum Public {
    Group(Box<kem::EncapsulationKey>),
    Pki(PublicKey),
}

enum Private {
    Group(Box<kem::DecapsulationKey>),
    Pki(PrivateKey),
}

impl Key {
    /// A key without bytes.
    pub const fn empty(row: &'static Row) -> Self {
        Self { row, pair: OnceLock::new() }
    }

    /// Makes a key, from the operating system's randomness or a seed.
    pub fn generate(row: &'static Row, seed: Option<&[u8]>) -> Result<Self, Error> {
        let private = match (row.scheme, seed) {
            (Scheme::Group(kem), None) => {
                Private::Group(Box::new(kem::DecapsulationKey::generate(kem).map_err(invalid)?))
            }
            (Scheme::Pki(algorithm), None) => Private::Pki(PrivateKey::generate(algorithm)?),
            (Scheme::Pki(algorithm), Some(seed)) => match row.scheme.slh_dsa() {
                Some(set) => Private::Pki(slh_dsa_from_seed(set, seed)?),
                None => Private::Pki(PrivateKey::from_seed(algorithm, seed)?),
            },
            (Scheme::Group(kem), Some(_)) => {
                return Err(Error::new(Reason::Parameter, format!("keys of {kem} are not made from a seed")));
            }
        };
        Ok(Self::of(row, Pair::from(private)))
    }

    fn of(row: &'static Row, pair: Pair) -> Self {
        Self { row, pair: OnceLock::from(Arc::new(pair)) }
    }

    /// The key of what a file holds.
    pub fn from_private(row: &'static Row, key: PrivateKey) -> Self {
        Self::of(row, Pair::from(Private::Pki(key)))
    }

    /// The same for a public key.
    pub fn from_public(row: &'static Row, key: PublicKey) -> Self {
        Self::of(row, Pair { public: Public::Pki(key), private: None })
    }

    /// Takes a public key's bytes. A key takes bytes once.
    pub fn set_public(&self, bytes: &[u8]) -> Result<(), Error> {
        self.set(Pair { public: Public::from_bytes(self.row.scheme, bytes)?, private: None })
    }

    /// Takes a private key: its seed, or the bytes of the expanded key where there is none. A public key beside it has to fit.
    pub fn set_private(
        &self,
        seed: Option<&[u8]>,
        expanded: Option<&[u8]>,
        public: Option<&[u8]>,
    ) -> Result<(), Error> {
        let private = match (self.row.scheme, seed, expanded) {
            (Scheme::Pki(algorithm), Some(seed), _) => {
                let key = PrivateKey::from_seed(algorithm, seed)?;
                if let Some(expanded) = expanded
                    && !gambeson::secret::equal(&key.to_expanded_bytes(), expanded)
                {
                    return Err(gambeson_pki::Error::SeedMismatch.into());
                }
                Private::Pki(key)
            }
            (Scheme::Pki(algorithm), None, Some(bytes)) => {
                Private::Pki(from_private_bytes(algorithm, bytes)?)
            }
            (Scheme::Group(kem), None, Some(bytes)) => {
                Private::Group(Box::new(kem::DecapsulationKey::from_bytes(kem, bytes).map_err(invalid)?))
            }
            _ => return Err(Error::new(Reason::Parameter, "a private key without its bytes")),
        };
        let pair = Pair::from(private);
        if public.is_some_and(|public| public != pair.public_bytes()) {
            return Err(gambeson_pki::Error::PublicKeyMismatch.into());
        }
        self.set(pair)
    }

    fn set(&self, pair: Pair) -> Result<(), Error> {
        self.pair
            .set(Arc::new(pair))
            .map_err(|_| Error::new(Reason::KeyTaken, "the key has its bytes already"))
    }

    pub const fn row(&self) -> &'static Row {
        self.row
    }

    /// The bytes of the key, if they came.
    pub fn pair(&self) -> Option<&Arc<Pair>> {
        self.pair.get()
    }

    /// The same, for an operation that needs them.
    pub fn required(&self) -> Result<&Arc<Pair>, Error> {
        self.pair().ok_or_else(|| Error::new(Reason::NoKey, "the key has no bytes yet"))
    }

    /// The same key again: nothing, its public half, or all.
    pub fn dup(&self, public: bool, private: bool) -> Result<Self, Error> {
        let copy = Self::empty(self.row);
        match self.pair() {
            Some(pair) if private => {
                let _ = copy.pair.set(Arc::clone(pair));
            }
            Some(pair) if public => copy.set_public(pair.public_bytes())?,
            _ => {}
        }
        Ok(copy)
    }
}

impl From<Private> for Pair {
    fn from(private: Private) -> Self {
        let public = match &private {
            Private::Group(key) => Public::Group(Box::new(key.encapsulation_key())),
            Private::Pki(key) => Public::Pki(key.public_key()),
        };
        Self { public, private: Some(private) }
    }
}

impl Public {
    fn from_bytes(scheme: Scheme, bytes: &[u8]) -> Result<Self, Error> {
        Ok(match scheme {
            Scheme::Group(kem) => {
                Self::Group(Box::new(kem::EncapsulationKey::from_bytes(kem, bytes).map_err(invalid)?))
            }
            Scheme::Pki(algorithm) => Self::Pki(PublicKey::from_bytes(algorithm, bytes)?),
        })
    }
}

impl Pair {
    pub fn public_bytes(&self) -> &[u8] {
        match &self.public {
            Public::Group(key) => key.as_bytes(),
            Public::Pki(key) => key.as_bytes(),
        }
    }

    pub const fn has_private(&self) -> bool {
        self.private.is_some()
    }

    /// The private key's bytes: the expanded encoding of ML-KEM and ML-DSA, else all that is kept.
    pub fn private_bytes(&self) -> Option<Zeroizing<Vec<u8>>> {
        Some(match self.private.as_ref()? {
            Private::Group(key) => Zeroizing::new(key.expose_bytes().to_vec()),
            Private::Pki(key) => key.to_expanded_bytes(),
        })
    }

    /// The seed of ML-KEM and ML-DSA keys, unless they came without it.
    pub fn seed(&self) -> Option<&[u8]> {
        match self.private.as_ref()? {
            Private::Group(_) => None,
            Private::Pki(key) => key.seed(),
        }
    }

    /// The key as files hold it.
    pub fn private_key(&self) -> Option<&PrivateKey> {
        match self.private.as_ref()? {
            Private::Group(_) => None,
            Private::Pki(key) => Some(key),
        }
    }

    /// The public half as files hold it.
    pub const fn public_key(&self) -> Option<&PublicKey> {
        match &self.public {
            Public::Group(_) => None,
            Public::Pki(key) => Some(key),
        }
    }

    /// Uses both halves on each other.
    pub fn check(&self) -> Result<(), Error> {
        const MESSAGE: &[u8] = b"pairwise consistency";
        let mismatch = || Error::from(gambeson_pki::Error::PublicKeyMismatch);
        if !self.has_private() {
            return Err(no_private());
        }
        if let (Some(Private::Pki(private)), Public::Pki(public)) = (&self.private, &self.public)
            && private.algorithm().signs()
        {
            return public.verify(MESSAGE, &private.sign(MESSAGE)?).map_err(|_| mismatch());
        }
        let (ciphertext, sent) = self.encapsulate(None)?;
        if gambeson::secret::equal(&self.decapsulate(&ciphertext)?, &sent) { Ok(()) } else { Err(mismatch()) }
    }

    /// Bytes of a ciphertext and a shared secret; none for a key that signs.
    pub fn kem_lengths(&self) -> Option<(usize, usize)> {
        match &self.public {
            Public::Group(key) => Some((key.kem().ciphertext_len(), key.kem().shared_secret_len())),
            Public::Pki(PublicKey::CompositeKem(key)) => {
                Some((key.kem().ciphertext_len(), key.kem().shared_secret_len()))
            }
            Public::Pki(PublicKey::MlKem512(_)) => Some((768, 32)),
            Public::Pki(PublicKey::MlKem768(_)) => Some((1088, 32)),
            Public::Pki(PublicKey::MlKem1024(_)) => Some((1568, 32)),
            Public::Pki(_) => None,
        }
    }

    /// Bytes of the longest signature; none for a key that does not sign.
    pub fn max_signature_len(&self) -> Option<usize> {
        match &self.public {
            Public::Pki(PublicKey::MlDsa44(_)) => Some(2420),
            Public::Pki(PublicKey::MlDsa65(_)) => Some(3309),
            Public::Pki(PublicKey::MlDsa87(_)) => Some(4627),
            Public::Pki(PublicKey::SlhDsa(key)) => Some(key.parameter_set().signature_len()),
            Public::Pki(PublicKey::Composite(key)) => Some(key.algorithm().max_signature_len()),
            _ => None,
        }
    }

    /// A ciphertext and the secret in it, from the operating system's randomness or the caller's.
    pub fn encapsulate(&self, randomness: Option<&[u8]>) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>), Error> {
        match &self.public {
            Public::Group(key) => hybrid_encapsulate(key, randomness),
            Public::Pki(PublicKey::CompositeKem(key)) => hybrid_encapsulate(key, randomness),
            Public::Pki(PublicKey::MlKem512(key)) => encapsulate(key, randomness),
            Public::Pki(PublicKey::MlKem768(key)) => encapsulate(key, randomness),
            Public::Pki(PublicKey::MlKem1024(key)) => encapsulate(key, randomness),
            Public::Pki(_) => {
                Err(Error::new(Reason::OtherAlgorithm, "a key that signs does not encapsulate"))
            }
        }
    }

    /// The secret in a ciphertext.
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        match &self.private {
            None => Err(no_private()),
            Some(Private::Group(key)) => hybrid_decapsulate(key, ciphertext),
            Some(Private::Pki(PrivateKey::CompositeKem(key))) => hybrid_decapsulate(key, ciphertext),
            Some(Private::Pki(PrivateKey::MlKem512(key))) => decapsulate(key, ciphertext),
            Some(Private::Pki(PrivateKey::MlKem768(key))) => decapsulate(key, ciphertext),
            Some(Private::Pki(PrivateKey::MlKem1024(key))) => decapsulate(key, ciphertext),
            Some(Private::Pki(_)) => {
                Err(Error::new(Reason::OtherAlgorithm, "a key that signs does not decapsulate"))
            }
        }
    }

    /// What a message goes through before it is signed or verified.
    pub fn hasher(&self, context: &[u8]) -> Result<Hasher, Error> {
        let too_long = |_| Error::new(Reason::Parameter, gambeson::mldsa::ContextTooLong);
        Ok(match &self.public {
            Public::Pki(PublicKey::MlDsa44(key)) => Hasher::Mu(key.mu_hasher(context).map_err(too_long)?),
            Public::Pki(PublicKey::MlDsa65(key)) => Hasher::Mu(key.mu_hasher(context).map_err(too_long)?),
            Public::Pki(PublicKey::MlDsa87(key)) => Hasher::Mu(key.mu_hasher(context).map_err(too_long)?),
            Public::Pki(PublicKey::SlhDsa(_)) => {
                Hasher::Whole { message: Vec::new(), context: context.to_vec() }
            }
            Public::Pki(PublicKey::Composite(key)) => {
                Hasher::Composite(key.algorithm().pre_hash().hasher(), context.to_vec())
            }
            _ => return Err(Error::new(Reason::OtherAlgorithm, "a key that encapsulates does not sign")),
        })
    }

    /// Signs what went through the hasher: hedged, unless `deterministic`.
    pub fn sign(&self, hasher: Hasher, deterministic: bool) -> Result<Vec<u8>, Error> {
        let private = self.private_key().ok_or_else(no_private)?;
        match (private, hasher) {
            (PrivateKey::MlDsa44(key), Hasher::Mu(mu)) => sign(key, mu, deterministic),
            (PrivateKey::MlDsa65(key), Hasher::Mu(mu)) => sign(key, mu, deterministic),
            (PrivateKey::MlDsa87(key), Hasher::Mu(mu)) => sign(key, mu, deterministic),
            (PrivateKey::SlhDsa(key), Hasher::Whole { message, context }) => {
                let message = slhdsa::Message::pure(&message, &context);
                let message = message.map_err(|error| Error::new(Reason::Parameter, error))?;
                Ok(if deterministic { key.sign_deterministic(message) } else { key.sign(message)? })
            }
            (PrivateKey::Composite(key), Hasher::Composite(hasher, context)) => {
                let mut rnd = gambeson::secret::Secret::new([0; 32]);
                let rnd = if deterministic {
                    None
                } else {
                    getrandom::fill(rnd.expose_mut()).map_err(|_| gambeson::RngError)?;
                    Some(rnd.expose())
                };
                let signature = key.sign_digest(&hasher.finalize(), &context, rnd);
                Ok(signature.map_err(refused)?.as_bytes().to_vec())
            }
            _ => Err(Error::new(Reason::OtherAlgorithm, "the key is not the one that was hashed for")),
        }
    }

    /// Verifies a signature over what went through the hasher.
    pub fn verify(&self, hasher: Hasher, signature: &[u8]) -> Result<(), Error> {
        let valid = match (&self.public, hasher) {
            (Public::Pki(PublicKey::MlDsa44(key)), Hasher::Mu(mu)) => verifies(key, mu, signature),
            (Public::Pki(PublicKey::MlDsa65(key)), Hasher::Mu(mu)) => verifies(key, mu, signature),
            (Public::Pki(PublicKey::MlDsa87(key)), Hasher::Mu(mu)) => verifies(key, mu, signature),
            (Public::Pki(PublicKey::SlhDsa(key)), Hasher::Whole { message, context }) => {
                slhdsa::Message::pure(&message, &context)
                    .is_ok_and(|message| key.verify(message, signature).is_ok())
            }
            (Public::Pki(PublicKey::Composite(key)), Hasher::Composite(hasher, context)) => {
                key.verify_digest(&hasher.finalize(), &context, signature).is_ok()
            }
            _ => false,
        };
        if valid { Ok(()) } else { Err(gambeson_pki::Error::Signature.into()) }
    }
}

/// The state of a message that comes in pieces.
#[derive(Clone)]
pub enum Hasher {
    /// ML-DSA: μ of FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), line 6.
    Mu(MuHasher),
    /// A composite: PH, and the context that follows later.
    Composite(PreHasher, Vec<u8>),
    /// SLH-DSA, whose signing reads the message twice (FIPS 205, Algorithm 19 (slh_sign_internal), lines 3 and 5), and whose verification
    /// begins with the signature.
    Whole { message: Vec<u8>, context: Vec<u8> },
}

impl Hasher {
    pub fn update(&mut self, message: &[u8]) {
        match self {
            Self::Mu(hasher) => {
                hasher.update(message);
            }
            Self::Composite(hasher, _) => {
                hasher.update(message);
            }
            Self::Whole { message: whole, .. } => whole.extend_from_slice(message),
        }
    }
}

fn sign<P: mldsa::ParameterSet>(
    key: &SigningKey<P>,
    mut mu: MuHasher,
    deterministic: bool,
) -> Result<Vec<u8>, Error> {
    let mu = mu.finalize();
    let signature =
        if deterministic { key.sign_deterministic(Message::mu(&mu)) } else { key.sign(Message::mu(&mu))? };
    Ok(signature.as_ref().to_vec())
}

fn verifies<P: mldsa::ParameterSet>(key: &VerifyingKey<P>, mut mu: MuHasher, signature: &[u8]) -> bool {
    key.verify(Message::mu(&mu.finalize()), signature).is_ok()
}

fn encapsulate<P: mlkem::ParameterSet>(
    key: &EncapsulationKey<P>,
    randomness: Option<&[u8]>,
) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>), Error> {
    let (ciphertext, secret) = match randomness {
        // A key share is used once: no expanded key is kept.
        None => key.encapsulate()?,
        Some(m) => {
            let m = m.try_into().map_err(|_| {
                Error::new(Reason::Parameter, format!("{} bytes of randomness, where 32 are needed", m.len()))
            })?;
            key.encapsulate_deterministic(m)
        }
    };
    Ok((ciphertext.as_ref().to_vec(), Zeroizing::new(secret.expose().to_vec())))
}

fn decapsulate<P: mlkem::ParameterSet>(
    key: &DecapsulationKey<P>,
    ciphertext: &[u8],
) -> Result<Zeroizing<Vec<u8>>, Error>
where
    for<'a> &'a P::Ciphertext: TryFrom<&'a [u8]>,
{
    let (expected, actual) = (P::Ciphertext::LEN, ciphertext.len());
    let ciphertext = ciphertext
        .try_into()
        .map_err(|_| Error::new(Reason::InvalidCiphertext, kem::Error::Length { expected, actual }))?;
    Ok(Zeroizing::new(key.decapsulate(ciphertext).expose().to_vec()))
}

fn hybrid_encapsulate(
    key: &kem::EncapsulationKey,
    randomness: Option<&[u8]>,
) -> Result<(Vec<u8>, Zeroizing<Vec<u8>>), Error> {
    let (ciphertext, secret) = match randomness {
        None => key.encapsulate(),
        Some(randomness) => key.encapsulate_deterministic(randomness),
    }
    .map_err(invalid)?;
    Ok((ciphertext.as_bytes().to_vec(), Zeroizing::new(secret.expose().to_vec())))
}

fn hybrid_decapsulate(key: &kem::DecapsulationKey, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    let secret = key.decapsulate(ciphertext).map_err(|error| Error::new(Reason::InvalidCiphertext, error))?;
    Ok(Zeroizing::new(secret.expose().to_vec()))
}

/// The key of SK.seed ‖ SK.prf ‖ PK.seed, as OpenSSL 3.5 takes them.
fn slh_dsa_from_seed(set: slhdsa::ParameterSet, seed: &[u8]) -> Result<PrivateKey, Error> {
    let (n, actual) = (set.seed_len(), seed.len());
    if actual != 3 * n {
        return Err(gambeson_pki::Error::SeedLength { expected: 3 * n, actual }.into());
    }
    let key = slhdsa::SigningKey::from_seeds(set, &seed[..n], &seed[n..2 * n], &seed[2 * n..]);
    Ok(PrivateKey::SlhDsa(Box::new(key.map_err(|error| Error::new(Reason::InvalidKey, error))?)))
}

/// What [`Pair::private_bytes`] gives, read again.
fn from_private_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<PrivateKey, Error> {
    if let Some(composite) = composite::Algorithm::by_name(algorithm.name()) {
        let key = composite::SigningKey::from_bytes(composite, bytes).map_err(gambeson_pki::Error::from)?;
        return Ok(PrivateKey::Composite(Box::new(key)));
    }
    if let Some(kem) = kem::HybridKem::by_name(algorithm.name()) {
        let key = kem::DecapsulationKey::from_bytes(kem, bytes).map_err(gambeson_pki::Error::from)?;
        return Ok(PrivateKey::CompositeKem(Box::new(key)));
    }
    if let Some(set) = Scheme::Pki(algorithm).slh_dsa() {
        let key = slhdsa::SigningKey::from_bytes(set, bytes);
        return Ok(PrivateKey::SlhDsa(Box::new(key.map_err(|error| Error::new(Reason::InvalidKey, error))?)));
    }
    Ok(PrivateKey::from_expanded_bytes(algorithm, bytes)?)
}

fn no_private() -> Error {
    Error::new(Reason::NoKey, "the private key is needed, and there is only a public one")
}

#[track_caller]
fn invalid(error: kem::Error) -> Error {
    let reason = match error {
        kem::Error::Random => Reason::Randomness,
        _ => Reason::InvalidKey,
    };
    Error::new(reason, error)
}

fn refused(error: SignError) -> Error {
    let reason = match error {
        SignError::Random => Reason::Randomness,
        _ => Reason::Parameter,
    };
    Error::new(reason, error)
}
