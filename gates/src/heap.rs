//! An allocator that counts what is asked of it and, when told to, keeps a copy of every block as it is freed.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// To be named as `#[global_allocator]`.
pub struct Watched;

thread_local! {
    /// Whether allocations of this thread are counted.
    static COUNTING: Cell<bool> = const { Cell::new(false) };
}

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);
static NUMBER: AtomicUsize = AtomicUsize::new(0);
static KEPT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static KEPT_LENGTH: AtomicUsize = AtomicUsize::new(0);
static KEPT_CAPACITY: AtomicUsize = AtomicUsize::new(0);

/// What a piece of work asked of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Bytes alive at the worst moment, beyond those alive before.
    pub peak: usize,
    /// Bytes of all allocations.
    pub total: usize,
    /// Number of allocations.
    pub allocations: usize,
    /// Bytes that are alive when the work is done, beyond those alive before.
    pub kept: usize,
}

/// Counts the allocations of `work` on this thread.
pub fn count<R>(work: impl FnOnce() -> R) -> (Use, R) {
    for counter in [&LIVE, &PEAK, &TOTAL, &NUMBER] {
        counter.store(0, Relaxed);
    }
    COUNTING.set(true);
    let result = work();
    COUNTING.set(false);
    let [kept, peak, total, allocations] =
        [&LIVE, &PEAK, &TOTAL, &NUMBER].map(|counter| counter.load(Relaxed));
    (Use { peak, total, allocations, kept: kept.cast_signed().max(0).cast_unsigned() }, result)
}

/// Runs `work` and returns the contents of every block that this thread freed meanwhile, each at a multiple of 16.
pub fn freed(work: impl FnOnce()) -> Vec<u8> {
    let mut kept = vec![0_u8; 64 << 20];
    KEPT_LENGTH.store(0, Relaxed);
    KEPT_CAPACITY.store(kept.len(), Relaxed);
    KEPT.store(kept.as_mut_ptr(), Relaxed);
    COUNTING.set(true);
    work();
    COUNTING.set(false);
    KEPT.store(ptr::null_mut(), Relaxed);
    let length = KEPT_LENGTH.load(Relaxed);
    assert!(length < kept.len(), "the copy of the freed heap is full");
    kept.truncate(length);
    kept
}

/// Counts an allocation, if this thread's are.
fn counted(size: usize) {
    if COUNTING.get() {
        let live = LIVE.fetch_add(size, Relaxed).wrapping_add(size);
        if live < isize::MAX as usize {
            PEAK.fetch_max(live, Relaxed);
        }
        TOTAL.fetch_add(size, Relaxed);
        NUMBER.fetch_add(1, Relaxed);
    }
}

// SAFETY: the system's allocator does the work; a block is only read, while it is still allocated.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        counted(layout.size());
        // SAFETY: the caller's promise about the layout is passed on.
        unsafe { System.alloc(layout) }
    }

    // Its pages are zero without being touched, of which the record of freed blocks has many.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        counted(layout.size());
        // SAFETY: the caller's promise about the layout is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if COUNTING.get() {
            LIVE.fetch_sub(layout.size(), Relaxed);
            // SAFETY: the block has this size and is freed only below.
            unsafe { keep(block, layout.size()) };
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Copies a block into the record, if one is kept.
///
/// # Safety
///
/// `block` is `size` readable bytes.
unsafe fn keep(block: *const u8, size: usize) {
    let record = KEPT.load(Relaxed);
    let rounded = size.next_multiple_of(16);
    if record.is_null() {
        return;
    }
    let at = KEPT_LENGTH.fetch_add(rounded, Relaxed);
    if at + rounded <= KEPT_CAPACITY.load(Relaxed) {
        // SAFETY: the record has room from `at` on, and is not the block.
        unsafe { ptr::copy_nonoverlapping(block, record.add(at), size) };
    }
}
