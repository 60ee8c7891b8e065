//! The life of two agents, in memory: cards, a credential, a delegation, a tool call, a sealed payload, a recovery.

use super::Show;
use crate::error::Error;
use gambeson_identity::action::{self, Action, Call, Expectations};
use gambeson_identity::delegation::{
    Amount, Authority, Capability, Caveat, Delegation, Evidence, MemoryLedger, Policy, Test, authorize,
};
use gambeson_identity::vc::{Credential, MIN_ENTRIES, StatusEntry, StatusList, StatusPurpose, StatusStore};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, MasterSeed, MemoryReplayCache, Resolver, Result, Role, Timestamp,
    recovery, sealed, vc,
};
use serde_json::{Map, json};
use std::time::{SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// Where the tools are.
const BANK: &str = "did:web:bank.example";

/// Who is there, and what everybody knows.
struct Cast {
    /// The owner: she issues and delegates.
    alice: Agent,
    /// Her agent.
    bob: Agent,
    /// An agent of bob's fleet, from bob's seed.
    helper: Agent,
    cards: CardStore,
    now: Timestamp,
}

pub(super) fn live(show: &mut Show) -> std::result::Result<(), Error> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let now = Timestamp(seconds);
    let seed = MasterSeed::generate().map_err(Error::damaged)?;
    let words = recovery::words(&seed);
    let (alice, bob) = show.makes("two seeds make the agents Alice and Bob", || {
        let (alice, bob) = (Agent::from_seed(seed), Agent::generate().map_err(Error::damaged)?);
        Ok((format!("{}…", &alice.did().as_str()[..24]), (alice, bob)))
    })?;
    let helper = bob.child(0);
    let mut cards = CardStore::default();
    let log = show.makes("they exchange identity cards", || {
        let mut bytes = 0;
        let mut first = |agent: &Agent| -> Result<CardLog> {
            let log = CardLog::new(agent.first_card(now, now.after(30 * DAY), &CardContent::default())?)?;
            bytes = log.to_lines().len();
            cards.add(CardLog::verify(log.to_lines().as_bytes())?)?;
            Ok(log)
        };
        let log = first(&alice).map_err(Error::damaged)?;
        first(&bob).and_then(|_| first(&helper)).map_err(Error::damaged)?;
        Ok((format!("{bytes} bytes each, signed by the key whose hash is the DID"), log))
    })?;
    let mut cast = Cast { alice, bob, helper, cards, now };
    credential(show, &cast)?;
    delegation(show, &cast)?;
    payload(show, &cast)?;
    recovered(show, &mut cast, &words, log)
}

/// An outcome as [`Show`] tells it.
fn told<T>(outcome: Result<T>, text: impl FnOnce(T) -> String) -> std::result::Result<String, String> {
    outcome.map(text).map_err(|error| error.to_string())
}

fn credential(show: &mut Show, cast: &Cast) -> std::result::Result<(), Error> {
    let lists = StatusStore::default();
    let token = show.makes("Alice issues a credential to Bob", || {
        let token = Credential::builder()
            .kind("Employee")
            .subject(json!({"id": cast.bob.did().as_str(), "role": "buyer"}))
            .valid(cast.now, cast.now.after(DAY))
            .issue(&cast.alice)
            .map_err(Error::damaged)?;
        Ok((format!("vc+jwt with ML-DSA-65, {} bytes", token.len()), token))
    })?;
    let verify = |token: &str| Credential::verify(token, &cast.cards, cast.now, vc::Status::Required(&lists));
    show.expects("it holds", true, || told(verify(&token), |it| format!("role {}", it.subject()["role"])))?;
    let mut forged = token.into_bytes();
    let middle = forged.len() / 2;
    forged[middle] = if forged[middle] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).map_err(|e| Error::outside(e.to_string()))?;
    show.expects("one character of it changed", false, || told(verify(&forged), |_| String::new()))
}

fn grant(delegate: &Agent, action: &str, most: u64, now: Timestamp) -> Result<Delegation> {
    Ok(Delegation {
        delegate: delegate.did().clone(),
        from: now,
        until: now.after(DAY),
        capabilities: vec![Capability {
            action: action.parse()?,
            resource: BANK.parse()?,
            caveats: vec![Caveat::Argument("/amount".to_owned(), Test::AtMost(most.into()))],
        }],
        max_depth: 1,
        max_calls: Some(2),
        budget: Some(Amount { amount: 500, unit: "EUR-cent".to_owned() }),
        status: Vec::new(),
    })
}

fn delegation(show: &mut Show, cast: &Cast) -> std::result::Result<(), Error> {
    let Cast { alice, bob, helper, cards, now } = cast;
    let url = format!("{}/status/1", alice.did());
    let entry = StatusEntry { list: url.clone(), index: 94_567, purpose: StatusPurpose::Revocation };
    let mut list = StatusList::new(StatusPurpose::Revocation, MIN_ENTRIES).map_err(Error::damaged)?;
    let mut publish = |revoked: bool| -> Result<StatusStore> {
        list.set(entry.index, revoked)?;
        let mut store = StatusStore::default();
        store.add(&list.issue(alice, &url, (*now, now.after(DAY)), None)?, cards, *now)?;
        Ok(store)
    };
    let lists = publish(false).map_err(Error::damaged)?;

    let first = show.makes("Alice lets Bob use the tools of the bank", || {
        let mut granted = grant(bob, "tools/call/*", 100, *now).map_err(Error::damaged)?;
        granted.status.push(entry.to_json());
        let token = granted.sign(alice, None).map_err(Error::damaged)?;
        Ok((format!("2 calls, {} EUR-cent, for a day, one link more", 500), token))
    })?;
    let narrowed = |action: &str, most: u64| {
        let mut granted = grant(helper, action, most, *now)?;
        (granted.max_depth, granted.max_calls) = (0, Some(1));
        granted.sign(bob, Some(&first))
    };
    let second = show.makes("Bob delegates a narrower capability to his helper", || {
        let token = narrowed("tools/call/pay", 10).map_err(Error::damaged)?;
        Ok(("one call of pay, at most 10".to_owned(), token))
    })?;
    show.expects("Bob delegates more than he has", false, || {
        told(narrowed("tools/call/pay", 1000), |_| "a wider link was signed".to_owned())
    })?;

    let evidence = Evidence { chain: vec![first.clone(), second], approvals: Vec::new() };
    let policy = Policy::default().trust(BANK.parse().map_err(Error::damaged)?, alice.did().clone());
    let (mut replay, mut ledger) = (MemoryReplayCache::new(100), MemoryLedger::new(100));
    let call = |amount: u64| -> Result<(Action, String)> {
        let arguments = Map::from_iter([("amount".to_owned(), amount.into())]);
        let action = Action::new(helper, Call::new("tools/call", "pay", arguments), BANK, *now)?;
        let action = action.under(helper, &evidence.chain);
        let token = action.sign(helper)?;
        Ok((action, token))
    };
    let mut judge = |action: &[u8], token: &str, lists: &StatusStore| -> Result<String> {
        let verified = action::verify(action, token, &Expectations::new(BANK), cards, *now, &mut replay)?;
        let authority = Authority { policy: &policy, resolver: cards, status: lists };
        let cost = Amount { amount: 5, unit: "EUR-cent".to_owned() };
        let permitted = authorize(&verified, &evidence, Some(&cost), &authority, &mut ledger, *now)?;
        Ok(format!("permitted, over {} agents, in Alice's name", permitted.path.len()))
    };
    let (action, token) = show.makes("the helper signs a tool call", || {
        let (action, token) = call(5).map_err(Error::damaged)?;
        Ok((format!("{} for {BANK}, {} bytes", action.call().action(), token.len()), (action, token)))
    })?;
    let tampered = String::from_utf8_lossy(&action.to_json()).replace("\"amount\":5", "\"amount\":6");
    let late = publish(true).map_err(Error::damaged)?;
    let mut expects = |name: &str, success: bool, action: &[u8], token: &str, lists: &StatusStore| {
        show.expects(name, success, || told(judge(action, token, lists), |text| text))
    };
    expects("the amount is changed on its way to the bank", false, tampered.as_bytes(), &token, &lists)?;
    expects("the bank verifies the call and its chain", true, &action.to_json(), &token, &lists)?;
    expects("the same call again", false, &action.to_json(), &token, &lists)?;
    let (dear, dear_token) = call(11).map_err(Error::damaged)?;
    expects("a call beyond what was granted", false, &dear.to_json(), &dear_token, &lists)?;
    let (more, more_token) = call(5).map_err(Error::damaged)?;
    expects("one call more than the delegation permits", false, &more.to_json(), &more_token, &lists)?;
    let (revoked, revoked_token) = call(5).map_err(Error::damaged)?;
    expects("a call after Alice revoked the delegation", false, &revoked.to_json(), &revoked_token, &late)
}

fn payload(show: &mut Show, cast: &Cast) -> std::result::Result<(), Error> {
    let Cast { alice, bob, helper, cards, now } = cast;
    let mut envelope = show.makes("Alice seals a payload to Bob", || {
        let to = cards.resolve(bob.did(), *now).map_err(Error::damaged)?;
        let envelope = sealed::seal(alice, &to, "text/plain", b"meet at noon", now.after(3600), *now);
        let envelope = envelope.map_err(Error::damaged)?;
        Ok((format!("{} bytes, signed inside", envelope.len()), envelope))
    })?;
    let mut seen = MemoryReplayCache::new(100);
    let mut open = |who: &Agent, envelope: &[u8]| {
        let opened = sealed::open(who, envelope, cards, &mut seen, *now);
        told(opened, |it| format!("{:?} from Alice", String::from_utf8_lossy(it.payload())))
    };
    show.expects("the helper tries to open it", false, || open(helper, &envelope))?;
    show.expects("Bob opens it", true, || open(bob, &envelope))?;
    show.expects("Bob opens it a second time", false, || open(bob, &envelope))?;
    let middle = envelope.len() / 2;
    envelope[middle] ^= 1;
    show.expects("one byte of it changed", false, || open(bob, &envelope))
}

/// Alice's machine is gone; her words and her cards are not.
fn recovered(
    show: &mut Show,
    cast: &mut Cast,
    words: &str,
    mut log: CardLog,
) -> std::result::Result<(), Error> {
    let Cast { alice, cards, now, .. } = cast;
    show.makes("Alice replaces her signing key", || {
        let window = (*now, now.after(30 * DAY));
        let content = log.newest().content();
        let retired = gambeson_identity::Retired::Compromised;
        alice.rotate(&mut log, &[Role::Signing], retired, window, &content).map_err(Error::damaged)?;
        cards.add(log.clone()).map_err(Error::damaged)?;
        Ok((format!("card {}", log.newest().version()), ()))
    })?;
    let again = |words: &str| recovery::from_words(words).and_then(|seed| Agent::recover(seed, &log));
    show.expects("24 words and the cards make Alice again", true, || {
        let same = again(words).and_then(|again| {
            let signature = again.key(Role::Signing).sign(b"gambeson demo", b"it is me")?;
            let url = again.key_url(Role::Signing);
            let document = cards.resolve(alice.did(), *now)?;
            let relationship = gambeson_identity::Relationship::AssertionMethod;
            let key = document.key_for(&url, gambeson_identity::Kind::JsonWebKey, relationship, *now)?;
            key.verify(b"gambeson demo", b"it is me", &signature)
        });
        told(same, |()| "the same DID, and the key of card 2".to_owned())
    })?;
    let fewer = words.rsplit_once(' ').map_or("", |(fewer, _)| fewer);
    show.expects("the last word is lost", false, || told(again(fewer), |_| String::new()))
}
