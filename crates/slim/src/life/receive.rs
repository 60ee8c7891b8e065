//! What comes in: frames, entries of the log, messages; and what came of works.

use bytes::Bytes;
use gambeson_identity::Timestamp;
use tokio::time::Instant;

use super::back::MOST_RETURNS;
use super::work::Done;
use super::{EPOCHS_AHEAD, FRAMES_A_TURN, Failed, Inward, Life, MOST_AHEAD, Outgoing, due};
use crate::archive::random;
use crate::bridge_news::BridgeNews;
use crate::content::{Bundle, CheckpointEntry, Complaint, Mark, MarkKind, MessageId, Payload, Peek, Upto};
use crate::error::{Error, Result};
use crate::event::{Event, Warning};
use crate::frame::Frame;
use crate::log::{EntryId, EntryKind, Page, Placed, Record};
use crate::member::{Application, PAST_EPOCHS, Processed};
use crate::order::{Arrived, Heard, Source};
use crate::refusal::Reason;
use crate::wire::Malformed;

/// After how many received messages the state is written again, so that keys which were used are gone from the disk too.
const RECEIVED_UNWRITTEN: u32 = 256;

/// No sender counts further: it would take ten thousand years.
const LAST_COUNTER: u64 = 1 << 48;
/// How much that the log took is remembered before the log is read up to it.
const MOST_UNREAD: usize = 256;

impl Life {
    pub(super) fn inward(&mut self, inward: Inward) -> Result<()> {
        match inward {
            Inward::Blocked => {
                // What others say comes no better, by the link.
                self.behind = true;
                self.blocked = Some(Instant::now() + 2 * self.shared.options.poll);
                self.look_for_silence()
            }
            Inward::Gap => {
                self.behind = true;
                super::by(&mut self.timers.head, self.shared.options.announce);
                Ok(())
            }
            Inward::Former(frame) => self.on_former_name(frame),
            // The turn ends with a look at it.
            Inward::Renewed => Ok(()),
            Inward::Frame(Frame::Entry { id, kind, content }) => self.entry(id, kind, content, None),
            Inward::Frame(Frame::Head { last }) => {
                self.behind |= last > self.read;
                Ok(())
            }
            Inward::Frame(Frame::Ask { did, .. }) => self.asked(&did),
            Inward::Frame(Frame::Answer { envelope, .. }) => self.answered(&envelope),
            Inward::Frame(Frame::View { did, epoch, authenticator, signature, .. }) => {
                self.viewed(&did, epoch, authenticator, &signature)
            }
            Inward::Frame(Frame::Invitation { .. }) => Ok(()),
        }
    }

    /// What came of a work.
    pub(super) async fn finish(&mut self, done: Done) -> Result<()> {
        match done {
            Done::Failed(error) => {
                self.again(&error);
                // What was taken out for the work is read again, and all behind it.
                self.backlog.clear();
                self.behind = true;
                self.tell_not_read(&error);
                self.interrupted()?;
            }
            Done::Page(Ok(page)) => self.page(page)?,
            Done::Page(Err(error)) => {
                self.behind = true;
                self.again(&error);
                self.tell_not_read(&error);
            }
            Done::Opened(record, Ok(entry)) => {
                self.opened(record, entry).await?;
                if !self.over {
                    self.drain_backlog()?;
                }
            }
            Done::Opened(record, Err(error)) => {
                let missing = matches!(error, Error::BlobMissing(_));
                self.not_opened(record, &error, missing)?;
            }
            Done::Slow(record, error) => self.not_opened(record, &error, true)?,
            Done::Cards(Ok(())) => self.tries = 0,
            Done::Cards(Err(error)) => self.again(&error),
            Done::Taken(all) => self.taken(all),
            Done::Prepared(prepared) => self.prepared(prepared)?,
            Done::Committed(answer) => self.committed(answer)?,
            Done::Appended(answers) => self.appended(answers)?,
            Done::Errands(answers) => self.ran(answers)?,
            Done::Checkpoint(Err(error)) => {
                self.checkpointed = None;
                self.again(&error);
                self.no_room_for_checkpoint(&error)?;
            }
            Done::Checkpoint(Ok(place)) => {
                self.tries = 0;
                self.made_checkpoint(place);
            }
            Done::Spoken(Err(error)) => {
                match error {
                    // What the log never takes is not said again.
                    Error::EntryTooLarge(_) | Error::TooLarge(_) => self.one_waits_no_more(),
                    Error::IdTaken => {
                        if let Some((id, ..)) = self.spoken.front_mut() {
                            *id = EntryId(random()?);
                        }
                    }
                    _ => self.failed = Some(Failed::Spoken),
                }
                self.again(&error);
                self.no_room(&error)?;
            }
            Done::Spoken(Ok(())) => {
                self.one_waits_no_more();
                self.tries = 0;
                self.room.came();
            }
            Done::Found(found) => self.found(found)?,
            Done::Rejoined(answer) => self.returned(answer).await?,
        }
        Ok(())
    }

    /// What waited for the log first is gone. Receipts were put off while others waited.
    fn one_waits_no_more(&mut self) {
        self.spoken.pop_front();
        if self.spoken.is_empty() {
            self.timers.receipt = Some(Instant::now() + self.receipt_time());
        }
    }

    /// The log is not read to its end: who waits for that is told, and who wants to come back once it was tried often.
    pub(super) fn tell_not_read(&mut self, error: &Error) {
        let mut waiting: Vec<_> =
            std::mem::take(&mut self.caught_up).into_iter().map(|(_, answer)| answer).collect();
        if self.tries > MOST_RETURNS {
            waiting.extend(self.rejoin.take().into_iter().flatten());
        }
        for answer in waiting {
            self.answer(answer, Err(Error::Service(error.to_string().into())));
        }
    }

    /// Errands were run. Those that failed are left, and run again after a while, which is the longer the more often none went well.
    fn ran(&mut self, answers: Vec<(u64, Result<()>)>) -> Result<()> {
        let row = self.row("errands");
        let mut failed = Vec::new();
        for (number, answer) in answers {
            match answer {
                Ok(()) => self.tries = 0,
                Err(Error::IdTaken) => {
                    if let Some((_, did, frame)) = self.errands.get(&number).cloned() {
                        self.write_errand(did, frame)?;
                    }
                }
                Err(error @ Error::EntryTooLarge(_)) => self.shared.report(self.id, &error),
                Err(error) => {
                    failed.push(error);
                    continue;
                }
            }
            self.errands.remove(&number);
            self.writes.delete(&row, number);
        }
        if let Some(last) = failed.pop() {
            failed.iter().for_each(|error| self.shared.report(self.id, error));
            self.failed = Some(Failed::Errands);
            self.again(&last);
        }
        Ok(())
    }

    fn appended(&mut self, answers: Vec<(u64, Result<Placed>)>) -> Result<()> {
        for (counter, answer) in answers {
            match answer {
                Ok(placed) => {
                    self.tries = 0;
                    self.room.came();
                    if let Placed::At(place) = placed {
                        self.appended_to = self.appended_to.max(place);
                    }
                    if let Some(outgoing) = self.outbox.remove(&counter) {
                        self.writes.delete(&self.row("outbox"), counter);
                        if let Placed::At(place) = placed
                            && place > self.read
                        {
                            self.unread
                                .insert(place, (counter, Outgoing { content: Bytes::new(), ..outgoing }));
                            self.behind |= self.unread.len() >= MOST_UNREAD;
                        }
                    }
                }
                Err(error @ (Error::EntryTooLarge(_) | Error::TooLarge(_))) => {
                    self.outbox.remove(&counter);
                    self.writes.delete(&self.row("outbox"), counter);
                    self.warn(Warning::Unsent { reason: error.to_string() });
                }
                // Who hears the link knows the id before the log does.
                Err(Error::IdTaken) => self.identify_again(counter)?,
                Err(error) => {
                    // Meanwhile the log may go on to epochs for which this is too old.
                    self.looks_first = true;
                    self.again(&error);
                    return self.no_room(&error);
                }
            }
        }
        if self.outbox.is_empty() {
            super::by(&mut self.timers.head, self.shared.options.announce);
        }
        Ok(())
    }

    /// A part of the log.
    fn page(&mut self, page: Page) -> Result<()> {
        self.tries = 0;
        let mut records = page.records;
        let first = page.head.first;
        self.shown = Some((false, Instant::now()));
        if self.last.0 > 0 && (first <= self.last.0 || page.head.last < self.last.0) {
            let stands = records.first().is_some_and(|first| (first.place, first.entry.id) == self.last);
            if !stands {
                let mut theirs = [0; 16];
                if let Some(first) = records.first() {
                    theirs = first.entry.id.0;
                }
                self.log_differs(theirs);
                return Ok(());
            }
            records.remove(0);
            self.shown = Some((true, Instant::now()));
        }
        if first > self.read + 1 {
            let (from, to) = (self.read + 1, first);
            self.warn(Warning::Pruned { from, to });
            self.read = to - 1;
            self.last = (0, EntryId([0; 16]));
            self.unsure = true;
            self.write_places();
            if page.head.commit > self.commit && page.head.commit < first {
                self.cannot_follow(page.head.commit, "the commit was deleted from the log", true);
            }
        }
        records.retain(|record| record.place > self.read);
        let end = records.last().map_or(self.read, |record| record.place);
        self.behind |= end < page.head.last;
        self.backlog.extend(records);
        self.drain_backlog()?;
        Ok(())
    }

    /// Takes messages from what was read, up to the next commit.
    pub(super) fn drain_backlog(&mut self) -> Result<()> {
        let mut taken = 0;
        while let Some(record) = self.backlog.front() {
            if taken == FRAMES_A_TURN {
                // The task writes what it has before it goes on.
                self.draining = true;
                return Ok(());
            }
            if record.entry.kind == EntryKind::Commit {
                let own = self.pending.as_ref().is_some_and(|pending| pending.id == record.entry.id);
                if !own && !self.is_old(record) {
                    return Ok(());
                }
            }
            let Some(record) = self.backlog.pop_front() else { break };
            taken += 1;
            self.count(&record);
            if self.own_commit(&record)? {
                continue;
            }
            if let Some((counter, outgoing)) = self.unread.remove(&record.place) {
                self.say_again(counter, outgoing)?;
            }
            if record.entry.kind != EntryKind::Commit {
                let Record { place, at, entry } = &record;
                match self.order.find(&entry.content) {
                    // It came by the link; what was to stand before it does not.
                    Some((source, counter)) => self.stand(&source, counter),
                    None if self.has_seen(&entry.content) => {}
                    None => {
                        self.entry(entry.id, entry.kind, entry.content.clone(), Some((*place, *at)))?;
                    }
                }
            }
            self.mark_read((record.place, record.entry.id));
        }
        if self.backlog.is_empty() && !self.behind {
            // Whoever is in an epoch has seen its commit in the log: what came before this was read, of an epoch that it does not have,
            // is of none.
            self.ahead.clear();
            for (source, counter) in self.order.overdue() {
                self.stand(&source, counter);
            }
            if self.timers.gap.is_none() {
                let gone = |tag: &[u8; 16]| self.listed.iter().all(|(there, _)| there != tag);
                let ready = self.order.give_up_strangers(self.joined, gone);
                if !ready.is_empty() {
                    self.give(ready);
                }
            }
            for (_, answer) in std::mem::take(&mut self.caught_up) {
                self.answer(answer, Ok(()));
            }
        }
        Ok(())
    }

    /// A commit that this member has behind it.
    fn is_old(&self, record: &Record) -> bool {
        record.place <= self.commit
    }

    /// An entry: by the link, or of the log, where it has a place and a time.
    fn entry(&mut self, id: EntryId, kind: EntryKind, content: Bytes, at: Option<(u64, u64)>) -> Result<()> {
        if self.has_seen(&content) {
            self.tally.dropped += 1;
            return Ok(());
        }
        match kind {
            EntryKind::Application | EntryKind::Receipt | EntryKind::Complaint => {}
            EntryKind::Checkpoint if at.is_some() => {
                // It shows as much as what is said in a later epoch, where nothing was.
                let of = CheckpointEntry::of_content(&content, &self.surface);
                if of.is_ok_and(|of| of.epoch > self.member.epoch()) {
                    self.others_went_on();
                }
                return Ok(());
            }
            // Only the log says of what kind an entry is.
            EntryKind::Checkpoint | EntryKind::Commit => return Ok(()),
        }
        let Ok((mark, peek, message)) = marked(&content) else {
            self.tally.dropped += 1;
            return Ok(());
        };
        let epoch = self.member.epoch();
        let possible = mark.born <= peek.epoch && mark.counter <= LAST_COUNTER;
        let foreign = peek.channel[..] != self.id.0[..] || peek.content_type != 1;
        if foreign || !possible || peek.epoch.saturating_add(PAST_EPOCHS) < epoch {
            self.tally.dropped += 1;
            return self.compare(&content);
        }
        if peek.epoch > epoch {
            self.behind |= at.is_none();
            if at.is_some() {
                // Others went on with a commit that this member passed over.
                self.others_went_on();
            }
            // What finds no room here is in the log too.
            let bytes: usize = self.ahead.iter().map(|(_, _, content)| content.len()).sum();
            let room = self.ahead.len() < MOST_AHEAD.0 && bytes + content.len() <= MOST_AHEAD.1;
            if room && peek.epoch - epoch <= EPOCHS_AHEAD {
                self.ahead.push_back((id, kind, content));
            }
            return Ok(());
        }
        if at.is_none() && mark.kind == MarkKind::Bundle && !self.order.has_room(mark.born, mark.counter) {
            // MLS opens a message once: without room it is left to the log.
            self.tally.dropped += 1;
            self.behind = true;
            return Ok(());
        }
        let time = at.map_or_else(|| self.now(), |(_, at)| Timestamp(at / 1000));
        match self.member.process(&message, time) {
            Ok(Processed::Application(said)) => {
                self.see(&content);
                self.agrees(&said.by, said.epoch);
                self.unwritten += 1;
                if self.unwritten >= RECEIVED_UNWRITTEN {
                    self.unwritten = 0;
                    self.write_member()?;
                }
                self.heard(said, mark, at.is_none().then_some(&content))
            }
            Ok(Processed::Commit(_)) => Ok(()),
            Err(error) => {
                self.tally.dropped += 1;
                if at.is_some() && peek.epoch == epoch && error.reason() == Some(Reason::TooFarAhead) {
                    self.wish_for_next_epoch();
                }
                self.compare(&content)
            }
        }
    }

    /// Whoever said this may see another channel than this member: then both find out.
    pub(super) fn compare(&mut self, content: &Bytes) -> Result<()> {
        match marked(content) {
            Ok((mark, peek, _)) if peek.channel[..] == self.id.0[..] => {
                match self.differs(peek.epoch, mark.authenticator) {
                    Some(_) => self.show_view(peek.epoch),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Frames that came before their epoch.
    pub(super) fn meet_ahead(&mut self) -> Result<()> {
        for (id, kind, content) in std::mem::take(&mut self.ahead) {
            self.entry(id, kind, content, None)?;
        }
        Ok(())
    }

    /// A message that MLS opened.
    fn heard(&mut self, said: Application, mark: Mark, link: Option<&Bytes>) -> Result<()> {
        let by = said.by.as_str().to_owned();
        let now = self.shared.options.clock.now();
        self.receipts.entry(Upto::tag(&by)).or_default().heard = now;
        match mark.kind {
            MarkKind::Bundle => {
                let possible = |(born, counter)| born < mark.born && (1..=LAST_COUNTER).contains(&counter);
                let Some(bundle) =
                    Bundle::parse(said.data).ok().filter(|bundle| bundle.former.is_none_or(possible))
                else {
                    self.tally.dropped += 1;
                    return Ok(());
                };
                let heard = Heard { joined: self.joined, epoch: said.epoch, link };
                self.bundle(&(by, mark.born), mark.counter, bundle, heard);
                Ok(())
            }
            MarkKind::Receipt => {
                self.take_receipt(&by, said.data);
                Ok(())
            }
            MarkKind::Complaint => {
                if let Ok(Complaint { place, reason }) = Complaint::parse(said.data) {
                    self.warn(Warning::Complaint { by, place, reason });
                }
                Ok(())
            }
            MarkKind::Leave => {
                self.lets_go(said.by);
                Ok(())
            }
        }
    }

    fn bundle(&mut self, source: &Source, counter: u64, bundle: Bundle, heard: Heard<'_>) {
        let logged = heard.link.is_none();
        if let Some((born, was)) = bundle.former.filter(|_| logged) {
            self.give_up(&(source.0.clone(), born), was);
        }
        match self.order.arrive(source, counter, bundle, heard) {
            Arrived::Duplicate | Arrived::Full => self.tally.dropped += 1,
            Arrived::Ready(ready) => self.give(ready),
            // Where only causes are missing, they stand further on.
            Arrived::Early if logged && self.order.next(source).is_some_and(|next| next < counter) => {}
            Arrived::Early => super::by(&mut self.timers.gap, self.shared.options.gap),
        }
        if logged {
            self.stand(source, counter);
        }
    }

    /// The log has a sender's bundles in their order: what is missing before one of them will not come.
    fn give_up(&mut self, source: &Source, counter: u64) {
        let gone_on = self.order.give_up(source, counter);
        self.go_on_without(source, gone_on);
    }

    /// The same, of one that waits.
    fn stand(&mut self, source: &Source, counter: u64) {
        let gone_on = self.order.stand(source, counter);
        self.go_on_without(source, gone_on);
    }

    fn go_on_without(&mut self, source: &Source, (missing, ready): (u64, Vec<(Source, u64, Bundle)>)) {
        if missing > 0 {
            self.warn(Warning::Missing { sender: source.0.clone(), bundles: missing });
        }
        if missing > 0 || !ready.is_empty() {
            self.give(ready);
        }
    }

    /// Gives bundles to the application.
    pub(super) fn give(&mut self, ready: Vec<(Source, u64, Bundle)>) {
        for ((sender, born), counter, bundle) in ready {
            for (index, payload) in (0..).zip(bundle.payloads) {
                let id = MessageId { sender: sender.clone(), born, counter, index };
                self.tally.received.0 += 1;
                self.tally.received.1 += payload.bytes.len() as u64;
                self.tell_said(id, payload);
            }
        }
        // The more wait for the log, the longer does the next: their keys are not without end. Others are not to think that nobody is here.
        let waiting = u32::try_from(self.spoken.len()).unwrap_or(u32::MAX);
        let longest = self.receipt_time().max(self.shared.options.silence / 2);
        let time = self.receipt_time().saturating_mul(waiting.saturating_add(1)).min(longest);
        super::by(&mut self.timers.receipt, time);
    }

    /// Tells of what a member said: of a bridge's words as such, if the policy lets there be bridges.
    pub(super) fn tell_said(&mut self, id: MessageId, Payload { purpose, bytes }: Payload) {
        if !BridgeNews::is_in(&bytes) {
            return self.tell(Event::Message { id, purpose, bytes });
        }
        let Ok(news) = BridgeNews::parse(&bytes) else {
            self.tally.dropped += 1;
            return;
        };
        if !self.member.policy().policy().bridge {
            return self.warn(Warning::ForbiddenBridge { member: id.sender });
        }
        match &news {
            BridgeNews::Open(end) => drop(self.tally.bridges.insert(id.sender.clone(), end.clone())),
            BridgeNews::Closed(_) => drop(self.tally.bridges.remove(&id.sender)),
            BridgeNews::Said(_) | BridgeNews::Missed(_) => {}
        }
        self.tell(Event::Bridge { id, news });
    }

    /// What a work had in its hands when it was lost is put back.
    fn interrupted(&mut self) -> Result<()> {
        if self.pending.is_none() && self.member.is_pending() {
            return self.prepared(Err(Error::WorkLost));
        }
        Ok(())
    }

    /// Whether it is time to go on with what was read.
    pub(super) fn go_on(&mut self) -> Result<()> {
        if std::mem::take(&mut self.draining) {
            self.drain_backlog()?;
        }
        due(&mut self.timers.retry);
        Ok(())
    }
}

/// The mark of an entry, which anyone can read, the head of its message, and the message.
fn marked(content: &Bytes) -> std::result::Result<(Mark, Peek, Bytes), Malformed> {
    let message = content.slice(1.min(content.len())..);
    let peek = match content.first() {
        Some(1) => Peek::parse(&message)?,
        _ => return Err(Malformed),
    };
    Ok((Mark::parse(&peek.authenticated_data)?, peek, message))
}
