//! A member that keeps no rules, among honest ones: it reads what they keep at the service, and writes what no honest node would.

use std::time::Duration;

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{AeadInOut, KeyInit};
use bytes::Bytes;
use gambeson_identity::Role as Key;
use gambeson_slim::{
    BlobId, Channel, ChannelId, Entry, EntryId, EntryKind, Event, Frame, KeyPackages, NOTE_EXTENSION, Placed,
    Warning,
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
        let (salt, mut body) = (blake3::hash(bytes).as_bytes().to_vec(), bytes.to_vec());
        let cipher = Aes256Gcm::new(&self.key(label, &salt).into());
        let tag = cipher.encrypt_inout_detached(&[0; 12].into(), &[], body.as_mut_slice().into()).unwrap();
        [&salt[..], &body, &tag].concat()
    }
}

fn open(key: &[u8; 32], sealed: &[u8]) -> Vec<u8> {
    let (body, tag) = sealed.split_last_chunk::<16>().unwrap();
    let (cipher, mut body) = (Aes256Gcm::new(key.into()), body.to_vec());
    cipher.decrypt_inout_detached(&[0; 12].into(), &[], body.as_mut_slice().into(), tag.into()).unwrap();
    body
}

/// Publishes a key package of this client for the person, who has a card at the service already, and no other.
async fn offer(person: &Person, client: &Client<impl MlsConfig>) {
    let (keys, did) = (&person.world.services.keys, person.did());
    let mut published = Bytes::new();
    while keys.left(did.as_str()).await.unwrap() > 0 {
        published = keys.take(did.as_str()).await.unwrap().unwrap();
    }
    // What is before the package: a version, the DID, and the blobs of its cards.
    let at = 1 + 2 + did.as_str().len();
    let cards = u32::from_be_bytes(*published[at..].first_chunk().unwrap()) as usize;
    let from = Some(MlsTime::from(person.world.now().0 - 60));
    let package =
        client.generate_key_package_message(ExtensionList::new(), ExtensionList::new(), from).unwrap();
    let package = [&published[..at + 4 + 32 * cards], &package.to_bytes().unwrap()].concat();
    let packages = KeyPackages { once: vec![package.into()], last_resort: None };
    keys.publish(did.as_str(), packages).await.unwrap();
}

/// Joins by the invitation in the person's inbox.
async fn enter<C: MlsConfig>(person: &Person, client: &Client<C>) -> (Group<C>, Surface) {
    let services = &person.world.services;
    let inbox = ChannelId(blake3::derive_key("gambeson inbox log v1", person.did().as_str().as_bytes()));
    let (snapshot, welcome) = loop {
        let page = services.log.read(&inbox, 1, 10).await.unwrap();
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

#[tokio::test(start_paused = true)]
async fn what_an_insider_commits_against_the_policy_stands_in_the_log_and_each_honest_member_refuses_it() {
    let world = World::new(39);
    let people = ["alice", "bob", "carol"].map(|name| world.agent(name));
    let mallory = world.agent("mallory");
    let at_mallory = mallory.node().await;
    at_mallory.offered(&world).await;
    drop(at_mallory);
    let (me, key) = (mallory.me(), Key::GroupMlDsa65);
    let client = people::outlaw(&mallory.agent, key, me.credential().to_bytes(), me.suites()[0]);
    offer(&mallory, &client).await;

    let at = world.opened(&people).await;
    let policy = at[0].policy().unwrap().sign(at[0].me().agent()).unwrap();
    let a = at[0].create(policy).await.unwrap();
    a.invite(&[people[1].did(), people[2].did()]).await.unwrap();
    let honest = [a.clone(), at[1].joined(&a.id()).await, at[2].joined(&a.id()).await];
    a.invite(&[mallory.did()]).await.unwrap();
    for channel in &honest {
        channel.until(|status| status.epoch == 2 && status.members.len() == 4).await.unwrap();
    }
    let (mut group, surface) = enter(&mallory, &client).await;

    let log = &world.services.log;
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
    a.remove(&[mallory.did()]).await.unwrap();
    for channel in &honest {
        channel.until(|status| status.epoch == 4 && status.members.len() == 3).await.unwrap();
        assert_eq!(channel.status().authenticator, a.status().authenticator);
    }
    honest[2].send("we go on").await.unwrap();
    for channel in &honest {
        assert_eq!(messages(channel, 1).await, [said(&people[2], "we go on")]);
    }
}
