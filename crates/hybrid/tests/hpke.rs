//! HPKE against the working group's vectors, and every refusal.

#![allow(clippy::unwrap_used)] // A test may fail that way.

mod generators;

use std::io::Read;

use gambeson::mlkem::{self, ParameterSet};
use gambeson_hybrid::hpke::{
    self, Aead, Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, Encrypts, Error, ExportOnly, HkdfSha256, HkdfSha384,
    Kdf, Kem, MlKem768, MlKem1024, Shake256, XWing,
};
use gambeson_hybrid::xwing;
use generators::{Broken, always};
use serde_json::Value;

/// Every suite in the vectors of draft-ietf-hpke-pq whose KEM or KDF is not here: (KEM, KDF, AEAD).
const ELSEWHERE: [(u64, u64, u64); 9] = [
    (0x40, 1, 1),
    (0x50, 1, 1),
    (0x51, 2, 2),
    (0x10, 0x10, 1),
    (0x11, 0x11, 2),
    (0x20, 0x12, 3),
    (0x21, 0x13, 3),
    (0x50, 0x10, 2),
    (0x42, 0x13, 1),
];

#[test]
fn the_vectors_of_the_draft() {
    let (ran, elsewhere) = run(include_bytes!("data/hpke-pq.json.gz"));
    assert_eq!((ran, elsewhere.len()), (4, 0));
}

#[test]
fn all_vectors_of_the_draft_where_they_are_found() {
    // Without it, the copy of four vectors above is all.
    let Some(folder) = gambeson_vectors::shared() else { return };
    let (ran, elsewhere) = run(&std::fs::read(folder.join("hpke-pq/hpke-pq.json.gz")).unwrap());
    assert_eq!((ran, elsewhere), (4, ELSEWHERE.to_vec()));
}

fn run(file: &[u8]) -> (usize, Vec<(u64, u64, u64)>) {
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let vectors: Vec<Value> = serde_json::from_str(&text).unwrap();
    let (mut ran, mut elsewhere) = (0, Vec::new());
    for v in &vectors {
        let [kem, kdf, aead] = ["kem_id", "kdf_id", "aead_id"].map(|name| v[name].as_u64().unwrap());
        let (dk, ek) = (hex(&v["skRm"]), hex(&v["pkRm"]));
        match (kem, kdf, aead) {
            (0x41, 1, 1) => {
                let (dk, ek) = ml_kem::<MlKem768>(&dk, &ek);
                vector::<MlKem768, HkdfSha256, Aes128Gcm>(v, &dk, &ek);
            }
            (0x42, 2, 2) => {
                let (dk, ek) = ml_kem::<MlKem1024>(&dk, &ek);
                vector::<MlKem1024, HkdfSha384, Aes256Gcm>(v, &dk, &ek);
            }
            (0x647a, 1 | 0x11, 3) => {
                let dk = xwing::DecapsulationKey::from_seed(dk.as_slice().try_into().unwrap());
                let ek = xwing::EncapsulationKey::try_from(ek.as_slice()).unwrap();
                assert_eq!(dk.encapsulation_key(), ek);
                if kdf == 1 {
                    vector::<XWing, HkdfSha256, ChaCha20Poly1305>(v, &dk, &ek);
                } else {
                    vector::<XWing, Shake256, ChaCha20Poly1305>(v, &dk, &ek);
                }
            }
            suite => {
                elsewhere.push(suite);
                continue;
            }
        }
        ran += 1;
    }
    (ran, elsewhere)
}

fn ml_kem<P: ParameterSet>(dk: &[u8], ek: &[u8]) -> (mlkem::DecapsulationKey<P>, mlkem::EncapsulationKey<P>)
where
    P::EncapsulationKeyBytes: AsRef<[u8]>,
{
    let dk = mlkem::DecapsulationKey::<P>::from_seed(dk.try_into().unwrap());
    let made = dk.encapsulation_key();
    assert_eq!(made.as_bytes().as_ref(), ek);
    (dk, made)
}

/// One vector from both sides: ten messages in their order, five exports.
fn vector<K: Kem, F: Kdf, A: Encrypts>(v: &Value, dk: &K::DecapsulationKey, ek: &K::EncapsulationKey)
where
    K::Enc: AsRef<[u8]>,
{
    let info = hex(&v["info"]);
    let mut randomness = K::NO_RANDOMNESS;
    randomness.as_mut().copy_from_slice(&hex(&v["ikmE"]));
    let (enc, mut sender) = hpke::setup_sender_deterministic::<K, F, A>(ek, &info, &randomness).unwrap();
    assert_eq!(enc.as_ref(), hex(&v["enc"]));
    let mut receiver = hpke::setup_receiver::<K, F, A>(&enc, dk, &info).unwrap();

    let (mut messages, mut exports) = (0, 0);
    for message in v["encryptions"].as_array().unwrap() {
        let [aad, pt, ct] = ["aad", "pt", "ct"].map(|name| hex(&message[name]));
        let mut body = pt.clone();
        let tag = sender.seal_in_place(&aad, &mut body).unwrap();
        assert_eq!([&body[..], &tag].concat(), ct);

        let mut changed = body.clone();
        changed[0] ^= 1;
        assert_eq!(receiver.open_in_place(&aad, &mut changed, &tag), Err(Error::Open));
        receiver.open_in_place(&aad, &mut body, &tag).unwrap();
        assert_eq!(body, pt);
        messages += 1;
    }
    for export in v["exports"].as_array().unwrap() {
        let context = hex(&export["exporter_context"]);
        let mut out = vec![0; usize::try_from(export["L"].as_u64().unwrap()).unwrap()];
        sender.export(&context, &mut out).unwrap();
        assert_eq!(out, hex(&export["exported_value"]));
        out.fill(0);
        receiver.export(&context, &mut out).unwrap();
        assert_eq!(out, hex(&export["exported_value"]));
        exports += 1;
    }
    assert_eq!((messages, exports), (10, 5));
}

fn hex(value: &Value) -> Vec<u8> {
    base16ct::lower::decode_vec(value.as_str().unwrap()).unwrap()
}

#[test]
fn suites_separate_what_is_exported() {
    fn exported<K: Kem, F: Kdf, A: Aead>(
        ek: &K::EncapsulationKey,
        randomness: &K::Randomness,
        info: &[u8],
    ) -> [u8; 32] {
        let (_, sender) = hpke::setup_sender_deterministic::<K, F, A>(ek, info, randomness).unwrap();
        let mut out = [0; 32];
        sender.export(b"context", &mut out).unwrap();
        out
    }
    let ek = xwing::DecapsulationKey::from_seed(&[1; 32]).encapsulation_key();
    let seen = [
        exported::<XWing, HkdfSha256, ExportOnly>(&ek, &[2; 64], b""),
        exported::<XWing, HkdfSha256, ExportOnly>(&ek, &[2; 64], b"info"),
        exported::<XWing, HkdfSha256, ChaCha20Poly1305>(&ek, &[2; 64], b""),
        exported::<XWing, HkdfSha256, Aes256Gcm>(&ek, &[2; 64], b""),
        exported::<XWing, HkdfSha384, ExportOnly>(&ek, &[2; 64], b""),
        exported::<XWing, Shake256, ExportOnly>(&ek, &[2; 64], b""),
        exported::<XWing, HkdfSha256, ExportOnly>(&ek, &[3; 64], b""),
    ];
    for (i, one) in seen.iter().enumerate() {
        assert!(seen[..i].iter().all(|other| other != one), "{i}");
    }
}

#[test]
fn every_byte_of_enc_and_of_a_sealed_message_counts() {
    let dk = mlkem::DecapsulationKey::<MlKem768>::from_seed(&[1; 64]);
    let (enc, mut sender) =
        hpke::setup_sender::<MlKem768, HkdfSha256, Aes256Gcm>(&dk.encapsulation_key(), b"i").unwrap();
    let mut sealed = *b"message";
    let tag = sender.seal_in_place(b"aad", &mut sealed).unwrap();
    let open = |enc: &[u8; 1088], info: &[u8], aad: &[u8], mut body: [u8; 7], tag: &[u8; 16]| {
        let mut receiver = hpke::setup_receiver::<MlKem768, HkdfSha256, Aes256Gcm>(enc, &dk, info).unwrap();
        receiver.open_in_place(aad, &mut body, tag).map(|()| body)
    };
    assert_eq!(open(&enc, b"i", b"aad", sealed, &tag), Ok(*b"message"));
    let mut refused = 0;
    for at in 0..enc.len() {
        let mut bad = enc;
        bad[at] ^= 1;
        refused += usize::from(open(&bad, b"i", b"aad", sealed, &tag) == Err(Error::Open));
    }
    for at in 0..sealed.len() {
        let mut bad = sealed;
        bad[at] ^= 1;
        refused += usize::from(open(&enc, b"i", b"aad", bad, &tag) == Err(Error::Open));
    }
    for at in 0..tag.len() {
        let mut bad = tag;
        bad[at] ^= 1;
        refused += usize::from(open(&enc, b"i", b"aad", sealed, &bad) == Err(Error::Open));
    }
    assert_eq!(refused, 1088 + 7 + 16);
    assert_eq!(open(&enc, b"j", b"aad", sealed, &tag), Err(Error::Open));
    assert_eq!(open(&enc, b"i", b"abd", sealed, &tag), Err(Error::Open));
}

#[test]
fn messages_open_in_their_order_alone() {
    let dk = xwing::DecapsulationKey::from_seed(&[1; 32]);
    let (enc, mut sender) = hpke::setup_sender_with::<XWing, HkdfSha256, ChaCha20Poly1305>(
        &dk.encapsulation_key(),
        b"",
        &mut always(7),
    )
    .unwrap();
    let (again, _) = hpke::setup_sender_deterministic::<XWing, HkdfSha256, ChaCha20Poly1305>(
        &dk.encapsulation_key(),
        b"",
        &[7; 64],
    )
    .unwrap();
    assert_eq!(enc, again, "the generator's bytes are the randomness");

    let (mut first, mut second) = (*b"one", *b"two");
    let (tag_1, tag_2) =
        (sender.seal_in_place(b"", &mut first).unwrap(), sender.seal_in_place(b"", &mut second).unwrap());
    let mut receiver = hpke::setup_receiver::<XWing, HkdfSha256, ChaCha20Poly1305>(&enc, &dk, b"").unwrap();
    assert_eq!(receiver.open_in_place(b"", &mut second.clone(), &tag_2), Err(Error::Open));
    receiver.open_in_place(b"", &mut first, &tag_1).unwrap();
    assert_eq!(receiver.open_in_place(b"", &mut first.clone(), &tag_1), Err(Error::Open));
    receiver.open_in_place(b"", &mut second, &tag_2).unwrap();
    assert_eq!((&first, &second), (b"one", b"two"));
}

#[test]
fn a_share_of_low_order_is_refused_on_both_sides() {
    let dk = xwing::DecapsulationKey::from_seed(&[1; 32]);
    let mut key = *dk.encapsulation_key().as_bytes();
    key[1184..].fill(0);
    let bad = xwing::EncapsulationKey::from_bytes(&key).unwrap();
    assert_eq!(
        hpke::setup_sender::<XWing, HkdfSha256, ExportOnly>(&bad, b"").err(),
        Some(Error::NonContributory)
    );

    let (mut enc, _) =
        hpke::setup_sender::<XWing, HkdfSha256, ExportOnly>(&dk.encapsulation_key(), b"").unwrap();
    enc[1088..].fill(0);
    assert_eq!(
        hpke::setup_receiver::<XWing, HkdfSha256, ExportOnly>(&enc, &dk, b"").err(),
        Some(Error::NonContributory)
    );
}

#[test]
fn what_a_kdf_cannot_give_or_take_is_an_error() {
    let dk = xwing::DecapsulationKey::from_seed(&[1; 32]);
    let ek = dk.encapsulation_key();
    let (_, sender) = hpke::setup_sender::<XWing, HkdfSha256, ExportOnly>(&ek, b"").unwrap();
    assert_eq!(sender.export(b"", &mut [0; 255 * 32]), Ok(()));
    assert_eq!(sender.export(b"", &mut [0; 255 * 32 + 1]), Err(Error::TooLong));
    let (_, sender) = hpke::setup_sender::<XWing, Shake256, ExportOnly>(&ek, &[0; 65535]).unwrap();
    assert_eq!(sender.export(b"", &mut vec![0; 65535]), Ok(()));
    assert_eq!(sender.export(b"", &mut vec![0; 65536]), Err(Error::TooLong));
    assert_eq!(
        hpke::setup_sender::<XWing, Shake256, ExportOnly>(&ek, &[0; 65536]).err(),
        Some(Error::TooLong)
    );
}

#[test]
fn a_failing_generator_makes_no_context() {
    let ek = xwing::DecapsulationKey::from_seed(&[1; 32]).encapsulation_key();
    let made = hpke::setup_sender_with::<XWing, HkdfSha256, ExportOnly>(&ek, b"", &mut Broken);
    assert_eq!(made.err(), Some(Error::Random));
}

#[test]
fn debug_shows_no_secret_and_errors_say_what_is_wrong() {
    let ek = xwing::DecapsulationKey::from_seed(&[1; 32]).encapsulation_key();
    let (_, sender) = hpke::setup_sender::<XWing, HkdfSha256, ExportOnly>(&ek, b"").unwrap();
    assert_eq!(format!("{sender:?}"), "Sender(hpke::Context([redacted]))");
    for (error, part) in [
        (Error::NonContributory, "low-order"),
        (Error::Random, "random"),
        (Error::TooLong, "longer"),
        (Error::Open, "tag"),
        (Error::MessageLimit, "nonce"),
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
}
