//! Identities and recipients, and the Bech32 text that people paste.

use std::fmt;
use std::str::FromStr;

use bech32::primitives::checksum::Checksum;
use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use gambeson::secret::Secret;
use gambeson_hybrid::xwing;
use zeroize::Zeroizing;

const RECIPIENT_HRP: &str = "age1pq";
const IDENTITY_HRP: &str = "AGE-SECRET-KEY-PQ-";

/// A private key that opens files: an X-Wing seed of 32 bytes.
///
/// ```
/// use gambeson_age::Identity;
///
/// // The example of c2sp.org/age.
/// let text = "AGE-SECRET-KEY-PQ-1XX76JRALNLXDMEW0CRK45QMCCH4X06SE84UN3VPM33W6HWDX0H3SK3ZQFR";
/// let identity: Identity = text.parse()?;
/// assert_eq!(*identity.encode(), text);
/// assert!(identity.recipient().to_string().starts_with("age1pq1x34nzsvr0rxjsgdn8z"));
/// # Ok::<(), gambeson_age::KeyError>(())
/// ```
#[derive(Debug)]
pub struct Identity(pub(crate) xwing::DecapsulationKey);

impl Identity {
    /// Makes an identity from the operating system's generator.
    ///
    /// # Errors
    /// [`RngError`](gambeson::RngError) when that generator fails.
    pub fn generate() -> Result<Self, gambeson::RngError> {
        xwing::DecapsulationKey::generate().map(Self)
    }

    /// The identity of an X-Wing seed.
    #[must_use]
    pub fn from_seed(seed: &[u8; xwing::SEED_LEN]) -> Self {
        Self(xwing::DecapsulationKey::from_seed(seed))
    }

    /// The X-Wing seed.
    #[must_use]
    pub fn seed(&self) -> &Secret<[u8; xwing::SEED_LEN]> {
        self.0.seed()
    }

    /// The public half, to which others seal.
    #[must_use]
    pub fn recipient(&self) -> Recipient {
        Recipient(self.0.encapsulation_key())
    }

    /// The text of the private key, `AGE-SECRET-KEY-PQ-1…`; it is wiped when dropped.
    #[must_use]
    pub fn encode(&self) -> Zeroizing<String> {
        let hrp = Hrp::parse_unchecked(IDENTITY_HRP);
        Zeroizing::new(bech32::encode_upper::<LongBech32>(hrp, self.seed().expose()).expect("58 characters"))
    }

    /// Reads an identity file: one identity a line, empty lines and lines that begin with `#` left out. Identities of other kinds (X25519,
    /// plugins) are passed over, because they open nothing here, and hinder nothing.
    ///
    /// # Errors
    /// [`KeyFileError`] names the first line that is no identity, or the first of another kind if none of ours is there; a file
    /// without any identity is one too.
    pub fn parse_file(text: &str) -> Result<Vec<Self>, KeyFileError> {
        let IdentityFile { identities, passed_over } = IdentityFile::parse(text)?;
        match (identities.is_empty(), passed_over.first()) {
            (false, _) => Ok(identities),
            (true, Some(first)) => Err(*first),
            (true, None) => Err(KeyFileError::Empty),
        }
    }
}

/// Content of an identity file.
///
/// ```
/// use gambeson_age::{Identity, IdentityFile};
///
/// let ours = Identity::from_seed(&[1; 32]);
/// // The X25519 identity is the example of c2sp.org/age.
/// let text = format!(
///     "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX\n{}\n",
///     *ours.encode()
/// );
/// let file = IdentityFile::parse(&text)?;
/// assert_eq!((file.identities.len(), file.passed_over.len()), (1, 1));
/// # Ok::<(), gambeson_age::KeyFileError>(())
/// ```
#[derive(Debug)]
pub struct IdentityFile {
    /// Ours, in their order.
    pub identities: Vec<Identity>,
    /// Lines with identities of other kinds, and what they are.
    pub passed_over: Vec<KeyFileError>,
}

impl IdentityFile {
    /// Reads an identity file, in which there need not be an identity of ours.
    ///
    /// # Errors
    /// [`KeyFileError::Line`] for the first line that is no identity of any kind.
    pub fn parse(text: &str) -> Result<Self, KeyFileError> {
        let mut file = Self { identities: Vec::new(), passed_over: Vec::new() };
        let mut armor = false;
        for (number, line) in key_lines(text) {
            // An SSH key has many lines.
            armor &= !line.starts_with("-----BEGIN ");
            if armor {
                armor = !line.starts_with("-----END ");
                continue;
            }
            match line.parse() {
                Ok(identity) => file.identities.push(identity),
                Err(error @ (KeyError::NotPostQuantum(_) | KeyError::Pem(_) | KeyError::Plugin)) => {
                    armor = line.starts_with("-----BEGIN ");
                    file.passed_over.push(KeyFileError::Line { number, error });
                }
                Err(error) => return Err(KeyFileError::Line { number, error }),
            }
        }
        Ok(file)
    }
}

impl FromStr for Identity {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (hrp, data) = split_and_check(text, Side::Identity)?;
        if hrp != IDENTITY_HRP {
            return Err(if hrp.eq_ignore_ascii_case(IDENTITY_HRP) {
                KeyError::Case
            } else {
                KeyError::Unknown
            });
        }
        let seed: [u8; xwing::SEED_LEN] =
            data.as_slice().try_into().map_err(|_| KeyError::Length { actual: data.len() })?;
        let seed = Secret::new(seed);
        Ok(Self::from_seed(seed.expose()))
    }
}

/// A public key to which files are sealed: an X-Wing encapsulation key. Its text is `age1pq1…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient(pub(crate) xwing::EncapsulationKey);

impl Recipient {
    /// The X-Wing key.
    #[must_use]
    pub fn encapsulation_key(&self) -> &xwing::EncapsulationKey {
        &self.0
    }

    /// Reads a recipient file: one recipient a line, empty lines and lines that begin with `#` left out.
    ///
    /// # Errors
    /// [`KeyFileError`] names the first line that is not one of ours; a file without any recipient is one too.
    pub fn parse_file(text: &str) -> Result<Vec<Self>, KeyFileError> {
        parse_lines(text)
    }
}

impl From<xwing::EncapsulationKey> for Recipient {
    fn from(key: xwing::EncapsulationKey) -> Self {
        Self(key)
    }
}

impl FromStr for Recipient {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (hrp, data) = split_and_check(text, Side::Recipient)?;
        if hrp != RECIPIENT_HRP {
            return Err(if hrp.eq_ignore_ascii_case(RECIPIENT_HRP) {
                KeyError::Case
            } else {
                KeyError::Unknown
            });
        }
        xwing::EncapsulationKey::try_from(data.as_slice()).map(Self).map_err(|error| match error {
            xwing::EncapsulationKeyError::Length { actual } => KeyError::Length { actual },
            xwing::EncapsulationKeyError::Modulus => KeyError::Modulus,
        })
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hrp = Hrp::parse_unchecked(RECIPIENT_HRP);
        bech32::encode_lower_to_fmt::<LongBech32, _>(f, hrp, self.0.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// Why a text is not an identity or a recipient of ours. It never repeats the text, which may be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// A quantum computer breaks this kind of key; the text names the kind.
    NotPostQuantum(&'static str),
    /// It is a private key where a recipient was wanted.
    IsIdentity,
    /// It is a recipient where a private key was wanted.
    IsRecipient,
    /// It is post-quantum, and of a kind that is not built here; the text names the kind.
    Unsupported(&'static str),
    /// It is the BEGIN line of a PEM file; the text names its kind.
    Pem(&'static str),
    /// It belongs to a plugin, and this program has none.
    Plugin,
    /// It begins like no key that age knows.
    Unknown,
    /// Recipients are written in lower case, identities in upper case.
    Case,
    /// A character is missing or wrong: not Bech32, or its checksum does not fit.
    Checksum,
    /// The key has the wrong length.
    Length {
        /// How many bytes it has: 1216 make a recipient, 32 an identity.
        actual: usize,
    },
    /// The bytes are not an ML-KEM-768 key: a coefficient is not below q (FIPS 203, §7.2).
    Modulus,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPostQuantum(kind) => write!(
                f,
                "{kind} is not post-quantum; post-quantum recipients begin with `age1pq1` (`age-keygen -pq` makes one)"
            ),
            Self::IsIdentity => f.write_str("this is a private key, not a recipient"),
            Self::IsRecipient => f.write_str("this is a recipient, not a private key"),
            Self::Unsupported(kind) => write!(
                f,
                "{kind} is not supported; ask for one that begins with `age1pq1` (`age-keygen -pq` makes one)"
            ),
            Self::Pem(kind) => write!(f, "{kind}, not an age key"),
            Self::Plugin => f.write_str("this key belongs to an age plugin; plugins are not supported"),
            Self::Unknown => f.write_str("not an age key"),
            Self::Case => {
                f.write_str("the case is wrong: recipients are all lower case, private keys all upper case")
            }
            Self::Checksum => f.write_str("the checksum is wrong: the key was mistyped or cut"),
            Self::Length { actual } => {
                write!(f, "the key has {actual} bytes (a recipient has 1216, a private key 32)")
            }
            Self::Modulus => f.write_str("not an ML-KEM-768 key: a coefficient is not below q"),
        }
    }
}

impl std::error::Error for KeyError {}

/// What is wrong with a file of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyFileError {
    /// A line is not a key of ours.
    Line {
        /// Which line, counted from 1.
        number: usize,
        /// Why not.
        error: KeyError,
    },
    /// There is no key in it.
    Empty,
}

impl fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { number, error } => write!(f, "line {number}: {error}"),
            Self::Empty => f.write_str("there is no key in the file"),
        }
    }
}

impl std::error::Error for KeyFileError {}

fn parse_lines<K: FromStr<Err = KeyError>>(text: &str) -> Result<Vec<K>, KeyFileError> {
    let keys: Vec<K> = key_lines(text)
        .map(|(number, line)| line.parse().map_err(|error| KeyFileError::Line { number, error }))
        .collect::<Result<_, _>>()?;
    if keys.is_empty() { Err(KeyFileError::Empty) } else { Ok(keys) }
}

/// The lines that should be keys, each with its number.
fn key_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
    let lines = lines.map(|(index, line)| (index + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Identity,
    Recipient,
}

/// Tells the known kinds of key apart, then decodes Bech32. Kinds that are refused are named before any checksum.
fn split_and_check(text: &str, side: Side) -> Result<(&str, Zeroizing<Vec<u8>>), KeyError> {
    let lower = Zeroizing::new(text.to_ascii_lowercase());
    if let Some(refused) = other_kind(&lower, side) {
        return Err(refused);
    }
    let checked = CheckedHrpstring::new::<LongBech32>(text).map_err(|_| KeyError::Checksum)?;
    let data: Zeroizing<Vec<u8>> = Zeroizing::new(checked.byte_iter().collect());
    // The padding bits of the last character are not looked at above: one key has one text.
    let again = bech32::encode_lower::<LongBech32>(checked.hrp(), &data).map(Zeroizing::new);
    if again.as_ref().map(|again| again.as_str()) != Ok(lower.as_str()) {
        return Err(KeyError::Checksum);
    }
    Ok((&text[..text.rfind('1').ok_or(KeyError::Checksum)?], data))
}

/// Names the kinds of age key that are not ours, by how they begin.
fn other_kind(lower: &str, side: Side) -> Option<KeyError> {
    let hrp = lower.rsplit_once('1').map_or("", |(hrp, _)| hrp);
    let ours = match side {
        Side::Identity => lower.starts_with("age-secret-key-pq-1"),
        Side::Recipient => lower.starts_with("age1pq1"),
    };
    if ours {
        None
    } else if lower.starts_with("age-plugin-") {
        Some(KeyError::Plugin)
    } else if lower.starts_with("age-secret-key-pq-") {
        Some(KeyError::IsIdentity)
    } else if lower.starts_with("age-secret-key-") {
        Some(match side {
            Side::Identity => KeyError::NotPostQuantum("an X25519 identity (AGE-SECRET-KEY-1…)"),
            Side::Recipient => KeyError::IsIdentity,
        })
    } else if lower.starts_with("age1pq1") {
        Some(KeyError::IsRecipient)
    } else if lower.starts_with("ssh-") || lower.starts_with("ecdsa-sha2-") || lower.starts_with("sk-") {
        Some(KeyError::NotPostQuantum("an SSH key"))
    } else if lower.starts_with("-----begin ") {
        Some(pem_kind(lower))
    } else if lower.starts_with("github:") {
        Some(KeyError::NotPostQuantum("a list of SSH keys"))
    } else if hrp == "age" {
        Some(match side {
            Side::Identity => KeyError::IsRecipient,
            Side::Recipient => KeyError::NotPostQuantum("an X25519 recipient (age1…)"),
        })
    } else if hrp == "age1tag" || hrp == "age1tagpq" {
        Some(match (side, hrp) {
            (Side::Identity, _) => KeyError::IsRecipient,
            (Side::Recipient, "age1tag") => KeyError::NotPostQuantum("a P-256 recipient (age1tag1…)"),
            (Side::Recipient, _) => {
                KeyError::Unsupported("a recipient of ML-KEM-768 and P-256 with a tag (age1tagpq1…)")
            }
        })
    } else if hrp.starts_with("age1") {
        Some(KeyError::Plugin)
    } else {
        Some(KeyError::Unknown)
    }
}

/// Names what a BEGIN line begins. Keys of OpenSSH are classical; other labels do not tell the algorithm.
fn pem_kind(lower: &str) -> KeyError {
    if lower.contains("openssh private key") {
        return KeyError::NotPostQuantum("an SSH key");
    }
    let kinds = [
        ("private key", "a private key in PEM"),
        ("public key", "a public key in PEM"),
        ("certificate", "a certificate in PEM"),
    ];
    let kind = kinds.into_iter().find(|(label, _)| lower.contains(label));
    KeyError::Pem(kind.map_or("a PEM file", |(_, kind)| kind))
}

/// Bech32 of BIP 173 "without length limits on the data part", as the age format wants it.
///
/// The crate's own checksum stops at 1023 characters, up to which it finds every error of three characters; a
/// recipient has 1960.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LongBech32 {}

impl Checksum for LongBech32 {
    type MidstateRepr = <Bech32 as Checksum>::MidstateRepr;
    type CorrectionField = <Bech32 as Checksum>::CorrectionField;
    const ROOT_GENERATOR: Self::CorrectionField = Bech32::ROOT_GENERATOR;
    const ROOT_EXPONENTS: core::ops::RangeInclusive<usize> = Bech32::ROOT_EXPONENTS;
    const CODE_LENGTH: usize = 4096;
    const CHECKSUM_LENGTH: usize = Bech32::CHECKSUM_LENGTH;
    const GENERATOR_SH: [Self::MidstateRepr; 5] = Bech32::GENERATOR_SH;
    const TARGET_RESIDUE: Self::MidstateRepr = Bech32::TARGET_RESIDUE;
}
