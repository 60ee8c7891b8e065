//! FIPS 204, §4: the parameters, Table 1.

use core::fmt::Debug;

use zeroize::Zeroize;

use super::ring::{Poly, Q};
use crate::small::{Worked, Zero};

pub(crate) mod sealed {
    use super::{Debug, Poly, Q, Worked, Zero, Zeroize};

    /// An array of polynomials.
    pub trait Polynomials: AsRef<[Poly]> + AsMut<[Poly]> + Zero {}

    impl<const N: usize> Polynomials for [Poly; N] {}

    /// Table 1, and the arrays that generic code cannot name.
    pub trait Parameters: Worked + 'static {
        /// Rows of A: k.
        const K: usize;
        /// Columns of A: l.
        const L: usize;
        /// The bound of the private coefficients: η.
        const ETA: i32;
        /// The number of ±1 in the challenge: τ.
        const TAU: usize;
        /// The bytes of c̃: λ/4.
        const C_TILDE: usize;
        /// γ1 = 2^GAMMA1_LOG.
        const GAMMA1_LOG: u32;
        /// (q - 1)/(2·γ2): 44 or 16.
        const M: i32;
        /// The greatest number of ones in the hint: ω.
        const OMEGA: usize;
        /// Whether the doors take the schedule for the least memory.
        const SMALL: bool;

        /// One polynomial a row.
        type Rows: Polynomials;
        /// One polynomial a column.
        type Columns: Polynomials;
        /// One polynomial a column, and one more.
        type Factors: Polynomials;
        /// All polynomials of a private key: of the matrix, column by column, of s1, s2 and t0.
        type Decoded: Polynomials;
        /// One bit a coefficient of each row.
        type HintBits: AsRef<[[u32; 8]]> + AsMut<[[u32; 8]]> + Debug + Zero;
        /// What of k polynomials, a coefficient in three bytes, does not fit in the bytes of z.
        type Spill: AsMut<[[u8; 3]]> + Zero + Zeroize + 'static;

        /// γ2.
        // Done by the compiler.
        #[allow(clippy::integer_division_remainder_used)]
        const GAMMA2: i32 = (Q - 1) / (2 * Self::M);
        /// τ·η.
        const BETA: i32 = Self::TAU as i32 * Self::ETA;
        /// γ1.
        const GAMMA1: i32 = 1 << Self::GAMMA1_LOG;
        /// The bytes of a polynomial of z: 32·(1 + bitlen(γ1 - 1)).
        const Z_BYTES: usize = 32 * (1 + Self::GAMMA1_LOG as usize);
        /// The bytes of a polynomial of w1: 32·bitlen((q - 1)/(2·γ2) - 1).
        const W1_BYTES: usize = if Self::M == 44 { 192 } else { 128 };
        /// The bytes of a polynomial of s1 or s2: 32·bitlen(2η).
        const S_BYTES: usize = if Self::ETA == 2 { 96 } else { 128 };
    }
}
/// The bytes of a polynomial of t1: 32·(bitlen(q - 1) - d).
pub(crate) const T1_BYTES: usize = 320;

/// The bytes of a polynomial of t0: 32·d.
pub(crate) const T0_BYTES: usize = 416;
