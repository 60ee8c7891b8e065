//! The parameter sets (FIPS 205, §11, Table 2).

use core::fmt;

pub(super) use super::serial::MAX_N;
use super::serial::{self, Functions};

/// The most chains of a one-time signature.
pub(super) const MAX_CHAINS: usize = if cfg!(feature = "sp800-230-draft") { 133 } else { 67 };
/// The most trees of FORS.
pub(super) const MAX_K: usize = 35;
/// The most levels of a tree.
pub(super) const MAX_HEIGHT: usize = if cfg!(feature = "sp800-230-draft") { 25 } else { 14 };
/// The most bytes that verification works in.
pub(super) const MAX_VERIFICATION: usize =
    MAX_N * if MAX_CHAINS > 2 * MAX_K { MAX_CHAINS } else { 2 * MAX_K };

/// The functions of a parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Sha2,
    Shake,
}

impl Family {
    /// The functions of one message with this n. In category 1 of SHA-2 all are SHA-256.
    const fn functions(self, n: usize) -> &'static Functions {
        match (self, n) {
            (Self::Shake, _) => &serial::SHAKE,
            (Self::Sha2, 16) => &serial::SHA_256,
            (Self::Sha2, _) => &serial::SHA_256_AND_512,
        }
    }
}

/// The numbers of a parameter set.
#[derive(Debug)]
pub(super) struct Params {
    pub name: &'static str,
    pub family: Family,
    pub functions: &'static Functions,
    /// Bytes of a node.
    pub n: usize,
    /// The height of the hypertree, and its layers.
    pub h: usize,
    pub d: usize,
    /// The height of a FORS tree, and how many there are.
    pub a: usize,
    pub k: usize,
    /// Bits of a digit of a one-time signature.
    pub lg_w: u32,
    /// The height of an XMSS tree, h′.
    pub height: usize,
    /// The digits of a message, len_1, and of its checksum, len_2.
    pub len_1: usize,
    pub len_2: usize,
}

impl Params {
    // The compiler divides.
    #[allow(clippy::integer_division_remainder_used, clippy::too_many_arguments)]
    pub(super) const fn new(
        name: &'static str,
        family: Family,
        n: usize,
        (h, d): (usize, usize),
        (a, k): (usize, usize),
        lg_w: u32,
    ) -> Self {
        let len_1 = (8 * n).div_ceil(lg_w as usize);
        let mut len_2 = 1;
        while (len_1 * ((1 << lg_w) - 1)) >> (len_2 * lg_w as usize) > 0 {
            len_2 += 1;
        }
        let functions = family.functions(n);
        Self { name, family, functions, n, h, d, a, k, lg_w, height: h / d, len_1, len_2 }
    }

    /// The chains of a one-time signature, len.
    pub(super) const fn chains(&self) -> usize {
        self.len_1 + self.len_2
    }

    /// The highest digit, w - 1.
    pub(super) const fn last_step(&self) -> u32 {
        (1 << self.lg_w) - 1
    }

    /// Bytes of the digest of a message, m, in its three parts: those of FORS, of the tree and of the leaf.
    pub(super) const fn digest_parts(&self) -> [usize; 3] {
        [(self.k * self.a + 7) >> 3, (self.h - self.height + 7) >> 3, (self.height + 7) >> 3]
    }

    /// The tree and the leaf that sign the root of a tree.
    pub(super) const fn above(&self, tree: u64) -> (u64, u32) {
        (tree >> self.height, (tree & ((1 << self.height) - 1)) as u32)
    }

    /// The place of a node in the bytes of the highest tree: the root is node 1, the nodes below node i are 2·i and 2·i + 1.
    #[cfg(feature = "alloc")]
    pub(super) const fn place_in_top(&self, level: u32, number: u32) -> usize {
        ((1 << self.height >> level) + number as usize) * self.n
    }

    /// Bytes of the highest tree.
    #[cfg(feature = "alloc")]
    pub(super) const fn top_len(&self) -> usize {
        self.n << (self.height + 1)
    }

    /// Bytes that the verification of a signature works in.
    #[cfg(feature = "alloc")]
    pub(super) const fn verification_len(&self) -> usize {
        let most = if self.chains() > 2 * self.k { self.chains() } else { 2 * self.k };
        most * self.n
    }

    /// Bytes of FORS's part of a signature.
    pub(super) const fn fors_len(&self) -> usize {
        self.k * (self.a + 1) * self.n
    }

    /// Bytes of an XMSS signature.
    pub(super) const fn xmss_len(&self) -> usize {
        (self.chains() + self.height) * self.n
    }

    pub(super) const fn signature_len(&self) -> usize {
        self.n + self.fors_len() + self.d * self.xmss_len()
    }
}

/// A parameter set of SLH-DSA.
///
/// The sets whose names end in `s` have small signatures, those in `f` sign fast.
///
/// ```
/// use gambeson::slhdsa::ParameterSet;
///
/// let set = ParameterSet::SHA2_128S;
/// assert_eq!((set.name(), set.signature_len(), set.verifying_key_len()), ("SLH-DSA-SHA2-128s", 7856, 32));
/// ```
#[derive(Clone, Copy)]
pub struct ParameterSet(pub(super) &'static Params);

macro_rules! sets {
    ($($name:ident $text:literal $family:ident n $n:literal, h $h:literal, d $d:literal, a $a:literal, k $k:literal, bytes $bytes:literal, category $category:literal;)*) => {
        impl ParameterSet {
            $(
                #[doc = concat!($text, ": security category ", $category, ", signatures of ", $bytes, " bytes.")]
                pub const $name: Self = {
                    const PARAMS: Params = Params::new($text, Family::$family, $n, ($h, $d), ($a, $k), 4);
                    assert!(PARAMS.signature_len() == $bytes && PARAMS.height * $d == $h);
                    Self(&PARAMS)
                };
            )*

            /// Every set, in the order of FIPS 205, Table 2.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

sets! {
    SHA2_128S "SLH-DSA-SHA2-128s" Sha2 n 16, h 63, d 7, a 12, k 14, bytes 7856, category 1;
    SHAKE_128S "SLH-DSA-SHAKE-128s" Shake n 16, h 63, d 7, a 12, k 14, bytes 7856, category 1;
    SHA2_128F "SLH-DSA-SHA2-128f" Sha2 n 16, h 66, d 22, a 6, k 33, bytes 17_088, category 1;
    SHAKE_128F "SLH-DSA-SHAKE-128f" Shake n 16, h 66, d 22, a 6, k 33, bytes 17_088, category 1;
    SHA2_192S "SLH-DSA-SHA2-192s" Sha2 n 24, h 63, d 7, a 14, k 17, bytes 16_224, category 3;
    SHAKE_192S "SLH-DSA-SHAKE-192s" Shake n 24, h 63, d 7, a 14, k 17, bytes 16_224, category 3;
    SHA2_192F "SLH-DSA-SHA2-192f" Sha2 n 24, h 66, d 22, a 8, k 33, bytes 35_664, category 3;
    SHAKE_192F "SLH-DSA-SHAKE-192f" Shake n 24, h 66, d 22, a 8, k 33, bytes 35_664, category 3;
    SHA2_256S "SLH-DSA-SHA2-256s" Sha2 n 32, h 64, d 8, a 14, k 22, bytes 29_792, category 5;
    SHAKE_256S "SLH-DSA-SHAKE-256s" Shake n 32, h 64, d 8, a 14, k 22, bytes 29_792, category 5;
    SHA2_256F "SLH-DSA-SHA2-256f" Sha2 n 32, h 68, d 17, a 9, k 35, bytes 49_856, category 5;
    SHAKE_256F "SLH-DSA-SHAKE-256f" Shake n 32, h 68, d 17, a 9, k 35, bytes 49_856, category 5;
}

impl ParameterSet {
    /// The name in the standard, such as `SLH-DSA-SHA2-128s`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Bytes of a signature: 7,856 to 49,856.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        self.0.signature_len()
    }

    /// Bytes of a verifying key: 32, 48 or 64.
    #[must_use]
    pub const fn verifying_key_len(self) -> usize {
        2 * self.0.n
    }

    /// Bytes of a signing key: 64, 96 or 128.
    #[must_use]
    pub const fn signing_key_len(self) -> usize {
        4 * self.0.n
    }

    /// Bytes of each of the seeds SK.seed, SK.prf and PK.seed, and of the randomness of a signature: 16, 24 or 32.
    #[must_use]
    pub const fn seed_len(self) -> usize {
        self.0.n
    }
}

impl PartialEq for ParameterSet {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for ParameterSet {}

impl fmt::Debug for ParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Display for ParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name)
    }
}
