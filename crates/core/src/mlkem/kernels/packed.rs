//! Polynomials in twelve or three bits a coefficient, and sums that stand so, over the loops of the processor.

use super::loops;
use super::portable::COMPRESS_FACTOR;
use crate::mlkem::poly::{Ntt, Poly, Q};

/// The residue of x in \[0, q), for |x| ≤ 3q.
#[inline(always)]
pub(in crate::mlkem) fn residue(x: i16) -> u16 {
    let x = (x + 3 * Q) as u16;
    // ⌊x/q⌋, exact for sixteen bits: a test shows it for each.
    let quotient = (u64::from(x) * u64::from(COMPRESS_FACTOR)) >> 32;
    x - quotient as u16 * Q as u16
}

/// Two coefficients of twelve bits.
#[inline(always)]
pub(in crate::mlkem) fn decoded(&[a, b, c]: &[u8; 3]) -> [i16; 2] {
    [i16::from(a) | (i16::from(b) & 15) << 8, i16::from(b) >> 4 | i16::from(c) << 4]
}

/// The bytes of such.
#[inline(always)]
pub(in crate::mlkem) fn packed([a, b]: [i16; 2]) -> [u8; 3] {
    [a as u8, (a >> 8 | b << 4) as u8, (b >> 4) as u8]
}

/// A place for sums of products.
pub(in crate::mlkem) trait Sum {
    /// Adds the products of these pairs of coefficients, from `first` on, with those of `x`, times 2^-16. |a| ≤ 2q, |x| ≤ q.
    fn add_products(&mut self, first: usize, a: &[[i16; 2]], x: &Ntt);
}

impl Sum for Ntt {
    #[inline(always)]
    fn add_products(&mut self, first: usize, a: &[[i16; 2]], x: &Ntt) {
        let (x, zetas) = pairs_of(x, first);
        loops::add_products(self.0.0.as_chunks_mut().0.get_mut(first..).unwrap_or_default(), a, x, zetas);
    }
}

/// A polynomial of twelve bits a coefficient, in two pieces, each of whole pairs.
pub(in crate::mlkem) struct Packed<'a>(&'a mut [[u8; 3]], &'a mut [[u8; 3]]);

impl<'a> Packed<'a> {
    /// The row of `bytes`, and what of it does not fit in them.
    #[inline(always)]
    pub(in crate::mlkem) fn row(bytes: &'a mut [u8], spill: &'a mut [u8], row: usize) -> Self {
        let first = &mut bytes[384 * row..];
        let here = first.len().min(384);
        let (first, spill) = (first[..here].as_chunks_mut().0, spill.as_chunks_mut().0);
        let rest = 128 - first.len();
        Self(first, &mut spill[..rest])
    }

    /// All pairs.
    #[inline(always)]
    fn pairs(&mut self) -> impl Iterator<Item = &mut [u8; 3]> {
        self.0.iter_mut().chain(&mut *self.1)
    }
}

impl Sum for Packed<'_> {
    #[inline(always)]
    fn add_products(&mut self, first: usize, a: &[[i16; 2]], x: &Ntt) {
        let here = self.0.len().saturating_sub(first).min(a.len());
        let spill = (first + here).saturating_sub(self.0.len());
        let (a, rest) = a.split_at(here);
        add_products_packed(self.0, first, a, x, first);
        add_products_packed(self.1, spill, rest, x, first + here);
    }
}

#[cfg_attr(not(gambeson_size), inline(always))]
#[cfg_attr(gambeson_size, inline(never))]
fn add_products_packed(sums: &mut [[u8; 3]], place: usize, a: &[[i16; 2]], x: &Ntt, first: usize) {
    let (x, zetas) = pairs_of(x, first);
    loops::add_products_packed(sums.get_mut(place..).unwrap_or_default(), a, x, zetas);
}

/// The pairs of `x` from `first` on, and the ζ of each.
#[inline(always)]
fn pairs_of(x: &Ntt, first: usize) -> (&[[i16; 2]], &[i16]) {
    let (x, zetas) = (x.0.0.as_chunks().0, loops::pair_zetas());
    (x.get(first..).unwrap_or_default(), zetas.get(first..).unwrap_or_default())
}

/// Adds `encoded` ∘ `x` · 2^-16; |x| ≤ q.
#[inline(never)]
pub(in crate::mlkem) fn add_encoded(sum: &mut Ntt, encoded: &[u8], x: &Ntt) {
    let (x, zetas) = pairs_of(x, 0);
    loops::add_products_encoded(sum.0.0.as_chunks_mut().0, encoded.as_chunks().0, x, zetas);
}

/// Adds `x`, |x| ≤ q, to a row of twelve bits a coefficient.
#[inline(never)]
pub(in crate::mlkem) fn add_packed(sum: &mut [u8], x: &Ntt) {
    for (bytes, x) in sum.as_chunks_mut().0.iter_mut().zip(x.0.0.as_chunks::<2>().0) {
        *bytes = packed(loops::residues_of_sum(decoded(bytes), *x));
    }
}

/// The integers of such a row.
#[inline(never)]
pub(in crate::mlkem) fn unpack(mut packed: Packed<'_>, x: &mut Ntt) {
    for (x, bytes) in x.0.0.as_chunks_mut().0.iter_mut().zip(packed.pairs()) {
        *x = decoded(bytes);
    }
}

/// Noise, |x| ≤ 3, in three bits a coefficient.
pub(in crate::mlkem) type SmallPoly = [u8; 96];

/// Packs such noise.
#[inline(never)]
pub(in crate::mlkem) fn pack_noise(f: &Poly, packed: &mut SmallPoly) {
    for (bytes, eight) in packed.as_chunks_mut::<3>().0.iter_mut().zip(f.0.as_chunks::<8>().0) {
        let word = eight.iter().rev().fold(0, |word, x| word << 3 | (x + 3) as u32);
        bytes.copy_from_slice(&word.to_le_bytes()[..3]);
    }
}

/// The transform of such noise, which only multiplies.
#[inline(never)]
pub(in crate::mlkem) fn unpack_noise_hat(packed: &SmallPoly, f: &mut Ntt) {
    for (&[a, b, c], eight) in packed.as_chunks::<3>().0.iter().zip(f.0.0.as_chunks_mut::<8>().0) {
        let word = u32::from_le_bytes([a, b, c, 0]);
        for (i, pair) in eight.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            // Both at once, above a bit from which the lower one borrows.
            let both = (word >> (6 * i) & 7) | (word >> (6 * i + 3) & 7) << 16;
            let both = ((both | 0x8000_8000) - 0x3_0003) ^ 0x8000_8000;
            *pair = [both as i16, (both >> 16) as i16];
        }
    }
    loops::ntt_of_factor(&mut f.0.0);
}
