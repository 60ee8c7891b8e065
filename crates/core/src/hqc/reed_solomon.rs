//! The outer code: the shortened Reed–Solomon code over GF(2^8), the polynomials over GF(2) modulo X^8 + X^4 + X^3 + X^2 + 1.
//!
//! A word holds eight elements; what is done is done to all of them. Nothing is looked up, and no step depends on what was received: the key
//! equation is solved by the inversionless Berlekamp–Massey algorithm in its systolic form (Sarwate and Shanbhag, riBM), its solution is evaluated at
//! every place of a codeword, and the value of an error is computed at all of them.

use crate::secret::{barrier, mask_nonzero};

/// The last byte of every word.
const ONES: u64 = 0x0101_0101_0101_0101;
/// Words of the places of a codeword at most.
const PLACES: usize = 12;
/// Words of the syndromes at most.
const SYNDROMES: usize = 8;

/// Elements and their products with X^0 to X^7.
type Multiples<const N: usize> = [[u64; N]; 8];

/// The constants of a code.
#[derive(Debug)]
pub(super) struct Code {
    /// Symbols of a codeword, and of a message.
    n: usize,
    k: usize,
    /// The generator polynomial without its highest coefficient.
    generator: Multiples<SYNDROMES>,
    /// α^(i + 1), for syndrome i.
    roots: Multiples<SYNDROMES>,
    /// α^-j, its square and α^-2tj, for place j.
    places: Multiples<PLACES>,
    squares: Multiples<PLACES>,
    scales: Multiples<PLACES>,
}

const fn times_x(a: u8) -> u8 {
    (a << 1) ^ (0x1d * (a >> 7))
}

/// α^e, where α = X.
const fn power(mut e: usize) -> u8 {
    let mut a = 1;
    while e > 0 {
        a = times_x(a);
        e -= 1;
    }
    a
}

const fn product(mut a: u8, b: u8) -> u8 {
    let (mut c, mut i) = (0, 0);
    while i < 8 {
        c ^= a * (b >> i & 1);
        a = times_x(a);
        i += 1;
    }
    c
}

const fn multiples<const N: usize>(elements: &[u8; 96]) -> Multiples<N> {
    let (mut all, mut i) = ([[0; N]; 8], 0);
    while i < 8 * N {
        let (mut a, mut bit) = (elements[i], 0);
        while bit < 8 {
            all[bit][i >> 3] |= (a as u64) << (8 * (i & 7));
            a = times_x(a);
            bit += 1;
        }
        i += 1;
    }
    all
}

impl Code {
    pub(super) const fn new(n: usize, k: usize) -> Self {
        let parity = n - k;
        assert!(n <= 8 * PLACES && parity <= 8 * SYNDROMES && parity & 1 == 0);
        // The product of X - α^i for i from 1 on.
        let mut generator = [0; 96];
        generator[0] = 1;
        let mut i = 1;
        while i <= parity {
            let (root, mut j) = (power(i), i);
            while j > 0 {
                generator[j] = generator[j - 1] ^ product(generator[j], root);
                j -= 1;
            }
            generator[0] = product(generator[0], root);
            i += 1;
        }
        assert!(generator[parity] == 1);
        generator[parity] = 0;
        let mut roots = [0; 96];
        let mut i = 0;
        while i < parity {
            roots[i] = power(i + 1);
            i += 1;
        }
        let (mut places, mut squares, mut scales) = ([0; 96], [0; 96], [0; 96]);
        let mut j = 0;
        while j < n {
            places[j] = power(255 - j);
            squares[j] = product(places[j], places[j]);
            let (mut scale, mut i) = (1, 0);
            while i < parity {
                scale = product(scale, places[j]);
                i += 1;
            }
            scales[j] = scale;
            j += 1;
        }
        Self {
            n,
            k,
            generator: multiples(&generator),
            roots: multiples(&roots),
            places: multiples(&places),
            squares: multiples(&squares),
            scales: multiples(&scales),
        }
    }

    const fn parity(&self) -> usize {
        self.n - self.k
    }

    /// The codeword of the message that stands in the last k symbols of `codeword`: the first n - k become those of the division by the
    /// generator polynomial.
    #[inline(always)]
    pub(super) fn encode(&self, codeword: &mut [u8]) {
        let (parity, message) = codeword.split_at_mut(self.parity());
        let mut remainder = [0_u64; SYNDROMES];
        let last = parity.len() - 1;
        for symbol in message.iter().rev() {
            let gate = u32::from(*symbol ^ element(&remainder, last));
            for i in (1..SYNDROMES).rev() {
                remainder[i] = remainder[i] << 8 | remainder[i - 1] >> 56;
            }
            remainder[0] <<= 8;
            for (bit, multiple) in self.generator.iter().enumerate() {
                let mask = mask_of_bit(gate, bit as u32);
                for (word, multiple) in remainder.iter_mut().zip(multiple) {
                    *word ^= multiple & mask;
                }
            }
        }
        for (i, symbol) in parity.iter_mut().enumerate() {
            *symbol = element(&remainder, i);
        }
    }

    /// Corrects up to (n - k)/2 symbols of a codeword. Of one with more errors anything becomes.
    #[inline(always)]
    pub(super) fn correct(&self, codeword: &mut [u8]) {
        if self.parity() <= 32 {
            self.correct_in::<4, 8>(codeword);
        } else {
            self.correct_in::<8, 12>(codeword);
        }
    }

    /// Corrects, with so many words of syndromes, and of the key equation and of the places.
    #[inline(always)]
    fn correct_in<const S: usize, const P: usize>(&self, codeword: &mut [u8]) {
        let t = self.parity() >> 1;
        // Syndrome i is the value at α^(i + 1).
        let mut syndromes = [0; S];
        for symbol in codeword.iter().rev() {
            syndromes = times(&syndromes, &self.roots);
            add_to_all(&mut syndromes, *symbol);
        }
        mask_behind(&mut syndromes, self.parity());
        let solution: [u64; P] = solve(&syndromes, t);
        // Λ(x) = even(x²) + x·odd(x²), and its derivative is odd(x²); both at x = α^-j for every place j.
        let (mut even, mut odd, mut omega) = ([0; P], [0; P], [0; P]);
        for i in (0..=t >> 1).rev() {
            even = times(&even, &self.squares);
            odd = times(&odd, &self.squares);
            add_to_all(&mut even, element(&solution, t + 2 * i));
            if 2 * i < t {
                add_to_all(&mut odd, element(&solution, t + 2 * i + 1));
            }
        }
        for i in (0..t).rev() {
            omega = times(&omega, &self.places);
            add_to_all(&mut omega, element(&solution, i));
        }
        let other = times(&odd, &self.places);
        let mut errors = product_of(&times(&omega, &self.scales), &inverse(&odd));
        for ((error, even), other) in errors.iter_mut().zip(&even).zip(&other) {
            *error &= !mask_of_nonzero(even ^ other);
        }
        for (i, symbol) in codeword.iter_mut().enumerate() {
            *symbol ^= element(&errors, i);
        }
    }
}

/// All ones if the bit is set.
#[inline(always)]
fn mask_of_bit(x: u32, bit: u32) -> u64 {
    // Behind the barrier the compiler does not know that there is but one bit, of which it would make a branch.
    u64::from(barrier(x >> bit & 1)).wrapping_neg()
}

/// All ones in each byte whose bit is set.
#[inline(always)]
fn masks_of_bit(x: u64, bit: usize) -> u64 {
    let ones = x >> bit & ONES;
    (ones << 8).wrapping_sub(ones)
}

/// All ones in each byte that is not zero.
#[inline(always)]
fn mask_of_nonzero(x: u64) -> u64 {
    let low = 0x7f * ONES;
    masks_of_bit(((x & low) + low) | x, 7)
}

/// Each element times X.
#[inline(always)]
fn doubled(x: u64) -> u64 {
    let high = x & (0x80 * ONES);
    (x ^ high) << 1 ^ high >> 7 ^ high >> 5 ^ high >> 4 ^ high >> 3
}

/// Element i.
#[inline(always)]
fn element<const N: usize>(elements: &[u64; N], i: usize) -> u8 {
    (elements[i >> 3] >> (8 * (i & 7))) as u8
}

#[inline(always)]
fn add_to_all<const N: usize>(elements: &mut [u64; N], symbol: u8) {
    let all = u64::from(symbol) * ONES;
    for word in elements {
        *word ^= all;
    }
}

/// Zeros in the elements from `len` on.
#[inline(always)]
fn mask_behind<const N: usize>(elements: &mut [u64; N], len: usize) {
    for (i, word) in elements.iter_mut().enumerate() {
        let kept = (8 * len).saturating_sub(64 * i);
        *word &= 1_u64.checked_shl(kept as u32).map_or(u64::MAX, |bound| bound - 1);
    }
}

/// Each element times a constant.
#[inline(always)]
fn times<const N: usize, const M: usize>(elements: &[u64; N], constants: &Multiples<M>) -> [u64; N] {
    const { assert!(N <= M) };
    // Loops, for closures would be compiled without the caller's instructions.
    let mut sums = [0; N];
    for (bit, multiple) in constants.iter().enumerate() {
        for i in 0..N {
            sums[i] ^= masks_of_bit(elements[i], bit) & multiple[i];
        }
    }
    sums
}

/// The products of pairs of elements.
#[inline(always)]
fn product_of<const N: usize>(a: &[u64; N], b: &[u64; N]) -> [u64; N] {
    let mut sums = [0; N];
    for bit in (0..8).rev() {
        for i in 0..N {
            sums[i] = doubled(sums[i]) ^ a[i] & masks_of_bit(b[i], bit);
        }
    }
    sums
}

/// Each element to the power of 2^times.
#[inline(always)]
fn squared<const N: usize>(x: &[u64; N], times: u32) -> [u64; N] {
    let mut power = *x;
    for _ in 0..times {
        power = product_of(&power, &power);
    }
    power
}

/// The inverses of the elements, x^254; zero of zero.
#[inline(always)]
fn inverse<const N: usize>(x: &[u64; N]) -> [u64; N] {
    let x2 = squared(x, 1);
    let x3 = product_of(&x2, x);
    let x12 = squared(&x3, 2);
    let x15 = product_of(&x12, &x3);
    let x240 = squared(&x15, 4);
    product_of(&product_of(&x240, &x12), &x2)
}

/// The key equation: t coefficients of Ω, of which S(x)·Λ(x) = … + x^2t·Ω(x), then the t + 1 of Λ.
///
/// Sarwate and Shanbhag, "High-speed architectures for Reed–Solomon decoders", the algorithm riBM.
#[inline(always)]
fn solve<const S: usize, const L: usize>(syndromes: &[u64; S], t: usize) -> [u64; L] {
    let mut delta = [0; L];
    delta[..S].copy_from_slice(syndromes);
    let last = 3 * t;
    delta[last >> 3] |= 1 << (8 * (last & 7));
    let mut theta = delta;
    let (mut gamma, mut degree) = (1_u32, 0_u32);
    for _ in 0..2 * t {
        let discrepancy = (delta[0] & 0xff) as u32;
        let mut shifted = [0; L];
        for i in 0..L {
            let next = if i + 1 < L { delta[i + 1] } else { 0 };
            shifted[i] = delta[i] >> 8 | next << 56;
        }
        // γ·δ + δ_0·θ.
        let mut next = [0; L];
        for bit in (0..8).rev() {
            let (by_gamma, by_discrepancy) = (mask_of_bit(gamma, bit), mask_of_bit(discrepancy, bit));
            for i in 0..L {
                next[i] = doubled(next[i]) ^ shifted[i] & by_gamma ^ theta[i] & by_discrepancy;
            }
        }
        // The discrepancy is not zero, and the degree, of 32 bits with a sign, is not negative.
        let exchange = mask_nonzero(discrepancy) & !barrier((degree as i32 >> 31) as u32);
        let wide = u64::from(exchange) | u64::from(exchange) << 32;
        for (theta, shifted) in theta.iter_mut().zip(&shifted) {
            *theta ^= (*theta ^ shifted) & wide;
        }
        gamma ^= (gamma ^ discrepancy) & exchange;
        // -degree - 1 = !degree.
        degree = (degree ^ exchange).wrapping_add(exchange.wrapping_add(1));
        delta = next;
    }
    delta
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hqc::ParameterSet;
    use crate::sha3::Shake128;
    use std::vec;

    #[test]
    fn every_number_of_errors_up_to_the_bound_is_corrected() {
        let mut random = Shake128::new().update(b"reed-solomon").finalize_xof();
        for set in ParameterSet::ALL {
            let code = set.params.code;
            let mut corrected = 0;
            for errors in 0..=code.parity() >> 1 {
                for _ in 0..4 {
                    let mut codeword = vec![0; code.n];
                    random.squeeze(&mut codeword[code.n - code.k..]);
                    code.encode(&mut codeword);
                    let mut received = codeword.clone();
                    let mut left = errors;
                    while left > 0 {
                        let mut draw = [0; 2];
                        random.squeeze(&mut draw);
                        let place = usize::from(draw[0] & 127);
                        if place < code.n && draw[1] != 0 && received[place] == codeword[place] {
                            received[place] ^= draw[1];
                            left -= 1;
                        }
                    }
                    code.correct(&mut received);
                    assert_eq!(received, codeword, "{set} {errors}");
                    corrected += 1;
                }
            }
            assert_eq!(corrected, 4 * (1 + (code.parity() >> 1)));
        }
    }

    #[test]
    fn codewords_are_zero_at_every_root_of_the_generator() {
        for set in ParameterSet::ALL {
            let code = set.params.code;
            let mut codeword = vec![0; code.n];
            for (i, symbol) in codeword[code.n - code.k..].iter_mut().enumerate() {
                *symbol = 7 * i as u8 + 1;
            }
            code.encode(&mut codeword);
            for root in 1..=code.parity() {
                let at = power(root);
                assert_eq!(codeword.iter().rev().fold(0, |sum, symbol| product(sum, at) ^ symbol), 0);
            }
            assert_ne!(codeword.iter().rev().fold(0, |sum, symbol| product(sum, 1) ^ symbol), 0);
        }
    }

    #[test]
    fn each_lane_has_the_product_and_the_inverse_of_the_field() {
        for a in 0..=u8::MAX {
            let inverted = inverse(&[u64::from(a) * ONES])[0];
            assert_eq!(product(a, inverted as u8), u8::from(a != 0));
            assert_eq!(inverted, u64::from(inverted as u8) * ONES);
            assert_eq!(mask_of_nonzero(u64::from(a) << 24), if a == 0 { 0 } else { 0xff << 24 });
            for b in 0..=u8::MAX {
                let pair = [u64::from_le_bytes([a, b, 0, 1, a, 3, b, 255])];
                let other = [u64::from_le_bytes([b, a, 5, b, 255, a, a, 255])];
                let expected =
                    core::array::from_fn(|i| product(pair[0].to_le_bytes()[i], other[0].to_le_bytes()[i]));
                assert_eq!(product_of(&pair, &other)[0].to_le_bytes(), expected);
            }
        }
    }
}
