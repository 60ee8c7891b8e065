//! The recipient stanza's cryptography: HPKE in base mode (RFC 9180) with X-Wing, HKDF-SHA256 and
//! ChaCha20-Poly1305, for one message: the file key.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce, Tag};
use gambeson::secret::Secret;
use gambeson_hybrid::xwing;
use hkdf::Hkdf;
use sha2::Sha256;

/// Length of the sealed file key: 16 bytes and the tag.
pub(crate) const SEALED_LEN: usize = 32;

/// `mode_base`, RFC 9180, §5.1.
const MODE_BASE: u8 = 0;

/// The suite: `"HPKE"`, the KEM MLKEM768-X25519, the KDF HKDF-SHA256, the AEAD ChaCha20Poly1305 (§5.1, §7).
const SUITE_ID: [u8; 10] = {
    let kem = xwing::KEM_ID.to_be_bytes();
    [b'H', b'P', b'K', b'E', kem[0], kem[1], 0, 1, 0, 3]
};

/// What the age format puts into the key schedule.
const INFO: &[u8] = b"age-encryption.org/mlkem768x25519";

/// `Seal` of a fresh context (§5.2), whose sequence number is 0: the nonce is the base nonce.
pub(crate) fn seal(shared_secret: &xwing::SharedSecret, file_key: &[u8; 16]) -> [u8; SEALED_LEN] {
    let (aead, nonce) = key_schedule(shared_secret);
    let mut sealed = [0; SEALED_LEN];
    let (body, tag) = sealed.split_at_mut(16);
    body.copy_from_slice(file_key);
    let made = aead.encrypt_inout_detached(&nonce, b"", body.into()).expect("16 bytes are not too long");
    tag.copy_from_slice(&made);
    sealed
}

/// `Open` of a fresh context; `None` when the tag does not fit.
pub(crate) fn open(
    shared_secret: &xwing::SharedSecret,
    sealed: &[u8; SEALED_LEN],
) -> Option<Secret<[u8; 16]>> {
    let (aead, nonce) = key_schedule(shared_secret);
    let (body, tag) = sealed.split_at(16);
    let mut file_key = Secret::new(<[u8; 16]>::try_from(body).expect("16 of 32 bytes"));
    let tag = Tag::try_from(tag).expect("16 of 32 bytes");
    aead.decrypt_inout_detached(&nonce, b"", file_key.expose_mut().as_mut_slice().into(), &tag).ok()?;
    Some(file_key)
}

/// `KeySchedule` of §5.1 without a pre-shared key.
fn key_schedule(shared_secret: &xwing::SharedSecret) -> (ChaCha20Poly1305, Nonce) {
    let mut context = [MODE_BASE; 65];
    context[1..33].copy_from_slice(&labeled_extract(b"", b"psk_id_hash", b"").0);
    context[33..].copy_from_slice(&labeled_extract(b"", b"info_hash", INFO).0);

    let (_, secret) = labeled_extract(shared_secret.expose(), b"secret", b"");
    let mut key = Secret::new([0; 32]);
    let mut nonce = [0; 12];
    labeled_expand(&secret, b"key", &context, key.expose_mut());
    labeled_expand(&secret, b"base_nonce", &context, &mut nonce);
    (ChaCha20Poly1305::new(&Key::from(*key.expose())), nonce.into())
}

/// §4: `LabeledExtract`.
fn labeled_extract(salt: &[u8], label: &[u8], ikm: &[u8]) -> ([u8; 32], Hkdf<Sha256>) {
    let mut extract = hkdf::HkdfExtract::<Sha256>::new(Some(salt));
    for part in [b"HPKE-v1", &SUITE_ID[..], label, ikm] {
        extract.input_ikm(part);
    }
    let (prk, hkdf) = extract.finalize();
    (prk.into(), hkdf)
}

/// §4: `LabeledExpand`.
fn labeled_expand(prk: &Hkdf<Sha256>, label: &[u8], info: &[u8], out: &mut [u8]) {
    let len = u16::try_from(out.len()).expect("a key or a nonce").to_be_bytes();
    prk.expand_multi_info(&[&len, b"HPKE-v1", &SUITE_ID, label, info], out).expect("a key or a nonce");
}
