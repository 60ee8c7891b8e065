//! X-Wing, X448 and Ed448, the hybrid KEMs and the composite signatures.

use super::Instrument;
use crate::marked::secret;
use crate::{bytes, secrets, valgrind};
use gambeson::sha3::Shake256;
use gambeson_hybrid::composite::{self, Algorithm, Classical};
use gambeson_hybrid::kem::{self, Curve, HybridKem};
use gambeson_hybrid::{ed448, x448, xwing};

/// Walks through everything but the curves P-256 and P-384.
pub fn all(gate: &mut impl Instrument) {
    xwing(gate);
    curves(gate);
    kem::KEMS.iter().filter(|kem| !is_weierstrass(kem)).for_each(|kem| hybrid(gate, kem));
    let others = composite::ALGORITHMS.iter().filter(|algorithm| !is_ecdsa(algorithm));
    others.for_each(|algorithm| composite(gate, algorithm));
}

/// Walks through the hybrids and composites with P-256 and P-384, whose crates branch on verdicts.
pub fn weierstrass(gate: &mut impl Instrument) {
    kem::KEMS.iter().filter(|kem| is_weierstrass(kem)).for_each(|kem| hybrid(gate, kem));
    let ecdsa = composite::ALGORITHMS.iter().filter(|algorithm| is_ecdsa(algorithm));
    ecdsa.for_each(|algorithm| composite(gate, algorithm));
}

fn is_weierstrass(kem: &HybridKem) -> bool {
    matches!(kem.curve(), Curve::P256 | Curve::P384)
}

fn is_ecdsa(algorithm: &Algorithm) -> bool {
    matches!(algorithm.classical(), Classical::EcdsaP256 | Classical::EcdsaP384)
}

/// Both ways to encapsulate and to decapsulate: the draft's, and the one that refuses a share that does not contribute.
fn xwing(gate: &mut impl Instrument) {
    let seed: [u8; 32] = secret("X-Wing");
    let eseed: [u8; 64] = secret("X-Wing eseed");
    gate.secrets(|hunt| {
        hunt.bytes("the seed", &seed);
        let mut expanded = [0; 96];
        Shake256::digest_into(&seed, &mut expanded);
        hunt.bytes("d and z", &expanded[..64]);
        hunt.bytes("the X25519 scalar", &expanded[64..]);
        hunt.bytes("m", &eseed[..32]);
        hunt.bytes("the ephemeral scalar", &eseed[32..]);
        let public = xwing::DecapsulationKey::from_seed(&seed).encapsulation_key();
        hunt.bytes("the shared secret", public.encapsulate_deterministic(&eseed).1.expose());
    });
    let key = gate.run(("X-Wing", "keygen", ""), || xwing::DecapsulationKey::from_seed(&seed));
    let public = gate.run(("X-Wing", "public key", ""), || key.encapsulation_key());
    valgrind::mark_public(public.as_bytes());
    let (c, k) = gate.run(("X-Wing", "encaps", ""), || public.encapsulate_deterministic(&eseed));
    let contributory = || public.encapsulate_contributory_deterministic(&eseed);
    let (c2, k2) = gate.run_ok(("X-Wing", "encaps", "contributory"), contributory);
    valgrind::mark_public(&c);
    valgrind::mark_public(&c2);
    let mut wrong = c;
    wrong[9] ^= 4;
    for (c, op) in [(c, "decaps"), (wrong, "rejection")] {
        let one = gate.run(("X-Wing", op, ""), || key.decapsulate(&c));
        let two = gate.run_ok(("X-Wing", op, "contributory"), || key.decapsulate_contributory(&c));
        for secret in [&one, &two, &k, &k2] {
            valgrind::mark_public(secret.expose());
        }
        assert!(one.expose() == two.expose() && (one.expose() == k.expose()) == (op == "decaps"));
        assert!(k.expose() == k2.expose() && c2 != wrong);
    }
}

/// X448 and Ed448 by themselves.
fn curves(gate: &mut impl Instrument) {
    let scalar: [u8; 56] = secret("X448");
    let key = x448::SecretKey::from_bytes(&scalar);
    let peer = x448::SecretKey::from_bytes(&bytes("X448 peer"));
    let share = peer.public_key();
    gate.secrets(|hunt| {
        hunt.bytes("the X448 scalar", &scalar);
        let shared = key.diffie_hellman(&share).expect("an honest share contributes");
        hunt.bytes("the shared secret", shared.expose());
    });
    let public = gate.run(("X448", "public key", ""), || key.public_key());
    valgrind::mark_public(&public);
    let one = gate.run_ok(("X448", "agreement", ""), || key.diffie_hellman(&share));
    let other = peer.diffie_hellman(&public).expect("an honest share contributes");
    valgrind::mark_public(one.expose());
    assert!(one.expose() == other.expose());

    let seed: [u8; 57] = secret("Ed448");
    gate.secrets(|hunt| secrets::ed448(hunt, &seed));
    let key = gate.run(("Ed448", "keygen", ""), || ed448::SigningKey::from_seed(&seed));
    let public = *key.public_bytes();
    valgrind::mark_public(&public);
    let signature = gate.run_ok(("Ed448", "sign", ""), || key.sign_with_context(b"message", b"context"));
    valgrind::mark_public(&signature);
    let public = ed448::VerifyingKey::from_bytes(&public).expect("our own key is a point");
    public.verify_with_context(b"message", b"context", &signature).expect("our own signature is valid");
}

/// One hybrid KEM: both sides, for an honest ciphertext and a wrong one.
fn hybrid(gate: &mut impl Instrument, kem: &'static HybridKem) {
    let name = kem.name();
    let parts: [u8; 120] = secret(name);
    let parts = &parts[..if kem.private_key_len() == 32 { 32 } else { 64 + kem.curve().secret_len() }];
    let randomness: [u8; 88] = secret(&format!("{name} randomness"));
    let randomness = &randomness[..kem.randomness_len()];
    gate.secrets(|hunt| {
        hunt.bytes("the private key", parts);
        hunt.bytes("the randomness", randomness);
        let key = kem::DecapsulationKey::from_parts(kem, parts).expect("every such string is a key");
        let sent = key.encapsulation_key().encapsulate_deterministic(randomness);
        hunt.bytes("the shared secret", sent.expect("every such string is randomness").1.expose());
        secrets::scalar(hunt, &parts[parts.len().min(64)..]);
        secrets::scalar(hunt, &randomness[32..]);
    });
    let key = gate.run_ok((name, "keygen", ""), || kem::DecapsulationKey::from_parts(kem, parts));
    let public = gate.run((name, "public key", ""), || key.encapsulation_key());
    valgrind::mark_public(public.as_bytes());
    let (c, k) = gate.run_ok((name, "encaps", ""), || public.encapsulate_deterministic(randomness));
    let mut c = c.as_bytes().to_vec();
    valgrind::mark_public(&c);
    valgrind::mark_public(k.expose());
    for op in ["decaps", "rejection"] {
        let found = gate.run_ok((name, op, ""), || key.decapsulate(&c));
        valgrind::mark_public(found.expose());
        assert_eq!(found.expose() == k.expose(), op == "decaps");
        let in_ml_kem = if kem.curve_first() { c.len() - 9 } else { 9 };
        c[in_ml_kem] ^= 4;
    }
    gate.run_drop(name, key);
}

/// One composite: key generation and signing.
fn composite(gate: &mut impl Instrument, algorithm: &'static Algorithm) {
    let name = algorithm.name();
    // The private key: the seed of ML-DSA, and the secret of the other in its DER.
    let (head, length, tail): (&[u8], _, &[u8]) = match algorithm.classical() {
        Classical::Ed25519 => (&[], 32, &[]),
        Classical::Ed448 => (&[], 57, &[]),
        Classical::EcdsaP256 => {
            (&[0x30, 0x31, 2, 1, 1, 4, 0x20], 32, &[0xa0, 0x0a, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7])
        }
        Classical::EcdsaP384 => {
            (&[0x30, 0x3e, 2, 1, 1, 4, 0x30], 48, &[0xa0, 7, 6, 5, 0x2b, 0x81, 4, 0, 0x22])
        }
    };
    let classical = format!("{name} classical");
    let encoded = |seed: [u8; 32], other: [u8; 57]| [&seed[..], head, &other[..length], tail].concat();
    let private = encoded(secret(name), secret(&classical));
    let rnd: [u8; 32] = secret("rnd");
    let digest = algorithm.pre_hash().digest(b"message");
    gate.secrets(|hunt| {
        hunt.bytes("the seed of ML-DSA", &private[..32]);
        hunt.bytes("rnd", &rnd);
        let other = &private[32 + head.len()..][..length];
        match algorithm.classical() {
            Classical::Ed25519 => {
                // The composite hashes messages with SHA-512, as Ed25519 does its seed.
                let h = algorithm.pre_hash().digest(other);
                hunt.bytes("the seed", other);
                hunt.bytes("the scalar", &h.as_bytes()[1..31]);
                hunt.bytes("the prefix", &h.as_bytes()[32..]);
            }
            Classical::Ed448 => secrets::ed448(hunt, other),
            Classical::EcdsaP256 | Classical::EcdsaP384 => secrets::scalar(hunt, other),
        }
    });
    let key = gate.run_ok((name, "keygen", ""), || composite::SigningKey::from_bytes(algorithm, &private));
    let signature = gate.run_ok((name, "sign", ""), || key.sign_digest(&digest, b"context", Some(&rnd)));
    valgrind::mark_public(signature.as_bytes());
    // The public key, whose point is decoded in variable time, of the same bytes unmarked.
    let private = encoded(bytes(name), bytes(&classical));
    let public = composite::SigningKey::from_bytes(algorithm, &private).expect("the same key");
    let public = public.verifying_key();
    public.verify(b"message", b"context", signature.as_bytes()).expect("our own signature is valid");
    gate.run_drop(name, key);
}
