//! The audit log: its files lie in memory, and JavaScript keeps them where it likes.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use gambeson_identity::tlog::{self, Hash, Proof, Storage};
use gambeson_identity::{Agent, Error, Reason, Resolver, Result, Role, VerifyingKey};
use serde_json::Value;

use crate::border::{Answer, Input, NO_VERB, bad, given, object, said};
#[cfg(feature = "test-vectors")]
use crate::vectors;
use crate::verifier::{Verifier, signed, signer};
use crate::{forms, status};

/// The file that signs for all others.
const CHECKPOINT: &str = "checkpoint";

pub type Log = tlog::Log<Files>;

/// The files of a log by their names, and which of them were written since somebody asked.
#[derive(Default)]
pub struct Files {
    contents: BTreeMap<String, Vec<u8>>,
    written: RefCell<BTreeSet<String>>,
}

impl Storage for Files {
    /// There is one owner.
    type Lock = ();

    fn lock(&mut self) -> Result<()> {
        Ok(())
    }

    fn read(&self, name: &str, max_len: usize) -> Result<Option<Vec<u8>>> {
        match self.contents.get(name) {
            Some(contents) if contents.len() > max_len => {
                Err(Error::new(Reason::TooLarge, format_args!("{name} is longer than such a file can be")))
            }
            found => Ok(found.cloned()),
        }
    }

    fn write(&mut self, name: &str, contents: &[u8]) -> Result<()> {
        self.contents.insert(name.to_owned(), contents.to_vec());
        self.written.get_mut().insert(name.to_owned());
        Ok(())
    }

    fn create(&mut self, name: &str, contents: &[u8]) -> Result<()> {
        match self.contents.contains_key(name) {
            true => Err(Error::new(Reason::StorageFailed, format_args!("{name} exists already"))),
            false => self.write(name, contents),
        }
    }
}

/// A new log of an agent, or the one of these files.
pub fn of(agent: &Agent, verb: &str, input: &Input<'_>) -> Result<Log> {
    let (origin, now, key) = (input.text("origin")?, input.now()?, agent.key(Role::Log));
    match verb {
        "createLog" => Log::create(Files::default(), origin, key, now),
        "openLog" => {
            let contents =
                input.owned("names")?.into_iter().zip(input.pieces()?.into_iter().map(<[u8]>::to_vec));
            let files = Files { contents: contents.collect(), written: RefCell::default() };
            Log::open(files, origin, &key.verifying_key(), now)
        }
        _ => Err(bad(NO_VERB)),
    }
}

/// Appends pieces of bytes as entries: the number of the first.
pub fn append(log: &mut Log, agent: &Agent, input: &Input<'_>) -> Result<Answer> {
    said(log.append(&input.pieces()?, agent.key(Role::Log), input.now()?)?.to_string())
}

/// What a log is asked.
pub fn ask(log: &Log, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "entry" => given(log.entry(input.number("index")?)?),
        "prove" => said(log.prove(input.number("index")?)?.to_string()),
        "proveConsistency" => given(log.prove_consistency(input.number("oldSize")?)?.concat()),
        "checkpoint" => {
            let note = log.signed_checkpoint().to_string();
            let size = log.size().to_string();
            Ok((object(vec![("size", size.into()), ("note", note.into())]), log.checkpoint().root.to_vec()))
        }
        "audit" => {
            log.audit()?;
            said(Value::Null)
        }
        "files" => Ok(files(log.storage(), input.flag("changed")?)),
        _ => Err(bad(NO_VERB)),
    }
}

/// What a verifier is asked.
pub fn ask_verifier(verifier: &Verifier, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "logProof" => {
            let (url, now) = (input.url("signer")?, input.now()?);
            let document = verifier.known.resolve(url.did(), now)?;
            let included = included(document.key_of_role(&url, Role::Log, now)?, input)?;
            said(signed(signer(&url), included))
        }
        _ => status::ask_verifier(verifier, verb, input),
    }
}

/// What needs no object.
pub fn ask_form(verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "logProof" => said(object(included(&forms::key(input)?, input)?)),
        "inclusion" => {
            let (index, size) = (input.number("index")?, input.number("size")?);
            let (leaf, root, path) = hashes(input)?;
            tlog::verify_inclusion(&leaf, index, size, &path, &root)?;
            said(Value::Null)
        }
        "consistency" => {
            let (old, new) = (input.number("oldSize")?, input.number("newSize")?);
            let (old_root, new_root, path) = hashes(input)?;
            tlog::verify_consistency((old, &old_root), (new, &new_root), &path)?;
            said(Value::Null)
        }
        #[cfg(feature = "test-vectors")]
        _ => vectors::ask_form(verb, input),
        #[cfg(not(feature = "test-vectors"))]
        _ => Err(bad(NO_VERB)),
    }
}

/// All files, or those that were written since somebody asked: names and lengths, and the contents in that order. What the checkpoint
/// signs is kept before it.
fn files(files: &Files, changed: bool) -> Answer {
    let written = files.written.take();
    let mut chosen: Vec<_> =
        files.contents.iter().filter(|(name, _)| !changed || written.contains(*name)).collect();
    chosen.sort_by_key(|(name, _)| *name == CHECKPOINT);
    let named = chosen.iter().map(|(name, contents)| vec![Value::from(name.as_str()), contents.len().into()]);
    (named.map(Value::from).collect(), chosen.iter().flat_map(|(_, contents)| *contents).copied().collect())
}

/// Two hashes and a path, in pieces of bytes.
fn hashes(input: &Input<'_>) -> Result<(Hash, Hash, Vec<Hash>)> {
    let hashes = input.pieces()?.into_iter().map(Hash::try_from).collect::<Result<Vec<_>, _>>();
    match hashes.as_deref() {
        Ok([first, second, path @ ..]) => Ok((*first, *second, path.to_vec())),
        _ => Err(bad("two hashes and a path are needed, of 32 bytes each")),
    }
}

/// What a proof shows of an entry, the bytes, of a log with this key.
fn included(key: &VerifyingKey, input: &Input<'_>) -> Result<Vec<(&'static str, Value)>> {
    let proof = Proof::parse(input.text("proof")?.as_bytes())?;
    let included = proof.verify(input.bytes(), input.text("origin")?, key, input.now()?)?;
    Ok(vec![
        ("index", included.index.to_string().into()),
        ("size", included.checkpoint.size.to_string().into()),
        ("root", forms::hex(&included.checkpoint.root).into()),
        ("signed", included.signed.0.into()),
    ])
}
