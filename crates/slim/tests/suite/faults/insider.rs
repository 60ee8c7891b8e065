//! A member that keeps no rules, among honest ones: it reads what they keep at the service, and writes what no honest node would.

use std::sync::Arc;
use std::time::Duration;

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{AeadInOut, KeyInit};
use bytes::Bytes;
use gambeson_identity::Role as Key;
use gambeson_slim::{
    BlobId, Cards, Changes, Channel, ChannelId, Entry, EntryId, EntryKind, Event, Frame, KeyPackages, Member,
    NOTE_EXTENSION, Node, Placed, Policy, Warning,
};
use mls_rs::client_builder::MlsConfig;
use mls_rs::group::{CommitBuilder, Group};
use mls_rs::time::MlsTime;
use mls_rs::{Client, ExtensionList, MlsMessage};

use crate::people;
use crate::world::{Offered, Person, World, messages, said};

/// What is sealed for the channel: a salt, and under the key that it gives the content, with a nonce of zeros.
struct Surface([u8; 32]);

impl Surface {
    fn key(&self, label: &str, salt: &[u8]) -> [u8; 32] {
        *blake3::Hasher::new_keyed(&self.0).update(salt).update(label.as_bytes()).finalize().as_bytes()
    }

    fn open(&self, label: &str, sealed: &[u8]) -> Vec<u8> {
        let (salt, body) = sealed.split_at(32);
        open(&self.key(label, salt), body)
    }

    fn seal(&self, label: &str, bytes: &[u8]) -> Vec<u8> {
        let salt = blake3::hash(bytes);
        [&salt.as_bytes()[..], &seal(&self.key(label, salt.as_bytes()), bytes)].concat()
    }
}

fn seal(key: &[u8; 32], bytes: &[u8]) -> Vec<u8> {
    let (cipher, mut body) = (Aes256Gcm::new(key.into()), bytes.to_vec());
    let tag = cipher.encrypt_inout_detached(&[0; 12].into(), &[], body.as_mut_slice().into()).unwrap();
    [&body[..], &tag].concat()
}

fn open(key: &[u8; 32], sealed: &[u8]) -> Vec<u8> {
    let (body, tag) = sealed.split_last_chunk::<16>().unwrap();
    let (cipher, mut body) = (Aes256Gcm::new(key.into()), body.to_vec());
    cipher.decrypt_inout_detached(&[0; 12].into(), &[], body.as_mut_slice().into(), tag.into()).unwrap();
    body
}

/// What is published of somebody: a version, the DID and the blobs of its cards; and the key package behind them.
fn halves(person: &Person, published: &Bytes) -> (Bytes, Bytes) {
    let at = 1 + 2 + person.did().as_str().len();
    let cards = u32::from_be_bytes(*published[at..].first_chunk().unwrap()) as usize;
    let mut cards_of = published.clone();
    let package = cards_of.split_off(at + 4 + 32 * cards);
    (cards_of, package)
}

fn inbox(person: &Person) -> ChannelId {
    ChannelId(blake3::derive_key("gambeson inbox log v1", person.did().as_str().as_bytes()))
}

/// Publishes a key package of this client for the person, who has a card at the service already, and no other.
async fn offer(person: &Person, client: &Client<impl MlsConfig>) {
    let (keys, did) = (&person.world.services.keys, person.did());
    let mut published = Bytes::new();
    while keys.left(did.as_str()).await.unwrap() > 0 {
        published = keys.take(did.as_str()).await.unwrap().unwrap();
    }
    let from = Some(MlsTime::from(person.world.now().0 - 60));
    let package =
        client.generate_key_package_message(ExtensionList::new(), ExtensionList::new(), from).unwrap();
    let package = [&halves(person, &published).0[..], &package.to_bytes().unwrap()].concat();
    let packages = KeyPackages { once: vec![package.into()], last_resort: None };
    keys.publish(did.as_str(), packages).await.unwrap();
}

/// Joins by the invitation in the person's inbox.
async fn enter<C: MlsConfig>(person: &Person, client: &Client<C>) -> (Group<C>, Surface) {
    let services = &person.world.services;
    let (snapshot, welcome) = loop {
        let page = services.log.read(&inbox(person), 1, 10).await.unwrap();
        match page.records.first().map(|record| Frame::parse(&record.entry.content)) {
            Some(Ok(Frame::Invitation { snapshot, welcome })) => break (snapshot, welcome),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    };
    let welcome = MlsMessage::from_bytes(&welcome).unwrap();
    let info = client.examine_welcome_message(&welcome).unwrap();
    let note = info.extensions().iter().find(|one| one.extension_type == NOTE_EXTENSION.into()).unwrap();
    let surface = Surface(*note.extension_data[32..].first_chunk().unwrap());
    let snapshot = surface.open("snapshot", &services.blobs.get(&snapshot).await.unwrap().unwrap());
    // The channel, its epoch, the place of its commit; then each chunk of the tree, with its key.
    let (count, chunks) = snapshot[32 + 8 + 8..].split_first_chunk().unwrap();
    let mut tree = Vec::new();
    for chunk in chunks.chunks(64).take(u32::from_be_bytes(*count) as usize) {
        let (blob, key) = chunk.split_first_chunk::<32>().unwrap();
        let sealed = services.blobs.get(&BlobId(*blob)).await.unwrap().unwrap();
        tree.extend(open(key.try_into().unwrap(), &sealed));
    }
    let (group, _) = client.join_group(Some(people::bare(&tree)), &welcome, None).unwrap();
    (group, surface)
}

/// The reasons for which a member refused commits, with their places.
async fn refusals(channel: &Channel) -> Vec<(u64, String)> {
    let all = channel.history(1, 1_000).await.unwrap();
    let refused = all.into_iter().filter_map(|one| match one.event {
        Event::Warning(Warning::Refused { place, reason }) => Some((place, reason)),
        _ => None,
    });
    refused.collect()
}

/// Alice's channel with Bob and Carol, and Mallory, who came last, with a group that knows no rules.
async fn among_honest(
    seed: u64,
) -> (World, [Person; 4], Vec<Node>, [Channel; 3], Group<impl MlsConfig>, Surface) {
    let world = World::new(seed);
    let people = ["alice", "bob", "carol", "mallory"].map(|name| world.agent(name));
    let mallory = &people[3];
    let at_mallory = mallory.node().await;
    at_mallory.offered(&world).await;
    drop(at_mallory);
    let (me, key) = (mallory.me(), Key::GroupMlDsa65);
    let client = people::outlaw(&mallory.agent, key, me.credential().to_bytes(), me.suites()[0]);
    offer(mallory, &client).await;

    let at = world.opened(&people[..3]).await;
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    let a = at[0].create(policy).await.unwrap();
    a.invite(&[people[1].did(), people[2].did()]).await.unwrap();
    let honest = [a.clone(), at[1].joined(&a.id()).await, at[2].joined(&a.id()).await];
    a.invite(&[mallory.did()]).await.unwrap();
    for channel in &honest {
        channel.until(|status| status.epoch == 2 && status.members.len() == 4).await.unwrap();
    }
    let (group, surface) = enter(mallory, &client).await;
    (world, people, at, honest, group, surface)
}

#[tokio::test(start_paused = true)]
async fn what_an_insider_commits_against_the_policy_stands_in_the_log_and_each_honest_member_refuses_it() {
    let (world, people, _at, honest, mut group, surface) = among_honest(39).await;
    let (a, log) = (&honest[0], &world.services.log);
    let mut places = Vec::new();
    let time = MlsTime::from(world.now().0);
    let mut forbidden = |number, what: &dyn Fn(CommitBuilder<'_, _>) -> MlsMessage| {
        let commit = what(group.commit_builder().commit_time(time)).to_bytes().unwrap();
        group.clear_pending_commit();
        // Whole, and without cards of anybody.
        let content = [&[1, 0][..], &surface.seal("commit", &[&[0; 4][..], &commit].concat())].concat();
        Entry { id: EntryId([number; 16]), kind: EntryKind::Commit, content: content.into() }
    };
    let commits = [
        forbidden(1, &|builder| builder.remove_member(0).unwrap().build().unwrap().commit_message),
        forbidden(2, &|builder| builder.remove_member(1).unwrap().build().unwrap().commit_message),
    ];
    for commit in commits {
        let newest = log.read(&a.id(), 1, 1).await.unwrap().head.commit;
        let Placed::At(place) = log.append(&a.id(), commit, newest).await.unwrap() else { panic!("lost") };
        places.push(place);
    }
    for channel in &honest {
        channel.catch_up().await.unwrap();
        let refused = refusals(channel).await;
        assert_eq!(refused.iter().map(|(place, _)| *place).collect::<Vec<_>>(), places);
        assert!(refused.iter().all(|(_, reason)| reason.contains("not-permitted")), "{refused:?}");
        assert_eq!((channel.status().epoch, channel.status().members.len()), (2, 4));
    }

    honest[1].rotate().await.unwrap();
    a.remove(&[people[3].did()]).await.unwrap();
    for channel in &honest {
        channel.until(|status| status.epoch == 4 && status.members.len() == 3).await.unwrap();
        assert_eq!(channel.status().authenticator, a.status().authenticator);
    }
    honest[2].send("we go on").await.unwrap();
    for channel in &honest {
        assert_eq!(messages(channel, 1).await, [said(&people[2], "we go on")]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_insider_says_as_a_bridge_that_the_policy_forbids_is_a_warning_and_nothing_else() {
    let (world, people, _at, honest, mut group, _) = among_honest(40).await;
    // It stands, with this session, which is not encrypted and has no clients.
    let news = [b"\0gambeson bridge\x01\x01\0\x04plan\0", &[0; 4][..]].concat();
    // Version, the first counter of the epoch, no life before, no causes; one message, and its length.
    let (one, none) = (1_u32.to_be_bytes(), [0; 4]);
    let length = (news.len() as u32).to_be_bytes();
    let bundle = [&[1][..], &1_u64.to_be_bytes(), &[0], &none, &one, &[0], &length, &news].concat();
    // Version, a bundle, when its sender came, its number, the epoch's authenticator.
    let (born, number) = (2_u64.to_be_bytes(), 1_u64.to_be_bytes());
    let mark = [&[1, 1][..], &born, &number, &honest[0].status().authenticator].concat();
    let said = group.encrypt_application_message(&bundle, mark).unwrap().to_bytes().unwrap();
    let content = [&[1][..], &said].concat().into();
    let entry = Entry { id: EntryId([1; 16]), kind: EntryKind::Application, content };
    world.services.log.append(&honest[0].id(), entry, 0).await.unwrap();
    for channel in &honest {
        channel.catch_up().await.unwrap();
        let told = channel.history(1, 100).await.unwrap();
        let of_bridges: Vec<_> = told
            .into_iter()
            .map(|one| one.event)
            .filter(|event| matches!(event, Event::Warning(_) | Event::Bridge { .. } | Event::Message { .. }))
            .collect();
        let member = people[3].did().as_str().to_owned();
        assert_eq!(of_bridges, [Event::Warning(Warning::ForbiddenBridge { member })]);
        assert!(channel.status().bridges.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_welcome_that_names_another_inviter_than_its_maker_brings_nobody_in() {
    let world = World::new(41);
    let [alice, bob, mallory] = ["alice", "bob", "mallory"].map(|name| world.agent(name));
    let at = world.opened(&[bob.clone(), mallory.clone()]).await;
    let (services, now) = (&world.services, world.now());
    let (cards, mut published) = (Arc::new(Cards::default()), Vec::new());
    for person in [&bob, &mallory] {
        cards.add(person.log.clone()).unwrap();
        let taken = services.keys.take(person.did().as_str()).await.unwrap().unwrap();
        published.push(halves(person, &taken));
    }
    let (id, me) = (ChannelId([9; 32]), mallory.me());
    let policy = Policy::new(id, mallory.did(), now).sign(&mallory.agent).unwrap();
    let mut member = Member::create(&me, &cards, policy, me.suites()[0], now).unwrap();
    // What the surface is made of, that nobody was removed, and who invites.
    let named = alice.did().as_str().to_owned();
    let note = [&[8; 64][..], &[0], &(named.len() as u16).to_be_bytes(), named.as_bytes()].concat();
    let changes = Changes { add: vec![published[0].1.clone()], note, ..Changes::default() };
    let pending = member.commit(changes, now).unwrap();
    // Behind the channel, its epoch and the commit's place: the tree, and no GroupInfo but Mallory's cards, in a chunk each with its key.
    let one = 1_u32.to_be_bytes();
    let rest = [&[0; 4][..], &one, &published[1].0[1..]].concat();
    let mut snapshot = [&id.0[..], &1_u64.to_be_bytes(), &[0; 8]].concat();
    for part in [&pending.tree.unwrap()[..], &rest] {
        let chunk = services.blobs.put(seal(&[7; 32], part).into()).await.unwrap();
        snapshot.extend([&one[..], &chunk.0, &[7; 32]].concat());
    }
    let snapshot = Surface([8; 32]).seal("snapshot", &snapshot);
    let snapshot = services.blobs.put(snapshot.into()).await.unwrap();
    let invitation = Frame::Invitation { snapshot, welcome: pending.welcomes[0].1.clone() };
    let content = invitation.to_bytes().unwrap();
    let entry = Entry { id: EntryId([1; 16]), kind: EntryKind::Application, content };
    services.log.append(&inbox(&bob), entry, 0).await.unwrap();
    tokio::time::sleep(Duration::from_secs(600)).await;
    let reports = at[0].reports();
    assert!(reports.iter().any(|(_, what)| what.contains("other-identity")), "{reports:?}");
    assert!(at[0].channels().is_empty());
}
