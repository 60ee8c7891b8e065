//! The same keys, ciphertexts and secrets as two independent implementations: RustCrypto's and libcrux's.

use gambeson::mlkem::*;
use gambeson::sha3::Shake256;

macro_rules! differential {
    ($test:ident, $ours:ty, $rustcrypto:ident, $libcrux:ident, $ciphertext:ident) => {
        fn $test() {
            use ml_kem::kem::{Decapsulate, KeyExport};
            let mut random = Shake256::new().update(stringify!($test).as_bytes()).finalize_xof();
            for _ in 0..200 {
                let (mut seed, mut m) = ([0; 64], [0; 32]);
                random.squeeze(&mut seed);
                random.squeeze(&mut m);
                let dk = DecapsulationKey::<$ours>::from_seed(&seed);
                let ek = dk.encapsulation_key();
                let (c, k) = ek.encapsulate_deterministic(&m);

                let their_dk = ml_kem::$rustcrypto::DecapsulationKey::from_seed(seed.into());
                let their_ek = their_dk.encapsulation_key();
                assert_eq!(their_ek.to_bytes().as_slice(), ek.as_bytes());
                let (their_c, their_k) = their_ek.encapsulate_deterministic(&m.into());
                assert_eq!((their_c.as_slice(), their_k.as_slice()), (&c[..], &k.expose()[..]));
                assert_eq!(their_dk.decapsulate(&c.into()).as_slice(), k.expose());

                let pair = libcrux_ml_kem::$libcrux::generate_key_pair(seed);
                assert_eq!(pair.public_key().as_slice(), ek.as_bytes());
                assert_eq!(&pair.private_key().as_slice()[..], &dk.to_encoded().expose()[..]);
                let (their_c, their_k) = libcrux_ml_kem::$libcrux::encapsulate(pair.public_key(), m);
                assert_eq!((their_c.as_slice(), &their_k[..]), (&c, &k.expose()[..]));

                // A ciphertext that is none: all three reject to the same secret.
                let mut bad = c;
                random.squeeze(&mut bad);
                let rejection = dk.decapsulate(&bad);
                assert_eq!(their_dk.decapsulate(&bad.into()).as_slice(), rejection.expose());
                let bad = libcrux_ml_kem::$libcrux::$ciphertext::from(bad);
                let theirs = libcrux_ml_kem::$libcrux::decapsulate(pair.private_key(), &bad);
                assert_eq!(&theirs[..], rejection.expose());
            }
        }
    };
}

differential!(
    ml_kem_512_agrees_with_rustcrypto_and_libcrux,
    MlKem512,
    ml_kem_512,
    mlkem512,
    MlKem512Ciphertext
);
differential!(
    ml_kem_768_agrees_with_rustcrypto_and_libcrux,
    MlKem768,
    ml_kem_768,
    mlkem768,
    MlKem768Ciphertext
);
differential!(
    ml_kem_1024_agrees_with_rustcrypto_and_libcrux,
    MlKem1024,
    ml_kem_1024,
    mlkem1024,
    MlKem1024Ciphertext
);

/// Under the tables in force.
pub fn run_all() {
    ml_kem_512_agrees_with_rustcrypto_and_libcrux();
    ml_kem_768_agrees_with_rustcrypto_and_libcrux();
    ml_kem_1024_agrees_with_rustcrypto_and_libcrux();
}
