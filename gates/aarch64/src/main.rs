//! One operation, several times, each time with other secrets and between two calls of a marker: what runs between
//! them can be counted and compared in a trace.
//!
//! `gate-aarch64 LEVEL OPERATION`; without an operation it prints their names and the tables of the level.

use gambeson::mldsa::{self, MlDsa65, SigningKey, VerifyingKey};
use gambeson::mlkem::{self, DecapsulationKey, EncapsulationKey, MlKem768};
use gambeson::sha3::{self, Shake256, State};
use gambeson::{Compact, cpu, sha2_kernels};
use std::env;
use std::hint::black_box;

/// How often an operation runs: with secrets 0 to 3.
const SECRETS: usize = 4;

fn main() {
    let mut arguments = env::args().skip(1);
    let level = arguments.next().expect("a level").parse().expect("a level");
    cpu::limit(level);
    assert_eq!(cpu::level(), level);
    match arguments.next() {
        Some(name) => {
            let all = [operations(), secret_operations(), canaries()].concat();
            let run = all.iter().find(|operation| operation.0 == name).expect("an operation").1;
            // What is looked up on the first call only, is looked up here.
            sha3::permute_many(&mut [State::new()]);
            sha2_kernels::sha_512(1);
            (0..SECRETS).for_each(run);
        }
        None => {
            let (sha3, mlkem, mldsa) = (sha3::kernels(), mlkem::kernels(), mldsa::kernels());
            println!("tables: sha3 {sha3}, mlkem {mlkem}, mldsa {mldsa}");
            let kinds = [("count", operations()), ("trace", secret_operations()), ("canary", canaries())];
            for (kind, operations) in kinds {
                operations.iter().for_each(|(name, _)| println!("{kind}: {name}"));
            }
        }
    }
}

/// Runs `work` between two marks in the trace.
fn region<T>(work: impl FnOnce() -> T) {
    here_an_operation_begins_or_ends();
    _ = black_box(work());
    here_an_operation_begins_or_ends();
}

/// Its name is what `cargo xtask aarch64` looks for.
#[inline(never)]
fn here_an_operation_begins_or_ends() {
    black_box(());
}

type Operation = (&'static str, fn(usize));

/// `N` bytes that look random.
fn bytes<const N: usize>(label: &str, number: usize) -> [u8; N] {
    let mut bytes = [0; N];
    Shake256::digest_into(format!("{label} {number}").as_bytes(), &mut bytes);
    bytes
}

fn kem_key(number: usize) -> DecapsulationKey<MlKem768> {
    DecapsulationKey::from_seed(&bytes("seed", number))
}

fn signing_key() -> SigningKey<MlDsa65> {
    SigningKey::from_seed(&bytes("seed", 0))
}

/// A quarter of the ciphertexts is refused.
fn ciphertext(key: &DecapsulationKey<MlKem768>, number: usize) -> [u8; 1088] {
    let (mut c, _) = key.encapsulation_key().encapsulate_deterministic(&bytes("m", number));
    c[7] ^= u8::from(number == 3);
    c
}

/// What is counted.
fn operations() -> Vec<Operation> {
    vec![
        ("Keccak-f[1600], one state", |_| permute::<1>()),
        ("Keccak-f[1600], two states", |_| permute::<2>()),
        ("SHA-256, 16 compressions side by side", |_| region(|| sha2_kernels::sha_256(1))),
        ("SHA-512, 8 compressions side by side", |_| region(|| sha2_kernels::sha_512(1))),
        ("SHA-256, 16 compressions side by side without its instructions", |_| {
            cpu::allow_sha2(false);
            region(|| sha2_kernels::sha_256(1));
        }),
        ("SHA-512, 8 compressions side by side without its instructions", |_| {
            cpu::allow_sha2(false);
            region(|| sha2_kernels::sha_512(1));
        }),
        ("ML-KEM-768 keygen", |number| {
            let seed = bytes("seed", number);
            region(|| DecapsulationKey::<MlKem768>::from_seed(&seed));
        }),
        ("ML-KEM-768 encaps", |number| {
            let key = kem_key(number).encapsulation_key().as_bytes().to_vec();
            let m = bytes("m", number);
            region(|| {
                let key = EncapsulationKey::<MlKem768>::try_from(&key[..]).expect("our own key");
                key.prepare();
                key.encapsulate_deterministic(&m)
            });
        }),
        ("ML-KEM-768 decaps", |number| {
            let key = kem_key(number);
            let (c, key) = (ciphertext(&key, number), key.to_encoded());
            region(|| {
                let key = DecapsulationKey::<MlKem768>::from_encoded(key.expose());
                key.expect("our own key").decapsulate(&c)
            });
        }),
        ("ML-KEM-768 encaps, prepared key", |number| {
            let key = kem_key(number);
            let (key, m) = (key.encapsulation_key(), bytes("m", number));
            region(|| key.encapsulate_deterministic(&m));
        }),
        ("ML-KEM-768 decaps, prepared key", decapsulate_prepared),
        ("ML-DSA-65 keygen", |number| {
            let seed = bytes("seed", number);
            region(|| SigningKey::<MlDsa65>::from_seed(&seed));
        }),
        ("ML-DSA-65 sign, prepared key", |number| {
            let (key, message) = (signing_key(), bytes::<32>("message", number));
            region(|| key.sign_deterministic(&message));
        }),
        ("ML-DSA-65 verify", |number| {
            let (key, message) = (signing_key(), bytes::<32>("message", number));
            let signature = key.sign_deterministic(&message);
            let key = *key.verifying_key().as_bytes();
            region(|| {
                VerifyingKey::<Compact<MlDsa65>>::from_bytes(&key).verify(&message, signature.as_ref())
            });
        }),
        ("ML-DSA-65 verify, prepared key", |number| {
            let (key, message) = (signing_key(), bytes::<32>("message", number));
            let (signature, key) = (key.sign_deterministic(&message), key.verifying_key());
            key.prepare();
            region(|| key.verify(&message, signature.as_ref()));
        }),
    ]
}

fn permute<const N: usize>() {
    let mut states = [const { State::new() }; N];
    region(|| sha3::permute_many(black_box(&mut states)));
}

fn decapsulate_prepared(number: usize) {
    let key = kem_key(number);
    let c = ciphertext(&key, number);
    region(|| key.decapsulate(&c));
}

/// What must run the same instructions for each secret. The matrix, public, is one for all where it is sampled.
fn secret_operations() -> Vec<Operation> {
    vec![
        ("permutation of three states", |number| {
            let mut states = [0, 1, 2].map(|i| {
                let content: [u8; 200] = bytes("state", 4 * number + i);
                let words = content.as_chunks::<8>().0;
                State(std::array::from_fn(|lane| u64::from_le_bytes(words[lane])))
            });
            region(|| sha3::permute_many(black_box(&mut states)));
        }),
        ("ML-KEM-768 encaps, compact key", |number| {
            let key = kem_key(0).encapsulation_key();
            let key = EncapsulationKey::<Compact<MlKem768>>::from_bytes(key.as_bytes()).expect("our own key");
            let m = bytes("m", number);
            region(|| key.encapsulate_deterministic(&m));
        }),
        ("ML-KEM-768 decaps, compact key", |number| {
            let mut seed: [u8; 64] = bytes("seed", number);
            seed[..32].copy_from_slice(&bytes::<32>("d", 0));
            let key = DecapsulationKey::<Compact<MlKem768>>::from_seed(&seed);
            let c = ciphertext(&DecapsulationKey::from_seed(&seed), number);
            region(|| key.decapsulate(&c));
        }),
        ("ML-KEM-768 decaps, prepared key", decapsulate_prepared),
        #[cfg(gambeson_ct)]
        ("SHA-2 kernels", sha2),
        #[cfg(gambeson_ct)]
        ("SHA-2 kernels without instructions for SHA-2", |number| {
            cpu::allow_sha2(false);
            sha2(number);
        }),
        #[cfg(gambeson_ct)]
        ("ML-DSA kernels", |number| {
            let secret = bytes("polynomials", number);
            region(|| (0..mldsa::gate::NAMES.len()).for_each(|n| mldsa::gate::run(n, &secret)));
        }),
    ]
}

/// With an odd number of lanes: the last one is hashed alone, if the others are two by two.
#[cfg(gambeson_ct)]
fn sha2(number: usize) {
    let secret = bytes("words", number);
    region(|| sha2_kernels::on_secrets(&secret, 7));
}

/// What must not look the same, and what the search for divisions must find.
fn canaries() -> Vec<Operation> {
    vec![("canary branch", |number| {
        let secret = black_box(number);
        region(|| if secret & 1 == 1 { planted_division(17, secret) } else { 3 });
    })]
}

#[inline(never)]
fn planted_division(secret: usize, divisor: usize) -> usize {
    black_box(secret).checked_div(divisor).unwrap_or(0)
}
