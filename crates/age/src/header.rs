//! The textual header: a version line, recipient stanzas that wrap the file key, a MAC.

use std::fmt;
use std::io::{BufRead, Read};

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

/// Longest header that is read: room for some ten thousand recipients.
pub(crate) const MAX_LEN: u64 = 1 << 24;

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

/// A recipient stanza: the file key wrapped for one recipient.
#[derive(Clone, PartialEq, Eq)]
pub struct Stanza {
    /// The arguments; the first is the kind of recipient. There is at least one.
    pub args: Vec<String>,
    /// The body, decoded.
    pub body: Vec<u8>,
}

impl Stanza {
    /// The kind of recipient, such as `mlkem768x25519`.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.args.first().map_or("", String::as_str)
    }

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

impl fmt::Debug for Stanza {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stanza({}, {} bytes)", self.kind(), self.body.len())
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
    fn unwrap_file_key(&self, stanzas: &[Stanza]) -> Result<Option<FileKey>, HeaderError>;
}

impl<T: UnwrapFileKey + ?Sized> UnwrapFileKey for &T {
    fn unwrap_file_key(&self, stanzas: &[Stanza]) -> Result<Option<FileKey>, HeaderError> {
        (**self).unwrap_file_key(stanzas)
    }
}

impl<T: UnwrapFileKey + ?Sized> UnwrapFileKey for Box<T> {
    fn unwrap_file_key(&self, stanzas: &[Stanza]) -> Result<Option<FileKey>, HeaderError> {
        (**self).unwrap_file_key(stanzas)
    }
}

impl UnwrapFileKey for Identity {
    fn unwrap_file_key(&self, stanzas: &[Stanza]) -> Result<Option<FileKey>, HeaderError> {
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
fn parse_ours(stanza: &Stanza) -> Result<(xwing::Ciphertext, &[u8; SEALED_LEN]), HeaderError> {
    let [_, enc] = stanza.args.as_slice() else {
        return Err(HeaderError::Stanza("an mlkem768x25519 stanza does not have two arguments"));
    };
    let mut ciphertext = [0; xwing::CIPHERTEXT_LEN];
    let decoded = Base64Unpadded::decode(enc, &mut ciphertext).map(<[u8]>::len);
    if decoded != Ok(xwing::CIPHERTEXT_LEN) {
        return Err(HeaderError::Stanza("an mlkem768x25519 stanza does not carry an X-Wing ciphertext"));
    }
    // The length is checked before anything is decrypted, against partitioning oracles.
    let sealed = stanza
        .body
        .as_slice()
        .try_into()
        .map_err(|_| HeaderError::Stanza("the body of an mlkem768x25519 stanza is not 32 bytes long"))?;
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
        Sealing::Recipients(recipients) => {
            for (index, recipient) in recipients.iter().enumerate() {
                Stanza::wrap(recipient, index, file_key, rng)?.write(&mut out);
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

/// A parsed header, with the bytes that its MAC covers.
pub(crate) struct Header {
    pub(crate) stanzas: Vec<Stanza>,
    covered: Vec<u8>,
    mac: [u8; 32],
}

impl Header {
    /// Reads a header and leaves `input` at the payload. Nothing else is read.
    pub(crate) fn read<R: BufRead>(input: R) -> Result<Self, Error> {
        let mut lines = Lines { input: input.take(MAX_LEN), line: Vec::new(), covered: Vec::new() };
        lines.version()?;
        let mut stanzas = Vec::new();
        loop {
            lines.next(HeaderError::Truncated)?;
            if lines.line.starts_with(b"---") {
                break;
            }
            stanzas.push(lines.stanza()?);
        }
        if stanzas.is_empty() {
            return Err(HeaderError::NoStanza.into());
        }
        if stanzas.len() > 1 && stanzas.iter().any(|stanza| stanza.kind() == passphrase::KIND) {
            return Err(HeaderError::Stanza("an scrypt stanza is not alone").into());
        }
        let mac = mac_line(&lines.line)?;
        lines.covered.extend_from_slice(b"---");
        Ok(Self { stanzas, covered: lines.covered, mac })
    }

    /// Finds the file key with one of `identities`, and checks the MAC with it.
    pub(crate) fn file_key<I: UnwrapFileKey>(&self, identities: &[I]) -> Result<FileKey, Error> {
        for identity in identities {
            if let Some(file_key) = identity.unwrap_file_key(&self.stanzas)? {
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

/// Reads lines, keeps the last one without its end, and gathers what the MAC covers.
struct Lines<R> {
    input: std::io::Take<R>,
    line: Vec<u8>,
    covered: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads the next line, which must end in LF.
    fn next(&mut self, at_end: HeaderError) -> Result<(), Error> {
        self.line.clear();
        self.input.read_until(b'\n', &mut self.line)?;
        if self.line.pop_if(|last| *last == b'\n').is_none() {
            return Err(if self.input.limit() == 0 { HeaderError::TooLong } else { at_end }.into());
        }
        Ok(())
    }

    /// Adds the line to what the MAC covers.
    fn cover(&mut self) {
        self.covered.extend_from_slice(&self.line);
        self.covered.push(b'\n');
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
        self.covered = start;
        Ok(())
    }

    /// A stanza, whose first line has been read.
    fn stanza(&mut self) -> Result<Stanza, Error> {
        let args = arguments(&self.line)?;
        self.cover();
        let mut body = Vec::new();
        loop {
            self.next(HeaderError::Truncated)?;
            let columns = self.line.len();
            if columns > COLUMNS {
                return Err(HeaderError::BodyLine.into());
            }
            let mut decoded = [0; COLUMNS / 4 * 3];
            body.extend_from_slice(
                Base64Unpadded::decode(&self.line, &mut decoded).map_err(|_| HeaderError::BodyLine)?,
            );
            self.cover();
            if columns < COLUMNS {
                return Ok(Stanza { args, body });
            }
        }
    }
}

/// `-> ` and one or more arguments of visible characters, with single spaces between.
fn arguments(line: &[u8]) -> Result<Vec<String>, HeaderError> {
    let args = line.strip_prefix(b"-> ").ok_or(HeaderError::ArgumentLine)?;
    args.split(|byte| *byte == b' ')
        .map(|arg| {
            let visible = !arg.is_empty() && arg.iter().all(u8::is_ascii_graphic);
            let text = std::str::from_utf8(arg).ok().filter(|_| visible);
            text.map(str::to_owned).ok_or(HeaderError::ArgumentLine)
        })
        .collect()
}
