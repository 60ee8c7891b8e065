//! What goes out: bundles of messages, receipts, complaints, the wish to leave.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::{Life, Outgoing, by};
use crate::archive::random;
use crate::bridge_news::BridgeNews;
use crate::channel::{Answer, MAX_MESSAGE};
use crate::content::{Bundle, Complaint, Mark, MarkKind, MessageId, Payload, Purpose, Upto};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::frame::Frame;
use crate::log::{EntryId, EntryKind, MAX_ENTRY};
use crate::member::PAST_EPOCHS;
use crate::wire::{Malformed, Reader, Writer};

/// How large a bundle gets before it is sent, in bytes, and how many messages it has at most.
const BUNDLE: (usize, usize) = (32 << 10, 256);
/// How many senders of what it had seen a bundle names.
const MOST_CAUSES: usize = 64;
/// How many messages are sealed before the state is written again; fewer than `member` allows.
const SEALED_UNWRITTEN: u32 = 32;
/// How much of what is no message waits for the log, while it is away, before no more receipts are given. Messages come into the log before it, and
/// mls-rs opens none that is more than 1,024 keys of its sender further on than those before.
const MOST_SPOKEN: usize = 128;

impl Life {
    /// The application says something.
    pub(super) fn say(&mut self, purpose: Purpose, bytes: Bytes, answer: Answer<MessageId>) -> Result<()> {
        if bytes.len() > MAX_MESSAGE {
            self.answer(answer, Err(Error::MessageTooLarge(bytes.len())));
            return Ok(());
        }
        if let Err(refusal) = self.member.policy().policy().lets_say(bytes.len()) {
            self.answer(answer, Err(refusal.into()));
            return Ok(());
        }
        if BridgeNews::is_in(&bytes) && !self.member.policy().policy().bridge {
            let forbidden = "the channel's policy does not allow bridges".to_owned();
            self.answer(answer, Err(Error::NotBridged(forbidden)));
            return Ok(());
        }
        if self.forked {
            self.answer(answer, Err(Error::Forked));
            return Ok(());
        }
        let size: usize = self.bundle.iter().map(|(payload, _)| payload.bytes.len()).sum();
        if size + bytes.len() > BUNDLE.0 || self.bundle.len() >= BUNDLE.1 {
            self.seal_bundle()?;
        }
        self.bundle.push((Payload { purpose, bytes }, answer));
        if self.shared.options.bundle.is_zero() {
            return self.seal_bundle();
        }
        by(&mut self.timers.bundle, self.shared.options.bundle);
        Ok(())
    }

    /// Seals what was said; it leaves once it is written.
    pub(super) fn seal_bundle(&mut self) -> Result<()> {
        self.timers.bundle = None;
        let said = std::mem::take(&mut self.bundle);
        if said.is_empty() {
            return Ok(());
        }
        if self.forked {
            for (_, answer) in said {
                self.answer(answer, Err(Error::Forked));
            }
            return Ok(());
        }
        let mut causes: Vec<Upto> = if self.shared.options.causal {
            self.order.upto().map(|(_, upto)| upto).filter(|upto| self.is_news(upto)).collect()
        } else {
            Vec::new()
        };
        let (mut payloads, answers): (Vec<_>, Vec<_>) = said.into_iter().unzip();
        // What does not fit into it comes before it, in bundles of nothing else.
        let sealed = loop {
            let rest = causes.split_off(causes.len().min(MOST_CAUSES));
            let carried = if rest.is_empty() { std::mem::take(&mut payloads) } else { Vec::new() };
            match self.seal_one(std::mem::replace(&mut causes, rest), carried) {
                Ok(_) if !causes.is_empty() => {}
                sealed => break sealed,
            }
        };
        match sealed {
            Ok((counter, payloads)) => {
                let sender = self.did().to_owned();
                for ((index, payload), answer) in (0..).zip(payloads).zip(answers) {
                    let id = MessageId { sender: sender.clone(), born: self.joined, counter, index };
                    self.tally.sent.0 += 1;
                    self.tally.sent.1 += payload.bytes.len() as u64;
                    self.tell_said(id.clone(), payload);
                    self.answer(answer, Ok(id));
                }
            }
            Err(Error::Refused(refusal)) => {
                for answer in answers {
                    self.answer(answer, Err(Error::Refused(refusal.clone())));
                }
            }
            Err(Error::TooLarge(len)) => {
                for answer in answers {
                    self.answer(answer, Err(Error::TooLarge(len)));
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Seals one bundle; it leaves once it is written. What it was, and its number.
    fn seal_one(&mut self, after: Vec<Upto>, payloads: Vec<Payload>) -> Result<(u64, Vec<Payload>)> {
        let bundle = Bundle { since: self.since, former: None, after, payloads };
        let counter = self.counter + 1;
        let bytes = Bytes::from(bundle.to_bytes());
        let content = self.seal(MarkKind::Bundle, counter, &bytes)?;
        for upto in &bundle.after {
            self.caused.insert((upto.sender, upto.born), upto.counter);
        }
        self.counter = counter;
        let id = EntryId(random()?);
        self.outward.push((
            self.surface.route(),
            Frame::Entry { id, kind: EntryKind::Application, content: content.clone() },
        ));
        let outgoing = Outgoing { id, epoch: self.member.epoch(), content, bundle: bytes };
        self.writes.put(&self.row("outbox"), counter, outgoing.to_bytes());
        self.outbox.insert(counter, outgoing);
        let before = self.said_since_rotation;
        let said = u32::try_from(bundle.payloads.len()).unwrap_or(u32::MAX);
        self.said_since_rotation = before.saturating_add(said);
        self.write_places();
        let most = self.member.policy().policy().rotate_messages;
        if most > 0 && before / most < self.said_since_rotation / most {
            self.wish_to_rotate();
        }
        Ok((counter, bundle.payloads))
    }

    fn is_news(&self, upto: &Upto) -> bool {
        self.caused.get(&(upto.sender, upto.born)).is_none_or(|told| *told < upto.counter)
    }

    /// A message of MLS with its mark, as the log keeps it.
    pub(super) fn seal(&mut self, kind: MarkKind, counter: u64, data: &[u8]) -> Result<Bytes> {
        if self.member.must_write() {
            self.write_member()?;
        }
        let mark = Mark { kind, born: self.joined, counter, authenticator: self.authenticator() };
        let sealed = self.member.seal(data, &mark.to_bytes())?;
        self.sealed += 1;
        if self.sealed >= SEALED_UNWRITTEN {
            self.sealed = 0;
            self.write_member()?;
        }
        let content = Writer::default().u8(1).put(&sealed).finish();
        if content.len() > MAX_ENTRY {
            return Err(Error::TooLarge(content.len()));
        }
        self.see(&content);
        Ok(content.into())
    }

    /// Bundles whose epoch would be too old when others read them in the log are sealed in this one; their numbers stay. With another leaf key all are: MLS
    /// takes no message of an earlier epoch whose signer's key is not the leaf's any more.
    pub(super) fn seal_again(&mut self, rekeyed: bool) -> Result<()> {
        let epoch = self.member.epoch();
        let old: Vec<u64> = self
            .outbox
            .iter()
            .filter(|(_, outgoing)| rekeyed || outgoing.epoch + PAST_EPOCHS <= epoch + 1)
            .map(|(counter, _)| *counter)
            .collect();
        for counter in old {
            let Some(bundle) = self.outbox.get(&counter).map(|outgoing| outgoing.bundle.clone()) else {
                continue;
            };
            let content = match self.seal(MarkKind::Bundle, counter, &bundle) {
                Ok(content) => content,
                Err(Error::Refused(refusal)) => {
                    self.outbox.remove(&counter);
                    self.writes.delete(&self.row("outbox"), counter);
                    self.warn(crate::event::Warning::Unsent { reason: refusal.to_string() });
                    continue;
                }
                Err(error) => return Err(error),
            };
            if let Some(outgoing) = self.outbox.get_mut(&counter) {
                (outgoing.content, outgoing.epoch) = (content, epoch);
                let bytes = outgoing.to_bytes();
                self.writes.put(&self.row("outbox"), counter, bytes);
            }
        }
        Ok(())
    }

    /// A bundle that stands in the log is said once more if commits came before it after which nobody can open it there.
    pub(super) fn say_again(&mut self, counter: u64, outgoing: Outgoing) -> Result<()> {
        if outgoing.epoch + PAST_EPOCHS >= self.member.epoch() {
            return Ok(());
        }
        self.outbox.insert(counter, Outgoing { id: EntryId(random()?), ..outgoing });
        self.seal_again(false)
    }

    /// A bundle gets another id in the log: something else stands under the one it had.
    pub(super) fn identify_again(&mut self, counter: u64) -> Result<()> {
        let id = EntryId(random()?);
        if let Some(outgoing) = self.outbox.get_mut(&counter) {
            outgoing.id = id;
            let bytes = outgoing.to_bytes();
            self.writes.put(&self.row("outbox"), counter, bytes);
        }
        Ok(())
    }

    /// How long receipts wait for more to say: longer where many give them.
    pub(super) fn receipt_time(&self) -> Duration {
        let members = u32::try_from(self.standing_len()).unwrap_or(u32::MAX);
        self.shared.options.receipt.max(Duration::from_millis(10).saturating_mul(members))
    }

    /// Tells senders how far this member has everything.
    pub(super) fn seal_receipt(&mut self) -> Result<()> {
        // What the log takes next lets a later one say the same and more.
        if self.forked || self.spoken.len() >= MOST_SPOKEN {
            return Ok(());
        }
        let news: Vec<Upto> = self
            .order
            .upto()
            .map(|(_, upto)| upto)
            .filter(|upto| self.told.get(&(upto.sender, upto.born)).is_none_or(|told| *told < upto.counter))
            .take(1_000)
            .collect();
        if news.is_empty() {
            return Ok(());
        }
        let data = Writer::default().u8(1).count(news.len()).each(&news, |to, upto| upto.write(to)).finish();
        for upto in news {
            self.told.insert((upto.sender, upto.born), upto.counter);
        }
        self.speak(MarkKind::Receipt, EntryKind::Receipt, &data)
    }

    pub(super) fn take_receipt(&mut self, by: &str, data: Bytes) {
        let read = |data| -> std::result::Result<Vec<Upto>, Malformed> {
            let mut fields = Reader::new(data);
            if fields.u8()? != 1 {
                return Err(Malformed);
            }
            let all = Upto::read_all(&mut fields)?;
            fields.end().map(|()| all)
        };
        let me = Upto::tag(self.did());
        for upto in read(data).unwrap_or_default() {
            if upto.sender == me && upto.born == self.joined && upto.counter <= self.counter {
                let receipt = self.receipts.entry(Upto::tag(by)).or_default();
                receipt.ours = receipt.ours.max(upto.counter);
            }
        }
    }

    /// Says something that is no message of the application: by the link and through the log.
    pub(super) fn speak(&mut self, mark: MarkKind, kind: EntryKind, data: &[u8]) -> Result<()> {
        match self.seal(mark, 0, data) {
            Ok(content) => {
                let id = EntryId(random()?);
                self.outward
                    .push((self.surface.route(), Frame::Entry { id, kind, content: content.clone() }));
                self.spoken.push_back((id, kind, content));
                Ok(())
            }
            Err(Error::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn complain(&mut self, place: u64, reason: &str) -> Result<()> {
        // Others read no longer one.
        let complaint = Complaint { place, reason: reason.chars().take(256).collect() };
        self.speak(MarkKind::Complaint, EntryKind::Complaint, &complaint.to_bytes())
    }

    /// This member wants to go.
    pub(super) async fn go(&mut self, answer: Answer<()>) -> Result<()> {
        self.leave.get_or_insert_default().push(answer);
        self.leaving.insert(self.shared.did.clone());
        if self.standing_len() <= 1 {
            let (members, epoch) = (vec![self.did().to_owned()], self.member.epoch());
            return self.end(Some(Event::Left { members, epoch })).await;
        }
        self.write_places();
        self.timers.leave = Some(Instant::now() + self.shared.options.leave);
        self.hand_over();
        self.speak(MarkKind::Leave, EntryKind::Application, &[1])
    }
}
