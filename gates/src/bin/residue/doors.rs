//! What the crates above the primitives leave: encrypted files, key exchange and signatures for rustls, sessions, leaf keys of agents.
//!
//! What rustls, graviola and `p12-keystore` keep of secrets is theirs; of rustls the traffic keys and the key schedule are not searched for.

use gambeson::sha3::Shake256;
use gambeson_gates::bytes;
use gambeson_gates::hunt::Gate;
use gambeson_gates::operations::Instrument;
use gambeson_gates::operations::files::{forms, private_key};
use gambeson_gates::secrets::scalar;
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, MasterSeed, Purpose, Role, Suite, Timestamp,
};
use gambeson_pki::{Algorithm, Encryption, PrivateKey};
use gambeson_rustls::rustls::crypto::SupportedKxGroup;
use gambeson_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use gambeson_rustls::{Builder, GROUPS, Preset, Scheme};
use gambeson_session::{Endpoint, Expected, Session};
use std::sync::Arc;

/// Runs every operation.
pub fn all(gate: &mut Gate) {
    encrypted(gate);
    exchange(gate);
    signatures(gate);
    sessions(gate);
    leaves(gate);
}

/// A seed, a scalar and an expanded key in encrypted files.
fn encrypted(gate: &mut Gate) {
    for algorithm in [Algorithm::MlDsa65, Algorithm::EcdsaP256] {
        let key = PrivateKey::generate(algorithm).expect("random bytes");
        let passphrase: [u8; 24] = bytes("passphrase");
        let form = *forms(&key).last().expect("one at least");
        gate.secrets(|hunt| {
            private_key(hunt, &key);
            hunt.bytes("the passphrase", &passphrase);
        });
        for encryption in [Encryption::Pbkdf2, Encryption::Scrypt] {
            let der = key.to_encrypted_pkcs8_der(form, &passphrase, encryption).expect("random bytes");
            let name = format!("{encryption:?}");
            gate.run((algorithm.name(), "encrypt", &*name), || {
                key.to_encrypted_pkcs8_pem(form, &passphrase, encryption).is_ok()
            });
            gate.run((algorithm.name(), "decrypt", &*name), || {
                PrivateKey::read(&der, Some(&passphrase)).is_ok()
            });
        }
    }
}

/// Both sides of every group.
fn exchange(gate: &mut Gate) {
    for group in GROUPS {
        gate.run_fresh((&*group.to_string(), "key exchange", ""), |keep| {
            let client = group.start().expect("random bytes");
            let done = group.start_and_complete(client.pub_key()).expect("an honest share");
            keep(done.secret.secret_bytes());
            keep(client.complete(&done.pub_key).expect("an honest share").secret_bytes());
        });
    }
}

/// Keys as rustls loads them, and the signature of a handshake.
fn signatures(gate: &mut Gate) {
    let builder = Builder::new(Preset::Default).scheme(Scheme::MLDSA87_ED448).scheme(Scheme::ED448);
    let provider = builder.build().expect("this processor");
    for algorithm in [
        Algorithm::MlDsa44,
        Algorithm::MlDsa65,
        Algorithm::MlDsa87,
        Algorithm::MlDsa87Ed448,
        Algorithm::Ed448,
        Algorithm::Ed25519,
        Algorithm::EcdsaP256,
        Algorithm::EcdsaP384,
    ] {
        let key = PrivateKey::generate(algorithm).expect("random bytes");
        gate.secrets(|hunt| private_key(hunt, &key));
        let der = key.to_pkcs8_der(forms(&key)[0]).expect("a form that it has");
        let load = || {
            let file = PrivatePkcs8KeyDer::from(der.to_vec());
            provider.key_provider.load_private_key(file.into()).expect("a key of the provider")
        };
        gate.run((algorithm.name(), "load", "rustls"), load);
        let loaded = load();
        gate.run_ok((algorithm.name(), "sign", "rustls"), || {
            let offered = provider.signature_verification_algorithms.supported_schemes();
            let signer = loaded.choose_scheme(&offered).expect("a scheme of the provider");
            signer.sign(b"message")
        });
    }
}

/// Two agents that come into session, say something and part.
fn sessions(gate: &mut Gate) {
    let now = Timestamp(1_795_330_800);
    gate.secrets(|hunt| {
        for seed in ["alice", "bob"].map(bytes) {
            let master = MasterSeed::from_bytes(&seed);
            hunt.bytes("a master seed", &seed);
            hunt.bytes("an identity seed", &master.derived(Suite::Default, Purpose::Identity, 0));
        }
    });
    let someone = |label: &str| {
        let master = MasterSeed::from_bytes(&bytes(label));
        let agent = Agent::from_seed(master);
        let card = agent.first_card(now, now.after(86_400), &CardContent::default()).expect("a card");
        (Arc::new(agent), CardLog::new(card).expect("a log"))
    };
    let (alice, bob) = (someone("alice"), someone("bob"));
    gate.run(("session", "endpoint", ""), || Endpoint::new(alice.0.clone(), &alice.1).is_ok());
    gate.run(("session", "whole", ""), || {
        let known = || Arc::new(CardStore::default());
        let endpoint = |(agent, cards): &(Arc<Agent>, CardLog)| Endpoint::new(agent.clone(), cards);
        let caller = endpoint(&alice).expect("its own cards");
        let called = endpoint(&bob).expect("its own cards");
        let mut client = caller.connect(Expected::did(bob.0.did().clone()), known()).expect("random bytes");
        let mut server = called.accept(Expected::accepting(|_| true), known()).expect("random bytes");
        while carry(&mut client, &mut server, now) | carry(&mut server, &mut client, now) {}
        assert!(client.peer().is_some() && server.peer().is_some());
        client.send(b"hello").expect("in session");
        carry(&mut client, &mut server, now);
        client.channel_binding().expect("in session");
        client.close();
        carry(&mut client, &mut server, now);
    });
}

/// Leaf keys of agents whose algorithm is not ML-DSA alone, made and let go; by their lengths what they take from SHAKE256 of the derived bytes.
fn leaves(gate: &mut Gate) {
    let seed: [u8; 32] = bytes("leaves");
    let agent = Agent::from_seed(MasterSeed::from_bytes(&seed));
    for (role, purpose, lengths) in [
        (Role::GroupEd25519, Purpose::GroupEd25519, &[][..]),
        (Role::GroupEcdsaP256, Purpose::GroupEcdsaP256, &[32]),
        (Role::GroupEcdsaP384, Purpose::GroupEcdsaP384, &[48]),
        (Role::GroupEcdsaP521, Purpose::GroupEcdsaP521, &[66]),
        (Role::GroupMlDsa65Ed25519, Purpose::GroupMlDsa65Ed25519, &[32, 32]),
        (Role::GroupMlDsa87EcdsaP384, Purpose::GroupMlDsa87EcdsaP384, &[32, 48]),
    ] {
        gate.secrets(|hunt| {
            let derived = MasterSeed::from_bytes(&seed).derived(Suite::Default, purpose, 7);
            hunt.bytes("the derived bytes", &derived);
            let mut stream = Shake256::new().update(&derived).finalize_xof();
            for length in lengths {
                let mut part = vec![0; *length];
                stream.squeeze(&mut part);
                // Of 66 bytes the first is one bit.
                scalar(hunt, &part[usize::from(*length == 66)..]);
            }
        });
        let name = role.fragment();
        gate.run_ok((name, "public key", "agent"), || agent.group_public_key(role, 7));
        gate.run_ok((name, "sign", "agent"), || agent.sign_in_group(role, 7, b"message"));
    }
}

fn carry(from: &mut Session, to: &mut Session, now: Timestamp) -> bool {
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire).expect("a vector takes all");
    }
    let mut rest = &wire[..];
    while !rest.is_empty() {
        to.read_tls(&mut rest).expect("a slice gives all");
        to.process(now).expect("two that want each other");
    }
    !wire.is_empty()
}
