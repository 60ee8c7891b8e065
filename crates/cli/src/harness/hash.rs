//! SHA-3, SHAKE, cSHAKE and KMAC, in pieces of the sizes that the request names.

use super::Result_;
use super::request::{Fields, hex};
use gambeson::sha3::{
    CShake128, CShake256, Kmac128, Kmac256, Sha3_224, Sha3_256, Sha3_384, Sha3_512, Shake128, Shake256,
    Squeeze,
};

/// Hands `message` to `update` in the pieces of the field `absorb`.
fn absorb(fields: Fields<'_>, message: &[u8], mut update: impl FnMut(&[u8])) -> Result_<()> {
    let mut rest = message;
    for count in fields.pieces("absorb", message.len())? {
        let (piece, after) = rest.split_at(count);
        update(piece);
        rest = after;
    }
    Ok(())
}

/// Fills `len` bytes from `squeeze` in the pieces of the field `squeeze`.
fn squeeze(fields: Fields<'_>, mut squeeze: Squeeze, len: usize) -> Result_<String> {
    let mut output = vec![0; len];
    let mut rest = output.as_mut_slice();
    for count in fields.pieces("squeeze", len)? {
        let (piece, after) = rest.split_at_mut(count);
        squeeze.squeeze(piece);
        rest = after;
    }
    Ok(hex(&output))
}

macro_rules! fixed {
    ($($name:ident, $hasher:ident;)*) => {$(
        pub(super) fn $name(fields: Fields<'_>) -> super::Answer {
            let message = fields.bytes("message")?;
            // A digest has one length and comes in one call; the field is only checked.
            fields.pieces("squeeze", $hasher::LEN)?;
            let mut hasher = $hasher::new();
            absorb(fields, &message, |piece| { hasher.update(piece); })?;
            super::answer([("md", hex(&hasher.finalize()))])
        }
    )*};
}

fixed! {
    sha3_224, Sha3_224;
    sha3_256, Sha3_256;
    sha3_384, Sha3_384;
    sha3_512, Sha3_512;
}

macro_rules! extendable {
    ($($name:ident, $hasher:ident;)*) => {$(
        pub(super) fn $name(fields: Fields<'_>) -> super::Answer {
            let message = fields.bytes("message")?;
            let len = fields.bits("outLen")?;
            let mut hasher = $hasher::new();
            absorb(fields, &message, |piece| { hasher.update(piece); })?;
            super::answer([("md", squeeze(fields, hasher.finalize_xof(), len)?)])
        }
    )*};
}

extendable! {
    shake128, Shake128;
    shake256, Shake256;
}

macro_rules! customized {
    ($($hash:ident, $hasher:ident, $mac:ident, $code:ident;)*) => {$(
        pub(super) fn $hash(fields: Fields<'_>) -> super::Answer {
            let message = fields.bytes("message")?;
            let len = fields.bits("outLen")?;
            let function_name = fields.optional("functionName")?.unwrap_or_default();
            let customization = fields.optional("customization")?.unwrap_or_default();
            let mut hasher = $hasher::new(&function_name, &customization);
            absorb(fields, &message, |piece| { hasher.update(piece); })?;
            super::answer([("md", squeeze(fields, hasher.finalize_xof(), len)?)])
        }

        pub(super) fn $mac(fields: Fields<'_>) -> super::Answer {
            let key = fields.bytes("key")?;
            let message = fields.bytes("message")?;
            let len = fields.bits("macLen")?;
            let customization = fields.optional("customization")?.unwrap_or_default();
            // The code depends on its length and comes in one call; the field is only checked.
            fields.pieces("squeeze", len)?;
            let mut code = $code::new(&key, &customization);
            absorb(fields, &message, |piece| { code.update(piece); })?;
            let mut mac = vec![0; len];
            code.finalize_into(&mut mac);
            super::answer([("mac", hex(&mac))])
        }
    )*};
}

customized! {
    cshake128, CShake128, kmac128, Kmac128;
    cshake256, CShake256, kmac256, Kmac256;
}
