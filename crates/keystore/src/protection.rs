//! From a passphrase to keys.

use std::fmt;

use argon2::{Algorithm, Argon2, Block, Params, Version};
use gambeson::secret::Secret;
use hkdf::Hkdf;
use sha2::Sha384;
use zeroize::Zeroizing;

use crate::error::Error;

/// A passphrase. It is wiped when dropped, and cannot be copied or shown.
///
/// ```
/// # let passphrase = gambeson_keystore::Passphrase::new("secret")?;
/// let shown = format!("{passphrase:?}"); // Passphrase([redacted])
/// # Ok::<(), gambeson_keystore::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # let passphrase = gambeson_keystore::Passphrase::new("secret")?;
/// let copy = passphrase.clone(); // there is none
/// # Ok::<(), gambeson_keystore::Error>(())
/// ```
pub struct Passphrase(Secret<Vec<u8>>);

impl Passphrase {
    /// Takes a copy of the passphrase; the bytes of its UTF-8 text count, as they are.
    ///
    /// # Errors
    /// [`Error::EmptyPassphrase`].
    pub fn new(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::EmptyPassphrase);
        }
        Ok(Self(Secret::new(text.as_bytes().to_vec())))
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase([redacted])")
    }
}

/// What stands between the passphrase and the secret: the costly function that makes the key, and with it the cipher.
///
/// The bounds hold when a file is written and when one is read, before any memory is taken:
///
/// | | least | most |
/// | --- | --- | --- |
/// | memory of Argon2id, KiB | 8 × lanes | 2^20 (1 GiB) |
/// | passes | 1 | 64 |
/// | memory × passes, KiB | | 2^22 |
/// | lanes | 1 | 16 |
/// | iterations of PBKDF2 | 1000 | 10,000,000 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Argon2id (RFC 9106, version 0x13) and XChaCha20-Poly1305.
    Argon2id {
        /// Memory in KiB.
        memory: u32,
        /// Passes over the memory.
        passes: u32,
        /// Lanes.
        lanes: u32,
    },
    /// PBKDF2-HMAC-SHA384 (RFC 8018, §5.2) and AES-256-GCM, of the algorithms that CNSA 2.0 lists.
    Pbkdf2 {
        /// Iterations.
        iterations: u32,
    },
}

impl Protection {
    /// The second recommendation of RFC 9106, §4: 64 MiB, 3 passes, 4 lanes.
    pub const DEFAULT: Self = Self::Argon2id { memory: 1 << 16, passes: 3, lanes: 4 };
    /// 600,000 iterations.
    pub const CNSA2: Self = Self::Pbkdf2 { iterations: 600_000 };

    /// Whether the cost is within its bounds.
    pub(crate) fn check(self) -> Result<Self, Error> {
        let allowed = match self {
            Self::Argon2id { memory, passes, lanes } => {
                (1..=16).contains(&lanes)
                    && (1..=64).contains(&passes)
                    && (8 * lanes..=1 << 20).contains(&memory)
                    && u64::from(memory) * u64::from(passes) <= 1 << 22
            }
            Self::Pbkdf2 { iterations } => (1000..=10_000_000).contains(&iterations),
        };
        if allowed { Ok(self) } else { Err(Error::Cost) }
    }

    /// The keys of one file. The cost has been checked.
    pub(crate) fn keys(self, passphrase: &Passphrase, salt: &[u8; 32]) -> Result<Keys, Error> {
        let passphrase = passphrase.0.expose();
        let mut keys = Keys { key: Secret::new([0; 32]), commitment: [0; 32] };
        match self {
            Self::Argon2id { memory, passes, lanes } => {
                let params = Params::new(memory, passes, lanes, Some(64)).map_err(|_| Error::Cost)?;
                let mut blocks = Zeroizing::new(Vec::<Block>::new());
                blocks.try_reserve_exact(params.block_count()).map_err(|_| Error::Memory)?;
                blocks.resize(params.block_count(), Block::default());
                let mut out = Secret::new([0; 64]);
                Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
                    .hash_password_into_with_memory(passphrase, salt, out.expose_mut(), blocks.as_mut_slice())
                    .map_err(|_| Error::Cost)?;
                let (key, commitment) = out.expose().split_at(32);
                keys.key.expose_mut().copy_from_slice(key);
                keys.commitment.copy_from_slice(commitment);
            }
            Self::Pbkdf2 { iterations } => {
                let mut out = Secret::new([0; 48]); // one block of the function: its owner pays for no more than a guesser
                pbkdf2::pbkdf2_hmac::<Sha384>(passphrase, salt, iterations, out.expose_mut());
                let prk = Hkdf::<Sha384>::from_prk(out.expose()).expect("48 bytes");
                prk.expand(b"gambeson secret v1 key", keys.key.expose_mut()).expect("32 bytes");
                prk.expand(b"gambeson secret v1 commitment", &mut keys.commitment).expect("32 bytes");
            }
        }
        Ok(keys)
    }
}

impl Default for Protection {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The key of the cipher, and what shows whether it is the right one: neither cipher commits to its key.
pub(crate) struct Keys {
    pub(crate) key: Secret<[u8; 32]>,
    pub(crate) commitment: [u8; 32],
}
