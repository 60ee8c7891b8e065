//! The master seed, and the hierarchy of keys below it.
//!
//! `docs/spec/kdf.md` lists every context. A key is `BLAKE3-derive_key(context, seed ‖ u64_be(index))`: the material is
//! always 40 bytes, the context names the role and the algorithm, and each context gives outputs of one length. So no
//! two keys share bits, and no seed serves two algorithms. Suite `cnsa2` has contexts of its own and HKDF with SHA-384
//! (RFC 5869) in the place of BLAKE3.

use crate::{Error, Reason, Result};
use blake3::hazmat::{ContextKey, HasherExt};
use core::fmt;
use core::str::FromStr;
use gambeson::secret::Secret;
use hkdf::Hkdf;
use sha2::Sha384;

/// Which algorithms an agent uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Suite {
    /// ML-DSA-65, X-Wing, BLAKE3, XChaCha20-Poly1305: NIST category 3. It is not CNSA 2.0.
    #[default]
    Default,
    /// What CNSA 2.0 names wherever this crate chooses: ML-DSA-87, ML-KEM-1024, AES-256-GCM, SHA-384.
    ///
    /// Formats of others fix the rest, and CNSA 2.0 does not name it: Data Integrity proofs and checkpoints of logs are signed
    /// with ML-DSA-44, logs are trees of SHA-256, and memory objects have BLAKE3 names. Who must stay within CNSA 2.0 leaves
    /// these three out.
    Cnsa2,
}

impl Suite {
    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Cnsa2 => "cnsa2",
        }
    }
}

impl FromStr for Suite {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        [Self::Default, Self::Cnsa2]
            .into_iter()
            .find(|suite| suite.name() == name)
            .ok_or_else(|| Error::new(Reason::BadForm, format_args!("unknown suite {name:?}")))
    }
}

/// Lists what is derived: role number, name, then length and context with their context key, for each suite.
macro_rules! purposes {
    ($($(#[$doc:meta])* $name:ident $role:expr =>
        $default_len:literal $default:literal $key:literal,
        $cnsa2_len:literal $cnsa2:literal;)*) => {
        /// What a derived key is for. Each has contexts of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Purpose {
            $($(#[$doc])* $name,)*
        }

        impl Purpose {
            /// Every purpose.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The role's number in paths, `m/ROLE'/INDEX'`; `None` for seeds of other agents.
            pub const fn role(self) -> Option<u8> {
                match self {
                    $(Self::$name => $role,)*
                }
            }

            const fn context_and_len(self, suite: Suite) -> (&'static str, usize) {
                match suite {
                    Suite::Default => match self {
                        $(Self::$name => ($default, $default_len),)*
                    },
                    Suite::Cnsa2 => match self {
                        $(Self::$name => ($cnsa2, $cnsa2_len),)*
                    },
                }
            }

            /// The BLAKE3 hash of the default suite's context: so one derivation costs one block.
            const fn context_key(self) -> &'static ContextKey {
                match self {
                    $(Self::$name => const { &hex($key) },)*
                }
            }
        }
    };
}

purposes! {
    /// `m/0'`: authenticates sessions.
    Identity Some(0) =>
        32 "gambeson 2026-11-21 v1 m/0' identity ML-DSA-65 seed"
        "d21a9faeaa4020cbfa4851310cddf48347103dbfd8aadbb8bcdb8eb9a1d8e756",
        32 "gambeson 2026-11-21 v1 cnsa2 m/0' identity ML-DSA-87 seed";
    /// `m/1'`: signs credentials, delegations and actions.
    Signing Some(1) =>
        32 "gambeson 2026-11-21 v1 m/1' signing ML-DSA-65 seed"
        "ca04b98971f8d0604d9dbebd8ebf8521012e58949f27f0cc5f2f94872ac4e3fe",
        32 "gambeson 2026-11-21 v1 cnsa2 m/1' signing ML-DSA-87 seed";
    /// `m/2'`: signs identity cards and nothing else; the DID is its hash.
    Did Some(2) =>
        32 "gambeson 2026-11-21 v1 m/2' did ML-DSA-65 seed"
        "71c66db7b6b4a395325d44c3851f92d38e41a3fc16f2212bdade6bf279859303",
        32 "gambeson 2026-11-21 v1 cnsa2 m/2' did ML-DSA-87 seed";
    /// `m/3'`: the agent's own backups, and age files to it.
    Backup Some(3) =>
        32 "gambeson 2026-11-21 v1 m/3' backup X-Wing seed"
        "2c38a4dc8a0539c19b5866bb578ce469ae36c62d36c505b12709d64cabc807be",
        64 "gambeson 2026-11-21 v1 cnsa2 m/3' backup ML-KEM-1024 seed";
    /// `m/3'`: shows an agent that a backup is its own.
    BackupMac Some(3) =>
        32 "gambeson 2026-11-21 v1 m/3' backup authentication BLAKE3 key"
        "e9d78e2c96f06650f54b44569dbc31d34b57f63a911f713585e936b23442ace5",
        48 "gambeson 2026-11-21 v1 cnsa2 m/3' backup authentication HMAC-SHA384 key";
    /// `m/3'`: payloads that other agents seal to this one.
    Sealed Some(3) =>
        32 "gambeson 2026-11-21 v1 m/3' sealed X-Wing seed"
        "2548628caab38658a0fde14ee4517be59560e761016a51c81a7b2e2abce7a548",
        64 "gambeson 2026-11-21 v1 cnsa2 m/3' sealed ML-KEM-1024 seed";
    /// `m/3'`: peers that know plain ML-KEM alone.
    Encapsulation Some(3) =>
        64 "gambeson 2026-11-21 v1 m/3' encapsulation ML-KEM-768 seed"
        "29f66f8136e05f3fcf9556621d86662ab6762c1ba1af968d18e7ecb220f7c5e5",
        64 "gambeson 2026-11-21 v1 cnsa2 m/3' encapsulation ML-KEM-1024 seed";
    /// `m/4'`: mixed into the randomness of signatures; the index counts sessions.
    SigningHedge Some(4) =>
        32 "gambeson 2026-11-21 v1 m/4' session signing hedge key"
        "000891c10472a977cf12e6ddfdd9541af2f96793cf71712edbe3eebf3847e948",
        48 "gambeson 2026-11-21 v1 cnsa2 m/4' session signing hedge key";
    /// `m/4'`: mixed into the randomness of sealing; the index counts sessions.
    SealingHedge Some(4) =>
        32 "gambeson 2026-11-21 v1 m/4' session sealing hedge key"
        "271a7f0f2a6773ca427deac80cc1af14bdbf02fa4a4a426f73ab643656825850",
        48 "gambeson 2026-11-21 v1 cnsa2 m/4' session sealing hedge key";
    /// `m/4'`: mixed into the randomness of groups; the index counts sessions.
    GroupHedge Some(4) =>
        32 "gambeson 2026-11-21 v1 m/4' session group hedge key"
        "e79e313968b0f0e3610f81a56f77527a2d5e981da8fb28678c9cb0658a8cb292",
        48 "gambeson 2026-11-21 v1 cnsa2 m/4' session group hedge key";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with ML-DSA-44.
    GroupMlDsa44 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group ML-DSA-44 seed"
        "c586e26b4e34255ff2608fe5702307a2eaf639238816b8a5f5a0b7a98027d305",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group ML-DSA-44 seed";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with ML-DSA-65.
    GroupMlDsa65 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group ML-DSA-65 seed"
        "684a2e6ca84112cb3764d6baf6232b16bf0e8f0e25739e73133ba13a8b1d683c",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group ML-DSA-65 seed";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with ML-DSA-87.
    GroupMlDsa87 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group ML-DSA-87 seed"
        "c1988ccbdad0d65122d4e6e6457ec15fa1d8d6921347d65c79268b128609ba1a",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group ML-DSA-87 seed";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with Ed25519.
    GroupEd25519 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group Ed25519 seed"
        "9be9a6c4667852b97ebacd4efdf9ebc8c99f6b519960817d6b86085fe01ffc70",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group Ed25519 seed";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with ECDSA on P-256.
    GroupEcdsaP256 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group ECDSA-P256-SHA256 seed"
        "a402a773c1631157eab253126267b1193beee7a2099e9f1743ca68f9a2b98477",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group ECDSA-P256-SHA256 seed";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with ECDSA on P-384.
    GroupEcdsaP384 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group ECDSA-P384-SHA384 seed"
        "5c0febc657a89ec2febe7798e8442f7b7165066a0925337063d494c2364f0645",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group ECDSA-P384-SHA384 seed";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with ECDSA on P-521.
    GroupEcdsaP521 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group ECDSA-P521-SHA512 seed"
        "e252a7200fc567112a5d811c03fdc04c1236b9c0b05ee2060ed98f781ebc2cdb",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group ECDSA-P521-SHA512 seed";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with the composite of ML-DSA-65 and Ed25519.
    GroupMlDsa65Ed25519 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group MLDSA65-Ed25519-SHA512 seed"
        "ebe2b4b864640801de45a29914f33da6525cac5f8b2bccab217f2eb1983af55e",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group MLDSA65-Ed25519-SHA512 seed";
    /// `m/5'`: a leaf of a group (MLS) whose suite signs with the composite of ML-DSA-87 and ECDSA on P-384.
    GroupMlDsa87EcdsaP384 Some(5) =>
        32 "gambeson 2026-11-21 v1 m/5' group MLDSA87-ECDSA-P384-SHA512 seed"
        "bb9a2b56cdeebfc3000d22f14c528e613ffcb70207fd01cad37ef7ef79a7a7d3",
        32 "gambeson 2026-11-21 v1 cnsa2 m/5' group MLDSA87-ECDSA-P384-SHA512 seed";
    /// `m/6'`: Data Integrity proofs (`mldsa44-jcs-2024`).
    DataIntegrity Some(6) =>
        32 "gambeson 2026-11-21 v1 m/6' data integrity ML-DSA-44 seed"
        "5a73498b499a163862c9e1ccc1cdfa10da3cc7990a2c3940d3b35a507d6c0742",
        32 "gambeson 2026-11-21 v1 cnsa2 m/6' data integrity ML-DSA-44 seed";
    /// `m/6'`: checkpoints of logs.
    Log Some(6) =>
        32 "gambeson 2026-11-21 v1 m/6' log ML-DSA-44 seed"
        "d2f6fb8adb395523b38e16f8371828f7118cb1a2de319c6ffbb02826b8dde820",
        32 "gambeson 2026-11-21 v1 cnsa2 m/6' log ML-DSA-44 seed";
    /// `m/7'`: encrypts state at rest.
    State Some(7) =>
        32 "gambeson 2026-11-21 v1 m/7' state XChaCha20-Poly1305 key"
        "f761be1940c4e6c2cea76fd6525f8f316acdc88e59b688836223ca66c509d453",
        32 "gambeson 2026-11-21 v1 cnsa2 m/7' state AES-256-GCM key";
    /// The master seed of another agent of a fleet, which can be given away without giving this one.
    Child None =>
        32 "gambeson 2026-11-21 v1 child agent master seed"
        "a2888464454e9ef85ceb84d06e44cf5ee7cd10b9d0fcebf08f0311863c9c8afd",
        32 "gambeson 2026-11-21 v1 cnsa2 child agent master seed";
}

impl Purpose {
    /// The context string.
    pub const fn context(self, suite: Suite) -> &'static str {
        self.context_and_len(suite).0
    }

    /// Length of what is derived, in bytes.
    pub const fn output_len(self, suite: Suite) -> usize {
        self.context_and_len(suite).1
    }
}

/// A path of the hierarchy, `m/ROLE'` or `m/ROLE'/INDEX'`, roles 0 to 7; every step is hardened.
///
/// ```
/// use gambeson_identity::Path;
///
/// let path: Path = "m/1'/7'".parse()?;
/// assert_eq!((path.role, path.index), (1, 7));
/// assert!("m/1h".parse::<Path>().is_err());
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The role's number.
    pub role: u8,
    /// The index below it; `m/1'` is short for `m/1'/0'`.
    pub index: u64,
}

impl FromStr for Path {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused =
            || Error::new(Reason::BadPath, "a path must be m/ROLE' or m/ROLE'/INDEX', with roles 0 to 7");
        let mut steps = text.strip_prefix("m/").ok_or_else(refused)?.split('/');
        let mut step = || steps.next().map(|step| hardened(step).ok_or_else(refused)).transpose();
        let role = step()?.and_then(|role| u8::try_from(role).ok()).filter(|role| *role <= 7);
        let role = role.ok_or_else(refused)?;
        let index = step()?.unwrap_or(0);
        if step()?.is_some() {
            return Err(refused());
        }
        Ok(Self { role, index })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m/{}'/{}'", self.role, self.index)
    }
}

/// `0'`, `1'` …: decimal digits without leading zeros, then an apostrophe.
fn hardened(step: &str) -> Option<u64> {
    let digits = step.strip_suffix('\'')?;
    decimal(digits)
}

/// Decimal digits without leading zeros or a sign.
pub(crate) fn decimal(digits: &str) -> Option<u64> {
    let plain =
        digits.bytes().all(|digit| digit.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain { digits.parse().ok() } else { None }
}

/// The 32 bytes that an agent's keys all come from.
///
/// It shows itself to nobody: no bytes, no copy, no text. It is backed up in words, shares or a file that a passphrase
/// protects (module `recovery`), and wiped when dropped.
///
/// ```
/// # let seed = gambeson_identity::MasterSeed::generate()?;
/// let copy = gambeson_identity::Suite::Default.clone();
/// let words: &str = &gambeson_identity::recovery::words(&seed);
/// serde_json::to_string(&words);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # let seed = gambeson_identity::MasterSeed::generate()?;
/// let copy = seed.clone();
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # let seed = gambeson_identity::MasterSeed::generate()?;
/// let bytes: &[u8] = seed.as_bytes();
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
///
/// ```compile_fail,E0277
/// # let seed = gambeson_identity::MasterSeed::generate()?;
/// serde_json::to_string(&seed);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
pub struct MasterSeed(Secret<[u8; 32]>);

impl MasterSeed {
    /// A new seed from the operating system.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`].
    pub fn generate() -> Result<Self> {
        let mut seed = Self(Secret::new([0; 32]));
        getrandom::fill(seed.0.expose_mut())
            .map_err(|_| Error::new(Reason::NoRandomness, "the system's generator failed"))?;
        Ok(seed)
    }

    /// A seed that was made elsewhere: 256 random bits. The caller wipes its own copy.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(Secret::new(*bytes))
    }

    /// The bytes, for what keeps them: words, shares, files under a passphrase.
    pub(crate) fn expose(&self) -> &[u8; 32] {
        self.0.expose()
    }

    /// The seed of agent number `index` of this agent's fleet.
    #[must_use]
    pub fn child(&self, suite: Suite, index: u64) -> Self {
        Self(self.derive_32(suite, Purpose::Child, index))
    }

    /// Derives a key of a session (`m/4'/index'`) and wipes it: a door for the benchmark, no part of the interface.
    #[doc(hidden)]
    pub fn derive_session_key(&self, suite: Suite, index: u64) {
        let _ = core::hint::black_box(crate::entropy::Hedge::new(self, suite, Purpose::SigningHedge, index));
    }

    /// The key of a purpose as bytes, for test vectors alone.
    #[cfg(feature = "test-vectors")]
    pub fn derived(&self, suite: Suite, purpose: Purpose, index: u64) -> Vec<u8> {
        match purpose.output_len(suite) {
            32 => self.derive::<32>(suite, purpose, index).expose().to_vec(),
            48 => self.derive::<48>(suite, purpose, index).expose().to_vec(),
            _ => self.derive::<64>(suite, purpose, index).expose().to_vec(),
        }
    }

    pub(crate) fn derive_32(&self, suite: Suite, purpose: Purpose, index: u64) -> Secret<[u8; 32]> {
        self.derive(suite, purpose, index)
    }

    /// The key of a purpose; `N` is its length in this suite.
    pub(crate) fn derive<const N: usize>(
        &self,
        suite: Suite,
        purpose: Purpose,
        index: u64,
    ) -> Secret<[u8; N]> {
        assert_eq!(N, purpose.output_len(suite), "a purpose has one length");
        let mut out = Secret::new([0; N]);
        match suite {
            Suite::Default => {
                let mut hasher = blake3::Hasher::new_from_context_key(purpose.context_key());
                hasher.update(self.0.expose()).update(&index.to_be_bytes());
                if N == 32 {
                    let mut hash = hasher.finalize();
                    out.expose_mut().copy_from_slice(hash.as_slice());
                    // At once: `zeroize` would take its bytes one by one.
                    hash = blake3::Hash::from_bytes([0; 32]);
                    core::hint::black_box(&mut hash);
                } else {
                    let mut reader = hasher.finalize_xof();
                    reader.fill(out.expose_mut());
                    zeroize::Zeroize::zeroize(&mut reader);
                }
                // One block never reaches the hasher's stack of 1.7 KB: the block alone is wiped, which `reset` does.
                core::hint::black_box(hasher.reset());
            }
            Suite::Cnsa2 => Hkdf::<Sha384>::new(None, self.0.expose())
                .expand_multi_info(
                    &[purpose.context(suite).as_bytes(), &index.to_be_bytes()],
                    out.expose_mut(),
                )
                .expect("at most 64 bytes"),
        }
        out
    }
}

impl fmt::Debug for MasterSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterSeed(..)")
    }
}

/// 32 bytes from hexadecimal digits, when compiling.
const fn hex(digits: &str) -> ContextKey {
    const fn nibble(digit: u8) -> u8 {
        match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => panic!("a hexadecimal digit"),
        }
    }
    let digits = digits.as_bytes();
    assert!(digits.len() == 64);
    let mut bytes = [0; 32];
    let mut i = 0;
    while i < 32 {
        bytes[i] = nibble(digits[2 * i]) << 4 | nibble(digits[2 * i + 1]);
        i += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn context_keys_are_the_hashes_of_their_contexts() {
        for purpose in Purpose::ALL {
            let context = purpose.context(Suite::Default);
            let key = blake3::hazmat::hash_derive_key_context(context);
            assert_eq!(*purpose.context_key(), key, "{context}: {}", blake3::Hash::from_bytes(key).to_hex());
        }
    }

    #[test]
    fn a_derivation_is_derive_key_of_seed_and_index() {
        let seed = MasterSeed::from_bytes(&[7; 32]);
        let material: Vec<u8> = [7; 32].into_iter().chain(258_u64.to_be_bytes()).collect();
        for purpose in Purpose::ALL.iter().filter(|purpose| purpose.output_len(Suite::Default) == 32) {
            let expected = blake3::derive_key(purpose.context(Suite::Default), &material);
            assert_eq!(seed.derive_32(Suite::Default, *purpose, 258).expose(), &expected);
        }
    }

    #[test]
    fn no_two_keys_are_alike() {
        let seed = MasterSeed::from_bytes(&[7; 32]);
        let (mut contexts, mut starts) = (HashSet::new(), HashSet::new());
        for suite in [Suite::Default, Suite::Cnsa2] {
            for purpose in Purpose::ALL {
                assert!(contexts.insert(purpose.context(suite)));
                for index in [0, 1, u64::MAX] {
                    let start = match purpose.output_len(suite) {
                        32 => *seed.derive::<32>(suite, *purpose, index).expose(),
                        48 => seed.derive::<48>(suite, *purpose, index).expose()[..32].try_into().unwrap(),
                        _ => seed.derive::<64>(suite, *purpose, index).expose()[..32].try_into().unwrap(),
                    };
                    assert!(starts.insert(start), "{purpose:?} {index}");
                }
            }
        }
        assert_eq!(starts.len(), 2 * 3 * Purpose::ALL.len());
    }

    #[test]
    fn a_context_names_its_path() {
        for purpose in Purpose::ALL {
            for suite in [Suite::Default, Suite::Cnsa2] {
                let path = purpose.role().map_or("child".into(), |role| format!("m/{role}'"));
                assert!(purpose.context(suite).split(' ').any(|word| word == path));
                assert_eq!(purpose.context(suite).contains("cnsa2"), suite == Suite::Cnsa2);
            }
        }
    }

    #[test]
    fn paths_have_one_spelling() {
        for (text, role, index) in
            [("m/0'", 0, 0), ("m/4'/12'", 4, 12), ("m/7'/18446744073709551615'", 7, u64::MAX)]
        {
            assert_eq!(text.parse::<Path>(), Ok(Path { role, index }));
        }
        for text in [
            "",
            "m",
            "m/",
            "m/8'",
            "m/1",
            "m/1h",
            "m/1H",
            "m/01'",
            "m/+1'",
            "m/ 1'",
            "m/1'/",
            "m/1'/00'",
            "m/1'/1",
            "m/1'/1'/1'",
            "M/1'",
            "m/1'/18446744073709551616'",
            "m/1'/-1'",
            "/m/1'",
            "m//1'",
            "m/1''",
            "m/١'",
        ] {
            assert_eq!(text.parse::<Path>().unwrap_err().reason(), Reason::BadPath, "{text}");
        }
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", MasterSeed::from_bytes(&[7; 32])), "MasterSeed(..)");
    }
}
