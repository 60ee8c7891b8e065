//! Signature keys of agents: ML-DSA (FIPS 204) with the names that JOSE, HTTP and multicodec give it.

mod used;

use crate::entropy::Hedge;
use crate::error::bad;
use crate::{Error, Reason, Result, encoding};
use core::fmt;
use gambeson::mldsa::{self, Message, MlDsa44, MlDsa65, MlDsa87};
use serde_json::{Map, Value, json};

/// A signature algorithm of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// ML-DSA-44, for Data Integrity and logs.
    MlDsa44,
    /// ML-DSA-65, for all else in the default suite.
    MlDsa65,
    /// ML-DSA-87, for all else in suite `cnsa2`.
    MlDsa87,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [Self::MlDsa44, Self::MlDsa65, Self::MlDsa87];

    /// The value of `alg` in JOSE (RFC 9964).
    pub const fn jose(self) -> &'static str {
        match self {
            Self::MlDsa44 => "ML-DSA-44",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa87 => "ML-DSA-87",
        }
    }

    /// The value of `alg` in HTTP message signatures (C2SP httpsig-pq).
    pub const fn http(self) -> &'static str {
        match self {
            Self::MlDsa44 => "ml-dsa-44",
            Self::MlDsa65 => "ml-dsa-65",
            Self::MlDsa87 => "ml-dsa-87",
        }
    }

    /// The multicodec of public keys (`0x1210` to `0x1212`) as a varint.
    pub const fn multicodec(self) -> [u8; 2] {
        match self {
            Self::MlDsa44 => [0x90, 0x24],
            Self::MlDsa65 => [0x91, 0x24],
            Self::MlDsa87 => [0x92, 0x24],
        }
    }

    /// Length of a public key in bytes.
    pub const fn key_len(self) -> usize {
        match self {
            Self::MlDsa44 => 1312,
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
        }
    }

    /// Length of a signature in bytes.
    pub const fn signature_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2420,
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
        }
    }

    /// The algorithm of a value of `alg` in JOSE.
    ///
    /// # Errors
    ///
    /// [`Reason::BadAlgorithm`] for all others.
    pub fn from_jose(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.jose() == name).ok_or_else(|| {
            Error::new(Reason::BadAlgorithm, format_args!("the algorithm {name:?} is not permitted"))
        })
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.jose())
    }
}

/// Does the same with the key of each parameter set.
macro_rules! each {
    ($keys:expr, $key:ident => $work:expr) => {
        match $keys {
            Signing::MlDsa44($key) => $work,
            Signing::MlDsa65($key) => $work,
            Signing::MlDsa87($key) => $work,
        }
    };
}

/// A public key that verifies signatures. It rests as its bytes; the keys that were used last in the process are kept prepared.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifyingKey {
    algorithm: Algorithm,
    bytes: Box<[u8]>,
}

impl VerifyingKey {
    /// The key in the encoding of FIPS 204.
    ///
    /// # Errors
    ///
    /// [`Reason::BadKey`] if the length is another than [`Algorithm::key_len`].
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Result<Self> {
        if bytes.len() != algorithm.key_len() {
            let error =
                mldsa::VerifyingKeyError::Length { expected: algorithm.key_len(), actual: bytes.len() };
            return Err(Error::new(Reason::BadKey, error));
        }
        Ok(Self { algorithm, bytes: bytes.into() })
    }

    /// The encoding of FIPS 204.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Verifies a signature in pure mode (FIPS 204, Algorithm 3). JOSE, HTTP and Data Integrity have an empty context.
    ///
    /// # Errors
    ///
    /// [`Reason::BadSignature`].
    pub fn verify(&self, context: &[u8], message: &[u8], signature: &[u8]) -> Result<()> {
        #[cfg(test)]
        crate::counts::add(|counts| counts.verifications += 1);
        let refused = || Error::new(Reason::BadSignature, "the signature does not fit the key and the bytes");
        let message = Message::pure(message, context).map_err(|_| refused())?;
        used::verify(self, message, signature).map_err(|_| refused())
    }

    /// The JSON Web Key (RFC 9964, §3): `kty` AKP, `alg`, `pub`.
    pub fn to_jwk(&self) -> Value {
        json!({"kty": "AKP", "alg": self.algorithm().jose(), "pub": encoding::encode(self.as_bytes())})
    }

    /// Reads a JSON Web Key. Members beyond `kty`, `alg` and `pub` are left alone, but a private key is refused.
    ///
    /// # Errors
    ///
    /// [`Reason::BadAlgorithm`], [`Reason::BadKey`], [`Reason::BadForm`], [`Reason::BadEncoding`].
    pub fn from_jwk(jwk: &Map<String, Value>) -> Result<Self> {
        let text = |name: &str| {
            jwk.get(name)
                .and_then(Value::as_str)
                .ok_or_else(|| Error::new(Reason::BadForm, format_args!("a JWK needs the text {name:?}")))
        };
        if is_private(jwk) {
            return Err(private());
        }
        check_use(jwk)?;
        if text("kty")? != "AKP" {
            return Err(Error::new(Reason::BadKey, "the key type is not AKP (RFC 9964)"));
        }
        let algorithm = Algorithm::from_jose(text("alg")?)?;
        Self::from_bytes(algorithm, &encoding::decode(text("pub")?, algorithm.key_len())?)
    }

    /// The Multikey: multibase `u` (base64url) over multicodec and key.
    pub fn to_multikey(&self) -> String {
        encoding::multibase(&[&self.algorithm().multicodec(), self.as_bytes()].concat())
    }

    /// Reads a Multikey; the base must be `u`.
    ///
    /// # Errors
    ///
    /// [`Reason::BadEncoding`], [`Reason::BadAlgorithm`], [`Reason::BadKey`].
    pub fn from_multikey(text: &str) -> Result<Self> {
        let bytes = encoding::from_multibase(text, 2 + Algorithm::MlDsa87.key_len())?;
        let (codec, key) = bytes
            .split_first_chunk::<2>()
            .ok_or_else(|| Error::new(Reason::BadKey, "a Multikey begins with two bytes of multicodec"))?;
        let algorithm = Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.multicodec() == *codec)
            .ok_or_else(|| Error::new(Reason::BadAlgorithm, "a Multikey of another algorithm than ML-DSA"))?;
        Self::from_bytes(algorithm, key)
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({}, {}…)", self.algorithm(), &self.to_multikey()[..12])
    }
}

/// Refuses a JWK whose owner restricts it to something else than the verification of signatures (RFC 7517, §4.2 and §4.3).
fn check_use(jwk: &Map<String, Value>) -> Result<()> {
    let wrong = |what| {
        Err(Error::new(Reason::WrongPurpose, format_args!("the key is not for signatures, says its {what}")))
    };
    match jwk.get("use") {
        None => {}
        Some(Value::String(name)) if name == "sig" => {}
        Some(Value::String(_)) => return wrong("use"),
        Some(_) => return Err(bad("the use of a JWK must be a string")),
    }
    let Some(operations) = jwk.get("key_ops") else { return Ok(()) };
    let operations = operations.as_array().map_or(&[][..], Vec::as_slice);
    let twice = (1..operations.len()).any(|at| operations[..at].contains(&operations[at]));
    if twice || !jwk["key_ops"].is_array() || !operations.iter().all(Value::is_string) {
        return Err(bad("key_ops of a JWK is a list of different texts"));
    }
    if operations.iter().any(|one| one == "verify") { Ok(()) } else { wrong("key_ops") }
}

/// Whether a JWK has a parameter that is registered as private (RFC 7518, §6; RFC 9964, §3); `k` is a whole secret key.
pub(crate) fn is_private(jwk: &Map<String, Value>) -> bool {
    ["priv", "d", "p", "q", "dp", "dq", "qi", "oth", "k"].iter().any(|name| jwk.contains_key(*name))
}

pub(crate) fn private() -> Error {
    Error::new(Reason::BadKey, "a private key stands where a public one belongs")
}

/// A private key of an agent.
///
/// It signs and does nothing else: there is no copy, no text and no bytes of it. It is wiped when dropped. Its public key has all that:
///
/// ```
/// # use gambeson_identity::{Agent, Role};
/// let agent = Agent::generate()?;
/// let copy: gambeson_identity::VerifyingKey = agent.key(Role::Signing).verifying_key().clone();
/// let bytes = agent.key(Role::Signing).verifying_key().as_bytes().to_vec();
/// serde_json::to_string(&agent.key(Role::Signing).verifying_key().to_jwk());
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0308
/// # use gambeson_identity::{Agent, Role};
/// let agent = Agent::generate()?;
/// let copy: gambeson_identity::SigningKey = agent.key(Role::Signing).clone();
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # use gambeson_identity::{Agent, Role};
/// let agent = Agent::generate()?;
/// let bytes = agent.key(Role::Signing).seed();
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// # use gambeson_identity::{Agent, Role};
/// let agent = Agent::generate()?;
/// serde_json::to_string(agent.key(Role::Signing));
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
pub struct SigningKey {
    keys: Signing,
    hedge: Hedge,
}

enum Signing {
    MlDsa44(mldsa::SigningKey<MlDsa44>),
    MlDsa65(mldsa::SigningKey<MlDsa65>),
    MlDsa87(mldsa::SigningKey<MlDsa87>),
}

impl SigningKey {
    pub(crate) fn from_seed(algorithm: Algorithm, seed: &[u8; 32], hedge: Hedge) -> Self {
        let keys = match algorithm {
            Algorithm::MlDsa44 => Signing::MlDsa44(mldsa::SigningKey::from_seed(seed)),
            Algorithm::MlDsa65 => Signing::MlDsa65(mldsa::SigningKey::from_seed(seed)),
            Algorithm::MlDsa87 => Signing::MlDsa87(mldsa::SigningKey::from_seed(seed)),
        };
        Self { keys, hedge }
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        match self.keys {
            Signing::MlDsa44(_) => Algorithm::MlDsa44,
            Signing::MlDsa65(_) => Algorithm::MlDsa65,
            Signing::MlDsa87(_) => Algorithm::MlDsa87,
        }
    }

    /// The public key.
    pub fn verifying_key(&self) -> VerifyingKey {
        let bytes = each!(&self.keys, key => key.verifying_key().as_bytes().as_ref().into());
        VerifyingKey { algorithm: self.algorithm(), bytes }
    }

    /// Signs in pure mode (FIPS 204, Algorithm 2), hedged: `rnd` comes from the system, a key of `m/4'` and the message.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`]; [`Reason::BadForm`] for a context of more than 255 bytes.
    pub fn sign(&self, context: &[u8], message: &[u8]) -> Result<Vec<u8>> {
        let form = Message::pure(message, context).map_err(|error| Error::new(Reason::BadForm, error))?;
        if self.hedge.is_deterministic() {
            return Ok(each!(&self.keys, key => key.sign_deterministic(form).to_vec()));
        }
        let rnd = self.hedge.draw(&[context, message])?;
        Ok(each!(&self.keys, key => key.sign_with_rnd(rnd.expose(), form).to_vec()))
    }
}

/// A context in which an application may sign bytes of its own, with a key that the formats of this crate use too.
///
/// The empty context belongs to JOSE, HTTP and Data Integrity; those that begin with `gambeson ` belong to this crate. Whoever
/// lets others choose the context of [`SigningKey::sign`] asks here first, or a signature over their bytes could be taken for an
/// action, a credential or a card.
///
/// ```
/// use gambeson_identity::{Reason, application_context};
///
/// assert_eq!(application_context(b"example.org/report")?, b"example.org/report");
/// assert_eq!(application_context(b"").unwrap_err().reason(), Reason::BadContext);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// # Errors
///
/// [`Reason::BadContext`] for those; [`Reason::ContextTooLong`] beyond the 255 bytes of FIPS 204.
pub fn application_context(context: &[u8]) -> Result<&[u8]> {
    if context.is_empty() || context.starts_with(b"gambeson ") {
        let what = "a context says what is signed: not empty, and not beginning with `gambeson `";
        return Err(Error::new(Reason::BadContext, what));
    }
    match context.len() {
        ..=255 => Ok(context),
        len => {
            Err(Error::new(Reason::ContextTooLong, format_args!("a context of {len} bytes, at most 255 fit")))
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}, ..)", self.algorithm())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MasterSeed, Purpose, Suite};

    fn key(algorithm: Algorithm) -> SigningKey {
        let hedge = Hedge::new(&MasterSeed::from_bytes(&[2; 32]), Suite::Default, Purpose::SigningHedge, 0);
        SigningKey::from_seed(algorithm, &[1; 32], hedge)
    }

    #[test]
    fn signatures_verify_and_their_lengths_are_as_said() {
        for algorithm in Algorithm::ALL {
            let key = key(algorithm);
            let public = key.verifying_key();
            assert_eq!(public.as_bytes().len(), algorithm.key_len());
            let (one, two) = (key.sign(b"c", b"m").unwrap(), key.sign(b"c", b"m").unwrap());
            assert_eq!(one.len(), algorithm.signature_len());
            assert_ne!(one, two, "hedged");
            assert_eq!(public.verify(b"c", b"m", &one), Ok(()));
            for (context, message, signature) in
                [(&b"d"[..], &b"m"[..], &one[..]), (b"c", b"n", &one), (b"c", b"m", b"")]
            {
                assert_eq!(
                    public.verify(context, message, signature).unwrap_err().reason(),
                    Reason::BadSignature
                );
            }
            assert_eq!(key.sign(&[0; 256], b"m").unwrap_err().reason(), Reason::BadForm);
        }
    }

    #[test]
    fn keys_come_back_from_their_texts() {
        for algorithm in Algorithm::ALL {
            let key = key(algorithm).verifying_key();
            assert_eq!(VerifyingKey::from_multikey(&key.to_multikey()), Ok(key.clone()));
            assert_eq!(VerifyingKey::from_jwk(key.to_jwk().as_object().unwrap()), Ok(key));
        }
    }

    #[test]
    fn what_is_not_a_key_is_refused() {
        let good = key(Algorithm::MlDsa65).verifying_key().to_jwk();
        let refused = |name: &str, value: Value| {
            let mut jwk = good.as_object().unwrap().clone();
            jwk.insert(name.to_owned(), value);
            VerifyingKey::from_jwk(&jwk).unwrap_err().reason()
        };
        assert_eq!(refused("kty", json!("OKP")), Reason::BadKey);
        assert_eq!(refused("alg", json!("EdDSA")), Reason::BadAlgorithm);
        assert_eq!(refused("alg", json!("ML-DSA-44")), Reason::BadEncoding);
        assert_eq!(refused("alg", json!("ML-DSA-87")), Reason::BadKey);
        assert_eq!(refused("pub", json!("AA==")), Reason::BadEncoding);
        assert_eq!(refused("pub", json!(1)), Reason::BadForm);
        assert_eq!(refused("priv", json!("AA")), Reason::BadKey);
        assert_eq!(refused("use", json!("enc")), Reason::WrongPurpose);
        assert_eq!(refused("key_ops", json!(["encrypt", "sign"])), Reason::WrongPurpose);
        assert_eq!(refused("key_ops", json!({})), Reason::BadForm);
        let mut jwk = good.as_object().unwrap().clone();
        jwk.extend([("use".to_owned(), json!("sig")), ("key_ops".to_owned(), json!(["sign", "verify"]))]);
        assert!(VerifyingKey::from_jwk(&jwk).is_ok());
        for (text, reason) in [
            ("", Reason::BadEncoding),
            ("zkAQ", Reason::BadEncoding),
            ("ukA", Reason::BadKey),
            ("u7QEA", Reason::BadAlgorithm),
            ("ukSQA", Reason::BadKey),
        ] {
            assert_eq!(VerifyingKey::from_multikey(text).unwrap_err().reason(), reason, "{text}");
        }
    }

    #[test]
    fn contexts_of_this_crate_and_of_the_standards_are_not_for_applications() {
        let reason = |context: &[u8]| application_context(context).unwrap_err().reason();
        assert_eq!(reason(b""), Reason::BadContext);
        assert_eq!(reason(b"gambeson card v1"), Reason::BadContext);
        assert_eq!(reason(&[0; 256]), Reason::ContextTooLong);
        for context in [&b"gambeson"[..], b"Gambeson card v1", &[0; 255]] {
            assert_eq!(application_context(context), Ok(context));
        }
    }

    #[test]
    fn debug_shows_no_private_key() {
        assert_eq!(format!("{:?}", key(Algorithm::MlDsa65)), "SigningKey(ML-DSA-65, ..)");
    }
}
