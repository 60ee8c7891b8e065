//! What an operation hashes, side by side: its sponges are lanes of the same permutations.
//!
//! A permutation of four or eight states costs at most twice that of one. So H(ek) and J(z ‖ c), which are long chains,
//! run beside the matrix and the noise, and the lanes of several operations fill each other's gaps.

use super::params::ParameterSet;
use super::ring::{Ntt, Poly};
use super::sample::{Noise, noise_of, reject_vartime};
use crate::engine::{self, Absorber, BLOCK, Sponges, load};
use crate::secret::wipe;
use crate::sha3::{LANES, Sha3_512, Shake128, State, WIDE, absorb, absorb_at, squeeze, to_word};

mod rows;

pub(super) use rows::{HashOfKey, run_by_rows};

/// The places of the sponges of operations: they have no chain of their own.
const PLACES: usize = 1 + LANES;

/// A message on its way through H or J, block by block.
pub(super) struct Chain<'a> {
    pieces: [&'a [u8]; 2],
    absorber: Absorber,
    begun: bool,
}

impl<'a> Chain<'a> {
    /// H (FIPS 203, §4.1, (4.4)): SHA3-256 of an encapsulation key.
    pub(super) const fn h(key: &'a [u8]) -> Self {
        Self { pieces: [key, &[]], absorber: Absorber::SHA3, begun: false }
    }

    /// J (FIPS 203, §4.1, (4.4)): SHAKE256 of z and a ciphertext.
    pub(super) const fn j(z: &'a [u8; 32], c: &'a [u8]) -> Self {
        Self { pieces: [z, c], absorber: Absorber::SHAKE, begun: false }
    }

    /// Adds the next block to the state; false if there is none.
    fn feed(&mut self, state: &mut State) -> bool {
        self.absorber.feed(state, &self.pieces, true)
    }

    /// A measure of its blocks, in bytes.
    const fn work(&self) -> usize {
        let [first, second] = self.pieces;
        first.len() + second.len() + BLOCK
    }
}

/// What the sponges of one operation read and give: secrets, but for the hash of the key.
pub(super) struct Hashed {
    /// The message of G, and the H(ek) that goes with it.
    pub m: [u8; 32],
    known_hash: [u8; 32],
    /// What G gave.
    pub k: [u8; 32],
    r: [u8; 32],
    /// What J gave.
    pub rejection: [u8; 32],
    /// What H gave.
    pub hash: [u8; 32],
    /// PRF_η(r, b).
    noise: [[u8; 192]; 9],
}

impl Hashed {
    pub(super) const ZERO: Self = Self {
        m: [0; 32],
        known_hash: [0; 32],
        k: [0; 32],
        r: [0; 32],
        rejection: [0; 32],
        hash: [0; 32],
        noise: [[0; 192]; 9],
    };
}

impl Noise for &Hashed {
    fn fill(&mut self, f: &mut Poly, eta: usize, b: usize) {
        noise_of(f, eta, &self.noise[b]);
    }
}

impl Drop for Hashed {
    fn drop(&mut self) {
        for secret in [&mut self.m, &mut self.k, &mut self.r, &mut self.rejection] {
            wipe(secret);
        }
        wipe(self.noise.as_flattened_mut());
    }
}

/// Â, which is to be sampled.
struct Matrix<'a> {
    rho: &'a [u8; 32],
    /// How many rows and columns it has.
    k: usize,
    /// Row and column of the next entry.
    next: (usize, usize),
    /// Â by rows, and what else its owner keeps behind it.
    elements: &'a mut [Ntt],
}

/// G(m ‖ H(ek)) of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum G {
    /// It is not wanted.
    Absent,
    /// It waits for H.
    Waits,
    Ready,
    /// It is in a lane.
    Runs,
    /// The randomness is there.
    Done,
}

/// A measure of work, in bytes of blocks.
#[derive(Clone, Copy)]
struct Work {
    /// That of the longest sponge, or of those that wait for each other; entries of a matrix do not count.
    longest: usize,
    all: usize,
}

impl Work {
    const NONE: Self = Self { longest: 0, all: 0 };

    /// With other work, beside this.
    fn beside(&mut self, other: Self) {
        self.longest = self.longest.max(other.longest);
        self.all += other.all;
    }

    /// A permutation of so many states was done.
    const fn advance(&mut self, width: usize) {
        self.longest = self.longest.saturating_sub(BLOCK);
        self.all = self.all.saturating_sub(width * BLOCK);
    }

    /// Whether four lanes are enough: the longest leaves time for the rest beside it. Eight cost half as much again.
    const fn fits_in_four(&self) -> bool {
        self.longest > 0 && 4 * self.longest >= self.all
    }
}

/// The sponges of one operation.
pub(super) struct Operation<'a> {
    hashed: &'a mut Hashed,
    h: Option<Chain<'a>>,
    j: Option<Chain<'a>>,
    matrix: Option<Matrix<'a>>,
    g: G,
    /// How many polynomials of noise are needed, nine at most, and how many of them, the first, take two blocks.
    noises: (usize, usize),
    /// The next of them.
    next_noise: usize,
}

impl<'a> Operation<'a> {
    /// One that hashes nothing yet.
    #[inline(always)]
    pub(super) const fn new(hashed: &'a mut Hashed) -> Self {
        Self { hashed, h: None, j: None, matrix: None, g: G::Absent, noises: (0, 0), next_noise: 0 }
    }

    /// With H of a key.
    #[inline(always)]
    pub(super) const fn h(mut self, chain: Chain<'a>) -> Self {
        self.h = Some(chain);
        self
    }

    /// With J of a ciphertext.
    #[inline(always)]
    pub(super) const fn j(mut self, z: &'a [u8; 32], c: &'a [u8]) -> Self {
        self.j = Some(Chain::j(z, c));
        self
    }

    /// With the matrix of ρ.
    #[inline(always)]
    pub(super) const fn matrix<P: ParameterSet>(
        mut self,
        rho: &'a [u8; 32],
        elements: &'a mut [Ntt],
    ) -> Self {
        self.matrix = Some(Matrix { rho, k: P::K, next: (0, 0), elements });
        self
    }

    /// With G of `m` and H(ek), which is known or comes of this operation; and the noise of an encryption.
    #[inline(always)]
    pub(super) const fn secrets<P: ParameterSet>(mut self, h: Option<&[u8; 32]>) -> Self {
        self.noises = (2 * P::K + 1, if P::ETA1 == 3 { P::K } else { 0 });
        self.g = G::Waits;
        if let Some(h) = h {
            self.hashed.known_hash = *h;
            self.g = G::Ready;
        }
        self
    }

    /// With the noise of a key, of σ.
    #[inline(always)]
    pub(super) const fn noise<P: ParameterSet>(mut self, sigma: &[u8; 32]) -> Self {
        self.hashed.r = *sigma;
        self.noises = (2 * P::K, if P::ETA1 == 3 { 2 * P::K } else { 0 });
        self.g = G::Done;
        self
    }

    /// Runs its sponges.
    #[inline(always)]
    pub(super) fn run(mut self) {
        run(core::slice::from_mut(&mut self));
    }

    /// The work that need not wait for H.
    fn work(&self) -> Work {
        let h = self.h.as_ref().map_or(0, Chain::work);
        let j = self.j.as_ref().map_or(0, Chain::work);
        // Nearly all entries take three blocks.
        let entries = self.matrix.as_ref().map_or(0, |matrix| 3 * matrix.k * matrix.k * BLOCK);
        let secrets = if self.g == G::Waits { Work::NONE } else { self.secret_work() };
        Work { longest: h.max(j).max(secrets.longest), all: h + j + entries + secrets.all }
    }

    /// That of G and of the noise.
    fn secret_work(&self) -> Work {
        let g = if matches!(self.g, G::Absent | G::Done) { 0 } else { BLOCK };
        let (all, wide) = self.noises;
        let longest = if wide > 0 { 2 } else { 1 };
        Work { longest: g + longest * BLOCK, all: g + (all + wide) * BLOCK }
    }

    /// Loads the first block of the next sponge of this kind.
    fn begin(&mut self, kind: Kind, state: &mut State) -> Begun {
        match kind {
            Kind::H | Kind::J => {
                let chain = if kind == Kind::H { &mut self.h } else { &mut self.j };
                let Some(chain) = chain.as_mut().filter(|chain| !chain.begun) else { return Begun::NoMore };
                chain.begun = true;
                state.0 = [0; 25];
                chain.feed(state);
            }
            Kind::G => match self.g {
                G::Waits => return Begun::NotYet,
                G::Ready => {
                    self.g = G::Runs;
                    load(state, &self.hashed.m, 0, Sha3_512::RATE);
                    absorb(&mut state.0[4..], &self.hashed.known_hash);
                    absorb_at(state, 64, &[0b110]);
                }
                _ => return Begun::NoMore,
            },
            Kind::Entry => {
                let Some(matrix) = &mut self.matrix else { return Begun::NoMore };
                let (i, j) = matrix.next;
                if i == matrix.k {
                    return Begun::NoMore;
                }
                matrix.next = if j + 1 < matrix.k { (i, j + 1) } else { (i + 1, 0) };
                load(state, matrix.rho, (j | i << 8 | 0b1_1111 << 16) as u64, Shake128::RATE);
                return Begun::Part((i * matrix.k + j) as u8);
            }
            Kind::Noise => {
                let b = self.next_noise;
                if b == self.noises.0 {
                    return Begun::NoMore;
                }
                if self.g != G::Done {
                    return Begun::NotYet;
                }
                self.next_noise += 1;
                load(state, &self.hashed.r, (b | 0b1_1111 << 8) as u64, BLOCK);
                return Begun::Part(b as u8);
            }
        }
        Begun::Part(0)
    }

    /// Takes the block that a permutation gave, or adds the next; false when the sponge is done.
    fn step(&mut self, job: &mut Job, state: &mut State) -> bool {
        match job.kind {
            Kind::H => {
                let chain = self.h.as_mut().expect("it runs");
                if chain.feed(state) {
                    return true;
                }
                squeeze(state, &mut self.hashed.hash);
                if self.g == G::Waits {
                    self.hashed.known_hash = self.hashed.hash;
                    self.g = G::Ready;
                }
            }
            Kind::J => {
                if self.j.as_mut().expect("it runs").feed(state) {
                    return true;
                }
                squeeze(state, &mut self.hashed.rejection);
            }
            Kind::G => {
                squeeze(state, &mut self.hashed.k);
                for (bytes, word) in self.hashed.r.as_chunks_mut::<8>().0.iter_mut().zip(&state.0[4..]) {
                    *bytes = to_word(*word).to_le_bytes();
                }
                self.g = G::Done;
            }
            Kind::Entry => {
                let a = &mut self.matrix.as_mut().expect("it runs").elements[usize::from(job.part)].0.0;
                job.filled += reject_vartime(&mut a[usize::from(job.filled)..], state) as u16;
                return job.filled < 256;
            }
            Kind::Noise => {
                let part = usize::from(job.part);
                let bytes = &mut self.hashed.noise[part];
                if part < self.noises.1 {
                    let rest = &mut bytes[usize::from(job.filled)..];
                    let length = rest.len().min(BLOCK);
                    squeeze(state, &mut rest[..length]);
                    job.filled += length as u16;
                    return usize::from(job.filled) < bytes.len();
                }
                squeeze(state, &mut bytes[..128]);
            }
        }
        false
    }
}

/// Kinds of sponges, in the order in which they get a lane: what is long or has others waiting comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    H,
    J,
    G,
    Entry,
    Noise,
}

const KINDS: [Kind; 5] = [Kind::H, Kind::J, Kind::G, Kind::Entry, Kind::Noise];

/// Whether a sponge was begun.
enum Begun {
    /// Yes, for this entry of the matrix or this polynomial of noise.
    Part(u8),
    /// What it needs is not there yet.
    NotYet,
    /// All of them are on their way.
    NoMore,
}

/// What a lane works on; small, so that it travels in a register.
#[derive(Clone, Copy)]
struct Job {
    operation: u16,
    kind: Kind,
    part: u8,
    /// Coefficients or bytes that are there.
    filled: u16,
}

/// The sponges of all operations.
struct Group<'o, 'a> {
    operations: &'o mut [Operation<'a>],
    /// The first operation that may still have one of each kind.
    at: [usize; KINDS.len()],
    left: Work,
}

impl Sponges for Group<'_, '_> {
    type Job = Job;
    const IDLE: Job = Job { operation: 0, kind: Kind::H, part: 0, filled: 0 };

    #[inline]
    fn begin(&mut self, state: &mut State) -> Option<Job> {
        for (kind, at) in KINDS.into_iter().zip(&mut self.at) {
            while let Some(operation) = self.operations.get_mut(*at) {
                match operation.begin(kind, state) {
                    Begun::Part(part) => return Some(Job { operation: *at as u16, kind, part, filled: 0 }),
                    Begun::NotYet => break,
                    Begun::NoMore => *at += 1,
                }
            }
        }
        None
    }

    #[inline(always)]
    fn width(&mut self, busy: usize, lanes: usize) -> usize {
        let width = if WIDE && lanes == 8 && busy > 4 && self.left.fits_in_four() { 4 } else { busy };
        self.left.advance(width);
        width
    }

    #[inline(always)]
    fn step(&mut self, job: &mut Job, state: &mut State) -> bool {
        let operation = &mut self.operations[usize::from(job.operation)];
        let waited = operation.g == G::Waits;
        if operation.step(job, state) {
            return true;
        }
        if waited && operation.g == G::Ready {
            self.left.beside(operation.secret_work());
        }
        false
    }
}

/// Runs all sponges of these operations. A lane that is done takes up the next sponge.
///
/// Variable time in the matrices, which are public, and in nothing else.
#[inline(never)]
pub(super) fn run(operations: &mut [Operation<'_>]) {
    let mut left = Work::NONE;
    operations.iter().for_each(|operation| left.beside(operation.work()));
    engine::run::<_, PLACES>(&mut Group { operations, at: [0; KINDS.len()], left });
    debug_assert!(operations.iter().all(|operation| {
        matches!(operation.g, G::Absent | G::Done) && operation.next_noise == operation.noises.0
    }));
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use crate::Bytes;
    use crate::engine::calls::CALLS;
    use crate::mlkem::{
        DecapsulationKey, EncapsulationKey, MlKem512, MlKem768, MlKem1024, PreparedSet, decapsulate_many,
        encapsulate_many_deterministic,
    };
    use crate::sha3::lanes;

    /// The calls of an operation that most of 40 keys take: some entry of a matrix wants a fourth block now and then.
    fn most_take(operation: impl Fn(&[u8; 64])) -> [usize; 3] {
        let mut seen: Vec<[usize; 3]> = (0..40)
            .map(|i| {
                CALLS.set([0; 3]);
                operation(&[i; 64]);
                CALLS.take()
            })
            .collect();
        seen.sort_unstable();
        seen.chunk_by(|a, b| a == b).max_by_key(|same| same.len()).expect("40 keys")[0]
    }

    /// Of key generation, encapsulation, decapsulation, both again with prepared keys, and of eight at once.
    fn calls<P: PreparedSet>() -> [[usize; 3]; 7] {
        let dk = DecapsulationKey::<P>::from_seed(&[1; 64]);
        let ek = dk.encapsulation_key();
        let (c, _) = ek.encapsulate_deterministic(&[2; 32]);
        let encoded = |seed: &[u8; 64]| {
            let mut bytes = P::DecapsulationKeyBytes::zeroed();
            DecapsulationKey::<P>::encoded_from_seed(seed, &mut bytes);
            bytes
        };
        let public = |seed: &[u8; 64]| {
            let bytes = encoded(seed);
            let start = 384 * P::K;
            let ek =
                P::EncapsulationKeyBytes::try_from(&bytes.as_ref()[start..][..P::EncapsulationKeyBytes::LEN]);
            EncapsulationKey::<P>::from_bytes(&ek.expect("the set's length")).expect("a valid key")
        };
        let fresh = |calls: &dyn Fn()| {
            CALLS.set([0; 3]);
            calls();
        };
        [
            most_take(|seed| {
                encoded(seed);
            }),
            most_take(|seed| {
                let key = public(seed);
                fresh(&|| drop(key.encapsulate_deterministic(&[3; 32])));
            }),
            most_take(|seed| {
                let bytes = encoded(seed);
                fresh(&|| {
                    DecapsulationKey::<P>::decapsulate_encoded(bytes.as_ref(), &c).expect("a valid key");
                });
            }),
            most_take(|_| drop(ek.encapsulate_deterministic(&[3; 32]))),
            most_take(|_| drop(dk.decapsulate(&c))),
            most_take(|seed| {
                let keys: Vec<_> = (0..8).map(|i| public(&[seed[0] ^ i << 6; 64])).collect();
                let items: Vec<_> = keys.iter().map(|key| (key, &[3; 32])).collect();
                fresh(&|| drop(encapsulate_many_deterministic(&items)));
            }),
            most_take(|_| drop(decapsulate_many(&[(&dk, &c); 8]))),
        ]
    }

    #[test]
    fn operations_take_as_few_calls_as_their_chains_allow() {
        if lanes() < 8 {
            return;
        }
        let all = [calls::<MlKem512>(), calls::<MlKem768>(), calls::<MlKem1024>()];
        assert_eq!(
            all,
            [
                [[2, 1, 0], [0, 8, 1], [2, 4, 1], [0, 2, 1], [0, 4, 2], [26, 0, 1], [14, 0, 1]],
                [[2, 6, 0], [1, 9, 1], [4, 5, 1], [1, 0, 1], [0, 4, 5], [44, 0, 0], [17, 0, 0]],
                [[5, 6, 0], [4, 9, 2], [9, 3, 0], [1, 0, 2], [0, 4, 8], [70, 0, 0], [22, 0, 0]],
            ]
        );
    }
}
