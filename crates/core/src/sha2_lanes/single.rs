//! One message of SHA-256 or SHA-512, in pieces, from a state on: the compression is that of the crate `sha2`.

use sha2::block_api::{compress256, compress512};

/// A hash of a message that is given in pieces.
pub(crate) struct Single<W, const BLOCK: usize> {
    state: [W; 8],
    /// Bytes of the message, with those that led to the first state.
    len: usize,
    /// The current block: its first `len % BLOCK` bytes.
    block: [u8; BLOCK],
}

/// A word of SHA-256, whose blocks have 64 bytes, or of SHA-512, whose blocks have 128.
pub(crate) trait BlockWord<const BLOCK: usize>: Copy {
    fn compress(state: &mut [Self; 8], blocks: &[[u8; BLOCK]]);

    /// Writes the first bytes of the word.
    fn write(self, out: &mut [u8]);
}

macro_rules! words {
    ($($word:ty, $block:literal, $compress:ident;)*) => {$(
        impl BlockWord<$block> for $word {
            #[inline(always)]
            fn compress(state: &mut [Self; 8], blocks: &[[u8; $block]]) {
                $compress(state, blocks);
            }

            #[inline(always)]
            fn write(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_be_bytes()[..out.len()]);
            }
        }
    )*};
}

words! {
    u32, 64, compress256;
    u64, 128, compress512;
}

/// The state behind a block.
#[inline(always)]
pub(crate) fn behind<W: BlockWord<BLOCK>, const BLOCK: usize>(
    mut state: [W; 8],
    block: &[u8; BLOCK],
) -> [W; 8] {
    W::compress(&mut state, core::slice::from_ref(block));
    state
}

impl<W: BlockWord<BLOCK>, const BLOCK: usize> Single<W, BLOCK> {
    /// A hash from the state behind `before` bytes on; these are whole blocks.
    #[inline(always)]
    pub(crate) const fn new(state: [W; 8], before: usize) -> Self {
        debug_assert!(before & (BLOCK - 1) == 0);
        Self { state, len: before, block: [0; BLOCK] }
    }

    /// Takes the next piece of the message.
    pub(crate) fn update(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            let place = self.len & (BLOCK - 1);
            let (blocks, rest) = piece.as_chunks();
            if place == 0 && !blocks.is_empty() {
                W::compress(&mut self.state, blocks);
                self.len += piece.len() - rest.len();
                piece = rest;
                continue;
            }
            let (taken, rest) = piece.split_at(piece.len().min(BLOCK - place));
            self.block[place..place + taken.len()].copy_from_slice(taken);
            self.len += taken.len();
            if place + taken.len() == BLOCK {
                W::compress(&mut self.state, core::slice::from_ref(&self.block));
            }
            piece = rest;
        }
    }

    /// Writes the first bytes of the hash.
    pub(crate) fn finish(&mut self, out: &mut [u8]) {
        let place = self.len & (BLOCK - 1);
        self.block[place] = 0x80;
        self.block[place + 1..].fill(0);
        // The length takes an eighth of a block.
        if place + 1 + (BLOCK >> 3) > BLOCK {
            W::compress(&mut self.state, core::slice::from_ref(&self.block));
            self.block.fill(0);
        }
        self.block[BLOCK - 8..].copy_from_slice(&(8 * self.len as u64).to_be_bytes());
        W::compress(&mut self.state, core::slice::from_ref(&self.block));
        for (out, word) in out.chunks_mut(size_of::<W>()).zip(self.state) {
            word.write(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{INITIAL_256, INITIAL_512};
    use super::*;
    use sha2::{Digest as _, Sha256, Sha512};

    #[test]
    fn messages_in_pieces_are_hashed_as_whole() {
        let bytes: [u8; 300] = core::array::from_fn(|i| (7 * i) as u8);
        for len in [0, 1, 54, 55, 56, 63, 64, 65, 110, 111, 112, 127, 128, 129, 300] {
            for cut in [0, 1, 64, 128].map(|cut: usize| cut.min(len)) {
                let (first, second) = bytes[..len].split_at(cut);
                let (mut short, mut long) = (Single::new(INITIAL_256, 0), Single::new(INITIAL_512, 0));
                for piece in [first, second] {
                    short.update(piece);
                    long.update(piece);
                }
                let mut digests = ([0; 32], [0; 64]);
                short.finish(&mut digests.0);
                long.finish(&mut digests.1);
                assert_eq!(digests.0, Sha256::digest(&bytes[..len]).as_slice(), "{len} {cut}");
                assert_eq!(digests.1, Sha512::digest(&bytes[..len]).as_slice(), "{len} {cut}");
            }
        }
    }

    #[test]
    fn a_hash_goes_on_from_the_state_behind_a_block() {
        let bytes: [u8; 200] = core::array::from_fn(|i| i as u8);
        let mut digest = [0; 24];
        let mut hash = Single::new(behind(INITIAL_256, bytes[..64].try_into().unwrap()), 64);
        hash.update(&bytes[64..]);
        hash.finish(&mut digest);
        assert_eq!(digest, Sha256::digest(bytes)[..24]);
    }
}
