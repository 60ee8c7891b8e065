//! The commands `agent …`: an identity from one seed, and what it signs, seals and judges.
//!
//! # Layout
//!
//! * `home`: the agent's folder, and what it holds; `trusted`: who else may change it
//! * `identity`: `init`, `show`, `card`, `rotate`
//! * `signing`: `sign`, `verify`
//! * `recovery`: `recover`, `backup`, `restore`
//! * `sealing`: `seal`, `open`; `seen`: what was taken once
//! * `sessions`: `listen`, `connect`
//! * `channel`: the commands `channel …`
//! * `credentials`: `cred …`; `status`: the status lists
//! * `delegating`: `delegate …`, `approve`; `ledger`: what was used up
//! * `actions`, `http`, `a2a`: signed calls, requests, agent cards
//! * `log`: `log …`; `memory`: `memory …`
//! * `web`: documents of `did:web`
//! * `vc_api`: the endpoints that the test suites of the W3C call
//! * this file: what the commands share

mod a2a;
mod actions;
mod addresses;
pub mod channel;
mod credentials;
mod delegating;
mod home;
mod http;
mod identity;
mod ledger;
mod log;
mod memory;
mod recovery;
mod sealing;
mod seen;
mod sessions;
mod signing;
mod status;
#[cfg(unix)]
mod trusted;
mod vc_api;
mod web;

pub(crate) use channel::channel;
pub(crate) use channel::opened;
pub(crate) use home::keeps;
pub(crate) use vc_api::answered;

use crate::args::agent::{Agent as Options, AgentCommand, Who};
use crate::console::Console;
use crate::error::{Error, Status};
use gambeson_identity::{Agent, CardLog, Did, DidUrl, Reason, Resolver, Timestamp, Web};
use home::Home;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn agent(console: Console, options: &Options) -> Result<Status, Error> {
    let session = Session::new(console, &options.who)?;
    match &options.command {
        AgentCommand::Init(options) => identity::init(&session, options),
        AgentCommand::Show(options) => identity::show(&session, options),
        AgentCommand::Card(options) => identity::card(&session, options),
        AgentCommand::Rotate(options) => identity::rotate(&session, options),
        AgentCommand::Passwd(options) => identity::passwd(&session, options),
        AgentCommand::Sign(options) => signing::sign(&session, options),
        AgentCommand::Verify(options) => signing::verify(&session, options),
        AgentCommand::Seal(options) => sealing::seal(&session, options),
        AgentCommand::Open(options) => sealing::open(&session, options),
        AgentCommand::Listen(options) => sessions::listen(&session, options),
        AgentCommand::Connect(options) => sessions::connect(&session, options),
        AgentCommand::Recover(options) => recovery::recover(&session, options),
        AgentCommand::Backup(options) => recovery::backup(&session, options),
        AgentCommand::Restore(options) => recovery::restore(&session, options),
        AgentCommand::Cred(command) => credentials::cred(&session, command),
        AgentCommand::Delegate(command) => delegating::delegate(&session, command),
        AgentCommand::Approve(options) => delegating::approve(&session, options),
        AgentCommand::Http(command) => http::http(&session, command),
        AgentCommand::A2a(command) => a2a::a2a(&session, command),
        AgentCommand::VcApi(options) => vc_api::serve(&session, options),
        AgentCommand::Act(command) => actions::act(&session, command),
        AgentCommand::Log(command) => log::log(&session, command),
        AgentCommand::Memory(command) => memory::memory(&session, command),
    }
}

/// What every command works with.
struct Session {
    console: Console,
    home: Home,
    passphrase_fd: Option<u32>,
    /// The time that the command line names.
    at: Option<Timestamp>,
    now: Timestamp,
    resolver: Known,
}

/// What finds documents here.
type Known = Arc<dyn Resolver>;

impl Session {
    fn new(console: Console, options: &Who) -> Result<Self, Error> {
        let now = match options.at {
            Some(time) => time,
            None => Timestamp(since_1970()?.as_secs()),
        };
        let home = Home::at(options.home.as_deref())?;
        let resolver: Known = match (options.web, &options.web_roots) {
            (true, roots) => Arc::new(Web::new(web::Https::new(roots.as_deref())?, home.known())),
            (false, None) => Arc::new(home.known()),
            (false, Some(_)) => return Err(Error::usage("--web-roots needs --web")),
        };
        Ok(Self { console, home, passphrase_fd: options.passphrase_fd, at: options.at, now, resolver })
    }

    /// The agent with its keys, and its cards.
    fn unlock(&self) -> Result<(Agent, CardLog), Error> {
        let log = self.home.cards_of_owner()?;
        let mut agent = self.home.unlock(self.passphrase_fd, &log)?;
        // Nanoseconds last until the year 2554.
        agent.begin_session(u64::try_from(since_1970()?.as_nanos()).unwrap_or(u64::MAX));
        Ok((agent, log))
    }

    /// What finds the documents of DIDs.
    fn resolver(&self) -> Known {
        self.resolver.clone()
    }

    /// Reports that something holds: `text` to a person, `details` to a program, as a verdict if they have no type.
    fn holds(&self, text: impl std::fmt::Display, signer: &DidUrl, details: Value) -> Result<Status, Error> {
        self.holds_lines(vec![text.to_string()], signer, details)
    }

    /// Reports that something holds: `lines` to a person, `details` to a program, as a verdict if they have no type.
    fn holds_lines(&self, mut lines: Vec<String>, signer: &DidUrl, details: Value) -> Result<Status, Error> {
        let mut report = Map::from_iter([
            ("type".to_owned(), "verdict".into()),
            ("verified".to_owned(), true.into()),
            ("signer".to_owned(), signer.to_string().into()),
        ]);
        if let Value::Object(details) = details {
            report.extend(details);
        }
        if let Some(first) = lines.first_mut() {
            first.insert_str(0, "verified: ");
        }
        self.console.report_lines(lines, report.into())?;
        Ok(Status::Done)
    }

    /// Reports why something does not hold.
    fn refused(&self, error: &gambeson_identity::Error) -> Result<Status, Error> {
        self.refused_file(None, error)
    }

    /// Reports why something does not hold, of one file among several.
    fn refused_file(&self, file: Option<&Path>, error: &gambeson_identity::Error) -> Result<Status, Error> {
        let (detail, reason) = (crate::error::words(error), error.reason());
        let file = file.map(|file| file.display().to_string());
        let named = file.as_ref().map_or_else(String::new, |file| format!("{file}: "));
        self.console.report(
            format_args!("NOT VERIFIED: {named}{detail} ({reason})"),
            json!({"type": "verdict", "verified": false, "file": file, "reason": reason.code(), "detail": detail}),
        )?;
        Ok(Status::NotVerified)
    }
}

/// Refuses a signer who is not the one that was asked for.
fn is_signer(expected: Option<&Did>, signer: &DidUrl) -> gambeson_identity::Result<()> {
    match expected {
        Some(did) if did != signer.did() => {
            let detail = format_args!("signed by {}, not by {did}", signer.did());
            Err(gambeson_identity::Error::new(Reason::OtherSigner, detail))
        }
        _ => Ok(()),
    }
}

/// Who the agent of a folder is and until when its card holds, in a line; or what is wrong with it.
pub(crate) fn card_in_short(home: Option<&Path>) -> Result<String, String> {
    let said = |error: Error| error.to_string();
    let home = Home::at(home).map_err(said)?;
    let log = home.cards_of_owner().map_err(said)?;
    let (did, (_, until)) = (log.did(), log.newest().validity());
    if Timestamp(since_1970().map_err(said)?.as_secs()) >= until {
        return Err(format!("the card of {did} expired at {until}; gambeson agent rotate makes the next"));
    }
    if log.newest().content().groups.is_empty() {
        return Err(format!(
            "the card of {did} lists no keys for channels; gambeson agent rotate --channels makes one that does"
        ));
    }
    Ok(format!("{did}, card {} until {until}, with keys for channels", log.newest().version()))
}

fn since_1970() -> Result<std::time::Duration, Error> {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_err(|_| Error::outside("the system clock is before 1970"))
}
