//! `tls get`: one request, and how the answer came.

use super::{
    Lists, Noting, Seen, chain, chains, explained, group_name, provider, scheme_name, server_name,
    version_name, zone,
};
use crate::args::tls::TlsGet;
use crate::console::{Console, counted, write_to_stderr};
use crate::error::{Error, Status};
use crate::files::{self, Access};
use crate::https::{Client, Failure};
use gambeson_pki::Certificate;
use gambeson_rustls::Preset;
use gambeson_rustls::rustls::pki_types::CertificateDer;
use gambeson_rustls::rustls::{self, ClientConfig};
use serde_json::json;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use url::{Position, Url};

/// The longest body, in bytes.
const MAX_BODY: u64 = 1 << 30;

pub(super) fn get(console: Console, options: &TlsGet) -> Result<Status, Error> {
    let url = url(&options.url)?;
    let host = url.host_str().unwrap_or_default().to_owned();
    let authority = &url[Position::BeforeHost..Position::AfterPort];
    if options.out.as_os_str() != "-" {
        files::refuse_existing(&options.out, options.force)?;
    }
    let provider = Arc::new(provider(Some(options.preset), options.peer.slh_dsa)?);
    let lists = Lists::read(&options.lists)?;
    let inner = chains(options.ca.as_deref(), &lists, &provider)?;
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

    let server = Server { connect_to: options.peer.connect_to };
    let patience = Duration::from_secs(options.peer.timeout);
    let client =
        Client::new(Arc::new(config), patience, None, server, move |met| all_apply(&lists, &met.chain));
    let answer = client.get(url.as_str(), MAX_BODY);
    let met = client.met();
    let answer = answer.map_err(|failure| {
        let common = met.is_some() || !may_have_nothing_in_common(&failure);
        let error = failed(&host, authority, failure);
        let error = match (error.reason(), &options.ca) {
            (Some("unknown-issuer"), None) => error.adding("; --ca FILE names another root"),
            _ => error,
        };
        if common {
            error
        } else {
            error.after(&remedy(options, &host, authority)).adding(&offer(options, &offered))
        }
    })?;
    let met = met.ok_or_else(|| Error::outside(format!("{host}: no handshake")))?;

    let scheme = seen.lock().unwrap_or_else(PoisonError::into_inner).scheme.map(scheme_name);
    let suite = met.suite.map(super::proxy::suite_name);
    let version = met.version.map(version_name);
    let certificates = chain(&met.chain);
    let milliseconds = met.took.as_secs_f64() * 1e3;
    let (code, body) = (answer.status.as_u16(), answer.body);
    let details = json!({
        "type": "answer",
        "status": code,
        "version": version,
        "group": met.group,
        "scheme": scheme,
        "suite": suite,
        "chain": certificates,
        "bytesUp": met.sent,
        "bytesDown": met.received,
        "handshakeMs": milliseconds,
        "bytes": body.len(),
    });
    if options.verbose {
        let named = |value: Option<String>| value.unwrap_or_else(|| "none".into());
        write_to_stderr(format_args!("{} {}", named(version), named(suite)));
        write_to_stderr(format_args!("group   {}", met.group));
        write_to_stderr(format_args!("scheme  {}", named(scheme)));
        certificates.iter().for_each(|line| write_to_stderr(format_args!("chain   {line}")));
        write_to_stderr(format_args!(
            "bytes   {} up, {} down, in {milliseconds:.1} ms",
            met.sent, met.received
        ));
        write_to_stderr(format_args!("status  {code}, {}", counted(body.len(), "byte")));
    }
    if !(200..=299).contains(&code) {
        return Err(Error::outside(format!("{}: status {code}", options.url)).because("status"));
    }
    files::write(&options.out, &body, Access::Shared, options.force)?;
    console.report(format_args!("{}: {}", options.out.display(), counted(body.len(), "byte")), details)?;
    Ok(Status::Done)
}

/// Refuses lists that apply to no certificate of a chain: one on the command line is believed to have been looked at.
fn all_apply(lists: &Lists, chain: &[CertificateDer<'_>]) -> io::Result<()> {
    let issuers: Vec<_> =
        chain.iter().filter_map(|der| Certificate::from_der(der).ok()).map(|link| link.issuer()).collect();
    match lists.find(|list| issuers.contains(&list.issuer())) {
        None => Ok(()),
        Some((path, list)) => Err(io::Error::other(format!(
            "{}: the revocation list of {} applies to no certificate of this chain",
            path.display(),
            list.issuer()
        ))),
    }
}

/// Returns true if a handshake may have failed because the server takes nothing of what was offered: all that it says is an alert, which
/// is the same for groups and schemes (RFC 8446, section 4.1.1), and some close without one.
fn may_have_nothing_in_common(failure: &Failure) -> bool {
    use rustls::{AlertDescription, Error};
    let Failure::Stream(error) = failure else { return false };
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

/// Why there is no answer, with a code for programs.
fn failed(host: &str, authority: &str, failure: Failure) -> Error {
    match failure {
        Failure::Stream(error) if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
            explained(host, error)
        }
        Failure::Stream(error) => Error::stream(&authority, &error),
        Failure::Cut => Error::outside(format!("{host}: the answer was cut off")).because("truncated"),
        Failure::NotHttp(why) => {
            Error::outside(format!("{host}: the answer is not HTTP/1.1: {why}")).because("not-http")
        }
        Failure::Coded(coding) => {
            let why = format!("{host}: the content has the coding {coding:?}, which was not asked for");
            Error::outside(why).because("content-coding")
        }
        Failure::TooLarge => {
            Error::outside(format!("{host}: the body has more than {MAX_BODY} bytes")).because("too-large")
        }
        Failure::Other(error) => Error::outside(format!("{host}: {error}")),
    }
}

/// The next step after a handshake that found nothing in common.
fn remedy(options: &TlsGet, host: &str, server: &str) -> String {
    let (other, of) = match options.preset {
        Preset::FullyHybrid => ("default", "without composite certificates"),
        _ => ("fully-hybrid", "with a composite certificate"),
    };
    let slh_dsa = if options.peer.slh_dsa { "" } else { "--slh-dsa, for one with an SLH-DSA certificate, " };
    let to = options.peer.connect_to.map_or_else(String::new, |address| format!(" --connect-to {address}"));
    format!(
        "{host}: try --preset {other}, for a server {of}, {slh_dsa}or see what the server takes: `gambeson tls scan {server}{to}` tells; "
    )
}

/// The groups and schemes that were offered.
fn offer(options: &TlsGet, (groups, schemes): &(Vec<String>, Vec<String>)) -> String {
    format!(
        "; offered with --preset {}: groups {}; schemes {}",
        options.preset,
        groups.join(", "),
        schemes.join(", "),
    )
}

/// Reads a URL of HTTPS, as browsers do, but without their patience for blanks, backslashes and missing slashes.
fn url(text: &str) -> Result<Url, Error> {
    let wrong = |why: &dyn Display| Error::usage(format!("{text}: {why}"));
    let rest = text
        .split_at_checked(8)
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("https://"))
        .ok_or_else(|| wrong(&"expected a URL such as https://HOST:PORT/"))?
        .1;
    if rest.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err(wrong(&"it contains a space or a control character"));
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(wrong(&"it contains a user name"));
    }
    if authority.starts_with('[') && authority.contains('%') {
        return Err(zone(text));
    }
    if rest.starts_with('/') || rest.contains('\\') {
        return Err(wrong(&"not HOST:PORT after https://"));
    }
    let url =
        Url::parse(text).map_err(|error| wrong(&format_args!("not HOST:PORT after https://: {error}")))?;
    server_name(url.host_str().unwrap_or_default())?;
    Ok(url)
}

/// Finds a server by its name, or where the command line says instead.
#[derive(Debug)]
struct Server {
    connect_to: Option<SocketAddr>,
}

impl Resolver for Server {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let Some(address) = self.connect_to else {
            return DefaultResolver::default().resolve(uri, config, timeout);
        };
        let mut addresses = self.empty();
        addresses.push(address);
        Ok(addresses)
    }
}
