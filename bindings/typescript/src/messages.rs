//! HTTP messages as JavaScript hands them over.

use gambeson_identity::Result;
use gambeson_identity::http::{Component, Message};
use serde_json::Value;

use crate::border::{Answer, Input, bad};

/// Makes the message in the member `message`, and the request that it answers if it is a response, and works with it.
///
/// `fields` are pairs; with `body` the next piece of the bytes is the content.
pub fn with(input: &Input<'_>, work: &mut dyn FnMut(&Message<'_>) -> Result<Answer>) -> Result<Answer> {
    let described = input.inside("message").ok_or_else(|| bad("a message is missing"))?;
    let pieces = input.pieces()?;
    let mut bodies = pieces.iter().copied();
    let (fields, body) = parts(&described, &mut bodies)?;
    let Some(status) = described.number_if("status")? else {
        let message = Message::request(described.text("method")?, described.text("url")?, &fields);
        return work(&with_body(message, body));
    };
    let status = u16::try_from(status).map_err(|_| bad("a status must have three digits"))?;
    let response = with_body(Message::response(status, &fields), body);
    match described.inside("request") {
        None => work(&response),
        Some(request) => {
            let (fields, body) = parts(&request, &mut bodies)?;
            let asked = Message::request(request.text("method")?, request.text("url")?, &fields);
            work(&response.answering(&with_body(asked, body)))
        }
    }
}

/// Names of what is signed.
pub fn components(input: &Input<'_>, name: &str) -> Result<Vec<Component>> {
    input.texts(name)?.into_iter().map(str::parse).collect()
}

type Parts<'a> = (Vec<(String, String)>, Option<&'a [u8]>);

fn parts<'a>(message: &Input<'_>, bodies: &mut dyn Iterator<Item = &'a [u8]>) -> Result<Parts<'a>> {
    let pair = |field: &Value| match (field[0].as_str(), field[1].as_str()) {
        (Some(name), Some(value)) => Ok((name.to_owned(), value.to_owned())),
        _ => Err(bad("a field must be a name and a value")),
    };
    let fields = message.list("fields")?.iter().map(pair).collect::<Result<_>>()?;
    Ok((fields, if message.flag("body")? { bodies.next() } else { None }))
}

fn with_body<'a>(message: Message<'a>, body: Option<&'a [u8]>) -> Message<'a> {
    body.map_or(message, |body| message.with_body(body))
}
