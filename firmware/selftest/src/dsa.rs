//! ML-DSA: key and deterministic signature.

use super::{is, same};
use gambeson::mldsa::{ExpandedSigningKey, ParameterSet, SigningKey};
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
        let key = SigningKey::<P>::from_seed(&seed);
        let public = key.verifying_key();
        let signature = key.sign_deterministic(b"");
        output.update(public.as_bytes().as_ref()).update(signature.as_ref());
        assert!(public.verify(b"", signature.as_ref()).is_ok(), "our own signature verifies");
        assert!(public.verify(b"another", signature.as_ref()).is_err(), "of this message alone");
        if step < 2 {
            let expanded = ExpandedSigningKey::<P>::from_seed(&seed).sign_deterministic(b"");
            same("the signature on the heap", step, expanded.as_ref(), signature.as_ref());
        }
    }
    let mut found = [0; 32];
    output.finalize_xof().squeeze(&mut found);
    is(P::NAME, STEPS, &found, digest);
    STEPS
}
