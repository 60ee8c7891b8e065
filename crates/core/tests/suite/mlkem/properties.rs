//! What holds for every key, every set and every mistake.

use core::convert::Infallible;

use gambeson::mlkem::*;
use gambeson::rand_core::{TryCryptoRng, TryRng};
use gambeson::sha3::Shake256;
use gambeson::{Bytes, Compact, Small, cpu};

use super::FormOf;

macro_rules! for_every_set {
    ($($test:ident)*) => {$(
        #[test]
        fn $test() {
            super::properties::body::$test::<MlKem512, MlKem512>();
            super::properties::body::$test::<MlKem512, Compact<MlKem512>>();
            super::properties::body::$test::<MlKem768, MlKem768>();
            super::properties::body::$test::<MlKem768, Compact<MlKem768>>();
            super::properties::body::$test::<MlKem1024, MlKem1024>();
            super::properties::body::$test::<MlKem1024, Compact<MlKem1024>>();
            super::properties::body::$test::<MlKem512, Small<MlKem512>>();
            super::properties::body::$test::<MlKem768, Small<MlKem768>>();
            super::properties::body::$test::<MlKem1024, Small<MlKem1024>>();
        }
    )*};
}

for_every_set! {
    a_change_in_any_byte_of_a_ciphertext_yields_the_rejection_secret
    a_decapsulation_key_of_another_length_is_refused
    a_decapsulation_key_whose_hash_is_wrong_is_refused
    a_decapsulation_key_with_an_unreduced_public_coefficient_is_refused
    a_key_survives_export_and_import
    a_failing_generator_gives_its_error_and_no_key
    an_encapsulation_key_gives_the_same_at_its_first_second_and_third_use
    an_encapsulation_key_of_another_length_is_refused
    an_unreduced_coefficient_is_refused_at_every_position
    every_door_makes_the_same_of_the_same_randomness
    keys_print_their_name_and_no_secret
}

fn seed(n: u8) -> [u8; 64] {
    core::array::from_fn(|i| (i as u8).wrapping_mul(37) ^ n)
}

/// A generator that repeats one byte.
struct Constant(u8);

impl TryRng for Constant {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(u32::from_le_bytes([self.0; 4]))
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from_le_bytes([self.0; 8]))
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.fill(self.0);
        Ok(())
    }
}

impl TryCryptoRng for Constant {}

#[derive(Debug, PartialEq)]
struct Broken;

impl core::fmt::Display for Broken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("broken")
    }
}

impl core::error::Error for Broken {}

impl TryRng for Broken {
    type Error = Broken;
    fn try_next_u32(&mut self) -> Result<u32, Broken> {
        Err(Broken)
    }
    fn try_next_u64(&mut self) -> Result<u64, Broken> {
        Err(Broken)
    }
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Broken> {
        out[0] = 1;
        Err(Broken)
    }
}

impl TryCryptoRng for Broken {}

mod body {
    use super::*;

    pub fn a_change_in_any_byte_of_a_ciphertext_yields_the_rejection_secret<P: PreparedSet, F: FormOf<P>>() {
        let compact = DecapsulationKey::<F>::from_seed(&seed(1));
        let prepared = DecapsulationKey::<P>::from_seed(&seed(1));
        let (c, k) = compact.encapsulation_key().encapsulate_deterministic(&[5; 32]);
        for at in 0..P::Ciphertext::LEN {
            let mut changed = c;
            changed.as_mut()[at] ^= 1 << (at % 8);
            let mut rejection = [0; 32];
            Shake256::new()
                .update(&seed(1)[32..])
                .update(changed.as_ref())
                .finalize_xof()
                .squeeze(&mut rejection);
            assert_eq!(prepared.decapsulate(&changed).expose(), &rejection, "byte {at}");
            assert_ne!(k.expose(), &rejection);
            if at % 31 == 0 {
                assert_eq!(compact.decapsulate(&changed).expose(), &rejection, "byte {at}");
            }
        }
    }

    pub fn an_encapsulation_key_of_another_length_is_refused<P: PreparedSet, F: FormOf<P>>() {
        let expected = P::EncapsulationKeyBytes::LEN;
        for actual in [0, 1, expected - 1, expected + 1, 2 * expected] {
            let error = EncapsulationKey::<F>::try_from(&vec![0; actual][..]).expect_err("wrong length");
            assert_eq!(error, EncapsulationKeyError::Length { expected, actual });
            assert!(error.to_string().contains(&expected.to_string()));
        }
    }

    pub fn an_unreduced_coefficient_is_refused_at_every_position<P: PreparedSet, F: FormOf<P>>() {
        let ek = *DecapsulationKey::<F>::from_seed(&seed(2)).encapsulation_key().as_bytes();
        for coefficient in 0..(P::EncapsulationKeyBytes::LEN - 32) / 3 * 2 {
            for (value, good) in [(3328u16, true), (3329, false), (4095, false)] {
                let mut changed = ek;
                let triple = &mut changed.as_mut()[coefficient / 2 * 3..][..3];
                if coefficient % 2 == 0 {
                    triple[0] = value as u8;
                    triple[1] = triple[1] & 0xf0 | (value >> 8) as u8;
                } else {
                    triple[1] = triple[1] & 0x0f | (value << 4) as u8;
                    triple[2] = (value >> 4) as u8;
                }
                let key = EncapsulationKey::<F>::from_bytes(&changed);
                assert_eq!(key.is_ok(), good, "coefficient {coefficient} = {value}");
                assert_eq!(EncapsulationKeyRef::<F>::from_ref(&changed).is_ok(), good);
                if !good {
                    let error = EncapsulationKey::<F>::try_from(changed.as_ref());
                    assert_eq!(error, Err(EncapsulationKeyError::Modulus));
                }
            }
        }
    }

    pub fn a_key_survives_export_and_import<P: PreparedSet, F: FormOf<P>>() {
        let prepared = DecapsulationKey::<P>::from_seed(&seed(3));
        let bytes = prepared.to_encoded();
        assert_eq!(bytes.expose().len(), P::DecapsulationKeyBytes::LEN);
        let imported = DecapsulationKey::<P>::from_encoded(bytes.expose()).expect("our own key");
        let mut at_once = P::DecapsulationKeyBytes::zeroed();
        DecapsulationKey::<F>::encoded_from_seed(&seed(3), &mut at_once);
        assert_eq!(at_once.as_ref(), &bytes.expose()[..]);
        assert!(imported.seed().is_none());
        assert_eq!(prepared.seed().expect("made of one").expose(), &seed(3));
        assert_eq!(imported.to_encoded().expose(), bytes.expose());
        assert_eq!(imported.encapsulation_key(), prepared.encapsulation_key());
        let (c, k) = imported.encapsulation_key().encapsulate_deterministic(&[6; 32]);
        assert_eq!(imported.decapsulate(&c).expose(), k.expose());
        let mut wrong = c;
        wrong.as_mut()[0] ^= 1;
        assert_eq!(imported.decapsulate(&wrong).expose(), prepared.decapsulate(&wrong).expose());
    }

    pub fn a_decapsulation_key_of_another_length_is_refused<P: PreparedSet, F: FormOf<P>>() {
        let expected = P::DecapsulationKeyBytes::LEN;
        for actual in [0, 64, expected - 1, expected + 1] {
            let error = DecapsulationKey::<P>::from_encoded(&vec![0; actual]).expect_err("length");
            assert_eq!(error, DecapsulationKeyError::Length { expected, actual });
            assert_eq!(DecapsulationKeyRef::<F>::from_ref(&vec![0; actual]).expect_err("length"), error);
            assert!(error.to_string().contains(&actual.to_string()));
        }
    }

    pub fn a_decapsulation_key_whose_hash_is_wrong_is_refused<P: PreparedSet, F: FormOf<P>>() {
        let bytes = DecapsulationKey::<P>::from_seed(&seed(4)).to_encoded();
        let s = (P::EncapsulationKeyBytes::LEN - 32) / 384 * 384;
        // In the first and last byte of ek, and in each of the hash.
        let ek_end = s + P::EncapsulationKeyBytes::LEN;
        for at in [s, ek_end - 1].into_iter().chain(ek_end..ek_end + 32) {
            let mut changed = bytes.expose().clone();
            changed[at] ^= 0x10;
            let error = DecapsulationKey::<P>::from_encoded(&changed).expect_err("hash");
            assert_eq!(error, DecapsulationKeyError::Hash, "byte {at}");
            assert_eq!(DecapsulationKeyRef::<F>::from_ref(&changed).expect_err("hash"), error);
        }
    }

    pub fn a_decapsulation_key_with_an_unreduced_public_coefficient_is_refused<
        P: PreparedSet,
        F: FormOf<P>,
    >() {
        let mut bytes = DecapsulationKey::<P>::from_seed(&seed(5)).to_encoded();
        let bytes = bytes.expose_mut();
        let s = P::EncapsulationKeyBytes::LEN - 32;
        let ek_end = s + P::EncapsulationKeyBytes::LEN;
        bytes[s] = 0xff;
        bytes[s + 1] = 0xff;
        let hash = gambeson::sha3::Sha3_256::digest(&bytes[s..ek_end]);
        bytes[ek_end..ek_end + 32].copy_from_slice(&hash);
        let error = DecapsulationKey::<P>::from_encoded(bytes).expect_err("modulus");
        assert_eq!(error, DecapsulationKeyError::Modulus);
        assert_eq!(DecapsulationKeyRef::<F>::from_ref(bytes).expect_err("modulus"), error);
    }

    pub fn every_door_makes_the_same_of_the_same_randomness<P: PreparedSet, F: FormOf<P>>() {
        let Ok(compact) = DecapsulationKey::<F>::generate_with(&mut Constant(7));
        let Ok(prepared) = DecapsulationKey::<P>::generate_with(&mut Constant(7));
        assert_eq!(compact.seed().expect("made of one").expose(), &[7; 64]);
        let ek = compact.encapsulation_key();
        assert_eq!(ek.as_bytes(), prepared.encapsulation_key().as_bytes());
        let (c, k) = ek.encapsulate_deterministic(&[9; 32]);
        let Ok((c1, k1)) = ek.encapsulate_with(&mut Constant(9));
        let borrowed = EncapsulationKeyRef::<F>::from_ref(ek.as_bytes()).expect("our own key");
        let Ok((c2, k2)) = borrowed.encapsulate_with(&mut Constant(9));
        let Ok((c3, k3)) = prepared.encapsulation_key().encapsulate_with(&mut Constant(9));
        for (other, other_k) in [(c1, k1), (c2, k2), (c3, k3)] {
            assert_eq!((other, other_k.expose()), (c, k.expose()));
        }

        // The operating system's randomness is fresh each time.
        let first = DecapsulationKey::<F>::generate().expect("randomness");
        let second = DecapsulationKey::<F>::generate().expect("randomness");
        assert_ne!(first.encapsulation_key(), second.encapsulation_key());
        let (c, k) = first.encapsulation_key().encapsulate().expect("randomness");
        assert_eq!(first.decapsulate(&c).expose(), k.expose());
        let (other, _) = first.encapsulation_key().encapsulate().expect("randomness");
        assert_ne!(c, other);
        assert!(kernels() <= cpu::level());
    }

    pub fn a_failing_generator_gives_its_error_and_no_key<P: PreparedSet, F: FormOf<P>>() {
        assert_eq!(DecapsulationKey::<F>::generate_with(&mut Broken).err(), Some(Broken));
        let ek = DecapsulationKey::<F>::from_seed(&seed(6)).encapsulation_key();
        assert_eq!(ek.encapsulate_with(&mut Broken).err(), Some(Broken));
    }

    pub fn keys_print_their_name_and_no_secret<P: PreparedSet, F: FormOf<P>>() {
        let dk = DecapsulationKey::<F>::from_seed(&seed(7));
        for text in [format!("{dk:?}"), format!("{:?}", dk.encapsulation_key())] {
            assert!(text.contains(P::NAME), "{text}");
            assert!(text.len() < 60, "{text}");
        }
    }

    pub fn an_encapsulation_key_gives_the_same_at_its_first_second_and_third_use<
        P: PreparedSet,
        F: FormOf<P>,
    >() {
        let ek = DecapsulationKey::<F>::from_seed(&seed(8)).encapsulation_key();
        let imported = EncapsulationKey::<F>::from_bytes(ek.as_bytes()).expect("our own key");
        let clone = imported.clone();
        clone.prepare();
        let (c, k) = imported.encapsulate_deterministic(&[1; 32]);
        for key in [&imported, &imported, &imported.clone(), &clone, &ek] {
            let (same, same_k) = key.encapsulate_deterministic(&[1; 32]);
            assert_eq!((same, same_k.expose()), (c, k.expose()));
            let (mut same, mut same_k) = (P::Ciphertext::zeroed(), SharedSecret::new([0; 32]));
            key.encapsulate_deterministic_into(&[1; 32], &mut same, &mut same_k);
            assert_eq!((same, same_k.expose()), (c, k.expose()));
        }
    }
}
