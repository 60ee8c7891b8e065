//! SPONGE\[Keccak-f\[1600\], pad10*1, r\] (FIPS 202, Algorithm 8 (SPONGE)), one state and a position, no block buffer; and the same
//! with half the rounds.

use zeroize::Zeroize;

use super::State;
use super::kernels::{self, interleaved};

macro_rules! sponge {
    ($($sponge:ident, $squeeze:ident, $permute:expr, $text:literal;)*) => {$(
        /// A sponge that absorbs.
        #[derive(Clone)]
        pub(crate) struct $sponge {
            state: State,
            /// Bytes of a block, a multiple of 8.
            rate: u8,
            /// Bytes absorbed or squeezed in the current block, < rate while absorbing, ≤ rate while squeezing.
            position: u8,
        }

        impl $sponge {
            /// A sponge with `rate` bytes a block.
            pub(crate) const fn new(rate: usize) -> Self {
                assert!(rate < 200 && rate.is_multiple_of(8));
                Self { state: State::new(), rate: rate as u8, position: 0 }
            }

            /// Empties it for the next input, in place: a sponge that is moved leaves its state behind.
            #[allow(dead_code)] // Of the two sponges, one is used again.
            pub(crate) fn restart(&mut self, rate: usize) {
                self.state.zeroize();
                (self.rate, self.position) = (rate as u8, 0);
            }

            pub(crate) fn absorb(&mut self, mut data: &[u8]) {
                if cfg!(gambeson_size) {
                    return self.absorb_by_lanes(data);
                }
                // Up to the next lane, byte by byte; then whole lanes; then what is left of one.
                while !data.is_empty() {
                    let position = usize::from(self.position);
                    let rate = usize::from(self.rate);
                    if position & 7 == 0 && data.len() >= 8 {
                        let lanes = ((rate - position) >> 3).min(data.len() >> 3);
                        let (words, rest) = data.split_at(8 * lanes);
                        interleaved::absorb(&mut self.state.0[position >> 3..][..lanes], words.as_chunks().0);
                        data = rest;
                        self.advance(8 * lanes);
                    } else if interleaved::IN_FORCE && position & 7 == 0 {
                        // One exchange of bits, not one a byte.
                        let word = data.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                        self.state.0[position >> 3] ^= interleaved::from_word(word);
                        return self.advance(data.len());
                    } else {
                        self.state.0[position >> 3] ^= interleaved::from_byte(data[0], position & 7);
                        data = &data[1..];
                        self.advance(1);
                    }
                }
            }

            /// The same in one loop, in a build for size.
            #[inline(never)]
            fn absorb_by_lanes(&mut self, mut data: &[u8]) {
                while !data.is_empty() {
                    let (piece, rest) = data.split_at(data.len().min(8 - usize::from(self.position & 7)));
                    self.mix(piece);
                    if self.position == self.rate {
                        self.permute();
                    }
                    data = rest;
                }
            }

            /// Adds what does not go beyond the lane at hand.
            #[inline(never)]
            fn mix(&mut self, piece: &[u8]) {
                let word = match piece.first_chunk() {
                    Some(word) => u64::from_le_bytes(*word),
                    None => piece.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
                };
                if let Some(lane) = self.state.0.get_mut(usize::from(self.position >> 3)) {
                    *lane ^= interleaved::from_word_at(word, usize::from(self.position & 7));
                }
                self.position += piece.len() as u8;
            }

            #[inline]
            fn advance(&mut self, bytes: usize) {
                self.position += bytes as u8;
                if self.position == self.rate {
                    self.permute();
                }
            }

            #[cfg_attr(gambeson_size, inline(never))]
            fn permute(&mut self) {
                let permute: fn(&mut State) = $permute;
                permute(&mut self.state);
                self.position = 0;
            }

            /// Zero bytes up to the end of the block.
            #[allow(dead_code)] // Of the two sponges, one is asked for them.
            pub(super) fn absorb_zeros_to_block_end(&mut self) {
                if self.position != 0 {
                    self.permute();
                }
            }

            /// Appends the domain bits and pad10*1 (FIPS 202, §5.1 and Appendix B.2): `suffix` holds the domain bits and the
            /// first 1, least significant first.
            pub(crate) fn finish(&mut self, suffix: u8) {
                if cfg!(gambeson_size) {
                    self.mix(&[suffix]);
                } else {
                    let position = usize::from(self.position);
                    self.state.0[position >> 3] ^= interleaved::from_byte(suffix, position & 7);
                }
                // The last bit is the last in either form of a lane.
                self.state.0[(usize::from(self.rate) >> 3) - 1] ^= 1 << 63;
                self.permute();
            }

            pub(super) fn pad(mut self, suffix: u8) -> $squeeze {
                self.finish(suffix);
                $squeeze(self)
            }

            /// The next N words of the output, where it stands at a lane and a block does not end within them.
            #[allow(dead_code)] // Of the two sponges, one is asked for them.
            #[cfg_attr(gambeson_size, inline(always))]
            #[cfg_attr(not(gambeson_size), inline(never))]
            pub(crate) fn squeeze_lanes<const N: usize>(&mut self, out: &mut [u64; N]) {
                if cfg!(gambeson_size) {
                    let mut bytes = [[0; 8]; N];
                    self.squeeze_by_lanes(bytes.as_flattened_mut());
                    *out = bytes.map(u64::from_le_bytes);
                    return;
                }
                if self.position == self.rate {
                    self.permute();
                }
                debug_assert!(self.position & 7 == 0 && self.position + 8 * N as u8 <= self.rate);
                let lanes = &self.state.0[usize::from(self.position) >> 3..][..N];
                for (word, lane) in out.iter_mut().zip(lanes) {
                    *word = interleaved::to_word(*lane);
                }
                self.position += 8 * N as u8;
            }

            /// The next bytes of the output, once it is finished.
            pub(crate) fn squeeze(&mut self, mut out: &mut [u8]) {
                if cfg!(gambeson_size) {
                    return self.squeeze_by_lanes(out);
                }
                while !out.is_empty() {
                    if self.position == self.rate {
                        self.permute();
                    }
                    let position = usize::from(self.position);
                    if position & 7 == 0 && out.len() >= 8 {
                        let lanes = ((usize::from(self.rate) - position) >> 3).min(out.len() >> 3);
                        let (words, rest) = out.split_at_mut(8 * lanes);
                        let state = &self.state.0[position >> 3..][..lanes];
                        for (word, lane) in words.as_chunks_mut::<8>().0.iter_mut().zip(state) {
                            *word = interleaved::to_word(*lane).to_le_bytes();
                        }
                        out = rest;
                        self.position += 8 * lanes as u8;
                    } else {
                        out[0] = interleaved::to_byte(self.state.0[position >> 3], position & 7);
                        out = &mut out[1..];
                        self.position += 1;
                    }
                }
            }

            /// The same in one loop, in a build for size.
            #[inline(never)]
            fn squeeze_by_lanes(&mut self, mut out: &mut [u8]) {
                while !out.is_empty() {
                    if self.position == self.rate {
                        self.permute();
                    }
                    let place = usize::from(self.position & 7);
                    let lane = self.state.0.get(usize::from(self.position >> 3)).map_or(0, |lane| *lane);
                    let mut word = interleaved::to_word_from(lane, place);
                    let (piece, rest) = out.split_at_mut(out.len().min(8 - place));
                    self.position += piece.len() as u8;
                    out = rest;
                    if let Some(piece) = piece.first_chunk_mut() {
                        *piece = word.to_le_bytes();
                    } else {
                        for byte in piece {
                            *byte = word as u8;
                            word >>= 8;
                        }
                    }
                }
            }
        }

        impl Drop for $sponge {
            fn drop(&mut self) {
                self.state.zeroize();
            }
        }

        #[doc = $text]
        #[derive(Clone)]
        pub struct $squeeze($sponge);

        impl $squeeze {
            /// Fills `out` with the next bytes of the output.
            pub fn squeeze(&mut self, out: &mut [u8]) {
                self.0.squeeze(out);
            }
        }

        impl core::fmt::Debug for $squeeze {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($squeeze)).finish_non_exhaustive()
            }
        }
    )*};
}

// Two types and not one with a choice: a program without TurboSHAKE holds no second permutation.
sponge! {
    Sponge, Squeeze, kernels::permute_sponge, "Output of any length, squeezed in any pieces.";
    TurboSponge, TurboSqueeze, interleaved::permute_reduced,
        "Output of TurboSHAKE, of any length, squeezed in any pieces.";
}
