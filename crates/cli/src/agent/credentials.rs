//! `agent cred issue`, `verify`, `revoke`, `status`.

use super::Session;
use super::signing::text;
use super::status::{self, OwnList};
use crate::args::agent::{CredCommand, CredIssue, CredRevoke, CredStatus, CredVerify};
use crate::console::counted;
use crate::error::{Error, Status};
use crate::files::{self, Access, is_stream};
use gambeson_identity::jose::Jws;
use gambeson_identity::json as strict;
use gambeson_identity::vc::{self, Credential, MAX_CREDENTIAL};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

pub(super) fn cred(session: &Session, command: &CredCommand) -> Result<Status, Error> {
    match command {
        CredCommand::Issue(options) => issue(session, options),
        CredCommand::Verify(options) => verify(session, options),
        CredCommand::Revoke(options) => revoke(session, options),
        CredCommand::Status(options) => list(session, options),
    }
}

fn issue(session: &Session, options: &CredIssue) -> Result<Status, Error> {
    files::refuse_existing(&options.out, options.force)?;
    let mut claims = strict::parse_object(&files::read_small(&options.claims)?, MAX_CREDENTIAL)
        .map_err(|e| Error::in_file(&options.claims, &e))?;
    if claims.insert("id".into(), options.subject.as_str().into()).is_some() {
        return Err(Error::usage("the claims have an id: name the subject with --subject instead"));
    }
    let _lock = session.home.lock()?;
    let (agent, _) = session.unlock()?;
    let until = session.now.after(options.hours * 3600);
    let mut builder = Credential::builder().subject(claims.into()).valid(session.now, until);
    for kind in &options.kinds {
        builder = builder.kind(kind);
    }
    if let Some(id) = &options.id {
        builder = builder.id(id);
    }
    let mut entry = None;
    if !options.irrevocable {
        let mut own = OwnList::open(session)?;
        let taken = own.take(until)?;
        own.keep(session, &agent)?;
        builder = builder.status(&taken);
        entry = Some(taken.index);
    }
    let credential = match options.data_integrity {
        true => builder.issue_with_proof(&agent, session.now).map(|json| Value::Object(json).to_string()),
        false => builder.issue(&agent),
    };
    let credential = credential.map_err(Error::from_request)?;
    files::write(&options.out, format!("{credential}\n").as_bytes(), Access::Shared, options.force)?;
    session.console.report(
        format_args!("about {} until {until}: {}", options.subject, options.out.display()),
        json!({
            "type": "credential",
            "issuer": agent.did().as_str(),
            "subject": options.subject.as_str(),
            "validUntil": until.to_string(),
            "statusListIndex": entry,
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

fn verify(session: &Session, options: &CredVerify) -> Result<Status, Error> {
    let secured = text(&options.credential)?;
    let resolver = session.resolver();
    let lists = status::Consulted::new(session, options.max_status_age);
    let asked = match options.status_if_known {
        true => vc::Status::IfKnown(&lists),
        false => vc::Status::Required(&lists),
    };
    let verified = Credential::verify(&secured, &*resolver, session.now, asked);
    let verified = verified.and_then(|verified| {
        lists.check_age(session.now)?;
        super::is_signer(options.issuer.as_ref(), verified.signer())?;
        Ok(verified)
    });
    let verified = match verified {
        Ok(verified) => verified,
        Err(error) => return session.refused(&error),
    };
    if let Some(name) = &options.keep {
        keep(session, name, &secured)?;
    }
    lists.expect(entries(verified.json()));
    let until = verified.validity().1.map(|time| time.to_string());
    let mut report = json!({
        "issuer": verified.issuer().as_str(),
        "credential": verified.json(),
        "validUntil": until,
    });
    lists.members().into_iter().for_each(|(name, value)| report[name] = value);
    let said = format!(
        "{} says of {}: {}",
        verified.issuer(),
        verified.subject().get("id").and_then(Value::as_str).unwrap_or("somebody"),
        Value::Object(claims(verified.subject())),
    );
    session.holds_lines(vec![said, lists.text()], verified.signer(), report)
}

/// The number of entries of a credential's status, of whatever kind.
fn entries(credential: &Map<String, Value>) -> usize {
    let listed = match credential.get("credentialStatus") {
        None => 0,
        Some(Value::Array(entries)) => entries.len(),
        Some(_) => 1,
    };
    listed + usize::from(credential.contains_key("status"))
}

/// What is claimed, without about whom.
fn claims(subject: &Map<String, Value>) -> Map<String, Value> {
    let mut claims = subject.clone();
    claims.remove("id");
    claims
}

/// The folder of the credentials that the agent keeps; its backup has them.
pub(super) fn folder(session: &Session) -> PathBuf {
    session.home.folder().join("credentials")
}

fn keep(session: &Session, name: &str, secured: &str) -> Result<(), Error> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() || name.len() > 128 || name.starts_with('.') || !name.bytes().all(plain) {
        return Err(Error::usage(
            "--keep: a name has 1 to 128 letters, digits, dots and hyphens, and does not begin with a dot",
        ));
    }
    let _lock = session.home.lock()?;
    super::home::private_folder(&folder(session))?;
    files::write_own(&folder(session).join(name), format!("{secured}\n").as_bytes(), Access::Private, true)
}

fn revoke(session: &Session, options: &CredRevoke) -> Result<Status, Error> {
    let secured = text(&options.credential)?;
    // Of a chain of delegation it is the last link.
    let secured = secured.lines().last().unwrap_or_default();
    // It is not verified: that its entry is one of this agent's list is what counts.
    let credential =
        unverified(secured, MAX_CREDENTIAL).map_err(|e| Error::in_file(&options.credential, &e))?;
    let _lock = session.home.lock()?;
    let (agent, _) = session.unlock()?;
    let mut own = OwnList::open(session)?;
    let entries = match credential.get("credentialStatus") {
        Some(Value::Array(entries)) => entries.clone(),
        Some(entry) => vec![entry.clone()],
        None => return Err(Error::usage("the credential has no status: it cannot be revoked")),
    };
    let mut fresh = false;
    for entry in &entries {
        fresh |= own.revoke(entry)?;
    }
    own.keep(session, &agent)?;
    let state = if fresh { "revoked" } else { "was revoked already" };
    session.console.report_lines(
        [
            format!("{}: {state}", options.credential.display()),
            "others learn of it from the list that gambeson agent cred status writes".to_owned(),
        ],
        json!({"type": "revoked", "file": options.credential.display().to_string(), "isNew": fresh}),
    )?;
    Ok(Status::Done)
}

/// What a credential says, by which nobody has stood yet.
pub(super) fn unverified(secured: &str, max_len: usize) -> gambeson_identity::Result<Map<String, Value>> {
    match secured.starts_with('{') {
        true => strict::parse_object(secured.as_bytes(), max_len),
        false => Jws::parse(secured, max_len)
            .and_then(|jws| strict::parse_object(jws.payload_unverified(), max_len)),
    }
}

/// Of a list of this agent's own, which others kept: takes over what was revoked in it, however old it is.
fn catch_up(session: &Session, list: &str) -> Result<Option<Status>, Error> {
    let owner = session.home.owner()?;
    // What does not hold is told where the lists of others are.
    let Ok((signed, _)) = status::verify_kept(session, list) else { return Ok(None) };
    let Some(mut own) = OwnList::find(session)?.filter(|own| own.is(&signed, &owner)) else {
        return Ok(None);
    };
    let (agent, _) = session.unlock()?;
    let fresh = own.catch_up(&signed)?;
    own.keep(session, &agent)?;
    let url = signed.url();
    session.console.report(
        format_args!("{} new in the list {url}", counted(fresh, "revocation")),
        json!({"type": "status-list", "verified": true, "url": url, "added": fresh}),
    )?;
    Ok(Some(Status::Done))
}

fn list(session: &Session, options: &CredStatus) -> Result<Status, Error> {
    if let Some(path) = &options.add {
        let list = text(path)?;
        let _lock = session.home.lock()?;
        if let Some(status) = catch_up(session, &list)? {
            return Ok(status);
        }
        return match status::learn(session, &list) {
            Ok(kept) => {
                let url = kept?;
                session.console.report(
                    format_args!("stored the status list {url}"),
                    json!({"type": "status-list", "verified": true, "url": url}),
                )?;
                Ok(Status::Done)
            }
            Err(error) => session.refused(&error),
        };
    }
    files::refuse_existing(&options.out, options.force)?;
    let _lock = session.home.lock()?;
    let (agent, _) = session.unlock()?;
    let own = match options.begin_anew {
        true => OwnList::begin_anew(session)?,
        false => OwnList::open(session)?,
    };
    // The signed list by which this agent's own credentials are judged here would run out otherwise.
    own.keep(session, &agent)?;
    let signed = own.sign(&agent, session.now, options.hours)?;
    files::write(&options.out, format!("{signed}\n").as_bytes(), Access::Shared, options.force)?;
    let (given, revoked) = own.counts();
    if is_stream(&options.out) {
        return Ok(Status::Done);
    }
    session.console.report(
        format_args!("{given} issued, {revoked} revoked: {}", options.out.display()),
        json!({"type": "status-list", "entries": given, "revokedEntries": revoked, "out": options.out.display().to_string()}),
    )?;
    Ok(Status::Done)
}
