//! The operations that have fast paths, one table for each instruction set. `portable` is the specification of the rest.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
mod portable;

use super::params::{MAX_K, Params};
use super::reed_muller;
use super::support::{self, Positions};
use crate::cpu::{self, Level};

/// A product to `out`, with its factors and the words that it works in.
pub(super) type Multiply = fn(params: &Params, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]);

/// One table.
pub(super) struct Kernels {
    pub level: Level,
    /// a·b modulo X^n - 1, of padded polynomials below X^n; works in `product::scratch_len` words.
    pub multiply: Multiply,
    /// The vector of weight `bytes.len()/4` that Sendrier's sampler makes of the bytes.
    pub sample: fn(params: &Params, words: &mut [u64], bytes: &[u8]),
    /// The vector with these positions, of so many.
    pub write: fn(words: &mut [u64], positions: &Positions, weight: usize),
    /// The codeword of a message.
    pub encode: fn(params: &Params, codeword: &mut [u64], message: &[u8]),
    /// The message of the codeword that is nearest, or of any if none is near.
    pub decode: fn(params: &Params, received: &[u64], message: &mut [u8]),
}

/// The table in force.
pub(super) fn active() -> &'static Kernels {
    match cpu::level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if avx512::is_detected() => &avx512::AVX512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 if avx2::is_detected() => &avx2::AVX2,
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        Level::Neon if neon::is_detected() => &neon::NEON,
        _ => &portable::PORTABLE,
    }
}

/// Symbols of a codeword at most.
const MAX_SYMBOLS: usize = 90;

#[inline(always)]
fn sample(params: &Params, words: &mut [u64], bytes: &[u8], write: impl Fn(&mut [u64], &Positions, usize)) {
    let mut positions = crate::secret::Secret::new([[0; 16]; 10]);
    support::positions_of(params.n as u32, bytes, positions.expose_mut());
    write(words, positions.expose(), bytes.len() >> 2);
}

#[inline(always)]
fn encode(params: &Params, codeword: &mut [u64], message: &[u8]) {
    let mut symbols = crate::secret::Secret::new([0; MAX_SYMBOLS]);
    let symbols = &mut symbols.expose_mut()[..params.symbols];
    symbols[params.symbols - params.k..].copy_from_slice(message);
    params.code.encode(symbols);
    for (copies, symbol) in codeword.as_chunks_mut::<2>().0.chunks_exact_mut(params.copies).zip(symbols) {
        copies.fill(reed_muller::encode(*symbol));
    }
}

#[inline(always)]
fn decode(params: &Params, received: &[u64], message: &mut [u8], inner: impl Fn(&[[u64; 2]]) -> u8) {
    let mut symbols = crate::secret::Secret::new([0; MAX_SYMBOLS]);
    let symbols = &mut symbols.expose_mut()[..params.symbols];
    for (symbol, copies) in symbols.iter_mut().zip(received.as_chunks().0.chunks_exact(params.copies)) {
        *symbol = inner(copies);
    }
    params.code.correct(symbols);
    debug_assert!(message.len() == params.k && params.k <= MAX_K);
    message.copy_from_slice(&symbols[params.symbols - params.k..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hqc::ParameterSet;
    use crate::hqc::product::scratch_len;
    use crate::hqc::support::NONE;
    use crate::sha3::{Shake128, Squeeze};
    use std::vec;
    use std::vec::Vec;

    /// Every table that this machine can run.
    fn tables() -> Vec<&'static Kernels> {
        let mut tables = vec![&portable::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            if cpu::detected() >= Level::Avx2 && avx2::is_detected() {
                tables.push(&avx2::AVX2);
            }
            if cpu::detected() >= Level::Avx512 && avx512::is_detected() {
                tables.push(&avx512::AVX512);
            }
        }
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        if neon::is_detected() {
            tables.push(&neon::NEON);
        }
        tables
    }

    fn random(text: &str) -> Squeeze {
        Shake128::new().update(text.as_bytes()).finalize_xof()
    }

    fn words(random: &mut Squeeze, len: usize) -> Vec<u64> {
        let mut bytes = vec![0; 8 * len];
        random.squeeze(&mut bytes);
        bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
    }

    /// A vector of n bits, of which `all` makes every one set.
    fn vector(random: &mut Squeeze, params: &Params, all: bool) -> Vec<u64> {
        let mut vector = words(random, params.shape.words());
        if all {
            vector.fill(u64::MAX);
        }
        vector[params.n >> 6] &= (1 << (params.n & 63)) - 1;
        vector[(params.n >> 6) + 1..].fill(0);
        vector
    }

    /// a·b modulo X^n - 1, by the definition: the sum of rotations of a.
    fn slow_product(params: &Params, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (n, bit) = (params.n, |words: &[u64], i: usize| words[i >> 6] >> (i & 63) & 1);
        let mut product = vec![0; params.shape.words()];
        for shift in (0..n).filter(|shift| bit(b, *shift) == 1) {
            for i in (0..n).filter(|i| bit(a, *i) == 1) {
                let place = if i + shift < n { i + shift } else { i + shift - n };
                product[place >> 6] ^= 1 << (place & 63);
            }
        }
        product
    }

    #[test]
    fn the_product_of_sparse_vectors_is_the_sum_of_rotations() {
        for set in ParameterSet::ALL {
            let (params, mut random) = (set.params, random("rotations"));
            let a = vector(&mut random, params, false);
            let mut b = vec![0; a.len()];
            for place in words(&mut random, 40)
                .iter()
                .map(|word| ((u128::from(*word) * params.n as u128) >> 64) as usize)
            {
                b[place >> 6] |= 1 << (place & 63);
            }
            // The ends, which wrap around.
            b[0] |= 3;
            b[params.n >> 6] |= 1 << ((params.n & 63) - 1);
            let expected = slow_product(params, &a, &b);
            for table in tables() {
                let (mut out, mut scratch) = (vec![1; a.len()], vec![1; scratch_len(params.shape)]);
                (table.multiply)(params, &mut out, &a, &b, &mut scratch);
                assert!(out == expected, "{set} {}", table.level);
                (table.multiply)(params, &mut out, &b, &a, &mut scratch);
                assert!(out == expected, "{set} {}", table.level);
            }
        }
    }

    #[test]
    fn every_table_multiplies_dense_vectors_as_the_portable_one() {
        for set in ParameterSet::ALL {
            let (params, mut random) = (set.params, random("dense"));
            for round in 0..8 {
                let a = vector(&mut random, params, round == 0);
                let b = vector(&mut random, params, round < 2);
                let mut results = tables().into_iter().map(|table| {
                    let (mut out, mut scratch) = (vec![7; a.len()], vec![7; scratch_len(params.shape)]);
                    (table.multiply)(params, &mut out, &a, &b, &mut scratch);
                    out
                });
                let expected = results.next().expect("the portable table");
                assert!(results.all(|result| result == expected), "{set} {round}");
            }
        }
    }

    #[test]
    fn every_table_samples_and_writes_vectors_as_the_definition_says() {
        let mut doubled = 0;
        for set in ParameterSet::ALL {
            let (params, mut random) = (set.params, random("weights"));
            let n = params.n as u32;
            for round in 0..50 {
                let mut bytes = vec![0; 4 * params.w_r];
                random.squeeze(&mut bytes);
                match round {
                    0 => bytes.fill(0),
                    1 => bytes.fill(u8::MAX),
                    // Few different positions.
                    2..10 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|word| word[..3].fill(0)),
                    _ => {}
                }
                let mut expected = vec![0_u32; params.w_r];
                for (i, word) in bytes.as_chunks().0.iter().enumerate() {
                    let scaled = u64::from(u32::from_le_bytes(*word)) * u64::from(n - i as u32);
                    expected[i] = i as u32 + (scaled >> 32) as u32;
                }
                for i in (0..params.w_r).rev() {
                    if expected[i + 1..].contains(&expected[i]) {
                        expected[i] = i as u32;
                        doubled += 1;
                    }
                }
                let mut bits = vec![0; params.shape.words()];
                for position in &expected {
                    bits[(position >> 6) as usize] |= 1 << (position & 63);
                }
                assert_eq!(bits.iter().map(|word: &u64| word.count_ones()).sum::<u32>(), params.w_r as u32);
                for table in tables() {
                    let mut ours = vec![u64::MAX; params.shape.words()];
                    (table.sample)(params, &mut ours, &bytes);
                    assert!(ours == bits, "{set} {round} {}", table.level);
                    let mut positions = [[NONE; 16]; 10];
                    positions.as_flattened_mut()[..expected.len()].copy_from_slice(&expected);
                    ours.fill(u64::MAX);
                    (table.write)(&mut ours, &positions, params.w_r);
                    assert!(ours == bits, "{set} {round} {}", table.level);
                }
            }
        }
        assert!(doubled > 300, "{doubled}");
    }

    #[test]
    fn every_table_encodes_and_decodes_as_the_portable_one() {
        for set in ParameterSet::ALL {
            let (params, mut random) = (set.params, random("codes"));
            for round in 0..40 {
                let mut message = vec![0; params.k];
                random.squeeze(&mut message);
                let mut expected = vec![0; params.code_words()];
                (portable::PORTABLE.encode)(params, &mut expected, &message);
                // From few errors to nothing but noise: words that are ANDed have an eighth, a quarter or a half of their bits.
                let mut noise = words(&mut random, params.code_words());
                for _ in 0..round & 3 {
                    let more = words(&mut random, noise.len());
                    noise.iter_mut().zip(more).for_each(|(noise, more)| *noise &= more);
                }
                let received: Vec<_> =
                    expected.iter().zip(&noise).map(|(code, noise)| code ^ noise).collect();
                let mut nearest = vec![0; params.k];
                (portable::PORTABLE.decode)(params, &received, &mut nearest);
                assert!(round & 2 == 0 || nearest == message, "{set} {round}: few errors");
                for table in tables() {
                    let mut codeword = vec![7; expected.len()];
                    (table.encode)(params, &mut codeword, &message);
                    assert!(codeword == expected, "{set} {}", table.level);
                    let mut ours = vec![7; params.k];
                    (table.decode)(params, &received, &mut ours);
                    assert_eq!(ours, nearest, "{set} {round} {}", table.level);
                }
            }
        }
    }
}
