//! Files in and out: `-` is a standard stream, an output gets its name only when it is whole, and private files
//! are for their owner alone.

use crate::error::{Error, named};
use crate::guard;
pub(crate) use crate::guard::refuse_same;
use crate::unfinished::Unfinished;
use gambeson_keystore::Error as Refusal;
pub(crate) use gambeson_keystore::file::Access;
use gambeson_keystore::file::{Existing, NewFile};
use std::fs::{self, File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Whether `path` means a standard stream.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A file to read, or standard input.
pub(crate) struct Input {
    reader: Box<dyn Read>,
    name: String,
    length: Option<u64>,
}

impl Input {
    /// Opens `path`, which no output of this run replaces from then on.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        if is_stream(path) {
            guard::note_standard_input();
            let name = "standard input".to_owned();
            return Ok(Self { reader: Box::new(io::stdin().lock()), name, length: None });
        }
        let file = File::open(path).map_err(|e| Error::io(path, &e))?;
        guard::note_input(&file, path);
        Self::of_file(file, path)
    }

    fn of_file(file: File, path: &Path) -> Result<Self, Error> {
        let metadata = file.metadata().map_err(|e| Error::io(path, &e))?;
        if metadata.is_dir() {
            return Err(Error::outside(format!("{}: is a directory", path.display())));
        }
        Ok(Self {
            reader: Box::new(file),
            name: path.display().to_string(),
            length: metadata.is_file().then_some(metadata.len()),
        })
    }

    /// What to call it in a message.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its length in bytes, if that is known beforehand.
    pub(crate) fn length(&self) -> Option<u64> {
        self.length
    }

    /// The first `count` bytes, or all of a shorter file. They are read again afterwards.
    pub(crate) fn start(&mut self, count: usize) -> Result<Vec<u8>, Error> {
        let mut start = Vec::with_capacity(count);
        self.by_ref().take(count as u64).read_to_end(&mut start).map_err(|e| Error::named(&e))?;
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(start.clone()).chain(rest));
        Ok(start)
    }

    /// All of it, of at most `limit` bytes, wiped when dropped.
    pub(crate) fn read_at_most(mut self, limit: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(match self.length {
            Some(length) => usize::try_from(length).unwrap_or(limit).min(limit) + 1,
            None => limit + 1,
        }));
        let mut piece = Zeroizing::new([0; 4096]);
        loop {
            match self.read(&mut *piece) {
                Ok(0) => return Ok(bytes),
                Ok(n) if bytes.len() + n > limit => {
                    return Err(Error::outside(format!("{}: too long (more than {limit} bytes)", self.name)));
                }
                Ok(n) => bytes.extend_from_slice(&piece[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::named(&e)),
            }
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|e| named(&self.name, &e))
    }
}

/// Hands every piece of `input` to `take`; returns the number of bytes.
pub(crate) fn for_each(mut input: impl Read, mut take: impl FnMut(&[u8])) -> Result<u64, Error> {
    let mut buffer = vec![0; 1 << 16];
    let mut total = 0;
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(n) => {
                take(&buffer[..n]);
                total += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::named(&e)),
        }
    }
}

/// The whole of a small file (a key, a signature, a list of recipients), wiped when dropped.
pub(crate) fn read_small(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    read_at_most(path, 4 << 20)
}

/// Warns if every user of this machine can read the file of a private key.
pub(crate) fn warn_of_readers(path: &Path) {
    #[cfg(unix)]
    if !is_stream(path)
        && let Ok(metadata) = fs::metadata(path)
        && metadata.is_file()
        && metadata.mode() & 0o004 != 0
    {
        let (name, mode) = (path.display(), metadata.mode() & 0o777);
        crate::console::warn(format_args!(
            "{name}: every user of this machine can read this private key (mode {mode:o}); `chmod 600 {name}` prevents it"
        ));
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// The whole of a file of at most `limit` bytes, wiped when dropped.
pub(crate) fn read_at_most(path: &Path, limit: usize) -> Result<Zeroizing<Vec<u8>>, Error> {
    Input::open(path)?.read_at_most(limit)
}

/// The whole of a small file that the output of this run goes on from, and so may replace.
pub(crate) fn read_previous(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    if is_stream(path) {
        return read_small(path);
    }
    let file = File::open(path).map_err(|e| Error::io(path, &e))?;
    Input::of_file(file, path)?.read_at_most(4 << 20)
}

/// A file to write, or standard output.
///
/// A file is written under another name in the same folder and gets its own in [`finish`](Self::finish);
/// dropped before, it leaves nothing.
pub(crate) struct Output {
    target: Target,
    name: String,
}

enum Target {
    Stdout(io::Stdout),
    /// A device or a pipe, which cannot be replaced.
    Special(File),
    New {
        file: NewFile,
        unfinished: Unfinished,
        /// The path of an output that replaces no file that this run has used, nor one of an agent.
        guarded: Option<PathBuf>,
    },
}

impl Output {
    /// Starts writing `path`; with `replace`, an older file of that name goes when this one is whole. An input of this run, another output
    /// of it, or what an agent keeps is never replaced.
    pub(crate) fn create(path: &Path, access: Access, replace: bool) -> Result<Self, Error> {
        Self::begin(path, access, replace, true)
    }

    fn begin(path: &Path, access: Access, replace: bool, guarded: bool) -> Result<Self, Error> {
        if is_stream(path) {
            return Ok(Self { target: Target::Stdout(io::stdout()), name: "standard output".to_owned() });
        }
        let name = path.display().to_string();
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(Error::outside(format!("{name}: is a directory")));
            }
            Ok(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(path).map_err(|e| Error::stream(&name, &e))?;
                return Ok(Self { target: Target::Special(file), name });
            }
            _ if guarded => guard::refuse(path)?,
            _ => {}
        }
        let existing = if replace { Existing::Replace } else { Existing::Keep };
        let file = NewFile::create(path, access, existing).map_err(|e| refused(path, e))?;
        let unfinished = Unfinished::new(file.unfinished());
        let guarded = guarded.then(|| path.to_path_buf());
        Ok(Self { target: Target::New { file, unfinished, guarded }, name })
    }

    /// What to call it in a message.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is a file that gets its name when it is whole, and leaves nothing if it never is.
    pub(crate) fn is_new_file(&self) -> bool {
        matches!(self.target, Target::New { .. })
    }

    /// Whether it goes to a person's screen.
    pub(crate) fn is_terminal(&self) -> bool {
        matches!(&self.target, Target::Stdout(stdout) if stdout.is_terminal())
    }

    /// Makes what was written durable and gives it its name.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let flushed = match self.target {
            Target::Stdout(mut stdout) => stdout.flush(),
            Target::Special(mut file) => file.flush(),
            Target::New { file, unfinished, guarded } => {
                // Files read since the start count, too.
                guarded.as_deref().map_or(Ok(()), guard::refuse)?;
                let named = file.finish().map_err(|e| refused(Path::new(&self.name), e));
                drop(unfinished);
                guarded.as_deref().into_iter().for_each(guard::note_output);
                return named;
            }
        };
        flushed.map_err(|e| Error::stream(&self.name, &e))
    }
}

fn refused(path: &Path, error: Refusal) -> Error {
    match error {
        Refusal::Exists => exists(&path.display().to_string()),
        Refusal::Io(error) => Error::creating(path, &error),
        error => Error::outside(format!("{}: {error}", path.display())),
    }
}

/// Refuses, unless `force`, a path that leads to a file already; a device is no such file.
pub(crate) fn refuse_existing(path: &Path, force: bool) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && !force && !is_stream(path) => {
            Err(exists(&path.display().to_string()))
        }
        _ => Ok(()),
    }
}

fn exists(name: &str) -> Error {
    Error::outside(format!("{name}: exists already; --force replaces it"))
}

impl Output {
    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.target {
            Target::Stdout(stdout) => stdout,
            Target::Special(file) => file,
            Target::New { file, .. } => file,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer().write(bytes);
        written.map_err(|e| named(&self.name, &e))
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.writer().flush();
        flushed.map_err(|e| named(&self.name, &e))
    }
}

/// Writes all of `bytes` to `path`, an output of a command.
pub(crate) fn write(path: &Path, bytes: &[u8], access: Access, replace: bool) -> Result<(), Error> {
    write_all(Output::create(path, access, replace)?, bytes)
}

/// Writes all of `bytes` to `path`, which the program itself keeps.
pub(crate) fn write_own(path: &Path, bytes: &[u8], access: Access, replace: bool) -> Result<(), Error> {
    write_all(Output::begin(path, access, replace, false)?, bytes)
}

fn write_all(mut output: Output, bytes: &[u8]) -> Result<(), Error> {
    output.write_all(bytes).map_err(|e| Error::named(&e))?;
    output.finish()
}

/// Writes all of `bytes` to `path`, where there must be no file: nothing replaces one of these.
pub(crate) fn write_new(path: &Path, bytes: &[u8], access: Access) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() && !is_stream(path) => {
            Err(Error::outside(format!("{}: exists already; name another file", path.display())))
        }
        _ => write(path, bytes, access, false),
    }
}

/// Whether two paths mean one file, which need not exist yet.
pub(crate) fn is_one_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        path.canonicalize().or_else(|_| {
            let folder = folder_of(path).canonicalize()?;
            Ok::<_, io::Error>(folder.join(path.file_name().unwrap_or_default()))
        })
    };
    a == b || matches!((place(a), place(b)), (Ok(a), Ok(b)) if a == b)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
