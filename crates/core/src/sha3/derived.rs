//! cSHAKE and KMAC (SP 800-185).

use core::fmt;

use super::sponge::{Sponge, Squeeze};

/// The suffix of SHAKE: 1111 and the first bit of the padding.
const SHAKE_SUFFIX: u8 = 0b11111;
/// The suffix of cSHAKE with a name or a customization: 00 and the first bit of the padding.
const CSHAKE_SUFFIX: u8 = 0b100;

/// `left_encode` (SP 800-185, §2.3.1): the number of bytes of `x`, then `x`, big-endian.
fn left_encode(x: u64, absorb: &mut impl FnMut(&[u8])) {
    let (bytes, skip) = significant(x);
    absorb(&[8 - skip as u8]);
    absorb(&bytes[skip..]);
}

/// `right_encode` (SP 800-185, §2.3.1): `x`, big-endian, then its number of bytes.
fn right_encode(x: u64, absorb: &mut impl FnMut(&[u8])) {
    let (bytes, skip) = significant(x);
    absorb(&bytes[skip..]);
    absorb(&[8 - skip as u8]);
}

/// `x` in big-endian bytes, and how many leading ones are zero; the last byte always counts.
fn significant(x: u64) -> ([u8; 8], usize) {
    ((x.to_be_bytes()), ((x.leading_zeros() >> 3) as usize).min(7))
}

/// `encode_string` (SP 800-185, §2.3.2): the length in bits, then the string.
fn encode_string(s: &[u8], absorb: &mut impl FnMut(&[u8])) {
    left_encode(8 * s.len() as u64, absorb);
    absorb(s);
}

/// Absorbs `bytepad(encode_string(a) ‖ encode_string(b) ‖ …, rate)` (SP 800-185, §2.3.3).
fn absorb_padded(sponge: &mut Sponge, rate: usize, strings: &[&[u8]]) {
    let mut absorb = |bytes: &[u8]| sponge.absorb(bytes);
    left_encode(rate as u64, &mut absorb);
    for s in strings {
        encode_string(s, &mut absorb);
    }
    sponge.absorb_zeros_to_block_end();
}

/// The authentication tag is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTag;

impl fmt::Display for InvalidTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the authentication tag is wrong")
    }
}

impl core::error::Error for InvalidTag {}

macro_rules! derived {
    ($($cshake:ident, $kmac:ident, $bits:literal, $rate:literal;)*) => {$(
        #[doc = concat!("cSHAKE", $bits, ": SHAKE", $bits, " with a function name and a customization (SP 800-185, §3).")]
        #[derive(Clone)]
        pub struct $cshake {
            sponge: Sponge,
            suffix: u8,
        }

        impl $cshake {
            /// The rate r in bytes.
            pub const RATE: usize = $rate;

            /// A hasher for the function `function_name` (of NIST's choice, empty for users) and the
            /// customization S; with both empty it is SHAKE.
            #[must_use]
            pub fn new(function_name: &[u8], customization: &[u8]) -> Self {
                let mut sponge = Sponge::new($rate);
                if function_name.is_empty() && customization.is_empty() {
                    return Self { sponge, suffix: SHAKE_SUFFIX };
                }
                absorb_padded(&mut sponge, $rate, &[function_name, customization]);
                Self { sponge, suffix: CSHAKE_SUFFIX }
            }

            /// Absorbs `data`; any pieces give the same output as the whole.
            pub fn update(&mut self, data: &[u8]) -> &mut Self {
                self.sponge.absorb(data);
                self
            }

            /// Ends absorbing: the output can be squeezed.
            #[must_use]
            pub fn finalize_xof(self) -> Squeeze {
                self.sponge.pad(self.suffix)
            }
        }

        impl fmt::Debug for $cshake {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($cshake)).finish_non_exhaustive()
            }
        }

        #[doc = concat!("KMAC", $bits, ": a keyed message authentication code of any length (SP 800-185, §4).")]
        ///
        /// ```
        #[doc = concat!("use gambeson::sha3::", stringify!($kmac), ";")]
        ///
        /// let key = [0x42; 32];
        #[doc = concat!("let mut mac = ", stringify!($kmac), "::new(&key, b\"\");")]
        /// mac.update(b"message");
        /// let mut tag = [0; 32];
        /// mac.clone().finalize_into(&mut tag);
        /// assert_eq!(mac.clone().verify(&tag), Ok(()));
        /// tag[0] ^= 1;
        /// assert!(mac.verify(&tag).is_err());
        /// ```
        #[derive(Clone)]
        pub struct $kmac($cshake);

        impl $kmac {
            /// A code with `key` K and `customization` S, each of any length.
            #[must_use]
            pub fn new(key: &[u8], customization: &[u8]) -> Self {
                let mut cshake = $cshake::new(b"KMAC", customization);
                absorb_padded(&mut cshake.sponge, $rate, &[key]);
                Self(cshake)
            }

            /// Absorbs `data`; any pieces give the same code as the whole.
            pub fn update(&mut self, data: &[u8]) -> &mut Self {
                self.0.update(data);
                self
            }

            /// Fills `tag` with the code of that length, which is part of the input of the code.
            pub fn finalize_into(self, tag: &mut [u8]) {
                self.end(8 * tag.len() as u64).squeeze(tag);
            }

            #[doc = concat!("The code as output of any length: KMACXOF", $bits, " (SP 800-185, §4.3.1).")]
            #[must_use]
            pub fn finalize_xof(self) -> Squeeze {
                self.end(0)
            }

            fn end(mut self, bits: u64) -> Squeeze {
                right_encode(bits, &mut |bytes: &[u8]| self.0.sponge.absorb(bytes));
                self.0.finalize_xof()
            }

            /// Compares `tag` with the code of its length, in constant time.
            ///
            /// # Errors
            ///
            /// [`InvalidTag`] if they differ, and if `tag` is empty.
            pub fn verify(self, tag: &[u8]) -> Result<(), InvalidTag> {
                let mut squeeze = self.end(8 * tag.len() as u64);
                let mut difference = u32::from(tag.is_empty());
                let mut expected = crate::secret::Secret::new([0; 32]);
                for piece in tag.chunks(32) {
                    let expected = &mut expected.expose_mut()[..piece.len()];
                    squeeze.squeeze(expected);
                    difference |= crate::secret::difference(expected, piece);
                }
                // public: the verdict is the answer
                if crate::secret::declassify_value(difference) == 0 { Ok(()) } else { Err(InvalidTag) }
            }
        }

        impl fmt::Debug for $kmac {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($kmac)).finish_non_exhaustive()
            }
        }
    )*};
}

derived! {
    CShake128, Kmac128, "128", 168;
    CShake256, Kmac256, "256", 136;
}
