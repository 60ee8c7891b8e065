//! Files and the signatures beside them.

use crate::error::Error;
use crate::files::is_stream;
use std::path::{Path, PathBuf};

/// A file and the place of its signature.
pub(crate) type Pair = (PathBuf, PathBuf);

/// Each file to sign, with where its signature goes: as `--out` names it for one file, else beside it.
pub(crate) fn to_sign(files: &[PathBuf], out: Option<&Path>, extension: &str) -> Result<Vec<Pair>, Error> {
    pairs(files, out, "--out", extension)
}

/// Each file to verify, with its signature: as `--signature` names it for one file, else beside it. Of two names one may be the
/// signature of the other, if it alone has the extension.
pub(crate) fn to_verify(
    files: &[PathBuf],
    signature: Option<&Path>,
    extension: &str,
) -> Result<Vec<Pair>, Error> {
    let is_signature = |path: &Path| path.extension().is_some_and(|found| found == extension);
    let pairs = match (signature, files) {
        (None, [file, signature]) if is_signature(signature) && !is_signature(file) => {
            vec![(file.clone(), signature.clone())]
        }
        (None, [signature, file]) if is_signature(signature) && !is_signature(file) => {
            vec![(file.clone(), signature.clone())]
        }
        _ => pairs(files, signature, "--signature", extension)?,
    };
    match pairs.iter().find(|(file, signature)| is_signature(file) && !signature.exists()) {
        Some((file, signature)) => Err(Error::usage(format!(
            "{}: is a signature: name the file too ({} does not exist)",
            file.display(),
            signature.display()
        ))),
        None => pairs.iter().try_for_each(refuse_missing).map(|()| pairs),
    }
}

/// Refuses a file or a signature that does not exist.
fn refuse_missing((file, signature): &Pair) -> Result<(), Error> {
    let is_missing = |path: &Path| !is_stream(path) && !path.exists();
    let (path, next) = if is_missing(file) {
        (file, "")
    } else if is_missing(signature) {
        (signature, "; --signature names another file")
    } else {
        return Ok(());
    };
    Err(Error::outside(format!("{}: does not exist{next}", path.display())))
}

fn pairs(files: &[PathBuf], given: Option<&Path>, option: &str, extension: &str) -> Result<Vec<Pair>, Error> {
    match (given, files) {
        (Some(signature), [file]) => Ok(vec![(file.clone(), signature.to_path_buf())]),
        (Some(_), _) => Err(Error::usage(format!("{option} goes with one file"))),
        (None, files) => {
            files.iter().map(|file| Ok((file.clone(), beside(file, option, extension)?))).collect()
        }
    }
}

fn beside(file: &Path, option: &str, extension: &str) -> Result<PathBuf, Error> {
    if is_stream(file) {
        return Err(Error::usage(format!(
            "standard input has no name to put .{extension} after: name the signature's file with {option}"
        )));
    }
    let mut path = file.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    Ok(path.into())
}
