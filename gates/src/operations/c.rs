//! The calls of the C interface.

use super::Instrument;
use super::kem::OPERATIONS;
use crate::c::{
    Dsa, HASHES, Hash, Hasher, Kem, Key, Keys, Message, PREHASHES, Randomness, prehash, prehash_number,
    slhdsa_keypair, slhdsa_sign, slhdsa_verify, wipe,
};
use crate::hunt::Hunt;
use crate::marked::secret;
use crate::{bytes, valgrind};
use gambeson::mldsa::PreHash;
use gambeson::slhdsa::ParameterSet;

/// Walks through the hashes. The calls of ML-KEM and ML-DSA are made where the list is at their parameter sets.
pub fn hashes(gate: &mut impl Instrument) {
    let message: [u8; 160] = secret("a secret message");
    HASHES.iter().for_each(|calls| hash(gate, calls, &message));
    for (function, number) in PREHASHES {
        gate.secrets(|hunt| {
            words(hunt, "the message", &message);
            words(hunt, "the digest", function.digest(&message).as_bytes());
        });
        let mut made = ([0; 31], vec![0; function.digest_len()]);
        gate.run_into((function.name(), "hash for HashML-DSA", "C"), &mut made, |(hash, digest)| {
            prehash(hash, number, &message, digest);
        });
        valgrind::mark_public(&made.1);
        assert_eq!(made.1, function.digest(&bytes::<160>("a secret message")).as_bytes());
    }
}

/// Bytes, and the same with the bytes of their words turned round.
fn words(hunt: &mut Hunt, name: &'static str, bytes: &[u8]) {
    for size in [1, 4, 8] {
        let turned = bytes.chunks(size).flat_map(|word| word.iter().rev().copied());
        hunt.bytes(name, &turned.collect::<Vec<u8>>());
    }
}

fn hash(gate: &mut impl Instrument, calls: &Hasher, message: &[u8; 160]) {
    let name = calls.name;
    gate.secrets(|hunt| {
        let mut digest = vec![0; calls.len];
        calls.whole(&mut digest, message);
        words(hunt, "the message", message);
        words(hunt, "the digest", &digest);
    });
    let mut one = vec![0; calls.len];
    gate.run_into((name, "hash", "C"), &mut one, |digest| calls.whole(digest, message));
    let mut made = ([0; 31], vec![0; calls.len]);
    gate.run_into((name, "hash in pieces", "C"), &mut made, |(hash, digest): &mut (Hash, Vec<u8>)| {
        calls.pieces(hash, digest, message);
    });
    gate.run_into((name, "wipe", "C"), &mut made.0, |hash| wipe(hash));
    valgrind::mark_public(&one);
    valgrind::mark_public(&made.1);
    assert!(one == made.1, "{name}: pieces give another digest");
}

/// The form of a call, by the schedule.
const fn form(calls: &Keys) -> &'static str {
    if calls.is_small { "C, small" } else { "C" }
}

/// The keys of one set in one schedule. Returns the key of the seed.
fn keys(gate: &mut impl Instrument, calls: &Keys, seed: &[u8], public: &[u8]) -> Key {
    let name = |op| (calls.set, op, form(calls));
    let [public_len, private_len, _, seed_len] = calls.sizes;
    let mut made: (Key, Vec<u8>) = ([0; 96], vec![0; public_len]);
    gate.run_into(name("keygen"), &mut made, |(key, public)| {
        calls.key_generate(key, Some(public), Some(&Randomness::bytes(seed)));
    });
    assert!(made.1 == public, "one key");
    let mut other: Key = [0; 96];
    gate.run_into(name("keygen, hash only"), &mut other, |key| {
        calls.key_generate(key, None, Some(&Randomness::callback(&mut &*seed)));
    });
    gate.run_fresh(name("generate"), |keep| {
        let (mut key, mut public, mut seed) = ([0; 96], [0; LONGEST], [0; 64]);
        let seed = &mut seed[..seed_len];
        calls.key_generate(&mut key, Some(&mut public[..public_len]), None);
        calls.key_seed(&key, seed);
        keep(seed);
        wipe(&mut key);
        wipe(seed);
    });
    gate.run_into(name("seed"), &mut [0; 64], |seed: &mut [u8; 64]| {
        calls.key_seed(&other, &mut seed[..seed_len]);
    });
    gate.run_into(name("public key"), &mut made.1, |public| calls.key_public(&other, public));
    assert!(made.1 == public, "one key");
    let mut pair = (vec![0; public_len], vec![0; private_len]);
    // The standard's keys have no schedule.
    gate.run_into((calls.set, "keypair", "C"), &mut pair, |(public, private)| {
        calls.keypair(public, private, &Randomness::bytes(seed));
    });
    gate.run_into(name("wipe"), &mut other, |key| wipe(key));
    made.0
}

/// The longest public key.
const LONGEST: usize = 2592;

/// ML-KEM, one set in one schedule. `ciphertexts` are of `m`, and two wrong ones.
pub fn kem(
    gate: &mut impl Instrument,
    calls: &Kem,
    (seed, m, dk): (&[u8; 64], &[u8; 32], &[u8]),
    ciphertexts: [&[u8]; 3],
    ek: &[u8],
) {
    let key = keys(gate, &calls.keys, seed, ek);
    let (form, c_len) = (form(&calls.keys), calls.keys.sizes[2]);
    let name = |op| (calls.keys.set, op, form);
    let mut sent = (vec![0; c_len], [0; 32]);
    gate.run_into(name("encaps"), &mut sent, |(c, shared)| {
        calls.encapsulate(c, shared, ek, &Randomness::bytes(m));
    });
    let mut again = (vec![0; c_len], [0; 32]);
    gate.run_into(name("encaps with"), &mut again, |(c, shared)| {
        calls.encapsulate(c, shared, ek, &Randomness::callback(&mut m.as_slice()));
    });
    for (c, shared) in [&sent, &again] {
        valgrind::mark_public(c);
        valgrind::mark_public(shared);
        assert!(c == ciphertexts[0] && *shared == sent.1, "one ciphertext");
    }
    gate.run(name("check dk"), || calls.check_dk(dk));
    for (c, (op, by_bytes)) in ciphertexts.into_iter().zip(OPERATIONS) {
        let (mut one, mut two) = ([0; 32], [0; 32]);
        gate.run_into(name(op), &mut one, |shared| calls.key_decapsulate(&key, shared, c));
        gate.run_into(name(by_bytes), &mut two, |shared| calls.decapsulate(shared, c, dk));
        valgrind::mark_public(&one);
        valgrind::mark_public(&two);
        assert!(one == two && (one == sent.1) == (op == "decaps"));
    }
}

/// ML-DSA, one set in one schedule; each call signs what the others do.
pub fn dsa(
    gate: &mut impl Instrument,
    calls: &Dsa,
    (seed, rnd, message, sk): (&[u8; 32], &[u8; 32], &[u8; 40], &[u8]),
    vk: &[u8],
) {
    let key = &keys(gate, &calls.keys, seed, vk);
    let (form, signature_len) = (form(&calls.keys), calls.keys.sizes[2]);
    let encoded = if form == "C" { "C, sk" } else { form };
    let (name, by_bytes) = (|op| (calls.keys.set, op, form), |op| (calls.keys.set, op, encoded));
    gate.run(by_bytes("check sk"), || calls.check_sk(sk));

    let mut mu = ([0; 31], [0; 64]);
    gate.run_into(name("μ in pieces"), &mut mu, |(hash, mu)| calls.mu(hash, vk, message, mu));
    let digest = PreHash::Sha2_512.digest(message);
    let digest = || Message::prehashed(prehash_number(PreHash::Sha2_512), digest.as_bytes());
    let (message, mu) = (|| Message::pure(message), || Message::mu(&mu.1));
    let signed = |gate: &mut _, name, sign: &(dyn Fn(&mut [u8]) + Sync)| {
        let mut signature = vec![0; signature_len];
        Instrument::run_into(gate, name, &mut signature, |signature| sign(signature));
        valgrind::mark_public(&signature);
        signature
    };
    let given = || Randomness::bytes(rnd);
    let pure = [
        signed(gate, name("sign"), &|s| calls.key_sign(key, s, &message(), &given())),
        signed(gate, name("sign with"), &|s| {
            calls.key_sign(key, s, &message(), &Randomness::callback(&mut rnd.as_slice()));
        }),
        signed(gate, name("sign μ"), &|s| calls.key_sign(key, s, &mu(), &given())),
        signed(gate, by_bytes("sign, encoded"), &|s| calls.sign(s, &message(), sk, &given())),
        signed(gate, by_bytes("sign μ, encoded"), &|s| calls.sign(s, &mu(), sk, &given())),
    ];
    let prehashed = [
        signed(gate, name("sign pre-hashed"), &|s| calls.key_sign(key, s, &digest(), &given())),
        signed(gate, by_bytes("sign pre-hashed, encoded"), &|s| calls.sign(s, &digest(), sk, &given())),
    ];
    assert!(pure.iter().all(|signature| *signature == pure[0]) && prehashed[0] == prehashed[1]);
    gate.run(name("verify"), || calls.verify(&pure[0], &message(), vk));
    gate.run(name("verify pre-hashed"), || calls.verify(&prehashed[0], &digest(), vk));
}

/// SLH-DSA, one set: its number is the last one of the object identifier.
pub fn slhdsa(
    gate: &mut impl Instrument,
    set: ParameterSet,
    (seeds, randomness, message): (&[u8], &[u8], &[u8; 40]),
    encoded: &[u8],
) {
    let name = |op| (set.name(), op, "C");
    let family = if set.name().contains("SHAKE") { 26 } else { 20 };
    let number = family + (set.seed_len() as i32 - 16) / 4 + i32::from(set.name().ends_with('f'));
    let mut pair = (vec![0; set.verifying_key_len()], vec![0; set.signing_key_len()]);
    gate.run_into(name("keypair"), &mut pair, |(vk, sk)| {
        slhdsa_keypair(number, vk, sk, &Randomness::bytes(seeds));
    });
    let (vk, sk) = pair;
    valgrind::mark_public(&vk);
    assert!(vk == encoded[2 * set.seed_len()..], "one key");
    let mut signature = vec![0; set.signature_len()];
    gate.run_into(name("sign"), &mut signature, |signature| {
        slhdsa_sign(number, signature, &Message::pure(message), &sk, &Randomness::bytes(randomness));
    });
    valgrind::mark_public(&signature);
    gate.run(name("verify"), || slhdsa_verify(number, &signature, &Message::pure(message), &vk));
}
