//! Signing keys in their prepared form: the highest tree of the hypertree is on the heap.

use alloc::boxed::Box;
use alloc::{vec, vec::Vec};
use core::fmt;

use super::hash::Hash;
use super::keys::{DEPTH, LengthError, SigningKey, VerifyingKey};
use super::message::Message;
use super::params::{MAX_N, ParameterSet, Params};
#[cfg(feature = "getrandom")]
use crate::RngError;
use crate::secret::{StackGuard, declassify};

/// The nodes of the highest tree, which are no secret: each is part of a signature, or of public keys that signatures reveal.
pub(super) struct Top(Box<[u8]>);

impl Top {
    /// The nodes and the root. `done` receives the number of leaves that are computed.
    pub(super) fn new(
        params: &'static Params,
        sk_seed: &[u8],
        pk_seed: &[u8],
        done: &mut dyn FnMut(u32),
    ) -> (Self, [u8; MAX_N]) {
        let mut nodes = vec![0; params.top_len()].into_boxed_slice();
        let _guard = StackGuard::<DEPTH>;
        let root = fill(params, sk_seed, pk_seed, &mut nodes, done);
        (Self(nodes), root)
    }

    pub(super) fn nodes(&self) -> &[u8] {
        &self.0
    }
}

#[inline(never)]
fn fill(
    params: &'static Params,
    sk_seed: &[u8],
    pk_seed: &[u8],
    nodes: &mut [u8],
    done: &mut dyn FnMut(u32),
) -> [u8; MAX_N] {
    // public: part of the verifying key
    declassify(pk_seed);
    let mut keep = |level: u32, number: u32, node: &[u8]| {
        // public: see above
        declassify(node);
        nodes[params.place_in_top(level, number)..][..node.len()].copy_from_slice(node);
        if level == 0 {
            done(number + 1);
        }
    };
    let root = Hash::new(params, pk_seed).top_tree(sk_seed, &mut keep);
    // public: part of the verifying key
    declassify(&root);
    root
}

/// A signing key with the highest tree of the hypertree: its signatures, which are those of the [`SigningKey`], compute one layer less, a
/// seventh or an eighth of the work in the sets that end in `s`.
///
/// The nodes take 2^(h′ + 1) · n bytes of heap: 16 to 24 KiB in the sets that end in `s`, 256 bytes to 1 KiB in those in `f`.
///
/// ```
/// use gambeson::slhdsa::{ParameterSet, SigningKey};
///
/// let key = SigningKey::generate(ParameterSet::SHA2_128F)?;
/// let prepared = key.prepare();
/// assert_eq!(prepared.sign_deterministic(b"message"), key.sign_deterministic(b"message"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PreparedSigningKey {
    key: Box<SigningKey>,
    top: Top,
}

impl SigningKey {
    /// The key with the highest tree, which takes the time of a key generation.
    #[must_use]
    pub fn prepare(&self) -> PreparedSigningKey {
        let set = self.parameter_set();
        let [sk_seed, _, pk_seed, root] = self.parts();
        let (top, _) = Top::new(set.0, sk_seed, pk_seed, &mut |_| ());
        let seeds = &self.expose_bytes()[..3 * set.seed_len()];
        PreparedSigningKey { key: Self::boxed_of_parts(set, seeds, root), top }
    }

    /// Signs each message, with randomness of the operating system (hedged); the signatures come in the order of the messages.
    ///
    /// The key is prepared for it. A signature fills the lanes alone, so the messages are signed one after the other.
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn sign_many(&self, messages: &[Message<'_>]) -> Result<Vec<Vec<u8>>, RngError> {
        self.prepare().sign_many(messages)
    }
}

impl PreparedSigningKey {
    /// The parameter set.
    #[must_use]
    pub const fn parameter_set(&self) -> ParameterSet {
        self.key.parameter_set()
    }

    /// The key that was prepared.
    #[must_use]
    pub const fn signing_key(&self) -> &SigningKey {
        &self.key
    }

    /// The verifying key.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        self.key.verifying_key()
    }

    /// Signs a message, with randomness of the operating system (hedged).
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign).
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn sign<'m>(&self, message: impl Into<Message<'m>>) -> Result<Vec<u8>, RngError> {
        self.key.sign_hedged(Some(self.top.nodes()), &message.into())
    }

    /// Signs each message as [`sign`](Self::sign); the signatures come in the order of the messages.
    ///
    /// A signature fills the lanes alone, so the messages are signed one after the other.
    ///
    /// # Errors
    ///
    /// [`RngError`](crate::RngError) if the operating system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn sign_many(&self, messages: &[Message<'_>]) -> Result<Vec<Vec<u8>>, RngError> {
        messages.iter().map(|message| self.sign(*message)).collect()
    }

    /// Signs a message without randomness: the same message has the same signature.
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign), the deterministic variant.
    #[must_use]
    pub fn sign_deterministic<'m>(&self, message: impl Into<Message<'m>>) -> Vec<u8> {
        let mut signature = vec![0; self.parameter_set().signature_len()];
        let [.., pk_seed, _] = self.key.parts();
        self.key.sign_internal(Some(self.top.nodes()), &message.into(), pk_seed, &mut signature);
        signature
    }

    /// Signs a message with the randomness opt_rand, of [`ParameterSet::seed_len`] bytes.
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign).
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the randomness has another length.
    pub fn sign_with_randomness<'m>(
        &self,
        message: impl Into<Message<'m>>,
        randomness: &[u8],
    ) -> Result<Vec<u8>, LengthError> {
        let mut signature = vec![0; self.parameter_set().signature_len()];
        self.sign_with_randomness_into(message, randomness, &mut signature)?;
        Ok(signature)
    }

    /// Signs a message with the randomness opt_rand, of [`ParameterSet::seed_len`] bytes, into memory of
    /// [`ParameterSet::signature_len`] bytes.
    ///
    /// FIPS 205, Algorithm 22 (slh_sign) and Algorithm 23 (hash_slh_sign).
    ///
    /// # Errors
    ///
    /// [`LengthError`] if the randomness or the memory has another length.
    pub fn sign_with_randomness_into<'m>(
        &self,
        message: impl Into<Message<'m>>,
        randomness: &[u8],
        signature: &mut [u8],
    ) -> Result<(), LengthError> {
        self.key.sign_checked(Some(self.top.nodes()), &message.into(), randomness, signature)
    }
}

impl fmt::Debug for PreparedSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prepared{:?}", self.key)
    }
}
