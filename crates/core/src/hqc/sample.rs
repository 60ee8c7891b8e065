//! The key sampler: vectors of fixed weight by rejection.

use super::hash;
use super::params::{MAX_WEIGHT, ParameterSet, Params, Profile, SEED};
use super::support::{self, NONE, Positions};
use crate::secret::{Secret, barrier, declassify_value};
use crate::sha3::Squeeze;

/// The output of XOF, of which the first bytes were squeezed beside other sponges.
pub(super) struct Stream<'a> {
    seed: &'a [u8; SEED],
    ahead: &'a [u8],
    place: usize,
    /// The sponge once more, if those bytes did not do.
    later: Option<Squeeze>,
    profile: Profile,
}

/// Bytes of the output that suffice for both secrets of a key nearly always.
pub(super) const fn ahead_len(set: ParameterSet) -> usize {
    let w = set.params.w;
    match set.profile() {
        Profile::Reference2026 => 2 * 3 * w + 64,
        Profile::V5_0_0 => 4 * set.profile().read_len(3 * w),
    }
}

impl<'a> Stream<'a> {
    pub(super) const fn new(set: ParameterSet, seed: &'a [u8; SEED], ahead: &'a [u8]) -> Self {
        Self { seed, ahead, place: 0, later: None, profile: set.profile() }
    }

    /// Reads as the profile does.
    fn read(&mut self, out: &mut [u8]) {
        let start = self.place;
        self.place += self.profile.read_len(out.len());
        if let Some(bytes) = self.ahead.get(start..self.place) {
            return out.copy_from_slice(&bytes[..out.len()]);
        }
        // The sponge stands where the read before ended.
        let later = self.later.get_or_insert_with(|| {
            let mut sponge = hash::xof(self.seed);
            skip(&mut sponge, start);
            sponge
        });
        later.squeeze(out);
        skip(later, self.place - start - out.len());
    }
}

fn skip(sponge: &mut Squeeze, mut len: usize) {
    let mut bytes = Secret::new([0; 32]);
    while len > 0 {
        let piece = len.min(bytes.expose().len());
        sponge.squeeze(&mut bytes.expose_mut()[..piece]);
        len -= piece;
    }
}

/// c modulo n, of a candidate below 2^24.
fn reduced(params: &Params, c: u32) -> u32 {
    let n = params.n as u32;
    // The quotient by the reciprocal is too small by at most one.
    let quotient = ((u64::from(c) * u64::from(params.reciprocal)) >> 32) as u32;
    let rest = c - quotient * n;
    let is_large = barrier(n.wrapping_sub(rest + 1) >> 31);
    rest - (n & is_large.wrapping_neg())
}

/// The positions of a secret vector, of weight w: candidates that are too large, or equal to one before, are rejected.
#[inline(never)]
pub(super) fn positions(set: ParameterSet, stream: &mut Stream<'_>, positions: &mut Positions) {
    let (params, profile) = (set.params, set.profile());
    *positions = [[NONE; 16]; 10];
    let mut bytes = Secret::new([0; 3 * MAX_WEIGHT]);
    let bytes = &mut bytes.expose_mut()[..profile.key_read_len(params.w)];
    let (mut used, mut found) = (bytes.len(), 0);
    while found < params.w {
        if used == bytes.len() {
            stream.read(bytes);
            used = 0;
        }
        let candidate = profile.candidate(*bytes[used..].first_chunk().expect("candidates of three bytes"));
        used += 3;
        let is_below = candidate.wrapping_sub(params.rejected_from) >> 31;
        let position = reduced(params, candidate);
        let is_kept = is_below & support::is_absent(positions, position);
        // public: which of the candidates are kept does not depend on the positions that are; any set of them has these rejections as often
        if declassify_value(is_kept) == 1 {
            positions.as_flattened_mut()[found] = position;
            found += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    #[allow(clippy::integer_division_remainder_used)]
    fn candidates_are_reduced_as_by_division() {
        for set in ParameterSet::ALL {
            let n = set.params.n as u32;
            for c in (0..1 << 24).step_by(977).chain((0..290).flat_map(|i| [i * n, i * n + n - 1])) {
                assert_eq!(reduced(set.params, c), c % n);
            }
        }
    }

    #[test]
    fn a_stream_goes_on_behind_the_bytes_that_were_squeezed_ahead() {
        for (profile, gap) in [(Profile::Reference2026, 0), (Profile::V5_0_0, 5)] {
            let set = ParameterSet::HQC_1.with_profile(profile);
            let mut expected = vec![0; 400];
            hash::xof(&[7; 32]).squeeze(&mut expected);
            for ahead in [0, 8, 20, 48, 400] {
                let mut stream = Stream::new(set, &[7; 32], &expected[..ahead]);
                for round in 0..20 {
                    let mut out = [0; 3];
                    stream.read(&mut out);
                    assert_eq!(out, expected[round * (3 + gap)..][..3]);
                }
            }
        }
    }

    /// The sampler in the words of its description.
    fn slow(set: ParameterSet, seed: [u8; 32], seen: &mut [usize; 2]) -> [Vec<u32>; 2] {
        let mut stream = Stream::new(set, &seed, &[]);
        let chunk = set.profile().key_read_len(set.params.w);
        [(); 2].map(|()| {
            let mut found = Vec::new();
            'all: loop {
                let mut bytes = vec![0; chunk];
                stream.read(&mut bytes);
                for candidate in bytes.as_chunks().0 {
                    let candidate = set.profile().candidate(*candidate);
                    let position = reduced(set.params, candidate);
                    if candidate >= set.params.rejected_from {
                        seen[0] += 1;
                    } else if found.contains(&position) {
                        seen[1] += 1;
                    } else {
                        found.push(position);
                    }
                    if found.len() == set.params.w {
                        break 'all;
                    }
                }
            }
            found
        })
    }

    #[test]
    fn both_kinds_of_rejection_are_reached() {
        for profile in [Profile::Reference2026, Profile::V5_0_0] {
            let mut seen = [0; 2];
            for set in ParameterSet::ALL.iter().map(|set| set.with_profile(profile)) {
                for seed in 0..60 {
                    let seed = [seed; 32];
                    let mut ahead = vec![0; ahead_len(set)];
                    hash::xof(&seed).squeeze(&mut ahead);
                    let mut stream = Stream::new(set, &seed, &ahead);
                    for expected in slow(set, seed, &mut seen) {
                        let mut found = [[0; 16]; 10];
                        positions(set, &mut stream, &mut found);
                        assert_eq!(found.as_flattened()[..set.params.w], expected);
                    }
                }
            }
            assert!(seen[0] > 10 && seen[1] > 10, "{seen:?}");
        }
    }
}
