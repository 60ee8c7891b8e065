//! `verify_many` against the functions for one signature, under every level that this machine can run.

use crate::LIMIT;
use gambeson::cpu::{self, Level};
use gambeson::mldsa::{
    self, InvalidSignature, Message, MlDsa44, MlDsa65, MlDsa87, PreHash, PreparedSet, SigningKey,
    VerifyingKey, VerifyingKeyRef,
};

/// A signature with one of its parts made wrong.
fn spoilt(signature: &[u8], how: usize) -> Vec<u8> {
    let mut wrong = signature.to_vec();
    let last = wrong.len() - 1;
    match how {
        // c̃, z, the ends of the hint's rows, and the length.
        0 => wrong[0] ^= 1,
        1 => wrong[100] ^= 4,
        2 => wrong[last] = 255,
        3 => wrong.truncate(last),
        4 => wrong.push(0),
        // z beyond its bound: all of its first coefficients are γ1.
        5 => wrong[64..160].fill(0),
        _ => wrong.clear(),
    }
    wrong
}

fn every_count_and_every_mistake<P: PreparedSet>() {
    let keys: Vec<_> = (0..17).map(|seed| SigningKey::<P>::from_seed(&[seed; 32])).collect();
    let public: Vec<_> = keys.iter().map(SigningKey::verifying_key).collect();
    let one = public[0].clone();
    let digest = PreHash::Sha3_256.digest(b"digest");
    let long = vec![7; 5000];
    let messages = [
        Message::from(b"message"),
        Message::from(b""),
        Message::from(long.as_slice()),
        Message::pure(b"message", &[1; 255]).expect("as long as a context may be"),
        Message::prehashed(&digest, b"context").expect("short"),
    ];
    let count = 64;
    let key_of = |i: usize| (i * 5) % keys.len();
    let message_of = |i: usize| messages[i % messages.len()];
    // Of some messages μ is given.
    let mu_of = |key: usize, i: usize| (i % 7 == 3).then(|| mu::<P>(&keys[key], i));
    let mu_of_each: Vec<_> = (0..count).map(|i| mu_of(key_of(i), i)).collect();
    let mu_of_same: Vec<_> = (0..count).map(|i| mu_of(0, i)).collect();
    let each_of = |i: usize| mu_of_each[i].as_ref().map_or_else(|| message_of(i), Message::mu);
    let same_of = |i: usize| mu_of_same[i].as_ref().map_or_else(|| message_of(i), Message::mu);
    let each: Vec<P::Signature> =
        (0..count).map(|i| keys[key_of(i)].sign_deterministic(each_of(i))).collect();
    let same: Vec<P::Signature> = (0..count).map(|i| keys[0].sign_deterministic(same_of(i))).collect();

    let judge = |each: &[Vec<u8>], same: &[Vec<u8>]| {
        let items: Vec<(&VerifyingKey<P>, Message<'_>, &[u8])> =
            each.iter().enumerate().map(|(i, s)| (&public[key_of(i)], each_of(i), s.as_slice())).collect();
        let verdicts = mldsa::verify_many(&items);
        let expected: Vec<_> =
            items.iter().map(|(key, message, signature)| once(key).verify(*message, signature)).collect();
        assert_eq!(verdicts, expected);
        let items: Vec<(Message<'_>, &[u8])> =
            same.iter().enumerate().map(|(i, s)| (same_of(i), s.as_slice())).collect();
        let by_one = one.verify_many(&items);
        let expected: Vec<_> =
            items.iter().map(|(message, signature)| one.verify(*message, signature)).collect();
        assert_eq!(by_one, expected);
        (verdicts, by_one)
    };

    let bytes = |signatures: &[P::Signature]| -> Vec<Vec<u8>> {
        signatures.iter().map(|signature| signature.as_ref().to_vec()).collect()
    };
    for count in (0..=17).chain([64]) {
        let (each, same) = judge(&bytes(&each[..count]), &bytes(&same[..count]));
        assert_eq!((each.len(), same.len()), (count, count));
        assert!(each.iter().chain(&same).all(Result::is_ok), "{count}");
    }
    // A mistake in each place of two groups and more; then as many as there are places.
    for at in 0..17 {
        let how = at % 7;
        let (mut each, mut same) = (bytes(&each[..17]), bytes(&same[..17]));
        (each[at], same[at]) = (spoilt(&each[at], how), spoilt(&same[at], how));
        let (each, same) = judge(&each, &same);
        for verdicts in [each, same] {
            let wrong: Vec<usize> = (0..17).filter(|i| verdicts[*i] == Err(InvalidSignature)).collect();
            assert_eq!(wrong, [at], "{how}");
        }
    }
    let all = |signatures: &[P::Signature]| -> Vec<Vec<u8>> {
        signatures.iter().enumerate().map(|(i, signature)| spoilt(signature.as_ref(), i % 7)).collect()
    };
    let (each, same) = judge(&all(&each[..17]), &all(&same[..17]));
    assert!(each.iter().chain(&same).all(Result::is_err));
    // The right signature of another message, and by another key.
    let swapped = mldsa::verify_many(&[
        (&public[0], message_of(1), &same_bytes::<P>(&keys[0], message_of(0))),
        (&public[1], message_of(0), &same_bytes::<P>(&keys[0], message_of(0))),
        (&public[0], message_of(0), &same_bytes::<P>(&keys[0], message_of(0))),
    ]);
    assert_eq!(swapped, [Err(InvalidSignature), Err(InvalidSignature), Ok(())]);
}

/// The verifying key without what is prepared of it.
fn once<P: PreparedSet>(key: &VerifyingKey<P>) -> VerifyingKeyRef<'_, P> {
    VerifyingKeyRef::from_ref(key.as_bytes())
}

/// μ of a message of its own.
fn mu<P: PreparedSet>(key: &SigningKey<P>, i: usize) -> [u8; 64] {
    key.mu_hasher(b"context").expect("short").update(&i.to_le_bytes()).finalize()
}

fn same_bytes<P: PreparedSet>(key: &SigningKey<P>, message: Message<'_>) -> Vec<u8> {
    key.sign_deterministic(message).as_ref().to_vec()
}

#[test]
fn many_verdicts_are_those_of_the_single_doors_under_every_level() {
    let _limit = LIMIT.lock();
    let mut ran = 0;
    for level in Level::ALL.iter().copied() {
        cpu::limit(level);
        if cpu::level() == level {
            every_count_and_every_mistake::<MlDsa44>();
            every_count_and_every_mistake::<MlDsa65>();
            every_count_and_every_mistake::<MlDsa87>();
            ran += 1;
        }
    }
    assert!(ran > 0, "a level");
}
