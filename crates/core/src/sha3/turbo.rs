//! TurboSHAKE (RFC 9861): SHAKE with twelve rounds.

use super::sponge::{TurboSponge, TurboSqueeze};

/// The domain D where the caller has no need of another.
const DOMAIN: u8 = 0x1f;

macro_rules! turbo_shake {
    ($($name:ident, $bits:literal, $rate:literal;)*) => {$(
        #[doc = concat!("TurboSHAKE", $bits, ": output of any length, twice as fast as SHAKE", $bits, " (RFC 9861, §2).")]
        ///
        /// ```
        #[doc = concat!("use gambeson::sha3::", stringify!($name), ";")]
        ///
        /// let mut out = [0; 32];
        #[doc = concat!(stringify!($name), "::new().update(b\"message\").finalize_xof().squeeze(&mut out);")]
        /// ```
        #[derive(Clone)]
        pub struct $name {
            sponge: TurboSponge,
            domain: u8,
        }

        impl $name {
            /// The rate r in bytes.
            pub const RATE: usize = $rate;

            /// A hasher that has absorbed nothing, of the domain 0x1f.
            #[must_use]
            pub const fn new() -> Self {
                Self { sponge: TurboSponge::new($rate), domain: DOMAIN }
            }

            /// The same in the domain D; none for one that is not in 0x01 to 0x7f.
            #[must_use]
            pub const fn with_domain(domain: u8) -> Option<Self> {
                match domain {
                    0x01..=0x7f => Some(Self { sponge: TurboSponge::new($rate), domain }),
                    _ => None,
                }
            }

            /// Absorbs `data`; any pieces give the same output as the whole.
            pub fn update(&mut self, data: &[u8]) -> &mut Self {
                self.sponge.absorb(data);
                self
            }

            /// Ends absorbing: the output can be squeezed. The hasher starts anew, in the same domain.
            pub fn finalize_xof(&mut self) -> TurboSqueeze {
                core::mem::replace(&mut self.sponge, TurboSponge::new($rate)).pad(self.domain)
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

turbo_shake! {
    TurboShake128, "128", 168;
    TurboShake256, "256", 136;
}
