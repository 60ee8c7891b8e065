//! What a capability covers: texts in segments, exact or below a prefix.

use super::hierarchy::without_parameters;
use crate::error::bad;
use crate::{Error, Result};
use core::fmt;
use core::str::FromStr;

/// The longest pattern and the longest text that is matched, in bytes.
const MAX_LEN: usize = 4096;

/// An exact text such as `tools/call/pay`, or all that is below a prefix, such as `tools/call/*`.
///
/// Segments are separated by `/`. `*` is a wildcard only as the whole last segment, after at least one other; anywhere
/// else it is refused, so that none is granted by accident. A wildcard stands for one or more segments of ASCII letters,
/// digits and `-._~!$&'()+,;=:@`, none of which is empty, `.` or `..` before its first `;`: what needs more must be granted exactly.
///
/// ```
/// use gambeson_identity::delegation::Pattern;
///
/// let tools: Pattern = "tools/call/*".parse()?;
/// assert!(tools.matches("tools/call/pay") && tools.matches("tools/call/files/read"));
/// assert!(!tools.matches("tools/call") && !tools.matches("tools/call/../admin"));
/// assert!("*".parse::<Pattern>().is_err() && "tools/ca*".parse::<Pattern>().is_err());
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Without the last `/*` if `below`.
    prefix: String,
    below: bool,
}

impl Pattern {
    /// Whether it covers this text.
    pub fn matches(&self, text: &str) -> bool {
        match self.below {
            false => self.prefix == text,
            true => text.len() <= MAX_LEN && self.rest(text).is_some_and(|rest| rest.split('/').all(plain)),
        }
    }

    /// Whether a demand on what the pattern covers reaches this text: as [`Pattern::matches`], but below a prefix whatever the
    /// rest is. Where a match takes something away, what does not read plainly must not slip through.
    pub fn reaches(&self, text: &str) -> bool {
        match self.below {
            false => self.prefix == text,
            true => self.rest(text).is_some(),
        }
    }

    /// Whether it covers all that `other` covers.
    pub fn covers(&self, other: &Self) -> bool {
        match (self.below, other.below) {
            (_, false) => self.matches(&other.prefix),
            (true, true) => self.prefix == other.prefix || self.matches(&other.prefix),
            (false, true) => false,
        }
    }

    fn rest<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.strip_prefix(self.prefix.as_str())?.strip_prefix('/')
    }
}

/// A segment that every reader takes for the same: no escapes, no way up, nothing empty.
fn plain(segment: &str) -> bool {
    !matches!(without_parameters(segment), "" | "." | "..")
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()+,;=:@".contains(&byte))
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.is_empty() || text.len() > MAX_LEN || text.chars().any(char::is_control) {
            return Err(bad(format_args!(
                "a pattern must be a string of 1 to {MAX_LEN} bytes without control characters"
            )));
        }
        let (prefix, below) = match text.strip_suffix("/*") {
            Some(prefix) => (prefix, true),
            None => (text, false),
        };
        if prefix.is_empty() || prefix.contains('*') {
            return Err(bad(format_args!(
                "{text:?}: * must be the whole last segment, after another segment"
            )));
        }
        Ok(Self { prefix: prefix.into(), below })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prefix)?;
        f.write_str(if self.below { "/*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    fn pattern(text: &str) -> Pattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_wildcard_is_explicit_and_last() {
        for text in ["", "*", "/*", "a*", "*/a", "a/*/b", "a/**", "a/*/*", "a/b*", "**", "a\n"] {
            assert_eq!(text.parse::<Pattern>().unwrap_err().reason(), Reason::BadForm, "{text}");
        }
        assert_eq!(pattern("https://a.example/b/*").to_string(), "https://a.example/b/*");
    }

    #[test]
    fn a_prefix_ends_at_a_segment_and_has_no_way_up() {
        let below = pattern("a/b/*");
        for text in ["a/b/c", "a/b/c/d", "a/b/...", "a/b/c;d"] {
            assert!(below.matches(text), "{text}");
        }
        for text in [
            "a/b",
            "a/b/",
            "a/bc",
            "a/b/c/",
            "a/b//c",
            "a/b/..",
            "a/b/c/../d",
            "a/b/.",
            "a/b/%2e",
            "a/b/*",
            "a/b/..;c/d",
            "a/b/.;",
            "a/b/;c",
        ] {
            assert!(!below.matches(text), "{text}");
        }
        assert!(pattern("a/..").matches("a/.."));
    }

    #[test]
    fn a_demand_reaches_whatever_lies_below() {
        let below = pattern("a/b/*");
        for text in [
            "a/b/c",
            "a/b/",
            "a/b//c",
            "a/b/..",
            "a/b/wire money",
            "a/b/é",
            &format!("a/b/{}", "c".repeat(9999)),
        ] {
            assert!(below.reaches(text), "{text}");
        }
        for text in ["a/b", "a/bc", "a//b/c", "A/b/c"] {
            assert!(!below.reaches(text), "{text}");
        }
        assert!(pattern("a/b").reaches("a/b") && !pattern("a/b").reaches("a/b/c"));
    }

    #[test]
    fn covering_is_matching_of_everything() {
        for (wide, narrow, expected) in [
            ("a/*", "a/b", true),
            ("a/*", "a/b/*", true),
            ("a/*", "a/*", true),
            ("a/b/*", "a/*", false),
            ("a/*", "a", false),
            ("a", "a/*", false),
            ("a/*", "a/../*", false),
            ("a/*", "ab/*", false),
        ] {
            assert_eq!(pattern(wide).covers(&pattern(narrow)), expected, "{wide} {narrow}");
        }
    }
}
