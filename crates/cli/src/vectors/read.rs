//! Finding vector files and reading them line by line.

use flate2::read::MultiGzDecoder;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest line that a file may have, in bytes.
pub const MAX_LINE: usize = 64 << 20;

/// Every file below `folder` whose name ends so, in the order of their names.
///
/// # Errors
/// `folder`, or a folder below it, cannot be read.
pub fn files_ending(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if entry.file_name().to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What is in the file `path`, unpacked if it is gzip: told from its first bytes, and from a name that ends in `.gz`.
///
/// # Errors
/// The file cannot be read. That a file called `.gz` is not gzip shows where it is read.
pub fn content(path: &Path) -> io::Result<Box<dyn BufRead>> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let packed = file.fill_buf()?.starts_with(&GZIP) || path.extension().is_some_and(|it| it == "gz");
    Ok(if packed {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file)))
    } else {
        Box::new(file)
    })
}

/// The lines of the file `path`, gzip or not, without their ends.
///
/// # Errors
/// As [`content`].
pub fn lines(path: &Path) -> io::Result<Lines> {
    Ok(Lines { reader: content(path)?, done: false })
}

/// The lines of a vector file; ends after the first error.
pub struct Lines {
    reader: Box<dyn BufRead>,
    done: bool,
}

impl Iterator for Lines {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let mut line = Vec::new();
        let outcome = (&mut self.reader).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
        match outcome {
            Ok(0) => {
                self.done = true;
                None
            }
            Ok(n) if n > MAX_LINE => {
                self.done = true;
                Some(Err(io::Error::new(io::ErrorKind::InvalidData, "a line is longer than 64 MiB")))
            }
            Ok(_) => {
                if line.ends_with(b"\n") {
                    line.pop();
                }
                Some(Ok(line))
            }
            Err(e) => {
                self.done = true;
                Some(Err(e))
            }
        }
    }
}
