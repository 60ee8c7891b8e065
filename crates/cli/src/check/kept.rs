//! What an agent keeps and hands out in files: `state`, `memory`, `backup`, `signed-file`.

use super::identity::{File, Found, bad, size, text};
use super::secrets::{changed, of, seed};
use crate::harness::{from_hex, hex};
use gambeson_identity::backup::{Backup, State};
use gambeson_identity::memory::{Manifest, MemoryObjects, ObjectId, Objects};
use gambeson_identity::{Agent, CardLog, CardStore, Error, FileSignature, Suite, Timestamp};
use serde_json::{Map, Value, json};

/// The longest object that a vector asks for, in bytes.
const MAX_LENGTH: usize = 2 << 20;

/// A member as text, or nothing, which no vector has.
fn given<'a>(file: &'a File, vector: &'a Value, name: &str) -> &'a str {
    of(file, vector, name).as_str().unwrap_or_default()
}

fn agent(file: &File, vector: &Value) -> Result<Agent, Error> {
    let suite: Suite = given(file, vector, "suite").parse()?;
    Ok(Agent::with_suite(seed(given(file, vector, "seed"))?, suite))
}

/// The bytes of a member in hex, with the changes that the vector asks for.
fn bytes(file: &File, vector: &Value, name: &str) -> Vec<u8> {
    let mut bytes = changed(from_hex(given(file, vector, name)).unwrap_or_default(), vector);
    bytes.extend(from_hex(text(vector, "append")).unwrap_or_default());
    bytes
}

pub(super) fn state(file: &File, vector: &Value) -> Option<Found> {
    Some(agent(file, vector).and_then(|agent| {
        let sealed = bytes(file, vector, "sealed");
        let state = agent.open_state(given(file, vector, "label"), &sealed)?;
        Ok(vec![("state", hex(state.expose()).into())])
    }))
}

/// `object`, `manifest`.
pub(super) fn memory(_: &File, vector: &Value) -> Option<Found> {
    match text(vector, "kind") {
        "object" => Some(object(vector)),
        "manifest" => Some(manifest(vector)),
        _ => None,
    }
}

/// Bytes in hex, or one byte so many times.
fn contents(object: &Value) -> Vec<u8> {
    let byte = object["byte"].as_u64().and_then(|byte| u8::try_from(byte).ok()).unwrap_or_default();
    match object.get("hex") {
        Some(_) => from_hex(text(object, "hex")).unwrap_or_default(),
        None => vec![byte; size(object, "length", 0).min(MAX_LENGTH)],
    }
}

fn object(vector: &Value) -> Found {
    let id: ObjectId = text(vector, "name").parse()?;
    let bytes = contents(&vector["object"]);
    MemoryObjects::default().put(&bytes)?;
    id.check(&bytes).map(|()| Vec::new())
}

fn manifest(vector: &Value) -> Found {
    let mut objects = MemoryObjects::default();
    for object in vector["objects"].as_array().into_iter().flatten() {
        objects.put(&contents(object))?;
    }
    let manifest = Manifest::parse(text(vector, "manifest").as_bytes())?;
    let id = objects.put(&manifest.to_json()?)?;
    let whole = Manifest::load(&id, &objects, vector["most"].as_u64().unwrap_or_default())?;
    Ok(vec![("whole", ObjectId::of(&whole).to_string().into())])
}

pub(super) fn signed_file(file: &File, vector: &Value) -> Option<Found> {
    Some((|| {
        let now: Timestamp = given(file, vector, "now").parse()?;
        let mut cards = CardStore::default();
        cards.add(CardLog::verify(given(file, vector, "cards").as_bytes())?)?;
        let pad = size(vector, "pad", 0).min(MAX_LENGTH);
        let signature = FileSignature::parse(&(given(file, vector, "token").to_owned() + &"A".repeat(pad)))?;
        let mut hasher = signature.hasher();
        hasher.update(&bytes(file, vector, "file"));
        let found = signature.verify(hasher, &cards, now)?;
        Ok(vec![("signer", found.signer().to_string().into()), ("issued", found.issued.to_string().into())])
    })())
}

pub(super) fn backup(file: &File, vector: &Value) -> Option<Found> {
    Some((|| {
        let (agent, sealed) = (agent(file, vector)?, bytes(file, vector, "file"));
        let since = of(file, vector, "since").as_u64().unwrap_or_default();
        let found = Backup::open_since(&agent, &sealed, since)?;
        if found.did().as_str() != given(file, vector, "did") {
            return Err(bad("it belongs to another agent"));
        }
        let credentials: Map<_, _> =
            found.credentials().map(|(name, bytes)| (name.to_owned(), hex(bytes).into())).collect();
        let objects: Map<_, _> =
            found.objects().map(|(id, bytes)| (id.to_string(), hex(bytes).into())).collect();
        let state: Map<_, _> = State::ALL
            .into_iter()
            .filter_map(|state| Some((state.name().to_owned(), hex(found.state(state)?).into())))
            .collect();
        let cards = found.cards()?.map(|cards| cards.to_lines());
        let told = json!({
            "made": found.made().to_string(), "cards": cards, "credentials": credentials, "objects": objects,
            "state": state,
        });
        Ok(vec![("expect", told)])
    })())
}
