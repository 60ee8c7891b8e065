//! The secrets of ML-KEM, ML-DSA and the curves, computed a second time and plainly from the inputs: nothing is asked of the code
//! under test but its hash functions.

use crate::hunt::{Hunt, Window, power};
use crate::operations::dsa::CONTEXT;
use gambeson::Compact;
use gambeson::lms::{LmotsType, LmsType};
use gambeson::mldsa::{self, PreHash, SigningKey};
use gambeson::mlkem::{self, DecapsulationKey};
use gambeson::sha3::{Sha3_512, Shake256};
use gambeson::slhdsa::ParameterSet;

/// The modulus of ML-KEM.
pub const Q_KEM: u32 = 3329;
const Q_DSA: u32 = 8_380_417;

/// Adds the secrets of a key and an encapsulation.
pub fn kem<P: mlkem::PreparedSet>(hunt: &mut Hunt, seed: &[u8; 64], m: &[u8; 32]) {
    // FIPS 203, section 8.
    let (k, eta1, eta2) = match P::NAME {
        "ML-KEM-512" => (2, 3, 2),
        "ML-KEM-768" => (3, 2, 2),
        _ => (4, 2, 2),
    };
    let compact = DecapsulationKey::<Compact<P>>::from_seed(seed);
    let exported = DecapsulationKey::<P>::from_seed(seed).to_encoded();
    let exported: &[u8] = exported.expose().as_ref();
    let (c, shared) = compact.encapsulation_key().encapsulate_deterministic(m);
    hunt.bytes("d", &seed[..32]);
    hunt.bytes("z", &seed[32..]);
    hunt.bytes("encoded s", &exported[..384 * usize::from(k)]);
    hunt.bytes("m", m);
    hunt.bytes("K", shared.expose());
    for at in [7, c.as_ref().len() - 1] {
        let mut wrong = c;
        wrong.as_mut()[at] ^= 0x20;
        hunt.bytes("rejection secret", compact.decapsulate(&wrong).expose());
    }
    // G(d, k) = (rho, sigma): s and e come from sigma.
    let g = Sha3_512::digest(&[&seed[..32], &[k]].concat());
    hunt.bytes("sigma", &g[32..]);
    kem_noise(hunt, "s and e", &g[32..], 2 * k, |_| eta1);
    // G(m, H(ek)) = (K, r): y, e1 and e2 come from r.
    let at = exported.len() - 64;
    let g = Sha3_512::digest(&[&m[..], &exported[at..at + 32]].concat());
    assert_eq!(&g[..32], shared.expose(), "the second computation agrees with the first");
    hunt.bytes("r", &g[32..]);
    kem_noise(hunt, "y, e1 and e2", &g[32..], 2 * k + 1, |n| if n < k { eta1 } else { eta2 });
}

/// Adds the secrets of a key of SLH-DSA: its seeds, and beginnings of chains of the first key pair of the highest tree that `signature` does not show.
pub fn slhdsa(hunt: &mut Hunt, set: ParameterSet, [sk_seed, sk_prf, pk_seed]: [&[u8]; 3], signature: &[u8]) {
    let n = set.seed_len();
    hunt.bytes("SK.seed", sk_seed);
    hunt.bytes("SK.prf", sk_prf);
    // FIPS 205, section 11, Table 2: the layers.
    let layer = if n == 32 { 16 } else { 21 };
    for chain in 0..8_u8 {
        // PRF of the address of the chain: sections 11.1 and 11.2.
        let value = if set.name().contains("SHAKE") {
            let mut address = [0; 32];
            (address[3], address[19], address[27]) = (layer, 5, chain);
            let mut value = vec![0; n];
            Shake256::digest_into(&[pk_seed, &address, sk_seed].concat(), &mut value);
            value
        } else {
            let mut address = [0; 22];
            (address[0], address[9], address[17]) = (layer, 5, chain);
            let zeros = vec![0; 64 - n];
            PreHash::Sha2_256.digest(&[pk_seed, &zeros, &address, sk_seed].concat()).as_bytes()[..n].to_vec()
        };
        if !signature.windows(n).any(|part| part == value) {
            hunt.bytes("the beginning of a chain", &value);
        }
    }
}

/// Adds the secrets of a key of LMS, or of the top tree of HSS: SEED, and beginnings of chains of leaf 1, which signs nothing.
pub fn lms(hunt: &mut Hunt, (lms, _): (LmsType, LmotsType), identifier: &[u8; 16], seed: &[u8]) {
    hunt.bytes("SEED", seed);
    for chain in 0..8_u16 {
        // RFC 8554, Appendix A.
        let message = [&identifier[..], &[0, 0, 0, 1], &chain.to_be_bytes(), &[0xff], seed].concat();
        if lms.name().contains("SHAKE") {
            let mut value = vec![0; seed.len()];
            Shake256::digest_into(&message, &mut value);
            hunt.bytes("the beginning of a chain", &value);
        } else {
            hunt.bytes(
                "the beginning of a chain",
                &PreHash::Sha2_256.digest(&message).as_bytes()[..seed.len()],
            );
        }
    }
}

/// Adds the secrets of a key of XMSS with SHA-256 and n = 24: its seeds, and beginnings of chains of the first leaf of the lowest layer.
pub fn xmss(hunt: &mut Hunt, secret: &[u8], sk_prf: &[u8], seed: &[u8]) {
    hunt.bytes("S_XMSS", secret);
    hunt.bytes("SK_PRF", sk_prf);
    for chain in 0..8_u8 {
        // PRF_keygen: SP 800-208, section 6.2.
        let mut address = [0; 32];
        address[23] = chain;
        let message = [&[0, 0, 0, 4][..], secret, seed, &address].concat();
        hunt.bytes("the beginning of a chain", &PreHash::Sha2_256.digest(&message).as_bytes()[..24]);
    }
}

/// Adds the secrets of a key, and of signatures of a message: with the empty context, with [`CONTEXT`], and pre-hashed.
pub fn dsa<P: mldsa::PreparedSet>(hunt: &mut Hunt, seed: &[u8; 32], rnd: &[u8; 32], message: &[u8]) {
    // FIPS 204, section 4.
    let (k, l, eta, mask_bits) = match P::NAME {
        "ML-DSA-44" => (4, 4, 2, 18),
        "ML-DSA-65" => (6, 5, 4, 20),
        _ => (8, 7, 2, 20),
    };
    let public = SigningKey::<Compact<P>>::from_seed(seed).verifying_key();
    let exported = SigningKey::<P>::from_seed(seed).to_encoded();
    let exported: &[u8] = exported.expose().as_ref();
    hunt.bytes("the seed", seed);
    let mut h = [0; 128];
    Shake256::digest_into(&[&seed[..], &[k, l]].concat(), &mut h);
    let (rho_prime, key) = (&h[32..96], &h[96..]);
    assert_eq!(key, &exported[32..64], "the second computation agrees with the first");
    hunt.bytes("rho'", rho_prime);
    hunt.bytes("K", key);
    let bits = if eta == 2 { 96 } else { 128 };
    hunt.bytes("encoded s1, s2", &exported[128..128 + bits * usize::from(k + l)]);
    for n in 0..u16::from(k + l) {
        let small = bounded(rho_prime, n, eta);
        hunt.polynomial("s1, s2", Window { width: 4, modulus: Q_DSA, length: 16 }, &small);
        let transformed = transform(&small, Q_DSA, 1753, 8);
        hunt.polynomial("transformed s1, s2", Window { width: 4, modulus: Q_DSA, length: 4 }, &transformed);
    }
    // mu = H(tr, M'), rho'' = H(K, rnd, mu): the masks y of all rounds.
    let mut tr = [0; 64];
    Shake256::digest_into(public.as_bytes().as_ref(), &mut tr);
    let digest = PreHash::Sha2_512.digest(message);
    // 2.16.840.1.101.3.4.2.3 in DER.
    let oid = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3];
    let prehashed = [&[1, 4][..], CONTEXT, &oid, digest.as_bytes()].concat();
    // M' of what is signed here, and of what is signed by the C interface.
    for m_prime in [[&[0, 0][..], message].concat(), [&[0, 4][..], CONTEXT, message].concat(), prehashed] {
        let (mut mu, mut rho_mask) = ([0; 64], [0; 64]);
        Shake256::digest_into(&[&tr[..], &m_prime].concat(), &mut mu);
        Shake256::digest_into(&[key, rnd, &mu].concat(), &mut rho_mask);
        hunt.bytes("rho''", &rho_mask);
        for n in 0..60 * u16::from(l) {
            let mut stream = vec![0; 32 * mask_bits];
            Shake256::digest_into(&[&rho_mask[..], &n.to_le_bytes()].concat(), &mut stream);
            hunt.bytes("the stream of y", &stream);
            let y = mask(&stream, mask_bits);
            hunt.polynomial("y", Window { width: 4, modulus: Q_DSA, length: 4 }, &y);
        }
    }
}

/// Adds the seed of Ed448, and the scalar and the prefix (RFC 8032, section 5.2.5).
pub fn ed448(hunt: &mut Hunt, seed: &[u8]) {
    let mut h = [0; 114];
    Shake256::digest_into(seed, &mut h);
    hunt.bytes("the Ed448 seed", seed);
    hunt.bytes("the Ed448 scalar", &h[1..55]);
    hunt.bytes("the Ed448 prefix", &h[57..]);
}

/// Adds a scalar, which is big-endian in keys and little-endian in computations.
pub fn scalar(hunt: &mut Hunt, bytes: &[u8]) {
    hunt.bytes("the scalar", bytes);
    hunt.bytes("the scalar, turned round", &bytes.iter().rev().copied().collect::<Vec<u8>>());
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
