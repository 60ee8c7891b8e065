//! What a member keeps at rest: pieces, of which those that changed are written together.

use std::collections::BTreeMap;
use std::sync::Arc;

use gambeson_identity::{Did, json};
use mls_rs::group::{CommitSecrets, ExportedTree};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::change::Waiting;
use super::identities::Shared;
use super::judge::policy_bytes;
use super::me::{KEY_PACKAGE_LIFETIME, Me};
use super::refused::refused;
use super::vault::{PAST_EPOCHS, SecretBytes, Vault};
use super::{Member, credential};
use crate::cards::Cards;
use crate::error::Result;
use crate::policy::{Policy, SignedPolicy};
use crate::refusal::{Reason, Refusal};

/// How many messages may be sealed before [`Member::state`] is asked for again. So many keys are skipped after a restart: none is used twice, whatever
/// was sent after the state was written.
pub const RESERVED: u32 = 64;

/// A piece of a member's state: its name, and its content, which is secret; without content it is to be deleted.
///
/// Names are `member`, `group`, `tree`, `pending` and `epoch/N`.
pub type Piece = (String, Option<SecretBytes>);

/// What changed since the state was last asked for.
#[derive(Debug, Default)]
pub(super) struct Written {
    sent: u32,
    received: bool,
    /// Whether a message of an epoch that is over was read, which mls-rs has in memory since.
    looked_back: bool,
    /// The epoch whose tree and member was given out.
    epoch: Option<u64>,
    pending: bool,
    gone: bool,
    /// Keys that may have been used before a restart are still to be skipped.
    skip: bool,
}

impl Written {
    pub(super) const fn sent(&self) -> u32 {
        self.sent
    }

    pub(super) const fn sealed(&mut self) {
        self.sent += 1;
    }

    /// A message was read, perhaps of an epoch that is over.
    pub(super) const fn received(&mut self, over: bool) {
        self.received = true;
        self.looked_back |= over;
    }

    pub(super) const fn committed(&mut self) {
        self.pending = true;
    }

    pub(super) const fn abandoned(&mut self) {
        self.pending = true;
    }

    pub(super) const fn gone(&mut self) {
        self.gone = true;
    }
}

impl Member {
    /// Lets go of epochs that are too old. mls-rs has the one that is over in memory until the state is written, for which it copies its tree: here only
    /// if the state was not asked for in that epoch, or something of an earlier one was read since.
    pub(super) fn settle_epoch(&mut self) -> Result<()> {
        let epoch = self.epoch();
        if self.written.looked_back || self.written.epoch.is_none_or(|written| written + 1 < epoch) {
            self.group.write_to_storage_without_ratchet_tree().map_err(|error| refused(&error))?;
            self.written.looked_back = false;
        }
        let oldest = epoch.saturating_sub(PAST_EPOCHS);
        self.vault.hold().forget_before(oldest);
        self.former.retain(|(until, _)| *until >= oldest);
        // Keys of the new epoch begin anew.
        (self.written.sent, self.written.skip) = (0, false);
        self.written.pending = true;
        Ok(())
    }

    /// Whether the state must be asked for before anything more is sealed.
    #[must_use]
    pub const fn must_write(&self) -> bool {
        self.written.sent >= RESERVED
    }

    /// What changed since this was last called, for one atomic write of the sealed store. It is written before anything that was made meanwhile
    /// leaves: a commit, or more than [`RESERVED`] messages. Nothing changed: nothing is returned.
    ///
    /// # Errors
    /// [`Reason::Protocol`].
    pub fn state(&mut self) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        if self.removed {
            return Ok(self.erased());
        }
        let epoch = self.epoch();
        let newer = self.written.epoch != Some(epoch);
        if !newer && self.written.sent == 0 && !self.written.received && !self.written.pending {
            return Ok(pieces);
        }
        if std::mem::take(&mut self.written.skip) {
            for _ in 0..RESERVED {
                self.group.next_encryption_key().map_err(|error| refused(&error))?;
            }
        }
        self.group.write_to_storage_without_ratchet_tree().map_err(|error| refused(&error))?;
        if newer {
            let tree = self.group.export_tree().to_bytes().map_err(|error| refused(&error))?;
            pieces.push(("tree".to_owned(), Some(Zeroizing::new(tree))));
            pieces.push(("member".to_owned(), Some(Zeroizing::new(self.record()?))));
        }
        let pending = self.pending.as_ref().map(Waiting::to_bytes).transpose()?;
        pieces.push(("pending".to_owned(), pending));
        let mut kept = self.vault.hold();
        pieces.push(("group".to_owned(), kept.group.clone()));
        for touched in std::mem::take(&mut kept.touched) {
            pieces.push((format!("epoch/{touched}"), kept.epochs.get(&touched).cloned()));
        }
        drop(kept);
        self.written = Written { epoch: Some(epoch), ..Written::default() };
        Ok(pieces)
    }

    /// A member that was removed keeps that it was, and nothing to read with.
    fn erased(&mut self) -> Vec<Piece> {
        if !std::mem::take(&mut self.written.gone) {
            return Vec::new();
        }
        let mut kept = self.vault.hold();
        kept.group = None;
        let epochs: Vec<u64> =
            std::mem::take(&mut kept.epochs).into_keys().chain(kept.touched.clone()).collect();
        let names = ["member", "group", "tree", "pending"].into_iter().map(str::to_owned);
        names
            .chain(epochs.into_iter().map(|epoch| format!("epoch/{epoch}")))
            .map(|name| (name, None))
            .collect()
    }

    /// What is not in the group: canonical JSON.
    fn record(&self) -> Result<Vec<u8>> {
        let former: Vec<Value> = self
            .former
            .iter()
            .map(|(until, policy)| json!([until, String::from_utf8_lossy(&policy.to_bytes())]))
            .collect();
        let record = json!({
            "v": 1,
            "did": self.me.did().as_str(),
            "suite": self.suite.number(),
            "signature": self.policy.signature(),
            "former": former,
        });
        Ok(json::canonicalize(&record).map_err(|error| Refusal::new(Reason::Protocol, error))?)
    }

    /// A member as it was when its state was last written, which is asked for again before it seals anything: [`RESERVED`] keys were skipped. The agent
    /// may have another card by now: the next commit brings it.
    ///
    /// # Errors
    /// [`Reason::BadState`] for pieces that are not whole or are another agent's; [`Reason::WrongSuite`].
    pub fn restore(
        me: &Me,
        cards: &Arc<Cards>,
        pieces: impl IntoIterator<Item = (String, SecretBytes)>,
    ) -> Result<Self> {
        let bad = |what: &str| Refusal::new(Reason::BadState, what);
        let mut pieces: BTreeMap<String, SecretBytes> = pieces.into_iter().collect();
        let record = pieces.remove("member").ok_or_else(|| bad("the piece member is missing"))?;
        let record = Record::read(&record)?;
        if record.did != *me.did() {
            return Err(bad("the state belongs to another agent").into());
        }
        let suite = me.suite(record.suite)?;
        let (shared, vault) = (Shared::default(), Vault::default());
        let tree = pieces.remove("tree").ok_or_else(|| bad("the piece tree is missing"))?;
        let tree = ExportedTree::from_bytes(&tree).map_err(|_| bad("the piece tree is malformed"))?;
        let pending = pieces.remove("pending").map(|bytes| Waiting::from_bytes(&bytes)).transpose()?;
        {
            let mut kept = vault.hold();
            kept.group = pieces.remove("group");
            for (name, bytes) in pieces {
                let epoch = name.strip_prefix("epoch/").and_then(|epoch| epoch.parse().ok());
                kept.epochs.insert(epoch.ok_or_else(|| bad("unknown piece of the state"))?, bytes);
            }
        }
        let client = me.client(suite, cards, &shared, &vault, KEY_PACKAGE_LIFETIME)?;
        let group = client
            .load_group_with_ratchet_tree(&[], tree)
            .map_err(|_| bad("the state of the group is incomplete"))?;
        let bytes = policy_bytes(group.context())?;
        let policy = SignedPolicy::read(bytes, &record.signature)?;
        let mut member = Self {
            me: me.clone(),
            cards: Arc::clone(cards),
            suite,
            shared,
            vault,
            group,
            policy,
            former: record.former,
            pending,
            removed: false,
            written: Written::default(),
        };
        member.written.epoch = Some(member.epoch());
        member.sign_as_before()?;
        // Keys are skipped, and that is written, before one is used: a second restart must not come back to here. Until then none is lost,
        // however often a member is restored that says nothing.
        member.written.sent = RESERVED;
        member.written.skip = true;
        Ok(member)
    }

    /// Lets the group sign with the key of its leaf, where the agent has a newer one.
    fn sign_as_before(&self) -> Result<()> {
        let identity = self.group.current_member_signing_identity().map_err(|error| refused(&error))?;
        self.me.signing_of(&credential(identity)?, self.suite, &self.cards).map(drop)
    }
}

/// The piece `member`.
struct Record {
    did: Did,
    suite: u16,
    signature: String,
    former: Vec<(u64, Policy)>,
}

impl Record {
    fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        let bad = || Refusal::new(Reason::BadState, "the piece member is malformed");
        let object = json::parse_object(bytes, 8 << 20).map_err(|_| bad())?;
        let text = |name: &str| object.get(name).and_then(Value::as_str).ok_or_else(bad);
        let former = object.get("former").and_then(Value::as_array).ok_or_else(bad)?;
        let former = former.iter().map(|entry| {
            let (until, policy) =
                (entry.get(0).and_then(Value::as_u64), entry.get(1).and_then(Value::as_str));
            let (until, policy) = until.zip(policy).ok_or_else(bad)?;
            Ok((until, Policy::from_bytes(policy.as_bytes())?))
        });
        let suite = object.get("suite").and_then(Value::as_u64).and_then(|suite| u16::try_from(suite).ok());
        Ok(Self {
            did: text("did")?.parse().map_err(|_| bad())?,
            suite: suite.ok_or_else(bad)?,
            signature: text("signature")?.to_owned(),
            former: former.collect::<Result<_, Refusal>>()?,
        })
    }
}

impl Waiting {
    fn to_bytes(&self) -> Result<SecretBytes> {
        let secrets = Zeroizing::new(self.secrets.to_bytes().map_err(|error| refused(&error))?);
        let mut bytes = Zeroizing::new(Vec::with_capacity(4 + self.commit.len() + secrets.len()));
        let len = u32::try_from(self.commit.len()).map_err(|error| Refusal::new(Reason::Protocol, error))?;
        bytes.extend_from_slice(&len.to_be_bytes());
        bytes.extend_from_slice(&self.commit);
        bytes.extend_from_slice(&secrets);
        Ok(bytes)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let bad = || Refusal::new(Reason::BadState, "the piece pending is malformed");
        let (len, rest) = bytes.split_first_chunk::<4>().ok_or_else(bad)?;
        let len = usize::try_from(u32::from_be_bytes(*len)).map_err(|_| bad())?;
        let (commit, secrets) = rest.split_at_checked(len).ok_or_else(bad)?;
        let secrets = CommitSecrets::from_bytes(secrets).map_err(|_| bad())?;
        Ok(Self { commit: bytes::Bytes::copy_from_slice(commit), secrets })
    }
}
