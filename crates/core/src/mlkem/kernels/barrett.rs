//! What the tables for NEON and for WebAssembly share: the factors of Barrett products, and an order for accepted candidates.

use super::portable::ZETAS;
use crate::mlkem::poly::Q;

/// 2^-16 modulo q.
const R_INVERSE: i64 = {
    let inverse = 169;
    assert!(Factor::new(inverse << 16).0 == 1);
    inverse
};

/// A factor w, |w| < q/2, and w·2^15/q, rounded.
#[derive(Clone, Copy)]
pub(super) struct Factor(pub i16, pub i16);

impl Factor {
    /// The residue of `w` with the smallest absolute value.
    #[allow(clippy::integer_division_remainder_used)] // evaluated by the compiler
    pub const fn new(w: i64) -> Self {
        let q = Q as i64;
        let w = w.rem_euclid(q);
        let w = if w > q / 2 { w - q } else { w };
        Self(w as i16, ((w << 16) + q).div_euclid(2 * q) as i16)
    }

    /// Factor `i` of the layer of this many blocks; the inverse transform takes them from the last to the first.
    pub const fn of_layer(blocks: usize, i: usize, inverse: bool) -> Self {
        let zeta = ZETAS[if inverse { 2 * blocks - 1 - i } else { blocks + i }];
        // `portable` keeps it times 2^16.
        Self::new(zeta.value as i64 * R_INVERSE)
    }
}

/// A factor in each lane.
#[derive(Clone, Copy)]
pub(super) struct Factors(pub [i16; 8], pub [i16; 8]);

impl Factors {
    pub const fn new(factors: [Factor; 8]) -> Self {
        let mut all = Self([0; 8], [0; 8]);
        let mut lane = 0;
        while lane < 8 {
            (all.0[lane], all.1[lane]) = (factors[lane].0, factors[lane].1);
            lane += 1;
        }
        all
    }
}

/// The factors of the layers of length 16, 8, 4 and 2 for 32 coefficients: four vectors, the last layers in pairs.
pub(super) struct Block {
    pub sixteen: Factor,
    pub eight: [Factor; 2],
    pub four: [Factors; 2],
    pub two: [Factors; 2],
}

const fn blocks(inverse: bool) -> [Block; 8] {
    const fn block(p: usize, inverse: bool) -> Block {
        const fn four(i: usize, inverse: bool) -> Factors {
            let [a, b] = [Factor::of_layer(32, i, inverse), Factor::of_layer(32, i + 1, inverse)];
            Factors::new([a, a, a, a, b, b, b, b])
        }
        const fn two(i: usize, inverse: bool) -> Factors {
            let [a, b] = [Factor::of_layer(64, i, inverse), Factor::of_layer(64, i + 1, inverse)];
            let [c, d] = [Factor::of_layer(64, i + 2, inverse), Factor::of_layer(64, i + 3, inverse)];
            Factors::new([a, a, b, b, c, c, d, d])
        }
        Block {
            sixteen: Factor::of_layer(8, p, inverse),
            eight: [Factor::of_layer(16, 2 * p, inverse), Factor::of_layer(16, 2 * p + 1, inverse)],
            four: [four(4 * p, inverse), four(4 * p + 2, inverse)],
            two: [two(8 * p, inverse), two(8 * p + 4, inverse)],
        }
    }
    let mut all = [const { block(0, false) }; 8];
    let mut p = 0;
    while p < 8 {
        all[p] = block(p, inverse);
        p += 1;
    }
    all
}

pub(super) static BLOCKS: [Block; 8] = blocks(false);
pub(super) static INVERSE_BLOCKS: [Block; 8] = blocks(true);

/// Factor `i` of the layers of length 128, 64 and 32: at 0, from 1 and from 3 on.
pub(super) const fn first_layers(inverse: bool) -> [Factor; 7] {
    [
        Factor::of_layer(1, 0, inverse),
        Factor::of_layer(2, 0, inverse),
        Factor::of_layer(2, 1, inverse),
        Factor::of_layer(4, 0, inverse),
        Factor::of_layer(4, 1, inverse),
        Factor::of_layer(4, 2, inverse),
        Factor::of_layer(4, 3, inverse),
    ]
}

/// Where the accepted of eight candidates are, as bytes for a look-up in a register; by the mask of the accepted.
pub(super) static ACCEPTED: [[u8; 16]; 256] = {
    let mut table = [[0xff; 16]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut n) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                table[mask][2 * n] = 2 * lane as u8;
                table[mask][2 * n + 1] = 2 * lane as u8 + 1;
                n += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};
