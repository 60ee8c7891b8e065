//! Finding vector files and reading them line by line.

use flate2::read::MultiGzDecoder;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// The longest line that a file may have, in bytes.
pub const MAX_LINE: usize = 64 << 20;

/// Every `*.jsonl.gz` below `folder`, in the order of their names.
///
/// # Errors
/// `folder`, or a folder below it, cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files_ending(folder, ".jsonl.gz")
}

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

/// The lines of the gzip file `path`, without their ends.
///
/// # Errors
/// The file cannot be opened. That it is not gzip shows at the first line.
pub fn lines(path: &Path) -> io::Result<Lines> {
    Ok(Lines {
        reader: BufReader::with_capacity(1 << 16, MultiGzDecoder::new(File::open(path)?)),
        done: false,
    })
}

/// The lines of a vector file; ends after the first error.
pub struct Lines {
    reader: BufReader<MultiGzDecoder<File>>,
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
