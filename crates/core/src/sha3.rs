//! FIPS 202 hashing: SHA-3, SHAKE, cSHAKE and KMAC of SP 800-185, and TurboSHAKE of RFC 9861.
//!
//! ```
//! use gambeson::sha3::{Sha3_256, Shake128};
//!
//! let digest = Sha3_256::digest(b"abc");
//! assert_eq!(digest[..4], [0x3a, 0x98, 0x5d, 0xa7]);
//!
//! // Incremental, in any pieces, on both sides.
//! let mut squeeze = Shake128::new().update(b"a").update(b"bc").finalize_xof();
//! let mut first = [0; 16];
//! squeeze.squeeze(&mut first);
//! ```
//!
//! | type | output | rate | source |
//! | --- | --- | --- | --- |
//! | [`Sha3_224`], [`Sha3_256`], [`Sha3_384`], [`Sha3_512`] | 28, 32, 48, 64 bytes | 144, 136, 104, 72 bytes | FIPS 202, §6.1 |
//! | [`Shake128`], [`Shake256`] | any length | 168, 136 bytes | FIPS 202, §6.2 |
//! | [`CShake128`], [`CShake256`] | any length | 168, 136 bytes | SP 800-185, §3 |
//! | [`Kmac128`], [`Kmac256`] | any length | 168, 136 bytes | SP 800-185, §4 |
//! | [`TurboShake128`], [`TurboShake256`] | any length | 168, 136 bytes | RFC 9861, §2 |
//!
//! A hasher is 208 bytes, needs no heap, and is wiped when dropped. Messages may have any number of whole
//! bytes; nothing here can fail.
//!
//! # A hardware permutation
//!
//! Firmware whose chip has a Keccak unit hands it over once, at start-up; everything in this crate then hashes
//! through it, but TurboSHAKE, which has half the rounds. [`set_permutation`] checks it against the portable text first, and refuses a wrong one.
//!
//! ```
//! use gambeson::sha3::{self, State};
//!
//! /// A board's driver: writes each state to the unit, starts it, reads the state back.
//! fn keccak_unit(states: &mut [State]) {
//!     # sha3::permute_portable(states);
//!     /* … */
//! }
//! sha3::set_permutation(keccak_unit)?;
//! # Ok::<(), sha3::WrongPermutation>(())
//! ```
//!
//! # Layout
//!
//! * `keccak`: the permutation, one text for every width of lane
//! * `kernels`: the table of permutations, and the plugged-in one; `kernels/interleaved`: lanes for 32-bit machines
//! * `sponge`: absorbing and squeezing
//! * `derived`: cSHAKE and KMAC
//! * `turbo`: TurboSHAKE

mod derived;
mod keccak;
mod kernels;
mod sponge;
mod turbo;
mod words;

pub use derived::{CShake128, CShake256, InvalidTag, Kmac128, Kmac256};
pub(crate) use kernels::interleaved::from_byte;
#[cfg(all(feature = "alloc", any(not(gambeson_dsp), test)))]
pub(crate) use kernels::interleaved::halves;
pub(crate) use kernels::interleaved::{IN_FORCE as INTERLEAVED, from_word, to_word};
#[cfg(not(gambeson_ct))]
pub(crate) use kernels::permute_sponge;
#[cfg(gambeson_ct)]
#[doc(hidden)]
pub use kernels::permute_sponge;
#[cfg(feature = "alloc")]
pub(crate) use kernels::{Abreast, Block, squeeze_eight};
pub(crate) use kernels::{Aligned, chain_steps, permute_aligned};
pub use kernels::{
    WrongPermutation, clear_permutation, kernels, permute_many, permute_portable, set_permutation,
};
pub use sponge::{Squeeze, TurboSqueeze};
pub use turbo::{TurboShake128, TurboShake256};
#[cfg(feature = "alloc")]
pub(crate) use words::squeezed;
pub(crate) use words::{LANES, WIDE, absorb, absorb_at, lanes, permuted, squeeze};

pub(crate) use sponge::Sponge;
use zeroize::Zeroize;

/// The state of Keccak-f\[1600\]: 25 lanes of 64 bits, lane (x, y) at `x + 5y` (FIPS 202, §3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct State(pub [u64; 25]);

impl State {
    /// The all-zero state.
    #[must_use]
    pub const fn new() -> Self {
        Self([0; 25])
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

impl Zeroize for State {
    fn zeroize(&mut self) {
        crate::secret::wipe(&mut self.0);
    }
}

macro_rules! sha3 {
    ($($name:ident, $bits:literal, $len:literal;)*) => {$(
        #[doc = concat!("SHA3-", $bits, ": ", $len, " bytes of digest (FIPS 202, §6.1).")]
        #[derive(Clone)]
        pub struct $name(Sponge);

        impl $name {
            /// The length of the digest in bytes.
            pub const LEN: usize = $len;

            /// The rate r in bytes: 200 less twice the digest.
            pub const RATE: usize = 200 - 2 * $len;

            /// A hasher that has absorbed nothing.
            #[must_use]
            pub const fn new() -> Self {
                Self(Sponge::new(Self::RATE))
            }

            /// Absorbs `data`; any pieces give the same digest as the whole.
            pub fn update(&mut self, data: &[u8]) -> &mut Self {
                self.0.absorb(data);
                self
            }

            /// The digest of what was absorbed. The hasher starts anew.
            pub fn finalize(&mut self) -> [u8; $len] {
                let mut digest = [0; $len];
                core::mem::take(self).0.pad(0b110).squeeze(&mut digest);
                digest
            }

            /// The digest of `data`.
            #[must_use]
            pub fn digest(data: &[u8]) -> [u8; $len] {
                Self::new().update(data).finalize()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

sha3! {
    Sha3_224, "224", 28;
    Sha3_256, "256", 32;
    Sha3_384, "384", 48;
    Sha3_512, "512", 64;
}

macro_rules! shake {
    ($($name:ident, $bits:literal, $rate:literal;)*) => {$(
        #[doc = concat!("SHAKE", $bits, ": output of any length (FIPS 202, §6.2).")]
        #[derive(Clone)]
        pub struct $name(Sponge);

        impl $name {
            /// The rate r in bytes.
            pub const RATE: usize = $rate;

            /// A hasher that has absorbed nothing.
            #[must_use]
            pub const fn new() -> Self {
                Self(Sponge::new($rate))
            }

            /// Absorbs `data`; any pieces give the same output as the whole.
            pub fn update(&mut self, data: &[u8]) -> &mut Self {
                self.0.absorb(data);
                self
            }

            /// Ends absorbing: the output can be squeezed. The hasher starts anew.
            pub fn finalize_xof(&mut self) -> Squeeze {
                core::mem::take(self).0.pad(0b11111)
            }

            /// Fills `out` with the output for `data`.
            pub fn digest_into(data: &[u8], out: &mut [u8]) {
                Self::new().update(data).finalize_xof().squeeze(out);
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

shake! {
    Shake128, "128", 168;
    Shake256, "256", 136;
}
