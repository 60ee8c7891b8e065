//! Every operation on secrets, with the secrets marked undefined: valgrind's memcheck then reports each branch and
//! each address that depends on one.
//!
//! `gate-ct operations` must end with status 0, `gate-ct canaries` must be caught, and `gate-ct verdicts`, of P-256 and P-384,
//! must report nothing beyond [`VERDICTS`]. Run by `cargo xtask ct`, in builds
//! with `--cfg gambeson_ct`, where the core's listed declassifications speak to valgrind.

use gambeson::Bytes;
use gambeson::cpu::{self, Level};
use gambeson::mldsa::{
    self, ExpandedSigningKey, Message, MlDsa44, MlDsa65, MlDsa87, PreHash, SigningKey, VerifyingKey,
    VerifyingKeyRef,
};
use gambeson::mlkem::{
    self, DecapsulationKey, EncapsulationKey, EncapsulationKeyRef, ExpandedDecapsulationKey, ExpandedKeyRef,
    MlKem512, MlKem768, MlKem1024, SharedSecret,
};
use gambeson::sha3::{self, CShake128, CShake256, Kmac128, Kmac256, Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use gambeson::sha3::{Shake128, Shake256};
use gambeson::{Small, Workspace};
use gambeson_gates::marked::{Gate, VERDICTS, secret};
use gambeson_gates::{bytes, canary, valgrind};
use gambeson_hybrid::composite::{self, Classical};
use gambeson_hybrid::kem::{self as hybrids, Curve};
use gambeson_hybrid::{ed448, x448, xwing};
use std::env;
use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let level: Level = arguments.next().map_or(Level::Portable, |name| name.parse().expect("a level"));
    cpu::limit(level);
    for (family, ran) in [("sha3", sha3::kernels()), ("mlkem", mlkem::kernels()), ("mldsa", mldsa::kernels())]
    {
        assert_eq!(ran, level, "{family} runs the table {ran}");
    }
    let native = env::var_os("GAMBESON_GATE_NATIVE").is_some();
    assert!(native || valgrind::running(), "not under valgrind");
    let mut gate = Gate { level, verdicts: 0, failed: 0, ran: 0 };
    match mode.as_str() {
        "operations" => {
            sponge(&mut gate);
            kem::<MlKem512>(&mut gate);
            kem::<MlKem768>(&mut gate);
            kem::<MlKem1024>(&mut gate);
            small_kem::<MlKem512>(&mut gate);
            small_kem::<MlKem768>(&mut gate);
            small_kem::<MlKem1024>(&mut gate);
            small_signatures::<MlDsa44>(&mut gate);
            small_signatures::<MlDsa65>(&mut gate);
            small_signatures::<MlDsa87>(&mut gate);
            signatures::<MlDsa44>(&mut gate);
            signatures::<MlDsa65>(&mut gate);
            signatures::<MlDsa87>(&mut gate);
            hybrid(&mut gate);
            curves(&mut gate);
            for kem in hybrids::KEMS.iter().filter(|kem| !weierstrass(kem)) {
                table(&mut gate, kem);
            }
            for algorithm in composite::ALGORITHMS.iter().filter(|algorithm| !ecdsa(algorithm)) {
                composite(&mut gate, algorithm);
            }
            println!("{} operations, {} with reports", gate.ran, gate.failed);
            ExitCode::from(u8::from(gate.failed != 0))
        }
        "verdicts" => {
            gate.verdicts = VERDICTS;
            // A table that branches must be told from verdicts: the lightest of those that decision 19 met.
            let mut secret: [u8; 32] = bytes("canary");
            valgrind::mark_secret(&mut secret);
            gate.run("canary table", || (0..816).for_each(|_| _ = black_box(canary::branch(&secret))));
            assert!(native || gate.failed == 1, "the planted table was taken for verdicts");
            (gate.failed, gate.ran) = (0, 0);
            for kem in hybrids::KEMS.iter().filter(|kem| weierstrass(kem)) {
                table(&mut gate, kem);
            }
            for algorithm in composite::ALGORITHMS.iter().filter(|algorithm| ecdsa(algorithm)) {
                composite(&mut gate, algorithm);
            }
            println!("{} operations, {} with more reports than verdicts", gate.ran, gate.failed);
            ExitCode::from(u8::from(gate.failed != 0))
        }
        "canaries" => {
            // Each must be reported; the status says so, whatever valgrind's own status is.
            let mut secret: [u8; 32] = bytes("canary");
            valgrind::mark_secret(&mut secret);
            gate.run("canary branch", || _ = black_box(canary::branch(&secret)));
            gate.run("canary index", || _ = black_box(canary::index(&secret)));
            println!("{} of {} canaries reported", gate.failed, gate.ran);
            // Not reported by valgrind 3.19, but by the disassembly, which must find it in this program.
            let word = u32::from_le_bytes([secret[0], 1, 2, 3]);
            black_box(canary::division(word, 3));
            ExitCode::from(u8::from(gate.failed != gate.ran))
        }
        _ => {
            eprintln!("usage: gate-ct operations|verdicts|canaries [LEVEL]");
            ExitCode::from(2)
        }
    }
}

/// Keyed hashing of secrets, and of secrets of every length around the rate.
fn sponge(gate: &mut Gate) {
    let key: [u8; 32] = secret("kmac key");
    gate.run("KMAC", || {
        let mut tag = [0; 32];
        let mut mac = Kmac128::new(&key, b"gate");
        mac.update(&key);
        mac.finalize_into(&mut tag);
        let mut mac = Kmac256::new(&key, b"gate");
        mac.update(&tag);
        mac.finalize_into(&mut tag);
        black_box(tag)
    });
    gate.run("SHA-3 and SHAKE", || {
        let message: [u8; 300] = secret("message");
        let mut out = [0; 300];
        for length in [0, 1, 71, 72, 73, 135, 136, 137, 300] {
            let part = &message[..length];
            black_box((
                Sha3_224::digest(part),
                Sha3_256::digest(part),
                Sha3_384::digest(part),
                Sha3_512::digest(part),
            ));
            Shake128::digest_into(part, &mut out);
            Shake256::digest_into(part, &mut out[..length]);
            let mut hash = CShake128::new(b"", b"gate");
            hash.update(part);
            hash.finalize_xof().squeeze(&mut out);
            let mut hash = CShake256::new(b"", b"gate");
            hash.update(part);
            hash.finalize_xof().squeeze(&mut out);
            black_box(&out);
        }
    });
}

fn kem<P: mlkem::ParameterSet>(gate: &mut Gate) {
    let name = P::NAME;
    let mut seed: [u8; 64] = secret(name);
    gate.run(&format!("{name} keygen encoded"), || {
        let mut dk = P::ExpandedKeyBytes::zeroed();
        ExpandedDecapsulationKey::<P>::expanded_bytes_from_seed(&seed, &mut dk);
    });
    let compact = gate.run(&format!("{name} keygen compact"), || DecapsulationKey::<P>::from_seed(&seed));
    let expanded =
        gate.run(&format!("{name} keygen expanded"), || ExpandedDecapsulationKey::<P>::from_seed(&seed));
    let grown = gate.run(&format!("{name} expand"), || compact.expand());

    let key: EncapsulationKey<P> = compact.encapsulation_key();
    let m: [u8; 32] = secret("m");
    let (c, k) = gate.run(&format!("{name} encaps compact"), || key.encapsulate_deterministic(&m));
    let ready = key.expand();
    let (c2, k2) = gate.run(&format!("{name} encaps expanded"), || ready.encapsulate_deterministic(&m));
    valgrind::mark_public(c.as_ref());
    valgrind::mark_public(c2.as_ref());
    assert!(c.as_ref() == c2.as_ref(), "both forms give one ciphertext");
    let (c3, k3) = gate.run(&format!("{name} encaps once"), || key.expand_and_encapsulate_deterministic(&m));
    let mut sent =
        gate.run(&format!("{name} encaps many"), || mlkem::encapsulate_many_deterministic(&[(&key, &m); 3]));
    sent.extend(gate.run(&format!("{name} encaps many expanded"), || {
        mlkem::encapsulate_many_deterministic(&[(&ready, &m); 2])
    }));
    sent.push((c3, k3));
    for (other, k) in &sent {
        valgrind::mark_public(other.as_ref());
        valgrind::mark_public(k.expose());
        assert!(other.as_ref() == c.as_ref(), "every door gives one ciphertext");
    }

    let mut wrong = c;
    wrong.as_mut()[7] ^= 0x20;
    let mut last = c;
    *last.as_mut().last_mut().expect("a ciphertext has bytes") ^= 1;
    let exported = expanded.to_expanded_bytes();
    let whole: &[u8] = exported.expose().as_ref();
    let mut exported = whole.to_vec();
    // Of the exported form s and z are secret; what lies between is the encapsulation key and its hash.
    let key_length = key.as_bytes().as_ref().len();
    let s_length = exported.len() - key_length - 64;
    valgrind::mark_public(&exported);
    valgrind::mark_secret(&mut exported[..s_length]);
    let z_start = s_length + key_length + 32;
    valgrind::mark_secret(&mut exported[z_start..]);
    let imported = gate.run(&format!("{name} import"), || {
        ExpandedDecapsulationKey::<P>::from_expanded_bytes(&exported).expect("our own key is valid")
    });
    for (c, right) in [(&c, true), (&wrong, false), (&last, false)] {
        let kind = if right { "" } else { " of a wrong ciphertext" };
        let mut results = vec![
            gate.run(&format!("{name} decaps compact{kind}"), || compact.decapsulate(c)),
            gate.run(&format!("{name} decaps expanded{kind}"), || expanded.decapsulate(c)),
            gate.run(&format!("{name} decaps grown{kind}"), || grown.decapsulate(c)),
            gate.run(&format!("{name} decaps imported{kind}"), || imported.decapsulate(c)),
            gate.run(&format!("{name} decaps from bytes{kind}"), || {
                ExpandedDecapsulationKey::<P>::decapsulate_from_bytes(&exported, c)
                    .expect("our own key is valid")
            }),
        ];
        results.extend(gate.run(&format!("{name} decaps many{kind}"), || {
            ExpandedDecapsulationKey::decapsulate_many(&[(&expanded, c), (&imported, c)])
        }));
        let many = gate.run(&format!("{name} decaps many from bytes{kind}"), || {
            ExpandedDecapsulationKey::<P>::decapsulate_many_from_bytes(&[(&exported[..], c); 2])
        });
        results.extend(many.into_iter().map(|result| result.expect("our own key is valid")));
        results.push(gambeson::secret::Secret::new(*k.expose()));
        for result in &results {
            valgrind::mark_public(result.expose());
        }
        let ours = results.pop().expect("the encapsulated one");
        assert!(results.iter().all(|result| result.expose() == results[0].expose()), "all forms agree");
        assert_eq!(results[0].expose() == ours.expose(), right);
    }
    valgrind::mark_public(k.expose());
    valgrind::mark_public(k2.expose());
    assert!(k.expose() == k2.expose());
    gate.run(&format!("{name} drop"), || drop((compact, expanded, grown, imported)));
    seed.fill(0);
}

/// The schedule of the least memory, in the caller's memory.
fn small_kem<P: mlkem::ParameterSet>(gate: &mut Gate) {
    let name = format!("{} small", P::NAME);
    let seed: [u8; 64] = secret(&name);
    let m: [u8; 32] = secret("m");
    let mut ek = P::EncapsulationKeyBytes::zeroed();
    let mut again = ek;
    let mut c = P::Ciphertext::zeroed();
    let mut shared = SharedSecret::new([0; 32]);
    let hashed = gate.run(&format!("{name} keygen"), || DecapsulationKey::<Small<P>>::from_seed(&seed));
    let key = gate.run(&format!("{name} keygen in place"), || {
        DecapsulationKey::<Small<P>>::from_seed_into(&seed, &mut ek)
    });
    gate.run(&format!("{name} public key"), || hashed.encapsulation_key_into(&mut again));
    assert!(ek == again, "one key");
    let public = EncapsulationKeyRef::<Small<P>>::borrowed(&ek).expect("our own key is valid");
    gate.run(&format!("{name} encaps"), || public.encapsulate_deterministic_into(&m, &mut c, &mut shared));
    let sent = *shared.expose();
    let workspace = &mut Workspace::<P>::new();
    gate.run(&format!("{name} in a workspace: keygen, encaps"), || {
        let (mut other, mut other_c) = (P::EncapsulationKeyBytes::zeroed(), P::Ciphertext::zeroed());
        let key = DecapsulationKey::<Small<P>>::from_seed_in(&seed, None, workspace);
        key.encapsulation_key_in(&mut other, workspace);
        drop(DecapsulationKey::<Small<P>>::from_seed_in(&seed, Some(&mut other), workspace));
        public.encapsulate_deterministic_in(&m, &mut other_c, &mut shared, workspace);
        assert!(other == ek && other_c == c, "one key and one ciphertext");
    });

    let mut dk = P::ExpandedKeyBytes::zeroed();
    ExpandedDecapsulationKey::<P>::expanded_bytes_from_seed(&seed, &mut dk);
    let dk = dk.as_mut();
    let (s, rest) = dk.split_at_mut(dk.len() - 64 - ek.as_ref().len());
    valgrind::mark_public(rest);
    valgrind::mark_secret(s);
    let z = rest.len() - 32;
    valgrind::mark_secret(&mut rest[z..]);
    let encoded = ExpandedKeyRef::<Small<P>>::borrowed(dk).expect("our own key is valid");
    for (changed, right) in [(None, true), (Some(7), false), (Some(P::Ciphertext::LEN - 1), false)] {
        let mut c = c;
        if let Some(at) = changed {
            c.as_mut()[at] ^= 0x20;
        }
        let kind = if right { "" } else { " of a wrong ciphertext" };
        gate.run(&format!("{name} decaps{kind}"), || key.decapsulate_into(&c, &mut shared));
        let mut other = SharedSecret::new([0; 32]);
        gate.run(&format!("{name} decaps, encoded{kind}"), || encoded.decapsulate_into(&c, &mut other));
        let mut third = SharedSecret::new([0; 32]);
        let mut fourth = SharedSecret::new([0; 32]);
        gate.run(&format!("{name} in a workspace: decaps{kind}"), || {
            key.decapsulate_in(&c, &mut third, workspace);
            encoded.decapsulate_in(&c, &mut fourth, workspace);
        });
        let mut secrets = [sent, *shared.expose(), *other.expose(), *third.expose(), *fourth.expose()];
        secrets.iter_mut().for_each(|secret| valgrind::mark_public(secret));
        assert!(secrets[2..].iter().all(|secret| *secret == secrets[1]), "every form gives one secret");
        assert_eq!(secrets[0] == secrets[1], right);
    }
}

fn signatures<P: mldsa::ParameterSet>(gate: &mut Gate) {
    let name = P::NAME;
    let seed: [u8; 32] = secret(name);
    let compact = gate.run(&format!("{name} keygen compact"), || SigningKey::<P>::from_seed(&seed));
    let expanded = gate.run(&format!("{name} keygen expanded"), || ExpandedSigningKey::<P>::from_seed(&seed));
    let grown = gate.run(&format!("{name} expand"), || compact.expand());
    gate.run(&format!("{name} keygen encoded"), || {
        let (mut sk, mut vk) = (P::ExpandedKeyBytes::zeroed(), P::VerifyingKeyBytes::zeroed());
        ExpandedSigningKey::<P>::expanded_bytes_from_seed(&seed, &mut sk, &mut vk);
    });
    let public: VerifyingKey<P> = compact.verifying_key();
    let ready = public.expand();
    // Several messages, so that each reason to reject is met.
    for round in 0..4 {
        let message: [u8; 50] = bytes(&format!("message {round}"));
        let rnd: [u8; 32] = secret(&format!("rnd {round}"));
        let one = gate.run(&format!("{name} sign compact"), || compact.sign_with_rnd(&rnd, &message));
        let two = gate.run(&format!("{name} sign expanded"), || expanded.sign_with_rnd(&rnd, &message));
        let three = gate.run(&format!("{name} sign grown"), || grown.sign_with_rnd(&rnd, &message));
        for signature in [&one, &two, &three] {
            valgrind::mark_public(signature.as_ref());
            assert!(signature.as_ref() == one.as_ref(), "all forms give one signature");
        }
        gate.run(&format!("{name} verify"), || {
            public.verify(&message, one.as_ref()).expect("our own signature is valid");
            ready.verify(&message, one.as_ref()).expect("our own signature is valid");
            assert!(public.verify(b"another message", one.as_ref()).is_err());
        });
    }
    let digest = PreHash::Sha2_512.digest(b"a message");
    let prehashed = gate.run(&format!("{name} sign pre-hashed"), || {
        compact.sign_deterministic(Message::prehashed(&digest, b"context").expect("the context is short"))
    });
    valgrind::mark_public(prehashed.as_ref());
    let message = Message::prehashed(&digest, b"context").expect("the context is short");
    public.verify(message, prehashed.as_ref()).expect("our own signature is valid");

    let exported = expanded.to_expanded_bytes();
    let whole: &[u8] = exported.expose().as_ref();
    let mut bytes = whole.to_vec();
    valgrind::mark_public(&bytes);
    // All of it but rho and tr is secret to us; t0 is treated as public by the standard's own encoding of the key.
    let public_head = 32;
    valgrind::mark_secret(&mut bytes[public_head..64]);
    let t0 = 416 * rows::<P>();
    let end = bytes.len() - t0;
    valgrind::mark_secret(&mut bytes[128..end]);
    let imported = gate.run(&format!("{name} import"), || {
        ExpandedSigningKey::<P>::from_expanded_bytes(&bytes).expect("our own key is valid")
    });
    let four = gate.run(&format!("{name} sign imported"), || imported.sign_deterministic(b"imported"));
    let five = gate.run(&format!("{name} sign expanded"), || expanded.sign_deterministic(b"imported"));
    valgrind::mark_public(four.as_ref());
    valgrind::mark_public(five.as_ref());
    assert!(four.as_ref() == five.as_ref(), "an imported key signs alike");
    gate.run(&format!("{name} drop"), || drop((compact, expanded, grown, imported)));
}

/// The schedule of the least memory, in the caller's memory; and the standard's bytes in the other.
fn small_signatures<P: mldsa::ParameterSet>(gate: &mut Gate) {
    let name = format!("{} small", P::NAME);
    let seed: [u8; 32] = secret(&name);
    let (mut vk, mut again) = (P::VerifyingKeyBytes::zeroed(), P::VerifyingKeyBytes::zeroed());
    let hashed = gate.run(&format!("{name} keygen"), || SigningKey::<Small<P>>::from_seed(&seed));
    let key = gate
        .run(&format!("{name} keygen in place"), || SigningKey::<Small<P>>::from_seed_into(&seed, &mut vk));
    gate.run(&format!("{name} public key"), || hashed.verifying_key_into(&mut again));
    assert!(vk == again, "one key");

    let mut sk = P::ExpandedKeyBytes::zeroed();
    ExpandedSigningKey::<P>::expanded_bytes_from_seed(&seed, &mut sk, &mut again);
    let sk = sk.as_mut();
    valgrind::mark_public(sk);
    valgrind::mark_secret(&mut sk[32..64]);
    let end = sk.len() - 416 * rows::<P>();
    valgrind::mark_secret(&mut sk[128..end]);
    let encoded = gate.run(&format!("{name} borrow"), || mldsa::ExpandedKeyRef::<Small<P>>::borrowed(sk));
    let encoded = encoded.expect("our own key is valid");
    let fast = mldsa::ExpandedKeyRef::<P>::borrowed(sk).expect("our own key is valid");
    let [mut one, mut two, mut three, mut four, mut five] = [P::Signature::zeroed(); 5];
    let workspace = &mut Workspace::<P>::new();
    gate.run(&format!("{name} in a workspace: keygen"), || {
        SigningKey::<Small<P>>::from_seed_in(&seed, None, workspace).verifying_key_in(&mut again, workspace);
        drop(SigningKey::<Small<P>>::from_seed_in(&seed, Some(&mut again), workspace));
    });
    // Several messages, so that each reason to reject is met.
    for round in 0..4 {
        let message: [u8; 50] = bytes(&format!("message {round}"));
        let rnd: [u8; 32] = secret(&format!("rnd {round}"));
        gate.run(&format!("{name} sign"), || key.sign_with_rnd_into(&rnd, &message, &mut one));
        gate.run(&format!("{name} sign, encoded"), || encoded.sign_with_rnd_into(&rnd, &message, &mut two));
        gate.run(&format!("{} sign, encoded", P::NAME), || {
            fast.sign_with_rnd_into(&rnd, &message, &mut three)
        });
        gate.run(&format!("{name} in a workspace: sign"), || {
            key.sign_with_rnd_in(&rnd, &message, &mut four, workspace);
            encoded.sign_with_rnd_in(&rnd, &message, &mut five, workspace);
        });
        for signature in [&one, &two, &three, &four, &five] {
            valgrind::mark_public(signature.as_ref());
        }
        assert!([two, three, four, five] == [one; 4], "every form gives one signature");
        gate.run(&format!("{name} verify"), || {
            let public = VerifyingKeyRef::<Small<P>>::borrowed(&vk);
            public.verify(&message, one.as_ref()).expect("our own signature is valid");
            assert!(public.verify(b"another message", one.as_ref()).is_err());
        });
    }
}

/// X-Wing: the draft's door and the one that refuses, for an honest ciphertext and a wrong one.
fn hybrid(gate: &mut Gate) {
    let seed: [u8; 32] = secret("X-Wing");
    let eseed: [u8; 64] = secret("eseed");
    let key = gate.run("X-Wing keygen", || xwing::DecapsulationKey::from_seed(&seed));
    let public = gate.run("X-Wing public key", || key.encapsulation_key());
    valgrind::mark_public(public.as_bytes());
    let (c, k) = gate.run("X-Wing encaps", || public.encapsulate_deterministic(&eseed));
    valgrind::mark_public(&c);
    let mut wrong = c;
    wrong[9] ^= 4;
    for (c, right) in [(c, true), (wrong, false)] {
        let one = gate.run("X-Wing decaps", || key.decapsulate(&c));
        let two = gate.run("X-Wing decaps, contributory", || key.decapsulate_contributory(&c));
        let two = two.expect("an honest share contributes");
        for secret in [&one, &two, &k] {
            valgrind::mark_public(secret.expose());
        }
        assert!(one.expose() == two.expose() && (one.expose() == k.expose()) == right);
    }
}

fn weierstrass(kem: &hybrids::HybridKem) -> bool {
    matches!(kem.curve(), Curve::P256 | Curve::P384)
}

fn ecdsa(algorithm: &composite::Algorithm) -> bool {
    matches!(algorithm.classical(), Classical::EcdsaP256 | Classical::EcdsaP384)
}

/// X448 and Ed448 by themselves.
fn curves(gate: &mut Gate) {
    let key = x448::SecretKey::from_bytes(&secret("X448"));
    let public = gate.run("X448 public key", || key.public_key());
    valgrind::mark_public(&public);
    let peer = x448::SecretKey::from_bytes(&bytes("X448 peer")).public_key();
    let one = gate.run("X448 agreement", || key.diffie_hellman(&peer)).expect("an honest share contributes");
    let other = x448::SecretKey::from_bytes(&bytes("X448 peer")).diffie_hellman(&public);
    let other = other.expect("an honest share contributes");
    valgrind::mark_public(one.expose());
    assert!(one.expose() == other.expose());

    let key = gate.run("Ed448 keygen", || ed448::SigningKey::from_seed(&secret("Ed448")));
    let public = *key.public_bytes();
    valgrind::mark_public(&public);
    let signature = gate.run("Ed448 sign", || key.sign_with_context(b"message", b"context"));
    let signature = signature.expect("the context is short");
    valgrind::mark_public(&signature);
    let public = ed448::VerifyingKey::from_bytes(&public).expect("our own key is a point");
    public.verify_with_context(b"message", b"context", &signature).expect("our own signature is valid");
}

/// One hybrid KEM: both sides, for an honest ciphertext and a wrong one.
fn table(gate: &mut Gate, kem: &'static hybrids::HybridKem) {
    let name = kem.name();
    let parts: [u8; 120] = secret(name);
    let randomness: [u8; 88] = secret(&format!("{name} randomness"));
    let length = if kem.private_key_len() == 32 { 32 } else { 64 + kem.curve().secret_len() };
    let key =
        gate.run(&format!("{name} keygen"), || hybrids::DecapsulationKey::from_parts(kem, &parts[..length]));
    let key = key.expect("every such string is a key");
    let public = gate.run(&format!("{name} public key"), || key.encapsulation_key());
    valgrind::mark_public(public.as_bytes());
    let sent = gate.run(&format!("{name} encaps"), || {
        public.encapsulate_deterministic(&randomness[..kem.randomness_len()])
    });
    let (c, k) = sent.expect("every such string is randomness");
    let mut c = c.as_bytes().to_vec();
    valgrind::mark_public(&c);
    valgrind::mark_public(k.expose());
    for right in [true, false] {
        let found = gate.run(&format!("{name} decaps"), || key.decapsulate(&c)).expect("an honest share");
        valgrind::mark_public(found.expose());
        assert_eq!(found.expose() == k.expose(), right);
        let in_ml_kem = if kem.curve_first() { c.len() - 9 } else { 9 };
        c[in_ml_kem] ^= 4;
    }
    gate.run(&format!("{name} drop"), || drop(key));
}

/// One composite: key generation and signing.
fn composite(gate: &mut Gate, algorithm: &'static composite::Algorithm) {
    let name = algorithm.name();
    // The private key without its DER: the seed of ML-DSA, and the secret of the other.
    let (head, length) = match algorithm.classical() {
        Classical::Ed25519 => (&[][..], 32),
        Classical::Ed448 => (&[][..], 57),
        Classical::EcdsaP256 => (&[0x30, 0x31, 2, 1, 1, 4, 0x20][..], 32),
        Classical::EcdsaP384 => (&[0x30, 0x3e, 2, 1, 1, 4, 0x30][..], 48),
    };
    let tail = match algorithm.classical() {
        Classical::EcdsaP256 => &[0xa0, 0x0a, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7][..],
        Classical::EcdsaP384 => &[0xa0, 7, 6, 5, 0x2b, 0x81, 4, 0, 0x22],
        _ => &[],
    };
    let (seed, other): ([u8; 32], [u8; 57]) = (secret(name), secret(&format!("{name} classical")));
    let private = [&seed[..], head, &other[..length], tail].concat();
    let key = gate.run(&format!("{name} keygen"), || composite::SigningKey::from_bytes(algorithm, &private));
    let key = key.expect("every such string is a key");
    let rnd: [u8; 32] = secret("rnd");
    let digest = algorithm.pre_hash().digest(b"message");
    let signature = gate
        .run(&format!("{name} sign"), || key.sign_digest(&digest, b"context", Some(&rnd)))
        .expect("the context is short");
    valgrind::mark_public(signature.as_bytes());
    // The public key, whose point is decoded in variable time, of the same bytes unmarked.
    let (seed, other): ([u8; 32], [u8; 57]) = (bytes(name), bytes(&format!("{name} classical")));
    let private = [&seed[..], head, &other[..length], tail].concat();
    let public =
        composite::SigningKey::from_bytes(algorithm, &private).expect("the same key").verifying_key();
    public.verify(b"message", b"context", signature.as_bytes()).expect("our own signature is valid");
    gate.run(&format!("{name} drop"), || drop(key));
}

/// k of the parameter set: rows of A, polynomials of t0.
fn rows<P: mldsa::ParameterSet>() -> usize {
    match P::NAME {
        "ML-DSA-44" => 4,
        "ML-DSA-65" => 6,
        _ => 8,
    }
}
