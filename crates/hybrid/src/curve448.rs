//! The two multiplications on the curve of 448 bits that see secrets, over the field and the points of `crrl`.
//!
//! That crate has both, with masks that the compiler sees through: at `opt-level = 2` rustc 1.95 makes a branch of each
//! look-up in its table (decision 19). Here every mask goes through a barrier.

use core::hint::black_box;

use crrl::ed448::{Point, Scalar};
use crrl::field::GF448;

/// Multiples 0 to 15 of a point.
type Window = [Point; 16];

/// Windows of B, 2^56·B, 2^112·B …: 22 KiB, made once.
#[cfg(feature = "std")]
static WINDOWS: std::sync::LazyLock<[Window; 8]> = std::sync::LazyLock::new(|| {
    let mut base = Point::BASE;
    core::array::from_fn(|_| {
        let window = window(base);
        base.set_xdouble(448 / 8);
        window
    })
});

/// scalar·B for the base point B, in time that does not depend on the scalar.
#[inline(never)]
pub(crate) fn multiply_base(scalar: &Scalar) -> Point {
    #[cfg(feature = "std")]
    let windows: &[Window; 8] = &WINDOWS;
    #[cfg(not(feature = "std"))]
    let windows = &[window(Point::BASE)];
    multiply(windows, scalar)
}

fn window(point: Point) -> Window {
    let mut window = [Point::NEUTRAL; 16];
    for i in 1..16 {
        window[i] = window[i - 1] + point;
    }
    window
}

/// The sum of digit·16^i·B over the 112 digits of the scalar; each window serves as many of them as the next.
fn multiply<const N: usize>(windows: &[Window; N], scalar: &Scalar) -> Point {
    let bytes = gambeson::secret::Secret::new(scalar.encode());
    let digit = |i: usize| u32::from(bytes.expose()[i >> 1] >> (4 * (i & 1)) & 15);
    let each = const { 112 / N };
    let mut sum = Point::NEUTRAL;
    for i in (0..each).rev() {
        sum.set_xdouble(4);
        for (place, window) in windows.iter().enumerate() {
            sum += look_up(window, digit(place * each + i));
        }
    }
    sum
}

/// `window[digit]`, reading all of them.
fn look_up(window: &Window, digit: u32) -> Point {
    let mut found = Point::NEUTRAL;
    for (candidate, point) in (0..).zip(window) {
        found.set_cond(point, black_box(all_ones_if_zero(digit ^ candidate)));
    }
    found
}

/// For x below 2^31.
fn all_ones_if_zero(x: u32) -> u32 {
    ((x.wrapping_sub(1) as i32) >> 31) as u32
}

/// X448 (RFC 7748, §5): the u-coordinate of the scalar's multiple of a point, in time that depends on neither.
#[inline(never)]
pub(crate) fn x448(scalar: &[u8; 56], u: &[u8; 56]) -> [u8; 56] {
    let x1 = GF448::decode_reduce(u);
    let (mut x2, mut z2, mut x3, mut z3) = (GF448::ONE, GF448::ZERO, x1, GF448::ONE);
    let mut swap = 0;
    for t in (0..448).rev() {
        // The clamping of §5: two low bits off, the highest on.
        let bit = match t {
            0 | 1 => 0,
            447 => 1,
            _ => u32::from(scalar[t >> 3] >> (t & 7) & 1),
        };
        let mask = black_box((swap ^ bit).wrapping_neg());
        GF448::cswap(&mut x2, &mut x3, mask);
        GF448::cswap(&mut z2, &mut z3, mask);
        swap = bit;
        let (a, b, c, d) = (x2 + z2, x2 - z2, x3 + z3, x3 - z3);
        let (aa, bb, da, cb) = (a.square(), b.square(), d * a, c * b);
        let e = aa - bb;
        x3 = (da + cb).square();
        z3 = x1 * (da - cb).square();
        x2 = aa * bb;
        z2 = e * (aa + e.mul_small(39081));
    }
    // The lowest bits are zero: the last swap was the one before them.
    (x2 / z2).encode()
}

/// X448 of the base point.
#[inline(never)]
pub(crate) fn x448_base(scalar: &[u8; 56]) -> [u8; 56] {
    let mut clamped = gambeson::secret::Secret::new(*scalar);
    let bytes = clamped.expose_mut();
    bytes[0] &= 0xfc;
    bytes[55] |= 0x80;
    multiply_base(&Scalar::decode_reduce(bytes)).to_montgomery_u().encode()
}
