//! RFC 8391, §4.1 and §4.2, SP 800-208, §6 and §7: private keys of XMSS and XMSS^MT.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use rand_core::TryCryptoRng;

use super::hash::Hash;
use super::keys::VerifyingKey;
use super::params::{MAX_N, ParameterSet};
use super::tree::{Digits, Seeded, Tree};
use crate::merkle::{Cache, MAX_NODE, TreeOptions};
#[cfg(feature = "getrandom")]
use crate::rng::RngError;
use crate::secret::{Secret, StackGuard, declassify};
use crate::stateful::{Leaf, StatefulKey};

/// The most stack that a tree or a signature needs.
const DEPTH: usize = 48 * 1024;

/// The parameter set or the seeds of a private key do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// The set is not one of SP 800-208; its keys only verify.
    VerifyOnly(ParameterSet),
    /// A seed has another length than a node.
    SeedLength {
        /// Bytes of a node.
        expected: usize,
        /// Bytes of the seed.
        actual: usize,
    },
}

impl fmt::Display for SigningKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VerifyOnly(set) => write!(f, "{set} is not a set of SP 800-208: its keys only verify"),
            Self::SeedLength { expected, actual } => {
                write!(f, "the seed has {actual} bytes, not {expected}")
            }
        }
    }
}

impl core::error::Error for SigningKeyError {}

/// A key could not be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GenerateError<E> {
    /// The error of the generator.
    Rng(E),
    /// The set does not sign.
    Key(SigningKeyError),
}

impl<E: fmt::Display> fmt::Display for GenerateError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rng(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
        }
    }
}

impl<E: core::error::Error> core::error::Error for GenerateError<E> {}

/// A private key of XMSS or XMSS^MT, with cached nodes; a [`Signer`](crate::stateful::Signer) signs with it.
///
/// A key of XMSS has one tree. One of XMSS^MT computes the trees below the top when they are first needed, which takes the time of a key
/// generation. The key cannot be cloned, since both copies would count their leaves alone.
pub struct SigningKey {
    key: VerifyingKey,
    /// S_XMSS ‖ SK_PRF.
    secrets: Secret<Vec<u8>>,
    /// The current tree of each layer, the top first.
    trees: Vec<CurrentTree>,
}

/// The current tree of a layer.
struct CurrentTree {
    /// The number of the tree in its layer.
    number: u64,
    cache: Cache,
    /// The one-time signature and the path of its root in the layer above; empty at the top.
    signature: Vec<u8>,
}

impl SigningKey {
    /// Generates a key with randomness of the operating system.
    ///
    /// A tree of height 10 takes about five million hashes, each level more twice that.
    ///
    /// # Errors
    ///
    /// [`GenerateError`].
    #[cfg(feature = "getrandom")]
    pub fn generate(set: ParameterSet, options: TreeOptions<'_>) -> Result<Self, GenerateError<RngError>> {
        Self::new(set, crate::rng::fill, options)
    }

    /// Generates a key with the caller's randomness.
    ///
    /// # Errors
    ///
    /// [`GenerateError`].
    pub fn generate_with<R: TryCryptoRng + ?Sized>(
        set: ParameterSet,
        rng: &mut R,
        options: TreeOptions<'_>,
    ) -> Result<Self, GenerateError<R::Error>> {
        Self::new(set, |bytes| rng.try_fill_bytes(bytes), options)
    }

    fn new<E>(
        set: ParameterSet,
        mut fill: impl FnMut(&mut [u8]) -> Result<(), E>,
        options: TreeOptions<'_>,
    ) -> Result<Self, GenerateError<E>> {
        let mut seeds = Secret::new([0; 3 * MAX_N]);
        let seeds = &mut seeds.expose_mut()[..3 * set.0.n];
        fill(seeds).map_err(GenerateError::Rng)?;
        let (secret, rest) = seeds.split_at(set.0.n);
        let (sk_prf, seed) = rest.split_at(set.0.n);
        // public: part of the verifying key
        declassify(seed);
        Self::from_seeds(set, secret, sk_prf, seed, options).map_err(GenerateError::Key)
    }

    /// Computes the key of S_XMSS, SK_PRF and SEED, n bytes each; the one-time keys are derived from S_XMSS as SP 800-208, §6.2, derives them.
    ///
    /// RFC 8391, Algorithm 10 (XMSS_keyGen) and Algorithm 15 (XMSSMT_keyGen).
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`].
    pub fn from_seeds(
        set: ParameterSet,
        secret: &[u8],
        sk_prf: &[u8],
        seed: &[u8],
        options: TreeOptions<'_>,
    ) -> Result<Self, SigningKeyError> {
        let n = set.0.n;
        if !set.is_approved() {
            return Err(SigningKeyError::VerifyOnly(set));
        }
        if let Some(part) = [secret, sk_prf, seed].iter().find(|part| part.len() != n) {
            return Err(SigningKeyError::SeedLength { expected: n, actual: part.len() });
        }
        let _guard = StackGuard::<DEPTH>;
        let hash = Hash::new(set.0, seed);
        let tree = Tree { hash: &hash, layer: set.0.layers - 1, tree: 0 };
        let (cache, root) = compute(&Seeded { tree, secret }, options);
        let key = VerifyingKey::new(set, &root[..n], seed);
        let top = CurrentTree { number: 0, cache, signature: Vec::new() };
        Ok(Self { key, secrets: Secret::new([secret, sk_prf].concat()), trees: vec![top] })
    }

    /// Returns the verifying key.
    #[must_use]
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Shows S_XMSS ‖ SK_PRF: secret.
    #[must_use]
    pub fn expose_secrets(&self) -> &[u8] {
        self.secrets.expose()
    }

    /// Signs a message with an index.
    fn sign(&mut self, index: u64, message: &[u8]) -> Vec<u8> {
        let _guard = StackGuard::<DEPTH>;
        self.signature(index, message)
    }

    /// RFC 8391, Algorithm 12 (XMSS_sign) and Algorithm 16 (XMSSMT_sign).
    #[inline(never)]
    fn signature(&mut self, index: u64, message: &[u8]) -> Vec<u8> {
        let set = self.key.parameter_set();
        let n = set.0.n;
        let hash = Hash::new(set.0, self.key.seed());
        let (secret, sk_prf) = self.secrets.expose().split_at(n);
        let r = Hash::randomizer(set.0, sk_prf, index);
        // public: part of the signature
        declassify(&r);
        let mut signature = Vec::with_capacity(set.signature_len());
        signature.extend_from_slice(&index.to_be_bytes()[8 - set.0.index_len()..]);
        signature.extend_from_slice(&r[..n]);
        let digest = hash.message(&r[..n], self.key.root(), index, message);

        // The trees become those above the leaf, from the top down.
        for i in 1..set.0.layers as usize {
            let layer = set.0.layers - 1 - i as u32;
            let number = index >> (layer * set.0.height) >> set.0.height;
            if self.trees.get(i).is_some_and(|tree| tree.number == number) {
                continue;
            }
            self.trees.truncate(i);
            let seeded = Seeded { tree: Tree { hash: &hash, layer, tree: number }, secret };
            let (cache, root) = compute(&seeded, TreeOptions::new());
            let above = &mut self.trees[i - 1];
            let signature = above.sign(&hash, secret, layer + 1, number, &root[..n]);
            self.trees.push(CurrentTree { number, cache, signature });
        }
        let last = self.trees.last_mut().expect("the top tree");
        signature.extend(last.sign(&hash, secret, 0, index, &digest[..n]));
        for tree in self.trees[1..].iter().rev() {
            signature.extend_from_slice(&tree.signature);
        }
        signature
    }
}

impl CurrentTree {
    /// The one-time signature and the path of the leaf of this index in the layer: RFC 8391, Algorithm 11 (treeSig).
    fn sign(&mut self, hash: &Hash, secret: &[u8], layer: u32, index: u64, message: &[u8]) -> Vec<u8> {
        let params = hash.params;
        let leaf = (index & ((1 << params.height) - 1)) as u32;
        let tree = Seeded { tree: Tree { hash, layer, tree: self.number }, secret };
        let mut signature = vec![0; params.layer_len()];
        let (chains, path) = signature.split_at_mut(params.n * params.chains());
        tree.sign(leaf, &Digits::new(message), chains);
        self.cache.path(&tree, leaf, path);
        signature
    }
}

/// Computes a tree and its root.
fn compute(tree: &Seeded<'_>, options: TreeOptions<'_>) -> (Cache, [u8; MAX_NODE]) {
    let cache = Cache::new(tree, options);
    let mut root = [0; MAX_NODE];
    cache.root(tree.tree.hash.params.n, &mut root);
    // public: part of the verifying key, or signed by the tree above
    declassify(&root);
    (cache, root)
}

impl StatefulKey for SigningKey {
    fn capacity(&self) -> u64 {
        1 << self.key.parameter_set().height()
    }

    fn sign_with_leaf(&mut self, leaf: Leaf, message: &[u8]) -> Vec<u8> {
        self.sign(leaf.number(), message)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey<{}>([redacted])", self.key.parameter_set())
    }
}
