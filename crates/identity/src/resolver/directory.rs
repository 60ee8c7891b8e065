//! Logs of cards in a folder, read when they are asked for.

use super::{Resolver, unknown};
use crate::card::MAX_CARD_LOG;
use crate::{CardLog, CardStore, Did, DidDocument, Error, Method, Reason, Result, Timestamp};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of logs, one file a DID: the DID's last part and `.jsonl`.
///
/// It remembers nothing: a file that somebody replaces by an older or another log of the same DID is believed. Who lets others
/// fill the folder keeps a [`CardStore`], and gives each log to [`CardStore::add`], which refuses both.
#[derive(Clone, Debug)]
pub struct CardDirectory(PathBuf);

impl CardDirectory {
    /// The folder; that it exists is seen when something is asked.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Where the log of a `did:gambeson` lies.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownDid`] for other methods, which have no cards.
    pub fn path(&self, did: &Did) -> Result<PathBuf> {
        match did.method() {
            // Base64url has no character that means something to a file system.
            Method::Gambeson => Ok(self.0.join(format!("{}.jsonl", did.method_specific_id()))),
            _ => Err(unknown(did)),
        }
    }

    /// Reads and verifies the log of a DID.
    ///
    /// # Errors
    ///
    /// [`Reason::UnknownDid`] if it cannot be read, [`Reason::TooLarge`] beyond [`MAX_CARD_LOG`](crate::MAX_CARD_LOG), or why
    /// it does not hold.
    pub fn log(&self, did: &Did) -> Result<CardLog> {
        let text = read(&self.path(did)?).map_err(|error| match error.kind() {
            ErrorKind::NotFound => unknown(did),
            _ => Error::new(Reason::UnknownDid, format_args!("the log of {did} cannot be read: {error}")),
        })?;
        if text.len() > MAX_CARD_LOG {
            return Err(Error::new(
                Reason::TooLarge,
                format_args!("the log of {did} has more than {MAX_CARD_LOG} bytes"),
            ));
        }
        let log = CardLog::verify(&text)?;
        match log.did() == did {
            true => Ok(log),
            false => Err(Error::new(
                Reason::NotBound,
                format_args!("the file of {did} has the cards of {}", log.did()),
            )),
        }
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_CARD_LOG as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}

impl Resolver for CardDirectory {
    fn resolve(&self, did: &Did, now: Timestamp) -> Result<Arc<DidDocument>> {
        let mut store = CardStore::default();
        if did.method() == Method::Gambeson {
            store.add(self.log(did)?)?;
        }
        store.resolve(did, now)
    }
}
