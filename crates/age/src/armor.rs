//! The ASCII form of an age file: strict PEM (RFC 7468, Figure 3) with the label `AGE ENCRYPTED FILE`.
//!
//! ```
//! use std::io::{Read, Write};
//! use gambeson_age::armor::{ArmorReader, ArmorWriter};
//!
//! let mut writer = ArmorWriter::new(Vec::new());
//! writer.write_all(b"any bytes")?;
//! let text = writer.finish()?;
//! assert_eq!(text, b"-----BEGIN AGE ENCRYPTED FILE-----\nYW55IGJ5dGVz\n-----END AGE ENCRYPTED FILE-----\n");
//!
//! let mut bytes = Vec::new();
//! ArmorReader::new(&text[..]).read_to_end(&mut bytes)?;
//! assert_eq!(bytes, b"any bytes");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Armor can be changed without a key as long as the bytes inside stay the same, unless the reader is strict. This
//! one takes LF or CRLF as the end of a line, and at most 1024 bytes of white space on lines of their own before and
//! after; every other deviation is an [`ArmorError`].

use std::io::{self, BufRead, Read, Write};

use base64ct::{Base64, Encoding};

use crate::error::{ArmorError, Error};

const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const END: &str = "-----END AGE ENCRYPTED FILE-----";
const COLUMNS: usize = 64;
const BYTES: usize = COLUMNS / 4 * 3;
const MAX_WHITESPACE: usize = 1024;
/// Lines that are encoded before they are written together.
const BATCH: usize = 128;

/// Whether `start`, the first bytes of a file, can only be armor: a binary age file begins with `age`.
pub(crate) fn looks_armored(start: &[u8]) -> bool {
    start.first().is_some_and(|byte| *byte == b'-' || byte.is_ascii_whitespace())
}

/// `fill_buf` that goes on after an interruption.
pub(crate) fn fill<R: BufRead>(input: &mut R) -> io::Result<&[u8]> {
    while matches!(input.fill_buf(), Err(error) if error.kind() == io::ErrorKind::Interrupted) {}
    input.fill_buf()
}

/// Encodes what is written to it. [`finish`](Self::finish) writes the last line.
#[derive(Debug)]
pub struct ArmorWriter<W> {
    output: W,
    /// Bytes that wait for a whole batch of lines.
    waiting: Vec<u8>,
    begun: bool,
}

impl<W: Write> ArmorWriter<W> {
    /// Armors into `output`.
    pub fn new(output: W) -> Self {
        Self { output, waiting: Vec::with_capacity(BATCH * BYTES), begun: false }
    }

    /// Writes what is left and the END line, and gives the output back. Without it the armor is truncated.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_lines()?;
        self.output.write_all(END.as_bytes())?;
        self.output.write_all(b"\n")?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn write_lines(&mut self) -> io::Result<()> {
        if !self.begun {
            self.output.write_all(BEGIN.as_bytes())?;
            self.output.write_all(b"\n")?;
            self.begun = true;
        }
        let mut lines = Vec::with_capacity(BATCH * (COLUMNS + 1));
        for line in self.waiting.chunks(BYTES) {
            let mut text = [0; COLUMNS];
            let text = Base64::encode(line, &mut text).expect("48 bytes make 64 columns");
            lines.extend_from_slice(text.as_bytes());
            lines.push(b'\n');
        }
        self.waiting.clear();
        self.output.write_all(&lines)
    }
}

impl<W: Write> Write for ArmorWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let taken = data.len().min(BATCH * BYTES - self.waiting.len());
        self.waiting.extend_from_slice(&data[..taken]);
        if self.waiting.len() == BATCH * BYTES {
            self.write_lines()?;
        }
        Ok(taken)
    }

    /// Flushes the output. An unfinished line stays behind: it cannot be written yet.
    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Decodes what it reads. Errors are [`Error::Armor`] inside an [`io::Error`].
#[derive(Debug)]
pub struct ArmorReader<R> {
    input: R,
    state: State,
    line: Vec<u8>,
    decoded: [u8; BYTES],
    /// Where in `decoded` the bytes stand that have not been read.
    unread: core::ops::Range<usize>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Begin,
    Data,
    /// The last line of data was short: only the END line may follow.
    LastLine,
    Done,
    Failed(ArmorError),
}

impl<R: BufRead> ArmorReader<R> {
    /// Reads armor from `input`, to its end.
    pub fn new(input: R) -> Self {
        Self { input, state: State::Begin, line: Vec::new(), decoded: [0; BYTES], unread: 0..0 }
    }

    /// Decodes lines until there are bytes to give, or no more.
    fn advance(&mut self) -> Result<(), Error> {
        while self.unread.is_empty() {
            match self.state {
                State::Done => return Ok(()),
                State::Failed(error) => return Err(Error::Armor(error)),
                State::Begin | State::Data | State::LastLine => {
                    self.state = match self.step() {
                        Ok(next) => next,
                        Err(Error::Armor(error)) => State::Failed(error),
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<State, Error> {
        match self.state {
            State::Begin => {
                let at_line_start = self.skip_whitespace()?;
                self.read_line(BEGIN.len(), ArmorError::Begin)?;
                if !at_line_start || self.line != BEGIN.as_bytes() {
                    return Err(Error::Armor(ArmorError::Begin));
                }
                Ok(State::Data)
            }
            State::Data => {
                self.read_line(COLUMNS, ArmorError::LongLine)?;
                if self.line == END.as_bytes() {
                    return self.end();
                }
                if self.line.is_empty() {
                    return Err(Error::Armor(ArmorError::EmptyLine));
                }
                let decoded = Base64::decode(&self.line, &mut self.decoded)
                    .map_err(|_| Error::Armor(ArmorError::Base64))?;
                self.unread = 0..decoded.len();
                Ok(if decoded.len() < BYTES { State::LastLine } else { State::Data })
            }
            State::LastLine => {
                self.read_line(COLUMNS, ArmorError::End)?;
                if self.line != END.as_bytes() {
                    return Err(Error::Armor(ArmorError::End));
                }
                self.end()
            }
            State::Done | State::Failed(_) => Ok(self.state),
        }
    }

    /// Reads a line of at most `columns` and takes its LF or CRLF off. The END line may lack it.
    fn read_line(&mut self, columns: usize, too_long: ArmorError) -> Result<(), Error> {
        self.line.clear();
        (&mut self.input).take(columns as u64 + 2).read_until(b'\n', &mut self.line)?;
        if self.line.is_empty() {
            return Err(Error::Armor(ArmorError::Truncated));
        }
        if self.line.pop_if(|last| *last == b'\n').is_some() {
            self.line.pop_if(|last| *last == b'\r');
        }
        if self.line.len() > columns { Err(Error::Armor(too_long)) } else { Ok(()) }
    }

    /// Skips the white space before the BEGIN line; whether that line is at the start of one.
    fn skip_whitespace(&mut self) -> Result<bool, Error> {
        let mut skipped = 0;
        let mut last = b'\n';
        loop {
            let buffer = fill(&mut self.input)?;
            let space = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let more = space == buffer.len() && space != 0;
            last = buffer[..space].last().copied().unwrap_or(last);
            self.input.consume(space);
            skipped += space;
            if skipped > MAX_WHITESPACE {
                return Err(Error::Armor(ArmorError::Whitespace));
            }
            if !more {
                return Ok(last == b'\n');
            }
        }
    }

    /// Past the END line: only white space may follow.
    fn end(&mut self) -> Result<State, Error> {
        let mut rest = Vec::new();
        (&mut self.input).take(MAX_WHITESPACE as u64 + 1).read_to_end(&mut rest)?;
        if !rest.iter().all(u8::is_ascii_whitespace) {
            return Err(Error::Armor(ArmorError::TrailingData));
        }
        if rest.len() > MAX_WHITESPACE {
            return Err(Error::Armor(ArmorError::Whitespace));
        }
        Ok(State::Done)
    }
}

impl<R: BufRead> BufRead for ArmorReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.advance()?;
        Ok(&self.decoded[self.unread.clone()])
    }

    fn consume(&mut self, amount: usize) {
        self.unread.start += amount;
    }
}

impl<R: BufRead> Read for ArmorReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let taken = available.len().min(out.len());
        out[..taken].copy_from_slice(&available[..taken]);
        self.consume(taken);
        Ok(taken)
    }
}
