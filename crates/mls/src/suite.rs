//! The table of cipher suites.

use std::fmt;

use gambeson_hybrid::composite;
use gambeson_hybrid::hpke::{
    self, DhKemP256, DhKemP384, DhKemP521, DhKemX25519, HkdfSha256, HkdfSha384, HkdfSha512, MlKem768,
    MlKem768P256, MlKem1024, MlKem1024P384, XWing,
};
use mls_rs_core::crypto::CipherSuite;

use crate::hpke::{Hpke, Of};
use crate::signature::Signature;
use crate::symmetric::{Aead, Hash};

/// A cipher suite of MLS.
///
/// | number | suites |
/// | --- | --- |
/// | 1, 2, 3, 5, 7 | RFC 9420, section 17.1 |
/// | 0xF001 to 0xF00B | draft-ietf-mls-pq-ciphersuites-06, in its order; IANA has assigned nothing |
/// | 0xF0A1, 0xF0A2 | ours: hybrid KEMs and composite signatures, of which no draft for MLS knows |
/// | 0x004D, 0x0906 | OpenMLS 0.9.2, and no draft: in no preset, only in [`Provider::openmls`](crate::Provider::openmls) |
#[derive(Clone, Copy)]
pub struct Suite {
    number: u16,
    openmls: Option<u16>,
    name: &'static str,
    pub(crate) hpke: &'static dyn Hpke,
    pub(crate) hash: Hash,
    pub(crate) aead: Aead,
    pub(crate) signature: Signature,
}

/// How the key of a node is derived from a path secret where the KEM is post-quantum: two libraries that differ share Welcomes and
/// messages, and fail at the first commit with a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Derivation {
    /// `DeriveKeyPair` of draft-ietf-hpke-pq-04.
    #[default]
    Labeled,
    /// SHAKE256 of the secret, as OpenMLS 0.9.2 does.
    Plain,
}

macro_rules! suites {
    ($($number:literal, $openmls:expr, $name:literal, $kem:ident, $kdf:ident, $aead:ident, $hash:ident, $signature:expr;)*) => {
        &[$(Suite {
            number: $number,
            openmls: $openmls,
            name: $name,
            hpke: &Of::<$kem, $kdf, hpke::$aead>::THE,
            hash: Hash::$hash,
            aead: Aead::$aead,
            signature: $signature,
        }),*]
    };
}

use Signature::{Composite, Ed25519, MlDsa44, MlDsa65, MlDsa87, P256, P384, P521};

/// All that presets have, by number.
pub static SUITES: &[Suite] = suites! {
    0x0001, None, "MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519",
        DhKemX25519, HkdfSha256, Aes128Gcm, Sha256, Ed25519;
    0x0002, None, "MLS_128_DHKEMP256_AES128GCM_SHA256_P256",
        DhKemP256, HkdfSha256, Aes128Gcm, Sha256, P256;
    0x0003, None, "MLS_128_DHKEMX25519_CHACHA20POLY1305_SHA256_Ed25519",
        DhKemX25519, HkdfSha256, ChaCha20Poly1305, Sha256, Ed25519;
    0x0005, None, "MLS_256_DHKEMP521_AES256GCM_SHA512_P521",
        DhKemP521, HkdfSha512, Aes256Gcm, Sha512, P521;
    0x0007, None, "MLS_256_DHKEMP384_AES256GCM_SHA384_P384",
        DhKemP384, HkdfSha384, Aes256Gcm, Sha384, P384;
    0xf001, Some(0x004f), "MLS_128_MLKEM768X25519_AES128GCM_SHA256_Ed25519",
        XWing, HkdfSha256, Aes128Gcm, Sha256, Ed25519;
    0xf002, Some(0x004e), "MLS_128_MLKEM768X25519_AES256GCM_SHA384_Ed25519",
        XWing, HkdfSha384, Aes256Gcm, Sha384, Ed25519;
    0xf003, None, "MLS_128_MLKEM768P256_AES128GCM_SHA256_P256",
        MlKem768P256, HkdfSha256, Aes128Gcm, Sha256, P256;
    0xf004, None, "MLS_128_MLKEM768P256_AES256GCM_SHA384_P256",
        MlKem768P256, HkdfSha384, Aes256Gcm, Sha384, P256;
    0xf005, None, "MLS_192_MLKEM1024P384_AES256GCM_SHA384_P384",
        MlKem1024P384, HkdfSha384, Aes256Gcm, Sha384, P384;
    0xf006, Some(0xf042), "MLS_128_MLKEM768_AES256GCM_SHA384_Ed25519",
        MlKem768, HkdfSha384, Aes256Gcm, Sha384, Ed25519;
    0xf007, Some(0x0050), "MLS_128_MLKEM768_AES256GCM_SHA384_P256",
        MlKem768, HkdfSha384, Aes256Gcm, Sha384, P256;
    0xf008, Some(0x0042), "MLS_192_MLKEM1024_AES256GCM_SHA384_P384",
        MlKem1024, HkdfSha384, Aes256Gcm, Sha384, P384;
    0xf009, Some(0x0052), "MLS_128_MLKEM768X25519_CHACHA20POLY1305_SHA384_MLDSA44",
        XWing, HkdfSha384, ChaCha20Poly1305, Sha384, MlDsa44;
    0xf00a, Some(0x0051), "MLS_192_MLKEM768_AES256GCM_SHA384_MLDSA65",
        MlKem768, HkdfSha384, Aes256Gcm, Sha384, MlDsa65;
    0xf00b, Some(0x0907), "MLS_256_MLKEM1024_AES256GCM_SHA384_MLDSA87",
        MlKem1024, HkdfSha384, Aes256Gcm, Sha384, MlDsa87;
    0xf0a1, None, "MLS_128_MLKEM768X25519_AES256GCM_SHA384_MLDSA65Ed25519",
        XWing, HkdfSha384, Aes256Gcm, Sha384, Composite(&composite::MLDSA65_ED25519_SHA512);
    0xf0a2, None, "MLS_192_MLKEM1024P384_AES256GCM_SHA384_MLDSA87P384",
        MlKem1024P384, HkdfSha384, Aes256Gcm, Sha384, Composite(&composite::MLDSA87_ECDSA_P384_SHA512);
};

/// Those that OpenMLS 0.9.2 has and no draft: apart from the others, so that neither a preset nor a number finds them without its derivation.
pub(crate) static OF_OPENMLS: &[Suite] = suites! {
    0x004d, Some(0x004d), "MLS_256_XWING_CHACHA20POLY1305_SHA256_Ed25519",
        XWing, HkdfSha256, ChaCha20Poly1305, Sha256, Ed25519;
    0x0906, Some(0x0906), "MLS_256_MLKEM1024_AES256GCM_SHA512_MLDSA87",
        MlKem1024, HkdfSha512, Aes256Gcm, Sha512, MlDsa87;
};

impl Suite {
    /// The suite of that number in [`SUITES`].
    #[must_use]
    pub fn by_number(number: u16) -> Option<&'static Self> {
        SUITES.iter().find(|suite| suite.number == number)
    }

    /// The suite of that name in [`SUITES`], as in the registry.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        SUITES.iter().find(|suite| suite.name == name)
    }

    /// The number on the wire.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// The number that OpenMLS 0.9.2 has for a post-quantum suite, if it has the suite.
    #[must_use]
    pub const fn openmls_number(&self) -> Option<u16> {
        self.openmls
    }

    /// The name, as in the registry.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The signature algorithm, as the name has it: its last part, such as `MLDSA65`, `Ed25519`, `P384`.
    #[must_use]
    pub fn signature_name(&self) -> &'static str {
        self.name.rsplit('_').next().unwrap_or(self.name)
    }

    /// The number, as mls-rs has it.
    #[must_use]
    pub fn cipher_suite(&self) -> CipherSuite {
        self.number.into()
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Suite({:#06x}, {})", self.number, self.name)
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
