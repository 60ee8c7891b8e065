//! Groups over mls-rs, with any provider.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::hint::black_box;

use gambeson_mls::Provider;
use mls_rs::client_builder::{MlsConfig, PaddingMode};
use mls_rs::crypto::{SignaturePublicKey, SignatureSecretKey};
use mls_rs::group::{ExportedTree, GroupContext, Roster};
use mls_rs::identity::SigningIdentity;
use mls_rs::identity::basic::{BasicCredential, BasicIdentityProvider};
use mls_rs::mls_rules::{CommitDirection, CommitOptions, CommitSource, EncryptionOptions, ProposalBundle};
use mls_rs::{CipherSuite, CipherSuiteProvider, Client, CryptoProvider, Group, MlsMessage, MlsRules};

use super::{Failure, Figure, Subject, WARM_UP_COMMITS, WarmUp};

/// How many members' updates are measured after the warm-up.
const SAMPLES: usize = 8;

/// A provider of mls-rs, and what it can do ahead.
pub trait Crypto: CryptoProvider + Clone + 'static {
    /// Whether it verifies anything before mls-rs asks.
    const AHEAD: bool = false;

    /// Forgets what it remembers of earlier operations.
    fn forget(&self) {}
    /// Looks at a tree before mls-rs does.
    fn tree_ahead(&self, _: CipherSuite, _: &[u8], _: &[u8]) {}
    /// Looks at key packages before mls-rs does.
    fn key_packages_ahead(&self, _: CipherSuite, _: &[Vec<u8>]) {}
    /// What a member that lives for long gives mls-rs as its private key.
    fn lasting(&self, _: CipherSuite, key: SignatureSecretKey) -> SignatureSecretKey {
        key
    }
}

impl Crypto for Provider {
    const AHEAD: bool = true;

    fn forget(&self) {
        let _ = self.clone().remembering(1 << 15);
    }

    fn tree_ahead(&self, suite: CipherSuite, tree: &[u8], group_id: &[u8]) {
        self.cipher_suite_provider(suite).map(|suite| suite.verify_tree_ahead(tree, group_id));
    }

    fn key_packages_ahead(&self, suite: CipherSuite, key_packages: &[Vec<u8>]) {
        let each = key_packages.iter().map(|bytes| &bytes[..]);
        self.cipher_suite_provider(suite).map(|suite| suite.verify_key_packages_ahead(each));
    }

    fn lasting(&self, suite: CipherSuite, key: SignatureSecretKey) -> SignatureSecretKey {
        let signer = self.cipher_suite_provider(suite).and_then(|suite| suite.expanded_signer(&key).ok());
        signer.map_or(key, |signer| self.register_signer(signer))
    }
}

/// As channels have it: the tree by itself, a Welcome for each, commits that only members read; and a path with who adds more members
/// than there are, which costs next to nothing and fills it.
#[derive(Clone)]
struct AsChannels;

impl MlsRules for AsChannels {
    type Error = Infallible;

    fn filter_proposals(
        &self,
        _: CommitDirection,
        _: CommitSource,
        _: &Roster<'_>,
        _: &GroupContext,
        proposals: ProposalBundle,
    ) -> Result<ProposalBundle, Infallible> {
        Ok(proposals)
    }

    fn commit_options(
        &self,
        roster: &Roster<'_>,
        _: &GroupContext,
        proposals: &ProposalBundle,
    ) -> Result<CommitOptions, Infallible> {
        // Those that are added are in the roster.
        Ok(CommitOptions::new()
            .with_path_required(2 * proposals.add_proposals().len() > roster.members_iter().count())
            .with_ratchet_tree_extension(false)
            .with_single_welcome_message(false))
    }

    fn encryption_options(&self, _: &Roster<'_>, _: &GroupContext) -> Result<EncryptionOptions, Infallible> {
        Ok(EncryptionOptions::new(true, PaddingMode::Padme))
    }
}

fn client<P: Crypto>(
    provider: &P,
    suite: CipherSuite,
    name: &str,
    (secret, public): (SignatureSecretKey, SignaturePublicKey),
) -> Client<impl MlsConfig + use<P>> {
    let credential = BasicCredential::new(name.as_bytes().to_vec()).into_credential();
    Client::builder()
        .identity_provider(BasicIdentityProvider)
        .mls_rules(AsChannels)
        .crypto_provider(provider.clone())
        .signing_identity(SigningIdentity::new(credential, public), secret, suite)
        .build()
}

/// Groups of `members` and their creator.
///
/// # Errors
/// What mls-rs says, or that the provider does not have the suite.
pub fn subject(provider: impl Crypto, suite: u16, members: usize) -> Result<Box<dyn Subject>, Failure> {
    let suite = CipherSuite::from(suite);
    let of_suite = provider.cipher_suite_provider(suite).ok_or("the provider does not have the suite")?;
    let maker = provider.clone();
    let make = move |name: &str, lasting: bool| -> Result<_, Failure> {
        let (secret, public) = of_suite.signature_key_generate().map_err(|error| format!("{error:?}"))?;
        let secret = if lasting { maker.lasting(suite, secret) } else { secret };
        Ok(client(&maker, suite, name, (secret, public)))
    };
    Ok(Box::new(Groups::new(provider, suite, members, make)?))
}

struct Groups<P, C: MlsConfig, F> {
    provider: P,
    suite: CipherSuite,
    make: F,
    creator: Client<C>,
    key_packages: Vec<Vec<u8>>,
    /// Clients that join when their turn comes, and their Welcomes, by their leaves; the first of them has joined already.
    waiting: BTreeMap<usize, (Client<C>, Vec<u8>)>,
    tree: Vec<u8>,
    by: Group<C>,
    other: Group<C>,
    /// Leaves in the order of the warm-up. The creator's has its path: that came with the others.
    order: Vec<usize>,
    /// Commits since everyone was added.
    commits: Vec<Vec<u8>>,
}

const JOINER: usize = 1;

/// 0, 1/2, 1/4, 3/4, 1/8, …: the leaves of a tree, so that each fills a path where the most is blank.
fn bit_reversed(leaves: usize) -> impl Iterator<Item = usize> {
    let bits = leaves.next_power_of_two().trailing_zeros();
    (0..leaves.next_power_of_two())
        .map(move |index| if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) })
        .filter(move |leaf| *leaf < leaves)
}

impl<P: Crypto, C: MlsConfig, F: Fn(&str, bool) -> Result<Client<C>, Failure>> Groups<P, C, F> {
    fn new(provider: P, suite: CipherSuite, members: usize, make: F) -> Result<Self, Failure> {
        let creator = make("creator", true)?;
        let order: Vec<usize> = bit_reversed(members + 1).skip(1).take(WARM_UP_COMMITS + SAMPLES).collect();
        let mut clients = BTreeMap::new();
        let mut key_packages = Vec::new();
        for leaf in 1..=members {
            let kept = leaf == JOINER || order.contains(&leaf);
            let client = make(&format!("member {leaf}"), kept)?;
            key_packages.push(key_package(&client)?);
            if kept {
                clients.insert(leaf, client);
            }
        }
        let mut by = creator.group_builder()?.build()?;
        let mut builder = by.commit_builder();
        for bytes in &key_packages {
            builder = builder.add_member(MlsMessage::from_bytes(bytes)?)?;
        }
        let commit = builder.build()?;
        by.apply_pending_commit()?;
        let tree = by.export_tree().to_bytes()?;
        let mut waiting = BTreeMap::new();
        for (leaf, client) in clients {
            let welcome = commit.welcome_messages.get(leaf - 1).ok_or("a Welcome for each")?;
            waiting.insert(leaf, (client, welcome.to_bytes()?));
        }
        let other = joined(&waiting, &tree, JOINER)?;
        Ok(Self {
            provider,
            suite,
            make,
            creator,
            key_packages,
            waiting,
            tree,
            by,
            other,
            order,
            commits: Vec::new(),
        })
    }

    /// The member of that leaf, up to date.
    fn member(&self, leaf: usize) -> Result<Group<C>, Failure> {
        let mut group = joined(&self.waiting, &self.tree, leaf)?;
        for commit in &self.commits {
            group.process_incoming_message(MlsMessage::from_bytes(commit)?)?;
        }
        Ok(group)
    }
}

fn key_package(client: &Client<impl MlsConfig>) -> Result<Vec<u8>, Failure> {
    Ok(client.generate_key_package_message(Default::default(), Default::default(), None)?.to_bytes()?)
}

fn joined<C: MlsConfig>(
    waiting: &BTreeMap<usize, (Client<C>, Vec<u8>)>,
    tree: &[u8],
    leaf: usize,
) -> Result<Group<C>, Failure> {
    let (client, welcome) = waiting.get(&leaf).ok_or("nobody waits for that leaf")?;
    let tree = ExportedTree::from_bytes(tree)?;
    Ok(client.join_group(Some(tree), &MlsMessage::from_bytes(welcome)?, None)?.0)
}

/// What `work` took; its bytes are for the caller to set.
///
/// # Errors
/// Those of `work`.
pub fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Figure), Failure> {
    let (mut work, mut done) = (Some(work), None);
    let start = now();
    once(black_box(&mut || done = work.take().map(|work| work())));
    let us = now() - start;
    Ok((done.ok_or("it was not done")??, Figure { us, bytes: 0 }))
}

/// One operation and nothing else: what `cargo xtask instructions` counts. It is one function for all of them.
#[inline(never)]
fn once(work: &mut dyn FnMut()) {
    work();
}

/// Microseconds of processor time that all threads have used.
#[cfg(unix)]
fn now() -> f64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID);
    time.map_or(f64::NAN, |time| time.tv_sec() as f64 * 1e6 + time.tv_nsec() as f64 / 1e3)
}

#[cfg(not(unix))]
use crate::tls::bench::now;

impl<P: Crypto, C: MlsConfig, F: Fn(&str, bool) -> Result<Client<C>, Failure>> Subject for Groups<P, C, F> {
    fn add_all(&mut self, known: bool) -> Result<Figure, Failure> {
        let mut group = self.creator.group_builder()?.build()?;
        self.provider.forget();
        if known {
            self.provider.key_packages_ahead(self.suite, &self.key_packages);
        }
        let (commit, figure) = timed(|| {
            if !known {
                self.provider.key_packages_ahead(self.suite, &self.key_packages);
            }
            let mut builder = group.commit_builder();
            for bytes in &self.key_packages {
                builder = builder.add_member(MlsMessage::from_bytes(bytes)?)?;
            }
            let commit = builder.build()?;
            group.apply_pending_commit()?;
            Ok(commit)
        })?;
        Ok(Figure { bytes: commit.commit_message.to_bytes()?.len(), ..figure })
    }

    fn join(&mut self) -> Result<Figure, Failure> {
        self.provider.forget();
        let id = self.by.group_id();
        let (_, figure) = timed(|| {
            self.provider.tree_ahead(self.suite, &self.tree, id);
            joined(&self.waiting, &self.tree, JOINER)
        })?;
        Ok(Figure { bytes: self.tree.len(), ..figure })
    }

    fn join_one_by_one(&mut self) -> Result<Option<Figure>, Failure> {
        if !P::AHEAD {
            return Ok(None);
        }
        self.provider.forget();
        let (_, figure) = timed(|| joined(&self.waiting, &self.tree, JOINER))?;
        Ok(Some(Figure { bytes: self.tree.len(), ..figure }))
    }

    fn welcome(&self) -> usize {
        self.waiting.get(&JOINER).map_or(0, |(_, welcome)| welcome.len())
    }

    fn add_one(&mut self) -> Result<[Figure; 2], Failure> {
        let name = format!("one more after {}", self.commits.len());
        let new = [key_package(&(self.make)(&name, false)?)?];
        self.provider.forget();
        let (commit, committer) = timed(|| {
            self.provider.key_packages_ahead(self.suite, &new);
            let commit = self.by.commit_builder().add_member(MlsMessage::from_bytes(&new[0])?)?.build()?;
            self.by.apply_pending_commit()?;
            Ok(commit.commit_message.to_bytes()?)
        })?;
        self.provider.forget();
        let (_, member) =
            timed(|| Ok(self.other.process_incoming_message(MlsMessage::from_bytes(&commit)?)?))?;
        let bytes = commit.len();
        self.commits.push(commit);
        Ok([Figure { bytes, ..committer }, Figure { bytes, ..member }])
    }

    fn remove_last(&mut self) -> Result<(), Failure> {
        let last =
            self.by.roster().members_iter().map(|member| member.index).max().ok_or("nobody is there")?;
        let commit = self.by.commit_builder().remove_member(last)?.build()?.commit_message.to_bytes()?;
        self.by.apply_pending_commit()?;
        self.other.process_incoming_message(MlsMessage::from_bytes(&commit)?)?;
        self.commits.push(commit);
        Ok(())
    }

    fn update(&mut self) -> Result<Figure, Failure> {
        let (commit, figure) = timed(|| Ok(self.by.commit(Vec::new())?.commit_message.to_bytes()?))?;
        self.by.clear_pending_commit();
        Ok(Figure { bytes: commit.len(), ..figure })
    }

    fn message(&mut self, len: usize) -> Result<[Figure; 2], Failure> {
        let payload = vec![0x5a; len];
        let (message, sent) =
            timed(|| Ok(self.by.encrypt_application_message(&payload, Vec::new())?.to_bytes()?))?;
        let (_, received) =
            timed(|| Ok(self.other.process_incoming_message(MlsMessage::from_bytes(&message)?)?))?;
        let bytes = message.len();
        Ok([Figure { bytes, ..sent }, Figure { bytes, ..received }])
    }

    fn warm_up(&mut self, commits: usize) -> Result<Option<WarmUp>, Failure> {
        let mut bytes = 0;
        let order = self.order.clone();
        let (warming, sampled) = order.split_at(commits.min(order.len()));
        for leaf in warming {
            let commit = self.member(*leaf)?.commit(Vec::new())?.commit_message.to_bytes()?;
            self.by.process_incoming_message(MlsMessage::from_bytes(&commit)?)?;
            bytes += commit.len();
            self.commits.push(commit);
        }
        // A group of no more members than warm up has nobody left to measure.
        let sampled = if sampled.is_empty() { &order[..] } else { sampled };
        let (mut updates, mut processed) = (Vec::new(), Vec::new());
        let snapshot = self.commits.len();
        for leaf in sampled {
            let mut member = self.member(*leaf)?;
            let (commit, figure) = timed(|| Ok(member.commit(Vec::new())?.commit_message.to_bytes()?))?;
            updates.push(Figure { bytes: commit.len(), ..figure });
            // Each is the first after the warm-up: it is processed by a member who has seen no other.
            if processed.is_empty() {
                let (_, figure) =
                    timed(|| Ok(self.by.process_incoming_message(MlsMessage::from_bytes(&commit)?)?))?;
                processed.push(Figure { bytes: commit.len(), ..figure });
            }
        }
        debug_assert_eq!(snapshot, self.commits.len());
        let count = updates.len().max(1);
        let sum = updates.iter().fold(Figure { us: 0.0, bytes: 0 }, |sum, one| Figure {
            us: sum.us + one.us,
            bytes: sum.bytes + one.bytes,
        });
        Ok(Some(WarmUp {
            commits: warming.len(),
            bytes,
            update: Figure { us: sum.us / count as f64, bytes: sum.bytes / count },
            longest: updates.iter().map(|one| one.bytes).max().unwrap_or_default(),
            processed: processed[0],
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_visited_once_each_where_the_most_is_blank() {
        assert_eq!(bit_reversed(8).collect::<Vec<_>>(), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(bit_reversed(6).collect::<Vec<_>>(), [0, 4, 2, 1, 5, 3]);
        assert_eq!(bit_reversed(1).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn every_row_comes_about_and_a_warm_tree_costs_less() {
        for contender in super::super::ours() {
            let mut subject = (contender.make)(20).unwrap();
            let cold = subject.update().unwrap();
            assert!(subject.join().unwrap().bytes > 20 * 100);
            let [committer, member] = subject.add_one().unwrap();
            assert!(
                subject.add_all(true).unwrap().bytes > committer.bytes && committer.bytes == member.bytes
            );
            subject.remove_last().unwrap();
            // As large as before: the next takes the same place.
            assert_eq!(subject.add_one().unwrap()[1].bytes, member.bytes);
            assert!(subject.message(1024).unwrap()[0].bytes > 1024);
            let warm_up = subject.warm_up(8).unwrap().unwrap();
            assert_eq!(warm_up.commits, 8);
            assert!(warm_up.longest < cold.bytes && warm_up.update.bytes <= warm_up.longest);
        }
    }
}
