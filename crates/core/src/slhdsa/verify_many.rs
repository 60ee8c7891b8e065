//! Verification of many signatures on the heap, eight at a time.

use alloc::{vec, vec::Vec};

use super::keys::{InvalidSignature, VerifyingKey};
use super::message::Message;
use super::verify::TOGETHER;

/// Verifies each signature over its message by its key, as [`VerifyingKey::verify`]; the verdicts come in the order of the items.
///
/// The hashes of eight neighbouring items of the same key run side by side.
///
/// ```
/// use gambeson::slhdsa::{self, InvalidSignature, Message, ParameterSet, SigningKey};
///
/// let keys = [1, 2].map(|seed| SigningKey::from_seeds(ParameterSet::SHA2_128F, &[seed; 16], &[3; 16], &[4; 16]));
/// let [first, second] = keys.map(|key| key.expect("seeds of 16 bytes"));
/// let signature = first.sign_deterministic(b"message");
///
/// let message = Message::from(b"message");
/// let public = [first.verifying_key(), second.verifying_key()];
/// let verdicts =
///     slhdsa::verify_many(&[(&public[0], message, &signature), (&public[1], message, &signature)]);
/// assert_eq!(verdicts, [Ok(()), Err(InvalidSignature)]);
/// ```
#[must_use]
pub fn verify_many(items: &[(&VerifyingKey, Message<'_>, &[u8])]) -> Vec<Result<(), InvalidSignature>> {
    let of_one_key = items.chunk_by(|(key, ..), (next, ..)| key == next);
    of_one_key
        .flat_map(|items| {
            let signed: Vec<_> = items.iter().map(|(_, message, signature)| (*message, *signature)).collect();
            items[0].0.verify_many(&signed)
        })
        .collect()
}

impl VerifyingKey {
    /// Verifies each signature over its message by this key; the verdicts come in the order of the items.
    ///
    /// The hashes of eight items run side by side. Up to 18 KiB of heap, however many there are, and the verdicts.
    #[must_use]
    pub fn verify_many(&self, items: &[(Message<'_>, &[u8])]) -> Vec<Result<(), InvalidSignature>> {
        let hash = self.hash();
        let mut nodes = vec![0; TOGETHER.min(items.len()) * hash.params.verification_len()];
        let mut verdicts = vec![Err(InvalidSignature); items.len()];
        for (items, verdicts) in items.chunks(TOGETHER).zip(verdicts.chunks_mut(TOGETHER)) {
            let claims = items.iter().map(|(message, signature)| self.claim(&hash, message, signature));
            let (places, mut claims): (Vec<_>, Vec<_>) =
                claims.enumerate().filter_map(|(place, claim)| Some((place, claim.ok()?))).unzip();
            hash.roots(&mut claims, &mut nodes);
            for (place, claim) in places.into_iter().zip(&claims) {
                verdicts[place] = self.judge(claim);
            }
        }
        verdicts
    }
}
