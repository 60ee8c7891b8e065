//! The parameter sets (RFC 8391, §5.3 and §5.4; SP 800-208, §5).

use core::fmt;

use super::serial::{self, Functions};

/// The longest node in bytes.
pub(super) const MAX_N: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Sha256,
    Sha512,
    Shake128,
    Shake256,
}

impl Family {
    const fn functions(self, n: usize) -> &'static Functions {
        match self {
            Self::Sha256 if n == 32 => &serial::SHA_256,
            Self::Sha256 => &serial::SHA_256_192,
            Self::Sha512 => &serial::SHA_512,
            Self::Shake128 => &serial::SHAKE_128,
            Self::Shake256 => &serial::SHAKE_256,
        }
    }
}

#[derive(Debug)]
pub(super) struct Params {
    pub name: &'static str,
    pub oid: u32,
    pub family: Family,
    /// Bytes of a node.
    pub n: usize,
    /// The layers of trees, d: 1 in XMSS.
    pub layers: u32,
    /// The height of one tree, h/d.
    pub height: u32,
    /// The functions of one message after the other.
    pub functions: &'static Functions,
}

impl Params {
    /// The chains of a one-time signature, len: two digits a byte, and three of the checksum.
    pub(super) const fn chains(&self) -> usize {
        2 * self.n + 3
    }

    /// Bytes of the number before each hash: toByte(x, 4) in the sets of 192 bits, toByte(x, n) in the others.
    pub(super) const fn padding(&self) -> usize {
        if self.n == 24 { 4 } else { self.n }
    }

    /// The height of all layers, h.
    pub(super) const fn all_heights(&self) -> u32 {
        self.layers * self.height
    }

    /// Bytes of the index in a signature: 4 in XMSS, ceil(h / 8) in XMSS^MT.
    pub(super) const fn index_len(&self) -> usize {
        if self.layers == 1 { 4 } else { (self.all_heights() as usize + 7) >> 3 }
    }

    /// Bytes of the one-time signature and the authentication path of a layer.
    pub(super) const fn layer_len(&self) -> usize {
        self.n * (self.chains() + self.height as usize)
    }
}

/// A parameter set of XMSS or XMSS^MT.
#[derive(Clone, Copy)]
pub struct ParameterSet(pub(super) &'static Params);

macro_rules! sets {
    ($all:ident: $doc:literal; $($name:ident $text:literal = $oid:literal, $family:ident, n $n:literal, d $d:literal, height $height:literal;)*) => {
        impl ParameterSet {
            $(
                #[doc = concat!("`", $text, "`.")]
                pub const $name: Self = Self(&Params {
                    name: $text, oid: $oid, family: Family::$family, n: $n, layers: $d, height: $height,
                    functions: Family::$family.functions($n),
                });
            )*

            #[doc = $doc]
            pub const $all: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

sets! {
    XMSS: "Every set of XMSS, in the order of their OIDs.";
    SHA2_10_256 "XMSS-SHA2_10_256" = 0x01, Sha256, n 32, d 1, height 10;
    SHA2_16_256 "XMSS-SHA2_16_256" = 0x02, Sha256, n 32, d 1, height 16;
    SHA2_20_256 "XMSS-SHA2_20_256" = 0x03, Sha256, n 32, d 1, height 20;
    SHA2_10_512 "XMSS-SHA2_10_512" = 0x04, Sha512, n 64, d 1, height 10;
    SHA2_16_512 "XMSS-SHA2_16_512" = 0x05, Sha512, n 64, d 1, height 16;
    SHA2_20_512 "XMSS-SHA2_20_512" = 0x06, Sha512, n 64, d 1, height 20;
    SHAKE_10_256 "XMSS-SHAKE_10_256" = 0x07, Shake128, n 32, d 1, height 10;
    SHAKE_16_256 "XMSS-SHAKE_16_256" = 0x08, Shake128, n 32, d 1, height 16;
    SHAKE_20_256 "XMSS-SHAKE_20_256" = 0x09, Shake128, n 32, d 1, height 20;
    SHAKE_10_512 "XMSS-SHAKE_10_512" = 0x0a, Shake256, n 64, d 1, height 10;
    SHAKE_16_512 "XMSS-SHAKE_16_512" = 0x0b, Shake256, n 64, d 1, height 16;
    SHAKE_20_512 "XMSS-SHAKE_20_512" = 0x0c, Shake256, n 64, d 1, height 20;
    SHA2_10_192 "XMSS-SHA2_10_192" = 0x0d, Sha256, n 24, d 1, height 10;
    SHA2_16_192 "XMSS-SHA2_16_192" = 0x0e, Sha256, n 24, d 1, height 16;
    SHA2_20_192 "XMSS-SHA2_20_192" = 0x0f, Sha256, n 24, d 1, height 20;
    SHAKE256_10_256 "XMSS-SHAKE256_10_256" = 0x10, Shake256, n 32, d 1, height 10;
    SHAKE256_16_256 "XMSS-SHAKE256_16_256" = 0x11, Shake256, n 32, d 1, height 16;
    SHAKE256_20_256 "XMSS-SHAKE256_20_256" = 0x12, Shake256, n 32, d 1, height 20;
    SHAKE256_10_192 "XMSS-SHAKE256_10_192" = 0x13, Shake256, n 24, d 1, height 10;
    SHAKE256_16_192 "XMSS-SHAKE256_16_192" = 0x14, Shake256, n 24, d 1, height 16;
    SHAKE256_20_192 "XMSS-SHAKE256_20_192" = 0x15, Shake256, n 24, d 1, height 20;
}

sets! {
    XMSS_MT: "Every set of XMSS^MT, in the order of their OIDs.";
    MT_SHA2_20_2_256 "XMSSMT-SHA2_20/2_256" = 0x01, Sha256, n 32, d 2, height 10;
    MT_SHA2_20_4_256 "XMSSMT-SHA2_20/4_256" = 0x02, Sha256, n 32, d 4, height 5;
    MT_SHA2_40_2_256 "XMSSMT-SHA2_40/2_256" = 0x03, Sha256, n 32, d 2, height 20;
    MT_SHA2_40_4_256 "XMSSMT-SHA2_40/4_256" = 0x04, Sha256, n 32, d 4, height 10;
    MT_SHA2_40_8_256 "XMSSMT-SHA2_40/8_256" = 0x05, Sha256, n 32, d 8, height 5;
    MT_SHA2_60_3_256 "XMSSMT-SHA2_60/3_256" = 0x06, Sha256, n 32, d 3, height 20;
    MT_SHA2_60_6_256 "XMSSMT-SHA2_60/6_256" = 0x07, Sha256, n 32, d 6, height 10;
    MT_SHA2_60_12_256 "XMSSMT-SHA2_60/12_256" = 0x08, Sha256, n 32, d 12, height 5;
    MT_SHA2_20_2_512 "XMSSMT-SHA2_20/2_512" = 0x09, Sha512, n 64, d 2, height 10;
    MT_SHA2_20_4_512 "XMSSMT-SHA2_20/4_512" = 0x0a, Sha512, n 64, d 4, height 5;
    MT_SHA2_40_2_512 "XMSSMT-SHA2_40/2_512" = 0x0b, Sha512, n 64, d 2, height 20;
    MT_SHA2_40_4_512 "XMSSMT-SHA2_40/4_512" = 0x0c, Sha512, n 64, d 4, height 10;
    MT_SHA2_40_8_512 "XMSSMT-SHA2_40/8_512" = 0x0d, Sha512, n 64, d 8, height 5;
    MT_SHA2_60_3_512 "XMSSMT-SHA2_60/3_512" = 0x0e, Sha512, n 64, d 3, height 20;
    MT_SHA2_60_6_512 "XMSSMT-SHA2_60/6_512" = 0x0f, Sha512, n 64, d 6, height 10;
    MT_SHA2_60_12_512 "XMSSMT-SHA2_60/12_512" = 0x10, Sha512, n 64, d 12, height 5;
    MT_SHAKE_20_2_256 "XMSSMT-SHAKE_20/2_256" = 0x11, Shake128, n 32, d 2, height 10;
    MT_SHAKE_20_4_256 "XMSSMT-SHAKE_20/4_256" = 0x12, Shake128, n 32, d 4, height 5;
    MT_SHAKE_40_2_256 "XMSSMT-SHAKE_40/2_256" = 0x13, Shake128, n 32, d 2, height 20;
    MT_SHAKE_40_4_256 "XMSSMT-SHAKE_40/4_256" = 0x14, Shake128, n 32, d 4, height 10;
    MT_SHAKE_40_8_256 "XMSSMT-SHAKE_40/8_256" = 0x15, Shake128, n 32, d 8, height 5;
    MT_SHAKE_60_3_256 "XMSSMT-SHAKE_60/3_256" = 0x16, Shake128, n 32, d 3, height 20;
    MT_SHAKE_60_6_256 "XMSSMT-SHAKE_60/6_256" = 0x17, Shake128, n 32, d 6, height 10;
    MT_SHAKE_60_12_256 "XMSSMT-SHAKE_60/12_256" = 0x18, Shake128, n 32, d 12, height 5;
    MT_SHAKE_20_2_512 "XMSSMT-SHAKE_20/2_512" = 0x19, Shake256, n 64, d 2, height 10;
    MT_SHAKE_20_4_512 "XMSSMT-SHAKE_20/4_512" = 0x1a, Shake256, n 64, d 4, height 5;
    MT_SHAKE_40_2_512 "XMSSMT-SHAKE_40/2_512" = 0x1b, Shake256, n 64, d 2, height 20;
    MT_SHAKE_40_4_512 "XMSSMT-SHAKE_40/4_512" = 0x1c, Shake256, n 64, d 4, height 10;
    MT_SHAKE_40_8_512 "XMSSMT-SHAKE_40/8_512" = 0x1d, Shake256, n 64, d 8, height 5;
    MT_SHAKE_60_3_512 "XMSSMT-SHAKE_60/3_512" = 0x1e, Shake256, n 64, d 3, height 20;
    MT_SHAKE_60_6_512 "XMSSMT-SHAKE_60/6_512" = 0x1f, Shake256, n 64, d 6, height 10;
    MT_SHAKE_60_12_512 "XMSSMT-SHAKE_60/12_512" = 0x20, Shake256, n 64, d 12, height 5;
    MT_SHA2_20_2_192 "XMSSMT-SHA2_20/2_192" = 0x21, Sha256, n 24, d 2, height 10;
    MT_SHA2_20_4_192 "XMSSMT-SHA2_20/4_192" = 0x22, Sha256, n 24, d 4, height 5;
    MT_SHA2_40_2_192 "XMSSMT-SHA2_40/2_192" = 0x23, Sha256, n 24, d 2, height 20;
    MT_SHA2_40_4_192 "XMSSMT-SHA2_40/4_192" = 0x24, Sha256, n 24, d 4, height 10;
    MT_SHA2_40_8_192 "XMSSMT-SHA2_40/8_192" = 0x25, Sha256, n 24, d 8, height 5;
    MT_SHA2_60_3_192 "XMSSMT-SHA2_60/3_192" = 0x26, Sha256, n 24, d 3, height 20;
    MT_SHA2_60_6_192 "XMSSMT-SHA2_60/6_192" = 0x27, Sha256, n 24, d 6, height 10;
    MT_SHA2_60_12_192 "XMSSMT-SHA2_60/12_192" = 0x28, Sha256, n 24, d 12, height 5;
    MT_SHAKE256_20_2_256 "XMSSMT-SHAKE256_20/2_256" = 0x29, Shake256, n 32, d 2, height 10;
    MT_SHAKE256_20_4_256 "XMSSMT-SHAKE256_20/4_256" = 0x2a, Shake256, n 32, d 4, height 5;
    MT_SHAKE256_40_2_256 "XMSSMT-SHAKE256_40/2_256" = 0x2b, Shake256, n 32, d 2, height 20;
    MT_SHAKE256_40_4_256 "XMSSMT-SHAKE256_40/4_256" = 0x2c, Shake256, n 32, d 4, height 10;
    MT_SHAKE256_40_8_256 "XMSSMT-SHAKE256_40/8_256" = 0x2d, Shake256, n 32, d 8, height 5;
    MT_SHAKE256_60_3_256 "XMSSMT-SHAKE256_60/3_256" = 0x2e, Shake256, n 32, d 3, height 20;
    MT_SHAKE256_60_6_256 "XMSSMT-SHAKE256_60/6_256" = 0x2f, Shake256, n 32, d 6, height 10;
    MT_SHAKE256_60_12_256 "XMSSMT-SHAKE256_60/12_256" = 0x30, Shake256, n 32, d 12, height 5;
    MT_SHAKE256_20_2_192 "XMSSMT-SHAKE256_20/2_192" = 0x31, Shake256, n 24, d 2, height 10;
    MT_SHAKE256_20_4_192 "XMSSMT-SHAKE256_20/4_192" = 0x32, Shake256, n 24, d 4, height 5;
    MT_SHAKE256_40_2_192 "XMSSMT-SHAKE256_40/2_192" = 0x33, Shake256, n 24, d 2, height 20;
    MT_SHAKE256_40_4_192 "XMSSMT-SHAKE256_40/4_192" = 0x34, Shake256, n 24, d 4, height 10;
    MT_SHAKE256_40_8_192 "XMSSMT-SHAKE256_40/8_192" = 0x35, Shake256, n 24, d 8, height 5;
    MT_SHAKE256_60_3_192 "XMSSMT-SHAKE256_60/3_192" = 0x36, Shake256, n 24, d 3, height 20;
    MT_SHAKE256_60_6_192 "XMSSMT-SHAKE256_60/6_192" = 0x37, Shake256, n 24, d 6, height 10;
    MT_SHAKE256_60_12_192 "XMSSMT-SHAKE256_60/12_192" = 0x38, Shake256, n 24, d 12, height 5;
}

impl ParameterSet {
    /// Returns the name in RFC 8391 or SP 800-208.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the OID, with which a verifying key begins. XMSS and XMSS^MT count theirs each from 1.
    #[must_use]
    pub const fn oid(self) -> u32 {
        self.0.oid
    }

    /// Returns the set of XMSS with this OID.
    #[must_use]
    pub fn of_oid(oid: u32) -> Option<Self> {
        Self::XMSS.iter().copied().find(|set| set.oid() == oid)
    }

    /// Returns the set of XMSS^MT with this OID.
    #[must_use]
    pub fn of_mt_oid(oid: u32) -> Option<Self> {
        Self::XMSS_MT.iter().copied().find(|set| set.oid() == oid)
    }

    /// Returns true for a set of XMSS^MT.
    #[must_use]
    pub const fn is_multi_tree(self) -> bool {
        self.0.layers > 1
    }

    /// Returns true for the sets of SP 800-208. Keys of the others only verify.
    #[must_use]
    pub const fn is_approved(self) -> bool {
        self.0.n <= 32 && !matches!(self.0.family, Family::Shake128)
    }

    /// The height h: a key has 2^h signatures.
    #[must_use]
    pub const fn height(self) -> u32 {
        self.0.all_heights()
    }

    /// The number of layers of trees, d: 1 in XMSS.
    #[must_use]
    pub const fn layers(self) -> u32 {
        self.0.layers
    }

    /// Bytes of a verifying key: 4 + 2n.
    #[must_use]
    pub const fn verifying_key_len(self) -> usize {
        4 + 2 * self.0.n
    }

    /// Bytes of a signature.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        self.0.index_len() + self.0.n + self.0.layers as usize * self.0.layer_len()
    }
}

impl PartialEq for ParameterSet {
    fn eq(&self, other: &Self) -> bool {
        self.is_multi_tree() == other.is_multi_tree() && self.oid() == other.oid()
    }
}

impl Eq for ParameterSet {}

impl fmt::Debug for ParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for ParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
