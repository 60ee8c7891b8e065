//! The heap, which forgets what is freed.

#![allow(unsafe_code)] // A global allocator is an unsafe trait.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, except that a block is overwritten with zeros before it is given back.
///
/// JavaScript hands seeds and secrets over by a copy in WebAssembly's memory, which the glue frees without wiping; so
/// the allocator does it for everything.
struct Wiping;

#[global_allocator]
static WIPING: Wiping = Wiping;

// SAFETY: each call is handed to `System` with the caller's own promises; a block is written to within its layout, and
// only while it is still the caller's. `realloc` and `alloc_zeroed` are the trait's own, made of these two.
unsafe impl GlobalAlloc for Wiping {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block has `layout.size()` bytes, and nobody reads it any more.
        unsafe { block.write_bytes(0, layout.size()) };
        // The stores are to memory that is about to be freed: without this they could be dropped.
        std::hint::black_box(block);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}
