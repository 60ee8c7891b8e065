//! The schedule of a set, and the depth of stack that its doors scrub.

use super::kernels::active;
use super::params::ParameterSet;
use crate::cpu::Level;
use crate::secret::StackGuard;
use crate::sha3::INTERLEAVED;

/// True for sets that go by the schedule of `small`: on processors of 32 bits, whose states stand alone and interleaved, it is the
/// fastest, too. The plain sets remember ŷ there.
pub(super) const fn small<P: ParameterSet>() -> bool {
    P::SMALL || INTERLEAVED
}

/// The depth of the operations with each K, and some to spare (`cargo xtask stack`, `firmware bench`): on processors of 64 bits; on
/// Armv7E-M, and the depth that a build for size adds, whose functions have more frames; and on others of 32 bits.
const fn depths(wide: [usize; 3], armv7em: [usize; 3], size: usize, narrow: [usize; 3]) -> [usize; 3] {
    if cfg!(target_pointer_width = "64") {
        wide
    } else if cfg!(gambeson_dsp) {
        let [a, b, c] = armv7em;
        // Where Rust is compiled for size around the assembly of speed, frames are larger.
        let more = if cfg!(gambeson_fast) {
            128
        } else if cfg!(gambeson_size) {
            size
        } else {
            0
        };
        [a + more, b + more, c + more]
    } else {
        narrow
    }
}
pub(super) const KEY_GEN: [usize; 3] = depths([1872; 3], [1072; 3], 0, [1336; 3]);
pub(super) const HASH: [usize; 3] = depths([2240; 3], [1840; 3], 0, [2096; 3]);
pub(super) const ENCAPS: [usize; 3] = depths([2128, 2208, 2176], [1632, 1712, 1648], 32, [1904, 1968, 1888]);
pub(super) const DECAPS: [usize; 3] = depths([2640; 3], [2200; 3], 16, [2424; 3]);
pub(super) const DECAPS_ENCODED: [usize; 3] =
    depths([2368, 2464, 2560], [1824, 1928, 2032], 0, [2064, 2160, 2256]);

/// The depth of every operation and K in a workspace.
pub(super) const IN_WORKSPACE: usize = depths([1024; 3], [400; 3], 0, [592; 3])[0];

/// The work behind a door, and what it used of the stack at most (`cargo xtask stack`) overwritten: `N512`, `N768` or `N1024` bytes in
/// that of `small`; otherwise the tables for vectors go deeper than the portable one. Inlined: the work's results
/// must not pass through a frame above the guard.
#[inline(always)]
pub(super) fn scrubbed<P: ParameterSet, const N512: usize, const N768: usize, const N1024: usize, T>(
    work: impl FnOnce() -> T,
) -> T {
    match (small::<P>(), P::K) {
        (true, 2) => guarded::<N512, T>(work),
        (true, 3) => guarded::<N768, T>(work),
        (true, _) => guarded::<N1024, T>(work),
        (false, k) if active().level == Level::Portable => match k {
            2 => guarded::<5504, T>(work),
            3 => guarded::<6000, T>(work),
            _ => guarded::<6512, T>(work),
        },
        _ => guarded::<{ 9 * 1024 }, T>(work),
    }
}

#[inline(always)]
fn guarded<const N: usize, T>(work: impl FnOnce() -> T) -> T {
    let _guard = StackGuard::<N>;
    work()
}
