//! The operations of prepared keys where one state is permuted at a time: on processors of 32 bits, whose sponges hold interleaved lanes.
//!
//! Where states are permuted side by side, [`lanes`](super::lanes) hashes all noise of an operation before it is used. Here each polynomial
//! of noise is made of the lanes of its state, where it is wanted; ŷ is the only vector on the stack.

use super::encode::CompressedComparer;
use super::kernels::loops::{self, compress, decompress, subtract_from_decompressed};
use super::params::ParameterSet;
use super::pke::{Prepared, decrypt, encrypt};
use super::ring::{Ntt, Poly};
use super::sample::Noise;
use crate::secret::{Secret, clear, mask_nonzero, select_bytes};
use crate::sha3::{Sha3_512, Shake256, State, absorb, from_word, permute_sponge, squeeze};
use crate::workspace::{Memory, Stack};

/// How deep the operations go with each K, and some to spare. The doors scrub the stack as far, so that nothing here is wiped besides.
pub(super) const DEPTH: [usize; 3] = [2560, 2944, 3456];

/// The ciphertext and the shared secret of `m`; the key is Â by rows, then t̂, and H(ek).
///
/// FIPS 203, Algorithm 17 (ML-KEM.Encaps_internal).
#[inline(never)]
pub(super) fn encapsulate<P: ParameterSet>(
    elements: &[Ntt],
    h: &[u8; 32],
    m: &[u8; 32],
    c: &mut [u8],
    shared: &mut [u8; 32],
) {
    let mut hasher = Hasher { state: State::new(), r: [0; 4] };
    hasher.g(m, h, shared);
    let (c_u, c_v) = c.split_at_mut(32 * P::DU * P::K);
    let mut rows = c_u.chunks_exact_mut(32 * P::DU);
    Stack.lend(|(y, u): &mut (P::Vector, Ntt), _| {
        encrypt::<P, _>(&mut Prepared::new(elements, y.as_mut(), u), m, &mut hasher, |f, d| {
            if d == P::DV {
                compress(&f.0, d, c_v.as_chunks_mut().0);
            } else if let Some(row) = rows.next() {
                compress(&f.0, d, row.as_chunks_mut().0);
            }
        });
    });
}

/// The shared secret of `c`, or the rejection secret; ŝ and z beside what encapsulation takes of a key.
///
/// FIPS 203, Algorithm 18 (ML-KEM.Decaps_internal).
#[inline(never)]
pub(super) fn decapsulate<P: ParameterSet>(
    elements: &[Ntt],
    s: &[Ntt],
    h: &[u8; 32],
    z: &[u8; 32],
    c: &[u8],
    shared: &mut [u8; 32],
) {
    let mut hasher = Hasher { state: State::new(), r: [0; 4] };
    let mut bytes = Secret::new([0; 32]);
    let m = bytes.expose_mut();
    let mut comparer = CompressedComparer::new::<P>(c);
    Stack.lend(|(y, u): &mut (P::Vector, Ntt), _| {
        let y = y.as_mut();
        let decompressed = |(y, _): &mut (&mut [Ntt], _), j: usize, row: &[u8]| {
            y[j].transform_factor(|u| decompress(&mut u.0, P::DU, row.as_chunks().0));
        };
        decrypt::<P, _>((&mut *y, &mut *u), c, m, decompressed, |(y, w), d, c_v, m| {
            let w = w.product_in_r_q(s, 1, y);
            subtract_from_decompressed(&mut w.0, d, c_v.as_chunks().0);
            compress(&w.0, 1, m.as_chunks_mut().0);
        });
        hasher.g(m, h, shared);
        let mut products = Prepared::new(elements, y, u);
        encrypt::<P, _>(&mut products, m, &mut hasher, |f, d| comparer.compare::<P>(f, d));
    });
    let rejection = bytes.expose_mut();
    hasher.j(z, c, rejection);
    select_bytes(shared, rejection, mask_nonzero(comparer.different));
}

/// A state for everything that is hashed, and the lanes of r, as G left them.
struct Hasher {
    state: State,
    r: [u64; 4],
}

impl Hasher {
    /// K to `k`, and r: G(m ‖ H(ek)) of FIPS 203, §4.1, (4.5).
    #[inline(never)]
    fn g(&mut self, m: &[u8; 32], h: &[u8; 32], k: &mut [u8; 32]) {
        let Self { state, r } = self;
        absorb(&mut state.0, m);
        absorb(&mut state.0[4..], h);
        state.0[8] = from_word(0b110 | 1 << 63);
        const { assert!(Sha3_512::RATE == 72) };
        permute_sponge(state);
        squeeze(state, k);
        r.copy_from_slice(&state.0[4..8]);
    }

    /// J(z ‖ c) of FIPS 203, §4.1, (4.4).
    fn j(&mut self, z: &[u8; 32], c: &[u8], rejection: &mut [u8; 32]) {
        let state = &mut self.state;
        clear(&mut state.0);
        let (beside_z, rest) = c.split_at(Shake256::RATE - z.len());
        let mut blocks = rest.chunks_exact(Shake256::RATE);
        absorb(&mut state.0, z);
        absorb(&mut state.0[4..], beside_z);
        permute_sponge(state);
        for block in &mut blocks {
            absorb(&mut state.0, block);
            permute_sponge(state);
        }
        let end = blocks.remainder();
        absorb(&mut state.0, end);
        state.0[end.len() >> 3] ^= from_word(0b1_1111);
        state.0[(Shake256::RATE >> 3) - 1] ^= 1 << 63;
        permute_sponge(state);
        squeeze(state, rejection);
    }

    /// The first block of PRF(r, b).
    #[inline(never)]
    fn prf(&mut self, b: usize) {
        let Self { state: State(lanes), r } = self;
        clear(lanes);
        lanes[..4].copy_from_slice(r);
        lanes[4] = from_word((b | 0b1_1111 << 8) as u64);
        // The last bit is the last in either form of a lane.
        lanes[(Shake256::RATE >> 3) - 1] = 1 << 63;
        permute_sponge(&mut self.state);
    }
}

/// FIPS 203, Algorithm 8 (SamplePolyCBD) of PRF_η(r, b) (§4.1, (4.3)).
impl Noise for Hasher {
    fn fill(&mut self, f: &mut Poly, eta: usize, b: usize) {
        self.prf(b);
        let state = &mut self.state;
        if eta == 2 {
            return loops::noise2_of(&mut f.0, state.0.first_chunk().expect("16 of 25 lanes"));
        }
        Stack.lend(|lanes: &mut [u64; 24], _| {
            let (first, second) = lanes.split_at_mut(Shake256::RATE >> 3);
            first.copy_from_slice(&state.0[..first.len()]);
            permute_sponge(state);
            second.copy_from_slice(&state.0[..second.len()]);
            loops::noise3_of(&mut f.0, lanes);
        });
    }

    fn add(&mut self, f: &mut Poly, b: usize) {
        self.prf(b);
        loops::add_noise2_of(&mut f.0, self.state.0.first_chunk().expect("16 of 25 lanes"));
    }

    #[inline(always)]
    fn add_message(f: &mut Poly, m: &[u8; 32]) {
        loops::add_decompressed(&mut f.0, 1, m.as_chunks().0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::params::{Parts, Source};
    use super::super::{DecapsulationKey, EncapsulationKeyRef, MlKem512, MlKem768, MlKem1024, PreparedSet};
    use super::*;
    use crate::Bytes;
    use crate::sha3::Shake128;

    fn random<const N: usize>(seed: u64) -> [u8; N] {
        let mut bytes = [0; N];
        Shake128::new().update(&seed.to_le_bytes()).finalize_xof().squeeze(&mut bytes);
        bytes
    }

    #[test]
    fn both_schedules_of_a_prepared_key_agree() {
        fn test<P: PreparedSet>() {
            for i in 0..10 {
                let key = DecapsulationKey::<P>::from_seed(&random(2 * i));
                let ek = key.encapsulation_key();
                let m = random(2 * i + 1);
                let once = EncapsulationKeyRef::<P>::from_ref(ek.as_bytes()).unwrap();
                let (c, shared) = once.encapsulate_deterministic(&m);
                let key = key.form;
                let Parts { source: Source::Prepared { elements, h }, z, .. } = key.parts() else {
                    unreachable!("it was prepared")
                };
                let (mut ours, mut secret) = (P::Ciphertext::zeroed(), [0; 32]);
                encapsulate::<P>(elements, h, &m, ours.as_mut(), &mut secret);
                assert_eq!((ours.as_ref(), &secret), (c.as_ref(), shared.expose()));
                decapsulate::<P>(elements, key.s(), h, z, c.as_ref(), &mut secret);
                assert_eq!(&secret, shared.expose());
                for byte in [0, c.as_ref().len() - 1] {
                    let mut c = c;
                    c.as_mut()[byte] ^= 0x80;
                    decapsulate::<P>(elements, key.s(), h, z, c.as_ref(), &mut secret);
                    let mut rejection = [0; 32];
                    crate::sha3::Shake256::new()
                        .update(z)
                        .update(c.as_ref())
                        .finalize_xof()
                        .squeeze(&mut rejection);
                    assert_eq!(secret, rejection);
                }
            }
        }
        test::<MlKem512>();
        test::<MlKem768>();
        test::<MlKem1024>();
    }
}
