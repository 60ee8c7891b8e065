//! The commands `tls …`: a server, a client, and a look at other people's servers.
//!
//! # Layout
//!
//! * `serve`, `get`, `scan`, `bench`, `proxy`: the commands of these names
//! * `lists`: revocation lists
//! * `log`: what servers tell
//! * this file: what they share

pub mod bench;
mod get;
mod lists;
mod log;
mod proxy;
mod scan;
mod secrets;
mod serve;

use crate::args::tls::{TlsCommand, TlsPeer};
use crate::cert::key_name;
use crate::console::Console;
use crate::dial::dial;
use crate::error::{Error, Status, named};
use crate::keyfile::{KeyFile, PrivateKey, pki_error};
use crate::keys::form_of;
use crate::wire::Wire;
use gambeson_pki::Certificate;
use gambeson_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use gambeson_rustls::rustls::crypto::{self, CryptoProvider, SupportedKxGroup, WebPkiSupportedAlgorithms};
use gambeson_rustls::rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime,
};
use gambeson_rustls::rustls::{
    self, CertificateError, DigitallySignedStruct, InvalidMessage, NamedGroup, SignatureScheme,
};
use gambeson_rustls::{Builder, ChainVerifier, GROUPS, Group, Preset, Roots, Scheme, explain};
use lists::Lists;
use std::io;
use std::net::ToSocketAddrs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub(crate) use bench::NAMES as BENCH_ROWS;
pub(crate) use proxy::proxy_header;

pub(crate) fn tls(console: Console, command: &TlsCommand) -> Result<Status, Error> {
    match command {
        TlsCommand::Serve(options) => serve::serve(console, options),
        TlsCommand::Get(options) => get::get(console, options),
        TlsCommand::Scan(options) => scan::scan(console, options),
        TlsCommand::Proxy(options) => proxy::proxy(console, options),
        TlsCommand::Bench(options) => bench::bench(console, options, &[]),
    }
}

/// The provider of a preset, or with everything that we have; with SLH-DSA where it is enabled.
fn provider(preset: Option<Preset>, slh_dsa: bool) -> Result<CryptoProvider, Error> {
    let builder = match preset {
        Some(preset) => Builder::new(preset),
        None => Builder::new(Preset::Default).groups(GROUPS).scheme(Scheme::MLDSA87_ED448),
    };
    let builder = if slh_dsa { builder.slh_dsa() } else { builder };
    builder.build().map_err(|error| Error::outside(error.to_string()))
}

/// The chain of a file, which begins with the certificate of its holder.
fn own_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read = crate::cert::certificates(path)?;
    match crate::cert::order(path, &read) {
        Some(order) => Err(Error::outside(order)),
        None => Ok(read.iter().map(to_rustls).collect()),
    }
}

/// Returns the certificate as rustls takes it.
pub(crate) fn to_rustls(certificate: &Certificate) -> CertificateDer<'static> {
    CertificateDer::from(certificate.as_der().to_vec())
}

/// The private key of a file, for a provider, which wipes it. One of SLH-DSA is refused where `slh_dsa` is false.
fn private_key(
    path: &Path,
    passphrase_fd: Option<u32>,
    slh_dsa: bool,
) -> Result<PrivateKeyDer<'static>, Error> {
    let (name, key) = KeyFile::read(path, passphrase_fd)?.private()?;
    let PrivateKey::Pki(key) = key else {
        return Err(Error::usage(format!("{name}: is an X-Wing key, which cannot sign handshakes")));
    };
    let algorithm = key.algorithm();
    if !slh_dsa && Scheme::slh_dsa(algorithm).is_ok() {
        return Err(Error::usage(format!(
            "{name}: is a key of {algorithm}, which signs handshakes only with --slh-dsa"
        )));
    }
    // rustls takes the file into its own hands, and the provider wipes it there.
    let mut key = key.to_pkcs8_der(form_of(&key, None)).map_err(|error| pki_error(&name, error))?;
    Ok(PrivatePkcs8KeyDer::from(std::mem::take(&mut *key)).into())
}

/// Verifies chains that lead to Mozilla's roots, or to those of a file, and looks certificates up in revocation lists.
fn chains(
    roots: Option<&Path>,
    lists: &Lists,
    provider: &CryptoProvider,
) -> Result<Arc<ChainVerifier>, Error> {
    let roots = match roots {
        None => Roots::of_keys(webpki_roots::TLS_SERVER_ROOTS.to_vec()),
        Some(path) => Roots::of_certificates(crate::cert::roots(path)?.iter().map(to_rustls))
            .map_err(|error| Error::outside(format!("{}: {error}", path.display())))?,
    };
    Ok(Arc::new(ChainVerifier::new(roots, provider).with_revocation(lists.lists())))
}

/// The name of a group, as registered.
fn group_name(group: NamedGroup) -> String {
    Group::by_number(group.into()).map_or_else(|| format!("{group:?}"), ToString::to_string)
}

/// The names of draft-reddy-tls-slhdsa for the schemes 0x0911 to 0x091C.
const SLH_DSA: [&str; 12] = [
    "slhdsa_sha2_128s",
    "slhdsa_sha2_128f",
    "slhdsa_sha2_192s",
    "slhdsa_sha2_192f",
    "slhdsa_sha2_256s",
    "slhdsa_sha2_256f",
    "slhdsa_shake_128s",
    "slhdsa_shake_128f",
    "slhdsa_shake_192s",
    "slhdsa_shake_192f",
    "slhdsa_shake_256s",
    "slhdsa_shake_256f",
];

/// The name of a signature scheme, as registered where it is.
fn scheme_name(scheme: SignatureScheme) -> String {
    match u16::from(scheme) {
        0x0904 => "mldsa44".into(),
        0x0905 => "mldsa65".into(),
        0x0906 => "mldsa87".into(),
        0x0808 => "ed448".into(),
        number @ 0x0911..=0x091c => SLH_DSA[usize::from(number - 0x0911)].into(),
        number if number == Scheme::MLDSA87_ED448.number() => "mldsa87_ed448_shake256".into(),
        number => match scheme {
            SignatureScheme::Unknown(_) => format!("{number:#06x}"),
            known => format!("{known:?}").to_lowercase(),
        },
    }
}

pub(crate) fn negotiated(group: Option<&dyn SupportedKxGroup>) -> String {
    group.map_or_else(|| "none".into(), |group| group_name(group.name()))
}

/// A connection to `host` and `port`, or to where the command line says instead.
fn connect(host: &str, port: u16, peer: &TlsPeer) -> Result<Wire, Error> {
    let patience = Duration::from_secs(peer.timeout);
    let fails = |error: &io::Error| Error::stream(&format_args!("{host}:{port}"), error);
    let addresses = match peer.connect_to {
        Some(address) => vec![address],
        None => (host, port).to_socket_addrs().map_err(|e| fails(&e))?.collect(),
    };
    dial(addresses, patience, None)
        .and_then(|socket| Wire::new(socket, patience))
        .map_err(|error| fails(&error))
}

/// A host and a port; IPv6 addresses stand in brackets. Names are in lower case, and in ASCII (IDNA).
fn host_and_port(text: &str, default: Option<u16>) -> Result<(String, u16), Error> {
    let wrong = || Error::usage(format!("{text}: not HOST:PORT"));
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or_else(wrong)?)),
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        Some(port) => port.parse().map_err(|_| wrong())?,
        None => default.ok_or_else(wrong)?,
    };
    let host = match url::Host::parse(host) {
        _ if text.starts_with('[') => host.into(),
        Ok(host) => host.to_string(),
        Err(_) => return Err(wrong()),
    };
    server_name(&host)?;
    Ok((host, port))
}

/// The name in a certificate of a host, which has no full stop at its end, or its address.
pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, Error> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if bare.contains('%') {
        return Err(zone(host));
    }
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    let name = ServerName::try_from(bare.to_owned()).ok().filter(|_| !bare.ends_with('.'));
    name.ok_or_else(|| Error::usage(format!("{host}: neither a name nor an address")))
}

/// The remedy for an address with a zone.
fn zone(text: &str) -> Error {
    Error::usage(format!(
        "{text}: an address with a zone (such as %eth0) is not supported: give the address alone, and --connect-to [ADDRESS%N]:PORT with the \
         number N of the interface"
    ))
}

/// What went wrong in a handshake, and which check failed; a code for programs beside it.
fn explained(host: &str, error: io::Error) -> Error {
    let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return Error::named(&named(&host, &error));
    };
    let (what, reason) = told(tls);
    Error::not_verified(format!("{host}: {what}")).because(reason)
}

/// The name of a version of TLS, as people write it.
fn version_name(version: rustls::ProtocolVersion) -> String {
    // rustls writes `TLSv1_3`.
    format!("{version:?}").replacen("TLSv", "TLS ", 1).replacen('_', ".", 1)
}

/// Returns the reason of a failure in words, and its code.
pub(crate) fn told(error: &rustls::Error) -> (String, &'static str) {
    if let Some(failed) = ChainVerifier::failure(error) {
        return (failed.to_string(), failed.failure().code());
    }
    let (what, reason) = reason(error);
    (format!("{what}: {}", explain(error)), reason)
}

fn reason(error: &rustls::Error) -> (&'static str, &'static str) {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            ("the chain does not lead to a root that is trusted", "unknown-issuer")
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => ("the certificate is for another name", "wrong-name"),
        rustls::Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => ("a certificate has expired or is not valid yet", "expired"),
        rustls::Error::InvalidCertificate(CertificateError::Revoked) => {
            ("a certificate is not valid", "revoked")
        }
        rustls::Error::InvalidCertificate(CertificateError::InvalidPurposeContext { .. }) => {
            ("a certificate is for another purpose", "purpose")
        }
        rustls::Error::InvalidCertificate(CertificateError::BadSignature) => {
            ("a signature is not valid, or a root of the same name has another key", "bad-signature")
        }
        rustls::Error::InvalidCertificate(_) => ("a certificate is not valid", "bad-certificate"),
        rustls::Error::PeerIncompatible(_) => ("the two sides have nothing in common", "incompatible"),
        rustls::Error::AlertReceived(_) => ("the other side ended the handshake", "alert"),
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => ("this is not TLS", "not-tls"),
        _ => ("the handshake failed", "handshake"),
    }
}

/// What was seen of a server.
#[derive(Debug, Default)]
struct Seen {
    scheme: Option<SignatureScheme>,
}

/// Verifies as `inner` does, or the signature of the handshake alone, and notes the scheme.
#[derive(Debug)]
struct Noting {
    /// Who verifies the chain; nobody in a scan.
    inner: Option<Arc<dyn ServerCertVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
    schemes: Vec<SignatureScheme>,
    /// Where the scheme is noted; without it, with the connection of the proxy whose task runs.
    seen: Option<Arc<Mutex<Seen>>>,
}

impl Noting {
    fn note(&self, signed: &DigitallySignedStruct) {
        match &self.seen {
            Some(seen) => seen.lock().unwrap_or_else(PoisonError::into_inner).scheme = Some(signed.scheme),
            None => proxy::note(signed.scheme),
        }
    }
}

impl ServerCertVerifier for Noting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.inner {
            Some(inner) => inner.verify_server_cert(end_entity, intermediates, name, ocsp, now),
            None => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.note(signed);
        crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.note(signed);
        crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

/// The certificates of a chain, each in a line.
fn chain(certificates: &[CertificateDer<'_>]) -> Vec<String> {
    let line = |der: &CertificateDer<'_>| {
        let Ok(certificate) = Certificate::from_der(der) else {
            return format!("a certificate of {} bytes", der.len());
        };
        format!("{} ({})", certificate.subject(), key_name(&certificate))
    };
    certificates.iter().map(line).collect()
}
