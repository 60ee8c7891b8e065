//! What the parts of a handshake cost by themselves, by the doors that it uses, measured in the same rounds.

use std::hint::black_box;
use std::sync::Arc;

use gambeson_hybrid::{ed448, x448};
use gambeson_identity::{Agent, CardLog, Role};
use gambeson_pki::{Algorithm, PublicKey};
use gambeson_rustls::X25519_MLKEM768;
use rustls::crypto::SupportedKxGroup;

use super::session::Someone;
use super::{Failure, median, now};

/// As long as what a handshake signs.
const SIGNED: [u8; 146] = [0x20; 146];

/// Microseconds of one operation each, one list a round.
pub(super) struct Operations {
    curve: Curve,
    agents: Agents,
}

impl Operations {
    pub(super) fn new() -> Result<Self, Failure> {
        let signing = ed448::SigningKey::generate()?;
        let someone = Someone::new()?;
        let key = someone.agent.key(Role::Identity).verifying_key().as_bytes().to_vec();
        let cards = someone.cards.to_lines();
        Ok(Self {
            curve: Curve { signing, times: Vec::new() },
            agents: Agents { agent: someone.agent, key, cards, times: Vec::new() },
        })
    }

    /// Twice, of which the second counts, as with handshakes.
    pub(super) fn measure(&mut self) -> Result<(), Failure> {
        self.curve.once()?;
        let times = self.curve.once()?;
        self.curve.times.push(times);
        self.agents.once()?;
        let times = self.agents.once()?;
        self.agents.times.push(times);
        Ok(())
    }

    /// Microseconds of both sides of classical-448: two shares, two agreements, one signature and its verification, and those of two
    /// certificates.
    pub(super) fn of_classical(&self, verify: bool) -> f64 {
        sum(&self.curve.times, [2.0, 2.0, 1.0, if verify { 3.0 } else { 1.0 }])
    }

    /// Microseconds of both sides of a session: a key exchange, two signatures with their verification, and two logs of one card.
    pub(super) fn of_session(&self, known: bool) -> f64 {
        sum(&self.agents.times, [1.0, 1.0, 1.0, 2.0, 2.0, if known { 0.0 } else { 2.0 }])
    }
}

fn sum<const N: usize>(times: &[[f64; N]], counts: [f64; N]) -> f64 {
    let of = |(at, count): (usize, f64)| count * median(times.iter().map(|times| times[at]));
    counts.into_iter().enumerate().map(of).sum()
}

/// A stopwatch for one operation after the other.
struct Laps<const N: usize> {
    times: [f64; N],
    at: usize,
    since: f64,
}

impl<const N: usize> Laps<N> {
    fn new() -> Self {
        Self { times: [0.0; N], at: 0, since: now() }
    }

    fn next(&mut self) {
        let until = now();
        self.times[self.at] = until - self.since;
        self.at += 1;
        self.since = now();
    }
}

/// A share, an agreement, a signature, a verification.
struct Curve {
    signing: ed448::SigningKey,
    times: Vec<[f64; 4]>,
}

impl Curve {
    fn once(&self) -> Result<[f64; 4], Failure> {
        let peer = x448::SecretKey::generate()?.public_key();
        let mut laps = Laps::new();
        let key = x448::SecretKey::generate()?;
        black_box(key.public_key());
        laps.next();
        let agreed = key.diffie_hellman(&peer).is_ok();
        laps.next();
        let signature = self.signing.sign(black_box(&SIGNED));
        laps.next();
        let key = ed448::VerifyingKey::from_bytes(black_box(self.signing.public_bytes()));
        let valid = key.is_ok_and(|key| key.verify(&SIGNED, &signature).is_ok());
        laps.next();
        if agreed && valid { Ok(laps.times) } else { Err("our own key and signature do not hold".into()) }
    }
}

/// The three steps of a key exchange with X25519MLKEM768; a signature of an agent, its verification, and that of its cards.
struct Agents {
    agent: Arc<Agent>,
    key: Vec<u8>,
    cards: String,
    times: Vec<[f64; 6]>,
}

impl Agents {
    fn once(&self) -> Result<[f64; 6], Failure> {
        let mut laps = Laps::new();
        let ours = X25519_MLKEM768.start()?;
        laps.next();
        let theirs = X25519_MLKEM768.start_and_complete(ours.pub_key())?;
        laps.next();
        let agreed = ours.complete(&theirs.pub_key)?;
        laps.next();
        let signature = self.agent.key(Role::Identity).sign(b"", black_box(&SIGNED))?;
        laps.next();
        let valid =
            PublicKey::from_bytes(Algorithm::MlDsa65, black_box(&self.key))?.verify(&SIGNED, &signature);
        laps.next();
        let cards = CardLog::verify(black_box(self.cards.as_bytes()))?;
        laps.next();
        let whole = cards.did() == self.agent.did() && agreed.secret_bytes() == theirs.secret.secret_bytes();
        if whole && valid.is_ok() {
            Ok(laps.times)
        } else {
            Err("our own key and signature do not hold".into())
        }
    }
}
