//! `tls scan`: one handshake for each group, and one for each signature scheme.

use super::{
    Noting, Seen, chain, connect, explained, group_name, host_and_port, provider, scheme_name, server_name,
    version_name,
};
use crate::args::tls::TlsScan;
use crate::console::Console;
use crate::error::{Error, Status};
use gambeson_rustls::rustls::crypto::CryptoProvider;
use gambeson_rustls::rustls::{
    self, ClientConfig, ClientConnection, InvalidMessage, ProtocolVersion, SignatureScheme, version,
};
use gambeson_rustls::{Group, explain};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) fn scan(console: Console, options: &TlsScan) -> Result<Status, Error> {
    let (host, port) = host_and_port(server(&options.server)?, Some(443))?;
    let all = provider(None, options.peer.slh_dsa)?;
    let schemes = all.signature_verification_algorithms.supported_schemes();
    let attempt = |provider: CryptoProvider, schemes: Vec<SignatureScheme>| {
        handshake(&host, port, options, provider, schemes)
    };

    // The first tells whether there is anybody; a refusal is a finding, silence is not.
    let first = attempt(all.clone(), schemes.clone())?;
    if matches!(&first, Err(Refused::NoTls)) {
        return no_tls(console, options);
    }
    let mut taken_groups = Vec::new();
    for group in &all.kx_groups {
        let number = u16::from(group.name());
        let narrowed = CryptoProvider { kx_groups: vec![*group], ..all.clone() };
        let found = attempt(narrowed, schemes.clone())?;
        let quantum = Group::by_number(number).is_some_and(Group::is_post_quantum);
        row(console, "group", &group_name(group.name()), number, &found)?;
        if found.is_ok() {
            taken_groups.push((group_name(group.name()), quantum));
        }
    }
    let mut taken_schemes = Vec::new();
    for scheme in schemes {
        // A server may sign with what it has, whatever is asked for.
        let found = attempt(all.clone(), vec![scheme])?.and_then(|found| match found.scheme {
            Some(other) if other != scheme => Err(Refused::Because(format!(
                "it signs with {} although that was not offered",
                scheme_name(other)
            ))),
            _ => Ok(found),
        });
        row(console, "scheme", &scheme_name(scheme), scheme.into(), &found)?;
        if found.is_ok() {
            taken_schemes.push(scheme_name(scheme));
        }
    }

    let hybrid: Vec<&str> =
        taken_groups.iter().filter(|(_, quantum)| *quantum).map(|(name, _)| &name[..]).collect();
    let is_post_quantum = |name: &&str| name.starts_with("mldsa") || name.starts_with("slhdsa");
    let signed: Vec<&str> = taken_schemes.iter().map(|name| &name[..]).filter(is_post_quantum).collect();
    let is_reached = first.is_ok() || !taken_groups.is_empty();
    let verdict = match (hybrid.is_empty(), signed.is_empty(), is_reached) {
        (_, _, false) => "no handshake succeeded",
        (true, ..) => "recorded traffic can be read by a quantum computer: no post-quantum group",
        (false, true, _) => "traffic is safe from recording; the handshake signature is classical",
        (false, false, _) => "key exchange and handshake signature are post-quantum",
    };
    let reason = match (is_reached, options.require_pq && hybrid.is_empty()) {
        (false, _) => Some("no-handshake"),
        (true, true) => Some("no-post-quantum-group"),
        (true, false) => None,
    };
    if let Ok(found) = &first {
        found.chain.iter().try_for_each(|line| console.say(format_args!("chain   {line}")))?;
    }
    console.report(
        format_args!("verdict {verdict}"),
        json!({
            "type": "scan",
            "address": options.server,
            "version": first.as_ref().ok().map(|found| found.version.clone()),
            "chain": first.as_ref().map(|found| found.chain.clone()).unwrap_or_default(),
            "postQuantumGroups": hybrid,
            "postQuantumSchemes": signed,
            "verdict": verdict,
            "reason": reason,
        }),
    )?;
    Ok(if reason.is_none() { Status::Done } else { Status::NotVerified })
}

/// The server of a URL, or as it stands.
fn server(text: &str) -> Result<&str, Error> {
    match text.split_once("://") {
        None => Ok(text),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => {
            Ok(rest.strip_suffix('/').unwrap_or(rest))
        }
        Some((scheme, _)) => {
            Err(Error::usage(format!("{scheme}://: not TLS; name HOST:PORT or https://HOST:PORT")))
        }
    }
}

/// Reports that something else than a server of TLS answers.
fn no_tls(console: Console, options: &TlsScan) -> Result<Status, Error> {
    let verdict = "does not speak TLS: its answer is no TLS record";
    console.report(
        format_args!("{} {verdict}", options.server),
        json!({"type": "scan", "address": options.server, "verdict": verdict, "reason": "no-tls"}),
    )?;
    Ok(Status::NotVerified)
}

fn row(
    console: Console,
    kind: &str,
    name: &str,
    number: u16,
    found: &Result<Found, Refused>,
) -> Result<(), Error> {
    let why = found.as_ref().err().map(Refused::text);
    console.report(
        format_args!("{kind:7} {number:#06x}  {name:28} {}", why.unwrap_or("taken")),
        json!({"type": kind, "name": name, "codePoint": number, "taken": found.is_ok(), "detail": why}),
    )
}

/// What a handshake that succeeds tells.
struct Found {
    version: String,
    /// With which the server signed.
    scheme: Option<SignatureScheme>,
    chain: Vec<String>,
}

/// Why a handshake did not succeed.
enum Refused {
    /// The answer is no record of TLS.
    NoTls,
    Because(String),
}

impl Refused {
    fn text(&self) -> &str {
        match self {
            Self::NoTls => "the answer is no TLS record",
            Self::Because(why) => why,
        }
    }
}

/// One handshake; a refusal is the inner error, and no server the outer.
fn handshake(
    host: &str,
    port: u16,
    options: &TlsScan,
    provider: CryptoProvider,
    schemes: Vec<SignatureScheme>,
) -> Result<Result<Found, Refused>, Error> {
    let failed = |error: rustls::Error| Error::outside(error.to_string());
    let algorithms = provider.signature_verification_algorithms;
    // The chain is looked at, not judged.
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let verifier = Noting { inner: None, algorithms, schemes, seen: Some(Arc::clone(&seen)) };
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    let mut wire = connect(host, port, &options.peer)?;
    let mut connection = ClientConnection::new(Arc::new(config), server_name(host)?).map_err(failed)?;
    while connection.is_handshaking() {
        if let Err(error) = connection.complete_io(&mut wire) {
            let refused = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            return match refused {
                Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
                    Ok(Err(Refused::NoTls))
                }
                Some(refused) => Ok(Err(Refused::Because(explain(refused)))),
                // Some servers close without an alert.
                None if matches!(
                    error.kind(),
                    std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::ConnectionReset
                ) =>
                {
                    Ok(Err(Refused::Because("the server closed the connection".to_owned())))
                }
                None => Err(explained(host, error)),
            };
        }
    }
    connection.send_close_notify();
    // Who has gone does not listen.
    let _ = connection.complete_io(&mut wire);
    let version = connection.protocol_version().unwrap_or(ProtocolVersion::Unknown(0));
    Ok(Ok(Found {
        version: version_name(version),
        scheme: seen.lock().unwrap_or_else(PoisonError::into_inner).scheme,
        chain: chain(connection.peer_certificates().unwrap_or_default()),
    }))
}
