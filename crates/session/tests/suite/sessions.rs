//! Two agents that know what they want.

use std::sync::Arc;

use crate::agents::{self, Borrowed, NOW, Pair, Someone, Stranger, YEAR, anybody, knowing};
use gambeson_identity::{Agent, CardContent, CardLog, MasterSeed, Retired, Role};
use gambeson_rustls::X25519_MLKEM768;
use gambeson_rustls::rustls::HandshakeKind;
use gambeson_session::{Endpoint, Expected};

/// A client that wants `server` and a server that takes anybody, who know nothing of each other.
fn strangers(client: &Someone, server: &Someone) -> Pair {
    let client = client.endpoint().connect(server.expected(), knowing(&[])).unwrap();
    Pair::new(client, server.endpoint().accept(anybody(), knowing(&[])).unwrap())
}

#[test]
fn two_agents_know_each_other_and_share_what_nobody_else_has() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let pair = strangers(&alice, &bob).establish();
    let (from_client, from_server) = (pair.client.peer().unwrap(), pair.server.peer().unwrap());
    assert_eq!((from_client.did(), from_server.did()), (bob.agent.did(), alice.agent.did()));
    assert_eq!(from_client.key(), &bob.agent.key_url(Role::Identity));
    assert_eq!(from_server.cards(), &alice.cards);

    let binding = pair.client.channel_binding().unwrap();
    assert_eq!(binding, pair.server.channel_binding().unwrap());
    let (mut ours, mut theirs) = ([0; 77], [0; 77]);
    pair.client.export(b"a label", b"a context", &mut ours).unwrap();
    pair.server.export(b"a label", b"a context", &mut theirs).unwrap();
    assert_eq!(ours, theirs);
    pair.server.export(b"a label", b"another context", &mut theirs).unwrap();
    assert_ne!(ours, theirs);
    let other = strangers(&alice, &bob).establish();
    assert_ne!(binding, other.client.channel_binding().unwrap(), "each session has its own");
}

#[test]
fn bytes_go_both_ways_until_both_say_goodbye() {
    let mut pair = strangers(&Someone::new(1), &Someone::new(2)).establish();
    let message: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
    let (mut sent, mut received) = (0, Vec::new());
    let mut piece = [0; 5000];
    while received.len() < message.len() {
        sent += pair.client.send(&message[sent..]).unwrap().min(message.len());
        // As much as the other side takes before it is read.
        let mut wire = Vec::new();
        while pair.client.wants_write() {
            pair.client.write_tls(&mut wire).unwrap();
        }
        let mut wire = &wire[..];
        while !wire.is_empty() {
            pair.server.read_tls(&mut wire).unwrap();
            pair.server.process(NOW).unwrap();
            while let Some(count) = pair.server.receive(&mut piece).unwrap() {
                received.extend_from_slice(&piece[..count]);
            }
        }
    }
    assert_eq!(received, message);
    pair.server.send(b"thank you").unwrap();
    pair.server.close();
    assert_eq!(pair.run().map(|error| error.is_none()), [true, true]);
    assert_eq!(pair.client.receive(&mut piece).unwrap(), Some(9));
    assert_eq!(&piece[..9], b"thank you");
    assert_eq!(pair.client.receive(&mut piece).unwrap(), Some(0));
    pair.client.send(b"still here").unwrap();
    pair.run();
    assert_eq!(pair.server.receive(&mut piece).unwrap(), Some(10));
    // A line that is cut is no goodbye.
    pair.server.read_tls(&mut std::io::empty()).unwrap();
    pair.server.process(NOW).unwrap();
    assert_eq!(pair.server.receive(&mut piece).unwrap_err().code(), "truncated");
}

#[test]
fn everything_beside_the_cards_takes_no_more_than_the_specification_says() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let (strong, stronger) = (Someone::strong(3), Someone::strong(4));
    for (client, server, least, most) in [
        (&alice, &bob, 12_000, 14_500),
        (&alice, &strong, 14_000, 16_500),
        (&strong, &bob, 14_000, 16_500),
        (&strong, &stronger, 16_000, 18_500),
    ] {
        let pair = strangers(client, server).establish();
        let cards = client.cards.to_lines().len() + server.cards.to_lines().len();
        let beside = pair.bytes.iter().sum::<usize>() - cards;
        println!("{beside} bytes beside {cards} of cards: {} up, {} down", pair.bytes[0], pair.bytes[1]);
        assert!(beside <= most, "{beside} bytes");
        // A key, its signature, a share and a record on each side are not free either.
        assert!(beside > least, "{beside} bytes");

        let known = knowing(&[client, server]);
        let calling =
            client.endpoint().known_to_peer(true).connect(server.expected(), known.clone()).unwrap();
        let answering = server.endpoint().known_to_peer(true).accept(anybody(), known).unwrap();
        let pair = Pair::new(calling, answering).establish();
        let hashes = pair.bytes.iter().sum::<usize>();
        assert!(hashes <= most, "{hashes} bytes with hashes");
        assert_eq!(pair.client.peer().unwrap().cards(), &server.cards);
    }
}

/// What somebody with this agent's key and rustls alone says to be in session.
fn introduction(someone: &Someone) -> Vec<u8> {
    let lines = someone.cards.to_lines();
    let len = u32::try_from(lines.len()).unwrap().to_be_bytes();
    [&[1][..], &len, lines.as_bytes(), &[3, 0, 0, 0, 0]].concat()
}

#[test]
fn the_channel_binding_is_what_any_tls_exports_under_its_name() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let mut session = bob.endpoint().accept(alice.expected(), knowing(&[])).unwrap();
    let config = agents::client_config(Arc::new(Borrowed(alice.clone())), &[&X25519_MLKEM768]);
    let mut other = Stranger::calling(&config);
    let (error, _) = other.says(&mut session, &introduction(&alice), false);
    assert!(error.is_none(), "{error:?}");
    // RFC 9266: this label, no context value, 32 bytes.
    let mut exported = [0; 32];
    other.tls.export_keying_material(&mut exported, b"EXPORTER-Channel-Binding", Some(b"")).unwrap();
    assert_eq!(session.channel_binding().unwrap(), exported);
    // TLS 1.3 does not tell an empty context from none.
    other.tls.export_keying_material(&mut exported, b"EXPORTER-Channel-Binding", None).unwrap();
    assert_eq!(session.channel_binding().unwrap(), exported);
}

#[test]
fn nothing_is_resumed_even_with_somebody_who_would() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    // The same memory of tickets in both calls.
    let config = agents::client_config(Arc::new(Borrowed(alice.clone())), &[&X25519_MLKEM768]);
    let endpoint = bob.endpoint();
    for _ in 0..2 {
        let mut session = endpoint.accept(alice.expected(), knowing(&[])).unwrap();
        let mut other = Stranger::calling(&config);
        assert!(other.says(&mut session, &introduction(&alice), false).0.is_none());
        assert_eq!(other.tls.handshake_kind(), Some(HandshakeKind::Full));
    }
    let config = agents::server_config(Arc::new(Borrowed(alice.clone())));
    let endpoint = bob.endpoint();
    for _ in 0..2 {
        let mut session = endpoint.connect(alice.expected(), knowing(&[])).unwrap();
        let mut other = Stranger::answering(&config);
        assert!(other.says(&mut session, &introduction(&alice), false).0.is_none());
        assert_eq!(other.tls.handshake_kind(), Some(HandshakeKind::Full));
    }
}

#[test]
fn after_goodbye_nothing_is_sent_and_no_room_is_no_goodbye() {
    let mut pair = strangers(&Someone::new(1), &Someone::new(2)).establish();
    pair.client.send(b"the last word").unwrap();
    pair.client.close();
    assert_eq!(pair.client.send(b"and another").unwrap_err().code(), "closed");
    pair.run();
    assert_eq!(pair.server.receive(&mut []).unwrap(), None);
    let mut heard = [0; 40];
    assert_eq!(pair.server.receive(&mut heard).unwrap(), Some(13));
    assert_eq!(pair.server.receive(&mut heard).unwrap(), Some(0));
    // The other direction is still open.
    pair.server.send(b"good night").unwrap();
    pair.run();
    assert_eq!(pair.client.receive(&mut heard).unwrap(), Some(10));
}

#[test]
fn whoever_is_expected_must_be_there() {
    let (alice, bob, carol) = (Someone::new(1), Someone::new(2), Someone::new(3));
    let client = || alice.endpoint().connect(carol.expected(), knowing(&[])).unwrap();
    let server = bob.endpoint().accept(anybody(), knowing(&[])).unwrap();
    assert_eq!(Pair::new(client(), server).codes(), ["other-peer", "peer: other-peer"]);
    let server = bob.endpoint().known_to_peer(true).accept(anybody(), knowing(&[])).unwrap();
    assert_eq!(Pair::new(client(), server).codes(), ["other-peer", "peer: other-peer"]);
    let server = bob.endpoint().accept(carol.expected(), knowing(&[])).unwrap();
    let client = alice.endpoint().connect(bob.expected(), knowing(&[])).unwrap();
    assert_eq!(Pair::new(client, server).codes(), ["peer: other-peer", "other-peer"]);
}

#[test]
fn a_policy_sees_the_card_and_decides() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let with = |did: gambeson_identity::Did| {
        let policy = Expected::accepting(move |card| *card.document().id() == did && card.version() == 1);
        let client = alice.endpoint().connect(bob.expected(), knowing(&[])).unwrap();
        Pair::new(client, bob.endpoint().accept(policy, knowing(&[])).unwrap())
    };
    with(alice.agent.did().clone()).establish();
    assert_eq!(with(bob.agent.did().clone()).codes(), ["peer: not-admitted", "not-admitted"]);
}

#[test]
fn cards_are_believed_while_they_are_valid() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let mut pair = strangers(&alice, &bob);
    pair.now = NOW.after(YEAR);
    pair.establish();
    for (now, code) in [(NOW.after(YEAR + 1), "expired"), (gambeson_identity::Timestamp(1), "not-yet-valid")]
    {
        let mut pair = strangers(&alice, &bob);
        pair.now = now;
        assert_eq!(pair.codes(), [code, code]);
    }
}

#[test]
fn a_new_identity_key_replaces_the_old_one() {
    let (alice, old) = (Someone::new(1), Someone::new(2));
    for retired in [Retired::Compromised, Retired::Superseded(60), Retired::Superseded(YEAR)] {
        let new = Someone::rotated(2, retired);
        let pair = strangers(&alice, &new).establish();
        assert!(pair.client.peer().unwrap().key().fragment().ends_with("-1"));
        // Who has the old key shows the old cards: whoever knows the new ones is not deceived.
        let client = alice.endpoint().connect(old.expected(), knowing(&[&new])).unwrap();
        let server = old.endpoint().accept(anybody(), knowing(&[])).unwrap();
        assert_eq!(Pair::new(client, server).codes(), ["stale-card", "peer: stale-card"]);
    }
}

#[test]
fn an_old_identity_key_is_taken_as_long_as_the_new_card_says() {
    let (alice, old) = (Someone::new(1), Someone::new(2));
    // Whoever has the old key shows the new cards.
    let with = |retired| {
        let late = Someone { agent: old.agent.clone(), cards: Someone::rotated(2, retired).cards };
        strangers(&alice, &late)
    };
    let pair = with(Retired::Superseded(YEAR)).establish();
    assert!(pair.client.peer().unwrap().key().fragment().ends_with("-0"));
    assert_eq!(with(Retired::Superseded(60)).codes(), ["expired", "peer: expired"]);
    assert_eq!(with(Retired::Compromised).codes(), ["key-revoked", "peer: key-revoked"]);
}

#[test]
fn an_endpoint_needs_the_cards_of_its_own_agent() {
    let refused = Endpoint::new(Someone::new(1).agent, &Someone::new(2).cards).unwrap_err();
    assert_eq!(refused.code(), "wrong-seed");
    let rotated = Someone::rotated(2, Retired::Compromised);
    let refused = Endpoint::new(rotated.agent, &Someone::new(2).cards).unwrap_err();
    assert_eq!(refused.code(), "wrong-seed", "the card before the rotation");
}

#[test]
fn two_different_cards_of_one_number_are_both_refused() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let content =
        CardContent { also_known_as: vec!["https://example.com/".into()], ..CardContent::default() };
    let card = bob.agent.first_card(NOW, NOW.after(YEAR), &content).unwrap();
    let other = Someone { agent: bob.agent.clone(), cards: CardLog::new(card).unwrap() };
    let client = alice.endpoint().connect(bob.expected(), knowing(&[&other])).unwrap();
    let server = bob.endpoint().accept(anybody(), knowing(&[])).unwrap();
    assert_eq!(Pair::new(client, server).codes(), ["broken-chain", "peer: broken-chain"]);
}

#[test]
fn a_hash_stands_for_cards_that_are_known_and_for_no_others() {
    let (alice, bob, new) = (Someone::new(1), Someone::new(2), Someone::rotated(2, Retired::Superseded(60)));
    let with = |server: &Someone, known: &[&Someone]| {
        let client = alice.endpoint().connect(bob.expected(), knowing(known)).unwrap();
        let server = server.endpoint().known_to_peer(true).accept(anybody(), knowing(&[])).unwrap();
        Pair::new(client, server)
    };
    with(&bob, &[&bob]).establish();
    with(&new, &[&new]).establish();
    for (server, known) in [(&bob, &[][..]), (&bob, &[&new]), (&new, &[&bob])] {
        assert_eq!(with(server, known).codes(), ["unknown-cards", "peer: unknown-cards"]);
    }
}

#[test]
fn agents_of_the_other_suite_talk_to_those_of_the_default_one() {
    let strong = Someone::strong(5);
    strangers(&strong, &Someone::new(2)).establish();
    strangers(&Someone::new(1), &strong).establish();
}

#[test]
fn cards_longer_than_what_tls_buffers_arrive() {
    let alice = Someone::new(1);
    let mut agent = Agent::from_seed(MasterSeed::from_bytes(&[2; 32]));
    let mut cards = Someone::new(2).cards;
    let validity = (NOW, NOW.after(YEAR));
    for _ in 0..10 {
        agent.rotate(&mut cards, &[], Retired::Superseded(60), validity, &CardContent::default()).unwrap();
    }
    assert!(cards.to_lines().len() > 200_000);
    let bob = Someone { agent: Arc::new(agent), cards };
    let pair = strangers(&alice, &bob).establish();
    assert_eq!(pair.client.peer().unwrap().cards().cards().len(), 11);
}
