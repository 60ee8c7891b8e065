//! Decompress_d (FIPS 203, §4.2.1), where there is no text in assembly for it, or that would be too long.

use super::portable::decompress_coefficient;
use crate::mlkem::poly::Coefficients;

/// ByteDecode_d and Decompress_d, coefficient by coefficient.
#[cfg_attr(not(gambeson_size), inline(always))]
#[cfg_attr(gambeson_size, inline(never))]
fn decompressed(f: &mut Coefficients, d: usize, bytes: &[u8], put: &mut dyn FnMut(&mut i16, i16)) {
    let mut f = f.iter_mut();
    let (mut held, mut bits) = (0, 0);
    for byte in bytes {
        held |= u32::from(*byte) << bits;
        bits += 8;
        while bits >= d {
            if let Some(f) = f.next() {
                put(f, decompress_coefficient(d, (held & ((1 << d) - 1)) as u16));
            }
            (held, bits) = (held >> d, bits - d);
        }
    }
}

/// ByteDecode_d and Decompress_d of 8d words: 0 ≤ x < q.
#[inline(never)]
pub(in crate::mlkem) fn decompress(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
    decompressed(f, d, words.as_flattened(), &mut |f, x| *f = x);
}

/// Adds such coefficients.
#[inline(never)]
pub(in crate::mlkem) fn add_decompressed(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
    decompressed(f, d, words.as_flattened(), &mut |f, x| *f += x);
}

/// Such coefficients less those of `f`.
#[inline(never)]
pub(in crate::mlkem) fn subtract_from_decompressed(f: &mut Coefficients, d: usize, words: &[[u8; 4]]) {
    decompressed(f, d, words.as_flattened(), &mut |f, x| *f = x - *f);
}
