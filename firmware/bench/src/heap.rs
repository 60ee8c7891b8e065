//! The heap of the operations that need one, and the most that was taken of it.
#![allow(unsafe_code)] // An allocator is unsafe to write, and its memory is a place of the memory map.

// What serves the allocator where nothing else interrupts.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use embedded_alloc::LlffHeap;

unsafe extern "C" {
    static mut _arena_start: u8;
    static mut _arena_end: u8;
}

/// Bytes as they were asked for, without what the allocator adds.
struct Counted {
    heap: LlffHeap,
    taken: AtomicUsize,
    most: AtomicUsize,
}

#[global_allocator]
static HEAP: Counted =
    Counted { heap: LlffHeap::empty(), taken: AtomicUsize::new(0), most: AtomicUsize::new(0) };

/// Hands the allocator its memory. Once, before anything is allocated.
pub fn start() {
    let (first, end) = (&raw mut _arena_start as usize, &raw mut _arena_end as usize);
    // SAFETY: the memory map gives these addresses to nobody else.
    unsafe { HEAP.heap.init(first, end - first) }
}

/// From here on the most is what is taken now.
pub fn restart() {
    HEAP.most.store(HEAP.taken.load(Relaxed), Relaxed);
}

/// The most bytes taken at once since then.
pub fn most() -> usize {
    HEAP.most.load(Relaxed)
}

// SAFETY: all is the inner allocator's, which keeps to the contract.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Nothing interrupts between a load and its store.
        let taken = self.taken.load(Relaxed) + layout.size();
        self.taken.store(taken, Relaxed);
        self.most.store(self.most.load(Relaxed).max(taken), Relaxed);
        // SAFETY: as our caller promised.
        unsafe { self.heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        self.taken.store(self.taken.load(Relaxed) - layout.size(), Relaxed);
        // SAFETY: as our caller promised.
        unsafe { self.heap.dealloc(place, layout) }
    }
}
