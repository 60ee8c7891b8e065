//! The agent's folder: one seed under a passphrase, and files that are no secret.
//!
//! | file | what is in it |
//! | --- | --- |
//! | `agent.json` | the DID and the suite; of an agent that was made again, which log key it had then |
//! | `seed` | the master seed, sealed by `gambeson-keystore` |
//! | `cards/` | the cards of this agent and of those that it knows, one log an agent |
//! | `credentials/` | what `cred verify --keep` kept |
//! | `objects/` | memory objects, under the digits of their hashes |
//! | `status/` | which credentials were issued and revoked; the lists of others |
//! | `ledger.json` | what was used up of delegations |
//! | `seen.json` | what was taken once and has not expired |
//! | `log/` | the audit logs, one a log key |
//! | `channels.redb` | the channels of the agent |
//! | `gateway.token` | what lets programs in at a running gateway |
//! | `lock` | held by whoever changes something |

use crate::error::Error;
use crate::files::{self, Access};
use crate::passphrase;
use etcetera::{BaseStrategy, choose_base_strategy};
use gambeson_identity::{Agent, CardDirectory, CardLog, Did, MasterSeed, Reason, recovery};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Files that an agent keeps in its folder; no command replaces one with its output.
const KEPT: [&str; 13] = [
    "agent.json",
    "cards",
    "channels.redb",
    "channels.redb.new",
    "credentials",
    "gateway.token",
    "ledger.json",
    "lock",
    "log",
    "objects",
    "seed",
    "seen.json",
    "status",
];

/// Returns true if there is an agent in `folder`, and it keeps something under this name.
pub(crate) fn keeps(folder: &Path, name: &OsStr) -> bool {
    KEPT.iter().any(|kept| name == *kept)
        && ["agent.json", "seed"].iter().all(|file| folder.join(file).is_file())
}

/// An agent's folder, which need not exist yet.
pub(super) struct Home(PathBuf);

/// Held as long as this process may change what is in the folder.
pub(super) struct Lock(#[allow(dead_code, reason = "closing the file gives the lock back")] File);

impl Home {
    /// The folder that was asked for, or that of the environment, or that of the user.
    pub(super) fn at(asked: Option<&Path>) -> Result<Self, Error> {
        let folder = match (asked, std::env::var_os("GAMBESON_HOME")) {
            (Some(folder), _) => folder.to_path_buf(),
            (None, Some(folder)) if !folder.is_empty() => folder.into(),
            _ => choose_base_strategy()
                .map_err(|_| {
                    Error::usage("the agent's folder is unknown: name it with --home or GAMBESON_HOME")
                })?
                .data_dir()
                .join("gambeson/agent"),
        };
        #[cfg(unix)]
        super::trusted::refuse_writable_by_others(&folder)?;
        Ok(Self(folder))
    }

    /// The folder's name.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Waits until nobody else changes the folder.
    pub(super) fn lock(&self) -> Result<Lock, Error> {
        let path = self.0.join("lock");
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.create(true).append(true).open(&path);
        let file = file.map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => self.no_agent(),
            _ => Error::io(&path, &e),
        })?;
        file.lock().map_err(|e| Error::io(&path, &e))?;
        Ok(Lock(file))
    }

    /// Makes the folder of a new agent. There must be none in it.
    pub(super) fn create(
        &self,
        seed: &MasterSeed,
        log: &CardLog,
        passphrase_fd: Option<u32>,
    ) -> Result<(), Error> {
        let about = json!({"version": 1, "did": log.did().as_str(), "suite": log.did().suite().name()});
        self.fill(seed, log, passphrase_fd, &about, || Ok(()))
    }

    /// Makes the folder of an agent that was elsewhere before; `rest` writes what came along.
    pub(super) fn recreate(
        &self,
        seed: &MasterSeed,
        log: &CardLog,
        passphrase_fd: Option<u32>,
        rest: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (key, _) = super::log::newest_key(log)?;
        let about = json!({
            "version": 1, "did": log.did().as_str(), "suite": log.did().suite().name(),
            "recovered": {"log": key.to_string()},
        });
        self.fill(seed, log, passphrase_fd, &about, rest)
    }

    fn fill(
        &self,
        seed: &MasterSeed,
        log: &CardLog,
        passphrase_fd: Option<u32>,
        about: &Value,
        rest: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.refuse_others(log.did())?;
        let passphrase = passphrase::new(passphrase_fd, "the agent")?;
        let suite = log.did().suite();
        let passphrase = key(&passphrase)?;
        let sealed = recovery::protect(seed, suite, &passphrase, None).map_err(Error::damaged)?;
        private_folder(&self.0)?;
        private_folder(&self.cards())?;
        let _lock = self.lock()?;
        // Somebody else may have made one since the first look: nothing of it is touched.
        self.refuse_others(log.did())?;
        let before = self.contents()?;
        let filled = (|| {
            // Whose files these are comes first, so that nobody else takes over what an interruption leaves. The seed comes
            // last: before it there is no agent, and nothing of one is replaced after it.
            files::write_own(&self.about(), format!("{about}\n").as_bytes(), Access::Private, true)?;
            self.keep_cards(log)?;
            rest()?;
            files::write_own(&self.seed(), &sealed, Access::Private, false)
        })();
        if filled.is_err() {
            for path in self.contents()?.difference(&before) {
                // What cannot be removed names its owner, and is refused next time.
                let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            }
        }
        filled
    }

    /// What is in the folder, and what in that of the cards.
    fn contents(&self) -> Result<BTreeSet<PathBuf>, Error> {
        let mut contents = BTreeSet::new();
        for folder in [&self.0, &self.cards()] {
            for entry in fs::read_dir(folder).map_err(|e| Error::io(folder, &e))? {
                contents.insert(entry.map_err(|e| Error::io(folder, &e))?.path());
            }
        }
        Ok(contents)
    }

    /// Refuses a folder in which there is an agent, or what is left of another than this one: it would become this one's.
    pub(super) fn refuse_others(&self, did: &Did) -> Result<(), Error> {
        self.refuse_existing()?;
        let owner = self.owner().ok();
        let mut kept = ["agent.json", "status", "ledger.json", "seen.json", "credentials"].into_iter();
        match kept.find(|name| self.0.join(name).exists()) {
            Some(name) if owner.as_ref() != Some(did) => {
                let whose = owner.map(|owner| format!(" of {owner}")).unwrap_or_default();
                let message = format!(
                    "{}: has {name}{whose} and no seed, as an interrupted agent init leaves it; remove it, or name \
                         another folder with --home",
                    self.0.display()
                );
                Err(Error::outside(message).because("leftovers"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a folder in which there is an agent.
    pub(super) fn refuse_existing(&self) -> Result<(), Error> {
        match self.seed().exists() {
            true => Err(Error::outside(format!(
                "{}: there is an agent already, whose seed is never replaced; name another folder with --home",
                self.0.display()
            ))),
            false => Ok(()),
        }
    }

    /// Who the agent is.
    pub(super) fn owner(&self) -> Result<Did, Error> {
        let did = self.read_about()?["did"].as_str().and_then(|did| did.parse().ok());
        did.ok_or_else(|| Error::outside(format!("{}: names no DID", self.about().display())))
    }

    /// Of an agent that was made again from its seed, the URL of the log key that it had then: what it did before may be
    /// known to others and not here.
    pub(super) fn recovered(&self) -> Result<Option<String>, Error> {
        match &self.read_about()?["recovered"] {
            Value::Null => Ok(None),
            recovered => match recovered["log"].as_str() {
                Some(key) => Ok(Some(key.to_owned())),
                None => Err(Error::outside(format!("{}: is damaged", self.about().display()))),
            },
        }
    }

    fn read_about(&self) -> Result<Value, Error> {
        let path = self.about();
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|_| Error::outside(format!("{}: is damaged", path.display()))),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(self.no_agent()),
            Err(e) => Err(Error::io(&path, &e)),
        }
    }

    /// The agent's own cards.
    pub(super) fn cards_of_owner(&self) -> Result<CardLog, Error> {
        self.known().log(&self.owner()?).map_err(Error::damaged)
    }

    /// The cards of this agent and of others.
    pub(super) fn known(&self) -> CardDirectory {
        CardDirectory::new(self.cards())
    }

    /// How many agents are known, this one included.
    pub(super) fn count_known(&self) -> Result<usize, Error> {
        let entries = fs::read_dir(self.cards()).map_err(|e| Error::io(&self.cards(), &e))?;
        Ok(entries.flatten().filter(|entry| entry.path().extension().is_some_and(|it| it == "jsonl")).count())
    }

    /// Writes the cards of an agent in the place of older ones; the caller has the lock.
    pub(super) fn keep_cards(&self, log: &CardLog) -> Result<(), Error> {
        let path = self.known().path(log.did()).map_err(Error::damaged)?;
        files::write_own(&path, log.to_lines().as_bytes(), Access::Shared, true)
    }

    /// Opens the seed, and makes the agent as its newest card has it.
    pub(super) fn unlock(&self, passphrase_fd: Option<u32>, log: &CardLog) -> Result<Agent, Error> {
        Agent::recover(self.open_seed(passphrase_fd)?, log).map_err(Error::damaged)
    }

    fn open_seed(&self, passphrase_fd: Option<u32>) -> Result<MasterSeed, Error> {
        let path = self.seed();
        let sealed = match files::read_small(&path) {
            Err(_) if !path.exists() => return Err(self.no_agent()),
            sealed => sealed?,
        };
        let passphrase = passphrase::existing(passphrase_fd, "the agent")?;
        let (seed, _) = recovery::unprotect(&sealed, &key(&passphrase)?).map_err(|e| match e.reason() {
            Reason::WrongPassphrase => Error::refused(e),
            _ => Error::damaged(e),
        })?;
        Ok(seed)
    }

    /// Seals the seed under another passphrase; the caller has the lock.
    pub(super) fn change_passphrase(&self, old_fd: Option<u32>, new_fd: Option<u32>) -> Result<(), Error> {
        let seed = self.open_seed(old_fd)?;
        let suite = self.cards_of_owner()?.did().suite();
        let passphrase = key(&passphrase::changed(new_fd, "the agent")?)?;
        let sealed = recovery::protect(&seed, suite, &passphrase, None).map_err(Error::damaged)?;
        files::write_own(&self.seed(), &sealed, Access::Private, true)
    }

    fn no_agent(&self) -> Error {
        Error::outside(format!("{}: there is no agent; gambeson agent init makes one", self.0.display()))
    }

    fn about(&self) -> PathBuf {
        self.0.join("agent.json")
    }

    fn seed(&self) -> PathBuf {
        self.0.join("seed")
    }

    fn cards(&self) -> PathBuf {
        self.0.join("cards")
    }
}

/// The passphrase as the keystore takes it.
fn key(text: &str) -> Result<gambeson_keystore::Passphrase, Error> {
    gambeson_keystore::Passphrase::new(text).map_err(|e| Error::usage(e.to_string()))
}

/// Makes a folder that its owner alone may look into, and the folders above it.
pub(super) fn private_folder(path: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| Error::io(path, &e))
}
