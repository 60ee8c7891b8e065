//! `channel bridge`.

use super::open::Open;
use crate::args::channel::Bridge as Options;
use crate::error::{Error, Status};

#[cfg(not(feature = "bridge"))]
pub(super) async fn bridge(_: &Open, _: &Options, _: &[String]) -> Result<Status, Error> {
    let how = "this gambeson was built without bridges, which stand on SLIM's own session layer; \
               in a clone of the repository, cargo install --locked --path crates/cli --features bridge builds one that has them";
    Err(Error::outside(how).because("without-bridge"))
}

#[cfg(feature = "bridge")]
pub(super) use carrying::bridge;

#[cfg(feature = "bridge")]
mod carrying {
    use super::super::tell;
    use super::{Error, Open, Options, Status};
    use crate::files;
    use crate::slim::failed;
    use crate::unfinished::Unfinished;
    use gambeson_slim::bridge::{Bridge, StockAgent, StockSession};
    use serde_json::json;
    use std::path::Path;
    use tokio::sync::watch;
    use zeroize::Zeroizing;

    /// How many bytes the shared secret may have.
    const MAX_SECRET: usize = 4096;

    pub(in super::super) async fn bridge(
        open: &Open,
        options: &Options,
        nodes: &[String],
    ) -> Result<Status, Error> {
        let channel = open.current(&options.which).await?;
        if !channel.status().bridging {
            let next = "an owner runs gambeson channel policy --bridge yes";
            return Err(Error::usage(format!("the channel's policy does not allow bridges; {next}"))
                .because("not-bridged"));
        }
        let secret = secret(&options.secret)?;
        let ending = watch::Sender::new(false);
        let told = ending.clone();
        let _signals = Unfinished::service(move || {
            told.send_replace(true);
        });
        let mut ended = ending.subscribe();

        let agent = connect(nodes, options, &secret).await?;
        let session = tokio::select! {
            session = session(open, options, &agent) => session?,
            _ = ended.wait_for(|ended| *ended) => return Ok(Status::Done),
        };
        let bridge = Bridge::start(channel.clone(), session).await.map_err(failed)?;
        let (id, end) = (channel.id().to_string(), bridge.far_end());
        let console = open.session.console;
        console.report(
            format_args!("between {id} and a session of SLIM: {}; Ctrl-C ends it", tell::far_end(&end)),
            json!({"event": "bridge", "says": "open", "channel": id, "end": tell::far_end_json(&end)}),
        )?;
        let by_itself = tokio::select! {
            reason = bridge.ended() => Some(reason),
            _ = ended.wait_for(|ended| *ended) => None,
        };
        let reason = match by_itself {
            Some(reason) => reason,
            None => {
                bridge.stop().await;
                "it was stopped".to_owned()
            }
        };
        console.report(
            format_args!("the bridge is closed: {reason}"),
            json!({"event": "bridge", "says": "closed", "channel": id, "reason": reason}),
        )?;
        Ok(Status::Done)
    }

    /// What stock clients share: the first line of a file.
    fn secret(path: &Path) -> Result<Zeroizing<String>, Error> {
        let bytes = files::read_at_most(path, MAX_SECRET)?;
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let text = std::str::from_utf8(line)
            .map_err(|_| Error::outside(format!("{}: is not text", path.display())))?;
        Ok(Zeroizing::new(text.trim_end_matches('\r').to_owned()))
    }

    /// An agent among stock clients, at the first of these nodes that answers.
    async fn connect(nodes: &[String], options: &Options, secret: &str) -> Result<StockAgent, Error> {
        let mut last = None;
        for node in nodes {
            match StockAgent::connect(node, &options.name, secret).await {
                Err(error @ gambeson_slim::Error::NoNode(_)) => last = Some(error),
                other => return other.map_err(failed),
            }
        }
        Err(last.map_or_else(|| Error::usage("no node is named"), failed))
    }

    /// The session: opened here, or the one that a stock moderator invites to.
    async fn session(open: &Open, options: &Options, agent: &StockAgent) -> Result<StockSession, Error> {
        if !options.invite.is_empty() {
            return agent.create(&options.stock_session, &options.invite).await.map_err(failed);
        }
        let (name, wanted) = (options.name.to_string(), options.stock_session.to_string());
        open.session.console.report(
            format_args!("{name} waits to be invited to {wanted}"),
            json!({"event": "bridge", "says": "waiting", "name": name, "session": wanted}),
        )?;
        let invited = agent.accept(|session, _| session.to_string() == wanted);
        invited.await.map_err(failed)
    }
}
