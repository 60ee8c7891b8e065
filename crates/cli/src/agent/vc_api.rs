//! `agent vc-api`: the endpoints of the VC API that the W3C test suites call, on 127.0.0.1.
//!
//! One request a connection, one after the other: for test suites, not for the world. A page in a browser on the same machine
//! is of the world: it gets nothing issued, neither by a form, nor from another origin, nor by a name that it let point here.

use super::{Session, status};
use crate::args::agent::VcApi;
use crate::error::{Error, Status};
use crate::http::{self, Content};
use crate::wire::Wire;
use gambeson_identity::vc::api::{Answer, Api, Form};
use gambeson_identity::vc::{self, MAX_PRESENTATION};
use gambeson_identity::{Agent, Timestamp};
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{
    CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, ORIGIN, TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use serde_json::json;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// How long a client may be silent; with three times that it must be done.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn serve(session: &Session, options: &VcApi) -> Result<Status, Error> {
    let (agent, _) = session.unlock()?;
    let wrong = |e: io::Error| Error::stream(&"127.0.0.1", &e);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    let form = if options.data_integrity { Form::DataIntegrity } else { Form::Enveloped };
    session.console.report(
        format_args!("http://{address} issues as {}", agent.did()),
        json!({"type": "listening", "address": format!("http://{address}"), "issuer": agent.did().as_str()}),
    )?;
    loop {
        // A client that goes away is its own business.
        if let Ok((stream, _)) = listener.accept() {
            let _ = converse(session, &agent, form, stream);
        }
    }
}

fn converse(session: &Session, agent: &Agent, form: Form, stream: TcpStream) -> io::Result<()> {
    let mut wire = Wire::new(stream, PATIENCE)?;
    wire.hurry(Some(Instant::now() + 3 * PATIENCE))?;
    // `hyper` answers a client that sends no request, and one that has gone needs no answer.
    let _ = http::converse(&mut wire, MAX_HEAD, async |request| {
        let (head, body) = request.into_parts();
        let (status, answer) = match receive(&head, body).await {
            Ok(content) => respond(session, agent, form, &head, &content),
            Err(why) => (400, json!({"errors": [why]})),
        };
        let mut answer = Response::new(Content::new(answer.to_string()));
        *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer
    });
    Ok(())
}

/// The content of a request, which has no codings.
async fn receive(head: &Parts, body: Incoming) -> Result<Bytes, String> {
    let fields = &head.headers;
    let codings: Vec<_> = fields.get_all(TRANSFER_ENCODING).iter().collect();
    let chunked = |coding: &&HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    if codings.len() > 1 || !codings.iter().all(chunked) || fields.contains_key(CONTENT_ENCODING) {
        return Err("the content has a coding that is not supported".to_owned());
    }
    if body.size_hint().lower() > MAX_PRESENTATION as u64 {
        return Err("the content is too long".to_owned());
    }
    let content = Limited::new(body, MAX_PRESENTATION).collect().await;
    content.map(Collected::to_bytes).map_err(|error| match error.is::<LengthLimitError>() {
        true => "the content is too long".to_owned(),
        false => format!("the content could not be read: {error}"),
    })
}

/// Returns the answer to a client that sends these bytes and no more: the content that it sent, or the reason of a refusal. For fuzzing.
pub(crate) fn answered(bytes: &[u8]) -> Vec<u8> {
    let mut written = Vec::new();
    let stream = Memory { read: bytes, written: &mut written };
    let _ = http::converse(stream, MAX_HEAD, async |request| {
        let (head, body) = request.into_parts();
        let (status, content) = match receive(&head, body).await {
            Ok(content) => (StatusCode::OK, content),
            Err(why) => (StatusCode::BAD_REQUEST, why.into()),
        };
        let mut answer = Response::new(Content::new(content));
        *answer.status_mut() = status;
        answer
    });
    written
}

struct Memory<'a> {
    read: &'a [u8],
    written: &'a mut Vec<u8>,
}

impl io::Read for Memory<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read.read(buffer)
    }
}

impl io::Write for Memory<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn respond(session: &Session, agent: &Agent, form: Form, request: &Parts, content: &[u8]) -> Answer {
    let now = super::since_1970().map_or(session.now, |since| Timestamp(since.as_secs()));
    let resolver = session.resolver();
    let lists = status::known(session);
    let api = Api { agent, resolver: &*resolver, status: vc::Status::IfKnown(&lists), form };
    let answer = match request.uri.path() {
        "/credentials/issue" => Api::issue,
        "/credentials/verify" => Api::verify_credential,
        "/presentations/verify" => Api::verify_presentation,
        _ => return (404, json!({"errors": ["there is no such endpoint"]})),
    };
    match (&request.method, is_local(request), is_json(&request.headers)) {
        (_, false, _) => (403, json!({"errors": ["this endpoint answers only programs on this machine"]})),
        (&Method::POST, _, false) => (415, json!({"errors": ["this endpoint takes application/json"]})),
        (&Method::POST, ..) => answer(&api, content, now),
        _ => (405, json!({"errors": ["this endpoint takes POST"]})),
    }
}

/// Returns true if the request names this machine as its host, and comes from no page of another.
fn is_local(request: &Parts) -> bool {
    let mut hosts = request.headers.get_all(HOST).iter();
    let (Some(Ok(host)), None) = (hosts.next().map(HeaderValue::to_str), hosts.next()) else { return false };
    // The host of an absolute target stands before that of the field (RFC 9112, section 3.2.2).
    let target = request.uri.authority().map_or(host, |authority| authority.as_str());
    let own = format!("http://{host}");
    let is_own = |origin: &HeaderValue| origin.as_bytes().eq_ignore_ascii_case(own.as_bytes());
    target == host && names_this_machine(host) && request.headers.get_all(ORIGIN).iter().all(is_own)
}

fn names_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    ["localhost", "127.0.0.1", "[::1]"].into_iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns true for JSON. A page may send any text to any address, but this type only after it asked.
fn is_json(fields: &HeaderMap) -> bool {
    let found = fields.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    found.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn request(fields: &[(&str, &str)]) -> Parts {
        request_to("/credentials/issue", fields)
    }

    fn request_to(target: &str, fields: &[(&str, &str)]) -> Parts {
        let request =
            fields.iter().fold(Request::post(target), |request, (name, value)| request.header(*name, *value));
        request.body(()).expect("the fields are of HTTP").into_parts().0
    }

    #[test]
    fn only_programs_on_this_machine_are_answered() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8080"] {
            assert!(is_local(&request(&[("Host", host)])), "{host}");
            let origin = format!("http://{host}");
            assert!(is_local(&request(&[("host", host), ("Origin", &origin)])), "{host}");
            let foreign = [("host", host), ("origin", "https://evil.example")];
            assert!(!is_local(&request(&foreign)), "{host}");
            assert!(!is_local(&request(&[("host", host), ("origin", "null")])), "{host}");
            assert!(!is_local(&request(&[("host", host), ("host", "evil.example")])), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "0.0.0.0",
        ] {
            assert!(!is_local(&request(&[("Host", host)])), "{host}");
        }
        assert!(!is_local(&request(&[])));
        assert!(is_local(&request_to("http://localhost:8080/", &[("host", "localhost:8080")])));
        assert!(!is_local(&request_to("http://evil.example/", &[("host", "localhost")])));
        assert!(!is_local(&request(&[
            ("host", "localhost"),
            ("origin", "http://localhost"),
            ("origin", "null")
        ])));
    }

    #[test]
    fn what_a_form_of_a_page_can_send_is_not_json() {
        for media in ["application/json", "Application/JSON; charset=utf-8"] {
            assert!(is_json(&request(&[("Content-Type", media)]).headers), "{media}");
        }
        for media in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "",
            "application/json+x",
            "text/plain;application/json",
        ] {
            assert!(!is_json(&request(&[("Content-Type", media)]).headers), "{media}");
        }
        assert!(!is_json(&request(&[]).headers));
    }

    #[test]
    fn changed_and_cut_requests_are_answered_once_or_not_at_all() {
        let mut refused = 0;
        for (whole, content) in [
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody", "body"),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
                "body",
            ),
            ("GET / HTTP/1.0\r\n\r\n", ""),
            // A second request is not read.
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", ""),
        ] {
            let text = String::from_utf8(answered(whole.as_bytes())).expect("text");
            let (head, body) = text.split_once("\r\n\r\n").expect("a head");
            assert!(head.contains(" 200 OK") && body == content, "{whole}: {text}");
            for at in 0..whole.len() {
                let mut check = |request: &[u8]| {
                    let written = answered(request);
                    assert!(written.is_empty() || written.starts_with(b"HTTP/1."));
                    refused += usize::from(!String::from_utf8_lossy(&written).contains(" 200 OK"));
                };
                check(&whole.as_bytes()[..at]);
                for byte in [0, b'\r', b'\n', b' ', b',', b':', b'0', b'9', b'f', b'~', 0x80, 0xff] {
                    let mut changed = whole.as_bytes().to_vec();
                    changed[at] = byte;
                    check(&changed);
                }
            }
        }
        assert!(refused > 500, "{refused}");
    }
}
