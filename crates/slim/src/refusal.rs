//! Why something was refused: a code for programs, a sentence for people.

use std::fmt;

use gambeson_identity::Did;
use gambeson_identity::text::one_line;

use crate::credential::CardHash;

/// Lists the reasons with their codes.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Why a member refuses a commit, a message, a key package or an invitation. The codes never change their meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Whether every member refuses a commit for this: it follows from the commit, the group, its policy and the time in the log, whatever
            /// cards a member knows.
            pub(crate) fn is_for_all(self) -> bool {
                let those =
                    [Self::NotPermitted, Self::BadProposal, Self::OldPolicy, Self::NoRejoin, Self::ExpiredKeyPackage];
                those.contains(&self)
            }

            /// The code, in words with hyphens between them.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

reasons! {
    // Who somebody is.
    /// The credential is not a DID and the hash of a card.
    BadCredential = "bad-credential",
    /// The card is not the one that holds at that time: another came after it, or its time is over or has not come.
    StaleCard = "stale-card",
    /// The card does not list the key of the leaf for the algorithm of the suite.
    UnlistedKey = "unlisted-key",
    /// The key was revoked, or its time is over.
    RevokedKey = "revoked-key",
    /// Somebody takes the place of somebody else.
    OtherIdentity = "other-identity",

    // What somebody may do.
    /// The role of the committer does not allow it.
    NotPermitted = "not-permitted",
    /// A proposal of a kind that no commit may hold.
    BadProposal = "bad-proposal",
    /// Not a policy, not one of this channel, or one that nobody may change any more.
    BadPolicy = "bad-policy",
    /// The policy does not follow the one that holds.
    OldPolicy = "old-policy",
    /// Nobody who may change the policy signed it.
    BadPolicySignature = "bad-policy-signature",
    /// The policy lets nobody come back by itself.
    NoRejoin = "no-rejoin",
    /// What the committer shows does not give it the right to invite.
    BadDelegation = "bad-delegation",
    /// A listener spoke.
    Listener = "listener",
    /// More bytes than the policy allows.
    TooLong = "too-long",

    // What arrives.
    /// Not a message of MLS, or not one that belongs here.
    Malformed = "malformed",
    /// Of another channel.
    OtherChannel = "other-channel",
    /// A suite that the preset does not have, or another than the channel's.
    WrongSuite = "wrong-suite",
    /// The key package's time is over or has not come.
    ExpiredKeyPackage = "expired-key-package",
    /// The Welcome is for a key package that is not kept here: it was used, or is another's.
    UnknownKeyPackage = "unknown-key-package",
    /// Somebody with this DID or key is a member already, or is added twice.
    AlreadyMember = "already-member",
    /// Nobody with this DID is a member.
    NotMember = "not-member",
    /// Of an epoch that is over, or has not come.
    OtherEpoch = "other-epoch",
    /// The message was opened before.
    Replayed = "replayed",
    /// The message is more than 1,024 messages of its epoch ahead of what was opened of its sender.
    TooFarAhead = "too-far-ahead",
    /// The member's own message.
    Own = "own",
    /// This member was removed.
    Removed = "removed",
    /// A signature, a tag or a ciphertext does not hold.
    Forged = "forged",

    // What the caller does.
    /// More is to change than fits one commit.
    TooManyChanges = "too-many-changes",
    /// A commit is waiting to be confirmed or abandoned, or none is.
    Pending = "pending",
    /// The state must be written before more is sent.
    Unwritten = "unwritten",
    /// The state is not this agent's, or not whole.
    BadState = "bad-state",
    /// The agent has no key for this: its card lists none.
    NoKey = "no-key",
    /// MLS forbids it.
    Protocol = "protocol",
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Something was refused, and the state is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    reason: Reason,
    detail: Box<str>,
}

/// The longest sentence, in characters: what it quotes may come from anybody.
const MAX_DETAIL: usize = 256;

impl Refusal {
    /// A refusal with a sentence.
    pub fn new(reason: Reason, detail: impl fmt::Display) -> Self {
        let mut detail = detail.to_string();
        if let Some((end, _)) = detail.char_indices().nth(MAX_DETAIL) {
            detail.truncate(end);
            detail.push('…');
        }
        Self { reason, detail: one_line(detail).into_boxed_str() }
    }

    /// The reason, with its stable code.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The sentence.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.detail)
    }
}

impl std::error::Error for Refusal {}

/// Cards of a DID that must be known before something can be judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
    /// Whose.
    pub did: Did,
    /// The card that must be among them; without one, the newest.
    pub card: Option<CardHash>,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.card {
            Some(card) => write!(f, "card {card} of {}", self.did),
            None => write!(f, "the cards of {}", self.did),
        }
    }
}
