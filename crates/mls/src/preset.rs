//! Which suites.

use std::fmt;
use std::str::FromStr;

use crate::suite::{SUITES, Suite};

/// Which suites a provider has, the most wanted first.
///
/// | preset | suites |
/// | --- | --- |
/// | `default` | 0xF00A: ML-KEM-768, AES-256-GCM, SHA-384, ML-DSA-65 |
/// | `hybrid` | 0xF0A1, 0xF0A2: a curve beside each post-quantum algorithm |
/// | `approved` | 0xF00A, 0xF00B, 0xF007, 0xF008, 2, 5, 7: SHA-2, HMAC, HKDF, AES-GCM, ECDSA and ECDH of NIST curves, ML-KEM, ML-DSA alone |
/// | `cnsa2` | 0xF00B: ML-KEM-1024, AES-256-GCM, SHA-384, ML-DSA-87 |
/// | `classical` | 1, 2, 3, 7, 5 |
///
/// `approved` says which algorithms run in MLS, not that a validated module runs them, and nothing of what a user of MLS does beside it. 0xF003 to 0xF005 are not in it: whether their combiner counts
/// under SP 800-227 is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// The post-quantum suite of most channels.
    #[default]
    Default,
    /// Secure while either the curves or the lattices hold.
    Hybrid,
    /// Algorithms that FIPS approves.
    Approved,
    /// What the Commercial National Security Algorithm Suite 2.0 asks for.
    Cnsa2,
    /// Nothing post-quantum.
    Classical,
    /// Every suite of the table.
    All,
}

impl Preset {
    /// All presets.
    pub const ALL: &'static [Self] =
        &[Self::Default, Self::Hybrid, Self::Approved, Self::Cnsa2, Self::Classical, Self::All];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Hybrid => "hybrid",
            Self::Approved => "approved",
            Self::Cnsa2 => "cnsa2",
            Self::Classical => "classical",
            Self::All => "all",
        }
    }

    /// Its suites, the most wanted first.
    #[must_use]
    pub fn suites(self) -> Vec<&'static Suite> {
        let numbers: &[u16] = match self {
            Self::Default => &[0xf00a],
            Self::Hybrid => &[0xf0a1, 0xf0a2],
            Self::Approved => &[0xf00a, 0xf00b, 0xf007, 0xf008, 2, 5, 7],
            Self::Cnsa2 => &[0xf00b],
            Self::Classical => &[1, 2, 3, 7, 5],
            Self::All => return SUITES.iter().collect(),
        };
        numbers.iter().filter_map(|number| Suite::by_number(*number)).collect()
    }

    /// The suite of this number, if the preset has it.
    ///
    /// ```
    /// use gambeson_mls::Preset;
    ///
    /// assert!(Preset::Approved.find(0xf00a).is_ok());
    /// let refused = Preset::Approved.find(1).unwrap_err();
    /// assert_eq!(refused.to_string(), "suite 0x0001 (MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519) is not in preset approved");
    /// ```
    ///
    /// # Errors
    /// [`NotInPreset`].
    pub fn find(self, number: u16) -> Result<&'static Suite, NotInPreset> {
        let found = self.suites().into_iter().find(|suite| suite.number() == number);
        found.ok_or(NotInPreset { number, preset: self })
    }
}

/// A suite that a preset does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInPreset {
    number: u16,
    preset: Preset,
}

impl fmt::Display for NotInPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Suite::by_number(self.number).map_or("unknown", Suite::name);
        write!(f, "suite {:#06x} ({name}) is not in preset {}", self.number, self.preset)
    }
}

impl std::error::Error for NotInPreset {}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Self::ALL.iter().copied().find(|preset| preset.name() == name).ok_or(UnknownPreset)
    }
}

/// The name is that of no preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPreset;

impl fmt::Display for UnknownPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown preset; there are")?;
        Preset::ALL.iter().try_for_each(|preset| write!(f, " {preset}"))
    }
}

impl std::error::Error for UnknownPreset {}
