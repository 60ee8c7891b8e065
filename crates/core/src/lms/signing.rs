//! Private keys of LMS and HSS (RFC 8554, §5.2, §6.1, §6.2 and Appendix A).

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use rand_core::TryCryptoRng;

use super::keys::{HssVerifyingKey, MAX_LEVELS, VerifyingKey};
use super::params::{LmotsType, LmsType, MAX_N};
use super::tree::{Seeded, Tree};
use crate::merkle::{Cache, TreeOptions};
#[cfg(feature = "getrandom")]
use crate::rng::RngError;
use crate::secret::{Secret, StackGuard, declassify};
use crate::stateful::{Leaf, StatefulKey};

/// The stack that the computation of a tree or of a signature uses at most.
const DEPTH: usize = 32 * 1024;

/// The numbers of values that a leaf derives beside the secrets of its chains: C, and SEED and I of the tree below.
const C: u16 = 0xfffd;
const CHILD_SEED: u16 = 0xfffe;
const CHILD_IDENTIFIER: u16 = 0xffff;

/// The types or the seed of a private key do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SigningKeyError {
    /// The types of a tree and of its one-time signatures differ in hash function or length.
    Types(LmsType, LmotsType),
    /// The trees of an HSS key differ in hash function or length.
    Levels,
    /// An HSS key has 1 to 8 levels.
    LevelCount(usize),
    /// SEED has another length than a node.
    SeedLength {
        /// Bytes of a node.
        expected: usize,
        /// Bytes of SEED.
        actual: usize,
    },
}

impl fmt::Display for SigningKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Types(lms, ots) => write!(f, "{lms} and {ots} differ in hash function or length"),
            Self::Levels => f.write_str("the levels of the HSS key differ in hash function or length"),
            Self::LevelCount(levels) => write!(f, "an HSS key has 1 to 8 levels, not {levels}"),
            Self::SeedLength { expected, actual } => write!(f, "SEED has {actual} bytes, not {expected}"),
        }
    }
}

impl core::error::Error for SigningKeyError {}

/// A private key of one LMS tree, with cached nodes; a [`Signer`](crate::stateful::Signer) signs with it.
///
/// The key cannot be cloned, since both copies would count their leaves alone.
pub struct SigningKey {
    key: VerifyingKey,
    seed: Secret<Vec<u8>>,
    cache: Cache,
}

impl SigningKey {
    /// A new key, with randomness of the operating system.
    ///
    /// A tree of height 10 with W8 takes about a million hashes, each level more twice that.
    ///
    /// # Errors
    ///
    /// [`GenerateError`].
    #[cfg(feature = "getrandom")]
    pub fn generate(
        lms: LmsType,
        ots: LmotsType,
        options: TreeOptions<'_>,
    ) -> Result<Self, GenerateError<RngError>> {
        Self::new(lms, ots, crate::rng::fill, options)
    }

    /// A new key, with the caller's randomness.
    ///
    /// # Errors
    ///
    /// [`GenerateError`].
    pub fn generate_with<R: TryCryptoRng + ?Sized>(
        lms: LmsType,
        ots: LmotsType,
        rng: &mut R,
        options: TreeOptions<'_>,
    ) -> Result<Self, GenerateError<R::Error>> {
        Self::new(lms, ots, |bytes| rng.try_fill_bytes(bytes), options)
    }

    fn new<E>(
        lms: LmsType,
        ots: LmotsType,
        mut fill: impl FnMut(&mut [u8]) -> Result<(), E>,
        options: TreeOptions<'_>,
    ) -> Result<Self, GenerateError<E>> {
        let mut identifier = [0; 16];
        let mut seed = Secret::new([0; MAX_N]);
        let seed = &mut seed.expose_mut()[..lms.0.n];
        fill(&mut identifier).map_err(GenerateError::Rng)?;
        fill(seed).map_err(GenerateError::Rng)?;
        Self::from_seed(lms, ots, &identifier, seed, options).map_err(GenerateError::Key)
    }

    /// The key of I and SEED, whose secrets are derived as RFC 8554, Appendix A, derives them.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`].
    pub fn from_seed(
        lms: LmsType,
        ots: LmotsType,
        identifier: &[u8; 16],
        seed: &[u8],
        options: TreeOptions<'_>,
    ) -> Result<Self, SigningKeyError> {
        check(lms, ots, seed)?;
        let _guard = StackGuard::<DEPTH>;
        let tree = Tree { lms: lms.0, ots: ots.0, identifier };
        let cache = Cache::new(&Seeded { tree, seed }, options);
        let mut root = [0; MAX_N];
        cache.root(lms.0.n, &mut root);
        // public: part of the verifying key
        declassify(&root);
        let key = VerifyingKey::new(lms, ots, *identifier, root);
        Ok(Self { key, seed: Secret::new(seed.to_vec()), cache })
    }

    /// The verifying key.
    #[must_use]
    pub const fn verifying_key(&self) -> &VerifyingKey {
        &self.key
    }

    /// SEED: secret.
    #[must_use]
    pub fn expose_seed(&self) -> &[u8] {
        self.seed.expose()
    }

    /// The signature of a message by a leaf, with C, which is derived from SEED if there is none: RFC 8554, §5.4.
    fn sign(&mut self, leaf: u32, c: Option<&[u8]>, message: &[u8]) -> Vec<u8> {
        let (lms, seed, tree) = (self.key.lms_type(), self.seed.expose(), self.key.tree());
        let mut signature = leaf.to_be_bytes().to_vec();
        signature.extend(one_time(tree, seed, leaf, c, message));
        signature.extend_from_slice(&lms.code().to_be_bytes());
        let path = signature.len();
        signature.resize(path + lms.0.h as usize * lms.0.n, 0);
        let _guard = StackGuard::<DEPTH>;
        self.cache.path(&Seeded { tree, seed }, leaf, &mut signature[path..]);
        signature
    }

    /// The key of the tree below a leaf: I and SEED are derived from this key's as secrets of chains are.
    fn child(&self, leaf: u32, lms: LmsType, ots: LmotsType) -> Self {
        let _guard = StackGuard::<DEPTH>;
        let tree = self.key.tree();
        let mut seed = Secret::new(tree.derive(self.seed.expose(), leaf, CHILD_SEED));
        let identifier = tree.derive(self.seed.expose(), leaf, CHILD_IDENTIFIER);
        let identifier = identifier.first_chunk().expect("16 of 32 bytes");
        // public: part of the verifying key
        declassify(identifier);
        let seed = &seed.expose_mut()[..lms.0.n];
        Self::from_seed(lms, ots, identifier, seed, TreeOptions::new())
            .expect("the levels have one hash function")
    }
}

/// The one-time signature of a message by a leaf.
fn one_time(tree: Tree<'_>, seed: &[u8], leaf: u32, c: Option<&[u8]>, message: &[u8]) -> Vec<u8> {
    let _guard = StackGuard::<DEPTH>;
    one_time_unguarded(tree, seed, leaf, c, message)
}

/// RFC 8554, Algorithm 3.
#[inline(never)]
fn one_time_unguarded(tree: Tree<'_>, seed: &[u8], leaf: u32, c: Option<&[u8]>, message: &[u8]) -> Vec<u8> {
    let n = tree.ots.n;
    let mut signature = vec![0; tree.ots.signature_len()];
    let (head, chains) = signature.split_at_mut(4 + n);
    let derived = tree.derive(seed, leaf, C);
    // public: part of the signature
    declassify(&derived);
    let c = c.unwrap_or(&derived[..n]);
    head[..4].copy_from_slice(&tree.ots.code.to_be_bytes());
    head[4..].copy_from_slice(c);
    tree.sign(seed, leaf, &tree.digits(leaf, c, message), chains);
    signature
}

fn check(lms: LmsType, ots: LmotsType, seed: &[u8]) -> Result<(), SigningKeyError> {
    if !lms.goes_with(ots) {
        return Err(SigningKeyError::Types(lms, ots));
    }
    if seed.len() != lms.0.n {
        return Err(SigningKeyError::SeedLength { expected: lms.0.n, actual: seed.len() });
    }
    Ok(())
}

impl StatefulKey for SigningKey {
    fn capacity(&self) -> u64 {
        1 << self.key.lms_type().height()
    }

    fn sign_with_leaf(&mut self, leaf: Leaf, message: &[u8]) -> Vec<u8> {
        self.sign(leaf.number() as u32, None, message)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey<{}, {}>([redacted])", self.key.lms_type(), self.key.lmots_type())
    }
}

/// A key could not be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GenerateError<E> {
    /// The error of the generator.
    Rng(E),
    /// The types do not fit.
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

/// A private key of HSS: a chain of LMS trees, of which each signs the root of the next and the last signs messages.
///
/// The trees below the top are derived from its seed when they are first needed, which takes the time of a key generation of their type.
pub struct HssSigningKey {
    verifying: HssVerifyingKey,
    /// The current tree of each level, the top first.
    trees: Vec<SigningKey>,
    /// The number of the current tree within its level.
    numbers: Vec<u64>,
    /// The signature of each tree but the last over the key of the next.
    signatures: Vec<Vec<u8>>,
}

impl HssSigningKey {
    /// A new key with trees of these types, the top first, with randomness of the operating system.
    ///
    /// # Errors
    ///
    /// [`GenerateError`].
    #[cfg(feature = "getrandom")]
    pub fn generate(
        levels: &[(LmsType, LmotsType)],
        options: TreeOptions<'_>,
    ) -> Result<Self, GenerateError<RngError>> {
        check_levels(levels).map_err(GenerateError::Key)?;
        Ok(Self::new(levels, SigningKey::generate(levels[0].0, levels[0].1, options)?))
    }

    /// A new key with trees of these types, the top first, with the caller's randomness.
    ///
    /// # Errors
    ///
    /// [`GenerateError`].
    pub fn generate_with<R: TryCryptoRng + ?Sized>(
        levels: &[(LmsType, LmotsType)],
        rng: &mut R,
        options: TreeOptions<'_>,
    ) -> Result<Self, GenerateError<R::Error>> {
        check_levels(levels).map_err(GenerateError::Key)?;
        Ok(Self::new(levels, SigningKey::generate_with(levels[0].0, levels[0].1, rng, options)?))
    }

    /// The key of I and SEED of the top tree.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`].
    pub fn from_seed(
        levels: &[(LmsType, LmotsType)],
        identifier: &[u8; 16],
        seed: &[u8],
        options: TreeOptions<'_>,
    ) -> Result<Self, SigningKeyError> {
        check_levels(levels)?;
        let top = SigningKey::from_seed(levels[0].0, levels[0].1, identifier, seed, options)?;
        Ok(Self::new(levels, top))
    }

    fn new(levels: &[(LmsType, LmotsType)], top: SigningKey) -> Self {
        let verifying = HssVerifyingKey::new(levels.len() as u32, top.key);
        let mut key =
            Self { verifying, trees: vec![top], numbers: vec![0; levels.len()], signatures: Vec::new() };
        for (lms, ots) in &levels[1..] {
            key.append(0, *lms, *ots);
        }
        key
    }

    /// Appends the tree below a leaf of the last tree.
    fn append(&mut self, leaf: u32, lms: LmsType, ots: LmotsType) {
        let above = self.trees.last_mut().expect("the top tree");
        let tree = above.child(leaf, lms, ots);
        self.signatures.push(above.sign(leaf, None, &tree.key.to_bytes()));
        self.trees.push(tree);
    }

    /// The verifying key.
    #[must_use]
    pub const fn verifying_key(&self) -> &HssVerifyingKey {
        &self.verifying
    }

    /// SEED of the top tree: secret.
    #[must_use]
    pub fn expose_seed(&self) -> &[u8] {
        self.trees[0].expose_seed()
    }

    /// Makes the trees those above a leaf of the last level.
    fn go_to(&mut self, mut number: u64) -> u32 {
        let mut leaves = vec![0; self.trees.len()];
        let mut numbers = leaves.clone();
        for (level, tree) in self.trees.iter().enumerate().rev() {
            let height = tree.key.lms_type().height();
            leaves[level] = number & ((1 << height) - 1);
            number >>= height;
            numbers[level] = number;
        }
        if let Some(first) = (0..numbers.len()).find(|level| numbers[*level] != self.numbers[*level]) {
            let types: Vec<_> =
                self.trees[first..].iter().map(|tree| (tree.key.lms_type(), tree.key.lmots_type())).collect();
            self.trees.truncate(first);
            self.signatures.truncate(first - 1);
            for (level, (lms, ots)) in (first..).zip(types) {
                self.append(leaves[level - 1] as u32, lms, ots);
            }
            self.numbers = numbers;
        }
        leaves[self.trees.len() - 1] as u32
    }
}

/// RFC 8554, §6: 1 to 8 levels; here with one hash function and length, since the seeds are derived from each other.
fn check_levels(levels: &[(LmsType, LmotsType)]) -> Result<(), SigningKeyError> {
    if !(1..=MAX_LEVELS as usize).contains(&levels.len()) {
        return Err(SigningKeyError::LevelCount(levels.len()));
    }
    if let Some((lms, ots)) = levels.iter().find(|(lms, ots)| !lms.goes_with(*ots)) {
        return Err(SigningKeyError::Types(*lms, *ots));
    }
    let alike = levels.iter().all(|(_, ots)| levels[0].0.goes_with(*ots));
    if alike { Ok(()) } else { Err(SigningKeyError::Levels) }
}

impl StatefulKey for HssSigningKey {
    fn capacity(&self) -> u64 {
        let height: u32 = self.trees.iter().map(|tree| tree.key.lms_type().height()).sum();
        1_u64.checked_shl(height).unwrap_or(u64::MAX)
    }

    /// RFC 8554, §6.2.
    fn sign_with_leaf(&mut self, leaf: Leaf, message: &[u8]) -> Vec<u8> {
        let leaf = self.go_to(leaf.number());
        let mut signature = (self.trees.len() as u32 - 1).to_be_bytes().to_vec();
        for (of_key, tree) in self.signatures.iter().zip(&self.trees[1..]) {
            signature.extend_from_slice(of_key);
            signature.extend_from_slice(&tree.key.to_bytes());
        }
        let last = self.trees.last_mut().expect("the top tree");
        signature.extend(last.sign(leaf, None, message));
        signature
    }
}

impl fmt::Debug for HssSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.trees).finish()
    }
}

/// Signing with values that the caller names, for tests against published vectors.
#[cfg(feature = "hazmat")]
pub mod hazmat {
    use super::*;
    use crate::stateful::{ForeignIndex, Reserve, ReservedIndex, Signer};

    /// Signs with the caller's C, of as many bytes as a node, where [`Signer::sign`] derives it from SEED.
    ///
    /// # Errors
    ///
    /// [`ForeignIndex`] if another store reserved the index; it is lost then.
    ///
    /// # Panics
    ///
    /// If C has another length.
    pub fn sign_with_randomizer<R: Reserve>(
        signer: &mut Signer<SigningKey, R>,
        index: ReservedIndex,
        c: &[u8],
        message: &[u8],
    ) -> Result<Vec<u8>, ForeignIndex> {
        signer.sign_by(index, |key, leaf| key.sign(leaf.number() as u32, Some(c), message))
    }

    /// The one-time signature of a leaf, u32str(type) ‖ C ‖ y, without its tree, which may be too large to compute.
    ///
    /// # Errors
    ///
    /// [`SigningKeyError`].
    pub fn one_time_signature(
        lms: LmsType,
        ots: LmotsType,
        (identifier, seed): (&[u8; 16], &[u8]),
        leaf: u32,
        message: &[u8],
    ) -> Result<Vec<u8>, SigningKeyError> {
        check(lms, ots, seed)?;
        Ok(one_time(Tree { lms: lms.0, ots: ots.0, identifier }, seed, leaf, None, message))
    }
}
