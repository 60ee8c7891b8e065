//! What is too large for a frame or an entry.

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use std::fmt;

use crate::error::Result;
use crate::side_by_side;

/// The largest blob, in bytes: some half of a frame. What is larger is cut into chunks, and their hashes make a blob.
pub const MAX_BLOB: usize = 128 * 1024;

/// The BLAKE3 hash of a blob's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId(pub [u8; 32]);

impl BlobId {
    /// The hash of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", base16ct::HexDisplay(&self.0))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Keeps blobs, which are sealed before they come here: who keeps them reads nothing.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Keeps a blob of at most [`MAX_BLOB`] bytes. One that is kept already is no error.
    ///
    /// # Errors
    /// [`Error::BlobTooLarge`](crate::Error::BlobTooLarge), or the store does not answer.
    async fn put(&self, bytes: Bytes) -> Result<BlobId>;

    /// The blob with this hash, which the caller need not compute again; `None` if it is not, or no longer, kept.
    ///
    /// # Errors
    /// [`Error::BlobMismatch`](crate::Error::BlobMismatch), or the store does not answer.
    async fn get(&self, id: &BlobId) -> Result<Option<Bytes>>;

    /// Each of these as [`get`](Self::get) has it, in their order: a client asks for as many in one call as fit into its answer. All are
    /// held at once, of up to [`MAX_BLOB`] bytes each.
    ///
    /// # Errors
    /// Those of [`get`](Self::get), of any of them.
    async fn get_many(&self, ids: &[BlobId]) -> Result<Vec<Option<Bytes>>> {
        side_by_side(ids.iter().map(|id| self.get(id))).try_collect().await
    }

    /// Which of these are kept, in their order: who has a tree in chunks sends or fetches only the others.
    ///
    /// # Errors
    /// The store does not answer.
    async fn has(&self, ids: &[BlobId]) -> Result<Vec<bool>>;
}
