//! LMS and HSS: keys of height 5.

use super::Instrument;
use crate::marked::secret;
use crate::{bytes, secrets};
use gambeson::lms::{HssSigningKey, LmotsType, LmsType, SigningKey};
use gambeson::stateful::{Signer, StatefulKey, TreeOptions, hazmat::MemoryStore};
use std::sync::Mutex;

/// Walks through keys of one tree and of two.
pub fn all(gate: &mut impl Instrument) {
    let one = (LmsType::SHA256_M32_H5, LmotsType::SHA256_N32_W8);
    let (name, seed, identifier) = ("LMS_SHA256_M32_H5 W8", seed(one), bytes("LMS I"));
    gate.secrets(|hunt| secrets::lms(hunt, one, &identifier, &seed));
    let make = || SigningKey::from_seed(one.0, one.1, &identifier, &seed, TreeOptions::new());
    let key = gate.run_ok((name, "keygen", ""), make);
    let verifying = *key.verifying_key();
    let signature = sign(gate, name, key);
    gate.run_ok((name, "verify", ""), || verifying.verify(b"message", &signature));
    assert!(verifying.verify(b"another message", &signature).is_err());

    let both = [(LmsType::SHAKE_M24_H5, LmotsType::SHAKE_N24_W4); 2];
    let (name, seed, identifier) = ("HSS of two LMS_SHAKE_M24_H5 W4", self::seed(both[0]), bytes("HSS I"));
    gate.secrets(|hunt| secrets::lms(hunt, both[0], &identifier, &seed));
    let make = || HssSigningKey::from_seed(&both, &identifier, &seed, TreeOptions::new());
    let key = gate.run_ok((name, "keygen", ""), make);
    let verifying = *key.verifying_key();
    let signature = sign(gate, name, key);
    gate.run_ok((name, "verify", ""), || verifying.verify(b"message", &signature));
    assert!(verifying.verify(b"another message", &signature).is_err());
}

fn seed((lms, _): (LmsType, LmotsType)) -> Vec<u8> {
    let seed: [u8; 32] = secret(&format!("{lms} SEED"));
    let n = if lms.name().contains("M24") { 24 } else { 32 };
    seed[..n].to_vec()
}

/// Signs with a leaf of the second half and drops the key.
pub(super) fn sign<K: StatefulKey + Send>(gate: &mut impl Instrument, name: &str, key: K) -> Vec<u8> {
    let signer = Mutex::new(Signer::new(key, MemoryStore::new(17)));
    let signature = gate.run_ok((name, "sign", ""), || {
        let mut signer = super::lock(&signer);
        let index = signer.reserve_one().expect("the key has leaves left");
        signer.sign(index, b"message")
    });
    gate.run_drop(name, signer);
    crate::valgrind::mark_public(&signature);
    signature
}
