//! FIPS 204, §4: the parameter sets, Tables 1 and 2.

use core::fmt::Debug;

use zeroize::Zeroize;

use super::compact;
use super::forms::{PrivateForm, PublicForm};
#[cfg(feature = "alloc")]
use super::prepared;
use super::ring::{Poly, Q};
use super::small;
use crate::small::{Worked, Zero};
use crate::{Bytes, Compact, Small};

pub(crate) mod sealed {
    use super::{Debug, Poly, Worked, Zero, Zeroize};

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
        /// γ2.
        const GAMMA2: i32;
        /// The greatest number of ones in the hint: ω.
        const OMEGA: usize;
        /// Whether the doors take the schedule for the least memory.
        const SMALL: bool;

        /// One polynomial a row.
        type Rows: AsRef<[Poly]> + AsMut<[Poly]>;
        /// `Rows` of zeros.
        const ROWS: Self::Rows;
        /// One polynomial a column.
        type Columns: AsRef<[Poly]> + AsMut<[Poly]>;
        /// `Columns` of zeros.
        const COLUMNS: Self::Columns;
        /// One polynomial a column, and one more.
        type Factors: AsRef<[Poly]> + AsMut<[Poly]>;
        /// `Factors` of zeros.
        const FACTORS: Self::Factors;
        /// All polynomials of a private key: of the matrix, column by column, of s1, s2 and t0.
        type Decoded: AsRef<[Poly]> + AsMut<[Poly]>;
        /// `Decoded` of zeros.
        const DECODED: Self::Decoded;
        /// One bit a coefficient of each row.
        type HintBits: AsRef<[[u32; 8]]> + AsMut<[[u32; 8]]> + Debug;
        /// `HintBits` of zeros.
        const HINT_BITS: Self::HintBits;
        /// What of k polynomials, a coefficient in three bytes, does not fit in the bytes of z.
        type Spill: AsMut<[[u8; 3]]> + Zero + Zeroize + 'static;

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
use sealed::Parameters;

/// The bytes of a polynomial of t1: 32·(bitlen(q - 1) - d).
pub(crate) const T1_BYTES: usize = 320;

/// The bytes of a polynomial of t0: 32·d.
pub(crate) const T0_BYTES: usize = 416;

/// A parameter set of ML-DSA: [`MlDsa44`], [`MlDsa65`] or [`MlDsa87`].
///
/// Its associated types are the encodings of FIPS 204, Table 2, as arrays. The trait is sealed.
pub trait ParameterSet: Parameters + Copy + Debug + Eq + Send + Sync {
    /// The name in the standard: `ML-DSA-65`.
    const NAME: &'static str;

    /// A public key (pk).
    type VerifyingKeyBytes: Bytes;

    /// A signature (σ).
    type Signature: Bytes;

    /// A private key in the standard's encoding (sk).
    type SigningKeyBytes: Bytes;

    /// What a verifying key holds beside its bytes.
    #[doc(hidden)]
    type Public: PublicForm<Self>;

    /// What a signing key holds.
    #[doc(hidden)]
    type Private: PrivateForm<Self>;
}

/// A parameter set whose keys are prepared on the heap: [`MlDsa44`], [`MlDsa65`] or [`MlDsa87`] with feature `alloc`.
#[cfg(feature = "alloc")]
pub trait PreparedSet: ParameterSet<Public = prepared::Public, Private = prepared::Private<Self>> {}

/// How many coefficients of k polynomials, three bytes each, do not fit in the bytes of z.
// Done by the compiler.
#[allow(clippy::integer_division_remainder_used)]
const fn spilled(k: usize, z_bytes: usize) -> usize {
    256 * k - z_bytes / 3
}

macro_rules! parameter_sets {
    ($($set:ident, $name:literal, $category:literal,
       [$k:literal, $l:literal], eta $eta:literal, tau $tau:literal, lambda $lambda:literal,
       gamma1 2^$gamma1_log:literal, gamma2 (q-1)/$two_m:literal, omega $omega:literal,
       sk $sk:literal, pk $pk:literal, sig $sig:literal;)*) => {$(
        #[doc = concat!($name, ", security category ", $category, ": signatures of ", $sig, " bytes (FIPS 204, §4).")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $set;

        impl Parameters for $set {
            const K: usize = $k;
            const L: usize = $l;
            const ETA: i32 = $eta;
            const TAU: usize = $tau;
            const C_TILDE: usize = $lambda >> 2;
            const GAMMA1_LOG: u32 = $gamma1_log;
            const M: i32 = $two_m >> 1;
            // Done by the compiler.
            #[allow(clippy::integer_division_remainder_used)]
            const GAMMA2: i32 = (Q - 1) / $two_m;
            const OMEGA: usize = $omega;
            const SMALL: bool = false;
            type Rows = [Poly; $k];
            const ROWS: Self::Rows = [Poly::ZERO; $k];
            type Columns = [Poly; $l];
            const COLUMNS: Self::Columns = [Poly::ZERO; $l];
            type Factors = [Poly; $l + 1];
            const FACTORS: Self::Factors = [Poly::ZERO; $l + 1];
            type Decoded = [Poly; $k * $l + $l + 2 * $k];
            const DECODED: Self::Decoded = [Poly::ZERO; $k * $l + $l + 2 * $k];
            type HintBits = [[u32; 8]; $k];
            const HINT_BITS: Self::HintBits = [[0; 8]; $k];
            type Spill = [[u8; 3]; spilled($k, $set::Z_BYTES * $l)];
        }

        impl Worked for $set {
            type Words = [u64; small::workspace::<$set>()];
        }

        impl ParameterSet for $set {
            const NAME: &'static str = $name;
            type VerifyingKeyBytes = [u8; $pk];
            type Signature = [u8; $sig];
            type SigningKeyBytes = [u8; $sk];
            #[cfg(feature = "alloc")]
            type Public = prepared::Public;
            #[cfg(feature = "alloc")]
            type Private = prepared::Private<Self>;
            #[cfg(not(feature = "alloc"))]
            type Public = compact::Public;
            #[cfg(not(feature = "alloc"))]
            type Private = compact::Private<Self>;
        }

        #[cfg(feature = "alloc")]
        impl PreparedSet for $set {}

        // The sizes of Table 2 follow from Table 1 by Algorithms 22, 24 and 26.
        const _: () = {
            assert!($pk == 32 + $k * T1_BYTES);
            assert!($sk == 128 + ($k + $l) * $set::S_BYTES + $k * T0_BYTES);
            assert!($sig == $set::C_TILDE + $l * $set::Z_BYTES + $omega + $k);
            assert!($set::GAMMA2 * $two_m == Q - 1);
        };
    )*};
}

parameter_sets! {
    MlDsa44, "ML-DSA-44", "2", [4, 4], eta 2, tau 39, lambda 128, gamma1 2^17, gamma2 (q-1)/88, omega 80,
        sk 2560, pk 1312, sig 2420;
    MlDsa65, "ML-DSA-65", "3", [6, 5], eta 4, tau 49, lambda 192, gamma1 2^19, gamma2 (q-1)/32, omega 55,
        sk 4032, pk 1952, sig 3309;
    MlDsa87, "ML-DSA-87", "5", [8, 7], eta 2, tau 60, lambda 256, gamma1 2^19, gamma2 (q-1)/32, omega 75,
        sk 4896, pk 2592, sig 4627;
}

/// The set of `P` in another form of keys.
macro_rules! form {
    ($form:ident, small: $small:literal) => {
        impl<P: Parameters> Parameters for $form<P> {
            const K: usize = P::K;
            const L: usize = P::L;
            const ETA: i32 = P::ETA;
            const TAU: usize = P::TAU;
            const C_TILDE: usize = P::C_TILDE;
            const GAMMA1_LOG: u32 = P::GAMMA1_LOG;
            const M: i32 = P::M;
            const GAMMA2: i32 = P::GAMMA2;
            const OMEGA: usize = P::OMEGA;
            const SMALL: bool = $small;
            type Rows = P::Rows;
            const ROWS: Self::Rows = P::ROWS;
            type Columns = P::Columns;
            const COLUMNS: Self::Columns = P::COLUMNS;
            type Factors = P::Factors;
            const FACTORS: Self::Factors = P::FACTORS;
            type Decoded = P::Decoded;
            const DECODED: Self::Decoded = P::DECODED;
            type HintBits = P::HintBits;
            const HINT_BITS: Self::HintBits = P::HINT_BITS;
            type Spill = P::Spill;
        }

        /// The same keys and signatures.
        impl<P: ParameterSet> ParameterSet for $form<P> {
            const NAME: &'static str = P::NAME;
            type VerifyingKeyBytes = P::VerifyingKeyBytes;
            type Signature = P::Signature;
            type SigningKeyBytes = P::SigningKeyBytes;
            type Public = compact::Public;
            type Private = compact::Private<Self>;
        }
    };
}

form!(Compact, small: false);
form!(Small, small: true);
