//! The bytes of a file: `docs/spec/keystore.md`.

use aes_gcm::Aes256Gcm;
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use gambeson::secret::{Secret, equal};

use crate::error::Error;
use crate::protection::{Keys, Passphrase, Protection};

/// The longest secret in bytes: 1 MiB.
pub const MAX_SECRET_LEN: usize = 1 << 20;
/// By how many bytes a file is longer than its secret: header and tag.
pub const OVERHEAD: usize = HEADER_LEN + TAG_LEN;

const MAGIC: &[u8; 15] = b"gambeson secret";
const VERSION: u8 = 1;
const ARGON2ID: u8 = 1;
const PBKDF2: u8 = 2;
const TAG_LEN: usize = 16;
const PURPOSE_LEN: usize = 32;
const SALT_LEN: usize = 32;
const NONCE_LEN: usize = 24;
/// Of the nonce, what AES-256-GCM takes; the rest is zero.
const GCM_NONCE_LEN: usize = 12;

// Where the fields of the header begin.
const SUITE: usize = 16;
const COSTS: usize = 20;
const PURPOSE: usize = 32;
const SALT: usize = PURPOSE + PURPOSE_LEN;
const NONCE: usize = SALT + SALT_LEN;
const COMMITMENT: usize = NONCE + NONCE_LEN;
const HEADER_LEN: usize = COMMITMENT + 32;

type Header = [u8; HEADER_LEN];

/// Seals `secret` under a passphrase, for a purpose that the reader has to name again.
///
/// # Errors
/// [`Error::TooLong`], [`Error::Purpose`], [`Error::Cost`], [`Error::Memory`], [`Error::Random`].
pub fn seal(
    secret: &[u8],
    purpose: &str,
    passphrase: &Passphrase,
    protection: Protection,
) -> Result<Vec<u8>, Error> {
    if secret.len() > MAX_SECRET_LEN {
        return Err(Error::TooLong);
    }
    let mut header = [0; HEADER_LEN];
    header[..15].copy_from_slice(MAGIC);
    header[15] = VERSION;
    let nonce_len = write_protection(&mut header, protection.check()?);
    header[PURPOSE..SALT].copy_from_slice(&padded(purpose)?);
    getrandom::fill(&mut header[SALT..NONCE + nonce_len])?;
    let Keys { key, commitment } = protection.keys(passphrase, field(&header, SALT))?;
    header[COMMITMENT..].copy_from_slice(&commitment);

    let mut file = Vec::with_capacity(OVERHEAD + secret.len());
    file.extend_from_slice(&header);
    file.extend_from_slice(secret);
    let tag = encrypt(protection, &key, &header, &mut file[HEADER_LEN..]);
    file.extend_from_slice(&tag);
    Ok(file)
}

/// Opens what [`seal`] made for the same purpose.
///
/// # Errors
/// [`Error::Format`], [`Error::Version`], [`Error::Cost`], [`Error::OtherPurpose`] before any work is done;
/// [`Error::Memory`], [`Error::WrongPassphrase`], [`Error::Damaged`] after it.
pub fn open(file: &[u8], purpose: &str, passphrase: &Passphrase) -> Result<Secret<Vec<u8>>, Error> {
    let (header, body) = file.split_first_chunk::<HEADER_LEN>().ok_or(Error::Format)?;
    let (body, tag) = body.split_last_chunk::<TAG_LEN>().ok_or(Error::Format)?;
    if body.len() > MAX_SECRET_LEN {
        return Err(Error::Format);
    }
    let protection = read_protection(header)?;
    if header[PURPOSE..SALT] != padded(purpose)? {
        return Err(Error::OtherPurpose);
    }
    let Keys { key, commitment } = protection.keys(passphrase, field(header, SALT))?;
    if !equal(&commitment, &header[COMMITMENT..]) {
        return Err(Error::WrongPassphrase);
    }
    let mut secret = Secret::new(body.to_vec());
    decrypt(protection, &key, header, secret.expose_mut(), tag)?;
    Ok(secret)
}

/// Whether bytes begin like a file of this format, of any version.
#[must_use]
pub fn is_sealed(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// Writes suite and costs, and gives the length of the suite's nonce.
fn write_protection(header: &mut Header, protection: Protection) -> usize {
    let (suite, costs, nonce_len) = match protection {
        Protection::Argon2id { memory, passes, lanes } => (ARGON2ID, [memory, passes, lanes], NONCE_LEN),
        Protection::Pbkdf2 { iterations } => (PBKDF2, [0, iterations, 0], GCM_NONCE_LEN),
    };
    header[SUITE] = suite;
    for (place, cost) in header[COSTS..PURPOSE].chunks_exact_mut(4).zip(costs) {
        place.copy_from_slice(&cost.to_be_bytes());
    }
    nonce_len
}

/// Reads what [`write_protection`] wrote: there is one encoding, and any other is an error.
fn read_protection(header: &Header) -> Result<Protection, Error> {
    if !is_sealed(header) {
        return Err(Error::Format);
    }
    if header[15] != VERSION {
        return Err(Error::Version);
    }
    let cost = |i: usize| u32::from_be_bytes(*field(header, COSTS + 4 * i));
    let (protection, nonce_len) = match header[SUITE] {
        ARGON2ID => (Protection::Argon2id { memory: cost(0), passes: cost(1), lanes: cost(2) }, NONCE_LEN),
        PBKDF2 if (cost(0), cost(2)) == (0, 0) => (Protection::Pbkdf2 { iterations: cost(1) }, GCM_NONCE_LEN),
        PBKDF2 => return Err(Error::Format),
        _ => return Err(Error::Version),
    };
    let unused = header[SUITE + 1..COSTS].iter().chain(&header[NONCE + nonce_len..COMMITMENT]);
    if unused.into_iter().any(|byte| *byte != 0) {
        return Err(Error::Format);
    }
    protection.check()
}

/// A purpose in its field: behind it zeros.
fn padded(purpose: &str) -> Result<[u8; PURPOSE_LEN], Error> {
    let known = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b' ' | b'-');
    if purpose.is_empty() || !purpose.bytes().all(known) {
        return Err(Error::Purpose);
    }
    let mut padded = [0; PURPOSE_LEN];
    padded.get_mut(..purpose.len()).ok_or(Error::Purpose)?.copy_from_slice(purpose.as_bytes());
    Ok(padded)
}

fn field<const N: usize>(header: &Header, at: usize) -> &[u8; N] {
    header[at..at + N].try_into().expect("a field of the header")
}

/// Encrypts `body` where it stands; the whole header is authenticated with it.
fn encrypt(
    protection: Protection,
    key: &Secret<[u8; 32]>,
    header: &Header,
    body: &mut [u8],
) -> [u8; TAG_LEN] {
    match protection {
        Protection::Argon2id { .. } => {
            let aead = XChaCha20Poly1305::new(key.expose().into());
            aead.encrypt_inout_detached(field::<NONCE_LEN>(header, NONCE).into(), header, body.into())
        }
        Protection::Pbkdf2 { .. } => {
            let aead = Aes256Gcm::new(key.expose().into());
            aead.encrypt_inout_detached(field::<GCM_NONCE_LEN>(header, NONCE).into(), header, body.into())
        }
    }
    .expect("1 MiB is not too long")
    .into()
}

fn decrypt(
    protection: Protection,
    key: &Secret<[u8; 32]>,
    header: &Header,
    body: &mut [u8],
    tag: &[u8; TAG_LEN],
) -> Result<(), Error> {
    let (body, tag) = (body.into(), tag.into());
    match protection {
        Protection::Argon2id { .. } => {
            let aead = XChaCha20Poly1305::new(key.expose().into());
            aead.decrypt_inout_detached(field::<NONCE_LEN>(header, NONCE).into(), header, body, tag)
        }
        Protection::Pbkdf2 { .. } => {
            let aead = Aes256Gcm::new(key.expose().into());
            aead.decrypt_inout_detached(field::<GCM_NONCE_LEN>(header, NONCE).into(), header, body, tag)
        }
    }
    .map_err(|_| Error::Damaged)
}
