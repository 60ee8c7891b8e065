//! X448 and Ed448 against RFC 7748 and RFC 8032, and every refusal.

use gambeson_hybrid::ed448::{
    ContextTooLong, InvalidSignature, InvalidVerifyingKey, SigningKey, VerifyingKey,
};
use gambeson_hybrid::x448::{NonContributory, SecretKey};
use hex_literal::hex;

/// RFC 7748, §6.2.
#[test]
fn the_x448_exchange_of_the_standard() {
    let alice = SecretKey::from_bytes(&hex!(
        "9a8f4925d1519f5775cf46b04b5800d4ee9ee8bae8bc5565d498c28dd9c9baf5"
        "74a9419744897391006382a6f127ab1d9ac2d8c0a598726b"
    ));
    let bob = SecretKey::from_bytes(&hex!(
        "1c306a7ac2a0e2e0990b294470cba339e6453772b075811d8fad0d1d6927c120"
        "bb5ee8972b0d3e21374c9c921b09d1b0366f10b65173992d"
    ));
    assert_eq!(
        alice.public_key(),
        hex!(
            "9b08f7cc31b7e3e67d22d5aea121074a273bd2b83de09c63faa73d2c22c5d9bb"
            "c836647241d953d40c5b12da88120d53177f80e532c41fa0"
        )
    );
    assert_eq!(
        bob.public_key(),
        hex!(
            "3eb7a829b0cd20f5bcfc0b599b6feccf6da4627107bdb0d4f345b43027d8b972"
            "fc3e34fb4232a13ca706dcb57aec3dae07bdc1c67bf33609"
        )
    );
    let secret = hex!(
        "07fff4181ac6cc95ec1c16a94a0f74d12da232ce40a77552281d282bb60c0b56"
        "fd2464c335543936521c24403085d59a449a5037514a879d"
    );
    assert_eq!(alice.diffie_hellman(&bob.public_key()).unwrap().expose(), &secret);
    assert_eq!(bob.diffie_hellman(&alice.public_key()).unwrap().expose(), &secret);
}

#[test]
fn x448_iterates_as_the_standard_says() {
    let mut k = [0; 56];
    k[0] = 5;
    let mut u = k;
    for round in 1..=1000 {
        let next = *SecretKey::from_bytes(&k).diffie_hellman(&u).unwrap().expose();
        u = k;
        k = next;
        if round == 1 {
            assert_eq!(
                k,
                hex!(
                    "3f482c8a9f19b01e6c46ee9711d9dc14fd4bf67af30765c2ae2b846a4d23a8cd"
                    "0db897086239492caf350b51f833868b9bc2b3bca9cf4113"
                )
            );
        }
    }
    assert_eq!(
        k,
        hex!(
            "aa3b4749d55b9daf1e5b00288826c467274ce3ebbdd5c17b975e09d4af6c67cf"
            "10d087202db88286e2b79fceea3ec353ef54faa26e219f38"
        )
    );
}

#[test]
fn the_base_point_and_the_other_crate_agree() {
    let mut five = [0; 56];
    five[0] = 5;
    for i in 0..20_u8 {
        let bytes = core::array::from_fn(|at| i.wrapping_mul(31) ^ at as u8);
        let key = SecretKey::from_bytes(&bytes);
        assert_eq!(key.public_key(), *key.diffie_hellman(&five).unwrap().expose());
        assert_eq!(Some(key.public_key()), ::x448::x448(bytes, five));
        assert_eq!(key.as_bytes().expose(), &bytes);
    }
}

#[test]
fn a_point_of_low_order_is_refused() {
    let key = SecretKey::from_bytes(&[7; 56]);
    let mut one = [0; 56];
    one[0] = 1;
    for point in [[0; 56], one] {
        assert_eq!(key.diffie_hellman(&point).err(), Some(NonContributory));
    }
    assert!(NonContributory.to_string().contains("low order"));
    assert_eq!(format!("{key:?}"), "x448::SecretKey([redacted])");
}

/// RFC 8032, §7.4: "Blank", "1 octet", "1 octet (with context)".
#[test]
fn the_signatures_of_the_standard() {
    let blank = SigningKey::from_seed(&hex!(
        "6c82a562cb808d10d632be89c8513ebf6c929f34ddfa8c9f63c9960ef6e348a3"
        "528c8a3fcc2f044e39a3fc5b94492f8f032e7549a20098f95b"
    ));
    assert_eq!(
        blank.public_bytes(),
        &hex!(
            "5fd7449b59b461fd2ce787ec616ad46a1da1342485a70e1f8a0ea75d80e96778"
            "edf124769b46c7061bd6783df1e50f6cd1fa1abeafe8256180"
        )
    );
    assert_eq!(
        blank.sign(b""),
        hex!(
            "533a37f6bbe457251f023c0d88f976ae2dfb504a843e34d2074fd823d41a591f"
            "2b233f034f628281f2fd7a22ddd47d7828c59bd0a21bfd3980ff0d2028d4b18a"
            "9df63e006c5d1c2d345b925d8dc00b4104852db99ac5c7cdda8530a113a0f4db"
            "b61149f05a7363268c71d95808ff2e652600"
        )
    );
    let octet = SigningKey::from_seed(&hex!(
        "c4eab05d357007c632f3dbb48489924d552b08fe0c353a0d4a1f00acda2c463a"
        "fbea67c5e8d2877c5e3bc397a659949ef8021e954e0a12274e"
    ));
    assert_eq!(
        octet.public_bytes(),
        &hex!(
            "43ba28f430cdff456ae531545f7ecd0ac834a55d9358c0372bfa0c6c6798c086"
            "6aea01eb00742802b8438ea4cb82169c235160627b4c3a9480"
        )
    );
    assert_eq!(
        octet.sign(&[3]),
        hex!(
            "26b8f91727bd62897af15e41eb43c377efb9c610d48f2335cb0bd0087810f435"
            "2541b143c4b981b7e18f62de8ccdf633fc1bf037ab7cd779805e0dbcc0aae1cb"
            "cee1afb2e027df36bc04dcecbf154336c19f0af7e0a6472905e799f1953d2a0f"
            "f3348ab21aa4adafd1d234441cf807c03a00"
        )
    );
    assert_eq!(
        octet.sign_with_context(&[3], b"foo").unwrap(),
        hex!(
            "d4f8f6131770dd46f40867d6fd5d5055de43541f8c5e35abbcd001b32a89f7d2"
            "151f7647f11d8ca2ae279fb842d607217fce6e042f6815ea000c85741de5c8da"
            "1144a6a1aba7f96de42505d7a7298524fda538fccbbb754f578c1cad10d54d0d"
            "5428407e85dcbc98a49155c13764e66c3c00"
        )
    );
}

#[test]
fn every_change_is_refused() {
    let key = SigningKey::generate().unwrap();
    let public = VerifyingKey::from_bytes(key.verifying_key().as_bytes()).unwrap();
    assert_eq!(public, key.verifying_key());
    let signature = key.sign_with_context(b"message", b"context").unwrap();
    assert_eq!(public.verify_with_context(b"message", b"context", &signature), Ok(()));
    for at in 0..signature.len() {
        let mut bad = signature;
        bad[at] ^= 0x80;
        assert_eq!(
            public.verify_with_context(b"message", b"context", &bad),
            Err(InvalidSignature),
            "byte {at}"
        );
    }
    for length in [0, 57, 113] {
        let short = &signature[..length];
        assert_eq!(public.verify_with_context(b"message", b"context", short), Err(InvalidSignature));
    }
    assert_eq!(public.verify(b"message", &signature), Err(InvalidSignature));
    assert_eq!(public.verify_with_context(b"message", &[0; 256], &signature), Err(InvalidSignature));
    assert_eq!(key.sign_with_context(b"message", &[0; 256]), Err(ContextTooLong));
    assert_eq!(SigningKey::from_seed(key.seed().expose()).sign(b"m"), key.sign(b"m"));
}

#[test]
fn bytes_that_are_no_point_are_refused() {
    let mut bytes = *SigningKey::from_seed(&[7; 57]).public_bytes();
    bytes[56] |= 1;
    assert_eq!(VerifyingKey::from_bytes(&bytes), Err(InvalidVerifyingKey));
    // y = p - 1 + 2 = 1 in another spelling.
    let mut bytes = [0xff; 57];
    bytes[28] = 0xfe;
    bytes[56] = 0;
    assert_eq!(VerifyingKey::from_bytes(&bytes), Err(InvalidVerifyingKey));
}

/// With such a key the equation 4·S·B = 4·R + 4·k·A holds of S = 0 and a neutral R, whatever the message.
#[test]
fn public_keys_of_low_order_are_refused() {
    let mut neutral = [0; 57];
    neutral[0] = 1;
    // p - 1
    let mut order_2 = [0xff; 57];
    (order_2[0], order_2[28], order_2[56]) = (0xfe, 0xfe, 0);
    let mut order_4 = [[0; 57]; 2];
    order_4[1][56] = 0x80;
    for bytes in [neutral, order_2, order_4[0], order_4[1]] {
        let point = crrl::ed448::Point::decode(&bytes).expect("a point of the curve");
        assert_eq!((point + point + point + point).encode(), neutral);
        assert_eq!(VerifyingKey::from_bytes(&bytes), Err(InvalidVerifyingKey));
    }
}

#[test]
fn debug_shows_no_secret_and_errors_say_what_is_wrong() {
    let key = SigningKey::from_seed(&[7; 57]);
    assert_eq!(format!("{key:?}"), "ed448::SigningKey([redacted])");
    assert!(format!("{:?}", key.verifying_key()).starts_with("ed448::VerifyingKey("));
    for (text, part) in [
        (InvalidVerifyingKey.to_string(), "not a point"),
        (InvalidVerifyingKey.to_string(), "Ed448 public key"),
        (InvalidSignature.to_string(), "invalid"),
    ] {
        assert!(text.contains(part), "{text}");
    }
}
