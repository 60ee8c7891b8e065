//! X-Wing against the draft's vectors, and every refusal.

use crate::generators::{Broken, counter};
use gambeson::RngError;
use gambeson_hybrid::xwing::{
    CIPHERTEXT_LEN, DecapsulationKey, ENCAPSULATION_KEY_LEN, EncapsulateError, EncapsulationKey,
    EncapsulationKeyError, InvalidEncapsulationKey, KEM_ID, NonContributory,
};
use hex_literal::hex;
use sha2::{Digest, Sha256};

/// The three vectors of draft-connolly-cfrg-xwing-kem (`spec/test-vectors.json` of its repository); the long
/// strings stand as their SHA-256.
struct Vector {
    seed: [u8; 32],
    eseed: [u8; 64],
    ek_sha256: [u8; 32],
    c_sha256: [u8; 32],
    k: [u8; 32],
}

const DRAFT: [Vector; 3] = [
    Vector {
        seed: hex!("7f9c2ba4e88f827d616045507605853ed73b8093f6efbc88eb1a6eacfa66ef26"),
        eseed: hex!(
            "3cb1eea988004b93103cfb0aeefd2a686e01fa4a58e8a3639ca8a1e3f9ae57e2"
            "35b8cc873c23dc62b8d260169afa2f75ab916a58d974918835d25e6a435085b2"
        ),
        ek_sha256: hex!("2e816deebcd76c5c80d0cd2d174478871658e8e2ff42bc9d4a6e486372e856bb"),
        c_sha256: hex!("17cd532d657e44c897ca6583e548a5424fc70bf54f99515a4d2bcf99e3469f33"),
        k: hex!("d2df0522128f09dd8e2c92b1e905c793d8f57a54c3da25861f10bf4ca613e384"),
    },
    Vector {
        seed: hex!("badfd6dfaac359a5efbb7bcc4b59d538df9a04302e10c8bc1cbf1a0b3a5120ea"),
        eseed: hex!(
            "17cda7cfad765f5623474d368ccca8af0007cd9f5e4c849f167a580b14aabdef"
            "aee7eef47cb0fca9767be1fda69419dfb927e9df07348b196691abaeb580b32d"
        ),
        ek_sha256: hex!("c42ba5f8430d7d2c83739338203819f090e8303ce9c8b02107c272bfa5376916"),
        c_sha256: hex!("1661ea86d608a1924ba30840cb0a65f13ae051e3aec9cf0f064efc0bc92f2154"),
        k: hex!("f2e86241c64d60f6649fbc6c5b7d17180b780a3f34355e64a85749949c45f150"),
    },
    Vector {
        seed: hex!("ef58538b8d23f87732ea63b02b4fa0f4873360e2841928cd60dd4cee8cc0d4c9"),
        eseed: hex!(
            "22a96188d032675c8ac850933c7aff1533b94c834adbb69c6115bad4692d8619"
            "f90b0cdf8a7b9c264029ac185b70b83f2801f2f4b3f70c593ea3aeeb613a7f1b"
        ),
        ek_sha256: hex!("6b080d6b84f095342092fa7a22423e58bd681397ad0ef00eac92bd254db4fa95"),
        c_sha256: hex!("d3ca5578500344b5896cffc4fd740c9311946b82951df155e6fd86a7966b43c6"),
        k: hex!("953f7f4e8c5b5049bdc771d1dffada0dd961477d1a2ae0988baa7ea6898d893f"),
    },
];

/// Every u-coordinate to which X25519 gives all zeros (RFC 7748, §7; the non-canonical ones included).
const LOW_ORDER: [[u8; 32]; 7] = [
    hex!("0000000000000000000000000000000000000000000000000000000000000000"),
    hex!("0100000000000000000000000000000000000000000000000000000000000000"),
    hex!("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    hex!("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
    hex!("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    hex!("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
    hex!("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
];

#[test]
fn the_vectors_of_the_draft() {
    let mut ran = 0;
    for v in &DRAFT {
        let dk = DecapsulationKey::from_seed(&v.seed);
        let ek = dk.encapsulation_key();
        assert_eq!(Sha256::digest(ek.as_bytes())[..], v.ek_sha256);
        assert_eq!(dk.seed().expose(), &v.seed);

        let (c, k) = ek.encapsulate_deterministic(&v.eseed);
        assert_eq!(Sha256::digest(c)[..], v.c_sha256);
        assert_eq!(k.expose(), &v.k);
        assert_eq!(dk.decapsulate(&c).expose(), &v.k);

        let (c2, k2) = ek.encapsulate_contributory_deterministic(&v.eseed).unwrap();
        assert_eq!((c2, k2.expose()), (c, &v.k));
        assert_eq!(dk.decapsulate_contributory(&c).unwrap().expose(), &v.k);
        ran += 1;
    }
    assert_eq!(ran, 3, "every vector of the draft ran");
}

#[test]
fn keys_from_every_source_of_randomness_agree_with_their_seeds() {
    let dk = DecapsulationKey::generate().unwrap();
    let again = DecapsulationKey::from_seed(dk.seed().expose());
    assert_eq!(dk.encapsulation_key(), again.encapsulation_key());

    let with = DecapsulationKey::generate_with(&mut counter(0)).unwrap();
    assert_eq!(with.seed().expose(), &core::array::from_fn(|i| i as u8));

    let (c, k) = dk.encapsulation_key().encapsulate().unwrap();
    assert_eq!(again.decapsulate(&c).expose(), k.expose());
    let (c, k) = dk.encapsulation_key().encapsulate_contributory().unwrap();
    assert_eq!(again.decapsulate_contributory(&c).unwrap().expose(), k.expose());

    let eseed: [u8; 64] = core::array::from_fn(|i| i as u8);
    let (c, k) = with.encapsulation_key().encapsulate_with(&mut counter(0)).unwrap();
    let (c2, k2) = with.encapsulation_key().encapsulate_deterministic(&eseed);
    assert_eq!((c, k.expose()), (c2, k2.expose()));
    let (c3, _) = with.encapsulation_key().encapsulate_contributory_with(&mut counter(0)).unwrap();
    assert_eq!(c3, c);
}

#[test]
fn a_failing_generator_makes_no_key_and_no_ciphertext() {
    assert_eq!(DecapsulationKey::generate_with(&mut Broken).err(), Some(RngError));
    let ek = DecapsulationKey::from_seed(&[1; 32]).encapsulation_key();
    assert_eq!(ek.encapsulate_with(&mut Broken).err(), Some(RngError));
    assert_eq!(ek.encapsulate_contributory_with(&mut Broken).err(), Some(EncapsulateError::Random(RngError)),);
}

#[test]
fn a_corrupted_ciphertext_yields_another_secret() {
    let dk = DecapsulationKey::from_seed(&[1; 32]);
    let (c, k) = dk.encapsulation_key().encapsulate_deterministic(&[2; 64]);
    for at in [0, 500, 1087, 1088, 1100, 1118] {
        let mut bad = c;
        bad[at] ^= 1;
        assert_ne!(dk.decapsulate(&bad).expose(), k.expose(), "byte {at}");
        assert_ne!(dk.decapsulate_contributory(&bad).unwrap().expose(), k.expose(), "byte {at}");
    }
}

#[test]
fn a_low_order_share_is_hashed_by_the_draft_and_refused_by_the_second_door() {
    let dk = DecapsulationKey::from_seed(&[1; 32]);
    let ek = dk.encapsulation_key();
    let (c, _) = ek.encapsulate_deterministic(&[2; 64]);
    let mut ran = 0;
    for point in LOW_ORDER {
        for top_bit in [0, 0x80] {
            let mut point = point;
            point[31] |= top_bit;

            let mut bad = c;
            bad[1088..].copy_from_slice(&point);
            let _ = dk.decapsulate(&bad);
            assert_eq!(dk.decapsulate_contributory(&bad).err(), Some(NonContributory));

            let mut key = *ek.as_bytes();
            key[1184..].copy_from_slice(&point);
            let key = EncapsulationKey::from_bytes(&key).unwrap();
            let _ = key.encapsulate_deterministic(&[2; 64]);
            assert_eq!(key.encapsulate_contributory_deterministic(&[2; 64]).err(), Some(NonContributory));
            assert_eq!(key.encapsulate_contributory().err(), Some(EncapsulateError::NonContributory));
            ran += 1;
        }
    }
    assert_eq!(ran, 14);
}

#[test]
fn a_key_of_the_wrong_length_or_with_an_unreduced_coefficient_is_refused() {
    let ek = DecapsulationKey::from_seed(&[1; 32]).encapsulation_key();
    let bytes = *ek.as_bytes();
    assert_eq!(EncapsulationKey::try_from(&bytes[..]), Ok(ek));
    for actual in [0, 32, 1184, 1215] {
        assert_eq!(
            EncapsulationKey::try_from(&bytes[..actual]),
            Err(EncapsulationKeyError::Length { actual })
        );
    }
    let long = [&bytes[..], &[0]].concat();
    assert_eq!(EncapsulationKey::try_from(&long[..]), Err(EncapsulationKeyError::Length { actual: 1217 }));

    for at in [0, 1149] {
        let mut bad = bytes;
        // Twelve bits a coefficient, the low ones first: 3329 = q = 0xd01.
        bad[at] = 0x01;
        bad[at + 1] = bad[at + 1] & 0xf0 | 0x0d;
        assert_eq!(EncapsulationKey::from_bytes(&bad), Err(InvalidEncapsulationKey));
        assert_eq!(EncapsulationKey::try_from(&bad[..]), Err(EncapsulationKeyError::Modulus));
    }
}

#[test]
fn sizes_and_number() {
    assert_eq!((KEM_ID, ENCAPSULATION_KEY_LEN, CIPHERTEXT_LEN), (0x647a, 1216, 1120));
}

#[test]
fn debug_shows_no_secret() {
    let dk = DecapsulationKey::from_seed(&[0xab; 32]);
    assert_eq!(format!("{dk:?}"), "xwing::DecapsulationKey([redacted])");
    assert!(format!("{:?}", dk.encapsulation_key()).starts_with("xwing::EncapsulationKey("));
}

#[test]
fn errors_say_what_is_wrong() {
    for (text, part) in [
        (EncapsulationKeyError::Length { actual: 3 }.to_string(), "1216 bytes, not 3"),
        (EncapsulationKeyError::Modulus.to_string(), "not below q"),
        (NonContributory.to_string(), "low-order"),
        (EncapsulateError::<NonContributory>::NonContributory.to_string(), "low-order"),
        (EncapsulateError::Random(RngError).to_string(), "random"),
    ] {
        assert!(text.contains(part), "{text}");
    }
}
