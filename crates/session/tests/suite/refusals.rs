//! Those who are not what they say, or say something else.

use crate::agents::{self, NOW, Pair, Someone, Stranger, anybody, knowing};
use gambeson_identity::Retired;
use gambeson_pki::Algorithm;
use gambeson_rustls::X25519;
use gambeson_session::{ALPN, Error, MAX_CARDS_LEN, Session};

fn server() -> Session {
    Someone::new(2).endpoint().accept(anybody(), knowing(&[])).unwrap()
}

/// A message as its specification has it.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &u32::try_from(body.len()).unwrap().to_be_bytes(), body].concat()
}

fn refusal(words: &[u8], hangs_up: bool) -> (String, Vec<u8>) {
    let mut session = server();
    let (error, heard) = Stranger::caller().says(&mut session, words, hangs_up);
    assert!(session.peer().is_none());
    assert!(session.receive(&mut [0; 9]).is_err(), "nothing of it is handed out");
    (error.map_or("none", |error| error.code()).to_owned(), heard)
}

#[test]
fn the_cards_of_another_are_no_use_without_its_key() {
    // As they were seen in an earlier session.
    let alice = Someone::new(1);
    let cards = message(1, alice.cards.to_lines().as_bytes());
    let (code, heard) = refusal(&[&cards[..], &message(3, b"")].concat(), false);
    assert_eq!(code, "other-key");
    assert!(heard.ends_with(&message(4, b"other-key")), "who is refused learns why");

    // Whether Alice is known here is not told to whoever does not have her key, nor that her card is over.
    let hash = format!("{}\n{}", alice.agent.did(), alice.cards.newest().hash());
    let newer = Someone::rotated(1, Retired::Compromised);
    for known in [&[&alice][..], &[], &[&newer]] {
        for (words, code) in [(message(2, hash.as_bytes()), "unknown-cards"), (cards.clone(), "other-key")] {
            let mut session = Someone::new(2).endpoint().accept(anybody(), knowing(known)).unwrap();
            let (error, heard) = Stranger::caller().says(&mut session, &words, false);
            assert_eq!(error.unwrap().code(), code);
            assert!(heard.ends_with(&message(4, code.as_bytes())));
        }
    }
}

#[test]
fn a_log_is_not_read_to_its_end_when_its_first_card_is_that_of_another() {
    let (alice, carol) = (Someone::new(1), Someone::new(3));
    let words = message(1, format!("{}not a card\n", alice.cards.to_lines()).as_bytes());
    let code = |expected| {
        let mut session = Someone::new(2).endpoint().accept(expected, knowing(&[])).unwrap();
        Stranger::caller().says(&mut session, &words, false).0.unwrap().code()
    };
    assert_eq!(code(carol.expected()), "other-peer");
    assert_eq!(code(alice.expected()), "bad-json");
}

#[test]
fn keys_that_no_agent_has_are_refused_in_the_handshake() {
    for algorithm in [Algorithm::Ed25519, Algorithm::EcdsaP256, Algorithm::MlDsa44, Algorithm::Ed448] {
        let mut session = server();
        let config =
            agents::client_config(agents::fresh_key(algorithm), &[&gambeson_rustls::X25519_MLKEM768]);
        let (error, heard) = Stranger::calling(&config).says(&mut session, b"", false);
        assert!(error.unwrap().to_string().contains("not one of those expected"), "{algorithm}");
        assert!(heard.is_empty(), "no card was sent");

        let mut session = Someone::new(1).endpoint().connect(anybody(), knowing(&[])).unwrap();
        let config = agents::server_config(agents::fresh_key(algorithm));
        let (error, heard) = Stranger::answering(&config).says(&mut session, b"", false);
        assert!(error.unwrap().to_string().contains("not one of those expected"), "{algorithm}");
        assert!(heard.is_empty(), "no card was sent");
    }
}

#[test]
fn bytes_of_an_application_before_the_cards_are_refused() {
    for words in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 40], &message(3, b""), &message(5, b"")] {
        let (code, heard) = refusal(words, false);
        assert_eq!(code, "bad-message");
        assert!(heard.ends_with(&message(4, b"bad-message")));
    }
}

#[test]
fn cards_that_were_cut_are_refused() {
    let cards = message(1, Someone::new(1).cards.to_lines().as_bytes());
    let places = [0, 1, 4, 5, 100, cards.len() / 2, cards.len() - 1];
    for place in places {
        assert_eq!(refusal(&cards[..place], true).0, "closed-early", "after {place} bytes");
    }
    // With a length that fits what is left: the card itself is not whole.
    let lines = Someone::new(1).cards.to_lines();
    for place in [1, 100, lines.len() / 2, lines.len() - 2] {
        assert_eq!(refusal(&message(1, &lines.as_bytes()[..place]), false).0, "bad-json", "{place} bytes");
    }
    assert_eq!(refusal(&message(1, b""), false).0, "bad-form");
}

#[test]
fn changed_bytes_of_a_card_are_noticed() {
    let lines = Someone::new(1).cards.to_lines().into_bytes();
    let mut ran = 0;
    // A session costs two keys: a sample of places, among them the document, its keys and the signature.
    for place in (10..lines.len() - 2).step_by(lines.len() / 12) {
        let mut changed = lines.clone();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let (code, _) = refusal(&message(1, &changed), false);
        assert!(!["none", "other-key", "closed-early"].contains(&&*code), "byte {place}: {code}");
        ran += 1;
    }
    assert!(ran >= 12);
}

#[test]
fn who_announces_too_much_is_refused_before_it_is_sent() {
    let len = u32::try_from(MAX_CARDS_LEN + 1).unwrap().to_be_bytes();
    assert_eq!(refusal(&[&[1][..], &len].concat(), false).0, "too-large");
    assert_eq!(refusal(&[2, 0, 0, 2, 1], false).0, "bad-message");
}

#[test]
fn words_of_refusal_are_codes_and_nothing_else() {
    let mut session = server();
    let (error, heard) = Stranger::caller().says(&mut session, &message(4, b"not-admitted"), false);
    assert!(matches!(error, Some(Error::RefusedByPeer(code)) if code == "not-admitted"));
    // After the server's own cards, there is nothing to answer.
    assert!(heard.ends_with(b"}\n"));
    assert_eq!(refusal(&message(4, b"<script>"), false).0, "bad-message");
}

#[test]
fn another_protocol_gets_no_card() {
    for protocols in [&[][..], &[&b"h2"[..]], &[b"gambeson/2"]] {
        let mut session = server();
        let mut stranger = Stranger::client(protocols, &[&gambeson_rustls::X25519_MLKEM768]);
        let (error, heard) = stranger.says(&mut session, b"", false);
        assert!(matches!(error, Some(Error::NotGambeson | Error::Tls(_))), "{error:?}");
        assert!(heard.is_empty());
    }
    // The same of a server that does not choose it.
    let alice = Someone::new(1);
    let mut session = alice.endpoint().connect(anybody(), knowing(&[])).unwrap();
    let (error, heard) = Stranger::server(&[]).says(&mut session, b"", false);
    assert_eq!(error.unwrap().code(), "not-gambeson");
    assert!(heard.is_empty());
}

#[test]
fn a_key_exchange_without_ml_kem_is_refused() {
    let mut session = server();
    let (error, heard) = Stranger::client(&[ALPN], &[&X25519]).says(&mut session, b"", false);
    assert_eq!(error.unwrap().code(), "tls");
    assert!(heard.is_empty());
}

#[test]
fn a_changed_byte_on_the_wire_ends_it() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let mut client = alice.endpoint().connect(bob.expected(), knowing(&[])).unwrap();
    let mut hello = Vec::new();
    client.write_tls(&mut hello).unwrap();
    assert!(!String::from_utf8_lossy(&hello).contains("agent.invalid"), "no name is sent");
    let mut server = server();
    let mut error = None;
    agents::deliver(&hello, &mut server, NOW, &mut error);
    assert!(error.is_none());
    let mut answer = Vec::new();
    server.write_tls(&mut answer).unwrap();
    let last = answer.len() - 1;
    answer[last] ^= 1;
    agents::deliver(&answer, &mut client, NOW, &mut error);
    assert_eq!(error.unwrap().code(), "tls");
    assert_eq!(client.process(NOW).unwrap_err().code(), "tls", "it stays so");
}

#[test]
fn a_line_that_is_cut_before_the_end_of_the_handshake_is_no_session() {
    let alice = Someone::new(1);
    let mut client = alice.endpoint().connect(anybody(), knowing(&[])).unwrap();
    assert_eq!(client.send(b"secret").unwrap_err().code(), "not-established");
    assert_eq!(client.channel_binding().unwrap_err().code(), "not-established");
    client.read_tls(&mut std::io::empty()).unwrap();
    assert_eq!(client.process(NOW).unwrap_err().code(), "closed-early");
}

#[test]
fn nothing_leaves_before_the_other_side_has_agreed() {
    // The server has judged the client's cards, the client has not answered yet.
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let client = alice.endpoint().connect(bob.expected(), knowing(&[])).unwrap();
    let server = bob.endpoint().accept(anybody(), knowing(&[])).unwrap();
    let mut pair = Pair::new(client, server);
    let mut seen = 0;
    let mut error = None;
    for _ in 0..3 {
        for up in [true, false] {
            let (from, to) =
                if up { (&mut pair.client, &mut pair.server) } else { (&mut pair.server, &mut pair.client) };
            let mut wire = Vec::new();
            while from.wants_write() {
                from.write_tls(&mut wire).unwrap();
            }
            agents::deliver(&wire, to, pair.now, &mut error);
            for session in [&mut pair.client, &mut pair.server] {
                if session.peer().is_none() {
                    assert_eq!(session.send(b"secret").unwrap_err().code(), "not-established");
                    assert_eq!(session.receive(&mut [0; 8]).unwrap_err().code(), "not-established");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen >= 6 && pair.client.peer().is_some() && pair.server.peer().is_some());
}

#[test]
fn who_takes_nobody_any_more_says_so_and_keeps_whom_it_has_taken() {
    let (alice, bob) = (Someone::new(1), Someone::new(2));
    let client = alice.endpoint().connect(bob.expected(), knowing(&[])).unwrap();
    let mut server = bob.endpoint().accept(anybody(), knowing(&[])).unwrap();
    server.decline();
    assert_eq!(Pair::new(client, server).codes(), ["peer: busy", "busy"]);

    let client = alice.endpoint().connect(bob.expected(), knowing(&[])).unwrap();
    let server = bob.endpoint().accept(anybody(), knowing(&[])).unwrap();
    let mut pair = Pair::new(client, server).establish();
    pair.server.decline();
    assert!(pair.server.process(NOW).is_ok() && pair.server.peer().is_some());
}
