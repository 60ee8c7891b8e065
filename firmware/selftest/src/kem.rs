//! ML-KEM: key, ciphertext, and the secret of a random ciphertext, which is rejected.

use super::{is, same};
use gambeson::Bytes;
use gambeson::mlkem::{
    DecapsulationKey, ExpandedDecapsulationKey, ExpandedKeyRef, ParameterSet, SharedSecret,
};
use gambeson::sha3::Shake128;

/// As many as the digests are of.
const STEPS: usize = 1000;

/// Runs the steps, whose digest is known, and returns their number.
pub fn accumulate<P: ParameterSet>(digest: &str) -> usize {
    let mut input = Shake128::new().finalize_xof();
    let mut output = Shake128::new();
    let (mut shared, mut rejection) = (SharedSecret::new([0; 32]), SharedSecret::new([0; 32]));
    for step in 0..STEPS {
        let (mut seed, mut m, mut random_c) = ([0; 64], [0; 32], P::Ciphertext::zeroed());
        input.squeeze(&mut seed);
        input.squeeze(&mut m);
        input.squeeze(random_c.as_mut());

        let mut ek = P::EncapsulationKeyBytes::zeroed();
        let key = DecapsulationKey::<P>::from_seed_into(&seed, &mut ek);
        let expanded = ExpandedDecapsulationKey::<P>::from_seed(&seed);
        let dk = expanded.to_expanded_bytes();
        let public = key.encapsulation_key();
        same("the encapsulation key", step, public.as_bytes().as_ref(), ek.as_ref());
        let mut c = P::Ciphertext::zeroed();
        public.encapsulate_deterministic_into(&m, &mut c, &mut shared);
        key.decapsulate_into(&random_c, &mut rejection);
        output.update(ek.as_ref()).update(dk.expose()).update(c.as_ref());
        output.update(shared.expose()).update(rejection.expose());

        same("the secret", step, key.decapsulate(&c).expose(), shared.expose());
        same("the secret on the heap", step, expanded.decapsulate(&c).expose(), shared.expose());
        let encoded = ExpandedKeyRef::<P>::borrowed(dk.expose()).expect("our own key");
        for (c, expected) in [(&c, &shared), (&random_c, &rejection)] {
            let mut found = SharedSecret::new([0; 32]);
            encoded.decapsulate_into(c, &mut found);
            same("the secret by the standard's key", step, found.expose(), expected.expose());
        }
    }
    let mut found = [0; 32];
    output.finalize_xof().squeeze(&mut found);
    is(P::NAME, STEPS, &found, digest);
    STEPS
}
