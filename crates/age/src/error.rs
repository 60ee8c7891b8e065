//! What can go wrong, named for the mistake.

use std::{error, fmt, io};

/// Why a file was not sealed or not opened.
///
/// Inside a [`Read`](io::Read) or [`Write`](io::Write) it travels in an [`io::Error`]; `Error::from` finds it there.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input or writing the output failed.
    Io(io::Error),
    /// The operating system's random number generator failed.
    Random(gambeson::RngError),
    /// An empty passphrase protects nothing.
    EmptyPassphrase,
    /// There is nobody to seal to.
    NoRecipients,
    /// There are more recipients than the 1,024 that a header may have.
    TooManyRecipients {
        /// How many.
        count: usize,
    },
    /// A recipient's X25519 part is a low-order point: the key is not one that anybody generated.
    LowOrderRecipient {
        /// Which one, counted from 0.
        index: usize,
    },
    /// The ASCII armor is malformed.
    Armor(ArmorError),
    /// The header is malformed.
    Header(HeaderError),
    /// The file is for somebody else: none of the identities opens it.
    NoMatch,
    /// The header was changed after the file was sealed: its MAC does not fit.
    HeaderMac,
    /// The body was changed, cut or extended after the file was sealed.
    Payload(PayloadError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Random(error) => error.fmt(f),
            Self::EmptyPassphrase => f.write_str("an empty passphrase protects nothing"),
            Self::NoRecipients => f.write_str("no recipients: the file could be opened by nobody"),
            Self::TooManyRecipients { count } => {
                write!(f, "{count} recipients, and a file has at most 1024")
            }
            Self::LowOrderRecipient { index } => {
                write!(f, "recipient {} is not a usable key: its X25519 part has low order", index + 1)
            }
            Self::Armor(error) => write!(f, "malformed armor: {error}"),
            Self::Header(error) => write!(f, "malformed header: {error}"),
            Self::NoMatch => f.write_str("no identity opens this file"),
            Self::HeaderMac => f.write_str("the header was changed: its MAC does not fit"),
            Self::Payload(error) => write!(f, "damaged file: {error}"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Random(error) => Some(error),
            Self::Armor(error) => Some(error),
            Self::Header(error) => Some(error),
            Self::Payload(error) => Some(error),
            Self::EmptyPassphrase
            | Self::NoRecipients
            | Self::TooManyRecipients { .. }
            | Self::LowOrderRecipient { .. }
            | Self::NoMatch
            | Self::HeaderMac => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(ours) => ours,
            Err(error) => Self::Io(error),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) => error,
            error => Self::new(io::ErrorKind::InvalidData, error),
        }
    }
}

impl From<gambeson::RngError> for Error {
    fn from(error: gambeson::RngError) -> Self {
        Self::Random(error)
    }
}

impl From<HeaderError> for Error {
    fn from(error: HeaderError) -> Self {
        Self::Header(error)
    }
}

impl From<PayloadError> for Error {
    fn from(error: PayloadError) -> Self {
        Self::Payload(error)
    }
}

/// What is wrong with the ASCII armor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArmorError {
    /// The first line is not `-----BEGIN AGE ENCRYPTED FILE-----`.
    Begin,
    /// The line after the last of the data is not `-----END AGE ENCRYPTED FILE-----`.
    End,
    /// The input ends before the END line.
    Truncated,
    /// A line of data is empty.
    EmptyLine,
    /// A line of data is longer than 64 columns.
    LongLine,
    /// A line of data is not canonical Base64.
    Base64,
    /// Something other than white space follows the END line.
    TrailingData,
    /// More than 1024 bytes of white space surround the armor.
    Whitespace,
}

impl fmt::Display for ArmorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Begin => "the first line is not `-----BEGIN AGE ENCRYPTED FILE-----`",
            Self::End => "the data is not followed by `-----END AGE ENCRYPTED FILE-----`",
            Self::Truncated => "it ends before its END line",
            Self::EmptyLine => "an empty line stands in the data",
            Self::LongLine => "a line is longer than 64 columns",
            Self::Base64 => "a line is not canonical Base64",
            Self::TrailingData => "something follows the END line",
            Self::Whitespace => "too much white space surrounds it",
        })
    }
}

impl error::Error for ArmorError {}

impl From<ArmorError> for io::Error {
    fn from(error: ArmorError) -> Self {
        Error::Armor(error).into()
    }
}

/// What is wrong with the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderError {
    /// The first line is not that of an age file.
    NotAge,
    /// It is an age file of a version other than v1.
    Version,
    /// The input ends inside the header, or before the 16 bytes of the payload's nonce.
    Truncated,
    /// The header is longer than 16 MiB.
    TooLong,
    /// There are more than 1,024 recipient stanzas.
    TooManyStanzas,
    /// A stanza has more than 64 arguments, its kind among them.
    TooManyArguments,
    /// There is no recipient stanza.
    NoStanza,
    /// A line that should open a stanza is not `-> ` and arguments of visible characters with single spaces.
    ArgumentLine,
    /// A line of a stanza's body is not canonical Base64 of at most 64 columns, or the short last line is missing.
    BodyLine,
    /// The last line is not `--- ` and the Base64 of a 32-byte MAC.
    MacLine,
    /// A passphrase stanza asks for more work than the reader allows, or for more memory than there is.
    WorkFactor,
    /// A stanza of a known kind breaks the rules of its kind; the text says which.
    Stanza(&'static str),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAge => "not an age file",
            Self::Version => "an age file of a version other than v1",
            Self::Truncated => "the file ends inside the header",
            Self::TooLong => "longer than 16 MiB",
            Self::TooManyStanzas => "it has more than 1024 recipient stanzas",
            Self::TooManyArguments => "a stanza has more than 64 arguments",
            Self::NoStanza => "it has no recipient stanza",
            Self::ArgumentLine => "the first line of a stanza is malformed",
            Self::BodyLine => "the body of a stanza is malformed",
            Self::MacLine => "the MAC line is malformed",
            Self::WorkFactor => {
                "its passphrase would take more work than is allowed, or more memory than there is"
            }
            Self::Stanza(what) => what,
        })
    }
}

impl error::Error for HeaderError {}

/// What is wrong with the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadError {
    /// The tag of a chunk does not fit: the file was changed, chunks were moved, or it was cut inside this one.
    Chunk {
        /// Which chunk of 64 KiB, counted from 0.
        index: u64,
    },
    /// The file ends before its last chunk.
    Truncated,
    /// Something follows the last chunk.
    TrailingData,
    /// The last chunk is empty though others stand before it, which no writer makes.
    EmptyLastChunk,
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chunk { index } => write!(f, "chunk {index} is not what was sealed"),
            Self::Truncated => f.write_str("it was cut: the last chunk is missing"),
            Self::TrailingData => f.write_str("something follows the last chunk"),
            Self::EmptyLastChunk => f.write_str("the last chunk is empty"),
        }
    }
}

impl error::Error for PayloadError {}
