//! What mls-rs asks of cryptography.

use std::sync::Arc;

use gambeson::RngError;
use gambeson_hybrid::hpke::Psk;
use mls_rs_core::crypto::{
    CipherSuite, CipherSuiteProvider, CryptoProvider, HpkeCiphertext, HpkePsk, HpkePublicKey, HpkeSecretKey,
    SignaturePublicKey, SignatureSecretKey,
};
use zeroize::Zeroizing;

use crate::ahead::{self, Signed};
use crate::door;
use crate::error::{Error, Result};
use crate::hpke::{Pair, Receiver, Sender};
use crate::memo::LastParent;
use crate::preset::Preset;
use crate::random::Random;
use crate::signature::Held;
use crate::signer::{Signer, Signers};
use crate::suite::{Derivation, OF_OPENMLS, SUITES, Suite};
use crate::symmetric::{NONCE_LEN, exactly};
use crate::verified::{Verifications, Verified, checked, is_lasting};

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
        let shared = Arc::new(Shared::default());
        let of = |suite: &'static Suite| SuiteProvider {
            suite,
            number: suite.number(),
            derivation: Derivation::Labeled,
            random: Random::default(),
            shared: Arc::clone(&shared),
        };
        Self { suites: suites.into_iter().map(of).collect() }
    }

    /// The suites of OpenMLS 0.9.2 as OpenMLS has them: those of [`Preset::All`] [`for_openmls`](Self::for_openmls), and the two that it
    /// alone has, 0x004D (X-Wing, ChaCha20-Poly1305, SHA-256, Ed25519) and 0x0906 (ML-KEM-1024, AES-256-GCM, SHA-512, ML-DSA-87).
    ///
    /// ```
    /// use gambeson_mls::mls_rs_core::crypto::CryptoProvider;
    /// use gambeson_mls::{Preset, Provider};
    ///
    /// assert!(Provider::openmls().cipher_suite_provider(0x0906.into()).is_some());
    /// assert!(Provider::new(Preset::All).for_openmls().cipher_suite_provider(0x0906.into()).is_none());
    /// ```
    #[must_use]
    pub fn openmls() -> Self {
        Self::of(SUITES.iter().chain(OF_OPENMLS)).for_openmls()
    }

    /// The same suites as OpenMLS 0.9.2 has them: under its numbers, with the derivation of that time. Suites that it does not have
    /// are left out.
    #[must_use]
    pub fn for_openmls(self) -> Self {
        let theirs = |suite: &Suite| match suite.number() {
            classical @ ..=7 => Some(classical),
            _ => suite.openmls_number(),
        };
        self.with_numbers(theirs).with_derivation(Derivation::Plain)
    }

    /// The same suites under other numbers on the wire; those to which the function gives none are left out, and of two with one
    /// number the first is found.
    ///
    /// It is for peers that do not use the numbers of [`SUITES`]: to the post-quantum suites IANA has assigned none. A number goes into
    /// every key package and every epoch, so all members of a group have to use the same one.
    ///
    /// ```
    /// use gambeson_mls::mls_rs_core::crypto::CryptoProvider;
    /// use gambeson_mls::{Preset, Provider};
    ///
    /// let provider = Provider::new(Preset::Default).with_numbers(|suite| (suite.number() == 0xf00a).then_some(0xfe0a));
    /// assert_eq!(provider.supported_cipher_suites(), [0xfe0a.into()]);
    /// ```
    #[must_use]
    pub fn with_numbers(self, number: impl Fn(&Suite) -> Option<u16>) -> Self {
        let renumbered = |provider: SuiteProvider| {
            let number = number(provider.suite)?;
            Some(SuiteProvider { number, ..provider })
        };
        Self { suites: self.suites.into_iter().filter_map(renumbered).collect() }
    }

    /// The same suites with another derivation of the keys of nodes.
    #[must_use]
    pub fn with_derivation(mut self, derivation: Derivation) -> Self {
        self.suites.iter_mut().for_each(|suite| suite.derivation = derivation);
        self
    }

    /// The same suites with another generator: every random byte comes from it, those of keys, encapsulations, nonces and hedged signatures.
    ///
    /// It is for a generator that mixes a key of the member's into the operating system's bytes, so that a system whose bytes can be
    /// guessed betrays no group. It must give fresh, secret bytes; one that fails, fails the operation.
    ///
    /// ```
    /// use gambeson::RngError;
    /// use gambeson_mls::{Preset, Provider};
    ///
    /// # struct Agent;
    /// # impl Agent { fn fill(&self, out: &mut [u8]) -> Result<(), RngError> { out.fill(1); Ok(()) } }
    /// # let agent = Agent;
    /// let provider = Provider::new(Preset::Default).with_hedge(move |out| agent.fill(out));
    /// ```
    #[must_use]
    pub fn with_hedge(
        mut self,
        fill: impl Fn(&mut [u8]) -> std::result::Result<(), RngError> + Send + Sync + 'static,
    ) -> Self {
        let random = Random::of(fill);
        self.suites.iter_mut().for_each(|suite| suite.random = random.clone());
        self
    }

    /// Takes a signer for this provider and all its clones, and gives the bytes that name it: mls-rs keeps and stores them where a private
    /// key would stand. They hold a hash of the public key, nothing secret, and are the same whenever this signer is registered, so that
    /// a group that was stored finds it again.
    pub fn register_signer(&self, signer: Arc<dyn Signer>) -> SignatureSecretKey {
        match self.suites.first() {
            Some(suite) => suite.shared.signers.register(signer),
            None => Signers::default().register(signer),
        }
    }

    /// Remembers at most so many signatures from now on, 32,768 before, and forgets those that are known. With 0 nothing is remembered.
    #[must_use]
    pub fn remembering(self, signatures: usize) -> Self {
        if let Some(suite) = self.suites.first() {
            suite.shared.verified.bound(signatures);
        }
        self
    }

    /// How many signatures were verified, ahead and on demand, and how often one was known; by this provider and all its clones.
    #[must_use]
    pub fn verifications(&self) -> Verifications {
        self.suites.first().map(|suite| suite.shared.verified.counts()).unwrap_or_default()
    }

    /// Drops a signer, and whether there was one. Who signs with its handle from now on gets [`Error::UnknownSigner`].
    pub fn forget_signer(&self, handle: &SignatureSecretKey) -> bool {
        self.suites.first().is_some_and(|suite| suite.shared.signers.forget(handle))
    }
}

impl CryptoProvider for Provider {
    type CipherSuiteProvider = SuiteProvider;

    fn supported_cipher_suites(&self) -> Vec<CipherSuite> {
        self.suites.iter().map(SuiteProvider::cipher_suite).collect()
    }

    fn cipher_suite_provider(&self, cipher_suite: CipherSuite) -> Option<SuiteProvider> {
        self.suites.iter().find(|suite| suite.cipher_suite() == cipher_suite).cloned()
    }
}

/// What the suites of a provider and its clones have in common.
#[derive(Debug, Default)]
struct Shared {
    signers: Signers,
    verified: Verified,
    last_parent: LastParent,
}

/// One suite of a provider.
#[derive(Clone, Debug)]
pub struct SuiteProvider {
    suite: &'static Suite,
    number: u16,
    derivation: Derivation,
    random: Random,
    shared: Arc<Shared>,
}

impl SuiteProvider {
    /// The suite.
    #[must_use]
    pub const fn suite(&self) -> &'static Suite {
        self.suite
    }

    /// A private key's bytes as a signer that has the key ready: with ML-DSA it spares each signature the expansion of the key.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::SigningKey`] for bytes that are no private key of the suite.
    pub fn expanded_signer(&self, private: &SignatureSecretKey) -> Result<Arc<dyn Signer>> {
        door::deep(|| {
            let held: Arc<dyn Signer> =
                Arc::new(Held::new(self.suite.signature.key(private)?, self.random.clone()));
            Ok(held)
        })
    }

    /// Verifies signatures before mls-rs asks about them, and remembers the good ones for it; how many are good.
    ///
    /// With ML-DSA eight are verified side by side, in about a third of the time, with the feature `rayon` on all processors. What is
    /// remembered is a SHA-256 hash over suite, key, content and signature, of good signatures alone: a key, content or signature that
    /// differs in a bit is verified as ever. Nothing in it is secret. Whoever makes us see many good signatures pushes others out, and
    /// they are verified again.
    ///
    /// Only what is asked about more than once has a place there: the signatures of leaves and key packages, by the labels of their contents
    /// (RFC 9420, section 5.1.2). [`verify_tree_ahead`](Self::verify_tree_ahead),
    /// [`verify_key_packages_ahead`](Self::verify_key_packages_ahead) and [`verify_commit_ahead`](Self::verify_commit_ahead) find those.
    pub fn verify_ahead(&self, signed: &[Signed<'_>]) -> usize {
        let of = |one: &Signed<'_>| checked(self.suite, one.public_key, &one.content, one.signature);
        let mut good = 0;
        let mut unknown = Vec::new();
        for one in signed.iter().filter(|one| is_lasting(&one.content)) {
            let checked = of(one);
            if self.shared.verified.contains(&checked) {
                good += 1;
            } else if self.received(ahead::leaf_key(&one.content)).is_ok() {
                unknown.push((checked, (one.public_key, &one.content[..], one.signature)));
            }
        }
        self.shared.verified.count_ahead(unknown.len());
        let verified = each_batch(&unknown, |batch| {
            let items: Vec<_> = batch.iter().map(|(_, item)| *item).collect();
            let verdicts = self.suite.signature.verify_many(&items);
            batch.iter().zip(verdicts).filter(|(_, good)| *good).map(|((checked, _), _)| *checked).collect()
        });
        good += verified.len();
        self.shared.verified.remember(verified);
        good
    }

    /// Verifies the signatures of a tree's leaves ahead: of `ExportedTree::to_bytes`, the `ratchet_tree` of RFC 9420 (section 12.4.3.3). A leaf
    /// that a commit or update made is signed in its place in the group `group_id`.
    ///
    /// How many are good. Nothing is judged here: a tree that is none has no good signature, and mls-rs says what is wrong.
    pub fn verify_tree_ahead(&self, tree: &[u8], group_id: &[u8]) -> usize {
        self.verify_ahead(&ahead::of_tree(tree, group_id))
    }

    /// Verifies both signatures of each key package ahead, when it is published or just before it is added; each as a `KeyPackage` or as an
    /// `MLSMessage` (RFC 9420, sections 6 and 10). How many are good.
    pub fn verify_key_packages_ahead<'a>(&self, key_packages: impl IntoIterator<Item = &'a [u8]>) -> usize {
        let signed: Vec<_> = key_packages.into_iter().flat_map(ahead::of_key_package).collect();
        self.verify_ahead(&signed)
    }

    /// Verifies the signatures of the key packages ahead that a commit, or an Add, in a PublicMessage carries. A PrivateMessage shows none:
    /// who sends one says which key packages it adds. How many are good.
    pub fn verify_commit_ahead(&self, message: &[u8]) -> usize {
        self.verify_ahead(&ahead::of_public_message(message))
    }

    /// Checks an HPKE key that came in a tree. mls-rs asks about the init keys of key packages alone (mls-rs 0.57), so those of leaves are checked
    /// where it has a leaf's signature verified, and those of parents where it hashes a tree: a commit or a tree with a bad one is refused by
    /// all, and not later by whoever has to seal to it.
    fn received(&self, key: Option<&[u8]>) -> Result<()> {
        key.map_or(Ok(()), |key| self.suite.hpke.validate(key))
    }

    /// The signer that these bytes name, if they are no private key.
    fn signer(&self, bytes: &SignatureSecretKey) -> Result<Option<Arc<dyn Signer>>> {
        let Some(signer) = self.shared.signers.find(bytes)? else { return Ok(None) };
        exactly("a signer's public key", self.suite.signature.public_len(), signer.public_key())?;
        Ok(Some(signer))
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
        let hash = self.suite.hash;
        let check = |data: &[u8]| self.received(ahead::parent_key(data, hash.len()));
        self.shared.last_parent.digest(hash, data, check)
    }

    fn mac(&self, key: &[u8], data: &[u8]) -> Result<Vec<u8>> {
        Ok(door::shallow(|| self.suite.hash.mac(key, data)))
    }

    fn aead_seal(&self, key: &[u8], data: &[u8], aad: Option<&[u8]>, nonce: &[u8]) -> Result<Vec<u8>> {
        door::deep(|| self.suite.aead.seal(key, nonce, aad.unwrap_or_default(), data))
    }

    fn aead_open(
        &self,
        key: &[u8],
        ciphertext: &[u8],
        aad: Option<&[u8]>,
        nonce: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        door::deep(|| self.suite.aead.open(key, nonce, aad.unwrap_or_default(), ciphertext))
    }

    fn aead_key_size(&self) -> usize {
        self.suite.aead.key_len()
    }

    fn aead_nonce_size(&self) -> usize {
        NONCE_LEN
    }

    fn kdf_extract(&self, salt: &[u8], ikm: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        Ok(door::shallow(|| self.suite.hash.extract(salt, ikm)))
    }

    fn kdf_expand(&self, prk: &[u8], info: &[u8], len: usize) -> Result<Zeroizing<Vec<u8>>> {
        door::shallow(|| self.suite.hash.expand(prk, info, len))
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
        door::deep(|| self.suite.hpke.seal(remote_key, info, aad.unwrap_or_default(), pt, None, &self.random))
    }

    fn hpke_seal_psk(
        &self,
        remote_key: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
        pt: &[u8],
        psk: HpkePsk<'_>,
    ) -> Result<HpkeCiphertext> {
        door::deep(|| {
            self.suite.hpke.seal(remote_key, info, aad.unwrap_or_default(), pt, Some(of(psk)), &self.random)
        })
    }

    fn hpke_open(
        &self,
        ciphertext: &HpkeCiphertext,
        local_secret: &HpkeSecretKey,
        _: &HpkePublicKey,
        info: &[u8],
        aad: Option<&[u8]>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        door::deep(|| self.suite.hpke.open(ciphertext, local_secret, info, aad.unwrap_or_default(), None))
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
        door::deep(|| {
            self.suite.hpke.open(ciphertext, local_secret, info, aad.unwrap_or_default(), Some(of(psk)))
        })
    }

    fn hpke_setup_s(&self, remote_key: &HpkePublicKey, info: &[u8]) -> Result<(Vec<u8>, Sender)> {
        door::deep(|| self.suite.hpke.sender(remote_key, info, None, &self.random))
    }

    fn hpke_setup_r(
        &self,
        kem_output: &[u8],
        local_secret: &HpkeSecretKey,
        _: &HpkePublicKey,
        info: &[u8],
    ) -> Result<Receiver> {
        door::deep(|| self.suite.hpke.receiver(kem_output, local_secret, info, None))
    }

    fn kem_derive(&self, ikm: &[u8]) -> Result<(HpkeSecretKey, HpkePublicKey)> {
        door::deep(|| self.suite.hpke.derive(ikm, self.derivation).map(keys))
    }

    fn kem_generate(&self) -> Result<(HpkeSecretKey, HpkePublicKey)> {
        door::deep(|| self.suite.hpke.generate(&self.random).map(keys))
    }

    fn kem_public_key_validate(&self, key: &HpkePublicKey) -> Result<()> {
        self.suite.hpke.validate(key)
    }

    fn random_bytes(&self, out: &mut [u8]) -> Result<()> {
        self.random.fill(out)
    }

    fn signature_key_generate(&self) -> Result<(SignatureSecretKey, SignaturePublicKey)> {
        door::deep(|| {
            let (secret, public) = self.suite.signature.generate(&self.random)?;
            Ok((SignatureSecretKey::new_slice(&secret), public.into()))
        })
    }

    fn signature_key_derive_public(&self, secret_key: &SignatureSecretKey) -> Result<SignaturePublicKey> {
        match self.signer(secret_key)? {
            Some(signer) => Ok(signer.public_key().to_vec().into()),
            None => door::deep(|| Ok(self.suite.signature.key(secret_key)?.public().into())),
        }
    }

    fn sign(&self, secret_key: &SignatureSecretKey, data: &[u8]) -> Result<Vec<u8>> {
        match self.signer(secret_key)? {
            Some(signer) => signer.sign(data),
            None => door::deep(|| self.suite.signature.key(secret_key)?.sign(data, &self.random)),
        }
    }

    fn verify(&self, public_key: &SignaturePublicKey, signature: &[u8], data: &[u8]) -> Result<()> {
        let verified = &self.shared.verified;
        let lasting = is_lasting(data).then(|| checked(self.suite, public_key, data, signature));
        if lasting.is_some_and(|checked| verified.answers(&checked)) {
            return Ok(());
        }
        self.received(ahead::leaf_key(data))?;
        verified.count_computed();
        self.suite.signature.verify(public_key, data, signature)?;
        verified.remember(lasting);
        Ok(())
    }
}

fn of(psk: HpkePsk<'_>) -> Psk<'_> {
    Psk { secret: psk.value, id: psk.id }
}

/// Signatures of one call of `verify_many`: their verdicts are one vector, and with `rayon` a batch is what one thread takes.
const BATCH: usize = 64;

#[cfg(not(feature = "rayon"))]
fn each_batch<T, U>(items: &[T], work: impl Fn(&[T]) -> Vec<U>) -> Vec<U> {
    let mut all = Vec::with_capacity(items.len());
    // No iterator over all of them: its `size_hint` divides, which the search for divisions would have to be told.
    items.chunks(BATCH).for_each(|batch| all.extend(work(batch)));
    all
}

#[cfg(feature = "rayon")]
fn each_batch<T: Sync, U: Send>(items: &[T], work: impl Fn(&[T]) -> Vec<U> + Send + Sync) -> Vec<U> {
    use rayon::prelude::*;
    items.par_chunks(BATCH).flat_map_iter(work).collect()
}

/// mls-rs wipes its copy of the private key.
fn keys((private, public): Pair) -> (HpkeSecretKey, HpkePublicKey) {
    (private.to_vec().into(), public.into())
}
