//! The product of polynomials over GF(2) modulo X^n - 1, one text for every instruction that multiplies without carries.
//!
//! Karatsuba's method splits in three once, one part after the other, and then in two until blocks are left. The products of all blocks of a part
//! are made side by side, each in a lane of 128 bits: lanes do not exchange anything. Within a block digits of 128 bits are multiplied column by
//! column; of each digit pair the products of the low words, of the high words and of the sums of both are added up, and combined once a column.

use super::params::{Params, Shape};

/// Vectors of digits of 128 bits, each of another polynomial.
pub(super) trait Digits: Copy {
    /// Digits in a vector: 1, 2 or 4.
    const LANES: usize;

    fn zero() -> Self;

    /// Loads two words for each lane, `stride` words apart.
    fn gather(words: &[u64], stride: usize) -> Self;

    /// Stores two words from each lane, `stride` words apart.
    fn scatter(self, words: &mut [u64], stride: usize);

    fn add(self, other: Self) -> Self;

    /// The product of the low words.
    fn multiply_low(self, other: Self) -> Self;

    /// The product of the high words.
    fn multiply_high(self, other: Self) -> Self;

    /// The sum of both words, in both places.
    fn fold(self) -> Self;

    /// The low word in the place of the high one.
    fn up(self) -> Self;

    /// The high word in the place of the low one.
    fn down(self) -> Self;
}

/// Words that a product works in.
pub(super) const fn scratch_len(shape: Shape) -> usize {
    2 * shape.words() + 6 * shape.blocks() * shape.block()
}

/// a·b modulo X^n - 1. The operands have less than 2^n, in padded polynomials; so has the product.
#[inline(always)]
pub(super) fn multiply<V: Digits>(
    params: &Params,
    out: &mut [u64],
    a: &[u64],
    b: &[u64],
    scratch: &mut [u64],
) {
    let shape = params.shape;
    match shape.digits {
        6 => multiply_in::<V, 6>(shape, a, b, scratch),
        10 => multiply_in::<V, 10>(shape, a, b, scratch),
        12 => multiply_in::<V, 12>(shape, a, b, scratch),
        _ => unreachable!("no set has such blocks"),
    }
    reduce(params.n, out, &scratch[..2 * shape.words()]);
}

/// The remainder of a product modulo X^n - 1.
#[inline(always)]
fn reduce(n: usize, out: &mut [u64], product: &[u64]) {
    let (whole, bits) = (n >> 6, n as u32 & 63);
    let above = &product[whole..][..whole + 2];
    for ((out, low), high) in out.iter_mut().zip(product).zip(above.windows(2)) {
        *out = low ^ high[0] >> bits ^ high[1] << (64 - bits);
    }
    out[whole] &= (1 << bits) - 1;
    out[whole + 1..].fill(0);
}

/// The whole product, in the first words of `scratch`.
#[inline(always)]
fn multiply_in<V: Digits, const D: usize>(shape: Shape, a: &[u64], b: &[u64], scratch: &mut [u64]) {
    let third = shape.third();
    let points = shape.blocks() * shape.block();
    let (product, rest) = scratch.split_at_mut(6 * third);
    let (a_points, rest) = rest.split_at_mut(points);
    let (b_points, rest) = rest.split_at_mut(points);
    let (products, spare) = rest.split_at_mut(2 * points);
    product.fill(0);
    // The parts that a product is of, and the places that it is added to: Karatsuba's method for three parts.
    for (i, j, places) in [
        (0, 0, &[0, 1, 2][..]),
        (1, 1, &[1, 2, 3]),
        (2, 2, &[2, 3, 4]),
        (0, 1, &[1]),
        (0, 2, &[2]),
        (1, 2, &[3]),
    ] {
        for (operand, points) in [(a, &mut *a_points), (b, &mut *b_points)] {
            let part = |i: usize| &operand[i * third..][..third];
            evaluate(shape, part(i), (i != j).then(|| part(j)), points, products, spare);
        }
        multiply_blocks::<V, D>(products, a_points, b_points);
        interpolate(shape, products, spare);
        let part = if shape.levels & 1 == 0 { &*products } else { &*spare };
        for place in places {
            add(&mut product[place * third..][..2 * third], &part[..2 * third]);
        }
    }
}

#[inline(always)]
fn add(sum: &mut [u64], other: &[u64]) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum ^= other;
    }
}

/// The factors of all products of blocks, from a part or a sum of two.
#[inline(always)]
fn evaluate(
    shape: Shape,
    part: &[u64],
    other: Option<&[u64]>,
    points: &mut [u64],
    one: &mut [u64],
    two: &mut [u64],
) {
    let (mut from, mut to) = (one, two);
    let mut len = part.len();
    let mut count = len;
    from[..len].copy_from_slice(part);
    if let Some(other) = other {
        add(&mut from[..len], other);
    }
    for level in 1..=shape.levels {
        let all = count;
        count += count >> 1;
        let last = level == shape.levels;
        let target = if last { &mut points[..count] } else { &mut to[..count] };
        split(&from[..all], target, len >> 1);
        len >>= 1;
        (from, to) = (to, from);
    }
    points[count..].fill(0);
}

/// Of polynomials of twice `half` words: the halves, and their sum.
#[inline(always)]
fn split(from: &[u64], to: &mut [u64], half: usize) {
    for (from, to) in from.chunks_exact(2 * half).zip(to.chunks_exact_mut(3 * half)) {
        let (low, high) = from.split_at(half);
        let (halves, sum) = to.split_at_mut(2 * half);
        halves.copy_from_slice(from);
        for ((sum, low), high) in sum.iter_mut().zip(low).zip(high) {
            *sum = low ^ high;
        }
    }
}

/// The product of a part, from those of all blocks: in `products` after an even number of levels, else in `spare`.
#[inline(always)]
fn interpolate(shape: Shape, products: &mut [u64], spare: &mut [u64]) {
    let (mut from, mut to) = (products, spare);
    let mut len = 2 * shape.block();
    for level in (0..shape.levels).rev() {
        let count = 3_usize.pow(level);
        join(&from[..3 * count * len], &mut to[..2 * count * len], len >> 1);
        len *= 2;
        (from, to) = (to, from);
    }
}

/// The inverse of [`split`], of products of twice `half` words.
#[inline(always)]
fn join(from: &[u64], to: &mut [u64], half: usize) {
    for (from, to) in from.chunks_exact(6 * half).zip(to.chunks_exact_mut(4 * half)) {
        let (low, from) = from.split_at(2 * half);
        let (high, sum) = from.split_at(2 * half);
        let ((low_0, low_1), (high_0, high_1), (sum_0, sum_1)) =
            (low.split_at(half), high.split_at(half), sum.split_at(half));
        let (to_0, rest) = to.split_at_mut(half);
        let (to_1, rest) = rest.split_at_mut(half);
        let (to_2, to_3) = rest.split_at_mut(half);
        to_0.copy_from_slice(low_0);
        to_3.copy_from_slice(high_1);
        for i in 0..half {
            let middle = low_1[i] ^ high_0[i];
            to_1[i] = middle ^ low_0[i] ^ sum_0[i];
            to_2[i] = middle ^ high_1[i] ^ sum_1[i];
        }
    }
}

/// The products of blocks of `D` digits.
#[inline(always)]
fn multiply_blocks<V: Digits, const D: usize>(products: &mut [u64], a: &[u64], b: &[u64]) {
    let groups = a.chunks_exact(2 * D * V::LANES).zip(b.chunks_exact(2 * D * V::LANES));
    for ((a, b), out) in groups.zip(products.chunks_exact_mut(4 * D * V::LANES)) {
        multiply_group::<V, D>(out, a, b);
    }
}

/// The products of as many blocks as a vector has lanes.
#[inline(always)]
fn multiply_group<V: Digits, const D: usize>(out: &mut [u64], a: &[u64], b: &[u64]) {
    const { assert!(D & 1 == 0) };
    // Each digit beside the sum of its words.
    let load = |words: &[u64]| -> [[V; 2]; D] {
        core::array::from_fn(|i| {
            let digit = V::gather(&words[2 * i..], 2 * D);
            [digit, digit.fold()]
        })
    };
    let (a, b) = (load(a), load(b));
    let mut store = |place: usize, digit: V| digit.scatter(&mut out[2 * place..], 4 * D);
    // Three columns at a time, two of which no other pairs of digits add to.
    let mut carried = [V::zero(); 3];
    let mut above = V::zero();
    let mut column = 0;
    while column < D - 1 {
        let pair = column << 1;
        let mut sums = [carried, [V::zero(); 3], [V::zero(); 3]];
        let half = D >> 1;
        let first = (column + 1).saturating_sub(half);
        let mut i = first;
        while i <= column && i < half {
            let j = column - i;
            let [a_0, a_1, b_0, b_1] = [a[2 * i], a[2 * i + 1], b[2 * j], b[2 * j + 1]];
            multiply_add(&mut sums[0], a_0, b_0);
            multiply_add(&mut sums[1], a_0, b_1);
            multiply_add(&mut sums[1], a_1, b_0);
            multiply_add(&mut sums[2], a_1, b_1);
            i += 1;
        }
        for (place, sum) in sums[..2].iter().enumerate() {
            let [low, high] = combine(*sum);
            store(pair + place, low.add(above));
            above = high;
        }
        carried = sums[2];
        column += 1;
    }
    let [low, high] = combine(carried);
    store(2 * D - 2, low.add(above));
    store(2 * D - 1, high);
}

/// Adds the three products of a pair of digits.
#[inline(always)]
fn multiply_add<V: Digits>(sums: &mut [V; 3], a: [V; 2], b: [V; 2]) {
    sums[0] = sums[0].add(a[0].multiply_low(b[0]));
    sums[1] = sums[1].add(a[0].multiply_high(b[0]));
    sums[2] = sums[2].add(a[1].multiply_low(b[1]));
}

/// The two digits of a column.
#[inline(always)]
fn combine<V: Digits>([low, high, both]: [V; 3]) -> [V; 2] {
    let middle = low.add(high).add(both);
    [low.add(middle.up()), high.add(middle.down())]
}
