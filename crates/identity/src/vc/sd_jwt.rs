//! SD-JWT VC: a credential of which the holder shows a part.
//!
//! Selective Disclosure for JSON Web Tokens (RFC 9901) and SD-JWT-based Verifiable Credentials (draft-ietf-oauth-sd-jwt-vc),
//! signed with ML-DSA. What is hidden is a salted hash, so a quantum computer learns nothing from it either.

use super::credential::{Times, for_audience, numeric_date};
use super::presentation::{fresh, same};
use crate::error::bad;
use crate::jose::Jws;
use crate::{
    Agent, Did, DidUrl, Error, Kind, Reason, Relationship, Resolver, Result, Role, Suite, Timestamp,
    Verified, encoding, json,
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256, Sha384};
use std::collections::{BTreeMap, BTreeSet};

/// The longest SD-JWT that is read with all its disclosures, in characters.
pub const MAX_SD_JWT: usize = 64 << 10;

/// The most disclosures.
pub const MAX_DISCLOSURES: usize = 256;

/// Claims of the token itself, which are never hidden (SD-JWT VC, §2.2.2.2), and which the builder alone sets.
const REGISTERED: [&str; 9] =
    ["iss", "nbf", "exp", "iat", "cnf", "vct", "vct#integrity", "status", "_sd_alg"];

/// Names that the format uses (RFC 9901, §4.1).
const RESERVED: [&str; 3] = ["_sd", "...", "_sd_alg"];

/// The hash of digests: SHA-256, and SHA-384 in suite `cnsa2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Sha256,
    Sha384,
}

impl Hash {
    const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha-256",
            Self::Sha384 => "sha-384",
        }
    }

    /// The hash that a payload names; SHA-256 if none (RFC 9901, §4.1.1).
    fn of(payload: &Map<String, Value>) -> Result<Self> {
        match payload.get("_sd_alg").map(Value::as_str) {
            None => Ok(Self::Sha256),
            Some(Some("sha-256")) => Ok(Self::Sha256),
            Some(Some("sha-384")) => Ok(Self::Sha384),
            Some(_) => Err(Error::new(Reason::BadAlgorithm, "_sd_alg must be sha-256 or sha-384")),
        }
    }

    fn digest(self, text: &str) -> String {
        match self {
            Self::Sha256 => encoding::encode(&Sha256::digest(text)),
            Self::Sha384 => encoding::encode(&Sha384::digest(text)),
        }
    }
}

/// What a verifier learned: the claims that were disclosed, with every trace of the others removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdJwt {
    claims: Map<String, Value>,
    issuer: Did,
    holder: Option<DidUrl>,
}

/// What a verifier demands of the holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyBinding<'a> {
    /// The holder signs for this verifier and this request.
    Required {
        /// The verifier's own name.
        audience: &'a str,
        /// The nonce of the request.
        nonce: &'a str,
        /// How old the signature may be, in seconds.
        max_age: u64,
    },
    /// Nothing: whoever has the token may show it. A token with a key-binding signature is refused.
    None,
}

impl SdJwt {
    /// Begins a credential of the type `vct`.
    ///
    /// ```
    /// use gambeson_identity::vc::{KeyBinding, SdJwt, SdJwtHeld};
    /// use gambeson_identity::{Agent, CardContent, CardLog, CardStore, Role, Timestamp};
    /// use serde_json::json;
    ///
    /// let now = Timestamp(1_795_330_800);
    /// let (issuer, holder) = (Agent::generate()?, Agent::generate()?);
    /// let mut cards = CardStore::default();
    /// for agent in [&issuer, &holder] {
    ///     cards.add(CardLog::new(agent.first_card(now, now.after(60), &CardContent::default())?)?)?;
    /// }
    ///
    /// let issued = SdJwt::builder("https://example.com/clearance")
    ///     .claims(json!({"level": 3, "projects": ["a", "b"]}))
    ///     .disclosable("/level")
    ///     .disclosable("/projects/0")
    ///     .disclosable("/projects/1")
    ///     .holder(&holder.key_url(Role::Identity))
    ///     .valid(now, now.after(60))
    ///     .issue(&issuer, now)?;
    ///
    /// let held = SdJwtHeld::parse(&issued)?;
    /// let shown = held.present_bound(&holder, &["/projects/1"], "https://verifier.example", "nonce", now)?;
    ///
    /// let asked = KeyBinding::Required { audience: "https://verifier.example", nonce: "nonce", max_age: 60 };
    /// let verified = SdJwt::verify(&shown, &cards, now, asked)?;
    /// assert_eq!(verified.claims()["projects"], json!(["b"]));
    /// assert!(!verified.claims().contains_key("level"));
    /// # Ok::<(), gambeson_identity::Error>(())
    /// ```
    pub fn builder(vct: &str) -> SdJwtBuilder {
        SdJwtBuilder { vct: vct.to_owned(), ..SdJwtBuilder::default() }
    }

    /// Verifies an SD-JWT as it was presented (RFC 9901, §7).
    ///
    /// # Errors
    ///
    /// [`Reason::TooLarge`] beyond [`MAX_SD_JWT`] or [`MAX_DISCLOSURES`]; [`Reason::BadForm`], [`Reason::BadJson`],
    /// [`Reason::BadEncoding`], [`Reason::BadTime`], [`Reason::BadType`], [`Reason::BadAlgorithm`];
    /// [`Reason::WrongIssuer`]; what the resolver and the document say of the issuer's and the holder's key;
    /// [`Reason::BadSignature`]; [`Reason::BadDisclosure`]; [`Reason::NotYetValid`], [`Reason::Expired`];
    /// [`Reason::UnknownStatus`] for a token with a status; and of key binding [`Reason::Unsecured`] if it is missing,
    /// [`Reason::WrongHolder`], [`Reason::WrongAudience`], [`Reason::WrongNonce`].
    pub fn verify(
        presented: &str,
        resolver: &dyn Resolver,
        now: Timestamp,
        binding: KeyBinding<'_>,
    ) -> Result<Verified<Self>> {
        let parts = Parts::split(presented)?;
        let signer = parts.issuer.key_id()?;
        let issuer: Did = text(&parts.payload, "iss")?.parse()?;
        if issuer != *signer.did() {
            return Err(Error::new(
                Reason::WrongIssuer,
                format_args!("the issuer is {issuer}, but the signing key is of {}", signer.did()),
            ));
        }
        let document = resolver.resolve(signer.did(), now)?;
        let key = document.key_for(&signer, Kind::JsonWebKey, Relationship::AssertionMethod, now)?;
        parts.issuer.verify(key)?;

        let (claims, _) = parts.expand()?;
        times(&claims)?.hold(now, "the credential")?;
        let audience = match binding {
            KeyBinding::Required { audience, .. } => Some(audience),
            KeyBinding::None => None,
        };
        for_audience(claims.get("aud"), audience)?;
        if claims.contains_key("status") {
            return Err(Error::new(Reason::UnknownStatus, "token status lists are not supported"));
        }
        let holder = holder(&claims)?;
        match binding {
            KeyBinding::None if parts.binding.is_some() => {
                return Err(bad("an unrequested key-binding signature"));
            }
            KeyBinding::None => {}
            KeyBinding::Required { audience, nonce, max_age } => {
                let holder = holder.as_ref().ok_or_else(|| {
                    Error::new(Reason::WrongHolder, "the issuer bound the credential to no key (cnf)")
                })?;
                parts.check_binding(holder, resolver, now, (audience, nonce, max_age))?;
            }
        }
        Ok(Verified::new(Self { claims, issuer, holder }, signer))
    }

    /// The claims, those of the token itself among them.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// The type.
    pub fn vct(&self) -> &str {
        self.claims.get("vct").and_then(Value::as_str).unwrap_or_default()
    }

    /// Who issued it.
    pub fn issuer(&self) -> &Did {
        &self.issuer
    }

    /// The key to which the issuer bound it.
    pub fn holder(&self) -> Option<&DidUrl> {
        self.holder.as_ref()
    }
}

/// An SD-JWT VC in the making.
#[derive(Clone, Debug, Default)]
pub struct SdJwtBuilder {
    vct: String,
    claims: Value,
    hidden: Vec<String>,
    decoys: usize,
    holder: Option<DidUrl>,
    validity: Option<(Timestamp, Timestamp)>,
}

impl SdJwtBuilder {
    /// The claims: an object.
    #[must_use]
    pub fn claims(mut self, claims: Value) -> Self {
        self.claims = claims;
        self
    }

    /// Hides what a JSON Pointer (RFC 6901) names, a member or an element, until the holder discloses it. What lies inside
    /// may be hidden too.
    #[must_use]
    pub fn disclosable(mut self, pointer: &str) -> Self {
        self.hidden.push(pointer.to_owned());
        self
    }

    /// So many digests of nothing beside those of each object that hides members, in what is hidden too, that their number
    /// may not be told.
    #[must_use]
    pub fn decoys(mut self, count: usize) -> Self {
        self.decoys = count;
        self
    }

    /// Binds it to a key of the holder, for authentication.
    #[must_use]
    pub fn holder(mut self, key: &DidUrl) -> Self {
        self.holder = Some(key.clone());
        self
    }

    /// When it begins and ends.
    #[must_use]
    pub fn valid(mut self, from: Timestamp, until: Timestamp) -> Self {
        self.validity = Some((from, until));
        self
    }

    /// Signs it with the agent's signing key: the token and all its disclosures, for the holder.
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`] for claims that are no object, that use names of the format, for a pointer to nothing, for an empty
    /// type, or an end before the beginning;
    /// [`Reason::TooLarge`]; [`Reason::NoRandomness`].
    pub fn issue(self, agent: &Agent, now: Timestamp) -> Result<String> {
        let hash = match agent.suite() {
            Suite::Default => Hash::Sha256,
            Suite::Cnsa2 => Hash::Sha384,
        };
        let Value::Object(claims) = &self.claims else { return Err(bad("the claims must be an object")) };
        if let Some(name) = REGISTERED.iter().find(|name| claims.contains_key(**name)) {
            return Err(bad(format_args!("the claim {name:?} is set by the issuer and cannot be given")));
        }
        refuse_reserved(&self.claims)?;
        let mut payload = self.claims.clone();
        let disclosures = hide(agent, hash, &mut payload, &self.hidden, self.decoys)?;
        let Value::Object(mut payload) = payload else { return Err(bad("the claims must be an object")) };
        payload.insert("iss".into(), agent.did().as_str().into());
        payload.insert("vct".into(), self.vct.into());
        payload.insert("iat".into(), now.0.into());
        payload.insert("_sd_alg".into(), hash.name().into());
        if let Some((from, until)) = self.validity {
            if until < from {
                return Err(bad("the credential ends before it begins"));
            }
            payload.insert("nbf".into(), from.0.into());
            payload.insert("exp".into(), until.0.into());
        }
        if let Some(holder) = self.holder {
            payload.insert("cnf".into(), json!({"kid": holder.to_string()}));
        }
        let header = Map::from_iter([
            ("typ".to_owned(), "dc+sd-jwt".into()),
            ("kid".to_owned(), agent.key_url(Role::Signing).to_string().into()),
        ]);
        let mut token =
            Jws::sign(agent.key(Role::Signing), header, &json::canonicalize_object(&payload)?)? + "~";
        for disclosure in disclosures {
            token.push_str(&disclosure);
            token.push('~');
        }
        // What a verifier will read, with every check that needs neither key nor time.
        let (claims, _) = Parts::split(&token)?.expand()?;
        times(&claims)?;
        holder(&claims)?;
        Ok(token)
    }
}

/// An SD-JWT with all its disclosures, as the holder keeps it.
///
/// Reading it verifies nothing: a holder verifies what the issuer gave with [`SdJwt::verify`] and [`KeyBinding::None`].
#[derive(Clone, Debug)]
pub struct SdJwtHeld {
    token: String,
    disclosures: Vec<String>,
    pointers: Placed,
    hash: Hash,
}

impl SdJwtHeld {
    /// Reads the issuer's token.
    ///
    /// # Errors
    ///
    /// As [`SdJwt::verify`] for form and disclosures.
    pub fn parse(issued: &str) -> Result<Self> {
        let parts = Parts::split(issued)?;
        if parts.binding.is_some() {
            return Err(bad("a token that was presented already, with key binding"));
        }
        let (_, pointers) = parts.expand()?;
        Ok(Self {
            token: parts.token.to_owned(),
            disclosures: parts.disclosures.iter().map(|it| it.text.to_owned()).collect(),
            pointers,
            hash: parts.hash,
        })
    }

    /// JSON Pointers of what can be disclosed, in the claims with everything disclosed.
    pub fn disclosable(&self) -> impl Iterator<Item = &str> {
        self.pointers.iter().map(|(pointer, _)| pointer.as_str())
    }

    /// The token with the disclosures of these pointers, and of all that they lie in; no key binding.
    ///
    /// # Errors
    ///
    /// [`Reason::BadForm`] for a pointer that is not among [`SdJwtHeld::disclosable`].
    pub fn present(&self, pointers: &[&str]) -> Result<String> {
        let mut chosen = BTreeSet::new();
        for wanted in pointers {
            if !self.disclosable().any(|pointer| pointer == *wanted) {
                return Err(bad(format_args!("{wanted:?} cannot be disclosed")));
            }
            let above = |pointer: &str| {
                wanted.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            chosen
                .extend(self.pointers.iter().filter(|(pointer, _)| above(pointer)).map(|(_, index)| *index));
        }
        let mut shown = format!("{}~", self.token);
        for index in chosen {
            shown.push_str(&self.disclosures[index]);
            shown.push('~');
        }
        Ok(shown)
    }

    /// As [`SdJwtHeld::present`], signed by the holder's identity key for one verifier (RFC 9901, §4.3).
    ///
    /// # Errors
    ///
    /// As there; [`Reason::NoRandomness`].
    pub fn present_bound(
        &self,
        agent: &Agent,
        pointers: &[&str],
        audience: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<String> {
        let shown = self.present(pointers)?;
        let payload = json!({
            "aud": audience,
            "nonce": nonce,
            "iat": now.0,
            "sd_hash": self.hash.digest(&shown),
        });
        let header = Map::from_iter([
            ("typ".to_owned(), "kb+jwt".into()),
            ("kid".to_owned(), agent.key_url(Role::Identity).to_string().into()),
        ]);
        let binding = Jws::sign(agent.key(Role::Identity), header, &json::canonicalize(&payload)?)?;
        Ok(shown + &binding)
    }
}

/// Where disclosures belong: a JSON Pointer and the number of the disclosure.
type Placed = Vec<(String, usize)>;

/// A disclosure, read but not yet referred to.
struct Disclosure<'a> {
    text: &'a str,
    name: Option<String>,
    value: Value,
}

/// The parts of an SD-JWT between the tildes (RFC 9901, §4).
struct Parts<'a> {
    token: &'a str,
    /// Everything that the key-binding signature covers.
    bound: &'a str,
    issuer: Jws,
    payload: Map<String, Value>,
    hash: Hash,
    disclosures: Vec<Disclosure<'a>>,
    binding: Option<&'a str>,
}

impl<'a> Parts<'a> {
    fn split(presented: &'a str) -> Result<Self> {
        if presented.len() > MAX_SD_JWT {
            return Err(Error::new(
                Reason::TooLarge,
                format_args!("the SD-JWT has {} characters; the limit is {MAX_SD_JWT}", presented.len()),
            ));
        }
        let (bound, binding) = presented
            .rfind('~')
            .map(|at| presented.split_at(at + 1))
            .ok_or_else(|| bad("an SD-JWT must have a tilde after its token"))?;
        let mut parts = bound[..bound.len() - 1].split('~');
        let token = parts.next().unwrap_or_default();
        let texts: Vec<&str> = parts.collect();
        if texts.len() > MAX_DISCLOSURES {
            return Err(Error::new(
                Reason::TooLarge,
                format_args!("more than {MAX_DISCLOSURES} disclosures"),
            ));
        }
        let issuer = Jws::parse(token, MAX_SD_JWT)?;
        issuer.expect_profile("dc+sd-jwt", "")?;
        let payload = json::parse_object(issuer.payload_unverified(), MAX_SD_JWT)?;
        let hash = Hash::of(&payload)?;
        let disclosures = texts.into_iter().map(Disclosure::read).collect::<Result<_>>()?;
        let binding = Some(binding).filter(|binding| !binding.is_empty());
        Ok(Self { token, bound, issuer, payload, hash, disclosures, binding })
    }

    /// The claims with what was disclosed (RFC 9901, §7.1, steps 3 and 4), and where each disclosure belongs.
    fn expand(&self) -> Result<(Map<String, Value>, Placed)> {
        let mut by_digest = BTreeMap::new();
        for (index, disclosure) in self.disclosures.iter().enumerate() {
            if by_digest.insert(self.hash.digest(disclosure.text), index).is_some() {
                return Err(bad_disclosure("a disclosure is repeated"));
            }
        }
        let mut expansion = Expansion {
            disclosures: &self.disclosures,
            by_digest,
            seen: BTreeSet::new(),
            placed: Vec::new(),
        };
        let mut payload = self.payload.clone();
        payload.remove("_sd_alg");
        let claims = expansion.object(&payload, "", json::MAX_DEPTH)?;
        match expansion.placed.len() == self.disclosures.len() {
            true => Ok((claims, expansion.placed)),
            false => Err(bad_disclosure("nothing refers to a disclosure")),
        }
    }

    /// RFC 9901, §7.3, step 5.
    fn check_binding(
        &self,
        holder: &DidUrl,
        resolver: &dyn Resolver,
        now: Timestamp,
        (audience, nonce, max_age): (&str, &str, u64),
    ) -> Result<()> {
        let binding = self
            .binding
            .ok_or_else(|| Error::new(Reason::Unsecured, "the holder did not sign (key binding)"))?;
        let jws = Jws::parse(binding, MAX_SD_JWT)?;
        jws.expect_profile("kb+jwt", "")?;
        if jws.header().contains_key("kid") && jws.key_id()? != *holder {
            return Err(Error::new(Reason::WrongHolder, format_args!("the credential is bound to {holder}")));
        }
        let claims = json::parse_object(jws.payload_unverified(), MAX_SD_JWT)?;
        let document = resolver.resolve(holder.did(), now)?;
        jws.verify(document.key_for(holder, Kind::JsonWebKey, Relationship::Authentication, now)?)?;
        same(claims.get("aud"), Some(audience), Reason::WrongAudience, "aud")?;
        same(claims.get("nonce"), Some(nonce), Reason::WrongNonce, "nonce")?;
        let hash = self.hash.digest(self.bound);
        same(claims.get("sd_hash"), Some(&hash), Reason::BadSignature, "sd_hash")?;
        let made = numeric_date(&claims, "iat")?
            .ok_or_else(|| bad("the key binding must say when it was made (iat)"))?;
        let (not_before, expires) = (numeric_date(&claims, "nbf")?, numeric_date(&claims, "exp")?);
        fresh(made, max_age, now)?;
        now.within(not_before, expires, "the key binding")
    }
}

impl<'a> Disclosure<'a> {
    fn read(text: &'a str) -> Result<Self> {
        let array = json::parse(&encoding::decode(text, MAX_SD_JWT)?, MAX_SD_JWT)?;
        let Value::Array(array) = array else { return Err(bad_disclosure("a disclosure must be a list")) };
        let mut array = array.into_iter();
        let (name, value) = match (array.next(), array.next(), array.next(), array.next()) {
            (Some(Value::String(_)), Some(Value::String(name)), Some(value), None) => (Some(name), value),
            (Some(Value::String(_)), Some(value), None, None) => (None, value),
            _ => return Err(bad_disclosure("a disclosure must have a salt, an optional name and a value")),
        };
        match name.as_deref().is_some_and(|name| RESERVED.contains(&name)) {
            true => Err(bad_disclosure("a disclosure names a member that the format reserves")),
            false => Ok(Self { text, name, value }),
        }
    }
}

/// The walk through the claims that puts disclosures in place of digests.
struct Expansion<'a> {
    disclosures: &'a [Disclosure<'a>],
    by_digest: BTreeMap<String, usize>,
    seen: BTreeSet<String>,
    placed: Placed,
}

impl Expansion<'_> {
    fn value(&mut self, value: &Value, path: &str, depth: usize) -> Result<Value> {
        match value {
            Value::Object(object) => self.object(object, path, depth).map(Value::Object),
            Value::Array(items) => self.array(items, path, depth).map(Value::Array),
            plain => Ok(plain.clone()),
        }
    }

    fn object(
        &mut self,
        object: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Result<Map<String, Value>> {
        let depth = deeper(depth)?;
        let mut out = Map::new();
        for (name, value) in object.iter().filter(|(name, _)| *name != "_sd") {
            if RESERVED.contains(&name.as_str()) {
                return Err(bad_disclosure(&format!("{name:?} is not permitted here")));
            }
            out.insert(name.clone(), self.value(value, &below(path, name), depth)?);
        }
        let digests = match object.get("_sd") {
            None => return Ok(out),
            Some(Value::Array(digests)) => digests,
            Some(_) => return Err(bad_disclosure("_sd must be a list of digests")),
        };
        for digest in digests {
            let Some(index) = self.find(digest)? else { continue };
            let disclosures = self.disclosures;
            let disclosure = &disclosures[index];
            let Some(name) = &disclosure.name else {
                return Err(bad_disclosure("an element is disclosed where a member belongs"));
            };
            if path.is_empty() && REGISTERED.contains(&name.as_str()) && name != "iat" {
                return Err(bad_disclosure(&format!("the claim {name:?} may not be hidden")));
            }
            let inside = below(path, name);
            self.placed.push((inside.clone(), index));
            let value = self.value(&disclosure.value, &inside, depth)?;
            if out.insert(name.clone(), value).is_some() {
                return Err(bad_disclosure(&format!("the claim {name:?} exists already")));
            }
        }
        Ok(out)
    }

    fn array(&mut self, items: &[Value], path: &str, depth: usize) -> Result<Vec<Value>> {
        let depth = deeper(depth)?;
        let mut out = Vec::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            let inside = below(path, &position.to_string());
            let digest =
                item.as_object().and_then(|object| object.get("...").map(|digest| (object.len(), digest)));
            match digest {
                None => out.push(self.value(item, &inside, depth)?),
                Some((1, digest)) => {
                    let Some(index) = self.find(digest)? else { continue };
                    let disclosures = self.disclosures;
                    let disclosure = &disclosures[index];
                    if disclosure.name.is_some() {
                        return Err(bad_disclosure("a member is disclosed where an element belongs"));
                    }
                    self.placed.push((inside.clone(), index));
                    out.push(self.value(&disclosure.value, &inside, depth)?);
                }
                Some(_) => return Err(bad_disclosure("an object with \"...\" must have no other member")),
            }
        }
        Ok(out)
    }

    /// The disclosure of a digest, if it was disclosed. No digest may stand in two places.
    fn find(&mut self, digest: &Value) -> Result<Option<usize>> {
        let digest = digest.as_str().ok_or_else(|| bad_disclosure("a digest must be a string"))?;
        match self.seen.insert(digest.to_owned()) {
            true => Ok(self.by_digest.get(digest).copied()),
            false => Err(bad_disclosure("a digest occurs twice")),
        }
    }
}

fn deeper(depth: usize) -> Result<usize> {
    depth.checked_sub(1).ok_or_else(|| bad_disclosure("disclosures are nested too deeply"))
}

/// Takes members and elements out of the claims and leaves digests; the deepest first, so that what holds them can be
/// hidden after them.
fn hide(
    agent: &Agent,
    hash: Hash,
    claims: &mut Value,
    pointers: &[String],
    decoys: usize,
) -> Result<Vec<String>> {
    let mut ordered: Vec<&String> = pointers.iter().collect();
    ordered.sort_by(|a, b| b.matches('/').count().cmp(&a.matches('/').count()).then(a.cmp(b)));
    if ordered.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(bad("a pointer is repeated"));
    }
    let mut disclosures = Vec::new();
    for pointer in &ordered {
        let nothing = || bad(format_args!("{pointer:?} points to no claim"));
        let (parent, last) = pointer.rsplit_once('/').ok_or_else(nothing)?;
        let name = last.replace("~1", "/").replace("~0", "~");
        let seal = |mut value: Value| -> Result<Value> {
            // Nothing can be added to a value once its digest is taken.
            add_decoys(agent, hash, &mut value, decoys)?;
            Ok(value)
        };
        let salt = encoding::encode(&agent.random(&[b"sd-jwt salt", pointer.as_bytes()])?.expose()[..16]);
        match claims.pointer_mut(parent).ok_or_else(nothing)? {
            Value::Object(object) => {
                let value = object.remove(&name).ok_or_else(nothing)?;
                let text = disclosure(&json!([salt, name, seal(value)?]))?;
                let digests = object.entry("_sd").or_insert_with(|| json!([]));
                digests.as_array_mut().ok_or_else(nothing)?.push(hash.digest(&text).into());
                disclosures.push(text);
            }
            Value::Array(items) => {
                let position = crate::kdf::decimal(&name).and_then(|position| usize::try_from(position).ok());
                let item = position.and_then(|position| items.get_mut(position)).ok_or_else(nothing)?;
                let text = disclosure(&json!([salt, seal(item.take())?]))?;
                *item = json!({"...": hash.digest(&text)});
                disclosures.push(text);
            }
            _ => return Err(nothing()),
        }
        // The order of members in the claims must not show in the order of digests.
        if let Some(Value::Array(digests)) = claims.pointer_mut(&format!("{parent}/_sd")) {
            digests.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
        }
    }
    add_decoys(agent, hash, claims, decoys)?;
    Ok(disclosures)
}

fn add_decoys(agent: &Agent, hash: Hash, claims: &mut Value, count: usize) -> Result<()> {
    match claims {
        Value::Object(object) => {
            if let Some(Value::Array(digests)) = object.get_mut("_sd") {
                for _ in 0..count {
                    let nothing = encoding::encode(agent.random(&[b"sd-jwt decoy"])?.expose());
                    digests.push(hash.digest(&nothing).into());
                }
                digests.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
            object.values_mut().try_for_each(|value| add_decoys(agent, hash, value, count))
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| add_decoys(agent, hash, item, count)),
        _ => Ok(()),
    }
}

fn disclosure(array: &Value) -> Result<String> {
    Ok(encoding::encode(&json::canonicalize(array)?))
}

/// Names of the format may not be names of claims.
fn refuse_reserved(value: &Value) -> Result<()> {
    match value {
        Value::Object(object) => {
            object.iter().try_for_each(|(name, value)| match RESERVED.contains(&name.as_str()) {
                true => Err(bad(format_args!("the name {name:?} is reserved by the format"))),
                false => refuse_reserved(value),
            })
        }
        Value::Array(items) => items.iter().try_for_each(refuse_reserved),
        _ => Ok(()),
    }
}

/// The times within which the claims hold, which have a type.
fn times(claims: &Map<String, Value>) -> Result<Times> {
    text(claims, "vct")?;
    Times::of(claims)
}

/// The key that `cnf` names (RFC 7800, §3.4).
fn holder(claims: &Map<String, Value>) -> Result<Option<DidUrl>> {
    match claims.get("cnf") {
        None => Ok(None),
        Some(Value::Object(cnf)) => DidUrl::of_key(text(cnf, "kid")?).map(Some),
        Some(_) => Err(bad("cnf must be an object with the URL of the holder's key (kid)")),
    }
}

fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a str> {
    object
        .get(name)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
        .ok_or_else(|| bad(format_args!("the string {name:?} is missing")))
}

/// A JSON Pointer one step down (RFC 6901, §3).
fn below(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn bad_disclosure(what: &str) -> Error {
    Error::new(Reason::BadDisclosure, what)
}
