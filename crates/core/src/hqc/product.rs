//! The product of polynomials over GF(2) modulo X^n - 1, one text for every instruction that multiplies without carries.
//!
//! Karatsuba's method splits in three once, one part after the other, and then in two until blocks are left. The products of all blocks of a part
//! are made side by side, each in a lane of 128 bits: lanes do not exchange anything. A block is split once more; digits of 128 bits are multiplied column by
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
        6 => multiply_in::<V, 3>(shape, a, b, scratch),
        10 => multiply_in::<V, 5>(shape, a, b, scratch),
        12 => multiply_in::<V, 6>(shape, a, b, scratch),
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
fn multiply_in<V: Digits, const H: usize>(shape: Shape, a: &[u64], b: &[u64], scratch: &mut [u64]) {
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
            let (part, other) = (&operand[i * third..][..third], &operand[j * third..][..third]);
            evaluate(shape, part, if i == j { None } else { Some(other) }, points, products, spare);
        }
        multiply_blocks::<V, H>(products, a_points, b_points, 3_usize.pow(shape.levels));
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
        let (from_0, from_1) = from.split_at(half);
        let (to_0, rest) = to.split_at_mut(half);
        let (to_1, to_2) = rest.split_at_mut(half);
        // Four words at once, all loaded before any is stored: what the compiler makes vectors of.
        let chunks = quads(from_0).iter().zip(quads(from_1));
        let places = quads_mut(to_0).iter_mut().zip(quads_mut(to_1)).zip(quads_mut(to_2));
        for ((low, high), ((to_0, to_1), to_2)) in chunks.zip(places) {
            let (low, high) = (*low, *high);
            (*to_0, *to_1, *to_2) = (low, high, sum_of(low, high));
        }
    }
}

/// Groups of four words, of which there are whole ones.
#[inline(always)]
fn quads(words: &[u64]) -> &[[u64; 4]] {
    words.as_chunks().0
}

#[inline(always)]
fn quads_mut(words: &mut [u64]) -> &mut [[u64; 4]] {
    words.as_chunks_mut().0
}

#[inline(always)]
fn sum_of(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    [a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2], a[3] ^ b[3]]
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
        let quarter = half >> 2;
        let (from, to) = (quads(from), quads_mut(to));
        let (low, from) = from.split_at(2 * quarter);
        let (high, sum) = from.split_at(2 * quarter);
        let ((low_0, low_1), (high_0, high_1), (sum_0, sum_1)) =
            (low.split_at(quarter), high.split_at(quarter), sum.split_at(quarter));
        let (to_0, rest) = to.split_at_mut(quarter);
        let (to_1, rest) = rest.split_at_mut(quarter);
        let (to_2, to_3) = rest.split_at_mut(quarter);
        for i in 0..quarter {
            let (low, high) = ([low_0[i], low_1[i]], [high_0[i], high_1[i]]);
            let middle = sum_of(low[1], high[0]);
            let (low_sum, high_sum) = (sum_of(low[0], sum_0[i]), sum_of(high[1], sum_1[i]));
            to_0[i] = low[0];
            to_1[i] = sum_of(middle, low_sum);
            to_2[i] = sum_of(middle, high_sum);
            to_3[i] = high[1];
        }
    }
}

/// The products of `count` blocks, of twice `H` digits.
#[inline(always)]
fn multiply_blocks<V: Digits, const H: usize>(products: &mut [u64], a: &[u64], b: &[u64], count: usize) {
    let words = 4 * H * V::LANES;
    let groups = a.chunks_exact(words).zip(b.chunks_exact(words));
    let groups = groups.zip(products.chunks_exact_mut(2 * words));
    for ((a, b), out) in groups.take(count.div_ceil(V::LANES)) {
        multiply_group::<V, H>(out, a, b);
    }
}

/// The products of as many blocks as a vector has lanes, by Karatsuba's method once more, between registers.
#[inline(always)]
fn multiply_group<V: Digits, const H: usize>(out: &mut [u64], a: &[u64], b: &[u64]) {
    let (a, b) = ([load::<V, H>(a, 0), load::<V, H>(a, H)], [load::<V, H>(b, 0), load::<V, H>(b, H)]);
    let low = multiply_digits(&a[0], &b[0]);
    let high = multiply_digits(&a[1], &b[1]);
    let both = multiply_digits(&sums(&a), &sums(&b));
    for i in 0..H {
        let middle = low[1][i].add(high[0][i]);
        let quarters = [
            low[0][i],
            middle.add(low[0][i]).add(both[0][i]),
            middle.add(high[1][i]).add(both[1][i]),
            high[1][i],
        ];
        for (quarter, digit) in quarters.into_iter().enumerate() {
            digit.scatter(&mut out[2 * (quarter * H + i)..], 8 * H);
        }
    }
}

/// `H` digits of the blocks from one on, each beside the sum of its words. No closures: they would be compiled without the caller's
/// instructions.
#[inline(always)]
fn load<V: Digits, const H: usize>(words: &[u64], first: usize) -> [[V; 2]; H] {
    let mut digits = [[V::zero(); 2]; H];
    for (i, place) in digits.iter_mut().enumerate() {
        let digit = V::gather(&words[2 * (first + i)..], 4 * H);
        *place = [digit, digit.fold()];
    }
    digits
}

/// The sums of both halves.
#[inline(always)]
fn sums<V: Digits, const H: usize>(halves: &[[[V; 2]; H]; 2]) -> [[V; 2]; H] {
    let mut sums = halves[0];
    for (sum, other) in sums.iter_mut().zip(&halves[1]) {
        *sum = [sum[0].add(other[0]), sum[1].add(other[1])];
    }
    sums
}

/// The product of `H` digits and `H` digits, in two halves, column by column.
#[inline(always)]
fn multiply_digits<V: Digits, const H: usize>(a: &[[V; 2]; H], b: &[[V; 2]; H]) -> [[V; H]; 2] {
    let mut product = [[V::zero(); H]; 2];
    let mut above = V::zero();
    for column in 0..2 * H - 1 {
        let mut sums = [V::zero(); 3];
        for i in 0..H {
            // As a condition in a loop of a fixed length, which is unrolled.
            if i <= column && column - i < H {
                multiply_add(&mut sums, a[i], b[column - i]);
            }
        }
        let [low, high] = combine(sums);
        let digit = low.add(above);
        if column < H {
            product[0][column] = digit;
        } else {
            product[1][column - H] = digit;
        }
        above = high;
    }
    product[1][H - 1] = above;
    product
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
