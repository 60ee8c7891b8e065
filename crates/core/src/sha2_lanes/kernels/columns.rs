//! SHA-256 by the processor's instructions, which take four words of one lane: two lanes at a time, which hides the latency of a round.

use super::{MASKED_END, MASKED_LEN};
use crate::sha2_lanes::{Chain, Form, INITIAL_256, K_256, LANES_32, MaskedChain, Rows32};

/// Four words of a lane, with the instructions for SHA-256.
pub(super) trait Four: Copy {
    fn new(words: [u32; 4]) -> Self;

    fn words(self) -> [u32; 4];

    fn add(self, other: Self) -> Self;

    fn and(self, other: Self) -> Self;

    fn or(self, other: Self) -> Self;

    fn xor(self, other: Self) -> Self;

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
    let (mut states, mut blocks) = ([[F::new([0; 4]); 2]; N], [[F::new([0; 4]); 4]; N]);
    for ((before, words), lane) in states.iter_mut().zip(&mut blocks).zip(lanes) {
        *before = columns(&state.0, lane);
        *words = columns(&block.0, lane);
    }
    compress(&mut states, blocks);
    for (after, lane) in states.into_iter().zip(lanes) {
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
    let (mut mask, mut end) = ([0; 12], [0; 12]);
    mask[..form.words].fill(u32::MAX);
    end[form.words] = 0x8000_0000;
    let (mask, end) = (fours::<F, 3>(mask.as_chunks().0), fours::<F, 3>(end.as_chunks().0));
    let zero = F::new([0; 4]);
    let len = F::new([0, 0, 0, 8 * form.len]);
    let step = F::new([0, 1 << REST, 0, 0]);
    let (mut start, mut count, mut values) = ([zero; N], [zero; N], [[zero; 2]; N]);
    for (i, lane) in lanes.into_iter().enumerate() {
        [start[i], values[i][0], values[i][1]] = [
            column(&chain.head.0, 0, lane),
            column(&chain.value.0, 0, lane),
            column(&chain.value.0, 4, lane),
        ];
        count[i] = F::new([chain.head.0[4][lane], chain.head.0[5][lane], 0, 0]);
    }
    for _ in 0..steps {
        let mut blocks = [[zero; 4]; N];
        for (i, block) in blocks.iter_mut().enumerate() {
            let low = values[i][0].and(mask[0]).or(end[0]);
            let high = values[i][1].and(mask[1]).or(end[1]);
            *block = [
                start[i],
                count[i].or(behind::<F, BITS, REST>(zero, low)),
                behind::<F, BITS, REST>(low, high),
                len.or(behind::<F, BITS, REST>(high, end[2])),
            ];
            count[i] = count[i].add(step);
        }
        values = [prefix; N];
        compress(&mut values, blocks);
    }
    for (i, lane) in lanes.into_iter().enumerate() {
        chain.head.0[5][lane] = count[i].words()[1];
        set_column(&mut chain.value.0, lane, values[i]);
    }
}

/// As [`run_masked_chain`](super::run_masked_chain), two lanes at a time.
#[inline(always)]
pub(super) fn run_masked_chain<F: Four>(prf: &[u32; 8], chain: &mut MaskedChain, steps: usize, count: usize) {
    for lane in (0..count & !1).step_by(2) {
        masked_chain_columns::<F, 2>(prf, chain, steps, [lane, lane + 1]);
    }
    if count & 1 == 1 {
        masked_chain_columns::<F, 1>(prf, chain, steps, [count - 1]);
    }
}

#[inline(always)]
fn masked_chain_columns<F: Four, const N: usize>(
    prf: &[u32; 8],
    chain: &mut MaskedChain,
    steps: usize,
    lanes: [usize; N],
) {
    let (prf, initial) = (fours::<F, 2>(prf.as_chunks().0), fours::<F, 2>(INITIAL_256.as_chunks().0));
    let zero = F::new([0; 4]);
    let (end, len) = (F::new([MASKED_END, 0, 0, 0]), F::new([0, 0, 0, MASKED_LEN]));
    let (second, next) = (F::new([0, 0, 0, 1]), F::new([0, 0, 1, 0]));
    let (mut address, mut values) = ([[zero; 2]; N], [[zero; 2]; N]);
    for (i, lane) in lanes.into_iter().enumerate() {
        (address[i], values[i]) = (columns(&chain.address.0, lane), columns(&chain.value.0, lane));
        let [a, b, c, _] = address[i][1].words();
        address[i][1] = F::new([a, b, c, 0]);
    }
    for _ in 0..steps {
        let (mut keys, mut masks) = ([prf; N], [prf; N]);
        let mut blocks = [[zero, zero, end, len]; N];
        for i in 0..N {
            (blocks[i][0], blocks[i][1]) = (address[i][0], address[i][1]);
        }
        compress(&mut keys, blocks);
        for block in &mut blocks {
            block[1] = block[1].add(second);
        }
        compress(&mut masks, blocks);
        let mut of_keys = [[zero; 4]; N];
        for i in 0..N {
            (of_keys[i][2], of_keys[i][3]) = (keys[i][0], keys[i][1]);
            (blocks[i][0], blocks[i][1]) = (values[i][0].xor(masks[i][0]), values[i][1].xor(masks[i][1]));
            address[i][1] = address[i][1].add(next);
        }
        values = [initial; N];
        compress(&mut values, of_keys);
        compress(&mut values, blocks);
    }
    for (i, lane) in lanes.into_iter().enumerate() {
        chain.address.0[6][lane] = address[i][1].words()[2];
        set_column(&mut chain.value.0, lane, values[i]);
    }
}

/// Words behind those before them, from the word with the end of the head on.
#[inline(always)]
fn behind<F: Four, const BITS: i32, const REST: i32>(before: F, words: F) -> F {
    words.after_one_of(before).behind::<BITS, REST>(words.after_two_of(before))
}

#[inline(always)]
fn fours<F: Four, const N: usize>(words: &[[u32; 4]]) -> [F; N] {
    let mut fours = [F::new([0; 4]); N];
    for (four, words) in fours.iter_mut().zip(words) {
        *four = F::new(*words);
    }
    fours
}

/// Four words of a lane, from this row on.
#[inline(always)]
fn column<F: Four>(rows: &[[u32; LANES_32]], row: usize, lane: usize) -> F {
    F::new([rows[row][lane], rows[row + 1][lane], rows[row + 2][lane], rows[row + 3][lane]])
}

/// All words of a lane.
#[inline(always)]
fn columns<F: Four, const N: usize>(rows: &[[u32; LANES_32]], lane: usize) -> [F; N] {
    let mut words = [F::new([0; 4]); N];
    for (i, four) in words.iter_mut().enumerate() {
        *four = column(rows, 4 * i, lane);
    }
    words
}

/// Puts eight words in a lane.
#[inline(always)]
fn set_column<F: Four>(rows: &mut [[u32; LANES_32]; 8], lane: usize, [low, high]: [F; 2]) {
    for (row, word) in rows.iter_mut().zip([low.words(), high.words()].as_flattened()) {
        row[lane] = *word;
    }
}

/// FIPS 180-4, §6.2.2: the states after a block each.
// Loops, here and above: a closure, such as one of `map`, would lack the features of the caller, and each intrinsic in it would be a call.
#[inline(always)]
fn compress<F: Four, const N: usize>(states: &mut [[F; 2]; N], w: [[F; 4]; N]) {
    let zero = F::new([0; 4]);
    let mut before = [[zero; 2]; N];
    let mut lanes = [([zero; 2], [zero; 4]); N];
    for i in 0..N {
        before[i] = F::arrange(states[i]);
        lanes[i] = (before[i], w[i]);
    }
    sixteen_rounds::<F, false, N>(&mut lanes, 0);
    sixteen_rounds::<F, true, N>(&mut lanes, 16);
    sixteen_rounds::<F, true, N>(&mut lanes, 32);
    sixteen_rounds::<F, true, N>(&mut lanes, 48);
    for (i, (after, _)) in lanes.into_iter().enumerate() {
        states[i] = F::restore([after[0].add(before[i][0]), after[1].add(before[i][1])]);
    }
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
