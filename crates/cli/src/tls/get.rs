//! `tls get`: one request, and how the answer came.

use super::{
    Noting, Seen, chain, chains, connect, explained, group_name, host_and_port, negotiated, provider,
    scheme_name, server_name,
};
use crate::args::tls::TlsGet;
use crate::console::{Console, write_to_stderr};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_rustls::Preset;
use gambeson_rustls::rustls::{self, ClientConfig, ClientConnection, Stream};
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The longest answer, head and body.
const MAX_ANSWER: u64 = 1 << 30;

pub(super) fn get(console: Console, options: &TlsGet) -> Result<Status, Error> {
    let (host, port, path) = split(&options.url)?;
    if options.out.as_os_str() != "-" {
        files::refuse_existing(&options.out, options.force)?;
    }
    let provider = Arc::new(provider(Some(options.preset))?);
    let inner = chains(options.ca.as_deref(), &options.lists, &provider)?;
    let algorithms = provider.signature_verification_algorithms;
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let schemes = algorithms.supported_schemes();
    let groups = provider.kx_groups.iter().map(|group| group_name(group.name())).collect::<Vec<_>>();
    let offered = (groups, schemes.iter().copied().map(scheme_name).collect::<Vec<_>>());
    let verifier = Noting { inner: Some(inner), algorithms, schemes, seen: Some(Arc::clone(&seen)) };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::outside(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();

    let mut wire = connect(&host, port, &options.peer)?;
    let begun = Instant::now();
    let mut connection = ClientConnection::new(Arc::new(config), server_name(&host)?)
        .map_err(|error| Error::outside(error.to_string()))?;
    while connection.is_handshaking() {
        if let Err(error) = connection.complete_io(&mut wire) {
            let common = !may_have_nothing_in_common(&error);
            let error = explained(&host, error);
            return Err(if common {
                error
            } else {
                error.adding(&offer(options, &offered, &authority(&host, port)))
            });
        }
    }
    let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
    let (sent, received) = (wire.sent, wire.received);

    // In HTTP/1.0 the body ends with the connection.
    let asked = format!(
        "GET {path} HTTP/1.0\r\nHost: {}\r\nUser-Agent: gambeson/{}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        authority(&host, port),
        env!("CARGO_PKG_VERSION")
    );
    let mut stream = Stream::new(&mut connection, &mut wire);
    stream.write_all(asked.as_bytes()).map_err(|error| explained(&host, error))?;
    let (answer, ended) = receive(&host, stream, MAX_ANSWER)?;
    let (code, body) = read(&host, &answer, ended)?;

    let group = negotiated(connection.negotiated_key_exchange_group());
    let scheme = seen.lock().unwrap_or_else(PoisonError::into_inner).scheme.map(scheme_name);
    let suite = connection.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
    let version = connection.protocol_version().map(|version| format!("{version:?}"));
    let certificates = chain(connection.peer_certificates().unwrap_or_default());
    let details = json!({
        "status": code,
        "version": version,
        "group": group,
        "scheme": scheme,
        "suite": suite,
        "chain": certificates,
        "bytes_up": sent,
        "bytes_down": received,
        "handshake_ms": milliseconds,
        "body": body.len(),
    });
    if options.verbose {
        let named = |value: Option<String>| value.unwrap_or_else(|| "none".into());
        write_to_stderr(format_args!("{} {}", named(version), named(suite)));
        write_to_stderr(format_args!("group   {group}"));
        write_to_stderr(format_args!("scheme  {}", named(scheme)));
        certificates.iter().for_each(|line| write_to_stderr(format_args!("chain   {line}")));
        write_to_stderr(format_args!("bytes   {sent} up, {received} down, in {milliseconds:.1} ms"));
        write_to_stderr(format_args!("status  {code}, {} bytes", body.len()));
    }
    if !(200..=299).contains(&code) {
        return Err(Error::outside(format!("{}: status {code}", options.url)).because("status"));
    }
    files::write(&options.out, body, Access::Shared, options.force)?;
    console.report(format_args!("{}: {} bytes", options.out.display(), body.len()), details)?;
    Ok(Status::Done)
}

/// Whether a handshake may have failed because the server takes nothing of what was offered: all that it says is an alert, which
/// is the same for groups and schemes (RFC 8446, section 4.1.1), and some close without one.
fn may_have_nothing_in_common(error: &std::io::Error) -> bool {
    use rustls::{AlertDescription, Error};
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::AlertReceived(alert)) => matches!(
            alert,
            AlertDescription::HandshakeFailure
                | AlertDescription::InsufficientSecurity
                | AlertDescription::ProtocolVersion
        ),
        Some(error) => matches!(error, Error::PeerIncompatible(_)),
        None => matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset),
    }
}

/// What was offered, groups and schemes, and what to try next.
fn offer(options: &TlsGet, (groups, schemes): &(Vec<String>, Vec<String>), server: &str) -> String {
    let other = match options.preset {
        Preset::FullyHybrid => "a server without composite certificates wants --preset default",
        _ => "a server with a composite certificate wants --preset fully-hybrid",
    };
    let to = options.peer.connect_to.map_or_else(String::new, |address| format!(" --connect-to {address}"));
    format!(
        "; offered with --preset {}: groups {}; schemes {}; `gambeson tls scan {server}{to}` tells what the server takes; {other}",
        options.preset,
        groups.join(", "),
        schemes.join(", "),
    )
}

/// Host, port and path of a URL of HTTPS.
fn split(url: &str) -> Result<(String, u16, String), Error> {
    let rest =
        url.strip_prefix("https://").ok_or_else(|| Error::usage(format!("{url}: not a URL of https")))?;
    if rest.contains(|c: char| c.is_control() || c.is_whitespace() || c == '@') {
        return Err(Error::usage(format!("{url}: spaces, and names of users, have no place in it")));
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let (host, port) = host_and_port(authority, Some(443))?;
    Ok((host, port, if path.starts_with('/') { path.into() } else { format!("/{path}") }))
}

/// A host and a port as the header `Host` has them.
fn authority(host: &str, port: u16) -> String {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    if port == 443 { host } else { format!("{host}:{port}") }
}

/// An answer up to its end, and whether the server said that it is the end: anybody on the way can cut a connection.
fn receive(host: &str, stream: impl Read, limit: u64) -> Result<(Vec<u8>, bool), Error> {
    let mut answer = Vec::new();
    let ended = match stream.take(limit + 1).read_to_end(&mut answer) {
        Ok(_) => true,
        // Servers that end without a word are many; those that tell a length are believed without it.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(explained(host, error)),
    };
    if answer.len() as u64 > limit {
        return Err(
            Error::outside(format!("{host}: the answer has more than {limit} bytes")).because("too-large")
        );
    }
    Ok((answer, ended))
}

/// The status of an answer, and its body, which is all there.
fn read<'a>(host: &str, answer: &'a [u8], ended: bool) -> Result<(u16, &'a [u8]), Error> {
    let bad = || Error::outside(format!("{host}: the answer is not HTTP")).because("not-http");
    let cut = || Error::outside(format!("{host}: the answer was cut off")).because("truncated");
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut head = httparse::Response::new(&mut headers);
    let at = match head.parse(answer).map_err(|_| bad())? {
        httparse::Status::Complete(at) => at,
        httparse::Status::Partial => return Err(if ended { bad() } else { cut() }),
    };
    let (code, body) = (head.code.ok_or_else(bad)?, &answer[at..]);
    let mut length: Option<u64> = None;
    for header in head.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("content-length")) {
        let digits = header.value.trim_ascii();
        let told = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_digit));
        let told = told.and_then(|digits| digits.parse().ok()).ok_or_else(bad)?;
        if length.replace(told).is_some_and(|earlier| earlier != told) {
            return Err(bad());
        }
    }
    match length {
        Some(length) if length != body.len() as u64 => Err(cut()),
        None if !ended => Err(cut()),
        _ => Ok((code, body)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail that way.

    use super::*;

    fn outcome(answer: &str, ended: bool) -> Result<(u16, Vec<u8>), &'static str> {
        match read("host", answer.as_bytes(), ended) {
            Ok((code, body)) => Ok((code, body.to_vec())),
            Err(error) => Err(error.reason().unwrap()),
        }
    }

    #[test]
    fn an_answer_is_whole_when_its_length_or_a_goodbye_says_so() {
        let whole = Ok((200, b"body".to_vec()));
        let told = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";
        let untold = "HTTP/1.1 200 OK\r\n\r\nbody";
        let twice = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\ncontent-length: 4\r\n\r\nbody";
        for (answer, ended) in [(told, true), (told, false), (untold, true), (twice, false)] {
            assert_eq!(outcome(answer, ended), whole, "{answer}");
        }
        assert_eq!(outcome(untold, false), Err("truncated"));
        assert_eq!(outcome(&told[..told.len() - 1], true), Err("truncated"));
        assert_eq!(outcome(&format!("{told}!"), true), Err("truncated"));
        assert_eq!(outcome(&told[..20], false), Err("truncated"));
        assert_eq!(outcome(&told[..20], true), Err("not-http"));
    }

    #[test]
    fn lengths_that_are_none_or_two_are_refused() {
        for lengths in [
            "Content-Length: 4\r\nContent-Length: 5",
            "Content-Length: +4",
            "Content-Length: 4, 4",
            "Content-Length:",
            "Content-Length: 99999999999999999999",
        ] {
            let answer = format!("HTTP/1.1 200 OK\r\n{lengths}\r\n\r\nbody");
            assert_eq!(outcome(&answer, true), Err("not-http"), "{lengths}");
        }
    }

    #[test]
    fn an_answer_beyond_the_limit_is_refused() {
        let (answer, ended) = receive("host", &b"12345678"[..], 8).unwrap();
        assert_eq!((answer.len(), ended), (8, true));
        assert_eq!(receive("host", &b"123456789"[..], 8).unwrap_err().reason(), Some("too-large"));
    }

    #[test]
    fn addresses_of_ipv6_stand_in_brackets() {
        assert_eq!(authority("example.com", 443), "example.com");
        assert_eq!(authority("example.com", 8443), "example.com:8443");
        assert_eq!(authority("::1", 8443), "[::1]:8443");
        assert_eq!(authority("::1", 443), "[::1]");
    }
}
