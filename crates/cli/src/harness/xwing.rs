//! X-Wing.

use super::request::{Fields, Refusal, exactly, hex};
use super::{Answer, answer};
use gambeson_hybrid::xwing::{DecapsulationKey, EncapsulationKey};
use zeroize::Zeroizing;

pub(super) fn keygen(fields: Fields<'_>) -> Answer {
    let dk = DecapsulationKey::from_seed(&Zeroizing::new(fields.array("seed")?));
    answer([("ek", hex(dk.encapsulation_key().as_bytes())), ("dk", hex(dk.seed().expose()))])
}

pub(super) fn encaps(fields: Fields<'_>) -> Answer {
    let ek = fields.bytes("ek")?;
    let eseed = fields.array("eseed")?;
    let ek =
        EncapsulationKey::from_bytes(&exactly("ek", &ek)?).map_err(|e| Refusal::bad_key(e.to_string()))?;
    let (c, k) = ek.encapsulate_deterministic(&eseed);
    answer([("c", hex(&c)), ("k", hex(k.expose()))])
}

pub(super) fn decaps(fields: Fields<'_>) -> Answer {
    let dk = Zeroizing::new(fields.array("dk")?);
    let c = exactly("c", &fields.bytes("c")?)?;
    // As the draft has it: no check of the X25519 share.
    answer([("k", hex(DecapsulationKey::from_seed(&dk).decapsulate(&c).expose()))])
}
