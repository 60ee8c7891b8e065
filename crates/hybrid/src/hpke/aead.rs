//! AEADs (RFC 9180, §7.3).

use chacha20poly1305::aead::{AeadInOut, KeyInit};

use super::sealed::Sealed;
use super::{Error, TAG_LEN};

/// Bytes of the longest key.
pub(super) const MAX_KEY_LEN: usize = 32;
/// Bytes of every nonce.
pub(super) const NONCE_LEN: usize = 12;

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
    fn encrypt(
        key: &[u8],
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        body: &mut [u8],
    ) -> Result<[u8; TAG_LEN], Error>;
    #[doc(hidden)]
    fn decrypt(
        key: &[u8],
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        body: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error>;
}

/// No AEAD, 0xffff (RFC 9180, §7.3): the context serves [`Context::export`](super::Context::export) alone.
#[derive(Clone, Copy, Debug)]
pub enum ExportOnly {}

impl Sealed for ExportOnly {}

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

        impl Sealed for $name {}

        impl Aead for $name {
            const ID: u16 = $id;
            const NK: usize = $nk;
            const NN: usize = NONCE_LEN;
        }

        impl Encrypts for $name {
            fn encrypt(
                key: &[u8],
                nonce: &[u8; NONCE_LEN],
                aad: &[u8],
                body: &mut [u8],
            ) -> Result<[u8; TAG_LEN], Error> {
                let aead = <$cipher>::new_from_slice(key).expect("Nk bytes");
                let tag = aead.encrypt_inout_detached(nonce.into(), aad, body.into());
                tag.map(Into::into).map_err(|_| Error::TooLong)
            }

            fn decrypt(
                key: &[u8],
                nonce: &[u8; NONCE_LEN],
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
