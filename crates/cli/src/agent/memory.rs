//! `agent memory put`, `get`, `list`: bytes under the name that their hash gives them, in `objects/`.

use super::Session;
use crate::args::agent::{MemoryCommand, MemoryGet, MemoryPut};
use crate::console::counted;
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_identity::Reason;
use gambeson_identity::backup::MAX_ARCHIVE;
use gambeson_identity::memory::{DirectoryObjects, MAX_OBJECT, Manifest, Objects};
use serde_json::json;

pub(super) fn memory(session: &Session, command: &MemoryCommand) -> Result<Status, Error> {
    session.home.owner()?;
    let objects = DirectoryObjects::new(session.home.folder().join("objects"));
    match command {
        MemoryCommand::Put(options) => put(session, options, objects),
        MemoryCommand::Get(options) => get(session, options, &objects),
        MemoryCommand::List => list(session, &objects),
    }
}

fn put(session: &Session, options: &MemoryPut, mut objects: DirectoryObjects) -> Result<Status, Error> {
    let bytes = files::read_at_most(&options.file, MAX_ARCHIVE)?;
    let _lock = session.home.lock()?;
    // What reads like a manifest becomes the content of one, or `get` would follow it.
    let whole = bytes.len() <= MAX_OBJECT && Manifest::parse(&bytes).is_err();
    let id = if whole { objects.put(&bytes) } else { Manifest::store(&bytes, &mut objects) };
    let id = id.map_err(of_objects)?;
    session.console.report(id, json!({"type": "object", "object": id.to_string(), "bytes": bytes.len()}))?;
    Ok(Status::Done)
}

fn get(session: &Session, options: &MemoryGet, objects: &DirectoryObjects) -> Result<Status, Error> {
    let id = options.object;
    let found = objects.get(&id).map_err(of_objects)?;
    let found =
        found.ok_or_else(|| Error::outside(format!("object {id} does not exist")).because("no-object"))?;
    let bytes = match Manifest::parse(&found) {
        Ok(_) => Manifest::load(&id, objects, MAX_ARCHIVE as u64).map_err(of_objects)?,
        Err(_) => found,
    };
    files::write(&options.out, &bytes, Access::Private, options.force)?;
    session.console.report(
        format_args!("{}: {}", counted(bytes.len(), "byte"), options.out.display()),
        json!({"type": "object", "object": id.to_string(), "bytes": bytes.len(), "out": options.out.display().to_string()}),
    )?;
    Ok(Status::Done)
}

fn list(session: &Session, objects: &DirectoryObjects) -> Result<Status, Error> {
    for id in objects.ids().map_err(of_objects)? {
        session.console.report(id, json!({"type": "object", "object": id.to_string()}))?;
    }
    Ok(Status::Done)
}

/// Bytes that have another name do not hold; all else is the folder's fault.
pub(super) fn of_objects(error: gambeson_identity::Error) -> Error {
    match error.reason() {
        Reason::WrongHash => Error::refused(error),
        _ => Error::damaged(error),
    }
}
