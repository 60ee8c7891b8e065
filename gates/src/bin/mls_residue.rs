//! What `gambeson-mls` leaves behind of keys and secrets, with every table of kernels: HPKE, signatures, key schedule and messages of every
//! suite. Run by `cargo xtask residue`.

use gambeson::cpu::{self, Level};
use gambeson_gates::hunt::{Gate, Hunt};
use gambeson_gates::{bytes, canary, heap, live_and_die};
use gambeson_mls::mls_rs_core::crypto::{
    CipherSuiteProvider, CryptoProvider, HpkeContextR, SignatureSecretKey,
};
use gambeson_mls::{Preset, Provider, SuiteProvider};
use std::hint::black_box;
use std::process::ExitCode;

#[global_allocator]
static HEAP: heap::Watched = heap::Watched;

fn main() -> ExitCode {
    let mut gate = Gate::default();
    let provider = Provider::new(Preset::All);
    for level in Level::ALL {
        cpu::limit(level);
        if cpu::level() != level {
            continue;
        }
        println!("{level}");
        for number in provider.supported_cipher_suites() {
            let suite = provider.cipher_suite_provider(number).expect("a suite of the provider");
            hpke(&mut gate, &suite);
            schedule(&mut gate, &suite);
            signatures(&mut gate, &suite);
        }
    }
    println!("{} operations of MLS, {} with residue", gate.ran, gate.failed);
    let caught = canaries();
    println!("{caught} of 2 canaries found");
    ExitCode::from(u8::from(gate.failed != 0 || caught != 2))
}

/// A private key on the stack, and one on the heap.
fn canaries() -> usize {
    let mut gate = Gate::default();
    let secret: [u8; 32] = bytes("canary");
    let mut hunt = Hunt::default();
    hunt.bytes("planted", &secret);
    gate.run("planted on the stack", &hunt, || _ = black_box(canary::left_on_stack(&secret)));
    gate.run("planted on the heap", &hunt, || _ = black_box(canary::left_on_heap(&secret)));
    gate.failed
}

fn hpke(gate: &mut Gate, suite: &SuiteProvider) {
    let name = suite.suite().name();
    let ikm: [u8; 80] = bytes(name);
    let (private, public) = suite.kem_derive(&ikm).expect("enough of it");
    let sealed = suite.hpke_seal(&public, b"info", None, b"message").expect("its own key");
    let mut hunt = Hunt::default();
    hunt.bytes("the secret of a node", &ikm);
    hunt.bytes("the private key", &private);
    gate.run(&format!("{name} kem_derive"), &hunt, || live_and_die!(suite.kem_derive(&ikm)));
    gate.run(&format!("{name} hpke_open"), &hunt, || {
        live_and_die!(suite.hpke_open(&sealed, &private, &public, b"info", None))
    });
    gate.run(&format!("{name} hpke_setup_r"), &hunt, || {
        let receiver = suite.hpke_setup_r(&sealed.kem_output, &private, &public, b"info");
        let receiver = receiver.expect("an honest share");
        live_and_die!(receiver.export(b"context", 32))
    });
    gate.run_fresh(&format!("{name} kem_generate"), |kept| {
        let pair = suite.kem_generate();
        kept.keep(&pair.as_ref().expect("random bytes").0);
    });
}

fn schedule(gate: &mut Gate, suite: &SuiteProvider) {
    let name = suite.suite().name();
    let (secret, message): ([u8; 48], [u8; 40]) = (bytes("secret"), bytes("message"));
    let nonce: [u8; 12] = bytes("nonce");
    let prk = suite.kdf_extract(b"salt", &secret).expect("any bytes");
    let key = suite.kdf_expand(&prk, b"key", suite.aead_key_size()).expect("a short output");
    let sealed = suite.aead_seal(&key, &message, None, &nonce).expect("a key and a nonce");
    let mut hunt = Hunt::default();
    hunt.bytes("a secret of the schedule", &secret);
    hunt.bytes("an extracted secret", &prk);
    hunt.bytes("a key of messages", &key);
    hunt.bytes("a message", &message);
    gate.run(&format!("{name} kdf_extract"), &hunt, || live_and_die!(suite.kdf_extract(b"salt", &secret)));
    gate.run(&format!("{name} kdf_expand"), &hunt, || live_and_die!(suite.kdf_expand(&prk, b"key", 32)));
    gate.run(&format!("{name} mac"), &hunt, || live_and_die!(suite.mac(&prk, b"message")));
    gate.run(&format!("{name} aead_seal"), &hunt, || {
        live_and_die!(suite.aead_seal(&key, &message, None, &nonce))
    });
    gate.run(&format!("{name} aead_open"), &hunt, || {
        live_and_die!(suite.aead_open(&key, &sealed, None, &nonce))
    });
}

fn signatures(gate: &mut Gate, suite: &SuiteProvider) {
    let name = suite.suite().name();
    let (private, _) = suite.signature_key_generate().expect("random bytes");
    let mut hunt = Hunt::default();
    secrets(suite, private.as_bytes()).into_iter().for_each(|part| hunt.bytes("the private key", part));
    gate.run(&format!("{name} signature_key_derive_public"), &hunt, || {
        live_and_die!(suite.signature_key_derive_public(&private))
    });
    gate.run(&format!("{name} sign"), &hunt, || live_and_die!(suite.sign(&private, b"message")));
    gate.run(&format!("{name} expanded_signer"), &hunt, || {
        let signer = suite.expanded_signer(&private).expect("our own");
        live_and_die!(signer.sign(b"message"))
    });
    gate.run_fresh(&format!("{name} signature_key_generate"), |kept| {
        let pair = suite.signature_key_generate();
        let (private, _): &(SignatureSecretKey, _) = pair.as_ref().expect("random bytes");
        secrets(suite, private.as_bytes()).into_iter().for_each(|part| kept.keep(part));
    });
}

/// A private key without the DER that a composite has around a scalar.
fn secrets<'a>(suite: &SuiteProvider, private: &'a [u8]) -> Vec<&'a [u8]> {
    match suite.suite().number() {
        0xf0a2 => vec![&private[..32], &private[39..][..48]],
        _ => vec![private],
    }
}
