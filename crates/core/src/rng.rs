//! The operating system's generator, which can fail.

use core::fmt;

/// The operating system's random number generator failed: no key was made, nothing was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RngError;

impl fmt::Display for RngError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operating system's random number generator failed")
    }
}

impl core::error::Error for RngError {}

/// Draws `N` secret bytes from the operating system.
#[cfg(feature = "getrandom")]
pub(crate) fn system<const N: usize>() -> Result<crate::secret::Secret<[u8; N]>, RngError> {
    let mut bytes = crate::secret::Secret::new([0; N]);
    fill(bytes.expose_mut())?;
    Ok(bytes)
}

/// Fills `bytes` from the operating system.
#[cfg(feature = "getrandom")]
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), RngError> {
    getrandom::fill(bytes).map_err(|_| RngError)
}

/// Draws `N` secret bytes from the caller's generator.
pub(crate) fn draw<const N: usize, R: rand_core::TryCryptoRng + ?Sized>(
    rng: &mut R,
) -> Result<crate::secret::Secret<[u8; N]>, R::Error> {
    let mut bytes = crate::secret::Secret::new([0; N]);
    rng.try_fill_bytes(bytes.expose_mut())?;
    Ok(bytes)
}
