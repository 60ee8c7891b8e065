//! What is said before applications speak, by one who speaks TLS and has a key: any bytes, and the cards of another with changes. Nobody
//! is let in with a key that is not the cards'; nothing panics.
#![no_main]

#[path = "../../crates/session/tests/suite/agents.rs"]
mod agents;

use agents::{Borrowed, Someone, Stranger, anybody, client_config, knowing, server_config};
use gambeson_rustls::X25519_MLKEM768;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, OnceLock};

fuzz_target!(|data: &[u8]| {
    static AGENTS: OnceLock<[Someone; 3]> = OnceLock::new();
    let [alice, bob, carol] = AGENTS.get_or_init(|| [Someone::new(1), Someone::new(2), Someone::new(3)]);
    let Some((how, data)) = data.split_first() else { return };
    // With the key that the cards have, or another one.
    let key = Arc::new(Borrowed(if how & 2 == 0 { bob.clone() } else { carol.clone() }));
    let (mut session, mut stranger) = match how & 1 {
        0 => {
            let session = alice.endpoint().accept(anybody(), knowing(&[bob])).expect("a session");
            (session, Stranger::calling(&client_config(key, &[&X25519_MLKEM768])))
        }
        _ => {
            let session = alice.endpoint().connect(bob.expected(), knowing(&[])).expect("a session");
            (session, Stranger::answering(&server_config(key)))
        }
    };
    let mut words = data.to_vec();
    if how & 4 != 0 {
        let lines = bob.cards.to_lines().into_bytes();
        let len = u32::try_from(lines.len()).expect("a few kilobytes");
        words = [&[1][..], &len.to_be_bytes(), &lines, &[3, 0, 0, 0, 0]].concat();
        for edit in data.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % words.len();
            words[at] = edit[2];
        }
    }
    let (error, _) = stranger.says(&mut session, &words, how & 8 != 0);
    if let Some(peer) = session.peer() {
        assert!(error.is_none() && how & 2 == 0, "another key");
        assert_eq!(peer.did(), bob.agent.did());
    }
});
