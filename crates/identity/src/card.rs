//! Identity cards: DID documents that the DID key signs, in a chain from the DID to the newest.
//!
//! `docs/spec/did.md` has the format. The DID is the hash of the first DID key, so it vouches for the first card; each
//! card holds the hash of the next DID key, so it vouches for the card after it (pre-rotation), and a stolen signing key
//! cannot replace anything.

use crate::did::multihash;
use crate::document::CONTEXT;
use crate::{Agent, Did, DidDocument, Error, Reason, Result, Role, Timestamp, VerifyingKey, encoding, json};
use serde_json::{Map, Value};
use std::io::BufRead;
use std::sync::Arc;

/// The longest card that is read, in bytes.
pub const MAX_CARD: usize = 64 << 10;

/// The most cards that a log may have.
pub const MAX_CARDS: usize = 1024;

/// The longest text of a log that is read, in bytes: [`MAX_CARDS`] lines.
pub const MAX_CARD_LOG: usize = MAX_CARDS * (MAX_CARD + 1);

/// The most keys of earlier cards that a card still lists; the newest stay.
const MAX_RETIRED: usize = 8;

/// The context of the signature (FIPS 204, §5.2): no other signature of a DID key can be taken for that of a card.
const SIGNATURE_CONTEXT: &[u8] = b"gambeson card v1";

/// The member of the document that holds what is not in DID Core.
const MEMBER: &str = "card";

/// What the owner of a card puts on it besides keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardContent {
    /// Other identifiers of the same agent: `did:web`, `did:webvh`, addresses.
    pub also_known_as: Vec<String>,
    /// Services (DID Core 1.0, §5.4).
    pub services: Vec<Value>,
    /// The keys of groups that stand on it, each once, out of [`Role::GROUPS`]; none unless asked for.
    pub groups: Vec<Role>,
}

/// What becomes of keys that a new card replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retired {
    /// They stay good for so many seconds.
    Superseded(u64),
    /// They are revoked at once.
    Compromised,
}

/// An identity card that was verified, with all the cards before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    // Shared: who keeps cards hands out copies, and a document is a hundred allocations.
    document: Arc<DidDocument>,
    version: u64,
    valid_from: Timestamp,
    valid_until: Timestamp,
    next: Vec<u8>,
    /// The canonical document, which is what the signature and the hash are over.
    canonical: Arc<[u8]>,
    hash: Vec<u8>,
    signature: Vec<u8>,
}

impl Card {
    /// The DID document.
    pub fn document(&self) -> &DidDocument {
        &self.document
    }

    pub(crate) fn shared_document(&self) -> &Arc<DidDocument> {
        &self.document
    }

    /// The number of the card: the first is 1.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// When it begins and ends.
    pub fn validity(&self) -> (Timestamp, Timestamp) {
        (self.valid_from, self.valid_until)
    }

    /// The canonical document (RFC 8785): what the signature and the hash are over.
    pub fn canonical(&self) -> &[u8] {
        &self.canonical
    }

    /// The multihash of the canonical document, in multibase: peers that know it need not be sent the card.
    pub fn hash(&self) -> String {
        encoding::multibase(&self.hash)
    }

    /// The file: the document and its signature, canonical JSON (RFC 8785) of one line.
    pub fn to_json(&self) -> String {
        // Canonical, for the members stand in their order, and base64url needs no escapes.
        let document = core::str::from_utf8(&self.canonical).expect("JSON is UTF-8");
        format!("{{\"document\":{document},\"signature\":\"{}\"}}", encoding::encode(&self.signature))
    }

    /// Makes and signs the first card of an agent.
    pub(crate) fn first(
        agent: &Agent,
        from: Timestamp,
        until: Timestamp,
        content: &CardContent,
    ) -> Result<Self> {
        Self::sign(agent, None, from, until, content, &[])
    }

    /// Signs a card with the agent's present keys; `retired` are methods of earlier cards that it still lists.
    pub(crate) fn sign(
        agent: &Agent,
        previous: Option<&Self>,
        from: Timestamp,
        until: Timestamp,
        content: &CardContent,
        retired: &[Map<String, Value>],
    ) -> Result<Self> {
        let document = compose(agent, previous, from, until, content, retired)?;
        let mut card = Self::read(document, Vec::new())?;
        card.signature = agent.key(Role::Did).sign(SIGNATURE_CONTEXT, &card.canonical)?;
        card.follows(previous)?;
        match card.to_json().len() {
            ..=MAX_CARD => Ok(card),
            len => Err(Error::new(
                Reason::TooLarge,
                format_args!("the card has {len} bytes; the limit is {MAX_CARD}"),
            )),
        }
    }

    /// Reads the first card of a DID and verifies it.
    ///
    /// # Errors
    ///
    /// [`Reason::NotBound`] if its DID key does not hash to its DID, [`Reason::BadSignature`], or what its form lacks.
    pub fn verify_first(card: &[u8]) -> Result<Self> {
        let card = Self::parse(card)?;
        card.follows(None)?;
        Ok(card)
    }

    /// Reads the card after this one and verifies it.
    ///
    /// # Errors
    ///
    /// [`Reason::BrokenChain`] if it does not follow, [`Reason::BadSignature`], or what its form lacks.
    pub fn verify_next(&self, card: &[u8]) -> Result<Self> {
        let card = Self::parse(card)?;
        card.follows(Some(self))?;
        Ok(card)
    }

    fn parse(card: &[u8]) -> Result<Self> {
        let mut card = json::parse_object(card, MAX_CARD)?;
        let (document, signature) = (card.remove("document"), card.remove("signature"));
        match (document, signature, card.is_empty()) {
            (Some(Value::Object(document)), Some(Value::String(signature)), true) => {
                Self::read(document, encoding::decode(&signature, 8192)?)
            }
            _ => Err(Error::new(
                Reason::BadForm,
                "a card must have the members document and signature and no other",
            )),
        }
    }

    fn read(json: Map<String, Value>, signature: Vec<u8>) -> Result<Self> {
        let bad =
            |what: &str| Error::new(Reason::BadForm, format_args!("the card's {what} is missing or wrong"));
        let canonical = json::canonicalize_object(&json)?;
        let document = Arc::new(DidDocument::from_json(json)?);
        let suite = document.id().suite();
        let meta = document.json().get(MEMBER).and_then(Value::as_object).ok_or_else(|| bad(MEMBER))?;
        let text = |name: &str| meta.get(name).and_then(Value::as_str).ok_or_else(|| bad(name));
        let version = meta.get("version").and_then(Value::as_u64).filter(|version| *version > 0);
        let version = version.ok_or_else(|| bad("version"))?;
        let (valid_from, valid_until): (Timestamp, Timestamp) =
            (text("validFrom")?.parse()?, text("validUntil")?.parse()?);
        if valid_until < valid_from {
            return Err(bad("validUntil"));
        }
        let next = encoding::from_multibase(text("next")?, 64)?;
        let empty = multihash(suite, b"");
        if next.len() != empty.len() || next[..2] != empty[..2] {
            return Err(bad("next"));
        }
        let hash = multihash(suite, &canonical);
        let canonical = canonical.into();
        Ok(Self { version, valid_from, valid_until, next, canonical, hash, signature, document })
    }

    /// Whether the DID, or the card before, vouches for this one, and its own key signed it.
    fn follows(&self, previous: Option<&Self>) -> Result<()> {
        let did = self.document.id();
        let broken = |what: &str| {
            Error::new(Reason::BrokenChain, format_args!("card {} of {did}: {what}", self.version))
        };
        let url = did.url(&format!("{}-{}", Role::Did.fragment(), self.version - 1));
        let key = self.did_key(&url)?;
        let stated = &self.document.json()[MEMBER]["previous"];
        match previous {
            None => {
                if self.version != 1 || !stated.is_null() {
                    return Err(broken("it is not the first card"));
                }
                if !did.commits_to(key) {
                    return Err(Error::new(
                        Reason::NotBound,
                        format_args!("the DID key #{} does not hash to {did}", url.fragment()),
                    ));
                }
            }
            Some(previous) => {
                if previous.document.id() != did {
                    return Err(broken("the previous card is of another DID"));
                }
                if previous.version + 1 != self.version || stated.as_str() != Some(&previous.hash()) {
                    return Err(broken("it does not name the previous card"));
                }
                if self.valid_from < previous.valid_from {
                    return Err(broken("its validity begins before that of the previous card"));
                }
                if key.algorithm() != crate::did::did_algorithm(did.suite())
                    || multihash(did.suite(), key.as_bytes()) != previous.next
                {
                    return Err(broken("its DID key is not the one that the previous card announced"));
                }
            }
        }
        key.verify(SIGNATURE_CONTEXT, &self.canonical, &self.signature)
    }

    fn did_key(&self, url: &crate::DidUrl) -> Result<&VerifyingKey> {
        self.document.key_of_role(url, Role::Did, self.valid_from)
    }

    /// The methods of this card that the next one keeps, so that what they signed can still be judged.
    pub(crate) fn retire(
        &self,
        rotated: &[Role],
        retired: Retired,
        now: Timestamp,
    ) -> Vec<Map<String, Value>> {
        let methods = self.document.json()["verificationMethod"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_object);
        let keep = methods.filter_map(|method| {
            let fragment = method.get("id")?.as_str()?.split_once('#')?.1;
            let (name, _) = fragment.rsplit_once('-')?;
            let role = Role::of_fragment(name)?;
            let mut method = method.clone();
            let (revoked, expires) = (method.contains_key("revoked"), method.contains_key("expires"));
            if role == Role::Did || !(revoked || expires || rotated.contains(&role)) {
                return None;
            }
            if rotated.contains(&role) && !revoked {
                match retired {
                    Retired::Compromised => {
                        method.remove("expires");
                        method.insert("revoked".into(), now.to_string().into());
                    }
                    Retired::Superseded(grace) if !expires => {
                        method.insert("expires".into(), now.after(grace).to_string().into());
                    }
                    Retired::Superseded(_) => {}
                }
            }
            let over = |until: &Value| {
                until.as_str().and_then(|time| time.parse::<Timestamp>().ok()).is_some_and(|time| time < now)
            };
            (!method.get("expires").is_some_and(over)).then_some(method)
        });
        keep.take(MAX_RETIRED).collect()
    }

    /// The content that the owner chose, for the next card.
    pub fn content(&self) -> CardContent {
        let list = |name: &str| {
            self.document.json().get(name).and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let present = |role: &Role| {
            self.document.methods().any(|method| {
                let named = method.id().fragment().rsplit_once('-').map(|(name, _)| name);
                named == Some(role.fragment()) && method.revoked().is_none() && method.expires().is_none()
            })
        };
        CardContent {
            also_known_as: list("alsoKnownAs").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            services: list("service"),
            groups: Role::GROUPS.into_iter().filter(present).collect(),
        }
    }
}

/// The document of a card, without its signature.
fn compose(
    agent: &Agent,
    previous: Option<&Card>,
    from: Timestamp,
    until: Timestamp,
    content: &CardContent,
    retired: &[Map<String, Value>],
) -> Result<Map<String, Value>> {
    let did = agent.did();
    let mut methods = Vec::new();
    let mut relationships: Vec<(&str, Vec<Value>)> =
        crate::Relationship::ALL.map(|it| (it.name(), Vec::new())).into();
    if content.groups.iter().any(|role| !Role::GROUPS.contains(role)) {
        return Err(Error::new(Reason::BadForm, "the list has a role that is not a role of groups"));
    }
    for role in Role::ALL.into_iter().chain(Role::GROUPS.into_iter().filter(|it| content.groups.contains(it)))
    {
        let id = agent.key_url(role).to_string();
        methods.push(agent.verification_method(role)?);
        for relationship in role.relationships() {
            relationships
                .iter_mut()
                .filter(|(name, _)| *name == relationship.name())
                .for_each(|(_, urls)| urls.push(id.clone().into()));
        }
    }
    for method in retired {
        let id = method["id"].as_str().unwrap_or_default();
        let role = Role::ALL.into_iter().find(|role| id.contains(&format!("#{}-", role.fragment())));
        if !method.contains_key("revoked") {
            for relationship in role.map(Role::relationships).unwrap_or_default() {
                relationships
                    .iter_mut()
                    .filter(|(name, _)| *name == relationship.name())
                    .for_each(|(_, urls)| urls.push(id.into()));
            }
        }
        methods.push(Value::Object(method.clone()));
    }
    let mut document = Map::new();
    // The term `card` is JSON as it stands for processors of JSON-LD.
    document.insert(
        "@context".into(),
        serde_json::json!([
            CONTEXT,
            "https://w3id.org/security/jwk/v1",
            "https://w3id.org/security/multikey/v1",
            {"card": {"@id": "urn:gambeson:card", "@type": "@json"}}
        ]),
    );
    document.insert("id".into(), did.as_str().into());
    if !content.also_known_as.is_empty() {
        document.insert("alsoKnownAs".into(), content.also_known_as.clone().into());
    }
    document.insert("verificationMethod".into(), methods.into());
    document.extend(relationships.into_iter().map(|(name, urls)| (name.to_owned(), urls.into())));
    if !content.services.is_empty() {
        document.insert("service".into(), content.services.clone().into());
    }
    document.insert(
        MEMBER.into(),
        serde_json::json!({
            "version": previous.map_or(1, |previous| previous.version + 1),
            "validFrom": from.to_string(),
            "validUntil": until.to_string(),
            "previous": previous.map(Card::hash),
            "next": encoding::multibase(&agent.next_did_key_hash()),
        }),
    );
    Ok(document)
}

/// All the cards of a DID, oldest first: a hash chain. Its file has one card a line. Clones share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardLog(Arc<Vec<Card>>);

impl CardLog {
    /// A log of the first card alone.
    ///
    /// # Errors
    ///
    /// [`Reason::BrokenChain`] if it is not the first.
    pub fn new(first: Card) -> Result<Self> {
        first.follows(None)?;
        Ok(Self(Arc::new(vec![first])))
    }

    /// Reads a log and verifies every card of it.
    ///
    /// # Errors
    ///
    /// What is wrong with the first card that does not hold; [`Reason::TooLarge`] beyond [`MAX_CARDS`].
    pub fn verify(text: &[u8]) -> Result<Self> {
        let mut lines = Self::lines(text);
        let first = lines
            .next()
            .ok_or_else(|| Error::new(Reason::BadForm, "a card log must have at least one card"))?;
        let mut log = Self(Arc::new(vec![Card::verify_first(first)?]));
        for line in lines {
            log.append(line)?;
        }
        Ok(log)
    }

    /// The cards in a file of a log, of which none was looked at yet: its lines that are not empty.
    pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = text;
        let lines = core::iter::from_fn(move || {
            let from = rest;
            // The standard library's search, word by word: byte by byte takes a twentieth of what a card takes to verify.
            let len = rest.skip_until(b'\n').ok().filter(|len| *len > 0)?;
            let line = &from[..len];
            Some(line.strip_suffix(b"\n").unwrap_or(line))
        });
        lines.filter(|line| !line.is_empty())
    }

    /// Verifies the next card and adds it.
    ///
    /// # Errors
    ///
    /// As [`Card::verify_next`], and [`Reason::TooLarge`] beyond [`MAX_CARDS`]; the log stays as it was.
    pub fn append(&mut self, card: &[u8]) -> Result<()> {
        self.room()?;
        let card = self.newest().verify_next(card)?;
        self.push_verified(card)
    }

    /// Adds the next card.
    ///
    /// # Errors
    ///
    /// [`Reason::BrokenChain`], [`Reason::TooLarge`] beyond [`MAX_CARDS`]; the log stays as it was.
    pub fn push(&mut self, card: Card) -> Result<()> {
        self.room()?;
        card.follows(Some(self.newest()))?;
        self.push_verified(card)
    }

    /// Adds a card that was seen to follow the newest.
    pub(crate) fn push_verified(&mut self, card: Card) -> Result<()> {
        self.room()?;
        Arc::make_mut(&mut self.0).push(card);
        Ok(())
    }

    /// Refuses a card more than a log may have: nobody would read the log any more.
    fn room(&self) -> Result<()> {
        match self.0.len() {
            ..MAX_CARDS => Ok(()),
            _ => {
                Err(Error::new(Reason::TooLarge, format_args!("a card log has more than {MAX_CARDS} cards")))
            }
        }
    }

    /// The newest card.
    pub fn newest(&self) -> &Card {
        self.0.last().expect("a card log must have at least one card")
    }

    /// Every card, oldest first.
    pub fn cards(&self) -> &[Card] {
        &self.0
    }

    /// The DID.
    pub fn did(&self) -> &Did {
        self.newest().document.id()
    }

    /// The file: one card a line.
    pub fn to_lines(&self) -> String {
        self.0.iter().map(|card| card.to_json() + "\n").collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;
    use crate::MasterSeed;

    const NOW: Timestamp = Timestamp(1_795_330_800);

    #[test]
    fn a_log_that_is_full_takes_no_card_and_its_agent_goes_on() {
        let mut agent = Agent::from_seed(MasterSeed::from_bytes(&[1; 32]));
        let content = CardContent::default();
        let first = agent.first_card(NOW, NOW.after(60), &content).unwrap();
        // Not a chain, but as long as one.
        let mut full = CardLog(vec![first.clone(); MAX_CARDS].into());
        let rotated = agent.rotate(&mut full, &[], Retired::Compromised, (NOW, NOW.after(60)), &content);
        assert_eq!(rotated.unwrap_err().reason(), Reason::TooLarge);
        assert_eq!((full.cards().len(), agent.index(Role::Did)), (MAX_CARDS, 0));

        let mut log = CardLog::new(first).unwrap();
        agent.rotate(&mut log, &[], Retired::Compromised, (NOW, NOW.after(60)), &content).unwrap();
        let second = log.newest().clone();
        assert_eq!(full.append(second.to_json().as_bytes()).unwrap_err().reason(), Reason::TooLarge);
        assert_eq!(full.push(second).unwrap_err().reason(), Reason::TooLarge);
        Arc::make_mut(&mut full.0).pop();
        full.push(log.newest().clone()).unwrap();
        assert_eq!(full.cards().len(), MAX_CARDS);
    }

    #[test]
    fn the_cards_of_a_file_are_its_lines_that_are_not_empty() {
        let lines = |text: &'static str| CardLog::lines(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(lines("a\nbc\n"), [&b"a"[..], b"bc"]);
        assert_eq!(lines("\n\na\n\nbc"), [&b"a"[..], b"bc"]);
        assert!(lines("").is_empty() && lines("\n").is_empty());
    }

    #[test]
    fn the_text_of_a_card_is_canonical() {
        let agent = Agent::from_seed(MasterSeed::from_bytes(&[1; 32]));
        let text = agent.first_card(NOW, NOW, &CardContent::default()).unwrap().to_json();
        let parsed = json::parse_object(text.as_bytes(), MAX_CARD).unwrap();
        assert_eq!(json::canonicalize_object(&parsed).unwrap(), text.as_bytes());
    }
}
