//! w and what becomes of it, in three bytes a coefficient.

use crate::mldsa::ring::N;

/// k polynomials of 24 bits a coefficient, in two pieces.
pub(crate) struct Sums<'a>(&'a mut [[u8; 3]], &'a mut [[u8; 3]]);

impl<'a> Sums<'a> {
    /// In the bytes of z, and what of them does not fit.
    pub(crate) fn new(z: &'a mut [u8], spill: &'a mut [[u8; 3]]) -> Self {
        Self(z.as_chunks_mut().0, spill)
    }

    #[inline(always)]
    pub(crate) fn at(&mut self, row: usize, n: usize) -> Option<&mut [u8; 3]> {
        let at = N * row + n;
        let here = self.0.len();
        if at < here { self.0.get_mut(at) } else { self.1.get_mut(at - here) }
    }

    /// Does `work` on each number of a row.
    #[cfg_attr(not(gambeson_size), inline(always))]
    #[cfg_attr(gambeson_size, inline(never))]
    pub(crate) fn update(&mut self, row: usize, work: &mut dyn FnMut(usize, u32) -> u32) {
        for n in 0..N {
            if let Some(place) = self.at(row, n) {
                *place = bytes(work(n, number(place)));
            }
        }
    }
}

#[inline(always)]
pub(crate) fn number(&[a, b, c]: &[u8; 3]) -> u32 {
    u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16
}

#[inline(always)]
pub(crate) fn bytes(number: u32) -> [u8; 3] {
    debug_assert!(number < 1 << 24);
    let [a, b, c, _] = number.to_le_bytes();
    [a, b, c]
}

/// The word of a coefficient of w once w1 is hashed: its low bits less products, plus this, so that no borrow reaches bit 23;
/// which says whether its high bits are not 0.
pub(crate) const BIAS: u32 = 1 << 20;

/// The low bits, signed, of what stands for a coefficient.
#[inline(always)]
pub(crate) fn low_bits(w: u32) -> i32 {
    (w & ((1 << 23) - 1)) as i32 - BIAS as i32
}
