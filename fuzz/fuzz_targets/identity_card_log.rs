//! Logs of identity cards, as strangers send them, and one that is changed as the data says: what verifies does so again as it is written, and is
//! that log or its beginning, but for white space.
#![no_main]

use gambeson_identity::{Agent, CardContent, CardLog, MasterSeed, Retired, Role, Timestamp};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

const NOW: Timestamp = Timestamp(1_795_330_800);

/// Two cards: the second has another signing key.
fn honest() -> &'static str {
    static LOG: OnceLock<String> = OnceLock::new();
    LOG.get_or_init(|| {
        let mut agent = Agent::from_seed(MasterSeed::from_bytes(&[7; 32]));
        let content = CardContent::default();
        let card = agent.first_card(NOW, NOW.after(86_400), &content).expect("a card");
        let mut log = CardLog::new(card).expect("a log");
        let times = (NOW.after(3_600), NOW.after(86_400));
        agent
            .rotate(&mut log, &[Role::Signing], Retired::Superseded(60), times, &content)
            .expect("a second card");
        log.to_lines()
    })
}

fuzz_target!(|data: &[u8]| {
    if let Ok(log) = CardLog::verify(data) {
        assert!(CardLog::verify(log.to_lines().as_bytes()).is_ok_and(|again| again == log));
    }
    let mut changed = honest().as_bytes().to_vec();
    for edit in data.chunks_exact(3) {
        let at = usize::from(u16::from_be_bytes([edit[0], edit[1]])) % changed.len();
        changed[at] = edit[2];
    }
    if let Ok(log) = CardLog::verify(&changed) {
        assert!(honest().starts_with(&log.to_lines()));
    }
});
