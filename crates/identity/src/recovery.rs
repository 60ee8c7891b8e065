//! Keeping the master seed: words on paper, a file under a passphrase, shares with friends.
//!
//! ```
//! use gambeson_identity::{Agent, MasterSeed, recovery};
//!
//! let seed = MasterSeed::generate()?;
//! let words = recovery::words(&seed); // write them down
//! let agent = Agent::from_seed(seed);
//!
//! let again = Agent::from_seed(recovery::from_words(&words)?);
//! assert_eq!(again.did(), agent.did());
//! # Ok::<(), gambeson_identity::Error>(())
//! ```
//!
//! | form | what it is | opened by |
//! | --- | --- | --- |
//! | [`words`] | 24 words of BIP-39 in English: the 256 bits of the seed and 8 of checksum. Nothing is hashed: it is not the seed that wallets derive from words | paper and this |
//! | [`age_file`] | these words in an age file under a passphrase (scrypt) | stock age |
//! | [`protect`] | the seed in a file of `gambeson-keystore` (Argon2id, or PBKDF2 for `cnsa2`): what lies on the agent's disk | this |
//! | `shares` (feature `shares`) | SSKR shares, any few of which give the seed back | tools of Blockchain Commons |
//!
//! None of these tells the suite but [`protect`]; an agent of the other suite has another DID. `docs/spec/recovery.md` has the bytes.

use crate::{Error, MasterSeed, Reason, Result, Suite};
use bip39::{Language, Mnemonic};
use gambeson::secret::Secret;
use gambeson_age::{Encryptor, Format, HeaderError};
use gambeson_keystore::{Passphrase, Protection};
use std::io::{Read, Write};
use zeroize::Zeroizing;

#[cfg(all(feature = "shares", not(target_family = "wasm")))]
mod shares;
#[cfg(all(feature = "shares", not(target_family = "wasm")))]
pub use shares::{from_shares, shares};

/// How many words a seed has.
const WORDS: usize = 24;
/// The longest text of words that is read: a word has at most 8 letters.
const MAX_TEXT: usize = 4096;

/// The seed as 24 words with single spaces between. The text is wiped when dropped.
#[must_use]
pub fn words(seed: &MasterSeed) -> Zeroizing<String> {
    let mnemonic = Mnemonic::from_entropy_in(Language::English, seed.expose()).expect("256 bits");
    let mut text = Zeroizing::new(String::with_capacity(WORDS * 9));
    for word in mnemonic.words() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// The seed of 24 words, with any white space between them and in any case.
///
/// # Errors
///
/// [`Reason::BadWords`]: which word is unknown is told by its place, not by itself.
pub fn from_words(text: &str) -> Result<MasterSeed> {
    let bad = |what: &dyn core::fmt::Display| Error::new(Reason::BadWords, what);
    if text.len() > MAX_TEXT {
        return Err(bad(&"the text is far longer than 24 words"));
    }
    let lower = Zeroizing::new(text.to_ascii_lowercase());
    let mnemonic = Mnemonic::parse_in_normalized(Language::English, &lower).map_err(|error| match error {
        bip39::Error::UnknownWord(index) => bad(&format_args!("word {} is not in the list", index + 1)),
        bip39::Error::InvalidChecksum => {
            bad(&"the checksum does not fit: a word is wrong or two words are exchanged")
        }
        _ => bad(&"expected 24 words"),
    })?;
    let (entropy, len) = mnemonic.to_entropy_array();
    let entropy = Secret::new(entropy);
    match entropy.expose().first_chunk() {
        Some(seed) if len == 32 => Ok(MasterSeed::from_bytes(seed)),
        _ => Err(bad(&"expected 24 words")),
    }
}

/// The words in an armored age file that `age -d` opens with the passphrase; it takes the time of the passphrase's work factor.
///
/// # Errors
///
/// [`Reason::NoRandomness`].
pub fn age_file(seed: &MasterSeed, passphrase: &gambeson_age::Passphrase) -> Result<Vec<u8>> {
    let failed = |_| Error::new(Reason::NoRandomness, "the system's generator failed");
    let mut file = Encryptor::with_passphrase(passphrase, Vec::new(), Format::Armored).map_err(failed)?;
    let words = words(seed);
    for part in ["# gambeson: the master seed of an agent, 24 words of BIP-39\n", &words, "\n"] {
        file.write_all(part.as_bytes()).expect("writing to memory");
    }
    file.finish().map_err(failed)
}

/// The seed of an age file that [`age_file`] made, or of any that has 24 words in it; lines that begin with `#` are passed over.
///
/// # Errors
///
/// [`Reason::WrongPassphrase`], [`Reason::TooMuchWork`] for a work factor above the passphrase's limit, [`Reason::BadForm`] for what
/// is not an age file or was changed, [`Reason::BadWords`].
pub fn from_age_file(file: &[u8], passphrase: &gambeson_age::Passphrase) -> Result<MasterSeed> {
    use gambeson_age::{Decryptor, Error as Age};
    let refused = |error: Age| match error {
        Age::NoMatch => Error::new(Reason::WrongPassphrase, "the passphrase does not open the file"),
        Age::Header(HeaderError::WorkFactor) => Error::new(Reason::TooMuchWork, error),
        error => Error::new(Reason::BadForm, error),
    };
    let decryptor = Decryptor::new(&[passphrase], file).map_err(refused)?;
    // Room for all of it at once: a vector that grows leaves copies behind.
    let mut text = Zeroizing::new(Vec::with_capacity(MAX_TEXT + 64));
    decryptor.take(MAX_TEXT as u64 + 1).read_to_end(&mut text).map_err(|error| refused(error.into()))?;
    if text.len() > MAX_TEXT {
        return Err(Error::new(Reason::BadWords, "the text is far longer than 24 words"));
    }
    let text = core::str::from_utf8(&text).map_err(|_| Error::new(Reason::BadWords, "not a text"))?;
    let mut words = Zeroizing::new(String::with_capacity(text.len()));
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        words.push_str(line);
        words.push(' ');
    }
    from_words(&words)
}

/// The seed in a file for the agent's disk, under a passphrase, with the suite's own protection unless another is given.
///
/// # Errors
///
/// [`Reason::TooMuchWork`] for a cost out of bounds, [`Reason::NoRandomness`].
pub fn protect(
    seed: &MasterSeed,
    suite: Suite,
    passphrase: &Passphrase,
    protection: Option<Protection>,
) -> Result<Vec<u8>> {
    let usual = match suite {
        Suite::Default => Protection::DEFAULT,
        Suite::Cnsa2 => Protection::CNSA2,
    };
    gambeson_keystore::seal(seed.expose(), purpose(suite), passphrase, protection.unwrap_or(usual))
        .map_err(refused)
}

/// The seed and the suite of a file that [`protect`] made.
///
/// # Errors
///
/// [`Reason::WrongPassphrase`], [`Reason::TooMuchWork`], [`Reason::BadForm`] for what is not such a file or was changed.
pub fn unprotect(file: &[u8], passphrase: &Passphrase) -> Result<(MasterSeed, Suite)> {
    let open = |suite| gambeson_keystore::open(file, purpose(suite), passphrase).map(|seed| (seed, suite));
    let opened = match open(Suite::Default) {
        Err(gambeson_keystore::Error::OtherPurpose) => open(Suite::Cnsa2),
        opened => opened,
    };
    let (seed, suite) = opened.map_err(refused)?;
    let seed = seed
        .expose()
        .as_slice()
        .try_into()
        .map_err(|_| Error::new(Reason::BadForm, "not a seed of 32 bytes"))?;
    Ok((MasterSeed::from_bytes(seed), suite))
}

const fn purpose(suite: Suite) -> &'static str {
    match suite {
        Suite::Default => "agent master seed",
        Suite::Cnsa2 => "agent master seed cnsa2",
    }
}

fn refused(error: gambeson_keystore::Error) -> Error {
    use gambeson_keystore::Error as Keystore;
    let reason = match error {
        Keystore::WrongPassphrase => Reason::WrongPassphrase,
        Keystore::Cost | Keystore::Memory => Reason::TooMuchWork,
        Keystore::Random => Reason::NoRandomness,
        _ => Reason::BadForm,
    };
    Error::new(reason, error)
}
