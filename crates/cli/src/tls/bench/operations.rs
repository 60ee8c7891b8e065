//! What the parts of a handshake cost by themselves, by the doors that it uses, measured in the same rounds.

use std::hint::black_box;
use std::sync::Arc;

use gambeson_hybrid::{ed448, x448};
use gambeson_identity::{Agent, CardLog, Role};
use gambeson_pki::{Algorithm, PublicKey};
use gambeson_rustls::X25519_MLKEM768;
use rustls::crypto::SupportedKxGroup;
use rustls::crypto::cipher::{
    InboundOpaqueMessage, MessageDecrypter, MessageEncrypter, OutboundChunks, OutboundPlainMessage,
};
use rustls::{ContentType, ProtocolVersion, Tls13CipherSuite};

use super::session::Someone;
use super::stack::ciphers;
use super::{Failure, median, now, since, warm};

/// As long as what a handshake signs.
const SIGNED: [u8; 146] = [0x20; 146];

/// The operations of classical-448 and of sessions.
pub(super) struct Operations {
    curve: Curve,
    agents: Agents,
    schedule: Schedule,
    records: Records,
}

impl Operations {
    pub(super) fn new() -> Result<Self, Failure> {
        let signing = ed448::SigningKey::generate()?;
        let someone = Someone::new()?;
        let key = someone.agent.key(Role::Identity).verifying_key().as_bytes().to_vec();
        let cards = someone.cards.to_lines();
        let records = Records::new(cards.len())?;
        Ok(Self {
            records,
            curve: Curve { signing, times: Vec::new() },
            agents: Agents { agent: someone.agent, key, cards, times: Vec::new() },
            schedule: Schedule::new()?,
        })
    }

    /// Warm, as handshakes are.
    pub(super) fn measure(&mut self) -> Result<(), Failure> {
        let times = warm(|| self.curve.once())?;
        self.curve.times.push(times);
        let times = warm(|| self.agents.once())?;
        self.agents.times.push(times);
        let time = warm(|| Ok(self.schedule.once()))?;
        self.schedule.times.push(time);
        let times = warm(|| self.records.once())?;
        self.records.times.push(times);
        Ok(())
    }

    /// Microseconds of both sides of classical-448: two shares, two agreements, one signature and its verification, and those of two
    /// certificates.
    pub(super) fn of_classical(&self, verify: bool) -> f64 {
        let verifications = if verify { 3.0 } else { 1.0 };
        median(self.curve.times.iter().map(|[both, verification]| both + verifications * verification))
    }

    /// Microseconds of both sides of a session: a key exchange, two signatures with their verification, and two logs of one card; the
    /// hash of the handshake and its key schedule, twice; what is encrypted and decrypted.
    pub(super) fn of_session(&self, known: bool) -> f64 {
        let logs = if known { 0.0 } else { 2.0 };
        let with_logs = |[once, log]: &[f64; 2]| once + logs * log;
        median(self.agents.times.iter().map(with_logs))
            + 2.0 * median(self.schedule.times.iter().copied())
            + median(self.records.times.iter().map(with_logs))
    }
}

/// Microseconds of each round: the shares, agreements and the signature of both sides; one verification.
struct Curve {
    signing: ed448::SigningKey,
    times: Vec<[f64; 2]>,
}

impl Curve {
    fn once(&self) -> Result<[f64; 2], Failure> {
        let begun = now();
        let keys = [x448::SecretKey::generate()?, x448::SecretKey::generate()?];
        let [ours, theirs] = keys.each_ref().map(|key| black_box(key.public_key()));
        let agreed = [keys[0].diffie_hellman(&theirs)?, keys[1].diffie_hellman(&ours)?];
        let signature = self.signing.sign(black_box(&SIGNED));
        let signed = since(begun);
        let begun = now();
        let key = ed448::VerifyingKey::from_bytes(black_box(self.signing.public_bytes()));
        let valid = key.is_ok_and(|key| key.verify(&SIGNED, &signature).is_ok());
        let verified = since(begun);
        if valid && agreed[0].expose() == agreed[1].expose() {
            return Ok([signed, verified]);
        }
        Err("our own key and signature do not verify".into())
    }
}

/// Microseconds of each round: a key exchange with X25519MLKEM768, two signatures of an agent and their verification; one log of cards.
///
/// Signatures take different times, so that they are summed before the median is taken, as in a handshake.
struct Agents {
    agent: Arc<Agent>,
    key: Vec<u8>,
    cards: String,
    times: Vec<[f64; 2]>,
}

impl Agents {
    fn once(&self) -> Result<[f64; 2], Failure> {
        let begun = now();
        let ours = X25519_MLKEM768.start()?;
        let theirs = X25519_MLKEM768.start_and_complete(ours.pub_key())?;
        let agreed = ours.complete(&theirs.pub_key)?;
        for _ in 0..2 {
            let signature = self.agent.key(Role::Identity).sign(b"", black_box(&SIGNED))?;
            PublicKey::from_bytes(Algorithm::MlDsa65, black_box(&self.key))?.verify(&SIGNED, &signature)?;
        }
        let met = since(begun);
        let begun = now();
        let cards = CardLog::verify(black_box(self.cards.as_bytes()))?;
        let known = since(begun);
        if cards.did() == self.agent.did() && agreed.secret_bytes() == theirs.secret.secret_bytes() {
            return Ok([met, known]);
        }
        Err("our own key exchange and cards do not verify".into())
    }
}

/// What one side of TLS 1.3 hashes and derives, with the first cipher suite of the preset (RFC 8446, section 7.1).
struct Schedule {
    suite: &'static Tls13CipherSuite,
    transcript: Vec<u8>,
    times: Vec<f64>,
}

impl Schedule {
    /// Early, handshake and master secret.
    const EXTRACTED: usize = 3;
    /// Two secrets called derived, traffic secrets of both sides in the handshake and after it, those of the exporter and of
    /// resumption; a key and an IV of each traffic secret; the keys of both Finished messages.
    const EXPANDED: usize = 8 + 4 * 2 + 2;
    /// Those of the traffic secrets that something is derived from, one for key and IV, one for Finished.
    const KEYED: usize = 4 + 2;
    /// Bytes of the handshake of a session, which are hashed.
    const TRANSCRIPT: usize = 13_500;

    fn new() -> Result<Self, Failure> {
        let provider = gambeson_rustls::provider()?;
        let suite = provider.cipher_suites.iter().find_map(|suite| suite.tls13());
        let suite = suite.ok_or("the preset has no suite of TLS 1.3")?;
        Ok(Self { suite, transcript: vec![0x5a; Self::TRANSCRIPT], times: Vec::new() })
    }

    fn once(&self) -> f64 {
        // As long as a label with a hash of the handshake.
        const INFO: &[u8] = &[0x5a; 52];
        let begun = now();
        let hash = self.suite.common.hash_provider.hash(black_box(&self.transcript));
        let hkdf = self.suite.hkdf_provider;
        let mut secret = hkdf.extract_from_zero_ikm(None);
        for _ in 1..Self::EXTRACTED {
            secret = hkdf.extract_from_secret(Some(hash.as_ref()), hash.as_ref());
        }
        let block = secret.expand_block(&[INFO]);
        for _ in 1..Self::EXPANDED {
            black_box(secret.expand_block(&[black_box(INFO)]));
        }
        for _ in 0..Self::KEYED {
            black_box(hkdf.expander_for_okm(&block));
        }
        // Of both Finished messages.
        for _ in 0..2 {
            black_box(hkdf.hmac_sign(&block, hash.as_ref()));
        }
        since(begun)
    }
}

/// Microseconds of each round: what both sides encrypt in a session and decrypt, by the doors that rustls calls; and one log of cards.
struct Records {
    encrypter: Box<dyn MessageEncrypter>,
    decrypter: Box<dyn MessageDecrypter>,
    log: usize,
    times: Vec<[f64; 2]>,
}

impl Records {
    /// Bytes of the handshake of a session after both hellos.
    const ENCRYPTED: usize = 10_900;
    /// The most that one record holds (RFC 8446, section 5.1).
    const LONGEST: usize = 1 << 14;

    fn new(log: usize) -> Result<Self, Failure> {
        let (encrypter, decrypter) = ciphers()?;
        Ok(Self { encrypter, decrypter, log, times: Vec::new() })
    }

    fn once(&mut self) -> Result<[f64; 2], Failure> {
        Ok([self.both(Self::ENCRYPTED)?, self.both(self.log)?])
    }

    /// The same number for every record: keys and texts are of nobody.
    fn both(&mut self, len: usize) -> Result<f64, Failure> {
        let text = [0x5a; Self::LONGEST];
        let begun = now();
        for at in (0..len).step_by(Self::LONGEST) {
            let text = &text[..Self::LONGEST.min(len - at)];
            let plain = OutboundPlainMessage {
                typ: ContentType::ApplicationData,
                version: ProtocolVersion::TLSv1_3,
                payload: OutboundChunks::Single(black_box(text)),
            };
            let mut sealed = self.encrypter.encrypt(plain, 0)?;
            let record = InboundOpaqueMessage::new(sealed.typ, sealed.version, sealed.payload.as_mut());
            let opened = self.decrypter.decrypt(record, 0)?;
            if opened.payload != text {
                return Err("our own records do not verify".into());
            }
        }
        Ok(since(begun))
    }
}
