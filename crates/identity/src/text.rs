//! Text of others in lines for people.

use std::fmt::Display;

/// Returns the text as one line: characters that would end it, that a terminal obeys, or that nobody sees stand as escapes of Rust.
///
/// Text that others chose cannot forge a line of a report or of a log that is written so, and two texts that look alike for such characters
/// look different.
///
/// ```
/// assert_eq!(gambeson_identity::text::one_line("pay\nverified: all"), "pay\\nverified: all");
/// ```
#[must_use]
pub fn one_line(text: impl Display) -> String {
    let mut line = String::new();
    for c in text.to_string().chars() {
        match is_obeyed(c) {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

/// Returns true for characters that do something else than to be seen: control characters, separators of lines and paragraphs, marks of writing
/// direction, and all that has no shape of its own (`Default_Ignorable_Code_Point` of Unicode 17, marks of annotations, and the
/// blank of Braille).
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    let separator = matches!(c, '\u{2028}' | '\u{2029}');
    separator || is_unseen(c) || c.is_control()
}

/// Returns true for what has no shape; marks of writing direction are among it.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{is_obeyed, one_line};

    #[test]
    fn what_a_terminal_obeys_stands_as_escapes() {
        assert_eq!(one_line("CN=\u{1b}[2J \u{9b}31m\r\u{7f}"), "CN=\\u{1b}[2J \\u{9b}31m\\r\\u{7f}");
        assert_eq!(one_line("a\u{202e}b\u{2066}c\u{200f}"), "a\\u{202e}b\\u{2066}c\\u{200f}");
        // Soft hyphen, zero width space and joiner, word joiner, byte order mark, fillers, a variation selector, a tag, a blank of Braille.
        let unseen =
            "a\u{ad}b\u{200b}c\u{200d}d\u{2060}e\u{feff}f\u{3164}g\u{fe0f}h\u{e0061}i\u{2800}j\u{34f}";
        assert_eq!(
            one_line(unseen),
            "a\\u{ad}b\\u{200b}c\\u{200d}d\\u{2060}e\\u{feff}f\\u{3164}g\\u{fe0f}h\\u{e0061}i\\u{2800}j\\u{34f}"
        );
        for c in [
            '\u{180e}',
            '\u{206a}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e01ef}',
            '\u{fff9}',
            '\u{115f}',
            '\u{17b4}',
            '\u{ffa0}',
        ] {
            assert!(is_obeyed(c), "{:x}", u32::from(c));
        }
        let lines = "one\nline\tof\u{2028}Ünïcödé\u{2029}";
        assert_eq!(one_line(lines), "one\\nline\\tof\\u{2028}Ünïcödé\\u{2029}");
    }
}
