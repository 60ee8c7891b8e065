//! A message as a signature sees it.

use super::{MAX_FIELDS, MAX_HEAD, too_large};
use crate::Result;
use crate::did::is_plain;
use crate::error::bad;
use crate::kdf::decimal;

// Lists of names are one text each: pointers make the WebAssembly module larger.

/// Singleton fields: where one is repeated, some servers take the first value and some the last (RFC 9110, §5.3).
const SINGLE: &str = "age authorization content-length content-location content-range content-type date etag expires from \
    host if-modified-since if-range if-unmodified-since last-modified location max-forwards origin \
    proxy-authorization range referer retry-after server set-cookie2 upgrade-insecure-requests user- \
    agent";

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
    /// coding, a repeated singleton field. Here or in the request that is answered.
    #[inline(never)]
    fn check_framing(&self) -> Result<()> {
        self.check_own_framing()?;
        self.request.map_or(Ok(()), Self::check_framing)
    }

    fn check_own_framing(&self) -> Result<()> {
        if let Some(name) = SINGLE.split(' ').find(|name| self.field(name).count() > 1) {
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
        let refused =
            || bad("the target is not an absolute http or https URI whose host is a name or an address");
        if text.contains('#') {
            return Err(bad("the target URI has a fragment: leave out # and the rest"));
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
        let uri = Self { scheme, authority, path, query };
        match matches!(uri.scheme.as_str(), "http" | "https") && is_authority(authority) {
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

/// Returns true for a host with or without a port: no user, no empty label, no zone of an address (RFC 3986, §3.2).
fn is_authority(text: &str) -> bool {
    let (is_host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (is_ipv6(address), port),
        None => {
            let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            let mut labels = name.strip_suffix('.').unwrap_or(name).split('.');
            (is_plain(name, b"") && !name.contains('@') && labels.all(|label| !label.is_empty()), port)
        }
    };
    let is_port = |digits: &str| digits.is_empty() || decimal(digits).is_some_and(|port| port <= 65535);
    is_host && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

/// Returns true for an address of IPv6 (RFC 3986, §3.2.2). Not that of the standard library, which is long: the WebAssembly module is small.
fn is_ipv6(text: &str) -> bool {
    // Groups before and behind the gap, if there is one.
    let (mut groups, mut gap, mut rest) = (0, false, text);
    if let Some(behind) = text.strip_prefix("::") {
        (gap, rest) = (true, behind);
    }
    while !rest.is_empty() {
        let (group, behind) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
        match group.len() {
            1..=4 if group.bytes().all(|digit| digit.is_ascii_hexdigit()) => groups += 1,
            _ if behind.is_empty() && is_ipv4(group) => groups += 2,
            _ => return false,
        }
        rest = match behind.strip_prefix("::") {
            Some(behind) if !gap => {
                gap = true;
                behind
            }
            _ if behind == ":" => return false,
            _ => behind.strip_prefix(':').unwrap_or_default(),
        };
    }
    if gap { groups < 8 } else { groups == 8 }
}

fn is_ipv4(text: &str) -> bool {
    let mut bytes = 0;
    text.split('.').all(|byte| {
        bytes += 1;
        decimal(byte).is_some_and(|byte| byte <= 255)
    }) && bytes == 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv6Addr;

    /// The standard library, which is right, on each text of these pieces.
    #[test]
    fn addresses_are_those_of_the_standard_library() {
        let pieces = [
            "",
            ":",
            "::",
            "0",
            "1:2:3",
            "ffff",
            "12345",
            "g",
            "1.2.3.4",
            "256.1.1.1",
            "1.2.3",
            "01.2.3.4",
            ":4:5:6:7",
        ];
        let mut addresses = 0;
        let count = pieces.len();
        for n in 0..count.pow(4) {
            let text: String = (0..4).map(|digit| pieces[n / count.pow(digit) % count]).collect();
            let expected = text.parse::<Ipv6Addr>().is_ok();
            assert_eq!(is_ipv6(&text), expected, "{text}");
            addresses += usize::from(expected);
        }
        assert!(addresses > 100, "{addresses}");
    }
}
