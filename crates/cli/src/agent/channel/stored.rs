//! `channel list`, `members`, `history`, `export` and `policy` from the agent's store, without a node.

use super::super::Session;
use super::open::{choose, me, store_to_read};
use super::rules;
use super::tell;
use crate::args::channel::{ChannelCommand, Which};
use crate::console::counted;
use crate::error::{Error, Status};
use crate::slim::failed;
use gambeson_slim::StoredChannel;
use serde_json::json;
use std::sync::Arc;

/// Runs a command that needs no node. Returns `None` for the others.
pub(super) async fn run(session: &Session, command: &ChannelCommand) -> Result<Option<Status>, Error> {
    match command {
        ChannelCommand::List => list(session).await?,
        ChannelCommand::Members(options) if !options.live => members(session, &options.which).await?,
        ChannelCommand::History(options) if !options.read.live => {
            let channel = channel(session, &options.read.which).await?;
            let history = channel.history(options.from, options.limit).await.map_err(failed)?;
            tell::history(session.console, &history)?;
        }
        ChannelCommand::Export(options) if !options.read.live => {
            let channel = channel(session, &options.read.which).await?;
            let history = channel.history(0, usize::MAX).await.map_err(failed)?;
            tell::export(session.console, options, channel.id(), &history)?;
        }
        ChannelCommand::Policy(options) if options.changes_nothing() => {
            rules::show(session.console, channel(session, &options.which).await?.policy())?;
        }
        _ => return Ok(None),
    }
    Ok(Some(Status::Done))
}

/// Reads the channels of the agent.
async fn channels(session: &Session) -> Result<Vec<StoredChannel>, Error> {
    let (me, log) = me(session)?;
    StoredChannel::all(&me, &log, Arc::new(store_to_read(session)?)).await.map_err(failed)
}

/// Reads the channel that was asked for.
async fn channel(session: &Session, which: &Which) -> Result<StoredChannel, Error> {
    choose(channels(session).await?, which, |channel| channel.id().to_string())
}

async fn list(session: &Session) -> Result<(), Error> {
    for channel in channels(session).await? {
        let (id, epoch) = (channel.id().to_string(), channel.epoch());
        let members: Vec<String> =
            channel.members().map_err(failed)?.into_iter().map(|member| member.did.to_string()).collect();
        session.console.report(
            format_args!("{id}  {}, epoch {epoch}", counted(members.len(), "member")),
            json!({"type": "channel", "channel": id, "members": members, "epoch": epoch}),
        )?;
    }
    Ok(())
}

async fn members(session: &Session, which: &Which) -> Result<(), Error> {
    let owner = session.home.owner()?;
    for member in channel(session, which).await?.members().map_err(failed)? {
        let (did, role) = (member.did.as_str(), member.role.name());
        let here = if member.did == owner { " (this agent)" } else { "" };
        session.console.report(
            format_args!("{role:<9} {did}{here}"),
            json!({"type": "member", "did": did, "role": role}),
        )?;
    }
    Ok(())
}
