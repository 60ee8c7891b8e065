//! Whole polynomials in the schedule of prepared keys (`mlkem::serial`).

use core::arch::naked_asm;

use super::ZETAS;
use crate::mlkem::ring::{Coefficients, Ntt, Q};

/// ζ^(2·BitRev7(2i) + 1) times 2^32, mod± q; of the next pair it is the negative.
static ZETAS_OF_ROW: [i16; 64] = {
    let mut zetas = [0; 64];
    let mut i = 0;
    while i < 64 {
        #[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
        let zeta = (((ZETAS[64 + i].value as i64) << 16) % Q as i64) as i16;
        zetas[i] = zeta;
        i += 1;
    }
    zetas
};

/// The sum of the products of every `stride`-th element of `a` and the elements of `x`, two to four, times 2^-32, for `inverse_of_row`:
/// |coefficient| ≤ q of the former, ≤ 9q/2 of the latter, ≤ q/2 + 1 on return.
#[inline(always)]
pub(in crate::mlkem) fn row(sum: &mut Ntt, a: &[Ntt], stride: usize, x: &[Ntt]) {
    // Sums of 36q², and a quarter of q², are reduced, which is exact up to 64q².
    const { assert!(37 * (Q as i64) * (Q as i64) < 1 << 31) };
    debug_assert!(stride * (x.len() - 1) < a.len());
    let reduce = match x.len() {
        2 => row_of_2,
        3 => row_of_3,
        4 => row_of_4,
        _ => unreachable!("no set has such rows"),
    };
    // SAFETY: as many polynomials as the function reads, so far apart.
    unsafe { reduce(&mut sum.0.0, a.as_ptr(), x.as_ptr(), &ZETAS_OF_ROW, stride * size_of::<Ntt>()) }
}

macro_rules! rows {
    ($($name:ident, $terms:literal;)*) => {$(
        #[unsafe(naked)]
        unsafe extern "C" fn $name(
            sum: *mut Coefficients,
            a: *const Ntt,
            x: *const Ntt,
            zetas: *const [i16; 64],
            stride: usize,
        ) {
            naked_asm!(concat!(".set terms, ", $terms), include_str!("../armv7em_row.s"), options(raw));
        }
    )*};
}

rows! {
    row_of_2, 2;
    row_of_3, 3;
    row_of_4, 4;
}

macro_rules! noise {
    ($($name:ident = $assembly:ident, $lanes:literal, $adding:literal, $file:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub(in crate::mlkem) fn $name(f: &mut Coefficients, lanes: &[u64; $lanes]) {
            // SAFETY: 256 coefficients, and so many lanes.
            unsafe { $assembly(f, lanes) }
        }

        #[unsafe(naked)]
        unsafe extern "C" fn $assembly(f: *mut Coefficients, lanes: *const [u64; $lanes]) {
            naked_asm!(concat!(".set adding, ", $adding), include_str!($file), options(raw));
        }
    )*};
}

noise! {
    noise2_of = noise2, 16, 0, "../armv7em_noise2.s", "The noise of these lanes of a sponge for η = 2.";
    add_noise2_of = add_noise2, 16, 1, "../armv7em_noise2.s", "Adds it.";
    noise3_of = noise3, 24, 0, "../armv7em_noise3.s", "The noise of these lanes for η = 3.";
}
