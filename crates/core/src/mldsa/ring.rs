//! FIPS 204, §2.3, §2.4 and §7.5: the polynomials of R_q and T_q.
//!
//! One type carries both: an in-place transform needs no second buffer, and a signing stack counts in
//! polynomials. Names tell them apart, as in the standard: `s1` is in R_q, `s1_hat` in T_q.
//!
//! * In R_q a coefficient `c` is signed, `-q < c < q`; where it is the representative mod± q, it says so.
//! * In T_q a coefficient is not negative and lazily reduced, below 18q at most; the transform from R_q gives
//!   below 18q, a product below 2q, a sum of eight products below 16q.

use zeroize::Zeroize;

use crate::small::Zero;

/// The modulus q = 2^23 - 2^13 + 1 (FIPS 204, Table 1).
pub(crate) const Q: i32 = 8_380_417;

/// The number of coefficients of a polynomial.
pub(crate) const N: usize = 256;

/// The number of bits that `Power2Round` drops from t (FIPS 204, Table 1).
pub(crate) const D: u32 = 13;

/// A polynomial of R_q or T_q: 1 KiB, aligned for whole vector registers where there are such.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64", target_family = "wasm"), repr(C, align(64)))]
pub struct Poly(pub(crate) [i32; N]);

impl Poly {
    pub(crate) const ZERO: Self = Self([0; N]);

    /// `self + other`, coefficient by coefficient, without reduction.
    pub(crate) fn add(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a += *b;
        }
    }

    /// `self - other`, coefficient by coefficient, without reduction.
    pub(crate) fn subtract(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a -= *b;
        }
    }
}

/// Where a challenge has its coefficients: j for X^j, j + 256 for -X^j; at most 60 of them.
pub(crate) type Places = [u16; 64];

// SAFETY: an array of integers.
#[allow(unsafe_code)]
unsafe impl Zero for Poly {
    const ZERO: Self = Self::ZERO;
}

impl Zeroize for Poly {
    fn zeroize(&mut self) {
        crate::secret::wipe(&mut self.0);
    }
}
