//! What a key file can hold: PKCS#8 and SPKI in PEM or DER, age identities and recipients.

use crate::error::Error;
use crate::files;
use crate::identities;
use crate::passphrase::{self, Passphrase};
use crate::sealing::{self, Wanted};
use gambeson_age::{Identity, Recipient};
use gambeson_pki as pki;
use sha2::{Digest, Sha256};
use std::cell::OnceCell;
use std::fmt;
use std::path::Path;
use zeroize::Zeroizing;

/// A key file, read.
pub(crate) struct KeyFile {
    /// What it is called in messages.
    pub name: String,
    pub key: Key,
    pub encoding: Encoding,
    /// The passphrase that opened it, if it had one.
    pub passphrase: Option<Passphrase>,
}

/// What a key file can hold.
pub(crate) enum Key {
    Private(PrivateKey),
    Public(PublicKey),
}

/// A private key.
pub(crate) enum PrivateKey {
    Pki(pki::PrivateKey),
    XWing(Box<Identity>),
}

/// A public key.
pub(crate) enum PublicKey {
    Pki(pki::PublicKey),
    XWing(Box<Recipient>),
}

/// How a key file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Pem,
    Der,
    Age,
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pem => "PEM",
            Self::Der => "DER",
            Self::Age => "age",
        })
    }
}

impl KeyFile {
    /// Reads the key file `path`, of whichever kind; a passphrase is sought only when the key needs one.
    pub(crate) fn read(path: &Path, passphrase_fd: Option<u32>) -> Result<Self, Error> {
        let name =
            if files::is_stream(path) { "standard input".to_owned() } else { path.display().to_string() };
        let bytes = files::read_small(path)?;
        let (key, encoding, passphrase) = if identities::is_age_file(&bytes) {
            let (key, passphrase) = locked_age_key(&name, &bytes, passphrase_fd)?;
            (key, Encoding::Age, Some(passphrase))
        } else if let Some(text) = age_lines(&bytes) {
            (age_key(&name, text)?, Encoding::Age, None)
        } else {
            pki_key(&name, &bytes, passphrase_fd)?
        };
        if passphrase.is_none() && matches!(key, Key::Private(_)) {
            files::warn_of_readers(path);
        }
        Ok(Self { name, key, encoding, passphrase })
    }

    /// The private key, or the refusal to take a public one for it.
    pub(crate) fn private(self) -> Result<(String, PrivateKey), Error> {
        match self.key {
            Key::Private(key) => Ok((self.name, key)),
            Key::Public(PublicKey::Pki(key)) if key.algorithm().is_stateful() => {
                Err(pki_error(&self.name, pki::Error::Stateful { algorithm: key.algorithm() }))
            }
            Key::Public(_) => {
                Err(Error::usage(format!("{}: is a public key; the private one is needed", self.name)))
            }
        }
    }

    /// The public key, of whichever half the file holds.
    pub(crate) fn public(self) -> (String, PublicKey) {
        let key = match self.key {
            Key::Private(key) => key.public(),
            Key::Public(key) => key,
        };
        (self.name, key)
    }
}

impl PrivateKey {
    pub(crate) fn public(&self) -> PublicKey {
        match self {
            Self::Pki(key) => PublicKey::Pki(key.public_key()),
            Self::XWing(identity) => PublicKey::XWing(Box::new(identity.recipient())),
        }
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::Pki(key) => key.algorithm().name(),
            Self::XWing(_) => X_WING,
        }
    }
}

impl PublicKey {
    pub(crate) fn algorithm(&self) -> &'static str {
        match self {
            Self::Pki(key) => key.algorithm().name(),
            Self::XWing(_) => X_WING,
        }
    }

    /// The key as the algorithm's standard encodes it.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Pki(key) => key.as_bytes(),
            Self::XWing(recipient) => recipient.encapsulation_key().as_bytes(),
        }
    }

    /// SHA-256 of the SPKI (of the bare key for X-Wing, which has none), in hexadecimal.
    pub(crate) fn fingerprint(&self) -> String {
        let digest = match self {
            Self::Pki(key) => Sha256::digest(key.to_spki_der()),
            Self::XWing(_) => Sha256::digest(self.as_bytes()),
        };
        crate::harness::hex(&digest)
    }
}

/// The name of X-Wing.
const X_WING: &str = "X-Wing";

/// `bytes` as text, if it looks like a file of age keys.
fn age_lines(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let start = first.get(..4)?;
    (start.eq_ignore_ascii_case("age-") || start.eq_ignore_ascii_case("age1")).then_some(text)
}

/// The identity of an age file under a passphrase.
fn locked_age_key(name: &str, sealed: &[u8], passphrase_fd: Option<u32>) -> Result<(Key, Passphrase), Error> {
    let passphrase = OnceCell::new();
    let ask = || {
        let given = passphrase::existing(passphrase_fd, name)?;
        Ok(passphrase.get_or_init(|| given).clone())
    };
    let mut text = Zeroizing::new(Vec::with_capacity(sealed.len()));
    identities::unlock(
        name,
        sealed,
        &mut *text,
        "a key file holds one key, perhaps under a passphrase",
        &ask,
    )?;
    let key = age_key(name, &crate::sealing::text(Path::new(name), &text)?)?;
    Ok((key, passphrase.into_inner().unwrap_or_default()))
}

fn age_key(name: &str, text: &str) -> Result<Key, Error> {
    let path = Path::new(name);
    let upper = text.lines().any(|line| line.trim().get(..4).is_some_and(|s| s.eq_ignore_ascii_case("age-")));
    if upper {
        let identities =
            Identity::parse_file(text).map_err(|e| sealing::key_file_error(path, Wanted::Identity, e))?;
        only_one(name, identities).map(|identity| Key::Private(PrivateKey::XWing(Box::new(identity))))
    } else {
        let recipients =
            Recipient::parse_file(text).map_err(|e| sealing::key_file_error(path, Wanted::Recipient, e))?;
        only_one(name, recipients).map(|recipient| Key::Public(PublicKey::XWing(Box::new(recipient))))
    }
}

fn only_one<K>(name: &str, mut keys: Vec<K>) -> Result<K, Error> {
    match (keys.pop(), keys.len()) {
        (Some(key), 0) => Ok(key),
        (_, 1) => Err(Error::usage(format!("{name}: holds two keys, where one is needed"))),
        (_, more) => Err(Error::usage(format!("{name}: holds {} keys, where one is needed", more + 1))),
    }
}

fn pki_key(
    name: &str,
    bytes: &[u8],
    passphrase_fd: Option<u32>,
) -> Result<(Key, Encoding, Option<Passphrase>), Error> {
    use pki::Error as Refusal;
    let encoding = if pki::is_der(bytes) { Encoding::Der } else { Encoding::Pem };
    let public = pki::PublicKey::read(bytes);
    let read = pki::PrivateKey::read(bytes, None);
    // The DER of a public key has an outline that an encrypted private one could have.
    let is_public = match &read {
        Err(Refusal::Label { .. }) => !matches!(public, Err(Refusal::Label { .. })),
        Err(Refusal::Der | Refusal::AnotherFile { .. } | Refusal::Encrypted) if encoding == Encoding::Der => {
            !matches!(public, Err(Refusal::Der | Refusal::AnotherFile { .. }))
        }
        _ => false,
    };
    if is_public {
        let key = public.map_err(|e| pki_error(name, e))?;
        return Ok((Key::Public(PublicKey::Pki(key)), encoding, None));
    }
    let (read, passphrase) = match read {
        Err(Refusal::Encrypted) => {
            let passphrase = passphrase::existing(passphrase_fd, name)?;
            (pki::PrivateKey::read(bytes, Some(passphrase.as_bytes())), Some(passphrase))
        }
        read => (read, None),
    };
    let key = read.map_err(|e| no_key(name, e))?;
    match public {
        Ok(public) if public != key.public_key() => Err(pki_error(name, Refusal::PublicKeyMismatch)),
        _ => Ok((Key::Private(PrivateKey::Pki(key)), encoding, passphrase)),
    }
}

/// The error of a file that may hold something else than a key, with the command for what it holds.
fn no_key(name: &str, error: pki::Error) -> Error {
    let next = match &error {
        pki::Error::Pem => "; `gambeson key gen` makes a key",
        pki::Error::Label { found, .. } if found == "CERTIFICATE" => {
            "; `gambeson cert show` reads certificates, and `gambeson verify` takes one with --cert"
        }
        _ => "",
    };
    pki_error(name, error).adding(next)
}

/// What is wrong with the key file `name`.
pub(crate) fn pki_error(name: &str, error: pki::Error) -> Error {
    match error {
        pki::Error::Random(error) => Error::randomness(error),
        pki::Error::WrongPassphrase => Error::not_verified(format!("{name}: {error}")),
        pki::Error::NoSeed | pki::Error::EmptyPassphrase | pki::Error::Stateful { .. } => {
            Error::usage(format!("{name}: {error}"))
        }
        error => Error::outside(format!("{name}: {error}")),
    }
}
