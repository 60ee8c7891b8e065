//! ML-DSA by every door.

use super::agreed;
use super::case::{Case, OfDsa};
use gambeson::mldsa::{
    Message, ParameterSet, PreparedSet, SigningKey, SigningKeyRef, VerifyingKey, VerifyingKeyRef,
};
use gambeson::sha3::Shake128;
use gambeson::{Bytes, Compact, Small, Workspace};

/// Steps of a digest in which every door is asked; later ones ask a door in turn.
const BY_ALL: usize = 2;

/// Whether what the case gives is accepted, and gives what the case expects.
pub fn run<P: PreparedSet>(kind: OfDsa, case: &Case) -> bool {
    let context = |number| case.field(number).unwrap_or_default();
    let signed = |sign: &dyn Fn(&[u8; 32], Message<'_>) -> Option<P::Signature>| {
        let message = match case.field(2) {
            Some(mu) => mu.try_into().map(Message::mu).ok(),
            None => Message::pure(case.known(1), context(3)).ok(),
        };
        let rnd = case.field(4).map_or([0; 32], |rnd| rnd.try_into().expect("32 bytes"));
        message
            .and_then(|message| sign(&rnd, message))
            .is_some_and(|signature| signature.as_ref() == case.known(5))
    };
    match kind {
        OfDsa::Accumulated => {
            let (steps, digest) = case.steps();
            accumulated::<P>(steps) == digest
        }
        OfDsa::SignSeed => {
            let Ok(seed) = case.known(0).try_into() else { return false };
            signed(&|rnd, message| Some(signature::<P>(None, seed, rnd, message)))
        }
        OfDsa::Sign => signed(&|rnd, message| signature_by_sk::<P>(None, case.known(0), rnd, message)),
        OfDsa::Verify => {
            let Ok(vk) = P::VerifyingKeyBytes::try_from(case.known(0)) else { return false };
            let Ok(message) = Message::pure(case.known(1), context(2)) else { return false };
            verified::<P>(None, &vk, message, case.known(3))
        }
    }
}

/// The digest of many steps: key and deterministic signature of the empty message (C2SP/CCTV, `ML-DSA/README.md`).
fn accumulated<P: PreparedSet>(steps: usize) -> [u8; 32] {
    let mut seeds = Shake128::new().finalize_xof();
    let mut output = Shake128::new();
    for step in 0..steps {
        let mut seed = [0; 32];
        seeds.squeeze(&mut seed);
        let only = (step >= BY_ALL).then_some(step);
        let vk = verifying_key::<P>(only, &seed);
        let message = Message::from(b"");
        let signature = signature::<P>(only, &seed, &[0; 32], message);
        output.update(vk.as_ref()).update(signature.as_ref());
        assert!(
            verified::<P>(only, &vk, message, signature.as_ref()),
            "our own signature of step {step} is refused"
        );
        let another = Message::from(b"another");
        assert!(
            !verified::<P>(only, &vk, another, signature.as_ref()),
            "that of step {step} verifies another message"
        );
    }
    let mut digest = [0; 32];
    output.finalize_xof().squeeze(&mut digest);
    digest
}

fn verifying_key<P: PreparedSet>(only: Option<usize>, seed: &[u8; 32]) -> P::VerifyingKeyBytes {
    let written = |work: &dyn Fn(&mut P::VerifyingKeyBytes)| {
        let mut vk = P::VerifyingKeyBytes::zeroed();
        work(&mut vk);
        vk
    };
    agreed(
        only,
        [
            &|| written(&|vk| _ = SigningKey::<Compact<P>>::from_seed_into(seed, vk)),
            &|| written(&|vk| _ = SigningKey::<Small<P>>::from_seed_into(seed, vk)),
            &|| {
                written(&|vk| {
                    _ = SigningKey::<Small<P>>::from_seed_in(seed, Some(vk), &mut Workspace::default())
                })
            },
            &|| *SigningKey::<P>::from_seed(seed).verifying_key().as_bytes(),
        ],
    )
}

/// By the key of the seed.
fn signature<P: PreparedSet>(
    only: Option<usize>,
    seed: &[u8; 32],
    rnd: &[u8; 32],
    message: Message<'_>,
) -> P::Signature {
    fn by<P: ParameterSet>(seed: &[u8; 32], rnd: &[u8; 32], message: Message<'_>) -> P::Signature {
        let mut signature = P::Signature::zeroed();
        SigningKey::<P>::from_seed(seed).sign_with_rnd_into(rnd, message, &mut signature);
        signature
    }
    agreed(
        only,
        [
            &|| by::<Compact<P>>(seed, rnd, message),
            &|| by::<Small<P>>(seed, rnd, message),
            &|| {
                let (workspace, mut signature) = (&mut Workspace::default(), P::Signature::zeroed());
                let key = SigningKey::<Small<P>>::from_seed_in(seed, None, workspace);
                key.sign_with_rnd_in(rnd, message, &mut signature, workspace);
                signature
            },
            &|| SigningKey::<P>::from_seed(seed).sign_with_rnd(rnd, message),
        ],
    )
}

/// By the key in the standard's encoding, if it is one: the heap's door alone sees whether t0 and tr belong to the rest.
fn signature_by_sk<P: PreparedSet>(
    only: Option<usize>,
    sk: &[u8],
    rnd: &[u8; 32],
    message: Message<'_>,
) -> Option<P::Signature> {
    fn by<P: ParameterSet>(sk: &[u8], rnd: &[u8; 32], message: Message<'_>) -> P::Signature {
        let mut signature = P::Signature::zeroed();
        let key = SigningKeyRef::<P>::from_ref(sk).expect("a key that was checked for more");
        key.sign_with_rnd_into(rnd, message, &mut signature);
        signature
    }
    let key = SigningKey::<P>::from_encoded(sk).ok()?;
    Some(agreed(
        only,
        [
            &|| by::<Compact<P>>(sk, rnd, message),
            &|| by::<Small<P>>(sk, rnd, message),
            &|| {
                let (workspace, mut signature) = (&mut Workspace::default(), P::Signature::zeroed());
                let key = SigningKeyRef::<Small<P>>::from_ref(sk).expect("a key that was checked for more");
                key.sign_with_rnd_in(rnd, message, &mut signature, workspace);
                signature
            },
            &|| key.sign_with_rnd(rnd, message),
        ],
    ))
}

fn verified<P: PreparedSet>(
    only: Option<usize>,
    vk: &P::VerifyingKeyBytes,
    message: Message<'_>,
    signature: &[u8],
) -> bool {
    agreed(
        only,
        [
            &|| VerifyingKeyRef::<Compact<P>>::from_ref(vk).verify(message, signature).is_ok(),
            &|| VerifyingKeyRef::<Small<P>>::from_ref(vk).verify(message, signature).is_ok(),
            &|| {
                VerifyingKeyRef::<Small<P>>::from_ref(vk)
                    .verify_in(message, signature, &mut Workspace::default())
                    .is_ok()
            },
            &|| {
                let key = VerifyingKey::<P>::from_bytes(vk);
                key.prepare();
                key.verify(message, signature).is_ok()
            },
        ],
    )
}
