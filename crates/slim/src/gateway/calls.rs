//! What calls do.

use std::sync::Arc;
use std::time::Duration;

use base64ct::{Base64, Encoding};
use gambeson_identity::Did;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::Agent;
use super::connection::waiting_invitations;
use super::protocol::{self, Do, Failure, Join};
use super::session::Out;
use crate::channel::Channel;
use crate::error::Error;
use crate::hold;
use crate::name::ChannelId;
use crate::node::Invitation;

/// Does what a client asks.
pub(super) async fn perform(agent: &Arc<Agent>, what: Do) -> Result<Value, Failure> {
    let on = |id: ChannelId| channel(agent, id);
    match what {
        Do::Channels(_) => {
            let channels = agent.node.channels();
            Ok(channels.iter().map(|channel| channel.id().to_string()).collect())
        }
        Do::Create(_) => {
            let policy = agent.node.policy().map_err(failed)?;
            let signed = policy.sign(agent.node.me().agent()).map_err(|refusal| failed(refusal.into()))?;
            let created = agent.node.create(signed).await.map_err(failed)?;
            Ok(json!({ "channel": created.id().to_string() }))
        }
        Do::Invitations(_) => {
            let waiting = waiting_invitations(agent);
            Ok(waiting.iter().map(|(_, channel, inviter)| protocol::invitation(*channel, inviter)).collect())
        }
        Do::Join(join) => joined(agent, &join).await,
        Do::Invite(whom) => done(on(whom.channel)?.invite(&dids(&whom.dids)?).await),
        Do::Remove(whom) => done(on(whom.channel)?.remove(&dids(&whom.dids)?).await),
        Do::Send(send) => said(on(send.channel)?.send(send.bytes).await),
        Do::Reply(reply) => said(on(reply.channel)?.reply(&reply.to.into(), reply.bytes).await),
        Do::Request(request) => {
            let wait = Duration::from_millis(request.wait);
            let (id, bytes) = on(request.channel)?.request(request.bytes, wait).await.map_err(failed)?;
            let id_value = protocol::message_id(&id);
            Ok(json!({ "from": id.sender, "id": id_value, "bytes": Base64::encode_string(&bytes) }))
        }
        Do::Members(of) => Ok(on(of.channel)?.status().members.iter().map(protocol::member).collect()),
        Do::Status(of) => Ok(protocol::status(&on(of.channel)?.status())),
        Do::Rotate(of) => done(on(of.channel)?.rotate().await),
        Do::Rejoin(of) => done(on(of.channel)?.rejoin().await),
        Do::Leave(of) => done(on(of.channel)?.leave().await),
        Do::Close(of) => done(on(of.channel)?.close().await),
    }
}

/// A channel that the agent is in.
pub(super) fn channel(agent: &Agent, id: ChannelId) -> Result<Channel, Failure> {
    let unknown = || {
        Failure::new("unknown-channel", format!("the agent is not a member of channel {id}; join it first"))
    };
    agent.node.channel(&id).ok_or_else(unknown)
}

fn dids(texts: &[String]) -> Result<Vec<Did>, Failure> {
    let did =
        |text: &String| text.parse().map_err(|_| Failure::new("bad-did", format!("{text:?} is not a DID")));
    texts.iter().map(did).collect()
}

async fn joined(agent: &Arc<Agent>, join: &Join) -> Result<Value, Failure> {
    let id = join.channel;
    let late = |_| {
        Failure::new(
            "no-invitation",
            format!("no invitation to channel {id} was received within {} ms", join.wait),
        )
    };
    let wait = Duration::from_millis(join.wait);
    if let Some(invitation) = timeout(wait, invitation_to(agent, id)).await.map_err(late)? {
        // A task of its own: a call that is given up must not take the invitation with it.
        let accepting = tokio::spawn(accepted(Arc::clone(agent), invitation));
        accepting.await.unwrap_or(Err(Error::WorkLost)).map_err(failed)?;
    }
    Ok(json!({ "channel": id.to_string() }))
}

/// Takes the invitation to a channel when it is there; `None` once the agent is in the channel without it.
async fn invitation_to(agent: &Agent, id: ChannelId) -> Option<Invitation> {
    loop {
        let invited = agent.invited.notified();
        tokio::pin!(invited);
        // What comes between the look and the wait is not missed.
        invited.as_mut().enable();
        if agent.node.channel(&id).is_some() {
            return None;
        }
        let invitation = hold(&agent.invitations).take(id);
        if invitation.is_some() {
            return invitation;
        }
        tokio::select! {
            () = invited => {}
            _ = agent.node.joined(&id) => return None,
        }
    }
}

/// Accepts an invitation. One that nobody refused may be good later, and waits again.
async fn accepted(agent: Arc<Agent>, invitation: Invitation) -> Result<(), Error> {
    let accepting = agent.while_here(agent.node.accept(invitation.clone()));
    let done = accepting.await.unwrap_or(Err(Error::WorkLost)).map(drop);
    if let Err(error) = &done
        && !matches!(error, Error::Refused(_))
    {
        hold(&agent.invitations).put_back(invitation);
        agent.invited.notify_waiters();
    }
    done
}

/// Tells a client of the invitations that wait, and of those that come.
pub(super) async fn announce_invitations(agent: Arc<Agent>, out: Out) {
    // By their numbers: a channel that was joined and left may be invited to again.
    let mut told = 0;
    loop {
        let invited = agent.invited.notified();
        tokio::pin!(invited);
        invited.as_mut().enable();
        for (number, channel, inviter) in waiting_invitations(&agent) {
            if number <= told {
                continue;
            }
            told = number;
            let frame = json!({ "invitation": protocol::invitation(channel, &inviter) }).to_string();
            if out.send(frame.into()).await.is_err() {
                return;
            }
        }
        invited.await;
    }
}

fn done(result: crate::error::Result<()>) -> Result<Value, Failure> {
    result.map(|()| Value::Null).map_err(failed)
}

fn said(result: crate::error::Result<crate::content::MessageId>) -> Result<Value, Failure> {
    result.map(|id| protocol::message_id(&id)).map_err(failed)
}

/// A failure with its code: of a refusal, its reason's.
pub(super) fn failed(error: Error) -> Failure {
    let code = match &error {
        Error::Refused(refusal) => refusal.reason().code(),
        Error::TooLarge(_) | Error::MessageTooLarge(_) => "too-large",
        Error::Over => "over",
        Error::Forked => "forked",
        Error::NoReply(_) => "no-reply",
        Error::NoKeyPackage(_) => "no-key-package",
        Error::NoCard(_) => "no-card",
        Error::NoCheckpoint => "no-checkpoint",
        Error::Store(_) | Error::BadStore => "bad-store",
        Error::Full(_) => "full",
        Error::LinkClosed
        | Error::LinkBusy(_)
        | Error::NoNode(_)
        | Error::Deadline(_)
        | Error::Service(_) => "unreachable",
        _ => "failed",
    };
    Failure::new(code, error.to_string())
}
