//! What operations leave behind, with every table of kernels: 500 kB of dead stack, every block that was freed and the vector
//! registers, searched for pieces of the secrets in each form that the code may hold them in. Run by `cargo xtask residue`.
//!
//! The secrets are computed here a second time, plainly, from the seed: nothing is asked of the code under test but
//! its hash functions.

use gambeson::Bytes;
use gambeson::cpu::{self, Level};
use gambeson::mldsa::{self, ExpandedSigningKey, MlDsa44, MlDsa65, MlDsa87, SigningKey};
use gambeson::mlkem::{
    self, DecapsulationKey, ExpandedDecapsulationKey, ExpandedKeyRef, MlKem512, MlKem768, MlKem1024,
    SharedSecret,
};
use gambeson::rand_core::{TryCryptoRng, TryRng};
use gambeson::sha3::{Sha3_512, Shake256};
use gambeson::{Small, Workspace};
use gambeson_gates::hunt::{Gate, Hunt, Window, hunted, power};
use gambeson_gates::{bytes, canary, heap, live_and_die};
use gambeson_hybrid::{composite, ed448, kem as hybrids, x448, xwing};
use std::hint::black_box;
use std::process::ExitCode;

#[global_allocator]
static HEAP: heap::Watched = heap::Watched;

const Q_KEM: u32 = 3329;
const Q_DSA: u32 = 8_380_417;

fn main() -> ExitCode {
    let mut gate = Gate::default();
    let mut best = None;
    for level in Level::ALL {
        cpu::limit(level);
        if cpu::level() != level {
            continue;
        }
        println!("{level}");
        best = Some(level);
        kem::<MlKem512>(&mut gate, 2, 3, 2);
        kem::<MlKem768>(&mut gate, 3, 2, 2);
        kem::<MlKem1024>(&mut gate, 4, 2, 2);
        signatures::<MlDsa44>(&mut gate, &Shape { k: 4, l: 4, eta: 2, mask_bits: 18 });
        signatures::<MlDsa65>(&mut gate, &Shape { k: 6, l: 5, eta: 4, mask_bits: 20 });
        signatures::<MlDsa87>(&mut gate, &Shape { k: 8, l: 7, eta: 2, mask_bits: 20 });
        hybrid(&mut gate);
        curves(&mut gate);
        hybrids::KEMS.iter().for_each(|kem| table(&mut gate, kem));
        composite::ALGORITHMS.iter().for_each(|algorithm| composite(&mut gate, algorithm));
    }
    assert_eq!(best, Some(cpu::detected()), "the best table of this machine did not run");
    println!("{} operations, {} with residue", gate.ran, gate.failed);
    let caught = canaries();
    println!("{caught} of 5 canaries found");
    ExitCode::from(u8::from(gate.failed != 0 || caught != 5))
}

/// What a caller does with bytes that were his.
fn wiped(bytes: &mut [u8]) {
    bytes.fill(0);
    black_box(bytes);
}

fn canaries() -> usize {
    let secret: [u8; 32] = bytes("canary");
    let coefficients: Vec<u32> = (0..256).map(|i| (i * i * 7 + 11 * i + 5) % Q_KEM).collect();
    let mut hunt = Hunt::default();
    hunt.bytes("bytes", &secret);
    hunt.polynomial("polynomial", Window { width: 2, modulus: Q_KEM, length: 8 }, &coefficients);
    // Stored as differences from q, times 2^16: the hunt must see through both.
    let mut stored = Vec::new();
    for c in &coefficients {
        let value = (*c << 16) % Q_KEM;
        stored.extend_from_slice(&(value as i16 - Q_KEM as i16).to_le_bytes());
    }
    let catches = [
        hunted(&hunt, || _ = black_box(canary::left_on_stack(&secret))),
        hunted(&hunt, || _ = black_box(canary::left_on_heap(&secret))),
        hunted(&hunt, || _ = black_box(canary::left_on_stack(&stored))),
        hunted(&hunt, || _ = black_box(canary::left_on_heap(&stored))),
        hunted(&hunt, || canary::left_in_register(secret.first_chunk().expect("16 of 32 bytes"))),
    ];
    let clean = hunted(&hunt, || _ = black_box(canary::big_frame()));
    assert!(clean.is_empty(), "what leaves nothing is not blamed: {clean:?}");
    catches.iter().filter(|found| !found.is_empty()).count()
}

// ML-KEM

fn kem<P: mlkem::ParameterSet>(gate: &mut Gate, k: u8, eta1: usize, eta2: usize) {
    let name = P::NAME;
    let seed: [u8; 64] = bytes(name);
    let m: [u8; 32] = bytes(&format!("{name} m"));
    let compact = DecapsulationKey::<P>::from_seed(&seed);
    let expanded = ExpandedDecapsulationKey::<P>::from_seed(&seed);
    let key = compact.encapsulation_key();
    let ready = key.expand();
    let (c, secret) = key.encapsulate_deterministic(&m);
    let mut wrong = c;
    wrong.as_mut()[3] ^= 0x10;
    let rejection = compact.decapsulate(&wrong);
    let exported = expanded.to_expanded_bytes();
    let exported: &[u8] = exported.expose().as_ref();

    let mut hunt = Hunt::default();
    hunt.bytes("d", &seed[..32]);
    hunt.bytes("z", &seed[32..]);
    hunt.bytes("encoded s", &exported[..384 * usize::from(k)]);
    hunt.bytes("m", &m);
    hunt.bytes("K", secret.expose());
    hunt.bytes("rejection secret", rejection.expose());
    // G(d, k) = (rho, sigma): s and e come from sigma.
    let g = Sha3_512::digest(&[&seed[..32], &[k]].concat());
    hunt.bytes("sigma", &g[32..]);
    kem_noise(&mut hunt, "s and e", &g[32..], 2 * k, |_| eta1);
    // G(m, H(ek)) = (K, r): y, e1 and e2 come from r.
    let at = exported.len() - 64;
    let g = Sha3_512::digest(&[&m[..], &exported[at..at + 32]].concat());
    assert_eq!(&g[..32], secret.expose(), "the second computation agrees with the first");
    hunt.bytes("r", &g[32..]);
    kem_noise(&mut hunt, "y, e1 and e2", &g[32..], 2 * k + 1, |n| if n < k { eta1 } else { eta2 });

    let hunt = &hunt;
    gate.run(&format!("{name} keygen compact"), hunt, || {
        live_and_die!(DecapsulationKey::<P>::from_seed(&seed))
    });
    gate.run(&format!("{name} keygen expanded"), hunt, || {
        live_and_die!(ExpandedDecapsulationKey::<P>::from_seed(&seed))
    });
    gate.run(&format!("{name} keygen encoded"), hunt, || {
        let mut dk = P::ExpandedKeyBytes::zeroed();
        ExpandedDecapsulationKey::<P>::expanded_bytes_from_seed(&seed, &mut dk);
        wiped(dk.as_mut());
    });
    gate.run(&format!("{name} expand"), hunt, || live_and_die!(compact.expand()));
    gate.run(&format!("{name} import"), hunt, || {
        live_and_die!(ExpandedDecapsulationKey::<P>::from_expanded_bytes(exported))
    });
    gate.run(&format!("{name} export"), hunt, || live_and_die!(expanded.to_expanded_bytes()));
    gate.run(&format!("{name} public key"), hunt, || live_and_die!(compact.encapsulation_key()));
    gate.run(&format!("{name} encaps compact"), hunt, || live_and_die!(key.encapsulate_deterministic(&m)));
    gate.run(&format!("{name} encaps expanded"), hunt, || live_and_die!(ready.encapsulate_deterministic(&m)));
    gate.run(&format!("{name} encaps once"), hunt, || {
        live_and_die!(key.expand_and_encapsulate_deterministic(&m))
    });
    gate.run(&format!("{name} encaps many"), hunt, || {
        live_and_die!(mlkem::encapsulate_many_deterministic(&[(&key, &m); 9]))
    });
    gate.run(&format!("{name} encaps many expanded"), hunt, || {
        live_and_die!(mlkem::encapsulate_many_deterministic(&[(&ready, &m); 9]))
    });
    gate.run(&format!("{name} decaps from bytes"), hunt, || {
        live_and_die!(ExpandedDecapsulationKey::<P>::decapsulate_from_bytes(exported, &c))
    });
    gate.run(&format!("{name} decaps many"), hunt, || {
        live_and_die!(ExpandedDecapsulationKey::decapsulate_many(&[(&expanded, &c), (&expanded, &wrong)]))
    });
    gate.run(&format!("{name} decaps many from bytes"), hunt, || {
        live_and_die!(ExpandedDecapsulationKey::<P>::decapsulate_many_from_bytes(&[
            (exported, &c),
            (exported, &wrong),
            (&exported[1..], &c),
        ]))
    });
    gate.run(&format!("{name} decaps compact"), hunt, || live_and_die!(compact.decapsulate(&c)));
    gate.run(&format!("{name} decaps expanded"), hunt, || live_and_die!(expanded.decapsulate(&c)));
    gate.run(&format!("{name} decaps compact, wrong ciphertext"), hunt, || {
        live_and_die!(compact.decapsulate(&wrong))
    });
    gate.run(&format!("{name} decaps expanded, wrong ciphertext"), hunt, || {
        live_and_die!(expanded.decapsulate(&wrong))
    });
    small_kem::<P>(gate, hunt, (&seed, &m, exported), [&c, &wrong]);
}

/// The schedule of the least memory, which works in the caller's.
fn small_kem<P: mlkem::ParameterSet>(
    gate: &mut Gate,
    hunt: &Hunt,
    (seed, m, exported): (&[u8; 64], &[u8; 32], &[u8]),
    ciphertexts: [&P::Ciphertext; 2],
) {
    let name = format!("{} small", P::NAME);
    let key = DecapsulationKey::<Small<P>>::from_seed(seed);
    let public = key.encapsulation_key();
    let encoded = ExpandedKeyRef::<Small<P>>::borrowed(exported).expect("our own key is valid");
    gate.run(&format!("{name} keygen"), hunt, || {
        live_and_die!(DecapsulationKey::<Small<P>>::from_seed(seed))
    });
    gate.run(&format!("{name} keygen in place"), hunt, || {
        let mut ek = P::EncapsulationKeyBytes::zeroed();
        live_and_die!(DecapsulationKey::<Small<P>>::from_seed_into(seed, &mut ek));
        std::hint::black_box(&ek);
    });
    gate.run(&format!("{name} encaps"), hunt, || {
        let (mut c, mut shared) = (P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
        public.encapsulate_deterministic_into(m, &mut c, &mut shared);
        std::hint::black_box((&c, &shared));
    });
    for (c, kind) in ciphertexts.into_iter().zip(["", ", wrong ciphertext"]) {
        gate.run(&format!("{name} decaps{kind}"), hunt, || {
            let mut shared = SharedSecret::new([0; 32]);
            key.decapsulate_into(c, &mut shared);
            std::hint::black_box(&shared);
        });
        gate.run(&format!("{name} decaps, encoded{kind}"), hunt, || {
            let mut shared = SharedSecret::new([0; 32]);
            encoded.decapsulate_into(c, &mut shared);
            std::hint::black_box(&shared);
        });
    }
    kem_in_a_workspace::<P>(gate, hunt, (seed, m, exported), ciphertexts);
}

/// The same in a workspace, which is searched with the stack that it lies on.
fn kem_in_a_workspace<P: mlkem::ParameterSet>(
    gate: &mut Gate,
    hunt: &Hunt,
    (seed, m, exported): (&[u8; 64], &[u8; 32], &[u8]),
    ciphertexts: [&P::Ciphertext; 2],
) {
    let name = format!("{} in a workspace", P::NAME);
    let key = DecapsulationKey::<Small<P>>::from_seed(seed);
    let public = key.encapsulation_key();
    let encoded = ExpandedKeyRef::<Small<P>>::borrowed(exported).expect("our own key is valid");
    gate.run(&format!("{name} keygen"), hunt, || {
        let mut workspace = Workspace::<P>::new();
        live_and_die!(DecapsulationKey::<Small<P>>::from_seed_in(seed, None, &mut workspace));
        black_box(&workspace);
    });
    gate.run(&format!("{name} keygen in place"), hunt, || {
        let (mut workspace, mut ek) = (Workspace::<P>::new(), P::EncapsulationKeyBytes::zeroed());
        live_and_die!(DecapsulationKey::<Small<P>>::from_seed_in(seed, Some(&mut ek), &mut workspace));
        black_box((&workspace, &ek));
    });
    gate.run(&format!("{name} public key"), hunt, || {
        let (mut workspace, mut ek) = (Workspace::<P>::new(), P::EncapsulationKeyBytes::zeroed());
        key.encapsulation_key_in(&mut ek, &mut workspace);
        black_box((&workspace, &ek));
    });
    gate.run(&format!("{name} encaps"), hunt, || {
        let (mut c, mut shared) = (P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
        let mut workspace = Workspace::<P>::new();
        public.encapsulate_deterministic_in(m, &mut c, &mut shared, &mut workspace);
        black_box((&c, &shared, &workspace));
    });
    for (c, kind) in ciphertexts.into_iter().zip(["", ", wrong ciphertext"]) {
        gate.run(&format!("{name} decaps{kind}"), hunt, || {
            let (mut workspace, mut shared) = (Workspace::<P>::new(), SharedSecret::new([0; 32]));
            key.decapsulate_in(c, &mut shared, &mut workspace);
            black_box((&workspace, &shared));
        });
        gate.run(&format!("{name} decaps, encoded{kind}"), hunt, || {
            let (mut workspace, mut shared) = (Workspace::<P>::new(), SharedSecret::new([0; 32]));
            encoded.decapsulate_in(c, &mut shared, &mut workspace);
            black_box((&workspace, &shared));
        });
    }
}

/// The noise polynomials 0..count of one seed, and their transforms. FIPS 203, Algorithms 8 and 9.
fn kem_noise(hunt: &mut Hunt, name: &'static str, seed: &[u8], count: u8, eta: impl Fn(u8) -> usize) {
    for n in 0..count {
        let eta = eta(n);
        let mut stream = vec![0; 64 * eta];
        Shake256::digest_into(&[seed, &[n]].concat(), &mut stream);
        hunt.bytes(name, &stream);
        let bit = |i: usize| u32::from(stream[i >> 3] >> (i & 7) & 1);
        let sum = |from: usize| (from..from + eta).map(bit).sum::<u32>();
        let small: Vec<u32> =
            (0..256).map(|i| (sum(2 * i * eta) + Q_KEM - sum((2 * i + 1) * eta)) % Q_KEM).collect();
        hunt.polynomial(name, Window { width: 2, modulus: Q_KEM, length: 16 }, &small);
        let transformed = transform(&small, Q_KEM, 17, 7);
        hunt.polynomial(name, Window { width: 2, modulus: Q_KEM, length: 8 }, &transformed);
    }
}

/// The number-theoretic transform with the given number of layers; `zeta` is a root of unity of order 2^(layers + 1).
fn transform(polynomial: &[u32], modulus: u32, zeta: u64, layers: u32) -> Vec<u32> {
    let q = u64::from(modulus);
    let mut f: Vec<u64> = polynomial.iter().map(|c| u64::from(*c)).collect();
    let mut length = 128;
    let mut i = 1_u32;
    for _ in 0..layers {
        for start in (0..256).step_by(2 * length) {
            let exponent = i.reverse_bits() >> (32 - layers);
            let factor = power(zeta, u64::from(exponent), q);
            i += 1;
            for j in start..start + length {
                let t = factor * f[j + length] % q;
                f[j + length] = (f[j] + q - t) % q;
                f[j] = (f[j] + t) % q;
            }
        }
        length >>= 1;
    }
    f.into_iter().map(|c| c as u32).collect()
}

// X-Wing

fn hybrid(gate: &mut Gate) {
    let seed: [u8; 32] = bytes("X-Wing");
    let eseed: [u8; 64] = bytes("X-Wing eseed");
    let key = xwing::DecapsulationKey::from_seed(&seed);
    let public = key.encapsulation_key();
    let (c, secret) = public.encapsulate_deterministic(&eseed);

    let mut hunt = Hunt::default();
    hunt.bytes("the seed", &seed);
    let mut expanded = [0; 96];
    Shake256::digest_into(&seed, &mut expanded);
    hunt.bytes("d and z", &expanded[..64]);
    hunt.bytes("the X25519 scalar", &expanded[64..]);
    hunt.bytes("m", &eseed[..32]);
    hunt.bytes("the ephemeral scalar", &eseed[32..]);
    hunt.bytes("the shared secret", secret.expose());

    let hunt = &hunt;
    gate.run("X-Wing keygen", hunt, || live_and_die!(xwing::DecapsulationKey::from_seed(&seed)));
    gate.run("X-Wing encaps", hunt, || live_and_die!(public.encapsulate_deterministic(&eseed)));
    gate.run("X-Wing encaps, contributory", hunt, || {
        live_and_die!(public.encapsulate_contributory_deterministic(&eseed))
    });
    gate.run("X-Wing decaps", hunt, || live_and_die!(key.decapsulate(&c)));
    gate.run("X-Wing decaps, contributory", hunt, || live_and_die!(key.decapsulate_contributory(&c)));
}

// The tables of hybrids and composites

fn curves(gate: &mut Gate) {
    let scalar: [u8; 56] = bytes("X448");
    let key = x448::SecretKey::from_bytes(&scalar);
    let peer = x448::SecretKey::from_bytes(&bytes("X448 peer")).public_key();
    let mut hunt = Hunt::default();
    hunt.bytes("the X448 scalar", &scalar);
    let secret = key.diffie_hellman(&peer).expect("an honest share contributes");
    hunt.bytes("the shared secret", secret.expose());
    gate.run("X448 public key", &hunt, || live_and_die!(key.public_key()));
    gate.run("X448 agreement", &hunt, || live_and_die!(key.diffie_hellman(&peer)));

    let seed: [u8; 57] = bytes("Ed448");
    let mut hunt = Hunt::default();
    ed448_secrets(&mut hunt, &seed);
    let key = ed448::SigningKey::from_seed(&seed);
    gate.run("Ed448 keygen", &hunt, || live_and_die!(ed448::SigningKey::from_seed(&seed)));
    gate.run("Ed448 sign", &hunt, || live_and_die!(key.sign(b"message")));
}

/// The seed, and what RFC 8032, section 5.2.5, makes of it.
fn ed448_secrets(hunt: &mut Hunt, seed: &[u8]) {
    let mut h = [0; 114];
    Shake256::digest_into(seed, &mut h);
    hunt.bytes("the Ed448 seed", seed);
    hunt.bytes("the Ed448 scalar", &h[1..55]);
    hunt.bytes("the Ed448 prefix", &h[57..]);
}

/// A scalar, which is big-endian in keys and turned round on its way.
fn scalar(hunt: &mut Hunt, bytes: &[u8]) {
    hunt.bytes("the scalar", bytes);
    hunt.bytes("the scalar, turned round", &bytes.iter().rev().copied().collect::<Vec<u8>>());
}

fn table(gate: &mut Gate, kem: &'static hybrids::HybridKem) {
    let name = kem.name();
    let parts: [u8; 120] = bytes(name);
    let parts = &parts[..if kem.private_key_len() == 32 { 32 } else { 64 + kem.curve().secret_len() }];
    let randomness: [u8; 88] = bytes(&format!("{name} randomness"));
    let randomness = &randomness[..kem.randomness_len()];
    let key = hybrids::DecapsulationKey::from_parts(kem, parts).expect("every such string is a key");
    let public = key.encapsulation_key();
    let (c, k) = public.encapsulate_deterministic(randomness).expect("every such string is randomness");
    let mut hunt = Hunt::default();
    hunt.bytes("the private key", parts);
    hunt.bytes("the randomness", randomness);
    hunt.bytes("the shared secret", k.expose());
    scalar(&mut hunt, &parts[parts.len().min(64)..]);
    scalar(&mut hunt, &randomness[32..]);
    gate.run(&format!("{name} keygen"), &hunt, || {
        live_and_die!(hybrids::DecapsulationKey::from_parts(kem, parts))
    });
    gate.run(&format!("{name} encaps"), &hunt, || {
        live_and_die!(public.encapsulate_deterministic(randomness))
    });
    gate.run(&format!("{name} decaps"), &hunt, || live_and_die!(key.decapsulate(c.as_bytes())));
}

fn composite(gate: &mut Gate, algorithm: &'static composite::Algorithm) {
    let name = algorithm.name();
    let length = algorithm.private_key_len();
    let drawn: [u8; 96] = bytes(name);
    let key = composite::SigningKey::from_bytes(algorithm, &drawn[..length])
        .or_else(|_| composite::SigningKey::generate_with(algorithm, &mut Repeated(drawn)))
        .expect("a key of these bytes");
    let private = key.expose_bytes().to_vec();
    let rnd: [u8; 32] = bytes("rnd");
    let digest = algorithm.pre_hash().digest(b"message");
    let mut hunt = Hunt::default();
    hunt.bytes("the seed of ML-DSA", &private[..32]);
    hunt.bytes("rnd", &rnd);
    match algorithm.classical() {
        composite::Classical::Ed25519 => {
            // SHA-512 is what these hash messages with, too.
            let h = algorithm.pre_hash().digest(&private[32..]);
            hunt.bytes("the seed", &private[32..]);
            hunt.bytes("the scalar", &h.as_bytes()[1..31]);
            hunt.bytes("the prefix", &h.as_bytes()[32..]);
        }
        composite::Classical::Ed448 => ed448_secrets(&mut hunt, &private[32..]),
        // Not the DER around it.
        composite::Classical::EcdsaP256 => scalar(&mut hunt, &private[39..71]),
        composite::Classical::EcdsaP384 => scalar(&mut hunt, &private[39..87]),
    }
    gate.run(&format!("{name} keygen"), &hunt, || {
        live_and_die!(composite::SigningKey::from_bytes(algorithm, &private))
    });
    gate.run(&format!("{name} sign"), &hunt, || {
        live_and_die!(key.sign_digest(&digest, b"context", Some(&rnd)))
    });
}

/// Gives the same bytes again and again.
struct Repeated([u8; 96]);

impl TryRng for Repeated {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        unimplemented!("only bytes are drawn")
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        unimplemented!("only bytes are drawn")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
        out.iter_mut().zip(self.0).for_each(|(out, byte)| *out = byte);
        Ok(())
    }
}

impl TryCryptoRng for Repeated {}

// ML-DSA

/// The parameters that the second computation needs: FIPS 204, section 4.
struct Shape {
    k: u8,
    l: u8,
    eta: u32,
    mask_bits: usize,
}

fn signatures<P: mldsa::ParameterSet>(gate: &mut Gate, shape: &Shape) {
    let name = P::NAME;
    let seed: [u8; 32] = bytes(name);
    let rnd: [u8; 32] = bytes(&format!("{name} rnd"));
    let message: [u8; 40] = bytes("a message");
    let compact = SigningKey::<P>::from_seed(&seed);
    let expanded = ExpandedSigningKey::<P>::from_seed(&seed);
    let public = compact.verifying_key();
    let exported = expanded.to_expanded_bytes();
    let exported: &[u8] = exported.expose().as_ref();

    let mut hunt = Hunt::default();
    hunt.bytes("the seed", &seed);
    let mut h = [0; 128];
    Shake256::digest_into(&[&seed[..], &[shape.k, shape.l]].concat(), &mut h);
    let (rho_prime, key) = (&h[32..96], &h[96..]);
    assert_eq!(key, &exported[32..64], "the second computation agrees with the first");
    hunt.bytes("rho'", rho_prime);
    hunt.bytes("K", key);
    let bits = if shape.eta == 2 { 96 } else { 128 };
    hunt.bytes("encoded s1, s2", &exported[128..128 + bits * usize::from(shape.k + shape.l)]);
    for n in 0..u16::from(shape.k + shape.l) {
        let small = bounded(rho_prime, n, shape.eta);
        hunt.polynomial("s1, s2", Window { width: 4, modulus: Q_DSA, length: 16 }, &small);
        let transformed = transform(&small, Q_DSA, 1753, 8);
        hunt.polynomial("transformed s1, s2", Window { width: 4, modulus: Q_DSA, length: 4 }, &transformed);
    }
    // mu = H(tr, M'), rho'' = H(K, rnd, mu): the masks y of all rounds.
    let mut tr = [0; 64];
    Shake256::digest_into(public.as_bytes().as_ref(), &mut tr);
    let (mut mu, mut rho_mask) = ([0; 64], [0; 64]);
    Shake256::digest_into(&[&tr[..], &[0, 0], &message].concat(), &mut mu);
    Shake256::digest_into(&[key, &rnd, &mu].concat(), &mut rho_mask);
    hunt.bytes("rho''", &rho_mask);
    for n in 0..60 * u16::from(shape.l) {
        let mut stream = vec![0; 32 * shape.mask_bits];
        Shake256::digest_into(&[&rho_mask[..], &n.to_le_bytes()].concat(), &mut stream);
        hunt.bytes("the stream of y", &stream);
        let y = mask(&stream, shape.mask_bits);
        hunt.polynomial("y", Window { width: 4, modulus: Q_DSA, length: 4 }, &y);
    }

    let hunt = &hunt;
    gate.run(&format!("{name} keygen compact"), hunt, || live_and_die!(SigningKey::<P>::from_seed(&seed)));
    gate.run(&format!("{name} keygen encoded"), hunt, || {
        let (mut sk, mut vk) = (P::ExpandedKeyBytes::zeroed(), P::VerifyingKeyBytes::zeroed());
        ExpandedSigningKey::<P>::expanded_bytes_from_seed(&seed, &mut sk, &mut vk);
        wiped(sk.as_mut());
    });
    gate.run(&format!("{name} keygen expanded"), hunt, || {
        live_and_die!(ExpandedSigningKey::<P>::from_seed(&seed))
    });
    gate.run(&format!("{name} expand"), hunt, || live_and_die!(compact.expand()));
    gate.run(&format!("{name} import"), hunt, || {
        live_and_die!(ExpandedSigningKey::<P>::from_expanded_bytes(exported))
    });
    gate.run(&format!("{name} export"), hunt, || live_and_die!(expanded.to_expanded_bytes()));
    gate.run(&format!("{name} public key"), hunt, || live_and_die!(compact.verifying_key()));
    gate.run(&format!("{name} sign compact"), hunt, || live_and_die!(compact.sign_with_rnd(&rnd, &message)));
    gate.run(&format!("{name} sign expanded"), hunt, || {
        live_and_die!(expanded.sign_with_rnd(&rnd, &message))
    });
    small_signatures::<P>(gate, hunt, (&seed, &rnd, &message, exported));
}

/// The schedule of the least memory, which works in the caller's; and the standard's bytes in the other.
fn small_signatures<P: mldsa::ParameterSet>(
    gate: &mut Gate,
    hunt: &Hunt,
    (seed, rnd, message, exported): (&[u8; 32], &[u8; 32], &[u8; 40], &[u8]),
) {
    let name = format!("{} small", P::NAME);
    let key = SigningKey::<Small<P>>::from_seed(seed);
    let encoded = mldsa::ExpandedKeyRef::<Small<P>>::borrowed(exported).expect("our own key is valid");
    gate.run(&format!("{name} keygen"), hunt, || live_and_die!(SigningKey::<Small<P>>::from_seed(seed)));
    gate.run(&format!("{name} keygen in place"), hunt, || {
        let mut vk = P::VerifyingKeyBytes::zeroed();
        live_and_die!(SigningKey::<Small<P>>::from_seed_into(seed, &mut vk));
        std::hint::black_box(&vk);
    });
    gate.run(&format!("{name} public key"), hunt, || {
        let mut vk = P::VerifyingKeyBytes::zeroed();
        key.verifying_key_into(&mut vk);
        std::hint::black_box(&vk);
    });
    gate.run(&format!("{name} sign"), hunt, || {
        let mut signature = P::Signature::zeroed();
        key.sign_with_rnd_into(rnd, message, &mut signature);
        std::hint::black_box(&signature);
    });
    gate.run(&format!("{name} borrow"), hunt, || {
        _ = std::hint::black_box(mldsa::ExpandedKeyRef::<Small<P>>::borrowed(exported));
    });
    gate.run(&format!("{name} sign, encoded"), hunt, || {
        let mut signature = P::Signature::zeroed();
        encoded.sign_with_rnd_into(rnd, message, &mut signature);
        std::hint::black_box(&signature);
    });
    let encoded = mldsa::ExpandedKeyRef::<P>::borrowed(exported).expect("our own key is valid");
    gate.run(&format!("{} sign, encoded", P::NAME), hunt, || {
        let mut signature = P::Signature::zeroed();
        encoded.sign_with_rnd_into(rnd, message, &mut signature);
        std::hint::black_box(&signature);
    });
    signatures_in_a_workspace::<P>(gate, hunt, (seed, rnd, message, exported));
}

/// The same in a workspace, which is searched with the stack that it lies on.
fn signatures_in_a_workspace<P: mldsa::ParameterSet>(
    gate: &mut Gate,
    hunt: &Hunt,
    (seed, rnd, message, exported): (&[u8; 32], &[u8; 32], &[u8; 40], &[u8]),
) {
    let name = format!("{} in a workspace", P::NAME);
    let key = SigningKey::<Small<P>>::from_seed(seed);
    let encoded = mldsa::ExpandedKeyRef::<Small<P>>::borrowed(exported).expect("our own key is valid");
    gate.run(&format!("{name} keygen"), hunt, || {
        let mut workspace = Workspace::<P>::new();
        live_and_die!(SigningKey::<Small<P>>::from_seed_in(seed, None, &mut workspace));
        black_box(&workspace);
    });
    gate.run(&format!("{name} keygen in place"), hunt, || {
        let (mut workspace, mut vk) = (Workspace::<P>::new(), P::VerifyingKeyBytes::zeroed());
        live_and_die!(SigningKey::<Small<P>>::from_seed_in(seed, Some(&mut vk), &mut workspace));
        black_box((&workspace, &vk));
    });
    gate.run(&format!("{name} public key"), hunt, || {
        let (mut workspace, mut vk) = (Workspace::<P>::new(), P::VerifyingKeyBytes::zeroed());
        key.verifying_key_in(&mut vk, &mut workspace);
        black_box((&workspace, &vk));
    });
    gate.run(&format!("{name} sign"), hunt, || {
        let (mut workspace, mut signature) = (Workspace::<P>::new(), P::Signature::zeroed());
        key.sign_with_rnd_in(rnd, message, &mut signature, &mut workspace);
        black_box((&workspace, &signature));
    });
    gate.run(&format!("{name} sign, encoded"), hunt, || {
        let (mut workspace, mut signature) = (Workspace::<P>::new(), P::Signature::zeroed());
        encoded.sign_with_rnd_in(rnd, message, &mut signature, &mut workspace);
        black_box((&workspace, &signature));
    });
}

/// One polynomial of s1, s2. FIPS 204, Algorithm 31 (RejBoundedPoly).
fn bounded(rho_prime: &[u8], n: u16, eta: u32) -> Vec<u32> {
    let mut stream = [0; 1024];
    Shake256::digest_into(&[rho_prime, &n.to_le_bytes()].concat(), &mut stream);
    let halves = stream.iter().flat_map(|byte| [u32::from(byte & 15), u32::from(byte >> 4)]);
    let coefficients = halves.filter_map(|half| match eta {
        2 => (half < 15).then(|| (Q_DSA + 2 - half % 5) % Q_DSA),
        _ => (half < 9).then(|| (Q_DSA + 4 - half) % Q_DSA),
    });
    coefficients.take(256).collect()
}

/// One polynomial of y. FIPS 204, Algorithm 34 (ExpandMask).
fn mask(stream: &[u8], bits: usize) -> Vec<u32> {
    let bit = |i: usize| u32::from(stream[i >> 3] >> (i & 7) & 1);
    let value = |i: usize| (0..bits).map(|b| bit(bits * i + b) << b).sum::<u32>();
    (0..256).map(|i| (Q_DSA + (1 << (bits - 1)) - value(i)) % Q_DSA).collect()
}
