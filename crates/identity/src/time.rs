//! Points in time: unix seconds inside, RFC 3339 in UTC outside.

use crate::{Error, Reason, Result};
use core::fmt;
use core::str::FromStr;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A point in time in whole seconds since 1970-01-01T00:00:00Z, up to the year 9999.
///
/// Nothing in this crate reads a clock: who verifies says what time it is.
///
/// ```
/// use gambeson_identity::Timestamp;
///
/// let time: Timestamp = "2026-11-22T07:00:00Z".parse()?;
/// assert_eq!(time.0, 1_795_330_800);
/// assert_eq!(time.to_string(), "2026-11-22T07:00:00Z");
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

/// 9999-12-31T23:59:59Z: later years have no form in RFC 3339.
const LAST: u64 = 253_402_300_799;

impl Timestamp {
    /// This many seconds later, at most the end of the year 9999.
    #[must_use]
    pub fn after(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds).min(LAST))
    }

    /// Seconds from `earlier` to here; 0 if it is not earlier.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Refuses a time outside of `from ..= until`, where either may be open.
    ///
    /// # Errors
    ///
    /// [`Reason::NotYetValid`] or [`Reason::Expired`]; `what` names the object.
    pub fn within(self, from: Option<Self>, until: Option<Self>, what: &str) -> Result<()> {
        if let Some(from) = from.filter(|from| self < *from) {
            return Err(Error::new(
                Reason::NotYetValid,
                format_args!("{what} is valid from {from}; it is now {self}"),
            ));
        }
        if let Some(until) = until.filter(|until| self > *until) {
            return Err(Error::new(
                Reason::Expired,
                format_args!("{what} expired at {until}; it is now {self}"),
            ));
        }
        Ok(())
    }

    /// Refuses what was made later than now, by a clock that may be `tolerance` seconds ahead.
    ///
    /// # Errors
    ///
    /// [`Reason::NotYetValid`]; `what` names the object.
    pub(crate) fn not_before(self, made: Self, tolerance: u64, what: &str) -> Result<()> {
        match self.after(tolerance) < made {
            true => Err(Error::new(
                Reason::NotYetValid,
                format_args!(
                    "{what} is valid from {made}; it is now {self}, and clocks may differ by {tolerance} s"
                ),
            )),
            false => Ok(()),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.0.min(LAST)).expect("the year 9999 is far below 2^63 seconds");
        let time = OffsetDateTime::from_unix_timestamp(seconds).expect("the year is at most 9999");
        f.write_str(&time.format(&Rfc3339).expect("a year of four digits has a form"))
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    /// A `dateTimeStamp` with an offset; fractions of a second are dropped. There are no leap seconds, and `T` and `Z`
    /// are capitals: RFC 3339 leaves both open, and two readers must agree.
    fn from_str(text: &str) -> Result<Self> {
        let bytes = text.as_bytes();
        let strict = bytes.get(10) == Some(&b'T')
            && bytes.get(17).is_some_and(|tens| *tens < b'6')
            && !bytes.ends_with(b"z");
        OffsetDateTime::parse(text, &Rfc3339)
            .ok()
            .filter(|_| strict)
            .and_then(|time| u64::try_from(time.unix_timestamp()).ok())
            .filter(|seconds| *seconds <= LAST)
            .map(Self)
            .ok_or_else(|| Error::new(Reason::BadTime, "not an RFC 3339 time with an offset, from 1970 on"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_fractions_are_read() {
        let read = |text: &str| text.parse::<Timestamp>().map(|time| time.0);
        assert_eq!(read("1970-01-01T01:00:00.9+01:00"), Ok(0));
        assert_eq!(read("9999-12-31T23:59:59Z"), Ok(LAST));
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        for text in [
            "",
            "2026-11-22",
            "2026-11-22T07:00:00",
            "1969-12-31T23:59:59Z",
            "2026-02-30T00:00:00Z",
            "2026-11-22 07:00:00Z",
            "2026-11-22t07:00:00Z",
            "2026-11-22T07:00:00z",
            "2016-12-31T23:59:60Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T07:00:00.Z",
            "2026-11-22T07:00Z",
            "2026-11-22T07:00:00+0100",
        ] {
            assert_eq!(text.parse::<Timestamp>().unwrap_err().reason(), Reason::BadTime, "{text}");
        }
    }

    #[test]
    fn a_time_outside_says_on_which_side() {
        let (early, late) = (Some(Timestamp(10)), Some(Timestamp(20)));
        assert_eq!(Timestamp(9).within(early, late, "it").unwrap_err().reason(), Reason::NotYetValid);
        assert_eq!(Timestamp(21).within(early, late, "it").unwrap_err().reason(), Reason::Expired);
        assert!(Timestamp(10).within(early, late, "it").is_ok());
        assert!(Timestamp(20).within(early, late, "it").is_ok());
    }
}
