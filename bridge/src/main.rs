//! The program `gambeson-slim-bridge`, which `gambeson channel bridge` starts.

use clap::Parser;
use gambeson_cli::Error;
use gambeson_cli::slim_bridge::{BridgeProgram, Opened, channel_failed, far_end, far_end_json, outside, run};
use gambeson_slim_bridge::{Bridge, StockAgent, StockSession};
use serde_json::json;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(run(&BridgeProgram::parse(), bridge).code())
}

/// Bridges the channel until the user, the system or the session ends it.
async fn bridge(opened: &Opened<'_>) -> Result<(), Error> {
    let agent = connect(opened).await?;
    let session = tokio::select! {
        session = session(opened, &agent) => session?,
        () = opened.ended() => return Ok(()),
    };
    let bridge = Bridge::start(opened.channel.clone(), session).await.map_err(failed)?;
    let (id, end) = (opened.channel.id().to_string(), bridge.far_end());
    opened.report(
        format_args!("between {id} and a session of SLIM: {}; Ctrl-C ends it", far_end(&end)),
        json!({"type": "bridge", "says": "open", "channel": id, "farEnd": far_end_json(&end)}),
    )?;
    let by_itself = tokio::select! {
        reason = bridge.ended() => Some(reason),
        () = opened.ended() => None,
    };
    let reason = match by_itself {
        Some(reason) => reason,
        None => {
            bridge.stop().await;
            "it was stopped".to_owned()
        }
    };
    opened.report(
        format_args!("the bridge is closed: {reason}"),
        json!({"type": "bridge", "says": "closed", "channel": id, "reason": reason}),
    )
}

/// An agent among stock clients, at the first of the nodes that answers.
async fn connect(opened: &Opened<'_>) -> Result<StockAgent, Error> {
    let mut last = None;
    for node in &opened.nodes {
        match StockAgent::connect(node, &opened.options.name, &opened.secret).await {
            Err(error @ gambeson_slim_bridge::Error::NoNode(_)) => last = Some(error),
            other => return other.map_err(failed),
        }
    }
    Err(last.map_or_else(|| outside("no node is named"), failed))
}

/// The session: opened here, or the one that a stock moderator invites to.
async fn session(opened: &Opened<'_>, agent: &StockAgent) -> Result<StockSession, Error> {
    let options = opened.options;
    if !options.invite.is_empty() {
        return agent.create(&options.stock_session, &options.invite).await.map_err(failed);
    }
    let (name, wanted) = (options.name.to_string(), options.stock_session.to_string());
    opened.report(
        format_args!("{name} waits to be invited to {wanted}"),
        json!({"type": "bridge", "says": "waiting", "name": name, "session": wanted}),
    )?;
    agent.accept(|session, _| session.to_string() == wanted).await.map_err(failed)
}

/// An error of the bridge as one of the program. Those of a channel say what to do next.
fn failed(error: gambeson_slim_bridge::Error) -> Error {
    match error {
        gambeson_slim_bridge::Error::Channel(error) => channel_failed(error),
        gambeson_slim_bridge::Error::NoNode(_) => {
            outside(format!("{error} (gambeson slim doctor checks the nodes and the delivery service)"))
        }
        other => outside(other.to_string()),
    }
}
