//! Public keys by the names that others give them: JWK, Multikey, `did:key`, and the URL of a key in a DID document.

use gambeson::mldsa::{self, ParameterSet};
use gambeson_identity::{
    self as identity, Algorithm, Did, DidDocument, DidUrl, Kind, Relationship, Resolver as _, Role,
    Timestamp, VerifyingKey, json,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::cards::{CardLog, Resolver};
use super::detached;
use crate::convert::{Json, Time, now, to_python};
use crate::error::{BAD_KEY, USAGE, error};
use crate::mldsa::{MLDSA44PublicKey, MLDSA65PublicKey, MLDSA87PublicKey};

/// The longest JWK that is read, in bytes: that of ML-DSA-87 has about 3,500.
const MAX_JWK: usize = 64 << 10;

/// Gives the classes of `gambeson.mldsa` the names that the identity layer has for keys, and a way out of and into it.
macro_rules! names {
    ($($algorithm:ident $public:ident;)*) => {
        $(
            #[pymethods]
            impl $public {
                /// The key as a JSON Web Key (RFC 9964, §3): `kty` AKP, `alg`, `pub`.
                fn to_jwk<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    to_python(py, &named(py, Algorithm::$algorithm, self.as_bytes(), |key| key.to_jwk())?)
                }

                /// The key as a Multikey: multibase `u` over multicodec and key.
                fn to_multikey(&self, py: Python<'_>) -> PyResult<String> {
                    named(py, Algorithm::$algorithm, self.as_bytes(), |key| key.to_multikey())
                }

                /// The `did:key` of the key, which every resolver of this package knows.
                fn to_did(&self, py: Python<'_>) -> PyResult<String> {
                    named(py, Algorithm::$algorithm, self.as_bytes(), |key| Did::from_key(&key).to_string())
                }
            }
        )*

        /// The key as an object of its class.
        fn object<'py>(py: Python<'py>, key: &VerifyingKey) -> PyResult<Bound<'py, PyAny>> {
            Ok(match key.algorithm() {
                $(Algorithm::$algorithm => Bound::new(py, $public { key: primitive(py, key)? })?.into_any(),)*
            })
        }

        /// The key of an object, if it is of one of the classes.
        fn of_object(object: Borrowed<'_, '_, PyAny>) -> PyResult<Option<VerifyingKey>> {
            $(
                if let Ok(key) = object.cast::<$public>() {
                    return named(object.py(), Algorithm::$algorithm, key.get().as_bytes(), Some);
                }
            )*
            Ok(None)
        }
    };
}

names! {
    MlDsa44 MLDSA44PublicKey;
    MlDsa65 MLDSA65PublicKey;
    MlDsa87 MLDSA87PublicKey;
}

/// What a key is called, or what else is made of it, detached.
fn named<T: Send>(
    py: Python<'_>,
    algorithm: Algorithm,
    bytes: &[u8],
    name: impl FnOnce(VerifyingKey) -> T + Send,
) -> PyResult<T> {
    detached(py, || VerifyingKey::from_bytes(algorithm, bytes).map(name))
}

fn primitive<P: ParameterSet>(py: Python<'_>, key: &VerifyingKey) -> PyResult<mldsa::VerifyingKey<P>> {
    py.detach(|| mldsa::VerifyingKey::try_from(key.as_bytes())).map_err(|reason| error(py, BAD_KEY, reason))
}

/// A public key of ML-DSA as an argument: an object of `gambeson.mldsa`.
pub struct PublicKey(pub VerifyingKey);

impl<'a, 'py> FromPyObject<'a, 'py> for PublicKey {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        of_object(object)?
            .map(Self)
            .ok_or_else(|| PyTypeError::new_err("a public key of `gambeson.mldsa` is needed"))
    }
}

/// A public key as an argument: an object of `gambeson.mldsa`, or a JWK.
pub enum KeyOrJwk {
    Key(VerifyingKey),
    Jwk(Json),
}

impl KeyOrJwk {
    pub fn read(&self) -> identity::Result<VerifyingKey> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Jwk(jwk) => VerifyingKey::from_jwk(&json::parse_object(jwk.bytes(), MAX_JWK)?),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for KeyOrJwk {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match of_object(object)? {
            Some(key) => Ok(Self::Key(key)),
            None => Json::extract(object).map(Self::Jwk),
        }
    }
}

/// Who signed, as an argument: the URL of a key in a DID document, or the key itself.
pub enum Signer {
    Url(String),
    Key(VerifyingKey),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Signer {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(url) = object.cast::<PyString>() {
            return Ok(Self::Url(url.to_cow()?.into_owned()));
        }
        of_object(object)?.map(Self::Key).ok_or_else(|| {
            PyTypeError::new_err("a signer must be the URL of a key or a public key of `gambeson.mldsa`")
        })
    }
}

impl Signer {
    /// The key; a URL is looked up, and must be that of a key of this role.
    pub fn key(
        &self,
        py: Python<'_>,
        role: Role,
        resolver: Option<&Resolver>,
        now: Timestamp,
    ) -> PyResult<VerifyingKey> {
        match (self, resolver) {
            (Self::Key(key), _) => Ok(key.clone()),
            (Self::Url(_), None) => Err(error(py, USAGE, "the URL of a key needs a resolver")),
            (Self::Url(url), Some(resolver)) => detached(py, || {
                let url = DidUrl::of_key(url)?;
                let document = resolver.resolve(url.did(), now)?;
                document.key_of_role(&url, role, now).cloned()
            }),
        }
    }

    /// The URL, or the `did:key`.
    pub fn name(&self) -> String {
        match self {
            Self::Url(url) => url.clone(),
            Self::Key(key) => Did::from_key(key).to_string(),
        }
    }
}

/// The public key of a JWK (RFC 9964), as an object of `gambeson.mldsa`. One with a private part raises.
#[pyfunction]
pub fn key_from_jwk<'py>(py: Python<'py>, jwk: Json) -> PyResult<Bound<'py, PyAny>> {
    let key = detached(py, || VerifyingKey::from_jwk(&json::parse_object(jwk.bytes(), MAX_JWK)?))?;
    object(py, &key)
}

/// The public key of a Multikey in base `u`, as an object of `gambeson.mldsa`.
#[pyfunction]
pub fn key_from_multikey<'py>(py: Python<'py>, multikey: &str) -> PyResult<Bound<'py, PyAny>> {
    let key = detached(py, || VerifyingKey::from_multikey(multikey))?;
    object(py, &key)
}

/// The public key of a `did:key`, as an object of `gambeson.mldsa`.
#[pyfunction]
pub fn key_from_did<'py>(py: Python<'py>, did: &str) -> PyResult<Bound<'py, PyAny>> {
    let key = detached(py, || {
        let did: Did = did.parse()?;
        match did.method() {
            identity::Method::Key => VerifyingKey::from_multikey(did.method_specific_id()),
            _ => Err(identity::Error::new(identity::Reason::BadDid, "only a did:key is a key")),
        }
    })?;
    object(py, &key)
}

/// What a key is asked for: a relationship of DID Core or a role, in the form in which the document writes the key.
struct Asked {
    purpose: Result<Relationship, Role>,
    kind: Kind,
}

impl Asked {
    fn new(py: Python<'_>, purpose: &str, form: &str) -> PyResult<Self> {
        let role = Role::ALL.into_iter().find(|role| role.fragment() == purpose);
        let purpose = match role {
            Some(role) => Err(role),
            None => Ok(relationship(py, purpose)?),
        };
        let kind = match form {
            "JsonWebKey" => Kind::JsonWebKey,
            "Multikey" => Kind::Multikey,
            _ => return Err(error(py, USAGE, "the form of a key must be `JsonWebKey` or `Multikey`")),
        };
        Ok(Self { purpose, kind })
    }

    fn of(self, document: &DidDocument, url: &DidUrl, now: Timestamp) -> identity::Result<VerifyingKey> {
        match self.purpose {
            Ok(relationship) => document.key_for(url, self.kind, relationship, now).cloned(),
            Err(role) => document.key_of_role(url, role, now).cloned(),
        }
    }
}

/// The key of a URL in a DID document, if it may be used so now: an object of `gambeson.mldsa`.
///
/// `purpose` is a relationship of DID Core, such as `assertionMethod`, or a role, such as `log` and `did`, whose keys are in no
/// relationship. `form` is how the document writes the key: `JsonWebKey`, or `Multikey` for Data Integrity.
#[pyfunction]
#[pyo3(signature = (url, purpose="assertionMethod", *, resolver, form="JsonWebKey", now=None))]
pub fn resolve_key<'py>(
    py: Python<'py>,
    url: &str,
    purpose: &str,
    resolver: Resolver,
    form: &str,
    now: Option<Time>,
) -> PyResult<Bound<'py, PyAny>> {
    let (asked, now) = (Asked::new(py, purpose, form)?, self::now(now));
    let key = detached(py, || {
        let url = DidUrl::of_key(url)?;
        let document = resolver.resolve(url.did(), now)?;
        asked.of(&document, &url, now)
    })?;
    object(py, &key)
}

#[pymethods]
impl CardLog {
    /// As `resolve_key`, in the newest card, whether or not the card itself holds then.
    #[pyo3(signature = (url, purpose="assertionMethod", *, form="JsonWebKey", now=None))]
    fn key<'py>(
        &self,
        py: Python<'py>,
        url: &str,
        purpose: &str,
        form: &str,
        now: Option<Time>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (asked, now) = (Asked::new(py, purpose, form)?, self::now(now));
        let key = detached(py, || asked.of(self.0.newest().document(), &DidUrl::of_key(url)?, now))?;
        object(py, &key)
    }

    /// As `gambeson.agreement_key`, in the newest card, whether or not the card itself holds then.
    #[pyo3(signature = (algorithm, *, now=None))]
    fn agreement_key<'py>(
        &self,
        py: Python<'py>,
        algorithm: &str,
        now: Option<Time>,
    ) -> PyResult<(String, Bound<'py, PyBytes>)> {
        let now = self::now(now);
        let document = self.0.newest().document();
        let (url, key) = detached(py, || document.agreement_key(algorithm, now))?;
        Ok((url.to_string(), PyBytes::new(py, key)))
    }
}

pub fn relationship(py: Python<'_>, name: &str) -> PyResult<Relationship> {
    Relationship::ALL.into_iter().find(|relationship| relationship.name() == name).ok_or_else(|| {
        let names = Relationship::ALL.map(Relationship::name).join(", ");
        error(py, USAGE, format_args!("unknown purpose {name:?} (expected one of {names})"))
    })
}

/// The URL and the bytes of the key with which secrets reach a DID now. `algorithm` is the `alg` of its JWK, such as
/// `age-mlkem768x25519` for files that only the agent's backup key opens.
#[pyfunction]
#[pyo3(signature = (did, algorithm, *, resolver, now=None))]
pub fn agreement_key<'py>(
    py: Python<'py>,
    did: &str,
    algorithm: &str,
    resolver: Resolver,
    now: Option<Time>,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let now = self::now(now);
    let (url, key) = detached(py, || {
        let document = resolver.resolve(&did.parse()?, now)?;
        let (url, key) = document.agreement_key(algorithm, now)?;
        Ok((url.to_string(), key.to_vec()))
    })?;
    Ok((url, PyBytes::new(py, &key)))
}

/// The method of a DID and what follows it: `("web", "bank.example")`. What is no DID raises (DID Core 1.0, §3.1).
#[pyfunction]
pub fn parse_did(py: Python<'_>, did: &str) -> PyResult<(String, String)> {
    detached(py, || {
        let did: Did = did.parse()?;
        let method = did.as_str().split(':').nth(1).unwrap_or_default();
        Ok((method.to_owned(), did.method_specific_id().to_owned()))
    })
}

/// The DID, path, query and fragment of a DID URL, each text empty that is missing: `("did:web:bank.example", "", "", "signing-0")`.
/// What is none raises (DID Core 1.0, §3.2). With `base`, a DID, a reference in its document is resolved first.
#[pyfunction]
#[pyo3(signature = (url, *, base=None))]
pub fn parse_did_url(
    py: Python<'_>,
    url: &str,
    base: Option<&str>,
) -> PyResult<(String, String, String, String)> {
    detached(py, || {
        let url = match base {
            Some(base) => base.parse::<Did>()?.join(url)?,
            None => url.parse::<DidUrl>()?,
        };
        let [path, query, fragment] = [url.path(), url.query(), url.fragment()].map(str::to_owned);
        Ok((url.did().to_string(), path, query, fragment))
    })
}

/// Where the document of a `did:web` is: `https://bank.example/.well-known/did.json`.
#[pyfunction]
pub fn did_web_address(py: Python<'_>, did: &str) -> PyResult<String> {
    detached(py, || did.parse::<Did>()?.web_address())
}
