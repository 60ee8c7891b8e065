//! HPKE: encryption to a public key (RFC 9180), in base mode, with post-quantum KEMs.
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
//! | KEM | number | `enc`, bytes | randomness, bytes |
//! | --- | --- | --- | --- |
//! | [`XWing`] | 0x647a | 1120 | 64 |
//! | [`MlKem768`] | 0x0041 | 1088 | 32 |
//! | [`MlKem1024`] | 0x0042 | 1568 | 32 |
//!
//! | KDF | number | Nh | | AEAD | number | Nk, Nn, Nt |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | [`HkdfSha256`] | 0x0001 | 32 | | [`Aes128Gcm`] | 0x0001 | 16, 12, 16 |
//! | [`HkdfSha384`] | 0x0002 | 48 | | [`Aes256Gcm`] | 0x0002 | 32, 12, 16 |
//! | [`Shake256`] | 0x0011 | 64 | | [`ChaCha20Poly1305`] | 0x0003 | 32, 12, 16 |
//! | | | | | [`ExportOnly`] | 0xffff | nothing is encrypted, only [`Context::export`] is there |
//!
//! A context is about 200 bytes, needs no heap, and is wiped when dropped. Nothing here authenticates the sender:
//! who needs that signs what is sealed.
//!
//! Sources: RFC 9180, §4, §5 and §7; draft-ietf-hpke-pq (the KEMs); draft-ietf-hpke-hpke (the one-stage KDF).
//! An X25519 share of low order is refused (§7.1.4).

use core::fmt;
use core::marker::PhantomData;

use ::chacha20poly1305::aead::{AeadInOut, KeyInit};
use gambeson::mlkem::{self, ParameterSet};
pub use gambeson::mlkem::{MlKem768, MlKem1024};
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::{Secret, StackGuard};
use hkdf::{Hkdf, HkdfExtract};
use sha2::{Sha256, Sha384};

use crate::xwing;

/// Length of a tag, of every AEAD here.
pub const TAG_LEN: usize = 16;

/// `mode_base`, RFC 9180, §5.
const MODE_BASE: u8 = 0;
const VERSION: &[u8] = b"HPKE-v1";
const MAX_KEY_LEN: usize = 32;
const MAX_HASH_LEN: usize = 64;
const NONCE_LEN: usize = 12;

/// Bytes of stack that the work of any door uses besides the KEM's, and a margin for other compilers.
const DEPTH: usize = 8 << 10;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The X25519 share of the other side is a low-order point (RFC 9180, §7.1.4).
    NonContributory,
    /// The random number generator failed.
    Random,
    /// What is asked of the KDF is more than it can give, or take: an export longer than 255 digests, or strings of
    /// more than 65535 bytes for a one-stage KDF.
    TooLong,
    /// The ciphertext is not what the sender sealed, or not in this place of the sequence (`OpenError`).
    Open,
    /// 2^64 - 1 messages were sealed or opened (`MessageLimitReachedError`).
    MessageLimit,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NonContributory => xwing::NonContributory.fmt(f),
            Self::Random => gambeson::RngError.fmt(f),
            Self::TooLong => f.write_str("a string is longer than the KDF can give or take"),
            Self::Open => f.write_str("not what was sealed: the tag does not fit"),
            Self::MessageLimit => f.write_str("the context has no nonce left for another message"),
        }
    }
}

impl core::error::Error for Error {}

/// A KEM of the suite: [`XWing`], [`MlKem768`] or [`MlKem1024`].
pub trait Kem: Sealed {
    /// The number in the registry of KEMs.
    const ID: u16;
    /// The recipient's public key, `pkR`.
    type EncapsulationKey;
    /// The recipient's private key, `skR`.
    type DecapsulationKey;
    /// What goes to the recipient, `enc`.
    type Enc;
    /// The randomness of one encapsulation.
    type Randomness: zeroize::Zeroize + AsMut<[u8]> + 'static;

    /// A place for the randomness: all zeros.
    const NO_RANDOMNESS: Self::Randomness;
    #[doc(hidden)]
    fn encap(
        ek: &Self::EncapsulationKey,
        randomness: &Self::Randomness,
    ) -> Result<(Self::Enc, Secret<[u8; 32]>), Error>;
    #[doc(hidden)]
    fn decap(enc: &Self::Enc, dk: &Self::DecapsulationKey) -> Result<Secret<[u8; 32]>, Error>;
}

/// MLKEM768-X25519, KEM 0x647a: [`xwing`].
#[derive(Clone, Copy, Debug)]
pub enum XWing {}

impl Kem for XWing {
    const ID: u16 = xwing::KEM_ID;
    type EncapsulationKey = xwing::EncapsulationKey;
    type DecapsulationKey = xwing::DecapsulationKey;
    type Enc = xwing::Ciphertext;
    type Randomness = [u8; 64];
    const NO_RANDOMNESS: [u8; 64] = [0; 64];

    fn encap(ek: &Self::EncapsulationKey, eseed: &[u8; 64]) -> Result<(Self::Enc, Secret<[u8; 32]>), Error> {
        ek.encapsulate_contributory_deterministic(eseed)
            .map_err(|xwing::NonContributory| Error::NonContributory)
    }

    fn decap(enc: &Self::Enc, dk: &Self::DecapsulationKey) -> Result<Secret<[u8; 32]>, Error> {
        dk.decapsulate_contributory(enc).map_err(|xwing::NonContributory| Error::NonContributory)
    }
}

macro_rules! ml_kem {
    ($($set:ident, $id:literal;)*) => {$(
        impl Kem for $set {
            const ID: u16 = $id;
            type EncapsulationKey = mlkem::EncapsulationKey<$set>;
            type DecapsulationKey = mlkem::DecapsulationKey<$set>;
            type Enc = <$set as ParameterSet>::Ciphertext;
            type Randomness = [u8; 32];
            const NO_RANDOMNESS: [u8; 32] = [0; 32];

            fn encap(
                ek: &Self::EncapsulationKey,
                m: &[u8; 32],
            ) -> Result<(Self::Enc, Secret<[u8; 32]>), Error> {
                Ok(ek.encapsulate_deterministic(m))
            }

            fn decap(enc: &Self::Enc, dk: &Self::DecapsulationKey) -> Result<Secret<[u8; 32]>, Error> {
                Ok(dk.decapsulate(enc))
            }
        }
    )*};
}

ml_kem! {
    MlKem768, 0x0041;
    MlKem1024, 0x0042;
}

/// A KDF of the suite: [`HkdfSha256`], [`HkdfSha384`] or [`Shake256`].
pub trait Kdf: Sealed {
    /// The number in the registry of KDFs.
    const ID: u16;
    /// `Nh`: the length of the exporter secret in bytes.
    const NH: usize;

    /// `CombineSecrets` without a pre-shared key: fills key, base nonce and exporter secret.
    #[doc(hidden)]
    fn combine(
        suite: &SuiteId,
        shared_secret: &[u8; 32],
        info: &[u8],
        out: Schedule<'_>,
    ) -> Result<(), Error>;
    /// `Context.Export` (§5.3).
    #[doc(hidden)]
    fn export(suite: &SuiteId, exporter_secret: &[u8], context: &[u8], out: &mut [u8]) -> Result<(), Error>;
}

/// An AEAD of the suite, or [`ExportOnly`].
pub trait Aead: Sealed {
    /// The number in the registry of AEADs.
    const ID: u16;
    /// `Nk`: the length of the key in bytes.
    const NK: usize;
    /// `Nn`: the length of the nonce in bytes.
    const NN: usize;
}

/// An AEAD that encrypts: any but [`ExportOnly`].
pub trait Encrypts: Aead {
    #[doc(hidden)]
    fn encrypt(key: &[u8], nonce: &[u8; 12], aad: &[u8], body: &mut [u8]) -> Result<[u8; TAG_LEN], Error>;
    #[doc(hidden)]
    fn decrypt(
        key: &[u8],
        nonce: &[u8; 12],
        aad: &[u8],
        body: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error>;
}

/// No AEAD, 0xffff (RFC 9180, §7.3): the context serves [`Context::export`] alone.
#[derive(Clone, Copy, Debug)]
pub enum ExportOnly {}

impl Aead for ExportOnly {
    const ID: u16 = 0xffff;
    const NK: usize = 0;
    const NN: usize = 0;
}

macro_rules! aead {
    ($($name:ident, $cipher:ty, $id:literal, $nk:literal, $text:literal;)*) => {$(
        #[doc = $text]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Aead for $name {
            const ID: u16 = $id;
            const NK: usize = $nk;
            const NN: usize = NONCE_LEN;
        }

        impl Encrypts for $name {
            fn encrypt(
                key: &[u8],
                nonce: &[u8; 12],
                aad: &[u8],
                body: &mut [u8],
            ) -> Result<[u8; TAG_LEN], Error> {
                let aead = <$cipher>::new_from_slice(key).expect("Nk bytes");
                let tag = aead.encrypt_inout_detached(nonce.into(), aad, body.into());
                tag.map(Into::into).map_err(|_| Error::TooLong)
            }

            fn decrypt(
                key: &[u8],
                nonce: &[u8; 12],
                aad: &[u8],
                body: &mut [u8],
                tag: &[u8; TAG_LEN],
            ) -> Result<(), Error> {
                let aead = <$cipher>::new_from_slice(key).expect("Nk bytes");
                aead.decrypt_inout_detached(nonce.into(), aad, body.into(), tag.into())
                    .map_err(|_| Error::Open)
            }
        }
    )*};
}

aead! {
    Aes128Gcm, ::aes_gcm::Aes128Gcm, 0x0001, 16, "AES-128-GCM, AEAD 0x0001.";
    Aes256Gcm, ::aes_gcm::Aes256Gcm, 0x0002, 32, "AES-256-GCM, AEAD 0x0002.";
    ChaCha20Poly1305, ::chacha20poly1305::ChaCha20Poly1305, 0x0003, 32, "ChaCha20-Poly1305, AEAD 0x0003.";
}

macro_rules! hkdf {
    ($($name:ident, $hash:ty, $id:literal, $nh:literal, $text:literal;)*) => {$(
        #[doc = $text]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl $name {
            /// §4: `LabeledExtract`.
            fn labeled_extract(suite: &SuiteId, salt: &[u8], label: &[u8], ikm: &[u8]) -> Secret<[u8; $nh]> {
                let mut extract = HkdfExtract::<$hash>::new(Some(salt));
                for part in [VERSION, suite, label, ikm] {
                    extract.input_ikm(part);
                }
                Secret::new(extract.finalize().0.into())
            }

            /// §4: `LabeledExpand`.
            fn labeled_expand(
                suite: &SuiteId,
                prk: &[u8],
                label: &[u8],
                info: &[u8],
                out: &mut [u8],
            ) -> Result<(), Error> {
                let len = u16::try_from(out.len()).map_err(|_| Error::TooLong)?.to_be_bytes();
                Hkdf::<$hash>::from_prk(prk)
                    .expect("Nh bytes")
                    .expand_multi_info(&[&len, VERSION, suite, label, info], out)
                    .map_err(|_| Error::TooLong)
            }
        }

        impl Kdf for $name {
            const ID: u16 = $id;
            const NH: usize = $nh;

            fn combine(
                suite: &SuiteId,
                shared_secret: &[u8; 32],
                info: &[u8],
                out: Schedule<'_>,
            ) -> Result<(), Error> {
                let mut context = [MODE_BASE; 1 + 2 * $nh];
                let (psk_id_hash, info_hash) = context[1..].split_at_mut($nh);
                psk_id_hash.copy_from_slice(Self::labeled_extract(suite, b"", b"psk_id_hash", b"").expose());
                info_hash.copy_from_slice(Self::labeled_extract(suite, b"", b"info_hash", info).expose());
                let secret = Self::labeled_extract(suite, shared_secret, b"secret", b"");
                let expand = |label: &[u8], out| Self::labeled_expand(suite, secret.expose(), label, &context, out);
                expand(b"key", out.key)?;
                expand(b"base_nonce", out.base_nonce)?;
                expand(b"exp", out.exporter_secret)
            }

            fn export(
                suite: &SuiteId,
                exporter_secret: &[u8],
                context: &[u8],
                out: &mut [u8],
            ) -> Result<(), Error> {
                Self::labeled_expand(suite, exporter_secret, b"sec", context, out)
            }
        }
    )*};
}

hkdf! {
    HkdfSha256, Sha256, 0x0001, 32, "HKDF-SHA256, KDF 0x0001.";
    HkdfSha384, Sha384, 0x0002, 48, "HKDF-SHA384, KDF 0x0002.";
}

/// SHAKE256, KDF 0x0011: one stage, with the sponge of FIPS 202.
#[derive(Clone, Copy, Debug)]
pub enum Shake256 {}

impl Shake256 {
    /// `LabeledDerive` of draft-ietf-hpke-hpke; `ikm` and `context` come in parts.
    fn labeled_derive(
        suite: &SuiteId,
        ikm: &[&[u8]],
        label: &[u8],
        context: &[&[u8]],
        len: u16,
    ) -> gambeson::sha3::Squeeze {
        let mut xof = gambeson::sha3::Shake256::new();
        let label_len = (label.len() as u16).to_be_bytes(); // a label of ours: a few bytes
        let fixed = [VERSION, suite, &label_len, label, &len.to_be_bytes()];
        for part in ikm.iter().chain(&fixed).chain(context) {
            xof.update(part);
        }
        xof.finalize_xof()
    }
}

impl Kdf for Shake256 {
    const ID: u16 = 0x0011;
    const NH: usize = 64;

    /// `CombineSecrets_OneStage`: each string stands behind its length in two bytes, psk and psk_id are empty.
    fn combine(
        suite: &SuiteId,
        shared_secret: &[u8; 32],
        info: &[u8],
        out: Schedule<'_>,
    ) -> Result<(), Error> {
        let info_len = u16::try_from(info.len()).map_err(|_| Error::TooLong)?.to_be_bytes();
        let len = (out.key.len() + out.base_nonce.len() + out.exporter_secret.len()) as u16; // 108 at most
        let mut derived = Self::labeled_derive(
            suite,
            &[&[0, 0], &[0, 32], shared_secret],
            b"secret",
            &[&[MODE_BASE], &[0, 0], &info_len, info],
            len,
        );
        derived.squeeze(out.key);
        derived.squeeze(out.base_nonce);
        derived.squeeze(out.exporter_secret);
        Ok(())
    }

    fn export(suite: &SuiteId, exporter_secret: &[u8], context: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let len = u16::try_from(out.len()).map_err(|_| Error::TooLong)?;
        Self::labeled_derive(suite, &[exporter_secret], b"sec", &[context], len).squeeze(out);
        Ok(())
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
    /// `KeySchedule` in base mode (§5.1).
    fn new<K: Kem>(shared_secret: &[u8; 32], info: &[u8]) -> Result<Self, Error> {
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
        let out = Schedule {
            key: &mut context.key.expose_mut()[..A::NK],
            base_nonce: &mut context.base_nonce.expose_mut()[..A::NN],
            exporter_secret: &mut context.exporter_secret.expose_mut()[..F::NH],
        };
        F::combine(&suite, shared_secret, info, out)?;
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

/// `SetupBaseS` (§5.1.1) with the randomness of the KEM given: the message of ML-KEM, then the scalar of X25519.
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
    let (enc, shared_secret) = K::encap(ek, randomness)?;
    Ok((enc, Sender(Context::new::<K>(shared_secret.expose(), info)?)))
}

/// `SetupBaseR` (§5.1.1): the recipient's context for `enc`.
///
/// An `enc` that was changed, or made for another key, gives a context that opens nothing.
///
/// # Errors
/// [`Error::NonContributory`] for an X25519 share of low order, and [`Error::TooLong`] for an `info` of more than 65535
/// bytes with a one-stage KDF.
pub fn setup_receiver<K: Kem, F: Kdf, A: Aead>(
    enc: &K::Enc,
    dk: &K::DecapsulationKey,
    info: &[u8],
) -> Result<Receiver<F, A>, Error> {
    let shared_secret = K::decap(enc, dk)?;
    Ok(Receiver(Context::new::<K>(shared_secret.expose(), info)?))
}

/// `suite_id` (§5.1): `"HPKE"` and the three numbers.
#[doc(hidden)]
pub type SuiteId = [u8; 10];

/// Where the key schedule puts its results.
#[doc(hidden)]
#[derive(Debug)]
pub struct Schedule<'a> {
    key: &'a mut [u8],
    base_nonce: &'a mut [u8],
    exporter_secret: &'a mut [u8],
}

use sealed::Sealed;

mod sealed {
    /// What a suite can be made of is listed here.
    pub trait Sealed {}

    macro_rules! sealed {
        ($($name:ident)*) => { $(impl Sealed for super::$name {})* };
    }

    sealed! {
        XWing MlKem768 MlKem1024
        HkdfSha256 HkdfSha384 Shake256
        Aes128Gcm Aes256Gcm ChaCha20Poly1305 ExportOnly
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_of_the_sequence_is_not_used() {
        let mut context =
            Context::<HkdfSha256, Aes256Gcm>::new::<XWing>(&[1; 32], b"").expect("short strings");
        context.sequence = u64::MAX;
        let mut sender = Sender(context);
        assert_eq!(sender.seal_in_place(b"", &mut []), Err(Error::MessageLimit));
    }

    #[test]
    fn a_nonce_is_the_base_nonce_and_the_number_of_the_message() {
        let mut context =
            Context::<HkdfSha256, Aes256Gcm>::new::<XWing>(&[1; 32], b"").expect("short strings");
        assert_eq!(context.nonce().expose(), context.base_nonce.expose());
        context.sequence = 0x0102;
        let expected: [u8; 12] =
            core::array::from_fn(|i| context.base_nonce.expose()[i] ^ [0, 1, 2][i.saturating_sub(9)]);
        assert_eq!(context.nonce().expose(), &expected);
    }
}
