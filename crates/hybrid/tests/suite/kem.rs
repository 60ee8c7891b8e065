//! The table of hybrid KEMs: vectors, orders, and every refusal.

use std::collections::BTreeSet;
use std::io::Read;

use crate::generators::{Broken, always, counter};
use base64ct::{Base64, Encoding};
use gambeson_hybrid::kem::{
    Curve, DecapsulationKey, EncapsulationKey, Error, HybridKem, KEMS, MLKEM768_X25519_SHA3_256, MlKem,
    SECP256R1_MLKEM768, SECP384R1_MLKEM1024, X_WING, X448_MLKEM768, X448_MLKEM1024, X25519_MLKEM768,
};
use gambeson_hybrid::{x448, xwing};
use hex_literal::hex;
use serde_json::Value;

/// A private key of the mechanism that is the same in every run.
fn key(kem: &'static HybridKem) -> DecapsulationKey {
    DecapsulationKey::generate_with(kem, &mut counter(1)).unwrap()
}

fn randomness(kem: &HybridKem) -> Vec<u8> {
    (0..kem.randomness_len()).map(|i| i as u8 + 7).collect()
}

#[test]
fn the_vectors_of_composite_ml_kem() {
    let mut text = String::new();
    flate2::read::GzDecoder::new(&include_bytes!("../data/composite-kem.json.gz")[..])
        .read_to_string(&mut text)
        .unwrap();
    let tests: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut ran = BTreeSet::new();
    for test in &tests {
        let name = test["tcId"].as_str().unwrap().strip_prefix("id-").unwrap();
        let [ek, dk, pkcs8, c, k] = ["ek", "dk", "dk_pkcs8", "c", "k"]
            .map(|name| Base64::decode_vec(test[name].as_str().unwrap()).unwrap());
        let kem = HybridKem::by_name(name).unwrap();
        let key = DecapsulationKey::from_bytes(kem, &dk).unwrap();
        assert_eq!(key.encapsulation_key().as_bytes(), ek, "{name}");
        assert_eq!(EncapsulationKey::from_bytes(kem, &ek).unwrap(), key.encapsulation_key());
        assert_eq!(key.decapsulate(&c).unwrap().expose(), k, "{name}");
        assert_eq!(key.expose_bytes(), dk);
        // Without what RFC 5915 puts around the scalar.
        let scalar = kem.curve().secret_len();
        let at = if dk.len() == 64 + scalar { 64 } else { 64 + 7 };
        let parts = [&dk[..64], &dk[at..][..scalar]].concat();
        assert_eq!(DecapsulationKey::from_parts(kem, &parts).unwrap().expose_bytes(), dk);
        let short = DecapsulationKey::from_parts(kem, &parts[1..]).err();
        assert_eq!(short, Some(Error::Length { expected: 64 + scalar, actual: 63 + scalar }));
        // The PKCS#8 file ends with the private key and names the mechanism.
        assert!(pkcs8.ends_with(&dk));
        let oid = kem.oid().unwrap();
        assert!(pkcs8.windows(oid.len()).any(|window| window == oid), "{name}");
        assert_eq!(HybridKem::by_oid(oid), Some(kem));
        ran.insert(name);
    }
    let ours: BTreeSet<_> = KEMS.iter().filter(|kem| kem.oid().is_some()).map(|kem| kem.name()).collect();
    assert_eq!(ran.len(), 5);
    assert_eq!(ran, ours, "every composite mechanism has its vector");
}

#[test]
fn x_wing_of_the_table_is_x_wing() {
    let ours = DecapsulationKey::from_bytes(&X_WING, &[7; 32]).unwrap();
    let theirs = xwing::DecapsulationKey::from_seed(&[7; 32]);
    assert_eq!(ours.encapsulation_key().as_bytes(), theirs.encapsulation_key().as_bytes());
    let (c, k) = ours.encapsulation_key().encapsulate_deterministic(&[9; 64]).unwrap();
    let (c2, k2) = theirs.encapsulation_key().encapsulate_deterministic(&[9; 64]);
    assert_eq!((c.as_bytes(), k.expose()), (&c2[..], &k2.expose()[..]));
    assert_eq!(ours.decapsulate(&c2).unwrap().expose(), theirs.decapsulate(&c2).expose());
    // A share of low order is hashed like any other.
    let mut low = c2;
    low[1088..].fill(0);
    assert_eq!(ours.decapsulate(&low).unwrap().expose(), theirs.decapsulate(&low).expose());
}

/// The parts computed apart, put together by hand.
#[test]
fn shares_and_secrets_stand_in_the_order_of_the_group() {
    use gambeson::mlkem;
    let scalar = |n: usize| -> Vec<u8> { (0..n).map(|i| 3 * i as u8 + 1).collect() };
    let mut ran = 0;
    for kem in KEMS.iter().filter(|kem| kem.group().is_some()) {
        let x = scalar(kem.curve().secret_len());
        let (d_z, m) = ([5; 64], [6; 32]);
        let ours = DecapsulationKey::from_bytes(kem, &[&d_z[..], &x].concat()).unwrap();
        let ephemeral: Vec<u8> = x.iter().map(|byte| byte ^ 0x55).collect();
        let public = ours.encapsulation_key();
        let (c, k) = public.encapsulate_deterministic(&[&m[..], &ephemeral].concat()).unwrap();

        let (ek, c_m, ss_m) = match kem.ml_kem() {
            MlKem::MlKem768 => {
                let key = mlkem::DecapsulationKey::<mlkem::MlKem768>::from_seed(&d_z).encapsulation_key();
                let (c, k) = key.encapsulate_deterministic(&m);
                (key.as_bytes().to_vec(), c.to_vec(), *k.expose())
            }
            MlKem::MlKem1024 => {
                let key = mlkem::DecapsulationKey::<mlkem::MlKem1024>::from_seed(&d_z).encapsulation_key();
                let (c, k) = key.encapsulate_deterministic(&m);
                (key.as_bytes().to_vec(), c.to_vec(), *k.expose())
            }
        };
        let (x_public, c_x, ss_x) = apart(kem.curve(), &x, &ephemeral);
        let [key, ciphertext, secret] =
            [(&ek, &x_public), (&c_m, &c_x), (&ss_m.to_vec(), &ss_x)].map(|(m, x)| {
                if kem.name().starts_with("Sec") { [&x[..], m].concat() } else { [&m[..], x].concat() }
            });
        assert_eq!(public.as_bytes(), key, "{kem}");
        assert_eq!(c.as_bytes(), ciphertext, "{kem}");
        assert_eq!(k.expose(), secret, "{kem}");
        assert_eq!(ours.decapsulate(&ciphertext).unwrap().expose(), secret, "{kem}");
        ran += 1;
    }
    assert_eq!(ran, 5);
}

/// Public key, ephemeral public key and secret, by other crates than those under test (X448 has its own tests).
fn apart(curve: Curve, x: &[u8], ephemeral: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    match curve {
        Curve::X25519 => {
            let [x, e] =
                [x, ephemeral].map(|s| x25519_dalek::StaticSecret::from(<[u8; 32]>::try_from(s).unwrap()));
            let [p, q] = [&x, &e].map(x25519_dalek::PublicKey::from);
            (p.to_bytes().to_vec(), q.to_bytes().to_vec(), e.diffie_hellman(&p).to_bytes().to_vec())
        }
        Curve::X448 => {
            let [x, e] = [x, ephemeral].map(|s| x448::SecretKey::from_bytes(s.try_into().unwrap()));
            let (p, q) = (x.public_key(), e.public_key());
            (p.to_vec(), q.to_vec(), e.diffie_hellman(&p).unwrap().expose().to_vec())
        }
        Curve::P256 => {
            let [x, e] = [x, ephemeral].map(|s| p256::SecretKey::from_slice(s).unwrap());
            let [p, q] = [&x, &e].map(|key| key.public_key().to_sec1_bytes().to_vec());
            (p, q, e.diffie_hellman(&x.public_key()).raw_secret_bytes().to_vec())
        }
        Curve::P384 => {
            let [x, e] = [x, ephemeral].map(|s| p384::SecretKey::from_slice(s).unwrap());
            let [p, q] = [&x, &e].map(|key| key.public_key().to_sec1_bytes().to_vec());
            (p, q, e.diffie_hellman(&x.public_key()).raw_secret_bytes().to_vec())
        }
    }
}

#[test]
fn every_mechanism_agrees_with_itself_through_every_door() {
    for kem in KEMS {
        let ours = DecapsulationKey::generate(kem).unwrap();
        let again = DecapsulationKey::from_bytes(kem, ours.expose_bytes()).unwrap();
        let public = EncapsulationKey::from_bytes(kem, ours.encapsulation_key().as_bytes()).unwrap();
        assert_eq!(public, again.encapsulation_key());
        let (c, k) = public.encapsulate().unwrap();
        assert_eq!(again.decapsulate(c.as_bytes()).unwrap().expose(), k.expose(), "{kem}");
        assert_eq!(k.expose().len(), kem.shared_secret_len());
        assert_eq!(ours.kem(), *kem);
        assert_eq!(public.kem(), *kem);
        // Fresh randomness each time, and the same bytes from the same.
        assert_ne!(public.encapsulate().unwrap().0, c);
        let (one, two) = (
            public.encapsulate_with(&mut counter(3)).unwrap(),
            public.encapsulate_with(&mut counter(3)).unwrap(),
        );
        assert_eq!((one.0, one.1.expose()), (two.0, two.1.expose()));
    }
}

#[test]
fn lengths_are_exact() {
    for kem in KEMS {
        let ours = key(kem);
        let public = ours.encapsulation_key();
        let (c, _) = public.encapsulate_deterministic(&randomness(kem)).unwrap();
        let sizes =
            [kem.encapsulation_key_len(), kem.ciphertext_len(), kem.private_key_len(), kem.randomness_len()];
        assert_eq!([public.as_bytes().len(), c.as_bytes().len()], sizes[..2]);
        let long = [0; 1700];
        for (which, expected) in sizes.into_iter().enumerate() {
            for actual in [0, 32, expected - 1, expected + 1] {
                let bytes = &long[..actual];
                let error = match which {
                    0 => EncapsulationKey::from_bytes(kem, bytes).err(),
                    1 => ours.decapsulate(bytes).err(),
                    2 => DecapsulationKey::from_bytes(kem, bytes).err(),
                    _ => public.encapsulate_deterministic(bytes).err(),
                };
                if actual != expected {
                    assert_eq!(error, Some(Error::Length { expected, actual }), "{kem}, {which}");
                }
            }
        }
    }
}

/// Where ML-KEM's and the curve's parts begin in a key and in a ciphertext.
fn parts(kem: &HybridKem) -> (usize, usize, usize) {
    let (m_key, m_c) = match kem.ml_kem() {
        MlKem::MlKem768 => (1184, 1088),
        MlKem::MlKem1024 => (1568, 1568),
    };
    if kem.curve_first() { (kem.curve().public_len(), 0, 0) } else { (0, m_key, m_c) }
}

#[test]
fn an_unreduced_coefficient_is_refused() {
    for kem in KEMS {
        let mut bytes = key(kem).encapsulation_key().as_bytes().to_vec();
        let (m, _, _) = parts(kem);
        bytes[m] = 0x01;
        bytes[m + 1] = bytes[m + 1] & 0xf0 | 0x0d;
        assert_eq!(EncapsulationKey::from_bytes(kem, &bytes), Err(Error::Modulus), "{kem}");
    }
}

type Change<'a> = &'a dyn Fn(&mut [u8]);

#[test]
fn a_point_off_the_curve_or_in_another_form_is_refused() {
    let mut ran = 0;
    for kem in KEMS.iter().filter(|kem| matches!(kem.curve(), Curve::P256 | Curve::P384)) {
        let ours = key(kem);
        let public = ours.encapsulation_key();
        let (c, _) = public.encapsulate_deterministic(&randomness(kem)).unwrap();
        let (_, x_key, x_c) = parts(kem);
        let last = kem.curve().public_len() - 1;
        let changes: [Change<'_>; 5] = [
            &|point| point[last] ^= 1,
            &|point| point[0] = 2,
            &|point| point[0] = 0,
            // A coordinate that is the modulus or more.
            &|point| point[1..=last].fill(0xff),
            &|point| point[1..=last].fill(0),
        ];
        for change in changes {
            let mut bytes = public.as_bytes().to_vec();
            change(&mut bytes[x_key..][..=last]);
            assert_eq!(EncapsulationKey::from_bytes(kem, &bytes), Err(Error::Point), "{kem}");
            let mut bytes = c.as_bytes().to_vec();
            change(&mut bytes[x_c..][..=last]);
            assert_eq!(ours.decapsulate(&bytes).err(), Some(Error::Point), "{kem}");
            ran += 1;
        }
    }
    assert_eq!(ran, 35);
}

#[test]
fn a_share_of_low_order_is_refused_except_in_x_wing() {
    let mut ran = 0;
    for kem in KEMS.iter().filter(|kem| matches!(kem.curve(), Curve::X25519 | Curve::X448)) {
        let ours = key(kem);
        let public = ours.encapsulation_key();
        let (c, _) = public.encapsulate_deterministic(&randomness(kem)).unwrap();
        let (_, x_key, x_c) = parts(kem);
        let low: &[&[u8]] = match kem.curve() {
            Curve::X25519 => &[
                &[0; 32],
                &hex!("0100000000000000000000000000000000000000000000000000000000000000"),
                &hex!("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
                &hex!("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
                &hex!("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
                &hex!("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"),
            ],
            // 0, 1, -1 and p, of RFC 7748's field.
            _ => &[
                &[0; 56],
                &hex!(
                    "0100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                ),
                &hex!(
                    "fefffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffffffffffffffffffffffffffffffffffffffffffffffffff"
                ),
                &hex!(
                    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffffffffffffffffffffffffffffffffffffffffffffffffff"
                ),
            ],
        };
        for point in low {
            let mut bytes = c.as_bytes().to_vec();
            bytes[x_c..].copy_from_slice(point);
            let mut share = public.as_bytes().to_vec();
            share[x_key..].copy_from_slice(point);
            let share = EncapsulationKey::from_bytes(kem, &share).unwrap();
            let sent = share.encapsulate_deterministic(&randomness(kem));
            if kem.name() == "X-Wing" {
                assert!(ours.decapsulate(&bytes).is_ok() && sent.is_ok());
            } else {
                assert_eq!(ours.decapsulate(&bytes).err(), Some(Error::NonContributory), "{kem}");
                assert_eq!(sent.err(), Some(Error::NonContributory), "{kem}");
            }
            ran += 1;
        }
    }
    assert_eq!(ran, 3 * 6 + 3 * 4);
}

#[test]
fn a_changed_ciphertext_yields_another_secret() {
    for kem in KEMS {
        let ours = key(kem);
        let (c, k) = ours.encapsulation_key().encapsulate_deterministic(&randomness(kem)).unwrap();
        let (m, _, x_c) = parts(kem);
        let mut bad = c.as_bytes().to_vec();
        bad[m + 9] ^= 1;
        assert_ne!(ours.decapsulate(&bad).unwrap().expose(), k.expose(), "{kem}");
        if matches!(kem.curve(), Curve::X25519 | Curve::X448) {
            let mut bad = c.as_bytes().to_vec();
            bad[x_c + 9] ^= 1;
            assert_ne!(ours.decapsulate(&bad).unwrap().expose(), k.expose(), "{kem}");
        }
    }
}

#[test]
fn a_scalar_that_is_zero_or_the_order_is_refused() {
    let orders = [
        (&SECP256R1_MLKEM768, hex!("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551").to_vec()),
        (
            &SECP384R1_MLKEM1024,
            hex!("ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973")
                .to_vec(),
        ),
    ];
    for (kem, order) in orders {
        let mut below = order.clone();
        *below.last_mut().unwrap() -= 1;
        for (scalar, right) in [(vec![0; order.len()], false), (order, false), (below, true)] {
            let made = DecapsulationKey::from_bytes(kem, &[&[1; 64][..], &scalar].concat());
            assert_eq!(made.err(), (!right).then_some(Error::Scalar), "{kem}");
            let sent =
                key(kem).encapsulation_key().encapsulate_deterministic(&[&[1; 32][..], &scalar].concat());
            assert_eq!(sent.err(), (!right).then_some(Error::Scalar), "{kem}");
        }
    }
}

#[test]
fn an_ec_private_key_of_another_curve_or_form_is_refused() {
    for name in ["MLKEM768-ECDH-P256-SHA3-256", "MLKEM768-ECDH-P384-SHA3-256"] {
        let kem = HybridKem::by_name(name).unwrap();
        let private = key(kem).expose_bytes().to_vec();
        for at in [64, 65, 68, private.len() - 1] {
            let mut bad = private.clone();
            bad[at] ^= 1;
            assert_eq!(
                DecapsulationKey::from_bytes(kem, &bad).err(),
                Some(Error::Scalar),
                "{name}, byte {at}"
            );
        }
    }
}

#[test]
fn a_generator_that_fails_or_gives_nothing_of_use_makes_nothing() {
    for kem in KEMS {
        assert_eq!(DecapsulationKey::generate_with(kem, &mut Broken).err(), Some(Error::Random));
        assert_eq!(key(kem).encapsulation_key().encapsulate_with(&mut Broken).err(), Some(Error::Random));
    }
    // 2^256 - 1 is no scalar of P-256, and comes again and again.
    assert_eq!(
        DecapsulationKey::generate_with(&SECP256R1_MLKEM768, &mut always(0xff)).err(),
        Some(Error::Random)
    );
}

#[test]
fn names_numbers_and_sizes() {
    let rows: Vec<_> =
        [X25519_MLKEM768, SECP256R1_MLKEM768, SECP384R1_MLKEM1024, X448_MLKEM768, X448_MLKEM1024, X_WING]
            .iter()
            .map(|kem| {
                (
                    kem.name(),
                    kem.group(),
                    kem.encapsulation_key_len(),
                    kem.ciphertext_len(),
                    kem.shared_secret_len(),
                )
            })
            .collect();
    assert_eq!(
        rows,
        [
            ("X25519MLKEM768", Some(0x11ec), 1216, 1120, 64),
            ("SecP256r1MLKEM768", Some(0x11eb), 1249, 1153, 64),
            ("SecP384r1MLKEM1024", Some(0x11ed), 1665, 1665, 80),
            ("X448MLKEM768", Some(0x2fb7), 1240, 1144, 88),
            ("X448MLKEM1024", Some(0xfe48), 1624, 1624, 88),
            ("X-Wing", None, 1216, 1120, 32),
        ]
    );
    let names: BTreeSet<_> = KEMS.iter().map(|kem| kem.name()).collect();
    assert_eq!(names.len(), KEMS.len(), "a name is one mechanism's");
    for kem in KEMS {
        assert_eq!(HybridKem::by_name(kem.name()), Some(*kem));
        assert_eq!(kem.group().and_then(HybridKem::by_group), kem.group().map(|_| *kem));
    }
    assert_eq!(HybridKem::by_name("x25519mlkem768"), None);
    assert_eq!(HybridKem::by_group(0x001d), None);
    assert_eq!(HybridKem::by_oid(&[]), None);
}

#[test]
fn debug_shows_no_secret_and_errors_say_what_is_wrong() {
    let ours = key(&MLKEM768_X25519_SHA3_256);
    assert_eq!(format!("{ours:?}"), "kem::DecapsulationKey(MLKEM768-X25519-SHA3-256, [redacted])");
    let (c, k) = ours.encapsulation_key().encapsulate().unwrap();
    assert_eq!(format!("{k:?}"), "kem::SharedSecret([redacted])");
    assert!(
        format!("{c:?} {:?}", ours.encapsulation_key()).contains("kem::EncapsulationKey(MLKEM768-X25519")
    );
    assert_eq!(format!("{X_WING:?}"), "HybridKem(X-Wing)");
    for (error, part) in [
        (Error::Length { expected: 5, actual: 3 }, "3 bytes, where the mechanism has 5"),
        (Error::Modulus, "not below q"),
        (Error::Point, "point of the curve"),
        (Error::Scalar, "scalar of the curve"),
        (Error::NonContributory, "low order"),
        (Error::Random, "random"),
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
}
