//! A permutation of the caller's replaces Keccak in every hash; a wrong one is refused. A program with one test, because the
//! replacement holds for the whole process.

use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(feature = "alloc")]
use gambeson::mldsa;
use gambeson::mldsa::{MlDsa44, SigningKey};
use gambeson::mlkem::{DecapsulationKey, MlKem768};
use gambeson::sha3::{self, Sha3_256, State, WrongPermutation};

static PERMUTED: AtomicUsize = AtomicUsize::new(0);

/// Stands for a chip's Keccak unit: counts what it is given.
fn counting_unit(states: &mut [State]) {
    PERMUTED.fetch_add(states.len(), Ordering::Relaxed);
    sha3::permute_portable(states);
}

fn identity(_: &mut [State]) {}

fn only_the_first(states: &mut [State]) {
    sha3::permute_portable(&mut states[..1]);
}

fn counted<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = PERMUTED.load(Ordering::Relaxed);
    let result = work();
    (result, PERMUTED.load(Ordering::Relaxed) - before)
}

#[test]
fn a_plugged_in_permutation_does_every_hash() {
    let expected = Sha3_256::digest(b"abc");
    assert_eq!(sha3::set_permutation(identity), Err(WrongPermutation));
    assert_eq!(sha3::set_permutation(only_the_first), Err(WrongPermutation));
    let (digest, count) = counted(|| Sha3_256::digest(b"abc"));
    assert_eq!((digest, count), (expected, 0), "a refused permutation changes nothing");

    assert_eq!(sha3::set_permutation(counting_unit), Ok(()));
    assert_eq!(counted(|| Sha3_256::digest(b"abc")), (expected, 1));
    assert_eq!(counted(|| Sha3_256::digest(&[0; 136])).1, 2, "a full block, and the padding");

    // G; k² entries of 3 blocks or more; 2k of noise; of the 9 blocks of H(ek) the last four may wait for the first use.
    let (_, count) = counted(|| DecapsulationKey::<MlKem768>::from_seed(&[7; 64]));
    assert!((1 + 27 + 6 + 5..60).contains(&count), "{count} permutations in key generation");
    let (_, count) = counted(|| SigningKey::<MlDsa44>::from_seed(&[7; 32]).sign_deterministic(b"abc"));
    assert!(count > 200, "{count} permutations in key generation and signing");
    #[cfg(feature = "alloc")]
    {
        let key = SigningKey::<MlDsa44>::from_seed(&[7; 32]);
        let (public, signature) = (key.verifying_key(), key.sign_deterministic(b"abc"));
        let items = [(&public, b"abc".into(), signature.as_slice()); 3];
        let (verdicts, count) = counted(|| mldsa::verify_many(&items));
        assert_eq!(verdicts, [Ok(()); 3]);
        // tr, μ, c̃ and the challenge; 16 entries of five blocks.
        assert_eq!(count, 3 * (10 + 1 + 7 + 1 + 80));
    }

    sha3::clear_permutation();
    assert_eq!(counted(|| Sha3_256::digest(b"abc")), (expected, 0));
}
