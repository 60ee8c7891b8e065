//! aarch64 with the SHA3 extension: two states side by side; one alone stays in general registers.
//!
//! A round of two states is 66 instructions with the extension, 160 of plain Advanced SIMD, 250 scalar ones. The last
//! two should be near each other in time, for cores without the extension have about three pipes for scalar instructions
//! to two for vectors; so there is no table for them. That is counted, not measured.

#![allow(unsafe_code)] // Intrinsics inside a trait whose methods cannot name their features.

use core::arch::aarch64::*;

use super::{Holder, Kernels};
use crate::cpu::Level;
use crate::sha3::keccak::{self, Lane};

cpufeatures::new!(extension, "sha3");

pub(super) static NEON: Kernels = Kernels {
    level: Level::Neon,
    permute_many: |states| {
        // SAFETY: `table` hands this out only after the CPU reported the extension.
        unsafe { permute_many(states) }
    },
    permute_aligned: |states| {
        // SAFETY: as above.
        unsafe { permute_many(states) }
    },
    chain: None,
};

/// The table, where the CPU has the extension.
pub(super) fn table() -> Option<&'static Kernels> {
    extension::get().then_some(&NEON)
}

#[target_feature(enable = "neon,sha3")]
fn permute_many<H: Holder>(states: &mut [H]) {
    let (twos, rest) = states.as_chunks_mut::<2>();
    for two in twos {
        permute_two(two);
    }
    for one in rest {
        keccak::permute(&mut one.state().0);
    }
}

#[target_feature(enable = "neon,sha3")]
fn permute_two<H: Holder>([a, b]: &mut [H; 2]) {
    let (a, b) = (a.state(), b.state());
    let mut lanes: [Two; 25] =
        core::array::from_fn(|i| Two(vcombine_u64(vcreate_u64(a.0[i]), vcreate_u64(b.0[i]))));
    keccak::permute(&mut lanes);
    for ((lane, a), b) in lanes.iter().zip(&mut a.0).zip(&mut b.0) {
        (*a, *b) = (vgetq_lane_u64::<0>(lane.0), vgetq_lane_u64::<1>(lane.0));
    }
}

/// The same word of two states.
#[derive(Clone, Copy)]
struct Two(uint64x2_t);

/// Functions with the target features, which methods of a trait cannot name.
impl Two {
    #[inline]
    #[target_feature(enable = "neon,sha3")]
    fn eor(self, other: Self) -> Self {
        Self(veorq_u64(self.0, other.0))
    }

    #[inline]
    #[target_feature(enable = "neon,sha3")]
    fn bic(self, mask: Self) -> Self {
        Self(vbicq_u64(self.0, mask.0))
    }

    #[inline]
    #[target_feature(enable = "neon,sha3")]
    fn dup(word: u64) -> Self {
        Self(vdupq_n_u64(word))
    }

    #[inline]
    #[target_feature(enable = "neon,sha3")]
    fn eor3(self, b: Self, c: Self) -> Self {
        Self(veor3q_u64(self.0, b.0, c.0))
    }

    #[inline]
    #[target_feature(enable = "neon,sha3")]
    fn rax1(self, other: Self) -> Self {
        Self(vrax1q_u64(self.0, other.0))
    }

    /// `self ⊕ (b ∧ ¬c)`.
    #[inline]
    #[target_feature(enable = "neon,sha3")]
    fn bcax(self, b: Self, c: Self) -> Self {
        Self(vbcaxq_u64(self.0, b.0, c.0))
    }

    #[inline]
    #[target_feature(enable = "neon,sha3")]
    fn xar<const LEFT: u32>(self, other: Self) -> Self {
        // The instruction rotates to the right by a literal, and none can be computed from `LEFT`: all those of ρ.
        macro_rules! rotate_by_one_of {
            ($($n:literal)*) => {
                match LEFT {
                    $($n => Self(vxarq_u64::<{ 64 - $n }>(self.0, other.0)),)*
                    _ => unreachable!("no offset of ρ"),
                }
            };
        }
        rotate_by_one_of!(1 2 3 6 8 10 14 15 18 20 21 25 27 28 36 39 41 43 44 45 55 56 61 62)
    }
}

// SAFETY, for each block: a `Two` is made only in functions that the extension was enabled for, and these methods are
// inlined into them.
impl Lane for Two {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { self.eor(other) }
    }

    #[inline(always)]
    fn and_not(self, mask: Self) -> Self {
        // SAFETY: see above.
        unsafe { self.bic(mask) }
    }

    #[inline(always)]
    fn rotate_left<const N: u32>(self) -> Self {
        self.add_rotate::<N>(Self::broadcast(0))
    }

    #[inline(always)]
    fn broadcast(word: u64) -> Self {
        // SAFETY: see above.
        unsafe { Self::dup(word) }
    }

    #[inline(always)]
    fn parity([a, b, c, d, e]: [Self; 5]) -> Self {
        // SAFETY: see above.
        unsafe { a.eor3(b, c).eor3(d, e) }
    }

    type Theta = Self;

    #[inline(always)]
    fn theta(before: Self, after: Self) -> Self {
        // SAFETY: see above.
        unsafe { before.rax1(after) }
    }

    #[inline(always)]
    fn add(self, theta: Self) -> Self {
        self.xor(theta)
    }

    #[inline(always)]
    fn add_rotate<const N: u32>(self, theta: Self) -> Self {
        // SAFETY: see above.
        unsafe { self.xar::<N>(theta) }
    }

    #[inline(always)]
    fn chi<const Y: usize>([a, e, i, o, u]: [Self; 5]) -> [Self; 5] {
        // SAFETY: see above.
        unsafe { [a.bcax(i, e), e.bcax(o, i), i.bcax(u, o), o.bcax(a, u), u.bcax(e, a)] }
    }
}
