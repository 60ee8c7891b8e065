//! The operations that deserve a fast path, one table per instruction set.
//!
//! A kernel works on polynomials and knows nothing of keys. `portable` is the specification of the rest:
//! a new table inherits from it with `..PORTABLE`, and is tested against it.

#[cfg(gambeson_dsp)]
pub(super) mod armv7em;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_family = "wasm", target_feature = "simd128")
))]
mod barrett;
#[cfg(any(not(gambeson_dsp), gambeson_size, test))]
mod decompression;
#[cfg(gambeson_ct)]
pub mod gate;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
pub(super) mod packed;
#[cfg(any(not(gambeson_dsp), test))]
mod pairs;
pub(super) mod portable;
#[cfg(all(feature = "alloc", any(not(gambeson_dsp), test)))]
mod rows;
#[cfg(any(gambeson_rv32, test))]
mod rv32;
#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
mod simd128;

/// The loops of the schedules for one state at a time: over pieces of polynomials, or over forms that only these schedules have. They are inlined,
/// or of one processor in a program, so they stand in no table.
#[cfg(gambeson_dsp)]
pub(super) use armv7em as loops;
#[cfg(not(gambeson_dsp))]
pub(super) mod loops {
    pub(in crate::mlkem) use super::decompression::*;
    pub(in crate::mlkem) use super::pairs::*;
    #[cfg(feature = "alloc")]
    pub(in crate::mlkem) use super::rows::*;
}

use super::poly::{Coefficients, Ntt};
use crate::cpu::{self, Level};

/// Makes t̂ᵀ ∘ ŷ in `v`, and of ŷ Âᵀ ∘ ŷ; the elements are Â by rows, then t̂.
pub(crate) type EncryptionProducts = fn(v: &mut Coefficients, y: &mut [Ntt], elements: &[Ntt]);

/// One table; every |x| is a bound of the absolute values of the coefficients.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    pub level: Level,
    /// FIPS 203, Algorithm 9 (NTT). |x| ≤ q on entry, ≤ q/2 + 1 on return.
    pub ntt: fn(f: &mut Coefficients),
    /// FIPS 203, Algorithm 10 (NTT^-1), times 2^16. |x| ≤ 8q on entry, < q on return.
    pub inverse_ntt: fn(f: &mut Coefficients),
    /// FIPS 203, Algorithm 11 (MultiplyNTTs), times 2^-16, added to the sum, which grows by less than 2q.
    /// |x| of `a` ≤ 8q, of `b` ≤ q.
    pub multiply_add: fn(sum: &mut Coefficients, a: &Coefficients, b: &Coefficients),
    /// The sum plus such products, of every `stride`-th element of `a` and the elements of `b`, at most four; |x| of both ≤ q.
    /// The sum grows by less than 2q for each.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code))] // Only a matrix that is remembered has rows.
    pub inner_product: fn(sum: &mut Coefficients, a: &[Ntt], stride: usize, b: &[Ntt]),
    /// All such products of an encryption at once, where the factors that they share are worth it: of Â by rows, then t̂, and of
    /// the k elements of ŷ, |x| of all ≤ q; |x| < q on return.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code))] // As for `inner_product`.
    pub encryption_products: Option<EncryptionProducts>,
    /// Times 2^16. Any x on entry, |x| < q on return.
    pub scale: fn(f: &mut Coefficients),
    /// a + b; the sums fit in 16 bits.
    pub add: fn(a: &mut Coefficients, b: &Coefficients),
    /// b − a; the differences fit in 16 bits.
    pub subtract_from: fn(a: &mut Coefficients, b: &Coefficients),
    /// Any x on entry, |x| ≤ q/2 + 1 on return.
    pub reduce: fn(f: &mut Coefficients),
    /// The inner loop of FIPS 203, Algorithm 7 (SampleNTT): appends the candidates below q from whole triples of
    /// bytes, and returns how many were written. Variable time: the matrix is public.
    pub reject_vartime: fn(out: &mut [i16], bytes: &[u8]) -> usize,
    /// FIPS 203, Algorithm 8 (SamplePolyCBD) for η = 2, from 128 bytes.
    pub noise2: fn(f: &mut Coefficients, bytes: &[u8; 128]),
    /// FIPS 203, Algorithm 8 (SamplePolyCBD) for η = 3, from 192 bytes.
    pub noise3: fn(f: &mut Coefficients, bytes: &[u8; 192]),
    /// FIPS 203, Algorithm 5 (ByteEncode) for d = 12, of any representatives.
    pub encode: fn(bytes: &mut [u8; 384], f: &Coefficients),
    /// FIPS 203, Algorithm 6 (ByteDecode) for d = 12, modulo q: 0 ≤ x < q on return.
    pub decode: fn(f: &mut Coefficients, bytes: &[u8; 384]),
    /// Whether every integer of 12 bits is below q.
    pub is_reduced: fn(bytes: &[u8; 384]) -> bool,
    /// Compress_d of §4.2.1, then ByteEncode_d: 32·d bytes, d = 1, 4, 5, 10 or 11, of any representatives.
    pub compress: fn(bytes: &mut [u8], f: &Coefficients),
    /// ByteDecode_d, then Decompress_d: 0 ≤ x < q on return. The length of the bytes gives d.
    pub decompress: fn(f: &mut Coefficients, bytes: &[u8]),
}

/// The table in force.
pub(crate) fn active() -> &'static Kernels {
    match cpu::level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => &avx512::AVX512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => &avx2::AVX2,
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        Level::Neon => &neon::NEON,
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        Level::Simd128 => &simd128::SIMD128,
        #[cfg(gambeson_dsp)]
        _ => &armv7em::ARMV7EM,
        #[cfg(gambeson_rv32)]
        _ => &rv32::RV32,
        #[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
        _ => &portable::PORTABLE,
    }
}

/// The table that needs the least stack.
pub(crate) const fn least() -> &'static Kernels {
    #[cfg(gambeson_dsp)]
    return &armv7em::ARMV7EM;
    #[cfg(gambeson_rv32)]
    return &rv32::RV32;
    #[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
    return &portable::PORTABLE;
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::portable::PORTABLE;
    use super::*;
    use crate::mlkem::poly::{Poly, Q};
    use crate::sha3::Shake128;

    /// Polynomials at the edges of |x| ≤ `bound`, and random ones below it.
    fn inputs(bound: i32) -> Vec<Coefficients> {
        let edges: [fn(usize) -> i32; 6] =
            [|_| 0, |_| 1, |_| -1, |i| [1, -1][i & 1], |i| [1, -1][i >> 1 & 1], |i| [1, 1, -1][i % 3]];
        let mut all: Vec<Coefficients> =
            edges.iter().map(|edge| core::array::from_fn(|i| (edge(i) * bound) as i16)).collect();
        let mut random = Shake128::new().update(&bound.to_le_bytes()).finalize_xof();
        for _ in 0..200 {
            let mut bytes = [0; 1024];
            random.squeeze(&mut bytes);
            let words = bytes.as_chunks::<4>().0;
            all.push(core::array::from_fn(|i| {
                (i64::from(u32::from_le_bytes(words[i])) % (2 * i64::from(bound) + 1) - i64::from(bound))
                    as i16
            }));
        }
        all
    }

    fn bytes<const N: usize>() -> impl Iterator<Item = [u8; N]> {
        let mut random = Shake128::new().finalize_xof();
        [[0; N], [0xff; N]].into_iter().chain((0..200).map(move |_| {
            let mut bytes = [0; N];
            random.squeeze(&mut bytes);
            bytes
        }))
    }

    fn same_residues(ours: &Coefficients, expected: &Coefficients) -> bool {
        ours.iter().zip(expected).all(|(a, b)| (i32::from(*a) - i32::from(*b)) % i32::from(Q) == 0)
    }

    #[test]
    fn every_table_computes_what_the_portable_one_does() {
        const BOUND: i32 = Q as i32;
        let mut tables = Vec::from([&PORTABLE, &rv32::RV32]);
        #[cfg(gambeson_dsp)]
        tables.push(&armv7em::ARMV7EM);
        #[cfg(target_arch = "x86_64")]
        {
            tables.extend((cpu::detected() >= Level::Avx2).then_some(&avx2::AVX2));
            tables.extend((cpu::detected() >= Level::Avx512).then_some(&avx512::AVX512));
        }
        #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
        tables.push(&neon::NEON);
        #[cfg(all(target_family = "wasm", target_feature = "simd128"))]
        tables.push(&simd128::SIMD128);
        for table in tables {
            let one = |ours: fn(&mut Coefficients), theirs: fn(&mut Coefficients), bound: i32, after: i16| {
                for input in inputs(bound) {
                    let (mut a, mut b) = (input, input);
                    ours(&mut a);
                    theirs(&mut b);
                    assert!(same_residues(&a, &b) && a.iter().all(|x| x.abs() <= after), "{}", table.level);
                }
            };
            one(table.ntt, PORTABLE.ntt, BOUND, Q / 2 + 1);
            one(table.inverse_ntt, PORTABLE.inverse_ntt, 8 * BOUND, Q - 1);
            one(table.scale, PORTABLE.scale, i32::from(i16::MAX), Q - 1);
            one(table.reduce, PORTABLE.reduce, i32::from(i16::MAX), Q / 2 + 1);
            for (a, b) in inputs(8 * BOUND).iter().zip(inputs(BOUND)) {
                let (mut ours, mut expected) = ([7; 256], [7; 256]);
                (table.add)(&mut ours, a);
                (table.subtract_from)(&mut ours, &b);
                (PORTABLE.add)(&mut expected, a);
                (PORTABLE.subtract_from)(&mut expected, &b);
                assert_eq!(ours, expected);
                let (mut ours, mut expected) = ([7; 256], [7; 256]);
                (table.multiply_add)(&mut ours, a, &b);
                (PORTABLE.multiply_add)(&mut expected, a, &b);
                assert!(same_residues(&ours, &expected) && ours.iter().all(|x| (x - 7).abs() < 2 * Q));
            }
            let vectors: Vec<Ntt> = inputs(BOUND).iter().map(|f| Ntt(Poly(*f))).collect();
            for (a, b) in vectors.windows(13).zip(vectors.chunks(4)) {
                for (stride, k) in [(1, 4), (4, 4), (3, 3), (2, 2), (1, 1), (1, 0)] {
                    let (mut ours, mut expected) = ([7; 256], [7; 256]);
                    (table.inner_product)(&mut ours, a, stride, &b[..k.min(b.len())]);
                    (PORTABLE.inner_product)(&mut expected, a, stride, &b[..k.min(b.len())]);
                    let bound = 2 * Q * k as i16;
                    assert!(same_residues(&ours, &expected));
                    assert!(ours.iter().all(|x| (x - 7).abs() <= bound));
                }
            }
            for k in [2, 3, 4] {
                let Some(encryption_products) = table.encryption_products else { break };
                let n = k * k + k;
                // Sums are greatest where all elements are the same.
                let edges = vectors[..6].iter().flat_map(|a| vectors[..6].iter().map(move |y| (a, y)));
                let edges = edges.map(|(a, y)| (vec![a.clone(); n], vec![y.clone(); k]));
                let random = vectors.windows(n).zip(vectors.rchunks_exact(k));
                for (elements, y) in edges.chain(random.map(|(a, y)| (a.to_vec(), y.to_vec()))) {
                    let (mut v, mut u) = ([7; 256], y.clone());
                    encryption_products(&mut v, &mut u, &elements);
                    for (j, ours) in u.iter().map(|u| &u.0.0).chain([&v]).enumerate() {
                        let (a, stride) =
                            if j < k { (&elements[j..k * k], k) } else { (&elements[k * k..], 1) };
                        let mut expected = [0; 256];
                        (PORTABLE.inner_product)(&mut expected, a, stride, &y);
                        assert!(
                            same_residues(ours, &expected) && ours.iter().all(|x| x.abs() < Q),
                            "{k} {j}"
                        );
                    }
                }
            }
            for bytes in bytes::<128>() {
                let (mut ours, mut expected) = ([0; 256], [0; 256]);
                (table.noise2)(&mut ours, &bytes);
                (PORTABLE.noise2)(&mut expected, &bytes);
                assert_eq!(ours, expected);
            }
            for bytes in bytes::<192>() {
                let (mut ours, mut expected) = ([0; 256], [0; 256]);
                (table.noise3)(&mut ours, &bytes);
                (PORTABLE.noise3)(&mut expected, &bytes);
                assert_eq!(ours, expected);
            }
            for bytes in bytes::<168>() {
                for room in [0, 1, 7, 8, 9, 100, 112, 256] {
                    let (mut ours, mut expected) = ([0; 256], [0; 256]);
                    let n = (table.reject_vartime)(&mut ours[..room], &bytes);
                    assert_eq!(n, (PORTABLE.reject_vartime)(&mut expected[..room], &bytes));
                    assert_eq!(ours[..n], expected[..n]);
                }
            }
            let mut reduced = [0; 384];
            for bytes in bytes::<384>() {
                let (mut ours, mut expected) = ([0; 256], [0; 256]);
                (table.decode)(&mut ours, &bytes);
                (PORTABLE.decode)(&mut expected, &bytes);
                assert_eq!(ours, expected);
                assert!(!(table.is_reduced)(&[0xff; 384]));
                (PORTABLE.encode)(&mut reduced, &ours);
                assert!((table.is_reduced)(&reduced));
                for place in 0..128 {
                    for (bytes, fits) in [
                        ([0, 0x0d, 0], true),
                        ([1, 0x0d, 0], false),
                        ([0, 0, 0xd0], true),
                        ([0, 0x10, 0xd0], false),
                    ] {
                        let mut key = reduced;
                        key[3 * place..][..3].copy_from_slice(&bytes);
                        assert_eq!((table.is_reduced)(&key), fits, "{bytes:?} at {place}");
                    }
                }
                for d in [1, 4, 5, 10, 11] {
                    (table.decompress)(&mut ours, &bytes[..32 * d]);
                    (PORTABLE.decompress)(&mut expected, &bytes[..32 * d]);
                    assert_eq!(ours, expected, "d = {d}");
                }
            }
            // Every representative of sixteen bits, at every lane of a vector.
            for start in (0..=u16::MAX).step_by(241) {
                let f: Coefficients = core::array::from_fn(|i| start.wrapping_add(i as u16) as i16);
                for (ours, theirs, after) in
                    [(table.reduce, PORTABLE.reduce, Q / 2 + 1), (table.scale, PORTABLE.scale, Q - 1)]
                {
                    let (mut a, mut b) = (f, f);
                    ours(&mut a);
                    theirs(&mut b);
                    assert!(same_residues(&a, &b) && a.iter().all(|x| x.abs() <= after), "{}", table.level);
                }
                let (mut ours, mut expected) = ([0; 384], [0; 384]);
                (table.encode)(&mut ours, &f);
                (PORTABLE.encode)(&mut expected, &f);
                assert_eq!(ours, expected);
                for d in [1, 4, 5, 10, 11] {
                    (table.compress)(&mut ours[..32 * d], &f);
                    (PORTABLE.compress)(&mut expected[..32 * d], &f);
                    assert_eq!(ours[..32 * d], expected[..32 * d], "d = {d}");
                }
            }
        }
    }
}
