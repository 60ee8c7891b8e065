//! What can go wrong, named for the mistake.

use std::{error, fmt, io};

/// Why a secret was not sealed, opened, saved or loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing a file failed.
    Io(io::Error),
    /// A file of that name is there already, and was not to be replaced.
    Exists,
    /// The operating system's random number generator failed.
    Random,
    /// There is not enough memory for the work that the protection demands.
    Memory,
    /// An empty passphrase protects nothing.
    EmptyPassphrase,
    /// The secret is longer than [`MAX_SECRET_LEN`](crate::MAX_SECRET_LEN).
    TooLong,
    /// The purpose is not 1 to 32 of lower-case letters, digits, spaces and hyphens.
    Purpose,
    /// The cost is not one that is written or read: the bounds stand at [`Protection`](crate::Protection).
    Cost,
    /// The bytes are not a sealed secret.
    Format,
    /// A sealed secret of a version or suite that this reader does not know.
    Version,
    /// The file holds a secret for another purpose.
    OtherPurpose,
    /// The passphrase is wrong, or the header was changed.
    WrongPassphrase,
    /// The passphrase is right, and the secret or its header was changed.
    Damaged,
}

impl Error {
    /// The reason in one stable word, such as `wrong-passphrase`.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "io",
            Self::Exists => "exists",
            Self::Random => "random",
            Self::Memory => "memory",
            Self::EmptyPassphrase => "empty-passphrase",
            Self::TooLong => "too-long",
            Self::Purpose => "purpose",
            Self::Cost => "cost",
            Self::Format => "format",
            Self::Version => "version",
            Self::OtherPurpose => "other-purpose",
            Self::WrongPassphrase => "wrong-passphrase",
            Self::Damaged => "damaged",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Exists => f.write_str("a file of that name is there already"),
            Self::Random => gambeson::RngError.fmt(f),
            Self::Memory => f.write_str("not enough memory for the work that the passphrase takes"),
            Self::EmptyPassphrase => f.write_str("an empty passphrase protects nothing"),
            Self::TooLong => write!(f, "longer than {} bytes", crate::MAX_SECRET_LEN),
            Self::Purpose => f.write_str("a purpose is 1 to 32 of a-z, 0-9, space and hyphen"),
            Self::Cost => f.write_str("the passphrase would take more work than is allowed, or too little"),
            Self::Format => f.write_str("not a sealed secret"),
            Self::Version => f.write_str("a sealed secret of another version"),
            Self::OtherPurpose => f.write_str("a sealed secret for another purpose"),
            Self::WrongPassphrase => f.write_str("the passphrase is wrong, or the header was changed"),
            Self::Damaged => f.write_str("the sealed secret was changed"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<getrandom::Error> for Error {
    fn from(_: getrandom::Error) -> Self {
        Self::Random
    }
}
