//! Bundles in the order of their senders: each once, none before those that stand before it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;

use crate::content::{Bundle, Payload, Upto};
use crate::wire::{Malformed, Reader, Writer};

/// How much of what came early is held; the log has the rest.
const MOST_HELD: Load = Load { bundles: 4_096, bytes: 64 << 20 };
/// How much of one sender.
const SHARE: Load = Load { bundles: 1_024, bytes: 16 << 20 };

/// Of whom, and since which epoch it counts.
pub(crate) type Source = (String, u64);

/// How a bundle came.
#[derive(Clone, Copy)]
pub(crate) struct Heard<'a> {
    /// The epoch since which this member sees everything.
    pub(crate) joined: u64,
    /// In which the bundle was sealed.
    pub(crate) epoch: u64,
    /// The entry, if it came by the link, and the log will show it again.
    pub(crate) link: Option<&'a Bytes>,
}

/// What came of a bundle.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// It was here before.
    Duplicate,
    /// It waits for others.
    Early,
    /// It would wait for others, and its sender has filled all the room that it gets.
    Full,
    /// These can be given out, in this order.
    Ready(Vec<(Source, u64, Bundle)>),
}

/// The queue in front of the application.
#[derive(Debug, Default)]
pub(crate) struct Order {
    sources: HashMap<Source, Waiting>,
    /// All that waits, and what of each sender: of each, not of each source, for a sender says itself when it came.
    load: Load,
    loads: HashMap<String, Load>,
    /// How many of those that wait had another number before.
    renumbered: usize,
    causal: bool,
    /// The tag of this member, whose own words do not pass here.
    me: [u8; 16],
    /// What bundles that wait came after, of senders of whom nothing came, and nothing will: the log was read to its end, and does not have it.
    absent: HashMap<([u8; 16], u64), u64>,
    numbers: u64,
    /// Whose row has to be written anew, or that of a bundle of whom.
    touched: BTreeSet<Source>,
    /// The rows of bundles that wait no more.
    gone: Vec<u64>,
    /// How often it was asked what has waited too long.
    round: u64,
}

/// How much waits, in bundles and in bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Load {
    bundles: usize,
    bytes: usize,
}

impl Load {
    /// Whether this is so many times what there is room for.
    fn fills(self, times: usize, most: Self) -> bool {
        self.bundles >= times * most.bundles || self.bytes >= times * most.bytes
    }

    fn add(&mut self, bytes: usize) {
        self.bundles += 1;
        self.bytes += bytes;
    }

    fn sub(&mut self, bytes: usize) {
        self.bundles -= 1;
        self.bytes -= bytes;
    }
}

#[derive(Debug)]
struct Waiting {
    /// Where it is kept.
    number: u64,
    /// The counter that is given out next.
    next: u64,
    /// What comes next may be further on: this member was away, or came later than the sender, and has not learnt where that stood then.
    away: bool,
    early: BTreeMap<u64, Early>,
}

impl Waiting {
    /// What comes next is this, unless something before it waits already.
    fn begin(&mut self, first: u64) {
        let waits = self.early.keys().next().copied().unwrap_or(first);
        self.next = self.next.max(first.min(waits));
        self.away = false;
    }
}

/// A bundle that came early.
#[derive(Debug)]
struct Early {
    bundle: Bundle,
    /// Of the entry that came by the link: when the log shows it, what is missing before it will not come.
    digest: Option<[u8; 32]>,
    /// Where it is kept; 0 before it is.
    number: u64,
    /// When it came.
    round: u64,
}

impl Early {
    fn bytes(&self) -> usize {
        let Bundle { after, payloads, .. } = &self.bundle;
        let said: usize = payloads.iter().map(|payload| payload.bytes.len()).sum();
        size_of::<Self>() + size_of::<Upto>() * after.len() + size_of::<Payload>() * payloads.len() + said
    }

    fn to_row(&self, source: u64, counter: u64) -> Vec<u8> {
        let row = Writer::default().u8(1).u64(source).u64(counter);
        let row = match &self.digest {
            None => row.u8(0),
            Some(digest) => row.u8(1).put(digest),
        };
        row.put(&self.bundle.to_bytes()).finish()
    }
}

/// Adds what waits to all that does, and to what of its sender does.
fn count(all: &mut Load, loads: &mut HashMap<String, Load>, did: &str, early: &Early) {
    all.add(early.bytes());
    match loads.get_mut(did) {
        Some(load) => load.add(early.bytes()),
        None => drop(loads.insert(did.to_owned(), Load { bundles: 1, bytes: early.bytes() })),
    }
}

impl Order {
    pub(crate) fn new(causal: bool) -> Self {
        Self { causal, ..Self::default() }
    }

    /// The same queue, of the member with this tag.
    pub(crate) fn of(self, me: [u8; 16]) -> Self {
        Self { me, ..self }
    }

    /// Whether a bundle with these numbers may be opened, though it may have to wait: who sent it is known only then, and MLS opens it
    /// once. What comes next of anybody most likely waits for nothing, and finds room longer; what may be of a sender who has filled its
    /// share is left to the log.
    pub(crate) fn has_room(&self, born: u64, counter: u64) -> bool {
        if !self.load.fills(1, MOST_HELD) && !self.loads.values().any(|load| load.fills(1, SHARE)) {
            return true;
        }
        let same = || self.sources.iter().filter(|(source, _)| source.1 == born);
        let times = if same().any(|(_, waiting)| waiting.next == counter) { 2 } else { 1 };
        let full = |(source, waiting): (&Source, &Waiting)| {
            waiting.next < counter && self.load_of(&source.0).fills(times, SHARE)
        };
        !self.load.fills(times, MOST_HELD) && !same().any(full)
    }

    fn load_of(&self, did: &str) -> Load {
        self.loads.get(did).copied().unwrap_or_default()
    }

    /// How many bundles wait.
    pub(crate) fn held(&self) -> usize {
        self.load.bundles
    }

    /// Whether everything of a source up to this counter was given out, or waits here.
    fn has_all(&self, source: &Source, counter: u64) -> bool {
        self.sources.get(source).is_some_and(|waiting| {
            (waiting.next..=counter).all(|counter| waiting.early.contains_key(&counter))
        })
    }

    /// Takes a bundle. Of who came with this member or after it, this member sees all from the first on. Of others it begins with what they
    /// said in its own first epoch, or with the first that the log has for it: before, nobody can tell what stands before a bundle of a
    /// later epoch.
    pub(crate) fn arrive(
        &mut self,
        source: &Source,
        counter: u64,
        bundle: Bundle,
        heard: Heard<'_>,
    ) -> Arrived {
        let waiting = self.waiting(source, 1, source.1 < heard.joined);
        let known = heard.link.is_none() || heard.epoch == heard.joined || counter == waiting.next;
        if waiting.away && known && counter >= waiting.next {
            waiting.begin(bundle.since.min(counter));
        }
        let (next, waits) = (waiting.next, waiting.early.contains_key(&counter));
        if counter < next || (waits && heard.link.is_some()) {
            return Arrived::Duplicate;
        }
        let (full, crowded) = (self.load_of(&source.0).fills(2, SHARE), self.load.fills(2, MOST_HELD));
        if !waits {
            // What is next does not wait for anything that the log could have.
            let lacks = counter > next || bundle.former.is_some();
            let digest = heard.link.filter(|_| lacks).map(|entry| blake3::hash(entry).into());
            self.hold(source, counter, bundle, digest);
        }
        let ready = self.ready_of(source);
        let given = self.next(source).is_some_and(|next| next > counter);
        if given || !ready.is_empty() {
            return Arrived::Ready(ready);
        }
        match heard.link {
            Some(_) if full || crowded => {
                self.take(source, counter);
                Arrived::Full
            }
            None if full => match self.give_up_causes(source, u64::MAX) {
                ready if ready.is_empty() => Arrived::Early,
                ready => Arrived::Ready(ready),
            },
            _ => Arrived::Early,
        }
    }

    /// Where a source stands; one that is new begins at `next`.
    fn waiting(&mut self, source: &Source, next: u64, away: bool) -> &mut Waiting {
        let numbers = &mut self.numbers;
        self.touched.insert(source.clone());
        self.sources.entry(source.clone()).or_insert_with(|| {
            *numbers += 1;
            Waiting { number: *numbers, next, away, early: BTreeMap::new() }
        })
    }

    fn hold(&mut self, source: &Source, counter: u64, bundle: Bundle, digest: Option<[u8; 32]>) {
        let early = Early { bundle, digest, number: 0, round: self.round };
        let Some(waiting) = self.sources.get_mut(source) else { return };
        count(&mut self.load, &mut self.loads, &source.0, &early);
        self.renumbered += usize::from(early.bundle.former.is_some());
        waiting.early.insert(counter, early);
    }

    /// What waited under this counter waits no more.
    fn take(&mut self, source: &Source, counter: u64) -> Option<Bundle> {
        let early = self.sources.get_mut(source)?.early.remove(&counter)?;
        self.touched.insert(source.clone());
        Some(self.release(&source.0, early))
    }

    fn release(&mut self, did: &str, early: Early) -> Bundle {
        let bytes = early.bytes();
        self.load.sub(bytes);
        if let Some(load) = self.loads.get_mut(did) {
            load.sub(bytes);
            if load.bundles == 0 {
                self.loads.remove(did);
            }
        }
        self.renumbered -= usize::from(early.bundle.former.is_some());
        if early.number > 0 {
            self.gone.push(early.number);
        }
        early.bundle
    }

    /// What is held no longer, as it is given out: under the number that it had first, and once.
    fn settle(&mut self, source: &Source, counter: u64, bundle: Bundle) -> Option<(Source, u64, Bundle)> {
        let Some((born, was)) = bundle.former else { return Some((source.clone(), counter, bundle)) };
        let former = (source.0.clone(), born);
        let waiting = self.waiting(&former, was, false);
        if was < waiting.next {
            return None;
        }
        waiting.next = was + 1;
        self.take(&former, was);
        Some((former, was, bundle))
    }

    /// Goes on without what this source said before a counter: the log does not have it. Gives how many are missing, and what became ready.
    pub(crate) fn give_up(&mut self, source: &Source, counter: u64) -> (u64, Vec<(Source, u64, Bundle)>) {
        let (mut ready, renumbered) = (Vec::new(), self.renumbered > 0);
        let (mut missing, before) = self.skip(source, counter);
        for (counter, bundle) in before {
            // One step back is enough: a bundle that is said again carries its first number, also the second time.
            if let Some((born, was)) = bundle.former {
                let former = (source.0.clone(), born);
                let (more, first) = self.skip(&former, was);
                missing += more;
                for (counter, bundle) in first {
                    ready.extend(self.settle(&former, counter, bundle));
                }
            }
            ready.extend(self.settle(source, counter, bundle));
        }
        ready.extend(if renumbered { self.ready() } else { self.ready_of(source) });
        (missing, ready)
    }

    /// Moves a source on to a counter: how many are missing before it, and what waited there. Of a source of which this member does not
    /// know where it should have begun, none are.
    fn skip(&mut self, source: &Source, counter: u64) -> (u64, BTreeMap<u64, Bundle>) {
        let Some(waiting) = self.sources.get_mut(source) else { return (0, BTreeMap::new()) };
        self.touched.insert(source.clone());
        let later = waiting.early.split_off(&counter);
        let before = std::mem::replace(&mut waiting.early, later);
        let missing = counter.saturating_sub(waiting.next).saturating_sub(before.len() as u64);
        waiting.next = waiting.next.max(counter);
        let missing = if std::mem::take(&mut waiting.away) { 0 } else { missing };
        let released = before.into_iter().map(|(counter, early)| (counter, self.release(&source.0, early)));
        (missing, released.collect())
    }

    /// The bundle that came by the link as this entry, and waits.
    pub(crate) fn find(&self, entry: &Bytes) -> Option<(Source, u64)> {
        if self.load.bundles == 0 {
            return None;
        }
        let digest = Some(blake3::hash(entry).into());
        self.sources.iter().find_map(|(source, waiting)| {
            let mut early = waiting.early.iter();
            early.find(|(_, early)| early.digest == digest).map(|(counter, _)| (source.clone(), *counter))
        })
    }

    /// What is missing before a bundle that waits will not come: the log has a sender's bundles in their order. Gives how many that are,
    /// and what became ready.
    pub(crate) fn stand(&mut self, source: &Source, counter: u64) -> (u64, Vec<(Source, u64, Bundle)>) {
        let Some(waiting) = self.sources.get_mut(source) else { return (0, Vec::new()) };
        let Some(early) = waiting.early.get(&counter) else { return (0, Vec::new()) };
        let first = early.bundle.since.min(counter);
        if waiting.away {
            waiting.begin(first);
            self.touched.insert(source.clone());
        }
        let before = waiting.early.range(..=counter);
        let formers: Vec<(u64, u64)> = before.filter_map(|(_, early)| early.bundle.former).collect();
        let (mut missing, mut ready) = (0, Vec::new());
        for (born, was) in formers {
            let (more, then) = self.give_up(&(source.0.clone(), born), was);
            missing += more;
            ready.extend(then);
        }
        if self.has_all(source, counter.saturating_sub(1)) {
            ready.extend(self.ready_of(source));
        } else {
            let (more, then) = self.give_up(source, counter);
            missing += more;
            ready.extend(then);
        }
        (missing, ready)
    }

    /// Another round begins. Whether anything waits since the one before the last.
    pub(crate) fn grow_old(&mut self) -> bool {
        self.round += 1;
        !self.overdue().is_empty()
    }

    /// The last of each source that waits since the round before the last.
    pub(crate) fn overdue(&self) -> Vec<(Source, u64)> {
        self.waits_since(2)
    }

    /// The last of each source that waits since so many rounds ago.
    fn waits_since(&self, rounds: u64) -> Vec<(Source, u64)> {
        if self.load.bundles == 0 {
            return Vec::new();
        }
        let old = |early: &Early| early.round + rounds <= self.round;
        let last = |waiting: &Waiting| Some(*waiting.early.iter().rfind(|(_, early)| old(early))?.0);
        self.sources.iter().filter_map(|(source, waiting)| Some((source.clone(), last(waiting)?))).collect()
    }
    /// Gives out what waits for others in vain since the round before, in each sender's order, and what waited for that.
    pub(crate) fn give_up_causality(&mut self) -> Vec<(Source, u64, Bundle)> {
        let mut ready = Vec::new();
        for (source, last) in self.waits_since(1) {
            ready.extend(self.give_up_causes(&source, last));
            ready.extend(self.ready());
        }
        ready
    }

    /// Gives out what of one source waits for others in vain, up to a counter.
    fn give_up_causes(&mut self, source: &Source, last: u64) -> Vec<(Source, u64, Bundle)> {
        let causal = std::mem::take(&mut self.causal);
        let mut ready = Vec::new();
        while self.next(source).is_some_and(|next| next <= last)
            && let Some((counter, bundle)) = self.take_next(source)
        {
            ready.extend(self.settle(source, counter, bundle));
        }
        self.causal = causal;
        ready
    }

    /// The log was read to its end: of who came before this member did, in `joined`, or is `gone`, and is not known from it, nothing will come
    /// that those who wait have seen. Of others the first will come.
    pub(crate) fn give_up_strangers(
        &mut self,
        joined: u64,
        gone: impl Fn(&[u8; 16]) -> bool,
    ) -> Vec<(Source, u64, Bundle)> {
        if !self.causal || self.load.bundles == 0 {
            return Vec::new();
        }
        let waiting = self.sources.values().flat_map(|waiting| waiting.early.values());
        let mut absent = HashMap::new();
        let strange =
            |upto: &&Upto| self.of_upto(upto).is_none() && (upto.born < joined || gone(&upto.sender));
        for upto in waiting.flat_map(|early| &early.bundle.after).filter(strange) {
            let most: &mut u64 = absent.entry((upto.sender, upto.born)).or_default();
            *most = upto.counter.max(*most);
        }
        self.absent = absent;
        self.ready()
    }

    /// What of this source is given out next; `None` before its first.
    pub(crate) fn next(&self, source: &Source) -> Option<u64> {
        self.sources.get(source).map(|waiting| waiting.next)
    }

    /// How far everything was given out.
    pub(crate) fn upto(&self) -> impl Iterator<Item = (&Source, Upto)> {
        self.sources.iter().filter(|(_, waiting)| waiting.next > 1).map(|(source, waiting)| {
            (source, Upto { sender: Upto::tag(&source.0), born: source.1, counter: waiting.next - 1 })
        })
    }

    /// Forgets sources of which nothing can be opened any more, and gives the rows that go.
    pub(crate) fn forget(&mut self, mut gone: impl FnMut(&Source) -> bool) -> Vec<u64> {
        let mut rows = Vec::new();
        let forgotten: Vec<Source> = self.sources.keys().filter(|source| gone(source)).cloned().collect();
        for source in forgotten {
            let Some(waiting) = self.sources.remove(&source) else { continue };
            rows.push(waiting.number);
            for early in waiting.early.into_values() {
                self.release(&source.0, early);
            }
        }
        rows.append(&mut self.gone);
        rows
    }

    /// This member was away, and what was said meanwhile it will not have. Forgets whoever is not `there`, and gives the rows that go.
    pub(crate) fn back(&mut self, mut there: impl FnMut(&str) -> bool) -> Vec<u64> {
        let mut rows = self.forget(|source| !there(&source.0));
        for (source, waiting) in &mut self.sources {
            let early = std::mem::take(&mut waiting.early);
            rows.extend(early.into_values().map(|early| early.number).filter(|number| *number > 0));
            waiting.away = true;
            self.touched.insert(source.clone());
        }
        (self.load, self.renumbered) = (Load::default(), 0);
        self.loads.clear();
        rows
    }

    /// What one arrival made ready: of its sender alone, unless others may have waited for it.
    fn ready_of(&mut self, source: &Source) -> Vec<(Source, u64, Bundle)> {
        if self.causal || self.renumbered > 0 {
            return self.ready();
        }
        let mut ready = Vec::new();
        while let Some((counter, bundle)) = self.take_next(source) {
            ready.extend(self.settle(source, counter, bundle));
        }
        ready
    }

    fn ready(&mut self) -> Vec<(Source, u64, Bundle)> {
        let mut ready = Vec::new();
        loop {
            let mut taken = false;
            let sources: Vec<Source> = self
                .sources
                .iter()
                .filter(|(_, waiting)| waiting.early.contains_key(&waiting.next))
                .map(|(source, _)| source.clone())
                .collect();
            for source in sources {
                while let Some((counter, bundle)) = self.take_next(&source) {
                    ready.extend(self.settle(&source, counter, bundle));
                    taken = true;
                }
            }
            if !taken {
                return ready;
            }
        }
    }

    fn take_next(&mut self, source: &Source) -> Option<(u64, Bundle)> {
        let waiting = self.sources.get(source)?;
        let counter = waiting.next;
        let bundle = &waiting.early.get(&counter)?.bundle;
        let before = |(born, was)| self.next(&(source.0.clone(), born)).is_none_or(|next| next >= was);
        let in_order = bundle.former.is_none_or(before);
        if !in_order || (self.causal && !bundle.after.iter().all(|upto| self.has(upto))) {
            return None;
        }
        let bundle = self.take(source, counter)?;
        self.sources.get_mut(source)?.next += 1;
        Some((counter, bundle))
    }

    /// Whether this was given out, or will not come.
    fn has(&self, upto: &Upto) -> bool {
        let absent = || self.absent.get(&(upto.sender, upto.born)).is_some_and(|most| *most >= upto.counter);
        match self.of_upto(upto) {
            Some(waiting) => waiting.next > upto.counter,
            None => upto.sender == self.me || absent(),
        }
    }

    fn of_upto(&self, upto: &Upto) -> Option<&Waiting> {
        let is_it = |(did, born): &Source| *born == upto.born && Upto::tag(did) == upto.sender;
        self.sources.iter().find(|(source, _)| is_it(source)).map(|(_, waiting)| waiting)
    }

    /// The rows that changed since the last call: where each is kept, and what, or nothing any more. Bundles that wait are among them, for
    /// MLS opens each once; each has its row, which is written once.
    pub(crate) fn changed(&mut self) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut rows: Vec<_> = std::mem::take(&mut self.gone).into_iter().map(|row| (row, None)).collect();
        for source in std::mem::take(&mut self.touched) {
            let Some(waiting) = self.sources.get_mut(&source) else { continue };
            let head = Writer::default().u8(0).text(&source.0).u64(source.1);
            let head = head.u64(waiting.next).u8(u8::from(waiting.away));
            rows.push((waiting.number, Some(head.finish())));
            for (counter, early) in waiting.early.iter_mut().filter(|(_, early)| early.number == 0) {
                self.numbers += 1;
                early.number = self.numbers;
                rows.push((early.number, Some(early.to_row(waiting.number, *counter))));
            }
        }
        rows
    }

    pub(crate) fn restore(rows: BTreeMap<u64, Bytes>, causal: bool) -> Result<Self, Malformed> {
        let mut order = Self::new(causal);
        let mut sources = HashMap::new();
        // A source has a lower number than its bundles.
        for (number, row) in rows {
            let mut fields = Reader::new(row);
            order.numbers = number;
            if fields.u8()? == 0 {
                let source = (fields.text()?, fields.u64()?);
                let (next, away) = (fields.u64()?, fields.u8()? == 1);
                fields.end()?;
                sources.insert(number, source.clone());
                order.sources.insert(source, Waiting { number, next, away, early: BTreeMap::new() });
                continue;
            }
            let source: &Source = sources.get(&fields.u64()?).ok_or(Malformed)?;
            let counter = fields.u64()?;
            let digest = if fields.u8()? == 0 { None } else { Some(fields.array()?) };
            order.hold(source, counter, Bundle::parse(fields.rest())?, digest);
            let waiting = order.sources.get_mut(source);
            if let Some(early) = waiting.and_then(|waiting| waiting.early.get_mut(&counter)) {
                early.number = number;
            }
        }
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use crate::content::{Payload, Purpose};

    fn bundle(since: u64, after: &[(&str, u64)]) -> Bundle {
        let upto = |(did, counter): &(&str, u64)| Upto { sender: Upto::tag(did), born: 1, counter: *counter };
        Bundle {
            since,
            former: None,
            after: after.iter().map(upto).collect(),
            payloads: vec![Payload { purpose: Purpose::Message, bytes: vec![7].into() }],
        }
    }

    fn source(did: &str) -> Source {
        (did.to_owned(), 1)
    }

    static ENTRY: Bytes = Bytes::from_static(b"entry");

    /// By the link, to who joined in this epoch, which it still is.
    fn link(joined: u64) -> Heard<'static> {
        Heard { joined, epoch: joined, link: Some(&ENTRY) }
    }

    /// The same in the log.
    fn log(joined: u64) -> Heard<'static> {
        Heard { link: None, ..link(joined) }
    }

    /// What the store has after this.
    fn written(order: &mut Order, rows: &mut BTreeMap<u64, Bytes>) {
        for (number, row) in order.changed() {
            match row {
                Some(row) => drop(rows.insert(number, row.into())),
                None => drop(rows.remove(&number)),
            }
        }
    }

    fn kept(order: &mut Order) -> Order {
        let mut rows = BTreeMap::new();
        written(order, &mut rows);
        Order::restore(rows, false).unwrap()
    }

    fn counters(arrived: Arrived) -> Vec<(String, u64)> {
        match arrived {
            Arrived::Ready(ready) => ready.into_iter().map(|((did, _), counter, _)| (did, counter)).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn each_comes_once_and_in_the_order_of_its_sender() {
        let (mut order, alice) = (Order::default(), source("alice"));
        assert_eq!(order.arrive(&alice, 2, bundle(1, &[]), link(1)), Arrived::Early);
        assert_eq!(order.arrive(&alice, 2, bundle(1, &[]), link(1)), Arrived::Duplicate);
        assert_eq!(order.arrive(&alice, 3, bundle(1, &[]), link(1)), Arrived::Early);
        let all = counters(order.arrive(&alice, 1, bundle(1, &[]), link(1)));
        assert_eq!(all, [1, 2, 3].map(|counter| ("alice".to_owned(), counter)));
        assert_eq!(order.arrive(&alice, 3, bundle(1, &[]), link(1)), Arrived::Duplicate);
        assert_eq!(order.held(), 0);
    }

    #[test]
    fn who_joins_waits_for_nothing_that_was_said_before() {
        let (mut order, alice) = (Order::default(), source("alice"));
        assert_eq!(order.arrive(&alice, 41, bundle(40, &[]), link(5)), Arrived::Early);
        assert_eq!(counters(order.arrive(&alice, 40, bundle(40, &[]), link(5))).len(), 2);
    }

    #[test]
    fn who_saw_a_sender_come_waits_for_its_first_message() {
        let (mut order, alice) = (Order::default(), source("alice"));
        assert_eq!(order.arrive(&alice, 4, bundle(4, &[]), link(0)), Arrived::Early);
        assert_eq!(order.give_up(&alice, 4), (3, vec![(alice.clone(), 4, bundle(4, &[]))]));
    }

    #[test]
    fn an_answer_waits_for_its_question_where_causal_order_is_asked_for() {
        let (alice, bob) = (source("alice"), source("bob"));
        for (causal, early) in [(true, true), (false, false)] {
            let mut order = Order::new(causal);
            counters(order.arrive(&alice, 1, bundle(1, &[]), link(1)));
            let answer = order.arrive(&bob, 1, bundle(1, &[("alice", 2)]), link(1));
            assert_eq!(answer == Arrived::Early, early);
            let question = counters(order.arrive(&alice, 2, bundle(1, &[]), link(1)));
            assert_eq!(question.len(), if causal { 2 } else { 1 });
            assert_eq!(question[0], ("alice".to_owned(), 2));
        }
    }

    #[test]
    fn an_answer_waits_for_the_first_word_of_a_sender_until_the_log_is_known_not_to_have_it() {
        let (alice, bob) = (source("alice"), source("bob"));
        let mut order = Order::new(true).of(Upto::tag("carol"));
        assert_eq!(
            counters(order.arrive(&bob, 1, bundle(1, &[("carol", 9)]), link(2))).len(),
            1,
            "her own words"
        );
        assert_eq!(order.arrive(&bob, 2, bundle(1, &[("alice", 4)]), link(2)), Arrived::Early);
        let both = counters(order.arrive(&alice, 4, bundle(4, &[]), link(2)));
        assert_eq!(both, [("alice".to_owned(), 4), ("bob".to_owned(), 2)]);

        assert_eq!(order.arrive(&bob, 3, bundle(1, &[("dave", 2)]), link(2)), Arrived::Early);
        let there = |_: &[u8; 16]| false;
        assert!(
            order.give_up_strangers(1, there).is_empty(),
            "dave came with her, and his first word will come"
        );
        assert_eq!(order.give_up_strangers(2, there), [(bob.clone(), 3, bundle(1, &[("dave", 2)]))]);
        assert_eq!(order.arrive(&bob, 4, bundle(1, &[("dave", 3)]), link(2)), Arrived::Early, "another word");
        assert_eq!(order.arrive(&bob, 5, bundle(1, &[("alice", 5)]), link(2)), Arrived::Early);
        let given: Vec<u64> =
            order.give_up_strangers(1, |_| true).into_iter().map(|(_, counter, _)| counter).collect();
        assert_eq!((given, order.held()), (vec![4], 1), "alice is known, and her next word to come");
    }

    #[test]
    fn what_has_only_just_come_waits_for_others_through_the_end_of_a_round() {
        let (alice, bob) = (source("alice"), source("bob"));
        let mut order = Order::new(true);
        counters(order.arrive(&alice, 1, bundle(1, &[]), link(1)));
        let answer = bundle(1, &[("alice", 2)]);
        assert_eq!(order.arrive(&bob, 1, answer.clone(), link(1)), Arrived::Early);
        assert!(order.give_up_causality().is_empty());
        order.grow_old();
        assert_eq!(order.arrive(&bob, 2, bundle(1, &[("alice", 3)]), link(1)), Arrived::Early);
        assert_eq!(order.give_up_causality(), [(bob.clone(), 1, answer)]);
        assert_eq!(order.held(), 1);
    }

    #[test]
    fn what_waits_is_kept_and_found_again() {
        let (mut order, alice) = (Order::default(), source("alice"));
        counters(order.arrive(&alice, 1, bundle(1, &[]), link(1)));
        order.arrive(&alice, 3, bundle(1, &[("bob", 1)]), link(1));
        let mut rows = BTreeMap::new();
        written(&mut order, &mut rows);
        assert_eq!((rows.len(), order.changed().len()), (2, 0));
        for row in 1..=2 {
            for len in 0..rows[&row].len() {
                let cut = BTreeMap::from([(1, rows[&1].clone()), (row, rows[&row].slice(..len))]);
                assert!(Order::restore(cut, false).is_err());
            }
        }
        let mut again = Order::restore(rows, false).unwrap();
        assert_eq!((again.held(), again.next(&alice)), (1, Some(2)));
        assert_eq!(again.find(&ENTRY), Some((alice.clone(), 3)), "and what it is in the log");
        assert_eq!(counters(again.arrive(&alice, 2, bundle(1, &[]), link(1))).len(), 2);
    }

    #[test]
    fn a_counter_far_ahead_is_given_up_to_at_once() {
        let mut order = Order::new(false);
        let source = ("did:example:a".to_owned(), 1);
        let bundle = || Bundle { since: 1, former: None, after: Vec::new(), payloads: Vec::new() };
        assert_eq!(order.arrive(&source, 3, bundle(), link(0)), Arrived::Early);
        assert_eq!(order.arrive(&source, 1 << 48, bundle(), link(0)), Arrived::Early);
        let (missing, ready) = order.give_up(&source, 1 << 48);
        assert_eq!(missing, (1 << 48) - 2, "all before it but the third");
        assert_eq!(ready.iter().map(|(_, counter, _)| *counter).collect::<Vec<_>>(), [3, 1 << 48]);
        assert_eq!((order.held(), order.next(&source)), (0, Some((1 << 48) + 1)));
    }

    /// As a sender says a bundle again that had this number when it came in epoch 1.
    fn again(was: u64) -> Bundle {
        Bundle { former: Some((1, was)), ..bundle(1, &[]) }
    }

    #[test]
    fn what_its_sender_says_again_after_coming_back_is_given_out_once_and_under_its_first_number() {
        let (mut order, alice) = (Order::default(), source("alice"));
        let back = ("alice".to_owned(), 9);
        assert_eq!(counters(order.arrive(&alice, 1, bundle(1, &[]), link(0))).len(), 1);
        assert_eq!(order.arrive(&back, 1, again(1), link(0)), Arrived::Ready(Vec::new()), "heard before");
        assert_eq!(
            order.arrive(&back, 2, again(2), link(0)),
            Arrived::Ready(vec![(alice.clone(), 2, again(2))])
        );
        assert_eq!(
            order.arrive(&alice, 2, bundle(1, &[]), link(0)),
            Arrived::Duplicate,
            "the first comes late"
        );
        assert_eq!(counters(order.arrive(&back, 3, bundle(3, &[]), link(0))), [("alice".to_owned(), 3)]);
        assert_eq!((order.held(), order.renumbered), (0, 0));
        assert_eq!((order.next(&alice), order.next(&back)), (Some(3), Some(4)));
    }

    #[test]
    fn what_is_said_again_waits_for_what_was_said_before_it() {
        let (mut order, alice) = (Order::default(), source("alice"));
        let back = ("alice".to_owned(), 9);
        assert_eq!(counters(order.arrive(&alice, 1, bundle(1, &[]), link(0))).len(), 1);
        assert_eq!(order.arrive(&alice, 4, bundle(1, &[]), link(0)), Arrived::Early);
        assert_eq!(order.arrive(&back, 1, again(3), link(0)), Arrived::Early, "the second is missing");
        let mut kept = kept(&mut order);
        assert_eq!((kept.held(), kept.renumbered), (2, 1));
        let numbers =
            counters(kept.arrive(&alice, 2, bundle(1, &[]), link(0))).into_iter().map(|(_, counter)| counter);
        assert_eq!(numbers.collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!((kept.held(), kept.renumbered, kept.next(&back)), (0, 0, Some(2)));

        let (missing, ready) = order.give_up(&back, 2);
        let numbers: Vec<u64> = ready.iter().map(|(_, counter, _)| *counter).collect();
        assert_eq!((missing, numbers), (1, vec![3, 4]), "the log never had the second");
        assert_eq!((order.held(), order.renumbered, order.next(&alice)), (0, 0, Some(5)));
    }

    #[test]
    fn who_was_away_hears_nothing_twice_and_waits_for_nothing_that_was_said_meanwhile() {
        let (mut order, alice, bob) = (Order::default(), source("alice"), source("bob"));
        for counter in 1..=3 {
            assert_eq!(counters(order.arrive(&alice, counter, bundle(1, &[]), link(1))).len(), 1);
        }
        assert_eq!(counters(order.arrive(&bob, 1, bundle(1, &[]), link(1))).len(), 1);
        assert_eq!(order.arrive(&alice, 5, bundle(1, &[]), link(1)), Arrived::Early);
        assert_eq!(order.back(|did| did == "alice").len(), 1, "bob went");
        let mut order = kept(&mut order);
        assert_eq!((order.held(), order.next(&bob)), (0, None));
        assert_eq!(order.arrive(&alice, 3, bundle(9, &[]), link(7)), Arrived::Duplicate, "sealed again");

        order.back(|_| true);
        assert_eq!(counters(order.arrive(&alice, 9, bundle(9, &[]), link(7))), [("alice".to_owned(), 9)]);
        assert_eq!(
            order.arrive(&alice, 11, bundle(9, &[]), link(7)),
            Arrived::Early,
            "and then for everything"
        );
    }

    #[test]
    fn a_member_that_chains_numbers_of_many_epochs_costs_no_stack() {
        let mut order = Order::new(false);
        let epochs = 2_000;
        for born in 2..=epochs {
            let said = Bundle { former: Some((born - 1, 3)), ..bundle(1, &[]) };
            assert_eq!(order.arrive(&("mallory".to_owned(), born), 2, said, link(0)), Arrived::Early);
        }
        assert_eq!(order.held() as u64, epochs - 1);
        for born in (2..=epochs).rev() {
            order.give_up(&("mallory".to_owned(), born), 3);
        }
        assert_eq!((order.held(), order.renumbered), (0, 0));
    }

    fn given(arrived: Arrived) -> Vec<u64> {
        counters(arrived).into_iter().map(|(_, counter)| counter).collect()
    }

    #[test]
    fn of_who_came_with_this_member_the_first_word_is_waited_for_in_whichever_epoch_the_next_is_said() {
        let (mut order, bob) = (Order::default(), source("bob"));
        let later = Heard { epoch: 2, ..link(1) };
        assert_eq!(order.arrive(&bob, 2, bundle(2, &[]), later), Arrived::Early);
        assert_eq!(given(order.arrive(&bob, 1, bundle(1, &[]), log(1))), [1, 2]);
    }

    #[test]
    fn of_who_was_there_before_a_word_of_a_later_epoch_waits_until_the_log_was_read_to_it() {
        let alice = source("alice");
        let later = Heard { epoch: 6, ..link(5) };
        let early = || {
            let mut order = Order::default();
            assert_eq!(order.arrive(&alice, 43, bundle(42, &[]), later), Arrived::Early);
            assert_eq!(order.arrive(&alice, 42, bundle(42, &[]), later), Arrived::Early);
            assert_eq!(order.upto().count(), 0, "no receipt for what was said before");
            kept(&mut order)
        };
        // Something was said in the epoch in which this member came: by the link, or in the log.
        for way in [link(5), log(5)] {
            let mut order = early();
            assert_eq!(given(order.arrive(&alice, 41, bundle(41, &[]), way)), [41, 42, 43]);
        }
        // Nothing was: the log shows it first of all, as the same entry or sealed again.
        let mut order = early();
        let (missing, ready) = order.stand(&alice, 42);
        assert_eq!((missing, ready.len(), order.next(&alice)), (0, 2, Some(44)));
        let mut order = early();
        assert_eq!(given(order.arrive(&alice, 42, bundle(42, &[]), Heard { epoch: 7, ..log(5) })), [42, 43]);
        // What waits is never left behind, whatever is said of the beginning.
        let mut order = early();
        assert_eq!(given(order.arrive(&alice, 50, bundle(50, &[]), Heard { epoch: 7, ..log(5) })), [42, 43]);
        let (missing, ready) = order.stand(&alice, 50);
        assert_eq!((missing, ready.len(), order.held()), (6, 1, 0));
    }

    #[test]
    fn who_was_away_waits_for_what_was_said_since_its_return_and_before_a_word_of_a_later_epoch() {
        let (mut order, alice) = (Order::default(), source("alice"));
        assert_eq!(given(order.arrive(&alice, 1, bundle(1, &[]), link(1))), [1]);
        order.back(|_| true);
        let later = Heard { epoch: 8, ..link(7) };
        assert_eq!(order.arrive(&alice, 9, bundle(9, &[]), later), Arrived::Early);
        assert_eq!(given(order.arrive(&alice, 8, bundle(8, &[]), log(7))), [8, 9]);
        order.back(|_| true);
        assert_eq!(given(order.arrive(&alice, 10, bundle(10, &[]), later)), [10], "nothing can be between");
    }

    #[test]
    fn what_waits_when_the_log_shows_it_waits_no_longer_for_what_the_log_did_not_show_before() {
        let (mut order, alice) = (Order::default(), source("alice"));
        let entries = [3, 4, 7].map(|counter| Bytes::from(vec![counter]));
        for (counter, entry) in [3, 4, 7].into_iter().zip(&entries) {
            let way = Heard { link: Some(entry), ..link(1) };
            assert_eq!(order.arrive(&alice, counter, bundle(1, &[]), way), Arrived::Early);
        }
        assert_eq!(order.find(&ENTRY), None);
        let (found, counter) = order.find(&entries[0]).unwrap();
        let (missing, ready) = order.stand(&found, counter);
        assert_eq!((missing, ready.len(), order.next(&alice)), (2, 2, Some(5)));
        assert_eq!((order.find(&entries[1]), order.find(&entries[2])), (None, Some((alice.clone(), 7))));
        assert_eq!(order.stand(&alice, 4), (0, Vec::new()), "it was given out");
    }

    #[test]
    fn who_waits_from_one_round_through_the_next_is_overdue_and_is_given_out_with_all_before_it() {
        let (mut order, alice) = (Order::default(), source("alice"));
        let back = ("alice".to_owned(), 9);
        assert_eq!(given(order.arrive(&alice, 1, bundle(1, &[]), link(0))), [1]);
        assert_eq!(order.arrive(&back, 1, again(3), link(0)), Arrived::Early);
        assert_eq!(order.arrive(&back, 2, bundle(1, &[]), link(0)), Arrived::Early);
        assert!(!order.grow_old());
        assert_eq!(order.arrive(&back, 4, bundle(1, &[]), link(0)), Arrived::Early, "it has time yet");
        assert!(order.overdue().is_empty());
        assert!(order.grow_old());
        assert_eq!(order.overdue(), [(back.clone(), 2)]);
        let (missing, ready) = order.stand(&back, 2);
        let said: Vec<_> = ready.into_iter().map(|(source, counter, _)| (source, counter)).collect();
        assert_eq!((missing, said), (1, vec![(alice.clone(), 3), (back.clone(), 2)]));
        assert_eq!((order.held(), order.overdue().len(), order.next(&back)), (1, 0, Some(3)));
    }

    #[test]
    fn who_fills_its_share_takes_nobody_elses_room() {
        let (mut order, mallory, alice) = (Order::default(), source("mallory"), source("alice"));
        counters(order.arrive(&alice, 1, bundle(1, &[]), link(1)));
        for counter in 2..=1_025 {
            assert!(order.has_room(1, counter));
            assert_eq!(order.arrive(&mallory, counter, bundle(1, &[]), link(1)), Arrived::Early);
        }
        assert!(!order.has_room(1, 1_026), "that may be hers: the log has it");
        assert!(order.has_room(1, 2) && order.has_room(1, 1), "what comes next of alice, or of her");
        assert!(order.has_room(2, 1_026), "hers are not of that epoch");
        assert_eq!(order.arrive(&source("bob"), 7, bundle(1, &[]), link(1)), Arrived::Early);
        // She may say that she came in another epoch, or take alice's next number, until that helps no more.
        for counter in 2..=1_025 {
            assert_eq!(
                order.arrive(&("mallory".to_owned(), 5), counter, bundle(1, &[]), link(1)),
                Arrived::Early
            );
        }
        assert_eq!(order.held(), 2_049);
        let more = order.arrive(&("mallory".to_owned(), 6), 2, bundle(1, &[]), link(1));
        assert_eq!((more, order.held()), (Arrived::Full, 2_049));
        assert!(!order.has_room(1, 2) && order.has_room(1, 1), "hers, for all that is known");
        assert_eq!(order.arrive(&alice, 3, bundle(1, &[]), link(1)), Arrived::Early);
        assert_eq!(given(order.arrive(&alice, 2, bundle(1, &[]), link(1))), [2, 3]);
        // What the log has it has of her, too; and she gets her room back.
        assert_eq!(given(order.arrive(&mallory, 1, bundle(1, &[]), log(1))).len(), 1_025);
        order.stand(&("mallory".to_owned(), 5), 1_025);
        assert_eq!((order.held(), order.loads.len()), (1, 1), "bob's");
        assert!(order.has_room(1, 1_026));
    }

    #[test]
    fn a_share_is_counted_in_bytes_too_with_what_its_parts_take_in_memory() {
        let long = |len: usize, parts: usize| {
            let payload = Payload { purpose: Purpose::Message, bytes: vec![7; len].into() };
            Bundle { payloads: vec![payload; parts], ..bundle(1, &[]) }
        };
        for (len, parts, most) in [(60_000, 1, 280), (0, 12_000, 20)] {
            let (mut order, mallory) = (Order::default(), source("mallory"));
            let mut counter = 2;
            while order.has_room(1, counter) {
                assert_eq!(order.arrive(&mallory, counter, long(len, parts), link(1)), Arrived::Early);
                counter += 1;
            }
            assert!((10..=most).contains(&order.held()), "{} of {len} x {parts}", order.held());
        }
    }

    #[test]
    fn beyond_its_share_what_the_log_has_waits_for_no_causes() {
        let (mut order, mallory) = (Order::new(true), source("mallory"));
        for counter in 1..=2_048 {
            let caused = bundle(1, &[("alice", 9)]);
            assert_eq!(order.arrive(&mallory, counter, caused, log(1)), Arrived::Early);
        }
        assert_eq!(given(order.arrive(&mallory, 2_049, bundle(1, &[]), log(1))).len(), 2_049);
        assert_eq!((order.held(), order.load), (0, Load::default()));
    }

    #[test]
    fn what_waits_is_written_once_and_goes_when_it_waits_no_more() {
        let (mut order, alice) = (Order::default(), source("alice"));
        let mut rows = BTreeMap::new();
        for counter in 2..=300 {
            assert_eq!(order.arrive(&alice, counter, bundle(1, &[]), link(1)), Arrived::Early);
            let changed = order.changed();
            assert_eq!(changed.len(), 2, "the source, and the bundle");
            assert!(changed.iter().flat_map(|(_, row)| row).map(Vec::len).sum::<usize>() < 200);
            rows.extend(changed.into_iter().map(|(number, row)| (number, row.unwrap().into())));
        }
        assert_eq!(rows.len(), 300);
        assert_eq!(given(order.arrive(&alice, 1, bundle(1, &[]), link(1))).len(), 300);
        written(&mut order, &mut rows);
        assert_eq!(rows.len(), 1);
        // Nor is anything left of who is forgotten, or where this member was away.
        for counter in [302, 303] {
            order.arrive(&alice, counter, bundle(1, &[]), link(1));
            order.arrive(&source("bob"), counter, bundle(1, &[]), link(1));
        }
        written(&mut order, &mut rows);
        assert_eq!(rows.len(), 6);
        for row in order.back(|did| did == "alice") {
            assert!(rows.remove(&row).is_some());
        }
        written(&mut order, &mut rows);
        assert_eq!((rows.len(), order.held(), order.load), (1, 0, Load::default()));
        assert_eq!(Order::restore(rows, false).unwrap().next(&alice), Some(301));
    }
}
