//! Fields one behind the other: what frames, entries and kept state are written in. Numbers are big-endian, and every length is
//! bounded before anything is gathered.

use bytes::Bytes;

/// The bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Takes fields off the front.
pub(crate) struct Reader {
    rest: Bytes,
}

impl Reader {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<Bytes, Malformed> {
        if len > self.rest.len() {
            return Err(Malformed);
        }
        Ok(self.rest.split_to(len))
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut array = [0; N];
        array.copy_from_slice(&self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    /// A number that says how many elements of at least `each` bytes follow.
    pub(crate) fn count(&mut self, each: usize) -> Result<usize, Malformed> {
        let count = usize::try_from(self.u32()?).map_err(|_| Malformed)?;
        if count.checked_mul(each.max(1)).is_none_or(|least| least > self.rest.len()) {
            return Err(Malformed);
        }
        Ok(count)
    }

    /// Bytes behind their length of four bytes.
    pub(crate) fn bytes(&mut self) -> Result<Bytes, Malformed> {
        let len = usize::try_from(self.u32()?).map_err(|_| Malformed)?;
        self.take(len)
    }

    /// A text behind its length of two bytes.
    pub(crate) fn text(&mut self) -> Result<String, Malformed> {
        let len = usize::from(self.u16()?);
        String::from_utf8(self.take(len)?.to_vec()).map_err(|_| Malformed)
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.rest)
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }
}

/// Puts fields one behind the other.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn put(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u8(self, number: u8) -> Self {
        self.put(&[number])
    }

    pub(crate) fn u16(self, number: u16) -> Self {
        self.put(&number.to_be_bytes())
    }

    pub(crate) fn u32(self, number: u32) -> Self {
        self.put(&number.to_be_bytes())
    }

    pub(crate) fn u64(self, number: u64) -> Self {
        self.put(&number.to_be_bytes())
    }

    pub(crate) fn count(self, count: usize) -> Self {
        self.u32(u32::try_from(count).expect("what is written here stands in memory many times over"))
    }

    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        self.count(bytes.len()).put(bytes)
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.cut(text, u16::MAX)
    }

    /// A text whose length is somebody else's choice, cut behind a character.
    pub(crate) fn cut(self, text: &str, most: u16) -> Self {
        let end = (0..=text.len().min(most.into())).rev().find(|end| text.is_char_boundary(*end));
        let kept = &text[..end.unwrap_or(0)];
        self.u16(u16::try_from(kept.len()).unwrap_or(most)).put(kept.as_bytes())
    }

    pub(crate) fn each<T>(self, all: impl IntoIterator<Item = T>, put: impl Fn(Self, T) -> Self) -> Self {
        all.into_iter().fold(self, put)
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_any_length_is_written_and_cut_behind_a_character() {
        for (text, most, kept) in
            [("ab".repeat(40_000), u16::MAX, 65_535), ("é".repeat(9), 5, 4), (String::new(), 5, 0)]
        {
            let mut fields = Reader::new(Writer::default().cut(&text, most).finish().into());
            assert_eq!(fields.text(), Ok(text[..kept].to_owned()));
            assert_eq!(fields.end(), Ok(()));
        }
    }
}
