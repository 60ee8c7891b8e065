//! The inner code: the first-order Reed–Muller code of length 128, each codeword repeated.

/// The codeword of a symbol: bits 0 to 6 are the coefficients of the seven variables, bit 7 is the constant.
///
/// The coefficients are put in their places of the algebraic normal form, and seven steps of the Möbius transform evaluate it: all symbols take
/// the same shifts and sums, and no bit becomes a mask (eprint 2026/071).
#[inline(always)]
pub(super) fn encode(symbol: u8) -> [u64; 2] {
    let b = u64::from(symbol);
    let mut low = (b >> 7)
        | (b & 1) << 1
        | (b & 2) << 1
        | (b & 4) << 2
        | (b & 8) << 5
        | (b & 16) << 12
        | (b & 32) << 27;
    let mut high = (b >> 6) & 1;
    for (shift, places) in [
        (1, 0x5555_5555_5555_5555),
        (2, 0x3333_3333_3333_3333),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (8, 0x00ff_00ff_00ff_00ff),
        (16, 0x0000_ffff_0000_ffff),
        (32, 0x0000_0000_ffff_ffff),
    ] {
        low ^= (low & places) << shift;
        high ^= (high & places) << shift;
    }
    [low, low ^ high]
}

/// The symbol whose codeword is nearest to the copies, by the Hadamard transform of the counts of ones. Of several nearest ones it is that of
/// the first peak.
#[inline(always)]
pub(super) fn decode(copies: &[[u64; 2]]) -> u8 {
    let mut sums = [0_i16; 128];
    for copy in copies {
        for (sums, word) in sums.as_chunks_mut::<64>().0.iter_mut().zip(copy) {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum += (word >> i & 1) as i16;
            }
        }
    }
    step::<64>(&mut sums);
    step::<32>(&mut sums);
    step::<16>(&mut sums);
    step::<8>(&mut sums);
    step::<4>(&mut sums);
    step::<2>(&mut sums);
    step::<1>(&mut sums);
    sums[0] -= 64 * copies.len() as i16;
    // |sum| ≤ 320, and all sums are even or all are odd: without its last bit a peak is still told from another.
    let mut peak = 0;
    for (i, sum) in sums.iter().enumerate() {
        peak = maximum(peak, key(*sum, i));
    }
    symbol(peak)
}

#[inline(always)]
fn step<const HALF: usize>(sums: &mut [i16; 128]) {
    let mut at = 0;
    while at < 128 {
        for i in at..at + HALF {
            (sums[i], sums[i + HALF]) = (sums[i] + sums[i + HALF], sums[i] - sums[i + HALF]);
        }
        at += 2 * HALF;
    }
}

/// The order of peaks: the absolute value, then the smaller index; the last bit says that the sum is positive.
#[inline(always)]
fn key(sum: i16, index: usize) -> u16 {
    let sign = (sum >> 15) as u16;
    let absolute = (sum as u16 ^ sign).wrapping_sub(sign);
    let positive = (sum.wrapping_neg() as u16) >> 15;
    (absolute & !1) << 7 | (127 - index as u16) << 1 | positive
}

#[inline(always)]
fn maximum(a: u16, b: u16) -> u16 {
    let difference = u32::from(a).wrapping_sub(u32::from(b));
    a.wrapping_sub((difference & (difference as i32 >> 31) as u32) as u16)
}

/// The symbol of the highest peak.
#[inline(always)]
pub(super) fn symbol(key: u16) -> u8 {
    (127 - (key >> 1 & 127)) as u8 | (key << 7) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codeword_is_the_value_of_its_polynomial_at_every_point() {
        for symbol in 0..=u8::MAX {
            let codeword = encode(symbol);
            for point in 0..128 {
                let value = ((u32::from(symbol & 127) & point).count_ones() as u8 ^ (symbol >> 7)) & 1;
                assert_eq!((codeword[(point >> 6) as usize] >> (point & 63) & 1) as u8, value);
            }
        }
    }

    /// The rule of the reference implementation: the first of the highest absolute values.
    fn slow(copies: &[[u64; 2]]) -> u8 {
        let (mut best, mut found) = (0, 0);
        for index in 0..128_u32 {
            let mut sum = 0_i32;
            for (point, word) in (0..128_u32).map(|point| (point, (point >> 6) as usize)) {
                for copy in copies {
                    let bit = (copy[word] >> (point & 63) & 1) as i32;
                    sum += if (index & point).count_ones() & 1 == 1 { -bit } else { bit };
                }
            }
            if index == 0 {
                sum -= 64 * copies.len() as i32;
            }
            if sum.abs() > best {
                best = sum.abs();
                found = index as u8 | if sum > 0 { 128 } else { 0 };
            }
        }
        found
    }

    #[test]
    fn decoding_finds_the_first_of_the_highest_peaks() {
        for symbol in 0..=u8::MAX {
            assert_eq!(decode(&[encode(symbol); 3]), symbol);
        }
        let mut random = crate::sha3::Shake128::new().update(b"reed-muller").finalize_xof();
        for copies in [1, 3, 5] {
            for round in 0..200 {
                let mut words = [[0; 2]; 5];
                for word in words.as_flattened_mut() {
                    let mut bytes = [0; 8];
                    random.squeeze(&mut bytes);
                    *word = u64::from_le_bytes(bytes);
                }
                // Few bits, so that peaks are equal.
                if round & 1 == 1 {
                    words.as_flattened_mut().iter_mut().for_each(|word| *word &= *word >> 7 & *word >> 11);
                }
                let words = &words[..copies];
                assert_eq!(decode(words), slow(words));
            }
            assert_eq!(decode(&[[0; 2]; 5][..copies]), slow(&[[0; 2]; 5][..copies]));
        }
    }
}
