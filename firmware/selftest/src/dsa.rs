//! ML-DSA: key and deterministic signature.

use super::{is, same};
use gambeson::Bytes;
use gambeson::mldsa::{ExpandedKeyRef, ExpandedSigningKey, ParameterSet, SigningKey, VerifyingKeyRef};
use gambeson::sha3::Shake128;

/// As many as the digests are of.
const STEPS: usize = 100;

/// Runs the steps, whose digest is known, and returns their number.
pub fn accumulate<P: ParameterSet>(digest: &str) -> usize {
    let mut seeds = Shake128::new().finalize_xof();
    let mut output = Shake128::new();
    for step in 0..STEPS {
        let mut seed = [0; 32];
        seeds.squeeze(&mut seed);
        let mut vk = P::VerifyingKeyBytes::zeroed();
        let key = SigningKey::<P>::from_seed_into(&seed, &mut vk);
        let public = VerifyingKeyRef::<P>::borrowed(&vk);
        let mut signature = P::Signature::zeroed();
        key.sign_with_rnd_into(&[0; 32], b"", &mut signature);
        output.update(vk.as_ref()).update(signature.as_ref());
        assert!(public.verify(b"", signature.as_ref()).is_ok(), "our own signature verifies");
        assert!(public.verify(b"another", signature.as_ref()).is_err(), "of this message alone");
        if step < 2 {
            let expanded = ExpandedSigningKey::<P>::from_seed(&seed);
            let on_heap = expanded.sign_deterministic(b"");
            same("the signature on the heap", step, on_heap.as_ref(), signature.as_ref());
            let sk = expanded.to_expanded_bytes();
            let encoded = ExpandedKeyRef::<P>::borrowed(sk.expose()).expect("our own key");
            let mut found = P::Signature::zeroed();
            encoded.sign_with_rnd_into(&[0; 32], b"", &mut found);
            same("the signature by the standard's key", step, found.as_ref(), signature.as_ref());
            let made_again = SigningKey::<P>::from_seed(&seed).verifying_key();
            same("the public key", step, made_again.as_bytes().as_ref(), vk.as_ref());
        }
    }
    let mut found = [0; 32];
    output.finalize_xof().squeeze(&mut found);
    is(P::NAME, STEPS, &found, digest);
    STEPS
}
