//! SHA-256 by the processor's instructions, which take four words of one lane: two lanes at a time, which hides the latency of a round.

use crate::sha2_lanes::{Chain, Form, K_256, LANES_32, Rows32};

/// Four words of a lane, with the instructions for SHA-256.
pub(super) trait Four: Copy {
    fn new(words: [u32; 4]) -> Self;

    fn words(self) -> [u32; 4];

    fn add(self, other: Self) -> Self;

    fn and(self, other: Self) -> Self;

    fn or(self, other: Self) -> Self;

    /// Each word of this to the right by `BITS`, and the word before in its place.
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self;

    /// The last word of `before`, then the first three of this.
    fn after_one_of(self, before: Self) -> Self;

    /// The last two words of `before`, then the first two of this.
    fn after_two_of(self, before: Self) -> Self;

    /// The words a to h of a state, in the order of the instructions.
    fn arrange(state: [Self; 2]) -> [Self; 2];

    /// The inverse of [`arrange`](Self::arrange).
    fn restore(state: [Self; 2]) -> [Self; 2];

    /// FIPS 180-4, §6.2.2, step 1: the four words of the schedule behind the sixteen of `w`.
    fn schedule(w: [Self; 4]) -> Self;

    /// FIPS 180-4, §6.2.2, step 3: four rounds with the sums of constants and words of the schedule.
    fn four_rounds(state: [Self; 2], wk: Self) -> [Self; 2];
}

#[inline(always)]
pub(super) fn compress_rows<F: Four>(state: &mut Rows32<8>, block: &Rows32<16>, count: usize) {
    for lane in (0..count & !1).step_by(2) {
        compress_columns::<F, 2>(state, block, [lane, lane + 1]);
    }
    if count & 1 == 1 {
        compress_columns::<F, 1>(state, block, [count - 1]);
    }
}

#[inline(always)]
fn compress_columns<F: Four, const N: usize>(state: &mut Rows32<8>, block: &Rows32<16>, lanes: [usize; N]) {
    let before = lanes.map(|lane| [0, 4].map(|row| column(&state.0, row, lane)));
    let after: [[F; 2]; N] =
        compress(before, lanes.map(|lane| [0, 4, 8, 12].map(|row| column(&block.0, row, lane))));
    for (lane, after) in lanes.into_iter().zip(after) {
        set_column(&mut state.0, lane, after);
    }
}

#[inline(always)]
pub(super) fn run_chain<F: Four>(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    match form.bits {
        16 => chain_of::<F, 16, 16>(form, chain, steps, count),
        _ => chain_of::<F, 24, 8>(form, chain, steps, count),
    }
}

#[inline(always)]
fn chain_of<F: Four, const BITS: i32, const REST: i32>(
    form: &Form,
    chain: &mut Chain,
    steps: usize,
    count: usize,
) {
    for lane in (0..count & !1).step_by(2) {
        chain_columns::<F, BITS, REST, 2>(form, chain, steps, [lane, lane + 1]);
    }
    if count & 1 == 1 {
        chain_columns::<F, BITS, REST, 1>(form, chain, steps, [count - 1]);
    }
}

#[inline(always)]
fn chain_columns<F: Four, const BITS: i32, const REST: i32, const N: usize>(
    form: &Form,
    chain: &mut Chain,
    steps: usize,
    lanes: [usize; N],
) {
    let [a, b, c, d, e, f, g, h] = form.prefix;
    let prefix = [F::new([a, b, c, d]), F::new([e, f, g, h])];
    // The words of a value, then the bit behind it and zeros: masks of the former, and the latter.
    let masks =
        [0, 4].map(|first| F::new([0, 1, 2, 3].map(|i| if first + i < form.words { u32::MAX } else { 0 })));
    let [low_end, high_end, end] = [0, 4, 8]
        .map(|first| F::new([0, 1, 2, 3].map(|i| if first + i == form.words { 0x8000_0000 } else { 0 })));
    let zero = F::new([0; 4]);
    let len = F::new([0, 0, 0, 8 * form.len]);
    let step = F::new([0, 1 << REST, 0, 0]);
    let start: [F; N] = lanes.map(|lane| column(&chain.head.0, 0, lane));
    let mut count = lanes.map(|lane| F::new([chain.head.0[4][lane], chain.head.0[5][lane], 0, 0]));
    let mut values: [[F; 2]; N] = lanes.map(|lane| [0, 4].map(|row| column(&chain.value.0, row, lane)));
    for _ in 0..steps {
        let blocks: [[F; 4]; N] = core::array::from_fn(|i| {
            let low = values[i][0].and(masks[0]).or(low_end);
            let high = values[i][1].and(masks[1]).or(high_end);
            // Words behind those before them, from the word with the end of the head on.
            let behind = |before: F, words: F| {
                words.after_one_of(before).behind::<BITS, REST>(words.after_two_of(before))
            };
            [start[i], count[i].or(behind(zero, low)), behind(low, high), len.or(behind(high, end))]
        });
        values = compress([prefix; N], blocks);
        count = count.map(|count| count.add(step));
    }
    for ((lane, value), count) in lanes.into_iter().zip(values).zip(count) {
        chain.head.0[5][lane] = count.words()[1];
        set_column(&mut chain.value.0, lane, value);
    }
}

/// Four words of a lane, from this row on.
#[inline(always)]
fn column<F: Four>(rows: &[[u32; LANES_32]], row: usize, lane: usize) -> F {
    F::new([0, 1, 2, 3].map(|i| rows[row + i][lane]))
}

/// Puts eight words in a lane.
#[inline(always)]
fn set_column<F: Four>(rows: &mut [[u32; LANES_32]; 8], lane: usize, words: [F; 2]) {
    for (row, word) in rows.iter_mut().zip(words.map(F::words).as_flattened()) {
        row[lane] = *word;
    }
}

#[inline(always)]
fn compress<F: Four, const N: usize>(before: [[F; 2]; N], w: [[F; 4]; N]) -> [[F; 2]; N] {
    let before = before.map(F::arrange);
    let mut lanes: [_; N] = core::array::from_fn(|i| (before[i], w[i]));
    sixteen_rounds::<F, false, N>(&mut lanes, 0);
    sixteen_rounds::<F, true, N>(&mut lanes, 16);
    sixteen_rounds::<F, true, N>(&mut lanes, 32);
    sixteen_rounds::<F, true, N>(&mut lanes, 48);
    core::array::from_fn(|i| F::restore([0, 1].map(|half| lanes[i].0[half].add(before[i][half]))))
}

/// Rounds from t on, with the next words of the schedule or the first.
#[inline(always)]
fn sixteen_rounds<F: Four, const SCHEDULED: bool, const N: usize>(
    lanes: &mut [([F; 2], [F; 4]); N],
    t: usize,
) {
    for i in 0..4 {
        let k = F::new(*K_256[t + 4 * i..].first_chunk().expect("four of 64 constants"));
        for (state, w) in &mut *lanes {
            let next = if SCHEDULED { F::schedule(*w) } else { w[0] };
            *w = [w[1], w[2], w[3], next];
            *state = F::four_rounds(*state, next.add(k));
        }
    }
}
