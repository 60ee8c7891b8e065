//! `tls get`: one request, and how the answer came.

use super::{
    Noting, chain, connect, explained, host_and_port, negotiated, provider, scheme_name, server_name,
};
use crate::args::tls::TlsGet;
use crate::console::Console;
use crate::error::{Error, Status};
use crate::files::{self, Access};
use gambeson_rustls::rustls::client::WebPkiServerVerifier;
use gambeson_rustls::rustls::pki_types::{CertificateDer, pem::PemObject};
use gambeson_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// The longest answer, head and body.
const MAX_ANSWER: u64 = 1 << 30;

pub(super) fn get(console: Console, options: &TlsGet) -> Result<Status, Error> {
    let (host, port, path) = split(&options.url)?;
    if options.out.as_os_str() != "-" {
        files::refuse_existing(&options.out, options.force)?;
    }
    let provider = Arc::new(provider(Some(options.preset))?);
    let roots = Arc::new(roots(options.ca.as_deref())?);
    let inner = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
    let inner = inner.map_err(|error| Error::outside(error.to_string()))?;
    let algorithms = provider.signature_verification_algorithms;
    let seen = Arc::default();
    let schemes = algorithms.supported_schemes();
    let verifier = Noting { inner: Some(inner), algorithms, schemes, seen: Arc::clone(&seen) };
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
        connection.complete_io(&mut wire).map_err(|error| explained(&host, error))?;
    }
    let milliseconds = begun.elapsed().as_secs_f64() * 1e3;
    let (sent, received) = (wire.sent, wire.received);

    // In HTTP/1.0 the body ends with the connection.
    let asked = format!(
        "GET {path} HTTP/1.0\r\nHost: {}\r\nUser-Agent: gambeson/{}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        if port == 443 { host.clone() } else { format!("{host}:{port}") },
        env!("CARGO_PKG_VERSION")
    );
    let mut answer = Vec::new();
    let mut stream = Stream::new(&mut connection, &mut wire);
    stream.write_all(asked.as_bytes()).map_err(|error| explained(&host, error))?;
    match stream.take(MAX_ANSWER).read_to_end(&mut answer) {
        // Servers that end without a word are many; whether all came is seen below.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
        other => drop(other.map_err(|error| explained(&host, error))?),
    }
    let (code, length, body) = read(&host, &answer)?;
    if length.is_some_and(|length| length != body.len() as u64) {
        return Err(Error::outside(format!("{host}: the body was cut off")).because("truncated"));
    }

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
        eprintln!("{} {}", named(version), named(suite));
        eprintln!("group   {group}");
        eprintln!("scheme  {}", named(scheme));
        certificates.iter().for_each(|line| eprintln!("chain   {line}"));
        eprintln!("bytes   {sent} up, {received} down, in {milliseconds:.1} ms");
        eprintln!("status  {code}, {} bytes", body.len());
    }
    if !(200..=299).contains(&code) {
        return Err(Error::outside(format!("{}: status {code}", options.url)).because("status"));
    }
    files::write(&options.out, body, Access::Shared, options.force)?;
    console.report(format_args!("{}: {} bytes", options.out.display(), body.len()), details)?;
    Ok(Status::Done)
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

/// Mozilla's roots, or those of a file.
fn roots(file: Option<&Path>) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    let Some(path) = file else {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(store);
    };
    let bad = |why: &dyn std::fmt::Display| Error::outside(format!("{}: {why}", path.display()));
    for certificate in CertificateDer::pem_slice_iter(&files::read_small(path)?) {
        let certificate = certificate.map_err(|error| bad(&format_args!("not PEM: {error}")))?;
        store.add(certificate).map_err(|error| bad(&error))?;
    }
    if store.is_empty() { Err(bad(&"no certificate is in it")) } else { Ok(store) }
}

/// The status of an answer, the length that it promises, and its body.
fn read<'a>(host: &str, answer: &'a [u8]) -> Result<(u16, Option<u64>, &'a [u8]), Error> {
    let bad = || Error::outside(format!("{host}: the answer is not HTTP")).because("not-http");
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(at) = head.parse(answer).map_err(|_| bad())? else { return Err(bad()) };
    let length = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse().ok());
    Ok((head.code.ok_or_else(bad)?, length, &answer[at..]))
}
