//! Signers that stand outside mls-rs.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use mls_rs_core::crypto::SignatureSecretKey;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A private key that signs for a member and is not given away: an agent's key, a token.
///
/// mls-rs keeps a member's private key as bytes. [`Provider::register_signer`](crate::Provider::register_signer) gives it bytes that name the
/// signer instead, and every signature is asked of the signer.
///
/// ```
/// use std::sync::Arc;
///
/// use gambeson::mldsa::{SigningKey, MlDsa65};
/// use gambeson_mls::mls_rs_core::crypto::{CipherSuiteProvider, CryptoProvider};
/// use gambeson_mls::{Error, Preset, Provider, Result, Signer};
///
/// struct Leaf(SigningKey<MlDsa65>, Vec<u8>);
///
/// impl Signer for Leaf {
///     fn public_key(&self) -> &[u8] {
///         &self.1
///     }
///
///     fn sign(&self, message: &[u8]) -> Result<Vec<u8>> {
///         self.0.sign(message).map(|signature| signature.to_vec()).map_err(|_| Error::Random)
///     }
/// }
///
/// let key = SigningKey::<MlDsa65>::generate()?;
/// let public = key.verifying_key().as_bytes().to_vec();
/// let provider = Provider::new(Preset::Default);
/// let handle = provider.register_signer(Arc::new(Leaf(key, public)));
///
/// // What `mls_rs::Client::builder().signing_identity(…)` takes.
/// let suite = provider.cipher_suite_provider(0xf00a.into()).expect("the preset has it");
/// let signature = suite.sign(&handle, b"message")?;
/// suite.verify(&suite.signature_key_derive_public(&handle)?, &signature, b"message")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Signer: Send + Sync {
    /// The public key, as RFC 9420 (section 5.1.1) sends it.
    fn public_key(&self) -> &[u8];

    /// Signs `message` with the suite's algorithm; ML-DSA in the empty context.
    ///
    /// # Errors
    /// [`Error::Signer`] when it will not or cannot sign.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>>;
}

/// What stands before the hash of the public key; with it a handle has 53 bytes, as no private key of any suite has.
const PREFIX: &[u8; 21] = b"gambeson-mls signer: ";

const HANDLE_LEN: usize = PREFIX.len() + 32;

/// The bytes that name a signer: the same in every process, so that a stored group finds the signer when it is registered again.
fn handle(public_key: &[u8]) -> Vec<u8> {
    [&PREFIX[..], &Sha256::digest(public_key)].concat()
}

/// The signers of a provider and of its clones.
#[derive(Default)]
pub(crate) struct Signers(RwLock<HashMap<Vec<u8>, Arc<dyn Signer>>>);

impl Signers {
    pub(crate) fn register(&self, signer: Arc<dyn Signer>) -> SignatureSecretKey {
        let handle = handle(signer.public_key());
        let mut signers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        signers.insert(handle.clone(), signer);
        SignatureSecretKey::new(handle)
    }

    pub(crate) fn forget(&self, handle: &[u8]) -> bool {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(handle).is_some()
    }

    /// The signer that these bytes name; none, if they are a private key.
    ///
    /// # Errors
    /// [`Error::UnknownSigner`] for a handle that names nobody here.
    pub(crate) fn find(&self, bytes: &[u8]) -> Result<Option<Arc<dyn Signer>>> {
        // By the length first: the bytes of a private key are not compared with anything.
        if bytes.len() != HANDLE_LEN || !bytes.starts_with(PREFIX) {
            return Ok(None);
        }
        let signers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        signers.get(bytes).cloned().map(Some).ok_or(Error::UnknownSigner)
    }
}

impl fmt::Debug for Signers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        write!(f, "Signers({})", signers.len())
    }
}
