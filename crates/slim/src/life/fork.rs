//! Forks: signed views that differ, whose word counts, and what ends a fork.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use bytes::Bytes;
use gambeson_identity::{Did, Kind, Relationship, Resolver, Role as KeyRole};

use super::commit::Wish;
use super::{Life, by};
use crate::content::Upto;
use crate::error::{Error, Result};
use crate::event::{Event, Fork};
use crate::frame::Frame;
use crate::member::{Changed, PAST_EPOCHS};
use crate::name::Name;
use crate::wire::{Malformed, Reader, Writer};

/// The context of signatures of views (FIPS 204, §5.2).
const VIEW: &[u8] = b"gambeson channel view v1";

/// How long ago the log may have been read that something is appended to while a fork is not decided on.
const LATELY: Duration = Duration::from_secs(1);

type Tag = [u8; 16];

/// How others see the channel, as far as they said so.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Views {
    /// From which epoch on the word of a member counts: its leaf came then, or what was before is decided on. That of all others always
    /// counts.
    since: BTreeMap<Tag, u64>,
    /// The newest epoch of which something by a member was opened here: up to there it sees the same. A restart forgets it.
    agreed: HashMap<Tag, u64>,
    /// Who sees another channel, by DID: this member itself, if the log shows another entry where it had read one.
    dissenting: BTreeSet<String>,
    /// The names that the channel had before removals, the oldest first.
    former: Vec<Former>,
}

/// A name that the channel had before a removal.
#[derive(Debug, PartialEq, Eq)]
struct Former {
    name: Name,
    /// The epoch that began with the removal.
    until: u64,
    /// Whether this member removed.
    mine: bool,
}

impl Views {
    fn counts(&self, tag: &Tag, epoch: u64) -> bool {
        let agreed = self.agreed.get(tag).is_some_and(|agreed| epoch <= *agreed);
        !agreed && self.since.get(tag).is_none_or(|since| epoch >= *since)
    }

    fn to_bytes(&self) -> Vec<u8> {
        Writer::default()
            .count(self.since.len())
            .each(&self.since, |to, (tag, since)| to.put(tag).u64(*since))
            .count(self.dissenting.len())
            .each(&self.dissenting, |to, did| to.text(did))
            .count(self.former.len())
            .each(&self.former, |to, Former { name, until, mine }| {
                name.parts().iter().fold(to, |to, part| to.text(part)).u64(*until).u8(u8::from(*mine))
            })
            .finish()
    }

    /// Nothing of a life in which nothing of this was ever written.
    pub(super) fn parse(bytes: Option<Bytes>) -> Result<Self, Malformed> {
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let mut fields = Reader::new(bytes);
        let since =
            (0..fields.count(24)?).map(|_| Ok((fields.array()?, fields.u64()?))).collect::<Result<_, _>>()?;
        let dissenting = (0..fields.count(2)?).map(|_| fields.text()).collect::<Result<_, _>>()?;
        let former = (0..fields.count(15)?)
            .map(|_| {
                let name = Name::new(fields.text()?, fields.text()?, fields.text()?);
                Ok(Former { name, until: fields.u64()?, mine: fields.u8()? == 1 })
            })
            .collect::<Result<_, _>>()?;
        fields.end()?;
        Ok(Self { since, agreed: HashMap::new(), dissenting, former })
    }
}

impl Life {
    /// What is done while nobody has decided: nothing is said, and nobody let in. Who can decide gets what it needs, and who may takes out
    /// who lies.
    pub(super) fn begin_work_in_fork(&mut self) {
        if self.rejoin.is_some() {
            let follows = self.stuck.is_none() && !self.unsure && !self.passed_over;
            let shown = self.shown.is_some_and(|(shown, _)| shown);
            return if follows && shown { self.stay() } else { self.look_for_snapshot() };
        }
        let mends =
            self.timers.gather.is_none() && self.pending.is_none() && self.wishes.iter().any(Wish::mends);
        // What makes room is made here as well, and a commit that found none is tried again.
        self.wants_checkpoint |= self.room.is_wanted();
        let waits = self.pending.is_some() && !self.placed;
        if !mends && !waits && !self.wants_checkpoint {
            return;
        }
        if self.is_against_log() || self.stuck.is_some() {
            // What this member would put into the log is of another channel than the one that stands there.
            self.wants_checkpoint = false;
            return self.refuse_wishes();
        }
        if self.shown.take().is_none_or(|(_, at)| at.elapsed() > LATELY) {
            // The log may have turned to the other side.
            self.behind = true;
            return self.begin_work();
        }
        if std::mem::take(&mut self.wants_checkpoint) {
            self.make_checkpoint();
            if self.work.is_some() {
                return;
            }
        }
        if self.append_commit() {
            return;
        }
        if mends {
            self.make_commit();
            if self.work.is_none() {
                by(&mut self.timers.gather, Duration::ZERO);
            }
        }
    }

    /// The decision for what the log shows, which is this side: nobody's word on an epoch up to this one counts any more.
    fn stay(&mut self) {
        let next = self.member.epoch() + 1;
        self.views.since = self.listed.iter().map(|(tag, _)| (*tag, next)).collect();
        self.views.dissenting.clear();
        self.forked = false;
        self.tries = 0;
        self.write_views();
        self.write_places();
        for answer in self.rejoin.take().into_iter().flatten() {
            self.answer(answer, Ok(()));
        }
        // Who asked is told at once.
        by(&mut self.timers.gather, Duration::ZERO);
    }

    /// Tells of a fork, once until somebody decides.
    fn fork(&mut self, epoch: u64, ours: [u8; 16], theirs: [u8; 16], by: Option<String>) {
        let who = by.clone().unwrap_or_else(|| self.did().to_owned());
        if self.views.dissenting.insert(who) {
            self.write_views();
        }
        if !self.forked {
            self.tell(Event::Fork(Fork { epoch, ours, theirs, by }));
            self.write_places();
        }
    }

    /// The log shows another entry than this one where this member had read one.
    pub(super) fn log_differs(&mut self, theirs: [u8; 16]) {
        self.searched = std::sync::Arc::default();
        self.fork(self.member.epoch(), self.authenticator(), theirs, None);
        for (_, answer) in std::mem::take(&mut self.caught_up) {
            self.answer(answer, Err(Error::Forked));
        }
    }

    pub(super) fn is_against_log(&self) -> bool {
        self.views.dissenting.contains(self.did())
    }

    /// Something that a member said in an epoch was opened: it sees the same channel up to there.
    pub(super) fn agrees(&mut self, did: &Did, epoch: u64) {
        let agreed = self.views.agreed.entry(Upto::tag(did.as_str())).or_default();
        *agreed = epoch.max(*agreed);
    }

    /// A commit holds. If the last who saw another channel came back into this one by it, or was taken out, the fork is over.
    pub(super) fn views_after(&mut self, changed: &Changed) {
        if changed.by != self.shared.did {
            self.agrees(&changed.by, changed.epoch);
        }
        let before = (self.views.since.len(), self.views.dissenting.len(), self.views.former.len());
        let returned = changed.rejoined.then_some(&changed.by);
        for did in changed.added.iter().chain(returned) {
            self.views.since.insert(Upto::tag(did.as_str()), changed.epoch);
        }
        for did in &changed.removed {
            self.views.since.remove(&Upto::tag(did.as_str()));
            self.views.agreed.remove(&Upto::tag(did.as_str()));
        }
        for did in changed.removed.iter().chain(returned) {
            self.views.dissenting.remove(did.as_str());
        }
        if before.1 > 0 && self.views.dissenting.is_empty() {
            self.forked = false;
        }
        // Of epochs before these nobody's word counts.
        let oldest = self.authenticators.keys().next().copied().unwrap_or_default();
        self.views.since.retain(|_, since| *since > oldest);
        self.leave_names(|until| until + PAST_EPOCHS <= changed.epoch);
        let after = (self.views.since.len(), self.views.dissenting.len(), self.views.former.len());
        if before != after || !changed.added.is_empty() || !changed.removed.is_empty() || changed.rejoined {
            self.write_views();
        }
    }

    /// This member came back by the log's side: what was said before counts no more.
    pub(super) fn views_after_return(&mut self) {
        self.leave_names(|_| true);
        self.views = Views::default();
        self.write_views();
    }

    fn write_views(&mut self) {
        self.writes.put(&self.row("life"), 2, self.views.to_bytes());
    }

    /// The channel is on another name from a removal on. Those who did not take the removal are still on the old one.
    pub(super) fn move_on(&mut self, changed: &Changed, to: Name) {
        let name = self.surface.route();
        self.shared.move_on(self.id, name.clone(), to);
        let mine = changed.by == self.shared.did;
        self.views.former.push(Former { name, until: changed.epoch, mine });
    }

    fn leave_names(&mut self, over: impl Fn(u64) -> bool) {
        let (gone, former) =
            std::mem::take(&mut self.views.former).into_iter().partition::<Vec<_>, _>(|it| over(it.until));
        self.views.former = former;
        gone.into_iter().for_each(|it| self.shared.stop_listening(it.name));
    }

    pub(crate) fn former_names(&self) -> Vec<Name> {
        self.views.former.iter().map(|it| it.name.clone()).collect()
    }

    /// A frame on a name that the channel had before a removal. Who was removed knows the name: nothing is taken from there but the sign of
    /// a fork.
    pub(super) fn on_former_name(&mut self, frame: Frame) -> Result<()> {
        match frame {
            Frame::Entry { content, .. } => self.compare(&content),
            Frame::View { did, epoch, authenticator, signature, .. } => {
                self.viewed(&did, epoch, authenticator, &signature)
            }
            _ => Ok(()),
        }
    }

    /// How this member sees an epoch that another authenticator is said of.
    pub(super) fn differs(&self, epoch: u64, theirs: [u8; 16]) -> Option<[u8; 16]> {
        self.authenticators.get(&epoch).copied().filter(|ours| *ours != theirs)
    }

    /// Members have said nothing for long. If they did not take a removal, they are where the channel was before: who removed shows its view
    /// there.
    pub(super) fn show_view_to_silent(&mut self) -> Result<()> {
        match self.views.former.iter().find(|it| it.mine).map(|it| it.until) {
            Some(epoch) => self.show_view(epoch),
            None => Ok(()),
        }
    }

    /// Shows how this member sees an epoch, signed, so that two who differ find out.
    pub(super) fn show_view(&mut self, epoch: u64) -> Result<()> {
        if self.timers.view.is_some() {
            return Ok(());
        }
        by(&mut self.timers.view, self.shared.options.view);
        let Some(authenticator) = self.authenticators.get(&epoch).copied() else { return Ok(()) };
        let said = self.view_bytes(epoch, authenticator);
        if let Ok(signature) = self.present.me.agent().key(KeyRole::Signing).sign(VIEW, &said) {
            let did = self.did().to_owned();
            let frame =
                Frame::View { channel: self.id, did, epoch, authenticator, signature: signature.into() };
            for name in self.former_names() {
                self.outward.push((name, frame.clone()));
            }
            self.outward.push((self.surface.route(), frame));
        }
        Ok(())
    }

    fn view_bytes(&self, epoch: u64, authenticator: [u8; 16]) -> Vec<u8> {
        Writer::default().put(&self.id.0).u64(epoch).put(&authenticator).finish()
    }

    /// How another member sees an epoch.
    pub(super) fn viewed(&mut self, did: &str, epoch: u64, theirs: [u8; 16], signature: &[u8]) -> Result<()> {
        let Some(ours) = self.differs(epoch, theirs) else { return Ok(()) };
        let Ok(by) = did.parse::<Did>() else { return Ok(()) };
        let counts = by != self.shared.did && self.views.counts(&Upto::tag(did), epoch);
        if !counts || !self.dids().contains(&by) {
            return Ok(());
        }
        let said = self.view_bytes(epoch, theirs);
        let now = self.now();
        let Ok(document) = self.shared.cards.resolve(&by, now) else { return Ok(()) };
        let signed = document.methods().any(|method| {
            document
                .key_for(method.id(), Kind::JsonWebKey, Relationship::AssertionMethod, now)
                .is_ok_and(|key| key.verify(VIEW, &said, signature).is_ok())
        });
        if signed {
            self.show_view(epoch)?;
            self.fork(epoch, ours, theirs, Some(did.to_owned()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    #[test]
    fn what_is_kept_of_views_is_read_as_it_was() {
        let views = Views {
            since: BTreeMap::from([([1; 16], 7), ([2; 16], u64::MAX)]),
            agreed: HashMap::new(),
            dissenting: BTreeSet::from(["did:gambeson:a".to_owned()]),
            former: vec![Former { name: Name::new("gambeson", "channels", "0123"), until: 9, mine: true }],
        };
        assert_eq!(Views::parse(Some(views.to_bytes().into())).unwrap(), views);
        assert_eq!(Views::parse(None).unwrap(), Views::default());
        let mut longer = views.to_bytes();
        longer.push(0);
        assert_eq!(Views::parse(Some(longer.into())), Err(Malformed));
    }
}
