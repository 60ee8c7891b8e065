//! `bench agent`: the rows of the agent benchmark that Aethyr Research published ("We Benchmarked Post-Quantum Crypto for
//! AI Agents", 2026), under the names that they have there, with RustCrypto beside ours where it has the operation.
//!
//! Their figures come from their workstation, and stand in the table for orientation. Signing takes other randomness
//! each time, so that the number of attempts varies as in real use. XChaCha20-Poly1305 and BLAKE3 are well-kept crates
//! that agents stand on, and not ours.

use super::ours::{self, rotating, seed};
use super::{Case, Work, measure};
use crate::args::Bench;
use crate::console::{Console, duration};
use crate::error::{Error, Status};
use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use gambeson::mldsa::{self, MlDsa65};
use gambeson::mlkem::{self, MlKem768};
use gambeson_identity::{MasterSeed, Suite};
use serde_json::json;
use std::hint::black_box;
use std::time::Duration;

/// By how much one derivation may be slower than a bare BLAKE3 hash of 64 bytes.
const ALLOWED: f64 = 2.0;

fn derivation_of_one() -> Work {
    let seed = MasterSeed::from_bytes(&[7; 32]);
    let mut index = 0;
    Box::new(move || {
        index += 1;
        black_box(seed.child(Suite::Default, black_box(index)));
    })
}

/// The keys of five sessions, `m/4'/n'`.
fn session_keys() -> Work {
    let seed = MasterSeed::from_bytes(&[7; 32]);
    let mut session = 0;
    Box::new(move || {
        for _ in 0..5 {
            session += 1;
            seed.derive_session_key(Suite::Default, black_box(session));
        }
    })
}

/// As the peer would write it: the context is hashed each time.
fn session_keys_bare() -> Work {
    let mut material = [7_u8; 40];
    Box::new(move || {
        for _ in 0..5 {
            material[39] = material[39].wrapping_add(1);
            black_box(blake3::derive_key(
                "gambeson 2026-11-21 v1 m/4' session signing hedge key",
                black_box(&material),
            ));
        }
    })
}

/// As the peer would write it: the context is hashed each time.
fn derivation_bare() -> Work {
    let mut material = [7_u8; 40];
    Box::new(move || {
        material[39] = material[39].wrapping_add(1);
        black_box(blake3::derive_key("gambeson 2026-11-21 v1 child agent master seed", black_box(&material)));
    })
}

fn hash<const N: usize>() -> Work {
    let data = vec![0x5a; N];
    Box::new(move || {
        black_box(blake3::hash(black_box(&data)));
    })
}

fn encrypt<const N: usize>() -> Work {
    let cipher = XChaCha20Poly1305::new(&seed::<32>(0).into());
    let nonce = XNonce::from(seed::<24>(1));
    let mut data = vec![0x5a; N];
    Box::new(move || {
        let tag = cipher.encrypt_inout_detached(&nonce, b"", black_box(&mut data[..]).into());
        black_box(tag.expect("1 MiB is not too long"));
    })
}

/// The message comes back each time: the ciphertext is copied first.
fn decrypt<const N: usize>() -> Work {
    let cipher = XChaCha20Poly1305::new(&seed::<32>(0).into());
    let nonce = XNonce::from(seed::<24>(1));
    let mut sealed = vec![0x5a; N];
    let tag = cipher.encrypt_inout_detached(&nonce, b"", (&mut sealed[..]).into());
    let tag = tag.expect("1 MiB is not too long");
    let mut data = sealed.clone();
    Box::new(move || {
        data.copy_from_slice(&sealed);
        let opened = cipher.decrypt_inout_detached(&nonce, b"", black_box(&mut data[..]).into(), &tag);
        opened.expect("what was sealed opens");
    })
}

/// Keygen, encapsulate, decapsulate: one key that is used once.
fn exchange() -> Work {
    rotating(
        |i| (seed::<64>(i), seed::<32>(i)),
        |(key, m)| {
            let dk = mlkem::DecapsulationKey::<MlKem768>::from_seed(key);
            let (c, ours) = dk.encapsulation_key().encapsulate_deterministic(m);
            assert_eq!(ours.expose(), dk.decapsulate(&c).expose(), "both sides have one secret");
        },
    )
}

mod rustcrypto {
    use super::{Work, black_box, rotating, seed};
    use ml_dsa::{ExpandedSigningKey, MlDsa65, SigningKey, VerifyingKey};
    use ml_kem::ml_kem_768::{DecapsulationKey, EncapsulationKey};
    use ml_kem::{B32, Decapsulate as _, Seed};

    fn kem(i: u8) -> DecapsulationKey {
        DecapsulationKey::from_seed(Seed::from(seed::<64>(i)))
    }

    pub(super) fn kem_keygen() -> Work {
        rotating(seed::<64>, |seed| {
            black_box(DecapsulationKey::from_seed(Seed::from(*seed)).encapsulation_key().clone());
        })
    }

    pub(super) fn kem_encaps() -> Work {
        rotating(
            |i| -> (EncapsulationKey, B32) { (kem(i).encapsulation_key().clone(), seed::<32>(i).into()) },
            |(key, m)| {
                black_box(key.encapsulate_deterministic(m));
            },
        )
    }

    pub(super) fn kem_decaps() -> Work {
        rotating(
            |i| {
                let key = kem(i);
                let (c, _) = key.encapsulation_key().encapsulate_deterministic(&seed::<32>(i).into());
                (key, c)
            },
            |(key, c)| {
                black_box(key.decapsulate(c));
            },
        )
    }

    pub(super) fn exchange() -> Work {
        rotating(
            |i| (seed::<64>(i), B32::from(seed::<32>(i))),
            |(seed, m)| {
                let key = DecapsulationKey::from_seed(Seed::from(*seed));
                let (c, ours) = key.encapsulation_key().encapsulate_deterministic(m);
                assert_eq!(ours, key.decapsulate(&c), "both sides have one secret");
            },
        )
    }

    fn dsa(i: u8) -> SigningKey<MlDsa65> {
        SigningKey::from_seed(&seed::<32>(i).into())
    }

    pub(super) fn dsa_keygen() -> Work {
        rotating(seed::<32>, |seed| {
            let key = SigningKey::<MlDsa65>::from_seed(&(*seed).into());
            black_box(AsRef::<VerifyingKey<MlDsa65>>::as_ref(&key).encode());
        })
    }

    /// Another message each time: the deterministic variant has no other randomness.
    pub(super) fn dsa_sign() -> Work {
        let keys: Vec<ExpandedSigningKey<MlDsa65>> = (0..16).map(|i| dsa(i).expanded_key().clone()).collect();
        let mut count = 0_usize;
        Box::new(move || {
            count += 1;
            let mut message = [0; 32];
            message[..8].copy_from_slice(&count.to_le_bytes());
            black_box(
                keys[count % keys.len()]
                    .sign_deterministic(&message, &[])
                    .expect("an empty context")
                    .encode(),
            );
        })
    }

    pub(super) fn dsa_verify() -> Work {
        rotating(
            |i| {
                let key = dsa(i);
                let signature =
                    key.expanded_key().sign_deterministic(&[0; 32], &[]).expect("an empty context");
                (AsRef::<VerifyingKey<MlDsa65>>::as_ref(&key).clone(), signature)
            },
            |(key, signature)| {
                assert!(key.verify_with_context(&[0; 32], &[], signature), "the signature is good");
            },
        )
    }
}

/// Every row; what stands on keys has them expanded, as an agent keeps them.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut row = |algorithm, operation, form, by, bytes, published_us, prepare: fn() -> Work| {
        let kernels = match (by, algorithm) {
            ("gambeson", "ML-KEM-768") => Some(mlkem::kernels as fn() -> gambeson::cpu::Level),
            ("gambeson", "ML-DSA-65") => Some(mldsa::kernels as fn() -> gambeson::cpu::Level),
            _ => None,
        };
        let lengths = None;
        cases.push(Case { algorithm, operation, form, by, kernels, bytes, lengths, prepare, published_us });
    };
    let (us, them) = ("gambeson", "RustCrypto");
    row("ML-DSA-65", "Key Generation", "", us, None, Some(167.0), ours::dsa_keygen::<MlDsa65>);
    row("ML-DSA-65", "Key Generation", "", them, None, Some(167.0), rustcrypto::dsa_keygen);
    row("ML-DSA-65", "Sign", "", us, None, Some(456.0), ours::dsa_sign::<MlDsa65>);
    row("ML-DSA-65", "Sign", "", them, None, Some(456.0), rustcrypto::dsa_sign);
    row("ML-DSA-65", "Verify", "", us, None, Some(103.0), ours::dsa_verify::<MlDsa65>);
    row("ML-DSA-65", "Verify", "", them, None, Some(103.0), rustcrypto::dsa_verify);
    row("ML-KEM-768", "Key Generation", "", us, None, Some(27.0), ours::kem_keygen::<MlKem768>);
    row("ML-KEM-768", "Key Generation", "", them, None, Some(27.0), rustcrypto::kem_keygen);
    row("ML-KEM-768", "Encapsulate", "", us, None, Some(26.0), ours::kem_encaps::<MlKem768>);
    row("ML-KEM-768", "Encapsulate", "", them, None, Some(26.0), rustcrypto::kem_encaps);
    row("ML-KEM-768", "Decapsulate", "", us, None, Some(55.0), ours::kem_decaps::<MlKem768>);
    row("ML-KEM-768", "Decapsulate", "", them, None, Some(55.0), rustcrypto::kem_decaps);
    row("ML-KEM-768", "Full key exchange", "", us, None, Some(110.0), exchange);
    row("ML-KEM-768", "Full key exchange", "", them, None, Some(110.0), rustcrypto::exchange);
    row("BLAKE3", "Key derivation", "", us, None, Some(0.073), derivation_of_one);
    row("BLAKE3", "Key derivation", "", "blake3", None, Some(0.073), derivation_bare);
    row("BLAKE3", "Five session keys", "", us, None, None, session_keys);
    row("BLAKE3", "Five session keys", "", "blake3", None, None, session_keys_bare);
    row("BLAKE3", "Hash", "15 B", "blake3", Some(15), None, hash::<15>);
    row("BLAKE3", "Hash", "64 B", "blake3", Some(64), None, hash::<64>);
    row("BLAKE3", "Hash", "1 KiB", "blake3", Some(1 << 10), Some(1.0), hash::<1024>);
    row("BLAKE3", "Hash", "64 KiB", "blake3", Some(1 << 16), None, hash::<65_536>);
    row("BLAKE3", "Hash", "1 MiB", "blake3", Some(1 << 20), Some(77.0), hash::<1_048_576>);
    let cipher = "XChaCha20-Poly1305";
    let by = "chacha20poly1305";
    row(cipher, "Encrypt", "15 B", by, Some(15), None, encrypt::<15>);
    row(cipher, "Encrypt", "64 B", by, Some(64), None, encrypt::<64>);
    row(cipher, "Encrypt", "1 KiB", by, Some(1 << 10), Some(0.68), encrypt::<1024>);
    row(cipher, "Encrypt", "64 KiB", by, Some(1 << 16), None, encrypt::<65_536>);
    row(cipher, "Encrypt", "1 MiB", by, Some(1 << 20), Some(270.0), encrypt::<1_048_576>);
    row(cipher, "Decrypt", "15 B", by, Some(15), None, decrypt::<15>);
    row(cipher, "Decrypt", "64 B", by, Some(64), None, decrypt::<64>);
    row(cipher, "Decrypt", "1 KiB", by, Some(1 << 10), None, decrypt::<1024>);
    row(cipher, "Decrypt", "64 KiB", by, Some(1 << 16), None, decrypt::<65_536>);
    row(cipher, "Decrypt", "1 MiB", by, Some(1 << 20), None, decrypt::<1_048_576>);
    cases
}

/// One derivation beside a bare hash of 64 bytes, in rounds that take turns; with `--check`, more than [`ALLOWED`] fails.
pub(super) fn derivation(console: Console, options: &Bench) -> Result<Status, Error> {
    const ROUNDS: usize = 9;
    if options.op.is_some() && !options.check {
        return Ok(Status::Done);
    }
    let time = Duration::from_secs_f64(options.seconds / ROUNDS as f64);
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(measure(derivation_of_one(), time).median_ns);
        bare.push(measure(hash::<64>(), time).median_ns);
    }
    ours.sort_by(f64::total_cmp);
    bare.sort_by(f64::total_cmp);
    let (ours, bare) = (ours[ROUNDS / 2], bare[ROUNDS / 2]);
    let ratio = ours / bare;
    let well = ratio <= ALLOWED;
    console.say("")?;
    console.report(
        format_args!(
            "one key derivation {}, a bare BLAKE3 hash of 64 bytes {}: {ratio:.2} times, at most {ALLOWED} {}",
            duration(ours),
            duration(bare),
            if well { "allowed" } else { "allowed: TOO SLOW" }
        ),
        json!({"type": "promise", "name": "key derivation over a bare hash of 64 bytes", "figure": ratio, "goal": ALLOWED, "ok": well}),
    )?;
    Ok(if options.check && !well { Status::NotVerified } else { Status::Done })
}
