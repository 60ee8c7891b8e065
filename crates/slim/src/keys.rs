//! How agents that are away are invited.

use async_trait::async_trait;
use bytes::Bytes;
use std::collections::HashSet;

use crate::error::{Error, Result};

/// How many key packages that are given out once a DID can have.
pub const MAX_KEY_PACKAGES: usize = 1_000;

/// The largest key package, in bytes. One of suite 0xF00B has 15 kB.
pub const MAX_KEY_PACKAGE: usize = 64 * 1024;

/// The longest DID, in bytes.
pub const MAX_DID: usize = 2_048;

/// What an agent publishes: MLS messages, each a KeyPackage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPackages {
    /// Each is given out once.
    pub once: Vec<Bytes>,
    /// Given out when nothing else is left, as often as asked (RFC 9420 §16.8).
    pub last_resort: Option<Bytes>,
}

impl KeyPackages {
    /// Whether a store may take these for this DID.
    ///
    /// # Errors
    /// [`Error::DidTooLong`], [`Error::KeyPackageTooLarge`], [`Error::TooManyKeyPackages`].
    pub fn check(&self, did: &str) -> Result<()> {
        if did.len() > MAX_DID {
            return Err(Error::DidTooLong(did.len()));
        }
        if self.once.len() > MAX_KEY_PACKAGES {
            return Err(Error::TooManyKeyPackages(MAX_KEY_PACKAGES));
        }
        match self.once.iter().chain(&self.last_resort).find(|package| package.len() > MAX_KEY_PACKAGE) {
            Some(package) => Err(Error::KeyPackageTooLarge(package.len())),
            None => Ok(()),
        }
    }

    /// Those that are given out once, each with its BLAKE3 hash and none twice.
    pub fn distinct(once: Vec<Bytes>) -> impl Iterator<Item = ([u8; 32], Bytes)> {
        let mut met = HashSet::new();
        let hashed = once.into_iter().map(|package| (*blake3::hash(&package).as_bytes(), package));
        hashed.filter(move |(hash, _)| met.insert(*hash))
    }
}

/// Keeps key packages of agents.
#[async_trait]
pub trait Keys: Send + Sync {
    /// Adds packages for a DID; a last resort replaces the one before. A package that was added before, and may be given out since,
    /// is not added again: calling again, because the answer was lost, is right.
    ///
    /// # Errors
    /// [`Error::TooManyKeyPackages`](crate::Error::TooManyKeyPackages),
    /// [`Error::KeyPackageTooLarge`](crate::Error::KeyPackageTooLarge), [`Error::DidTooLong`](crate::Error::DidTooLong): nothing is
    /// added; or the store does not answer.
    async fn publish(&self, did: &str, packages: KeyPackages) -> Result<()>;

    /// One package of a DID, which nobody else will be given unless it is the last resort; `None` if there is none.
    ///
    /// # Errors
    /// The store does not answer.
    async fn take(&self, did: &str) -> Result<Option<Bytes>>;

    /// How many are left of those that are given out once.
    ///
    /// # Errors
    /// The store does not answer.
    async fn left(&self, did: &str) -> Result<usize>;
}
