//! OpenSSL's configuration: what an existing one says, and what has to follow it so that the provider is there, too.
//!
//! The format is that of config(5): a section can be opened again, and of two values of one name the last one holds. So ours is a
//! text that comes after the existing one, and names the sections that it names.

use crate::args::provider::private_use;
use crate::error::Error;
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// How deep files include others; OpenSSL has no bound, and a loop no end.
const DEPTH: usize = 16;

/// What of an existing configuration matters here: its values by section and name.
#[derive(Default)]
pub(super) struct Existing {
    values: HashMap<(String, String), String>,
    /// A file that is included and could not be read from here.
    unknown: Option<String>,
}

/// A section, and the values that it gets.
type Section = (String, Vec<(&'static str, String)>);

impl Existing {
    /// Reads a configuration, and what it includes.
    pub(super) fn read(text: &str) -> Self {
        let mut existing = Self::default();
        existing.take(text, &mut "default".to_owned(), DEPTH);
        existing
    }

    /// Reads the configuration of a file.
    pub(super) fn of_file(file: &Path) -> Result<Self, Error> {
        let text = fs::read(file).map_err(|e| Error::io(file, &e))?;
        Ok(Self::read(&String::from_utf8_lossy(&text)))
    }

    /// A file that is included begins in the section that includes it, and leaves its last one open.
    fn take(&mut self, text: &str, section: &mut String, depth: usize) {
        for line in text.replace("\\\n", "").lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                name.trim().clone_into(section);
            } else if let Some(rest) = line.strip_prefix(".include") {
                let name = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '=');
                self.include(&unquoted(name).replace('\\', ""), section, depth);
            } else if let Some((name, value)) = line.split_once('=') {
                // `section::name` names its section itself.
                let (section, name) = name.trim().split_once("::").unwrap_or((section, name.trim()));
                self.values.insert((section.to_owned(), name.to_owned()), unquoted(value).to_owned());
            }
        }
    }

    fn include(&mut self, name: &str, section: &mut String, depth: usize) {
        let path = Path::new(name);
        let texts = || included(path)?.iter().map(fs::read_to_string).collect::<Result<Vec<_>, _>>();
        // Where a relative name leads is up to the program that reads it.
        match texts() {
            Ok(texts) if path.is_absolute() && depth > 0 => {
                texts.iter().for_each(|text| self.take(text, section, depth - 1));
            }
            _ => self.unknown = Some(name.to_owned()),
        }
    }

    fn value(&self, section: &str, name: &str) -> Option<&str> {
        self.values.get(&(section.to_owned(), name.to_owned())).map(String::as_str)
    }

    /// The section that a value names, or ours.
    fn section(&self, section: &str, name: &str, ours: &str) -> Result<String, Error> {
        match self.value(section, name) {
            Some(value) if value.contains('$') => Err(Error::outside(format!(
                "the existing configuration of OpenSSL has {name} = {value}, which cannot be resolved here"
            ))),
            value => Ok(value.unwrap_or(ours).to_owned()),
        }
    }

    /// What has to follow the existing configuration.
    pub(super) fn addition(
        &self,
        module: &Path,
        groups: &str,
        composite_sigalg: Option<u16>,
    ) -> Result<String, Error> {
        if let (Some(file), None) = (&self.unknown, self.value("default", "openssl_conf")) {
            return Err(Error::outside(format!(
                "the existing configuration of OpenSSL includes {file}, which cannot be read from here, and may name providers"
            )));
        }
        let init = self.section("default", "openssl_conf", "gambeson_init")?;
        // Node looks for a name of its own, and may have sections of its own.
        let node = self.section("default", "nodejs_conf", &init)?;
        let names = vec![("openssl_conf", init.clone()), ("nodejs_conf", node.clone())];
        let mut sections = vec![("default".to_owned(), names)];
        sections.extend(self.extension(&init, groups)?);
        if node != init {
            sections.extend(self.extension(&node, groups)?);
        }
        let mut ours = vec![("module", escaped(&text_of(module)?)?), ("activate", "1".to_owned())];
        ours.extend(composite_sigalg.map(|number| ("composite-sigalg", format!("{number:#06x}"))));
        sections.push(("gambeson_provider".to_owned(), ours));
        let mut text = String::new();
        for (section, values) in sections {
            let _ = writeln!(text, "[{section}]");
            for (name, value) in values {
                let _ = writeln!(text, "{name} = {value}");
            }
        }
        Ok(text)
    }

    /// What keeps the provider that it names from being what it should be.
    pub(super) fn problems(&self) -> Vec<String> {
        let named = |section: &str, name: &str| self.value(section, name).map(str::to_owned);
        let providers = named("default", "openssl_conf").and_then(|init| named(&init, "providers"));
        let Some(section) = providers.as_ref().and_then(|providers| named(providers, "gambeson")) else {
            return vec!["its list of providers does not name gambeson".into()];
        };
        let mut values: Vec<_> = self.values.iter().filter(|((of, _), _)| *of == section).collect();
        values.sort();
        let mut problems: Vec<_> = values
            .into_iter()
            .filter_map(|((_, name), value)| Some(format!("{name} = {value:?}: {}", problem(name, value)?)))
            .collect();
        if named(&section, "module").is_none() {
            problems.push(format!("[{section}] names no module"));
        }
        if named(&section, "activate").is_none() {
            problems.push(format!("[{section}] is not activated"));
        }
        problems
    }

    /// The lists of groups of all programs that do not choose by themselves: the names and the values of their settings.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&str, &str)> {
        let inits = ["openssl_conf", "nodejs_conf"].map(|name| self.value("default", name));
        let systems: Vec<_> = inits
            .into_iter()
            .flatten()
            .filter_map(|init| self.value(self.value(init, "ssl_conf")?, "system_default"))
            .collect();
        let mut found: Vec<_> = self
            .values
            .iter()
            .filter(|((section, name), _)| {
                // The part before a full stop makes names different, and has no other meaning.
                let name = name.split_once('.').map_or(&name[..], |(_, name)| name);
                systems.contains(&&section[..])
                    && ["groups", "curves"].iter().any(|groups| name.eq_ignore_ascii_case(groups))
            })
            .map(|((_, name), value)| (&name[..], &value[..]))
            .collect();
        found.sort_unstable();
        found.into_iter()
    }

    /// The sections below one that programs begin with.
    fn extension(&self, init: &str, groups: &str) -> Result<Vec<Section>, Error> {
        let providers = self.section(init, "providers", "gambeson_providers")?;
        let tls = self.section(init, "ssl_conf", "gambeson_tls")?;
        let system = self.section(&tls, "system_default", "gambeson_system")?;
        let named = vec![("providers", providers.clone()), ("ssl_conf", tls.clone())];
        let mut sections = vec![(init.to_owned(), named)];
        let mut listed = Vec::new();
        // Nobody has to name the default provider, until somebody names another one; who has done so already has chosen.
        if !self.activates(&providers) {
            let default = self.section(&providers, "default", "gambeson_default")?;
            listed.push(("default", default.clone()));
            sections.push((default, vec![("activate", "1".to_owned())]));
        }
        listed.push(("gambeson", "gambeson_provider".to_owned()));
        sections.push((providers, listed));
        sections.push((tls, vec![("system_default", system.clone())]));
        sections.push((system, vec![("Groups", escaped(groups)?)]));
        Ok(sections)
    }

    /// Whether a list of providers has one that is active, beside ours.
    fn activates(&self, providers: &str) -> bool {
        let others =
            self.values.iter().filter(|((section, name), _)| section == providers && name != "gambeson");
        others
            .into_iter()
            .any(|(_, section)| self.value(section, "activate").is_some_and(|value| !is_off(value)))
    }
}

/// What is wrong with a value of our section.
fn problem(name: &str, value: &str) -> Option<String> {
    match name {
        "module" if !Path::new(&value.replace('\\', "")).is_file() => Some("there is no such file".into()),
        "activate" if is_off(value) => Some("it is switched off".into()),
        "composite-sigalg" => private_use(value).err(),
        // What OpenSSL itself reads there.
        "module" | "activate" | "identity" | "soft_load" => None,
        _ => Some("unknown name (expected module, activate or composite-sigalg)".into()),
    }
}

fn is_off(value: &str) -> bool {
    ["0", "no", "off", "false"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}

/// The file that is included, or those of a folder that are.
fn included(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<Result<Vec<_>, _>>()?;
    files.retain(|file| file.extension().is_some_and(|name| name == "cnf" || name == "conf"));
    files.sort();
    Ok(files)
}

/// A line that includes another file.
pub(super) fn include(file: &Path) -> Result<String, Error> {
    Ok(format!(".include {}\n", escaped(&text_of(file)?)?))
}

/// A path that can stand in a line.
pub(super) fn text_of(path: &Path) -> Result<String, Error> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let unfit = || Error::usage(format!("{}: OpenSSL's configuration cannot hold this name", path.display()));
    text.map(str::to_owned).ok_or_else(unfit)
}

/// A value as the format wants it: a backslash before what means something in it.
fn escaped(value: &str) -> Result<String, Error> {
    if value.chars().any(char::is_control) {
        return Err(Error::usage(format!("{value:?}: OpenSSL's configuration cannot hold it")));
    }
    let mut text = String::new();
    for c in value.chars() {
        if matches!(c, '\\' | '$' | '#' | '"' | '\'' | '`') {
            text.push('\\');
        }
        text.push(c);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_configuration_gets_sections_of_ours() {
        let text = Existing::default().addition(Path::new("/a/m.so"), "X25519", None);
        assert_eq!(
            text.expect("a text"),
            "[default]\nopenssl_conf = gambeson_init\nnodejs_conf = gambeson_init\n[gambeson_init]\nproviders = \
             gambeson_providers\nssl_conf = gambeson_tls\n[gambeson_default]\nactivate = 1\n[gambeson_providers]\n\
             default = gambeson_default\ngambeson = gambeson_provider\n[gambeson_tls]\nsystem_default = \
             gambeson_system\n[gambeson_system]\nGroups = X25519\n[gambeson_provider]\nmodule = /a/m.so\n\
             activate = 1\n"
        );
    }

    /// What follows a configuration.
    fn addition(existing: &str) -> Result<String, Error> {
        Existing::read(existing).addition(Path::new("/m.so"), "P-256", Some(0xfe12))
    }

    #[test]
    fn the_sections_of_an_existing_one_are_opened_again() {
        let text = addition(
            "openssl_conf = o # the beginning\n[ o ]\nproviders = p\nssl_conf=s\n[p]\ndefault = d\n[d]\n# activate = 1\n\
             [s]\nsystem_default = \"y\"\n",
        )
        .expect("a text");
        for line in
            ["openssl_conf = o", "[p]\ndefault = d\ngambeson =", "[d]\nactivate = 1", "[y]\nGroups = P-256"]
        {
            assert!(text.contains(line), "no {line:?} in {text}");
        }
        assert!(text.contains("composite-sigalg = 0xfe12"), "{text}");
    }

    #[test]
    fn who_has_chosen_other_providers_does_not_get_the_default_one() {
        let fips = "openssl_conf = o\n[o]\nproviders = p\n[p]\nfips = f\nbase = b\n[b]\nactivate = 1\n";
        let text = addition(fips).expect("a text");
        assert!(text.contains("[p]\ngambeson = ") && !text.contains("\ndefault = "), "{text}");
        // Ours, from another time, is no choice of theirs; nor is one that is off.
        for values in ["gambeson = b", "legacy = b\n[b]\nactivate = 0"] {
            let text =
                addition(&format!("openssl_conf = o\n[o]\nproviders = p\n[b]\nactivate = 1\n[p]\n{values}"));
            let text = text.expect("a text");
            assert!(text.contains("[gambeson_default]\nactivate = 1"), "{text}");
        }
    }

    #[test]
    fn sections_of_node_are_extended_and_not_replaced() {
        let text = addition("nodejs_conf = n\n[n]\nproviders = q\n[q]\nbase = b\n[b]\nactivate = 1\n")
            .expect("a text");
        for line in [
            "openssl_conf = gambeson_init\nnodejs_conf = n\n",
            "[n]\nproviders = q\n",
            "[q]\ngambeson = gambeson_provider\n",
            "[gambeson_providers]\ndefault = ",
        ] {
            assert!(text.contains(line), "no {line:?} in {text}");
        }
    }

    #[test]
    fn what_is_included_is_read_and_what_cannot_be_read_is_refused_where_it_matters() {
        let folder = tempfile::tempdir().expect("a folder");
        let write =
            |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is written");
        write("a.cnf", "providers = p\n[p]\nbase = b\n");
        write("b.conf", "[b]\nactivate = 1\n");
        write("c.txt", "[o]\nproviders = other\n");
        let folder = folder.path().display();
        for text in [
            format!("openssl_conf = o\n[o]\n.include {folder}\n"),
            format!("openssl_conf = o\n[o]\n.include = \"{folder}/a.cnf\"\n.include {folder}/b.conf\n"),
        ] {
            let text = addition(&text).expect("a text");
            assert!(text.contains("[p]\ngambeson = ") && !text.contains("\ndefault = "), "{text}");
        }
        for name in ["relative.cnf".to_owned(), format!("{folder}/no.cnf"), format!("{folder}/loop.cnf")] {
            write_loop(&name);
            assert!(addition(&format!(".include {name}\n")).is_err(), "{name}");
            assert!(addition(&format!(".include {name}\nopenssl_conf = o\n")).is_ok(), "{name}");
        }
    }

    /// A file that includes itself.
    fn write_loop(name: &str) {
        if name.ends_with("loop.cnf") {
            fs::write(name, format!(".include {name}\n")).expect("it is written");
        }
    }

    #[test]
    fn sections_behind_variables_are_refused() {
        assert!(addition("openssl_conf = $ENV::INIT\n").is_err());
        assert!(addition("openssl_conf = o\n[o]\nproviders = ${p}\n").is_err());
    }

    #[test]
    fn what_means_something_in_the_format_is_escaped_or_refused() {
        assert_eq!(escaped("/a b/$x#").expect("a value"), "/a b/\\$x\\#");
        assert!(escaped("a\nb").is_err());
    }
}
