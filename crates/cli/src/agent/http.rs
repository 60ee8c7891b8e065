//! `agent http sign`, `verify`: requests in files, as HTTP/1.1 has them (RFC 9112), under `https`.

use super::Session;
use super::seen::Seen;
use crate::args::agent::{HttpCommand, HttpSign, HttpVerify};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_identity::http::{self, Message, Policy, Terms};
use gambeson_identity::{Relationship, Role};
use serde_json::json;
use std::path::Path;

/// The most fields of a request.
const MAX_FIELDS: usize = 128;

pub(super) fn http(session: &Session, command: &HttpCommand) -> Result<Status, Error> {
    match command {
        HttpCommand::Sign(options) => sign(session, options),
        HttpCommand::Verify(options) => verify(session, options),
    }
}

/// A request that was read.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) fields: Vec<(String, String)>,
    /// Where the content begins.
    pub(super) content: usize,
}

impl Request {
    /// Reads the head of a request; `None` if it is not whole yet.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>, String> {
        let mut room = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut room);
        let httparse::Status::Complete(content) = request.parse(bytes).map_err(|e| e.to_string())? else {
            return Ok(None);
        };
        let fields = request.headers.iter().map(|field| {
            let value =
                std::str::from_utf8(field.value).map_err(|_| format!("{} is not text", field.name))?;
            Ok((field.name.to_owned(), value.to_owned()))
        });
        Ok(Some(Self {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            fields: fields.collect::<Result<_, String>>()?,
            content,
        }))
    }

    /// The value of the first field of this name.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The target URI (RFC 9110, §7.1).
    fn uri(&self) -> Result<String, String> {
        match self.target.starts_with('/') {
            true => self
                .field("host")
                .map(|host| format!("https://{host}{}", self.target))
                .ok_or("no Host".into()),
            false => Ok(self.target.clone()),
        }
    }
}

/// A request in a file, with all its bytes.
fn read(path: &Path) -> Result<(Vec<u8>, Request, String), Error> {
    let bytes = files::read_small(path)?.to_vec();
    let bad = |why: String| Error::outside(format!("{}: not a request of HTTP/1.1: {why}", path.display()));
    let request = Request::read(&bytes).map_err(bad)?.ok_or_else(|| bad("it has no end".to_owned()))?;
    let uri = request.uri().map_err(bad)?;
    Ok((bytes, request, uri))
}

fn sign(session: &Session, options: &HttpSign) -> Result<Status, Error> {
    files::refuse_existing(&options.out, options.force)?;
    let (bytes, request, uri) = read(&options.request)?;
    let (agent, _) = session.unlock()?;
    let role = if options.capability { Role::Signing } else { Role::Identity };
    let terms = Terms { role, ..Terms::default() };
    let (head, content) = bytes.split_at(request.content);
    let message = message(&request, &uri, content);
    let added = http::sign(&agent, &message, &terms, session.now).map_err(Error::from_request)?;
    // The empty line that ends the head, of which the line before keeps its own end.
    let blank = if head.ends_with(b"\r\n") { 2 } else { 1 };
    let mut out = head[..head.len() - blank].to_vec();
    for (name, value) in &added {
        out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(content);
    files::write(&options.out, &out, Access::Shared, options.force)?;
    let names: Vec<&str> = added.iter().map(|(name, _)| name.as_str()).collect();
    session.console.report(
        format_args!("{} {uri}: {}", request.method, options.out.display()),
        json!({"method": request.method, "uri": uri, "added": names, "out": options.out.display().to_string()}),
    )?;
    Ok(Status::Done)
}

fn message<'a>(request: &'a Request, uri: &'a str, content: &'a [u8]) -> Message<'a> {
    let message = Message::request(&request.method, uri, &request.fields);
    if content.is_empty() { message } else { message.with_body(content) }
}

fn verify(session: &Session, options: &HttpVerify) -> Result<Status, Error> {
    let (bytes, request, uri) = read(&options.request)?;
    let policy = match options.capability {
        true => Policy { relationship: Relationship::CapabilityInvocation, ..Policy::default() },
        false => Policy::default(),
    };
    let message = message(&request, &uri, &bytes[request.content..]);
    let mut seen = Seen::open(&session.home)?;
    match http::verify(&message, &policy, &*session.resolver(), session.now, &mut seen) {
        Ok(verified) => {
            super::is_signer(options.signer.as_ref(), verified.signer())?;
            seen.keep()?;
            session.holds(
                format_args!("{} sends {} {uri}", verified.signer(), request.method),
                verified.signer(),
                json!({"method": request.method, "uri": uri}),
            )
        }
        Err(error) => session.refused(&error),
    }
}
