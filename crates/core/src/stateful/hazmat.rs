//! A count in memory, for tests against published vectors. A restart forgets it, and the key is given away by the next signature.

use core::convert::Infallible;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::{Reserve, StoreId};

/// A store that forgets its reservations when it is dropped.
#[derive(Debug)]
pub struct MemoryStore {
    id: StoreId,
    next: u64,
}

impl MemoryStore {
    /// A store whose first reservation begins with this index.
    #[must_use]
    pub fn new(next: u64) -> Self {
        static STORES: AtomicUsize = AtomicUsize::new(0);
        let mut id = [0; 16];
        let number = STORES.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        id[..number.len()].copy_from_slice(&number);
        Self { id: StoreId(id), next }
    }
}

impl Reserve for MemoryStore {
    type Error = Infallible;

    fn id(&self) -> StoreId {
        self.id
    }

    fn reserve(&mut self, count: u64) -> Result<Range<u64>, Infallible> {
        let end = self.next.saturating_add(count);
        let range = self.next..end;
        self.next = end;
        Ok(range)
    }
}
