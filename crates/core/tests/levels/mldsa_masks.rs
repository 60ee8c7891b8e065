//! Masks of signatures, recovered with the private key: no coefficients repeat, within a signature or between two.
//!
//! A signature whose mask y repeats leaks the key: z - z′ = (c - c′)·s1, and s1 follows from one such pair. Such signatures verify,
//! so only known answers and this test see the fault. Signatures of every form of a key are looked at under every level; the faults are
//! planted in `reference`, which otherwise makes the same signatures.

use std::collections::HashSet;

use gambeson::cpu::{self, Level};
use gambeson::mldsa::{
    Message, MlDsa44, MlDsa65, MlDsa87, PreparedSet, SigningKey, SigningKeyRef, VerifyingKeyRef,
};
use gambeson::sha3::Shake256;
use gambeson::{Bytes, Compact, Small};

use crate::LIMIT;
use reference::{Fault, Key, Set};

#[path = "../suite/mldsa/reference.rs"]
mod reference;

/// Consecutive coefficients that are compared: 72 bits or more.
const WINDOW: usize = 4;
/// Signatures by each form of the key.
const SIGNATURES: u8 = 4;

/// Returns true if a window of coefficients stands in the masks twice.
fn repeats(masks: &[Vec<i64>]) -> bool {
    let mut seen = HashSet::new();
    masks.iter().flat_map(|mask| mask.windows(WINDOW)).any(|window| !seen.insert(window))
}

/// Masks of signatures of some μ; each signature verifies.
fn masks<P: PreparedSet>(
    key: &Key,
    vk: &P::VerifyingKeyBytes,
    mut sign: impl FnMut(&[u8; 64], &mut P::Signature),
) -> Vec<Vec<i64>> {
    let of_number = |number: u8| {
        let (mut mu, mut signature) = ([0; 64], P::Signature::zeroed());
        Shake256::digest_into(&[number], &mut mu);
        sign(&mu, &mut signature);
        let verdict = VerifyingKeyRef::<P>::from_ref(vk).verify(Message::mu(&mu), signature.as_ref());
        verdict.expect("the fault leaves signatures valid");
        key.mask(signature.as_ref())
    };
    (0..SIGNATURES).map(of_number).collect()
}

fn masks_repeat_only_where_a_fault_is_planted<P: PreparedSet>(set: Set) {
    let _limit = LIMIT.lock();
    let seed = [29; 32];
    let (mut sk, mut vk) = (P::SigningKeyBytes::zeroed(), P::VerifyingKeyBytes::zeroed());
    SigningKey::<P>::encoded_from_seed(&seed, &mut sk, &mut vk);
    let key = Key::decode(set, sk.as_ref());
    let faulty =
        |fault| masks::<P>(&key, &vk, |mu, out| out.as_mut().copy_from_slice(&key.sign(mu, fault).0));

    let expected = faulty(Fault::None);
    assert!(!repeats(&expected), "{}", P::NAME);
    for planted in [faulty(Fault::RepeatedHalf), faulty(Fault::RepeatedPolynomial)] {
        assert!(planted.iter().all(|mask| repeats(core::slice::from_ref(mask))), "canary: {}", P::NAME);
    }
    let shared = faulty(Fault::SharedByMessages);
    assert!(shared.iter().all(|mask| !repeats(core::slice::from_ref(mask))), "{}", P::NAME);
    assert!(repeats(&shared), "canary: {}", P::NAME);

    for level in Level::ALL.iter().copied() {
        cpu::limit(level);
        if cpu::level() != level {
            continue;
        }
        let rnd = &[0; 32];
        let prepared = SigningKey::<P>::from_seed(&seed);
        let compact = SigningKey::<Compact<P>>::from_seed(&seed);
        let small = SigningKey::<Small<P>>::from_seed(&seed);
        let encoded = SigningKeyRef::<P>::from_ref(sk.as_ref()).expect("our own key");
        let small_encoded = SigningKeyRef::<Small<P>>::from_ref(sk.as_ref()).expect("our own key");
        let forms = [
            masks::<P>(&key, &vk, |mu, out| prepared.sign_with_rnd_into(rnd, Message::mu(mu), out)),
            masks::<P>(&key, &vk, |mu, out| compact.sign_with_rnd_into(rnd, Message::mu(mu), out)),
            masks::<P>(&key, &vk, |mu, out| small.sign_with_rnd_into(rnd, Message::mu(mu), out)),
            masks::<P>(&key, &vk, |mu, out| encoded.sign_with_rnd_into(rnd, Message::mu(mu), out)),
            masks::<P>(&key, &vk, |mu, out| small_encoded.sign_with_rnd_into(rnd, Message::mu(mu), out)),
        ];
        assert!(forms.iter().all(|masks| *masks == expected), "{} under {level}", P::NAME);
    }
}

#[test]
fn masks_of_ml_dsa_44_repeat_only_where_a_fault_is_planted() {
    masks_repeat_only_where_a_fault_is_planted::<MlDsa44>(reference::ML_DSA_44);
}

#[test]
fn masks_of_ml_dsa_65_repeat_only_where_a_fault_is_planted() {
    masks_repeat_only_where_a_fault_is_planted::<MlDsa65>(reference::ML_DSA_65);
}

#[test]
fn masks_of_ml_dsa_87_repeat_only_where_a_fault_is_planted() {
    masks_repeat_only_where_a_fault_is_planted::<MlDsa87>(reference::ML_DSA_87);
}
