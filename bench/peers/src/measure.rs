//! Taking turns: everybody does a little of the same work, again and again, in an order that rotates.
//!
//! A neighbour's noise and a changing clock then fall on all alike. What one contestant took is the median of its
//! samples. The clock is the processor time of this thread, so that being preempted costs nobody anything.

use std::time::{Duration, Instant};

use crate::peers::{Answer, Work};

/// A sample of uniform work is about as long as this.
const SAMPLE: Duration = Duration::from_micros(300);
/// However slow everybody is, this many rounds.
const LEAST_ROUNDS: usize = 7;
/// Signatures that a stateful key makes at most: some of its 1024 leaves are used before.
const STATEFUL_SIGNATURES: usize = 800;
/// Signatures that one contestant makes before the next one's turn; with a stateful key, if one takes no longer than a sample.
const SIGNATURES_A_TURN: usize = 4;

/// Nanoseconds an operation takes, one figure for each of `works`: for work that takes the same time whatever the case.
/// A batch runs all its cases in one call.
pub fn uniform(works: &mut [Work], cases: usize, time: Duration) -> Vec<f64> {
    let mut answer = Answer::default();
    let batches: Vec<usize> = works
        .iter_mut()
        .map(|work| {
            let calls = if work.batch == 1 { cases } else { 1 };
            let first = best_of(1, || (work.run)(0, &mut answer));
            if first > SAMPLE.as_nanos() as f64 * work.batch as f64 {
                return 1;
            }
            let one = best_of(2, || (0..calls).for_each(|i| (work.run)(i, &mut answer)));
            let one = one / (calls * work.batch) as f64;
            ((SAMPLE.as_nanos() as f64 / one) as usize).div_ceil(work.batch).max(1)
        })
        .collect();
    let mut samples = vec![Vec::new(); works.len()];
    let mut next = vec![0; works.len()];
    let start = Instant::now();
    for round in 0.. {
        if round >= LEAST_ROUNDS && start.elapsed() >= time {
            break;
        }
        for turn in 0..works.len() {
            let who = (round + turn) % works.len();
            let before = now();
            for _ in 0..batches[who] {
                (works[who].run)(next[who], &mut answer);
                if works[who].batch == 1 {
                    next[who] = (next[who] + 1) % cases;
                }
            }
            samples[who].push((now() - before) / (batches[who] * works[who].batch) as f64);
        }
    }
    samples.iter_mut().map(|samples| median(samples)).collect()
}

/// Nanoseconds a signature with a stateful key takes, one figure for each of `works`: each signature is a sample, and the keys make no more
/// than they have leaves.
pub fn stateful(works: &mut [Work], cases: usize, time: Duration) -> Vec<f64> {
    let mut answer = Answer::default();
    let mut sign = |work: &mut Work, case| {
        let before = now();
        (work.run)(case, &mut answer);
        now() - before
    };
    let a_turn: Vec<usize> = works
        .iter_mut()
        .map(|work| if sign(work, 0) > SAMPLE.as_nanos() as f64 { 1 } else { SIGNATURES_A_TURN })
        .collect();
    let mut samples = vec![Vec::new(); works.len()];
    let start = Instant::now();
    for round in 0..STATEFUL_SIGNATURES / SIGNATURES_A_TURN {
        if round >= LEAST_ROUNDS && start.elapsed() >= time {
            break;
        }
        for turn in 0..works.len() {
            let who = (round + turn) % works.len();
            for i in 0..a_turn[who] {
                samples[who].push(sign(&mut works[who], (round * SIGNATURES_A_TURN + i) % cases));
            }
        }
    }
    samples.iter_mut().map(|samples| median(samples)).collect()
}

/// Nanoseconds a signature takes, one figure for each of `works`: the number of attempts depends on the case, so every
/// case is timed alone.
///
/// Deterministic contestants make the same signatures with the same attempts: the median of each case, then the mean
/// over the cases. A hedged one makes other attempts every time, and its figure is the plain mean.
pub fn signing(works: &mut [Work], cases: usize, time: Duration) -> Vec<f64> {
    let mut answer = Answer::default();
    let mut samples = vec![vec![Vec::new(); cases]; works.len()];
    let all: Vec<usize> = (0..cases).collect();
    let start = Instant::now();
    let mut round = 0;
    for pass in 0.. {
        if pass >= LEAST_ROUNDS && start.elapsed() >= time {
            break;
        }
        for some in all.chunks(SIGNATURES_A_TURN) {
            for turn in 0..works.len() {
                let who = (round + turn) % works.len();
                for &case in some {
                    let before = now();
                    (works[who].run)(case, &mut answer);
                    samples[who][case].push(now() - before);
                }
            }
            round += 1;
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    (works.iter().zip(&mut samples))
        .map(|(work, samples)| {
            let of_case = |samples: &mut Vec<f64>| if work.random { mean(samples) } else { median(samples) };
            mean(&samples.iter_mut().map(of_case).collect::<Vec<f64>>())
        })
        .collect()
}

/// The least time of `times` runs of `run`, in nanoseconds.
fn best_of(times: usize, mut run: impl FnMut()) -> f64 {
    (0..times)
        .map(|_| {
            let before = now();
            run();
            now() - before
        })
        .fold(f64::INFINITY, f64::min)
}

/// The middle one of `samples`, which it sorts.
pub fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 { samples[middle] } else { (samples[middle - 1] + samples[middle]) / 2.0 }
}

/// Nanoseconds of processor time of this thread.
#[cfg(unix)]
pub fn now() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Nanoseconds since the first call.
#[cfg(not(unix))]
pub fn now() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as f64
}
