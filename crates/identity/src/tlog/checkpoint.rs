//! Checkpoints: the size and the root of a log, signed by it (c2sp.org/tlog-checkpoint, c2sp.org/tlog-cosignature).

use super::MAX_AHEAD;
use super::merkle::Hash;
use super::note::{self, Note};
use crate::kdf::decimal;
use crate::{Algorithm, Error, Reason, Result, SigningKey, Timestamp, VerifyingKey};
use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};

/// The type of an ML-DSA-44 cosignature.
const SIGNATURE_TYPE: u8 = 0x06;
/// What a cosignature begins with.
const LABEL: &[u8; 12] = b"subtree/v1\n\0";
/// The longest origin: its length stands in one byte of what is signed.
const MAX_ORIGIN: usize = 255;

/// The state of a log: how many entries it has, and the root of their tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log.
    pub origin: String,
    /// The number of entries.
    pub size: u64,
    /// The root hash (RFC 6962, §2.1).
    pub root: Hash,
}

/// A checkpoint as a signed note. Nothing of it holds before [`SignedCheckpoint::verify`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    note: Note,
}

impl SignedCheckpoint {
    /// Signs a checkpoint with the key of the log, whose name is the origin.
    ///
    /// # Errors
    ///
    /// [`Reason::BadAlgorithm`] for a key that is not of ML-DSA-44, [`Reason::BadCheckpoint`] for an origin that cannot name
    /// a key, [`Reason::NoRandomness`].
    pub fn sign(checkpoint: Checkpoint, key: &SigningKey, now: Timestamp) -> Result<Self> {
        let id = key_id(&checkpoint.origin, &key.verifying_key())?;
        let text = format!(
            "{}\n{}\n{}\n",
            checkpoint.origin,
            checkpoint.size,
            Base64::encode_string(&checkpoint.root)
        );
        let mut signature = now.0.to_be_bytes().to_vec();
        signature.extend_from_slice(&key.sign(b"", &checkpoint.signed_message(now.0))?);
        let line = note::Signature { name: checkpoint.origin.clone(), id, signature };
        Ok(Self { checkpoint, note: Note { text, signatures: vec![line] } })
    }

    /// Reads a note.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`], [`Reason::BadCheckpoint`].
    pub fn parse(note: &[u8]) -> Result<Self> {
        let note = Note::parse(note)?;
        let checkpoint = Checkpoint::parse(&note.text)?;
        Ok(Self { checkpoint, note })
    }

    /// Checks that the log of this name and key signed it, and gives it with the time of the signature.
    ///
    /// Lines of other signers are passed over.
    ///
    /// # Errors
    ///
    /// [`Reason::BadCheckpoint`] for another log, [`Reason::BadSignature`] without a signature of its key, or with one that
    /// does not fit, [`Reason::NotYetValid`] for a time more than [`MAX_AHEAD`] seconds ahead.
    pub fn verify(
        &self,
        origin: &str,
        key: &VerifyingKey,
        now: Timestamp,
    ) -> Result<(&Checkpoint, Timestamp)> {
        let id = key_id(origin, key)?;
        if self.checkpoint.origin != origin {
            return Err(bad("it is from another log"));
        }
        let mut found = None;
        for line in self.note.signatures.iter().filter(|line| line.name == origin && line.id == id) {
            let refused = || Error::new(Reason::BadSignature, "not a cosignature");
            let (time, signature) = line.signature.split_first_chunk::<8>().ok_or_else(refused)?;
            let time = u64::from_be_bytes(*time);
            key.verify(b"", &self.checkpoint.signed_message(time), signature)?;
            found = found.max(Some(time));
        }
        let time =
            found.ok_or_else(|| Error::new(Reason::BadSignature, "the log did not sign this checkpoint"))?;
        let time = Timestamp(time);
        now.not_before(time, MAX_AHEAD, "the checkpoint")?;
        Ok((&self.checkpoint, time))
    }

    /// What the note says, which nobody may have signed.
    pub fn unverified(&self) -> &Checkpoint {
        &self.checkpoint
    }
}

impl core::fmt::Display for SignedCheckpoint {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.note.fmt(f)
    }
}

impl Checkpoint {
    /// `cosigned_message` of the whole tree.
    fn signed_message(&self, time: u64) -> Vec<u8> {
        // Both names are the origin; its length was checked with the key's identifier.
        let name = [&[u8::try_from(self.origin.len()).unwrap_or(u8::MAX)], self.origin.as_bytes()].concat();
        let (start, end) = (0_u64.to_be_bytes(), self.size.to_be_bytes());
        [&LABEL[..], &name, &time.to_be_bytes(), &name, &start, &end, &self.root].concat()
    }

    /// Three lines and no more: lines of extension would not be signed.
    fn parse(text: &str) -> Result<Self> {
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
        let [origin, size, root] = lines[..] else {
            return Err(bad("a checkpoint must have three lines: origin, size, root"));
        };
        let size = decimal(size).ok_or_else(|| bad("the size is not a decimal number"))?;
        let mut hash = [0; 32];
        match Base64::decode(root, &mut hash) {
            Ok(decoded) if decoded.len() == 32 => {}
            _ => return Err(bad("the root is not a hash in Base64")),
        }
        check_origin(origin)?;
        Ok(Self { origin: origin.to_owned(), size, root: hash })
    }
}

/// The identifier of a log's key: the first bytes of SHA-256(origin ‖ `\n` ‖ 0x06 ‖ key).
///
/// # Errors
///
/// [`Reason::BadAlgorithm`], [`Reason::BadCheckpoint`].
pub fn key_id(origin: &str, key: &VerifyingKey) -> Result<[u8; 4]> {
    check_origin(origin)?;
    if key.algorithm() != Algorithm::MlDsa44 {
        return Err(Error::new(Reason::BadAlgorithm, "checkpoints must be signed with ML-DSA-44"));
    }
    let hash = Sha256::new()
        .chain_update(origin)
        .chain_update([b'\n', SIGNATURE_TYPE])
        .chain_update(key.as_bytes())
        .finalize();
    Ok([hash[0], hash[1], hash[2], hash[3]])
}

/// A log's key as the programs of C2SP read it: `ORIGIN+ID+BASE64(0x06 ‖ key)` (c2sp.org/signed-note, verifier keys).
///
/// # Errors
///
/// As [`key_id`].
pub fn verifier_key(origin: &str, key: &VerifyingKey) -> Result<String> {
    let id = u32::from_be_bytes(key_id(origin, key)?);
    let key = [&[SIGNATURE_TYPE], key.as_bytes()].concat();
    Ok(format!("{origin}+{id:08x}+{}", Base64::encode_string(&key)))
}

fn check_origin(origin: &str) -> Result<()> {
    if note::is_name(origin) && origin.len() <= MAX_ORIGIN {
        Ok(())
    } else {
        Err(bad("an origin must have 1 to 255 bytes without spaces and plus signs"))
    }
}

fn bad(what: impl core::fmt::Display) -> Error {
    Error::new(Reason::BadCheckpoint, what)
}
