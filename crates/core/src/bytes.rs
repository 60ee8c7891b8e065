//! Fixed-size byte strings, so that lengths live in types.

use core::array::TryFromSliceError;
use core::fmt::Debug;

use zeroize::Zeroize;

mod sealed {
    pub trait Sealed {}
    impl<const N: usize> Sealed for [u8; N] {}
}

/// A byte string of a fixed length: `[u8; N]` and nothing else.
///
/// A parameter set names its sizes as types (`P::Ciphertext = [u8; 1088]`), and generic code reads them
/// through this trait. A slice becomes one by `TryFrom`, which fails unless the length is exact.
pub trait Bytes:
    sealed::Sealed
    + AsRef<[u8]>
    + AsMut<[u8]>
    + Copy
    + Debug
    + Eq
    + Zeroize
    + Send
    + Sync
    + 'static
    + for<'a> TryFrom<&'a [u8], Error = TryFromSliceError>
{
    /// The length in bytes.
    const LEN: usize;

    /// `LEN` zero bytes.
    fn zeroed() -> Self;

    /// The bytes where they are, if there are `LEN` of them.
    fn from_ref(bytes: &[u8]) -> Option<&Self>;
}

impl<const N: usize> Bytes for [u8; N] {
    const LEN: usize = N;

    fn zeroed() -> Self {
        [0; N]
    }

    fn from_ref(bytes: &[u8]) -> Option<&Self> {
        bytes.try_into().ok()
    }
}
