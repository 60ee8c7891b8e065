//! SLH-DSA: the sets that sign fast.

use super::Instrument;
use crate::marked::secret;
use crate::{bytes, secrets, valgrind};
use gambeson::slhdsa::{ParameterSet, SigningKey};

/// Walks through every operation of these sets.
pub fn all(gate: &mut impl Instrument) {
    for set in ParameterSet::ALL.iter().copied().filter(|set| set.name().ends_with('f')) {
        of(gate, set);
    }
}

fn of(gate: &mut impl Instrument, set: ParameterSet) {
    let (name, n) = (set.name(), set.seed_len());
    let sk_seed: [u8; 32] = secret(&format!("{name} SK.seed"));
    let sk_prf: [u8; 32] = secret(&format!("{name} SK.prf"));
    let pk_seed: [u8; 32] = bytes(&format!("{name} PK.seed"));
    let randomness: [u8; 32] = bytes(&format!("{name} opt_rand"));
    let message: [u8; 40] = bytes(&format!("{name} message"));
    let (sk_seed, sk_prf, pk_seed) = (&sk_seed[..n], &sk_prf[..n], &pk_seed[..n]);
    let make = || SigningKey::from_seeds(set, sk_seed, sk_prf, pk_seed);
    let sign = |key: &SigningKey| key.sign_with_randomness(&message, &randomness[..n]);
    gate.secrets(|hunt| {
        let signature = make().and_then(|key| sign(&key)).expect("inputs of the set's lengths");
        secrets::slhdsa(hunt, set, [sk_seed, sk_prf, pk_seed], &signature);
    });
    let key = gate.run_ok((name, "keygen", ""), make);
    let encoded = key.expose_bytes().to_vec();
    valgrind::mark_public(&encoded[2 * n..]);
    let imported = gate.run_ok((name, "import", ""), || SigningKey::from_bytes(set, &encoded));
    let signature = gate.run_ok((name, "sign", ""), || sign(&key));
    valgrind::mark_public(&signature);
    let public = imported.verifying_key();
    gate.run_ok((name, "verify", ""), || public.verify(&message, &signature));
    assert!(public.verify(b"another message", &signature).is_err());
    #[cfg(feature = "c")]
    super::c::slhdsa(gate, set, (&[sk_seed, sk_prf, pk_seed].concat(), &randomness[..n], &message), &encoded);
    gate.run_drop(name, (key, imported));
}
