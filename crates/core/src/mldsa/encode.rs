//! FIPS 204, §7.1 and §7.2: polynomials and hints as bytes.
//!
//! Keys and signatures are concatenations of these (Algorithms 22 to 28); whoever writes or reads one walks
//! through its bytes polynomial by polynomial, so that no vector of them has to exist.

use super::kernels::Kernels;
pub(crate) use super::kernels::unpack_t0;
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
    use std::vec::Vec;

    use super::super::MlDsa44;
    use super::*;

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
