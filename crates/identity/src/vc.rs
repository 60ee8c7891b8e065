//! Credentials: what one agent says of another, signed so that anybody can verify it offline.
//!
//! W3C Verifiable Credentials Data Model 2.0, secured as `vc+jwt` (VC-JOSE-COSE) with ML-DSA-65, or as JSON with a
//! `mldsa44-jcs-2024` Data Integrity proof; presentations as `vp+jwt`; SD-JWT VC where less is to be disclosed; and
//! Bitstring Status List 1.0 for revocation. `docs/spec/credentials.md` is the exact profile.
//!
//! ```
//! use gambeson_identity::vc::{Credential, Status, StatusStore};
//! use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Timestamp};
//! use serde_json::json;
//!
//! let now: Timestamp = "2026-11-22T07:00:00Z".parse()?;
//! let (issuer, subject) = (Agent::generate()?, Agent::generate()?);
//! let mut cards = CardStore::default();
//! cards.add(CardLog::new(issuer.first_card(now, now.after(86_400), &CardContent::default())?)?)?;
//!
//! let token = Credential::builder()
//!     .kind("MayReadMailCredential")
//!     .subject(json!({"id": subject.did().as_str(), "mailbox": "support"}))
//!     .valid(now, now.after(86_400))
//!     .issue(&issuer)?;
//!
//! let lists = StatusStore::default();
//! let credential = Credential::verify(&token, &cards, now, Status::Required(&lists))?;
//! assert_eq!(credential.issuer(), issuer.did());
//! assert_eq!(credential.subject()["mailbox"], "support");
//! # Ok::<(), gambeson_identity::Error>(())
//! ```
//!
//! # Layout
//!
//! * `model`: the form of credentials and presentations (VC Data Model 2.0, §4 and §5)
//! * `credential`, `presentation`: issue, present, verify
//! * [`data_integrity`]: proofs that stand inside the JSON
//! * `sd_jwt`: selective disclosure
//! * `status`: revocation and suspension
//! * `authority`: the types that the signer of claims refuses
//! * [`api`]: what the W3C test suites call

pub mod api;
mod authority;
mod credential;
pub mod data_integrity;
mod model;
mod presentation;
mod sd_jwt;
mod status;

pub use credential::{Credential, CredentialBuilder, MAX_CREDENTIAL};
pub use model::{CONTEXT, UNDEFINED_TERMS, check_credential, check_presentation};
pub use presentation::{Binding, MAX_CREDENTIALS, MAX_PRESENTATION, Presentation, Request};
pub use sd_jwt::{KeyBinding, MAX_DISCLOSURES, MAX_SD_JWT, SdJwt, SdJwtBuilder, SdJwtHeld};
pub(crate) use status::check_entries;
pub use status::{
    MAX_ENTRIES, MAX_STATUS_LIST, MIN_ENTRIES, Status, StatusEntry, StatusList, StatusListCredential,
    StatusPurpose, StatusResolver, StatusStore,
};
