//! The kernels alone, with every lane busy: the time of a compression, which bounds the speed of the schemes.

use core::hint::black_box;

#[cfg(gambeson_ct)]
use super::MaskedChain;
use super::{Chain, Form, INITIAL_256, INITIAL_512, LANES_32, LANES_64, Rows32, Rows64, active};

/// Runs as many steps of chains of SHA-256 in every lane; returns the number of compressions.
pub fn sha_256(steps: usize) -> usize {
    // F of SLH-DSA with n = 16: a head of 22 bytes and a value of 16 behind a block.
    let form = Form { prefix: INITIAL_256, len: 64 + 22 + 16, words: 4, bits: 16 };
    let mut chain = black_box(Chain { head: Rows32::ZERO, value: Rows32::ZERO });
    (active().chain)(&form, &mut chain, steps, LANES_32);
    black_box(&chain);
    steps * LANES_32
}

/// Hashes as many blocks with SHA-512 in every lane; returns the number of compressions.
pub fn sha_512(blocks: usize) -> usize {
    let (mut state, block) = (Rows64(INITIAL_512.map(|word| [word; LANES_64])), black_box(Rows64::ZERO));
    for _ in 0..blocks {
        (active().compress_64)(&mut state, &block, LANES_64);
    }
    black_box(&state);
    blocks * LANES_64
}

/// Runs every kernel in `count` lanes on words made of `secret`, for the gates that compare traces.
#[cfg(gambeson_ct)]
pub fn on_secrets(secret: &[u8; 1024], count: usize) {
    let kernels = active();
    let mut words = secret.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).cycle();
    let mut row = || core::array::from_fn(|_| words.next().expect("an endless iterator"));
    let (mut state, block) = (Rows32([(); 8].map(|()| row())), Rows32([(); 16].map(|()| row())));
    (kernels.compress_32)(&mut state, &block, count);
    for (words, bits) in [(4, 16), (6, 16), (8, 16), (6, 24), (8, 24)] {
        let form = Form { prefix: INITIAL_256, len: 64, words, bits };
        let mut chain = Chain { head: Rows32([(); 6].map(|()| row())), value: state.clone() };
        (kernels.chain)(&form, &mut chain, 2, count);
        black_box(&chain);
    }
    let mut chain = MaskedChain { address: Rows32([(); 8].map(|()| row())), value: state.clone() };
    (kernels.masked_chain)(&INITIAL_256, &mut chain, 2, count);
    black_box(&chain);
    let mut words = secret.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).cycle();
    let mut row = || core::array::from_fn(|_| words.next().expect("an endless iterator"));
    let (mut state, block) = (Rows64([(); 8].map(|()| row())), Rows64([(); 16].map(|()| row())));
    (kernels.compress_64)(&mut state, &block, count.min(LANES_64));
    black_box(&state);
}
