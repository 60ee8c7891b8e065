//! Sessions: any bytes where TLS is awaited, from both sides, and an honest handshake with changes. Nobody is let in that way.
#![no_main]

#[path = "../../crates/session/tests/suite/agents.rs"]
mod agents;

use agents::{NOW, Someone, anybody, deliver, knowing};
use gambeson_session::Session;
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

fn wire(from: &mut Session) -> Vec<u8> {
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire).expect("a vector takes all");
    }
    wire
}

fuzz_target!(|data: &[u8]| {
    static AGENTS: OnceLock<[Someone; 2]> = OnceLock::new();
    let [alice, bob] = AGENTS.get_or_init(|| [Someone::new(1), Someone::new(2)]);
    let Some((how, data)) = data.split_first() else { return };
    let mut client = alice.endpoint().connect(bob.expected(), knowing(&[])).expect("a session");
    let mut server = bob.endpoint().accept(anybody(), knowing(&[])).expect("a session");
    let (mut at_client, mut at_server) = (None, None);
    // How many flights go through unchanged.
    let honest = usize::from(how >> 1) % 4;
    for flight in 0..4 {
        let mut up = wire(&mut client);
        let mut down = Vec::new();
        let changes = flight == honest;
        if changes && how & 1 == 0 {
            edit(&mut up, data);
        }
        deliver(&up, &mut server, NOW, &mut at_server);
        down.append(&mut wire(&mut server));
        if changes && how & 1 == 1 {
            edit(&mut down, data);
        }
        deliver(&down, &mut client, NOW, &mut at_client);
    }
    let whole = data.chunks_exact(3).len() == 0 && data.len() < 200;
    if whole {
        // Bytes alone, where a record begins.
        deliver(data, &mut server, NOW, &mut at_server);
        deliver(data, &mut client, NOW, &mut at_client);
    }
    for (session, other) in [(&client, bob), (&server, alice)] {
        if let Some(peer) = session.peer() {
            assert_eq!(peer.did(), other.agent.did());
        }
    }
});

/// Three bytes each: where, and what stands there; or other bytes in their place.
fn edit(wire: &mut Vec<u8>, data: &[u8]) {
    if wire.is_empty() || data.len() >= 200 {
        data.clone_into(wire);
        return;
    }
    for edit in data.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]])) % wire.len();
        wire[at] = edit[2];
    }
}
