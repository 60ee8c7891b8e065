//! Cryptography that spoils a ciphertext or a key on its way out, before anything is signed.

use std::sync::{Arc, Mutex};

use gambeson_mls::{Error, Provider, Result, SuiteProvider};
use mls_rs::{CipherSuite, CipherSuiteProvider, CryptoProvider};
use mls_rs_core::crypto::{
    HpkeCiphertext, HpkePsk, HpkePublicKey, HpkeSecretKey, SignaturePublicKey, SignatureSecretKey,
};
use sha2::{Digest, Sha384};
use zeroize::Zeroizing;

/// What comes out spoilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Ciphertext,
    /// A key of a leaf, or the one for a Welcome.
    Generated,
    /// A key of a parent.
    Derived,
}

/// What is to be spoilt, after how many of its kind.
pub type Armed = Arc<Mutex<Option<(What, usize)>>>;

/// An honest provider, but for what it is armed for. It hashes whatever it is given.
#[derive(Clone)]
pub struct Spoiling<T> {
    pub honest: T,
    pub armed: Armed,
}

impl<T> Spoiling<T> {
    fn spoils(&self, what: What) -> bool {
        let mut armed = self.armed.lock().unwrap();
        let now = armed.as_mut().is_some_and(|(armed, after)| {
            *armed == what && after.checked_sub(1).map(|left| *after = left).is_none()
        });
        armed.take_if(|_| now).is_some()
    }

    /// Without a coefficient below q where one of ML-KEM begins (FIPS 203, section 7.2).
    fn key(&self, what: What, (secret, public): Pair) -> Pair {
        let mut public = public.to_vec();
        if self.spoils(what) {
            public[..3].fill(0xff);
        }
        (secret, public.into())
    }
}

type Pair = (HpkeSecretKey, HpkePublicKey);

impl CryptoProvider for Spoiling<Provider> {
    type CipherSuiteProvider = Spoiling<SuiteProvider>;

    fn supported_cipher_suites(&self) -> Vec<CipherSuite> {
        self.honest.supported_cipher_suites()
    }

    fn cipher_suite_provider(&self, suite: CipherSuite) -> Option<Spoiling<SuiteProvider>> {
        let honest = self.honest.cipher_suite_provider(suite)?;
        Some(Spoiling { honest, armed: Arc::clone(&self.armed) })
    }
}

impl CipherSuiteProvider for Spoiling<SuiteProvider> {
    type Error = Error;
    type HpkeContextS = <SuiteProvider as CipherSuiteProvider>::HpkeContextS;
    type HpkeContextR = <SuiteProvider as CipherSuiteProvider>::HpkeContextR;

    fn hpke_seal(
        &self,
        key: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        data: &[u8],
    ) -> Result<HpkeCiphertext> {
        let mut sealed = self.honest.hpke_seal(key, info, aad, data)?;
        if self.spoils(What::Ciphertext) {
            sealed.ciphertext[0] ^= 1;
        }
        Ok(sealed)
    }

    fn cipher_suite(&self) -> CipherSuite {
        self.honest.cipher_suite()
    }

    fn hash(&self, data: &[u8]) -> Result<Vec<u8>> {
        Ok(Sha384::digest(data).to_vec())
    }

    fn mac(&self, key: &[u8], data: &[u8]) -> Result<Vec<u8>> {
        self.honest.mac(key, data)
    }

    fn aead_seal(&self, key: &[u8], data: &[u8], aad: Option<&[u8]>, nonce: &[u8]) -> Result<Vec<u8>> {
        self.honest.aead_seal(key, data, aad, nonce)
    }

    fn aead_open(
        &self,
        key: &[u8],
        sealed: &[u8],
        aad: Option<&[u8]>,
        nonce: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.honest.aead_open(key, sealed, aad, nonce)
    }

    fn aead_key_size(&self) -> usize {
        self.honest.aead_key_size()
    }

    fn aead_nonce_size(&self) -> usize {
        self.honest.aead_nonce_size()
    }

    fn kdf_extract(&self, salt: &[u8], ikm: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.honest.kdf_extract(salt, ikm)
    }

    fn kdf_expand(&self, prk: &[u8], info: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        self.honest.kdf_expand(prk, info, len)
    }

    fn kdf_extract_size(&self) -> usize {
        self.honest.kdf_extract_size()
    }

    fn hpke_seal_psk(
        &self,
        key: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        data: &[u8],
        psk: HpkePsk<'_>,
    ) -> Result<HpkeCiphertext> {
        self.honest.hpke_seal_psk(key, info, aad, data, psk)
    }

    fn hpke_open(
        &self,
        sealed: &HpkeCiphertext,
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.honest.hpke_open(sealed, secret, public, info, aad)
    }

    fn hpke_open_psk(
        &self,
        sealed: &HpkeCiphertext,
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        psk: HpkePsk<'_>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.honest.hpke_open_psk(sealed, secret, public, info, aad, psk)
    }

    fn hpke_setup_s(&self, key: &HpkePublicKey, info: &[u8]) -> Result<(Vec<u8>, Self::HpkeContextS)> {
        self.honest.hpke_setup_s(key, info)
    }

    fn hpke_setup_r(
        &self,
        kem_output: &[u8],
        secret: &HpkeSecretKey,
        public: &HpkePublicKey,
        info: &[u8],
    ) -> Result<Self::HpkeContextR> {
        self.honest.hpke_setup_r(kem_output, secret, public, info)
    }

    fn kem_derive(&self, ikm: &[u8]) -> Result<(HpkeSecretKey, HpkePublicKey)> {
        Ok(self.key(What::Derived, self.honest.kem_derive(ikm)?))
    }

    fn kem_generate(&self) -> Result<(HpkeSecretKey, HpkePublicKey)> {
        Ok(self.key(What::Generated, self.honest.kem_generate()?))
    }

    fn kem_public_key_validate(&self, key: &HpkePublicKey) -> Result<()> {
        self.honest.kem_public_key_validate(key)
    }

    fn random_bytes(&self, out: &mut [u8]) -> Result<()> {
        self.honest.random_bytes(out)
    }

    fn signature_key_generate(&self) -> Result<(SignatureSecretKey, SignaturePublicKey)> {
        self.honest.signature_key_generate()
    }

    fn signature_key_derive_public(&self, secret: &SignatureSecretKey) -> Result<SignaturePublicKey> {
        self.honest.signature_key_derive_public(secret)
    }

    fn sign(&self, secret: &SignatureSecretKey, data: &[u8]) -> Result<Vec<u8>> {
        self.honest.sign(secret, data)
    }

    fn verify(&self, key: &SignaturePublicKey, signature: &[u8], data: &[u8]) -> Result<()> {
        self.honest.verify(key, signature, data)
    }
}
