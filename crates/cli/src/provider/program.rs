//! Finds out if a command can use the provider, and if it has.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Libraries of TLS that have no providers, by the beginning of their files' names.
const OTHERS: [(&str, &str); 7] = [
    ("libgnutls.so", "GnuTLS"),
    ("libssl3.so", "NSS"),
    ("libnss3.so", "NSS"),
    ("libmbedtls.so", "Mbed TLS"),
    ("libwolfssl.so", "wolfSSL"),
    ("libssl.so.1", "OpenSSL 1"),
    ("libtls.so", "LibreSSL"),
];

/// Returns the name of the library of TLS that a program is linked with, if that is not OpenSSL 3 or newer. Of scripts, and of programs that load
/// their libraries later or start others, nothing is known before they run.
pub(super) fn other_library(program: &Path) -> Option<&'static str> {
    let file = found(program)?;
    let mut magic = [0; 4];
    File::open(&file).and_then(|mut file| file.read_exact(&mut magic)).ok()?;
    if magic != *b"\x7fELF" {
        return None;
    }
    let output = crate::child::command("ldd").arg(&file).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    other_of(&text)
}

/// Finds the library in the output of `ldd`.
fn other_of(text: &str) -> Option<&'static str> {
    let names = || text.lines().filter_map(|line| line.split_whitespace().next()?.rsplit('/').next());
    let other = |name: &str| OTHERS.iter().find(|(file, _)| name.starts_with(file)).map(|(_, name)| *name);
    if names().any(|name| name.starts_with("libssl.so") && other(name).is_none()) {
        return None;
    }
    names().find_map(other)
}

/// The file of a program, as `exec` finds it.
fn found(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 || program.has_root() {
        return Some(program.to_owned());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Notes whether a configuration is read: what uses OpenSSL reads it.
#[cfg(target_os = "linux")]
pub(super) struct Readers(Option<rustix::fd::OwnedFd>);

#[cfg(target_os = "linux")]
impl Readers {
    /// Watches from now on.
    pub(super) fn watch(file: &Path) -> Self {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let watch = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)
            .and_then(|watch| add_watch(&watch, file, WatchFlags::OPEN).map(|_| watch));
        Self(watch.ok())
    }

    /// Returns true if nobody has read it so far; false where that cannot be told.
    pub(super) fn are_none(&self) -> bool {
        let mut news = [std::mem::MaybeUninit::uninit(); 512];
        self.0.as_ref().is_some_and(|watch| {
            let next = rustix::fs::inotify::Reader::new(watch, &mut news).next().map(drop);
            next == Err(rustix::io::Errno::AGAIN)
        })
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) struct Readers;

#[cfg(not(target_os = "linux"))]
impl Readers {
    pub(super) fn watch(_: &Path) -> Self {
        Self
    }

    pub(super) fn are_none(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_told_apart() {
        for (lines, other) in [
            (
                "\tlibgnutls.so.30 => /lib/libgnutls.so.30 (0x1)\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n",
                Some("GnuTLS"),
            ),
            (
                "\tlibcurl.so.4 => /lib/libcurl.so.4 (0x1)\n\tlibssl.so.3 => /lib/libssl.so.3 (0x2)\n\tlibgnutls.so.30 => /lib (0x3)\n",
                None,
            ),
            ("\tlibssl.so.1.1 => /lib/libssl.so.1.1 (0x1)\n", Some("OpenSSL 1")),
            ("\t/opt/lib/libwolfssl.so.42 (0x1)\n", Some("wolfSSL")),
            ("\tlibc.so.6 => /lib/libc.so.6 (0x2)\n", None),
            ("\tstatically linked\n", None),
            ("", None),
        ] {
            assert_eq!(other_of(lines), other, "{lines}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_reader_is_noted() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let readers = Readers::watch(file.path());
        assert!(readers.are_none());
        std::fs::read(file.path()).expect("it is read");
        assert!(!readers.are_none());
    }
}
