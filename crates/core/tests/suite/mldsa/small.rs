//! The schedule for the least memory beside the others.

use gambeson::mldsa::{
    InvalidSignature, Message, PreHash, PreparedSet, SigningKey, SigningKeyError, SigningKeyRef,
    VerifyingKey, VerifyingKeyError, VerifyingKeyRef,
};
use gambeson::{Bytes, Small, Workspace};

use super::{FormOf, Stream, for_each_set, sign_by_every_form};

#[test]
fn every_schedule_makes_the_same_keys_and_signatures() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let mut stream = Stream::new("schedules");
        for _ in 0..40 {
            let (seed, rnd) = (stream.array(), stream.array());
            let length = stream.below(300);
            let (message, context) = (stream.vec(length), stream.vec(length >> 1));
            let message = Message::pure(&message, &context).unwrap();
            let signature = sign_by_every_form::<P>(&seed, &rnd, message);

            let (small, plain) =
                (SigningKey::<Small<P>>::from_seed(&seed), SigningKey::<F>::from_seed(&seed));
            let public = plain.verifying_key();
            assert_eq!(small.verifying_key().as_bytes(), public.as_bytes());
            let mut vk = P::VerifyingKeyBytes::zeroed();
            plain.verifying_key_into(&mut vk);
            assert_eq!(&vk, public.as_bytes());
            assert_eq!(
                SigningKey::<F>::from_seed_into(&seed, &mut vk).sign_with_rnd(&rnd, message),
                signature
            );
            assert_eq!(&vk, public.as_bytes());
            assert_eq!(small.mu_hasher(b"").unwrap().finalize(), plain.mu_hasher(b"").unwrap().finalize());
            assert_eq!(
                VerifyingKeyRef::<Small<P>>::from_ref(&vk).verify(message, signature.as_ref()),
                Ok(())
            );
            assert_eq!(VerifyingKeyRef::<F>::from_ref(&vk).verify(message, signature.as_ref()), Ok(()));
        }
    }
    for_each_set!(test);
}

#[test]
fn every_schedule_signs_every_form_of_a_message() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        for function in PreHash::ALL {
            let digest = function.digest(b"message");
            sign_by_every_form::<P>(&[1; 32], &[2; 32], Message::prehashed(&digest, b"context").unwrap());
        }
        sign_by_every_form::<P>(&[1; 32], &[2; 32], Message::mu(&[3; 64]));
        sign_by_every_form::<P>(&[1; 32], &[2; 32], Message::internal(&[4; 1000]));
    }
    for_each_set!(test);
}

#[test]
fn every_schedule_refuses_a_changed_byte() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let key = SigningKey::<F>::from_seed(&[2; 32]);
        let mut vk = *key.verifying_key().as_bytes();
        let mut signature = key.sign_deterministic(b"m");
        let refused = |vk: &P::VerifyingKeyBytes, signature: &[u8]| {
            let key = VerifyingKeyRef::<Small<P>>::from_ref(vk);
            let verdict = key.verify(b"m", signature);
            assert_eq!(VerifyingKeyRef::<F>::from_ref(vk).verify(b"m", signature), verdict);
            assert_eq!(key.verify_in(b"m", signature, &mut Workspace::new()), verdict);
            verdict == Err(InvalidSignature)
        };
        for at in (0..P::Signature::LEN).step_by(61) {
            signature.as_mut()[at] ^= 0x10;
            assert!(refused(&vk, signature.as_ref()), "byte {at} of the signature");
            signature.as_mut()[at] ^= 0x10;
        }
        for at in (0..P::VerifyingKeyBytes::LEN).step_by(97) {
            vk.as_mut()[at] ^= 0x10;
            assert!(refused(&vk, signature.as_ref()), "byte {at} of the key");
            vk.as_mut()[at] ^= 0x10;
        }
        assert!(!refused(&vk, signature.as_ref()));
    }
    for_each_set!(test);
}

#[test]
fn borrowed_bytes_that_are_no_key_are_refused() {
    fn test<P: PreparedSet, F: FormOf<P>>() {
        let borrow = |bytes: &[u8]| SigningKeyRef::<F>::from_ref(bytes).map(|_| ());
        let key = SigningKey::<P>::from_seed(&[6; 32]);
        let bytes = key.to_encoded();
        let bytes = bytes.expose();
        let expected = P::SigningKeyBytes::LEN;
        assert_eq!(borrow(bytes), Ok(()));
        for actual in [0, 32, expected - 1, expected + 1] {
            let mut bytes = bytes.clone();
            bytes.resize(actual, 0);
            assert_eq!(borrow(&bytes), Err(SigningKeyError::Length { expected, actual }));
        }
        // s1 and s2 fill what ρ, K, tr and t0 leave.
        let rows = (P::VerifyingKeyBytes::LEN - 32) / 320;
        for at in [128, 600, 800, expected - 416 * rows - 1] {
            let mut bytes = bytes.clone();
            bytes[at] = 0xff;
            assert_eq!(borrow(&bytes), Err(SigningKeyError::Coefficient), "byte {at}");
        }
        assert_eq!(
            format!("{:?}", SigningKeyRef::<F>::from_ref(bytes).unwrap()),
            format!("SigningKeyRef<{}>([redacted])", P::NAME)
        );

        let vk = key.verifying_key();
        let vk = vk.as_bytes().as_ref();
        let (expected, actual) = (vk.len(), vk.len() - 1);
        assert_eq!(
            VerifyingKeyRef::<F>::try_from(&vk[1..]).err(),
            Some(VerifyingKeyError::Length { expected, actual })
        );
        let borrowed = VerifyingKeyRef::<F>::try_from(vk).unwrap();
        let public = VerifyingKey::<F>::try_from(vk).unwrap();
        assert_eq!(format!("{borrowed:?}"), format!("{public:?}").replace("Key<", "KeyRef<"));
    }
    for_each_set!(test);
}
