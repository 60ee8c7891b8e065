//! The compression in force: the best table at or below `cpu::level()`.

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod armv8;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
))]
mod columns;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sha_ni;

use super::{Chain, Form, INITIAL_256, MaskedChain, Rows32, Rows64, Word, compress};
use crate::cpu;

/// The compressions of one instruction set, of as many lanes from the first on as are asked for.
pub(crate) struct Kernels {
    /// One block of SHA-256, after the state in `state`.
    pub compress_32: fn(state: &mut Rows32<8>, block: &Rows32<16>, count: usize),
    /// One block of SHA-512.
    pub compress_64: fn(state: &mut Rows64<8>, block: &Rows64<16>, count: usize),
    /// As many steps of chains of SHA-256.
    pub chain: fn(form: &Form, chain: &mut Chain, steps: usize, count: usize),
    /// As many steps of chains of XMSS; `prf` is the state of SHA-256 behind toByte(3, 32) ‖ SEED.
    pub masked_chain: fn(prf: &[u32; 8], chain: &mut MaskedChain, steps: usize, count: usize),
}

/// The table in force.
pub(crate) fn active() -> &'static Kernels {
    match cpu::level() {
        #[cfg(target_arch = "x86_64")]
        cpu::Level::Avx512 => &avx512::AVX512,
        #[cfg(target_arch = "x86_64")]
        cpu::Level::Avx2 if cpu::sha2() => &sha_ni::AVX2_AND_SHA_NI,
        #[cfg(target_arch = "x86_64")]
        cpu::Level::Avx2 => &avx2::AVX2,
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        cpu::Level::Neon if cpu::sha2_with_512() => &armv8::SHA_256_AND_SHA_512,
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        cpu::Level::Neon if cpu::sha2() => &armv8::SHA_256,
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        cpu::Level::Neon => &neon::NEON,
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
        let after = compress::<V>(&load_rows(state, lane), load_rows(block, lane));
        for (row, word) in state.iter_mut().zip(after) {
            word.store(&mut row[lane..]);
        }
        lane += V::LANES;
    }
}

/// Vectors of the first rows from a lane on.
// A loop: a closure, such as one of `from_fn`, would lack the features of the caller, and each intrinsic in it would be a call.
#[inline(always)]
fn load_rows<T, V: Vector<T>, const L: usize, const N: usize>(rows: &[[T; L]], lane: usize) -> [V; N] {
    let mut vectors = [V::load(&rows[0][lane..]); N];
    for (vector, row) in vectors.iter_mut().zip(rows) {
        *vector = V::load(&row[lane..]);
    }
    vectors
}

/// A word that is joined with its neighbour.
trait Joined: Vector<u32> {
    /// The last bits of `before`, all but `BITS`, then the first `BITS` of this: to the right by `BITS`, and the word before in its place.
    fn behind<const BITS: i32, const REST: i32>(self, before: Self) -> Self;

    fn xor(self, other: Self) -> Self;
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
    let zero = V::splat(0);
    let mut prefix = [zero; 8];
    for (vector, word) in prefix.iter_mut().zip(form.prefix) {
        *vector = V::splat(word);
    }
    let end = V::splat(0x80 << (24 - BITS));
    let step = V::splat(1 << REST);
    let mut block = [zero; 16];
    block[15] = V::splat(8 * form.len);
    let mut lane = 0;
    while lane < count {
        let head: [V; 5] = load_rows(&chain.head.0, lane);
        let mut last = V::load(&chain.head.0[5][lane..]);
        let mut value: [V; N] = load_rows(&chain.value.0, lane);
        block[..5].copy_from_slice(&head);
        for _ in 0..steps {
            block[5] = last.add(value[0].behind::<BITS, REST>(zero));
            for i in 1..N {
                block[5 + i] = value[i].behind::<BITS, REST>(value[i - 1]);
            }
            block[5 + N] = end.add(zero.behind::<BITS, REST>(value[N - 1]));
            value.copy_from_slice(&compress(&prefix, block)[..N]);
            last = last.add(step);
        }
        last.store(&mut chain.head.0[5][lane..]);
        for (row, word) in chain.value.0.iter_mut().zip(value) {
            word.store(&mut row[lane..]);
        }
        lane += V::LANES;
    }
}

/// RFC 8391, Algorithm 2 (chain) with §5.1: a step hashes toByte(0, 32) ‖ KEY ‖ (value ⊕ BM), of which KEY and BM are hashes of
/// toByte(3, 32) ‖ SEED ‖ address.
#[inline(always)]
fn run_masked_chain<V: Joined>(prf: &[u32; 8], chain: &mut MaskedChain, steps: usize, count: usize) {
    let zero = V::splat(0);
    let (mut prefix, mut initial, mut end) = ([zero; 8], [zero; 8], [zero; 8]);
    for i in 0..8 {
        prefix[i] = V::splat(prf[i]);
        initial[i] = V::splat(INITIAL_256[i]);
    }
    (end[0], end[7]) = (V::splat(MASKED_END), V::splat(MASKED_LEN));
    let mut lane = 0;
    while lane < count {
        let mut address: [V; 8] = load_rows(&chain.address.0, lane);
        let mut value: [V; 8] = load_rows(&chain.value.0, lane);
        for _ in 0..steps {
            address[7] = zero;
            let key = compress(&prefix, halves(address, end));
            address[7] = V::splat(1);
            let mask = compress(&prefix, halves(address, end));
            for (word, mask) in value.iter_mut().zip(mask) {
                *word = word.xor(mask);
            }
            value = compress(&compress(&initial, halves([zero; 8], key)), halves(value, end));
            address[6] = address[6].add(V::splat(1));
        }
        address[6].store(&mut chain.address.0[6][lane..]);
        for (row, word) in chain.value.0.iter_mut().zip(value) {
            word.store(&mut row[lane..]);
        }
        lane += V::LANES;
    }
}

#[inline(always)]
fn halves<V: Copy>(first: [V; 8], second: [V; 8]) -> [V; 16] {
    let mut block = [first[0]; 16];
    block[..8].copy_from_slice(&first);
    block[8..].copy_from_slice(&second);
    block
}

/// The padding of a message of 96 bytes: a bit behind it, and its length in bits.
const MASKED_END: u32 = 1 << 31;
const MASKED_LEN: u32 = 8 * 96;

#[cfg(test)]
mod tests {
    use super::super::{INITIAL_256, INITIAL_512, LANES_32, LANES_64};
    use super::*;
    use sha2::{Digest as _, Sha256, Sha512};
    use std::vec::Vec;

    fn tables() -> Vec<(&'static str, &'static Kernels)> {
        let mut tables = std::vec![("portable", &portable::PORTABLE)];
        #[cfg(target_arch = "x86_64")]
        {
            if cpu::detected() >= cpu::Level::Avx2 {
                tables.push(("avx2", &avx2::AVX2));
            }
            if cpu::detected() >= cpu::Level::Avx2 && cpu::sha2() {
                tables.push(("sha-ni", &sha_ni::AVX2_AND_SHA_NI));
            }
            if cpu::detected() >= cpu::Level::Avx512 {
                tables.push(("avx512", &avx512::AVX512));
            }
        }
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        {
            tables.push(("neon", &neon::NEON));
            if cpu::sha2() {
                tables.push(("sha-256", &armv8::SHA_256));
            }
            if cpu::sha2_with_512() {
                tables.push(("sha-256 and sha-512", &armv8::SHA_256_AND_SHA_512));
            }
        }
        tables
    }

    fn byte(i: usize, lane: usize) -> u8 {
        (i * 7 + lane * 31 + 3) as u8
    }

    fn bytes(len: usize, lane: usize) -> Vec<u8> {
        (0..len).map(|i| byte(i, lane)).collect()
    }

    /// The blocks of a padded message (FIPS 180-4, §5.1).
    fn padded<const BLOCK: usize>(mut message: Vec<u8>) -> Vec<[u8; BLOCK]> {
        let bits = 8 * message.len() as u64;
        message.push(0x80);
        // The length takes an eighth of a block.
        while (message.len() + (BLOCK >> 3)) & (BLOCK - 1) != 0 {
            message.push(0);
        }
        message.resize(message.len() + (BLOCK >> 3) - 8, 0);
        message.extend(bits.to_be_bytes());
        message.as_chunks().0.to_vec()
    }

    /// Lengths around the ends of blocks and of the padding's place in them.
    const LENGTHS: [usize; 18] =
        [0, 1, 54, 55, 56, 63, 64, 65, 101, 111, 112, 119, 120, 127, 128, 129, 239, 240];

    macro_rules! compressions {
        ($test:ident, $compress:ident, $word:ident $rows:ident $lanes:ident $initial:ident, $block:literal $hash:ident) => {
            #[test]
            fn $test() {
                for (name, table) in tables() {
                    for (count, len) in (1..=$lanes).flat_map(|count| LENGTHS.map(|len| (count, len))) {
                        let blocks: Vec<Vec<[u8; $block]>> =
                            (0..count).map(|lane| padded(bytes(len, lane))).collect();
                        let mut state = $rows($initial.map(|word| [word; $lanes]));
                        let mut portable = state.clone();
                        for i in 0..blocks[0].len() {
                            let mut block = $rows::<16>::ZERO;
                            for (lane, blocks) in blocks.iter().enumerate() {
                                for (row, word) in block.0.iter_mut().zip(blocks[i].as_chunks().0) {
                                    row[lane] = $word::from_be_bytes(*word);
                                }
                            }
                            (table.$compress)(&mut state, &block, count);
                            (portable::PORTABLE.$compress)(&mut portable, &block, count);
                        }
                        for lane in 0..count {
                            let ours = state.0.map(|row| row[lane]);
                            assert_eq!(ours, portable.0.map(|row| row[lane]), "{name} {count} {len} {lane}");
                            let digest = ours.map($word::to_be_bytes);
                            let expected = $hash::digest(bytes(len, lane));
                            assert_eq!(digest.as_flattened(), expected.as_slice(), "{name} {len} {lane}");
                        }
                    }
                }
            }
        };
    }

    compressions!(every_table_hashes_as_sha_256, compress_32, u32 Rows32 LANES_32 INITIAL_256, 64 Sha256);
    compressions!(every_table_hashes_as_sha_512, compress_64, u64 Rows64 LANES_64 INITIAL_512, 128 Sha512);

    #[test]
    fn masked_chains_go_as_many_steps_as_hashes_one_after_the_other() {
        let seed: [u8; 32] = core::array::from_fn(|i| byte(i, 99));
        let prefixed =
            |kind: u8, parts: &[&[u8]]| -> Vec<u8> { [&[&[0; 31][..], &[kind]], parts].concat().concat() };
        let mut prf = Rows32::<8>(INITIAL_256.map(|word| [word; LANES_32]));
        let mut block = Rows32::<16>::ZERO;
        for (row, word) in block.0.iter_mut().zip(prefixed(3, &[&seed]).as_chunks().0) {
            row[0] = u32::from_be_bytes(*word);
        }
        (portable::PORTABLE.compress_32)(&mut prf, &block, 1);
        let prf = prf.0.map(|row| row[0]);
        let mut chain = MaskedChain { address: Rows32::ZERO, value: Rows32::ZERO };
        for (i, row) in chain.address.0.iter_mut().chain(&mut chain.value.0).enumerate() {
            *row =
                core::array::from_fn(|lane| u32::from_be_bytes([0, 1, 2, 3].map(|j| byte(4 * i + j, lane))));
        }
        let bytes = |rows: &Rows32<8>, lane: usize| -> Vec<u8> {
            rows.0.iter().flat_map(|row| row[lane].to_be_bytes()).collect()
        };
        for (name, table) in tables() {
            for (count, steps) in (1..=LANES_32).flat_map(|count| [0, 1, 3].map(|steps| (count, steps))) {
                let mut ours = MaskedChain { address: chain.address.clone(), value: chain.value.clone() };
                (table.masked_chain)(&prf, &mut ours, steps, count);
                for lane in 0..count {
                    let mut address = bytes(&chain.address, lane);
                    let mut value = bytes(&chain.value, lane);
                    for step in 0..steps as u32 {
                        let number = chain.address.0[6][lane] + step;
                        address[24..28].copy_from_slice(&number.to_be_bytes());
                        let [key, mask] = [0, 1].map(|last| {
                            address[28..].copy_from_slice(&[0, 0, 0, last]);
                            Sha256::digest(prefixed(3, &[&seed, &address]))
                        });
                        value.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
                        value = Sha256::digest(prefixed(0, &[&key, &value])).to_vec();
                    }
                    assert_eq!(bytes(&ours.value, lane), value, "{name} {count} {steps} {lane}");
                    assert_eq!(ours.address.0[6][lane], chain.address.0[6][lane] + steps as u32);
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
                let mut head = bytes(len, lane);
                head[len - 1] = (lane + step) as u8;
                head
            };
            let mut chain = Chain { head: Rows32::ZERO, value: Rows32::ZERO };
            for lane in 0..LANES_32 {
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
            for (count, steps) in (1..=LANES_32).flat_map(|count| [0, 1, 3].map(|steps| (count, steps))) {
                let mut chain = Chain { head: chain.head.clone(), value: chain.value.clone() };
                (table.chain)(&form, &mut chain, steps, count);
                for lane in 0..count {
                    let mut value: Vec<u8> = (0..4 * words).map(|i| byte(100 + i, lane)).collect();
                    for step in 0..steps {
                        let message: Vec<u8> =
                            std::iter::repeat_n(0, before).chain(head(lane, step)).chain(value).collect();
                        value = Sha256::digest(message)[..4 * words].to_vec();
                    }
                    let ours: Vec<u8> =
                        chain.value.0[..words].iter().flat_map(|row| row[lane].to_be_bytes()).collect();
                    assert_eq!(ours, value, "{name} {words} {bits} {count} {steps} {lane}");
                    let next = chain.head.0[5][lane].to_be_bytes();
                    assert_eq!(next[..len - 20], head(lane, steps)[20..]);
                }
            }
        }
    }
}
