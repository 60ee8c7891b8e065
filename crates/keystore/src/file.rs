//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::Error;
use crate::{MAX_SECRET_LEN, OVERHEAD};

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the new one is not written.
    Keep,
    /// The new one takes its place.
    Replace,
}

/// Writes `contents` to `path`, readable for its owner alone (mode 0600 on Unix).
///
/// The bytes go to a temporary file in the same folder, to the disk, and only then to their name; then the folder goes
/// to the disk. Whenever it fails, or the power does, the old file is there as it was, or the new one is, whole.
/// `contents` may be anything: what is secret in it has been sealed.
///
/// # Errors
/// [`Error::Exists`] with [`Existing::Keep`], [`Error::Io`].
///
/// ```
/// use gambeson_keystore::{Error, file::{self, Existing}};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("agent.seed");
/// file::save(&path, b"sealed", Existing::Keep)?;
/// assert!(matches!(file::save(&path, b"another", Existing::Keep), Err(Error::Exists)));
/// assert_eq!(file::load(&path)?, b"sealed");
/// # Ok::<(), Error>(())
/// ```
pub fn save(path: &Path, contents: &[u8], existing: Existing) -> Result<(), Error> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // Made with mode 0600 and a name that nobody else has; removed again when it is dropped.
    let mut temporary = tempfile::Builder::new().prefix(".gambeson-").tempfile_in(folder)?;
    temporary.write_all(contents)?;
    temporary.as_file().sync_all()?;
    let done = match existing {
        Existing::Keep => temporary.persist_noclobber(path),
        Existing::Replace => temporary.persist(path),
    };
    done.map_err(|refused| match refused.error.kind() {
        io::ErrorKind::AlreadyExists if existing == Existing::Keep => Error::Exists,
        _ => Error::Io(refused.error),
    })?;
    // A folder can be opened and flushed on Unix alone.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Reads a file that is not longer than a sealed secret can be.
///
/// # Errors
/// [`Error::TooLong`], [`Error::Io`].
pub fn load(path: &Path) -> Result<Vec<u8>, Error> {
    let most = MAX_SECRET_LEN + OVERHEAD;
    let mut contents = Vec::new();
    fs::File::open(path)?.take(most as u64 + 1).read_to_end(&mut contents)?;
    if contents.len() > most { Err(Error::TooLong) } else { Ok(contents) }
}
