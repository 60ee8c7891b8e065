//! What needs no object: keys, DIDs, cards, canonical JSON, JWS, and the forms that standards ask for.

use gambeson_identity::action::Action;
use gambeson_identity::jose::Jws;
use gambeson_identity::memory::ObjectId;
use gambeson_identity::vc::{self, MAX_PRESENTATION, data_integrity};
use gambeson_identity::{
    Algorithm, CardLog, Did, DidDocument, DidUrl, Kind, Method, Relationship, Result, Timestamp,
    VerifyingKey, json,
};
use serde_json::Value;

use crate::agent::{role_of, suite};
#[cfg(not(feature = "whole"))]
use crate::border::NO_VERB;
use crate::border::{Answer, Input, MAX_JSON, bad, given, object, said};
#[cfg(feature = "whole")]
use crate::disclosure;

/// What needs no object.
pub fn ask(verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "objectId" => said(ObjectId::of(input.bytes()).to_string()),
        "canonicalize" => {
            let max = input.size("maxLength")?;
            let value = match input.flag("object")? {
                true => json::parse_object(input.bytes(), max)?.into(),
                false => json::parse(input.bytes(), max)?,
            };
            given(json::canonicalize(&value)?)
        }
        "time" => {
            let time: Timestamp = input.text("text")?.parse()?;
            said(object(vec![("seconds", time.0.into()), ("text", time.to_string().into())]))
        }
        "jws" => jws(input),
        "publicKey" => {
            let key = match input.text_if("alg")? {
                Some(algorithm) => VerifyingKey::from_bytes(Algorithm::from_jose(algorithm)?, input.bytes())?,
                None => key(input)?,
            };
            let about = object(vec![
                ("alg", key.algorithm().jose().into()),
                ("jwk", key.to_jwk()),
                ("multikey", key.to_multikey().into()),
                ("did", Did::from_key(&key).as_str().into()),
            ]);
            Ok((about, key.as_bytes().to_vec()))
        }
        "did" => {
            let did: Did = input.text("did")?.parse()?;
            let address = if did.method() == Method::Web { Some(did.web_address()?) } else { None };
            said(object(vec![
                ("method", did.as_str().split(':').nth(1).into()),
                ("id", did.method_specific_id().into()),
                ("suite", did.suite().name().into()),
                ("address", address.into()),
            ]))
        }
        "didUrl" => {
            let url = match input.text_if("base")? {
                Some(base) => base.parse::<Did>()?.join(input.text("url")?)?,
                None => input.text("url")?.parse::<DidUrl>()?,
            };
            said(object(vec![
                ("did", url.did().as_str().into()),
                ("path", url.path().into()),
                ("query", url.query().into()),
                ("fragment", url.fragment().into()),
            ]))
        }
        "checkDidDocument" => {
            match input.text_if("mediaType")? {
                Some(media_type) => DidDocument::read(media_type, input.text("json")?.as_bytes())?,
                None => DidDocument::from_json(input.json("json", MAX_FORM)?)?,
            };
            said(Value::Null)
        }
        "checkCredential" => {
            vc::check_credential(&input.json("json", MAX_FORM)?)?;
            said(Value::Null)
        }
        "checkPresentation" => {
            vc::check_presentation(&input.json("json", MAX_FORM)?)?;
            said(Value::Null)
        }
        "cards" => cards(&CardLog::verify(input.text("cards")?.as_bytes())?),
        "cardKey" => card_key(&CardLog::verify(input.text("cards")?.as_bytes())?, input),
        "action" => {
            let action = Action::from_json(input.text("action")?.as_bytes())?;
            said(object(vec![
                ("method", action.call().method.as_str().into()),
                ("name", action.call().name.as_str().into()),
                ("arguments", action.call().arguments.clone().into()),
                ("params", action.call().params.clone().into()),
                ("audience", action.audience().into()),
                ("issued", action.issued().0.into()),
                ("expires", action.expires().0.into()),
                ("nonce", action.nonce().into()),
                ("delegation", action.delegation().into()),
                ("digest", action.digest(suite(input)?).into()),
            ]))
        }
        "documentWithKey" => {
            let document = input.json("document", MAX_PRESENTATION)?;
            said(data_integrity::verify_with_key(&document, &key(input)?)?)
        }
        #[cfg(feature = "whole")]
        _ => disclosure::ask_form(verb, input),
        #[cfg(not(feature = "whole"))]
        _ => Err(bad(NO_VERB)),
    }
}

/// The longest document of these forms, in bytes.
const MAX_FORM: usize = 1 << 20;

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A public key: a JWK or a Multikey. The bytes beside it are what is verified, and never the key.
pub fn key(input: &Input<'_>) -> Result<VerifyingKey> {
    match input.member("jwk") {
        Some(_) => VerifyingKey::from_jwk(&input.json("jwk", MAX_JSON)?),
        None => VerifyingKey::from_multikey(input.text("multikey")?),
    }
}

fn jws(input: &Input<'_>) -> Result<Answer> {
    let (token, max) = (input.text("token")?, input.size("maxLength")?);
    let jws = match input.pieces()?[..] {
        [payload] => Jws::parse_detached(token, payload, max)?,
        _ => Jws::parse(token, max)?,
    };
    if let Some(expected) = input.text_if("typ")? {
        jws.expect_type(expected)?;
    }
    let url = if input.flag("keyUrl")? { Some(jws.key_id()?.to_string()) } else { None };
    jws.verify(&key(input)?)?;
    let head = object(vec![("header", jws.header().clone().into()), ("keyUrl", url.into())]);
    Ok((head, jws.payload_unverified().to_vec()))
}

fn cards(log: &CardLog) -> Result<Answer> {
    let newest = log.newest();
    let (from, until) = newest.validity();
    said(object(vec![
        ("did", log.did().as_str().into()),
        ("hashes", log.cards().iter().map(|card| Value::from(card.hash())).collect()),
        ("document", newest.document().json().clone().into()),
        ("from", from.0.into()),
        ("until", until.0.into()),
        ("newest", newest.to_json().into()),
    ]))
}

/// The key of the newest card for a relationship, a role, or an algorithm of key agreement.
fn card_key(log: &CardLog, input: &Input<'_>) -> Result<Answer> {
    let (document, now) = (log.newest().document(), input.now()?);
    if let Some(algorithm) = input.text_if("agreement")? {
        let (url, bytes) = document.agreement_key(algorithm, now)?;
        return Ok((url.to_string().into(), bytes.to_vec()));
    }
    let url = input.url("keyUrl")?;
    let key = match input.text_if("role")? {
        Some(role) => document.key_of_role(&url, role_of(role)?, now)?,
        None => {
            let kind = if input.flag("multikey")? { Kind::Multikey } else { Kind::JsonWebKey };
            let name = input.text("relationship")?;
            let relationship = Relationship::ALL.into_iter().find(|relationship| relationship.name() == name);
            let relationship = relationship.ok_or_else(|| bad("unknown relationship"))?;
            document.key_for(&url, kind, relationship, now)?
        }
    };
    Ok((url.to_string().into(), key.as_bytes().to_vec()))
}
