//! Keys and signatures are those of the standard's text, coefficient by coefficient; and each check of an attempt rejects some.

use std::collections::BTreeMap;

use gambeson::Bytes;
use gambeson::mldsa::{Message, MlDsa44, MlDsa65, MlDsa87, PreparedSet, SigningKey};
use gambeson::sha3::Shake256;

use super::reference::{Attempt, Fault, Key, ML_DSA_44, ML_DSA_65, ML_DSA_87, Set};
use super::{sign_by_every_form, unhex};

/// The number of attempts with each end, over the signatures of these messages by the key of `seed`, which are as the doors make them.
fn attempts<P: PreparedSet>(
    set: Set,
    seed: &[u8; 32],
    messages: impl Iterator<Item = [u8; 32]>,
) -> BTreeMap<Attempt, usize> {
    let (sk, pk) = Key::generate(set, seed);
    let (mut ours, mut public) = (P::SigningKeyBytes::zeroed(), P::VerifyingKeyBytes::zeroed());
    SigningKey::<P>::encoded_from_seed(seed, &mut ours, &mut public);
    assert!(ours.as_ref() == sk && public.as_ref() == pk, "{}", P::NAME);
    let key = Key::decode(set, &sk);
    let mut seen = BTreeMap::new();
    for message in messages {
        let mut mu = [0; 64];
        Shake256::new().update(&sk[64..128]).update(&message).finalize_xof().squeeze(&mut mu);
        let (expected, attempts) = key.sign(&mu, Fault::None);
        let signature = sign_by_every_form::<P>(seed, &[0; 32], Message::internal(&message));
        assert_eq!(signature.as_ref(), expected);
        attempts.into_iter().for_each(|attempt| *seen.entry(attempt).or_default() += 1);
    }
    seen
}

#[test]
fn every_check_rejects_attempts_of_every_set() {
    fn test<P: PreparedSet>(set: Set, seed: u8) {
        let seen = attempts::<P>(set, &[seed; 32], (0..100).map(|i| [i; 32]));
        assert_eq!(seen[&Attempt::Accepted], 100);
        // A third to a half of the attempts pass the check of r0, and two thirds of the rest the one of z.
        assert!((150..450).contains(&seen[&Attempt::LowBits]), "{seen:?}");
        assert!((30..120).contains(&seen[&Attempt::Response]), "{seen:?}");
        assert!((1..20).contains(&seen[&Attempt::Hint]), "{seen:?}");
    }
    test::<MlDsa44>(ML_DSA_44, 3);
    test::<MlDsa65>(ML_DSA_65, 2);
    test::<MlDsa87>(ML_DSA_87, 0);
}

/// Keys and messages of NIST's draft-celi-acvp-ml-dsa, table 2. Only ML-DSA-44 can fail here: in the larger sets
/// ‖c·t0‖∞ ≤ τ·2^12 < γ2.
#[test]
fn a_product_with_t0_that_is_too_large_rejects_the_attempt() {
    const { assert!(ML_DSA_65.most_of_ct0() < ML_DSA_65.gamma2) };
    const { assert!(ML_DSA_87.most_of_ct0() < ML_DSA_87.gamma2) };
    let cases = [
        [
            "ca5a01e1ea6552cb5c9803462b94c2f1dc9d13bb17a6ace510d157056a2c6114",
            "8c8caca88fff52b9330510537b3701b3993f3726136a650f48f8604551550832",
        ],
        [
            "9c005f1550b4f31855c6b92f978736733f37791cb39dd182d7ba5732bdc2483e",
            "b744343f30f7fee088998ba574e799f1bf3939c06c29bf9ac10f3588a57e21e2",
        ],
    ];
    for case in cases {
        let [seed, m_prime] = case.map(|hex| unhex(hex).try_into().expect("32 bytes"));
        let seen = attempts::<MlDsa44>(ML_DSA_44, &seed, core::iter::once(m_prime));
        assert_eq!((seen[&Attempt::T0], seen[&Attempt::Hint], seen[&Attempt::Accepted]), (1, 1, 1));
    }
}

#[test]
fn a_challenge_has_tau_ones_of_either_sign() {
    for set in [ML_DSA_44, ML_DSA_65, ML_DSA_87] {
        let (key, mut plus, mut minus) = (Key::decode(set, &Key::generate(set, &[1; 32]).0), 0, 0);
        for i in 0..200u8 {
            let c = key.challenge(&[i; 64][..set.c_tilde]);
            assert!(c.iter().all(|c| (-1..=1).contains(c)));
            assert_eq!(c.iter().filter(|c| **c != 0).count(), set.tau);
            plus += c.iter().filter(|c| **c == 1).count();
            minus += c.iter().filter(|c| **c == -1).count();
        }
        assert!(plus.abs_diff(minus) < (plus + minus) >> 3);
    }
}
