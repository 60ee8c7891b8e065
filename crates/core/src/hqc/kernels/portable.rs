//! Plain Rust, for every target.

use super::Kernels;
use crate::cpu::Level;
use crate::hqc::product::{self, Digits};
use crate::hqc::{reed_muller, support};

pub(super) static PORTABLE: Kernels = Kernels {
    level: Level::Portable,
    multiply: |params, out, a, b, scratch| product::multiply::<Digit>(params, out, a, b, scratch),
    sample: |params, words, bytes| super::sample(params, words, bytes, support::write),
    write: |words, positions, weight| support::write(words, positions, weight),
    encode: |params, codeword, message| super::encode(params, codeword, message),
    decode: |params, received, message| super::decode(params, received, message, reed_muller::decode),
};

/// The low and the high word.
#[derive(Clone, Copy)]
struct Digit([u64; 2]);

impl Digits for Digit {
    const LANES: usize = 1;

    #[inline(always)]
    fn zero() -> Self {
        Self([0; 2])
    }

    #[inline(always)]
    fn gather(words: &[u64], _stride: usize) -> Self {
        Self([words[0], words[1]])
    }

    #[inline(always)]
    fn scatter(self, words: &mut [u64], _stride: usize) {
        words[..2].copy_from_slice(&self.0);
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }

    #[inline(always)]
    fn multiply_low(self, other: Self) -> Self {
        Self(multiply_64(self.0[0], other.0[0]))
    }

    #[inline(always)]
    fn multiply_high(self, other: Self) -> Self {
        Self(multiply_64(self.0[1], other.0[1]))
    }

    #[inline(always)]
    fn fold(self) -> Self {
        Self([self.0[0] ^ self.0[1]; 2])
    }

    #[inline(always)]
    fn up(self) -> Self {
        Self([0, self.0[0]])
    }

    #[inline(always)]
    fn down(self) -> Self {
        Self([self.0[1], 0])
    }
}

/// The product of polynomials of 64 bits, from three of 32.
#[inline(never)]
fn multiply_64(a: u64, b: u64) -> [u64; 2] {
    let halves = |x: u64| [x as u32, (x >> 32) as u32];
    let ([a_0, a_1], [b_0, b_1]) = (halves(a), halves(b));
    let (low, high) = (multiply_32(a_0, b_0), multiply_32(a_1, b_1));
    let middle = multiply_32(a_0 ^ a_1, b_0 ^ b_1) ^ low ^ high;
    [low ^ middle << 32, high ^ middle >> 32]
}

/// The product of polynomials of 32 bits by integer products of every fourth bit: at most eight ones meet in a place of the sum, so no carry
/// reaches the next fourth bit. In constant time where the processor's product of 32 by 32 bits is.
#[inline(always)]
fn multiply_32(a: u32, b: u32) -> u64 {
    const FOURTH: u32 = 0x1111_1111;
    let part = |x: u32, i: u32| u64::from(x & FOURTH << i);
    let mut sum = 0;
    for place in 0..4 {
        let mut products = 0;
        for i in 0..4 {
            products ^= part(a, i).wrapping_mul(part(b, (place + 4 - i) & 3));
        }
        sum |= products & 0x1111_1111_1111_1111 << place;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_words_is_the_sum_of_shifted_ones() {
        let mut random = crate::sha3::Shake128::new().update(b"words").finalize_xof();
        for i in 0..300 {
            let mut bytes = [0; 16];
            random.squeeze(&mut bytes);
            let [mut a, b] = *bytes.as_chunks().0 else { unreachable!() };
            if i & 1 == 0 {
                a = [0xff; 8];
            }
            let (a, b) = (u64::from_le_bytes(a), u64::from_le_bytes(b) | if i == 0 { u64::MAX } else { 0 });
            let expected =
                (0..64).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ u128::from(a) << bit);
            assert_eq!(multiply_64(a, b), [expected as u64, (expected >> 64) as u64]);
        }
    }
}
