//! Who may do what in a channel: a policy that is signed, and that every member enforces.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use gambeson_identity::jose::Jws;
use gambeson_identity::{Agent, Did, DidUrl, Role as KeyRole, Timestamp, json};
use serde_json::{Map, Value};

use crate::cards::{Cards, Doubt, SKEW};
use crate::channel::MAX_MESSAGE;
use crate::name::ChannelId;
use crate::refusal::{Reason, Refusal};

/// The type of the GroupContext extension that holds the policy, of the range for private use (RFC 9420, section 17.3).
pub const POLICY_EXTENSION: u16 = 0xf1d1;

/// The type of the proposal that holds what a committer shows for its right, of the range for private use (RFC 9420, section 17.4).
pub const EVIDENCE_PROPOSAL: u16 = 0xf1d2;

/// The longest policy that is read, in bytes.
pub const MAX_POLICY: usize = 48 * 1024;

/// `typ` of the signature.
const TYPE: &str = "gambeson-channel-policy";

/// The longest signature that is read, in characters: header and one signature of ML-DSA-87.
const MAX_SIGNATURE: usize = 16 * 1024;

/// What a member is in a channel. Each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads, tells how far, and can leave.
    Listener,
    /// Reads and writes.
    Member,
    /// Cares for members.
    Moderator,
    /// Changes the policy.
    Owner,
}

impl Role {
    /// All roles, the lowest first.
    pub const ALL: [Self; 4] = [Self::Listener, Self::Member, Self::Moderator, Self::Owner];

    /// The name in policies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Listener => "listener",
            Self::Member => "member",
            Self::Moderator => "moderator",
            Self::Owner => "owner",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Role {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|role| role.name() == name);
        found.ok_or_else(|| {
            bad(format_args!("unknown role {name:?} (expected owner, moderator, member or listener)"))
        })
    }
}

/// The rules of a channel.
///
/// A right belongs to its role and those above it. Where no owner is a member, those of the highest role that a member has act as owners: when
/// the last owner is gone, moderators own the channel, and when these are gone, members do.
///
/// ```
/// use gambeson_identity::{Agent, Timestamp};
/// use gambeson_slim::{ChannelId, Policy, Role};
///
/// let (owner, friend) = (Agent::generate()?, Agent::generate()?);
/// let mut policy = Policy::new(ChannelId([7; 32]), owner.did().clone(), Timestamp(1_795_330_800));
/// policy.roles.insert(friend.did().clone(), Role::Moderator);
/// let signed = policy.sign(&owner)?;
/// assert_eq!(signed.policy().role(friend.did()), Role::Moderator);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The channel.
    pub channel: ChannelId,
    /// Larger than that of the policy before it.
    pub version: u64,
    /// The BLAKE3 hash of the policy before it, which it replaces; `None` in the first.
    pub former: Option<[u8; 32]>,
    /// When it was signed.
    pub issued: Timestamp,
    /// Roles of those who have another than [`others`](Self::others). They need not be members yet.
    pub roles: BTreeMap<Did, Role>,
    /// The role of everybody else: listener or member.
    pub others: Role,
    /// Who may add members.
    pub add: Role,
    /// Who may remove members. Nobody but an owner removes somebody of the same role or a higher one.
    pub remove: Role,
    /// Who may remove an owner that is lost: owner, or moderator.
    pub remove_owner: Role,
    /// Who may rotate its own keys by a commit. Who may do something else by a commit may do this. A member below it brings no new card to its leaf
    /// either, and is taken out when the old one is over.
    pub rotate: Role,
    /// Who may change the policy: owner, or moderator.
    pub change: Role,
    /// Whether who may add may delegate it (`agent.delegate`).
    pub delegate: bool,
    /// Whether a member that fell behind may come back by itself (external commit).
    pub rejoin: bool,
    /// Whether members may forward to and from classical SLIM sessions.
    pub bridge: bool,
    /// For how many seconds members keep what was said; 0: as long as they want to. What a delivery service keeps is ciphertext, by its own
    /// rule.
    pub retention: u64,
    /// The longest message of an application, in bytes.
    pub max_message: u32,
    /// After how many hours a member rotates its keys; 0: never.
    pub rotate_hours: u32,
    /// After how many messages of its own, also of those that travel in one bundle, a member rotates its keys; 0: never.
    pub rotate_messages: u32,
}

impl Policy {
    /// A first policy with one owner: members speak, moderators add and remove, a member that fell behind comes back by itself, keys are rotated
    /// daily.
    #[must_use]
    pub fn new(channel: ChannelId, owner: Did, issued: Timestamp) -> Self {
        Self {
            channel,
            version: 1,
            former: None,
            issued,
            roles: BTreeMap::from([(owner, Role::Owner)]),
            others: Role::Member,
            add: Role::Moderator,
            remove: Role::Moderator,
            remove_owner: Role::Owner,
            rotate: Role::Listener,
            change: Role::Owner,
            delegate: true,
            rejoin: true,
            bridge: false,
            retention: 0,
            max_message: MAX_MESSAGE as u32,
            rotate_hours: 24,
            rotate_messages: 0,
        }
    }

    /// A policy to follow this one, for the caller to change and sign.
    #[must_use]
    pub fn next(&self, issued: Timestamp) -> Self {
        Self { version: self.version + 1, former: Some(self.hash()), issued, ..self.clone() }
    }

    /// The role of a DID.
    #[must_use]
    pub fn role(&self, did: &Did) -> Role {
        self.roles.get(did).copied().unwrap_or(self.others)
    }

    /// The BLAKE3 hash of the bytes.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }

    /// What a delegation of the right to invite names as its resource: `urn:gambeson:channel:` and the channel's id in hexadecimal digits.
    #[must_use]
    pub fn resource(&self) -> String {
        format!("urn:gambeson:channel:{}", self.channel)
    }

    /// Canonical JSON (RFC 8785).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let roles: Map<String, Value> =
            self.roles.iter().map(|(did, role)| (did.as_str().to_owned(), role.name().into())).collect();
        let value = serde_json::json!({
            "v": 1,
            "channel": self.channel.to_string(),
            "version": self.version,
            "former": self.former.map(|hash| ChannelId(hash).to_string()),
            "issued": self.issued.0,
            "roles": roles,
            "others": self.others.name(),
            "add": self.add.name(),
            "remove": self.remove.name(),
            "removeOwner": self.remove_owner.name(),
            "rotate": self.rotate.name(),
            "change": self.change.name(),
            "delegate": self.delegate,
            "rejoin": self.rejoin,
            "bridge": self.bridge,
            "retention": self.retention,
            "maxMessage": self.max_message,
            "rotateHours": self.rotate_hours,
            "rotateMessages": self.rotate_messages,
        });
        // Only numbers beyond 2^53 have no canonical form, and `check` refuses those.
        json::canonicalize(&value).unwrap_or_default()
    }

    /// Reads these bytes, and no other spelling of the same policy.
    ///
    /// # Errors
    /// [`Reason::BadPolicy`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let object = json::parse_object(bytes, MAX_POLICY).map_err(bad)?;
        let fields = Fields(&object);
        if fields.number::<u64>("v")? != 1 {
            return Err(bad("the `format` of the policy is not 1"));
        }
        let roles =
            object.get("roles").and_then(Value::as_object).ok_or_else(|| bad("`roles` must be an object"))?;
        let role_of = |(did, role): (&String, &Value)| {
            let did = did.parse::<Did>().map_err(bad)?;
            Ok((did, role.as_str().ok_or_else(|| bad("a role must be a string"))?.parse()?))
        };
        let policy = Self {
            channel: ChannelId(fields.hash("channel")?),
            version: fields.number("version")?,
            former: match object.get("former") {
                Some(Value::Null) => None,
                _ => Some(fields.hash("former")?),
            },
            issued: Timestamp(fields.number("issued")?),
            roles: roles.iter().map(role_of).collect::<Result<_, Refusal>>()?,
            others: fields.role("others")?,
            add: fields.role("add")?,
            remove: fields.role("remove")?,
            remove_owner: fields.role("removeOwner")?,
            rotate: fields.role("rotate")?,
            change: fields.role("change")?,
            delegate: fields.flag("delegate")?,
            rejoin: fields.flag("rejoin")?,
            bridge: fields.flag("bridge")?,
            retention: fields.number("retention")?,
            max_message: fields.number("maxMessage")?,
            rotate_hours: fields.number("rotateHours")?,
            rotate_messages: fields.number("rotateMessages")?,
        };
        policy.check()?;
        match policy.to_bytes() == bytes {
            true => Ok(policy),
            false => Err(bad("the policy is not in canonical form or has unknown members")),
        }
    }

    /// Signs the policy with the agent's signing key (`m/1'`).
    ///
    /// # Errors
    /// [`Reason::BadPolicy`] for a policy that nobody would read; [`Reason::Protocol`] if the agent does not sign.
    pub fn sign(&self, agent: &Agent) -> Result<SignedPolicy, Refusal> {
        self.check()?;
        let bytes = self.to_bytes();
        if bytes.len() > MAX_POLICY {
            return Err(bad(format_args!("the policy is longer than {MAX_POLICY} bytes")));
        }
        let header = Map::from_iter([
            ("typ".to_owned(), Value::from(TYPE)),
            ("kid".to_owned(), agent.key_url(KeyRole::Signing).to_string().into()),
        ]);
        let signature = Jws::sign_detached(agent.key(KeyRole::Signing), header, &bytes)
            .map_err(|error| Refusal::new(Reason::Protocol, error))?;
        Ok(SignedPolicy { policy: self.clone(), bytes, signature, signer: agent.key_url(KeyRole::Signing) })
    }

    /// What no policy may say.
    fn check(&self) -> Result<(), Refusal> {
        const MOST: u64 = (1 << 53) - 1;
        if self.version == 0 || self.version > MOST || self.retention > MOST || self.issued.0 > MOST {
            return Err(bad("numbers of a policy must be at most 2^53 - 1, and its version at least 1"));
        }
        if (self.version == 1) != self.former.is_none() {
            return Err(bad("the first policy must follow none, and each other policy must follow one"));
        }
        if self.others > Role::Member {
            return Err(bad("`others` must be listener or member"));
        }
        if self.change < Role::Moderator || self.remove_owner < Role::Moderator {
            return Err(bad("only moderators and owners may change the policy or remove owners"));
        }
        if !self.roles.values().any(|role| *role == Role::Owner) {
            return Err(bad("the policy names no owner"));
        }
        Ok(())
    }

    /// Refuses a message of so many bytes, if it is too long.
    pub(crate) fn lets_say(&self, len: usize) -> Result<(), Refusal> {
        match u32::try_from(len).is_ok_and(|len| len <= self.max_message) {
            true => Ok(()),
            false => {
                let what =
                    format_args!("the message has {len} bytes; the policy allows {}", self.max_message);
                Err(Refusal::new(Reason::TooLong, what))
            }
        }
    }

    /// The role that somebody of `role` acts in, where `highest` is the highest role that a member has: without an owner, those of the highest
    /// role act as owners.
    #[must_use]
    pub fn acting(&self, role: Role, highest: Role) -> Role {
        if role >= highest { Role::Owner } else { role }
    }

    /// Refuses a policy that does not follow this one.
    pub(crate) fn followed_by(&self, next: &Self) -> Result<(), Refusal> {
        if next.channel != self.channel {
            return Err(bad("the policy is of another channel"));
        }
        if next.version <= self.version || next.former != Some(self.hash()) {
            let what = format!("policy version {} does not follow version {}", next.version, self.version);
            return Err(Refusal::new(Reason::OldPolicy, what));
        }
        Ok(())
    }
}

fn bad(what: impl fmt::Display) -> Refusal {
    Refusal::new(Reason::BadPolicy, what)
}

/// Members of the JSON object.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.0.get(name).and_then(Value::as_str).ok_or_else(|| bad(format_args!("{name:?} must be a string")))
    }

    fn role(&self, name: &str) -> Result<Role, Refusal> {
        self.text(name)?.parse()
    }

    fn flag(&self, name: &str) -> Result<bool, Refusal> {
        let flag = self.0.get(name).and_then(Value::as_bool);
        flag.ok_or_else(|| bad(format_args!("{name:?} must be true or false")))
    }

    fn number<T: TryFrom<u64>>(&self, name: &str) -> Result<T, Refusal> {
        let number = self.0.get(name).and_then(Value::as_u64).and_then(|it| it.try_into().ok());
        number.ok_or_else(|| bad(format_args!("{name:?} must be an integer of at most 2^53 - 1")))
    }

    fn hash(&self, name: &str) -> Result<[u8; 32], Refusal> {
        let digits = self.text(name)?;
        let mut hash = [0; 32];
        let whole = base16ct::lower::decode(digits, &mut hash).is_ok_and(|read| read.len() == 32);
        whole.then_some(hash).ok_or_else(|| bad(format_args!("{name:?} must have 64 hexadecimal digits")))
    }
}

/// A policy and who signed it. What is read is not believed before its signature and signer are verified.
///
/// The policy stands in the group's context, so that all members agree on it; the signature travels beside it: in the commit that
/// brings the policy, and to joiners with the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedPolicy {
    policy: Policy,
    bytes: Vec<u8>,
    signature: String,
    signer: DidUrl,
}

impl SignedPolicy {
    /// Reads a policy and its detached signature (RFC 7515, Appendix F).
    ///
    /// # Errors
    /// [`Reason::BadPolicy`], [`Reason::BadPolicySignature`] for their forms.
    pub fn read(bytes: &[u8], signature: &str) -> Result<Self, Refusal> {
        let policy = Policy::from_bytes(bytes)?;
        let jws = Self::jws(bytes, signature)?;
        let signer = jws.key_id().map_err(|error| Refusal::new(Reason::BadPolicySignature, error))?;
        Ok(Self { policy, bytes: bytes.to_vec(), signature: signature.to_owned(), signer })
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The bytes that are signed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The detached signature.
    #[must_use]
    pub fn signature(&self) -> &str {
        &self.signature
    }

    /// The key that signed.
    #[must_use]
    pub const fn signer(&self) -> &DidUrl {
        &self.signer
    }

    fn jws(bytes: &[u8], signature: &str) -> Result<Jws, Refusal> {
        let wrong = |error| Refusal::new(Reason::BadPolicySignature, error);
        let jws = Jws::parse_detached(signature, bytes, MAX_SIGNATURE).map_err(wrong)?;
        jws.expect_type(TYPE).map_err(wrong)?;
        Ok(jws)
    }

    /// Verifies the signature; whether the signer may make policies is asked elsewhere. `at`: no policy is from the future.
    pub(crate) fn verify(&self, cards: &Cards, at: Option<Timestamp>) -> Result<(), Doubt> {
        let wrong = |what: &dyn fmt::Display| Refusal::new(Reason::BadPolicySignature, what);
        if let Some(at) = at.filter(|at| self.policy.issued > at.after(SKEW)) {
            let issued = self.policy.issued;
            let what =
                format_args!("the policy was issued at {issued}, it is {at}; clocks may differ by {SKEW} s");
            return Err(wrong(&what).into());
        }
        let key = cards.signing_key(&self.signer, self.policy.issued)?;
        Self::jws(&self.bytes, &self.signature)?.verify(&key).map_err(|error| wrong(&error))?;
        Ok(())
    }
}
