//! Where encoded polynomials come from and go to (FIPS 203, §4.2.1): the kernels convert, the sinks receive.

use core::slice::ChunksExact;

use zeroize::Zeroize;

use super::kernels::{active, loops};
use super::params::ParameterSet;
use super::ring::{Ntt, Poly};
use crate::secret::{barrier, difference};
use crate::sha3::Sha3_256;

/// Receives encoded polynomials in their order.
pub(super) trait Sink {
    /// Calls `encode` with room for the next `len` bytes, 384 at most.
    fn take(&mut self, len: usize, encode: impl FnOnce(&mut [u8]));
}

/// Writes them one after another.
pub(super) struct Writer<'a>(pub &'a mut [u8]);

impl Sink for Writer<'_> {
    fn take(&mut self, len: usize, encode: impl FnOnce(&mut [u8])) {
        let (row, rest) = core::mem::take(&mut self.0).split_at_mut(len);
        encode(row);
        self.0 = rest;
    }
}

/// Compares them with bytes that are there already, so that no second ciphertext exists.
pub(super) struct Comparer<'a> {
    expected: &'a [u8],
    difference: u32,
}

impl<'a> Comparer<'a> {
    pub(super) fn new(expected: &'a [u8]) -> Self {
        Self { expected, difference: 0 }
    }

    /// Zero when all bytes were equal. Secret.
    pub(super) fn difference(&self) -> u32 {
        barrier(self.difference)
    }
}

impl Sink for Comparer<'_> {
    fn take(&mut self, len: usize, encode: impl FnOnce(&mut [u8])) {
        let mut row = [0; 352];
        let row = &mut row[..len];
        encode(row);
        let (expected, rest) = self.expected.split_at(len);
        self.difference |= difference(row, expected);
        self.expected = rest;
        row.zeroize();
    }
}

/// Compares compressed polynomials with a ciphertext as they are compressed, in the memory of a word.
pub(super) struct CompressedComparer<'a> {
    rows: ChunksExact<'a, u8>,
    v: &'a [u8],
    /// Not zero if anything differed. Secret.
    pub different: u32,
}

impl<'a> CompressedComparer<'a> {
    #[inline(always)]
    pub(super) fn new<P: ParameterSet>(c: &'a [u8]) -> Self {
        let (c_u, v) = c.split_at(32 * P::DU * P::K);
        Self { rows: c_u.chunks_exact(32 * P::DU), v, different: 0 }
    }

    /// Compares the next row of u, or v, which d tells.
    #[inline(always)]
    pub(super) fn compare<P: ParameterSet>(&mut self, f: &Poly, d: usize) {
        let bytes = if d == P::DV { self.v } else { self.rows.next().unwrap_or_default() };
        self.different |= compressed_difference(f, d, bytes);
    }
}

/// The bits in which the compressed polynomial and `bytes` differ. Secret.
#[cfg_attr(gambeson_size, inline(never))]
#[cfg_attr(not(gambeson_size), inline(always))] // Each constant d has a loop of its own.
fn compressed_difference(f: &Poly, d: usize, bytes: &[u8]) -> u32 {
    barrier(loops::compressed_difference(&f.0, d, bytes.as_chunks().0))
}

/// Hashes them.
impl Sink for Sha3_256 {
    fn take(&mut self, len: usize, encode: impl FnOnce(&mut [u8])) {
        let mut row = [0; 384];
        let row = &mut row[..len];
        encode(row);
        self.update(row);
    }
}

/// ByteEncode_12 (FIPS 203, Algorithm 5 (ByteEncode)) into the sink.
pub(super) fn put(sink: &mut impl Sink, f: &Ntt) {
    sink.take(384, |row| {
        (active().encode)(row.try_into().expect("the sink gives the length that was asked for"), &f.0.0);
    });
}

/// ByteEncode_d ∘ Compress_d into the sink.
pub(super) fn put_compressed(sink: &mut impl Sink, f: &Poly, d: usize) {
    sink.take(32 * d, |row| (active().compress)(row, &f.0));
}

/// The row-th polynomial of a key: ByteDecode_12 (FIPS 203, Algorithm 6 (ByteDecode)).
pub(super) fn decode(f: &mut Ntt, bytes: &[u8], row: usize) {
    let bytes = bytes[384 * row..][..384].try_into().expect("384 bytes");
    (active().decode)(&mut f.0.0, bytes);
}

/// Decompress_d ∘ ByteDecode_d of 32·d bytes.
pub(super) fn decompress(f: &mut Poly, bytes: &[u8]) {
    (active().decompress)(&mut f.0, bytes);
}

/// Whether every 12-bit integer is below q: the modulus check of FIPS 203, §7.2. The key is public.
pub(super) fn is_reduced(bytes: &[u8]) -> bool {
    bytes.as_chunks().0.iter().all(active().is_reduced)
}
