//! The three parameter sets (FIPS 203, §8), each in three forms of keys.

use super::compact;
use super::kernels::packed::SmallPoly;
use super::params::{ParameterSet, Parameters};
use super::poly::Ntt;
#[cfg(feature = "alloc")]
use super::prepared::{self, PreparedSet};
use super::small::WORDS;
use crate::workspace::Worked;
use crate::{Compact, Small};

macro_rules! parameter_set {
    ($name:ident, $text:literal, k: $k:literal, eta1: $eta1:literal, du: $du:literal, dv: $dv:literal,
     ek: $ek:literal, dk: $dk:literal, c: $c:literal, spill: $spill:literal, $level:literal) => {
        #[doc = concat!($text, ": security category ", $level, " (FIPS 203, Tables 2 and 3).")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name;

        impl Parameters for $name {
            const K: usize = $k;
            const ETA1: usize = $eta1;
            const DU: usize = $du;
            const DV: usize = $dv;
            type Vector = [Ntt; $k];
            type Spill = [u8; $spill];
            type SmallVector = [SmallPoly; $k];
            #[cfg(feature = "alloc")]
            type Elements = [Ntt; $k * $k + $k];
        }

        impl Worked for $name {
            type Words = [u64; WORDS];
        }

        impl ParameterSet for $name {
            const NAME: &'static str = $text;
            type EncapsulationKeyBytes = [u8; $ek];
            type Ciphertext = [u8; $c];
            type DecapsulationKeyBytes = [u8; $dk];
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
        impl PreparedSet for $name {}

        const _: () = assert!($ek == 384 * $k + 32);
        const _: () = assert!($dk == 768 * $k + 96);
        const _: () = assert!($c == 32 * ($du * $k + $dv));
        const _: () = assert!($c + $spill >= 384 * $k);
    };
}

parameter_set!(MlKem512, "ML-KEM-512", k: 2, eta1: 3, du: 10, dv: 4, ek: 800, dk: 1632, c: 768, spill: 0, "1");
parameter_set!(MlKem768, "ML-KEM-768", k: 3, eta1: 2, du: 10, dv: 4, ek: 1184, dk: 2400, c: 1088, spill: 72, "3");
parameter_set!(MlKem1024, "ML-KEM-1024", k: 4, eta1: 2, du: 11, dv: 5, ek: 1568, dk: 3168, c: 1568, spill: 0, "5");

/// The set of `P` in another form of keys.
macro_rules! form {
    ($form:ident, small: $small:literal) => {
        impl<P: ParameterSet> Parameters for $form<P> {
            const K: usize = P::K;
            const ETA1: usize = P::ETA1;
            const DU: usize = P::DU;
            const DV: usize = P::DV;
            const SMALL: bool = $small;
            type Vector = P::Vector;
            type Spill = P::Spill;
            type SmallVector = P::SmallVector;
            #[cfg(feature = "alloc")]
            type Elements = P::Elements;
        }

        /// Keys, ciphertexts and secrets are those of `P`.
        impl<P: ParameterSet> ParameterSet for $form<P> {
            const NAME: &'static str = P::NAME;
            type EncapsulationKeyBytes = P::EncapsulationKeyBytes;
            type Ciphertext = P::Ciphertext;
            type DecapsulationKeyBytes = P::DecapsulationKeyBytes;
            type Public = compact::CompactPublic;
            type Private = compact::CompactPrivate<Self>;
        }
    };
}

form!(Compact, small: false);
form!(Small, small: true);
