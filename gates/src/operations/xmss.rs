//! XMSS^MT: a key of four layers of height 5. A tree of XMSS has 1,024 leaves at least, too many for valgrind; its code is the same.

use super::Instrument;
use crate::marked::secret;
use crate::{bytes, secrets};
use gambeson::stateful::TreeOptions;
use gambeson::xmss::{ParameterSet, SigningKey};

/// Walks through the operations of a key.
pub fn all(gate: &mut impl Instrument) {
    let set = ParameterSet::MT_SHA2_20_4_192;
    let (name, n) = (set.name(), 24);
    let secret: [u8; 32] = secret(&format!("{name} S_XMSS"));
    let sk_prf: [u8; 32] = self::secret(&format!("{name} SK_PRF"));
    let seed: [u8; 32] = bytes(&format!("{name} SEED"));
    let (secret, sk_prf, seed) = (&secret[..n], &sk_prf[..n], &seed[..n]);
    gate.secrets(|hunt| secrets::xmss(hunt, secret, sk_prf, seed));
    let make = || SigningKey::from_seeds(set, secret, sk_prf, seed, TreeOptions::new());
    let key = gate.run_ok((name, "keygen", ""), make);
    let verifying = *key.verifying_key();
    let signature = super::lms::sign(gate, name, key);
    gate.run_ok((name, "verify", ""), || verifying.verify(b"message", &signature));
    assert!(verifying.verify(b"another message", &signature).is_err());
}
