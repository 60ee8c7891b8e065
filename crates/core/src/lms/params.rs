//! The types of trees and of one-time signatures (RFC 8554, §4.1 and §5.1; RFC 9858; SP 800-208, §4).

use core::fmt;

use crate::many::Function;
use crate::serial::{self, Pieces};
use crate::sha2_lanes::INITIAL_256;

/// The most bytes of a node.
pub(super) const MAX_N: usize = 32;

/// A hash function. Its parts are pointers, so that a program with trees of one function does not hold the other.
pub(super) struct Family {
    /// The function of many messages.
    pub many: Function<'static>,
    /// The first bytes of the hash of a message.
    pub hash: fn(&mut Pieces<'_>, &mut [u8]),
    /// Replaces a value by the hash of a head and itself, as many times as a number says.
    pub chain: fn(&[u8; 23], u32, &mut [u8]),
}

pub(super) static SHA_256: Family = Family {
    many: Function::SHA_256,
    hash: |pieces, out| serial::sha_256(&INITIAL_256, 0, pieces, out),
    chain: |head, steps, value| serial::chain_of_sha_256(&INITIAL_256, 0, head, steps, value),
};

pub(super) static SHAKE_256: Family = Family {
    many: Function::Shake256(&[]),
    hash: |pieces, out| serial::shake_256(&[], pieces, out),
    chain: |head, steps, value| serial::chain_of_shake_256(&[], head, steps, value),
};

pub(super) struct Ots {
    pub name: &'static str,
    pub code: u32,
    pub family: &'static Family,
    pub n: usize,
    /// Bits of a digit.
    pub w: u32,
    /// The chains.
    pub p: usize,
    /// By how many bits the checksum is moved to the left, ls.
    pub shift: u32,
}

impl Ots {
    pub(super) const fn signature_len(&self) -> usize {
        4 + self.n * (self.p + 1)
    }
}

pub(super) struct Lms {
    pub name: &'static str,
    pub code: u32,
    pub family: &'static Family,
    pub n: usize,
    pub h: u32,
}

/// A type of LM-OTS, of the one-time signatures.
#[derive(Clone, Copy)]
pub struct LmotsType(pub(super) &'static Ots);

/// A type of LMS, of the tree.
#[derive(Clone, Copy)]
pub struct LmsType(pub(super) &'static Lms);

macro_rules! one_time {
    ($($name:ident $text:literal = $code:literal, $family:ident, n $n:literal, w $w:literal, p $p:literal, ls $shift:literal;)*) => {
        impl LmotsType {
            $(
                #[doc = concat!("`", $text, "`: ", $p, " chains, digits of ", $w, " bits.")]
                pub const $name: Self =
                    Self(&Ots { name: $text, code: $code, family: &$family, n: $n, w: $w, p: $p, shift: $shift });
            )*

            /// Every type, in the order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

one_time! {
    SHA256_N32_W1 "LMOTS_SHA256_N32_W1" = 0x01, SHA_256, n 32, w 1, p 265, ls 7;
    SHA256_N32_W2 "LMOTS_SHA256_N32_W2" = 0x02, SHA_256, n 32, w 2, p 133, ls 6;
    SHA256_N32_W4 "LMOTS_SHA256_N32_W4" = 0x03, SHA_256, n 32, w 4, p 67, ls 4;
    SHA256_N32_W8 "LMOTS_SHA256_N32_W8" = 0x04, SHA_256, n 32, w 8, p 34, ls 0;
    SHA256_N24_W1 "LMOTS_SHA256_N24_W1" = 0x05, SHA_256, n 24, w 1, p 200, ls 8;
    SHA256_N24_W2 "LMOTS_SHA256_N24_W2" = 0x06, SHA_256, n 24, w 2, p 101, ls 6;
    SHA256_N24_W4 "LMOTS_SHA256_N24_W4" = 0x07, SHA_256, n 24, w 4, p 51, ls 4;
    SHA256_N24_W8 "LMOTS_SHA256_N24_W8" = 0x08, SHA_256, n 24, w 8, p 26, ls 0;
    SHAKE_N32_W1 "LMOTS_SHAKE_N32_W1" = 0x09, SHAKE_256, n 32, w 1, p 265, ls 7;
    SHAKE_N32_W2 "LMOTS_SHAKE_N32_W2" = 0x0a, SHAKE_256, n 32, w 2, p 133, ls 6;
    SHAKE_N32_W4 "LMOTS_SHAKE_N32_W4" = 0x0b, SHAKE_256, n 32, w 4, p 67, ls 4;
    SHAKE_N32_W8 "LMOTS_SHAKE_N32_W8" = 0x0c, SHAKE_256, n 32, w 8, p 34, ls 0;
    SHAKE_N24_W1 "LMOTS_SHAKE_N24_W1" = 0x0d, SHAKE_256, n 24, w 1, p 200, ls 8;
    SHAKE_N24_W2 "LMOTS_SHAKE_N24_W2" = 0x0e, SHAKE_256, n 24, w 2, p 101, ls 6;
    SHAKE_N24_W4 "LMOTS_SHAKE_N24_W4" = 0x0f, SHAKE_256, n 24, w 4, p 51, ls 4;
    SHAKE_N24_W8 "LMOTS_SHAKE_N24_W8" = 0x10, SHAKE_256, n 24, w 8, p 26, ls 0;
}

macro_rules! trees {
    ($($name:ident $text:literal = $code:literal, $family:ident, m $n:literal, h $h:literal;)*) => {
        impl LmsType {
            $(
                #[doc = concat!("`", $text, "`: 2^", $h, " leaves.")]
                pub const $name: Self = Self(&Lms { name: $text, code: $code, family: &$family, n: $n, h: $h });
            )*

            /// Every type, in the order of their codes.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

trees! {
    SHA256_M32_H5 "LMS_SHA256_M32_H5" = 0x05, SHA_256, m 32, h 5;
    SHA256_M32_H10 "LMS_SHA256_M32_H10" = 0x06, SHA_256, m 32, h 10;
    SHA256_M32_H15 "LMS_SHA256_M32_H15" = 0x07, SHA_256, m 32, h 15;
    SHA256_M32_H20 "LMS_SHA256_M32_H20" = 0x08, SHA_256, m 32, h 20;
    SHA256_M32_H25 "LMS_SHA256_M32_H25" = 0x09, SHA_256, m 32, h 25;
    SHA256_M24_H5 "LMS_SHA256_M24_H5" = 0x0a, SHA_256, m 24, h 5;
    SHA256_M24_H10 "LMS_SHA256_M24_H10" = 0x0b, SHA_256, m 24, h 10;
    SHA256_M24_H15 "LMS_SHA256_M24_H15" = 0x0c, SHA_256, m 24, h 15;
    SHA256_M24_H20 "LMS_SHA256_M24_H20" = 0x0d, SHA_256, m 24, h 20;
    SHA256_M24_H25 "LMS_SHA256_M24_H25" = 0x0e, SHA_256, m 24, h 25;
    SHAKE_M32_H5 "LMS_SHAKE_M32_H5" = 0x0f, SHAKE_256, m 32, h 5;
    SHAKE_M32_H10 "LMS_SHAKE_M32_H10" = 0x10, SHAKE_256, m 32, h 10;
    SHAKE_M32_H15 "LMS_SHAKE_M32_H15" = 0x11, SHAKE_256, m 32, h 15;
    SHAKE_M32_H20 "LMS_SHAKE_M32_H20" = 0x12, SHAKE_256, m 32, h 20;
    SHAKE_M32_H25 "LMS_SHAKE_M32_H25" = 0x13, SHAKE_256, m 32, h 25;
    SHAKE_M24_H5 "LMS_SHAKE_M24_H5" = 0x14, SHAKE_256, m 24, h 5;
    SHAKE_M24_H10 "LMS_SHAKE_M24_H10" = 0x15, SHAKE_256, m 24, h 10;
    SHAKE_M24_H15 "LMS_SHAKE_M24_H15" = 0x16, SHAKE_256, m 24, h 15;
    SHAKE_M24_H20 "LMS_SHAKE_M24_H20" = 0x17, SHAKE_256, m 24, h 20;
    SHAKE_M24_H25 "LMS_SHAKE_M24_H25" = 0x18, SHAKE_256, m 24, h 25;
}

macro_rules! named {
    ($ty:ident) => {
        impl $ty {
            /// The name in RFC 8554 or RFC 9858.
            #[must_use]
            pub const fn name(self) -> &'static str {
                self.0.name
            }

            /// The code, with which keys and signatures begin.
            #[must_use]
            pub const fn code(self) -> u32 {
                self.0.code
            }

            /// The type of a code.
            #[must_use]
            pub fn of_code(code: u32) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.code() == code)
            }
        }

        impl PartialEq for $ty {
            fn eq(&self, other: &Self) -> bool {
                self.code() == other.code()
            }
        }

        impl Eq for $ty {}

        impl fmt::Debug for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl fmt::Display for $ty {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named!(LmotsType);
named!(LmsType);

impl LmsType {
    /// The height of the tree: 5 to 25.
    #[must_use]
    pub const fn height(self) -> u32 {
        self.0.h
    }

    /// Bytes of a verifying key: 24 + n.
    #[must_use]
    pub const fn verifying_key_len(self) -> usize {
        24 + self.0.n
    }

    /// Bytes of a signature with these one-time signatures; `None` if they have another hash function or length.
    #[must_use]
    pub fn signature_len(self, one_time: LmotsType) -> Option<usize> {
        self.goes_with(one_time).then(|| 8 + one_time.0.signature_len() + self.0.n * self.0.h as usize)
    }

    /// Returns true if both types have one hash function and length, which SP 800-208, §4, requires.
    pub(super) fn goes_with(self, one_time: LmotsType) -> bool {
        core::ptr::eq(self.0.family, one_time.0.family) && self.0.n == one_time.0.n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::many::Job;

    #[test]
    fn a_chain_alone_ends_as_chains_side_by_side() {
        for family in [&SHA_256, &SHAKE_256] {
            for n in [24, 32] {
                for steps in [0, 1, 200] {
                    let head = core::array::from_fn(|i| 2 * i as u8);
                    let mut value: [u8; 32] = core::array::from_fn(|i| i as u8);
                    let mut other = value;
                    (family.chain)(&head, steps, &mut value[..n]);
                    let mut job = Some(Job { index: 0, head, steps });
                    family.many.run_chains(n, &mut || job.take(), &mut other[..n]);
                    assert_eq!(value, other, "{n} {steps}");
                }
            }
        }
    }
}
