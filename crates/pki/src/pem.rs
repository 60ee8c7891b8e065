//! PEM, as programs write it: the lax grammar of RFC 7468, §3.

use std::borrow::Cow;

use base64ct::{Base64Unpadded, Encoding};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::outline;

const BEGIN: &[u8] = b"-----BEGIN ";
const DASHES: &[u8] = b"-----";
/// Text editors of Windows put it in front.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A block of a PEM file, decoded; its bytes are wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct PemBlock {
    label: &'static str,
    der: Zeroizing<Vec<u8>>,
}

impl PemBlock {
    /// Reads the blocks with one of these labels in their order, passing over other blocks and the text around them.
    ///
    /// Taken are a byte order mark, every line end, lines of every length, white space before, within and behind the base64 text, and headers
    /// (RFC 1421) before it.
    ///
    /// ```
    /// use gambeson_pki::PemBlock;
    ///
    /// let file = b"a comment\r\n-----BEGIN X-----\r\n  aGVs bG8=\r\n-----END X-----\r\n\r\n";
    /// let blocks = PemBlock::read_all(file, &["X"])?;
    /// assert_eq!((blocks[0].label(), blocks[0].as_der()), ("X", &b"hello"[..]));
    /// # Ok::<(), gambeson_pki::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Pem`] for a file without any block; [`Error::PemBlock`] for a block with such a label that has no end or is not base64; [`Error::Label`]
    /// for a file with other blocks alone; [`Error::UnsupportedEncryption`] for a block in the encryption of RFC 1421.
    pub fn read_all(file: &[u8], labels: &[&'static str]) -> Result<Vec<Self>, Error> {
        let (mut blocks, mut other) = (Vec::new(), None);
        for armored in Blocks(file) {
            match labels.iter().find(|label| label.as_bytes() == armored.label) {
                Some(label) => blocks.push(Self { label, der: armored.decode(label)? }),
                None => {
                    other.get_or_insert(armored.label);
                }
            }
        }
        match other {
            _ if !blocks.is_empty() => Ok(blocks),
            Some(other) => Err(Error::Label {
                expected: labels.first().copied().unwrap_or_default(),
                found: String::from_utf8_lossy(other).into_owned(),
            }),
            None => Err(Error::Pem),
        }
    }

    /// What its BEGIN line says.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        self.label
    }

    /// The bytes.
    #[must_use]
    pub fn as_der(&self) -> &[u8] {
        &self.der
    }

    /// The one block of a file.
    pub(crate) fn read_one(
        file: &[u8],
        labels: &[&'static str],
        objects: &'static str,
    ) -> Result<Self, Error> {
        let mut blocks = Self::read_all(file, labels)?;
        match (blocks.pop(), blocks.len()) {
            (Some(block), 0) => Ok(block),
            (_, more) => Err(Error::Several { objects, count: more + 1 }),
        }
    }
}

impl std::fmt::Debug for PemBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PemBlock({}, {} bytes)", self.label, self.der.len())
    }
}

/// The DER of a file: the file itself, or the one block of PEM with one of these labels in it.
pub(crate) fn der_of<'a>(
    file: &'a [u8],
    labels: &[&'static str],
    objects: &'static str,
) -> Result<Cow<'a, [u8]>, Error> {
    if is_der(file) {
        return Ok(Cow::Borrowed(file));
    }
    PemBlock::read_one(file, labels, objects).map(|mut block| Cow::Owned(std::mem::take(&mut *block.der)))
}

/// Returns true for a file in DER, which begins with a SEQUENCE as long as the file; text may begin with the same character.
#[must_use]
pub fn is_der(file: &[u8]) -> bool {
    file.first() == Some(&0x30) && (outline::is_whole(file) || Blocks(file).next().is_none())
}

/// A block whose text is not decoded yet.
struct Armored<'a> {
    label: &'a [u8],
    /// The text between the lines; `None` where the END line is missing or another one.
    text: Option<&'a [u8]>,
}

/// The blocks of a file; a BEGIN line stands at the beginning of a line.
struct Blocks<'a>(&'a [u8]);

impl<'a> Iterator for Blocks<'a> {
    type Item = Armored<'a>;

    fn next(&mut self) -> Option<Armored<'a>> {
        loop {
            self.0 = skip_space(self.0);
            if let Some((label, rest)) = self.0.strip_prefix(BEGIN).and_then(label) {
                let end = find(rest, DASHES).unwrap_or(rest.len());
                let (text, behind) = rest.split_at(end);
                let behind = behind.strip_prefix(b"-----END ");
                let behind = behind.and_then(|behind| behind.strip_prefix(label)?.strip_prefix(DASHES));
                // A block without its END line may be a comment: what comes in it is looked at too.
                self.0 = behind.unwrap_or(rest);
                return Some(Armored { label, text: behind.map(|_| text) });
            }
            let line = self.0.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
            self.0 = &self.0[line..];
        }
    }
}

/// A label and what follows its dashes.
fn label(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = find(text, DASHES)?;
    let label = &text[..end];
    let printable = label.iter().all(|byte| matches!(byte, b' '..=b'~'));
    (printable && !label.is_empty()).then_some((label, &text[end + DASHES.len()..]))
}

impl Armored<'_> {
    fn decode(&self, label: &'static str) -> Result<Zeroizing<Vec<u8>>, Error> {
        let damaged = |what| Error::PemBlock { label, what };
        let text = without_headers(self.text.ok_or(damaged("has no END line"))?)?;
        let no_base64 = || damaged("is not base64");
        let mut dense = Zeroizing::new(Vec::with_capacity(text.len()));
        dense.extend(text.iter().filter(|byte| !is_space(**byte)));
        let padding = dense.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > 2 || padding > 0 && !dense.len().is_multiple_of(4) {
            return Err(no_base64());
        }
        let len = dense.len() - padding;
        dense.truncate(len);
        let mut der = Zeroizing::new(vec![0; dense.len() / 4 * 3 + 2]);
        let len = Base64Unpadded::decode(&dense[..], &mut der).map_err(|_| no_base64())?.len();
        der.truncate(len);
        if der.is_empty() { Err(damaged("is empty")) } else { Ok(der) }
    }
}

/// The text behind the headers of RFC 1421, which say nothing that is needed here but that it is encrypted.
fn without_headers(text: &[u8]) -> Result<&[u8], Error> {
    let mut rest = skip_space(text);
    let mut encrypted = false;
    loop {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
        let line = &rest[..end];
        if !line.contains(&b':') {
            break;
        }
        encrypted |= line.starts_with(b"Proc-Type:") && find(line, b"ENCRYPTED").is_some();
        if encrypted && line.starts_with(b"DEK-Info:") {
            let name = line.split(|byte| *byte == b',').next().unwrap_or(line);
            return Err(legacy(&String::from_utf8_lossy(name)));
        }
        rest = skip_space(&rest[end..]);
    }
    if encrypted { Err(legacy("Proc-Type: 4,ENCRYPTED")) } else { Ok(rest) }
}

fn legacy(header: &str) -> Error {
    let name = format!("the encryption of PEM itself ({header})");
    Error::UnsupportedEncryption { name }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

fn skip_space(mut text: &[u8]) -> &[u8] {
    loop {
        match text {
            [first, rest @ ..] if is_space(*first) => text = rest,
            _ => match text.strip_prefix(BYTE_ORDER_MARK) {
                Some(rest) => text = rest,
                None => return text,
            },
        }
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
