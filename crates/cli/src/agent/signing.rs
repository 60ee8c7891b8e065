//! `agent sign` and `verify`: files of any size, read once and never held.

use super::{Session, is_signer};
use crate::args::agent::{AgentSign, AgentVerify};
use crate::error::{Error, Status};
use crate::files::{self, Access, Input, is_stream};
use gambeson_identity::{FileHasher, FileSignature};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(super) fn sign(session: &Session, options: &AgentSign) -> Result<Status, Error> {
    let out = signature_path(options.out.as_deref(), &options.file)?;
    files::refuse_same(&options.file, &out)?;
    files::refuse_existing(&out, options.force)?;
    let (agent, _) = session.unlock()?;
    let file = hashed(FileHasher::new(agent.suite()), &options.file)?;
    let token = FileSignature::sign(&agent, file, session.now).map_err(Error::from_request)?;
    files::write(&out, format!("{token}\n").as_bytes(), Access::Shared, options.force)?;
    session.console.report(
        format_args!("signed {} as {}: {}", options.file.display(), agent.did(), out.display()),
        json!({
            "signed": options.file.display().to_string(),
            "signer": agent.did().as_str(),
            "signature": out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

pub(super) fn verify(session: &Session, options: &AgentVerify) -> Result<Status, Error> {
    let path = signature_path(options.signature.as_deref(), &options.file)?;
    crate::sealing::one_standard_input([options.file.as_path(), &path].into_iter())?;
    let signature = match FileSignature::parse(&text(&path)?) {
        Ok(signature) => signature,
        Err(error) => return session.refused(&error),
    };
    let file = hashed(signature.hasher(), &options.file)?;
    match signature.verify(file, &*session.resolver(), session.now) {
        Ok(verified) => {
            is_signer(options.signer.as_ref(), verified.signer())?;
            session.holds(
                format_args!(
                    "{} ({} bytes) was signed by {} at {}",
                    options.file.display(),
                    verified.size,
                    verified.signer(),
                    verified.issued
                ),
                verified.signer(),
                json!({
                    "file": options.file.display().to_string(),
                    "bytes": verified.size,
                    "hash": verified.hash,
                    "issued": verified.issued.to_string(),
                }),
            )
        }
        Err(error) => session.refused(&error),
    }
}

fn hashed(mut hasher: FileHasher, file: &Path) -> Result<FileHasher, Error> {
    files::for_each(Input::open(file)?, |piece| hasher.update(piece))?;
    Ok(hasher)
}

/// A small file that is text, without the end of its line.
pub(super) fn text(path: &Path) -> Result<String, Error> {
    let bytes = files::read_small(path)?;
    let text = std::str::from_utf8(&bytes).map(|text| text.trim_ascii().to_owned());
    text.map_err(|_| Error::outside(format!("{}: is not text", path.display())))
}

fn signature_path(given: Option<&Path>, file: &Path) -> Result<PathBuf, Error> {
    match given {
        Some(path) => Ok(path.to_path_buf()),
        None if is_stream(file) => Err(Error::usage("standard input has no name: --out or --signature")),
        None => {
            let mut name = file.as_os_str().to_owned();
            name.push(".jws");
            Ok(name.into())
        }
    }
}
