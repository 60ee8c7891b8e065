//! RFC 8391, §5.1, and SP 800-208, §5: the functions of the families, one message at a time.

use crate::serial::{self, Pieces, Take};
use crate::sha2_lanes::{INITIAL_256, INITIAL_512, behind};
use crate::sha3::Shake128;

/// The hash functions of a parameter set: pointers, so that a program with one set holds no other.
#[derive(Debug)]
pub(super) struct Functions {
    /// The first bytes of the hash of a message.
    pub hash: fn(&mut Pieces<'_>, &mut [u8]),
    /// PRF of an address.
    pub prf: fn(&Prf<'_>, &[u8; 32], &mut [u8]),
    /// The state behind the start of PRF's messages, if that is a block of SHA-256.
    state: fn(&[u8], &[u8]) -> [u32; 8],
}

/// The start of PRF's messages, toByte(3, padding) ‖ SEED, and the state behind it.
pub(super) struct Prf<'k> {
    start: [&'k [u8]; 2],
    state: [u32; 8],
}

impl<'k> Prf<'k> {
    pub(super) fn new(functions: &Functions, padding: &'k [u8], seed: &'k [u8]) -> Self {
        Self { start: [padding, seed], state: (functions.state)(padding, seed) }
    }

    fn pieces(&self, address: &[u8; 32], take: &mut Take<'_>) {
        self.start.into_iter().chain([&address[..]]).for_each(take);
    }
}

/// The sets of SHA-256 with n = 32.
pub(super) static SHA_256: Functions = Functions {
    hash: sha_256,
    prf: |prf, address, out| serial::sha_256(&prf.state, 64, &mut |take| take(address), out),
    state: |padding, seed| {
        let mut block = [0; 64];
        block[..32].copy_from_slice(padding);
        block[32..].copy_from_slice(seed);
        behind(INITIAL_256, &block)
    },
};

/// The sets of SHA-256 with n = 24.
pub(super) static SHA_256_192: Functions = Functions {
    hash: sha_256,
    prf: |prf, address, out| sha_256(&mut |take| prf.pieces(address, take), out),
    state: no_state,
};

pub(super) static SHA_512: Functions = Functions {
    hash: sha_512,
    prf: |prf, address, out| sha_512(&mut |take| prf.pieces(address, take), out),
    state: no_state,
};

pub(super) static SHAKE_128: Functions = Functions {
    hash: shake_128,
    prf: |prf, address, out| shake_128(&mut |take| prf.pieces(address, take), out),
    state: no_state,
};

pub(super) static SHAKE_256: Functions = Functions {
    hash: shake_256,
    prf: |prf, address, out| shake_256(&mut |take| prf.pieces(address, take), out),
    state: no_state,
};

fn no_state(_: &[u8], _: &[u8]) -> [u32; 8] {
    [0; 8]
}

fn sha_256(pieces: &mut Pieces<'_>, out: &mut [u8]) {
    serial::sha_256(&INITIAL_256, 0, pieces, out);
}

fn sha_512(pieces: &mut Pieces<'_>, out: &mut [u8]) {
    serial::sha_512(&INITIAL_512, 0, pieces, out);
}

fn shake_128(pieces: &mut Pieces<'_>, out: &mut [u8]) {
    let mut hash = Shake128::new();
    pieces(&mut |piece| _ = hash.update(piece));
    hash.finalize_xof().squeeze(out);
}

fn shake_256(pieces: &mut Pieces<'_>, out: &mut [u8]) {
    serial::shake_256(&[], pieces, out);
}
