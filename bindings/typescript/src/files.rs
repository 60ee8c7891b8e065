//! Files that are signed, and memory objects, which are named by their hash.

use gambeson_identity::memory::{Manifest, MemoryObjects, ObjectId, Objects};
use gambeson_identity::{Agent, FileHasher, FileSignature, Result};
use serde_json::Value;

use crate::border::{Answer, Input, NO_VERB, bad, given, object, said};
use crate::log;
use crate::verifier::{Verifier, signed, signer};

/// What an agent is asked.
pub fn ask(agent: &Agent, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "signFile" => {
            let file = hashed(FileHasher::new(agent.suite()), input);
            said(FileSignature::sign(agent, file, input.now()?)?)
        }
        _ => Err(bad(NO_VERB)),
    }
}

/// What a verifier is asked.
pub fn ask_verifier(verifier: &Verifier, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "file" => {
            let signature = FileSignature::parse(input.text("signature")?)?;
            let file = hashed(signature.hasher(), input);
            let verified = signature.verify(file, &verifier.known, input.now()?)?;
            let members = vec![
                ("hash", verified.hash.as_str().into()),
                ("size", verified.size.into()),
                ("issued", verified.issued.0.into()),
            ];
            said(signed(signer(verified.signer()), members))
        }
        _ => log::ask_verifier(verifier, verb, input),
    }
}

/// What needs no object.
pub fn ask_form(verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "checkObject" => {
            let id: ObjectId = input.text("id")?.parse()?;
            MemoryObjects::default().put(input.bytes())?;
            id.check(input.bytes())?;
            said(Value::Null)
        }
        "cutObjects" => {
            let mut objects = MemoryObjects::default();
            let id = Manifest::store(input.bytes(), &mut objects)?;
            let (mut named, mut bytes) = (Vec::new(), Vec::new());
            for id in objects.ids()? {
                let object = objects.get(&id)?.unwrap_or_default();
                named.push(Value::from(vec![Value::from(id.to_string()), object.len().into()]));
                bytes.extend_from_slice(&object);
            }
            Ok((object(vec![("id", id.to_string().into()), ("objects", named.into())]), bytes))
        }
        "joinObjects" => {
            let mut objects = MemoryObjects::default();
            for object in input.pieces()? {
                objects.put(object)?;
            }
            given(Manifest::load(&input.text("id")?.parse()?, &objects, input.number("maxLength")?)?)
        }
        _ => log::ask_form(verb, input),
    }
}

fn hashed(mut hasher: FileHasher, input: &Input<'_>) -> FileHasher {
    hasher.update(input.bytes());
    hasher
}
