//! Signed notes (c2sp.org/signed-note): a text, an empty line, signature lines.

use crate::{Error, Reason, Result};
use base64ct::{Base64, Encoding};

/// The longest note that is read: room for 16 signatures of ML-DSA-87 and more.
pub(super) const MAX_NOTE: usize = 128 << 10;
/// The most signatures that are looked at; a reader must take 16.
const MAX_SIGNATURES: usize = 32;

/// One signature line: `— NAME BASE64(ID ‖ SIGNATURE)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) name: String,
    pub(super) id: [u8; 4],
    pub(super) signature: Vec<u8>,
}

/// A note that was taken apart; nothing of it was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// The text with the newline at its end.
    pub(super) text: String,
    pub(super) signatures: Vec<Signature>,
}

impl Note {
    pub(super) fn parse(note: &[u8]) -> Result<Self> {
        if note.len() > MAX_NOTE {
            return Err(Error::new(Reason::TooLarge, format_args!("a note of {} bytes", note.len())));
        }
        let note = core::str::from_utf8(note).map_err(|_| bad("not UTF-8"))?;
        if note.chars().any(|char| char < ' ' && char != '\n') {
            return Err(bad("it has a control character"));
        }
        // The last empty line parts the text from the signatures.
        let (text, lines) = note.rsplit_once("\n\n").ok_or_else(|| bad("there is no empty line"))?;
        let lines = lines.strip_suffix('\n').ok_or_else(|| bad("the last line does not end"))?;
        let signatures = lines.split('\n').map(Signature::parse).collect::<Result<Vec<_>>>()?;
        if signatures.len() > MAX_SIGNATURES {
            return Err(bad(format_args!("{} signatures", signatures.len())));
        }
        Ok(Self { text: format!("{text}\n"), signatures })
    }
}

impl core::fmt::Display for Note {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|line| {
            let bytes = [&line.id[..], &line.signature].concat();
            writeln!(f, "\u{2014} {} {}", line.name, Base64::encode_string(&bytes))
        })
    }
}

impl Signature {
    fn parse(line: &str) -> Result<Self> {
        let refused = || bad("a signature line is not `— NAME BASE64`");
        let (name, base64) =
            line.strip_prefix("\u{2014} ").and_then(|rest| rest.split_once(' ')).ok_or_else(refused)?;
        let bytes = Base64::decode_vec(base64).map_err(|_| refused())?;
        let (id, signature) = bytes.split_first_chunk::<4>().ok_or_else(refused)?;
        if !is_name(name) || signature.is_empty() {
            return Err(refused());
        }
        Ok(Self { name: name.to_owned(), id: *id, signature: signature.to_vec() })
    }
}

/// Whether a text can be the name of a key: not empty, no spaces of Unicode, no plus.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|char: char| char.is_whitespace() || char.is_control() || char == '+')
}

fn bad(what: impl core::fmt::Display) -> Error {
    Error::new(Reason::BadCheckpoint, format_args!("not a signed note: {what}"))
}
