//! What each engine does: see the traits. Every test has an engine in which nothing is, or channels and DIDs of its own.

use bytes::Bytes;
use gambeson_slim::engine::{Engine, Retention};
use gambeson_slim::{
    BlobId, ChannelId, Entry, EntryId, EntryKind, Error, Head, KeyPackages, MAX_BLOB, MAX_ENTRY,
    MAX_KEY_PACKAGE, MAX_KEY_PACKAGES, Page, Placed,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

type One = Arc<dyn Engine>;

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).unwrap();
    bytes
}

fn channel() -> ChannelId {
    ChannelId(random())
}

fn did() -> String {
    format!("did:example:{}", u64::from_be_bytes(random()))
}

fn entry(kind: EntryKind, content: &str) -> Entry {
    Entry { id: EntryId(random()), kind, content: Bytes::from(content.to_owned()) }
}

fn commit(content: &str) -> Entry {
    entry(EntryKind::Commit, content)
}

fn message(content: &str) -> Entry {
    entry(EntryKind::Application, content)
}

fn package(text: impl ToString) -> Bytes {
    Bytes::from(text.to_string())
}

async fn append(engine: &One, channel: &ChannelId, entry: Entry, after: u64) -> Placed {
    engine.append(channel, entry, after).await.unwrap()
}

/// Everything from a place on, read in pages of `limit`.
async fn all(engine: &One, channel: &ChannelId, mut from: u64, limit: usize) -> Page {
    let mut all = Page::default();
    loop {
        let page = engine.read(channel, from, limit).await.unwrap();
        assert!(page.records.len() <= limit);
        let Some(last) = page.records.last() else { return Page { head: page.head, ..all } };
        from = last.place + 1;
        all.records.extend(page.records);
    }
}

fn contents(page: &Page) -> Vec<&str> {
    page.records.iter().map(|record| std::str::from_utf8(&record.entry.content).unwrap()).collect()
}

fn places(page: &Page) -> Vec<u64> {
    page.records.iter().map(|record| record.place).collect()
}

/// The place, for who has won.
fn at(placed: Placed) -> u64 {
    match placed {
        Placed::At(place) => place,
        Placed::After(newest) => panic!("lost against {newest}"),
    }
}

pub async fn a_log_is_empty_before_the_first_entry(engine: One) {
    assert_eq!(engine.read(&channel(), 1, 10).await.unwrap(), Page::default());
    engine.prune(&channel(), 10).await.unwrap();
}

pub async fn commits_follow_one_another(engine: One) {
    let channel = channel();
    let one = at(append(&engine, &channel, commit("one"), 0).await);
    assert!(one >= 1);
    assert_eq!(append(&engine, &channel, commit("lost"), 0).await, Placed::After(one));
    assert_eq!(append(&engine, &channel, commit("of another log"), one + 1_000).await, Placed::After(one));
    let two = at(append(&engine, &channel, commit("two"), one).await);
    assert!(two > one);
    assert_eq!(append(&engine, &channel, commit("lost"), one).await, Placed::After(two));
    let page = all(&engine, &channel, 1, 10).await;
    assert_eq!(page.head, Head { first: 1, last: two, commit: two });
    assert_eq!(contents(&page), ["one", "two"]);
}

pub async fn other_entries_come_whenever_they_come(engine: One) {
    let channel = channel();
    let mut last = at(append(&engine, &channel, commit("commit"), 0).await);
    let newest = last;
    let kinds = EntryKind::ALL.into_iter().filter(|kind| *kind != EntryKind::Commit);
    for (kind, after) in kinds.zip([0, 1, 9, u64::MAX]) {
        let place = at(append(&engine, &channel, entry(kind, "other"), after).await);
        assert!(place > last);
        last = place;
    }
    let page = all(&engine, &channel, 1, 10).await;
    assert_eq!(page.head, Head { first: 1, last, commit: newest });
    assert_eq!(page.records.iter().map(|record| record.entry.kind).collect::<Vec<_>>(), EntryKind::ALL);
    assert!(at(append(&engine, &channel, commit("next"), newest).await) > last, "they move no commit");
}

pub async fn a_repeated_append_is_found_by_its_id(engine: One) {
    let (channel, said) = (channel(), message("said"));
    let place = append(&engine, &channel, said.clone(), 0).await;
    append(&engine, &channel, message("said later"), 0).await;
    assert_eq!(append(&engine, &channel, said.clone(), 0).await, place);
    assert_eq!(append(&engine, &channel, said, 7).await, place);
    assert_eq!(contents(&all(&engine, &channel, 1, 10).await), ["said", "said later"]);
}

pub async fn what_comes_under_the_id_of_another_entry_is_refused(engine: One) {
    let (channel, said) = (channel(), message("said"));
    let place = append(&engine, &channel, said.clone(), 0).await;
    let another = Entry { content: Bytes::from_static(b"another"), ..said.clone() };
    for _ in 0..2 {
        let refused = engine.append(&channel, another.clone(), 0).await;
        assert!(matches!(refused, Err(Error::IdTaken)), "{refused:?}");
    }
    assert_eq!(append(&engine, &channel, said.clone(), 0).await, place);
    engine.prune(&channel, u64::MAX).await.unwrap();
    assert_eq!(append(&engine, &channel, said, 0).await, place, "what is forgotten is known by its id");
    assert_eq!(contents(&all(&engine, &channel, 1, 10).await), [""; 0]);
}

pub async fn a_repeated_commit_has_won_when_it_stands(engine: One) {
    let (channel, mine, lost) = (channel(), commit("mine"), commit("lost"));
    let place = append(&engine, &channel, mine.clone(), 0).await;
    assert_eq!(append(&engine, &channel, mine.clone(), 0).await, place);
    assert_eq!(append(&engine, &channel, lost.clone(), 0).await, Placed::After(at(place)));
    let next = append(&engine, &channel, commit("next"), at(place)).await;
    assert_eq!(append(&engine, &channel, mine, 0).await, place, "also when another followed");
    let again = append(&engine, &channel, lost, at(next)).await;
    assert!(at(again) > at(next), "one that lost may come again");
    assert_eq!(contents(&all(&engine, &channel, 1, 10).await), ["mine", "next", "lost"]);
}

pub async fn an_id_belongs_to_its_channel(engine: One) {
    let (here, there, said) = (channel(), channel(), message("said"));
    append(&engine, &here, said.clone(), 0).await;
    append(&engine, &there, said, 0).await;
    for channel in [here, there] {
        assert_eq!(contents(&all(&engine, &channel, 1, 10).await), ["said"]);
    }
}

pub async fn channels_know_nothing_of_each_other(engine: One) {
    let (here, there) = (channel(), channel());
    append(&engine, &here, commit("here"), 0).await;
    append(&engine, &there, commit("there"), 0).await;
    let page = all(&engine, &there, 1, 10).await;
    assert_eq!(contents(&page), ["there"]);
    engine.prune(&here, u64::MAX).await.unwrap();
    assert_eq!(all(&engine, &there, 1, 10).await, page);
}

pub async fn of_eight_that_commit_at_once_exactly_one_wins(engine: One) {
    let channel = channel();
    let mut newest = 0;
    for round in 0..10 {
        let appends = (0..8).map(|task| {
            let (engine, entry) = (Arc::clone(&engine), commit(&format!("{round} by {task}")));
            tokio::spawn(async move { engine.append(&channel, entry, newest).await.unwrap() })
        });
        let mut won = Vec::new();
        let mut lost = Vec::new();
        for append in appends.collect::<Vec<_>>() {
            match append.await.unwrap() {
                Placed::At(place) => won.push(place),
                Placed::After(place) => lost.push(place),
            }
        }
        assert_eq!((won.len(), lost.len()), (1, 7), "round {round}");
        assert!(lost.iter().all(|place| *place == won[0]), "the others are told of whom they follow");
        newest = won[0];
    }
    let page = all(&engine, &channel, 1, 3).await;
    assert_eq!(page.records.len(), 10);
    assert_eq!(page.head.commit, newest);
}

pub async fn entries_that_come_at_once_stand_in_one_order(engine: One) {
    let channel = channel();
    let tasks = (0..8).map(|task| {
        let engine = Arc::clone(&engine);
        tokio::spawn(async move {
            let mut placed = Vec::new();
            for turn in 0..10 {
                let text = format!("{task} {turn}");
                placed.push((at(append(&engine, &channel, message(&text), 0).await), text));
            }
            placed
        })
    });
    let mut placed = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        let of_one = task.await.unwrap();
        assert!(of_one.is_sorted(), "who waits for the answer sees his own order");
        placed.extend(of_one);
    }
    placed.sort_unstable();
    let page = all(&engine, &channel, 1, 7).await;
    let read: Vec<_> = places(&page).into_iter().zip(contents(&page).into_iter().map(String::from)).collect();
    assert_eq!(read, placed);
    assert_eq!(read.len(), 80);
}

pub async fn pages_begin_where_they_are_asked_to_and_end_at_the_limit(engine: One) {
    let channel = channel();
    let mut stand = Vec::new();
    for number in 0..10 {
        stand.push(at(append(&engine, &channel, message(&number.to_string()), 0).await));
    }
    let head = Head { first: 1, last: stand[9], commit: 0 };
    for from in 0..=10 {
        for limit in [0, 1, 3, 100] {
            let asked = stand.get(from).copied().unwrap_or(stand[9] + 1);
            let page = engine.read(&channel, asked, limit).await.unwrap();
            assert_eq!(page.head, head);
            let expected = &stand[from.min(10)..(from + limit.max(1)).min(10)];
            assert!(expected.starts_with(&places(&page)), "in order, and none left out");
            assert!(!page.records.is_empty() || expected.is_empty(), "at least one if there is one");
        }
    }
    assert_eq!(places(&all(&engine, &channel, 0, 4).await), stand, "0 is the beginning too");
    assert!(engine.read(&channel, u64::MAX, 4).await.unwrap().records.is_empty());
}

pub async fn a_page_has_what_fits_and_at_least_one_record(engine: One) {
    let channel = channel();
    let large = "x".repeat(MAX_ENTRY);
    for _ in 0..9 {
        append(&engine, &channel, message(&large), 0).await;
    }
    let page = all(&engine, &channel, 1, 100).await;
    assert_eq!(page.records.len(), 9);
    assert!(page.records.iter().all(|record| record.entry.content == large));
}

pub async fn pruning_forgets_entries_but_no_head_and_no_id(engine: One) {
    let channel = channel();
    let first = commit("1");
    let newest = at(append(&engine, &channel, first.clone(), 0).await);
    let mut stand = vec![newest];
    for number in 2..=6 {
        stand.push(at(append(&engine, &channel, message(&number.to_string()), 0).await));
    }
    engine.prune(&channel, stand[3]).await.unwrap();
    let page = all(&engine, &channel, 1, 2).await;
    assert_eq!(contents(&page), ["4", "5", "6"]);
    assert_eq!(page.head, Head { first: stand[2] + 1, last: stand[5], commit: newest });
    engine.prune(&channel, stand[1]).await.unwrap();
    assert_eq!(all(&engine, &channel, 1, 2).await, page, "what is forgotten is forgotten");

    assert_eq!(append(&engine, &channel, first, 0).await, Placed::At(newest), "the id is known");
    assert_eq!(append(&engine, &channel, commit("late"), 0).await, Placed::After(newest));
    assert!(at(append(&engine, &channel, commit("next"), newest).await) > stand[5]);
}

pub async fn pruning_everything_keeps_the_places(engine: One) {
    let channel = channel();
    let newest = at(append(&engine, &channel, commit("1"), 0).await);
    let last = at(append(&engine, &channel, message("2"), 0).await);
    engine.prune(&channel, u64::MAX).await.unwrap();
    let page = all(&engine, &channel, 1, 2).await;
    assert_eq!(page, Page { head: Head { first: last + 1, last, commit: newest }, records: Vec::new() });
    assert_eq!(append(&engine, &channel, commit("late"), 0).await, Placed::After(newest));
    let next = at(append(&engine, &channel, message("3"), 0).await);
    assert!(next > last);
    let page = all(&engine, &channel, 1, 2).await;
    assert_eq!(page.head, Head { first: last + 1, last: next, commit: newest });
    assert_eq!(contents(&page), ["3"]);
}

pub async fn what_stands_in_another_channel_is_no_gap_in_this_one(engine: One) {
    let (here, there) = (channel(), channel());
    let mut stand = Vec::new();
    for number in 0..4 {
        append(&engine, &there, message("there"), 0).await;
        stand.push(at(append(&engine, &here, message(&number.to_string()), 0).await));
    }
    assert_eq!(all(&engine, &here, 1, 2).await.head.first, 1, "nothing is forgotten");
    // Where the other channel's entry may stand, and where none of this one does.
    engine.prune(&here, stand[0]).await.unwrap();
    assert_eq!(all(&engine, &here, 1, 2).await.head.first, 1, "nothing stood before it");
    engine.prune(&here, stand[2]).await.unwrap();
    let page = all(&engine, &here, 1, 2).await;
    assert_eq!((page.head.first, contents(&page)), (stand[1] + 1, vec!["2", "3"]));
    assert_eq!(all(&engine, &there, 1, 2).await.head.first, 1);
}

/// Appends a message where what is old may have to go first, which may take a moment.
async fn append_in_time(engine: &One, channel: &ChannelId, entry: Entry) -> Placed {
    for _ in 0..1_000 {
        match engine.append(channel, entry.clone(), 0).await {
            Err(Error::Full(_)) => tokio::time::sleep(Duration::from_millis(10)).await,
            placed => return placed.unwrap(),
        }
    }
    panic!("there is no room, though there is a checkpoint");
}

/// Of an engine that takes some hundreds of entries of 1 KiB.
pub async fn a_log_goes_on_for_ever_behind_checkpoints_and_keeps_all_since_the_newest(engine: One) {
    let (channel, long) = (channel(), "x".repeat(1_024));
    let first = at(append(&engine, &channel, commit("the commit"), 0).await);
    let (mut checkpoint, mut since) = (0, Vec::new());
    for number in 0..1_500 {
        if number % 60 == 59 {
            checkpoint = at(append(&engine, &channel, entry(EntryKind::Checkpoint, "here"), 0).await);
            since.clear();
        }
        let text = format!("{number} {long}");
        append_in_time(&engine, &channel, message(&text)).await;
        since.push(text);
    }
    let page = all(&engine, &channel, 1, 100).await;
    assert!(page.head.first > first && page.head.first <= checkpoint, "{:?}", page.head);
    assert!(page.records.len() < 750, "{} entries are kept", page.records.len());
    assert_eq!(page.head.commit, first, "the commit is gone, and still the newest");
    assert!(contents(&page).ends_with(&since.iter().map(String::as_str).collect::<Vec<_>>()));
}

/// Of such an engine.
pub async fn a_full_log_has_room_for_a_checkpoint_and_then_for_everything(engine: One) {
    let (channel, long) = (channel(), "x".repeat(1_024));
    let newest = at(append(&engine, &channel, commit("the commit"), 0).await);
    let stands = message("stands");
    let place = append(&engine, &channel, stands.clone(), 0).await;
    let refused = async {
        for _ in 0..1_500 {
            if let Err(error) = engine.append(&channel, message(&long), 0).await {
                return error;
            }
        }
        panic!("without a checkpoint nothing can go");
    };
    assert!(matches!(refused.await, Error::Full(_)));
    assert!(matches!(engine.append(&channel, commit(&long), newest).await, Err(Error::Full(_))));
    assert_eq!(append(&engine, &channel, commit("late"), newest - 1).await, Placed::After(newest));
    assert_eq!(append(&engine, &channel, stands, 0).await, place, "what stands is found");
    append(&engine, &channel, entry(EntryKind::Checkpoint, "here"), 0).await;
    append_in_time(&engine, &channel, message(&long)).await;
    assert!(at(append(&engine, &channel, commit("next"), newest).await) > newest);
    assert!(all(&engine, &channel, 1, 100).await.head.first > newest);
}

pub async fn an_entry_has_a_largest_size(engine: One) {
    let channel = channel();
    let mut largest = message(&"x".repeat(MAX_ENTRY));
    at(append(&engine, &channel, largest.clone(), 0).await);
    largest.content = Bytes::from(vec![0; MAX_ENTRY + 1]);
    let refused = engine.append(&channel, largest, 0).await;
    assert!(matches!(refused, Err(Error::EntryTooLarge(len)) if len == MAX_ENTRY + 1), "{refused:?}");
    let empty = at(append(&engine, &channel, message(""), 0).await);
    let page = engine.read(&channel, empty, 1).await.unwrap();
    assert!(page.records[0].entry.content.is_empty(), "an entry may be empty");
}

pub async fn entries_have_a_time(engine: One) {
    let channel = channel();
    append(&engine, &channel, message("now"), 0).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let at = u128::from(all(&engine, &channel, 1, 1).await.records[0].at);
    assert!(now.abs_diff(at) < 60_000, "{at} is not now, {now}");
}

pub async fn a_blob_is_found_by_its_hash(engine: One) {
    let bytes = Bytes::from(random::<1000>().to_vec());
    let id = BlobId::of(&bytes);
    assert_eq!(engine.get(&id).await.unwrap(), None);
    assert_eq!(engine.put(bytes.clone()).await.unwrap(), id);
    assert_eq!(engine.put(bytes.clone()).await.unwrap(), id, "twice is no error");
    assert_eq!(engine.get(&id).await.unwrap(), Some(bytes));
    let empty = engine.put(Bytes::new()).await.unwrap();
    assert_eq!(engine.get(&empty).await.unwrap(), Some(Bytes::new()));
}

pub async fn a_blob_has_a_largest_size(engine: One) {
    let largest = Bytes::from(random::<32>().repeat(MAX_BLOB / 32));
    let id = engine.put(largest.clone()).await.unwrap();
    assert_eq!(engine.get(&id).await.unwrap(), Some(largest));
    let refused = engine.put(Bytes::from(vec![0; MAX_BLOB + 1])).await;
    assert!(matches!(refused, Err(Error::BlobTooLarge(len)) if len == MAX_BLOB + 1), "{refused:?}");
}

pub async fn of_many_blobs_those_that_are_kept_are_told(engine: One) {
    let (mut ids, mut kept) = (Vec::new(), Vec::new());
    for number in 0..12u8 {
        let bytes = Bytes::from(random::<40>().to_vec());
        ids.push(BlobId::of(&bytes));
        kept.push(number % 3 == 0);
        if number % 3 == 0 {
            engine.put(bytes).await.unwrap();
        }
    }
    assert_eq!(engine.has(&ids).await.unwrap(), kept);
    assert_eq!(engine.has(&[]).await.unwrap(), [false; 0]);
}

pub async fn many_blobs_come_in_their_order_also_if_one_frame_does_not_hold_them(engine: One) {
    let (mut ids, mut kept) = (Vec::new(), Vec::new());
    for number in 0..12 {
        let bytes = Bytes::from(random::<32>().repeat(if number % 2 == 0 { MAX_BLOB / 32 } else { 1 }));
        ids.push(BlobId::of(&bytes));
        let put = number % 5 != 0;
        if put {
            engine.put(bytes.clone()).await.unwrap();
        }
        kept.push(put.then_some(bytes));
    }
    assert_eq!(engine.get_many(&ids).await.unwrap(), kept);
    assert_eq!(engine.get_many(&[]).await.unwrap(), []);
}

/// What the engine of the next test forgets.
pub const SOON: Retention = Retention { entries: None, age: None, blobs: Some(Duration::from_secs(6)) };

pub async fn a_blob_goes_that_nobody_puts_or_asks_for_and_can_be_put_again(engine: One) {
    let (left, put, asked) = (package("left"), package("put"), package("asked for"));
    for blob in [&left, &put, &asked] {
        engine.put(blob.clone()).await.unwrap();
    }
    let ids = [&left, &put, &asked].map(|blob| BlobId::of(blob));
    assert_eq!(engine.has(&ids).await.unwrap(), [true; 3]);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(13) {
        assert_eq!(engine.has(&ids[2..]).await.unwrap(), [true]);
        engine.put(put.clone()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    assert_eq!(engine.get_many(&ids).await.unwrap(), [None, Some(put), Some(asked)]);
    assert_eq!(engine.has(&ids).await.unwrap(), [false, true, true]);
    engine.put(left.clone()).await.unwrap();
    assert_eq!(engine.get(&ids[0]).await.unwrap(), Some(left));
}

pub async fn a_key_package_is_given_out_once(engine: One) {
    let did = did();
    assert_eq!(engine.take(&did).await.unwrap(), None);
    let once = (0..3).map(package).collect();
    engine.publish(&did, KeyPackages { once, last_resort: None }).await.unwrap();
    assert_eq!(engine.left(&did).await.unwrap(), 3);
    let mut taken = HashSet::new();
    for left in [2, 1, 0] {
        taken.insert(engine.take(&did).await.unwrap().unwrap());
        assert_eq!(engine.left(&did).await.unwrap(), left);
    }
    assert_eq!(taken, (0..3).map(package).collect());
    assert_eq!(engine.take(&did).await.unwrap(), None);
}

pub async fn of_many_that_take_at_once_none_gets_what_another_got(engine: One) {
    let did = did();
    let once = (0..20).map(package).collect();
    engine.publish(&did, KeyPackages { once, last_resort: None }).await.unwrap();
    let takes = (0..24).map(|_| {
        let (engine, did) = (Arc::clone(&engine), did.clone());
        tokio::spawn(async move { engine.take(&did).await.unwrap() })
    });
    let (mut taken, mut nothing) = (HashSet::new(), 0);
    for take in takes.collect::<Vec<_>>() {
        match take.await.unwrap() {
            Some(package) => assert!(taken.insert(package), "given out twice"),
            None => nothing += 1,
        }
    }
    assert_eq!((taken.len(), nothing), (20, 4));
}

pub async fn a_last_resort_is_given_out_when_nothing_else_is_left(engine: One) {
    let did = did();
    let packages = KeyPackages { once: vec![package("once")], last_resort: Some(package("last")) };
    engine.publish(&did, packages).await.unwrap();
    assert_eq!(engine.take(&did).await.unwrap(), Some(package("once")));
    for _ in 0..3 {
        assert_eq!(engine.take(&did).await.unwrap(), Some(package("last")));
    }
    assert_eq!(engine.left(&did).await.unwrap(), 0, "it does not count");
}

pub async fn a_new_last_resort_replaces_the_old(engine: One) {
    let did = did();
    for text in ["old", "new"] {
        let packages = KeyPackages { once: Vec::new(), last_resort: Some(package(text)) };
        engine.publish(&did, packages).await.unwrap();
    }
    engine.publish(&did, KeyPackages::default()).await.unwrap();
    assert_eq!(engine.take(&did).await.unwrap(), Some(package("new")), "and none replaces nothing");
}

pub async fn a_package_is_not_added_twice_even_after_it_was_given_out(engine: One) {
    let did = did();
    let packages = KeyPackages { once: vec![package(1), package(2), package(1)], last_resort: None };
    engine.publish(&did, packages.clone()).await.unwrap();
    assert_eq!(engine.left(&did).await.unwrap(), 2);
    let first = engine.take(&did).await.unwrap();
    engine.publish(&did, packages).await.unwrap();
    assert_eq!(engine.left(&did).await.unwrap(), 1);
    assert_ne!(engine.take(&did).await.unwrap(), first);
    assert_eq!(engine.take(&did).await.unwrap(), None);
}

pub async fn a_did_has_only_so_many_key_packages(engine: One) {
    let did = did();
    let publish = |from: usize, to: usize| {
        let packages = KeyPackages { once: (from..to).map(package).collect(), last_resort: None };
        let (engine, did) = (Arc::clone(&engine), did.clone());
        async move { engine.publish(&did, packages).await }
    };
    publish(0, MAX_KEY_PACKAGES).await.unwrap();
    let refused = publish(0, MAX_KEY_PACKAGES + 1).await;
    assert!(matches!(refused, Err(Error::TooManyKeyPackages(MAX_KEY_PACKAGES))), "{refused:?}");
    let refused = publish(2_000, 2_001).await;
    assert!(matches!(refused, Err(Error::TooManyKeyPackages(MAX_KEY_PACKAGES))), "{refused:?}");
    assert_eq!(engine.left(&did).await.unwrap(), MAX_KEY_PACKAGES);
    engine.take(&did).await.unwrap();
    publish(2_000, 2_001).await.unwrap();
    assert_eq!(engine.left(&did).await.unwrap(), MAX_KEY_PACKAGES);
}

pub async fn a_key_package_has_a_largest_size(engine: One) {
    let did = did();
    let largest = Bytes::from(vec![7; MAX_KEY_PACKAGE]);
    let publish = |once, last_resort| engine.publish(&did, KeyPackages { once, last_resort });
    publish(vec![largest.clone()], Some(largest.clone())).await.unwrap();
    assert_eq!(engine.take(&did).await.unwrap(), Some(largest.clone()));
    assert_eq!(engine.take(&did).await.unwrap(), Some(largest));
    let larger = Bytes::from(vec![7; MAX_KEY_PACKAGE + 1]);
    for refused in [publish(vec![larger.clone()], None).await, publish(Vec::new(), Some(larger)).await] {
        assert!(matches!(refused, Err(Error::KeyPackageTooLarge(_))), "{refused:?}");
    }
    let refused = engine.publish(&"x".repeat(3_000), KeyPackages::default()).await;
    assert!(matches!(refused, Err(Error::DidTooLong(3_000))), "{refused:?}");
}

pub async fn dids_know_nothing_of_each_other(engine: One) {
    let (here, there) = (did(), did());
    let packages = || KeyPackages { once: vec![package("same")], last_resort: None };
    engine.publish(&here, packages()).await.unwrap();
    engine.publish(&there, packages()).await.unwrap();
    for did in [here, there] {
        assert_eq!(engine.take(&did).await.unwrap(), Some(package("same")));
        assert_eq!(engine.take(&did).await.unwrap(), None);
    }
}
