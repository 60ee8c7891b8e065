//! The parameter sets, and what the published versions of HQC do differently.

use core::fmt;

use super::reed_solomon::Code;

/// The most positions of a vector of fixed weight.
pub(super) const MAX_WEIGHT: usize = 149;
/// The most bytes of a message.
pub(super) const MAX_K: usize = 32;
/// Bytes of a seed, of a hash and of a shared secret.
pub(super) const SEED: usize = 32;
/// Bytes of the salt of a ciphertext.
pub(super) const SALT: usize = 16;

/// The shape of a product: a split in three, then splits in two down to blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Splits in two below the split in three.
    pub levels: u32,
    /// 128-bit digits of a block: an even number.
    pub digits: usize,
}

impl Shape {
    /// Words of a third of a polynomial.
    pub(super) const fn third(self) -> usize {
        self.block() << self.levels
    }

    /// Words of a padded polynomial.
    pub(super) const fn words(self) -> usize {
        3 * self.third()
    }

    /// Words of a block.
    pub(super) const fn block(self) -> usize {
        2 * self.digits
    }

    /// Products of blocks below a third, filled up to whole groups of four.
    pub(super) const fn blocks(self) -> usize {
        3_usize.pow(self.levels).next_multiple_of(4)
    }
}

/// The numbers of a parameter set.
#[derive(Debug)]
pub(super) struct Params {
    pub name: &'static str,
    /// The length of a vector in bits: arithmetic is modulo X^n - 1.
    pub n: usize,
    /// Symbols of a Reed–Solomon codeword, n1, and how often each is repeated as a Reed–Muller codeword.
    pub symbols: usize,
    pub copies: usize,
    /// Bytes of a message.
    pub k: usize,
    /// Weight of the secrets x and y.
    pub w: usize,
    /// Weight of r1, r2 and e.
    pub w_r: usize,
    /// Candidates of the key sampler from this number on are rejected: the highest multiple of n up to 2^24.
    pub rejected_from: u32,
    /// 2^32/n, rounded down.
    pub reciprocal: u32,
    /// The shape of the product.
    pub shape: Shape,
    /// The outer code.
    pub code: &'static Code,
}

impl Params {
    // The compiler divides.
    #[allow(clippy::integer_division_remainder_used, clippy::too_many_arguments)]
    const fn new(
        name: &'static str,
        n: usize,
        (symbols, copies): (usize, usize),
        k: usize,
        (w, w_r): (usize, usize),
        (levels, digits): (u32, usize),
        code: &'static Code,
    ) -> Self {
        let rejected_from = (1 << 24) - (1 << 24) % n as u32;
        let reciprocal = ((1 << 32) / n as u64) as u32;
        let shape = Shape { levels, digits };
        Self { name, n, symbols, copies, k, w, w_r, rejected_from, reciprocal, shape, code }
    }

    /// Bytes of a vector of n bits.
    pub(super) const fn vector_len(&self) -> usize {
        self.n.div_ceil(8)
    }

    /// Words of a codeword of n1·n2 bits.
    pub(super) const fn code_words(&self) -> usize {
        2 * self.symbols * self.copies
    }

    /// Bytes of a codeword.
    pub(super) const fn code_len(&self) -> usize {
        8 * self.code_words()
    }

    pub(super) const fn encapsulation_key_len(&self) -> usize {
        SEED + self.vector_len()
    }

    pub(super) const fn decapsulation_key_len(&self) -> usize {
        self.encapsulation_key_len() + SEED + self.k + SEED
    }

    pub(super) const fn ciphertext_len(&self) -> usize {
        self.vector_len() + self.code_len() + SALT
    }

    /// The bits of a vector's last byte that are no part of it.
    pub(super) const fn spare_bits(&self) -> u8 {
        !(u8::MAX >> (self.n.wrapping_neg() & 7))
    }
}

/// A published version of HQC: what goes over the wire differs.
///
/// ```
/// use gambeson::hqc::{ParameterSet, Profile};
///
/// assert_eq!(ParameterSet::HQC_1.profile(), Profile::Reference2026);
/// let older = ParameterSet::HQC_1.with_profile(Profile::V5_0_0);
/// assert_ne!(older, ParameterSet::HQC_1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// The team's reference implementation of 10 February 2026, commit 161cd4f: that of liboqs 0.16.
    #[default]
    Reference2026,
    /// Version 5.0.0 of 22 August 2025: that of Bouncy Castle 1.85.
    V5_0_0,
}

impl Profile {
    /// The bytes of its output that XOF uses up for a read of `len` bytes.
    pub(super) const fn read_len(self, len: usize) -> usize {
        match self {
            Self::Reference2026 => len,
            Self::V5_0_0 => len.next_multiple_of(8),
        }
    }

    /// The bytes that the key sampler reads at once, for vectors of weight `w`.
    pub(super) const fn key_read_len(self, w: usize) -> usize {
        match self {
            Self::Reference2026 => 3,
            Self::V5_0_0 => 3 * w,
        }
    }

    /// A candidate of the key sampler.
    pub(super) fn candidate(self, [a, b, c]: [u8; 3]) -> u32 {
        match self {
            Self::Reference2026 => u32::from_le_bytes([a, b, c, 0]),
            Self::V5_0_0 => u32::from_be_bytes([0, a, b, c]),
        }
    }
}

/// A parameter set of HQC, in one of the published versions.
///
/// ```
/// use gambeson::hqc::ParameterSet;
///
/// let set = ParameterSet::HQC_3;
/// assert_eq!((set.name(), set.encapsulation_key_len(), set.ciphertext_len()), ("HQC-3", 4514, 8978));
/// ```
#[derive(Clone, Copy)]
pub struct ParameterSet {
    pub(super) params: &'static Params,
    profile: Profile,
}

macro_rules! sets {
    ($($name:ident $text:literal n $n:literal, n1 $n1:literal, copies $copies:literal, k $k:literal, w $w:literal $wr:literal, levels $levels:literal, digits $digits:literal, ek $ek:literal, dk $dk:literal, c $c:literal, category $category:literal;)*) => {
        impl ParameterSet {
            $(
                #[doc = concat!($text, ": security category ", $category, ", ciphertexts of ", $c, " bytes.")]
                pub const $name: Self = {
                    static CODE: Code = Code::new($n1, $k);
                    static PARAMS: Params =
                        Params::new($text, $n, ($n1, $copies), $k, ($w, $wr), ($levels, $digits), &CODE);
                    Self { params: &PARAMS, profile: Profile::Reference2026 }
                };
            )*

            /// Every set, in the profile [`Reference2026`](Profile::Reference2026).
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

sets! {
    HQC_1 "HQC-1" n 17669, n1 46, copies 3, k 16, w 66 75, levels 3, digits 6, ek 2241, dk 2321, c 4433, category 1;
    HQC_3 "HQC-3" n 35851, n1 56, copies 5, k 24, w 100 114, levels 3, digits 12, ek 4514, dk 4602, c 8978, category 3;
    HQC_5 "HQC-5" n 57637, n1 90, copies 5, k 32, w 131 149, levels 4, digits 10, ek 7237, dk 7333, c 14421, category 5;
}

impl ParameterSet {
    /// Returns this set in another published version.
    #[must_use]
    pub const fn with_profile(self, profile: Profile) -> Self {
        Self { params: self.params, profile }
    }

    /// The published version.
    #[must_use]
    pub const fn profile(self) -> Profile {
        self.profile
    }

    /// The name, such as `HQC-1`: that of all profiles.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.params.name
    }

    /// Bytes of an encapsulation key: 2241, 4514 or 7237.
    #[must_use]
    pub const fn encapsulation_key_len(self) -> usize {
        self.params.encapsulation_key_len()
    }

    /// Bytes of an encoded decapsulation key: 2321, 4602 or 7333.
    #[must_use]
    pub const fn decapsulation_key_len(self) -> usize {
        self.params.decapsulation_key_len()
    }

    /// Bytes of a ciphertext: 4433, 8978 or 14421.
    #[must_use]
    pub const fn ciphertext_len(self) -> usize {
        self.params.ciphertext_len()
    }

    /// Bytes of the message m that an encapsulation draws: 16, 24 or 32.
    #[must_use]
    pub const fn message_len(self) -> usize {
        self.params.k
    }
}

impl PartialEq for ParameterSet {
    fn eq(&self, other: &Self) -> bool {
        (self.params.name, self.profile) == (other.params.name, other.profile)
    }
}

impl Eq for ParameterSet {}

impl fmt::Debug for ParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:?})", self.params.name, self.profile)
    }
}

impl fmt::Display for ParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.params.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_bounds_are_the_published_ones() {
        let numbers = ParameterSet::ALL.iter().map(|set| {
            let p = set.params;
            let sizes = [set.encapsulation_key_len(), set.decapsulation_key_len(), set.ciphertext_len()];
            (sizes, p.rejected_from, p.code_len(), p.spare_bits())
        });
        let expected = [
            ([2241, 2321, 4433], 16_767_881, 2208, 0b1110_0000),
            ([4514, 4602, 8978], 16_742_417, 4480, 0b1111_1000),
            ([7237, 7333, 14421], 16_772_367, 7200, 0b1110_0000),
        ];
        assert!(numbers.eq(expected));
        for set in ParameterSet::ALL {
            let p = set.params;
            assert!(p.shape.words() >= p.n.div_ceil(64));
            assert!(p.w <= MAX_WEIGHT && p.w_r <= MAX_WEIGHT && p.k <= MAX_K);
            assert!(p.shape.digits & 1 == 0);
        }
    }
}
