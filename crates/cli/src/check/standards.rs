//! What single standards say: A2A 1.0 (`a2a`), DID Core 1.0 (`did`), VC Data Model 2.0 (`vc`), HTTP Message Signatures
//! (`httpsig`).

use super::identity::{File, Found, bad, now, size, text};
use base64ct::{Base64UrlUnpadded, Encoding};
use gambeson_identity::http::{self, Component, Message, Policy};
use gambeson_identity::vc::{self, Binding, Credential, Presentation, Request, Status};
use gambeson_identity::{
    CardLog, CardStore, Did, DidDocument, DidUrl, Error, Fetch, Kind, MemoryReplayCache, Relationship,
    Timestamp, Web, a2a, json as strict, resolution,
};
use serde_json::{Map, Value};

/// The longest DID document of these files.
const MAX_DOCUMENT: usize = 64 << 10;

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// `did`, `did-url`, `relative`, `document`, `text`, `representation`, `signed`, `resolution`.
pub(super) fn did(_: &File, vector: &Value) -> Option<Found> {
    let input = &vector["input"];
    let line = input.as_str().unwrap_or_default();
    Some(match text(vector, "kind") {
        "did" => line.parse::<Did>().map(|_| Vec::new()),
        "did-url" => line.parse::<DidUrl>().map(|url| vec![("input", url.to_string().into())]),
        "relative" => text(input, "did")
            .parse::<Did>()
            .and_then(|did| did.join(text(input, "reference")))
            .map(|url| vec![("url", url.to_string().into())]),
        "document" => DidDocument::from_json(object(input)).map(|_| Vec::new()),
        "text" => strict::parse_object(line.as_bytes(), MAX_DOCUMENT)
            .and_then(DidDocument::from_json)
            .map(|_| Vec::new()),
        "representation" => {
            DidDocument::read(text(input, "mediaType"), text(input, "text").as_bytes()).map(|_| Vec::new())
        }
        "signed" => by_key_of(input).map(|()| Vec::new()),
        "resolution" => resolved(vector),
        _ => return None,
    })
}

fn by_key_of(input: &Value) -> Result<(), Error> {
    let document = DidDocument::from_json(object(&input["document"]))?;
    let url = DidUrl::of_key(text(input, "url"))?;
    let key = document.key_for(&url, Kind::JsonWebKey, Relationship::AssertionMethod, Timestamp(0))?;
    let signature =
        Base64UrlUnpadded::decode_vec(text(input, "signature")).map_err(|_| bad("no base64url"))?;
    key.verify(text(input, "context").as_bytes(), text(input, "message").as_bytes(), &signature)
}

/// A site that has one document, whatever the address.
struct Site(Vec<u8>);

impl Fetch for Site {
    fn get(&self, _: &str, _: usize) -> Result<Vec<u8>, Error> {
        Ok(self.0.clone())
    }
}

fn resolved(vector: &Value) -> Found {
    let input = &vector["input"];
    let (url, accept, now) = (text(input, "url"), input["accept"].as_str(), now(input));
    let mut cards = CardStore::default();
    if let Some(log) = input["log"].as_str() {
        cards.add(CardLog::verify(log.as_bytes())?)?;
    }
    let site = Web::new(Site(input["document"].to_string().into_bytes()), cards);
    let found = match text(input, "function") {
        "resolve" => resolution::resolve(&site, url, now),
        "resolveRepresentation" => resolution::resolve_representation(&site, url, accept, now),
        _ => resolution::dereference(&site, url, accept, now),
    };
    let (refusal, mut returned) = (found.refusal.clone(), found.into_json());
    returned.remove("reason");
    match refusal {
        None => Ok(vec![("returned", returned.into())]),
        Some(error) if vector["returned"] == Value::from(returned) => Err(error),
        // What a failure returns is judged too: with anything else it is none.
        Some(_) => Ok(Vec::new()),
    }
}

/// `credential`, `presentation`, `secured`, `secured-presentation`.
pub(super) fn credential(file: &File, vector: &Value) -> Option<Found> {
    let input = &vector["input"];
    let judged = match text(vector, "kind") {
        "credential" => vc::check_credential(&object(input)),
        "presentation" => vc::check_presentation(&object(input)),
        "secured" => {
            let secured = input.as_str().unwrap_or_default();
            let verified =
                Credential::verify(secured, file.cards(), now(vector), Status::Required(file.lists()));
            verified.and_then(|found| match found.json().contains_key("proof") {
                true => Err(bad("the verified document still has a proof")),
                false => Ok(()),
            })
        }
        "secured-presentation" => {
            let (audience, nonce) = (text(vector, "audience"), text(vector, "nonce"));
            let request = Request { audience, nonce, max_age: 120, binding: Binding::Subject };
            let (secured, status) = (input.as_str().unwrap_or_default(), Status::Required(file.lists()));
            Presentation::verify(secured, file.cards(), now(vector), &request, status).map(drop)
        }
        _ => return None,
    };
    Some(judged.map(|()| Vec::new()))
}

/// `card-log`, `card`.
pub(super) fn agent_card(file: &File, vector: &Value) -> Option<Found> {
    match text(vector, "kind") {
        "card-log" => Some(CardLog::verify(text(vector, "log").as_bytes()).map(|_| Vec::new())),
        "card" => Some(signed_card(file, vector)),
        _ => None,
    }
}

fn signed_card(file: &File, vector: &Value) -> Found {
    let expected = vector["expected"].as_str().map(str::parse::<Did>).transpose()?;
    let card = text(vector, "card").as_bytes();
    let verified = a2a::verify(card, expected.as_ref(), file.cards(), now(vector))?;
    let canonical = a2a::canonicalize(&strict::parse_object(card, a2a::MAX_CARD)?)?;
    Ok(vec![
        ("signer", verified.signer().to_string().into()),
        ("canonical", String::from_utf8_lossy(&canonical).into()),
    ])
}

/// `cards`, `http`.
pub(super) fn request(file: &File, vector: &Value) -> Option<Found> {
    match text(vector, "kind") {
        "cards" => Some(CardLog::verify(text(vector, "log").as_bytes()).map(|_| Vec::new())),
        "http" => {
            let mut found = None;
            with_message(&vector["message"], &mut |message| found = Some(signed(file, vector, message)));
            found
        }
        _ => None,
    }
}

fn signed(file: &File, vector: &Value, message: &Message<'_>) -> Found {
    let required = vector["required"].as_array().into_iter().flatten();
    let required = required.map(|name| name.as_str().unwrap_or_default().parse::<Component>());
    let mut policy = Policy { required: required.collect::<Result<_, _>>()?, ..Policy::default() };
    if vector["relationship"] == "capabilityInvocation" {
        policy.relationship = Relationship::CapabilityInvocation;
    }
    policy.tag = vector["tag"].as_str().map(str::to_owned);
    policy.signer = vector["from"].as_str().map(str::parse).transpose()?;
    policy.max_age = vector["maxAge"].as_u64().unwrap_or(policy.max_age);
    let mut replay = MemoryReplayCache::new(size(vector, "capacity", 100));
    if vector["repeat"] == true {
        http::verify(message, &policy, file.cards(), now(vector), &mut replay)
            .map_err(|error| bad(&format!("the first time must be good: {error}")))?;
    }
    let found = http::verify(message, &policy, file.cards(), now(vector), &mut replay)?;
    Ok(vec![
        ("signer", found.signer().to_string().into()),
        ("label", found.label().into()),
        ("base", found.base().into()),
    ])
}

/// Makes the message that a vector describes, and the request that it answers, if it is an answer.
fn with_message(described: &Value, act: &mut dyn FnMut(&Message<'_>)) {
    let fields = described["fields"].as_array().into_iter().flatten();
    let fields: Vec<(String, String)> = fields
        .map(|field| [&field[0], &field[1]].map(|it| it.as_str().unwrap_or_default().to_owned()).into())
        .collect();
    let message = match described["status"].as_u64().and_then(|status| u16::try_from(status).ok()) {
        None => Message::request(text(described, "method"), text(described, "target"), &fields),
        Some(status) => Message::response(status, &fields),
    };
    let message = match described["body"].as_str() {
        Some(body) => message.with_body(body.as_bytes()),
        None => message,
    };
    match described.get("request") {
        Some(request) => with_message(request, &mut |request| act(&message.answering(request))),
        None => act(&message),
    }
}
