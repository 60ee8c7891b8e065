//! HPKE: encryption to a public key (RFC 9180), with post-quantum KEMs, in base mode and with a pre-shared key.
//!
//! ```
//! use gambeson_hybrid::hpke::{self, ChaCha20Poly1305, HkdfSha256, XWing};
//! use gambeson_hybrid::xwing::DecapsulationKey;
//!
//! let recipient = DecapsulationKey::from_seed(&[7; 32]);
//! let published = recipient.encapsulation_key();
//!
//! // Sender: `enc` goes to the recipient once, then one ciphertext a message.
//! let (enc, mut sender) = hpke::setup_sender_deterministic::<XWing, HkdfSha256, ChaCha20Poly1305>(
//!     &published,
//!     b"an application",
//!     &[9; 64], // fresh and secret outside examples: `setup_sender` draws it
//! )?;
//! let mut message = *b"attack at dawn";
//! let tag = sender.seal_in_place(b"", &mut message)?;
//!
//! // Recipient.
//! let mut receiver = hpke::setup_receiver::<XWing, HkdfSha256, ChaCha20Poly1305>(&enc, &recipient, b"an application")?;
//! receiver.open_in_place(b"", &mut message, &tag)?;
//! assert_eq!(&message, b"attack at dawn");
//! # Ok::<(), hpke::Error>(())
//! ```
//!
//! The suite is three types:
//!
//! | KEM | number | public key, private key, `enc`, secret, bytes |
//! | --- | --- | --- |
//! | [`XWing`] | 0x647a | 1216, 32, 1120, 32 |
//! | [`MlKem512`], [`MlKem768`], [`MlKem1024`] | 0x0040, 0x0041, 0x0042 | 800, 1184, 1568; 64; 768, 1088, 1568; 32 |
//! | `MlKem768P256`, `MlKem1024P384` (feature `curves`) | 0x0050, 0x0051 | 1249, 1665; 32; 1153, 1665; 32 |
//! | [`DhKemX25519`] | 0x0020 | 32, 32, 32, 32 |
//! | `DhKemX448` (feature `curve448`) | 0x0021 | 56, 56, 56, 64 |
//! | `DhKemP256`, `DhKemP384` (feature `curves`), `DhKemP521` (feature `p521`) | 0x0010, 0x0011, 0x0012 | 65, 97, 133; 32, 48, 66; 65, 97, 133; 32, 48, 64 |
//!
//! | KDF | number | Nh | | AEAD | number | Nk, Nn, Nt |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | [`HkdfSha256`] | 0x0001 | 32 | | [`Aes128Gcm`] | 0x0001 | 16, 12, 16 |
//! | [`HkdfSha384`] | 0x0002 | 48 | | [`Aes256Gcm`] | 0x0002 | 32, 12, 16 |
//! | [`HkdfSha512`] | 0x0003 | 64 | | [`ChaCha20Poly1305`] | 0x0003 | 32, 12, 16 |
//! | [`Shake128`], [`Shake256`] | 0x0010, 0x0011 | 32, 64 | | [`ExportOnly`] | 0xffff | nothing is encrypted, only [`Context::export`] is there |
//! | [`TurboShake128`], [`TurboShake256`] | 0x0012, 0x0013 | 32, 64 | | | | |
//!
//! A context is about 200 bytes, needs no heap, and is wiped when dropped. Nothing here authenticates the sender:
//! who needs that signs what is sealed.
//!
//! Sources: RFC 9180, §4, §5 and §7; draft-ietf-hpke-pq-04 (the KEMs, and how their keys are derived);
//! draft-ietf-hpke-hpke (the one-stage KDFs). An X25519 or X448 share of low order is refused (§7.1.4).

mod aead;
mod dh;
mod kdf;
mod kem;

use core::fmt;
use core::marker::PhantomData;

use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{Secret, StackGuard};

pub use aead::{Aead, Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, Encrypts, ExportOnly};
#[cfg(feature = "p521")]
pub use dh::DhKemP521;
#[cfg(feature = "curve448")]
pub use dh::DhKemX448;
pub use dh::{DhDecapsulationKey, DhEncapsulationKey, DhKemX25519};
#[cfg(feature = "curves")]
pub use dh::{DhKemP256, DhKemP384};
pub use kdf::{
    HkdfSha256, HkdfSha384, HkdfSha512, Kdf, Schedule, Shake128, Shake256, TurboShake128, TurboShake256,
};
#[cfg(feature = "curves")]
pub use kem::{HybridDecapsulationKey, HybridEncapsulationKey, MlKem768P256, MlKem1024P384};
pub use kem::{Kem, MlKem512, MlKem768, MlKem1024, XWing};

use aead::{MAX_KEY_LEN, NONCE_LEN};

/// Length of a tag, of every AEAD here.
pub const TAG_LEN: usize = 16;

/// `mode_base` and `mode_psk`, RFC 9180, §5.
const MODE_BASE: u8 = 0;
const MODE_PSK: u8 = 1;
const VERSION: &[u8] = b"HPKE-v1";
/// Bytes of the longest digest, and of the longest shared secret.
const MAX_HASH_LEN: usize = 64;

/// Bytes of stack that the work of any door uses besides the KEM's, and a margin for other compilers.
const DEPTH: usize = 8 << 10;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not a key of the KEM, or not its `enc`: another length, a coefficient that is not below q, not a point of the curve, not a
    /// scalar of it.
    Key,
    /// The X25519 or X448 share of the other side is a low-order point (RFC 9180, §7.1.4).
    NonContributory,
    /// The random number generator failed.
    Random,
    /// What is asked of the KDF is more than it can give, or take: an export longer than 255 digests, or strings of
    /// more than 65535 bytes for a one-stage KDF.
    TooLong,
    /// The pre-shared key has less than 32 bytes, or an empty name (§5.1, `VerifyPSKInputs`; §9.5).
    Psk,
    /// The ciphertext is not what the sender sealed, or not in this place of the sequence (`OpenError`).
    Open,
    /// 2^64 - 1 messages were sealed or opened (`MessageLimitReachedError`).
    MessageLimit,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key => f.write_str("not a key of this KEM, or not its `enc`"),
            Self::NonContributory => {
                f.write_str("the share is a point of low order: the secret would be all zeros")
            }
            Self::Psk => f.write_str("a pre-shared key of less than 32 bytes, or without a name"),
            Self::Random => gambeson::RngError.fmt(f),
            Self::TooLong => f.write_str("a string is longer than the KDF can give or take"),
            Self::Open => f.write_str("not what was sealed: the tag does not fit"),
            Self::MessageLimit => f.write_str("the context has no nonce left for another message"),
        }
    }
}

impl core::error::Error for Error {}

/// A secret that both sides have already, of at least 32 bytes, and its name (RFC 9180, §5.1.2).
#[derive(Clone, Copy)]
pub struct Psk<'a> {
    /// The secret.
    pub secret: &'a [u8],
    /// What both sides call it.
    pub id: &'a [u8],
}

impl Psk<'_> {
    fn verify(self) -> Result<Self, Error> {
        if self.secret.len() < 32 || self.id.is_empty() { Err(Error::Psk) } else { Ok(self) }
    }
}

impl fmt::Debug for Psk<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("hpke::Psk").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What both sides have after the key schedule, and what each of them exports from it.
pub struct Context<F, A> {
    suite: SuiteId,
    key: Secret<[u8; MAX_KEY_LEN]>,
    base_nonce: Secret<[u8; NONCE_LEN]>,
    sequence: u64,
    exporter_secret: Secret<[u8; MAX_HASH_LEN]>,
    algorithms: PhantomData<(F, A)>,
}

impl<F: Kdf, A: Aead> Context<F, A> {
    /// `KeySchedule` (§5.1), in base mode if there is no pre-shared key.
    fn new<K: Kem>(shared_secret: &[u8], info: &[u8], psk: Option<Psk<'_>>) -> Result<Self, Error> {
        let _guard = StackGuard::<DEPTH>;
        let mut suite = *b"HPKE\0\0\0\0\0\0";
        for (place, id) in suite[4..].chunks_exact_mut(2).zip([K::ID, F::ID, A::ID]) {
            place.copy_from_slice(&id.to_be_bytes());
        }
        let mut context = Self {
            suite,
            key: Secret::new([0; MAX_KEY_LEN]),
            base_nonce: Secret::new([0; NONCE_LEN]),
            sequence: 0,
            exporter_secret: Secret::new([0; MAX_HASH_LEN]),
            algorithms: PhantomData,
        };
        let mode = if psk.is_some() { MODE_PSK } else { MODE_BASE };
        let psk = psk.unwrap_or(Psk { secret: b"", id: b"" });
        let out = Schedule {
            key: &mut context.key.expose_mut()[..A::NK],
            base_nonce: &mut context.base_nonce.expose_mut()[..A::NN],
            exporter_secret: &mut context.exporter_secret.expose_mut()[..F::NH],
        };
        F::combine(&suite, mode, shared_secret, info, psk, out)?;
        Ok(context)
    }

    /// Fills `out` with a secret that only the two sides know, for the purpose that `exporter_context` names
    /// (`Context.Export`, §5.3).
    ///
    /// # Errors
    /// [`Error::TooLong`] for more than 255 digests of HKDF (8160 bytes with SHA-256), or 65535 bytes of SHAKE256.
    pub fn export(&self, exporter_context: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let _guard = StackGuard::<DEPTH>;
        F::export(&self.suite, &self.exporter_secret.expose()[..F::NH], exporter_context, out)
    }

    /// `ComputeNonce` (§5.2).
    fn nonce(&self) -> Secret<[u8; NONCE_LEN]> {
        let mut nonce = Secret::new(*self.base_nonce.expose());
        for (byte, counted) in nonce.expose_mut()[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= counted;
        }
        nonce
    }

    /// Runs one operation of the AEAD on `key` and the next nonce, which is used up only if it succeeds.
    fn next<T>(
        &mut self,
        work: impl FnOnce(&[u8], &[u8; NONCE_LEN]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _guard = StackGuard::<DEPTH>;
        let after = self.sequence.checked_add(1).ok_or(Error::MessageLimit)?;
        let done = work(&self.key.expose()[..A::NK], self.nonce().expose())?;
        self.sequence = after;
        Ok(done)
    }
}

impl<F, A> fmt::Debug for Context<F, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hpke::Context([redacted])")
    }
}

/// The sender's context: seals a sequence of messages, and exports.
#[derive(Debug)]
pub struct Sender<F, A>(Context<F, A>);

impl<F: Kdf, A: Encrypts> Sender<F, A> {
    /// Encrypts `message` where it stands and gives the tag that belongs behind it (`ContextS.Seal`, §5.2).
    ///
    /// # Errors
    /// [`Error::MessageLimit`]; [`Error::TooLong`] for a message beyond the AEAD's limit, of many GiB.
    pub fn seal_in_place(&mut self, aad: &[u8], message: &mut [u8]) -> Result<[u8; TAG_LEN], Error> {
        self.0.next(|key, nonce| A::encrypt(key, nonce, aad, message))
    }
}

impl<F, A> core::ops::Deref for Sender<F, A> {
    type Target = Context<F, A>;

    fn deref(&self) -> &Context<F, A> {
        &self.0
    }
}

/// The recipient's context: opens the sequence of messages in their order, and exports.
#[derive(Debug)]
pub struct Receiver<F, A>(Context<F, A>);

impl<F: Kdf, A: Encrypts> Receiver<F, A> {
    /// Decrypts `body` where it stands (`ContextR.Open`, §5.2). When it fails, `body` is worthless, and the next
    /// message is still the one that was expected.
    ///
    /// # Errors
    /// [`Error::Open`] when the tag does not fit, [`Error::MessageLimit`].
    pub fn open_in_place(&mut self, aad: &[u8], body: &mut [u8], tag: &[u8; TAG_LEN]) -> Result<(), Error> {
        self.0.next(|key, nonce| A::decrypt(key, nonce, aad, body, tag))
    }
}

impl<F, A> core::ops::Deref for Receiver<F, A> {
    type Target = Context<F, A>;

    fn deref(&self) -> &Context<F, A> {
        &self.0
    }
}

/// `SetupBaseS` (§5.1.1) with the operating system's randomness: `enc`, and the sender's context.
///
/// `info` is what both sides know of the purpose.
///
/// # Errors
/// [`Error::NonContributory`] for a key whose X25519 part has low order, [`Error::Random`], and [`Error::TooLong`] for
/// an `info` of more than 65535 bytes with a one-stage KDF.
#[cfg(feature = "getrandom")]
pub fn setup_sender<K: Kem, F: Kdf, A: Aead>(
    ek: &K::EncapsulationKey,
    info: &[u8],
) -> Result<(K::Enc, Sender<F, A>), Error> {
    let mut randomness = Secret::new(K::NO_RANDOMNESS);
    getrandom::fill(randomness.expose_mut().as_mut()).map_err(|_| Error::Random)?;
    setup_sender_deterministic::<K, F, A>(ek, info, randomness.expose())
}

/// `SetupBaseS` (§5.1.1) with the caller's generator.
///
/// # Errors
/// Those of [`setup_sender`].
pub fn setup_sender_with<K: Kem, F: Kdf, A: Aead>(
    ek: &K::EncapsulationKey,
    info: &[u8],
    rng: &mut (impl TryCryptoRng + ?Sized),
) -> Result<(K::Enc, Sender<F, A>), Error> {
    let mut randomness = Secret::new(K::NO_RANDOMNESS);
    rng.try_fill_bytes(randomness.expose_mut().as_mut()).map_err(|_| Error::Random)?;
    setup_sender_deterministic::<K, F, A>(ek, info, randomness.expose())
}

/// `SetupBaseS` (§5.1.1) with the randomness of the KEM given: the message of ML-KEM, then the scalar of the curve; of a `DhKem`, what
/// [`Kem::derive_key_pair`] makes the ephemeral key of.
///
/// Outside tests it must be fresh and secret for every call.
///
/// # Errors
/// Those of [`setup_sender`], but [`Error::Random`].
pub fn setup_sender_deterministic<K: Kem, F: Kdf, A: Aead>(
    ek: &K::EncapsulationKey,
    info: &[u8],
    randomness: &K::Randomness,
) -> Result<(K::Enc, Sender<F, A>), Error> {
    sender::<K, F, A>(ek, info, None, randomness)
}

/// `SetupPSKS` (§5.1.2) with the operating system's randomness.
///
/// # Errors
/// Those of [`setup_sender`], and [`Error::Psk`].
#[cfg(feature = "getrandom")]
pub fn setup_sender_psk<K: Kem, F: Kdf, A: Aead>(
    ek: &K::EncapsulationKey,
    info: &[u8],
    psk: Psk<'_>,
) -> Result<(K::Enc, Sender<F, A>), Error> {
    let mut randomness = Secret::new(K::NO_RANDOMNESS);
    getrandom::fill(randomness.expose_mut().as_mut()).map_err(|_| Error::Random)?;
    sender::<K, F, A>(ek, info, Some(psk.verify()?), randomness.expose())
}

/// `SetupPSKS` (§5.1.2) with the caller's generator.
///
/// # Errors
/// Those of [`setup_sender`], and [`Error::Psk`].
pub fn setup_sender_psk_with<K: Kem, F: Kdf, A: Aead>(
    ek: &K::EncapsulationKey,
    info: &[u8],
    psk: Psk<'_>,
    rng: &mut (impl TryCryptoRng + ?Sized),
) -> Result<(K::Enc, Sender<F, A>), Error> {
    let mut randomness = Secret::new(K::NO_RANDOMNESS);
    rng.try_fill_bytes(randomness.expose_mut().as_mut()).map_err(|_| Error::Random)?;
    sender::<K, F, A>(ek, info, Some(psk.verify()?), randomness.expose())
}

fn sender<K: Kem, F: Kdf, A: Aead>(
    ek: &K::EncapsulationKey,
    info: &[u8],
    psk: Option<Psk<'_>>,
    randomness: &K::Randomness,
) -> Result<(K::Enc, Sender<F, A>), Error> {
    let mut shared_secret = Secret::new([0; MAX_HASH_LEN]);
    let shared_secret = &mut shared_secret.expose_mut()[..K::NSECRET];
    let enc = K::encap(ek, randomness, shared_secret)?;
    Ok((enc, Sender(Context::new::<K>(shared_secret, info, psk)?)))
}

/// `SetupBaseR` (§5.1.1): the recipient's context for `enc`.
///
/// An `enc` that was changed, or made for another key, gives a context that opens nothing.
///
/// # Errors
/// [`Error::NonContributory`] for a share of low order, [`Error::Key`] for one that is not a point of the curve, and [`Error::TooLong`] for
/// an `info` of more than 65535 bytes with a one-stage KDF.
pub fn setup_receiver<K: Kem, F: Kdf, A: Aead>(
    enc: &K::Enc,
    dk: &K::DecapsulationKey,
    info: &[u8],
) -> Result<Receiver<F, A>, Error> {
    receiver::<K, F, A>(enc, dk, info, None)
}

/// `SetupPSKR` (§5.1.2).
///
/// # Errors
/// Those of [`setup_receiver`], and [`Error::Psk`].
pub fn setup_receiver_psk<K: Kem, F: Kdf, A: Aead>(
    enc: &K::Enc,
    dk: &K::DecapsulationKey,
    info: &[u8],
    psk: Psk<'_>,
) -> Result<Receiver<F, A>, Error> {
    receiver::<K, F, A>(enc, dk, info, Some(psk.verify()?))
}

fn receiver<K: Kem, F: Kdf, A: Aead>(
    enc: &K::Enc,
    dk: &K::DecapsulationKey,
    info: &[u8],
    psk: Option<Psk<'_>>,
) -> Result<Receiver<F, A>, Error> {
    let mut shared_secret = Secret::new([0; MAX_HASH_LEN]);
    let shared_secret = &mut shared_secret.expose_mut()[..K::NSECRET];
    K::decap(enc, dk, shared_secret)?;
    Ok(Receiver(Context::new::<K>(shared_secret, info, psk)?))
}

/// `suite_id` (§5.1): `"HPKE"` and the three numbers.
#[doc(hidden)]
pub type SuiteId = [u8; 10];

mod sealed {
    /// What a suite can be made of is in this module.
    pub trait Sealed {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_of_the_sequence_is_not_used() {
        let mut context =
            Context::<HkdfSha256, Aes256Gcm>::new::<XWing>(&[1; 32], b"", None).expect("short strings");
        context.sequence = u64::MAX;
        let mut sender = Sender(context);
        assert_eq!(sender.seal_in_place(b"", &mut []), Err(Error::MessageLimit));
    }

    #[test]
    fn a_nonce_is_the_base_nonce_and_the_number_of_the_message() {
        let mut context =
            Context::<HkdfSha256, Aes256Gcm>::new::<XWing>(&[1; 32], b"", None).expect("short strings");
        assert_eq!(context.nonce().expose(), context.base_nonce.expose());
        context.sequence = 0x0102;
        let expected: [u8; 12] =
            core::array::from_fn(|i| context.base_nonce.expose()[i] ^ [0, 1, 2][i.saturating_sub(9)]);
        assert_eq!(context.nonce().expose(), &expected);
    }
}
