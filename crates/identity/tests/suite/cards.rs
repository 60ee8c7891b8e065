//! Cards, their chain, their rotation, and what finds them.

use crate::world::{DAY, NOW, reason};
use gambeson_identity::{
    Agent, Algorithm, Card, CardContent, CardDirectory, CardLog, CardStore, Did, Error, Fetch, Kind,
    MasterSeed, Reason, Relationship, Resolver, Retired, Role, Suite, Timestamp, VerifyingKey, Web,
};
use serde_json::{Value, json};

fn agent(suite: Suite) -> Agent {
    Agent::with_suite(MasterSeed::from_bytes(&[9; 32]), suite)
}

fn log(agent: &Agent) -> CardLog {
    CardLog::new(agent.first_card(NOW, NOW.after(30 * DAY), &CardContent::default()).unwrap()).unwrap()
}

fn rotate(agent: &mut Agent, log: &mut CardLog, roles: &[Role], retired: Retired) {
    let from = NOW.after(DAY);
    agent.rotate(log, roles, retired, (from, from.after(30 * DAY)), &log.newest().content()).unwrap();
}

#[test]
fn a_card_binds_every_key_to_the_did_in_both_suites() {
    for suite in [Suite::Default, Suite::Cnsa2] {
        let agent = agent(suite);
        let text = log(&agent).newest().to_json();
        assert!(text.len() < 64 << 10, "{} bytes", text.len());
        let card = Card::verify_first(text.as_bytes()).unwrap();
        let document = card.document();
        assert_eq!((document.id(), document.methods().count(), card.version()), (agent.did(), 8, 1));
        for role in Role::ALL.into_iter().filter(|role| role.algorithm(suite).is_some()) {
            let key = document.key_of_role(&agent.key_url(role), role, NOW);
            match role {
                Role::Did | Role::Log => assert_eq!(*key.unwrap(), agent.key(role).verifying_key()),
                // A relationship names it.
                _ => assert_eq!(reason(key), Reason::WrongPurpose, "{role:?}"),
            }
        }
        for role in [Role::Backup, Role::Sealed, Role::Encapsulation] {
            let found = document.agreement_key(role.agreement_algorithm(suite).unwrap(), NOW).unwrap();
            assert_eq!(found, (&agent.key_url(role), agent.public_key(role).as_slice()));
        }
    }
}

#[test]
fn a_key_serves_its_purpose_and_no_other() {
    let agent = agent(Suite::Default);
    let log = log(&agent);
    let document = log.newest().document();
    for role in Role::ALL {
        let kind = if role == Role::DataIntegrity { Kind::Multikey } else { Kind::JsonWebKey };
        for relationship in Relationship::ALL {
            let key = document.key_for(&agent.key_url(role), kind, relationship, NOW);
            let signs = role.algorithm(Suite::Default).is_some();
            match role.relationships().contains(&relationship) && signs {
                true => assert_eq!(key, Ok(&agent.key(role).verifying_key())),
                false => assert_eq!(reason(key), Reason::WrongPurpose, "{role:?} {relationship:?}"),
            }
        }
    }
    let url = agent.key_url(Role::Signing);
    let wrong_kind = document.key_for(&url, Kind::Multikey, Relationship::AssertionMethod, NOW);
    assert_eq!(reason(wrong_kind), Reason::WrongPurpose);
    let missing = agent.did().url("signing-1");
    assert_eq!(
        reason(document.key_for(&missing, Kind::JsonWebKey, Relationship::AssertionMethod, NOW)),
        Reason::UnknownKey
    );
    assert_eq!(reason(document.key_of_role(&url, Role::Log, NOW)), Reason::WrongPurpose);
    assert_eq!(reason(document.agreement_key("HPKE-9", NOW)), Reason::UnknownKey);
}

#[test]
fn any_change_of_a_card_is_refused() {
    let agent = agent(Suite::Default);
    let text = log(&agent).newest().to_json();
    let mut refused = 0;
    for at in (0..text.len()).step_by(61) {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        if serde_json::from_slice::<Value>(&bytes).ok() != serde_json::from_str(&text).ok() {
            assert!(Card::verify_first(&bytes).is_err(), "byte {at}");
            refused += 1;
        }
    }
    assert_eq!(refused, text.len().div_ceil(61));
}

#[test]
fn the_card_of_somebody_else_is_not_bound() {
    let (ours, theirs) = (agent(Suite::Default), Agent::generate().unwrap());
    let forged = log(&theirs).newest().to_json().replace(theirs.did().as_str(), ours.did().as_str());
    assert_eq!(reason(Card::verify_first(forged.as_bytes())), Reason::NotBound);
}

#[test]
fn keys_rotate_and_the_log_tells_the_story() {
    for suite in [Suite::Default, Suite::Cnsa2] {
        let mut agent = agent(suite);
        let mut log = log(&agent);
        let (first, second) = (agent.key_url(Role::Signing), agent.did().url("signing-1"));
        let later = NOW.after(DAY);
        rotate(&mut agent, &mut log, &[Role::Signing], Retired::Superseded(DAY));
        assert_eq!((agent.key_url(Role::Signing), agent.index(Role::Did)), (second.clone(), 1));
        let key = |log: &CardLog, url, at| {
            log.newest().document().key_for(url, Kind::JsonWebKey, Relationship::AssertionMethod, at).cloned()
        };
        assert!(key(&log, &first, later).is_ok() && key(&log, &second, later).is_ok());
        assert_eq!(reason(key(&log, &first, later.after(DAY + 1))), Reason::Expired);

        rotate(&mut agent, &mut log, &[Role::Signing, Role::Sealed], Retired::Compromised);
        assert_eq!(reason(key(&log, &second, later)), Reason::KeyRevoked);
        assert!(key(&log, &agent.key_url(Role::Signing), later).is_ok());

        let read = CardLog::verify(log.to_lines().as_bytes()).unwrap();
        assert_eq!(read, log);
        let again = Agent::recover(MasterSeed::from_bytes(&[9; 32]), &read).unwrap();
        for role in Role::ALL {
            assert_eq!(again.index(role), agent.index(role), "{role:?}");
        }
        assert_eq!(again.index(Role::Signing), 2);
    }
}

#[test]
fn a_log_that_does_not_follow_is_refused() {
    let mut agent = agent(Suite::Default);
    let mut long = log(&agent);
    rotate(&mut agent, &mut long, &[], Retired::Superseded(0));
    rotate(&mut agent, &mut long, &[], Retired::Superseded(0));
    let lines = long.to_lines();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 3);
    let verify = |cards: &[&str]| CardLog::verify(cards.join("\n").as_bytes());
    assert!(verify(&lines).is_ok());
    for order in
        [&[lines[1]][..], &[lines[0], lines[2]], &[lines[0], lines[0]], &[lines[0], lines[1], lines[1]]]
    {
        assert_eq!(reason(verify(order)), Reason::BrokenChain);
    }
    assert_eq!(reason(CardLog::verify(b"\n")), Reason::BadForm);

    // Who has the first DID key, and not the second, cannot write the second card.
    let thief = Agent::generate().unwrap();
    let forged = log(&thief).newest().to_json().replace(thief.did().as_str(), agent.did().as_str());
    assert!(verify(&[lines[0], &forged]).is_err());
    assert_eq!(reason(Agent::recover(MasterSeed::from_bytes(&[8; 32]), &long)), Reason::WrongSeed);
    let mut other = log(&thief);
    let window = (NOW, NOW.after(1));
    assert_eq!(
        reason(agent.rotate(&mut other, &[], Retired::Compromised, window, &CardContent::default())),
        Reason::WrongSeed
    );
    let early = (Timestamp(1), NOW);
    assert_eq!(
        reason(agent.rotate(&mut long, &[], Retired::Compromised, early, &CardContent::default())),
        Reason::BrokenChain
    );
    assert_eq!((agent.index(Role::Did), long.cards().len()), (2, 3), "a failed rotation changes nothing");
}

#[test]
fn a_store_keeps_the_longest_log_and_refuses_a_fork() {
    let mut agent = agent(Suite::Default);
    let short = log(&agent);
    let mut long = short.clone();
    rotate(&mut agent, &mut long, &[Role::Identity], Retired::Compromised);
    let mut store = CardStore::default();
    store.add(short.clone()).unwrap();
    store.add(long.clone()).unwrap();
    assert_eq!(reason(store.add(short.clone())), Reason::StaleCard);
    let mut twin = self::agent(Suite::Default);
    let mut fork = short;
    rotate(&mut twin, &mut fork, &[Role::Signing], Retired::Compromised);
    assert_eq!(reason(store.add(fork)), Reason::BrokenChain);
    assert_eq!(store.log(agent.did()), Some(&long));
    let hash = long.newest().hash();
    assert_eq!(store.card_with_hash(agent.did(), &hash), Some(long.newest()));
    assert_eq!(store.card_with_hash(agent.did(), &long.cards()[0].hash()), None);

    assert_eq!(reason(store.resolve(agent.did(), NOW)), Reason::NotYetValid);
    assert!(store.resolve(agent.did(), NOW.after(DAY)).is_ok());
    assert_eq!(reason(store.resolve(agent.did(), NOW.after(32 * DAY))), Reason::Expired);
    assert_eq!(reason(store.resolve(Agent::generate().unwrap().did(), NOW)), Reason::UnknownDid);
}

#[test]
fn a_folder_of_cards_resolves() {
    let folder = std::env::temp_dir().join(format!("gambeson-cards-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (agent, stranger) = (agent(Suite::Default), Agent::generate().unwrap());
    let cards = CardDirectory::new(&folder);
    std::fs::write(cards.path(agent.did()).unwrap(), log(&agent).to_lines()).unwrap();
    std::fs::write(cards.path(stranger.did()).unwrap(), log(&agent).to_lines()).unwrap();
    assert_eq!(cards.resolve(agent.did(), NOW).unwrap().id(), agent.did());
    assert_eq!(reason(cards.resolve(stranger.did(), NOW)), Reason::NotBound);
    assert_eq!(reason(cards.resolve(Agent::generate().unwrap().did(), NOW)), Reason::UnknownDid);
    assert_eq!(reason(cards.resolve(&"did:example:1".parse().unwrap(), NOW)), Reason::UnknownDid);
    let long = std::fs::File::create(cards.path(agent.did()).unwrap()).unwrap();
    long.set_len(gambeson_identity::MAX_CARD_LOG as u64 + 1).unwrap();
    assert_eq!(reason(cards.resolve(agent.did(), NOW)), Reason::TooLarge);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn did_key_needs_no_card() {
    let key = agent(Suite::Default).key(Role::DataIntegrity).verifying_key();
    let did = Did::from_key(&key);
    let document = CardStore::default().resolve(&did, NOW).unwrap();
    let fragment = key.to_multikey();
    for (url, kind) in
        [(did.url(&fragment), Kind::Multikey), (did.url(&format!("{fragment}-jwk")), Kind::JsonWebKey)]
    {
        assert_eq!(document.key_for(&url, kind, Relationship::AssertionMethod, NOW), Ok(&key));
    }
    assert_eq!(did.as_str().parse(), Ok(did.clone()));
    let largest = VerifyingKey::from_bytes(Algorithm::MlDsa87, &[0; 2592]).unwrap();
    assert_eq!(Did::from_key(&largest).as_str().parse(), Ok(Did::from_key(&largest)));
}

struct Site(Value);

impl Fetch for Site {
    fn get(&self, address: &str, _: usize) -> Result<Vec<u8>, Error> {
        assert_eq!(address, "https://example.com/agents/one/did.json");
        Ok(self.0.to_string().into_bytes())
    }
}

#[test]
fn did_web_is_what_its_address_says() {
    let did: Did = "did:web:example.com:agents:one".parse().unwrap();
    let resolve = |document| Web::new(Site(document), CardStore::default()).resolve(&did, NOW);
    assert_eq!(resolve(json!({"id": did.as_str()})).unwrap().id(), &did);
    assert_eq!(reason(resolve(json!({"id": "did:web:example.com"}))), Reason::NotBound);
    assert_eq!(reason(resolve(json!({}))), Reason::BadForm);
    let (agent, web) = (agent(Suite::Default), Web::new(Site(json!({})), CardStore::default()));
    assert_eq!(reason(web.resolve(agent.did(), NOW)), Reason::UnknownDid);
}

#[test]
fn a_card_stays_small_however_often_keys_are_replaced() {
    let mut agent = agent(Suite::Cnsa2);
    let mut log = log(&agent);
    for _ in 0..12 {
        rotate(&mut agent, &mut log, &[Role::Signing, Role::Identity], Retired::Compromised);
    }
    assert_eq!(log.newest().document().methods().count(), 16);
    let services = vec![
        json!({"id": "#s", "type": "Large", "serviceEndpoint": format!("https://{}", "a".repeat(60_000))}),
    ];
    let content = CardContent { services, ..CardContent::default() };
    let window = (NOW.after(DAY), NOW.after(2 * DAY));
    assert_eq!(reason(agent.rotate(&mut log, &[], Retired::Compromised, window, &content)), Reason::TooLarge);
}
