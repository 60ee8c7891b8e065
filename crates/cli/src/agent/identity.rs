//! `agent init`, `show`, `card`, `rotate`: who the agent is.

use super::Session;
use crate::args::agent::{AgentPasswd, Card, Init, RoleName, Rotate, Show};
use crate::console::present;
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_identity::{
    Agent, CardContent, CardLog, CardStore, Did, DidDocument, MAX_CARD_LOG, MasterSeed, Retired, Role, Suite,
    Timestamp, recovery,
};
use gambeson_mls::Preset;
use gambeson_slim::leaf_keys;
use serde_json::{Map, Value, json};
use std::path::Path;
use zeroize::Zeroizing;

const DAY: u64 = 86_400;

pub(super) fn init(session: &Session, options: &Init) -> Result<Status, Error> {
    session.home.refuse_existing()?;
    let seed = MasterSeed::generate().map_err(Error::damaged)?;
    let again = recovery::from_words(&recovery::words(&seed)).map_err(Error::damaged)?;
    let agent = Agent::with_suite(again, options.suite);
    let groups = options.channels.map(|preset| groups(agent.did().suite(), preset)).unwrap_or_default();
    let content = CardContent { also_known_as: options.also_known_as.clone(), services: Vec::new(), groups };
    let log = first_cards(&agent, session.now, options.validity.days, &content)?;
    session.home.refuse_others(log.did())?;
    // Afterwards nothing gives the seed out.
    keep_seed(session, options, &seed)?;
    session.home.create(&seed, &log, session.passphrase_fd)?;
    let forms = forms(options);
    if forms.is_empty() {
        crate::console::warn(
            "this agent cannot be recovered if its folder or its passphrase is lost: its seed was written nowhere else; \
             make another agent with --words, --age or --shares if that matters",
        );
    }
    made_of(session, &log, Map::from_iter([("recovery".to_owned(), forms.into())]))
}

pub(super) fn passwd(session: &Session, options: &AgentPasswd) -> Result<Status, Error> {
    let did = session.home.owner()?;
    let _lock = session.home.lock()?;
    session.home.change_passphrase(session.passphrase_fd, options.new.new_passphrase_fd)?;
    session.console.report(
        format_args!("{did} has a new passphrase; copies of its folder and age files keep the old one"),
        json!({"type": "passphrase", "did": did.as_str(), "home": session.home.folder().display().to_string()}),
    )?;
    Ok(Status::Done)
}

/// The forms in which the seed is written beside the agent's folder.
fn forms(options: &Init) -> Vec<&'static str> {
    let mut forms = Vec::new();
    forms.extend(options.words.as_ref().map(|_| "words"));
    forms.extend(options.age.as_ref().map(|_| "age"));
    #[cfg(feature = "shares")]
    forms.extend(options.shares.map(|_| "shares"));
    forms
}

/// Writes the seed in the forms that were asked for.
fn keep_seed(session: &Session, options: &Init, seed: &MasterSeed) -> Result<(), Error> {
    if let Some(path) = &options.words {
        let words = Zeroizing::new(format!("{}\n", *recovery::words(seed)));
        files::write_new(path, words.as_bytes(), Access::Private)?;
    }
    if let Some(path) = &options.age {
        let passphrase = crate::passphrase::new(session.passphrase_fd, &path.display().to_string())?;
        let passphrase = super::recovery::age_passphrase(&passphrase)?;
        let file = recovery::age_file(seed, &passphrase).map_err(Error::damaged)?;
        files::write_new(path, &file, Access::Private)?;
    }
    #[cfg(feature = "shares")]
    if let Some((threshold, count)) = options.shares {
        let shares = recovery::shares(seed, threshold, count).map_err(Error::from_request)?;
        for (number, share) in (1..).zip(&shares) {
            let mut name = options.shares_out.as_os_str().to_owned();
            name.push(format!("-{number}"));
            let share = Zeroizing::new(format!("{}\n", **share));
            files::write_new(Path::new(&name), share.as_bytes(), Access::Private)?;
        }
    }
    Ok(())
}

/// A log of a first card.
pub(super) fn first_cards(
    agent: &Agent,
    now: Timestamp,
    days: u64,
    content: &CardContent,
) -> Result<CardLog, Error> {
    agent.first_card(now, now.after(days * DAY), content).and_then(CardLog::new).map_err(Error::from_request)
}

/// Tells of a new agent.
pub(super) fn made(session: &Session, log: &CardLog) -> Result<Status, Error> {
    made_of(session, log, Map::new())
}

/// Tells of a new agent, and programs of what it was made.
pub(super) fn made_of(session: &Session, log: &CardLog, of: Map<String, Value>) -> Result<Status, Error> {
    let (did, folder) = (log.did(), session.home.folder().display());
    let mut told = json!({
        "type": "agent",
        "did": did.as_str(),
        "suite": did.suite().name(),
        "home": folder.to_string(),
        "card": about_card(log),
    });
    for (name, value) in of {
        told[name] = value;
    }
    let (version, (_, until)) = (log.newest().version(), log.newest().validity());
    let about = format!("in {folder}, card {version} until {until}");
    session.console.report_lines([did.as_str(), &about], told)?;
    Ok(Status::Done)
}

pub(super) fn show(session: &Session, options: &Show) -> Result<Status, Error> {
    let log = session.home.cards_of_owner()?;
    let did = log.did();
    if options.did {
        session.console.report(did, json!({"type": "agent", "did": did.as_str()}))?;
        return Ok(Status::Done);
    }
    let recipient = log.newest().document().age_recipient(session.now);
    if options.recipient {
        let recipient = recipient.map_err(Error::from_request)?.to_string();
        session
            .console
            .report(&recipient, json!({"type": "agent", "did": did.as_str(), "recipient": recipient}))?;
        return Ok(Status::Done);
    }
    // An agent of suite cnsa2 has none.
    let recipient = recipient.ok().map(|recipient| recipient.to_string());
    let card = log.newest();
    let (from, until) = card.validity();
    let state = if session.now > until { "  EXPIRED: gambeson agent rotate makes the next" } else { "" };
    let mut lines = vec![
        did.to_string(),
        format!("suite {}, card {} from {from} until {until}{state}", did.suite().name(), card.version()),
        "keys".to_owned(),
    ];
    let mut keys = Vec::new();
    for method in card.document().methods() {
        let state = match (method.revoked(), method.expires()) {
            (Some(time), _) => format!("revoked {time}"),
            (None, Some(time)) => format!("until {time}"),
            (None, None) => "in use".to_owned(),
        };
        let algorithm = algorithm(&log, &method.id().to_string());
        lines.push(format!("  {:<26} {algorithm:<26} {state}", method.id().fragment()));
        keys.push(present(json!({
            "id": method.id().to_string(),
            "alg": algorithm,
            "revokedAt": method.revoked().map(|time| time.to_string()),
            "validUntil": method.expires().map(|time| time.to_string()),
        })));
    }
    let known = session.home.count_known()?;
    lines.push(format!("{} more known, in {}", known.saturating_sub(1), session.home.folder().display()));
    if let Some(recipient) = &recipient {
        lines.extend(["age recipient".to_owned(), format!("  {recipient}")]);
    }
    session.console.report_lines(
        lines,
        json!({
            "type": "agent",
            "did": did.as_str(),
            "suite": did.suite().name(),
            "home": session.home.folder().display().to_string(),
            "card": about_card(&log),
            "keys": keys,
            "recipient": recipient,
            "known": known.saturating_sub(1),
        }),
    )?;
    Ok(Status::Done)
}

/// The `alg` of a key, as its entry in the newest card has it.
fn algorithm(log: &CardLog, url: &str) -> String {
    let methods = &log.newest().document().json()["verificationMethod"];
    let found = methods.as_array().into_iter().flatten().find(|method| method["id"] == url);
    let jwk = found.map(|method| &method["publicKeyJwk"]);
    // That of Ed25519 names its curve alone.
    let name = jwk.and_then(|jwk| jwk["alg"].as_str().or_else(|| jwk["crv"].as_str()));
    name.unwrap_or("ML-DSA-44 (Multikey)").to_owned()
}

fn about_card(log: &CardLog) -> Value {
    let card = log.newest();
    let (from, until) = card.validity();
    json!({
        "version": card.version(),
        "validFrom": from.to_string(),
        "validUntil": until.to_string(),
        "hash": card.hash(),
    })
}

pub(super) fn card(session: &Session, options: &Card) -> Result<Status, Error> {
    if let Some(path) = &options.add {
        return add(session, path);
    }
    if let Some(path) = &options.verify {
        return match read_cards(path)? {
            Ok(log) => tell_cards(session, &log, "verified"),
            Err(error) => session.refused_file(Some(path), &error),
        };
    }
    if let (Some(did), true) = (&options.of, options.document || options.recipient) {
        let document = session.resolver().resolve(did, session.now).map_err(Error::refused)?;
        let text = match options.recipient {
            true => recipient_file(&document, session.now)?,
            false => pretty(&Value::Object(document.json().clone())),
        };
        return write_card(session, options, &text, did, None);
    }
    let log = match &options.of {
        Some(did) => session.home.known().log(did).map_err(Error::refused)?,
        None => session.home.cards_of_owner()?,
    };
    let text = if options.recipient {
        recipient_file(log.newest().document(), session.now)?
    } else if options.document {
        pretty(&Value::Object(log.newest().document().json().clone()))
    } else if options.did_suite {
        pretty(&gambeson_identity::vc::api::did_suite(&log).map_err(Error::damaged)?)
    } else {
        log.to_lines()
    };
    write_card(session, options, &text, log.did(), Some(&log))
}

/// Writes the cards of a DID, or what was made of them, and reports it.
fn write_card(
    session: &Session,
    options: &Card,
    text: &str,
    did: &Did,
    log: Option<&CardLog>,
) -> Result<Status, Error> {
    files::write(&options.out, text.as_bytes(), Access::Shared, options.force)?;
    let what = match (options.document, options.recipient) {
        (true, _) => "document",
        (_, true) => "age recipient",
        _ => "cards",
    };
    session.console.report(
        format_args!("{what} of {did}: {}", options.out.display()),
        json!({
            "type": "card",
            "did": did.as_str(),
            "card": log.map(about_card),
            "out": options.out.display().to_string(),
        }),
    )?;
    Ok(Status::Done)
}

/// A file for `age -R`.
fn recipient_file(document: &DidDocument, now: Timestamp) -> Result<String, Error> {
    let recipient = document.age_recipient(now).map_err(Error::from_request)?;
    Ok(format!("# {}\n{recipient}\n", document.id()))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The cards of a file: why they do not hold is another matter than that they cannot be read.
pub(super) fn read_cards(path: &Path) -> Result<gambeson_identity::Result<CardLog>, Error> {
    Ok(CardLog::verify(&files::read_at_most(path, MAX_CARD_LOG)?))
}

fn add(session: &Session, path: &Path) -> Result<Status, Error> {
    let log = match read_cards(path)? {
        Ok(log) => log,
        Err(error) => return session.refused_file(Some(path), &error),
    };
    let _lock = session.home.lock()?;
    let known = session.home.known();
    let mut store = CardStore::default();
    if known.path(log.did()).is_ok_and(|path| path.exists()) {
        store.add(known.log(log.did()).map_err(Error::damaged)?).map_err(Error::damaged)?;
    }
    match store.add(log.clone()) {
        Ok(()) => {
            session.home.keep_cards(&log)?;
            tell_cards(session, &log, "known")
        }
        Err(error) => session.refused(&error),
    }
}

fn tell_cards(session: &Session, log: &CardLog, word: &str) -> Result<Status, Error> {
    let (from, until) = log.newest().validity();
    session.console.report(
        format_args!("{word}: {}, card {} from {from} until {until}", log.did(), log.newest().version()),
        json!({"type": "card", "verified": true, "did": log.did().as_str(), "suite": log.did().suite().name(), "card": about_card(log)}),
    )?;
    Ok(Status::Done)
}

pub(super) fn rotate(session: &Session, options: &Rotate) -> Result<Status, Error> {
    let _lock = session.home.lock()?;
    let (mut agent, mut log) = session.unlock()?;
    let retired = if options.compromised { Retired::Compromised } else { Retired::Superseded(options.grace) };
    let mut content = log.newest().content();
    if !options.also_known_as.is_empty() {
        content.also_known_as.clone_from(&options.also_known_as);
    }
    if let Some(preset) = options.channels {
        content.groups = groups(log.did().suite(), preset);
    }
    let roles: Vec<Role> = options.roles.iter().copied().map(role).collect();
    let window = (session.now, session.now.after(options.validity.days * DAY));
    agent.rotate(&mut log, &roles, retired, window, &content).map_err(Error::from_request)?;
    session.home.keep_cards(&log)?;
    let names: Vec<&str> = std::iter::once("did").chain(roles.iter().map(|role| role.fragment())).collect();
    session.console.report_lines(
        [
            format!(
                "card {} until {}; new keys: {}",
                log.newest().version(),
                log.newest().validity().1,
                names.join(", "),
            ),
            "others store it with: gambeson agent card --add".to_owned(),
        ],
        json!({"type": "rotated", "did": log.did().as_str(), "roles": names, "card": about_card(&log)}),
    )?;
    Ok(Status::Done)
}

/// The keys for channels of a preset, else of the one that fits the agent's suite.
fn groups(suite: Suite, preset: Option<Preset>) -> Vec<Role> {
    leaf_keys(preset.unwrap_or(match suite {
        Suite::Cnsa2 => Preset::Cnsa2,
        _ => Preset::Default,
    }))
}

fn role(name: RoleName) -> Role {
    match name {
        RoleName::Identity => Role::Identity,
        RoleName::Signing => Role::Signing,
        RoleName::Backup => Role::Backup,
        RoleName::Sealed => Role::Sealed,
        RoleName::Encapsulation => Role::Encapsulation,
        RoleName::DataIntegrity => Role::DataIntegrity,
        RoleName::Log => Role::Log,
    }
}
