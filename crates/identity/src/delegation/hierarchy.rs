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
    segments.all(|segment| !segment.is_empty() && is_plain(segment)) && is_plain(last)
}

/// Returns true if a segment is no way up, and hides no separator, under any number of escapes.
fn is_plain(segment: &str) -> bool {
    // Servers cut parameters off.
    let name = segment.split(';').next().unwrap_or_default();
    let hidden = |escape: &str| {
        let mut rest = escape;
        while let Some(inner) = rest.strip_prefix("25") {
            rest = inner;
        }
        let code = rest.get(..2).map(str::to_ascii_lowercase);
        matches!(code.as_deref(), Some("00" | "2e" | "2f" | "5c"))
    };
    !matches!(name, "." | "..")
        && !segment.contains(|one: char| one == '\\' || one.is_control())
        && !segment.split('%').skip(1).any(hidden)
}
