//! XXH64, by which nodes hash the components of names. It is no cryptographic hash.
//!
//! Source: the xxHash specification, version 0.1.1, "XXH64 algorithm description"; with the seed 0.

const PRIME_1: u64 = 0x9e37_79b1_85eb_ca87;
const PRIME_2: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PRIME_3: u64 = 0x1656_67b1_9e37_79f9;
const PRIME_4: u64 = 0x85eb_ca77_c2b2_ae63;
const PRIME_5: u64 = 0x27d4_eb2f_1656_67c5;

/// Returns the XXH64 of `data` with the seed 0.
pub(super) fn xxh64(data: &[u8]) -> u64 {
    let (stripes, rest) = data.as_chunks::<32>();
    // Steps 1 to 3: four lanes over stripes of 32 bytes, if there is one.
    let mut hash = if stripes.is_empty() {
        PRIME_5
    } else {
        let mut lanes = [PRIME_1.wrapping_add(PRIME_2), PRIME_2, 0, PRIME_1.wrapping_neg()];
        for stripe in stripes {
            for (lane, word) in lanes.iter_mut().zip(stripe.as_chunks::<8>().0) {
                *lane = round(*lane, u64::from_le_bytes(*word));
            }
        }
        let [a, b, c, d] = lanes;
        let converged = a
            .rotate_left(1)
            .wrapping_add(b.rotate_left(7))
            .wrapping_add(c.rotate_left(12))
            .wrapping_add(d.rotate_left(18));
        lanes
            .into_iter()
            .fold(converged, |hash, lane| (hash ^ round(0, lane)).wrapping_mul(PRIME_1).wrapping_add(PRIME_4))
    };
    // Step 4.
    hash = hash.wrapping_add(data.len() as u64);
    // Step 5: the rest, by 8, 4 and 1 bytes.
    let (words, rest) = rest.as_chunks::<8>();
    for word in words {
        hash ^= round(0, u64::from_le_bytes(*word));
        hash = hash.rotate_left(27).wrapping_mul(PRIME_1).wrapping_add(PRIME_4);
    }
    let (halves, rest) = rest.as_chunks::<4>();
    for half in halves {
        hash ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(PRIME_1);
        hash = hash.rotate_left(23).wrapping_mul(PRIME_2).wrapping_add(PRIME_3);
    }
    for byte in rest {
        hash ^= u64::from(*byte).wrapping_mul(PRIME_5);
        hash = hash.rotate_left(11).wrapping_mul(PRIME_1);
    }
    // Step 6.
    hash = (hash ^ hash >> 33).wrapping_mul(PRIME_2);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIME_3);
    hash ^ hash >> 32
}

const fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIME_2)).rotate_left(31).wrapping_mul(PRIME_1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with the Python package xxhash, which wraps the reference implementation: lengths on both sides of each step.
    #[test]
    fn hashes_are_those_of_the_reference_implementation() {
        let data: Vec<u8> = (0..=255).collect();
        let known = [
            (0, 0xef46_db37_51d8_e999),
            (1, 0xe934_a84a_db05_2768),
            (3, 0xe5c7_bb45_33bc_65dd),
            (4, 0xffce_d860_4453_cc1e),
            (7, 0x14cc_643f_630c_72d2),
            (8, 0x884a_1736_14b8_1b8d),
            (31, 0xc346_d2b5_9b4d_8ee1),
            (32, 0xcbf5_9c51_16ff_32b4),
            (33, 0x0c53_5d1a_cafb_8ead),
            (63, 0xe26a_a9e2_a95f_8e4f),
            (64, 0xf7c6_7301_db67_13f0),
            (100, 0x6ac1_e580_3216_6597),
            (256, 0x1fac_be84_06cd_904b),
        ];
        for (len, hash) in known {
            assert_eq!(xxh64(&data[..len]), hash, "{len} bytes");
        }
    }
}
