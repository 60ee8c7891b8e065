//! Which instruction sets the kernels may use.
//!
//! The level is detected once, at run time; no Cargo feature selects it. [`limit`] lowers it, so that tests,
//! benchmarks and measurements reach every table of kernels that the machine can run.
//!
//! ```
//! use gambeson::cpu;
//!
//! assert!(cpu::level() <= cpu::detected());
//! cpu::limit(cpu::Level::Portable);
//! assert_eq!(cpu::level(), cpu::Level::Portable);
//! ```

use core::fmt;
use core::str::FromStr;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// An instruction set for which tables of kernels can exist, in ascending order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Plain Rust: every target.
    Portable,
    /// Arm with the DSP instructions of Armv7E-M, such as a Cortex-M4: chosen when the program is compiled.
    Armv7em,
    /// RISC-V of 32 bits with all 31 registers, where the program need not be small: chosen when it is compiled.
    Rv32,
    /// aarch64 with Advanced SIMD, little-endian; for Keccak, with the SHA3 extension as well.
    Neon,
    /// WebAssembly with 128-bit SIMD: chosen when the module is compiled, for a module cannot ask its host.
    Simd128,
    /// x86-64 with AVX2, BMI1, BMI2 and POPCNT.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL, VBMI and VBMI2.
    Avx512,
}

impl Level {
    /// Every level, in ascending order.
    pub const ALL: &'static [Self] =
        &[Self::Portable, Self::Armv7em, Self::Rv32, Self::Neon, Self::Simd128, Self::Avx2, Self::Avx512];

    /// The level's name: `portable`, `armv7em`, `rv32`, `neon`, `simd128`, `avx2` or `avx512`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Armv7em => "armv7em",
            Self::Rv32 => "rv32",
            Self::Neon => "neon",
            Self::Simd128 => "simd128",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name is not one of `portable`, `armv7em`, `rv32`, `neon`, `simd128`, `avx2`, `avx512`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLevel;

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown CPU level: expected portable, armv7em, rv32, neon, simd128, avx2 or avx512")
    }
}

impl core::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        Self::ALL.iter().copied().find(|level| level.name() == name).ok_or(UnknownLevel)
    }
}

/// The highest level that `limit` allows, as its position in [`Level::ALL`].
static LIMIT: AtomicU8 = AtomicU8::new(u8::MAX);

/// Lets no table above `level` run from now on, in the whole process.
///
/// A later call replaces the limit: `limit(Level::Avx512)` lifts it.
pub fn limit(level: Level) {
    LIMIT.store(level as u8, Ordering::Relaxed);
}

/// The highest level that this machine can run.
#[must_use]
pub fn detected() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        cpufeatures::new!(avx512, "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512vbmi2");
        cpufeatures::new!(avx2, "avx2", "bmi1", "bmi2", "popcnt");
        if avx2::get() {
            return if avx512::get() { Level::Avx512 } else { Level::Avx2 };
        }
    }
    // Advanced SIMD is part of every aarch64 target with the standard float ABI; its lanes are in order where bytes are.
    if cfg!(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")) {
        return Level::Neon;
    }
    compiled()
}

/// The level of a target whose compiler chooses.
const fn compiled() -> Level {
    if cfg!(all(target_family = "wasm", target_feature = "simd128")) {
        Level::Simd128
    } else if cfg!(gambeson_dsp) {
        Level::Armv7em
    } else if cfg!(gambeson_rv32) {
        Level::Rv32
    } else {
        Level::Portable
    }
}

/// The level in force: what the machine offers, capped by [`limit`].
///
/// Each primitive runs the best table that it has at or below this level; its `kernels()` names that one.
///
/// On WebAssembly, and on Arm and RISC-V of 32 bits, the compiler chooses, and [`limit`] changes nothing: a module, which
/// is sent over networks, and firmware hold one table.
#[must_use]
pub fn level() -> Level {
    if !matches!(compiled(), Level::Portable) {
        return compiled();
    }
    let cap = LIMIT.load(Ordering::Relaxed);
    let detected = detected();
    if detected as u8 <= cap {
        return detected;
    }
    // A cap that names another architecture's level leaves the portable table.
    if cfg!(target_arch = "x86_64") && cap == Level::Avx2 as u8 { Level::Avx2 } else { Level::Portable }
}

/// False after [`allow_sha2`] forbade the instructions for SHA-2.
static SHA2: AtomicBool = AtomicBool::new(true);

/// Allows or forbids the processor's instructions for SHA-2, in the whole process: the SHA extensions of x86-64, and those of aarch64 for
/// SHA-256 and SHA-512. They are allowed at the start.
///
/// They belong to no [`Level`]: from [`Level::Neon`] and [`Level::Avx2`] on, tables of SHA-256 and SHA-512 use them where the processor has
/// them. Without them the lanes of the level run. Messages that are hashed one after the other use them in either case.
pub fn allow_sha2(allowed: bool) {
    SHA2.store(allowed, Ordering::Relaxed);
}

/// True if the processor has instructions for SHA-256 and [`allow_sha2`] did not forbid them.
#[must_use]
pub fn sha2() -> bool {
    #[cfg(target_arch = "x86_64")]
    cpufeatures::new!(sha_256, "sha", "ssse3", "sse4.1");
    #[cfg(target_arch = "aarch64")]
    cpufeatures::new!(sha_256, "sha2");
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if sha_256::get() {
        return SHA2.load(Ordering::Relaxed);
    }
    false
}

/// True if the processor has instructions for SHA-512 as well.
#[cfg(target_arch = "aarch64")]
pub(crate) fn sha2_with_512() -> bool {
    cpufeatures::new!(sha_512, "sha3");
    sha2() && sha_512::get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_levels_correspond() {
        for level in Level::ALL.iter().copied() {
            assert_eq!(level.name().parse(), Ok(level));
        }
        assert_eq!("sse2".parse::<Level>(), Err(UnknownLevel));
    }
}
