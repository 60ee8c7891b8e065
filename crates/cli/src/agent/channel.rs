//! The commands `channel …`: an agent's channels, which one program at a time has open.
//!
//! * `tell`: what happens in a channel, for people and for programs
//! * `speak`: `send`, `tail`
//! * `rules`: `create`, `policy`
//! * `stored`: commands that read the agent's store and need no node
//! * `bridge`: starts `gambeson-slim-bridge`, and offers that program what it shares with this one
//! * `top`: the dashboard

pub mod bridge;
mod rules;
mod speak;
mod stored;
mod tell;
mod top;

use crate::args::channel::Channel as Options;
use crate::console::Console;
use crate::error::{Error, Status};

use open::{FAREWELL, bridging};
pub(crate) use open::{agent as opened, channel};

mod open {
    use super::super::Session;
    use super::super::delegating::links;
    use super::{Console, Error, Options, Status, bridge, rules, speak, stored, tell, top};
    use crate::args::agent::Who;
    use crate::args::channel::{BridgeProgram, ChannelCommand, Invite, Join, Others, Which};
    use crate::args::slim::SlimUp;
    use crate::console::{counted, rfc3339, write_to_stderr};
    use crate::slim::{failed, link, runtime, service};
    use gambeson_identity::text::one_line;
    use gambeson_identity::{CardLog, Did};
    use gambeson_mls::Preset;
    use gambeson_slim::datapath::NodeOptions;
    use gambeson_slim::delivery::{Client, Patience};
    use gambeson_slim::{
        Admit, Cards, Channel, FileStore, Me, Node, Options as Behaviour, Services, leaf_keys,
    };
    use serde_json::json;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::time::{sleep, timeout};

    /// So many DIDs can be known at once.
    const CARDS: usize = 100_000;
    /// What has been said goes out over the link in this time; it stands in the log before.
    pub(super) const FAREWELL: Duration = Duration::from_millis(300);
    /// Who does not say whose invitation to accept is told of those that come in this time after the first: what waits is given one by one.
    const MOMENT: Duration = Duration::from_millis(500);

    pub(crate) fn channel(console: Console, options: &Options) -> Result<Status, Error> {
        if let ChannelCommand::Bridge(bridge) = &options.command {
            return bridge::start(console, options, bridge);
        }
        let session = Session::new(console, &options.who)?;
        let admit = match &options.command {
            ChannelCommand::Join(join) if !join.from.is_empty() => {
                Admit::From(join.from.iter().cloned().collect())
            }
            _ => Admit::Ask,
        };
        let runtime = runtime()?;
        let done = runtime.block_on(async {
            if let Some(status) = stored::run(&session, &options.command).await? {
                return Ok(status);
            }
            let behaviour = Behaviour { admit, causal: options.causal, ..Behaviour::default() };
            let node = open(&session, &options.nodes.options()?, behaviour).await?;
            let open = Open { session, node };
            let status = open.run(&options.command).await?;
            sleep(FAREWELL).await;
            Ok(status)
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
        done
    }

    /// The channels of the agent in a folder, which other programs then do not open: for the gateway. Its invitations wait for a decision.
    pub(crate) async fn agent(
        console: Console,
        home: Option<PathBuf>,
        options: &SlimUp,
        nodes: &[String],
    ) -> Result<(PathBuf, Node), Error> {
        let passphrase_fd = options.passphrase_fd;
        let who = Who { home, passphrase_fd, web: false, web_roots: None, at: None };
        let session = Session::new(console, &who)?;
        let bundle = Duration::from_millis(options.bundle);
        let behaviour = Behaviour { causal: options.causal, bundle, ..Behaviour::default() };
        let nodes: Vec<NodeOptions> = nodes.iter().map(NodeOptions::from).collect();
        let node = open(&session, &nodes, behaviour).await?;
        Ok((session.home.folder().to_path_buf(), node))
    }

    /// The agent of a bridge, with the channels open, and the one that it bridges.
    pub(super) async fn bridging(
        console: Console,
        options: &BridgeProgram,
    ) -> Result<(Open, Channel), Error> {
        let session = Session::new(console, &options.who)?;
        let behaviour = Behaviour { causal: options.causal, ..Behaviour::default() };
        let node = open(&session, &options.nodes.options()?, behaviour).await?;
        let open = Open { session, node };
        let channel = open.current(&options.bridge.which).await?;
        Ok((open, channel))
    }

    /// Opens an agent's channels over the first of these nodes that answers.
    async fn open(session: &Session, nodes: &[NodeOptions], behaviour: Behaviour) -> Result<Node, Error> {
        let ((me, log), store) = (me(session)?, store(session)?);
        let client = Client::new(link(nodes).await?, service(), Patience::default()).await.map_err(failed)?;
        client.ping().await.map_err(|error| {
            let next = "a node answers, but no delivery service runs on it: gambeson slim up starts one";
            Error::outside(format!("{error} ({next})")).because("no-delivery-service")
        })?;
        let services = Services::of(Arc::new(client));
        let (cards, carrier) = (Arc::new(Cards::new(CARDS)), Arc::new(link(nodes).await?));
        let node = Node::open(me, &log, cards, carrier, services, Arc::new(store), behaviour).await;
        node.map_err(failed)
    }

    /// Unlocks the agent. Returns it with the log of its cards.
    pub(super) fn me(session: &Session) -> Result<(Me, CardLog), Error> {
        let (agent, log) = session.unlock()?;
        if log.newest().content().groups.is_empty() {
            let next = "gambeson agent rotate --channels makes a card that does";
            return Err(Error::usage(format!("the agent's card lists no keys for channels; {next}")));
        }
        let me = Me::new(Arc::new(agent), &log, preset(&log)).map_err(failed)?;
        Ok((me, log))
    }

    /// Opens the store of the agent's channels.
    fn store(session: &Session) -> Result<FileStore, Error> {
        opened_store(session, |path| FileStore::open(path))
    }

    /// Opens the store of the agent's channels to read it alone.
    pub(super) fn store_to_read(session: &Session) -> Result<FileStore, Error> {
        opened_store(session, |path| FileStore::open_read_only(path))
    }

    fn opened_store(
        session: &Session,
        open: impl FnOnce(&Path) -> gambeson_slim::Result<FileStore>,
    ) -> Result<FileStore, Error> {
        let path = session.home.folder().join("channels.redb");
        open(&path).map_err(|error| {
            let (next, reason) = match error {
                gambeson_slim::Error::BadStore => ("replace it with a copy", "bad-store"),
                _ => (
                    "another program has this agent's channels open: end it (channel tail --talk also sends)",
                    "channels-open",
                ),
            };
            Error::outside(format!("{}: {error}; {next}", path.display())).because(reason)
        })
    }

    /// Chooses the channel that was asked for.
    pub(super) fn choose<T>(
        channels: Vec<T>,
        which: &Which,
        id_of: impl Fn(&T) -> String,
    ) -> Result<T, Error> {
        let asked = which.channel.as_deref().unwrap_or_default().to_ascii_lowercase();
        let mut found = channels.into_iter().filter(|channel| id_of(channel).starts_with(&asked));
        match (found.next(), found.next()) {
            (Some(channel), None) => Ok(channel),
            (None, _) if asked.is_empty() => Err(Error::usage(
                "the agent is in no channel; gambeson channel create makes one, and join accepts an invitation",
            )
            .because("no-channel")),
            (None, _) => Err(Error::usage(format!(
                "the agent is in no channel {asked}; gambeson channel list lists its channels"
            ))
            .because("no-channel")),
            _ => Err(Error::usage(
                "the agent is in several channels: name one with --channel; gambeson channel list lists them",
            )
            .because("several-channels")),
        }
    }

    /// The preset whose keys the card lists, and no other: `agent init --channels` chose it.
    fn preset(log: &CardLog) -> Preset {
        const CHOICES: [Preset; 4] = [Preset::Hybrid, Preset::Approved, Preset::Cnsa2, Preset::Classical];
        let listed = log.newest().content().groups;
        CHOICES.into_iter().find(|preset| leaf_keys(*preset) == listed).unwrap_or_default()
    }

    /// An agent whose channels are open.
    pub(super) struct Open {
        pub(super) session: Session,
        pub(super) node: Node,
    }

    impl Open {
        async fn run(&self, command: &ChannelCommand) -> Result<Status, Error> {
            match command {
                ChannelCommand::Create(options) => rules::create(self, options).await,
                ChannelCommand::Policy(options) => rules::policy(self, options).await,
                ChannelCommand::Invite(options) => self.invite(options).await,
                ChannelCommand::Join(options) => self.join(options).await,
                ChannelCommand::Send(options) => speak::send(self, options).await,
                ChannelCommand::Tail(options) => speak::tail(self, options).await,
                ChannelCommand::Members(options) => self.members(&options.which).await,
                ChannelCommand::Rejoin(which) => self.rejoin(which).await,
                ChannelCommand::Leave(which) => self.leave(which).await,
                ChannelCommand::Close(which) => self.close(which).await,
                ChannelCommand::Remove(options) => self.remove(options).await,
                ChannelCommand::Rotate(which) => self.rotate(which).await,
                ChannelCommand::History(options) => {
                    let channel = self.current(&options.read.which).await?;
                    let history = channel.history(options.from, options.limit).await.map_err(failed)?;
                    tell::history(self.session.console, &history)?;
                    Ok(Status::Done)
                }
                ChannelCommand::Verify(which) => self.verify(which).await,
                ChannelCommand::Export(options) => {
                    let channel = self.current(&options.read.which).await?;
                    let history = channel.history(0, usize::MAX).await.map_err(failed)?;
                    tell::export(self.session.console, options, channel.id(), &history)?;
                    Ok(Status::Done)
                }
                ChannelCommand::List => unreachable!("`stored` runs it"),
                ChannelCommand::Bridge(_) => unreachable!("`channel` starts another program for it"),
                ChannelCommand::Top(which) => top::top(self.channel(which)?, self.node.did().as_str()).await,
            }
        }

        /// The channel that was asked for.
        pub(super) fn channel(&self, which: &Which) -> Result<Channel, Error> {
            choose(self.node.channels(), which, |channel| channel.id().to_string())
        }

        /// The same, when it has read its log to the end, or as far as it is the one that was read before.
        pub(super) async fn current(&self, which: &Which) -> Result<Channel, Error> {
            let channel = self.channel(which)?;
            match channel.catch_up().await {
                Ok(()) | Err(gambeson_slim::Error::Forked) => Ok(channel),
                Err(error) => Err(failed(error)),
            }
        }

        async fn invite(&self, options: &Invite) -> Result<Status, Error> {
            let delegation = options.delegation.as_deref().map(links).transpose()?.unwrap_or_default();
            let options = &options.others;
            let channel = self.current(&options.which).await?;
            let members = channel.members();
            let is_member = |did: &&Did| members.iter().any(|it| it == did.as_str());
            let (present, dids): (Vec<&Did>, Vec<&Did>) = options.dids.iter().partition(is_member);
            let dids: Vec<Did> = dids.into_iter().cloned().collect();
            for did in present {
                let already = format!("{did} is already a member of the channel");
                if dids.is_empty() {
                    return Err(Error::usage(already));
                }
                // An invitation of several that failed for some of them can be repeated as it was.
                crate::console::warn(already);
            }
            channel.invite_by(&dids, &delegation).await.map_err(|error| {
                let next = "an agent can be invited once it has run gambeson channel join";
                match error {
                    gambeson_slim::Error::NoKeyPackage(_) => {
                        Error::outside(format!("{error}; {next}")).because("no-key-package")
                    }
                    other => failed(other),
                }
            })?;
            self.changed(&channel, "invited", &dids)
        }

        async fn remove(&self, options: &Others) -> Result<Status, Error> {
            let channel = self.current(&options.which).await?;
            channel.remove(&options.dids).await.map_err(failed)?;
            self.changed(&channel, "removed", &options.dids)
        }

        fn changed(&self, channel: &Channel, what: &str, dids: &[Did]) -> Result<Status, Error> {
            let dids: Vec<&str> = dids.iter().map(Did::as_str).collect();
            let status = channel.status();
            self.session.console.report(
                format_args!("{what} in epoch {}: {}", status.epoch, dids.join(", ")),
                json!({"type": what, "channel": channel.id().to_string(), "epoch": status.epoch, "members": dids}),
            )?;
            Ok(Status::Done)
        }

        async fn join(&self, options: &Join) -> Result<Status, Error> {
            let before: Vec<_> = self.node.channels().iter().map(Channel::id).collect();
            let joined = async {
                loop {
                    let new =
                        self.node.channels().into_iter().find(|channel| !before.contains(&channel.id()));
                    if let Some(channel) = new {
                        return Ok(channel);
                    }
                    tokio::select! {
                        // Who waits for somebody's invitation is not stopped by another's.
                        invitation = self.node.invitation(), if options.from.is_empty() => {
                            return Err(invitation);
                        }
                        () = sleep(Duration::from_millis(50)) => {}
                    }
                }
            };
            let console = self.session.console;
            if !console.is_json() {
                write_to_stderr(format_args!("waiting for an invitation, at most {} s", options.wait));
            }
            match timeout(Duration::from_secs(options.wait), joined).await {
                Ok(Ok(channel)) => {
                    let (id, status) = (channel.id().to_string(), channel.status());
                    console.report(
                        format_args!(
                            "joined {id}: {}, epoch {}",
                            counted(status.members.len(), "member"),
                            status.epoch
                        ),
                        json!({"type": "channel", "channel": id, "members": channel.members(), "epoch": status.epoch}),
                    )?;
                    Ok(Status::Done)
                }
                Ok(Err(first)) => {
                    let mut waiting = vec![first];
                    let more = async {
                        loop {
                            waiting.push(self.node.invitation().await);
                        }
                    };
                    let _ = timeout(MOMENT, more).await;
                    for invitation in waiting {
                        let (id, from) = (invitation.channel.to_string(), one_line(&invitation.inviter));
                        console.report(
                            format_args!(
                                "{from} claims to invite to {id}; gambeson channel join --from {from} accepts"
                            ),
                            json!({"type": "invitation", "channel": id, "by": invitation.inviter}),
                        )?;
                    }
                    Ok(Status::NotVerified)
                }
                Err(_) => {
                    let problems: Vec<String> =
                        self.node.reports().into_iter().map(|(_, what)| what).collect();
                    let why = if problems.is_empty() {
                        String::new()
                    } else {
                        format!(" ({})", problems.join("; "))
                    };
                    let next = "the owner runs gambeson channel invite with this agent's DID: gambeson agent show --did";
                    Err(Error::not_verified(format!(
                        "no invitation came within {} s{why}; {next}",
                        options.wait
                    ))
                    .because("no-invitation"))
                }
            }
        }

        async fn members(&self, which: &Which) -> Result<Status, Error> {
            let channel = self.current(which).await?;
            let (status, me) = (channel.status(), self.node.did().as_str());
            for member in &status.members {
                let here = if member.did == me { " (this agent)" } else { "" };
                let bridge = member.bridge.as_ref();
                let far =
                    bridge.map_or_else(String::new, |end| format!(", a bridge: {}", tell::far_end(end)));
                self.session.console.report(
                    format_args!("{:<9} {}{here}{far}", member.role, member.did),
                    json!({"type": "member", "did": member.did, "role": member.role, "behind": member.behind,
                        "heardAt": (member.heard > 0).then(|| rfc3339(member.heard)), "bridge": bridge.map(tell::far_end_json)}),
                )?;
            }
            Ok(Status::Done)
        }

        async fn leave(&self, which: &Which) -> Result<Status, Error> {
            let channel = self.current(which).await?;
            channel.leave().await.map_err(failed)?;
            let id = channel.id().to_string();
            self.session
                .console
                .report(format_args!("left {id}"), json!({"type": "channel-left", "channel": id}))?;
            Ok(Status::Done)
        }

        async fn close(&self, which: &Which) -> Result<Status, Error> {
            let channel = self.current(which).await?;
            channel.close().await.map_err(failed)?;
            let id = channel.id().to_string();
            self.session
                .console
                .report(format_args!("closed {id}"), json!({"type": "channel-closed", "channel": id}))?;
            Ok(Status::Done)
        }

        async fn rotate(&self, which: &Which) -> Result<Status, Error> {
            let channel = self.current(which).await?;
            channel.rotate().await.map_err(failed)?;
            let epoch = channel.status().epoch;
            self.session.console.report(
                format_args!("new keys in epoch {epoch}"),
                json!({"type": "rotated", "channel": channel.id().to_string(), "epoch": epoch}),
            )?;
            Ok(Status::Done)
        }

        async fn rejoin(&self, which: &Which) -> Result<Status, Error> {
            let channel = self.channel(which)?;
            channel.rejoin().await.map_err(failed)?;
            let (id, epoch) = (channel.id().to_string(), channel.status().epoch);
            self.session.console.report(
                format_args!("rejoined {id} as the log shows it, epoch {epoch}"),
                json!({"type": "rejoined", "channel": id, "epoch": epoch}),
            )?;
            Ok(Status::Done)
        }

        async fn verify(&self, which: &Which) -> Result<Status, Error> {
            let channel = self.current(which).await?;
            let (id, status) = (channel.id().to_string(), channel.status());
            let suite = tell::suite(status.suite);
            let authenticator = tell::hex(&status.authenticator);
            let verdict = if status.forked {
                "FORKED: the log shows other members another channel, or a member lies; gambeson channel \
                     history shows both sides, rejoin takes the log's side, and remove removes a member that lies"
            } else {
                "no fork is known to this agent; members with the same authenticator are in the same channel"
            };
            let about = format!("epoch {}, {suite}, authenticator {authenticator}", status.epoch);
            self.session.console.report_lines(
                [&id, &about, verdict],
                json!({"type": "verdict", "channel": id, "epoch": status.epoch, "suite": suite, "authenticator": authenticator,
                    "members": channel.members(), "forked": status.forked, "verified": !status.forked}),
            )?;
            Ok(if status.forked { Status::NotVerified } else { Status::Done })
        }
    }
}
