//! The parameter sets, and the same in other forms of keys.

use super::compact;
use super::forms::ParameterSet;
use super::params::{T0_BYTES, T1_BYTES, sealed::Parameters};
#[cfg(feature = "alloc")]
use super::prepared;
use super::ring::{Poly, Q};
use super::small;
use crate::small::Worked;
use crate::{Compact, Small};

/// The number of coefficients of k polynomials, three bytes each, that do not fit in the bytes of z.
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
            const OMEGA: usize = $omega;
            const SMALL: bool = false;
            type Rows = [Poly; $k];
            type Columns = [Poly; $l];
            type Factors = [Poly; $l + 1];
            type Decoded = [Poly; $k * $l + $l + 2 * $k];
            type HintBits = [[u32; 8]; $k];
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
            type Public = prepared::PreparedPublic;
            #[cfg(feature = "alloc")]
            type Private = prepared::PreparedPrivate<Self>;
            #[cfg(not(feature = "alloc"))]
            type Public = compact::CompactPublic;
            #[cfg(not(feature = "alloc"))]
            type Private = compact::CompactPrivate<Self>;
        }

        #[cfg(feature = "alloc")]
        impl prepared::PreparedSet for $set {}

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
            const OMEGA: usize = P::OMEGA;
            const SMALL: bool = $small;
            type Rows = P::Rows;
            type Columns = P::Columns;
            type Factors = P::Factors;
            type Decoded = P::Decoded;
            type HintBits = P::HintBits;
            type Spill = P::Spill;
        }

        /// Keys and signatures are those of `P`.
        impl<P: ParameterSet> ParameterSet for $form<P> {
            const NAME: &'static str = P::NAME;
            type VerifyingKeyBytes = P::VerifyingKeyBytes;
            type Signature = P::Signature;
            type SigningKeyBytes = P::SigningKeyBytes;
            type Public = compact::CompactPublic;
            type Private = compact::CompactPrivate<Self>;
        }
    };
}

const _: () = assert!(size_of::<compact::CompactPrivate<MlDsa87>>() == 96);

form!(Compact, small: false);
form!(Small, small: true);
