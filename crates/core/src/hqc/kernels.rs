//! The operations that have fast paths, one table for each instruction set. `portable` is the specification of the rest.

mod portable;

use super::params::{MAX_K, Params};
use super::reed_muller;
use super::support::{self, Positions};
use crate::cpu::Level;

/// One table.
pub(super) struct Kernels {
    pub level: Level,
    /// a·b modulo X^n - 1, of padded polynomials below X^n; works in `product::scratch_len` words.
    pub multiply: fn(params: &Params, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]),
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
    &portable::PORTABLE
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
