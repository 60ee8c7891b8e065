//! One hash after the other, of messages in pieces: for programs without the memory for several, and for single messages.

use crate::sha2_lanes::{Single, behind};
use crate::sha3::{Shake256, Sponge};

/// Function that takes the next piece of a message.
pub(crate) type Take<'t> = dyn FnMut(&[u8]) + 't;

/// Calls the function that it is given with each piece of a message.
pub(crate) type Pieces<'p> = dyn FnMut(&mut Take<'_>) + 'p;

/// The first bytes of SHA-256 of a message, from the state behind `before` bytes on.
#[inline(never)]
pub(crate) fn sha_256(state: &[u32; 8], before: usize, pieces: &mut Pieces<'_>, out: &mut [u8]) {
    let mut hash = Single::<_, 64>::new(*state, before);
    pieces(&mut |piece| hash.update(piece));
    hash.finish(out);
}

/// The first bytes of SHA-512 of a message, from the state behind `before` bytes on.
#[inline(never)]
pub(crate) fn sha_512(state: &[u64; 8], before: usize, pieces: &mut Pieces<'_>, out: &mut [u8]) {
    let mut hash = Single::<_, 128>::new(*state, before);
    pieces(&mut |piece| hash.update(piece));
    hash.finish(out);
}

/// The domain bits of SHAKE and the first bit of the padding (FIPS 202, §6.2). A sponge is used in place: one that is moved leaves copies in the frame.
const SHAKE: u8 = 0b1_1111;

/// The first bytes of SHAKE256 of `prefix` and a message.
#[inline(never)]
pub(crate) fn shake_256(prefix: &[u8], pieces: &mut Pieces<'_>, out: &mut [u8]) {
    let mut hash = Sponge::new(Shake256::RATE);
    hash.absorb(prefix);
    pieces(&mut |piece| hash.absorb(piece));
    hash.finish(SHAKE);
    hash.squeeze(out);
}

/// Replaces a value by SHA-256 of head ‖ value as many times as `steps` says, from a state on that `before` bytes led to. The head's last byte counts
/// the steps; head and value have at most 55 bytes, so that one block holds them.
///
/// Variable time in the number of steps, which signatures show.
#[inline(always)] // into a function behind a pointer: without another frame
pub(crate) fn chain_of_sha_256(state: &[u32; 8], before: usize, head: &[u8], steps: u32, value: &mut [u8]) {
    let mut block = [0; 64];
    let len = head.len() + value.len();
    block[..head.len()].copy_from_slice(head);
    block[len] = 0x80;
    block[56..].copy_from_slice(&(8 * (before + len) as u64).to_be_bytes());
    for _ in 0..steps {
        block[head.len()..len].copy_from_slice(value);
        for (bytes, word) in value.as_chunks_mut().0.iter_mut().zip(behind(*state, &block)) {
            *bytes = word.to_be_bytes();
        }
        block[head.len() - 1] = block[head.len() - 1].wrapping_add(1);
    }
}

/// Replaces a value by SHAKE256 of prefix ‖ head ‖ value as many times as `steps` says; the head's last byte counts the steps.
///
/// Variable time in the number of steps, which signatures show.
#[inline(always)]
pub(crate) fn chain_of_shake_256<const HEAD: usize>(
    prefix: &[u8],
    head: &[u8; HEAD],
    steps: u32,
    value: &mut [u8],
) {
    let mut head = *head;
    let mut hash = Sponge::new(Shake256::RATE);
    for _ in 0..steps {
        hash.restart(Shake256::RATE);
        for piece in [prefix, &head, value] {
            hash.absorb(piece);
        }
        hash.finish(SHAKE);
        hash.squeeze(value);
        head[HEAD - 1] = head[HEAD - 1].wrapping_add(1);
    }
}
