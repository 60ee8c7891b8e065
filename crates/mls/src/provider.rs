//! What mls-rs asks of cryptography.

use gambeson_hybrid::hpke::Psk;
use mls_rs_core::crypto::{
    CipherSuite, CipherSuiteProvider, CryptoProvider, HpkeCiphertext, HpkePsk, HpkePublicKey, HpkeSecretKey,
    SignaturePublicKey, SignatureSecretKey,
};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::hpke::{Pair, Receiver, Sender};
use crate::preset::Preset;
use crate::suite::{Derivation, Suite};
use crate::symmetric::NONCE_LEN;

/// A `CryptoProvider` of mls-rs with the suites of a preset.
///
/// ```
/// use gambeson_mls::mls_rs_core::crypto::{CipherSuiteProvider, CryptoProvider};
/// use gambeson_mls::{Preset, Provider};
///
/// let provider = Provider::new(Preset::Default);
/// let suite = provider.cipher_suite_provider(0xf00a.into()).expect("the preset has it");
/// let (secret, public) = suite.signature_key_generate()?;
/// let signature = suite.sign(&secret, b"message")?;
/// suite.verify(&public, &signature, b"message")?;
/// assert!(provider.cipher_suite_provider(1.into()).is_none());
/// # Ok::<(), gambeson_mls::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Provider {
    suites: Vec<SuiteProvider>,
}

impl Provider {
    /// A provider with the suites of a preset.
    #[must_use]
    pub fn new(preset: Preset) -> Self {
        Self::of(preset.suites())
    }

    /// A provider with these suites, the most wanted first.
    #[must_use]
    pub fn of(suites: impl IntoIterator<Item = &'static Suite>) -> Self {
        let of = |suite: &'static Suite| SuiteProvider {
            suite,
            number: suite.number(),
            derivation: Derivation::Labeled,
        };
        Self { suites: suites.into_iter().map(of).collect() }
    }

    /// The same suites as OpenMLS 0.9.2 has them: under its numbers, with the derivation of that time. Suites that it does not have
    /// are left out.
    #[must_use]
    pub fn for_openmls(self) -> Self {
        let as_theirs = |provider: SuiteProvider| {
            let number = match provider.suite.number() {
                classical @ ..=7 => classical,
                _ => provider.suite.openmls_number()?,
            };
            Some(SuiteProvider { number, derivation: Derivation::Plain, ..provider })
        };
        Self { suites: self.suites.into_iter().filter_map(as_theirs).collect() }
    }

    /// The same suites with another derivation of the keys of nodes.
    #[must_use]
    pub fn with_derivation(mut self, derivation: Derivation) -> Self {
        self.suites.iter_mut().for_each(|suite| suite.derivation = derivation);
        self
    }
}

impl CryptoProvider for Provider {
    type CipherSuiteProvider = SuiteProvider;

    fn supported_cipher_suites(&self) -> Vec<CipherSuite> {
        self.suites.iter().map(SuiteProvider::cipher_suite).collect()
    }

    fn cipher_suite_provider(&self, cipher_suite: CipherSuite) -> Option<SuiteProvider> {
        self.suites.iter().copied().find(|suite| suite.cipher_suite() == cipher_suite)
    }
}

/// One suite of a provider.
#[derive(Clone, Copy, Debug)]
pub struct SuiteProvider {
    suite: &'static Suite,
    number: u16,
    derivation: Derivation,
}

impl SuiteProvider {
    /// The suite.
    #[must_use]
    pub const fn suite(&self) -> &'static Suite {
        self.suite
    }
}

impl CipherSuiteProvider for SuiteProvider {
    type Error = Error;
    type HpkeContextS = Sender;
    type HpkeContextR = Receiver;

    fn cipher_suite(&self) -> CipherSuite {
        self.number.into()
    }

    fn hash(&self, data: &[u8]) -> Result<Vec<u8>> {
        Ok(self.suite.hash.digest(data))
    }

    fn mac(&self, key: &[u8], data: &[u8]) -> Result<Vec<u8>> {
        Ok(self.suite.hash.mac(key, data))
    }

    fn aead_seal(&self, key: &[u8], data: &[u8], aad: Option<&[u8]>, nonce: &[u8]) -> Result<Vec<u8>> {
        self.suite.aead.seal(key, nonce, aad.unwrap_or_default(), data)
    }

    fn aead_open(
        &self,
        key: &[u8],
        ciphertext: &[u8],
        aad: Option<&[u8]>,
        nonce: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.suite.aead.open(key, nonce, aad.unwrap_or_default(), ciphertext)
    }

    fn aead_key_size(&self) -> usize {
        self.suite.aead.key_len()
    }

    fn aead_nonce_size(&self) -> usize {
        NONCE_LEN
    }

    fn kdf_extract(&self, salt: &[u8], ikm: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.suite.hash.extract(salt, ikm))
    }

    fn kdf_expand(&self, prk: &[u8], info: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        self.suite.hash.expand(prk, info, len)
    }

    fn kdf_extract_size(&self) -> usize {
        self.suite.hash.len()
    }

    fn hpke_seal(
        &self,
        remote_key: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        pt: &[u8],
    ) -> Result<HpkeCiphertext> {
        self.suite.hpke.seal(remote_key, info, aad.unwrap_or_default(), pt, None)
    }

    fn hpke_seal_psk(
        &self,
        remote_key: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        pt: &[u8],
        psk: HpkePsk<'_>,
    ) -> Result<HpkeCiphertext> {
        self.suite.hpke.seal(remote_key, info, aad.unwrap_or_default(), pt, Some(of(psk)))
    }

    fn hpke_open(
        &self,
        ciphertext: &HpkeCiphertext,
        local_secret: &HpkeSecretKey,
        _: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.suite.hpke.open(ciphertext, local_secret, info, aad.unwrap_or_default(), None)
    }

    fn hpke_open_psk(
        &self,
        ciphertext: &HpkeCiphertext,
        local_secret: &HpkeSecretKey,
        _: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        psk: HpkePsk<'_>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.suite.hpke.open(ciphertext, local_secret, info, aad.unwrap_or_default(), Some(of(psk)))
    }

    fn hpke_setup_s(&self, remote_key: &HpkePublicKey, info: &[u8]) -> Result<(Vec<u8>, Sender)> {
        self.suite.hpke.sender(remote_key, info, None)
    }

    fn hpke_setup_r(
        &self,
        kem_output: &[u8],
        local_secret: &HpkeSecretKey,
        _: &HpkePublicKey,
        info: &[u8],
    ) -> Result<Receiver> {
        self.suite.hpke.receiver(kem_output, local_secret, info, None)
    }

    fn kem_derive(&self, ikm: &[u8]) -> Result<(HpkeSecretKey, HpkePublicKey)> {
        self.suite.hpke.derive(ikm, self.derivation).map(keys)
    }

    fn kem_generate(&self) -> Result<(HpkeSecretKey, HpkePublicKey)> {
        self.suite.hpke.generate().map(keys)
    }

    fn kem_public_key_validate(&self, key: &HpkePublicKey) -> Result<()> {
        self.suite.hpke.validate(key)
    }

    fn random_bytes(&self, out: &mut [u8]) -> Result<()> {
        getrandom::fill(out).map_err(|_| Error::Random)
    }

    fn signature_key_generate(&self) -> Result<(SignatureSecretKey, SignaturePublicKey)> {
        let (secret, public) = self.suite.signature.generate()?;
        Ok((SignatureSecretKey::new_slice(&secret), public.into()))
    }

    fn signature_key_derive_public(&self, secret_key: &SignatureSecretKey) -> Result<SignaturePublicKey> {
        self.suite.signature.public(secret_key).map(SignaturePublicKey::from)
    }

    fn sign(&self, secret_key: &SignatureSecretKey, data: &[u8]) -> Result<Vec<u8>> {
        self.suite.signature.sign(secret_key, data)
    }

    fn verify(&self, public_key: &SignaturePublicKey, signature: &[u8], data: &[u8]) -> Result<()> {
        self.suite.signature.verify(public_key, data, signature)
    }
}

fn of(psk: HpkePsk<'_>) -> Psk<'_> {
    Psk { secret: psk.value, id: psk.id }
}

/// mls-rs wipes its copy of the private key.
fn keys((private, public): Pair) -> (HpkeSecretKey, HpkePublicKey) {
    (private.to_vec().into(), public.into())
}
