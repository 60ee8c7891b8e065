use super::*;
use crate::error::Quota;
use crate::faults::Dice;
use crate::log::{EntryId, EntryKind};
use redb::StorageBackend;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

const CHANNEL: ChannelId = ChannelId([1; 32]);

fn entry(kind: EntryKind, id: u64, len: usize) -> Entry {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&id.to_be_bytes());
    Entry { id: EntryId(bytes), kind, content: vec![7; len].into() }
}

async fn append(file: &File, kind: EntryKind, id: u64, len: usize) -> Result<Placed> {
    file.append(&CHANNEL, entry(kind, id, len), 0).await
}

/// A disk that holds what was synced, and of what was written since perhaps something; and that fails from some write on.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Plates>);

#[derive(Debug, Default)]
struct Plates {
    now: Mutex<Vec<u8>>,
    synced: Mutex<Vec<u8>>,
    /// Since the last sync: where and what.
    since: Mutex<Vec<(u64, Vec<u8>)>>,
    writes: AtomicU64,
    /// The first write that fails; 0: none does.
    fails_at: AtomicU64,
}

impl Disk {
    fn write_number(&self) -> io::Result<()> {
        let number = 1 + self.0.writes.fetch_add(1, Ordering::Relaxed);
        let fails_at = self.0.fails_at.load(Ordering::Relaxed);
        if fails_at != 0 && number >= fails_at { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }

    /// What is found after the power was cut: all that was synced, and of the writes since then those that the dice say, the last of
    /// them perhaps in part.
    fn after_a_cut(&self, dice: &mut Dice) -> Self {
        let mut bytes = hold(&self.0.synced).clone();
        for (at, data) in hold(&self.0.since).iter() {
            if !dice.falls(0.5) {
                continue;
            }
            let len = if dice.falls(0.2) { dice.below(data.len() + 1) } else { data.len() };
            let at = usize::try_from(*at).unwrap();
            if bytes.len() < at + len {
                bytes.resize(at + len, 0);
            }
            bytes[at..at + len].copy_from_slice(&data[..len]);
        }
        Self::holding(bytes)
    }

    fn holding(bytes: Vec<u8>) -> Self {
        let plates =
            Plates { now: Mutex::new(bytes.clone()), synced: Mutex::new(bytes), ..Plates::default() };
        Self(Arc::new(plates))
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(hold(&self.0.now).len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let now = hold(&self.0.now);
        let at = usize::try_from(offset).unwrap();
        let there = now.get(at..at + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(there);
        Ok(())
    }

    /// A file's length is on the disk at once, as a journal of the file system would have it.
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.write_number()?;
        for bytes in [&self.0.now, &self.0.synced] {
            hold(bytes).resize(usize::try_from(len).unwrap(), 0);
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.write_number()?;
        hold(&self.0.since).clear();
        hold(&self.0.synced).clone_from(&hold(&self.0.now));
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write_number()?;
        let at = usize::try_from(offset).unwrap();
        hold(&self.0.now)[at..at + data.len()].copy_from_slice(data);
        hold(&self.0.since).push((offset, data.to_vec()));
        Ok(())
    }
}

fn on(disk: &Disk) -> Result<File> {
    let mut builder = Builder::new();
    // Small, so that a disk is copied quickly.
    builder.set_cache_size(1 << 20);
    let database = builder.create_with_backend(disk.clone()).map_err(failed)?;
    File::of(database, Limits::default(), Retention::default())
}

/// A disk with the file that [`File::open`] renames when it is whole.
fn begun() -> Disk {
    let disk = Disk::default();
    drop(on(&disk).unwrap());
    let bytes = hold(&disk.0.synced).clone();
    Disk::holding(bytes)
}

/// Works until the disk fails: what was answered, in order.
async fn works(disk: &Disk) -> Vec<(u64, u64)> {
    let mut answered = Vec::new();
    let Ok(file) = on(disk) else { return answered };
    let did = "did:example:a";
    let packages = |n: u64| KeyPackages { once: vec![Bytes::from(format!("{n}"))], last_resort: None };
    let mut newest = 0;
    for id in 1..=12 {
        let commit = entry(EntryKind::Commit, id, 600);
        let Ok(Placed::At(place)) = file.append(&CHANNEL, commit, newest).await else { break };
        answered.push((id, place));
        newest = place;
        let Ok(Placed::At(place)) = append(&file, EntryKind::Application, 100 + id, 600).await else { break };
        answered.push((100 + id, place));
        let put = file.put(vec![u8::try_from(id).unwrap(); 5_000].into()).await.is_ok();
        let published = put && file.publish(did, packages(id)).await.is_ok();
        if !published || (id == 8 && file.prune(&CHANNEL, 6).await.is_err()) {
            break;
        }
    }
    answered
}

#[tokio::test]
async fn a_disk_that_fails_at_any_write_loses_nothing_that_was_answered_and_repeats_nothing() {
    let mut dice = Dice::new(7, "disk");
    let whole = begun();
    let all = works(&whole).await;
    assert_eq!(all.len(), 24);
    let writes = whole.0.writes.load(Ordering::Relaxed);
    let (mut cuts, mut partial) = (0, 0);
    // Every write would be thousands of files; a seed chooses, the first ones are always among them.
    let chosen = (1..=20).chain((0..120).map(|_| 1 + dice.bits() % writes));
    for fails_at in chosen.collect::<Vec<_>>() {
        let disk = begun();
        disk.0.fails_at.store(fails_at, Ordering::Relaxed);
        let answered = works(&disk).await;
        assert!(answered.len() <= all.len());
        partial += usize::from(!answered.is_empty() && answered.len() < all.len());
        let found = on(&disk.after_a_cut(&mut dice)).unwrap_or_else(|error| {
            panic!("after a failure at write {fails_at}: {error}");
        });
        let page = found.read(&CHANNEL, 1, 100).await.unwrap();
        for (id, place) in &answered {
            let record = page.records.iter().find(|record| record.place == *place);
            let id = entry(EntryKind::Commit, *id, 0).id;
            assert!(*place < 6 || record.is_some_and(|record| record.entry.id == id), "write {fails_at}");
            // What is pruned is known by its id.
            let pruned = || Entry { id, ..entry(EntryKind::Application, 0, 3) };
            let again = record.map_or_else(pruned, |record| record.entry.clone());
            assert_eq!(found.append(&CHANNEL, again, 0).await.unwrap(), Placed::At(*place));
        }
        // At most the one whose answer did not come stands besides.
        assert!(page.head.last <= answered.len() as u64 + 1);
        let places: Vec<_> = page.records.iter().map(|record| record.place).collect();
        assert!(places.windows(2).all(|two| two[0] + 1 == two[1]), "a gap: {places:?}");
        let commits = page.records.iter().filter(|record| record.entry.kind == EntryKind::Commit);
        assert_eq!(commits.last().map_or(0, |record| record.place), page.head.commit);
        cuts += 1;
    }
    assert_eq!(cuts, 140);
    assert!(partial > 40, "{partial} ended in the middle of the work");
}

#[tokio::test]
async fn after_a_failure_the_reason_is_told_to_everyone() {
    let disk = begun();
    let file = on(&disk).unwrap();
    append(&file, EntryKind::Application, 1, 10).await.unwrap();
    disk.0.fails_at.store(1, Ordering::Relaxed);
    for id in [2, 3] {
        let error = append(&file, EntryKind::Application, id, 10).await.unwrap_err();
        assert!(matches!(&error, Error::Service(_)), "{error}");
        assert!(id == 3 || error.to_string().contains("the disk is gone"), "{error}");
    }
}

const CHILD: &str = "GAMBESON_DELIVERY_FILE";

/// Not a test by itself: what the killed process does.
#[test]
fn a_process_that_appends_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let file = File::open(path, Limits::default(), Retention::default()).unwrap();
        let from = file.read(&CHANNEL, 1, 1).await.unwrap().head.last;
        for id in from + 1.. {
            let placed = append(&file, EntryKind::Application, id, 2_000).await.unwrap();
            assert_eq!(placed, Placed::At(id));
            println!("answered {id}");
        }
    });
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_what_it_answered() {
    use std::io::BufRead;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("delivery");
    let mut answered = 0;
    for after in [1, 3, 10, 40] {
        let test = "engine::file::tests::a_process_that_appends_until_it_is_killed";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, &path)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = io::BufReader::new(child.stdout.take().unwrap()).lines();
        let mut heard = 0;
        for line in lines.map_while(std::result::Result::ok) {
            if let Some((_, number)) = line.split_once("answered ") {
                answered = number.parse().unwrap();
                heard += 1;
            }
            if heard == after {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        assert!(heard >= after, "it ended by itself after {heard}");
        let file = File::open(&path, Limits::default(), Retention::default()).unwrap();
        let head = file.read(&CHANNEL, 1, 1).await.unwrap().head;
        assert!((answered..=answered + 1).contains(&head.last), "{answered} answered, {head:?}");
        let newest = file.read(&CHANNEL, head.last, 9).await.unwrap();
        assert_eq!(newest.records[0].entry, entry(EntryKind::Application, head.last, 2_000));
        answered = head.last;
    }
}

#[tokio::test]
async fn the_file_is_its_owner_s_alone_and_one_process_s_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("delivery");
    let open = || File::open(&path, Limits::default(), Retention::default());
    let file = open().unwrap();
    #[cfg(unix)]
    {
        let permissions = std::fs::metadata(&path).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o777, 0o600);
    }
    assert!(matches!(open(), Err(Error::Service(_))), "twice");
    drop(file);
    drop(open().unwrap());
    std::fs::write(&path, "no such file").unwrap();
    assert!(matches!(open(), Err(Error::Service(_))), "another kind of file");
    std::fs::remove_file(&path).unwrap();
    std::fs::write(folder.path().join("delivery.new"), "begun by a process that was killed").unwrap();
    open().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

async fn limited(limits: Limits, retention: Retention) -> (File, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (File::open(folder.path().join("delivery"), limits, retention).unwrap(), folder)
}

fn quota<T: std::fmt::Debug>(result: Result<T>) -> Quota {
    match result {
        Err(Error::Full(quota)) => quota,
        other => panic!("not full: {other:?}"),
    }
}

#[tokio::test]
async fn a_channel_has_its_quota_of_entries_and_a_checkpoint_makes_room() {
    let limits = Limits { entries: 32, ..Limits::default() };
    let (file, _folder) = limited(limits, Retention::default()).await;
    for id in 0..32 {
        append(&file, EntryKind::Application, id, 1).await.unwrap();
    }
    assert_eq!(quota(append(&file, EntryKind::Application, 50, 1).await), Quota::Entries);
    assert_eq!(append(&file, EntryKind::Application, 3, 1).await.unwrap(), Placed::At(4), "one that stands");
    file.tidy().await.unwrap();
    assert_eq!(quota(append(&file, EntryKind::Application, 50, 1).await), Quota::Entries);
    let Placed::At(checkpoint) = append(&file, EntryKind::Checkpoint, 51, 1).await.unwrap() else { panic!() };
    file.tidy().await.unwrap();
    append(&file, EntryKind::Application, 50, 1).await.unwrap();
    assert_eq!(file.read(&CHANNEL, 1, 1).await.unwrap().head.first, checkpoint);
    let more = limits.entries / 16;
    for id in 0..31 + more {
        append(&file, EntryKind::Checkpoint, 100 + id, 1)
            .await
            .map_or_else(|error| assert!(id >= 30, "{error}"), |_| assert!(id < 30 + more));
    }
}

#[tokio::test]
async fn a_channel_has_its_quota_of_bytes() {
    let (file, _folder) = limited(Limits { bytes: 1_000, ..Limits::default() }, Retention::default()).await;
    append(&file, EntryKind::Application, 1, 900).await.unwrap();
    assert_eq!(quota(append(&file, EntryKind::Application, 2, 101).await), Quota::Bytes);
    append(&file, EntryKind::Application, 2, 100).await.unwrap();
    file.prune(&CHANNEL, 2).await.unwrap();
    append(&file, EntryKind::Application, 3, 900).await.unwrap();
}

#[tokio::test]
async fn channels_dids_and_the_store_have_their_quotas() {
    let limits = Limits { channels: 2, dids: 2, store: 20_000, ..Limits::default() };
    let (file, _folder) = limited(limits, Retention::default()).await;
    for byte in 1..=3 {
        let message = entry(EntryKind::Application, 1, 1);
        let placed = file.append(&ChannelId([byte; 32]), message, 0).await;
        assert_eq!(placed.is_ok(), byte < 3);
        let packages = KeyPackages { once: vec!["package".into()], last_resort: None };
        let published = file.publish(&format!("did:{byte}"), packages).await;
        assert_eq!(published.is_ok(), byte < 3);
        if byte == 3 {
            assert_eq!((quota(placed), quota(published)), (Quota::Channels, Quota::Dids));
        }
    }
    let blob = Bytes::from(vec![1; 15_000]);
    let id = file.put(blob.clone()).await.unwrap();
    assert_eq!(quota(file.put(vec![2; 15_000].into()).await), Quota::Store);
    assert_eq!(file.put(blob).await.unwrap(), id, "one that is kept takes no more");
    assert_eq!(quota(append(&file, EntryKind::Application, 9, 15_000).await), Quota::Store);
    let packages = KeyPackages { once: Vec::new(), last_resort: Some(vec![1; 15_000].into()) };
    assert_eq!(quota(file.publish("did:1", packages).await), Quota::Store);
}

#[tokio::test]
async fn retention_forgets_by_number_and_age_but_nothing_since_the_newest_checkpoint() {
    let day = Duration::from_secs(24 * 60 * 60);
    let retention = Retention { entries: Some(5), age: Some(day), blobs: None };
    let (file, _folder) = limited(Limits::default(), retention).await;
    for id in 1..=9 {
        append(&file, EntryKind::Application, id, 1).await.unwrap();
    }
    let first = async || file.read(&CHANNEL, 1, 1).await.unwrap().head.first;
    file.tidy().await.unwrap();
    assert_eq!(first().await, 1, "no checkpoint");
    append(&file, EntryKind::Checkpoint, 10, 1).await.unwrap();
    append(&file, EntryKind::Application, 11, 1).await.unwrap();
    file.tidy().await.unwrap();
    assert_eq!(first().await, 7, "the newest five");
    file.sweep(now() + u64::try_from(day.as_millis()).unwrap() * 2).await.unwrap();
    assert_eq!(first().await, 10, "all are old, but the checkpoint and what follows stay");
}

#[tokio::test]
async fn blobs_are_forgotten_that_nobody_asks_for() {
    let day = 24 * 60 * 60 * 1_000;
    let retention = Retention { blobs: Some(Duration::from_millis(10 * day)), ..Retention::default() };
    let (file, _folder) = limited(Limits::default(), retention).await;
    let (old, asked) = (file.put("old".into()).await.unwrap(), file.put("asked for".into()).await.unwrap());
    let later = now() + 8 * day;
    file.write(move |tables, _| Ok(tables.renew(&[asked], later)?)).await.unwrap();
    file.sweep(now() + 9 * day).await.unwrap();
    assert_eq!(file.has(&[old, asked]).await.unwrap(), [true, true]);
    file.sweep(now() + 11 * day).await.unwrap();
    assert_eq!(file.has(&[old, asked]).await.unwrap(), [false, true]);
    assert_eq!(file.get(&old).await.unwrap(), None);
}

#[tokio::test]
async fn a_blob_that_is_forgotten_while_somebody_asks_for_it_is_told_to_be_gone() {
    let day = 24 * 60 * 60 * 1_000;
    let retention = Retention { blobs: Some(Duration::from_millis(10 * day)), ..Retention::default() };
    let (file, _folder) = limited(Limits::default(), retention).await;
    let ids = [file.put("old".into()).await.unwrap()];
    // Old enough to be renewed by who asks for it.
    file.write(move |tables, _| Ok(tables.renew(&ids, now() - 2 * day)?)).await.unwrap();
    let (go, wait) = mpsc::channel::<()>();
    let sweep = file.write(move |tables, kept| {
        let _ = wait.recv();
        Ok(tables.sweep(&kept.limits, &kept.retention, now() + 9 * day)?)
    });
    let ask = async {
        let mut asked = file.has(&ids);
        // It has looked by then, and its renewal waits behind the sweep.
        let looked = tokio::time::timeout(Duration::from_millis(500), &mut asked).await;
        assert!(looked.is_err(), "the writing thread is busy");
        go.send(()).unwrap();
        asked.await.unwrap()
    };
    let (swept, kept) = tokio::join!(sweep, ask);
    swept.unwrap();
    assert_eq!(kept, [false]);
}
