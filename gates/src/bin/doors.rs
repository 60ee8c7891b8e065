//! What the crates above the primitives leave behind, with every table of kernels: files of private keys, key exchange and signatures
//! for rustls, sessions, leaf keys of agents. Run by `cargo xtask residue`.
//!
//! What rustls, graviola and `p12-keystore` keep of secrets is theirs; of rustls the traffic keys and the key schedule are not looked for.

use gambeson::cpu::{self, Level};
use gambeson::sha3::Shake256;
use gambeson_gates::files::{forms, secret_parts};
use gambeson_gates::hunt::{Gate, Hunt};
use gambeson_gates::{bytes, canary, heap, live_and_die};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, MasterSeed, Purpose, Role, Suite, Timestamp,
};
use gambeson_pki::{Algorithm, Encryption, PrivateKey};
use gambeson_rustls::rustls::crypto::SupportedKxGroup;
use gambeson_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use gambeson_rustls::{Builder, GROUPS, Preset, Scheme};
use gambeson_session::{Endpoint, Expected, Session};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

#[global_allocator]
static HEAP: heap::Watched = heap::Watched;

fn main() -> ExitCode {
    let mut gate = Gate::default();
    for level in Level::ALL {
        cpu::limit(level);
        if cpu::level() != level {
            continue;
        }
        println!("{level}");
        Algorithm::ALL.iter().for_each(|algorithm| file(&mut gate, *algorithm));
        encrypted(&mut gate);
        exchange(&mut gate);
        signatures(&mut gate);
        sessions(&mut gate);
        leaves(&mut gate);
    }
    println!("{} operations at doors, {} with residue", gate.ran, gate.failed);
    let caught = canaries();
    println!("{caught} of 2 canaries found");
    ExitCode::from(u8::from(gate.failed != 0 || caught != 2))
}

/// Secrets that were drawn on the way, left on the stack and on the heap.
fn canaries() -> usize {
    let mut gate = Gate::default();
    let secret: [u8; 32] = bytes("canary");
    gate.run_fresh("planted on the stack", |kept| {
        kept.keep(&secret);
        black_box(canary::left_on_stack(&secret));
    });
    gate.run_fresh("planted on the heap", |kept| {
        kept.keep(&secret);
        black_box(canary::left_on_heap(&secret));
    });
    gate.failed
}

fn hunt(key: &PrivateKey) -> Hunt {
    let mut hunt = Hunt::default();
    if let Some(seed) = key.seed() {
        hunt.bytes("the seed", seed);
    }
    let inner = key.to_expanded_bytes();
    for part in secret_parts(key, &inner) {
        let turned: Vec<u8> = inner[part.clone()].iter().rev().copied().collect();
        hunt.bytes("the private key", &inner[part]);
        hunt.bytes("the private key, turned round", &turned);
    }
    hunt
}

fn file(gate: &mut Gate, algorithm: Algorithm) {
    let name = algorithm.name();
    let key = PrivateKey::generate(algorithm).expect("random bytes");
    let hunt = hunt(&key);
    for form in forms(&key) {
        let der = key.to_pkcs8_der(*form).expect("a form that it has");
        let pem = key.to_pkcs8_pem(*form).expect("a form that it has");
        gate.run(&format!("{name} {form:?} from DER"), &hunt, || {
            live_and_die!(PrivateKey::from_pkcs8_der(&der))
        });
        gate.run(&format!("{name} {form:?} from PEM"), &hunt, || {
            live_and_die!(PrivateKey::read(pem.as_bytes(), None))
        });
        gate.run(&format!("{name} {form:?} to DER"), &hunt, || live_and_die!(key.to_pkcs8_der(*form)));
        gate.run(&format!("{name} {form:?} to PEM"), &hunt, || live_and_die!(key.to_pkcs8_pem(*form)));
    }
    gate.run(&format!("{name} public key"), &hunt, || live_and_die!(key.public_key()));
    if algorithm.signs() {
        gate.run(&format!("{name} sign"), &hunt, || live_and_die!(key.sign(b"message")));
    }
    gate.run_fresh(&format!("{name} generate"), |kept| {
        // Not moved: that would leave a copy here, which is nobody's to wipe but the caller's.
        let key = PrivateKey::generate(algorithm);
        let key = key.as_ref().expect("random bytes");
        let inner = key.to_expanded_bytes();
        secret_parts(key, &inner).into_iter().for_each(|part| kept.keep(&inner[part]));
        kept.keep(key.seed().unwrap_or_default());
    });
}

/// A seed, a scalar and an expanded key in encrypted files.
fn encrypted(gate: &mut Gate) {
    for algorithm in [Algorithm::MlDsa65, Algorithm::EcdsaP256] {
        let key = PrivateKey::generate(algorithm).expect("random bytes");
        let passphrase: [u8; 24] = bytes("passphrase");
        let form = *forms(&key).last().expect("one at least");
        let mut hunt = hunt(&key);
        hunt.bytes("the passphrase", &passphrase);
        for encryption in [Encryption::Pbkdf2, Encryption::Scrypt] {
            let der = key.to_encrypted_pkcs8_der(form, &passphrase, encryption).expect("random bytes");
            let name = format!("{algorithm} {encryption:?}");
            gate.run(&format!("{name} encrypted"), &hunt, || {
                live_and_die!(key.to_encrypted_pkcs8_pem(form, &passphrase, encryption))
            });
            gate.run(&format!("{name} decrypted"), &hunt, || {
                live_and_die!(PrivateKey::read(&der, Some(&passphrase)))
            });
        }
    }
}

/// Both sides of every group.
fn exchange(gate: &mut Gate) {
    for group in GROUPS {
        gate.run_fresh(&format!("{group} key exchange"), |kept| {
            let client = group.start().expect("random bytes");
            let done = group.start_and_complete(client.pub_key()).expect("an honest share");
            kept.keep(done.secret.secret_bytes());
            kept.keep(client.complete(&done.pub_key).expect("an honest share").secret_bytes());
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
        let hunt = hunt(&key);
        let der = key.to_pkcs8_der(forms(&key)[0]).expect("a form that it has");
        let load = || {
            let file = PrivatePkcs8KeyDer::from(der.to_vec());
            provider.key_provider.load_private_key(file.into()).expect("a key of the provider")
        };
        gate.run(&format!("{algorithm} for rustls"), &hunt, || live_and_die!(load()));
        let loaded = load();
        gate.run(&format!("{algorithm} signs for rustls"), &hunt, || {
            let offered = provider.signature_verification_algorithms.supported_schemes();
            let signer = loaded.choose_scheme(&offered).expect("a scheme of the provider");
            live_and_die!(signer.sign(b"message"))
        });
    }
}

/// Two agents that come into session, say something and part.
fn sessions(gate: &mut Gate) {
    let now = Timestamp(1_795_330_800);
    let mut hunt = Hunt::default();
    let mut someone = |label: &str| {
        let seed: [u8; 32] = bytes(label);
        let master = MasterSeed::from_bytes(&seed);
        hunt.bytes("a master seed", &seed);
        hunt.bytes("an identity seed", &master.derived(Suite::Default, Purpose::Identity, 0));
        let agent = Agent::from_seed(master);
        let card = agent.first_card(now, now.after(86_400), &CardContent::default()).expect("a card");
        (Arc::new(agent), CardLog::new(card).expect("a log"))
    };
    let (alice, bob) = (someone("alice"), someone("bob"));
    gate.run("an endpoint", &hunt, || live_and_die!(Endpoint::new(alice.0.clone(), &alice.1)));
    gate.run("a session", &hunt, || {
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
        let mut hunt = Hunt::default();
        let derived = MasterSeed::from_bytes(&seed).derived(Suite::Default, purpose, 7);
        hunt.bytes("the derived bytes", &derived);
        let mut stream = Shake256::new().update(&derived).finalize_xof();
        for length in lengths {
            let mut part = vec![0; *length];
            stream.squeeze(&mut part);
            // Of 66 bytes the first is one bit.
            let part = &part[usize::from(*length == 66)..];
            let turned: Vec<u8> = part.iter().rev().copied().collect();
            hunt.bytes("the private key", part);
            hunt.bytes("the private key, turned round", &turned);
        }
        let name = role.fragment();
        gate.run(&format!("{name} of an agent"), &hunt, || live_and_die!(agent.group_public_key(role, 7)));
        gate.run(&format!("{name} signs for an agent"), &hunt, || {
            live_and_die!(agent.sign_in_group(role, 7, b"message"))
        });
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
