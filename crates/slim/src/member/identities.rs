//! What mls-rs asks about who members are.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gambeson_identity::{Role as KeyRole, Timestamp};
use mls_rs::error::IntoAnyError;
use mls_rs::identity::{Credential as MlsCredential, CredentialType, CustomCredential, SigningIdentity};
use mls_rs::time::MlsTime;
use mls_rs::{ExtensionList, IdentityProvider};
use mls_rs_core::identity::MemberValidationContext;

use crate::cards::{Cards, Doubt};
use crate::credential::Credential;
use crate::refusal::{Need, Reason, Refusal};

/// What is judged now: at which time, and which cards were missing.
///
/// A missing card is written down and passes: so one call finds all that are missing, and what it made is thrown away.
#[derive(Debug, Default)]
pub(super) struct Situation {
    pub(super) at: Option<Timestamp>,
    needs: BTreeSet<Need>,
    path: bool,
}

/// The situation of one member, which mls-rs's provider, its rules and the member see.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(Arc<Mutex<Situation>>);

impl Shared {
    pub(super) fn hold(&self) -> MutexGuard<'_, Situation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to judge something.
    pub(super) fn begin(&self, at: Option<Timestamp>) {
        *self.hold() = Situation { at, ..Situation::default() };
    }

    /// Whether a commit that is made has a path, though MLS does not ask for one.
    pub(super) fn want_path(&self, wanted: bool) {
        self.hold().path = wanted;
    }

    pub(super) fn wants_path(&self) -> bool {
        self.hold().path
    }

    /// Ends it, with what was missing.
    pub(super) fn end(&self) -> Vec<Need> {
        std::mem::take(&mut self.hold().needs).into_iter().collect()
    }

    /// Writes a missing card down.
    pub(super) fn settle<T: Default>(&self, judged: Result<T, Doubt>) -> Result<T, Refusal> {
        match judged {
            Ok(value) => Ok(value),
            Err(Doubt::Wrong(refusal)) => Err(refusal),
            Err(Doubt::Unknown(need)) => {
                self.hold().needs.insert(need);
                Ok(T::default())
            }
        }
    }
}

/// The identity provider of groups of one signature algorithm.
#[derive(Clone, Debug)]
pub(super) struct Identities {
    pub(super) cards: Arc<Cards>,
    pub(super) role: KeyRole,
    pub(super) shared: Shared,
}

/// The credential of a leaf.
pub(super) fn credential(identity: &SigningIdentity) -> Result<Credential, Refusal> {
    match &identity.credential {
        MlsCredential::Custom(custom) if custom.credential_type.raw_value() == Credential::TYPE => {
            Credential::from_bytes(&custom.data)
        }
        _ => Err(Refusal::new(Reason::BadCredential, "the credential is not of the type 0xF1D0")),
    }
}

/// The identity of a leaf.
pub(super) fn identity(credential: &Credential, key: Vec<u8>) -> SigningIdentity {
    let of = CredentialType::new(Credential::TYPE);
    let custom = CustomCredential::new(of, credential.to_bytes());
    SigningIdentity::new(MlsCredential::Custom(custom), key.into())
}

impl IntoAnyError for Refusal {
    fn into_dyn_error(self) -> Result<Box<dyn std::error::Error + Send + Sync>, Self> {
        Ok(Box::new(self))
    }
}

impl IdentityProvider for Identities {
    type Error = Refusal;

    fn validate_member(
        &self,
        signing_identity: &SigningIdentity,
        timestamp: Option<MlsTime>,
        _: MemberValidationContext<'_>,
    ) -> Result<(), Refusal> {
        let credential = credential(signing_identity)?;
        // Where mls-rs asks with a time, the member's counts: mls-rs takes the system's clock where it was given none.
        let at = timestamp.and_then(|_| self.shared.hold().at);
        self.shared.settle(self.cards.judge(&credential, self.role, &signing_identity.signature_key, at))
    }

    fn validate_external_sender(
        &self,
        _: &SigningIdentity,
        _: Option<MlsTime>,
        _: Option<&ExtensionList>,
    ) -> Result<(), Refusal> {
        Err(Refusal::new(Reason::BadProposal, "proposals from outside are not accepted"))
    }

    fn identity(&self, signing_identity: &SigningIdentity, _: &ExtensionList) -> Result<Vec<u8>, Refusal> {
        Ok(credential(signing_identity)?.did.as_str().as_bytes().to_vec())
    }

    fn valid_successor(
        &self,
        predecessor: &SigningIdentity,
        successor: &SigningIdentity,
        _: &ExtensionList,
    ) -> Result<bool, Refusal> {
        let (before, after) = (credential(predecessor)?, credential(successor)?);
        match self.cards.follows(&before, &after) {
            // Known later, judged later.
            Err(unknown @ Doubt::Unknown(_)) => self.shared.settle(Err(unknown)).map(|()| true),
            judged => self.shared.settle(judged),
        }
    }

    fn supported_types(&self) -> Vec<CredentialType> {
        vec![CredentialType::new(Credential::TYPE)]
    }
}
