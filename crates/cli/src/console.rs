//! What a command tells: sentences and tables for people, or one JSON object a line for programs; and how far
//! long work has come.

use crate::error::Error;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal, Write};

/// Where reports go, and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    json: bool,
    to_stderr: bool,
}

impl Console {
    /// Reports on standard output; as JSON if `json`.
    pub fn new(json: bool) -> Self {
        Self { json, to_stderr: false }
    }

    /// Whether reports are JSON.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// The same; but if `taken`, standard output carries data: sentences are left out then, and JSON goes to standard
    /// error.
    pub(crate) fn beside_data(self, taken: bool) -> Self {
        Self { to_stderr: taken, ..self }
    }

    /// Reports one thing: `text` to a person, `json` to a program.
    pub(crate) fn report(self, text: impl Display, json: Value) -> Result<(), Error> {
        if self.json {
            self.line(&json_line(&json))
        } else if self.to_stderr {
            Ok(())
        } else {
            self.line(&printable(text))
        }
    }

    /// Tells a person something that a program learns otherwise.
    pub(crate) fn say(self, text: impl Display) -> Result<(), Error> {
        if self.json || self.to_stderr { Ok(()) } else { self.line(&printable(text)) }
    }

    /// Shows a person what is about to be signed, on standard error: standard output may carry the result.
    pub(crate) fn show_before_signing(self, text: impl Display) {
        if !self.json {
            // Without standard error nobody reads it.
            let _ = writeln!(io::stderr(), "{}", printable(text));
        }
    }

    /// Tells a program something that a person learns otherwise.
    pub(crate) fn report_json(self, json: Value) -> Result<(), Error> {
        if self.json { self.line(&json_line(&json)) } else { Ok(()) }
    }

    fn line(self, text: &str) -> Result<(), Error> {
        let written = if self.to_stderr {
            writeln!(io::stderr(), "{text}")
        } else {
            let mut stdout = io::stdout().lock();
            writeln!(stdout, "{text}").and_then(|()| stdout.flush())
        };
        written.map_err(|e| Error::stream(&"standard output", &e))
    }

    /// A bar over `length` bytes, drawn on standard error if that is a terminal and the work is long.
    pub(crate) fn bytes_bar(self, length: Option<u64>, what: &str) -> ProgressBar {
        const LONG: u64 = 8 << 20;
        if !io::stderr().is_terminal() || length.is_some_and(|length| length < LONG) {
            return ProgressBar::hidden();
        }
        let (bar, template) = match length {
            Some(length) => (
                ProgressBar::new(length),
                "{msg} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
            ),
            None => (ProgressBar::new_spinner(), "{msg} {spinner} {bytes} {bytes_per_sec}"),
        };
        styled(bar, template, what)
    }

    /// A bar over `count` steps, drawn on standard error if that is a terminal.
    pub(crate) fn steps_bar(self, count: u64, what: &str) -> ProgressBar {
        if !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        styled(ProgressBar::new(count), "{msg} [{wide_bar}] {pos}/{len} {eta} left", what)
    }
}

/// The text without what a terminal would obey, which may come from others: control characters but line feeds and tabs, and marks
/// of writing direction, stand there as escapes.
pub(crate) fn printable(text: impl Display) -> String {
    let mut shown = String::new();
    for c in text.to_string().chars() {
        if is_obeyed(c) && !matches!(c, '\n' | '\t') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns true for control characters and marks of writing direction.
fn is_obeyed(c: char) -> bool {
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    direction || c.is_control()
}

/// One line of JSON, in which what a terminal would obey stands as escapes of JSON: such characters are in its strings alone, and each has one escape.
pub(crate) fn json_line(json: &Value) -> String {
    let mut line = String::new();
    for c in json.to_string().chars() {
        match is_obeyed(c) {
            true => _ = write!(line, "\\u{:04x}", u32::from(c)),
            false => line.push(c),
        }
    }
    line
}

fn styled(bar: ProgressBar, template: &str, what: &str) -> ProgressBar {
    // A template that does not parse leaves the default look.
    let bar = match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    bar.with_message(what.to_owned())
}

/// A duration for a person: three digits and the fitting unit.
pub(crate) fn duration(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    match value {
        v if v < 10.0 => format!("{v:.2} {unit}"),
        v if v < 100.0 => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

/// `n` with a thin gap between groups of three digits.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{duration, grouped, printable};

    #[test]
    fn what_a_terminal_would_obey_stands_there_as_escapes() {
        assert_eq!(printable("CN=\u{1b}[2J \u{9b}31m\r\u{7f}"), "CN=\\u{1b}[2J \\u{9b}31m\\u{d}\\u{7f}");
        assert_eq!(printable("a\u{202e}b\u{2066}c\u{200f}"), "a\\u{202e}b\\u{2066}c\\u{200f}");
        assert_eq!(printable("two\nlines\tand Ünïcödé"), "two\nlines\tand Ünïcödé");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(duration(7.0), "7.00 ns");
        assert_eq!(duration(51_234.0), "51.2 µs");
        assert_eq!(duration(1.5e9), "1.50 s");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(123), "123");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }
}
