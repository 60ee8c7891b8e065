//! Reports of commands: lines for people, or one JSON object a line for programs; and progress bars.
//!
//! Text for people is written here alone, line by line. Whatever a line holds, it stays one line: control characters, line feeds
//! among them, stand there as escapes. So text of strangers forges no line of a report.

use crate::error::Error;
use gambeson_identity::Timestamp;
use gambeson_identity::text::{is_obeyed, one_line};
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

    /// Reports one thing: `text` to a person, as one line, and `json` to a program.
    pub(crate) fn report(self, text: impl Display, json: Value) -> Result<(), Error> {
        self.report_lines([text], json)
    }

    /// Reports one thing: `lines` to a person, and `json` to a program.
    pub(crate) fn report_lines<T: Display>(
        self,
        lines: impl IntoIterator<Item = T>,
        json: Value,
    ) -> Result<(), Error> {
        if self.json { self.write(&report_line(json)) } else { self.say_lines(lines) }
    }

    /// Writes a line for a person only.
    pub(crate) fn say(self, text: impl Display) -> Result<(), Error> {
        self.say_lines([text])
    }

    /// Writes lines for a person only.
    pub(crate) fn say_lines<T: Display>(self, lines: impl IntoIterator<Item = T>) -> Result<(), Error> {
        if self.json || self.to_stderr {
            return Ok(());
        }
        let lines: Vec<String> = lines.into_iter().map(one_line).collect();
        self.write(&lines.join("\n"))
    }

    /// Shows a person what is about to be signed, on standard error: standard output may carry the result.
    pub(crate) fn show_before_signing(self, lines: &[String]) {
        if !self.json {
            lines.iter().for_each(write_to_stderr);
        }
    }

    /// Tells a program something that a person learns otherwise.
    pub(crate) fn report_json(self, json: Value) -> Result<(), Error> {
        if self.json { self.write(&report_line(json)) } else { Ok(()) }
    }

    /// Writes text whose characters may all be written, and ends its line.
    fn write(self, text: &str) -> Result<(), Error> {
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

/// Warns a person, on standard error.
pub(crate) fn warn(text: impl Display) {
    write_to_stderr(format_args!("warning: {text}"));
}

/// Writes a line for a person to standard error.
pub(crate) fn write_to_stderr(text: impl Display) {
    // Without standard error nobody reads it.
    let _ = writeln!(io::stderr(), "{}", one_line(text));
}

/// A text of others among other words: as it is where it is one word of usual characters, else as JSON has it, so that it reads as one.
pub(crate) fn one_word(text: impl Display) -> String {
    let text = text.to_string();
    let is_usual = |c: char| c.is_ascii_alphanumeric() || "._:/@*+-=~%?&#!$()[]'|^{}".contains(c);
    match !text.is_empty() && text.chars().all(is_usual) {
        true => text,
        false => Value::from(text).to_string(),
    }
}

/// A report for programs as a line, which `docs/spec/reports.md` describes: an object with a `type`, and without members that do not apply.
pub(crate) fn report_line(json: Value) -> String {
    debug_assert!(json["type"].is_string(), "a report without a type: {json}");
    json_line(&present(json))
}

/// An object without its members that are null.
pub(crate) fn present(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// A time in milliseconds since 1970, as RFC 3339 writes it in UTC.
pub(crate) fn rfc3339(milliseconds: u64) -> String {
    let seconds = Timestamp(milliseconds / 1000).to_string();
    format!("{}.{:03}Z", seconds.trim_end_matches('Z'), milliseconds % 1000)
}

/// One line of JSON, in which what a terminal would obey or nobody sees stands as escapes of JSON: such characters are in its strings alone. Beyond the
/// first 65,536 of Unicode a character has two escapes (RFC 8259, section 7).
fn json_line(json: &Value) -> String {
    let mut line = String::new();
    for c in json.to_string().chars() {
        match is_obeyed(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| _ = write!(line, "\\u{unit:04x}")),
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

/// A number of things, whose noun is in the singular for one of them.
pub(crate) fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    // A number beyond 64 bits is no number of things.
    let n = n.try_into().unwrap_or(u64::MAX);
    // A y after a vowel stays: days.
    let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (n, stem) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        (_, None) => format!("{n} {noun}s"),
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
    use super::{counted, duration, grouped, json_line, one_word, report_line, rfc3339};
    use std::fs;
    use std::path::Path;

    /// The exceptions carry data, or ask whether a stream is a terminal.
    #[test]
    fn lines_for_people_are_written_here_alone() {
        let data = ["console.rs", "files.rs", "pages.rs", "tls/log.rs", "src/lib.rs", "channel/top.rs"];
        let mut found = Vec::new();
        crate::child::sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        assert!(found.len() > 80, "{}", found.len());
        for path in found {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let streams = data.iter().any(|data| path.ends_with(data));
            let console = path.ends_with("console.rs");
            for (writer, allowed) in [
                ("io::stdout()", streams),
                ("io::stderr()", console),
                ("println!(", console),
                ("print!(", console),
            ] {
                assert!(allowed || !text.contains(writer), "{}: {writer}: use Console", path.display());
            }
        }
    }

    #[test]
    fn a_text_of_others_reads_as_one() {
        for text in
            ["*.example.com", "192.0.2.7", "did:web:a.example", "a@b.example", "https://u.com/?a=b&c#d"]
        {
            assert_eq!(one_word(text), text);
        }
        for (text, word) in [
            ("u.com, bank.com", "\"u.com, bank.com\""),
            ("u.com,bank.com", "\"u.com,bank.com\""),
            ("\"u.com", "\"\\\"u.com\""),
            ("a\\b", "\"a\\\\b\""),
            ("a b", "\"a b\""),
            ("", "\"\""),
            ("bänk.com", "\"bänk.com\""),
        ] {
            assert_eq!(one_word(text), word);
        }
    }

    #[test]
    fn json_with_escapes_is_json() {
        let value = serde_json::json!({"a\u{ad}": "b\u{e0061}\u{200b}c"});
        let line = json_line(&value);
        assert_eq!(line, "{\"a\\u00ad\":\"b\\udb40\\udc61\\u200bc\"}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).ok(), Some(value));
    }

    #[test]
    fn a_report_has_no_members_that_do_not_apply() {
        let report = serde_json::json!({"type": "key", "out": null, "document": {"kept": null}});
        assert_eq!(report_line(report), r#"{"document":{"kept":null},"type":"key"}"#);
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(rfc3339(1_795_330_800_042), "2026-11-22T07:00:00.042Z");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(duration(7.0), "7.00 ns");
        assert_eq!(duration(51_234.0), "51.2 µs");
        assert_eq!(duration(1.5e9), "1.50 s");
        let counts = [0_usize, 1, 2].map(|n| (counted(n, "member"), counted(n, "entry")));
        let texts = counts.each_ref().map(|(one, other)| (one.as_str(), other.as_str()));
        assert_eq!(texts, [("0 members", "0 entries"), ("1 member", "1 entry"), ("2 members", "2 entries")]);
        assert_eq!((counted(90, "day"), counted(1, "day")), ("90 days".to_owned(), "1 day".to_owned()));
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(123), "123");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }
}
