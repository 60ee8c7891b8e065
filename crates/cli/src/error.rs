//! Why a command did not do its work, and the exit status that says so.

use serde_json::{Value, json};
use std::fmt;
use std::io;
use std::path::Path;

/// How a command ended, as the program's exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 0: it did what it was asked.
    Done = 0,
    /// 1: a signature, a sealed file, a passphrase or a test did not hold, or something was not permitted.
    NotVerified = 1,
    /// 2: the command line asks for something that makes no sense.
    Usage = 2,
    /// 3: a file, a stream or the random generator failed, or a file holds something else than it should.
    InputOutput = 3,
}

impl Status {
    /// The number that the program exits with.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// Why a command did not do its work: one sentence that names the mistake and the file.
#[derive(Debug)]
pub struct Error {
    status: Status,
    message: String,
    reason: Option<&'static str>,
}

impl Error {
    fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: without_numbers(message.into()), reason: None }
    }

    /// The same error with a code for programs.
    pub(crate) fn because(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    /// Puts words before the error's sentence.
    pub(crate) fn after(self, words: &str) -> Self {
        Self { message: words.to_owned() + &self.message, ..self }
    }

    /// The same error with more in its sentence.
    pub(crate) fn adding(self, more: &str) -> Self {
        Self { message: self.message + more, ..self }
    }

    /// The identity layer refused to judge something well of others.
    pub(crate) fn refused(error: gambeson_identity::Error) -> Self {
        Self::of_identity(Status::NotVerified, &error)
    }

    /// The identity layer could not do what the command line asks for.
    pub(crate) fn from_request(error: gambeson_identity::Error) -> Self {
        Self::of_identity(Status::Usage, &error)
    }

    /// What this program keeps does not hold.
    pub(crate) fn damaged(error: gambeson_identity::Error) -> Self {
        Self::of_identity(Status::InputOutput, &error)
    }

    /// The identity layer cannot read what is in the file `path`.
    pub(crate) fn in_file(path: &Path, error: &gambeson_identity::Error) -> Self {
        let name = match crate::files::is_stream(path) {
            true => "standard input".to_owned(),
            false => path.display().to_string(),
        };
        Self::outside(format!("{name}: {}", words(error))).because(error.reason().code())
    }

    fn of_identity(status: Status, error: &gambeson_identity::Error) -> Self {
        let outside = error.reason() == gambeson_identity::Reason::NoRandomness;
        let status = if outside { Status::InputOutput } else { status };
        Self::new(status, words(error)).because(error.reason().code())
    }

    /// Something that should hold does not: a signature, a tag, a passphrase.
    pub(crate) fn not_verified(message: impl Into<String>) -> Self {
        Self::new(Status::NotVerified, message)
    }

    /// The command line makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, message)
    }

    /// Something outside this program failed.
    pub(crate) fn outside(message: impl Into<String>) -> Self {
        Self::new(Status::InputOutput, message)
    }

    /// `path` could not be read or written.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        Self::stream(&path.display(), error)
    }

    /// `path` could not be made. Where its folder is missing, the folder is named.
    pub(crate) fn creating(path: &Path, error: &io::Error) -> Self {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let what = match (error.kind(), folder) {
            (io::ErrorKind::NotFound, Some(folder)) if !folder.exists() => {
                format!("folder {} does not exist", folder.display())
            }
            (io::ErrorKind::NotADirectory, Some(folder)) => format!("{} is not a folder", folder.display()),
            _ => return Self::io(path, error),
        };
        Self::outside(format!("{}: {what}", path.display()))
    }

    /// The stream called `name` could not be read or written.
    pub(crate) fn stream(name: &dyn fmt::Display, error: &io::Error) -> Self {
        Self::named(&named(name, error))
    }

    /// A stream whose errors carry its name could not be read or written. A reader that went away is no news: it gets
    /// the exit status, but no message.
    pub(crate) fn named(error: &io::Error) -> Self {
        let quiet = error.kind() == io::ErrorKind::BrokenPipe;
        Self::new(Status::InputOutput, if quiet { String::new() } else { error.to_string() })
    }

    /// The operating system's random generator failed.
    pub(crate) fn randomness(_: gambeson::RngError) -> Self {
        Self::outside("the operating system's random generator failed")
    }

    /// The exit status that this error calls for.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The code of the reason, where there is one.
    pub fn reason(&self) -> Option<&'static str> {
        self.reason
    }

    /// The report of the error for programs.
    pub(crate) fn report(&self) -> Value {
        let refused = self.status == Status::NotVerified;
        json!({
            "type": "error",
            "verified": refused.then_some(false),
            "reason": self.reason,
            "detail": self.message,
            "exitStatus": self.status.code(),
        })
    }

    /// Whether there is nothing to tell: the reader of our output went away.
    pub fn is_quiet(&self) -> bool {
        self.message.is_empty()
    }
}

/// An error of the identity layer in words, with the next step, without the parser's names of tokens.
pub(crate) fn words(error: &gambeson_identity::Error) -> String {
    use gambeson_identity::Reason;
    let detail = error.detail();
    match (error.reason(), detail.rsplit_once(" at line ")) {
        (Reason::BadJson, Some((what, place))) => {
            // Documents that were fetched have their address before it.
            let at = what.strip_prefix("from ").and(what.find(": ")).map_or(0, |at| at + 2);
            let (source, what) = what.split_at(at);
            let is_ours = ["the ", "a noncharacter", "deeper"].iter().any(|start| what.starts_with(start));
            let what = if is_ours { what } else { "not JSON" };
            format!("{source}{what} (line {})", place.replacen(" column", ", column", 1))
        }
        (Reason::UnknownDid, _) if detail.starts_with("did:web:") => {
            format!(
                "{detail}; fetch its document with --web, or add its card with `gambeson agent card --add FILE`"
            )
        }
        (Reason::UnknownDid, _) if detail.starts_with("did:") => {
            format!("{detail}; add its card with `gambeson agent card --add FILE`")
        }
        _ => detail.to_owned(),
    }
}

/// What went wrong on a connection. That it was closed is news there, where of a pipe it means that nobody reads on.
pub(crate) fn cut(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => {
            io::Error::new(io::ErrorKind::ConnectionReset, "the other side closed the connection")
        }
        _ => error,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Removes the numbers that Rust puts behind the words of the operating system.
fn without_numbers(message: String) -> String {
    let mut parts = message.split(" (os error ");
    let mut words = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        words.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    words
}

/// The same error, with the name of the stream in its text.
pub(crate) fn named(name: &dyn fmt::Display, error: &io::Error) -> io::Error {
    let next = match error.kind() {
        io::ErrorKind::AddrInUse => "; another program listens there: give another address",
        _ => "",
    };
    io::Error::new(error.kind(), format!("{name}: {error}{next}"))
}
