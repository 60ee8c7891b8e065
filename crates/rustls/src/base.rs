//! Whose symmetric cryptography, RSA and NIST curves run: graviola's, or ring's where that cannot.

use std::fmt;
use std::sync::{Arc, OnceLock};

use gambeson_pki::Algorithm;
use rustls::Error;
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
#[cfg(any(feature = "ring", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::SigningKey;

/// Loads a key of Ed25519, P-256 or P-384 from PKCS#8, which it does not keep, with the SubjectPublicKeyInfo.
type LoadCurveKey = fn(&[u8], Algorithm, Vec<u8>) -> Result<Arc<dyn SigningKey>, Error>;

/// What stands under our own algorithms.
pub(crate) struct Base {
    name: &'static str,
    pub(crate) provider: fn() -> CryptoProvider,
    pub(crate) curve_key: LoadCurveKey,
    pub(crate) x25519: &'static dyn SupportedKxGroup,
    pub(crate) p256: &'static dyn SupportedKxGroup,
    pub(crate) p384: &'static dyn SupportedKxGroup,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
static GRAVIOLA: Base = Base {
    name: "graviola",
    provider: rustls_graviola::default_provider,
    curve_key: crate::curve_key::load,
    x25519: &rustls_graviola::kx::X25519,
    p256: &rustls_graviola::kx::P256,
    p384: &rustls_graviola::kx::P384,
};

#[cfg(feature = "ring")]
static RING: Base = Base {
    name: "ring",
    provider: rustls::crypto::ring::default_provider,
    curve_key: |file, _, _| {
        rustls::crypto::ring::sign::any_supported_type(&PrivatePkcs8KeyDer::from(file).into())
    },
    x25519: rustls::crypto::ring::kx_group::X25519,
    p256: rustls::crypto::ring::kx_group::SECP256R1,
    p384: rustls::crypto::ring::kx_group::SECP384R1,
};

/// Whose symmetric cryptography, RSA, Ed25519 and NIST curves run on this processor: `graviola` or `ring`.
///
/// ```
/// assert!(["graviola", "ring"].contains(&gambeson_rustls::base()?));
/// # Ok::<(), gambeson_rustls::UnsupportedProcessor>(())
/// ```
///
/// # Errors
/// [`UnsupportedProcessor`], without the feature `ring` alone.
pub fn base() -> Result<&'static str, UnsupportedProcessor> {
    active().map(|base| base.name)
}

pub(crate) fn active() -> Result<&'static Base, UnsupportedProcessor> {
    static ACTIVE: OnceLock<Option<&'static Base>> = OnceLock::new();
    ACTIVE.get_or_init(choose).ok_or(UnsupportedProcessor)
}

fn choose() -> Option<&'static Base> {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    if graviola_runs() {
        return Some(&GRAVIOLA);
    }
    #[cfg(feature = "ring")]
    return Some(&RING);
    #[cfg(not(feature = "ring"))]
    None
}

/// graviola panics on a processor that lacks what it needs; its own question leaves out BMI2, which its README asks for.
#[cfg(target_arch = "x86_64")]
fn graviola_runs() -> bool {
    graviola::util::is_cpu_supported() && std::arch::is_x86_feature_detected!("bmi2")
}

#[cfg(target_arch = "aarch64")]
fn graviola_runs() -> bool {
    graviola::util::is_cpu_supported()
}

/// The processor is none that graviola has code for, or lacks instructions that it needs; and this program was built without ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedProcessor;

impl fmt::Display for UnsupportedProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this processor lacks instructions that TLS uses here (x86-64 with AES, PCLMULQDQ, AVX2, ADX, BMI2; aarch64 with \
             AES, PMULL, SHA2); a build of gambeson-rustls with feature `ring` works on others",
        )
    }
}

impl std::error::Error for UnsupportedProcessor {}

impl From<UnsupportedProcessor> for Error {
    fn from(error: UnsupportedProcessor) -> Self {
        Self::General(error.to_string())
    }
}
