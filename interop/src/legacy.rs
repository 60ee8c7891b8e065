//! X25519 identities of age, for the test vectors that are addressed to them.
//!
//! Source: c2sp.org/age, "The X25519 recipient type". A quantum computer breaks it, so it is not in `gambeson-age`; it
//! shows that its trait [`UnwrapFileKey`] is border enough.

use base64ct::{Base64Unpadded, Encoding};
use bech32::primitives::decode::CheckedHrpstring;
use chacha20poly1305::aead::{Aead, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use gambeson_age::{FileKey, HeaderError, Stanza, UnwrapFileKey};
use hkdf::Hkdf;
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};

/// An X25519 identity, `AGE-SECRET-KEY-1…`.
pub struct X25519Identity(StaticSecret);

impl X25519Identity {
    /// Reads the Bech32 text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let checked = CheckedHrpstring::new::<bech32::Bech32>(text).ok()?;
        let bytes: Vec<u8> = checked.byte_iter().collect();
        (checked.hrp().as_str() == "AGE-SECRET-KEY-").then_some(())?;
        Some(Self(StaticSecret::from(<[u8; 32]>::try_from(bytes).ok()?)))
    }
}

impl UnwrapFileKey for X25519Identity {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        for stanza in stanzas.iter().filter(|stanza| stanza.kind() == "X25519") {
            let mut args = stanza.args().skip(1);
            let (Some(share), None) = (args.next(), args.next()) else {
                return Err(HeaderError::Stanza("an X25519 stanza does not have two arguments"));
            };
            let share: [u8; 32] = decode(share)?;
            let secret = self.0.diffie_hellman(&PublicKey::from(share));
            if !secret.was_contributory() {
                return Err(HeaderError::Stanza("the share of an X25519 stanza has low order"));
            }
            let salt = [share, PublicKey::from(&self.0).to_bytes()].concat();
            let mut key = [0; 32];
            Hkdf::<Sha256>::new(Some(&salt), secret.as_bytes())
                .expand(b"age-encryption.org/v1/X25519", &mut key)
                .expect("32 bytes are not too long");
            if let Some(file_key) = unwrap(&key, &stanza.body())? {
                return Ok(Some(file_key));
            }
        }
        Ok(None)
    }
}

fn decode<const N: usize>(text: &str) -> Result<[u8; N], HeaderError> {
    let bytes = Base64Unpadded::decode_vec(text).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or(HeaderError::Stanza("an argument of a stanza is not what its kind demands"))
}

/// Opens the body of a stanza: 32 bytes, under a key that is used once.
fn unwrap(key: &[u8; 32], body: &[u8]) -> Result<Option<FileKey>, HeaderError> {
    if body.len() != 32 {
        return Err(HeaderError::Stanza("the body of a stanza is not 32 bytes long"));
    }
    let opened = ChaCha20Poly1305::new(&Key::from(*key)).decrypt(&Nonce::default(), body);
    Ok(opened.ok().map(|key| FileKey::new(key.try_into().expect("32 bytes less a tag of 16"))))
}
