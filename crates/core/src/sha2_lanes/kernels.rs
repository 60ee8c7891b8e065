//! The compression in force: the best table at or below `cpu::level()`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sha_ni;

use super::{Chain, Form, Rows32, Rows64, Word, compress};
use crate::cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Level;

/// The compressions of one instruction set, of as many lanes from the first on as are asked for.
pub(crate) struct Kernels {
    /// One block of SHA-256, after the state in `state`.
    pub compress_32: fn(state: &mut Rows32<8>, block: &Rows32<16>, count: usize),
    /// One block of SHA-512.
    pub compress_64: fn(state: &mut Rows64<8>, block: &Rows64<16>, count: usize),
    /// As many steps of chains of SHA-256.
    pub chain: fn(form: &Form, chain: &mut Chain, steps: usize, count: usize),
}

/// The table in force.
pub(crate) fn active() -> &'static Kernels {
    match cpu::level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => &avx512::AVX512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if sha_ni::is_there() => &sha_ni::AVX2_AND_SHA_NI,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => &avx2::AVX2,
        _ => &portable::PORTABLE,
    }
}

/// A vector of words that rows are loaded into.
trait Vector<T>: Word {
    const LANES: usize;

    fn splat(word: T) -> Self;

    /// `LANES` words from the start of the slice.
    fn load(row: &[T]) -> Self;

    fn store(self, row: &mut [T]);
}

#[inline(always)]
fn compress_rows<T, V: Vector<T>, const L: usize>(
    state: &mut [[T; L]; 8],
    block: &[[T; L]; 16],
    count: usize,
) {
    let mut lane = 0;
    while lane < count {
        let before: [V; 8] = core::array::from_fn(|i| V::load(&state[i][lane..]));
        let after = compress(&before, core::array::from_fn(|i| V::load(&block[i][lane..])));
        for (row, word) in state.iter_mut().zip(after) {
            word.store(&mut row[lane..]);
        }
        lane += V::LANES;
    }
}

/// A word that is joined with its neighbour.
trait Joined: Vector<u32> {
    /// The last bits of `before`, all but `BITS`, then the first `BITS` of this: to the right by `BITS`, and the word before in its place.
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self;
}

#[inline(always)]
fn run_chain<V: Joined>(form: &Form, chain: &mut Chain, steps: usize, count: usize) {
    match (form.words, form.bits) {
        (4, _) => chain_of::<V, 4, 16, 16>(form, chain, steps, count),
        (6, 16) => chain_of::<V, 6, 16, 16>(form, chain, steps, count),
        (6, _) => chain_of::<V, 6, 24, 8>(form, chain, steps, count),
        (_, 16) => chain_of::<V, 8, 16, 16>(form, chain, steps, count),
        _ => chain_of::<V, 8, 24, 8>(form, chain, steps, count),
    }
}

#[inline(always)]
fn chain_of<V: Joined, const N: usize, const BITS: i32, const REST: i32>(
    form: &Form,
    chain: &mut Chain,
    steps: usize,
    count: usize,
) {
    const { assert!(BITS + REST == 32) };
    let prefix = form.prefix.map(V::splat);
    let zero = V::splat(0);
    let len = V::splat(8 * form.len);
    let mut lane = 0;
    while lane < count {
        let mut head: [V; 6] = core::array::from_fn(|i| V::load(&chain.head.0[i][lane..]));
        let mut value: [V; N] = core::array::from_fn(|i| V::load(&chain.value.0[i][lane..]));
        for _ in 0..steps {
            let block = core::array::from_fn(|i| match i {
                0..5 => head[i],
                5 => head[5].add(value[0].behind::<BITS, REST>(zero)),
                i if i < 5 + N => value[i - 5].behind::<BITS, REST>(value[i - 6]),
                i if i == 5 + N => V::splat(0x80 << (24 - BITS)).add(zero.behind::<BITS, REST>(value[N - 1])),
                15 => len,
                _ => zero,
            });
            let state = compress(&prefix, block);
            value.copy_from_slice(&state[..N]);
            head[5] = head[5].add(V::splat(1 << REST));
        }
        head[5].store(&mut chain.head.0[5][lane..]);
        for (row, word) in chain.value.0.iter_mut().zip(value) {
            word.store(&mut row[lane..]);
        }
        lane += V::LANES;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{INITIAL_256, INITIAL_512};
    use super::*;
    use sha2::{Digest as _, Sha256, Sha512};
    use std::vec::Vec;

    fn tables() -> Vec<(&'static str, &'static Kernels)> {
        let mut tables = std::vec![("portable", &portable::PORTABLE)];
        #[cfg(target_arch = "x86_64")]
        {
            if cpu::detected() >= Level::Avx2 {
                tables.push(("avx2", &avx2::AVX2));
            }
            if sha_ni::is_there() {
                tables.push(("sha-ni", &sha_ni::AVX2_AND_SHA_NI));
            }
            if cpu::detected() >= Level::Avx512 {
                tables.push(("avx512", &avx512::AVX512));
            }
        }
        tables
    }

    fn byte(i: usize, lane: usize) -> u8 {
        (i * 7 + lane * 31 + 3) as u8
    }

    #[test]
    fn a_block_of_each_lane_is_hashed_as_alone() {
        for (name, table) in tables() {
            for count in [1, 2, 7, 8, 9, 16] {
                let (mut state, mut block) =
                    (Rows32::<8>(INITIAL_256.map(|word| [word; 16])), Rows32::<16>::ZERO);
                let message = |lane| (0..55).map(|i| byte(i, lane)).collect::<Vec<u8>>();
                for lane in 0..count {
                    let mut bytes = message(lane);
                    bytes.push(0x80);
                    bytes.extend((55 * 8_u64).to_be_bytes());
                    for (row, word) in block.0.iter_mut().zip(bytes.as_chunks().0) {
                        row[lane] = u32::from_be_bytes(*word);
                    }
                }
                (table.compress_32)(&mut state, &block, count);
                for lane in 0..count {
                    let digest: Vec<u8> = state.0.iter().flat_map(|row| row[lane].to_be_bytes()).collect();
                    assert_eq!(digest, Sha256::digest(message(lane)).as_slice(), "{name} {lane}");
                }
            }
            for count in [1, 3, 4, 5, 8] {
                let (mut state, mut block) =
                    (Rows64::<8>(INITIAL_512.map(|word| [word; 8])), Rows64::<16>::ZERO);
                let message = |lane| (0..111).map(|i| byte(i, lane)).collect::<Vec<u8>>();
                for lane in 0..count {
                    let mut bytes = message(lane);
                    bytes.push(0x80);
                    bytes.extend((111 * 8_u128).to_be_bytes());
                    for (row, word) in block.0.iter_mut().zip(bytes.as_chunks().0) {
                        row[lane] = u64::from_be_bytes(*word);
                    }
                }
                (table.compress_64)(&mut state, &block, count);
                for lane in 0..count {
                    let digest: Vec<u8> = state.0.iter().flat_map(|row| row[lane].to_be_bytes()).collect();
                    assert_eq!(digest, Sha512::digest(message(lane)).as_slice(), "{name} {lane}");
                }
            }
        }
    }

    #[test]
    fn chains_go_as_many_steps_as_hashes_one_after_the_other() {
        let forms = [(4, 16), (6, 16), (8, 16), (6, 24), (8, 24)];
        for ((name, table), (words, bits)) in
            tables().into_iter().flat_map(|table| forms.map(|form| (table, form)))
        {
            // A block of zeros before the head, or none.
            let mut prefix = Rows32::<8>(INITIAL_256.map(|word| [word; 16]));
            let before = if bits == 16 { 64 } else { 0 };
            if before > 0 {
                (portable::PORTABLE.compress_32)(&mut prefix, &Rows32::ZERO, 1);
            }
            let len = 20 + (bits >> 3) as usize;
            let form = Form {
                prefix: prefix.0.map(|row| row[0]),
                len: (before + len + 4 * words) as u32,
                words,
                bits,
            };
            let head = |lane: usize, step: usize| {
                let mut head: Vec<u8> = (0..len).map(|i| byte(i, lane)).collect();
                head[len - 1] = (lane + step) as u8;
                head
            };
            let mut chain = Chain { head: Rows32::ZERO, value: Rows32::ZERO };
            for lane in 0..16 {
                let mut bytes = head(lane, 0);
                bytes.resize(24, 0);
                for (row, word) in chain.head.0.iter_mut().zip(bytes.as_chunks().0) {
                    row[lane] = u32::from_be_bytes(*word);
                }
                for i in 0..words {
                    chain.value.0[i][lane] =
                        u32::from_be_bytes([0, 1, 2, 3].map(|j| byte(100 + 4 * i + j, lane)));
                }
            }
            for count in [1, 9, 16] {
                let mut chain = Chain { head: chain.head.clone(), value: chain.value.clone() };
                (table.chain)(&form, &mut chain, 3, count);
                for lane in 0..count {
                    let mut value: Vec<u8> = (0..4 * words).map(|i| byte(100 + i, lane)).collect();
                    for step in 0..3 {
                        let message: Vec<u8> =
                            std::iter::repeat_n(0, before).chain(head(lane, step)).chain(value).collect();
                        value = Sha256::digest(message)[..4 * words].to_vec();
                    }
                    let ours: Vec<u8> =
                        chain.value.0[..words].iter().flat_map(|row| row[lane].to_be_bytes()).collect();
                    assert_eq!(ours, value, "{name} {words} {bits} {lane}");
                    let next = chain.head.0[5][lane].to_be_bytes();
                    assert_eq!(next[..len - 20], head(lane, 3)[20..]);
                }
            }
        }
    }
}
