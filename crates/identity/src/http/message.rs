//! A message as a signature sees it.

use super::{MAX_FIELDS, MAX_HEAD, too_large};
use crate::Result;
use crate::error::bad;

/// Singleton fields: where one is repeated, some servers take the first value and some the last (RFC 9110, §5.3).
const SINGLE: [&str; 26] = [
    "age",
    "authorization",
    "content-length",
    "content-location",
    "content-range",
    "content-type",
    "date",
    "etag",
    "expires",
    "from",
    "host",
    "if-modified-since",
    "if-range",
    "if-unmodified-since",
    "last-modified",
    "location",
    "max-forwards",
    "origin",
    "proxy-authorization",
    "range",
    "referer",
    "retry-after",
    "server",
    "set-cookie2",
    "upgrade-insecure-requests",
    "user-agent",
];

/// A request or a response: what of it can be signed.
///
/// Fields stand in the order of the message, as often as they are there.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub(super) start: Start<'a>,
    pub(super) fields: &'a [(String, String)],
    pub(super) body: Option<&'a [u8]>,
    pub(super) request: Option<&'a Message<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Start<'a> {
    Request(&'a str, &'a str),
    Response(u16),
}

impl<'a> Message<'a> {
    /// A request to an absolute URI: of `https`, whatever form the request had on the wire.
    pub fn request(method: &'a str, target_uri: &'a str, fields: &'a [(String, String)]) -> Self {
        Self { start: Start::Request(method, target_uri), fields, body: None, request: None }
    }

    /// A response with this status.
    pub fn response(status: u16, fields: &'a [(String, String)]) -> Self {
        Self { start: Start::Response(status), fields, body: None, request: None }
    }

    /// The same with its content. Without it, a `content-digest` that is covered is not compared with anything: then the
    /// caller compares it, with [`check_content_digest`](super::check_content_digest).
    #[must_use]
    pub fn with_body(mut self, body: &'a [u8]) -> Self {
        self.body = Some(body);
        self
    }

    /// The same as the answer to a request, for components with `req`.
    #[must_use]
    pub fn answering(mut self, request: &'a Message<'a>) -> Self {
        self.request = Some(request);
        self
    }

    pub(super) fn is_request(&self) -> bool {
        matches!(self.start, Start::Request(..))
    }

    /// Refuses a message beyond the bounds, and one with ambiguous framing.
    pub(super) fn check(&self) -> Result<()> {
        self.check_bounds()?;
        self.check_framing()
    }

    /// Refuses more fields than [`MAX_FIELDS`] or more bytes than [`MAX_HEAD`], here or in the request that is answered.
    pub(super) fn check_bounds(&self) -> Result<()> {
        if self.fields.len() > MAX_FIELDS {
            return Err(too_large("fields", self.fields.len(), MAX_FIELDS));
        }
        let target = match self.start {
            Start::Request(method, target) => method.len() + target.len(),
            Start::Response(_) => 0,
        };
        let fields: usize = self.fields.iter().map(|(name, value)| name.len() + value.len()).sum();
        if target + fields > MAX_HEAD {
            return Err(too_large("bytes of target and fields", target + fields, MAX_HEAD));
        }
        self.request.map_or(Ok(()), Self::check_bounds)
    }

    /// Refuses ambiguous framing, by which another reader could find other content or another value: a length that is not the body's, a transfer
    /// coding, a repeated singleton field.
    #[inline(never)]
    fn check_framing(&self) -> Result<()> {
        if let Some(name) = SINGLE.into_iter().find(|name| self.field(name).count() > 1) {
            return Err(bad(format_args!("the message has more than one field {name}")));
        }
        if self.has("transfer-encoding") {
            return Err(bad(
                "the message has a transfer coding: decode the content, and leave Transfer-Encoding out",
            ));
        }
        let Some(length) = self.first("content-length") else { return Ok(()) };
        let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
        let stated = length.parse::<u64>().ok().filter(|_| digits);
        let stated = stated.ok_or_else(|| bad("Content-Length is not a number of bytes"))?;
        match self.body {
            Some(body) if stated != body.len() as u64 && !(body.is_empty() && self.tells_of_another()) => {
                Err(bad(format_args!("Content-Length is {stated}, and the body has {} bytes", body.len())))
            }
            _ => Ok(()),
        }
    }

    /// Returns true if the length is that of the content which a GET would bring (RFC 9110, §8.6).
    fn tells_of_another(&self) -> bool {
        let asked = self.request.map(|request| request.start);
        match self.start {
            Start::Response(status) => status == 304 || matches!(asked, Some(Start::Request("HEAD", _))),
            Start::Request(..) => false,
        }
    }

    /// The first value of a field. Not inlined: the WebAssembly module is small.
    #[inline(never)]
    fn first(&self, name: &str) -> Option<&'a str> {
        self.field(name).next()
    }

    /// Returns true if there is a field of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.first(name).is_some()
    }

    /// Method and target URI of the request, or of the one that is answered.
    pub(super) fn address(&self) -> Option<(&'a str, &'a str)> {
        match self.start {
            Start::Request(method, target) => Some((method, target)),
            Start::Response(_) => self.request.and_then(Message::address),
        }
    }

    /// The values of a field, without the spaces around them (RFC 9110, §5.5).
    pub(super) fn field(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.fields
            .iter()
            .filter(move |(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim_matches([' ', '\t']))
    }
}

/// The parts of an absolute URI of HTTP (RFC 9110, §4.2).
pub(super) struct Uri<'a> {
    pub(super) scheme: String,
    authority: &'a str,
    pub(super) path: &'a str,
    pub(super) query: Option<&'a str>,
}

impl<'a> Uri<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self> {
        let refused = || bad("the target URI is not an absolute URI of http or https");
        if text.contains('#') {
            return Err(bad(
                "the target URI has a fragment, which is no part of it: leave out # and what follows it",
            ));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(refused());
        }
        let (scheme, rest) = text.split_once("://").ok_or_else(refused)?;
        let scheme = scheme.to_ascii_lowercase();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let path = if path.is_empty() { "/" } else { path };
        let of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:%[]".contains(&byte);
        let uri = Self { scheme, authority, path, query };
        let of_http = matches!(uri.scheme.as_str(), "http" | "https");
        match of_http && authority.bytes().all(of_host) && !uri.authority().is_empty() {
            true => Ok(uri),
            false => Err(refused()),
        }
    }

    /// In small letters, without the port that the scheme implies and without an empty one (RFC 9421, §2.2.3; RFC 9110, §4.2.3).
    pub(super) fn authority(&self) -> String {
        let port = if self.scheme == "https" { ":443" } else { ":80" };
        let authority = self.authority.to_ascii_lowercase();
        match authority.strip_suffix(port).or_else(|| authority.strip_suffix(':')) {
            Some(host) => host.to_owned(),
            None => authority,
        }
    }
}
