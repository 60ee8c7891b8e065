//! Hashes, HMAC, HKDF and AEADs, by name.

use aes_gcm::{Aes128Gcm, Aes256Gcm};
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit, Tag};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// Bytes of every tag and of every nonce.
const TAG_LEN: usize = 16;
pub(crate) const NONCE_LEN: usize = 12;

/// The hash of a suite, and with it HMAC and HKDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    pub(crate) fn digest(self, data: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(data).to_vec(),
            Self::Sha384 => Sha384::digest(data).to_vec(),
            Self::Sha512 => Sha512::digest(data).to_vec(),
        }
    }

    pub(crate) fn mac(self, key: &[u8], data: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => mac(Hmac::<Sha256>::new_from_slice(key).expect("any length"), data),
            Self::Sha384 => mac(Hmac::<Sha384>::new_from_slice(key).expect("any length"), data),
            Self::Sha512 => mac(Hmac::<Sha512>::new_from_slice(key).expect("any length"), data),
        }
    }

    pub(crate) fn extract(self, salt: &[u8], ikm: &[u8]) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            Self::Sha256 => Hkdf::<Sha256>::extract(Some(salt), ikm).0.to_vec(),
            Self::Sha384 => Hkdf::<Sha384>::extract(Some(salt), ikm).0.to_vec(),
            Self::Sha512 => Hkdf::<Sha512>::extract(Some(salt), ikm).0.to_vec(),
        })
    }

    /// `prk` has at least as many bytes as the hash.
    pub(crate) fn expand(self, prk: &[u8], info: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        let mut out = Zeroizing::new(vec![0; len]);
        let short = |_| Error::Length { what: "a pseudorandom key", expected: self.len(), actual: prk.len() };
        let expanded = match self {
            Self::Sha256 => Hkdf::<Sha256>::from_prk(prk).map_err(short)?.expand(info, &mut out),
            Self::Sha384 => Hkdf::<Sha384>::from_prk(prk).map_err(short)?.expand(info, &mut out),
            Self::Sha512 => Hkdf::<Sha512>::from_prk(prk).map_err(short)?.expand(info, &mut out),
        };
        expanded.map_err(|_| Error::TooLong)?;
        Ok(out)
    }
}

fn mac<M: Mac>(mut mac: M, data: &[u8]) -> Vec<u8> {
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

/// The AEAD of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aead {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl Aead {
    pub(crate) const fn key_len(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }

    /// The ciphertext, and behind it the tag.
    pub(crate) fn seal(self, key: &[u8], nonce: &[u8], aad: &[u8], data: &[u8]) -> Result<Vec<u8>> {
        self.check(key, nonce)?;
        match self {
            Self::Aes128Gcm => seal::<Aes128Gcm>(key, nonce, aad, data),
            Self::Aes256Gcm => seal::<Aes256Gcm>(key, nonce, aad, data),
            Self::ChaCha20Poly1305 => seal::<ChaCha20Poly1305>(key, nonce, aad, data),
        }
    }

    pub(crate) fn open(
        self,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.check(key, nonce)?;
        match self {
            Self::Aes128Gcm => open::<Aes128Gcm>(key, nonce, aad, sealed),
            Self::Aes256Gcm => open::<Aes256Gcm>(key, nonce, aad, sealed),
            Self::ChaCha20Poly1305 => open::<ChaCha20Poly1305>(key, nonce, aad, sealed),
        }
    }

    fn check(self, key: &[u8], nonce: &[u8]) -> Result<()> {
        exactly("an AEAD key", self.key_len(), key)?;
        exactly("a nonce", NONCE_LEN, nonce)
    }
}

fn seal<A: AeadInOut + KeyInit>(key: &[u8], nonce: &[u8], aad: &[u8], data: &[u8]) -> Result<Vec<u8>> {
    let (aead, nonce) = ready::<A>(key, nonce)?;
    let mut out = Vec::with_capacity(data.len() + TAG_LEN);
    out.extend_from_slice(data);
    let tag =
        aead.encrypt_inout_detached(nonce, aad, out.as_mut_slice().into()).map_err(|_| Error::TooLong)?;
    out.extend_from_slice(&tag);
    Ok(out)
}

fn open<A: AeadInOut + KeyInit>(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    sealed: &[u8],
) -> Result<Zeroizing<Vec<u8>>> {
    let (aead, nonce) = ready::<A>(key, nonce)?;
    let (body, tag) = split_tag(sealed)?;
    let tag = <&Tag<A>>::try_from(tag.as_slice()).map_err(|_| Error::Open)?;
    let mut out = Zeroizing::new(body.to_vec());
    aead.decrypt_inout_detached(nonce, aad, out.as_mut_slice().into(), tag).map_err(|_| Error::Open)?;
    Ok(out)
}

fn ready<'a, A: AeadInOut + KeyInit>(
    key: &[u8],
    nonce: &'a [u8],
) -> Result<(A, &'a chacha20poly1305::aead::Nonce<A>)> {
    let aead = A::new_from_slice(key).map_err(|_| Error::Open)?;
    Ok((aead, nonce.try_into().map_err(|_| Error::Open)?))
}

/// What was sealed, and its tag.
pub(crate) fn split_tag(sealed: &[u8]) -> Result<(&[u8], &[u8; TAG_LEN])> {
    let short = Error::Length { what: "a ciphertext", expected: TAG_LEN, actual: sealed.len() };
    sealed.split_last_chunk().ok_or(short)
}

pub(crate) fn exactly(what: &'static str, expected: usize, bytes: &[u8]) -> Result<()> {
    if bytes.len() == expected { Ok(()) } else { Err(Error::Length { what, expected, actual: bytes.len() }) }
}
