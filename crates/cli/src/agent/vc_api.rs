//! `agent vc-api`: the endpoints of the VC API that the W3C test suites call, on 127.0.0.1.
//!
//! One request a connection, one after the other: for test suites, not for the world. A page in a browser on the same machine
//! is of the world: it gets nothing issued, neither by a form, nor from another origin, nor by a name that it let point here.

use super::http::Request;
use super::{Session, status};
use crate::args::agent::VcApi;
use crate::error::{Error, Status};
use gambeson_identity::vc::api::{Answer, Api, Form};
use gambeson_identity::vc::{self, MAX_PRESENTATION};
use gambeson_identity::{Agent, Timestamp};
use serde_json::json;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// How long a client may be silent.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn serve(session: &Session, options: &VcApi) -> Result<Status, Error> {
    let (agent, _) = session.unlock()?;
    let wrong = |e: io::Error| Error::stream(&"127.0.0.1", &e);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    let form = if options.data_integrity { Form::DataIntegrity } else { Form::Enveloped };
    session.console.report(
        format_args!("http://{address} issues as {}", agent.did()),
        json!({"address": format!("http://{address}"), "issuer": agent.did().as_str()}),
    )?;
    loop {
        // A client that goes away is its own business.
        if let Ok((stream, _)) = listener.accept() {
            let _ = converse(session, &agent, form, stream);
        }
    }
}

fn converse(session: &Session, agent: &Agent, form: Form, mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (status, body) = match receive(&mut stream) {
        Ok((request, content)) => respond(session, agent, form, &request, &content),
        Err(why) => (400, json!({"errors": [why]})),
    };
    let phrase = match status {
        200 => "OK",
        201 => "Created",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        415 => "Unsupported Media Type",
        _ => "Bad Request",
    };
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}

/// A request with its content, which must tell its length.
fn receive(stream: &mut TcpStream) -> Result<(Request, Vec<u8>), String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    let mut more = |bytes: &mut Vec<u8>| match stream.read(&mut piece) {
        Ok(0) => Err("the request ends too early".to_owned()),
        Ok(n) => {
            bytes.extend_from_slice(&piece[..n]);
            Ok(())
        }
        Err(e) => Err(e.to_string()),
    };
    let request = loop {
        match Request::read(&bytes)? {
            Some(request) => break request,
            None if bytes.len() > MAX_HEAD => return Err("the head of the request is too long".to_owned()),
            None => more(&mut bytes)?,
        }
    };
    let length = match (request.field("content-length"), request.field("transfer-encoding")) {
        (None, None) => 0,
        (Some(length), None) => length.parse().map_err(|_| "Content-Length is no number".to_owned())?,
        _ => return Err("the content must tell its length".to_owned()),
    };
    if length > MAX_PRESENTATION {
        return Err("the content is too long".to_owned());
    }
    while bytes.len() < request.content + length {
        more(&mut bytes)?;
    }
    let content = bytes[request.content..request.content + length].to_vec();
    Ok((request, content))
}

fn respond(session: &Session, agent: &Agent, form: Form, request: &Request, content: &[u8]) -> Answer {
    let now = super::since_1970().map_or(session.now, |since| Timestamp(since.as_secs()));
    let resolver = session.resolver();
    let lists = status::known(session);
    let api = Api { agent, resolver: &*resolver, status: vc::Status::IfKnown(&lists), form };
    let answer = match request.target.as_str() {
        "/credentials/issue" => Api::issue,
        "/credentials/verify" => Api::verify_credential,
        "/presentations/verify" => Api::verify_presentation,
        _ => return (404, json!({"errors": ["there is no such endpoint"]})),
    };
    match (request.method.as_str(), is_local(request), is_json(request)) {
        (_, false, _) => (403, json!({"errors": ["this endpoint answers programs on this machine"]})),
        ("POST", _, false) => (415, json!({"errors": ["this endpoint takes application/json"]})),
        ("POST", ..) => answer(&api, content, now),
        _ => (405, json!({"errors": ["this endpoint takes POST"]})),
    }
}

/// Whether the request names this machine as its host, and comes from no page of another.
fn is_local(request: &Request) -> bool {
    let mut hosts = request.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let (Some((_, host)), None) = (hosts.next(), hosts.next()) else { return false };
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host.as_str(), |(name, _)| name);
    let known = ["localhost", "127.0.0.1", "[::1]"].into_iter().any(|known| name.eq_ignore_ascii_case(known));
    known
        && request.field("origin").is_none_or(|origin| origin.eq_ignore_ascii_case(&format!("http://{host}")))
}

/// A page may send any text to any address, but this type only after it asked.
fn is_json(request: &Request) -> bool {
    let found = request.field("content-type").unwrap_or_default();
    found.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(fields: &[(&str, &str)]) -> Request {
        Request {
            method: "POST".to_owned(),
            target: "/credentials/issue".to_owned(),
            fields: fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            content: 0,
        }
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
    }

    #[test]
    fn what_a_form_of_a_page_can_send_is_not_json() {
        for media in ["application/json", "Application/JSON; charset=utf-8"] {
            assert!(is_json(&request(&[("Content-Type", media)])), "{media}");
        }
        for media in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "",
            "application/json+x",
            "text/plain;application/json",
        ] {
            assert!(!is_json(&request(&[("Content-Type", media)])), "{media}");
        }
        assert!(!is_json(&request(&[])));
    }
}
