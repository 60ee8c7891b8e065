//! Bundles in the order of their senders: each once, none before those that stand before it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::content::{Bundle, Upto};
use crate::wire::{Malformed, Reader, Writer};

/// How many bundles that came early are held; the log has the others.
pub(crate) const MOST_HELD: usize = 4_096;

/// Of whom, and since which epoch it counts.
pub(crate) type Source = (String, u64);

/// What came of a bundle.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrived {
    /// It was here before.
    Duplicate,
    /// It waits for others.
    Early,
    /// These can be given out, in this order.
    Ready(Vec<(Source, u64, Bundle)>),
}

/// The queue in front of the application.
#[derive(Debug, Default)]
pub(crate) struct Order {
    sources: HashMap<Source, Waiting>,
    held: usize,
    /// How many of those that wait had another number before.
    renumbered: usize,
    causal: bool,
    /// The tag of this member, whose own words do not pass here.
    me: [u8; 16],
    /// What bundles that wait came after, of senders of whom nothing came: the log was read to its end, and does not have it.
    absent: HashMap<([u8; 16], u64), u64>,
    numbers: u64,
    /// Whose row has to be written anew.
    touched: BTreeSet<Source>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Where it is kept.
    number: u64,
    /// The counter that is given out next.
    next: u64,
    /// This member was away: what comes next may be further on.
    away: bool,
    early: BTreeMap<u64, Bundle>,
}

impl Waiting {
    fn renumbered(&self) -> usize {
        self.early.values().filter(|bundle| bundle.former.is_some()).count()
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

    /// Whether another early bundle finds room.
    pub(crate) fn has_room(&self) -> bool {
        self.held < MOST_HELD
    }

    /// How many bundles wait.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Whether everything of a source up to this counter was given out, or waits here.
    pub(crate) fn has_all(&self, source: &Source, counter: u64) -> bool {
        self.sources.get(source).is_some_and(|waiting| {
            (waiting.next..=counter).all(|counter| waiting.early.contains_key(&counter))
        })
    }

    /// Takes a bundle. `joined` is the epoch since which this member sees everything: of who came later it has seen the first.
    pub(crate) fn arrive(&mut self, source: &Source, counter: u64, bundle: Bundle, joined: u64) -> Arrived {
        let first = if source.1 > joined { 1 } else { bundle.since.min(counter) };
        let since = bundle.since;
        let waiting = self.waiting(source, first);
        if std::mem::take(&mut waiting.away) {
            waiting.next = waiting.next.max(since.min(counter));
        }
        if counter < waiting.next || waiting.early.contains_key(&counter) {
            return Arrived::Duplicate;
        }
        self.hold(source, counter, bundle);
        let ready = self.ready_of(source);
        let given = self.next(source).is_some_and(|next| next > counter);
        if ready.is_empty() && !given { Arrived::Early } else { Arrived::Ready(ready) }
    }

    /// Where a source stands; one that is new begins at `first`.
    fn waiting(&mut self, source: &Source, first: u64) -> &mut Waiting {
        let numbers = &mut self.numbers;
        self.touched.insert(source.clone());
        self.sources.entry(source.clone()).or_insert_with(|| {
            *numbers += 1;
            Waiting { number: *numbers, next: first, away: false, early: BTreeMap::new() }
        })
    }

    fn hold(&mut self, source: &Source, counter: u64, bundle: Bundle) {
        self.held += 1;
        self.renumbered += usize::from(bundle.former.is_some());
        if let Some(waiting) = self.sources.get_mut(source) {
            waiting.early.insert(counter, bundle);
        }
    }

    /// What is held no longer, as it is given out: under the number that it had first, and once.
    fn settle(&mut self, source: &Source, counter: u64, bundle: Bundle) -> Option<(Source, u64, Bundle)> {
        self.held -= 1;
        let Some((born, was)) = bundle.former else { return Some((source.clone(), counter, bundle)) };
        self.renumbered -= 1;
        let former = (source.0.clone(), born);
        let waiting = self.waiting(&former, was);
        if was < waiting.next {
            return None;
        }
        waiting.next = was + 1;
        if let Some(first) = waiting.early.remove(&was) {
            self.held -= 1;
            self.renumbered -= usize::from(first.former.is_some());
        }
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

    /// Moves a source on to a counter: how many are missing before it, and what waited there.
    fn skip(&mut self, source: &Source, counter: u64) -> (u64, BTreeMap<u64, Bundle>) {
        let Some(waiting) = self.sources.get_mut(source) else { return (0, BTreeMap::new()) };
        self.touched.insert(source.clone());
        let later = waiting.early.split_off(&counter);
        let before = std::mem::replace(&mut waiting.early, later);
        let missing = counter.saturating_sub(waiting.next).saturating_sub(before.len() as u64);
        waiting.next = waiting.next.max(counter);
        (missing, before)
    }

    /// Gives out everything that waits for others in vain, in each sender's order.
    pub(crate) fn give_up_causality(&mut self) -> Vec<(Source, u64, Bundle)> {
        let causal = std::mem::take(&mut self.causal);
        let ready = self.ready();
        self.causal = causal;
        ready
    }

    /// The log was read to its end: of who is not known from it, nothing will come that those who wait have seen.
    pub(crate) fn give_up_strangers(&mut self) -> Vec<(Source, u64, Bundle)> {
        if !self.causal || self.held == 0 {
            return Vec::new();
        }
        let waiting = self.sources.values().flat_map(|waiting| waiting.early.values());
        let mut absent = HashMap::new();
        for upto in waiting.flat_map(|bundle| &bundle.after).filter(|upto| self.of_upto(upto).is_none()) {
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
        let (held, renumbered) = (&mut self.held, &mut self.renumbered);
        let mut rows = Vec::new();
        self.sources.retain(|source, waiting| {
            let stays = !gone(source);
            if !stays {
                *held -= waiting.early.len();
                *renumbered -= waiting.renumbered();
                rows.push(waiting.number);
            }
            stays
        });
        rows
    }

    /// This member was away, and what was said meanwhile it will not have. Forgets whoever is not `there`, and gives the rows that go.
    pub(crate) fn back(&mut self, mut there: impl FnMut(&str) -> bool) -> Vec<u64> {
        let rows = self.forget(|source| !there(&source.0));
        for (source, waiting) in &mut self.sources {
            waiting.early.clear();
            waiting.away = true;
            self.touched.insert(source.clone());
        }
        (self.held, self.renumbered) = (0, 0);
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
        let bundle = waiting.early.get(&counter)?;
        let before = |(born, was)| self.next(&(source.0.clone(), born)).is_none_or(|next| next >= was);
        let in_order = bundle.former.is_none_or(before);
        if !in_order || (self.causal && !bundle.after.iter().all(|upto| self.has(upto))) {
            return None;
        }
        let waiting = self.sources.get_mut(source)?;
        let bundle = waiting.early.remove(&counter)?;
        waiting.next += 1;
        self.touched.insert(source.clone());
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

    /// The rows that changed since the last call: where each is kept, and what. Bundles that wait are in them, for MLS opens each once.
    pub(crate) fn changed(&mut self) -> Vec<(u64, Vec<u8>)> {
        let touched = std::mem::take(&mut self.touched);
        let rows = touched.iter().filter_map(|source| Some((source, self.sources.get(source)?)));
        rows.map(|((did, born), waiting)| {
            let head = Writer::default().text(did).u64(*born).u64(waiting.next).u8(u8::from(waiting.away));
            let row = head.count(waiting.early.len());
            let row =
                row.each(&waiting.early, |to, (counter, bundle)| to.u64(*counter).bytes(&bundle.to_bytes()));
            (waiting.number, row.finish())
        })
        .collect()
    }

    pub(crate) fn restore(rows: BTreeMap<u64, Vec<u8>>, causal: bool) -> Result<Self, Malformed> {
        let mut order = Self::new(causal);
        for (number, row) in rows {
            let mut fields = Reader::new(row.into());
            let source = (fields.text()?, fields.u64()?);
            let (next, away) = (fields.u64()?, fields.u8()? == 1);
            let mut waiting = Waiting { number, next, away, early: BTreeMap::new() };
            for _ in 0..fields.count(12)? {
                waiting.early.insert(fields.u64()?, Bundle::parse(fields.bytes()?)?);
            }
            fields.end()?;
            order.held += waiting.early.len();
            order.renumbered += waiting.renumbered();
            order.numbers = order.numbers.max(number);
            order.sources.insert(source, waiting);
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

    fn counters(arrived: Arrived) -> Vec<(String, u64)> {
        match arrived {
            Arrived::Ready(ready) => ready.into_iter().map(|((did, _), counter, _)| (did, counter)).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn each_comes_once_and_in_the_order_of_its_sender() {
        let (mut order, alice) = (Order::default(), source("alice"));
        assert_eq!(order.arrive(&alice, 2, bundle(1, &[]), 1), Arrived::Early);
        assert_eq!(order.arrive(&alice, 2, bundle(1, &[]), 1), Arrived::Duplicate);
        assert_eq!(order.arrive(&alice, 3, bundle(1, &[]), 1), Arrived::Early);
        let all = counters(order.arrive(&alice, 1, bundle(1, &[]), 1));
        assert_eq!(all, [1, 2, 3].map(|counter| ("alice".to_owned(), counter)));
        assert_eq!(order.arrive(&alice, 3, bundle(1, &[]), 1), Arrived::Duplicate);
        assert_eq!(order.held(), 0);
    }

    #[test]
    fn who_joins_waits_for_nothing_that_was_said_before() {
        let (mut order, alice) = (Order::default(), source("alice"));
        assert_eq!(order.arrive(&alice, 41, bundle(40, &[]), 5), Arrived::Early);
        assert_eq!(counters(order.arrive(&alice, 40, bundle(40, &[]), 5)).len(), 2);
    }

    #[test]
    fn who_saw_a_sender_come_waits_for_its_first_message() {
        let (mut order, alice) = (Order::default(), source("alice"));
        assert_eq!(order.arrive(&alice, 4, bundle(4, &[]), 0), Arrived::Early);
        assert_eq!(order.give_up(&alice, 4), (3, vec![(alice.clone(), 4, bundle(4, &[]))]));
    }

    #[test]
    fn an_answer_waits_for_its_question_where_causal_order_is_asked_for() {
        let (alice, bob) = (source("alice"), source("bob"));
        for (causal, early) in [(true, true), (false, false)] {
            let mut order = Order::new(causal);
            counters(order.arrive(&alice, 1, bundle(1, &[]), 1));
            let answer = order.arrive(&bob, 1, bundle(1, &[("alice", 2)]), 1);
            assert_eq!(answer == Arrived::Early, early);
            let question = counters(order.arrive(&alice, 2, bundle(1, &[]), 1));
            assert_eq!(question.len(), if causal { 2 } else { 1 });
            assert_eq!(question[0], ("alice".to_owned(), 2));
        }
    }

    #[test]
    fn an_answer_waits_for_the_first_word_of_a_sender_until_the_log_is_known_not_to_have_it() {
        let (alice, bob) = (source("alice"), source("bob"));
        let mut order = Order::new(true).of(Upto::tag("carol"));
        assert_eq!(counters(order.arrive(&bob, 1, bundle(1, &[("carol", 9)]), 1)).len(), 1, "her own words");
        assert_eq!(order.arrive(&bob, 2, bundle(1, &[("alice", 4)]), 1), Arrived::Early);
        let both = counters(order.arrive(&alice, 4, bundle(4, &[]), 1));
        assert_eq!(both, [("alice".to_owned(), 4), ("bob".to_owned(), 2)]);

        assert_eq!(order.arrive(&bob, 3, bundle(1, &[("dave", 2)]), 1), Arrived::Early);
        assert_eq!(order.give_up_strangers(), [(bob.clone(), 3, bundle(1, &[("dave", 2)]))]);
        assert_eq!(order.arrive(&bob, 4, bundle(1, &[("dave", 3)]), 1), Arrived::Early, "another word");
        assert_eq!(order.arrive(&bob, 5, bundle(1, &[("alice", 5)]), 1), Arrived::Early);
        let given: Vec<u64> = order.give_up_strangers().into_iter().map(|(_, counter, _)| counter).collect();
        assert_eq!((given, order.held()), (vec![4], 1), "alice is known, and her next word to come");
    }

    #[test]
    fn what_waits_is_kept_and_found_again() {
        let (mut order, alice) = (Order::default(), source("alice"));
        counters(order.arrive(&alice, 1, bundle(1, &[]), 1));
        order.arrive(&alice, 3, bundle(1, &[("bob", 1)]), 1);
        let rows: BTreeMap<u64, Vec<u8>> = order.changed().into_iter().collect();
        assert_eq!((rows.len(), order.changed().len()), (1, 0));
        for len in 0..rows[&1].len() {
            assert!(Order::restore(BTreeMap::from([(1, rows[&1][..len].to_vec())]), false).is_err());
        }
        let mut again = Order::restore(rows, false).unwrap();
        assert_eq!((again.held, again.next(&alice)), (1, Some(2)));
        assert_eq!(counters(again.arrive(&alice, 2, bundle(1, &[]), 1)).len(), 2);
    }

    #[test]
    fn a_counter_far_ahead_is_given_up_to_at_once() {
        let mut order = Order::new(false);
        let source = ("did:example:a".to_owned(), 1);
        let bundle = || Bundle { since: 1, former: None, after: Vec::new(), payloads: Vec::new() };
        assert_eq!(order.arrive(&source, 3, bundle(), 0), Arrived::Early);
        assert_eq!(order.arrive(&source, 1 << 48, bundle(), 0), Arrived::Early);
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
        assert_eq!(counters(order.arrive(&alice, 1, bundle(1, &[]), 0)).len(), 1);
        assert_eq!(order.arrive(&back, 1, again(1), 0), Arrived::Ready(Vec::new()), "heard before");
        assert_eq!(order.arrive(&back, 2, again(2), 0), Arrived::Ready(vec![(alice.clone(), 2, again(2))]));
        assert_eq!(order.arrive(&alice, 2, bundle(1, &[]), 0), Arrived::Duplicate, "the first comes late");
        assert_eq!(counters(order.arrive(&back, 3, bundle(3, &[]), 0)), [("alice".to_owned(), 3)]);
        assert_eq!((order.held, order.renumbered), (0, 0));
        assert_eq!((order.next(&alice), order.next(&back)), (Some(3), Some(4)));
    }

    #[test]
    fn what_is_said_again_waits_for_what_was_said_before_it() {
        let (mut order, alice) = (Order::default(), source("alice"));
        let back = ("alice".to_owned(), 9);
        assert_eq!(counters(order.arrive(&alice, 1, bundle(1, &[]), 0)).len(), 1);
        assert_eq!(order.arrive(&alice, 4, bundle(1, &[]), 0), Arrived::Early);
        assert_eq!(order.arrive(&back, 1, again(3), 0), Arrived::Early, "the second is missing");
        let mut kept = Order::restore(order.changed().into_iter().collect(), false).unwrap();
        assert_eq!((kept.held, kept.renumbered), (2, 1));
        let numbers =
            counters(kept.arrive(&alice, 2, bundle(1, &[]), 0)).into_iter().map(|(_, counter)| counter);
        assert_eq!(numbers.collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!((kept.held, kept.renumbered, kept.next(&back)), (0, 0, Some(2)));

        let (missing, ready) = order.give_up(&back, 2);
        let numbers: Vec<u64> = ready.iter().map(|(_, counter, _)| *counter).collect();
        assert_eq!((missing, numbers), (1, vec![3, 4]), "the log never had the second");
        assert_eq!((order.held, order.renumbered, order.next(&alice)), (0, 0, Some(5)));
    }

    #[test]
    fn who_was_away_hears_nothing_twice_and_waits_for_nothing_that_was_said_meanwhile() {
        let (mut order, alice, bob) = (Order::default(), source("alice"), source("bob"));
        for counter in 1..=3 {
            assert_eq!(counters(order.arrive(&alice, counter, bundle(1, &[]), 1)).len(), 1);
        }
        assert_eq!(counters(order.arrive(&bob, 1, bundle(1, &[]), 1)).len(), 1);
        assert_eq!(order.arrive(&alice, 5, bundle(1, &[]), 1), Arrived::Early);
        assert_eq!(order.back(|did| did == "alice").len(), 1, "bob went");
        let mut order = Order::restore(order.changed().into_iter().collect(), false).unwrap();
        assert_eq!((order.held, order.next(&bob)), (0, None));
        assert_eq!(order.arrive(&alice, 3, bundle(9, &[]), 7), Arrived::Duplicate, "sealed again");

        order.back(|_| true);
        assert_eq!(counters(order.arrive(&alice, 9, bundle(9, &[]), 7)), [("alice".to_owned(), 9)]);
        assert_eq!(order.arrive(&alice, 11, bundle(9, &[]), 7), Arrived::Early, "and then for everything");
    }

    #[test]
    fn a_member_that_chains_numbers_of_many_epochs_costs_no_stack() {
        let mut order = Order::new(false);
        let epochs = 2_000;
        for born in 2..=epochs {
            let said = Bundle { former: Some((born - 1, 3)), ..bundle(1, &[]) };
            assert_eq!(order.arrive(&("mallory".to_owned(), born), 2, said, 0), Arrived::Early);
        }
        assert_eq!(order.held as u64, epochs - 1);
        for born in (2..=epochs).rev() {
            order.give_up(&("mallory".to_owned(), born), 3);
        }
        assert_eq!((order.held, order.renumbered), (0, 0));
    }
}
