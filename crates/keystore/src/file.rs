//! Files that are whole or not there.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Error;

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the new one is not written.
    Keep,
    /// The new one takes its place.
    Replace,
}

/// Who may read what is made. Other systems than Unix have their own rules, and this changes nothing there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Its owner alone: mode 0600, folders 0700.
    Private,
    /// Whoever the umask lets, and nobody who could not read the file that it replaces.
    Shared,
}

/// A file that gets its name when it is whole.
///
/// What is written goes to a temporary file in the same folder; [`finish`](Self::finish) sends it to the disk, then gives it its name, then
/// sends the folder to the disk. Dropped before, it leaves nothing. Where the name is a link to a file, that file is replaced.
///
/// ```
/// use gambeson_keystore::file::{Access, Existing, NewFile};
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("agent.seed");
/// let mut file = NewFile::create(&path, Access::Private, Existing::Keep)?;
/// file.write_all(b"seal")?;
/// file.write_all(b"ed")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"sealed");
/// # Ok::<(), gambeson_keystore::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "without `finish` nothing is written"]
pub struct NewFile {
    temporary: NamedTempFile,
    path: PathBuf,
    existing: Existing,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    /// [`Error::Exists`] with [`Existing::Keep`], [`Error::Io`].
    pub fn create(path: &Path, access: Access, existing: Existing) -> Result<Self, Error> {
        let (mut path, mut replaced) = (path.to_path_buf(), None);
        if let Ok(metadata) = fs::metadata(&path) {
            if existing == Existing::Keep {
                return Err(Error::Exists);
            }
            if metadata.is_dir() {
                return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
            }
            path = path.canonicalize()?;
            replaced = Some(metadata.permissions());
        }
        let mut builder = tempfile::Builder::new(); // a name that nobody else has
        builder.prefix(".gambeson-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(match (access, replaced) {
                (Access::Private, _) => 0o600,
                (Access::Shared, Some(old)) => old.mode() & 0o777,
                (Access::Shared, None) => 0o666, // less the umask
            }));
        }
        #[cfg(not(unix))]
        let _ = (access, replaced);
        let temporary = builder.tempfile_in(folder_of(&path)).map_err(without_name)?;
        Ok(Self { temporary, path, existing })
    }

    /// Where the unfinished file is, for who must remove it should the program be ended.
    pub fn unfinished(&self) -> &Path {
        self.temporary.path()
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// [`Error::Exists`] with [`Existing::Keep`] if somebody made such a file meanwhile: nothing is written then. [`Error::Io`]: the
    /// old file is there as it was or, if it was the folder that did not get to the disk, the new one, which may be gone after
    /// a loss of power.
    pub fn finish(self) -> Result<(), Error> {
        self.temporary.as_file().sync_all()?;
        let named = match self.existing {
            Existing::Keep => self.temporary.persist_noclobber(&self.path),
            Existing::Replace => self.temporary.persist(&self.path),
        };
        named.map_err(|refused| match refused.error.kind() {
            io::ErrorKind::AlreadyExists if self.existing == Existing::Keep => Error::Exists,
            _ => Error::Io(refused.error),
        })?;
        Ok(sync(folder_of(&self.path))?)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.as_file_mut().flush()
    }
}

/// The error without the name of the temporary file, which `tempfile` appends: callers know their own.
fn without_name(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path \"") {
        Some((what, _)) => io::Error::new(error.kind(), what.to_owned()),
        None => error,
    }
}

/// Writes `contents` to `path` as a [`NewFile`].
///
/// `contents` may be anything: what is secret in it has been sealed.
///
/// # Errors
/// Those of [`NewFile::create`] and [`NewFile::finish`].
///
/// ```
/// use gambeson_keystore::{Error, file::{self, Access, Existing}};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("agent.seed");
/// file::save(&path, b"sealed", Access::Private, Existing::Keep)?;
/// assert!(matches!(file::save(&path, b"another", Access::Private, Existing::Keep), Err(Error::Exists)));
/// assert_eq!(std::fs::read(&path)?, b"sealed");
/// # Ok::<(), Error>(())
/// ```
pub fn save(path: &Path, contents: &[u8], access: Access, existing: Existing) -> Result<(), Error> {
    let mut file = NewFile::create(path, access, existing)?;
    file.write_all(contents)?;
    file.finish()
}

/// Makes a folder and those above it that are missing, each on the disk before what is made in it.
///
/// # Errors
/// [`Error::Io`], such as that a file has the name.
pub fn create_folders(path: &Path, access: Access) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = folder_of(path);
    if parent != path {
        create_folders(parent, access)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    if access == Access::Private {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = access;
    match builder.create(path) {
        // Somebody else made it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    Ok(sync(parent)?)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A folder can be opened and flushed on Unix alone.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
