//! The same algorithms in the least memory (FIPS 204, §6): a row or a column at a time.
//!
//! No polynomial of the matrix exists, but for the eight candidates that a squeeze gave: they are multiplied as they come. The
//! two halves of a transform do not meet after its first layer, and the products want one half after the other: so a factor is
//! transformed by halves, from packed bytes. A signing keeps w in the bytes that z will take, 24 bits a coefficient, and on
//! the stack what does not fit there; y is hashed again for z. Products with the challenge are sums at its places.

use core::marker::PhantomData;

use super::InvalidSignature;
use super::encode::Hint;
use super::kernels::{
    Kernels, add_products_vartime, bounded_one, candidate_one, challenge_product, decompose_one, freeze,
    half_butterfly, half_ntt, hint_one, least, montgomery_word, pack_group, power2round_one, reduce,
};
use super::message::Message;
use super::params::{ParameterSet, T0_BYTES, T1_BYTES, sealed::Parameters};
use super::ring::{D, N, Poly, Q};
use crate::Bytes;
use crate::secret::{Secret, declassify, declassify_value};
use crate::sha3::{Shake128, Shake256, Sponge};
use crate::small::{Memory, Zero, words};

/// How deep the operations go, and some to spare (`cargo xtask stack`, `firmware bench`): on processors of 64 bits, with any number of codegen units, on Armv7E-M, and on
/// others of 32 bits; and how much deeper on these in a build for size.
const fn depth(wide: usize, armv7em: usize, narrow: usize, for_size: usize) -> usize {
    let (depth, more) = if cfg!(target_pointer_width = "64") {
        (wide, 0)
    } else if cfg!(gambeson_dsp) {
        (armv7em, 8)
    } else {
        (narrow, for_size)
    };
    if cfg!(gambeson_size) { depth + more } else { depth }
}
pub(super) const KEY_GEN: usize = depth(2880, 2272, 2368, 176);
pub(super) const TR: usize = depth(3136, 2560, 2688, 176);
pub(super) const SIGN_44: usize = depth(4160, 3504, 3584, 0);
pub(super) const SIGN_65: usize = depth(4800, 4160, 4256, 0);
pub(super) const SIGN_87: usize = depth(5056, 4416, 4512, 0);
pub(super) const SIGN_ENCODED_44: usize = depth(3456, 2704, 2848, 0);
pub(super) const SIGN_ENCODED_65: usize = depth(4096, 3344, 3488, 0);
pub(super) const SIGN_ENCODED_87: usize = depth(4352, 3600, 3760, 0);

/// The same in a workspace, of every set.
pub(super) const KEY_GEN_IN_WORKSPACE: usize = depth(1280, 480, 640, 0);
pub(super) const IN_WORKSPACE: usize = depth(1280, 720, 800, 0);

/// Words of a workspace: signing from the seed takes most, where t0 is made again.
pub(super) const fn workspace<P: Parameters>() -> usize {
    let of_t0 = words::<(Poly, [u8; 128])>() + words::<Multiplicand>();
    words::<OfSeed<P>>() + words::<P::Spill>() + words::<Challenge>() + of_t0
}

/// The table of this schedule: the processor's smallest, whatever else it offers.
const TABLE: &Kernels = least();

/// The domain bits and the first 1 of the padding (FIPS 202, §6.2).
const SHAKE: u8 = 0b11111;

/// Coefficients in a group, which is as many bytes as a coefficient has bits.
const GROUP: usize = 8;

/// Groups of a polynomial.
const GROUPS: usize = N >> 3;

/// Coefficients of half a polynomial.
const HALF: usize = N >> 1;

/// Starts the sponge on these inputs, and ends absorbing.
#[inline(never)]
fn absorbed(sponge: &mut Sponge, rate: usize, a: &[u8], b: &[u8]) {
    sponge.restart(rate);
    sponge.absorb(a);
    sponge.absorb(b);
    sponge.finish(SHAKE);
}

/// The number of this place among packed ones; no fewer than four bytes.
#[inline(always)]
fn number_at(packed: &[u8], width: usize, place: usize) -> u32 {
    let bit = width * place;
    // From a word that does not reach beyond the end.
    let at = (bit >> 3).min(packed.len() - 4);
    let word =
        packed.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |word| u32::from_le_bytes(*word));
    word >> (bit - 8 * at) & ((1 << width) - 1)
}

/// Packs a group of numbers; the number of bytes is their width.
#[inline(always)]
fn write_group(bytes: &mut [u8], number: impl FnMut(usize) -> u32) {
    #[inline(always)]
    fn to<const BITS: usize>(bytes: &mut [u8], numbers: [u32; GROUP]) {
        if let Some(bytes) = bytes.first_chunk_mut::<BITS>() {
            pack_group(bytes, numbers.into_iter());
        }
    }
    let numbers = core::array::from_fn(number);
    if cfg!(gambeson_size) {
        return write_bits(bytes, &numbers);
    }
    match bytes.len() {
        3 => to::<3>(bytes, numbers),
        4 => to::<4>(bytes, numbers),
        6 => to::<6>(bytes, numbers),
        10 => to::<10>(bytes, numbers),
        18 => to::<18>(bytes, numbers),
        _ => to::<20>(bytes, numbers),
    }
}

/// The same of every width in one loop, in a build for size.
#[inline(never)]
fn write_bits(bytes: &mut [u8], numbers: &[u32; GROUP]) {
    let width = bytes.len();
    let mut numbers = numbers.iter();
    let (mut buffer, mut bits) = (0, 0);
    for byte in bytes {
        while bits < 8 {
            buffer |= numbers.next().map_or(0, |number| *number) << bits;
            bits += width;
        }
        *byte = buffer as u8;
        buffer >>= 8;
        bits -= 8;
    }
}

/// A polynomial of the matrix, coefficient by coefficient.
struct Entry<'a> {
    sponge: &'a mut Sponge,
    /// Eight, of three bytes each.
    candidates: [u8; 24],
    taken: usize,
}

impl<'a> Entry<'a> {
    /// FIPS 204, Algorithm 32 (ExpandA), one polynomial.
    fn new(sponge: &'a mut Sponge, rho: &[u8; 32], row: usize, column: usize) -> Self {
        absorbed(sponge, Shake128::RATE, rho, &[column as u8, row as u8]);
        Self { sponge, candidates: [0; 24], taken: 8 }
    }

    /// Those that are not taken, of which there is one at least.
    #[inline(always)]
    fn rest(&mut self) -> &[[u8; 3]] {
        if self.taken == 8 {
            self.sponge.squeeze(&mut self.candidates);
            self.taken = 0;
        }
        self.candidates.as_chunks().0.get(self.taken..).unwrap_or_default()
    }

    /// Adds the products of the next coefficients and the factors, times 2^-32, to the sums.
    #[inline(always)]
    fn add_products_vartime(&mut self, sums: &mut [i32; HALF], factors: &[i32; HALF]) {
        let mut n = 0;
        while let (Some(sums), Some(factors @ [_, ..])) = (sums.get_mut(n..), factors.get(n..)) {
            let (added, taken) = add_products_vartime(sums, factors, self.rest());
            n += added;
            self.taken += taken;
        }
    }

    /// Hands over the next `count`: FIPS 204, Algorithm 30 (RejNTTPoly).
    ///
    /// Variable time: the matrix is public.
    #[inline(always)]
    fn each_vartime(&mut self, count: usize, mut take: impl FnMut(usize, u32)) {
        let mut n = 0;
        while n < count {
            let mut taken = 0;
            for candidate in self.rest() {
                taken += 1;
                if let Some(z) = candidate_one(*candidate) {
                    take(n, z);
                    n += 1;
                    if n == count {
                        break;
                    }
                }
            }
            self.taken += taken;
        }
    }
}

/// Adds Â\[row, column\] ∘ NTT(`high` - x), the numbers x being packed, times 2^-32, to `sum`, whose bound grows by 2q.
#[inline(never)]
fn add_entry(
    sum: &mut Poly,
    sponge: &mut Sponge,
    rho: &[u8; 32],
    (row, column): (usize, usize),
    packed: &[u8],
    high: i32,
    memory: impl Memory,
) {
    memory.lend(|half: &mut [i32; HALF], _| {
        let mut entry = Entry::new(sponge, rho, row, column);
        for (upper, sum) in sum.0.as_chunks_mut::<HALF>().0.iter_mut().enumerate() {
            read_half(packed, high, upper, half);
            half_ntt(half, upper);
            entry.add_products_vartime(sum, half);
        }
    });
}

/// A half of the polynomial after the first layer of its transform.
#[inline(never)]
fn read_half(packed: &[u8], high: i32, upper: usize, half: &mut [i32; HALF]) {
    let width = packed.len() >> 5;
    let (first, second) = packed.split_at(packed.len() >> 1);
    for (place, half) in half.iter_mut().enumerate() {
        let a = high - number_at(first, width, place) as i32;
        let b = high - number_at(second, width, place) as i32;
        *half = half_butterfly(a, b, upper);
    }
}

/// Hands over a polynomial of s1 or s2, group by group.
///
/// FIPS 204, Algorithm 33 (ExpandS), one polynomial, by Algorithm 31 (RejBoundedPoly).
#[inline(never)]
fn each_bounded(
    sponge: &mut Sponge,
    rho_prime: &[u8; 64],
    place: usize,
    eta: i32,
    take: &mut dyn FnMut(usize, &[i32; GROUP]),
) {
    absorbed(sponge, Shake256::RATE, rho_prime, &(place as u16).to_le_bytes());
    let mut group = [0; GROUP];
    let mut filled = 0;
    loop {
        let mut bytes = [0; 8];
        sponge.squeeze(&mut bytes);
        for half in bytes.into_iter().flat_map(|byte| [byte & 15, byte >> 4]) {
            let (coefficient, accepted) = bounded_one(u32::from(half), eta);
            group[filled & 7] = coefficient;
            // public: which half bytes were refused; they are independent of the accepted ones, and say nothing of them.
            if declassify_value(accepted) == 1 {
                filled += 1;
                if filled & 7 == 0 {
                    take((filled >> 3) - 1, &group);
                }
                if filled == N {
                    return;
                }
            }
        }
    }
}

/// The same packed as in a private key, in 32·bitlen(2η) bytes.
#[inline(never)]
fn expand_s(sponge: &mut Sponge, rho_prime: &[u8; 64], place: usize, eta: i32, packed: &mut [u8]) {
    let width = packed.len() >> 5;
    each_bounded(sponge, rho_prime, place, eta, &mut |g, s| {
        if let Some(packed) = packed.get_mut(width * g..).and_then(|rest| rest.get_mut(..width)) {
            write_group(packed, |i| (eta - s[i]) as u32);
        }
    });
}

/// Hands over the polynomial of y of this number, group by group.
///
/// FIPS 204, Algorithm 34 (ExpandMask), one polynomial.
#[inline(never)]
fn each_mask<P: Parameters>(
    sponge: &mut Sponge,
    rho_second: &[u8; 64],
    number: u16,
    take: &mut dyn FnMut(usize, &[i32; GROUP]),
) {
    absorbed(sponge, Shake256::RATE, rho_second, &number.to_le_bytes());
    // Four groups are whole words.
    let mut bytes = [0; 80];
    let bytes = &mut bytes[..P::Z_BYTES >> 3];
    for first in (0..GROUPS).step_by(4) {
        sponge.squeeze(bytes);
        for group in 0..4 {
            let y = |i| P::GAMMA1 - number_at(bytes, P::Z_BYTES >> 5, GROUP * group + i) as i32;
            take(first + group, &core::array::from_fn(y));
        }
    }
}

/// ρ and ρ′, from which all of a key is made but K.
struct Remade<P> {
    rho: [u8; 32],
    rho_prime: Secret<[u8; 64]>,
    set: PhantomData<P>,
}

// SAFETY: bytes, and a type.
#[allow(unsafe_code)]
unsafe impl<P> Zero for Remade<P> {
    const ZERO: Self = Self { rho: [0; 32], rho_prime: Secret::new([0; 64]), set: PhantomData };
}

impl<P: Parameters> Remade<P> {
    /// Line 1 of FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal); K is the next of the sponge.
    fn fill(&mut self, sponge: &mut Sponge, seed: &[u8; 32]) {
        absorbed(sponge, Shake256::RATE, seed, &[P::K as u8, P::L as u8]);
        sponge.squeeze(&mut self.rho);
        sponge.squeeze(self.rho_prime.expose_mut());
        // public: ρ is part of the public key.
        declassify(&self.rho);
    }
}

/// A row of t = NTT^-1(Â ∘ NTT(s1)) + s2, added to `t`: FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal), line 5.
///
/// The last `kept` polynomials of s1 stand packed at the end of `scratch`; the others are made at its beginning, one after the
/// other.
#[cfg_attr(not(gambeson_size), inline(always))]
#[cfg_attr(gambeson_size, inline(never))]
fn add_row_of_t<P: Parameters>(
    sponge: &mut Sponge,
    seeds: &Remade<P>,
    row: usize,
    kept: usize,
    scratch: &mut [u8],
    t: &mut Poly,
    mut memory: impl Memory,
) {
    let rho_prime = seeds.rho_prime.expose();
    for column in (P::L - kept..P::L).chain(0..P::L - kept) {
        let s = if column < P::L - kept {
            let s = &mut scratch[..P::S_BYTES];
            expand_s(sponge, rho_prime, column, P::ETA, s);
            s
        } else {
            scratch.rchunks_exact_mut(P::S_BYTES).nth(P::L - 1 - column).expect("so many are kept")
        };
        add_entry(t, sponge, &seeds.rho, (row, column), s, P::ETA, memory.part());
    }
    (TABLE.inverse_ntt)(t);
    each_bounded(sponge, rho_prime, P::L + row, P::ETA, &mut |group, s| {
        if let Some(t) = t.0.as_chunks_mut::<GROUP>().0.get_mut(group) {
            t.iter_mut().zip(s).for_each(|(t, s)| *t += s);
        }
    });
}

/// The public key of the seed to `pk`, which holds s1 on the way where there is still room for it.
///
/// FIPS 204, Algorithm 6 (ML-DSA.KeyGen_internal), up to line 8.
#[inline(always)]
fn make_public_key<P: Parameters>(sponge: &mut Sponge, seed: &[u8; 32], pk: &mut [u8], memory: impl Memory) {
    memory.lend(|(seeds, t): &mut (Remade<P>, Secret<Poly>), mut memory| {
        seeds.fill(sponge, seed);
        let (rho, rows) = pk.split_first_chunk_mut().expect("a public key is longer than ρ");
        *rho = seeds.rho;
        for (column, s) in (0..P::L).rev().zip(rows.rchunks_exact_mut(P::S_BYTES)) {
            expand_s(sponge, seeds.rho_prime.expose(), column, P::ETA, s);
        }
        let t = t.expose_mut();
        for row in 0..P::K {
            let rest = &mut rows[row * T1_BYTES..];
            t.0.fill(0);
            let kept = rest.rchunks_exact(P::S_BYTES).len().min(P::L);
            add_row_of_t(sponge, seeds, row, kept, rest, t, memory.part());
            for (bytes, t) in rest.chunks_exact_mut(T1_BYTES >> 5).zip(t.0.as_chunks::<GROUP>().0) {
                write_group(bytes, |i| power2round_one(t[i]).0 as u32);
            }
        }
        // public: t1 is the public key.
        declassify(pk);
    });
}

/// The public key of the seed.
#[inline(never)]
pub(super) fn public_key<P: Parameters>(seed: &[u8; 32], pk: &mut [u8], memory: impl Memory) {
    memory.lend(|sponge: &mut Sponge, memory| make_public_key::<P>(sponge, seed, pk, memory));
}

/// The public key of the seed and its hash.
#[inline(never)]
pub(super) fn key_gen<P: Parameters>(seed: &[u8; 32], pk: &mut [u8], tr: &mut [u8; 64], memory: impl Memory) {
    memory.lend(|sponge: &mut Sponge, memory| {
        make_public_key::<P>(sponge, seed, pk, memory);
        absorbed(sponge, Shake256::RATE, pk, &[]);
        sponge.squeeze(tr);
    });
}

/// The hash alone, where there is no room for the public key.
#[inline(never)]
pub(super) fn hash_of_public_key<P: Parameters>(seed: &[u8; 32], tr: &mut [u8; 64], memory: impl Memory) {
    type Lent<P> = ([Sponge; 2], Remade<P>, (Secret<Poly>, Secret<[u8; 128]>));
    memory.lend(|([sponge, hasher], seeds, (t, s)): &mut Lent<P>, mut memory| {
        seeds.fill(sponge, seed);
        hasher.restart(Shake256::RATE);
        hasher.absorb(&seeds.rho);
        let (t, s) = (t.expose_mut(), s.expose_mut());
        for row in 0..P::K {
            t.0.fill(0);
            add_row_of_t(sponge, seeds, row, 0, s, t, memory.part());
            for t in t.0.as_chunks::<GROUP>().0 {
                let mut bytes = [0; 10];
                write_group(&mut bytes, |i| power2round_one(t[i]).0 as u32);
                // public: t1 is the public key.
                hasher.absorb(declassify(&bytes));
            }
        }
        hasher.finish(SHAKE);
        hasher.squeeze(tr);
    });
}

/// What a challenge is multiplied with, |coefficient| < 2^15: the last group negated, then all of them, so that a group of the
/// product is a sum of consecutive eights.
pub(super) struct Multiplicand([i16; GROUP + N]);

// SAFETY: an array of integers.
#[allow(unsafe_code)]
unsafe impl Zero for Multiplicand {
    const ZERO: Self = Self([0; GROUP + N]);
}

impl Multiplicand {
    #[inline(always)]
    fn set(&mut self, place: usize, value: i32) {
        if let Some(to) = self.0.get_mut(GROUP + place) {
            *to = value as i16;
        }
        if let Some(to) = self.0.get_mut(place.wrapping_sub(N - GROUP)) {
            *to = -value as i16;
        }
    }

    #[inline(always)]
    fn set_group(&mut self, group: usize, values: &[i32; GROUP]) {
        for (i, value) in values.iter().enumerate() {
            self.set(GROUP * group + i, *value);
        }
    }

    /// From numbers of as many bits as there are bytes in a group: `high` - x.
    #[inline(never)]
    fn read(&mut self, packed: &[u8], high: i32) {
        let (negated, values) = self.0.split_at_mut(GROUP);
        for (place, value) in values.iter_mut().enumerate() {
            *value = (high - number_at(packed, packed.len() >> 5, place) as i32) as i16;
        }
        for (negated, value) in negated.iter_mut().zip(&values[N - GROUP..]) {
            *negated = -value;
        }
    }

    /// A group of the product with the challenge.
    ///
    /// The time and the addresses depend on its places.
    #[inline(always)]
    fn product(&self, c: &Challenge, group: usize, product: &mut [i32; GROUP]) {
        let places = c.places.get(..c.count.into()).unwrap_or_default();
        challenge_product(&self.0, places, c.plus.into(), group, product);
    }
}

/// c: the places of 1, `plus` of them, and those of -1, up to `count`.
struct Challenge {
    places: [u8; 64],
    plus: u8,
    count: u8,
}

// SAFETY: bytes.
#[allow(unsafe_code)]
unsafe impl Zero for Challenge {
    const ZERO: Self = Self { places: [0; 64], plus: 0, count: 0 };
}

impl Challenge {
    /// FIPS 204, Algorithm 29 (SampleInBall), except that who stands at a place is looked for.
    ///
    /// Variable time: c̃ is public, or will be if the attempt succeeds.
    #[inline(never)]
    fn fill_vartime<P: Parameters>(&mut self, sponge: &mut Sponge, c_tilde: &[u8]) {
        absorbed(sponge, Shake256::RATE, c_tilde, &[]);
        let mut signs = [0; 8];
        sponge.squeeze(&mut signs);
        let mut signs = u64::from_le_bytes(signs);
        // 1 from the front, -1 from the back.
        let (mut front, mut back) = (0, P::TAU);
        let (mut bytes, mut taken) = ([0; 8], 8);
        for i in N - P::TAU..N {
            let j = loop {
                if taken == 8 {
                    sponge.squeeze(&mut bytes);
                    taken = 0;
                }
                let j = bytes[taken & 7];
                taken += 1;
                if usize::from(j) <= i {
                    break j;
                }
            };
            let goes_to_i = |places: Option<&mut [u8]>| {
                for place in places.unwrap_or_default() {
                    if *place == j {
                        *place = i as u8;
                    }
                }
            };
            goes_to_i(self.places.get_mut(..front));
            goes_to_i(self.places.get_mut(back..P::TAU));
            let n = if signs & 1 == 0 { front } else { back - 1 };
            self.places[n & 63] = j;
            (front, back) = if signs & 1 == 0 { (front + 1, back) } else { (front, back - 1) };
            signs >>= 1;
        }
        (self.plus, self.count) = (front as u8, P::TAU as u8);
    }
}

/// k polynomials of 24 bits a coefficient, in two pieces.
struct Sums<'a>(&'a mut [[u8; 3]], &'a mut [[u8; 3]]);

impl<'a> Sums<'a> {
    /// In the bytes of z, and what of them does not fit.
    fn new(z: &'a mut [u8], spill: &'a mut [[u8; 3]]) -> Self {
        Self(z.as_chunks_mut().0, spill)
    }

    #[inline(always)]
    fn at(&mut self, row: usize, n: usize) -> Option<&mut [u8; 3]> {
        let at = N * row + n;
        let here = self.0.len();
        if at < here { self.0.get_mut(at) } else { self.1.get_mut(at - here) }
    }

    /// Does `work` on each number of a row.
    #[cfg_attr(not(gambeson_size), inline(always))]
    #[cfg_attr(gambeson_size, inline(never))]
    fn update(&mut self, row: usize, work: &mut dyn FnMut(usize, u32) -> u32) {
        for n in 0..N {
            if let Some(place) = self.at(row, n) {
                *place = bytes(work(n, number(place)));
            }
        }
    }
}

#[inline(always)]
fn number(&[a, b, c]: &[u8; 3]) -> u32 {
    u32::from(a) | u32::from(b) << 8 | u32::from(c) << 16
}

#[inline(always)]
fn bytes(number: u32) -> [u8; 3] {
    debug_assert!(number < 1 << 24);
    let [a, b, c, _] = number.to_le_bytes();
    [a, b, c]
}

/// A private key as signing reads it.
pub(super) trait PrivateKey {
    fn rho(&self) -> &[u8; 32];

    /// The polynomial of s1 and s2, one after the other.
    fn s(&self, sponge: &mut Sponge, place: usize, out: &mut Multiplicand);

    /// Does `work` on t0\[row\].
    fn t0(&self, sponge: &mut Sponge, row: usize, memory: impl Memory, work: &mut dyn FnMut(&Multiplicand));
}

impl<P: Parameters> PrivateKey for Remade<P> {
    fn rho(&self) -> &[u8; 32] {
        &self.rho
    }

    #[inline(never)]
    fn s(&self, sponge: &mut Sponge, place: usize, out: &mut Multiplicand) {
        each_bounded(sponge, self.rho_prime.expose(), place, P::ETA, &mut |group, s| out.set_group(group, s));
    }

    #[inline(never)]
    fn t0(&self, sponge: &mut Sponge, row: usize, memory: impl Memory, work: &mut dyn FnMut(&Multiplicand)) {
        #[inline(never)]
        fn multiplied(t: &Poly, memory: impl Memory, work: &mut dyn FnMut(&Multiplicand)) {
            memory.lend(|t0: &mut Multiplicand, _| {
                for (place, t) in t.0.iter().enumerate() {
                    t0.set(place, power2round_one(*t).1);
                }
                work(t0);
            });
        }
        memory.lend(|(t, s): &mut (Poly, [u8; 128]), mut memory| {
            add_row_of_t(sponge, self, row, 0, s, t, memory.part());
            multiplied(t, memory, work);
        });
    }
}

/// A private key in the standard's encoding: ρ, s1 and s2, t0.
pub(super) struct Encoded<'a> {
    pub(super) rho: &'a [u8; 32],
    pub(super) s: &'a [u8],
    pub(super) t0: &'a [u8],
    pub(super) eta: i32,
}

impl PrivateKey for Encoded<'_> {
    fn rho(&self) -> &[u8; 32] {
        self.rho
    }

    fn s(&self, _: &mut Sponge, place: usize, out: &mut Multiplicand) {
        let bytes = if self.eta == 2 { 96 } else { 128 };
        // Not by `chunks_exact`, which divides by a width that is known only here.
        if let Some(packed) = self.s.get(bytes * place..).and_then(|rest| rest.get(..bytes)) {
            out.read(packed, self.eta);
        }
    }

    #[inline(never)]
    fn t0(&self, _: &mut Sponge, row: usize, memory: impl Memory, work: &mut dyn FnMut(&Multiplicand)) {
        memory.lend(|t0: &mut Multiplicand, _| {
            if let Some(packed) = self.t0.as_chunks::<T0_BYTES>().0.get(row) {
                t0.read(packed, 1 << (D - 1));
            }
            work(t0);
        });
    }
}

/// 0 if the polynomials of s1 and s2, packed, have all coefficients in -η..=η, else 1.
#[inline(never)]
pub(super) fn s_outside(packed: &[u8], eta: i32) -> u32 {
    let width = if eta == 2 { 3 } else { 4 };
    let places = (0..).take_while(|place| (width * place) >> 3 < packed.len());
    let numbers = places.map(|place| number_at(packed, width, place));
    numbers.fold(0, |outside, x| outside | (2 * eta - x as i32)) as u32 >> 31
}

/// Signs a message with randomness `rnd` by the key of the seed, and the hash of its public key.
#[inline(never)]
pub(super) fn sign_seed<P: Parameters>(
    (seed, tr): (&[u8; 32], &[u8; 64]),
    message: &Message<'_>,
    rnd: &[u8; 32],
    signature: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|(sponge, key, (mu, rho_second)): &mut OfSeed<P>, memory| {
        represent(sponge, message, tr, mu);
        start(sponge, seed, rnd, mu, key, rho_second.expose_mut());
        sign::<P>(sponge, key, rho_second.expose(), mu, signature, memory);
    });
}

/// What signing from the seed works with: the sponge, the key, μ and ρ″.
type OfSeed<P> = (Sponge, Remade<P>, ([u8; 64], Secret<[u8; 64]>));

#[inline(never)]
fn start<P: Parameters>(
    sponge: &mut Sponge,
    seed: &[u8; 32],
    rnd: &[u8; 32],
    mu: &[u8; 64],
    key: &mut Remade<P>,
    rho_second: &mut [u8; 64],
) {
    let mut k = Secret::new([0; 32]);
    key.fill(sponge, seed);
    sponge.squeeze(k.expose_mut());
    randomize(sponge, k.expose(), rnd, mu, rho_second);
}

/// The same by a key in the standard's encoding, and its K.
#[inline(never)]
pub(super) fn sign_encoded<P: Parameters>(
    key: &Encoded<'_>,
    (k, tr): (&[u8; 32], &[u8; 64]),
    message: &Message<'_>,
    rnd: &[u8; 32],
    signature: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|(sponge, mu, rho_second): &mut (Sponge, [u8; 64], Secret<[u8; 64]>), memory| {
        represent(sponge, message, tr, mu);
        randomize(sponge, k, rnd, mu, rho_second.expose_mut());
        sign::<P>(sponge, key, rho_second.expose(), mu, signature, memory);
    });
}

/// μ.
#[inline(never)]
fn represent(sponge: &mut Sponge, message: &Message<'_>, tr: &[u8; 64], mu: &mut [u8; 64]) {
    message.represent(tr, mu, |pieces, mu| {
        sponge.restart(Shake256::RATE);
        pieces.iter().for_each(|piece| sponge.absorb(piece));
        sponge.finish(SHAKE);
        sponge.squeeze(mu);
    });
}

/// ρ″: line 7 of FIPS 204, Algorithm 7 (ML-DSA.Sign_internal).
#[inline(never)]
fn randomize(sponge: &mut Sponge, k: &[u8; 32], rnd: &[u8; 32], mu: &[u8; 64], rho_second: &mut [u8; 64]) {
    sponge.restart(Shake256::RATE);
    sponge.absorb(k);
    sponge.absorb(rnd);
    sponge.absorb(mu);
    sponge.finish(SHAKE);
    sponge.squeeze(rho_second);
}

/// Signs μ; all of `signature` is written, and holds secrets on the way.
///
/// FIPS 204, Algorithm 7 (ML-DSA.Sign_internal), from line 8 on, except that the checks come in the order r0, z, c·t0, hint, as
/// in `dsa::sign`; z, found small, is made again when the hint has been taken from w, in whose place it stands.
#[inline(always)]
fn sign<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    rho_second: &[u8; 64],
    mu: &[u8; 64],
    signature: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|spill: &mut Secret<P::Spill>, mut memory| {
        let spill = spill.expose_mut().as_mut();
        let (c_tilde, rest) = signature.split_at_mut(P::C_TILDE);
        let (z, hint) = rest.split_at_mut(P::L * P::Z_BYTES);
        let mut kappa = 0u16;
        loop {
            commit::<P>(sponge, key.rho(), rho_second, kappa, &mut Sums::new(z, spill), memory.part());
            challenge::<P>(sponge, mu, &mut Sums::new(z, spill), c_tilde, memory.part());
            if respond::<P>(sponge, key, rho_second, kappa, c_tilde, z, spill, hint, memory.part()) {
                break;
            }
            kappa = kappa.wrapping_add(P::L as u16);
        }
        // public: the signature.
        declassify(signature);
    });
}

/// Â ∘ NTT(y), column by column: lines 11 and 12 of Algorithm 7, but for the inverse transform.
#[inline(never)]
fn commit<P: Parameters>(
    sponge: &mut Sponge,
    rho: &[u8; 32],
    rho_second: &[u8; 64],
    kappa: u16,
    w: &mut Sums<'_>,
    memory: impl Memory,
) {
    memory.lend(|y: &mut Secret<Poly>, _| {
        let y = y.expose_mut();
        for (column, number) in (0..P::L).zip((0..=u16::MAX).cycle().skip(kappa.into())) {
            each_mask::<P>(sponge, rho_second, number, &mut |group, values| {
                if let Some(y) = y.0.as_chunks_mut().0.get_mut(group) {
                    *y = *values;
                }
            });
            (TABLE.ntt)(y);
            for row in 0..P::K {
                add_row(w, sponge, rho, (row, column), y);
            }
        }
    });
}

/// Adds Â\[row, column\] ∘ `y` · 2^-32 to a row of the sums, which stay below 2^24; the first takes the place of what was
/// there.
#[inline(never)]
fn add_row(w: &mut Sums<'_>, sponge: &mut Sponge, rho: &[u8; 32], (row, column): (usize, usize), y: &Poly) {
    let mut entry = Entry::new(sponge, rho, row, column);
    entry.each_vartime(N, |n, a| {
        if let (Some(w), Some(y)) = (w.at(row, n), y.0.get(n)) {
            let sum = if column == 0 { 0 } else { number(w) };
            *w = bytes(reduce(sum + montgomery_word(a, *y as u32)));
        }
    });
}

/// What stands for a coefficient of w once w1 is hashed: its low bits less products, plus this, so that no borrow reaches bit 23;
/// which says whether its high bits are not 0.
const BIAS: u32 = 1 << 20;

/// The low bits, signed, of what stands for a coefficient.
#[inline(always)]
fn low_bits(w: u32) -> i32 {
    (w & ((1 << 23) - 1)) as i32 - BIAS as i32
}

/// c̃ = H(μ ‖ w1Encode(HighBits(w))): lines 13 to 15 of Algorithm 7. Of `w` remains LowBits(w), as [`BIAS`] says.
#[inline(never)]
fn challenge<P: Parameters>(
    sponge: &mut Sponge,
    mu: &[u8; 64],
    w: &mut Sums<'_>,
    c_tilde: &mut [u8],
    memory: impl Memory,
) {
    memory.lend(|poly: &mut Secret<Poly>, _| {
        let poly = poly.expose_mut();
        sponge.restart(Shake256::RATE);
        sponge.absorb(mu);
        for row in 0..P::K {
            w.update(row, &mut |n, w| {
                poly.0[n & (N - 1)] = w as i32;
                w
            });
            (TABLE.inverse_ntt)(poly);
            w.update(row, &mut |n, _| {
                let place = &mut poly.0[n & (N - 1)];
                let (r1, r0) = decompose::<P>(*place);
                *place = r1;
                (r0 + BIAS as i32) as u32 | (-r1 as u32 >> 31) << 23
            });
            absorb_row_of_w1::<P>(sponge, poly);
        }
        sponge.finish(SHAKE);
        sponge.squeeze(c_tilde);
        // public: in the signature if the attempt succeeds; if not, a hash of w1, which does not show it.
        declassify(c_tilde);
    });
}

/// FIPS 204, Algorithm 36 (Decompose), of a coefficient: r1 and r0.
#[inline(always)]
fn decompose<P: Parameters>(r: i32) -> (i32, i32) {
    if P::M == 44 { decompose_one::<44>(r) } else { decompose_one::<16>(r) }
}

/// Absorbs a row of w1: FIPS 204, Algorithm 28 (w1Encode).
#[inline(never)]
fn absorb_row_of_w1<P: Parameters>(sponge: &mut Sponge, w1: &Poly) {
    // Four groups are whole words.
    let mut bytes = [0; 24];
    let bytes = &mut bytes[..P::W1_BYTES >> 3];
    for w1 in w1.0.as_chunks::<{ 4 * GROUP }>().0 {
        for (bytes, w1) in bytes.chunks_exact_mut(P::W1_BYTES >> 5).zip(w1.as_chunks::<GROUP>().0) {
            write_group(bytes, |i| w1[i] as u32);
        }
        sponge.absorb(bytes);
    }
}

/// z and the hint, or `false` if the attempt is rejected: lines 16 to 32 of Algorithm 7.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn respond<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    rho_second: &[u8; 64],
    kappa: u16,
    c_tilde: &[u8],
    z: &mut [u8],
    spill: &mut [[u8; 3]],
    hint: &mut [u8],
    memory: impl Memory,
) -> bool {
    memory.lend(|c: &mut Challenge, mut memory| {
        c.fill_vartime::<P>(sponge, c_tilde);
        let c = &*c;
        if !subtract_cs2::<P>(sponge, key, c, &mut Sums::new(z, spill), memory.part()) {
            return false;
        }
        let mut response = |column: usize, out: &mut [u8]| {
            let number = kappa.wrapping_add(column as u16);
            make_z::<P>(sponge, key, rho_second, number, c, column, out, memory.part())
        };
        // public: that the attempt fails here, as for the low bits.
        if !(0..P::L).all(|column| declassify_value(response(column, &mut [])) == 0) {
            return false;
        }
        if !make_hint::<P>(sponge, key, c, &mut Sums::new(z, spill), hint, memory.part()) {
            return false;
        }
        for (column, z) in z.chunks_exact_mut(P::Z_BYTES).enumerate() {
            let number = kappa.wrapping_add(column as u16);
            make_z::<P>(sponge, key, rho_second, number, c, column, z, memory.part());
        }
        true
    })
}

/// Not negative exactly if |c| < `bound`.
#[inline(always)]
fn within(c: i32, bound: i32) -> i32 {
    (bound - 1 - c) | (bound - 1 + c)
}

/// Takes c·s2 from the low bits of w, and says whether all are below γ2 - β: lines 19, 21 and 23, as in `dsa::respond`.
#[inline(never)]
fn subtract_cs2<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    c: &Challenge,
    w: &mut Sums<'_>,
    memory: impl Memory,
) -> bool {
    memory.lend(|s2: &mut Multiplicand, _| {
        for row in 0..P::K {
            key.s(sponge, P::L + row, s2);
            let mut outside = 0;
            let mut cs2 = [0; GROUP];
            w.update(row, &mut |n, w| {
                if n & 7 == 0 {
                    s2.product(c, n >> 3, &mut cs2);
                }
                let difference = w.wrapping_sub(cs2[n & 7] as u32);
                outside |= within(low_bits(difference), P::GAMMA2 - P::BETA);
                difference
            });
            // public: that the attempt fails here, and in which row. That a coefficient is too large is as likely for
            // every key and row; neither which one nor its sign is told.
            if declassify_value(outside as u32 >> 31) == 1 {
                return false;
            }
        }
        true
    })
}

/// z\[column\] = y + c·s1, packed to `out` unless that is empty; returns 0 if all of it is below γ1 - β, else 1: lines 18, 20
/// and 23.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn make_z<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    rho_second: &[u8; 64],
    number: u16,
    c: &Challenge,
    column: usize,
    out: &mut [u8],
    memory: impl Memory,
) -> u32 {
    memory.lend(|s1: &mut Multiplicand, _| {
        key.s(sponge, column, s1);
        let mut outside = 0;
        each_mask::<P>(sponge, rho_second, number, &mut |group, y| {
            let mut z = [0; GROUP];
            s1.product(c, group, &mut z);
            for (z, y) in z.iter_mut().zip(y) {
                *z += y;
                outside |= within(*z, P::GAMMA1 - P::BETA);
            }
            if let Some(out) = out.chunks_exact_mut(P::Z_BYTES >> 5).nth(group) {
                write_group(out, |i| (P::GAMMA1 - z[i]) as u32);
            }
        });
        outside as u32 >> 31
    })
}

/// The hint, in its encoding, or `false` if c·t0 or the number of its ones is too large: lines 25 to 28 of Algorithm 7,
/// and FIPS 204, Algorithm 20 (HintBitPack).
#[inline(always)]
fn make_hint<P: Parameters>(
    sponge: &mut Sponge,
    key: &impl PrivateKey,
    c: &Challenge,
    w: &mut Sums<'_>,
    hint: &mut [u8],
    mut memory: impl Memory,
) -> bool {
    hint.fill(0);
    let (places, ends) = hint.split_at_mut(P::OMEGA);
    let mut ones = 0;
    for (row, end) in ends.iter_mut().enumerate() {
        let mut outside = 0;
        key.t0(sponge, row, memory.part(), &mut |t0| {
            let mut ct0 = [0; GROUP];
            w.update(row, &mut |n, w| {
                if n & 7 == 0 {
                    t0.product(c, n >> 3, &mut ct0);
                }
                let ct0 = ct0[n & 7];
                outside |= within(ct0, P::GAMMA2);
                // public: z is small, so it is as if it were published; from it, c and the public key the hint follows.
                if declassify_value(hint_one(low_bits(w) + ct0, P::GAMMA2, w >> 23)) == 1 {
                    if let Some(place) = places.get_mut(ones) {
                        *place = n as u8;
                    }
                    ones += 1;
                }
                w
            });
        });
        // public: whether c·t0 is small: t0 is no secret (FIPS 204, §6.1).
        if declassify_value(outside as u32 >> 31) == 1 || ones > P::OMEGA {
            return false;
        }
        *end = ones as u8;
    }
    true
}

/// Verifies `signature` over `message`.
///
/// FIPS 204, Algorithm 8 (ML-DSA.Verify_internal), except that a hint or a z that fails its check ends the work at
/// once. Everything here is public.
#[inline(never)]
pub(super) fn verify<P: ParameterSet>(
    pk: &[u8],
    message: &Message<'_>,
    signature: &[u8],
    memory: impl Memory,
) -> Result<(), InvalidSignature> {
    if signature.len() != P::Signature::LEN {
        return Err(InvalidSignature);
    }
    memory.lend(|[hash, sponge]: &mut [Sponge; 2], mut memory| {
        absorb_mu(hash, sponge, pk, message);
        let (c_tilde, rest) = signature.split_at(P::C_TILDE);
        let (z, hint) = rest.split_at(P::L * P::Z_BYTES);
        let hint = Hint::parse::<P>(hint).ok_or(InvalidSignature)?;
        if !is_small::<P>(z) {
            return Err(InvalidSignature);
        }
        for row in 0..P::K {
            absorb_row::<P>(hash, sponge, pk, signature, row, hint.row(row), memory.part());
        }
        hash.finish(SHAKE);
        let squeezed_is = |expected: &[u8; 8]| {
            let mut word = [0; 8];
            hash.squeeze(&mut word);
            word == *expected
        };
        if c_tilde.as_chunks().0.iter().all(squeezed_is) { Ok(()) } else { Err(InvalidSignature) }
    })
}

#[inline(never)]
fn absorb_mu(hash: &mut Sponge, sponge: &mut Sponge, pk: &[u8], message: &Message<'_>) {
    let (mut tr, mut mu) = ([0; 64], [0; 64]);
    absorbed(sponge, Shake256::RATE, pk, &[]);
    sponge.squeeze(&mut tr);
    represent(sponge, message, &tr, &mut mu);
    hash.restart(Shake256::RATE);
    hash.absorb(&mu);
}

/// Whether z, packed, is below γ1 - β.
#[inline(never)]
fn is_small<P: Parameters>(z: &[u8]) -> bool {
    let numbers = (0..P::L * N).map(|place| number_at(z, P::Z_BYTES >> 5, place));
    numbers.fold(0, |outside, x| outside | within(P::GAMMA1 - x as i32, P::GAMMA1 - P::BETA)) >= 0
}

/// Absorbs a row of w1: lines 9 and 10 of Algorithm 8, and what of line 12 is its share.
#[inline(never)]
fn absorb_row<P: Parameters>(
    hash: &mut Sponge,
    sponge: &mut Sponge,
    pk: &[u8],
    signature: &[u8],
    row: usize,
    hint: &[u8],
    memory: impl Memory,
) {
    memory.lend(|w: &mut Poly, mut memory| {
        let (rho, t1) = pk.split_first_chunk().expect("a public key is longer than ρ");
        let (c_tilde, rest) = signature.split_at(P::C_TILDE);
        for (column, z) in rest.chunks_exact(P::Z_BYTES).take(P::L).enumerate() {
            add_entry(w, sponge, rho, (row, column), z, P::GAMMA1, memory.part());
        }
        (TABLE.inverse_ntt)(w);
        if let Some(t1) = t1.as_chunks::<T1_BYTES>().0.get(row) {
            high_bits::<P>(w, sponge, t1, c_tilde, hint, memory);
        }
        absorb_row_of_w1::<P>(hash, w);
    });
}

/// w becomes UseHint(h, w - c·t1·2^d), for the row of the hint.
///
/// c is made for each row: where the matrix is multiplied, which goes deepest, it does not stand on the stack.
#[inline(never)]
fn high_bits<P: Parameters>(
    w: &mut Poly,
    sponge: &mut Sponge,
    packed: &[u8],
    c_tilde: &[u8],
    hint: &[u8],
    memory: impl Memory,
) {
    memory.lend(|c: &mut Challenge, memory| {
        c.fill_vartime::<P>(sponge, c_tilde);
        subtract_ct1(w, packed, c, memory);
    });
    let mut hint = hint;
    for (n, w) in w.0.iter_mut().enumerate() {
        let (r1, r0) = decompose::<P>(*w);
        *w = r1;
        let Some((place, rest)) = hint.split_first() else { continue };
        if usize::from(*place) == n {
            hint = rest;
            // FIPS 204, Algorithm 40 (UseHint).
            *w = match r0 > 0 {
                true if r1 == P::M - 1 => 0,
                true => r1 + 1,
                false if r1 == 0 => P::M - 1,
                false => r1 - 1,
            };
        }
    }
}

/// Takes c·t1·2^d from w, mod± q on entry, in 0..q on return.
#[inline(never)]
fn subtract_ct1(w: &mut Poly, packed: &[u8], c: &Challenge, memory: impl Memory) {
    memory.lend(|t1: &mut Multiplicand, _| {
        // As -t1.
        t1.read(packed, 0);
        let mut minus_ct1 = [0; GROUP];
        for (group, w) in w.0.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
            t1.product(c, group, &mut minus_ct1);
            for (w, minus_ct1) in w.iter_mut().zip(&minus_ct1) {
                // |c·t1·2^d| < 60·2^23 < 61q.
                *w = freeze(reduce((*w + (minus_ct1 << D) + 61 * Q) as u32)) as i32;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::super::{MlDsa44, MlDsa65, MlDsa87};
    use super::*;
    use crate::Small;
    use crate::small::tests::most_words;

    #[test]
    fn no_word_of_a_workspace_is_too_many() {
        fn test<P: ParameterSet>() {
            let room = workspace::<P>();
            let (mut pk, mut signature, mut tr) =
                (P::VerifyingKeyBytes::zeroed(), P::Signature::zeroed(), [0; 64]);
            let of_keys = [
                most_words(room, |memory| hash_of_public_key::<Small<P>>(&[1; 32], &mut tr, memory)),
                most_words(room, |memory| public_key::<Small<P>>(&[1; 32], pk.as_mut(), memory)),
                most_words(room, |memory| key_gen::<Small<P>>(&[1; 32], pk.as_mut(), &mut tr, memory)),
            ];
            let message = Message::from(b"message");
            let of_signing = most_words(room, |memory| {
                let key = (&[1; 32], &tr);
                sign_seed::<Small<P>>(key, &message, &[0; 32], signature.as_mut(), memory);
            });
            let of_verification = most_words(room, |memory| {
                let verdict = verify::<Small<P>>(pk.as_ref(), &message, signature.as_ref(), memory);
                assert_eq!(verdict, Ok(()));
            });
            assert!(of_keys.into_iter().max() < Some(room) && of_verification < room);
            assert_eq!(of_signing, room, "{}", P::NAME);
        }
        test::<MlDsa44>();
        test::<MlDsa65>();
        test::<MlDsa87>();
    }
}
