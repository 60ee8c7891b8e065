//! Every kind of call of the C interface on secrets, for every set in both schedules, with the secrets marked undefined: valgrind's memcheck
//! then reports each branch and each address that depends on one.
//!
//! `gate-c operations` must end with status 0, and `gate-c canaries` must be caught. Run by `cargo xtask ct` at the levels of optimisation at
//! which the libraries are built.

use gambeson::cpu::{self, Level};
use gambeson::mldsa::PreHash;
use gambeson_gates::marked::{Gate, secret};
use gambeson_gates::{bytes, c, canary, valgrind};
use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let level: Level = arguments.next().map_or(Level::Portable, |name| name.parse().expect("a level"));
    cpu::limit(level);
    assert!(valgrind::running(), "not under valgrind");
    let mut gate = Gate { level, verdicts: 0, failed: 0, ran: 0 };
    match mode.as_str() {
        "operations" => {
            c::HASHES.iter().for_each(|calls| hash(&mut gate, calls));
            prehash(&mut gate);
            c::KEMS.iter().for_each(|calls| kem(&mut gate, calls));
            c::DSAS.iter().for_each(|calls| signatures(&mut gate, calls));
            println!("{} operations, {} with reports", gate.ran, gate.failed);
            ExitCode::from(u8::from(gate.failed != 0))
        }
        "canaries" => {
            // Behind the interface: the marks go through it, and the reports come back.
            let message: [u8; 32] = secret("canary");
            let mut digest = [0; 32];
            gate.run("canary", || {
                c::plugged(canary::branching_keccak, || c::HASHES[1].whole(&mut digest, &message));
            });
            println!("{} of {} canaries reported", gate.failed, gate.ran);
            ExitCode::from(u8::from(gate.failed != gate.ran))
        }
        _ => {
            eprintln!("usage: gate-c operations|canaries [LEVEL]");
            ExitCode::from(2)
        }
    }
}

/// A hash of secrets.
fn hash(gate: &mut Gate, calls: &c::Hasher) {
    let name = calls.name;
    let message: [u8; 150] = secret(name);
    let (mut one, mut two, mut hash) = ([0; 200], [0; 200], [0; 31]);
    gate.run(name, || calls.whole(&mut one[..calls.len], &message));
    gate.run(&format!("{name} in pieces"), || calls.pieces(&mut hash, &mut two[..calls.len], &message));
    gate.run(&format!("{name} wiped"), || c::wipe(&mut hash));
    valgrind::mark_public(&one);
    valgrind::mark_public(&two);
    assert!(one == two, "{name}: pieces give another digest");
}

/// The digests for HashML-DSA of a secret message.
fn prehash(gate: &mut Gate) {
    for (function, prehash) in c::PREHASHES {
        let message: [u8; 150] = secret(function.name());
        let (mut digest, mut hash) = ([0; 64], [0; 31]);
        let digest = &mut digest[..function.digest_len()];
        gate.run(&format!("{function} in C"), || c::prehash(&mut hash, prehash, &message, digest));
        valgrind::mark_public(digest);
        let message: [u8; 150] = bytes(function.name());
        assert_eq!(digest, function.digest(&message).as_bytes());
    }
}

/// ML-KEM, for an honest ciphertext and a wrong one.
fn kem(gate: &mut Gate, calls: &c::Kem) {
    let name = calls.name;
    let [ek_len, dk_len, c_len] = calls.sizes;
    let (seed, m): ([u8; 64], [u8; 32]) = (secret(name), secret("m"));
    let (mut key, mut other, mut again) = ([0; 96], [0; 96], [0; 64]);
    let (mut ek, mut same_ek, mut dk) = (vec![0; ek_len], vec![0; ek_len], vec![0; dk_len]);
    gate.run(&format!("{name} keygen"), || calls.key_from_seed(&mut key, &mut ek, &seed));
    gate.run(&format!("{name} keygen with"), || calls.key_generate_with(&mut other, &seed));
    gate.run(&format!("{name} seed"), || calls.key_seed(&other, &mut again));
    gate.run(&format!("{name} public key"), || calls.key_public(&other, &mut same_ek));
    assert!(ek == same_ek, "one key");

    let (mut c, mut same_c) = (vec![0; c_len], vec![0; c_len]);
    let (mut sent, mut same_sent) = ([0; 32], [0; 32]);
    gate.run(&format!("{name} encaps"), || {
        calls.encapsulate_deterministic(&mut c, &mut sent, &ek, &m);
    });
    gate.run(&format!("{name} encaps with"), || {
        calls.encapsulate_with(&mut same_c, &mut same_sent, &ek, &m);
    });
    valgrind::mark_public(&c);
    valgrind::mark_public(&same_c);
    assert!(c == same_c, "one ciphertext");

    gate.run(&format!("{name} keypair"), || calls.keypair_from_seed(&mut same_ek, &mut dk, &seed));
    valgrind::mark_public(&dk[dk_len - ek_len - 64..dk_len - 32]);
    gate.run(&format!("{name} check dk"), || calls.check_dk(&dk));
    for right in [true, false] {
        let kind = if right { "" } else { " of a wrong ciphertext" };
        let (mut one, mut two) = ([0; 32], [0; 32]);
        gate.run(&format!("{name} decaps{kind}"), || calls.key_decapsulate(&key, &mut one, &c));
        gate.run(&format!("{name} decaps, encoded{kind}"), || calls.decapsulate(&mut two, &c, &dk));
        for shared in [&mut one, &mut two, &mut sent] {
            valgrind::mark_public(shared);
        }
        assert!(one == two && (one == sent) == right);
        c[c_len - 1] ^= 1;
    }
    gate.run(&format!("{name} wiped"), || c::wipe(&mut key));
}

/// ML-DSA; each call signs what the others do.
fn signatures(gate: &mut Gate, calls: &c::Dsa) {
    let name = calls.name;
    let [vk_len, sk_len, signature_len] = calls.sizes;
    let (seed, rnd): ([u8; 32], [u8; 32]) = (secret(name), secret("rnd"));
    let (mut key, mut other, mut again) = ([0; 96], [0; 96], [0; 32]);
    let (mut vk, mut same_vk, mut sk) = (vec![0; vk_len], vec![0; vk_len], vec![0; sk_len]);
    gate.run(&format!("{name} keygen"), || calls.key_from_seed(&mut key, &mut vk, &seed));
    gate.run(&format!("{name} keygen with"), || calls.key_generate_with(&mut other, &seed));
    gate.run(&format!("{name} seed"), || calls.key_seed(&other, &mut again));
    gate.run(&format!("{name} public key"), || calls.key_public(&other, &mut same_vk));
    assert!(vk == same_vk, "one key");

    gate.run(&format!("{name} keypair"), || calls.keypair_from_seed(&mut same_vk, &mut sk, &seed));
    valgrind::mark_public(&sk);
    valgrind::mark_secret(&mut sk[32..64]);
    valgrind::mark_secret(&mut sk[128..sk_len - 416 * (vk_len / 320)]);
    gate.run(&format!("{name} check sk"), || calls.check_sk(&sk));

    let message: [u8; 50] = bytes("message");
    let mut mu = [0; 64];
    calls.mu(&mut [0; 31], &vk, &message, &mut mu);
    let digest = PreHash::Sha2_512.digest(&message);
    let digest = (c::prehash_number(PreHash::Sha2_512), digest.as_bytes());
    let mut signature = vec![0; signature_len];
    let mut signed = |how: &str, sign: &dyn Fn(&mut [u8])| {
        gate.run(&format!("{name} {how}"), || sign(&mut signature));
        valgrind::mark_public(&signature);
        signature.clone()
    };
    let pure = [
        signed("sign", &|s| calls.key_sign_with_rnd(&key, s, &message, &rnd)),
        signed("sign with", &|s| calls.key_sign_with(&key, s, &message, &rnd)),
        signed("sign mu", &|s| calls.key_sign_mu_with_rnd(&key, s, &mu, &rnd)),
        signed("sign, encoded", &|s| calls.sign_with_rnd(s, &message, &sk, &rnd)),
        signed("sign mu, encoded", &|s| calls.sign_mu_with_rnd(s, &mu, &sk, &rnd)),
    ];
    let prehashed = [
        signed("sign pre-hashed", &|s| calls.key_sign_prehashed_with_rnd(&key, s, digest, &rnd)),
        signed("sign pre-hashed, encoded", &|s| calls.sign_prehashed_with_rnd(s, digest, &sk, &rnd)),
    ];
    assert!(pure.iter().all(|signature| *signature == pure[0]) && prehashed[0] == prehashed[1]);
    calls.verify(&pure[0], &message, &vk);
    calls.verify_prehashed(&prehashed[0], digest, &vk);
    gate.run(&format!("{name} wiped"), || c::wipe(&mut key));
}
