//! `agent http sign`, `verify`: requests and responses in files, as HTTP/1.1 has them (RFC 9112), under `https`.

use super::Session;
use super::seen::Seen;
use crate::args::agent::{HttpCommand, HttpSign, HttpVerify};
use crate::console::present;
use crate::error::{Error, Status};
use crate::files::{self, Access};
use crate::http::told;
use gambeson_identity::http::{self, MAX_FIELDS, Message, Policy, Terms};
use gambeson_identity::{Reason, Relationship, Role};
use serde_json::{Value, json};
use std::path::Path;

/// The longest message, in bytes.
const MAX_MESSAGE: usize = 4 << 20;

/// Names and values, in their order.
type Fields = Vec<(String, String)>;

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
    pub(super) fields: Fields,
    /// Where the content begins.
    pub(super) content: usize,
}

impl Request {
    /// Reads the head of a request; `None` if it is not whole yet.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Self>, String> {
        let mut room = [httparse::EMPTY_HEADER; MAX_FIELDS];
        let mut request = httparse::Request::new(&mut room);
        let httparse::Status::Complete(content) = request.parse(bytes).map_err(told)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            method: request.method.unwrap_or_default().to_owned(),
            target: request.path.unwrap_or_default().to_owned(),
            fields: fields(request.headers)?,
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
        let host = self.field("host").ok_or("it has no field Host")?.trim();
        if !self.target.starts_with('/') {
            return match is_authority_of(&self.target, host) {
                true => Ok(self.target.clone()),
                false => Err("its field Host is not the host of its target".into()),
            };
        }
        // Another character would move the border between host and path.
        match !host.is_empty() && !host.contains(['/', '?', '#', '@', '\\']) {
            true => Ok(format!("https://{host}{}", self.target)),
            false => Err("its field Host is not HOST or HOST:PORT".into()),
        }
    }
}

/// Returns true if a host is that of an absolute target: some servers look at the one, and some at the other.
fn is_authority_of(target: &str, host: &str) -> bool {
    let Some((scheme, rest)) = target.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let port = if scheme.eq_ignore_ascii_case("http") { ":80" } else { ":443" };
    let without = |authority: &str| {
        let authority = authority.to_ascii_lowercase();
        authority.strip_suffix(port).or(authority.strip_suffix(':')).unwrap_or(&authority).to_owned()
    };
    without(authority) == without(host)
}

/// A message in a file, with all its bytes.
struct Whole {
    start: Start,
    fields: Fields,
    bytes: Vec<u8>,
    /// Where the content begins.
    content: usize,
    /// It has no content, whatever its fields say (RFC 9110, §6.4.1).
    is_bodiless: bool,
}

enum Start {
    Request { method: String, uri: String },
    Response(u16),
}

impl Whole {
    fn read(path: &Path) -> Result<Self, Error> {
        let bytes = files::read_at_most(path, MAX_MESSAGE)?.to_vec();
        let bad =
            |why: String| Error::outside(format!("{}: not a message of HTTP/1.1: {why}", path.display()));
        let no_end = || bad("its head is not complete".to_owned());
        if bytes.starts_with(b"HTTP/") {
            let (status, fields, content) = response(&bytes).map_err(bad)?.ok_or_else(no_end)?;
            let is_bodiless = matches!(status, 100..=199 | 204 | 304);
            return Ok(Self { start: Start::Response(status), fields, bytes, content, is_bodiless });
        }
        let request = Request::read(&bytes).map_err(bad)?.ok_or_else(no_end)?;
        let uri = request.uri().map_err(bad)?;
        let start = Start::Request { method: request.method, uri };
        Ok(Self { start, fields: request.fields, bytes, content: request.content, is_bodiless: false })
    }

    fn message(&self) -> Message<'_> {
        let message = match &self.start {
            Start::Request { method, uri } => Message::request(method, uri, &self.fields),
            Start::Response(status) => Message::response(*status, &self.fields),
        };
        match &self.bytes[self.content..] {
            [] if !self.tells_of_content() => message,
            content => message.with_body(content),
        }
    }

    /// Refuses bytes behind the head that others do not take for content, but for the next message (RFC 9112, §6.3).
    fn check_content(&self) -> gambeson_identity::Result<()> {
        let counted = ["content-length", "transfer-encoding"];
        let is_counted =
            |(name, _): &(String, String)| counted.iter().any(|it| name.eq_ignore_ascii_case(it));
        let is_content = match self.start {
            Start::Request { .. } => self.fields.iter().any(is_counted),
            Start::Response(_) => !self.is_bodiless,
        };
        if self.bytes.len() == self.content || is_content {
            return Ok(());
        }
        let what = format_args!("bytes follow the head of a message without content: {self}");
        Err(gambeson_identity::Error::new(Reason::BadForm, what))
    }

    /// Returns true if the fields announce content, or its digest.
    fn tells_of_content(&self) -> bool {
        let tells = |(name, value): &(String, String)| {
            name.eq_ignore_ascii_case("content-length") && value.trim() != "0"
                || name.eq_ignore_ascii_case("content-digest")
        };
        !self.is_bodiless && self.fields.iter().any(tells)
    }

    fn is_response(&self) -> bool {
        matches!(self.start, Start::Response(_))
    }

    /// What it is, for a program.
    fn about(&self, answered: Option<&Self>) -> Value {
        match (&self.start, answered) {
            (Start::Request { method, uri }, _) => json!({"method": method, "uri": uri}),
            (Start::Response(status), answered) => {
                present(json!({"status": status, "request": answered.map(|it| it.about(None))}))
            }
        }
    }
}

/// What it is, for a person.
impl std::fmt::Display for Whole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.start {
            Start::Request { method, uri } => write!(f, "{method} {uri}"),
            Start::Response(status) => write!(f, "response {status}"),
        }
    }
}

/// The status of a response, its fields, and where the content begins; `None` if its head is not whole.
fn response(bytes: &[u8]) -> Result<Option<(u16, Fields, usize)>, String> {
    let mut room = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut response = httparse::Response::new(&mut room);
    let httparse::Status::Complete(content) = response.parse(bytes).map_err(told)? else {
        return Ok(None);
    };
    let status = response.code.ok_or("it has no status")?;
    Ok(Some((status, fields(response.headers)?, content)))
}

fn fields(headers: &[httparse::Header<'_>]) -> Result<Fields, String> {
    let fields = headers.iter().map(|field| {
        let value = std::str::from_utf8(field.value).map_err(|_| format!("{} is not text", field.name))?;
        Ok((field.name.to_owned(), value.to_owned()))
    });
    fields.collect()
}

/// A message, and the request that it answers if one is named.
fn read(path: &Path, request: Option<&Path>) -> Result<(Whole, Option<Whole>), Error> {
    crate::sealing::one_standard_input([path].into_iter().chain(request))?;
    let mut whole = Whole::read(path)?;
    let Some(request) = request else { return Ok((whole, None)) };
    if !whole.is_response() {
        let message = format!("--request is for responses, and {} is a request", path.display());
        return Err(Error::usage(message));
    }
    let answered = Whole::read(request)?;
    match &answered.start {
        Start::Response(_) => {
            Err(Error::outside(format!("{}: is a response, not a request", request.display())))
        }
        Start::Request { method, .. } => {
            whole.is_bodiless |= method == "HEAD";
            Ok((whole, Some(answered)))
        }
    }
}

fn sign(session: &Session, options: &HttpSign) -> Result<Status, Error> {
    files::refuse_existing(&options.out, options.force)?;
    let (whole, answered) = read(&options.message, options.request.as_deref())?;
    check_content(&whole, answered.as_ref()).map_err(Error::from_request)?;
    let (agent, _) = session.unlock()?;
    let role = if options.capability { Role::Signing } else { Role::Identity };
    let (tag, label) = (options.tag.clone(), options.label.clone());
    let required = options.required.clone();
    let terms = Terms { role, tag, label, required, ..Terms::default() };
    let request = answered.as_ref().map(Whole::message);
    let message = bound(whole.message(), request.as_ref());
    let added = http::sign(&agent, &message, &terms, session.now).map_err(Error::from_request)?;
    let (head, content) = whole.bytes.split_at(whole.content);
    // The empty line that ends the head, of which the line before keeps its own end.
    let blank = if head.ends_with(b"\r\n") { 2 } else { 1 };
    let mut out = head[..head.len() - blank].to_vec();
    for (name, value) in &added {
        out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(content);
    if out.len() > MAX_MESSAGE {
        return Err(Error::usage(format!(
            "{}: with its signature the message has {} bytes, at most {MAX_MESSAGE} are read",
            options.message.display(),
            out.len()
        )));
    }
    files::write(&options.out, &out, Access::Shared, options.force)?;
    let names: Vec<&str> = added.iter().map(|(name, _)| name.as_str()).collect();
    let mut report = whole.about(answered.as_ref());
    report["type"] = "http-signature".into();
    report["fields"] = json!(names);
    report["out"] = options.out.display().to_string().into();
    session
        .console
        .report(format_args!("{whole}{}: {}", to(answered.as_ref()), options.out.display()), report)?;
    Ok(Status::Done)
}

fn bound<'a>(message: Message<'a>, request: Option<&'a Message<'a>>) -> Message<'a> {
    match request {
        Some(request) => message.answering(request),
        None => message,
    }
}

/// Refuses a message, or the request that it answers, that has bytes where others find no content.
fn check_content(whole: &Whole, answered: Option<&Whole>) -> gambeson_identity::Result<()> {
    whole.check_content()?;
    answered.map_or(Ok(()), Whole::check_content)
}

/// Which request is answered, for a person.
fn to(answered: Option<&Whole>) -> String {
    answered.map(|request| format!(" to {request}")).unwrap_or_default()
}

fn verify(session: &Session, options: &HttpVerify) -> Result<Status, Error> {
    let (whole, answered) = read(&options.message, options.request.as_deref())?;
    let mut policy = Policy { tag: options.tag.clone(), signer: options.signer.clone(), ..Policy::default() };
    if options.capability {
        policy.relationship = Relationship::CapabilityInvocation;
    }
    let request = answered.as_ref().map(Whole::message);
    let message = bound(whole.message(), request.as_ref());
    if let Err(error) = check_content(&whole, answered.as_ref()) {
        return session.refused(&error);
    }
    let mut seen = Seen::open(&session.home)?;
    match http::verify(&message, &policy, &*session.resolver(), session.now, &mut seen) {
        Ok(verified) => {
            // A policy that names components asks for these alone; the usual ones were asked for above.
            if let Some(missing) = options.required.iter().find(|it| !verified.components().contains(it)) {
                let what = format_args!("the signature does not cover {missing}");
                return session.refused(&gambeson_identity::Error::new(Reason::Uncovered, what));
            }
            seen.keep()?;
            session.holds(
                format_args!("{} sends {whole}{}", verified.signer(), to(answered.as_ref())),
                verified.signer(),
                whole.about(answered.as_ref()),
            )
        }
        Err(error) => session.refused(&error),
    }
}
