//! What happens in a channel, for people and for programs.

use crate::args::channel::Export;
use crate::console::{Console, counted, report_line, rfc3339};
use crate::error::Error;
use crate::files::{self, Access};
use base64ct::{Base64, Encoding};
use gambeson_identity::Timestamp;
use gambeson_slim::{BridgeNews, ChannelId, Event, FarEnd, Occurrence, Purpose, Warning};
use serde_json::{Value, json as object};

/// Stands for an event that this program has no words for.
const UNNAMED: &str = "an event of another version";

/// Reports occurrences.
pub(super) fn history(console: Console, history: &[Occurrence]) -> Result<(), Error> {
    history.iter().try_for_each(|what| occurrence(console, what))
}

/// Writes occurrences into a file, one JSON object a line, and reports how many.
pub(super) fn export(
    console: Console,
    options: &Export,
    channel: ChannelId,
    history: &[Occurrence],
) -> Result<(), Error> {
    let lines: String = history.iter().map(|it| format!("{}\n", report_line(json(it)))).collect();
    files::write(&options.out, lines.as_bytes(), Access::Private, options.force)?;
    console.report(
        counted(history.len(), "event"),
        object!({"type": "events", "channel": channel.to_string(), "events": history.len()}),
    )
}

/// Tells of one occurrence.
pub(super) fn occurrence(console: Console, what: &Occurrence) -> Result<(), Error> {
    console.report(text(what), json(what))
}

/// One occurrence in a line.
pub(super) fn text(what: &Occurrence) -> String {
    let at = Timestamp(what.at / 1000);
    let said = match &what.event {
        Event::Message { id, bytes, .. } => match std::str::from_utf8(bytes) {
            Ok(text) => format!("{}: {}", short(&id.sender), text.trim_end_matches('\n')),
            Err(_) => format!("{}: {}, not text", short(&id.sender), counted(bytes.len(), "byte")),
        },
        Event::Bridge { id, news } => carried(&short(&id.sender), news),
        Event::Joined { members, by, epoch } => {
            format!("* epoch {epoch}: {} let in {}", short(by), shorts(members))
        }
        Event::Left { members, epoch } => format!("* epoch {epoch}: {} left", shorts(members)),
        Event::Removed { members, by, epoch } => {
            format!("* epoch {epoch}: {} removed {}", short(by), shorts(members))
        }
        Event::Policy { by, epoch } => format!("* epoch {epoch}: {} changed the rules", short(by)),
        Event::Rotated { by, epoch } => format!("* epoch {epoch}: {} has new keys", short(by)),
        Event::Returned { member, epoch } => format!("* epoch {epoch}: {} came back", short(member)),
        Event::Warning(warning) => format!("! {}", warned(warning)),
        Event::Fork(fork) => format!(
            "! FORK at epoch {}: here {}, there {}{}; nothing is sent until one side is chosen (gambeson \
                 channel rejoin)",
            fork.epoch,
            hex(&fork.ours),
            hex(&fork.theirs),
            fork.by.as_deref().map_or_else(String::new, |by| format!(", says {}", short(by))),
        ),
        _ => format!("* {UNNAMED}"),
    };
    format!("{at} {said}")
}

/// What a bridge says, in a line.
fn carried(bridge: &str, news: &BridgeNews) -> String {
    match news {
        BridgeNews::Open(end) => format!("* {bridge}: {}", far_end(end)),
        BridgeNews::Said(said) => match std::str::from_utf8(&said.bytes) {
            Ok(text) => {
                format!("{} (classical, carried by {bridge}): {}", said.from, text.trim_end_matches('\n'))
            }
            Err(_) => format!(
                "{} (classical, carried by {bridge}): {} of {}",
                said.from,
                counted(said.bytes.len(), "byte"),
                said.kind
            ),
        },
        BridgeNews::Missed(reason) => format!("! {bridge} did not carry a message: {reason}"),
        BridgeNews::Closed(reason) => format!("* {bridge} is no longer a bridge: {reason}"),
    }
}

/// What is behind a bridge, and who reads it there.
pub fn far_end(end: &FarEnd) -> String {
    let readers = if end.encrypted { "under SLIM's own MLS" } else { "in the clear for SLIM's nodes" };
    let clients = counted(end.clients.len(), "client");
    format!("far end is classical, {readers}: {clients} in {}", end.session)
}

/// The same for programs.
pub fn far_end_json(end: &FarEnd) -> Value {
    object!({"classical": true, "session": end.session, "encrypted": end.encrypted, "clients": end.clients})
}

/// A warning in a sentence.
pub(super) fn warned(warning: &Warning) -> String {
    match warning {
        Warning::Missing { sender, bundles } => {
            format!("{} of {} are lost: not in the log", counted(*bundles, "message"), short(sender))
        }
        Warning::Pruned { from, to } => {
            format!("the log was pruned from place {from} to {to}: messages there were not received")
        }
        Warning::Refused { place, reason } => format!("the commit at {place} was refused: {reason}"),
        Warning::Complaint { by, place, reason } => {
            format!("{} could not use the commit at {place}: {reason}", short(by))
        }
        Warning::Silent { members } => format!("no receipts for a long time: {}", shorts(members)),
        Warning::Unsent { reason } => format!("a message could not be sent to the log: {reason}"),
        Warning::Outdated { reason, .. } => format!("a member did not renew its card: {reason}"),
        Warning::ForbiddenBridge { member } => {
            format!("{} claims to be a bridge, which the channel's policy forbids", short(member))
        }
        _ => UNNAMED.to_owned(),
    }
}

/// One occurrence for programs.
pub(super) fn json(what: &Occurrence) -> Value {
    let mut value = match &what.event {
        Event::Message { id, purpose, bytes } => {
            let (kind, of) = match purpose {
                Purpose::Message => ("message", None),
                Purpose::Request => ("request", None),
                Purpose::Reply(of) => ("reply", Some(of.to_string())),
            };
            let mut value = object!({"type": kind, "id": id.to_string(), "sender": id.sender});
            put(&mut value, bytes);
            if let Some(of) = of {
                value["of"] = of.into();
            }
            value
        }
        Event::Bridge { id, news } => {
            let mut value =
                object!({"type": "bridge", "id": id.to_string(), "by": id.sender, "classical": true});
            match news {
                BridgeNews::Open(end) => {
                    value["says"] = "open".into();
                    value["farEnd"] = far_end_json(end);
                }
                BridgeNews::Said(said) => {
                    value["says"] = "said".into();
                    value["speaker"] = said.from.as_str().into();
                    value["mediaType"] = said.kind.as_str().into();
                    put(&mut value, &said.bytes);
                }
                BridgeNews::Missed(reason) => {
                    value["says"] = "missed".into();
                    value["reason"] = reason.as_str().into();
                }
                BridgeNews::Closed(reason) => {
                    value["says"] = "closed".into();
                    value["reason"] = reason.as_str().into();
                }
            }
            value
        }
        Event::Joined { members, by, epoch } => {
            object!({"type": "joined", "members": members, "by": by, "epoch": epoch})
        }
        Event::Left { members, epoch } => object!({"type": "left", "members": members, "epoch": epoch}),
        Event::Removed { members, by, epoch } => {
            object!({"type": "removed", "members": members, "by": by, "epoch": epoch})
        }
        Event::Policy { by, epoch } => object!({"type": "policy", "by": by, "epoch": epoch}),
        Event::Rotated { by, epoch } => object!({"type": "rotated", "by": by, "epoch": epoch}),
        Event::Returned { member, epoch } => {
            object!({"type": "returned", "member": member, "epoch": epoch})
        }
        Event::Warning(warning) => object!({"type": "warning", "detail": warned(warning)}),
        Event::Fork(fork) => object!({
            "type": "fork", "epoch": fork.epoch, "ours": hex(&fork.ours), "theirs": hex(&fork.theirs), "by": fork.by,
        }),
        _ => object!({"type": "other", "detail": UNNAMED}),
    };
    value["position"] = what.position.into();
    value["time"] = rfc3339(what.at).into();
    value
}

/// What somebody said: as text, if it is text.
fn put(value: &mut Value, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => value["text"] = text.into(),
        Err(_) => value["base64"] = Base64::encode_string(bytes).into(),
    }
}

/// A DID as a person tells it from another: its method and its last digits.
pub(super) fn short(did: &str) -> String {
    const ENDS: usize = 10;
    let count = did.chars().count();
    if count <= 2 * ENDS {
        return did.to_owned();
    }
    let (head, tail) = (did.chars().take(ENDS), did.chars().skip(count - ENDS));
    head.chain(['…']).chain(tail).collect()
}

fn shorts(dids: &[String]) -> String {
    dids.iter().map(|did| short(did)).collect::<Vec<_>>().join(", ")
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A suite's name.
pub(super) fn suite(number: u16) -> String {
    gambeson_mls::Suite::by_number(number)
        .map_or_else(|| format!("suite 0x{number:04x}"), |suite| suite.name().to_owned())
}
