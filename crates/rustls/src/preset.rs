//! From a name to a provider.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use gambeson_pki::Algorithm;
use rustls::crypto::{CryptoProvider, SupportedKxGroup, WebPkiSupportedAlgorithms};
use rustls::pki_types::{SignatureVerificationAlgorithm, alg_id};
use rustls::{CipherSuite, SignatureScheme};

use crate::base::{self, UnsupportedProcessor};
use crate::classical;
use crate::group::{
    Group, MLKEM1024, P256, P384, SECP256R1_MLKEM768, SECP384R1_MLKEM1024, X448, X448_MLKEM1024, X25519,
    X25519_MLKEM768,
};
use crate::scheme::{SLH_DSA, Scheme};
use crate::signing::Keys;
use crate::verification::{self, VERIFICATIONS};

/// What a provider offers and takes.
///
/// | preset | groups | handshakes signed with | chains signed with | TLS |
/// | --- | --- | --- | --- | --- |
/// | `default` | X25519MLKEM768, SecP256r1MLKEM768, SecP384r1MLKEM1024, X25519, P-256, P-384 | ML-DSA, ECDSA, Ed25519, RSA, Ed448 | the same and composites | 1.3, 1.2 |
/// | `cnsa2` | SecP384r1MLKEM1024, MLKEM1024 | ML-DSA-87 | ML-DSA-87 | 1.3, AES-256 |
/// | `fully-hybrid` | X448MLKEM1024 | MLDSA87-Ed448-SHAKE256 | composites | 1.3, 256-bit ciphers |
/// | `classical-448` | X448 | Ed448 | Ed448 | 1.3, 256-bit ciphers |
///
/// `fully-hybrid` has numbers for private use (group 0xFE48, scheme 0xFE12): both sides must be such. `classical-448` is the baseline
/// to measure it against, and does not resist quantum computers.
///
/// ```
/// use gambeson_rustls::Preset;
///
/// let provider = "fully-hybrid".parse::<Preset>()?.provider()?;
/// assert_eq!(format!("{:?}", provider.kx_groups), "[Group(X448MLKEM1024)]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// For talking to everybody, with post-quantum key exchange wherever the other side has it.
    #[default]
    Default,
    /// What the Commercial National Security Algorithm Suite 2.0 asks for.
    Cnsa2,
    /// ML-KEM-1024 and X448, ML-DSA-87 and Ed448, and nothing else in handshakes; chains may be signed with any of the seven composites.
    FullyHybrid,
    /// X448 and Ed448.
    Classical448,
}

impl Preset {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Default, Self::Cnsa2, Self::FullyHybrid, Self::Classical448];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Cnsa2 => "cnsa2",
            Self::FullyHybrid => "fully-hybrid",
            Self::Classical448 => "classical-448",
        }
    }

    /// The provider.
    ///
    /// # Errors
    /// [`UnsupportedProcessor`], without the feature `ring` alone.
    pub fn provider(self) -> Result<CryptoProvider, UnsupportedProcessor> {
        Builder::new(self).build()
    }

    fn groups(self) -> Vec<&'static Group> {
        match self {
            Self::Default => {
                vec![&X25519_MLKEM768, &SECP256R1_MLKEM768, &SECP384R1_MLKEM1024, &X25519, &P256, &P384]
            }
            Self::Cnsa2 => vec![&SECP384R1_MLKEM1024, &MLKEM1024],
            Self::FullyHybrid => vec![&X448_MLKEM1024],
            Self::Classical448 => vec![&X448],
        }
    }

    /// Our schemes before those of the base, and after.
    const fn schemes(self) -> (&'static [Scheme], &'static [Scheme]) {
        match self {
            Self::Default => (&[Scheme::ML_DSA_65, Scheme::ML_DSA_87, Scheme::ML_DSA_44], &[Scheme::ED448]),
            Self::Cnsa2 => (&[Scheme::ML_DSA_87], &[]),
            Self::FullyHybrid => (&[Scheme::MLDSA87_ED448], &[]),
            Self::Classical448 => (&[Scheme::ED448], &[]),
        }
    }

    /// Whether the base's algorithms sign too.
    const fn classical(self) -> bool {
        matches!(self, Self::Default)
    }

    fn takes_composite_chains(self) -> bool {
        matches!(self, Self::Default | Self::FullyHybrid)
    }

    fn takes_suite(self, suite: CipherSuite) -> bool {
        match self {
            Self::Default => true,
            Self::Cnsa2 => suite == CipherSuite::TLS13_AES_256_GCM_SHA384,
            Self::FullyHybrid | Self::Classical448 => {
                [CipherSuite::TLS13_AES_256_GCM_SHA384, CipherSuite::TLS13_CHACHA20_POLY1305_SHA256]
                    .contains(&suite)
            }
        }
    }
}

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

/// A provider that differs from a preset.
///
/// ```
/// use gambeson_rustls::{Builder, GROUPS, Preset, Scheme};
///
/// // A server that takes every group, and composite certificates in handshakes.
/// let provider = Builder::new(Preset::Default).groups(GROUPS).scheme(Scheme::MLDSA87_ED448).build()?;
/// assert_eq!(provider.kx_groups.len(), GROUPS.len());
/// # Ok::<(), gambeson_rustls::UnsupportedProcessor>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    preset: Preset,
    groups: Vec<&'static Group>,
    before: Vec<Scheme>,
    after: Vec<Scheme>,
}

impl Builder {
    /// What the preset has.
    #[must_use]
    pub fn new(preset: Preset) -> Self {
        let (before, after) = preset.schemes();
        Self { preset, groups: preset.groups(), before: before.into(), after: after.into() }
    }

    /// Sets the groups, the most wanted first: the client sends its key share, and with a hybrid the curve's, if that is in the list.
    #[must_use]
    pub fn groups(mut self, groups: &[&'static Group]) -> Self {
        self.groups = groups.into();
        self
    }

    /// Adds a signature scheme, as the most wanted, in place of any with its algorithm or its number.
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        let differs =
            |known: &Scheme| known.number() != scheme.number() && known.algorithm() != scheme.algorithm();
        self.before.retain(differs);
        self.after.retain(differs);
        self.before.insert(0, scheme);
        self
    }

    /// Adds the twelve signature schemes of SLH-DSA (draft-reddy-tls-slhdsa), as the least wanted: for handshakes and chains. No preset
    /// has them: signatures have 7,856 to 49,856 bytes, and those of the sets in `s` take tens to hundreds of milliseconds to make.
    ///
    /// ```
    /// use gambeson_rustls::{Builder, Preset};
    ///
    /// let provider = Builder::new(Preset::Default).slh_dsa().build()?;
    /// let offered = provider.signature_verification_algorithms.supported_schemes();
    /// assert_eq!(offered.last().map(|scheme| u16::from(*scheme)), Some(0x091c));
    /// # Ok::<(), gambeson_rustls::UnsupportedProcessor>(())
    /// ```
    #[must_use]
    pub fn slh_dsa(mut self) -> Self {
        let missing = |scheme: &Scheme| !self.before.contains(scheme) && !self.after.contains(scheme);
        let added: Vec<_> = SLH_DSA.into_iter().filter(missing).collect();
        self.after.extend(added);
        self
    }

    /// Makes the provider.
    ///
    /// # Errors
    /// [`UnsupportedProcessor`], without the feature `ring` alone.
    pub fn build(&self) -> Result<CryptoProvider, UnsupportedProcessor> {
        let mut provider = (base::active()?.provider)();
        provider.cipher_suites.retain(|suite| self.preset.takes_suite(suite.suite()));
        provider.cipher_suites.iter_mut().for_each(|suite| *suite = classical::with_edwards_curves(*suite));
        provider.kx_groups = self.groups.iter().map(|group| *group as &dyn SupportedKxGroup).collect();
        let tables = Tables::interned(self, &provider.signature_verification_algorithms);
        provider.signature_verification_algorithms =
            WebPkiSupportedAlgorithms { all: tables.all, mapping: tables.mapping };
        provider.key_provider = &tables.keys;
        Ok(provider)
    }
}

type Algorithms = &'static [&'static dyn SignatureVerificationAlgorithm];

/// The base's verification, or for Ed25519 ours: the base takes points of low order, which our files refuse.
fn strict(
    algorithm: &'static dyn SignatureVerificationAlgorithm,
) -> &'static dyn SignatureVerificationAlgorithm {
    match verification::of(Algorithm::Ed25519) {
        Some(ours) if algorithm.signature_alg_id() == alg_id::ED25519 => ours,
        _ => algorithm,
    }
}

fn all_strict(algorithms: Algorithms) -> Algorithms {
    if algorithms.iter().all(|algorithm| algorithm.signature_alg_id() != alg_id::ED25519) {
        return algorithms;
    }
    Vec::leak(algorithms.iter().map(|algorithm| strict(*algorithm)).collect())
}

/// What a provider refers to for ever: rustls asks for statics.
struct Tables {
    preset: Preset,
    before: Vec<Scheme>,
    after: Vec<Scheme>,
    all: Algorithms,
    mapping: &'static [(SignatureScheme, Algorithms)],
    keys: Keys,
}

impl Tables {
    /// One for each different set of schemes: a program that makes the same provider again and again does not grow.
    fn interned(builder: &Builder, base: &WebPkiSupportedAlgorithms) -> &'static Self {
        static KNOWN: Mutex<Vec<&'static Tables>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.iter().find(|tables| {
            (tables.preset, &tables.before, &tables.after)
                == (builder.preset, &builder.before, &builder.after)
        });
        if let Some(tables) = same {
            return tables;
        }
        let tables: &'static Self = Box::leak(Box::new(Self::new(builder, base)));
        known.push(tables);
        tables
    }

    fn new(builder: &Builder, base: &WebPkiSupportedAlgorithms) -> Self {
        let (preset, before, after) = (builder.preset, builder.before.clone(), builder.after.clone());
        let schemes: Vec<Scheme> = before.iter().chain(&after).copied().collect();
        let takes = |algorithm| {
            schemes.iter().any(|scheme| scheme.algorithm() == algorithm)
                || preset.takes_composite_chains() && verification::is_composite(algorithm)
        };
        let ours = VERIFICATIONS
            .iter()
            .filter(|verification| takes(verification.algorithm))
            .map(|verification| *verification as &dyn SignatureVerificationAlgorithm);
        let (theirs, mapped) = if preset.classical() { (base.all, base.mapping) } else { (&[][..], &[][..]) };
        let theirs = theirs.iter().map(|algorithm| strict(*algorithm));
        let p521 = preset.classical() && !classical::has_p521(base);
        let missing: &[&dyn SignatureVerificationAlgorithm] = if p521 { &[&classical::P521] } else { &[] };
        let all: Vec<_> = ours.chain(theirs).chain(missing.iter().copied()).collect();
        let entry = |scheme: &Scheme| {
            let verification = verification::of(scheme.algorithm())?;
            let one: Algorithms = Box::leak(Box::new([verification as &dyn SignatureVerificationAlgorithm]));
            Some((scheme.for_rustls(), one))
        };
        let mapping: Vec<_> = before
            .iter()
            .filter_map(entry)
            .chain(mapped.iter().map(|(scheme, algorithms)| (*scheme, all_strict(algorithms))))
            .chain(p521.then_some((SignatureScheme::ECDSA_NISTP521_SHA512, missing)))
            .chain(after.iter().filter_map(entry))
            .collect();
        Self {
            preset,
            before,
            after,
            all: Vec::leak(all),
            mapping: Vec::leak(mapping),
            keys: Keys { schemes, classical: preset.classical() },
        }
    }
}
