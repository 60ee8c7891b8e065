//! The textual header: a version line, recipient stanzas that wrap the file key, a MAC.

use std::fmt;
use std::io::{self, BufRead, Read};

use base64ct::{Base64Unpadded, Encoding};
use gambeson::RngError;
use gambeson::rand_core::{TryCryptoRng, TryRng};
use gambeson::secret::Secret;
use gambeson_hybrid::hpke::{self, ChaCha20Poly1305, HkdfSha256, XWing};
use gambeson_hybrid::xwing;
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::{Error, HeaderError};
use crate::keys::{Identity, Recipient};
use crate::passphrase::{self, Passphrase};

const VERSION_LINE: &str = "age-encryption.org/v1\n";
const KIND: &str = "mlkem768x25519";
/// What the format puts into the key schedule of HPKE.
const INFO: &[u8] = b"age-encryption.org/mlkem768x25519";
/// Length of the sealed file key: 16 bytes and the tag.
const SEALED_LEN: usize = 32;
const COLUMNS: usize = 64;

/// Longest header that is read, in bytes.
pub(crate) const MAX_LEN: u64 = 1 << 24;
/// Most stanzas that a header has; files are sealed to no more recipients.
pub(crate) const MAX_STANZAS: usize = 1024;
/// Most arguments that a stanza has, its kind among them.
const MAX_ARGUMENTS: usize = 64;
/// Above this length the text of a header grows in steps of this size, so that it is never held twice and more.
const STEP: usize = 1 << 20;

/// The secret of one file: 16 random bytes, from which its other keys come.
#[derive(Debug)]
pub struct FileKey(Secret<[u8; 16]>);

impl FileKey {
    /// Takes the bytes of a file key that an [`UnwrapFileKey`] found.
    #[must_use]
    pub fn new(bytes: [u8; 16]) -> Self {
        Self(Secret::new(bytes))
    }

    pub(crate) fn expose(&self) -> &[u8; 16] {
        self.0.expose()
    }

    pub(crate) fn expose_mut(&mut self) -> &mut [u8; 16] {
        self.0.expose_mut()
    }

    pub(crate) fn generate_with(rng: &mut (impl TryCryptoRng + ?Sized)) -> Result<Self, Error> {
        let mut key = Secret::new([0; 16]);
        rng.try_fill_bytes(key.expose_mut()).map_err(|_| RngError)?;
        Ok(Self(key))
    }

    /// The key of the payload: HKDF with the payload's nonce as the salt.
    pub(crate) fn payload_key(&self, nonce: &[u8; 16]) -> Secret<[u8; 32]> {
        self.derive(nonce, b"payload")
    }

    fn header_mac(&self) -> Hmac<Sha256> {
        let key = self.derive(b"", b"header");
        Hmac::new_from_slice(key.expose()).expect("HMAC takes any length")
    }

    fn derive(&self, salt: &[u8], info: &[u8]) -> Secret<[u8; 32]> {
        let mut key = Secret::new([0; 32]);
        Hkdf::<Sha256>::new(Some(salt), self.0.expose())
            .expand(info, key.expose_mut())
            .expect("32 bytes are not too long");
        key
    }
}

/// The operating system's generator.
pub(crate) struct System;

impl TryRng for System {
    type Error = RngError;

    fn try_next_u32(&mut self) -> Result<u32, RngError> {
        getrandom::u32().map_err(|_| RngError)
    }

    fn try_next_u64(&mut self) -> Result<u64, RngError> {
        getrandom::u64().map_err(|_| RngError)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), RngError> {
        getrandom::fill(out).map_err(|_| RngError)
    }
}

impl TryCryptoRng for System {}

/// A recipient stanza of a header that was read: the file key wrapped for one recipient.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stanza<'a> {
    /// The arguments, with single spaces between.
    args: &'a str,
    /// The lines of the body, in Base64.
    body: &'a str,
}

impl<'a> Stanza<'a> {
    /// The kind of recipient, such as `mlkem768x25519`: the first argument.
    #[must_use]
    pub fn kind(&self) -> &'a str {
        self.args().next().unwrap_or_default()
    }

    /// The arguments; the first is the kind. There are at least one and at most 64.
    pub fn args(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.args.split(' ')
    }

    /// The body, decoded.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let line = |line: &str| Base64Unpadded::decode_vec(line).expect("decoded when the header was read");
        self.body.lines().flat_map(line).collect()
    }

    /// The body, decoded, if it is of `N` bytes, which is found out without decoding it.
    #[must_use]
    pub fn body_of<const N: usize>(&self) -> Option<[u8; N]> {
        // A longer text is of more bytes.
        if self.body.len() > N.div_ceil(3) * 4 + N / 48 + 1 {
            return None;
        }
        self.body().try_into().ok()
    }
}

impl fmt::Debug for Stanza<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stanza({}, {} characters)", self.kind(), self.body.len())
    }
}

/// A recipient stanza that is written.
pub(crate) struct Wrapped {
    pub(crate) args: Vec<String>,
    pub(crate) body: Vec<u8>,
}

impl Wrapped {
    /// Wraps `file_key` for one of our recipients.
    fn wrap(
        recipient: &Recipient,
        index: usize,
        file_key: &FileKey,
        rng: &mut (impl TryCryptoRng + ?Sized),
    ) -> Result<Self, Error> {
        let (enc, mut sender) =
            hpke::setup_sender_with::<XWing, HkdfSha256, ChaCha20Poly1305>(&recipient.0, INFO, rng).map_err(
                |error| match error {
                    hpke::Error::NonContributory => Error::LowOrderRecipient { index },
                    _ => Error::Random(RngError), // the strings are short
                },
            )?;
        let mut body = file_key.0.expose().to_vec();
        let tag = sender.seal_in_place(b"", &mut body).expect("the first message, of 16 bytes");
        body.extend_from_slice(&tag);
        Ok(Self { args: vec![KIND.into(), Base64Unpadded::encode_string(&enc)], body })
    }

    fn write(&self, out: &mut String) {
        out.push_str("->");
        for arg in &self.args {
            out.push(' ');
            out.push_str(arg);
        }
        out.push('\n');
        let body = Base64Unpadded::encode_string(&self.body);
        let mut rest = body.as_str();
        while rest.len() >= COLUMNS {
            let (line, after) = rest.split_at(COLUMNS);
            out.push_str(line);
            out.push('\n');
            rest = after;
        }
        out.push_str(rest); // always a short line, be it empty
        out.push('\n');
    }
}

/// Something that may know the file key of a header: the border for kinds of identity that this crate lacks.
///
/// [`Identity`] is the one that ships. Others (a hardware key, a legacy kind in a test) implement this.
pub trait UnwrapFileKey {
    /// Looks through the stanzas of a header for one that is addressed to this identity.
    ///
    /// `Ok(None)`: none is. Stanzas of a foreign kind are passed over.
    ///
    /// # Errors
    /// A stanza of this identity's kind is malformed; the file is then refused.
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError>;
}

impl<T: UnwrapFileKey + ?Sized> UnwrapFileKey for &T {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        (**self).unwrap_file_key(stanzas)
    }
}

impl<T: UnwrapFileKey + ?Sized> UnwrapFileKey for Box<T> {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        (**self).unwrap_file_key(stanzas)
    }
}

impl UnwrapFileKey for Identity {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        for stanza in stanzas.iter().filter(|stanza| stanza.kind() == KIND) {
            let (enc, sealed) = parse_ours(stanza)?;
            let mut receiver = hpke::setup_receiver::<XWing, HkdfSha256, ChaCha20Poly1305>(
                &enc, &self.0, INFO,
            )
            .map_err(|_| HeaderError::Stanza("the X25519 share of an mlkem768x25519 stanza has low order"))?;
            let (body, tag) = sealed.split_first_chunk::<16>().expect("16 of 32 bytes");
            let tag = tag.try_into().expect("16 of 32 bytes");
            let mut file_key = FileKey::new(*body);
            if receiver.open_in_place(b"", file_key.0.expose_mut(), tag).is_ok() {
                return Ok(Some(file_key));
            }
        }
        Ok(None)
    }
}

/// Checks the shape of one of our stanzas: two arguments, an X-Wing ciphertext, a body of exactly 32 bytes.
fn parse_ours(stanza: &Stanza<'_>) -> Result<(xwing::Ciphertext, [u8; SEALED_LEN]), HeaderError> {
    let mut args = stanza.args().skip(1);
    let (Some(enc), None) = (args.next(), args.next()) else {
        return Err(HeaderError::Stanza("an mlkem768x25519 stanza does not have two arguments"));
    };
    let mut ciphertext = [0; xwing::CIPHERTEXT_LEN];
    let decoded = Base64Unpadded::decode(enc, &mut ciphertext).map(<[u8]>::len);
    if decoded != Ok(xwing::CIPHERTEXT_LEN) {
        return Err(HeaderError::Stanza("an mlkem768x25519 stanza does not carry an X-Wing ciphertext"));
    }
    // The length is checked before anything is decrypted, against partitioning oracles.
    let sealed = stanza.body_of();
    let sealed =
        sealed.ok_or(HeaderError::Stanza("the body of an mlkem768x25519 stanza is not 32 bytes long"))?;
    Ok((ciphertext, sealed))
}

/// To whom a file is sealed. The format lets a passphrase stand alone only.
#[derive(Clone, Copy)]
pub(crate) enum Sealing<'a> {
    Recipients(&'a [Recipient]),
    Passphrase(&'a Passphrase),
}

/// Writes the header of a new file.
pub(crate) fn write(
    sealing: Sealing<'_>,
    file_key: &FileKey,
    rng: &mut (impl TryCryptoRng + ?Sized),
) -> Result<String, Error> {
    let mut out = String::from(VERSION_LINE);
    match sealing {
        Sealing::Recipients([]) => return Err(Error::NoRecipients),
        Sealing::Recipients(recipients) if recipients.len() > MAX_STANZAS => {
            return Err(Error::TooManyRecipients { count: recipients.len() });
        }
        Sealing::Recipients(recipients) => {
            for (index, recipient) in recipients.iter().enumerate() {
                Wrapped::wrap(recipient, index, file_key, rng)?.write(&mut out);
            }
        }
        Sealing::Passphrase(passphrase) => passphrase.wrap(file_key)?.write(&mut out),
    }
    out.push_str("---");
    let mac = file_key.header_mac().chain_update(out.as_bytes()).finalize().into_bytes();
    out.push(' ');
    out.push_str(&Base64Unpadded::encode_string(&mac));
    out.push('\n');
    Ok(out)
}

/// A header that was read: its text, as the MAC covers it, in which the stanzas are found again.
pub(crate) struct Header {
    covered: String,
    mac: [u8; 32],
}

impl Header {
    /// Reads a header and leaves `input` at the payload. Nothing else is read.
    pub(crate) fn read<R: BufRead>(input: R) -> Result<Self, Error> {
        let mut lines = Lines { input: input.take(MAX_LEN), text: Vec::new(), line: 0 };
        lines.version()?;
        let (mut stanzas, mut passphrases) = (0, 0);
        loop {
            lines.next()?;
            if lines.line().starts_with(b"---") {
                break;
            }
            if stanzas == MAX_STANZAS {
                return Err(HeaderError::TooManyStanzas.into());
            }
            stanzas += 1;
            passphrases += usize::from(lines.stanza()? == passphrase::KIND.as_bytes());
        }
        if stanzas == 0 {
            return Err(HeaderError::NoStanza.into());
        }
        if stanzas > 1 && passphrases > 0 {
            return Err(HeaderError::Stanza("an scrypt stanza is not alone").into());
        }
        let mac = mac_line(lines.line())?;
        lines.text.truncate(lines.line + "---".len());
        let covered = String::from_utf8(lines.text).expect("every line was found to be ASCII");
        Ok(Self { covered, mac })
    }

    /// Every stanza begins with an arrow at the begin of a line, where Base64 has none.
    fn stanzas(&self) -> Vec<Stanza<'_>> {
        let stanzas = self.covered.strip_suffix("---").and_then(|text| text.strip_prefix(VERSION_LINE));
        let found = stanzas.unwrap_or_default().split_inclusive('\n');
        let mut all = Vec::new();
        let (mut at, mut stanza) = (VERSION_LINE.len(), None);
        for line in found {
            let next = at + line.len();
            if line.starts_with("-> ") {
                all.extend(stanza.map(|(begin, body)| self.stanza(begin, body, at)));
                stanza = Some((at, next));
            }
            at = next;
        }
        all.extend(stanza.map(|(begin, body)| self.stanza(begin, body, at)));
        all
    }

    /// The stanza whose lines begin at `begin`, its body at `body`, and which ends at `end`.
    fn stanza(&self, begin: usize, body: usize, end: usize) -> Stanza<'_> {
        Stanza { args: &self.covered[begin + "-> ".len()..body - 1], body: &self.covered[body..end] }
    }

    /// Finds the file key with one of `identities`, and checks the MAC with it.
    pub(crate) fn file_key<I: UnwrapFileKey>(&self, identities: &[I]) -> Result<FileKey, Error> {
        let stanzas = self.stanzas();
        for identity in identities {
            if let Some(file_key) = identity.unwrap_file_key(&stanzas)? {
                let mac = file_key.header_mac().chain_update(&self.covered);
                mac.verify_slice(&self.mac).map_err(|_| Error::HeaderMac)?;
                return Ok(file_key);
            }
        }
        Err(Error::NoMatch)
    }
}

/// `--- ` and 43 characters of Base64.
fn mac_line(line: &[u8]) -> Result<[u8; 32], HeaderError> {
    let text = line.strip_prefix(b"--- ").ok_or(HeaderError::MacLine)?;
    let mut mac = [0; 32];
    match Base64Unpadded::decode(text, &mut mac).map(<[u8]>::len) {
        Ok(32) => Ok(mac),
        _ => Err(HeaderError::MacLine),
    }
}

/// Reads lines into one text.
struct Lines<R> {
    input: io::Take<R>,
    text: Vec<u8>,
    /// Where the last line begins.
    line: usize,
}

impl<R: BufRead> Lines<R> {
    /// Reads the next line, which must end in LF.
    fn next(&mut self) -> Result<(), Error> {
        self.line = self.text.len();
        loop {
            let read = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read.is_empty() {
                let cut = if self.input.limit() == 0 { HeaderError::TooLong } else { HeaderError::Truncated };
                return Err(cut.into());
            }
            let end = read.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let taken = end.unwrap_or(read.len());
            if self.text.len() >= STEP && self.text.capacity() - self.text.len() < taken {
                self.text.reserve_exact(taken.max(STEP));
            }
            self.text.extend_from_slice(&read[..taken]);
            self.input.consume(taken);
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// The last line without its end.
    fn line(&self) -> &[u8] {
        let line = &self.text[self.line..];
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    /// The first line. A file that is something else altogether is not read to its first line end.
    fn version(&mut self) -> Result<(), Error> {
        let expected = VERSION_LINE.as_bytes();
        let mut start = Vec::new();
        (&mut self.input).take(expected.len() as u64).read_to_end(&mut start)?;
        if start != expected {
            let other_version = start.starts_with(b"age-encryption.org/") && !start.contains(&b'\r');
            return Err(if !start.is_empty() && expected.starts_with(&start) {
                HeaderError::Truncated
            } else if other_version {
                HeaderError::Version
            } else {
                HeaderError::NotAge
            }
            .into());
        }
        self.text = start;
        Ok(())
    }

    /// A stanza, whose first line has been read; its kind.
    fn stanza(&mut self) -> Result<&[u8], Error> {
        let begin = self.line;
        arguments(self.line())?;
        loop {
            self.next()?;
            let line = self.line();
            let mut decoded = [0; COLUMNS / 4 * 3];
            if line.len() > COLUMNS || Base64Unpadded::decode(line, &mut decoded).is_err() {
                return Err(HeaderError::BodyLine.into());
            }
            if line.len() < COLUMNS {
                break;
            }
        }
        let arguments = &self.text[begin + "-> ".len()..];
        Ok(arguments.split(|byte| matches!(byte, b' ' | b'\n')).next().unwrap_or_default())
    }
}

/// Checks `-> ` and one or more arguments of visible characters, with single spaces between.
fn arguments(line: &[u8]) -> Result<(), HeaderError> {
    let args = line.strip_prefix(b"-> ").ok_or(HeaderError::ArgumentLine)?;
    let mut count = 0;
    for arg in args.split(|byte| *byte == b' ') {
        if arg.is_empty() || !arg.iter().all(u8::is_ascii_graphic) {
            return Err(HeaderError::ArgumentLine);
        }
        count += 1;
        if count > MAX_ARGUMENTS {
            return Err(HeaderError::TooManyArguments);
        }
    }
    Ok(())
}
