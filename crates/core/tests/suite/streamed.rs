//! A signature behind a callback.

/// Bytes that are read one after the other.
pub struct Flash<'a> {
    bytes: &'a [u8],
    /// The bytes that were read.
    pub read: usize,
    /// The longest piece.
    pub longest: usize,
}

/// The error of the callback: the place where the bytes end.
#[derive(Debug, PartialEq, Eq)]
pub struct EndsAt(pub usize);

impl<'a> Flash<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, read: 0, longest: 0 }
    }

    /// Fills a buffer with the next bytes.
    pub fn next(&mut self, out: &mut [u8]) -> Result<(), EndsAt> {
        self.at(self.read, out)
    }

    /// Fills a buffer with the bytes from an offset on.
    pub fn at(&mut self, offset: usize, out: &mut [u8]) -> Result<(), EndsAt> {
        let piece = self.bytes.get(offset..offset + out.len()).ok_or(EndsAt(self.bytes.len()))?;
        out.copy_from_slice(piece);
        self.read = self.read.max(offset + out.len());
        self.longest = self.longest.max(out.len());
        Ok(())
    }
}
