//! Files under a passphrase: the recipient type scrypt of c2sp.org/age.

use std::{fmt, io};

use base64ct::{Base64Unpadded, Encoding};
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce, Tag};
use gambeson::secret::Secret;

use crate::error::{Error, HeaderError};
use crate::header::{FileKey, Stanza, UnwrapFileKey, Wrapped};
use crate::scrypt::{OutOfMemory, scrypt};

/// The kind of stanza.
pub(crate) const KIND: &str = "scrypt";

const LABEL: &[u8] = b"age-encryption.org/v1/scrypt";
const SALT_LEN: usize = 16;

/// A passphrase that seals or opens a file. It is wiped when dropped, and cannot be copied or shown.
///
/// The key is scrypt(passphrase, N = 2^work factor, r = 8, p = 1), with 1 KiB of memory times N: 256 MiB and
/// about a second at the work factor 18 that is written, as stock age does. That memory is wiped too.
///
/// ```
/// use gambeson_age::{Encryptor, Format, Passphrase, open};
/// use std::io::Write;
///
/// let passphrase = Passphrase::new("correct horse battery staple")?.work_factor(10); // 18 outside examples
/// let mut file = Encryptor::with_passphrase(&passphrase, Vec::new(), Format::Armored)?;
/// file.write_all(b"quilted linen")?;
/// let file = file.finish()?;
///
/// let mut opened = Vec::new();
/// open(&[passphrase], &file[..], &mut opened)?;
/// assert_eq!(opened, b"quilted linen");
/// # Ok::<(), gambeson_age::Error>(())
/// ```
pub struct Passphrase {
    text: Secret<Vec<u8>>,
    log_n: u8,
    max_log_n: u8,
}

impl Passphrase {
    /// The work factor that is written: N = 2^18, 256 MiB.
    pub const WORK_FACTOR: u8 = 18;
    /// The highest work factor that is computed when a file is read: N = 2^20, 1 GiB.
    pub const MAX_WORK_FACTOR: u8 = 20;

    /// Takes a copy of the passphrase; the bytes of its UTF-8 text count.
    ///
    /// # Errors
    /// [`Error::EmptyPassphrase`].
    pub fn new(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::EmptyPassphrase);
        }
        Ok(Self {
            text: Secret::new(text.as_bytes().to_vec()),
            log_n: Self::WORK_FACTOR,
            max_log_n: Self::MAX_WORK_FACTOR,
        })
    }

    /// Seals with another work factor, log2 of N, from 1 to 30.
    #[must_use]
    pub fn work_factor(self, log_n: u8) -> Self {
        Self { log_n: log_n.clamp(1, 30), ..self }
    }

    /// Opens files of at most another work factor, from 1 to 30. Each step doubles time and memory: 22 needs 4 GiB.
    #[must_use]
    pub fn max_work_factor(self, log_n: u8) -> Self {
        Self { max_log_n: log_n.clamp(1, 30), ..self }
    }

    pub(crate) fn wrap(&self, file_key: &FileKey) -> Result<Wrapped, Error> {
        let mut salt = [0; SALT_LEN];
        getrandom::fill(&mut salt).map_err(|_| gambeson::RngError)?;
        let cipher =
            self.cipher(&salt, self.log_n).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut body = file_key.expose().to_vec();
        let tag = cipher
            .encrypt_inout_detached(&Nonce::default(), b"", body.as_mut_slice().into())
            .expect("16 bytes are not too long");
        body.extend_from_slice(&tag);
        let args = vec![KIND.into(), Base64Unpadded::encode_string(&salt), self.log_n.to_string()];
        Ok(Wrapped { args, body })
    }

    /// The cipher of the wrapped file key; its nonce is zero, because the salt is new for every file.
    fn cipher(&self, salt: &[u8; SALT_LEN], log_n: u8) -> Result<ChaCha20Poly1305, OutOfMemory> {
        let key = scrypt(self.text.expose(), &[LABEL, salt].concat(), log_n)?;
        Ok(ChaCha20Poly1305::new(key.expose().into()))
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase([redacted])")
    }
}

impl UnwrapFileKey for Passphrase {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        let Some(stanza) = stanzas.iter().find(|stanza| stanza.kind() == KIND) else { return Ok(None) };
        let mut args = stanza.args().skip(1);
        let (Some(salt), Some(work), None) = (args.next(), args.next(), args.next()) else {
            return Err(HeaderError::Stanza("an scrypt stanza does not have three arguments"));
        };
        let mut bytes = [0; SALT_LEN];
        if Base64Unpadded::decode(salt, &mut bytes).map(<[u8]>::len) != Ok(SALT_LEN) {
            return Err(HeaderError::Stanza("the salt of an scrypt stanza is not 16 bytes long"));
        }
        if work.starts_with('0') || !work.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(HeaderError::Stanza("the work factor of an scrypt stanza is not a decimal number"));
        }
        // The length is checked before anything is decrypted, against partitioning oracles.
        let body = stanza.body_of::<32>();
        let body = body.ok_or(HeaderError::Stanza("the body of an scrypt stanza is not 32 bytes long"))?;
        // Before any memory is taken.
        let log_n =
            work.parse().ok().filter(|log_n| *log_n <= self.max_log_n).ok_or(HeaderError::WorkFactor)?;

        let (sealed, tag) = body.split_at(16);
        let mut file_key = FileKey::new(sealed.try_into().expect("16 of 32 bytes"));
        let tag = Tag::try_from(tag).expect("16 of 32 bytes");
        let cipher = self.cipher(&bytes, log_n).map_err(|_| HeaderError::WorkFactor)?;
        let opened = cipher.decrypt_inout_detached(
            &Nonce::default(),
            b"",
            file_key.expose_mut().as_mut_slice().into(),
            &tag,
        );
        Ok(opened.ok().map(|()| file_key))
    }
}
