//! What MLS does with secrets: HPKE with every KEM, the keys, signatures, key schedule and messages of every suite of `gambeson-mls`.
//! Signatures that marked keys made are verified ahead, on demand, and out of the cache, whose keys are hashes of what is public; that a
//! private key is no name of a signer is looked at too.

use super::Instrument;
use crate::marked::{Gate, VERDICTS, secret};
use crate::{bytes, valgrind};
use gambeson_hybrid::hpke::{self, Aes256Gcm, DhKemX448, HkdfSha512, Kem, MlKem512};
use gambeson_mls::mls_rs_core::crypto::{
    CipherSuiteProvider, CryptoProvider, HpkeContextR, HpkeContextS, HpkePsk, SignaturePublicKey,
    SignatureSecretKey,
};
use gambeson_mls::{Preset, Provider, Signed, SuiteProvider};
use std::hint::black_box;

/// Branches that an operation on other curves than P-256, P-384 and P-521 may take: whether a tag fits, whether a share of X25519 gives
/// zeros.
pub const TAGS: usize = 4;

/// Walks through every suite.
pub fn all<G: Instrument>(gate: &mut G) {
    let mut provider = Provider::new(Preset::All);
    // Every random byte is secret; a search draws its secrets as users do.
    if !G::SEARCHES {
        provider = provider.with_hedge(|out| {
            out.iter_mut().zip(0u8..).for_each(|(byte, at)| *byte = at.wrapping_mul(37) ^ 0x5a);
            valgrind::mark_secret(out);
            Ok(())
        });
    }
    for number in provider.supported_cipher_suites() {
        let suite = provider.cipher_suite_provider(number).expect("a suite of the provider");
        of_suite(gate, &suite);
    }
}

/// Walks through two KEMs that no suite has. Their contexts count messages, so that operations cannot be repeated by other gates.
pub fn without_suite(gate: &mut Gate) {
    gate.verdicts = TAGS;
    alone::<DhKemX448>(gate, "DHKEM(X448)");
    alone::<MlKem512>(gate, "ML-KEM-512");
}

/// A KEM of HPKE that no suite of MLS has.
fn alone<K: Kem>(gate: &mut Gate, name: &str) {
    let ikm: [u8; 80] = secret(name);
    let key = gate.watch(format!("{name} DeriveKeyPair"), || K::derive_key_pair(&ikm)).expect("enough of it");
    let mut public = vec![0; K::NPK];
    gate.watch(format!("{name} public key"), || K::public_key(&key, &mut public));
    valgrind::mark_public(&public);
    let peer = K::encapsulation_key(&public).expect("our own");
    let mut randomness = K::NO_RANDOMNESS;
    let drawn: [u8; 80] = secret("randomness");
    let len = randomness.as_mut().len();
    randomness.as_mut().copy_from_slice(&drawn[..len]);
    let (enc, mut sender) = gate
        .watch(format!("{name} sender"), || {
            hpke::setup_sender_deterministic::<K, HkdfSha512, Aes256Gcm>(&peer, b"info", &randomness)
        })
        .expect("a key of its own");
    valgrind::mark_public(enc.as_ref());
    let mut receiver = gate
        .watch(format!("{name} receiver"), || {
            hpke::setup_receiver::<K, HkdfSha512, Aes256Gcm>(&enc, &key, b"info")
        })
        .expect("an honest share");
    let mut body: [u8; 40] = secret("message");
    let tag =
        gate.watch(format!("{name} seal"), || sender.seal_in_place(b"aad", &mut body)).expect("the first");
    valgrind::mark_public(&body);
    valgrind::mark_public(&tag);
    let mut wrong = body;
    wrong[1] ^= 1;
    let refused =
        gate.watch(format!("{name} open, refused"), || receiver.open_in_place(b"aad", &mut wrong, &tag));
    assert!(refused.is_err());
    let opened = gate.watch(format!("{name} open"), || receiver.open_in_place(b"aad", &mut body, &tag));
    opened.expect("what was sealed");
    valgrind::mark_public(&body);
    assert_eq!(body, bytes::<40>("message"));
    gate.watch(format!("{name} drop"), || drop((key, sender, receiver)));
}

/// All that a suite does with secrets.
fn of_suite(gate: &mut impl Instrument, suite: &SuiteProvider) {
    let name = suite.suite().name();
    // RustCrypto's curves of NIST branch on verdicts, as in `gate-ct verdicts`.
    let weierstrass = ["P256", "P384", "P521"].iter().any(|curve| name.contains(curve));
    gate.allow(if weierstrass { VERDICTS } else { TAGS });
    hpke(gate, suite, name);
    gate.allow(0);
    schedule(gate, suite, name);
    // The length of a signature in DER is public too, and each copy of it a branch.
    // Of a composite the public point of Ed25519 is decoded.
    let composite = matches!(suite.suite().number(), 0xf0a1 | 0xf0a2);
    let verdicts = if weierstrass { 2 * VERDICTS } else { TAGS * usize::from(composite) };
    signatures(gate, suite, name, verdicts);
}

fn hpke(gate: &mut impl Instrument, suite: &SuiteProvider, name: &str) {
    let ikm: [u8; 80] = secret(name);
    gate.secrets(|hunt| {
        hunt.bytes("the secret of a node", &ikm);
        hunt.bytes("the private key", &suite.kem_derive(&ikm).expect("enough of it").0);
    });
    let (private, public) = gate.run_ok((name, "kem_derive", ""), || suite.kem_derive(&ikm));
    gate.run_fresh((name, "kem_generate", "drawn"), |keep| {
        keep(&suite.kem_generate().as_ref().expect("random bytes").0);
    });
    valgrind::mark_public(&public);
    let (_, drawn) = gate.run_ok((name, "kem_generate", ""), || suite.kem_generate());
    valgrind::mark_public(&drawn);
    let (message, psk): ([u8; 40], [u8; 32]) = (secret("message"), secret("psk"));
    let psk = || HpkePsk { id: b"a name", value: &psk };
    for with_psk in [false, true] {
        let kind = if with_psk { ", PSK" } else { "" };
        let mut sealed = gate.run_ok((name, &*format!("hpke_seal{kind}"), ""), || match with_psk {
            false => suite.hpke_seal(&public, b"info", None, &message),
            true => suite.hpke_seal_psk(&public, b"info", None, &message, psk()),
        });
        valgrind::mark_public(&sealed.kem_output);
        valgrind::mark_public(&sealed.ciphertext);
        for right in [true, false] {
            let told = if right { "" } else { ", refused" };
            let opened = gate.run((name, &*format!("hpke_open{kind}{told}"), ""), || match with_psk {
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
    let (enc, sender) = gate.run_ok((name, "hpke_setup_s", ""), || suite.hpke_setup_s(&public, b"info"));
    valgrind::mark_public(&enc);
    let set_up = || suite.hpke_setup_r(&enc, &private, &public, b"info");
    let receiver = gate.run_ok((name, "hpke_setup_r", ""), set_up);
    let ours = gate.run_ok((name, "export", ""), || sender.export(b"context", 32));
    let theirs = gate.run_ok((name, "export by the receiver", ""), || receiver.export(b"context", 32));
    valgrind::mark_public(&ours);
    valgrind::mark_public(&theirs);
    assert_eq!(*ours, *theirs);
    gate.run_drop(&format!("{name} HPKE"), (private, sender, receiver));
}

/// Secrets of epochs, tags, and messages.
fn schedule<G: Instrument>(gate: &mut G, suite: &SuiteProvider, name: &str) {
    let (salt, ikm): ([u8; 48], [u8; 48]) = (secret("salt"), secret("ikm"));
    let message: [u8; 40] = secret("message");
    gate.secrets(|hunt| {
        let prk = suite.kdf_extract(&salt, &ikm).expect("any bytes");
        hunt.bytes("a secret of the schedule", &ikm);
        hunt.bytes("an extracted secret", &prk);
        let key = suite.kdf_expand(&prk, b"key", suite.aead_key_size());
        hunt.bytes("a key of messages", &key.expect("a short output"));
        hunt.bytes("a message", &message);
    });
    let prk = gate.run_ok((name, "kdf_extract", ""), || suite.kdf_extract(&salt, &ikm));
    let expand = || suite.kdf_expand(&prk, b"key", suite.aead_key_size());
    let key = gate.run_ok((name, "kdf_expand", ""), expand);
    gate.run_ok((name, "mac", ""), || black_box(suite.mac(&prk, b"message")));
    // What MLS hashes is public, and is not searched for.
    if !G::SEARCHES {
        // Its first byte says what it is, and the provider goes by it: nodes of the tree, which is no secret, it remembers.
        let mut hashed = ikm;
        valgrind::mark_public(&hashed[..1]);
        hashed[0] |= 4;
        gate.run_ok((name, "hash", ""), || black_box(suite.hash(&hashed)));
    }
    let nonce: [u8; 12] = secret("nonce");
    let seal = || suite.aead_seal(&key, &message, Some(b"aad"), &nonce);
    let mut sealed = gate.run_ok((name, "aead_seal", ""), seal);
    valgrind::mark_public(&sealed);
    gate.allow(TAGS);
    for right in [true, false] {
        let told = if right { "" } else { ", refused" };
        let opened = gate.run((name, &*format!("aead_open{told}"), ""), || {
            suite.aead_open(&key, &sealed, Some(b"aad"), &nonce)
        });
        assert_eq!(opened.is_ok(), right, "{name}");
        sealed[3] ^= 1;
    }
    gate.allow(0);
    gate.run_drop(&format!("{name} secrets"), (prk, key));
}

fn signatures(gate: &mut impl Instrument, suite: &SuiteProvider, name: &str, verdicts: usize) {
    gate.allow(verdicts);
    let generate = || suite.signature_key_generate();
    let (private, public) = gate.run_ok((name, "signature_key_generate", ""), generate);
    valgrind::mark_public(&public);
    gate.secrets(|hunt| {
        parts(suite, private.as_bytes()).into_iter().for_each(|part| hunt.bytes("the private key", part));
    });
    gate.run_fresh((name, "signature_key_generate", "drawn"), |keep| {
        let pair = suite.signature_key_generate();
        let (private, _): &(SignatureSecretKey, _) = pair.as_ref().expect("random bytes");
        parts(suite, private.as_bytes()).into_iter().for_each(keep);
    });
    let derive = || suite.signature_key_derive_public(&private);
    let derived = gate.run_ok((name, "signature_key_derive_public", ""), derive);
    valgrind::mark_public(&derived);
    assert_eq!(*derived, *public, "{name}");
    let signer = gate.run_ok((name, "expanded_signer", ""), || suite.expanded_signer(&private));
    // Of keys whose secrets are marked, the public part in them is, too; verification takes the one that is not.
    for expanded in [false, true] {
        let kind = if expanded { ", expanded" } else { "" };
        let signature = gate.run_ok((name, &*format!("sign{kind}"), ""), || match expanded {
            false => suite.sign(&private, b"message"),
            true => signer.sign(b"message"),
        });
        valgrind::mark_public(&signature);
        suite.verify(&public, &signature, b"message").expect("our own signature");
    }
    gate.allow(0);
    let public = SignaturePublicKey::from(published(&public));
    for ahead in [true, false] {
        let leaf = published(&suite.kem_generate().expect("random bytes").1);
        let content = published(&[vector(b"MLS 1.0 LeafNodeTBS"), vector(&vector(&leaf))].concat());
        let signature = published(&suite.sign(&private, &content).expect("a key of the suite"));
        if ahead {
            let good = gate.run((name, "verify_ahead", ""), || {
                let signed = Signed { public_key: &public, content: content.clone(), signature: &signature };
                suite.verify_ahead(&[signed])
            });
            assert_eq!(good, 1, "{name}");
        }
        let kind = if ahead { "known" } else { "of a leaf" };
        let verify = || suite.verify(&public, &signature, &content);
        gate.run_ok((name, &*format!("verify, {kind}"), ""), verify);
    }
    gate.allow(verdicts);
    gate.run_drop(&format!("{name} keys"), (private, signer));
}

/// The parts of a private key without the DER that a composite has around a scalar.
fn parts<'a>(suite: &SuiteProvider, private: &'a [u8]) -> Vec<&'a [u8]> {
    match suite.suite().number() {
        0xf0a2 => vec![&private[..32], &private[39..][..48]],
        _ => vec![private],
    }
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
