//! Binary formats: fields one behind the other, big-endian, lengths before what varies.

/// What is left to read.
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Bytes behind their length in two bytes.
    pub(crate) fn short(&mut self) -> Option<&'a [u8]> {
        let len = self.array().map(u16::from_be_bytes)?;
        self.take(len.into())
    }

    /// A text behind its length in two bytes.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        core::str::from_utf8(self.short()?).ok()
    }

    /// Bytes behind their length in four bytes.
    pub(crate) fn long(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(usize::try_from(len).ok()?)
    }
}

/// Writes bytes behind their length in two bytes; `None` if they are longer than that can say.
pub(crate) fn put_short(out: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    out.extend_from_slice(&u16::try_from(bytes.len()).ok()?.to_be_bytes());
    out.extend_from_slice(bytes);
    Some(())
}

/// Writes bytes behind their length in four bytes; `None` if they are longer than that can say.
pub(crate) fn put_long(out: &mut Vec<u8>, bytes: &[u8]) -> Option<()> {
    out.extend_from_slice(&u32::try_from(bytes.len()).ok()?.to_be_bytes());
    out.extend_from_slice(bytes);
    Some(())
}
