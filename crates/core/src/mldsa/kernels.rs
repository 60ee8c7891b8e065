//! The table of kernels: the work on whole polynomials that deserves a fast path.

/// The same for each constant: no loop is left whose index the compiler might keep, and with it the vectors in memory.
#[cfg(target_arch = "x86_64")]
macro_rules! unrolled {
    ($i:ident in [$($n:literal)*] $body:block) => {
        $({
            const $i: usize = $n;
            $body
        })*
    };
}

#[cfg(gambeson_dsp)]
mod armv7em;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
mod operands;
mod portable;
#[cfg(any(gambeson_rv32, test))]
mod rv32;
#[cfg(all(target_family = "wasm", target_feature = "simd128"))]
mod simd128;
#[cfg(test)]
pub(crate) mod tests;

use super::ring::Poly;
use crate::cpu::{self, Level};
#[cfg(gambeson_dsp)]
pub(crate) use armv7em::{add_products_vartime, challenge_product, half_butterfly, half_ntt, unpack_t0};
pub(crate) use operands::{Multiplicand, Short};
#[cfg(any(not(any(gambeson_dsp, gambeson_rv32)), test))]
pub(crate) use portable::PORTABLE;
pub(crate) use portable::{
    GROUP, HALF, bounded_one, candidate_one, decompose_one, freeze, hint_one, montgomery_word, number_at,
    power2round_one, read_half, reduce, within, write_group,
};
#[cfg(not(gambeson_dsp))]
pub(crate) use portable::{add_products_vartime, challenge_product, half_butterfly, half_ntt, unpack_t0};

/// The operations of R_q and T_q that dominate the time. One table per instruction set; every table obeys the
/// bounds that `portable.rs` documents and gives the same residues.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    /// Which table this is.
    pub level: Level,
    /// FIPS 204, Algorithm 41 (NTT): -q < c < q on entry, 0 ≤ c < 18q on return.
    pub ntt: fn(w: &mut Poly),
    /// FIPS 204, Algorithm 42 (NTT^-1), of a sum of products: 0 ≤ c on entry, mod± q on return.
    pub inverse_ntt: fn(w_hat: &mut Poly),
    /// FIPS 204, Algorithm 45 (MultiplyNTT), times 2^-32: a·b < 2^32·q on entry, 0 ≤ c < 2q on return.
    pub multiply: fn(a: &mut Poly, b: &Poly),
    /// Adds the product as in `multiply` to `sum`.
    pub multiply_add: fn(sum: &mut Poly, a: &Poly, b: &Poly),
    /// The sum of products as in `multiply`, of every `stride`-th polynomial of `row` and of `factors`, at most eight, below 16q: of the
    /// former all but at most one are below q; that one and the latter are below 18q.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code))] // Only a matrix that is remembered has rows.
    pub inner_product: fn(sum: &mut Poly, row: &[Poly], stride: usize, factors: &[Poly]),
    /// Adds c·s to `p`, the coefficients of s being of at most η, and c the challenge with its ±1 at the places; returns as `is_below`
    /// whether the sums are below the bound.
    ///
    /// The time and the addresses depend on the places.
    #[cfg_attr(not(feature = "alloc"), allow(dead_code))]
    pub add_short_product: fn(p: &mut Poly, s: &Short, places: &[u16], eta: i32, bound: i32) -> u32,
    /// The inner loop of FIPS 204, Algorithm 30 (RejNTTPoly): fills `a` from the place `filled`; returns up to which place.
    pub reject_uniform: fn(a: &mut Poly, filled: usize, bytes: &[u8]) -> usize,
    /// The inner loop of FIPS 204, Algorithm 31 (RejBoundedPoly), for η = 2 or 4: like the one above.
    pub reject_bounded: fn(s: &mut Poly, filled: usize, bytes: &[u8], eta: i32) -> usize,
    /// FIPS 204, Algorithm 35 (Power2Round): t becomes t0; -q < t < q.
    pub power2round: fn(t: &mut Poly, t1: &mut Poly),
    /// FIPS 204, Algorithm 36 (Decompose), γ2 = (q-1)/88: r becomes r0; -q < r < q.
    pub decompose_44: fn(r: &mut Poly, r1: &mut Poly),
    /// The same for γ2 = (q-1)/32.
    pub decompose_16: fn(r: &mut Poly, r1: &mut Poly),
    /// Whether |c| is below the bound for every coefficient, as 1 or 0; |c| < 2^30. Constant time.
    pub is_below: fn(p: &Poly, bound: i32) -> u32,
    /// `decompose_44`, r1 being packed as `pack` does it with 6 bits; and a bit for each r1 that is not 0.
    pub high_bits_44: fn(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]),
    /// `decompose_16`, r1 being packed with 4 bits; and a bit for each r1 that is not 0.
    pub high_bits_16: fn(r: &mut Poly, packed: &mut [u8], not_zero: &mut [u32; 8]),
    /// FIPS 204, Algorithm 39 (MakeHint), as `hint::make_hint` explains. The bits of r1 that is not 0 become the hint.
    pub make_hint: fn(sum: &Poly, gamma2: i32, hint: &mut [u32; 8]) -> u32,
    /// FIPS 204, Algorithm 17 (BitPack), of `high` - c; where `high` is 0, Algorithm 16 (SimpleBitPack), of c.
    /// The length of the bytes gives the width: 3, 4, 6, 10, 13, 18 or 20 bits.
    pub pack: fn(bytes: &mut [u8], p: &Poly, high: i32),
    /// Undoes `pack`: FIPS 204, Algorithms 19 (BitUnpack) and 18 (SimpleBitUnpack); 3, 4, 10, 18 or 20 bits.
    pub unpack: fn(p: &mut Poly, bytes: &[u8], high: i32),
}

/// The best table at or below `cpu::level()`.
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
        _ => &PORTABLE,
    }
}

/// The table that needs the least stack: the processor's smallest, whatever else it offers. Its entries, and the functions that are
/// used beside it, are called directly, so that a program links those that it calls. Those functions are no entries, for whoever is
/// lent a table links all of it.
pub(crate) const LEAST: &Kernels = {
    #[cfg(gambeson_dsp)]
    let least = &armv7em::ARMV7EM;
    #[cfg(gambeson_rv32)]
    let least = &rv32::RV32;
    #[cfg(not(any(gambeson_dsp, gambeson_rv32)))]
    let least = &PORTABLE;
    least
};

/// Single kernels, for the gate that steps through machine code: an attempt at signing is refused for reasons that are
/// public but differ, a kernel has one trace.
#[cfg(gambeson_ct)]
pub mod gate {
    use super::Short;
    use super::active;
    use crate::mldsa::ring::Poly;

    /// The kernels that see secrets and have one trace.
    pub const NAMES: [&str; 20] = [
        "ntt",
        "inverse_ntt",
        "multiply",
        "multiply_add",
        "inner_product",
        "add_short_product",
        "reject_bounded 2",
        "reject_bounded 4",
        "power2round",
        "decompose_44",
        "decompose_16",
        "is_below",
        "high_bits_44",
        "high_bits_16",
        "make_hint",
        "pack 18",
        "pack 20",
        "pack 13",
        "unpack 18",
        "unpack 20",
    ];

    /// Runs the `n`-th of them in the table in force, on polynomials made of `secret`.
    pub fn run(n: usize, secret: &[u8; 1280]) {
        let kernels = active();
        let [mut y, mut small, mut other] = [const { Poly::ZERO }; 3];
        let mut bytes = [0; 640];
        let mut hint = [0; 8];
        // y as in signing; small coefficients from 0 to 1023.
        (kernels.unpack)(&mut y, &secret[..576], 1 << 17);
        (kernels.unpack)(&mut small, &secret[640..960], 0);
        match NAMES[n] {
            "ntt" => (kernels.ntt)(&mut y),
            "inverse_ntt" => (kernels.inverse_ntt)(&mut small),
            "multiply" => (kernels.multiply)(&mut y, &small),
            "multiply_add" => (kernels.multiply_add)(&mut other, &small, &small.clone()),
            "inner_product" => {
                let row = [small.clone(), small.clone()];
                (kernels.inner_product)(&mut other, &row, 1, &row);
            }
            "add_short_product" => {
                (kernels.unpack)(&mut other, &secret[..128], 4);
                other.0.iter_mut().for_each(|c| *c >>= 2);
                let mut short = Short::ZERO;
                short.set(&other);
                let places: [u16; 49] = core::array::from_fn(|i| 10 * i as u16 + 3);
                let below = (kernels.add_short_product)(&mut y, &short, &places, 4, 1 << 16);
                core::hint::black_box(below);
            }
            // What is refused is public, and here the same for all secrets.
            name @ ("reject_bounded 2" | "reject_bounded 4") => {
                let mut block = [0; 136];
                for ((i, byte), secret) in (0..).zip(&mut block).zip(secret) {
                    let refused = u8::from(i & 3 == 0) * 15 | u8::from(i & 7 == 5) * 0xf0;
                    *byte = secret & 0x77 | refused;
                }
                let eta = if name == "reject_bounded 2" { 2 } else { 4 };
                core::hint::black_box((kernels.reject_bounded)(&mut other, 100, &block, eta));
            }
            "power2round" => (kernels.power2round)(&mut y, &mut other),
            "decompose_44" => (kernels.decompose_44)(&mut y, &mut other),
            "decompose_16" => (kernels.decompose_16)(&mut y, &mut other),
            "is_below" => _ = core::hint::black_box((kernels.is_below)(&y, 1 << 16)),
            "high_bits_44" => (kernels.high_bits_44)(&mut y, &mut bytes[..192], &mut hint),
            "high_bits_16" => (kernels.high_bits_16)(&mut y, &mut bytes[..128], &mut hint),
            "make_hint" => {
                hint.iter_mut()
                    .zip(secret.as_chunks().0)
                    .for_each(|(word, bits)| *word = u32::from_le_bytes(*bits));
                core::hint::black_box((kernels.make_hint)(&y, 95_232, &mut hint));
            }
            "pack 18" => (kernels.pack)(&mut bytes[..576], &y, 1 << 17),
            "pack 20" => (kernels.pack)(&mut bytes, &y, 1 << 19),
            "pack 13" => {
                (kernels.power2round)(&mut y, &mut other);
                (kernels.pack)(&mut bytes[..416], &y, 1 << 12);
            }
            "unpack 18" => (kernels.unpack)(&mut other, &secret[..576], 1 << 17),
            _ => (kernels.unpack)(&mut other, &secret[..640], 1 << 19),
        }
        core::hint::black_box((&y, &small, &other, &bytes, &hint));
    }
}
