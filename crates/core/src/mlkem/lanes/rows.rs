//! The sponges of key generation: each row of t̂ is made as soon as its row of Â is there, and hashed beside the rows to come.

use zeroize::Zeroize;

use super::{
    Aligned, BLOCK, Begun, Chain, Hashed, Job, Kind, LANES, Matrix, Ntt, Operation, State, WIDE, Work,
    absorb, lanes, permute, permuted,
};

/// The bytes of a row of t̂, encoded.
const ROW: usize = 384;

/// The whole blocks of H in so many rows, in bytes.
const WHOLE: [usize; 4] = [0, 2 * BLOCK, 5 * BLOCK, 8 * BLOCK];

/// What makes a row of t̂ of its number, Â, the noise and the encapsulation key, into which it goes.
type MakeRow<'a> = dyn FnMut(usize, &[Ntt], &Hashed, &mut [u8]) + 'a;

/// Runs the sponges of an operation that has a matrix and the noise of a key, and H of the key beside them; returns what H gave.
///
/// `row` writes row i of t̂ where it belongs in `ek`, of Â and of noise: those of this row and of all before are there, and
/// with the first row also that of ŝ. ρ stands in `ek` already.
///
/// Variable time in the matrix, which is public, and in nothing else.
#[inline(never)]
pub(in crate::mlkem) fn run_by_rows(
    mut operation: Operation<'_>,
    ek: &mut [u8],
    row: &mut MakeRow<'_>,
) -> [u8; 32] {
    let k = operation.matrix.as_ref().expect("a key has one").k;
    let most = lanes();
    let mut states = [const { Aligned(State::new()) }; LANES];
    // With the row that waits for each.
    let mut jobs = [(0, Job { operation: 0, kind: Kind::H, part: 0, filled: 0 }); LANES];
    // How many sponges each row waits for; the first also for ŝ.
    let mut missing = [k + 1; 4];
    missing[0] += k;
    let mut h = State::new();
    // The rows that are there, what H has of them, and whether it is in a lane.
    let (mut known, mut hashed, mut hashing) = (0, 0, false);
    // Two blocks of H, all that ML-KEM-512 has before its last row, do not pay for four calls in place of two that are wider.
    let may_be_four = WIDE && most == 8 && k > 2;
    // H of what precedes the last row waits for the first row, which takes three blocks.
    let before_last = WHOLE[k - 1];
    let Work { mut all, .. } = operation.work();
    all += before_last;
    let mut left = Work { longest: before_last + 3 * BLOCK, all };

    let (mut busy, mut free, mut four) = (0, 0_u32, false);
    while known < k {
        let was_four = four;
        four = may_be_four && left.fits_in_four();
        let limit = if four { 4 } else { most };
        // Of free lanes only the first four are wanted then: the last of the busy ones take the places of the others.
        close(&mut free, !0 << limit, &mut busy, &mut states, &mut jobs);
        let waits = |hashed, known, hashing: bool| !hashing && hashed + BLOCK <= ROW * known;
        while free != 0 || busy < limit || waits(hashed, known, hashing) {
            let lane = if free == 0 { busy } else { free.trailing_zeros() as usize };
            if waits(hashed, known, hashing) {
                hashing = true;
                let state = &mut states[lane].0;
                state.0 = h.0;
                absorb(&mut state.0, &ek[hashed..][..BLOCK]);
                jobs[lane] = (0, Job { operation: 0, kind: Kind::H, part: 0, filled: 0 });
            } else if four && busy > limit {
                // One that was begun goes on before another begins.
                let urgent = (limit..busy)
                    .min_by_key(|&lane| (jobs[lane].0, jobs[lane].1.kind))
                    .expect("there are some");
                states[lane].0.0 = states[urgent].0.0;
                jobs[lane] = jobs[urgent];
                close(&mut (1 << urgent), !0, &mut busy, &mut states, &mut jobs);
            } else if let Some(next) = operation.begin_by_rows(&mut states[lane].0) {
                jobs[lane] = next;
            } else {
                break;
            }
            if free == 0 {
                busy += 1;
            } else {
                free &= free - 1;
            }
        }
        close(&mut free, !0, &mut busy, &mut states, &mut jobs);
        if four && !was_four {
            for lane in 0..busy.min(limit) {
                let urgent = (lane..busy)
                    .min_by_key(|&lane| (jobs[lane].0, jobs[lane].1.kind))
                    .expect("there are some");
                if urgent != lane {
                    states.swap(lane, urgent);
                    jobs.swap(lane, urgent);
                }
            }
        }
        let width = busy.min(limit);
        permute(&mut states[..permuted(width, most)]);
        let critical = hashing || left.longest > before_last;
        left.advance(width);
        if !critical {
            left.longest += BLOCK;
        }
        let mut h_lane = None;
        for lane in 0..width {
            let (waiting, job) = &mut jobs[lane];
            if job.kind == Kind::H {
                h_lane = Some(lane);
            } else if !operation.step(job, &mut states[lane].0) {
                missing[*waiting] -= 1;
                free |= 1 << lane;
            }
        }
        while known < k && missing[known] == 0 {
            let matrix = operation.matrix.as_ref().expect("its sponges ran");
            row(known, matrix.elements, operation.hashed, ek);
            known += 1;
        }
        if let Some(lane) = h_lane {
            let state = &mut states[lane].0;
            hashed += BLOCK;
            if known < k && hashed + BLOCK <= ROW * known {
                absorb(&mut state.0, &ek[hashed..][..BLOCK]);
            } else {
                h.0 = state.0;
                hashing = false;
                free |= 1 << lane;
            }
        }
    }
    states.iter_mut().for_each(|state| state.0.zeroize());
    let mut digest = [0; 32];
    Chain::h(&ek[hashed..]).finish(&mut h, &mut digest);
    digest
}

/// The last of the busy lanes take the places of the free ones in this mask.
fn close(
    free: &mut u32,
    mask: u32,
    busy: &mut usize,
    states: &mut [Aligned; LANES],
    jobs: &mut [(usize, Job); LANES],
) {
    while let Some(lane) = (*free & mask).checked_ilog2() {
        *free ^= 1 << lane;
        *busy -= 1;
        if lane as usize != *busy {
            states[lane as usize].0.0 = states[*busy].0.0;
            jobs[lane as usize] = jobs[*busy];
        }
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
