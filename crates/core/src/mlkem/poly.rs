//! The elements of R_q = Z_q\[X\]/(X^256 + 1) and of its transform T_q (FIPS 203, §2.3 and §2.4).

use zeroize::Zeroize;

use crate::secret::{clear, wipe};
use crate::workspace::Zero;

/// The modulus q (FIPS 203, §2.3).
pub(crate) const Q: i16 = 3329;

/// 256 integers that stand for residues modulo q; each kernel states their range.
pub(crate) type Coefficients = [i16; 256];

/// An element of R_q by its coefficients; aligned for kernels that take two at once.
#[derive(Clone, Debug)]
#[repr(C, align(4))]
pub struct Poly(pub(crate) Coefficients);

/// An element of T_q, in the order of the standard.
///
/// It wraps the polynomial in whose memory it was made: transforms work in place.
#[derive(Clone, Debug)]
#[repr(transparent)]
pub struct Ntt(pub(crate) Poly);

impl Poly {
    pub(crate) const ZERO: Self = Self([0; 256]);
}

impl Ntt {
    pub(crate) const ZERO: Self = Self(Poly::ZERO);

    pub(crate) fn clear(&mut self) {
        clear(&mut self.0.0);
    }
}

// SAFETY: an array of integers.
#[allow(unsafe_code)]
unsafe impl Zero for Ntt {
    const ZERO: Self = Self::ZERO;
}

impl Zeroize for Poly {
    fn zeroize(&mut self) {
        wipe(&mut self.0);
    }
}

impl Zeroize for Ntt {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
