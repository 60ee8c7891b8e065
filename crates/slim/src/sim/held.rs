//! How much memory this process holds.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "asks the allocator for what it keeps of what is free")
)]

use std::fs;

/// The memory of this process that is resident, in bytes; 0 where that cannot be read.
pub(super) fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1_024
}

/// Gives back what is free, where the allocator keeps it otherwise: between trees of megabytes that come and go, it would keep by chance
/// more or less, and hide what is really held.
pub(super) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: touches nothing that is in use, on any thread (malloc_trim(3)).
    unsafe {
        libc::malloc_trim(0);
    }
}
