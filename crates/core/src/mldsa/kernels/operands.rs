//! Polynomials laid out as the kernels for products with challenges read them.

use zeroize::Zeroize;

use super::{GROUP, challenge_product, number_at};
use crate::mldsa::ring::{N, Poly};
use crate::small::Zero;

/// A polynomial of s1 or s2 made ready for products with challenges: s, -s and s again, a byte a coefficient, so that
/// X^j·s mod X^256 + 1 is the 256 bytes from place 512 - j on, for j up to 511.
#[derive(Clone)]
#[repr(C, align(64))]
#[cfg_attr(not(feature = "alloc"), allow(dead_code))] // Only a key that remembers them has products to save.
pub struct Short(pub(crate) [i8; 3 * N]);

#[cfg_attr(not(feature = "alloc"), allow(dead_code))]
impl Short {
    pub(crate) const ZERO: Self = Self([0; 3 * N]);

    /// Takes `s`, whose coefficients are in -4..=4.
    pub(crate) fn set(&mut self, s: &Poly) {
        debug_assert!(s.0.iter().all(|c| c.abs() <= 4));
        let (first, rest) = self.0.split_at_mut(N);
        let (second, third) = rest.split_at_mut(N);
        for (((first, second), third), c) in first.iter_mut().zip(second).zip(third).zip(&s.0) {
            (*first, *second, *third) = (*c as i8, -*c as i8, *c as i8);
        }
    }
}

impl Zeroize for Short {
    fn zeroize(&mut self) {
        crate::secret::wipe(&mut self.0);
    }
}

/// A factor of a challenge, |coefficient| < 2^15: the last group negated, then all of them, so that a group of the
/// product is a sum of consecutive eights.
pub(crate) struct Multiplicand([i16; GROUP + N]);

// SAFETY: an array of integers.
#[allow(unsafe_code)]
unsafe impl Zero for Multiplicand {
    const ZERO: Self = Self([0; GROUP + N]);
}

impl Multiplicand {
    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, value: i32) {
        if let Some(to) = self.0.get_mut(GROUP + place) {
            *to = value as i16;
        }
        if let Some(to) = self.0.get_mut(place.wrapping_sub(N - GROUP)) {
            *to = -value as i16;
        }
    }

    #[inline(always)]
    pub(crate) fn set_group(&mut self, group: usize, values: &[i32; GROUP]) {
        for (i, value) in values.iter().enumerate() {
            self.set(GROUP * group + i, *value);
        }
    }

    /// From numbers of as many bits as there are bytes in a group: `high` - x.
    #[inline(never)]
    pub(crate) fn read(&mut self, packed: &[u8], high: i32) {
        let (negated, values) = self.0.split_at_mut(GROUP);
        for (place, value) in values.iter_mut().enumerate() {
            *value = (high - number_at(packed, packed.len() >> 5, place) as i32) as i16;
        }
        for (negated, value) in negated.iter_mut().zip(&values[N - GROUP..]) {
            *negated = -value;
        }
    }

    /// A group of the product with the challenge that has its 1 at the first places, `plus` of them, and its -1 at the others.
    ///
    /// The time and the addresses depend on the places.
    #[inline(always)]
    pub(crate) fn product(&self, places: &[u8], plus: usize, group: usize, product: &mut [i32; GROUP]) {
        challenge_product(&self.0, places, plus, group, product);
    }
}
