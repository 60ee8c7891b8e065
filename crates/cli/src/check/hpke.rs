//! Runs of HPKE, in the form of hpkewg/hpke-pq `test-vectors.json`: the keys, ten messages in their order, five exports.
//!
//! The tests of `gambeson-hybrid` are made of the same text.

use gambeson_hybrid::hpke::{
    self, Aes128Gcm, Aes256Gcm, ChaCha20Poly1305, DhKemP256, DhKemP384, DhKemX448, DhKemX25519, Encrypts,
    HkdfSha256, HkdfSha384, Kdf, Kem, MlKem512, MlKem768, MlKem768P256, MlKem1024, MlKem1024P384, Shake128,
    Shake256, TurboShake128, TurboShake256, XWing,
};
use serde_json::Value;

/// How many messages and exports a run has.
const IN_A_RUN: (usize, usize) = (10, 5);

/// Whether a run holds, or why not; `None` for a suite that no published run had.
pub(crate) fn judge(run: &Value) -> Option<Result<(), String>> {
    let number = |name: &str| run[name].as_u64().unwrap_or(u64::MAX);
    Some(match ["mode", "kem_id", "kdf_id", "aead_id"].map(number) {
        [0, 0x10, 0x10, 1] => both_sides::<DhKemP256, Shake128, Aes128Gcm>(run),
        [0, 0x11, 0x11, 2] => both_sides::<DhKemP384, Shake256, Aes256Gcm>(run),
        [0, 0x20, 0x12, 3] => both_sides::<DhKemX25519, TurboShake128, ChaCha20Poly1305>(run),
        [0, 0x21, 0x13, 3] => both_sides::<DhKemX448, TurboShake256, ChaCha20Poly1305>(run),
        [0, 0x40, 1, 1] => both_sides::<MlKem512, HkdfSha256, Aes128Gcm>(run),
        [0, 0x41, 1, 1] => both_sides::<MlKem768, HkdfSha256, Aes128Gcm>(run),
        [0, 0x42, 2, 2] => both_sides::<MlKem1024, HkdfSha384, Aes256Gcm>(run),
        [0, 0x42, 0x13, 1] => both_sides::<MlKem1024, TurboShake256, Aes128Gcm>(run),
        [0, 0x50, 1, 1] => both_sides::<MlKem768P256, HkdfSha256, Aes128Gcm>(run),
        [0, 0x50, 0x10, 2] => both_sides::<MlKem768P256, Shake128, Aes256Gcm>(run),
        [0, 0x51, 2, 2] => both_sides::<MlKem1024P384, HkdfSha384, Aes256Gcm>(run),
        [0, 0x647a, 1, 3] => both_sides::<XWing, HkdfSha256, ChaCha20Poly1305>(run),
        [0, 0x647a, 0x11, 3] => both_sides::<XWing, Shake256, ChaCha20Poly1305>(run),
        _ => return None,
    })
}

fn both_sides<K: Kem, F: Kdf, A: Encrypts>(run: &Value) -> Result<(), String> {
    let bytes = |name: &str| hex(&run[name]);
    let (info, sk, pk) = (bytes("info")?, bytes("skRm")?, bytes("pkRm")?);
    let written = |dk: &K::DecapsulationKey| {
        let (mut private, mut public) = (vec![0; K::NSK], vec![0; K::NPK]);
        K::private_key(dk, &mut private).expect("a key that was read or derived here");
        K::public_key(dk, &mut public);
        (private, public)
    };
    let (dk, ek) = (K::decapsulation_key(&sk).map_err(said)?, K::encapsulation_key(&pk).map_err(said)?);
    let derived = K::derive_key_pair(&bytes("ikmR")?).map_err(said)?;
    check(written(&derived) == written(&dk), "DeriveKeyPair")?;
    // RFC 9180, section 7.1.2, clamps what is written; the file has the scalar of X25519 as it was derived.
    check(K::ID == DhKemX25519::ID || written(&dk).0 == sk, "skRm")?;
    check(written(&dk).1 == pk, "pkRm")?;

    let (mut randomness, ikm) = (K::NO_RANDOMNESS, bytes("ikmE")?);
    check(randomness.as_mut().len() == ikm.len(), "the length of ikmE")?;
    randomness.as_mut().copy_from_slice(&ikm);
    let made = hpke::setup_sender_deterministic::<K, F, A>(&ek, &info, &randomness);
    let (enc, mut sender) = made.map_err(said)?;
    check(enc.as_ref() == bytes("enc")? && enc.as_ref().len() == K::NENC, "enc")?;
    let mut receiver = hpke::setup_receiver::<K, F, A>(&enc, &dk, &info).map_err(said)?;

    let mut seen = (0, 0);
    for message in run["encryptions"].as_array().into_iter().flatten() {
        let [aad, pt, ct] = ["aad", "pt", "ct"].map(|name| hex(&message[name]));
        let (aad, pt, ct) = (aad?, pt?, ct?);
        let mut body = pt.clone();
        let tag = sender.seal_in_place(&aad, &mut body).map_err(said)?;
        check([&body[..], &tag].concat() == ct, "ct")?;
        let mut changed = tag;
        changed[0] ^= 1;
        check(receiver.open_in_place(&aad, &mut body.clone(), &changed).is_err(), "a changed tag opens")?;
        receiver.open_in_place(&aad, &mut body, &tag).map_err(said)?;
        check(body == pt, "pt")?;
        seen.0 += 1;
    }
    for export in run["exports"].as_array().into_iter().flatten() {
        let (context, value) = (hex(&export["exporter_context"])?, hex(&export["exported_value"])?);
        check(export["L"] == value.len(), "L")?;
        let (mut ours, mut theirs) = (vec![0; value.len()], vec![0; value.len()]);
        sender.export(&context, &mut ours).map_err(said)?;
        receiver.export(&context, &mut theirs).map_err(said)?;
        check(ours == value && theirs == value, "exported_value")?;
        seen.1 += 1;
    }
    check(seen == IN_A_RUN, "unexpected number of messages and exports")
}

fn check(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

fn said(error: hpke::Error) -> String {
    error.to_string()
}

fn hex(value: &Value) -> Result<Vec<u8>, String> {
    base16ct::mixed::decode_vec(value.as_str().unwrap_or("none")).map_err(|_| "not hexadecimal digits".into())
}
