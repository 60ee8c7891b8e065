//! Key generation and signing as FIPS 204 writes them, coefficient by coefficient, with faults of the mask that leave a signature valid.

#![allow(dead_code)] // Two programs of tests use it, each a part.

use gambeson::sha3::{Shake128, Shake256};

const Q: i64 = 8_380_417;

type Poly = Vec<i64>;

/// FIPS 204, Table 1.
#[derive(Clone, Copy)]
pub struct Set {
    k: usize,
    l: usize,
    eta: i64,
    pub tau: usize,
    pub c_tilde: usize,
    gamma1_log: usize,
    pub gamma2: i64,
    omega: usize,
}

impl Set {
    /// A bound of ‖c·t0‖∞.
    pub const fn most_of_ct0(&self) -> i64 {
        (self.tau as i64) << 12
    }
}

#[rustfmt::skip]
pub const ML_DSA_44: Set =
    Set { k: 4, l: 4, eta: 2, tau: 39, c_tilde: 32, gamma1_log: 17, gamma2: (Q - 1) / 88, omega: 80 };
#[rustfmt::skip]
pub const ML_DSA_65: Set =
    Set { k: 6, l: 5, eta: 4, tau: 49, c_tilde: 48, gamma1_log: 19, gamma2: (Q - 1) / 32, omega: 55 };
#[rustfmt::skip]
pub const ML_DSA_87: Set =
    Set { k: 8, l: 7, eta: 2, tau: 60, c_tilde: 64, gamma1_log: 19, gamma2: (Q - 1) / 32, omega: 75 };

/// The end of an attempt at signing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attempt {
    Accepted,
    /// ‖r0‖∞ ≥ γ2 - β.
    LowBits,
    /// ‖z‖∞ ≥ γ1 - β.
    Response,
    /// ‖c·t0‖∞ ≥ γ2.
    T0,
    /// More than ω ones in the hint.
    Hint,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Fault {
    None,
    /// The second half of each polynomial is its first half.
    RepeatedHalf,
    /// Every second polynomial is the one before it.
    RepeatedPolynomial,
    /// The masks do not depend on ρ″, so all messages have the same.
    SharedByMessages,
}

/// A private key: Â row by row, and the vectors of R_q.
pub struct Key {
    set: Set,
    a_hat: Vec<Vec<Poly>>,
    k: [u8; 32],
    s1: Vec<Poly>,
    s2: Vec<Poly>,
    t0: Vec<Poly>,
}

fn h(parts: &[&[u8]], length: usize) -> Vec<u8> {
    let (mut hasher, mut out) = (Shake256::new(), vec![0; length]);
    parts.iter().for_each(|part| _ = hasher.update(part));
    hasher.finalize_xof().squeeze(&mut out);
    out
}

/// The numbers of `width` bits, least significant bit first.
fn unpack(bytes: &[u8], width: usize) -> impl Iterator<Item = i64> {
    let bit = |i: usize| i64::from(bytes[i / 8] >> (i % 8) & 1);
    (0..bytes.len() * 8 / width).map(move |n| (0..width).map(|i| bit(n * width + i) << i).sum())
}

fn pack(numbers: impl Iterator<Item = i64>, width: usize) -> Vec<u8> {
    let bits: Vec<i64> = numbers.flat_map(|number| (0..width).map(move |i| number >> i & 1)).collect();
    bits.chunks(8).map(|bits| (0..).zip(bits).map(|(i, bit)| (*bit as u8) << i).sum()).collect()
}

/// Polynomials of `width` bits a coefficient, `high` - c.
fn vector(bytes: &[u8], width: usize, high: i64) -> Vec<Poly> {
    bytes.chunks(32 * width).map(|bytes| unpack(bytes, width).map(|x| high - x).collect()).collect()
}

/// ζ^BitRev8(m).
fn zeta(m: usize) -> i64 {
    const POWERS: [i64; 256] = {
        let (mut powers, mut i) = ([1; 256], 1);
        while i < 256 {
            powers[i] = powers[i - 1] * 1753 % Q;
            i += 1;
        }
        powers
    };
    POWERS[usize::from((m as u8).reverse_bits())]
}

/// FIPS 204, Algorithm 41 (NTT).
fn ntt(w: &Poly) -> Poly {
    let (mut w, mut m) = (w.clone(), 0);
    for len in [128, 64, 32, 16, 8, 4, 2, 1] {
        for start in (0..256).step_by(2 * len) {
            m += 1;
            let z = zeta(m);
            for j in start..start + len {
                let t = z * w[j + len] % Q;
                (w[j], w[j + len]) = ((w[j] + t) % Q, (w[j] - t) % Q);
            }
        }
    }
    w
}

/// FIPS 204, Algorithm 42 (NTT^-1).
fn inverse_ntt(w: &Poly) -> Poly {
    let (mut w, mut m) = (w.clone(), 256);
    for len in [1, 2, 4, 8, 16, 32, 64, 128] {
        for start in (0..256).step_by(2 * len) {
            m -= 1;
            let z = -zeta(m);
            for j in start..start + len {
                let t = w[j];
                (w[j], w[j + len]) = ((t + w[j + len]) % Q, z * (t - w[j + len]) % Q);
            }
        }
    }
    w.iter().map(|c| c * 8_347_681 % Q).collect()
}

/// The representative mod± q.
fn centered(x: i64) -> i64 {
    let x = x.rem_euclid(Q);
    if x > Q / 2 { x - Q } else { x }
}

/// a + sign·b, mod± q.
fn add(a: &Poly, b: &Poly, sign: i64) -> Poly {
    a.iter().zip(b).map(|(a, b)| centered(a + sign * b)).collect()
}

fn is_below(p: &[Poly], bound: i64) -> bool {
    p.iter().flatten().all(|c| c.abs() < bound)
}

/// FIPS 204, Algorithm 30 (RejNTTPoly), of an entry of the matrix: candidate by candidate.
fn sample_a(rho: &[u8], row: usize, column: usize) -> Poly {
    let mut squeeze = Shake128::new().update(rho).update(&[column as u8, row as u8]).finalize_xof();
    let candidates = std::iter::repeat_with(|| {
        let mut bytes = [0; 4];
        squeeze.squeeze(&mut bytes[..3]);
        i64::from(u32::from_le_bytes(bytes) & 0x7f_ffff)
    });
    candidates.filter(|z| *z < Q).take(256).collect()
}

/// FIPS 204, Algorithm 31 (RejBoundedPoly): the accepted half bytes in their order.
fn sample_s(rho_prime: &[u8], place: usize, eta: i64) -> Poly {
    let bytes = h(&[rho_prime, &(place as u16).to_le_bytes()], 600);
    let halves = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]).map(i64::from);
    let accepted = halves.filter_map(|half| match eta {
        2 => (half < 15).then_some(2 - half % 5),
        _ => (half < 9).then_some(4 - half),
    });
    let s: Poly = accepted.take(256).collect();
    assert_eq!(s.len(), 256, "600 bytes are enough");
    s
}

/// The sum of products in T_q.
fn inner_product(a: &[Poly], b: &[Poly]) -> Poly {
    (0..256).map(|n| a.iter().zip(b).map(|(a, b)| a[n] * b[n] % Q).sum::<i64>() % Q).collect()
}

impl Key {
    /// FIPS 204, Algorithm 25 (skDecode), and Algorithm 32 (ExpandA).
    pub fn decode(set: Set, sk: &[u8]) -> Self {
        let Set { k, l, eta, .. } = set;
        let width = if eta == 2 { 3 } else { 4 };
        let (s, t0) = sk[128..].split_at((k + l) * 32 * width);
        let mut s1 = vector(s, width, eta);
        let s2 = s1.split_off(l);
        let a_hat =
            (0..k).map(|row| (0..l).map(|column| sample_a(&sk[..32], row, column)).collect()).collect();
        let k = sk[32..64].try_into().expect("32 bytes");
        Self { set, a_hat, k, s1, s2, t0: vector(t0, 13, 1 << 12) }
    }

    /// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal): sk and pk.
    pub fn generate(set: Set, seed: &[u8; 32]) -> (Vec<u8>, Vec<u8>) {
        let Set { k, l, eta, .. } = set;
        let seeds = h(&[seed, &[k as u8, l as u8]], 128);
        let (rho, rest) = seeds.split_at(32);
        let (rho_prime, key) = rest.split_at(64);
        let s: Vec<Poly> = (0..l + k).map(|place| sample_s(rho_prime, place, eta)).collect();
        let s1_hat: Vec<Poly> = s[..l].iter().map(ntt).collect();
        let (mut t0, mut t1) = (Vec::new(), Vec::new());
        for (row, s2) in s[l..].iter().enumerate() {
            let a: Vec<Poly> = (0..l).map(|column| sample_a(rho, row, column)).collect();
            for t in add(&inverse_ntt(&inner_product(&a, &s1_hat)), s2, 1) {
                let t = t.rem_euclid(Q);
                // FIPS 204, Algorithm 35 (Power2Round).
                let low = t - ((t + (1 << 12) - 1) >> 13 << 13);
                t0.push((1 << 12) - low);
                t1.push((t - low) >> 13);
            }
        }
        let pk = [rho, &pack(t1.into_iter(), 10)].concat();
        let s = pack(s.iter().flatten().map(|s| eta - s), if eta == 2 { 3 } else { 4 });
        ([rho, key, &h(&[&pk], 64), &s, &pack(t0.into_iter(), 13)].concat(), pk)
    }

    /// FIPS 204, Algorithm 29 (SampleInBall).
    pub fn challenge(&self, c_tilde: &[u8]) -> Poly {
        let bytes = h(&[c_tilde], 1000);
        let (signs, mut bytes) = (u64::from_le_bytes(bytes[..8].try_into().expect("8")), bytes[8..].iter());
        let mut c = vec![0; 256];
        for (n, i) in (256 - self.set.tau..256).enumerate() {
            let j = bytes.by_ref().map(|j| usize::from(*j)).find(|j| *j <= i).expect("1000 are enough");
            c[i] = c[j];
            c[j] = 1 - 2 * (signs >> n & 1) as i64;
        }
        c
    }

    /// c times each polynomial, mod± q.
    fn times(c: &Poly, vector: &[Poly]) -> Vec<Poly> {
        let c = ntt(c);
        let product = |p: &Poly| ntt(p).iter().zip(&c).map(|(p, c)| p * c % Q).collect();
        vector.iter().map(|p| inverse_ntt(&product(p)).into_iter().map(centered).collect()).collect()
    }

    /// FIPS 204, Algorithm 36 (Decompose): r1 and r0.
    fn decompose(&self, r: i64) -> (i64, i64) {
        let (r, two) = (r.rem_euclid(Q), 2 * self.set.gamma2);
        let r0 = if r % two > two / 2 { r % two - two } else { r % two };
        if r - r0 == Q - 1 { (0, r0 - 1) } else { ((r - r0) / two, r0) }
    }

    /// FIPS 204, Algorithm 34 (ExpandMask), with the fault.
    fn masks(&self, rho_second: &[u8], kappa: usize, fault: Fault) -> Vec<Poly> {
        let rho_second = if fault == Fault::SharedByMessages { &[7; 64] } else { rho_second };
        let width = 1 + self.set.gamma1_log;
        let one = |column: usize| {
            let column = if fault == Fault::RepeatedPolynomial { column / 2 } else { column };
            let mut packed = h(&[rho_second, &((kappa + column) as u16).to_le_bytes()], 32 * width);
            if fault == Fault::RepeatedHalf {
                packed.copy_within(..16 * width, 16 * width);
            }
            unpack(&packed, width).map(|x| (1 << self.set.gamma1_log) - x).collect()
        };
        (0..self.set.l).map(one).collect()
    }

    /// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), of μ, with rnd of zeros; and how the attempts ended.
    pub fn sign(&self, mu: &[u8; 64], fault: Fault) -> (Vec<u8>, Vec<Attempt>) {
        let Set { l, eta, tau, c_tilde, gamma1_log, gamma2, omega, .. } = self.set;
        let (beta, gamma1) = (tau as i64 * eta, 1 << gamma1_log);
        let rho_second = h(&[&self.k, &[0; 32], mu], 64);
        let mut attempts = Vec::new();
        for kappa in (0..).step_by(l) {
            let y = self.masks(&rho_second, kappa, fault);
            let y_hat: Vec<Poly> = y.iter().map(ntt).collect();
            let w: Vec<Poly> = self.a_hat.iter().map(|a| inverse_ntt(&inner_product(a, &y_hat))).collect();
            let width = if gamma2 == (Q - 1) / 88 { 6 } else { 4 };
            let w1 = pack(w.iter().flatten().map(|r| self.decompose(*r).0), width);
            let c_tilde = h(&[mu, &w1], c_tilde);
            let c = self.challenge(&c_tilde);
            let sums = |a: &[Poly], b: &[Poly], sign| -> Vec<Poly> {
                a.iter().zip(b).map(|(a, b)| add(a, b, sign)).collect()
            };
            let z = sums(&y, &Self::times(&c, &self.s1), 1);
            let r = sums(&w, &Self::times(&c, &self.s2), -1);
            let r0: Poly = r.iter().flatten().map(|r| self.decompose(*r).1).collect();
            let ct0 = Self::times(&c, &self.t0);
            let high = |r: &[Poly]| -> Vec<Poly> {
                r.iter().map(|r| r.iter().map(|r| self.decompose(*r).0).collect()).collect()
            };
            let (without, with) = (high(&r), high(&sums(&r, &ct0, 1)));
            let (mut hint, mut ends) = (Vec::new(), Vec::new());
            for (without, with) in without.iter().zip(&with) {
                hint.extend((0..=255u8).filter(|n| without[usize::from(*n)] != with[usize::from(*n)]));
                ends.push(hint.len() as u8);
            }
            attempts.push(match () {
                () if !is_below(&[r0], gamma2 - beta) => Attempt::LowBits,
                () if !is_below(&z, gamma1 - beta) => Attempt::Response,
                () if !is_below(&ct0, gamma2) => Attempt::T0,
                () if hint.len() > omega => Attempt::Hint,
                () => Attempt::Accepted,
            });
            if attempts.last() != Some(&Attempt::Accepted) {
                continue;
            }
            hint.resize(omega, 0);
            let z = pack(z.iter().flatten().map(|z| gamma1 - z), 1 + gamma1_log);
            return ([c_tilde, z, hint, ends].concat(), attempts);
        }
        unreachable!("an attempt passes")
    }

    /// The coefficients of y = z - c·s1 of a signature, polynomial after polynomial.
    pub fn mask(&self, signature: &[u8]) -> Vec<i64> {
        let Set { l, c_tilde, gamma1_log, .. } = self.set;
        let (c_tilde, rest) = signature.split_at(c_tilde);
        let width = 1 + gamma1_log;
        let z = vector(&rest[..l * 32 * width], width, 1 << gamma1_log);
        let cs1 = Self::times(&self.challenge(c_tilde), &self.s1);
        z.iter().zip(&cs1).flat_map(|(z, cs1)| add(z, cs1, -1)).collect()
    }
}
