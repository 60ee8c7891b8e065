//! What the calls of the C interface leave behind. What is the caller's he wipes.

use gambeson::mldsa::PreHash;
use gambeson_gates::hunt::{Gate, Hunt};
use gambeson_gates::{bytes, c};

/// The hashes, of a secret message: its bytes and the digest's, and both with the bytes of their words turned round.
pub fn hashes(gate: &mut Gate) {
    let message: [u8; 160] = bytes("a secret message");
    let message = &message;
    let mut secret = Hunt::default();
    let words = |secret: &mut Hunt, name, bytes: &[u8]| {
        for size in [1, 4, 8] {
            let turned = bytes.chunks(size).flat_map(|word| word.iter().rev().copied());
            secret.bytes(name, &turned.collect::<Vec<u8>>());
        }
    };
    words(&mut secret, "the message", message);
    for calls in &c::HASHES {
        let name = calls.name;
        let mut digest = vec![0; calls.len];
        calls.whole(&mut digest, message);
        words(&mut secret, "the digest", &digest);
        let secret = &secret;
        gate.run(name, secret, || {
            let mut digest = [0; 200];
            calls.whole(&mut digest[..calls.len], message);
            c::wipe(&mut digest);
        });
        gate.run(&format!("{name} in pieces"), secret, || {
            let (mut hash, mut digest) = ([0; 31], [0; 200]);
            calls.pieces(&mut hash, &mut digest[..calls.len], message);
            c::wipe(&mut hash);
            c::wipe(&mut digest);
        });
    }
    for (function, prehash) in c::PREHASHES {
        let len = function.digest_len();
        words(&mut secret, "the digest", function.digest(message).as_bytes());
        gate.run(&format!("{function} in C"), &secret, || {
            let (mut hash, mut digest) = ([0; 31], [0; 64]);
            c::prehash(&mut hash, prehash, message, &mut digest[..len]);
            c::wipe(&mut digest);
        });
    }
}

/// ML-KEM, one set in one schedule.
pub fn kem(
    gate: &mut Gate,
    hunt: &Hunt,
    calls: &c::Kem,
    (seed, m, dk): (&[u8; 64], &[u8; 32], &[u8]),
    ciphertexts: [&[u8]; 2],
    ek: &[u8],
) {
    let name = calls.name;
    let [ek_len, dk_len, c_len] = calls.sizes;
    let mut key = [0; 96];
    calls.key_from_seed(&mut key, &mut vec![0; ek_len], seed);
    gate.run(&format!("{name} keygen"), hunt, || {
        let (mut key, mut ek) = ([0; 96], [0; c::MOST[0]]);
        calls.key_from_seed(&mut key, &mut ek[..ek_len], seed);
        c::wipe(&mut key);
    });
    gate.run(&format!("{name} keygen with"), hunt, || {
        let mut key = [0; 96];
        calls.key_generate_with(&mut key, seed);
        c::wipe(&mut key);
    });
    gate.run_fresh(&format!("{name} generate"), |kept| {
        let (mut key, mut ek, mut seed) = ([0; 96], [0; c::MOST[0]], [0; 64]);
        calls.key_generate(&mut key, &mut ek[..ek_len]);
        calls.key_seed(&key, &mut seed);
        kept.keep(&seed);
        c::wipe(&mut key);
        c::wipe(&mut seed);
    });
    gate.run(&format!("{name} seed"), hunt, || {
        let mut seed = [0; 64];
        calls.key_seed(&key, &mut seed);
        c::wipe(&mut seed);
    });
    gate.run(&format!("{name} public key"), hunt, || {
        calls.key_public(&key, &mut [0; c::MOST[0]][..ek_len]);
    });
    gate.run(&format!("{name} encaps"), hunt, || {
        let mut shared = [0; 32];
        calls.encapsulate_deterministic(&mut [0; c::MOST[0]][..c_len], &mut shared, ek, m);
        c::wipe(&mut shared);
    });
    gate.run(&format!("{name} encaps with"), hunt, || {
        let mut shared = [0; 32];
        calls.encapsulate_with(&mut [0; c::MOST[0]][..c_len], &mut shared, ek, m);
        c::wipe(&mut shared);
    });
    gate.run(&format!("{name} keypair"), hunt, || {
        let (mut ek, mut dk) = ([0; c::MOST[0]], [0; c::MOST[1]]);
        calls.keypair_from_seed(&mut ek[..ek_len], &mut dk[..dk_len], seed);
        c::wipe(&mut dk);
    });
    gate.run(&format!("{name} check dk"), hunt, || calls.check_dk(dk));
    for (c, kind) in ciphertexts.into_iter().zip(["", ", wrong ciphertext"]) {
        gate.run(&format!("{name} decaps{kind}"), hunt, || {
            let mut shared = [0; 32];
            calls.key_decapsulate(&key, &mut shared, c);
            c::wipe(&mut shared);
        });
        gate.run(&format!("{name} decaps, encoded{kind}"), hunt, || {
            let mut shared = [0; 32];
            calls.decapsulate(&mut shared, c, dk);
            c::wipe(&mut shared);
        });
    }
}

/// ML-DSA, one set in one schedule.
pub fn signatures(
    gate: &mut Gate,
    hunt: &Hunt,
    calls: &c::Dsa,
    (seed, rnd, message, sk): (&[u8; 32], &[u8; 32], &[u8; 40], &[u8]),
    vk: &[u8],
) {
    let name = calls.name;
    let [vk_len, sk_len, signature_len] = calls.sizes;
    let (mut key, mut mu) = ([0; 96], [0; 64]);
    calls.key_from_seed(&mut key, &mut vec![0; vk_len], seed);
    calls.mu(&mut [0; 31], vk, message, &mut mu);
    let digest = PreHash::Sha2_512.digest(message);
    let digest = (c::prehash_number(PreHash::Sha2_512), digest.as_bytes());
    gate.run(&format!("{name} keygen"), hunt, || {
        let (mut key, mut vk) = ([0; 96], [0; c::MOST[1]]);
        calls.key_from_seed(&mut key, &mut vk[..vk_len], seed);
        c::wipe(&mut key);
    });
    gate.run(&format!("{name} keygen with"), hunt, || {
        let mut key = [0; 96];
        calls.key_generate_with(&mut key, seed);
        c::wipe(&mut key);
    });
    gate.run_fresh(&format!("{name} generate"), |kept| {
        let (mut key, mut vk, mut seed) = ([0; 96], [0; c::MOST[1]], [0; 32]);
        calls.key_generate(&mut key, &mut vk[..vk_len]);
        calls.key_seed(&key, &mut seed);
        kept.keep(&seed);
        c::wipe(&mut key);
        c::wipe(&mut seed);
    });
    gate.run(&format!("{name} seed"), hunt, || {
        let mut seed = [0; 32];
        calls.key_seed(&key, &mut seed);
        c::wipe(&mut seed);
    });
    gate.run(&format!("{name} public key"), hunt, || {
        calls.key_public(&key, &mut [0; c::MOST[1]][..vk_len]);
    });
    gate.run(&format!("{name} keypair"), hunt, || {
        let (mut vk, mut sk) = ([0; c::MOST[1]], [0; c::MOST[1]]);
        calls.keypair_from_seed(&mut vk[..vk_len], &mut sk[..sk_len], seed);
        c::wipe(&mut sk);
    });
    gate.run(&format!("{name} check sk"), hunt, || calls.check_sk(sk));
    let mut signs = |how: &str, sign: &(dyn Fn(&mut [u8]) + Sync)| {
        gate.run(&format!("{name} {how}"), hunt, || sign(&mut [0; c::MOST[2]][..signature_len]));
    };
    signs("sign", &|s| calls.key_sign_with_rnd(&key, s, message, rnd));
    signs("sign with", &|s| calls.key_sign_with(&key, s, message, rnd));
    signs("sign mu", &|s| calls.key_sign_mu_with_rnd(&key, s, &mu, rnd));
    signs("sign pre-hashed", &|s| calls.key_sign_prehashed_with_rnd(&key, s, digest, rnd));
    signs("sign, encoded", &|s| calls.sign_with_rnd(s, message, sk, rnd));
    signs("sign mu, encoded", &|s| calls.sign_mu_with_rnd(s, &mu, sk, rnd));
    signs("sign pre-hashed, encoded", &|s| calls.sign_prehashed_with_rnd(s, digest, sk, rnd));
}
