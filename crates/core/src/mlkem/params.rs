//! The three parameter sets (FIPS 203, §8).

use core::fmt::Debug;

use zeroize::Zeroize;

use super::compact;
use super::forms::{PrivateForm, PublicForm};
#[cfg(feature = "alloc")]
use super::prepared;
use super::ring::Ntt;
use super::small::{SmallPoly, WORDS};
use crate::small::{Worked, Zero};
use crate::{Bytes, Compact, Small};

/// What the algorithms need to know of a parameter set, and users do not.
pub trait Sealed: Worked + Clone + Copy + Debug + Default + PartialEq + Eq + Send + Sync + 'static {
    /// The rank of the module: rows and columns of Â.
    const K: usize;
    /// The noise of ŝ, ê and ŷ.
    const ETA1: usize;
    /// Bits of a coefficient of u in the ciphertext.
    const DU: usize;
    /// Bits of a coefficient of v in the ciphertext.
    const DV: usize;
    /// K elements of T_q.
    type Vector: AsRef<[Ntt]> + AsMut<[Ntt]> + Zero + Zeroize + 'static;

    /// K zeros.
    fn vector() -> Self::Vector;

    /// The input of encryption with a prepared key: Â by rows, then t̂.
    #[cfg(feature = "alloc")]
    type Elements: AsRef<[Ntt]> + AsMut<[Ntt]>;

    /// K² + K zeros.
    #[cfg(feature = "alloc")]
    fn elements() -> Self::Elements;

    /// Whether the schedule is that of the least memory.
    const SMALL: bool = false;
    /// What K polynomials of twelve bits a coefficient need beyond a ciphertext, in whole groups of sixteen coefficients.
    type Spill: AsMut<[u8]> + Zero + Zeroize + 'static;
    /// K polynomials of noise, three bits a coefficient.
    type SmallVector: AsMut<[SmallPoly]> + Zero + Zeroize + 'static;
}

/// A parameter set of ML-KEM: [`MlKem512`], [`MlKem768`] or [`MlKem1024`].
pub trait ParameterSet: Sealed {
    /// The name in the standard, such as `ML-KEM-768`.
    const NAME: &'static str;
    /// An encapsulation key ek as bytes.
    type EncapsulationKeyBytes: Bytes;
    /// A ciphertext c.
    type Ciphertext: Bytes;
    /// A decapsulation key dk as other libraries store it: dk_PKE ‖ ek ‖ H(ek) ‖ z.
    type DecapsulationKeyBytes: Bytes;
    /// The state of an encapsulation key beside its bytes.
    #[doc(hidden)]
    type Public: PublicForm<Self>;
    /// The content of a decapsulation key.
    #[doc(hidden)]
    type Private: PrivateForm<Self>;
}

/// A parameter set whose keys are prepared on the heap: [`MlKem512`], [`MlKem768`] or [`MlKem1024`] with feature `alloc`.
#[cfg(feature = "alloc")]
pub trait PreparedSet: ParameterSet<Public = prepared::Public, Private = prepared::Private<Self>> {}

macro_rules! parameter_set {
    ($name:ident, $text:literal, k: $k:literal, eta1: $eta1:literal, du: $du:literal, dv: $dv:literal,
     ek: $ek:literal, dk: $dk:literal, c: $c:literal, spill: $spill:literal, $level:literal) => {
        #[doc = concat!($text, ": security category ", $level, " (FIPS 203, Tables 2 and 3).")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name;

        impl Sealed for $name {
            const K: usize = $k;
            const ETA1: usize = $eta1;
            const DU: usize = $du;
            const DV: usize = $dv;
            type Vector = [Ntt; $k];
            type Spill = [u8; $spill];
            type SmallVector = [SmallPoly; $k];

            fn vector() -> [Ntt; $k] {
                [const { Ntt::ZERO }; $k]
            }

            #[cfg(feature = "alloc")]
            type Elements = [Ntt; $k * $k + $k];

            #[cfg(feature = "alloc")]
            fn elements() -> Self::Elements {
                [const { Ntt::ZERO }; $k * $k + $k]
            }
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
            type Public = prepared::Public;
            #[cfg(feature = "alloc")]
            type Private = prepared::Private<Self>;
            #[cfg(not(feature = "alloc"))]
            type Public = compact::Public;
            #[cfg(not(feature = "alloc"))]
            type Private = compact::Private<Self>;
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
        impl<P: ParameterSet> Sealed for $form<P> {
            const K: usize = P::K;
            const ETA1: usize = P::ETA1;
            const DU: usize = P::DU;
            const DV: usize = P::DV;
            const SMALL: bool = $small;
            type Vector = P::Vector;
            type Spill = P::Spill;
            type SmallVector = P::SmallVector;

            fn vector() -> Self::Vector {
                P::vector()
            }

            #[cfg(feature = "alloc")]
            type Elements = P::Elements;

            #[cfg(feature = "alloc")]
            fn elements() -> Self::Elements {
                P::elements()
            }
        }

        /// Keys, ciphertexts and secrets are those of `P`.
        impl<P: ParameterSet> ParameterSet for $form<P> {
            const NAME: &'static str = P::NAME;
            type EncapsulationKeyBytes = P::EncapsulationKeyBytes;
            type Ciphertext = P::Ciphertext;
            type DecapsulationKeyBytes = P::DecapsulationKeyBytes;
            type Public = compact::Public;
            type Private = compact::Private<Self>;
        }
    };
}

form!(Compact, small: false);
form!(Small, small: true);
