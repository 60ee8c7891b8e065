//! An append-only log that proves, offline, what was written and that nothing was changed or removed since.
//!
//! ```
//! use gambeson_identity::tlog::{Log, MemoryStorage, Proof};
//! use gambeson_identity::{Agent, Role, Timestamp};
//!
//! let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
//! let key = agent.key(Role::Log);
//! let origin = format!("{}/audit", agent.did());
//! let mut log = Log::create(MemoryStorage::default(), &origin, key, now)?;
//! let first = log.append(&[b"called tool A", b"called tool B"], key, now)?;
//!
//! // Whoever has the entry, the proof and the log's key needs neither the log nor a network.
//! let proof = log.prove(first + 1)?.to_string();
//! let checked = Proof::parse(proof.as_bytes())?.verify(b"called tool B", &origin, &key.verifying_key(), now)?;
//! assert_eq!((checked.index, checked.checkpoint.size), (1, 2));
//! # Ok::<(), gambeson_identity::Error>(())
//! ```
//!
//! The tree is that of RFC 6962, §2.1, with SHA-256. What is stored are the files of c2sp.org/tlog-tiles: hashes in tiles of
//! 256, entries in bundles, and `checkpoint`. A checkpoint (c2sp.org/tlog-checkpoint) is a signed note whose signature
//! is an ML-DSA-44 cosignature of the log itself (c2sp.org/tlog-cosignature, signature type 0x06), as that
//! page recommends for logs. A proof is a file of `c2sp.org/tlog-proof@v1`. `docs/spec/log.md` says all of it.
//!
//! | what | bytes |
//! | --- | --- |
//! | entry | at most 65,535 |
//! | checkpoint | about 3,400 |
//! | proof | checkpoint and 45 for each of at most 63 hashes |
//!
//! Layout: `merkle` the tree, `tile` names of files, `note` signed notes, `checkpoint`, `proof`, `log`, `storage`.

mod checkpoint;
#[cfg(not(target_family = "wasm"))]
mod directory;
mod log;
mod merkle;
mod note;
mod proof;
mod storage;
mod tile;

pub use checkpoint::{Checkpoint, SignedCheckpoint, key_id, verifier_key};
#[cfg(not(target_family = "wasm"))]
pub use directory::{DirectoryLock, DirectoryStorage};
pub use log::Log;
pub use merkle::{Hash, leaf_hash, verify_consistency, verify_inclusion};
pub use proof::{Included, Proof};
pub use storage::{MemoryStorage, Storage};

/// The longest entry in bytes: its length stands in two bytes.
pub const MAX_ENTRY: usize = 65_535;
/// How far a log's clock may run ahead of the verifier's, in seconds.
pub const MAX_AHEAD: u64 = 300;
