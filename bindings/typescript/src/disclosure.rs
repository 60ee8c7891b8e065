//! Selective disclosure: SD-JWT VC.

use gambeson_identity::vc::{KeyBinding, SdJwt, SdJwtHeld};
use gambeson_identity::{Agent, Result, json};

use crate::agent::validity;
use crate::border::{Answer, Input, MAX_JSON, bad, object, said, texts};
use crate::verifier::{MAX_AGE, Verifier};
use crate::{files, keeping};

/// What an agent is asked.
pub fn ask(agent: &Agent, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "issueSdJwt" => {
            let (from, until) = validity(input)?;
            let mut builder = SdJwt::builder(input.text("vct")?)
                .claims(json::parse(input.text("claims")?.as_bytes(), MAX_JSON)?);
            for pointer in input.texts("disclosable")? {
                builder = builder.disclosable(pointer);
            }
            if input.member("holder").is_some() {
                builder = builder.holder(&input.url("holder")?);
            }
            if input.member("decoys").is_some() {
                builder = builder.decoys(input.size("decoys")?);
            }
            said(builder.valid(from, until).issue(agent, from)?)
        }
        "presentSdJwt" => {
            let held = SdJwtHeld::parse(input.text("issued")?)?;
            let (audience, nonce) = (input.text("audience")?, input.text("nonce")?);
            said(held.present_bound(agent, &input.texts("disclosed")?, audience, nonce, input.now()?)?)
        }
        _ => keeping::ask(agent, verb, input),
    }
}

/// What a verifier is asked.
pub fn ask_verifier(verifier: &Verifier, verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "sdJwt" => sd_jwt(verifier, input),
        _ => files::ask_verifier(verifier, verb, input),
    }
}

/// What needs no object.
pub fn ask_form(verb: &str, input: &Input<'_>) -> Result<Answer> {
    match verb {
        "disclosable" => said(texts(SdJwtHeld::parse(input.text("issued")?)?.disclosable())),
        "disclose" => {
            let held = SdJwtHeld::parse(input.text("issued")?)?;
            said(held.present(&input.texts("disclosed")?)?)
        }
        _ => keeping::ask_form(verb, input),
    }
}

fn sd_jwt(verifier: &Verifier, input: &Input<'_>) -> Result<Answer> {
    let bearer = input.flag("bearer")?;
    let (binding, anybodys) = match (input.text_if("audience")?, input.text_if("nonce")?) {
        (None, None) => (KeyBinding::None, !bearer),
        (Some(audience), Some(nonce)) if !bearer => {
            let max_age = input.number_if("maxAge")?.unwrap_or(MAX_AGE);
            (KeyBinding::Required { audience, nonce, max_age }, false)
        }
        _ => return Err(bad("audience and nonce must be given together, and not with bearer")),
    };
    let verified = SdJwt::verify(input.text("presented")?, &verifier.known, input.now()?, binding)?;
    if anybodys && verified.holder().is_some() {
        return Err(bad("the token is bound to its holder: give audience and nonce, or bearer: true"));
    }
    said(object(vec![
        ("issuer", verified.issuer().as_str().into()),
        ("signer", verified.signer().to_string().into()),
        ("holder", verified.holder().map(ToString::to_string).into()),
        ("claims", verified.claims().clone().into()),
    ]))
}
