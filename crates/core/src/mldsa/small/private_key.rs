//! The parts of a private key that signing reads.

use super::key_gen::add_row_of_t;
use super::sampling::each_bounded;
use crate::mldsa::kernels::{Multiplicand, number_at, power2round_one};
use crate::mldsa::params::{T0_BYTES, sealed::Parameters};
use crate::mldsa::ring::{D, Poly};
use crate::mldsa::seeds::Seeds;
use crate::sha3::Sponge;
use crate::small::Memory;

/// A private key as signing reads it.
pub(crate) trait PrivateKey {
    fn rho(&self) -> &[u8; 32];

    /// The polynomial of s1 and s2, one after the other.
    fn s(&self, sponge: &mut Sponge, place: usize, out: &mut Multiplicand);

    /// Does `work` on t0\[row\].
    fn t0(&self, sponge: &mut Sponge, row: usize, memory: impl Memory, work: &mut dyn FnMut(&Multiplicand));
}

impl<P: Parameters> PrivateKey for Seeds<P> {
    fn rho(&self) -> &[u8; 32] {
        &self.rho
    }

    #[inline(never)]
    fn s(&self, sponge: &mut Sponge, place: usize, out: &mut Multiplicand) {
        each_bounded(sponge, self.rho_prime.expose(), place, P::ETA, &mut |group, s| out.set_group(group, s));
    }

    #[inline(never)]
    fn t0(&self, sponge: &mut Sponge, row: usize, memory: impl Memory, work: &mut dyn FnMut(&Multiplicand)) {
        #[inline(never)]
        fn multiplied(t: &Poly, memory: impl Memory, work: &mut dyn FnMut(&Multiplicand)) {
            memory.lend(|t0: &mut Multiplicand, _| {
                for (place, t) in t.0.iter().enumerate() {
                    t0.set(place, power2round_one(*t).1);
                }
                work(t0);
            });
        }
        memory.lend(|(t, s): &mut (Poly, [u8; 128]), mut memory| {
            add_row_of_t(sponge, self, row, 0, s, t, memory.part());
            multiplied(t, memory, work);
        });
    }
}

/// A private key in the standard's encoding: ρ, s1 and s2, t0.
pub(crate) struct EncodedParts<'a> {
    pub(crate) rho: &'a [u8; 32],
    pub(crate) s: &'a [u8],
    pub(crate) t0: &'a [u8],
    pub(crate) eta: i32,
}

impl PrivateKey for EncodedParts<'_> {
    fn rho(&self) -> &[u8; 32] {
        self.rho
    }

    fn s(&self, _: &mut Sponge, place: usize, out: &mut Multiplicand) {
        let bytes = if self.eta == 2 { 96 } else { 128 };
        // Not by `chunks_exact`, which divides by a width that is known only here.
        if let Some(packed) = self.s.get(bytes * place..).and_then(|rest| rest.get(..bytes)) {
            out.read(packed, self.eta);
        }
    }

    #[inline(never)]
    fn t0(&self, _: &mut Sponge, row: usize, memory: impl Memory, work: &mut dyn FnMut(&Multiplicand)) {
        memory.lend(|t0: &mut Multiplicand, _| {
            if let Some(packed) = self.t0.as_chunks::<T0_BYTES>().0.get(row) {
                t0.read(packed, 1 << (D - 1));
            }
            work(t0);
        });
    }
}

/// 0 if the polynomials of s1 and s2, packed, have all coefficients in -η..=η, else 1.
#[inline(never)]
pub(crate) fn s_outside(packed: &[u8], eta: i32) -> u32 {
    let width = if eta == 2 { 3 } else { 4 };
    let places = (0..).take_while(|place| (width * place) >> 3 < packed.len());
    let numbers = places.map(|place| number_at(packed, width, place));
    numbers.fold(0, |outside, x| outside | (2 * eta - x as i32)) as u32 >> 31
}
