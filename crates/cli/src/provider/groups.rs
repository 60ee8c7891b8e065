//! Names of the groups of TLS.

use gambeson_identity::text::one_line;

/// Names that OpenSSL 3.0 and newer take with the provider, in the spelling that 3.0 demands; those of a row mean one group.
const GROUPS: &[&[&str]] = &[
    &["X25519MLKEM768"],
    &["X448MLKEM1024"],
    &["X448MLKEM768"],
    &["SecP256r1MLKEM768"],
    &["SecP384r1MLKEM1024"],
    &["MLKEM512"],
    &["MLKEM768"],
    &["MLKEM1024"],
    &["X25519", "x25519"],
    &["X448", "x448"],
    &["P-256", "secp256r1", "prime256v1"],
    &["P-384", "secp384r1"],
    &["P-521", "secp521r1"],
    &["brainpoolP256r1"],
    &["brainpoolP384r1"],
    &["brainpoolP512r1"],
    &["ffdhe2048"],
    &["ffdhe3072"],
    &["ffdhe4096"],
    &["ffdhe6144"],
    &["ffdhe8192"],
];

/// Reads a list of groups, and returns it without spaces. OpenSSL ignores the whole list for one name that is unknown or there twice.
pub(crate) fn list(text: &str) -> Result<String, String> {
    let names: Vec<&str> = text.split(':').map(str::trim).collect();
    let mut rows = Vec::new();
    if names.iter().all(|name| name.is_empty()) {
        return Err("the list names no group (expected one or several, such as X25519MLKEM768:X25519)".into());
    }
    for name in &names {
        if name.is_empty() {
            return Err("no group stands between two colons, or at an end of the list".into());
        }
        if name.contains([',', ';', ' ', '/']) {
            return Err(format!("{}: groups are separated by colons", quoted(name)));
        }
        let row = GROUPS.iter().position(|row| row.contains(name));
        let row = row.ok_or_else(|| unknown(name))?;
        if rows.contains(&row) {
            return Err(format!("{}: this group is in the list twice", quoted(name)));
        }
        rows.push(row);
    }
    Ok(names.join(":"))
}

/// Says that a name is none of a group, and which name is the nearest.
pub(super) fn unknown(name: &str) -> String {
    let names = GROUPS.iter().flat_map(|row| row.iter());
    let nearest = names.min_by_key(|known| distance(name, known)).copied().unwrap_or_default();
    format!("{} is not the name of a group (the nearest name is {nearest})", quoted(name))
}

/// A text of others between quotation marks.
fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text))
}

/// The edit distance of two names (Levenshtein), in which letters of another case are nearer than other letters.
fn distance(one: &str, other: &str) -> usize {
    const EDIT: usize = 4;
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).map(|count| count * EDIT).collect();
    for (index, c) in one.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = (index + 1) * EDIT;
        for (at, d) in other.iter().enumerate() {
            let cost = match c {
                c if c == *d => 0,
                c if c.eq_ignore_ascii_case(d) => 1,
                _ => EDIT,
            };
            let replaced = diagonal + cost;
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + EDIT).min(row[at] + EDIT);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_told() {
        for (name, nearest) in [
            ("x25519mlkem768", "X25519MLKEM768"),
            ("X25519MLKEM999", "X25519MLKEM768"),
            ("X25519-MLKEM768", "X25519MLKEM768"),
            ("x25518", "x25519"),
            ("p256", "P-256"),
            ("P521", "P-521"),
            ("secp384R1", "secp384r1"),
            ("mlkem1024", "MLKEM1024"),
            ("x448MLKEM1024", "X448MLKEM1024"),
        ] {
            assert!(
                unknown(name).ends_with(&format!("(the nearest name is {nearest})")),
                "{}",
                unknown(name)
            );
            assert!(list(name).is_err());
        }
        // However long it is.
        assert!(list(&"X".repeat(100_000)).is_err());
    }

    #[test]
    fn a_list_is_returned_without_spaces() {
        assert_eq!(list(" X25519MLKEM768 :P-256").expect("a list"), "X25519MLKEM768:P-256");
    }
}
