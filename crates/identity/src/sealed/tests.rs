#![allow(clippy::unwrap_used)] // A test may fail that way.

use super::*;
use crate::{CardContent, CardLog, CardStore, MasterSeed, MemoryReplayCache, Retired};

pub(super) const NOW: Timestamp = Timestamp(1_795_330_800);
pub(super) const DAY: u64 = 86_400;
pub(super) const SUITES: [Suite; 2] = [Suite::Default, Suite::Cnsa2];

pub(super) fn agent(suite: Suite, seed: u8) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[seed; 32]), suite).deterministic()
}

pub(super) fn log(agent: &Agent) -> CardLog {
    CardLog::new(agent.first_card(NOW, NOW.after(90 * DAY), &CardContent::default()).unwrap()).unwrap()
}

/// Two agents who know each other.
pub(super) struct Pair {
    pub(super) alice: Agent,
    pub(super) bob: Agent,
    pub(super) cards: CardStore,
}

impl Pair {
    pub(super) fn new(suite: Suite) -> Self {
        let (alice, bob) = (agent(suite, 1), agent(suite, 2));
        let mut cards = CardStore::default();
        cards.add(log(&alice)).unwrap();
        cards.add(log(&bob)).unwrap();
        Self { alice, bob, cards }
    }

    pub(super) fn seal(&self, payload: &[u8]) -> Result<Vec<u8>> {
        let to = self.cards.resolve(self.bob.did(), NOW)?;
        seal(&self.alice, &to, "text/plain", payload, NOW.after(3600), NOW)
    }

    pub(super) fn open(&self, envelope: &[u8]) -> Result<Verified<Opened>> {
        open(&self.bob, envelope, &self.cards, &mut MemoryReplayCache::new(10), NOW)
    }

    /// Seals a plaintext to Bob that no honest sender makes.
    pub(super) fn by_hand(&self, plaintext: &[u8]) -> Vec<u8> {
        let to = self.cards.resolve(self.bob.did(), NOW).unwrap();
        let suite = self.bob.suite();
        let (url, key) = to.agreement_key(Role::Sealed.agreement_algorithm(suite).unwrap(), NOW).unwrap();
        encrypt(suite, url, key, plaintext, &[3; 64]).unwrap()
    }

    pub(super) fn message(&self) -> Message {
        Message {
            sender: self.alice.key_url(Role::Signing),
            recipient: self.bob.did().clone(),
            id: [9; 16],
            expires: NOW.after(60),
            media_type: "text/plain".to_owned(),
        }
    }
}

/// Message, payload and signature, padded.
pub(super) fn signed(message: &Message, by: &crate::SigningKey, context: &[u8]) -> Vec<u8> {
    let mut plaintext = message.encode(b"payload").unwrap();
    let signature = by.sign(context, &plaintext).unwrap();
    put_short(&mut plaintext, &signature).unwrap();
    let len = padded_len(plaintext.len());
    plaintext.resize(len, 0);
    plaintext.to_vec()
}

fn reason<T>(result: Result<T>) -> Reason {
    result.err().expect("it is refused").reason()
}

#[test]
fn lengths_are_padded_by_an_eighth_at_most() {
    for (len, padded) in
        [(0, 0), (1, 1), (2, 2), (9, 10), (100, 104), (1000, 1024), (4000, 4096), (4097, 4352)]
    {
        assert_eq!(padded_len(len), padded, "{len}");
    }
    for len in 1..100_000 {
        let padded = padded_len(len);
        assert!(padded >= len && padded - len <= len / 8 + 1 && padded_len(padded) == padded, "{len}");
    }
}

#[test]
fn what_is_sealed_opens_once_and_says_who_signed_it() {
    for suite in SUITES {
        let pair = Pair::new(suite);
        for payload in [&b""[..], b"hello", &vec![7; 100_000]] {
            let envelope = pair.seal(payload).unwrap();
            let mut seen = MemoryReplayCache::new(10);
            let opened = open(&pair.bob, &envelope, &pair.cards, &mut seen, NOW).unwrap();
            assert_eq!((opened.sender(), opened.payload()), (pair.alice.did(), payload));
            assert_eq!((opened.media_type(), opened.expires()), ("text/plain", NOW.after(3600)));
            assert_eq!(*opened.signer(), pair.alice.key_url(Role::Signing));
            let again = |seen: &mut MemoryReplayCache, now| {
                reason(open(&pair.bob, &envelope, &pair.cards, seen, now))
            };
            assert_eq!(again(&mut seen, NOW), Reason::Replayed);
            assert_eq!(again(&mut seen, NOW.after(3600)), Reason::Replayed);
            assert_eq!(again(&mut seen, NOW.after(3601)), Reason::Expired);
            assert!(format!("{opened:?}").contains("bytes of text/plain from did:gambeson:"));
        }
        let sizes: Vec<_> = [1, 100, 5000].map(|len| pair.seal(&vec![0; len]).unwrap().len()).into();
        match suite {
            Suite::Default => assert_eq!(sizes, [1153 + 3584, 1153 + 3712, 1153 + 8704]),
            Suite::Cnsa2 => assert_eq!(sizes.len(), 3),
        }
    }
}

#[test]
fn no_changed_byte_goes_unnoticed() {
    for suite in SUITES {
        let pair = Pair::new(suite);
        let envelope = pair.seal(b"hello").unwrap();
        let mut refused = 0;
        for at in 0..envelope.len() {
            let mut bad = envelope.clone();
            bad[at] ^= 1;
            let expected = match at {
                0..16 => Reason::BadForm,
                16 => Reason::BadAlgorithm,
                _ => Reason::CannotOpen,
            };
            assert_eq!(reason(pair.open(&bad)), expected, "byte {at}");
            refused += 1;
        }
        assert_eq!(refused, envelope.len());
        for len in (0..1200).chain([envelope.len() - 1]) {
            let found = reason(pair.open(&envelope[..len]));
            assert!(
                [Reason::BadForm, Reason::BadAlgorithm, Reason::CannotOpen].contains(&found),
                "{len}: {found:?}"
            );
        }
        assert_eq!(reason(pair.open(&[&envelope[..], &[0]].concat())), Reason::CannotOpen);
        assert_eq!(reason(pair.open(&vec![0; MAX_ENVELOPE + 1])), Reason::TooLarge);
    }
}

#[test]
fn every_flaw_of_what_is_signed_has_its_reason() {
    for suite in SUITES {
        let pair = Pair::new(suite);
        let (carol, key) = (agent(suite, 3), pair.alice.key(Role::Signing));
        let good = || pair.message();
        let sealed = |message: &Message| pair.open(&pair.by_hand(&signed(message, key, LABEL)));
        assert_eq!(sealed(&good()).unwrap().payload(), b"payload");

        // Bob forwards to Carol what Alice signed for him.
        let forwarded = Message { recipient: carol.did().clone(), ..good() };
        assert_eq!(reason(sealed(&forwarded)), Reason::OtherRecipient);
        let stranger = Message { sender: carol.key_url(Role::Signing), ..good() };
        assert_eq!(reason(sealed(&stranger)), Reason::UnknownDid);
        let impostor = Message { sender: pair.bob.key_url(Role::Signing), ..good() };
        assert_eq!(reason(sealed(&impostor)), Reason::BadSignature);
        let other_role = Message { sender: pair.alice.key_url(Role::Identity), ..good() };
        assert_eq!(reason(sealed(&other_role)), Reason::WrongPurpose);
        let next = Message { sender: pair.alice.did().url("signing-1"), ..good() };
        assert_eq!(reason(sealed(&next)), Reason::UnknownKey);
        let expired = Message { expires: Timestamp(NOW.0 - 1), ..good() };
        assert_eq!(reason(sealed(&expired)), Reason::Expired);
        let endless = Message { expires: NOW.after(MAX_LIFETIME + 1), ..good() };
        assert_eq!(reason(sealed(&endless)), Reason::BadTime);
        let context = pair.by_hand(&signed(&good(), key, b""));
        assert_eq!(reason(pair.open(&context)), Reason::BadSignature, "a signature of another purpose");

        // Forms that no honest sender makes.
        let whole = signed(&good(), key, LABEL);
        let unpadded_len = whole.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        let mut changed = 0;
        for at in 0..unpadded_len {
            let mut bad = whole.clone();
            bad[at] ^= 1;
            assert!(pair.open(&pair.by_hand(&bad)).is_err(), "byte {at}");
            changed += 1;
        }
        assert_eq!(changed, unpadded_len);
        let mut padding = whole.clone();
        *padding.last_mut().unwrap() = 1;
        for bad in [&padding[..], &[&whole[..], &[0]].concat(), &whole[..whole.len() - 1], &whole[..100], b""]
        {
            assert_eq!(reason(pair.open(&pair.by_hand(bad))), Reason::BadForm);
        }
        let text = |at: &[u8], to: &[u8]| {
            let place = whole.windows(at.len()).position(|window| window == at).unwrap();
            let mut bad = whole.clone();
            bad[place..place + at.len()].copy_from_slice(to);
            reason(pair.open(&pair.by_hand(&bad)))
        };
        assert_eq!(text(b"gambeson-sealed+", b"gambeson-sealed-"), Reason::BadForm);
        assert_eq!(text(b"text/plain", b"text-plain"), Reason::BadForm);
        assert_eq!(text(b"did:gambeson", b"dix:gambeson"), Reason::BadDid);
    }
}

#[test]
fn the_suites_do_not_mix() {
    let (default, cnsa2) = (Pair::new(Suite::Default), Pair::new(Suite::Cnsa2));
    assert_eq!(reason(default.open(&cnsa2.seal(b"").unwrap())), Reason::BadAlgorithm);
    let to = cnsa2.cards.resolve(cnsa2.bob.did(), NOW).unwrap();
    assert_eq!(reason(seal(&default.alice, &to, "a/b", b"", NOW, NOW)), Reason::UnknownKey);

    // Signed with ML-DSA-87, sealed with X-Wing.
    let mut cards = default.cards.clone();
    cards.add(log(&agent(Suite::Cnsa2, 4))).unwrap();
    let dana = agent(Suite::Cnsa2, 4);
    let message = Message { sender: dana.key_url(Role::Signing), ..default.message() };
    let envelope = default.by_hand(&signed(&message, dana.key(Role::Signing), LABEL));
    let opened = open(&default.bob, &envelope, &cards, &mut MemoryReplayCache::new(1), NOW);
    assert_eq!(reason(opened), Reason::BadAlgorithm);
}

#[test]
fn what_was_sealed_before_a_rotation_opens_after_it() {
    for suite in SUITES {
        let mut pair = Pair::new(suite);
        let before = pair.seal(b"before").unwrap();
        let mut log = log(&pair.bob);
        pair.bob
            .rotate(
                &mut log,
                &[Role::Sealed],
                Retired::Superseded(DAY),
                (NOW, NOW.after(DAY)),
                &CardContent::default(),
            )
            .unwrap();
        pair.cards.add(log).unwrap();
        assert_eq!(pair.bob.index(Role::Sealed), 1);
        let after = pair.seal(b"after").unwrap();
        assert_eq!(pair.open(&before).unwrap().payload(), b"before");
        assert_eq!(pair.open(&after).unwrap().payload(), b"after");
        assert_eq!(
            reason(open(&agent(suite, 2), &after, &pair.cards, &mut MemoryReplayCache::new(1), NOW)),
            Reason::CannotOpen
        );
    }
}

#[test]
fn what_cannot_be_sealed_is_an_error() {
    let pair = Pair::new(Suite::Default);
    let to = pair.cards.resolve(pair.bob.did(), NOW).unwrap();
    let seal = |media_type: &str, payload: &[u8], expires| {
        reason(seal(&pair.alice, &to, media_type, payload, expires, NOW))
    };
    assert_eq!(seal("a/b", &vec![0; MAX_PAYLOAD + 1], NOW), Reason::TooLarge);
    assert_eq!(seal("a/b", b"", Timestamp(NOW.0 - 1)), Reason::BadTime);
    assert_eq!(seal("a/b", b"", NOW.after(MAX_LIFETIME + 1)), Reason::BadTime);
    for media_type in ["", "text", "/b", "a/", "a/b\n", "a/ü", &format!("a/{}", "b".repeat(126))] {
        assert_eq!(seal(media_type, b"", NOW), Reason::BadForm, "{media_type}");
    }
    let largest = pair.seal(&vec![1; MAX_PAYLOAD]).unwrap();
    assert!(largest.len() <= MAX_ENVELOPE);
    assert_eq!(pair.open(&largest).unwrap().payload().len(), MAX_PAYLOAD);
}

#[test]
fn a_full_cache_gives_nothing_out() {
    let pair = Pair::new(Suite::Default);
    let mut seen = MemoryReplayCache::new(1);
    let [one, two] = [b"one", b"two"].map(|payload| pair.seal(payload).unwrap());
    open(&pair.bob, &one, &pair.cards, &mut seen, NOW).unwrap();
    assert_eq!(reason(open(&pair.bob, &two, &pair.cards, &mut seen, NOW)), Reason::CacheFull);
}

/// What resolves or remembers nothing because nobody asks it.
struct Unasked;

impl Resolver for Unasked {
    fn resolve(&self, did: &Did, _: Timestamp) -> Result<std::sync::Arc<DidDocument>> {
        panic!("{did} is resolved")
    }
}

impl ReplayCache for Unasked {
    fn remember(&mut self, _: &ReplayId, _: Timestamp, _: Timestamp) -> Result<()> {
        panic!("it is remembered")
    }
}

#[test]
fn of_a_sender_who_is_not_wanted_nothing_is_resolved_or_remembered() {
    for suite in SUITES {
        let pair = Pair::new(suite);
        let envelope = pair.seal(b"hello").unwrap();
        let bob = pair.bob.did();
        assert_eq!(
            reason(open_from(&pair.bob, &envelope, |did| did == bob, &Unasked, &mut Unasked, NOW)),
            Reason::NotPermitted
        );
        let (alice, mut seen) = (pair.alice.did(), MemoryReplayCache::new(1));
        let opened =
            open_from(&pair.bob, &envelope, |did| did == alice, &pair.cards, &mut seen, NOW).unwrap();
        assert_eq!((opened.sender(), seen.len()), (alice, 1));
    }
}
