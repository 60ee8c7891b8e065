//! Revocation lists of the command line, and what becomes of them when their files are read again.

use crate::error::Error;
use crate::files;
use crate::harness::hex;
use gambeson_pki::{Certificate, RevocationList};
use std::path::{Path, PathBuf};

/// Lists, each with its file.
#[derive(Clone, Default)]
pub(super) struct Lists(Vec<(PathBuf, RevocationList)>);

impl Lists {
    pub(super) fn read(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut found = Vec::new();
        for path in paths {
            found.extend(crate::cert::lists(path)?.into_iter().map(|list| (path.clone(), list)));
        }
        Ok(Self(found))
    }

    /// The lists without their files.
    pub(super) fn lists(&self) -> Vec<RevocationList> {
        self.0.iter().map(|(_, list)| list.clone()).collect()
    }

    /// Finds a list of which something is not so.
    pub(super) fn find(&self, is_so: impl Fn(&RevocationList) -> bool) -> Option<(&Path, &RevocationList)> {
        self.0.iter().find(|(_, list)| !is_so(list)).map(|(path, list)| (path.as_path(), list))
    }

    /// Refuses a list of an authority that nobody knows: that of `files`, the option and the file of each, or of the file of the list itself, which may hold the
    /// certificate of an authority between.
    pub(super) fn check_issuers(&self, files: &[(&str, Option<&Path>)]) -> Result<(), Error> {
        let mut known = Vec::new();
        let given = files.iter().filter_map(|(_, file)| *file);
        for file in given.chain(self.0.iter().map(|(path, _)| path.as_path())) {
            // Files of lists need not hold certificates; the others have been read before.
            let certificates = Certificate::read_all(&files::read_small(file)?).unwrap_or_default();
            known.extend(certificates.into_iter().map(|certificate| certificate.subject()));
        }
        let Some((path, list)) = self.find(|list| known.contains(&list.issuer())) else { return Ok(()) };
        let options: Vec<_> =
            files.iter().filter(|(_, file)| file.is_some()).map(|(option, _)| *option).collect();
        Err(Error::outside(format!(
            "{}: the revocation list of {} is that of no authority in {}; the certificate of an authority between a root and a peer may stand in the file of the \
             list",
            path.display(),
            list.issuer(),
            options.join(", ")
        )))
    }

    /// Keeps what was read before of an issuer of whom there are only older lists now, or none. Returns what there is to say of that.
    pub(super) fn after(self, before: &Self) -> (Self, Vec<String>) {
        let (mut now, mut said) = (self, Vec::new());
        for (path, old) in &before.0 {
            let issuer = old.issuer();
            let of_issuer = |list: &RevocationList| list.issuer() == issuer;
            let found: Vec<_> = now.0.iter().filter(|(_, list)| of_issuer(list)).collect();
            if found.iter().any(|(_, list)| !is_older(list, old)) {
                continue;
            }
            let file = found.first().map_or(path, |(path, _)| path).display().to_string();
            said.push(match found.first() {
                Some((_, list)) => format!(
                    "{file}: the revocation list of {issuer} is older ({}) than the previous one ({}), which stays \
                         in use",
                    number(list),
                    number(old)
                ),
                None => format!(
                    "{file}: the revocation list of {issuer} is no longer there; the previous one stays in use"
                ),
            });
            now.0.retain(|(_, list)| !of_issuer(list));
            now.0.extend(before.0.iter().filter(|(_, list)| of_issuer(list)).cloned());
        }
        (now, said)
    }
}

/// Returns true if a list was made before another one of its issuer: by its number (RFC 5280, §5.2.3), or by its time.
fn is_older(list: &RevocationList, other: &RevocationList) -> bool {
    // Without zeros in front a longer number is a greater one.
    let number = |list: &RevocationList| {
        let number: Vec<u8> = list.number()?.iter().copied().skip_while(|byte| *byte == 0).collect();
        Some((number.len(), number))
    };
    let is_less = number(list).zip(number(other)).is_some_and(|(one, other)| one < other);
    is_less || list.this_update() < other.this_update()
}

/// The number of a list for a person.
fn number(list: &RevocationList) -> String {
    list.number().map_or("without a number".to_owned(), |number| format!("number {}", hex(number)))
}
