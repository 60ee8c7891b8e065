//! SHA-3, SHAKE, cSHAKE and KMAC of secrets.

use super::Instrument;
use crate::marked::secret;
use gambeson::sha3::{CShake128, CShake256, Kmac128, Kmac256, Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use gambeson::sha3::{Shake128, Shake256};
use std::hint::black_box;

/// Keyed hashing, and hashing of secrets of every length around the rate.
pub fn all(gate: &mut impl Instrument) {
    let key: [u8; 32] = secret("kmac key");
    let message: [u8; 300] = secret("message");
    gate.secrets(|hunt| {
        hunt.bytes("the key", &key);
        hunt.bytes("the message", &message);
    });
    gate.run(("KMAC", "tag", ""), || {
        let mut tag = [0; 32];
        let mut mac = Kmac128::new(&key, b"gate");
        mac.update(&key);
        mac.finalize_into(&mut tag);
        let mut mac = Kmac256::new(&key, b"gate");
        mac.update(&tag);
        mac.finalize_into(&mut tag);
        black_box(tag)
    });
    gate.run(("SHA3-256", "hash", "oneshot"), || Sha3_256::digest(&message[..200]));
    gate.run_into(("SHAKE256", "hash", "oneshot"), &mut [0; 200], |out: &mut [u8; 200]| {
        Shake256::digest_into(&message[..200], out);
    });
    gate.run_into(("SHA-3 and SHAKE", "hash", "every length"), &mut [0; 300], |out: &mut [u8; 300]| {
        for length in [0, 1, 71, 72, 73, 135, 136, 137, 300] {
            let part = &message[..length];
            black_box((
                Sha3_224::digest(part),
                Sha3_256::digest(part),
                Sha3_384::digest(part),
                Sha3_512::digest(part),
            ));
            Shake128::digest_into(part, out);
            Shake256::digest_into(part, &mut out[..length]);
            let mut hash = CShake128::new(b"", b"gate");
            hash.update(part);
            hash.finalize_xof().squeeze(out);
            let mut hash = CShake256::new(b"", b"gate");
            hash.update(part);
            hash.finalize_xof().squeeze(out);
            black_box(&out);
        }
    });
}
