//! The functions H, G, I, J and XOF: SHA-3 and SHAKE256, each with a byte at the end that tells it from the others.

use crate::engine::{self, Absorber, Sponges};
use crate::sha3::{LANES, Sha3_512, Shake256, Squeeze, State, squeezed};

use super::params::SEED;

/// A hash of many blocks, or a long output, which runs beside others.
pub(super) struct Sponge<'a> {
    pieces: [&'a [u8]; 5],
    absorber: Absorber,
    out: &'a mut [u8],
    written: usize,
}

impl<'a> Sponge<'a> {
    /// H(ek).
    pub(super) fn h(ek: &'a [u8], out: &'a mut [u8; SEED]) -> Self {
        Self { pieces: [ek, &[1], &[], &[], &[]], absorber: Absorber::SHA3, out, written: 0 }
    }

    /// J of H(ek), σ and a ciphertext.
    pub(super) fn j(h: &'a [u8; SEED], sigma: &'a [u8], c: &'a [u8], out: &'a mut [u8; SEED]) -> Self {
        Self { pieces: [h, sigma, c, &[3], &[]], absorber: Absorber::SHA3, out, written: 0 }
    }

    /// The first bytes of XOF(seed).
    pub(super) fn xof(seed: &'a [u8], out: &'a mut [u8]) -> Self {
        Self { pieces: [seed, &[1], &[], &[], &[]], absorber: Absorber::SHAKE, out, written: 0 }
    }
}

struct Side<'s, 'a> {
    sponges: &'s mut [Sponge<'a>],
    begun: usize,
}

impl Side<'_, '_> {
    /// Adds the next block of a sponge's message; false if it is at its end.
    fn feed(&mut self, number: usize, state: &mut State) -> bool {
        let sponge = &mut self.sponges[number];
        sponge.absorber.feed(state, &sponge.pieces, true)
    }
}

impl Sponges for Side<'_, '_> {
    type Job = u16;
    const IDLE: u16 = 0;

    fn begin(&mut self, state: &mut State) -> Option<u16> {
        let number = self.begun;
        if number == self.sponges.len() {
            return None;
        }
        self.begun += 1;
        state.0 = [0; 25];
        self.feed(number, state);
        Some(number as u16)
    }

    fn step(&mut self, job: &mut u16, state: &mut State) -> bool {
        let number = usize::from(*job);
        if self.feed(number, state) {
            return true;
        }
        let Sponge { out, written, .. } = &mut self.sponges[number];
        let rest = &mut out[*written..];
        *written += squeezed::<{ engine::BLOCK }>(state, |block| {
            let taken = rest.len().min(block.len());
            rest[..taken].copy_from_slice(&block[..taken]);
            taken
        });
        *written < out.len()
    }
}

/// Runs sponges side by side.
#[inline(never)]
pub(super) fn run(sponges: &mut [Sponge<'_>]) {
    engine::run::<_, { LANES + 1 }>(&mut Side { sponges, begun: 0 });
}

/// XOF(seed).
pub(super) fn xof(seed: &[u8]) -> Squeeze {
    Shake256::new().update(seed).update(&[1]).finalize_xof()
}

/// G, of 64 bytes: the shared secret and θ.
#[inline(never)]
pub(super) fn g(h: &[u8; SEED], m: &[u8], salt: &[u8], out: &mut [u8; 2 * SEED]) {
    *out = Sha3_512::new().update(h).update(m).update(salt).update(&[0]).finalize();
}

/// I, of 64 bytes: the seeds of the decryption and of the encryption key.
#[inline(never)]
pub(super) fn i(seed: &[u8], out: &mut [u8; 2 * SEED]) {
    *out = Sha3_512::new().update(seed).update(&[2]).finalize();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha3::Sha3_256;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn sponges_side_by_side_give_what_each_gives_alone() {
        let bytes: Vec<u8> = (0..2000).map(|i| i as u8).collect();
        let seeds: Vec<[u8; 32]> = (0..20).map(|i| [i; 32]).collect();
        let mut outputs: Vec<Vec<u8>> = (0..20).map(|i| vec![0; 1 + 100 * i]).collect();
        let (mut h, mut j) = ([0; 32], [0; 32]);
        let mut sponges =
            vec![Sponge::h(&bytes, &mut h), Sponge::j(&seeds[3], &bytes[..16], &bytes[..1000], &mut j)];
        sponges.extend(seeds.iter().zip(&mut outputs).map(|(seed, out)| Sponge::xof(seed, out)));
        run(&mut sponges);
        for (seed, out) in seeds.iter().zip(&outputs) {
            let mut expected = vec![0; out.len()];
            xof(seed).squeeze(&mut expected);
            assert_eq!(*out, expected);
        }
        assert_eq!(h, Sha3_256::new().update(&bytes).update(&[1]).finalize());
        let expected = Sha3_256::new()
            .update(&seeds[3])
            .update(&bytes[..16])
            .update(&bytes[..1000])
            .update(&[3])
            .finalize();
        assert_eq!(j, expected);
    }
}
