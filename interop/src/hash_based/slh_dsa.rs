//! SLH-DSA with Bouncy Castle, with the raw keys of FIPS 205.

use std::sync::Arc;

use gambeson::slhdsa::{Digest, Message, ParameterSet, PreHash, SigningKey, VerifyingKey};
use libtest_mimic::Trial;

use super::{ANOTHER_MESSAGE, MESSAGE};
use crate::bouncy_castle::{Answer, BouncyCastle};
use crate::tools::{Result, check};

/// A context, and the function that hashes the message before it is signed.
#[derive(Clone, Copy)]
struct Form {
    context: &'static [u8],
    hash: Option<PreHash>,
}

const PURE: Form = Form { context: b"", hash: None };
const WITH_CONTEXT: Form = Form { context: b"interop", hash: None };

/// Returns a test for each parameter set.
///
/// # Panics
///
/// If there are not 12.
pub(super) fn trials(peer: &Arc<BouncyCastle>) -> Vec<Trial> {
    let trials = ParameterSet::ALL.iter().map(|set| {
        let peer = Arc::clone(peer);
        let name = format!("bouncy_castle::{set}::verifies_our_signatures_and_we_verify_its");
        Trial::test(name, move || both_ways(&peer, *set))
    });
    let trials: Vec<_> = trials.collect();
    assert_eq!(trials.len(), 12);
    trials
}

/// Compares deterministic signatures with its key, and puts hedged ones with our key to both sides. A signature of an s set takes the
/// peer seconds, so these sets have one.
fn both_ways(peer: &BouncyCastle, set: ParameterSet) -> Result {
    let made = peer.ask("slh_dsa_generate", &[("set", &set_name(set))])?;
    let its = SigningKey::from_bytes(set, &made.bytes("private")?)?;
    check(its.verifying_key().as_bytes() == made.bytes("public")?, "its public key")?;
    let is_fast = set.name().ends_with('f');
    let pre_hashed = Form { hash: Some(pre_hash(set)), ..WITH_CONTEXT };
    let forms = if is_fast { vec![PURE, WITH_CONTEXT, pre_hashed] } else { vec![WITH_CONTEXT] };
    for form in forms {
        let signature = its_signature(peer, &its, form, &[])?;
        let digest = form.digest(MESSAGE);
        let same = its.sign_deterministic(form.message(MESSAGE, &digest)?) == signature;
        check(same, "its deterministic signature is ours")?;
        both_verify(peer, &its.verifying_key(), form, &signature)?;
    }
    if is_fast {
        let ours = SigningKey::generate(set)?;
        both_verify(peer, &ours.verifying_key(), PURE, &ours.sign(MESSAGE)?)?;
        let signature = its_signature(peer, &ours, PURE, &[("hedged", "")])?;
        check(
            ours.sign_deterministic(MESSAGE) != signature,
            "its hedged signature is not the deterministic one",
        )?;
        both_verify(peer, &ours.verifying_key(), PURE, &signature)?;
    }
    Ok(())
}

fn its_signature(
    peer: &BouncyCastle,
    key: &SigningKey,
    form: Form,
    more: &[(&str, &str)],
) -> Result<Vec<u8>> {
    let private = hex::encode(key.expose_bytes());
    let fields = [&[("private", &*private)], more].concat();
    ask(peer, "slh_dsa_sign", key.parameter_set(), form, MESSAGE, &fields)?.bytes("signature")
}

/// Both sides verify a signature, and refuse it over another message and with another context.
fn both_verify(peer: &BouncyCastle, key: &VerifyingKey, form: Form, signature: &[u8]) -> Result {
    let (public, text) = (hex::encode(key.as_bytes()), hex::encode(signature));
    let verdicts = |form: Form, message: &[u8]| -> Result<[bool; 2]> {
        let digest = form.digest(message);
        let ours = key.verify(form.message(message, &digest)?, signature).is_ok();
        let fields = [("public", &*public), ("signature", &text)];
        let its = ask(peer, "slh_dsa_verify", key.parameter_set(), form, message, &fields)?;
        Ok([ours, its.text("valid")? == "true"])
    };
    let judged = |form, message, expected: bool, case: &str| {
        let found = verdicts(form, message)?;
        check(found == [expected; 2], format!("{case}: we and it verify: {found:?}, expected {expected}"))
    };
    judged(form, MESSAGE, true, "the message")?;
    judged(form, ANOTHER_MESSAGE, false, "another message")?;
    judged(Form { context: b"another", ..form }, MESSAGE, false, "another context")
}

impl Form {
    fn digest(self, message: &[u8]) -> Option<Digest> {
        self.hash.map(|hash| hash.digest(message))
    }

    /// The message of this form, or its digest.
    fn message<'m>(self, message: &'m [u8], digest: &'m Option<Digest>) -> Result<Message<'m>> {
        Ok(match digest {
            Some(digest) => Message::prehashed(digest, self.context)?,
            None => Message::pure(message, self.context)?,
        })
    }
}

/// Asks about a signature of this form.
fn ask(
    peer: &BouncyCastle,
    op: &str,
    set: ParameterSet,
    form: Form,
    message: &[u8],
    more: &[(&str, &str)],
) -> Result<Answer> {
    let (set_name, context, message) = (set_name(set), hex::encode(form.context), hex::encode(message));
    let mut fields = vec![("set", &*set_name), ("context", &context), ("message", &message)];
    let hash = form.hash.map(|hash| hash.name().replace('-', "").replace("SHA2", "SHA").to_lowercase());
    fields.extend(hash.as_deref().map(|hash| ("hash", hash)));
    fields.extend(more);
    peer.ask(op, &fields)
}

/// The name in Bouncy Castle's class of parameters, such as `sha2_128s`.
fn set_name(set: ParameterSet) -> String {
    set.name().trim_start_matches("SLH-DSA-").replace('-', "_").to_lowercase()
}

/// The pre-hash function of RFC 9909, the only one that Bouncy Castle has for the set.
fn pre_hash(set: ParameterSet) -> PreHash {
    match (set.name().contains("SHA2"), set.seed_len()) {
        (true, 16) => PreHash::Sha2_256,
        (true, _) => PreHash::Sha2_512,
        (false, 16) => PreHash::Shake128,
        (false, _) => PreHash::Shake256,
    }
}
