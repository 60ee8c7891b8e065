//! ML-DSA: the seed of a key, the key, a message and its signature; answered by a key pair of the peer's and its signature of the same
//! message.

use super::Exchange;
use gambeson::Bytes;
use gambeson::mldsa::{ParameterSet, SigningKey, SigningKeyRef, VerifyingKeyRef};
use gambeson::sha3::Shake128;

pub fn exchange<P: ParameterSet>(files: &mut Exchange) {
    let mut stream =
        Shake128::new().update(files.profile.as_bytes()).update(P::NAME.as_bytes()).finalize_xof();
    let (mut seed, mut message) = ([0; 32], [0; 32]);
    stream.squeeze(&mut seed);
    stream.squeeze(&mut message);

    let (mut vk, mut signature) = (P::VerifyingKeyBytes::zeroed(), P::Signature::zeroed());
    let key = SigningKey::<P>::from_seed_into(&seed, &mut vk);
    key.sign_with_rnd_into(&[0; 32], &message, &mut signature);
    for bytes in [&seed, vk.as_ref(), &message, signature.as_ref()] {
        files.write(bytes);
    }
    for _ in 0..files.peers {
        let mut encoded = P::SigningKeyBytes::zeroed();
        for bytes in [vk.as_mut(), encoded.as_mut(), signature.as_mut()] {
            files.read(bytes);
        }
        let public = VerifyingKeyRef::<P>::from_ref(&vk);
        assert!(public.verify(&message, signature.as_ref()).is_ok(), "{}: the peer's signature", P::NAME);
        signature.as_mut()[0] ^= 1;
        assert!(public.verify(&message, signature.as_ref()).is_err(), "{}: a changed signature", P::NAME);

        let encoded = SigningKeyRef::<P>::from_ref(encoded.as_ref()).expect("the peer's key");
        encoded.sign_with_rnd_into(&[0; 32], &message, &mut signature);
        assert!(public.verify(&message, signature.as_ref()).is_ok(), "{}: by the peer's key", P::NAME);
        files.met += 1;
    }
}
