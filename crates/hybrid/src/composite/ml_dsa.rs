//! ML-DSA by a parameter set that is known at run time.

use gambeson::Bytes;
use gambeson::mldsa::{Message, MlDsa44, MlDsa65, MlDsa87, ParameterSet, SigningKey, VerifyingKeyRef};

use super::InvalidSignature;

/// The parameter set of a composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlDsa {
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
    /// ML-DSA-87.
    MlDsa87,
}

impl MlDsa {
    pub(super) const fn public_key_len(self) -> usize {
        match self {
            Self::MlDsa44 => 1312,
            Self::MlDsa65 => 1952,
            Self::MlDsa87 => 2592,
        }
    }

    pub(super) const fn signature_len(self) -> usize {
        match self {
            Self::MlDsa44 => 2420,
            Self::MlDsa65 => 3309,
            Self::MlDsa87 => 4627,
        }
    }

    pub(super) fn verify(
        self,
        key: &[u8],
        message: &[u8],
        context: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        match self {
            Self::MlDsa44 => verify::<MlDsa44>(key, message, context, signature),
            Self::MlDsa65 => verify::<MlDsa65>(key, message, context, signature),
            Self::MlDsa87 => verify::<MlDsa87>(key, message, context, signature),
        }
    }
}

fn verify<P: ParameterSet>(
    key: &[u8],
    message: &[u8],
    context: &[u8],
    signature: &[u8],
) -> Result<(), InvalidSignature> {
    let key = VerifyingKeyRef::<P>::try_from(key).map_err(|_| InvalidSignature)?;
    let message = Message::pure(message, context).map_err(|_| InvalidSignature)?;
    key.verify(message, signature).map_err(|_| InvalidSignature)
}

/// A private key of any set.
pub(super) enum Private {
    MlDsa44(SigningKey<MlDsa44>),
    MlDsa65(SigningKey<MlDsa65>),
    MlDsa87(SigningKey<MlDsa87>),
}

impl Private {
    pub(super) fn from_seed(set: MlDsa, seed: &[u8; 32]) -> Self {
        match set {
            MlDsa::MlDsa44 => Self::MlDsa44(SigningKey::from_seed(seed)),
            MlDsa::MlDsa65 => Self::MlDsa65(SigningKey::from_seed(seed)),
            MlDsa::MlDsa87 => Self::MlDsa87(SigningKey::from_seed(seed)),
        }
    }

    pub(super) fn public_key(&self, out: &mut [u8]) {
        match self {
            Self::MlDsa44(key) => out.copy_from_slice(key.verifying_key().as_bytes()),
            Self::MlDsa65(key) => out.copy_from_slice(key.verifying_key().as_bytes()),
            Self::MlDsa87(key) => out.copy_from_slice(key.verifying_key().as_bytes()),
        }
    }

    pub(super) fn sign(&self, message: &[u8], context: &[u8], rnd: Option<&[u8; 32]>, out: &mut [u8]) {
        match self {
            Self::MlDsa44(key) => sign(key, message, context, rnd, out),
            Self::MlDsa65(key) => sign(key, message, context, rnd, out),
            Self::MlDsa87(key) => sign(key, message, context, rnd, out),
        }
    }
}

fn sign<P: ParameterSet>(
    key: &SigningKey<P>,
    message: &[u8],
    context: &[u8],
    rnd: Option<&[u8; 32]>,
    out: &mut [u8],
) {
    debug_assert_eq!(out.len(), P::Signature::LEN);
    let message = Message::pure(message, context).expect("a label has fewer than 256 bytes");
    let signature = match rnd {
        Some(rnd) => key.sign_with_rnd(rnd, message),
        None => key.sign_deterministic(message),
    };
    out.copy_from_slice(signature.as_ref());
}
