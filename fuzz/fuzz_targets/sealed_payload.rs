//! Sealed payloads and backups, changed as the data says: they open to what was sealed, or not at all.
#![no_main]

use gambeson_identity::backup::Backup;
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, MasterSeed, MemoryReplayCache, Resolver, Timestamp, sealed,
};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

const NOW: Timestamp = Timestamp(1_795_330_800);

struct Sealed {
    agent: Agent,
    cards: CardStore,
    envelope: Vec<u8>,
}

fn made() -> &'static Sealed {
    static SEALED: OnceLock<Sealed> = OnceLock::new();
    SEALED.get_or_init(|| {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[7; 32]));
        let card = agent.first_card(NOW, NOW.after(86_400), &CardContent::default()).expect("a card");
        let mut cards = CardStore::default();
        cards.add(CardLog::new(card).expect("a log")).expect("the first of its agent");
        let to = cards.resolve(agent.did(), NOW).expect("it is there");
        let envelope = sealed::seal(&agent, &to, "a/b", b"payload", NOW, NOW).expect("it can be sealed");
        Sealed { agent, cards, envelope }
    })
}

fuzz_target!(|data: &[u8]| {
    let Sealed { agent, cards, envelope } = made();
    let mut seen = MemoryReplayCache::new(1);
    assert!(sealed::open(agent, data, cards, &mut seen, NOW).is_err());
    let mut changed = envelope.clone();
    for edit in data.chunks_exact(3) {
        let at = usize::from(u16::from_be_bytes([edit[0], edit[1]])) % changed.len();
        changed[at] = edit[2];
    }
    if let Ok(opened) = sealed::open(agent, &changed, cards, &mut seen, NOW) {
        assert!(opened.payload() == b"payload" && changed == *envelope);
    }
    // Not an age file to the agent: the header decides, before any key is tried.
    if !data.windows(14).any(|window| window == b"mlkem768x25519") {
        assert!(Backup::open(agent, data).is_err());
    }
});
