//! Where random bytes come from.

use std::fmt;
use std::sync::Arc;

use gambeson::RngError;
use gambeson::rand_core::{TryCryptoRng, TryRng};

use crate::error::{Error, Result};

type Fill = dyn Fn(&mut [u8]) -> std::result::Result<(), RngError> + Send + Sync;

/// The operating system's generator, or what the caller has in its place.
#[derive(Clone, Default)]
pub(crate) struct Random(Option<Arc<Fill>>);

impl Random {
    pub(crate) fn of(
        fill: impl Fn(&mut [u8]) -> std::result::Result<(), RngError> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(fill)))
    }

    pub(crate) fn fill(&self, out: &mut [u8]) -> Result<()> {
        match &self.0 {
            Some(fill) => fill(out).map_err(|_| Error::Random),
            None => getrandom::fill(out).map_err(|_| Error::Random),
        }
    }
}

impl TryRng for &Random {
    type Error = RngError;

    fn try_next_u32(&mut self) -> std::result::Result<u32, RngError> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes).map(|()| u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, RngError> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes).map(|()| u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> std::result::Result<(), RngError> {
        self.fill(out).map_err(|_| RngError)
    }
}

impl TryCryptoRng for &Random {}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Random(the caller's)" } else { "Random(the system's)" })
    }
}
