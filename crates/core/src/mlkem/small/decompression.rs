//! Decompress_d (FIPS 203, §4.2.1), where there is no text in assembly for it, or that would be too long.

use super::super::kernels::portable::decompress_coefficient;
use super::super::ring::Coefficients;

/// ByteDecode_d and Decompress_d, coefficient by coefficient.
#[inline(always)]
fn decompressed(d: usize, bytes: &[u8], mut put: impl FnMut(usize, i16)) {
    let (mut held, mut bits, mut at) = (0, 0, 0);
    for byte in bytes {
        held |= u32::from(*byte) << bits;
        bits += 8;
        while bits >= d {
            put(at, decompress_coefficient(d, (held & ((1 << d) - 1)) as u16));
            (held, bits, at) = (held >> d, bits - d, at + 1);
        }
    }
}

/// ByteDecode_d and Decompress_d of 8d words: 0 ≤ x < q.
#[inline(never)]
pub(in crate::mlkem) fn decompress(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
    decompressed(d, words.as_flattened(), |at, x| f[at] = x);
}

/// Adds such coefficients.
#[inline(never)]
pub(in crate::mlkem) fn add_decompressed(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
    decompressed(d, words.as_flattened(), |at, x| f[at] += x);
}

/// Such coefficients less those of `f`.
#[inline(never)]
pub(in crate::mlkem) fn subtract_from_decompressed(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
    decompressed(d, words.as_flattened(), |at, x| f[at] = x - f[at]);
}
