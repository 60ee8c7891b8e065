//! The fields of certificates, requests and lists, read one after the other: an error names the object and the field.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use der::asn1::{AnyRef, IntRef};
use der::{Decode, Reader, SliceReader, Tag, TagNumber, Tagged};
use x509_cert::ext::Extension;
use x509_cert::name::Name;

use crate::error::Error;
use crate::signed::without_zeros;

/// Most bytes of a serial number: 20 (RFC 5280, §4.1.2.2), and the zero that some put in front.
const MAX_SERIAL: usize = 21;

/// The fields of one SEQUENCE.
pub(crate) struct Fields<'a> {
    /// What the SEQUENCE is, without an article.
    object: &'static str,
    reader: SliceReader<'a>,
}

impl<'a> Fields<'a> {
    /// Those of a file, which is one SEQUENCE.
    pub(crate) fn of_file(object: &'static str, der: &'a [u8]) -> Result<Self, Error> {
        const FIELD: &str = "DER encoding";
        let outside = AnyRef::from_der(der).map_err(|_| malformed(object, FIELD))?;
        Self::of(object, FIELD, outside)
    }

    fn of(object: &'static str, field: &'static str, outside: AnyRef<'a>) -> Result<Self, Error> {
        let is_sequence = outside.tag() == Tag::Sequence;
        let reader = SliceReader::new(outside.value()).ok().filter(|_| is_sequence);
        Ok(Self { object, reader: reader.ok_or(malformed(object, field))? })
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        usize::try_from(self.reader.remaining_len()).expect("it is part of a slice")
    }

    /// The tag of the next field, if there is one.
    pub(crate) fn tag(&self) -> Option<Tag> {
        Tag::peek(&self.reader).ok()
    }

    /// Reads the next field.
    pub(crate) fn read<T: Decode<'a>>(&mut self, field: &'static str) -> Result<T, Error> {
        T::decode(&mut self.reader).map_err(|_| malformed(self.object, field))
    }

    /// Reads the next field as it is written, with its tag and length.
    pub(crate) fn read_whole(&mut self, field: &'static str) -> Result<&'a [u8], Error> {
        self.reader.tlv_bytes().map_err(|_| malformed(self.object, field))
    }

    /// Reads the fields of the next field.
    pub(crate) fn read_fields(&mut self, field: &'static str) -> Result<Self, Error> {
        let outside = self.read(field)?;
        Self::of(self.object, field, outside)
    }

    /// Reads what stands within the next field, if that has this tag of context.
    pub(crate) fn read_within(
        &mut self,
        number: u32,
        field: &'static str,
    ) -> Result<Option<&'a [u8]>, Error> {
        let tag = Tag::ContextSpecific { constructed: true, number: TagNumber(number) };
        if self.tag() != Some(tag) {
            return Ok(None);
        }
        self.read::<AnyRef<'_>>(field).map(|around| Some(around.value()))
    }

    /// Passes over the next field if it has this tag of context.
    pub(crate) fn skip(&mut self, number: u32, field: &'static str) -> Result<(), Error> {
        let tag = Tag::ContextSpecific { constructed: false, number: TagNumber(number) };
        if self.tag() == Some(tag) {
            self.read_whole(field)?;
        }
        Ok(())
    }

    /// Reads extensions within a tag of context, if they are there.
    pub(crate) fn read_extensions(&mut self, number: u32) -> Result<Vec<Extension>, Error> {
        const FIELD: &str = "list of extensions";
        match self.read_within(number, FIELD)? {
            None => Ok(Vec::new()),
            Some(within) => Vec::from_der(within).map_err(|_| malformed(self.object, FIELD)),
        }
    }

    /// Reads a serial number, without the zeros in front.
    pub(crate) fn read_serial(&mut self) -> Result<Vec<u8>, Error> {
        const FIELD: &str = "serial number, an INTEGER of at most 20 bytes,";
        let serial: IntRef<'_> = self.read(FIELD)?;
        let bytes = serial.as_bytes();
        if bytes.is_empty() || bytes.len() > MAX_SERIAL {
            return Err(malformed(self.object, FIELD));
        }
        Ok(without_zeros(bytes).to_vec())
    }

    /// Reads a distinguished name.
    pub(crate) fn read_name(&mut self, field: &'static str) -> Result<crate::Name, Error> {
        self.read::<Name>(field).map(crate::Name)
    }

    /// Reads a time.
    pub(crate) fn read_time(&mut self, field: &'static str) -> Result<SystemTime, Error> {
        let written: AnyRef<'_> = self.read(field)?;
        moment(written).ok_or(malformed(self.object, field))
    }

    /// Returns true if the next field is a time.
    pub(crate) fn is_time(&self) -> bool {
        matches!(self.tag(), Some(Tag::UtcTime | Tag::GeneralizedTime))
    }

    /// Refuses fields that are left.
    pub(crate) fn end(self) -> Result<(), Error> {
        if self.reader.is_finished() { Ok(()) } else { Err(malformed(self.object, "end")) }
    }
}

pub(crate) const fn malformed(object: &'static str, field: &'static str) -> Error {
    Error::Malformed { object, field }
}

/// The point in time of a UTCTime or a GeneralizedTime in the forms of RFC 5280, §4.1.2.5: to the second, in UTC.
fn moment(written: AnyRef<'_>) -> Option<SystemTime> {
    let (year_digits, text) = match written.tag() {
        Tag::UtcTime => (2, written.value()),
        Tag::GeneralizedTime => (4, written.value()),
        _ => return None,
    };
    let digits = text.strip_suffix(b"Z")?;
    if digits.len() != year_digits + 10 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = |digits: &[u8]| digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
    let (year, rest) = digits.split_at(year_digits);
    let year = match (year_digits, number(year)) {
        (2, year @ 0..50) => 2000 + year,
        (2, year) => 1900 + year,
        (_, year) => year,
    };
    let pair = |at: usize| number(&rest[2 * at..2 * at + 2]);
    let (month, day, hour, minute, second) = (pair(0), pair(1), pair(2), pair(3), pair(4));
    if !(1..=12).contains(&month)
        || day < 1
        || day > days_of(year, month)
        || hour > 23
        || minute > 59
        || second > 59
    {
        return None;
    }
    let seconds = ((days_before(year, month) + day - 1) * 24 + hour) * 3600 + minute * 60 + second;
    let distance = Duration::from_secs(seconds.unsigned_abs());
    if seconds < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970-01-01 to the first of that month, in the Gregorian calendar; 0 <= year <= 9999.
fn days_before(year: i64, month: i64) -> i64 {
    let leap_days = |year: i64| (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    let years = year * 365 + leap_days(year) - (1970 * 365 + leap_days(1970));
    years + (1..month).map(|month| days_of(year, month)).sum::<i64>()
}
