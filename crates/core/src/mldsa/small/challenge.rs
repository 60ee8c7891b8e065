//! Products with the challenge.

use crate::mldsa::kernels::{GROUP, challenge_product, number_at};
use crate::mldsa::params::sealed::Parameters;
use crate::mldsa::ring::N;
use crate::mldsa::sample::absorbed;
use crate::sha3::{Shake256, Sponge};
use crate::small::Zero;

/// What a challenge is multiplied with, |coefficient| < 2^15: the last group negated, then all of them, so that a group of the
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

    /// A group of the product with the challenge.
    ///
    /// The time and the addresses depend on its places.
    #[inline(always)]
    pub(crate) fn product(&self, c: &Challenge, group: usize, product: &mut [i32; GROUP]) {
        let places = c.places.get(..c.count.into()).unwrap_or_default();
        challenge_product(&self.0, places, c.plus.into(), group, product);
    }
}

/// c: the places of 1, `plus` of them, and those of -1, up to `count`.
pub(crate) struct Challenge {
    places: [u8; 64],
    plus: u8,
    count: u8,
}

// SAFETY: bytes.
#[allow(unsafe_code)]
unsafe impl Zero for Challenge {
    const ZERO: Self = Self { places: [0; 64], plus: 0, count: 0 };
}

impl Challenge {
    /// FIPS 204, Algorithm 29 (SampleInBall), except that who stands at a place is looked for.
    ///
    /// Variable time: c̃ is public, or will be if the attempt succeeds.
    #[inline(never)]
    pub(crate) fn fill_vartime<P: Parameters>(&mut self, sponge: &mut Sponge, c_tilde: &[u8]) {
        absorbed(sponge, Shake256::RATE, c_tilde, &[]);
        let mut signs = [0; 8];
        sponge.squeeze(&mut signs);
        let mut signs = u64::from_le_bytes(signs);
        // 1 from the front, -1 from the back.
        let (mut front, mut back) = (0, P::TAU);
        let (mut bytes, mut taken) = ([0; 8], 8);
        for i in N - P::TAU..N {
            let j = loop {
                if taken == 8 {
                    sponge.squeeze(&mut bytes);
                    taken = 0;
                }
                let j = bytes[taken & 7];
                taken += 1;
                if usize::from(j) <= i {
                    break j;
                }
            };
            let goes_to_i = |places: Option<&mut [u8]>| {
                for place in places.unwrap_or_default() {
                    if *place == j {
                        *place = i as u8;
                    }
                }
            };
            goes_to_i(self.places.get_mut(..front));
            goes_to_i(self.places.get_mut(back..P::TAU));
            let n = if signs & 1 == 0 { front } else { back - 1 };
            self.places[n & 63] = j;
            (front, back) = if signs & 1 == 0 { (front + 1, back) } else { (front, back - 1) };
            signs >>= 1;
        }
        (self.plus, self.count) = (front as u8, P::TAU as u8);
    }
}
