//! The sponges of key generation: each row of t̂ is made as soon as its row of Â is there, and hashed beside the rows to come.

use super::{Begun, Hashed, Job, Kind, Matrix, Ntt, Operation, PLACES, State, WIDE, Work};
use crate::engine::{self, Absorber, BLOCK, Sponges};
use crate::sha3::{permute_sponge, squeeze};

/// The bytes of a row of t̂, encoded.
const ROW: usize = 384;

/// The whole blocks of H in so many rows, in bytes.
const WHOLE: [usize; 4] = [0, 2 * BLOCK, 5 * BLOCK, 8 * BLOCK];

/// What makes a row of t̂ of its number, Â, the noise and the encapsulation key, into which it goes.
type MakeRow<'a> = dyn FnMut(usize, &[Ntt], &Hashed, &mut [u8]) + 'a;

/// H of an encapsulation key on its way: the blocks that ran beside the sponges of its generation.
#[derive(Clone, Debug)]
pub(in crate::mlkem) struct HashOfKey {
    state: State,
    absorber: Absorber,
}

impl HashOfKey {
    /// H of the key of these bytes. The blocks that are left run alone.
    pub(in crate::mlkem) fn finish(&self, ek: &[u8]) -> [u8; 32] {
        let (Self { mut state, mut absorber }, mut digest) = (self.clone(), [0; 32]);
        while absorber.feed(&mut state, &[ek], true) {
            permute_sponge(&mut state);
        }
        squeeze(&state, &mut digest);
        digest
    }
}

/// Runs the sponges of an operation that has a matrix and the noise of a key, and H of the key beside them, as far as it comes.
///
/// `row` writes row i of t̂ where it belongs in `ek`, of Â and of noise: those of this row and of all before are there, and
/// with the first row also that of ŝ. ρ stands in `ek` already.
///
/// Variable time in the matrix, which is public, and in nothing else.
#[inline(never)]
pub(in crate::mlkem) fn run_by_rows(
    operation: Operation<'_>,
    ek: &mut [u8],
    row: &mut MakeRow<'_>,
) -> HashOfKey {
    let k = operation.matrix.as_ref().expect("a key has one").k;
    // The first row waits also for ŝ.
    let mut missing = [k + 1; 4];
    missing[0] += k;
    // H of what precedes the last row waits for the first row, which takes three blocks.
    let before_last = WHOLE[k - 1];
    let Work { all, .. } = operation.work();
    let left = Work { longest: before_last + 3 * BLOCK, all: all + before_last };
    let mut rows = Rows {
        k,
        operation,
        ek,
        row,
        missing,
        known: 0,
        h: HashOfKey { state: State::new(), absorber: Absorber::SHA3 },
        is_hashing: false,
        before_last,
        left,
        four: false,
    };
    engine::run::<_, PLACES>(&mut rows);
    rows.h
}

/// Key generation on its way.
struct Rows<'r, 'a> {
    k: usize,
    operation: Operation<'a>,
    ek: &'r mut [u8],
    row: &'r mut MakeRow<'r>,
    /// The number of sponges that each row waits for.
    missing: [usize; 4],
    /// The rows that are there.
    known: usize,
    h: HashOfKey,
    is_hashing: bool,
    before_last: usize,
    left: Work,
    /// Four lanes are enough.
    four: bool,
}

impl Sponges for Rows<'_, '_> {
    /// With the row that waits for it.
    type Job = (usize, Job);
    const IDLE: (usize, Job) = (0, Job { operation: 0, kind: Kind::H, part: 0, filled: 0 });

    fn chain(&mut self, state: &mut State) -> bool {
        if self.known == self.k {
            self.h.state.0 = state.0;
            return false;
        }
        self.is_hashing = self.h.absorber.feed(state, &[&self.ek[..ROW * self.known]], false);
        self.is_hashing
    }

    fn room(&mut self, _: usize, lanes: usize) -> usize {
        // Two blocks of H, all that ML-KEM-512 has before its last row, do not pay for four calls in place of two that are wider.
        let all = lanes + usize::from(self.is_hashing);
        self.four = WIDE && all == 8 && self.k > 2 && self.left.fits_in_four();
        if self.four { 4 - usize::from(self.is_hashing) } else { lanes }
    }

    fn begin(&mut self, state: &mut State) -> Option<(usize, Job)> {
        self.operation.begin_by_rows(state)
    }

    fn width(&mut self, busy: usize, lanes: usize) -> usize {
        let chain = usize::from(self.is_hashing);
        let width = busy.min(if self.four { 4 - chain } else { lanes });
        let is_critical = self.is_hashing || self.left.longest > self.before_last;
        self.left.advance(width + chain);
        if !is_critical {
            self.left.longest += BLOCK;
        }
        width
    }

    fn patience(&self, (row, job): (usize, Job)) -> u16 {
        (row << 3) as u16 | job.kind as u16
    }

    fn step(&mut self, (waiting, job): &mut (usize, Job), state: &mut State) -> bool {
        if self.operation.step(job, state) {
            return true;
        }
        self.missing[*waiting] -= 1;
        while self.known < self.k && self.missing[self.known] == 0 {
            let matrix = self.operation.matrix.as_ref().expect("its sponges ran");
            (self.row)(self.known, matrix.elements, self.operation.hashed, self.ek);
            self.known += 1;
        }
        false
    }
}

impl Operation<'_> {
    /// Loads the first block of the next sponge, and says which row waits for it: the entries of a row, then its noise.
    fn begin_by_rows(&mut self, state: &mut State) -> Option<(usize, Job)> {
        let &Matrix { k, next: (row, column), .. } = self.matrix.as_ref()?;
        // The noise of ŝ comes with the first row.
        let (row, kind) = if column == 0 && row > 0 && self.next_noise < k + row {
            (row - 1, Kind::Noise)
        } else {
            (row, Kind::Entry)
        };
        match self.begin(kind, state) {
            Begun::Part(part) => Some((row, Job { operation: 0, kind, part, filled: 0 })),
            Begun::NotYet | Begun::NoMore => None,
        }
    }
}
