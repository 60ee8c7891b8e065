//! The payload: chunks of 64 KiB, each sealed with ChaCha20-Poly1305 under a counter and a last-chunk mark.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce, Tag};
use gambeson::rand_core::TryCryptoRng;
use gambeson::secret::Secret;
use zeroize::Zeroizing;

use crate::armor::{ArmorReader, ArmorWriter, fill, looks_armored};
use crate::error::{Error, HeaderError, PayloadError};
use crate::header::{self, FileKey, Header, Sealing, System, UnwrapFileKey};
use crate::keys::Recipient;
use crate::passphrase::Passphrase;

/// Plaintext bytes of every chunk but the last.
const CHUNK: usize = 64 * 1024;
const TAG: usize = 16;
const SEALED_CHUNK: usize = CHUNK + TAG;

/// How a file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Bytes.
    #[default]
    Binary,
    /// ASCII armor, a third larger.
    Armored,
}

impl Format {
    /// The format of a file from its first bytes, 32 of them or all of a shorter file; `None` if it is no age file.
    ///
    /// White space may stand before armor, so any text that begins with it is taken for armor here, and refused when it is
    /// opened.
    ///
    /// ```
    /// use gambeson_age::Format;
    ///
    /// assert_eq!(Format::detect(b"age-encryption.org/v1\n-> "), Some(Format::Binary));
    /// assert_eq!(Format::detect(b"-----BEGIN AGE ENCRYPTED FILE---"), Some(Format::Armored));
    /// assert_eq!(Format::detect(b"PK"), None);
    /// ```
    #[must_use]
    pub fn detect(start: &[u8]) -> Option<Self> {
        match start {
            start if looks_armored(start) => Some(Self::Armored),
            start if start.starts_with(b"age-encryption.org/") => Some(Self::Binary),
            _ => None,
        }
    }
}

/// Encrypts all of `input` to `recipients`, and returns the number of plaintext bytes.
///
/// For a progress bar, wrap `input`. Any of the recipients can open the file.
///
/// # Errors
/// [`Error::NoRecipients`], [`Error::TooManyRecipients`], [`Error::LowOrderRecipient`], [`Error::Random`], or [`Error::Io`]. What was written
/// until then is not a whole file, and nobody can take it for one.
pub fn seal<R: Read, W: Write>(
    recipients: &[Recipient],
    input: R,
    output: W,
    format: Format,
) -> Result<u64, Error> {
    seal_with(recipients, input, output, format, &mut System)
}

/// [`seal`] with the generator given, as [`Encryptor::new_with`] takes one.
///
/// # Errors
/// The same.
pub fn seal_with<R: Read, W: Write>(
    recipients: &[Recipient],
    input: R,
    output: W,
    format: Format,
    rng: &mut (impl TryCryptoRng + ?Sized),
) -> Result<u64, Error> {
    let mut sealed = Encryptor::new_with(recipients, output, format, rng)?;
    let copied = copy(input, &mut sealed)?;
    sealed.finish()?;
    Ok(copied)
}

/// Decrypts all of `input`, binary or armored, and returns the number of plaintext bytes.
///
/// What arrives in `output` is authentic, but only `Ok` says that it is **complete**: until then treat the output as
/// unfinished (write to a temporary file), and throw it away on an error.
///
/// # Errors
/// Every kind of [`Error`] but those of sealing.
///
/// ```
/// use gambeson_age::{Error, Format, Identity, open, seal};
///
/// let (ours, theirs) = (Identity::from_seed(&[1; 32]), Identity::from_seed(&[2; 32]));
/// let mut file = Vec::new();
/// seal(&[theirs.recipient()], &b"not for us"[..], &mut file, Format::Binary)?;
///
/// assert!(matches!(open(&[ours], &file[..], Vec::new()), Err(Error::NoMatch)));
/// # Ok::<(), Error>(())
/// ```
pub fn open<I: UnwrapFileKey, R: Read, W: Write>(
    identities: &[I],
    input: R,
    mut output: W,
) -> Result<u64, Error> {
    let copied = copy(Decryptor::new(identities, input)?, &mut output)?;
    output.flush()?;
    Ok(copied)
}

/// Copies in chunks through a buffer that is wiped.
fn copy(mut input: impl Read, output: &mut impl Write) -> Result<u64, Error> {
    let mut buffer = Zeroizing::new(vec![0; CHUNK]);
    let mut copied = 0;
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(copied),
            Ok(read) => {
                output.write_all(&buffer[..read])?;
                copied += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Encrypts what is written to it.
///
/// The header goes out at once. [`finish`](Self::finish) writes the last chunk: a file without it is refused by every
/// reader, so an encryptor that is dropped leaves nothing that could be mistaken for a whole file.
///
/// ```
/// use std::io::Write;
/// use gambeson_age::{Encryptor, Format, Identity};
///
/// let recipient = Identity::generate()?.recipient();
/// let mut encryptor = Encryptor::new(&[recipient], Vec::new(), Format::Binary)?;
/// encryptor.write_all(b"first, ")?;
/// encryptor.write_all(b"second")?;
/// let file = encryptor.finish()?;
/// assert!(file.starts_with(b"age-encryption.org/v1\n"));
/// # Ok::<(), gambeson_age::Error>(())
/// ```
#[must_use = "without `finish` the file lacks its last chunk"]
pub struct Encryptor<W: Write> {
    output: Output<W>,
    aead: ChunkCipher,
    waiting: Zeroizing<Vec<u8>>,
}

impl<W: Write> Encryptor<W> {
    /// Makes a file key, wraps it for every recipient and writes the header.
    ///
    /// # Errors
    /// [`Error::NoRecipients`], [`Error::TooManyRecipients`], [`Error::LowOrderRecipient`], [`Error::Random`], or [`Error::Io`].
    pub fn new(recipients: &[Recipient], output: W, format: Format) -> Result<Self, Error> {
        Self::sealing(Sealing::Recipients(recipients), output, format, &mut System)
    }

    /// [`new`](Self::new) with the generator given: the file key, what wraps it and the nonce come from it.
    ///
    /// # Errors
    /// The same; [`Error::Random`] whatever it was that the generator failed with.
    pub fn new_with<R: TryCryptoRng + ?Sized>(
        recipients: &[Recipient],
        output: W,
        format: Format,
        rng: &mut R,
    ) -> Result<Self, Error> {
        Self::sealing(Sealing::Recipients(recipients), output, format, rng)
    }

    /// [`new`](Self::new) for a passphrase, which takes the time of its work factor.
    ///
    /// # Errors
    /// [`Error::Random`], or [`Error::Io`], which is that of a lack of memory where there is too little for the work factor.
    pub fn with_passphrase(passphrase: &Passphrase, output: W, format: Format) -> Result<Self, Error> {
        Self::sealing(Sealing::Passphrase(passphrase), output, format, &mut System)
    }

    fn sealing<R: TryCryptoRng + ?Sized>(
        sealing: Sealing<'_>,
        output: W,
        format: Format,
        rng: &mut R,
    ) -> Result<Self, Error> {
        let file_key = FileKey::generate_with(rng)?;
        let header = header::write(sealing, &file_key, rng)?;
        let mut nonce = [0; 16];
        rng.try_fill_bytes(&mut nonce).map_err(|_| gambeson::RngError)?;

        let mut output = match format {
            Format::Binary => Output::Binary(output),
            Format::Armored => Output::Armored(ArmorWriter::new(output)),
        };
        output.write_all(header.as_bytes())?;
        output.write_all(&nonce)?;
        Ok(Self {
            output,
            aead: ChunkCipher::new(&file_key.payload_key(&nonce)),
            waiting: Zeroizing::new(Vec::with_capacity(SEALED_CHUNK)),
        })
    }

    /// Writes the last chunk and the end of the armor, flushes, and gives the output back.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<W, Error> {
        self.write_chunk(Mark::Last)?;
        Ok(match self.output {
            Output::Binary(mut output) => {
                output.flush()?;
                output
            }
            Output::Armored(armor) => armor.finish()?,
        })
    }

    fn write_chunk(&mut self, mark: Mark) -> io::Result<()> {
        let tag = self.aead.seal(&mut self.waiting, mark);
        self.waiting.extend_from_slice(&tag);
        let written = self.output.write_all(&self.waiting);
        self.waiting.clear();
        written
    }
}

impl<W: Write> Write for Encryptor<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        // A full chunk waits until more arrives: only then is it known not to be the last.
        if self.waiting.len() == CHUNK && !data.is_empty() {
            self.write_chunk(Mark::More)?;
        }
        let taken = data.len().min(CHUNK - self.waiting.len());
        self.waiting.extend_from_slice(&data[..taken]);
        Ok(taken)
    }

    /// Flushes the output. An unfinished chunk stays behind: it cannot be sealed yet.
    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl<W: Write> fmt::Debug for Encryptor<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Encryptor([redacted])")
    }
}

/// Decrypts what is read from it, chunk by verified chunk.
///
/// The end (`Ok(0)`) is only reached when the last chunk was there and nothing follows it; a file that was cut gives
/// an error instead.
pub struct Decryptor<R: Read> {
    input: Input<R>,
    aead: ChunkCipher,
    index: u64,
    /// The sealed chunk, and one byte more that shows whether another follows.
    sealed: Vec<u8>,
    /// The verified chunk, of which the first `read` bytes have been given out.
    opened: Zeroizing<Vec<u8>>,
    read: usize,
    end: Option<Result<(), PayloadError>>,
}

impl<R: Read> Decryptor<R> {
    /// Reads the header, finds out whether it is armored, and finds the file key with one of `identities`.
    ///
    /// # Errors
    /// [`Error::Armor`], [`Error::Header`], [`Error::NoMatch`], [`Error::HeaderMac`], or [`Error::Io`].
    pub fn new<I: UnwrapFileKey>(identities: &[I], input: R) -> Result<Self, Error> {
        let mut input = BufReader::with_capacity(SEALED_CHUNK, input);
        let format = if looks_armored(fill(&mut input)?) { Format::Armored } else { Format::Binary };
        Self::with_reader(identities, input, format)
    }

    /// [`new`](Self::new), except that the format is not guessed: anything else is an error.
    ///
    /// # Errors
    /// The same.
    pub fn with_format<I: UnwrapFileKey>(identities: &[I], input: R, format: Format) -> Result<Self, Error> {
        Self::with_reader(identities, BufReader::with_capacity(SEALED_CHUNK, input), format)
    }

    fn with_reader<I: UnwrapFileKey>(
        identities: &[I],
        input: BufReader<R>,
        format: Format,
    ) -> Result<Self, Error> {
        let mut input = match format {
            Format::Binary => Input::Binary(input),
            Format::Armored => Input::Armored(Box::new(ArmorReader::new(input))),
        };
        let file_key = Header::read(&mut input)?.file_key(identities)?;
        let mut nonce = [0; 16];
        input.read_exact(&mut nonce).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => HeaderError::Truncated.into(),
            _ => Error::from(error),
        })?;
        Ok(Self {
            input,
            aead: ChunkCipher::new(&file_key.payload_key(&nonce)),
            index: 0,
            sealed: Vec::with_capacity(SEALED_CHUNK + 1),
            opened: Zeroizing::new(Vec::with_capacity(CHUNK)),
            read: 0,
            end: None,
        })
    }

    /// Reads and verifies the next chunk.
    fn next_chunk(&mut self) -> Result<(), Error> {
        let index = self.index;
        let wanted = SEALED_CHUNK + 1 - self.sealed.len();
        (&mut self.input).take(wanted as u64).read_to_end(&mut self.sealed)?;
        let more = self.sealed.len() > SEALED_CHUNK;
        let chunk = &self.sealed[..self.sealed.len().min(SEALED_CHUNK)];
        if chunk.len() < TAG {
            return Err(PayloadError::Truncated.into());
        }

        let mut open = |mark| self.aead.open(chunk, &mut self.opened, mark);
        // A chunk that is not what its place demands is tried as the other kind too: it is authentic then, is
        // released as such, and the error says what happened to the rest of the file.
        self.end = if chunk.len() < SEALED_CHUNK {
            if !open(Mark::Last) {
                return Err(PayloadError::Chunk { index }.into());
            }
            Some(Ok(()))
        } else if open(if more { Mark::More } else { Mark::Last }) {
            (!more).then_some(Ok(()))
        } else if open(if more { Mark::Last } else { Mark::More }) {
            Some(Err(if more { PayloadError::TrailingData } else { PayloadError::Truncated }))
        } else {
            return Err(PayloadError::Chunk { index }.into());
        };
        if self.opened.is_empty() && index > 0 {
            return Err(PayloadError::EmptyLastChunk.into());
        }

        self.aead.advance();
        self.index += 1;
        self.read = 0;
        self.sealed.drain(..self.sealed.len().min(SEALED_CHUNK));
        Ok(())
    }
}

impl<R: Read> Read for Decryptor<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while self.read == self.opened.len() {
            match self.end {
                Some(Ok(())) => return Ok(0),
                Some(Err(error)) => return Err(Error::from(error).into()),
                None => {}
            }
            if let Err(error) = self.next_chunk() {
                self.opened.clear();
                self.read = 0;
                if let Error::Payload(error) = error {
                    self.end = Some(Err(error)); // the same answer to whoever reads on
                }
                return Err(error.into());
            }
        }
        let unread = &self.opened[self.read..];
        let taken = unread.len().min(out.len());
        out[..taken].copy_from_slice(&unread[..taken]);
        self.read += taken;
        Ok(taken)
    }
}

impl<R: Read> fmt::Debug for Decryptor<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decryptor([redacted])")
    }
}

/// Whether a chunk is the last one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    More,
    Last,
}

/// The AEAD and the number of the next chunk.
struct ChunkCipher {
    aead: ChaCha20Poly1305,
    counter: u64,
}

impl ChunkCipher {
    fn new(key: &Secret<[u8; 32]>) -> Self {
        Self { aead: ChaCha20Poly1305::new(&Key::from(*key.expose())), counter: 0 }
    }

    /// Encrypts a chunk in place, returns its tag and moves on.
    fn seal(&mut self, chunk: &mut [u8], mark: Mark) -> Tag {
        let nonce = self.nonce(mark);
        self.advance();
        self.aead.encrypt_inout_detached(&nonce, b"", chunk.into()).expect("64 KiB are not too long")
    }

    /// Verifies and decrypts `chunk` into `opened`; whether it was authentic. Without success `opened` is zeros.
    fn open(&self, chunk: &[u8], opened: &mut Vec<u8>, mark: Mark) -> bool {
        let (body, tag) = chunk.split_at(chunk.len() - TAG);
        let tag = Tag::try_from(tag).expect("16 bytes");
        opened.clear();
        opened.resize(body.len(), 0);
        let buffer = InOutBuf::new(body, opened).expect("both have one length");
        self.aead.decrypt_inout_detached(&self.nonce(mark), b"", buffer, &tag).is_ok()
    }

    fn advance(&mut self) {
        self.counter = self.counter.checked_add(1).expect("2⁶⁴ chunks are more than any file");
    }

    /// Eleven bytes of big-endian counter, and the mark.
    fn nonce(&self, mark: Mark) -> Nonce {
        let mut nonce = [0; 12];
        nonce[3..11].copy_from_slice(&self.counter.to_be_bytes());
        nonce[11] = (mark == Mark::Last).into();
        nonce.into()
    }
}

enum Output<W: Write> {
    Binary(W),
    Armored(ArmorWriter<W>),
}

impl<W: Write> Write for Output<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            Self::Binary(output) => output.write(data),
            Self::Armored(output) => output.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Binary(output) => output.flush(),
            Self::Armored(output) => output.flush(),
        }
    }
}

enum Input<R> {
    Binary(BufReader<R>),
    Armored(Box<ArmorReader<BufReader<R>>>),
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Binary(input) => input.read(out),
            Self::Armored(input) => input.read(out),
        }
    }
}

impl<R: Read> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            Self::Binary(input) => input.fill_buf(),
            Self::Armored(input) => input.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match self {
            Self::Binary(input) => input.consume(amount),
            Self::Armored(input) => input.consume(amount),
        }
    }
}
