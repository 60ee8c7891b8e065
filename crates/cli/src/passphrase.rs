//! Passphrases: from a file descriptor, from the environment, or from a person; never from an argument.

use crate::console;
use crate::error::Error;
use crate::files;
use std::path::Path;
use zeroize::Zeroizing;

/// The environment variable that may hold a passphrase.
pub(crate) const VARIABLE: &str = "GAMBESON_PASSPHRASE";

/// The environment variable that may hold a new passphrase beside the old one.
pub(crate) const NEW_VARIABLE: &str = "GAMBESON_NEW_PASSPHRASE";

/// The fewest characters of a passphrase without a warning.
const FEW: usize = 12;

/// The fewest different characters of a passphrase without a warning.
const ALIKE: usize = 5;

/// A passphrase; wiped when dropped.
pub(crate) type Passphrase = Zeroizing<String>;

/// The passphrase that opens `what`: from the descriptor `fd`, else from [`VARIABLE`], else asked for.
pub(crate) fn existing(fd: Option<u32>, what: &str) -> Result<Passphrase, Error> {
    match given(fd)? {
        Some(passphrase) => Ok(passphrase),
        None => ask(&format!("Passphrase of {what}: "), &nobody()),
    }
}

/// The passphrase that shall protect `what`, from the same places; a person types it twice.
pub(crate) fn new(fd: Option<u32>, what: &str) -> Result<Passphrase, Error> {
    match given(fd)? {
        Some(passphrase) => judged(passphrase),
        None => asked(what),
    }
}

/// The passphrase in place of another: from the descriptor `new_fd`, else from [`NEW_VARIABLE`], else typed twice.
pub(crate) fn changed(new_fd: Option<u32>, what: &str) -> Result<Passphrase, Error> {
    if let Some(fd) = new_fd {
        return judged(from_descriptor(fd)?);
    }
    match of_variable(NEW_VARIABLE)? {
        Some(passphrase) => judged(passphrase),
        None => asked_or(
            what,
            &format!(
                "a new passphrase is needed and there is no terminal: give it with --new-passphrase-fd or \
                     {NEW_VARIABLE}"
            ),
        ),
    }
}

/// The passphrase that shall protect `what`, typed twice.
pub(crate) fn asked(what: &str) -> Result<Passphrase, Error> {
    asked_or(what, &nobody())
}

fn asked_or(what: &str, nobody: &str) -> Result<Passphrase, Error> {
    let first = ask(&format!("New passphrase for {what}: "), nobody)?;
    if first != ask("Once more: ", nobody)? {
        return Err(Error::usage("the two passphrases differ"));
    }
    judged(first)
}

/// The passphrase that shall protect `what`, which is made from a file that `old` opened: from the descriptor `new_fd`, else the
/// old one where it was given without a person, else as for a new file.
pub(crate) fn of_copy(
    old: Option<&Passphrase>,
    fd: Option<u32>,
    new_fd: Option<u32>,
    what: &str,
) -> Result<Passphrase, Error> {
    match (new_fd, old) {
        (Some(fd), _) => new(Some(fd), what),
        (None, Some(old)) if is_given(fd) => Ok(old.clone()),
        (None, Some(_)) => asked(what),
        (None, None) => new(fd, what),
    }
}

/// Whether a passphrase comes from elsewhere than a person.
pub(crate) fn is_given(fd: Option<u32>) -> bool {
    fd.is_some() || std::env::var_os(VARIABLE).is_some()
}

/// Refuses an empty passphrase, and warns of a weak one.
fn judged(passphrase: Passphrase) -> Result<Passphrase, Error> {
    if passphrase.is_empty() {
        return Err(Error::usage("an empty passphrase protects nothing"));
    }
    if is_weak(&passphrase) {
        console::warn(format_args!(
            "the passphrase is weak: one of fewer than {FEW} characters, or of few different ones, can be \
                 guessed from the file; six random words are strong"
        ));
    }
    Ok(passphrase)
}

fn is_weak(passphrase: &str) -> bool {
    let mut different: Zeroizing<Vec<char>> = Zeroizing::new(passphrase.chars().collect());
    let count = different.len();
    different.sort_unstable();
    different.dedup();
    count < FEW || different.len() < ALIKE
}

fn nobody() -> String {
    format!("a passphrase is needed and there is no terminal: give it with --passphrase-fd or {VARIABLE}")
}

fn given(fd: Option<u32>) -> Result<Option<Passphrase>, Error> {
    if let Some(fd) = fd {
        return from_descriptor(fd).map(Some);
    }
    of_variable(VARIABLE)
}

fn of_variable(variable: &str) -> Result<Option<Passphrase>, Error> {
    match std::env::var(variable) {
        Ok(passphrase) => Ok(Some(Zeroizing::new(passphrase))),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(Error::usage(format!("{variable} is not UTF-8"))),
    }
}

/// The first line of what the descriptor holds.
fn from_descriptor(fd: u32) -> Result<Passphrase, Error> {
    if !cfg!(unix) {
        return Err(Error::usage("--passphrase-fd works on Unix only"));
    }
    let bytes = files::read_small(Path::new(&format!("/dev/fd/{fd}")))?;
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Ok(line) => Ok(Zeroizing::new(line.to_owned())),
        Err(_) => Err(Error::usage(format!("the passphrase on descriptor {fd} is not UTF-8"))),
    }
}

fn ask(prompt: &str, nobody: &str) -> Result<Passphrase, Error> {
    rpassword::prompt_password(prompt).map(Zeroizing::new).map_err(|_| Error::usage(nobody))
}

#[cfg(test)]
mod tests {
    use super::is_weak;

    #[test]
    fn short_and_monotonous_passphrases_are_weak() {
        for weak in ["x", "password1", "elevenchars", "aaaaaaaaaaaaaaaaaaaa", "abababababababab"] {
            assert!(is_weak(weak), "{weak}");
        }
        for strong in ["correct horse", "lantern orbit velvet", "пароль из слов"] {
            assert!(!is_weak(strong), "{strong}");
        }
    }
}
