//! `agent sign` and `verify`: files of any size, read once and never held.

use super::{Session, is_signer};
use crate::args::agent::{AgentSign, AgentVerify};
use crate::beside;
use crate::error::{Error, Status};
use crate::files::{self, Access, Input};
use gambeson_identity::{Did, FileHasher, FileSignature};
use serde_json::json;
use std::path::Path;

/// The end of the name of a signature.
const EXTENSION: &str = "jws";

pub(super) fn sign(session: &Session, options: &AgentSign) -> Result<Status, Error> {
    let pairs = beside::to_sign(&options.files, options.out.as_deref(), EXTENSION)?;
    crate::sealing::one_standard_input(pairs.iter().map(|(file, _)| file.as_path()))?;
    for (file, out) in &pairs {
        files::refuse_same(file, out)?;
        files::refuse_existing(out, options.force)?;
    }
    let (agent, _) = session.unlock()?;
    for (path, out) in &pairs {
        let file = hashed(FileHasher::new(agent.suite()), path)?;
        let token = FileSignature::sign(&agent, file, session.now).map_err(Error::from_request)?;
        files::write(out, format!("{token}\n").as_bytes(), Access::Shared, options.force)?;
        session.console.report(
            format_args!("signed {} as {}: {}", path.display(), agent.did(), out.display()),
            json!({
                "type": "signed",
                "file": path.display().to_string(),
                "signer": agent.did().as_str(),
                "signature": out.display().to_string(),
            }),
        )?;
    }
    Ok(Status::Done)
}

pub(super) fn verify(session: &Session, options: &AgentVerify) -> Result<Status, Error> {
    let pairs = beside::to_verify(&options.files, options.signature.as_deref(), EXTENSION)?;
    crate::sealing::one_standard_input(
        pairs.iter().flat_map(|(file, signature)| [file.as_path(), signature.as_path()]),
    )?;
    let mut status = Status::Done;
    for (file, signature) in &pairs {
        let one = verify_one(session, file, signature, options.signer.as_ref())?;
        if one != Status::Done {
            status = one;
        }
    }
    Ok(status)
}

fn verify_one(
    session: &Session,
    path: &Path,
    signature: &Path,
    signer: Option<&Did>,
) -> Result<Status, Error> {
    let judged = (|| {
        let signature = match FileSignature::parse(&text(signature)?) {
            Ok(signature) => signature,
            Err(error) => return Ok(Err(error)),
        };
        let file = hashed(signature.hasher(), path)?;
        let verified = signature.verify(file, &*session.resolver(), session.now);
        Ok(verified.and_then(|verified| is_signer(signer, verified.signer()).map(|()| verified)))
    })()?;
    let verified = match judged {
        Ok(verified) => verified,
        Err(error) => return session.refused_file(Some(path), &error),
    };
    session.holds(
        format_args!(
            "{} ({} bytes) was signed by {} at {}",
            path.display(),
            verified.size,
            verified.signer(),
            verified.issued
        ),
        verified.signer(),
        json!({
            "file": path.display().to_string(),
            "bytes": verified.size,
            "hash": verified.hash,
            "issued": verified.issued.to_string(),
        }),
    )
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
