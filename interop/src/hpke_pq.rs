//! A provider for OpenMLS with the KEMs of draft-ietf-hpke-pq: HPKE by the crate `hpke`, which derives keys as the draft does and has the KEMs
//! that OpenMLS lacks; all else by OpenMLS's own provider over RustCrypto.

use std::marker::PhantomData;

use hpke::aead::{Aead, AesGcm128, AesGcm256, ChaCha20Poly1305};
use hpke::kdf::{HkdfSha256, HkdfSha384, Kdf};
use hpke::{Deserializable, HpkeError, Kem, OpModeR, OpModeS, Serializable};
use openmls::prelude::tls_codec::SecretVLBytes;
use openmls_rust_crypto::{MemoryStorage, OpenMlsRustCrypto, RustCrypto};
use openmls_traits::OpenMlsProvider;
use openmls_traits::crypto::OpenMlsCrypto;
use openmls_traits::types::{
    AeadType, Ciphersuite, CryptoError, ExporterSecret, HashType, HpkeAeadType, HpkeCiphertext, HpkeConfig,
    HpkeKdfType, HpkeKeyPair, KemOutput, SignatureScheme,
};

/// A provider in which every suite has the KEM `K`, whatever KEM its number stands for.
pub struct HpkePq<K> {
    rust: OpenMlsRustCrypto,
    kem: PhantomData<fn() -> K>,
}

impl<K> Default for HpkePq<K> {
    fn default() -> Self {
        Self { rust: OpenMlsRustCrypto::default(), kem: PhantomData }
    }
}

impl<K: Kem> OpenMlsProvider for HpkePq<K> {
    type CryptoProvider = Self;
    type RandProvider = RustCrypto;
    type StorageProvider = MemoryStorage;

    fn storage(&self) -> &MemoryStorage {
        self.rust.storage()
    }

    fn crypto(&self) -> &Self {
        self
    }

    fn rand(&self) -> &RustCrypto {
        self.rust.rand()
    }
}

type Answer<T> = Result<T, CryptoError>;

/// Calls a function with the AEAD and the KDF of a configuration; the draft's suites have three pairs.
macro_rules! by {
    ($config:ident, $function:ident($($argument:expr),*)) => {
        match ($config.1, $config.2) {
            (HpkeKdfType::HkdfSha256, HpkeAeadType::AesGcm128) => {
                $function::<AesGcm128, HkdfSha256, K>($($argument),*)
            }
            (HpkeKdfType::HkdfSha384, HpkeAeadType::AesGcm256) => {
                $function::<AesGcm256, HkdfSha384, K>($($argument),*)
            }
            (HpkeKdfType::HkdfSha384, HpkeAeadType::ChaCha20Poly1305) => {
                $function::<ChaCha20Poly1305, HkdfSha384, K>($($argument),*)
            }
            _ => return Err(CryptoError::UnsupportedCiphersuite),
        }
    };
}

impl<K: Kem> OpenMlsCrypto for HpkePq<K> {
    fn supports(&self, suite: Ciphersuite) -> Answer<()> {
        self.rust.crypto().supports(suite)
    }

    fn supported_ciphersuites(&self) -> Vec<Ciphersuite> {
        self.rust.crypto().supported_ciphersuites()
    }

    fn hkdf_extract(&self, hash: HashType, salt: &[u8], ikm: &[u8]) -> Answer<SecretVLBytes> {
        self.rust.crypto().hkdf_extract(hash, salt, ikm)
    }

    fn hmac(&self, hash: HashType, key: &[u8], message: &[u8]) -> Answer<SecretVLBytes> {
        self.rust.crypto().hmac(hash, key, message)
    }

    fn hkdf_expand(&self, hash: HashType, prk: &[u8], info: &[u8], len: usize) -> Answer<SecretVLBytes> {
        self.rust.crypto().hkdf_expand(hash, prk, info, len)
    }

    fn hash(&self, hash: HashType, data: &[u8]) -> Answer<Vec<u8>> {
        self.rust.crypto().hash(hash, data)
    }

    fn aead_encrypt(
        &self,
        aead: AeadType,
        key: &[u8],
        data: &[u8],
        nonce: &[u8],
        aad: &[u8],
    ) -> Answer<Vec<u8>> {
        self.rust.crypto().aead_encrypt(aead, key, data, nonce, aad)
    }

    fn aead_decrypt(
        &self,
        aead: AeadType,
        key: &[u8],
        data: &[u8],
        nonce: &[u8],
        aad: &[u8],
    ) -> Answer<Vec<u8>> {
        self.rust.crypto().aead_decrypt(aead, key, data, nonce, aad)
    }

    fn signature_key_gen(&self, scheme: SignatureScheme) -> Answer<(Vec<u8>, Vec<u8>)> {
        self.rust.crypto().signature_key_gen(scheme)
    }

    fn verify_signature(
        &self,
        scheme: SignatureScheme,
        data: &[u8],
        key: &[u8],
        signature: &[u8],
    ) -> Answer<()> {
        self.rust.crypto().verify_signature(scheme, data, key, signature)
    }

    fn sign(&self, scheme: SignatureScheme, data: &[u8], key: &[u8]) -> Answer<Vec<u8>> {
        self.rust.crypto().sign(scheme, data, key)
    }

    fn hpke_seal(
        &self,
        config: HpkeConfig,
        key: &[u8],
        info: &[u8],
        aad: &[u8],
        text: &[u8],
    ) -> Answer<HpkeCiphertext> {
        by!(config, seal(key, info, aad, text)).map_err(|_| CryptoError::HpkeEncryptionError)
    }

    fn hpke_open(
        &self,
        config: HpkeConfig,
        sealed: &HpkeCiphertext,
        key: &[u8],
        info: &[u8],
        aad: &[u8],
    ) -> Answer<Vec<u8>> {
        by!(config, open(key, info, aad, sealed)).map_err(|_| CryptoError::HpkeDecryptionError)
    }

    fn hpke_setup_sender_and_export(
        &self,
        config: HpkeConfig,
        key: &[u8],
        info: &[u8],
        context: &[u8],
        len: usize,
    ) -> Answer<(KemOutput, ExporterSecret)> {
        by!(config, export_to(key, info, context, len)).map_err(|_| CryptoError::SenderSetupError)
    }

    fn hpke_setup_receiver_and_export(
        &self,
        config: HpkeConfig,
        enc: &[u8],
        key: &[u8],
        info: &[u8],
        context: &[u8],
        len: usize,
    ) -> Answer<ExporterSecret> {
        by!(config, export_from(enc, key, info, context, len)).map_err(|_| CryptoError::ReceiverSetupError)
    }

    fn derive_hpke_keypair(&self, _: HpkeConfig, ikm: &[u8]) -> Answer<HpkeKeyPair> {
        let (private, public) = K::derive_keypair(ikm);
        Ok(HpkeKeyPair { private: private.to_bytes().to_vec().into(), public: public.to_bytes().to_vec() })
    }
}

fn seal<A: Aead, F: Kdf, K: Kem>(
    key: &[u8],
    info: &[u8],
    aad: &[u8],
    text: &[u8],
) -> Result<HpkeCiphertext, HpkeError> {
    let key = K::PublicKey::from_bytes(key)?;
    let (enc, ciphertext) = hpke::single_shot_seal::<A, F, K>(&OpModeS::Base, &key, info, text, aad)?;
    Ok(HpkeCiphertext { kem_output: enc.to_bytes().to_vec().into(), ciphertext: ciphertext.into() })
}

fn open<A: Aead, F: Kdf, K: Kem>(
    key: &[u8],
    info: &[u8],
    aad: &[u8],
    sealed: &HpkeCiphertext,
) -> Result<Vec<u8>, HpkeError> {
    let (key, enc) =
        (K::PrivateKey::from_bytes(key)?, K::EncappedKey::from_bytes(sealed.kem_output.as_slice())?);
    let ciphertext = sealed.ciphertext.as_slice();
    hpke::single_shot_open::<A, F, K>(&OpModeR::Base, &key, &enc, info, ciphertext, aad)
}

fn export_to<A: Aead, F: Kdf, K: Kem>(
    key: &[u8],
    info: &[u8],
    context: &[u8],
    len: usize,
) -> Result<(KemOutput, ExporterSecret), HpkeError> {
    let key = K::PublicKey::from_bytes(key)?;
    let (enc, sender) = hpke::setup_sender::<A, F, K>(&OpModeS::Base, &key, info)?;
    let mut secret = vec![0; len];
    sender.export(context, &mut secret)?;
    Ok((enc.to_bytes().to_vec(), secret.into()))
}

fn export_from<A: Aead, F: Kdf, K: Kem>(
    enc: &[u8],
    key: &[u8],
    info: &[u8],
    context: &[u8],
    len: usize,
) -> Result<ExporterSecret, HpkeError> {
    let (key, enc) = (K::PrivateKey::from_bytes(key)?, K::EncappedKey::from_bytes(enc)?);
    let receiver = hpke::setup_receiver::<A, F, K>(&OpModeR::Base, &key, &enc, info)?;
    let mut secret = vec![0; len];
    receiver.export(context, &mut secret)?;
    Ok(secret.into())
}
