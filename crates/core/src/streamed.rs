//! Signatures that are read piece by piece.

use core::fmt;

/// A failure to verify a signature that a callback reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError<E> {
    /// The error of the callback, as it returned it.
    Read(E),
    /// The signature is not one of this message by this key.
    Invalid,
}

impl<E: fmt::Display> fmt::Display for StreamError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "the signature could not be read: {error}"),
            Self::Invalid => f.write_str("the signature is not one of this message by this key"),
        }
    }
}

impl<E: core::error::Error + 'static> core::error::Error for StreamError<E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Invalid => None,
        }
    }
}

/// Callback that fills a buffer with the next bytes of a signature.
pub(crate) type Read<'r, E> = dyn FnMut(&mut [u8]) -> Result<(), E> + 'r;

/// The end of a signature in memory.
#[derive(Debug)]
pub(crate) struct Truncated;

/// Runs the verification of a streamed signature on one in memory, and requires that it reads every byte.
pub(crate) fn verify_whole(
    mut signature: &[u8],
    verify: impl FnOnce(&mut Read<'_, Truncated>) -> Result<(), StreamError<Truncated>>,
) -> bool {
    let mut read = |out: &mut [u8]| {
        let (piece, rest) = signature.split_at_checked(out.len()).ok_or(Truncated)?;
        out.copy_from_slice(piece);
        signature = rest;
        Ok(())
    };
    verify(&mut read).is_ok() && signature.is_empty()
}
