//! ML-KEM: the seed of a key, the key, a ciphertext for it and its secret; answered by a ciphertext for the key and its secret, and a
//! key pair of the peer's.

use super::Exchange;
use gambeson::Bytes;
use gambeson::mlkem::{
    DecapsulationKey, DecapsulationKeyRef, EncapsulationKeyRef, ParameterSet, SharedSecret,
};
use gambeson::sha3::Shake128;

pub fn exchange<P: ParameterSet>(files: &mut Exchange) {
    let mut stream =
        Shake128::new().update(files.profile.as_bytes()).update(P::NAME.as_bytes()).finalize_xof();
    let (mut seed, mut m) = ([0; 64], [0; 32]);
    stream.squeeze(&mut seed);
    stream.squeeze(&mut m);

    let (mut ek, mut c) = (P::EncapsulationKeyBytes::zeroed(), P::Ciphertext::zeroed());
    let (mut shared, mut found) = (SharedSecret::new([0; 32]), SharedSecret::new([0; 32]));
    let dk = DecapsulationKey::<P>::from_seed_into(&seed, &mut ek);
    let own = EncapsulationKeyRef::<P>::from_ref(&ek).expect("our own key");
    own.encapsulate_deterministic_into(&m, &mut c, &mut shared);
    for bytes in [&seed, ek.as_ref(), c.as_ref(), shared.expose()] {
        files.write(bytes);
    }
    for _ in 0..files.peers {
        let (mut theirs, mut expected) = (P::EncapsulationKeyBytes::zeroed(), [0; 32]);
        let mut encoded = P::DecapsulationKeyBytes::zeroed();
        for bytes in [c.as_mut(), &mut expected, theirs.as_mut(), encoded.as_mut()] {
            files.read(bytes);
        }
        dk.decapsulate_into(&c, &mut found);
        assert!(*found.expose() == expected, "{}: the secret of the peer's ciphertext is another", P::NAME);
        c.as_mut()[0] ^= 1;
        dk.decapsulate_into(&c, &mut found);
        assert!(*found.expose() != expected, "{}: a changed ciphertext has the same secret", P::NAME);

        let theirs = EncapsulationKeyRef::<P>::from_ref(&theirs).expect("the peer's key");
        theirs.encapsulate_deterministic_into(&m, &mut c, &mut shared);
        let encoded = DecapsulationKeyRef::<P>::from_ref(encoded.as_ref()).expect("the peer's key");
        encoded.decapsulate_into(&c, &mut found);
        assert!(found.expose() == shared.expose(), "{}: the peer's keys are no pair", P::NAME);
        files.met += 1;
    }
}
