//! What mls-rs says, in the words of this crate.

use gambeson_mls::rules::Refused;
use mls_rs::error::MlsError;

use crate::refusal::{Reason, Refusal};

/// Why mls-rs refused.
pub(super) fn refused(error: &MlsError) -> Refusal {
    let inner = match error {
        MlsError::IdentityProviderError(inner) | MlsError::MlsRulesError(inner) => {
            Some(inner.inner_dyn_error())
        }
        _ => None,
    };
    if let Some(inner) = inner {
        if let Some(refusal) = inner.downcast_ref::<Refusal>() {
            return refusal.clone();
        }
        return match inner.downcast_ref::<Refused<Refusal>>() {
            Some(Refused::Policy(refusal)) => refusal.clone(),
            Some(other) => Refusal::new(Reason::BadProposal, other),
            None => Refusal::new(Reason::Protocol, inner),
        };
    }
    let reason = match error {
        MlsError::SerializationError(_) | MlsError::UnexpectedMessageType => Reason::Malformed,
        MlsError::GroupIdMismatch => Reason::OtherChannel,
        MlsError::InvalidEpoch | MlsError::EpochNotFound => Reason::OtherEpoch,
        MlsError::KeyMissing(_) => Reason::Replayed,
        MlsError::InvalidFutureGeneration(_) => Reason::TooFarAhead,
        MlsError::CantProcessMessageFromSelf => Reason::Own,
        MlsError::UnsupportedCipherSuite(_) | MlsError::CipherSuiteMismatch => Reason::WrongSuite,
        MlsError::InvalidLifetime { .. } => Reason::ExpiredKeyPackage,
        MlsError::WelcomeKeyPackageNotFound => Reason::UnknownKeyPackage,
        MlsError::DuplicateLeafData(_) => Reason::AlreadyMember,
        MlsError::MemberNotFound | MlsError::RemovingNonExistingMember => Reason::NotMember,
        MlsError::InvalidSignature
        | MlsError::InvalidConfirmationTag
        | MlsError::InvalidMembershipTag
        | MlsError::TreeHashMismatch
        | MlsError::ParentHashMismatch
        | MlsError::PubKeyMismatch
        | MlsError::CryptoProviderError(_) => Reason::Forged,
        MlsError::InvalidSuccessor
        | MlsError::ExternalCommitRemovesOtherIdentity
        | MlsError::DifferentIdentityInUpdate(_) => Reason::OtherIdentity,
        MlsError::UnsupportedCustomProposal(_) | MlsError::ProposalNotFound => Reason::BadProposal,
        _ => Reason::Protocol,
    };
    Refusal::new(reason, error)
}

/// Why mls-rs did not do what this member asked of it: what fails is the member's own.
pub(super) fn failed(error: &MlsError) -> Refusal {
    match error {
        MlsError::CryptoProviderError(inner) => Refusal::new(Reason::Protocol, inner),
        error => refused(error),
    }
}
