//! Test vectors of MLS, judged case by case: those of the working group, and files of the same kinds.
//!
//! A file is a JSON array of cases of one kind ([`KINDS`], [`kind`]; the form is that of `test-vectors.md` in
//! mlswg/mls-implementations). What a case asks for is computed with [`SuiteProvider`] alone, by the text of RFC 9420; the kinds of
//! passive clients are clients of mls-rs that join and follow.
//!
//! ```
//! use gambeson_mls::vectors::{Verdict, judge};
//!
//! let case = serde_json::json!({"cipher_suite": 1, "psks": [], "psk_secret": "00".repeat(32)});
//! assert_eq!(judge("psk_secret", &case), Some(Verdict::Holds));
//! ```
//!
//! # Layout
//!
//! * `wire`: reading bytes, and the labels of RFC 9420 (section 5)
//! * `basics`: single operations
//! * `schedule`: secrets of epochs, of pre-shared keys, of senders; transcripts
//! * `framing`: messages and Welcomes
//! * `tree`: paths through ratchet trees
//! * `passive`: clients of mls-rs
//! * this file: kinds and verdicts

mod basics;
mod framing;
mod passive;
mod schedule;
mod tree;
mod wire;

use mls_rs_core::crypto::CryptoProvider;
use serde_json::Value;

use crate::{Preset, Provider, SuiteProvider};
use wire::Judged;

/// Judges a case of one kind.
type Judge = fn(&SuiteProvider, &Value) -> Judged;

const JUDGES: [(&str, Judge); 13] = [
    ("crypto-basics", basics::labels),
    ("key-schedule", schedule::epochs),
    ("message-protection", framing::messages),
    ("passive-client", passive::follow),
    ("passive-client-handling-commit", passive::follow),
    ("passive-client-openmls", passive::follow),
    ("passive-client-renumbered", passive::follow),
    ("passive-client-welcome", passive::follow),
    ("psk_secret", schedule::pre_shared_keys),
    ("secret-tree", schedule::secret_tree),
    ("transcript-hashes", schedule::transcripts),
    ("treekem", tree::paths),
    ("welcome", framing::welcome),
];

/// The kinds of cases that are known here: what a file of them is called, without `.json`.
pub const KINDS: [&str; JUDGES.len()] = {
    let (mut names, mut at) = ([""; JUDGES.len()], 0);
    while at < names.len() {
        names[at] = JUDGES[at].0;
        at += 1;
    }
    names
};

/// Members that a case has, by its kind: no two kinds have the same.
const MEMBERS: [(&str, &[&str]); 9] = [
    ("crypto-basics", &["ref_hash", "expand_with_label"]),
    ("key-schedule", &["initial_init_secret", "epochs"]),
    ("message-protection", &["membership_key", "proposal_priv"]),
    ("passive-client", &["key_package", "external_psks", "epochs"]),
    ("psk_secret", &["psks", "psk_secret"]),
    ("secret-tree", &["sender_data", "leaves"]),
    ("transcript-hashes", &["interim_transcript_hash_before"]),
    ("treekem", &["leaves_private", "update_paths"]),
    ("welcome", &["key_package", "signer_pub"]),
];

/// The kind of a case, told from its members; of passive clients always `passive-client`.
///
/// ```
/// let case = serde_json::json!({"cipher_suite": 1, "psks": [], "psk_secret": ""});
/// assert_eq!(gambeson_mls::vectors::kind(&case), Some("psk_secret"));
/// ```
#[must_use]
pub fn kind(case: &Value) -> Option<&'static str> {
    let has = |members: &[&str]| members.iter().all(|name| case.get(name).is_some());
    let found = MEMBERS.iter().find(|(_, members)| has(members) && has(&["cipher_suite"]));
    found.map(|(kind, _)| *kind)
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything in it is what it says.
    Holds,
    /// Something is not; why.
    Fails(String),
    /// It is of a suite that no preset has.
    OtherSuite,
}

/// Judges a case; `None` for a kind that is not one of [`KINDS`].
///
/// Its `cipher_suite` is a number of [`SUITES`](crate::SUITES), or with `"derivation": "plain"` one of
/// [`Provider::openmls`]. Where it has a `number` too, that is the suite's on the wire, and `cipher_suite` is its
/// [`number`](crate::Suite::number), whatever the derivation.
#[must_use]
pub fn judge(kind: &str, case: &Value) -> Option<Verdict> {
    let (_, judge) = JUDGES.iter().find(|(name, _)| *name == kind)?;
    let suite = number(&case["cipher_suite"]);
    let on_the_wire = case.get("number").map_or(suite, number);
    let (Some(_), Some(on_the_wire)) = (suite, on_the_wire) else {
        return Some(Verdict::Fails("no cipher_suite, or a number that is none".into()));
    };
    Some(match provider(case).cipher_suite_provider(on_the_wire.into()) {
        None => Verdict::OtherSuite,
        Some(suite) => judge(&suite, case).map_or_else(Verdict::Fails, |()| Verdict::Holds),
    })
}

/// That of all suites, with the derivation of the case; if it gives its suite another number, that of this suite alone.
fn provider(case: &Value) -> Provider {
    let all = if case["derivation"] == "plain" { Provider::openmls() } else { Provider::new(Preset::All) };
    let Some(other) = number(&case["number"]) else { return all };
    all.with_numbers(|suite| (number(&case["cipher_suite"]) == Some(suite.number())).then_some(other))
}

fn number(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|number| number.try_into().ok())
}
