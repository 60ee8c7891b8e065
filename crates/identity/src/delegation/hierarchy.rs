//! Prefixes of texts. Those of paths and of URLs end at a segment, and a text that readers may take for another is below none.

/// Returns true if a text is below a prefix.
pub(super) fn is_below(prefix: &str, text: &str) -> bool {
    continues(prefix, text) && (!is_hierarchical(prefix) || is_unambiguous(text))
}

/// Returns true if a text continues a prefix: that of paths and URLs where a segment of it ends.
#[inline(never)]
pub(super) fn continues(prefix: &str, text: &str) -> bool {
    let Some(rest) = text.strip_prefix(prefix) else { return false };
    if !is_hierarchical(prefix) || rest.is_empty() || prefix.ends_with('/') {
        return true;
    }
    match prefix.starts_with('/') {
        true => rest.starts_with('/'),
        false => prefix.contains(['?', '#']) || rest.starts_with(['/', '?', '#']),
    }
}

/// Returns true for a prefix of paths or of URLs.
pub(super) fn is_hierarchical(prefix: &str) -> bool {
    prefix.starts_with('/') || prefix.contains("://")
}

/// Returns true if every reader finds the same segments in a path or URL, and no way up.
pub(super) fn is_unambiguous(text: &str) -> bool {
    let path = match text.strip_prefix('/') {
        Some(path) => path,
        None => {
            let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
            let path = rest.split(['?', '#']).next().unwrap_or_default();
            // Behind the authority.
            path.split_once('/').map_or("", |(_, path)| path)
        }
    };
    let mut segments = path.split('/');
    // A folder ends with an empty segment.
    let last = segments.next_back().unwrap_or_default();
    segments.all(is_plain) && (last.is_empty() || is_plain(last))
}

/// Returns true if a segment is a name to every reader: no way up, nothing that is left out, and no separator within.
fn is_plain(segment: &str) -> bool {
    let Some(text) = as_read(segment) else { return false };
    let name = without_parameters(&text);
    !text.contains(|one: char| matches!(one, '/' | '\\') || one.is_control())
        && !name.bytes().all(|one| matches!(one, b'.' | b' '))
}

/// The name in a segment, without the parameters that servers cut off.
#[inline(never)]
pub(super) fn without_parameters(segment: &str) -> &str {
    segment.find(';').map_or(segment, |at| &segment[..at])
}

/// Returns a segment as the most lenient reader has it: without escapes, however often they are escaped, and with look-alikes replaced. `None` if
/// an escape is malformed, or its bytes are not UTF-8.
fn as_read(segment: &str) -> Option<String> {
    let mut bytes = segment.as_bytes();
    while let [byte, rest @ ..] = bytes {
        if *byte == b'%' && !matches!(rest, [high, low, ..] if byte_of(*high, *low).is_some()) {
            return None;
        }
        bytes = rest;
    }
    let mut text = segment.to_owned();
    loop {
        let read: String = decoded(&text)?.chars().map(resembled).collect();
        if read == text {
            return Some(text);
        }
        text = read;
    }
}

/// Decodes escapes, and those that come of it.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        bytes.push(byte);
        while let [.., b'%', high, low] = bytes[..]
            && let Some(byte) = byte_of(high, low)
        {
            bytes.truncate(bytes.len() - 3);
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The byte of two hexadecimal digits.
fn byte_of(high: u8, low: u8) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

/// The ASCII character that readers may take a character for: compatibility forms (NFKC), full stops of other scripts, slashes that old
/// encodings have as one, and a space for blanks and for what is not seen.
fn resembled(one: char) -> char {
    match one {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(one) - 0xfee0).unwrap_or(one),
        '\u{2024}'..='\u{2026}'
        | '\u{3002}'
        | '\u{fe12}'
        | '\u{fe19}'
        | '\u{fe30}'
        | '\u{fe52}'
        | '\u{ff61}' => '.',
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
        '\u{2216}' | '\u{29f5}' | '\u{29f9}' | '\u{fe68}' => '\\',
        '\u{37e}' | '\u{fe54}' => ';',
        '\u{fe6a}' => '%',
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' => ' ',
        blank if blank.is_whitespace() && !blank.is_control() => ' ',
        other => other,
    }
}
