//! Any bytes as a pattern, as a token, and as the payload of a credential that a known agent signed.
#![no_main]

use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, MasterSeed, Role, Timestamp,
    delegation::{Chain, NoStatus, Pattern},
    jose::Jws,
};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

const NOW: Timestamp = Timestamp(1_795_330_800);

static AGENT: LazyLock<(Agent, CardStore)> = LazyLock::new(|| {
    let agent = Agent::from_seed(MasterSeed::from_bytes(&[7; 32]));
    let card = agent.first_card(NOW, NOW.after(60), &CardContent::default()).expect("a card");
    let mut known = CardStore::default();
    known.add(CardLog::new(card).expect("a log")).expect("known");
    (agent, known)
});

fuzz_target!(|data: &[u8]| {
    let (agent, known) = &*AGENT;
    if let Ok(text) = std::str::from_utf8(data) {
        if let Ok(pattern) = text.parse::<Pattern>() {
            assert_eq!(pattern.to_string(), text);
            assert!(pattern.covers(&pattern));
        }
        assert!(Chain::verify(&[text], known, &NoStatus, NOW).is_err());
    }
    let kid = agent.key_url(Role::Signing).to_string();
    let header = [("typ".to_owned(), "vc+jwt".into()), ("kid".to_owned(), kid.into())];
    let token = Jws::sign(agent.key(Role::Signing), header.into_iter().collect(), data).expect("signed");
    if let Ok(chain) = Chain::verify(&[token], known, &NoStatus, NOW) {
        assert_eq!(chain.links()[0].issuer(), agent.did());
    }
});
