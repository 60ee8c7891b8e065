//! Identity files of `open`: those that are sealed under a passphrase are opened when no other identity fits before them, and identities
//! of other kinds are passed over.

use crate::args::Open;
use crate::error::Error;
use crate::files;
use crate::passphrase::{self, Passphrase};
use crate::sealing::{self, Wanted};
use gambeson_age::{FileKey, HeaderError, Identity, IdentityFile, Stanza, UnwrapFileKey};
use std::cell::{Cell, OnceCell, RefCell};
use std::io::{Read, Write};
use std::path::Path;
use std::rc::Rc;
use zeroize::Zeroizing;

/// The kind of stanza of a file under a passphrase.
const UNDER_PASSPHRASE: &str = "scrypt";

/// The identities of a command line, in its order.
pub(crate) struct Identities {
    all: Vec<Keys>,
    /// What was passed over in files that anybody can read.
    passed_over: Vec<String>,
    /// True if the sealed file needs a passphrase and no identity.
    wants_passphrase: Rc<Cell<bool>>,
}

/// What one file holds.
pub(crate) enum Keys {
    /// No key: notes whether the sealed file is one under a passphrase.
    Noting(Rc<Cell<bool>>),
    Open(Vec<Identity>),
    Locked(Locked),
}

/// An identity file under a passphrase.
pub(crate) struct Locked {
    name: String,
    sealed: Zeroizing<Vec<u8>>,
    source: Rc<Source>,
    /// Why it opens nothing.
    failed: RefCell<Option<Error>>,
}

/// Where passphrases come from. One that is given without a person is that of all files, because a pipe gives it once.
struct Source {
    fd: Option<u32>,
    given: OnceCell<Passphrase>,
}

impl Source {
    /// The passphrase of the file `name`.
    fn passphrase(&self, name: &str) -> Result<Passphrase, Error> {
        if let Some(given) = self.given.get() {
            return Ok(given.clone());
        }
        let passphrase = passphrase::existing(self.fd, name)?;
        if passphrase::is_given(self.fd) {
            return Ok(self.given.get_or_init(|| passphrase).clone());
        }
        Ok(passphrase)
    }
}

impl Identities {
    /// Reads the files, and asks for no passphrase.
    pub(crate) fn read(options: &Open) -> Result<Self, Error> {
        let wants_passphrase = Rc::new(Cell::new(false));
        let noting = Keys::Noting(Rc::clone(&wants_passphrase));
        let mut found = Self { all: vec![noting], passed_over: Vec::new(), wants_passphrase };
        let source = Rc::new(Source { fd: options.passphrase.passphrase_fd, given: OnceCell::new() });
        let mut useless = None;
        for path in &options.identities {
            let bytes = files::read_small(path)?;
            if is_age_file(&bytes) {
                found.all.push(Keys::Locked(Locked {
                    name: path.display().to_string(),
                    sealed: bytes,
                    source: Rc::clone(&source),
                    failed: RefCell::new(None),
                }));
                continue;
            }
            let file = identities(path, &bytes)?;
            let passed_over = file.passed_over.iter().map(|line| format!("{}: {line}", path.display()));
            found.passed_over.extend(passed_over);
            match (file.identities.is_empty(), file.passed_over.first()) {
                (false, _) => {
                    files::warn_of_readers(path);
                    found.all.push(Keys::Open(file.identities));
                }
                (true, Some(first)) => {
                    useless = useless.or(Some(sealing::key_file_error(path, Wanted::Identity, *first)))
                }
                (true, None) => {
                    return Err(sealing::key_file_error(
                        path,
                        Wanted::Identity,
                        gambeson_age::KeyFileError::Empty,
                    ));
                }
            }
        }
        match useless {
            Some(useless) if found.all.len() == 1 => Err(useless),
            _ => Ok(found),
        }
    }

    /// What may know a file key.
    pub(crate) fn all(&self) -> &[Keys] {
        &self.all
    }

    /// What went wrong with the sealed file `name`: if nothing fits, why an identity file could not be opened, or what was passed over.
    pub(crate) fn explained(&self, name: &str, error: gambeson_age::Error) -> Error {
        if !matches!(error, gambeson_age::Error::NoMatch) {
            return sealing::age_error(name, error);
        }
        if self.wants_passphrase.get() {
            let message = format!("{name}: is sealed under a passphrase; open it without -i");
            return Error::not_verified(message).because("cannot-open");
        }
        let failed = self.all.iter().find_map(|keys| match keys {
            Keys::Noting(_) | Keys::Open(_) => None,
            Keys::Locked(locked) => locked.failed.take(),
        });
        match (failed, self.passed_over.is_empty()) {
            (Some(failed), _) => failed,
            (None, true) => sealing::age_error(name, error),
            (None, false) => {
                let message = format!("{name}: {error}; passed over: {}", self.passed_over.join("; "));
                Error::not_verified(message).because("cannot-open")
            }
        }
    }
}

impl UnwrapFileKey for Keys {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        let opened;
        let identities = match self {
            Self::Noting(wants_passphrase) => {
                wants_passphrase.set(is_under_passphrase(stanzas));
                return Ok(None);
            }
            Self::Open(identities) => identities,
            Self::Locked(locked) => match locked.identities() {
                Ok(identities) => {
                    opened = identities;
                    &opened
                }
                Err(error) => {
                    // Another identity may fit.
                    locked.failed.replace(Some(error));
                    return Ok(None);
                }
            },
        };
        for identity in identities {
            if let Some(file_key) = identity.unwrap_file_key(stanzas)? {
                return Ok(Some(file_key));
            }
        }
        Ok(None)
    }
}

impl Locked {
    /// Asks for the passphrase, and reads what it opens.
    fn identities(&self) -> Result<Vec<Identity>, Error> {
        let path = Path::new(&self.name);
        let mut text = Zeroizing::new(Vec::with_capacity(self.sealed.len()));
        unlock(&self.name, &self.sealed[..], &mut *text, "open it first, and name what is in it", &|| {
            self.source.passphrase(&self.name)
        })?;
        let file = identities(path, &text)?;
        match (file.identities.is_empty(), file.passed_over.first()) {
            (false, _) => Ok(file.identities),
            (true, Some(first)) => Err(sealing::key_file_error(path, Wanted::Identity, *first)),
            (true, None) => {
                Err(sealing::key_file_error(path, Wanted::Identity, gambeson_age::KeyFileError::Empty))
            }
        }
    }
}

/// Opens the age file `name` under a passphrase, which `ask` gives; how many bytes were in it. One that is sealed to recipients is refused
/// with the `advice`.
pub(crate) fn unlock(
    name: &str,
    sealed: impl Read,
    output: impl Write,
    advice: &str,
    ask: &dyn Fn() -> Result<Passphrase, Error>,
) -> Result<u64, Error> {
    let asking = Asking { ask, asked: Cell::new(false), failed: RefCell::new(None) };
    let opened = gambeson_age::open(&[&asking], sealed, output);
    if let Some(failed) = asking.failed.take() {
        return Err(failed);
    }
    opened.map_err(|error| match (error, asking.asked.get()) {
        (gambeson_age::Error::NoMatch, true) => {
            Error::not_verified(format!("{name}: wrong passphrase")).because("wrong-passphrase")
        }
        (gambeson_age::Error::NoMatch, false) => {
            Error::usage(format!("{name}: is sealed to recipients, not under a passphrase; {advice}"))
        }
        (error, _) => sealing::age_error(name, error),
    })
}

/// Whether a file is an age file, and so no text of identities; other text may begin with white space or be armored, too.
pub(crate) fn is_age_file(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    bytes.starts_with(b"age-encryption.org/") || text.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----")
}

/// The lines of an identity file.
fn identities(path: &Path, bytes: &[u8]) -> Result<IdentityFile, Error> {
    let text = sealing::text(path, bytes)?;
    IdentityFile::parse(&text).map_err(|error| sealing::key_file_error(path, Wanted::Identity, error))
}

fn is_under_passphrase(stanzas: &[Stanza<'_>]) -> bool {
    stanzas.iter().any(|stanza| stanza.kind() == UNDER_PASSPHRASE)
}

/// Asks for a passphrase where there is a stanza for one.
struct Asking<'a> {
    ask: &'a dyn Fn() -> Result<Passphrase, Error>,
    asked: Cell<bool>,
    failed: RefCell<Option<Error>>,
}

impl Asking<'_> {
    fn passphrase(&self) -> Result<gambeson_age::Passphrase, Error> {
        let given = (self.ask)()?;
        gambeson_age::Passphrase::new(&given).map_err(|error| Error::usage(error.to_string()))
    }
}

impl UnwrapFileKey for Asking<'_> {
    fn unwrap_file_key(&self, stanzas: &[Stanza<'_>]) -> Result<Option<FileKey>, HeaderError> {
        if !is_under_passphrase(stanzas) {
            return Ok(None);
        }
        self.asked.set(true);
        match self.passphrase() {
            Ok(passphrase) => passphrase.unwrap_file_key(stanzas),
            Err(error) => {
                self.failed.replace(Some(error));
                Ok(None)
            }
        }
    }
}
