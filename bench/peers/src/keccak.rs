//! Keccak-f\[1600\] alone, in core cycles: the primitive under everything else.
//!
//! No hardware counter is asked for. In every round the core's clock is measured with a chain of operations that each
//! wait for the one before: a multiplication of 64 bits and an exclusive or, 3 + 1 cycles on every x86-64 processor that
//! has AVX2. Then the permutations take their turns, and their times become cycles by the clock of that round.

use std::hint::black_box;

use gambeson::cpu::{self, Level};
use gambeson::sha3::{self, State};

use crate::measure::{median, now};
use crate::row::Permutation;

/// Links of the chain: about 50 µs.
const LINKS: u32 = 40_000;
/// Cycles of one link.
const LINK_CYCLES: f64 = 4.0;
/// Calls of the permutation in one turn: 30 to 130 µs.
const CALLS: usize = 160;
/// Turns of each.
const ROUNDS: usize = 400;

/// How many states, and under which limit: what the tables of thresholds name, then one state as it comes.
const TURNS: &[(usize, Level)] =
    &[(8, Level::Avx512), (4, Level::Avx512), (4, Level::Avx2), (1, Level::Avx512)];

/// What can run below `limit`; nothing where the chain's cycles are not known.
pub fn measure(limit: Option<Level>) -> Vec<Permutation> {
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let limit = limit.unwrap_or(Level::Avx512);
    let mut turns: Vec<(usize, Level)> = Vec::new();
    for &(states, level) in TURNS {
        cpu::limit(level.min(limit));
        // A level that the machine or the limit does not have falls back to one that was there already.
        let turn = (states, sha3::kernels());
        if !turns.contains(&turn) {
            turns.push(turn);
        }
    }
    let mut samples = vec![(Vec::new(), Vec::new()); turns.len()];
    let mut clocks = Vec::new();
    let mut states = std::array::from_fn::<_, 8, _>(|_| State::new());
    for round in 0..ROUNDS {
        let ghz = clock();
        clocks.push(ghz);
        for turn in 0..turns.len() {
            let who = (round + turn) % turns.len();
            let (count, level) = turns[who];
            cpu::limit(level);
            let before = now();
            for _ in 0..CALLS {
                sha3::permute_many(&mut states[..count]);
            }
            let ns = (now() - before) / (CALLS * count) as f64;
            samples[who].0.push(ns);
            samples[who].1.push(ns * ghz);
        }
    }
    black_box(&states);
    cpu::limit(limit);
    let ghz = median(&mut clocks);
    (turns.into_iter().zip(&mut samples))
        .map(|((states, kernels), (ns, cycles))| Permutation {
            states,
            kernels,
            ns: median(ns),
            cycles: median(cycles),
            ghz,
        })
        .collect()
}

/// Core cycles a nanosecond, now.
fn clock() -> f64 {
    let mut link = black_box(3_u64);
    let mask = black_box(0x9e37_79b9_7f4a_7c15_u64);
    let before = now();
    for _ in 0..LINKS {
        // Nothing here can be computed ahead of what came before: the product's two factors are the link itself.
        link = link.wrapping_mul(link) ^ mask;
    }
    black_box(link);
    f64::from(LINKS) * LINK_CYCLES / (now() - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_of_this_machine_runs_its_own_table_once() {
        let rows = measure(None);
        let mut names: Vec<String> = rows.iter().map(Permutation::op).collect();
        assert!(rows.iter().all(|row| row.kernels <= cpu::detected() && row.cycles > 0.0));
        names.dedup();
        assert_eq!(names.len(), rows.len());
        if cfg!(target_arch = "x86_64") {
            assert_eq!(rows.last().map(|row| row.states), Some(1));
        }
    }
}
