//! ML-KEM.

use super::request::{Fields, Refusal, hex};
use super::{Answer, Result_, answer};
use gambeson::Bytes;
use gambeson::mlkem::{
    DecapsulationKey, DecapsulationKeyError, EncapsulationKey, EncapsulationKeyError, PreparedSet,
};
use zeroize::Zeroizing;

pub(super) fn keygen<P: PreparedSet>(fields: Fields<'_>) -> Answer {
    let dk = DecapsulationKey::<P>::from_seed(&*seed(fields)?);
    let ek = dk.encapsulation_key();
    answer([("ek", hex(ek.as_bytes().as_ref())), ("dk", hex(dk.to_encoded().expose().as_ref()))])
}

pub(super) fn encaps<P: PreparedSet>(fields: Fields<'_>) -> Answer {
    let ek = fields.bytes("ek")?;
    let m = fields.array("m")?;
    let ek = EncapsulationKey::<P>::try_from(ek.as_slice()).map_err(|e| ek_refusal::<P>(e, ek.len()))?;
    let (c, k) = ek.encapsulate_deterministic(&m);
    answer([("c", hex(c.as_ref())), ("k", hex(k.expose()))])
}

pub(super) fn decaps<P: PreparedSet>(fields: Fields<'_>) -> Answer {
    let seeded = fields.has("d") || fields.has("z");
    if seeded && fields.has("dk") {
        return Err(Refusal::bad_request("both `dk` and a seed are given"));
    }
    let c = fields.bytes("c")?;
    let c = P::Ciphertext::try_from(&c).map_err(|_| Refusal::bad_length("c", P::Ciphertext::LEN, c.len()));
    let k = if seeded {
        DecapsulationKey::<P>::from_seed(&*seed(fields)?).decapsulate(&c?)
    } else {
        let dk = Zeroizing::new(fields.bytes("dk")?);
        let dk = DecapsulationKey::<P>::from_encoded(&dk).map_err(dk_refusal::<P>(dk.len()))?;
        dk.decapsulate(&c?)
    };
    answer([("k", hex(k.expose()))])
}

/// FIPS 203, §7.2: the length and the modulus.
pub(super) fn check_ek<P: PreparedSet>(fields: Fields<'_>) -> Answer {
    let passed = EncapsulationKey::<P>::try_from(fields.bytes("ek")?.as_slice()).is_ok();
    answer([("testPassed", passed)])
}

/// FIPS 203, §7.3: the length and the hash, and no more. (The library also refuses an `ek` inside that is not reduced.)
pub(super) fn check_dk<P: PreparedSet>(fields: Fields<'_>) -> Answer {
    let dk = Zeroizing::new(fields.bytes("dk")?);
    let passed =
        matches!(DecapsulationKey::<P>::from_encoded(&dk), Ok(_) | Err(DecapsulationKeyError::Modulus));
    answer([("testPassed", passed)])
}

fn seed(fields: Fields<'_>) -> Result_<Zeroizing<[u8; 64]>> {
    let mut seed = Zeroizing::new([0; 64]);
    seed[..32].copy_from_slice(&fields.array::<32>("d")?);
    seed[32..].copy_from_slice(&fields.array::<32>("z")?);
    Ok(seed)
}

fn ek_refusal<P: PreparedSet>(error: EncapsulationKeyError, len: usize) -> Refusal {
    match error {
        EncapsulationKeyError::Length { .. } => Refusal::bad_length("ek", P::EncapsulationKeyBytes::LEN, len),
        error => Refusal::bad_key(error.to_string()),
    }
}

fn dk_refusal<P: PreparedSet>(len: usize) -> impl Fn(DecapsulationKeyError) -> Refusal {
    move |error| match error {
        DecapsulationKeyError::Length { .. } => Refusal::bad_length("dk", P::DecapsulationKeyBytes::LEN, len),
        error => Refusal::bad_key(error.to_string()),
    }
}
