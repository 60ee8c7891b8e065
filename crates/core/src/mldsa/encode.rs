//! FIPS 204, §7.1 and §7.2: polynomials and hints as bytes.
//!
//! Keys and signatures are concatenations of these (Algorithms 22 to 28); whoever writes or reads one walks
//! through its bytes polynomial by polynomial, so that no vector of them has to exist.

use super::kernels::{Kernels, least, unpack_one};
use super::params::sealed::Parameters;
use super::ring::Poly;

/// FIPS 204, Algorithm 16 (SimpleBitPack), of t1: 10 bits a coefficient.
pub(crate) fn pack_t1(kernels: &Kernels, t1: &Poly, out: &mut [u8]) {
    (kernels.pack)(out, t1, 0);
}

/// FIPS 204, Algorithm 18 (SimpleBitUnpack), of t1, made -2^13·t1 on the way: what verification adds.
pub(crate) fn unpack_minus_t1_2d(kernels: &Kernels, bytes: &[u8], p: &mut Poly) {
    (kernels.unpack)(p, bytes, 0);
    for c in &mut p.0 {
        *c = -(*c << super::ring::D);
    }
}

/// FIPS 204, Algorithm 17 (BitPack), of t0, in -4095..=4096.
#[cfg(any(feature = "alloc", test))]
pub(crate) fn pack_t0(kernels: &Kernels, t0: &Poly, out: &mut [u8]) {
    (kernels.pack)(out, t0, 1 << 12);
}

/// FIPS 204, Algorithm 19 (BitUnpack), of t0.
pub(crate) fn unpack_t0(bytes: &[u8], t0: &mut Poly) {
    if cfg!(gambeson_dsp) {
        // The one loop of every width.
        return (least().unpack)(t0, bytes, 1 << 12);
    }
    for (group, bytes) in t0.0.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<13>().0) {
        for (i, c) in group.iter_mut().enumerate() {
            *c = (1 << 12) - unpack_one(bytes, i) as i32;
        }
    }
}

/// FIPS 204, Algorithm 17 (BitPack), of a polynomial of s1 or s2.
#[cfg(any(feature = "alloc", test))]
pub(crate) fn pack_s<P: Parameters>(kernels: &Kernels, s: &Poly, out: &mut [u8]) {
    (kernels.pack)(out, s, P::ETA);
}

/// FIPS 204, Algorithm 19 (BitUnpack), of a polynomial of s1 or s2.
///
/// A string from elsewhere may give coefficients below -η: the caller checks.
pub(crate) fn unpack_s<P: Parameters>(kernels: &Kernels, bytes: &[u8], s: &mut Poly) {
    (kernels.unpack)(s, bytes, P::ETA);
}

/// FIPS 204, Algorithm 17 (BitPack), of a polynomial of z, in -γ1+1..=γ1.
pub(crate) fn pack_z<P: Parameters>(kernels: &Kernels, z: &Poly, out: &mut [u8]) {
    (kernels.pack)(out, z, P::GAMMA1);
}

/// FIPS 204, Algorithm 19 (BitUnpack), of a polynomial of z or y: in -γ1+1..=γ1 for every string.
pub(crate) fn unpack_z<P: Parameters>(kernels: &Kernels, bytes: &[u8], z: &mut Poly) {
    (kernels.unpack)(z, bytes, P::GAMMA1);
}

/// FIPS 204, Algorithm 20 (HintBitPack): the places of the ones, row after row, then where each row ends.
///
/// Variable time: the hint of a finished signature is public. At most ω bits are set.
pub(crate) fn pack_hint_vartime<P: Parameters>(hint: &[[u32; 8]], out: &mut [u8]) {
    let (places, ends) = out.split_at_mut(P::OMEGA);
    places.fill(0);
    let mut count = 0;
    for (row, end) in hint.iter().zip(ends) {
        for (word, first) in row.iter().zip((0..=224u8).step_by(32)) {
            let mut rest = *word;
            while rest != 0 {
                places[count] = first + rest.trailing_zeros() as u8;
                count += 1;
                rest &= rest - 1;
            }
        }
        *end = count as u8;
    }
}

/// The hint of a signature, read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hint<'a> {
    places: &'a [u8],
    ends: &'a [u8],
}

impl<'a> Hint<'a> {
    /// FIPS 204, Algorithm 21 (HintBitUnpack): `None` (⊥) unless the places of each row ascend strictly, the
    /// ends do not descend, and what follows the last place is zero. So one hint has one encoding.
    ///
    /// `bytes` are ω + k.
    pub(crate) fn parse<P: Parameters>(bytes: &'a [u8]) -> Option<Self> {
        let (places, ends) = bytes.split_at(P::OMEGA);
        let mut start = 0;
        for end in ends {
            // `get` refuses an end before the start or beyond ω.
            let row = places.get(start..usize::from(*end))?;
            if !row.is_sorted_by(|a, b| a < b) {
                return None;
            }
            start = usize::from(*end);
        }
        places[start..].iter().all(|place| *place == 0).then_some(Self { places, ends })
    }

    /// The places of the ones in row `i`.
    pub(crate) fn row(&self, i: usize) -> &'a [u8] {
        let start = if i == 0 { 0 } else { usize::from(self.ends[i - 1]) };
        &self.places[start..usize::from(self.ends[i])]
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::super::kernels::{active, tests::tables};
    use super::super::{MlDsa44, MlDsa65, MlDsa87};
    use super::*;
    use crate::sha3::Shake128;

    /// Coefficients in `low..=high`, with both ends.
    fn sample(low: i32, high: i32) -> Poly {
        let mut squeeze = Shake128::new().update(&high.to_le_bytes()).finalize_xof();
        let mut p = Poly::ZERO;
        for c in &mut p.0 {
            let mut bytes = [0; 4];
            squeeze.squeeze(&mut bytes);
            let span = (high - low + 1) as u64;
            *c = low + ((u64::from(u32::from_le_bytes(bytes)) * span) >> 32) as i32;
        }
        (p.0[0], p.0[7], p.0[100], p.0[255]) = (low, high, high, low);
        p
    }

    /// FIPS 204, Algorithm 9 (IntegerToBits) and Algorithm 12 (BitsToBytes), bit by bit.
    fn bits_to_bytes(numbers: impl Iterator<Item = u32>, width: usize) -> Vec<u8> {
        let mut bytes = vec![0; 32 * width];
        for (i, number) in numbers.enumerate() {
            for bit in 0..width {
                let at = i * width + bit;
                bytes[at >> 3] |= ((number >> bit & 1) as u8) << (at & 7);
            }
        }
        bytes
    }

    type Pack = fn(&Kernels, &Poly, &mut [u8]);
    type Unpack = fn(&Kernels, &[u8], &mut Poly);

    #[test]
    fn polynomials_are_packed_bit_by_bit_and_come_back() {
        // The lowest and the highest coefficient, the width, what is written is high - c or c.
        let cases: [(i32, i32, usize, bool, Pack, Option<Unpack>); 8] = [
            (0, 1023, 10, false, pack_t1, None),
            (-4095, 4096, 13, true, pack_t0, None),
            (-2, 2, 3, true, pack_s::<MlDsa44>, Some(unpack_s::<MlDsa44>)),
            (-4, 4, 4, true, pack_s::<MlDsa65>, Some(unpack_s::<MlDsa65>)),
            (-2, 2, 3, true, pack_s::<MlDsa87>, Some(unpack_s::<MlDsa87>)),
            (-131_071, 131_072, 18, true, pack_z::<MlDsa44>, Some(unpack_z::<MlDsa44>)),
            (-524_287, 524_288, 20, true, pack_z::<MlDsa65>, Some(unpack_z::<MlDsa65>)),
            (-524_287, 524_288, 20, true, pack_z::<MlDsa87>, Some(unpack_z::<MlDsa87>)),
        ];
        for (low, high, width, from_high, pack, unpack) in cases {
            let p = sample(low, high);
            let numbers = p.0.iter().map(|c| if from_high { high - c } else { *c } as u32);
            let expected = bits_to_bytes(numbers, width);
            for kernels in tables() {
                let mut bytes = vec![0xff; 32 * width];
                pack(kernels, &p, &mut bytes);
                assert_eq!(bytes, expected);
                if let Some(unpack) = unpack {
                    let mut back = Poly::ZERO;
                    unpack(kernels, &bytes, &mut back);
                    assert_eq!(back, p);
                }
            }
        }
    }

    #[test]
    fn t1_is_read_as_what_verification_adds() {
        let t1 = sample(0, 1023);
        let mut bytes = [0; 320];
        pack_t1(active(), &t1, &mut bytes);
        let mut p = Poly::ZERO;
        unpack_minus_t1_2d(active(), &bytes, &mut p);
        assert!(p.0.iter().zip(&t1.0).all(|(p, t1)| *p == -8192 * t1));
    }

    /// FIPS 204, Algorithm 28 (w1Encode), of a row.
    #[test]
    fn high_bits_are_packed_with_the_width_of_the_set() {
        for (bytes, high, bits) in [(MlDsa44::W1_BYTES, 43, 6), (MlDsa87::W1_BYTES, 15, 4)] {
            let mut out = [0; 192];
            let w1 = sample(0, high);
            (active().pack)(&mut out[..bytes], &w1, 0);
            assert_eq!(out[..bytes], bits_to_bytes(w1.0.iter().map(|c| *c as u32), bits));
        }
    }

    #[test]
    fn a_hint_comes_back_from_its_bytes() {
        let mut hint = [[0u32; 8]; 4];
        let ones = [(0, 0), (0, 31), (0, 32), (0, 255), (2, 7), (2, 128), (3, 254)];
        for (row, place) in ones {
            hint[row][place >> 5] |= 1 << (place & 31);
        }
        let mut bytes = [0xff; 84];
        pack_hint_vartime::<MlDsa44>(&hint, &mut bytes);
        let hint = Hint::parse::<MlDsa44>(&bytes).unwrap();
        let found: Vec<_> = (0..4)
            .flat_map(|row| hint.row(row).iter().map(move |place| (row, usize::from(*place))))
            .collect();
        assert_eq!(found, ones);

        // None, and as many as there may be.
        pack_hint_vartime::<MlDsa44>(&[[0; 8]; 4], &mut bytes);
        assert_eq!(bytes, [0; 84]);
        assert!(Hint::parse::<MlDsa44>(&bytes).is_some());
        let mut full = [[0; 8]; 4];
        full[1] = [u32::MAX, u32::MAX, 0xffff, 0, 0, 0, 0, 0];
        pack_hint_vartime::<MlDsa44>(&full, &mut bytes);
        assert_eq!(Hint::parse::<MlDsa44>(&bytes).unwrap().row(1).len(), 80);
        assert_eq!(bytes[80..], [0, 80, 80, 80]);
    }
}
