//! Products with the challenge.

use crate::mldsa::kernels::{GROUP, Multiplicand};
use crate::mldsa::params::sealed::Parameters;
use crate::mldsa::ring::N;
use crate::mldsa::sample::absorbed;
use crate::sha3::{Shake256, Sponge};
use crate::small::Zero;

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
    /// A group of the product.
    ///
    /// The time and the addresses depend on the places.
    #[inline(always)]
    pub(crate) fn times(&self, factor: &Multiplicand, group: usize, product: &mut [i32; GROUP]) {
        let places = self.places.get(..self.count.into()).unwrap_or_default();
        factor.product(places, self.plus.into(), group, product);
    }

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
