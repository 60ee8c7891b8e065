//! What happens in a channel.

use bytes::Bytes;

use crate::bridge_news::BridgeNews;
use crate::content::{MessageId, Purpose};
use crate::wire::{Malformed, Reader, Writer};

/// What the application is told, in the order in which it happened here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Its place in this member's history: grows by one, stays the same when the agent starts again, and goes on when it is invited again.
    pub position: u64,
    /// Milliseconds since 1970 by this member's clock.
    pub at: u64,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Somebody said something, this member itself included.
    Message {
        /// Which.
        id: MessageId,
        /// A message, a request or a reply.
        purpose: Purpose,
        /// What was said.
        bytes: Bytes,
    },
    /// A bridge to stock SLIM clients carries something in, or says how it stands. What is behind it is classical.
    Bridge {
        /// Which message, of the member that is the bridge.
        id: MessageId,
        /// What.
        news: BridgeNews,
    },
    /// Members came.
    Joined {
        /// Who, by DID.
        members: Vec<String>,
        /// Who let them in.
        by: String,
        /// In which epoch.
        epoch: u64,
    },
    /// Members went because they wanted to.
    Left {
        /// Who, by DID.
        members: Vec<String>,
        /// In which epoch.
        epoch: u64,
    },
    /// Members were removed. If this member is among them, it is the last event.
    Removed {
        /// Who, by DID.
        members: Vec<String>,
        /// By whom.
        by: String,
        /// In which epoch.
        epoch: u64,
    },
    /// There is a new policy.
    Policy {
        /// Who put it in.
        by: String,
        /// In which epoch.
        epoch: u64,
    },
    /// A member has new keys.
    Rotated {
        /// Who.
        by: String,
        /// In which epoch.
        epoch: u64,
    },
    /// A member came back by an external commit.
    Returned {
        /// Who.
        member: String,
        /// In which epoch.
        epoch: u64,
    },
    /// Something that nobody should overlook.
    Warning(Warning),
    /// The log shows others another channel than this member, or a member says so that lies. Nothing is sent any more, and nobody let in,
    /// until somebody decides: `Channel::rejoin` takes the log's side as it is shown here now. It is over, too, when all who signed for
    /// another state came back into this one or were removed.
    Fork(Fork),
}

/// What nobody should overlook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Messages of a sender will not come: the log does not have them.
    Missing {
        /// Whose.
        sender: String,
        /// How many bundles.
        bundles: u64,
    },
    /// What stood in the log between is pruned; messages of that time were not seen.
    Pruned {
        /// From this place on,
        from: u64,
        /// up to before this one.
        to: u64,
    },
    /// A commit was refused by every member that follows the rules.
    Refused {
        /// Its place in the log.
        place: u64,
        /// The reason's code and sentence.
        reason: String,
    },
    /// A member could not use a commit that others took.
    Complaint {
        /// Who says so.
        by: String,
        /// The commit's place.
        place: u64,
        /// What it says.
        reason: String,
    },
    /// Members have given no receipt for long.
    Silent {
        /// Who.
        members: Vec<String>,
    },
    /// The leaf of a member is one that its agent's newest card does not stand behind any more, and it was not renewed in time. Who may, removes it.
    Outdated {
        /// Whose.
        member: String,
        /// Why.
        reason: String,
    },
    /// A message could not be given to the log.
    Unsent {
        /// Why.
        reason: String,
    },
    /// A member says to be a bridge to classical SLIM clients, and the policy forbids that. What it carries in is not shown.
    ForbiddenBridge {
        /// Who.
        member: String,
    },
}

/// Two states of one channel at one epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// At which epoch.
    pub epoch: u64,
    /// The first 16 bytes of the epoch authenticator here.
    pub ours: [u8; 16],
    /// The other side's; where nobody signed, the id of the entry that the log shows now, or zeros if it shows none.
    pub theirs: [u8; 16],
    /// Who signed for the other side; `None` if the log itself shows another entry where one was read before.
    pub by: Option<String>,
}

impl Event {
    pub(crate) fn to_bytes(&self, at: u64) -> Vec<u8> {
        let head = |kind: u8| Writer::default().u64(at).u8(kind);
        match self {
            Self::Message { id, purpose, bytes } => {
                let to = id.write(head(1));
                let to = match purpose {
                    Purpose::Message => to.u8(0),
                    Purpose::Request => to.u8(1),
                    Purpose::Reply(of) => of.write(to.u8(2)),
                };
                to.bytes(bytes)
            }
            Self::Bridge { id, news } => id.write(head(15)).bytes(&news.to_bytes()),
            Self::Joined { members, by, epoch } => texts(head(2), members).text(by).u64(*epoch),
            Self::Left { members, epoch } => texts(head(3), members).u64(*epoch),
            Self::Removed { members, by, epoch } => texts(head(4), members).text(by).u64(*epoch),
            Self::Policy { by, epoch } => head(5).text(by).u64(*epoch),
            Self::Rotated { by, epoch } => head(6).text(by).u64(*epoch),
            Self::Returned { member, epoch } => head(7).text(member).u64(*epoch),
            Self::Warning(warning) => match warning {
                Warning::Missing { sender, bundles } => head(8).text(sender).u64(*bundles),
                Warning::Pruned { from, to } => head(9).u64(*from).u64(*to),
                Warning::Refused { place, reason } => head(10).u64(*place).text(reason),
                Warning::Complaint { by, place, reason } => head(11).text(by).u64(*place).text(reason),
                Warning::Silent { members } => texts(head(12), members),
                Warning::Unsent { reason } => head(13).text(reason),
                Warning::ForbiddenBridge { member } => head(16).text(member),
                Warning::Outdated { member, reason } => head(17).text(member).text(reason),
            },
            Self::Fork(fork) => {
                let to = head(14).u64(fork.epoch).put(&fork.ours).put(&fork.theirs);
                match &fork.by {
                    Some(by) => to.u8(1).text(by),
                    None => to.u8(0),
                }
            }
        }
        .finish()
    }
}

impl Occurrence {
    pub(crate) fn parse(position: u64, bytes: Bytes) -> Result<Self, Malformed> {
        let mut from = Reader::new(bytes);
        let (at, kind) = (from.u64()?, from.u8()?);
        let event = match kind {
            1 => {
                let id = MessageId::read(&mut from)?;
                let purpose = match from.u8()? {
                    0 => Purpose::Message,
                    1 => Purpose::Request,
                    2 => Purpose::Reply(MessageId::read(&mut from)?),
                    _ => return Err(Malformed),
                };
                Event::Message { id, purpose, bytes: from.bytes()? }
            }
            2 => Event::Joined { members: read_texts(&mut from)?, by: from.text()?, epoch: from.u64()? },
            3 => Event::Left { members: read_texts(&mut from)?, epoch: from.u64()? },
            4 => Event::Removed { members: read_texts(&mut from)?, by: from.text()?, epoch: from.u64()? },
            5 => Event::Policy { by: from.text()?, epoch: from.u64()? },
            6 => Event::Rotated { by: from.text()?, epoch: from.u64()? },
            7 => Event::Returned { member: from.text()?, epoch: from.u64()? },
            8 => Event::Warning(Warning::Missing { sender: from.text()?, bundles: from.u64()? }),
            9 => Event::Warning(Warning::Pruned { from: from.u64()?, to: from.u64()? }),
            10 => Event::Warning(Warning::Refused { place: from.u64()?, reason: from.text()? }),
            11 => Event::Warning(Warning::Complaint {
                by: from.text()?,
                place: from.u64()?,
                reason: from.text()?,
            }),
            12 => Event::Warning(Warning::Silent { members: read_texts(&mut from)? }),
            13 => Event::Warning(Warning::Unsent { reason: from.text()? }),
            16 => Event::Warning(Warning::ForbiddenBridge { member: from.text()? }),
            17 => Event::Warning(Warning::Outdated { member: from.text()?, reason: from.text()? }),
            15 => Event::Bridge { id: MessageId::read(&mut from)?, news: BridgeNews::parse(&from.bytes()?)? },
            14 => Event::Fork(Fork {
                epoch: from.u64()?,
                ours: from.array()?,
                theirs: from.array()?,
                by: if from.u8()? == 1 { Some(from.text()?) } else { None },
            }),
            _ => return Err(Malformed),
        };
        from.end()?;
        Ok(Self { position, at, event })
    }
}

fn texts(to: Writer, texts: &[String]) -> Writer {
    to.count(texts.len()).each(texts, |to, text| to.text(text))
}

fn read_texts(from: &mut Reader) -> Result<Vec<String>, Malformed> {
    (0..from.count(2)?).map(|_| from.text()).collect()
}
