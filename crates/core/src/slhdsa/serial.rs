//! FIPS 205, §11: the functions of the families, one message at a time.

use super::address::Address;
use crate::serial::{self, Pieces, Take};
use crate::sha2_lanes::{INITIAL_256, INITIAL_512, behind};

/// The most bytes of a node, n.
pub(super) const MAX_N: usize = 32;

/// The functions of a parameter set: pointers, so that a program with one set holds no other hash function.
#[derive(Debug)]
pub(super) struct Functions {
    /// H_msg.
    pub message: MessageHash,
    /// The start of the other functions' messages, PK.seed.
    pub start: fn(&[u8]) -> Start,
    /// F.
    pub short: Function,
    /// Replaces a value by F of it, as many times as a number says; the last word of the address counts them.
    pub chain: fn(&Start, &Address, u32, &mut [u8]),
    /// H and T_l.
    pub long: Function,
}

/// The hash of R, PK.seed, PK.root and a message in pieces.
type MessageHash = fn([&[u8]; 3], &[&[u8]], &mut [u8]);

/// The first bytes of the hash of PK.seed, an address and a message.
type Function = fn(&Start, &Address, &mut Pieces<'_>, &mut [u8]);

/// PK.seed, or the states behind it and zeros up to the end of a block.
pub(super) struct Start {
    seed: [u8; MAX_N],
    short: [u32; 8],
    long: [u64; 8],
}

impl Start {
    const NONE: Self = Self { seed: [0; MAX_N], short: [0; 8], long: [0; 8] };
}

pub(super) static SHA_256: Functions = Functions {
    message: |head, message, out| {
        mgf1::<32>(|pieces, out| serial::sha_256(&INITIAL_256, 0, pieces, out), head, message, out);
    },
    start: |seed| Start { short: behind(INITIAL_256, &padded(seed)), ..Start::NONE },
    short: hash_256,
    chain: chain_256,
    long: hash_256,
};

pub(super) static SHA_256_AND_512: Functions = Functions {
    message: |head, message, out| {
        mgf1::<64>(|pieces, out| serial::sha_512(&INITIAL_512, 0, pieces, out), head, message, out);
    },
    start: |seed| Start {
        short: behind(INITIAL_256, &padded(seed)),
        long: behind(INITIAL_512, &padded(seed)),
        ..Start::NONE
    },
    short: hash_256,
    chain: chain_256,
    long: |start, address, pieces, out| {
        serial::sha_512(&start.long, 128, &mut with(&address.compressed(), pieces), out);
    },
};

pub(super) static SHAKE: Functions = Functions {
    message: |head, message, out| {
        let mut all = |take: &mut Take<'_>| head.iter().chain(message).for_each(|piece| take(piece));
        serial::shake_256(&[], &mut all, out);
    },
    start: |seed| Start { seed: padded(seed), ..Start::NONE },
    short: hash_shake,
    chain: |start, address, steps, value| {
        serial::chain_of_shake_256(&start.seed[..value.len()], &address.bytes(), steps, value);
    },
    long: hash_shake,
};

fn hash_256(start: &Start, address: &Address, pieces: &mut Pieces<'_>, out: &mut [u8]) {
    serial::sha_256(&start.short, 64, &mut with(&address.compressed(), pieces), out);
}

fn chain_256(start: &Start, address: &Address, steps: u32, value: &mut [u8]) {
    serial::chain_of_sha_256(&start.short, 64, &address.compressed(), steps, value);
}

fn hash_shake(start: &Start, address: &Address, pieces: &mut Pieces<'_>, out: &mut [u8]) {
    // PK.seed has as many bytes as a node.
    serial::shake_256(&start.seed[..out.len()], &mut with(&address.bytes(), pieces), out);
}

/// The pieces behind another.
fn with(head: &[u8], pieces: &mut Pieces<'_>) -> impl FnMut(&mut Take<'_>) {
    move |take| {
        take(head);
        pieces(take);
    }
}

/// PK.seed and zeros.
fn padded<const N: usize>(seed: &[u8]) -> [u8; N] {
    let mut block = [0; N];
    block[..seed.len()].copy_from_slice(seed);
    block
}

/// MGF1 (RFC 8017, Appendix B.2.1) of R ‖ PK.seed ‖ hash(R ‖ PK.seed ‖ PK.root ‖ M).
fn mgf1<const LEN: usize>(
    hash: impl Fn(&mut Pieces<'_>, &mut [u8]),
    head: [&[u8]; 3],
    message: &[&[u8]],
    out: &mut [u8],
) {
    let mut inner = [0; LEN];
    hash(&mut |take| head.iter().chain(message).for_each(|piece| take(piece)), &mut inner);
    for (counter, out) in (0_u32..).zip(out.chunks_mut(LEN)) {
        let counter = counter.to_be_bytes();
        hash(&mut |take| [head[0], head[1], &inner, &counter].into_iter().for_each(take), out);
    }
}
