//! FIPS 204, §7.3: polynomials from hash output.

use super::kernels::Kernels;
use super::params::sealed::Parameters;
use super::ring::{N, Places, Poly};
use crate::sha3::{Shake128, Shake256, Sponge, State, from_word, permute_sponge, to_word};

/// The domain bits and the first 1 of the padding (FIPS 202, §6.2).
pub(crate) const SHAKE: u8 = 0b11111;

/// Starts the sponge on these inputs, and ends absorbing.
#[inline(never)]
pub(crate) fn absorbed(sponge: &mut Sponge, rate: usize, a: &[u8], b: &[u8]) {
    sponge.restart(rate);
    sponge.absorb(a);
    sponge.absorb(b);
    sponge.finish(SHAKE);
}

/// FIPS 204, Algorithm 29 (SampleInBall): the places of τ coefficients ±1, from c̃; the others are 0.
///
/// Variable time: c̃ is public, or will be if the attempt succeeds (see `dsa::sign`).
#[inline(never)]
pub(crate) fn in_ball_vartime<P: Parameters>(c_tilde: &[u8], places: &mut Places) {
    let mut squeeze = Shake256::new().update(c_tilde).finalize_xof();
    let mut block = [0; Shake256::RATE];
    squeeze.squeeze(&mut block);
    let more = || {
        let mut byte = [0];
        squeeze.squeeze(&mut byte);
        byte[0]
    };
    place_vartime::<P>(&block, more, places);
}

/// The places from the output of the hash: its first block, then byte by byte.
pub(crate) fn place_vartime<P: Parameters>(
    block: &[u8; Shake256::RATE],
    mut more: impl FnMut() -> u8,
    places: &mut Places,
) {
    let (signs, bytes) = block.split_first_chunk().expect("a block is longer");
    let mut signs = u64::from_le_bytes(*signs);
    let mut bytes = bytes.iter();
    // Which of the ones stands at a place, `NONE` for a 0: where it is moved, its entry is found.
    const NONE: u8 = 63;
    const { assert!(P::TAU <= NONE as usize) };
    let mut which = [NONE; N];
    for (n, i) in (N - P::TAU..N).enumerate() {
        let j = loop {
            let j = usize::from(bytes.next().copied().unwrap_or_else(&mut more));
            if j <= i {
                break j;
            }
        };
        let moved = &mut places[usize::from(which[j] & 63)];
        *moved = *moved & 256 | i as u16;
        which[i] = which[j];
        which[j] = n as u8;
        places[n] = ((signs & 1) as u16 * 256) | j as u16;
        signs >>= 1;
    }
}

/// The challenge itself: [`in_ball_vartime`] as a polynomial.
#[inline(never)]
pub(crate) fn challenge_vartime<P: Parameters>(c_tilde: &[u8], c: &mut Poly) {
    let mut places = [0; 64];
    in_ball_vartime::<P>(c_tilde, &mut places);
    set_challenge_vartime(&places[..P::TAU], c);
}

/// The polynomial with ±1 at the places.
#[inline]
pub(crate) fn set_challenge_vartime(places: &[u16], c: &mut Poly) {
    c.0.fill(0);
    for place in places {
        c.0[usize::from(*place & 255)] = if *place < 256 { 1 } else { -1 };
    }
}

/// FIPS 204, Algorithm 32 (ExpandA), one polynomial.
///
/// Variable time: the matrix is public.
#[inline(never)]
pub(crate) fn sample_a(kernels: &Kernels, rho: &[u8; 32], row: usize, column: usize, out: &mut Poly) {
    // SHAKE128 of ρ ‖ column ‖ row, one block, without the sponge: in verification this frame is the deepest.
    let mut state = State::new();
    for (word, bytes) in state.0.iter_mut().zip(rho.as_chunks::<8>().0) {
        *word = from_word(u64::from_le_bytes(*bytes));
    }
    state.0[4] = from_word((column | row << 8 | 0x1f << 16) as u64);
    // The last bit is the last in either form of a lane.
    state.0[(Shake128::RATE >> 3) - 1] = 1 << 63;
    /// Words at once: a whole block where there may be vectors; else eight candidates, for less stack.
    const WORDS: usize = if size_of::<usize>() == 8 { Shake128::RATE >> 3 } else { 3 };
    let mut bytes = [0; 8 * WORDS];
    let mut filled = 0;
    while filled < N {
        permute_sponge(&mut state);
        for words in state.0[..Shake128::RATE >> 3].as_chunks::<WORDS>().0 {
            for (bytes, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
                *bytes = to_word(*word).to_le_bytes();
            }
            // FIPS 204, Algorithm 30 (RejNTTPoly), one block.
            filled = (kernels.reject_uniform)(out, filled, &bytes);
        }
    }
}

/// FIPS 204, Algorithm 33 (ExpandS), one polynomial: coefficients in -η..=η from ρ′ and its place.
#[inline(never)]
pub(crate) fn expand_s<P: Parameters>(kernels: &Kernels, rho_prime: &[u8; 64], place: usize, s: &mut Poly) {
    let mut squeeze = Shake256::new().update(rho_prime).update(&(place as u16).to_le_bytes()).finalize_xof();
    let mut block = [0; Shake256::RATE];
    let mut filled = 0;
    while filled < N {
        squeeze.squeeze(&mut block);
        // FIPS 204, Algorithm 31 (RejBoundedPoly), one block.
        filled = (kernels.reject_bounded)(s, filled, &block, P::ETA);
    }
}

/// The masks of one signing after another: y\[0\], y\[1\], … of the first attempt, then those of the next (FIPS 204,
/// Algorithm 34 (ExpandMask)); each still packed, in 32·(1 + bitlen(γ1 - 1)) bytes.
pub(crate) trait Masks<'a> {
    /// Begins with κ = 0.
    fn new(rho_second: &'a [u8; 64]) -> Self;

    /// The next polynomial.
    fn next(&mut self, packed: &mut [u8]);

    /// c̃ = H(μ ‖ w1, λ/4) to `c_tilde`; `pack_row` writes a row of w1, packed.
    fn challenge<P: Parameters>(
        &mut self,
        mu: &[u8; 64],
        pack_row: impl FnMut(usize, &mut [u8]),
        c_tilde: &mut [u8],
    );
}

/// Each mask hashed when it is asked for: the least memory.
pub(crate) struct EachMask<'a> {
    rho_second: &'a [u8; 64],
    kappa: u16,
}

impl<'a> Masks<'a> for EachMask<'a> {
    fn new(rho_second: &'a [u8; 64]) -> Self {
        Self { rho_second, kappa: 0 }
    }

    fn next(&mut self, packed: &mut [u8]) {
        Shake256::new()
            .update(self.rho_second)
            .update(&self.kappa.to_le_bytes())
            .finalize_xof()
            .squeeze(packed);
        self.kappa = self.kappa.wrapping_add(1);
    }

    fn challenge<P: Parameters>(
        &mut self,
        mu: &[u8; 64],
        mut pack_row: impl FnMut(usize, &mut [u8]),
        c_tilde: &mut [u8],
    ) {
        let mut hasher = Shake256::new();
        hasher.update(mu);
        let mut packed = [0; 192];
        let packed = &mut packed[..P::W1_BYTES];
        for row in 0..P::K {
            pack_row(row, packed);
            hasher.update(packed);
        }
        hasher.finalize_xof().squeeze(c_tilde);
    }
}
