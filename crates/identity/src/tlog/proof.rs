//! Proofs of inclusion that need nothing else: c2sp.org/tlog-proof@v1.

use super::checkpoint::{Checkpoint, SignedCheckpoint};
use super::merkle::{Hash, leaf_hash, verify_inclusion};
use super::note::MAX_NOTE;
use crate::kdf::decimal;
use crate::{Error, Reason, Result, Timestamp, VerifyingKey};
use base64ct::{Base64, Encoding};

const HEADER: &str = "c2sp.org/tlog-proof@v1";
/// The longest path: a tree has at most 2^64 entries.
const MAX_PATH: usize = 64;
/// The longest extra data that is read, in bytes.
const MAX_EXTRA: usize = 64 << 10;

/// That an entry is in a log: its index, the path to the root, and the signed checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    index: u64,
    path: Vec<Hash>,
    extra: Option<Vec<u8>>,
    checkpoint: SignedCheckpoint,
}

/// What a proof proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Included {
    /// Where the entry stands, from 0.
    pub index: u64,
    /// The state of the log.
    pub checkpoint: Checkpoint,
    /// When the log signed that state.
    pub signed: Timestamp,
}

impl Proof {
    pub(super) fn new(index: u64, path: Vec<Hash>, checkpoint: SignedCheckpoint) -> Self {
        Self { index, path, extra: None, checkpoint }
    }

    /// With data that nothing authenticates, for the reader's own use.
    #[must_use]
    pub fn with_extra(self, extra: &[u8]) -> Self {
        Self { extra: Some(extra.to_vec()), ..self }
    }

    /// The data that nothing authenticates.
    pub fn extra(&self) -> Option<&[u8]> {
        self.extra.as_deref()
    }

    /// The index that the proof claims.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Reads the text of a proof.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`], [`Reason::BadCheckpoint`], [`Reason::BadForm`].
    pub fn parse(text: &[u8]) -> Result<Self> {
        if text.len() > MAX_NOTE + 2 * MAX_EXTRA {
            return Err(Error::new(Reason::TooLarge, format_args!("a proof of {} bytes", text.len())));
        }
        let text = core::str::from_utf8(text).map_err(|_| bad("it is not UTF-8"))?;
        let (head, checkpoint) = text.split_once("\n\n").ok_or_else(|| bad("there is no empty line"))?;
        let mut lines = head.split('\n').peekable();
        if lines.next() != Some(HEADER) {
            return Err(bad(format_args!("it does not begin with {HEADER}")));
        }
        let extra = lines.next_if(|line| line.starts_with("extra ")).map(|line| &line["extra ".len()..]);
        let extra = extra
            .map(|base64| Base64::decode_vec(base64).map_err(|_| bad("extra is not Base64")))
            .transpose()?;
        if extra.as_ref().is_some_and(|extra| extra.len() > MAX_EXTRA) {
            return Err(Error::new(Reason::TooLarge, "the extra data of a proof"));
        }
        let index = lines.next().and_then(|line| line.strip_prefix("index ")).and_then(decimal);
        let index = index.ok_or_else(|| bad("the index is missing"))?;
        let path = lines.map(hash).collect::<Result<Vec<_>>>()?;
        if path.len() > MAX_PATH {
            return Err(bad("the path is longer than a tree is high"));
        }
        Ok(Self { index, path, extra, checkpoint: SignedCheckpoint::parse(checkpoint.as_bytes())? })
    }

    /// Checks the signature of the log and the path from `entry` to the root it signed.
    ///
    /// # Errors
    ///
    /// [`Reason::NotIncluded`], or those of [`SignedCheckpoint::verify`].
    pub fn verify(&self, entry: &[u8], origin: &str, key: &VerifyingKey, now: Timestamp) -> Result<Included> {
        let (checkpoint, signed) = self.checkpoint.verify(origin, key, now)?;
        verify_inclusion(&leaf_hash(entry), self.index, checkpoint.size, &self.path, &checkpoint.root)?;
        Ok(Included { index: self.index, checkpoint: checkpoint.clone(), signed })
    }
}

impl core::fmt::Display for Proof {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        writeln!(f, "{HEADER}")?;
        if let Some(extra) = &self.extra {
            writeln!(f, "extra {}", Base64::encode_string(extra))?;
        }
        writeln!(f, "index {}", self.index)?;
        self.path.iter().try_for_each(|hash| writeln!(f, "{}", Base64::encode_string(hash)))?;
        write!(f, "\n{}", self.checkpoint)
    }
}

fn hash(line: &str) -> Result<Hash> {
    let mut hash = [0; 32];
    match Base64::decode(line, &mut hash) {
        Ok(decoded) if decoded.len() == 32 => Ok(hash),
        _ => Err(bad("a line of the path is not a hash in Base64")),
    }
}

fn bad(what: impl core::fmt::Display) -> Error {
    Error::new(Reason::BadForm, format_args!("not a proof of inclusion: {what}"))
}
