//! Citations: every `FIPS 203, Algorithm 14 (K-PKE.Encrypt)`, `§7.2`, `RFC 9881` in the sources, held against
//! `docs/spec-index.toml`.

use crate::run::{Workspace, files_below};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;

/// The standards we cite, by the name they are cited under.
#[derive(Deserialize)]
struct Index {
    document: BTreeMap<String, Document>,
}

#[derive(Deserialize)]
struct Document {
    title: String,
    /// Folder whose bare citations mean this document.
    path: Option<String>,
    #[serde(default)]
    algorithms: Vec<String>,
    #[serde(default)]
    sections: BTreeMap<String, String>,
}

/// Checks all sources, then texts with planted mistakes, each of which must be refused.
pub fn check(workspace: &Workspace) -> Result<String> {
    let path = workspace.root.join("docs/spec-index.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let index: Index = toml::from_str(&text)?;
    if let Some((name, _)) = index.document.iter().find(|(_, document)| document.title.is_empty()) {
        bail!("{name} has no title");
    }
    let (mut citations, mut files, mut errors) = (0, 0, Vec::new());
    let mut sample = None;
    for path in files_below(&workspace.root.join("crates"), ".rs")? {
        let text = fs::read_to_string(&path)?;
        let name = path.strip_prefix(&workspace.root).unwrap_or(&path).display().to_string();
        let found = check_text(&index, &name, &text);
        files += 1;
        citations += found.citations;
        errors.extend(found.errors);
        sample = sample.or_else(|| text.contains("Algorithm 14 (K-PKE.Encrypt)").then_some((name, text)));
    }
    ensure!(errors.is_empty(), "{}", errors.join("\n"));
    canaries(&index)?;
    if let Some((name, text)) = sample {
        let wrong = text.replace("Algorithm 14 (K-PKE.Encrypt)", "Algorithm 13 (K-PKE.Encrypt)");
        let seen = !check_text(&index, &name, &wrong).errors.is_empty();
        ensure!(seen, "canary: a wrong number planted in a copy of {name} was not refused");
    }
    Ok(format!("{citations} citations in {files} files, all right; every planted mistake was refused"))
}

const PLANTED: &[&str] = &[
    "/// FIPS 203, Algorithm 15 (K-PKE.Encrypt).",
    "/// FIPS 203, Algorithm 22.",
    "/// FIPS 204, Algorithm 50.",
    "/// FIPS 204, Algorithm 36 (HighBits).",
    "/// FIPS 204, Algorithms 29 to 51.",
    "/// FIPS 203, §7.4",
    "/// RFC 9936",
    "/// Algorithm 3, of no document",
];

fn canaries(index: &Index) -> Result<()> {
    for text in PLANTED {
        let seen = !check_text(index, "canary", text).errors.is_empty();
        ensure!(seen, "canary: {text:?} was not refused");
    }
    Ok(())
}

#[derive(Default)]
struct Findings {
    citations: usize,
    errors: Vec<String>,
}

/// Walks the text from left to right, remembering the document last named.
fn check_text(index: &Index, file: &str, text: &str) -> Findings {
    let prose = join_comments(text);
    let is_its = |document: &Document| document.path.as_deref().is_some_and(|path| file.starts_with(path));
    let default = index.document.iter().find(|(_, document)| is_its(document));
    let mut current: Option<&str> = default.map(|(name, _)| name.as_str());
    let mut findings = Findings::default();
    let mut at = 0;
    while at < prose.len() {
        let rest = &prose[at..];
        let word_start = at == 0 || !prose[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let mut step = rest.chars().next().map_or(1, char::len_utf8);
        let mut complain = |what: String| {
            let line = prose[..at].matches('\n').count() + 1;
            findings.errors.push(format!("{file}:{line}: {what}"));
        };
        if !word_start && !rest.starts_with('§') {
        } else if let Some((name, length)) = document_name(rest) {
            findings.citations += 1;
            step = length;
            match index.document.get_key_value(name.as_str()) {
                Some((known, _)) => current = Some(known),
                None => {
                    complain(format!("{name} is not in docs/spec-index.toml"));
                    current = None;
                }
            }
        } else if ["c2sp.org/", "the draft", "DID Core"].iter().any(|text| rest.starts_with(text)) {
            // Texts whose numbers the index does not hold.
            current = None;
        } else if let Some((numbers, length)) = algorithm_numbers(rest) {
            findings.citations += numbers.len();
            step = length;
            match current {
                None => complain(format!("algorithm {numbers:?} of which document?")),
                Some(document) => {
                    let algorithms = &index.document[document].algorithms;
                    for number in &numbers {
                        if *number == 0 || *number > algorithms.len() {
                            complain(format!("{document} has no Algorithm {number}"));
                        }
                    }
                    if let ([number], Some(name)) = (&numbers[..], parenthesis(&rest[length..])) {
                        let known = algorithms.get(number.wrapping_sub(1)).map_or("", String::as_str);
                        if !known.split('|').any(|spelling| plain(spelling) == plain(name)) {
                            complain(format!("{document}, Algorithm {number} is {known}, not {name}"));
                        }
                    }
                }
            }
        } else if let Some((sections, length)) = section_numbers(rest) {
            findings.citations += sections.len();
            step = length;
            if let Some(document) = current {
                let known = &index.document[document].sections;
                for section in sections.iter().filter(|_| !known.is_empty()) {
                    if !known.contains_key(section) {
                        complain(format!("{document} has no section {section}"));
                    }
                }
                if let ([section], Some(title)) = (&sections[..], parenthesis(&rest[length..]))
                    && let Some(right) = known.get(section)
                    && title.starts_with(char::is_uppercase)
                    && plain(title) != plain(right)
                {
                    complain(format!("{document}, §{section} is \"{right}\", not \"{title}\""));
                }
            }
        }
        at += step;
    }
    findings
}

/// The text with comment marks blanked, so that a citation may run over the end of a line.
fn join_comments(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_start();
        let body = ["///", "//!", "//"].iter().find_map(|mark| body.strip_prefix(mark)).unwrap_or(body);
        prose.push_str(body);
        if body.is_empty() {
            prose.push('\n');
        }
    }
    prose
}

/// `FIPS 203`, `SP 800-185`, `RFC 9881`, `draft-connolly-cfrg-xwing-kem` at the start of the text, and its length.
fn document_name(text: &str) -> Option<(String, usize)> {
    for series in ["FIPS", "SP", "RFC"] {
        let Some(rest) = text.strip_prefix(series) else { continue };
        let Some(rest) = rest.strip_prefix([' ', '\u{a0}']) else { continue };
        let number: &str =
            &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len())];
        let number = number.trim_end_matches('-');
        if number.starts_with(|c: char| c.is_ascii_digit()) {
            let length = text.len() - rest.len() + number.len();
            return Some((format!("{series} {number}"), length));
        }
    }
    if text.starts_with("draft-") {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(text.len());
        let name = text[..end].trim_end_matches('-');
        // A draft's version is part of the reference, not of the name.
        let is_version = |text: &str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        let base = name.rsplit_once('-').filter(|(_, version)| is_version(version)).map(|(base, _)| base);
        return Some((base.unwrap_or(name).to_owned(), end));
    }
    None
}

/// `Algorithm 7`, `Algorithms 3–6`, `Algorithms 7, 8 and 9`: the numbers and the length of all that.
fn algorithm_numbers(text: &str) -> Option<(Vec<usize>, usize)> {
    let plural = text.starts_with("Algorithms");
    let rest = text.strip_prefix(if plural { "Algorithms" } else { "Algorithm" })?;
    let rest = rest.strip_prefix(char::is_whitespace)?;
    let mut length = text.len() - rest.len() + (rest.len() - rest.trim_start().len());
    let mut numbers = Vec::new();
    let mut range_from = None;
    loop {
        let digits = text[length..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - length);
        let number: usize = text[length..length + digits].parse().ok()?;
        length += digits;
        match range_from {
            Some(from) => numbers.extend(from + 1..=number),
            None => numbers.push(number),
        }
        let Some((separator, is_range)) = separator(&text[length..]).filter(|_| plural) else { break };
        if !text[length + separator..].starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        range_from = is_range.then_some(number);
        length += separator;
    }
    Some((numbers, length))
}

fn separator(text: &str) -> Option<(usize, bool)> {
    [("–", true), ("-", true), (" to ", true), (", ", false), (" and ", false), (",\n ", false)]
        .into_iter()
        .find_map(|(mark, is_range)| text.starts_with(mark).then_some((mark.len(), is_range)))
}

/// `§7.2`, `§§ 4.2.1, 4.2.2`, `Section 5.1`, `Appendix B`: the section numbers and the length of all that.
fn section_numbers(text: &str) -> Option<(Vec<String>, usize)> {
    let marks = ["§§", "§", "Sections ", "Section ", "section ", "Appendix "];
    let mark = marks.into_iter().find(|mark| text.starts_with(mark))?;
    let mut length = mark.len();
    length += text[length..].len() - text[length..].trim_start_matches([' ', '\u{a0}']).len();
    let mut sections = Vec::new();
    loop {
        let rest = &text[length..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let section = rest[..end].trim_end_matches('.');
        let head = section.split('.').next().unwrap_or_default();
        let numeric = !head.is_empty() && head.bytes().all(|b| b.is_ascii_digit());
        let appendix = head.len() == 1 && head.bytes().all(|b| b.is_ascii_uppercase());
        if !numeric && !appendix {
            break;
        }
        length += section.len();
        sections.push(section.to_owned());
        let Some((separator, false)) = separator(&text[length..]) else { break };
        if mark != "§§" && mark != "Sections " {
            break;
        }
        length += separator;
    }
    (!sections.is_empty()).then_some((sections, length))
}

/// The words in a parenthesis that follows at once.
fn parenthesis(text: &str) -> Option<&str> {
    let inside = text.trim_start().strip_prefix('(')?;
    inside.find(')').map(|end| &inside[..end])
}

/// A name without its typography.
fn plain(name: &str) -> String {
    let name = name.replace("⁻¹", "^-1").replace("^{-1}", "^-1").replace("NTT−1", "NTT^-1");
    name.chars().filter(|c| !c.is_whitespace() && !"`_{}*\\$".contains(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        toml::from_str(include_str!("../../docs/spec-index.toml")).expect("the index is TOML")
    }

    fn errors(text: &str) -> Vec<String> {
        check_text(&index(), "crates/other/src/lib.rs", text).errors
    }

    #[test]
    fn right_citations_pass() {
        for text in [
            "/// FIPS 203, Algorithm 14 (K-PKE.Encrypt), except that",
            "/// FIPS 203, Algorithm 14\n    /// (K-PKE.Encrypt)",
            "// FIPS 203, Algorithms 3–6 and §4.2.1; Algorithm 10 (`NTT⁻¹`)",
            "// FIPS 204, Algorithms 29, 30 and 31, Appendix B",
            "// RFC 9881, section 6; SP 800-185 §3.3; FIPS 203 §7.2 (ML-KEM Encapsulation)",
            "// draft-connolly-cfrg-xwing-kem-09, section 5.3",
            "// FIPS 203 §7.2 (coefficients below q)",
        ] {
            assert_eq!(errors(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn planted_mistakes_are_refused() {
        canaries(&index()).unwrap();
        assert!(!errors("// FIPS 203 §7.2 (ML-KEM Decapsulation)").is_empty());
    }

    #[test]
    fn a_folder_names_its_document() {
        let found = check_text(&index(), "crates/core/src/mlkem/pke.rs", "/// Algorithm 21 and Algorithm 22");
        assert_eq!(found.citations, 2);
        assert_eq!(found.errors.len(), 1);
    }

    #[test]
    fn the_error_names_the_line() {
        assert!(errors("//! FIPS 203\n\nfn f() {}\n/// Algorithm 40\n")[0].contains("lib.rs:4:"));
    }

    #[test]
    fn the_counts_are_those_of_the_standards() {
        let index = index();
        let count = |name: &str| index.document[name].algorithms.len();
        assert_eq!((count("FIPS 202"), count("FIPS 203"), count("FIPS 204")), (9, 21, 49));
    }
}
