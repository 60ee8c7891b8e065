//! `channel create`, `channel policy`.

use super::open::Open;
use crate::args::channel::{Create, PolicyOf, Rights, RoleName};
use crate::console::Console;
use crate::error::{Error, Status};
use crate::slim::failed;
use gambeson_slim::{Policy, Refusal, Role};
use serde_json::{Value, json};

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Listener => Self::Listener,
            RoleName::Member => Self::Member,
            RoleName::Moderator => Self::Moderator,
            RoleName::Owner => Self::Owner,
        }
    }
}

fn give(policy: &mut Policy, rights: &Rights) {
    policy.add = rights.may_add.map_or(policy.add, Into::into);
    policy.remove = rights.may_remove.map_or(policy.remove, Into::into);
    policy.remove_owner = rights.may_remove_owner.map_or(policy.remove_owner, Into::into);
    policy.rotate = rights.may_rotate.map_or(policy.rotate, Into::into);
    policy.change = rights.may_change.map_or(policy.change, Into::into);
    policy.delegate = rights.delegate.unwrap_or(policy.delegate);
    policy.rejoin = rights.rejoin.unwrap_or(policy.rejoin);
    policy.max_message = rights.max_message.unwrap_or(policy.max_message);
}

pub(super) async fn create(open: &Open, options: &Create) -> Result<Status, Error> {
    let mut policy = open.node.policy().map_err(failed)?;
    for did in &options.moderator {
        policy.roles.entry(did.clone()).or_insert(Role::Moderator);
    }
    policy.others = options.others.into();
    policy.rotate_hours = options.rotate;
    policy.rotate_messages = options.rotate_messages;
    policy.retention = options.retention;
    policy.bridge = options.bridge;
    give(&mut policy, &options.rights);
    let signed = policy.sign(open.node.me().agent()).map_err(wrong)?;
    let channel = open.node.create(signed).await.map_err(failed)?;
    let id = channel.id().to_string();
    open.session.console.report(&id, json!({"type": "channel", "channel": id}))?;
    Ok(Status::Done)
}

pub(super) async fn policy(open: &Open, options: &PolicyOf) -> Result<Status, Error> {
    let channel = open.current(&options.which).await?;
    let rules = channel.status().policy.ok_or_else(|| failed(gambeson_slim::Error::Over))?;
    let mut next = rules.next(open.session.now);
    for (did, role) in &options.set {
        next.roles.insert(did.clone(), (*role).into());
    }
    next.others = options.others.map_or(next.others, Into::into);
    next.bridge = options.bridge.unwrap_or(next.bridge);
    next.rotate_hours = options.rotate.unwrap_or(next.rotate_hours);
    next.rotate_messages = options.rotate_messages.unwrap_or(next.rotate_messages);
    next.retention = options.retention.unwrap_or(next.retention);
    give(&mut next, &options.rights);
    let same = Policy { version: rules.version, former: rules.former, issued: rules.issued, ..next.clone() }
        == rules;
    if same {
        return show(open.session.console, &rules);
    }
    let signed = next.sign(open.node.me().agent()).map_err(wrong)?;
    channel.change(signed).await.map_err(failed)?;
    show(open.session.console, &next)
}

/// Reports a policy.
pub(super) fn show(console: Console, policy: &Policy) -> Result<Status, Error> {
    // It is canonical JSON by its own account.
    let value: Value = serde_json::from_slice(&policy.to_bytes()).unwrap_or_default();
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    console.report_lines(text.lines(), json!({"type": "channel-policy", "policy": value}))?;
    Ok(Status::Done)
}

fn wrong(refusal: Refusal) -> Error {
    Error::usage(refusal.to_string())
}
