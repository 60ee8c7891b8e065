//! Signed tool calls: who asks whom to do exactly what, now and once.
//!
//! The format is in `docs/spec/action.md`: a detached JWS with `typ: gambeson-action+jws` over the canonical JSON of an
//! [`Action`].

use crate::document::{Kind, Relationship};
use crate::error::bad;
use crate::jose::Jws;
use crate::replay::{ReplayCache, ReplayId};
use crate::{
    Agent, Error, Reason, Resolver, Result, Role, Suite, Timestamp, Verified, digest, encoding, json,
};
use serde_json::{Map, Value};

/// The longest an action may be good for, in seconds, unless a verifier says otherwise.
pub const MAX_LIFETIME: u64 = 120;

/// How far a signer's clock may be ahead of the verifier's, in seconds.
pub const CLOCK_SKEW: u64 = 30;

/// The longest action that is read, in bytes of JSON.
pub const MAX_ACTION: usize = 1 << 20;

/// The longest detached JWS that is read, in characters. ML-DSA-87 with a `did:key` has about 11,000.
pub(crate) const MAX_TOKEN: usize = 16 << 10;

/// The type in the header of an action's signature.
pub const TYPE: &str = "gambeson-action+jws";

/// The bytes of a nonce.
const NONCE_LEN: usize = 16;

/// The longest text of audience, method and name, in bytes.
const MAX_TEXT: usize = 8 << 10;

/// What is asked for, without when and by whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The method, such as `tools/call`.
    pub method: String,
    /// What the method is applied to, such as the name of the tool; empty if the method needs none.
    pub name: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
    /// What else the request says.
    pub params: Map<String, Value>,
}

impl Call {
    /// A call with these arguments.
    pub fn new(method: &str, name: &str, arguments: Map<String, Value>) -> Self {
        Self { method: method.into(), name: name.into(), arguments, params: Map::new() }
    }

    /// What a capability must permit: `method/name`, or the method alone where there is no name. Several calls may have the
    /// same text; of these a capability permits one ([`Call::is_plain`]).
    pub fn action(&self) -> String {
        match self.name.is_empty() {
            true => self.method.clone(),
            false => format!("{}/{}", self.method, self.name),
        }
    }

    /// Whether [`Call::action`] tells method and name apart: the method has two segments, as in `tools/call`, or one
    /// and there is no name. Else `tools` of `call/pay` could pass for `tools/call` of `pay`.
    pub fn is_plain(&self) -> bool {
        matches!((self.method.matches('/').count(), self.name.is_empty()), (1, _) | (0, true))
    }
}

/// A call at a time, for one audience, with a nonce: what is signed.
///
/// ```
/// use gambeson_identity::{
///     Agent, CardContent, CardLog, CardStore, MemoryReplayCache, Reason, Timestamp,
///     action::{self, Action, Call, Expectations},
/// };
///
/// let (agent, now) = (Agent::generate()?, Timestamp(1_795_330_800));
/// let mut known = CardStore::default();
/// known.add(CardLog::new(agent.first_card(now, now.after(86_400), &CardContent::default())?)?)?;
///
/// let mut arguments = serde_json::Map::new();
/// arguments.insert("amount".into(), 5.into());
/// let action = Action::new(&agent, Call::new("tools/call", "pay", arguments), "did:web:bank.example", now)?;
/// let token = action.sign(&agent)?;
///
/// let mut replay = MemoryReplayCache::new(100_000);
/// let bank = Expectations::new("did:web:bank.example");
/// let call = action::verify(&action.to_json(), &token, &bank, &known, now, &mut replay)?;
/// assert_eq!(call.call().name, "pay");
/// assert_eq!(call.signer().did(), agent.did());
///
/// let again = action::verify(&action.to_json(), &token, &bank, &known, now, &mut replay);
/// assert_eq!(again.unwrap_err().reason(), Reason::Replayed);
/// # Ok::<(), gambeson_identity::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    call: Call,
    audience: String,
    issued: Timestamp,
    expires: Timestamp,
    nonce: String,
    delegation: Option<String>,
}

impl Action {
    /// An action that is good for [`MAX_LIFETIME`] seconds. The nonce is hedged with the agent's seed.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`]; [`Reason::BadForm`] or [`Reason::BadJson`] for a call that cannot be read again.
    pub fn new(agent: &Agent, call: Call, audience: &str, now: Timestamp) -> Result<Self> {
        let random = agent.random(&[b"action", audience.as_bytes()])?;
        let action = Self {
            call,
            audience: audience.into(),
            issued: now,
            expires: now.after(MAX_LIFETIME),
            nonce: encoding::encode(&random.expose()[..NONCE_LEN]),
            delegation: None,
        };
        Self::from_json(&action.canonical()?)
    }

    /// The same for so many seconds: for actions that somebody must approve first. Verifiers that allow more than
    /// [`MAX_LIFETIME`] say so in [`Expectations`].
    #[must_use]
    pub fn lasting(mut self, seconds: u64) -> Self {
        self.expires = self.issued.after(seconds);
        self
    }

    /// The same under a delegation: the action names the chain by the hash of its last link.
    #[must_use]
    pub fn under<T: AsRef<str>>(mut self, agent: &Agent, chain: &[T]) -> Self {
        self.delegation = chain.last().map(|link| digest::digest(agent.suite(), link.as_ref().as_bytes()));
        self
    }

    /// Reads what [`Action::to_json`] writes, in any layout. Nothing vouches for it: for people who approve, and for
    /// what was signed by hand. [`verify`] reads and verifies.
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`], [`Reason::BadJson`], [`Reason::BadForm`].
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let mut object = json::parse_object(text, MAX_ACTION)?;
        let text = |object: &mut Map<String, Value>, name: &str| match object.remove(name) {
            Some(Value::String(text)) if text.len() <= MAX_TEXT => Ok(text),
            _ => Err(bad(format_args!("{name:?} must be a string of at most {MAX_TEXT} bytes"))),
        };
        let time = |object: &mut Map<String, Value>, name: &str| {
            let seconds = object.remove(name).and_then(|value| value.as_u64());
            seconds
                .map(Timestamp)
                .ok_or_else(|| bad(format_args!("{name:?} must be a time in whole seconds")))
        };
        let members = |object: &mut Map<String, Value>, name: &str| match object.remove(name) {
            Some(Value::Object(members)) => Ok(members),
            _ => Err(bad(format_args!("{name:?} must be an object"))),
        };
        if object.remove("v") != Some(1.into()) {
            return Err(bad("the version of an action, v, must be 1"));
        }
        let action = Self {
            audience: text(&mut object, "aud")?,
            call: Call {
                method: text(&mut object, "method")?,
                name: text(&mut object, "name")?,
                arguments: members(&mut object, "arguments")?,
                params: match object.contains_key("params") {
                    true => members(&mut object, "params")?,
                    false => Map::new(),
                },
            },
            issued: time(&mut object, "iat")?,
            expires: time(&mut object, "exp")?,
            nonce: text(&mut object, "nonce")?,
            delegation: match object.contains_key("delegation") {
                true => Some(text(&mut object, "delegation")?),
                false => None,
            },
        };
        if let Some(name) = object.keys().next() {
            return Err(bad(format_args!("an action has an unknown member {name:?}")));
        }
        if action.audience.is_empty() || action.call.method.is_empty() {
            return Err(bad("an action must have an audience and a method"));
        }
        if encoding::decode(&action.nonce, NONCE_LEN).map_or(0, |nonce| nonce.len()) != NONCE_LEN {
            return Err(bad(format_args!("a nonce must have {NONCE_LEN} bytes in base64url")));
        }
        if action.delegation.as_deref().is_some_and(|name| !digest::is_name(name)) {
            return Err(bad("a delegation must be named by a multihash in multibase"));
        }
        Ok(action)
    }

    /// What is signed: canonical JSON (RFC 8785).
    pub fn to_json(&self) -> Vec<u8> {
        self.canonical().expect("an action must be I-JSON")
    }

    fn canonical(&self) -> Result<Vec<u8>> {
        let mut object = Map::from_iter([
            ("v".to_owned(), 1.into()),
            ("aud".to_owned(), self.audience.as_str().into()),
            ("method".to_owned(), self.call.method.as_str().into()),
            ("name".to_owned(), self.call.name.as_str().into()),
            ("arguments".to_owned(), self.call.arguments.clone().into()),
            ("iat".to_owned(), self.issued.0.into()),
            ("exp".to_owned(), self.expires.0.into()),
            ("nonce".to_owned(), self.nonce.as_str().into()),
        ]);
        if !self.call.params.is_empty() {
            object.insert("params".into(), self.call.params.clone().into());
        }
        if let Some(delegation) = &self.delegation {
            object.insert("delegation".into(), delegation.as_str().into());
        }
        json::canonicalize_object(&object)
    }

    /// The name of this exact action: the hash of [`Action::to_json`], BLAKE3-256 in the default suite and SHA-384 in
    /// `cnsa2`. Approvals and receipts name it so.
    pub fn digest(&self, suite: Suite) -> String {
        digest::digest(suite, &self.to_json())
    }

    /// Signs with the agent's signing key: a detached JWS of about 4,600 characters.
    ///
    /// # Errors
    ///
    /// [`Reason::NoRandomness`].
    pub fn sign(&self, agent: &Agent) -> Result<String> {
        sign_detached(agent, TYPE, &self.to_json())
    }

    /// The call.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// Who shall act on it.
    pub fn audience(&self) -> &str {
        &self.audience
    }

    /// When it was made.
    pub fn issued(&self) -> Timestamp {
        self.issued
    }

    /// The last second in which it is good.
    pub fn expires(&self) -> Timestamp {
        self.expires
    }

    /// 16 random bytes in base64url.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// The name of the chain of delegation that it is done under.
    pub fn delegation(&self) -> Option<&str> {
        self.delegation.as_deref()
    }

    /// Refuses an action that is not for here and now.
    fn expect(&self, expected: &Expectations<'_>, now: Timestamp) -> Result<()> {
        if self.audience != expected.audience {
            return Err(Error::new(
                Reason::WrongAudience,
                format_args!("the action is for {:?}", self.audience),
            ));
        }
        timely(self.issued, self.expires, expected.max_lifetime, now, "the action")
    }
}

/// Refuses what begins in the future, has ended, or lasts too long.
pub(crate) fn timely(
    issued: Timestamp,
    expires: Timestamp,
    max_lifetime: u64,
    now: Timestamp,
    what: &str,
) -> Result<()> {
    if expires < issued {
        return Err(bad(format_args!("{what} ends before it begins")));
    }
    if expires.since(issued) > max_lifetime {
        return Err(Error::new(
            Reason::LongLived,
            format_args!("{what} is valid for {} s; the limit is {max_lifetime} s", expires.since(issued)),
        ));
    }
    now.not_before(issued, CLOCK_SKEW, what)?;
    now.within(None, Some(expires), what)
}

/// What a verifier expects of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expectations<'a> {
    audience: &'a str,
    max_lifetime: u64,
}

impl<'a> Expectations<'a> {
    /// Actions for this audience, which is the verifier itself, good for at most [`MAX_LIFETIME`] seconds.
    pub fn new(audience: &'a str) -> Self {
        Self { audience, max_lifetime: MAX_LIFETIME }
    }

    /// Actions that may be good for so many seconds, so that there is time to approve them.
    #[must_use]
    pub fn lasting(mut self, seconds: u64) -> Self {
        self.max_lifetime = seconds;
        self
    }
}

/// Verifies an action: form, audience, time, signer, signature, and that it comes for the first time.
///
/// The signer's key must be for `capabilityInvocation`. The nonce is remembered last; but anybody's action verifies, and takes
/// room, whether or not its signer may do anything: who decides that with [`authorize`](crate::delegation::authorize) remembers
/// after it, with [`PendingReplay`](crate::PendingReplay).
///
/// # Errors
///
/// [`Reason::TooLarge`], [`Reason::BadJson`], [`Reason::BadForm`]; [`Reason::BadType`] for another kind of signature;
/// [`Reason::WrongAudience`], [`Reason::LongLived`], [`Reason::NotYetValid`], [`Reason::Expired`]; what the resolver and
/// the key say; [`Reason::BadSignature`]; [`Reason::Replayed`], [`Reason::CacheFull`].
pub fn verify(
    action: &[u8],
    token: &str,
    expected: &Expectations<'_>,
    resolver: &dyn Resolver,
    now: Timestamp,
    replay: &mut dyn ReplayCache,
) -> Result<Verified<Action>> {
    let action = Action::from_json(action)?;
    let jws = parse_detached(token, TYPE, &action.to_json())?;
    action.expect(expected, now)?;
    let signer = jws.key_id()?;
    let document = resolver.resolve(signer.did(), now)?;
    let relationship = Relationship::CapabilityInvocation;
    jws.verify(document.key_for(&signer, Kind::JsonWebKey, relationship, now)?)?;
    replay.remember(&ReplayId::new(TYPE, signer.did(), &action.nonce), action.expires, now)?;
    Ok(Verified::new(action, signer))
}

/// Signs bytes that travel elsewhere, with `typ` and `kid`.
pub(crate) fn sign_detached(agent: &Agent, typ: &str, payload: &[u8]) -> Result<String> {
    Jws::sign_detached(agent.key(Role::Signing), header(agent, typ), payload)
}

/// The header of what an agent's signing key signs.
pub(crate) fn header(agent: &Agent, typ: &str) -> Map<String, Value> {
    Map::from_iter([
        ("typ".to_owned(), typ.into()),
        ("kid".to_owned(), agent.key_url(Role::Signing).to_string().into()),
    ])
}

pub(crate) fn parse_detached(token: &str, typ: &str, payload: &[u8]) -> Result<Jws> {
    let jws = Jws::parse_detached(token, payload, MAX_TOKEN)?;
    jws.expect_type(typ)?;
    Ok(jws)
}
