//! The operations that deserve a fast path, one table per instruction set.
//!
//! A kernel works on one polynomial and knows nothing of keys. `portable` is the specification of the rest:
//! a new table inherits from it with `..PORTABLE`, and is tested against it.

mod portable;

use super::ring::Coefficients;
use crate::cpu::Level;

/// One table; every |x| is a bound of the absolute values of the coefficients.
pub(crate) struct Kernels {
    pub level: Level,
    /// FIPS 203, Algorithm 9 (NTT). |x| ≤ q on entry, ≤ q/2 + 1 on return.
    pub ntt: fn(&mut Coefficients),
    /// FIPS 203, Algorithm 10 (NTT^-1), times 2^16. |x| ≤ 8q on entry, < q on return.
    pub inverse_ntt: fn(&mut Coefficients),
    /// FIPS 203, Algorithm 11 (MultiplyNTTs), times 2^-16, added to the first argument, which grows by less than 2q.
    /// |x| of the second ≤ 8q, of the third ≤ q.
    pub multiply_add: fn(&mut Coefficients, &Coefficients, &Coefficients),
    /// Times 2^16. Any x on entry, |x| < q on return.
    pub scale: fn(&mut Coefficients),
    /// Any x on entry, |x| ≤ q/2 + 1 on return.
    pub reduce: fn(&mut Coefficients),
    /// The inner loop of FIPS 203, Algorithm 7 (SampleNTT): appends the candidates below q from whole triples of
    /// bytes, and returns how many were written. Variable time: the matrix is public.
    pub reject_vartime: fn(&mut [i16], &[u8]) -> usize,
    /// FIPS 203, Algorithm 8 (SamplePolyCBD) for η = 2, from 128 bytes.
    pub noise2: fn(&mut Coefficients, &[u8; 128]),
    /// FIPS 203, Algorithm 8 (SamplePolyCBD) for η = 3, from 192 bytes.
    pub noise3: fn(&mut Coefficients, &[u8; 192]),
    /// FIPS 203, Algorithm 5 (ByteEncode) for d = 12, of any representatives.
    pub encode: fn(&mut [u8; 384], &Coefficients),
    /// FIPS 203, Algorithm 6 (ByteDecode) for d = 12, modulo q: 0 ≤ x < q on return.
    pub decode: fn(&mut Coefficients, &[u8; 384]),
    /// Compress_d of §4.2.1, then ByteEncode_d: 32·d bytes, d = 1, 4, 5, 10 or 11, of any representatives.
    pub compress: fn(&mut [u8], &Coefficients),
    /// ByteDecode_d, then Decompress_d: 0 ≤ x < q on return. The length of the bytes gives d.
    pub decompress: fn(&mut Coefficients, &[u8]),
}

/// The table in force.
pub(crate) fn active() -> &'static Kernels {
    // The tables for AVX2, AVX-512 and NEON will be chosen here by `cpu::level()`.
    &portable::PORTABLE
}
