//! Two agents who meet.

use std::sync::Arc;

use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Timestamp};
use gambeson_session::{Endpoint, Expected, Session};

use super::{End, Failure, Handshake, Wires, meet};

/// When they meet: their cards begin then.
const NOW: Timestamp = Timestamp(1_795_330_800);

/// Somebody and the cards that are shown.
pub(super) struct Someone {
    pub(super) agent: Arc<Agent>,
    pub(super) cards: CardLog,
}

impl Someone {
    pub(super) fn new() -> Result<Self, Failure> {
        let agent = Arc::new(Agent::generate()?);
        let card = agent.first_card(NOW, NOW.after(86_400), &CardContent::default())?;
        Ok(Self { agent, cards: CardLog::new(card)? })
    }
}

/// A session until both know who is there: who calls wants that agent, who is called takes anybody. With `known` each has the other's
/// cards, and they send the hashes alone.
/// Beside it, how many bytes of cards go both ways.
pub(super) fn handshake(known: bool) -> Result<(Handshake, usize), Failure> {
    let (caller, called) = (Someone::new()?, Someone::new()?);
    let cards = if known { 0 } else { caller.cards.to_lines().len() + called.cards.to_lines().len() };
    let mut store = CardStore::default();
    if known {
        store.add(caller.cards.clone())?;
        store.add(called.cards.clone())?;
    }
    let store = Arc::new(store);
    let endpoint = |someone: &Someone| -> Result<_, Failure> {
        Ok(Endpoint::new(someone.agent.clone(), &someone.cards)?.known_to_peer(known))
    };
    let (client, server) = (endpoint(&caller)?, endpoint(&called)?);
    let wanted = called.agent.did().clone();
    let mut wires = Wires::default();
    let handshake = move || {
        meet(
            &mut wires,
            || Ok(Speaker(client.connect(Expected::did(wanted.clone()), store.clone())?)),
            || Ok(Speaker(server.accept(Expected::accepting(|_| true), store.clone())?)),
        )
    };
    Ok((Box::new(handshake), cards))
}

struct Speaker(Session);

impl End for Speaker {
    fn advance(&mut self, mut heard: &[u8], said: &mut Vec<u8>) -> Result<(), Failure> {
        while !heard.is_empty() {
            self.0.read_tls(&mut heard)?;
            self.0.process(NOW)?;
        }
        while self.0.wants_write() {
            self.0.write_tls(said)?;
        }
        Ok(())
    }

    fn is_ready(&self) -> bool {
        self.0.peer().is_some()
    }

    fn send(&mut self, message: &[u8]) -> Result<(), Failure> {
        match self.0.send(message)? {
            count if count == message.len() => Ok(()),
            _ => Err("the message was not written whole".into()),
        }
    }

    fn receive(&mut self, message: &mut [u8]) -> Result<(), Failure> {
        match self.0.receive(message)? {
            Some(count) if count == message.len() => Ok(()),
            _ => Err("the message was not received whole".into()),
        }
    }
}
