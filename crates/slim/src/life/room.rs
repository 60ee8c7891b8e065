//! Room in the log: a checkpoint whenever it has grown by so much, since an engine forgets only what stands before one; and what is done where
//! there is no room all the same.
//!
//! One member is enough. Who made the newest commit is the first, whose checkpoint comes after a commit too; all others have their turns, by which
//! they see the checkpoint of whoever was before them, if he is there.

use std::time::Duration;

use tokio::time::Instant;

use super::work::patience;
use super::{Life, by};
use crate::content::CheckpointEntry;
use crate::error::{Error, Result};
use crate::log::{EntryKind, Record};

/// For how long there may be no room before those who wait for it are told.
const PATIENCE: Duration = Duration::from_secs(15);
/// How many make room one after the other where there is none; who comes after them does it with the last.
const TURNS: u32 = 32;

/// What a member knows of the room in the log.
#[derive(Default)]
pub(super) struct Room {
    /// Up to where entries were counted,
    counted: u64,
    /// how many there are since the newest checkpoint, as far as this member has seen, and their bytes.
    grown: (u64, u64),
    /// Nothing stands behind the newest checkpoint: another would make no room.
    fresh: bool,
    /// It is this member's turn to make a checkpoint.
    wanted: bool,
    /// Since when the service says that it has no room, and how often it said so.
    full: Option<(Instant, u32)>,
    /// Since when it has none for a commit, also where something else still found some.
    refused: Option<Instant>,
    /// Where the newest commit of this member stands.
    pub(super) mine: u64,
}

impl Room {
    /// As far as is known.
    pub(super) const fn is_there(&self) -> bool {
        self.full.is_none()
    }

    /// Something found room.
    pub(super) const fn came(&mut self) {
        self.full = None;
    }

    /// A commit did, or nobody waits for one any more.
    pub(super) const fn came_for_commit(&mut self) {
        self.refused = None;
    }

    /// Whether it is this member's turn; it was then.
    pub(super) fn is_wanted(&mut self) -> bool {
        std::mem::take(&mut self.wanted)
    }

    /// A checkpoint stands at this place.
    fn behind(&mut self, place: u64) {
        self.counted = self.counted.max(place);
        (self.grown, self.fresh, self.wanted, self.full) = ((0, 0), true, false, None);
    }
}

impl Life {
    /// An entry of the log was read: perhaps the log has grown by enough.
    pub(super) fn count(&mut self, record: &Record) {
        if record.place <= self.room.counted {
            return;
        }
        let (entry, epoch) = (&record.entry, self.member.epoch());
        // What another wrote there, or one of an earlier epoch, brings nobody back.
        let is_checkpoint = entry.kind == EntryKind::Checkpoint
            && CheckpointEntry::of_content(&entry.content, &self.surface).is_ok_and(|of| of.epoch == epoch);
        if is_checkpoint {
            self.room.behind(record.place);
            self.timers.room = None;
            return;
        }
        (self.room.counted, self.room.fresh) = (record.place, false);
        self.room.grown.0 += 1;
        self.room.grown.1 += entry.content.len() as u64;
        if self.has_grown() {
            let wait = self.shared.options.checkpoint.saturating_mul(self.turn().saturating_add(1));
            by(&mut self.timers.room, wait);
        }
    }

    fn has_grown(&self) -> bool {
        let (options, (entries, bytes)) = (&self.shared.options, self.room.grown);
        entries >= options.checkpoint_entries || bytes >= options.checkpoint_bytes
    }

    /// How many come before this member.
    fn turn(&self) -> u32 {
        if self.room.mine == self.commit {
            return 0;
        }
        let me = self.listed.iter().position(|(_, member)| member.did == self.shared.did).unwrap_or_default();
        let turn = (me as u64).wrapping_add(self.commit) % (self.listed.len() as u64).max(1);
        u32::try_from(turn).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// It is this member's turn: at once, though something else waits to be tried again.
    pub(super) fn want_room(&mut self) {
        self.room.wanted = true;
        self.timers.retry = None;
    }

    /// This member made a checkpoint. Where others may be about to make one, they are told.
    pub(super) fn made_checkpoint(&mut self, place: u64) {
        if self.has_grown() || !self.room.is_there() {
            self.appended_to = self.appended_to.max(place);
            by(&mut self.timers.head, self.shared.options.announce);
        }
        self.room.behind(place);
        self.timers.room = None;
    }

    /// Something failed: for want of room, perhaps. A checkpoint makes some. Where it does not, those who wait are told.
    pub(super) fn no_room(&mut self, error: &Error) -> Result<()> {
        let Error::Full(quota) = error else { return Ok(()) };
        let (since, times) = self.room.full.unwrap_or_else(|| (Instant::now(), 0));
        self.room.full = Some((since, times + 1));
        // Another may have made a checkpoint meanwhile; that the log can be read does not make the next try an earlier one.
        self.behind = true;
        let retry = self.shared.options.retry;
        self.timers.retry = Some(Instant::now() + patience(retry, times));
        if !self.room.fresh {
            match times {
                0 => {
                    let wait = retry.saturating_mul(self.turn().min(TURNS));
                    by(&mut self.timers.room, wait);
                }
                _ => self.room.wanted = self.timers.room.is_none(),
            }
        }
        let since = self.room.refused.map_or(since, |refused| refused.min(since));
        if since.elapsed() < PATIENCE {
            return Ok(());
        }
        self.room.came_for_commit();
        for answer in self.rejoin.take().into_iter().flatten() {
            self.answer(answer, Err(Error::Full(*quota)));
        }
        self.give_up_wishes(*quota)
    }

    /// The same, of a checkpoint: what waits is tried before the next.
    pub(super) fn no_room_for_checkpoint(&mut self, error: &Error) -> Result<()> {
        self.no_room(error)?;
        if let (true, Some((_, times))) = (self.room.is_wanted(), self.room.full) {
            let wait = patience(self.shared.options.retry, times).saturating_mul(2);
            by(&mut self.timers.room, wait);
        }
        Ok(())
    }

    /// The same, of a commit.
    pub(super) fn no_room_for_commit(&mut self, error: &Error) -> Result<()> {
        if let Error::Full(_) = error {
            self.room.refused.get_or_insert_with(Instant::now);
        }
        self.no_room(error)
    }
}
