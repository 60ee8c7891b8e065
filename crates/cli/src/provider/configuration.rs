//! OpenSSL's configuration: what an existing one says, and what has to follow it so that the provider is there, too.
//!
//! The format is that of config(5): a section can be opened again, and of two values of one name the last one holds. So ours is a
//! text that comes after the existing one, and names the sections that it names.

use crate::error::Error;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

/// What of an existing configuration matters here: its values by section and name.
#[derive(Default)]
pub(super) struct Existing(HashMap<(String, String), String>);

impl Existing {
    /// Reads a configuration. What it includes is not followed.
    pub(super) fn read(text: &str) -> Self {
        let mut values = HashMap::new();
        let mut section = "default".to_owned();
        for line in text.replace("\\\n", "").lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                name.trim().clone_into(&mut section);
            } else if let Some((name, value)) = line.split_once('=') {
                let value = value.trim().trim_matches(['"', '\'']).to_owned();
                // `section::name` names its section itself.
                let (section, name) = name.trim().split_once("::").unwrap_or((&section, name.trim()));
                values.insert((section.to_owned(), name.to_owned()), value);
            }
        }
        Self(values)
    }

    /// The section that a value names, or ours.
    fn section(&self, section: &str, name: &str, ours: &str) -> String {
        self.0.get(&(section.to_owned(), name.to_owned())).cloned().unwrap_or_else(|| ours.to_owned())
    }

    /// What has to follow the existing configuration.
    pub(super) fn addition(
        &self,
        module: &Path,
        groups: &str,
        composite_sigalg: Option<&str>,
    ) -> Result<String, Error> {
        let init = self.section("default", "openssl_conf", "gambeson_init");
        let providers = self.section(&init, "providers", "gambeson_providers");
        let default = self.section(&providers, "default", "gambeson_default");
        let tls = self.section(&init, "ssl_conf", "gambeson_tls");
        let system = self.section(&tls, "system_default", "gambeson_system");
        let mut text = String::new();
        // Node looks for a name of its own.
        let sections = [
            ("default", vec![("openssl_conf", init.clone()), ("nodejs_conf", init.clone())]),
            (&*init, vec![("providers", providers.clone()), ("ssl_conf", tls.clone())]),
            (&*providers, vec![("default", default.clone()), ("gambeson", "gambeson_provider".to_owned())]),
            // Nobody has to name the default provider, until somebody names another one.
            (&*default, vec![("activate", "1".to_owned())]),
            ("gambeson_provider", {
                let mut values = vec![("module", escaped(&path(module)?)?), ("activate", "1".to_owned())];
                values.extend(
                    composite_sigalg.map(|number| Ok(("composite-sigalg", escaped(number)?))).transpose()?,
                );
                values
            }),
            (&*tls, vec![("system_default", system.clone())]),
            (&*system, vec![("Groups", escaped(groups)?)]),
        ];
        for (section, values) in sections {
            let _ = writeln!(text, "[{section}]");
            for (name, value) in values {
                let _ = writeln!(text, "{name} = {value}");
            }
        }
        Ok(text)
    }
}

/// A line that includes another file.
pub(super) fn include(file: &Path) -> Result<String, Error> {
    Ok(format!(".include {}\n", escaped(&path(file)?)?))
}

fn path(path: &Path) -> Result<String, Error> {
    let text = path.to_str().ok_or_else(|| Error::usage(format!("{}: is not UTF-8", path.display())))?;
    Ok(text.to_owned())
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
             gambeson_providers\nssl_conf = gambeson_tls\n[gambeson_providers]\ndefault = gambeson_default\n\
             gambeson = gambeson_provider\n[gambeson_default]\nactivate = 1\n[gambeson_provider]\nmodule = /a/m.so\n\
             activate = 1\n[gambeson_tls]\nsystem_default = gambeson_system\n[gambeson_system]\nGroups = X25519\n"
        );
    }

    #[test]
    fn the_sections_of_an_existing_one_are_opened_again() {
        let existing = Existing::read(
            "openssl_conf = o # the beginning\n[ o ]\nproviders = p\nssl_conf=s\n[p]\ndefault = d\n[d]\n# activate = 1\n\
             [s]\nsystem_default = \"y\"\n",
        );
        let text = existing.addition(Path::new("/m.so"), "P-256", Some("0xfe12")).expect("a text");
        for line in
            ["openssl_conf = o", "[p]\ndefault = d\ngambeson =", "[d]\nactivate = 1", "[y]\nGroups = P-256"]
        {
            assert!(text.contains(line), "no {line:?} in {text}");
        }
        assert!(text.contains("composite-sigalg = 0xfe12"), "{text}");
    }

    #[test]
    fn what_means_something_in_the_format_is_escaped_or_refused() {
        assert_eq!(escaped("/a b/$x#").expect("a value"), "/a b/\\$x\\#");
        assert!(escaped("a\nb").is_err());
    }
}
