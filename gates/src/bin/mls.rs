//! What MLS does with secrets, with these marked undefined: HPKE with every KEM, the keys, signatures, key schedule and messages of every
//! suite of `gambeson-mls`. valgrind's memcheck then reports each branch and each address that depends on one. Signatures that marked keys
//! made are verified ahead, on demand, and out of the cache, whose keys are hashes of what is public; that a private key is no name of a signer is
//! looked at too.
//!
//! `gate-mls operations` must end with status 0, and `gate-mls canaries` must be caught. Run by `cargo xtask ct`.

use gambeson::cpu::{self, Level};
use gambeson_gates::marked::{Gate, VERDICTS, secret};
use gambeson_gates::{bytes, canary, valgrind};
use gambeson_hybrid::hpke::{self, Aes256Gcm, DhKemX448, HkdfSha512, Kem, MlKem512};
use gambeson_mls::mls_rs_core::crypto::{
    CipherSuiteProvider, CryptoProvider, HpkeContextR, HpkeContextS, HpkePsk, SignaturePublicKey,
    SignatureSecretKey,
};
use gambeson_mls::{Preset, Provider, Signed, SuiteProvider};
use std::env;
use std::hint::black_box;
use std::process::ExitCode;

/// Branches that an operation on other curves than P-256, P-384 and P-521 may take: whether a tag fits, whether a share of X25519 gives
/// zeros.
const TAGS: usize = 4;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let level: Level = arguments.next().map_or(Level::Portable, |name| name.parse().expect("a level"));
    cpu::limit(level);
    assert!(valgrind::running(), "not under valgrind");
    let mut gate = Gate { level, verdicts: TAGS, failed: 0, ran: 0 };
    let failed = match mode.as_str() {
        "operations" => {
            alone::<DhKemX448>(&mut gate, "DHKEM(X448)");
            alone::<MlKem512>(&mut gate, "ML-KEM-512");
            // Every random byte is secret.
            let provider = Provider::new(Preset::All).with_hedge(|out| {
                out.iter_mut().zip(0u8..).for_each(|(byte, at)| *byte = at.wrapping_mul(37) ^ 0x5a);
                valgrind::mark_secret(out);
                Ok(())
            });
            for number in provider.supported_cipher_suites() {
                let suite = provider.cipher_suite_provider(number).expect("a suite of the provider");
                of_suite(&mut gate, &suite);
            }
            println!("{} operations, {} with more reports than verdicts", gate.ran, gate.failed);
            gate.failed != 0
        }
        "canaries" => {
            let key: [u8; 32] = secret("canary");
            gate.run("canary table", || (0..8).for_each(|_| _ = black_box(canary::branch(&key))));
            println!("{} of {} canaries reported", gate.failed, gate.ran);
            gate.failed != gate.ran
        }
        _ => {
            eprintln!("usage: gate-mls operations|canaries [LEVEL]");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(u8::from(failed))
}

/// A KEM of HPKE that no suite of MLS has.
fn alone<K: Kem>(gate: &mut Gate, name: &str) {
    let ikm: [u8; 80] = secret(name);
    let key = gate.run(&format!("{name} DeriveKeyPair"), || K::derive_key_pair(&ikm)).expect("enough of it");
    let mut public = vec![0; K::NPK];
    gate.run(&format!("{name} public key"), || K::public_key(&key, &mut public));
    valgrind::mark_public(&public);
    let peer = K::encapsulation_key(&public).expect("our own");
    let mut randomness = K::NO_RANDOMNESS;
    let drawn: [u8; 80] = secret("randomness");
    let len = randomness.as_mut().len();
    randomness.as_mut().copy_from_slice(&drawn[..len]);
    let (enc, mut sender) = gate
        .run(&format!("{name} sender"), || {
            hpke::setup_sender_deterministic::<K, HkdfSha512, Aes256Gcm>(&peer, b"info", &randomness)
        })
        .expect("a key of its own");
    valgrind::mark_public(enc.as_ref());
    let mut receiver = gate
        .run(&format!("{name} receiver"), || {
            hpke::setup_receiver::<K, HkdfSha512, Aes256Gcm>(&enc, &key, b"info")
        })
        .expect("an honest share");
    let mut body: [u8; 40] = secret("message");
    let tag =
        gate.run(&format!("{name} seal"), || sender.seal_in_place(b"aad", &mut body)).expect("the first");
    valgrind::mark_public(&body);
    valgrind::mark_public(&tag);
    let mut wrong = body;
    wrong[1] ^= 1;
    let refused =
        gate.run(&format!("{name} open, refused"), || receiver.open_in_place(b"aad", &mut wrong, &tag));
    assert!(refused.is_err());
    let opened = gate.run(&format!("{name} open"), || receiver.open_in_place(b"aad", &mut body, &tag));
    opened.expect("what was sealed");
    valgrind::mark_public(&body);
    assert_eq!(body, bytes::<40>("message"));
    gate.run(&format!("{name} drop"), || drop((key, sender, receiver)));
}

/// All that a suite does with secrets.
fn of_suite(gate: &mut Gate, suite: &SuiteProvider) {
    let name = suite.suite().name();
    // RustCrypto's curves of NIST branch on verdicts, as in `gate-ct verdicts`.
    let weierstrass = ["P256", "P384", "P521"].iter().any(|curve| name.contains(curve));
    gate.verdicts = if weierstrass { VERDICTS } else { TAGS };
    hpke(gate, suite, name);
    gate.verdicts = 0;
    schedule(gate, suite, name);
    // The length of a signature in DER is public too, and each copy of it a branch.
    // Of a composite the public point of Ed25519 is decoded.
    let composite = matches!(suite.suite().number(), 0xf0a1 | 0xf0a2);
    gate.verdicts = if weierstrass { 2 * VERDICTS } else { TAGS * usize::from(composite) };
    signatures(gate, suite, name);
}

fn hpke(gate: &mut Gate, suite: &SuiteProvider, name: &str) {
    let ikm: [u8; 80] = secret(name);
    let (private, public) =
        gate.run(&format!("{name} kem_derive"), || suite.kem_derive(&ikm)).expect("enough of it");
    valgrind::mark_public(&public);
    let (_, drawn) =
        gate.run(&format!("{name} kem_generate"), || suite.kem_generate()).expect("random bytes");
    valgrind::mark_public(&drawn);
    let (message, psk): ([u8; 40], [u8; 32]) = (secret("message"), secret("psk"));
    let psk = || HpkePsk { id: b"a name", value: &psk };
    for with_psk in [false, true] {
        let kind = if with_psk { ", PSK" } else { "" };
        let sealed = gate.run(&format!("{name} hpke_seal{kind}"), || match with_psk {
            false => suite.hpke_seal(&public, b"info", None, &message),
            true => suite.hpke_seal_psk(&public, b"info", None, &message, psk()),
        });
        let mut sealed = sealed.expect("a key of its own");
        valgrind::mark_public(&sealed.kem_output);
        valgrind::mark_public(&sealed.ciphertext);
        for right in [true, false] {
            let told = if right { "" } else { ", refused" };
            let opened = gate.run(&format!("{name} hpke_open{kind}{told}"), || match with_psk {
                false => suite.hpke_open(&sealed, &private, &public, b"info", None),
                true => suite.hpke_open_psk(&sealed, &private, &public, b"info", None, psk()),
            });
            assert_eq!(opened.is_ok(), right, "{name}");
            if let Ok(opened) = opened {
                valgrind::mark_public(&opened);
                assert_eq!(**opened, bytes::<40>("message"));
            }
            sealed.ciphertext[7] ^= 1;
        }
    }
    let (enc, sender) = gate
        .run(&format!("{name} hpke_setup_s"), || suite.hpke_setup_s(&public, b"info"))
        .expect("its own key");
    valgrind::mark_public(&enc);
    let receiver = gate
        .run(&format!("{name} hpke_setup_r"), || suite.hpke_setup_r(&enc, &private, &public, b"info"))
        .expect("an honest share");
    let [ours, theirs] = [
        gate.run(&format!("{name} export"), || sender.export(b"context", 32)).expect("32 bytes"),
        gate.run(&format!("{name} export by the receiver"), || receiver.export(b"context", 32))
            .expect("the same"),
    ];
    valgrind::mark_public(&ours);
    valgrind::mark_public(&theirs);
    assert_eq!(*ours, *theirs);
    gate.run(&format!("{name} drop of HPKE"), || drop((private, sender, receiver)));
}

/// Secrets of epochs, tags, and messages.
fn schedule(gate: &mut Gate, suite: &SuiteProvider, name: &str) {
    let (salt, ikm): ([u8; 48], [u8; 48]) = (secret("salt"), secret("ikm"));
    let prk = gate.run(&format!("{name} kdf_extract"), || suite.kdf_extract(&salt, &ikm)).expect("any bytes");
    let key = gate
        .run(&format!("{name} kdf_expand"), || suite.kdf_expand(&prk, b"key", suite.aead_key_size()))
        .expect("a short output");
    gate.run(&format!("{name} mac"), || black_box(suite.mac(&prk, b"message"))).expect("any bytes");
    // The first byte of what MLS hashes says what it is, and the provider goes by it: nodes of the tree, which is no secret, it remembers.
    let mut hashed = ikm;
    valgrind::mark_public(&hashed[..1]);
    hashed[0] |= 4;
    gate.run(&format!("{name} hash"), || black_box(suite.hash(&hashed))).expect("any bytes");
    let (message, nonce): ([u8; 40], [u8; 12]) = (secret("message"), secret("nonce"));
    let mut sealed = gate
        .run(&format!("{name} aead_seal"), || suite.aead_seal(&key, &message, Some(b"aad"), &nonce))
        .expect("a key and a nonce");
    valgrind::mark_public(&sealed);
    gate.verdicts = TAGS;
    for right in [true, false] {
        let told = if right { "" } else { ", refused" };
        let opened = gate
            .run(&format!("{name} aead_open{told}"), || suite.aead_open(&key, &sealed, Some(b"aad"), &nonce));
        assert_eq!(opened.is_ok(), right, "{name}");
        sealed[3] ^= 1;
    }
    gate.verdicts = 0;
    gate.run(&format!("{name} drop of secrets"), || drop((prk, key)));
}

fn signatures(gate: &mut Gate, suite: &SuiteProvider, name: &str) {
    let (private, public) = gate
        .run(&format!("{name} signature_key_generate"), || suite.signature_key_generate())
        .expect("random bytes");
    valgrind::mark_public(&public);
    let derived = gate
        .run(&format!("{name} signature_key_derive_public"), || suite.signature_key_derive_public(&private))
        .expect("our own");
    valgrind::mark_public(&derived);
    assert_eq!(*derived, *public, "{name}");
    let signer =
        gate.run(&format!("{name} expanded_signer"), || suite.expanded_signer(&private)).expect("our own");
    // Of keys whose secrets are marked, the public part in them is, too; verification takes the one that is not.
    for expanded in [false, true] {
        let kind = if expanded { ", expanded" } else { "" };
        let signature = gate.run(&format!("{name} sign{kind}"), || match expanded {
            false => suite.sign(&private, b"message"),
            true => signer.sign(b"message"),
        });
        let signature = signature.expect("a key of the suite");
        valgrind::mark_public(&signature);
        suite.verify(&public, &signature, b"message").expect("our own signature");
    }
    let verdicts = std::mem::take(&mut gate.verdicts);
    let public = SignaturePublicKey::from(published(&public));
    for ahead in [true, false] {
        let leaf = published(&suite.kem_generate().expect("random bytes").1);
        let content = published(&[vector(b"MLS 1.0 LeafNodeTBS"), vector(&vector(&leaf))].concat());
        let signature = published(&suite.sign(&private, &content).expect("a key of the suite"));
        if ahead {
            let signed = Signed { public_key: &public, content: content.clone(), signature: &signature };
            let good = gate.run(&format!("{name} verify_ahead"), || suite.verify_ahead(&[signed]));
            assert_eq!(good, 1, "{name}");
        }
        let kind = if ahead { "known" } else { "of a leaf" };
        gate.run(&format!("{name} verify, {kind}"), || suite.verify(&public, &signature, &content))
            .expect("our own signature");
    }
    gate.verdicts = verdicts;
    gate.run(&format!("{name} drop of keys"), || drop::<(SignatureSecretKey, _)>((private, signer)));
}

/// What everybody is sent: the bytes, and how many they are, which of a signature in DER depends on secrets too.
fn published(bytes: &[u8]) -> Vec<u8> {
    let len = bytes.len().to_ne_bytes();
    valgrind::mark_public(&len);
    valgrind::mark_public(bytes);
    // Read from where it was marked.
    bytes[..usize::from_ne_bytes(*black_box(&len))].to_vec()
}

/// A vector behind its length (RFC 9420, section 2.1.2), of at most 16,383 bytes.
fn vector(bytes: &[u8]) -> Vec<u8> {
    let len = match u16::try_from(bytes.len()).expect("a short one") {
        short @ ..=0x3f => vec![short as u8],
        long => (0x4000 | long).to_be_bytes().to_vec(),
    };
    [&len[..], bytes].concat()
}
