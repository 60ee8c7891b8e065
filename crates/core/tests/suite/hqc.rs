//! HQC: the published vectors of both profiles, by the digests of the response files, and what is refused or rejected.

use gambeson::hqc::{
    self, CompactDecapsulationKey, DecapsulationKey, DecapsulationKeyError, DecapsulationKeyRef,
    EncapsulationKey, EncapsulationKeyError, EncapsulationKeyRef, LengthError, ParameterSet, Profile,
};
use gambeson::sha3::Sha3_256;

#[path = "hqc/vectors.rs"]
mod vectors;

use vectors::{FILES, generator};

#[test]
fn the_published_vectors_of_both_profiles() {
    vectors::run_all();
}

/// A key of each set in each profile, with an encapsulation.
struct Case {
    set: ParameterSet,
    dk: DecapsulationKey,
    c: Vec<u8>,
    shared: [u8; 32],
}

fn cases() -> impl Iterator<Item = Case> {
    FILES.into_iter().map(|(set, _)| {
        let dk = DecapsulationKey::from_seed(set, &[5; 32]);
        let m = vec![6; set.message_len()];
        let (c, shared) =
            dk.encapsulation_key().encapsulate_deterministic(&m, &[7; 16]).expect("a message of this length");
        Case { set, dk, c, shared: *shared.expose() }
    })
}

impl Case {
    /// The rejection secret of a ciphertext, J(H(ek) ‖ σ ‖ c).
    fn rejection(&self, c: &[u8]) -> [u8; 32] {
        let encoded = self.dk.to_encoded();
        let (ek, secrets) = encoded.expose().split_at(self.set.encapsulation_key_len());
        let h = Sha3_256::new().update(ek).update(&[1]).finalize();
        let sigma = &secrets[32..][..self.set.message_len()];
        Sha3_256::new().update(&h).update(sigma).update(c).update(&[3]).finalize()
    }
}

#[test]
fn a_flipped_bit_in_u_v_or_the_salt_yields_the_rejection_secret() {
    let mut flipped = 0;
    for case in cases() {
        let u = case.set.encapsulation_key_len() - 32;
        let end = case.c.len();
        let bits = [0, 1, 8 * u - 4 * 8, 8 * u, 8 * u + 7, 8 * (end - 17) + 7, 8 * (end - 16), 8 * end - 1];
        for bit in bits.into_iter().chain((0..40).map(|i| i * 8 * end / 40 + i % 8)) {
            let mut c = case.c.clone();
            c[bit / 8] ^= 1 << (bit % 8);
            let shared = case.dk.decapsulate(&c).unwrap();
            assert_eq!(*shared.expose(), case.rejection(&c), "{:?}: bit {bit}", case.set);
            assert_ne!(*shared.expose(), case.shared);
            flipped += 1;
        }
    }
    assert_eq!(flipped, 6 * 48);
}

#[test]
fn spare_bits_in_u_yield_the_rejection_secret() {
    let mut set_bits = 0;
    for case in cases() {
        let last = case.set.encapsulation_key_len() - 33;
        // n mod 8 is 5, 3 and 5.
        let first = if case.set.name() == "HQC-3" { 3 } else { 5 };
        for bit in first..8 {
            let mut c = case.c.clone();
            assert_eq!(c[last] >> bit, 0, "an encapsulation sets no spare bits");
            c[last] |= 1 << bit;
            let shared = case.dk.decapsulate(&c).unwrap();
            assert_eq!(*shared.expose(), case.rejection(&c), "{:?}: bit {bit}", case.set);
            set_bits += 1;
        }
    }
    assert_eq!(set_bits, 2 * (3 + 5 + 3));
}

#[test]
fn a_ciphertext_of_noise_yields_the_rejection_secret() {
    for case in cases() {
        let mut noise = generator(b"noise");
        let last = case.set.encapsulation_key_len() - 33;
        for _ in 0..10 {
            let mut c = vec![0; case.c.len()];
            noise.squeeze(&mut c);
            assert_eq!(*case.dk.decapsulate(&c).unwrap().expose(), case.rejection(&c));
            c[last] &= 7;
            assert_eq!(*case.dk.decapsulate(&c).unwrap().expose(), case.rejection(&c));
        }
        for byte in [0, 255] {
            let c = vec![byte; case.c.len()];
            assert_eq!(*case.dk.decapsulate(&c).unwrap().expose(), case.rejection(&c));
        }
    }
}

#[test]
fn every_other_length_is_refused() {
    for case in cases() {
        let (set, encoded) = (case.set, case.dk.to_encoded());
        let ek = case.dk.encapsulation_key();
        let compact = CompactDecapsulationKey::from_seed(set, &[5; 32]);
        let by_ref = DecapsulationKeyRef::from_ref(set, encoded.expose()).unwrap();
        let mut bytes = vec![0; set.ciphertext_len() + 200];
        let (mut shared, mut secret) = (0, hqc::SharedSecret::new([0; 32]));
        for actual in 0..bytes.len() {
            let given = &bytes[..actual];
            let error = |input, expected| LengthError { input, expected, actual };
            if actual != set.ciphertext_len() {
                let error = error("ciphertext", set.ciphertext_len());
                assert_eq!(case.dk.decapsulate(given).err(), Some(error));
                assert_eq!(case.dk.decapsulate_into(given, &mut secret), Err(error));
                assert_eq!(by_ref.decapsulate(given).err(), Some(error));
                assert_eq!(compact.decapsulate(given).err(), Some(error));
                assert_eq!(hqc::decapsulate_many(&[(&case.dk, given)])[0].as_ref().err(), Some(&error));
                shared += 1;
            }
            if actual != set.encapsulation_key_len() {
                let error =
                    EncapsulationKeyError::Length(error("encapsulation key", set.encapsulation_key_len()));
                assert_eq!(EncapsulationKey::from_bytes(set, given).err(), Some(error));
                assert_eq!(EncapsulationKeyRef::from_ref(set, given).err(), Some(error));
            }
            if actual != set.decapsulation_key_len() {
                let error =
                    DecapsulationKeyError::Length(error("decapsulation key", set.decapsulation_key_len()));
                assert_eq!(DecapsulationKey::from_encoded(set, given).err(), Some(error));
                assert_eq!(DecapsulationKeyRef::from_ref(set, given).err(), Some(error));
            }
            if actual != set.message_len() && actual < 100 {
                let error = error("message", set.message_len());
                assert_eq!(ek.encapsulate_deterministic(given, &[0; 16]).err(), Some(error));
                let many = hqc::encapsulate_many_deterministic(&[(&ek, given, &[0; 16])]);
                assert_eq!(many.err(), Some(error));
            }
        }
        assert_eq!(shared, bytes.len() - 1, "every length but one was refused");
        assert_eq!(secret.expose(), &[0; 32], "a refused ciphertext leaves the secret alone");
        let m = vec![0; set.message_len()];
        let short = ek.encapsulate_deterministic_into(&m, &[0; 16], &mut bytes, &mut secret);
        assert_eq!(short.unwrap_err().input, "ciphertext");
    }
}

#[test]
fn spare_bits_in_a_key_are_refused() {
    for case in cases() {
        let set = case.set;
        let mut encoded = case.dk.to_encoded().expose().clone();
        encoded[set.encapsulation_key_len() - 1] |= 0x80;
        let ek = &encoded[..set.encapsulation_key_len()];
        assert_eq!(EncapsulationKey::from_bytes(set, ek).err(), Some(EncapsulationKeyError::SpareBits));
        assert_eq!(EncapsulationKeyRef::from_ref(set, ek).err(), Some(EncapsulationKeyError::SpareBits));
        assert_eq!(
            DecapsulationKeyRef::from_ref(set, &encoded).err(),
            Some(DecapsulationKeyError::SpareBits)
        );
        assert_eq!(
            DecapsulationKey::from_encoded(set, &encoded).err(),
            Some(DecapsulationKeyError::Mismatch)
        );
    }
}

#[test]
fn a_key_whose_parts_do_not_belong_together_is_refused() {
    for case in cases() {
        let encoded = case.dk.to_encoded();
        let again = DecapsulationKey::from_encoded(case.set, encoded.expose()).unwrap();
        assert_eq!(again.decapsulate(&case.c).unwrap().expose(), &case.shared);
        for byte in (0..encoded.expose().len()).step_by(331).chain([encoded.expose().len() - 1]) {
            let mut wrong = encoded.expose().clone();
            wrong[byte] ^= 1;
            let error = DecapsulationKey::from_encoded(case.set, &wrong).err();
            assert_eq!(error, Some(DecapsulationKeyError::Mismatch), "{:?}: byte {byte}", case.set);
        }
        // The key of the other profile is another one.
        let other = match case.set.profile() {
            Profile::V5_0_0 => Profile::Reference2026,
            _ => Profile::V5_0_0,
        };
        let other = DecapsulationKey::from_encoded(case.set.with_profile(other), encoded.expose());
        assert_eq!(other.err(), Some(DecapsulationKeyError::Mismatch));
    }
}

#[test]
fn all_forms_of_a_key_give_the_same_results() {
    for case in cases() {
        let (set, encoded) = (case.set, case.dk.to_encoded());
        let compact = CompactDecapsulationKey::from_seed(set, case.dk.seed());
        let by_ref = DecapsulationKeyRef::from_ref(set, encoded.expose()).unwrap();
        let ek = case.dk.encapsulation_key();
        assert_eq!(compact.encapsulation_key(), ek);
        assert_eq!(EncapsulationKey::from_bytes(set, ek.as_bytes()).unwrap(), ek);
        let m = vec![6; set.message_len()];
        // The first use, the second, which expands the key, and the third.
        for _ in 0..3 {
            let (c, shared) = ek.encapsulate_deterministic(&m, &[7; 16]).unwrap();
            assert_eq!((&c, shared.expose()), (&case.c, &case.shared));
        }
        let once = EncapsulationKeyRef::from_ref(set, ek.as_bytes()).unwrap();
        let (c, shared) = once.encapsulate_deterministic(&m, &[7; 16]).unwrap();
        assert_eq!((&c, shared.expose()), (&case.c, &case.shared));
        let mut wrong = case.c.clone();
        wrong[100] ^= 1;
        for (c, expected) in [(&case.c, case.shared), (&wrong, case.rejection(&wrong))] {
            assert_eq!(case.dk.decapsulate(c).unwrap().expose(), &expected);
            assert_eq!(compact.decapsulate(c).unwrap().expose(), &expected);
            assert_eq!(by_ref.decapsulate(c).unwrap().expose(), &expected);
            for form in 0..3 {
                let mut shared = hqc::SharedSecret::new([0; 32]);
                let done = match form {
                    0 => case.dk.decapsulate_into(c, &mut shared),
                    1 => compact.decapsulate_into(c, &mut shared),
                    _ => by_ref.decapsulate_into(c, &mut shared),
                };
                assert_eq!((done, shared.expose()), (Ok(()), &expected));
            }
        }
    }
}

#[test]
fn batches_give_the_results_of_single_operations() {
    let cases: Vec<_> = cases().collect();
    let keys: Vec<_> = cases.iter().map(|case| case.dk.encapsulation_key()).collect();
    for count in [0, 1, 2, 7, 8, 9, 17] {
        let messages: Vec<_> = (0..count).map(|i| vec![i as u8; cases[i % 6].set.message_len()]).collect();
        let salts: Vec<_> = (0..count).map(|i| [i as u8; 16]).collect();
        let items: Vec<_> = (0..count).map(|i| (&keys[i % 6], messages[i].as_slice(), &salts[i])).collect();
        let sent = hqc::encapsulate_many_deterministic(&items).unwrap();
        assert_eq!(sent.len(), count);
        let mut received: Vec<(&DecapsulationKey, &[u8])> = Vec::new();
        for ((item, (c, shared)), case) in items.iter().zip(&sent).zip(cases.iter().cycle()) {
            let fresh = EncapsulationKey::from_bytes(case.set, item.0.as_bytes()).unwrap();
            let (expected, secret) = fresh.encapsulate_deterministic(item.1, item.2).unwrap();
            assert_eq!((c, shared.expose()), (&expected, secret.expose()));
            received.push((&case.dk, c));
        }
        let short = &cases[0].c[1..];
        if count == 9 {
            received[4].1 = short;
        }
        for (i, (shared, (_, sent))) in hqc::decapsulate_many(&received).iter().zip(&sent).enumerate() {
            match shared {
                Ok(shared) => assert_eq!(shared.expose(), sent.expose()),
                Err(error) => assert_eq!((count, i, error.actual), (9, 4, short.len())),
            }
        }
    }
}

#[test]
#[cfg(feature = "getrandom")]
fn drawn_keys_and_secrets_differ_and_agree() {
    for case in cases() {
        let dk = DecapsulationKey::generate(case.set).unwrap();
        assert_ne!(dk.seed(), case.dk.seed());
        let ek = dk.encapsulation_key();
        let sent = [ek.encapsulate().unwrap(), ek.encapsulate().unwrap()];
        assert_ne!(sent[0].1.expose(), sent[1].1.expose());
        let many = hqc::encapsulate_many(&[&ek, &ek]).unwrap();
        assert_ne!(many[0].1.expose(), many[1].1.expose());
        for (c, shared) in sent.iter().chain(&many) {
            assert_eq!(dk.decapsulate(c).unwrap().expose(), shared.expose());
        }
        let compact = CompactDecapsulationKey::generate(case.set).unwrap();
        let (c, shared) = compact.encapsulation_key().encapsulate().unwrap();
        assert_eq!(compact.decapsulate(&c).unwrap().expose(), shared.expose());
    }
}
