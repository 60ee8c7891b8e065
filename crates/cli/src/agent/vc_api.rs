//! `agent vc-api`: the endpoints of the VC API that the W3C test suites call, on 127.0.0.1.
//!
//! One request a connection, one after the other: for test suites, not for the world.

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
        404 => "Not Found",
        405 => "Method Not Allowed",
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
    let lists = status::known(session, &*resolver);
    let api = Api { agent, resolver: &*resolver, status: vc::Status::IfKnown(&lists), form };
    let answer = match request.target.as_str() {
        "/credentials/issue" => Api::issue,
        "/credentials/verify" => Api::verify_credential,
        "/presentations/verify" => Api::verify_presentation,
        _ => return (404, json!({"errors": ["there is no such endpoint"]})),
    };
    match request.method.as_str() {
        "POST" => answer(&api, content, now),
        _ => (405, json!({"errors": ["this endpoint takes POST"]})),
    }
}
